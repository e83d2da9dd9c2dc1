//! Stores that several workers share: each worker has a *hand*, through which it does all that [`Seen`] and
//! [`Recall`](crate::Recall) say.
//!
//! A store that grows needs to be alone for that. So it lies behind a lock that workers hold together while
//! they are at work, and that one who must change it holds alone ([`Turn`]). A worker must say when it
//! *rests*: one who waits for another without resting would wait forever, if that other waits to grow.
//!
//! **Giving way.** Who wants the store alone says so first, and every worker looks at that whenever it begins
//! anything with the store: one load of a cache line that hardly ever changes. So all others stop within a
//! look-up or two, not at the end of a pack, and both sides spin for about as long as that takes before they
//! sleep. The lock alone would not do: the standard library's lets a worker who has just let go take it again
//! before the one it has woken is awake, so that who wants to be alone waits for many packs, and sleeps each
//! time.

use crate::sync::atomic::AtomicUsize;
use crate::sync::atomic::Ordering::{AcqRel, Relaxed};
use crate::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, relax};

use crate::Batched;

/// How often who waits looks again before it sleeps: some ten microseconds. A look-up takes less, and most
/// growth, too.
const SPIN_LIMIT: u32 = if cfg!(loom) { 0 } else { 500 };

/// One worker's access to a store.
pub trait Hand: Batched {
    /// Lets others change what cannot be changed while anybody looks. To be called before waiting.
    fn rest(&mut self);
}

/// What workers share. What lies in it must be whole whenever somebody could panic.
#[derive(Debug)]
pub struct Common<T> {
    /// How many workers there are.
    workers: AtomicUsize,
    /// How many want to be alone.
    wanted: Apart<AtomicUsize>,
    /// Held by who is alone or will be next; the others sleep in front of it.
    gate: Mutex<()>,
    lock: RwLock<Apart<T>>,
}

/// On cache lines of its own: locks are written to all the time, what they protect and who wants them is read
/// all the time.
#[derive(Debug)]
#[repr(align(128))]
struct Apart<T>(T);

impl<T> Common<T> {
    /// Something to share.
    pub fn new(shared: T) -> Self {
        let (workers, wanted) = (AtomicUsize::new(0), Apart(AtomicUsize::new(0)));
        Common { workers, wanted, gate: Mutex::new(()), lock: RwLock::new(Apart(shared)) }
    }

    /// Whether somebody wants to be alone.
    #[inline(always)]
    fn is_wanted(&self) -> bool {
        // Late news is no harm: the lock decides.
        self.wanted.0.load(Relaxed) > 0
    }

    #[cold]
    fn read(&self) -> RwLockReadGuard<'_, Apart<T>> {
        let mut spins_left = SPIN_LIMIT;
        while self.is_wanted() && spins_left > 0 {
            relax();
            spins_left -= 1;
        }
        // Sleeps at the gate, which who wants to be alone holds, instead of joining the readers: a lock that
        // prefers readers might let it wait for long.
        if self.is_wanted() {
            drop(self.gate.lock().unwrap_or_else(PoisonError::into_inner));
        }
        self.lock.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Apart<T>> {
        for _ in 0..SPIN_LIMIT {
            if let Ok(alone) = self.lock.try_write() {
                return alone;
            }
            relax();
        }
        self.lock.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody wants to be alone, for as long as this lives.
struct Wanting<'a>(&'a AtomicUsize);

impl<'a> Wanting<'a> {
    fn new(wanted: &'a AtomicUsize) -> Self {
        wanted.fetch_add(1, AcqRel);
        Wanting(wanted)
    }
}

impl Drop for Wanting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, AcqRel);
    }
}

/// One worker's part in what is shared.
#[derive(Debug)]
pub struct Turn<'a, T> {
    common: &'a Common<T>,
    /// Held while the worker is at work.
    guard: Option<RwLockReadGuard<'a, Apart<T>>>,
}

impl<'a, T> Turn<'a, T> {
    /// A worker at rest.
    pub fn new(common: &'a Common<T>) -> Self {
        common.workers.fetch_add(1, Relaxed);
        Turn { common, guard: None }
    }

    /// How many workers there are, who all have a processor to spare while one of them is alone.
    pub fn workers(&self) -> usize {
        self.common.workers.load(Relaxed)
    }

    /// What all look at, which others may have changed since this was last called. The worker is at work from
    /// now on.
    #[inline(always)]
    pub fn work(&mut self) -> &T {
        if self.common.is_wanted() {
            self.guard = None;
        }
        let common = self.common;
        &self.guard.get_or_insert_with(|| common.read()).0
    }

    /// Looks without beginning to work. Nothing has changed since the worker began with [`Turn::work`].
    #[inline(always)]
    pub fn look<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        match &self.guard {
            Some(shared) => look(&shared.0),
            None => look(&self.common.read().0),
        }
    }

    /// Changes what all look at, when nobody does. Others may have been before: what was seen is to be looked
    /// at again.
    #[cold]
    pub fn alone<R>(&mut self, change: impl FnOnce(&mut T) -> R) -> R {
        self.guard = None;
        let common = self.common;
        let wanting = Wanting::new(&common.wanted.0);
        let gate = common.gate.lock().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut common.write().0);
        // In this order: who spins finds the lock free, who sleeps finds it no longer wanted.
        drop(wanting);
        drop(gate);
        result
    }

    /// Lets others change it.
    pub fn rest(&mut self) {
        self.guard = None;
    }
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        self.common.workers.fetch_sub(1, Relaxed);
    }
}
