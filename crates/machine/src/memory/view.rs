//! What a process sees: its own youngest store to a cell, else memory.

use super::Model;
use super::layout::{Buffer, Cells};
use super::make::{binary, change, change_place, cond, constant, is, load};
use promela::ir::{BinaryOp, Expr, ExprKind, Index, Place};

/// How loads are made where the buffer may hold stores to certain variables.
pub(super) struct View<'a> {
    pub buffer: &'a Buffer,
    pub cells: &'a Cells,
    /// Which variables may be in the buffer.
    pub held: &'a [bool],
}

impl View<'_> {
    /// Makes every load inside an expression one of the view.
    pub fn expr(&self, e: &mut Expr) {
        change(e, &mut |e| self.one(e));
    }

    /// Makes the loads inside the indices of a place loads of the view.
    pub fn indices(&self, place: &mut Place) {
        change_place(place, &mut |e| self.one(e));
    }

    /// One expression, whose parts are done.
    pub fn one(&self, e: &mut Expr) {
        let ExprKind::Load(place) = &e.kind else { return };
        let Some(variable) = self.cells.of(place).filter(|&variable| self.held[variable]) else { return };
        let seen = match self.buffer.model {
            Model::Tso => self.tso(place),
            Model::Pso => self.pso(variable, place),
        };
        *e = Expr { span: e.span, ..seen };
    }

    /// The youngest entry comes first.
    fn tso(&self, place: &Place) -> Expr {
        (0..self.buffer.bound).fold(load(place.clone()), |older, entry| {
            let here = binary(BinaryOp::Eq, load(self.buffer.number(entry)), number(place));
            let here = within(place).fold(here, |here, within| binary(BinaryOp::And, within, here));
            cond(here, load(self.buffer.value(entry)), older)
        })
    }

    fn pso(&self, variable: usize, place: &Place) -> Expr {
        let globals = &self.cells.globals;
        let count = self.buffer.count_of(variable, globals, place);
        let value = |entry| load(self.buffer.value_of(variable, globals, place, constant(entry)));
        let bound = self.buffer.bound as i32;
        let held = (0..bound - 1)
            .rev()
            .fold(value(bound - 1), |older, entry| cond(is(count.clone(), entry + 1), value(entry), older));
        cond(is(count, 0), load(place.clone()), held)
    }
}

/// The number by which TSO's buffers know a cell of memory.
pub(super) fn number(place: &Place) -> Expr {
    let first = constant(place.cell as i32 + 1);
    place.indices.iter().fold(first, |sum, Index { value, stride, .. }| {
        let step = match stride {
            1 => value.clone(),
            _ => binary(BinaryOp::Mul, value.clone(), constant(*stride as i32)),
        };
        binary(BinaryOp::Add, sum, step)
    })
}

/// The same number, where an index that is out of bounds is an error: then the place itself is loaded.
pub(super) fn checked_number(place: &Place) -> Expr {
    let number = number(place);
    match within(place).reduce(|one, other| binary(BinaryOp::And, one, other)) {
        Some(within) => cond(within, number, load(place.clone())),
        None => number,
    }
}

/// That the indices are within their bounds: an entry for another cell must not be taken for this one.
fn within(place: &Place) -> impl Iterator<Item = Expr> + '_ {
    place.indices.iter().map(|index| {
        let low = binary(BinaryOp::Ge, index.value.clone(), constant(0));
        let high = binary(BinaryOp::Lt, index.value.clone(), constant(index.len as i32));
        binary(BinaryOp::And, low, high)
    })
}
