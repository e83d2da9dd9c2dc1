//! What the tests of the command have in common: a directory for each test, and runs of the command in it.

#![allow(dead_code, reason = "each test file uses its share")]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory of its own for each test, removed at the end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    /// Empty.
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("spinor-cli-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Scratch(dir)
    }

    /// With a model called `m.pml`.
    pub fn with(model: &str) -> Self {
        let scratch = Scratch::new();
        scratch.write("m.pml", model);
        scratch
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap()
    }

    /// Whether there is such a file.
    pub fn has(&self, name: &str) -> bool {
        self.0.join(name).exists()
    }

    /// The command, to be run here.
    pub fn command(&self, words: &[&str]) -> Command {
        spinor(&self.0, words)
    }

    /// Runs the command here.
    pub fn run(&self, words: &[&str]) -> CommandOutput {
        CommandOutput::of(self.command(words).output().unwrap())
    }

    /// `check --format json`, with the report.
    pub fn check(&self, words: &[&str]) -> (CommandOutput, Value) {
        let run = self.run(&[&["check", "m.pml", "--format", "json"], words].concat());
        let report = serde_json::from_str(&run.stdout).unwrap_or(Value::Null);
        (run, report)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The command, to be run in `dir`; colours are what the test makes of them.
pub fn spinor(dir: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spinor"));
    command.args(words).current_dir(dir);
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command
}

/// What a run of the command gave.
pub struct CommandOutput {
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl CommandOutput {
    /// What came of it.
    pub fn of(output: Output) -> Self {
        CommandOutput {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
