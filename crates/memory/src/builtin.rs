//! The memory systems that come with the tool: those of `examples/memory`, by name.

/// A built-in system.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// As `--system` names it.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! systems {
    ($($name:literal),+ $(,)?) => {
        /// All of them.
        pub const ALL: &[BuiltIn] = &[$(BuiltIn {
            name: $name,
            text: include_str!(concat!("../../../examples/memory/", $name, ".pml")),
        }),+];
    };
}

systems!(
    "atomic",
    "total_order",
    "lazy_caching",
    "mesi",
    "split_bus",
    "invalidate_directory",
    "migratory_directory",
    "tso",
    "pso",
    "pram",
    "pc",
    "coherent",
    "mesi_lost",
    "mesi_late",
    "tso_no_forward",
    "write_back_race",
    "eager_ack_directory",
    "split_bus_hasty",
);

/// The system of this name.
pub fn system(name: &str) -> Option<BuiltIn> {
    ALL.iter().copied().find(|system| system.name == name)
}

/// The names of all built-in systems.
pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|system| system.name).collect()
}
