//! What threads share, as the standard library has it; or, built with `--cfg loom`, as the model checker loom has it, which tries
//! all orders in which threads can run and all values that their loads may see.

#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};

/// Lets others go on, who will be done at once. They may have no processor at the moment.
#[inline]
pub(crate) fn spin() {
    #[cfg(not(loom))]
    std::thread::yield_now();
    #[cfg(loom)]
    loom::thread::yield_now();
}
