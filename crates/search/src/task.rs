//! What a search is asked to do.

use crate::limits::Limits;
use crate::outcome::StopReason;
use crate::phase1::Save;
use crate::property::Checks;
use std::sync::atomic::AtomicBool;
use system::{LeanOrder, Reduction};

/// What to look for, how far, and when to give up.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// What counts as a violation.
    pub checks: Checks,
    /// Go on after a violation, explore everything and count them all.
    pub all_errors: bool,
    /// Shuffles the successors of every state; `None` keeps the system's order.
    pub seed: Option<u64>,
    /// Budgets.
    pub limits: Limits,
    /// Set by others when the search is to stop.
    pub stop: &'a AtomicBool,
    /// What may be left out.
    pub reduce: Option<Reduce<'a>>,
}

/// A partial-order reduction and what goes with it.
#[derive(Clone, Copy, Debug)]
pub struct Reduce<'a> {
    /// Who chooses.
    pub by: &'a dyn Reduction,
    /// How states are reduced.
    pub method: Method,
    /// What makes sure that no action is put off forever.
    pub proviso: Proviso,
}

impl Task<'_> {
    /// Whether processes sleep.
    pub fn is_lean(&self) -> bool {
        self.reduce.is_some_and(|reduce| matches!(reduce.method, Method::Lean(_)))
    }

    /// Whether the search goes on after a violation, with which there are so many.
    pub(crate) fn after_violation(&self, errors: u64) -> Result<(), StopReason> {
        let enough = self.limits.errors.is_some_and(|most| errors >= most);
        if self.all_errors && !enough { Ok(()) } else { Err(StopReason::Violation) }
    }
}

/// How states are reduced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// They are not: who chooses is only asked what commutes.
    None,
    /// They are not, but edges are left out whose ends are found by others: [`system::lean`].
    Lean(LeanOrder),
    /// In every state some of the actions are chosen.
    Sets,
    /// Every state is followed through phase 1 of the Twophase algorithm and expanded in full behind it.
    Twophase(Save),
}

/// What makes sure that no action is put off forever: a state whose chosen actions do not satisfy it is
/// expanded in full.
///
/// Each makes it possible to go from every state, along chosen actions, to a state that was expanded in full:
/// with [`Proviso::Stack`] each reduced state has a successor that is finished before it, with
/// [`Proviso::ClosedSet`] in a search by levels one that is expanded after it; both orders come to an end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proviso {
    /// Nothing: enough for deadlocks, and for reductions that see to it themselves.
    None,
    /// One of the successors is not on the stack of a depth-first search.
    Stack,
    /// One of the successors is not in the set of states that are done with: for a search by levels, not yet
    /// expanded; for a depth-first search, new.
    ClosedSet,
    /// None of the successors is on the stack of a depth-first search, unless it was expanded in full. So
    /// every cycle has a state that was: the green states of S. Evangelista and C. Pajault (*Solving the
    /// ignoring problem for partial order reduction*, STTT 2010), where a state is judged when it is
    /// expanded, and not again when it is left.
    Color,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Silent;
    use crate::queue::Whole;
    use crate::{Levels, Outcome, depth_first, frontier};
    use store::Table;
    use system::TransitionSystem;
    use system::toy::{Counters, First, Graph};

    /// Depth-first, frontier, breadth-first, in this order.
    fn search(system: &dyn TransitionSystem, reduce: Option<Proviso>) -> Vec<Outcome> {
        let stop = AtomicBool::new(false);
        let task = |proviso| Task {
            checks: Checks::SAFETY,
            all_errors: true,
            seed: None,
            limits: Limits::default(),
            stop: &stop,
            reduce: proviso,
        };
        let by = &First;
        let task = task(reduce.map(|proviso| Reduce { by, method: Method::Sets, proviso }));
        let whole = || Whole::new(system.hidden_bytes(), false);
        let level = |levels| frontier(system, &mut Table::default(), whole(), levels, &task, &mut Silent);
        let depth = depth_first(system, &mut Table::default(), &task, &mut Silent);
        vec![depth, level(Levels::Edges), level(Levels::Steps)]
    }

    #[test]
    fn independent_counters_are_counted_one_after_another() {
        for proviso in [Proviso::None, Proviso::Stack, Proviso::ClosedSet] {
            for outcome in search(&Counters { n: 4, max: 4 }, Some(proviso)) {
                assert_eq!((outcome.statistics.states, outcome.statistics.transitions), (17, 16));
                assert!(outcome.exhausted.is_some());
            }
        }
    }

    /// One process goes round and round (first edges), another takes one step.
    const ROUND: &str = "0 -> 1 -> 0; 2 -> 3 -> 2; 0 -> 2; 1 -> 3; end 2 3";

    #[test]
    fn without_a_proviso_a_loop_hides_the_others() {
        let graph = Graph::parse(&format!("{ROUND}; bad 3")).unwrap();
        for outcome in search(&graph, Some(Proviso::None)) {
            assert_eq!((outcome.statistics.states, outcome.errors), (2, 0), "what a proviso is for");
        }
        for proviso in [Proviso::Stack, Proviso::ClosedSet, Proviso::Color] {
            for outcome in search(&graph, Some(proviso)) {
                assert_eq!((outcome.statistics.states, outcome.errors), (4, 1));
                // The way there goes through a state that was expanded in two parts.
                let path = &outcome.violations[0].path;
                let nodes: Vec<u32> = path.iter().map(|action| graph.edges()[action.0 as usize].1).collect();
                assert!(nodes == [1, 3] || nodes == [2, 3], "{nodes:?}");
            }
        }
    }

    /// Nothing is left out of the first state, because what is chosen there leads back to it at once. So
    /// going back to it is enough for the second one, though it is on the stack.
    #[test]
    fn a_state_that_was_expanded_in_full_may_be_on_the_stack() {
        let text = "0 -> 0; 0 -> 1; 0 -> 2; 1 -> 0; 1 -> 3; 2 -> 3; 3 -> 2; end 0 1 2 3";
        let graph = Graph::parse(text).unwrap();
        let [stack, color] = [Proviso::Stack, Proviso::Color].map(|p| search(&graph, Some(p)).swap_remove(0));
        assert_eq!((stack.statistics.states, stack.statistics.transitions), (4, 7));
        assert_eq!((color.statistics.states, color.statistics.transitions), (4, 6));
    }

    /// One of two successors is enough for the stack, not for colours: 1 leads back to 0 and on to 2.
    #[test]
    fn no_cycle_is_without_a_state_expanded_in_full() {
        let graph = Graph::parse("0 -> 1; 0 -> 3; 1 -> 0; 1 -> 2; end 0 1 2 3").unwrap();
        let color = search(&graph, Some(Proviso::Color)).swap_remove(0);
        assert_eq!((color.statistics.states, color.statistics.reduced), (3, 1), "1 is green, 0 is not");
    }

    #[test]
    fn a_chosen_step_that_leads_nowhere_is_not_enough() {
        let stuck = "0 -> 1; fault 0 1; 0 -> 2; bad 2; end 2";
        let round = "0 -> 1 -> 3 -> 1; transient 1 3; 0 -> 2; bad 2; end 2";
        for (text, errors) in [(stuck, 2), (round, 1)] {
            for outcome in search(&Graph::parse(text).unwrap(), Some(Proviso::None)) {
                assert_eq!(outcome.errors, errors, "{text}");
            }
        }
    }
}
