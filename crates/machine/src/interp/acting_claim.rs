//! A never claim that acts: it changes variables of the model, so that it is no observer but takes part in
//! the run.
//!
//! Spin warns about such claims and runs them. Here claim and program become one system. An ordinary state is
//! one in which the claim has moved and the program is to; the program's step leads to a transient state,
//! from which the claim moves by the rules that hold for every process (`moves`, `fire`): for that time it is
//! the process with the highest pid of the state. In the initial state the claim is to move first. So
//! searches, fairness, replay and stories know the claim's steps as steps, of nobody ([`NOBODY`]).
//!
//! As in every product: a claim that cannot move gives the run up, also inside an atomic sequence; a state in
//! which the program can do nothing is repeated; errors of the program are not the claim's, but a step that
//! cannot be completed is told. Nothing is left out or merged here, because everything that the claim changes
//! may matter to everybody.

use promela::ir::{Action as Statement, EdgeId, ExprKind, LocId, Proctype, ProctypeId, Program, visit};
use promela::source::Location;
use system::layer::Inner;
use system::portable::StableHash;
use system::{
    ActionId, Capabilities, Event, Explain, Fault, FaultKind, Labels, Layer, Move, NOBODY, SleepMask,
    Snapshot, StepInfo, Successors, TransitionSystem, Worker, follow_by,
};

use super::Interp;
use super::explain::edge_taken;
use super::layout::find_run;
use super::moves::Want;
use super::process;
use super::state::Process;
use crate::action::Action;
use crate::claim::Unsuitable;

/// The number of the claim in its actions: no process has it.
const CLAIM: usize = 0xff;
/// The edge that stands for a repetition of the program's state.
const REPEAT: EdgeId = EdgeId(0xff_fffe);
/// Bytes before the program's state: whose turn it is, where the claim is.
const HEAD: usize = 3;

/// Who moves in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Turn {
    /// The program.
    Program,
    /// A process inside an atomic sequence.
    ProgramInside,
    /// The claim.
    Claim,
    /// The claim, inside an atomic sequence.
    ClaimInside,
}

impl Turn {
    const ALL: [Turn; 4] = [Turn::Program, Turn::ProgramInside, Turn::Claim, Turn::ClaimInside];
}

/// A program together with a never claim that acts.
#[derive(Debug)]
pub struct ActingClaim {
    interp: Interp,
    claim: ProctypeId,
    /// Some condition of the claim is about `timeout`.
    asks_timeout: bool,
    end: Fault,
}

/// Whether a never claim changes something.
pub fn acts(program: &Program, claim: ProctypeId) -> bool {
    program.proctype(claim).edges.iter().any(|edge| changes(&edge.action))
}

fn changes(action: &Statement) -> bool {
    matches!(action, Statement::Assign(..) | Statement::SetPriority(..))
}

impl ActingClaim {
    /// The machine's program with one of its claims.
    pub fn new(interp: Interp, claim: ProctypeId) -> Result<Self, Unsuitable> {
        let proctype = interp.program.proctype(claim);
        if let Some(edge) = proctype.edges.iter().find(|edge| find_run(&edge.action).is_some()) {
            let message = format!("the never claim {} starts a process", proctype.name);
            return Err(Unsuitable { message, span: edge.span });
        }
        if let Some(edge) = proctype.edges.iter().find(|edge| matches!(edge.action, Statement::C(_))) {
            let message =
                format!("the never claim {} executes c_code: a claim can have c_expr only", proctype.name);
            return Err(Unsuitable { message, span: edge.span });
        }
        if proctype.locations.len() > usize::from(u16::MAX) {
            let message = format!("the never claim {} has more than {} locations", proctype.name, u16::MAX);
            return Err(Unsuitable { message, span: proctype.span });
        }
        let mut asks_timeout = false;
        let mut look = |expr: &promela::ir::Expr| asks_timeout |= matches!(expr.kind, ExprKind::Timeout);
        for edge in &proctype.edges {
            visit::walk_action(&edge.action, &mut |expr| visit::walk(expr, &mut look));
        }
        let place = interp.locate(proctype.span);
        let end = Fault {
            kind: FaultKind::ClaimEnd,
            message: "the never claim reached its end".to_string(),
            file: place.file,
            line: place.line,
            column: place.column,
            process: Some(proctype.name.clone()),
            pid: None,
        };
        Ok(ActingClaim { interp, claim, asks_timeout, end })
    }

    /// The claim's name.
    pub fn name(&self) -> &str {
        &self.proctype().name
    }

    /// The first statement that changes something.
    pub fn place(&self) -> Location {
        let edge = self.proctype().edges.iter().find(|edge| changes(&edge.action));
        self.interp.locate(edge.map_or(self.proctype().span, |edge| edge.span))
    }

    fn proctype(&self) -> &Proctype {
        self.interp.program.proctype(self.claim)
    }

    /// Takes a state apart; nothing for bytes that are none.
    fn split<'s>(&self, state: &'s [u8]) -> Option<(Turn, LocId, &'s [u8])> {
        let (&[turn, low, high], rest) = state.split_first_chunk::<HEAD>()?;
        let location = LocId(u32::from(u16::from_le_bytes([low, high])));
        let known = location.index() < self.proctype().locations.len();
        Some((*Turn::ALL.get(usize::from(turn)).filter(|_| known)?, location, rest))
    }

    /// The steps of the program, after which the claim moves. A state without any is repeated.
    fn program_moves(&self, location: LocId, rest: &[u8], out: &mut Successors) {
        let mut steps = Successors::default();
        self.interp.outcomes(rest, &mut steps);
        for step in &steps.list {
            let Some(next) = steps.state(step) else {
                out.push(step.action, None, false, steps.fault(step).cloned());
                continue;
            };
            let turn = if step.is_transient() { Turn::ProgramInside } else { Turn::Claim };
            out.push_with(step.action, |bytes| write(bytes, turn, location, next), true, None);
        }
        if steps.list.is_empty() {
            let repeat = Action::single(CLAIM, REPEAT).pack();
            out.push_with(repeat, |bytes| write(bytes, Turn::Claim, location, rest), true, None);
        }
    }

    /// All steps of a state.
    fn outcomes(&self, state: &[u8], out: &mut Successors) {
        match self.split(state) {
            None => out.push_invalid(ActionId::INVALID, "the claim is nowhere"),
            Some((Turn::Program | Turn::ProgramInside, location, rest)) => {
                self.program_moves(location, rest, out);
            }
            Some((turn, location, rest)) => {
                self.claim_moves(turn == Turn::ClaimInside, location, rest, out);
            }
        }
    }

    /// The moves of the claim.
    fn claim_moves(&self, inside: bool, location: LocId, rest: &[u8], out: &mut Successors) {
        let interp = &self.interp;
        let mut state = match interp.decode(rest) {
            Ok(state) => state,
            Err(trap) => return out.push_invalid(ActionId::INVALID, &trap.message),
        };
        let timeout = self.asks_timeout && !inside && interp.needs_timeout(&mut state);
        let pid = state.processes.len();
        state.processes.push(Process {
            proctype: self.claim,
            location,
            priority: u8::MAX,
            first_cell: state.locals.len(),
            first_channel: state.channels.len(),
        });
        let mut actions = Vec::new();
        interp.moves_of(&mut state, pid, timeout, Want::All, &mut actions);
        for action in actions.into_iter().map(Action::unpack) {
            let shown = Action { pid: CLAIM, ..action }.pack();
            let mut next = state.clone();
            let (result, failed) = interp.fire_alone(&mut next, action, timeout);
            if let Err(trap) = result {
                out.push(shown, None, false, Some(interp.fault(*trap, &state, Some(pid))));
                continue;
            }
            let fault = failed
                .into_iter()
                .next()
                .map(|(_, trap)| Fault { pid: None, ..interp.fault(trap, &state, Some(pid)) });
            let at = next.processes[pid].location;
            if self.proctype().location(at).end {
                out.push(shown, None, false, Some(fault.unwrap_or_else(|| self.end.clone())));
                continue;
            }
            let inside = next.control.take().is_some();
            let gives_up = !inside && action.edge.is_some_and(|edge| self.proctype().edge(edge).atomic);
            if gives_up && fault.is_none() {
                continue;
            }
            process::end(&mut next);
            next.last = state.last;
            let turn = if inside { Turn::ClaimInside } else { Turn::Program };
            let mut bytes = Vec::new();
            interp.encode(&next, &mut bytes);
            match gives_up {
                true => out.push(shown, None, false, fault),
                false => out.push_with(shown, |out| write(out, turn, at, &bytes), inside, fault),
            }
        }
    }
}

fn write(out: &mut Vec<u8>, turn: Turn, location: LocId, rest: &[u8]) {
    out.push(turn as u8);
    out.extend_from_slice(&(location.0 as u16).to_le_bytes());
    out.extend_from_slice(rest);
}

fn is_of_claim(action: ActionId) -> bool {
    Action::process(action) == CLAIM
}

impl Layer for ActingClaim {
    fn inner(&self) -> Inner<'_> {
        Inner::new(&self.interp)
    }

    fn around(&self) -> (usize, usize) {
        (HEAD, 0)
    }

    fn validate(&self, head: &[u8], _tail: &[u8]) -> Result<(), &'static str> {
        self.split(head).map(drop).ok_or("the claim is nowhere")
    }

    /// The claim is a proctype of the program; which one it is decides.
    fn own_fingerprint(&self) -> u64 {
        StableHash::new(u64::from(self.claim.0)).bytes(b"acting claim").finish()
    }

    fn is_own(&self, action: ActionId) -> bool {
        is_of_claim(action)
    }
}

impl TransitionSystem for ActingClaim {
    fn initial(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        let start = self.proctype().start;
        if self.proctype().location(start).end {
            return Err(self.end.clone());
        }
        write(out, Turn::Claim, start, &[]);
        self.interp.initial(out)
    }

    fn enabled(&self, state: &[u8], out: &mut Vec<ActionId>) {
        let mut all = Successors::default();
        self.outcomes(state, &mut all);
        out.extend(all.list.iter().map(|outcome| outcome.action));
    }

    fn fire(&self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        let mut all = Successors::default();
        self.outcomes(state, &mut all);
        for &action in actions {
            if let Some(outcome) = all.list.iter().find(|outcome| outcome.action == action) {
                out.push(action, all.state(outcome), outcome.is_transient(), all.fault(outcome).cloned());
            }
        }
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(Together(self))
    }

    /// Acceptance is the claim's, where it has moved; ends are no errors where there is a claim.
    fn labels(&self, state: &[u8]) -> Labels {
        let accepting = self.split(state).is_some_and(|(turn, location, _)| {
            turn == Turn::Program && self.proctype().location(location).accept
        });
        Labels { accepting, valid_end: true, ..Labels::default() }
    }

    fn hidden_bytes(&self) -> usize {
        self.interp.hidden_bytes()
    }

    fn deadlock(&self, state: &[u8]) -> Fault {
        self.interp.deadlock(self.inner_state(state))
    }

    /// Invariants are the program's, not the claim's.
    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities { invariants: None, ..self.forwarded() }
    }
}

/// One thread's access.
struct Together<'a>(&'a ActingClaim);

impl Worker for Together<'_> {
    fn enabled(&mut self, state: &[u8], out: &mut Vec<ActionId>) {
        self.0.enabled(state, out);
    }

    fn fire(&mut self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        self.0.fire(state, actions, out);
    }

    fn expand_active(&mut self, state: &[u8], asleep: SleepMask, out: &mut Successors) {
        debug_assert!(asleep.is_none(), "the claim sees every step");
        self.0.outcomes(state, out);
    }

    fn follow(&mut self, state: &[u8], most: u32, out: &mut Successors) -> usize {
        follow_by(state, most, out, |state, out| self.0.outcomes(state, out))
    }
}

impl Explain for ActingClaim {
    fn step(&self, state: &[u8], action: ActionId) -> StepInfo {
        if !is_of_claim(action) {
            return self.interp.step(state.get(HEAD..).unwrap_or_default(), action);
        }
        let edge = Action::unpack(action).edge.and_then(|id| self.proctype().edges.get(id.index()));
        let place = self.interp.locate(edge.map_or(self.proctype().span, |edge| edge.span));
        StepInfo {
            process: self.proctype().name.clone(),
            pid: NOBODY,
            file: place.file,
            line: place.line,
            column: place.column,
            text: edge.map_or_else(|| "(nobody can move)".to_string(), |edge| edge.text.clone()),
            partner: None,
        }
    }

    fn snapshot(&self, state: &[u8]) -> Snapshot {
        self.interp.snapshot(state.get(HEAD..).unwrap_or_default())
    }

    fn events(&self, state: &[u8], action: ActionId) -> Vec<Event> {
        match is_of_claim(action) {
            true => Vec::new(),
            false => self.interp.events(state.get(HEAD..).unwrap_or_default(), action),
        }
    }

    fn edges_taken(&self, state: &[u8], action: ActionId) -> Vec<Move> {
        if !is_of_claim(action) {
            return self.interp.edges_taken(state.get(HEAD..).unwrap_or_default(), action);
        }
        let taken = |edge| edge_taken(self.proctype(), edge, self.split(state)?.1.0);
        Action::unpack(action).edge.and_then(taken).into_iter().collect()
    }
}
