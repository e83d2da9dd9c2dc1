//! The kernel IR: one function over registers of three types, made of straight code, branches and switches.
//!
//! Registers can be assigned many times, so that every back end may make of them what suits it. There is no
//! memory but the registers: a state is a few words of 64 bits, which come in registers and go in registers.
//! Loops exist only as far as who lowers a program bounds them.

/// The type of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Ty {
    /// A condition.
    Bool,
    /// A value of the model.
    I32,
    /// A word of a state.
    I64,
}

/// A register: index into [`Function::regs`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct Reg(pub u32);

/// A block: index into [`Function::blocks`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct Block(pub u32);

/// What an instruction reads. A constant has the type that its place asks for; of its bits those count that
/// the type has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Operand {
    Reg(Reg),
    Imm(i64),
}

/// Operators on two values of one type; the second operand of a shift is an [`Ty::I32`] below the number of
/// bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Op {
    Add,
    Sub,
    Mul,
    /// Signed, rounding towards 0. The divisor is neither 0 nor -1.
    Div,
    /// The remainder of that.
    Rem,
    And,
    Or,
    Xor,
    Shl,
    /// Signed.
    Sar,
    /// Unsigned.
    Shr,
}

/// Comparisons.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// Unsigned.
    Above,
}

/// An instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Inst {
    /// The same value.
    Copy(Reg, Operand),
    /// An operator.
    Op(Op, Reg, Operand, Operand),
    /// A comparison of two values of this type.
    Cmp(Cmp, Ty, Reg, Operand, Operand),
    /// The first operand if the condition holds, else the second.
    Select(Reg, Reg, Operand, Operand),
    /// 32 bits as a word, above them zeros.
    Widen(Reg, Reg),
    /// The low 32 bits of a word.
    Narrow(Reg, Reg),
}

/// How a block ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// On to a block.
    Jump(Block),
    /// To the first block if the condition holds, else to the second.
    Branch(Reg, Block, Block),
    /// To the block of the value, else to the last one. The values are in ascending order.
    Switch(Reg, Vec<(u32, Block)>, Block),
    /// The end of the function.
    Return,
}

/// A block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Body {
    /// What is done.
    pub insts: Vec<Inst>,
    /// Where it goes on.
    pub end: End,
}

/// A function. It begins with block 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// The type of every register.
    pub regs: Vec<Ty>,
    /// Registers that have a value at the beginning.
    pub params: Vec<Reg>,
    /// Registers that must have one at the end.
    pub results: Vec<Reg>,
    /// The blocks.
    pub blocks: Vec<Body>,
}

impl Function {
    /// The type of a register.
    pub fn ty(&self, reg: Reg) -> Ty {
        self.regs[reg.0 as usize]
    }

    /// The number of instructions, ends of blocks included.
    pub fn len(&self) -> usize {
        self.blocks.iter().map(|body| body.insts.len() + 1).sum()
    }

    /// Whether it does nothing.
    pub fn is_empty(&self) -> bool {
        self.len() <= 1
    }
}

impl Inst {
    /// The register that is assigned.
    pub fn target(&self) -> Reg {
        match *self {
            Inst::Copy(to, _) | Inst::Op(_, to, ..) | Inst::Cmp(_, _, to, ..) => to,
            Inst::Select(to, ..) | Inst::Widen(to, _) | Inst::Narrow(to, _) => to,
        }
    }

    /// Calls `read` for every operand.
    pub fn operands(&self, read: &mut impl FnMut(Operand)) {
        match *self {
            Inst::Copy(_, from) => read(from),
            Inst::Op(_, _, a, b) | Inst::Cmp(_, _, _, a, b) => [a, b].into_iter().for_each(read),
            Inst::Select(_, on, a, b) => [Operand::Reg(on), a, b].into_iter().for_each(read),
            Inst::Widen(_, from) | Inst::Narrow(_, from) => read(Operand::Reg(from)),
        }
    }
}

impl End {
    /// The blocks that may come next.
    pub fn successors(&self) -> Vec<Block> {
        match self {
            End::Jump(to) => vec![*to],
            End::Branch(_, yes, no) => vec![*yes, *no],
            End::Switch(_, cases, other) => cases.iter().map(|case| case.1).chain([*other]).collect(),
            End::Return => Vec::new(),
        }
    }
}
