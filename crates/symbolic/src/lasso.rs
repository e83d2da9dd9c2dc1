//! A run that a claim finds wrong, walked out by the system itself.
//!
//! From ring to ring of predecessors it leads to where the fault shows, so that part is a shortest one. A run
//! that goes on forever goes then through a goal step for each goal, and back to where that began. Where there
//! is no way back it tries again from where it is, and comes to an end because fewer states lie before it each
//! time.

use ldd::Set;
use search::Violation;
use system::TransitionSystem;

use crate::branching::{give_up, got};
use crate::operators::Kept;
use crate::product::{Goal, Pairs, Product, Wrong};
use crate::space::Ended;
use crate::taken::Taken;

/// A run that shows what is wrong.
pub(crate) fn show(
    product: &mut Product<'_, '_, '_, '_>,
    wrong: &Wrong,
    system: &dyn TransitionSystem,
) -> Violation {
    let taken = Taken::new(system, product.sets.operators.space);
    let mut run = ClaimRun { at: product.initial(), product, taken };
    let all = run.product.all();
    if !run.go(&all, &wrong.at) {
        give_up(Ended::Broken("a state that can be reached cannot be reached".to_string()));
    }
    let cycle = wrong.goals.as_ref().map(|goals| run.around(&wrong.at, goals));
    Violation { fault: wrong.fault.clone(), path: run.taken.path, cycle }
}

/// A run with the claim beside it.
struct ClaimRun<'w, 'b, 's, 'p, 'a> {
    product: &'w mut Product<'b, 's, 'p, 'a>,
    taken: Taken<'w>,
    /// The state of the claim.
    at: usize,
}

impl ClaimRun<'_, '_, '_, '_, '_> {
    fn is_in(&self, set: &[Kept]) -> bool {
        self.product.sets.operators.contains(&set[self.at], &self.taken.vector)
    }

    /// The set of the state where the run is.
    fn here(&mut self) -> Pairs {
        let single: Result<Set, Ended> =
            self.product.sets.operators.space.known.ldd.single(&self.taken.vector).map_err(Ended::from);
        let mut here = self.product.none();
        here[self.at] = self.product.sets.operators.keep(got(single));
        here
    }

    /// Takes a step into a set that serves a goal; false where there is none.
    fn step(&mut self, goal: Goal, into: &[Kept]) -> bool {
        let ways = self.product.moves_at(self.at, &self.taken.vector, goal);
        let leads = |product: &Product<'_, '_, '_, '_>, vector: &[u32]| {
            ways.iter().copied().find(|&to| product.sets.operators.contains(&into[to], vector))
        };
        if self.product.is_repeated(&self.taken.vector) {
            let Some(to) = leads(self.product, &self.taken.vector) else { return false };
            self.at = to;
            return true;
        }
        let waits = self.waits(goal);
        self.taken.expand();
        for target in self.taken.steps.targets().to_vec() {
            let serves = match goal {
                Goal::Process(pid) => waits || self.taken.movers(self.taken.actions(&target)).contains(&pid),
                Goal::Any | Goal::Accepting | Goal::Marks(_) => true,
            };
            if !serves {
                continue;
            }
            let vector = self.taken.vector_of(&target, self.product.sets.operators.space);
            if let Some(to) = leads(self.product, &vector) {
                self.taken.take(&target, vector);
                self.at = to;
                return true;
            }
        }
        false
    }

    /// Whether the process of a goal cannot move where the run is.
    fn waits(&mut self, goal: Goal) -> bool {
        let Goal::Process(pid) = goal else { return false };
        let can = self.product.can_move(pid);
        !self.product.sets.operators.contains(&can, &self.taken.vector)
    }

    /// Takes a step that sets say is possible.
    fn surely(&mut self, goal: Goal, into: &[Kept]) {
        if !self.step(goal, into) {
            give_up(Ended::Broken("a step that was learned cannot be taken".to_string()));
        }
    }

    /// Goes to a set by a shortest way; false where there is none through `within`.
    fn go(&mut self, within: &[Kept], to: &[Kept]) -> bool {
        if self.is_in(to) {
            return true;
        }
        // Whether there is a way is known sooner than which.
        let mut rest = self.product.until(within, to);
        if !self.is_in(&rest) {
            return false;
        }
        let mut rings = vec![to.to_vec()];
        let mut ring = to.to_vec();
        while !self.is_in(&ring) {
            rest = self.product.minus(&rest, &ring);
            ring = self.product.before(Goal::Any, &ring, &rest);
            if ring.iter().all(Kept::is_empty) {
                give_up(Ended::Broken("a state that can be reached cannot be reached".to_string()));
            }
            rings.push(ring.clone());
        }
        for ring in rings.iter().rev().skip(1) {
            self.surely(Goal::Any, ring);
        }
        true
    }

    /// Goes around inside of a set by a step for each goal; the number of actions before that.
    fn around(&mut self, inside: &[Kept], goals: &[Goal]) -> usize {
        let wanted: Vec<Pairs> =
            goals.iter().map(|&goal| self.product.before(goal, inside, inside)).collect();
        loop {
            let (home, start) = (self.here(), self.taken.path.len());
            for (goal, wanted) in goals.iter().zip(&wanted) {
                if !self.go(inside, wanted) {
                    give_up(Ended::Broken(format!("{goal:?} cannot be served")));
                }
                self.surely(*goal, inside);
            }
            if self.go(inside, &home) {
                return start;
            }
        }
    }
}
