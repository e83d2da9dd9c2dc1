//! Stores: bytes in, *new* or *seen* out.
//!
//! A ladder of capabilities, not of flags. [`Seen`] tells new keys from old ones; [`Store`] also names them;
//! [`Recall`] also gives them back. A search asks for the rung that it needs, so an impossible pair of search and
//! store does not type-check. A store knows nothing of systems or searches.
//!
//! Methods that insert take `&mut self`: a concurrent store implements the traits on a handle that each worker
//! has for itself, a sequential one on the store.

pub mod hash;
pub mod table;

pub use table::Table;

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

/// The first rung: tells new keys from those seen before.
pub trait Seen {
    /// Whether two different keys are never taken for the same one. Only then may a search claim that it saw all.
    const LOSSLESS: bool;

    /// Inserts `key`; true when it was not there.
    fn is_new(&mut self, key: &[u8]) -> Result<bool, Full>;

    /// Looks without inserting.
    fn contains(&self, key: &[u8]) -> bool;

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
