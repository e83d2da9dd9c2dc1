//! Buckets: states at the ends of atomic sequences, by the level in which they are to be inserted.
//!
//! This is the array of buckets of R. Dial (Algorithm 360, CACM 1969): a state that is k steps away waits in
//! the k-th of them.

use crate::ancestry::Ordinal;
use std::collections::{TryReserveError, VecDeque};

/// States at the ends of atomic sequences, by the level in which they are to be inserted.
#[derive(Debug, Default)]
pub(crate) struct Buckets {
    /// The first is for the present level.
    buckets: VecDeque<Bucket>,
}

/// States that are to be inserted in one level: parent, edge, length and bytes of each.
#[derive(Debug, Default)]
pub(crate) struct Bucket {
    list: Vec<(Ordinal, u32, u32)>,
    bytes: Vec<u8>,
}

impl Bucket {
    pub fn iter(&self) -> impl Iterator<Item = (Ordinal, u32, &[u8])> {
        let mut start = 0;
        self.list.iter().map(move |&(parent, number, len)| {
            let state = &self.bytes[start..start + len as usize];
            start += len as usize;
            (parent, number, state)
        })
    }
}

impl Buckets {
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// Lets a state wait until `steps` buckets further on.
    pub fn push(
        &mut self,
        steps: u32,
        parent: Ordinal,
        number: u32,
        state: &[u8],
    ) -> Result<(), TryReserveError> {
        // The present level's has been taken out: the first waits for the next level.
        let at = steps as usize - 1;
        if self.buckets.len() <= at {
            self.buckets.resize_with(at + 1, Bucket::default);
        }
        let bucket = &mut self.buckets[at];
        bucket.list.try_reserve(1)?;
        bucket.bytes.try_reserve(state.len())?;
        bucket.list.push((parent, number, state.len() as u32));
        bucket.bytes.extend_from_slice(state);
        Ok(())
    }

    /// Those who waited for the level that begins now.
    pub fn next_level(&mut self) -> Bucket {
        self.buckets.pop_front().unwrap_or_default()
    }

    pub fn memory(&self) -> u64 {
        self.buckets.iter().map(|bucket| (bucket.list.capacity() * 16 + bucket.bytes.capacity()) as u64).sum()
    }
}
