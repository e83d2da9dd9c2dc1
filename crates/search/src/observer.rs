//! How far a search is, told to whoever wants to know.

use crate::limits::Limits;
use std::time::Duration;

/// How far a search is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Distinct states so far.
    pub states: u64,
    /// Nodes of diagrams, of a search with sets of states: it does not know its states before its end.
    pub nodes: Option<u64>,
    /// Steps between them so far.
    pub transitions: u64,
    /// The depth at which the search is now.
    pub depth: u64,
    /// States that are known and still to be looked at.
    pub frontier: u64,
    /// Violations so far.
    pub errors: u64,
    /// A store that forgets seems to forget too much.
    pub forgets_too_much: bool,
    /// Bytes in use, as far as known.
    pub memory: u64,
    /// Time since the search began.
    pub elapsed: Duration,
    /// How far it may go.
    pub limits: Limits,
}

/// What an observer wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Stop as if interrupted.
    Stop,
}

/// Receives news of a search, several times a second.
pub trait Observer {
    /// How far the search is.
    fn progress(&mut self, snapshot: &Snapshot) -> Flow;

    /// Whether the search was asked to stop because the system has no more memory.
    fn is_short_of_memory(&self) -> bool {
        false
    }
}

/// An observer that does not care.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Observer for Silent {
    fn progress(&mut self, _snapshot: &Snapshot) -> Flow {
        Flow::Continue
    }
}
