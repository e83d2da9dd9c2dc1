//! Hash compaction (Wolper & Leroy 1993): only a hash of each key is kept. Lossy.
//!
//! Two keys with the same hash are taken for one, so a search may leave states out; how probable that is can
//! be said ([`Seen::omission`]). The hashes lie in a [`Compact`] set, which keeps only a part of them.

use crate::budget::Budget;
use crate::compact::{Compact, Crowded, Growth, Mixed, Untold};
use crate::concurrent::{Common, Hand, Turn};
use crate::hash::hash;
use crate::{Batched, Evicting, Full, Seen};

/// Bits of the hash that are kept.
pub const HASH_BITS: u32 = 48;

/// A set of hashes.
#[derive(Debug)]
pub struct HashCompaction {
    set: Compact,
    budget: Budget,
}

impl HashCompaction {
    /// An empty set that answers [`Full`] rather than use more than `limit` bytes.
    pub fn new(limit: u64) -> Self {
        HashCompaction { set: Compact::new(HASH_BITS, 0, Growth::Half), budget: Budget::new(limit) }
    }
}

fn short(key: &[u8]) -> u64 {
    hash(key) >> (64 - HASH_BITS)
}

impl Seen for HashCompaction {
    const LOSSLESS: bool = false;

    type Ticket = Mixed;
    type Name = ();

    fn hash(&mut self, key: &[u8]) -> Result<Mixed, Full> {
        let hash = self.set.mixed(short(key));
        self.set.prefetch(hash);
        Ok(hash)
    }

    fn insert(&mut self, _key: &[u8], hash: Mixed) -> Result<Option<()>, Full> {
        Ok(self.set.insert(hash, &mut self.budget)?.1.then_some(()))
    }

    fn contains(&self, _key: &[u8], hash: Mixed) -> bool {
        self.set.find(hash).is_some()
    }

    fn n_keys(&self) -> u64 {
        self.set.len()
    }

    fn memory(&self) -> u64 {
        self.set.memory()
    }

    /// The n-th key meets one of the n hashes before it with probability n / 2^48.
    fn omission(&self) -> Option<f64> {
        let n = self.set.len() as f64;
        let expected = n * (n - 1.0).max(0.0) / 2.0 / (1u64 << HASH_BITS) as f64;
        Some(-(-expected).exp_m1())
    }
}

impl Batched for HashCompaction {}

impl Evicting for HashCompaction {}

/// A set of hashes that several workers share.
#[derive(Debug)]
pub struct SharedHashCompaction(Common<HashCompaction>);

impl SharedHashCompaction {
    /// An empty set that answers [`Full`] rather than use more than `limit` bytes.
    pub fn new(limit: u64) -> Self {
        SharedHashCompaction(Common::new(HashCompaction::new(limit)))
    }

    /// Access for one more worker.
    pub fn hand(&self) -> HashHand<'_> {
        HashHand { turn: Turn::new(&self.0), untold: Untold::default() }
    }
}

/// One worker's access to a [`SharedHashCompaction`].
#[derive(Debug)]
pub struct HashHand<'a> {
    turn: Turn<'a, HashCompaction>,
    untold: Untold,
}

impl HashHand<'_> {
    #[cold]
    fn grow(&mut self, hash: Mixed) -> Result<(), Full> {
        let before = self.turn.look(|shared| shared.set.room(hash));
        let threads = self.turn.workers();
        self.turn.alone(
            |HashCompaction { set, budget }| {
                if set.room(hash) == before { set.make_room(hash, budget, threads) } else { Ok(()) }
            },
        )
    }
}

impl Seen for HashHand<'_> {
    const LOSSLESS: bool = false;

    type Ticket = Mixed;
    type Name = ();

    fn hash(&mut self, key: &[u8]) -> Result<Mixed, Full> {
        let set = &self.turn.work().set;
        let hash = set.mixed(short(key));
        set.prefetch(hash);
        Ok(hash)
    }

    fn insert(&mut self, _key: &[u8], hash: Mixed) -> Result<Option<()>, Full> {
        loop {
            match self.turn.work().set.insert_shared(hash, &mut self.untold) {
                Ok(new) => return Ok(new.then_some(())),
                Err(Crowded) => self.grow(hash)?,
            }
        }
    }

    fn contains(&self, key: &[u8], hash: Mixed) -> bool {
        self.turn.look(|shared| shared.contains(key, hash))
    }

    /// Exact as soon as the other workers have dropped their hands; until then some of theirs may be missing.
    fn n_keys(&self) -> u64 {
        self.turn.look(HashCompaction::n_keys) + self.untold.sum()
    }

    fn memory(&self) -> u64 {
        self.turn.look(HashCompaction::memory)
    }

    fn omission(&self) -> Option<f64> {
        self.turn.look(HashCompaction::omission)
    }
}

impl Batched for HashHand<'_> {}

impl Evicting for HashHand<'_> {}

impl Hand for HashHand<'_> {
    fn rest(&mut self) {
        self.turn.rest();
    }
}

impl Drop for HashHand<'_> {
    fn drop(&mut self) {
        self.turn.work().set.tell(&mut self.untold);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_agree_on_who_was_first() {
        const KEYS: u32 = 150_000;
        let set = SharedHashCompaction::new(u64::MAX);
        let firsts: usize = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4u32)
                .map(|worker| {
                    let set = &set;
                    scope.spawn(move || {
                        let mut hand = set.hand();
                        let mut first = |i: u32| {
                            let new = hand.is_new(&i.to_le_bytes()).unwrap();
                            if i.is_multiple_of(64) {
                                hand.rest();
                            }
                            new
                        };
                        // First all at different places, then all at the same.
                        let shifted = (0..KEYS / 2).map(|i| (i + worker * KEYS / 8) % (KEYS / 2));
                        shifted.chain(KEYS / 2..KEYS).filter(|&i| first(i)).count()
                    })
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).sum()
        });
        assert_eq!(firsts, KEYS as usize);
        let mut hand = set.hand();
        assert_eq!(hand.n_keys(), u64::from(KEYS));
        assert!((0..KEYS).all(|i| hand.knows(&i.to_le_bytes()).unwrap()));
    }

    #[test]
    fn distinct_keys_are_told_apart_almost_always() {
        let mut set = HashCompaction::new(u64::MAX);
        let new = (0..200_000u32).filter(|i| set.is_new(&i.to_le_bytes()).unwrap()).count();
        assert_eq!(new, 200_000, "2^48 is much more than the square of that");
        assert!((0..200_000u32).all(|i| !set.is_new(&i.to_le_bytes()).unwrap()));
        let omission = set.omission().unwrap();
        assert!((5e-5..1e-4).contains(&omission), "{omission}");
    }
}
