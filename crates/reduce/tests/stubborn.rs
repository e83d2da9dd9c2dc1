//! Choices for many programs: against the definition of a persistent set, and against the plain search of
//! everything.

#[path = "../../machine/tests/common/mod.rs"]
mod common;

use std::collections::{BTreeSet, HashSet};
use std::convert::Infallible;

use common::{Model, reduced, seeds_wanted, walk};
use machine::Interp;
use promela::ir::Program;
use reduce::check::{outcomes, persistent};
use reduce::{Building, Extent, Stubborn};
use system::{ActionId, Choice, Explain, FaultKind, Invariants, Reducer, Reduction, TransitionSystem};
use testkit::generate::Size;

/// What a search saw.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    states: usize,
    deadlocks: BTreeSet<Vec<u8>>,
    faults: BTreeSet<(FaultKind, u32, u32)>,
    /// Actions that were taken, whoever took them.
    actions: BTreeSet<ActionId>,
}

/// How much of a search is reduced.
enum How<'a> {
    Plain,
    /// Without any proviso.
    Reduced(&'a mut dyn Reducer),
    /// A state without a new successor is expanded in full.
    Proviso(&'a mut dyn Reducer),
}

/// Searches in the plainest way; `None` when there are more states than `limit`.
fn search(machine: &Interp, limit: usize, mut how: How<'_>) -> Option<Seen> {
    let mut first = Vec::new();
    machine.initial(&mut first).ok()?;
    let mut seen = HashSet::from([first.clone()]);
    let mut list = vec![first];
    let mut found = Seen::default();
    let mut at = 0;
    while at < list.len() {
        let state = list[at].clone();
        at += 1;
        let mut faults = Vec::new();
        machine.inspect(&state, &mut faults);
        found.faults.extend(faults.iter().map(|fault| (fault.kind, fault.line, fault.column)));
        let enabled = outcomes(machine, &state);
        if enabled.is_empty() {
            found.deadlocks.insert(state.clone());
        }
        let mut actions = Vec::new();
        machine.enabled(&state, &mut actions);
        let mut chosen = Vec::new();
        let choice = match &mut how {
            How::Plain => Choice::All,
            How::Reduced(reducer) | How::Proviso(reducer) => reducer.choose(&state, &actions, &mut chosen),
        };
        let mut part: Vec<ActionId> = match choice {
            Choice::All => actions.clone(),
            Choice::Part => chosen.iter().map(|&i| actions[i as usize]).collect(),
        };
        if part.iter().any(|action| enabled[action].lost || enabled[action].states.is_empty()) {
            part.clone_from(&actions);
        }
        let is_new = |action: &ActionId| enabled[action].states.iter().any(|state| !seen.contains(state));
        if matches!(how, How::Proviso(_)) && !part.iter().any(is_new) {
            part.clone_from(&actions);
        }
        for action in &part {
            found.actions.insert(*action);
            let outcome = &enabled[action];
            found.faults.extend(outcome.faults.iter().copied());
            for next in &outcome.states {
                if seen.insert(next.clone()) {
                    list.push(next.clone());
                }
            }
        }
        if list.len() > limit {
            return None;
        }
    }
    found.states = list.len();
    Some(found)
}

/// Every choice in the first states is persistent, and nothing is missed.
fn hold(model: &Model, program: &Program, limit: usize) -> (usize, usize) {
    let machine = model.machine(program);
    let (mut states, mut less) = (0, 0);
    for (extent, alone, building) in [
        (Extent::OneProcess, false, Building::Closure),
        (Extent::AnyProcesses, false, Building::Closure),
        (Extent::AnyProcesses, true, Building::Closure),
        (Extent::AnyProcesses, false, Building::Deletion),
        (Extent::AnyProcesses, true, Building::Deletion),
    ] {
        let stubborn = Stubborn::new(program, &machine, extent).built_by(building);
        let stubborn = if alone { stubborn.closing_no_circle() } else { stubborn };
        definition(model, &machine, &stubborn, 40);
        let Some(all) = search(&machine, limit, How::Plain) else { continue };
        let Some(reduced) = search(&machine, limit, How::Reduced(&mut *stubborn.reducer())) else {
            panic!("{}: reduced is more", model.name)
        };
        assert!(all.deadlocks == reduced.deadlocks, "{} {extent:?}: other deadlocks", model.name);
        if alone {
            assert_eq!(all.faults, reduced.faults, "{}: its own proviso", model.name);
            assert_eq!(all.actions, reduced.actions, "{}: its own proviso", model.name);
        }
        let Some(kept) = search(&machine, limit, How::Proviso(&mut *stubborn.reducer())) else {
            panic!("{}: reduced is more", model.name)
        };
        assert!(all.deadlocks == kept.deadlocks, "{} {extent:?}: other deadlocks", model.name);
        assert_eq!(all.faults, kept.faults, "{} {extent:?}", model.name);
        assert_eq!(all.actions, kept.actions, "{} {extent:?}: actions that were never taken", model.name);
        assert!(kept.states <= all.states && reduced.states <= kept.states, "{}", model.name);
        states += all.states;
        less += kept.states;
    }
    (states, less)
}

fn definition(model: &Model, machine: &Interp, stubborn: &Stubborn<'_>, limit: usize) {
    let mut reducer = stubborn.reducer();
    let mut first = Vec::new();
    if machine.initial(&mut first).is_err() {
        return;
    }
    let (mut actions, mut chosen) = (Vec::new(), Vec::new());
    let Ok(_) = walk(first, limit, Vec::clone, |state| {
        actions.clear();
        machine.enabled(state, &mut actions);
        if reducer.choose(state, &actions, &mut chosen) == Choice::Part {
            let part: Vec<ActionId> = chosen.iter().map(|&i| actions[i as usize]).collect();
            if let Err(broken) = persistent(machine, state, &part, 25) {
                let describe = |id: ActionId| match actions.contains(&id) {
                    true => format!("{:?}", machine.step(state, id)),
                    false => format!("{id:?}"),
                };
                let (chosen, other) = (describe(broken.chosen), describe(broken.other));
                panic!("{}: {broken:?}\nchosen {chosen}\nother {other}", model.name);
            }
        }
        let outcomes = outcomes(machine, state);
        Ok::<_, Infallible>(outcomes.into_values().flat_map(|outcome| outcome.states).collect())
    });
}

#[test]
fn of_the_models_of_the_repository() {
    let models = Model::all();
    let (mut states, mut less) = (0, 0);
    for model in &models {
        for program in [model.program.clone(), reduced(&model.program)] {
            let (all, reduced) = hold(model, &program, 1500);
            states += all;
            less += reduced;
        }
    }
    assert!(states > 10_000 && less * 20 < states * 19, "{less} of {states} states");
}

fn random(seeds: std::ops::Range<u64>, size: Size) {
    let (mut states, mut less) = (0, 0);
    for model in seeds.filter_map(|seed| Model::random(seed, size)) {
        for program in [model.program.clone(), reduced(&model.program)] {
            let (all, chosen) = hold(&model, &program, 400);
            states += all;
            less += chosen;
        }
    }
    assert!(states > 1000 && less < states, "{less} of {states} states");
}

#[test]
fn of_small_random_programs() {
    random(0..300, Size::Small);
}

#[test]
fn of_medium_random_programs() {
    random(7000..7080, Size::Medium);
}

/// `REDUCE_SEEDS=from..to` tries more random programs.
#[test]
fn of_more_random_programs() {
    let Some(seeds) = seeds_wanted("REDUCE_SEEDS") else { return };
    random(seeds.clone(), Size::Small);
    random(seeds, Size::Medium);
}
