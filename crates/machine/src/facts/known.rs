//! What is known of one process: its number, and the values of local variables that keep what they got at the
//! start.
//!
//! Processes of one proctype mostly differ in that: each is given its own number, its channels, its place in
//! an array. With that known, facts tell apart elements of arrays and channels that they cannot tell apart
//! for the proctype.

use std::collections::{BTreeMap, BTreeSet};

use promela::ir::{
    Action, Base, ChanTypeId, Expr, ExprKind, Place, Proctype, ProctypeId, Program, RecvArg, visit,
};

use super::Footprint;
use crate::interp::eval::{binary, unary};

/// What is known of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Its number; nothing where only its proctype is known.
    pub pid: Option<usize>,
    /// How many channels are older than it: its own come next.
    pub first_channel: Option<u32>,
    /// The values of cells that do not change.
    pub cells: BTreeMap<u32, i32>,
}

/// A process as facts speak of it.
#[derive(Clone, Copy, Debug)]
pub struct Who<'k> {
    /// Its proctype.
    pub id: ProctypeId,
    /// What more is known of it.
    pub known: Option<&'k Known>,
}

impl Who<'_> {
    /// Any process of a proctype.
    pub fn any(id: ProctypeId) -> Self {
        Who { id, known: None }
    }

    /// The value that an expression has each time that this process evaluates it.
    pub fn value(&self, expr: &Expr) -> Option<i32> {
        match &expr.kind {
            ExprKind::Const(value) => Some(*value),
            ExprKind::Pid => self.known?.pid.map(|pid| pid as i32),
            ExprKind::Load(place) if place.base == Base::Local && place.indices.is_empty() => {
                self.known?.cells.get(&place.cell).copied()
            }
            ExprKind::Unary(op, a) => Some(unary(*op, self.value(a)?)),
            ExprKind::Binary(op, a, b) => binary(*op, self.value(a)?, self.value(b)?),
            _ => None,
        }
    }

    /// The cells that a place may mean, from the first to before the end.
    pub fn extent(&self, place: &Place) -> (u32, u32) {
        let (mut first, mut reach) = (place.cell, 0u32);
        for index in &place.indices {
            match self.value(&index.value) {
                Some(value) if value >= 0 && (value as u32) < index.len => {
                    first = first.saturating_add((value as u32).saturating_mul(index.stride));
                }
                _ => reach = reach.saturating_add(index.len.saturating_sub(1).saturating_mul(index.stride)),
            }
        }
        (first, first.saturating_add(reach).saturating_add(1))
    }
}

/// For one proctype: which of its cells keep their first value and tell its processes apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Telling {
    /// Cells whose value is the place of an array element or a channel.
    pub cells: Vec<u32>,
    /// Its own number is.
    pub pid: bool,
    /// The numbers of its own channels matter, or those of others that it was given.
    pub channels: bool,
}

/// For every proctype, what tells its processes apart.
pub fn telling(program: &Program) -> Vec<Telling> {
    program.proctypes.iter().map(of_proctype).collect()
}

fn of_proctype(proctype: &Proctype) -> Telling {
    // Resetting a dead variable is no change here: it is never read again unless it is written before.
    let mut constant = vec![true; proctype.n_cells as usize];
    for edge in &proctype.edges {
        for (first, end) in Footprint::of(edge).local_writes.ranges() {
            let cells = constant.iter_mut().take(end as usize).skip(first as usize);
            cells.for_each(|constant| *constant = false);
        }
    }
    let mut found = Found { constant, cells: BTreeSet::new(), pid: false, channels: false };
    for edge in &proctype.edges {
        found.action(&edge.action);
    }
    proctype.provided.iter().for_each(|expr| found.expr(expr));
    let channels =
        found.channels || proctype.init.iter().any(|s| matches!(s, promela::ir::InitStep::NewChan(..)));
    Telling { cells: found.cells.into_iter().collect(), pid: found.pid, channels }
}

struct Found {
    constant: Vec<bool>,
    cells: BTreeSet<u32>,
    pid: bool,
    channels: bool,
}

impl Found {
    fn action(&mut self, action: &Action) {
        match action {
            Action::Assign(place, _) | Action::Lock(place) | Action::Unlock(place) => self.place(place),
            Action::Send { chan, .. } => self.channel(chan),
            Action::Receive { chan, args, .. } => {
                self.channel(chan);
                self.args(args);
            }
            _ => {}
        }
        visit::walk_action(action, &mut |expr| self.part(expr));
    }

    fn args(&mut self, args: &[RecvArg]) {
        for arg in args {
            if let RecvArg::Store(place) = arg {
                self.place(place);
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        visit::walk(expr, &mut |part| self.part(part));
    }

    fn part(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Load(place) => self.place(place),
            ExprKind::Chan(_, chan) => self.channel(chan),
            ExprKind::Poll { chan, args, .. } => {
                self.channel(chan);
                self.args(args);
            }
            _ => {}
        }
    }

    fn place(&mut self, place: &Place) {
        place.indices.iter().for_each(|index| self.tells(&index.value));
    }

    fn channel(&mut self, chan: &Expr) {
        self.channels = true;
        self.tells(chan);
    }

    /// The value of this expression says which element or channel is meant.
    fn tells(&mut self, expr: &Expr) {
        visit::walk(expr, &mut |part| match &part.kind {
            ExprKind::Pid => self.pid = true,
            ExprKind::Load(place) if place.base == Base::Local && place.indices.is_empty() => {
                let constant = self.constant.get(place.cell as usize).copied().unwrap_or(false);
                self.cells.extend(constant.then_some(place.cell));
            }
            _ => {}
        });
    }
}

/// A channel that an expression may mean: its number where that is known, and its declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Meant {
    /// Its number, counted from 0.
    pub number: Option<u32>,
    /// Its declaration.
    pub ty: ChanTypeId,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opt::tests::{edge, program};

    #[test]
    fn what_keeps_its_value_tells_processes_apart() {
        let program = program(
            "byte a[4]; chan q = [1] of { byte }; \
             proctype p(byte me; byte you; chan c; chan d) { byte x; a[me] = a[you] + x; you = 2; c!a[_pid]; d = c; d?x } \
             init { run p(1, 2, q, q) }",
        );
        let telling = telling(&program);
        assert_eq!(telling[0], Telling { cells: vec![0, 2], pid: true, channels: true });
        let known = Known { pid: Some(3), first_channel: Some(1), cells: BTreeMap::from([(0, 1), (2, 1)]) };
        let who = Who { id: ProctypeId(0), known: Some(&known) };
        let Action::Assign(place, value) = &edge(&program, "p", "a[me] = a[you] + x").action else {
            panic!()
        };
        assert_eq!(who.extent(place), (1, 2));
        assert_eq!(Who::any(ProctypeId(0)).extent(place), (0, 4));
        assert_eq!(who.value(value), None);
    }
}
