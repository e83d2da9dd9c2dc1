//! Properties: ltl formulas and PV's invariants.

use super::Lowerer;
use crate::ast::{self, BinaryOp, ExprKind, UnaryOp};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{Formula, Invariant, LtlProperty};

impl Lowerer<'_> {
    pub(super) fn ltl(&mut self, ltl: &ast::Ltl) {
        let name = match &ltl.name {
            Some(name) => name.name.to_string(),
            None => {
                self.n_ltl += 1;
                format!("ltl_{}", self.n_ltl - 1)
            }
        };
        if self.program.ltl.iter().any(|l| l.name == name) {
            let message = format!("the ltl property `{name}` is declared twice");
            let mut d = Diagnostic::new(Code::E0238, ltl.name.as_ref().map_or(ltl.span, |n| n.span), message);
            if let Some(first) = self.program.ltl.iter().find(|l| l.name == name) {
                d = d.label(first.span, "first declared here");
            }
            self.push(d.help("give one of them another name"));
            return;
        }
        self.in_claim = true;
        let formula = self.formula(&ltl.formula);
        self.in_claim = false;
        let text = self.sources.text(ltl.formula.span).to_string();
        self.program.ltl.push(LtlProperty { name, formula, text, span: ltl.span });
    }

    fn formula(&mut self, e: &ast::Expr) -> Formula {
        match &e.kind {
            ExprKind::Unary(op, a) => {
                let a = |s: &mut Self| Box::new(s.formula(a));
                match op {
                    UnaryOp::Not => Formula::Not(a(self)),
                    UnaryOp::Always => Formula::Always(a(self)),
                    UnaryOp::Eventually => Formula::Eventually(a(self)),
                    UnaryOp::Next => Formula::Next(a(self)),
                    UnaryOp::Neg | UnaryOp::BitNot => Formula::Prop(self.expr(e)),
                }
            }
            ExprKind::Binary(op, a, b) => {
                let make: fn(Box<Formula>, Box<Formula>) -> Formula = match op {
                    BinaryOp::And => Formula::And,
                    BinaryOp::Or => Formula::Or,
                    BinaryOp::Until => Formula::Until,
                    BinaryOp::WeakUntil => Formula::WeakUntil,
                    BinaryOp::Release => Formula::Release,
                    BinaryOp::Implies => Formula::Implies,
                    BinaryOp::Equiv => Formula::Equiv,
                    _ => return self.proposition(e, *op, a, b),
                };
                let a = Box::new(self.formula(a));
                make(a, Box::new(self.formula(b)))
            }
            _ => Formula::Prop(self.expr(e)),
        }
    }

    /// A comparison or a calculation. `[] x == 1` is `([] x) == 1` by the precedence of the operators, which
    /// nobody means (Spin makes a meaningless number of it): it is read as `[] (x == 1)`.
    fn proposition(&mut self, e: &ast::Expr, op: BinaryOp, a: &ast::Expr, b: &ast::Expr) -> Formula {
        let Some(meant) = inside_temporal(a, op, b) else { return Formula::Prop(self.expr(e)) };
        self.push(
            Diagnostic::new(Code::W0203, e.span, "the temporal operator is applied before this comparison")
                .help(
                    "it is read as if the comparison stood in parentheses, as in `[] (x == 1)`: write them",
                ),
        );
        self.formula(&meant)
    }

    pub(super) fn invariant(&mut self, invariant: &ast::Invariant) {
        if super::expr::ast_contains_run(&invariant.expr) {
            self.error(Code::E0117, invariant.expr.span, "`run` cannot be used in an invariant");
        }
        let expr = self.expr(&invariant.expr);
        let text = self.sources.text(invariant.expr.span).to_string();
        let span = invariant.name.span;
        self.program.invariants.push(Invariant { name: invariant.name.name.to_string(), expr, text, span });
    }
}

/// `t (a op b)` for `(t a) op b`, where `t` are temporal operators, possibly negated.
fn inside_temporal(a: &ast::Expr, op: BinaryOp, b: &ast::Expr) -> Option<ast::Expr> {
    let ExprKind::Unary(outer, inner) = &a.kind else { return None };
    let moved = match outer {
        UnaryOp::Always | UnaryOp::Eventually | UnaryOp::Next => inside_temporal(inner, op, b)
            .unwrap_or_else(|| ast::Expr {
                kind: ExprKind::Binary(op, inner.clone(), Box::new(b.clone())),
                span: inner.span.to(b.span),
            }),
        UnaryOp::Not => inside_temporal(inner, op, b)?,
        UnaryOp::Neg | UnaryOp::BitNot => return None,
    };
    Some(ast::Expr { kind: ExprKind::Unary(*outer, Box::new(moved)), span: a.span.to(b.span) })
}
