//! Byte strings numbered in order of insertion, as [`crate::Numbered`], kept as trees (Laarman, van de Pol & Weber 2011): for
//! searches that keep something beside every state and have little memory.
//!
//! A key is cut into words of 32 bits. Four words are joined and replaced by the name of a node, the names are joined again, and so on
//! until one is left: the name of the root, which is one more node here and so has a dense name by itself. Keys that differ in one
//! word share all nodes but those on one path. (The tree of [`crate::tree`] keeps its roots in a set without order, which saves memory, but
//! nothing can be kept beside them.) Keys of one length are a family with nodes of their own; a vector translates the
//! names of its roots to the numbers that all families share.

use std::collections::HashMap;

use crate::Full;
use crate::budget::Budget;
use crate::nodes::{Group, Nodes, hash};
use crate::numbered::{Number, Visit};

/// Numbers that are joined.
const JOINED: usize = 4;

/// An exact set of byte strings that numbers them.
#[derive(Debug)]
pub struct NumberedTree {
    families: HashMap<usize, Family>,
    n: u32,
    /// The most keys.
    most: u32,
    budget: Budget,
    /// Names of one level, while a key is folded.
    names: Vec<u32>,
}

/// The keys of one length.
#[derive(Debug, Default)]
struct Family {
    /// By level and place.
    joins: Vec<Vec<Nodes>>,
    /// By the name of a root: its number.
    numbers: Vec<u32>,
}

impl Family {
    fn new(len: usize, budget: &mut Budget) -> Result<Self, Full> {
        let mut family = Family::default();
        let mut n = len.div_ceil(size_of::<u32>());
        loop {
            n = n.div_ceil(JOINED).max(1);
            let level = (0..n).map(|_| Nodes::new(budget)).collect::<Result<_, Full>>()?;
            family.joins.push(level);
            if n == 1 {
                return Ok(family);
            }
        }
    }
}

impl NumberedTree {
    /// An empty set that answers [`Full`] rather than use more than `limit` bytes.
    pub fn new(limit: u64) -> Self {
        NumberedTree {
            families: HashMap::new(),
            n: 0,
            most: u32::MAX,
            budget: Budget::new(limit),
            names: Vec::new(),
        }
    }

    /// How many keys there are.
    pub fn n_keys(&self) -> u64 {
        u64::from(self.n)
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> u64 {
        let numbers = self.families.values().map(|family| family.numbers.capacity() as u64 * 4);
        self.budget.used() + numbers.sum::<u64>()
    }

    /// Looks without inserting.
    pub fn find(&self, key: &[u8]) -> Option<Number> {
        let family = self.families.get(&key.len())?;
        let mut names = words(key).collect::<Vec<u32>>();
        for level in &family.joins {
            for (at, nodes) in level.iter().enumerate() {
                names[at] = nodes.find(group(&names, at))?;
            }
            names.truncate(level.len());
        }
        family.numbers.get(names[0] as usize).copied().map(Number)
    }

    /// Inserts a key or recognises it.
    pub fn visit(&mut self, key: &[u8]) -> Result<Visit, Full> {
        let NumberedTree { families, n, most, budget, names } = self;
        let family = match families.get_mut(&key.len()) {
            Some(family) => family,
            None => families.entry(key.len()).or_insert(Family::new(key.len(), budget)?),
        };
        if n == most {
            return Err(Full);
        }
        // What keeps numbers grows like any vector: it must be possible before a root is added.
        family.numbers.try_reserve(1).map_err(|_| Full)?;
        names.clear();
        names.extend(words(key));
        for level in &mut family.joins {
            for (at, nodes) in level.iter_mut().enumerate() {
                let group = group(names, at);
                let name = nodes.insert(group, hash(group), budget)?;
                names[at] = name;
            }
            names.truncate(level.len());
        }
        match family.numbers.get(names[0] as usize) {
            Some(&number) => Ok(Visit::Seen(Number(number))),
            None => {
                family.numbers.push(*n);
                *n += 1;
                Ok(Visit::New(Number(*n - 1)))
            }
        }
    }
}

/// The words of a key, one at least; the last is filled up.
fn words(key: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
    let none = if key.is_empty() { Some(0) } else { None };
    key.chunks(size_of::<u32>()).map(word).chain(none)
}

/// The names that a node joins. (The names before that place are already those of the next level.)
fn group(names: &[u32], at: usize) -> Group {
    let name = |i: usize| u64::from(names.get(at * JOINED + i).copied().unwrap_or(0));
    [name(0) | name(1) << 32, name(2) | name(3) << 32]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Numbered;

    /// Random keys of several lengths, most of which differ little from others.
    fn keys(n: usize) -> Vec<Vec<u8>> {
        let mut state = 77u64;
        let mut below = |bound: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 20) % bound
        };
        let lengths = [0, 1, 3, 4, 5, 16, 17, 63, 64, 65, 300];
        let length = |at: u64| lengths[at as usize % lengths.len()];
        (0..n)
            .map(|_| {
                let mut key = vec![0; length(below(11))];
                for _ in 0..below(6) {
                    let at = below(key.len().max(1) as u64) as usize;
                    key.iter_mut().skip(at).take(1).for_each(|byte| *byte = below(9) as u8);
                }
                key
            })
            .collect()
    }

    #[test]
    fn numbers_are_those_of_a_plain_set() {
        let (mut tree, mut plain) = (NumberedTree::new(u64::MAX), Numbered::default());
        for key in keys(20_000) {
            assert_eq!(tree.find(&key), plain.find(&key));
            assert_eq!(tree.visit(&key), plain.visit(&key));
            assert_eq!(tree.find(&key), plain.find(&key));
            assert_eq!(tree.n_keys(), plain.n_keys());
        }
        assert!(tree.n_keys() > 3_000, "{}", tree.n_keys());
    }

    #[test]
    fn what_does_not_fit_is_refused_and_the_rest_stays() {
        let mut tree = NumberedTree::new(60_000);
        let key = |i: u32| i.wrapping_mul(0x9e37_79b9).to_le_bytes().repeat(8);
        let known = (0..).take_while(|&i| tree.visit(&key(i)).is_ok()).count() as u32;
        assert!(known > 100, "{known}");
        assert!((0..known).all(|i| tree.find(&key(i)) == Some(Number(i))));
        assert!(tree.budget.used() <= 60_000);
    }

    #[test]
    fn numbers_reach_no_farther() {
        let mut tree = NumberedTree { most: 70, ..NumberedTree::new(u64::MAX) };
        let key = |i: u32| i.to_le_bytes().repeat(3);
        assert_eq!((0..).take_while(|&i| tree.visit(&key(i)).is_ok()).count(), 70);
        assert!((0..70).all(|i| tree.find(&key(i)) == Some(Number(i))));
    }

    #[test]
    fn long_keys_that_share_most_take_little() {
        let (mut tree, mut plain) = (NumberedTree::new(u64::MAX), Numbered::default());
        for i in 0..40_000u32 {
            let mut key = vec![7; 200];
            key[40..42].copy_from_slice(&((i % 200) as u16).to_le_bytes());
            key[120..122].copy_from_slice(&((i / 200) as u16).to_le_bytes());
            assert_eq!(tree.visit(&key), plain.visit(&key));
        }
        assert!(tree.memory() * 4 < plain.memory(), "{} {}", tree.memory(), plain.memory());
    }
}
