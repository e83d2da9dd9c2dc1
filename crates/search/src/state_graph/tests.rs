//! Graphs of small systems, against their definition.

use super::*;
use crate::limits::Limits;
use crate::observer::Silent;
use crate::property::Checks;
use crate::states::STATE_STORES;
use std::sync::atomic::AtomicBool;
use system::toy::{Counters, Graph};

/// Labels steps with the number of their actions, and counts states.
#[derive(Default)]
struct Count {
    states: usize,
    stuck: Vec<usize>,
    /// Enough is known after this number of states.
    enough: Option<usize>,
}

struct Look;

impl Looker for Look {
    fn state(&mut self, _state: &[u8], stuck: bool, words: &mut Vec<u64>) {
        words.push(u64::from(stuck));
    }

    fn step(&mut self, _state: &[u8], actions: &[ActionId]) -> u32 {
        actions.len() as u32
    }
}

impl Lookers for Look {
    fn looker(&self) -> Box<dyn Looker + '_> {
        Box::new(Look)
    }

    fn wants_steps(&self) -> bool {
        true
    }
}

impl Notes for Count {
    fn state(&mut self, words: &[u64]) -> bool {
        if words == [1] {
            self.stuck.push(self.states);
        }
        self.states += 1;
        self.enough == Some(self.states)
    }

    fn memory(&self) -> u64 {
        0
    }
}

fn explored_by(
    system: &dyn TransitionSystem,
    (store, threads): (StateStore, usize),
    limits: Limits,
    count: &mut Count,
) -> Explored {
    let stop = AtomicBool::new(false);
    let task =
        Task { checks: Checks::NONE, all_errors: false, seed: None, limits, stop: &stop, reduce: None };
    let scene = Scene { system, lookers: &Look, notes: count };
    let mut silent = Silent;
    explore(scene, Means { store, memory: u64::MAX, threads }, &task, &mut silent)
}

fn explored(text: &str, store: StateStore, limits: Limits) -> (Explored, Count) {
    let mut count = Count::default();
    let explored = explored_by(&Graph::parse(text).unwrap(), (store, 2), limits, &mut count);
    (explored, count)
}

#[test]
fn every_edge_is_kept_in_every_store() {
    for store in STATE_STORES {
        let (explored, count) = explored("0 -> 1 -> 2 -> 0; 0 -> 2; 2 -> 3", store, Limits::default());
        let rows: Vec<&[u32]> = (0..4).map(|state| explored.graph.edges.targets(state)).collect();
        // Numbered as they are found: 1 and 2 from 0, 3 from 2.
        assert_eq!(rows, [&[1, 2][..], &[2], &[0, 3], &[]]);
        assert_eq!((count.states, count.stuck), (4, vec![3]));
        assert!(explored.exhausted(false).is_some() && explored.graph.labels == [1; 5]);
        assert_eq!((explored.outcome.statistics.states, explored.outcome.statistics.transitions), (4, 5));
    }
}

#[test]
fn a_graph_that_is_not_whole_proves_nothing() {
    let limits = Limits { states: Some(2), ..Limits::default() };
    let (explored, _) = explored("0 -> 1 -> 2 -> 0", StateStore::Table, limits);
    assert_eq!(explored.outcome.stop, StopReason::StateLimit);
    assert!(explored.exhausted(true).is_none());
    assert_eq!(explored.graph.n_states(), 1, "a state with edges that are not all known has none");
}

#[test]
fn the_graph_is_the_same_for_any_number_of_threads() {
    // Levels of many states, so that there is something to hand out.
    let system = Counters { n: 5, max: 9 };
    for store in STATE_STORES {
        let by = |threads| {
            let mut count = Count::default();
            (explored_by(&system, (store, threads), Limits::default(), &mut count), count)
        };
        let (one, seen) = by(1);
        assert!(one.graph.n_states() > 50_000, "{}", one.graph.n_states());
        for threads in [2, 5] {
            let (many, noted) = by(threads);
            let n = one.graph.n_states();
            assert_eq!((many.graph.n_states(), noted.states, noted.stuck), (n, n, seen.stuck.clone()));
            assert!((0..n).all(|state| one.graph.edges.targets(state) == many.graph.edges.targets(state)));
            assert_eq!(one.graph.labels, many.graph.labels);
            assert_eq!(one.outcome.statistics.depth, many.outcome.statistics.depth);
            assert_eq!(many.outcome.statistics.workers, threads as u64);
        }
    }
}

#[test]
fn limits_hold_for_all_threads_together() {
    let (system, limits) = (Counters { n: 5, max: 9 }, Limits { states: Some(20_000), ..Limits::default() });
    let explored = explored_by(&system, (StateStore::Table, 3), limits, &mut Count::default());
    assert_eq!((explored.outcome.stop, explored.outcome.statistics.states), (StopReason::StateLimit, 20_000));
}

#[test]
fn the_search_ends_where_enough_is_known() {
    let system = Counters { n: 5, max: 9 };
    for threads in [1, 3] {
        let mut count = Count { enough: Some(10_000), ..Count::default() };
        let explored = explored_by(&system, (StateStore::Table, threads), Limits::default(), &mut count);
        assert_eq!((explored.outcome.stop, explored.graph.n_states()), (StopReason::Decided, 10_000));
        assert!(explored.exhausted(true).is_none());
    }
}
