//! What belongs to other processes: the edges of a batch whose ends they own, on the way into parcels.
//!
//! Who owns a state is decided by a hash of what it means, the same in every process
//! ([`system::portable`]). What was sent lately is not sent again: a small cache keeps exact copies, one for
//! each value of some bits of the hash. So a state is left out only if it was sent before.

use super::parcel::{Origin, Parcel};
use crate::ancestry::Ordinal;
use crate::edge_number::EdgeOrder;
use crate::expand::Expansion;
use crate::observer::Snapshot;
use crate::outcome::StopReason;
use system::TransitionSystem;
use system::portable::{Exported, Exporter, PortableError, ShapeNumber};

/// Bytes of a parcel that is sent when it is full.
const PARCEL: usize = 64 << 10;
/// Bits of the hash that choose a place in the cache.
const CACHE_BITS: u32 = 12;

/// The process that owns a state with this hash.
pub(crate) fn owner(hash: u64, size: usize) -> usize {
    ((u128::from(hash) * size as u128) >> 64) as usize
}

/// What leaves this process.
pub(crate) struct Away<'a> {
    exporter: Exporter<'a>,
    hidden: usize,
    rank: usize,
    contents: Vec<u8>,
    /// For each process the parcel that is being filled.
    open: Vec<Parcel>,
    /// Parcels that are to be sent.
    ready: Vec<(usize, Vec<u8>)>,
    sent: SentLately,
    /// For each edge of the batch that stays, the number that is kept of it.
    numbers: Vec<u32>,
    /// How far the other processes are.
    pub others: Snapshot,
    /// Bytes in which it is kept where states came from.
    pub origins: u64,
    /// Counts.
    pub states: u64,
    pub spared: u64,
    pub parcels: u64,
    pub bytes: u64,
    /// Why a state could not be sent.
    pub broken: Option<PortableError>,
}

impl<'a> Away<'a> {
    /// Of the process with this number, of so many.
    pub fn new(
        system: &'a dyn TransitionSystem,
        (rank, size): (usize, usize),
    ) -> Result<Self, PortableError> {
        Ok(Away {
            exporter: Exporter::new(system)?,
            hidden: system.hidden_bytes(),
            rank,
            contents: Vec::new(),
            open: std::iter::repeat_with(Parcel::default).take(size).collect(),
            ready: Vec::new(),
            sent: SentLately::default(),
            numbers: Vec::new(),
            others: Snapshot::default(),
            origins: 0,
            states: 0,
            spared: 0,
            parcels: 0,
            bytes: 0,
            broken: None,
        })
    }

    /// The numbers of the edges of a batch that stayed.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// Nothing is in the batch.
    pub fn begin_batch(&mut self) {
        self.numbers.clear();
    }

    /// Whether this process owns a state.
    pub fn is_own(&mut self, state: &[u8]) -> Result<bool, StopReason> {
        self.export(state).map(|exported| owner(exported.owner, self.open.len()) == self.rank)
    }

    fn export(&mut self, state: &[u8]) -> Result<Exported, StopReason> {
        self.contents.clear();
        self.exporter.export(state, &mut self.contents).map_err(|error| {
            self.broken = Some(error);
            StopReason::Interrupted
        })
    }

    /// Takes those of the edges from `first` on out of the expansion whose ends belong to others, at this
    /// depth; says how many.
    pub fn sort_out(
        &mut self,
        expansion: &mut Expansion,
        first: usize,
        (parent, order): (Ordinal, EdgeOrder),
        depth: u64,
    ) -> Result<u64, StopReason> {
        debug_assert_eq!(self.numbers.len(), first);
        let mut gone = 0;
        expansion.retain(first, |place, state, annotation| {
            let (exported, edge) = (self.export(state)?, order.encode(place));
            let to = owner(exported.owner, self.open.len());
            if to == self.rank {
                self.numbers.push(edge);
                return Ok(true);
            }
            gone += 1;
            let visible = &self.contents[..self.contents.len() - self.hidden];
            if self.sent.knows(exported, visible) {
                self.spared += 1;
                return Ok(false);
            }
            let origin = Origin { parent, edge };
            self.open[to].add((exported.shape, &self.contents), annotation, origin, depth);
            self.states += 1;
            if self.open[to].len() >= PARCEL {
                self.close(to);
            }
            Ok(false)
        })?;
        Ok(gone)
    }

    fn close(&mut self, to: usize) {
        if let Some(parcel) = self.open[to].close(self.exporter.dictionary()) {
            self.parcels += 1;
            self.bytes += parcel.len() as u64;
            self.ready.push((to, parcel));
        }
    }

    /// Closes all parcels, full or not.
    pub fn close_all(&mut self) {
        (0..self.open.len()).for_each(|to| self.close(to));
    }

    /// The parcels that are to be sent.
    pub fn take_ready(&mut self) -> std::vec::Drain<'_, (usize, Vec<u8>)> {
        self.ready.drain(..)
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> u64 {
        let ready: usize = self.ready.iter().map(|(_, parcel)| parcel.capacity()).sum();
        self.open.iter().map(Parcel::memory).sum::<u64>() + self.sent.memory() + self.origins + ready as u64
    }
}

/// Exact copies of states that were sent lately.
#[derive(Debug, Default)]
struct SentLately {
    places: Vec<(ShapeNumber, Vec<u8>)>,
}

impl SentLately {
    /// Whether a state is here; if not, it is from now on.
    fn knows(&mut self, exported: Exported, visible: &[u8]) -> bool {
        if self.places.is_empty() {
            self.places.resize_with(1 << CACHE_BITS, || (ShapeNumber(u32::MAX), Vec::new()));
        }
        // The upper bits say who owns it.
        let (shape, copy) = &mut self.places[exported.owner as usize & ((1 << CACHE_BITS) - 1)];
        if *shape == exported.shape && copy == visible {
            return true;
        }
        *shape = exported.shape;
        copy.clear();
        copy.extend_from_slice(visible);
        false
    }

    fn memory(&self) -> u64 {
        let copies: usize = self.places.iter().map(|(_, copy)| copy.capacity()).sum();
        (copies + self.places.capacity() * size_of::<(ShapeNumber, Vec<u8>)>()) as u64
    }
}
