//! Steps of the memory: the oldest entry of a buffer reaches its cell.

use super::Model;
use super::automaton::Automaton;
use super::layout::{Buffer, Cells};
use super::make::{binary, constant, is, load};
use promela::ir::{Action, Base, BinaryOp, Expr, LocId, Order, Place};
use promela::source::Span;

/// The steps by which one cell is drained, at locations of one proctype.
pub(super) struct Drain<'a> {
    pub buffer: &'a Buffer,
    pub cells: &'a Cells,
    /// The buffered variable, and its cell.
    pub variable: usize,
    pub cell: u32,
}

impl Drain<'_> {
    /// Adds the step to a location, or two where it is to be told whether the buffer was full.
    pub fn add(&self, automaton: &mut Automaton<'_>, at: LocId, tell_full: bool) -> Vec<promela::ir::EdgeId> {
        let full = binary(BinaryOp::Eq, load(self.held_by()), constant(self.buffer.bound as i32));
        let room = binary(BinaryOp::Lt, load(self.held_by()), constant(self.buffer.bound as i32));
        let both = |more| binary(BinaryOp::And, self.oldest(), more);
        let number = match self.buffer.model {
            Model::Tso => 0,
            Model::Pso => self.cells.rank(self.cell),
        };
        match tell_full {
            false => vec![self.step(automaton, at, self.oldest(), Order::Drain(number))],
            true if self.buffer.bound == 1 => {
                vec![self.step(automaton, at, self.oldest(), Order::FullDrain(number))]
            }
            true => vec![
                self.step(automaton, at, both(full), Order::FullDrain(number)),
                self.step(automaton, at, both(room), Order::Drain(number)),
            ],
        }
    }

    fn step(
        &self,
        automaton: &mut Automaton<'_>,
        at: LocId,
        when: Expr,
        order: Order,
    ) -> promela::ir::EdgeId {
        let mut actions = vec![Action::Guard(when)];
        actions.extend(self.effect());
        let text = format!("{} reaches memory", self.cells.name(self.cell));
        automaton.d_step(actions, at, order, (&text, self.cells.globals[self.variable].span))
    }

    fn memory(&self) -> Place {
        Place {
            base: Base::Global,
            cell: self.cell,
            indices: Vec::new(),
            scalar: self.cells.scalars[self.cell as usize],
            span: Span::NONE,
        }
    }

    /// How many entries the buffer has in which this cell waits.
    fn held_by(&self) -> Place {
        match self.buffer.model {
            Model::Tso => self.buffer.count.clone(),
            Model::Pso => self.buffer.count_of(self.variable, &self.cells.globals, &self.memory()),
        }
    }

    /// The oldest entry of the buffer is one for this cell.
    fn oldest(&self) -> Expr {
        match self.buffer.model {
            Model::Tso => is(self.buffer.number(0), self.cell as i32 + 1),
            Model::Pso => binary(BinaryOp::Gt, load(self.held_by()), constant(0)),
        }
    }

    /// The value goes to memory, and the other entries move up.
    fn effect(&self) -> Vec<Action> {
        let Buffer { bound, ref count, .. } = *self.buffer;
        let mut arrays: Vec<Box<dyn Fn(u32) -> Place + '_>> = Vec::new();
        match self.buffer.model {
            Model::Tso => {
                arrays.push(Box::new(|entry| self.buffer.value(entry)));
                arrays.push(Box::new(|entry| self.buffer.number(entry)));
            }
            Model::Pso => arrays.push(Box::new(|entry| {
                let globals = &self.cells.globals;
                self.buffer.value_of(self.variable, globals, &self.memory(), constant(entry as i32))
            })),
        }
        let mut actions = vec![Action::Assign(self.memory(), load(arrays[0](0)))];
        for array in &arrays {
            for entry in 1..bound {
                actions.push(Action::Assign(array(entry - 1), load(array(entry))));
            }
            actions.push(Action::Assign(array(bound - 1), constant(0)));
        }
        let less = |place: Place| {
            let one_less = binary(BinaryOp::Sub, load(place.clone()), constant(1));
            Action::Assign(place, one_less)
        };
        if self.buffer.model == Model::Pso {
            actions.push(less(self.held_by()));
        }
        actions.push(less(count.clone()));
        actions
    }
}
