//! What a search found that computes with sets of states, for those who make such searches: the same
//! [`Outcome`] that searches from state to state have, with the same rule of what may be claimed.

use crate::cuts::{About, Cuts};
use crate::outcome::{Exhausted, Extent, Outcome, Recorder, Statistics, StopReason, Violation, Warning};
use crate::property::Checks;
use system::Path;

/// What a search with sets of states found.
#[derive(Debug)]
pub struct SetSearch {
    /// Why it ended; [`StopReason::Completed`] only when every reachable state is in the set that it computed.
    pub stop: StopReason,
    /// What counts.
    pub checks: Checks,
    /// What it is about.
    pub about: About,
    /// Violations, one of each signature.
    pub violations: Vec<Violation>,
    /// The number of violations.
    pub errors: u64,
    /// Errors that do not count, but after which a run does not go on.
    pub cuts: Vec<Violation>,
    /// The way to an atomic sequence that does not end.
    pub atomic_loop: Option<Path>,
    /// Numbers.
    pub statistics: Statistics,
}

impl SetSearch {
    /// The proof that every state and every step was seen, for those who account for steps without an end.
    pub fn exhausted_but_for_cuts(&self) -> Option<Exhausted> {
        (self.stop == StopReason::Completed).then(Exhausted::of_whole_graph)
    }

    /// Puts it together as every other search does.
    pub fn conclude(self) -> Outcome {
        let mut cuts = Cuts::default();
        let mut found = Recorder::default();
        for violation in self.violations.iter().chain(&self.cuts) {
            cuts.by_error(&violation.fault);
        }
        for Violation { fault, path, cycle } in self.violations {
            match cycle {
                Some(cycle) => found.add_lasso(fault, path, cycle),
                None => found.add(fault, path.len() as u64, || path),
            }
        }
        for Violation { fault, path, .. } in self.cuts {
            found.cut(fault, || path);
        }
        found.errors = self.errors;
        if let Some(path) = self.atomic_loop {
            cuts.in_atomic_loop();
            found.warnings.push(Warning::AtomicLoop(path));
        }
        let extent = Extent { stop: self.stop, about: self.about, cuts, lossless: true };
        Outcome::conclude(extent, &self.checks, found, self.statistics)
    }
}
