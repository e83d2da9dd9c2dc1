//! What the user asked for, as plain values: any client can fill them in. [`crate::plan`] judges them.

use trace::ModelOptions;

/// A model and how to read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The model's path as given.
    pub path: String,
    /// Dialect and preprocessor options.
    pub options: ModelOptions,
}

/// The options of a check; `None` and empty mean "not given".
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// The model.
    pub source: Source,
    /// `--property`, each.
    pub properties: Vec<String>,
    /// `--ltl`.
    pub ltl: Option<String>,
    /// `--fair`.
    pub fair: Option<String>,
    /// `--search`.
    pub search: Option<String>,
    /// `--por`.
    pub por: Option<String>,
    /// `--edges`.
    pub edges: Option<String>,
    /// `--proviso`.
    pub proviso: Option<String>,
    /// `--check`, each.
    pub check: Vec<String>,
    /// `--sleep`.
    pub sleep: bool,
    /// `--stubborn`.
    pub stubborn: Option<String>,
    /// `--trust-xr-xs`.
    pub trust_xr_xs: bool,
    /// `--save`.
    pub save: Option<String>,
    /// `--state-cache`.
    pub state_cache: Option<u64>,
    /// `--opt`.
    pub opt: Option<String>,
    /// `--store`.
    pub store: Option<String>,
    /// `--threads`.
    pub threads: Option<u64>,
    /// `--deterministic`.
    pub deterministic: bool,
    /// `--handoff`.
    pub handoff: Option<u64>,
    /// `--alone`: the first worker is alone until it has found so many states.
    pub alone: Option<u64>,
    /// `--exec`.
    pub exec: Option<String>,
    /// `--all-errors`.
    pub all_errors: bool,
    /// `--channels-empty`.
    pub channels_empty: bool,
    /// `--max-depth`.
    pub max_depth: Option<u64>,
    /// `--max-states`.
    pub max_states: Option<u64>,
    /// `--max-memory`, as written.
    pub max_memory: Option<String>,
    /// `--timeout`, in seconds.
    pub timeout: Option<f64>,
    /// `--seed`.
    pub seed: Option<u64>,
    /// `--trail`.
    pub trail: Option<String>,
}

/// A size such as `512M`: bytes, or with a suffix K, M, G or T for powers of 1024 (`KB` and `KiB` mean the same).
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let unit = text[digits..].trim().to_ascii_uppercase();
    let unit = unit.strip_suffix("IB").or_else(|| unit.strip_suffix('B')).unwrap_or(&unit);
    let shift = match unit {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return None,
    };
    number.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_size("1000"), Some(1000));
        assert_eq!(parse_size("4K"), Some(4096));
        assert_eq!(parse_size(" 2 GiB"), Some(2 << 30));
        assert_eq!(parse_size("1mb"), Some(1 << 20));
        for wrong in ["", "G", "-1", "1.5G", "12X", "99999999999T", "1GG"] {
            assert_eq!(parse_size(wrong), None, "{wrong}");
        }
    }
}
