//! A long run in short: steps that one process takes after another are one turn, and a rendezvous is a turn
//! of two. Lanes of runs with thousands of steps are drawn from these.

use crate::exploration::Exploration;
use serde::Serialize;
use std::collections::HashMap;
use system::{Event, NOBODY};

/// Steps that one answer looks at; the next one goes on where it stopped.
pub const MOST_STEPS: usize = 5000;

/// What a turn shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The process acts alone.
    Local,
    /// It sends, or takes part in a rendezvous.
    Send,
    /// It receives, and sends nothing.
    Receive,
    /// It shows an error.
    Fault,
}

/// A process that takes part.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Actor {
    /// Its number; `None` for a claim.
    pub pid: Option<u32>,
    /// Its name.
    pub process: String,
}

/// Steps of one process after another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Turn {
    /// The first step.
    pub from: usize,
    /// The last step.
    pub to: usize,
    /// Who, by its place in the list of actors.
    pub actor: usize,
    /// Who receives in a rendezvous; such a turn has one step.
    pub partner: Option<usize>,
    /// What it shows.
    pub kind: Kind,
}

/// The turns of some steps.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Turns {
    /// Who takes part in them.
    pub actors: Vec<Actor>,
    /// The turns, in order.
    pub turns: Vec<Turn>,
    /// The first step that was not looked at, if there is one.
    pub go_on: Option<usize>,
}

impl Exploration<'_, '_> {
    /// The turns from step `from` on. A turn that is cut by the limit goes on in the next answer.
    pub fn turns(&self, from: usize) -> Turns {
        let first = from.max(self.run().first() + 1);
        let len = self.run().len();
        let last = len.min(first.saturating_add(MOST_STEPS - 1));
        let mut known = HashMap::new();
        let mut out =
            Turns { actors: Vec::new(), turns: Vec::new(), go_on: (last < len).then_some(last + 1) };
        for number in first..=last {
            let Some(info) = self.run().info(number) else { continue };
            let mut place = |pid: u32, process: &str| {
                *known.entry((pid, process.to_string())).or_insert_with(|| {
                    let pid = (pid != NOBODY).then_some(pid);
                    out.actors.push(Actor { pid, process: process.to_string() });
                    out.actors.len() - 1
                })
            };
            let actor = place(info.pid, &info.process);
            let partner = info.partner.as_ref().map(|partner| place(partner.pid, &partner.process));
            let kind = self.kind(number, info.pid);
            match out.turns.last_mut() {
                Some(turn) if turn.actor == actor && turn.partner.is_none() && partner.is_none() => {
                    turn.to = number;
                    turn.kind = stronger(turn.kind, kind);
                }
                _ => out.turns.push(Turn { from: number, to: number, actor, partner, kind }),
            }
        }
        out
    }

    fn kind(&self, number: usize, pid: u32) -> Kind {
        if self.run().step(number).is_some_and(|taken| taken.fault.is_some()) {
            return Kind::Fault;
        }
        let of = |event: &Event| match event {
            Event::Send { pid: by, .. } | Event::Handshake { pid: by, .. } if *by == pid => Kind::Send,
            Event::Receive { pid: by, .. } if *by == pid => Kind::Receive,
            _ => Kind::Local,
        };
        self.run().events(number).iter().map(of).fold(Kind::Local, stronger)
    }
}

/// An error hides everything, a send a receive.
fn stronger(a: Kind, b: Kind) -> Kind {
    [Kind::Fault, Kind::Send, Kind::Receive]
        .into_iter()
        .find(|kind| *kind == a || *kind == b)
        .unwrap_or(Kind::Local)
}
