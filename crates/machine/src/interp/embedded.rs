//! Embedded C: calls of the compiled pieces that are attached to the program.
//!
//! C sees the globals and the cells of the process that executes, with what `c_state` and `c_track` keep
//! there, and gives them back changed; what it changes of them is truncated like any value that is stored. A
//! `c_expr` changes nothing. What a call cannot finish is a run-time error.

use promela::ir::CContext;
use promela::source::Span;

use super::eval::View;
use super::fault::{Outcome, internal, runtime};
use super::step::Step;

impl View<'_> {
    /// The value of a `c_expr`.
    pub(super) fn value_of_c(&self, piece: u32, span: Span) -> Outcome<i32> {
        let Some(code) = &self.program.embedded.code.0 else { return missing(span) };
        let locals = match self.pid.and_then(|pid| self.state.processes.get(pid)) {
            Some(process) => {
                let n_cells = self.proctype_of(process).n_cells as usize;
                &self.state.locals[process.first_cell..process.first_cell + n_cells]
            }
            None => &[],
        };
        match code.value(piece, self.context_of_c(), &self.state.globals, locals) {
            Ok(value) => Ok(value),
            Err(why) => runtime(span, why),
        }
    }

    fn context_of_c(&self) -> CContext {
        let process = self.pid.and_then(|pid| Some((self.state.processes.get(pid)?.proctype, pid as u32)));
        CContext {
            process,
            n_processes: self.state.processes.len() as u32,
            n_channels: self.state.channels.len() as u32,
            last: u32::from(self.state.last),
        }
    }
}

impl Step<'_> {
    /// Executes a `c_code`.
    pub(super) fn execute_c(&mut self, pid: usize, piece: u32, span: Span) -> Outcome<()> {
        let interp = self.interp;
        let Some(code) = &interp.program.embedded.code.0 else { return missing(span) };
        let context = self.view(pid, None).context_of_c();
        let process = self.state.processes[pid];
        let scalars = &interp.layout.processes[process.proctype.index()].scalars;
        let own = process.first_cell..process.first_cell + scalars.len();
        let locals = &mut self.state.locals[own.clone()];
        if let Err(why) = code.execute(piece, context, &mut self.state.globals, locals) {
            return runtime(span, why);
        }
        let globals = self.state.globals.iter_mut().zip(&interp.layout.globals);
        let locals = self.state.locals[own].iter_mut().zip(scalars);
        globals.chain(locals).for_each(|(cell, scalar)| *cell = scalar.truncate(*cell));
        Ok(())
    }
}

fn missing<T>(span: Span) -> Outcome<T> {
    internal(span, "embedded C that is not compiled")
}
