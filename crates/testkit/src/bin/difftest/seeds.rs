//! The seeds of a run, given out one at a time to the workers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::options::{Mode, Options};

/// Seeds that are still to be done.
pub struct Seeds {
    first: u64,
    next: AtomicU64,
    end: u64,
    step: u64,
    deadline: Option<Instant>,
}

impl Seeds {
    /// Those that the command line names.
    pub fn new(options: &Options) -> Self {
        let (first, end, deadline) = match options.mode {
            Mode::Fresh { seconds } => {
                (fresh_seed(), u64::MAX, Some(Instant::now() + Duration::from_secs(seconds)))
            }
            Mode::Seeds { first, end } => (first, end, None),
            _ => (0, 0, None),
        };
        Seeds { first, next: AtomicU64::new(first), end, step: options.step, deadline }
    }

    /// The next one, unless there is none or the time is over.
    pub fn take(&self) -> Option<u64> {
        let late = self.deadline.is_some_and(|deadline| Instant::now() > deadline);
        let seed = self.next.fetch_add(self.step, Ordering::Relaxed);
        (seed < self.end && !late).then_some(seed)
    }

    /// Which were given out, in words.
    pub fn given(&self) -> String {
        format!("seeds: {}..{}", self.first, self.next.load(Ordering::Relaxed).min(self.end))
    }
}

/// A start for the seeds of a fresh run, printed so that it can be repeated.
fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let first = (now.as_micros() as u64) << 16 >> 20;
    println!("difftest: fresh seeds from {first}");
    first
}
