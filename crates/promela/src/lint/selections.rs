//! Options of `if` and `do` that cannot mean what they seem to: an `else` that is never taken, `=` where `==`
//! was meant.

use super::value::from_macro;
use super::{Findings, Model, walk};
use crate::ast::{Block, Expr, ExprKind, Step, Stmt, StmtKind, VarRef};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::SourceMap;

const ELSE: Code = Code::W0304;
const ASSIGNMENT: Code = Code::W0305;

pub fn lint(model: &Model, findings: &mut Findings) {
    for body in walk::bodies(model.unit) {
        walk::statements(body.block, &mut |stmt| {
            if let StmtKind::If(options) | StmtKind::Do(options) = &stmt.kind {
                selection(model, options, findings);
            }
        });
    }
}

fn selection(model: &Model, options: &[Block], findings: &mut Findings) {
    let heads: Vec<&Stmt> = options.iter().filter_map(head).collect();
    if heads.iter().any(|h| model.conditional.touches(h.span)) {
        return;
    }
    let has_else = heads.iter().find(|h| matches!(h.kind, StmtKind::Else));
    for (i, head) in heads.iter().enumerate() {
        let StmtKind::Assign(target, value) = &head.kind else { continue };
        let compared = heads.iter().enumerate().find(|(j, h)| *j != i && compares(model, h, target));
        let other = compared.map(|(_, h)| h).or(has_else);
        if let (Some(other), true) = (other, arrow_follows(model, head))
            && is_plain(value)
        {
            assignment(model, head, other, compared.is_none(), findings);
            return;
        }
    }
    let Some(other) = has_else else { return };
    match heads.iter().find(|h| always_executable(model.sources, h)) {
        Some(always) => {
            let d = Diagnostic::new(ELSE, other.span, "this `else` is never taken")
                .label(always.span, "this option is always executable")
                .help("remove the `else`, or give the other option a condition");
            findings.report(d);
        }
        None => findings.acquit(ELSE, other.span),
    }
}

fn assignment(model: &Model, head: &Stmt, other: &Stmt, is_else: bool, findings: &mut Findings) {
    let StmtKind::Assign(target, value) = &head.kind else { return };
    let (target, value) = (model.text(target.span), model.text(value.span));
    let message = format!("this option assigns to `{target}`, and is always executable");
    let why =
        if is_else { "so this `else` is never taken" } else { "this option compares the same variable" };
    let d = Diagnostic::new(ASSIGNMENT, head.span, message).label(other.span, why).help(format!(
        "to compare, write `{target} == {value}`; if an assignment is meant, put `true ->` in front of it"
    ));
    findings.report(d);
}

/// The first statement of an option: what decides whether it can be chosen.
pub fn head(option: &Block) -> Option<&Stmt> {
    let first = option.steps.iter().find_map(|step| match step {
        Step::Stmt(stmt) | Step::Unless(stmt, _) => Some(stmt),
        Step::Decl(_) | Step::Exclusive(_) => None,
    })?;
    let first = walk::unlabelled(first);
    match &first.kind {
        StmtKind::Atomic(b) | StmtKind::DStep(b) | StmtKind::Block(b) => head(b),
        StmtKind::Inline(inline) => head(&inline.body),
        _ => Some(first),
    }
}

/// Whether a statement can be executed in every state. What a macro makes true may be otherwise in another
/// run.
pub fn always_executable(sources: &SourceMap, stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Assign(_, e) => !has_run(e),
        StmtKind::Expr(e) => matches!(e.kind, ExprKind::Number(n) if n != 0) && !from_macro(sources, e.span),
        StmtKind::Increment(..)
        | StmtKind::ForRange(..)
        | StmtKind::ForIn(..)
        | StmtKind::Select(..)
        | StmtKind::Goto(_)
        | StmtKind::Break
        | StmtKind::Assert(_)
        | StmtKind::Printf(..)
        | StmtKind::Printm(_)
        | StmtKind::SetPriority(..)
        | StmtKind::Labeled(_, None) => true,
        _ => false,
    }
}

fn has_run(e: &Expr) -> bool {
    let mut found = false;
    walk::deep(e, &mut |e| found |= matches!(e.kind, ExprKind::Run { .. }));
    found
}

/// A number or a variable: what one compares with.
fn is_plain(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Number(_) | ExprKind::Var(_))
}

fn compares(model: &Model, stmt: &Stmt, target: &VarRef) -> bool {
    let StmtKind::Expr(e) = &stmt.kind else { return false };
    let name = model.text(target.span);
    let mut found = false;
    walk::references(e, &mut |r| found |= model.text(r.span) == name);
    found
}

/// Whether `->` follows the statement, as it follows a condition.
fn arrow_follows(model: &Model, stmt: &Stmt) -> bool {
    let file = model.sources.files().get(stmt.span.file.0 as usize);
    let rest = file.and_then(|f| f.text.get(stmt.span.end as usize..)).unwrap_or("");
    rest.trim_start().starts_with("->")
}
