//! First in, first out: the states that are known and still to be expanded.
//!
//! In a store that gives keys back, a name is enough ([`Names`]). Otherwise, and where states are longer than
//! their keys, whole states wait ([`Whole`]). Both lie in chunks ([`chunks`](crate::chunks)), which may be on a
//! disk.

use crate::chunks::Chunks;
use crate::disk::{Disk, Spill};
use crate::observer::Snapshot;
use std::collections::TryReserveError;
use std::sync::Arc;
use store::{Batched, Recall};
use system::Annotation;

/// Of the memory that is for what may be on a disk, this part is for the queue of a single worker.
const PART: u64 = 2;

/// States that wait to be expanded.
pub trait Queue<S: Batched> {
    /// Whether it wants states, and not only their names.
    const WHOLE: bool;

    /// Puts a state at the end. `name` is what the store calls it. Its annotation is kept if the queue was
    /// made for that.
    fn push(&mut self, name: S::Name, state: &[u8], annotation: Annotation) -> Result<(), TryReserveError>;

    /// Puts several states at the end.
    #[inline]
    fn push_all<'s>(
        &mut self,
        mut states: impl ExactSizeIterator<Item = (S::Name, &'s [u8], Annotation)>,
    ) -> Result<(), TryReserveError> {
        states.try_for_each(|(name, state, annotation)| self.push(name, state, annotation))
    }

    /// Takes the first state out and appends its bytes to `out`; the store learns that its successors come
    /// next. Answers its annotation, or `None` when there is no state, or it cannot be read back.
    fn pop(&mut self, store: &mut S, out: &mut Vec<u8>) -> Option<Annotation>;

    /// What waits may be on this disk from now on. A queue that several workers share is told elsewhere.
    fn spill_to(&mut self, _disk: &Arc<dyn Disk>) {}

    /// How many states wait.
    fn waiting(&self) -> u64;

    /// Bytes of memory in use.
    fn memory(&self) -> u64;

    /// What other workers who share the queue have done, and what waits in all.
    fn elsewhere(&self) -> Snapshot {
        Snapshot::default()
    }
}

/// Names of states, each with its annotation.
#[derive(Debug)]
pub struct Names<N> {
    names: Chunks<(N, Annotation)>,
    len: u64,
}

impl<N> Default for Names<N> {
    fn default() -> Self {
        Names { names: Chunks::default(), len: 0 }
    }
}

impl<S: Recall> Queue<S> for Names<S::Name> {
    const WHOLE: bool = false;

    #[inline]
    fn push(&mut self, name: S::Name, _state: &[u8], annotation: Annotation) -> Result<(), TryReserveError> {
        self.names.room(1)?.push((name, annotation));
        self.len += 1;
        Ok(())
    }

    #[inline]
    fn push_all<'s>(
        &mut self,
        states: impl ExactSizeIterator<Item = (S::Name, &'s [u8], Annotation)>,
    ) -> Result<(), TryReserveError> {
        let n = states.len();
        self.names.room(n)?.extend(states.map(|(name, _, annotation)| (name, annotation)));
        self.len += n as u64;
        Ok(())
    }

    #[inline]
    fn pop(&mut self, store: &mut S, out: &mut Vec<u8>) -> Option<Annotation> {
        let (name, annotation) = self.names.take_one()?;
        self.len -= 1;
        store.load(name, out);
        Some(annotation)
    }

    fn spill_to(&mut self, disk: &Arc<dyn Disk>) {
        self.names.spill_to(Spill::new(disk, PART));
    }

    fn waiting(&self) -> u64 {
        self.len
    }

    fn memory(&self) -> u64 {
        self.names.memory()
    }
}

/// Whole states, each with its length in front, and with its annotation where that is kept.
#[derive(Debug, Default)]
pub struct Whole {
    bytes: Chunks<u8>,
    /// Bytes at the end of a state that are no part of its key.
    hidden: usize,
    lean: bool,
    len: u64,
}

impl Whole {
    /// A queue of states that end in `hidden` hidden bytes; with `lean`, annotations are kept.
    pub fn new(hidden: usize, lean: bool) -> Self {
        Whole { hidden, lean, ..Whole::default() }
    }
}

impl<S: Batched> Queue<S> for Whole {
    const WHOLE: bool = true;

    fn push(&mut self, _name: S::Name, state: &[u8], annotation: Annotation) -> Result<(), TryReserveError> {
        let chunk = self.bytes.room(state.len() + 12)?;
        chunk.extend_from_slice(&(state.len() as u32).to_le_bytes());
        if self.lean {
            chunk.extend_from_slice(&annotation.bits().to_le_bytes());
        }
        chunk.extend_from_slice(state);
        self.len += 1;
        Ok(())
    }

    #[inline]
    fn pop(&mut self, store: &mut S, out: &mut Vec<u8>) -> Option<Annotation> {
        let len = u32::from_le_bytes(*self.bytes.take(4)?.first_chunk()?) as usize;
        let annotation = match self.lean {
            true => Annotation::new(u64::from_le_bytes(*self.bytes.take(8)?.first_chunk()?)),
            false => Annotation::NONE,
        };
        let state = self.bytes.take(len)?;
        self.len -= 1;
        store.depart(&state[..len.saturating_sub(self.hidden)]);
        out.extend_from_slice(state);
        Some(annotation)
    }

    fn spill_to(&mut self, disk: &Arc<dyn Disk>) {
        self.bytes.spill_to(Spill::new(disk, PART));
    }

    fn waiting(&self) -> u64 {
        self.len
    }

    fn memory(&self) -> u64 {
        self.bytes.memory()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunks::CHUNK;
    use store::{Seen, Table};

    #[test]
    fn states_come_out_as_they_went_in() {
        let mut store = Table::default();
        let mut names = Names::default();
        let mut whole = Whole::new(0, true);
        let key = |i: u32| vec![i as u8; (i as usize * 7919) % 700].into_iter().chain(i.to_le_bytes());
        let (mut first, mut last) = (0u32, 0u32);
        for round in 0..40_000u32 {
            let state: Vec<u8> = key(last).collect();
            let ticket = store.hash(&state).unwrap();
            let name = store.insert(&state, ticket).unwrap().unwrap();
            let annotation = Annotation::new(1 + last as u64);
            Queue::<Table>::push(&mut names, name, &state, annotation).unwrap();
            Queue::<Table>::push(&mut whole, name, &state, annotation).unwrap();
            last += 1;
            // First the queues grow, then they shrink until they are empty.
            for _ in 0..if round < 20_000 { round % 2 } else { 2 } {
                let (mut a, mut b) = (Vec::new(), Vec::new());
                let annotation = names.pop(&mut store, &mut a);
                assert_eq!(annotation, whole.pop(&mut store, &mut b));
                assert_eq!(annotation.is_some(), first < last);
                if let Some(annotation) = annotation {
                    assert_eq!(annotation.bits(), 1 + first as u64);
                    assert_eq!(a, b);
                    assert_eq!(a, key(first).collect::<Vec<u8>>());
                    first += 1;
                }
            }
            assert_eq!(Queue::<Table>::waiting(&names), u64::from(last - first));
        }
        assert!(Queue::<Table>::memory(&whole) < 4 * CHUNK as u64, "emptied chunks are given back");
    }
}
