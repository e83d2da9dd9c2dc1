//! Static reductions change nothing that can be observed: the same violations with and without each of them,
//! and never more states.

mod common;

use std::collections::{BTreeSet, HashSet, VecDeque};

use common::{Model, seeds_wanted, try_models_wanted};
use machine::opt::{Reductions, reduce};
use promela::ir::Program;
use system::{Fault, FaultKind, Invariants, Successors, SystemExt, TransitionSystem};
use testkit::generate::Size;

/// What a search found.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    /// Kinds of violation and, but for end states, where they are.
    violations: BTreeSet<(FaultKind, u32, u32)>,
    states: usize,
}

/// All reachable states; `None` when there are more than `limit`.
fn explore(model: &Model, program: &Program, limit: usize) -> Option<Found> {
    let machine = model.machine(program);
    let mut found = Found::default();
    let mut first = Vec::new();
    if let Err(fault) = machine.initial(&mut first) {
        note(&mut found, &fault);
        return Some(found);
    }
    let mut seen = HashSet::from([first.clone()]);
    let mut todo = VecDeque::from([(first, false)]);
    let mut out = Successors::default();
    while let Some((state, transient)) = todo.pop_front() {
        found.states += usize::from(!transient);
        out.clear();
        machine.expand(&state, &mut out);
        if !transient {
            let mut faults = Vec::new();
            machine.inspect(&state, &mut faults);
            faults.iter().for_each(|fault| note(&mut found, fault));
            if out.list.is_empty() && !machine.labels(&state).valid_end {
                note(&mut found, &machine.deadlock(&state));
            }
        }
        for successor in &out.list {
            out.fault(successor).iter().for_each(|fault| note(&mut found, fault));
            let Some(bytes) = out.state(successor) else { continue };
            if seen.insert(machine.key(bytes).to_vec()) {
                todo.push_back((bytes.to_vec(), successor.is_transient()));
            }
        }
        if seen.len() > limit {
            return None;
        }
    }
    Some(found)
}

fn note(found: &mut Found, fault: &Fault) {
    let place = if fault.kind == FaultKind::EndState { (0, 0) } else { (fault.line, fault.column) };
    found.violations.insert((fault.kind, place.0, place.1));
}

/// Each reduction alone, and all.
const WAYS: [(&str, Reductions); 4] = [
    ("deadvars", Reductions { dead_variables: true, merge: false, fold: false }),
    ("merge", Reductions { dead_variables: false, merge: true, fold: false }),
    ("fold", Reductions { dead_variables: false, merge: false, fold: true }),
    ("all", Reductions { dead_variables: true, merge: true, fold: true }),
];

/// Compares them with the program as it is; says how many states each has, if that is small enough.
fn compare(model: &Model, limit: usize) -> Option<[usize; 5]> {
    let whole = explore(model, &model.program, limit)?;
    let mut states = [whole.states; 5];
    for (i, (name, wanted)) in WAYS.into_iter().enumerate() {
        let mut program = model.program.clone();
        reduce(&mut program, wanted);
        let less =
            explore(model, &program, limit).unwrap_or_else(|| panic!("{}, {name}: more states", model.name));
        assert_eq!(less.violations, whole.violations, "{}, {name}", model.name);
        assert!(less.states <= whole.states, "{}, {name}: {} > {}", model.name, less.states, whole.states);
        states[i + 1] = less.states;
    }
    Some(states)
}

#[test]
fn models_of_the_repository() {
    let models = Model::all();
    let compared: Vec<[usize; 5]> = models.iter().filter_map(|model| compare(model, 10_000)).collect();
    assert!(compared.len() > 30, "{} of {}", compared.len(), models.len());
    for (i, (name, _)) in WAYS.iter().enumerate().filter(|(_, (name, _))| *name != "fold") {
        assert!(compared.iter().any(|states| states[i + 1] < states[0]), "{name} reduces nothing");
    }
}

/// Programs at the edge of what may be left out.
const CORNERS: [(&str, &str); 4] = [
    (
        "others may move before an atomic sequence",
        "byte g, h; active proctype p() { byte x; g = 1; atomic { x = 2; g = 0; assert(h == 0 || x == 0) } } \
         active proctype q() { h = g }",
    ),
    (
        "an element that nobody needs, among others that may be meant",
        "byte w[2]; active proctype p() { byte i; if :: i = 0; w[i] = 1 :: w[0] = 1 fi; i = 0; w[1] == 0 }",
    ),
    (
        "what is received first is the index of what comes next",
        "chan c = [1] of { byte, byte }; \
         active proctype p() { byte i, v[2]; c!1,7; c?i,v[i]; assert(v[0] == 7) }",
    ),
    (
        "a field that nobody needs in one channel, but in another",
        "byte g; chan a = [1] of { byte }; chan b = [1] of { byte }; \
         active proctype p() { chan w; if :: w = a; w!5 :: a!5; w = a :: b!5; w = b fi; \
         if :: b?g; assert(g != 5) :: a?_ fi }",
    ),
];

#[test]
fn corners() {
    for (name, text) in CORNERS {
        let model = Model::new(name, text).expect("a model");
        assert!(compare(&model, 1000).is_some());
    }
}

fn random(seeds: std::ops::Range<u64>, size: Size) {
    let models = seeds.clone().filter_map(|seed| Model::random(seed, size));
    let compared = models.filter_map(|model| compare(&model, 2_000)).count();
    assert!(compared * 2 > seeds.clone().count(), "{compared} of {}", seeds.count());
}

#[test]
fn small_random_programs() {
    random(0..600, Size::Small);
}

#[test]
fn medium_random_programs() {
    random(9000..9300, Size::Medium);
}

/// `OPT_SEEDS=from..to` compares more random programs.
#[test]
fn more_random_programs() {
    seeds_wanted("OPT_SEEDS").into_iter().for_each(|seeds| random(seeds, Size::Medium));
}

/// `OPT_MODELS=dir` compares the models of a folder that have up to `OPT_STATES` states, and prints for each
/// how many: as it is, with each reduction, with all.
#[test]
#[allow(clippy::print_stdout, reason = "asked for by hand only")]
fn models_elsewhere() {
    let limit = std::env::var("OPT_STATES").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000);
    try_models_wanted("OPT_MODELS", |model| println!("{}\t{:?}", model.name, compare(model, limit)));
}
