//! A counterexample as a trail of Spin, so that `spin -t` follows the run.
//!
//! Claims are left out: ours are not the automata that Spin makes of the same formulas, and `spin -t` follows
//! the steps of the processes without one.

use super::lines::{self, Step};
use crate::failure::Failure;
use crate::replay::Replayed;
use promela::ir::Program;
use system::{Move, NOBODY};

/// The text of the trail.
pub fn spin_trail(replayed: &Replayed<'_>) -> Result<String, Failure> {
    let options = &replayed.session.source.options;
    if options.dialect == "pv" || options.memory.is_some() {
        let what = if options.memory.is_some() { "store buffers are" } else { "PV's dialect is" };
        return Err(Failure::refused_with(
            format!("Spin cannot follow this run: {what} not in Spin's language"),
            "use --format json, which is for any tool",
        ));
    }
    let program = replayed.session.program()?;
    let (mut steps, mut cycle) = (Vec::new(), None);
    for number in 1..=replayed.run.len() {
        if replayed.cycle == Some(number - 1) {
            cycle = Some(steps.len());
        }
        for made in replayed.run.moves(number).iter().filter(|made| made.pid != NOBODY) {
            let statement = statement(program, made).ok_or_else(|| {
                Failure::Internal(format!("the statement of step {number} has no number of Spin's"))
            })?;
            steps.push(Step { pid: made.pid, statement, line: 0 });
        }
    }
    if replayed.cycle == Some(replayed.run.len()) {
        cycle = Some(steps.len());
    }
    Ok(lines::write(&steps, cycle))
}

/// Spin's number of the statement that a process executes.
pub(super) fn statement(program: &Program, made: &Move) -> Option<u32> {
    let proctype = program.proctypes.iter().find(|proctype| proctype.name == made.proctype)?;
    proctype.edges.get(made.edge as usize)?.statement
}
