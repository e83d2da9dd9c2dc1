//! Stores: bytes in, *new* or *seen* out.
//!
//! A ladder of capabilities, not of flags. [`Seen`] tells new keys from old ones; [`Recall`] also gives them
//! back by a name. A search asks for the rung that it needs, so an impossible pair of search and store does
//! not type-check. A store knows nothing of systems or searches.
//!
//! **Three strides.** Nearly all of the time of a look-up is spent waiting for memory. So a look-up has three
//! parts that a search makes for many keys at a time: [`Seen::hash`] computes all that can be computed and
//! asks for the memory where the key must be, [`Batched::probe`] looks there and asks for what is needed
//! next, [`Seen::insert`] finishes. What is prepared stays valid whatever is inserted meanwhile, growth
//! included.
//!
//! Methods that insert take `&mut self`: a concurrent store implements the traits on a [`Hand`] that each
//! worker has for itself, a sequential one on the store.

pub mod arena;
pub mod automaton;
pub mod bitstate;
pub mod budget;
pub mod cache;
mod climb;
pub mod collapse;
pub mod colours;
pub mod compact;
pub mod concurrent;
pub mod hash;
pub mod hash_compaction;
mod large_path;
pub mod learn;
pub mod meetings;
pub mod mix;
mod name;
#[cfg(not(x86_code))]
mod no_shuffle;
pub mod nodes;
pub mod numbered;
pub mod numbering;
pub mod order;
mod packing;
pub mod pages;
pub mod path;
mod quotient;
pub mod regraft;
pub mod roots;
mod scan64;
pub mod segment;
pub mod shared_collapse;
pub mod shared_numbers;
pub mod shared_table;
pub mod shared_tree;
mod shuffle;
#[cfg(x86_code)]
mod shuffle16;
#[cfg(x86_code)]
mod shuffle64;
mod small_path;
mod strings;
mod sync;
pub mod table;
pub mod tally;
#[cfg(test)]
mod test_random;
pub mod threads;
mod together;
pub mod tree;
pub mod union_find;
mod wide_roots;

pub use automaton::Automaton;
pub use bitstate::{Bitstate, SharedBitstate};
pub use cache::Cache;
pub use collapse::Collapse;
pub use concurrent::Hand;
pub use hash_compaction::{HashCompaction, SharedHashCompaction};
pub use name::Portable;
pub use numbered::Numbered;
pub use numbering::{Entry, KeyNumber, Numbering};
pub use shared_collapse::SharedCollapse;
pub use shared_table::SharedTable;
pub use shared_tree::SharedTree;
pub use table::Table;
pub use tree::{Roots, Tree};

/// The store cannot take another key within its memory (or has no names left).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

/// The first rung: tells new keys from those seen before.
pub trait Seen {
    /// Whether two different keys are never taken for the same one. Only then may a search claim that it saw
    /// all.
    const LOSSLESS: bool;

    /// What is known of a key once it has been hashed.
    type Ticket: Copy;

    /// What a key can be called back by ([`Recall`]); nothing for a store that cannot.
    type Name: Copy;

    /// The first stride: computes all that can be computed of a key, and asks for the memory where the key
    /// must be.
    fn hash(&mut self, key: &[u8]) -> Result<Self::Ticket, Full>;

    /// The last stride: inserts the key for which `ticket` was made. `None` when it was there already.
    fn insert(&mut self, key: &[u8], ticket: Self::Ticket) -> Result<Option<Self::Name>, Full>;

    /// Looks without inserting.
    fn contains(&self, key: &[u8], ticket: Self::Ticket) -> bool;

    /// Inserts a key at once; true when it is new.
    fn is_new(&mut self, key: &[u8]) -> Result<bool, Full> {
        let ticket = self.hash(key)?;
        Ok(self.insert(key, ticket)?.is_some())
    }

    /// Looks at once.
    fn knows(&mut self, key: &[u8]) -> Result<bool, Full> {
        let ticket = self.hash(key)?;
        Ok(self.contains(key, ticket))
    }

    /// The estimated probability that a new key was taken for an old one, for stores in which that can
    /// happen.
    fn omission(&self) -> Option<f64> {
        None
    }

    /// How many keys were found to be new.
    fn n_keys(&self) -> u64;

    /// Bytes of memory in use.
    fn memory(&self) -> u64;
}

/// The second rung: looks up many keys at a time. What a store does not say is done key by key.
pub trait Batched: Seen {
    /// Whether keys must be hashed, or at least planned, before another parent departs.
    const INCREMENTAL: bool = true;

    /// Says that the keys hashed next are successors of `key`. A store that keeps only differences profits.
    fn depart(&mut self, _key: &[u8]) {}

    /// The first stride for many keys; appends their tickets.
    fn hash_all<'k>(
        &mut self,
        keys: impl ExactSizeIterator<Item = &'k [u8]> + Clone,
        tickets: &mut Vec<Self::Ticket>,
    ) -> Result<(), Full> {
        let before = tickets.len();
        self.plan_all(keys.clone(), tickets)?;
        self.finish_all(|at| keys.clone().nth(at - before).unwrap_or_default(), tickets)
    }

    /// Begins the first stride for many keys and appends their tickets, which are good for nothing before
    /// [`Batched::finish_all`].
    fn plan_all<'k>(
        &mut self,
        keys: impl ExactSizeIterator<Item = &'k [u8]>,
        tickets: &mut Vec<Self::Ticket>,
    ) -> Result<(), Full> {
        for key in keys {
            tickets.push(self.hash(key)?);
        }
        Ok(())
    }

    /// Ends the first stride for all keys that were planned. `key` gives the key of a ticket once more.
    fn finish_all<'k>(
        &mut self,
        _key: impl Fn(usize) -> &'k [u8],
        _tickets: &mut [Self::Ticket],
    ) -> Result<(), Full> {
        Ok(())
    }

    /// The second stride: looks where a key must be, notes on the ticket what was seen, and asks for the
    /// memory needed next.
    fn probe(&self, _ticket: &mut Self::Ticket) {}

    /// The second stride for many keys.
    fn probe_all(&self, tickets: &mut [Self::Ticket]) {
        for ticket in tickets {
            self.probe(ticket);
        }
    }

    /// Asks for the memory of a key that was probed some time ago.
    fn prefetch(&self, _ticket: Self::Ticket) {}

    /// Whether what was seen when the key was probed looks as if it were there.
    fn seems_known(&self, _ticket: Self::Ticket) -> bool {
        false
    }

    /// The second and the last stride for many keys. Appends the place of each new key in the order given,
    /// and its name; stops where there is no room.
    fn insert_all<'k>(
        &mut self,
        keys: impl ExactSizeIterator<Item = &'k [u8]>,
        tickets: &mut [Self::Ticket],
        new: &mut Vec<(u32, Self::Name)>,
    ) -> Result<(), Full> {
        new.try_reserve(keys.len()).map_err(|_| Full)?;
        self.probe_all(tickets);
        for (at, (key, &mut ticket)) in keys.zip(tickets).enumerate() {
            if let Some(name) = self.insert(key, ticket)? {
                new.push((at as u32, name));
            }
        }
        Ok(())
    }
}

/// The third rung: gives keys back.
pub trait Recall: Batched<Name: Portable> {
    /// Appends the key called `name` to `out`. The keys hashed next are its successors, as after
    /// [`Batched::depart`].
    fn load(&mut self, name: Self::Name, out: &mut Vec<u8>);
}

/// Beside the rungs: what a depth-first search tells a store that may forget keys ([`Cache`]). The others
/// need not listen.
pub trait Evicting: Batched {
    /// The path goes through `key` now (once more).
    fn hold(&mut self, _key: &[u8]) {}

    /// The path no longer goes through `key` (once less), or never did: the store may forget it.
    fn leave(&mut self, _key: &[u8]) {}

    /// `edges` edges lead on from `key`, through which the path goes: the store may keep what leads further
    /// on.
    fn weigh(&mut self, _key: &[u8], _edges: usize) {}

    /// What was forgotten, for stores that do.
    fn forgotten(&self) -> Option<cache::Counts> {
        None
    }
}

/// Beside the rungs: keeps a note with every key, for depth-first searches.
pub trait Noted: Evicting {
    /// What a search notes; the default when a key is new.
    type Note;

    /// The note of a key, if it is there.
    fn note(&mut self, key: &[u8], ticket: Self::Ticket) -> Option<&mut Self::Note>;
}
