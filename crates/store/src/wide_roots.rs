//! Numbers of roots that are too wide for a [`crate::compact`] map: a hash map in parts with a lock each.
//!
//! Only roots of words get here, not of names, so keys of a few bytes ([`crate::roots`]). They take about
//! thirty bytes each, and workers lock a part of the map for every look-up: short keys are no case for trees.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Full;
use crate::budget::Budget;
use crate::compact::Crowded;

/// Parts of the map (a power of two).
const PARTS: usize = 16;
/// Keys for which a part has room at first.
const FIRST_ROOM: usize = 16;
/// Bytes of the map for each key that there is room for: an entry and its control byte, at a load of 7/8, in
/// a power of two.
const KEY_BYTES: usize = 2 * 17;

/// A map from roots to numbers.
#[derive(Debug)]
pub struct WideRoots(Vec<Mutex<Part>>);

#[derive(Debug, Default)]
struct Part {
    numbers: HashMap<u64, u32>,
    /// Keys for which memory is booked.
    room: usize,
}

impl Part {
    fn visit(&mut self, key: u64, number: u32) -> Result<(u32, bool), Crowded> {
        if let Some(&known) = self.numbers.get(&key) {
            return Ok((known, false));
        }
        if self.numbers.len() == self.room {
            return Err(Crowded);
        }
        self.numbers.insert(key, number);
        Ok((number, true))
    }
}

impl WideRoots {
    /// No roots.
    pub fn new() -> Self {
        WideRoots((0..PARTS).map(|_| Mutex::default()).collect())
    }

    fn part(&self, key: u64) -> MutexGuard<'_, Part> {
        let part = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60;
        self.0[part as usize % PARTS].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn parts(&self) -> impl Iterator<Item = MutexGuard<'_, Part>> {
        self.0.iter().map(|part| part.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// How many roots there are.
    pub fn len(&self) -> u64 {
        self.parts().map(|part| part.numbers.len() as u64).sum()
    }

    /// The number of a root that is there.
    pub fn get(&self, key: u64) -> Option<u32> {
        self.part(key).numbers.get(&key).copied()
    }

    /// The number of a root, which is `number` if the root is new; whether it is.
    pub fn visit(&self, key: u64, number: u32) -> Result<(u32, bool), Crowded> {
        self.part(key).visit(key, number)
    }

    /// How much room there is where a root belongs, which changes when and only when room is made there.
    pub fn room(&self, key: u64) -> u64 {
        self.part(key).room as u64
    }

    /// Makes room where a root belongs.
    pub fn make_room(&self, key: u64, budget: &mut Budget) -> Result<(), Full> {
        let part = &mut *self.part(key);
        let more = part.room.max(FIRST_ROOM);
        budget.take(more * KEY_BYTES)?;
        if part.numbers.try_reserve(part.room + more - part.numbers.len()).is_err() {
            budget.give(more * KEY_BYTES);
            return Err(Full);
        }
        part.room += more;
        Ok(())
    }

    /// Calls `each` for every root.
    pub fn for_each(&self, mut each: impl FnMut(u64)) {
        self.parts().for_each(|part| part.numbers.keys().for_each(|&key| each(key)));
    }

    /// Gives the memory back.
    pub fn release(self, budget: &mut Budget) {
        let room: usize = self.parts().map(|part| part.room).sum();
        budget.give(room * KEY_BYTES);
    }
}
