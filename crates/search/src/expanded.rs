//! Which states may have been expanded: a filter that errs on one side only.
//!
//! A reduced state needs a successor that is expanded after it. A store tells new states from known ones, but a known state may
//! still wait in the queue, and in a search by levels most do. So the states that were taken from the queue are noted as bits
//! of a hash (Bloom's filter with one hash function): what is not noted has surely not been expanded. What is noted by
//! chance costs some reduction and nothing else.
//!
//! The filter grows by adding a larger part when the last one is full, so nothing need be kept of a state but its bit.

use std::collections::TryReserveError;

/// Bits for each state.
const BITS: u64 = 16;
/// States in the first part.
const FIRST: u64 = 1 << 10;

/// Which states may have been expanded.
#[derive(Debug, Default)]
pub(crate) struct Expanded {
    /// Each twice as large as the one before; lengths are powers of two.
    parts: Vec<Vec<u64>>,
    /// States in the last part, and how many it can take.
    noted: u64,
    room: u64,
}

impl Expanded {
    /// Notes the state with this hash.
    #[inline]
    pub fn note(&mut self, hash: u64) -> Result<(), TryReserveError> {
        if self.noted == self.room {
            self.grow()?;
        }
        self.noted += 1;
        if let Some(part) = self.parts.last_mut() {
            let (word, bit) = place(part.len(), hash);
            part[word] |= bit;
        }
        Ok(())
    }

    #[cold]
    fn grow(&mut self) -> Result<(), TryReserveError> {
        let room = if self.room == 0 { FIRST } else { 2 * self.room };
        let words = (room * BITS / 64) as usize;
        let mut part = Vec::new();
        part.try_reserve_exact(words)?;
        part.resize(words, 0);
        self.parts.try_reserve(1)?;
        self.parts.push(part);
        (self.room, self.noted) = (room, 0);
        Ok(())
    }

    /// Whether the state with this hash may have been expanded; a *no* is sure.
    pub fn may_hold(&self, hash: u64) -> bool {
        self.parts.iter().any(|part| {
            let (word, bit) = place(part.len(), hash);
            part[word] & bit != 0
        })
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> u64 {
        self.parts.iter().map(|part| part.capacity() as u64 * 8).sum()
    }
}

/// The word and the bit of a hash in a part of so many words.
fn place(words: usize, hash: u64) -> (usize, u64) {
    ((hash >> 8) as usize & (words - 1), 1 << (hash & 63))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_is_found_and_most_others_are_not() {
        let mut expanded = Expanded::default();
        assert!(!expanded.may_hold(7));
        let hash = |n: u64| store::hash::hash(&n.to_le_bytes());
        for n in 0..50_000 {
            expanded.note(hash(n)).unwrap();
        }
        assert!((0..50_000).all(|n| expanded.may_hold(hash(n))));
        let wrong = (50_000..60_000).filter(|&n| expanded.may_hold(hash(n))).count();
        assert!(wrong < 3_500, "{wrong} of 10,000");
        assert!(expanded.memory() < 50_000 * 8);
    }
}
