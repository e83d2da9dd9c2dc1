//! Tree compression (Blom, Lisser, van de Pol, Weber 2009; Laarman, van de Pol, Weber 2011).
//!
//! A key is cut into words of 32 bits. Neighbouring words are paired, each pair is replaced by the name of an inner node
//! ([`Nodes`]), the names are paired again, and so on until two numbers are left: the *root*. States that differ in
//! one word share all nodes but those on one path, so a state costs little more than its root. Roots are kept in a
//! [`Compact`] set: whole (64 bits, `tree`) or quotiented to the bits that names really need (`cleary`).
//!
//! **Incremental.** One key after another differs little in a search. The tree of the key before is remembered, and
//! only pairs with a changed half are looked up again.
//!
//! Keys of different lengths have different trees: each length has its own set of roots, all share the inner nodes.

use crate::compact::Compact;
use crate::nodes::{Nodes, pair};
use crate::{Full, Seen};

/// Bits with which the names of a compact root start.
const FIRST_NAME_BITS: u32 = 16;

/// How roots are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roots {
    /// As 64-bit words.
    Whole,
    /// Quotiented: entries of 10 to 32 bits, more only while there are few.
    Cleary,
}

/// An exact set of byte strings.
#[derive(Debug)]
pub struct Tree {
    kind: Roots,
    nodes: Nodes,
    /// Indexed by the length of the keys in bytes.
    families: Vec<Option<Box<Family>>>,
    limit: u64,
    len: u64,
    root_memory: u64,
}

/// All keys of one length.
#[derive(Debug)]
struct Family {
    roots: Compact,
    /// Bits of the left and the right half of a root.
    bits: (u32, u32),
    /// The tree of the key before: words, then the names of each level, down to the root's two halves.
    last: Vec<u32>,
    /// Where the tree of the present key is built.
    present: Vec<u32>,
    levels: Vec<Level>,
}

/// One level of a tree: where it begins, and of how many numbers it consists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Level {
    start: usize,
    len: usize,
}

/// The levels of a tree over so many words. A number without a neighbour goes up as it is.
fn levels(words: usize) -> Vec<Level> {
    let mut levels = vec![Level { start: 0, len: words }];
    while let Some(&Level { start, len }) = levels.last().filter(|level| level.len > 2) {
        levels.push(Level { start: start + len, len: len.div_ceil(2) });
    }
    levels
}

impl Family {
    fn new(kind: Roots, len: usize, limit: u64) -> Self {
        let levels = levels(len.div_ceil(4).max(1));
        let size = levels.last().map_or(0, |level| level.start + level.len);
        let bits = match kind {
            Roots::Whole => (32, 32),
            Roots::Cleary => (FIRST_NAME_BITS, FIRST_NAME_BITS),
        };
        let roots = Compact::new(bits.0 + bits.1, 0, limit);
        Family { roots, bits, last: Vec::with_capacity(size), present: vec![0; size], levels }
    }

    fn memory(&self) -> u64 {
        self.roots.memory() + (self.last.capacity() + self.present.capacity()) as u64 * 4
    }

    /// The root's halves, once the tree has been built.
    fn root(&self, tree: &[u32]) -> (u32, u32) {
        match self.levels.last() {
            Some(&Level { start, len: 2 }) => (tree[start], tree[start + 1]),
            Some(&Level { start, .. }) => (0, tree[start]),
            None => (0, 0),
        }
    }

    /// The root as one number, if its halves fit.
    fn root_key(&self, (left, right): (u32, u32)) -> Option<u64> {
        let fits = |half: u32, bits: u32| bits >= 32 || half >> bits == 0;
        let fit = fits(left, self.bits.0) && fits(right, self.bits.1);
        fit.then_some(u64::from(left) << self.bits.1 | u64::from(right))
    }

    /// Inserts a root; wider halves make room first.
    fn insert(&mut self, root: (u32, u32)) -> Result<bool, Full> {
        let key = match self.root_key(root) {
            Some(key) => key,
            None => self.widen(root)?,
        };
        Ok(self.roots.insert(key)?.1)
    }

    /// Gives the half that does not fit two bits more than it needs now.
    fn widen(&mut self, root: (u32, u32)) -> Result<u64, Full> {
        let wider = |half: u32, bits: u32| match 32 - half.leading_zeros() {
            needed if needed > bits => (needed + 2).min(32),
            _ => bits,
        };
        let bits = (wider(root.0, self.bits.0), wider(root.1, self.bits.1));
        let old_right = self.bits.1;
        let roots = std::mem::replace(&mut self.roots, Compact::new(0, 0, 0));
        self.roots = roots.rekeyed(bits.0 + bits.1, |key| {
            let right = key & ((1 << old_right) - 1);
            (key >> old_right) << bits.1 | right
        })?;
        self.bits = bits;
        self.root_key(root).ok_or(Full)
    }
}

/// Cuts a key into words, the last one filled up with zeros.
fn cut(key: &[u8], words: &mut [u32]) {
    let chunks = key.chunks_exact(4);
    if let Some(last) = words.get_mut(key.len() / 4) {
        let mut bytes = [0; 4];
        bytes[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
        *last = u32::from_le_bytes(bytes);
    }
    for (word, chunk) in words.iter_mut().zip(chunks) {
        *word = u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
    }
}

/// Builds the levels above the words of `tree`; `name` gives the name of a pair. What is as in `last` is copied.
fn build<E>(
    levels: &[Level],
    tree: &mut [u32],
    last: &[u32],
    mut name: impl FnMut(u64) -> Result<u32, E>,
) -> Result<(), E> {
    let known = last.len() == tree.len();
    for step in levels.windows(2) {
        let (from, to) = (step[0], step[1]);
        for i in 0..to.len {
            let left = from.start + 2 * i;
            tree[to.start + i] = if 2 * i + 1 == from.len {
                tree[left]
            } else if known && tree[left] == last[left] && tree[left + 1] == last[left + 1] {
                last[to.start + i]
            } else {
                name(pair(tree[left], tree[left + 1]))?
            };
        }
    }
    Ok(())
}

impl Tree {
    /// An empty set that answers [`Full`] rather than use more than `limit` bytes.
    pub fn new(kind: Roots, limit: u64) -> Self {
        Tree { kind, nodes: Nodes::new(limit), families: Vec::new(), limit, len: 0, root_memory: 0 }
    }

    /// How many inner nodes there are.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    fn family(&mut self, len: usize) -> Result<&mut Family, Full> {
        if self.families.len() <= len {
            self.families.resize_with(len + 1, || None);
        }
        let left = self.limit.saturating_sub(self.root_memory + self.nodes.memory());
        let slot = &mut self.families[len];
        if slot.is_none() {
            let family = Box::new(Family::new(self.kind, len, self.limit));
            if family.memory() > left {
                return Err(Full);
            }
            self.root_memory += family.memory();
            *slot = Some(family);
        }
        slot.as_deref_mut().ok_or(Full)
    }
}

impl Seen for Tree {
    const LOSSLESS: bool = true;

    type Ticket = ();
    type Name = ();

    fn prepare(&mut self, _key: &[u8]) -> Result<(), Full> {
        Ok(())
    }

    fn insert(&mut self, key: &[u8], (): ()) -> Result<Option<()>, Full> {
        self.family(key.len())?;
        let Tree { nodes, families, root_memory, limit, .. } = self;
        let family = families.get_mut(key.len()).and_then(Option::as_deref_mut).ok_or(Full)?;
        cut(key, &mut family.present[..family.levels[0].len]);
        build(&family.levels, &mut family.present, &family.last, |pair| nodes.insert(pair))?;
        let root = family.root(&family.present);
        let before = family.memory();
        let others = *root_memory - before + nodes.memory();
        family.roots.set_limit(limit.saturating_sub(others));
        let result = family.insert(root);
        family.last.clone_from(&family.present);
        *root_memory = *root_memory + family.memory() - before;
        let new = result?;
        self.len += u64::from(new);
        Ok(new.then_some(()))
    }

    fn contains(&self, key: &[u8], (): ()) -> bool {
        let Some(family) = self.families.get(key.len()).and_then(Option::as_deref) else { return false };
        let mut tree = family.present.clone();
        cut(key, &mut tree[..family.levels[0].len]);
        let name = |pair| self.nodes.find(pair).ok_or(());
        if build(&family.levels, &mut tree, &family.last, name).is_err() {
            return false;
        }
        family.root_key(family.root(&tree)).is_some_and(|key| family.roots.find(key).is_some())
    }

    fn n_keys(&self) -> u64 {
        self.len
    }

    fn memory(&self) -> u64 {
        self.nodes.memory() + self.root_memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Random walks over byte strings that change a few bytes at a time, some with a change of length, compared with a
    /// set of the standard library.
    fn shadow(kind: Roots, steps: usize, longest: usize, seed: u64) {
        let mut seed = seed;
        let mut below = |n: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed >> 11) as usize % n
        };
        let mut tree = Tree::new(kind, u64::MAX);
        let mut model = HashSet::new();
        let mut key = vec![0u8; longest / 2];
        for _ in 0..steps {
            match below(20) {
                0 => key.resize(below(longest + 1), 1),
                1 => key.iter_mut().for_each(|byte| *byte = 0),
                _ if key.is_empty() => {}
                _ => {
                    let at = below(key.len());
                    key[at] = below(3) as u8;
                }
            }
            assert_eq!(tree.knows(&key), Ok(model.contains(&key)));
            assert_eq!(tree.is_new(&key), Ok(model.insert(key.clone())));
            assert_eq!(tree.n_keys(), model.len() as u64);
        }
        assert!(model.iter().all(|key| tree.knows(key) == Ok(true)));
    }

    #[test]
    fn agrees_with_the_standard_library() {
        for kind in [Roots::Whole, Roots::Cleary] {
            for (i, longest) in [0, 1, 3, 4, 5, 8, 9, 13, 40, 77, 200].into_iter().enumerate() {
                shadow(kind, 12_000, longest, 7 + i as u64);
            }
        }
    }

    #[test]
    fn trailing_zeros_are_part_of_a_key() {
        let mut tree = Tree::new(Roots::Cleary, u64::MAX);
        for len in 0..9 {
            assert_eq!(tree.is_new(&vec![0; len]), Ok(true));
            assert_eq!(tree.is_new(&vec![0; len]), Ok(false));
        }
    }

    #[test]
    fn neighbours_cost_little() {
        for (kind, most) in [(Roots::Whole, 14.0), (Roots::Cleary, 7.0)] {
            let mut tree = Tree::new(kind, u64::MAX);
            for i in 0..1_000_000u32 {
                let mut key = [7u8; 64];
                (0..5).for_each(|digit| key[digit * 13] = (i / 16u32.pow(digit as u32) % 16) as u8);
                tree.is_new(&key).unwrap();
            }
            let bytes = tree.memory() as f64 / tree.n_keys() as f64;
            assert!(bytes < most, "{kind:?}: {bytes} bytes a state, {} nodes", tree.n_nodes());
        }
    }

    #[test]
    fn the_limit_is_kept_and_nothing_is_lost() {
        for kind in [Roots::Whole, Roots::Cleary] {
            let limit = 2_000_000;
            let mut tree = Tree::new(kind, limit);
            let key =
                |i: u32| [i.to_le_bytes(), (i * 7).to_le_bytes(), [1; 4], (i % 50).to_le_bytes()].concat();
            let mut n = 0;
            while tree.is_new(&key(n)).is_ok() {
                n += 1;
                assert!(tree.memory() <= limit);
            }
            assert!(n > 10_000, "{n}");
            assert_eq!(tree.n_keys(), u64::from(n));
        }
    }
}
