//! Ctrl-C: the first one asks the search to stop and report, the second one ends the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit status of an interrupted run.
pub const INTERRUPTED: u8 = 130;

/// A flag that Ctrl-C sets.
pub fn stop_flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&flag);
    // Without a handler Ctrl-C ends the process at once, which is no harm either.
    let _ = ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            leave();
        }
    });
    flag
}

#[allow(clippy::exit, reason = "the user insists, and the search may not be listening")]
fn leave() -> ! {
    std::process::exit(i32::from(INTERRUPTED))
}
