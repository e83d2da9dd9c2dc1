//! How many different keys there were, without keeping them: a Bloom filter with a counter.
//!
//! Some numbers of a report are about states that are not kept: those that a cache has dropped and meets
//! again, or those that a search passes without storing them. A filter of fixed size answers "was it here
//! before?"; a *yes* may be wrong, and the more often the more keys there are, so the number of different
//! keys is never too large. Nothing but such numbers may depend on it.

use crate::hash::hash;

/// Bits for each key, at most; the array is of fixed size, and only pages that are used cost memory.
const PROBES: u32 = 4;
/// The size of the array in bits, as a power of two: 32 MiB.
const LOG_BITS: u32 = 28;

/// Counts different keys.
#[derive(Debug, Default)]
pub struct Tally {
    words: Vec<u64>,
    different: u64,
}

impl Tally {
    /// Notes a key. False when it seems to have been noted before.
    pub fn note(&mut self, key: &[u8]) -> bool {
        self.note_hash(hash(key))
    }

    /// Notes a key by its hash. False when it seems to have been noted before.
    pub fn note_hash(&mut self, hash: u64) -> bool {
        if self.words.is_empty() {
            self.words = vec![0; 1 << (LOG_BITS - 6)];
        }
        let mut new = false;
        for bit in probes(hash) {
            let word = &mut self.words[bit / 64];
            new |= *word & (1 << (bit % 64)) == 0;
            *word |= 1 << (bit % 64);
        }
        self.different += u64::from(new);
        new
    }

    /// Whether a key seems to have been noted, by its hash. A *no* is sure.
    pub fn has_hash(&self, hash: u64) -> bool {
        !self.words.is_empty() && probes(hash).all(|bit| self.words[bit / 64] & (1 << (bit % 64)) != 0)
    }

    /// How many different keys were noted, or a little fewer.
    pub fn different(&self) -> u64 {
        self.different
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> u64 {
        self.words.capacity() as u64 * 8
    }
}

/// Where the bits of a key are: double hashing.
fn probes(hash: u64) -> impl Iterator<Item = usize> {
    let step = hash.rotate_left(32) | 1;
    (0..u64::from(PROBES)).map(move |i| (hash.wrapping_add(i.wrapping_mul(step)) >> (64 - LOG_BITS)) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_keys_are_counted_once() {
        let mut tally = Tally::default();
        assert!(!tally.has_hash(hash(b"one")));
        for round in 0..3 {
            for n in 0..10_000_u32 {
                assert_eq!(tally.note(&n.to_le_bytes()), round == 0, "{n}");
            }
        }
        assert_eq!(tally.different(), 10_000);
        assert!(tally.has_hash(hash(&77_u32.to_le_bytes())));
        assert!(!tally.has_hash(hash(&77_777_u32.to_le_bytes())));
    }
}
