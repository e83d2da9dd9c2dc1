//! The shape of a tree: how the bytes of a key are gathered into words, and the words joined in pairs.
//!
//! Any byte can go to any word, and any two subtrees can be joined. What is joined last, the two halves of the root,
//! changes with every state; what is joined first should change together or never.

/// No vertex, no byte.
pub const NONE: u32 = u32::MAX;

/// Two subtrees that are joined. A vertex below the number of leaves is a leaf (a word), the others are inner nodes in
/// the order in which they are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Join {
    /// The vertex on the left.
    pub left: u32,
    /// The vertex on the right.
    pub right: u32,
    /// The join that this one is a part of.
    pub up: u32,
}

/// Where a byte of a key goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Four times its leaf, plus its place there.
    at: u32,
    /// The join that the leaf is a part of.
    pub above: u32,
}

impl Place {
    /// The leaf.
    #[inline]
    pub fn leaf(self) -> u32 {
        self.at / 4
    }

    /// How many bits of the leaf are below the byte.
    #[inline]
    pub fn shift(self) -> u32 {
        self.at % 4 * 8
    }
}

/// The shape of the tree of all keys of one length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Where every byte of a key goes.
    places: Vec<Place>,
    /// For every leaf: its bytes, lowest first.
    bytes: Vec<[u32; 4]>,
    /// All joins, the root's last. Parts come before what they are a part of.
    joins: Vec<Join>,
}

impl Order {
    /// Words and pairs of neighbours.
    pub fn plain(len: usize) -> Self {
        let words = len.div_ceil(4).max(1);
        let byte = |i: usize| if i < len { i as u32 } else { NONE };
        let leaves = (0..words).map(|w| [byte(4 * w), byte(4 * w + 1), byte(4 * w + 2), byte(4 * w + 3)]);
        let mut level: Vec<u32> = (0..words as u32).collect();
        let mut pairs = Vec::new();
        while level.len() > 1 {
            let join = |pair: &[u32]| match *pair {
                [left, right] => {
                    pairs.push((left, right));
                    (words + pairs.len() - 1) as u32
                }
                _ => pair[0],
            };
            level = level.chunks(2).map(join).collect();
        }
        Order::new(len, leaves.collect(), &pairs)
    }

    /// The shape of keys of `len` bytes with these leaves (every byte in exactly one) and these joins of two vertices.
    /// A tree of a single leaf is that leaf, joined with itself.
    pub fn new(len: usize, leaves: Vec<[u32; 4]>, pairs: &[(u32, u32)]) -> Self {
        let pairs = if pairs.is_empty() { &[(0, 0)] } else { pairs };
        let mut joins: Vec<Join> =
            pairs.iter().map(|&(left, right)| Join { left, right, up: NONE }).collect();
        let mut above = vec![NONE; leaves.len()];
        for (number, &(left, right)) in (0..).zip(pairs) {
            for part in [left, right] {
                match above.get_mut(part as usize) {
                    Some(above) => *above = number,
                    None => joins[part as usize - leaves.len()].up = number,
                }
            }
        }
        let mut places = vec![Place { at: 0, above: NONE }; len];
        for (leaf, bytes) in (0..).zip(&leaves) {
            for (i, &byte) in (0..).zip(bytes).filter(|&(_, &byte)| byte != NONE) {
                places[byte as usize] = Place { at: 4 * leaf + i, above: above[leaf as usize] };
            }
        }
        Order { places, bytes: leaves, joins }
    }

    /// Bytes of a key.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether keys are empty.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// How many leaves the tree has.
    pub fn n_leaves(&self) -> usize {
        self.bytes.len()
    }

    /// How many joins the tree has, besides the root.
    pub fn n_inner(&self) -> usize {
        self.joins.len() - 1
    }

    /// The join with this number; that of the root has the number [`Order::n_inner`].
    #[inline]
    pub fn join(&self, number: usize) -> Join {
        self.joins[number]
    }

    /// The last join.
    #[inline]
    pub fn root(&self) -> Join {
        self.joins[self.joins.len() - 1]
    }

    /// Where a byte of a key goes.
    #[inline]
    pub fn place(&self, byte: usize) -> Place {
        self.places[byte]
    }

    /// Where all bytes of a key go.
    #[inline]
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// The bytes of a leaf.
    #[inline]
    pub fn leaf(&self, leaf: usize) -> [u32; 4] {
        self.bytes[leaf]
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> usize {
        self.places.capacity() * size_of::<Place>()
            + self.bytes.capacity() * 16
            + self.joins.capacity() * size_of::<Join>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_trees_join_neighbours() {
        let order = Order::plain(18);
        assert_eq!((order.n_leaves(), order.n_inner()), (5, 3));
        assert_eq!(order.leaf(4), [16, 17, NONE, NONE]);
        assert_eq!((order.place(6).leaf(), order.place(6).shift()), (1, 16));
        assert_eq!(order.join(1), Join { left: 2, right: 3, up: 2 });
        assert_eq!(order.root(), Join { left: 7, right: 4, up: NONE });
        assert_eq!((order.place(15).above, order.place(16).above), (1, 3));
    }

    #[test]
    fn the_smallest_trees() {
        for len in 0..=4 {
            let order = Order::plain(len);
            assert_eq!((order.n_leaves(), order.n_inner()), (1, 0));
            assert_eq!(order.root(), Join { left: 0, right: 0, up: NONE });
        }
    }
}
