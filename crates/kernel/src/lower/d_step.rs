//! d_step: the automaton inside becomes blocks that lead into each other. A counter bounds the ways back.

use std::collections::BTreeMap;

use promela::ir::{Action, BinaryOp, Edge, LocId, Proctype};

use super::{EXECUTED, LONG, Lower, NO_STATE};
use crate::builder::{Test, Val};
use crate::ir::{Block, Cmp, End, Inst, Operand, Reg};

/// Ways back within a d_step, after which it is given up.
const MOST_TURNS: i32 = 20_000;

/// A d_step that is being made.
struct Inside<'a> {
    proctype: &'a Proctype,
    /// The blocks of locations.
    blocks: BTreeMap<LocId, Block>,
    todo: Vec<LocId>,
    turns: Reg,
    long: Block,
}

impl<'a> Lower<'a> {
    /// Executes a d_step from its beginning to its end.
    pub fn d_step(&mut self, entry: LocId, exit: LocId, guards: Option<LocId>, moved: Test) {
        let proctype = self.program.proctype(self.kind().proctype);
        self.may_start(proctype, entry, guards, moved);
        let turns = self.b.variable(Val::constant(0));
        let (done, long, first) = (self.b.block(), self.b.block(), self.b.block());
        self.b.jump(first);
        self.b.enter(long);
        let outcome = Operand::Imm(i64::from(EXECUTED | NO_STATE | LONG));
        self.b.push(Inst::Copy(self.kernel.outcome, outcome));
        self.b.end(End::Return);
        let mut inside =
            Inside { proctype, blocks: BTreeMap::from([(exit, done)]), todo: Vec::new(), turns, long };
        self.b.enter(first);
        self.inside(&mut inside, entry);
        while let Some(location) = inside.todo.pop() {
            let block = inside.blocks[&location];
            self.b.enter(block);
            self.inside(&mut inside, location);
        }
        self.b.enter(done);
    }

    /// Goes on where a d_step can start.
    fn may_start(&mut self, proctype: &'a Proctype, entry: LocId, guards: Option<LocId>, moved: Test) {
        let edges = &proctype.location(guards.unwrap_or(entry)).edges;
        if guards.is_some() && edges.is_empty() {
            return;
        }
        let start = self.b.block();
        for &edge in edges {
            let next = self.b.block();
            match &proctype.edge(edge).action {
                Action::Else if guards.is_some() => {}
                action => self.require_executable(action, moved, next),
            }
            self.b.jump(start);
            self.b.enter(next);
        }
        let blocked = self.blocked;
        self.b.jump(blocked);
        self.b.enter(start);
    }

    /// The first executable edge of a location inside.
    fn inside(&mut self, inside: &mut Inside<'a>, location: LocId) {
        for &id in &inside.proctype.location(location).edges {
            let edge = inside.proctype.edge(id);
            let next = self.b.block();
            self.take_inside(inside, edge, next);
            self.b.enter(next);
        }
        let fault = self.fault;
        self.b.jump(fault);
    }

    fn take_inside(&mut self, inside: &mut Inside<'a>, edge: &'a Edge, next: Block) {
        // Inside, a rendezvous send is an error, executable as it is.
        if let Action::Send { chan, .. } = &edge.action {
            let channels = self.possible_channels(chan, self.actor);
            if channels.iter().any(|&channel| self.layout.channels[channel].length.is_none()) {
                let number = self.expr(chan);
                let (fault, on) = (self.fault, self.b.block());
                self.for_channel(number, fault, &mut |lower, channel| {
                    let rendezvous = lower.layout.channels[channel].length.is_none();
                    lower.b.jump(if rendezvous { fault } else { on });
                });
                self.b.jump(on);
                self.b.enter(on);
            }
        }
        match &edge.action {
            action @ (Action::Send { .. } | Action::Receive { .. }) => self.perform(action, next),
            action => {
                self.require_executable(action, Test::Known(false), next);
                self.perform(action, next);
            }
        }
        match inside.blocks.get(&edge.to) {
            Some(&block) => {
                let turns = Val { operand: Operand::Reg(inside.turns), min: 0, max: MOST_TURNS };
                let more = self.b.binary(BinaryOp::Add, turns, Val::constant(1));
                self.assign_variable(inside.turns, more);
                let few =
                    self.b.test(Cmp::Lt, Val { min: 0, max: i32::MAX, ..more }, Val::constant(MOST_TURNS));
                self.b.branch(few, block, inside.long);
            }
            None => {
                let block = self.b.block();
                inside.blocks.insert(edge.to, block);
                inside.todo.push(edge.to);
                self.b.jump(block);
            }
        }
    }
}
