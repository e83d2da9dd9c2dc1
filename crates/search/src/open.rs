//! Which states are open: found by somebody, and not yet left. For the proviso of depth-first searches by
//! several workers.
//!
//! A reduced state needs a chosen successor that is *left* (all behind it was searched) before the state
//! itself is: then along chosen steps one comes to states that were left earlier and earlier, until one that
//! was expanded in full. With one worker that is a successor not on the stack. With several, a successor may
//! be on the stack of another worker, or wait in a queue, and be left much later. So all workers count the
//! hashes of all open states in one array. A state that is taken for an open one, because its hash falls on
//! the same counter, is expanded in vain and nothing else.
//!
//! **Why a *no* is sure.** A state is held before it is stored, and let go when it is left. Who finds it in
//! the store sees that it was held; changes of a counter are in one order, so zero means that it was let go
//! since.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

/// Counters, as a power of two: 1 MB. Stacks of workers that hand off are short.
const BITS: u32 = 18;

/// The open states of all workers.
#[derive(Debug)]
pub(crate) struct Open(Vec<AtomicU32>);

impl Default for Open {
    fn default() -> Self {
        Open(std::iter::repeat_with(AtomicU32::default).take(1 << BITS).collect())
    }
}

impl Open {
    fn count(&self, key: &[u8]) -> &AtomicU32 {
        // The store uses the upper bits first; here any will do.
        &self.0[(store::hash::hash(key) >> (64 - BITS)) as usize]
    }

    /// Somebody is about to store this state, and to search behind it if it is new.
    pub fn hold(&self, key: &[u8]) {
        self.count(key).fetch_add(1, AcqRel);
    }

    /// All behind it was searched, or it was not new.
    pub fn let_go(&self, key: &[u8]) {
        self.count(key).fetch_sub(1, AcqRel);
    }

    /// Whether this state, which is stored, may be open.
    pub fn may_hold(&self, key: &[u8]) -> bool {
        // Acquire pairs with the changes of the worker that left the state: what it stored behind it is seen.
        self.count(key).load(Acquire) > 0
    }
}
