//! States that are wrong by themselves: ends that are none, and states in which an invariant does not hold.

use ldd::Set;
use search::Checks;

use crate::partitioned::Predicate;
use crate::space::{Ended, Space};

impl Space<'_> {
    /// The states of a set in which no step is possible, and which are no valid end. What groups do in the
    /// states of the set must be known.
    pub(crate) fn bad_ends(&mut self, set: Set, checks: Checks) -> Result<Set, Ended> {
        let dead = self.stuck(set)?;
        let mut fine = dead;
        let mut wanted = self.predicates(Predicate::ValidEnd);
        if checks.channels_empty {
            wanted.extend(self.predicates(Predicate::EmptyChannel));
        }
        for predicate in wanted {
            if fine.is_empty() {
                break;
            }
            fine = self.satisfying(fine, predicate)?;
        }
        Ok(self.known.ldd.minus(dead, fine)?)
    }

    /// The states of a set in which some invariant does not hold.
    pub(crate) fn without_invariant(&mut self, set: Set) -> Result<Set, Ended> {
        let mut bad = Set::EMPTY;
        for predicate in self.predicates(Predicate::Invariants) {
            let fine = self.satisfying(set, predicate)?;
            let rest = self.known.ldd.minus(set, fine)?;
            bad = self.known.ldd.union(bad, rest)?;
        }
        Ok(bad)
    }

    /// The sets of states of a set that are wrong, a set for each kind of error that counts.
    pub(crate) fn bad_states(&mut self, set: Set, checks: Checks) -> Result<Vec<Set>, Ended> {
        let mut bad = Vec::new();
        if checks.end_state {
            bad.push(self.bad_ends(set, checks)?);
        }
        if checks.invariant {
            bad.push(self.without_invariant(set)?);
        }
        Ok(bad)
    }
}
