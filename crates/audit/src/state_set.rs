//! A set of states, each with a number: their bytes one after another, and an index with open addressing.
//! Small on purpose: it is part of what a proof rests on.

use system::portable::StableHash;

/// There is not enough memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

/// States in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub struct StateSet {
    bytes: Vec<u8>,
    /// Where each state ends.
    ends: Vec<u64>,
    /// One more than the number of a state, or 0; the length is a power of two.
    index: Vec<u32>,
}

impl StateSet {
    /// How many states there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The state with this number.
    pub fn state(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start as usize..self.ends[number] as usize]
    }

    /// The number of a state.
    pub fn find(&self, state: &[u8]) -> Option<usize> {
        let place = self.place(state)?;
        (self.index[place] as usize).checked_sub(1)
    }

    /// Adds a state, unless it is there.
    pub fn insert(&mut self, state: &[u8]) -> Result<(), Full> {
        if self.index.len() < 2 * (self.len() + 1) {
            self.grow()?;
        }
        let Some(place) = self.place(state) else { return Err(Full) };
        if self.index[place] != 0 {
            return Ok(());
        }
        let number = u32::try_from(self.len() + 1).map_err(|_| Full)?;
        self.bytes.try_reserve(state.len()).and_then(|()| self.ends.try_reserve(1)).map_err(|_| Full)?;
        self.bytes.extend_from_slice(state);
        self.ends.push(self.bytes.len() as u64);
        self.index[place] = number;
        Ok(())
    }

    /// Where the state is in the index, or would be.
    fn place(&self, state: &[u8]) -> Option<usize> {
        let mask = self.index.len().checked_sub(1)?;
        let mut place = StableHash::new(4).bytes(state).finish() as usize & mask;
        loop {
            match (self.index[place] as usize).checked_sub(1) {
                Some(other) if self.state(other) != state => place = (place + 1) & mask,
                _ => return Some(place),
            }
        }
    }

    fn grow(&mut self) -> Result<(), Full> {
        let size = (4 * (self.len() + 1)).next_power_of_two();
        let mut index = Vec::new();
        index.try_reserve_exact(size).map_err(|_| Full)?;
        index.resize(size, 0u32);
        self.index = index;
        for number in 0..self.len() {
            if let Some(place) = self.place(self.state(number)) {
                self.index[place] = number as u32 + 1;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_found_under_their_numbers() {
        let mut set = StateSet::default();
        assert!(set.is_empty() && set.find(b"").is_none());
        let state = |i: u32| i.to_le_bytes()[..(i % 5) as usize].to_vec();
        let mut known = Vec::new();
        for i in 0..5000 {
            let state = state(i * 77);
            set.insert(&state).unwrap();
            if !known.contains(&state) {
                known.push(state);
            }
        }
        assert_eq!(set.len(), known.len());
        for (number, state) in known.iter().enumerate() {
            assert_eq!((set.find(state), set.state(number)), (Some(number), &state[..]));
        }
        assert_eq!(set.find(b"unknown"), None);
    }
}
