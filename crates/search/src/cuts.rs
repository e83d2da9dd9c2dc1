//! Where a search could not follow the runs of a system to their end.
//!
//! A run-time error has no successor: what the run behind it would have done is unknown. The same is true of
//! what lies beyond a limit on depth, and, for a property of whole runs, of a run that never leaves an atomic
//! sequence: it has no further state that a claim or a label could judge. Nothing may be said to *hold* on
//! the strength of such a path.
//!
//! So it is not left to a search to remember: whoever expands states ([`Expander`](crate::expand::Expander))
//! keeps this ledger, and [`Outcome::conclude`](crate::outcome::Outcome) does not make its token without one.

use crate::property::Checks;
use system::Fault;

/// What was not followed to its end.
#[derive(Clone, Debug, Default)]
pub struct Cuts {
    /// Something was left out because of the depth limit.
    depth: bool,
    /// An atomic sequence can run forever.
    atomic_loop: bool,
    /// Steps that could not be completed: the first of each kind of error.
    errors: Vec<Fault>,
}

/// What a property is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum About {
    /// States and steps: it is enough to have met all of them.
    States,
    /// Whole runs.
    Runs,
}

impl Cuts {
    /// As they were written down, of a search without a depth limit.
    pub fn restored(atomic_loop: bool, errors: Vec<Fault>) -> Self {
        Cuts { depth: false, atomic_loop, errors }
    }

    /// Whether an atomic sequence can run forever.
    pub fn atomic_loop(&self) -> bool {
        self.atomic_loop
    }

    /// Steps that could not be completed: the first of each kind of error.
    pub fn errors(&self) -> &[Fault] {
        &self.errors
    }

    /// The depth limit left something out.
    pub(crate) fn at_depth(&mut self) {
        self.depth = true;
    }

    /// An atomic sequence can run forever.
    pub(crate) fn in_atomic_loop(&mut self) {
        self.atomic_loop = true;
    }

    /// A step could not be completed.
    pub(crate) fn by_error(&mut self, fault: &Fault) {
        if self.errors.iter().all(|other| other.kind != fault.kind) {
            self.errors.push(fault.clone());
        }
    }

    /// Whether the depth limit left something out.
    pub fn depth_limited(&self) -> bool {
        self.depth
    }

    /// Adds what another worker met.
    pub(crate) fn join(&mut self, other: Cuts) {
        self.depth |= other.depth;
        self.atomic_loop |= other.atomic_loop;
        other.errors.iter().for_each(|fault| self.by_error(fault));
    }

    /// Whether every path was followed to its end, as far as a property of this sort asks. An error that
    /// counts as a violation is an answer, not a gap.
    pub(crate) fn is_none(&self, about: About, checks: &Checks) -> bool {
        let answered = self.errors.iter().all(|fault| checks.count(fault.kind));
        !self.depth && answered && !(self.atomic_loop && about == About::Runs)
    }

    /// The error that stopped a path without being a violation.
    pub(crate) fn error(&self, checks: &Checks) -> Option<Fault> {
        self.errors.iter().find(|fault| !checks.count(fault.kind)).cloned()
    }

    /// Whether the verdict is about runs, and one of them stays inside an atomic sequence.
    pub(crate) fn stays_inside(&self, about: About) -> bool {
        self.atomic_loop && about == About::Runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use system::FaultKind;

    fn fault(kind: FaultKind) -> Fault {
        let (message, file) = (String::new(), "f".to_string());
        Fault { kind, message, file, line: 1, column: 1, process: None, pid: None }
    }

    #[test]
    fn an_error_is_a_gap_unless_it_counts() {
        let mut cuts = Cuts::default();
        assert!(cuts.is_none(About::Runs, &Checks::NONE));
        cuts.by_error(&fault(FaultKind::Runtime));
        assert!(cuts.is_none(About::States, &Checks::SAFETY));
        assert!(!cuts.is_none(About::States, &Checks::only(FaultKind::Assertion)));
        assert!(!cuts.is_none(About::Runs, &Checks::CLAIM));
        assert_eq!(cuts.error(&Checks::CLAIM).map(|fault| fault.kind), Some(FaultKind::Runtime));
    }

    #[test]
    fn an_endless_atomic_sequence_is_a_gap_for_runs_alone() {
        let mut cuts = Cuts::default();
        let mut other = Cuts::default();
        other.in_atomic_loop();
        cuts.join(other);
        assert!(cuts.is_none(About::States, &Checks::SAFETY));
        assert!(!cuts.is_none(About::Runs, &Checks::CLAIM));
        assert!(cuts.stays_inside(About::Runs) && !cuts.stays_inside(About::States));
    }

    #[test]
    fn a_depth_limit_is_a_gap_for_all() {
        let mut cuts = Cuts::default();
        cuts.at_depth();
        assert!(!cuts.is_none(About::States, &Checks::SAFETY) && cuts.depth_limited());
    }
}
