//! The kernel IR as text, for people.

use std::fmt::{self, Display, Formatter};

use crate::ir::{Block, End, Function, Inst, Operand, Reg, Ty};

impl Display for Reg {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

impl Display for Block {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "b{}", self.0)
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Reg(reg) => reg.fmt(f),
            Operand::Imm(value) => value.fmt(f),
        }
    }
}

impl Display for Inst {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Inst::Copy(to, from) => write!(f, "{to} = {from}"),
            Inst::Op(op, to, a, b) => write!(f, "{to} = {} {a} {b}", format!("{op:?}").to_lowercase()),
            Inst::Cmp(op, ty, to, a, b) => {
                let (op, ty) = (format!("{op:?}").to_lowercase(), format!("{ty:?}").to_lowercase());
                write!(f, "{to} = {op}.{ty} {a} {b}")
            }
            Inst::Select(to, on, a, b) => write!(f, "{to} = {on} ? {a} : {b}"),
            Inst::Widen(to, from) => write!(f, "{to} = widen {from}"),
            Inst::Narrow(to, from) => write!(f, "{to} = narrow {from}"),
        }
    }
}

impl Display for End {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            End::Jump(to) => write!(f, "jump {to}"),
            End::Branch(on, yes, no) => write!(f, "if {on} jump {yes} else {no}"),
            End::Switch(on, cases, other) => {
                write!(f, "switch {on}")?;
                cases.iter().try_for_each(|(value, to)| write!(f, " {value}:{to}"))?;
                write!(f, " else {other}")
            }
            End::Return => f.write_str("return"),
        }
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let list = |regs: &[Reg]| regs.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        writeln!(f, "function ({}) -> ({})", list(&self.params), list(&self.results))?;
        for ty in [Ty::Bool, Ty::I32, Ty::I64] {
            let of = |(_, other): &(usize, &Ty)| **other == ty;
            let regs: Vec<Reg> =
                self.regs.iter().enumerate().filter(of).map(|(i, _)| Reg(i as u32)).collect();
            writeln!(f, "  {} {}", format!("{ty:?}").to_lowercase(), list(&regs))?;
        }
        for (number, body) in self.blocks.iter().enumerate() {
            writeln!(f, "b{number}:")?;
            body.insts.iter().try_for_each(|inst| writeln!(f, "  {inst}"))?;
            writeln!(f, "  {}", body.end)?;
        }
        Ok(())
    }
}
