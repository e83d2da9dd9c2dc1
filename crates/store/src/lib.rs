//! Stores: bytes in, *new* or *seen* out.
//!
//! A ladder of capabilities, not of flags. [`Seen`] tells new keys from old ones; [`Store`] also names them;
//! [`Recall`] also gives them back. A search asks for the rung that it needs, so an impossible pair of search and
//! store does not type-check. A store knows nothing of systems or searches.
//!
//! Methods that insert take `&mut self`: a concurrent store implements the traits on a handle that each worker
//! has for itself, a sequential one on the store.

pub mod bitstate;
pub mod collapse;
pub mod compact;
pub mod hash;
pub mod hash_compaction;
pub mod mix;
pub mod nodes;
pub mod table;
pub mod tree;

pub use bitstate::Bitstate;
pub use collapse::Collapse;
pub use hash_compaction::HashCompaction;
pub use table::Table;
pub use tree::{Roots, Tree};

/// A store's name for a key: dense, in order of insertion, from 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct StateId(pub u32);

impl StateId {
    /// As an index into what a search keeps beside its states.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What visiting a key showed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Visit {
    /// It was not there; now it is.
    New(StateId),
    /// It was there already.
    Seen(StateId),
}

/// The store cannot take another key within its memory (or has no names left).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

/// A look-up that was begun with [`Seen::begin`]: the hash of the key and what was found in its first place.
#[derive(Clone, Copy, Default, Debug)]
pub struct Begun {
    hash: u64,
    entry: u64,
}

/// The first rung: tells new keys from those seen before.
pub trait Seen {
    /// Whether two different keys are never taken for the same one. Only then may a search claim that it saw all.
    const LOSSLESS: bool;

    /// Inserts `key`; true when it was not there.
    fn is_new(&mut self, key: &[u8]) -> Result<bool, Full>;

    /// Looks without inserting.
    fn contains(&self, key: &[u8]) -> bool;

    /// Begins to look for `key`. Most of the time of a look-up is spent waiting for memory: whoever has several keys
    /// begins all of them before finishing the first, and waits for them together.
    fn begin(&self, _key: &[u8]) -> Begun {
        Begun::default()
    }

    /// Finishes what was begun for the same key; nothing may have been inserted since.
    fn finish(&self, key: &[u8], _begun: Begun) -> bool {
        self.contains(key)
    }

    /// The estimated probability that a new key was taken for an old one, for stores in which that can happen.
    fn omission(&self) -> Option<f64> {
        None
    }

    /// How many keys were found to be new.
    fn n_keys(&self) -> u64;

    /// Bytes of memory in use.
    fn memory(&self) -> u64;
}

/// The second rung: names keys.
pub trait Store: Seen {
    /// Inserts `key` or recognises it.
    fn visit(&mut self, key: &[u8]) -> Result<Visit, Full>;

    /// Looks without inserting.
    fn find(&self, key: &[u8]) -> Option<StateId>;
}

/// The third rung: gives keys back.
pub trait Recall: Store {
    /// Appends the key named `id` to `out`.
    fn load(&self, id: StateId, out: &mut Vec<u8>);
}
