//! The reference machine: executes the intermediate form one rule at a time.
//!
//! Written to be read against the language: [`state`] is what a state is, `codec` how it becomes bytes,
//! `eval` what expressions mean, `guard` when a statement is executable, `step` and `d_step` what it does,
//! `moves` who may do what in a state, `process` and `channel` how those live, `trace_assertion` what is
//! allowed to happen, `coverage` what ever happened, `acting_claim` a claim that takes part. This file makes
//! a transition system of it. It follows Spin's verifier exactly, because the states that both count must be
//! the same.

pub mod acting_claim;
pub mod anatomy;
mod blocked;
mod channel;
mod codec;
mod coverage;
mod d_step;
mod embedded;
pub(crate) mod eval;
mod evaluate;
mod events;
mod explain;
mod fault;
mod fire;
mod guard;
mod input;
pub mod layout;
mod look;
mod moves;
pub mod portable;
mod print;
mod process;
mod promise;
mod snapshot;
mod state;
mod step;
mod store_buffer;
mod trace_assertion;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, Mutex};

use promela::ir::{BinaryOp, Expr, ExprKind, Program, visit};
use promela::source::{Location, Span};
use stop::Stop;
use system::{
    ActionId, Capabilities, Components, Fault, FaultKind, Invariants, Labels, Processes, Propositions,
    SleepMask, Successors, TransitionSystem, Worker, follow_by,
};

use crate::action::Action;
use coverage::Taken;
use eval::{Mode, View};
use fault::{Outcome, Trap, internal};
use layout::Layout;
use moves::Want;
use state::State;

/// Finds the file, line and column of a span.
type Locate = Box<dyn Fn(Span) -> Location + Send + Sync>;

/// A program that can be executed.
///
/// Evaluation is recursive: expressions nested thousands deep need a thread with a large stack.
pub struct Interp {
    program: Arc<Program>,
    layout: Layout,
    /// Store buffers that a process has at most ([`crate::memory`]).
    n_buffers: u32,
    locate: Locate,
    /// Sets of propositions that may be asked for.
    propositions: Vec<Vec<Expr>>,
    /// Edges that were taken, for reports.
    taken: Taken,
    /// When to give up in the midst of a step.
    stop: Stop,
    /// Buffers that are not in use: one for every thread that ever expanded at the same time.
    scratch: Mutex<Vec<Scratch>>,
}

impl fmt::Debug for Interp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interp").field("program", &self.program.name).finish_non_exhaustive()
    }
}

/// Buffers for one expansion.
#[derive(Debug, Default)]
struct Scratch {
    /// The state that is expanded.
    state: State,
    /// Its enabled actions.
    actions: Vec<ActionId>,
    /// The state after an action.
    next: State,
}

impl Interp {
    /// A machine for `program`; `locate` tells where a span is, usually `SourceMap::location`. The error says
    /// what makes the program impossible to execute; programs that pass the verifier of the intermediate form
    /// have none.
    pub fn new(
        program: Arc<Program>,
        locate: impl Fn(Span) -> Location + Send + Sync + 'static,
    ) -> Result<Self, String> {
        layout::check(&program)?;
        if program.embedded.is_missing() {
            return Err("its embedded C is not compiled".to_string());
        }
        let layout = Layout::new(&program);
        let n_buffers = crate::memory::n_buffers(&program);
        let taken = Taken::new(&program);
        let (locate, propositions) = (Box::new(locate), Vec::new());
        let stop = Stop::never();
        Ok(Interp {
            program,
            layout,
            n_buffers,
            locate,
            propositions,
            taken,
            stop,
            scratch: Mutex::default(),
        })
    }

    /// This machine, made to give up in the midst of a long step when `stop` says so.
    pub fn obeying(self, stop: &Stop) -> Self {
        Interp { stop: stop.clone(), ..self }
    }

    /// This machine, made to evaluate sets of propositions, at most 64 in each.
    pub fn watched(self, propositions: Vec<Vec<Expr>>) -> Self {
        Interp { propositions, ..self }
    }

    /// The sets of propositions that can be asked for.
    pub fn watched_propositions(&self) -> &[Vec<Expr>] {
        &self.propositions
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// File, line and column of a span.
    pub fn locate(&self, span: Span) -> Location {
        (self.locate)(span)
    }

    fn decode(&self, bytes: &[u8]) -> Outcome<State> {
        let mut state = State::default();
        match codec::decode(&self.program, &self.layout, bytes, &mut state) {
            Ok(()) => Ok(state),
            Err(message) => internal(Span::NONE, message),
        }
    }

    /// Lends buffers to `work`; they keep their memory from one call to the next.
    fn with_scratch<T>(&self, work: impl FnOnce(&mut Scratch) -> T) -> T {
        let lent = self.scratch.lock().ok().and_then(|mut pool| pool.pop());
        let mut scratch = lent.unwrap_or_default();
        let result = work(&mut scratch);
        if let Ok(mut pool) = self.scratch.lock() {
            pool.push(scratch);
        }
        result
    }

    fn encode(&self, state: &State, out: &mut Vec<u8>) {
        codec::encode(&self.program, &self.layout, state, out);
    }

    /// An error as others see it; `pid` is the process to blame.
    fn fault(&self, trap: Trap, state: &State, pid: Option<usize>) -> Fault {
        let place = self.locate(trap.span);
        let process = pid.and_then(|pid| state.processes.get(pid));
        Fault {
            kind: trap.kind,
            message: trap.message,
            file: place.file,
            line: place.line,
            column: place.column,
            process: process.map(|process| self.program.proctype(process.proctype).name.clone()),
            pid: process.and(pid).map(|pid| pid as u32),
        }
    }

    fn initial_state(&self, state: &mut State) -> Outcome<()> {
        state.globals = vec![0; self.program.n_global_cells as usize];
        state.event = self.program.trace.map(|id| self.program.proctype(id).start);
        process::initialise(&self.program, state, None, &self.program.init)?;
        for active in &self.program.active {
            let span = self.program.proctype(active.proctype).span;
            let (program, layout) = (&self.program, &self.layout);
            let (proctype, priority) = (active.proctype, active.priority);
            let new = process::Instance { proctype, args: &[], priority, span };
            process::start(program, layout, state, &new)?;
        }
        Ok(())
    }

    /// `enabled` and `fire` in one.
    pub(crate) fn outcomes(&self, state: &[u8], out: &mut Successors) {
        self.with_scratch(|scratch| {
            let Scratch { state: current, actions, .. } = &mut *scratch;
            if let Err(why) = codec::decode(&self.program, &self.layout, state, current) {
                return out.push_invalid(ActionId::INVALID, why);
            }
            actions.clear();
            let timeout = self.moves(current, Want::All, actions);
            self.fire_all(scratch, timeout, out);
        });
    }

    /// Whether a state can show an error by itself.
    pub fn has_invariants(&self) -> bool {
        !self.program.invariants.is_empty() || self.checks_promises() || self.program.trace_sees_offers()
    }

    /// Whether process `pid` is where a run may end.
    fn at_end(&self, state: &State, pid: usize) -> bool {
        let process = &state.processes[pid];
        self.program.proctype(process.proctype).location(process.location).end
    }

    /// Whether the trace assertion is where a run may end.
    fn trace_at_end(&self, state: &State) -> bool {
        match (self.program.trace, state.event) {
            (Some(id), Some(location)) => self.program.proctype(id).location(location).end,
            _ => true,
        }
    }
}

/// Whether evaluating an expression may meet an error: it has an index, a divisor, a channel or a process that
/// may not exist.
pub fn may_fail(expr: &Expr) -> bool {
    let mut found = false;
    visit::walk(expr, &mut |part| {
        found |= match &part.kind {
            ExprKind::Load(place) => !place.indices.is_empty(),
            ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => true,
            ExprKind::Chan(..) | ExprKind::Poll { .. } => true,
            ExprKind::Enabled(_) | ExprKind::RemoteVar { .. } | ExprKind::C(_) => true,
            _ => false,
        };
    });
    found
}

/// Whether one of the propositions is about whether anybody can move.
pub fn mentions_timeout(propositions: &[Expr]) -> bool {
    let mut found = false;
    for proposition in propositions {
        visit::walk(proposition, &mut |part| found |= matches!(part.kind, ExprKind::Timeout));
    }
    found
}

impl TransitionSystem for Interp {
    fn initial(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        let mut state = State::default();
        match self.initial_state(&mut state) {
            Ok(()) => {
                self.encode(&state, out);
                Ok(())
            }
            Err(trap) => Err(self.fault(*trap, &state, state.processes.len().checked_sub(1))),
        }
    }

    fn enabled(&self, state: &[u8], out: &mut Vec<ActionId>) {
        match self.decode(state) {
            Ok(mut state) => drop(self.moves(&mut state, Want::All, out)),
            Err(_) => out.push(ActionId::INVALID),
        }
    }

    /// An action that does not exist in `state` gives an internal error.
    fn fire(&self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        match self.decode(state) {
            Ok(mut state) => {
                let timeout = self.needs_timeout(&mut state);
                let mut scratch = Scratch { state, actions: actions.to_vec(), ..Scratch::default() };
                self.fire_all(&mut scratch, timeout, out);
            }
            Err(trap) => {
                for &action in actions {
                    out.push(action, None, false, Some(self.fault((*trap).clone(), &State::default(), None)));
                }
            }
        }
    }

    fn labels(&self, state: &[u8]) -> Labels {
        let Ok(state) = self.decode(state) else { return Labels::default() };
        let locations =
            || state.processes.iter().map(|p| self.program.proctype(p.proctype).location(p.location));
        let ended = (0..state.processes.len()).all(|pid| self.at_end(&state, pid));
        Labels {
            accepting: locations().any(|location| location.accept),
            progress: locations().any(|location| location.progress),
            valid_end: state.processes.is_empty() || ended && self.trace_at_end(&state),
            channels_empty: state.channels.iter().all(|channel| channel.len == 0),
        }
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(Reference(self))
    }

    fn hidden_bytes(&self) -> usize {
        self.layout.hidden_bytes
    }

    fn deadlock(&self, state: &[u8]) -> Fault {
        match self.decode(state) {
            Ok(state) => self.explain_deadlock(&state),
            Err(trap) => self.fault(*trap, &State::default(), None),
        }
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            propositions: Some(self),
            processes: Some(self),
            components: Some(self),
            portable: Some(self),
            invariants: self.has_invariants().then_some(self as _),
            acceptance: None,
        }
    }
}

impl Interp {
    /// The values of expressions in a state, as a claim would see them; `None` for one that cannot be
    /// evaluated.
    pub fn values(&self, state: &[u8], expressions: &[Expr]) -> Vec<Option<i32>> {
        let Ok(mut state) = self.decode(state) else { return vec![None; expressions.len()] };
        let timeout = mentions_timeout(expressions) && self.needs_timeout(&mut state);
        let mode = Mode { timeout, ..Mode::default() };
        let view = View { program: &self.program, state: &state, pid: None, mode };
        expressions.iter().map(|expression| view.eval(expression).ok()).collect()
    }
}

impl Propositions for Interp {
    fn propositions(&self, set: usize, state: &[u8]) -> u64 {
        let Some(set) = self.propositions.get(set) else { return 0 };
        let Ok(mut state) = self.decode(state) else { return 0 };
        let mode =
            Mode { timeout: mentions_timeout(set) && self.needs_timeout(&mut state), ..Mode::default() };
        let view = View { program: &self.program, state: &state, pid: None, mode };
        let holds = |expr: &Expr| matches!(view.eval(expr), Ok(value) if value != 0);
        let bits = set.iter().enumerate().take(64).map(|(i, expr)| u64::from(holds(expr)) << i);
        bits.fold(0, |all, bit| all | bit)
    }

    fn may_fail(&self, set: usize) -> u64 {
        let set = self.propositions.get(set).map_or(&[][..], Vec::as_slice);
        let bits = set.iter().enumerate().take(64).map(|(i, expr)| u64::from(may_fail(expr)) << i);
        bits.fold(0, |all, bit| all | bit)
    }

    fn evaluation_error(&self, set: usize, number: u32, state: &[u8]) -> Option<Fault> {
        let expr = self.propositions.get(set)?.get(number as usize)?;
        let mut state = self.decode(state).ok()?;
        let timeout = mentions_timeout(std::slice::from_ref(expr)) && self.needs_timeout(&mut state);
        let mode = Mode { timeout, ..Mode::default() };
        let view = View { program: &self.program, state: &state, pid: None, mode };
        let trap = view.eval(expr).err()?;
        Some(self.fault(Trap { kind: FaultKind::Evaluation, ..*trap }, &state, None))
    }
}

impl Processes for Interp {
    fn process_of(&self, action: ActionId) -> u32 {
        Action::unpack(action).pid as u32
    }

    fn partner_of(&self, action: ActionId) -> Option<u32> {
        Action::unpack(action).partner.map(|(pid, _)| pid as u32)
    }

    fn n_processes(&self, state: &[u8]) -> usize {
        self.decode(state).map_or(0, |state| state.processes.len())
    }

    fn n_parts(&self) -> u32 {
        1 + self.n_buffers
    }

    fn part_of(&self, action: ActionId) -> u32 {
        Action::buffer_of(action).map_or(0, |buffer| 1 + buffer)
    }
}

impl Components for Interp {
    fn cuts(&self, key: &[u8], out: &mut Vec<usize>) {
        // Bytes that are no state are cut as far as they make sense.
        let _ = codec::cuts(&self.program, &self.layout, key, out);
    }
}

impl Invariants for Interp {
    fn inspect(&self, state: &[u8], out: &mut Vec<Fault>) {
        if !self.has_invariants() {
            return;
        }
        let Ok(state) = self.decode(state) else { return };
        self.broken_promises(&state, out);
        self.forbidden_offers(&state, out);
        let view = View { program: &self.program, state: &state, pid: None, mode: Mode::default() };
        for invariant in &self.program.invariants {
            let trap = match view.eval(&invariant.expr) {
                Ok(0) => Box::new(Trap {
                    kind: FaultKind::Invariant,
                    message: format!("invariant {} violated: {}", invariant.name, invariant.text),
                    span: invariant.span,
                }),
                Ok(_) => continue,
                // What cannot be evaluated does not hold.
                Err(trap) => Box::new(Trap {
                    kind: FaultKind::Invariant,
                    message: format!("invariant {} cannot be evaluated: {}", invariant.name, trap.message),
                    span: trap.span,
                }),
            };
            out.push(self.fault(*trap, &state, None));
        }
    }
}

/// One thread's access. Buffers come from the machine's pool, which all threads share.
struct Reference<'a>(&'a Interp);

impl Worker for Reference<'_> {
    fn enabled(&mut self, state: &[u8], out: &mut Vec<ActionId>) {
        self.0.enabled(state, out);
    }

    fn fire(&mut self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        self.0.fire(state, actions, out);
    }

    fn expand_active(&mut self, state: &[u8], asleep: SleepMask, out: &mut Successors) {
        let first = out.list.len();
        self.0.outcomes(state, out);
        if !asleep.is_none() {
            asleep.retain_active(self.0, state, &mut out.list, first);
        }
    }

    fn follow(&mut self, state: &[u8], most: u32, out: &mut Successors) -> usize {
        follow_by(state, most, out, |state, out| self.0.outcomes(state, out))
    }
}
