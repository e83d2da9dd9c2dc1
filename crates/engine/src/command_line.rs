//! Options back to a command that can be typed: for hints, which repeat what the user asked with one thing
//! changed.

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
    let words = ["spinor".to_string()].into_iter().chain(check_words(options));
    words.map(|word| quoted(&word)).collect::<Vec<String>>().join(" ")
}

/// The words of that command behind the program.
pub fn check_words(options: &CheckOptions) -> Vec<String> {
    let source = &options.source;
    let path = if source.path == STANDARD_INPUT { "-" } else { &source.path };
    let mut words = vec!["check".to_string(), path.to_string()];
    words.extend(source.options.preprocessor.iter().cloned());
    if !matches!(source.options.dialect.as_str(), "" | "spin") {
        words.extend(["--dialect".to_string(), source.options.dialect.clone()]);
    }
    words.extend(options.to_words());
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
    fn options_are_repeated_behind_the_model() {
        let preprocessor = vec!["-DN=3".to_string(), "-DX=a b".to_string()];
        let options = CheckOptions {
            source: Source {
                path: "my model.pml".to_string(),
                options: ModelOptions { dialect: "pv".to_string(), preprocessor, ..ModelOptions::default() },
                ..Source::default()
            },
            properties: vec!["assertion".to_string(), "runtime".to_string()],
            ltl: Some("[] p".to_string()),
            ..CheckOptions::of_words("--sleep --search dfs --max-memory 6M".split(' ')).unwrap()
        };
        assert_eq!(
            check_command(&options),
            "spinor check 'my model.pml' -DN=3 '-DX=a b' --dialect pv --property assertion \
             --property runtime --ltl '[] p' --search dfs --max-memory 6M --sleep"
        );
        let plain = CheckOptions {
            source: Source { path: "m".to_string(), ..Source::default() },
            ..CheckOptions::default()
        };
        assert_eq!(check_command(&plain), "spinor check m");
    }
}
