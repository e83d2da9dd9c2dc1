//! Saturation: all vectors that are reachable, from the last level up.
//!
//! After G. Ciardo, G. Lüttgen and R. Siminiescu (*Saturation: An Efficient Iteration Strategy for Symbolic
//! State-Space Generation*, 2001). A node is *saturated* when no group that touches only its level and those
//! below leads out of it. A node is saturated by saturating what is below it, and then taking steps of the
//! groups whose first level is its own until nothing new is found; what such a step builds further down is
//! saturated at once. So a step of a group that touches few levels is taken once for all vectors that share
//! these levels.
//!
//! **Learning.** Relations are not known in advance. Before a group takes a step, the values that it reads
//! are projected out of the node, and a [`Learner`] is asked about those that are new. What was remembered
//! stays valid while relations grow: a closure that was computed was learned for all vectors in it. And
//! closure distributes over union, so the union of saturated sets is saturated.
//!
//! **Rests.** A space may have no end, or an error near its beginning. So saturation can be told to rest after
//! some work ([`Ldd::rest_after`]): no node is saturated any more and nothing is learned, what is under way is put
//! together, and the result is a set of vectors that are reachable, and reachable *inside of it*: a step is
//! united with what it was taken from. Saturation may go on from that set.
//!
//! **Backwards** the same is done with pre-images, within a universe (Y. Zhao and G. Ciardo, *Symbolic CTL
//! Model Checking of Asynchronous Systems Using Constrained Saturation*, 2009).

use crate::cache::{Key, Operation};
use crate::nodes::{Node, Set};
use crate::relation::{Below, Group};
use crate::{Full, Ldd};
use std::sync::Arc;

/// Tells what groups do.
pub trait Learner {
    /// Why learning ended, or that memory did.
    type Error: From<Full>;

    /// What a group does for vectors of the values that it reads. All that is not learned must be protected
    /// before the diagrams are collected, which this may not do.
    fn learn(&mut self, ldd: &mut Ldd, group: usize, read: Set) -> Result<Learned, Self::Error>;
}

/// What is learned of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Learned {
    /// Its relation, over its levels, as [`crate::relation`] describes it.
    pub relation: Set,
    /// The vectors of values that it reads for which it is enabled: those of the relation, and those for
    /// which its steps lead nowhere.
    pub enabled: Set,
}

/// The groups of a system, with what is known of them.
#[derive(Debug, Default)]
pub struct Groups {
    groups: Vec<Arc<Group>>,
    relations: Vec<Set>,
    enabled: Vec<Set>,
    /// The values that were learned.
    learned: Vec<Set>,
    /// By level: the groups that touch it first.
    by_top: Vec<Vec<usize>>,
}

impl Groups {
    /// Groups of which nothing is known yet, over vectors with `levels` levels. Their numbers are their
    /// places.
    pub fn new(groups: Vec<Group>, levels: usize) -> Groups {
        debug_assert!(
            groups.iter().enumerate().all(|(at, group)| group.number == at && group.last() < levels)
        );
        let mut by_top = vec![Vec::new(); levels];
        groups.iter().for_each(|group| by_top[group.top()].push(group.number));
        let nothing = vec![Set::EMPTY; groups.len()];
        Groups {
            relations: nothing.clone(),
            enabled: nothing.clone(),
            learned: nothing,
            by_top,
            groups: groups.into_iter().map(Arc::new).collect(),
        }
    }

    /// The groups.
    pub fn list(&self) -> &[Arc<Group>] {
        &self.groups
    }

    /// What is known of a group.
    pub fn relation(&self, group: usize) -> Set {
        self.relations[group]
    }

    /// The vectors of values that a group reads for which it is enabled, as far as it was learned.
    pub fn enabled(&self, group: usize) -> Set {
        self.enabled[group]
    }

    /// A group does what another one was known to do: its relation is the same, over the levels that it touches.
    /// `unknown` are values of which nothing is known, though they were learned.
    pub fn take_over(
        &mut self,
        group: usize,
        (from, other): (&Groups, usize),
        unknown: Set,
        ldd: &mut Ldd,
    ) -> Result<(), Full> {
        self.relations[group] = from.relations[other];
        self.enabled[group] = from.enabled[other];
        self.learned[group] = ldd.minus(from.learned[other], unknown)?;
        Ok(())
    }

    /// Saturation leaves a group out; it takes steps only when it is asked to ([`Ldd::step`]).
    pub fn set_aside(&mut self, group: usize) {
        let top = self.groups[group].top();
        self.by_top[top].retain(|other| *other != group);
    }

    /// All sets that are kept here, which a collection must not give back.
    pub fn roots(&self) -> Vec<Set> {
        self.relations.iter().chain(&self.learned).chain(&self.enabled).copied().collect()
    }
}

/// Saturation forwards.
struct Forwards<'a, L: Learner> {
    groups: &'a mut Groups,
    learner: &'a mut L,
    /// Nodes at which diagrams are collected.
    collect_at: usize,
}

impl Ldd {
    /// All vectors that are reachable from a set by steps of the groups, which are learned on the way. Other
    /// sets that are to survive must be protected.
    pub fn saturate<L: Learner>(
        &mut self,
        set: Set,
        groups: &mut Groups,
        learner: &mut L,
    ) -> Result<Set, L::Error> {
        let collect_at = self.next_collection();
        let roots = self.protected.len();
        let result = Forwards { groups, learner, collect_at }.saturate(self, set, 0);
        self.protected.truncate(roots);
        if self.rests() {
            // Results that were remembered since are no closures.
            self.cache.clear();
        }
        result
    }

    /// The vectors to which one step of a group leads from a set, which is learned first.
    pub fn step<L: Learner>(
        &mut self,
        set: Set,
        group: usize,
        groups: &mut Groups,
        learner: &mut L,
    ) -> Result<Set, L::Error> {
        self.learn(set, group, groups, learner)?;
        let (relation, touched) = (groups.relations[group], Arc::clone(&groups.groups[group]));
        Ok(self.image(set, relation, &touched, 0)?)
    }

    /// Learns what a group does in the vectors of a set.
    pub fn learn<L: Learner>(
        &mut self,
        set: Set,
        group: usize,
        groups: &mut Groups,
        learner: &mut L,
    ) -> Result<(), L::Error> {
        let collect_at = usize::MAX;
        Forwards { groups, learner, collect_at }.learn(self, set, group, 0)
    }

    /// All vectors of `universe` from which a set can be reached inside it, by steps that are known.
    pub fn saturate_backwards(&mut self, set: Set, universe: Set, groups: &Groups) -> Result<Set, Full> {
        let collect_at = self.next_collection();
        let roots = self.protected.len();
        let result = Backwards { groups, collect_at }.saturate(self, [set, universe], 0);
        self.protected.truncate(roots);
        result
    }

    /// Collects if there are more nodes than `collect_at`; answers when to do so again.
    fn collect_if_large(&mut self, collect_at: usize, groups: &Groups) -> usize {
        if self.n_nodes() < collect_at {
            return collect_at;
        }
        self.collect(&groups.roots());
        self.next_collection()
    }
}

impl<L: Learner> Forwards<'_, L> {
    fn saturate(&mut self, ldd: &mut Ldd, set: Set, level: usize) -> Result<Set, L::Error> {
        if set.is_terminal() || ldd.rests() {
            return Ok(set);
        }
        let key = |set| Key::at(Operation::Saturate, 0, level, [set, Set::EMPTY, Set::EMPTY]);
        if let Some(known) = ldd.cache.get(key(set)) {
            return Ok(known);
        }
        let roots = ldd.protected.len();
        ldd.protect(set);
        let below = self.saturate_below(ldd, set, level)?;
        let all = self.saturate_list(ldd, below, level)?;
        ldd.protected.truncate(roots);
        ldd.remember(key(set), all);
        Ok(all)
    }

    /// Saturates a list whose tails are saturated.
    fn saturate_list(&mut self, ldd: &mut Ldd, set: Set, level: usize) -> Result<Set, L::Error> {
        if set.is_terminal() || ldd.rests() {
            return Ok(set);
        }
        let key = |set| Key::at(Operation::Saturate, 0, level, [set, Set::EMPTY, Set::EMPTY]);
        if let Some(known) = ldd.cache.get(key(set)) {
            return Ok(known);
        }
        let roots = ldd.protected.len();
        ldd.protect(set);
        let (mut all, mut unchanged) = (set, 0);
        let here = self.groups.by_top[level].len();
        // What each group was learned for in earlier rounds.
        let mut seen = vec![Set::EMPTY; here];
        // Round and round, until a whole round of the groups has led nowhere.
        for at in (0..here).cycle() {
            if unchanged == here || ldd.rests() {
                break;
            }
            let group = self.groups.by_top[level][at];
            ldd.protected.extend(seen.iter().copied().filter(|set| !set.is_terminal()));
            let new = ldd.minus(all, seen[at])?;
            let more = self.step(ldd, all, new, group, level)?;
            seen[at] = all;
            unchanged = if more == all { unchanged + 1 } else { 0 };
            all = more;
            ldd.protected.truncate(roots + 1);
            ldd.protect(all);
            if ldd.n_nodes() >= self.collect_at {
                ldd.protected.extend(seen.iter().copied().filter(|set| !set.is_terminal()));
                self.collect_at = ldd.collect_if_large(self.collect_at, self.groups);
                ldd.protected.truncate(roots + 2);
            }
        }
        ldd.protected.truncate(roots);
        ldd.remember(key(set), all);
        ldd.remember(key(all), all);
        Ok(all)
    }

    /// The list of `set` with saturated tails.
    fn saturate_below(&mut self, ldd: &mut Ldd, set: Set, level: usize) -> Result<Set, L::Error> {
        let (mut values, mut rest) = (Vec::new(), set);
        while !rest.is_terminal() {
            let Node { value, down, right } = ldd.nodes.get(rest);
            let down = self.saturate(ldd, down, level + 1)?;
            values.push(value);
            ldd.protect(down);
            rest = right;
        }
        Ok(ldd.assemble(&values)?)
    }

    /// What a group's steps add to a list that begins at its first level.
    fn step(
        &mut self,
        ldd: &mut Ldd,
        set: Set,
        new: Set,
        group: usize,
        level: usize,
    ) -> Result<Set, L::Error> {
        // It stays protected while what it leads to is saturated.
        ldd.protect(set);
        self.learn(ldd, new, group, level)?;
        let (relation, touched) = (self.groups.relations[group], Arc::clone(&self.groups.groups[group]));
        ldd.protect(new);
        let image = ldd.image_by(self, new, relation, (&touched, level))?;
        Ok(ldd.union(set, image)?)
    }

    /// Learns what a group does with the values that it meets in a set for the first time.
    fn learn(&mut self, ldd: &mut Ldd, set: Set, group: usize, level: usize) -> Result<(), L::Error> {
        let Groups { groups, relations, learned, enabled, .. } = &mut *self.groups;
        if ldd.projects_into(set, learned[group], &groups[group], level)? {
            return Ok(());
        }
        let read = ldd.project(set, &groups[group], level)?;
        let new = ldd.minus(read, learned[group])?;
        if new.is_empty() {
            return Ok(());
        }
        let found = self.learner.learn(ldd, group, new)?;
        relations[group] = ldd.union(relations[group], found.relation)?;
        enabled[group] = ldd.union(enabled[group], found.enabled)?;
        learned[group] = ldd.union(learned[group], new)?;
        Ok(())
    }
}

impl<L: Learner> Below for Forwards<'_, L> {
    type Error = L::Error;
    const IMAGE: Operation = Operation::SaturatingImage;
    const PRE_IMAGE: Operation = Operation::PreImage;

    /// The tails of what was built are images, which are saturated, or unions of such.
    fn close(&mut self, ldd: &mut Ldd, set: Set, _: Set, level: usize) -> Result<Set, L::Error> {
        self.saturate_list(ldd, set, level)
    }
}

/// Saturation backwards.
struct Backwards<'a> {
    groups: &'a Groups,
    collect_at: usize,
}

impl Backwards<'_> {
    /// The operands are the set and the universe.
    fn saturate(&mut self, ldd: &mut Ldd, operands: [Set; 2], level: usize) -> Result<Set, Full> {
        let [set, universe] = operands;
        if set.is_terminal() || universe.is_terminal() {
            return ldd.intersect(set, universe);
        }
        let key = |set| Key::at(Operation::SaturateBackwards, 0, level, [set, universe, Set::EMPTY]);
        if let Some(known) = ldd.cache.get(key(set)) {
            return Ok(known);
        }
        let roots = ldd.protected.len();
        ldd.protected.extend(operands);
        let mut all = self.saturate_below(ldd, operands, level)?;
        let mut unchanged = 0;
        let here = &self.groups.by_top[level];
        for &group in here.iter().cycle() {
            if unchanged == here.len() {
                break;
            }
            ldd.protect(all);
            let (relation, touched) = (self.groups.relations[group], &self.groups.groups[group]);
            let before = ldd.pre_image_by(self, [all, relation, universe], (touched, level))?;
            let more = ldd.union(all, before)?;
            unchanged = if more == all { unchanged + 1 } else { 0 };
            all = more;
            ldd.protected.truncate(roots + operands.len());
            ldd.protect(all);
            self.collect_at = ldd.collect_if_large(self.collect_at, self.groups);
        }
        ldd.protected.truncate(roots);
        ldd.remember(key(set), all);
        ldd.remember(key(all), all);
        Ok(all)
    }

    /// The part of a list that is in the universe, with saturated tails.
    fn saturate_below(
        &mut self,
        ldd: &mut Ldd,
        [set, universe]: [Set; 2],
        level: usize,
    ) -> Result<Set, Full> {
        let (mut values, mut rest) = (Vec::new(), set);
        while !rest.is_terminal() {
            let Node { value, down, right } = ldd.nodes.get(rest);
            let allowed = ldd.tail_of(universe, value);
            let down = self.saturate(ldd, [down, allowed], level + 1)?;
            values.push(value);
            ldd.protect(down);
            rest = right;
        }
        ldd.assemble(&values)
    }
}

impl Below for Backwards<'_> {
    type Error = Full;
    const IMAGE: Operation = Operation::Image;
    const PRE_IMAGE: Operation = Operation::SaturatingPreImage;

    fn close(&mut self, ldd: &mut Ldd, set: Set, universe: Set, level: usize) -> Result<Set, Full> {
        self.saturate(ldd, [set, universe], level)
    }
}
