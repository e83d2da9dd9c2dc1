//! When everybody is done: termination detection, and meeting at the end of a level.
//!
//! Work is in the hands of a busy worker, or in its shared queue, into which nobody else puts anything. A
//! worker goes idle only when its hands and its queue are empty, so when all are idle at one moment there is
//! no work left anywhere, and none can appear. For that, a worker who sees work elsewhere must **leave the
//! idle count before taking it**: the other way round, work would be in the hands of a worker who counts as
//! idle, and the others might go home.

#[cfg(loom)]
use loom::sync::atomic::{AtomicUsize, Ordering::SeqCst};
#[cfg(loom)]
use loom::sync::{Condvar, Mutex, MutexGuard};
use std::sync::PoisonError;
#[cfg(not(loom))]
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
#[cfg(not(loom))]
use std::sync::{Condvar, Mutex, MutexGuard};

/// A worker without work.
pub(crate) trait Seeker {
    /// Why it gives up.
    type Stop;

    /// Whether another worker has work to give away.
    fn sees_work(&self) -> bool;

    /// Takes work from another worker; false when there is none.
    fn take_work(&mut self) -> bool;

    /// Waits a little; it has done so `waits` times.
    fn wait(&mut self, waits: u32) -> Result<(), Self::Stop>;
}

/// Counts idle workers.
#[derive(Debug)]
pub(crate) struct Idle {
    idle: AtomicUsize,
    workers: usize,
}

impl Idle {
    /// `workers` workers, all busy.
    pub fn new(workers: usize) -> Self {
        Idle { idle: AtomicUsize::new(0), workers }
    }

    /// Lets a worker whose hands and queue are empty wait for work. False when there is none left anywhere.
    pub fn seek<S: Seeker>(&self, seeker: &mut S) -> Result<bool, S::Stop> {
        let mut waits = 0;
        self.enter();
        while !self.all() {
            if seeker.sees_work() {
                // Leave before taking: see above.
                self.leave();
                if seeker.take_work() {
                    return Ok(true);
                }
                self.enter();
            }
            seeker.wait(waits)?;
            waits += 1;
        }
        Ok(false)
    }

    /// A worker has no work and sees none. One that never came counts as idle forever.
    pub fn enter(&self) {
        // One order for all changes of the count and all looks at it: "all are idle" is a moment that
        // everybody agrees on.
        self.idle.fetch_add(1, SeqCst);
    }

    /// A worker is going to look for work.
    fn leave(&self) {
        self.idle.fetch_sub(1, SeqCst);
    }

    /// Whether some are idle.
    pub fn some(&self) -> bool {
        self.idle.load(SeqCst) > 0
    }

    /// Whether all are idle: then they are so forever.
    fn all(&self) -> bool {
        self.idle.load(SeqCst) == self.workers
    }
}

/// Waits a little, and longer if it has waited often: a processor may be needed by those who have work.
pub(crate) fn pause(waits: u32) {
    match waits {
        0..20 => (0..50).for_each(|_| std::hint::spin_loop()),
        20..40 => std::thread::yield_now(),
        _ => std::thread::sleep(std::time::Duration::from_micros(u64::from(waits.min(500)))),
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
    /// A meeting of `workers` workers.
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

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::thread;
    use std::sync::Arc;

    const WORKERS: usize = 2;

    /// Packs in the queues of the workers, and how many more will be found by whoever expands one.
    struct Team {
        idle: Idle,
        queues: [Mutex<u32>; WORKERS],
        more: Mutex<u32>,
        /// Packs that were expanded.
        done: AtomicUsize,
    }

    struct Worker<'t> {
        team: &'t Team,
        me: usize,
    }

    impl Worker<'_> {
        fn take(&self, from: usize) -> bool {
            let mut queue = self.team.queues[from].lock().unwrap();
            let some = *queue > 0;
            *queue -= u32::from(some);
            some
        }

        /// Expands a pack, which may give another one.
        fn expand(&self) {
            let mut more = self.team.more.lock().unwrap();
            if *more > 0 {
                *more -= 1;
                *self.team.queues[self.me].lock().unwrap() += 1;
            }
            drop(more);
            self.team.done.fetch_add(1, SeqCst);
        }

        /// As a worker of a parallel search; says how many packs were expanded when it goes home.
        fn work(mut self) -> usize {
            loop {
                while self.take(self.me) {
                    self.expand();
                }
                let team = self.team;
                match team.idle.seek(&mut self) {
                    Ok(true) => self.expand(),
                    _ => return team.done.load(SeqCst),
                }
            }
        }
    }

    impl Seeker for Worker<'_> {
        type Stop = ();

        fn sees_work(&self) -> bool {
            *self.team.queues[1 - self.me].lock().unwrap() > 0
        }

        fn take_work(&mut self) -> bool {
            self.take(1 - self.me)
        }

        fn wait(&mut self, _: u32) -> Result<(), ()> {
            thread::yield_now();
            Ok(())
        }
    }

    #[test]
    fn nobody_goes_home_while_there_is_work() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let team = Arc::new(Team {
                idle: Idle::new(WORKERS),
                queues: [Mutex::new(1), Mutex::new(0)],
                more: Mutex::new(1),
                done: AtomicUsize::new(0),
            });
            let other = thread::spawn({
                let team = Arc::clone(&team);
                move || Worker { team: &team, me: 1 }.work()
            });
            let done = Worker { team: &team, me: 0 }.work();
            assert_eq!((done, other.join().unwrap()), (2, 2));
        });
    }

    #[test]
    fn nobody_goes_on_before_all_have_come() {
        loom::model(|| {
            let shared = Arc::new((Meeting::new(WORKERS), AtomicUsize::new(0)));
            let work = |shared: &(Meeting, AtomicUsize)| {
                for round in 1..=2 {
                    shared.1.fetch_add(1, SeqCst);
                    assert!(shared.0.wait());
                    assert!(shared.1.load(SeqCst) >= round * WORKERS);
                }
            };
            let other = thread::spawn({
                let shared = Arc::clone(&shared);
                move || work(&shared)
            });
            work(&shared);
            other.join().unwrap();
        });
    }
}

#[cfg(all(test, not(loom)))]
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
