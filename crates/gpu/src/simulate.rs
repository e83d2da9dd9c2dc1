//! A device that interprets PTX: threads of warps that run one after another in random order, for a random
//! number of instructions each, and meet where all threads of a warp must.
//!
//! It is what tests use where there is no card: the text that a card would be given runs here, insertion into
//! tables included.

use crate::device::{Device, DeviceError};
use crate::parse::{Arg, Code, Inst, Op, Special, parse};

/// Threads of a warp.
const WARP: usize = 32;
/// Threads of a block: fewer than a kernel allows, since most would have nothing to do.
const MOST_THREADS: u32 = 64;
/// Instructions that all threads together may execute in one launch.
const MOST_STEPS: u64 = 4_000_000_000;

/// The device.
#[derive(Debug)]
pub struct Simulator {
    memory: Vec<u8>,
    code: Code,
    random: u64,
    /// What it says that it has free.
    size: u64,
}

/// A thread.
#[derive(Clone)]
struct Thread {
    pc: usize,
    slots: Vec<u64>,
    ended: bool,
    index: usize,
    block: u64,
}

/// How a thread goes on.
enum Next {
    On,
    /// It waits for the others of its warp.
    Meets,
}

impl Simulator {
    /// A device with so much memory; the seed decides who runs when.
    pub fn new(size: u64, seed: u64) -> Self {
        // Address 0 is none.
        Simulator { memory: vec![0; 64], code: Code::default(), random: seed | 1, size }
    }

    fn random(&mut self, below: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 20) as usize % below.max(1)
    }

    fn range(&self, at: u64, bytes: usize) -> Result<std::ops::Range<usize>, DeviceError> {
        let at = at as usize;
        let end = at
            .checked_add(bytes)
            .filter(|&end| at >= 64 && end <= self.memory.len() && at.is_multiple_of(bytes.clamp(1, 8)));
        end.map(|end| at..end).ok_or_else(|| DeviceError::Broken(format!("address {at} is none")))
    }

    fn read_value(&self, at: u64, bytes: usize) -> Result<u64, DeviceError> {
        let mut value = [0; 8];
        value[..bytes].copy_from_slice(&self.memory[self.range(at, bytes)?]);
        Ok(u64::from_le_bytes(value))
    }

    fn write_value(&mut self, at: u64, bytes: usize, value: u64) -> Result<(), DeviceError> {
        let range = self.range(at, bytes)?;
        self.memory[range].copy_from_slice(&value.to_le_bytes()[..bytes]);
        Ok(())
    }
}

impl Device for Simulator {
    fn name(&self) -> String {
        "interpreter of PTX".to_string()
    }

    fn free(&self) -> Result<u64, DeviceError> {
        Ok(self.size)
    }

    fn units(&self) -> u32 {
        2
    }

    fn load(&mut self, text: &str) -> Result<(), DeviceError> {
        self.code = parse(text).map_err(DeviceError::Broken)?;
        self.code.block = self.code.block.min(MOST_THREADS);
        Ok(())
    }

    fn allocate(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        let at = self.memory.len().next_multiple_of(64);
        self.memory.resize(at + bytes as usize, 0xa5);
        Ok(at as u64)
    }

    fn release(&mut self) {
        self.memory.truncate(64);
    }

    fn zero(&mut self, at: u64, bytes: u64) -> Result<(), DeviceError> {
        let range = at as usize..(at + bytes) as usize;
        self.memory[range].fill(0);
        Ok(())
    }

    fn write(&mut self, at: u64, words: &[u64]) -> Result<(), DeviceError> {
        words.iter().enumerate().try_for_each(|(i, &word)| self.write_value(at + 8 * i as u64, 8, word))
    }

    fn read(&mut self, at: u64, bytes: &mut [u8]) -> Result<(), DeviceError> {
        let at = at as usize;
        bytes.copy_from_slice(&self.memory[at..at + bytes.len()]);
        Ok(())
    }

    fn launch(&mut self, blocks: u32, parameters: &[u64]) -> Result<(), DeviceError> {
        let code = std::mem::take(&mut self.code);
        let result = self.run(&code, blocks, parameters);
        self.code = code;
        result
    }
}

impl Simulator {
    fn run(&mut self, code: &Code, blocks: u32, parameters: &[u64]) -> Result<(), DeviceError> {
        let n = (blocks * code.block) as usize;
        let thread = |index: usize| Thread {
            pc: 0,
            slots: vec![0xdead_beef; code.n_slots],
            ended: false,
            index: index % code.block as usize,
            block: (index / code.block as usize) as u64,
        };
        let mut threads: Vec<Thread> = (0..n).map(thread).collect();
        let mut waiting = vec![false; n];
        let mut warps: Vec<usize> = (0..n / WARP).collect();
        let mut steps = 0;
        while !warps.is_empty() {
            let chosen = self.random(warps.len());
            let first = warps[chosen] * WARP;
            let able: Vec<usize> =
                (first..first + WARP).filter(|&at| !waiting[at] && !threads[at].ended).collect();
            if able.is_empty() {
                if (first..first + WARP).all(|at| threads[at].ended) {
                    warps.swap_remove(chosen);
                } else {
                    meet(code, &mut threads[first..first + WARP])?;
                    waiting[first..first + WARP].fill(false);
                }
                continue;
            }
            let at = able[self.random(able.len())];
            for _ in 0..1 + self.random(200) {
                steps += 1;
                if let Next::Meets = self.step(code, &mut threads[at], blocks, parameters)? {
                    waiting[at] = true;
                    break;
                }
                if threads[at].ended {
                    break;
                }
            }
            if steps > MOST_STEPS {
                return Err(DeviceError::Broken("a launch does not end".to_string()));
            }
        }
        Ok(())
    }

    fn step(
        &mut self,
        code: &Code,
        thread: &mut Thread,
        blocks: u32,
        parameters: &[u64],
    ) -> Result<Next, DeviceError> {
        let inst = &code.insts[thread.pc];
        if matches!(inst.op, Op::VoteSyncAny | Op::VoteSyncBallot | Op::ShflSyncIdx | Op::ShflSyncBfly) {
            return Ok(Next::Meets);
        }
        thread.pc += 1;
        if inst.guard.is_some_and(|(slot, wanted)| (thread.slots[slot] != 0) != wanted) {
            return Ok(Next::On);
        }
        let value = |arg: Arg| match arg {
            Arg::Slot(slot) => thread.slots[slot],
            Arg::Imm(value) => value,
            Arg::Parameter(number) => parameters.get(number).copied().unwrap_or(0),
            Arg::Memory(base, offset) => thread.slots[base].wrapping_add(offset),
            Arg::Special(Special::Tid) => thread.index as u64,
            Arg::Special(Special::Ntid) => u64::from(code.block),
            Arg::Special(Special::Ctaid) => thread.block,
            Arg::Special(Special::Nctaid) => u64::from(blocks),
        };
        let mut args = [0; 4];
        args.iter_mut().zip(&inst.args).for_each(|(to, &arg)| *to = value(arg));
        let bytes = inst.width as usize / 8;
        let result = match inst.op {
            Op::Bra => {
                thread.pc = inst.to;
                return Ok(Next::On);
            }
            Op::Ret => {
                thread.ended = true;
                return Ok(Next::On);
            }
            Op::MembarGl => return Ok(Next::On),
            Op::LdParam | Op::Mov => args[1],
            Op::LdGlobalCg => self.read_value(args[1], bytes)?,
            Op::LdGlobalCgV2 => {
                let second = self.read_value(args[2] + 8, 8)?;
                assign(thread, inst.args[1], second);
                self.read_value(args[2], 8)?
            }
            Op::StGlobal => {
                self.write_value(args[0], bytes, args[1])?;
                return Ok(Next::On);
            }
            Op::AtomGlobalCas => {
                let old = self.read_value(args[1], 8)?;
                if old == args[2] {
                    self.write_value(args[1], 8, args[3])?;
                }
                old
            }
            Op::AtomGlobalAdd => {
                let old = self.read_value(args[1], 8)?;
                self.write_value(args[1], 8, old.wrapping_add(args[2]))?;
                old
            }
            Op::RedGlobalAdd => {
                let old = self.read_value(args[0], 8)?;
                self.write_value(args[0], 8, old.wrapping_add(args[1]))?;
                return Ok(Next::On);
            }
            _ => compute(inst, &args)?,
        };
        let cut = match (sets_condition(inst.op), inst.width) {
            (true, _) | (_, 1) => result & 1,
            (_, 32) => u64::from(result as u32),
            _ => result,
        };
        let cut = if inst.op == Op::CvtU32U64 { u64::from(cut as u32) } else { cut };
        assign(thread, inst.args[0], cut);
        Ok(Next::On)
    }
}

fn sets_condition(op: Op) -> bool {
    matches!(op, Op::SetpEq | Op::SetpNe | Op::SetpLt | Op::SetpLe | Op::SetpGt | Op::SetpGe)
}

fn assign(thread: &mut Thread, to: Arg, value: u64) {
    if let Arg::Slot(slot) = to {
        thread.slots[slot] = value;
    }
}

/// Instructions that touch nothing but registers.
fn compute(inst: &Inst, args: &[u64; 4]) -> Result<u64, DeviceError> {
    let narrow = inst.width == 32;
    let plain = |at: usize| if narrow { u64::from(args[at] as u32) } else { args[at] };
    let signed = |at: usize| if narrow { i64::from(args[at] as i32) } else { args[at] as i64 };
    let (x, y) = (plain(1), plain(2));
    let less = |inst: &Inst| if inst.signed { signed(1) < signed(2) } else { x < y };
    Ok(match inst.op {
        Op::Add => x.wrapping_add(y),
        Op::Sub => x.wrapping_sub(y),
        Op::MulLo => x.wrapping_mul(y),
        Op::MulHi => ((u128::from(x) * u128::from(y)) >> 64) as u64,
        Op::Div => signed(1).wrapping_div(signed(2)) as u64,
        Op::Rem => signed(1).wrapping_rem(signed(2)) as u64,
        Op::And => x & y,
        Op::Or => x | y,
        Op::Xor => x ^ y,
        Op::Not => !x,
        // A count that is too large gives 0, or the sign.
        Op::Shl if args[2] as u32 >= inst.width => 0,
        Op::Shl => x << (args[2] as u32),
        Op::Shr if inst.signed => (signed(1) >> (args[2] as u32).min(inst.width - 1)) as u64,
        Op::Shr if args[2] as u32 >= inst.width => 0,
        Op::Shr => x >> (args[2] as u32),
        Op::SetpEq => u64::from(x == y),
        Op::SetpNe => u64::from(x != y),
        Op::SetpLt => u64::from(less(inst)),
        Op::SetpGe => u64::from(!less(inst)),
        Op::SetpLe => u64::from(less(inst) || x == y),
        Op::SetpGt => u64::from(!less(inst) && x != y),
        Op::Selp => {
            if args[3] != 0 {
                x
            } else {
                y
            }
        }
        Op::CvtU64U32 => u64::from(x as u32),
        Op::CvtU32U64 => x,
        Op::Popc => u64::from((x as u32).count_ones()),
        Op::Bfind => u64::from(31 - (x as u32).leading_zeros()),
        other => return Err(DeviceError::Broken(format!("{other:?} cannot be executed here"))),
    })
}

/// All threads of a warp that have not ended are at one instruction, which is executed for all together.
fn meet(code: &Code, warp: &mut [Thread]) -> Result<(), DeviceError> {
    let at = warp[0].pc;
    if warp.iter().any(|thread| thread.ended || thread.pc != at) {
        return Err(DeviceError::Broken("threads of a warp wait in different places".to_string()));
    }
    let inst = &code.insts[at];
    let values = |number: usize| -> Vec<u64> {
        let value = |thread: &Thread| match inst.args[number] {
            Arg::Slot(slot) => thread.slots[slot],
            Arg::Imm(value) => value,
            _ => 0,
        };
        warp.iter().map(value).collect()
    };
    let (source, second) = (values(1), values(2));
    let results: Vec<u64> = match inst.op {
        Op::VoteSyncAny => vec![u64::from(source.iter().any(|&value| value != 0)); WARP],
        Op::VoteSyncBallot => {
            let bits = source.iter().enumerate().map(|(lane, &value)| u64::from(value != 0) << lane);
            vec![bits.sum(); WARP]
        }
        Op::ShflSyncIdx => second.iter().map(|&lane| source[lane as usize % WARP]).collect(),
        Op::ShflSyncBfly => (0..WARP).map(|lane| source[lane ^ (second[lane] as usize % WARP)]).collect(),
        other => return Err(DeviceError::Broken(format!("{other:?} cannot be executed here"))),
    };
    for (thread, result) in warp.iter_mut().zip(results) {
        assign(thread, inst.args[0], result);
        thread.pc += 1;
    }
    Ok(())
}
