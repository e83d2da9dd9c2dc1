//! Values: expressions and places.
//!
//! Everything is computed in 32 bits. Evaluation that meets an error (an index, a division, a channel) jumps
//! to `self.wrong`, which lets the reference machine find the same error and say what it is.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::immediates::Offset32;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlagsData, Value, types};
use machine::interp::layout::Width;
use promela::ir::{Base, BinaryOp, Expr, ExprKind, Place, Scalar, UnaryOp};

use crate::shape::{ProcEntry, Shape};

use super::process::Gen;

/// A state as code sees it.
#[derive(Clone, Copy)]
pub struct Frame {
    /// Its first byte.
    pub state: Value,
    /// The block of the process that executes.
    pub local: Value,
    /// Its shape.
    pub shape: Value,
    /// Its length, where it was already read.
    pub len: Option<Value>,
    /// Whether `timeout` is true; `None`: no.
    pub timeout: Option<Value>,
    /// The value of a `run` that was executed.
    pub run: Option<Value>,
    /// A message is on offer.
    pub pending: bool,
}

/// Memory accesses of code do not trap, and are not aligned.
pub fn plain() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

/// How a scalar is read.
fn width(scalar: Scalar) -> Width {
    Width::of(scalar)
}

impl Gen<'_> {
    pub fn int(&mut self, value: i32) -> Value {
        self.b.ins().iconst(types::I32, i64::from(value))
    }

    /// Goes to `to` unless the condition holds.
    pub fn unless(&mut self, condition: Value, to: Block) {
        let go_on = self.b.create_block();
        self.b.ins().brif(condition, go_on, &[], to, &[]);
        self.b.switch_to_block(go_on);
    }

    /// Goes to `to` if the condition holds.
    pub fn branch_if(&mut self, condition: Value, to: Block) {
        let go_on = self.b.create_block();
        self.b.ins().brif(condition, to, &[], go_on, &[]);
        self.b.switch_to_block(go_on);
    }

    pub fn compare(&mut self, condition: IntCC, value: Value, with: i32) -> Value {
        self.b.ins().icmp_imm_s(condition, value, i64::from(with))
    }

    /// Reads a 32-bit field of a structure.
    pub fn field32(&mut self, base: Value, offset: usize) -> Value {
        self.b.ins().load(types::I32, plain(), base, offset as i32)
    }

    /// Reads a pointer.
    pub fn field64(&mut self, base: Value, offset: usize) -> Value {
        self.b.ins().load(types::I64, plain(), base, offset as i32)
    }

    /// Reads a 32-bit field of a structure that is not negative.
    pub fn field_wide(&mut self, base: Value, offset: usize) -> Value {
        self.b.ins().uload32(plain(), base, offset as i32)
    }

    pub fn wide(&mut self, value: Value) -> Value {
        self.b.ins().uextend(types::I64, value)
    }

    /// Reads a number as the state has it.
    pub fn read(&mut self, width: Width, base: Value, offset: i32) -> Value {
        let at = Offset32::new(offset);
        match width {
            Width::U8 => self.b.ins().uload8(types::I32, plain(), base, at),
            Width::U16 => self.b.ins().uload16(types::I32, plain(), base, at),
            Width::I16 => self.b.ins().sload16(types::I32, plain(), base, at),
            Width::I32 => self.b.ins().load(types::I32, plain(), base, at),
        }
    }

    /// Writes the low bits of a number.
    pub fn write(&mut self, width: Width, value: Value, base: Value, offset: i32) {
        let at = Offset32::new(offset);
        match width {
            Width::U8 => self.b.ins().istore8(plain(), value, base, at),
            Width::U16 | Width::I16 => self.b.ins().istore16(plain(), value, base, at),
            Width::I32 => self.b.ins().store(plain(), value, base, at),
        };
    }

    /// Writes a number that is known beforehand.
    pub fn write_constant(&mut self, width: Width, value: u32, base: Value, offset: i32) {
        let (ty, value) = match width {
            Width::U8 => (types::I8, i64::from(value as u8)),
            Width::U16 | Width::I16 => (types::I16, i64::from(value as u16)),
            Width::I32 => (types::I32, i64::from(value)),
        };
        let value = self.b.ins().iconst(ty, value);
        self.b.ins().store(plain(), value, base, offset);
    }

    pub fn read_scalar(&mut self, scalar: Scalar, base: Value, offset: i32) -> Value {
        self.read(width(scalar), base, offset)
    }

    /// Writes what remains of a value in a cell.
    pub fn write_scalar(&mut self, scalar: Scalar, value: Value, base: Value, offset: i32) {
        let value = self.mask(scalar, value);
        self.write(width(scalar), value, base, offset);
    }

    /// Cuts off what writing would not cut off by itself.
    fn mask(&mut self, scalar: Scalar, value: Value) -> Value {
        let mask = match scalar {
            Scalar::Bit | Scalar::Bool => 1,
            Scalar::Lock => 0x1ff,
            Scalar::Unsigned(bits) if bits < 32 => (1i64 << bits) - 1,
            _ => return value,
        };
        self.b.ins().band_imm_u(value, mask)
    }

    /// The value that remains of `value` in a cell.
    pub fn truncate(&mut self, scalar: Scalar, value: Value) -> Value {
        let value = self.mask(scalar, value);
        match (scalar, width(scalar)) {
            (Scalar::Bit | Scalar::Bool | Scalar::Lock | Scalar::Unsigned(_), _) | (_, Width::I32) => value,
            (_, Width::U8) => self.b.ins().band_imm_u(value, 0xff),
            (_, Width::U16) => self.b.ins().band_imm_u(value, 0xffff),
            (_, Width::I16) => {
                let half = self.b.ins().ireduce(types::I16, value);
                self.b.ins().sextend(types::I32, half)
            }
        }
    }

    /// Where a place of `at` is: a base and an offset; its indices are evaluated in `f`. `None` for the
    /// write-only variable.
    fn address(&mut self, f: &Frame, at: &Frame, place: &Place) -> Option<(Value, i32)> {
        let (base, offset) = match place.base {
            Base::Scratch => return None,
            Base::Global => {
                let (offset, hidden) = self.plan.layout.cells[place.cell as usize];
                match hidden {
                    false => (at.state, offset),
                    true => {
                        let start = self.field_wide(at.shape, std::mem::offset_of!(Shape, hidden));
                        (self.b.ins().iadd(at.state, start), offset)
                    }
                }
            }
            Base::Local => (at.local, self.plan.layout.processes[self.proctype].cells[place.cell as usize]),
        };
        let (base, more) = self.indexed(f, place, base, place.base == Base::Global, self.proctype);
        Some((base, offset as i32 + more))
    }

    /// Adds the indices of a place to its base; answers that and what is to be added to the offset.
    fn indexed(
        &mut self,
        f: &Frame,
        place: &Place,
        mut base: Value,
        global: bool,
        proctype: usize,
    ) -> (Value, i32) {
        let layout = self.plan.layout;
        let at = |cell: u32| match global {
            true => layout.cells.get(cell as usize).map(|c| c.0),
            false => layout.processes[proctype].cells.get(cell as usize).copied(),
        };
        let mut more = 0;
        for index in &place.indices {
            // Elements look alike, so the distance of the first two is that of all.
            let stride = match (at(place.cell), at(place.cell + index.stride)) {
                (Some(first), Some(second)) if index.len > 1 => second.wrapping_sub(first),
                _ => 0,
            };
            if let ExprKind::Const(n @ 0..) = index.value.kind
                && (n as u32) < index.len
            {
                more += n * stride as i32;
                continue;
            }
            let value = self.index(f, index);
            let distance = self.times(value, stride);
            base = self.b.ins().iadd(base, distance);
        }
        (base, more)
    }

    /// A number, which is not negative, times a constant.
    pub fn times(&mut self, value: Value, by: u32) -> Value {
        let value = self.wide(value);
        match by {
            1 => value,
            _ if by.is_power_of_two() => self.b.ins().ishl_imm_u(value, i64::from(by.trailing_zeros())),
            _ => self.b.ins().imul_imm_s(value, i64::from(by)),
        }
    }

    /// An index, which is within its bounds.
    pub fn index(&mut self, f: &Frame, index: &promela::ir::Index) -> Value {
        let value = self.eval(f, &index.value);
        if !matches!(index.value.kind, ExprKind::Const(n @ 0..) if (n as u32) < index.len) {
            let within = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, value, i64::from(index.len));
            self.unless(within, self.wrong);
        }
        value
    }

    pub fn load(&mut self, f: &Frame, place: &Place) -> Value {
        if let Some(value) = self.shared_value(f, place) {
            return value;
        }
        match self.address(f, f, place) {
            Some((base, offset)) => self.read_scalar(place.scalar, base, offset),
            None => self.int(0),
        }
    }

    /// Writes to a place of `to`; its indices are evaluated in `f`.
    pub fn store(&mut self, f: &Frame, to: &Frame, place: &Place, value: Value) {
        if let Some((base, offset)) = self.address(f, to, place) {
            self.write_scalar(place.scalar, value, base, offset);
        }
    }

    /// The value of an expression.
    pub fn eval(&mut self, f: &Frame, expr: &Expr) -> Value {
        match &expr.kind {
            ExprKind::Const(value) => self.int(*value),
            ExprKind::Load(place) => self.load(f, place),
            ExprKind::Unary(op, operand) => {
                let value = self.eval(f, operand);
                match op {
                    UnaryOp::Neg => self.b.ins().ineg(value),
                    UnaryOp::BitNot => self.b.ins().bnot(value),
                    UnaryOp::Not => {
                        let zero = self.compare(IntCC::Equal, value, 0);
                        self.b.ins().uextend(types::I32, zero)
                    }
                }
            }
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, ..) => self.truth(f, expr),
            ExprKind::Binary(op @ (BinaryOp::Div | BinaryOp::Rem), left, right)
                if matches!(right.kind, ExprKind::Const(1..)) =>
            {
                let left = self.eval(f, left);
                let right = self.eval(f, right);
                match op {
                    BinaryOp::Div => self.b.ins().sdiv(left, right),
                    _ => self.b.ins().srem(left, right),
                }
            }
            ExprKind::Binary(op, left, right) => {
                let left = self.eval(f, left);
                let right = self.eval(f, right);
                self.binary(*op, left, right)
            }
            ExprKind::Cond(condition, yes, no) => {
                let (then, otherwise, join) = self.three_blocks();
                let result = self.b.append_block_param(join, types::I32);
                self.condition(f, condition, then, otherwise);
                for (block, value) in [(then, yes), (otherwise, no)] {
                    self.b.switch_to_block(block);
                    let value = self.eval(f, value);
                    self.b.ins().jump(join, &[BlockArg::Value(value)]);
                }
                self.b.switch_to_block(join);
                result
            }
            _ => self.eval_special(f, expr),
        }
    }

    fn three_blocks(&mut self) -> (Block, Block, Block) {
        (self.b.create_block(), self.b.create_block(), self.b.create_block())
    }

    /// 0 or 1.
    fn truth(&mut self, f: &Frame, expr: &Expr) -> Value {
        let (yes, no, join) = self.three_blocks();
        let result = self.b.append_block_param(join, types::I32);
        self.condition(f, expr, yes, no);
        for (block, value) in [(yes, 1), (no, 0)] {
            self.b.switch_to_block(block);
            let value = self.int(value);
            self.b.ins().jump(join, &[BlockArg::Value(value)]);
        }
        self.b.switch_to_block(join);
        result
    }

    /// Goes to `yes` when an expression is not 0, else to `no`; ends the block.
    pub fn condition(&mut self, f: &Frame, expr: &Expr, yes: Block, no: Block) {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, operand) => self.condition(f, operand, no, yes),
            ExprKind::Binary(BinaryOp::And, left, right) => {
                let both = self.b.create_block();
                self.condition(f, left, both, no);
                self.b.switch_to_block(both);
                self.condition(f, right, yes, no);
            }
            ExprKind::Binary(BinaryOp::Or, left, right) => {
                let second = self.b.create_block();
                self.condition(f, left, yes, second);
                self.b.switch_to_block(second);
                self.condition(f, right, yes, no);
            }
            ExprKind::Binary(op, left, right) if comparison(*op).is_some() => {
                let left = self.eval(f, left);
                let right = self.eval(f, right);
                let condition = comparison(*op).unwrap_or(IntCC::Equal);
                let holds = self.b.ins().icmp(condition, left, right);
                self.b.ins().brif(holds, yes, &[], no, &[]);
            }
            _ => {
                let value = self.eval(f, expr);
                self.b.ins().brif(value, yes, &[], no, &[]);
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, left: Value, right: Value) -> Value {
        if let Some(condition) = comparison(op) {
            let holds = self.b.ins().icmp(condition, left, right);
            return self.b.ins().uextend(types::I32, holds);
        }
        match op {
            BinaryOp::Add => self.b.ins().iadd(left, right),
            BinaryOp::Sub => self.b.ins().isub(left, right),
            BinaryOp::Mul => self.b.ins().imul(left, right),
            BinaryOp::Div | BinaryOp::Rem => self.divide(op, left, right),
            BinaryOp::BitAnd => self.b.ins().band(left, right),
            BinaryOp::BitOr => self.b.ins().bor(left, right),
            BinaryOp::BitXor => self.b.ins().bxor(left, right),
            // Cranelift takes shift counts modulo the width, as the language's arithmetic does.
            BinaryOp::Shl => self.b.ins().ishl(left, right),
            _ => self.b.ins().sshr(left, right),
        }
    }

    /// Division by 0 is an error, by −1 negation, which wraps.
    fn divide(&mut self, op: BinaryOp, left: Value, right: Value) -> Value {
        self.unless(right, self.wrong);
        let (plain, minus, join) = self.three_blocks();
        let result = self.b.append_block_param(join, types::I32);
        let is_minus = self.compare(IntCC::Equal, right, -1);
        self.b.ins().brif(is_minus, minus, &[], plain, &[]);
        self.b.switch_to_block(minus);
        let value = if op == BinaryOp::Div { self.b.ins().ineg(left) } else { self.int(0) };
        self.b.ins().jump(join, &[BlockArg::Value(value)]);
        self.b.switch_to_block(plain);
        let value = match op {
            BinaryOp::Div => self.b.ins().sdiv(left, right),
            _ => self.b.ins().srem(left, right),
        };
        self.b.ins().jump(join, &[BlockArg::Value(value)]);
        self.b.switch_to_block(join);
        result
    }

    /// Expressions about channels, processes and the state as a whole.
    fn eval_special(&mut self, f: &Frame, expr: &Expr) -> Value {
        match &expr.kind {
            ExprKind::Chan(op, chan) => self.chan_op(f, *op, chan),
            ExprKind::Poll { chan, random, args } => self.poll(f, chan, *random, args),
            ExprKind::Run { .. } => self.run_value(f),
            ExprKind::Pid => self.pid(),
            ExprKind::NrPr => self.field32(f.shape, std::mem::offset_of!(Shape, n_procs)),
            ExprKind::Last => match self.plan.layout.last {
                Some(offset) => self.read(Width::U8, f.state, offset as i32),
                None => self.int(0),
            },
            ExprKind::Timeout => f.timeout.unwrap_or_else(|| self.int(0)),
            ExprKind::PcValue(pid) => {
                let pid = self.eval(f, pid);
                self.of_process(f, pid, |g, block, _| g.read(g.plan.layout.location, block, 0))
            }
            ExprKind::RemoteLabel { proctype, pid, location } => {
                let pid = self.remote_pid(f, proctype.index(), pid.as_deref());
                self.of_process(f, pid, |g, block, _| {
                    let at = g.read(g.plan.layout.location, block, 0);
                    let same = g.compare(IntCC::Equal, at, location.0 as i32);
                    g.b.ins().uextend(types::I32, same)
                })
            }
            ExprKind::RemoteVar { proctype, pid, place } => {
                let pid = self.remote_pid(f, proctype.index(), pid.as_deref());
                self.of_process(f, pid, |g, block, kind| {
                    let right = g.compare(IntCC::Equal, kind, proctype.0 as i32);
                    g.unless(right, g.wrong);
                    let offset = g.plan.layout.processes[proctype.index()].cells[place.cell as usize];
                    let (base, more) = g.indexed(f, place, block, false, proctype.index());
                    g.read_scalar(place.scalar, base, offset as i32 + more)
                })
            }
            _ => {
                // The plan has no code for such an expression; it is not reached.
                let zero = self.int(0);
                self.unless(zero, self.wrong);
                zero
            }
        }
    }

    /// A `run` that was not executed succeeds as long as there is room.
    fn run_value(&mut self, f: &Frame) -> Value {
        if let Some(value) = f.run {
            return value;
        }
        let n = self.field32(f.shape, std::mem::offset_of!(Shape, n_procs));
        let room = self.compare(IntCC::UnsignedLessThan, n, 255);
        self.unless(room, self.wrong);
        let one = self.int(1);
        self.b.ins().umax(n, one)
    }

    /// The process that a remote reference means.
    fn remote_pid(&mut self, f: &Frame, proctype: usize, pid: Option<&Expr>) -> Value {
        match pid {
            Some(pid) => self.eval(f, pid),
            None => {
                let lowest_pids = self.field64(f.shape, std::mem::offset_of!(Shape, first_of));
                self.field32(lowest_pids, 4 * proctype)
            }
        }
    }

    /// What `look` finds in the block of process `pid`, given its proctype too; 0 when there is no such
    /// process.
    fn of_process(
        &mut self,
        f: &Frame,
        pid: Value,
        look: impl FnOnce(&mut Self, Value, Value) -> Value,
    ) -> Value {
        let (found, join) = (self.b.create_block(), self.b.create_block());
        let result = self.b.append_block_param(join, types::I32);
        let n = self.field32(f.shape, std::mem::offset_of!(Shape, n_procs));
        let exists = self.b.ins().icmp(IntCC::UnsignedLessThan, pid, n);
        let zero = self.int(0);
        self.b.ins().brif(exists, found, &[], join, &[BlockArg::Value(zero)]);
        self.b.switch_to_block(found);
        let (block, kind) = self.block_of(f, pid);
        let value = look(self, block, kind);
        self.b.ins().jump(join, &[BlockArg::Value(value)]);
        self.b.switch_to_block(join);
        result
    }

    /// The block and the proctype of a process that exists.
    pub fn block_of(&mut self, f: &Frame, pid: Value) -> (Value, Value) {
        let entries = self.field64(f.shape, std::mem::offset_of!(Shape, procs));
        let pid = self.wide(pid);
        let distance = self.b.ins().imul_imm_s(pid, size_of::<ProcEntry>() as i64);
        let entry = self.b.ins().iadd(entries, distance);
        let offset = self.field64(entry, std::mem::offset_of!(ProcEntry, offset));
        let kind = self.field32(entry, std::mem::offset_of!(ProcEntry, proctype));
        (self.b.ins().iadd(f.state, offset), kind)
    }
}

/// The comparison that an operator is.
fn comparison(op: BinaryOp) -> Option<IntCC> {
    Some(match op {
        BinaryOp::Lt => IntCC::SignedLessThan,
        BinaryOp::Le => IntCC::SignedLessThanOrEqual,
        BinaryOp::Gt => IntCC::SignedGreaterThan,
        BinaryOp::Ge => IntCC::SignedGreaterThanOrEqual,
        BinaryOp::Eq => IntCC::Equal,
        BinaryOp::Ne => IntCC::NotEqual,
        _ => return None,
    })
}
