//! What counts as a violation: the one place that both searches ask.
//!
//! Leaving a check out changes what is counted, never what is explored.

use crate::cuts::About;
use system::{Fault, FaultKind, Invariants, TransitionSystem};

/// Which errors are violations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checks {
    /// Failed assertions.
    pub assertion: bool,
    /// States without a successor that are no valid end.
    pub end_state: bool,
    /// Invariants.
    pub invariant: bool,
    /// Trace assertions.
    pub trace: bool,
    /// Run-time errors.
    pub runtime: bool,
    /// The end of a claim.
    pub claim_end: bool,
    /// With `end_state`: channels must be empty at a valid end.
    pub channels_empty: bool,
}

/// What is said of a valid end at which channels are not empty.
pub use system::CHANNELS_NOT_EMPTY;

impl Checks {
    /// Nothing.
    pub const NONE: Checks = Checks {
        assertion: false,
        end_state: false,
        invariant: false,
        trace: false,
        runtime: false,
        claim_end: false,
        channels_empty: false,
    };

    /// All built-in safety checks, as Spin has them on by default.
    pub const SAFETY: Checks = Checks {
        assertion: true,
        end_state: true,
        invariant: true,
        trace: true,
        runtime: true,
        claim_end: false,
        channels_empty: false,
    };

    /// What a claim finds wrong: its end, and its own assertions.
    pub const CLAIM: Checks = Checks { assertion: true, claim_end: true, ..Checks::NONE };

    /// One kind alone. Cycles are no errors of a state or a step: the searches that look for them know.
    pub fn only(kind: FaultKind) -> Checks {
        let mut checks = Checks::NONE;
        match kind {
            FaultKind::Assertion => checks.assertion = true,
            FaultKind::EndState => checks.end_state = true,
            FaultKind::Invariant => checks.invariant = true,
            FaultKind::Trace => checks.trace = true,
            FaultKind::Runtime => checks.runtime = true,
            FaultKind::ClaimEnd => checks.claim_end = true,
            FaultKind::AcceptCycle | FaultKind::ProgressCycle | FaultKind::Formula => {}
            FaultKind::Witness | FaultKind::Evaluation => {}
        }
        checks
    }

    /// What a search for these errors alone may say something of: a claim that ends has judged a run.
    pub fn about(&self) -> About {
        if self.claim_end { About::Runs } else { About::States }
    }

    /// Whether nothing counts but states without a successor.
    pub fn only_end_states(&self) -> bool {
        *self == Checks { channels_empty: self.channels_empty, ..Checks::only(FaultKind::EndState) }
    }

    /// Whether an error of this kind is a violation.
    pub fn count(&self, kind: FaultKind) -> bool {
        match kind {
            FaultKind::Assertion => self.assertion,
            FaultKind::EndState => self.end_state,
            FaultKind::Invariant => self.invariant,
            FaultKind::Trace => self.trace,
            FaultKind::Runtime => self.runtime,
            FaultKind::ClaimEnd => self.claim_end,
            FaultKind::AcceptCycle | FaultKind::ProgressCycle | FaultKind::Formula => false,
            FaultKind::Witness | FaultKind::Evaluation => false,
        }
    }

    /// Whether what a state shows by itself can count.
    fn inspects(&self) -> bool {
        self.invariant || self.trace || self.runtime || self.assertion
    }
}

/// Judges the states of a system.
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    checks: Checks,
    system: &'a dyn TransitionSystem,
    /// Where something may count that a state shows by itself.
    invariants: Option<&'a dyn Invariants>,
}

impl<'a> Judge<'a> {
    /// For these errors.
    pub fn new(checks: Checks, system: &'a dyn TransitionSystem) -> Self {
        Judge { checks, system, invariants: system.capabilities().invariants.filter(|_| checks.inspects()) }
    }

    /// Whether every state has to be judged, or only those that are stuck.
    #[inline]
    pub fn every_state(&self) -> bool {
        self.invariants.is_some()
    }

    /// Appends the violations that an ordinary state shows by itself; `stuck`: no action is enabled in it.
    pub fn state(&self, state: &[u8], stuck: bool, out: &mut Vec<Fault>) {
        let first = out.len();
        if let Some(invariants) = self.invariants {
            invariants.inspect(state, out);
        }
        if stuck && self.checks.end_state {
            out.extend(self.end(state));
        }
        let mut at = first;
        while at < out.len() {
            if self.checks.count(out[at].kind) {
                at += 1;
            } else {
                out.remove(at);
            }
        }
    }

    /// What is wrong with an end.
    fn end(&self, state: &[u8]) -> Option<Fault> {
        let labels = self.system.labels(state);
        if !labels.valid_end {
            return Some(self.system.deadlock(state));
        }
        if self.checks.channels_empty && !labels.channels_empty {
            let message = CHANNELS_NOT_EMPTY.to_string();
            return Some(Fault { kind: FaultKind::EndState, message, ..self.system.deadlock(state) });
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use system::toy::Graph;

    fn judged(checks: Checks, node: &str, stuck: bool) -> Vec<String> {
        let graph = Graph::parse("bad 1 2; end 2 3; full 3").unwrap();
        let mut out = Vec::new();
        Judge::new(checks, &graph).state(node.as_bytes(), stuck, &mut out);
        out.into_iter().map(|f| f.message).collect()
    }

    #[test]
    fn states_are_judged_by_what_is_asked() {
        assert_eq!(judged(Checks::SAFETY, "1", false), ["bad node 1"]);
        assert_eq!(judged(Checks::SAFETY, "1", true), ["bad node 1", "stuck at 1"]);
        assert_eq!(judged(Checks::SAFETY, "2", true), ["bad node 2"]);
        assert_eq!(judged(Checks::only(FaultKind::EndState), "1", true), ["stuck at 1"]);
        assert!(judged(Checks::only(FaultKind::Assertion), "1", true).is_empty());
    }

    #[test]
    fn channels_can_be_required_to_be_empty() {
        assert!(judged(Checks::SAFETY, "3", true).is_empty());
        let strict = Checks { channels_empty: true, ..Checks::SAFETY };
        assert_eq!(judged(strict, "3", true), [CHANNELS_NOT_EMPTY]);
        assert!(judged(strict, "3", false).is_empty());
    }
}
