//! Times symbolic reachability of a model with each candidate order of slots.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for measuring")]

#[path = "../../machine/tests/common/mod.rs"]
mod common;

use std::sync::Arc;
use std::time::Instant;

use common::Model;
use jit::Jit;
use machine::opt::{Reductions, reduce};
use pins::Pins;
use stop::Stop;
use symbolic::{Ended, Partitioned, Progress, Reorder, Space, slot_order};
use system::TransitionSystem;

fn main() {
    let path = std::env::args().nth(1).expect("a model");
    let wanted: Option<usize> = std::env::args().nth(2).and_then(|n| n.parse().ok());
    let text = std::fs::read_to_string(&path).expect("readable");
    let started = Instant::now();
    let model = Model::new(&path, &text).expect("a model");
    let mut program = model.program.clone();
    reduce(&mut program, Reductions { dead_variables: true, merge: false, fold: true });
    let jit = Jit::new(Arc::new(program), |_| promela::source::Location { file: String::new(), line: 0, column: 0 })
        .expect("it compiles");
    println!("front end and compile {:?}", started.elapsed());
    let machine = jit.one_process().expect("native");
    let stop = Stop::never();
    let started = Instant::now();
    let mut pins = Pins::new(&jit, &machine, &[], &stop).expect("fit");
    println!("pins {:?}", started.elapsed());
    let mut initial = Vec::new();
    jit.initial(&mut initial).expect("a state");
    let mut at = 0;
    loop {
        let started = Instant::now();
        let uses: Vec<Vec<u32>> = pins
            .groups()
            .iter()
            .map(|g| g.reads.iter().chain(&g.writes).copied().collect::<std::collections::BTreeSet<_>>().into_iter().collect())
            .collect();
        let all = slot_order::candidates(pins.slots().len(), &uses, Reorder::Best);
        let ordered = started.elapsed();
        let Some(order) = all.get(wanted.unwrap_or(at)).cloned() else { break };
        let names: Vec<String> = order.iter().map(|slot| pins.slots()[*slot as usize].name.clone()).collect();
        if std::env::var("SHOW").is_ok() {
            println!("{}", names.join(" "));
            for group in pins.groups() {
                let row: String = order.iter().map(|slot| match (group.reads.contains(slot), group.writes.contains(slot)) {
                    (true, true) => '+', (true, false) => 'r', (false, true) => 'w', _ => '-' }).collect();
                println!("{row} {}", group.process);
            }
        }
        let progress = Arc::new(Progress::default());
        let flag = Arc::clone(&progress.stop);
        let (n, g) = (pins.slots().len(), pins.groups().len());
        let limit: u64 = std::env::var("LIMIT").map_or(30, |n| n.parse().expect("seconds"));
        let timer = std::thread::spawn(move || { std::thread::sleep(std::time::Duration::from_secs(limit)); flag.store(true, std::sync::atomic::Ordering::Relaxed); });
        drop(timer);
        let started = Instant::now();
        let mut space = Space::new(&mut pins, order, 4 << 30, Arc::clone(&progress));
        let vector = space.vector(&initial).expect("a vector");
        let result = space.reach_from(&vector);
        let took = started.elapsed();
        match result {
            Ok(set) => println!(
                "order {at}: {} states, {n} slots, {g} groups, {} calls, {:?} (ordering {ordered:?}) {}",
                space.count(set, &vec![false; n]).expect("memory"), space.calls(), took, space.figures_line(set)
            ),
            Err(Ended::Grown) => { println!("grown"); continue; }
            Err(other) => println!("order {at}: {other:?} {took:?}"),
        }
        if wanted.is_some() { break; }
        at += 1;
    }
}
