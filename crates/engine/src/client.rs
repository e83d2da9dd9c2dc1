//! The client of a check: the command line, a test, a workbench.
//!
//! A check is a computation and nothing else. Whatever concerns the world around it is the client's: it hears
//! what happens (notices, progress, counterexamples), decides what is written to files, and says whether the
//! process belongs to this check alone. So two checks can run at once in one process.

use crate::failure::Failure;
use crate::notice::Notice;
use crate::trails::Unwritten;
use archive::DurableFile;
use search::{MemoryAccount, Observer, Silent};
use std::path::PathBuf;
use trace::Evidence;

/// Hears of the events of a check, on the thread of the check. Progress and the wish to stop come from
/// [`Observer`].
pub trait Client: Observer {
    /// The files that make up the model, as soon as they were read. A client that is about to overwrite one
    /// of them refuses.
    fn model_files(&mut self, _names: &[&str]) -> Result<(), Failure> {
        Ok(())
    }

    /// Notices of the front end, before the search, which may take hours. Those returned are kept for the
    /// end.
    fn notices(&mut self, notices: Vec<Notice>) -> Vec<Notice> {
        notices
    }

    /// A counterexample that was replayed. It will be in the report; the client may keep it elsewhere as
    /// well, and says where.
    fn counterexample(&mut self, _evidence: &Evidence) -> Kept {
        Kept::InReport
    }

    /// A run that shows that a formula holds, and was replayed. It will be in the report, as a counterexample
    /// is.
    fn witness(&mut self, _evidence: &Evidence) -> Kept {
        Kept::InReport
    }

    /// The file for a certificate, which is asked for before the search. A client that writes no files
    /// refuses.
    fn certificate_file(&mut self, path: &str) -> Result<DurableFile, Failure> {
        Err(Failure::refused_with(
            format!("the certificate {path} cannot be written: this client writes no files"),
            "use `spinor check --certify`",
        ))
    }

    /// Whether a file may be written under this name, which an option gave. A client that writes no files
    /// refuses.
    fn may_write(&mut self, option: &str, path: &str) -> Result<(), Failure> {
        Err(Failure::refused_with(
            format!("{option} {path} cannot be written: this client writes no files"),
            "use `spinor check`",
        ))
    }

    /// Whether files that nobody sees may be made in this folder, which an option gave. A client that writes no
    /// files refuses.
    fn may_use_folder(&mut self, option: &str, path: &str) -> Result<(), Failure> {
        self.may_write(option, path)
    }

    /// The program to start for other processes of a cluster, which checks as this one does. A client that is
    /// not that program has none.
    fn own_program(&self) -> Option<PathBuf> {
        None
    }

    /// Whose memory counts against the limit: that of the check, unless the client has nothing else in the
    /// process.
    fn memory_account(&self) -> MemoryAccount {
        MemoryAccount::Search
    }
}

impl Client for Silent {}

/// Where the client keeps a counterexample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Nowhere else: the report has it as data.
    InReport,
    /// In this file.
    File(String),
    /// It went to this special file (a pipe, a device), from which it cannot be read again.
    Stream(String),
    /// It was to be in a file, which could not be written.
    Unwritten(Unwritten),
}

impl Kept {
    /// The file that the counterexample was written to.
    pub fn file(&self) -> Option<&str> {
        match self {
            Kept::File(path) | Kept::Stream(path) => Some(path),
            Kept::InReport | Kept::Unwritten(_) => None,
        }
    }
}
