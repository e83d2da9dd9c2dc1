//! Properties: ltl formulas and PV's invariants.

use super::Lowerer;
use crate::ast::{self, BinaryOp, ExprKind, UnaryOp};
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
            self.error("E0238", ltl.span, format!("the ltl property `{name}` is declared twice"));
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
                    _ => return Formula::Prop(self.expr(e)),
                };
                let a = Box::new(self.formula(a));
                make(a, Box::new(self.formula(b)))
            }
            _ => Formula::Prop(self.expr(e)),
        }
    }

    pub(super) fn invariant(&mut self, invariant: &ast::Invariant) {
        if super::expr::ast_contains_run(&invariant.expr) {
            self.error("E0239", invariant.expr.span, "`run` cannot be used in an invariant");
        }
        let expr = self.expr(&invariant.expr);
        let text = self.sources.text(invariant.expr.span).to_string();
        let span = invariant.name.span;
        self.program.invariants.push(Invariant { name: invariant.name.name.to_string(), expr, text, span });
    }
}
