//! Steps whose guard says that a channel holds enough messages, or has enough room, for all that follows.
//!
//! `atomic { nempty(in) && nfull(out) -> in?x; out!x }` takes from `in` and appends to `out` as a plain receive
//! and a plain send do: the guard is true when the step can be taken, so neither can block on the way, and a
//! send to `in` or a receive from `out` by another process changes nothing for it. Where the step only asks,
//! the guard is a condition that one of the two never makes false ([`length`](crate::facts::length)).
//!
//! A channel is *bounded* in a step when its number is known, the first edge is a condition whose parts about
//! it all have one direction, and all that follows are plain sends (or plain receives), at most as many on
//! any path as the guard admits.

use std::collections::{BTreeSet, HashMap};

use super::{Marker, asks_channel};
use crate::facts::guard::{self, LengthTest};
use crate::facts::length::{self, Direction};
use crate::facts::object::{AccessSets, Objects, Target};
use promela::ir::{Action, Edge, EdgeId, Expr, Proctype, RecvArg};

/// How a step uses a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It relies on a condition that this never makes false.
    Asks(Direction),
    /// It takes messages that are surely there.
    Takes,
    /// It appends messages for which there surely is room.
    Appends,
}

/// A channel that is bounded in a step.
#[derive(Clone, Debug)]
pub(super) struct Bounded {
    pub target: Target,
    pub used: Use,
}

impl Bounded {
    /// Notes the use of the channel.
    pub fn note(&self, sets: &mut AccessSets<'_>) {
        let Some(number) = self.target.number else { return };
        match self.used {
            Use::Asks(direction) => sets.rely_on(number, &self.target.types, direction),
            Use::Takes => sets.take(number, &self.target.types),
            Use::Appends => sets.append(number, &self.target.types),
        }
    }
}

/// What the guard says of a channel: what never makes it false, and how many messages the step may take, or
/// append.
#[derive(Clone, Debug)]
struct Promise {
    target: Target,
    direction: Direction,
    amount: u32,
}

impl Marker<'_> {
    /// The channels that are bounded in the step that an edge begins, and, if there are any, the edges that
    /// may follow it in the step.
    pub(super) fn bounded(&self, edge: &Edge) -> (Vec<Bounded>, BTreeSet<EdgeId>) {
        let none = (Vec::new(), BTreeSet::new());
        let Action::Guard(guard) = &edge.action else { return none };
        if !asks_channel(guard) {
            return none;
        }
        let proctype = self.program.proctype(self.who.id);
        let sequence = self.sequence(edge);
        let hands_over = |id: &EdgeId| self.may_hand_over(proctype.edge(*id));
        if self.program.trace.is_some()
            || proctype.deterministic
            || proctype.edges.iter().any(|edge| edge.escape.is_some())
            || proctype.provided.as_ref().is_some_and(asks_channel)
            || sequence.iter().any(hands_over)
        {
            return none;
        }
        let promises = self.promises(guard).into_iter();
        (promises.filter_map(|promise| self.kept(promise, &sequence)).collect(), sequence)
    }

    /// What a guard says of each channel that it asks about in a simple way only.
    fn promises(&self, guard: &Expr) -> Vec<Promise> {
        let mut found: Vec<Promise> = Vec::new();
        let mut spoiled: Vec<&Expr> = Vec::new();
        for part in guard::conjuncts(guard).into_iter().filter(|part| asks_channel(part)) {
            let Some(promise) = self.promise(part) else {
                spoiled.push(part);
                continue;
            };
            match found.iter_mut().find(|other| other.target == promise.target) {
                Some(other) if other.direction != promise.direction => spoiled.push(part),
                Some(other) => other.amount = other.amount.max(promise.amount),
                None => found.push(promise),
            }
        }
        // What any other part asks about is not simple.
        let spoiled: Vec<_> = spoiled.into_iter().flat_map(|part| self.read_by(part).channels).collect();
        found.retain(|promise| !spoiled.iter().any(|(name, _)| self.same(*name, &promise.target)));
        found
    }

    fn promise(&self, part: &Expr) -> Option<Promise> {
        let (target, capacity) = self.surely_means(length::asked(part)?)?;
        let condition = length::condition(part, capacity)?;
        let direction = condition.direction(capacity)?;
        let amount = match direction {
            Direction::Sends => condition.range.least,
            Direction::Receives => capacity - condition.range.most,
        };
        Some(Promise { target, direction, amount })
    }

    /// The channel that an expression always means, when it lives as long as anybody can ask, and how many
    /// messages it holds; nothing for a rendezvous channel.
    pub(super) fn surely_means(&self, chan: &Expr) -> Option<(Target, u32)> {
        let meant = self.analysis.meant(self.who, chan);
        let number = meant.first()?.number?;
        let ty = *self.analysis.channels.globals.get(number as usize)?;
        let capacity = self.program.chan_types[ty.index()].capacity;
        let one = meant.iter().all(|meant| meant.number == Some(number));
        let types = meant.iter().map(|meant| meant.ty).collect();
        (one && capacity > 0).then_some((Target { number: Some(number), types }, capacity))
    }

    /// A part of a guard that is about the length of a channel alone, and who can make it true.
    pub(super) fn length_test(&self, objects: &mut Objects, part: &Expr) -> Option<LengthTest> {
        let (target, capacity) = self.surely_means(length::asked(part)?)?;
        let condition = length::condition(part, capacity).filter(|condition| condition.exact)?;
        let mut fills = AccessSets::new(objects);
        fills.fill(&target);
        let fills = fills.conflicts;
        let mut drains = AccessSets::new(objects);
        drains.drain(&target);
        Some(LengthTest { number: target.number?, range: condition.range, fills, drains: drains.conflicts })
    }

    /// Whether what follows does what the guard has made room for, and what that is.
    fn kept(&self, promise: Promise, sequence: &BTreeSet<EdgeId>) -> Option<Bounded> {
        let proctype = self.program.proctype(self.who.id);
        let Promise { target, direction, amount } = promise;
        let uses = |id: &&EdgeId| {
            let access = &self.access[id.index()];
            let regions = [&access.guard.0, &access.effect.0, &access.writes.0];
            regions.iter().any(|region| region.channels.keys().any(|name| self.same(*name, &target)))
        };
        let users: Vec<EdgeId> = sequence.iter().filter(uses).copied().collect();
        if users.is_empty() {
            return Some(Bounded { target, used: Use::Asks(direction) });
        }
        let plain = |id: &EdgeId| self.is_plain_use(proctype.edge(*id), &target, direction);
        let enough = longest(proctype, &users).is_some_and(|longest| longest <= amount);
        let used = if direction == Direction::Sends { Use::Takes } else { Use::Appends };
        (users.iter().all(plain) && enough).then_some(Bounded { target, used })
    }

    /// Whether an edge is a plain receive from the channel (or a plain send to it, if the promise is room),
    /// and does not look at it otherwise.
    fn is_plain_use(&self, edge: &Edge, target: &Target, direction: Direction) -> bool {
        let (chan, asks) = match &edge.action {
            Action::Receive { chan, random: false, keep: false, args } if direction == Direction::Sends => {
                let asks = |arg: &RecvArg| match arg {
                    RecvArg::Match(expr) => asks_channel(expr),
                    RecvArg::Store(place) => place.indices.iter().any(|index| asks_channel(&index.value)),
                    RecvArg::Ignore => false,
                };
                (chan, args.iter().any(asks))
            }
            Action::Send { chan, sorted: false, args } if direction == Direction::Receives => {
                (chan, args.iter().any(asks_channel))
            }
            _ => return false,
        };
        !asks && self.surely_means(chan).is_some_and(|(meant, _)| meant.number == target.number)
    }
}

/// The most edges among these on a path of the proctype; `None` when one can be passed again and again.
fn longest(proctype: &Proctype, edges: &[EdgeId]) -> Option<u32> {
    let behind = |id: EdgeId| -> Vec<EdgeId> {
        let mut seen = BTreeSet::new();
        let mut open = vec![proctype.edge(id).to];
        let mut found = BTreeSet::new();
        while let Some(at) = open.pop() {
            if seen.insert(at) {
                for &next in &proctype.location(at).edges {
                    // What follows an edge that gives up control belongs to another step.
                    if edges.contains(&next) {
                        found.insert(next);
                    }
                    if proctype.edge(next).atomic {
                        open.push(proctype.edge(next).to);
                    }
                }
            }
        }
        found.into_iter().collect()
    };
    let after: HashMap<EdgeId, Vec<EdgeId>> = edges
        .iter()
        .map(|&id| (id, if proctype.edge(id).atomic { behind(id) } else { Vec::new() }))
        .collect();
    if after.iter().any(|(id, later)| later.contains(id)) {
        return None;
    }
    // No edge is behind itself, so "behind" is an order, and each round makes some chain longer by one.
    let mut length: HashMap<EdgeId, u32> = edges.iter().map(|&id| (id, 1)).collect();
    for _ in 0..edges.len() {
        for (id, later) in &after {
            let best = later.iter().map(|other| length[other]).max().unwrap_or(0) + 1;
            length.insert(*id, best);
        }
    }
    length.into_values().max()
}
