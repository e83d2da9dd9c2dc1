//! Random keys for the tests of stores.

/// A small generator, so that the operation sequences are the same on every run.
pub(crate) struct Random(pub u64);

impl Random {
    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % bound
    }

    /// A key of up to `len` bytes from a small alphabet, so that repetitions are frequent.
    pub fn key(&mut self, len: u64, alphabet: u64) -> Vec<u8> {
        (0..self.below(len + 1)).map(|_| self.below(alphabet) as u8).collect()
    }
}
