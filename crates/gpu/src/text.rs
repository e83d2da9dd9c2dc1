//! PTX text: a function of the kernel IR, put where it stands, and what the hand-written parts need.
//!
//! Registers of a function are `%v` (32 bits), `%w` (64 bits) and `%b` (conditions) with their numbers; the
//! hand-written parts declare their own.

use std::fmt::Write;

use kernel::ir::{Block, Cmp, End, Function, Inst, Op, Operand, Reg, Ty};

/// Text in the making.
#[derive(Debug, Default)]
pub struct Text {
    /// What there is so far.
    pub text: String,
    labels: u32,
}

impl Text {
    /// Adds lines, each an instruction or a label.
    pub fn lines(&mut self, lines: &str) {
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
            self.text.push_str(line);
            self.text.push('\n');
        }
    }

    /// Adds a line.
    pub fn line(&mut self, line: std::fmt::Arguments<'_>) {
        let written = self.text.write_fmt(line);
        debug_assert!(written.is_ok(), "text can grow");
        self.text.push('\n');
    }

    /// A label that is used nowhere else.
    pub fn label(&mut self) -> String {
        self.labels += 1;
        format!("T{}", self.labels)
    }

    /// Declares the registers of a function.
    pub fn declare(&mut self, function: &Function) {
        let n = function.regs.len();
        self.line(format_args!(".reg .b32 %v<{n}>;\n.reg .b64 %w<{n}>;\n.reg .pred %b<{n}>;"));
        // Conditions that are put together on the way, and second operands.
        self.line(format_args!(".reg .pred %sp;\n.reg .b32 %s32;\n.reg .b64 %s64;"));
    }

    /// Puts a function here; where it returns, it goes on behind it.
    pub fn function(&mut self, function: &Function) {
        let (prefix, end) = (self.label(), self.label());
        let order = reachable(function);
        for (at, &block) in order.iter().enumerate() {
            let body = &function.blocks[block.0 as usize];
            self.line(format_args!("{prefix}_{}:", block.0));
            for inst in &body.insts {
                self.inst(function, inst);
            }
            let next = order.get(at + 1).copied();
            self.end(&body.end, (&prefix, &end), next);
        }
        self.line(format_args!("{end}:"));
    }

    fn inst(&mut self, function: &Function, inst: &Inst) {
        let to = inst.target();
        let (ty, name) = (function.ty(to), name(function, to));
        match *inst {
            Inst::Copy(_, from) => match (ty, from) {
                (Ty::Bool, Operand::Imm(value)) => {
                    self.line(format_args!("mov.u32 %s32, {};\nsetp.ne.u32 {name}, %s32, 0;", value & 1));
                }
                (Ty::Bool, Operand::Reg(from)) => {
                    let from = self::name(function, from);
                    self.line(format_args!("and.pred {name}, {from}, {from};"));
                }
                _ => {
                    let (width, from) = (width(ty), operand(function, from, ty));
                    self.line(format_args!("mov.u{width} {name}, {from};"));
                }
            },
            Inst::Op(op, _, a, b) => self.op(function, (op, ty, &name), a, b),
            Inst::Cmp(cmp, of, _, a, b) => {
                let a = self.first(function, a, of);
                let (b, width) = (operand(function, b, of), width(of));
                let (word, sign) = match cmp {
                    Cmp::Eq => ("eq", 's'),
                    Cmp::Ne => ("ne", 's'),
                    Cmp::Lt => ("lt", 's'),
                    Cmp::Le => ("le", 's'),
                    Cmp::Gt => ("gt", 's'),
                    Cmp::Ge => ("ge", 's'),
                    Cmp::Above => ("gt", 'u'),
                };
                self.line(format_args!("setp.{word}.{sign}{width} {name}, {a}, {b};"));
            }
            Inst::Select(_, on, a, b) => {
                let on = self::name(function, on);
                let (a, b, width) = (operand(function, a, ty), operand(function, b, ty), width(ty));
                self.line(format_args!("selp.b{width} {name}, {a}, {b}, {on};"));
            }
            Inst::Widen(_, from) => {
                let from = self::name(function, from);
                self.line(format_args!("cvt.u64.u32 {name}, {from};"));
            }
            Inst::Narrow(_, from) => {
                let from = self::name(function, from);
                self.line(format_args!("cvt.u32.u64 {name}, {from};"));
            }
        }
    }

    fn op(&mut self, function: &Function, (op, ty, name): (Op, Ty, &str), a: Operand, b: Operand) {
        if ty == Ty::Bool {
            let word = match op {
                Op::And => "and",
                Op::Or => "or",
                _ => "xor",
            };
            let (x, y) = (operand(function, a, ty), operand(function, b, ty));
            return match (op, b) {
                (Op::Xor, Operand::Imm(_)) => self.line(format_args!("not.pred {name}, {x};")),
                _ => self.line(format_args!("{word}.pred {name}, {x}, {y};")),
            };
        }
        let width = width(ty);
        let word = match op {
            Op::Add => format!("add.s{width}"),
            Op::Sub => format!("sub.s{width}"),
            Op::Mul => format!("mul.lo.s{width}"),
            Op::Div => format!("div.s{width}"),
            Op::Rem => format!("rem.s{width}"),
            Op::And => format!("and.b{width}"),
            Op::Or => format!("or.b{width}"),
            Op::Xor => format!("xor.b{width}"),
            Op::Shl => format!("shl.b{width}"),
            Op::Sar => format!("shr.s{width}"),
            Op::Shr => format!("shr.u{width}"),
        };
        let second = if matches!(op, Op::Shl | Op::Sar | Op::Shr) { Ty::I32 } else { ty };
        let a = self.first(function, a, ty);
        let b = operand(function, b, second);
        self.line(format_args!("{word} {name}, {a}, {b};"));
    }

    /// The first operand, which is a register.
    fn first(&mut self, function: &Function, from: Operand, ty: Ty) -> String {
        if let Operand::Reg(reg) = from {
            return name(function, reg);
        }
        let (width, value) = (width(ty), operand(function, from, ty));
        self.line(format_args!("mov.u{width} %s{width}, {value};"));
        format!("%s{width}")
    }

    fn end(&mut self, end: &End, (prefix, out): (&str, &str), next: Option<Block>) {
        match end {
            End::Jump(to) if Some(*to) == next => {}
            End::Jump(to) => self.line(format_args!("bra {prefix}_{};", to.0)),
            End::Branch(on, yes, no) if Some(*yes) == next => {
                self.line(format_args!("@!%b{} bra {prefix}_{};", on.0, no.0));
            }
            End::Branch(on, yes, no) => {
                self.line(format_args!("@%b{} bra {prefix}_{};", on.0, yes.0));
                if Some(*no) != next {
                    self.line(format_args!("bra {prefix}_{};", no.0));
                }
            }
            End::Switch(on, cases, other) => {
                self.switch((prefix, *on), cases, *other, (0, u32::MAX));
            }
            End::Return if next.is_some() => self.line(format_args!("bra {out};")),
            End::Return => {}
        }
    }

    /// A switch by halving; the value is known to lie between two others.
    fn switch(&mut self, of: (&str, Reg), cases: &[(u32, Block)], other: Block, (min, max): (u32, u32)) {
        let (prefix, on) = of;
        match cases {
            [] => self.line(format_args!("bra {prefix}_{};", other.0)),
            [(value, to)] => {
                if (min, max) != (*value, *value) {
                    self.line(format_args!("setp.eq.u32 %sp, %v{}, {value};", on.0));
                    self.line(format_args!("@!%sp bra {prefix}_{};", other.0));
                }
                self.line(format_args!("bra {prefix}_{};", to.0));
            }
            _ => {
                let (low, high) = cases.split_at(cases.len() / 2);
                let (middle, label) = (high[0].0, self.label());
                self.line(format_args!("setp.lt.u32 %sp, %v{}, {middle};\n@%sp bra {label};", on.0));
                self.switch(of, high, other, (middle, max));
                self.line(format_args!("{label}:"));
                self.switch(of, low, other, (min, middle - 1));
            }
        }
    }
}

/// The blocks that can be reached, a block that one alone leads to behind that one where that is possible.
fn reachable(function: &Function) -> Vec<Block> {
    let (mut seen, mut order, mut todo) = (vec![false; function.blocks.len()], Vec::new(), vec![Block(0)]);
    while let Some(block) = todo.pop() {
        if std::mem::replace(&mut seen[block.0 as usize], true) {
            continue;
        }
        order.push(block);
        todo.extend(function.blocks[block.0 as usize].end.successors().into_iter().rev());
    }
    order
}

fn width(ty: Ty) -> u32 {
    if ty == Ty::I64 { 64 } else { 32 }
}

/// A register's name.
pub fn name(function: &Function, reg: Reg) -> String {
    let letter = match function.ty(reg) {
        Ty::Bool => 'b',
        Ty::I32 => 'v',
        Ty::I64 => 'w',
    };
    format!("%{letter}{}", reg.0)
}

fn operand(function: &Function, operand: Operand, ty: Ty) -> String {
    match operand {
        Operand::Reg(reg) => name(function, reg),
        Operand::Imm(value) if ty == Ty::I64 => format!("{value}"),
        Operand::Imm(value) => format!("{}", value as i32),
    }
}
