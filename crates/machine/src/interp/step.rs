//! What executing one edge does to a state.
//!
//! The caller knows that the edge is executable, and moves the process to the edge's target afterwards. A
//! failed assertion, and an event that the trace assertion forbids, are remembered and execution goes on;
//! every other error ends the step without a successor.

use promela::ir::{Action, Edge, Expr, Place, Proctype, ProctypeId, RecvArg, Scalar};
use promela::source::Span;
use system::{Event, FaultKind};

use super::eval::{Mode, View, store};
use super::fault::{Failed, Outcome, Trap, internal, note_failed, runtime};
use super::layout::find_run;
use super::state::State;
use super::trace_assertion::Watched;
use super::{Interp, channel, process};

/// A step in the making.
pub(super) struct Step<'a> {
    pub interp: &'a Interp,
    pub state: &'a mut State,
    /// `timeout` is true.
    pub timeout: bool,
    /// What happened; `None` when nobody wants to know.
    pub log: Option<Vec<Event>>,
    /// What failed on the way.
    pub failed: Failed,
    /// The value of the `run` that the statement being executed contains.
    pub run: Option<i32>,
}

impl<'a> Step<'a> {
    /// A step that starts in `state`.
    pub fn new(interp: &'a Interp, state: &'a mut State, timeout: bool) -> Self {
        Step { interp, state, timeout, log: None, failed: Failed::new(), run: None }
    }

    /// The state as process `pid` sees it.
    pub fn view(&self, pid: usize, pending: Option<usize>) -> View<'_> {
        let mode = Mode { timeout: self.timeout, pending, run: self.run, ..Mode::default() };
        View { program: &self.interp.program, state: self.state, pid: Some(pid), mode }
    }

    /// Writes down what happens, if somebody wants to know.
    pub fn note(&mut self, event: impl FnOnce(&Interp, &State) -> Event) {
        if let Some(log) = &mut self.log {
            log.push(event(self.interp, self.state));
        }
    }

    fn eval(&self, pid: usize, expr: &Expr) -> Outcome<i32> {
        self.view(pid, None).eval(expr)
    }

    fn store(&mut self, pid: usize, place: &Place, value: i32) -> Outcome<()> {
        let mode = Mode { timeout: self.timeout, run: self.run, ..Mode::default() };
        store(&self.interp.program, self.state, Some(pid), mode, place, value)
    }

    /// Executes `edge` of process `pid`. `pending` is the rendezvous channel on which a message is on offer.
    /// A `run` inside the statement happens first and its value is then known.
    pub fn perform(
        &mut self,
        pid: usize,
        proctype: &Proctype,
        edge: &Edge,
        pending: Option<usize>,
    ) -> Outcome<()> {
        let (program, layout) = (&self.interp.program, &self.interp.layout);
        if let Some(expr) = self.interp.may_run(self.state.processes[pid].proctype, edge) {
            let mode = Mode { timeout: self.timeout, ..Mode::default() };
            let child = process::run(program, layout, self.state, pid, mode, expr)?;
            self.run = Some(child as i32);
            self.note(|interp, state| interp.run_event(state, pid, child));
        }
        let result = self.execute(pid, proctype, edge, pending);
        self.run = None;
        result
    }

    fn execute(
        &mut self,
        pid: usize,
        proctype: &Proctype,
        edge: &Edge,
        pending: Option<usize>,
    ) -> Outcome<()> {
        match &edge.action {
            Action::Skip | Action::Else => Ok(()),
            Action::Guard(expr) => self.guard(pid, edge, expr),
            Action::Assign(place, expr) => self.assign(pid, place, expr),
            Action::Send { chan, sorted, args } => self.send(pid, edge, chan, *sorted, args),
            Action::Receive { chan, random, keep, args } => {
                self.receive(pid, edge, chan, *random, *keep, args)
            }
            Action::Assert(expr) => self.assert(pid, edge, expr),
            Action::Printf(format, args) => self.printf(pid, format, args),
            Action::Printm(expr, set) => self.printm(pid, expr, *set),
            Action::C(piece) => self.execute_c(pid, *piece, edge.span),
            Action::SetPriority(who, priority) => self.set_priority(pid, who, priority, edge.span),
            Action::Lock(place) => self.lock(pid, place, edge.span),
            Action::Unlock(place) => self.unlock(pid, place, edge.span),
            Action::DStep { entry, exit, .. } => {
                self.d_step(pid, proctype, *entry, *exit, pending, edge.span)
            }
            Action::End if pid + 1 == self.state.processes.len() => {
                self.note(|interp, state| interp.end_event(state, pid));
                process::end(self.state);
                Ok(())
            }
            Action::Event { .. } => internal(edge.span, "an event of a trace assertion in a process"),
            Action::End => internal(edge.span, "only the process with the highest pid can end"),
        }
    }

    /// A condition, which holds.
    fn guard(&mut self, pid: usize, edge: &Edge, expr: &Expr) -> Outcome<()> {
        if self.eval(pid, expr)? == 0 {
            return internal(edge.span, "the condition does not hold");
        }
        Ok(())
    }

    fn assign(&mut self, pid: usize, place: &Place, expr: &Expr) -> Outcome<()> {
        let value = self.eval(pid, expr)?;
        self.store(pid, place, value)
    }

    /// Puts a message into a channel; on a rendezvous channel it is then on offer.
    fn send(&mut self, pid: usize, edge: &Edge, chan: &Expr, sorted: bool, args: &[Expr]) -> Outcome<()> {
        let view = self.view(pid, None);
        let channel = view.channel(chan)?;
        if view.is_full(channel) {
            return internal(edge.span, "the channel is full");
        }
        let mut message = args.iter().map(|arg| view.eval(arg)).collect::<Outcome<Vec<i32>>>()?;
        let program = &self.interp.program;
        let target = &mut self.state.channels[channel];
        channel::check_arity(message.len(), &program.chan_types[target.ty.index()], edge.span)?;
        let slot = channel::put_message(program, target, &mut message, sorted);
        self.note(|interp, state| interp.send_event(state, pid, channel, slot));
        self.observe(pid, Watched::Send, channel, edge.span)
    }

    /// Takes a message. As in Spin all fields but the last are stored before the trace assertion sees the
    /// event.
    fn receive(
        &mut self,
        pid: usize,
        edge: &Edge,
        chan: &Expr,
        random: bool,
        keep: bool,
        args: &[RecvArg],
    ) -> Outcome<()> {
        let view = self.view(pid, None);
        let channel = view.channel(chan)?;
        let Some(slot) = view.find_message(channel, random, args, edge.span)? else {
            return internal(edge.span, "there is no message to receive");
        };
        let values = (0..args.len())
            .map(|field| view.field(channel, slot, field, edge.span))
            .collect::<Outcome<Vec<i32>>>()?;
        let ty = &self.interp.program.chan_types[self.state.channels[channel].ty.index()];
        if !keep {
            channel::check_arity(args.len(), ty, edge.span)?;
        }
        self.note(|interp, state| interp.receive_event(state, pid, channel, slot, keep));
        for (i, (arg, value)) in args.iter().zip(values).enumerate() {
            if i + 1 == args.len() && !keep {
                self.observe(pid, Watched::Receive, channel, edge.span)?;
                self.state.channels[channel].remove(slot, ty.fields.len());
            }
            if let RecvArg::Store(place) = arg {
                self.store(pid, place, value)?;
            }
        }
        Ok(())
    }

    fn observe(&mut self, pid: usize, event: Watched, channel: usize, span: Span) -> Outcome<()> {
        if self.interp.layout.trace.is_some()
            && let Some(message) = self.interp.observe(self.state, event, channel, span)?
        {
            let trap = Trap { kind: FaultKind::Trace, message: message.to_string(), span };
            note_failed(&mut self.failed, pid, trap);
        }
        Ok(())
    }

    fn assert(&mut self, pid: usize, edge: &Edge, expr: &Expr) -> Outcome<()> {
        let holds = self.eval(pid, expr)? != 0;
        self.note(|_, _| Event::Assert { pid: pid as u32, holds });
        if !holds {
            let text = edge.text.trim().strip_prefix("assert").unwrap_or(&edge.text).trim();
            let text = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(text).trim();
            let message = format!("assertion violated: {text}");
            let trap = Trap { kind: FaultKind::Assertion, message, span: edge.span };
            note_failed(&mut self.failed, pid, trap);
        }
        Ok(())
    }

    /// A process that does not exist is ignored, as in Spin.
    fn set_priority(&mut self, pid: usize, who: &Expr, priority: &Expr, span: Span) -> Outcome<()> {
        let who = self.eval(pid, who)?;
        let priority = self.eval(pid, priority)?;
        let Some(process) = usize::try_from(who).ok().and_then(|who| self.state.processes.get_mut(who))
        else {
            return Ok(());
        };
        match u8::try_from(priority) {
            Ok(priority @ 1..) => {
                process.priority = priority;
                Ok(())
            }
            _ => runtime(span, format!("priority {priority} is not within 1..255")),
        }
    }

    fn lock(&mut self, pid: usize, place: &Place, span: Span) -> Outcome<()> {
        let value = self.view(pid, None).load(place)?;
        match place.scalar {
            Scalar::Lock if value == 0 => self.store(pid, place, pid as i32 + 1),
            Scalar::Lock => internal(span, "the lock is taken"),
            _ if value > 0 => self.store(pid, place, value - 1),
            _ => internal(span, "the semaphore is 0"),
        }
    }

    fn unlock(&mut self, pid: usize, place: &Place, span: Span) -> Outcome<()> {
        let value = self.view(pid, None).load(place)?;
        match place.scalar {
            Scalar::Lock if value == pid as i32 + 1 => self.store(pid, place, 0),
            Scalar::Lock if value == 0 => runtime(span, "the lock is released by a process, but it is free"),
            Scalar::Lock => {
                let holder = value - 1;
                runtime(span, format!("the lock is released by process {pid}, but process {holder} holds it"))
            }
            _ if value >= 255 => runtime(span, "the semaphore would exceed 255"),
            _ => self.store(pid, place, value + 1),
        }
    }
}

impl Interp {
    /// The `run` inside an edge of a proctype. Edges without one are known beforehand.
    fn may_run<'e>(&self, proctype: ProctypeId, edge: &'e Edge) -> Option<&'e Expr> {
        if self.layout.processes[proctype.index()].any_run { find_run(&edge.action) } else { None }
    }
}
