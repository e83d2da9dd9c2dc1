//! An expression that somebody asks about in a state: watch expressions, conditions, hovers.
//!
//! The expression is not part of the program, but it was lowered among the program's declarations, so that
//! its cells are those of the state. Nothing happens: an expression that starts a process has no value here.

use promela::ir::{BinaryOp, Expr, ExprKind, Scalar, UnaryOp, visit};
use system::Value;

use super::eval::{Mode, View};
use super::{Interp, mentions_timeout};

impl Interp {
    /// The value of an expression in a state, seen by a process or by nobody. The error says why there is
    /// none.
    pub fn evaluate(&self, state: &[u8], pid: Option<u32>, expr: &Expr) -> Result<Value, String> {
        let mut state = self.decode(state).map_err(|trap| trap.message)?;
        let pid = pid.map(|pid| pid as usize);
        if let Some(pid) = pid.filter(|&pid| pid >= state.processes.len()) {
            return Err(format!("there is no process {pid} here"));
        }
        if starts_process(expr) {
            return Err("`run` starts a process: it has no value that can be asked for".to_string());
        }
        let timeout = mentions_timeout(std::slice::from_ref(expr)) && self.needs_timeout(&mut state);
        let mode = Mode { timeout, test: true, ..Mode::default() };
        let view = View { program: &self.program, state: &state, pid, mode };
        let value = view.eval(expr).map_err(|trap| trap.message)?;
        Ok(match scalar_of(expr) {
            Some(scalar) => self.scalar(&state, scalar, value),
            None => Value::Int(i64::from(value)),
        })
    }

    /// The proctype of a process in a state, by its name.
    pub fn proctype_of(&self, state: &[u8], pid: u32) -> Option<&str> {
        let process = self.decode(state).ok()?.processes.get(pid as usize)?.proctype;
        Some(&self.program.proctype(process).name)
    }
}

/// What the value of an expression is, where it is not just a number.
fn scalar_of(expr: &Expr) -> Option<Scalar> {
    match &expr.kind {
        ExprKind::Load(place) => Some(place.scalar),
        ExprKind::Cond(_, then, otherwise) => {
            scalar_of(then).filter(|scalar| scalar_of(otherwise) == Some(*scalar))
        }
        ExprKind::RemoteVar { place, .. } => Some(place.scalar),
        ExprKind::Binary(op, ..) if is_truth(*op) => Some(Scalar::Bool),
        ExprKind::Unary(UnaryOp::Not, _) | ExprKind::Poll { .. } | ExprKind::Timeout => Some(Scalar::Bool),
        ExprKind::Enabled(_) | ExprKind::NonProgress | ExprKind::RemoteLabel { .. } => Some(Scalar::Bool),
        _ => None,
    }
}

/// Whether an operator gives a truth value.
fn is_truth(op: BinaryOp) -> bool {
    use BinaryOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    matches!(op, And | Or | Eq | Ne | Lt | Le | Gt | Ge)
}

fn starts_process(expr: &Expr) -> bool {
    let mut found = false;
    visit::walk(expr, &mut |part| found |= matches!(part.kind, ExprKind::Run { .. }));
    found
}
