//! `spinor explain`.

use crate::args::{ExplainArgs, Format};
use crate::output;
use engine::{Answer, explain};

/// Writes what a code means, or the list of all codes; returns the exit status.
pub fn run(args: &ExplainArgs) -> u8 {
    let result = match &args.code {
        Some(code) => explain::explain(code),
        None => Ok(explain::list()),
    };
    output::answer(Answer { notices: Vec::new(), result }, Format::Text)
}
