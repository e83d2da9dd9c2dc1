//! Where counterexamples are written: `FILE`, then `FILE.2`, `FILE.3` …

use crate::failure::Failure;
use trace::Evidence;

/// Numbers the trails of one run.
#[derive(Debug)]
pub struct Trails {
    base: String,
    written: usize,
}

impl Trails {
    /// Trails called `base` and after it.
    pub fn new(base: &str) -> Self {
        Trails { base: base.to_string(), written: 0 }
    }

    /// How many were written.
    pub fn written(&self) -> usize {
        self.written
    }

    /// Writes a trail and returns its path. A counterexample that nobody can look at is no answer, so not being able to
    /// write it is a failure of the run; the message still says what was found.
    pub fn write(&mut self, evidence: &Evidence) -> Result<String, Failure> {
        let path = match self.written {
            0 => self.base.clone(),
            n => format!("{}.{}", self.base, n + 1),
        };
        std::fs::write(&path, trace::write(evidence.trail())).map_err(|error| {
            let fault = evidence.fault();
            Failure::Internal(format!(
                "a violation was found ({}: {}, {}:{}), but its counterexample cannot be written to {path}: {error}",
                fault.kind.name(),
                fault.message,
                fault.file,
                fault.line
            ))
        })?;
        self.written += 1;
        Ok(path)
    }
}
