//! Stores that nobody needs any more go while the report is written.
//!
//! To give the memory of a large store back to the system takes one thread some hundredths of the time that
//! the search took: with several workers it would be their only work that cannot be shared. So a thread does
//! that beside whoever has the answer. The next search of the same check waits for it, because limits are
//! about all memory of the process; so does the end of the report.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// A smaller store goes at once.
const LARGE: u64 = 16 << 20;

/// Stores that are about to go. Clones are about the same ones; the last to go waits for them.
#[derive(Clone, Debug, Default)]
pub struct DeferredDrop(Arc<Threads>);

#[derive(Debug, Default)]
struct Threads(Mutex<Vec<JoinHandle<()>>>);

impl DeferredDrop {
    /// Lets a store of `bytes` bytes go.
    pub fn leave<T: Send + 'static>(&self, store: T, bytes: u64) {
        if bytes >= LARGE {
            // When there is no thread to be had it goes here.
            let thread = Builder::new().name("leaving".into()).spawn(move || drop(store));
            self.0.0.lock().unwrap_or_else(PoisonError::into_inner).extend(thread);
        }
    }

    /// Waits until all are gone.
    pub fn wait(&self) {
        self.0.wait();
    }
}

impl Threads {
    fn wait(&self) {
        let threads = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            // Dropping memory does not panic; if it did, it would not matter here.
            let _ = thread.join();
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    struct Slow(Arc<AtomicU32>);

    impl Drop for Slow {
        fn drop(&mut self) {
            std::thread::sleep(Duration::from_millis(20));
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn what_leaves_is_gone_after_waiting_and_at_the_end() {
        let (gone, leaving) = (Arc::new(AtomicU32::new(0)), DeferredDrop::default());
        leaving.leave(Slow(gone.clone()), 0);
        assert_eq!(gone.load(Ordering::Relaxed), 1, "a small one goes at once");
        leaving.leave(Slow(gone.clone()), LARGE);
        leaving.wait();
        assert_eq!(gone.load(Ordering::Relaxed), 2);
        leaving.leave(Slow(gone.clone()), LARGE);
        let other = leaving.clone();
        drop(leaving);
        drop(other);
        assert_eq!(gone.load(Ordering::Relaxed), 3);
    }
}
