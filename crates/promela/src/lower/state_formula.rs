//! `ctl` and `mu` blocks: variables of fixpoints are bound and monotone, and a modality names what exists.

use super::Lowerer;
use crate::ast::{self, BinaryOp, ExprKind, StateOp, UnaryOp};
use crate::diagnostic::{Code, Diagnostic, nearest};
use crate::ir::{Quantifier, StateFormula, StateProperty, StepFilter};
use crate::source::Span;
use std::sync::Arc;

/// The largest number of a process.
const LAST_PID: u32 = 254;

/// A variable of a fixpoint around the place that is being lowered.
struct Bound {
    name: Arc<str>,
    number: u32,
    span: Span,
    /// The negations between the fixpoint and this place are odd in number.
    negated: bool,
    /// The place is inside of `<->`, which is monotone in nothing.
    equated: bool,
}

/// The variables that are bound where a formula is lowered.
#[derive(Default)]
struct Scope {
    bound: Vec<Bound>,
    n_variables: u32,
}

impl Lowerer<'_> {
    pub(super) fn state_property(&mut self, property: &ast::StateFormula) {
        let (logic, word) = (property.logic, property.logic.word());
        let same = |p: &&StateProperty| p.logic == logic;
        let name = match &property.name {
            Some(name) => name.name.to_string(),
            None => {
                let unnamed = |p: &&StateProperty| same(p) && p.name.starts_with(&format!("{word}_"));
                format!("{word}_{}", self.program.state_properties.iter().filter(unnamed).count())
            }
        };
        let first = self.program.state_properties.iter().find(|p| same(p) && p.name == name);
        if let Some(first) = first {
            let message = format!("the {word} property `{name}` is declared twice");
            let span = property.name.as_ref().map_or(property.span, |n| n.span);
            let d = Diagnostic::new(Code::E0238, span, message).label(first.span, "first declared here");
            self.push(d.help("give one of them another name"));
            return;
        }
        self.in_claim = true;
        let formula = self.state_formula(&property.formula, &mut Scope::default());
        self.in_claim = false;
        let text = self.sources.text(property.formula.span).to_string();
        let span = property.span;
        self.program.state_properties.push(StateProperty { logic, name, formula, text, span });
    }

    fn state_formula(&mut self, e: &ast::Expr, scope: &mut Scope) -> StateFormula {
        match &e.kind {
            ExprKind::Unary(UnaryOp::Not, a) => {
                StateFormula::Not(Box::new(scope.negated(|scope| self.state_formula(a, scope))))
            }
            ExprKind::Binary(BinaryOp::And, a, b) => {
                let a = Box::new(self.state_formula(a, scope));
                StateFormula::And(a, Box::new(self.state_formula(b, scope)))
            }
            ExprKind::Binary(BinaryOp::Or, a, b) => {
                let a = Box::new(self.state_formula(a, scope));
                StateFormula::Or(a, Box::new(self.state_formula(b, scope)))
            }
            ExprKind::Binary(BinaryOp::Implies, a, b) => {
                let a = Box::new(scope.negated(|scope| self.state_formula(a, scope)));
                StateFormula::Implies(a, Box::new(self.state_formula(b, scope)))
            }
            ExprKind::Binary(BinaryOp::Equiv, a, b) => scope.equated(|scope| {
                let a = Box::new(self.state_formula(a, scope));
                StateFormula::Equiv(a, Box::new(self.state_formula(b, scope)))
            }),
            ExprKind::State(op) => self.state_operator(op, scope),
            ExprKind::Var(var) if var.parts.len() == 1 && var.parts[0].index.is_none() => {
                self.name_in_formula(e, &var.parts[0].name, scope)
            }
            _ => StateFormula::Prop(self.expr(e)),
        }
    }

    fn state_operator(&mut self, op: &StateOp, scope: &mut Scope) -> StateFormula {
        let quantifier = |all: bool| if all { Quantifier::All } else { Quantifier::Some };
        match op {
            StateOp::Path { all, op, operands } => {
                let operands = operands.iter().map(|operand| self.state_formula(operand, scope)).collect();
                StateFormula::Path(quantifier(*all), *op, operands)
            }
            StateOp::Modal { all, steps, body } => {
                let filter = steps.as_ref().map(|steps| self.step_filter(steps)).unwrap_or_default();
                StateFormula::Modal(quantifier(*all), filter, Box::new(self.state_formula(body, scope)))
            }
            StateOp::Fixpoint { greatest, variable, body } => {
                let (name, span, number) = (variable.name.clone(), variable.span, scope.n_variables);
                scope.n_variables += 1;
                scope.bound.push(Bound { name, number, span, negated: false, equated: false });
                let body = Box::new(self.state_formula(body, scope));
                scope.bound.pop();
                match greatest {
                    true => StateFormula::Nu(number, body),
                    false => StateFormula::Mu(number, body),
                }
            }
        }
    }

    /// A name: a variable of a fixpoint around it, a variable or constant of the model, `deadlock` or
    /// `stuck`.
    fn name_in_formula(&mut self, e: &ast::Expr, name: &ast::Ident, scope: &Scope) -> StateFormula {
        if let Some(bound) = scope.bound.iter().rev().find(|bound| bound.name == name.name) {
            let variable = StateFormula::Variable(bound.number);
            if bound.negated || bound.equated {
                let how = if bound.equated { "inside `<->`" } else { "under an odd number of negations" };
                let message = format!("the fixpoint variable `{}` stands {how}", name.name);
                let d = Diagnostic::new(Code::E0244, name.span, message).label(bound.span, "bound here");
                self.push(
                    d.help("a fixpoint exists if its variable stands under an even number of negations"),
                );
            }
            return variable;
        }
        let declared = self.constants.contains_key(&name.name) || self.find(&name.name).is_some();
        match &*name.name {
            "deadlock" if !declared => StateFormula::Deadlock,
            "stuck" if !declared => StateFormula::Stuck,
            word if !declared && !word.starts_with('_') && !self.doubted(word) => {
                self.unbound(name, scope).unwrap_or_else(|| StateFormula::Prop(self.expr(e)))
            }
            _ => StateFormula::Prop(self.expr(e)),
        }
    }

    /// Reports a name that is not declared where a variable of a fixpoint, or a word of formulas, may have
    /// been meant.
    fn unbound(&mut self, name: &ast::Ident, scope: &Scope) -> Option<StateFormula> {
        let bound = || scope.bound.iter().map(|bound| &*bound.name);
        let message = format!("`{}` is neither declared nor bound by a fixpoint here", name.name);
        let d = Diagnostic::new(Code::E0221, name.span, message);
        let d = match nearest(&name.name, bound().chain(["deadlock", "stuck"])) {
            Some(meant) => d.meant(&name.name, meant),
            None if scope.bound.is_empty() => return None,
            None => {
                let names: Vec<String> = bound().map(|name| format!("`{name}`")).collect();
                d.help(format!("the fixpoints around it bind {}", names.join(", ")))
            }
        };
        self.push(d);
        Some(StateFormula::Stuck)
    }

    fn step_filter(&mut self, steps: &ast::StepFilter) -> StepFilter {
        let proctype = steps.proctype.as_ref().and_then(|name| self.remote_proctype(name));
        let pid = steps.pid.as_ref().and_then(|pid| self.process_number(pid));
        let location = match (&steps.proctype, &steps.label) {
            (Some(proctype), Some(label)) => self.remote_label(proctype, None, label),
            _ => None,
        };
        let at = match location {
            Some(crate::ir::ExprKind::RemoteLabel { location, .. }) => Some(location),
            _ => None,
        };
        StepFilter { proctype, pid, at }
    }

    /// The number of a process. One that no process has would make a formula true or false by itself.
    fn process_number(&mut self, pid: &ast::Expr) -> Option<u32> {
        let number = self.constant(pid)?;
        let found = u32::try_from(number).ok().filter(|&pid| pid <= LAST_PID);
        if found.is_none() {
            let message = format!("no process has the number {number}");
            let help = format!("processes are numbered from 0 to {LAST_PID}");
            self.push(Diagnostic::new(Code::E0245, pid.span, message).help(help));
        }
        found
    }
}

impl Scope {
    fn negated<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.bound.iter_mut().for_each(|bound| bound.negated ^= true);
        let result = inside(self);
        self.bound.iter_mut().for_each(|bound| bound.negated ^= true);
        result
    }

    fn equated<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        let outside: Vec<bool> = self.bound.iter().map(|bound| bound.equated).collect();
        self.bound.iter_mut().for_each(|bound| bound.equated = true);
        let result = inside(self);
        self.bound.iter_mut().zip(outside).for_each(|(bound, equated)| bound.equated = equated);
        result
    }
}
