//! `--shorten`: a counterexample is followed by searches for shorter ones, each with a depth limit one step below
//! the last that was found, until none finds another (`pan -i` does the same within one search).
//!
//! Breadth-first search, which is the default with this option, finds a shortest error of a state at once, so
//! that this is for runs that do not end, and for other orders. A depth-first search with a depth limit may miss
//! shorter errors, because it does not come to a state again on a shorter way; so the last search for an error
//! of a state is breadth-first, no deeper than what was found. Lassos are the shortest that were found.

use super::Checker;
use crate::options::{Por, Search};
use crate::plan::{Order, Plan};
use search::{Limits, Outcome, Proviso, Task};

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

    /// The plan of the last search: breadth-first, with nothing left out. There is none where the search keeps
    /// less than all states.
    pub(super) fn breadth_first(&self) -> Option<Plan> {
        let plan = Plan {
            search: Search::Bfs,
            order: Order::BreadthFirst,
            por: Por::None,
            proviso: Proviso::None,
            ..self.plan.clone()
        };
        (!plan.needs_stack()).then_some(plan)
    }
}
