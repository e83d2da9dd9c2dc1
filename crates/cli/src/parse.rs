//! `spinor parse`.

use crate::args::{Format, ParseArgs, ParseFormat};
use crate::output;
use engine::Disk;
use promela::ir::{Program, json, print};
use promela::source::SourceMap;

/// Reads a model and writes what it consists of; returns the exit status.
pub fn run(args: &ParseArgs) -> u8 {
    let format = args.format;
    let source = args.model.source();
    let answer = engine::parse::parse(&source, &Disk, |program, sources| show(program, sources, format));
    match output::settle(answer, if format == ParseFormat::Json { Format::Json } else { Format::Text }) {
        Ok(text) => {
            output::out(&text);
            0
        }
        Err(status) => status,
    }
}

fn show(program: &Program, sources: &SourceMap, format: ParseFormat) -> String {
    match format {
        ParseFormat::Json => json::to_json(program, sources),
        ParseFormat::Ir => print::print(program),
        ParseFormat::Text => summary(program),
    }
}

fn summary(program: &Program) -> String {
    let locations: usize = program.proctypes.iter().map(|p| p.locations.len().saturating_sub(1)).sum();
    let edges: usize = program.proctypes.iter().map(|p| p.edges.len()).sum();
    format!(
        "{}: {} proctypes and claims, {locations} locations, {edges} edges, {} globals, {} ltl blocks\n",
        program.name,
        program.proctypes.len(),
        program.globals.len(),
        program.ltl.len()
    )
}
