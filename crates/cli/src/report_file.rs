//! `--report FILE`: the report as an HTML file of its own.

use engine::Failure;
use engine::saving::{self, RealStorage};
use std::path::Path;

/// A page that cannot be written after hours of search helps nobody, so a missing folder is refused at once,
/// and so is a file of the model.
pub fn refuse(path: &str, model: &str) -> Result<(), Failure> {
    let place = Path::new(path);
    let same = |a: &Path, b: &Path| {
        std::fs::canonicalize(a).is_ok_and(|a| std::fs::canonicalize(b).is_ok_and(|b| a == b))
    };
    let wrong = match place.parent() {
        _ if place.is_dir() => Some(format!("{path} is a directory")),
        Some(parent) if !parent.as_os_str().is_empty() && !parent.is_dir() => {
            Some(format!("there is no directory {}", parent.display()))
        }
        _ if same(place, Path::new(model)) => Some(format!("it would overwrite {model}")),
        _ => None,
    };
    match wrong {
        Some(why) => Err(Failure::refused_with(
            format!("the report cannot be written: {why}"),
            "give another file name with --report",
        )),
        None => Ok(()),
    }
}

/// Writes a page, as a whole or not at all.
pub fn save(path: &str, page: &str) -> Result<(), Failure> {
    let mut write = |out: &mut dyn std::io::Write| out.write_all(page.as_bytes());
    saving::save(&RealStorage, Path::new(path), &mut write).map_err(|error| {
        Failure::unwritten(
            &format!("cannot write the report {path}"),
            &error,
            "give another file name with --report",
        )
    })
}
