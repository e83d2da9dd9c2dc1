//! A run that shows the answer to a formula of branching time: sets say where it leads, and the system itself
//! takes the steps.
//!
//! A path is walked from ring to ring of pre-images, so it is a shortest one. Rings can be much larger than
//! the set of all states: where they take too much work, the path is looked for state by state (`guided.rs`),
//! and is some path. A run that goes on forever inside a set is walked until it can return: from where it is
//! to where it was, by a shortest path again, after each process has been served, if that is asked for. Where
//! it cannot return it never will, so it tries again further on, and comes to an end because each time fewer
//! states lie before it.

use std::collections::{BTreeSet, HashMap};

use mu::witness::Open;
use mu::{Atom, Runs, Sets, Steps};
use num_bigint::BigUint;
use system::{ActionId, Path, TransitionSystem};

use crate::branching::{SymbolicSets, give_up, got};
use crate::guided;
use crate::operators::Kept;
use crate::space::Ended;
use crate::taken::Taken;

/// A run that shows something.
#[derive(Clone, Debug)]
pub struct Demonstration {
    /// Its actions.
    pub path: Path,
    /// How many actions there are up to the end of each step between stored states.
    pub ends: Vec<usize>,
    /// The number of steps after which it comes to where it returns to from its end.
    pub back_to: Option<usize>,
    /// What it does not show.
    pub open: Vec<Open>,
}

/// A run, as it is made.
pub struct SymbolicRun<'b, 's, 'p, 'a> {
    sets: &'b mut SymbolicSets<'s, 'p, 'a>,
    taken: Taken<'b>,
    /// Nodes that may be asked for to lay rings: at all, and before a path is looked for state by state.
    work: u64,
    work_for_rings: u64,
    initial: Vec<u32>,
    back_to: Option<usize>,
}

impl<'b, 's, 'p, 'a> SymbolicRun<'b, 's, 'p, 'a> {
    /// At its beginning.
    pub(crate) fn new(
        sets: &'b mut SymbolicSets<'s, 'p, 'a>,
        system: &'b dyn TransitionSystem,
        work_for_rings: u64,
    ) -> Self {
        let taken = Taken::new(system, sets.operators.space);
        let initial = taken.vector.clone();
        SymbolicRun { sets, taken, work: u64::MAX, work_for_rings, initial, back_to: None }
    }

    /// Rings may take this work.
    pub(crate) fn limit_work(&mut self, work: u64) {
        self.work = work;
        self.sets.operators.space.limit_work(work);
    }

    pub(crate) fn finish(self, open: Vec<Open>) -> Demonstration {
        let Taken { path, ends, .. } = self.taken;
        Demonstration { path, ends, back_to: self.back_to, open }
    }

    /// Whether a step from where the run is belongs to these steps.
    fn is_of(&self, steps: Steps, actions: &[ActionId]) -> bool {
        match steps {
            Steps::All => true,
            Steps::Process(pid) => self.taken.movers(actions).contains(&pid),
            Steps::Filter(number) => {
                let filter = self.sets.filter(number);
                let pids = self.taken.movers(&actions[..actions.len().min(1)]);
                let mut takers = self.sets.groups.iter().flat_map(|group| &group.takers);
                takers.any(|taker| {
                    let at = self.sets.operators.space.value_of(&self.taken.vector, taker.location);
                    let from = filter.location.is_none_or(|wanted| at == wanted + 1);
                    at != 0 && from && pids.contains(&taker.process) && filter.is_about(taker)
                })
            }
        }
    }

    /// The set of the state where the run is.
    fn here(&mut self) -> Kept {
        let single = self.sets.operators.space.known.ldd.single(&self.taken.vector).map_err(Ended::from);
        self.sets.operators.keep(got(single))
    }

    /// Takes a shortest path through `reaching` to `goal`; false where rings take more than this work.
    fn by_rings(&mut self, reaching: &Kept, goal: &Kept, work: u64) -> bool {
        self.sets.operators.space.limit_work(work);
        let rings = self.sets.operators.rings(reaching, goal, &self.taken.vector);
        let rings = self.sets.operators.space.ended(rings);
        self.sets.operators.space.limit_work(self.work);
        let rings = match rings {
            Err(Ended::WornOut) => return false,
            rings => got(rings),
        };
        let Some(rings) = rings else {
            give_up(Ended::Broken("a state that can be reached cannot be reached".to_string()));
        };
        for ring in rings.iter().rev().skip(1) {
            self.surely(Steps::All, ring);
        }
        true
    }

    /// Takes some path through `reaching` to `goal`, state by state; false where none is found soon.
    fn by_states(&mut self, reaching: &Kept, goal: &Kept) -> bool {
        let sets = (reaching.set(), goal.set());
        let found = guided::path(self.sets.operators.space, sets, &mut self.taken.steps, &self.taken.state);
        let Some(states) = got(found) else { return false };
        for state in states {
            self.taken.expand();
            let mut targets = self.taken.steps.targets().iter();
            let target =
                targets.find(|target| self.taken.steps.bytes()[target.bytes.clone()] == state).cloned();
            let Some(target) = target else {
                give_up(Ended::Broken("a step that was found cannot be taken".to_string()));
            };
            let vector = got(self.sets.operators.space.vector(&state));
            self.taken.take(&target, vector);
        }
        true
    }

    /// Takes a step that sets say is possible.
    fn surely(&mut self, steps: Steps, into: &Kept) {
        if !self.step(steps, into) {
            give_up(Ended::Broken("a step that was learned cannot be taken".to_string()));
        }
    }

    /// Returns to where the run is now, by a step at least; false where that is impossible.
    fn cycle(&mut self, inside: &Kept) -> bool {
        let here = self.here();
        let before = self.sets.before_within(Steps::All, &here, inside);
        let start = self.len();
        if !self.path(inside, &before) {
            return false;
        }
        self.surely(Steps::All, &here);
        self.back_to = Some(start);
        true
    }

    /// Walks around until the run can return: tries after 0, 1, 2, 4 … steps.
    fn lasso(&mut self, inside: &Kept) {
        let mut seen: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut walk = 1;
        while !self.cycle(inside) {
            for _ in 0..walk {
                seen.insert(self.taken.vector.clone(), self.len());
                self.surely(Steps::All, inside);
                if let Some(&start) = seen.get(&self.taken.vector) {
                    self.back_to = Some(start);
                    return;
                }
            }
            walk *= 2;
        }
    }

    /// Serves each process, and returns to where that began.
    fn fair_lasso(&mut self, inside: &Kept, n_processes: u32) {
        loop {
            let (start, home) = (self.len(), self.here());
            for pid in 0..n_processes {
                self.serve(pid, inside, start);
            }
            if self.len() == start {
                self.surely(Steps::All, inside);
            }
            if self.path(inside, &home) {
                self.back_to = Some(start);
                return;
            }
        }
    }

    /// Goes to where a process moves or cannot move, unless it has moved since `start`.
    fn serve(&mut self, pid: u32, inside: &Kept, start: usize) {
        if self.taken.movers[start..].iter().any(|movers| movers.contains(&pid)) {
            return;
        }
        let can = self.sets.atom(Atom::Enabled(Steps::Process(pid)));
        let waits = got(self.sets.operators.minus(inside, &can));
        let moves = self.sets.before_within(Steps::Process(pid), inside, inside);
        let served = self.sets.or(&waits, &moves);
        if !self.path(inside, &served) {
            give_up(Ended::Broken(format!("process {pid} cannot be served")));
        }
        if !self.is_in(&waits) {
            self.surely(Steps::Process(pid), inside);
        }
    }
}

impl<'s, 'p, 'a> Runs for SymbolicRun<'_, 's, 'p, 'a> {
    type Sets = SymbolicSets<'s, 'p, 'a>;

    fn sets(&mut self) -> &mut SymbolicSets<'s, 'p, 'a> {
        self.sets
    }

    fn initially(&mut self, set: &Kept) -> bool {
        self.sets.operators.contains(set, &self.initial)
    }

    fn count(&mut self, set: &Kept) -> BigUint {
        self.sets.operators.count(set)
    }

    fn len(&self) -> usize {
        self.taken.len()
    }

    fn is_in(&mut self, set: &Kept) -> bool {
        self.sets.operators.contains(set, &self.taken.vector)
    }

    fn step(&mut self, steps: Steps, into: &Kept) -> bool {
        self.taken.expand();
        let mut tried = BTreeSet::new();
        for at in 0..self.taken.steps.targets().len() {
            let target = self.taken.steps.targets()[at].clone();
            if !self.is_of(steps, self.taken.actions(&target)) {
                continue;
            }
            let vector = self.taken.vector_of(&target, self.sets.operators.space);
            if tried.insert(vector.clone()) && self.sets.operators.contains(into, &vector) {
                self.taken.take(&target, vector);
                return true;
            }
        }
        false
    }

    fn path(&mut self, within: &Kept, goal: &Kept) -> bool {
        if self.is_in(goal) {
            return true;
        }
        // Whether there is a path is known sooner than which.
        let reaching = got(self.sets.operators.until(within, goal));
        if !self.is_in(&reaching) {
            return false;
        }
        let first = self.work.min(self.work_for_rings);
        if !self.by_rings(&reaching, goal, first) && !self.by_states(&reaching, goal) {
            let rest = self.work.saturating_sub(first);
            if !self.by_rings(&reaching, goal, rest) {
                give_up(Ended::WornOut);
            }
        }
        true
    }

    fn around(&mut self, inside: &Kept, fair: Option<u32>) {
        // The end of a run that is stuck is repeated, and fair: no process can move.
        let stuck = self.sets.stuck();
        let stuck = self.sets.and(inside, &stuck);
        if self.path(inside, &stuck) {
            return;
        }
        match fair {
            Some(n_processes) => self.fair_lasso(inside, n_processes),
            None => self.lasso(inside),
        }
    }
}
