//! Expressions.

use promela::ir::{Base, BinaryOp, ChanOp, Expr, ExprKind, LocId, Place, ProctypeId, RecvArg, UnaryOp};

use super::{Actor, Lower};
use crate::builder::{Test, Val};
use crate::ir::{Cmp, Inst, Operand, Reg};
use crate::layout::Kind;

impl<'a> Lower<'a> {
    /// Whether an expression is not 0.
    pub fn condition(&mut self, expr: &Expr) -> Test {
        let value = self.expr(expr);
        self.b.truth(value)
    }

    /// The value of an expression.
    pub fn expr(&mut self, expr: &Expr) -> Val {
        match &expr.kind {
            ExprKind::Const(value) => Val::constant(*value),
            ExprKind::Load(place) => self.load_place(place),
            ExprKind::Unary(op, operand) => {
                let value = self.expr(operand);
                match op {
                    UnaryOp::Neg => self.b.binary(BinaryOp::Sub, Val::constant(0), value),
                    UnaryOp::BitNot => self.b.binary(BinaryOp::Sub, Val::constant(-1), value),
                    UnaryOp::Not => self.b.binary(BinaryOp::Eq, value, Val::constant(0)),
                }
            }
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                self.logic(*op == BinaryOp::And, left, right)
            }
            ExprKind::Binary(op, left, right) => {
                let left = self.expr(left);
                let right = self.expr(right);
                if matches!(op, BinaryOp::Div | BinaryOp::Rem) {
                    let zero = self.b.test(Cmp::Eq, right, Val::constant(0));
                    self.fault_if(zero);
                    if right.known() == Some(0) {
                        return Val::constant(0);
                    }
                }
                self.b.binary(*op, left, right)
            }
            ExprKind::Cond(condition, yes, no) => {
                let test = self.condition(condition);
                if !machine::interp::may_fail(yes) && !machine::interp::may_fail(no) {
                    let (yes, no) = (self.expr(yes), self.expr(no));
                    return self.b.select(test, yes, no);
                }
                self.either(test, |lower| lower.expr(yes), |lower| lower.expr(no))
            }
            ExprKind::Chan(op, chan) => self.chan_op(*op, chan),
            ExprKind::Poll { chan, random, args } => self.poll(chan, *random, args),
            ExprKind::PcValue(pid) => self.pc_value(pid),
            ExprKind::Pid => Val::constant(self.actor.pid as i32),
            ExprKind::NrPr => self.n_processes(),
            ExprKind::Timeout => self.actor.timeout,
            ExprKind::RemoteLabel { proctype, pid, location } => {
                self.remote_label(*proctype, pid.as_deref(), *location)
            }
            ExprKind::RemoteVar { proctype, pid, place } => self.remote_var(*proctype, pid.as_deref(), place),
            // What is refused before.
            ExprKind::Run { .. }
            | ExprKind::Enabled(_)
            | ExprKind::C(_)
            | ExprKind::GetPriority(_)
            | ExprKind::Last
            | ExprKind::Priority
            | ExprKind::NonProgress => Val::constant(0),
        }
    }

    /// `&&` and `||`: the right side counts only where the left one does not decide, so that its errors do
    /// not.
    fn logic(&mut self, and: bool, left: &Expr, right: &Expr) -> Val {
        let first = self.condition(left);
        if let Test::Known(known) = first
            && known != and
        {
            return Val::constant(i32::from(known));
        }
        let simple = !machine::interp::may_fail(right);
        let test = match first {
            Test::Known(_) => self.condition(right),
            Test::Reg(_) if simple => {
                let second = self.condition(right);
                self.b.join(and, first, second)
            }
            Test::Reg(_) => {
                let other = Val::constant(i32::from(!and));
                let value = |lower: &mut Self| {
                    let test = lower.condition(right);
                    lower.b.bit(test)
                };
                return match and {
                    true => self.either(first, value, |_| other),
                    false => self.either(first, |_| other, value),
                };
            }
        };
        self.b.bit(test)
    }

    /// The value of one of two computations.
    fn either(
        &mut self,
        test: Test,
        yes: impl FnOnce(&mut Self) -> Val,
        no: impl FnOnce(&mut Self) -> Val,
    ) -> Val {
        if let Test::Known(known) = test {
            return if known { yes(self) } else { no(self) };
        }
        let (first, second, end) = (self.b.block(), self.b.block(), self.b.block());
        let result = self.b.variable(Val::constant(0));
        self.b.branch(test, first, second);
        self.b.enter(first);
        let a = yes(self);
        self.assign_variable(result, a);
        self.b.jump(end);
        self.b.enter(second);
        let b = no(self);
        self.assign_variable(result, b);
        self.b.jump(end);
        self.b.enter(end);
        Val { operand: Operand::Reg(result), min: a.min.min(b.min), max: a.max.max(b.max) }
    }

    /// Gives a variable a value.
    pub fn assign_variable(&mut self, variable: Reg, value: Val) {
        self.b.push(Inst::Copy(variable, value.operand));
    }

    /// Column and index of a place; an index that is out of bounds is an error.
    fn spot(&mut self, place: &Place, kind: Option<&Kind>) -> (usize, Val) {
        let (column, first) = match (place.base, kind) {
            (Base::Local, Some(kind)) => self.layout.local(kind, place.cell),
            _ => self.layout.global(place.cell),
        };
        let mut at = Val::constant(first as i32);
        for (number, index) in place.indices.iter().enumerate() {
            let value = self.index(index);
            let stride = match (place.base, kind) {
                (Base::Local, Some(kind)) => {
                    self.layout.variables.locals[kind.proctype.index()].stride(place, number)
                }
                _ => self.layout.variables.globals.stride(place, number),
            };
            let moved = self.b.binary(BinaryOp::Mul, value, Val::constant(stride as i32));
            at = self.b.binary(BinaryOp::Add, at, moved);
        }
        let last = self.layout.columns[column].n.saturating_sub(1) as i32;
        if at.known().is_none() {
            at = Val { min: at.min.max(0), max: at.max.min(last), ..at };
        }
        (column, at)
    }

    /// An index that is within bounds.
    fn index(&mut self, index: &promela::ir::Index) -> Val {
        let value = self.expr(&index.value);
        let last = index.len.saturating_sub(1) as i32;
        let beyond = self.b.test(Cmp::Above, value, Val::constant(last));
        self.fault_if(beyond);
        match value.known() {
            Some(known) => Val::constant(known.clamp(0, last)),
            None => Val { min: value.min.max(0), max: value.max.min(last).max(0), ..value },
        }
    }

    /// The value of a cell.
    pub fn load_place(&mut self, place: &Place) -> Val {
        match place.base {
            Base::Scratch => {
                place.indices.iter().for_each(|index| _ = self.index(index));
                Val::constant(0)
            }
            Base::Global => {
                let (column, index) = self.spot(place, None);
                self.load(column, index)
            }
            Base::Local => {
                if let Some(child) = self.child.as_ref().filter(|child| child.pid == self.actor.pid) {
                    return child.cells[place.cell as usize];
                }
                let kind = self.kind();
                let (column, index) = self.spot(place, Some(kind));
                self.load(column, index)
            }
        }
    }

    /// Stores a value, truncated to what the cell holds.
    pub fn store_place(&mut self, place: &Place, value: Val) {
        let value = self.b.truncate(place.scalar, value);
        match place.base {
            Base::Scratch => place.indices.iter().for_each(|index| _ = self.index(index)),
            Base::Global => {
                let (column, index) = self.spot(place, None);
                self.store(column, index, value);
            }
            Base::Local => {
                let own = self.actor.pid;
                if let Some(child) = self.child.as_mut().filter(|child| child.pid == own) {
                    child.cells[place.cell as usize] = value;
                } else if !(place.indices.is_empty() && self.dead.contains(&place.cell)) {
                    let kind = self.kind();
                    let (column, index) = self.spot(place, Some(kind));
                    self.store(column, index, value);
                }
            }
        }
    }

    /// The value of an expression in every state, if there is one.
    pub fn constant(&self, expr: &Expr, actor: Actor) -> Option<i32> {
        match &expr.kind {
            ExprKind::Const(value) => Some(*value),
            ExprKind::Pid => Some(actor.pid as i32),
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.constant(left, actor)?, self.constant(right, actor)?);
                crate::builder::constant(*op, left, right)
            }
            ExprKind::Load(place) => self.constant_place(place, actor),
            _ => None,
        }
    }

    fn constant_place(&self, place: &Place, actor: Actor) -> Option<i32> {
        let kind = &self.layout.slots[actor.pid].kinds[actor.kind];
        let ((column, mut at), columns) = match place.base {
            Base::Local => {
                let columns = &self.layout.variables.locals[kind.proctype.index()];
                (self.layout.local(kind, place.cell), columns)
            }
            Base::Global => (self.layout.global(place.cell), &self.layout.variables.globals),
            Base::Scratch => return None,
        };
        for (number, index) in place.indices.iter().enumerate() {
            let value = u32::try_from(self.constant(&index.value, actor)?).ok().filter(|&v| v < index.len)?;
            at += value * columns.stride(place, number);
        }
        match self.layout.frozen.get(&column) {
            Some(values) => values.get(at as usize).copied(),
            None => {
                Some(&self.layout.columns[column]).filter(|column| column.bits == 0).map(|column| column.base)
            }
        }
    }

    fn chan_op(&mut self, op: ChanOp, chan: &Expr) -> Val {
        let value = self.expr(chan);
        let full = matches!(op, ChanOp::Full | ChanOp::Nfull);
        let none = i32::from(matches!(op, ChanOp::Empty));
        let result = self.b.variable(Val::constant(none));
        let end = self.b.block();
        let gone = if full { self.fault } else { end };
        let mut range = (none, none);
        self.for_channel(value, gone, &mut |lower, number| {
            let channel = &lower.layout.channels[number];
            let capacity = lower.program.chan_types[channel.ty.index()].capacity.max(1);
            let length = lower.length(number);
            let (cmp, other) = match op {
                ChanOp::Len => {
                    range = (range.0.min(length.min), range.1.max(length.max));
                    return lower.assign_variable(result, length);
                }
                ChanOp::Empty => (Cmp::Eq, 0),
                ChanOp::Nempty => (Cmp::Ne, 0),
                ChanOp::Full => (Cmp::Ge, capacity as i32),
                ChanOp::Nfull => (Cmp::Lt, capacity as i32),
            };
            range = (0, 1);
            let test = lower.b.test(cmp, length, Val::constant(other));
            let bit = lower.b.bit(test);
            lower.assign_variable(result, bit);
        });
        self.b.jump(end);
        self.b.enter(end);
        Val { operand: Operand::Reg(result), min: range.0, max: range.1 }
    }

    fn poll(&mut self, chan: &Expr, random: bool, args: &[RecvArg]) -> Val {
        let value = self.expr(chan);
        let plain = self.program.chan_types.iter().any(|ty| ty.capacity == 0);
        let result = self.b.variable(Val::constant(0));
        let (end, fault) = (self.b.block(), self.fault);
        let mut most = 1;
        self.for_channel(value, end, &mut |lower, number| {
            if lower.layout.channels[number].length.is_none() {
                return lower.b.jump(fault);
            }
            most = most.max(lower.layout.channels[number].room as i32);
            let slot = lower.find_message(number, random, args, end);
            let found = match plain {
                true => Val::constant(1),
                false => lower.b.binary(BinaryOp::Add, slot, Val::constant(1)),
            };
            lower.assign_variable(result, found);
        });
        self.b.jump(end);
        self.b.enter(end);
        Val { operand: Operand::Reg(result), min: 0, max: most }
    }

    /// Whether there is a process with this pid.
    pub fn is_alive(&mut self, pid: usize) -> Test {
        if pid == self.actor.pid {
            return Test::Known(true);
        }
        let at = self.load(self.layout.slots[pid].location, Val::constant(0));
        self.b.truth(at)
    }

    fn n_processes(&mut self) -> Val {
        let mut n = Val::constant(0);
        for pid in 0..self.layout.slots.len() {
            let alive = self.is_alive(pid);
            n = self.b.select(alive, Val::constant(pid as i32 + 1), n);
        }
        n
    }

    /// Whether the process with this pid is of a proctype.
    fn is_of(&mut self, pid: usize, proctype: ProctypeId) -> Test {
        let slot = &self.layout.slots[pid];
        let Some(kind) = slot.kinds.iter().find(|kind| kind.proctype == proctype) else {
            return Test::Known(false);
        };
        let at = self.load(slot.location, Val::constant(0));
        let first = self.b.test(Cmp::Ge, at, Val::constant(kind.first_code as i32));
        let last = kind.first_code as usize + kind.locations.len() - 1;
        let last = self.b.test(Cmp::Le, at, Val::constant(last as i32));
        self.b.join(true, first, last)
    }

    /// By pid: a value for the process that is meant. Where there is none it is 0.
    fn of_process(
        &mut self,
        (proctype, pid): (Option<ProctypeId>, Option<&Expr>),
        value: &mut dyn FnMut(&mut Self, usize) -> Val,
    ) -> Val {
        let wanted = pid.map(|pid| self.expr(pid));
        let mut result = Val::constant(0);
        for candidate in (0..self.layout.slots.len()).rev() {
            let is_meant = match (wanted, proctype) {
                (Some(wanted), _) => self.b.test(Cmp::Eq, wanted, Val::constant(candidate as i32)),
                (None, Some(proctype)) => self.is_of(candidate, proctype),
                (None, None) => Test::Known(false),
            };
            if is_meant != Test::Known(false) {
                let value = value(self, candidate);
                result = self.b.select(is_meant, value, result);
            }
        }
        result
    }

    fn remote_label(&mut self, proctype: ProctypeId, pid: Option<&Expr>, location: LocId) -> Val {
        self.of_process((Some(proctype), pid), &mut |lower, pid| {
            let slot = &lower.layout.slots[pid];
            let at = lower.load(slot.location, Val::constant(0));
            let mut here = Test::Known(false);
            for code in slot.kinds.iter().filter_map(|kind| kind.code(location)) {
                let test = lower.b.test(Cmp::Eq, at, Val::constant(code as i32));
                here = lower.b.join(false, here, test);
            }
            lower.b.bit(here)
        })
    }

    fn pc_value(&mut self, pid: &Expr) -> Val {
        self.of_process((None, Some(pid)), &mut |lower, pid| {
            let slot = &lower.layout.slots[pid];
            let at = lower.load(slot.location, Val::constant(0));
            let mut number = Val::constant(0);
            for kind in &slot.kinds {
                for (place, location) in kind.locations.iter().enumerate() {
                    let code = kind.first_code as i32 + place as i32;
                    let test = lower.b.test(Cmp::Eq, at, Val::constant(code));
                    number = lower.b.select(test, Val::constant(location.0 as i32), number);
                }
            }
            number
        })
    }

    /// A local of another process; where there is none it is 0, and one of another proctype is an error.
    fn remote_var(&mut self, proctype: ProctypeId, pid: Option<&Expr>, place: &Place) -> Val {
        let wanted = pid.map(|pid| self.expr(pid));
        let result = self.b.variable(Val::constant(0));
        let end = self.b.block();
        let (mut min, mut max) = (0, 0);
        for candidate in 0..self.layout.slots.len() {
            let meant = match wanted {
                Some(wanted) => self.b.test(Cmp::Eq, wanted, Val::constant(candidate as i32)),
                None => self.is_of(candidate, proctype),
            };
            if meant == Test::Known(false) {
                continue;
            }
            let (here, on) = (self.b.block(), self.b.block());
            self.b.branch(meant, here, on);
            self.b.enter(here);
            let alive = self.is_alive(candidate);
            self.b.require(alive, end);
            let other = self.is_of(candidate, proctype);
            let fault = self.fault;
            self.b.require(other, fault);
            let kinds = &self.layout.slots[candidate].kinds;
            if let Some(kind) = kinds.iter().find(|kind| kind.proctype == proctype) {
                let (column, index) = self.spot(place, Some(kind));
                let value = self.load(column, index);
                (min, max) = (min.min(value.min), max.max(value.max));
                self.assign_variable(result, value);
            }
            self.b.jump(end);
            self.b.enter(on);
        }
        self.b.jump(end);
        self.b.enter(end);
        Val { operand: Operand::Reg(result), min, max }
    }
}
