//! From the program to one function of the kernel IR: what alternative `k` of process `slot` does to a state.
//!
//! Code is made for each pid apart, so that `_pid`, parameters that never change and the channels that they
//! name are constants, and almost everything has a known place. The function notices errors and says no more
//! of them: the reference machine words them.

mod action;
mod alternative;
mod channel;
mod d_step;
mod expr;
mod fields;
mod process;

use machine::Interp;
use promela::ir::{EdgeId, LocId, Program, Scalar};

use crate::builder::{Builder, Test, Val};
use crate::ir::{Block, Cmp, End, Function, Inst, Operand, Reg, Ty};
use crate::layout::{Kind, Layout};
use crate::refuse::{Refused, refuse};
use alternative::Alternative;

/// The alternative was executed, perhaps with an error.
pub const EXECUTED: u32 = 1;
/// It leads nowhere: a run-time error.
pub const NO_STATE: u32 = 2;
/// An assertion failed.
pub const FAILED: u32 = 4;
/// A d_step is so long that it was given up.
pub const LONG: u32 = 8;

/// A process was started where none had been met.
pub const MISS_RUN: u32 = 1;
/// The number of a column, plus this: a value that does not fit there.
pub const MISS_COLUMN: u32 = 2;

/// Instructions of a function at most.
const MOST_INSTRUCTIONS: usize = 400_000;

/// The function of a program.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The code.
    pub function: Function,
    /// The words of the state, which the alternative changes.
    pub state: Vec<Reg>,
    /// Parameter: whose alternative.
    pub slot: Reg,
    /// Parameter: which one.
    pub k: Reg,
    /// Parameter: whether `timeout` is true.
    pub timeout: Reg,
    /// Parameter and result: what became of the alternatives before; 0 at first.
    pub visit: Reg,
    /// Result: bits [`EXECUTED`] and so on.
    pub outcome: Reg,
    /// Result: 1 if there is another alternative.
    pub more: Reg,
    /// Result: what was not foreseen, or 0. It counts only where the alternative was executed.
    pub miss: Reg,
    /// Whether `timeout` is asked for.
    pub uses_timeout: bool,
    /// Whether somebody may have control.
    pub uses_control: bool,
    /// For each pid, the numbers of locations where a run may end.
    pub ends: Vec<Vec<u32>>,
}

/// Who executes.
#[derive(Clone, Copy)]
struct Actor {
    pid: usize,
    /// Among those of the pid.
    kind: usize,
    timeout: Val,
}

/// A process that is being started: its cells are not in the state yet.
struct Child {
    pid: usize,
    cells: Vec<Val>,
}

/// A function in the making.
struct Lower<'a> {
    program: &'a Program,
    layout: &'a Layout,
    b: Builder,
    state: Vec<Reg>,
    kernel: Kernel,
    /// Whether an assertion failed.
    failed: Reg,
    actor: Actor,
    child: Option<Child>,
    /// The rendezvous channel on which a message is on offer.
    offered: Option<usize>,
    /// Where a run-time error leads.
    fault: Block,
    /// Where it leads that nothing is executed.
    blocked: Block,
    /// Cells that are dead where the statement leads: what is stored there is not.
    dead: Vec<u32>,
}

/// Makes the function of a program for a layout.
pub fn lower(interp: &Interp, layout: &Layout) -> Result<Kernel, Refused> {
    refuse(interp)?;
    let mut lower = Lower::new(interp.program(), layout);
    lower.slots()?;
    let Lower { b, mut kernel, state, .. } = lower;
    let params = state.iter().copied().chain([kernel.slot, kernel.k, kernel.timeout, kernel.visit]);
    let results = state.iter().copied().chain([kernel.visit, kernel.outcome, kernel.more, kernel.miss]);
    kernel.function = b.finish(params.collect(), results.collect());
    kernel.state = state;
    if kernel.function.len() > MOST_INSTRUCTIONS {
        return Err(Refused::Long { instructions: kernel.function.len() });
    }
    Ok(kernel)
}

impl<'a> Lower<'a> {
    fn new(program: &'a Program, layout: &'a Layout) -> Self {
        let mut b = Builder::default();
        let state: Vec<Reg> = layout.words.iter().map(|_| b.reg(Ty::I64)).collect();
        let mut value = || b.reg(Ty::I32);
        let kernel = Kernel {
            function: Function { regs: vec![], params: vec![], results: vec![], blocks: vec![] },
            state: Vec::new(),
            slot: value(),
            k: value(),
            timeout: value(),
            visit: value(),
            outcome: value(),
            more: value(),
            miss: value(),
            uses_timeout: program.uses.timeout,
            uses_control: layout.columns[layout.control].bits > 0,
            ends: Vec::new(),
        };
        let failed = value();
        for reg in [kernel.outcome, kernel.more, kernel.miss, failed] {
            b.push(Inst::Copy(reg, Operand::Imm(0)));
        }
        let (fault, blocked) = (b.block(), b.block());
        let timeout = Val { operand: Operand::Reg(kernel.timeout), min: 0, max: 1 };
        let actor = Actor { pid: 0, kind: 0, timeout };
        Lower {
            program,
            layout,
            b,
            state,
            kernel,
            failed,
            actor,
            child: None,
            offered: None,
            fault,
            blocked,
            dead: vec![],
        }
    }

    /// The whole function: by pid, location and number of the alternative.
    fn slots(&mut self) -> Result<(), Refused> {
        let start = self.b.block();
        self.b.jump(start);
        let fault = self.fault;
        self.b.enter(fault);
        self.b.push(Inst::Copy(self.kernel.outcome, Operand::Imm(i64::from(EXECUTED | NO_STATE))));
        self.b.end(End::Return);
        let blocked = self.blocked;
        self.b.enter(blocked);
        self.b.end(End::Return);
        self.b.enter(start);
        let n = self.layout.slots.len();
        let cases: Vec<(u32, Block)> = (0..n).map(|pid| (pid as u32, self.b.block())).collect();
        let slot = Val { operand: Operand::Reg(self.kernel.slot), min: 0, max: i32::MAX };
        self.b.switch(slot, cases.clone(), blocked);
        for (pid, block) in cases {
            self.b.enter(block);
            self.slot(pid as usize)?;
        }
        Ok(())
    }

    /// The alternatives of the processes with one pid.
    fn slot(&mut self, pid: usize) -> Result<(), Refused> {
        let mut ends = Vec::new();
        let mut cases = Vec::new();
        let slot = &self.layout.slots[pid];
        for (number, kind) in slot.kinds.iter().enumerate() {
            for (at, &location) in kind.locations.iter().enumerate() {
                let code = kind.first_code + at as u32;
                let proctype = self.program.proctype(kind.proctype);
                if proctype.location(location).end {
                    ends.push(code);
                }
                let alternatives = self.alternatives(pid, number, location)?;
                if !alternatives.is_empty() {
                    cases.push((code, self.b.block(), number, location, alternatives));
                }
            }
        }
        self.kernel.ends.push(ends);
        let at = self.load(slot.location, Val::constant(0));
        let blocked = self.blocked;
        self.b.switch(at, cases.iter().map(|case| (case.0, case.1)).collect(), blocked);
        for (_, block, kind, location, alternatives) in cases {
            self.b.enter(block);
            self.actor.pid = pid;
            self.actor.kind = kind;
            self.location(location, &alternatives)?;
        }
        Ok(())
    }

    /// The alternatives of one location.
    fn location(&mut self, location: LocId, alternatives: &[Alternative<'a>]) -> Result<(), Refused> {
        let kind = self.kind();
        let proctype = self.program.proctype(kind.proctype);
        if let Some(provided) = &proctype.provided {
            let blocked = self.blocked;
            let test = self.condition(provided);
            self.b.require(test, blocked);
        }
        let n = alternatives.len();
        let blocks: Vec<(u32, Block)> = (0..n).map(|k| (k as u32, self.b.block())).collect();
        let blocked = self.blocked;
        if n == 1 {
            let k = Val { operand: Operand::Reg(self.kernel.k), min: 0, max: i32::MAX };
            let first = self.b.test(Cmp::Eq, k, Val::constant(0));
            self.b.branch(first, blocks[0].1, blocked);
        } else {
            let k = Val { operand: Operand::Reg(self.kernel.k), min: 0, max: i32::MAX };
            self.b.switch(k, blocks.clone(), blocked);
        }
        let edges = &proctype.location(location).edges;
        let edge = |id: &EdgeId| proctype.edge(*id);
        let escapes = edges.iter().any(|id| edge(id).escape.is_some());
        for ((k, block), alternative) in blocks.into_iter().zip(alternatives) {
            self.b.enter(block);
            let more = i64::from((k as usize) + 1 < n);
            if escapes {
                self.not_escaped(alternative.edge().escape);
            }
            if more != 0 {
                self.b.push(Inst::Copy(self.kernel.more, Operand::Imm(more)));
            }
            self.alternative(alternative)?;
        }
        Ok(())
    }

    /// Goes on where no other escape was executed; else nothing more is tried at this location.
    fn not_escaped(&mut self, escape: Option<LocId>) {
        let visit = Val { operand: Operand::Reg(self.kernel.visit), min: 0, max: i32::MAX };
        let taken = self.b.binary(promela::ir::BinaryOp::Shr, visit, Val::constant(1));
        let none = self.b.test(Cmp::Eq, taken, Val::constant(0));
        let own = match escape {
            Some(escape) => self.b.test(Cmp::Eq, taken, Val::constant(escape.0 as i32)),
            None => Test::Known(false),
        };
        let test = self.b.join(false, none, own);
        let blocked = self.blocked;
        self.b.require(test, blocked);
    }

    /// Whether an edge was executed before in this visit.
    fn moved(&mut self) -> Test {
        let visit = Val { operand: Operand::Reg(self.kernel.visit), min: 0, max: i32::MAX };
        let moved = self.b.binary(promela::ir::BinaryOp::BitAnd, visit, Val::constant(1));
        self.b.truth(moved)
    }

    /// The alternative was executed.
    fn done(&mut self, escape: Option<LocId>) {
        let visit = 1 | escape.map_or(0, |escape| i64::from(escape.0) << 1);
        self.b.push(Inst::Copy(self.kernel.visit, Operand::Imm(visit)));
        let executed = Operand::Imm(i64::from(EXECUTED));
        self.b.push(Inst::Op(crate::ir::Op::Or, self.kernel.outcome, Operand::Reg(self.failed), executed));
        self.b.end(End::Return);
    }

    /// Something happens that was not foreseen.
    fn missed(&mut self, miss: u32) {
        self.b.push(Inst::Copy(self.kernel.miss, Operand::Imm(i64::from(miss))));
        let outcome = Operand::Imm(i64::from(EXECUTED | NO_STATE));
        self.b.push(Inst::Copy(self.kernel.outcome, outcome));
        self.b.end(End::Return);
    }

    /// A block in which something happens that was not foreseen.
    fn miss_block(&mut self, miss: u32) -> Block {
        let (block, on) = (self.b.block(), self.b.block());
        self.b.jump(on);
        self.b.enter(block);
        self.missed(miss);
        self.b.enter(on);
        block
    }

    fn kind(&self) -> &'a Kind {
        &self.layout.slots[self.actor.pid].kinds[self.actor.kind]
    }

    /// Goes on where there is no run-time error.
    fn fault_if(&mut self, test: Test) {
        let fine = self.b.not(test);
        let fault = self.fault;
        self.b.require(fine, fault);
    }

    /// What each cell of a process holds.
    fn scalars(&self, kind: &Kind) -> Vec<Scalar> {
        let proctype = self.program.proctype(kind.proctype);
        let mut scalars = vec![Scalar::Int; proctype.n_cells as usize];
        for var in &proctype.locals {
            let mut of = Vec::new();
            self.program.scalars_of(&var.ty, &mut of);
            scalars[var.cell as usize..var.cell as usize + of.len()].copy_from_slice(&of);
        }
        scalars
    }
}
