//! Groups of transitions: a relation over the levels that they read and write, and what it makes of a set.
//!
//! A relation is a diagram over the touched levels alone, from the group's first to its last: at a level that
//! is read the value that must be there, at one that is written the new value, at one that is both the old
//! value and then the new one. What lies between and behind stays as it is (Meijer, Kant, Blom and van de
//! Pol, *Read, Write and Copy Dependencies for Symbolic Model Checking*, 2014).
//!
//! Image and pre-image are written once. What they do with a list that they have built below the group's
//! first level is a parameter ([`Below`]): nothing, or close it under the other groups, which is saturation.

use crate::cache::{Key, Operation};
use crate::nodes::{Node, Set};
use crate::{Full, Ldd};

/// What a group does with a level.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Access {
    /// Nothing.
    #[default]
    Skip,
    /// It depends on the value and leaves it.
    Read,
    /// It sets the value, whatever it was.
    Write,
    /// It depends on the value and sets it.
    Both,
}

impl Access {
    /// Whether the value matters.
    pub fn reads(self) -> bool {
        matches!(self, Access::Read | Access::Both)
    }

    /// Whether there may be a new value.
    pub fn writes(self) -> bool {
        matches!(self, Access::Write | Access::Both)
    }
}

/// Which levels a group touches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// Its number, for the cache: unique among the groups of one [`Ldd`].
    pub number: usize,
    top: usize,
    /// From the first touched level to the last.
    access: Vec<Access>,
    last_read: Option<usize>,
    /// Levels that are read of which only these values matter, in ascending order.
    only: Vec<(usize, Vec<u32>)>,
}

impl Group {
    /// A group that accesses each level as told; one level at least is touched.
    pub fn new(number: usize, access: &[Access]) -> Option<Group> {
        let touched = |&at: &usize| access[at] != Access::Skip;
        let (top, last) = ((0..access.len()).find(touched)?, (0..access.len()).rfind(touched)?);
        let last_read = (top..=last).rfind(|&at| access[at].reads());
        Some(Group { number, top, access: access[top..=last].to_vec(), last_read, only: Vec::new() })
    }

    /// The group has steps only for these values of a level that it reads: others are not learned.
    pub fn only(mut self, level: usize, mut values: Vec<u32>) -> Group {
        debug_assert!(self.access(level).reads());
        values.sort_unstable();
        self.only.push((level, values));
        self
    }

    /// The values of a level for which there are steps, in ascending order, if not all may be.
    pub fn values(&self, level: usize) -> Option<&[u32]> {
        self.only.iter().find(|(at, _)| *at == level).map(|(_, values)| &values[..])
    }

    /// The last level for which not all values may have steps.
    pub(crate) fn last_restricted(&self) -> Option<usize> {
        self.only.iter().map(|(level, _)| *level).max()
    }

    /// The first touched level.
    pub fn top(&self) -> usize {
        self.top
    }

    /// The last touched level.
    pub fn last(&self) -> usize {
        self.top + self.access.len() - 1
    }

    /// The last level whose value matters.
    pub fn last_read(&self) -> Option<usize> {
        self.last_read
    }

    /// What it does with a level.
    #[inline(always)]
    pub fn access(&self, level: usize) -> Access {
        level.checked_sub(self.top).and_then(|at| self.access.get(at)).copied().unwrap_or_default()
    }
}

/// What becomes of a list that was built below the first level of a group.
pub(crate) trait Below {
    type Error: From<Full>;
    /// The operations under which images and pre-images are remembered.
    const IMAGE: Operation;
    const PRE_IMAGE: Operation;

    /// The list that takes the place of `set`, which may be built within `universe` at `level`.
    fn close(&mut self, ldd: &mut Ldd, set: Set, universe: Set, level: usize) -> Result<Set, Self::Error>;
}

/// Nothing.
struct AsItIs;

impl Below for AsItIs {
    type Error = Full;
    const IMAGE: Operation = Operation::Image;
    const PRE_IMAGE: Operation = Operation::PreImage;

    fn close(&mut self, _: &mut Ldd, set: Set, _: Set, _: usize) -> Result<Set, Full> {
        Ok(set)
    }
}

impl Ldd {
    /// The vectors to which one step of a group leads from a set whose first level is `level`.
    pub fn image(&mut self, set: Set, relation: Set, group: &Group, level: usize) -> Result<Set, Full> {
        let roots = self.protected.len();
        let result = self.image_by(&mut AsItIs, set, relation, (group, level));
        self.protected.truncate(roots);
        result
    }

    /// The vectors of `universe` from which one step of a group leads into a set; the first level of both is
    /// `level`.
    pub fn pre_image(
        &mut self,
        set: Set,
        relation: Set,
        universe: Set,
        group: &Group,
        level: usize,
    ) -> Result<Set, Full> {
        let roots = self.protected.len();
        let result = self.pre_image_by(&mut AsItIs, [set, relation, universe], (group, level));
        self.protected.truncate(roots);
        result
    }

    pub(crate) fn image_by<B: Below>(
        &mut self,
        below: &mut B,
        set: Set,
        relation: Set,
        (group, level): (&Group, usize),
    ) -> Result<Set, B::Error> {
        if set.is_empty() || relation.is_empty() {
            return Ok(Set::EMPTY);
        }
        if level > group.last() {
            debug_assert_eq!(relation, Set::UNIT, "a relation ends with its group");
            return Ok(set);
        }
        let key = Key::at(B::IMAGE, group.number, level, [set, relation, Set::EMPTY]);
        if let Some(known) = self.cache.get(key) {
            return Ok(known);
        }
        let roots = self.protected.len();
        self.protected.extend([set, relation]);
        let built = match group.access(level) {
            Access::Skip => self.image_skip(below, set, relation, (group, level))?,
            Access::Read => self.image_read(below, set, relation, (group, level))?,
            Access::Write => self.image_write(below, set, relation, (group, level))?,
            Access::Both => self.image_both(below, set, relation, (group, level))?,
        };
        let result = match level > group.top() {
            true => below.close(self, built, Set::EMPTY, level)?,
            false => built,
        };
        self.protected.truncate(roots);
        self.remember(key, result);
        Ok(result)
    }

    /// Appends a value and its tail to a list under construction, whose tails are protected.
    fn piece(&mut self, values: &mut Vec<u32>, value: u32, down: Set) {
        values.push(value);
        self.protected.push(down);
    }

    fn image_skip<B: Below>(
        &mut self,
        below: &mut B,
        set: Set,
        relation: Set,
        (group, level): (&Group, usize),
    ) -> Result<Set, B::Error> {
        let (mut values, mut rest) = (Vec::new(), set);
        while !rest.is_terminal() {
            let Node { value, down, right } = self.nodes.get(rest);
            let down = self.image_by(below, down, relation, (group, level + 1))?;
            self.piece(&mut values, value, down);
            rest = right;
        }
        Ok(self.assemble(&values)?)
    }

    fn image_read<B: Below>(
        &mut self,
        below: &mut B,
        set: Set,
        relation: Set,
        (group, level): (&Group, usize),
    ) -> Result<Set, B::Error> {
        let (mut values, mut both) = (Vec::new(), Matches::new(set, relation));
        while let Some((value, down, further)) = both.next(self) {
            let down = self.image_by(below, down, further, (group, level + 1))?;
            self.piece(&mut values, value, down);
        }
        Ok(self.assemble(&values)?)
    }

    fn image_write<B: Below>(
        &mut self,
        below: &mut B,
        set: Set,
        relation: Set,
        at: (&Group, usize),
    ) -> Result<Set, B::Error> {
        let (mut tails, mut rest) = (Set::EMPTY, set);
        while !rest.is_terminal() {
            let Node { down, right, .. } = self.nodes.get(rest);
            tails = self.union(tails, down)?;
            rest = right;
        }
        self.protect(tails);
        let list = self.written(below, tails, relation, at)?;
        self.unprotect(1);
        Ok(list)
    }

    fn image_both<B: Below>(
        &mut self,
        below: &mut B,
        set: Set,
        relation: Set,
        at: (&Group, usize),
    ) -> Result<Set, B::Error> {
        let (mut all, mut both) = (Set::EMPTY, Matches::new(set, relation));
        while let Some((_, down, new)) = both.next(self) {
            self.protect(all);
            let list = self.written(below, down, new, at)?;
            self.unprotect(1);
            all = self.union(all, list)?;
        }
        Ok(all)
    }

    /// The list of the values that are written, each followed by what the rest of the group makes of `tails`.
    fn written<B: Below>(
        &mut self,
        below: &mut B,
        tails: Set,
        new: Set,
        (group, level): (&Group, usize),
    ) -> Result<Set, B::Error> {
        let (mut values, mut rest) = (Vec::new(), new);
        while !rest.is_terminal() {
            let Node { value, down: further, right } = self.nodes.get(rest);
            let down = self.image_by(below, tails, further, (group, level + 1))?;
            self.piece(&mut values, value, down);
            rest = right;
        }
        Ok(self.assemble(&values)?)
    }

    /// The operands are the set, the relation, and the universe.
    pub(crate) fn pre_image_by<B: Below>(
        &mut self,
        below: &mut B,
        operands: [Set; 3],
        (group, level): (&Group, usize),
    ) -> Result<Set, B::Error> {
        let [set, relation, universe] = operands;
        if operands.contains(&Set::EMPTY) {
            return Ok(Set::EMPTY);
        }
        if level > group.last() {
            debug_assert_eq!(relation, Set::UNIT, "a relation ends with its group");
            // What was closed within another universe need not be closed within this one.
            let inside = self.intersect(set, universe)?;
            return below.close(self, inside, universe, level);
        }
        let key = Key::at(B::PRE_IMAGE, group.number, level, operands);
        if let Some(known) = self.cache.get(key) {
            return Ok(known);
        }
        let roots = self.protected.len();
        self.protected.extend(operands);
        let (mut values, mut rest) = (Vec::new(), universe);
        while !rest.is_terminal() {
            let Node { value, down, right } = self.nodes.get(rest);
            let before = self.before_value(below, value, [set, relation, down], (group, level))?;
            self.piece(&mut values, value, before);
            rest = right;
        }
        let built = self.assemble(&values)?;
        let result = match level > group.top() {
            true => below.close(self, built, universe, level)?,
            false => built,
        };
        self.protected.truncate(roots);
        self.remember(key, result);
        Ok(result)
    }

    /// The tails, within a universe of tails, from which a step leads from this `value` into the set.
    fn before_value<B: Below>(
        &mut self,
        below: &mut B,
        value: u32,
        [set, relation, universe]: [Set; 3],
        (group, level): (&Group, usize),
    ) -> Result<Set, B::Error> {
        let next = (group, level + 1);
        let tail = |ldd: &Ldd, set| ldd.tail_of(set, value);
        match group.access(level) {
            Access::Skip => self.pre_image_by(below, [tail(self, set), relation, universe], next),
            Access::Read => {
                let operands = [tail(self, set), tail(self, relation), universe];
                self.pre_image_by(below, operands, next)
            }
            Access::Write => self.before_written(below, [set, relation, universe], next),
            Access::Both => self.before_written(below, [set, tail(self, relation), universe], next),
        }
    }

    /// The tails from which a step that writes one of the values `new` leads into the set.
    fn before_written<B: Below>(
        &mut self,
        below: &mut B,
        [set, new, universe]: [Set; 3],
        next: (&Group, usize),
    ) -> Result<Set, B::Error> {
        let (mut all, mut both) = (Set::EMPTY, Matches::new(set, new));
        while let Some((_, down, further)) = both.next(self) {
            self.protect(all);
            let before = self.pre_image_by(below, [down, further, universe], next)?;
            self.unprotect(1);
            all = self.union(all, before)?;
        }
        Ok(all)
    }

    /// What follows a value in a set.
    pub(crate) fn tail_of(&self, set: Set, value: u32) -> Set {
        let mut found = self.list(set).skip_while(|node| node.value < value);
        found.next().filter(|node| node.value == value).map_or(Set::EMPTY, |node| node.down)
    }
}

/// The values that two lists have in common.
struct Matches {
    a: Set,
    b: Set,
}

impl Matches {
    fn new(a: Set, b: Set) -> Self {
        Matches { a, b }
    }

    /// The next common value, with what follows it in each list.
    fn next(&mut self, ldd: &Ldd) -> Option<(u32, Set, Set)> {
        while !self.a.is_terminal() && !self.b.is_terminal() {
            let (x, y) = (ldd.nodes.get(self.a), ldd.nodes.get(self.b));
            if x.value <= y.value {
                self.a = x.right;
            }
            if y.value <= x.value {
                self.b = y.right;
            }
            if x.value == y.value {
                return Some((x.value, x.down, y.down));
            }
        }
        None
    }
}
