//! `spinor facts`.

use crate::args::{FactsArgs, FactsFormat};
use crate::output::{self, Lines};
use crate::signal::Signals;
use engine::DiskOrInput;

/// Reads a model and writes what reductions know of it; returns the exit status.
pub fn run(args: &FactsArgs) -> u8 {
    let (signals, files) = (Signals::listen(), DiskOrInput::default());
    let answer =
        engine::facts::facts(&args.model.source(), &files, signals.stop(), |facts| match args.format {
            FactsFormat::Json => output::json(&facts.json(), Lines::Several),
            FactsFormat::Matrix => facts.matrix(),
            FactsFormat::Text => facts.text(),
        });
    signals.status(output::answer(answer, args.format.of_notices()))
}
