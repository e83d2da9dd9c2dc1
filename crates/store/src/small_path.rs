//! A path in a small tree: all joins are looked at for every key, so that nothing depends on what has changed where.
//!
//! The slots of all joins for a key are put together at once ([`Shuffle`]); then the nodes above those that differ from the path's are
//! looked up. Unfolding reads the nodes of all joins, from the top down, also those that are the same as before.

use crate::climb::Climbs;
use crate::nodes::{Nodes, halves, put};
use crate::order::{ARITY, Order};
use crate::path::Naming;
use crate::shuffle::{Piece, Shuffle};

/// A key and its tree.
#[derive(Debug)]
pub struct SmallPath {
    shuffle: Shuffle,
    /// The slots of all joins where the path stands, those of the root last.
    base: Vec<Piece>,
    /// The slots for the key that is looked up.
    value: Vec<Piece>,
    /// Whether it stands anywhere.
    valid: bool,
}

impl SmallPath {
    /// A path that stands nowhere.
    pub fn new(order: &Order, shuffle: &Shuffle) -> Self {
        let slots = vec![Piece::default(); order.n_inner() + 1];
        SmallPath { shuffle: shuffle.clone(), base: slots.clone(), value: slots, valid: false }
    }

    /// How many bytes a path of this order uses.
    pub fn memory(order: &Order, shuffle: &Shuffle) -> usize {
        2 * size_of::<Piece>() * (order.n_inner() + 1) + shuffle.memory()
    }

    /// Appends the key where the path stands.
    #[inline(always)]
    pub fn append_key(&self, out: &mut Vec<u8>) {
        self.shuffle.scatter(&self.base, out);
    }

    /// Puts the slots of all joins for `key` there; the set of joins that are different.
    #[inline(always)]
    pub fn outline(&self, key: &[u8], climbs: &mut Climbs) -> u64 {
        let different = self.shuffle.gather(key, &self.base, climbs.room(self.base.len()));
        if self.valid { different } else { u64::MAX }
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
        let slots = self.value.as_mut_slice();
        loop {
            let join = different.trailing_zeros() as usize;
            if join >= root {
                break;
            }
            different &= different - 1;
            let name = naming.name(join, slots[join].0)?;
            let up = order.up(join) as usize;
            put(&mut slots[up / ARITY].0, up % ARITY, name);
            different |= 1 << (up / ARITY);
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
    #[inline(always)]
    pub fn unfold(&mut self, order: &Order, nodes: &[Nodes], (left, right): (u32, u32)) {
        let slots = self.base.as_mut_slice();
        let root = order.n_inner();
        slots[root] = Piece([u64::from(left) | u64::from(right) << 32, 0]);
        for join in (0..root).rev() {
            let up = order.up(join) as usize;
            let name = (slots[up / ARITY].0[up / 2 % 2] >> (up % 2 * 32)) as u32;
            nodes[join].copy(name, &mut slots[join]);
        }
        self.valid = true;
    }
}
