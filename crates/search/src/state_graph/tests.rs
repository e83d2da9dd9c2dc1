//! Graphs of small systems, against their definition.

use super::*;
use crate::limits::Limits;
use crate::observer::Silent;
use crate::property::Checks;
use crate::states::STATE_STORES;
use std::sync::atomic::AtomicBool;
use system::toy::Graph;

/// Counts what it is told.
#[derive(Default)]
struct Count {
    states: usize,
    stuck: Vec<usize>,
}

impl Visitor for Count {
    fn state(&mut self, _state: &[u8], stuck: bool) {
        if stuck {
            self.stuck.push(self.states);
        }
        self.states += 1;
    }

    fn step(&mut self, _state: &[u8], actions: &[ActionId]) -> u32 {
        actions.len() as u32
    }

    fn wants_steps(&self) -> bool {
        true
    }

    fn memory(&self) -> u64 {
        0
    }
}

fn explored(text: &str, store: StateStore, limits: Limits) -> (Explored, Count) {
    let (system, stop) = (Graph::parse(text).unwrap(), AtomicBool::new(false));
    let task =
        Task { checks: Checks::NONE, all_errors: false, seed: None, limits, stop: &stop, reduce: None };
    let mut count = Count::default();
    let explored = explore(&system, (store, u64::MAX), &task, &mut count, &mut Silent);
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
