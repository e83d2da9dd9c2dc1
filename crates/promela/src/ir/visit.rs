//! Walks over a program's expressions, for every pass that looks for something in them.

use super::{Action, Expr, ExprKind, Formula, InitStep, Place, ProctypeId, Program, RecvArg, StateFormula};

/// Calls `visit` for `e` and every expression inside it.
pub fn walk<'e>(e: &'e Expr, visit: &mut impl FnMut(&'e Expr)) {
    visit(e);
    match &e.kind {
        ExprKind::Load(place) => walk_place(place, visit),
        ExprKind::Unary(_, a) | ExprKind::Chan(_, a) => walk(a, visit),
        ExprKind::Enabled(a) | ExprKind::PcValue(a) | ExprKind::GetPriority(a) => walk(a, visit),
        ExprKind::Binary(_, a, b) => {
            walk(a, visit);
            walk(b, visit);
        }
        ExprKind::Cond(a, b, c) => {
            walk(a, visit);
            walk(b, visit);
            walk(c, visit);
        }
        ExprKind::Poll { chan, args, .. } => {
            walk(chan, visit);
            walk_fields(args, visit);
        }
        ExprKind::Run { args, .. } => args.iter().for_each(|a| walk(a, visit)),
        ExprKind::RemoteLabel { pid, .. } => pid.iter().for_each(|p| walk(p, visit)),
        ExprKind::RemoteVar { pid, place, .. } => {
            pid.iter().for_each(|p| walk(p, visit));
            walk_place(place, visit);
        }
        _ => {}
    }
}

/// Calls `visit` for every expression in the indices of a place.
pub fn walk_place<'e>(place: &'e Place, visit: &mut impl FnMut(&'e Expr)) {
    for index in &place.indices {
        walk(&index.value, visit);
    }
}

fn walk_fields<'e>(args: &'e [RecvArg], visit: &mut impl FnMut(&'e Expr)) {
    for arg in args {
        match arg {
            RecvArg::Match(e) => walk(e, visit),
            RecvArg::Store(p) => walk_place(p, visit),
            RecvArg::Ignore => {}
        }
    }
}

/// Calls `visit` for every expression of an action.
pub fn walk_action<'e>(action: &'e Action, visit: &mut impl FnMut(&'e Expr)) {
    match action {
        Action::Guard(e) | Action::Assert(e) | Action::Printm(e, _) => walk(e, visit),
        Action::Assign(place, e) => {
            walk_place(place, visit);
            walk(e, visit);
        }
        Action::Send { chan, args, .. } => {
            walk(chan, visit);
            args.iter().for_each(|e| walk(e, visit));
        }
        Action::Receive { chan, args, .. } | Action::Event { chan, args, .. } => {
            walk(chan, visit);
            walk_fields(args, visit);
        }
        Action::Printf(_, args) => args.iter().for_each(|e| walk(e, visit)),
        Action::SetPriority(a, b) => {
            walk(a, visit);
            walk(b, visit);
        }
        Action::Lock(place) | Action::Unlock(place) => walk_place(place, visit),
        Action::Skip | Action::Else | Action::DStep { .. } | Action::C(_) | Action::End => {}
    }
}

/// Calls `visit` for every proposition of a formula.
pub fn walk_formula<'e>(formula: &'e Formula, visit: &mut impl FnMut(&'e Expr)) {
    match formula {
        Formula::Prop(e) => visit(e),
        Formula::Not(a) | Formula::Next(a) | Formula::Always(a) | Formula::Eventually(a) => {
            walk_formula(a, visit);
        }
        Formula::And(a, b)
        | Formula::Or(a, b)
        | Formula::Implies(a, b)
        | Formula::Equiv(a, b)
        | Formula::Until(a, b)
        | Formula::WeakUntil(a, b)
        | Formula::Release(a, b) => {
            walk_formula(a, visit);
            walk_formula(b, visit);
        }
    }
}

/// Calls `visit` for every proposition of a formula about states.
pub fn walk_state_formula<'e>(formula: &'e StateFormula, visit: &mut impl FnMut(&'e Expr)) {
    match formula {
        StateFormula::Prop(e) => visit(e),
        StateFormula::Stuck | StateFormula::Deadlock | StateFormula::Variable(_) => {}
        StateFormula::Not(a)
        | StateFormula::Modal(_, _, a)
        | StateFormula::Mu(_, a)
        | StateFormula::Nu(_, a) => walk_state_formula(a, visit),
        StateFormula::And(a, b)
        | StateFormula::Or(a, b)
        | StateFormula::Implies(a, b)
        | StateFormula::Equiv(a, b) => {
            walk_state_formula(a, visit);
            walk_state_formula(b, visit);
        }
        StateFormula::Path(_, _, operands) => operands.iter().for_each(|a| walk_state_formula(a, visit)),
    }
}

/// Calls `visit` for every expression of a program, with the proctype that it belongs to.
pub fn walk_program<'e>(program: &'e Program, mut visit: impl FnMut(Option<ProctypeId>, &'e Expr)) {
    let mut init = |owner, steps: &'e [InitStep]| {
        for step in steps {
            if let InitStep::Assign(_, e) = step {
                walk(e, &mut |e| visit(owner, e));
            }
        }
    };
    init(None, &program.init);
    for (i, proctype) in program.proctypes.iter().enumerate() {
        init(Some(ProctypeId(i as u32)), &proctype.init);
    }
    for (i, proctype) in program.proctypes.iter().enumerate() {
        let owner = Some(ProctypeId(i as u32));
        proctype.provided.iter().for_each(|e| walk(e, &mut |e| visit(owner, e)));
        for edge in &proctype.edges {
            walk_action(&edge.action, &mut |e| visit(owner, e));
        }
    }
    for invariant in &program.invariants {
        walk(&invariant.expr, &mut |e| visit(None, e));
    }
    for promise in &program.promises {
        walk(&promise.chan, &mut |e| visit(Some(promise.proctype), e));
    }
    for ltl in &program.ltl {
        walk_formula(&ltl.formula, &mut |e| walk(e, &mut |e| visit(None, e)));
    }
    for property in &program.state_properties {
        walk_state_formula(&property.formula, &mut |e| walk(e, &mut |e| visit(None, e)));
    }
}
