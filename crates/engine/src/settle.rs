//! A search that goes on for a while no longer needs the code that prepared it.
//!
//! With a compact store a search of a million states takes less memory than the front end and the compiler before it. So their
//! pages are given back ([`jit::resident`]) at the first news after a moment, and what was touched while the search began a little later.
//! Shorter searches are not disturbed.

use search::{Flow, Observer, Snapshot};
use std::time::{Duration, Instant};

/// Who searches longer, samples included, goes on for a while; and who searches for so long has begun.
const MOMENTS: [Duration; 2] = [Duration::from_millis(3), Duration::from_millis(60)];

/// Hands all news on.
pub struct Settling<'a> {
    observer: &'a mut dyn Observer,
    started: Instant,
    /// How often that was done.
    settled: usize,
}

impl<'a> Settling<'a> {
    /// Before the first search.
    pub fn new(observer: &'a mut dyn Observer) -> Self {
        Settling { observer, started: Instant::now(), settled: 0 }
    }

    /// Gives back what is no longer needed, if it is time for that.
    fn settle(&mut self, elapsed: Duration) {
        if MOMENTS.get(self.settled).is_some_and(|&moment| elapsed >= moment) {
            self.settled += 1;
            jit::resident::forget_files();
            jit::resident::forget_heap();
        }
    }
}

impl Observer for Settling<'_> {
    fn progress(&mut self, snapshot: &Snapshot) -> Flow {
        self.settle(self.started.elapsed());
        self.observer.progress(snapshot)
    }

    fn is_short_of_memory(&self) -> bool {
        self.observer.is_short_of_memory()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Last(u64);

    impl Observer for Last {
        fn progress(&mut self, snapshot: &Snapshot) -> Flow {
            self.0 = snapshot.states;
            if snapshot.states > 1 { Flow::Stop } else { Flow::Continue }
        }
    }

    #[test]
    fn news_and_wishes_are_handed_on() {
        let mut last = Last(0);
        let mut settling = Settling::new(&mut last);
        let mut tell = |states| settling.progress(&Snapshot { states, ..Snapshot::default() });
        assert_eq!([1, 2].map(&mut tell), [Flow::Continue, Flow::Stop]);
        assert_eq!(last.0, 2);
    }

    #[test]
    fn it_settles_once_for_each_moment() {
        let mut last = Last(0);
        let mut settling = Settling::new(&mut last);
        let mut settled_after = |elapsed| {
            settling.settle(elapsed);
            settling.settled
        };
        let [first, second] = MOMENTS;
        assert_eq!(
            [Duration::ZERO, first, first, second, second * 2].map(&mut settled_after),
            [0, 1, 1, 2, 2]
        );
    }
}
