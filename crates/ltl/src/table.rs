//! Tables of small numbers: decision diagrams and formulas spend their time looking things up.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A quick hash for small keys of numbers, multiplied and folded.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Quick(u64);

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u32(u32::from(*b)));
    }

    fn write_u32(&mut self, number: u32) {
        let product = u128::from(self.0 ^ u64::from(number) ^ 0x9e37_79b9_7f4a_7c15) * 0xd1b5_4a32_d192_ed03;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A table with that hash.
pub(crate) type Table<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;
