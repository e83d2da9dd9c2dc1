//! The trace assertion: an automaton that follows the sends and receives of the channels it names.
//!
//! An event is a send, seen when the message is in the channel, or a receive that takes a message, seen while
//! it is still there. As in Spin the automaton looks at the last message of the channel for a send and at the
//! first for a receive, even where a sorted send or a random receive was about another one; only constants
//! (and `eval`) are compared. A `notrace` fails when its end is reached, and is over after the first event
//! that does not fit.
//!
//! A trace assertion only observes: what it forbids is told, and the step is taken all the same. As in Spin
//! the automaton then stays where it was, and a `notrace` that was matched is over.

use promela::ir::{Action, Edge, Expr, LocId, Proctype, ProctypeKind};
use promela::source::Span;
use system::Fault;

use super::Interp;
use super::eval::{Mode, View};
use super::fault::Outcome;
use super::layout::TraceLayout;
use super::moves::Want;
use super::state::State;
use super::step::Step;

/// What happened on a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Watched {
    Send,
    Receive,
}

impl Interp {
    /// Lets the trace assertion follow an event on `channel` (an index); says what is wrong with the event.
    pub(super) fn observe(
        &self,
        state: &mut State,
        event: Watched,
        channel: usize,
        span: Span,
    ) -> Outcome<Option<&'static str>> {
        let (Some(layout), Some(id)) = (&self.layout.trace, self.program.trace) else { return Ok(None) };
        let trace = self.program.proctype(id);
        let view = View { program: &self.program, state, pid: None, mode: Mode::default() };
        let Followed { to, wrong } = follow(&view, layout, trace, event, channel, span)?;
        if let Some(location) = to {
            state.event = Some(location);
        }
        Ok(wrong)
    }
}

impl Interp {
    /// Tells the offers of a state that the trace assertion forbids, and that nobody takes: as in Spin a
    /// rendezvous send is seen as soon as it is offered. (One that is taken shows the error itself.)
    pub(super) fn forbidden_offers(&self, state: &State, out: &mut Vec<Fault>) {
        if !self.program.trace_sees_offers() {
            return;
        }
        let mut state = state.clone();
        for pid in (0..state.processes.len()).rev() {
            let proctype = self.program.proctype(state.processes[pid].proctype);
            let mut look = |state: &State, edge: &Edge| {
                let mut next = state.clone();
                let mut step = Step::new(self, &mut next, false);
                if step.perform(pid, proctype, edge, None).is_ok() {
                    let failed = std::mem::take(&mut step.failed);
                    out.extend(failed.into_iter().map(|(pid, trap)| self.fault(trap, state, Some(pid))));
                }
            };
            self.moves_and_offers(&mut state, pid, false, Want::All, &mut Vec::new(), &mut look);
        }
    }
}

/// What an event does to the automaton.
#[derive(Default)]
struct Followed {
    /// Where it goes, if it does not stay.
    to: Option<LocId>,
    /// What is wrong with the event.
    wrong: Option<&'static str>,
}

fn follow(
    view: &View<'_>,
    layout: &TraceLayout,
    trace: &Proctype,
    event: Watched,
    channel: usize,
    span: Span,
) -> Outcome<Followed> {
    let Some(now) = view.state.event else { return Ok(Followed::default()) };
    if !in_scope(view, layout, trace, event, channel) {
        return Ok(Followed::default());
    }
    let negated = trace.kind == ProctypeKind::NoTrace;
    if Some(now) != layout.end {
        let mut fitting = Vec::new();
        for &id in &trace.location(now).edges {
            let edge = trace.edge(id);
            let otherwise = matches!(edge.action, Action::Else) && fitting.is_empty();
            if otherwise || fits(view, edge, event, channel, span)? {
                fitting.push(edge.to);
            }
        }
        if let Some(&to) = fitting.first() {
            let wrong = if negated && Some(to) == layout.end {
                Some("the notrace assertion is matched")
            } else if fitting.len() > 1 {
                Some("the trace assertion allows the event in two ways")
            } else {
                None
            };
            return Ok(Followed { to: Some(to), wrong });
        }
    }
    match negated {
        true => Ok(Followed { to: layout.end, wrong: None }),
        false => Ok(Followed { to: None, wrong: Some("the trace assertion does not allow this event") }),
    }
}

/// Whether events of this kind on this channel concern the trace assertion: some statement of it names the
/// channel.
fn in_scope(view: &View<'_>, layout: &TraceLayout, trace: &Proctype, event: Watched, channel: usize) -> bool {
    layout.events.iter().any(|&id| match &trace.edge(id).action {
        Action::Event { send, chan, .. } => *send == (event == Watched::Send) && names(view, chan, channel),
        _ => false,
    })
}

fn names(view: &View<'_>, chan: &Expr, channel: usize) -> bool {
    view.channel(chan).is_ok_and(|index| index == channel)
}

fn fits(view: &View<'_>, edge: &Edge, event: Watched, channel: usize, span: Span) -> Outcome<bool> {
    match &edge.action {
        Action::Skip => Ok(true),
        Action::Guard(expr) => Ok(view.eval(expr)? != 0),
        Action::Event { send, chan, args } => {
            if *send != (event == Watched::Send) || !names(view, chan, channel) {
                return Ok(false);
            }
            let slot = if *send { view.state.channels[channel].len.saturating_sub(1) } else { 0 };
            view.matches(channel, slot, args, span)
        }
        _ => Ok(false),
    }
}
