//! Items of any kind in chunks, first in, first out.
//!
//! Chunks are given back as they are emptied, and never move. With a [`Spill`], those between the first and the
//! last are on a disk as soon as there is more than may be in memory: what comes in last goes away, what is
//! needed next is here.

use crate::disk::{Item, Place, Spill};
use std::collections::{TryReserveError, VecDeque};

/// Bytes of a chunk, about.
pub(crate) const CHUNK: usize = 1 << 18;

/// A chunk between the first and the last.
#[derive(Debug)]
enum Middle<T> {
    Here(Vec<T>),
    Away(Place),
}

/// Items.
#[derive(Debug)]
pub(crate) struct Chunks<T> {
    /// The chunk from which items are taken.
    first: Vec<T>,
    /// Items of it that are gone.
    taken: usize,
    middle: VecDeque<Middle<T>>,
    /// The chunk to which items are added.
    last: Vec<T>,
    /// Room for items in all chunks that are here.
    room: usize,
    spill: Option<Spill>,
}

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        let (first, last) = (Vec::new(), Vec::new());
        Chunks { first, taken: 0, middle: VecDeque::new(), last, room: 0, spill: None }
    }
}

impl<T: Item> Chunks<T> {
    /// From now on what waits in the middle may go to a disk.
    pub fn spill_to(&mut self, spill: Spill) {
        self.spill = Some(spill);
    }

    /// A chunk with room for `n` items.
    #[inline(always)]
    pub fn room(&mut self, n: usize) -> Result<&mut Vec<T>, TryReserveError> {
        if self.last.capacity() - self.last.len() < n {
            self.begin_chunk(n)?;
        }
        Ok(&mut self.last)
    }

    /// Begins another chunk; a small one while there is little.
    #[cold]
    fn begin_chunk(&mut self, n: usize) -> Result<(), TryReserveError> {
        let size = if self.last.is_empty() && self.first.len() < CHUNK / 64 { CHUNK / 64 } else { CHUNK };
        let mut chunk = Vec::new();
        chunk.try_reserve_exact((size / size_of::<T>().max(1)).max(n))?;
        self.middle.try_reserve(1)?;
        self.room += chunk.capacity();
        let full = std::mem::replace(&mut self.last, chunk);
        if full.is_empty() {
            self.room -= full.capacity();
            return Ok(());
        }
        let memory = self.memory();
        let spill = self.spill.as_ref().filter(|spill| memory > spill.keep);
        let middle = match spill.and_then(|spill| spill.put(&full)) {
            Some(place) => {
                self.room -= full.capacity();
                Middle::Away(place)
            }
            None => Middle::Here(full),
        };
        self.middle.push_back(middle);
        Ok(())
    }

    /// The next `n` items, which were put in together; `None` when there are none, or when they cannot be read
    /// back.
    #[inline(always)]
    pub fn take(&mut self, n: usize) -> Option<&[T]> {
        if self.taken == self.first.len() {
            self.next_chunk()?;
        }
        let first = self.taken;
        let items = self.first.get(first..first + n)?;
        self.taken += n;
        Some(items)
    }

    /// The next item; `None` as above.
    #[inline(always)]
    pub fn take_one(&mut self) -> Option<T> {
        if self.taken == self.first.len() {
            self.next_chunk()?;
        }
        let item = self.first.get(self.taken).copied()?;
        self.taken += 1;
        Some(item)
    }

    /// All items of the first chunk are gone. What cannot be read back stays the next.
    #[cold]
    fn next_chunk(&mut self) -> Option<()> {
        let next = match (self.middle.front_mut(), &self.spill) {
            (Some(Middle::Here(chunk)), _) => std::mem::take(chunk),
            (Some(Middle::Away(place)), Some(spill)) => {
                let chunk = spill.take(place.clone()).ok()?;
                self.room += chunk.capacity();
                chunk
            }
            (Some(Middle::Away(_)), None) => return None,
            (None, _) => std::mem::take(&mut self.last),
        };
        self.middle.pop_front();
        self.room -= std::mem::replace(&mut self.first, next).capacity();
        self.taken = 0;
        Some(())
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> u64 {
        (self.room * size_of::<T>() + self.middle.len() * size_of::<Middle<T>>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Disk;
    use crate::disk::tests::TestDisk;
    use std::sync::Arc;
    use std::sync::atomic::Ordering::Relaxed;

    /// The chunks grow and shrink in waves; with little memory most of what waits is away.
    #[test]
    fn what_waits_away_comes_in_order() {
        let disk = TestDisk::new(3 * CHUNK as u64);
        let shared: Arc<dyn Disk> = Arc::clone(&disk) as _;
        let mut chunks = Chunks::default();
        chunks.spill_to(Spill::new(&shared, 1));
        let (mut put, mut taken) = (0u64, 0u64);
        for wave in 0..6u64 {
            disk.full.store(wave == 4, Relaxed);
            for _ in 0..400_000 {
                chunks.room(1).unwrap().push(put);
                put += 1;
            }
            assert!(wave == 4 || chunks.memory() < 6 * CHUNK as u64 || wave > 4, "{}", chunks.memory());
            for _ in 0..300_000 + 20_000 * wave {
                assert_eq!(chunks.take_one(), Some(taken));
                taken += 1;
            }
        }
        while let Some(item) = chunks.take_one() {
            assert_eq!(item, taken);
            taken += 1;
        }
        assert_eq!((taken, chunks.memory() < 2 * CHUNK as u64), (put, true));
        assert!(disk.written.load(Relaxed) > 8 * 1_000_000);
        assert_eq!(disk.written.load(Relaxed), disk.read.load(Relaxed));
    }

    #[test]
    fn what_is_lost_is_not_passed_over() {
        let disk = TestDisk::new(0);
        let shared: Arc<dyn Disk> = Arc::clone(&disk) as _;
        let mut chunks = Chunks::default();
        chunks.spill_to(Spill::new(&shared, 1));
        (0..500_000u64).for_each(|n| chunks.room(1).unwrap().push(n));
        disk.broken.store(true, Relaxed);
        let before = std::iter::from_fn(|| chunks.take_one()).count();
        assert!(before < 400_000, "{before}");
        assert_eq!((chunks.take_one(), chunks.take(2)), (None, None));
        disk.broken.store(false, Relaxed);
        assert_eq!(chunks.take_one(), Some(before as u64));
    }
}
