//! What a state leads to: its ordinary successors, atomic sequences followed to their ends, and all errors on
//! the way. Written anew, so that it shares no mistake with the searches.

use std::collections::HashSet;
use system::{ActionId, Fault, Successors, Worker, WorkerExt};

/// The ordinary successors of one state.
#[derive(Debug, Default)]
pub struct Steps {
    /// The states, each with the first action of the way to it.
    pub targets: Vec<(ActionId, Vec<u8>)>,
    /// Errors, and whether the step could not be completed.
    pub faults: Vec<(Fault, bool)>,
    /// No action is enabled.
    pub stuck: bool,
    /// Steps that were taken.
    pub taken: u64,
}

impl Steps {
    /// Takes all steps from an ordinary state.
    pub fn from(worker: &mut dyn Worker, state: &[u8]) -> Self {
        let (mut steps, mut out) = (Steps::default(), Successors::default());
        worker.expand(state, &mut out);
        steps.stuck = out.list.is_empty();
        let mut inside = Vec::new();
        let mut met = HashSet::new();
        let mut first = None;
        loop {
            steps.taken += out.list.len() as u64;
            for outcome in &out.list {
                let target = out.state(outcome);
                steps.faults.extend(out.faults_of(outcome).map(|fault| (fault.clone(), target.is_none())));
                let (Some(target), action) = (target, first.unwrap_or(outcome.action)) else { continue };
                match outcome.is_transient() {
                    true if met.insert(target.to_vec()) => inside.push((action, target.to_vec())),
                    true => {}
                    false => steps.targets.push((action, target.to_vec())),
                }
            }
            let Some((action, next)) = inside.pop() else { return steps };
            first = Some(action);
            out = Successors::default();
            worker.expand_transient(&next, &mut out);
        }
    }
}
