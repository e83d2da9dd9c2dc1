//! A function of the kernel IR as one of Cranelift's for each process: it takes a state and writes a record
//! for every alternative of the process that is executed.
//!
//! The kernel's function does one alternative of one process; asked for them one after another, it would
//! find the process, the location and the alternative again each time. So the code is followed here with the
//! process known, and where the kernel chooses by the number of the alternative, all alternatives are put
//! behind one another: where one ends, the next begins with the registers as they were. A block that several
//! alternatives share is made once for each of them.
//!
//! A record is the words of the state and one more: what became of it, and in the upper half what was missed.

use std::collections::{BTreeMap, HashMap};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::{FunctionBuilder, Switch, Variable};
use kernel::Kernel;
use kernel::ir::{Block, Body, Cmp, End, Function, Inst, Op, Operand, Reg, Ty};

/// Bytes of a word.
const WORD: i32 = 8;

/// Whose code a block is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Owner {
    /// What comes before the alternatives.
    All,
    /// The alternative with this number, of those that are chosen among in this block.
    One(Block, u32),
}

/// Where the alternatives of a location begin: what lies behind the choice by their number.
type Choice = Vec<Block>;

/// The code of one process in the making.
pub struct Translation<'a, 'b> {
    kernel: &'a Kernel,
    slot: u32,
    b: FunctionBuilder<'b>,
    variables: HashMap<Reg, Variable>,
    blocks: BTreeMap<(Owner, Block), clif::Block>,
    todo: Vec<(Owner, Block)>,
    choices: BTreeMap<Block, Choice>,
    /// The words of the state that is expanded.
    words: Vec<Value>,
    /// Where the next record goes.
    out: Variable,
    end: clif::Block,
}

/// Whether what becomes of an alternative is written only where it ends: then blocks that do not write it
/// end alternatives that were not executed.
pub fn verify(kernel: &Kernel) -> Result<(), String> {
    let writes = |body: &Body| body.insts.iter().any(|inst| inst.target() == kernel.outcome);
    let blocks = kernel.function.blocks.iter().enumerate().skip(1);
    match blocks.clone().find(|(_, body)| body.end != End::Return && writes(body)) {
        None => Ok(()),
        Some((at, _)) => Err(format!("b{at}: what becomes of an alternative is written before its end")),
    }
}

/// Makes the code of a process; answers how many records it may write.
pub fn translate<'b>(
    kernel: &Kernel,
    slot: usize,
    mut b: FunctionBuilder<'b>,
) -> (usize, FunctionBuilder<'b>) {
    let (entry, end) = (b.create_block(), b.create_block());
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let out = b.declare_var(types::I64);
    let mut t = Translation {
        kernel,
        slot: slot as u32,
        b,
        variables: HashMap::new(),
        blocks: BTreeMap::new(),
        todo: Vec::new(),
        choices: BTreeMap::new(),
        words: Vec::new(),
        out,
        end,
    };
    t.begin(entry);
    while let Some((owner, block)) = t.todo.pop() {
        let place = t.blocks[&(owner, block)];
        t.b.switch_to_block(place);
        t.block(owner, block);
    }
    t.b.switch_to_block(end);
    let out = t.b.use_var(out);
    t.b.ins().return_(&[out]);
    let most = t.choices.values().map(Vec::len).max().unwrap_or(0);
    t.b.seal_all_blocks();
    (most, t.b)
}

impl<'a> Translation<'a, '_> {
    fn function(&self) -> &'a Function {
        &self.kernel.function
    }

    /// Loads the state; the parameters are where it is, where records go, and whether `timeout` is true.
    fn begin(&mut self, entry: clif::Block) {
        let [state, out, timeout] = self.b.block_params(entry)[..] else { return };
        self.b.def_var(self.out, out);
        for (at, &reg) in self.kernel.state.iter().enumerate() {
            let word = self.b.ins().load(types::I64, plain(), state, WORD * at as i32);
            self.words.push(word);
            self.define(reg, word);
        }
        self.define(self.kernel.timeout, timeout);
        let visit = self.b.ins().iconst(types::I32, 0);
        self.define(self.kernel.visit, visit);
        let first = self.place(Owner::All, Block(0));
        self.b.ins().jump(first, &[]);
    }

    /// The code of a block for an owner; it is made later.
    fn place(&mut self, owner: Owner, block: Block) -> clif::Block {
        if let Some(&place) = self.blocks.get(&(owner, block)) {
            return place;
        }
        let place = self.b.create_block();
        self.blocks.insert((owner, block), place);
        self.todo.push((owner, block));
        place
    }

    fn variable(&mut self, reg: Reg) -> Variable {
        if let Some(&variable) = self.variables.get(&reg) {
            return variable;
        }
        let variable = self.b.declare_var(of(self.function().ty(reg)));
        self.variables.insert(reg, variable);
        variable
    }

    fn define(&mut self, reg: Reg, value: Value) {
        let variable = self.variable(reg);
        self.b.def_var(variable, value);
    }

    fn read(&mut self, operand: Operand, ty: Ty) -> Value {
        match operand {
            Operand::Reg(reg) => {
                let variable = self.variable(reg);
                self.b.use_var(variable)
            }
            Operand::Imm(value) => {
                let value = match ty {
                    Ty::Bool => value & 1,
                    Ty::I32 => i64::from(value as u32),
                    Ty::I64 => value,
                };
                self.b.ins().iconst(of(ty), value)
            }
        }
    }

    fn block(&mut self, owner: Owner, block: Block) {
        let body = &self.function().blocks[block.0 as usize];
        for inst in &body.insts {
            self.inst(inst);
        }
        match &body.end {
            End::Switch(on, cases, other) if *on == self.kernel.slot => {
                let known = cases.iter().find(|case| case.0 == self.slot).map_or(*other, |case| case.1);
                let to = self.place(owner, known);
                self.b.ins().jump(to, &[]);
            }
            End::Switch(on, cases, _) if *on == self.kernel.k => {
                self.choose(block, cases.iter().map(|case| case.1).collect());
            }
            End::Branch(on, first, _) if self.asks_for_first(&body.insts, *on) => {
                self.choose(block, vec![*first]);
            }
            End::Jump(to) => {
                let to = self.place(owner, *to);
                self.b.ins().jump(to, &[]);
            }
            End::Branch(on, yes, no) => {
                let on = self.read(Operand::Reg(*on), Ty::Bool);
                let (yes, no) = (self.place(owner, *yes), self.place(owner, *no));
                self.b.ins().brif(on, yes, &[], no, &[]);
            }
            End::Switch(on, cases, other) => {
                let on = self.read(Operand::Reg(*on), Ty::I32);
                let mut switch = Switch::new();
                for &(value, to) in cases {
                    let to = self.place(owner, to);
                    switch.set_entry(u128::from(value), to);
                }
                let other = self.place(owner, *other);
                switch.emit(&mut self.b, on, other);
            }
            End::Return => self.ended(owner, block),
        }
    }

    /// Whether a condition is that the number of the alternative is 0.
    fn asks_for_first(&self, insts: &[Inst], on: Reg) -> bool {
        let k = Operand::Reg(self.kernel.k);
        insts.last() == Some(&Inst::Cmp(Cmp::Eq, Ty::I32, on, k, Operand::Imm(0)))
    }

    /// All alternatives, one after another.
    fn choose(&mut self, at: Block, alternatives: Choice) {
        let to = self.place(Owner::One(at, 0), alternatives[0]);
        self.choices.insert(at, alternatives);
        self.b.ins().jump(to, &[]);
    }

    /// An alternative has ended in a block, or there is none.
    fn ended(&mut self, owner: Owner, block: Block) {
        let Owner::One(at, k) = owner else {
            self.b.ins().jump(self.end, &[]);
            return;
        };
        let insts = &self.function().blocks[block.0 as usize].insts;
        if insts.iter().any(|inst| inst.target() == self.kernel.outcome) {
            self.record();
        }
        let choice = &self.choices[&at];
        let Some(&next) = choice.get(k as usize + 1) else {
            self.b.ins().jump(self.end, &[]);
            return;
        };
        // That there are more is mostly said where the alternative begins.
        let first = &self.function().blocks[choice[k as usize].0 as usize];
        let always = first.insts.contains(&Inst::Copy(self.kernel.more, Operand::Imm(1)));
        if !always {
            let more = self.read(Operand::Reg(self.kernel.more), Ty::I32);
            let on = self.b.create_block();
            self.b.ins().brif(more, on, &[], self.end, &[]);
            self.b.switch_to_block(on);
        }
        self.reset();
        let to = self.place(Owner::One(at, k + 1), next);
        self.b.ins().jump(to, &[]);
    }

    /// Registers are as they were before the alternative.
    fn reset(&mut self) {
        for at in 0..self.words.len() {
            self.define(self.kernel.state[at], self.words[at]);
        }
        let function = self.function();
        for inst in &function.blocks[0].insts {
            self.inst(inst);
        }
    }

    /// Writes a record.
    fn record(&mut self) {
        let out = self.b.use_var(self.out);
        for (at, &reg) in self.kernel.state.iter().enumerate() {
            let word = self.read(Operand::Reg(reg), Ty::I64);
            self.b.ins().store(plain(), word, out, WORD * at as i32);
        }
        let outcome = self.read(Operand::Reg(self.kernel.outcome), Ty::I32);
        let outcome = self.b.ins().uextend(types::I64, outcome);
        let miss = self.read(Operand::Reg(self.kernel.miss), Ty::I32);
        let miss = self.b.ins().uextend(types::I64, miss);
        let half = self.b.ins().iconst(types::I64, 32);
        let miss = self.b.ins().ishl(miss, half);
        let told = self.b.ins().bor(outcome, miss);
        let n = self.kernel.state.len() as i32;
        self.b.ins().store(plain(), told, out, WORD * n);
        let record = self.b.ins().iconst(types::I64, i64::from(WORD * (n + 1)));
        let next = self.b.ins().iadd(out, record);
        self.b.def_var(self.out, next);
    }

    fn inst(&mut self, inst: &Inst) {
        let to = inst.target();
        let ty = self.function().ty(to);
        let value = match *inst {
            Inst::Copy(_, from) => self.read(from, ty),
            Inst::Op(op, _, a, b) => {
                let shifts = matches!(op, Op::Shl | Op::Sar | Op::Shr);
                let a = self.read(a, ty);
                let b = self.read(b, if shifts { Ty::I32 } else { ty });
                self.operate(op, a, b)
            }
            Inst::Cmp(cmp, of, _, a, b) => {
                let (a, b) = (self.read(a, of), self.read(b, of));
                self.b.ins().icmp(condition(cmp), a, b)
            }
            Inst::Select(_, on, a, b) => {
                let on = self.read(Operand::Reg(on), Ty::Bool);
                let (a, b) = (self.read(a, ty), self.read(b, ty));
                self.b.ins().select(on, a, b)
            }
            Inst::Widen(_, from) => {
                let from = self.read(Operand::Reg(from), Ty::I32);
                self.b.ins().uextend(types::I64, from)
            }
            Inst::Narrow(_, from) => {
                let from = self.read(Operand::Reg(from), Ty::I64);
                self.b.ins().ireduce(types::I32, from)
            }
        };
        self.define(to, value);
    }

    fn operate(&mut self, op: Op, a: Value, b: Value) -> Value {
        let ins = self.b.ins();
        match op {
            Op::Add => ins.iadd(a, b),
            Op::Sub => ins.isub(a, b),
            Op::Mul => ins.imul(a, b),
            Op::Div => ins.sdiv(a, b),
            Op::Rem => ins.srem(a, b),
            Op::And => ins.band(a, b),
            Op::Or => ins.bor(a, b),
            Op::Xor => ins.bxor(a, b),
            Op::Shl => ins.ishl(a, b),
            Op::Sar => ins.sshr(a, b),
            Op::Shr => ins.ushr(a, b),
        }
    }
}

/// States and records are aligned and there.
fn plain() -> MemFlagsData {
    MemFlagsData::trusted()
}

fn of(ty: Ty) -> clif::Type {
    match ty {
        Ty::Bool => types::I8,
        Ty::I32 => types::I32,
        Ty::I64 => types::I64,
    }
}

fn condition(cmp: Cmp) -> IntCC {
    match cmp {
        Cmp::Eq => IntCC::Equal,
        Cmp::Ne => IntCC::NotEqual,
        Cmp::Lt => IntCC::SignedLessThan,
        Cmp::Le => IntCC::SignedLessThanOrEqual,
        Cmp::Gt => IntCC::SignedGreaterThan,
        Cmp::Ge => IntCC::SignedGreaterThanOrEqual,
        Cmp::Above => IntCC::UnsignedGreaterThan,
    }
}
