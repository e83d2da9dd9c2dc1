//! Bitstate hashing (Holzmann 1988): a Bloom filter of k bits a key in an array of fixed size. Lossy.
//!
//! The array never grows and is never full: the fuller it is, the more new states are taken for old ones. Each time that a
//! key is found to be new, the share of bits that are set tells how probable it was to miss it; the sum over all keys
//! is the expected number of omissions.

use crate::hash::hash;
use crate::{Full, Seen};

/// Bits that are set for each key.
pub const DEFAULT_HASHES: u32 = 3;

/// A Bloom filter.
#[derive(Debug)]
pub struct Bitstate {
    words: Vec<u64>,
    hashes: u32,
    ones: u64,
    len: u64,
    expected_omissions: f64,
}

impl Bitstate {
    /// An array of (nearly) so many bytes, of which each key sets up to `hashes` bits.
    pub fn new(bytes: u64, hashes: u32) -> Result<Self, Full> {
        let n = usize::try_from(bytes / 8).map_err(|_| Full)?.max(1);
        // Asks whether there is room, then for memory that is zero from the start, so that pages nobody touches cost nothing.
        Vec::<u64>::new().try_reserve_exact(n).map_err(|_| Full)?;
        let words = vec![0; n];
        Ok(Bitstate { words, hashes: hashes.max(1), ones: 0, len: 0, expected_omissions: 0.0 })
    }

    /// The bits of a key with this hash: word and mask. Double hashing gives as many as are wanted from two hashes.
    fn bits(&self, first: u64) -> impl Iterator<Item = (usize, u64)> + use<> {
        let step = first.wrapping_mul(0xd1b5_4a32_d192_ed03).rotate_left(32) | 1;
        let n_bits = self.words.len() as u64 * 64;
        (0..u64::from(self.hashes)).map(move |i| {
            let hash = first.wrapping_add(step.wrapping_mul(i));
            let bit = ((u128::from(hash) * u128::from(n_bits)) >> 64) as u64;
            ((bit / 64) as usize, 1 << (bit % 64))
        })
    }

    fn fill(&self) -> f64 {
        self.ones as f64 / (self.words.len() as f64 * 64.0)
    }
}

impl Seen for Bitstate {
    const LOSSLESS: bool = false;

    type Ticket = u64;
    type Name = ();

    fn prepare(&mut self, key: &[u8]) -> Result<u64, Full> {
        Ok(hash(key))
    }

    fn insert(&mut self, _key: &[u8], hash: u64) -> Result<Option<()>, Full> {
        let fill = self.fill();
        let mut new = false;
        for (word, mask) in self.bits(hash) {
            if self.words[word] & mask == 0 {
                self.words[word] |= mask;
                self.ones += 1;
                new = true;
            }
        }
        if new {
            self.len += 1;
            self.expected_omissions += fill.powi(self.hashes as i32);
        }
        Ok(new.then_some(()))
    }

    fn contains(&self, _key: &[u8], hash: u64) -> bool {
        self.bits(hash).all(|(word, mask)| self.words[word] & mask != 0)
    }

    fn n_keys(&self) -> u64 {
        self.len
    }

    fn memory(&self) -> u64 {
        self.words.capacity() as u64 * 8
    }

    fn omission(&self) -> Option<f64> {
        Some(-(-self.expected_omissions).exp_m1())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_was_inserted_is_never_new_again() {
        let mut set = Bitstate::new(1000, 3).unwrap();
        for i in 0..5000u32 {
            set.is_new(&i.to_le_bytes()).unwrap();
            assert_eq!(set.knows(&i.to_le_bytes()), Ok(true));
            assert_eq!(set.is_new(&i.to_le_bytes()), Ok(false));
        }
        assert!(set.n_keys() < 5000 && set.memory() == 1000);
        assert!(set.omission().unwrap() > 0.99);
    }

    #[test]
    fn the_estimate_is_near_the_truth() {
        // Many small arrays: how often is at least one of 100 keys missed?
        let (mut missed, mut estimated) = (0, 0.0);
        for round in 0..400u32 {
            let mut set = Bitstate::new(256, 3).unwrap();
            let keys = (0..100u32).map(|i| [round.to_le_bytes(), i.to_le_bytes()].concat());
            missed += u32::from(keys.filter(|key| !set.is_new(key).unwrap()).count() > 0);
            estimated += set.omission().unwrap();
        }
        let (missed, estimated) = (f64::from(missed) / 400.0, estimated / 400.0);
        assert!((missed - estimated).abs() < 0.1, "missed {missed}, estimated {estimated}");
    }

    #[test]
    fn a_large_array_misses_nothing() {
        let mut set = Bitstate::new(1 << 20, 3).unwrap();
        assert_eq!((0..1000u32).filter(|i| set.is_new(&i.to_le_bytes()).unwrap()).count(), 1000);
        assert!(set.omission().unwrap() < 1e-3);
    }
}
