//! Keys that climb together from what is different to their roots.
//!
//! The nodes above what is different are looked up one after another, and every look-up waits for memory. But keys do not depend
//! on each other. So a key is first only *outlined*: the slots of all joins are put together, and the memory is asked for in which the
//! first node is looked for. Then all keys of a batch climb, one join each at a time ([`Climbs::climb`]). When a key has its turn again,
//! what it asked for is there.

use crate::nodes::{Group, halves, hash, put};
use crate::order::ARITY;
use crate::shuffle::Piece;
use crate::tree::{Family, Ticket};

/// Keys that were outlined.
#[derive(Debug, Default)]
pub struct Climbs {
    /// The slots of all joins, for one key after another.
    slots: Vec<Piece>,
    climbs: Vec<Climb>,
}

/// A key that climbs.
#[derive(Clone, Copy, Debug)]
pub struct Climb {
    /// The family to which it belongs.
    pub family: u32,
    /// The number of its ticket.
    pub ticket: u32,
    /// Joins whose nodes must be looked up.
    different: u64,
    /// The hash of the first one's slots.
    hash: u64,
    /// Where its slots are.
    slots: u32,
}

/// Who knows the trees in which keys climb, and has their tickets.
pub(crate) trait Guide {
    /// Why a name cannot be given.
    type Error;

    /// All families.
    fn families(&self) -> &[Family];

    /// The ticket of this number.
    fn ticket(&mut self, number: u32) -> &mut Ticket;

    /// The name of a group with this hash at a join of a family.
    fn name(&mut self, family: u32, join: usize, group: Group, hash: u64) -> Result<u32, Self::Error>;

    /// A key has climbed to its root.
    #[inline(always)]
    fn arrive(&mut self, climb: Climb, root: (u32, u32)) {
        let roots = self.families()[climb.family as usize].roots.as_ref();
        *self.ticket(climb.ticket) = Ticket::new(climb.family, root, roots);
    }
}

impl Climbs {
    /// Forgets all keys.
    #[inline]
    pub fn clear(&mut self) {
        self.slots.clear();
        self.climbs.clear();
    }

    /// Whether all have arrived.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.climbs.is_empty()
    }

    /// Room for the slots of so many joins of the next key.
    #[inline(always)]
    pub fn room(&mut self, joins: usize) -> &mut [Piece] {
        if self.climbs.is_empty() {
            self.slots.clear();
        }
        let start = self.slots.len();
        self.slots.resize(start + joins, Piece::default());
        &mut self.slots[start..]
    }

    /// Lets the key climb whose slots were put there, and which is different in these joins.
    #[inline(always)]
    pub(crate) fn start<G: Guide>(&mut self, family: u32, ticket: u32, different: u64, guide: &mut G) {
        let root = guide.families()[family as usize].order.n_inner();
        let slots = self.slots.len() - root - 1;
        let climb = Climb { family, ticket, different, hash: 0, slots: slots as u32 };
        if let Some(climb) = Self::look_up(&self.slots[slots..], climb, root, guide) {
            self.climbs.push(climb);
        }
    }

    /// Looks at the next join, unless it is the root.
    #[inline(always)]
    fn look_up<G: Guide>(slots: &[Piece], mut climb: Climb, root: usize, guide: &mut G) -> Option<Climb> {
        let join = climb.different.trailing_zeros() as usize;
        if join >= root {
            guide.arrive(climb, halves(slots[root].0));
            return None;
        }
        climb.hash = hash(slots[join].0);
        guide.families()[climb.family as usize].nodes[join].prefetch(climb.hash);
        Some(climb)
    }

    /// All climb to their roots. If a name cannot be given they stay where they are, and can go on later.
    #[inline(always)]
    pub(crate) fn climb<G: Guide>(&mut self, guide: &mut G) -> Result<(), G::Error> {
        while !self.is_empty() {
            self.round(guide)?;
        }
        Ok(())
    }

    /// Every key climbs one join.
    #[inline(always)]
    fn round<G: Guide>(&mut self, guide: &mut G) -> Result<(), G::Error> {
        let mut kept = 0;
        for number in 0..self.climbs.len() {
            let mut climb = self.climbs[number];
            let slots = &mut self.slots[climb.slots as usize..];
            let join = climb.different.trailing_zeros() as usize;
            let name = match guide.name(climb.family, join, slots[join].0, climb.hash) {
                Ok(name) => name,
                Err(error) => {
                    self.climbs.drain(kept..number);
                    return Err(error);
                }
            };
            let order = &guide.families()[climb.family as usize].order;
            let (root, up) = (order.n_inner(), order.up(join) as usize);
            put(&mut slots[up / ARITY].0, up % ARITY, name);
            climb.different = climb.different & (climb.different - 1) | 1 << (up / ARITY);
            if let Some(climb) = Self::look_up(slots, climb, root, guide) {
                self.climbs[kept] = climb;
                kept += 1;
            }
        }
        self.climbs.truncate(kept);
        Ok(())
    }

    /// The families of those who climb.
    pub fn families(&self) -> impl Iterator<Item = u32> {
        self.climbs.iter().map(|climb| climb.family)
    }

    /// Takes out those who cannot go on in their family.
    pub fn lost(&mut self, is_lost: impl Fn(u32) -> bool) -> Vec<Climb> {
        let lost = self.climbs.iter().copied().filter(|climb| is_lost(climb.family)).collect();
        self.climbs.retain(|climb| !is_lost(climb.family));
        lost
    }
}
