//! A file that grows, and is whole whenever the process or the power ends.
//!
//! Blocks are appended. A *commit* makes them last: they are on the disk before the head of the file says how
//! far it is good, and how far it was before. Whatever lies behind that is not there, so a process that is
//! killed leaves the last commit. What is before it must be as it was written: the head has the sum of the
//! check sums of all blocks. The head, eighty bytes, is changed by one write within a sector.
//!
//! The first commit of a new journal puts it into its place ([`DurableFile`]); until then a file of that name
//! is as it was.
//!
//! **A full disk** is no end: what cannot be written waits in memory and is tried again, up to a limit.
//! Until then the last commit is good.

use crate::block::{Block, Blocks, Damage, Written, write_block};
use crate::durable::DurableFile;
use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use system::portable::StableHash;

/// The first bytes of every journal.
const MAGIC: &[u8; 16] = b"spinor journal 1";
/// Bytes of one of the two places in the head.
const SLOT: usize = 32;
/// Where blocks begin.
const BEGIN: u64 = (MAGIC.len() + 2 * SLOT) as u64;
/// Bytes that may wait for room on the disk.
const MOST_WAITING: usize = 64 << 20;

/// How far a journal is good.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Commit {
    number: u64,
    /// The length of the file.
    len: u64,
    /// The sum of the check sums of all blocks.
    sums: u64,
}

impl Commit {
    fn to_slot(self) -> [u8; SLOT] {
        let mut slot = [0; SLOT];
        let check = StableHash::new(5).word(self.number).word(self.len).word(self.sums).finish();
        for (at, word) in [self.number, self.len, self.sums, check].into_iter().enumerate() {
            slot[8 * at..8 * at + 8].copy_from_slice(&word.to_le_bytes());
        }
        slot
    }

    fn of_slot(slot: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u64::from_le_bytes(*slot.get(8 * at..)?.first_chunk()?));
        let commit = Commit { number: word(0)?, len: word(1)?, sums: word(2)? };
        (commit.to_slot() == *slot).then_some(commit)
    }
}

/// The file behind a journal.
#[derive(Debug)]
enum Place {
    /// Beside its place.
    New(DurableFile),
    /// In its place.
    Kept(File),
}

impl Place {
    fn file(&mut self) -> &mut File {
        match self {
            Place::New(file) => file.file(),
            Place::Kept(file) => file,
        }
    }
}

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    place: Place,
    /// How far it was written.
    len: u64,
    sums: StableHash,
    last: Commit,
    /// Blocks that could not be written yet.
    waiting: VecDeque<(Vec<u8>, Written)>,
    waiting_bytes: usize,
    given_up: bool,
}

impl Journal {
    /// Begins a journal that is to be at `path`.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::at(path, Place::New(DurableFile::create(path)?))
    }

    fn at(path: &Path, mut place: Place) -> io::Result<Self> {
        let sums = StableHash::new(4);
        let last = Commit { number: 0, len: BEGIN, sums: sums.finish() };
        let file = place.file();
        file.write_all(MAGIC)?;
        file.write_all(&[0; 2 * SLOT])?;
        let (path, waiting) = (path.to_path_buf(), VecDeque::new());
        Ok(Journal { path, place, len: BEGIN, sums, last, waiting, waiting_bytes: 0, given_up: false })
    }

    /// Goes on with a journal that was read to its last commit. What lies behind it goes.
    pub fn append_to(path: &Path, read: &Position) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        file.set_len(read.last.len)?;
        Ok(Self::going_on(path, Place::Kept(file), read))
    }

    /// Begins a journal with all that is in another one.
    pub fn copy_of(from: &Path, read: &Position, path: &Path) -> io::Result<Self> {
        let mut file = DurableFile::create(path)?;
        io::copy(&mut File::open(from)?.take(read.last.len), file.file())?;
        Ok(Self::going_on(path, Place::New(file), read))
    }

    fn going_on(path: &Path, place: Place, read: &Position) -> Self {
        let Position { last, sums } = *read;
        let (path, waiting) = (path.to_path_buf(), VecDeque::new());
        Journal { path, place, len: last.len, sums, last, waiting, waiting_bytes: 0, given_up: false }
    }

    /// Appends a block that [`framed`] made. What cannot be written waits, and why is told.
    pub fn append(&mut self, (bytes, written): (Vec<u8>, Written)) -> io::Result<()> {
        if self.given_up {
            return Err(io::Error::other("there was no room for too long"));
        }
        self.waiting_bytes += bytes.len();
        self.waiting.push_back((bytes, written));
        let result = self.write_waiting();
        if self.waiting_bytes > MOST_WAITING {
            (self.given_up, self.waiting_bytes) = (true, 0);
            self.waiting.clear();
        }
        result
    }

    fn write_waiting(&mut self) -> io::Result<()> {
        while let Some((bytes, written)) = self.waiting.front() {
            let file = self.place.file();
            file.seek(SeekFrom::Start(self.len))?;
            file.write_all(bytes)?;
            self.len += bytes.len() as u64;
            self.sums = self.sums.word(written.sum);
            self.waiting_bytes -= bytes.len();
            self.waiting.pop_front();
        }
        Ok(())
    }

    /// Makes last what was appended.
    pub fn commit(&mut self) -> io::Result<()> {
        if self.given_up {
            return Err(io::Error::other("there was no room for too long"));
        }
        self.write_waiting()?;
        let commit = Commit { number: self.last.number + 1, len: self.len, sums: self.sums.finish() };
        let file = self.place.file();
        file.sync_data()?;
        // In the head there are always two commits, of which the last counts.
        let mut slots = [[0; SLOT]; 2];
        slots[(self.last.number % 2) as usize] = self.last.to_slot();
        slots[(commit.number % 2) as usize] = commit.to_slot();
        file.seek(SeekFrom::Start(MAGIC.len() as u64))?;
        file.write_all(slots.as_flattened())?;
        file.sync_data()?;
        if let Place::New(file) = &mut self.place {
            self.place = Place::Kept(file.keep_open()?);
        }
        self.last = commit;
        Ok(())
    }

    /// How far it is good.
    pub fn committed_bytes(&self) -> u64 {
        self.last.len
    }

    /// Whether a commit was made, so that the file is in its place.
    pub fn is_in_place(&self) -> bool {
        matches!(self.place, Place::Kept(_))
    }

    /// Nobody needs it any more.
    pub fn remove(self) -> io::Result<()> {
        match self.place {
            // It goes when it is dropped.
            Place::New(_) => Ok(()),
            Place::Kept(_) => fs::remove_file(&self.path),
        }
    }
}

/// A block, ready to be appended: the work that needs no journal.
pub fn framed(kind: u8, bytes: &[u8]) -> (Vec<u8>, Written) {
    let mut out = Vec::new();
    match write_block(&mut out, kind, bytes) {
        Ok(written) => (out, written),
        // Nothing is written to but memory.
        Err(error) => unreachable!("{error}"),
    }
}

/// How far a journal was read, so that it can go on.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    last: Commit,
    sums: StableHash,
}

impl Position {
    /// The length of what is good.
    pub fn bytes(&self) -> u64 {
        self.last.len
    }
}

/// Reads a journal up to its last commit.
#[derive(Debug)]
pub struct Reading {
    blocks: Blocks<io::Take<BufReader<File>>>,
    last: Commit,
    sums: StableHash,
    read: u64,
}

/// Why a file cannot be read as a journal.
#[derive(Debug)]
pub enum NoJournal {
    /// It is something else.
    Other,
    /// It was cut off, or altered.
    Damaged(Damage),
}

impl From<io::Error> for NoJournal {
    fn from(error: io::Error) -> Self {
        NoJournal::Damaged(error.into())
    }
}

impl Reading {
    /// Opens a journal and reads its head.
    pub fn open(path: &Path) -> Result<Self, NoJournal> {
        let mut file = File::open(path)?;
        let (mut head, mut len) = ([0; BEGIN as usize], 0);
        while len < head.len() {
            match file.read(&mut head[len..]) {
                Ok(0) => break,
                Ok(n) => len += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        let (magic, slots) = head.split_at(MAGIC.len());
        let told = len.min(magic.len());
        if magic[..told] != MAGIC[..told] || told == 0 {
            return Err(NoJournal::Other);
        }
        let damaged = |damage| Err(NoJournal::Damaged(damage));
        if len < head.len() {
            return damaged(Damage::Truncated);
        }
        let (Some(one), Some(two)) = (Commit::of_slot(&slots[..SLOT]), Commit::of_slot(&slots[SLOT..]))
        else {
            return damaged(Damage::Altered);
        };
        let (before, last) = if one.number < two.number { (one, two) } else { (two, one) };
        if before.number + 1 != last.number || before.len > last.len || last.len < BEGIN {
            return damaged(Damage::Altered);
        }
        if file.metadata()?.len() < last.len {
            return damaged(Damage::Truncated);
        }
        let blocks = Blocks::new(BufReader::with_capacity(1 << 18, file).take(last.len - BEGIN));
        Ok(Reading { blocks, last, sums: StableHash::new(4), read: BEGIN })
    }

    /// The next block; `None` at the end, where the sum of all is looked at.
    pub fn next_block(&mut self) -> Result<Option<Block>, Damage> {
        if self.read >= self.last.len {
            return match self.read == self.last.len && self.sums.finish() == self.last.sums {
                true => Ok(None),
                false => Err(Damage::Altered),
            };
        }
        let block = self.blocks.block()?;
        self.sums = self.sums.word(block.sum);
        self.read += block.len;
        Ok(Some(block))
    }

    /// Where it ends, for who has read it to its end.
    pub fn position(&self) -> Position {
        Position { last: self.last, sums: self.sums }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("spinor-journal-{}-{name}", std::process::id()));
            fs::create_dir_all(&folder).unwrap();
            Folder(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn read(path: &Path) -> Result<(Vec<Vec<u8>>, Position), String> {
        let mut reading = Reading::open(path).map_err(|why| format!("{why:?}"))?;
        let mut blocks = Vec::new();
        while let Some(block) = reading.next_block().map_err(|why| why.to_string())? {
            blocks.push(block.bytes);
        }
        Ok((blocks, reading.position()))
    }

    #[test]
    fn what_was_committed_is_read_and_no_more() {
        let folder = Folder::new("committed");
        let path = folder.0.join("j");
        let mut journal = Journal::create(&path).unwrap();
        journal.append(framed(1, b"one")).unwrap();
        assert!(!path.exists(), "nothing is there before the first commit");
        journal.commit().unwrap();
        journal.append(framed(1, b"lost")).unwrap();
        drop(journal);
        let (blocks, position) = read(&path).unwrap();
        assert_eq!(blocks, [b"one".to_vec()]);
        let mut journal = Journal::append_to(&path, &position).unwrap();
        journal.append(framed(1, b"two")).unwrap();
        journal.commit().unwrap();
        journal.append(framed(1, b"three")).unwrap();
        journal.commit().unwrap();
        let (blocks, position) = read(&path).unwrap();
        assert_eq!(blocks, [b"one".to_vec(), b"two".to_vec(), b"three".to_vec()]);
        let other = folder.0.join("k");
        let mut copy = Journal::copy_of(&path, &position, &other).unwrap();
        copy.append(framed(1, b"four")).unwrap();
        copy.commit().unwrap();
        assert_eq!((read(&path).unwrap().0.len(), read(&other).unwrap().0.len()), (3, 4));
        copy.remove().unwrap();
        assert!(!other.exists());
    }

    #[test]
    fn every_change_is_noticed() {
        let folder = Folder::new("changes");
        let path = folder.0.join("j");
        let mut journal = Journal::create(&path).unwrap();
        for text in [&b"one"[..], &[7; 600], b"three"] {
            journal.append(framed(1, text)).unwrap();
            journal.commit().unwrap();
        }
        let whole = fs::read(&path).unwrap();
        let altered = folder.0.join("a");
        for at in 0..whole.len() {
            fs::write(&altered, &whole[..at]).unwrap();
            assert!(read(&altered).is_err(), "cut off at {at}");
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&altered, &bytes).unwrap();
            assert!(read(&altered).is_err(), "altered at {at}");
        }
    }
}
