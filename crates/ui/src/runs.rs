//! Runs that are looked at: each on its thread, the oldest go when there are too many.

use crate::error::ApiError;
use explore::{Ended, Exploration, RunThread};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Runs that are kept.
pub const KEPT: usize = 8;

/// All runs.
#[derive(Default)]
pub struct Runs {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// The number of the last one.
    last: u64,
    /// With their numbers, the oldest first.
    runs: VecDeque<(u64, Arc<RunThread>)>,
}

impl Runs {
    /// Keeps a run; its number.
    pub fn add(&self, run: RunThread) -> u64 {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.last += 1;
        let id = kept.last;
        kept.runs.push_back((id, Arc::new(run)));
        let gone = if kept.runs.len() > KEPT { kept.runs.pop_front() } else { None };
        drop(kept);
        // Its thread ends without holding up others.
        drop(gone);
        id
    }

    /// Lets a run do something, and waits for the result.
    pub fn ask<T: Send + 'static>(
        &self,
        id: u64,
        work: impl FnOnce(&mut Exploration<'_, '_>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let run = {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.runs.iter().find(|(known, _)| *known == id).map(|(_, run)| Arc::clone(run))
        };
        let run = run.ok_or_else(|| ApiError::missing("there is no such run, or it was too long ago"))?;
        run.ask(work).unwrap_or_else(|Ended| Err(ApiError::missing("the run has ended")))
    }
}
