//! Words for processes, cells, channels and messages, as one process sees them.

use promela::ir::{ChanType, RecvArg, Var};
use system::Value;
use system::blocked::Who;
use system::explain::message;

use super::super::Interp;
use super::super::eval::View;
use super::super::state::State;

impl Interp {
    /// A process by name and number.
    pub(in super::super) fn who(&self, state: &State, pid: usize) -> Who {
        let process = state.processes.get(pid);
        let name = process.map(|process| self.program.proctype(process.proctype).name.clone());
        Who { process: name.unwrap_or_default(), pid: pid as u32 }
    }

    /// The full name of a cell.
    pub(super) fn name(&self, vars: &[Var], cell: usize) -> String {
        let name = u32::try_from(cell).ok().and_then(|cell| self.cell_name(cell, vars));
        name.unwrap_or_else(|| format!("cell {cell}"))
    }

    /// What a channel is called; a local one of the viewer itself is not qualified.
    pub(super) fn channel_name(&self, state: &State, index: usize, viewer: Option<usize>) -> String {
        let name = self.channel_ref(state, index).name;
        let own = viewer.map(|pid| format!("{}:", self.who(state, pid)));
        match own.and_then(|own| name.strip_prefix(&own).map(str::to_string)) {
            Some(own) => own,
            None => name,
        }
    }

    /// The messages of a channel.
    pub(super) fn messages(&self, state: &State, index: usize) -> Vec<String> {
        (0..state.channels[index].len).map(|slot| message(&self.message(state, index, slot))).collect()
    }

    /// A message with these fields.
    pub(super) fn sent(&self, state: &State, ty: &ChanType, fields: &[i32]) -> String {
        let truncated = fields.iter().zip(&ty.fields);
        let fields = truncated.map(|(&value, &scalar)| self.scalar(state, scalar, scalar.truncate(value)));
        message(&fields.collect::<Vec<Value>>())
    }

    /// What a receive takes: a value where one must match, `_` where any does.
    pub(super) fn pattern(&self, view: &View<'_>, ty: &ChanType, args: &[RecvArg]) -> String {
        let one = |(i, arg): (usize, &RecvArg)| match arg {
            RecvArg::Match(expr) => match (view.eval(expr), ty.fields.get(i)) {
                (Ok(value), Some(&scalar)) => self.scalar(view.state, scalar, value),
                (Ok(value), None) => Value::Int(i64::from(value)),
                (Err(_), _) => Value::Symbol("?".to_string()),
            },
            RecvArg::Store(_) | RecvArg::Ignore => Value::Symbol("_".to_string()),
        };
        let fields: Vec<Value> = args.iter().enumerate().map(one).collect();
        // A field that may be anything is no name of a message.
        match &fields[..] {
            [Value::Symbol(any), _, ..] if any == "_" => {
                format!("({})", fields.iter().map(Value::to_string).collect::<Vec<_>>().join(","))
            }
            _ => message(&fields),
        }
    }
}
