//! Packed states expanded by the evaluator: slow and plain, to compare back ends with.

use crate::eval;
use crate::layout::Layout;
use crate::lower::{EXECUTED, Kernel, NO_STATE};

/// Blocks that one alternative may run through.
const MOST_BLOCKS: u64 = 10_000_000;

/// A step of a packed state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Who moves.
    pub pid: usize,
    /// Bits of [`crate::lower`].
    pub outcome: u32,
    /// What was not foreseen, or 0.
    pub miss: u32,
    /// The state that it leads to, unless it leads nowhere. Who has control in it may be unable to move.
    pub state: Vec<u64>,
}

impl Step {
    /// Whether it leads somewhere.
    pub fn has_state(&self) -> bool {
        self.outcome & NO_STATE == 0 && self.miss == 0
    }
}

/// Expands packed states.
#[derive(Debug)]
pub struct Expander<'a> {
    layout: &'a Layout,
    kernel: &'a Kernel,
    regs: Vec<u64>,
}

impl<'a> Expander<'a> {
    /// By the function of a layout.
    pub fn new(layout: &'a Layout, kernel: &'a Kernel) -> Self {
        Expander { layout, kernel, regs: Vec::new() }
    }

    /// The process in control.
    pub fn control(&self, state: &[u64]) -> Option<usize> {
        usize::try_from(self.layout.columns[self.layout.control].load(state, 0) - 1).ok()
    }

    /// The steps of one process.
    pub fn of_process(&mut self, state: &[u64], pid: usize, timeout: bool, out: &mut Vec<Step>) {
        let mut visit = 0;
        for k in 0.. {
            let kernel = self.kernel;
            self.regs.clear();
            self.regs.resize(kernel.function.regs.len(), 0);
            for (reg, &word) in kernel.state.iter().zip(state) {
                self.regs[reg.0 as usize] = word;
            }
            let given = [(kernel.slot, pid as u64), (kernel.k, k), (kernel.visit, visit)];
            for (reg, value) in given.into_iter().chain([(kernel.timeout, u64::from(timeout))]) {
                self.regs[reg.0 as usize] = value;
            }
            let ended = eval::run(&kernel.function, &mut self.regs, MOST_BLOCKS);
            debug_assert!(ended, "loops are bounded");
            let get = |reg: crate::ir::Reg| self.regs[reg.0 as usize];
            let outcome = get(kernel.outcome) as u32;
            visit = get(kernel.visit);
            if outcome & EXECUTED != 0 {
                let state = kernel.state.iter().map(|&reg| get(reg)).collect();
                out.push(Step { pid, outcome, miss: get(kernel.miss) as u32, state });
            }
            if get(kernel.more) == 0 {
                return;
            }
        }
    }

    /// All steps of a state; states at which a process in control cannot move are given back to all.
    pub fn expand(&mut self, state: &[u64], out: &mut Vec<Step>) {
        let first = out.len();
        match self.control(state) {
            Some(pid) => self.of_process(state, pid, false, out),
            None => {
                for timeout in [false, true] {
                    if timeout && (out.len() > first || !self.kernel.uses_timeout) {
                        break;
                    }
                    for pid in (0..self.layout.slots.len()).rev() {
                        self.of_process(state, pid, timeout, out);
                    }
                }
            }
        }
        for step in out[first..].iter_mut().filter(|step| step.has_state()) {
            if let Some(pid) = self.control(&step.state) {
                let mut moves = Vec::new();
                self.of_process(&step.state, pid, false, &mut moves);
                if moves.is_empty() {
                    self.layout.columns[self.layout.control].store(&mut step.state, 0, 0);
                }
            }
        }
    }
}
