//! Loads and stores of packed fields.

use promela::ir::BinaryOp;

use super::{Lower, MISS_COLUMN};
use crate::builder::{Test, Val};
use crate::ir::{Cmp, Inst, Op, Operand, Ty};
use crate::layout::Column;

/// Where a field is: for each word that it may be in, whether it is there, and how far it is shifted there.
struct Places {
    words: Vec<(usize, Test)>,
    shift: Operand,
}

impl Lower<'_> {
    /// The value of a field of a column.
    pub fn load(&mut self, column: usize, index: Val) -> Val {
        if let Some(values) = self.layout.frozen.get(&column) {
            return self.frozen(values, index);
        }
        let column = &self.layout.columns[column];
        if column.bits == 0 {
            return Val::constant(column.base);
        }
        let places = self.places(column, index);
        let mut word = Operand::Reg(self.state[places.words[0].0]);
        for &(other, test) in &places.words[1..] {
            let Test::Reg(there) = test else { continue };
            let to = self.b.reg(Ty::I64);
            self.b.push(Inst::Select(to, there, Operand::Reg(self.state[other]), word));
            word = Operand::Reg(to);
        }
        let shifted = match places.shift {
            Operand::Imm(0) => word,
            shift => Operand::Reg(self.b.op(Op::Shr, Ty::I64, word, shift)),
        };
        let narrow = self.b.reg(Ty::I32);
        if let Operand::Reg(word) = shifted {
            self.b.push(Inst::Narrow(narrow, word));
        }
        let all = Val { operand: Operand::Reg(narrow), min: i32::MIN, max: i32::MAX };
        let raw = match column.bits {
            32 => all,
            _ => self.b.binary(BinaryOp::BitAnd, all, Val::constant(column.mask() as i32)),
        };
        self.b.binary(BinaryOp::Add, raw, Val::constant(column.base))
    }

    /// One of values that never change.
    fn frozen(&mut self, values: &[i32], index: Val) -> Val {
        let value = |at: usize| Val::constant(values.get(at).copied().unwrap_or(0));
        if let Some(index) = index.known() {
            return value(index as usize);
        }
        let mut chosen = value(0);
        for at in 1..values.len() {
            let test = self.b.test(Cmp::Eq, index, Val::constant(at as i32));
            chosen = self.b.select(test, value(at), chosen);
        }
        chosen
    }

    /// Stores a value in a field of a column; one that does not fit is a miss.
    pub fn store(&mut self, column: usize, index: Val, value: Val) {
        let number = column as u32;
        let column = &self.layout.columns[column];
        let raw = self.raw(column, number, value);
        if column.bits == 0 {
            return;
        }
        let places = self.places(column, index);
        let wide = match raw.operand {
            Operand::Imm(value) => Operand::Imm(i64::from(value as u32 & column.mask())),
            Operand::Reg(reg) => {
                let to = self.b.reg(Ty::I64);
                self.b.push(Inst::Widen(to, reg));
                Operand::Reg(to)
            }
        };
        let mask = i64::from(column.mask());
        let (put, keep) = match (wide, places.shift) {
            (Operand::Imm(value), Operand::Imm(shift)) => {
                (Operand::Imm(value << shift), Operand::Imm(!(mask << shift)))
            }
            (value, Operand::Imm(0)) => (value, Operand::Imm(!mask)),
            (value, shift) => {
                let put = match value {
                    Operand::Imm(0) => value,
                    _ => Operand::Reg(self.b.op(Op::Shl, Ty::I64, value, shift)),
                };
                let keep = match shift {
                    Operand::Imm(shift) => Operand::Imm(!(mask << shift)),
                    Operand::Reg(_) => {
                        let there = self.b.op(Op::Shl, Ty::I64, Operand::Imm(mask), shift);
                        let there = Operand::Reg(there);
                        Operand::Reg(self.b.op(Op::Xor, Ty::I64, there, Operand::Imm(-1)))
                    }
                };
                (put, keep)
            }
        };
        for (word, test) in places.words {
            let state = self.state[word];
            let kept = self.b.op(Op::And, Ty::I64, Operand::Reg(state), keep);
            let new = match put {
                Operand::Imm(0) => kept,
                _ => self.b.op(Op::Or, Ty::I64, Operand::Reg(kept), put),
            };
            match test {
                Test::Known(true) => self.b.push(Inst::Copy(state, Operand::Reg(new))),
                Test::Known(false) => {}
                Test::Reg(there) => {
                    self.b.push(Inst::Select(state, there, Operand::Reg(new), Operand::Reg(state)));
                }
            }
        }
    }

    /// A value as it is in its field; one that does not fit is a miss.
    fn raw(&mut self, column: &Column, number: u32, value: Val) -> Val {
        let raw = match column.base {
            0 => value,
            base => self.b.binary(BinaryOp::Sub, value, Val::constant(base)),
        };
        let most = i64::from(column.base) + i64::from(column.mask());
        let fits = value.min >= column.base && i64::from(value.max) <= most;
        if column.bits < 32 && !fits {
            let mask = Val::constant(column.mask() as i32);
            let missed = match self.b.test(Cmp::Above, raw, mask) {
                Test::Known(true) => {
                    let always = self.b.cmp(Cmp::Eq, Ty::I32, Operand::Imm(0), Operand::Imm(0));
                    Test::Reg(always)
                }
                other => other,
            };
            if let Test::Reg(missed) = missed {
                let miss = self.kernel.miss;
                let number = Operand::Imm(i64::from(MISS_COLUMN + number));
                self.b.push(Inst::Select(miss, missed, number, Operand::Reg(miss)));
            }
        }
        raw
    }

    /// Where a field may be.
    fn places(&mut self, column: &Column, index: Val) -> Places {
        if let Some(index) = index.known() {
            let (word, shift) = column.at((index as u32).min(column.n.saturating_sub(1)));
            return Places { words: vec![(word, Test::Known(true))], shift: Operand::Imm(i64::from(shift)) };
        }
        let first = column.word as usize;
        let mut within = index;
        let mut words = vec![(first, Test::Known(true))];
        if column.is_wide() {
            let n_words = column.n.div_ceil(column.per_word);
            let mut from: Vec<Test> = vec![Test::Known(true)];
            for word in 1..n_words {
                let begins = Val::constant((word * column.per_word) as i32);
                let test = self.b.test(Cmp::Ge, index, begins);
                let moved = self.b.binary(BinaryOp::Sub, index, begins);
                within = self.b.select(test, moved, within);
                from.push(test);
                words.push((first + word as usize, test));
            }
            // Each word holds what the next does not.
            for word in 0..words.len() - 1 {
                let beyond = self.b.not(from[word + 1]);
                words[word].1 = self.b.join(true, from[word], beyond);
            }
            within = Val { min: 0, max: column.per_word as i32 - 1, ..within };
        }
        let scaled = self.b.binary(BinaryOp::Mul, within, Val::constant(column.bits as i32));
        let shift = self.b.binary(BinaryOp::Add, scaled, Val::constant(column.shift as i32));
        // An index that could not be is not shifted further than a word.
        let shift = match shift.max {
            0..=63 if shift.min >= 0 => shift,
            _ => self.b.binary(BinaryOp::BitAnd, shift, Val::constant(63)),
        };
        Places { words, shift: shift.operand }
    }

    /// Makes all fields of some columns 0 in all bits.
    pub fn clear(&mut self, columns: &[usize]) {
        let mut gone = vec![0u64; self.state.len()];
        for &column in columns {
            let column = &self.layout.columns[column];
            for index in (0..column.n).filter(|_| column.bits > 0) {
                let (word, shift) = column.at(index);
                gone[word] |= u64::from(column.mask()) << shift;
            }
        }
        for (word, gone) in gone.into_iter().enumerate().filter(|(_, gone)| *gone != 0) {
            let state = self.state[word];
            self.b.push(Inst::Op(Op::And, state, Operand::Reg(state), Operand::Imm(!gone as i64)));
        }
    }
}
