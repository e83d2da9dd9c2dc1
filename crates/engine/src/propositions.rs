//! Numbers for the propositions of formulas of every logic, and parts of formulas as one expression.
//!
//! A proposition is a Promela expression; expressions that print alike share a number. Where a part of a
//! formula has no temporal operator, it can be one proposition: then `&&` and `||` shield their right operands
//! as Promela's do.

use promela::ir::{BinaryOp, Expr, ExprKind, UnaryOp, print::print_expr};
use std::collections::HashMap;

/// Numbered expressions, in the order in which they were met.
#[derive(Clone, Debug, Default)]
pub struct Propositions {
    numbers: HashMap<String, u32>,
    /// By number.
    pub list: Vec<Expr>,
}

impl Propositions {
    /// The number of an expression, and whether it is a new one.
    pub fn number(&mut self, expr: &Expr) -> (u32, bool) {
        let new = self.list.len() as u32;
        let number = *self.numbers.entry(print_expr(expr)).or_insert(new);
        if number == new {
            self.list.push(expr.clone());
        }
        (number, number == new)
    }
}

/// The opposite of a condition.
pub fn not(a: Expr) -> Expr {
    let span = a.span;
    Expr { kind: ExprKind::Unary(UnaryOp::Not, Box::new(a)), span }
}

/// Two conditions with an operator between them.
fn join(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    let span = a.span.to(b.span);
    Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), span }
}

/// Both.
pub fn and(a: Expr, b: Expr) -> Expr {
    join(BinaryOp::And, a, b)
}

/// One at least.
pub fn or(a: Expr, b: Expr) -> Expr {
    join(BinaryOp::Or, a, b)
}

/// The second, where the first holds.
pub fn implies(a: Expr, b: Expr) -> Expr {
    or(not(a), b)
}

/// Both or neither, whatever their values are.
pub fn equivalent(a: Expr, b: Expr) -> Expr {
    join(BinaryOp::Eq, not(a), not(b))
}
