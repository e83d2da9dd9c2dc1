//! `spinor graph`.

use crate::args::{GraphArgs, GraphFormat};
use crate::output;
use crate::quiet::Quiet;
use crate::signal::Signals;
use engine::state_graph::{MadeGraph, state_graph};
use engine::{Answer, DiskOrInput};
use std::io::{BufWriter, Write};

/// Explores a model and writes its graph to standard output; returns the exit status.
pub fn run(args: &GraphArgs) -> u8 {
    let (signals, files) = (Signals::listen(), DiskOrInput::default());
    let format = args.format.of_notices();
    let options = match args.options() {
        Ok(options) => options,
        Err(failure) => {
            return output::write_notices(Answer::<()>::failed(failure), format).err().unwrap_or(2);
        }
    };
    let answer = state_graph(&options, &files, signals.stop(), &mut Quiet::new(), |made| written(args, made));
    signals.status(output::write_notices(answer, format).unwrap_or_else(|status| status))
}

/// Writes the graph, and tells on standard error how large it is.
fn written(args: &GraphArgs, made: &MadeGraph) -> u8 {
    let mut output = output::standard();
    output.write_by(|to| {
        let mut to = BufWriter::with_capacity(1 << 16, to);
        match args.format {
            GraphFormat::Aut => engine::graph_write::aldebaran(&made.lts, &mut to)?,
            GraphFormat::Dot => engine::graph_write::graphviz(&made.lts, &mut to)?,
            GraphFormat::Json => engine::graph_write::json(&made.lts, &mut to)?,
        }
        to.flush()
    });
    output::err(&made.summary());
    output.finish(0)
}
