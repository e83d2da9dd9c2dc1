//! A comparison whose outcome the types decide: `x >= 0` for a byte, `x == 300`, a loop that counts past its
//! variable.

use super::value::{constant, range, scalar_name, scalar_range};
use super::{Findings, Model};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{BinaryOp, Expr, ExprKind, ProctypeId, visit};

const CODE: Code = Code::W0208;
const ENDLESS: Code = Code::W0310;

pub fn lint(model: &Model, findings: &mut Findings) {
    visit::walk_program(model.program, |owner, e| comparison(model, owner, e, findings));
}

fn comparison(model: &Model, owner: Option<ProctypeId>, e: &Expr, findings: &mut Findings) {
    let ExprKind::Binary(op, a, b) = &e.kind else { return };
    let variable = match (constant(a), constant(b)) {
        (None, Some(_)) => a,
        (Some(_), None) => b,
        _ => return,
    };
    let outcome = decided(*op, a, b);
    let (Some(outcome), Some((low, high))) = (outcome, range(variable)) else {
        findings.acquit(CODE, e.span);
        return;
    };
    if is_loop(model, e) {
        if outcome {
            endless(model, owner, variable, findings);
        }
        return;
    }
    // Where an argument or a macro stands on one side only, the text may be about many types.
    if a.span.expansion != e.span.expansion || b.span.expansion != e.span.expansion {
        return;
    }
    let text = model.text(variable.span);
    let message = format!("this comparison is always {outcome}: `{text}` is between {low} and {high}");
    let mut d = Diagnostic::new(CODE, e.span, message);
    if let ExprKind::Load(place) = &variable.kind
        && let Some(var) = model.variable(owner, place)
    {
        d = d.label(var.span, format!("`{}` is declared as a {} here", var.name, scalar_name(place.scalar)));
        d = match low {
            0 => d.help("use `short` or `int` where negative or larger values are meant"),
            _ => d.help("use a wider type, or remove the comparison"),
        };
    } else {
        d = d.help("remove the comparison, or compare with a value that can occur");
    }
    findings.report(d);
}

/// The outcome of a comparison that the ranges of both sides decide.
fn decided(op: BinaryOp, a: &Expr, b: &Expr) -> Option<bool> {
    let comparison =
        matches!(op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne);
    let (a, b) = (range(a).filter(|_| comparison)?, range(b)?);
    let less = |a: (i64, i64), b: (i64, i64)| match () {
        () if a.1 < b.0 => Some(true),
        () if a.0 >= b.1 => Some(false),
        () => None,
    };
    match op {
        BinaryOp::Lt => less(a, b),
        BinaryOp::Gt => less(b, a),
        BinaryOp::Le => less(b, a).map(|t| !t),
        BinaryOp::Ge => less(a, b).map(|t| !t),
        BinaryOp::Eq | BinaryOp::Ne => {
            let apart = a.1 < b.0 || b.1 < a.0;
            apart.then_some(op == BinaryOp::Ne)
        }
        _ => None,
    }
}

/// Whether this is the hidden condition of a `for` or `select`: it has the place of the whole statement.
fn is_loop(model: &Model, e: &Expr) -> bool {
    let text = model.sources.text(e.span);
    ["for", "select"]
        .iter()
        .any(|word| text.strip_prefix(word).is_some_and(|rest| rest.trim_start().starts_with('(')))
}

fn endless(model: &Model, owner: Option<ProctypeId>, variable: &Expr, findings: &mut Findings) {
    let ExprKind::Load(place) = &variable.kind else { return };
    let Some(var) = model.variable(owner, place) else { return };
    let (_, high) = scalar_range(place.scalar);
    let next = place.scalar.truncate((high as i32).wrapping_add(1));
    let message =
        format!("this loop never ends: after {high}, the greatest value of `{}`, comes {next}", var.name);
    let d = Diagnostic::new(ENDLESS, place.span, message)
        .label(var.span, format!("`{}` is declared as a {} here", var.name, scalar_name(place.scalar)))
        .help(format!("declare `{}` with a wider type, or end the loop below {high}", var.name));
    findings.report(d);
}
