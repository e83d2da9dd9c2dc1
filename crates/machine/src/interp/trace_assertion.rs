//! The trace assertion: an automaton that follows the sends and receives of the channels it names.
//!
//! An event is a send, seen when the message is in the channel, or a receive that takes a message, seen while it
//! is still there. As in Spin the automaton looks at the last message of the channel for a send and at the first
//! for a receive, even where a sorted send or a random receive was about another one; only constants (and `eval`)
//! are compared. A `notrace` fails when its end is reached, and is over after the first event that does not fit.

use promela::ir::{Action, Edge, Expr, LocId, Proctype, ProctypeKind};
use promela::source::Span;
use system::FaultKind;

use super::Interp;
use super::eval::{Mode, View};
use super::fault::{Outcome, Trap};
use super::layout::TraceLayout;
use super::state::State;

/// What happened on a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Watched {
    Send,
    Receive,
}

impl Interp {
    /// Lets the trace assertion follow an event on `channel` (an index).
    pub(super) fn observe(
        &self,
        state: &mut State,
        event: Watched,
        channel: usize,
        span: Span,
    ) -> Outcome<()> {
        let (Some(layout), Some(id)) = (&self.layout.trace, self.program.trace) else { return Ok(()) };
        let trace = self.program.proctype(id);
        let view = View { program: &self.program, state, pid: None, mode: Mode::default() };
        let next = follow(&view, layout, trace, event, channel, span)?;
        if let Some(location) = next {
            state.event = Some(location);
        }
        Ok(())
    }
}

fn follow(
    view: &View<'_>,
    layout: &TraceLayout,
    trace: &Proctype,
    event: Watched,
    channel: usize,
    span: Span,
) -> Outcome<Option<LocId>> {
    let Some(now) = view.state.event else { return Ok(None) };
    if !in_scope(view, layout, trace, event, channel) {
        return Ok(None);
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
            return if negated && Some(to) == layout.end {
                violated(span, "the notrace assertion is matched")
            } else if fitting.len() > 1 {
                violated(span, "the trace assertion allows the event in two ways")
            } else {
                Ok(Some(to))
            };
        }
    }
    if negated { Ok(layout.end) } else { violated(span, "the trace assertion does not allow this event") }
}

fn violated<T>(span: Span, message: &str) -> Outcome<T> {
    Err(Box::new(Trap { kind: FaultKind::Trace, message: message.into(), span }))
}

/// Whether events of this kind on this channel concern the trace assertion: some statement of it names the channel.
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
