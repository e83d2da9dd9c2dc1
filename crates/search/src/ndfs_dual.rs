//! Nested depth-first search by two workers: one makes the first search, the other the second.
//!
//! Holzmann & Bošnački (2007, section 3.1). The first worker puts accepting states, in the order in which it
//! leaves them, into a queue with one writer and one reader. The second looks from each for a way back to it,
//! and keeps what it has met in a set of its own: the two share no states, so nothing is locked. What an
//! earlier second search has met need not be met again, because accepting states come in that order
//! (Courcoubetis, Vardi, Wolper & Yannakakis). Cycles that the first search closes by itself it also finds by
//! itself, and states from which no cycle can be reached are not queued.
//!
//! The second worker has no path from the beginning. When it finds a cycle, one worker searches again, and
//! shows it.

use crate::expand::Expansion;
use crate::halt::{Halt, obeying};
use crate::limits::{Budget, Limits};
use crate::marks::Marker;
use crate::ndfs::{Cycles, Ndfs, ndfs};
use crate::observer::{Observer, Silent};
use crate::outcome::{Outcome, StopReason, no_memory};
use crate::stack::Stack;
use crate::state_key::key;
use crate::states::{Alone, Job};
use crate::task::Task;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Instant;
use store::{Numbering, Recall};
use system::{ActionId, TransitionSystem};

/// Accepting states that may wait.
const QUEUE: usize = 4096;

/// The stack of the thread of the second search.
const STACK_BYTES: usize = 2 << 20;

/// Looks for a cycle through an accepting state, with two workers. The task has no limit on depth.
pub fn ndfs_dual(
    system: &dyn TransitionSystem,
    cycles: &Cycles,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    let started = Instant::now();
    let one = Task { all_errors: false, ..*task };
    let job = Job { system, cycles, task: &one, observer: &mut *observer };
    let mut outcome = job.alone::<Dual>();
    let by_second = outcome.stop == StopReason::Violation && outcome.errors == 0;
    if by_second || (task.all_errors && outcome.errors > 0) {
        let time = task.limits.time.map(|time| time.saturating_sub(started.elapsed()));
        let again = Task { limits: Limits { time, ..task.limits }, ..*task };
        outcome = ndfs(system, cycles, &again, observer);
        outcome.statistics.workers = 2;
    }
    outcome
}

/// A search by two workers, each with a store of its own.
struct Dual;

impl Alone for Dual {
    fn search<S: Numbering + Recall>(job: Job<'_, '_>, store: &(dyn Fn() -> S + Sync)) -> Outcome {
        let Job { system, cycles, task, observer } = job;
        let halt = Halt::default();
        std::thread::scope(|scope| {
            let (sender, seeds) = sync_channel(QUEUE);
            let halt = &halt;
            let work = move || second_search(system, cycles, task, halt, &seeds, store());
            let second = store::threads::start(scope, "second search", STACK_BYTES, work);
            let budget = Budget::new(task, observer).halted_by(halt.flag());
            let mut first = Ndfs::new(system, cycles, task, budget, store());
            let Ok(second) = second else { return first.conclude(StopReason::MemoryLimit) };
            first.seeds = Some(sender);
            let searched = obeying(|| first.run());
            // Nothing more will come.
            first.seeds = None;
            if let Err(reason) = searched {
                halt.halt(reason);
            }
            let met = second.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let mut outcome = first.conclude(halt.reason().unwrap_or(StopReason::Completed));
            outcome.statistics.reexplored += met;
            outcome.statistics.workers = 2;
            outcome
        })
    }
}

/// Makes the second search from every seed. Tells how many states it has met.
fn second_search(
    system: &dyn TransitionSystem,
    cycles: &Cycles,
    task: &Task<'_>,
    halt: &Halt,
    seeds: &Receiver<Vec<u8>>,
    met: impl Numbering,
) -> u64 {
    let mut silent = Silent;
    let mut second = Second {
        budget: Budget::new(task, &mut silent).halted_by(halt.flag()),
        marker: Marker::new(system, cycles.acceptance),
        hidden: system.hidden_bytes(),
        met,
        expansion: Expansion::default(),
        stack: Stack::default(),
    };
    for seed in seeds {
        if let Err(reason) = obeying(|| second.search(&seed)) {
            halt.halt(reason);
            break;
        }
    }
    second.met.n_keys()
}

struct Second<'a, S> {
    budget: Budget<'a>,
    marker: Marker<'a>,
    hidden: usize,
    met: S,
    expansion: Expansion,
    stack: Stack<()>,
}

impl<S: Numbering> Second<'_, S> {
    /// Looks for a way from a state back to it.
    fn search(&mut self, seed: &[u8]) -> Result<(), StopReason> {
        self.stack.begin(seed).map_err(no_memory)?;
        self.expand(seed)?;
        while self.stack.depth() > 0 {
            if !self.stack.advance() {
                self.stack.retreat();
            } else if self.is_new()? {
                self.expand(seed)?;
            } else {
                self.stack.leave();
            }
        }
        Ok(())
    }

    fn is_new(&mut self) -> Result<bool, StopReason> {
        let key = key(self.stack.state(), self.hidden);
        let ticket = self.met.hash(key).map_err(|_| StopReason::MemoryLimit)?;
        self.met.visit(key, ticket).map(|entry| entry.new).map_err(|_| StopReason::MemoryLimit)
    }

    /// Expands the state at the end of the path.
    fn expand(&mut self, seed: &[u8]) -> Result<(), StopReason> {
        if self.budget.tick()? {
            self.budget.look(Default::default)?;
        }
        self.expansion.clear();
        self.marker.expander.look_for_loops(false);
        self.marker.expand(self.stack.state(), 0, &mut self.budget, &mut self.expansion)?;
        self.stack.enter(None).map_err(no_memory)?;
        for edge in self.expansion.edges() {
            let state = self.expansion.state(edge);
            let target = key(state, self.hidden);
            if target == key(seed, self.hidden) {
                return Err(StopReason::Violation);
            }
            if !self.met.knows(target).map_err(|_| StopReason::MemoryLimit)? {
                // Nobody asks for the actions.
                self.stack.push(state, &[] as &[ActionId], ()).map_err(no_memory)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cndfs::tests::{Wrong, rings};
    use crate::ndfs::tests::cycles;
    use crate::property::Checks;
    use std::sync::atomic::AtomicBool;
    use system::Fairness;
    use system::toy::{Counters, Graph};

    fn both(system: &dyn TransitionSystem, limits: Limits) -> [Outcome; 2] {
        let stop = AtomicBool::new(false);
        let (checks, cycles) = (Checks::NONE, cycles(Fairness::None, true));
        let task = Task { checks, all_errors: false, seed: None, limits, stop: &stop, reduce: None };
        [ndfs(system, &cycles, &task, &mut Silent), ndfs_dual(system, &cycles, &task, &mut Silent)]
    }

    #[test]
    fn two_find_what_one_finds() {
        let mut wrong = 0;
        for seed in 0..300 {
            let bad = [Wrong::Step, Wrong::Nothing][seed as usize % 2];
            for graph in [rings(200, seed, bad), Graph::random(4 + seed as u32 % 23, seed)] {
                let [one, two] = both(&graph, Limits::default());
                wrong += one.errors;
                assert_eq!(one.errors, two.errors, "seed {seed}");
                assert_eq!(one.exhausted, two.exhausted);
                assert_eq!(one.violations.len(), two.violations.len());
                if one.errors == 0 {
                    assert_eq!(one.statistics.states, two.statistics.states);
                    assert_eq!(one.statistics.transitions, two.statistics.transitions);
                }
            }
        }
        assert!(wrong > 200 && wrong < 500, "{wrong}");
    }

    #[test]
    fn limits_stop_both() {
        let limits = Limits { states: Some(1000), ..Limits::default() };
        let [one, two] = both(&Counters { n: 6, max: 5 }, limits);
        assert_eq!((one.stop, two.stop), (StopReason::StateLimit, StopReason::StateLimit));
        assert_eq!(two.statistics.states, 1000);
    }
}
