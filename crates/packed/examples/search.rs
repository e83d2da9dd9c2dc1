//! Searches a model as packed states and prints what it counted: `search model.pml [-DNAME=VALUE] [-tTHREADS]`,
//! after the static reductions that a check has. For measurements and profiles without the rest of the tool.

#![allow(clippy::print_stdout, reason = "that is what it is for")]

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use kernel::sample::Extent;
use machine::Interp;
use machine::opt::{Reductions, reduce};
use packed::expand::Shown;
use packed::{Ended, Judge, Judged, Machine, Request};
use promela::parse::Dialect;
use promela::source::{Files, SourceMap};
use promela::{lower, parse, preprocess};

struct Disk;

impl Files for Disk {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(path).map_err(|error| error.to_string())
    }
}

fn machine(path: &str, defines: &[String]) -> Interp {
    let mut options = preprocess::Options::default();
    for define in defines.iter().filter_map(|define| define.strip_prefix("-D")) {
        let (name, value) = define.split_once('=').unwrap_or((define, "1"));
        options.predefined.push((name.to_string(), value.to_string()));
    }
    let mut sources = SourceMap::new();
    let tokens = preprocess::preprocess(path, &Disk, &options, &mut sources);
    let parsed = parse::parse_lines(tokens.tokens, tokens.line_starts, Dialect::Spin, &mut sources);
    let lowered = lower::lower(&parsed.unit, &sources, path);
    let mut program = lowered.program.expect("a model without errors");
    if !defines.iter().any(|define| define == "-O0") {
        reduce(&mut program, Reductions { dead_variables: true, fold: true, merge: true });
    }
    Interp::new(std::sync::Arc::new(program), move |span| sources.location(span)).expect("it can be executed")
}

/// Every error counts, and nothing more is asked of it.
struct All;

impl Judge for All {
    fn look(&self, _: &[u64], _: Shown) -> Judged {
        Judged { errors: 1, keep: false }
    }
}

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = "usage: search model.pml [-DNAME=VALUE] [-tTHREADS] [-O0]";
    let (path, rest) = arguments.split_first().ok_or(usage)?;
    let threads = rest.iter().find_map(|word| word.strip_prefix("-t")?.parse().ok()).unwrap_or(1);
    let started = Instant::now();
    let interp = machine(path, rest);
    let apart = |state: &[u8]| interp.take_apart(state);
    let extent = Extent { breadth: 2_000, walks: 30, steps: 200 };
    let mut model = kernel::Model::new(&interp, &interp, &apart, extent).map_err(|why| why.to_string())?;
    loop {
        let packed = started.elapsed().as_secs_f64();
        let initial = model.initial().ok_or("no initial state")?;
        let machine = Machine::new(&model.kernel)?;
        let stop = AtomicBool::new(false);
        let request = Request {
            layout: &model.layout,
            kernel: &model.kernel,
            machine: &machine,
            initial: &initial,
            judge: &All,
            all_errors: true,
            states: u64::MAX,
            memory: 6 << 30,
            threads,
            alone: None,
            stop: &stop,
        };
        let ready = started.elapsed().as_secs_f64();
        let bits = model.layout.bits();
        let found =
            packed::search(&request, &mut |_| true).ok_or_else(|| format!("{bits} bits are too many"))?;
        if let Ended::Missed(miss, state) = &found.ended {
            model.missed(*miss, state).map_err(|why| why.to_string())?;
            continue;
        }
        let (counts, seconds) = (found.counts, started.elapsed().as_secs_f64() - ready);
        println!(
            "{} {rest:?} {:?} states {} steps {} levels {} shown {} | {seconds:.3} s, {:.0} ns a state, {:.1} ns a step, {:.1} bytes a state | {bits} bits, {} layouts, {} instructions, packed after {packed:.3} s, compiled {:.3} s",
            path.rsplit('/').next().unwrap_or(path),
            found.ended,
            counts.states,
            counts.steps,
            counts.levels,
            counts.errors,
            seconds * 1e9 / counts.states as f64,
            seconds * 1e9 / counts.steps.max(1) as f64,
            counts.memory as f64 / counts.states as f64,
            model.remade + 1,
            model.kernel.function.len(),
            ready - packed,
        );
        return Ok(());
    }
}
