//! Files from the disk. The front end does no input of its own.

use promela::source::Files;
use std::io::Read;

/// The largest file that is read as a model: more cannot be meant.
const MAX_BYTES: u64 = 64 << 20;

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &str) -> Result<String, String> {
        let file = std::fs::File::open(path).map_err(|e| e.to_string())?;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(format!("the file is larger than {} MB", MAX_BYTES >> 20));
        }
        // Comments in old models are often Latin-1: what is not UTF-8 is replaced, not refused.
        Ok(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        })
    }
}
