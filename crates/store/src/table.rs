//! The exact store of whole states: open addressing over cache lines, the states in an [`Arena`].
//!
//! An entry is one word: 24 bits of the hash (the *tag*) and where the record lies (40 bits, never 0, which
//! is empty). Eight entries are a cache line; a key is looked for in the line that its hash names and then in
//! the next ones, so that nearly every look-up touches one line of the index and one record. Both can be
//! asked for in advance ([`Seen::hash`](crate::Seen::hash), [`Batched::probe`](crate::Batched::probe)).
//! Laarman, van de Pol & Weber (FMCAD 2010) showed how well walking along cache lines does.
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

mod growth;
mod insert;
mod probe;
mod single;

use crate::arena::{Arena, RecordPlace};
use crate::segment::{SEGMENT_BITS, SEGMENTS, Segment};
use crate::sync::atomic::Ordering::Relaxed;
pub use insert::{Halt, Hand};
pub(crate) use single::AHEAD;
pub use single::Table;

/// The table that workers share.
#[derive(Debug)]
pub struct Shared {
    segments: [Segment; SEGMENTS],
    arena: Arena,
    limit: u64,
    /// Bytes of all segments.
    index_bytes: u64,
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
    pub fn read(&self, place: RecordPlace, out: &mut Vec<u8>) {
        self.arena.read(place, out);
    }
}

#[cfg(test)]
mod tests;
