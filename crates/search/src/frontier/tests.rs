//! Tests of the frontier search, beside depth-first search and a plain one on random graphs.

use super::*;
use crate::depth_first::depth_first;
use crate::limits::Limits;
use crate::observer::Silent;
use crate::property::Checks;
use crate::queue::{Names, Whole};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::AtomicBool;
use store::{Roots, Table, Tree};
use system::Successors;
use system::toy::{Counters, Graph, Hidden};

fn run(system: &dyn TransitionSystem, all_errors: bool, limits: Limits, breadth: bool) -> Outcome {
    let stop = AtomicBool::new(false);
    let task = Task { checks: Checks::SAFETY, all_errors, seed: None, limits, stop: &stop, reduce: None };
    if breadth {
        steps(system, &task)
    } else {
        depth_first(system, &mut Table::default(), &task, &mut Silent)
    }
}

/// Breadth-first search; also in other stores and queues, which must make no difference.
fn steps(system: &dyn TransitionSystem, task: &Task<'_>) -> Outcome {
    let whole = || Whole::new(system.hidden_bytes(), false);
    let outcome = frontier(system, &mut Table::default(), whole(), Levels::Steps, task, &mut Silent);
    let mut tree = Tree::new(Roots::Cleary, u64::MAX);
    let other = frontier(system, &mut tree, whole(), Levels::Steps, task, &mut Silent);
    compare(&outcome, &other);
    if system.hidden_bytes() == 0 {
        let names = Names::default();
        let other = frontier(system, &mut Table::default(), names, Levels::Steps, task, &mut Silent);
        compare(&outcome, &other);
    }
    outcome
}

fn compare(one: &Outcome, other: &Outcome) {
    assert_eq!((&one.violations, one.errors, one.stop), (&other.violations, other.errors, other.stop));
    assert_eq!(one.warnings, other.warnings);
    let numbers = |o: &Outcome| (o.statistics.states, o.statistics.transitions, o.statistics.depth);
    assert_eq!(numbers(one), numbers(other));
}

fn search(system: &dyn TransitionSystem, all_errors: bool) -> Outcome {
    run(system, all_errors, Limits::default(), true)
}

#[test]
fn counters_are_counted() {
    let outcome = search(&Counters { n: 4, max: 4 }, false);
    assert_eq!(outcome.statistics.states, 625);
    assert_eq!(outcome.statistics.transitions, 2000);
    assert_eq!(outcome.statistics.matched, 2000 - 624);
    assert!(outcome.exhausted.is_some());
}

#[test]
fn a_long_atomic_sequence_does_not_hide_a_shorter_way() {
    // To 9 by one atomic sequence of four steps, or by three ordinary steps; then a fault.
    let text = "0 -> 1 -> 2 -> 3 -> 9; transient 1 2 3; 0 -> 5 -> 6 -> 9; 9 -> 8; fault 9 8";
    let outcome = search(&Graph::parse(text).unwrap(), false);
    assert_eq!(outcome.violations[0].path.len(), 4);
    assert_eq!((outcome.errors, outcome.stop), (1, StopReason::Violation));
}

#[test]
fn a_fault_inside_an_atomic_sequence_may_not_be_the_shortest() {
    let text = "0 -> 1 -> 2 -> 3 -> 4; transient 1 2 3; fault 3 4; 0 -> 5 -> 6; bad 6; end 6";
    let outcome = search(&Graph::parse(text).unwrap(), false);
    assert_eq!(outcome.violations[0].fault.message, "bad node 6");
    assert_eq!(outcome.violations[0].path.len(), 2);
}

#[test]
fn hidden_values_follow_the_shortest_way() {
    let outcome = search(&Hidden, true);
    assert_eq!(outcome.statistics.states, 10);
    assert_eq!(outcome.errors, 0, "8 is reached by steps of two");
}

#[test]
fn the_depth_limit_leaves_out_and_says_so() {
    let counters = Counters { n: 2, max: 9 };
    let cut = run(&counters, false, Limits { depth: Some(3), ..Limits::default() }, true);
    assert_eq!((cut.statistics.states, cut.depth_limited), (10, true));
    assert!(cut.exhausted.is_none());
}

/// Distances from node 0 in single steps, and the ordinary states, found in the plainest way.
fn reference(graph: &Graph) -> (BTreeMap<u32, u64>, BTreeSet<u32>) {
    let mut distance = BTreeMap::from([(0, 0)]);
    let mut queue = VecDeque::from([0]);
    while let Some(node) = queue.pop_front() {
        for &(from, to) in graph.edges() {
            if from == node && !graph.is_fault(from, to) && !distance.contains_key(&to) {
                distance.insert(to, distance[&node] + 1);
                queue.push_back(to);
            }
        }
    }
    let ordinary = distance.keys().copied().filter(|&n| !graph.is_transient(n)).collect();
    (distance, ordinary)
}

/// The steps of the shortest violation, found in the plainest way.
fn shortest(graph: &Graph, distance: &BTreeMap<u32, u64>) -> Option<u64> {
    let mut best = None;
    for (&node, &steps) in distance {
        let state = node.to_string().into_bytes();
        let (mut enabled, mut faults) = (Vec::new(), Vec::new());
        graph.enabled(&state, &mut enabled);
        if !graph.is_transient(node) {
            Judge::new(Checks::SAFETY, graph).state(&state, enabled.is_empty(), &mut faults);
        }
        let mut batch = Successors::default();
        graph.fire(&state, &enabled, &mut batch);
        let here = (!faults.is_empty()).then_some(steps);
        let step = batch.list.iter().any(|s| s.fault != 0).then_some(steps + 1);
        best = [best, here, step].into_iter().flatten().min();
    }
    best
}

#[test]
fn both_orders_agree_with_each_other_and_with_a_plain_search() {
    let mut violated = 0;
    for seed in 0..400 {
        let graph = Graph::random(4 + (seed % 60) as u32, seed);
        let (distance, ordinary) = reference(&graph);
        let depth = run(&graph, true, Limits::default(), false);
        let breadth = run(&graph, true, Limits::default(), true);
        assert_eq!(breadth.statistics.states, ordinary.len() as u64, "seed {seed}");
        assert_eq!(depth.statistics.states, breadth.statistics.states, "seed {seed}");
        // Where steps are not counted, straight runs that meet are not told apart from different ones.
        let (loose, exact) = (&depth.statistics, &breadth.statistics);
        assert_eq!(loose.transitions - loose.matched, exact.transitions - exact.matched, "seed {seed}");
        assert!(loose.transitions >= exact.transitions, "seed {seed}");
        assert_eq!(depth.errors, breadth.errors, "seed {seed}");
        assert_eq!(depth.violations.len(), breadth.violations.len(), "seed {seed}");
        assert_eq!(depth.warnings.is_empty(), breadth.warnings.is_empty(), "seed {seed}");
        let first = run(&graph, false, Limits::default(), true);
        let found = first.violations.first().map(|v| v.path.len() as u64);
        assert_eq!(found, shortest(&graph, &distance), "seed {seed}");
        assert_eq!(found, breadth.violations.iter().map(|v| v.path.len() as u64).min(), "seed {seed}");
        violated += u32::from(found.is_some());
    }
    assert!((100..400).contains(&violated), "{violated} of the random graphs have a violation");
}
