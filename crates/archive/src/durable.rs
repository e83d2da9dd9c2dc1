//! A file that is there as a whole, or not at all.
//!
//! It is written beside its place, under another name. To keep it means: its bytes are on the disk, then it
//! takes its name, then the folder is on the disk. Whatever happens before, a file that had the name is as it
//! was; whatever happens after, the new one is there. What is not kept goes when it is dropped; a process
//! that is killed leaves the other name behind, which the next one takes over.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};

/// A file on its way to its place.
#[derive(Debug)]
pub struct DurableFile {
    place: PathBuf,
    beside: PathBuf,
    file: File,
    kept: bool,
}

impl DurableFile {
    /// Begins a file that is to be at `place`.
    pub fn create(place: &Path) -> io::Result<Self> {
        let last =
            place.file_name().ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "no name of a file"))?;
        let mut name = last.to_os_string();
        name.push(".new");
        let beside = place.with_file_name(name);
        Ok(DurableFile { place: place.to_path_buf(), file: File::create(&beside)?, beside, kept: false })
    }

    /// Forgets what was written so far.
    pub fn restart(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()
    }

    /// Puts the file into its place, for good.
    pub fn keep(mut self) -> io::Result<()> {
        self.keep_open().map(|_| ())
    }

    /// The same, for a file that is to grow in its place.
    pub fn keep_open(&mut self) -> io::Result<File> {
        self.file.sync_all()?;
        let open = self.file.try_clone()?;
        fs::rename(&self.beside, &self.place)?;
        self.kept = true;
        sync_folder(&self.place)?;
        Ok(open)
    }

    /// What is written to.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }
}

impl Write for DurableFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for DurableFile {
    fn drop(&mut self) {
        if !self.kept {
            let _ = fs::remove_file(&self.beside);
        }
    }
}

/// Makes a new name in a folder last.
#[cfg(unix)]
pub fn sync_folder(of: &Path) -> io::Result<()> {
    let folder = of.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

/// Elsewhere a folder cannot be opened, and a rename is durable by itself.
#[cfg(not(unix))]
pub fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_kept_is_there() {
        let folder = std::env::temp_dir().join(format!("spinor-durable-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let place = folder.join("file");
        let mut file = DurableFile::create(&place).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        let mut file = DurableFile::create(&place).unwrap();
        file.write_all(b"forgotten and longer").unwrap();
        file.restart().unwrap();
        file.write_all(b"whole").unwrap();
        file.keep().unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"whole");
        drop(DurableFile::create(&place).unwrap());
        assert_eq!(fs::read(&place).unwrap(), b"whole", "another file that is not kept changes nothing");
        fs::remove_dir_all(&folder).unwrap();
    }
}
