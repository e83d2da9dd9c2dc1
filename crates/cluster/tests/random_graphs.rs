//! Searches that exchange states over timely, through sockets: as many states, steps and errors as one search
//! finds, on random graphs and on larger spaces. Threads play the processes, each with its own end of the
//! dataflow.

use cluster::Flow;
use search::distributed::{Doing, Exchange, Part, Turn, explore, put_together, whole_way};
use search::queue::{Names, Whole};
use search::{Checks, Levels, Limits, Outcome, Silent, StopReason, Task, frontier};
use std::net::{TcpListener, TcpStream};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use store::{Roots, Table, Tree};
use system::TransitionSystem;
use system::toy::{Counters, Graph};

/// For each of so many processes its sockets to the others.
fn mesh(size: usize) -> Vec<Vec<Option<TcpStream>>> {
    let mut all: Vec<Vec<Option<TcpStream>>> = Vec::new();
    all.resize_with(size, || std::iter::repeat_with(|| None).take(size).collect());
    let pairs = (0..size).flat_map(|one| (one + 1..size).map(move |other| (one, other)));
    for (one, other) in pairs {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        all[one][other] = Some(TcpStream::connect(listener.local_addr().unwrap()).unwrap());
        all[other][one] = Some(listener.accept().unwrap().0);
    }
    all
}

fn task(all_errors: bool, stop: &AtomicBool) -> Task<'_> {
    let limits = Limits::default();
    Task { checks: Checks::SAFETY, all_errors, seed: None, limits, stop, reduce: None }
}

/// The search by so many processes.
fn several(system: &dyn TransitionSystem, size: usize, all_errors: bool) -> Outcome {
    let (stop, halt) = (AtomicBool::new(false), AtomicBool::new(false));
    let (task, all_ended) = (task(all_errors, &stop), Barrier::new(size));
    let work = |rank: usize, sockets| {
        let mut flow = Flow::over(sockets, rank).unwrap();
        let exchange: (&mut dyn Exchange, &AtomicBool) = (&mut flow, &halt);
        let hidden = system.hidden_bytes();
        let part = match rank {
            0 => explore(system, (&mut Table::default(), Names::default()), &task, &mut Silent, exchange),
            _ => {
                let tree = &mut Tree::new(Roots::Cleary, u64::MAX);
                explore(system, (tree, Whole::new(hidden, false)), &task, &mut Silent, exchange)
            }
        };
        let part = part.unwrap();
        if part.stop != StopReason::Completed {
            halt.store(true, Ordering::Relaxed);
        }
        all_ended.wait();
        part
    };
    let parts: Vec<Part> = std::thread::scope(|scope| {
        let work = &work;
        let each = mesh(size).into_iter().enumerate();
        let threads: Vec<_> = each.map(|(rank, sockets)| scope.spawn(move || work(rank, sockets))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let stop = parts.iter().map(|part| part.stop).find(|stop| *stop == StopReason::Violation);
    let results = parts.iter().map(|part| part.result.clone()).collect();
    put_together(system, &task, stop.unwrap_or(StopReason::Completed), results, &|rank, state| {
        whole_way((rank, state), &mut |rank, state| Some(parts[rank].way_back(state))).unwrap()
    })
}

fn one(system: &dyn TransitionSystem, all_errors: bool) -> Outcome {
    let stop = AtomicBool::new(false);
    let queue = Whole::new(system.hidden_bytes(), false);
    frontier(system, &mut Table::default(), queue, Levels::Edges, &task(all_errors, &stop), &mut Silent)
}

#[test]
fn random_graphs_are_searched_as_by_one() {
    for seed in 0..40 {
        let graph = Graph::random(4 + (seed % 60) as u32, seed);
        for size in [2, 3, 4] {
            let what = format!("seed {seed}, {size} processes");
            let (alone, together) = (one(&graph, true), several(&graph, size, true));
            let numbers = |o: &Outcome| (o.statistics.states, o.statistics.transitions, o.statistics.matched);
            assert_eq!(numbers(&alone), numbers(&together), "{what}");
            assert_eq!((alone.errors, alone.stop), (together.errors, together.stop), "{what}");
            assert_eq!(alone.exhausted, together.exhausted, "{what}");
            assert_eq!(alone.violations.len(), together.violations.len(), "{what}");
            let first = several(&graph, size, false);
            assert_eq!(first.errors, one(&graph, false).errors, "{what}");
            for violation in &first.violations {
                follow(&graph, &violation.path);
            }
        }
    }
}

/// A path must be possible.
fn follow(graph: &Graph, path: &system::Path) {
    let mut node = 0;
    for action in path {
        let (from, to) = graph.edges()[action.0 as usize];
        assert_eq!(from, node);
        node = to;
    }
}

/// Enough states that parcels are full and somebody is held back.
#[test]
fn many_states_are_counted_once() {
    let counters = Counters { n: 6, max: 6 };
    for size in [2, 3] {
        let outcome = several(&counters, size, true);
        assert_eq!(outcome.statistics.states, 117_649, "{size}");
        assert_eq!(outcome.statistics.transitions, 6 * 6 * 16_807, "{size}");
        assert_eq!(outcome.statistics.matched, 6 * 6 * 16_807 - 117_648, "{size}");
        assert!(outcome.exhausted.is_some());
    }
}

/// Who is never heard holds everybody back, and the search does not end.
#[test]
fn a_process_that_holds_on_keeps_the_search_open() {
    let (held, ended, all_ended) = (AtomicBool::new(true), AtomicBool::new(false), Barrier::new(2));
    std::thread::scope(|scope| {
        let mut each = mesh(2).into_iter();
        let (first, second) = (each.next().unwrap(), each.next().unwrap());
        let (held, ended, all_ended) = (&held, &ended, &all_ended);
        scope.spawn(move || {
            let mut flow = Flow::over(first, 0).unwrap();
            while flow.turn(Doing::Nothing) != Turn::Over {}
            ended.store(true, Ordering::Release);
            all_ended.wait();
        });
        scope.spawn(move || {
            let mut flow = Flow::over(second, 1).unwrap();
            for _ in 0..20 {
                assert_eq!(flow.turn(Doing::HeldBack), Turn::GoOn);
                assert!(!ended.load(Ordering::Acquire));
            }
            held.store(false, Ordering::Release);
            while flow.turn(Doing::Nothing) != Turn::Over {}
            all_ended.wait();
        });
    });
    assert!(ended.load(Ordering::Acquire) && !held.load(Ordering::Acquire));
}
