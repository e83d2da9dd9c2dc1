//! A list to which items are only added, and of which the older part may be on a disk.
//!
//! It is put away in parts of one size, so that an item's number says where it is. The first item of each part
//! stays, for lists that are sorted: one part is read to find something.

use super::{Item, Place, Spill};
use crate::outcome::StopReason;
use std::borrow::Cow;
use std::collections::TryReserveError;
use std::ops::Range;

/// Bytes of a part.
const PART: usize = 1 << 16;

/// Items in the order in which they were added.
#[derive(Debug)]
pub(crate) struct List<T> {
    away: Vec<Place>,
    /// The first item of each part that is away.
    firsts: Vec<T>,
    /// What follows.
    here: Vec<T>,
    spill: Option<Spill>,
    /// When `here` is as long as this a part of it is to go.
    most: usize,
}

/// The part of a list that was read last.
#[derive(Debug)]
pub(crate) struct Cached<T> {
    part: Option<usize>,
    items: Vec<T>,
}

impl<T> Default for Cached<T> {
    fn default() -> Self {
        Cached { part: None, items: Vec::new() }
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> List<T> {
    /// Empty, in memory.
    pub const fn new() -> Self {
        List { away: Vec::new(), firsts: Vec::new(), here: Vec::new(), spill: None, most: usize::MAX }
    }

    /// The last item.
    #[inline]
    pub fn last(&self) -> Option<&T> {
        self.here.last()
    }
}

impl<T: Item> From<Vec<T>> for List<T> {
    fn from(here: Vec<T>) -> Self {
        List { here, ..List::new() }
    }
}

impl<T: Item> List<T> {
    /// Items of a part.
    const EACH: usize = PART / T::BYTES;

    /// From now on older items go to a disk.
    pub fn spill_to(&mut self, spill: Spill) {
        self.most = Self::kept(&spill);
        self.spill = Some(spill);
    }

    /// How many items stay: one part at least, behind one that is to go.
    fn kept(spill: &Spill) -> usize {
        (spill.keep as usize / T::BYTES).max(2 * Self::EACH)
    }

    /// How many items there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.away.len() * Self::EACH + self.here.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.here.is_empty() && self.away.is_empty()
    }

    /// Makes room for items that will be [put in](List::put).
    #[inline]
    pub fn reserve(&mut self, n: usize) -> Result<(), TryReserveError> {
        if self.here.len() >= self.most {
            self.put_away();
        }
        self.here.try_reserve(n)
    }

    /// Adds an item for which there is room.
    #[inline]
    pub fn put(&mut self, item: T) {
        self.here.push(item);
    }

    /// Adds an item.
    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), TryReserveError> {
        self.reserve(1)?;
        self.put(item);
        Ok(())
    }

    /// Puts the older half away, in parts. The last item stays.
    #[cold]
    fn put_away(&mut self) {
        let Some(spill) = &self.spill else { return };
        let parts = (self.here.len() / Self::EACH / 2).max(1);
        let mut done = 0;
        for part in self.here.chunks_exact(Self::EACH).take(parts) {
            let room = self.away.try_reserve(1).and_then(|()| self.firsts.try_reserve(1));
            let Some(place) = room.ok().and_then(|()| spill.put(part)) else { break };
            self.away.push(place);
            self.firsts.extend(part.first());
            done += 1;
        }
        self.here.drain(..done * Self::EACH);
        // Where nothing can be written now it is tried again after a while.
        self.most = match done {
            0 => self.here.len() + 4 * Self::EACH,
            _ => Self::kept(spill),
        };
    }

    /// All items, where none is away.
    pub fn all(&self) -> &[T] {
        debug_assert!(self.away.is_empty(), "what is away is asked for by numbers");
        &self.here
    }

    /// The items with these numbers.
    pub fn range(&self, range: Range<usize>) -> Result<Cow<'_, [T]>, StopReason> {
        let base = self.away.len() * Self::EACH;
        let range = range.start.min(self.len())..range.end.min(self.len());
        if range.start >= base || range.is_empty() {
            return Ok(Cow::Borrowed(&self.here[range.start.max(base) - base..range.end.max(base) - base]));
        }
        let mut items = Vec::new();
        for part in range.start / Self::EACH..self.away.len().min(range.end.div_ceil(Self::EACH)) {
            let first = part * Self::EACH;
            let read = self.part(part)?;
            items.try_reserve(read.len()).map_err(crate::outcome::no_memory)?;
            items.extend_from_slice(
                &read[range.start.max(first) - first..range.end.min(first + read.len()) - first],
            );
        }
        items.extend_from_slice(&self.here[..range.end.max(base) - base]);
        Ok(Cow::Owned(items))
    }

    fn part(&self, number: usize) -> Result<Vec<T>, StopReason> {
        let (Some(spill), Some(place)) = (&self.spill, self.away.get(number)) else {
            return Err(StopReason::Disk);
        };
        let items = spill.get(place)?;
        if items.len() == Self::EACH { Ok(items) } else { Err(StopReason::Disk) }
    }

    /// In a list in which such items stand before all others, the last of them; with its number.
    pub fn last_where(
        &self,
        is_before: impl Fn(&T) -> bool,
        cached: &mut Cached<T>,
    ) -> Result<Option<(usize, T)>, StopReason> {
        let base = self.away.len() * Self::EACH;
        if self.here.first().is_some_and(&is_before) || self.away.is_empty() {
            let after = self.here.partition_point(is_before);
            return Ok(after.checked_sub(1).map(|at| (base + at, self.here[at])));
        }
        let Some(part) = self.firsts.partition_point(&is_before).checked_sub(1) else { return Ok(None) };
        if cached.part != Some(part) {
            *cached = Cached { items: self.part(part)?, part: Some(part) };
        }
        let after = cached.items.partition_point(is_before);
        Ok(after.checked_sub(1).map(|at| (part * Self::EACH + at, cached.items[at])))
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> u64 {
        let away = self.away.capacity() * (size_of::<Place>() + 8) + self.firsts.capacity() * size_of::<T>();
        (self.here.capacity() * size_of::<T>() + away) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::Disk;
    use super::super::tests::TestDisk;
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::Ordering::Relaxed;

    const N: usize = 400_000;

    fn squares(disk: &Arc<TestDisk>) -> List<u64> {
        let shared: Arc<dyn Disk> = Arc::clone(disk) as _;
        let mut list = List::new();
        list.spill_to(Spill::new(&shared, 1));
        for n in 0..N as u64 {
            // For a while the disk is full.
            disk.full.store((40_000..60_000).contains(&n), Relaxed);
            list.push(n * n).unwrap();
            assert_eq!(list.last(), Some(&(n * n)));
        }
        list
    }

    #[test]
    fn what_is_away_is_found_as_what_is_here() {
        let disk = TestDisk::new(1000);
        let list = squares(&disk);
        assert_eq!((list.len(), list.is_empty()), (N, false));
        assert!(list.memory() < N as u64 * 2, "{}", list.memory());
        let square = |n: usize| (n * n) as u64;
        for range in
            [0..0, 0..1, 5..9, 8191..8193, 0..20_000, 30_000..99_000, 99_990..N, N - 1..N + 7, N..N + 1]
        {
            let expected: Vec<u64> = (range.start..range.end.min(N)).map(square).collect();
            assert_eq!(*list.range(range.clone()).unwrap(), expected, "{range:?}");
        }
        let mut cached = Cached::default();
        for n in (0..N).rev().step_by(37).chain((0..N).step_by(91)) {
            let found = list.last_where(|&item| item <= square(n), &mut cached);
            assert_eq!(found, Ok(Some((n, square(n)))));
        }
        assert_eq!(list.last_where(|_| false, &mut cached), Ok(None));
        disk.broken.store(true, Relaxed);
        assert_eq!(list.range(7..9), Err(StopReason::Disk));
        assert_eq!(list.last_where(|&item| item <= 4, &mut Cached::default()), Err(StopReason::Disk));
        assert!(list.range(N - 9..N).is_ok(), "what is here needs no disk");
    }

    #[test]
    fn without_a_disk_all_is_here() {
        let mut list = List::new();
        (0..N as u64).for_each(|n| list.push(n).unwrap());
        assert_eq!((list.all().len(), list.len()), (N, N));
        assert_eq!(list.last_where(|&item| item < 5, &mut Cached::default()), Ok(Some((4, 4))));
        assert_eq!(list.last_where(|_| false, &mut Cached::default()), Ok(None));
    }
}
