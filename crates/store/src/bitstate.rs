//! Bitstate hashing (Holzmann 1988): a Bloom filter of k bits a key in an array of fixed size. Lossy.
//!
//! The array never grows and is never full: the fuller it is, the more new states are taken for old ones. Each time that a
//! key is found to be new, the share of bits that are set tells how probable it was to miss it; the sum over all keys
//! is the expected number of omissions.
//!
//! The bits of a key lie anywhere, each in a cache line of its own. Putting them all into one line would save time, but keys that
//! share a line would share their bits: in a nearly empty array, where omissions are rare, they would be many times
//! as frequent. So [`Seen::prepare`] asks for all the lines at once instead.

use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::Relaxed;
use crate::sync::{Mutex, PoisonError};

use crate::concurrent::Hand;
use crate::hash::hash;
use crate::pages::{Pages, WORDS, prefetch};
use crate::{Full, Seen};

/// Bits that are set for each key.
pub const DEFAULT_HASHES: u32 = 3;

/// A Bloom filter.
#[derive(Debug)]
pub struct Bitstate {
    pages: Pages,
    /// Words in use: a cache line is the smallest piece of memory, not of the array.
    words: usize,
    hashes: u32,
    ones: u64,
    len: u64,
    expected_omissions: f64,
}

impl Bitstate {
    /// An array of (nearly) so many bytes, of which each key sets up to `hashes` bits.
    pub fn new(bytes: u64, hashes: u32) -> Result<Self, Full> {
        let n = usize::try_from(bytes / 8).map_err(|_| Full)?.max(1);
        let pages = Pages::scattered(n.div_ceil(WORDS))?;
        Ok(Bitstate { pages, words: n, hashes: hashes.max(1), ones: 0, len: 0, expected_omissions: 0.0 })
    }

    /// The bits of a key with this hash: word and mask. Double hashing gives as many as are wanted from two hashes.
    fn bits(&self, first: u64) -> impl Iterator<Item = (usize, u64)> + use<> {
        let step = first.wrapping_mul(0xd1b5_4a32_d192_ed03).rotate_left(32) | 1;
        let n_bits = self.words as u64 * 64;
        (0..u64::from(self.hashes)).map(move |i| {
            let hash = first.wrapping_add(step.wrapping_mul(i));
            let bit = ((u128::from(hash) * u128::from(n_bits)) >> 64) as u64;
            ((bit / 64) as usize, 1 << (bit % 64))
        })
    }

    /// How probable it is that bits chosen at random are all set, when so many are set.
    fn chance(&self, ones: u64) -> f64 {
        (ones as f64 / (self.words as f64 * 64.0)).powi(self.hashes as i32)
    }
}

impl Seen for Bitstate {
    const LOSSLESS: bool = false;

    type Ticket = u64;
    type Name = ();

    fn prepare(&mut self, key: &[u8]) -> Result<u64, Full> {
        let hash = hash(key);
        self.bits(hash).for_each(|(word, _)| prefetch(&self.pages.words()[word]));
        Ok(hash)
    }

    fn insert(&mut self, _key: &[u8], hash: u64) -> Result<Option<()>, Full> {
        let before = self.ones;
        let mut new = false;
        for (word, mask) in self.bits(hash) {
            // Nobody else changes the words, so no exchange is needed.
            let word = &self.pages.words()[word];
            let old = word.load(Relaxed);
            if old & mask == 0 {
                word.store(old | mask, Relaxed);
                self.ones += 1;
                new = true;
            }
        }
        if new {
            self.len += 1;
            self.expected_omissions += self.chance(before);
        }
        Ok(new.then_some(()))
    }

    fn contains(&self, _key: &[u8], hash: u64) -> bool {
        self.bits(hash).all(|(word, mask)| self.pages.words()[word].load(Relaxed) & mask != 0)
    }

    fn n_keys(&self) -> u64 {
        self.len
    }

    fn memory(&self) -> u64 {
        self.words as u64 * 8
    }

    fn omission(&self) -> Option<f64> {
        Some(-(-self.expected_omissions).exp_m1())
    }
}

/// Locks of a [`SharedBitstate`].
const LOCKS: usize = 256;
/// How many new keys a worker keeps for itself before it tells of them.
const QUANTUM: u64 = 64;

/// A Bloom filter that several workers share.
///
/// Bits are set by atomic operations, but a key has several of them: two workers with the same new key could each set one
/// first, and both would take it for new. So whoever sets bits of a key holds one of a few locks, which the key chooses.
/// Keys that are known, most of them, need none.
#[derive(Debug)]
pub struct SharedBitstate {
    array: Bitstate,
    locks: [Mutex<()>; LOCKS],
    ones: AtomicU64,
    len: AtomicU64,
    /// Expected omissions of all who are done.
    omissions: Mutex<f64>,
}

impl SharedBitstate {
    /// As [`Bitstate::new`].
    pub fn new(bytes: u64, hashes: u32) -> Result<Self, Full> {
        let locks = std::array::from_fn(|_| Mutex::new(()));
        let (ones, len, omissions) = (AtomicU64::new(0), AtomicU64::new(0), Mutex::new(0.0));
        Ok(SharedBitstate { array: Bitstate::new(bytes, hashes)?, locks, ones, len, omissions })
    }

    /// Access for one more worker.
    pub fn hand(&self) -> BitHand<'_> {
        BitHand { shared: self, ones: 0, len: 0, omissions: 0.0 }
    }
}

/// One worker's access to a [`SharedBitstate`], with what it has not told of.
#[derive(Debug)]
pub struct BitHand<'a> {
    shared: &'a SharedBitstate,
    ones: u64,
    len: u64,
    omissions: f64,
}

impl BitHand<'_> {
    fn tell(&mut self) {
        self.shared.ones.fetch_add(std::mem::take(&mut self.ones), Relaxed);
        self.shared.len.fetch_add(std::mem::take(&mut self.len), Relaxed);
    }
}

impl Seen for BitHand<'_> {
    const LOSSLESS: bool = false;

    type Ticket = u64;
    type Name = ();

    fn prepare(&mut self, key: &[u8]) -> Result<u64, Full> {
        let (array, hash) = (&self.shared.array, hash(key));
        array.bits(hash).for_each(|(word, _)| prefetch(&array.pages.words()[word]));
        Ok(hash)
    }

    fn insert(&mut self, key: &[u8], hash: u64) -> Result<Option<()>, Full> {
        if self.contains(key, hash) {
            return Ok(None);
        }
        let array = &self.shared.array;
        let set = {
            let _lock =
                self.shared.locks[hash as usize % LOCKS].lock().unwrap_or_else(PoisonError::into_inner);
            let set =
                |(word, mask): (usize, u64)| array.pages.words()[word].fetch_or(mask, Relaxed) & mask == 0;
            array.bits(hash).filter(|&bit| set(bit)).count() as u64
        };
        if set == 0 {
            return Ok(None);
        }
        self.omissions += array.chance(self.shared.ones.load(Relaxed) + self.ones);
        self.ones += set;
        self.len += 1;
        if self.len >= QUANTUM {
            self.tell();
        }
        Ok(Some(()))
    }

    fn contains(&self, key: &[u8], hash: u64) -> bool {
        self.shared.array.contains(key, hash)
    }

    /// Exact as soon as the other workers have dropped their hands, and so is [`Seen::omission`].
    fn n_keys(&self) -> u64 {
        self.shared.len.load(Relaxed) + self.len
    }

    fn memory(&self) -> u64 {
        self.shared.array.memory()
    }

    fn omission(&self) -> Option<f64> {
        let others = *self.shared.omissions.lock().unwrap_or_else(PoisonError::into_inner);
        Some(-(-(others + self.omissions)).exp_m1())
    }
}

impl Hand for BitHand<'_> {
    fn rest(&mut self) {}
}

impl Drop for BitHand<'_> {
    fn drop(&mut self) {
        self.tell();
        *self.shared.omissions.lock().unwrap_or_else(PoisonError::into_inner) += self.omissions;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_new_for_one_worker_alone() {
        const KEYS: u32 = 100_000;
        let set = SharedBitstate::new(8 << 20, 3).unwrap();
        let new: usize = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        let mut hand = set.hand();
                        (0..KEYS).filter(|i| hand.is_new(&i.to_le_bytes()).unwrap()).count()
                    })
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).sum()
        });
        let mut alone = Bitstate::new(8 << 20, 3).unwrap();
        let expected = (0..KEYS).filter(|i| alone.is_new(&i.to_le_bytes()).unwrap()).count();
        let hand = set.hand();
        assert_eq!((new as u64, hand.n_keys()), (hand.n_keys(), new as u64));
        assert!(new.abs_diff(expected) <= 20, "{new} new, one worker alone: {expected}");
        let (shared, alone) = (hand.omission().unwrap(), alone.omission().unwrap());
        assert!((shared - alone).abs() < 0.05, "{shared} {alone}");
    }

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
