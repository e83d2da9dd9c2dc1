//! A part of the table's index: cache lines of entries, and what a prepared key knows of them. See [`crate::table`].

use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::{Acquire, Relaxed};

use crate::Full;
use crate::arena::{Arena, PLACE_BITS, Place};
use crate::hash::hash;
use crate::pages::{Line, Pages, WORDS};

/// Upper bits of the hash that choose the segment. Few, so that segments soon are as large as huge pages.
pub(crate) const SEGMENT_BITS: u32 = 3;
/// The number of segments.
pub(crate) const SEGMENTS: usize = 1 << SEGMENT_BITS;
/// Bits of the hash in an entry.
pub(crate) const TAG_BITS: u32 = 64 - PLACE_BITS;
/// The part of an entry that says where the record is.
pub(crate) const PLACE_MASK: u64 = (1 << PLACE_BITS) - 1;
/// A key lies less than 2^6 lines behind its home. A tag repeats at least as many bits of the home line's number.
pub(crate) const NEAR_BITS: u32 = 6;
/// A tag repeats at most so many bits of the home line's number, so that ten or more tell keys apart.
pub(crate) const MOST_BITS: u32 = 14;
/// The number of lines of a new segment, as a power of two.
pub(crate) const FIRST_BITS: u32 = 1;
/// Segments with less than 2^8 lines become four times as large, so that a beginning search does not grow all the time.
pub(crate) const SMALL_BITS: u32 = 8;
/// More lines than this no segment can have: the tag must stay within the hash.
pub(crate) const LAST_BITS: u32 = 64 - SEGMENT_BITS - TAG_BITS + NEAR_BITS;

/// A prepared key: its hash, and what was seen of it. Below the key's length (up to 12 bits) that is the place of the record
/// that is probably its own, or, with [`FRESH`] and the size of the segment, the entry of its home line that it can have.
#[derive(Clone, Copy, Debug)]
pub struct Ticket {
    pub(crate) hash: u64,
    pub(crate) seen: u64,
}

/// Nothing alike was in the home line, which had room.
pub(crate) const FRESH: u64 = 1 << 63;
/// Where a fresh ticket has the size of the segment.
pub(crate) const SIZE_SHIFT: u32 = PLACE_BITS + 12;
/// The longest length on a ticket.
pub(crate) const LONGEST: u64 = 0xfff;

impl Ticket {
    #[inline(always)]
    pub(crate) fn new(key: &[u8]) -> Self {
        Ticket { hash: hash(key), seen: (key.len() as u64).min(LONGEST) << PLACE_BITS }
    }

    /// The record that is probably the key's.
    #[inline(always)]
    pub(crate) fn likely(self) -> Option<Place> {
        (self.seen & FRESH == 0 && self.seen & PLACE_MASK != 0)
            .then(|| Place::from_number(self.seen & PLACE_MASK))
    }

    /// The key's length, or less for a very long one.
    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        (self.seen >> PLACE_BITS & LONGEST) as usize
    }
}

/// A part of the index. Aligned, so that finding one takes no multiplication.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Segment {
    pub(crate) lines: Pages,
    /// There are 2^bits lines.
    pub(crate) bits: u32,
    /// The bits of a hash that do not name the line.
    pub(crate) shift: u32,
    /// How many of the line number's upper bits the tag leaves out.
    pub(crate) skipped: u32,
    /// The number of lines less one.
    pub(crate) mask: usize,
    /// In how many lines a key may lie.
    pub(crate) reach: usize,
    /// With so many keys it is crowded.
    pub(crate) most: u64,
    /// Workers tell of their new keys when they have so many.
    pub(crate) quantum: u64,
    pub(crate) len: AtomicU64,
}

impl Segment {
    pub(crate) fn first() -> Self {
        Self::of(Pages::small(1 << FIRST_BITS), FIRST_BITS, 0)
    }

    pub(crate) fn new(bits: u32, skipped: u32) -> Result<Self, Full> {
        let lines = 1usize.checked_shl(bits).ok_or(Full)?;
        Ok(Self::of(Pages::new(lines)?, bits, skipped))
    }

    pub(crate) fn of(lines: Pages, bits: u32, skipped: u32) -> Self {
        let capacity = (WORDS as u64) << bits;
        let quantum = (capacity / 32).clamp(1, 32);
        let (mask, reach) = ((1 << bits) - 1, 1 << bits.min(NEAR_BITS));
        let most = capacity / 16 * 13;
        Segment { lines, bits, shift: 64 - bits, skipped, mask, reach, most, quantum, len: AtomicU64::new(0) }
    }

    #[inline(always)]
    pub(crate) fn home(&self, hash: u64) -> usize {
        ((hash << SEGMENT_BITS) >> self.shift) as usize
    }

    /// The entry of a key with this hash, still without a place.
    #[inline]
    pub(crate) fn tag(&self, hash: u64) -> u64 {
        (hash << (SEGMENT_BITS + self.skipped)) & !PLACE_MASK
    }

    /// The entry that a fresh ticket names.
    #[inline(always)]
    pub(crate) fn entry(&self, ticket: Ticket) -> &AtomicU64 {
        &self.lines.lines()[self.home(ticket.hash)].0[ticket.seen as usize % WORDS]
    }

    /// Whether this is the segment in which a fresh ticket's key was looked for. If so, and if its entry is still empty, the key
    /// is new: lines are filled from the first entry on.
    #[inline(always)]
    pub(crate) fn is_as_it_was(&self, ticket: Ticket) -> bool {
        (ticket.seen & !FRESH) >> SIZE_SHIFT == u64::from(self.bits)
    }

    /// The lines in which a key with this home may lie.
    #[inline]
    pub(crate) fn way(&self, home: usize) -> impl Iterator<Item = &Line> {
        let (lines, mask) = (self.lines.lines(), self.mask);
        (home..home + self.reach).map(move |at| &lines[at & mask])
    }

    /// Puts an entry into the first free place, while nobody else works with the segment. False when there is none.
    pub(crate) fn put(&self, home: usize, entry: u64) -> bool {
        match self.way(home).find(|line| has_room(line)) {
            Some(line) => line.0[line.occupied() % WORDS].store(entry, Relaxed),
            None => return false,
        }
        true
    }

    /// The home of an entry found in this line: its lower bits are in the tag, the upper ones are those of a line
    /// less than 2^NEAR_BITS before.
    #[inline(always)]
    pub(crate) fn home_of(&self, entry: u64, line: usize) -> usize {
        let repeated = self.bits - self.skipped;
        let lower = (entry >> (64 - repeated)) as usize;
        let behind = line.wrapping_sub(lower) & ((1 << repeated) - 1);
        line.wrapping_sub(behind) & self.mask
    }

    /// The home of the same entry when there are 2^more times as many lines.
    #[inline(always)]
    pub(crate) fn next_home(&self, entry: u64, line: usize, more: u32) -> usize {
        let repeated = self.bits - self.skipped;
        let next = ((entry << repeated) >> (64 - more)) as usize;
        self.home_of(entry, line) << more | next
    }

    /// Moves all entries to `new`, which has 2^more times as many lines and tags that leave out as much. False when an entry
    /// found no room.
    pub(crate) fn move_to(&self, new: &Segment, more: u32) -> bool {
        let lines = new.lines.lines();
        for (number, line) in self.lines.lines().iter().enumerate() {
            for word in &line.0 {
                let entry = word.load(Relaxed);
                if entry == 0 {
                    break;
                }
                let home = self.next_home(entry, number, more);
                let line = &lines[home & new.mask];
                if has_room(line) {
                    line.0[line.occupied() % WORDS].store(entry, Relaxed);
                } else if !new.put(home, entry) {
                    return false;
                }
            }
        }
        true
    }

    /// This segment with 2^more times as many lines. `None` when an entry found no room.
    pub(crate) fn grown(&self, more: u32, arena: &Arena) -> Result<Option<Self>, Full> {
        let bits = self.bits + more;
        if bits > LAST_BITS {
            return Err(Full);
        }
        if bits - self.skipped <= MOST_BITS {
            let new = Segment::new(bits, self.skipped)?;
            Ok(self.move_to(&new, more).then_some(new))
        } else {
            self.rehashed(Segment::new(bits, bits - NEAR_BITS)?, arena)
        }
    }

    /// Moves all entries to `new` with tags from the records. Records are asked for some lines in advance.
    pub(crate) fn rehashed(&self, new: Segment, arena: &Arena) -> Result<Option<Self>, Full> {
        let mut key = Vec::new();
        let ahead = self.entries().skip(2 * WORDS).map(Some).chain(std::iter::repeat(None));
        for ((_, entry), ahead) in self.entries().zip(ahead) {
            if let Some((_, entry)) = ahead {
                arena.prefetch(place_of(entry), 64);
            }
            key.clear();
            arena.read(place_of(entry), &mut key);
            let hash = hash(&key);
            if !new.put(new.home(hash), new.tag(hash) | entry & PLACE_MASK) {
                return Ok(None);
            }
        }
        Ok(Some(new))
    }

    /// All entries with the number of the line that each lies in.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, u64)> {
        let lines = self.lines.lines().iter().enumerate();
        lines.flat_map(|(number, line)| {
            line.0.iter().map(move |word| (number, word.load(Relaxed))).filter(|&(_, entry)| entry != 0)
        })
    }
}

/// Where the record of an entry is.
#[inline]
pub(crate) fn place_of(entry: u64) -> Place {
    Place::from_number(entry & PLACE_MASK)
}

/// Whether a line has an empty entry. They are filled from the first on.
#[inline]
pub(crate) fn has_room(line: &Line) -> bool {
    line.0[WORDS - 1].load(Acquire) == 0
}
