//! Whatever ends a search by several workers ends it for all: the first reason counts.

use crate::outcome::StopReason;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use stop::Cause;

/// Searches: a machine that gives up in the midst of a step ends the search, and the step is none.
pub(crate) fn obeying<T>(search: impl FnOnce() -> Result<T, StopReason>) -> Result<T, StopReason> {
    stop::attempt(search).unwrap_or_else(|cause| {
        Err(match cause {
            Cause::Asked => StopReason::Interrupted,
            Cause::Time => StopReason::TimeLimit,
        })
    })
}

/// Whether all are to stop, and why.
#[derive(Debug, Default)]
pub(crate) struct Halt {
    flag: AtomicBool,
    reason: OnceLock<StopReason>,
}

impl Halt {
    /// Stops everybody. Only the first reason counts.
    pub fn halt(&self, reason: StopReason) {
        let _ = self.reason.set(reason);
        // After the reason: who sees the flag finds why.
        self.flag.store(true, Release);
    }

    /// Whether all are to stop.
    pub fn is_halted(&self) -> bool {
        self.flag.load(Acquire)
    }

    /// Why everybody was stopped.
    pub fn reason(&self) -> Option<StopReason> {
        self.reason.get().copied()
    }

    /// For the budget of a worker to look at.
    pub fn flag(&self) -> &AtomicBool {
        &self.flag
    }
}
