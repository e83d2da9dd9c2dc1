//! What an engine can do with sets of states. Explicit search has bit sets over a stored graph, a symbolic
//! engine has decision diagrams; the evaluation of formulas is the same.

use crate::core::{Atom, Steps};

/// An engine's sets of reachable states. Work that takes long obeys the engine's own limits and is given up
/// by unwinding; so no method fails.
pub trait Sets {
    /// A set of reachable states.
    type Set: Clone;

    /// All reachable states.
    fn all(&mut self) -> Self::Set;

    /// No state.
    fn none(&mut self) -> Self::Set;

    /// The states in which an atom holds.
    fn atom(&mut self, atom: Atom) -> Self::Set;

    /// States of both.
    fn and(&mut self, a: &Self::Set, b: &Self::Set) -> Self::Set;

    /// States of either.
    fn or(&mut self, a: &Self::Set, b: &Self::Set) -> Self::Set;

    /// All other reachable states.
    fn not(&mut self, a: &Self::Set) -> Self::Set;

    /// Whether two sets are equal.
    fn equal(&mut self, a: &Self::Set, b: &Self::Set) -> bool;

    /// States from which one of these steps leads to `to`.
    fn before(&mut self, steps: Steps, to: &Self::Set) -> Self::Set;

    /// States from which one of these steps leads to an unknown state: a run-time error cuts it off, or an
    /// atomic sequence without end. `None` where there are none at all.
    fn cut(&mut self, steps: Steps) -> Option<Self::Set>;

    /// The least Y with `Y = goal ∪ (within ∩ before(steps, Y))`.
    fn reach(&mut self, steps: Steps, within: &Self::Set, goal: &Self::Set) -> Self::Set {
        let mut found = goal.clone();
        loop {
            let before = self.before(steps, &found);
            let more = self.and(within, &before);
            let next = self.or(&found, &more);
            if self.equal(&next, &found) {
                return found;
            }
            found = next;
        }
    }

    /// The least Y with `Y = goal ∪ (within ∩ ¬before(steps, ¬Y))`: every sequence of these steps from it
    /// leads to the goal.
    fn enforce(&mut self, steps: Steps, within: &Self::Set, goal: &Self::Set) -> Self::Set {
        let mut found = goal.clone();
        loop {
            let others = self.not(&found);
            let leaks = self.before(steps, &others);
            let sure = self.not(&leaks);
            let more = self.and(within, &sure);
            let next = self.or(&found, &more);
            if self.equal(&next, &found) {
                return found;
            }
            found = next;
        }
    }

    /// States of `universe` from which one of these steps leads to `to`.
    fn before_within(&mut self, steps: Steps, to: &Self::Set, universe: &Self::Set) -> Self::Set {
        let before = self.before(steps, to);
        self.and(&before, universe)
    }

    /// States of `within` from which a run inside of it ends in `ends`, or goes on forever and is fair to the
    /// first processes: each of them again and again moves or cannot move.
    ///
    /// The greatest set that can be left to itself and in which each process can be served (Emerson, Lei
    /// 1986): from the service of one process to that of the next there is a run that is fair.
    fn fair(&mut self, n_processes: u32, within: &Self::Set, ends: &Self::Set) -> Self::Set {
        let ends = self.and(within, ends);
        let mut now = within.clone();
        loop {
            let before = now.clone();
            let goes_on = self.before_within(Steps::All, &now, &now);
            now = self.or(&goes_on, &ends);
            for pid in 0..n_processes {
                let can = self.atom(Atom::Enabled(Steps::Process(pid)));
                let cannot = self.not(&can);
                let moves = self.before_within(Steps::Process(pid), &now, &now);
                let waits = self.and(&now, &cannot);
                let served = self.or(&waits, &moves);
                let goal = self.or(&served, &ends);
                now = self.reach(Steps::All, &now, &goal);
            }
            if self.equal(&now, &before) {
                return now;
            }
        }
    }
}
