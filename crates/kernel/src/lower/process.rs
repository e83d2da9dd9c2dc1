//! The life of a process: its start, its arrival at a location, its end.

use promela::ir::{Base, Expr, ExprKind, InitStep, LocId};

use super::{Actor, Child, Lower, MISS_RUN};
use crate::builder::{Test, Val};
use crate::ir::{Cmp, Operand};

/// As many processes as Spin allows.
const MOST_PROCESSES: usize = 255;

impl<'a> Lower<'a> {
    /// Executes `run`; the value is the pid of the new process.
    pub fn run(&mut self, expr: &Expr) -> Val {
        let ExprKind::Run { proctype, args, .. } = &expr.kind else { return Val::constant(0) };
        let args: Vec<Val> = args.iter().map(|arg| self.expr(arg)).collect();
        let (child, started) = (self.b.variable(Val::constant(0)), self.b.block());
        let own = self.actor.pid;
        let miss = self.miss_block(MISS_RUN);
        for pid in own + 1..self.layout.slots.len() {
            let slot = &self.layout.slots[pid];
            let next = self.b.block();
            let at = self.load(slot.location, Val::constant(0));
            let free = self.b.test(Cmp::Eq, at, Val::constant(0));
            self.b.require(free, next);
            match slot.kinds.iter().position(|kind| kind.proctype == *proctype) {
                Some(kind) => {
                    let actor = self.actor;
                    self.actor = Actor { pid, kind, timeout: actor.timeout };
                    self.start(&args);
                    self.actor = actor;
                    self.assign_variable(child, Val::constant(pid as i32));
                    self.b.jump(started);
                }
                None => self.b.jump(miss),
            }
            self.b.enter(next);
        }
        let fault = self.fault;
        self.b.jump(if self.layout.slots.len() >= MOST_PROCESSES { fault } else { miss });
        self.b.enter(started);
        let last = self.layout.slots.len() as i32 - 1;
        Val { operand: Operand::Reg(child), min: (own as i32 + 1).min(last.max(0)), max: last.max(0) }
    }

    /// The actor begins to exist; all of its cells are 0 in all bits.
    fn start(&mut self, args: &[Val]) {
        let kind = self.kind();
        let proctype = self.program.proctype(kind.proctype);
        let scalars = self.scalars(kind);
        let mut cells = vec![Val::constant(0); proctype.n_cells as usize];
        for (cell, &arg) in args.iter().enumerate().take(proctype.n_params as usize) {
            cells[cell] = self.b.truncate(scalars[cell], arg);
        }
        let before = self.child.replace(Child { pid: self.actor.pid, cells });
        let mut channel = self.layout.slots[self.actor.pid].channels.start;
        let dead = std::mem::take(&mut self.dead);
        for step in &proctype.init {
            match step {
                InitStep::Assign(place, expr) => {
                    let value = self.expr(expr);
                    self.store_place(place, value);
                }
                InitStep::NewChan(place, _) => {
                    channel += 1;
                    self.store_place(place, Val::constant(channel as i32));
                }
            }
        }
        self.dead = dead;
        let child = std::mem::replace(&mut self.child, before);
        let mut cells = child.map(|child| child.cells).unwrap_or_default();
        for &cell in &proctype.location(proctype.start).dead {
            cells[cell as usize] = Val::constant(0);
        }
        for (cell, value) in cells.into_iter().enumerate() {
            let (column, index) = self.layout.local(kind, cell as u32);
            let field = &self.layout.columns[column];
            if value.known() != Some(field.base) {
                self.store(column, Val::constant(index as i32), value);
            }
        }
        self.put_at(proctype.start);
    }

    /// Writes down where the actor is.
    fn put_at(&mut self, location: LocId) {
        let slot = &self.layout.slots[self.actor.pid];
        let code = self.kind().code(location).unwrap_or(0);
        self.store(slot.location, Val::constant(0), Val::constant(code as i32));
    }

    /// The actor arrives at a location; what is dead there is forgotten.
    pub fn arrive(&mut self, location: LocId) {
        self.put_at(location);
        let kind = self.kind();
        for &cell in &self.program.proctype(kind.proctype).location(location).dead {
            let (column, index) = self.layout.local(kind, cell);
            self.store(column, Val::constant(index as i32), Val::constant(0));
        }
    }

    /// Writes down who has control.
    pub fn control(&mut self, pid: Option<usize>) {
        let pid = pid.map_or(0, |pid| pid as i32 + 1);
        self.store(self.layout.control, Val::constant(0), Val::constant(pid));
    }

    /// Goes on where the actor is the last process, which alone can end.
    pub fn require_last(&mut self) {
        let next = self.actor.pid + 1;
        if next < self.layout.slots.len() {
            let alive = self.is_alive(next);
            let last = self.b.not(alive);
            let blocked = self.blocked;
            self.b.require(last, blocked);
        }
    }

    /// The actor disappears, and its channels.
    pub fn vanish(&mut self) {
        let (slot, kind) = (&self.layout.slots[self.actor.pid], self.kind());
        let n = self.layout.variables.locals[kind.proctype.index()].sizes.len();
        let mut gone = vec![slot.location];
        gone.extend(kind.first_column..kind.first_column + n);
        for channel in slot.channels.clone() {
            let width = self.width(channel);
            let channel = &self.layout.channels[channel];
            if let Some(length) = channel.length {
                gone.push(length);
                gone.extend(channel.fields..channel.fields + width);
            }
        }
        self.clear(&gone);
    }

    /// Whether the `provided` clause of a process holds.
    pub fn provided(&mut self) -> Test {
        match &self.program.proctype(self.kind().proctype).provided {
            Some(expr) => self.condition(expr),
            None => Test::Known(true),
        }
    }

    /// Whether a place is a plain local, whose value is forgotten where it is dead.
    pub fn is_plain_local(place: &promela::ir::Place) -> bool {
        place.base != Base::Local || place.indices.is_empty()
    }
}
