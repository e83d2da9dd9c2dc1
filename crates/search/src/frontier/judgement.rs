//! Judgement: what a state that was expanded shows, and whether the search goes on.

use super::{Frontier, Levels};
use crate::ancestry::Ordinal;
use crate::expand::Expansion;
use crate::findings::Spot;
use crate::judged::Judged;
use crate::outcome::StopReason;
use crate::queue::Queue;
use store::Batched;
use system::{ActionId, Fault};

impl<S: Batched, Q: Queue<S>> Frontier<'_, S, Q> {
    /// Judges a state that was expanded: with phase 1, its end.
    #[inline]
    pub(super) fn judge(
        &mut self,
        ordinal: Ordinal,
        state: &[u8],
        expansion: &mut Expansion,
    ) -> Result<(), StopReason> {
        if self.judge.every_state() || expansion.stuck || expansion.shows_something() {
            return self.judge_closely(ordinal, state, expansion);
        }
        Ok(())
    }

    fn judge_closely(
        &mut self,
        ordinal: Ordinal,
        state: &[u8],
        expansion: &mut Expansion,
    ) -> Result<(), StopReason> {
        if self.judge.every_state() || expansion.stuck {
            let mut faults = Vec::new();
            self.judge.state(state, expansion.stuck, &mut faults);
            for fault in faults {
                self.violation(fault, ordinal, &[])?;
            }
        }
        self.judge_steps(ordinal, expansion)
    }

    pub(super) fn judge_steps(
        &mut self,
        ordinal: Ordinal,
        expansion: &mut Expansion,
    ) -> Result<(), StopReason> {
        for (judged, actions) in expansion.judged(&self.task.checks) {
            let more = [self.expander.before(), &actions].concat();
            let spot = Spot { worker: self.number, expansion: ordinal, more };
            match judged {
                Judged::Violation(fault) => self.violation(fault, ordinal, &actions)?,
                Judged::Cut(fault) => self.found.cut(fault, || spot),
                Judged::AtomicLoop => self.found.add_atomic_loop(spot),
            }
        }
        Ok(())
    }

    /// Counts a violation at a state or behind some more actions. Unless all are wanted the search stops: at
    /// once, or when it is sure that there is no shorter one.
    fn violation(&mut self, fault: Fault, ordinal: Ordinal, more: &[ActionId]) -> Result<(), StopReason> {
        let exact = self.levels == Levels::Steps;
        let before = self.expander.before();
        let depth = if exact { self.depth + (before.len() + more.len()) as u64 } else { u64::MAX };
        let (worker, expansion) = (self.number, ordinal);
        self.found.add(fault, depth, || Spot { worker, expansion, more: [before, more].concat() });
        if !self.task.all_errors && exact && !self.found_shortest(self.depth) {
            return Ok(());
        }
        self.task.after_violation(self.found.errors)
    }

    /// Whether one violation is enough and one was found that no other can be shorter than. Without exact
    /// depths, the first one is taken at once.
    pub fn found_shortest(&self, depth: u64) -> bool {
        !self.task.all_errors && self.found.shortest().is_some_and(|shortest| shortest <= depth)
    }
}
