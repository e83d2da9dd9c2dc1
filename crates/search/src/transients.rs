//! The transient states of one atomic run, numbered in the order in which they were met.
//!
//! Most runs have a handful: those are compared one after another, which is quicker than hashing. The others
//! go to a [`Numbered`] set, and their look-ups can be prepared together.

use store::Full;
use store::numbered::{Number, Numbered, Visit};

/// Up to this number they are compared one after another.
const FEW: usize = 6;

/// Numbered states.
#[derive(Debug, Default)]
pub struct Transients {
    few: Vec<u8>,
    /// Where each of the few ends.
    ends: Vec<usize>,
    many: Numbered,
}

impl Transients {
    /// Forgets all states.
    pub fn clear(&mut self) {
        if self.ends.len() == FEW {
            self.many.clear();
        }
        self.few.clear();
        self.ends.clear();
    }

    fn few(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.few[start..self.ends[at]]
    }

    /// The state with this number.
    pub fn state(&self, number: u32) -> &[u8] {
        match (number as usize).checked_sub(FEW) {
            Some(at) => self.many.key(Number(at as u32)),
            None => self.few(number as usize),
        }
    }

    /// Prepares looking up a state, if that is worth while now.
    pub fn prepare(&self, state: &[u8]) -> Option<u64> {
        (self.ends.len() == FEW).then(|| self.many.hash(state))
    }

    /// The number of a state that was met before; otherwise it gets the next number, and the answer is
    /// `None`.
    pub fn visit(&mut self, state: &[u8], prepared: Option<u64>) -> Result<Option<u32>, Full> {
        if let Some(known) = (0..self.ends.len()).find(|&at| self.few(at) == state) {
            return Ok(Some(known as u32));
        }
        if self.ends.len() < FEW {
            self.few.extend_from_slice(state);
            self.ends.push(self.few.len());
            return Ok(None);
        }
        let prepared = prepared.unwrap_or_else(|| self.many.hash(state));
        Ok(match self.many.visit_prepared(state, prepared)? {
            Visit::New(_) => None,
            Visit::Seen(number) => Some(number.0 + FEW as u32),
        })
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> u64 {
        self.many.memory() + self.few.capacity() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::collections::HashMap;

    #[test]
    fn numbers_are_those_of_a_plain_map() {
        let mut random = Random::new(9);
        let mut transients = Transients::default();
        for _ in 0..300 {
            let mut model: HashMap<Vec<u8>, u32> = HashMap::new();
            for _ in 0..random.below(60) {
                let state = vec![random.below(7) as u8; random.below(6)];
                let prepared = (random.below(2) == 0).then(|| transients.prepare(&state)).flatten();
                let known = model.get(&state).copied();
                assert_eq!(transients.visit(&state, prepared), Ok(known));
                let next = model.len() as u32;
                let number = *model.entry(state.clone()).or_insert(next);
                assert_eq!(transients.state(number), state);
            }
            transients.clear();
        }
    }
}
