//! Which actions a state enables, in Spin's order: highest pid first, edges in order, receivers of a
//! rendezvous highest pid first.
//!
//! Rules that look odd but can be observed:
//! - `else` is executable when no earlier edge of this visit was executed. A rendezvous send that somebody
//!   receives counts as executed; one that nobody receives does not.
//! - After an edge of an escape was executed, edges that belong to another escape or to none are not tried. A
//!   rendezvous send that nobody receives lifts that again.
//! - `timeout` is false, unless nobody can move otherwise; during a rendezvous and for a process in control
//!   of an atomic sequence it is always false.

use promela::ir::{Action as Statement, Edge, EdgeId, Proctype};
use system::ActionId;

use super::Interp;
use super::eval::{Mode, View};
use super::state::State;
use super::step::Step;
use crate::action::Action;

/// How much of the answer is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// All actions.
    All,
    /// Whether there is any.
    Any,
}

/// What became of trying an edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tried {
    /// It is not executable.
    Blocked,
    /// It offers a message on a rendezvous channel, and nobody takes it.
    Unheard,
    /// It was executed, or shows an error.
    Executed,
}

impl Interp {
    /// Appends the enabled actions of `state`, which is as before afterwards. Returns whether `timeout` had
    /// to be true.
    pub(super) fn moves(&self, state: &mut State, want: Want, out: &mut Vec<ActionId>) -> bool {
        if let Some(pid) = state.control {
            self.moves_of(state, usize::from(pid), false, want, out);
            return false;
        }
        let before = out.len();
        self.moves_of_all(state, false, want, out);
        if out.len() > before || !self.program.uses.timeout {
            return false;
        }
        self.moves_of_all(state, true, want, out);
        true
    }

    fn moves_of_all(&self, state: &mut State, timeout: bool, want: Want, out: &mut Vec<ActionId>) {
        let before = out.len();
        for pid in (0..state.processes.len()).rev() {
            self.moves_of(state, pid, timeout, want, out);
            if want == Want::Any && out.len() > before {
                return;
            }
        }
    }

    /// Appends the enabled actions of one process.
    pub(super) fn moves_of(
        &self,
        state: &mut State,
        pid: usize,
        timeout: bool,
        want: Want,
        out: &mut Vec<ActionId>,
    ) {
        self.moves_and_offers(state, pid, timeout, want, out, &mut |_, _| {});
    }

    /// Appends the enabled actions; `unheard` is told the edges that offer a message which nobody takes.
    pub(super) fn moves_and_offers(
        &self,
        state: &mut State,
        pid: usize,
        timeout: bool,
        want: Want,
        out: &mut Vec<ActionId>,
        unheard: &mut dyn FnMut(&State, &Edge),
    ) {
        let mut mode = Mode { timeout, ..Mode::default() };
        match self.view(state, pid, mode).may_move(pid) {
            Ok(true) => {}
            Ok(false) => return,
            Err(_) => return out.push(Action { pid, edge: None, partner: None }.pack()),
        }
        let process = state.processes[pid];
        let proctype = self.program.proctype(process.proctype);
        let mut escape = None;
        for &id in &proctype.location(process.location).edges {
            let edge = proctype.edge(id);
            if escape.is_some() && edge.escape != escape {
                break;
            }
            match self.try_edge(state, pid, id, mode, out) {
                Tried::Blocked => continue,
                Tried::Unheard => {
                    escape = None;
                    unheard(state, edge);
                }
                Tried::Executed if want == Want::Any => return,
                Tried::Executed => {
                    mode.moved = true;
                    escape = edge.escape;
                }
            }
        }
    }

    /// Appends the actions that one edge of a process stands for.
    fn try_edge(
        &self,
        state: &mut State,
        pid: usize,
        id: EdgeId,
        mode: Mode,
        out: &mut Vec<ActionId>,
    ) -> Tried {
        let proctype = self.program.proctype(state.processes[pid].proctype);
        let edge = proctype.edge(id);
        let view = self.view(state, pid, mode);
        match view.executable(proctype, edge) {
            Ok(false) => return Tried::Blocked,
            Ok(true) if is_rendezvous_send(&view, edge) => {
                let before = out.len();
                self.offer(state, pid, proctype, id, mode.timeout, out);
                if out.len() == before {
                    return Tried::Unheard;
                }
            }
            Ok(true) | Err(_) => out.push(Action::step(pid, id, edge)),
        }
        Tried::Executed
    }

    /// Appends the enabled actions of one process: for machines that leave what they cannot do themselves to
    /// this one.
    pub fn moves_of_process(&self, state: &[u8], pid: usize, timeout: bool, out: &mut Vec<ActionId>) {
        if let Ok(mut state) = self.decode(state)
            && pid < state.processes.len()
        {
            self.moves_of(&mut state, pid, timeout, Want::All, out);
        }
    }

    /// Offers a message on a rendezvous channel and appends an action for every receiver that would take it.
    /// A run-time error of the sender shows itself whether or not there is a receiver.
    fn offer(
        &self,
        state: &mut State,
        pid: usize,
        proctype: &Proctype,
        id: EdgeId,
        timeout: bool,
        out: &mut Vec<ActionId>,
    ) {
        let (location, last, event) = (state.processes[pid].location, state.last, state.event);
        let edge = proctype.edge(id);
        let Statement::Send { chan, .. } = &edge.action else { return };
        let Ok(channel) = self.view(state, pid, Mode { timeout, ..Mode::default() }).channel(chan) else {
            return;
        };
        match Step::new(self, state, timeout).perform(pid, proctype, edge, None) {
            Ok(()) => {
                state.processes[pid].location = edge.to;
                state.last = self.last(pid);
                for receiver in (0..state.processes.len()).rev().filter(|&receiver| receiver != pid) {
                    self.receivers(state, (pid, id), receiver, channel, out);
                }
            }
            Err(_) => out.push(Action::single(pid, id).pack()),
        }
        state.processes[pid].location = location;
        state.last = last;
        state.event = event;
        state.channels[channel].clear();
    }

    /// Appends the rendezvous in which process `receiver` takes what `sender` offers on `channel`.
    fn receivers(
        &self,
        state: &State,
        sender: (usize, EdgeId),
        receiver: usize,
        channel: usize,
        out: &mut Vec<ActionId>,
    ) {
        let process = state.processes[receiver];
        let proctype = self.program.proctype(process.proctype);
        let edges = &proctype.location(process.location).edges;
        if !edges.iter().any(|&id| may_receive(proctype.edge(id))) {
            return;
        }
        let view = self.view(state, receiver, Mode { pending: Some(channel), ..Mode::default() });
        if !view.may_move(receiver).unwrap_or(false) {
            return;
        }
        let mut escape = None;
        for &id in edges {
            let edge = proctype.edge(id);
            if escape.is_some() && edge.escape != escape {
                break;
            }
            if view.executable(proctype, edge).unwrap_or(true) {
                let (pid, sending) = sender;
                out.push(Action { pid, edge: Some(sending), partner: Some((receiver, id)) }.pack());
                escape = edge.escape;
            }
        }
    }

    /// A state as process `pid` sees it.
    pub(super) fn view<'a>(&'a self, state: &'a State, pid: usize, mode: Mode) -> View<'a> {
        View { program: &self.program, state, pid: Some(pid), mode }
    }

    /// The value of `_last` after a move of `pid`: always 0 when the program does not ask.
    pub(super) fn last(&self, pid: usize) -> u8 {
        if self.program.uses.last { pid as u8 } else { 0 }
    }
}

fn is_rendezvous_send(view: &View<'_>, edge: &Edge) -> bool {
    match &edge.action {
        Statement::Send { chan, .. } => view.channel(chan).is_ok_and(|channel| view.is_rendezvous(channel)),
        _ => false,
    }
}

fn may_receive(edge: &Edge) -> bool {
    matches!(edge.action, Statement::Receive { .. } | Statement::DStep { .. })
}
