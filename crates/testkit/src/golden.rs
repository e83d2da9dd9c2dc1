//! Golden models: files with `//@` directives, run with the binary under test over a matrix of options. Their
//! numbers come from real Spin (`difftest bless`), never from us.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::TempDir;
use crate::ours::{REFERENCE, Spinor};
use crate::outcome::{Kind, Outcome};
use crate::spin::{Compiler, Spin};
use engine::suite::directive::{self, Check, Directives};
use engine::suite::expect::{Expectation, Verdict};

/// One column of the matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// A short name for reports.
    pub name: String,
    /// The options.
    pub args: Vec<String>,
    /// Whether everything is explored, so that the number of states and all kinds must be as expected.
    pub complete: bool,
}

impl Config {
    /// The reference configuration with one search.
    pub fn reference(search: &str) -> Self {
        let mut args: Vec<String> = vec!["--search".into(), search.into()];
        args.extend(REFERENCE.map(String::from));
        Config { name: format!("reference {search}"), args, complete: true }
    }

    /// The reference configuration in some order with another exact store.
    pub fn with_store(search: &str, store: &str) -> Self {
        let mut config = Config::reference(search);
        config.name = format!("reference {search}, {store}");
        config.args.iter_mut().filter(|word| *word == "table").for_each(|word| *word = store.into());
        config
    }

    /// What a user gets without any option.
    pub fn default_options() -> Self {
        Config { name: "default".into(), args: Vec::new(), complete: false }
    }

    /// The columns that every golden model goes through.
    pub fn matrix() -> Vec<Config> {
        let mut all: Vec<Config> = ["frontier", "dfs", "bfs"].map(Config::reference).into();
        all.push(Config::default_options());
        let pairs = [("frontier", "tree"), ("bfs", "cleary"), ("dfs", "cleary"), ("frontier", "collapse")];
        all.extend(pairs.map(|(search, store)| Config::with_store(search, store)));
        let mut interpreted = Config::reference("frontier");
        interpreted.name = "reference frontier, interp".into();
        interpreted.args.extend(["--exec".into(), "interp".into()]);
        all.push(interpreted);
        all
    }
}

/// How one check under one configuration came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// As expected.
    Passed,
    /// Otherwise, with an explanation.
    Failed(String),
    /// Nothing could be said.
    Skipped(String),
}

/// One cell of the matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The model.
    pub model: PathBuf,
    /// The property.
    pub property: String,
    /// The configuration's name.
    pub config: String,
    /// How it came out.
    pub status: Status,
}

/// All `.pml` files under a directory, in order.
pub fn models(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![root.to_path_buf()];
    while let Some(dir) = pending.pop() {
        let Ok(entries) = fs::read_dir(&dir) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|e| e == "pml") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Reads the directives of a file; a file without any is a mistake.
pub fn read(path: &Path) -> Result<(String, Directives), String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let directives = directive::parse(&text).map_err(|mistakes| {
        let all: Vec<String> = mistakes.iter().map(|m| format!("{}: {m}", path.display())).collect();
        all.join("\n")
    })?;
    if directives.checks.is_empty() {
        return Err(format!("{}: no `//@ check` or `//@ expect`", path.display()));
    }
    Ok((text, directives))
}

/// Runs every check of a model under every configuration.
pub fn run(path: &Path, spinor: &Spinor, matrix: &[Config]) -> Vec<Report> {
    let report = |property: &str, config: &str, status| Report {
        model: path.to_path_buf(),
        property: property.into(),
        config: config.into(),
        status,
    };
    let directives = match read(path) {
        Ok((_, directives)) => directives,
        Err(mistake) => return vec![report("", "directives", Status::Failed(mistake))],
    };
    let mut reports = Vec::new();
    for check in &directives.checks {
        for config in matrix {
            let status = run_check(path, spinor, &directives, check, config);
            reports.push(report(&check.property, &config.name, status));
        }
    }
    reports
}

fn run_check(path: &Path, spinor: &Spinor, all: &Directives, check: &Check, config: &Config) -> Status {
    let Some(expect) = check.expectation() else { return Status::Failed("no `//@ expect`".into()) };
    let dir = match TempDir::new() {
        Ok(dir) => dir,
        Err(error) => return Status::Failed(error.to_string()),
    };
    let model = match fs::canonicalize(path) {
        Ok(model) => model,
        Err(error) => return Status::Failed(error.to_string()),
    };
    let trail = dir.path().join("trail.json");
    let mut args: Vec<String> = vec!["--property".into(), check.property.clone()];
    args.extend(all.options_of(check));
    args.extend(config.args.iter().cloned());
    args.extend(["--trail".into(), trail.display().to_string()]);
    let outcome = spinor.check(dir.path(), &model.display().to_string(), &check.property, &args);
    judge(expect, &outcome, config.complete)
}

/// Compares an outcome with what is expected. A search that may stop early need not find every kind.
pub fn judge(expect: &Expectation, outcome: &Outcome, complete: bool) -> Status {
    let exploration = match (outcome, expect.verdict) {
        (Outcome::Skipped(why) | Outcome::Unsupported(why), _) => return Status::Skipped(why.clone()),
        (Outcome::Rejected(_), Verdict::Rejected) => return Status::Passed,
        (Outcome::Explored(e), Verdict::Unknown) if e.kinds.is_empty() && e.truncated.is_some() => {
            return Status::Passed;
        }
        (Outcome::Explored(exploration), Verdict::Holds | Verdict::Violated) => exploration,
        (other, verdict) => return Status::Failed(format!("expected {verdict}, got {other}")),
    };
    let violated = !exploration.kinds.is_empty();
    if violated != (expect.verdict == Verdict::Violated) {
        return Status::Failed(format!("expected {}, got {outcome}", expect.verdict));
    }
    if complete && exploration.truncated.is_some() {
        return Status::Failed(format!("not exhaustive: {outcome}"));
    }
    if let Some(kinds) = &expect.kinds {
        let found: BTreeSet<&str> = exploration.kinds.iter().map(|k| k.word()).collect();
        let fits = if complete { found == *kinds } else { found.is_subset(kinds) };
        if !fits {
            return Status::Failed(format!("expected {expect}, got {outcome}"));
        }
    }
    match expect.states {
        Some(states) if complete && states != exploration.states => {
            Status::Failed(format!("expected {states} states, got {}", exploration.states))
        }
        _ => Status::Passed,
    }
}

/// What real Spin says about the safety of a model, as an expectation. The number of states is left out where
/// Spin's own search goes astray after a fault.
pub fn bless(spin: &Spin, text: &str, options: &[String], compiler: Compiler) -> Result<Expectation, String> {
    let options = spin_options(options)?;
    match spin.explore(text, &options, compiler) {
        Outcome::Rejected(_) => Ok(Expectation::of(Verdict::Rejected)),
        Outcome::Explored(e) if e.truncated.is_none() => {
            let faulty = e.aborted || e.kinds.contains(&Kind::Runtime);
            let astray = faulty || e.kinds.contains(&Kind::Trace);
            let kinds: BTreeSet<Kind> = match (faulty, e.kinds.contains(&Kind::Trace)) {
                (true, _) => BTreeSet::from([Kind::Runtime]),
                (_, true) => BTreeSet::from([Kind::Trace]),
                _ => e.kinds.clone(),
            };
            let verdict = if kinds.is_empty() { Verdict::Holds } else { Verdict::Violated };
            let kinds = Some(kinds.iter().map(|k| k.word()).collect());
            Ok(Expectation { kinds, states: (!astray).then_some(e.states), ..Expectation::of(verdict) })
        }
        other => Err(other.to_string()),
    }
}

/// What an expectation says that Spin can be asked about.
pub fn agrees(expect: &Expectation, spin: &Expectation) -> bool {
    let same = |given: bool, same: bool| !given || same;
    expect.verdict == spin.verdict
        && same(expect.kinds.is_some(), expect.kinds == spin.kinds)
        && same(expect.states.is_some(), expect.states == spin.states)
}

/// `-D N=3` becomes `-DN=3`, as Spin wants it.
fn spin_options(options: &[String]) -> Result<Vec<String>, String> {
    let mut result = Vec::new();
    let mut words = options.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-D" | "-U" => {
                let name = words.next().ok_or_else(|| format!("`{word}` without a name"))?;
                result.push(format!("{word}{name}"));
            }
            other if other.starts_with("-D") || other.starts_with("-U") => result.push(other.into()),
            other => return Err(format!("Spin has no option `{other}`")),
        }
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Exploration;

    fn explored(states: u64, kinds: &[Kind]) -> Outcome {
        let kinds = kinds.iter().copied().collect();
        Outcome::Explored(Exploration { states, kinds, ..Exploration::default() })
    }

    fn expect(line: &str) -> Expectation {
        let parsed = directive::parse(&format!("//@ expect: {line}\n")).expect("an expectation");
        parsed.checks[0].expectation().cloned().expect("an expectation")
    }

    #[test]
    fn states_count_only_where_everything_is_explored() {
        let wanted = expect("verdict=holds states=9");
        assert_eq!(judge(&wanted, &explored(9, &[]), true), Status::Passed);
        assert!(matches!(judge(&wanted, &explored(8, &[]), true), Status::Failed(_)));
        assert_eq!(judge(&wanted, &explored(8, &[]), false), Status::Passed);
    }

    #[test]
    fn kinds_must_be_complete_or_at_least_expected() {
        let wanted = expect("verdict=violated kind=assertion,end-state");
        assert!(matches!(judge(&wanted, &explored(8, &[Kind::Assertion]), true), Status::Failed(_)));
        assert_eq!(judge(&wanted, &explored(8, &[Kind::Assertion]), false), Status::Passed);
        assert!(matches!(judge(&wanted, &explored(8, &[Kind::Trace]), false), Status::Failed(_)));
        assert!(matches!(judge(&wanted, &explored(8, &[]), false), Status::Failed(_)));
    }

    #[test]
    fn gaps_are_skipped_and_crashes_fail() {
        let wanted = expect("verdict=rejected");
        assert_eq!(judge(&wanted, &Outcome::Rejected("no".into()), true), Status::Passed);
        assert!(matches!(judge(&wanted, &explored(1, &[]), true), Status::Failed(_)));
        assert!(matches!(judge(&wanted, &Outcome::Unsupported("bfs".into()), true), Status::Skipped(_)));
        assert!(matches!(judge(&wanted, &Outcome::Crashed("boom".into()), true), Status::Failed(_)));
    }

    #[test]
    fn spin_takes_definitions_in_one_word() {
        let words = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
        assert_eq!(spin_options(&words("-D N=3 -DM")), Ok(words("-DN=3 -DM")));
        assert!(spin_options(&words("--fair weak")).is_err());
    }
}
