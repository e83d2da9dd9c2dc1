//! A minimised automaton: the set of keys is the language of the smallest deterministic automaton that accepts
//! them, as in G. J. Holzmann and A. Puri, *A minimized automaton representation of reachable states* (STTT
//! 1999), which Spin calls `-DMA`.
//!
//! States of a model are much alike, at their beginnings and at their ends, and an automaton keeps equal
//! beginnings and equal ends once. It is exact, often far smaller than any table, and slow: each key is walked
//! byte by byte, and a new one changes a node for each of its bytes. For long runs in little memory.
//!
//! Nodes are kept unique: two that accept the same continuations have the same edges, and so are one
//! ([`Automaton::unique`]). A key is added from its end: its last node first, then the node before it with the
//! changed edge, and so on up to a new root. Nodes that the old root alone led to are given back. What is
//! needed is asked for before the first change, so that a store that is full stays as it was.

use crate::{Batched, Evicting, Full, Seen};

/// A node: its place in [`Automaton::words`].
type Node = u32;

/// No node: the end of a list of free places, an empty slot.
const NONE: Node = u32::MAX;
/// The most edges of a node, and so the number of sizes less one.
const MOST_EDGES: usize = 256;
/// In the first word of a node: a key ends here. Below it is the number of edges.
const ACCEPTS: u32 = 1 << 16;
/// Words of a node before its labels: the first word, and how many edges lead to it.
const HEAD: usize = 2;

/// An exact set of byte strings.
#[derive(Debug)]
pub struct Automaton {
    /// All nodes: first word, references, labels (four a word), targets.
    words: Vec<u32>,
    /// Free places by number of edges, each with the next one in its first word.
    free: Vec<Node>,
    /// A hash table of all nodes by what they consist of.
    unique: Vec<Node>,
    n_nodes: usize,
    root: Node,
    n_keys: u64,
    limit: u64,
    /// Buffers: nodes along a key, the node that is being made, nodes to give back.
    path: Vec<Node>,
    made: Made,
    leaving: Vec<Node>,
}

/// A node that is being made.
#[derive(Debug, Default)]
struct Made {
    accepts: bool,
    labels: Vec<u8>,
    targets: Vec<Node>,
}

impl Made {
    fn clear(&mut self, accepts: bool) {
        self.accepts = accepts;
        self.labels.clear();
        self.targets.clear();
    }

    /// Adds an edge, or lets it lead elsewhere. Labels are in ascending order.
    fn lead(&mut self, label: u8, target: Node) {
        match self.labels.binary_search(&label) {
            Ok(at) => self.targets[at] = target,
            Err(at) => {
                self.labels.insert(at, label);
                self.targets.insert(at, target);
            }
        }
    }
}

/// Words that a node with so many edges takes.
fn size(n_edges: usize) -> usize {
    HEAD + n_edges.div_ceil(4) + n_edges
}

impl Automaton {
    /// An empty set that answers [`Full`] rather than use more than `limit` bytes.
    pub fn new(limit: u64) -> Self {
        Automaton {
            words: Vec::new(),
            free: vec![NONE; MOST_EDGES + 1],
            unique: Vec::new(),
            n_nodes: 0,
            root: NONE,
            n_keys: 0,
            limit,
            path: Vec::new(),
            made: Made::default(),
            leaving: Vec::new(),
        }
    }

    /// How many nodes the automaton has.
    pub fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    fn n_edges(&self, node: Node) -> usize {
        (self.words[node as usize] & (ACCEPTS - 1)) as usize
    }

    fn accepts(&self, node: Node) -> bool {
        self.words[node as usize] & ACCEPTS != 0
    }

    fn label(&self, node: Node, at: usize) -> u8 {
        (self.words[node as usize + HEAD + at / 4] >> (8 * (at % 4))) as u8
    }

    fn target(&self, node: Node, at: usize) -> Node {
        self.words[node as usize + HEAD + self.n_edges(node).div_ceil(4) + at]
    }

    /// Where an edge leads.
    fn next(&self, node: Node, label: u8) -> Option<Node> {
        let (mut low, mut high) = (0, self.n_edges(node));
        while low < high {
            let middle = (low + high) / 2;
            match self.label(node, middle).cmp(&label) {
                std::cmp::Ordering::Equal => return Some(self.target(node, middle)),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The hash of what a node consists of.
    fn hash_of(&self, node: Node) -> u64 {
        let n = self.n_edges(node);
        let edges = (0..n).map(|at| (self.label(node, at), self.target(node, at)));
        hash(self.accepts(node), edges)
    }

    fn is_made(&self, node: Node) -> bool {
        let Made { accepts, labels, targets } = &self.made;
        let edges = || labels.iter().zip(targets).enumerate();
        self.n_edges(node) == labels.len()
            && self.accepts(node) == *accepts
            && edges().all(|(at, edge)| (&self.label(node, at), &self.target(node, at)) == edge)
    }

    /// The place of a node in the table, or the empty one where it belongs.
    fn slot(&self, hash: u64, is_it: impl Fn(Node) -> bool) -> usize {
        let mask = self.unique.len() - 1;
        let mut at = hash as usize & mask;
        while self.unique[at] != NONE && !is_it(self.unique[at]) {
            at = (at + 1) & mask;
        }
        at
    }

    /// The only node that consists of what was made. There is room.
    fn unique(&mut self) -> Node {
        let edges = self.made.labels.iter().copied().zip(self.made.targets.iter().copied());
        let hash = hash(self.made.accepts, edges);
        let slot = self.slot(hash, |node| self.is_made(node));
        if self.unique[slot] != NONE {
            return self.unique[slot];
        }
        let node = self.place();
        self.unique[slot] = node;
        self.n_nodes += 1;
        for at in 0..self.made.targets.len() {
            let target = self.made.targets[at];
            self.words[target as usize + 1] += 1;
        }
        node
    }

    /// Writes what was made to a free place.
    fn place(&mut self) -> Node {
        let n = self.made.labels.len();
        let node = match self.free[n] {
            NONE => {
                let node = self.words.len();
                debug_assert!(self.words.capacity() - node >= size(n), "room was asked for");
                self.words.resize(node + size(n), 0);
                node as Node
            }
            node => {
                self.free[n] = self.words[node as usize];
                node
            }
        };
        let place = &mut self.words[node as usize..node as usize + size(n)];
        place.fill(0);
        place[0] = n as u32 | if self.made.accepts { ACCEPTS } else { 0 };
        for (at, &label) in self.made.labels.iter().enumerate() {
            place[HEAD + at / 4] |= u32::from(label) << (8 * (at % 4));
        }
        place[HEAD + n.div_ceil(4)..].copy_from_slice(&self.made.targets);
        node
    }

    /// One edge less leads to a node; without any it goes, and its edges with it.
    fn release(&mut self, node: Node) {
        self.leaving.push(node);
        while let Some(node) = self.leaving.pop() {
            let references = &mut self.words[node as usize + 1];
            debug_assert!(*references > 0, "what is released was referred to");
            *references -= 1;
            if *references > 0 {
                continue;
            }
            self.forget(node);
            let n = self.n_edges(node);
            for at in 0..n {
                let target = self.target(node, at);
                self.leaving.push(target);
            }
            self.words[node as usize] = self.free[n];
            self.free[n] = node;
            self.n_nodes -= 1;
        }
    }

    /// Takes a node out of the table and moves up those that were put behind it.
    fn forget(&mut self, node: Node) {
        let mask = self.unique.len() - 1;
        let mut hole = self.slot(self.hash_of(node), |other| other == node);
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let next = self.unique[at];
            if next == NONE {
                break;
            }
            let home = self.hash_of(next) as usize & mask;
            // It may stand at the hole unless its home is behind it.
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(hole) & mask {
                self.unique[hole] = next;
                hole = at;
            }
        }
        self.unique[hole] = NONE;
    }

    /// Asks for all that adding the key along [`Automaton::path`] may need.
    fn reserve(&mut self, len: usize) -> Result<(), Full> {
        let along: usize = self.path.iter().map(|&node| size((self.n_edges(node) + 1).min(MOST_EDGES))).sum();
        let needed = along + (len + 1) * size(1);
        let nodes = self.n_nodes + len + 1;
        if self.words.capacity() - self.words.len() < needed {
            let more = needed.max(self.words.len() / 4);
            self.words.try_reserve_exact(more).map_err(|_| Full)?;
        }
        if 2 * nodes > self.unique.len() {
            self.grow((2 * nodes).next_power_of_two())?;
        }
        if self.words.len() + needed >= NONE as usize || self.memory() > self.limit {
            return Err(Full);
        }
        Ok(())
    }

    fn grow(&mut self, slots: usize) -> Result<(), Full> {
        let mut table = Vec::new();
        table.try_reserve_exact(slots).map_err(|_| Full)?;
        table.resize(slots, NONE);
        let old = std::mem::replace(&mut self.unique, table);
        for node in old.into_iter().filter(|&node| node != NONE) {
            let slot = self.slot(self.hash_of(node), |_| false);
            self.unique[slot] = node;
        }
        Ok(())
    }

    /// Walks along a key as far as nodes lead; true if it is in the set.
    fn walk(&self, key: &[u8], mut each: impl FnMut(Node)) -> bool {
        if self.root == NONE {
            return false;
        }
        let mut node = self.root;
        each(node);
        for &label in key {
            match self.next(node, label) {
                Some(next) => node = next,
                None => return false,
            }
            each(node);
        }
        self.accepts(node)
    }

    /// Adds a key that is not there. The nodes along it are in [`Automaton::path`].
    fn add(&mut self, key: &[u8]) {
        let known = self.path.len();
        let mut below = None;
        for depth in (0..=key.len()).rev() {
            let old = self.path.get(depth).copied().filter(|_| depth < known);
            self.made.clear(depth == key.len() || old.is_some_and(|old| self.accepts(old)));
            if let Some(old) = old {
                for at in 0..self.n_edges(old) {
                    let (label, target) = (self.label(old, at), self.target(old, at));
                    self.made.labels.push(label);
                    self.made.targets.push(target);
                }
            }
            if let (Some(below), Some(&label)) = (below, key.get(depth)) {
                self.made.lead(label, below);
            }
            below = Some(self.unique());
        }
        let root = below.unwrap_or(NONE);
        self.words[root as usize + 1] += 1;
        let old = std::mem::replace(&mut self.root, root);
        if old != NONE {
            self.release(old);
        }
        self.n_keys += 1;
    }
}

/// Two multiplications with odd numbers, so that all bits depend on all others.
fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 32).wrapping_mul(0x9fb2_1c65_1e98_df25);
    x = (x ^ x >> 29).wrapping_mul(0xd6e8_feb8_6659_fd93);
    x ^ x >> 32
}

fn hash(accepts: bool, edges: impl Iterator<Item = (u8, Node)>) -> u64 {
    edges.fold(u64::from(accepts), |hash, (label, target)| {
        mix(hash.rotate_left(23) ^ (u64::from(target) << 8 | u64::from(label)))
    })
}

impl Seen for Automaton {
    const LOSSLESS: bool = true;

    type Ticket = ();
    type Name = ();

    fn hash(&mut self, _key: &[u8]) -> Result<(), Full> {
        Ok(())
    }

    fn insert(&mut self, key: &[u8], (): ()) -> Result<Option<()>, Full> {
        let mut path = std::mem::take(&mut self.path);
        path.clear();
        let known = self.walk(key, |node| path.push(node));
        self.path = path;
        if known {
            return Ok(None);
        }
        self.reserve(key.len())?;
        self.add(key);
        Ok(Some(()))
    }

    fn contains(&self, key: &[u8], (): ()) -> bool {
        self.walk(key, |_| {})
    }

    fn n_keys(&self) -> u64 {
        self.n_keys
    }

    fn memory(&self) -> u64 {
        4 * (self.words.capacity() + self.unique.capacity() + self.free.capacity()) as u64
    }
}

impl Batched for Automaton {}

impl Evicting for Automaton {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeSet, HashMap, HashSet};

    fn below(seed: &mut u64, n: u64) -> u64 {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        (*seed >> 20) % n
    }

    /// The nodes of the smallest automaton: the different sets of continuations of beginnings of keys.
    fn smallest(keys: &HashSet<Vec<u8>>) -> usize {
        let mut rest: HashMap<&[u8], BTreeSet<&[u8]>> = HashMap::new();
        for key in keys {
            for at in 0..=key.len() {
                rest.entry(&key[..at]).or_default().insert(&key[at..]);
            }
        }
        rest.values().collect::<HashSet<_>>().len()
    }

    #[test]
    fn agrees_with_the_standard_library_and_is_minimal() {
        let mut seed = 17;
        for (longest, letters, tries) in [(5, 3, 300), (12, 2, 2_000), (3, 256, 3_000), (9, 4, 1_000)] {
            let (mut set, mut model) = (Automaton::new(u64::MAX), HashSet::new());
            for i in 0..tries {
                let len = below(&mut seed, longest + 1);
                let key: Vec<u8> = (0..len).map(|_| below(&mut seed, letters) as u8).collect();
                assert_eq!(set.knows(&key), Ok(model.contains(&key)));
                assert_eq!(set.is_new(&key), Ok(model.insert(key)));
                if i % 97 == 0 {
                    assert_eq!(set.n_nodes(), smallest(&model));
                }
            }
            assert_eq!((set.n_keys(), set.n_nodes()), (model.len() as u64, smallest(&model)));
            assert!(model.iter().all(|key| set.contains(key, ())));
        }
    }

    /// All words of a length are one node for each letter and one more: nodes that are no longer needed are
    /// given back, and their places are used again.
    #[test]
    fn a_product_collapses() {
        let mut set = Automaton::new(u64::MAX);
        for n in 0u32..1 << 14 {
            let key: Vec<u8> = (0..14).map(|bit| (n >> bit & 1) as u8).collect();
            assert_eq!(set.is_new(&key), Ok(true));
        }
        assert_eq!((set.n_keys(), set.n_nodes()), (1 << 14, 15));
        assert!(set.memory() < 20_000, "{}", set.memory());
    }

    #[test]
    fn a_full_set_stays_as_it_was() {
        let mut seed = 5;
        let mut set = Automaton::new(40_000);
        let mut model = HashSet::new();
        let refused = loop {
            let key: Vec<u8> = (0..8).map(|_| below(&mut seed, 200) as u8).collect();
            match set.is_new(&key) {
                Ok(new) => assert_eq!(new, model.insert(key)),
                Err(Full) => break key,
            }
        };
        assert!(model.len() > 50 && !set.contains(&refused, ()));
        assert!(model.iter().all(|key| set.contains(key, ()) && set.n_keys() == model.len() as u64));
        assert_eq!(set.n_nodes(), smallest(&model));
    }

    #[test]
    fn the_empty_key_is_a_key() {
        let mut set = Automaton::new(u64::MAX);
        assert_eq!([set.knows(b""), set.is_new(b""), set.is_new(b"")], [Ok(false), Ok(true), Ok(false)]);
        assert_eq!([set.is_new(b"a"), set.knows(b"")], [Ok(true), Ok(true)]);
    }
}
