//! Hash compaction (Wolper & Leroy 1993): only a hash of each key is kept. Lossy.
//!
//! Two keys with the same hash are taken for one, so a search may leave states out; how probable that is can be
//! said ([`Seen::omission`]). The hashes lie in a [`Compact`] set, which keeps only a part of them.

use crate::budget::Budget;
use crate::compact::{Compact, Mixed};
use crate::hash::hash;
use crate::{Full, Seen};

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
        HashCompaction { set: Compact::new(HASH_BITS, 0), budget: Budget::new(limit) }
    }
}

fn short(key: &[u8]) -> u64 {
    hash(key) >> (64 - HASH_BITS)
}

impl Seen for HashCompaction {
    const LOSSLESS: bool = false;

    type Ticket = Mixed;
    type Name = ();

    fn prepare(&mut self, key: &[u8]) -> Result<Mixed, Full> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
