//! `spinor ltl`.

use crate::args::{AutomatonFormat, Format, LtlArgs};
use crate::output;
use crate::signal::Signals;
use engine::ltl::{LtlFormat, translate};

/// Writes the automaton of a formula; returns the exit status.
pub fn run(args: &LtlArgs) -> u8 {
    let (format, notices) = match args.format {
        AutomatonFormat::Never => (LtlFormat::Never, Format::Text),
        AutomatonFormat::Hoa => (LtlFormat::Hoa, Format::Text),
        AutomatonFormat::Dot => (LtlFormat::Dot, Format::Text),
        AutomatonFormat::Json => (LtlFormat::Json, Format::Json),
    };
    let signals = Signals::listen();
    let answer = translate(&args.formula, format, args.generalised, signals.stop());
    signals.status(output::answer(answer, notices))
}
