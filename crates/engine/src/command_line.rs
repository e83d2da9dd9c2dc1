//! Options back to a command that can be typed: for hints, which repeat what the user asked with one thing changed.

use crate::files::STANDARD_INPUT;
use crate::options::CheckOptions;
use trace::visible::picture;

/// A word as a shell takes it; with control characters, as bash does.
pub fn quoted(word: &str) -> String {
    if word.chars().any(|c| picture(c).is_some()) {
        let escaped = word.chars().map(|c| match c {
            '\'' | '\\' => format!("\\{c}"),
            c if picture(c).is_some() && c.is_ascii() => format!("\\x{:02x}", c as u32),
            c if picture(c).is_some() => format!("\\u{:04x}", c as u32),
            c => c.to_string(),
        });
        return format!("$'{}'", escaped.collect::<String>());
    }
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// `spinor check MODEL` with these options, as a shell takes it.
pub fn check_command(options: &CheckOptions) -> String {
    words(options).iter().map(|word| quoted(word)).collect::<Vec<String>>().join(" ")
}

fn words(options: &CheckOptions) -> Vec<String> {
    let source = &options.source;
    let path = if source.path == STANDARD_INPUT { "-" } else { &source.path };
    let mut words = vec!["spinor".to_string(), "check".to_string(), path.to_string()];
    words.extend(source.options.preprocessor.iter().cloned());
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            words.extend([name.to_string(), value]);
        }
    };
    let dialect = Some(&source.options.dialect).filter(|d| !d.is_empty() && *d != "spin");
    option("--dialect", dialect.cloned());
    for property in &options.properties {
        option("--property", Some(property.clone()));
    }
    for check in &options.check {
        option("--check", Some(check.clone()));
    }
    let number = |n: Option<u64>| n.map(|n| n.to_string());
    option("--ltl", options.ltl.clone());
    option("--fair", options.fair.clone());
    option("--search", options.search.clone());
    option("--por", options.por.clone());
    option("--edges", options.edges.clone());
    option("--proviso", options.proviso.clone());
    option("--stubborn", options.stubborn.clone());
    option("--save", options.save.clone());
    option("--state-cache", number(options.state_cache));
    option("--opt", options.opt.clone());
    option("--store", options.store.clone());
    option("--threads", number(options.threads));
    option("--handoff", number(options.handoff));
    option("--alone", number(options.alone));
    option("--exec", options.exec.clone());
    option("--max-depth", number(options.max_depth));
    option("--max-states", number(options.max_states));
    option("--max-memory", options.max_memory.clone());
    option("--timeout", options.timeout.map(|seconds| seconds.to_string()));
    option("--seed", number(options.seed));
    option("--trail", options.trail.clone());
    let flags = [
        ("--sleep", options.sleep),
        ("--trust-xr-xs", options.trust_xr_xs),
        ("--deterministic", options.deterministic),
        ("--all-errors", options.all_errors),
        ("--channels-empty", options.channels_empty),
    ];
    words.extend(flags.iter().filter(|(_, given)| *given).map(|(name, _)| (*name).to_string()));
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Source;
    use trace::ModelOptions;

    #[test]
    fn words_for_a_shell() {
        assert_eq!(quoted("a/b-1.pml.trail.json.2"), "a/b-1.pml.trail.json.2");
        assert_eq!(quoted("my model"), "'my model'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("a\x1b[2J'\n"), r"$'a\x1b[2J\'\x0a'");
    }

    #[test]
    fn every_option_is_repeated() {
        let some = |text: &str| Some(text.to_string());
        let preprocessor = vec!["-DN=3".to_string(), "-DX=a b".to_string()];
        let options = CheckOptions {
            source: Source {
                path: "my model.pml".to_string(),
                options: ModelOptions { dialect: "pv".to_string(), preprocessor, formula: None },
            },
            properties: vec!["assertion".to_string(), "runtime".to_string()],
            ltl: some("[] p"),
            fair: some("weak"),
            search: some("dfs"),
            por: some("none"),
            edges: some("all"),
            proviso: some("stack"),
            check: vec!["facts".to_string()],
            sleep: true,
            stubborn: some("deletion"),
            trust_xr_xs: true,
            save: some("all"),
            state_cache: Some(1),
            opt: some("none"),
            store: some("table"),
            threads: Some(2),
            deterministic: true,
            handoff: Some(3),
            alone: Some(0),
            exec: some("interp"),
            all_errors: true,
            channels_empty: true,
            max_depth: Some(4),
            max_states: Some(5),
            max_memory: some("6M"),
            timeout: Some(0.5),
            seed: Some(8),
            trail: some("t"),
        };
        assert_eq!(
            check_command(&options),
            "spinor check 'my model.pml' -DN=3 '-DX=a b' --dialect pv --property assertion --property runtime \
             --check facts --ltl '[] p' --fair weak --search dfs --por none --edges all --proviso stack --stubborn deletion --save all --state-cache 1 --opt none \
             --store table --threads 2 --handoff 3 --alone 0 --exec interp --max-depth 4 --max-states 5 --max-memory 6M \
             --timeout 0.5 --seed 8 --trail t --sleep --trust-xr-xs --deterministic --all-errors --channels-empty"
        );
        let plain = CheckOptions {
            source: Source { path: "m".to_string(), ..Source::default() },
            ..CheckOptions::default()
        };
        assert_eq!(check_command(&plain), "spinor check m");
    }
}
