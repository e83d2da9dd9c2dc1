//! A path in a tree whose bytes can be shuffled: all joins are looked at for every key, so that nothing
//! depends on what has changed where.
//!
//! The slots of all joins for a key are put together at once ([`Shuffle`]); then the nodes above those that
//! differ from the path's are looked up. Unfolding reads the nodes of all joins, from the top down, also
//! those that are the same as before.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::climb::Climbs;
use crate::nodes::{Nodes, halves, put};
use crate::order::{ARITY, Order};
use crate::path::Naming;
use crate::shuffle::{Block, MOST_JOINS, Piece, Shuffle, Shuffle64, pieces_mut};

/// A key and its tree.
#[derive(Debug)]
pub struct SmallPath {
    shuffle: Shuffle,
    /// The slots of all joins where the path stands, those of the root last.
    base: Vec<Block>,
    /// The slots for the key that is looked up.
    value: Vec<Block>,
    /// Whether it stands anywhere.
    valid: bool,
}

/// The part at a slot of a group of names.
#[inline(always)]
fn name(group: [u64; 2], slot: usize) -> u32 {
    (group[slot / 2 % 2] >> (slot % 2 * 32)) as u32
}

impl SmallPath {
    /// A path that stands nowhere.
    pub fn new(order: &Order, shuffle: &Shuffle) -> Self {
        let slots = || vec![Block::default(); order.n_blocks()];
        SmallPath { base: slots(), value: slots(), valid: false, shuffle: shuffle.clone() }
    }

    /// How many bytes a path of this order uses.
    pub fn memory(order: &Order, shuffle: &Shuffle) -> usize {
        2 * size_of::<Block>() * order.n_blocks() + shuffle.memory()
    }

    /// Appends the key where the path stands.
    #[inline(always)]
    pub fn append_key(&self, out: &mut Vec<u8>) {
        self.shuffle.scatter(&self.base, out);
    }

    /// Outlines a key of this family: it is to climb.
    #[inline(always)]
    pub fn outline(&self, family: u32, key: &[u8], ticket: u32, climbs: &mut Climbs) {
        let blocks = self.base.len();
        let different = self.shuffle.gather(key, &self.base, climbs.room(blocks));
        climbs.start(family, ticket, if self.valid { different } else { u64::MAX }, blocks);
    }

    /// The root of `key`; the path stays where it is.
    #[inline(always)]
    pub fn look<N: Naming>(
        &mut self,
        order: &Order,
        key: &[u8],
        naming: &mut N,
    ) -> Result<(u32, u32), N::Error> {
        let root = order.n_inner();
        let mut different = self.shuffle.gather(key, &self.base, &mut self.value);
        if !self.valid {
            different = u64::MAX;
        }
        // What is above a join comes behind it.
        let slots = pieces_mut(&mut self.value);
        loop {
            let join = different.trailing_zeros() as usize / ARITY;
            if join >= root {
                break;
            }
            let name = naming.name(join, slots[join].0)?;
            let up = order.up(join) as usize;
            put(&mut slots[up / ARITY].0, up % ARITY, name);
            different = above(different, join) | 1 << up;
        }
        Ok(halves(slots[root].0))
    }

    /// Stands at `key`; its root.
    pub fn go<N: Naming>(
        &mut self,
        order: &Order,
        key: &[u8],
        naming: &mut N,
    ) -> Result<(u32, u32), N::Error> {
        let root = self.look(order, key, naming)?;
        self.base.copy_from_slice(&self.value);
        self.valid = true;
        Ok(root)
    }

    /// Stands at the key with this root.
    fn unfold(&mut self, order: &Order, nodes: &[Nodes], (left, right): (u32, u32)) {
        let slots = pieces_mut(&mut self.base);
        let root = order.n_inner();
        slots[root] = Piece([u64::from(left) | u64::from(right) << 32, 0]);
        for join in (0..root).rev() {
            let up = order.up(join) as usize;
            let name = name(slots[up / ARITY].0, up % ARITY);
            nodes[join].copy(name, &mut slots[join]);
        }
        self.valid = true;
    }

    /// Stands at the key with this root, and appends it.
    #[inline(always)]
    pub fn recall(&mut self, order: &Order, nodes: &[Nodes], root: (u32, u32), out: &mut Vec<u8>) {
        if let Shuffle::SixtyFour(shuffle) = &self.shuffle {
            collect(order, nodes, root, shuffle, &mut self.base, out);
            self.valid = true;
            return;
        }
        self.unfold(order, nodes, root);
        self.append_key(out);
    }
}

/// The slots of a set above those of a join.
#[inline(always)]
pub fn above(slots: u64, join: usize) -> u64 {
    slots & !0 << (ARITY * join + ARITY)
}

/// Appends the key with this root, the slots of which are written to `base`. Names are read where the nodes
/// lie: what has been written in pieces must not be read as a whole before it has arrived.
#[inline(always)]
fn collect(
    order: &Order,
    nodes: &[Nodes],
    (left, right): (u32, u32),
    shuffle: &Shuffle64,
    base: &mut [Block],
    out: &mut Vec<u8>,
) {
    let nothing = [AtomicU64::new(0), AtomicU64::new(0)];
    let top = [AtomicU64::new(u64::from(left) | u64::from(right) << 32), AtomicU64::new(0)];
    let mut groups = [&nothing; MOST_JOINS];
    groups[nodes.len() % MOST_JOINS] = &top;
    for (join, nodes) in nodes.iter().enumerate().rev() {
        let up = order.up(join) as usize;
        let group = groups[up / ARITY % MOST_JOINS];
        let name = (group[up / 2 % 2].load(Relaxed) >> (up % 2 * 32)) as u32;
        groups[join % MOST_JOINS] = nodes.group(name);
    }
    shuffle.collect(&groups, base, out);
}
