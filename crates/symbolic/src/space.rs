//! The state space of a partitioned system as diagrams: levels, groups, what was learned of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ldd::{Access, Full, Group, Groups, Ldd, Learned, Learner, Set};
use num_bigint::BigUint;
use search::{Checks, StopReason};
use std::collections::HashMap;
use system::{Fault, FaultKind};

use crate::partitioned::{LocalFault, LocalGroup, LocalSteps, Move, Partitioned, Predicate, Unanswered};

/// Why a computation ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Memory ran out.
    Full,
    /// As much work was done as was allowed.
    WornOut,
    /// Somebody asked for an end.
    Stopped(StopReason),
    /// There are new slots and groups.
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
    /// Set when the computation is to end.
    pub stop: Arc<AtomicBool>,
}

/// An error that steps of a group show.
#[derive(Clone, Debug)]
pub struct FoundFault {
    /// The error.
    pub fault: Fault,
    /// The step could not be completed.
    pub cut: bool,
    /// The group.
    pub group: usize,
    /// The values that were read, in the order of levels.
    pub reads: Vec<u32>,
}

/// Work after an error is met until the search rests, where one error is enough: what is nearly finished should
/// come to its end, so that the run that is told is a shortest one.
const WORK_AFTER_ERROR: u64 = 1 << 22;

/// A step of a group, and those who move in it.
#[derive(Clone, Debug)]
pub(crate) struct FoundMove {
    /// The values that were read, in the order of levels.
    pub reads: Vec<u32>,
    /// What it is in the group's relation; nothing for a step that does not come to its end.
    pub pair: Option<Vec<u32>>,
    /// Those who move.
    pub movers: Vec<u32>,
}

/// Steps that show the same error and are kept: a shortest run to one of these is told.
const MOST_FAULTS: usize = 10_000;

/// How the values of a group are put into the order of levels.
#[derive(Debug)]
struct Arrangement {
    /// For each level that is read, in order, its place among the group's reads.
    reads: Vec<usize>,
    /// The values of all reads; those of slots that change are replaced.
    values: Vec<u32>,
    /// For each level that is used, in order: its place among reads, and among writes.
    used: Vec<(Option<usize>, Option<usize>)>,
}

/// What is known of the groups besides their relations.
#[derive(Debug, Default)]
pub struct Found {
    /// Which errors end a search, if any do.
    pub(crate) ending: Option<Checks>,
    /// Errors.
    pub faults: Vec<FoundFault>,
    /// How often each error was met, also those that are not kept: of each some are.
    met: HashMap<(FaultKind, String, u32, Option<String>), usize>,
    /// Some step could not be completed.
    pub cuts: bool,
    /// A group and values that it reads for which an atomic sequence does not end.
    pub atomic_loop: Option<(usize, Vec<u32>)>,
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
    level_of: Vec<Option<usize>>,
    /// The initial values of all slots.
    initial: Vec<u32>,
    pub(crate) groups: Groups,
    arrangements: Vec<Arrangement>,
    /// For each group what restricts a set to the states in which it is enabled.
    guards: Vec<Option<Group>>,
    /// Groups that are asked only where no other has a step.
    pub(crate) idle: Vec<usize>,
    /// What the search met on its way.
    pub(crate) found: Found,
    progress: Arc<Progress>,
    /// Predicates that were asked have numbers from here on.
    next_number: usize,
    /// Steps are taken group after group, not by saturation.
    pub(crate) chains: bool,
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
        let n = slots.len();
        let mut level_of = vec![None; initial.len()];
        slots.iter().enumerate().for_each(|(level, &slot)| level_of[slot as usize] = Some(level));
        let locals = system.groups();
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
        let ldd = Ldd::new(memory).stopped_by(Arc::clone(&progress.stop));
        let found = Found::default();
        let known = Known {
            initial,
            ldd,
            slots,
            level_of,
            groups,
            arrangements,
            guards,
            idle,
            found,
            progress,
            next_number,
            chains: false,
        };
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

    /// Finds out what all groups do in the states of a set, so that it is known which of them have a step.
    pub(crate) fn learn(&mut self, set: Set) -> Result<(), Ended> {
        for group in 0..self.known.guards.len() {
            if !self.known.idle.contains(&group) {
                self.learn_group(set, group)?;
            }
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
    pub fn count(&mut self, set: Set, hidden: &[bool]) -> Result<BigUint, Ended> {
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
            let more = round(self, all)?;
            if more == all || self.rests() {
                return Ok(more);
            }
            all = more;
        }
    }

    /// A set with the states to which a group leads from another one.
    fn add_step(&mut self, all: Set, from: Set, group: usize) -> Result<Set, Ended> {
        if self.rests() {
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

    /// The states of a set in which no group is enabled, but for those that need just that.
    pub fn dead(&mut self, set: Set) -> Result<Set, Ended> {
        let result = self.without_enabled(set, |space, group| !space.known.idle.contains(&group));
        self.ended(result)
    }

    /// The states of a set in which no group at all is enabled.
    pub fn stuck(&mut self, set: Set) -> Result<Set, Ended> {
        let result = self.without_enabled(set, |_, _| true);
        self.ended(result)
    }

    fn without_enabled(&mut self, set: Set, counts: impl Fn(&Self, usize) -> bool) -> Result<Set, Ended> {
        let mut rest = set;
        for group in 0..self.known.guards.len() {
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
        for vector in self.known.ldd.vectors(seen) {
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

/// A group over `n` levels, and how its values are put into their order.
fn arranged(
    number: usize,
    local: &LocalGroup,
    (n, level_of): (usize, &[Option<usize>]),
    initial: &[u32],
) -> (Group, Arrangement) {
    let mut access = vec![Access::Skip; n];
    // Level, place among reads, place among writes.
    let mut used: Vec<(usize, Option<usize>, Option<usize>)> = Vec::new();
    let levels = |slots: &[u32]| -> Vec<(usize, usize)> {
        let places = slots.iter().enumerate();
        places.filter_map(|(at, slot)| Some((at, level_of[*slot as usize]?))).collect()
    };
    for (at, level) in levels(&local.reads) {
        access[level] = Access::Read;
        used.push((level, Some(at), None));
    }
    for (at, level) in levels(&local.writes) {
        match used.iter_mut().find(|(other, ..)| *other == level) {
            Some((.., write)) => {
                access[level] = Access::Both;
                *write = Some(at);
            }
            None => {
                access[level] = Access::Write;
                used.push((level, None, Some(at)));
            }
        }
    }
    used.sort_unstable();
    let mut group = Group::new(number, &access).expect("a step moves a process");
    for (slot, values) in &local.only {
        if let Some(level) = level_of[*slot as usize] {
            group = group.only(level, values.clone());
        }
    }
    let arrangement = Arrangement {
        reads: used.iter().filter_map(|(_, read, _)| *read).collect(),
        values: local.reads.iter().map(|slot| initial[*slot as usize]).collect(),
        used: used.into_iter().map(|(_, read, write)| (read, write)).collect(),
    };
    (group, arrangement)
}

/// A group that reads some slots.
fn reading(number: usize, level_of: &[Option<usize>], slots: &[u32]) -> Option<Group> {
    let mut access = vec![Access::Skip; level_of.len()];
    let levels = slots.iter().filter_map(|slot| level_of[*slot as usize]);
    levels.for_each(|level| access[level] = Access::Read);
    Group::new(number, &access)
}

/// Asks the machine.
struct Learning<'a> {
    system: &'a mut dyn Partitioned,
    arrangements: &'a [Arrangement],
    found: &'a mut Found,
    progress: &'a Progress,
    out: LocalSteps,
}

impl Learner for Learning<'_> {
    type Error = Ended;

    fn learn(&mut self, ldd: &mut Ldd, group: usize, read: Set) -> Result<Learned, Ended> {
        self.progress.nodes.store(ldd.n_nodes() as u64, Ordering::Relaxed);
        self.progress.memory.store(ldd.memory(), Ordering::Relaxed);
        let arrangement = &self.arrangements[group];
        let (mut pairs, mut enabled) = (Vec::new(), Vec::new());
        let mut values = arrangement.values.clone();
        let mut is_over = false;
        for vector in ldd.vectors(read) {
            if self.progress.stop.load(Ordering::Relaxed) {
                return Err(Ended::Stopped(StopReason::Interrupted));
            }
            self.progress.calls.fetch_add(1, Ordering::Relaxed);
            arrangement.reads.iter().zip(&vector).for_each(|(place, value)| values[*place] = *value);
            self.out.clear();
            self.system.steps(group, &values, &mut self.out)?;
            is_over |= self.found.note(group, &vector, &mut self.out);
            let width = arrangement.used.iter().filter(|(_, write)| write.is_some()).count();
            for step in 0..self.out.n_steps {
                let written = &self.out.written[step * width..][..width];
                pairs.push(arrangement.pair(&values, written));
            }
            if self.out.enabled {
                enabled.push(vector);
            }
        }
        if is_over {
            ldd.rest_within(WORK_AFTER_ERROR);
        }
        pairs.sort_unstable();
        pairs.dedup();
        Ok(Learned { relation: ldd.set_of_sorted(&pairs)?, enabled: ldd.set_of_sorted(&enabled)? })
    }
}

impl Arrangement {
    /// What is read and what is written, level by level.
    fn pair(&self, read: &[u32], written: &[u32]) -> Vec<u32> {
        let mut pair = Vec::with_capacity(self.used.len() * 2);
        for (from, to) in &self.used {
            pair.extend(from.map(|at| read[at]));
            pair.extend(to.map(|at| written[at]));
        }
        pair
    }
}

impl Found {
    /// Whether an error was met that ends the search.
    pub(crate) fn is_over(&self) -> bool {
        self.ending.is_some_and(|checks| self.met.keys().any(|(kind, ..)| checks.count(*kind)))
    }

    /// Notes errors; whether one of them ends the search.
    fn note(&mut self, group: usize, reads: &[u32], out: &mut LocalSteps) -> bool {
        let mut is_over = false;
        if out.atomic_loop && self.atomic_loop.is_none() {
            self.atomic_loop = Some((group, reads.to_vec()));
        }
        self.cuts |= out.atomic_loop;
        for LocalFault { fault, cut } in out.faults.drain(..) {
            self.cuts |= cut;
            is_over |= self.ending.is_some_and(|checks| checks.count(fault.kind));
            let signature = (fault.kind, fault.file.clone(), fault.line, fault.process.clone());
            let met = self.met.entry(signature).or_default();
            *met += 1;
            if *met <= MOST_FAULTS {
                self.faults.push(FoundFault { fault, cut, group, reads: reads.to_vec() });
            }
        }
        is_over
    }
}
