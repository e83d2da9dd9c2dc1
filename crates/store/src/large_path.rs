//! A path in a large tree: only what has changed is touched.
//!
//! The bytes of a key that are different are found a block of words at a time. Unfolding leaves out every
//! subtree that is the same as on the path.
//!
//! The slots of a join are two words of 64 bits, always read and written whole: a processor waits when it
//! reads a word that was written in pieces a moment before.

use crate::nodes::{Group, Nodes, halves, put};
use crate::order::{ARITY, Order, Part};
use crate::path::Naming;
use crate::strings;

/// Words that are compared together.
const BLOCK: usize = 4;

/// A key and its tree.
#[derive(Debug)]
pub struct LargePath {
    /// Bytes of the key.
    len: usize,
    /// The key in words of eight bytes; zeros behind its end.
    words: Vec<u64>,
    /// The slots of all joins, that of the root last.
    joins: Vec<Slots>,
    /// Used when sets do not fit into a word.
    wide: [Wide; 2],
    /// Joins still to be unfolded, and their slots.
    unfold: Vec<(u32, Group)>,
    /// Whether the values are those of `key`.
    valid: bool,
}

/// The slots of a join, two in a word.
#[derive(Clone, Copy, Debug, Default)]
struct Slots {
    /// For the key that is looked up, and as `base` in between.
    value: Group,
    /// Where the path stands.
    base: Group,
}

/// A set of small numbers.
trait Bits {
    fn add(&mut self, number: u32);

    /// Takes the lowest number out. A number below one that was taken out is not added before the set is
    /// empty.
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
    /// Joins whose nodes must be looked up; the root's is the last.
    dirty: B,
    /// Joins that were dirty.
    touched: B,
}

impl LargePath {
    /// A path that stands nowhere.
    pub fn new(order: &Order) -> Self {
        let joins = order.n_inner() + 1;
        LargePath {
            len: order.len(),
            words: vec![0; order.len().div_ceil(8)],
            joins: vec![Slots::default(); joins],
            wide: std::array::from_fn(|_| Wide { words: vec![0; joins / 64 + 1], first: 0 }),
            unfold: Vec::new(),
            valid: false,
        }
    }

    /// How many bytes a path of this order uses at most.
    pub fn memory(order: &Order) -> usize {
        let joins = order.n_inner() + 1;
        order.len() + 8 + 2 * size_of::<Group>() * joins + 2 * 8 * (joins / 64 + 1) + 24 * joins
    }

    /// Appends the key where the path stands.
    #[inline(always)]
    pub fn append_key(&self, out: &mut Vec<u8>) {
        strings::append(&self.words, self.len, out);
    }

    /// The root of the key that is looked up, whose nodes have been named.
    #[inline(always)]
    fn root(&self) -> (u32, u32) {
        self.joins.last().map_or((0, 0), |root| halves(root.value))
    }

    /// Changes all bytes that are different for `key`, and marks the joins in which they are.
    #[inline(always)]
    fn compare<B: Bits>(&mut self, order: &Order, key: &[u8], dirty: &mut B) {
        let (joins, places) = (self.joins.as_mut_slice(), order.places());
        let blocks = key.chunks_exact(8 * BLOCK);
        let words = blocks.remainder().chunks_exact(8);
        let end = end(key, words.remainder().len());
        let mut at = 0;
        for (old, new) in self.words.chunks_exact(BLOCK).zip(blocks) {
            if differs(old, new) {
                for (i, (&old, new)) in old.iter().zip(new.chunks_exact(8)).enumerate() {
                    differ(joins, places, at + i, old ^ word(new), dirty);
                }
            }
            at += BLOCK;
        }
        for new in words {
            let old = self.words.get(at).copied().unwrap_or_default();
            differ(joins, places, at, old ^ word(new), dirty);
            at += 1;
        }
        if let Some(old) = self.words.get(at) {
            differ(joins, places, at, old ^ end, dirty);
        }
    }

    /// Finds the tree of `key`.
    #[inline(always)]
    fn step<B: Bits, N: Naming>(
        &mut self,
        order: &Order,
        key: &[u8],
        changes: &mut Changes<B>,
        naming: &mut N,
    ) -> Result<(), N::Error> {
        let inner = order.n_inner() as u32;
        if !self.valid {
            (0..inner).for_each(|join| changes.dirty.add(join));
        }
        self.compare(order, key, &mut changes.dirty);
        while let Some(join) = changes.dirty.pop() {
            changes.touched.add(join);
            if join == inner {
                break;
            }
            let [first, second] = &self.joins[join as usize].value;
            let name = naming.name(join as usize, [*first, *second])?;
            let up = order.up(join as usize);
            put(&mut self.joins[up as usize / ARITY].value, up as usize % ARITY, name);
            changes.dirty.add(up / 4);
        }
        Ok(())
    }

    /// Makes the changes stay, or takes them back.
    #[inline(always)]
    fn finish<B: Bits>(&mut self, changes: &mut Changes<B>, stay: bool) {
        let joins = self.joins.as_mut_slice();
        let mut finish = |join: u32| {
            let slots = &mut joins[join as usize];
            *(if stay { &mut slots.base } else { &mut slots.value }) =
                if stay { slots.value } else { slots.base };
        };
        while let Some(join) = changes.touched.pop() {
            finish(join);
        }
        // There are some when a name could not be given.
        while let Some(join) = changes.dirty.pop() {
            finish(join);
        }
    }

    #[inline(always)]
    fn visit<B: Bits, N: Naming>(
        &mut self,
        order: &Order,
        key: &[u8],
        stay: bool,
        changes: &mut Changes<B>,
        naming: &mut N,
    ) -> Result<(u32, u32), N::Error> {
        let result = self.step(order, key, changes, naming).map(|()| self.root());
        let stay = stay && result.is_ok();
        self.finish(changes, stay);
        if stay {
            self.read_words(key);
            self.valid = true;
        }
        result
    }

    /// Visits a key in trees of any size.
    #[cold]
    fn visit_wide<N: Naming>(
        &mut self,
        order: &Order,
        key: &[u8],
        stay: bool,
        naming: &mut N,
    ) -> Result<(u32, u32), N::Error> {
        let [dirty, touched] = std::mem::take(&mut self.wide);
        let mut changes = Changes { dirty, touched };
        let result = self.visit(order, key, stay, &mut changes, naming);
        self.wide = [changes.dirty, changes.touched];
        self.wide.iter_mut().for_each(Wide::clear);
        result
    }

    /// Stands at `key`; its root.
    #[inline]
    pub fn go<N: Naming>(
        &mut self,
        order: &Order,
        key: &[u8],
        naming: &mut N,
    ) -> Result<(u32, u32), N::Error> {
        if is_small(order) {
            return self.visit(order, key, true, &mut Changes { dirty: 0u64, touched: 0 }, naming);
        }
        self.visit_wide(order, key, true, naming)
    }

    /// The root of `key`; the path stays where it is, if it stands anywhere.
    #[inline(always)]
    pub fn look<N: Naming>(
        &mut self,
        order: &Order,
        key: &[u8],
        naming: &mut N,
    ) -> Result<(u32, u32), N::Error> {
        if is_small(order) && self.valid {
            return self.visit(order, key, false, &mut Changes { dirty: 0u64, touched: 0 }, naming);
        }
        self.visit_wide(order, key, !self.valid, naming)
    }

    /// Stands at the key with this root.
    pub fn unfold(&mut self, order: &Order, nodes: &[Nodes], (left, right): (u32, u32)) {
        if !self.valid {
            self.words.fill(0);
            self.joins.fill(Slots::default());
        }
        self.unfold.clear();
        self.unfold.push((order.n_inner() as u32, [u64::from(left) | u64::from(right) << 32, 0]));
        while let Some((join, group)) = self.unfold.pop() {
            let slots = &mut self.joins[join as usize];
            let known = std::mem::replace(slots, Slots { value: group, base: group }).base;
            let parts = order.parts(join as usize).chunks_exact(2);
            for ((known, group), parts) in known.into_iter().zip(group).zip(parts) {
                let difference = known ^ group;
                if difference == 0 && self.valid {
                    continue;
                }
                for (part, shift) in parts.iter().zip([0, 32]) {
                    let difference = (difference >> shift) as u32;
                    match *part {
                        Part::Leaf(bytes) => change(&mut self.words, bytes, difference),
                        Part::Join(part) if difference != 0 || !self.valid => {
                            self.unfold.push((part, nodes[part as usize].get((group >> shift) as u32)));
                        }
                        Part::Empty | Part::Join(_) => {}
                    }
                }
            }
        }
        self.valid = true;
    }

    /// Keeps the words of a key.
    #[inline(always)]
    fn read_words(&mut self, key: &[u8]) {
        for (old, new) in self.words.iter_mut().zip(key.chunks_exact(8)) {
            *old = word(new);
        }
        if let Some(last) = self.words.get_mut(key.len() / 8) {
            *last = end(key, key.len() % 8);
        }
    }
}

/// Changes those bytes of a key that are different in a leaf.
#[inline(always)]
fn change(words: &mut [u64], bytes: [u32; 4], mut difference: u32) {
    while difference != 0 {
        let low = difference.trailing_zeros() & !7;
        let changed = difference & 0xff << low;
        // A byte that is not there never changes.
        let byte = bytes[low as usize / 8 % 4];
        words[byte as usize / 8] ^= u64::from(changed >> low) << (byte % 8 * 8);
        difference ^= changed;
    }
}

/// Whether a set of the joins fits into a word.
#[inline]
fn is_small(order: &Order) -> bool {
    order.n_inner() < 64
}

/// Eight bytes as a word.
#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Whether a block of words is different.
#[inline(always)]
fn differs(old: &[u64], new: &[u8]) -> bool {
    let differences = old.iter().zip(new.chunks_exact(8)).map(|(old, new)| old ^ word(new));
    differences.fold(0, |any, difference| any | difference) != 0
}

/// Changes those bytes of a word of the key that are different.
#[inline(always)]
fn differ<B: Bits>(joins: &mut [Slots], places: &[u32], at: usize, mut difference: u64, dirty: &mut B) {
    while difference != 0 {
        let low = difference.trailing_zeros() & !7;
        let place = places[8 * at + low as usize / 8];
        let changed = difference & 0xff << low;
        joins[place as usize / 16].value[place as usize / 8 % 2] ^= changed >> low << (place % 8 * 8);
        dirty.add(place / 16);
        difference ^= changed;
    }
}

/// The last `len` bytes of a key, fewer than eight. They are read together with bytes in front of them if
/// there are enough.
#[inline]
fn end(key: &[u8], len: usize) -> u64 {
    match key.last_chunk() {
        _ if len == 0 => 0,
        Some(bytes) => u64::from_le_bytes(*bytes) >> (64 - 8 * len),
        None => key.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}
