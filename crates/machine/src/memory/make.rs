//! Small pieces of programs, and walks that change expressions.

use promela::ir::{Action, InitStep};
use promela::ir::{
    BinaryOp, Expr, ExprKind, Formula, Index, LocId, Place, ProctypeId, Program, RecvArg, Scalar,
    StateFormula,
};
use promela::source::Span;

pub(super) fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::NONE }
}

pub(super) fn constant(value: i32) -> Expr {
    expr(ExprKind::Const(value))
}

pub(super) fn load(place: Place) -> Expr {
    let span = place.span;
    Expr { kind: ExprKind::Load(Box::new(place)), span }
}

pub(super) fn binary(op: BinaryOp, one: Expr, other: Expr) -> Expr {
    expr(ExprKind::Binary(op, Box::new(one), Box::new(other)))
}

pub(super) fn cond(when: Expr, then: Expr, otherwise: Expr) -> Expr {
    let span = otherwise.span;
    Expr { kind: ExprKind::Cond(Box::new(when), Box::new(then), Box::new(otherwise)), span }
}

pub(super) fn is(place: Place, value: i32) -> Expr {
    binary(BinaryOp::Eq, load(place), constant(value))
}

pub(super) fn index(value: Expr, len: u32, stride: u32) -> Index {
    Index { value, len, stride, span: Span::NONE }
}

/// What remains of a value when it is stored in a cell, where the cell that it is kept in meanwhile is wider.
pub(super) fn truncated(value: Expr, scalar: Scalar, kept: Scalar) -> Expr {
    if scalar == kept {
        return value;
    }
    let mask = match scalar {
        Scalar::Int => return value,
        Scalar::Short => {
            let high = binary(BinaryOp::Shl, value, constant(16));
            return binary(BinaryOp::Shr, high, constant(16));
        }
        Scalar::Bit | Scalar::Bool => 1,
        Scalar::Unsigned(bits) if bits >= 32 => return value,
        Scalar::Unsigned(bits) => (1i32 << bits).wrapping_sub(1),
        Scalar::Lock => 0x1ff,
        Scalar::WideBit
        | Scalar::WideBool
        | Scalar::Byte
        | Scalar::Pid
        | Scalar::Mtype(_)
        | Scalar::Chan
        | Scalar::Sema => 0xff,
    };
    binary(BinaryOp::BitAnd, value, constant(mask))
}

/// Changes an expression from the inside out.
pub(super) fn change(e: &mut Expr, how: &mut impl FnMut(&mut Expr)) {
    match &mut e.kind {
        ExprKind::Load(place) => change_place(place, how),
        ExprKind::Unary(_, a) | ExprKind::Chan(_, a) => change(a, how),
        ExprKind::Enabled(a) | ExprKind::PcValue(a) | ExprKind::GetPriority(a) => change(a, how),
        ExprKind::Binary(_, a, b) => {
            change(a, how);
            change(b, how);
        }
        ExprKind::Cond(a, b, c) => {
            change(a, how);
            change(b, how);
            change(c, how);
        }
        ExprKind::Poll { chan, args, .. } => {
            change(chan, how);
            change_fields(args, how);
        }
        ExprKind::Run { args, .. } => args.iter_mut().for_each(|a| change(a, how)),
        ExprKind::RemoteLabel { pid, .. } => pid.iter_mut().for_each(|p| change(p, how)),
        ExprKind::RemoteVar { pid, place, .. } => {
            pid.iter_mut().for_each(|p| change(p, how));
            change_place(place, how);
        }
        ExprKind::Const(_)
        | ExprKind::C(_)
        | ExprKind::Pid
        | ExprKind::NrPr
        | ExprKind::Last
        | ExprKind::Priority
        | ExprKind::Timeout
        | ExprKind::NonProgress => {}
    }
    how(e);
}

/// Changes the indices of a place.
pub(super) fn change_place(place: &mut Place, how: &mut impl FnMut(&mut Expr)) {
    place.indices.iter_mut().for_each(|index| change(&mut index.value, how));
}

fn change_fields(args: &mut [RecvArg], how: &mut impl FnMut(&mut Expr)) {
    for arg in args {
        match arg {
            RecvArg::Match(e) => change(e, how),
            RecvArg::Store(p) => change_place(p, how),
            RecvArg::Ignore => {}
        }
    }
}

/// Changes the expressions of an action.
pub(super) fn change_action(action: &mut Action, how: &mut impl FnMut(&mut Expr)) {
    match action {
        Action::Guard(e) | Action::Assert(e) | Action::Printm(e, _) => change(e, how),
        Action::Assign(place, e) => {
            change_place(place, how);
            change(e, how);
        }
        Action::Send { chan, args, .. } => {
            change(chan, how);
            args.iter_mut().for_each(|e| change(e, how));
        }
        Action::Receive { chan, args, .. } | Action::Event { chan, args, .. } => {
            change(chan, how);
            change_fields(args, how);
        }
        Action::Printf(_, args) => args.iter_mut().for_each(|e| change(e, how)),
        Action::SetPriority(a, b) => {
            change(a, how);
            change(b, how);
        }
        Action::Lock(place) | Action::Unlock(place) => change_place(place, how),
        Action::Skip | Action::Else | Action::DStep { .. } | Action::C(_) | Action::End => {}
    }
}

/// A process at the twin of a location counts as one that is there.
pub(super) fn count_twins(program: &mut Program, twins: &[(ProctypeId, LocId, LocId)]) {
    if twins.is_empty() {
        return;
    }
    let twin = |proctype: ProctypeId, at: LocId| {
        twins.iter().find(|twin| (twin.0, twin.1) == (proctype, at)).map(|twin| twin.2)
    };
    let mut either = |e: &mut Expr| {
        let ExprKind::RemoteLabel { proctype, pid, location } = &e.kind else { return };
        let Some(location) = twin(*proctype, *location) else { return };
        let at_twin = ExprKind::RemoteLabel { proctype: *proctype, pid: pid.clone(), location };
        let span = e.span;
        let there = Expr { kind: at_twin, span };
        let both = binary(BinaryOp::Or, e.clone(), there);
        *e = Expr { span, ..both };
    };
    for proctype in &mut program.proctypes {
        proctype.provided.iter_mut().for_each(|e| change(e, &mut either));
        proctype.edges.iter_mut().for_each(|edge| change_action(&mut edge.action, &mut either));
        for step in &mut proctype.init {
            if let InitStep::Assign(_, e) = step {
                change(e, &mut either);
            }
        }
    }
    program.invariants.iter_mut().for_each(|invariant| change(&mut invariant.expr, &mut either));
    program.ltl.iter_mut().for_each(|ltl| change_formula(&mut ltl.formula, &mut either));
    program.state_properties.iter_mut().for_each(|p| change_state_formula(&mut p.formula, &mut either));
}

fn change_formula(formula: &mut Formula, how: &mut impl FnMut(&mut Expr)) {
    match formula {
        Formula::Prop(e) => change(e, how),
        Formula::Not(a) | Formula::Next(a) | Formula::Always(a) | Formula::Eventually(a) => {
            change_formula(a, how);
        }
        Formula::And(a, b)
        | Formula::Or(a, b)
        | Formula::Implies(a, b)
        | Formula::Equiv(a, b)
        | Formula::Until(a, b)
        | Formula::WeakUntil(a, b)
        | Formula::Release(a, b) => {
            change_formula(a, how);
            change_formula(b, how);
        }
    }
}

fn change_state_formula(formula: &mut StateFormula, how: &mut impl FnMut(&mut Expr)) {
    match formula {
        StateFormula::Prop(e) => change(e, how),
        StateFormula::Stuck | StateFormula::Deadlock | StateFormula::Variable(_) => {}
        StateFormula::Not(a)
        | StateFormula::Modal(_, _, a)
        | StateFormula::Mu(_, a)
        | StateFormula::Nu(_, a) => change_state_formula(a, how),
        StateFormula::And(a, b)
        | StateFormula::Or(a, b)
        | StateFormula::Implies(a, b)
        | StateFormula::Equiv(a, b) => {
            change_state_formula(a, how);
            change_state_formula(b, how);
        }
        StateFormula::Path(_, _, operands) => {
            operands.iter_mut().for_each(|operand| change_state_formula(operand, how));
        }
    }
}
