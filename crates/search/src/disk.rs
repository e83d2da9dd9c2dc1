//! What a search need not have at hand goes to a disk when it takes more memory than it may: states that wait,
//! and the way back to states that were found.
//!
//! Only the store is looked into at every step. States wait first in, first out, and ancestries are written
//! from one end and read when the search is over: both can be on a disk without being waited for, since whole
//! chunks travel. This is the disk queue of G. J. Holzmann and D. Bošnački (*The design of a multicore
//! extension of the SPIN model checker*, TSE 2007), for packs as well ([`waiting_packs`](crate::waiting_packs)),
//! and for ancestries ([`List`]).
//!
//! The search knows no files: a [`Disk`] takes bytes and gives them back. **What cannot be written stays in
//! memory**, and is tried again with what comes next, so a disk that is full for a while does no harm. **What
//! cannot be read back ends the search**: nothing that it lacks is passed over in silence.

mod list;

pub(crate) use list::{Cached, List};

use crate::outcome::StopReason;
use std::fmt::Debug;
use std::sync::Arc;
use store::Portable;
use system::Annotation;

/// Where bytes were put: places of a kind that the disk knows, how many bytes, and their check sum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Parts of the file.
    pub slots: Vec<u64>,
    /// Bytes.
    pub len: usize,
    /// Of the bytes.
    pub check: u64,
}

/// Takes bytes and gives them back.
pub trait Disk: Send + Sync + Debug {
    /// How many bytes all that may be put here takes in memory, before it is.
    fn share(&self) -> u64;

    /// Puts bytes away. `None` where that cannot be done now: whoever asks keeps them.
    fn put(&self, bytes: &[u8]) -> Option<Place>;

    /// What was put away, as it was. If it cannot be had the search ends.
    fn get(&self, place: &Place) -> Result<Vec<u8>, StopReason>;

    /// Nobody will ask for it any more.
    fn forget(&self, place: Place);
}

/// Something of which lists are put away.
pub(crate) trait Item: Copy {
    /// Bytes of one.
    const BYTES: usize;

    /// Appends one.
    fn write(self, out: &mut Vec<u8>);

    /// Reads one from as many bytes.
    fn read(from: &[u8]) -> Option<Self>;

    /// Appends many.
    fn write_all(items: &[Self], out: &mut Vec<u8>) {
        items.iter().for_each(|item| item.write(out));
    }

    /// Reads as many as there are.
    fn read_all(from: &[u8], into: &mut Vec<Self>) {
        into.extend(from.chunks_exact(Self::BYTES).filter_map(Self::read));
    }
}

/// The word with this number in a row of bytes.
pub(crate) fn word(from: &[u8], number: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*from.get(8 * number..)?.first_chunk()?))
}

impl Item for u8 {
    const BYTES: usize = 1;

    fn write(self, out: &mut Vec<u8>) {
        out.push(self);
    }

    fn read(from: &[u8]) -> Option<Self> {
        from.first().copied()
    }

    fn write_all(items: &[Self], out: &mut Vec<u8>) {
        out.extend_from_slice(items);
    }

    fn read_all(from: &[u8], into: &mut Vec<Self>) {
        into.extend_from_slice(from);
    }
}

impl Item for u64 {
    const BYTES: usize = 8;

    fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn read(from: &[u8]) -> Option<Self> {
        word(from, 0)
    }
}

/// The name of a state, with its annotation.
impl<N: Portable> Item for (N, Annotation) {
    const BYTES: usize = 24;

    fn write(self, out: &mut Vec<u8>) {
        let [first, second] = self.0.to_words();
        [first, second, self.1.bits()].into_iter().for_each(|word| word.write(out));
    }

    fn read(from: &[u8]) -> Option<Self> {
        let name = N::from_words([word(from, 0)?, word(from, 1)?]);
        Some((name, Annotation::new(word(from, 2)?)))
    }
}

/// A disk, and how much of one list or queue stays in memory.
#[derive(Clone, Debug)]
pub(crate) struct Spill {
    disk: Arc<dyn Disk>,
    /// Bytes.
    pub keep: u64,
}

impl Spill {
    /// For one of so many who share.
    pub fn new(disk: &Arc<dyn Disk>, parts: u64) -> Self {
        Spill { keep: disk.share() / parts.max(1), disk: Arc::clone(disk) }
    }

    /// Puts items away, if that can be done now.
    pub fn put<T: Item>(&self, items: &[T]) -> Option<Place> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(items.len() * T::BYTES).ok()?;
        T::write_all(items, &mut bytes);
        self.disk.put(&bytes)
    }

    /// Puts bytes away, if that can be done now.
    pub fn put_bytes(&self, bytes: &[u8]) -> Option<Place> {
        self.disk.put(bytes)
    }

    /// Items that stay where they are.
    pub fn get<T: Item>(&self, place: &Place) -> Result<Vec<T>, StopReason> {
        let bytes = self.disk.get(place)?;
        let mut items = Vec::new();
        items.try_reserve_exact(bytes.len() / T::BYTES).map_err(crate::outcome::no_memory)?;
        T::read_all(&bytes, &mut items);
        Ok(items)
    }

    /// Items that come back.
    pub fn take<T: Item>(&self, place: Place) -> Result<Vec<T>, StopReason> {
        let items = self.get(&place)?;
        self.disk.forget(place);
        Ok(items)
    }
}

/// For tests: a disk in memory, which can be full, and can lose what it has.
#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

    #[derive(Debug, Default)]
    pub struct TestDisk {
        kept: Mutex<Vec<Option<Vec<u8>>>>,
        pub share: u64,
        pub full: AtomicBool,
        pub broken: AtomicBool,
        pub written: AtomicU64,
        pub read: AtomicU64,
    }

    impl TestDisk {
        pub fn new(share: u64) -> Arc<Self> {
            Arc::new(TestDisk { share, ..TestDisk::default() })
        }
    }

    impl Disk for TestDisk {
        fn share(&self) -> u64 {
            self.share
        }

        fn put(&self, bytes: &[u8]) -> Option<Place> {
            if self.full.load(Relaxed) {
                return None;
            }
            self.written.fetch_add(bytes.len() as u64, Relaxed);
            let mut kept = self.kept.lock().unwrap();
            kept.push(Some(bytes.to_vec()));
            Some(Place { slots: vec![kept.len() as u64 - 1], len: bytes.len(), check: 0 })
        }

        fn get(&self, place: &Place) -> Result<Vec<u8>, StopReason> {
            if self.broken.load(Relaxed) {
                return Err(StopReason::Disk);
            }
            self.read.fetch_add(place.len as u64, Relaxed);
            Ok(self.kept.lock().unwrap()[place.slots[0] as usize].clone().expect("it was not forgotten"))
        }

        fn forget(&self, place: Place) {
            let gone = self.kept.lock().unwrap()[place.slots[0] as usize].take();
            assert!(gone.is_some(), "nothing is forgotten twice");
        }
    }

    #[test]
    fn items_come_back_as_they_were() {
        let disk = TestDisk::new(0);
        let shared: Arc<dyn Disk> = Arc::clone(&disk) as _;
        let spill = Spill::new(&shared, 1);
        let names: Vec<(store::arena::RecordPlace, Annotation)> = (1..100)
            .map(|n| (store::arena::RecordPlace::from_number(n << 30), Annotation::new(u64::MAX - n)))
            .collect();
        let place = spill.put(&names).unwrap();
        assert_eq!(place.len, names.len() * 24);
        assert_eq!(spill.get(&place), Ok(names.clone()));
        disk.broken.store(true, Relaxed);
        assert_eq!(spill.get::<u8>(&place), Err(StopReason::Disk));
        disk.broken.store(false, Relaxed);
        assert_eq!(spill.take(place), Ok(names));
        disk.full.store(true, Relaxed);
        assert_eq!(spill.put(&[1u64]), None);
    }
}
