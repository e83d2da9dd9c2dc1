//! When everybody is done: termination detection, and meeting at the end of a level.
//!
//! Work is in the hands of a busy worker, or in its shared queue, into which nobody else puts anything. A worker goes idle only
//! when its hands and its queue are empty, so when all are idle at one moment there is no work left anywhere, and none
//! can appear. For that, a worker who sees work elsewhere must **leave the idle count before taking it**: the other way
//! round, work would be in the hands of a worker who counts as idle, and the others might go home.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Counts idle workers.
#[derive(Debug)]
pub(crate) struct Idle {
    idle: AtomicUsize,
    workers: usize,
}

impl Idle {
    /// So many workers, all busy.
    pub fn new(workers: usize) -> Self {
        Idle { idle: AtomicUsize::new(0), workers }
    }

    /// A worker has no work and sees none. One that never came counts as idle for ever.
    pub fn enter(&self) {
        self.idle.fetch_add(1, SeqCst);
    }

    /// A worker is going to look for work.
    pub fn leave(&self) {
        self.idle.fetch_sub(1, SeqCst);
    }

    /// Whether some are idle.
    pub fn some(&self) -> bool {
        self.idle.load(SeqCst) > 0
    }

    /// Whether all are idle: then they are so for ever.
    pub fn all(&self) -> bool {
        self.idle.load(SeqCst) == self.workers
    }
}

/// Waits a little, and longer if it has waited often: a processor may be needed by those who have work.
pub(crate) fn pause(waits: u32) {
    match waits {
        0..20 => (0..50).for_each(|_| std::hint::spin_loop()),
        20..40 => std::thread::yield_now(),
        _ => std::thread::sleep(Duration::from_micros(u64::from(waits.min(500)))),
    }
}

/// A meeting of all workers, again and again.
#[derive(Debug)]
pub(crate) struct Meeting {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    expected: usize,
    arrived: usize,
    /// How many meetings there were.
    number: u64,
    cancelled: bool,
}

impl Meeting {
    /// A meeting of so many workers.
    pub fn new(workers: usize) -> Self {
        let state = State { expected: workers, arrived: 0, number: 0, cancelled: false };
        Meeting { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until all have come. False when there will be no more meetings.
    pub fn wait(&self) -> bool {
        let mut state = self.state();
        state.arrived += 1;
        if state.arrived == state.expected {
            state.adjourn();
            self.changed.notify_all();
        } else {
            let number = state.number;
            while state.number == number && !state.cancelled {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        !state.cancelled
    }

    /// One worker will never come.
    pub fn leave(&self) {
        let mut state = self.state();
        state.expected -= 1;
        if state.arrived == state.expected && state.arrived > 0 {
            state.adjourn();
            self.changed.notify_all();
        }
    }

    /// Nobody waits any more: a worker is lost.
    pub fn cancel(&self) {
        self.state().cancelled = true;
        self.changed.notify_all();
    }
}

impl State {
    fn adjourn(&mut self) {
        self.arrived = 0;
        self.number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_goes_on_before_all_have_come() {
        const WORKERS: usize = 5;
        let (meeting, sum) = (Meeting::new(WORKERS + 1), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| {
                    for round in 1..=200 {
                        sum.fetch_add(1, SeqCst);
                        assert!(meeting.wait());
                        assert_eq!(sum.load(SeqCst), round * WORKERS);
                        assert!(meeting.wait());
                    }
                });
            }
            // One never comes.
            meeting.leave();
        });
    }

    #[test]
    fn a_cancelled_meeting_lets_everybody_go() {
        let meeting = Meeting::new(3);
        std::thread::scope(|scope| {
            let waiting = [scope.spawn(|| meeting.wait()), scope.spawn(|| meeting.wait())];
            meeting.cancel();
            assert!(waiting.into_iter().all(|worker| !worker.join().unwrap()));
        });
        assert!(!meeting.wait());
    }
}
