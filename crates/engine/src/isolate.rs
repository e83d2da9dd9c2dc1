//! Runs work on a thread of its own, with a deep stack, and turns a panic into a message.
//!
//! The front end and the interpreter recurse over the structure of a model, within limits of their own; the deep
//! stack makes those limits generous. A panic is a bug: it must become an internal error and nothing else.

use crate::failure::Failure;
use std::any::Any;

/// Reserved, not used: pages are touched only when needed.
const STACK_BYTES: usize = 256 << 20;

/// Runs `work` on a deep stack; a panic becomes [`Failure::Internal`].
pub fn isolated<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("check".to_string()).stack_size(STACK_BYTES);
        let worker = builder
            .spawn_scoped(scope, work)
            .map_err(|e| Failure::Internal(format!("no thread could be started: {e}")))?;
        worker.join().map_err(|panic| Failure::Internal(panic_text(&*panic)))
    })
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
