//! Threads that are started where addresses may be few.
//!
//! The standard library maps a small stack for signals in a new thread before anything of ours runs there, and
//! gives the whole process up where that fails. So a thread is only started where there are addresses for
//! that too, and whoever starts it waits until it runs: until then, nobody who waits takes those addresses.

use std::io;
use std::sync::mpsc::sync_channel;
use std::thread::{Builder, Scope, ScopedJoinHandle};

use crate::pages::{affordable, can_be_had};

/// Addresses beside its stack that a thread needs before its work begins.
const TO_BEGIN: usize = 4 << 20;

/// Starts a thread with a stack of at most `stack` bytes (fewer where addresses are few), and waits until it
/// runs; an error where the system refuses it.
pub fn start<'s, Y: Send + 's>(
    scope: &'s Scope<'s, '_>,
    name: &str,
    stack: usize,
    work: impl FnOnce() -> Y + Send + 's,
) -> io::Result<ScopedJoinHandle<'s, Y>> {
    let stack = affordable(stack);
    if !can_be_had(stack.saturating_add(TO_BEGIN)) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    let (begun, has_begun) = sync_channel::<()>(1);
    let thread = Builder::new().name(name.to_string()).stack_size(stack).spawn_scoped(scope, move || {
        // Nobody waits any more only if the starter was lost.
        let _ = begun.send(());
        drop(begun);
        work()
    })?;
    // It ends without a word only by a panic, which whoever joins it sees.
    let _ = has_begun.recv();
    Ok(thread)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_runs_when_it_was_started() {
        let sum = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8u32).map(|number| start(scope, "test", 1 << 20, move || number).unwrap()).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u32>()
        });
        assert_eq!(sum, 28);
    }

    #[test]
    fn a_panic_before_anything_else_is_seen_by_who_joins() {
        std::thread::scope(|scope| {
            let thread = start(scope, "test", 1 << 20, || panic!("lost")).unwrap();
            let lost: std::thread::Result<()> = thread.join();
            assert!(lost.is_err());
        });
    }
}
