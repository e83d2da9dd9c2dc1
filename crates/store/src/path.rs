//! Where a worker stands in a tree: one key with the names of all nodes of its tree.
//!
//! The key of a successor differs from its parent's in a few bytes. Its root is found from the parent's path by looking up
//! only the nodes above what changed, and the path is as before afterwards. Unfolding a root goes the other way, from
//! the top down, and leaves out every subtree that is the same as on the path.
//!
//! A path belongs to one worker; orders and nodes are shared.

use crate::Full;
use crate::budget::Budget;
use crate::nodes::{Nodes, halves, pair};
use crate::order::{NONE, Order};

/// A key and its tree.
#[derive(Debug)]
pub struct Path {
    key: Vec<u8>,
    /// The values of all vertices: words, then names of nodes.
    values: Vec<u32>,
    /// Joins whose nodes must be looked up, as a set of bits; the root's is the last.
    dirty: Vec<u64>,
    /// What the values of changed vertices were.
    undo: Vec<(u32, u32)>,
    /// Vertices still to be unfolded.
    unfold: Vec<(u32, u32)>,
    /// Whether `values` are those of `key`.
    valid: bool,
}

impl Path {
    /// A path that stands nowhere.
    pub fn new(order: &Order) -> Self {
        Path {
            key: vec![0; order.len()],
            values: vec![0; order.n_leaves() + order.n_inner()],
            dirty: vec![0; order.n_inner() / 64 + 1],
            undo: Vec::new(),
            unfold: Vec::new(),
            valid: false,
        }
    }

    /// How many bytes a path of this order uses at most.
    pub fn memory(order: &Order) -> usize {
        let vertices = order.n_leaves() + order.n_inner();
        let scratch = 16 * (order.len() + vertices);
        order.len() + 4 * vertices + 8 * (order.n_inner() / 64 + 1) + scratch
    }

    /// The key where the path stands.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    fn root(&self, order: &Order) -> (u32, u32) {
        let root = order.root();
        let left = if root.left == root.right { 0 } else { self.values[root.left as usize] };
        (left, self.values[root.right as usize])
    }

    /// Changes a leaf and marks the join above it.
    #[inline]
    fn change(&mut self, order: &Order, leaf: usize, difference: u32) {
        self.undo.push((leaf as u32, self.values[leaf]));
        self.values[leaf] ^= difference;
        mark(&mut self.dirty, order.above(leaf));
    }

    /// Changes all leaves that are different for `key`.
    #[inline]
    fn compare(&mut self, order: &Order, key: &[u8]) {
        let whole = key.len() & !7;
        for start in (0..whole).step_by(8) {
            let difference = word_at(&self.key, start) ^ word_at(key, start);
            if difference != 0 {
                self.differ(order, start, difference);
            }
        }
        if whole < key.len() {
            let difference = tail(&self.key) ^ tail(key);
            self.differ(order, whole, difference);
        }
    }

    /// Changes the leaves of the bytes from `start` that are different.
    #[inline]
    fn differ(&mut self, order: &Order, start: usize, mut difference: u64) {
        while difference != 0 {
            let byte = difference.trailing_zeros() & !7;
            let (leaf, place) = order.place(start + byte as usize / 8);
            self.change(order, leaf, ((difference >> byte) as u8 as u32) << (8 * place));
            difference &= !(0xff << byte);
        }
    }

    /// Looks up all marked nodes from the leaves upwards; `name` gives the name of a pair at a join.
    #[inline]
    fn climb<E>(
        &mut self,
        order: &Order,
        mut name: impl FnMut(usize, u64) -> Result<u32, E>,
    ) -> Result<(), E> {
        let inner = order.n_inner();
        for group in 0..self.dirty.len() {
            while self.dirty[group] != 0 {
                let number = 64 * group + self.dirty[group].trailing_zeros() as usize;
                self.dirty[group] &= self.dirty[group] - 1;
                if number == inner {
                    return Ok(());
                }
                let join = order.join(number);
                let pair = pair(self.values[join.left as usize], self.values[join.right as usize]);
                let vertex = order.n_leaves() + number;
                self.undo.push((vertex as u32, self.values[vertex]));
                self.values[vertex] = name(number, pair)?;
                mark(&mut self.dirty, join.up);
            }
        }
        Ok(())
    }

    fn go_back(&mut self) {
        while let Some((vertex, value)) = self.undo.pop() {
            self.values[vertex as usize] = value;
        }
    }

    /// Stands at `key` when that is possible; otherwise the path is as before, but for a first time.
    fn step<E>(
        &mut self,
        order: &Order,
        key: &[u8],
        name: impl FnMut(usize, u64) -> Result<u32, E>,
    ) -> Result<(), E> {
        self.undo.clear();
        if !self.valid {
            (0..order.n_inner()).for_each(|number| mark(&mut self.dirty, number as u32));
        }
        self.compare(order, key);
        let result = self.climb(order, name);
        if result.is_err() {
            self.dirty.fill(0);
            self.go_back();
        }
        result
    }

    /// Stands at `key`; its root.
    pub fn go(
        &mut self,
        order: &Order,
        nodes: &mut [Nodes],
        budget: &mut Budget,
        key: &[u8],
    ) -> Result<(u32, u32), Full> {
        self.step(order, key, |place, pair| nodes[place].insert(pair, budget))?;
        self.key.copy_from_slice(key);
        self.valid = true;
        Ok(self.root(order))
    }

    /// The root of `key`; the path stays where it is.
    #[inline]
    pub fn look(
        &mut self,
        order: &Order,
        nodes: &mut [Nodes],
        budget: &mut Budget,
        key: &[u8],
    ) -> Result<(u32, u32), Full> {
        if !self.valid {
            return self.go(order, nodes, budget, key);
        }
        self.step(order, key, |place, pair| nodes[place].insert(pair, budget))?;
        let root = self.root(order);
        self.go_back();
        Ok(root)
    }

    /// The root of `key` if all of its nodes are there, found without any path.
    pub fn find(order: &Order, nodes: &[Nodes], key: &[u8]) -> Option<(u32, u32)> {
        let mut path = Path::new(order);
        path.step(order, key, |place, pair| nodes[place].find(pair).ok_or(())).ok()?;
        Some(path.root(order))
    }

    /// Stands at the key with this root.
    pub fn unfold(&mut self, order: &Order, nodes: &[Nodes], root: (u32, u32)) {
        let join = order.root();
        self.unfold.clear();
        if join.left != join.right {
            self.unfold.push((join.left, root.0));
        }
        self.unfold.push((join.right, root.1));
        while let Some((vertex, value)) = self.unfold.pop() {
            let known = std::mem::replace(&mut self.values[vertex as usize], value);
            if known == value && self.valid {
                continue;
            }
            match (vertex as usize).checked_sub(order.n_leaves()) {
                None => self.write(order, vertex as usize, value),
                Some(place) => {
                    let (join, (left, right)) = (order.join(place), halves(nodes[place].get(value)));
                    self.unfold.extend([(join.left, left), (join.right, right)]);
                }
            }
        }
        self.valid = true;
    }

    /// Writes the bytes of a leaf to the key.
    fn write(&mut self, order: &Order, leaf: usize, word: u32) {
        for (byte, place) in word.to_le_bytes().into_iter().zip(order.leaf(leaf)) {
            if place != NONE {
                self.key[place as usize] = byte;
            }
        }
    }
}

#[inline]
fn mark(dirty: &mut [u64], number: u32) {
    dirty[number as usize / 64] |= 1 << (number % 64);
}

/// Eight bytes of a key.
#[inline]
fn word_at(key: &[u8], start: usize) -> u64 {
    key[start..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The bytes behind the last eight that are whole; there are some.
#[inline]
fn tail(key: &[u8]) -> u64 {
    let len = key.len() % 8;
    if let Some(bytes) = key.last_chunk() {
        return u64::from_le_bytes(*bytes) >> (64 - 8 * len);
    }
    key.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_leaves_the_path_alone() {
        let order = Order::plain(21);
        let budget = &mut Budget::new(u64::MAX);
        let mut nodes: Vec<Nodes> = (0..order.n_inner()).map(|_| Nodes::new(budget).unwrap()).collect();
        let mut path = Path::new(&order);
        let keys = [[0; 21], [5; 21], std::array::from_fn(|i| i as u8), std::array::from_fn(|i| i as u8 / 9)];
        let roots = keys.map(|key| path.look(&order, &mut nodes, budget, &key).unwrap());
        for (i, key) in keys.iter().enumerate() {
            assert_eq!(path.go(&order, &mut nodes, budget, key), Ok(roots[i]));
            for (other, root) in keys.iter().zip(roots) {
                assert_eq!(path.look(&order, &mut nodes, budget, other), Ok(root));
                assert_eq!(Path::find(&order, &nodes, other), Some(root));
                assert_eq!(path.key(), key);
            }
            let other = (i + 2) % 4;
            path.unfold(&order, &nodes, roots[other]);
            assert_eq!(path.key(), keys[other]);
        }
        assert_eq!(Path::find(&order, &nodes, &[9; 21]), None);
    }

    #[test]
    fn a_full_store_leaves_the_path_alone() {
        let order = Order::plain(64);
        let budget = &mut Budget::new(3000);
        let mut nodes: Vec<Nodes> = (0..order.n_inner()).map(|_| Nodes::new(budget).unwrap()).collect();
        let mut path = Path::new(&order);
        let key = |i: u8| std::array::from_fn::<u8, 64, _>(|at| i.wrapping_mul(at as u8));
        let first = path.go(&order, &mut nodes, budget, &key(1)).unwrap();
        let full = (2..).find(|&i| path.look(&order, &mut nodes, budget, &key(i)).is_err()).unwrap();
        assert_eq!(path.go(&order, &mut nodes, budget, &key(full)), Err(Full));
        assert_eq!(path.go(&order, &mut nodes, budget, &key(1)), Ok(first));
        assert_eq!(path.key(), key(1));
    }
}
