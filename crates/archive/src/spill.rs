//! A file for what need not be in memory while a process runs: bytes are put into it and read back, and nobody
//! else sees it.
//!
//! It consists of slots of one size, so that what was read back leaves room for what comes, and the file is no
//! longer than what it held at its fullest. Where the system allows it the file has no name from the beginning:
//! whatever ends the process, nothing is left. Elsewhere it goes when it is dropped.
//!
//! Check sums are for disks that give back something else than what was written: that would be a wrong state.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use system::portable::StableHash;

/// Bytes of a slot.
const SLOT: usize = 1 << 16;
/// Names that are tried.
const NAMES: u32 = 1000;

/// Which slots are free.
#[derive(Debug, Default)]
struct Slots {
    free: Vec<u64>,
    /// The first that was never used.
    end: u64,
}

/// A file.
#[derive(Debug)]
pub struct SpillFile {
    file: File,
    /// Its name, if it still has one.
    named: Option<PathBuf>,
    slots: Mutex<Slots>,
    /// One at a time moves in the file, where places cannot be given with what is read and written.
    #[cfg(not(unix))]
    moving: Mutex<()>,
    written: AtomicU64,
    read: AtomicU64,
}

/// Where bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spilled {
    /// The slots, in order.
    pub slots: Vec<u64>,
    /// How many bytes.
    pub len: usize,
    /// Their check sum.
    pub check: u64,
}

impl SpillFile {
    /// A new file in a folder.
    pub fn create_in(folder: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        for number in 0..NAMES {
            let path = folder.join(format!("spinor-{}-{number}.waiting", std::process::id()));
            match options.open(&path) {
                Ok(file) => return Ok(Self::opened(file, path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::new(ErrorKind::AlreadyExists, "all names are taken"))
    }

    fn opened(file: File, path: PathBuf) -> Self {
        // Elsewhere than on Unix an open file keeps its name.
        let unlinked = cfg!(unix) && fs::remove_file(&path).is_ok();
        SpillFile {
            file,
            named: (!unlinked).then_some(path),
            slots: Mutex::default(),
            #[cfg(not(unix))]
            moving: Mutex::default(),
            written: AtomicU64::new(0),
            read: AtomicU64::new(0),
        }
    }

    /// Bytes that were written so far.
    pub fn written(&self) -> u64 {
        self.written.load(Relaxed)
    }

    /// Bytes that were read back so far.
    pub fn read_back(&self) -> u64 {
        self.read.load(Relaxed)
    }

    /// The length of the file: what it held at its fullest.
    pub fn size(&self) -> u64 {
        self.slots().end * SLOT as u64
    }

    /// Puts bytes into the file. If that fails it is as it was.
    pub fn put(&self, bytes: &[u8]) -> io::Result<Spilled> {
        let slots = self.take_slots(bytes.len().div_ceil(SLOT));
        let check = StableHash::new(0).bytes(bytes).finish();
        let spilled = Spilled { slots, len: bytes.len(), check };
        for (slot, part) in spilled.slots.iter().zip(bytes.chunks(SLOT)) {
            if let Err(error) = self.write_at(part, slot * SLOT as u64) {
                self.forget(spilled);
                return Err(error);
            }
        }
        self.written.fetch_add(bytes.len() as u64, Relaxed);
        Ok(spilled)
    }

    /// Reads what was put into the file.
    pub fn get(&self, from: &Spilled) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(from.len).map_err(|_| ErrorKind::OutOfMemory)?;
        bytes.resize(from.len, 0);
        for (slot, part) in from.slots.iter().zip(bytes.chunks_mut(SLOT)) {
            self.read_at(part, slot * SLOT as u64)?;
        }
        self.read.fetch_add(from.len as u64, Relaxed);
        match StableHash::new(0).bytes(&bytes).finish() == from.check {
            true => Ok(bytes),
            false => Err(io::Error::new(ErrorKind::InvalidData, "it is not what was written")),
        }
    }

    /// What was there is not needed any more.
    pub fn forget(&self, spilled: Spilled) {
        self.slots().free.extend(spilled.slots);
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_slots(&self, n: usize) -> Vec<u64> {
        let mut slots = self.slots();
        let from = slots.free.len().saturating_sub(n);
        let mut taken = slots.free.split_off(from);
        while taken.len() < n {
            taken.push(slots.end);
            slots.end += 1;
        }
        taken
    }

    #[cfg(unix)]
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.file, bytes, at)
    }

    #[cfg(unix)]
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, bytes, at)
    }

    #[cfg(not(unix))]
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        use std::io::{Seek, SeekFrom, Write};
        let _alone = self.moving.lock().unwrap_or_else(PoisonError::into_inner);
        (&self.file).seek(SeekFrom::Start(at))?;
        (&self.file).write_all(bytes)
    }

    #[cfg(not(unix))]
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        use std::io::{Read, Seek, SeekFrom};
        let _alone = self.moving.lock().unwrap_or_else(PoisonError::into_inner);
        (&self.file).seek(SeekFrom::Start(at))?;
        (&self.file).read_exact(bytes)
    }
}

impl Drop for SpillFile {
    fn drop(&mut self) {
        if let Some(path) = self.named.take() {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("spinor-spill-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn bytes(seed: usize, len: usize) -> Vec<u8> {
        (0..len).map(|at| (at * 31 + seed * 7 + at / 251) as u8).collect()
    }

    #[test]
    fn bytes_come_back_and_room_is_used_again() {
        let folder = folder("room");
        let file = SpillFile::create_in(&folder).unwrap();
        let lens = [0, 1, SLOT - 1, SLOT, SLOT + 1, 5 * SLOT + 17];
        let mut kept = Vec::new();
        for round in 0..50 {
            let len = lens[round % lens.len()];
            kept.push((round, len, file.put(&bytes(round, len)).unwrap()));
            if kept.len() > 7 {
                let (seed, len, spilled) = kept.remove(round % 5);
                assert_eq!(file.get(&spilled).unwrap(), bytes(seed, len));
                file.forget(spilled);
            }
        }
        for (seed, len, spilled) in &kept {
            assert_eq!(&file.get(spilled).unwrap(), &bytes(*seed, *len));
        }
        assert!(file.written() > 60 * SLOT as u64 && file.size() < 30 * SLOT as u64, "{}", file.size());
        drop(file);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "nothing is left");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn a_file_has_no_name_while_it_is_used() {
        let folder = folder("name");
        let (one, two) = (SpillFile::create_in(&folder).unwrap(), SpillFile::create_in(&folder).unwrap());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        let (a, b) = (one.put(b"one").unwrap(), two.put(b"two").unwrap());
        assert_eq!((one.get(&a).unwrap(), two.get(&b).unwrap()), (b"one".to_vec(), b"two".to_vec()));
        fs::remove_dir_all(&folder).unwrap();
        assert!(SpillFile::create_in(&folder).is_err(), "there is no such folder");
    }

    #[test]
    fn what_was_altered_is_noticed() {
        let folder = folder("altered");
        let file = SpillFile::create_in(&folder).unwrap();
        let spilled = file.put(&bytes(1, 1000)).unwrap();
        file.write_at(b"x", 500).unwrap();
        assert_eq!(file.get(&spilled).unwrap_err().kind(), ErrorKind::InvalidData);
        let nowhere = Spilled { slots: vec![99], len: 10, check: 0 };
        assert!(file.get(&nowhere).is_err());
        drop(file);
        fs::remove_dir_all(&folder).unwrap();
    }
}
