//! `--shorten`: a counterexample is followed by searches for shorter ones, each with a depth limit one step below
//! the last that was found, until none finds another (`pan -i` does the same within one search).
//!
//! Breadth-first search, which is the default with this option, finds a shortest error of a state at once, so
//! that this is for runs that do not end, and for other orders. What is found is the shortest that these
//! searches found: a depth-first search with a depth limit may miss shorter ones.

use super::Checker;
use search::{Limits, Outcome, Task};

impl Checker<'_> {
    /// Replaces the violation that was found by shorter ones, as long as `search` finds any.
    pub(super) fn shorten(
        &self,
        task: &Task<'_>,
        outcome: &mut Outcome,
        search: &mut dyn FnMut(&Task<'_>) -> Outcome,
    ) {
        while let Some(best) = outcome.violations.iter().map(|found| found.path.len()).min() {
            let Some(depth) = best.checked_sub(1) else { return };
            let limits = Limits { depth: Some(depth as u64), ..self.limits_left() };
            let found = search(&Task { limits, ..*task }).violations;
            let shortest = found.into_iter().min_by_key(|found| found.path.len());
            match shortest.filter(|found| found.path.len() < best) {
                Some(shorter) => outcome.violations = vec![shorter],
                None => return,
            }
        }
    }
}
