//! What a model's author expects of a check: `verdict=violated kind=assertion line=42`.
//!
//! | key | meaning |
//! |---|---|
//! | `verdict` | `holds`, `violated`, `unknown` or `rejected`; always needed |
//! | `kind` | the kinds of violation: a comma list, complete |
//! | `states` | distinct states, in the reference configuration |
//! | `errors` | violations counted, in the reference configuration |
//! | `line` | the line of one of the violations, or of the first error of a rejected model |
//! | `depth` | steps of a shortest counterexample |
//! | `code` | codes that a rejected model's errors have, as a comma list |
//! | `warnings` | the codes of all warnings, as a comma list; `none` for none |

use promela::diagnostic::{Code, nearest};
use std::collections::BTreeSet;
use std::fmt;

/// The kinds of violation that reports know.
pub const KINDS: [&str; 9] = [
    "assertion",
    "end-state",
    "invariant",
    "runtime",
    "trace",
    "claim-end",
    "accept-cycle",
    "progress-cycle",
    "formula",
];

/// What must come out of a check; `None` is not compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    /// The verdict.
    pub verdict: Verdict,
    /// The kinds of violation, all of them.
    pub kinds: Option<BTreeSet<&'static str>>,
    /// The number of states in the reference configuration.
    pub states: Option<u64>,
    /// The number of violations in the reference configuration.
    pub errors: Option<u64>,
    /// The line of a violation or of the first error.
    pub line: Option<u64>,
    /// The length of a shortest counterexample.
    pub depth: Option<u64>,
    /// Codes of a rejected model's errors.
    pub codes: Option<BTreeSet<String>>,
    /// The codes of all warnings.
    pub warnings: Option<BTreeSet<String>>,
}

/// A verdict about one property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// No violation in the whole state space.
    Holds,
    /// At least one violation.
    Violated,
    /// A budget runs out before either is known.
    Unknown,
    /// The model is refused.
    Rejected,
}

impl Verdict {
    const ALL: [Verdict; 4] = [Verdict::Holds, Verdict::Violated, Verdict::Unknown, Verdict::Rejected];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Unknown => "unknown",
            Verdict::Rejected => "rejected",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Expectation {
    /// Nothing but a verdict; a property that holds has no kinds of violation.
    pub fn of(verdict: Verdict) -> Self {
        Expectation {
            verdict,
            kinds: (verdict == Verdict::Holds).then(BTreeSet::new),
            states: None,
            errors: None,
            line: None,
            depth: None,
            codes: None,
            warnings: None,
        }
    }

    /// Reads `key=value` words.
    pub fn parse(text: &str) -> Result<Expectation, String> {
        let mut expect = Expectation::of(Verdict::Holds);
        let mut seen = BTreeSet::new();
        for word in text.split_whitespace() {
            let (key, value) =
                word.split_once('=').ok_or_else(|| format!("expected `key=value`, found `{word}`"))?;
            if !seen.insert(key) {
                return Err(format!("`{key}` is given twice"));
            }
            expect.set(key, value)?;
        }
        if !seen.contains("verdict") {
            return Err("an `expect` needs a verdict".into());
        }
        if !seen.contains("kind") && expect.verdict != Verdict::Holds {
            expect.kinds = None;
        }
        expect.refuse_nonsense()?;
        Ok(expect)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let number = || value.parse().map_err(|_| format!("`{key}={value}`: `{value}` is not a number"));
        match key {
            "verdict" => {
                let known = Verdict::ALL.into_iter().find(|v| v.word() == value);
                self.verdict =
                    known.ok_or_else(|| unknown("verdict", value, Verdict::ALL.map(Verdict::word)))?;
            }
            "kind" => {
                let known = |word: &str| {
                    KINDS.into_iter().find(|k| *k == word).ok_or_else(|| unknown("kind", word, KINDS))
                };
                self.kinds = Some(value.split(',').map(known).collect::<Result<_, _>>()?);
            }
            "states" => self.states = Some(number()?),
            "errors" => self.errors = Some(number()?),
            "line" => self.line = Some(number()?),
            "depth" => self.depth = Some(number()?),
            "code" => self.codes = Some(codes(value, 'E')?),
            "warnings" if value == "none" => self.warnings = Some(BTreeSet::new()),
            "warnings" => self.warnings = Some(codes(value, 'W')?),
            _ => return Err(unknown("expectation", key, KEYS)),
        }
        Ok(())
    }

    /// What cannot go together with the verdict.
    fn refuse_nonsense(&self) -> Result<(), String> {
        let violated = self.verdict == Verdict::Violated;
        let rejected = self.verdict == Verdict::Rejected;
        let explored = matches!(self.verdict, Verdict::Holds | Verdict::Violated);
        let rules = [
            ("kind", self.kinds.as_ref().is_some_and(|k| !k.is_empty()), violated),
            ("states", self.states.is_some(), explored),
            ("errors", self.errors.is_some(), explored),
            ("line", self.line.is_some(), violated || rejected),
            ("depth", self.depth.is_some(), violated),
            ("code", self.codes.is_some(), rejected),
        ];
        match rules.iter().find(|(_, given, fits)| *given && !fits) {
            Some((key, ..)) => Err(format!("`{key}` does not go together with verdict={}", self.verdict)),
            None => Ok(()),
        }
    }

    /// Whether it says something about all violations, so that a search must not stop at the first one.
    pub fn is_about_everything(&self) -> bool {
        let kinds = self.kinds.as_ref().is_some_and(|k| !k.is_empty());
        kinds || self.states.is_some() || self.errors.is_some() || self.line.is_some()
    }
}

/// The keys of an expectation.
const KEYS: [&str; 8] = ["verdict", "kind", "states", "errors", "line", "depth", "code", "warnings"];

/// A word that is none of the known ones, with the one that was probably meant, or all of them.
pub(super) fn unknown<const N: usize>(what: &str, word: &str, known: [&str; N]) -> String {
    match nearest(word, known) {
        Some(meant) => format!("unknown {what} `{word}`: did you mean `{meant}`?"),
        None => format!("unknown {what} `{word}`: use one of {}", known.join(", ")),
    }
}

/// Codes such as `E0201,E0202`.
fn codes(text: &str, letter: char) -> Result<BTreeSet<String>, String> {
    let read = |word: &str| match Code::of(word) {
        Some(code) if code.name() == word && word.starts_with(letter) => Ok(word.to_string()),
        _ => {
            let all = Code::ALL.iter().map(|code| code.name()).filter(|name| name.starts_with(letter));
            Err(match nearest(word, all) {
                Some(meant) => format!("unknown code `{word}`: did you mean `{meant}`?"),
                None => format!("unknown code `{word}`: `spinor explain` lists them all"),
            })
        }
    };
    text.split(',').map(read).collect()
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "verdict={}", self.verdict)?;
        let list = |words: Vec<&str>| if words.is_empty() { "none".to_string() } else { words.join(",") };
        if let Some(kinds) = self.kinds.as_ref().filter(|k| !k.is_empty()) {
            write!(f, " kind={}", list(kinds.iter().copied().collect()))?;
        }
        let numbers =
            [("states", self.states), ("errors", self.errors), ("line", self.line), ("depth", self.depth)];
        for (key, number) in numbers {
            if let Some(number) = number {
                write!(f, " {key}={number}")?;
            }
        }
        for (key, codes) in [("code", &self.codes), ("warnings", &self.warnings)] {
            if let Some(codes) = codes {
                write!(f, " {key}={}", list(codes.iter().map(String::as_str).collect()))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written_again() {
        for text in [
            "verdict=holds",
            "verdict=holds states=3 warnings=none",
            "verdict=violated kind=assertion,end-state states=9 errors=2 line=7 depth=4",
            "verdict=unknown",
            "verdict=rejected line=3 code=E0201,E0202 warnings=W0203",
        ] {
            assert_eq!(Expectation::parse(text).map(|e| e.to_string()), Ok(text.to_string()));
        }
    }

    #[test]
    fn mistakes_are_told() {
        let message = |text: &str| Expectation::parse(text).expect_err(text);
        assert_eq!(message("states=3"), "an `expect` needs a verdict");
        assert_eq!(message("verdict=holds verdict=holds"), "`verdict` is given twice");
        assert_eq!(message("verdict=holds states=many"), "`states=many`: `many` is not a number");
        assert_eq!(message("verdict=holds kind=assertion"), "`kind` does not go together with verdict=holds");
        assert_eq!(
            message("verdict=rejected states=1"),
            "`states` does not go together with verdict=rejected"
        );
        assert_eq!(message("verdict=rejected code=e0101"), "unknown code `e0101`: did you mean `E0101`?");
        assert_eq!(message("verdict=rejected code=W0203"), "unknown code `W0203`: did you mean `E0203`?");
        assert_eq!(
            message("verdict=rejected code=all"),
            "unknown code `all`: `spinor explain` lists them all"
        );
        assert_eq!(message("verdict"), "expected `key=value`, found `verdict`");
        assert_eq!(
            message("verdict=violated kind=asertion"),
            "unknown kind `asertion`: did you mean `assertion`?"
        );
    }
}
