//! Runs the `spinor` binary under test and reads its one JSON object.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::command::{self, Output, TempDir};
use crate::outcome::{Exploration, Kind, Outcome, Verdict};

/// The options of the reference configuration, in which the number of states is that of Spin.
pub const REFERENCE: [&str; 9] =
    ["--por", "none", "--opt", "none", "--store", "table", "--threads", "1", "--all-errors"];

/// As the value of an option of the reference configuration: it is left out.
pub const LEFT_OUT: &str = "left out";

/// The binary under test.
#[derive(Debug, Clone)]
pub struct Spinor {
    path: PathBuf,
    /// Options given to every run after the reference configuration.
    pub extra: Vec<String>,
    /// The time limit of one run.
    pub limit: Duration,
}

impl Spinor {
    /// Uses the given binary, else the one that the environment variable `SPINOR` names, else the one that
    /// was built beside the running program.
    pub fn find(given: Option<&Path>) -> Option<Self> {
        let path = match given {
            Some(path) => Some(path.to_path_buf()),
            None => std::env::var_os("SPINOR").map(PathBuf::from).or_else(beside),
        }?;
        let path = fs::canonicalize(&path).ok()?;
        path.is_file().then(|| Spinor { path, extra: Vec::new(), limit: Duration::from_secs(30) })
    }

    /// Where the binary is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks safety in the reference configuration.
    pub fn explore(&self, text: &str) -> Outcome {
        self.explore_with(text, &[])
    }

    /// Checks safety in the reference configuration with some options changed or added, given with their
    /// values; an empty value is none, and with [`LEFT_OUT`] the option is not given at all.
    pub fn explore_with(&self, text: &str, changes: &[(&str, &str)]) -> Outcome {
        let mut args: Vec<String> = vec!["--property".into(), "safety".into()];
        args.extend(REFERENCE.map(String::from));
        for (option, value) in changes {
            match args.iter().position(|word| word == option) {
                Some(at) if *value == LEFT_OUT => {
                    let valued = args.get(at + 1).is_some_and(|next| !next.starts_with("--"));
                    args.drain(at..=at + usize::from(valued));
                }
                Some(at) => args[at + 1] = (*value).to_string(),
                None => args
                    .extend([*option, *value].iter().filter(|word| !word.is_empty()).map(|w| w.to_string())),
            }
        }
        args.extend(self.extra.iter().cloned());
        match TempDir::new().and_then(|dir| fs::write(dir.path().join("model.pml"), text).map(|()| dir)) {
            Ok(dir) => self.check(dir.path(), "model.pml", "safety", &args),
            Err(error) => Outcome::Failed(format!("temporary directory: {error}")),
        }
    }

    /// Runs `spinor check` on a file in a directory and reads what it says of one property.
    pub fn check(&self, dir: &Path, model: &str, property: &str, args: &[String]) -> Outcome {
        let mut command = Command::new(&self.path);
        command.args(["check", model, "--format", "json"]).args(args);
        match command::run(command, dir, self.limit) {
            Ok(output) => interpret(&output, property),
            Err(error) => Outcome::Failed(format!("{}: {error}", self.path.display())),
        }
    }
}

/// What one run says about a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The verdict.
    pub verdict: Verdict,
    /// The run that breaks it ends in a state that is repeated forever.
    pub ends: bool,
}

/// What one run says, by the names of the properties.
pub type Verdicts = BTreeMap<String, Told>;

impl Spinor {
    /// Checks these properties of a model; the error is an outcome without verdicts.
    pub fn verdicts(&self, text: &str, properties: &[String], args: &[&str]) -> Result<Verdicts, Outcome> {
        let failed = |error: std::io::Error| Outcome::Failed(error.to_string());
        let dir = TempDir::new().map_err(failed)?;
        fs::write(dir.path().join("model.pml"), text).map_err(failed)?;
        let mut command = Command::new(&self.path);
        command.args(["check", "model.pml", "--format", "json"]).args(args).args(&self.extra);
        for property in properties {
            command.args(["--property", property]);
        }
        let output = command::run(command, dir.path(), self.limit).map_err(failed)?;
        match output.code {
            Some(0 | 1 | 3) => parse_verdicts(&output.stdout, dir.path()).map_err(Outcome::Crashed),
            _ => Err(interpret(&output, "")),
        }
    }
}

impl Spinor {
    /// The Promela text that `spinor parse` writes of a model.
    pub fn promela(&self, text: &str, args: &[&str]) -> Result<String, Outcome> {
        let failed = |error: std::io::Error| Outcome::Failed(error.to_string());
        let dir = TempDir::new().map_err(failed)?;
        fs::write(dir.path().join("model.pml"), text).map_err(failed)?;
        let mut command = Command::new(&self.path);
        command.args(["parse", "model.pml", "--format", "promela"]).args(args);
        let output = command::run(command, dir.path(), self.limit).map_err(failed)?;
        match output.code {
            Some(0) => Ok(output.stdout),
            _ => Err(interpret(&output, "")),
        }
    }

    /// What `spinor graph` writes for a model to standard output and to standard error.
    pub fn graph(&self, text: &str, args: &[&str]) -> Result<(String, String), String> {
        let dir = TempDir::new().map_err(|error| error.to_string())?;
        fs::write(dir.path().join("model.pml"), text).map_err(|error| error.to_string())?;
        let mut command = Command::new(&self.path);
        command.args(["graph", "model.pml"]).args(args);
        let output = command::run(command, dir.path(), self.limit).map_err(|error| error.to_string())?;
        match output.code {
            Some(0) => Ok((output.stdout, output.stderr)),
            code => Err(format!("spinor graph {args:?}: exit status {code:?}: {}", output.stderr)),
        }
    }
}

/// Reads the verdicts of a report, whose trails are in `dir`.
fn parse_verdicts(text: &str, dir: &Path) -> Result<Verdicts, String> {
    let root: Value = serde_json::from_str(text.trim()).map_err(|e| e.to_string())?;
    let properties = root.get("properties").and_then(Value::as_array).ok_or("no `properties`")?;
    let word = |property: &Value, key: &str| property.get(key).and_then(Value::as_str).map(str::to_string);
    let of = |property: &Value| {
        let verdict = match word(property, "verdict")?.as_str() {
            "holds" => Verdict::Holds,
            "violated" => Verdict::Violated,
            other => Verdict::Unknown(other.to_string()),
        };
        Some((word(property, "name")?, Told { verdict, ends: ends(property, dir) }))
    };
    properties.iter().map(of).collect::<Option<Verdicts>>().ok_or_else(|| "a property without verdict".into())
}

/// Whether nobody moves in the cycle of the first violation: it is empty, or only a claim that changes
/// variables goes round.
fn ends(property: &Value, dir: &Path) -> bool {
    let of = |key: &str| property.pointer(&format!("/violations/0/{key}"));
    let number = |key: &str| of(key).and_then(Value::as_u64);
    let Some(cycle) = number("cycle") else { return false };
    let moves = || {
        let text = fs::read_to_string(dir.join(of("trail")?.as_str()?)).ok()?;
        let trail: Value = serde_json::from_str(&text).ok()?;
        let nobody = |step: &Value| step.get("pid").is_some_and(Value::is_null);
        Some(!trail.get("steps")?.as_array()?.get(cycle as usize..)?.iter().all(nobody))
    };
    Some(cycle) == number("depth") || !moves().unwrap_or(true)
}

/// The binary in the directory of the running program, or in the one above (tests run in `deps`).
fn beside() -> Option<PathBuf> {
    let exe = std::env::current_exe().ok()?;
    let name = format!("spinor{}", std::env::consts::EXE_SUFFIX);
    exe.ancestors().skip(1).take(2).map(|dir| dir.join(&name)).find(|path| path.is_file())
}

/// Turns the exit status and the output into an outcome.
fn interpret(output: &Output, property: &str) -> Outcome {
    if output.timed_out {
        let truncated = Some("time limit".into());
        return Outcome::Explored(Exploration { truncated, ..Exploration::default() });
    }
    match output.code {
        Some(0 | 1 | 3) => match parse_report(&output.stdout, property) {
            Ok(exploration) => Outcome::Explored(exploration),
            Err(why) => Outcome::Crashed(format!("unreadable report: {why}")),
        },
        // What one engine does not do, another does.
        Some(2)
            if ["not available yet", "use --engine explicit"]
                .iter()
                .any(|gap| output.stderr.contains(gap)) =>
        {
            Outcome::Unsupported(message(&output.stderr))
        }
        Some(2) => Outcome::Rejected(message(&output.stderr)),
        code => Outcome::Crashed(format!(
            "exit status {code:?}, signal {:?}: {}",
            output.signal,
            message(&output.stderr)
        )),
    }
}

/// The first message on standard error, which is one JSON object a line or plain text.
fn message(stderr: &str) -> String {
    let first = || stderr.lines().find(|l| !l.trim().is_empty());
    // Warnings may come before the error.
    let error = stderr.lines().find(|l| l.contains(r#""severity":"error""#));
    let line = error.or_else(first).unwrap_or_default();
    match serde_json::from_str::<Value>(line) {
        Ok(value) => value.get("message").and_then(Value::as_str).unwrap_or(line).to_string(),
        Err(_) => line.to_string(),
    }
}

/// Reads the report of one property.
pub fn parse_report(text: &str, property: &str) -> Result<Exploration, String> {
    let root: Value = serde_json::from_str(text.trim()).map_err(|e| e.to_string())?;
    let properties = root.get("properties").and_then(Value::as_array).ok_or("no `properties`")?;
    let named = |p: &&Value| p.get("name").and_then(Value::as_str) == Some(property);
    let found = properties.iter().find(named).ok_or_else(|| format!("no property `{property}`"))?;
    let number = |key: &str| found.get(key).and_then(Value::as_u64);
    let mut result = Exploration {
        states: number("states").ok_or("no `states`")?,
        transitions: number("transitions").unwrap_or(0),
        errors: number("errors").unwrap_or(0),
        ..Exploration::default()
    };
    let none = Vec::new();
    for violation in found.get("violations").and_then(Value::as_array).unwrap_or(&none) {
        let word = violation.get("kind").and_then(Value::as_str).ok_or("a violation without `kind`")?;
        match Kind::from_word(word) {
            Some(kind) => result.kinds.insert(kind),
            None => return Err(format!("unknown kind of violation `{word}`")),
        };
        let text = violation.get("message").and_then(Value::as_str).unwrap_or(word);
        result.messages.push(text.to_string());
    }
    let exhaustive = found.get("exhaustive").and_then(Value::as_bool).ok_or("no `exhaustive`")?;
    if !exhaustive {
        result.truncated = Some("not exhaustive".into());
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{"tool": "spinor", "verdict": "violated", "properties": [
        {"name": "safety", "kind": "safety", "verdict": "violated", "errors": 2, "exhaustive": true,
         "states": 17, "transitions": 30, "matched": 13, "depth": 5,
         "violations": [{"kind": "end-state", "message": "invalid end state"}]}]}"#;

    fn output(code: i32, stdout: &str, stderr: &str) -> Output {
        let (stdout, stderr) = (stdout.to_string(), stderr.to_string());
        Output { code: Some(code), signal: None, timed_out: false, stdout, stderr }
    }

    #[test]
    fn a_report_is_read() {
        let report = parse_report(REPORT, "safety").expect("a report");
        assert_eq!((report.states, report.transitions, report.errors), (17, 30, 2));
        assert!(report.kinds.contains(&Kind::EndState) && report.truncated.is_none());
        assert!(parse_report(REPORT, "never").is_err());
    }

    #[test]
    fn verdicts_are_read() {
        let verdicts = parse_verdicts(REPORT, Path::new("nowhere")).expect("a report");
        assert_eq!(verdicts.get("safety"), Some(&Told { verdict: Verdict::Violated, ends: false }));
        let stuck =
            REPORT.replace(r#""kind": "end-state""#, r#""kind": "accept-cycle", "depth": 3, "cycle": 3"#);
        assert!(parse_verdicts(&stuck, Path::new("nowhere")).expect("a report")["safety"].ends);
        assert!(parse_verdicts("{}", Path::new("nowhere")).is_err());
    }

    #[test]
    fn status_two_is_a_refusal_or_a_gap() {
        let refused = r#"{"severity": "error", "message": "unknown name"}"#;
        assert_eq!(interpret(&output(2, "", refused), "safety"), Outcome::Rejected("unknown name".into()));
        let gap = interpret(&output(2, "", "--store tree is not available yet"), "safety");
        assert!(matches!(gap, Outcome::Unsupported(_)));
    }

    #[test]
    fn anything_else_is_a_crash() {
        assert!(matches!(interpret(&output(101, "", "panicked"), "safety"), Outcome::Crashed(_)));
        assert!(matches!(interpret(&output(0, "{", ""), "safety"), Outcome::Crashed(_)));
    }
}
