//! The state space of a partitioned system as diagrams: levels, groups, what was learned of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ldd::{Full, Group, Groups, Ldd, Set};
use num_bigint::BigUint;
use search::StopReason;

use crate::learning::{Arrangement, Found, FoundMove, Learning, arranged, reading};
use crate::partitioned::{LocalGroup, LocalSteps, Move, Partitioned, Predicate, Unanswered};

/// Why a computation ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Memory ran out.
    Full,
    /// As much work was done as was allowed.
    WornOut,
    /// Somebody asked for an end.
    Stopped(StopReason),
    /// There is something without a slot, and it is best to begin again.
    Grown,
    /// The system is not fit for a symbolic search, for this reason.
    Unfit(String),
    /// What was believed of the system is not true.
    Broken(String),
}

impl From<Full> for Ended {
    fn from(_: Full) -> Self {
        Ended::Full
    }
}

impl From<Unanswered> for Ended {
    fn from(unanswered: Unanswered) -> Self {
        match unanswered {
            Unanswered::Grown => Ended::Grown,
            Unanswered::Stop(reason) => Ended::Stopped(reason),
            Unanswered::Unfit(why) => Ended::Unfit(why),
            Unanswered::Broken(why) => Ended::Broken(why),
        }
    }
}

/// How far a computation is: written by it, read by whoever watches.
#[derive(Debug, Default)]
pub struct Progress {
    /// Nodes in use.
    pub nodes: AtomicU64,
    /// Bytes in use.
    pub memory: AtomicU64,
    /// Questions to the machine.
    pub calls: AtomicU64,
    /// How often there were new slots and the search went on.
    pub growths: AtomicU64,
    /// How often there were new slots and it began again.
    pub restarts: AtomicU64,
    /// Set when the computation is to end.
    pub stop: Arc<AtomicBool>,
}

/// The state space of a partitioned system.
pub struct Space<'p> {
    pub(crate) system: &'p mut dyn Partitioned,
    pub(crate) known: Known,
}

/// What is known of a space, apart from its system.
#[derive(Debug)]
pub struct Known {
    pub(crate) ldd: Ldd,
    /// For each level its slot.
    pub(crate) slots: Vec<u32>,
    /// For each slot its level; nothing for one whose value never changes.
    pub(crate) level_of: Vec<Option<usize>>,
    /// The initial values of all slots.
    pub(crate) initial: Vec<u32>,
    /// The groups, as the system describes them.
    pub(crate) locals: Vec<LocalGroup>,
    pub(crate) groups: Groups,
    arrangements: Vec<Arrangement>,
    /// For each group what restricts a set to the states in which it is enabled.
    guards: Vec<Option<Group>>,
    /// Groups that are asked only where no other has a step.
    pub(crate) idle: Vec<usize>,
    /// What the search met on its way.
    pub(crate) found: Found,
    pub(crate) progress: Arc<Progress>,
    /// Predicates that were asked have numbers from here on.
    next_number: usize,
    /// Steps are taken group after group, not by saturation.
    pub(crate) chains: bool,
}

impl Known {
    /// Nothing is known yet of a system with these groups; `slots` are those that have levels, in order, and
    /// `initial` the initial values of all.
    pub(crate) fn nothing(
        ldd: Ldd,
        (slots, initial): (Vec<u32>, Vec<u32>),
        locals: Vec<LocalGroup>,
        progress: Arc<Progress>,
    ) -> Known {
        let n = slots.len();
        let mut level_of = vec![None; initial.len()];
        slots.iter().enumerate().for_each(|(level, &slot)| level_of[slot as usize] = Some(level));
        let (mut groups, mut guards, mut arrangements) = (Vec::new(), Vec::new(), Vec::new());
        for (number, local) in locals.iter().enumerate() {
            let (group, arrangement) = arranged(number, local, (n, &level_of), &initial);
            groups.push(group);
            arrangements.push(arrangement);
            guards.push(reading(locals.len() + number, &level_of, &local.reads));
        }
        let idle = locals.iter().enumerate().filter(|(_, local)| local.only_idle);
        let idle: Vec<usize> = idle.map(|(number, _)| number).collect();
        let next_number = 2 * groups.len();
        let mut groups = Groups::new(groups, n);
        idle.iter().for_each(|group| groups.set_aside(*group));
        Known {
            ldd,
            slots,
            level_of,
            initial,
            locals,
            groups,
            arrangements,
            guards,
            idle,
            found: Found::default(),
            progress,
            next_number,
            chains: false,
        }
    }
}

impl<'p> Space<'p> {
    /// The space with slots at these levels, and `memory` bytes for diagrams. Slots without a level keep the
    /// value that they have in the initial state.
    pub fn new(
        system: &'p mut dyn Partitioned,
        slots: Vec<u32>,
        initial: Vec<u32>,
        memory: u64,
        progress: Arc<Progress>,
    ) -> Space<'p> {
        let ldd = Ldd::new(memory).stopped_by(Arc::clone(&progress.stop));
        let known = Known::nothing(ldd, (slots, initial), system.groups().to_vec(), progress);
        Space { system, known }
    }

    /// The values of a state in the order of levels.
    pub fn vector(&mut self, state: &[u8]) -> Result<Vec<u32>, Ended> {
        let mut values = Vec::new();
        self.system.vector(state, &mut values)?;
        Ok(self.known.slots.iter().map(|slot| values[*slot as usize]).collect())
    }

    /// The initial state, in the order of levels.
    pub fn initial_vector(&self) -> Vec<u32> {
        self.known.slots.iter().map(|slot| self.known.initial[*slot as usize]).collect()
    }

    /// Figures of the diagrams, for people who measure.
    pub fn figures_line(&self, set: Set) -> String {
        format!(
            "{} nodes of {}, {} MB",
            self.known.ldd.size(set),
            self.known.ldd.n_nodes(),
            self.known.ldd.memory() >> 20
        )
    }

    /// Gives the system back, and keeps what is known.
    pub fn detach(self) -> Known {
        self.known
    }

    /// The space of which this is known.
    pub fn attach(system: &'p mut dyn Partitioned, mut known: Known) -> Space<'p> {
        known.ldd.limit_work(u64::MAX);
        Space { system, known }
    }

    /// Operations end when this much work was done (see [`Ldd::limit_work`]).
    pub fn limit_work(&mut self, most: u64) {
        self.known.ldd.limit_work(most);
    }

    /// Questions to the machine so far.
    pub fn calls(&self) -> u64 {
        self.known.progress.calls.load(Ordering::Relaxed)
    }

    /// All states that are reachable from the initial one.
    pub fn reach_all(&mut self) -> Result<Set, Ended> {
        let from = self.beginning()?;
        self.reach(from)
    }

    /// The initial state alone.
    pub fn beginning(&mut self) -> Result<Set, Ended> {
        Ok(self.known.ldd.single(&self.initial_vector())?)
    }

    /// Finds out what all groups do in the states of a set, so that it is known which of them have a step. Other
    /// sets that are to survive must be protected.
    pub(crate) fn learn(&mut self, set: Set) -> Result<(), Ended> {
        let mut collect_at = self.known.ldd.next_collection();
        for group in 0..self.known.guards.len() {
            if !self.known.idle.contains(&group) {
                self.learn_group(set, group)?;
                self.collect_if_large(&mut collect_at, &[set]);
            }
        }
        if self.has_grown() {
            return Ok(());
        }
        let dead = self.dead(set)?;
        for group in self.known.idle.clone() {
            self.learn_group(dead, group)?;
        }
        Ok(())
    }

    fn learn_group(&mut self, set: Set, group: usize) -> Result<(), Ended> {
        let (ldd, groups, mut learning) = self.split();
        let result = ldd.learn(set, group, groups, &mut learning);
        self.ended(result)
    }

    /// The number of states of a set; states that differ in hidden slots alone are one.
    pub fn count(&mut self, set: Set) -> Result<BigUint, Ended> {
        let hidden: Vec<bool> = self.system.slots().iter().map(|slot| slot.hidden).collect();
        if !hidden.contains(&true) {
            return Ok(self.known.ldd.count(set));
        }
        let shown: Vec<u32> = (0..hidden.len() as u32).filter(|slot| !hidden[*slot as usize]).collect();
        let Some(group) = reading(self.known.next_number, &self.known.level_of, &shown) else {
            return Ok(BigUint::from(1u8));
        };
        self.known.next_number += 1;
        let shown = self.known.ldd.project(set, &group, 0)?;
        Ok(self.known.ldd.count(shown))
    }

    /// All states that are reachable from a set; some of them where the search rests ([`Space::rests`]). Groups
    /// that need all others to be disabled take their steps where that is so.
    pub fn reach(&mut self, from: Set) -> Result<Set, Ended> {
        if self.known.idle.is_empty() {
            return self.close(from);
        }
        let idle = self.known.idle.clone();
        self.until_stable(from, |space, all| {
            let all = space.close(all)?;
            let dead = space.dead(all)?;
            idle.iter().try_fold(all, |all, group| space.add_step(all, dead, *group))
        })
    }

    /// Does something again and again until it adds nothing, or the search rests.
    fn until_stable(
        &mut self,
        from: Set,
        mut round: impl FnMut(&mut Self, Set) -> Result<Set, Ended>,
    ) -> Result<Set, Ended> {
        let mut all = from;
        loop {
            // Its name must not be given to another set.
            self.known.ldd.protect(all);
            let more = round(self, all);
            self.known.ldd.unprotect(1);
            let more = more?;
            if more == all || self.rests() || self.has_grown() {
                return Ok(more);
            }
            all = more;
        }
    }

    /// A set with the states to which a group leads from another one. Where some steps are not known yet, nobody
    /// knows which states have none, so there are no more.
    fn add_step(&mut self, all: Set, from: Set, group: usize) -> Result<Set, Ended> {
        if self.rests() || self.has_grown() {
            return Ok(all);
        }
        let next = self.step(from, group)?;
        Ok(self.known.ldd.union(all, next)?)
    }

    /// The search rests when this much more work was done; what it has found by then is no closure.
    pub fn rest_after(&mut self, work: u64) {
        self.known.ldd.rest_after(work);
    }

    /// Whether it rests: there may be more than it has found.
    pub fn rests(&self) -> bool {
        self.known.ldd.rests()
    }

    /// Whether a step has led to something without a slot, so that the system is to grow.
    pub fn has_grown(&self) -> bool {
        !self.known.found.beyond.is_empty()
    }

    fn split(&mut self) -> (&mut Ldd, &mut Groups, Learning<'_>) {
        let Known { ldd, groups, arrangements, found, progress, .. } = &mut self.known;
        let learning =
            Learning { system: &mut *self.system, arrangements, found, progress, out: LocalSteps::default() };
        (ldd, groups, learning)
    }

    /// Group after group, each from all states that are known by then.
    fn chain(&mut self, from: Set) -> Result<Set, Ended> {
        let groups: Vec<usize> =
            (0..self.known.guards.len()).filter(|group| !self.known.idle.contains(group)).collect();
        self.until_stable(from, |space, all| {
            groups.iter().try_fold(all, |all, group| space.add_step(all, all, *group))
        })
    }

    fn close(&mut self, from: Set) -> Result<Set, Ended> {
        match self.known.chains {
            true => self.chain(from),
            false => self.saturate(from),
        }
    }

    fn saturate(&mut self, from: Set) -> Result<Set, Ended> {
        let (ldd, groups, mut learning) = self.split();
        let result = ldd.saturate(from, groups, &mut learning);
        self.ended(result)
    }

    fn step(&mut self, from: Set, group: usize) -> Result<Set, Ended> {
        let (ldd, groups, mut learning) = self.split();
        let result = ldd.step(from, group, groups, &mut learning);
        self.ended(result)
    }

    /// An end for want of memory may be one that was asked for.
    pub(crate) fn ended<T>(&self, result: Result<T, Ended>) -> Result<T, Ended> {
        match result {
            Err(Ended::Full) if self.known.ldd.is_worn_out() => Err(Ended::WornOut),
            Err(Ended::Full) if self.known.ldd.is_stopped() => Err(Ended::Stopped(StopReason::Interrupted)),
            result => result,
        }
    }

    /// Gives back what nobody needs, if that is much: besides what is known and protected, these sets are needed.
    fn collect_if_large(&mut self, collect_at: &mut usize, needed: &[Set]) {
        let Known { ldd, groups, .. } = &mut self.known;
        if ldd.n_nodes() < *collect_at {
            return;
        }
        needed.iter().for_each(|set| ldd.protect(*set));
        ldd.collect(&groups.roots());
        ldd.unprotect(needed.len());
        *collect_at = ldd.next_collection();
    }

    /// The states of a set in which no group is enabled, but for those that need just that. Other sets that are
    /// to survive must be protected.
    pub fn dead(&mut self, set: Set) -> Result<Set, Ended> {
        let result = self.without_enabled(set, |space, group| !space.known.idle.contains(&group));
        self.ended(result)
    }

    /// The states of a set in which no group at all is enabled. Other sets that are to survive must be protected.
    pub fn stuck(&mut self, set: Set) -> Result<Set, Ended> {
        let result = self.without_enabled(set, |_, _| true);
        self.ended(result)
    }

    fn without_enabled(&mut self, set: Set, counts: impl Fn(&Self, usize) -> bool) -> Result<Set, Ended> {
        let (mut rest, mut collect_at) = (set, self.known.ldd.next_collection());
        for group in 0..self.known.guards.len() {
            self.collect_if_large(&mut collect_at, &[set, rest]);
            if rest.is_empty() || !counts(self, group) {
                continue;
            }
            let enabled = self.known.groups.enabled(group);
            let some = self.restrict_by(rest, enabled, group)?;
            rest = self.known.ldd.minus(rest, some)?;
        }
        Ok(rest)
    }

    /// The states of a set whose values for a group are among `values`.
    pub(crate) fn restrict_by(&mut self, set: Set, values: Set, group: usize) -> Result<Set, Full> {
        match (&self.known.guards[group], values) {
            (_, Set::EMPTY) => Ok(Set::EMPTY),
            (Some(guard), _) => self.known.ldd.image(set, values, guard, 0),
            (None, _) => Ok(set),
        }
    }

    /// The predicates of a sort.
    pub(crate) fn predicates(&self, what: Predicate) -> Vec<usize> {
        let predicates = self.system.predicates().iter().enumerate();
        predicates.filter(|(_, predicate)| predicate.what == what).map(|(number, _)| number).collect()
    }

    /// The states of a set in which a predicate holds.
    pub fn satisfying(&mut self, set: Set, predicate: usize) -> Result<Set, Ended> {
        let reads = self.system.predicates()[predicate].reads.clone();
        let Some(group) = reading(self.known.next_number, &self.known.level_of, &reads) else {
            let values: Vec<u32> = reads.iter().map(|slot| self.known.initial[*slot as usize]).collect();
            return Ok(if self.system.holds(predicate, &values)? { set } else { Set::EMPTY });
        };
        self.known.next_number += 1;
        let seen = self.known.ldd.project(set, &group, 0)?;
        let changes = |place: &usize| self.known.level_of[reads[*place] as usize].is_some();
        let mut places: Vec<usize> = (0..reads.len()).filter(changes).collect();
        places.sort_unstable_by_key(|place| self.known.level_of[reads[*place] as usize]);
        let mut values: Vec<u32> = reads.iter().map(|slot| self.known.initial[*slot as usize]).collect();
        let mut true_for = Vec::new();
        for (number, vector) in self.known.ldd.vectors(seen).enumerate() {
            // There can be many: all values that occur together in the slots that it reads.
            if number % 1024 == 1023 && self.known.ldd.is_stopped() {
                return Err(Ended::Stopped(StopReason::Interrupted));
            }
            places.iter().zip(&vector).for_each(|(place, value)| values[*place] = *value);
            if self.system.holds(predicate, &values)? {
                true_for.push(vector);
            }
        }
        let true_for = self.known.ldd.set_of_sorted(&true_for)?;
        let result =
            if true_for.is_empty() { Ok(Set::EMPTY) } else { self.known.ldd.image(set, true_for, &group, 0) };
        self.ended(result.map_err(Ended::from))
    }

    /// The states of a set in which a slot has a value.
    pub fn with_value(&mut self, set: Set, slot: u32, value: u32) -> Result<Set, Ended> {
        let Some(group) = reading(self.known.next_number, &self.known.level_of, &[slot]) else {
            return Ok(if self.known.initial[slot as usize] == value { set } else { Set::EMPTY });
        };
        self.known.next_number += 1;
        let value = self.known.ldd.single(&[value])?;
        let result = self.known.ldd.image(set, value, &group, 0);
        self.ended(result.map_err(Ended::from))
    }

    /// The value of a slot in a state that is given in the order of levels.
    pub(crate) fn value_of(&self, vector: &[u32], slot: u32) -> u32 {
        self.known.level_of[slot as usize].map_or(self.known.initial[slot as usize], |level| vector[level])
    }

    /// Asks for the steps of a group one by one, for all values with which it is enabled.
    pub(crate) fn moves(&mut self, group: usize) -> Result<Vec<FoundMove>, Ended> {
        let (arrangement, mut found) = (&self.known.arrangements[group], Vec::new());
        let mut values = arrangement.values.clone();
        for vector in self.known.ldd.vectors(self.known.groups.enabled(group)) {
            arrangement.reads.iter().zip(&vector).for_each(|(place, value)| values[*place] = *value);
            for Move { written, movers } in self.system.moves(group, &values)? {
                let pair = written.map(|written| arrangement.pair(&values, &written));
                found.push(FoundMove { reads: vector.clone(), pair, movers });
            }
        }
        Ok(found)
    }

    /// What is known of a group's steps.
    pub fn relation(&self, group: usize) -> Set {
        self.known.groups.relation(group)
    }

    /// The states of `universe` from which one step leads into a set.
    pub fn before(&mut self, set: Set, universe: Set) -> Result<Set, Ended> {
        let mut all = Set::EMPTY;
        for group in self.known.groups.list().to_vec() {
            let relation = self.known.groups.relation(group.number);
            let before = self.known.ldd.pre_image(set, relation, universe, &group, 0);
            let before = self.ended(before.map_err(Ended::from))?;
            all = self.known.ldd.union(all, before)?;
        }
        Ok(all)
    }
}
