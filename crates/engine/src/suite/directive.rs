//! The `//@` comment lines at the head of a model: what to check and what must come out.
//!
//! ```text
//! //@ options: -D N=3
//! //@ check: safety
//! //@ expect: verdict=holds states=123
//! //@ check: safety -D FORGETFUL
//! //@ expect: verdict=violated kind=assertion line=42
//! ```
//!
//! `options` hold for the whole file, those after a `check` for that check. An `expect` belongs to the
//! `check` before it; a file without a `check` checks `safety`. What may be expected is in [`super::expect`].
//! An unknown key is an error, never ignored.

use std::fmt;

use super::expect::{Expectation, unknown};

/// The directives of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Directives {
    /// Options of `spinor check` for the whole file, for example `-D N=3`.
    pub options: Vec<String>,
    /// The checks, in order.
    pub checks: Vec<Check>,
}

impl Directives {
    /// All options of one of the checks.
    pub fn options_of(&self, check: &Check) -> Vec<String> {
        [&self.options[..], &check.options[..]].concat()
    }
}

/// One property to check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The value of `--property`.
    pub property: String,
    /// Options for this check alone.
    pub options: Vec<String>,
    /// What must come out, and the line that says so; `None` when the file does not say yet.
    pub expect: Option<(Expectation, usize)>,
    /// The line of the directive, counted from 1.
    pub line: usize,
}

impl Check {
    /// What must come out.
    pub fn expectation(&self) -> Option<&Expectation> {
        self.expect.as_ref().map(|(expectation, _)| expectation)
    }
}

/// A mistake in a directive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// Reads the directives of a model; all mistakes are reported.
pub fn parse(text: &str) -> Result<Directives, Vec<Mistake>> {
    let mut result = Directives::default();
    let mut mistakes = Vec::new();
    let mut in_head = true;
    for (index, raw) in text.lines().enumerate() {
        let (number, line) = (index + 1, raw.trim());
        in_head &= line.is_empty() || line.starts_with("//");
        let Some(directive) = line.strip_prefix("//@") else { continue };
        let outcome = if in_head {
            apply(&mut result, directive.trim(), number)
        } else {
            Err("a directive must stand before the model".to_string())
        };
        if let Err(message) = outcome {
            mistakes.push(Mistake { line: number, message });
        }
    }
    if mistakes.is_empty() { Ok(result) } else { Err(mistakes) }
}

fn apply(result: &mut Directives, directive: &str, line: usize) -> Result<(), String> {
    let (key, value) = directive.split_once(':').ok_or("expected `key: value`")?;
    let (key, value) = (key.trim(), value.trim());
    match key {
        "check" => {
            let mut options = words(value)?;
            if options.first().is_none_or(|word| word.starts_with('-')) {
                return Err("`check` names no property".into());
            }
            let property = options.remove(0);
            result.checks.push(Check { property, options, expect: None, line });
            Ok(())
        }
        "options" => {
            result.options.extend(words(value)?);
            Ok(())
        }
        "expect" => {
            let expect = Expectation::parse(value)?;
            if result.checks.is_empty() {
                let property = "safety".into();
                result.checks.push(Check { property, options: Vec::new(), expect: None, line });
            }
            match result.checks.last_mut() {
                Some(check) if check.expect.is_none() => {
                    check.expect = Some((expect, line));
                    Ok(())
                }
                _ => Err("this check has an `expect` already".into()),
            }
        }
        other => Err(unknown("key", other, KEYS)),
    }
}

/// What a directive can begin with.
const KEYS: [&str; 3] = ["check", "options", "expect"];

/// Words as a shell splits them: quotes keep spaces.
fn words(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quote): (Vec<String>, Option<String>, Option<char>) = (vec![], None, None);
    for c in text.chars() {
        match (quote, c) {
            (Some(q), c) if q == c => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    if quote.is_some() { Err("a quotation mark is not closed".into()) } else { Ok(words) }
}

/// Writes the expectation of one check (counted from 0) into a model: replaces it, or adds it. In a model
/// without directives the first check is made.
pub fn with_expectation(text: &str, check: usize, expect: &Expectation) -> Result<String, Vec<Mistake>> {
    let directives = parse(text)?;
    let new = format!("//@ expect: {expect}");
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    match directives.checks.get(check) {
        Some(Check { expect: Some((_, line)), .. }) => lines[line - 1] = new,
        Some(check) => lines.insert(check.line, new),
        None => {
            let at = lines.iter().position(|l| !l.trim().starts_with("//")).unwrap_or(lines.len());
            lines.insert(at, new);
            lines.insert(at, "//@ check: safety".into());
        }
    }
    Ok(lines.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::super::expect::Verdict;
    use super::*;

    #[test]
    fn all_keys_are_read() {
        let text = "// A question.\n//@ check: safety\n//@ options: -D N=3\n\
                    //@ expect: verdict=violated kind=assertion,end-state states=123\n\
                    //@ check: assertion -D M --ltl '[] p'\nbyte x;\n";
        let parsed = parse(text).expect("directives");
        assert_eq!(parsed.options, ["-D", "N=3"]);
        let expect = parsed.checks[0].expectation().expect("an expectation");
        assert_eq!((expect.verdict, expect.states), (Verdict::Violated, Some(123)));
        assert_eq!(expect.kinds.as_ref().map(|k| k.len()), Some(2));
        let second = &parsed.checks[1];
        assert_eq!((second.property.as_str(), second.line, second.expectation()), ("assertion", 5, None));
        assert_eq!(parsed.options_of(second), ["-D", "N=3", "-D", "M", "--ltl", "[] p"]);
    }

    #[test]
    fn mistakes_have_line_numbers() {
        let text = "//@ check: safety\n//@ expct: verdict=holds\n//@ expect: verdict=maybe\n//@ check: -D N\n\
                    //@ options: 'x\nbyte x;\n//@ check: never\n";
        let mistakes = parse(text).expect_err("mistakes");
        let found: Vec<(usize, &str)> = mistakes.iter().map(|m| (m.line, m.message.as_str())).collect();
        assert_eq!(
            found,
            [
                (2, "unknown key `expct`: did you mean `expect`?"),
                (3, "unknown verdict `maybe`: use one of holds, violated, unknown, rejected"),
                (4, "`check` names no property"),
                (5, "a quotation mark is not closed"),
                (7, "a directive must stand before the model")
            ]
        );
    }

    #[test]
    fn an_expectation_comes_once() {
        assert!(parse("//@ expect: verdict=holds\n//@ expect: verdict=holds\n").is_err());
    }

    #[test]
    fn blessing_replaces_or_adds() {
        let expect = Expectation { states: Some(4), ..Expectation::of(Verdict::Holds) };
        let new = with_expectation("// Why.\nbyte x;\n", 0, &expect).expect("no mistake");
        assert_eq!(new, "// Why.\n//@ check: safety\n//@ expect: verdict=holds states=4\nbyte x;\n");
        let again = Expectation { states: Some(5), ..expect };
        let new = with_expectation(&new, 0, &again).expect("no mistake");
        assert!(new.contains("states=5\nbyte x;"));
        let two = "//@ check: safety\n//@ check: safety -D N\n";
        assert_eq!(
            with_expectation(two, 1, &again).expect("no mistake"),
            format!("{two}//@ expect: verdict=holds states=5\n")
        );
    }
}
