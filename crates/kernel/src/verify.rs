//! What every function of the kernel IR guarantees: types fit, blocks exist, and no register is read that has
//! no value on some way to where it is read.

use crate::ir::{Block, End, Function, Inst, Op, Operand, Reg, Ty};

/// Checks a function; the error says what is wrong, and where.
pub fn verify(function: &Function) -> Result<(), String> {
    for (number, body) in function.blocks.iter().enumerate() {
        for inst in &body.insts {
            types(function, inst).map_err(|why| format!("b{number}: {inst}: {why}"))?;
        }
        end(function, &body.end).map_err(|why| format!("b{number}: {}: {why}", body.end))?;
    }
    assigned(function)
}

fn expect(function: &Function, operand: Operand, ty: Ty) -> Result<(), String> {
    match operand {
        Operand::Imm(_) => Ok(()),
        Operand::Reg(reg) if (reg.0 as usize) < function.regs.len() && function.ty(reg) == ty => Ok(()),
        Operand::Reg(reg) => Err(format!("{reg} is no {ty:?}")),
    }
}

fn types(function: &Function, inst: &Inst) -> Result<(), String> {
    let to = inst.target();
    if to.0 as usize >= function.regs.len() {
        return Err(format!("there is no {to}"));
    }
    let ty = function.ty(to);
    match *inst {
        Inst::Copy(_, from) => expect(function, from, ty),
        Inst::Op(op, _, a, b) => {
            let of_bools = matches!(op, Op::And | Op::Or | Op::Xor);
            if ty == Ty::Bool && !of_bools {
                return Err("an operator on conditions".to_string());
            }
            let second = if matches!(op, Op::Shl | Op::Sar | Op::Shr) { Ty::I32 } else { ty };
            expect(function, a, ty)?;
            expect(function, b, second)
        }
        Inst::Cmp(_, of, _, a, b) => {
            expect(function, Operand::Reg(to), Ty::Bool)?;
            expect(function, a, of)?;
            expect(function, b, of)
        }
        Inst::Select(_, on, a, b) => {
            expect(function, Operand::Reg(on), Ty::Bool)?;
            expect(function, a, ty)?;
            expect(function, b, ty)
        }
        Inst::Widen(_, from) => {
            expect(function, Operand::Reg(to), Ty::I64)?;
            expect(function, Operand::Reg(from), Ty::I32)
        }
        Inst::Narrow(_, from) => {
            expect(function, Operand::Reg(to), Ty::I32)?;
            expect(function, Operand::Reg(from), Ty::I64)
        }
    }
}

fn end(function: &Function, end: &End) -> Result<(), String> {
    if end.successors().iter().any(|block| block.0 as usize >= function.blocks.len()) {
        return Err("no such block".to_string());
    }
    match end {
        End::Branch(on, ..) => expect(function, Operand::Reg(*on), Ty::Bool),
        End::Switch(on, cases, _) => {
            if !cases.is_sorted_by(|a, b| a.0 < b.0) {
                return Err("the values are not in ascending order".to_string());
            }
            expect(function, Operand::Reg(*on), Ty::I32)
        }
        End::Jump(_) | End::Return => Ok(()),
    }
}

/// Every register that is read has a value, whichever way was taken.
fn assigned(function: &Function) -> Result<(), String> {
    let words = function.regs.len().div_ceil(64);
    let mut before: Vec<Option<Vec<u64>>> = vec![None; function.blocks.len()];
    let mut first = vec![0u64; words];
    function.params.iter().for_each(|reg| set(&mut first, *reg));
    if function.blocks.is_empty() {
        return Err("there is no block".to_string());
    }
    before[0] = Some(first);
    let mut todo = vec![Block(0)];
    while let Some(block) = todo.pop() {
        let body = &function.blocks[block.0 as usize];
        let mut known = before[block.0 as usize].clone().unwrap_or_else(|| vec![0; words]);
        for inst in &body.insts {
            set(&mut known, inst.target());
        }
        for next in body.end.successors() {
            let old = &mut before[next.0 as usize];
            let joined = match old {
                None => known.clone(),
                Some(old) => old.iter().zip(&known).map(|(a, b)| a & b).collect(),
            };
            if old.as_ref() != Some(&joined) {
                *old = Some(joined);
                todo.push(next);
            }
        }
    }
    for (number, body) in function.blocks.iter().enumerate() {
        let Some(mut known) = before[number].clone() else { continue };
        let mut missing = None;
        for inst in &body.insts {
            inst.operands(&mut |operand| {
                if let Operand::Reg(reg) = operand
                    && !get(&known, reg)
                {
                    missing = Some(reg);
                }
            });
            set(&mut known, inst.target());
        }
        let last = match &body.end {
            End::Branch(on, ..) | End::Switch(on, ..) => vec![*on],
            End::Return => function.results.clone(),
            End::Jump(_) => Vec::new(),
        };
        missing = missing.or(last.into_iter().find(|reg| !get(&known, *reg)));
        if let Some(reg) = missing {
            return Err(format!("b{number}: {reg} may have no value"));
        }
    }
    Ok(())
}

fn set(known: &mut [u64], reg: Reg) {
    known[reg.0 as usize / 64] |= 1 << (reg.0 % 64);
}

fn get(known: &[u64], reg: Reg) -> bool {
    known[reg.0 as usize / 64] >> (reg.0 % 64) & 1 != 0
}
