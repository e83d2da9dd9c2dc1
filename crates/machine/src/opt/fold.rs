//! Constant folding: expressions whose value is known are replaced by it.
//!
//! A scalar global that is never written keeps its initial value, so reading it is a constant. Operators with
//! constant operands are computed as the machine would; what would be an error (division by zero) is left for
//! the machine to find.

use promela::ir::{Action, Base, BinaryOp, Expr, ExprKind, InitStep, Place, Program, RecvArg, Scalar};

use crate::facts::Footprint;
use crate::interp::eval::{binary, unary};

/// Folds every expression of every proctype.
pub fn fold(program: &mut Program) {
    let folder = Folder { known: constants(program) };
    for proctype in &mut program.proctypes {
        proctype.provided.iter_mut().for_each(|expr| folder.expr(expr));
        proctype.edges.iter_mut().for_each(|edge| folder.action(&mut edge.action));
    }
    program.invariants.iter_mut().for_each(|invariant| folder.expr(&mut invariant.expr));
}

/// For each global cell its value, if that never changes.
fn constants(program: &Program) -> Vec<Option<i32>> {
    let mut known = vec![Some(0); program.n_global_cells as usize];
    for step in &program.init {
        match step {
            InitStep::Assign(place, Expr { kind: ExprKind::Const(value), .. }) if is_plain(place) => {
                known[place.cell as usize] = Some(place.scalar.truncate(*value));
            }
            InitStep::Assign(place, _) | InitStep::NewChan(place, _) => {
                if let Some(cell) = known.get_mut(place.cell as usize) {
                    *cell = None;
                }
            }
        }
    }
    for edge in program.proctypes.iter().flat_map(|proctype| &proctype.edges) {
        for cell in Footprint::of(edge).global_writes.iter() {
            if let Some(cell) = known.get_mut(cell as usize) {
                *cell = None;
            }
        }
    }
    known
}

fn is_plain(place: &Place) -> bool {
    place.base == Base::Global && place.indices.is_empty()
}

struct Folder {
    known: Vec<Option<i32>>,
}

impl Folder {
    fn action(&self, action: &mut Action) {
        match action {
            Action::Skip | Action::Else | Action::DStep { .. } | Action::C(_) | Action::End => {}
            Action::Guard(expr) | Action::Assert(expr) | Action::Printm(expr, _) => self.expr(expr),
            Action::Assign(place, expr) => {
                self.place(place);
                self.expr(expr);
            }
            Action::Send { chan, args, .. } => {
                self.expr(chan);
                args.iter_mut().for_each(|arg| self.expr(arg));
            }
            Action::Receive { chan, args, .. } | Action::Event { chan, args, .. } => {
                self.expr(chan);
                self.recv_args(args);
            }
            Action::Printf(_, args) => args.iter_mut().for_each(|arg| self.expr(arg)),
            Action::SetPriority(who, priority) => {
                self.expr(who);
                self.expr(priority);
            }
            Action::Lock(place) | Action::Unlock(place) => self.place(place),
        }
    }

    fn recv_args(&self, args: &mut [RecvArg]) {
        for arg in args {
            match arg {
                RecvArg::Store(place) => self.place(place),
                RecvArg::Match(expr) => self.expr(expr),
                RecvArg::Ignore => {}
            }
        }
    }

    fn place(&self, place: &mut Place) {
        place.indices.iter_mut().for_each(|index| self.expr(&mut index.value));
    }

    fn expr(&self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Load(place) => self.place(place),
            ExprKind::Unary(_, a) | ExprKind::Chan(_, a) => self.expr(a),
            ExprKind::Binary(_, a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Cond(a, b, c) => [a, b, c].into_iter().for_each(|part| self.expr(part)),
            ExprKind::Poll { chan, args, .. } => {
                self.expr(chan);
                self.recv_args(args);
            }
            ExprKind::Run { args, .. } => args.iter_mut().for_each(|arg| self.expr(arg)),
            ExprKind::Enabled(pid) | ExprKind::PcValue(pid) | ExprKind::GetPriority(pid) => self.expr(pid),
            ExprKind::RemoteLabel { pid, .. } => pid.iter_mut().for_each(|pid| self.expr(pid)),
            ExprKind::RemoteVar { pid, place, .. } => {
                pid.iter_mut().for_each(|pid| self.expr(pid));
                self.place(place);
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
        if let Some(kind) = self.simplified(&expr.kind) {
            expr.kind = kind;
        }
    }

    fn simplified(&self, kind: &ExprKind) -> Option<ExprKind> {
        let constant = |expr: &Expr| match expr.kind {
            ExprKind::Const(value) => Some(value),
            _ => None,
        };
        match kind {
            // Which channel variable was not initialised is part of the error that using it is.
            ExprKind::Load(place) if is_plain(place) && place.scalar != Scalar::Chan => {
                self.known.get(place.cell as usize).copied().flatten().map(ExprKind::Const)
            }
            ExprKind::Unary(op, a) => Some(ExprKind::Const(unary(*op, constant(a)?))),
            // The first operand decides alone: the second is not even evaluated.
            ExprKind::Binary(BinaryOp::And, a, _) if constant(a) == Some(0) => Some(ExprKind::Const(0)),
            ExprKind::Binary(BinaryOp::Or, a, _) if constant(a).is_some_and(|a| a != 0) => {
                Some(ExprKind::Const(1))
            }
            ExprKind::Binary(op, a, b) => binary(*op, constant(a)?, constant(b)?).map(ExprKind::Const),
            ExprKind::Cond(a, b, c) => Some(if constant(a)? != 0 { b.kind.clone() } else { c.kind.clone() }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opt::tests::{edge, program};

    fn folded(text: &str, statement: &str) -> ExprKind {
        let mut program = program(text);
        fold(&mut program);
        match &edge(&program, "p", statement).action {
            Action::Assign(_, expr) | Action::Guard(expr) => expr.kind.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn globals_that_never_change_are_constants() {
        let text = "byte n = 300, m; active proctype p() { m = n + 1; m = m + n * 2; m < n }";
        assert!(matches!(folded(text, "m = n + 1"), ExprKind::Const(45)));
        let ExprKind::Binary(BinaryOp::Add, _, b) = folded(text, "m = m + n * 2") else { panic!() };
        assert!(matches!(b.kind, ExprKind::Const(88)));
    }

    #[test]
    fn errors_are_left_for_the_machine() {
        let text = "byte z, m; active proctype p() { m = 7 / z; m = z && 1 / z; (z || 1 / z) }";
        assert!(matches!(folded(text, "m = 7 / z"), ExprKind::Binary(BinaryOp::Div, ..)));
        assert!(matches!(folded(text, "m = z && 1 / z"), ExprKind::Const(0)));
        assert!(matches!(folded(text, "(z || 1 / z)"), ExprKind::Binary(BinaryOp::Or, ..)));
    }
}
