//! Small numbers for the keys of a shared store, so that what is known of a key can be found beside it.
//!
//! A store of [`crate::numbering`] gives each key an index, which for a table is its place: half a word for
//! every word of the records, so a 32nd to a half of what they take. What lies at that index is a smaller
//! number, from 1 on, that only keys have of which something is known. Numbers are given when they are asked
//! for, by whoever asks first: of several workers with the same key one compare-and-swap succeeds, the others
//! keep their number for the next key. So nobody waits, and few numbers are left unused: at most one block a
//! worker.

use crate::Full;
use crate::arena::PLACE_BITS;
use crate::numbering::{KeyNumber, Pool};
use crate::pages::{Pages, WORDS, prefetch};
use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::{AcqRel, Acquire};
use crate::union_find::Node;

pub use crate::numbering::Spare;

/// The numbers of all keys of a table.
#[derive(Debug)]
pub struct SharedNumbers {
    halves: Pages,
    pool: Pool,
}

impl SharedNumbers {
    /// Numbers for a table that may take `limit` bytes: addresses only.
    pub fn new(limit: u64) -> Self {
        let lines = (limit / 8).clamp(1, 1 << PLACE_BITS).div_ceil(2 * WORDS as u64) as usize;
        let halves = Pages::reserved(lines).unwrap_or_else(|Full| Pages::small(1 << 10));
        SharedNumbers { halves, pool: Pool::new(1) }
    }

    /// How many numbers were taken.
    pub fn taken(&self) -> u64 {
        self.pool.bound()
    }

    #[inline]
    fn word(&self, place: impl KeyNumber) -> Option<&AtomicU64> {
        self.halves.words().get(place.index() / 2)
    }

    /// Asks for the memory of a number.
    pub fn prefetch(&self, place: impl KeyNumber) {
        self.word(place).into_iter().for_each(prefetch);
    }

    /// The number of a key, if it has one.
    #[inline]
    pub fn get(&self, place: impl KeyNumber) -> Option<Node> {
        self.word(place).and_then(|word| half(word.load(Acquire), place))
    }

    /// The number of a key; if it has none yet, one for which `begin` was called before anybody else knows
    /// it.
    pub fn number(
        &self,
        place: impl KeyNumber,
        spare: &mut Spare,
        begin: impl FnOnce(Node) -> Result<(), Full>,
    ) -> Result<Node, Full> {
        let word = self.word(place).ok_or(Full)?;
        let mut now = word.load(Acquire);
        if let Some(node) = half(now, place) {
            return Ok(node);
        }
        // A number that is not used in the end stays the worker's, for its next new key.
        let node = Node(self.pool.next(spare)?);
        begin(node)?;
        loop {
            // Two keys share a word. Release publishes what `begin` wrote; a failure shows the number of
            // another worker, whose node is read next (Acquire), or only a change of the neighbour.
            match word.compare_exchange(now, now | u64::from(node.0) << shift(place), AcqRel, Acquire) {
                Ok(_) => {
                    spare.given();
                    return Ok(node);
                }
                Err(other) => now = other,
            }
            if let Some(node) = half(now, place) {
                return Ok(node);
            }
        }
    }
}

#[inline]
fn shift(place: impl KeyNumber) -> u64 {
    place.index() as u64 % 2 * 32
}

#[inline]
fn half(word: u64, place: impl KeyNumber) -> Option<Node> {
    let number = (word >> shift(place)) as u32;
    (number != 0).then_some(Node(number))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::arena::RecordPlace;
    use std::collections::BTreeSet;

    const BLOCK: u64 = 64;

    #[test]
    fn numbers_end_where_a_half_does() {
        let numbers = SharedNumbers::new(1 << 20);
        let last = u64::from(u32::MAX) / BLOCK * BLOCK;
        // Blocks begin with number 1.
        let numbers = SharedNumbers { pool: Pool::new(last + 1 - 2 * BLOCK), ..numbers };
        let (mut spare, mut given) = (Spare::default(), 0);
        let refused = (1..).find(|&place| {
            let number = numbers.number(RecordPlace::from_number(place), &mut spare, |_| Ok(()));
            given = number.map_or(given, |node| node.0);
            number.is_err()
        });
        assert_eq!((refused, u64::from(given)), (Some(2 * BLOCK + 1), last));
        assert_eq!(numbers.get(RecordPlace::from_number(1)), Some(Node((last + 1 - 2 * BLOCK) as u32)));
    }

    #[test]
    fn workers_agree_on_numbers_and_none_is_given_twice() {
        const KEYS: u64 = 20_000;
        let numbers = SharedNumbers::new(1 << 20);
        let of = |worker: u64| {
            let mut spare = Spare::default();
            let mut ask = |at: u64| {
                let place = RecordPlace::from_number(1 + (at + worker % 2 * KEYS / 2) % KEYS);
                numbers.number(place, &mut spare, |_| Ok(())).unwrap()
            };
            for at in 0..KEYS {
                ask(at);
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|worker| drop(scope.spawn(move || of(worker)))));
        let all: BTreeSet<Node> =
            (1..=KEYS).filter_map(|at| numbers.get(RecordPlace::from_number(at))).collect();
        assert_eq!(all.len() as u64, KEYS);
        assert!(numbers.taken() <= KEYS + 1 + 4 * BLOCK, "{}", numbers.taken());
        assert_eq!(numbers.get(RecordPlace::from_number(KEYS + 1)), None);
        let beyond = RecordPlace::from_number(1 << 39);
        assert_eq!(numbers.number(beyond, &mut Spare::default(), |_| Ok(())), Err(Full));
    }

    #[test]
    fn a_number_that_cannot_begin_is_not_given() {
        let numbers = SharedNumbers::new(1 << 10);
        let (place, mut spare) = (RecordPlace::from_number(3), Spare::default());
        assert_eq!(numbers.number(place, &mut spare, |_| Err(Full)), Err(Full));
        assert_eq!(numbers.get(place), None);
        assert_eq!(numbers.number(place, &mut spare, |_| Ok(())), Ok(Node(1)));
    }
}
