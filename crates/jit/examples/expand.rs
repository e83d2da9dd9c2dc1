//! How long the compiled machine takes to expand a state: `cargo run --release -p jit --example expand --
//! MODEL…`.
//!
//! Collects states breadth-first once, then expands all of them several times through a worker, without any
//! store, and prints nanoseconds per state and per successor. `STATES=n` sets how many states are collected,
//! `INTERP=1` measures the reference machine instead, `TOGETHER=1` code as it is made for large programs.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for people")]

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use jit::{Functions, Jit};
use promela::diagnostic::has_errors;
use promela::ir::Program;
use promela::parse::Dialect;
use promela::source::{Files, SourceMap};
use promela::{lower, parse, preprocess};
use system::{Successors, TransitionSystem, WorkerExt};

/// Rounds of which the best counts.
const ROUNDS: usize = 15;
/// How often the code is made; the fastest counts.
const MAKES: usize = 15;
/// States that are timed together.
const PIECE: usize = 2048;

struct Disk;

impl Files for Disk {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(path).map_err(|e| e.to_string())
    }
}

fn load(path: &str) -> Option<(Arc<Program>, SourceMap)> {
    let mut sources = SourceMap::new();
    let tokens = preprocess::preprocess(path, &Disk, &preprocess::Options::default(), &mut sources);
    let parsed = parse::parse_lines(tokens.tokens, tokens.line_starts, Dialect::Spin, &mut sources);
    if has_errors(&tokens.diagnostics) || has_errors(&parsed.diagnostics) {
        return None;
    }
    let mut program = lower::lower(&parsed.unit, &sources, path).program?;
    let all = machine::opt::Reductions { dead_variables: true, merge: true, fold: true };
    machine::opt::reduce(&mut program, all);
    Some((Arc::new(program), sources))
}

/// States in breadth-first order, one behind the other, with where each ends.
struct States {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl States {
    fn get(&self, i: usize) -> &[u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.bytes[start..self.ends[i]]
    }

    fn push(&mut self, state: &[u8]) {
        self.bytes.extend_from_slice(state);
        self.ends.push(self.bytes.len());
    }
}

fn collect(system: &dyn TransitionSystem, limit: usize) -> States {
    let mut states = States { bytes: Vec::new(), ends: Vec::new() };
    let mut first = Vec::new();
    if system.initial(&mut first).is_err() {
        return states;
    }
    let mut seen: HashSet<Vec<u8>> = HashSet::from([first.clone()]);
    states.push(&first);
    let mut worker = system.worker();
    let mut out = Successors::default();
    let mut at = 0;
    while at < states.ends.len() && states.ends.len() < limit {
        out.clear();
        worker.expand(states.get(at), &mut out);
        for successor in &out.list {
            if let Some(state) = out.state(successor)
                && seen.insert(state.to_vec())
            {
                states.push(state);
            }
        }
        at += 1;
    }
    states
}

/// Nanoseconds per state and per successor, and successors. Of every piece of the list the fastest round
/// counts: a busy machine interrupts some, but not all.
fn measure(system: &dyn TransitionSystem, states: &States) -> (f64, f64, usize) {
    let mut worker = system.worker();
    let mut out = Successors::default();
    let count = states.ends.len();
    let mut best = vec![u128::MAX; count.div_ceil(PIECE)];
    let mut successors = 0;
    for _ in 0..ROUNDS {
        successors = 0;
        for (piece, best) in best.iter_mut().enumerate() {
            let started = Instant::now();
            for i in piece * PIECE..count.min((piece + 1) * PIECE) {
                // As a search does: some states are expanded into the same buffers.
                if i % 16 == 0 {
                    successors += out.list.len();
                    out.clear();
                }
                worker.expand(states.get(i), &mut out);
            }
            *best = (*best).min(started.elapsed().as_nanos());
        }
        successors += out.list.len();
        out.clear();
    }
    let nanos = best.iter().sum::<u128>() as f64;
    (nanos / count.max(1) as f64, nanos / successors.max(1) as f64, successors)
}

fn main() {
    let limit = std::env::var("STATES").ok().and_then(|n| n.parse().ok()).unwrap_or(200_000);
    println!(
        "{:<20} {:>8} {:>6} {:>9} {:>9} {:>9} {:>9}",
        "model", "states", "bytes", "succ/st", "ns/state", "ns/succ", "make ms"
    );
    for path in std::env::args().skip(1) {
        let name = path.rsplit('/').next().unwrap_or(&path).trim_end_matches(".pml").to_string();
        let Some((program, sources)) = load(&path) else {
            eprintln!("{name}: not understood");
            continue;
        };
        let sources = Arc::new(sources);
        let mut made = f64::MAX;
        let mut machine = Err(String::new());
        for _ in 0..MAKES {
            let sources = sources.clone();
            let started = Instant::now();
            machine = match std::env::var_os("TOGETHER") {
                Some(_) => {
                    let functions = Functions { together: true, ..Functions::of(&program) };
                    Jit::with_functions(program.clone(), move |span| sources.location(span), functions)
                }
                None => Jit::new(program.clone(), move |span| sources.location(span)),
            };
            made = made.min(started.elapsed().as_micros() as f64 / 1000.0);
        }
        let jit = match machine {
            Ok(jit) => jit,
            Err(message) => {
                eprintln!("{name}: {message}");
                continue;
            }
        };
        let system: &dyn TransitionSystem =
            if std::env::var_os("INTERP").is_some() { jit.interp() } else { &jit };
        let states = collect(system, limit);
        let count = states.ends.len();
        let (state, successor, successors) = measure(system, &states);
        println!(
            "{name:<20} {count:>8} {:>6} {:>9.2} {state:>9.1} {successor:>9.2} {made:>9.2}",
            states.bytes.len() / count.max(1),
            successors as f64 / count.max(1) as f64,
        );
    }
}
