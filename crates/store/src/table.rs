//! The exact store of whole states: open addressing over cache lines, the states in an [`Arena`].
//!
//! An entry is one word: 24 bits of the hash (the *tag*) and where the record lies (40 bits, never 0, which
//! is empty). Eight entries are a cache line; a key is looked for in the line that its hash names and then in
//! the next ones, so that nearly every look-up touches one line of the index and one record. Both can be
//! asked for in advance ([`Seen::hash`], [`Batched::probe`]). Laarman, van de Pol & Weber (FMCAD 2010) showed
//! how well walking along cache lines does.
//!
//! **Growth** reads no records. The upper bits of the hash name the line, and the tag repeats the last of
//! these bits and continues them. So an entry tells its home line, however far from it it lies, and in which
//! half of it it will be after doubling; new lines are written in the order in which old ones are read. Only
//! when the tag has few bits left to tell keys apart (when it is still small, and after a growth by 1024) are
//! the records hashed again. The index consists of segments that grow on their own: there is no moment at
//! which it exists twice. A large segment grows where it is: its lines are spread over addresses that were
//! reserved for that, so that no memory is asked for twice.
//!
//! **Threads.** A record is written to the worker's own block; one compare-and-swap of an empty entry
//! publishes it. Entries never change and never go, so of several workers with the same key exactly one
//! succeeds: all walk the same way and the others meet its entry there. [`Shared`] does all this through
//! `&self`; only growth needs it alone. [`Table`] is a `Shared` with one worker, who needs no
//! compare-and-swap.

use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use crate::arena::{Arena, Block, PLACE_BITS, Place};
use crate::pages::{Line, Narrow, WORDS, Width, prefetch};
use crate::segment::{PASSED, PLACE_MASK, SEGMENT_BITS, SEGMENTS, Segment, Ticket, has_room, place_of};
use crate::together::together;
use crate::{Batched, Evicting, Full, Recall, Seen};

/// A key is probed this number of keys before it is inserted.
pub(crate) const AHEAD: usize = 16;
/// Segments with less than this part of their room left grow together with one that has none.
const SOON: u64 = 16;
/// Keys from which it is learned how to pack others.
const LESSON: usize = 1 << 14;

/// What a worker has for itself.
#[derive(Debug, Default)]
pub struct Hand {
    block: Block,
    /// How many keys it may enter in each segment before it tells and asks again, and how many of these it
    /// still may.
    granted: [u64; SEGMENTS],
    left: [u64; SEGMENTS],
}

impl Hand {
    /// New keys that the table has not been told of.
    pub fn untold(&self) -> u64 {
        self.granted.iter().sum::<u64>() - self.left.iter().sum::<u64>()
    }
}

/// Why a key could not be inserted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Halt {
    /// The segment with this number must grow first.
    Crowded(usize),
    /// It must be [learned](Shared::learn) first how long keys are packed.
    Unlearned,
    /// There is no memory for the record.
    Full,
}

/// What became of an entry for a line that had room.
enum Published {
    /// It is there.
    New,
    /// Another worker has entered the same key meanwhile.
    Seen,
    /// Others have filled the line meanwhile.
    NoRoom,
}

/// The table that workers share.
#[derive(Debug)]
pub struct Shared {
    segments: [Segment; SEGMENTS],
    arena: Arena,
    limit: u64,
    /// Bytes of all segments.
    index_bytes: u64,
}

/// Where the records of these entries are.
#[inline]
fn places(line: &Line, mut bits: u32) -> impl Iterator<Item = Place> {
    std::iter::from_fn(move || {
        while bits != 0 {
            let entry = line.0[bits.trailing_zeros() as usize % WORDS].load(Acquire);
            bits &= bits - 1;
            if entry != 0 {
                return Some(place_of(entry));
            }
        }
        None
    })
}

impl Shared {
    /// An empty table that answers [`Full`] rather than use more than `limit` bytes.
    pub fn new(limit: u64) -> Self {
        let segments = std::array::from_fn(|_| Segment::first());
        let index_bytes = segments.iter().map(|segment| segment.lines.bytes()).sum();
        Shared { segments, arena: Arena::new(limit), limit, index_bytes }
    }

    #[inline]
    fn segment(&self, hash: u64) -> (usize, &Segment) {
        let number = (hash >> (64 - SEGMENT_BITS)) as usize;
        (number, &self.segments[number])
    }

    /// The first stride: hashes the key and asks for its line.
    #[inline(always)]
    pub fn hash(&self, key: &[u8]) -> Ticket {
        let ticket = Ticket::new(key);
        let segment = self.segment(ticket.hash).1;
        prefetch(&segment.lines.lines()[segment.home(ticket.hash)]);
        ticket
    }

    /// The second stride: asks for the record that may be the key's, or for the next line if it must be
    /// searched.
    #[inline(always)]
    pub fn probe(&self, ticket: &mut Ticket) {
        self.approach_by(Narrow, ticket);
    }

    #[inline(always)]
    fn approach_by(&self, width: impl Width, ticket: &mut Ticket) {
        let segment = self.segment(ticket.hash).1;
        let lines = segment.lines.lines();
        let home = segment.home(ticket.hash);
        let line = &lines[home];
        let (alike, empty) = width.look(line, segment.tag(ticket.hash), PLACE_BITS);
        // Whether a key is known no processor can foresee. So there is no branch, and what is not needed is
        // asked for in vain.
        let first = |bits: u32| (bits | 1 << WORDS).trailing_zeros();
        let entry = line.0[first(alike) as usize % WORDS].load(Acquire) & PLACE_MASK;
        let likely = if alike == 0 { 0 } else { entry };
        self.arena.prefetch(Place::from_number(likely), ticket.len());
        prefetch(&lines[(home + usize::from(alike | empty == 0)) & segment.mask]);
        let fresh = segment.found_empty(home, first(empty));
        let unlike = if empty == 0 { segment.passed() } else { fresh };
        ticket.seen = if alike == 0 { unlike } else { ticket.seen | likely };
    }

    /// For a key that passed its home line: looks into the next one in the same way.
    #[inline(never)]
    fn pass(&self, width: impl Width, ticket: Ticket) -> Ticket {
        let segment = self.segment(ticket.hash).1;
        if ticket.seen != segment.passed() {
            return ticket;
        }
        let at = (segment.home(ticket.hash) + 1) & segment.mask;
        let line = &segment.lines.lines()[at];
        let (alike, empty) = width.look(line, segment.tag(ticket.hash), PLACE_BITS);
        let seen = match (alike, empty) {
            (0, 0) => ticket.seen,
            (0, _) => segment.found_empty(at, empty.trailing_zeros()),
            _ => line.0[alike.trailing_zeros() as usize % WORDS].load(Acquire) & PLACE_MASK,
        };
        Ticket { seen, ..ticket }
    }

    /// Asks for the memory of a key that was approached some time ago.
    #[inline]
    pub fn prefetch(&self, ticket: Ticket) {
        let segment = self.segment(ticket.hash).1;
        prefetch(&segment.lines.lines()[segment.home(ticket.hash)]);
        if let Some(likely) = ticket.likely() {
            self.arena.prefetch(likely, ticket.len());
        }
    }

    /// Where the key is.
    #[inline(never)]
    pub fn find(&self, key: &[u8], ticket: Ticket) -> Option<Place> {
        let segment = self.segment(ticket.hash).1;
        if segment.entry(ticket).is_some_and(|entry| entry.load(Acquire) == 0) {
            return None;
        }
        if let Some(likely) = ticket.likely().filter(|&likely| self.arena.is(likely, key)) {
            return Some(likely);
        }
        let tag = segment.tag(ticket.hash);
        for line in segment.way(segment.home(ticket.hash)) {
            let mut places = places(line, line.alike(tag, PLACE_BITS));
            if let Some(place) = places.find(|&place| self.arena.is(place, key)) {
                return Some(place);
            }
            if has_room(line) {
                return None;
            }
        }
        None
    }

    /// The last stride. Any number of workers may insert at the same time, each with its own hand.
    #[inline]
    pub fn insert(&self, hand: &mut Hand, key: &[u8], ticket: Ticket) -> Result<Option<Place>, Halt> {
        match self.insert_as_seen::<false>(Narrow, hand, key, ticket) {
            Some(answer) => Ok(answer),
            None => self.insert_walking(hand, key, ticket),
        }
    }

    #[inline(never)]
    fn insert_walking(&self, hand: &mut Hand, key: &[u8], ticket: Ticket) -> Result<Option<Place>, Halt> {
        self.insert_by::<false>(Narrow, hand, key, ticket)
    }

    /// The usual cases: what was likely, and a key for which there was room and still is. `None` for all
    /// else, which is a walk.
    #[inline(always)]
    fn insert_as_seen<const ALONE: bool>(
        &self,
        width: impl Width,
        hand: &mut Hand,
        key: &[u8],
        ticket: Ticket,
    ) -> Option<Option<Place>> {
        debug_assert_eq!(ticket.hash, crate::hash::hash(key), "the ticket of another key");
        let ticket = if ticket.seen & PASSED != 0 { self.pass(width, ticket) } else { ticket };
        let mut likely = ticket.likely().map_or(0, Place::number);
        let (number, segment) = self.segment(ticket.hash);
        if let Some(entry) = segment.entry(ticket) {
            let found = entry.load(Acquire);
            if found == 0 {
                let place = self.enter::<ALONE>(hand, number, entry, segment.tag(ticket.hash), key);
                if place.is_some() {
                    return Some(place);
                }
            }
            likely = found & PLACE_MASK;
        }
        (likely != 0 && self.arena.is(Place::from_number(likely), key)).then_some(None)
    }

    /// Whether the record that the ticket leads to is the key's. Entries never go: what was there is there.
    #[inline(always)]
    fn is_likely(&self, key: &[u8], ticket: Ticket) -> bool {
        ticket.likely().is_some_and(|likely| self.arena.is(likely, key))
    }

    #[inline(always)]
    fn insert_by<const ALONE: bool>(
        &self,
        width: impl Width,
        hand: &mut Hand,
        key: &[u8],
        ticket: Ticket,
    ) -> Result<Option<Place>, Halt> {
        let (number, segment) = self.segment(ticket.hash);
        let tag = segment.tag(ticket.hash);
        let passed = usize::from(ticket.seen == segment.passed());
        for line in segment.way_behind(segment.home(ticket.hash), passed) {
            // A line that was full when it was looked at stays as it is, so what it held then is final.
            let (alike, empty) = width.look(line, tag, PLACE_BITS);
            if alike != 0 && self.holds(line, alike, key) {
                return Ok(None);
            }
            if empty != 0 {
                let place = self.write::<ALONE>(hand, number, key)?;
                match self.publish::<ALONE>(width, line, tag, key, place) {
                    Published::New => {
                        hand.left[number] -= 1;
                        return Ok(Some(place));
                    }
                    Published::Seen => {
                        self.arena.unwrite(&mut hand.block, place, key);
                        return Ok(None);
                    }
                    Published::NoRoom => self.arena.unwrite(&mut hand.block, place, key),
                }
            }
        }
        Err(Halt::Crowded(number))
    }

    /// Whether one of these entries of a line is the key's. Apart from its callers, who mostly have none to
    /// look at.
    #[inline(never)]
    fn holds(&self, line: &Line, alike: u32, key: &[u8]) -> bool {
        let mut bits = alike;
        while bits != 0 {
            let entry = line.0[bits.trailing_zeros() as usize % WORDS].load(Acquire);
            if entry != 0 && self.arena.is(place_of(entry), key) {
                return true;
            }
            bits &= bits - 1;
        }
        false
    }

    /// Enters the record at `place` in a line that had room and no entry of this key.
    #[inline]
    fn publish<const ALONE: bool>(
        &self,
        width: impl Width,
        line: &Line,
        tag: u64,
        key: &[u8],
        place: Place,
    ) -> Published {
        let entry = tag | place.number();
        let occupied = width.occupied(line);
        if ALONE {
            line.0[occupied % WORDS].store(entry, Release);
            return Published::New;
        }
        // Entries that others have made since the line was looked at are among the occupied ones, or the swap
        // meets them.
        let alike = width.look(line, tag, PLACE_BITS).0;
        if alike != 0 && self.holds(line, alike, key) {
            return Published::Seen;
        }
        for slot in line.0.iter().skip(occupied) {
            match slot.compare_exchange(0, entry, AcqRel, Acquire) {
                Ok(_) => return Published::New,
                Err(now) if now ^ tag <= PLACE_MASK && self.arena.is(place_of(now), key) => {
                    return Published::Seen;
                }
                Err(_) => {}
            }
        }
        Published::NoRoom
    }

    /// Enters a new key here, if there is room for it and nobody has been faster.
    #[inline(always)]
    fn enter<const ALONE: bool>(
        &self,
        hand: &mut Hand,
        number: usize,
        entry: &AtomicU64,
        tag: u64,
        key: &[u8],
    ) -> Option<Place> {
        let place = self.write::<ALONE>(hand, number, key).ok()?;
        if ALONE {
            entry.store(tag | place.number(), Release);
        } else if entry.compare_exchange(0, tag | place.number(), AcqRel, Relaxed).is_err() {
            self.arena.unwrite(&mut hand.block, place, key);
            return None;
        }
        hand.left[number] -= 1;
        Some(place)
    }

    /// Writes the record of a new key of this segment.
    #[inline(always)]
    fn write<const ALONE: bool>(&self, hand: &mut Hand, number: usize, key: &[u8]) -> Result<Place, Halt> {
        // Others may have failed to make room: then nothing more can be entered.
        if hand.left[number] == 0 || !ALONE && self.segments[number].most == 0 {
            self.ask(hand, number)?;
        }
        let permit = |bytes| if self.memory() + bytes > self.limit { Err(Full) } else { Ok(()) };
        self.arena.write(&mut hand.block, key, permit).map_err(|_| Halt::Full)
    }

    /// Tells a segment of its new keys and asks how many more it may have.
    #[inline(never)]
    fn ask(&self, hand: &mut Hand, number: usize) -> Result<(), Halt> {
        self.tell_one(hand, number);
        if self.arena.should_learn() {
            return Err(Halt::Unlearned);
        }
        let segment = &self.segments[number];
        let room = segment.most.saturating_sub(segment.len.load(Relaxed)).min(segment.quantum);
        (hand.granted[number], hand.left[number]) = (room, room);
        if room == 0 { Err(Halt::Crowded(number)) } else { Ok(()) }
    }

    fn tell_one(&self, hand: &mut Hand, number: usize) {
        let new = std::mem::take(&mut hand.granted[number]) - std::mem::take(&mut hand.left[number]);
        self.segments[number].len.fetch_add(new, Relaxed);
    }

    /// Makes room in a segment. When memory is short, its lines are filled more than is good for the speed.
    #[cold]
    pub fn grow(&mut self, number: usize) -> Result<(), Full> {
        match self.enlarge(number) {
            Ok(()) => Ok(()),
            Err(Full) => {
                let segment = &mut self.segments[number];
                let packed = ((WORDS as u64) << segment.bits) / 16 * 15;
                let already = segment.most >= packed || segment.most == 0;
                if !already {
                    segment.most = packed;
                }
                if already { Err(Full) } else { Ok(()) }
            }
        }
    }

    /// Makes room in a segment and in those that will soon need it, with up to `threads` threads: others have
    /// been stopped for it. What is done ahead may fail.
    #[cold]
    pub fn grow_together(&mut self, number: usize, threads: usize) -> Result<(), Full> {
        let (before, wanted) = (self.room(number), &self.segments[number]);
        let Some(mut left) = wanted
            .bytes_to_grow(wanted.step())
            .and_then(|bytes| self.limit.saturating_sub(self.memory()).checked_sub(bytes))
        else {
            return self.grow(number);
        };
        let (arena, mut keys) = (&self.arena, 0);
        let mut growing: Vec<&mut Segment> = Vec::new();
        for (other, segment) in self.segments.iter_mut().enumerate() {
            let len = segment.len.load(Relaxed);
            if other != number {
                let soon = len >= segment.most - segment.most / SOON;
                let bytes = segment.bytes_to_grow(segment.step()).filter(|&bytes| soon && bytes <= left);
                let Some(bytes) = bytes else { continue };
                left -= bytes;
            }
            keys += len;
            growing.push(segment);
        }
        // What came of the others is seen when their turn comes.
        together(&mut growing, keys, threads, |segment| {
            let _ = segment.grow(segment.step(), arena);
        });
        self.index_bytes = self.segments.iter().map(|segment| segment.lines.bytes()).sum();
        if self.room(number) == before { self.grow(number) } else { Ok(()) }
    }

    fn enlarge(&mut self, number: usize) -> Result<(), Full> {
        let mut more = self.segments[number].step();
        loop {
            let segment = &self.segments[number];
            let (before, bytes) = (segment.lines.bytes(), segment.bytes_to_grow(more).ok_or(Full)?);
            if self.memory() + bytes > self.limit {
                return Err(Full);
            }
            let grown = self.segments[number].grow(more, &self.arena);
            self.index_bytes = self.index_bytes + self.segments[number].lines.bytes() - before;
            if grown? {
                return Ok(());
            }
            more += 1;
        }
    }

    /// Learns how to pack long keys, if it is time to.
    #[cold]
    pub fn learn(&mut self) {
        if self.arena.should_learn() {
            let keys = self.n_keys();
            let some = |segment: &Segment| segment.entries().take(LESSON / SEGMENTS).collect::<Vec<_>>();
            let entries: Vec<_> = self.segments.iter().flat_map(some).collect();
            self.arena.learn(keys, entries.into_iter().map(|(_, entry)| place_of(entry)));
        }
    }

    /// How many keys a segment may hold, which changes when and only when it was made room in.
    pub fn room(&self, number: usize) -> u64 {
        self.segments[number].most
    }

    /// Tells of all new keys, for a worker who is done.
    pub fn tell(&self, hand: &mut Hand) {
        (0..SEGMENTS).for_each(|number| self.tell_one(hand, number));
    }

    /// How many keys there are, without those that workers have not yet told of.
    pub fn n_keys(&self) -> u64 {
        self.segments.iter().map(|segment| segment.len.load(Relaxed)).sum()
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> u64 {
        self.index_bytes + self.arena.memory()
    }

    /// Appends the key at `place`.
    #[inline]
    pub fn read(&self, place: Place, out: &mut Vec<u8>) {
        self.arena.read(place, out);
    }
}

/// An exact set of byte strings.
#[derive(Debug)]
pub struct Table {
    shared: Shared,
    hand: Hand,
}

impl Default for Table {
    fn default() -> Self {
        Table::new(u64::MAX)
    }
}

impl Table {
    /// An empty table that answers [`Full`] rather than use more than `limit` bytes.
    pub fn new(limit: u64) -> Self {
        Table { shared: Shared::new(limit), hand: Hand::default() }
    }

    /// Makes room in the index for about `keys` keys in all, for a caller that knows what will come.
    pub fn reserve(&mut self, keys: u64) -> Result<(), Full> {
        for number in 0..SEGMENTS {
            while self.shared.segments[number].most < keys.div_ceil(SEGMENTS as u64) * 65 / 64 {
                self.shared.enlarge(number)?;
            }
        }
        Ok(())
    }

    /// Inserts a key, whatever must be done for it.
    #[inline(never)]
    fn insert_walking(
        &mut self,
        width: impl Width,
        key: &[u8],
        ticket: Ticket,
    ) -> Result<Option<Place>, Full> {
        loop {
            match self.shared.insert_by::<true>(width, &mut self.hand, key, ticket) {
                Ok(answer) => return Ok(answer),
                Err(Halt::Crowded(number)) => {
                    self.shared.tell(&mut self.hand);
                    self.shared.grow(number)?;
                }
                Err(Halt::Unlearned) => self.shared.learn(),
                Err(Halt::Full) => return Err(Full),
            }
        }
    }
}

impl Table {
    #[inline(always)]
    fn insert_one(&mut self, width: impl Width, key: &[u8], ticket: Ticket) -> Result<Option<Place>, Full> {
        match self.shared.insert_as_seen::<true>(width, &mut self.hand, key, ticket) {
            Some(answer) => Ok(answer),
            None => self.insert_walking(width, key, ticket),
        }
    }

    /// Keys are approached shortly before they are inserted, so that most of those that occur twice are
    /// noticed.
    #[inline(never)]
    fn insert_many<'k>(
        &mut self,
        width: impl Width,
        keys: impl ExactSizeIterator<Item = &'k [u8]>,
        tickets: &mut [Ticket],
        new: &mut Vec<(u32, Place)>,
    ) -> Result<(), Full> {
        new.try_reserve(keys.len()).map_err(|_| Full)?;
        tickets.iter_mut().take(AHEAD).for_each(|ticket| self.shared.approach_by(width, ticket));
        for (at, key) in keys.enumerate() {
            if let Some(ticket) = tickets.get_mut(at + AHEAD) {
                self.shared.approach_by(width, ticket);
            }
            let Some(&ticket) = tickets.get(at) else { break };
            if let Some(place) = self.insert_one(width, key, ticket)? {
                new.push((at as u32, place));
            }
        }
        Ok(())
    }
}

impl Seen for Table {
    const LOSSLESS: bool = true;
    type Ticket = Ticket;
    type Name = Place;

    #[inline(always)]
    fn hash(&mut self, key: &[u8]) -> Result<Ticket, Full> {
        Ok(self.shared.hash(key))
    }

    #[inline(always)]
    fn insert(&mut self, key: &[u8], ticket: Ticket) -> Result<Option<Place>, Full> {
        self.insert_one(Narrow, key, ticket)
    }

    #[inline(always)]
    fn contains(&self, key: &[u8], ticket: Ticket) -> bool {
        if ticket.likely().is_some() {
            return self.shared.is_likely(key, ticket) || self.shared.find(key, ticket).is_some();
        }
        let segment = self.shared.segment(ticket.hash).1;
        let line = &segment.lines.lines()[segment.home(ticket.hash)];
        let is_elsewhere = line.alike(segment.tag(ticket.hash), PLACE_BITS) != 0 || !has_room(line);
        is_elsewhere && self.shared.find(key, ticket).is_some()
    }

    fn n_keys(&self) -> u64 {
        self.shared.n_keys() + self.hand.untold()
    }

    fn memory(&self) -> u64 {
        self.shared.memory()
    }
}

impl Batched for Table {
    const INCREMENTAL: bool = false;

    fn plan_all<'k>(
        &mut self,
        keys: impl ExactSizeIterator<Item = &'k [u8]>,
        tickets: &mut Vec<Ticket>,
    ) -> Result<(), Full> {
        tickets.extend(keys.map(|key| self.shared.hash(key)));
        Ok(())
    }

    #[inline(always)]
    fn probe(&self, ticket: &mut Ticket) {
        self.shared.probe(ticket);
    }

    #[inline]
    fn prefetch(&self, ticket: Ticket) {
        self.shared.prefetch(ticket);
    }

    #[inline(always)]
    fn seems_known(&self, ticket: Ticket) -> bool {
        ticket.likely().is_some()
    }

    fn insert_all<'k>(
        &mut self,
        keys: impl ExactSizeIterator<Item = &'k [u8]>,
        tickets: &mut [Ticket],
        new: &mut Vec<(u32, Place)>,
    ) -> Result<(), Full> {
        match self.shared.arena.wide() {
            Some(wide) => self.insert_many(wide, keys, tickets, new),
            None => self.insert_many(Narrow, keys, tickets, new),
        }
    }
}

impl Evicting for Table {}

impl Recall for Table {
    #[inline]
    fn load(&mut self, name: Place, out: &mut Vec<u8>) {
        self.shared.read(name, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash;
    use std::collections::HashMap;

    /// A small generator, so that the operation sequences are the same on every run.
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 20) % bound
        }

        /// A key of up to `len` bytes from a small alphabet, so that repetitions are frequent.
        fn key(&mut self, len: u64, alphabet: u64) -> Vec<u8> {
            (0..self.below(len + 1)).map(|_| self.below(alphabet) as u8).collect()
        }
    }

    fn loaded(table: &mut Table, place: Place) -> Vec<u8> {
        let mut out = Vec::new();
        table.load(place, &mut out);
        out
    }

    /// Runs random operations on a table and on a map of the standard library and compares every answer.
    /// Tickets are made up to 64 operations before they are used.
    fn shadow(operations: usize, len: u64, alphabet: u64, seed: u64) {
        let mut random = Random(seed);
        let mut table = Table::default();
        let mut model: HashMap<Vec<u8>, Place> = HashMap::new();
        let mut done = 0;
        while done < operations {
            let keys: Vec<_> = (0..1 + random.below(64)).map(|_| random.key(len, alphabet)).collect();
            let mut tickets: Vec<_> = keys.iter().map(|key| table.hash(key).unwrap()).collect();
            if random.below(2) == 0 {
                tickets.iter_mut().for_each(|ticket| table.probe(ticket));
            }
            for (key, ticket) in keys.into_iter().zip(tickets) {
                let known = model.get(&key).copied();
                if random.below(3) == 0 {
                    assert_eq!(table.contains(&key, ticket), known.is_some());
                } else {
                    let answer = table.insert(&key, ticket).unwrap();
                    assert_eq!(answer.is_some(), known.is_none());
                    model.entry(key).or_insert_with(|| answer.unwrap());
                }
                assert_eq!(table.n_keys(), model.len() as u64);
                done += 1;
            }
        }
        for (key, &place) in &model {
            assert_eq!(&loaded(&mut table, place), key);
            assert_eq!(table.shared.find(key, Ticket::new(key)), Some(place));
        }
    }

    #[test]
    fn agrees_with_the_standard_library() {
        for seed in 1..=8 {
            shadow(30_000, 6, 3, seed);
            shadow(30_000, 40, 200, seed * 77);
        }
        shadow(300, 200_000, 2, 99);
    }

    /// Growth far enough that tags are renewed from the records, and that segments then grow where they are;
    /// tickets from the very beginning stay valid.
    #[test]
    fn tickets_stay_valid_whatever_grows() {
        let mut table = Table::default();
        let n = 4_200_000u32;
        let early: Vec<Ticket> = (0..1000u32).map(|i| table.hash(&i.to_le_bytes()).unwrap()).collect();
        for i in (0..n).filter(|i| i % 2 == 0) {
            assert_eq!(table.is_new(&i.to_le_bytes()), Ok(true));
        }
        assert!(table.shared.segments.iter().all(|segment| segment.skipped > 0 && segment.bits > 15));
        for (i, mut ticket) in (0..1000u32).zip(early) {
            table.probe(&mut ticket);
            assert_eq!(table.contains(&i.to_le_bytes(), ticket), i % 2 == 0);
            assert_eq!(table.insert(&i.to_le_bytes(), ticket).unwrap().is_some(), i % 2 == 1);
        }
        for i in 0..n {
            assert_eq!(table.knows(&i.to_le_bytes()), Ok(i % 2 == 0 || i < 1000));
        }
        assert_eq!(table.n_keys(), u64::from(n / 2) + 500);
        check_entries(&table);
    }

    /// Batches in which keys occur again, in a table that grows; however wide it looks.
    #[test]
    fn keys_inserted_together_are_new_once() {
        for narrow in [false, true] {
            let (mut table, mut random) = (Table::default(), Random(11));
            if narrow {
                table.shared.arena.be_narrow();
            }
            let mut model: HashMap<Vec<u8>, Place> = HashMap::new();
            for _ in 0..12_000 {
                let most = model.len() as u64 + 60;
                let key = |random: &mut Random| vec![3; 20 + random.below(3) as usize];
                let keys: Vec<Vec<u8>> = (0..random.below(80))
                    .map(|_| {
                        let (mut key, id) = (key(&mut random), random.below(most) as u32);
                        key[4..8].copy_from_slice(&id.to_le_bytes());
                        key
                    })
                    .collect();
                let (mut tickets, mut new) = (Vec::new(), Vec::new());
                table.plan_all(keys.iter().map(Vec::as_slice), &mut tickets).unwrap();
                table.insert_all(keys.iter().map(Vec::as_slice), &mut tickets, &mut new).unwrap();
                let mut new = new.into_iter().peekable();
                for (at, key) in keys.into_iter().enumerate() {
                    let place = new.next_if(|&(next, _)| next as usize == at).map(|(_, place)| place);
                    assert_eq!(place.is_some(), !model.contains_key(&key));
                    place.map(|place| model.insert(key, place));
                }
                assert!(new.next().is_none());
            }
            assert!(model.len() > 250_000 && table.n_keys() == model.len() as u64, "{}", model.len());
            assert!(model.iter().all(|(key, &place)| loaded(&mut table, place) == *key));
            check_entries(&table);
        }
    }

    /// What growth computes from entries is what it would compute from the keys.
    fn check_entries(table: &Table) {
        let mut key = Vec::new();
        for segment in &table.shared.segments {
            for (line, entry) in segment.entries() {
                key.clear();
                table.shared.read(place_of(entry), &mut key);
                let hash = hash(&key);
                assert_eq!(segment.tag(hash), entry & !PLACE_MASK);
                assert_eq!(segment.home(hash), segment.home_of(entry, line));
                let next = (hash << SEGMENT_BITS) >> (64 - segment.bits - 2);
                assert_eq!(segment.next_home(entry, line, 2), next as usize);
            }
        }
    }

    #[test]
    fn an_entry_tells_where_it_will_be() {
        let mut table = Table::default();
        for i in 0..60_000u32 {
            table.is_new(&i.to_le_bytes()).unwrap();
            if i.is_power_of_two() {
                check_entries(&table);
            }
        }
        check_entries(&table);
    }

    #[test]
    fn the_memory_limit_is_kept_and_nothing_is_lost() {
        for limit in [3_000u64, 100_000, 1_000_000, 7_654_321] {
            let mut table = Table::new(limit);
            let mut n = 0u32;
            while table.is_new(&n.to_le_bytes()) != Err(Full) {
                n += 1;
                assert!(table.memory() <= limit, "{} bytes after {n} keys", table.memory());
            }
            assert!(u64::from(n) > limit / 40, "only {n} keys in {limit} bytes");
            for i in 0..n {
                assert_eq!(table.is_new(&i.to_le_bytes()), Ok(false));
            }
            assert_eq!(table.is_new(&n.to_le_bytes()), Err(Full));
            assert_eq!((table.knows(&n.to_le_bytes()), table.n_keys()), (Ok(false), u64::from(n)));
        }
    }

    #[test]
    fn a_tiny_table_is_tiny() {
        let mut table = Table::default();
        assert!(table.memory() <= 1024);
        (0..100u32).for_each(|i| assert_eq!(table.is_new(&i.to_le_bytes()), Ok(true)));
        assert!(table.memory() <= 16 << 10, "{}", table.memory());
    }

    #[test]
    fn the_empty_key_is_a_key() {
        let mut table = Table::default();
        assert_eq!(table.is_new(&[]), Ok(true));
        assert_eq!(table.is_new(&[]), Ok(false));
        assert_eq!(table.is_new(&[0]), Ok(true));
        assert_eq!(table.is_new(&[0, 0]), Ok(true));
    }

    #[test]
    fn long_keys_of_all_sizes() {
        let mut table = Table::default();
        let key = |i: u32| {
            let len =
                [3, 254, 255, 256, 20_000, 65_535, 65_536, 1_000_000][i as usize % 8] / (1 + i as usize / 40);
            let mut key = vec![i as u8; len];
            key.extend_from_slice(&i.to_le_bytes());
            key
        };
        let places: Vec<Place> =
            (0..100).map(|i| table.insert(&key(i), Ticket::new(&key(i))).unwrap().unwrap()).collect();
        for (i, &place) in (0..100).zip(&places) {
            assert_eq!(table.is_new(&key(i)), Ok(false));
            assert!(loaded(&mut table, place) == key(i), "key {i}");
        }
        let bytes: usize = (0..100).map(|i| key(i).len()).sum();
        assert!((bytes as u64..bytes as u64 * 5 / 4).contains(&table.memory()));
    }

    /// Keys of two lengths that differ in few bits, and after a while in others; and of one that cannot be
    /// packed.
    fn long_key(i: u32) -> Vec<u8> {
        let mut key = vec![(i / 20_000) as u8; [130, 300, 300, 300, 250][i as usize % 5]];
        key[40..44].copy_from_slice(&i.to_le_bytes());
        if key.len() == 250 {
            key.iter_mut().enumerate().for_each(|(at, byte)| *byte ^= (i as usize / 5 * at) as u8);
        }
        key
    }

    #[test]
    fn long_keys_are_packed_as_soon_as_it_is_known_how() {
        let mut table = Table::default();
        let mut places = Vec::new();
        for i in 0..60_000 {
            let key = long_key(i);
            let mut ticket = table.hash(&key).unwrap();
            table.probe(&mut ticket);
            assert!(!table.contains(&key, ticket));
            places.push(table.insert(&key, ticket).unwrap().unwrap());
            assert_eq!(table.is_new(&long_key(i / 3)), Ok(false));
        }
        assert_eq!(table.n_keys(), 60_000);
        for (i, &place) in (0..60_000).zip(&places) {
            assert_eq!(loaded(&mut table, place), long_key(i));
            assert_eq!(table.knows(&long_key(i)), Ok(true));
            let mut other = long_key(i);
            other[100] ^= 1;
            assert_eq!(table.knows(&other), Ok(false), "key {i}");
        }
        check_entries(&table);
        let plain: u64 = (0..60_000).map(|i| long_key(i).len() as u64).sum();
        assert!(table.memory() < plain + 60_000 * 16);
        assert!(
            !crate::packing::is_supported() || table.memory() < plain / 3 * 2,
            "{} bytes",
            table.memory()
        );
    }

    /// Several threads insert overlapping sets; growth happens when all have stopped.
    #[test]
    fn workers_agree_on_who_was_first() {
        const WORKERS: u32 = 4;
        const KEYS: u32 = 60_000;
        let key = |i: u32| [i.to_le_bytes().as_slice(), &vec![7; i as usize % 40]].concat();
        let mut shared = Shared::new(u64::MAX);
        let mut hands: Vec<Hand> = (0..WORKERS).map(|_| Hand::default()).collect();
        let mut next = vec![0u32; WORKERS as usize];
        let mut firsts: Vec<Vec<(u32, Place)>> = vec![Vec::new(); WORKERS as usize];
        while next.iter().any(|&n| n < KEYS) {
            let halts: Vec<Result<(), Halt>> = std::thread::scope(|scope| {
                let shared = &shared;
                let workers: Vec<_> = (hands.iter_mut().zip(&mut next).zip(&mut firsts).enumerate())
                    .map(|(worker, ((hand, next), firsts))| {
                        scope.spawn(move || {
                            while *next < KEYS {
                                // Each begins elsewhere for half of the keys and walks with the others for
                                // the rest.
                                let half = KEYS / 2;
                                let i = match *next {
                                    n if n < half => (n + worker as u32 * half / WORKERS) % half,
                                    n => n,
                                };
                                let ticket = shared.hash(&key(i));
                                if let Some(place) = shared.insert(hand, &key(i), ticket)? {
                                    firsts.push((i, place));
                                }
                                *next += 1;
                            }
                            Ok(())
                        })
                    })
                    .collect();
                workers.into_iter().map(|worker| worker.join().unwrap()).collect()
            });
            let mut crowded: Vec<usize> = Vec::new();
            for halt in halts {
                match halt {
                    Err(Halt::Crowded(number)) if !crowded.contains(&number) => crowded.push(number),
                    Err(Halt::Full) => panic!("there is room"),
                    _ => {}
                }
            }
            crowded.into_iter().for_each(|number| shared.grow(number).unwrap());
        }
        let mut all: Vec<(u32, Place)> = firsts.into_iter().flatten().collect();
        all.sort();
        let wrong = all.iter().map(|&(i, _)| i).zip(0..KEYS).find(|(found, expected)| found != expected);
        assert_eq!((all.len(), wrong), (KEYS as usize, None));
        for (i, place) in all {
            assert_eq!(shared.find(&key(i), Ticket::new(&key(i))), Some(place));
        }
        let untold: u64 = hands.iter().map(Hand::untold).sum();
        assert_eq!(shared.n_keys() + untold, u64::from(KEYS));
    }
}
