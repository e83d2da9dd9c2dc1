//! Firing: from an action to the state it leads to, and to who has control there.
//!
//! After an edge inside an atomic sequence the process keeps control, provided that it can move; otherwise
//! the state is an ordinary one. After a rendezvous it is the receiver's edge that decides, and the receiver
//! who has control.

use promela::ir::{Action as Statement, Edge, EdgeId, Proctype};
use promela::source::Span;
use system::{ActionId, Event, Successors};

use super::eval::Mode;
use super::fault::{Failed, Outcome, internal, note_failed, runtime};
use super::moves::Want;
use super::process;
use super::state::State;
use super::step::Step;
use super::{Interp, Scratch};
use crate::action::Action;

/// A step that was taken, or the error that prevented it; `blame` is the process that executed last.
struct Fired {
    blame: usize,
    result: Outcome<()>,
    failed: Failed,
}

impl Interp {
    /// Appends the outcome of every action.
    pub(super) fn fire_all(&self, scratch: &mut Scratch, timeout: bool, out: &mut Successors) {
        let Scratch { state, actions, next } = scratch;
        for &id in actions.iter() {
            next.clone_from(state);
            let fired = self.fire_one(next, Action::unpack(id), timeout, &mut None);
            match fired.result {
                Ok(()) => {
                    out.push_with(id, |bytes| self.encode(next, bytes), next.control.is_some(), None);
                    for (pid, trap) in fired.failed {
                        out.also(self.fault(trap, state, Some(pid)));
                    }
                }
                Err(trap) => out.push(id, None, false, Some(self.fault(*trap, state, Some(fired.blame)))),
            }
        }
    }

    /// What happens when an action is fired.
    pub(super) fn logged(&self, mut state: State, id: ActionId) -> Vec<Event> {
        let timeout = self.needs_timeout(&mut state);
        let mut log = Some(Vec::new());
        self.fire_one(&mut state, Action::unpack(id), timeout, &mut log);
        log.unwrap_or_default()
    }

    /// Whether `timeout` is true in a state: it occurs, and nobody can move without it.
    pub(super) fn needs_timeout(&self, state: &mut State) -> bool {
        self.program.uses.timeout && self.moves(state, Want::Any, &mut Vec::new())
    }

    /// Turns `state` into the state after the action.
    fn fire_one(
        &self,
        state: &mut State,
        action: Action,
        timeout: bool,
        log: &mut Option<Vec<Event>>,
    ) -> Fired {
        let mut fired = Fired { blame: action.pid, result: Ok(()), failed: Failed::new() };
        fired.result = self.try_fire(state, action, timeout, log, &mut fired);
        fired
    }

    /// Turns `state` into the state after an action, with what was wrong: the error that prevented it,
    /// assertions that failed.
    pub(super) fn fire_alone(
        &self,
        state: &mut State,
        action: Action,
        timeout: bool,
    ) -> (Outcome<()>, Failed) {
        let Fired { result, failed, .. } = self.fire_one(state, action, timeout, &mut None);
        (result, failed)
    }

    fn try_fire(
        &self,
        state: &mut State,
        action: Action,
        timeout: bool,
        log: &mut Option<Vec<Event>>,
        fired: &mut Fired,
    ) -> Outcome<()> {
        let Some(id) = action.edge else { return self.provided_error(state, action.pid, timeout) };
        let (proctype, edge) = self.edge_of(state, action.pid, id)?;
        self.check_determinism(state, action, proctype, edge, timeout)?;
        self.check_start(state, action.pid, proctype, edge, timeout)?;
        let mut first = Step { log: log.take(), ..Step::new(self, state, timeout) };
        let channel = first.rendezvous(action.pid, edge)?;
        let kind = first.state.processes[action.pid].proctype;
        let result = first.perform(action.pid, proctype, edge, None);
        *log = first.log.take();
        result?;
        self.taken.note(kind, id);
        fired.failed = std::mem::take(&mut first.failed);
        state.last = self.last(action.pid);
        if !matches!(edge.action, Statement::End) {
            process::arrive(&self.program, state, action.pid, edge.to);
        }
        let (mover, edge) = match (channel, action.partner) {
            (None, None) => (action.pid, edge),
            (Some(channel), Some((receiver, id))) if receiver != action.pid => {
                fired.blame = receiver;
                let (proctype, edge) = self.edge_of(state, receiver, id)?;
                let mode = Mode { pending: Some(channel), ..Mode::default() };
                if !self.view(state, receiver, mode).executable(proctype, edge)? {
                    return internal(edge.span, "the partner does not receive");
                }
                let mut second = Step { log: log.take(), ..Step::new(self, state, false) };
                let result = second.perform(receiver, proctype, edge, Some(channel));
                *log = second.log.take();
                result?;
                self.taken.note(second.state.processes[receiver].proctype, id);
                second.failed.into_iter().for_each(|(pid, trap)| note_failed(&mut fired.failed, pid, trap));
                state.last = self.last(receiver);
                process::arrive(&self.program, state, receiver, edge.to);
                (receiver, edge)
            }
            (Some(_), _) => return internal(edge.span, "a rendezvous without a receiver"),
            (None, Some(_)) => return internal(edge.span, "a partner in a step that is no rendezvous"),
        };
        self.give_control(state, mover, edge);
        Ok(())
    }

    /// Shows the errors of a first look that executing would pass over: polling a rendezvous channel, and
    /// options of a d_step that come after the one that is taken.
    fn check_start(
        &self,
        state: &State,
        pid: usize,
        proctype: &Proctype,
        edge: &Edge,
        timeout: bool,
    ) -> Outcome<()> {
        if !matches!(edge.action, Statement::Receive { .. } | Statement::DStep { .. }) {
            return Ok(());
        }
        let view = self.view(state, pid, Mode { timeout, ..Mode::default() });
        match view.executable(proctype, edge)? {
            true => Ok(()),
            false => internal(edge.span, "the statement is not executable"),
        }
    }

    pub(super) fn give_control(&self, state: &mut State, pid: usize, edge: &Edge) {
        state.control = None;
        if edge.atomic && pid < state.processes.len() {
            let mut moves = Vec::new();
            self.moves_of(state, pid, false, Want::Any, &mut moves);
            if !moves.is_empty() {
                state.control = Some(pid as u8);
            }
        }
    }

    /// The edge with this number, provided that it leaves the location where the process is.
    fn edge_of(&self, state: &State, pid: usize, id: EdgeId) -> Outcome<(&Proctype, &Edge)> {
        let Some(process) = state.processes.get(pid) else {
            return internal(Span::NONE, format_args!("process {pid} does not exist"));
        };
        let proctype = self.program.proctype(process.proctype);
        if !proctype.location(process.location).edges.contains(&id) {
            return internal(proctype.span, format_args!("process {pid} is not at a step {}", id.0));
        }
        Ok((proctype, proctype.edge(id)))
    }

    /// The error in a process's `provided` clause.
    fn provided_error(&self, state: &State, pid: usize, timeout: bool) -> Outcome<()> {
        if pid < state.processes.len() {
            self.view(state, pid, Mode { timeout, ..Mode::default() }).may_move(pid)?;
        }
        internal(Span::NONE, "an action without a statement")
    }

    /// In a `D_proctype`, at most one edge may be executable.
    fn check_determinism(
        &self,
        state: &mut State,
        action: Action,
        proctype: &Proctype,
        edge: &Edge,
        timeout: bool,
    ) -> Outcome<()> {
        if !proctype.deterministic || is_exempt(&edge.action) {
            return Ok(());
        }
        let mut moves = Vec::new();
        self.moves_of(state, action.pid, timeout, Want::Any, &mut moves);
        match moves.first().map(|&first| Action::unpack(first).edge) {
            Some(first) if first != action.edge => {
                runtime(edge.span, "a D_proctype with two executable statements")
            }
            _ => Ok(()),
        }
    }
}

/// Statements that Spin does not check in a `D_proctype`.
fn is_exempt(action: &Statement) -> bool {
    matches!(action, Statement::Else | Statement::Skip | Statement::DStep { .. })
}

impl Step<'_> {
    /// The rendezvous channel on which `edge` of process `pid` sends.
    fn rendezvous(&self, pid: usize, edge: &Edge) -> Outcome<Option<usize>> {
        let Statement::Send { chan, .. } = &edge.action else { return Ok(None) };
        let view = self.view(pid, None);
        let channel = view.channel(chan)?;
        Ok(view.is_rendezvous(channel).then_some(channel))
    }
}
