//! Colours of the keys of a shared store: two bits that are set and never taken back.
//!
//! A search for cycles by several workers keeps with every state what all workers together know of it. The
//! bits lie beside the store, found by the number that it gives to a key ([`crate::numbering`]). In a table
//! that is the place of the record: a place counts words of eight bytes, so there are two bits for every such
//! word, a 32nd of what the records take. Records that were written one after another have their bits in the
//! same word, and a worker writes its records into blocks of its own: workers seldom write to the same cache
//! line.
//!
//! A bit that is seen is true. One that is not seen may have been set a moment ago; who looks must not mind.

use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::{AcqRel, Acquire};

use crate::Full;
use crate::arena::PLACE_BITS;
use crate::numbering::KeyNumber;
use crate::pages::{Pages, WORDS, prefetch};

/// Colours that a word holds.
const IN_A_WORD: u64 = 32;
/// Words of records for which a cache line has colours.
const IN_A_LINE: u64 = IN_A_WORD * WORDS as u64;

/// Two bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Colour(u64);

impl Colour {
    /// The first bit.
    pub const BLUE: Colour = Colour(1);
    /// The second bit.
    pub const RED: Colour = Colour(2);

    /// Whether the first bit is set.
    pub fn is_blue(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether the second bit is set.
    pub fn is_red(self) -> bool {
        self.0 & 2 != 0
    }
}

/// The colours of all keys of a table.
#[derive(Debug)]
pub struct Colours(Pages);

impl Colours {
    /// Colours for a table that may take `limit` bytes: addresses only, memory is there where something is
    /// painted.
    pub fn new(limit: u64) -> Self {
        let lines = (limit / 8).clamp(1, 1 << PLACE_BITS).div_ceil(IN_A_LINE) as usize;
        Colours(Pages::reserved(lines).unwrap_or_else(|Full| Pages::small(1 << 10)))
    }

    /// Refuses a place for which there is no room.
    pub fn check(&self, place: impl KeyNumber) -> Result<(), Full> {
        if self.word(place).is_some() { Ok(()) } else { Err(Full) }
    }

    #[inline]
    fn word(&self, place: impl KeyNumber) -> Option<&AtomicU64> {
        self.0.words().get((place.index() as u64 / IN_A_WORD) as usize)
    }

    /// Asks for the memory of a colour.
    #[inline]
    pub fn prefetch(&self, place: impl KeyNumber) {
        self.word(place).into_iter().for_each(prefetch);
    }

    /// The colour of a key.
    #[inline]
    pub fn get(&self, place: impl KeyNumber) -> Colour {
        let word = self.word(place).map_or(0, |word| word.load(Acquire));
        Colour(word >> shift(place) & 3)
    }

    /// Adds a colour to those of a key.
    #[inline]
    pub fn paint(&self, place: impl KeyNumber, colour: Colour) {
        debug_assert!(self.check(place).is_ok(), "a colour without room is lost");
        if let Some(word) = self.word(place) {
            // Colours are only added, and neighbours share the word, so that `or` loses nothing.
            word.fetch_or(colour.0 << shift(place), AcqRel);
        }
    }
}

#[inline]
fn shift(place: impl KeyNumber) -> u64 {
    place.index() as u64 % IN_A_WORD * 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::RecordPlace;

    #[test]
    fn colours_are_apart_and_stay() {
        let colours = Colours::new(1 << 20);
        let last = (1 << 20) / 8 - 1;
        for number in [1, 2, 31, 32, 33, last] {
            let place = RecordPlace::from_number(number);
            assert_eq!(colours.get(place), Colour::default());
            colours.paint(place, Colour::RED);
            assert!(colours.get(place).is_red() && !colours.get(place).is_blue());
            colours.paint(place, Colour::BLUE);
            assert!(colours.get(place).is_red() && colours.get(place).is_blue());
        }
        assert_eq!(colours.get(RecordPlace::from_number(3)), Colour::default());
        assert_eq!(colours.get(RecordPlace::from_number(34)), Colour::default());
        assert_eq!(colours.check(RecordPlace::from_number(last)), Ok(()));
        assert_eq!(colours.check(RecordPlace::from_number(1 << 39)), Err(Full));
    }

    #[test]
    fn several_workers_paint_the_same_word() {
        let colours = Colours::new(1 << 20);
        std::thread::scope(|scope| {
            for worker in 0..4 {
                let colours = &colours;
                scope.spawn(move || {
                    for number in (worker..40_000).step_by(4) {
                        colours.paint(RecordPlace::from_number(number), Colour::BLUE);
                        colours.paint(RecordPlace::from_number(number / 3), Colour::RED);
                    }
                });
            }
        });
        for number in 0..40_000 {
            let colour = colours.get(RecordPlace::from_number(number));
            assert_eq!((colour.is_blue(), colour.is_red()), (true, number < 40_000 / 3 + 1), "{number}");
        }
    }
}
