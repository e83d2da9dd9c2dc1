//! Alternatives: what a process can do at a location. A statement is one; a rendezvous send is one for each
//! process that may receive, and for each of the receives that it may have there.

use promela::ir::{Action, Edge, Expr, LocId, RecvArg};

use super::{Actor, Lower};
use crate::builder::{Test, Val};
use crate::ir::{Block, Cmp};
use crate::refuse::Refused;

/// What a process can do.
#[derive(Clone, Copy, Debug)]
pub enum Alternative<'a> {
    /// A statement by itself; of a rendezvous send, its errors.
    Step(&'a Edge),
    /// A rendezvous with the n-th receive of another process.
    Meet(&'a Edge, usize, usize),
}

impl<'a> Alternative<'a> {
    /// The statement.
    pub fn edge(&self) -> &'a Edge {
        match self {
            Alternative::Step(edge) | Alternative::Meet(edge, ..) => edge,
        }
    }
}

/// A receive that may take a message.
struct Receive<'a> {
    /// The number of the location in the state.
    code: u32,
    kind: usize,
    edge: &'a Edge,
}

impl<'a> Lower<'a> {
    /// The alternatives of a process at a location, in the order in which they are tried.
    pub fn alternatives(
        &self,
        pid: usize,
        kind: usize,
        location: LocId,
    ) -> Result<Vec<Alternative<'a>>, Refused> {
        let actor = Actor { pid, kind, timeout: Val::constant(0) };
        let proctype = self.program.proctype(self.layout.slots[pid].kinds[kind].proctype);
        let mut found = Vec::new();
        for &id in &proctype.location(location).edges {
            let edge = proctype.edge(id);
            self.refuse_start(edge, actor)?;
            let Action::Send { chan, args, .. } = &edge.action else {
                found.push(Alternative::Step(edge));
                continue;
            };
            let channels = self.possible_channels(chan, actor);
            let rendezvous: Vec<usize> =
                channels.iter().copied().filter(|&c| self.layout.channels[c].length.is_none()).collect();
            let shows = rendezvous.len() < channels.len()
                || self.constant(chan, actor).is_none_or(|number| number <= 0)
                || args.iter().any(machine::interp::may_fail)
                || channels.iter().any(|&channel| self.width(channel) != args.len());
            if shows {
                found.push(Alternative::Step(edge));
            }
            if !rendezvous.is_empty() && edge.escape.is_some() {
                return Err(Refused::Language("a rendezvous send in the escape of an unless"));
            }
            for receiver in (0..self.layout.slots.len()).rev().filter(|&other| other != pid) {
                let most = self.most_receives(receiver, &rendezvous)?;
                found.extend((0..most).map(|number| Alternative::Meet(edge, receiver, number)));
            }
        }
        Ok(found)
    }

    /// Refuses a d_step that may begin with taking a message from hand to hand.
    fn refuse_start(&self, edge: &Edge, actor: Actor) -> Result<(), Refused> {
        let Action::DStep { entry, guards, .. } = &edge.action else { return Ok(()) };
        let proctype = self.program.proctype(self.layout.slots[actor.pid].kinds[actor.kind].proctype);
        for location in [Some(*entry), *guards].into_iter().flatten() {
            for &id in &proctype.location(location).edges {
                if let Action::Receive { chan, .. } = &proctype.edge(id).action {
                    let channels = self.possible_channels(chan, actor);
                    if channels.iter().any(|&channel| self.layout.channels[channel].length.is_none()) {
                        return Err(Refused::Language("a d_step that begins with a rendezvous"));
                    }
                }
            }
        }
        Ok(())
    }

    /// The receives of a process from one of some rendezvous channels.
    fn receives(&self, receiver: usize, channels: &[usize]) -> Result<Vec<Receive<'a>>, Refused> {
        let mut found = Vec::new();
        for (kind, layout) in self.layout.slots[receiver].kinds.iter().enumerate() {
            let actor = Actor { pid: receiver, kind, timeout: Val::constant(0) };
            let proctype = self.program.proctype(layout.proctype);
            for (at, &location) in layout.locations.iter().enumerate() {
                for &id in &proctype.location(location).edges {
                    let edge = proctype.edge(id);
                    let Action::Receive { chan, keep: false, .. } = &edge.action else { continue };
                    let possible = self.possible_channels(chan, actor);
                    if !possible.iter().any(|channel| channels.contains(channel)) {
                        continue;
                    }
                    if edge.escape.is_some() {
                        return Err(Refused::Language("a rendezvous receive in the escape of an unless"));
                    }
                    found.push(Receive { code: layout.first_code + at as u32, kind, edge });
                }
            }
        }
        Ok(found)
    }

    /// How many receives from some channels a process has at one location at most.
    fn most_receives(&self, receiver: usize, channels: &[usize]) -> Result<usize, Refused> {
        if channels.is_empty() {
            return Ok(0);
        }
        let receives = self.receives(receiver, channels)?;
        let at = |code: u32| receives.iter().filter(|receive| receive.code == code).count();
        Ok(receives.iter().map(|receive| at(receive.code)).max().unwrap_or(0))
    }

    /// The code of an alternative.
    pub fn alternative(&mut self, alternative: &Alternative<'a>) -> Result<(), Refused> {
        match *alternative {
            Alternative::Step(edge) => {
                self.step(edge);
                Ok(())
            }
            Alternative::Meet(edge, receiver, number) => self.meet(edge, receiver, number),
        }
    }

    /// A statement by itself.
    fn step(&mut self, edge: &'a Edge) {
        let blocked = self.blocked;
        if matches!(edge.action, Action::End) {
            self.require_last();
            self.vanish();
            self.control(None);
            return self.done(edge.escape);
        }
        let location = self.program.proctype(self.kind().proctype).location(edge.to);
        self.dead.clone_from(&location.dead);
        match &edge.action {
            Action::DStep { entry, exit, guards } => {
                self.dead.clear();
                let moved = self.moved();
                self.d_step(*entry, *exit, *guards, moved);
            }
            action @ Action::Receive { .. } | action @ Action::Send { .. } => self.perform(action, blocked),
            action => {
                let moved = match action {
                    Action::Else => self.moved(),
                    _ => Test::Known(false),
                };
                self.require_executable(action, moved, blocked);
                self.perform(action, blocked);
            }
        }
        self.dead.clear();
        self.arrive(edge.to);
        self.control(edge.atomic.then_some(self.actor.pid));
        self.done(edge.escape);
    }

    /// A rendezvous: errors of the sender are shown by its step alone.
    fn meet(&mut self, edge: &'a Edge, receiver: usize, number: usize) -> Result<(), Refused> {
        let Action::Send { chan, args, .. } = &edge.action else { return Ok(()) };
        let sender = self.actor;
        let channels = self.possible_channels(chan, sender);
        let rendezvous: Vec<usize> =
            channels.into_iter().filter(|&c| self.layout.channels[c].length.is_none()).collect();
        let receives = self.receives(receiver, &rendezvous)?;
        let (fault, blocked) = (self.fault, self.blocked);
        self.fault = blocked;
        let offered = self.expr(chan);
        self.for_channel(offered, blocked, &mut |lower, channel| {
            lower.actor = sender;
            lower.fault = blocked;
            if !rendezvous.contains(&channel) || lower.width(channel) != args.len() {
                return lower.b.jump(blocked);
            }
            lower.offer((channel, offered), (edge, args), (receiver, number), &receives, fault);
        });
        self.b.jump(blocked);
        self.fault = fault;
        self.actor = sender;
        Ok(())
    }

    fn offer(
        &mut self,
        (channel, offered): (usize, Val),
        (edge, args): (&'a Edge, &'a [Expr]),
        (receiver, number): (usize, usize),
        receives: &[Receive<'a>],
        fault: Block,
    ) {
        let blocked = self.blocked;
        let scalars = &self.program.chan_types[self.layout.channels[channel].ty.index()].fields;
        let message: Vec<Val> = args.iter().map(|arg| self.expr(arg)).collect();
        let message: Vec<Val> =
            message.iter().zip(scalars).map(|(&value, &scalar)| self.b.truncate(scalar, value)).collect();
        self.arrive(edge.to);
        let mut cases = Vec::new();
        let mut chosen = Vec::new();
        let mut codes: Vec<u32> = receives.iter().map(|receive| receive.code).collect();
        codes.dedup();
        for code in codes {
            let mut here = receives.iter().filter(|receive| receive.code == code);
            if let Some(receive) = here.nth(number) {
                let block = self.b.block();
                cases.push((code, block));
                chosen.push((block, receive));
            }
        }
        let at = self.load(self.layout.slots[receiver].location, Val::constant(0));
        self.b.switch(at, cases, blocked);
        for (block, receive) in chosen {
            self.b.enter(block);
            self.actor = Actor { pid: receiver, kind: receive.kind, timeout: Val::constant(0) };
            self.fault = blocked;
            // The message lies in the channel until it is taken.
            self.offered = Some(channel);
            let provided = self.provided();
            self.b.require(provided, blocked);
            self.accept(offered, (receive.edge, edge.escape), &message, fault);
            self.offered = None;
        }
    }

    /// The receiver takes the message, if it is for him.
    fn accept(
        &mut self,
        offered: Val,
        (edge, escape): (&'a Edge, Option<LocId>),
        message: &[Val],
        fault: Block,
    ) {
        let Action::Receive { chan, args, .. } = &edge.action else { return };
        let blocked = self.blocked;
        let wanted = self.expr(chan);
        let same = self.b.test(Cmp::Eq, wanted, offered);
        self.b.require(same, blocked);
        self.fault = fault;
        let single = message.len() == 1;
        self.matches(args, blocked, &mut |lower, field| match message.get(field) {
            Some(&value) => value,
            None => {
                lower.fault_if(Test::Known(!single));
                Val::constant(0)
            }
        });
        self.fault_if(Test::Known(args.len() != message.len()));
        let location = self.program.proctype(self.kind().proctype).location(edge.to);
        let plain = |arg: &RecvArg| match arg {
            RecvArg::Store(place) => Self::is_plain_local(place),
            _ => true,
        };
        if args.iter().all(plain) {
            self.dead.clone_from(&location.dead);
        }
        for (number, (arg, &value)) in args.iter().zip(message).enumerate() {
            if number + 1 == args.len() {
                self.offered = None;
            }
            if let RecvArg::Store(place) = arg {
                self.store_place(place, value);
            }
        }
        self.dead.clear();
        self.arrive(edge.to);
        self.control(edge.atomic.then_some(self.actor.pid));
        self.done(escape);
    }
}
