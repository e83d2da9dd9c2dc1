//! Insertion: a record is written to the worker's own block, and one entry publishes it.
//!
//! Workers count their new keys by themselves, in what a segment has granted them, and tell when it is used
//! up: a counter that all share would be written for every key.

use super::Shared;
use crate::Full;
use crate::arena::{Block, PLACE_BITS, RecordPlace};
use crate::pages::{Line, Narrow, WORDS, Width};
use crate::segment::{PASSED, PLACE_MASK, SEGMENTS, Ticket, place_of};
use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

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

impl Shared {
    /// The last stride. Any number of workers may insert at the same time, each with its own hand.
    #[inline]
    pub fn insert(&self, hand: &mut Hand, key: &[u8], ticket: Ticket) -> Result<Option<RecordPlace>, Halt> {
        match self.insert_as_seen::<false>(Narrow, hand, key, ticket) {
            Some(answer) => Ok(answer),
            None => self.insert_walking(hand, key, ticket),
        }
    }

    #[inline(never)]
    fn insert_walking(
        &self,
        hand: &mut Hand,
        key: &[u8],
        ticket: Ticket,
    ) -> Result<Option<RecordPlace>, Halt> {
        self.insert_by::<false>(Narrow, hand, key, ticket)
    }

    /// The usual cases: what was likely, and a key for which there was room and still is. `None` for all
    /// else, which is a walk.
    #[inline(always)]
    pub(super) fn insert_as_seen<const ALONE: bool>(
        &self,
        width: impl Width,
        hand: &mut Hand,
        key: &[u8],
        ticket: Ticket,
    ) -> Option<Option<RecordPlace>> {
        debug_assert_eq!(ticket.hash, crate::hash::hash(key), "the ticket of another key");
        let ticket = if ticket.seen & PASSED != 0 { self.pass(width, ticket) } else { ticket };
        let mut likely = ticket.likely().map_or(0, RecordPlace::number);
        // Acquire wherever an entry is read: the record behind it was written before the entry.
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
        (likely != 0 && self.arena.is(RecordPlace::from_number(likely), key)).then_some(None)
    }

    #[inline(always)]
    pub(super) fn insert_by<const ALONE: bool>(
        &self,
        width: impl Width,
        hand: &mut Hand,
        key: &[u8],
        ticket: Ticket,
    ) -> Result<Option<RecordPlace>, Halt> {
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

    /// Enters the record at `place` in a line that had room and no entry of this key.
    #[inline]
    fn publish<const ALONE: bool>(
        &self,
        width: impl Width,
        line: &Line,
        tag: u64,
        key: &[u8],
        place: RecordPlace,
    ) -> Published {
        let entry = tag | place.number();
        let occupied = width.occupied(line);
        if ALONE {
            // Nobody else writes. Release all the same: the table may go to another thread to be read.
            line.0[occupied % WORDS].store(entry, Release);
            return Published::New;
        }
        // Entries that others have made since the line was looked at are among the occupied ones, or the swap
        // meets them.
        let alike = width.look(line, tag, PLACE_BITS).0;
        if alike != 0 && self.holds(line, alike, key) {
            return Published::Seen;
        }
        // Release publishes the record together with its entry; a swap that fails has met the entry of
        // another worker, whose record is read (Acquire).
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
    ) -> Option<RecordPlace> {
        let place = self.write::<ALONE>(hand, number, key).ok()?;
        if ALONE {
            entry.store(tag | place.number(), Release);
        // A failure may be relaxed: the walk that follows reads the entry again.
        } else if entry.compare_exchange(0, tag | place.number(), AcqRel, Relaxed).is_err() {
            self.arena.unwrite(&mut hand.block, place, key);
            return None;
        }
        hand.left[number] -= 1;
        Some(place)
    }

    /// Writes the record of a new key of this segment.
    #[inline(always)]
    fn write<const ALONE: bool>(
        &self,
        hand: &mut Hand,
        number: usize,
        key: &[u8],
    ) -> Result<RecordPlace, Halt> {
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
        // Several workers may be granted the same room: the quantum bounds by how much a segment is overfull.
        let segment = &self.segments[number];
        let room = segment.most.saturating_sub(segment.len.load(Relaxed)).min(segment.quantum);
        (hand.granted[number], hand.left[number]) = (room, room);
        if room == 0 { Err(Halt::Crowded(number)) } else { Ok(()) }
    }

    fn tell_one(&self, hand: &mut Hand, number: usize) {
        // A count that no other memory depends on, so that relaxed will do.
        let new = std::mem::take(&mut hand.granted[number]) - std::mem::take(&mut hand.left[number]);
        self.segments[number].len.fetch_add(new, Relaxed);
    }

    /// Tells of all new keys, for a worker who is done.
    pub fn tell(&self, hand: &mut Hand) {
        (0..SEGMENTS).for_each(|number| self.tell_one(hand, number));
    }
}
