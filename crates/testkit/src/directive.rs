//! The `//@` comment lines at the head of a golden model: what to check and what must come out.
//!
//! ```text
//! //@ check: safety
//! //@ options: -D N=3
//! //@ expect: verdict=violated kind=assertion states=123
//! ```
//!
//! `options` hold for the whole file. An `expect` belongs to the `check` before it; a file without a `check`
//! checks `safety`. Verdicts are `holds`, `violated` and `rejected`; `kind` is a comma list that must be complete;
//! `states` is the number in the reference configuration. An unknown key is an error, never ignored.

use std::collections::BTreeSet;
use std::fmt;

use crate::outcome::Kind;

/// The directives of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Directives {
    /// Options for both tools, for example `-D N=3`.
    pub options: Vec<String>,
    /// The checks, in order.
    pub checks: Vec<Check>,
}

/// One property to check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The value of `--property`.
    pub property: String,
    /// What must come out; `None` when the file does not say yet.
    pub expect: Option<Expectation>,
    /// The line of the directive, counted from 1.
    pub line: usize,
}

/// What must come out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    /// The verdict.
    pub verdict: Verdict,
    /// The kinds of violation, all of them; `None` when they do not matter.
    pub kinds: Option<BTreeSet<Kind>>,
    /// The number of states in the reference configuration.
    pub states: Option<u64>,
}

/// A verdict about one property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// No violation in the whole state space.
    Holds,
    /// At least one violation.
    Violated,
    /// The model is refused.
    Rejected,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Rejected => "rejected",
        })
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "verdict={}", self.verdict)?;
        if let Some(kinds) = self.kinds.as_ref().filter(|k| !k.is_empty()) {
            let words: Vec<&str> = kinds.iter().map(|k| k.word()).collect();
            write!(f, " kind={}", words.join(","))?;
        }
        if let Some(states) = self.states {
            write!(f, " states={states}")?;
        }
        Ok(())
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
    let value = value.trim();
    match key.trim() {
        "check" if value.is_empty() => Err("`check` names no property".into()),
        "check" => {
            result.checks.push(Check { property: value.into(), expect: None, line });
            Ok(())
        }
        "options" => {
            result.options.extend(value.split_whitespace().map(String::from));
            Ok(())
        }
        "expect" => {
            let expect = expectation(value)?;
            if result.checks.is_empty() {
                result.checks.push(Check { property: "safety".into(), expect: None, line });
            }
            match result.checks.last_mut() {
                Some(check) if check.expect.is_none() => {
                    check.expect = Some(expect);
                    Ok(())
                }
                _ => Err("this check has an `expect` already".into()),
            }
        }
        other => Err(format!("unknown key `{other}`")),
    }
}

fn expectation(text: &str) -> Result<Expectation, String> {
    let (mut verdict, mut kinds, mut states) = (None, None, None);
    for word in text.split_whitespace() {
        let (key, value) =
            word.split_once('=').ok_or_else(|| format!("expected `key=value`, found `{word}`"))?;
        match key {
            "verdict" => {
                verdict = Some(match value {
                    "holds" => Verdict::Holds,
                    "violated" => Verdict::Violated,
                    "rejected" => Verdict::Rejected,
                    _ => return Err(format!("unknown verdict `{value}`")),
                });
            }
            "kind" => {
                let known = |w: &str| Kind::from_word(w).ok_or_else(|| format!("unknown kind `{w}`"));
                kinds = Some(value.split(',').map(known).collect::<Result<BTreeSet<_>, _>>()?);
            }
            "states" => {
                states = Some(value.parse().map_err(|_| format!("`{value}` is not a number of states"))?);
            }
            _ => return Err(format!("unknown expectation `{key}`")),
        }
    }
    let verdict = verdict.ok_or("an `expect` needs a verdict")?;
    if verdict == Verdict::Holds && kinds.is_none() {
        kinds = Some(BTreeSet::new());
    }
    Ok(Expectation { verdict, kinds, states })
}

/// Writes an expectation into a model: replaces the `expect` of the first `safety` check, or adds one.
pub fn with_expectation(text: &str, expect: &Expectation) -> String {
    let line = format!("//@ expect: {expect}");
    let is = |l: &str, key: &str| {
        l.trim().strip_prefix("//@").is_some_and(|d| d.trim_start().starts_with(&format!("{key}:")))
    };
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    let check = lines.iter().position(|l| is(l, "check"));
    let old = lines.iter().position(|l| is(l, "expect"));
    match (old, check) {
        (Some(at), _) => lines[at] = line,
        (None, Some(at)) => lines.insert(at + 1, line),
        (None, None) => {
            let at = lines.iter().position(|l| !l.trim().starts_with("//")).unwrap_or(lines.len());
            lines.insert(at, line);
            lines.insert(at, "//@ check: safety".into());
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_keys_are_read() {
        let text = "// A question.\n//@ check: safety\n//@ options: -D N=3\n\
                    //@ expect: verdict=violated kind=assertion,end-state states=123\nbyte x;\n";
        let parsed = parse(text).expect("directives");
        assert_eq!(parsed.options, ["-D", "N=3"]);
        let expect = parsed.checks[0].expect.clone().expect("an expectation");
        assert_eq!((expect.verdict, expect.states), (Verdict::Violated, Some(123)));
        assert_eq!(expect.kinds.map(|k| k.len()), Some(2));
    }

    #[test]
    fn mistakes_have_line_numbers() {
        let text = "//@ check: safety\n//@ expct: verdict=holds\n//@ expect: verdict=maybe\nbyte x;\n//@ check: never\n";
        let mistakes = parse(text).expect_err("mistakes");
        let found: Vec<(usize, &str)> = mistakes.iter().map(|m| (m.line, m.message.as_str())).collect();
        assert_eq!(
            found,
            [
                (2, "unknown key `expct`"),
                (3, "unknown verdict `maybe`"),
                (5, "a directive must stand before the model")
            ]
        );
    }

    #[test]
    fn an_expectation_needs_a_verdict_and_comes_once() {
        assert!(parse("//@ expect: states=3\n").is_err());
        assert!(parse("//@ expect: verdict=holds\n//@ expect: verdict=holds\n").is_err());
        assert!(parse("//@ expect: verdict=holds states=many\n").is_err());
    }

    #[test]
    fn blessing_replaces_or_adds() {
        let expect = Expectation { verdict: Verdict::Holds, kinds: None, states: Some(4) };
        let new = with_expectation("// Why.\nbyte x;\n", &expect);
        assert_eq!(new, "// Why.\n//@ check: safety\n//@ expect: verdict=holds states=4\nbyte x;\n");
        let again = Expectation { states: Some(5), ..expect };
        assert!(with_expectation(&new, &again).contains("states=5\nbyte x;"));
    }
}
