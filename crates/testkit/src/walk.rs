//! Walks over the parts of a model, used to count features and to shrink. Every walk visits parents before
//! their children, in the order of the text.

use crate::model::{Block, Claim, Expr, Init, MacroBody, Model, RecvArg, Stmt, VariableRef};

/// Calls `visit` with every block of the model, whether a body, an option or a nested sequence.
pub fn blocks(model: &mut Model, visit: &mut dyn FnMut(&mut Block)) {
    for inline in &mut model.inlines {
        block(&mut inline.body, visit);
    }
    for proc in &mut model.procs {
        block(&mut proc.body, visit);
    }
    if let Some(trace) = &mut model.trace {
        block(&mut trace.body, visit);
    }
    if let Some(Claim::Never(body)) = &mut model.claim {
        block(body, visit);
    }
}

fn block(body: &mut Block, visit: &mut dyn FnMut(&mut Block)) {
    visit(body);
    for stmt in body.iter_mut() {
        blocks_of(stmt, visit);
    }
}

fn blocks_of(stmt: &mut Stmt, visit: &mut dyn FnMut(&mut Block)) {
    match stmt {
        Stmt::If(options) | Stmt::Do(options) => options.iter_mut().for_each(|o| block(o, visit)),
        Stmt::For { body, .. } | Stmt::ForIn { body, .. } => block(body, visit),
        Stmt::Atomic(body) | Stmt::DStep(body) | Stmt::Braces(body) => block(body, visit),
        Stmt::Unless(main, escape) => {
            blocks_of(main, visit);
            blocks_of(escape, visit);
        }
        Stmt::Label(_, inner) => blocks_of(inner, visit),
        Stmt::Ifdef { then, otherwise, .. } => {
            block(then, visit);
            block(otherwise, visit);
        }
        _ => {}
    }
}

/// Calls `visit` with every statement of the model, with statements under labels and in macros.
pub fn stmts(model: &mut Model, visit: &mut dyn FnMut(&mut Stmt)) {
    for define in &mut model.defines {
        if let MacroBody::Stmt(stmt) = &mut define.body {
            stmt_tree(stmt, visit);
        }
    }
    blocks(model, &mut |body| body.iter_mut().for_each(|stmt| under_labels(stmt, visit)));
}

/// Visits a statement and those that hang directly on it without a block between.
fn under_labels(stmt: &mut Stmt, visit: &mut dyn FnMut(&mut Stmt)) {
    visit(stmt);
    match stmt {
        Stmt::Unless(main, escape) => {
            under_labels(main, visit);
            under_labels(escape, visit);
        }
        Stmt::Label(_, inner) => under_labels(inner, visit),
        _ => {}
    }
}

/// Visits a statement with everything inside it.
fn stmt_tree(stmt: &mut Stmt, visit: &mut dyn FnMut(&mut Stmt)) {
    under_labels(stmt, visit);
    blocks_of(stmt, &mut |body| body.iter_mut().for_each(|inner| under_labels(inner, visit)));
}

/// Calls `visit` with every expression of the model, with its subexpressions.
pub fn exprs(model: &mut Model, visit: &mut dyn FnMut(&mut Expr)) {
    for define in &mut model.defines {
        if let MacroBody::Expr(body) = &mut define.body {
            expr(body, visit);
        }
    }
    for decl in model.globals.iter_mut() {
        if let Init::Expr(value) = &mut decl.init {
            expr(value, visit);
        }
    }
    for proc in &mut model.procs {
        if let Some(provided) = &mut proc.provided {
            expr(provided, visit);
        }
    }
    stmts(model, &mut |stmt| exprs_of(stmt, visit));
}

/// Calls `visit` with the expressions of one statement, not of the statements inside it.
pub fn exprs_of(stmt: &mut Stmt, visit: &mut dyn FnMut(&mut Expr)) {
    match stmt {
        Stmt::Decl(decl) => {
            if let Init::Expr(value) = &mut decl.init {
                expr(value, visit);
            }
        }
        Stmt::Expr(e) | Stmt::Assert(e) | Stmt::Return(e) | Stmt::Printm(e) => expr(e, visit),
        Stmt::Assign(target, e) => {
            place(target, visit);
            expr(e, visit);
        }
        Stmt::AssignCall(target, _, args) => {
            place(target, visit);
            args.iter_mut().for_each(|a| expr(a, visit));
        }
        Stmt::Incr(target) | Stmt::Decr(target) => place(target, visit),
        Stmt::Send { chan, args, .. } => {
            place(chan, visit);
            args.iter_mut().for_each(|a| expr(a, visit));
        }
        Stmt::Recv { chan, args, .. } => {
            place(chan, visit);
            args.iter_mut().for_each(|a| recv_arg(a, visit));
        }
        Stmt::For { low, high, .. } | Stmt::Select { low, high, .. } | Stmt::SetPriority(low, high) => {
            expr(low, visit);
            expr(high, visit);
        }
        Stmt::Printf(_, args) | Stmt::Call(_, args) => args.iter_mut().for_each(|a| expr(a, visit)),
        _ => {}
    }
}

fn expr(e: &mut Expr, visit: &mut dyn FnMut(&mut Expr)) {
    visit(e);
    match e {
        Expr::Num(_) | Expr::Word(_) => {}
        Expr::VariableRef(target) | Expr::Len(target) | Expr::Probe(_, target) => place(target, visit),
        Expr::Unary(_, inner) => expr(inner, visit),
        Expr::Binary(_, left, right) => {
            expr(left, visit);
            expr(right, visit);
        }
        Expr::Cond(c, a, b) => {
            expr(c, visit);
            expr(a, visit);
            expr(b, visit);
        }
        Expr::Poll { chan, args, .. } => {
            place(chan, visit);
            args.iter_mut().for_each(|a| recv_arg(a, visit));
        }
        Expr::Run { args, .. } | Expr::Call(_, args) => args.iter_mut().for_each(|a| expr(a, visit)),
        Expr::RemoteLabel { pid, .. } => {
            if let Some(pid) = pid {
                expr(pid, visit);
            }
        }
        Expr::RemoteVar { pid, index, .. } => {
            for part in [pid, index].into_iter().flatten() {
                expr(part, visit);
            }
        }
    }
}

fn place(target: &mut VariableRef, visit: &mut dyn FnMut(&mut Expr)) {
    for (_, index) in &mut target.path {
        if let Some(index) = index {
            expr(index, visit);
        }
    }
}

fn recv_arg(arg: &mut RecvArg, visit: &mut dyn FnMut(&mut Expr)) {
    match arg {
        RecvArg::VariableRef(target) => place(target, visit),
        RecvArg::Const(e) | RecvArg::Eval(e) => expr(e, visit),
        RecvArg::Any => {}
    }
}
