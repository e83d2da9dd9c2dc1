//! Expressions: their values in a state, seen by one process.
//!
//! Arithmetic is C's on 32 bits: it wraps, shift counts are taken modulo 32, logic is short-circuit. Nothing
//! here changes a state; `run` is executed by the statement around it, which then tells the value
//! ([`Mode::run`]).

use promela::ir::{
    Base, BinaryOp, ChanOp, Expr, ExprKind, LocId, Place, Proctype, ProctypeId, ProctypeKind, Program,
    RecvArg, UnaryOp,
};
use promela::source::Span;

use super::fault::{Outcome, internal, runtime};
use super::process::MAX_PROCESSES;
use super::state::{Process, State};

/// How deep `enabled()` may ask about statements that ask `enabled()` themselves.
const MAX_ENABLED_DEPTH: u8 = 12;

/// What an evaluation depends on besides the state and the process.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mode {
    /// No process can move without `timeout` being true.
    pub timeout: bool,
    /// The rendezvous channel (an index) on which a message is on offer: only its receivers can move.
    pub pending: Option<usize>,
    /// The process whose turn it is has already executed a step from this location.
    pub moved: bool,
    /// The value of the `run` inside the expression, when it was executed.
    pub run: Option<i32>,
    /// Only a question (`enabled()`, priorities): nothing is going to happen.
    pub test: bool,
    /// How many `enabled()` are being asked.
    pub depth: u8,
}

/// A state as one process (or none, for invariants and trace assertions) sees it.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub program: &'a Program,
    pub state: &'a State,
    pub pid: Option<usize>,
    pub mode: Mode,
}

impl<'a> View<'a> {
    /// The value of an expression.
    pub fn eval(&self, expr: &Expr) -> Outcome<i32> {
        match &expr.kind {
            ExprKind::Const(value) => Ok(*value),
            ExprKind::Load(place) => self.load(place),
            ExprKind::Unary(op, operand) => {
                let value = self.eval(operand)?;
                Ok(unary(*op, value))
            }
            ExprKind::Binary(BinaryOp::And, left, right) => {
                Ok(i32::from(self.eval(left)? != 0 && self.eval(right)? != 0))
            }
            ExprKind::Binary(BinaryOp::Or, left, right) => {
                Ok(i32::from(self.eval(left)? != 0 || self.eval(right)? != 0))
            }
            ExprKind::Binary(op, left, right) => {
                let left = self.eval(left)?;
                let value = binary(*op, left, self.eval(right)?);
                value.map_or_else(|| runtime(expr.span, "division by zero"), Ok)
            }
            ExprKind::Cond(condition, yes, no) => {
                let chosen = if self.eval(condition)? != 0 { yes } else { no };
                self.eval(chosen)
            }
            _ => self.eval_special(expr),
        }
    }

    /// Expressions about channels, processes and the state as a whole.
    fn eval_special(&self, expr: &Expr) -> Outcome<i32> {
        match &expr.kind {
            ExprKind::Chan(op, chan) => self.chan_op(*op, chan),
            ExprKind::Poll { chan, random, args } => self.poll(chan, *random, args, expr.span),
            ExprKind::Run { .. } => self.run_value(expr.span),
            ExprKind::Enabled(pid) => self.enabled(pid, expr.span),
            ExprKind::C(piece) => self.value_of_c(*piece, expr.span),
            ExprKind::PcValue(pid) => {
                let process = self.process(self.eval(pid)?);
                Ok(process.map_or(0, |process| process.location.0 as i32))
            }
            ExprKind::GetPriority(pid) => {
                let process = self.process(self.eval(pid)?);
                Ok(process.map_or(0, |process| i32::from(process.priority)))
            }
            ExprKind::Pid => self.pid.map_or_else(|| no_process(expr.span), |pid| Ok(pid as i32)),
            ExprKind::NrPr => Ok(self.live().len() as i32),
            ExprKind::Last => Ok(i32::from(self.state.last)),
            ExprKind::Priority => self.own(expr.span).map(|process| i32::from(process.priority)),
            ExprKind::Timeout => Ok(i32::from(self.mode.timeout)),
            ExprKind::NonProgress => Ok(i32::from(!self.at_progress())),
            ExprKind::RemoteLabel { proctype, pid, location } => {
                self.remote_label(*proctype, pid.as_deref(), *location)
            }
            ExprKind::RemoteVar { proctype, pid, place } => {
                self.remote_var(*proctype, pid.as_deref(), place, expr.span)
            }
            ExprKind::Const(_)
            | ExprKind::Load(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Cond(..) => self.eval(expr),
        }
    }

    /// The value of a cell.
    pub fn load(&self, place: &Place) -> Outcome<i32> {
        let cell = self.cell(place)?;
        match place.base {
            Base::Global => Ok(self.state.globals[cell]),
            Base::Local => Ok(self.state.locals[self.own(place.span)?.first_cell + cell]),
            Base::Scratch => Ok(0),
        }
    }

    /// Which cell a place is, counted from the beginning of its base.
    pub fn cell(&self, place: &Place) -> Outcome<usize> {
        let mut cell = place.cell as usize;
        for index in &place.indices {
            let value = self.eval(&index.value)?;
            if value < 0 || value as u32 >= index.len {
                return runtime(
                    index.span,
                    format!(
                        "index {value} is out of bounds: the last element is {}",
                        index.len.saturating_sub(1)
                    ),
                );
            }
            cell += value as usize * index.stride as usize;
        }
        Ok(cell)
    }

    /// The process that evaluates.
    pub fn own(&self, span: Span) -> Outcome<&'a Process> {
        match self.pid.and_then(|pid| self.state.processes.get(pid)) {
            Some(process) => Ok(process),
            None => no_process(span),
        }
    }

    /// The proctype of a process.
    pub fn proctype_of(&self, process: &Process) -> &'a Proctype {
        self.program.proctype(process.proctype)
    }

    fn process(&self, pid: i32) -> Option<&'a Process> {
        usize::try_from(pid).ok().and_then(|pid| self.state.processes.get(pid))
    }

    /// The processes, without a claim that has its turn among them.
    fn live(&self) -> &'a [Process] {
        let processes = &self.state.processes[..];
        match processes.split_last() {
            Some((last, others)) if self.proctype_of(last).kind == ProctypeKind::Never => others,
            _ => processes,
        }
    }

    /// Some process is at a progress label.
    pub fn at_progress(&self) -> bool {
        let progress = |p: &Process| self.proctype_of(p).location(p.location).progress;
        self.live().iter().any(progress)
    }

    fn chan_op(&self, op: ChanOp, chan: &Expr) -> Outcome<i32> {
        if matches!(op, ChanOp::Full | ChanOp::Nfull) {
            let full = self.is_full(self.channel(chan)?);
            return Ok(i32::from(full == (op == ChanOp::Full)));
        }
        let len = self.channel_if_alive(chan)?.map_or(0, |index| self.state.channels[index].len);
        Ok(match op {
            ChanOp::Empty => i32::from(len == 0),
            ChanOp::Nempty => i32::from(len > 0),
            _ => len as i32,
        })
    }

    /// A poll is 1 when there is a message that matches. In Spin, in programs without rendezvous channels, a
    /// random poll that compares something is the position of that message instead, counted from 1.
    fn poll(&self, chan: &Expr, random: bool, args: &[RecvArg], span: Span) -> Outcome<i32> {
        let Some(index) = self.channel_if_alive(chan)? else { return Ok(0) };
        if self.is_rendezvous(index) {
            return runtime(span, "a rendezvous channel cannot be polled");
        }
        let Some(slot) = self.find_message(index, random, args, span)? else { return Ok(0) };
        let plain = self.program.chan_types.iter().any(|ty| ty.capacity == 0);
        Ok(if plain { 1 } else { slot as i32 + 1 })
    }

    /// A `run` that was not executed is only asked for: it would succeed as long as there is room.
    fn run_value(&self, span: Span) -> Outcome<i32> {
        let n = self.state.processes.len();
        match self.mode.run {
            Some(value) => Ok(value),
            None if n < MAX_PROCESSES => Ok(n.max(1) as i32),
            None if self.mode.test => Ok(0),
            None => runtime(span, format!("too many processes: there can be {MAX_PROCESSES}")),
        }
    }

    /// `enabled(pid)`: some edge of that process is executable. A rendezvous send counts as executable, and
    /// `else` looks at the moves of the *asking* process, both as in Spin.
    fn enabled(&self, pid: &Expr, span: Span) -> Outcome<i32> {
        let pid = self.eval(pid)?;
        if self.pid.is_some_and(|own| own as i32 == pid) {
            return runtime(span, "enabled() asks about the process that evaluates it");
        }
        if self.mode.depth >= MAX_ENABLED_DEPTH {
            return runtime(span, "enabled() of processes that ask enabled() of each other");
        }
        match self.process(pid) {
            Some(_) => self.is_enabled(pid as usize).map(i32::from),
            None => Ok(0),
        }
    }

    /// Whether some edge of process `pid` is executable, `provided` clauses and escapes aside.
    pub fn is_enabled(&self, pid: usize) -> Outcome<bool> {
        let mode = Mode { test: true, run: None, depth: self.mode.depth + 1, ..self.mode };
        let other = View { pid: Some(pid), mode, ..*self };
        let process = &self.state.processes[pid];
        let proctype = self.proctype_of(process);
        for &edge in &proctype.location(process.location).edges {
            if other.executable(proctype, proctype.edge(edge))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The process that a remote reference means: the one with the pid, or the lowest pid of the proctype.
    fn remote(&self, proctype: ProctypeId, pid: Option<&Expr>) -> Outcome<Option<&'a Process>> {
        match pid {
            Some(pid) => Ok(self.process(self.eval(pid)?)),
            None => Ok(self.state.processes.iter().find(|process| process.proctype == proctype)),
        }
    }

    /// As in Spin, the number of the location alone decides: a process of another proctype may happen to
    /// match.
    fn remote_label(&self, proctype: ProctypeId, pid: Option<&Expr>, location: LocId) -> Outcome<i32> {
        let process = self.remote(proctype, pid)?;
        Ok(i32::from(process.is_some_and(|process| process.location == location)))
    }

    /// A process that does not exist has the value 0 in all its variables, as in Spin.
    fn remote_var(
        &self,
        proctype: ProctypeId,
        pid: Option<&Expr>,
        place: &Place,
        span: Span,
    ) -> Outcome<i32> {
        let Some(process) = self.remote(proctype, pid)? else { return Ok(0) };
        if process.proctype != proctype {
            let name = &self.program.proctype(proctype).name;
            return runtime(span, format!("the process is not a {name}"));
        }
        let cell = self.cell(place)?;
        if cell >= self.proctype_of(process).n_cells as usize {
            return internal(span, "a remote reference to a cell that does not exist");
        }
        Ok(self.state.locals[process.first_cell + cell])
    }
}

fn no_process<T>(span: Span) -> Outcome<T> {
    runtime(span, "a process's own value is used where there is no process")
}

/// An operator with an evaluated operand.
pub(crate) fn unary(op: UnaryOp, value: i32) -> i32 {
    match op {
        UnaryOp::Neg => value.wrapping_neg(),
        UnaryOp::BitNot => !value,
        UnaryOp::Not => i32::from(value == 0),
    }
}

/// An operator with two evaluated operands; `None` for a division by zero.
pub(crate) fn binary(op: BinaryOp, left: i32, right: i32) -> Option<i32> {
    Some(match op {
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Sub => left.wrapping_sub(right),
        BinaryOp::Mul => left.wrapping_mul(right),
        BinaryOp::Div | BinaryOp::Rem if right == 0 => return None,
        BinaryOp::Div => left.wrapping_div(right),
        BinaryOp::Rem => left.wrapping_rem(right),
        BinaryOp::BitAnd => left & right,
        BinaryOp::BitOr => left | right,
        BinaryOp::BitXor => left ^ right,
        BinaryOp::Shl => left.wrapping_shl(right as u32),
        BinaryOp::Shr => left.wrapping_shr(right as u32),
        BinaryOp::Lt => i32::from(left < right),
        BinaryOp::Le => i32::from(left <= right),
        BinaryOp::Gt => i32::from(left > right),
        BinaryOp::Ge => i32::from(left >= right),
        BinaryOp::Eq => i32::from(left == right),
        BinaryOp::Ne => i32::from(left != right),
        BinaryOp::And => i32::from(left != 0 && right != 0),
        BinaryOp::Or => i32::from(left != 0 || right != 0),
    })
}

/// Stores a value, truncated to what the cell holds.
pub(super) fn store(
    program: &Program,
    state: &mut State,
    pid: Option<usize>,
    mode: Mode,
    place: &Place,
    value: i32,
) -> Outcome<()> {
    let view = View { program, state, pid, mode };
    let cell = view.cell(place)?;
    let value = place.scalar.truncate(value);
    match place.base {
        Base::Global => state.globals[cell] = value,
        Base::Local => {
            let first = view.own(place.span)?.first_cell;
            state.locals[first + cell] = value;
        }
        Base::Scratch => {}
    }
    Ok(())
}
