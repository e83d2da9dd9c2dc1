//! What stands for a shuffle ([`crate::shuffle`]) where there is no code for the processor: there is none,
//! and nobody can make one.

use std::sync::atomic::AtomicU64;

use crate::shuffle::{MOST_JOINS, Piece};

/// A shuffle that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoShuffle {}

impl NoShuffle {
    /// None.
    pub fn new(_places: &[u32], _kept: &[Piece]) -> Option<Self> {
        None
    }

    /// Never called.
    pub fn gather<T>(&self, _key: &[u8], _base: &[T], _value: &mut [T]) -> u64 {
        match *self {}
    }

    /// Never called.
    pub fn scatter<T>(&self, _slots: &[T], _out: &mut Vec<u8>) {
        match *self {}
    }

    /// Never called.
    pub fn collect<T>(&self, _groups: &[&[AtomicU64; 2]; MOST_JOINS], _slots: &mut [T], _out: &mut Vec<u8>) {
        match *self {}
    }

    /// Never called.
    pub fn memory(&self) -> usize {
        match *self {}
    }
}
