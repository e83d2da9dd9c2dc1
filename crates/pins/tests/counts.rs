//! Symbolic search counts the states that explicit search counts, on the models of the repository and on
//! random programs; every step is taken from two states that differ in all that it should not look at.

#[path = "../../machine/tests/common/mod.rs"]
mod common;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use common::Model;
use jit::Jit;
use machine::opt::{Reductions, reduce};
use pins::Pins;
use promela::ir::Program;
use search::queue::Whole;
use search::{Checks, Levels, Limits, Silent, StopReason, Task, frontier};
use stop::Stop;
use symbolic::race::{self, Means, Reached};
use symbolic::{Ended, Partitioned, Progress, Remembering, Reorder};
use system::TransitionSystem;
use testkit::generate::Size;

/// The number of states, if they are no more than `most`.
fn explicit(jit: &Jit, most: u64) -> Option<u64> {
    let stop = AtomicBool::new(false);
    let task = Task {
        checks: Checks::NONE,
        all_errors: true,
        seed: None,
        limits: Limits { states: Some(most), ..Limits::default() },
        stop: &stop,
        reduce: None,
    };
    let queue = Whole::new(jit.hidden_bytes(), false);
    let outcome = frontier(jit, &mut store::Table::default(), queue, Levels::Edges, &task, &mut Silent);
    (outcome.stop == StopReason::Completed).then_some(outcome.statistics.states)
}

fn symbolic(jit: &Jit, states: u64, reorder: Reorder) -> Result<String, String> {
    let machine = jit.one_process().ok_or("no native code")?;
    let stop = Stop::never();
    let mut pins = Pins::new(jit, &machine, &[], &stop)?.doubting();
    let mut initial = Vec::new();
    if jit.initial(&mut initial).is_err() {
        return Ok("0".to_string());
    }
    loop {
        let means = Means {
            reorder,
            chains: states.is_multiple_of(5),
            memory: 1 << 30,
            ending: None,
            progress: Arc::new(Progress::default()),
        };
        match race::reach(&mut Remembering::new(&mut pins), &initial, &means) {
            Ok(Reached { mut space, all, .. }) => {
                return space.count(all).map(|n| n.to_string()).map_err(|e| format!("{e:?}"));
            }
            Err(Ended::Grown) => {
                pins.grow();
            }
            Err(other) => return Err(format!("{other:?}")),
        }
    }
}

fn reduced(program: &Program) -> Program {
    let mut less = program.clone();
    reduce(&mut less, Reductions { dead_variables: true, merge: false, fold: true });
    less
}

fn compare(model: &Model, program: &Program, most: u64) -> Option<()> {
    let sources = Arc::clone(&model.sources);
    let jit = Jit::new(Arc::new(program.clone()), move |span| sources.location(span)).ok()?;
    if !jit.is_native() {
        return None;
    }
    let states = explicit(&jit, most)?;
    // Small searches never come to a race.
    let reorder = [Reorder::Best, Reorder::None, Reorder::Force, Reorder::Sloan][states as usize % 4];
    let result = symbolic(&jit, states, reorder);
    assert_eq!(result, Ok(states.to_string()), "{}", model.name);
    Some(())
}

/// How many of a model's programs, as it is and reduced, have few states, and are counted alike.
fn agree(model: &Model, most: u64) -> usize {
    let programs = [model.program.clone(), reduced(&model.program)];
    programs.iter().filter_map(|program| compare(model, program, most)).count()
}

#[test]
fn counts_of_models_are_equal() {
    let agreed: usize = Model::all().iter().map(|model| agree(model, 3000)).sum();
    assert!(agreed > 100, "{agreed}");
}

/// `SEEDS` asks for more programs.
#[test]
fn counts_of_random_programs_are_equal() {
    let seeds = std::env::var("SEEDS").map_or(60, |n| n.parse().expect("a number"));
    let size = |seed: u64| if seed.is_multiple_of(3) { Size::Medium } else { Size::Small };
    let models = (0..seeds).filter_map(|seed| Model::random(seed, size(seed)));
    let agreed: usize = models.map(|model| agree(&model, 2000)).sum();
    assert!(agreed > 50, "{agreed}");
}
