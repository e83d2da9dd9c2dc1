//! The threads of a search by several workers: started with enough stack, stopped when one is lost, and put
//! together at the end.
//!
//! Every search by several workers ([`crate::parallel`], [`crate::handoff`], [`crate::cndfs`],
//! [`crate::ufscc`]) runs its first worker on the thread that called, inside [`std::thread::scope`], and the
//! others in a [`WorkerPool`]. What they do is theirs.

use std::thread::{Scope, ScopedJoinHandle};

/// The stack of a thread in bytes; reserved, not used. Where the process may have few addresses it is less.
const STACK_BYTES: usize = 256 << 20;

/// The first worker is alone until it has found this number of states, unless the caller says otherwise.
pub(crate) const ALONE: u64 = 4096;

/// The workers but the first; `Y` is what each of them leaves.
pub(crate) struct WorkerPool<'s, 'e, Y> {
    scope: &'s Scope<'s, 'e>,
    workers: Vec<ScopedJoinHandle<'s, Y>>,
}

impl<'s, 'e, Y: Send + 's> WorkerPool<'s, 'e, Y> {
    /// No worker yet.
    pub fn new(scope: &'s Scope<'s, 'e>) -> Self {
        WorkerPool { scope, workers: Vec::new() }
    }

    /// Starts one more worker; false where the system refuses a thread.
    pub fn spawn(&mut self, work: impl FnOnce() -> Y + Send + 's) -> bool {
        let worker = store::threads::start(self.scope, "worker", STACK_BYTES, work);
        let started = worker.is_ok();
        self.workers.extend(worker.ok());
        started
    }

    /// What the first worker leaves and what all others leave, when they are done. A panic goes on in the
    /// thread that called: it is a bug, and must be seen as one.
    pub fn join(self, first: Y) -> Vec<Y> {
        let others: Vec<_> = self.workers.into_iter().map(ScopedJoinHandle::join).collect();
        let others =
            others.into_iter().map(|other| other.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        std::iter::once(first).chain(others).collect()
    }
}

/// Calls for help when the worker that holds it panics: the others might wait for that worker forever.
pub(crate) struct Alarm<F: Fn()>(pub F);

impl<F: Fn()> Drop for Alarm<F> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            (self.0)();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::halt::Halt;
    use crate::outcome::StopReason;

    #[test]
    fn results_come_in_the_order_of_the_workers() {
        let all = std::thread::scope(|scope| {
            let mut pool = WorkerPool::new(scope);
            assert!((1..5).all(|number| pool.spawn(move || number)));
            pool.join(0)
        });
        assert_eq!(all, [0, 1, 2, 3, 4]);
    }

    /// The second worker waits until the first, which panics, has stopped all.
    #[test]
    fn a_lost_worker_stops_the_others_and_is_seen() {
        let halt = Halt::default();
        let lost = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            std::thread::scope(|scope| {
                let (halt, mut pool) = (&halt, WorkerPool::new(scope));
                pool.spawn(move || {
                    let _alarm = Alarm(|| halt.halt(StopReason::Interrupted));
                    panic!("lost");
                });
                pool.spawn(move || {
                    while !halt.is_halted() {
                        std::thread::yield_now();
                    }
                });
                pool.join(())
            })
        }));
        assert!(lost.is_err());
        assert_eq!(halt.reason(), Some(StopReason::Interrupted));
    }
}
