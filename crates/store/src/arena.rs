//! Byte strings written once and never moved, found again by a number of 40 bits.
//!
//! The numbers count words of eight bytes. The words lie in one range of addresses, as long as they may ever
//! need: addresses cost nothing, memory is there only where something was written. So nothing is ever copied,
//! and a place is an address. Every writer takes a *block* for itself and fills it alone, so writers do not
//! disturb each other.
//!
//! A record is its length in one byte and the string ([`crate::strings`]), in words. A string of 192 bytes or
//! more has a whole word in front: 255, then the length. A string with many zeros (channels are mostly empty)
//! is kept *sparse*: a word with 254, the length, and a bit for each word of the string that is not zero;
//! then those words. When enough long strings are there to tell in which bits they differ, others are
//! [packed](crate::packing): a first byte from 192 on says how.

use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::collections::BTreeMap;

use crate::Full;
use crate::packing::{self, Observed, Packing, Written};
use crate::pages::{Huge, Pages, WORDS, Wide, prefetch, wide};
use crate::strings;

/// Bits of a [`RecordPlace`].
pub const PLACE_BITS: u32 = 40;
/// Memory is asked for in advance by a fraction of what there is, but at least and at most these numbers of
/// words: 32 KB and 2 MB, with which huge pages begin.
const ADVANCE: (u64, u64) = (1 << 12, 1 << 18);
/// Words of the smallest and of the largest block that a writer takes for several records.
const BLOCK: (u64, u64) = (1 << 7, 1 << 15);
/// Words of a record that are asked for in advance.
const FETCHED: usize = 4 * WORDS;
/// The first byte of a record whose length is in its first word.
const LONG: u64 = 255;
/// The first byte of a sparse record; its length is in the next two bytes, then the bits of the words that
/// are there.
const SPARSE: u64 = 254;
/// The first byte of the records of the first packing; the next ones follow.
const PACKED: usize = strings::LONGEST + 1;
/// The first bytes from here on are those of other records than whole strings.
const UNUSUAL: u64 = PACKED as u64;
/// The largest number of packings.
const MOST_PACKINGS: usize = SPARSE as usize - PACKED;
/// Long strings that were not packed after which it is learned how: at least this number, and this part of
/// all.
const LEARN: (u64, u64) = (1 << 12, 16);
/// Where these bits begin.
const MASK_SHIFT: u32 = 24;
/// Lengths of strings that may be sparse.
const SPARSE_LENS: std::ops::RangeInclusive<usize> = 33..=8 * (64 - MASK_SHIFT as usize);

/// Where a record is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct RecordPlace(u64);

impl RecordPlace {
    /// The place as a number below 2^40 that is not 0, for callers that keep places in less than eight bytes.
    pub fn number(self) -> u64 {
        self.0
    }

    /// The place with this number, which [`RecordPlace::number`] gave.
    pub fn from_number(number: u64) -> Self {
        RecordPlace(number)
    }
}

/// The part of an arena that one writer fills.
#[derive(Debug, Default)]
pub struct Block {
    start: u64,
    at: u64,
    end: u64,
}

/// The records.
#[derive(Debug)]
pub struct Arena {
    pages: Pages,
    /// The first word that belongs to no block. RecordPlace 0 stays empty.
    next: AtomicU64,
    /// The first word of which the memory has not been asked for.
    asked: AtomicU64,
    /// Whether to ask for huge pages.
    huge: Huge,
    /// Whether lines are looked at as a whole.
    wide: Option<Wide>,
    packings: Packings,
}

/// How long strings are packed.
#[derive(Debug)]
struct Packings {
    all: Vec<Packing>,
    /// For each length the number of the newest one; [`MOST_PACKINGS`] if there is none.
    newest: Vec<u8>,
    /// How many words of a record are asked for in advance, less one, for each length up to 255.
    spans: [u8; 256],
    /// Strings that were not packed since it was learned how, and how many are too many.
    unpacked: AtomicU64,
    relearn_after: u64,
}

impl Default for Packings {
    fn default() -> Self {
        Packings {
            all: Vec::new(),
            newest: vec![MOST_PACKINGS as u8; packing::LENS.end],
            spans: std::array::from_fn(|len| (len / 8).min(FETCHED - 1) as u8),
            unpacked: AtomicU64::new(0),
            relearn_after: LEARN.0,
        }
    }
}

impl Packings {
    /// How strings of this length are packed now.
    #[inline(always)]
    fn newest(&self, len: usize) -> Option<&Packing> {
        if len < packing::LENS.start {
            return None;
        }
        self.all.get(usize::from(*self.newest.get(len)?))
    }

    /// How a record that begins so is packed.
    #[inline(always)]
    fn of(&self, first: u64) -> Option<&Packing> {
        self.all.get(((first & 0xff) as usize).wrapping_sub(PACKED))
    }

    /// Notes that a string was not packed.
    #[inline(always)]
    fn note_unpacked(&self, len: usize) {
        if packing::LENS.contains(&len) && self.relearn_after < u64::MAX {
            self.unpacked.fetch_add(1, Relaxed);
        }
    }

    /// Learns from some strings how to pack others as long. Says whether that is possible, and new.
    fn learn(&mut self, len: usize, seen: &Observed) -> bool {
        let mut observed = seen.clone();
        if let Some(before) = self.newest(len) {
            observed.add_packed(before);
        }
        let number = self.all.len();
        let marker = u8::try_from(PACKED + number).ok().filter(|_| number < MOST_PACKINGS);
        let packing = marker.and_then(|marker| Packing::new(&observed, marker, record_words(len) as usize));
        let is_new = |packing: &Packing| self.newest(len).is_none_or(|before| !packing.is_like(before));
        let Some(packing) = packing.filter(is_new) else { return false };
        self.newest[len] = number as u8;
        self.spans[len.min(255)] = (packing.words() - 1).min(FETCHED - 1) as u8;
        self.all.push(packing);
        true
    }
}

#[inline]
fn words_of(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks_exact(8).map(|chunk| chunk.try_into().map_or(0, u64::from_le_bytes))
}

/// Words of the record of a key of this length that is not sparse; a sparse one has less.
pub fn record_words(len: usize) -> u64 {
    let len = len as u64;
    if len > strings::LONGEST as u64 { 1 + len.div_ceil(8) } else { (len + 1).div_ceil(8) }
}

/// Calls `each` with all words of a key of eight bytes or more, the last one filled up with zeros, while it
/// says so.
#[inline(always)]
fn all_words(key: &[u8], mut each: impl FnMut(u64) -> bool) -> bool {
    let bytes = key.len() % 8;
    words_of(key).all(&mut each)
        && (bytes == 0
            || key.last_chunk().is_some_and(|last| each(u64::from_le_bytes(*last) >> (64 - 8 * bytes))))
}

/// Which words of a key are not zero, if it is worth while to leave out the others: at least half, because
/// looking up a sparse record takes longer.
#[inline]
fn sparse_mask(key: &[u8]) -> Option<u64> {
    if !SPARSE_LENS.contains(&key.len()) {
        return None;
    }
    let (mut mask, mut bit) = (0, 1u64);
    all_words(key, |word| {
        mask |= if word == 0 { 0 } else { bit };
        bit <<= 1;
        true
    });
    (2 * (1 + u64::from(mask.count_ones())) <= record_words(key.len())).then_some(mask)
}

/// Words of the record of a key with this mask.
#[inline]
fn words_needed(key: &[u8], mask: Option<u64>) -> u64 {
    mask.map_or_else(|| record_words(key.len()), |mask| 1 + u64::from(mask.count_ones()))
}

impl Arena {
    /// An arena that may come to hold `limit` bytes, or as many as the system has addresses for.
    pub fn new(limit: u64) -> Self {
        let words = (limit / 8).clamp(BLOCK.0, (1 << PLACE_BITS) - 1);
        let pages = Pages::reserved(words.div_ceil(WORDS as u64) as usize);
        let pages = pages.unwrap_or_else(|Full| Pages::small(0));
        Arena {
            pages,
            next: AtomicU64::new(1),
            asked: AtomicU64::new(0),
            huge: Huge::default(),
            wide: wide(),
            packings: Packings::default(),
        }
    }

    /// Bytes that writers have taken. Memory that nobody has taken was never touched.
    pub fn memory(&self) -> u64 {
        (self.next.load(Relaxed) - 1) * 8
    }

    /// Writes a record into the block, which is changed for another when it is too small. `permit` is asked
    /// before memory is taken, in bytes.
    #[inline(always)]
    pub fn write(
        &self,
        block: &mut Block,
        key: &[u8],
        permit: impl Fn(u64) -> Result<(), Full>,
    ) -> Result<RecordPlace, Full> {
        if let Some(packing) = self.packings.newest(key.len())
            && let Some(written) = self.write_packed(block, packing, key, &permit)
        {
            return written;
        }
        self.packings.note_unpacked(key.len());
        let mask = sparse_mask(key);
        if mask.is_none() {
            let words = self.pages.words().get(block.at as usize..block.end as usize);
            if words.is_some_and(|words| strings::write(words, key)) {
                let place = RecordPlace(block.at);
                block.at += strings::words_of(key.len()) as u64;
                return Ok(place);
            }
        }
        self.write_unusual(block, key, mask, permit)
    }

    /// Writes a record that is packed; `None` if that is not possible.
    #[inline(never)]
    fn write_packed(
        &self,
        block: &mut Block,
        packing: &Packing,
        key: &[u8],
        permit: &impl Fn(u64) -> Result<(), Full>,
    ) -> Option<Result<RecordPlace, Full>> {
        let needed = packing.words() as u64;
        let words = self.pages.words().get(block.at as usize..block.end as usize).unwrap_or(&[]);
        let place = match packing.write(words, key) {
            Written::Misfit => return None,
            Written::Done => RecordPlace(block.at),
            Written::NoRoom => match self.refill(block, needed, permit) {
                Err(Full) => return Some(Err(Full)),
                Ok(alone) => {
                    let place = alone.unwrap_or(RecordPlace(block.at));
                    // In a block of its own a string that does not fit leaves a gap.
                    if packing.write(self.words(place), key) != Written::Done {
                        return None;
                    }
                    if alone.is_some() {
                        return Some(Ok(place));
                    }
                    place
                }
            },
        };
        block.at += needed;
        Some(Ok(place))
    }

    /// Writes a record that is sparse or long, or for which the block has no room.
    #[inline(never)]
    fn write_unusual(
        &self,
        block: &mut Block,
        key: &[u8],
        mask: Option<u64>,
        permit: impl Fn(u64) -> Result<(), Full>,
    ) -> Result<RecordPlace, Full> {
        let needed = words_needed(key, mask);
        if block.end - block.at < needed
            && let Some(place) = self.refill(block, needed, permit)?
        {
            self.fill(place, key, mask);
            return Ok(place);
        }
        let place = RecordPlace(block.at);
        self.fill(place, key, mask);
        block.at += needed;
        Ok(place)
    }

    /// Writes the words of a record.
    fn fill(&self, place: RecordPlace, key: &[u8], mask: Option<u64>) {
        if mask.is_none() && key.len() <= strings::LONGEST {
            strings::write(self.words(place), key);
        } else {
            self.fill_unusual(place, key, mask);
        }
    }

    /// Writes a record that is sparse or long.
    fn fill_unusual(&self, place: RecordPlace, key: &[u8], mask: Option<u64>) {
        let Some((head, words)) = self.words(place).split_first() else { return };
        let len = key.len() as u64;
        let first = mask.map_or(LONG | len << 8, |mask| SPARSE | len << 8 | mask << MASK_SHIFT);
        // Relaxed throughout: the entry of the index that leads here is published afterwards (Release), and
        // who reads a record has come by such an entry (Acquire).
        head.store(first, Relaxed);
        let mut places = words.iter();
        all_words(key, |value| {
            if value != 0 || mask.is_none() {
                places.next().into_iter().for_each(|word| word.store(value, Relaxed));
            }
            true
        });
    }

    /// Takes back the record that was written last, for a writer who sees that it is not needed. One so long
    /// that it has a block of its own stays.
    pub fn unwrite(&self, block: &mut Block, place: RecordPlace, key: &[u8]) {
        let packing = self.record(place).and_then(|(_, first)| self.packings.of(first));
        let packed = packing.map(|packing| packing.words() as u64);
        let words = packed.unwrap_or_else(|| words_needed(key, sparse_mask(key)));
        // Only the record at the end of the block can be taken back. Nobody has seen it: it was not
        // published.
        if place.0 + words == block.at && place.0 >= block.start {
            block.at = place.0;
        }
    }

    /// Whether the record is that of `key`. This is the hottest comparison of a search.
    #[inline(always)]
    pub fn is(&self, place: RecordPlace, key: &[u8]) -> bool {
        let Some((words, first)) = self.record(place) else { return false };
        match first & 0xff {
            UNUSUAL.. => self.is_unusual(place, key),
            len => len == key.len() as u64 && strings::is(words, key),
        }
    }

    /// Whether a record that is packed, sparse or long is that of `key`.
    #[inline(never)]
    fn is_unusual(&self, place: RecordPlace, key: &[u8]) -> bool {
        let all = self.words(place);
        let Some((first, words)) = all.split_first() else { return false };
        let first = first.load(Relaxed);
        if let Some(packing) = self.packings.of(first) {
            return packing.is(all, key);
        }
        match first {
            first if first & 0xff == SPARSE => is_sparse(words, first, key),
            first if first >> 8 != key.len() as u64 => false,
            _ => {
                let mut there = words.iter();
                all_words(key, |word| there.next().is_some_and(|there| there.load(Relaxed) == word))
            }
        }
    }

    /// Appends the string of a record. Every state is read once.
    #[inline(always)]
    pub fn read(&self, place: RecordPlace, out: &mut Vec<u8>) {
        let Some((words, first)) = self.record(place) else { return };
        match first & 0xff {
            UNUSUAL.. => self.read_unusual(place, out),
            len => strings::read(words, len as usize, out),
        }
    }

    /// Appends the string of a record that is packed, sparse or long.
    #[inline(never)]
    fn read_unusual(&self, place: RecordPlace, out: &mut Vec<u8>) {
        let all = self.words(place);
        let Some((first, words)) = all.split_first() else { return };
        let first = first.load(Relaxed);
        if let Some(packing) = self.packings.of(first) {
            return packing.read(all, out);
        }
        if first & 0xff == SPARSE {
            return read_sparse(words, first, out);
        }
        let len = (first >> 8) as usize;
        out.reserve(len + 8);
        let end = out.len() + len;
        for word in &words[..len.div_ceil(8)] {
            out.extend_from_slice(&word.load(Relaxed).to_le_bytes());
        }
        out.truncate(end);
    }

    /// Asks for the memory of a record of a key of this length. Of a long one only the beginning: the
    /// processor notices that lines are read one after another.
    #[inline]
    pub fn prefetch(&self, place: RecordPlace, len: usize) {
        let last = usize::from(self.packings.spans[len.min(255)]);
        let at = place.0 as usize;
        let Some(record) = self.pages.words().get(at..=at + last) else { return };
        prefetch(&record[0]);
        prefetch(&record[last]);
        if last > WORDS {
            (WORDS..last).step_by(WORDS).for_each(|at| prefetch(&record[at]));
        }
    }

    /// The words from `place` on, and the first of them, if that is a place.
    #[inline(always)]
    fn record(&self, place: RecordPlace) -> Option<(&[AtomicU64], u64)> {
        let words = self.pages.words().get(place.0 as usize..)?;
        Some((words, words.first()?.load(Relaxed)))
    }

    /// The words from `place` on; none if that is no place.
    #[inline]
    fn words(&self, place: RecordPlace) -> &[AtomicU64] {
        self.pages.words().get(place.0 as usize..).unwrap_or(&[])
    }

    /// Finds room for `words` words: a new block for the writer, or, when that would leave much of the old
    /// one unused, a place for this record alone.
    #[cold]
    fn refill(
        &self,
        block: &mut Block,
        needed: u64,
        permit: impl Fn(u64) -> Result<(), Full>,
    ) -> Result<Option<RecordPlace>, Full> {
        let wanted = (self.next.load(Relaxed) / 32).clamp(BLOCK.0, BLOCK.1);
        // A long record would leave much of the old block unused, and near the limit on memory a whole block
        // may be too much.
        let alone = needed > wanted / 8 || permit(wanted * 8).is_err();
        let taken = self.take(needed, if alone { needed } else { wanted }, permit)?;
        if alone {
            return Ok(Some(RecordPlace(taken.at)));
        }
        *block = taken;
        Ok(None)
    }

    /// Takes `wanted` words, or at least `needed` when there are no more.
    fn take(
        &self,
        needed: u64,
        wanted: u64,
        permit: impl Fn(u64) -> Result<(), Full>,
    ) -> Result<Block, Full> {
        permit(wanted * 8)?;
        let all = self.pages.words().len() as u64;
        let mut at = self.next.load(Acquire);
        loop {
            let end = (at + wanted).min(all);
            if end < at + needed {
                return Err(Full);
            }
            // Addresses are given out here; what is written there is published by entries of the index.
            match self.next.compare_exchange(at, end, Release, Acquire) {
                Ok(_) => {
                    self.ask(end);
                    return Ok(Block { start: at, at, end });
                }
                Err(now) => at = now,
            }
        }
    }

    /// Asks for memory up to this word, and for some more.
    fn ask(&self, end: u64) {
        let asked = self.asked.load(Relaxed);
        if end <= asked {
            return;
        }
        let advance = (end / 8).next_power_of_two().clamp(ADVANCE.0, ADVANCE.1);
        let next = end.next_multiple_of(advance).min(self.pages.words().len() as u64);
        // Who comes second asks for what follows, or for nothing.
        if self.asked.compare_exchange(asked, next, Relaxed, Relaxed).is_ok() {
            self.pages.populate(asked as usize / WORDS..(next as usize).div_ceil(WORDS), &self.huge);
        }
    }

    /// Whether enough strings were not packed that it should be learned how.
    #[inline]
    pub(crate) fn should_learn(&self) -> bool {
        self.packings.unpacked.load(Relaxed) >= self.packings.relearn_after
    }

    /// Learns from the records at some places how to pack others, now that there are enough.
    #[cold]
    pub(crate) fn learn(&mut self, records: u64, places: impl Iterator<Item = RecordPlace>) {
        let mut lens: BTreeMap<usize, Observed> = BTreeMap::new();
        let mut key = Vec::new();
        for place in places {
            key.clear();
            self.read(place, &mut key);
            if packing::LENS.contains(&key.len()) {
                lens.entry(key.len()).or_insert_with(|| Observed::new(&key)).add(&key);
            }
        }
        // All of them: what is possible for one length may not be for another.
        let learned = lens.into_iter().filter(|(len, seen)| self.packings.learn(*len, seen)).count();
        // Where nothing is to be learned, they differ in too many bits, of which there will not be less.
        self.packings.relearn_after = if learned == 0 { u64::MAX } else { LEARN.0.max(records / LEARN.1) };
        self.packings.unpacked.store(0, Relaxed);
    }

    /// How lines are looked at, for who has memory beside the arena.
    #[inline(always)]
    pub(crate) fn wide(&self) -> Option<Wide> {
        self.wide
    }

    /// Takes words as every processor does, for tests.
    #[cfg(test)]
    pub(crate) fn be_narrow(&mut self) {
        self.wide = None;
    }

    /// Whether to ask for huge pages, for who has memory beside the arena.
    pub(crate) fn huge(&self) -> &Huge {
        &self.huge
    }
}

/// Whether a sparse record with this first word, and then these, is that of `key`.
fn is_sparse(words: &[AtomicU64], first: u64, key: &[u8]) -> bool {
    if first >> 8 & 0xffff != key.len() as u64 {
        return false;
    }
    let (mut mask, mut at) = (first >> MASK_SHIFT, 0);
    all_words(key, |word| {
        let expected = if mask & 1 == 0 { 0 } else { words[at].load(Relaxed) };
        at += (mask & 1) as usize;
        mask >>= 1;
        word == expected
    })
}

/// Appends the string of a sparse record with this first word, and then these.
fn read_sparse(words: &[AtomicU64], first: u64, out: &mut Vec<u8>) {
    let len = (first >> 8 & 0xffff) as usize;
    let start = out.len();
    out.resize(start + len.next_multiple_of(8), 0);
    let (mut mask, bytes) = (first >> MASK_SHIFT, &mut out[start..]);
    for word in &words[..mask.count_ones() as usize] {
        let at = 8 * mask.trailing_zeros() as usize;
        if let Some(chunk) = bytes.get_mut(at..at + 8) {
            chunk.copy_from_slice(&word.load(Relaxed).to_le_bytes());
        }
        mask &= mask - 1;
    }
    out.truncate(start + len);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_take_no_room_and_come_back() {
        let arena = Arena::new(u64::MAX);
        let mut block = Block::default();
        let mut seed = 3u64;
        let mut below = |n: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed >> 11) as usize % n
        };
        let mut short = 0;
        for round in 0..20_000 {
            let len = below(340);
            let mut key = vec![0u8; len];
            for _ in 0..below(if round % 3 == 0 { 80 } else { 6 }) {
                if len > 0 {
                    key[below(len)] = below(256) as u8;
                }
            }
            let place = arena.write(&mut block, &key, |_| Ok(())).unwrap();
            short += u32::from(words_needed(&key, sparse_mask(&key)) < record_words(len));
            let mut out = vec![1];
            arena.read(place, &mut out);
            assert_eq!(out[1..], key);
            assert!(arena.is(place, &key));
            if len > 0 {
                key[below(len)] ^= 1 << below(8);
                assert!(!arena.is(place, &key));
                key.push(0);
                assert!(!arena.is(place, &key));
            }
        }
        assert!(short > 5_000, "{short}");
        let mut sparse = [0; 200];
        sparse[77] = 1;
        assert_eq!(words_needed(&sparse, sparse_mask(&sparse)), 2);
    }

    #[test]
    fn what_was_written_is_read() {
        let arena = Arena::new(u64::MAX);
        let mut block = Block::default();
        let key =
            |i: usize, len: usize| -> Vec<u8> { (0..len).map(|j| (i * 31 + j * 7 + 1) as u8).collect() };
        let lens = (0..600).chain([5000, 70_000, 0, 3, 3_000_000, 1]);
        let places: Vec<_> = lens
            .enumerate()
            .map(|(i, len)| (i, len, arena.write(&mut block, &key(i, len), |_| Ok(())).unwrap()))
            .collect();
        for &(i, len, place) in &places {
            let mut out = vec![9];
            arena.prefetch(place, len);
            arena.read(place, &mut out);
            assert_eq!(out[0], 9);
            assert!(out[1..] == key(i, len), "length {len}");
            assert!(arena.is(place, &key(i, len)));
            let mut other = key(i, len);
            other.push(0);
            assert!(!arena.is(place, &other), "length {len}");
            for at in [0, 6, 7, 8, len / 2, len.saturating_sub(1)].into_iter().filter(|&at| at < len) {
                let mut other = key(i, len);
                other[at] ^= 0x80;
                assert!(!arena.is(place, &other), "length {len}, byte {at}");
            }
        }
        let written: u64 = places.iter().map(|&(_, len, _)| record_words(len) * 8).sum();
        assert!((written..written + written / 16 + 100_000).contains(&arena.memory()));
    }

    #[test]
    fn a_record_that_was_taken_back_is_written_over() {
        let arena = Arena::new(u64::MAX);
        let mut block = Block::default();
        let first = arena.write(&mut block, b"a first record", |_| Ok(())).unwrap();
        arena.unwrite(&mut block, first, b"a first record");
        let second = arena.write(&mut block, b"short", |_| Ok(())).unwrap();
        assert_eq!(first, second);
        assert!(arena.is(second, b"short") && !arena.is(second, b"a first record"));
    }

    #[test]
    fn without_permission_nothing_is_taken() {
        let arena = Arena::new(u64::MAX);
        let mut block = Block::default();
        assert_eq!(
            arena.write(&mut block, &[1; 100], |bytes| if bytes > 100 { Err(Full) } else { Ok(()) }),
            Err(Full)
        );
        assert_eq!(arena.memory(), 0);
        let small = arena.write(&mut block, &[1; 50], |bytes| if bytes > 100 { Err(Full) } else { Ok(()) });
        assert!(small.is_ok_and(|place| arena.is(place, &[1; 50])));
        assert_eq!(arena.memory(), 56);
    }
}
