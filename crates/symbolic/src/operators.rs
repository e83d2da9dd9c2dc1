//! Operators on sets of reachable states: predecessors, what can reach what, what can go on forever.
//!
//! `E[p U q]` is saturation backwards from `q`, constrained to `p` (Y. Zhao and G. Ciardo, *Symbolic CTL Model
//! Checking of Asynchronous Systems Using Constrained Saturation*, 2009); `EG p` is a greatest fixpoint over a
//! set that shrinks; with goals that a run must meet again and again it is E. A. Emerson's and C.-L. Lei's
//! (*Efficient Model Checking in Fragments of the Propositional Mu-Calculus*, 1986).
//!
//! **What is kept.** Saturation gives back nodes that nobody needs, so whoever holds a set over an operation
//! holds it as a [`Kept`]: what is kept survives as long as somebody has it. Operators take and give such
//! sets, and give back nodes when there are many.

use std::rc::{Rc, Weak};

use ldd::Set;
use num_bigint::BigUint;

use crate::space::{Ended, Space};

/// A set of states that survives collections. Equal sets are equal.
#[derive(Clone, Debug)]
pub struct Kept(Rc<Set>);

impl Kept {
    /// The diagram.
    pub fn set(&self) -> Set {
        *self.0
    }

    /// Whether there is no state in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        self.set() == other.set()
    }
}

impl Eq for Kept {}

/// Some of the steps: of each group those of a relation, from the states of a set.
#[derive(Clone, Debug)]
pub struct ChosenSteps(Vec<(usize, Kept, Option<Kept>)>);

impl ChosenSteps {
    /// No steps yet.
    pub fn none() -> Self {
        ChosenSteps(Vec::new())
    }

    /// Adds the steps of a group that a relation has, from all states or from those of a set.
    pub fn add(&mut self, group: usize, relation: Kept, from: Option<Kept>) {
        self.0.push((group, relation, from));
    }
}

/// What a fair run meets again and again: one of these states, or one of these steps.
#[derive(Clone, Debug)]
pub struct Goal {
    /// The states.
    pub states: Kept,
    /// The steps.
    pub steps: Option<ChosenSteps>,
}

/// The operators on the reachable states of a space.
pub struct Operators<'s, 'p> {
    /// The space.
    pub space: &'s mut Space<'p>,
    all: Kept,
    /// The sets that somebody holds.
    kept: Vec<Weak<Set>>,
    /// The number of nodes at which diagrams are collected.
    collect_at: usize,
}

impl<'s, 'p> Operators<'s, 'p> {
    /// On the reachable states `all`, all of which the space has learned.
    pub fn new(space: &'s mut Space<'p>, all: Set) -> Self {
        let all = Kept(Rc::new(all));
        let kept = vec![Rc::downgrade(&all.0)];
        let collect_at = space.known.ldd.next_collection();
        Operators { space, all, kept, collect_at }
    }

    /// Collects when there are at least this many nodes; for tests.
    pub fn collecting_beyond(mut self, nodes: usize) -> Self {
        self.space.known.ldd.collect_beyond(nodes);
        self.collect_at = self.space.known.ldd.next_collection();
        self
    }

    /// The reachable states.
    pub fn all(&self) -> Kept {
        self.all.clone()
    }

    /// Keeps a set.
    pub fn keep(&mut self, set: Set) -> Kept {
        let kept = Kept(Rc::new(set));
        if self.kept.len() == self.kept.capacity() {
            self.kept.retain(|set| set.strong_count() > 0);
        }
        self.kept.push(Rc::downgrade(&kept.0));
        kept
    }

    /// No state.
    pub fn none(&mut self) -> Kept {
        self.keep(Set::EMPTY)
    }

    fn kept_sets(&self) -> Vec<Set> {
        self.kept.iter().filter_map(Weak::upgrade).map(|set| *set).collect()
    }

    /// Gives back what nobody needs, if that is much.
    pub fn breathe(&mut self) {
        if self.space.known.ldd.n_nodes() < self.collect_at {
            return;
        }
        let mut roots = self.space.known.groups.roots();
        roots.extend(self.kept_sets());
        self.space.known.ldd.collect(&roots);
        self.collect_at = self.space.known.ldd.next_collection();
    }

    fn kept_or(&mut self, result: Result<Set, ldd::Full>) -> Result<Kept, Ended> {
        let set = self.space.ended(result.map_err(Ended::from))?;
        Ok(self.keep(set))
    }

    /// States of both.
    pub fn and(&mut self, a: &Kept, b: &Kept) -> Result<Kept, Ended> {
        let result = self.space.known.ldd.intersect(a.set(), b.set());
        self.kept_or(result)
    }

    /// States of either.
    pub fn or(&mut self, a: &Kept, b: &Kept) -> Result<Kept, Ended> {
        let result = self.space.known.ldd.union(a.set(), b.set());
        self.kept_or(result)
    }

    /// States of the first that are not in the second.
    pub fn minus(&mut self, a: &Kept, b: &Kept) -> Result<Kept, Ended> {
        let result = self.space.known.ldd.minus(a.set(), b.set());
        self.kept_or(result)
    }

    /// All other reachable states.
    pub fn not(&mut self, a: &Kept) -> Result<Kept, Ended> {
        let all = self.all();
        self.minus(&all, a)
    }

    /// The number of states.
    pub fn count(&self, set: &Kept) -> BigUint {
        self.space.known.ldd.count(set.set())
    }

    /// Whether a state, in the order of levels, is in a set.
    pub fn contains(&self, set: &Kept, vector: &[u32]) -> bool {
        self.space.known.ldd.contains(set.set(), vector)
    }

    /// The states of a set in which no step at all is possible.
    pub fn stuck(&mut self, set: &Kept) -> Result<Kept, Ended> {
        let kept = self.kept_sets();
        kept.iter().for_each(|set| self.space.known.ldd.protect(*set));
        let stuck = self.space.stuck(set.set());
        self.space.known.ldd.unprotect(kept.len());
        Ok(self.keep(stuck?))
    }

    /// The states of a set in which a predicate of the system holds.
    pub fn satisfying(&mut self, set: &Kept, predicate: usize) -> Result<Kept, Ended> {
        let some = self.space.satisfying(set.set(), predicate)?;
        Ok(self.keep(some))
    }

    /// The states of `universe` from which one step leads into a set: `EX`, but for states without a step.
    pub fn before(&mut self, to: &Kept, universe: &Kept) -> Result<Kept, Ended> {
        self.breathe();
        let before = self.space.before(to.set(), universe.set())?;
        Ok(self.keep(before))
    }

    /// The states of `universe` from which one of these steps leads into a set.
    pub fn before_by(&mut self, steps: &ChosenSteps, to: &Kept, universe: &Kept) -> Result<Kept, Ended> {
        self.breathe();
        let mut all = Set::EMPTY;
        for (group, relation, from) in &steps.0 {
            let ldd = &mut self.space.known.ldd;
            let touched = std::sync::Arc::clone(&self.space.known.groups.list()[*group]);
            let allowed = match from {
                Some(from) => ldd.intersect(universe.set(), from.set()),
                None => Ok(universe.set()),
            };
            let before =
                allowed.and_then(|allowed| ldd.pre_image(to.set(), relation.set(), allowed, &touched, 0));
            let more = before.and_then(|before| ldd.union(all, before));
            all = self.space.ended(more.map_err(Ended::from))?;
        }
        Ok(self.keep(all))
    }

    /// `E[within U goal]`: the states of `goal`, and those of `within` from which a run through `within` leads
    /// there.
    pub fn until(&mut self, within: &Kept, goal: &Kept) -> Result<Kept, Ended> {
        let universe = self.or(within, goal)?;
        let mut found = goal.clone();
        loop {
            found = self.saturate_backwards(&found, &universe)?;
            if self.space.known.idle.is_empty() {
                return Ok(found);
            }
            // Steps that are possible only where no others are take no part in saturation.
            let more = self.before(&found, &universe)?;
            let more = self.or(&found, &more)?;
            if more == found {
                return Ok(found);
            }
            found = more;
        }
    }

    fn saturate_backwards(&mut self, set: &Kept, universe: &Kept) -> Result<Kept, Ended> {
        let kept = self.kept_sets();
        let ldd = &mut self.space.known.ldd;
        kept.iter().for_each(|set| ldd.protect(*set));
        let result = ldd.saturate_backwards(set.set(), universe.set(), &self.space.known.groups);
        ldd.unprotect(kept.len());
        self.kept_or(result)
    }

    /// The least Y with `goal ∪ (within ∩ before_by(steps, Y))`.
    pub fn until_by(&mut self, steps: &ChosenSteps, within: &Kept, goal: &Kept) -> Result<Kept, Ended> {
        let (mut found, mut new) = (goal.clone(), goal.clone());
        let mut rest = self.minus(within, goal)?;
        while !new.is_empty() {
            new = self.before_by(steps, &new, &rest)?;
            found = self.or(&found, &new)?;
            rest = self.minus(&rest, &new)?;
        }
        Ok(found)
    }

    /// `EG within`, where runs may also end in a state of `ends`: the greatest Z with
    /// `within ∩ (ends ∪ before(Z))`.
    pub fn forever(&mut self, within: &Kept, ends: &Kept) -> Result<Kept, Ended> {
        let mut now = within.clone();
        let ends = self.and(within, ends)?;
        loop {
            let doubtful = self.minus(&now, &ends)?;
            let goes_on = self.before(&now, &doubtful)?;
            let next = self.or(&ends, &goes_on)?;
            if next == now {
                return Ok(now);
            }
            now = next;
        }
    }

    /// The states from which a run through `within` meets each goal again and again, or ends in `ends`.
    pub fn fairly_forever(&mut self, within: &Kept, ends: &Kept, goals: &[Goal]) -> Result<Kept, Ended> {
        let ends = self.and(within, ends)?;
        let mut now = self.forever(within, &ends)?;
        loop {
            let before = now.clone();
            for goal in goals {
                let mut wanted = self.and(&now, &goal.states)?;
                if let Some(steps) = &goal.steps {
                    let by_step = self.before_by(steps, &now, &now)?;
                    wanted = self.or(&wanted, &by_step)?;
                }
                wanted = self.or(&wanted, &ends)?;
                now = self.until(&now, &wanted)?;
            }
            now = self.forever(&now, &ends)?;
            if now == before {
                return Ok(now);
            }
        }
    }

    /// The target, the states of `within` one step before it, and so on to the first ring that has the vector;
    /// nothing where none has.
    pub fn rings(&mut self, within: &Kept, target: &Kept, to: &[u32]) -> Result<Option<Vec<Kept>>, Ended> {
        let mut rings = vec![target.clone()];
        let mut rest = self.minus(within, target)?;
        let mut ring = target.clone();
        while !self.contains(&ring, to) {
            ring = self.before(&ring, &rest)?;
            if ring.is_empty() {
                return Ok(None);
            }
            rest = self.minus(&rest, &ring)?;
            rings.push(ring.clone());
        }
        Ok(Some(rings))
    }
}
