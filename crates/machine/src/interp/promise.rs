//! Promises (`xr`, `xs`) on which a reduction relies: a state breaks one in which somebody else is about to
//! use the channel.
//!
//! As in Spin's verifier it is enough that a process stands before the statement, whether or not that can be
//! executed: a reduction may have put off just the step that would make it so.

use promela::ir::{Action, Expr, Promise};
use system::{Fault, FaultKind};

use super::Interp;
use super::eval::{Mode, View};
use super::fault::Trap;
use super::state::State;

impl Interp {
    /// Whether there are promises to be checked.
    pub(super) fn checks_promises(&self) -> bool {
        self.program.promises.iter().any(|promise| promise.checked)
    }

    /// Tells who breaks promises in a state.
    pub(super) fn broken_promises(&self, state: &State, out: &mut Vec<Fault>) {
        for promise in self.program.promises.iter().filter(|promise| promise.checked) {
            let outside = View { program: &self.program, state, pid: None, mode: Mode::default() };
            let Ok(channel @ 1..) = outside.eval(&promise.chan) else { continue };
            for pid in 0..state.processes.len() {
                let process = &state.processes[pid];
                if process.proctype == promise.proctype {
                    continue;
                }
                let proctype = self.program.proctype(process.proctype);
                let inside = View { pid: Some(pid), ..outside };
                let mut edges = proctype.location(process.location).edges.iter().map(|id| proctype.edge(*id));
                let uses = |action: &Action| {
                    used(promise, action).is_some_and(|chan| inside.eval(chan) == Ok(channel))
                };
                if let Some(edge) = edges.find(|edge| uses(&edge.action)) {
                    let message = self.broken(promise, &proctype.name);
                    let trap = Trap { kind: FaultKind::Assertion, message, span: edge.span };
                    out.push(self.fault(trap, state, Some(pid)));
                }
            }
        }
    }

    fn broken(&self, promise: &Promise, user: &str) -> String {
        let owner = &self.program.proctype(promise.proctype).name;
        let (word, uses) = if promise.receive { ("xr", "receives from") } else { ("xs", "sends to") };
        format!("`{word} {}` of {owner} is not true: {user} {uses} it as well", promise.text)
    }
}

/// The channel that an action uses in the way that the promise is about.
fn used<'a>(promise: &Promise, action: &'a Action) -> Option<&'a Expr> {
    match action {
        Action::Send { chan, .. } if !promise.receive => Some(chan),
        Action::Receive { chan, .. } if promise.receive => Some(chan),
        _ => None,
    }
}
