//! Steps in words, and who is stuck where; states in words are in `snapshot`, what happens in a step in
//! `events`.

use promela::ir::{Action as Statement, EdgeId, Proctype};
use promela::source::Span;
use system::coverage::Coverage;
use system::{ActionId, Blocked, Event, Explain, Fault, FaultKind, Move, NOBODY, Snapshot, StepInfo};

use super::Interp;
use super::fault::Trap;
use super::state::{Process, State};
use crate::action::Action;

impl Explain for Interp {
    fn step(&self, state: &[u8], action: ActionId) -> StepInfo {
        let action = Action::unpack(action);
        let state = self.decode(state).unwrap_or_default();
        let mut info = self.half_step(&state, action.pid, action.edge.map(|edge| edge.index()));
        if let Some((pid, edge)) = action.partner {
            info.partner = Some(Box::new(self.half_step(&state, pid, Some(edge.index()))));
        }
        info
    }

    fn snapshot(&self, state: &[u8]) -> Snapshot {
        self.decode(state).map(|state| self.view_state(&state)).unwrap_or_default()
    }

    fn events(&self, state: &[u8], action: ActionId) -> Vec<Event> {
        self.decode(state).map(|state| self.events_of(state, action)).unwrap_or_default()
    }

    fn edges_taken(&self, state: &[u8], action: ActionId) -> Vec<Move> {
        let action = Action::unpack(action);
        let state = self.decode(state).unwrap_or_default();
        let halves = [action.edge.map(|edge| (action.pid, edge)), action.partner];
        halves.into_iter().flatten().filter_map(|(pid, edge)| self.half_move(&state, pid, edge)).collect()
    }

    fn blocked(&self, state: &[u8]) -> Vec<Blocked> {
        self.decode(state).map(|mut state| self.blocked_in(&mut state)).unwrap_or_default()
    }

    fn coverage(&self) -> Option<Vec<Coverage>> {
        Some(self.statements())
    }
}

impl Interp {
    fn half_step(&self, state: &State, pid: usize, edge: Option<usize>) -> StepInfo {
        let process = state.processes.get(pid);
        let proctype = process.map(|process| self.program.proctype(process.proctype));
        let edge = proctype.and_then(|proctype| proctype.edges.get(edge?));
        let span = edge.map(|edge| edge.span).or(proctype.map(|proctype| proctype.span));
        let place = self.locate(span.unwrap_or(Span::NONE));
        StepInfo {
            process: proctype.map(|proctype| proctype.name.clone()).unwrap_or_default(),
            pid: pid as u32,
            file: place.file,
            line: place.line,
            column: place.column,
            text: match (edge, proctype) {
                (Some(edge), Some(proctype)) if edge.order.is_drain() => {
                    self.drain_text(state, pid, proctype, edge)
                }
                _ => edge.map(|edge| edge.text.clone()).unwrap_or_default(),
            },
            partner: None,
        }
    }

    fn half_move(&self, state: &State, pid: usize, edge: EdgeId) -> Option<Move> {
        let process = state.processes.get(pid)?;
        let proctype = self.program.proctype(process.proctype);
        Some(Move { pid: pid as u32, ..edge_taken(proctype, edge, process.location.0)? })
    }

    /// Where a process is: the place and the text of the first statement there.
    pub(super) fn here(&self, process: &Process) -> (Span, &str) {
        let proctype: &Proctype = self.program.proctype(process.proctype);
        let edges = &proctype.location(process.location).edges;
        let written = edges.iter().find(|id| !super::store_buffer::is_added(proctype.edge(**id)));
        match written.or(edges.first()) {
            Some(&id) => (proctype.edge(id).span, &proctype.edge(id).text),
            None => (proctype.span, ""),
        }
    }

    /// The error of a state without successors: how many are stuck, and where the first is; `blocked` says
    /// why.
    pub(super) fn explain_deadlock(&self, state: &State) -> Fault {
        let stuck: Vec<usize> = (0..state.processes.len()).filter(|&pid| !self.at_end(state, pid)).collect();
        let message = match &stuck[..] {
            [] if !self.trace_at_end(state) => {
                "invalid end state: the trace assertion is not complete".to_string()
            }
            [] => "invalid end state".to_string(),
            [only] => format!("invalid end state: {} is stuck", self.who(state, *only)),
            several => format!("invalid end state: {} processes are stuck", several.len()),
        };
        let span = match stuck.first() {
            Some(&pid) => self.here(&state.processes[pid]).0,
            None => self.program.trace.map_or(Span::NONE, |id| self.program.proctype(id).span),
        };
        let trap = Trap { kind: FaultKind::EndState, message, span };
        self.fault(trap, state, stuck.first().copied())
    }
}

/// The edge of a proctype or claim that is taken from a location, by nobody in particular.
pub(super) fn edge_taken(proctype: &Proctype, id: EdgeId, from: u32) -> Option<Move> {
    let edge = proctype.edges.get(id.index())?;
    let ends = matches!(edge.action, Statement::End);
    Some(Move {
        pid: NOBODY,
        proctype: proctype.name.clone(),
        edge: id.0,
        from,
        to: (!ends).then_some(edge.to.0),
    })
}
