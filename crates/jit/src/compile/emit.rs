//! How an outcome is written: the state is copied to where the next one goes, code changes the copy, and a
//! record is written behind the others. All of it is code in the edge; there is always room (see `runtime`).

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use cranelift_module::Module;
use machine::interp::layout::Width;
use promela::ir::{Edge, EdgeId, LocId};
use system::Successor;

use crate::layout::CONTROL;
use crate::runtime::{Context, PIECE, SLOW};
use crate::shape::Shape;

use super::always_enabled;
use super::expr::{Frame, plain};
use super::process::{Gen, Kind};
use super::statement::{How, Targets};

impl Gen<'_> {
    /// An edge is executable: what follows executes it on the frame that is returned. `None` when that is not
    /// wanted.
    pub fn commit(&mut self, f: &Frame, how: How, to: &Targets) -> Option<Frame> {
        match how {
            How::Ask | How::Test => {
                self.b.ins().jump(to.done, &[]);
                None
            }
            How::InPlace => Some(*f),
            How::Emit => {
                self.answer();
                let (state, len) = self.copy_state(f);
                if self.kind == Kind::Receive && self.plan.late_sender {
                    let at = self.field64(self.context, offset_of!(Context, sender_at));
                    let at = self.b.ins().iadd(state, at);
                    let location = self.field32(self.context, offset_of!(Context, sender_to));
                    self.write(self.plan.layout.location, location, at, 0);
                }
                let local = self.b.ins().iadd(state, self.own);
                Some(Frame { state, local, len: Some(len), ..*f })
            }
        }
    }

    /// Copies a state to where the next one goes: pieces from the front, and the last, which may overlap, to
    /// the very end, so that nothing beyond the state is read. Only a state shorter than a piece has to have
    /// room behind it. Answers where that is, and the length.
    pub fn copy_state(&mut self, f: &Frame) -> (Value, Value) {
        let out = self.field64(self.context, offset_of!(Context, out));
        let len = self.field_wide(f.shape, offset_of!(Shape, len));
        let shortest = self.plan.layout.min_state as usize;
        // What is always there is copied without asking.
        let stride = if shortest >= 2 * PIECE { 2 * PIECE as i32 } else { PIECE as i32 };
        let zero = self.b.ins().iconst(types::I64, 0);
        if shortest < PIECE {
            let (long, end) = (self.b.create_block(), self.b.create_block());
            self.copy_pieces(f.state, out, zero, stride);
            let more = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, len, i64::from(stride));
            self.b.ins().brif(more, long, &[], end, &[]);
            self.b.switch_to_block(long);
            self.copy_rest(f.state, out, len, stride);
            self.b.ins().jump(end, &[]);
            self.b.switch_to_block(end);
        } else {
            self.copy_pieces(f.state, out, zero, stride);
            self.copy_rest(f.state, out, len, stride);
        }
        (out, len)
    }

    /// Copies what is behind the first `stride` bytes.
    fn copy_rest(&mut self, from: Value, to: Value, len: Value, stride: i32) {
        let (long, body, end) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let more = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, len, i64::from(2 * stride));
        self.b.ins().brif(more, long, &[], end, &[]);
        self.b.switch_to_block(long);
        let last = self.b.ins().iadd_imm_s(len, -i64::from(stride));
        let first = self.b.ins().iconst(types::I64, i64::from(stride));
        let at = self.b.append_block_param(body, types::I64);
        self.b.ins().jump(body, &[BlockArg::Value(first)]);
        self.b.switch_to_block(body);
        self.copy_pieces(from, to, at, stride);
        let next = self.b.ins().iadd_imm_s(at, i64::from(stride));
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, next, last);
        self.b.ins().brif(more, body, &[BlockArg::Value(next)], end, &[]);
        self.b.switch_to_block(end);
        let last = self.b.ins().iadd_imm_s(len, -i64::from(stride));
        self.copy_pieces(from, to, last, stride);
    }

    /// Copies `n` bytes.
    fn copy_pieces(&mut self, from: Value, to: Value, at: Value, n: i32) {
        let (from, to) = (self.b.ins().iadd(from, at), self.b.ins().iadd(to, at));
        let pieces = (0..n).step_by(PIECE);
        let values: Vec<Value> =
            pieces.clone().map(|i| self.b.ins().load(types::I8X16, plain(), from, i)).collect();
        for (value, i) in values.into_iter().zip(pieces) {
            self.b.ins().store(plain(), value, to, i);
        }
    }

    /// The step is complete: moves the process, gives control, writes the record; ends the block.
    pub fn finish(&mut self, f: &Frame, id: EdgeId, edge: &Edge, how: How, to: &Targets) {
        if how == How::Emit {
            self.write_constant(self.plan.layout.location, edge.to.0, f.local, 0);
            for (first, len) in self.dead_bytes(edge.to) {
                self.clear(f.local, first as i32, len);
            }
            if let Some(at) = self.plan.layout.last {
                let pid = self.pid();
                self.write(Width::U8, pid, f.state, at as i32);
            }
            let transient = self.give_control(f, edge);
            let len = f.len.unwrap_or_else(|| self.field_wide(f.shape, offset_of!(Shape, len)));
            self.record(f.state, id, len, transient);
        }
        self.b.ins().jump(to.done, &[]);
    }

    /// Writes who is in control after an edge; answers whether somebody is.
    fn give_control(&mut self, f: &Frame, edge: &Edge) -> Value {
        let ordinary = self.b.ins().iconst(types::I64, 0);
        match if edge.atomic { self.control(f, edge.to) } else { None } {
            Some((control, transient)) => {
                self.write(Width::U8, control, f.state, CONTROL as i32);
                let one = self.b.ins().iconst(types::I64, 1);
                self.b.ins().store(plain(), one, self.context, offset_of!(Context, unusual) as i32);
                transient
            }
            None => {
                if self.in_control {
                    self.write_constant(Width::U8, 0, f.state, CONTROL as i32);
                }
                ordinary
            }
        }
    }

    /// Writes the record of the state at `out`, which is complete.
    pub fn record(&mut self, out: Value, id: EdgeId, len: Value, transient: Value) {
        let action = self.action(id);
        let record = self.field64(self.context, offset_of!(Context, rec));
        let base = self.field64(self.context, offset_of!(Context, base));
        let start = self.b.ins().isub(out, base);
        self.b.ins().store(plain(), action, record, offset_of!(Successor, action) as i32);
        self.b.ins().istore32(plain(), start, record, offset_of!(Successor, start) as i32);
        self.b.ins().istore32(plain(), len, record, offset_of!(Successor, len) as i32);
        // No fault, which stands behind it.
        self.b.ins().store(plain(), transient, record, offset_of!(Successor, transient) as i32);
        let end = self.b.ins().iadd(out, len);
        let next = self.b.ins().iadd_imm_s(record, size_of::<Successor>() as i64);
        self.b.ins().store(plain(), end, self.context, offset_of!(Context, out) as i32);
        self.b.ins().store(plain(), next, self.context, offset_of!(Context, rec) as i32);
        self.note(id);
    }

    /// Notes that an edge was taken.
    pub fn note(&mut self, id: EdgeId) {
        let flag = (self.plan.flags[self.proctype] + id.0) as i32;
        if self.plan.few_flags {
            self.write_constant(Width::U8, 1, self.context, offset_of!(Context, few) as i32 + flag);
        } else {
            let flags = self.field64(self.context, offset_of!(Context, taken));
            self.write_constant(Width::U8, 1, flags, flag);
        }
    }

    /// The bytes of a block whose values do not matter at a location: offsets and lengths.
    pub fn dead_bytes(&self, location: LocId) -> Vec<(u32, u32)> {
        let block = &self.plan.layout.processes[self.proctype];
        let mut dead = self.definition().location(location).dead.clone();
        dead.sort_unstable();
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for cell in dead {
            let (first, len) = (block.cells[cell as usize], block.scalars[cell as usize].width() as u32);
            match ranges.last_mut() {
                Some(range) if range.0 + range.1 == first => range.1 += len,
                _ => ranges.push((first, len)),
            }
        }
        ranges
    }

    /// 1 + the pid when the process can go on from `location`, else 0; and whether it can. `None` when it
    /// never can.
    fn control(&mut self, f: &Frame, location: LocId) -> Option<(Value, Value)> {
        if always_enabled(self.definition(), location) {
            let pid = self.pid();
            let control = self.b.ins().iadd_imm_s(pid, 1);
            return Some((control, self.b.ins().iconst(types::I64, 1)));
        }
        let id = self.plan.any[self.proctype][location.index()]?;
        let callee = self.module.declare_func_in_func(id, self.b.func);
        let call = self.b.ins().call(callee, &[self.context, f.state, f.shape, self.process]);
        let can = self.b.inst_results(call)[0];
        let slow = self.compare(IntCC::Equal, can, SLOW as i32);
        self.branch_if(slow, self.bail);
        let pid = self.pid();
        let control = self.b.ins().iadd_imm_s(pid, 1);
        let transient = self.wide(can);
        Some((self.b.ins().imul(control, can), transient))
    }
}
