//! How the keys of a [`crate::compact`] segment are taken apart (quotienting, Cleary 1984), and how a line of
//! entries is looked at.
//!
//! A key, divided by a number `d`, gives its home line (the quotient) and what is left (the remainder). An
//! entry is the remainder with the number of lines from home, and satellite bits below; as many entries as
//! fit lie in a word of 64 bits, none in two.

use crate::pages::{Line, WORDS};
use crate::scan64::{self, Wanted};
use std::sync::atomic::Ordering::Relaxed;

/// The most bits of an entry that count the lines tried for it.
const MOST_PROBE_BITS: u32 = 4;

/// Where an entry of a segment is: the word, and how far up in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryPlace {
    pub line: u32,
    pub word: u32,
    pub shift: u32,
}

/// How the keys of a segment are taken apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    /// Keys that share a home line.
    pub divisor: u64,
    /// 2^64 / divisor, to divide by multiplication.
    pub reciprocal: u64,
    /// What is looked for in a word.
    pub wanted: Wanted,
    pub lines: u32,
    /// Bits of an entry: 1 + remainder × 2^probe_bits + probe number, and the satellite bits below.
    pub entry_bits: u8,
    /// Entries of a 64-bit word.
    pub per_word: u8,
    /// As a power of two: lines that are tried for a key; when all are full the segment grows, however low
    /// its load.
    pub probe_bits: u8,
    pub satellites: u8,
    /// The words of a line are looked at together.
    pub together: bool,
}

/// Keys that share a home line. A divisor of at least 2 keeps the reciprocal within 64 bits.
fn divisor(key_bits: u32, lines: u64) -> u64 {
    (1u64 << key_bits).div_ceil(lines.max(1)).max(2)
}

/// Bits of an entry, with those of the number of a probe and its satellite bits.
fn needed_bits(divisor: u64, probe_bits: u32, satellites: u32) -> u32 {
    64 - (divisor << probe_bits).leading_zeros() + satellites
}

impl Geometry {
    /// The fewest lines with which an entry fits into a word.
    pub fn least_lines(key_bits: u32, satellites: u32) -> u64 {
        let fits = |lines: u64| needed_bits(divisor(key_bits, lines), MOST_PROBE_BITS, satellites) <= 64;
        (0..64).map(|power| 1 << power).find(|&lines| fits(lines)).unwrap_or(1 << 63)
    }

    pub fn new(key_bits: u32, satellites: u32, lines: u64) -> Self {
        let divisor = divisor(key_bits, lines);
        // Lines of many entries overflow less often.
        let probe_bits = if needed_bits(divisor, 3, satellites) <= 32 { 3 } else { MOST_PROBE_BITS };
        let per_word = (64 / needed_bits(divisor, probe_bits, satellites)).max(1);
        let entry_bits = 64 / per_word;
        let repeated = |entry: u64| (0..per_word).fold(0, |word, i| word | entry << (i * entry_bits));
        Geometry {
            divisor,
            reciprocal: (u128::from(u64::MAX) / u128::from(divisor)) as u64,
            wanted: Wanted {
                values: repeated(u64::MAX >> (64 - entry_bits) & (u64::MAX << satellites)),
                ones: repeated(1),
                highs: repeated(1 << (entry_bits - 1)),
                last: 1 << ((per_word - 1) * entry_bits),
            },
            lines: lines as u32,
            entry_bits: entry_bits as u8,
            per_word: per_word as u8,
            probe_bits: probe_bits as u8,
            satellites: satellites as u8,
            together: scan64::is_supported(),
        }
    }

    /// How many entries there is room for.
    pub fn entries(&self) -> u64 {
        u64::from(self.lines) * WORDS as u64 * u64::from(self.per_word)
    }

    /// The quotient, or very rarely one less.
    #[inline(always)]
    pub fn about_home(&self, rest: u64) -> u64 {
        ((u128::from(rest) * u128::from(self.reciprocal)) >> 64) as u64
    }

    /// Quotient and remainder.
    #[inline(always)]
    pub fn home(&self, rest: u64) -> (u64, u64) {
        let mut quotient = self.about_home(rest);
        let mut remainder = rest - quotient * self.divisor;
        if remainder >= self.divisor {
            quotient += 1;
            remainder -= self.divisor;
        }
        (quotient, remainder)
    }

    /// How far apart the lines are that are tried for keys with this remainder.
    #[inline]
    pub fn stride(&self, remainder: u64) -> u64 {
        let spread = remainder.wrapping_mul(0xd1b5_4a32_d192_ed03) >> 32;
        1 + ((spread * u64::from(self.lines.saturating_sub(1).max(1))) >> 32)
    }

    /// The word of a line where the search for keys with this remainder begins.
    #[inline]
    pub fn first_word(remainder: u64) -> usize {
        (remainder.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61) as usize
    }

    /// The line that is tried after this one.
    #[inline]
    pub fn next_line(&self, line: u64, remainder: u64) -> u64 {
        let next = line + self.stride(remainder);
        if next >= u64::from(self.lines) { next - u64::from(self.lines) } else { next }
    }

    /// The home of an entry that was put into this line when `probe` others had been full.
    #[cold]
    pub fn home_of(&self, line: u64, remainder: u64, probe: u64) -> u64 {
        let lines = u64::from(self.lines);
        let back = probe * self.stride(remainder) % lines;
        if line >= back { line - back } else { line + lines - back }
    }

    /// The first word of a line, from `first` on, that has an entry of this value or an empty place: the
    /// word, the highest bits of such entries, and what is in the word.
    #[inline(always)]
    pub fn scan(&self, line: &Line, first: usize, value: u64) -> Option<(usize, u64, u64)> {
        let wanted = value.wrapping_mul(self.wanted.ones);
        if self.together {
            return self.scan_together(line, first, wanted);
        }
        let mut at = first;
        loop {
            let (found, entries) = self.look(line, at, wanted);
            if found != 0 || self.has_room(entries) {
                return Some((at % WORDS, found, entries));
            }
            at = (at + 1) % WORDS;
            if at == first {
                return None;
            }
        }
    }

    /// Scans a line without a loop. Only if others have filled a word since it was looked at, it is looked
    /// for again.
    #[inline(always)]
    pub fn scan_together(&self, line: &Line, first: usize, wanted: u64) -> Option<(usize, u64, u64)> {
        loop {
            let (alike, room) = scan64::scan(&self.wanted, line, wanted);
            if alike | room == 0 {
                return None;
            }
            // An entry lies in one word only, wherever the search for it begins.
            let words = if alike == 0 { room } else { alike };
            let from = (words | words << WORDS) >> first;
            let at = first + from.trailing_zeros() as usize;
            let (found, entries) = self.look(line, at, wanted);
            if found != 0 || self.has_room(entries) {
                return Some((at % WORDS, found, entries));
            }
        }
    }

    /// Entries of a word: the highest bits of those that are wanted, and all.
    #[inline(always)]
    pub fn look(&self, line: &Line, at: usize, wanted: u64) -> (u64, u64) {
        let entries = line.0[at % WORDS].load(Relaxed) & self.wanted.values;
        (self.zeros(entries ^ wanted), entries)
    }

    /// Whether a word has an empty place: it is filled from below, so the last one is then empty.
    #[inline(always)]
    pub fn has_room(&self, entries: u64) -> bool {
        entries < self.wanted.last
    }

    /// What a scan of a line shows for an entry of this value.
    #[inline(always)]
    pub fn seen(&self, line: u64, value: u64, (word, found, entries): (usize, u64, u64)) -> Probe {
        let place = |zeros: u64| EntryPlace {
            line: line as u32,
            word: word as u32,
            shift: zeros.trailing_zeros() + 1 - u32::from(self.entry_bits),
        };
        // Behind an empty place there is nothing.
        if found != 0 {
            Probe::Found(place(found))
        } else {
            Probe::Empty { place: place(self.zeros(entries)), value }
        }
    }

    /// Where entries are zero, their highest bits; the lowest of these bits is always right.
    #[inline]
    pub fn zeros(&self, word: u64) -> u64 {
        word.wrapping_sub(self.wanted.ones) & !word & self.wanted.highs
    }
}

/// What a look-up shows.
pub(crate) enum Probe {
    /// The entry is here.
    Found(EntryPlace),
    /// It is not there; it belongs here, with this value.
    Empty { place: EntryPlace, value: u64 },
    /// It is not there, and all lines that it may lie in are full.
    NoRoom,
}
