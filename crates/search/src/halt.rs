//! Whatever ends a search by several workers ends it for all: the first reason counts.

use crate::outcome::StopReason;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};

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
