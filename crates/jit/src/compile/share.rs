//! Values that several edges of a location look at first are read once.
//!
//! Many models keep their control in variables: a loop whose guards all begin with the same variable. Reading
//! it before the first edge is right even where that shows an error: then the process is left to the
//! reference machine. A value that was read so holds for the state that is expanded, which does not change,
//! and not for copies of it.

use cranelift_codegen::ir::Value;
use promela::ir::{Action, EdgeId, Expr, ExprKind, Place, Proctype};

use super::expr::Frame;
use super::process::Gen;

impl<'p> Gen<'p> {
    /// Reads what two or more of `edges` look at first.
    pub fn share(&mut self, f: &Frame, edges: &[EdgeId]) {
        self.shared.clear();
        let mut first = Vec::new();
        looked_at_first(self.definition(), edges, true, &mut first);
        for (i, &place) in first.iter().enumerate() {
            let again = first[i + 1..].iter().any(|other| same_place(place, other));
            if again && self.shared_value(f, place).is_none() {
                let value = self.load(f, place);
                self.shared.push((place, value));
            }
        }
    }

    /// The value of a place, when it was read before the edges.
    pub fn shared_value(&self, f: &Frame, place: &Place) -> Option<Value> {
        if f.state != self.state {
            return None;
        }
        self.shared.iter().find(|(known, _)| same_place(known, place)).map(|&(_, value)| value)
    }
}

/// The places that the guards of edges look at first.
fn looked_at_first<'p>(proctype: &'p Proctype, edges: &[EdgeId], outside: bool, out: &mut Vec<&'p Place>) {
    for &id in edges {
        match &proctype.edge(id).action {
            Action::Guard(expr) => out.extend(first_place(expr)),
            Action::DStep { entry, guards, .. } if outside => {
                let inner = &proctype.location(guards.unwrap_or(*entry)).edges;
                looked_at_first(proctype, inner, false, out);
            }
            _ => {}
        }
    }
}

/// The place that evaluating an expression reads first.
fn first_place(expr: &Expr) -> Option<&Place> {
    match &expr.kind {
        ExprKind::Load(place) => simple(place).then_some(place),
        ExprKind::Unary(_, operand) => first_place(operand),
        ExprKind::Binary(_, left, right) => match left.kind {
            ExprKind::Const(_) => first_place(right),
            _ => first_place(left),
        },
        _ => None,
    }
}

/// Whether the indices of a place are such that [`same`] can compare them.
fn simple(place: &Place) -> bool {
    place.indices.iter().all(|index| same(&index.value, &index.value))
}

fn same_place(a: &Place, b: &Place) -> bool {
    a.base == b.base
        && a.cell == b.cell
        && a.indices.len() == b.indices.len()
        && a.indices
            .iter()
            .zip(&b.indices)
            .all(|(x, y)| x.len == y.len && x.stride == y.stride && same(&x.value, &y.value))
}

/// Whether two expressions have the same value, wherever they were written. False when that is not obvious.
fn same(a: &Expr, b: &Expr) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Const(x), ExprKind::Const(y)) => x == y,
        (ExprKind::Pid, ExprKind::Pid) => true,
        (ExprKind::Load(x), ExprKind::Load(y)) => same_place(x, y),
        (ExprKind::Unary(op, x), ExprKind::Unary(other, y)) => op == other && same(x, y),
        (ExprKind::Binary(op, x1, x2), ExprKind::Binary(other, y1, y2)) => {
            op == other && same(x1, y1) && same(x2, y2)
        }
        _ => false,
    }
}
