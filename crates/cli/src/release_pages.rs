//! Pages of the process that a search no longer needs.
//!
//! With a compact store a search of a million states takes less memory than the front end and the compiler
//! before it. So their pages are given back ([`engine::resident`]) at the first report of progress after a
//! moment, and what was touched while the search began a little later. Shorter searches are not disturbed.
//! The process is the command's: a check never does this by itself.

use std::time::{Duration, Instant};

/// Who searches longer, samples included, goes on for a while; and who searches for so long has begun.
const MOMENTS: [Duration; 2] = [Duration::from_millis(3), Duration::from_millis(60)];

/// Gives pages back when it is time.
#[derive(Debug)]
pub struct ReleasePages {
    started: Instant,
    /// How often that was done.
    released: usize,
}

impl ReleasePages {
    /// Before the check.
    pub fn new() -> Self {
        ReleasePages { started: Instant::now(), released: 0 }
    }

    /// To be called with every report of progress.
    pub fn tick(&mut self) {
        self.tick_at(self.started.elapsed());
    }

    fn tick_at(&mut self, elapsed: Duration) {
        if MOMENTS.get(self.released).is_some_and(|&moment| elapsed >= moment) {
            self.released += 1;
            engine::resident::forget_files();
            engine::resident::forget_heap();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_released_once_for_each_moment() {
        let mut pages = ReleasePages::new();
        let mut released_after = |elapsed| {
            pages.tick_at(elapsed);
            pages.released
        };
        let [first, second] = MOMENTS;
        assert_eq!(
            [Duration::ZERO, first, first, second, second * 2].map(&mut released_after),
            [0, 1, 1, 2, 2]
        );
    }
}
