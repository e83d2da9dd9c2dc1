//! The evaluator: what a function of the kernel IR means.

use crate::ir::{Cmp, End, Function, Inst, Op, Operand, Reg, Ty};

/// Runs a function. `regs` has a value for each register; those of the parameters count, and afterwards those
/// of the results. False when it took more than `most` blocks.
pub fn run(function: &Function, regs: &mut Vec<u64>, most: u64) -> bool {
    regs.resize(function.regs.len(), 0);
    let mut block = 0;
    for _ in 0..most {
        let body = &function.blocks[block];
        for inst in &body.insts {
            step(function, inst, regs);
        }
        block = match &body.end {
            End::Return => return true,
            End::Jump(to) => to.0,
            End::Branch(on, yes, no) => if regs[on.0 as usize] != 0 { yes } else { no }.0,
            End::Switch(on, cases, other) => {
                let value = regs[on.0 as usize] as u32;
                cases.iter().find(|case| case.0 == value).map_or(*other, |case| case.1).0
            }
        } as usize;
    }
    false
}

fn step(function: &Function, inst: &Inst, regs: &mut [u64]) {
    let to = inst.target();
    let ty = function.ty(to);
    let read = |operand: Operand, ty: Ty| match operand {
        Operand::Reg(Reg(reg)) => regs[reg as usize],
        Operand::Imm(value) => cut(value as u64, ty),
    };
    let value = match *inst {
        Inst::Copy(_, from) => read(from, ty),
        Inst::Op(op, _, a, b) => {
            let shifts = matches!(op, Op::Shl | Op::Sar | Op::Shr);
            operate(op, ty, read(a, ty), read(b, if shifts { Ty::I32 } else { ty }))
        }
        Inst::Cmp(cmp, of, _, a, b) => u64::from(compare(cmp, of, read(a, of), read(b, of))),
        Inst::Select(_, on, a, b) => read(if regs[on.0 as usize] != 0 { a } else { b }, ty),
        Inst::Widen(_, from) | Inst::Narrow(_, from) => regs[from.0 as usize],
    };
    regs[to.0 as usize] = cut(value, ty);
}

fn cut(value: u64, ty: Ty) -> u64 {
    match ty {
        Ty::Bool => value & 1,
        Ty::I32 => u64::from(value as u32),
        Ty::I64 => value,
    }
}

fn signed(value: u64, ty: Ty) -> i64 {
    match ty {
        Ty::I64 => value as i64,
        _ => i64::from(value as i32),
    }
}

fn operate(op: Op, ty: Ty, a: u64, b: u64) -> u64 {
    debug_assert!(
        !matches!(op, Op::Div | Op::Rem) || ![0, -1].contains(&signed(b, ty)),
        "divisors are checked before"
    );
    match op {
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Mul => a.wrapping_mul(b),
        Op::Div => signed(a, ty).wrapping_div(signed(b, ty)) as u64,
        Op::Rem => signed(a, ty).wrapping_rem(signed(b, ty)) as u64,
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Shl => a.wrapping_shl(b as u32),
        Op::Sar => (signed(a, ty) >> (b as u32 & 63)) as u64,
        Op::Shr => a.wrapping_shr(b as u32),
    }
}

fn compare(cmp: Cmp, ty: Ty, a: u64, b: u64) -> bool {
    let (x, y) = (signed(a, ty), signed(b, ty));
    match cmp {
        Cmp::Eq => a == b,
        Cmp::Ne => a != b,
        Cmp::Lt => x < y,
        Cmp::Le => x <= y,
        Cmp::Gt => x > y,
        Cmp::Ge => x >= y,
        Cmp::Above => a > b,
    }
}
