//! Acceptance inside atomic sequences.
//!
//! A run that passes an accept label again and again does so also where the label stands inside an atomic
//! sequence, in a state that no search stores. Here a system remembers it: one byte before each state says
//! whether the step that led there passed such a label, and a state that was reached so is accepting. All
//! searches for cycles run over it unchanged. Where nothing more can happen, the repetition of the last state
//! passes nothing: it leads to the same state without the mark. (`pan -a` sees such a label when it stands in
//! the last state of the sequence, and the step after it closes a cycle of its depth-first search.)

use system::layer::Inner;
use system::portable::StableHash;
use system::{
    ActionId, Capabilities, Fault, Labels, Layer, SleepMask, Successors, TransitionSystem, Worker, WorkerExt,
    follow_by,
};

/// The step passed an accept label inside an atomic sequence.
const PASSED: u8 = 1;

/// A system in which steps remember the accept labels that they pass.
pub struct Passing<'a>(Inner<'a>);

impl<'a> Passing<'a> {
    /// Remembers for this system.
    pub fn new(system: &'a dyn TransitionSystem) -> Self {
        Passing(Inner::new(system))
    }

    /// Appends the steps of a state; `passed` is what the atomic sequence has passed so far.
    fn pair(&self, passed: u8, steps: &Successors, out: &mut Successors) {
        for step in &steps.list {
            let Some(rest) = steps.state(step) else {
                out.push(step.action, None, false, steps.fault(step).cloned());
                continue;
            };
            let inside = step.is_transient();
            let here = if inside && self.0.system.labels(rest).accepting { PASSED } else { 0 };
            let write = |bytes: &mut Vec<u8>| {
                bytes.push(passed | here);
                bytes.extend_from_slice(rest);
            };
            out.push_with(step.action, write, inside, steps.fault(step).cloned());
        }
    }
}

/// The byte before a state, and the state.
fn split(state: &[u8]) -> (u8, &[u8]) {
    state.split_first().map_or((0, state), |(&head, rest)| (head, rest))
}

impl Layer for Passing<'_> {
    fn inner(&self) -> Inner<'_> {
        self.0
    }

    fn around(&self) -> (usize, usize) {
        (1, 0)
    }

    fn validate(&self, head: &[u8], _tail: &[u8]) -> Result<(), &'static str> {
        if head[0] & !PASSED == 0 { Ok(()) } else { Err("labels are passed or not") }
    }

    fn own_fingerprint(&self) -> u64 {
        StableHash::new(0).bytes(b"passing").finish()
    }
}

impl TransitionSystem for Passing<'_> {
    fn initial(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        out.push(0);
        self.0.system.initial(out)
    }

    fn enabled(&self, state: &[u8], out: &mut Vec<ActionId>) {
        self.0.system.enabled(split(state).1, out);
    }

    fn fire(&self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        self.worker().fire(state, actions, out);
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(Remembering { of: self, worker: self.0.system.worker(), steps: Successors::default() })
    }

    fn labels(&self, state: &[u8]) -> Labels {
        let (head, rest) = split(state);
        let labels = self.0.system.labels(rest);
        Labels { accepting: labels.accepting || head & PASSED != 0, ..labels }
    }

    fn hidden_bytes(&self) -> usize {
        self.0.system.hidden_bytes()
    }

    fn deadlock(&self, state: &[u8]) -> Fault {
        self.0.system.deadlock(split(state).1)
    }

    fn capabilities(&self) -> Capabilities<'_> {
        self.forwarded()
    }
}

/// One thread's access.
struct Remembering<'a> {
    of: &'a Passing<'a>,
    worker: Box<dyn Worker + 'a>,
    steps: Successors,
}

impl Worker for Remembering<'_> {
    fn enabled(&mut self, state: &[u8], out: &mut Vec<ActionId>) {
        self.worker.enabled(split(state).1, out);
    }

    /// Of an ordinary state.
    fn fire(&mut self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        self.steps.clear();
        self.worker.fire(split(state).1, actions, &mut self.steps);
        self.of.pair(0, &self.steps, out);
    }

    fn expand_active(&mut self, state: &[u8], asleep: SleepMask, out: &mut Successors) {
        debug_assert!(asleep.is_none(), "every step is seen");
        let (head, rest) = split(state);
        self.steps.clear();
        self.worker.expand(rest, &mut self.steps);
        if self.steps.list.is_empty() && head & PASSED != 0 {
            let unmarked = |bytes: &mut Vec<u8>| {
                bytes.push(0);
                bytes.extend_from_slice(rest);
            };
            return out.push_with(ActionId::STUTTER, unmarked, false, None);
        }
        self.of.pair(0, &self.steps, out);
    }

    fn follow(&mut self, state: &[u8], most: u32, out: &mut Successors) -> usize {
        follow_by(state, most, out, |state, out| {
            let (head, rest) = split(state);
            self.steps.clear();
            self.worker.expand_transient(rest, &mut self.steps);
            self.of.pair(head & PASSED, &self.steps, out);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cndfs::{Workers, cndfs};
    use crate::ndfs::tests::run;
    use crate::ndfs::{Cycles, ndfs};
    use crate::observer::Observer;
    use crate::outcome::{Outcome, StopReason};
    use crate::scc::scc;
    use crate::strong::strong;
    use crate::task::Task;
    use crate::ufscc::ufscc;
    use system::Fairness;
    use system::toy::Graph;

    type Search = fn(&dyn TransitionSystem, &Cycles, &Task<'_>, &mut dyn Observer) -> Outcome;

    const TWO: Workers = Workers { number: 2, alone: None };
    const SEARCHES: [Search; 5] =
        [ndfs, scc, strong, |s, c, t, o| cndfs(s, c, TWO, t, o), |s, c, t, o| ufscc(s, c, TWO, t, o)];

    fn stops(text: &str) -> Vec<StopReason> {
        let graph = Graph::parse(text).unwrap();
        let passing = Passing::new(&graph);
        let fairness = |at: usize| if at == 2 { Fairness::Strong } else { Fairness::None };
        let search = |(at, search): (usize, &Search)| run(*search, &passing, fairness(at), None).stop;
        SEARCHES.iter().enumerate().map(search).collect()
    }

    #[test]
    fn a_label_that_is_passed_again_and_again_counts() {
        for text in [
            "0 -> 1 -> 0; transient 1; accept 1",
            "0 -> 1 -> 2 -> 0; transient 1 2; accept 1",
            "0 -> 1 -> 2 -> 3 -> 0; transient 1 2; accept 1",
        ] {
            assert_eq!(stops(text), [StopReason::Violation; 5], "{text}");
        }
    }

    #[test]
    fn a_label_that_is_passed_once_does_not() {
        for text in [
            "0 -> 1 -> 2 -> 3 -> 2; transient 1; accept 1",
            "0 -> 1 -> 2; 0 -> 2; 2 -> 3 -> 2; transient 1 3; accept 1",
            // A run that ends is prolonged where it ends.
            "0 -> 1 -> 2; transient 1; accept 1",
            // It is passed on the way to a state in which the sequence blocks.
            "0 -> 1 -> 2; transient 1 2; accept 1",
        ] {
            assert_eq!(stops(text), [StopReason::Completed; 5], "{text}");
        }
    }
}
