//! The inner nodes at one place of a tree: pairs of 32-bit numbers, each pair kept once and named by a 32-bit number.
//!
//! Names are dense and never change, so that what refers to a node survives growth. Every place of a tree has names of
//! its own: names stay short, which makes quotiented roots narrow, and the tables of most places are so small that they
//! stay in the cache.
//!
//! The pairs lie in an array by name, beside an index of open addressing. A slot of the index has 32 bits: the name, and
//! above it as much of the hash as there is room for, so that a look-up hardly ever reads a wrong pair.
//!
//! **Threads.** Most look-ups find their pair, so they need no lock: a slot is written after its pair. Who does not find one
//! looks again under a lock and adds it ([`Nodes::insert_shared`]): a pair must never get two names. Growth needs the table
//! alone.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};
use std::sync::{Mutex, PoisonError};

use crate::Full;
use crate::budget::Budget;
use crate::compact::Crowded;

/// Slots of a new index.
const FIRST_SLOTS: usize = 8;
/// Pairs for which a new table has room.
const FIRST_PAIRS: usize = 4;
/// Up to so many elements growth doubles; above it is slower, so that little is allocated in vain.
const SMALL: usize = 1 << 12;
/// The most nodes of one place.
const MOST: usize = (1 << 31) - 1;

/// Two halves as one word.
pub fn pair(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// The halves of a word.
pub fn halves(pair: u64) -> (u32, u32) {
    ((pair >> 32) as u32, pair as u32)
}

fn hash(pair: u64) -> u64 {
    let product = u128::from(pair ^ 0x8cb9_2ba7_2f3d_8dd7) * 0x9e37_79b9_7f4a_7c15;
    let folded = (product >> 64) as u64 ^ product as u64;
    folded.wrapping_mul(0xd1b5_4a32_d192_ed03)
}

/// The inner nodes of one place.
#[derive(Debug)]
pub struct Nodes {
    /// By name; there is room behind the last one.
    pairs: Vec<AtomicU64>,
    len: AtomicUsize,
    /// Part of the hash and name + 1, or 0 for an empty slot.
    slots: Vec<AtomicU32>,
    /// The bits of a slot that hold the name.
    name_mask: u32,
    /// Held by who adds a pair, when there are several who may.
    adding: Mutex<()>,
}

impl Nodes {
    /// No nodes.
    pub fn new(budget: &mut Budget) -> Result<Self, Full> {
        let slots = empty(FIRST_SLOTS, budget)?;
        let (len, name_mask) = (AtomicUsize::new(0), name_mask(slots.len()));
        Ok(Nodes { pairs: Vec::new(), len, name_mask, slots, adding: Mutex::new(()) })
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
        self.pairs.capacity() as u64 * 8 + self.slots.capacity() as u64 * 4
    }

    /// The pair with this name.
    #[inline]
    pub fn get(&self, name: u32) -> u64 {
        self.pairs[name as usize].load(Relaxed)
    }

    /// Its name, or the slot where it belongs.
    #[inline]
    fn probe(&self, pair: u64, hash: u64) -> Result<u32, usize> {
        let mut at = home(hash, self.slots.len());
        loop {
            let slot = self.slots[at].load(Acquire);
            if slot == 0 {
                return Err(at);
            }
            if (slot ^ hash as u32) & !self.name_mask == 0 {
                let name = (slot & self.name_mask) - 1;
                if self.get(name) == pair {
                    return Ok(name);
                }
            }
            at += 1;
            at = if at == self.slots.len() { 0 } else { at };
        }
    }

    /// The name of a pair that is there.
    pub fn find(&self, pair: u64) -> Option<u32> {
        self.probe(pair, hash(pair)).ok()
    }

    /// The name of a pair, which is added if it is new.
    #[inline]
    pub fn insert(&mut self, pair: u64, budget: &mut Budget) -> Result<u32, Full> {
        let hash = hash(pair);
        match self.probe(pair, hash) {
            Ok(name) => Ok(name),
            Err(at) => self.add(pair, hash, at, budget),
        }
    }

    #[cold]
    fn add(&mut self, pair: u64, hash: u64, mut at: usize, budget: &mut Budget) -> Result<u32, Full> {
        if !self.has_room(1) {
            self.make_room(1, budget)?;
            at = self.probe(pair, hash).err().ok_or(Full)?;
        }
        Ok(self.put(pair, hash, at))
    }

    /// The name of a pair, which is added if it is new, while others may do the same.
    #[inline]
    pub fn insert_shared(&self, pair: u64) -> Result<u32, Crowded> {
        let hash = hash(pair);
        self.probe(pair, hash).or_else(|_| self.add_shared(pair, hash))
    }

    #[cold]
    fn add_shared(&self, pair: u64, hash: u64) -> Result<u32, Crowded> {
        let _adding = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        match self.probe(pair, hash) {
            Ok(name) => Ok(name),
            Err(_) if !self.has_room(1) => Err(Crowded),
            Err(at) => Ok(self.put(pair, hash, at)),
        }
    }

    /// Whether so many pairs can be added. The index is half empty, so that nearly every look-up ends at the first slot.
    pub fn has_room(&self, more: usize) -> bool {
        self.len() + more <= self.pairs.len() && (self.len() + more) * 2 <= self.slots.len()
    }

    /// Makes room for so many more pairs, which are few compared with those that are there.
    #[cold]
    pub fn make_room(&mut self, more: usize, budget: &mut Budget) -> Result<(), Full> {
        if self.len() + more > self.pairs.len() {
            self.grow_pairs(budget)?;
        }
        if (self.len() + more) * 2 > self.slots.len() {
            self.grow_index(budget)?;
        }
        Ok(())
    }

    /// So many pairs should be expected soon.
    pub fn some_more(&self) -> usize {
        1 + self.len() / 16
    }

    /// Adds a pair, for who alone may add.
    fn put(&self, pair: u64, hash: u64, at: usize) -> u32 {
        let name = self.len();
        self.pairs[name].store(pair, Relaxed);
        self.len.store(name + 1, Relaxed);
        // In this order: who sees the slot sees the pair.
        self.slots[at].store(slot(hash, name as u32, self.name_mask), Release);
        name as u32
    }

    /// While they grow, old and new pairs may exist together, and the budget counts both.
    fn grow_pairs(&mut self, budget: &mut Budget) -> Result<(), Full> {
        let len = self.pairs.len();
        if len >= MOST {
            return Err(Full);
        }
        let wanted = len + if len <= SMALL { len.max(FIRST_PAIRS) } else { len / 8 };
        budget.take(wanted * 8)?;
        if self.pairs.try_reserve_exact(wanted - len).is_err() {
            budget.give(wanted * 8);
            return Err(Full);
        }
        budget.give(len * 8);
        self.pairs.resize_with(wanted, AtomicU64::default);
        Ok(())
    }

    fn grow_index(&mut self, budget: &mut Budget) -> Result<(), Full> {
        let len = self.slots.len();
        let mut slots = empty(len + if len <= SMALL { len } else { len / 2 }, budget)?;
        self.name_mask = name_mask(slots.len());
        for (name, pair) in self.pairs[..self.len()].iter().enumerate() {
            let hash = hash(pair.load(Relaxed));
            let mut at = home(hash, slots.len());
            while *slots[at].get_mut() != 0 {
                at = (at + 1) % slots.len();
            }
            *slots[at].get_mut() = slot(hash, name as u32, self.name_mask);
        }
        budget.free(std::mem::replace(&mut self.slots, slots));
        Ok(())
    }

    /// Forgets how to find pairs; only [`Nodes::get`] may be used from now on.
    pub fn freeze(&mut self, budget: &mut Budget) {
        budget.free(std::mem::take(&mut self.slots));
    }
}

/// So many empty slots.
fn empty(slots: usize, budget: &mut Budget) -> Result<Vec<AtomicU32>, Full> {
    let mut memory = budget.reserved(slots)?;
    memory.resize_with(slots, AtomicU32::default);
    Ok(memory)
}

/// Where the search for a pair begins.
#[inline]
fn home(hash: u64, slots: usize) -> usize {
    (((hash >> 32) * slots as u64) >> 32) as usize
}

fn slot(hash: u64, name: u32, name_mask: u32) -> u32 {
    hash as u32 & !name_mask | (name + 1)
}

/// The bits that the names of so many slots need.
fn name_mask(slots: usize) -> u32 {
    u32::MAX >> (slots as u32).leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_dense_and_stay() {
        let budget = &mut Budget::new(u64::MAX);
        let mut nodes = Nodes::new(budget).unwrap();
        let key = |i: u32| pair(i % 1000, i.wrapping_mul(2_654_435_761));
        for i in 0..50_000 {
            assert_eq!(nodes.insert(key(i), budget), Ok(i));
        }
        for i in 0..50_000 {
            assert_eq!(nodes.insert(key(i), budget), Ok(i));
            assert_eq!(nodes.find(key(i)), Some(i));
            assert_eq!(nodes.get(i), key(i));
            assert_eq!(halves(key(i)), (i % 1000, i.wrapping_mul(2_654_435_761)));
        }
        assert_eq!(nodes.find(pair(1, 1)), None);
        assert_eq!(nodes.len(), 50_000);
        assert_eq!(budget.used(), nodes.memory());
        nodes.freeze(budget);
        assert_eq!(nodes.get(49_999), key(49_999));
        assert_eq!(budget.used(), nodes.memory());
    }

    #[test]
    fn workers_give_a_pair_one_name() {
        const PAIRS: u32 = 30_000;
        let budget = &mut Budget::new(u64::MAX);
        let mut nodes = Nodes::new(budget).unwrap();
        let key = |i: u32| pair(i / 7, i);
        let mut next = [0u32; 4];
        while next.iter().any(|&n| n < PAIRS) {
            std::thread::scope(|scope| {
                for (worker, next) in (0u32..).zip(&mut next) {
                    let nodes = &nodes;
                    scope.spawn(move || {
                        while *next < PAIRS {
                            // The halves of the workers begin elsewhere.
                            let i = (*next + worker % 2 * PAIRS / 2) % PAIRS;
                            match nodes.insert_shared(key(i)) {
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
        assert_eq!(nodes.len(), PAIRS as usize, "no pair has two names");
        let mut names: Vec<u32> = (0..PAIRS).map(|i| nodes.find(key(i)).unwrap()).collect();
        names.sort_unstable();
        assert!(names.into_iter().eq(0..PAIRS));
    }

    #[test]
    fn the_limit_is_kept() {
        let budget = &mut Budget::new(100_000);
        let mut nodes = Nodes::new(budget).unwrap();
        let mut n = 0;
        while nodes.insert(pair(n, n), budget).is_ok() {
            n += 1;
            assert!(nodes.memory() <= 100_000);
            assert_eq!(budget.used(), nodes.memory());
        }
        assert!(n > 1000);
        assert!((0..n).all(|i| nodes.find(pair(i, i)) == Some(i)));
    }
}
