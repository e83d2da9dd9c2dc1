//! Runs work on a thread of its own, with a deep stack, and turns a panic into a message.
//!
//! The front end and the interpreter recurse over the structure of a model, within limits of their own; the
//! deep stack makes those limits generous. A panic is a bug: it must become an internal error and nothing
//! else.

use crate::failure::Failure;
use std::any::Any;
use std::panic::AssertUnwindSafe;

/// Reserved, not used: pages are touched only when needed. Where the process may have few addresses it is
/// less.
const STACK_BYTES: usize = 256 << 20;

/// Where work runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostThread {
    /// On a thread of its own.
    OwnThread,
    /// On the caller's thread: none could be started, for this reason.
    Here(String),
}

/// Runs `work` on a deep stack; a panic becomes [`Failure::Internal`]. Where no thread can be started it runs
/// here.
pub fn isolated<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    isolated_at(|_| work())
}

/// Runs work that wants to know where it runs.
pub fn isolated_at<T: Send>(work: impl FnOnce(HostThread) -> T + Send) -> Result<T, Failure> {
    let (mut work, mut result) = (Some(work), None);
    let mut run = |place| result = work.take().map(|work| work(place));
    let started = std::thread::scope(|scope| {
        let worker = store::threads::start(scope, "check", STACK_BYTES, || run(HostThread::OwnThread))
            .map_err(|e| e.to_string())?;
        Ok(worker.join())
    });
    let ended = started
        .unwrap_or_else(|why| std::panic::catch_unwind(AssertUnwindSafe(|| run(HostThread::Here(why)))));
    ended.map_err(|panic| match stop::cause(&*panic) {
        Some(cause) => Failure::Stopped(cause),
        None => Failure::Internal(panic_text(&*panic)),
    })?;
    result.ok_or_else(|| Failure::Internal("the work was not begun".to_string()))
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_string());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a part of the tool gave up without saying why".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_internal_error() {
        assert_eq!(isolated(|| 42), Ok(42));
        let index = std::hint::black_box(7);
        let failed = isolated(|| [1, 2, 3][index]);
        assert!(matches!(failed, Err(Failure::Internal(text)) if text.contains("out of bounds")));
    }

    #[test]
    fn the_stack_is_deep() {
        fn depth(n: u32) -> u32 {
            let pad = std::hint::black_box([n; 64]);
            if n == 0 { 0 } else { 1 + depth(pad[(n % 64) as usize] - 1) }
        }
        assert_eq!(isolated(|| depth(200_000)), Ok(200_000));
    }
}
