//! Writing a file so that it is there as a whole or not at all.
//!
//! A regular file is written under another name in the same folder and then renamed, so that a full disk
//! neither leaves half a file nor spoils the one that was there. What must keep its identity is written in
//! place: a file with several names or of another owner, and one in a folder in which nothing can be created.
//! A special file (a device, a pipe, `/dev/stdout`) is only ever written to. A reader that closes its pipe
//! has seen enough: that is no error. A named pipe that nobody reads is one: it would be waited for, with the
//! answer at hand.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Where the bytes of a file go.
pub type Sink = Box<dyn Write + Send>;

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Nothing yet.
    Missing,
    /// A regular file, under its own name, links being followed.
    File {
        /// The name.
        name: PathBuf,
        /// Another file may take its place.
        replaceable: bool,
    },
    /// Something that takes bytes but keeps none, or is open already under another name.
    Special,
}

/// What writing needs of a file system; tests make each operation fail.
pub trait Storage: Sync {
    /// What is at a path.
    fn look(&self, path: &Path) -> Entry;

    /// A new file; it is an error if there is one.
    fn create(&self, path: &Path) -> io::Result<Sink>;

    /// An existing file, emptied.
    fn overwrite(&self, path: &Path) -> io::Result<Sink>;

    /// A special file.
    fn append(&self, path: &Path) -> io::Result<Sink>;

    /// Gives a new file the permissions of another one.
    fn permit_like(&self, path: &Path, like: &Path) -> io::Result<()>;

    /// Puts a file into the place of another one.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file, as far as that is possible.
    fn remove(&self, path: &Path);
}

/// What is written, piece by piece.
pub type Content<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

/// Writes a file. After an error a file that was there is as it was, or empty where it had to be written in
/// place.
pub fn save(storage: &dyn Storage, path: &Path, content: Content<'_>) -> io::Result<()> {
    match storage.look(path) {
        Entry::Special => append(&mut storage.append(path)?, content),
        Entry::Missing => replace(storage, path, None, content),
        Entry::File { name, replaceable: false } => in_place(storage, &name, content),
        Entry::File { name, .. } => match replace(storage, &name, Some(&name), content) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => in_place(storage, &name, content),
            result => result,
        },
    }
}

/// Writes to something that is open.
pub fn append(sink: &mut Sink, content: Content<'_>) -> io::Result<()> {
    match fill(sink, content) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

fn fill(sink: &mut Sink, content: Content<'_>) -> io::Result<()> {
    let mut buffer = BufWriter::with_capacity(1 << 16, &mut **sink);
    let result = content(&mut buffer).and_then(|()| buffer.flush());
    if result.is_err() {
        // What is left in the buffer is not tried again.
        let _ = buffer.into_parts();
    }
    result
}

/// Tries of a name that nobody has.
const MOST_NAMES: u32 = 100;

fn replace(storage: &dyn Storage, path: &Path, like: Option<&Path>, content: Content<'_>) -> io::Result<()> {
    let (name, mut sink) = beside(storage, path)?;
    let written = like.map_or(Ok(()), |like| storage.permit_like(&name, like));
    let written = written.and_then(|()| fill(&mut sink, content));
    drop(sink);
    let done = written.and_then(|()| storage.rename(&name, path));
    if done.is_err() {
        storage.remove(&name);
    }
    done
}

/// A new file in the same folder.
fn beside(storage: &dyn Storage, path: &Path) -> io::Result<(PathBuf, Sink)> {
    let last =
        path.file_name().ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "no name of a file"))?;
    let mut tries = 0..MOST_NAMES;
    loop {
        let mut name = std::ffi::OsString::from(".");
        name.push(last);
        name.push(format!(".{}-{}.tmp", std::process::id(), tries.next().unwrap_or(MOST_NAMES)));
        let name = path.with_file_name(name);
        match storage.create(&name) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && !tries.is_empty() => {}
            result => return result.map(|sink| (name, sink)),
        }
    }
}

fn in_place(storage: &dyn Storage, path: &Path, content: Content<'_>) -> io::Result<()> {
    let mut sink = storage.overwrite(path)?;
    let written = fill(&mut sink, content);
    drop(sink);
    if written.is_err() {
        // Nothing rather than half of it.
        drop(storage.overwrite(path));
    }
    written
}

/// The file system.
#[derive(Clone, Copy, Debug)]
pub struct RealStorage;

/// Whether a name is that of a device, a pipe or the like, which takes all that is written to it.
pub fn is_special(name: &str) -> bool {
    RealStorage.look(Path::new(name)) == Entry::Special
}

impl Storage for RealStorage {
    fn look(&self, path: &Path) -> Entry {
        if is_open_already(path) {
            return Entry::Special;
        }
        match fs::metadata(path) {
            Ok(found) if found.is_file() => {
                let name = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
                Entry::File { name, replaceable: is_replaceable(&found) }
            }
            // A folder is not written to; opening it says so.
            Ok(_) => Entry::Special,
            // A link to what does not exist yet.
            Err(_) if fs::symlink_metadata(path).is_ok() => {
                Entry::File { name: path.to_path_buf(), replaceable: false }
            }
            Err(_) => Entry::Missing,
        }
    }

    fn create(&self, path: &Path) -> io::Result<Sink> {
        Ok(Box::new(File::create_new(path)?))
    }

    fn overwrite(&self, path: &Path) -> io::Result<Sink> {
        Ok(Box::new(File::create(path)?))
    }

    fn append(&self, path: &Path) -> io::Result<Sink> {
        // Open until the pipe is.
        let _reader = find_reader(path)?;
        Ok(Box::new(OpenOptions::new().append(true).open(path)?))
    }

    fn permit_like(&self, path: &Path, like: &Path) -> io::Result<()> {
        fs::set_permissions(path, fs::metadata(like)?.permissions())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) {
        let _ = fs::remove_file(path);
    }
}

/// Makes sure that a named pipe has a reader. While the answer is open, opening the pipe does not wait.
#[cfg(unix)]
fn find_reader(path: &Path) -> io::Result<Option<File>> {
    use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
    if is_open_already(path) || !fs::metadata(path)?.file_type().is_fifo() {
        return Ok(None);
    }
    match OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(path) {
        Ok(pipe) => Ok(Some(pipe)),
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => {
            Err(io::Error::other("no process reads this pipe; start its reader first"))
        }
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
fn find_reader(_path: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// Whether a path means something that this process has open (`/dev/stdout`, `/dev/fd/3`), be it a regular
/// file.
fn is_open_already(path: &Path) -> bool {
    let mut at = path.to_path_buf();
    // Nobody makes more links than this.
    for _ in 0..16 {
        let folder = at.parent().and_then(|folder| fs::canonicalize(folder).ok()).unwrap_or_default();
        if folder.starts_with("/proc") && folder.ends_with("fd") {
            return true;
        }
        match fs::read_link(&at) {
            Ok(to) => at = folder.join(to),
            Err(_) => return false,
        }
    }
    false
}

/// A read-only file is not replaced either: that would be a way around its permissions.
#[cfg(unix)]
fn is_replaceable(file: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let own = fs::metadata("/proc/self").map_or(file.uid(), |process| process.uid());
    file.nlink() == 1 && file.uid() == own && !file.permissions().readonly()
}

#[cfg(not(unix))]
fn is_replaceable(file: &fs::Metadata) -> bool {
    !file.permissions().readonly()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex, PoisonError};

    /// Files in memory, of which the n-th operation fails.
    #[derive(Clone, Default)]
    pub(crate) struct Failing(Arc<Mutex<Inner>>);

    #[derive(Default)]
    struct Inner {
        files: BTreeMap<PathBuf, Vec<u8>>,
        kept: bool,
        done: usize,
        fails_at: Option<usize>,
    }

    impl Failing {
        /// The operation with this number fails, from 0; so do all writes after it, as on a full disk.
        pub(crate) fn at(number: usize) -> Self {
            let failing = Failing::default();
            failing.inner(|inner| inner.fails_at = Some(number));
            failing
        }

        /// With a file that is there already.
        pub(crate) fn with(self, path: &str, text: &str, replaceable: bool) -> Self {
            self.inner(|inner| {
                inner.files.insert(path.into(), text.into());
                inner.kept = !replaceable;
            });
            self
        }

        /// The operations so far.
        pub(crate) fn done(&self) -> usize {
            self.inner(|inner| inner.done)
        }

        /// All files.
        pub(crate) fn files(&self) -> BTreeMap<PathBuf, String> {
            self.inner(|inner| {
                let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
                inner.files.iter().map(|(path, bytes)| (path.clone(), text(bytes))).collect()
            })
        }

        fn inner<T>(&self, with: impl FnOnce(&mut Inner) -> T) -> T {
            with(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
        }

        fn operation<T>(&self, does: impl FnOnce(&mut Inner) -> io::Result<T>) -> io::Result<T> {
            self.inner(|inner| {
                inner.done += 1;
                match inner.fails_at.is_some_and(|at| inner.done > at) {
                    true => Err(io::Error::from(ErrorKind::StorageFull)),
                    false => does(inner),
                }
            })
        }

        fn open(&self, path: &Path) -> io::Result<Sink> {
            self.operation(|inner| {
                inner.files.insert(path.into(), Vec::new());
                Ok(())
            })?;
            Ok(Box::new(Slow(self.clone(), path.into())))
        }
    }

    /// Takes a few bytes at a time.
    struct Slow(Failing, PathBuf);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let some = &bytes[..bytes.len().min(100)];
            self.0.operation(|inner| {
                inner.files.entry(self.1.clone()).or_default().extend_from_slice(some);
                Ok(some.len())
            })
        }

        fn flush(&mut self) -> io::Result<()> {
            self.0.operation(|_| Ok(()))
        }
    }

    impl Storage for Failing {
        fn look(&self, path: &Path) -> Entry {
            self.inner(|inner| match inner.files.contains_key(path) {
                true => Entry::File { name: path.into(), replaceable: !inner.kept },
                false => Entry::Missing,
            })
        }

        fn create(&self, path: &Path) -> io::Result<Sink> {
            self.open(path)
        }

        fn overwrite(&self, path: &Path) -> io::Result<Sink> {
            // Emptying a file needs no room.
            self.inner(|inner| {
                inner.done += 1;
                inner.files.insert(path.into(), Vec::new());
            });
            Ok(Box::new(Slow(self.clone(), path.into())))
        }

        fn append(&self, path: &Path) -> io::Result<Sink> {
            self.open(path)
        }

        fn permit_like(&self, _: &Path, _: &Path) -> io::Result<()> {
            self.operation(|_| Ok(()))
        }

        fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            self.operation(|inner| {
                let bytes = inner.files.remove(from).ok_or(ErrorKind::NotFound)?;
                inner.files.insert(to.into(), bytes);
                Ok(())
            })
        }

        fn remove(&self, path: &Path) {
            self.inner(|inner| inner.files.remove(path));
        }
    }

    fn saved(storage: &Failing) -> io::Result<()> {
        save(storage, Path::new("t"), &mut |out| out.write_all("new".repeat(100).as_bytes()))
    }

    #[test]
    fn whichever_operation_fails_nothing_half_is_left() {
        let old = |storage: Failing, kept: bool| storage.with("t", "old", !kept);
        for kept in [false, true] {
            let well = old(Failing::default(), kept);
            saved(&well).unwrap();
            assert_eq!(well.files(), BTreeMap::from([("t".into(), "new".repeat(100))]));
            assert!(well.done() >= 5);
            for n in 0..well.done() {
                let failing = old(Failing::at(n), kept);
                let result = saved(&failing);
                let files: Vec<(PathBuf, String)> = failing.files().into_iter().collect();
                if kept && result.is_err() {
                    assert_eq!(files, [("t".into(), String::new())], "operation {n}");
                } else if result.is_err() {
                    assert_eq!(files, [("t".into(), "old".to_string())], "operation {n}");
                }
                assert!(result.is_err() || kept && n == 0, "operation {n}");
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_permissions_and_special_files_stay_what_they_are() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = std::env::temp_dir().join(format!("spinor-saving-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let put = |path: &Path| save(&RealStorage, path, &mut |out| out.write_all(b"new"));
        let (file, link, loose) = (folder.join("file"), folder.join("link"), folder.join("loose"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("file", &link).unwrap();
        symlink("other", &loose).unwrap();
        put(&link).unwrap();
        put(&loose).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_to_string(folder.join("other")).unwrap(), "new");
        let twin = folder.join("twin");
        fs::hard_link(&file, &twin).unwrap();
        fs::write(&file, "old").unwrap();
        put(&file).unwrap();
        assert_eq!(fs::read_to_string(&twin).unwrap(), "new", "both names mean the same file");
        put(Path::new("/dev/null")).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        for special in ["/dev/null", "/dev/stdout", "/dev/fd/1"] {
            assert_eq!(RealStorage.look(Path::new(special)), Entry::Special, "{special}");
        }
        let full = put(Path::new("/dev/full"));
        assert!(!Path::new("/dev/full").exists() || full.is_err());
        assert!(put(&folder).is_err() && put(&folder.join("no/file")).is_err());
        let names = fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.file_name());
        assert!(names.into_iter().all(|name| !name.to_string_lossy().ends_with(".tmp")));
        fs::remove_dir_all(&folder).unwrap();
    }
}
