//! Tests of the search by several processes, played by threads that hand parcels to each other.

use super::*;
use crate::frontier::frontier;
use crate::limits::Limits;
use crate::observer::Silent;
use crate::property::{Checks, Judge};
use crate::queue::{Names, Whole};
use std::sync::{Mutex, PoisonError};
use store::{Roots, Table, Tree};
use system::Successors;
use system::toy::{Counters, Graph, Hidden};

/// Parcels between threads: whose, by whom, and who is idle.
#[derive(Default)]
struct Post {
    parcels: VecDeque<(usize, usize, Vec<u8>)>,
    idle: usize,
}

/// A process, played by a thread. Nobody is idle while a parcel is on its way.
struct Player<'p> {
    rank: usize,
    size: usize,
    post: &'p Mutex<Post>,
    idle: bool,
    states: &'p [std::sync::atomic::AtomicU64],
}

impl Player<'_> {
    fn post(&self) -> std::sync::MutexGuard<'_, Post> {
        self.post.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Exchange for Player<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn send(&mut self, to: usize, parcel: Vec<u8>) {
        assert!(to != self.rank && !self.idle);
        self.post().parcels.push_back((to, self.rank, parcel));
    }

    fn receive(&mut self, take: &mut Take<'_>) -> Result<(), StopReason> {
        loop {
            let mut post = self.post();
            let Some(at) = post.parcels.iter().position(|parcel| parcel.0 == self.rank) else {
                return Ok(());
            };
            let (_, sender, parcel) = post.parcels.remove(at).unwrap();
            post.idle -= usize::from(self.idle);
            drop(post);
            self.idle = false;
            take(sender, &parcel)?;
        }
    }

    fn is_congested(&self) -> bool {
        self.post().parcels.len() > 40
    }

    fn turn(&mut self, doing: Doing) -> Turn {
        std::thread::yield_now();
        let idle = doing == Doing::Nothing && !self.post().parcels.iter().any(|parcel| parcel.0 == self.rank);
        let mut post = self.post();
        if idle && !self.idle {
            post.idle += 1;
            drop(post);
            self.idle = true;
            return Turn::GoOn;
        }
        match post.idle == self.size && post.parcels.is_empty() {
            true => Turn::Over,
            false => Turn::GoOn,
        }
    }

    fn tell(&mut self, own: &Snapshot) -> Snapshot {
        use std::sync::atomic::Ordering::Relaxed;
        self.states[self.rank].store(own.states, Relaxed);
        let all: u64 = self.states.iter().map(|states| states.load(Relaxed)).sum();
        Snapshot { states: all - own.states, ..Snapshot::default() }
    }
}

/// The search by so many processes.
fn search(system: &dyn TransitionSystem, size: usize, all_errors: bool, limits: Limits) -> Outcome {
    let (post, halt) = (Mutex::new(Post::default()), AtomicBool::new(false));
    let states: Vec<_> = (0..size).map(|_| std::sync::atomic::AtomicU64::new(0)).collect();
    let stop = AtomicBool::new(false);
    let task = Task { checks: Checks::SAFETY, all_errors, seed: None, limits, stop: &stop, reduce: None };
    let work = |rank| {
        let mut player = Player { rank, size, post: &post, idle: false, states: &states };
        let mut silent = Silent;
        let whole = Whole::new(system.hidden_bytes(), false);
        let exchange: &mut dyn Exchange = if size == 1 { &mut Alone } else { &mut player };
        let part = match rank {
            1 => {
                let store = &mut Tree::new(Roots::Cleary, u64::MAX);
                explore(system, (store, whole), &task, &mut silent, (exchange, &halt))
            }
            2 if system.hidden_bytes() == 0 => {
                let store = &mut Table::default();
                explore(system, (store, Names::default()), &task, &mut silent, (exchange, &halt))
            }
            _ => explore(system, (&mut Table::default(), whole), &task, &mut silent, (exchange, &halt)),
        };
        let part = part.unwrap();
        assert_eq!(part.broken, None);
        if part.stop != StopReason::Completed {
            halt.store(true, std::sync::atomic::Ordering::Relaxed);
        }
        part
    };
    let parts: Vec<Part> = std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..size).map(|rank| scope.spawn(move || work(rank))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let stops = || parts.iter().map(|part| part.stop);
    let real = |stop: &StopReason| !matches!(stop, StopReason::Completed | StopReason::Interrupted);
    let stop = stops().find(real).unwrap_or(StopReason::Completed);
    let sent: u64 = parts.iter().map(|part| part.result.figures.sent).sum();
    let received: u64 = parts.iter().map(|part| part.result.figures.received).sum();
    assert!(received <= sent);
    let results = parts.iter().map(|part| part.result.clone()).collect();
    put_together(system, &task, stop, results, &|rank, state| {
        whole_way((rank, state), &mut |rank, state| Some(parts[rank].way_back(state))).unwrap()
    })
}

fn one(system: &dyn TransitionSystem, all_errors: bool) -> Outcome {
    let stop = AtomicBool::new(false);
    let limits = Limits::default();
    let task = Task { checks: Checks::SAFETY, all_errors, seed: None, limits, stop: &stop, reduce: None };
    let queue = Whole::new(system.hidden_bytes(), false);
    frontier(system, &mut Table::default(), queue, Levels::Edges, &task, &mut Silent)
}

/// A path must lead to its fault.
fn replay(system: &dyn TransitionSystem, outcome: &Outcome) {
    for violation in &outcome.violations {
        let (mut state, mut shown) = (Vec::new(), Vec::new());
        system.initial(&mut state).unwrap();
        for &action in &violation.path {
            let (mut out, mut enabled) = (Successors::default(), Vec::new());
            system.enabled(&state, &mut enabled);
            assert!(enabled.contains(&action));
            system.fire(&state, &[action], &mut out);
            shown.extend(out.fault(&out.list[0]).cloned());
            if let Some(next) = out.state(&out.list[0]) {
                state = next.to_vec();
            }
        }
        let mut enabled = Vec::new();
        system.enabled(&state, &mut enabled);
        Judge::new(Checks::SAFETY, system).state(&state, enabled.is_empty(), &mut shown);
        assert!(shown.contains(&violation.fault), "{:?}", violation.fault);
    }
}

#[test]
fn random_graphs_are_searched_as_by_one() {
    let mut violated = 0;
    for seed in 0..120 {
        let graph = Graph::random(4 + (seed % 60) as u32, seed);
        for size in [1, 2, 3, 4] {
            let (one_process, several) = (one(&graph, true), search(&graph, size, true, Limits::default()));
            let what = format!("seed {seed}, {size} processes");
            let numbers = |o: &Outcome| (o.statistics.states, o.statistics.transitions, o.statistics.matched);
            assert_eq!(numbers(&one_process), numbers(&several), "{what}");
            assert_eq!((one_process.errors, one_process.stop), (several.errors, several.stop), "{what}");
            assert_eq!(one_process.exhausted, several.exhausted, "{what}");
            assert_eq!(one_process.warnings.is_empty(), several.warnings.is_empty(), "{what}");
            assert_eq!(one_process.violations.len(), several.violations.len(), "{what}");
            replay(&graph, &several);
            let (one_process, several) = (one(&graph, false), search(&graph, size, false, Limits::default()));
            assert_eq!((one_process.errors, one_process.stop), (several.errors, several.stop), "{what}");
            replay(&graph, &several);
            violated += u32::from(several.errors > 0);
        }
    }
    assert!((100..480).contains(&violated), "{violated}");
}

#[test]
fn many_states_are_counted_once() {
    let counters = Counters { n: 6, max: 4 };
    for size in [1, 2, 3, 4] {
        let outcome = search(&counters, size, true, Limits::default());
        assert_eq!(outcome.statistics.states, 15_625, "{size}");
        assert_eq!(outcome.statistics.transitions, 6 * 4 * 3125, "{size}");
        assert_eq!(outcome.statistics.matched, 6 * 4 * 3125 - 15_624, "{size}");
        assert_eq!(outcome.statistics.expanded, Some(15_625));
        assert!(outcome.exhausted.is_some());
    }
}

#[test]
fn hidden_values_travel_with_their_states() {
    for size in [1, 2, 3] {
        assert_eq!(search(&Hidden, size, true, Limits::default()).statistics.states, 10, "{size}");
    }
}

#[test]
fn as_many_states_as_allowed_are_no_reason_to_stop() {
    let counters = Counters { n: 6, max: 4 };
    let within = |states| search(&counters, 3, true, Limits { states: Some(states), ..Limits::default() });
    assert!(within(15_625).exhausted.is_some());
    let beyond = within(5_000);
    assert_eq!((beyond.stop, beyond.statistics.states), (StopReason::StateLimit, 5_000));
    assert!(beyond.exhausted.is_none());
}

#[test]
fn ways_that_lead_nowhere_are_no_ways() {
    let broken = WayBack { edges: Vec::new(), on: Some((0, 0)) };
    assert!(whole_way((0, 3), &mut |_, _| Some(broken.clone())).is_none());
    assert!(whole_way((0, 3), &mut |_, _| None).is_none());
}

#[test]
fn foreign_bytes_end_the_search_without_a_verdict() {
    struct Foreign(bool);
    impl Exchange for Foreign {
        fn rank(&self) -> usize {
            0
        }
        fn size(&self) -> usize {
            2
        }
        fn send(&mut self, _: usize, _: Vec<u8>) {}
        fn receive(&mut self, take: &mut Take<'_>) -> Result<(), StopReason> {
            if std::mem::replace(&mut self.0, true) { Ok(()) } else { take(1, &[1, 0, 2, 3]) }
        }
        fn is_congested(&self) -> bool {
            false
        }
        fn turn(&mut self, _: Doing) -> Turn {
            Turn::Over
        }
        fn tell(&mut self, _: &Snapshot) -> Snapshot {
            Snapshot::default()
        }
    }
    let (stop, limits) = (AtomicBool::new(false), Limits::default());
    let task =
        Task { checks: Checks::SAFETY, all_errors: true, seed: None, limits, stop: &stop, reduce: None };
    let graph = Graph::parse("0 -> 1 -> 0").unwrap();
    let queue = Whole::new(0, false);
    let exchange = (&mut Foreign(false) as &mut dyn Exchange, &stop);
    let part = explore(&graph, (&mut Table::default(), queue), &task, &mut Silent, exchange).unwrap();
    assert_eq!(part.stop, StopReason::Interrupted);
    assert!(part.broken.unwrap().starts_with("what process 1 sent cannot be read"));
}
