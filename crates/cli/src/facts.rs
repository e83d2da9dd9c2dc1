//! `spinor facts`.

use crate::args::{FactsArgs, Format};
use crate::output::{self, Lines};
use engine::facts::ModelFacts;
use engine::{DiskOrInput, Stop};

/// Reads a model and writes what reductions know of it; returns the exit status.
pub fn run(args: &FactsArgs) -> u8 {
    let files = DiskOrInput::default();
    let answer = engine::parse::parse(&args.model.source(), &files, &Stop::never(), |model| {
        let facts = ModelFacts::new(model.program, model.sources);
        match args.format {
            Format::Json => output::json(&facts.json(), Lines::Several),
            Format::Text => facts.text(),
        }
    });
    output::answer(answer, args.format)
}
