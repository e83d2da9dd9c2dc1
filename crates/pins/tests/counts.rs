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
use symbolic::race::{self, Means};
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
        let hidden: Vec<bool> = pins.slots().iter().map(|slot| slot.hidden).collect();
        let means = Means {
            reorder,
            chains: states % 5 == 0,
            memory: 1 << 30,
            progress: Arc::new(Progress::default()),
        };
        let mut vector = Vec::new();
        pins.vector(&initial, &mut vector).map_err(|why| format!("{why:?}"))?;
        match race::reach(&mut Remembering::new(&mut pins), &vector, &means) {
            Ok((mut space, all)) => {
                return space.count(all, &hidden).map(|n| n.to_string()).map_err(|e| format!("{e:?}"));
            }
            Err(Ended::Grown) => {}
            Err(other) => return Err(format!("{other:?}")),
        }
    }
}

fn reduced(program: &Program) -> Program {
    let mut less = program.clone();
    reduce(&mut less, Reductions { dead_variables: true, merge: false, fold: true });
    less
}

fn compare(model: &Model, program: &Program, most: u64) -> Option<bool> {
    let sources = Arc::clone(&model.sources);
    let jit = Jit::new(Arc::new(program.clone()), move |span| sources.location(span)).ok()?;
    if !jit.is_native() {
        return None;
    }
    let states = explicit(&jit, most)?;
    // Small searches never come to a race.
    let reorder = [Reorder::Best, Reorder::None, Reorder::Force, Reorder::Sloan][states as usize % 4];
    let started = std::time::Instant::now();
    let result = symbolic(&jit, states, reorder);
    let took = started.elapsed();
    if took.as_millis() > 500 {
        eprintln!("{}: {states} states, {took:?}", model.name);
    }
    if result.as_ref() != Ok(&states.to_string()) {
        eprintln!("{}: {states} states, but {result:?}", model.name);
        return Some(false);
    }
    Some(true)
}

#[test]
fn counts_of_models_are_equal() {
    let mut agreed = 0;
    let mut wrong = 0;
    for model in Model::all() {
        for program in [model.program.clone(), reduced(&model.program)] {
            match compare(&model, &program, 3000) {
                Some(true) => agreed += 1,
                Some(false) => wrong += 1,
                None => {}
            }
        }
    }
    eprintln!("{agreed} agree");
    assert_eq!(wrong, 0);
    assert!(agreed > 100, "{agreed}");
}

#[test]
fn counts_of_random_programs_are_equal() {
    let (mut agreed, mut wrong) = (0, 0);
    for seed in 0..std::env::var("SEEDS").map_or(60, |n| n.parse().expect("a number")) {
        let Some(model) = Model::random(seed, if seed % 3 == 0 { Size::Medium } else { Size::Small }) else {
            continue;
        };
        for program in [model.program.clone(), reduced(&model.program)] {
            match compare(&model, &program, 2000) {
                Some(true) => agreed += 1,
                Some(false) => wrong += 1,
                None => {}
            }
        }
    }
    eprintln!("{agreed} agree");
    assert_eq!(wrong, 0);
    assert!(agreed > 50, "{agreed}");
}
