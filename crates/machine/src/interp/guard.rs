//! Which edges are executable.
//!
//! While a message is on offer on a rendezvous channel, nothing is executable but receives from that channel.
//! A rendezvous send is executable here as soon as nothing else is on offer; whether somebody takes the
//! message is found out by trying (see `moves`).

use promela::ir::{Action, Edge, Expr, LocId, Place, Proctype, RecvArg, Scalar};

use super::eval::View;
use super::fault::{Outcome, internal, runtime};

impl View<'_> {
    /// Whether `edge` of `proctype` is executable by the process. An error means that trying it shows the
    /// error.
    pub fn executable(&self, proctype: &Proctype, edge: &Edge) -> Outcome<bool> {
        match &edge.action {
            Action::Receive { chan, random, keep, args } => {
                self.can_receive(edge, chan, *random, *keep, args)
            }
            Action::DStep { entry, guards, .. } => self.can_start_d_step(proctype, *entry, *guards),
            _ if self.mode.pending.is_some() => Ok(false),
            Action::Guard(expr) => Ok(self.eval(expr)? != 0),
            Action::Else => Ok(!self.mode.moved),
            Action::Send { chan, .. } => {
                let channel = self.channel(chan)?;
                Ok(!self.is_full(channel))
            }
            Action::Lock(place) => self.can_lock(place),
            Action::End => Ok(self.pid.is_some_and(|pid| pid + 1 == self.state.processes.len())),
            Action::Event { .. } => internal(edge.span, "an event of a trace assertion in a process"),
            Action::Skip
            | Action::Assign(..)
            | Action::Assert(_)
            | Action::Printf(..)
            | Action::Printm(..)
            | Action::SetPriority(..)
            | Action::C(_)
            | Action::Unlock(_) => Ok(true),
        }
    }

    fn can_receive(
        &self,
        edge: &Edge,
        chan: &Expr,
        random: bool,
        keep: bool,
        args: &[RecvArg],
    ) -> Outcome<bool> {
        let channel = match self.channel_if_alive(chan) {
            Ok(Some(channel)) => channel,
            Ok(None) => return Ok(false),
            // It is an error of this process alone, and will be seen when nothing is on offer.
            Err(_) if self.mode.pending.is_some() => return Ok(false),
            Err(trap) => return Err(trap),
        };
        if self.is_rendezvous(channel) {
            if keep && self.mode.pending.is_none() {
                return runtime(edge.span, "a rendezvous channel cannot be polled");
            }
            if keep || self.mode.pending != Some(channel) {
                return Ok(false);
            }
        } else if self.mode.pending.is_some() {
            return Ok(false);
        }
        Ok(self.find_message(channel, random, args, edge.span)?.is_some())
    }

    fn can_lock(&self, place: &Place) -> Outcome<bool> {
        let value = self.load(place)?;
        Ok(if place.scalar == Scalar::Lock { value == 0 } else { value > 0 })
    }

    /// A d_step can start when one of its guards is executable; where there are none to ask, it always can.
    /// Where its first statement is no choice, that statement is asked.
    fn can_start_d_step(&self, proctype: &Proctype, entry: LocId, guards: Option<LocId>) -> Outcome<bool> {
        let edges = &proctype.location(guards.unwrap_or(entry)).edges;
        if guards.is_some() && edges.is_empty() {
            return Ok(self.mode.pending.is_none());
        }
        for &edge in edges {
            let edge = proctype.edge(edge);
            let executable = match edge.action {
                Action::DStep { .. } => return internal(edge.span, "a d_step inside a d_step"),
                Action::Else if guards.is_some() => self.mode.pending.is_none(),
                _ => self.executable(proctype, edge)?,
            };
            if executable {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
