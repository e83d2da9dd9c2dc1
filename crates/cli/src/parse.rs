//! `spinor parse`.

use crate::args::{Format, ParseArgs, ParseFormat};
use crate::output;
use engine::parse::Understood;
use engine::{DiskOrInput, Stop};
use promela::ir::{Program, json, print};

/// Reads a model and writes what it consists of; returns the exit status.
pub fn run(args: &ParseArgs) -> u8 {
    let format = args.format;
    let source = args.model.source();
    let files = DiskOrInput::default();
    let answer = engine::parse::parse(&source, &files, &Stop::never(), |model| show(model, format));
    output::answer(answer, if format == ParseFormat::Json { Format::Json } else { Format::Text })
}

fn show(model: Understood<'_>, format: ParseFormat) -> String {
    match format {
        ParseFormat::Json => json::model_to_json(model.unit, model.program, model.sources) + "\n",
        ParseFormat::Ir => print::print(model.program),
        ParseFormat::Text => summary(model.program),
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
