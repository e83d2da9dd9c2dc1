//! Judgement: what the state at the end of the path, and the steps that leave it, show.

use super::DepthFirst;
use crate::outcome::{StopReason, Warning};
use crate::phase1::Phase1;
use crate::sleep::Sleeping;
use store::Evicting;

impl<S: Evicting, Z: Sleeping<S>> DepthFirst<'_, S, Z> {
    /// Judges the new state that was expanded, with phase 1 its end, and counts the edges that sleep there.
    #[inline]
    pub(super) fn judge_state(&mut self) -> Result<(), StopReason> {
        let slept = self.fan.expansion.slept;
        self.statistics.transitions += slept;
        self.statistics.slept += slept;
        self.statistics.matched += slept;
        if self.judge.every_state() || self.fan.expansion.stuck {
            let mut faults = std::mem::take(&mut self.faults);
            let state = self.expander.phase1().map_or(self.stack.state(), Phase1::end);
            self.judge.state(state, self.fan.expansion.stuck, &mut faults);
            for fault in faults.drain(..) {
                self.violation(fault, &[])?;
            }
            self.faults = faults;
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn judge_steps(&mut self) -> Result<(), StopReason> {
        if self.fan.expansion.shows_something() { self.judge_what_shows() } else { Ok(()) }
    }

    #[cold]
    pub(super) fn judge_what_shows(&mut self) -> Result<(), StopReason> {
        for step in std::mem::take(&mut self.fan.expansion.faults) {
            if self.task.checks.count(step.fault.kind) {
                self.violation(step.fault, &step.actions)?;
            } else if step.cut {
                self.found.cut(step.fault, || self.stack.path_and(&step.actions));
            }
        }
        // Of one that was expanded in advance it was asked whether this is not known.
        let atomic_loop = self.fan.expansion.atomic_loop.take();
        if let Some(actions) = atomic_loop.filter(|_| !self.found.knows_atomic_loop()) {
            self.found.warnings.push(Warning::AtomicLoop(self.stack.path_and(&actions)));
        }
        Ok(())
    }
}
