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
use symbolic::race::{self, Means, Reached};
use symbolic::{Ended, Partitioned, Progress, Remembering, Reorder};
use system::TransitionSystem;

fn main() {
    let path = std::env::args().nth(1).expect("a model");
    let wanted: Option<usize> = std::env::args().nth(2).and_then(|n| n.parse().ok());
    let text = std::fs::read_to_string(&path).expect("readable");
    let started = Instant::now();
    let model = Model::new(&path, &text).expect("a model");
    let mut program = model.program.clone();
    reduce(&mut program, Reductions { dead_variables: true, merge: false, fold: true });
    let jit = Jit::new(Arc::new(program), |_| promela::source::Location {
        file: String::new(),
        line: 0,
        column: 0,
    })
    .expect("it compiles");
    println!("front end and compile {:?}", started.elapsed());
    let machine = jit.one_process().expect("native");
    let stop = Stop::never();
    let started = Instant::now();
    let mut pins = Pins::new(&jit, &machine, &[], &stop).expect("fit");
    println!("pins {:?}", started.elapsed());
    let mut initial = Vec::new();
    jit.initial(&mut initial).expect("a state");
    if std::env::var("SHOW").is_ok() {
        for order in race::orders(&pins, Reorder::Best).iter().take(1) {
            let names: Vec<&str> = order.iter().map(|slot| &pins.slots()[*slot as usize].name[..]).collect();
            println!("{}", names.join(" "));
            for group in pins.groups() {
                let mark = |slot: &u32| match (group.reads.contains(slot), group.writes.contains(slot)) {
                    (true, true) => '+',
                    (true, false) => 'r',
                    (false, true) => 'w',
                    (false, false) => '-',
                };
                println!("{} {}", order.iter().map(mark).collect::<String>(), group.process);
            }
        }
        return;
    }
    if std::env::var("CANDS").is_ok() {
        let mut vector = Vec::new();
        pins.vector(&initial, &mut vector).expect("a vector");
        let orders = race::orders(&pins, Reorder::Best);
        for (at, order) in orders.iter().enumerate() {
            for work in [1u64 << 17, 1 << 18, 1 << 19, 1 << 25] {
                let started = Instant::now();
                let mut space =
                    symbolic::Space::new(&mut pins, order.clone(), vector.clone(), 4 << 30, Arc::default());
                space.limit_work(work);
                let result = space.reach_all();
                println!(
                    "{at} {work}: {} calls {} {:?} {}",
                    space.calls(),
                    result.is_ok(),
                    started.elapsed(),
                    space.figures_line(result.unwrap_or(ldd::Set::EMPTY))
                );
            }
        }
        return;
    }
    loop {
        let means = Means {
            reorder: wanted.map_or(Reorder::Best, |at| [Reorder::None, Reorder::Force, Reorder::Sloan][at]),
            chains: std::env::var("CHAIN").is_ok(),
            memory: 4 << 30,
            ending: None,
            progress: Arc::new(Progress::default()),
        };
        let flag = Arc::clone(&means.progress.stop);
        let limit: u64 = std::env::var("LIMIT").map_or(30, |n| n.parse().expect("seconds"));
        std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_secs(limit));
            flag.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        let started = Instant::now();
        match race::reach(&mut Remembering::new(&mut pins), &initial, &means) {
            Ok(Reached { mut space, all: set, .. }) => {
                let took = started.elapsed();
                let count = space.count(set).expect("memory");
                let (calls, figures) = (space.calls(), space.figures_line(set));
                println!("{count} states, {calls} calls, {took:?}, {figures}");
            }
            Err(Ended::Grown) => {
                println!("grown");
                pins.grow();
                continue;
            }
            Err(other) => println!("{other:?} {:?}", started.elapsed()),
        }
        break;
    }
}
