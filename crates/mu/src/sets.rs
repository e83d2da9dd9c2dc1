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
}
