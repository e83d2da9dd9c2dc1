//! A part of the table's index: cache lines of entries, and what a prepared key knows of them. See
//! [`crate::table`].

use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::{Acquire, Relaxed};

use crate::Full;
use crate::arena::{Arena, PLACE_BITS, RecordPlace};
use crate::hash::hash;
use crate::pages::{Huge, Line, Narrow, Pages, WORDS, Width};
use std::collections::VecDeque;

/// Upper bits of the hash that choose the segment. Few, so that segments soon are as large as huge pages.
pub(crate) const SEGMENT_BITS: u32 = 3;
/// The number of segments.
pub(crate) const SEGMENTS: usize = 1 << SEGMENT_BITS;
/// Bits of the hash in an entry.
pub(crate) const TAG_BITS: u32 = 64 - PLACE_BITS;
/// The part of an entry that says where the record is.
pub(crate) const PLACE_MASK: u64 = (1 << PLACE_BITS) - 1;
/// A key lies less than 2^6 lines behind its home. A tag repeats at least as many bits of the home line's
/// number.
pub(crate) const NEAR_BITS: u32 = 6;
/// A tag repeats at most this number of bits of the home line's number, so that eight or more tell keys
/// apart: a wrong record is looked at in vain for at most 3 % of the keys.
pub(crate) const MOST_BITS: u32 = 16;
/// With 2^12 lines tags are renewed for the first time, which costs little then and lasts until there are
/// 1024 times as many keys.
const RENEWED_BITS: u32 = 12;
/// The number of lines of a new segment, as a power of two.
pub(crate) const FIRST_BITS: u32 = 1;
/// Segments with less than 2^8 lines become four times as large, so that a beginning search does not grow all
/// the time.
pub(crate) const SMALL_BITS: u32 = 8;
/// By how much a segment grows at once, as a power of two; unless an entry finds no room.
const MOST_MORE: u32 = 2;
/// From 2^15 lines on a segment grows where it is. A smaller one would do so with fewer pages in all, but its
/// beginning could never become a huge page, which costs as much.
const IN_PLACE_BITS: u32 = 15;
/// Strays that are inserted together.
const MANY_STRAYS: usize = 56;
/// More lines than this no segment can have: the tag must stay within the hash.
pub(crate) const LAST_BITS: u32 = 64 - SEGMENT_BITS - TAG_BITS + NEAR_BITS;

/// A prepared key: its hash, and what was seen of it. Below the key's length (in 8 bits) that is the place of
/// the record that is probably its own; or, with [`FRESH`] and the size of the segment, the number of the
/// entry that it can have; or, with [`PASSED`] and the size, that there is nothing of it in its home line.
#[derive(Clone, Copy, Debug)]
pub struct Ticket {
    pub(crate) hash: u64,
    pub(crate) seen: u64,
}

/// Nothing alike was where it is looked for, and then there was room.
pub(crate) const FRESH: u64 = 1 << 63;
/// Nothing alike was in the home line, which was full, and so stays as it is.
pub(crate) const PASSED: u64 = 1 << 62;
/// Where a ticket that is fresh or has passed its home has the size of the segment.
pub(crate) const SIZE_SHIFT: u32 = PLACE_BITS + 12;
/// The longest length on a ticket: no more of a record is asked for in advance.
pub(crate) const LONGEST: u64 = 0xff;

impl Ticket {
    #[inline(always)]
    pub(crate) fn new(key: &[u8]) -> Self {
        Ticket { hash: hash(key), seen: (key.len() as u64).min(LONGEST) << PLACE_BITS }
    }

    /// The record that is probably the key's.
    #[inline(always)]
    pub(crate) fn likely(self) -> Option<RecordPlace> {
        (self.seen & FRESH == 0 && self.seen & PLACE_MASK != 0)
            .then(|| RecordPlace::from_number(self.seen & PLACE_MASK))
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
    /// What a fresh ticket says of the segment.
    pub(crate) fresh: u64,
    /// The number of keys from which it is crowded.
    pub(crate) most: u64,
    /// The number of new keys after which a worker tells of them.
    pub(crate) quantum: u64,
    pub(crate) len: AtomicU64,
}

impl Segment {
    pub(crate) fn first() -> Self {
        Self::of(Pages::small(1 << FIRST_BITS), FIRST_BITS, 0)
    }

    pub(crate) fn new(bits: u32, skipped: u32, huge: &Huge) -> Result<Self, Full> {
        let lines = 1usize.checked_shl(bits).ok_or(Full)?;
        // Only to where its tags must be renewed can it grow where it is.
        let pages = match bits >= IN_PLACE_BITS {
            true => Pages::extensible(lines, 1 << (skipped + MOST_BITS - bits), huge)?,
            false => {
                // Reading memory that is not there yet maps a page of zeros, which the first writing takes
                // away from all processors.
                let pages = Pages::new(lines)?;
                pages.populate(0..lines, huge);
                pages
            }
        };
        Ok(Self::of(pages, bits, skipped))
    }

    pub(crate) fn of(lines: Pages, bits: u32, skipped: u32) -> Self {
        debug_assert!(skipped <= bits, "a tag cannot leave out more bits than a line number has");
        let capacity = (WORDS as u64) << bits;
        let quantum = (capacity / 32).clamp(1, 32);
        let (mask, reach) = ((1 << bits) - 1, 1 << bits.min(NEAR_BITS));
        // Beyond this load the ways that keys walk become long.
        let most = capacity / 16 * 13;
        let fresh = FRESH | u64::from(bits) << SIZE_SHIFT;
        let (shift, len) = (64 - bits, AtomicU64::new(0));
        Segment { lines, bits, shift, skipped, mask, reach, fresh, most, quantum, len }
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

    /// What a ticket says that found this entry of a line empty.
    #[inline(always)]
    pub(crate) fn found_empty(&self, line: usize, entry: u32) -> u64 {
        self.fresh | (line * WORDS) as u64 | u64::from(entry)
    }

    /// The entry that a fresh ticket names, if it was made for the segment as it is. If it is still empty,
    /// the key is new: lines are filled from the first entry on.
    #[inline(always)]
    pub(crate) fn entry(&self, ticket: Ticket) -> Option<&AtomicU64> {
        self.lines.words().get((ticket.seen ^ self.fresh) as usize)
    }

    /// What a ticket says that passed its home line.
    #[inline(always)]
    pub(crate) fn passed(&self) -> u64 {
        self.fresh ^ FRESH ^ PASSED
    }

    /// The lines in which a key with this home may lie.
    #[inline]
    pub(crate) fn way(&self, home: usize) -> impl Iterator<Item = &Line> {
        self.way_behind(home, 0)
    }

    /// The lines of the way behind the first `passed` of them.
    #[inline]
    pub(crate) fn way_behind(&self, home: usize, passed: usize) -> impl Iterator<Item = &Line> {
        let (lines, mask) = (self.lines.lines(), self.mask);
        (home + passed..home + self.reach).map(move |at| &lines[at & mask])
    }

    /// Puts an entry into the first free place, while nobody else works with the segment. False when there is
    /// none.
    pub(crate) fn put(&self, home: usize, entry: u64) -> bool {
        match self.way(home).find(|line| has_room(line)) {
            Some(line) => line.0[line.occupied() % WORDS].store(entry, Relaxed),
            None => return false,
        }
        true
    }

    /// The home of an entry found in this line: its lower bits are in the tag, the upper ones are those of a
    /// line less than 2^NEAR_BITS before.
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

    /// Moves all entries to `new`, which has 2^more times as many lines and tags that leave out as much.
    /// False when an entry found no room.
    pub(crate) fn move_to(&self, width: impl Width, new: &Segment, more: u32) -> bool {
        let mut strays = Strays::default();
        for (number, line) in self.lines.lines().iter().enumerate() {
            self.move_line(width, line, number, new, more, &mut strays);
            if !strays.homeless.is_empty() {
                return false;
            }
        }
        self.insert_strays(new, more, &mut strays);
        strays.homeless.is_empty()
    }

    /// Moves what a line with this number holds to a segment with 2^more times as many lines, where nearly
    /// all goes to the lines that follow from it. The line itself stays as it is. The rest is among the
    /// strays, to be [inserted](Segment::insert_strays) some time.
    #[inline(always)]
    fn move_line(
        &self,
        width: impl Width,
        line: &Line,
        number: usize,
        new: &Segment,
        more: u32,
        strays: &mut Strays,
    ) {
        let targets = new.lines.lines().get(2 * number..).and_then(|lines| lines.first_chunk());
        let left = match targets.filter(|_| more == 1) {
            Some(targets) => self.part(width, line, number, targets),
            None => (1 << width.occupied(line)) - 1,
        };
        if strays.add(width, line, number, left) {
            self.insert_strays(new, more, strays);
        }
    }

    /// Finds room for strays.
    #[inline(never)]
    fn insert_strays(&self, new: &Segment, more: u32, strays: &mut Strays) {
        let n = std::mem::take(&mut strays.len);
        for (&number, &entry) in strays.numbers.iter().zip(&strays.entries).take(n) {
            if !new.put(self.next_home(entry, number, more), entry) {
                strays.homeless.push((0, entry));
            }
        }
    }

    /// Parts those entries of a line with this number that lie at home, as nearly all do, into the two lines
    /// that follow from it. Says which entries are left to be moved: the others, or all when there is hardly
    /// room for them.
    #[inline(always)]
    fn part(&self, width: impl Width, line: &Line, number: usize, [lower, upper]: &[Line; 2]) -> u32 {
        let repeated = self.bits - self.skipped;
        let (home, ignored) = ((number as u64) << (64 - repeated), 63 - repeated);
        let (low, empty) = width.look(line, home, ignored);
        let high = width.look(line, home | 1 << ignored, ignored).0;
        let (low, all) = (low & !empty, !empty & 0xff);
        let (to_lower, to_upper) = (width.occupied(lower), width.occupied(upper));
        let n = |bits: u32| (bits as u8).count_ones() as usize;
        if (to_lower + n(low)).max(to_upper + n(high)) >= WORDS {
            return all;
        }
        width.deal(line, [(low, lower, to_lower), (high, upper, to_upper)]);
        all & !(low | high)
    }

    /// Bytes that growing takes beside what there is.
    pub(crate) fn bytes_to_grow(&self, more: u32) -> Option<u64> {
        let all = self.lines.bytes().checked_mul(1u64.checked_shl(more)?)?;
        Some(if self.grows_in_place(more) { all - self.lines.bytes() } else { all })
    }

    /// Whether its tags need not be renewed and it has the addresses.
    fn grows_in_place(&self, more: u32) -> bool {
        more <= MOST_MORE
            && !self.needs_renewal(self.bits + more)
            && self.lines.has_addresses(1 << (self.bits + more))
    }

    /// Whether tags must be renewed for this number of lines, or had better be.
    fn needs_renewal(&self, bits: u32) -> bool {
        bits - self.skipped > MOST_BITS || self.skipped == 0 && bits >= RENEWED_BITS
    }

    /// By how much it grows, as a power of two.
    pub(crate) fn step(&self) -> u32 {
        if self.bits < SMALL_BITS { 2 } else { 1 }
    }

    /// Becomes 2^more times as long. False when an entry found no room; then nothing has changed.
    pub(crate) fn grow(&mut self, more: u32, arena: &Arena) -> Result<bool, Full> {
        match arena.wide() {
            Some(wide) => self.grow_by(wide, more, arena),
            None => self.grow_by(Narrow, more, arena),
        }
    }

    #[inline(never)]
    fn grow_by(&mut self, width: impl Width, more: u32, arena: &Arena) -> Result<bool, Full> {
        let bits = self.bits + more;
        if bits > LAST_BITS || self.most == 0 {
            return Err(Full);
        }
        if self.grows_in_place(more) {
            return self.spread(width, more, arena).map(|()| true);
        }
        let new = if self.needs_renewal(bits) {
            rehashed(self.entries(), Segment::new(bits, bits - NEAR_BITS, arena.huge())?, arena)
        } else {
            let new = Segment::new(bits, self.skipped, arena.huge())?;
            self.move_to(width, &new, more).then_some(new)
        };
        let Some(new) = new else { return Ok(false) };
        self.replace_by(new);
        Ok(true)
    }

    fn replace_by(&mut self, new: Segment) {
        let told = self.len.load(Relaxed);
        *self = new;
        self.len = AtomicU64::new(told);
    }

    /// Becomes longer where it is. Lines are emptied from the last to the first, so that the new homes of
    /// their entries are behind all that is still to be moved: an entry's home is less than 2^NEAR_BITS lines
    /// before it, and its number at least doubles. Of the first lines that is not true; their entries wait
    /// until the end.
    fn spread(&mut self, width: impl Width, more: u32, arena: &Arena) -> Result<(), Full> {
        let old = Segment::of(Pages::small(0), self.bits, self.skipped);
        let mut new =
            Segment::of(std::mem::replace(&mut self.lines, Pages::small(0)), old.bits + more, old.skipped);
        new.lines.extend(1 << new.bits, arena.huge());
        let first = (2usize << NEAR_BITS).min(1 << old.bits);
        let mut waiting: Vec<(usize, u64)> = Vec::new();
        for number in 0..first {
            let entries = empty(&new.lines.lines()[number]);
            waiting.extend(entries.into_iter().filter(|&entry| entry != 0).map(|entry| (number, entry)));
        }
        let mut strays = Strays::default();
        for number in (first..1 << old.bits).rev() {
            let line = &new.lines.lines()[number];
            old.move_line(width, line, number, &new, more, &mut strays);
            line.0.iter().for_each(|word| word.store(0, Relaxed));
        }
        old.insert_strays(&new, more, &mut strays);
        let mut homeless = strays.homeless;
        for (number, entry) in waiting {
            if !new.put(old.next_home(entry, number, more), entry) {
                homeless.push((0, entry));
            }
        }
        self.replace_by(new);
        if homeless.is_empty() { Ok(()) } else { self.house(homeless, arena) }
    }

    /// Finds room for entries for which there was none, however much it takes. Entries must not be lost:
    /// without memory for that, nothing more can be inserted.
    #[cold]
    fn house(&mut self, homeless: Vec<(usize, u64)>, arena: &Arena) -> Result<(), Full> {
        self.most = 0;
        for bits in self.bits + 1..=LAST_BITS {
            let new = Segment::new(bits, bits - NEAR_BITS, arena.huge())?;
            if let Some(new) = rehashed(self.entries().chain(homeless.iter().copied()), new, arena) {
                self.replace_by(new);
                return Ok(());
            }
        }
        Err(Full)
    }

    /// All entries with the number of the line that each lies in.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, u64)> {
        let lines = self.lines.lines().iter().enumerate();
        lines.flat_map(|(number, line)| {
            line.0.iter().map(move |word| (number, word.load(Relaxed))).filter(|&(_, entry)| entry != 0)
        })
    }
}

/// Entries that do not go where those beside them go. They are put aside, because when there will be one no
/// processor can foresee.
#[derive(Debug)]
struct Strays {
    /// The first `len` of these.
    entries: [u64; MANY_STRAYS + WORDS],
    /// The line that each lay in.
    numbers: [usize; MANY_STRAYS + WORDS],
    len: usize,
    /// Those for which there was no room.
    homeless: Vec<(usize, u64)>,
}

impl Default for Strays {
    fn default() -> Self {
        let (entries, numbers) = ([0; MANY_STRAYS + WORDS], [0; MANY_STRAYS + WORDS]);
        Strays { entries, numbers, len: 0, homeless: Vec::new() }
    }
}

impl Strays {
    /// Adds those entries of a line with this number, and says whether there are enough of them that they
    /// must be inserted.
    #[inline(always)]
    fn add(&mut self, width: impl Width, line: &Line, number: usize, which: u32) -> bool {
        let len = self.len;
        debug_assert!(len < MANY_STRAYS, "strays were not inserted");
        if let Some(to) = self.entries[len..].first_chunk_mut() {
            width.take(line, which, to);
        }
        if let Some(numbers) = self.numbers[len..].first_chunk_mut::<WORDS>() {
            *numbers = [number; WORDS];
        }
        self.len = len + (which as u8).count_ones() as usize;
        self.len >= MANY_STRAYS
    }
}

/// Moves entries to `new` with tags from the records, which are asked for some lines in advance. `None` when
/// one found no room.
fn rehashed(entries: impl Iterator<Item = (usize, u64)>, new: Segment, arena: &Arena) -> Option<Segment> {
    let mut key = Vec::new();
    let mut ahead = VecDeque::with_capacity(2 * WORDS);
    let mut move_one = |place: RecordPlace| {
        key.clear();
        arena.read(place, &mut key);
        let hash = hash(&key);
        new.put(new.home(hash), new.tag(hash) | place.number())
    };
    for (_, entry) in entries {
        arena.prefetch(place_of(entry), 64);
        ahead.push_back(place_of(entry));
        if ahead.len() == 2 * WORDS && !ahead.pop_front().is_some_and(&mut move_one) {
            return None;
        }
    }
    ahead.into_iter().all(move_one).then_some(new)
}

/// Takes the entries out of a line.
fn empty(line: &Line) -> [u64; WORDS] {
    std::array::from_fn(|at| {
        let entry = line.0[at].load(Relaxed);
        line.0[at].store(0, Relaxed);
        entry
    })
}

/// Where the record of an entry is.
#[inline]
pub(crate) fn place_of(entry: u64) -> RecordPlace {
    RecordPlace::from_number(entry & PLACE_MASK)
}

/// Whether a line has an empty entry. They are filled from the first on.
#[inline]
pub(crate) fn has_room(line: &Line) -> bool {
    line.0[WORDS - 1].load(Acquire) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Block;

    fn written(arena: &Arena, n: u64) -> Vec<(u64, RecordPlace)> {
        let mut block = Block::default();
        (0..n)
            .map(|i| {
                let key = i.to_le_bytes();
                (hash(&key), arena.write(&mut block, &key, |_| Ok(())).unwrap())
            })
            .collect()
    }

    fn holds(segment: &Segment, hash: u64, place: RecordPlace) -> bool {
        let entry = segment.tag(hash) | place.number();
        segment.way(segment.home(hash)).any(|line| line.0.iter().any(|word| word.load(Relaxed) == entry))
    }

    #[test]
    fn entries_are_spread_where_they_are() {
        spread_in(Arena::new(u64::MAX));
        let mut narrow = Arena::new(u64::MAX);
        narrow.be_narrow();
        spread_in(narrow);
    }

    #[test]
    fn a_segment_has_no_more_lines_than_a_hash_has_bits_for() {
        let arena = Arena::new(1 << 20);
        let mut segment = Segment::of(Pages::small(1 << FIRST_BITS), LAST_BITS, LAST_BITS - NEAR_BITS);
        assert_eq!(segment.grow(1, &arena), Err(Full));
    }

    /// A line of this segment is long enough to overflow into many others, and over the end to the first
    /// ones.
    fn spread_in(arena: Arena) {
        let keys = written(&arena, 60_000);
        let bits = 12;
        let pages = Pages::extensible(1 << bits, 4, arena.huge()).unwrap();
        let mut segment = Segment::of(pages, bits, bits - NEAR_BITS);
        let crowded = |line: usize| line % 512 < 4 || line > (1 << bits) - 3;
        let mut kept: Vec<_> = keys.iter().filter(|(hash, _)| crowded(segment.home(*hash))).collect();
        let some = keys.iter().filter(|(hash, _)| !crowded(segment.home(*hash)));
        kept.extend(some.take(8_000));
        // Crowded lines get each key twice or more; which is as good as several.
        let crowds: Vec<_> = kept.iter().copied().filter(|(hash, _)| crowded(segment.home(*hash))).collect();
        for &&(hash, place) in crowds.iter().chain(&crowds).chain(&crowds).chain(&kept) {
            assert!(segment.put(segment.home(hash), segment.tag(hash) | place.number()));
        }
        let n = segment.entries().count();
        assert!(
            segment.entries().any(|(line, entry)| segment.home_of(entry, line) > line),
            "none over the end"
        );
        for more in [1, 1] {
            assert_eq!(segment.bytes_to_grow(more), Some(segment.lines.bytes()));
            assert_eq!(segment.grow(more, &arena), Ok(true));
            assert_eq!(segment.entries().count(), n);
            assert!(kept.iter().all(|&&(hash, place)| holds(&segment, hash, place)));
        }
        assert_eq!(segment.bits, bits + 2);
        assert_eq!(segment.bytes_to_grow(2), Some(4 * segment.lines.bytes()), "it has no more addresses");
    }

    #[test]
    fn entries_without_room_are_housed_or_nothing_goes_on() {
        let arena = Arena::new(u64::MAX);
        let keys = written(&arena, 20_000);
        let mut segment = Segment::new(12, 0, arena.huge()).unwrap();
        let (some, others) = keys.split_at(5_000);
        for &(hash, place) in some {
            assert!(segment.put(segment.home(hash), segment.tag(hash) | place.number()));
        }
        let homeless = others.iter().map(|(hash, place)| (0, segment.tag(*hash) | place.number())).collect();
        assert_eq!(segment.house(homeless, &arena), Ok(()));
        assert!(segment.most > 0 && keys.iter().all(|&(hash, place)| holds(&segment, hash, place)));
        segment.most = 0;
        assert_eq!(segment.grow(1, &arena), Err(Full));
    }
}
