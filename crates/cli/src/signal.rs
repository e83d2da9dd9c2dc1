//! Ctrl-C: the first one asks what is running to stop and report, the second one ends the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit status of an interrupted run.
pub const INTERRUPTED: u8 = 130;

/// A flag that Ctrl-C sets, and the end of memory.
pub fn stop_flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    crate::allocator::stops(&flag);
    let seen = Arc::clone(&flag);
    // Without a handler Ctrl-C ends the process at once, which is no harm either.
    let _ = ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            leave();
        }
    });
    flag
}

/// Ctrl-C in a dialogue: it stops what is being done, and while nothing is, it ends the process.
#[derive(Debug, Default)]
pub struct Interrupt {
    busy: AtomicBool,
    stop: AtomicBool,
}

impl Interrupt {
    /// Listens from now on.
    pub fn listen() -> Arc<Interrupt> {
        let interrupt = Arc::new(Interrupt::default());
        let seen = Arc::clone(&interrupt);
        let _ = ctrlc::set_handler(move || {
            if !seen.busy.load(Ordering::SeqCst) || seen.stop.swap(true, Ordering::SeqCst) {
                leave();
            }
        });
        interrupt
    }

    /// Does something that Ctrl-C stops: `work` asks the flag that it is given.
    pub fn during<T>(&self, work: impl FnOnce(&AtomicBool) -> T) -> T {
        self.stop.store(false, Ordering::SeqCst);
        self.busy.store(true, Ordering::SeqCst);
        let result = work(&self.stop);
        self.busy.store(false, Ordering::SeqCst);
        result
    }
}

#[allow(clippy::exit, reason = "the user insists, and the search may not be listening")]
fn leave() -> ! {
    std::process::exit(i32::from(INTERRUPTED))
}
