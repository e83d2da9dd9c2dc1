//! Files from the disk, and standard input. The front end does no input of its own.
//!
//! Only what can be read to its end is read: folders, devices and named pipes are refused with their name. A
//! named pipe may have no writer, ever; the pipes that a shell makes for `<(command)` are below `/dev/fd` and
//! are read.

use promela::source::{Files, NO_SUCH_FILE};
use std::fs::Metadata;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::OnceLock;
use trace::visible::unmarked;

/// The largest file that is read as a model: more cannot be meant.
const MAX_BYTES: u64 = 64 << 20;
/// The largest file that is read as a trail; one that is packed has a billion steps then.
const MAX_LONG_BYTES: u64 = 2 << 30;

/// What standard input is called where files are. No file that somebody names on a command line is called so.
pub const STANDARD_INPUT: &str = "<stdin>";

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

/// The file system, and standard input as the file [`STANDARD_INPUT`].
#[derive(Debug, Default)]
pub struct DiskOrInput {
    /// Standard input can be read only once.
    input: OnceLock<Result<String, String>>,
}

impl DiskOrInput {
    fn input(&self, most: u64) -> Result<String, String> {
        let read = || text(io::stdin().lock(), most).map_err(|error| reason(&error));
        self.input.get_or_init(|| read().and_then(|text| text)).clone()
    }
}

impl Files for DiskOrInput {
    fn read(&self, path: &str) -> Result<String, String> {
        if path != STANDARD_INPUT {
            return Disk.read(path);
        }
        self.input(MAX_BYTES)
    }

    fn read_long(&self, path: &str) -> Result<String, String> {
        if path == STANDARD_INPUT { self.input(MAX_LONG_BYTES) } else { Disk.read_long(path) }
    }
}

impl Files for Disk {
    fn read(&self, path: &str) -> Result<String, String> {
        read(path, MAX_BYTES)
    }

    fn read_long(&self, path: &str) -> Result<String, String> {
        read(path, MAX_LONG_BYTES)
    }
}

fn read(path: &str, most: u64) -> Result<String, String> {
    let about = std::fs::metadata(path).map_err(|error| reason(&error))?;
    refuse(path, &about)?;
    let file = std::fs::File::open(path).map_err(|error| reason(&error))?;
    text(file, most).map_err(|error| reason(&error))?
}

/// The whole text, or why it is none.
fn text(from: impl Read, most: u64) -> io::Result<Result<String, String>> {
    let mut bytes = Vec::new();
    from.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Ok(Err(format!("it is larger than {} MB", most >> 20)));
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Ok(Err("it is encoded as UTF-16; save it as UTF-8".to_string()));
    }
    if bytes.contains(&0) {
        return Ok(Err("it is not a text file (it contains zero bytes)".to_string()));
    }
    // Comments in old models are often Latin-1: what is not UTF-8 is replaced, not refused.
    Ok(Ok(unmarked(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })))
}

/// An error of the system in plain words.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => NO_SUCH_FILE.to_string(),
        ErrorKind::PermissionDenied => "permission denied".to_string(),
        ErrorKind::IsADirectory => "it is a folder".to_string(),
        ErrorKind::NotADirectory => NO_SUCH_FILE.to_string(),
        _ => error.to_string(),
    }
}

/// Refuses what is no file with an end.
fn refuse(path: &str, about: &Metadata) -> Result<(), String> {
    if about.is_dir() {
        return Err("it is a folder".to_string());
    }
    match special(about) {
        Some(kind) if !is_open(path) => Err(kind.to_string()),
        _ => Ok(()),
    }
}

/// What a shell or a user has opened already, and the empty device.
fn is_open(path: &str) -> bool {
    let path = Path::new(path);
    let below = ["/dev/fd", "/proc/self/fd"].iter().any(|folder| path.parent() == Some(Path::new(folder)));
    below || path == Path::new("/dev/stdin") || path == Path::new("/dev/null")
}

#[cfg(unix)]
fn special(about: &Metadata) -> Option<&'static str> {
    use std::os::unix::fs::FileTypeExt;
    let kind = about.file_type();
    match () {
        () if kind.is_fifo() => {
            Some("it is a named pipe, and nobody may ever write to it; use `-` to read standard input")
        }
        () if kind.is_char_device() || kind.is_block_device() => Some("it is a device, not a file"),
        () if kind.is_socket() => Some("it is a socket, not a file"),
        () => None,
    }
}

#[cfg(not(unix))]
fn special(about: &Metadata) -> Option<&'static str> {
    (!about.is_file()).then_some("it is no ordinary file")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> Result<String, String> {
        text(bytes, MAX_BYTES).unwrap()
    }

    #[test]
    fn what_is_no_text_is_called_so() {
        assert_eq!(of(b"init { skip }"), Ok("init { skip }".to_string()));
        assert_eq!(of(b"/* \xfc */"), Ok("/* \u{fffd} */".to_string()));
        assert_eq!(of("a\u{fdef}[2J".as_bytes()), Ok("a\u{fffd}[2J".to_string()));
        assert!(of(b"\x7fELF\0\0").unwrap_err().contains("not a text file"));
        assert!(of(b"\xff\xfea\0").unwrap_err().contains("UTF-16"));
        assert!(text(io::repeat(b' '), MAX_BYTES).unwrap().unwrap_err().contains("larger than 64 MB"));
    }

    #[test]
    #[cfg(unix)]
    fn what_has_no_end_is_refused_by_name() {
        let disk = Disk;
        let said = |path: &str| disk.read(path).unwrap_err();
        assert_eq!(said("/no/such/file"), NO_SUCH_FILE);
        assert_eq!(said("/"), "it is a folder");
        assert_eq!(said("/dev/zero"), "it is a device, not a file");
        assert_eq!(disk.read("/dev/null"), Ok(String::new()));
        assert!(is_open("/dev/fd/63") && is_open("/dev/stdin") && !is_open("/dev/fd/63/x"));
    }
}
