//! The table of one worker, who grows it at once and needs no compare-and-swap.

use super::{Halt, Hand, Shared};
use crate::arena::{PLACE_BITS, RecordPlace};
use crate::pages::{Narrow, Width};
use crate::segment::{SEGMENTS, Ticket, has_room};
use crate::{Batched, Evicting, Full, Recall, Seen};

/// A key is probed this number of keys before it is inserted.
pub(crate) const AHEAD: usize = 16;

/// An exact set of byte strings.
#[derive(Debug)]
pub struct Table {
    pub(super) shared: Shared,
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
    ) -> Result<Option<RecordPlace>, Full> {
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
    fn insert_one(
        &mut self,
        width: impl Width,
        key: &[u8],
        ticket: Ticket,
    ) -> Result<Option<RecordPlace>, Full> {
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
        new: &mut Vec<(u32, RecordPlace)>,
    ) -> Result<(), Full> {
        new.try_reserve(keys.len()).map_err(|_| Full)?;
        tickets.iter_mut().take(AHEAD).for_each(|ticket| self.shared.probe_by(width, ticket));
        for (at, key) in keys.enumerate() {
            if let Some(ticket) = tickets.get_mut(at + AHEAD) {
                self.shared.probe_by(width, ticket);
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
    type Name = RecordPlace;

    #[inline(always)]
    fn hash(&mut self, key: &[u8]) -> Result<Ticket, Full> {
        Ok(self.shared.hash(key))
    }

    #[inline(always)]
    fn insert(&mut self, key: &[u8], ticket: Ticket) -> Result<Option<RecordPlace>, Full> {
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
        new: &mut Vec<(u32, RecordPlace)>,
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
    fn load(&mut self, name: RecordPlace, out: &mut Vec<u8>) {
        self.shared.read(name, out);
    }
}
