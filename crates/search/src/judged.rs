//! Findings: what the steps of a state show, judged by what is checked. Every search asks here and nowhere else, so that an
//! error means the same in all of them: a violation where it counts, else a path that was cut off where the step could not be completed.

use crate::expand::Expansion;
use crate::property::Checks;
use system::{ActionId, Fault};

/// What a search must record of a step.
#[derive(Debug)]
pub(crate) enum Judged {
    /// An error that counts.
    Violation(Fault),
    /// An error that is no violation, but cuts the path off.
    Cut(Fault),
    /// An atomic sequence without end.
    AtomicLoop,
}

impl Checks {
    /// What an initial state that cannot be built means.
    pub(crate) fn no_beginning(&self, fault: Fault) -> Judged {
        if self.count(fault.kind) { Judged::Violation(fault) } else { Judged::Cut(fault) }
    }
}

impl Expansion {
    /// What the state that was expanded last shows, each with the actions from it on. The expansion forgets it.
    pub(crate) fn judged(&mut self, checks: &Checks) -> Vec<(Judged, Vec<ActionId>)> {
        let mut judged = Vec::new();
        for step in self.faults.drain(..) {
            if checks.count(step.fault.kind) {
                judged.push((Judged::Violation(step.fault), step.actions));
            } else if step.cut {
                judged.push((Judged::Cut(step.fault), step.actions));
            }
        }
        judged.extend(self.atomic_loop.take().map(|actions| (Judged::AtomicLoop, actions)));
        judged
    }
}
