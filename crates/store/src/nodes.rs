//! The inner nodes of tree compression: pairs of 32-bit numbers, each pair kept once and named by a 32-bit number.
//!
//! Names are dense and never change, so that what refers to a node survives growth; the pairs lie in an array by name,
//! beside an index of open addressing over tag + name. Inner nodes are few compared with states (that is what
//! makes the tree pay), so the index may be generous.

use crate::Full;

/// Slots of a new index.
const FIRST_SLOTS: usize = 1 << 10;

/// The inner nodes of all trees.
#[derive(Debug)]
pub struct Nodes {
    pairs: Vec<u64>,
    /// Upper half: a part of the hash; lower half: name + 1, or 0 for an empty slot.
    slots: Vec<u64>,
    limit: u64,
}

/// Two halves as one word.
pub fn pair(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// The halves of a word.
pub fn halves(pair: u64) -> (u32, u32) {
    ((pair >> 32) as u32, pair as u32)
}

fn hash(pair: u64) -> u64 {
    let product = u128::from(pair ^ 0x8cb9_2ba7_2f3d_8dd7) * 0x9e37_79b9_7f4a_7c15;
    let folded = (product >> 64) as u64 ^ product as u64;
    folded.wrapping_mul(0xd1b5_4a32_d192_ed03)
}

impl Nodes {
    /// No nodes; more than `limit` bytes are never used.
    pub fn new(limit: u64) -> Self {
        Nodes { pairs: Vec::new(), slots: vec![0; FIRST_SLOTS], limit }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Bytes in use.
    pub fn memory(&self) -> u64 {
        (self.pairs.capacity() + self.slots.capacity()) as u64 * 8
    }

    /// The pair with this name.
    pub fn get(&self, name: u32) -> u64 {
        self.pairs[name as usize]
    }

    /// Its name, or the slot where it belongs.
    fn probe(&self, pair: u64, hash: u64) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut at = (hash >> 32) as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return Err(at);
            }
            let name = slot as u32 - 1;
            if (slot >> 32) as u32 == hash as u32 && self.pairs[name as usize] == pair {
                return Ok(name);
            }
            at = (at + 1) & mask;
        }
    }

    /// The name of a pair that is there.
    pub fn find(&self, pair: u64) -> Option<u32> {
        self.probe(pair, hash(pair)).ok()
    }

    /// The name of a pair, which is added if it is new.
    pub fn insert(&mut self, pair: u64) -> Result<u32, Full> {
        let hash = hash(pair);
        let mut at = match self.probe(pair, hash) {
            Ok(name) => return Ok(name),
            Err(at) => at,
        };
        if self.pairs.len() == self.pairs.capacity() {
            self.reserve()?;
        }
        if self.pairs.len() * 3 >= self.slots.len() * 2 {
            self.grow()?;
            at = self.probe(pair, hash).err().ok_or(Full)?;
        }
        let name = u32::try_from(self.pairs.len()).ok().filter(|&name| name < u32::MAX).ok_or(Full)?;
        self.pairs.push(pair);
        self.slots[at] = u64::from(hash as u32) << 32 | u64::from(name + 1);
        Ok(name)
    }

    fn reserve(&mut self) -> Result<(), Full> {
        let more = (self.pairs.len() / 2).max(512);
        // While it grows, old and new may exist together.
        if self.memory() + (self.pairs.len() + more) as u64 * 8 > self.limit {
            return Err(Full);
        }
        self.pairs.try_reserve_exact(more).map_err(|_| Full)
    }

    fn grow(&mut self) -> Result<(), Full> {
        let doubled = self.slots.len() * 2;
        if self.memory() + doubled as u64 * 8 > self.limit {
            return Err(Full);
        }
        let mut slots = Vec::new();
        slots.try_reserve_exact(doubled).map_err(|_| Full)?;
        slots.resize(doubled, 0);
        for (name, &pair) in self.pairs.iter().enumerate() {
            let hash = hash(pair);
            let mut at = (hash >> 32) as usize & (doubled - 1);
            while slots[at] != 0 {
                at = (at + 1) & (doubled - 1);
            }
            slots[at] = u64::from(hash as u32) << 32 | (name as u64 + 1);
        }
        self.slots = slots;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_dense_and_stay() {
        let mut nodes = Nodes::new(u64::MAX);
        let key = |i: u32| pair(i % 1000, i.wrapping_mul(2_654_435_761));
        for i in 0..50_000 {
            assert_eq!(nodes.insert(key(i)), Ok(i));
        }
        for i in 0..50_000 {
            assert_eq!(nodes.insert(key(i)), Ok(i));
            assert_eq!(nodes.find(key(i)), Some(i));
            assert_eq!(nodes.get(i), key(i));
            assert_eq!(halves(key(i)), (i % 1000, i.wrapping_mul(2_654_435_761)));
        }
        assert_eq!(nodes.find(pair(1, 1)), None);
        assert_eq!(nodes.len(), 50_000);
    }

    #[test]
    fn the_limit_is_kept() {
        let mut nodes = Nodes::new(100_000);
        let mut n = 0;
        while nodes.insert(pair(n, n)).is_ok() {
            n += 1;
            assert!(nodes.memory() <= 100_000);
        }
        assert!(n > 1000);
        assert!((0..n).all(|i| nodes.find(pair(i, i)) == Some(i)));
    }
}
