//! The states of a search that keeps something beside each of them: a set that numbers them, whole or as trees.

use store::numbered::{Number, Visit};
use store::{Full, Numbered, NumberedTree};

/// How states are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Keeping {
    /// As they are.
    #[default]
    Whole,
    /// As trees: less memory, more time.
    Trees,
}

/// States with numbers.
#[derive(Debug)]
pub(crate) enum States {
    Whole(Numbered),
    Trees(NumberedTree),
}

impl States {
    /// None yet, within so many bytes.
    pub fn new(keeping: Keeping, memory: u64) -> Self {
        match keeping {
            Keeping::Whole => States::Whole(Numbered::new(memory)),
            Keeping::Trees => States::Trees(NumberedTree::new(memory)),
        }
    }

    /// What is asked of the set about a key, so that memory is waited for early; see [`Numbered::prepare`].
    #[inline]
    pub fn prepare(&self, key: &[u8]) -> u64 {
        match self {
            States::Whole(states) => states.prepare(key),
            States::Trees(_) => 0,
        }
    }

    /// See [`Numbered::approach_all`].
    #[inline]
    pub fn approach_all(&self, prepared: &[u64]) {
        if let States::Whole(states) = self {
            states.approach_all(prepared);
        }
    }

    /// See [`Numbered::remember`].
    #[inline]
    pub fn remember(&self, prepared: u64) {
        if let States::Whole(states) = self {
            states.remember(prepared);
        }
    }

    /// Inserts a prepared key or recognises it.
    #[inline]
    pub fn visit_prepared(&mut self, key: &[u8], prepared: u64) -> Result<Visit, Full> {
        match self {
            States::Whole(states) => states.visit_prepared(key, prepared),
            States::Trees(states) => states.visit(key),
        }
    }

    /// Looks for a prepared key.
    #[inline]
    pub fn find_prepared(&self, key: &[u8], prepared: u64) -> Option<Number> {
        match self {
            States::Whole(states) => states.find_prepared(key, prepared),
            States::Trees(states) => states.find(key),
        }
    }

    /// Looks for a key.
    pub fn find(&self, key: &[u8]) -> Option<Number> {
        match self {
            States::Whole(states) => states.find(key),
            States::Trees(states) => states.find(key),
        }
    }

    /// How many there are.
    #[inline]
    pub fn n_keys(&self) -> u64 {
        match self {
            States::Whole(states) => states.n_keys(),
            States::Trees(states) => states.n_keys(),
        }
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> u64 {
        match self {
            States::Whole(states) => states.memory(),
            States::Trees(states) => states.memory(),
        }
    }
}
