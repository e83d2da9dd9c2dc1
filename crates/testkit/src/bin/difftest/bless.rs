//! Fills the expectations of golden models from real Spin.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use engine::suite::directive;
use engine::suite::expect::Expectation;
use testkit::golden;
use testkit::spin::{Compiler, Spin};

/// Blesses every file; the exit code is 1 when one could not be.
pub fn bless(files: &[PathBuf]) -> ExitCode {
    let mut spin = Spin::find();
    spin.limit = std::time::Duration::from_secs(60);
    if let Some(why) = spin.missing() {
        eprintln!("difftest: nothing was blessed: {why}");
        return ExitCode::from(2);
    }
    let mut failed = false;
    for file in files {
        match bless_file(&spin, file) {
            Ok(line) => println!("{}: {line}", file.display()),
            Err(message) => {
                eprintln!("{}: {message}", file.display());
                failed = true;
            }
        }
    }
    ExitCode::from(u8::from(failed))
}

fn bless_file(spin: &Spin, file: &Path) -> Result<String, String> {
    let text = fs::read_to_string(file).map_err(|e| e.to_string())?;
    let told =
        |all: Vec<directive::Mistake>| all.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    let mut new = text.clone();
    let mut blessed = Vec::new();
    // A model without a check gets one; what Spin cannot be asked about stays as it is.
    for i in 0..directive::parse(&text).map_err(told)?.checks.len().max(1) {
        let directives = directive::parse(&new).map_err(told)?;
        let check = directives.checks.get(i);
        if check.is_some_and(|c| c.property != "safety") {
            continue;
        }
        let options = check.map_or_else(|| directives.options.clone(), |c| directives.options_of(c));
        let found = golden::bless(spin, &text, &options, Compiler::Thorough)?;
        let expect = match check.and_then(|c| c.expectation()) {
            Some(old) if old.verdict == found.verdict => {
                Expectation { kinds: found.kinds, states: found.states, ..old.clone() }
            }
            _ => found,
        };
        new = directive::with_expectation(&new, i, &expect).map_err(told)?;
        blessed.push(expect.to_string());
    }
    if new != text {
        fs::write(file, new).map_err(|e| e.to_string())?;
    }
    match blessed.is_empty() {
        true => Err("it has no `safety` check, and only those are blessed".into()),
        false => Ok(blessed.join("; ")),
    }
}
