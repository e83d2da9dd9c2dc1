//! Probing: from a key to its line and to the record that may be its own, in strides between which other keys
//! are looked at while memory is on its way.

use super::Shared;
use crate::arena::{PLACE_BITS, RecordPlace};
use crate::pages::{Line, Narrow, WORDS, Width, prefetch};
use crate::segment::{PLACE_MASK, Ticket, has_room, place_of};
use crate::sync::atomic::Ordering::Acquire;

/// Where the records of these entries are.
#[inline]
fn places(line: &Line, mut bits: u32) -> impl Iterator<Item = RecordPlace> {
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
        self.probe_by(Narrow, ticket);
    }

    #[inline(always)]
    pub(super) fn probe_by(&self, width: impl Width, ticket: &mut Ticket) {
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
        self.arena.prefetch(RecordPlace::from_number(likely), ticket.len());
        prefetch(&lines[(home + usize::from(alike | empty == 0)) & segment.mask]);
        let fresh = segment.found_empty(home, first(empty));
        let unlike = if empty == 0 { segment.passed() } else { fresh };
        ticket.seen = if alike == 0 { unlike } else { ticket.seen | likely };
    }

    /// For a key that passed its home line: looks into the next one in the same way.
    #[inline(never)]
    pub(super) fn pass(&self, width: impl Width, ticket: Ticket) -> Ticket {
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
    pub fn find(&self, key: &[u8], ticket: Ticket) -> Option<RecordPlace> {
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

    /// Whether the record that the ticket leads to is the key's. Entries never go: what was there is there.
    #[inline(always)]
    pub(super) fn is_likely(&self, key: &[u8], ticket: Ticket) -> bool {
        ticket.likely().is_some_and(|likely| self.arena.is(likely, key))
    }

    /// Whether one of these entries of a line is the key's. Apart from its callers, who mostly have none to
    /// look at.
    #[inline(never)]
    pub(super) fn holds(&self, line: &Line, alike: u32, key: &[u8]) -> bool {
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
}
