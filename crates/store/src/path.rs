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
use crate::order::{NONE, Order, Place};

/// A key and its tree.
#[derive(Debug)]
pub struct Path {
    key: Vec<u8>,
    /// The values of all vertices: words, then names of nodes.
    base: Vec<u32>,
    /// The same for the key that is looked up, and as `base` in between.
    values: Vec<u32>,
    /// Used when sets do not fit into a word.
    wide: [Wide; 3],
    /// Vertices still to be unfolded.
    unfold: Vec<(u32, u32)>,
    /// Whether the values are those of `key`.
    valid: bool,
}

/// A set of small numbers.
trait Bits {
    fn add(&mut self, number: u32);

    /// Takes the lowest number out. A number below one that was taken out is not added before the set is empty.
    fn pop(&mut self) -> Option<u32>;
}

impl Bits for u64 {
    #[inline]
    fn add(&mut self, number: u32) {
        *self |= 1 << number;
    }

    #[inline]
    fn pop(&mut self) -> Option<u32> {
        if *self == 0 {
            return None;
        }
        let number = self.trailing_zeros();
        *self &= *self - 1;
        Some(number)
    }
}

/// A set of numbers below any bound.
#[derive(Debug, Default)]
struct Wide {
    words: Vec<u64>,
    /// There is nothing in the words before.
    first: usize,
}

impl Wide {
    fn clear(&mut self) {
        self.words.fill(0);
        self.first = 0;
    }
}

impl Bits for Wide {
    #[inline]
    fn add(&mut self, number: u32) {
        self.words[number as usize / 64] |= 1 << (number % 64);
    }

    #[inline]
    fn pop(&mut self) -> Option<u32> {
        while let Some(word) = self.words.get_mut(self.first) {
            if let Some(number) = word.pop() {
                return Some(number + 64 * self.first as u32);
            }
            self.first += 1;
        }
        self.first = 0;
        None
    }
}

/// What is different on the way to a key.
struct Changes<B> {
    leaves: B,
    /// Joins whose nodes must be looked up; the root's is the last.
    dirty: B,
    /// Joins whose nodes have been looked up.
    joins: B,
}

impl Path {
    /// A path that stands nowhere.
    pub fn new(order: &Order) -> Self {
        let vertices = order.n_leaves() + order.n_inner();
        let words = vertices / 64 + 1;
        Path {
            key: vec![0; order.len()],
            base: vec![0; vertices],
            values: vec![0; vertices],
            wide: std::array::from_fn(|_| Wide { words: vec![0; words], first: 0 }),
            unfold: Vec::new(),
            valid: false,
        }
    }

    /// How many bytes a path of this order uses at most.
    pub fn memory(order: &Order) -> usize {
        let vertices = order.n_leaves() + order.n_inner();
        order.len() + 8 * vertices + 3 * 8 * (vertices / 64 + 1) + 16 * vertices
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

    /// Changes all leaves that are different for `key`, and marks the joins above them.
    #[inline(always)]
    fn compare<B: Bits>(&mut self, order: &Order, key: &[u8], changes: &mut Changes<B>) {
        let (old, new) = (self.key.chunks_exact(8), key.chunks_exact(8));
        let rest = rest(&self.key, old.remainder().len()) ^ rest(key, new.remainder().len());
        let mut first = 0;
        for (old, new) in old.zip(new) {
            let difference = word(old) ^ word(new);
            if difference != 0 {
                differ(
                    &mut self.values,
                    order.places().get(first..).unwrap_or_default(),
                    difference,
                    changes,
                );
            }
            first += 8;
        }
        if rest != 0 {
            differ(&mut self.values, order.places().get(first..).unwrap_or_default(), rest, changes);
        }
    }

    /// Finds the tree of `key`; `name` gives the name of a pair at a join.
    #[inline]
    fn step<B: Bits, E>(
        &mut self,
        order: &Order,
        key: &[u8],
        changes: &mut Changes<B>,
        mut name: impl FnMut(usize, u64) -> Result<u32, E>,
    ) -> Result<(), E> {
        let (inner, leaves) = (order.n_inner() as u32, order.n_leaves());
        if !self.valid {
            (0..inner).for_each(|number| changes.dirty.add(number));
        }
        self.compare(order, key, changes);
        while let Some(number) = changes.dirty.pop() {
            if number == inner {
                break;
            }
            let join = order.join(number as usize);
            let pair = pair(self.values[join.left as usize], self.values[join.right as usize]);
            self.values[leaves + number as usize] = name(number as usize, pair)?;
            changes.joins.add(number);
            changes.dirty.add(join.up);
        }
        Ok(())
    }

    /// Makes the changes stay, or takes them back.
    #[inline]
    fn finish<B: Bits>(&mut self, order: &Order, changes: &mut Changes<B>, stay: bool) {
        let (from, to) = if stay { (&self.values, &mut self.base) } else { (&self.base, &mut self.values) };
        while let Some(leaf) = changes.leaves.pop() {
            to[leaf as usize] = from[leaf as usize];
        }
        while let Some(join) = changes.joins.pop() {
            let vertex = order.n_leaves() + join as usize;
            to[vertex] = from[vertex];
        }
    }

    #[inline]
    fn visit<B: Bits, E>(
        &mut self,
        order: &Order,
        key: &[u8],
        stay: bool,
        mut changes: Changes<B>,
        name: impl FnMut(usize, u64) -> Result<u32, E>,
    ) -> (Result<(u32, u32), E>, Changes<B>) {
        let result = self.step(order, key, &mut changes, name).map(|()| self.root(order));
        let stay = stay && result.is_ok();
        self.finish(order, &mut changes, stay);
        if stay {
            self.key.copy_from_slice(key);
            self.valid = true;
        }
        (result, changes)
    }

    /// As [`Path::visit`], for trees of any size.
    #[cold]
    fn visit_wide<E>(
        &mut self,
        order: &Order,
        key: &[u8],
        stay: bool,
        name: impl FnMut(usize, u64) -> Result<u32, E>,
    ) -> Result<(u32, u32), E> {
        let [leaves, dirty, joins] = std::mem::take(&mut self.wide);
        let (result, changes) = self.visit(order, key, stay, Changes { leaves, dirty, joins }, name);
        self.wide = [changes.leaves, changes.dirty, changes.joins];
        self.wide.iter_mut().for_each(Wide::clear);
        result
    }

    /// Stands at `key`; its root.
    #[inline]
    pub fn go(
        &mut self,
        order: &Order,
        nodes: &mut [Nodes],
        budget: &mut Budget,
        key: &[u8],
    ) -> Result<(u32, u32), Full> {
        self.go_by(order, key, |place: usize, pair| nodes[place].insert(pair, budget))
    }

    /// Stands at `key`; its root. `name` gives the name of a pair at a join.
    #[inline]
    pub fn go_by<E>(
        &mut self,
        order: &Order,
        key: &[u8],
        name: impl FnMut(usize, u64) -> Result<u32, E>,
    ) -> Result<(u32, u32), E> {
        if is_small(order) {
            return self.visit(order, key, true, Changes { leaves: 0, dirty: 0, joins: 0 }, name).0;
        }
        self.visit_wide(order, key, true, name)
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
        self.look_by(order, key, |place: usize, pair| nodes[place].insert(pair, budget))
    }

    /// The root of `key`; the path stays where it is. `name` gives the name of a pair at a join.
    #[inline]
    pub fn look_by<E>(
        &mut self,
        order: &Order,
        key: &[u8],
        name: impl FnMut(usize, u64) -> Result<u32, E>,
    ) -> Result<(u32, u32), E> {
        let stay = !self.valid;
        if is_small(order) {
            return self.visit(order, key, stay, Changes { leaves: 0, dirty: 0, joins: 0 }, name).0;
        }
        self.visit_wide(order, key, stay, name)
    }

    /// The root of `key` if all of its nodes are there, found without any path.
    pub fn find(order: &Order, nodes: &[Nodes], key: &[u8]) -> Option<(u32, u32)> {
        let mut path = Path::new(order);
        path.visit_wide(order, key, true, |place, pair| nodes[place].find(pair).ok_or(Full)).ok()
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
            self.values[vertex as usize] = value;
            let known = std::mem::replace(&mut self.base[vertex as usize], value);
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

/// Whether sets of the leaves and of the joins fit into a word.
#[inline]
fn is_small(order: &Order) -> bool {
    order.n_leaves() <= 64 && order.n_inner() < 64
}

/// Changes the leaves of those of eight bytes that are different.
#[inline(always)]
fn differ<B: Bits>(values: &mut [u32], places: &[Place], mut difference: u64, changes: &mut Changes<B>) {
    while difference != 0 {
        let byte = difference.trailing_zeros() / 8;
        let place = places[byte as usize];
        let changed = (difference >> (8 * byte)) & 0xff;
        values[place.leaf() as usize] ^= (changed as u32) << place.shift();
        changes.leaves.add(place.leaf());
        changes.dirty.add(place.above);
        difference ^= changed << (8 * byte);
    }
}

/// Eight bytes as a word.
#[inline]
fn word(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The last `len` bytes of a key, fewer than eight. They are read together with bytes in front of them if there are enough.
#[inline]
fn rest(key: &[u8], len: usize) -> u64 {
    match key.last_chunk() {
        _ if len == 0 => 0,
        Some(bytes) => u64::from_le_bytes(*bytes) >> (64 - 8 * len),
        None => key.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
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
    fn trees_of_any_size() {
        for len in [1, 3, 7, 8, 9, 200, 256, 257, 260, 500, 4000] {
            let order = Order::plain(len);
            let budget = &mut Budget::new(u64::MAX);
            let mut nodes: Vec<Nodes> = (0..order.n_inner()).map(|_| Nodes::new(budget).unwrap()).collect();
            let mut path = Path::new(&order);
            let key =
                |i: usize| -> Vec<u8> { (0..len).map(|at| (at % 7 == i % 7) as u8 * i as u8).collect() };
            let roots: Vec<_> =
                (0..40).map(|i| path.go(&order, &mut nodes, budget, &key(i)).unwrap()).collect();
            for i in (0..40).rev() {
                assert_eq!(path.look(&order, &mut nodes, budget, &key(i)), Ok(roots[i]), "{len} {i}");
                assert_eq!(Path::find(&order, &nodes, &key(i)), Some(roots[i]));
                path.unfold(&order, &nodes, roots[i]);
                assert_eq!(path.key(), key(i));
                assert_eq!(path.look(&order, &mut nodes, budget, &key(39 - i)), Ok(roots[39 - i]));
            }
        }
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
