//! `--certify FILE`: where the certificate goes.

use archive::DurableFile;
use engine::Failure;
use std::path::Path;

/// Begins the file. What cannot be written after hours of search helps nobody, so it is refused at once, and
/// so is a file of the model.
pub fn create(path: &str, model: &str) -> Result<DurableFile, Failure> {
    let (what, repair) = ("the certificate", "give another file name with --certify");
    refuse(what, path, model, repair)?;
    DurableFile::create(Path::new(path))
        .map_err(|error| Failure::unwritten(&format!("cannot write the certificate {path}"), &error, repair))
}

/// Refuses places at which `what` cannot be.
pub fn refuse(what: &str, path: &str, model: &str, repair: &str) -> Result<(), Failure> {
    let place = Path::new(path);
    let refused =
        |why: String| Err(Failure::refused_with(format!("{what} cannot be written: {why}"), repair));
    let same = |a: &Path, b: &Path| {
        std::fs::canonicalize(a).is_ok_and(|a| std::fs::canonicalize(b).is_ok_and(|b| a == b))
    };
    match place.parent() {
        _ if place.is_dir() => refused(format!("{path} is a directory")),
        Some(parent) if !parent.as_os_str().is_empty() && !parent.is_dir() => {
            refused(format!("there is no directory {}", parent.display()))
        }
        _ if same(place, Path::new(model)) => refused(format!("it would overwrite {model}")),
        _ if place.exists() && !place.is_file() => refused(format!("{path} is no regular file")),
        _ => Ok(()),
    }
}
