//! Walks over the syntax tree.

use crate::ast::{Block, Expr, ExprKind, Item, RecvArg, Step, Stmt, StmtKind, Unit, VarRef};
use crate::source::Span;

/// What a body of statements belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// A proctype or init.
    Process,
    /// A never claim, trace or notrace.
    Claim,
}

/// A body of statements.
pub struct Body<'a> {
    /// Its statements.
    pub block: &'a Block,
    /// What it belongs to.
    pub owner: Owner,
}

/// All bodies of a model.
pub fn bodies(unit: &Unit) -> impl Iterator<Item = Body<'_>> {
    unit.items.iter().filter_map(|item| match item {
        Item::Proctype(p) => Some(Body { block: &p.body, owner: Owner::Process }),
        Item::Init(i) => Some(Body { block: &i.body, owner: Owner::Process }),
        Item::Never(c) => Some(Body { block: &c.body, owner: Owner::Claim }),
        Item::Trace(t) => Some(Body { block: &t.body, owner: Owner::Claim }),
        _ => None,
    })
}

/// Calls `visit` for every step of a block and of the blocks inside it.
pub fn steps<'a>(block: &'a Block, visit: &mut impl FnMut(&'a Step)) {
    for step in &block.steps {
        visit(step);
        match step {
            Step::Stmt(stmt) => inside(stmt, &mut |b| steps(b, visit)),
            Step::Unless(main, escape) => {
                inside(main, &mut |b| steps(b, visit));
                inside(escape, &mut |b| steps(b, visit));
            }
            Step::Decl(_) | Step::Exclusive(_) => {}
        }
    }
}

/// Calls `visit` for every statement of a block, outer ones first; what a label stands at is a statement of
/// its own.
pub fn statements<'a>(block: &'a Block, visit: &mut impl FnMut(&'a Stmt)) {
    steps(block, &mut |step| match step {
        Step::Stmt(stmt) => labelled(stmt, visit),
        Step::Unless(main, escape) => {
            labelled(main, visit);
            labelled(escape, visit);
        }
        Step::Decl(_) | Step::Exclusive(_) => {}
    });
}

fn labelled<'a>(stmt: &'a Stmt, visit: &mut impl FnMut(&'a Stmt)) {
    let mut at = stmt;
    visit(at);
    while let StmtKind::Labeled(_, Some(inner)) = &at.kind {
        at = inner;
        visit(at);
    }
}

/// The statement behind its labels; a label before nothing is a statement itself.
pub fn unlabelled(stmt: &Stmt) -> &Stmt {
    let mut at = stmt;
    while let StmtKind::Labeled(_, Some(inner)) = &at.kind {
        at = inner;
    }
    at
}

/// The place to show for a statement: of a compound one only the word that it begins with.
pub fn beginning(stmt: &Stmt) -> Span {
    let word = match &stmt.kind {
        StmtKind::If(_) | StmtKind::Do(_) => "if",
        StmtKind::ForRange(..) | StmtKind::ForIn(..) => "for",
        StmtKind::Atomic(_) => "atomic",
        StmtKind::DStep(_) => "d_step",
        StmtKind::Block(_) => "{",
        _ => return stmt.span,
    };
    Span { end: stmt.span.end.min(stmt.span.start + word.len() as u32), ..stmt.span }
}

/// Calls `visit` for the blocks directly inside a statement.
fn inside<'a>(stmt: &'a Stmt, visit: &mut dyn FnMut(&'a Block)) {
    match &unlabelled(stmt).kind {
        StmtKind::If(options) | StmtKind::Do(options) => options.iter().for_each(visit),
        StmtKind::ForRange(_, _, _, b) | StmtKind::ForIn(_, _, b) => visit(b),
        StmtKind::Atomic(b) | StmtKind::DStep(b) | StmtKind::Block(b) => visit(b),
        StmtKind::Inline(inline) => visit(&inline.body),
        _ => {}
    }
}

/// Calls `visit` for the expressions directly in a statement.
pub fn expressions<'a>(stmt: &'a Stmt, visit: &mut impl FnMut(&'a Expr)) {
    let mut indices = |r: &'a VarRef| r.parts.iter().filter_map(|p| p.index.as_deref()).for_each(&mut *visit);
    match &stmt.kind {
        StmtKind::Assign(r, e) => {
            indices(r);
            visit(e);
        }
        StmtKind::Increment(r, _) | StmtKind::Lock(r) | StmtKind::Unlock(r) => indices(r),
        StmtKind::Send { chan, args, .. } => {
            indices(chan);
            args.iter().for_each(visit);
        }
        StmtKind::Receive { chan, args, .. } => {
            indices(chan);
            for arg in args {
                match arg {
                    RecvArg::Var(r) => {
                        r.parts.iter().filter_map(|p| p.index.as_deref()).for_each(&mut *visit);
                    }
                    RecvArg::Eval(e) | RecvArg::Const(e) => visit(e),
                }
            }
        }
        StmtKind::ForRange(_, a, b, _) | StmtKind::Select(_, a, b) | StmtKind::SetPriority(a, b) => {
            visit(a);
            visit(b);
        }
        StmtKind::Expr(e) | StmtKind::Assert(e) | StmtKind::Printm(e) => visit(e),
        StmtKind::Printf(_, args) => args.iter().for_each(visit),
        StmtKind::RunIterated(run) => run.args.iter().for_each(visit),
        _ => {}
    }
}

/// Calls `visit` for an expression and all inside it.
pub fn deep<'a>(e: &'a Expr, visit: &mut impl FnMut(&'a Expr)) {
    visit(e);
    let references: &[&'a VarRef] = match &e.kind {
        ExprKind::Var(r) | ExprKind::Chan(_, r) => &[r],
        ExprKind::Unary(_, a) | ExprKind::Process(_, a) => {
            deep(a, visit);
            &[]
        }
        ExprKind::Binary(_, a, b) => {
            deep(a, visit);
            deep(b, visit);
            &[]
        }
        ExprKind::Cond(a, b, c) => {
            [a, b, c].into_iter().for_each(|e| deep(e, visit));
            &[]
        }
        ExprKind::Poll { chan, args, .. } => {
            for arg in args {
                match arg {
                    RecvArg::Var(r) => deep_indices(r, visit),
                    RecvArg::Eval(e) | RecvArg::Const(e) => deep(e, visit),
                }
            }
            &[chan]
        }
        ExprKind::Run { args, .. } => {
            args.iter().for_each(|e| deep(e, visit));
            &[]
        }
        ExprKind::State(op) => {
            op.operands().iter().for_each(|e| deep(e, visit));
            &[]
        }
        ExprKind::RemoteLabel { pid, .. } => {
            pid.iter().for_each(|e| deep(e, visit));
            &[]
        }
        ExprKind::RemoteVar { pid, var, .. } => {
            pid.iter().for_each(|e| deep(e, visit));
            &[var]
        }
        _ => &[],
    };
    references.iter().for_each(|r| deep_indices(r, visit));
}

fn deep_indices<'a>(r: &'a VarRef, visit: &mut impl FnMut(&'a Expr)) {
    r.parts.iter().filter_map(|p| p.index.as_deref()).for_each(|e| deep(e, visit));
}

/// Calls `visit` for every variable that an expression names.
pub fn references<'a>(e: &'a Expr, visit: &mut impl FnMut(&'a VarRef)) {
    deep(e, &mut |e| match &e.kind {
        ExprKind::Var(r) | ExprKind::Chan(_, r) => visit(r),
        ExprKind::Poll { chan, args, .. } => {
            visit(chan);
            for arg in args {
                if let RecvArg::Var(r) = arg {
                    visit(r);
                }
            }
        }
        _ => {}
    });
}

/// Calls `visit` for every expression of the model's statements and properties, and all inside them.
pub fn all_expressions<'a>(unit: &'a Unit, visit: &mut impl FnMut(&'a Expr)) {
    for item in &unit.items {
        match item {
            Item::Ltl(ltl) => deep(&ltl.formula, visit),
            Item::StateFormula(formula) => deep(&formula.formula, visit),
            Item::Invariant(invariant) => deep(&invariant.expr, visit),
            Item::Proctype(p) => p.provided.iter().for_each(|e| deep(e, visit)),
            _ => {}
        }
    }
    for body in bodies(unit) {
        statements(body.block, &mut |stmt| expressions(stmt, &mut |e| deep(e, visit)));
    }
}
