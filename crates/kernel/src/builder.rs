//! Puts functions of the kernel IR together. What is known of a value (the interval that it is in) goes with
//! it, so that what is constant is computed here, and what cannot be otherwise is not tested.

use std::collections::HashMap;

use promela::ir::{BinaryOp, Scalar};

use crate::ir::{Block, Body, Cmp, End, Function, Inst, Op, Operand, Reg, Ty};

/// A value of the model: where it is, and between what it lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Val {
    /// A register of 32 bits, or a constant.
    pub operand: Operand,
    /// The least that it can be.
    pub min: i32,
    /// The most.
    pub max: i32,
}

impl Val {
    /// A constant.
    pub fn constant(value: i32) -> Val {
        Val { operand: Operand::Imm(i64::from(value)), min: value, max: value }
    }

    /// The value, if it is known.
    pub fn known(self) -> Option<i32> {
        (self.min == self.max).then_some(self.min)
    }

    fn of(reg: Reg, (min, max): (i64, i64)) -> Val {
        match (i32::try_from(min), i32::try_from(max)) {
            (Ok(min), Ok(max)) if min == max => Val::constant(min),
            (Ok(min), Ok(max)) => Val { operand: Operand::Reg(reg), min, max },
            _ => Val { operand: Operand::Reg(reg), min: i32::MIN, max: i32::MAX },
        }
    }
}

/// A condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Test {
    /// It is known.
    Known(bool),
    /// A register.
    Reg(Reg),
}

/// A function in the making.
#[derive(Debug)]
pub struct Builder {
    function: Function,
    /// Ends that were not written yet are [`End::Return`]; where code goes at present.
    current: Block,
    /// Whether the current block has its end.
    ended: bool,
    /// Registers that are 1 where a condition holds, and 0 where not: never assigned again.
    conditions: HashMap<Reg, Reg>,
}

impl Default for Builder {
    fn default() -> Self {
        let body = Body { insts: Vec::new(), end: End::Return };
        let function =
            Function { regs: Vec::new(), params: Vec::new(), results: Vec::new(), blocks: vec![body] };
        Builder { function, current: Block(0), ended: false, conditions: HashMap::new() }
    }
}

impl Builder {
    /// A new register.
    pub fn reg(&mut self, ty: Ty) -> Reg {
        self.function.regs.push(ty);
        Reg(self.function.regs.len() as u32 - 1)
    }

    /// A new block.
    pub fn block(&mut self) -> Block {
        self.function.blocks.push(Body { insts: Vec::new(), end: End::Return });
        Block(self.function.blocks.len() as u32 - 1)
    }

    /// From now on code goes to the end of this block.
    pub fn enter(&mut self, block: Block) {
        debug_assert!(self.ended, "the block before has an end");
        self.current = block;
        self.ended = false;
    }

    /// Ends the current block. What comes behind an end cannot be reached and is dropped.
    pub fn end(&mut self, end: End) {
        if !self.ended {
            self.function.blocks[self.current.0 as usize].end = end;
            self.ended = true;
        }
    }

    /// On to a block.
    pub fn jump(&mut self, to: Block) {
        self.end(End::Jump(to));
    }

    /// Whether the current block has its end.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// The function. Blocks that cannot be reached are empty.
    pub fn finish(mut self, params: Vec<Reg>, results: Vec<Reg>) -> Function {
        self.end(End::Return);
        self.function.params = params;
        self.function.results = results;
        self.function
    }

    /// An instruction.
    pub fn push(&mut self, inst: Inst) {
        if !self.ended {
            self.function.blocks[self.current.0 as usize].insts.push(inst);
        }
    }

    /// An operator on registers of any type.
    pub fn op(&mut self, op: Op, ty: Ty, a: Operand, b: Operand) -> Reg {
        let to = self.reg(ty);
        self.push(Inst::Op(op, to, a, b));
        to
    }

    /// A comparison of words or values.
    pub fn cmp(&mut self, cmp: Cmp, ty: Ty, a: Operand, b: Operand) -> Reg {
        let to = self.reg(Ty::Bool);
        self.push(Inst::Cmp(cmp, ty, to, a, b));
        to
    }

    /// A value in a register of its own, which may be assigned again.
    pub fn variable(&mut self, value: Val) -> Reg {
        let to = self.reg(Ty::I32);
        self.push(Inst::Copy(to, value.operand));
        to
    }

    /// A comparison.
    pub fn test(&mut self, cmp: Cmp, a: Val, b: Val) -> Test {
        let known = match cmp {
            Cmp::Eq | Cmp::Ne if a.max < b.min || a.min > b.max => Some(cmp == Cmp::Ne),
            Cmp::Eq | Cmp::Ne => a.known().zip(b.known()).map(|(a, b)| (a == b) == (cmp == Cmp::Eq)),
            Cmp::Lt if a.max < b.min => Some(true),
            Cmp::Lt if a.min >= b.max => Some(false),
            Cmp::Le if a.max <= b.min => Some(true),
            Cmp::Le if a.min > b.max => Some(false),
            Cmp::Gt if a.min > b.max => Some(true),
            Cmp::Gt if a.max <= b.min => Some(false),
            Cmp::Ge if a.min >= b.max => Some(true),
            Cmp::Ge if a.max < b.min => Some(false),
            Cmp::Above if a.min >= 0 && b.min >= 0 => return self.test(Cmp::Gt, a, b),
            _ => None,
        };
        if let Some(known) = known {
            return Test::Known(known);
        }
        // What is a condition already is not compared again.
        if let (Operand::Reg(reg), Some(0), Cmp::Ne) = (a.operand, b.known(), cmp)
            && let Some(condition) = self.conditions.get(&reg)
        {
            return Test::Reg(*condition);
        }
        Test::Reg(self.cmp(cmp, Ty::I32, a.operand, b.operand))
    }

    /// Whether a value is not 0.
    pub fn truth(&mut self, value: Val) -> Test {
        self.test(Cmp::Ne, value, Val::constant(0))
    }

    /// 1 where a condition holds, else 0.
    pub fn bit(&mut self, test: Test) -> Val {
        match test {
            Test::Known(known) => Val::constant(i32::from(known)),
            Test::Reg(condition) => {
                let to = self.reg(Ty::I32);
                self.push(Inst::Select(to, condition, Operand::Imm(1), Operand::Imm(0)));
                self.conditions.insert(to, condition);
                Val::of(to, (0, 1))
            }
        }
    }

    /// The opposite.
    pub fn not(&mut self, test: Test) -> Test {
        match test {
            Test::Known(known) => Test::Known(!known),
            Test::Reg(condition) => {
                Test::Reg(self.op(Op::Xor, Ty::Bool, Operand::Reg(condition), Operand::Imm(1)))
            }
        }
    }

    /// Both, or one of both.
    pub fn join(&mut self, and: bool, a: Test, b: Test) -> Test {
        match (a, b) {
            (Test::Known(known), other) | (other, Test::Known(known)) => {
                if known == and {
                    other
                } else {
                    Test::Known(!and)
                }
            }
            (Test::Reg(a), Test::Reg(b)) => {
                let op = if and { Op::And } else { Op::Or };
                Test::Reg(self.op(op, Ty::Bool, Operand::Reg(a), Operand::Reg(b)))
            }
        }
    }

    /// Goes on in the first block where the condition holds, else in the second.
    pub fn branch(&mut self, test: Test, yes: Block, no: Block) {
        self.end(match test {
            Test::Known(true) => End::Jump(yes),
            Test::Known(false) => End::Jump(no),
            Test::Reg(condition) => End::Branch(condition, yes, no),
        });
    }

    /// Goes on here where the condition holds, else in another block.
    pub fn require(&mut self, test: Test, other: Block) {
        match test {
            Test::Known(true) => {}
            Test::Known(false) => {
                self.jump(other);
                let dead = self.block();
                self.enter(dead);
            }
            Test::Reg(_) => {
                let here = self.block();
                self.branch(test, here, other);
                self.enter(here);
            }
        }
    }

    /// One of two values.
    pub fn select(&mut self, test: Test, yes: Val, no: Val) -> Val {
        match test {
            Test::Known(known) => {
                if known {
                    yes
                } else {
                    no
                }
            }
            Test::Reg(condition) => {
                let to = self.reg(Ty::I32);
                self.push(Inst::Select(to, condition, yes.operand, no.operand));
                Val { operand: Operand::Reg(to), min: yes.min.min(no.min), max: yes.max.max(no.max) }
            }
        }
    }

    /// Goes on in one of some blocks, by a value.
    pub fn switch(&mut self, on: Val, mut cases: Vec<(u32, Block)>, other: Block) {
        cases.sort_by_key(|case| case.0);
        match (on.known(), on.operand) {
            (Some(known), _) => {
                let to = cases.iter().find(|case| case.0 == known as u32).map_or(other, |case| case.1);
                self.jump(to);
            }
            (None, Operand::Reg(_)) if cases.is_empty() => self.jump(other),
            (None, Operand::Reg(reg)) => self.end(End::Switch(reg, cases, other)),
            (None, Operand::Imm(_)) => debug_assert!(false, "a constant is known"),
        }
    }

    fn value(&mut self, op: Op, a: Val, b: Val, range: (i64, i64)) -> Val {
        let to = self.op(op, Ty::I32, a.operand, b.operand);
        Val::of(to, range)
    }

    /// Arithmetic of the model, except for division; logic has both operands evaluated.
    pub fn binary(&mut self, op: BinaryOp, a: Val, b: Val) -> Val {
        if let (Some(x), Some(y)) = (a.known(), b.known())
            && let Some(value) = constant(op, x, y)
        {
            return Val::constant(value);
        }
        let wide = |value: i32| i64::from(value);
        let all = (i64::from(i32::MIN), i64::from(i32::MAX));
        match op {
            BinaryOp::Add if b.known() == Some(0) => a,
            BinaryOp::Add if a.known() == Some(0) => b,
            BinaryOp::Add => {
                self.value(Op::Add, a, b, (wide(a.min) + wide(b.min), wide(a.max) + wide(b.max)))
            }
            BinaryOp::Sub if b.known() == Some(0) => a,
            BinaryOp::Sub => {
                self.value(Op::Sub, a, b, (wide(a.min) - wide(b.max), wide(a.max) - wide(b.min)))
            }
            BinaryOp::Mul if b.known() == Some(1) => a,
            BinaryOp::Mul if a.known() == Some(1) => b,
            BinaryOp::Mul if a.known() == Some(0) || b.known() == Some(0) => Val::constant(0),
            BinaryOp::Mul => {
                let ends = [(a.min, b.min), (a.min, b.max), (a.max, b.min), (a.max, b.max)];
                let ends = ends.map(|(x, y)| wide(x) * wide(y));
                let range = ends.iter().fold((i64::MAX, i64::MIN), |r, &e| (r.0.min(e), r.1.max(e)));
                self.value(Op::Mul, a, b, range)
            }
            BinaryOp::BitAnd => {
                let most = match (a.min >= 0, b.min >= 0) {
                    (true, true) => Some(a.max.min(b.max)),
                    (true, false) => Some(a.max),
                    (false, true) => Some(b.max),
                    (false, false) => None,
                };
                self.value(Op::And, a, b, most.map_or(all, |most| (0, wide(most))))
            }
            BinaryOp::BitOr | BinaryOp::BitXor => {
                let bits = 32 - (a.max | b.max).leading_zeros();
                let range = if a.min >= 0 && b.min >= 0 { (0, (1i64 << bits) - 1) } else { all };
                self.value(if op == BinaryOp::BitOr { Op::Or } else { Op::Xor }, a, b, range)
            }
            BinaryOp::Shl | BinaryOp::Shr => {
                let by = self.binary(BinaryOp::BitAnd, b, Val::constant(31));
                let range = if op == BinaryOp::Shr && a.min >= 0 { (0, wide(a.max)) } else { all };
                self.value(if op == BinaryOp::Shl { Op::Shl } else { Op::Sar }, a, by, range)
            }
            BinaryOp::Lt => self.compared(Cmp::Lt, a, b),
            BinaryOp::Le => self.compared(Cmp::Le, a, b),
            BinaryOp::Gt => self.compared(Cmp::Gt, a, b),
            BinaryOp::Ge => self.compared(Cmp::Ge, a, b),
            BinaryOp::Eq => self.compared(Cmp::Eq, a, b),
            BinaryOp::Ne => self.compared(Cmp::Ne, a, b),
            BinaryOp::And | BinaryOp::Or => {
                let (a, b) = (self.truth(a), self.truth(b));
                let test = self.join(op == BinaryOp::And, a, b);
                self.bit(test)
            }
            // The divisor is not 0; where it is -1 the quotient is the negated value, and nothing remains.
            BinaryOp::Div | BinaryOp::Rem => self.divide(op == BinaryOp::Div, a, b),
        }
    }

    fn compared(&mut self, cmp: Cmp, a: Val, b: Val) -> Val {
        let test = self.test(cmp, a, b);
        self.bit(test)
    }

    fn divide(&mut self, quotient: bool, a: Val, b: Val) -> Val {
        let minus = self.test(Cmp::Eq, b, Val::constant(-1));
        let divisor = self.select(minus, Val::constant(1), b);
        let op = if quotient { Op::Div } else { Op::Rem };
        let most = i64::from(a.max);
        let least = if a.min >= 0 && b.min >= 0 { 0 } else { i64::from(i32::MIN) };
        let range = (least, if least == 0 { most } else { i64::from(i32::MAX) });
        let plain = self.value(op, a, divisor, range);
        let special = match quotient {
            _ if minus == Test::Known(false) => return plain,
            true => self.binary(BinaryOp::Sub, Val::constant(0), a),
            false => Val::constant(0),
        };
        self.select(minus, special, plain)
    }

    /// What remains of a value when it is stored.
    pub fn truncate(&mut self, scalar: Scalar, value: Val) -> Val {
        let (min, max) = bounds(scalar);
        if value.min >= min && value.max <= max {
            return value;
        }
        if let Some(known) = value.known() {
            return Val::constant(scalar.truncate(known));
        }
        if scalar == Scalar::Short {
            let left = self.value(Op::Shl, value, Val::constant(16), (i64::MIN, i64::MAX));
            return self.value(Op::Sar, left, Val::constant(16), (i64::from(min), i64::from(max)));
        }
        self.binary(BinaryOp::BitAnd, value, Val::constant(max))
    }
}

/// Between what the values of a scalar lie.
pub fn bounds(scalar: Scalar) -> (i32, i32) {
    match scalar {
        Scalar::Bit | Scalar::Bool => (0, 1),
        Scalar::Short => (-0x8000, 0x7fff),
        Scalar::Lock => (0, 0x1ff),
        Scalar::Int => (i32::MIN, i32::MAX),
        Scalar::Unsigned(bits) if bits >= 32 => (i32::MIN, i32::MAX),
        Scalar::Unsigned(bits) => (0, (1i32 << bits).wrapping_sub(1)),
        _ => (0, 0xff),
    }
}

/// As the reference machine computes; nothing for a division by 0.
pub(crate) fn constant(op: BinaryOp, a: i32, b: i32) -> Option<i32> {
    Some(match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div | BinaryOp::Rem if b == 0 => return None,
        BinaryOp::Div => a.wrapping_div(b),
        BinaryOp::Rem => a.wrapping_rem(b),
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::Shl => a.wrapping_shl(b as u32),
        BinaryOp::Shr => a.wrapping_shr(b as u32),
        BinaryOp::Lt => i32::from(a < b),
        BinaryOp::Le => i32::from(a <= b),
        BinaryOp::Gt => i32::from(a > b),
        BinaryOp::Ge => i32::from(a >= b),
        BinaryOp::Eq => i32::from(a == b),
        BinaryOp::Ne => i32::from(a != b),
        BinaryOp::And => i32::from(a != 0 && b != 0),
        BinaryOp::Or => i32::from(a != 0 || b != 0),
    })
}
