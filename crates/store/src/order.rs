//! The shape of a tree: how the bytes of a key are gathered into words, and the words joined.
//!
//! Any byte can go to any word, and any subtrees can be joined. What is joined last, the two halves of the
//! root, changes with every state; what is joined first should change together or never.
//!
//! **Four at a time.** The papers join two; here a join has up to four parts, except the root's, which has
//! two. A tree of pairs is contracted to that. It is half as high, so that a change needs half of the
//! look-ups, and the nodes that are gone take no memory; those that are left are larger, but most are few.
//!
//! Every part has a *slot* of 32 bits in the join above it. The slots of one join lie together, so that they
//! are what its node is looked up by.

use crate::shuffle::{PIECES, Piece, Shuffle};

/// No byte, no slot.
pub const NONE: u32 = u32::MAX;
/// Parts that a join may have.
pub const ARITY: usize = 4;
/// Parts of the root.
const HALVES: usize = 2;

/// What is in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Nothing: it is always zero.
    Empty,
    /// A word: these bytes of a key, lowest first.
    Leaf([u32; 4]),
    /// The name of a node of this join.
    Join(u32),
}

/// The shape of the tree of all keys of one length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Where every byte of a key goes: four times its slot, plus its place there.
    places: Vec<u32>,
    /// The slots of all joins, the root's last. Parts come before what they are a part of.
    parts: Vec<[Part; ARITY]>,
    /// For every join, the slot of its name.
    ups: Vec<u32>,
    /// How bytes come to their places, unless the tree is large.
    shuffle: Option<Shuffle>,
}

impl Order {
    /// Words and groups of neighbours.
    pub fn plain(len: usize) -> Self {
        let words = len.div_ceil(4).max(1);
        let byte = |i: usize| if i < len { i as u32 } else { NONE };
        let leaves: Vec<[u32; 4]> = (0..words).map(|w| std::array::from_fn(|i| byte(4 * w + i))).collect();
        let mut level: Vec<u32> = (0..words as u32).collect();
        let mut joins: Vec<Vec<u32>> = Vec::new();
        while level.len() > HALVES {
            let size = level.len().div_ceil(HALVES).min(ARITY);
            let mut join = |parts: &[u32]| match *parts {
                [single] => single,
                _ => {
                    joins.push(parts.to_vec());
                    (words + joins.len() - 1) as u32
                }
            };
            level = level.chunks(size).map(&mut join).collect();
        }
        joins.push(level);
        Order::of(len, &leaves, &joins)
    }

    /// The shape of keys of `len` bytes with these leaves (every byte in exactly one), made from a tree of
    /// pairs of vertices: a vertex below the number of leaves is a leaf, the others are pairs in this order,
    /// the root's last. Two vertices that are the same one are one part. Leaves from `varying` on hardly
    /// change.
    pub fn contracted(len: usize, leaves: &[[u32; 4]], varying: usize, pairs: &[(u32, u32)]) -> Self {
        let joins = match pairs {
            [] => vec![vec![0]],
            _ => contract(leaves.len(), varying, pairs),
        };
        Order::of(len, leaves, &joins)
    }

    /// The shape with these leaves and these joins of vertices.
    fn of(len: usize, leaves: &[[u32; 4]], joins: &[Vec<u32>]) -> Self {
        let mut order = Order {
            places: vec![NONE; len],
            parts: Vec::with_capacity(joins.len()),
            ups: vec![NONE; joins.len()],
            shuffle: None,
        };
        for (number, vertices) in (0..).zip(joins) {
            let mut parts = [Part::Empty; ARITY];
            for ((slot, part), &vertex) in (number * ARITY as u32..).zip(&mut parts).zip(vertices) {
                *part = match leaves.get(vertex as usize) {
                    Some(&bytes) => order.put_leaf(slot, bytes),
                    None => {
                        order.ups[vertex as usize - leaves.len()] = slot;
                        Part::Join(vertex - leaves.len() as u32)
                    }
                };
            }
            order.parts.push(parts);
        }
        let names: Vec<Piece> = order.parts.iter().map(names).collect();
        order.shuffle = Shuffle::new(&order.places, &names);
        order
    }

    fn put_leaf(&mut self, slot: u32, bytes: [u32; 4]) -> Part {
        for (i, byte) in (0..).zip(bytes).filter(|&(_, byte)| byte != NONE) {
            self.places[byte as usize] = 4 * slot + i;
        }
        Part::Leaf(bytes)
    }

    /// Bytes of a key.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether keys are empty.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// How many joins the tree has, besides the root.
    pub fn n_inner(&self) -> usize {
        self.parts.len() - 1
    }

    /// How many blocks the slots of all joins take.
    #[inline]
    pub fn n_blocks(&self) -> usize {
        self.parts.len().div_ceil(PIECES)
    }

    /// The slots of a join; that of the root has the number [`Order::n_inner`].
    #[inline]
    pub fn parts(&self, join: usize) -> &[Part; ARITY] {
        &self.parts[join]
    }

    /// The halves of the root.
    pub fn halves(&self) -> [Part; HALVES] {
        std::array::from_fn(|i| self.parts[self.n_inner()][i])
    }

    /// The slot where the name of a node of a join goes.
    #[inline]
    pub fn up(&self, join: usize) -> u32 {
        self.ups[join]
    }

    /// How the bytes of a key come to their places, unless the tree is large.
    #[inline(always)]
    pub fn shuffle(&self) -> Option<&Shuffle> {
        self.shuffle.as_ref()
    }

    /// Where all bytes of a key go: four times the slot, plus the place there.
    #[inline]
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> usize {
        self.places.capacity() * 4
            + self.parts.capacity() * size_of::<[Part; ARITY]>()
            + self.ups.capacity() * 4
            + self.shuffle.as_ref().map_or(0, Shuffle::memory)
    }
}

/// The slots of a join that hold names.
fn names(parts: &[Part; ARITY]) -> Piece {
    let slot = |at: usize| if matches!(parts[at], Part::Join(_)) { 0xffff_ffff } else { 0 };
    Piece([slot(0) | slot(1) << 32, slot(2) | slot(3) << 32])
}

/// Joins of up to four parts for a tree of pairs, the root's last: a pair takes over the parts of its parts,
/// first of those under which most leaves vary.
fn contract(leaves: usize, varying: usize, pairs: &[(u32, u32)]) -> Vec<Vec<u32>> {
    let mut weights: Vec<usize> = (0..leaves).map(|leaf| usize::from(leaf < varying)).collect();
    for &(left, right) in pairs {
        weights.push(weights[left as usize] + weights[right as usize]);
    }
    let both = |vertex: u32| match pairs[vertex as usize - leaves] {
        (left, right) if left == right => vec![left],
        (left, right) => vec![left, right],
    };
    let is_inner = |vertex: u32| vertex as usize >= leaves;
    let gather = |vertex: u32, most: usize| {
        let mut parts = both(vertex);
        while parts.len() < most {
            let inner = (0..parts.len()).filter(|&i| is_inner(parts[i]));
            let Some(heaviest) = inner.max_by_key(|&i| weights[parts[i] as usize]) else { break };
            let more = both(parts[heaviest]);
            parts.splice(heaviest..=heaviest, more);
        }
        parts
    };
    let root = (leaves + pairs.len() - 1) as u32;
    // What every vertex is called among the joins.
    let mut names: Vec<u32> = (0..(leaves + pairs.len()) as u32).collect();
    let mut joins: Vec<Vec<u32>> = Vec::new();
    let mut open = vec![(root, None)];
    while let Some((vertex, gathered)) = open.pop() {
        match gathered {
            None => {
                let parts = gather(vertex, if vertex == root { HALVES } else { ARITY });
                let inner: Vec<u32> = parts.iter().copied().filter(|&part| is_inner(part)).collect();
                open.push((vertex, Some(parts)));
                open.extend(inner.into_iter().map(|part| (part, None)));
            }
            Some(parts) => {
                names[vertex as usize] = (leaves + joins.len()) as u32;
                joins.push(parts.into_iter().map(|part| names[part as usize]).collect());
            }
        }
    }
    joins
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A word of neighbours.
    fn word(first: u32) -> [u32; 4] {
        std::array::from_fn(|i| first + i as u32)
    }

    #[test]
    fn plain_trees_join_neighbours() {
        let order = Order::plain(18);
        assert_eq!(order.n_inner(), 2);
        let leaf = |word_number: u32| Part::Leaf(word(4 * word_number));
        assert_eq!(order.parts(0), &[leaf(0), leaf(1), leaf(2), Part::Empty]);
        assert_eq!(order.parts(1)[1], Part::Leaf([16, 17, NONE, NONE]));
        assert_eq!(order.halves(), [Part::Join(0), Part::Join(1)]);
        assert_eq!((order.up(0), order.up(1)), (8, 9));
        assert_eq!((order.places()[6], order.places()[17]), (6, 4 * 5 + 1));
        assert_eq!(Order::plain(4 * 33).n_inner(), 8 + 2 + 1);
    }

    #[test]
    fn the_smallest_trees() {
        for len in 0..=8 {
            let order = Order::plain(len);
            assert_eq!(order.n_inner(), 0);
            assert_eq!(order.halves()[1] == Part::Empty, len <= 4);
        }
    }

    #[test]
    fn a_caterpillar_of_pairs_is_contracted() {
        let leaves: Vec<[u32; 4]> = (0..8).map(|leaf| word(4 * leaf)).collect();
        // ((((((0 1) 2) 3) 4) 5) 6) with 7 as the other half, which has a name of its own.
        let pairs = [(0, 1), (8, 2), (9, 3), (10, 4), (11, 5), (12, 6), (7, 7), (13, 14)];
        let order = Order::contracted(32, &leaves, 8, &pairs);
        assert_eq!(order.n_inner(), 3);
        let leaf = |number: u32| Part::Leaf(word(4 * number));
        let lone = order.parts.iter().position(|parts| parts[0] == leaf(7)).unwrap();
        assert_eq!(order.parts(lone), &[leaf(7), Part::Empty, Part::Empty, Part::Empty]);
        let sizes = |join: usize| order.parts(join).iter().filter(|&&part| part != Part::Empty).count();
        assert_eq!((0..3).map(sizes).sum::<usize>(), 1 + 4 + 4);
        let mut places = order.places().to_vec();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 32);
    }

    #[test]
    fn what_hardly_changes_stays_low() {
        let leaves: Vec<[u32; 4]> = (0..8).map(|leaf| word(4 * leaf)).collect();
        // Four that vary (8: 0 1, 9: 2 3), four that do not (10: 4 5, 11: 6 7), all in one half; 0 again as
        // the other.
        let pairs = [(0, 1), (2, 3), (4, 5), (6, 7), (10, 11), (8, 9), (12, 13), (14, 14)];
        let order = Order::contracted(32, &leaves, 4, &pairs);
        let top = order.parts(order.n_inner() - 1);
        assert!((0..4).filter(|&i| matches!(top[i], Part::Leaf(_))).count() >= 2, "{top:?}");
    }
}
