//! The text that a card would be given, interpreted: on the models of the repository and on random programs
//! it counts the states and errors that the reference configuration counts, in both kinds of table, whatever
//! the order in which threads run.

#[path = "../../machine/tests/common/mod.rs"]
mod common;

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use common::Model;
use gpu::search::{Ended, Found, Request, search};
use gpu::simulate::Simulator;
use kernel::sample::Extent;
use machine::Interp;
use promela::ir::Program;
use search::queue::Whole;
use search::{Checks, Levels, Limits, Outcome, Silent, StopReason, Task, frontier};
use system::{FaultKind, Successors, SystemExt, TransitionSystem};
use testkit::generate::Size;

fn explicit(interp: &Interp, most: u64) -> Option<Outcome> {
    let stop = AtomicBool::new(false);
    let task = Task {
        checks: Checks::SAFETY,
        all_errors: true,
        seed: None,
        limits: Limits { states: Some(most), ..Limits::default() },
        stop: &stop,
        reduce: None,
    };
    let queue = Whole::new(interp.hidden_bytes(), false);
    let outcome = frontier(interp, &mut store::Table::default(), queue, Levels::Edges, &task, &mut Silent);
    (outcome.stop == StopReason::Completed).then_some(outcome)
}

/// Searches until nothing is missed any more; `None` when the model is refused.
fn simulate(interp: &Interp, memory: u64, seed: u64) -> Option<Found> {
    let extent = Extent { breadth: 50, walks: 1, steps: 50 };
    let mut model = kernel::Model::new(interp, interp, &|state| interp.take_apart(state), extent).ok()?;
    loop {
        let initial = model.initial()?;
        let (layout, kernel) = (&model.layout, &model.kernel);
        let small = memory / 4;
        let request =
            Request { layout, kernel, initial: &initial, all_errors: true, deadlocks: true, memory, small };
        let found =
            search(&mut Simulator::new(memory, seed), &request, &mut |_| true).expect("the text runs");
        match found.ended {
            Ended::Missed(miss, state) => model.missed(miss, &state).ok()?,
            _ => {
                for way in &found.ways {
                    follow(interp, &model, way);
                }
                return Some(found);
            }
        }
    }
}

/// Every way is one: each state on it leads to the next, through transient ones.
fn follow(interp: &Interp, model: &kernel::Model<'_>, way: &[Vec<u64>]) {
    for pair in way.windows(2) {
        let (from, to) = (model.bytes(&pair[0]), model.bytes(&pair[1]));
        let (mut todo, mut known) = (vec![from], HashMap::new());
        let mut reached = false;
        while let Some(state) = todo.pop().filter(|_| !reached) {
            let mut out = Successors::default();
            interp.expand(&state, &mut out);
            for outcome in &out.list {
                let Some(next) = out.state(outcome) else { continue };
                reached |= next == to;
                if outcome.is_transient() && known.insert(next.to_vec(), ()).is_none() {
                    todo.push(next.to_vec());
                }
            }
        }
        assert!(reached, "a state does not lead to the next on the way");
    }
}

fn has_atomic(program: &Program) -> bool {
    program.proctypes.iter().any(|proctype| proctype.edges.iter().any(|edge| edge.atomic))
}

/// Whether it was compared.
fn compare(model: &Model, program: &Program, most: u64, seed: u64) -> bool {
    let interp = model.machine(program);
    let Some(outcome) = explicit(&interp, most) else { return false };
    // A small memory for which states of two words are too wide, and a larger one.
    let memory = if seed.is_multiple_of(2) { 2 << 20 } else { 16 << 20 };
    let Some(found) = simulate(&interp, memory, seed) else { return false };
    assert_eq!(found.ended, Ended::Complete, "{}", model.name);
    let counts = found.counts;
    assert_eq!(counts.states, outcome.statistics.states, "states of {}", model.name);
    if !has_atomic(program) {
        let (steps, errors) = (outcome.statistics.transitions, outcome.errors);
        assert_eq!(counts.steps, steps, "transitions of {}", model.name);
        assert_eq!(counts.deadlocks + counts.errors, errors, "errors of {}", model.name);
    }
    let dead = outcome.violations.iter().any(|violation| violation.fault.kind == FaultKind::EndState);
    assert_eq!(counts.deadlocks > 0, dead, "deadlocks of {}", model.name);
    let other = outcome.violations.iter().any(|violation| violation.fault.kind != FaultKind::EndState);
    assert_eq!(counts.errors > 0, other, "errors of {}", model.name);
    true
}

#[test]
fn models_of_the_repository() {
    let models = Model::all();
    let mut compared = 0;
    for (number, model) in models.iter().enumerate() {
        compared += usize::from(compare(model, &model.program, 250, number as u64));
        let reduced = common::reduced(&model.program);
        compared += usize::from(compare(model, &reduced, 250, number as u64 + 1));
    }
    assert!(compared > 60, "{compared} of {} models", models.len());
}

#[test]
fn random_programs() {
    let mut compared = 0;
    for seed in 0..300 {
        let Some(model) = Model::random(seed, Size::Small) else { continue };
        compared += usize::from(compare(&model, &model.program, 300, seed));
    }
    assert!(compared > 30, "{compared} compared");
}
