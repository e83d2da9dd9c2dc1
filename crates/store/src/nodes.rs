//! The inner nodes at one join of a tree: groups of four 32-bit numbers, each group kept once and named by a
//! 32-bit number.
//!
//! Names are dense and never change, so that what refers to a node survives growth. Every place of a tree has
//! names of its own: names stay short, which makes quotiented roots narrow, and the tables of most places are
//! so small that they stay in the cache.
//!
//! The groups lie in an array by name, beside an index of open addressing. A slot of the index has 32 bits:
//! the name, and above it as much of the hash as there is room for, so that a look-up hardly ever reads a
//! wrong group.
//!
//! **Threads.** Most look-ups find their group, so they need no lock: a slot is written after its group. Who
//! does not find one looks again under a lock and adds it ([`Nodes::insert_shared`]): a group must never get
//! two names. Growth needs the table alone.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};
use std::sync::{Mutex, PoisonError};

use crate::Full;
use crate::budget::Budget;
use crate::compact::Crowded;
use crate::pages::prefetch;
use crate::shuffle::{Piece, copy};

/// Bytes of a group.
const GROUP: usize = size_of::<Group>();
/// Slots of a new index.
const FIRST_SLOTS: usize = 8;
/// Pairs for which a new table has room.
const FIRST_GROUPS: usize = 4;
/// Up to this number of elements growth doubles; above it is slower, so that little is allocated in vain.
const SMALL: usize = 1 << 12;
/// The most nodes of one place.
const MOST: usize = (1 << 31) - 1;

/// Four numbers of 32 bits, two in a word.
pub type Group = [u64; 2];

/// Puts the name of a node into one of the four slots of the group above it.
#[inline(always)]
pub fn put(group: &mut Group, slot: usize, name: u32) {
    let (word, shift) = (&mut group[slot / 2 % 2], slot % 2 * 32);
    *word = *word & !(0xffff_ffff << shift) | u64::from(name) << shift;
}

/// The two halves of a root.
#[inline(always)]
pub fn halves(group: Group) -> (u32, u32) {
    (group[0] as u32, (group[0] >> 32) as u32)
}

/// What a group is looked up by.
#[inline(always)]
pub fn hash(group: Group) -> u64 {
    let product = u128::from(group[0] ^ 0x8cb9_2ba7_2f3d_8dd7) * u128::from(group[1] ^ 0x9e37_79b9_7f4a_7c15);
    let folded = (product >> 64) as u64 ^ product as u64;
    folded.wrapping_mul(0xd1b5_4a32_d192_ed03)
}

/// The inner nodes of one place.
#[derive(Debug)]
pub struct Nodes {
    /// By name; there is room behind the last one.
    groups: Vec<[AtomicU64; 2]>,
    len: AtomicUsize,
    /// Part of the hash and name + 1, or 0 for an empty slot.
    slots: Vec<AtomicU32>,
    /// The bits of a slot that hold the name.
    name_mask: u32,
    /// Held by who adds a group, when there are several who may.
    adding: Mutex<()>,
    /// The most groups that there may be.
    most: usize,
}

impl Nodes {
    /// No nodes.
    pub fn new(budget: &mut Budget) -> Result<Self, Full> {
        Self::with_most(MOST, budget)
    }

    /// No nodes, and never more than `most`.
    fn with_most(most: usize, budget: &mut Budget) -> Result<Self, Full> {
        let slots = empty(FIRST_SLOTS, budget)?;
        let (len, name_mask) = (AtomicUsize::new(0), name_mask(slots.len()));
        Ok(Nodes { groups: Vec::new(), len, name_mask, slots, adding: Mutex::new(()), most })
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.len.load(Relaxed)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes in use.
    pub fn memory(&self) -> u64 {
        self.groups.capacity() as u64 * GROUP as u64 + self.slots.capacity() as u64 * 4
    }

    /// The group with this name.
    #[inline]
    pub fn get(&self, name: u32) -> Group {
        let [first, second] = &self.groups[name as usize];
        [first.load(Relaxed), second.load(Relaxed)]
    }

    /// The group with this name, where it lies.
    #[inline(always)]
    pub fn group(&self, name: u32) -> &[AtomicU64; 2] {
        &self.groups[name as usize]
    }

    /// Copies the group with this name.
    #[inline(always)]
    pub fn copy(&self, name: u32, piece: &mut Piece) {
        copy(&self.groups[name as usize], piece);
    }

    /// The name of a group with this hash, if it is there.
    #[inline(always)]
    pub fn look(&self, group: Group, hash: u64) -> Option<u32> {
        self.probe(group, hash).ok()
    }

    /// Its name, or the slot where it belongs.
    #[inline(always)]
    fn probe(&self, group: Group, hash: u64) -> Result<u32, usize> {
        let mut at = home(hash, self.slots.len());
        loop {
            let slot = self.slots[at].load(Acquire);
            if slot == 0 {
                return Err(at);
            }
            // The bits of a slot above the name are a tag: nearly all slots of other groups are passed
            // without a look at the group.
            if (slot ^ hash as u32) & !self.name_mask == 0 {
                let name = (slot & self.name_mask) - 1;
                if self.get(name) == group {
                    return Ok(name);
                }
            }
            at += 1;
            at = if at == self.slots.len() { 0 } else { at };
        }
    }

    /// The name of a group that is there.
    pub fn find(&self, group: Group) -> Option<u32> {
        self.probe(group, hash(group)).ok()
    }

    /// Asks for the memory where a group with this hash must be.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        if let Some(slot) = self.slots.get(home(hash, self.slots.len())) {
            prefetch(slot);
        }
    }

    /// The name of a group with this hash, which is added if it is new.
    #[inline(always)]
    pub fn insert(&mut self, group: Group, hash: u64, budget: &mut Budget) -> Result<u32, Full> {
        match self.probe(group, hash) {
            Ok(name) => Ok(name),
            Err(at) => self.add(group, hash, at, budget),
        }
    }

    #[cold]
    fn add(&mut self, group: Group, hash: u64, mut at: usize, budget: &mut Budget) -> Result<u32, Full> {
        if !self.has_room(1) {
            self.make_room(1, budget)?;
            at = self.probe(group, hash).err().ok_or(Full)?;
        }
        Ok(self.put(group, hash, at))
    }

    /// The name of a group, which is added if it is new, while others may do the same.
    #[inline(always)]
    pub fn insert_shared(&self, group: Group, hash: u64) -> Result<u32, Crowded> {
        self.probe(group, hash).or_else(|_| self.add_shared(group, hash))
    }

    #[cold]
    fn add_shared(&self, group: Group, hash: u64) -> Result<u32, Crowded> {
        // New groups are rare compared with look-ups, which need no lock. Names must have no gaps, so that
        // groups are added one after another.
        let _adding = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        // Another worker may have added it before the lock was had.
        match self.probe(group, hash) {
            Ok(name) => Ok(name),
            Err(_) if !self.has_room(1) => Err(Crowded),
            Err(at) => Ok(self.put(group, hash, at)),
        }
    }

    /// Whether a number of groups can be added. The index is half empty, so that nearly every look-up ends at
    /// the first slot.
    pub fn has_room(&self, more: usize) -> bool {
        self.len() + more <= self.groups.len() && (self.len() + more) * 2 <= self.slots.len()
    }

    /// Makes room for a number of further groups, which are few compared with those that are there.
    #[cold]
    pub fn make_room(&mut self, more: usize, budget: &mut Budget) -> Result<(), Full> {
        if self.len() + more > self.groups.len() {
            self.grow_groups(budget)?;
        }
        if self.len() + more > self.groups.len() {
            return Err(Full);
        }
        if (self.len() + more) * 2 > self.slots.len() {
            self.grow_index(budget)?;
        }
        Ok(())
    }

    /// A number of groups should be expected soon.
    pub fn some_more(&self) -> usize {
        1 + self.len() / 16
    }

    /// Adds a group, for who alone may add.
    fn put(&self, group: Group, hash: u64, at: usize) -> u32 {
        let name = self.len();
        for (place, word) in self.groups[name].iter().zip(group) {
            place.store(word, Relaxed);
        }
        self.len.store(name + 1, Relaxed);
        // In this order: who sees the slot sees the group.
        self.slots[at].store(slot(hash, name as u32, self.name_mask), Release);
        name as u32
    }

    /// While they grow, old and new groups may exist together, and the budget counts both.
    fn grow_groups(&mut self, budget: &mut Budget) -> Result<(), Full> {
        let len = self.groups.len();
        if len >= self.most {
            return Err(Full);
        }
        let wanted = (len + if len <= SMALL { len.max(FIRST_GROUPS) } else { len / 8 }).min(self.most);
        budget.take(wanted * GROUP)?;
        if self.groups.try_reserve_exact(wanted - len).is_err() {
            budget.give(wanted * GROUP);
            return Err(Full);
        }
        budget.give(len * GROUP);
        self.groups.resize_with(wanted, Default::default);
        Ok(())
    }

    fn grow_index(&mut self, budget: &mut Budget) -> Result<(), Full> {
        let len = self.slots.len();
        let mut slots = empty(len + if len <= SMALL { len } else { len / 2 }, budget)?;
        self.name_mask = name_mask(slots.len());
        for name in 0..self.len() as u32 {
            let hash = hash(self.get(name));
            let mut at = home(hash, slots.len());
            while *slots[at].get_mut() != 0 {
                at = (at + 1) % slots.len();
            }
            *slots[at].get_mut() = slot(hash, name, self.name_mask);
        }
        budget.free(std::mem::replace(&mut self.slots, slots));
        Ok(())
    }

    /// Forgets how to find groups; only [`Nodes::get`] may be used from now on.
    pub fn freeze(&mut self, budget: &mut Budget) {
        budget.free(std::mem::take(&mut self.slots));
    }
}

/// A number of empty slots.
fn empty(slots: usize, budget: &mut Budget) -> Result<Vec<AtomicU32>, Full> {
    let mut memory = budget.reserved(slots)?;
    memory.resize_with(slots, AtomicU32::default);
    Ok(memory)
}

/// Where the search for a group begins.
#[inline]
fn home(hash: u64, slots: usize) -> usize {
    (((hash >> 32) * slots as u64) >> 32) as usize
}

fn slot(hash: u64, name: u32, name_mask: u32) -> u32 {
    hash as u32 & !name_mask | (name + 1)
}

/// The bits that the names of `slots` slots need. There may be more slots than names of 32 bits.
fn name_mask(slots: usize) -> u32 {
    u32::MAX >> u32::try_from(slots).unwrap_or(u32::MAX).leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(left: u32, right: u32) -> Group {
        [u64::from(left) << 32 | 7, u64::from(right)]
    }

    #[test]
    fn names_are_dense_and_stay() {
        let budget = &mut Budget::new(u64::MAX);
        let mut nodes = Nodes::new(budget).unwrap();
        let key = |i: u32| group(i % 1000, i.wrapping_mul(2_654_435_761));
        for i in 0..50_000 {
            assert_eq!(nodes.insert(key(i), hash(key(i)), budget), Ok(i));
        }
        for i in 0..50_000 {
            assert_eq!(nodes.insert(key(i), hash(key(i)), budget), Ok(i));
            assert_eq!(nodes.find(key(i)), Some(i));
            assert_eq!(nodes.get(i), key(i));
        }
        assert_eq!(nodes.find(group(1, 1)), None);
        assert_eq!(nodes.len(), 50_000);
        assert_eq!(budget.used(), nodes.memory());
        nodes.freeze(budget);
        assert_eq!(nodes.get(49_999), key(49_999));
        assert_eq!(budget.used(), nodes.memory());
    }

    #[test]
    fn workers_give_a_group_one_name() {
        const GROUPS: u32 = 30_000;
        let budget = &mut Budget::new(u64::MAX);
        let mut nodes = Nodes::new(budget).unwrap();
        let key = |i: u32| group(i / 7, i);
        let mut next = [0u32; 4];
        while next.iter().any(|&n| n < GROUPS) {
            std::thread::scope(|scope| {
                for (worker, next) in (0u32..).zip(&mut next) {
                    let nodes = &nodes;
                    scope.spawn(move || {
                        while *next < GROUPS {
                            // The halves of the workers begin elsewhere.
                            let i = (*next + worker % 2 * GROUPS / 2) % GROUPS;
                            match nodes.insert_shared(key(i), hash(key(i))) {
                                Ok(name) => assert_eq!(nodes.get(name), key(i)),
                                Err(Crowded) => return,
                            }
                            *next += 1;
                        }
                    });
                }
            });
            nodes.make_room(1, budget).unwrap();
        }
        assert_eq!(nodes.len(), GROUPS as usize, "no group has two names");
        let mut names: Vec<u32> = (0..GROUPS).map(|i| nodes.find(key(i)).unwrap()).collect();
        names.sort_unstable();
        assert!(names.into_iter().eq(0..GROUPS));
    }

    #[test]
    fn there_are_no_more_nodes_than_names() {
        let budget = &mut Budget::new(u64::MAX);
        let mut nodes = Nodes::with_most(5_000, budget).unwrap();
        let refused = (0..).find(|&i| nodes.insert(group(i, i), hash(group(i, i)), budget).is_err());
        assert_eq!((refused, nodes.len()), (Some(5_000), 5_000));
        assert_eq!(nodes.insert(group(5_000, 5_000), hash(group(5_000, 5_000)), budget), Err(Full));
        assert!((0..5_000).all(|i| nodes.find(group(i, i)) == Some(i)));
        assert_eq!(budget.used(), nodes.memory());
        assert_eq!(nodes.insert_shared(group(9, 10), hash(group(9, 10))), Err(Crowded));
        assert_eq!(nodes.make_room(1, budget), Err(Full));
    }

    /// Twice as many slots as names of 31 bits are more than a number of 32 bits can count.
    #[test]
    fn all_bits_of_a_slot_may_be_its_name() {
        assert_eq!((name_mask(8), name_mask(1 << 31)), (0xf, u32::MAX));
        assert_eq!((name_mask(1 << 32), name_mask(6 << 30)), (u32::MAX, u32::MAX));
        assert_eq!(slot(u64::MAX, MOST as u32 - 1, name_mask(2 * MOST)), MOST as u32);
    }

    #[test]
    fn the_limit_is_kept() {
        let budget = &mut Budget::new(100_000);
        let mut nodes = Nodes::new(budget).unwrap();
        let mut n = 0;
        while nodes.insert(group(n, n), hash(group(n, n)), budget).is_ok() {
            n += 1;
            assert!(nodes.memory() <= 100_000);
            assert_eq!(budget.used(), nodes.memory());
        }
        assert!(n > 1000);
        assert!((0..n).all(|i| nodes.find(group(i, i)) == Some(i)));
    }
}
