//! Where counterexamples are written: `FILE`, then `FILE.2`, `FILE.3` …; a special file takes them all.

use crate::saving::{Entry, Sink, Storage, append, save};
use std::path::Path;
use trace::Evidence;

/// Numbers the trails of one run.
pub struct Trails<'a> {
    base: String,
    storage: &'a dyn Storage,
    /// How many there were, written or not.
    count: usize,
    /// A special file, as soon as one was opened: it stays open, because a reader of a pipe would else see its end.
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

impl<'a> Trails<'a> {
    /// Trails called `base` and after it.
    pub fn new(base: &str, storage: &'a dyn Storage) -> Self {
        Trails { base: base.to_string(), storage, count: 0, special: None }
    }

    /// How many there were, written or not.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Writes a trail and returns its path. A trail that cannot be written is no failure of the run: the report holds it instead.
    pub fn write(&mut self, evidence: &Evidence) -> Result<String, Unwritten> {
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
            Ok(()) => Ok(path),
            Err(error) => Err(Unwritten { path, why: error.to_string() }),
        }
    }

    fn open(&mut self, path: &str) -> std::io::Result<&mut Sink> {
        Ok(match &mut self.special {
            Some(sink) => sink,
            empty => empty.insert(self.storage.append(Path::new(path))?),
        })
    }
}
