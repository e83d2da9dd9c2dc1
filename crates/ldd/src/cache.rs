//! Results of operations: direct-mapped, so that an entry that is in the way is forgotten.
//!
//! An operation is known by its code and up to four numbers. Nodes do not know their level, so the level
//! belongs to the key of every operation whose meaning depends on it. The cache begins small (preparing a
//! large one takes longer than many searches) and grows while much is forgotten.

use crate::nodes::{Needed, Set};

/// What was computed of what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    /// The operation, with the group and the level if it depends on them.
    pub operation: u64,
    /// Its operands.
    pub operands: [u32; 3],
}

/// The operations that are cached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are those of the functions")]
pub enum Operation {
    Union = 1,
    Intersect,
    Minus,
    Project,
    ProjectsInto,
    Image,
    PreImage,
    Saturate,
    SaturatingImage,
    SaturateBackwards,
    SaturatingPreImage,
}

impl Key {
    /// An operation on sets alone.
    #[inline(always)]
    pub fn of(operation: Operation, operands: [Set; 3]) -> Key {
        let [a, b, c] = operands;
        Key { operation: operation as u64, operands: [a.0, b.0, c.0] }
    }

    /// An operation that depends on a level, and on a group or a projection with this number.
    #[inline(always)]
    pub fn at(operation: Operation, number: usize, level: usize, operands: [Set; 3]) -> Key {
        debug_assert!(number < 1 << 24 && level < 1 << 24);
        let operation = operation as u64 | (number as u64) << 8 | (level as u64) << 32;
        let [a, b, c] = operands;
        Key { operation, operands: [a.0, b.0, c.0] }
    }

    #[inline(always)]
    fn hash(self) -> u64 {
        let [a, b, c] = self.operands;
        let (a, b, c) = (u64::from(a), u64::from(b), u64::from(c));
        let word = (a << 32 | b).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ (c ^ self.operation.rotate_left(40)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        word ^ word >> 31
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: Key,
    result: Set,
}

/// An entry that no key is equal to.
const NOTHING: Entry = Entry { key: Key { operation: 0, operands: [0; 3] }, result: Set::EMPTY };

/// Entries at the beginning.
const FIRST: usize = 1 << 10;
/// The largest number of entries.
const MOST: usize = 1 << 26;
/// Entries that there may be, however few nodes.
const FEW: usize = 1 << 16;
/// Entries that there may be for each node. (Measured: with more of them the largest searches take half the time
/// and four times the memory, others the same time.)
const FOR_EACH_NODE: usize = 2;

/// Results.
#[derive(Debug)]
pub struct Cache {
    entries: Vec<Entry>,
    /// Results that were forgotten for others since it became as large as it is.
    forgotten: usize,
}

impl Default for Cache {
    fn default() -> Self {
        Cache { entries: vec![NOTHING; FIRST], forgotten: 0 }
    }
}

impl Cache {
    /// Bytes in use.
    pub fn memory(&self) -> u64 {
        (self.entries.capacity() * size_of::<Entry>()) as u64
    }

    /// The result, if it is remembered.
    #[inline(always)]
    pub fn get(&self, key: Key) -> Option<Set> {
        let entry = &self.entries[key.hash() as usize & (self.entries.len() - 1)];
        (entry.key == key).then_some(entry.result)
    }

    /// Whether there should be more entries: many results were forgotten, and there are not too many entries
    /// for this number of nodes.
    #[inline(always)]
    pub fn is_small_for(&self, nodes: usize) -> bool {
        self.forgotten > self.entries.len() && self.entries.len() < (nodes * FOR_EACH_NODE).clamp(FEW, MOST)
    }

    /// Remembers a result.
    #[inline(always)]
    pub fn put(&mut self, key: Key, result: Set) {
        debug_assert!(key.operation != 0);
        let at = key.hash() as usize & (self.entries.len() - 1);
        let entry = &mut self.entries[at];
        self.forgotten += usize::from(entry.key.operation != 0);
        *entry = Entry { key, result };
    }

    /// Twice as many entries; without memory for them it stays as it is.
    #[cold]
    pub fn grow(&mut self) {
        let mut larger = Vec::new();
        if larger.try_reserve_exact(self.entries.len() * 2).is_err() {
            return;
        }
        larger.resize(self.entries.len() * 2, NOTHING);
        let mask = larger.len() - 1;
        for entry in self.entries.iter().filter(|entry| entry.key.operation != 0) {
            larger[entry.key.hash() as usize & mask] = *entry;
        }
        self.entries = larger;
        self.forgotten = 0;
    }

    /// Forgets what is about diagrams that are not there any more. The others have kept their names.
    pub fn retain(&mut self, needed: &Needed) {
        for entry in &mut self.entries {
            let Entry { key, result } = *entry;
            if !(key.operands.iter().all(|number| needed.has(*number)) && needed.has(result.0)) {
                *entry = NOTHING;
            }
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.fill(NOTHING);
    }
}
