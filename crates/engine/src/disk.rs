//! `--disk DIR`: what waits, and the way back to what was found, goes to a file when it takes too much memory.
//!
//! [`search::disk`] says what goes there; here it becomes a file without a name ([`archive::spill`]). An eighth
//! of the memory is for what may go: the rest is the store's. What goes wrong with the file is noted here, and
//! told when the search is over: a search may come to its end although the disk was full for a while.

use crate::client::Client;
use crate::failure::Failure;
use crate::plan::Plan;
use crate::property::Selected;
use archive::spill::{SpillFile, Spilled};
use search::disk::{Disk, Place};
use search::{Outcome, StopReason};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// One part in so many of the memory is for what may go to the disk.
const PART: u64 = 8;
/// The least memory for it.
const LEAST: u64 = 1 << 20;

/// What was put on a disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OnDisk {
    /// The folder.
    pub folder: String,
    /// Bytes that were written.
    pub written: u64,
    /// Bytes that were read back.
    pub read: u64,
    /// The most that was there at a time.
    pub most: u64,
}

/// Why something did not work, the first time.
#[derive(Debug, Default)]
struct Trouble {
    writing: Option<String>,
    reading: Option<String>,
}

/// The file, as a search sees it.
#[derive(Debug)]
struct WaitingFile {
    file: SpillFile,
    share: u64,
    trouble: Mutex<Trouble>,
}

impl WaitingFile {
    fn note(&self, note: impl FnOnce(&mut Trouble)) {
        note(&mut self.trouble.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Disk for WaitingFile {
    fn share(&self) -> u64 {
        self.share
    }

    fn put(&self, bytes: &[u8]) -> Option<Place> {
        match self.file.put(bytes) {
            Ok(Spilled { slots, len, check }) => Some(Place { slots, len, check }),
            Err(error) => {
                self.note(|trouble| _ = trouble.writing.get_or_insert(error.to_string()));
                None
            }
        }
    }

    fn get(&self, place: &Place) -> Result<Vec<u8>, StopReason> {
        let Place { slots, len, check } = place.clone();
        self.file.get(&Spilled { slots, len, check }).map_err(|error| {
            self.note(|trouble| _ = trouble.reading.get_or_insert(error.to_string()));
            StopReason::Disk
        })
    }

    fn forget(&self, place: Place) {
        let Place { slots, len, check } = place;
        self.file.forget(Spilled { slots, len, check });
    }
}

/// A disk for one search.
pub struct WaitingRoom {
    folder: String,
    file: Arc<WaitingFile>,
    shared: Arc<dyn Disk>,
}

impl WaitingRoom {
    /// Where the plan asks for it.
    pub fn wanted(plan: &Plan, client: &mut dyn Client) -> Result<Option<Self>, Failure> {
        let Some(folder) = &plan.options.disk else { return Ok(None) };
        client.may_use_folder("--disk", folder)?;
        let place = Path::new(folder);
        if !place.is_dir() {
            let why = if place.exists() { "is not a folder" } else { "does not exist" };
            return Err(Failure::refused_with(
                format!("--disk {folder} {why}"),
                "give a folder on a disk with much room",
            ));
        }
        let file = SpillFile::create_in(place).map_err(|error| {
            let repair = "give a folder in which files can be made";
            Failure::unwritten(&format!("--disk {folder}: no file can be made there"), &error, repair)
        })?;
        let share = (plan.limits.memory.unwrap_or(u64::MAX) / PART).max(LEAST);
        let file = Arc::new(WaitingFile { file, share, trouble: Mutex::default() });
        let shared: Arc<dyn Disk> = Arc::clone(&file) as _;
        Ok(Some(WaitingRoom { folder: folder.clone(), file, shared }))
    }

    /// For searches.
    pub fn disk(&self) -> &Arc<dyn Disk> {
        &self.shared
    }

    /// The search is over. Says what was on the disk, and why the outcome is what it is, where the disk is the
    /// reason: then nothing is claimed.
    pub fn finish(&self, outcome: &mut Outcome) -> (OnDisk, Option<String>) {
        let trouble = self.file.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = &self.folder;
        let why = match (&trouble.reading, &trouble.writing) {
            (Some(error), _) => {
                let violations = match outcome.errors {
                    0 => "",
                    _ => "; there are violations, and the ways to them are lost",
                };
                Some(format!("what waited in --disk {folder} could not be read back ({error}){violations}"))
            }
            (None, Some(error)) if outcome.stop == StopReason::MemoryLimit => Some(format!(
                "memory ran out, because nothing more could be written to --disk {folder} ({error})"
            )),
            _ => None,
        };
        if trouble.reading.is_some() {
            (outcome.stop, outcome.exhausted) = (StopReason::Disk, None);
            outcome.violations.clear();
            outcome.warnings.clear();
        }
        let file = &self.file.file;
        let (written, read, most) = (file.written(), file.read_back(), file.size());
        (OnDisk { folder: folder.clone(), written, read, most }, why)
    }
}

/// Only searches for safety have a queue.
pub fn refuse_properties(plan: &Plan, selected: &[Selected]) -> Result<(), Failure> {
    let other = selected.iter().find(|property| property.checks.is_none());
    match (&plan.options.disk, other) {
        (Some(folder), Some(other)) => Err(Failure::refused_with(
            format!(
                "--disk {folder} is for safety: the search for {} has a stack or a graph, which must be at hand",
                other.name
            ),
            "add --property safety, or leave --disk out",
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use search::Statistics;

    fn room(name: &str) -> WaitingRoom {
        let folder = std::env::temp_dir().join(format!("spinor-room-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = SpillFile::create_in(&folder).unwrap();
        std::fs::remove_dir_all(&folder).ok();
        let file = Arc::new(WaitingFile { file, share: 0, trouble: Mutex::default() });
        WaitingRoom { folder: "DIR".to_string(), shared: Arc::clone(&file) as _, file }
    }

    fn ended(stop: StopReason) -> Outcome {
        Outcome { errors: 3, statistics: Statistics::default(), ..Outcome::nothing(stop) }
    }

    #[test]
    fn what_is_lost_leaves_no_claim() {
        let room = room("lost");
        let nowhere = Place { slots: vec![77], len: 5, check: 0 };
        assert_eq!(room.disk().get(&nowhere), Err(StopReason::Disk));
        let mut outcome = ended(StopReason::Completed);
        let (_, why) = room.finish(&mut outcome);
        assert!(why.is_some_and(|why| why.contains("could not be read back") && why.contains("are lost")));
        assert_eq!((outcome.stop, outcome.exhausted), (StopReason::Disk, None));
    }

    #[test]
    fn a_full_disk_is_a_reason_only_where_memory_ends() {
        let room = room("full");
        room.file.note(|trouble| trouble.writing = Some("no room".to_string()));
        for (stop, told) in [(StopReason::Completed, false), (StopReason::MemoryLimit, true)] {
            let mut outcome = ended(stop);
            let (figures, why) = room.finish(&mut outcome);
            assert_eq!(why.is_some_and(|why| why.contains("(no room)")), told);
            assert_eq!((outcome.stop, figures.written), (stop, 0));
        }
    }
}
