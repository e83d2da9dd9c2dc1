//! Channels: which one a number means, messages that are looked for, put in and taken out.

use promela::ir::{BinaryOp, Expr, RecvArg};

use super::{Lower, MISS_COLUMN};
use crate::builder::{Test, Val};
use crate::ir::{Block, Cmp, Op, Operand, Ty};

impl<'a> Lower<'a> {
    /// Does something for the channel with this number (counted from 1; `body` is told it counted from 0).
    /// One that went with its process leads to `gone`; what is no channel is an error.
    pub fn for_channel(&mut self, number: Val, gone: Block, body: &mut dyn FnMut(&mut Self, usize)) {
        let n = self.layout.channels.len();
        if let Some(known) = number.known() {
            match usize::try_from(known) {
                Ok(known) if known > 0 && known <= n => self.existing(known - 1, gone, body),
                Ok(known) if known > n => {
                    self.b.jump(gone);
                    self.unreachable();
                }
                _ => {
                    let fault = self.fault;
                    self.b.jump(fault);
                    self.unreachable();
                }
            }
            return;
        }
        let (other, end) = (self.b.block(), self.b.block());
        let cases: Vec<(u32, Block)> = (1..=n as u32).map(|number| (number, self.b.block())).collect();
        self.b.switch(number, cases.clone(), other);
        self.b.enter(other);
        let positive = self.b.test(Cmp::Gt, number, Val::constant(0));
        let fault = self.fault;
        self.b.branch(positive, gone, fault);
        for (number, block) in cases {
            self.b.enter(block);
            self.existing(number as usize - 1, gone, body);
            self.b.jump(end);
        }
        self.b.enter(end);
    }

    /// Code that follows cannot be reached.
    fn unreachable(&mut self) {
        let dead = self.b.block();
        self.b.enter(dead);
    }

    fn existing(&mut self, channel: usize, gone: Block, body: &mut dyn FnMut(&mut Self, usize)) {
        if let Some(owner) = self.layout.channels[channel].owner {
            let alive = self.is_alive(owner);
            self.b.require(alive, gone);
        }
        body(self, channel);
    }

    /// The channels that an expression of a process may mean, counted from 0.
    pub fn possible_channels(&self, chan: &Expr, actor: super::Actor) -> Vec<usize> {
        let n = self.layout.channels.len();
        match self.constant(chan, actor) {
            Some(number) => {
                usize::try_from(number).ok().filter(|&c| c > 0 && c <= n).map(|c| c - 1).into_iter().collect()
            }
            None => (0..n).collect(),
        }
    }

    /// How many fields the messages of a channel have.
    pub fn width(&self, channel: usize) -> usize {
        self.program.chan_types[self.layout.channels[channel].ty.index()].fields.len()
    }

    /// The number of messages.
    pub fn length(&mut self, channel: usize) -> Val {
        match self.layout.channels[channel].length {
            Some(column) => self.load(column, Val::constant(0)),
            None => Val::constant(i32::from(self.offered == Some(channel))),
        }
    }

    /// A field of a message. Beyond the last there is none, and only where a message has one field it is 0.
    pub fn field(&mut self, channel: usize, slot: Val, field: usize) -> Val {
        match self.width(channel) {
            width if field < width => {
                let column = self.layout.channels[channel].fields + field;
                self.load(column, slot)
            }
            1 => Val::constant(0),
            _ => {
                self.fault_if(Test::Known(true));
                Val::constant(0)
            }
        }
    }

    /// Goes on where a message matches, else elsewhere; `field` gives what is in it.
    pub fn matches(&mut self, args: &[RecvArg], none: Block, field: &mut dyn FnMut(&mut Self, usize) -> Val) {
        for (number, arg) in args.iter().enumerate() {
            if let RecvArg::Match(expr) = arg {
                let value = self.expr(expr);
                let there = field(self, number);
                let same = self.b.test(Cmp::Eq, value, there);
                self.b.require(same, none);
            }
        }
    }

    /// The number of the message that a receive takes; without one it goes on elsewhere.
    pub fn find_message(&mut self, channel: usize, random: bool, args: &[RecvArg], none: Block) -> Val {
        let length = self.length(channel);
        let room = self.layout.channels[channel].room;
        if !random || room <= 1 {
            let some = self.b.test(Cmp::Gt, length, Val::constant(0));
            self.b.require(some, none);
            let first = Val::constant(0);
            self.matches(args, none, &mut |lower, field| lower.field(channel, first, field));
            return first;
        }
        let (slot, found) = (self.b.variable(Val::constant(0)), self.b.block());
        for number in 0..room as i32 {
            let next = self.b.block();
            let there = self.b.test(Cmp::Gt, length, Val::constant(number));
            self.b.require(there, none);
            let at = Val::constant(number);
            self.matches(args, next, &mut |lower, field| lower.field(channel, at, field));
            self.assign_variable(slot, at);
            self.b.jump(found);
            self.b.enter(next);
        }
        self.b.jump(none);
        self.b.enter(found);
        Val { operand: Operand::Reg(slot), min: 0, max: room as i32 - 1 }
    }

    /// Takes a message out: those behind it move up.
    pub fn remove_message(&mut self, channel: usize, slot: Val) {
        let length = self.length(channel);
        for field in 0..self.width(channel) {
            let column = self.layout.channels[channel].fields + field;
            self.remove_field(column, slot);
        }
        let length = self.b.binary(BinaryOp::Sub, length, Val::constant(1));
        let length = Val { min: length.min.max(0), ..length };
        if let Some(column) = self.layout.channels[channel].length {
            self.store(column, Val::constant(0), length);
        }
    }

    fn remove_field(&mut self, column: usize, slot: Val) {
        let field = self.layout.columns[column];
        if field.bits == 0 || field.n == 0 {
            return;
        }
        if slot.known() == Some(0) {
            return self.shift_down(column);
        }
        // The values as they are, whatever they stand for: what is behind the last message stays 0.
        let raw: Vec<Operand> = (0..field.n).map(|index| self.raw_field(column, index)).collect();
        for index in 0..field.n {
            let moved = self.b.test(Cmp::Ge, Val::constant(index as i32), slot);
            let next = raw.get(index as usize + 1).copied().unwrap_or(Operand::Imm(0));
            self.replace_field(column, index, (moved, next, raw[index as usize]));
        }
    }

    /// A field's bits, as a word.
    fn raw_field(&mut self, column: usize, index: u32) -> Operand {
        let field = self.layout.columns[column];
        let (word, shift) = field.at(index);
        let shifted =
            self.b.op(Op::Shr, Ty::I64, Operand::Reg(self.state[word]), Operand::Imm(i64::from(shift)));
        let mask = Operand::Imm(i64::from(field.mask()));
        Operand::Reg(self.b.op(Op::And, Ty::I64, Operand::Reg(shifted), mask))
    }

    /// Replaces a field's bits by one word where something holds, else by another.
    fn replace_field(&mut self, column: usize, index: u32, (test, yes, no): (Test, Operand, Operand)) {
        let field = self.layout.columns[column];
        let (word, shift) = field.at(index);
        let new = match test {
            Test::Known(known) => {
                if known {
                    yes
                } else {
                    no
                }
            }
            Test::Reg(test) => {
                let to = self.b.reg(Ty::I64);
                self.b.push(crate::ir::Inst::Select(to, test, yes, no));
                Operand::Reg(to)
            }
        };
        let put = self.b.op(Op::Shl, Ty::I64, new, Operand::Imm(i64::from(shift)));
        let mask = (u64::from(field.mask()) << shift) as i64;
        let state = self.state[word];
        let kept = self.b.op(Op::And, Ty::I64, Operand::Reg(state), Operand::Imm(!mask));
        let op = crate::ir::Inst::Op(Op::Or, state, Operand::Reg(kept), Operand::Reg(put));
        self.b.push(op);
    }

    /// Moves all fields of a column one place down, word by word.
    fn shift_down(&mut self, column: usize) {
        let field = self.layout.columns[column];
        let mut index = 0;
        while index < field.n {
            let here = field.per_word.min(field.n - index);
            let (word, shift) = field.at(index);
            let bits = here * field.bits;
            let mask = if bits >= 64 { u64::MAX } else { ((1u64 << bits) - 1) << shift };
            let state = self.state[word];
            let mine = self.b.op(Op::And, Ty::I64, Operand::Reg(state), Operand::Imm(mask as i64));
            let by = Operand::Imm(i64::from(field.bits));
            let down = self.b.op(Op::Shr, Ty::I64, Operand::Reg(mine), by);
            let down = self.b.op(Op::And, Ty::I64, Operand::Reg(down), Operand::Imm(mask as i64));
            let others = self.b.op(Op::And, Ty::I64, Operand::Reg(state), Operand::Imm(!mask as i64));
            let mut new = self.b.op(Op::Or, Ty::I64, Operand::Reg(others), Operand::Reg(down));
            if index + here < field.n {
                let next = self.raw_field(column, index + here);
                let up = i64::from(shift + (here - 1) * field.bits);
                let up = self.b.op(Op::Shl, Ty::I64, next, Operand::Imm(up));
                new = self.b.op(Op::Or, Ty::I64, Operand::Reg(new), Operand::Reg(up));
            }
            self.b.push(crate::ir::Inst::Copy(state, Operand::Reg(new)));
            index += here;
        }
    }

    /// Puts a message in, at the end or in order.
    pub fn put_message(&mut self, channel: usize, sorted: bool, message: &[Val]) {
        let channel_layout = &self.layout.channels[channel];
        let (room, fields) = (channel_layout.room, channel_layout.fields);
        let Some(length_column) = channel_layout.length else { return };
        let length = self.length(channel);
        let fits = self.b.test(Cmp::Lt, length, Val::constant(room as i32));
        if fits != Test::Known(true) {
            let miss = self.miss_block(MISS_COLUMN + length_column as u32);
            self.b.require(fits, miss);
        }
        let last = (room as i32 - 1).max(0);
        let end = match length.known() {
            Some(_) => length,
            None => Val { max: length.max.min(last), ..length },
        };
        let slot = if sorted { self.sorted_place(channel, (length, end), message) } else { end };
        for (number, &value) in message.iter().enumerate() {
            let scalar = self.program.chan_types[channel_layout.ty.index()].fields[number];
            let value = self.b.truncate(scalar, value);
            if sorted {
                self.make_place(fields + number, slot);
            }
            self.store(fields + number, slot, value);
        }
        let length = self.b.binary(BinaryOp::Add, end, Val::constant(1));
        self.store(length_column, Val::constant(0), length);
    }

    /// Before which message a sorted one comes: the first that is greater.
    fn sorted_place(&mut self, channel: usize, (length, end): (Val, Val), message: &[Val]) -> Val {
        let room = self.layout.channels[channel].room as i32;
        let mut slot = end;
        for number in (0..room).rev() {
            let mut less = Test::Known(false);
            for (field, &value) in message.iter().enumerate().rev() {
                let there = self.field(channel, Val::constant(number), field);
                let lower = self.b.test(Cmp::Lt, value, there);
                let same = self.b.test(Cmp::Eq, value, there);
                let rest = self.b.join(true, same, less);
                less = self.b.join(false, lower, rest);
            }
            let there = self.b.test(Cmp::Gt, length, Val::constant(number));
            let before = self.b.join(true, there, less);
            slot = self.b.select(before, Val::constant(number), slot);
        }
        match slot.known() {
            Some(_) => slot,
            None => Val { min: 0, max: (room - 1).max(0), ..slot },
        }
    }

    /// Moves the fields from a place on one up.
    fn make_place(&mut self, column: usize, slot: Val) {
        let field = self.layout.columns[column];
        if field.bits == 0 || field.n < 2 {
            return;
        }
        let raw: Vec<Operand> = (0..field.n).map(|index| self.raw_field(column, index)).collect();
        for index in 1..field.n {
            let moved = self.b.test(Cmp::Gt, Val::constant(index as i32), slot);
            let at = index as usize;
            self.replace_field(column, index, (moved, raw[at - 1], raw[at]));
        }
    }
}
