//! Counterexamples in files: `FILE`, then `FILE.2`, `FILE.3` …; a special file takes them all.
//!
//! Clients that want files use this; a check itself writes none.

use crate::client::Kept;
use crate::failure::Failure;
use crate::saving::{Entry, Sink, Storage, append, save};
use std::path::Path;
use trace::Evidence;

/// The files of the counterexamples of one check.
pub struct TrailFiles<'a> {
    base: String,
    storage: &'a dyn Storage,
    /// How many there were, written or not.
    count: usize,
    /// A special file, as soon as one was opened: it stays open, because a reader of a pipe would else see
    /// its end.
    special: Option<Sink>,
}

/// A trail that could not be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritten {
    /// Where it was to be.
    pub path: String,
    /// Why it is not there.
    pub why: String,
}

/// The file of the first counterexample when the user names none.
pub fn default_name(model: &str) -> String {
    format!("{model}.trail.json")
}

impl<'a> TrailFiles<'a> {
    /// Files called `base` and after it. A counterexample that cannot be written after hours of search helps
    /// nobody, so a missing folder is refused at once.
    pub fn new(base: &str, storage: &'a dyn Storage) -> Result<Self, Failure> {
        refuse_missing_folder(base)?;
        Ok(TrailFiles { base: base.to_string(), storage, count: 0, special: None })
    }

    /// A trail must not take the place of a file of the model.
    pub fn refuse_overwriting(&self, model_files: &[&str]) -> Result<(), Failure> {
        let Ok(path) = std::fs::canonicalize(&self.base) else { return Ok(()) };
        let same = |name: &&&str| std::fs::canonicalize(name).is_ok_and(|other| other == path);
        match model_files.iter().find(same) {
            Some(file) => Err(Failure::refused_with(
                format!("--trail {} would overwrite {file}, a file of the model", self.base),
                "give another file name with --trail",
            )),
            None => Ok(()),
        }
    }

    /// Writes a trail. One that cannot be written is no failure of the check: the report holds it instead.
    pub fn keep(&mut self, evidence: &Evidence) -> Kept {
        self.count += 1;
        let special = self.special.is_some() || self.storage.look(Path::new(&self.base)) == Entry::Special;
        let path = match self.count {
            n if n > 1 && !special => format!("{}.{n}", self.base),
            _ => self.base.clone(),
        };
        let mut content = |out: &mut dyn std::io::Write| trace::write_to(out, evidence.trail());
        let written = match special {
            true => self.open(&path).and_then(|sink| append(sink, &mut content)),
            false => save(self.storage, Path::new(&path), &mut content),
        };
        match written {
            Ok(()) if special => Kept::Stream(path),
            Ok(()) => Kept::File(path),
            Err(error) => Kept::Unwritten(Unwritten { path, why: error.to_string() }),
        }
    }

    fn open(&mut self, path: &str) -> std::io::Result<&mut Sink> {
        Ok(match &mut self.special {
            Some(sink) => sink,
            empty => empty.insert(self.storage.append(Path::new(path))?),
        })
    }
}

fn refuse_missing_folder(trail: &str) -> Result<(), Failure> {
    let path = Path::new(trail);
    if path.is_dir() {
        return Err(Failure::refused_with(
            format!("the trail cannot be written: {trail} is a directory"),
            "give a file name with --trail",
        ));
    }
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() && !parent.is_dir() => Err(Failure::refused_with(
            format!("the trail cannot be written: there is no directory {}", parent.display()),
            "give another place with --trail",
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::saving::RealStorage;

    #[test]
    fn what_cannot_be_written_is_refused_at_once() {
        let refused =
            |base: &str| TrailFiles::new(base, &RealStorage).err().and_then(|failure| failure.notice());
        let message = |base: &str| refused(base).map_or_else(String::new, |notice| notice.message);
        assert!(message("no/such/place/t").contains("there is no directory no/such/place"));
        assert!(message(".").contains("is a directory"));
        let files = TrailFiles::new("Cargo.toml", &RealStorage).expect("a place");
        assert!(files.refuse_overwriting(&["src/lib.rs"]).is_ok());
        assert!(files.refuse_overwriting(&["src/lib.rs", "./Cargo.toml"]).is_err());
    }
}
