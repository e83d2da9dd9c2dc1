//! Stores that several workers share: each worker has a *hand*, through which it does all that [`Seen`] and
//! [`Recall`](crate::Recall) say.
//!
//! A store that grows needs to be alone for that. So it lies behind a lock that workers hold together, for a batch of
//! look-ups at a time, and that one who must change it holds alone ([`Turn`]). A worker must say when it *rests*: one who
//! waits for another without resting would wait for ever, if that other waits to grow.

use crate::sync::{PoisonError, RwLock, RwLockReadGuard};

use crate::Seen;

/// One worker's access to a store.
pub trait Hand: Seen {
    /// Lets others change what cannot be changed while anybody looks. To be called between batches, and before waiting.
    fn rest(&mut self);
}

/// One worker's part in a lock. What lies behind it must be whole whenever somebody could panic.
#[derive(Debug)]
pub struct Turn<'a, T> {
    lock: &'a RwLock<T>,
    /// Held while the worker is at work.
    guard: Option<RwLockReadGuard<'a, T>>,
}

impl<'a, T> Turn<'a, T> {
    /// A worker at rest.
    pub fn new(lock: &'a RwLock<T>) -> Self {
        Turn { lock, guard: None }
    }

    /// What all look at. The worker is at work from now on.
    #[inline(always)]
    pub fn work(&mut self) -> &T {
        let lock = self.lock;
        self.guard.get_or_insert_with(|| lock.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks without beginning to work.
    #[inline(always)]
    pub fn look<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        match &self.guard {
            Some(shared) => look(shared),
            None => look(&self.lock.read().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// Changes what all look at, when nobody does. Others may have been before: what was seen is to be looked at again.
    #[cold]
    pub fn alone<R>(&mut self, change: impl FnOnce(&mut T) -> R) -> R {
        self.guard = None;
        change(&mut self.lock.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lets others change it.
    pub fn rest(&mut self) {
        self.guard = None;
    }
}
