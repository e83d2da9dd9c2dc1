//! Findings: what the steps of a state show, or the lack of an initial state, judged by what is checked. Every
//! search asks here and nowhere else, so that an error means the same in all of them: a violation where it
//! counts, else a path that was cut off where the step could not be completed.

use crate::expand::Expansion;
use crate::findings::{Findings, Spot};
use crate::outcome::{Recorder, StopReason};
use crate::property::Checks;
use crate::task::Task;
use system::{ActionId, Fault, Path, TransitionSystem};

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

/// There is no initial state: it cannot be built, or a claim has come to its end before the first step.
#[derive(Debug)]
pub(crate) enum NoInitialState {
    /// That is an error that counts.
    Violation(Fault),
    /// It is none that counts, but there is nothing to search.
    Cut(Fault),
}

/// The initial state of a system, or what it means that there is none.
pub(crate) fn initial_state(
    system: &dyn TransitionSystem,
    checks: &Checks,
) -> Result<Vec<u8>, NoInitialState> {
    let mut state = Vec::new();
    match system.initial(&mut state) {
        Ok(()) => Ok(state),
        Err(fault) if checks.count(fault.kind) => Err(NoInitialState::Violation(fault)),
        Err(fault) => Err(NoInitialState::Cut(fault)),
    }
}

impl From<NoInitialState> for Judged {
    fn from(missing: NoInitialState) -> Self {
        match missing {
            NoInitialState::Violation(fault) => Judged::Violation(fault),
            NoInitialState::Cut(fault) => Judged::Cut(fault),
        }
    }
}

impl Recorder {
    /// Records that there is no initial state; says whether the search goes on.
    pub(crate) fn no_initial_state(
        &mut self,
        missing: NoInitialState,
        task: &Task<'_>,
    ) -> Result<(), StopReason> {
        match missing {
            NoInitialState::Violation(fault) => {
                self.add(fault, 0, Path::new);
                task.after_violation(self.errors)
            }
            NoInitialState::Cut(fault) => {
                self.cut(fault, Path::new);
                Ok(())
            }
        }
    }
}

impl Findings {
    /// Notes that there is no initial state; says whether the search goes on.
    pub(crate) fn no_initial_state(
        &mut self,
        missing: NoInitialState,
        worker: usize,
        task: &Task<'_>,
    ) -> Result<(), StopReason> {
        let spot = || Spot { worker, expansion: 0, more: Vec::new() };
        match missing {
            NoInitialState::Violation(fault) => {
                self.add(fault, 0, spot);
                task.after_violation(self.errors)
            }
            NoInitialState::Cut(fault) => {
                self.cut(fault, spot);
                Ok(())
            }
        }
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
