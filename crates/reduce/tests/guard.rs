//! Guards taken apart: fewer actions are enough where a part that is false, or guards that exclude each
//! other, show it.

#[path = "../../machine/tests/common/mod.rs"]
mod common;

use common::Model;
use reduce::describe::describe;
use reduce::{Building, Extent, Stubborn};
use stop::Stop;
use system::{Choice, Reduction, TransitionSystem};

/// How many of how many actions are chosen in the initial state.
fn chosen(text: &str, building: Building) -> (usize, usize) {
    let model = Model::new("guards", text).expect("a program");
    let machine = model.machine(&model.program);
    let stubborn = Stubborn::new(&model.program, &machine, Extent::AnyProcesses).built_by(building);
    let (mut state, mut enabled, mut chosen) = (Vec::new(), Vec::new(), Vec::new());
    machine.initial(&mut state).expect("a state");
    machine.enabled(&state, &mut enabled);
    match stubborn.reducer().choose(&state, &enabled, &mut chosen) {
        Choice::All => (enabled.len(), enabled.len()),
        Choice::Part => (chosen.len(), enabled.len()),
    }
}

fn both(text: &str) -> (usize, usize) {
    let found = chosen(text, Building::Closure);
    assert_eq!(found, chosen(text, Building::Deletion), "{text}");
    found
}

/// Two that always get in each other's way, and whatever a third does.
const PAIR: &str = "byte turn = 1, y, shared; \
    active proctype r() { shared++ } active proctype s() { shared = 2 }";

#[test]
fn a_part_that_only_its_own_process_can_change_waits_for_nobody_else() {
    let waits = |guard: &str| {
        format!(
            "{PAIR} active proctype p() {{ y = 1 }} active proctype q() {{ byte mine; bool all; ({guard}) -> y = 2 }}"
        )
    };
    assert_eq!(both(&waits("mine == 1 && shared > 0")), (1, 3));
    assert_eq!(both(&waits("shared > 0 && mine == 1")), (1, 3), "in any order");
    assert!(both(&waits("mine == 0 && shared > 0")).0 > 1, "that part is true");
    assert!(both(&waits("mine == 1 || shared > 0")).0 > 1, "no part of a conjunction");
    // What can go wrong ends the evaluation.
    assert!(both(&waits("shared / mine > 0 && mine == 1")).0 > 1);
}

#[test]
fn of_the_parts_that_are_false_the_cheapest_is_taken() {
    let text = format!(
        "{PAIR} active proctype p() {{ y = 1 }} \
         active proctype q() {{ (shared > 0 && turn == 2) -> y = 2 }}"
    );
    assert_eq!(both(&text), (1, 3), "nobody changes turn");
    let text = text.replace("turn == 2", "turn == 1");
    assert!(both(&text).0 > 1, "that part is true");
}

#[test]
fn guards_that_exclude_each_other_leave_each_other_alone() {
    let text = |needed: &str| {
        format!(
            "{PAIR} active proctype p() {{ d_step {{ turn == 1 -> y = 1 }} }} \
             active proctype q() {{ shared = 3; d_step {{ {needed} -> y = 2 }} }}"
        )
    };
    for needed in ["turn == 2", "turn != 1", "turn > 1", "2 <= turn", "shared > 0 && turn == 3", "!turn"] {
        assert_eq!(both(&text(needed)), (1, 4), "{needed}");
    }
    for needed in ["turn == 1", "turn < 3", "turn", "shared == 0", "turn == 2 || shared > 0"] {
        assert!(both(&text(needed)).0 > 1, "{needed}");
    }
    // Somebody writes the variable: he is drawn in.
    assert!(both(&text("turn == 2").replace("shared = 2", "turn = shared")).0 > 1);
}

#[test]
fn needs_are_told_with_who_changes_them() {
    let text = "byte x; active proctype p() { x == 1 -> x = 2 } active proctype q() { x == 2 -> x = 1 } \
        active proctype r() { x++ }";
    let model = Model::new("needs", text).expect("a program");
    let known = describe(&model.program, &Stop::never());
    let edge = known.edges[0].iter().find(|edge| !edge.needs.is_empty()).expect("a guard");
    let names = |ids: &[promela::ir::ProctypeId]| {
        ids.iter().map(|id| model.program.proctype(*id).name.clone()).collect::<Vec<String>>()
    };
    assert_eq!(names(&edge.needs[0].made_true_by), ["q", "r"]);
    assert_eq!(names(&edge.needs[0].made_false_by), ["p", "r"]);
    assert_eq!(edge.excludes.len(), 1);
    assert_eq!(model.program.proctype(edge.excludes[0].0).name, "q");
}
