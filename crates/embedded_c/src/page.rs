//! What a supervised process notes before each call of C: memory of a file that outlives it.
//!
//! Words of eight bytes: what is being called ([`IDLE`] for nothing), how many calls there were, the piece,
//! the key of the call (two words), the exit status once the process has done its work; then the calls that
//! ended an earlier process, each with its key and a cause. The supervisor reads the same file.

#![allow(unsafe_code, reason = "memory that is shared with another process is mapped")]

use memmap2::MmapMut;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The environment variable that names the file.
pub const VARIABLE: &str = "SPINOR_EMBEDDED_C";
/// Calls that are remembered.
pub const MOST: usize = 64;

const IN_CALL: usize = 0;
const CALLS: usize = 1;
const PIECE: usize = 2;
const KEY: usize = 3;
const DONE: usize = 5;
const KNOWN: usize = 6;
const FIRST: usize = 8;
const WORDS: usize = FIRST + 4 * MOST;

/// How a call ended the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// By this signal.
    Signal(u32),
    /// With this exit status.
    Exit(u32),
    /// It did not end within this many seconds.
    Endless(u32),
    /// It took more than this many MiB of memory.
    Memory(u32),
}

impl Cause {
    fn words(self) -> (u64, u64) {
        match self {
            Cause::Signal(n) => (1, n.into()),
            Cause::Exit(n) => (2, n.into()),
            Cause::Endless(n) => (3, n.into()),
            Cause::Memory(n) => (4, n.into()),
        }
    }

    fn of_words(kind: u64, n: u64) -> Option<Cause> {
        let n = u32::try_from(n).ok()?;
        Some(match kind {
            1 => Cause::Signal(n),
            2 => Cause::Exit(n),
            3 => Cause::Endless(n),
            4 => Cause::Memory(n),
            _ => return None,
        })
    }

    /// What the C does, behind its name.
    pub fn told(self) -> String {
        match self {
            Cause::Signal(signal) => match crate::limits::signal_name(signal) {
                ("SIGSYS", _) => "starts a process or a program, which a check does not allow".to_string(),
                ("", _) => format!("ends the process by signal {signal}"),
                (name, what) => format!("ends the process by {name} ({what})"),
            },
            Cause::Exit(status) => format!("ends the process with exit status {status}"),
            Cause::Endless(seconds) => format!("does not come back within {seconds} seconds"),
            Cause::Memory(mib) => format!("takes more than {mib} MiB of memory"),
        }
    }
}

/// The page.
#[derive(Debug)]
pub struct Page {
    memory: MmapMut,
    path: PathBuf,
}

impl Page {
    /// The key of loading the object.
    pub const START: u128 = 1;

    /// The page of a supervised process.
    pub fn of_environment() -> io::Result<Option<Page>> {
        match std::env::var_os(VARIABLE) {
            None => Ok(None),
            Some(path) => {
                let path = PathBuf::from(path);
                Page::map(OpenOptions::new().read(true).write(true).open(&path)?, path).map(Some)
            }
        }
    }

    /// A new page in this folder.
    pub fn create(folder: &Path) -> io::Result<Page> {
        let path = folder.join("calls");
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        file.set_len(8 * WORDS as u64)?;
        Page::map(file, path)
    }

    fn map(file: File, path: PathBuf) -> io::Result<Page> {
        if file.metadata()?.len() < 8 * WORDS as u64 {
            return Err(io::Error::other("its page is too short"));
        }
        // SAFETY: the file is in a folder of this user alone and is never cut; all access is through atomic
        // words.
        let memory = unsafe { MmapMut::map_mut(&file)? };
        Ok(Page { memory, path })
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn word(&self, number: usize) -> &AtomicU64 {
        assert!(number < WORDS);
        // SAFETY: a page begins at a multiple of eight, has `WORDS` words, and lives as long as `self`.
        unsafe { &*self.memory.as_ptr().cast::<AtomicU64>().add(number) }
    }

    fn get(&self, number: usize) -> u64 {
        self.word(number).load(Ordering::Acquire)
    }

    fn set(&self, number: usize, value: u64) {
        self.word(number).store(value, Ordering::Release);
    }

    /// A call begins.
    pub fn begin(&self, piece: u64, key: u128) {
        self.set(PIECE, piece);
        self.set(KEY, key as u64);
        self.set(KEY + 1, (key >> 64) as u64);
        self.set(CALLS, self.get(CALLS).wrapping_add(1));
        self.set(IN_CALL, 1);
    }

    /// The call has come back.
    pub fn end(&self) {
        self.set(IN_CALL, 0);
    }

    /// Whether a call is going on, and which.
    pub fn call(&self) -> Option<u64> {
        (self.get(IN_CALL) != 0).then(|| self.get(CALLS))
    }

    /// Notes where the pieces stand.
    pub fn write_places<'a>(&self, places: impl Iterator<Item = &'a str>) {
        let text: String = places.map(|place| format!("{}\n", place.replace('\n', " "))).collect();
        // Without them less can be said.
        let _ = std::fs::write(self.path.with_extension("places"), text);
    }

    /// Where the piece stands that was called last.
    pub fn place(&self) -> Option<String> {
        let piece = usize::try_from(self.get(PIECE)).ok().filter(|_| self.get(CALLS) > 0)?;
        let places = std::fs::read_to_string(self.path.with_extension("places")).ok()?;
        places.lines().nth(piece).map(str::to_string)
    }

    /// The process has done all of its work, with this exit status.
    pub fn done(&self, status: u8) {
        self.set(DONE, u64::from(status) + 1);
    }

    /// The exit status of a process that has done all of its work.
    pub fn status(&self) -> Option<u8> {
        self.get(DONE).checked_sub(1).and_then(|status| u8::try_from(status).ok())
    }

    /// Notes that the last call ended the process; false when no more can be noted.
    pub fn blame(&self, cause: Cause) -> bool {
        let known = self.get(KNOWN) as usize;
        if known >= MOST {
            return false;
        }
        let at = FIRST + 4 * known;
        let (kind, n) = cause.words();
        for (i, value) in [self.get(KEY), self.get(KEY + 1), kind, n].into_iter().enumerate() {
            self.set(at + i, value);
        }
        self.set(KNOWN, known as u64 + 1);
        self.set(IN_CALL, 0);
        true
    }

    /// How a call ends the process, if it once did.
    pub fn known(&self, key: u128) -> Option<String> {
        let known = (self.get(KNOWN) as usize).min(MOST);
        let (low, high) = (key as u64, (key >> 64) as u64);
        let at =
            (0..known).map(|i| FIRST + 4 * i).find(|&at| self.get(at) == low && self.get(at + 1) == high)?;
        Cause::of_words(self.get(at + 2), self.get(at + 3)).map(Cause::told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::Folder;

    #[test]
    fn what_is_noted_is_known_to_another_process() {
        let folder = Folder::new().unwrap();
        let page = Page::create(folder.path()).unwrap();
        let file = OpenOptions::new().read(true).write(true).open(page.path()).unwrap();
        let other = Page::map(file, page.path().to_path_buf()).unwrap();
        page.write_places(["m.pml:3", "m.pml:7"].into_iter());
        assert_eq!((other.call(), other.place(), other.status()), (None, None, None));
        let key = (7 << 100) + 9;
        page.begin(1, key);
        assert_eq!((other.call(), other.place().as_deref()), (Some(1), Some("m.pml:7")));
        assert_eq!(page.known(key), None);
        assert!(other.blame(Cause::Exit(3)));
        assert_eq!((page.call(), page.known(key + 1)), (None, None));
        assert_eq!(page.known(key).as_deref(), Some("ends the process with exit status 3"));
        page.done(0);
        assert_eq!(other.status(), Some(0));
        // There is room for so many and no more.
        assert_eq!((1..MOST + 3).filter(|_| other.blame(Cause::Endless(1))).count(), MOST - 1);
    }

    #[test]
    fn causes_go_through_words() {
        for cause in [Cause::Signal(11), Cause::Exit(0), Cause::Endless(10), Cause::Memory(300)] {
            let (kind, n) = cause.words();
            assert_eq!(Cause::of_words(kind, n), Some(cause));
            assert!(!cause.told().is_empty());
        }
        assert_eq!(Cause::of_words(9, 0), None);
    }
}
