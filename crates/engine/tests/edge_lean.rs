//! A lean search and one that follows all edges, on many programs: the same states, transitions, depths and
//! errors in every order and store, by one worker and by several; and every path that it tells is one.

#[path = "../../machine/tests/common/mod.rs"]
mod common;
mod edge_lean_programs;

use std::collections::BTreeSet;
use std::sync::Arc;

use common::Model;
use jit::Jit;
use reduce::{Extent, Stubborn};
use search::pack::WholeStates;
use search::queue::{Names, Whole};
use search::{
    Checks, Levels, Limits, Method, Outcome, Parallel, Proviso, Reduce, Silent, Taking, Task, depth_first,
    frontier, parallel,
};
use store::{Roots, SharedTable, Table, Tree};
use system::{LeanOrder, Successors, SystemExt, TransitionSystem};
use testkit::generate::Size;

/// Programs with more states are left out.
const MOST_STATES: u64 = 5_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Frontier,
    FrontierTree,
    Breadth,
    Depth,
    DepthTree,
    Workers,
}

const WAYS: [Way; 6] =
    [Way::Frontier, Way::FrontierTree, Way::Breadth, Way::Depth, Way::DepthTree, Way::Workers];

fn search(system: &Jit, way: Way, lean: Option<(&Stubborn<'_>, LeanOrder)>) -> Outcome {
    let stop = std::sync::atomic::AtomicBool::new(false);
    let limits = Limits { states: Some(MOST_STATES), ..Limits::default() };
    let reduce = lean.map(|(by, order)| Reduce { by, method: Method::Lean(order), proviso: Proviso::None });
    let task = Task { checks: Checks::SAFETY, all_errors: true, seed: None, limits, stop: &stop, reduce };
    let whole = || Whole::new(system.hidden_bytes(), lean.is_some());
    let mut table = Table::default();
    match way {
        Way::Frontier if system.hidden_bytes() == 0 => {
            frontier(system, &mut table, Names::default(), Levels::Edges, &task, &mut Silent)
        }
        Way::Frontier => frontier(system, &mut table, whole(), Levels::Edges, &task, &mut Silent),
        Way::FrontierTree => {
            let mut tree = Tree::new(Roots::Cleary, u64::MAX);
            frontier(system, &mut tree, whole(), Levels::Edges, &task, &mut Silent)
        }
        Way::Breadth => frontier(system, &mut table, whole(), Levels::Steps, &task, &mut Silent),
        Way::Depth => depth_first(system, &mut table, &task, &mut Silent),
        Way::DepthTree => depth_first(system, &mut Tree::new(Roots::Roomy, u64::MAX), &task, &mut Silent),
        Way::Workers => {
            let shared = SharedTable::new(u64::MAX);
            let search = Parallel { system, taking: Taking::Oldest, workers: 3, alone: Some(0) };
            parallel::<_, WholeStates>(search, &|| shared.hand(), &task, &mut Silent)
        }
    }
}

/// Whether the actions can be taken one after another from the initial state.
fn is_run(system: &Jit, path: &[system::ActionId]) -> bool {
    let mut state = Vec::new();
    if system.initial(&mut state).is_err() {
        return path.is_empty();
    }
    for (i, &action) in path.iter().enumerate() {
        let mut out = Successors::default();
        system.expand(&state, &mut out);
        let Some(outcome) = out.list.iter().find(|outcome| outcome.action == action) else { return false };
        match out.state(outcome) {
            Some(next) => state = next.to_vec(),
            None => return i + 1 == path.len(),
        }
    }
    true
}

/// Compares a lean search with one that follows all edges.
fn compare(system: &Jit, all: &Outcome, lean: &Outcome, way: Way, what: &str) {
    let numbers = |o: &Outcome| (o.statistics.states, o.statistics.transitions, o.errors);
    assert_eq!(numbers(lean), numbers(all), "{what}");
    assert!(lean.exhausted.is_some(), "{what}");
    if matches!(way, Way::Frontier | Way::FrontierTree | Way::Breadth) {
        assert_eq!(lean.statistics.depth, all.statistics.depth, "{what}");
    }
    let faults = |o: &Outcome| {
        // Of several at one place the first one found is told.
        let of = |v: &search::Violation| (v.fault.kind, v.fault.line);
        o.violations.iter().map(of).collect::<BTreeSet<_>>()
    };
    if way != Way::Workers {
        assert_eq!(faults(lean), faults(all), "{what}");
    }
    for violation in &lean.violations {
        assert!(is_run(system, &violation.path.to_vec()), "{what}: {}", violation.fault.message);
    }
}

/// Whether the program was small enough.
fn agrees(model: &Model) -> bool {
    let sources = Arc::clone(&model.sources);
    let program = Arc::new(model.program.clone());
    let system =
        Jit::new(Arc::clone(&program), move |span| sources.location(span)).expect("it can be executed");
    let by = Stubborn::new(&program, &system, Extent::AnyProcesses);
    if system.hidden_bytes() > 0 {
        return false;
    }
    for way in WAYS {
        let all = search(&system, way, None);
        if all.exhausted.is_none() {
            return false;
        }
        for order in LeanOrder::ALL {
            let lean = search(&system, way, Some((&by, order)));
            compare(&system, &all, &lean, way, &format!("{} {way:?} {order:?}", model.name));
        }
    }
    true
}

#[test]
fn on_random_programs_nothing_is_missed() {
    let seeds: u64 = std::env::var("LEAN_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(150);
    let mut small = 0;
    for seed in 0..seeds {
        for size in [Size::Small, Size::Medium] {
            small += u64::from(Model::random(seed, size).is_some_and(|model| agrees(&model)));
        }
    }
    assert!(small > seeds / 2, "only {small} programs were small enough");
}

#[test]
fn on_random_programs_with_rendezvous_nothing_is_missed() {
    let seeds: u64 = std::env::var("LEAN_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(150);
    let (mut valid, mut small) = (0, 0);
    for seed in 0..4 * seeds {
        if let Some(model) = Model::new(&format!("rendezvous {seed}"), &edge_lean_programs::program(seed)) {
            valid += 1;
            small += u64::from(agrees(&model));
        }
    }
    assert!(valid > 3 * seeds, "only {valid} programs are right");
    assert!(small > seeds, "only {small} programs were small enough");
}

#[test]
fn on_the_models_of_the_repository_nothing_is_missed() {
    let small = Model::all().iter().filter(|model| agrees(model)).count();
    assert!(small > 100, "only {small} models were small enough");
}
