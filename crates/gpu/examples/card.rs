//! Searches a model on the first card and prints what it counted: `card model.pml [-DNAME=VALUE]`. For
//! measurements without the rest of the tool.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for measuring")]

use std::time::Instant;

use gpu::device::Device;
use gpu::driver::Card;
use gpu::search::{Ended, Request, search, table_for};
use kernel::sample::Extent;
use machine::Interp;
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
    let program = lowered.program.expect("a model without errors");
    Interp::new(std::sync::Arc::new(program), move |span| sources.location(span)).expect("it can be executed")
}

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (path, defines) = arguments.split_first().ok_or("usage: card model.pml [-DNAME=VALUE]")?;
    let started = Instant::now();
    let interp = machine(path, defines);
    let apart = |state: &[u8]| interp.take_apart(state);
    let mut model =
        kernel::Model::new(&interp, &interp, &apart, Extent::default()).map_err(|why| why.to_string())?;
    let prepared = started.elapsed().as_secs_f64();
    let mut card = Card::first().map_err(|error| error.to_string())?;
    let memory = card.free().map_err(|error| error.to_string())? / 100 * 93;
    loop {
        let initial = model.initial().ok_or("no initial state")?;
        let (layout, kernel) = (&model.layout, &model.kernel);
        let request = Request {
            layout,
            kernel,
            initial: &initial,
            all_errors: true,
            deadlocks: true,
            memory,
            small: 16 << 30,
        };
        let found = search(&mut card, &request, &mut |_| true).map_err(|error| error.to_string())?;
        if let Ended::Missed(miss, state) = &found.ended {
            model.missed(*miss, state).map_err(|why| why.to_string())?;
            continue;
        }
        let (counts, seconds) = (found.counts, found.counts.seconds.max(1e-9));
        println!(
            "{} {:?}: {:?} states {} steps {} levels {} deadlocks {} errors {} | {seconds:.4} s {:.0} M states/s {:.2} G steps/s | {} bits {:?} {:?}, {} layouts, {} instructions, prepared {prepared:.2} s, all {:.2} s, {} MiB",
            path.rsplit('/').next().unwrap_or(path),
            defines,
            found.ended,
            counts.states,
            counts.steps,
            counts.levels,
            counts.deadlocks,
            counts.errors,
            counts.states as f64 / 1e6 / seconds,
            counts.steps as f64 / 1e9 / seconds,
            layout.bits(),
            layout.words,
            table_for(layout, memory),
            model.remade + 1,
            kernel.function.len(),
            started.elapsed().as_secs_f64(),
            counts.memory >> 20,
        );
        return Ok(());
    }
}
