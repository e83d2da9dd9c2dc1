//! Bitstate hashing (Holzmann 1988): a Bloom filter of k bits a key in an array of fixed size. Lossy.
//!
//! The array never grows and is never full: the fuller it is, the more new states are taken for old ones.
//! Each time that a key is found to be new, the share of bits that are set tells how probable it was to miss
//! it; the sum over all keys is the expected number of omissions.
//!
//! The bits of a key lie anywhere, each in a cache line of its own. Putting them all into one line would save
//! time, but keys that share a line would share their bits: in a nearly empty array, where omissions are
//! rare, they would be many times as frequent. So [`Seen::hash`] asks for all the lines at once instead.
//!
//! **The first keys** come to an array of ordinary pages: a huge page is zeroed as a whole at the first
//! touch, and a few dozen keys touch all of them. When there are some thousand keys their hashes, which have
//! been noted until then, are entered once more, into an array of huge pages: in large searches it takes half
//! the time.

use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::Relaxed;
use crate::sync::{Mutex, PoisonError};

use crate::concurrent::{Common, Hand, Turn};
use crate::hash::hash;
use crate::pages::{Pages, WORDS, prefetch};
use crate::{Batched, Evicting, Full, Seen};

/// Bits that are set for each key.
pub const DEFAULT_HASHES: u32 = 3;

/// Keys that are entered before the array gets huge pages. Their ordinary pages take some ten
/// milliseconds; huge ones for the whole array take as long where the system has them at hand, and several
/// hundred where it has not.
const EARLY: usize = 1 << 12;

/// An array of bits, some of which belong to each key.
#[derive(Debug)]
struct Array {
    pages: Pages,
    /// Words in use: a cache line is the smallest piece of memory, not of the array.
    words: usize,
    hashes: u32,
    /// There have been few keys, and they must be noted.
    early: bool,
}

impl Array {
    fn new(bytes: u64, hashes: u32) -> Result<Self, Full> {
        let words = usize::try_from(bytes / 8).map_err(|_| Full)?.max(1);
        let pages = Pages::scattered(words.div_ceil(WORDS))?;
        let words = words.min(pages.words().len());
        Ok(Array { pages, words, hashes: hashes.max(1), early: true })
    }

    /// The bits of a key with this hash: word and mask. Double hashing gives as many as are wanted from two
    /// hashes.
    fn bits(&self, first: u64) -> impl Iterator<Item = (usize, u64)> + use<> {
        let step = first.wrapping_mul(0xd1b5_4a32_d192_ed03).rotate_left(32) | 1;
        let n_bits = self.words as u64 * 64;
        (0..u64::from(self.hashes)).map(move |i| {
            let hash = first.wrapping_add(step.wrapping_mul(i));
            let bit = ((u128::from(hash) * u128::from(n_bits)) >> 64) as u64;
            ((bit / 64) as usize, 1 << (bit % 64))
        })
    }

    fn prefetch(&self, hash: u64) {
        self.bits(hash).for_each(|(word, _)| prefetch(&self.pages.words()[word]));
    }

    fn contains(&self, hash: u64) -> bool {
        self.bits(hash).all(|(word, mask)| self.pages.words()[word].load(Relaxed) & mask != 0)
    }

    /// Sets bits that nobody else changes, so no exchange is needed. Says how many were not set.
    fn set_alone(&self, hash: u64) -> u64 {
        let mut set = 0;
        for (word, mask) in self.bits(hash) {
            let word = &self.pages.words()[word];
            let old = word.load(Relaxed);
            if old & mask == 0 {
                word.store(old | mask, Relaxed);
                set += 1;
            }
        }
        set
    }

    /// How probable it is that bits chosen at random are all set, when `ones` bits are set.
    fn chance(&self, ones: u64) -> f64 {
        (ones as f64 / (self.words as f64 * 64.0)).powi(self.hashes as i32)
    }

    /// Gets huge pages; these keys are all that it holds. Without memory for them it stays as it is.
    #[cold]
    fn move_to_huge_pages(&mut self, keys: &[u64]) {
        self.early = false;
        // What was there is given back before anything of the new pages is touched.
        if let Ok(pages) = Pages::new(self.words.div_ceil(WORDS)) {
            self.pages = pages;
            for &hash in keys {
                self.set_alone(hash);
            }
        }
    }

    fn memory(&self) -> u64 {
        self.words as u64 * 8
    }
}

/// A Bloom filter.
#[derive(Debug)]
pub struct Bitstate {
    array: Array,
    /// The hashes of the first keys.
    early: Vec<u64>,
    ones: u64,
    len: u64,
    expected_omissions: f64,
    /// Which hash functions: those of another seed take other keys for known.
    seed: u64,
}

impl Bitstate {
    /// An array of nearly `bytes` bytes, fewer where there are fewer addresses, of which each key
    /// sets up to `hashes` bits.
    pub fn new(bytes: u64, hashes: u32) -> Result<Self, Full> {
        let array = Array::new(bytes, hashes)?;
        Ok(Bitstate { array, early: Vec::new(), ones: 0, len: 0, expected_omissions: 0.0, seed: 0 })
    }

    /// With other hash functions, for an array that is empty; 0 are the usual ones.
    pub fn hashing_by(mut self, seed: u64) -> Self {
        debug_assert_eq!(self.len, 0, "keys that are there were entered by other functions");
        self.seed = seed;
        self
    }

    /// Notes one of the first keys.
    #[cold]
    fn note(&mut self, hash: u64) {
        self.early.push(hash);
        if self.early.len() >= EARLY {
            self.array.move_to_huge_pages(&std::mem::take(&mut self.early));
        }
    }
}

/// The hash of another function. Keys with equal hashes stay together, which among 2^64 of them are hardly any;
/// what makes keys share bits is how hashes are mapped to bits.
fn reseeded(hash: u64, seed: u64) -> u64 {
    let mixed = (hash ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    if seed == 0 { hash } else { (mixed ^ mixed >> 32).wrapping_mul(0xa076_1d64_78bd_642f) ^ mixed >> 29 }
}

impl Seen for Bitstate {
    const LOSSLESS: bool = false;

    type Ticket = u64;
    type Name = ();

    fn hash(&mut self, key: &[u8]) -> Result<u64, Full> {
        let hash = reseeded(hash(key), self.seed);
        self.array.prefetch(hash);
        Ok(hash)
    }

    fn insert(&mut self, _key: &[u8], hash: u64) -> Result<Option<()>, Full> {
        let set = self.array.set_alone(hash);
        if set == 0 {
            return Ok(None);
        }
        self.expected_omissions += self.array.chance(self.ones);
        self.ones += set;
        self.len += 1;
        if self.array.early {
            self.note(hash);
        }
        Ok(Some(()))
    }

    fn contains(&self, _key: &[u8], hash: u64) -> bool {
        self.array.contains(hash)
    }

    fn n_keys(&self) -> u64 {
        self.len
    }

    fn memory(&self) -> u64 {
        self.array.memory()
    }

    fn omission(&self) -> Option<f64> {
        Some(-(-self.expected_omissions).exp_m1())
    }
}

impl Batched for Bitstate {}

impl Evicting for Bitstate {}

/// Locks of a [`SharedBitstate`].
const LOCKS: usize = 256;
/// How many new keys a worker keeps for itself before it tells of them.
const QUANTUM: u64 = 64;

/// A Bloom filter that several workers share.
///
/// Bits are set by atomic operations, but a key has several of them: two workers with the same new key could
/// each set one first, and both would take it for new. So whoever sets bits of a key holds one of a few
/// locks, which the key chooses. Keys that are known, most of them, need none.
#[derive(Debug)]
pub struct SharedBitstate {
    array: Common<Array>,
    locks: [Mutex<()>; LOCKS],
    /// The hashes of the first keys.
    early: Mutex<Vec<u64>>,
    ones: AtomicU64,
    len: AtomicU64,
    /// Expected omissions of all who are done.
    omissions: Mutex<f64>,
}

impl SharedBitstate {
    /// An array of nearly `bytes` bytes that workers share; each key sets `hashes` bits.
    pub fn new(bytes: u64, hashes: u32) -> Result<Self, Full> {
        Ok(SharedBitstate {
            array: Common::new(Array::new(bytes, hashes)?),
            locks: std::array::from_fn(|_| Mutex::new(())),
            early: Mutex::new(Vec::new()),
            ones: AtomicU64::new(0),
            len: AtomicU64::new(0),
            omissions: Mutex::new(0.0),
        })
    }

    /// Access for one more worker.
    pub fn hand(&self) -> BitHand<'_> {
        BitHand { shared: self, turn: Turn::new(&self.array), ones: 0, len: 0, omissions: 0.0 }
    }
}

/// One worker's access to a [`SharedBitstate`], with what it has not told of.
#[derive(Debug)]
pub struct BitHand<'a> {
    shared: &'a SharedBitstate,
    turn: Turn<'a, Array>,
    ones: u64,
    len: u64,
    omissions: f64,
}

impl BitHand<'_> {
    fn tell(&mut self) {
        self.shared.ones.fetch_add(std::mem::take(&mut self.ones), Relaxed);
        self.shared.len.fetch_add(std::mem::take(&mut self.len), Relaxed);
    }

    /// When the first keys have been entered the array gets huge pages. Whoever has set bits has noted the
    /// key before it lets go of the array, so all are there.
    #[cold]
    fn move_to_huge_pages(&mut self) {
        let shared = self.shared;
        self.turn.alone(|array| {
            if array.early {
                let mut early = shared.early.lock().unwrap_or_else(PoisonError::into_inner);
                array.move_to_huge_pages(&std::mem::take(&mut *early));
            }
        });
    }
}

impl Seen for BitHand<'_> {
    const LOSSLESS: bool = false;

    type Ticket = u64;
    type Name = ();

    fn hash(&mut self, key: &[u8]) -> Result<u64, Full> {
        let hash = hash(key);
        self.turn.work().prefetch(hash);
        Ok(hash)
    }

    fn insert(&mut self, _key: &[u8], hash: u64) -> Result<Option<()>, Full> {
        let shared = self.shared;
        let array = self.turn.work();
        if array.contains(hash) {
            return Ok(None);
        }
        let set = {
            // Of two workers with the same key only one may find an unset bit, or the state would be new
            // twice. The lock is chosen by the hash, so that different keys seldom wait for each other.
            let _lock = shared.locks[hash as usize % LOCKS].lock().unwrap_or_else(PoisonError::into_inner);
            let set =
                |(word, mask): (usize, u64)| array.pages.words()[word].fetch_or(mask, Relaxed) & mask == 0;
            array.bits(hash).filter(|&bit| set(bit)).count() as u64
        };
        if set == 0 {
            return Ok(None);
        }
        let noted = array.early.then(|| {
            let mut early = shared.early.lock().unwrap_or_else(PoisonError::into_inner);
            early.push(hash);
            early.len()
        });
        self.omissions += array.chance(shared.ones.load(Relaxed) + self.ones);
        self.ones += set;
        self.len += 1;
        if self.len >= QUANTUM {
            self.tell();
        }
        if noted.is_some_and(|noted| noted >= EARLY) {
            self.move_to_huge_pages();
        }
        Ok(Some(()))
    }

    fn contains(&self, _key: &[u8], hash: u64) -> bool {
        self.turn.look(|array| array.contains(hash))
    }

    /// Exact as soon as the other workers have dropped their hands, and so is [`Seen::omission`].
    fn n_keys(&self) -> u64 {
        self.shared.len.load(Relaxed) + self.len
    }

    fn memory(&self) -> u64 {
        self.turn.look(Array::memory)
    }

    fn omission(&self) -> Option<f64> {
        let others = *self.shared.omissions.lock().unwrap_or_else(PoisonError::into_inner);
        Some(-(-(others + self.omissions)).exp_m1())
    }
}

impl Batched for BitHand<'_> {}

impl Evicting for BitHand<'_> {}

impl Hand for BitHand<'_> {
    fn rest(&mut self) {
        self.turn.rest();
    }
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

    /// What was inserted before the array got huge pages is there afterwards, and nothing else.
    #[test]
    fn the_first_keys_move_to_huge_pages() {
        let mut set = Bitstate::new(32 << 20, 3).unwrap();
        let key = |i: usize| (i as u32).to_le_bytes();
        for i in 0..EARLY {
            assert!(set.array.early);
            assert_eq!(set.is_new(&key(i)), Ok(true), "{i}");
        }
        assert!(!set.array.early && set.early.capacity() == 0);
        let ones = set.array.pages.words().iter().map(|word| u64::from(word.load(Relaxed).count_ones()));
        assert_eq!(ones.sum::<u64>(), set.ones);
        assert!((0..EARLY).all(|i| set.is_new(&key(i)) == Ok(false)));
        assert_eq!((EARLY..2 * EARLY).filter(|&i| set.is_new(&key(i)).unwrap()).count(), EARLY);
    }

    #[test]
    fn a_large_array_misses_nothing() {
        let mut set = Bitstate::new(1 << 20, 3).unwrap();
        assert_eq!((0..1000u32).filter(|i| set.is_new(&i.to_le_bytes()).unwrap()).count(), 1000);
        assert!(set.omission().unwrap() < 1e-3);
    }
}
