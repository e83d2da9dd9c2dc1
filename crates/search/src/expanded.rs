//! Which states may have been expanded: a filter that errs on one side only.
//!
//! A reduced state needs a successor that is expanded after it. A store tells new states from known ones, but
//! a known state may still wait in the queue, and in a search by levels most do. So states are noted as they
//! are taken from the queue, each as one bit of a hash (Bloom's filter with one hash function): what is not
//! noted has surely not been expanded. What is noted by chance costs some reduction and nothing else.
//!
//! The filter grows by adding a larger part when the last one is full, so nothing need be kept of a state but
//! its bit. Workers share it. Each notes a state before it looks whether the successors are noted, in one
//! order for all (`SeqCst`), so of several states that rely on each other in a circle the one noted last sees
//! that it must not.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Bits for each state.
const BITS: u64 = 16;
/// States in the first part.
const FIRST: u64 = 1 << 10;
/// States for which a worker asks for room at a time.
const SHARE: u32 = 1 << 8;
/// The most parts, each twice as large as the one before.
const PARTS: usize = 40;

/// Which states may have been expanded, for all workers.
#[derive(Debug)]
pub(crate) struct Expanded {
    /// A part that could not be made is empty, and holds everything.
    parts: [OnceLock<Vec<AtomicU64>>; PARTS],
    /// Room that was given to workers.
    given: AtomicU64,
}

impl Default for Expanded {
    fn default() -> Self {
        Expanded { parts: [const { OnceLock::new() }; PARTS], given: AtomicU64::new(0) }
    }
}

/// One worker's access to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Noting {
    all: Arc<Expanded>,
    part: usize,
    room: u32,
}

impl Noting {
    /// For another worker.
    pub fn another(&self) -> Self {
        Noting { all: Arc::clone(&self.all), part: 0, room: 0 }
    }

    /// Notes the states with these hashes. A worker that is alone need not wait for each before the next.
    #[inline]
    pub fn note_all(&mut self, hashes: &[u64]) {
        // A team keeps an access of its own, so that no worker of it takes itself for alone.
        let alone = Arc::strong_count(&self.all) == 1;
        for &hash in hashes {
            self.note(hash, alone);
        }
    }

    #[inline]
    fn note(&mut self, hash: u64, alone: bool) {
        if self.room == 0 {
            self.ask();
        }
        self.room -= 1;
        if let Some((word, bit)) = self.all.parts[self.part].get().and_then(|part| place(part, hash)) {
            // With others the bit must be seen by whoever notes its own state later: see the top of this
            // file.
            if alone {
                word.store(word.load(Ordering::Relaxed) | bit, Ordering::Relaxed);
            } else {
                word.fetch_or(bit, Ordering::SeqCst);
            }
        }
    }

    /// Asks for room in the last part, and makes it if need be.
    #[cold]
    fn ask(&mut self) {
        let given = self.all.given.fetch_add(u64::from(SHARE), Ordering::Relaxed);
        self.part = ((given / FIRST + 1).ilog2() as usize).min(PARTS - 1);
        self.room = SHARE;
        self.all.parts[self.part].get_or_init(|| {
            let words = ((FIRST << self.part) * BITS / 64) as usize;
            let mut part = Vec::new();
            if part.try_reserve_exact(words).is_ok() {
                part.resize_with(words, AtomicU64::default);
            }
            part
        });
    }

    /// Whether the state with this hash may have been expanded; a *no* is sure.
    pub fn may_hold(&self, hash: u64) -> bool {
        // Workers may make parts in another order than that of their sizes.
        self.all.parts.iter().filter_map(OnceLock::get).any(|part| match place(part, hash) {
            Some((word, bit)) => word.load(Ordering::SeqCst) & bit != 0,
            None => true,
        })
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> u64 {
        self.all.parts.iter().filter_map(OnceLock::get).map(|part| part.capacity() as u64 * 8).sum()
    }
}

/// The word and the bit of a hash, the number of words being a power of two.
#[inline]
fn place(part: &[AtomicU64], hash: u64) -> Option<(&AtomicU64, u64)> {
    let mask = part.len().checked_sub(1)?;
    Some((&part[(hash >> 8) as usize & mask], 1 << (hash & 63)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_is_found_and_most_others_are_not() {
        let mut one = Noting::default();
        let mut other = one.another();
        assert!(!one.may_hold(7));
        let hash = |n: u64| store::hash::hash(&n.to_le_bytes());
        for n in 0..50_000 {
            let one = if n % 3 == 0 { &mut one } else { &mut other };
            one.note_all(&[hash(n)]);
        }
        assert!((0..50_000).all(|n| one.may_hold(hash(n)) && other.may_hold(hash(n))));
        let wrong = (50_000..60_000).filter(|&n| one.may_hold(hash(n))).count();
        assert!(wrong < 3_500, "{wrong} of 10,000");
        assert!(one.memory() < 50_000 * 8);
        let mut alone = Noting::default();
        alone.note_all(&[hash(1), hash(2)]);
        assert!(alone.may_hold(hash(1)) && alone.may_hold(hash(2)) && !alone.may_hold(hash(3)));
    }
}
