//! What threads share, as the standard library has it; or, built with `--cfg loom`, as the model checker loom
//! has it, which tries the orders in which threads can run and the values that their loads may see
//! (`.ci/loom`).

#[cfg(not(loom))]
pub(crate) use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, atomic};

#[cfg(loom)]
pub(crate) use loom::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard, atomic};
#[cfg(loom)]
pub(crate) use std::sync::PoisonError;

/// Lets others go on, who will be done at once. They may have no processor at the moment.
#[inline]
pub(crate) fn spin() {
    #[cfg(not(loom))]
    std::thread::yield_now();
    #[cfg(loom)]
    loom::thread::yield_now();
}

/// Waits a moment for somebody who is at work on another processor.
#[inline]
pub(crate) fn relax() {
    std::hint::spin_loop();
}
