//! Store buffers in words: what waits in the buffer of a process, and what a step of the memory does. The
//! machine itself knows nothing of them ([`crate::memory`]).

use promela::ir::{Action, Edge, Order, Place, Proctype, Type, Var};
use system::Value;

use super::Interp;
use super::eval::Mode;
use super::state::State;
use crate::memory::{CELL, COUNT, VALUE};

impl Interp {
    /// What a step of the memory does: `flag[0] := 1 reaches memory`.
    pub(super) fn drain_text(&self, state: &State, pid: usize, proctype: &Proctype, edge: &Edge) -> String {
        let text = self.store_of(proctype, edge).and_then(|(place, value)| {
            let name = self.cell_name(place.cell, &self.program.globals)?;
            let value = self.view(state, pid, Mode::default()).eval(value).ok()?;
            let value = self.scalar(state, place.scalar, place.scalar.truncate(value));
            Some(format!("{name} := {value} reaches memory"))
        });
        text.unwrap_or_else(|| edge.text.clone())
    }

    /// The store that a drain makes: the statement behind its condition.
    fn store_of<'p>(
        &self,
        proctype: &'p Proctype,
        edge: &Edge,
    ) -> Option<(&'p Place, &'p promela::ir::Expr)> {
        let Action::DStep { entry, .. } = edge.action else { return None };
        let first = proctype.edge(*proctype.location(entry).edges.first()?);
        let second = proctype.edge(*proctype.location(first.to).edges.first()?);
        match &second.action {
            Action::Assign(place, value) => Some((place, value)),
            _ => None,
        }
    }

    /// The entries of a process's buffer, oldest first; nothing where a proctype has none.
    pub(super) fn store_buffer(&self, state: &State, vars: &[Var], cells: &[i32]) -> Option<Value> {
        vars.iter().find(|var| var.name == COUNT)?;
        let of = |name: &str| vars.iter().find(|var| var.name == name);
        let at = |var: &Var, i: u32| cells.get((var.cell + i) as usize).copied().unwrap_or(0);
        let mut entries = Vec::new();
        if let (Some(numbers), Some(values)) = (of(CELL), of(VALUE)) {
            let Type::Array(_, bound) = numbers.ty else { return None };
            let entry = |i| (at(numbers, i), at(values, i));
            let held = (0..bound).map(entry).filter(|(number, _)| *number > 0);
            entries.extend(held.map(|(number, value)| self.entry(state, number as u32 - 1, value)));
            return Some(Value::Array(entries));
        }
        for global in &self.program.globals {
            let counts = of(&format!("{COUNT}_{}", global.name));
            let values = of(&format!("{VALUE}_{}", global.name));
            let (Some(counts), Some(values)) = (counts, values) else { continue };
            let size = self.program.cells_of(&global.ty);
            for cell in 0..size {
                let held = (0..at(counts, cell) as u32).map(|i| at(values, i * size + cell));
                entries.extend(held.map(|value| self.entry(state, global.cell + cell, value)));
            }
        }
        Some(Value::Array(entries))
    }

    fn entry(&self, state: &State, cell: u32, value: i32) -> Value {
        let globals = &self.program.globals;
        let scalar = self.cell_scalar(cell).unwrap_or(promela::ir::Scalar::Int);
        let name = self.cell_name(cell, globals).unwrap_or_default();
        Value::Symbol(format!("{name} := {}", self.scalar(state, scalar, value)))
    }

    fn cell_scalar(&self, cell: u32) -> Option<promela::ir::Scalar> {
        let mut globals = self.program.globals.iter();
        let var = globals.rfind(|var| var.cell <= cell)?;
        let mut scalars = Vec::new();
        self.program.scalars_of(&var.ty, &mut scalars);
        scalars.get((cell - var.cell) as usize).copied()
    }
}

/// Whether a local variable is part of a buffer.
pub(super) fn is_buffer(var: &Var) -> bool {
    var.name == COUNT || var.name.starts_with(&format!("{COUNT}_"))
}

/// Whether an edge is one that the buffers added.
pub(super) fn is_added(edge: &Edge) -> bool {
    edge.order.is_drain() || edge.order == Order::Wait
}
