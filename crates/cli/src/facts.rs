//! `spinor facts`.

use crate::args::{FactsArgs, FactsFormat};
use crate::output::{self, Lines};
use crate::signal::Signals;
use engine::{Answer, DiskOrInput};

/// Reads a model and writes what reductions know of it; returns the exit status.
pub fn run(args: &FactsArgs) -> u8 {
    let (signals, files) = (Signals::listen(), DiskOrInput::default());
    let source = match args.model.source() {
        Ok(source) => source,
        Err(failure) => return output::answer(Answer::failed(failure), args.format.of_notices()),
    };
    let answer = engine::facts::facts(&source, &files, signals.stop(), |facts| match args.format {
        FactsFormat::Json => output::json(&facts.json(), Lines::Several),
        FactsFormat::Matrix => facts.matrix(),
        FactsFormat::Text => facts.text(),
    });
    signals.status(output::answer(answer, args.format.of_notices()))
}
