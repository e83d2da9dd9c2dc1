//! Judgement: what the state at the end of the path, and the steps that leave it, show.

use super::DepthFirst;
use crate::judged::Judged;
use crate::outcome::{StopReason, Warning};
use crate::phase1::Phase1;
use crate::sleep::Sleeping;
use store::Evicting;

impl<S: Evicting, Z: Sleeping<S>> DepthFirst<'_, S, Z> {
    /// Judges the new state that was expanded, with phase 1 its end, and counts the edges that sleep there.
    #[inline]
    pub(super) fn judge_state(&mut self) -> Result<(), StopReason> {
        let slept = self.batch.expansion.slept;
        self.statistics.transitions += slept;
        self.statistics.slept += slept;
        self.statistics.matched += slept;
        if self.judge.every_state() || self.batch.expansion.stuck {
            let mut faults = std::mem::take(&mut self.faults);
            let state = self.expander.phase1().map_or(self.stack.state(), Phase1::end);
            self.judge.state(state, self.batch.expansion.stuck, &mut faults);
            for fault in faults.drain(..) {
                self.violation(fault, &[])?;
            }
            self.faults = faults;
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn judge_steps(&mut self) -> Result<(), StopReason> {
        if self.batch.expansion.shows_something() { self.judge_what_shows() } else { Ok(()) }
    }

    #[cold]
    pub(super) fn judge_what_shows(&mut self) -> Result<(), StopReason> {
        for (judged, actions) in self.batch.expansion.judged(&self.task.checks) {
            let path = || self.stack.path_and(&actions);
            match judged {
                Judged::Violation(fault) => self.violation(fault, &actions)?,
                Judged::Cut(fault) => self.found.cut(fault, path),
                // A state that was expanded in advance looked for it before it was known.
                Judged::AtomicLoop if self.found.knows_atomic_loop() => {}
                Judged::AtomicLoop => self.found.warnings.push(Warning::AtomicLoop(path())),
            }
        }
        Ok(())
    }
}
