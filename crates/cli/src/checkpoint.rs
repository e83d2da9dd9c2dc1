//! `spinor checkpoint`.

use crate::args::{CheckpointArgs, Format};
use crate::output::{self, Lines};
use engine::Answer;
use engine::checkpoint::told::tell;

/// Tells what is in a checkpoint; returns the exit status.
pub fn run(args: &CheckpointArgs) -> u8 {
    let told = match tell(&args.file) {
        Ok(told) => told,
        Err(failure) => {
            return output::write_notices(Answer::<()>::failed(failure), args.format).err().unwrap_or(2);
        }
    };
    match args.format {
        Format::Json => output::deliver_machine(&output::json(&told.json(), Lines::Several), 0),
        Format::Text => output::deliver(&told.text(), 0),
    }
}
