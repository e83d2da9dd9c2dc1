//! How processors and addresses are called: P0, P1 …; x, y, z, w, then a4, a5 …

/// The first address.
pub const X: usize = 0;
/// The second address.
pub const Y: usize = 1;
/// The third address.
pub const Z: usize = 2;

/// The name of an address.
pub fn address(number: usize) -> String {
    match "xyzw".chars().nth(number) {
        Some(name) => name.to_string(),
        None => format!("a{number}"),
    }
}

/// The address of this name.
pub fn address_of(name: &str) -> Option<usize> {
    match name {
        "x" | "y" | "z" | "w" => "xyzw".find(name),
        _ => name.strip_prefix('a')?.parse().ok(),
    }
}

/// The name of a processor.
pub fn cpu(number: usize) -> String {
    format!("P{number}")
}
