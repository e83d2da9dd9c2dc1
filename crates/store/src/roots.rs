//! The roots of all keys of one length: an exact set of pairs of names.
//!
//! Roots are kept quotiented, so every bit of a name costs memory. Names begin small, and nobody knows how
//! large they will get. So there are several sets, each for wider names than the one before; a root belongs
//! to the first into which it fits. That is never looked up in two of them, nothing moves when names get
//! longer, and roots of short names have short entries forever.
//!
//! A set can also be a map that gives every root a number ([`RootSet::numbered`]): the number is the
//! satellite of the root's entry, eight bytes together in a large set. Roots of names so wide that entry and
//! number do not fit into a word lie in a hash map ([`WideRoots`]): these are roots of words, not of names,
//! and so of keys of a few bytes.
//!
//! `tree` and `cleary` differ in how much room is left: `tree` spends memory where that saves time. (Roots
//! whole, in 64 bits, took two to three times the memory of `tree` and more time: that they need not be taken
//! apart is little compared with what waiting for a larger table costs.)

use crate::Full;
use crate::budget::Budget;
use crate::compact::{Compact, Crowded, Growth, Mixed, Untold};
use crate::wide_roots::WideRoots;

/// How roots are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// With much room: for speed.
    Roomy,
    /// With little room: for memory.
    Cleary,
}

/// Bits by which the names of one set are longer than those of the one before.
const STEP: u32 = 2;
/// Bits of a root's number.
const NUMBER_BITS: u32 = 32;
/// A map of roots and numbers may begin with this number of bytes,
const FIRST_BYTES: u64 = 1 << 18;
/// or with as many for each root that is there already.
const BYTES_PER_ROOT: u64 = 4;
/// No set yet.
const NOWHERE: u8 = u8::MAX;

/// A set of pairs of names.
#[derive(Debug)]
pub struct RootSet {
    kind: Kind,
    /// Roots have numbers.
    numbered: bool,
    sets: Vec<Set>,
    /// Which set takes names of these numbers of bits, left and right.
    classes: Box<[[u8; 33]; 33]>,
}

/// New roots that a worker has not told a set of.
#[derive(Debug, Default)]
pub struct UntoldRoots(Vec<Untold>);

impl UntoldRoots {
    #[inline]
    fn of(&mut self, class: usize) -> &mut Untold {
        if self.0.len() <= class {
            self.0.resize_with(class + 1, Untold::default);
        }
        &mut self.0[class]
    }

    /// How many there are.
    pub fn sum(&self) -> u64 {
        self.0.iter().map(Untold::sum).sum()
    }
}

/// Where a root is to be looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Location {
    class: u8,
    key: Mixed,
}

/// The roots whose names have at most a number of bits.
#[derive(Debug)]
struct Set {
    bits: (u32, u32),
    roots: Compact,
    /// Roots and numbers that do not fit into `roots`, which is empty then.
    wide: Option<WideRoots>,
}

impl Set {
    #[inline]
    fn key(&self, root: (u32, u32)) -> u64 {
        key_of(root, self.bits)
    }
}

/// Both names of a root in one number.
#[inline]
fn key_of((left, right): (u32, u32), bits: (u32, u32)) -> u64 {
    u64::from(left) << bits.1 | u64::from(right)
}

#[inline]
fn bits(name: u32) -> u32 {
    32 - name.leading_zeros()
}

impl RootSet {
    /// An empty set.
    pub fn new(kind: Kind, budget: &mut Budget) -> Result<Self, Full> {
        budget.take(size_of::<[[u8; 33]; 33]>())?;
        Ok(RootSet { kind, numbered: false, sets: Vec::new(), classes: Box::new([[NOWHERE; 33]; 33]) })
    }

    /// An empty set of roots with numbers.
    pub fn numbered(kind: Kind, budget: &mut Budget) -> Result<Self, Full> {
        Ok(RootSet { numbered: true, ..RootSet::new(kind, budget)? })
    }

    /// Whether roots have numbers.
    pub fn is_numbered(&self) -> bool {
        self.numbered
    }

    /// How many roots there are.
    pub fn len(&self) -> u64 {
        let of = |set: &Set| set.roots.len() + set.wide.as_ref().map_or(0, WideRoots::len);
        self.sets.iter().map(of).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where a root is to be looked for. That stays the same when the set grows.
    #[inline]
    pub fn locate(&self, root: (u32, u32)) -> Location {
        let class = self.classes[bits(root.0) as usize][bits(root.1) as usize];
        match self.sets.get(usize::from(class)) {
            Some(set) => Location { class, key: set.roots.mixed(set.key(root)) },
            None => Location { class: NOWHERE, key: Mixed::default() },
        }
    }

    /// Where a root is to be looked for; the memory there is asked for.
    #[inline(always)]
    pub fn probe(&self, root: (u32, u32)) -> Location {
        let class = self.classes[bits(root.0) as usize][bits(root.1) as usize];
        match self.sets.get(usize::from(class)) {
            Some(set) => {
                let key = set.roots.mixed(set.key(root));
                set.roots.prefetch(key);
                Location { class, key }
            }
            None => Location { class: NOWHERE, key: Mixed::default() },
        }
    }

    /// Inserts a root that was located; true when it is new.
    #[inline(always)]
    pub fn insert(&mut self, root: (u32, u32), at: Location, budget: &mut Budget) -> Result<bool, Full> {
        debug_assert!(!self.numbered);
        match self.sets.get_mut(usize::from(at.class)) {
            Some(set) => Ok(set.roots.insert(at.key, budget)?.1),
            None => self.insert_wider(root, budget),
        }
    }

    /// Inserts a root for which there was no set when it was located.
    #[cold]
    fn insert_wider(&mut self, root: (u32, u32), budget: &mut Budget) -> Result<bool, Full> {
        self.locate_or_add(root)?;
        let at = self.locate(root);
        let set = self.sets.get_mut(usize::from(at.class)).ok_or(Full)?;
        Ok(set.roots.insert(at.key, budget)?.1)
    }

    /// The number of a root that was located, if it is there.
    #[inline]
    pub fn number(&self, root: (u32, u32), at: Location) -> Option<u32> {
        debug_assert!(self.numbered);
        let at = if at.class == NOWHERE { self.locate(root) } else { at };
        let set = self.sets.get(usize::from(at.class))?;
        match &set.wide {
            Some(wide) => wide.get(set.key(root)),
            None => set.roots.find(at.key).map(|slot| set.roots.satellite(slot) as u32),
        }
    }

    /// The number of a root that was located, which is `number` if the root is new; whether it is.
    #[inline]
    pub fn visit(
        &mut self,
        root: (u32, u32),
        at: Location,
        number: u32,
        budget: &mut Budget,
    ) -> Result<(u32, bool), Full> {
        debug_assert!(self.numbered);
        let mut at = at;
        if at.class == NOWHERE {
            self.locate_or_add(root)?;
            at = self.locate(root);
        }
        let set = self.sets.get_mut(usize::from(at.class)).ok_or(Full)?;
        let key = set.key(root);
        let Some(wide) = &set.wide else {
            let (slot, new) = set.roots.insert_with(at.key, u64::from(number), budget)?;
            return Ok((set.roots.satellite(slot) as u32, new));
        };
        loop {
            match wide.visit(key, number) {
                Ok(visit) => return Ok(visit),
                Err(Crowded) => wide.make_room(key, budget)?,
            }
        }
    }

    /// The number of a root that was located, which is `number` if the root is new; whether it is. Others may
    /// do the same.
    #[inline]
    pub fn visit_shared(
        &self,
        root: (u32, u32),
        at: Location,
        number: u32,
        untold: &mut UntoldRoots,
    ) -> Result<(u32, bool), Crowded> {
        debug_assert!(self.numbered);
        let at = if at.class == NOWHERE { self.locate(root) } else { at };
        let class = usize::from(at.class);
        let set = self.sets.get(class).ok_or(Crowded)?;
        if let Some(wide) = &set.wide {
            return wide.visit(set.key(root), number);
        }
        let (slot, new) = set.roots.insert_shared_with(at.key, u64::from(number), untold.of(class))?;
        Ok((set.roots.satellite(slot) as u32, new))
    }

    /// Inserts a root that was located, while others may do the same; true when it is new.
    #[inline]
    pub fn insert_shared(
        &self,
        root: (u32, u32),
        at: Location,
        untold: &mut UntoldRoots,
    ) -> Result<bool, Crowded> {
        let at = if at.class == NOWHERE { self.locate(root) } else { at };
        let class = usize::from(at.class);
        let set = self.sets.get(class).ok_or(Crowded)?;
        set.roots.insert_shared(at.key, untold.of(class))
    }

    #[cold]
    fn locate_or_add(&mut self, root: (u32, u32)) -> Result<(), Full> {
        if self.locate(root).class == NOWHERE { self.add_set(root) } else { Ok(()) }
    }

    /// Tells of all new roots, for a worker who is done.
    pub fn tell(&self, untold: &mut UntoldRoots) {
        self.sets.iter().zip(&mut untold.0).for_each(|(set, untold)| set.roots.tell(untold));
    }

    /// How much room there is where a root belongs, which changes when and only when room is made there.
    pub fn room(&self, root: (u32, u32)) -> u64 {
        let at = self.locate(root);
        let of =
            |set: &Set| set.wide.as_ref().map_or(set.roots.room(at.key), |wide| wide.room(set.key(root)));
        self.sets.get(usize::from(at.class)).map_or(0, |set| 1 + of(set))
    }

    /// Makes room where a root belongs, with up to `threads` threads.
    pub fn make_room(&mut self, root: (u32, u32), budget: &mut Budget, threads: usize) -> Result<(), Full> {
        let at = self.locate(root);
        match self.sets.get_mut(usize::from(at.class)) {
            Some(Set { wide: Some(wide), bits, .. }) => wide.make_room(key_of(root, *bits), budget),
            Some(set) => set.roots.make_room(at.key, budget, threads),
            None => self.add_set(root),
        }
    }

    /// Whether a root that was located is there.
    #[inline]
    pub fn contains(&self, root: (u32, u32), at: Location) -> bool {
        let at = if at.class == NOWHERE { self.locate(root) } else { at };
        let is_in = |set: &Set| match &set.wide {
            None => set.roots.find(at.key).is_some(),
            Some(wide) => wide.get(set.key(root)).is_some(),
        };
        self.sets.get(usize::from(at.class)).is_some_and(is_in)
    }

    /// Calls `each` for every root.
    pub fn for_each(&self, mut each: impl FnMut((u32, u32))) {
        for set in &self.sets {
            let right = set.bits.1;
            let mut each = |key: u64| each(((key >> right) as u32, (key & ((1 << right) - 1)) as u32));
            set.roots.for_each(|key, _| each(key));
            set.wide.iter().for_each(|wide| wide.for_each(&mut each));
        }
    }

    /// All roots, in no order that means anything.
    pub fn to_vec(&self) -> Vec<(u32, u32)> {
        let mut all = Vec::with_capacity(self.len() as usize);
        self.for_each(|root| all.push(root));
        all
    }

    /// A set for roots that fit into none.
    #[cold]
    fn add_set(&mut self, root: (u32, u32)) -> Result<(), Full> {
        let before = self.sets.last().map_or((0, 0), |set| set.bits);
        let wider = |name: u32, before: u32| bits(name).next_multiple_of(STEP).max(before);
        let bits = (wider(root.0, before.0), wider(root.1, before.1));
        let growth = match self.kind {
            Kind::Roomy => Growth::Double,
            Kind::Cleary => Growth::Half,
        };
        let class = u8::try_from(self.sets.len()).map_err(|_| Full)?;
        let width = bits.0 + bits.1;
        let satellites = if self.numbered { NUMBER_BITS } else { 0 };
        let most = FIRST_BYTES.max(self.len() * BYTES_PER_ROOT);
        let is_wide = self.numbered && Compact::least_memory(width, satellites) > most;
        let roots = Compact::new(width, if is_wide { 0 } else { satellites }, growth);
        self.sets.push(Set { bits, roots, wide: is_wide.then(WideRoots::new) });
        for row in &mut self.classes[..=bits.0 as usize] {
            row[..=bits.1 as usize]
                .iter_mut()
                .filter(|known| **known == NOWHERE)
                .for_each(|known| *known = class);
        }
        Ok(())
    }

    /// Gives the memory back.
    pub fn release(self, budget: &mut Budget) {
        for set in self.sets {
            set.roots.release(budget);
            set.wide.into_iter().for_each(|wide| wide.release(budget));
        }
        budget.give(size_of::<[[u8; 33]; 33]>());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{HashMap, HashSet};

    #[test]
    fn agrees_with_the_standard_library() {
        for kind in [Kind::Roomy, Kind::Cleary] {
            let budget = &mut Budget::new(u64::MAX);
            let mut set = RootSet::new(kind, budget).unwrap();
            let mut model = HashSet::new();
            let mut seed = 12u64;
            for i in 1..60_000u32 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let widest = 1 + i.ilog2().min(30);
                let root = ((seed >> 33) as u32 >> (31 - widest), (seed >> 9) as u32 % (1 + i / 50));
                let at = set.probe(root);
                assert_eq!(at, set.locate(root));
                assert_eq!(set.contains(root, at), model.contains(&root));
                assert_eq!(set.insert(root, at, budget), Ok(model.insert(root)), "{root:?}");
            }
            let mut all = HashSet::new();
            set.for_each(|root| assert!(all.insert(root)));
            assert_eq!(all, model);
            assert_eq!(set.len(), model.len() as u64);
            for root in [(u32::MAX, 0), (0, u32::MAX), (u32::MAX, u32::MAX)] {
                let at = set.locate(root);
                assert!(!set.contains(root, at));
                assert_eq!(set.insert(root, at, budget), Ok(true));
                assert_eq!(set.insert(root, at, budget), Ok(false));
                assert!(set.contains(root, at));
            }
            set.release(budget);
            assert_eq!(budget.used(), 0);
        }
    }

    /// Roots of names and of words, so wide that some do not fit beside their numbers.
    #[test]
    fn numbers_stay_with_their_roots() {
        for kind in [Kind::Roomy, Kind::Cleary] {
            let budget = &mut Budget::new(u64::MAX);
            let mut set = RootSet::numbered(kind, budget).unwrap();
            let (mut model, mut seed) = (HashMap::new(), 12u64);
            for i in 1..60_000u32 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let widest = 1 + i.ilog2().min(30);
                let root = ((seed >> 33) as u32 >> (31 - widest), (seed >> 9) as u32 % (1 + i / 50));
                let root = if i % 1000 == 999 { (root.0 << 12, u32::MAX - root.1) } else { root };
                let at = set.probe(root);
                assert_eq!(set.number(root, at), model.get(&root).copied());
                let (number, new) = set.visit(root, at, i, budget).unwrap();
                assert_eq!(new, !model.contains_key(&root));
                assert_eq!(number, *model.entry(root).or_insert(i));
            }
            assert!(set.sets.iter().any(|set| set.wide.is_some()));
            assert_eq!(set.len(), model.len() as u64);
            for root in set.to_vec() {
                assert_eq!(set.number(root, set.locate(root)), model.get(&root).copied());
                assert!(set.contains(root, set.locate(root)));
            }
            set.release(budget);
            assert_eq!(budget.used(), 0);
        }
    }
}
