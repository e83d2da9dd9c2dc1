//! Whether a formula cannot tell how often a valuation is repeated, exactly (Michaud, Duret-Lutz 2015).
//!
//! Reductions of the state space may leave out steps that change no proposition; that is allowed for
//! stutter-invariant properties only. Without `X` a formula always is one. With `X` it may still be: close
//! the automata of the formula and of its negation under leaving out repetitions; the formula is
//! stutter-invariant when they still have no word in common. (If two words differ only in repetitions and one
//! of them is accepted, both closures accept the word without any.)

use crate::bdd::Bdd;
use crate::tgba::{Edge, Tgba};

/// More edges at one state are not computed.
const MAX_EDGES: usize = 1000;

/// Whether the language of `yes` is stutter-invariant; `no` accepts its complement. When that would be too
/// much work to find out the answer is no, which is safe.
pub(crate) fn stutter_invariant(mut yes: Tgba, mut no: Tgba) -> bool {
    yes.close_under_shortening() && no.close_under_shortening() && yes.disjoint(&no) == Some(true)
}

impl Tgba {
    /// Adds an edge for every two edges in a row that can be taken with one valuation, until there is nothing
    /// to add. False when there are too many.
    fn close_under_shortening(&mut self) -> bool {
        loop {
            let mut added = false;
            for state in 0..self.states.len() {
                let mut at = 0;
                while at < self.states[state].len() {
                    let first = self.states[state][at];
                    for i in 0..self.states[first.target].len() {
                        let second = self.states[first.target][i];
                        let guard = self.bdds.and(first.guard, second.guard);
                        let edge = Edge { target: second.target, marks: first.marks | second.marks, guard };
                        added |= self.add(state, edge);
                    }
                    at += 1;
                    if self.states[state].len() > MAX_EDGES {
                        return false;
                    }
                }
            }
            if !added {
                return true;
            }
        }
    }

    /// Adds an edge unless another does as well; whether that changed anything.
    fn add(&mut self, state: usize, edge: Edge) -> bool {
        let mut guard = edge.guard;
        for i in 0..self.states[state].len() {
            let other = self.states[state][i];
            if other.target == edge.target && edge.marks & !other.marks == 0 {
                guard = self.bdds.minus(guard, other.guard);
            }
        }
        if guard == Bdd::FALSE {
            return false;
        }
        self.states[state].push(Edge { guard, ..edge });
        true
    }
}
