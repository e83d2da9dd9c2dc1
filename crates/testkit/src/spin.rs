//! Real Spin as the oracle. A model is translated with `spin -a -o1 -o2 -o3`, compiled without any reduction
//! and run to the end; the verifier's report is parsed. `tcc` compiles a verifier some twenty times faster
//! than `gcc -O0`, so that it is used when it is there; a disagreement is confirmed with `gcc`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::command::{self, Output, TempDir};
use crate::outcome::{Exploration, Kind, Outcome, Verdict};

/// The oracle: where Spin and the C compilers are.
#[derive(Debug, Clone)]
pub struct Spin {
    spin: Option<PathBuf>,
    quick: Option<PathBuf>,
    thorough: Option<PathBuf>,
    /// The time limit of the verifier.
    pub limit: Duration,
}

/// Which C compiler to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compiler {
    /// The quickest there is.
    Quick,
    /// The most trusted there is.
    Thorough,
    /// The most trusted one, and the verifier compares whole states. Normally it skips what it takes for
    /// padding, and it counts wrongly where that is when a model has priorities: states that differ are then
    /// one.
    Unmasked,
}

const TRANSLATE_LIMIT: Duration = Duration::from_secs(8);
const COMPILE_LIMIT: Duration = Duration::from_secs(60);
const DEPTH_LIMIT: &str = "-m200000";
const DEFINES: [&str; 6] = ["-w", "-DSAFETY", "-DNOREDUCE", "-DNOCLAIM", "-DVECTORSZ=8192", "-DMEMLIM=1024"];

impl Default for Spin {
    fn default() -> Self {
        Spin::find()
    }
}

impl Spin {
    /// Looks for Spin and a C compiler on the search path.
    pub fn find() -> Self {
        let find = command::find_program;
        Spin {
            spin: find("spin"),
            quick: find("tcc").or_else(|| find("gcc")).or_else(|| find("cc")),
            thorough: find("gcc").or_else(|| find("cc")).or_else(|| find("tcc")),
            limit: Duration::from_secs(4),
        }
    }

    /// Why nothing can be compared, if so.
    pub fn missing(&self) -> Option<String> {
        if self.spin.is_none() {
            return Some("no `spin` on the search path".into());
        }
        if self.quick.is_none() {
            return Some("no C compiler on the search path".into());
        }
        None
    }

    /// Whether `Compiler::Thorough` is another compiler than `Compiler::Quick`.
    pub fn can_confirm(&self) -> bool {
        self.quick != self.thorough
    }

    /// Asks only whether Spin accepts a model.
    pub fn accepts(&self, text: &str) -> Outcome {
        match self.translated(text, &[]) {
            Ok(_) => Outcome::Explored(Exploration::default()),
            Err(outcome) => outcome,
        }
    }

    /// Explores the whole state space of a model.
    pub fn explore(&self, text: &str, options: &[String], compiler: Compiler) -> Outcome {
        let dir = match self.translated(text, options) {
            Ok(dir) => dir,
            Err(outcome) => return outcome,
        };
        let cc = match compiler {
            Compiler::Quick => &self.quick,
            Compiler::Thorough | Compiler::Unmasked => &self.thorough,
        };
        let Some(cc) = cc else { return Outcome::Skipped("no C compiler on the search path".into()) };
        let mut compile = Command::new(cc);
        compile.args(DEFINES).args(["-o", "pan", "pan.c"]);
        if compiler == Compiler::Unmasked {
            compile.arg("-DNOCOMP");
        }
        match command::run(compile, dir.path(), COMPILE_LIMIT) {
            Ok(output) if output.code == Some(0) => {}
            Ok(output) => return Outcome::Failed(format!("C compiler: {}", first_line(&output.stderr))),
            Err(error) => return Outcome::Failed(format!("C compiler: {error}")),
        }
        let mut pan = Command::new(dir.path().join("pan"));
        pan.args(["-c0", DEPTH_LIMIT, "-w20"]);
        match command::run(pan, dir.path(), self.limit) {
            Ok(output) => verdict(&output),
            Err(error) => Outcome::Failed(format!("pan: {error}")),
        }
    }

    /// Translates a model and compiles its verifier for cycles, without any reduction. `defines` are for the
    /// C compiler.
    pub fn verifier(&self, text: &str, defines: &[&str], compiler: Compiler) -> Result<Verifier, Outcome> {
        let dir = self.translated(text, &[])?;
        let cc = if compiler == Compiler::Quick { &self.quick } else { &self.thorough };
        let Some(cc) = cc else { return Err(Outcome::Skipped("no C compiler on the search path".into())) };
        let mut compile = Command::new(cc);
        compile.args(["-w", "-DNOREDUCE", "-DMEMLIM=1024", "-o", "pan", "pan.c"]).args(defines);
        match command::run(compile, dir.path(), COMPILE_LIMIT) {
            Ok(output) if output.code == Some(0) => Ok(Verifier { dir, limit: self.limit }),
            Ok(output) => Err(Outcome::Failed(format!("C compiler: {}", first_line(&output.stderr)))),
            Err(error) => Err(Outcome::Failed(format!("C compiler: {error}"))),
        }
    }

    /// Translates a model; the directory then holds `pan.c`.
    fn translated(&self, text: &str, options: &[String]) -> Result<TempDir, Outcome> {
        if let Some(why) = self.missing() {
            return Err(Outcome::Skipped(why));
        }
        let failed = |what: &str, error: std::io::Error| Outcome::Failed(format!("{what}: {error}"));
        let dir = TempDir::new().map_err(|e| failed("temporary directory", e))?;
        fs::write(dir.path().join("model.pml"), text).map_err(|e| failed("model", e))?;
        let spin = self.spin.clone().unwrap_or_default();
        let mut translate = Command::new(spin);
        translate.args(options).args(["-a", "-o1", "-o2", "-o3", "model.pml"]);
        let output = command::run(translate, dir.path(), TRANSLATE_LIMIT).map_err(|e| failed("spin", e))?;
        if output.timed_out {
            return Err(Outcome::Failed("spin did not end".into()));
        }
        if output.signal.is_some() {
            return Err(Outcome::Failed(format!("spin ended by signal {:?}", output.signal)));
        }
        if output.code != Some(0) || !has_verifier(dir.path()) {
            return Err(Outcome::Rejected(complaint(&output)));
        }
        Ok(dir)
    }
}

/// A verifier of Spin for properties of infinite runs, compiled once and asked often.
#[derive(Debug)]
pub struct Verifier {
    dir: TempDir,
    limit: Duration,
}

impl Verifier {
    /// Runs it with these options.
    pub fn ask(&self, options: &[&str]) -> Verdict {
        let mut pan = Command::new(self.dir.path().join("pan"));
        pan.args(options).args(["-m20000", "-w14"]);
        match command::run(pan, self.dir.path(), self.limit) {
            Ok(output) if output.timed_out => Verdict::Unknown("time limit".into()),
            Ok(output) => cycle_verdict(&output.stdout),
            Err(error) => Verdict::Unknown(error.to_string()),
        }
    }
}

/// What a report of `pan -a` or `pan -l` says. Only errors that are about infinite runs, or that the claim
/// finds, are errors.
fn cycle_verdict(text: &str) -> Verdict {
    const FOUND: [&str; 5] = [
        "acceptance cycle",
        "non-progress cycle",
        "assertion violated",
        "end state in claim",
        "claim violated",
    ];
    let report = parse_report(text);
    let found = report.messages.iter().find(|message| FOUND.iter().any(|word| message.starts_with(word)));
    match (found, report.messages.first(), &report.truncated) {
        (Some(message), ..) if !message.contains("invalid array index") => Verdict::Violated,
        (_, Some(message), _) => Verdict::Unknown(message.clone()),
        (_, _, Some(why)) => Verdict::Unknown(why.clone()),
        _ if !text.contains("states, stored") => Verdict::Unknown(first_line(text)),
        _ => Verdict::Holds,
    }
}

fn has_verifier(dir: &Path) -> bool {
    dir.join("pan.c").is_file() && dir.join("pan.m").is_file()
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_string()
}

/// The line in which Spin says what is wrong.
fn complaint(output: &Output) -> String {
    let lines: Vec<&str> = output.stdout.lines().chain(output.stderr.lines()).collect();
    let telling = |l: &&&str| l.contains("rror") && !l.contains("dubious use");
    let line = lines.iter().find(telling).or(lines.first());
    line.map_or_else(|| format!("exit status {:?}", output.code), |l| l.trim().to_string())
}

/// Reads a verifier's report.
fn verdict(output: &Output) -> Outcome {
    if output.timed_out {
        return Outcome::Explored(Exploration {
            truncated: Some("time limit".into()),
            ..parse_report(&output.stdout)
        });
    }
    if let Some(signal) = output.signal {
        let mut exploration = parse_report(&output.stdout);
        exploration.aborted = true;
        exploration.kinds.insert(Kind::Runtime);
        exploration.messages.push(format!("pan ended by signal {signal}"));
        return Outcome::Explored(exploration);
    }
    if !output.stdout.contains("states, stored") {
        return Outcome::Failed(format!("pan: {}", first_line(&output.stdout)));
    }
    Outcome::Explored(parse_report(&output.stdout))
}

/// Parses what `pan` prints.
pub fn parse_report(text: &str) -> Exploration {
    let mut result = Exploration::default();
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("error: max search depth too small") {
            result.truncated = Some("depth limit".into());
        } else if line.starts_with("pan: reached -DMEMLIM") || line.starts_with("pan: out of memory") {
            result.truncated = Some("memory limit".into());
        } else if line.contains("Search not completed") {
            result.aborted = true;
        } else if let Some(message) = error_message(line) {
            result.kinds.insert(classify(message));
            result.messages.push(message.to_string());
        } else if let Some((_, errors)) = line.split_once("errors: ") {
            result.errors = errors.trim().parse().unwrap_or(0);
        } else if let Some(count) = line.strip_suffix(" states, stored") {
            result.states = count.trim().parse().unwrap_or(0);
        } else if let Some((count, _)) = line.split_once(" transitions (") {
            result.transitions = count.trim().parse().unwrap_or(0);
        }
    }
    if result.truncated.is_some() {
        result.aborted = false;
    }
    result
}

/// The text of a line like `pan:1: assertion violated (x<1) (at depth 3)`.
fn error_message(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pan:")?;
    let (number, message) = rest.split_once(": ")?;
    number.parse::<u64>().ok()?;
    Some(message)
}

fn classify(message: &str) -> Kind {
    if message.contains("invalid array index") {
        Kind::Runtime
    } else if message.starts_with("assertion violated") {
        Kind::Assertion
    } else if message.starts_with("invalid end state") {
        Kind::EndState
    } else if message.starts_with("event_trace error") {
        Kind::Trace
    } else {
        Kind::Runtime
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "pan:1: assertion violated (x<1) (at depth 3)\n\
        pan:2: invalid end state (at depth 4)\n\
        State-vector 28 byte, depth reached 9, errors: 7\n\
        \x20      14 states, stored\n\
        \x20       5 states, matched\n\
        \x20      19 transitions (= stored+matched)\n";

    #[test]
    fn a_report_is_read() {
        let report = parse_report(REPORT);
        assert_eq!((report.states, report.transitions, report.errors), (14, 19, 7));
        assert_eq!(report.kinds.iter().copied().collect::<Vec<_>>(), [Kind::Assertion, Kind::EndState]);
        assert!(!report.aborted && report.truncated.is_none());
    }

    #[test]
    fn limits_and_aborts_are_told_apart() {
        let deep = parse_report("error: max search depth too small\nWarning: Search not completed\n");
        assert_eq!((deep.aborted, deep.truncated.is_some()), (false, true));
        let fatal =
            parse_report("pan:1: block in d_step seq, line 3 (at depth 3)\nWarning: Search not completed\n");
        assert!(fatal.aborted && fatal.kinds.contains(&Kind::Runtime));
    }

    #[test]
    fn cycles_are_found_in_reports() {
        let violated = "pan:1: acceptance cycle (at depth 4)\n  2 states, stored\n";
        assert_eq!(cycle_verdict(violated), Verdict::Violated);
        assert_eq!(cycle_verdict("State-vector 36 byte, errors: 0\n  2 states, stored\n"), Verdict::Holds);
        let cut = "error: max search depth too small\n  2 states, stored\n";
        assert!(matches!(cycle_verdict(cut), Verdict::Unknown(_)));
        assert!(matches!(cycle_verdict("pan: refused\n"), Verdict::Unknown(_)));
    }

    #[test]
    fn messages_are_classified() {
        assert_eq!(classify("assertion violated - invalid array index (at depth 1)"), Kind::Runtime);
        assert_eq!(classify("event_trace error (no matching event) (at depth 1)"), Kind::Trace);
        assert_eq!(classify("ref to uninitialized chan name (sending) (at depth 1)"), Kind::Runtime);
    }
}
