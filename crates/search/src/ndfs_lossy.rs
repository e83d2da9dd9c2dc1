//! Nested depth-first search over a store that may take a state for another one: hash compaction, bitstate
//! hashing.
//!
//! Courcoubetis, Vardi, Wolper and Yannakakis's algorithm (1992) as Spin runs it with `-DHC` and
//! `-DBITSTATE`: the first search sends a second one from every accepting state that it leaves, which looks
//! for a way back to that state. Both keep only whether a state was met, in one store: for the second search
//! a state has another key. The colours of [`crate::ndfs`] need a number for every state, which a store of
//! hashes or bits does not give.
//!
//! **No cycle is false.** The way back ends where a whole state equals the seed, byte by byte, and both paths
//! are executed: what is found is a run of the system, whatever the store confuses. A state taken for another
//! one is not expanded, so that a cycle may be missed: the search ends without [`crate::Exhausted`], and
//! tells the probability of an omission.
//!
//! Where on every cycle either all states are accepting or none, the second search is made as well: to see a
//! step to the path a search must know exactly what is on the path.

use crate::explorer::Explorer;
use crate::halt::obeying;
use crate::lasso::{Anchor, Lasso, shorten};
use crate::limits::Budget;
use crate::ndfs::Cycles;
use crate::observer::Observer;
use crate::outcome::{Outcome, StopReason, no_memory};
use crate::stack::Stack;
use crate::state_key::key;
use crate::task::Task;
use store::{Batched, Full};
use system::{ActionId, TransitionSystem};

/// What stands behind a key for the second search.
const SECOND: [u8; 8] = *b"\xa5second\x5a";

/// Looks for a cycle through an accepting state, without fairness and marks. `cycles.store` is not asked.
pub fn ndfs_lossy(
    system: &dyn TransitionSystem,
    cycles: &Cycles,
    store: impl Batched,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    debug_assert_eq!((cycles.acceptance.n_marks, cycles.acceptance.fairness), (0, system::Fairness::None));
    let mut search = NdfsLossy {
        explorer: Explorer::new(system, cycles, task, Budget::new(task, observer), store),
        actions: Vec::new(),
        first: Stack::default(),
        second: Stack::default(),
        second_key: Vec::new(),
    };
    let stop = match obeying(|| search.run()) {
        Ok(()) => StopReason::Completed,
        Err(stop) => stop,
    };
    search.explorer.conclude(stop)
}

struct NdfsLossy<'a, S: Batched> {
    explorer: Explorer<'a, S>,
    actions: Vec<ActionId>,
    first: Stack<S::Ticket>,
    second: Stack<()>,
    second_key: Vec<u8>,
}

impl<S: Batched> NdfsLossy<'_, S> {
    fn run(&mut self) -> Result<(), StopReason> {
        if !self.explorer.begin(&mut self.first)? {
            return Ok(());
        }
        self.enter()?;
        while self.first.depth() > 0 {
            if !self.first.advance() {
                self.leave()?;
            } else if !self.enter()? {
                self.explorer.statistics.matched += 1;
                self.first.leave();
            }
        }
        Ok(())
    }

    /// Goes to the state at the end of the first path if it is new, expands it and puts its new successors on
    /// the stack.
    fn enter(&mut self) -> Result<bool, StopReason> {
        let ticket = match self.first.ticket {
            Some(ticket) => ticket,
            None => self.explorer.prepare(self.first.state())?,
        };
        let Explorer { store, budget, hidden, no_states, .. } = &mut self.explorer;
        let key = key(self.first.state(), *hidden);
        if budget.states_spent(store.n_keys() - *no_states) && !store.contains(key, ticket) {
            return Err(StopReason::StateLimit);
        }
        if store.insert(key, ticket).map_err(full)?.is_none() {
            return Ok(false);
        }
        let second = &self.second;
        self.explorer.explore(&self.first, || second.memory())?;
        self.push_successors()?;
        Ok(true)
    }

    fn push_successors(&mut self) -> Result<(), StopReason> {
        self.first.enter(None).map_err(no_memory)?;
        let Explorer { expansion, marker, order, tickets, store, hidden, statistics, .. } =
            &mut self.explorer;
        for (&at, &ticket) in order.iter().zip(&*tickets) {
            statistics.transitions += 1;
            let edge = expansion.edge(at);
            let state = expansion.state(edge);
            if store.contains(key(state, *hidden), ticket) {
                statistics.matched += 1;
                continue;
            }
            self.actions.clear();
            marker.expander.actions(edge, &mut self.actions);
            self.first.push(state, &self.actions, ticket).map_err(no_memory)?;
        }
        Ok(())
    }

    /// The last state of the first path is done with.
    fn leave(&mut self) -> Result<(), StopReason> {
        if self.explorer.marker.is_accepting(self.first.state()) {
            self.second_search()?;
        }
        self.first.retreat();
        Ok(())
    }

    /// Looks from the last state of the first path for a way back to it.
    fn second_search(&mut self) -> Result<(), StopReason> {
        self.second.begin(self.first.state()).map_err(no_memory)?;
        if self.expand_second()? {
            return Ok(());
        }
        while self.second.depth() > 0 {
            if !self.second.advance() {
                self.second.retreat();
            } else if !self.is_new_for_second()? {
                self.second.leave();
            } else if self.expand_second()? {
                return Ok(());
            }
        }
        Ok(())
    }

    fn is_new_for_second(&mut self) -> Result<bool, StopReason> {
        let Explorer { store, hidden, no_states, .. } = &mut self.explorer;
        self.second_key.clear();
        self.second_key.extend_from_slice(key(self.second.state(), *hidden));
        self.second_key.extend_from_slice(&SECOND);
        let new = store.is_new(&self.second_key).map_err(full)?;
        *no_states += u64::from(new);
        Ok(new)
    }

    /// Expands the state at the end of the second path; true when a cycle was found.
    fn expand_second(&mut self) -> Result<bool, StopReason> {
        let depth = (self.first.steps() + self.second.steps()) as u64;
        let (first, second) = (&self.first, &self.second);
        let used = || (first.pending(), first.memory() + second.memory());
        self.explorer.expand_again(second.state(), depth, used)?;
        let Explorer { expansion, marker, hidden, .. } = &self.explorer;
        let seed = key(self.first.state(), *hidden);
        self.second.enter(None).map_err(no_memory)?;
        for at in 0..expansion.edges().len() {
            let edge = expansion.edge(at);
            let state = expansion.state(edge);
            self.actions.clear();
            marker.expander.actions(edge, &mut self.actions);
            if key(state, *hidden) == seed {
                return self.found().map(|()| true);
            }
            self.second.push(state, &self.actions, ()).map_err(no_memory)?;
        }
        Ok(false)
    }

    /// A step with `self.actions` leads from the end of the second path to the end of the first one.
    fn found(&mut self) -> Result<(), StopReason> {
        let Explorer { system, cycles, budget, found, .. } = &mut self.explorer;
        if found.errors > 0 {
            found.errors += 1;
            return self.explorer.task.after_violation(self.explorer.found.errors);
        }
        let path = self.first.path();
        let anchor = Anchor { state: self.first.state(), path: &path, inside: None, met: None };
        let short = shorten(*system, cycles.acceptance, &anchor, budget);
        let cycle = self.second.path_and(&self.actions);
        let (path, cycle) = short.unwrap_or(Lasso { stem: path.clone(), cycle }).path();
        found.add_lasso(cycles.fault.clone(), path, cycle);
        self.explorer.task.after_violation(self.explorer.found.errors)
    }
}

fn full(_: Full) -> StopReason {
    StopReason::MemoryLimit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cndfs::tests::{Wrong, rings};
    use crate::limits::Limits;
    use crate::ndfs::ndfs;
    use crate::ndfs::tests::cycles;
    use crate::observer::Silent;
    use crate::property::Checks;
    use std::sync::atomic::AtomicBool;
    use store::{Bitstate, HashCompaction, Table};
    use system::toy::{Counters, Graph};
    use system::{Fairness, Successors};

    fn over(store: impl Batched, system: &dyn TransitionSystem, limits: Limits) -> Outcome {
        let stop = AtomicBool::new(false);
        let task =
            Task { checks: Checks::NONE, all_errors: false, seed: None, limits, stop: &stop, reduce: None };
        ndfs_lossy(system, &cycles(Fairness::None, true), store, &task, &mut Silent)
    }

    fn by_colours(system: &dyn TransitionSystem) -> Outcome {
        let stop = AtomicBool::new(false);
        let (checks, limits) = (Checks::NONE, Limits::default());
        let task = Task { checks, all_errors: false, seed: None, limits, stop: &stop, reduce: None };
        ndfs(system, &cycles(Fairness::None, true), &task, &mut Silent)
    }

    /// Executes a lasso: whether it comes back to where its cycle begins.
    fn is_real(graph: &Graph, outcome: &Outcome) -> bool {
        let violation = &outcome.violations[0];
        let (path, start) = (violation.path.to_vec(), violation.cycle.unwrap());
        let (mut initial, mut out) = (Vec::new(), Successors::default());
        graph.initial(&mut initial).unwrap();
        let mut states = vec![initial];
        for (at, &action) in path.iter().enumerate() {
            out.clear();
            graph.fire(&states[at], &[action], &mut out);
            states.push(out.state(&out.list[0]).unwrap().to_vec());
        }
        states[start] == states[path.len()]
    }

    #[test]
    fn over_an_exact_store_it_is_complete() {
        let mut wrong = [0; 2];
        for seed in 0..600 {
            let graph = Graph::random(4 + (seed % 17) as u32, seed);
            let expected = by_colours(&graph);
            let outcome = over(Table::new(u64::MAX), &graph, Limits::default());
            assert_eq!(outcome.errors, expected.errors, "seed {seed}");
            assert_eq!(outcome.exhausted.is_some(), expected.exhausted.is_some(), "seed {seed}");
            let same = outcome.statistics.states == expected.statistics.states;
            assert!(outcome.errors > 0 || same, "seed {seed}");
            wrong[expected.errors as usize] += 1;
        }
        assert!(wrong.iter().all(|&n| n > 100), "{wrong:?}");
    }

    #[test]
    fn lossy_stores_find_cycles_and_never_claim_that_there_is_none() {
        for seed in 0..60 {
            let bad = [Wrong::Step, Wrong::Nothing][seed as usize % 2];
            let graph = rings(20 + seed as u32, seed, bad);
            let expected = by_colours(&graph);
            let hashes = over(HashCompaction::new(u64::MAX), &graph, Limits::default());
            let bits = over(Bitstate::new(1 << 16, 3).unwrap(), &graph, Limits::default());
            for outcome in [hashes, bits] {
                assert_eq!(outcome.errors, expected.errors, "seed {seed}");
                assert!(outcome.exhausted.is_none() && outcome.statistics.omission.is_some());
            }
        }
    }

    /// In an array of 64 bits nearly everything is taken for something else.
    #[test]
    fn what_a_crowded_store_finds_is_real() {
        let (mut found, mut missed) = (0, 0);
        for seed in 0..400 {
            let graph = Graph::random(12 + (seed % 17) as u32, seed);
            let outcome = over(Bitstate::new(8, 2).unwrap(), &graph, Limits::default());
            let expected = by_colours(&graph).errors > 0;
            assert!(outcome.exhausted.is_none());
            if outcome.errors > 0 {
                assert!(expected && is_real(&graph, &outcome), "seed {seed}");
                found += 1;
            } else if expected {
                missed += 1;
            }
        }
        assert!(found > 50 && missed > 3, "{found} {missed}");
    }

    #[test]
    fn limits_end_it() {
        let counters = Counters { n: 6, max: 5 };
        let limits = Limits { states: Some(1000), ..Limits::default() };
        let outcome = over(HashCompaction::new(u64::MAX), &counters, limits);
        assert_eq!((outcome.stop, outcome.statistics.states), (StopReason::StateLimit, 1000));
        let outcome = over(HashCompaction::new(20_000), &counters, Limits::default());
        assert_eq!(outcome.stop, StopReason::MemoryLimit);
    }
}
