//! A search that goes on for a while no longer needs the code that prepared it.
//!
//! With a compact store a search of a million states takes less memory than the front end and the compiler before it. So their
//! pages are given back ([`jit::resident`]) at the first news of a search that has lasted a moment; shorter ones are not disturbed.

use search::{Flow, Observer, Snapshot};
use std::time::Duration;

/// A search that takes longer goes on for a while.
const MOMENT: Duration = Duration::from_millis(50);

/// Hands all news on.
pub struct Settling<'a> {
    observer: &'a mut dyn Observer,
    settled: bool,
}

impl<'a> Settling<'a> {
    /// Before a search.
    pub fn new(observer: &'a mut dyn Observer) -> Self {
        Settling { observer, settled: false }
    }
}

impl Observer for Settling<'_> {
    fn progress(&mut self, snapshot: &Snapshot) -> Flow {
        if !self.settled && snapshot.elapsed >= MOMENT {
            self.settled = true;
            jit::resident::forget_files();
            jit::resident::forget_heap();
        }
        self.observer.progress(snapshot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Last(Duration);

    impl Observer for Last {
        fn progress(&mut self, snapshot: &Snapshot) -> Flow {
            self.0 = snapshot.elapsed;
            if snapshot.elapsed > MOMENT * 2 { Flow::Stop } else { Flow::Continue }
        }
    }

    #[test]
    fn news_and_wishes_are_handed_on() {
        let mut last = Last(Duration::MAX);
        let mut settling = Settling::new(&mut last);
        let mut tell = |elapsed| {
            let flow = settling.progress(&Snapshot { elapsed, ..Snapshot::default() });
            (flow, settling.settled)
        };
        assert_eq!(tell(Duration::ZERO), (Flow::Continue, false));
        assert_eq!(tell(MOMENT), (Flow::Continue, true));
        assert_eq!(tell(MOMENT * 3), (Flow::Stop, true));
        assert_eq!(last.0, MOMENT * 3);
    }
}
