//! Fills the expectations of golden models from real Spin.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use testkit::spin::{Compiler, Spin};
use testkit::{directive, golden};

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
    let directives = directive::parse(&text)
        .map_err(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
    if directives.checks.first().is_some_and(|c| c.property != "safety") {
        return Err("only the first check is blessed, and it must be `safety`".into());
    }
    let expect = golden::bless(spin, &text, &directives.options, Compiler::Thorough)?;
    let new = directive::with_expectation(&text, &expect);
    if new != text {
        fs::write(file, new).map_err(|e| e.to_string())?;
    }
    Ok(expect.to_string())
}
