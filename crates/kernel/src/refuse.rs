//! What packed states are not made for, by name.

use std::fmt::{self, Display, Formatter};

use machine::Interp;
use promela::ir::{Action, Expr, ExprKind, Proctype, ProctypeKind, Program, visit};

/// Why a program is not packed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refused {
    /// A part of the language, and the line where it was met if that helps.
    Language(&'static str),
    /// The processes with one pid.
    Pid {
        /// Which.
        pid: usize,
        /// What is wrong with them.
        why: &'static str,
    },
    /// States are too wide.
    Wide {
        /// How wide.
        bits: u32,
    },
    /// The function is too large.
    Long {
        /// Its instructions.
        instructions: usize,
    },
}

impl Display for Refused {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Language(what) => f.write_str(what),
            Refused::Pid { pid, why } => write!(f, "the processes with pid {pid} {why}"),
            Refused::Wide { bits } => write!(f, "a packed state has {bits} bits"),
            Refused::Long { instructions } => {
                write!(f, "the model would become {instructions} instructions")
            }
        }
    }
}

/// Refuses what can be seen in the program's text alone.
pub fn refuse(interp: &Interp) -> Result<(), Refused> {
    let program = interp.program();
    let no = |what| Err(Refused::Language(what));
    if program.trace.is_some() {
        return no("a trace assertion");
    }
    if program.uses.priority {
        return no("priorities");
    }
    if !program.embedded.is_empty() {
        return no("embedded C");
    }
    if program.uses.enabled {
        return no("enabled()");
    }
    if program.uses.last {
        return no("_last");
    }
    if interp.has_invariants() {
        return no("an invariant, or a promise (xr, xs) that is checked");
    }
    if program.globals.iter().any(|var| var.hidden) || system::TransitionSystem::hidden_bytes(interp) > 0 {
        return no("hidden variables");
    }
    if program.proctypes.iter().any(|proctype| proctype.deterministic) {
        return no("D_proctype");
    }
    expressions(program)
}

/// Refuses what stands in expressions.
fn expressions(program: &Program) -> Result<(), Refused> {
    let mut refused = None;
    let is_process = |p: &&Proctype| matches!(p.kind, ProctypeKind::Proctype | ProctypeKind::Init);
    for edge in program.proctypes.iter().filter(is_process).flat_map(|proctype| &proctype.edges) {
        let whole = match &edge.action {
            Action::Guard(expr) | Action::Assign(_, expr) => Some(expr),
            _ => None,
        };
        visit::walk_action(&edge.action, &mut |expr: &Expr| match &expr.kind {
            ExprKind::Run { .. } if whole.is_none_or(|whole| !std::ptr::eq(whole, expr)) => {
                refused = Some("a run inside an expression");
            }
            ExprKind::NonProgress => refused = Some("np_"),
            ExprKind::Last | ExprKind::Priority | ExprKind::GetPriority(_) => refused = Some("priorities"),
            ExprKind::Enabled(_) => refused = Some("enabled()"),
            _ => {}
        });
        if matches!(edge.action, Action::SetPriority(..) | Action::Event { .. }) {
            refused = Some("priorities");
        }
    }
    refused.map_or(Ok(()), |what| Err(Refused::Language(what)))
}
