//! Searches that are interrupted again and again, by limits and as if killed, and go on with other stores and
//! other numbers of workers: they find and count what an undisturbed search does.

use search::ancestry::Ancestry;
use search::checkpoint::{FoundStates, Journal, Moment, Saved, SavedStates, Visit};
use search::pack::{NamedStates, WholeStates};
use search::queue::{Names, Whole};
use search::random::Random;
use search::{
    Checks, Keeping, Levels, Limits, Method, Outcome, Parallel, Proviso, Reduce, Silent, StopReason, Taking,
    Task, frontier, frontier_kept, parallel_kept,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use store::{Roots, SharedTable, SharedTree, Table, Tree};
use system::toy::{Counters, First, Graph, Hidden, Rings};
use system::{Annotation, TransitionSystem};

/// States of each ancestry.
type States = Vec<Vec<(Vec<u8>, Annotation)>>;

/// A journal in memory.
#[derive(Default)]
struct Notebook {
    states: Mutex<States>,
    saved: Mutex<Option<Saved>>,
    /// A moment is due every so many times that somebody asks.
    every: u64,
    asked: AtomicU64,
    commits: AtomicU64,
}

impl Journal for Notebook {
    fn is_due(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) % self.every == self.every - 1
    }

    fn add(&self, ancestry: usize, states: &FoundStates) {
        let mut all = self.states.lock().unwrap();
        let len = all.len().max(ancestry + 1);
        all.resize(len, Vec::new());
        all[ancestry].extend(states.iter().map(|(state, annotation)| (state.to_vec(), annotation)));
    }

    fn commit(&self, moment: &Moment<'_>) {
        let copy = |ancestry: &&Ancestry| Ancestry::of_image(ancestry.image().unwrap());
        let saved = Saved {
            ancestries: moment.ancestries.iter().map(copy).collect(),
            found: moment.found.clone(),
            statistics: moment.statistics,
            found_twice: moment.found_twice,
            cuts: moment.cuts.clone(),
            random: moment.random,
        };
        assert!(saved.is_consistent());
        let states = self.states.lock().unwrap();
        for (number, ancestry) in saved.ancestries.iter().enumerate() {
            let written = states.get(number).map_or(0, |states| states.len() as u64);
            assert!(written >= ancestry.found_so_far(), "what was found is written");
        }
        *self.saved.lock().unwrap() = Some(saved);
        self.commits.fetch_add(1, Ordering::Relaxed);
    }
}

/// What a notebook held when its search was lost.
struct Found {
    saved: Saved,
    states: States,
}

impl SavedStates for Found {
    fn each(&self, visit: &mut Visit<'_>) -> Result<(), StopReason> {
        for (number, states) in self.states.iter().enumerate() {
            states.iter().try_for_each(|(state, annotation)| visit(number, state, *annotation))?;
        }
        Ok(())
    }
}

impl Notebook {
    fn new(every: u64, before: Option<&Found>) -> Self {
        let states = Mutex::new(before.map(|found| found.states.clone()).unwrap_or_default());
        Notebook { states, every, ..Notebook::default() }
    }

    /// What is left of it: states that were written after the last moment do not count.
    fn into_found(self) -> Option<Found> {
        let saved = self.saved.into_inner().unwrap()?;
        let mut states = self.states.into_inner().unwrap();
        states.resize(saved.ancestries.len(), Vec::new());
        for (states, ancestry) in states.iter_mut().zip(&saved.ancestries) {
            states.truncate(ancestry.found_so_far() as usize);
        }
        Some(Found { saved, states })
    }
}

/// One of several ways to search.
fn search(way: u64, system: &dyn TransitionSystem, task: &Task<'_>, keeping: Keeping<'_>) -> Outcome {
    let whole = || Whole::new(system.hidden_bytes(), task.is_lean());
    let by_name = system.hidden_bytes() == 0;
    let taking = if way.is_multiple_of(2) { Taking::Oldest } else { Taking::Newest };
    let several = |workers| Parallel { system, taking, workers, alone: Some(1) };
    let levels = Levels::Edges;
    match way {
        0 if by_name => {
            let (mut store, queue) = (Table::default(), Names::default());
            frontier_kept(system, &mut store, queue, levels, task, &mut Silent, keeping)
        }
        1 if by_name => {
            let (mut store, queue) = (Tree::new(Roots::Cleary, u64::MAX), Names::default());
            frontier_kept(system, &mut store, queue, levels, task, &mut Silent, keeping)
        }
        0..=2 => frontier_kept(system, &mut Table::default(), whole(), levels, task, &mut Silent, keeping),
        3 | 4 if by_name => {
            let table = SharedTable::new(u64::MAX);
            parallel_kept::<_, NamedStates<_>>(
                several(way as usize - 1),
                &|| table.hand(),
                task,
                &mut Silent,
                keeping,
            )
        }
        _ => {
            let tree = SharedTree::new(Roots::Roomy, u64::MAX);
            parallel_kept::<_, WholeStates>(
                several(1 + way as usize % 3),
                &|| tree.hand(),
                task,
                &mut Silent,
                keeping,
            )
        }
    }
}

/// Interrupts a search until it is over; says how often, and how it ended.
fn interrupted(system: &dyn TransitionSystem, task: &Task<'_>, random: &mut Random) -> (u64, Outcome) {
    let mut found: Option<Found> = None;
    for n in 0.. {
        let notebook = Notebook::new(1 + random.below(40) as u64, found.as_ref());
        let known = found.as_ref().map_or(0, |found| found.saved.states());
        let more = if n > 300 { u64::MAX / 2 } else { 1 + random.below(60) as u64 };
        let limits = Limits { states: Some(known + more), ..task.limits };
        let resumed = found.as_ref().map(|found| (&found.saved, found as &dyn SavedStates));
        let keeping = Keeping { journal: Some(&notebook), resumed, disk: None };
        let outcome = search(random.below(7) as u64, system, &Task { limits, ..*task }, keeping);
        if !matches!(outcome.stop, StopReason::StateLimit) {
            return (n, outcome);
        }
        let is_killed = random.below(3) == 0;
        let before = found.take();
        // Killed: what counts is a moment before, if there was one.
        found = match (notebook.into_found(), is_killed, before) {
            (_, true, Some(before)) => Some(before),
            (now, ..) => now,
        };
        assert!(found.is_some());
    }
    unreachable!()
}

fn compare(system: &dyn TransitionSystem, reduce: Option<Reduce<'_>>, seeds: std::ops::Range<u64>) -> u64 {
    let stop = AtomicBool::new(false);
    let mut interruptions = 0;
    for seed in seeds {
        let all_errors = seed % 2 == 0;
        let seeded = (seed % 3 == 0).then_some(seed);
        let checks = Checks::SAFETY;
        let task = Task { checks, all_errors, seed: seeded, limits: Limits::default(), stop: &stop, reduce };
        let whole = Whole::new(system.hidden_bytes(), task.is_lean());
        let plain = frontier(system, &mut Table::default(), whole, Levels::Edges, &task, &mut Silent);
        let (n, other) = interrupted(system, &task, &mut Random::new(seed));
        interruptions += n;
        let exhausted = (plain.exhausted.is_some(), other.exhausted.is_some());
        assert_eq!(exhausted.0, exhausted.1, "seed {seed}");
        assert_eq!(plain.errors > 0, other.errors > 0, "seed {seed}");
        if all_errors && reduce.is_none() {
            let counts = |outcome: &Outcome| {
                let s = &outcome.statistics;
                (s.states, s.transitions, s.matched, outcome.errors, outcome.violations.len())
            };
            assert_eq!(counts(&plain), counts(&other), "seed {seed}");
            assert_eq!(plain.warnings.is_empty(), other.warnings.is_empty());
        }
        if plain.errors == 0 && reduce.is_none() {
            assert_eq!(plain.statistics.states, other.statistics.states, "seed {seed}");
        }
        let lengths = |outcome: &Outcome| outcome.violations.iter().map(|v| v.path.len()).collect::<Vec<_>>();
        assert!(lengths(&other).iter().all(|&len| len > 0 || lengths(&plain).contains(&0)), "seed {seed}");
    }
    interruptions
}

#[test]
fn random_graphs() {
    let mut interruptions = 0;
    for seed in 0..120 {
        let graph = Graph::random(40 + (seed % 150) as u32, seed);
        interruptions += compare(&graph, None, seed..seed + 2);
    }
    assert!(interruptions > 100, "{interruptions}");
}

#[test]
fn larger_systems_and_hidden_values() {
    assert!(compare(&Counters { n: 4, max: 6 }, None, 0..8) > 100);
    compare(&Hidden, None, 0..6);
}

#[test]
fn reductions_keep_their_promises() {
    let counters = Counters { n: 3, max: 5 };
    for proviso in [Proviso::None, Proviso::ClosedSet] {
        compare(&counters, Some(Reduce { by: &First, method: Method::Sets, proviso }), 0..10);
    }
    // What is put off forever without a proviso.
    let round = Graph::parse("0 -> 1 -> 0; 2 -> 3 -> 2; 0 -> 2; 1 -> 3; end 2 3; bad 3").unwrap();
    compare(&round, Some(Reduce { by: &First, method: Method::Sets, proviso: Proviso::ClosedSet }), 0..20);
}

/// A path to a violation leads to it, whoever found its parts.
#[test]
fn paths_lead_through_all_that_was_interrupted() {
    for seed in 0..6u64 {
        let mut graph = Graph::default();
        for node in 0..400 {
            graph.edge(node, node + 1);
            graph.edge(node, 1000 + (node * 7 + seed as u32) % 300);
        }
        graph.edge(400, 5000);
        let stop = AtomicBool::new(false);
        let (checks, limits) = (Checks::SAFETY, Limits::default());
        let task = Task { checks, all_errors: true, seed: None, limits, stop: &stop, reduce: None };
        let (n, outcome) = interrupted(&graph, &task, &mut Random::new(seed));
        assert!(n > 2 && outcome.errors > 0);
        for violation in &outcome.violations {
            let mut node = 0;
            for action in violation.path.iter() {
                let (from, to) = graph.edges()[action.0 as usize];
                assert_eq!(from, node, "seed {seed}");
                node = to;
            }
        }
        assert!(outcome.violations.iter().any(|violation| violation.path.len() == 401), "seed {seed}");
    }
}

#[test]
fn rings_with_many_moments() {
    let rings = Rings { n: 4, last: 5 };
    compare(&rings, None, 0..10);
}
