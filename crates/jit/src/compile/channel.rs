//! Channels: which one is meant, where it is, and the messages in it.
//!
//! Code is made for every class of channels that an expression may mean; a channel that is known beforehand
//! needs no look-up. Messages stand one behind the other from the first; taking one moves the others up and
//! clears the room that becomes free, so that equal contents are equal bytes.

use std::collections::BTreeSet;
use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Type, Value, types};
use promela::ir::{Base, ChanOp, Expr, ExprKind, Place, RecvArg};

use crate::layout::ChanLayout;
use crate::runtime;
use crate::shape::{ChanEntry, ProcEntry, Shape};

use super::expr::{Frame, plain};
use super::process::Gen;

/// Channels up to this many bytes are moved by unrolled code.
pub const UNROLLED: u32 = 128;

/// A channel that exists.
#[derive(Clone, Copy)]
pub struct Chan {
    /// What it looks like.
    pub class: usize,
    /// Where it is.
    at: At,
    /// Its index.
    pub index: Value,
}

#[derive(Clone, Copy)]
enum At {
    /// At an offset of the state.
    State(Option<Value>, i32),
    /// At an offset of the process's block.
    Block(Option<Value>, i32),
}

/// A message of a channel.
#[derive(Clone, Copy)]
pub struct Slot {
    /// Where it is, relative to the channel.
    pub distance: Option<Value>,
    /// Its number; `None`: the first.
    pub number: Option<Value>,
}

impl<'p> Gen<'p> {
    pub fn class(&self, class: usize) -> &'p ChanLayout {
        &self.plan.layout.channels[class]
    }

    /// Where a channel is in a frame.
    pub fn chan_at(&mut self, f: &Frame, chan: &Chan) -> (Value, i32) {
        let (base, distance, offset) = match chan.at {
            At::State(distance, offset) => (f.state, distance, offset),
            At::Block(distance, offset) => (f.local, distance, offset),
        };
        match distance {
            Some(distance) => (self.b.ins().iadd(base, distance), offset),
            None => (base, offset),
        }
    }

    /// Makes code for every kind of channel that `chan` may mean; `each` ends its block. A channel that is
    /// gone goes to `gone`, one that does not exist to `self.wrong`, one of an unexpected kind to
    /// `self.bail`.
    pub fn with_channel(
        &mut self,
        f: &Frame,
        chan: &Expr,
        arity: Option<usize>,
        gone: Option<Block>,
        each: &mut dyn FnMut(&mut Self, &Chan),
    ) {
        if let Some(known) = self.known_channel(f, chan) {
            let fits = arity.is_none_or(|n| self.class(known.class).fields.len() == n);
            if fits {
                return each(self, &known);
            }
            self.b.ins().jump(self.bail, &[]);
            return;
        }
        let number = self.eval(f, chan);
        let positive = self.compare(IntCC::SignedGreaterThan, number, 0);
        self.unless(positive, self.wrong);
        let count = self.field32(f.shape, offset_of!(Shape, n_chans));
        let exists = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, number, count);
        self.unless(exists, gone.unwrap_or(self.wrong));
        let index = self.b.ins().iadd_imm_s(number, -1);
        let (offset, class) = self.entry(f, index);
        for candidate in self.candidates(chan, arity) {
            let (this, other) = (self.b.create_block(), self.b.create_block());
            let is = self.compare(IntCC::Equal, class, candidate as i32);
            self.b.ins().brif(is, this, &[], other, &[]);
            self.b.switch_to_block(this);
            each(self, &Chan { class: candidate, at: At::State(Some(offset), 0), index });
            self.b.switch_to_block(other);
        }
        self.b.ins().jump(self.bail, &[]);
    }

    /// Offset and class of the channel with an index.
    pub fn entry(&mut self, f: &Frame, index: Value) -> (Value, Value) {
        let entries = self.field64(f.shape, offset_of!(Shape, chans));
        let index = self.wide(index);
        let distance = self.b.ins().imul_imm_s(index, size_of::<ChanEntry>() as i64);
        let entry = self.b.ins().iadd(entries, distance);
        let offset = self.field_wide(entry, offset_of!(ChanEntry, offset));
        (offset, self.field32(entry, offset_of!(ChanEntry, class)))
    }

    /// The classes for which code is made.
    pub fn candidates(&self, chan: &Expr, arity: Option<usize>) -> BTreeSet<usize> {
        let layout = self.plan.layout;
        let fits = |class: &usize| arity.is_none_or(|n| layout.channels[*class].fields.len() == n);
        let class = |ty: &u32| layout.classes[*ty as usize] as usize;
        let known = self.plan.points.of(chan, self.own_proctype());
        let set: BTreeSet<usize> = known.iter().map(class).filter(fits).collect();
        match set.is_empty() {
            false => set,
            true => layout.classes.iter().map(|&c| c as usize).filter(fits).collect(),
        }
    }

    /// The channel that an expression always means.
    fn known_channel(&mut self, f: &Frame, chan: &Expr) -> Option<Chan> {
        let ExprKind::Load(place) = &chan.kind else { return None };
        let first = match place.base {
            Base::Global => self.plan.points.global(place.cell)?,
            Base::Local => self.plan.points.local(self.own_proctype()?, place.cell)?,
            Base::Scratch => return None,
        };
        let last = place.indices.iter().map(|i| i.len.saturating_sub(1) * i.stride).sum::<u32>();
        let list = match place.base {
            Base::Global => &self.plan.layout.chans,
            _ => &self.plan.layout.processes[self.proctype].chans,
        };
        let (offset, ty) = *list.get(first as usize)?;
        let class = self.plan.layout.classes[ty as usize];
        if !self.is_row(place, first, last, class) {
            return None;
        }
        // Which of the row: the sum of indices times strides.
        let mut nth = None;
        for index in &place.indices {
            let value = self.index(f, index);
            let value = self.b.ins().imul_imm_s(value, i64::from(index.stride));
            nth = Some(match nth {
                Some(before) => self.b.ins().iadd(before, value),
                None => value,
            });
        }
        let size = self.class(class as usize).size;
        let distance = nth.map(|nth| self.times(nth, size));
        let (at, base) = match place.base {
            Base::Global => (At::State(distance, offset as i32), self.int(first as i32)),
            _ => {
                let own = self.field32(self.process, offset_of!(ProcEntry, first_chan));
                (At::Block(distance, offset as i32), self.b.ins().iadd_imm_s(own, i64::from(first)))
            }
        };
        let index = match nth {
            Some(nth) => self.b.ins().iadd(base, nth),
            None => base,
        };
        Some(Chan { class: class as usize, at, index })
    }

    /// Whether the cells of a place name channels of one class that lie one behind the other.
    fn is_row(&self, place: &Place, first: u32, last: u32, class: u32) -> bool {
        let layout = self.plan.layout;
        let list = match place.base {
            Base::Global => &layout.chans,
            _ => &layout.processes[self.proctype].chans,
        };
        (0..=last).all(|i| {
            let name = match place.base {
                Base::Global => self.plan.points.global(place.cell + i),
                _ => self.plan.points.local(self.proctype, place.cell + i),
            };
            let ty = list.get((first + i) as usize).map(|c| layout.classes[c.1 as usize]);
            name == Some(first + i) && ty == Some(class)
        })
    }

    /// The number of messages.
    pub fn chan_len(&mut self, f: &Frame, chan: &Chan) -> Value {
        let (base, offset) = self.chan_at(f, chan);
        self.read(self.class(chan.class).len, base, offset)
    }

    /// A question about a channel.
    pub fn chan_op(&mut self, f: &Frame, op: ChanOp, chan: &Expr) -> Value {
        let join = self.b.create_block();
        let result = self.b.append_block_param(join, types::I32);
        let asks_full = matches!(op, ChanOp::Full | ChanOp::Nfull);
        let gone = (!asks_full).then(|| self.b.create_block());
        self.with_channel(f, chan, None, gone, &mut |g, chan| {
            let capacity = g.class(chan.class).capacity;
            if capacity == 0 && f.pending {
                g.b.ins().jump(g.bail, &[]);
                return;
            }
            let len = if capacity == 0 { g.int(0) } else { g.chan_len(f, chan) };
            let value = g.about_len(op, len, capacity);
            g.b.ins().jump(join, &[BlockArg::Value(value)]);
        });
        if let Some(gone) = gone {
            self.b.switch_to_block(gone);
            let len = self.int(0);
            let value = self.about_len(op, len, 0);
            self.b.ins().jump(join, &[BlockArg::Value(value)]);
        }
        self.b.switch_to_block(join);
        result
    }

    fn about_len(&mut self, op: ChanOp, len: Value, capacity: u32) -> Value {
        let full = capacity.max(1) as i32;
        let holds = match op {
            ChanOp::Len => return len,
            ChanOp::Full => self.compare(IntCC::UnsignedGreaterThanOrEqual, len, full),
            ChanOp::Nfull => self.compare(IntCC::UnsignedLessThan, len, full),
            ChanOp::Empty => self.compare(IntCC::Equal, len, 0),
            ChanOp::Nempty => self.compare(IntCC::NotEqual, len, 0),
        };
        self.b.ins().uextend(types::I32, holds)
    }

    /// Whether there is a message that matches.
    pub fn poll(&mut self, f: &Frame, chan: &Expr, random: bool, args: &[RecvArg]) -> Value {
        let (join, none) = (self.b.create_block(), self.b.create_block());
        let result = self.b.append_block_param(join, types::I32);
        let plain = self.plan.program.chan_types.iter().any(|ty| ty.capacity == 0);
        self.with_channel(f, chan, Some(args.len()), Some(none), &mut |g, chan| {
            if g.class(chan.class).capacity == 0 {
                g.b.ins().jump(g.wrong, &[]);
                return;
            }
            let slot = g.find_message(f, chan, random, args, none);
            let value = match slot.number {
                Some(number) if !plain => g.b.ins().iadd_imm_s(number, 1),
                _ => g.int(1),
            };
            g.b.ins().jump(join, &[BlockArg::Value(value)]);
        });
        self.b.switch_to_block(none);
        let zero = self.int(0);
        self.b.ins().jump(join, &[BlockArg::Value(zero)]);
        self.b.switch_to_block(join);
        result
    }

    /// Finds the message that a receive takes; goes to `none` when there is none.
    pub fn find_message(
        &mut self,
        f: &Frame,
        chan: &Chan,
        random: bool,
        args: &[RecvArg],
        none: Block,
    ) -> Slot {
        let len = self.chan_len(f, chan);
        if !random {
            self.unless(len, none);
            let slot = Slot { distance: None, number: None };
            self.matches(f, chan, slot, args, none);
            return slot;
        }
        let class = self.class(chan.class);
        let most = self.int(class.capacity as i32);
        let len = self.b.ins().umin(len, most);
        let (head, next) = (self.b.create_block(), self.b.create_block());
        let number = self.b.append_block_param(head, types::I32);
        let zero = self.int(0);
        self.b.ins().jump(head, &[BlockArg::Value(zero)]);
        self.b.switch_to_block(head);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, number, len);
        self.unless(more, none);
        let slot = self.slot(class, number);
        self.matches(f, chan, slot, args, next);
        let found = self.b.create_block();
        self.b.ins().jump(found, &[]);
        self.b.switch_to_block(next);
        let after = self.b.ins().iadd_imm_s(number, 1);
        self.b.ins().jump(head, &[BlockArg::Value(after)]);
        self.b.switch_to_block(found);
        slot
    }

    /// A message by its number.
    pub fn slot(&mut self, class: &ChanLayout, number: Value) -> Slot {
        let distance = self.times(number, class.message);
        Slot { distance: Some(distance), number: Some(number) }
    }

    /// Where a message is in a frame.
    pub fn slot_at(&mut self, f: &Frame, chan: &Chan, slot: Slot) -> (Value, i32) {
        let (base, offset) = self.chan_at(f, chan);
        let offset = offset + self.class(chan.class).len.bytes() as i32;
        match slot.distance {
            Some(distance) => (self.b.ins().iadd(base, distance), offset),
            None => (base, offset),
        }
    }

    /// Goes to `no` unless a message has the fields that are asked for.
    fn matches(&mut self, f: &Frame, chan: &Chan, slot: Slot, args: &[RecvArg], no: Block) {
        if !args.iter().any(|arg| matches!(arg, RecvArg::Match(_))) {
            return;
        }
        let fields = &self.class(chan.class).fields;
        let (base, offset) = self.slot_at(f, chan, slot);
        for (arg, &(at, scalar)) in args.iter().zip(fields) {
            if let RecvArg::Match(expr) = arg {
                let wanted = self.eval(f, expr);
                let there = self.read_scalar(scalar, base, offset + at as i32);
                let same = self.b.ins().icmp(IntCC::Equal, wanted, there);
                self.unless(same, no);
            }
        }
    }

    /// Takes a message out of a channel: what it is in `f` becomes what it is without the message in `to`,
    /// which may be the same state or a copy.
    pub fn remove(&mut self, f: &Frame, to: &Frame, chan: &Chan, slot: Slot) {
        let class = self.class(chan.class);
        let (base, offset) = self.chan_at(f, chan);
        let (base2, _) = self.chan_at(to, chan);
        let len = self.read(class.len, base, offset);
        let rest = self.b.ins().iadd_imm_s(len, -1);
        self.write(class.len, rest, base2, offset);
        let first = offset + class.len.bytes() as i32;
        let room = class.capacity * class.message;
        if slot.number.is_none() && room <= UNROLLED {
            let kept = room - class.message;
            self.move_up(base, base2, first, class.message, kept);
            self.clear(base2, first + kept as i32, class.message);
            return;
        }
        // All that are behind it move up; nothing is believed of the number of messages but that it fits.
        let most = self.int(class.capacity as i32 - 1);
        let rest = self.b.ins().umin(rest, most);
        let number = slot.number.unwrap_or_else(|| self.int(0));
        let behind = self.b.ins().isub(rest, number);
        let bytes = self.times(behind, class.message);
        let here = self.slot(class, number).distance.unwrap_or(bytes);
        let from = self.b.ins().iadd(base, here);
        let from = self.b.ins().iadd_imm_s(from, i64::from(first) + i64::from(class.message));
        let dest = self.b.ins().iadd(base2, here);
        let dest = self.b.ins().iadd_imm_s(dest, i64::from(first));
        self.helper(runtime::move_bytes as *const u8, &[dest, from, bytes], None);
        let freed = self.b.ins().iadd(dest, bytes);
        self.clear(freed, 0, class.message);
    }

    /// Moves `n` bytes from `by` bytes further on.
    fn move_up(&mut self, from: Value, to: Value, first: i32, by: u32, n: u32) {
        let mut done = 0;
        while done < n {
            let (ty, step) = piece(n - done);
            let at = first + done as i32;
            let value = self.b.ins().load(ty, plain(), from, at + by as i32);
            self.b.ins().store(plain(), value, to, at);
            done += step;
        }
    }

    /// Clears `n` bytes.
    pub fn clear(&mut self, base: Value, first: i32, n: u32) {
        let mut done = 0;
        while done < n {
            let (ty, step) = if n - done >= 16 { (types::I64, 8) } else { piece(n - done) };
            let zero = self.b.ins().iconst(ty, 0);
            self.b.ins().store(plain(), zero, base, first + done as i32);
            done += step;
        }
    }

    /// Appends a message to a channel with `len` messages, or inserts it before the first that is greater:
    /// what the channel is in `f` becomes what it is with the message in `to`, which may be the same state or
    /// a copy.
    pub fn put_message(
        &mut self,
        f: &Frame,
        to: &Frame,
        chan: &Chan,
        len: Value,
        values: &[Value],
        sorted: bool,
    ) {
        let class = self.class(chan.class);
        let number = if sorted { self.position(f, chan, len, values) } else { len };
        let slot = self.slot(class, number);
        let (base, offset) = self.slot_at(to, chan, slot);
        if sorted {
            let behind = self.b.ins().isub(len, number);
            let bytes = self.times(behind, class.message);
            let (from, _) = self.slot_at(f, chan, slot);
            let from = self.b.ins().iadd_imm_s(from, i64::from(offset));
            let dest = self.b.ins().iadd_imm_s(base, i64::from(offset) + i64::from(class.message));
            self.helper(runtime::move_bytes as *const u8, &[dest, from, bytes], None);
        }
        for (&value, &(at, scalar)) in values.iter().zip(&class.fields) {
            self.write_scalar(scalar, value, base, offset + at as i32);
        }
        let (base, offset) = self.chan_at(to, chan);
        let more = self.b.ins().iadd_imm_s(len, 1);
        self.write(class.len, more, base, offset);
    }

    /// The number of the first message that is greater than these values; they are compared as they are sent.
    fn position(&mut self, f: &Frame, chan: &Chan, len: Value, values: &[Value]) -> Value {
        let class = self.class(chan.class);
        let (head, next, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let number = self.b.append_block_param(head, types::I32);
        let result = self.b.append_block_param(done, types::I32);
        let zero = self.int(0);
        self.b.ins().jump(head, &[BlockArg::Value(zero)]);
        self.b.switch_to_block(head);
        let body = self.b.create_block();
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, number, len);
        self.b.ins().brif(more, body, &[], done, &[BlockArg::Value(len)]);
        self.b.switch_to_block(body);
        let slot = self.slot(class, number);
        let (base, offset) = self.slot_at(f, chan, slot);
        for (&value, &(at, scalar)) in values.iter().zip(&class.fields) {
            let there = self.read_scalar(scalar, base, offset + at as i32);
            let less = self.b.ins().icmp(IntCC::SignedLessThan, value, there);
            let go_on = self.b.create_block();
            self.b.ins().brif(less, done, &[BlockArg::Value(number)], go_on, &[]);
            self.b.switch_to_block(go_on);
            let same = self.b.ins().icmp(IntCC::Equal, value, there);
            self.unless(same, next);
        }
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(next);
        let after = self.b.ins().iadd_imm_s(number, 1);
        self.b.ins().jump(head, &[BlockArg::Value(after)]);
        self.b.switch_to_block(done);
        result
    }
}

/// The largest piece of at most `n` bytes.
pub fn piece(n: u32) -> (Type, u32) {
    match n {
        16.. => (types::I8X16, 16),
        8..=15 => (types::I64, 8),
        4..=7 => (types::I32, 4),
        2..=3 => (types::I16, 2),
        _ => (types::I8, 1),
    }
}
