//! Numbers for people.

/// A number with a comma between groups of three digits.
pub fn grouped(n: u64) -> String {
    grouped_digits(&n.to_string())
}

/// A number that may have any length: beyond fifteen digits it is rounded.
pub fn many(n: &num_bigint::BigUint) -> String {
    let digits = n.to_string();
    if digits.len() <= 15 {
        return grouped_digits(&digits);
    }
    format!("{}.{} × 10^{}", &digits[..1], &digits[1..3], digits.len() - 1)
}

fn grouped_digits(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 step`, `2 steps`; the noun takes an `s`, or its `y` becomes `ies`.
pub fn plural(n: u64, noun: &str) -> String {
    match (n, noun.strip_suffix('y'), noun.strip_suffix("ss")) {
        (1, ..) => format!("1 {noun}"),
        (_, Some(stem), _) => format!("{} {stem}ies", grouped(n)),
        (_, _, Some(_)) => format!("{} {noun}es", grouped(n)),
        _ => format!("{} {noun}s", grouped(n)),
    }
}

/// A size for people.
pub fn bytes(n: u64) -> String {
    match n {
        0..0x400 => format!("{n} B"),
        0x400..0x10_0000 => format!("{:.1} kB", n as f64 / 1024.0),
        0x10_0000..0x4000_0000 => format!("{:.1} MB", n as f64 / 1_048_576.0),
        _ => format!("{:.2} GB", n as f64 / 1_073_741_824.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_are_rounded() {
        let of = |text: &str| many(&text.parse().expect("a number"));
        assert_eq!(of("0"), "0");
        assert_eq!(of("999999999999999"), "999,999,999,999,999");
        assert_eq!(of("7823109626775388240370"), "7.82 × 10^21");
    }

    #[test]
    fn groups_of_three() {
        let all: Vec<String> = [0, 999, 1000, 123_456, 12_345_678].into_iter().map(grouped).collect();
        assert_eq!(all, ["0", "999", "1,000", "123,456", "12,345,678"]);
    }

    #[test]
    fn one_and_many() {
        assert_eq!((plural(1, "step"), plural(0, "step")), ("1 step".to_string(), "0 steps".to_string()));
        assert_eq!(plural(1200, "property"), "1,200 properties");
        assert_eq!(plural(2, "process"), "2 processes");
    }

    #[test]
    fn sizes() {
        assert_eq!(bytes(12), "12 B");
        assert_eq!(bytes(1536), "1.5 kB");
        assert_eq!(bytes(9 << 20), "9.0 MB");
        assert_eq!(bytes(5 << 30), "5.00 GB");
    }
}
