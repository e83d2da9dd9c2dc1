//! How often keys were met that are no longer kept: one small counter for many keys.
//!
//! A cache that forgets a key must not forget that the key was worth keeping, or it makes the same mistake
//! again; caches of the web remember the same way how often something was asked for (Einziger, Friedman and
//! Manes, *TinyLFU*, 2017). Keys that fall on the same counter share it, so a number may be too large.
//! Nothing but the choice of what to forget may depend on it.

/// Counters for each key that the cache keeps.
const COUNTERS: u64 = 32;
/// The least and the largest number of counters, as powers of two; each is a byte.
const LOG_LEAST: u32 = 12;
const LOG_MOST: u32 = 26;

/// Remembers how often keys were met.
#[derive(Debug)]
pub struct Meetings {
    /// As a power of two.
    log_size: u32,
    /// Empty until something is to be remembered.
    counters: Vec<u8>,
}

impl Meetings {
    /// For a cache that keeps `kept` keys.
    pub fn new(kept: u64) -> Self {
        let log_size = kept.saturating_mul(COUNTERS).max(1).ilog2().clamp(LOG_LEAST, LOG_MOST);
        Meetings { log_size, counters: Vec::new() }
    }

    fn place(&self, hash: u64) -> usize {
        (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - self.log_size)) as usize
    }

    /// How often a key was met that was forgotten, by its hash; 0 if it never was here.
    pub fn recall(&self, hash: u64) -> u8 {
        self.counters.get(self.place(hash)).copied().unwrap_or(0)
    }

    /// A key is forgotten that was met so often.
    pub fn prefetch(&mut self, hash: u64, met: u8) {
        if self.counters.is_empty() {
            self.counters = vec![0; 1 << self.log_size];
        }
        let place = self.place(hash);
        self.counters[place] = self.counters[place].max(met);
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> u64 {
        self.counters.capacity() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash;

    #[test]
    fn remembers_the_most() {
        let mut meetings = Meetings::new(100);
        assert_eq!((meetings.recall(7), meetings.memory()), (0, 0));
        meetings.prefetch(7, 3);
        meetings.prefetch(7, 2);
        assert_eq!(meetings.recall(7), 3);
        assert_eq!(meetings.memory(), 4096);
    }

    #[test]
    fn few_keys_share_a_counter() {
        let mut meetings = Meetings::new(1000);
        (0..1000_u32).for_each(|n| meetings.prefetch(hash(&n.to_le_bytes()), 1));
        let known = (1000..11_000_u32).filter(|n| meetings.recall(hash(&n.to_le_bytes())) > 0).count();
        assert!(known < 1000, "{known} of 10,000");
    }
}
