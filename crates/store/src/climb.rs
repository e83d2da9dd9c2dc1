//! Keys that climb together from what is different to their roots.
//!
//! The nodes above what is different are looked up one after another, and every look-up waits for memory. But
//! keys do not depend on each other. So a key is first only *outlined*: the slots of all joins are put
//! together, and the memory is asked for in which the first node is looked for. Then all keys of a batch
//! climb, one join each at a time ([`Climbs::climb`]). When a key has its turn again, what it asked for is
//! there.

use crate::nodes::{Group, halves, hash, put};
use crate::order::ARITY;
use crate::shuffle::{Block, MOST, MOST_JOINS, Slots, pieces_of};
use crate::small_path::above;
use crate::tree::{Family, Ticket};

/// Keys that were outlined.
#[derive(Debug, Default)]
pub struct Climbs {
    /// The slots of all joins, for one key after another; there is room behind those that are used.
    slots: Vec<Block>,
    used: usize,
    climbs: Vec<Climb>,
}

/// A key that climbs.
#[derive(Clone, Copy, Debug)]
pub struct Climb {
    /// The family to which it belongs.
    pub family: u32,
    /// The number of its ticket.
    pub ticket: u32,
    /// Slots that are different: the nodes of their joins must be looked up.
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

    /// A name for a group with this hash at a join of a family, where there was none.
    fn add(&mut self, family: u32, join: usize, group: Group, hash: u64) -> Result<u32, Self::Error>;

    /// The family of a key.
    #[inline(always)]
    fn family(&self, climb: &Climb) -> &Family {
        &self.families()[climb.family as usize]
    }
}

impl Climb {
    /// The first join that is different.
    #[inline(always)]
    fn join(&self) -> usize {
        self.different.trailing_zeros() as usize / ARITY
    }

    /// Asks for the memory where the next join must be. At the root, for that of the ticket, which is
    /// complete then; false.
    #[inline(always)]
    fn ask<G: Guide>(&mut self, slots: &Slots, guide: &mut G) -> bool {
        let (join, family) = (self.join(), guide.family(self));
        if let Some(nodes) = family.nodes.get(join) {
            self.hash = hash(slots[join % MOST_JOINS].0);
            nodes.prefetch(self.hash);
            return true;
        }
        let root = halves(slots[family.nodes.len() % MOST_JOINS].0);
        let ticket = Ticket::new(self.family, root, family.roots.as_ref());
        *guide.ticket(self.ticket) = ticket;
        false
    }

    /// Climbs one join.
    #[inline(always)]
    fn climb<G: Guide>(&mut self, slots: &mut Slots, guide: &mut G) -> Result<(), G::Error> {
        let (join, family) = (self.join(), guide.family(self));
        let group = slots[join % MOST_JOINS].0;
        let up = family.order.up(join) as usize;
        let name = match family.nodes[join].look(group, self.hash) {
            Some(name) => name,
            None => guide.add(self.family, join, group, self.hash)?,
        };
        put(&mut slots[up / ARITY % MOST_JOINS].0, up % ARITY, name);
        self.different = above(self.different, join) | 1 << up;
        Ok(())
    }
}

impl Climbs {
    /// Forgets all keys.
    #[inline]
    pub fn clear(&mut self) {
        self.used = 0;
        self.climbs.clear();
    }

    /// Whether all have arrived.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.climbs.is_empty()
    }

    /// Room for blocks for the slots of the next key.
    #[inline(always)]
    pub fn room(&mut self, blocks: usize) -> &mut [Block] {
        let start = self.used;
        self.used += blocks;
        // As many behind it as a key may have, so that no key has less.
        if self.slots.len() < self.used + MOST {
            self.more_room();
        }
        &mut self.slots[start..self.used]
    }

    #[cold]
    fn more_room(&mut self) {
        self.slots.resize((self.used + MOST).next_power_of_two(), Block::default());
    }

    /// Lets a key climb for whose slots there was room for `blocks` blocks, and which is different in these
    /// slots.
    #[inline(always)]
    pub fn start(&mut self, family: u32, ticket: u32, different: u64, blocks: usize) {
        let slots = (self.used - blocks) as u32;
        self.climbs.push(Climb { family, ticket, different, hash: 0, slots });
    }

    /// All climb to their roots. If a name cannot be given they stay where they are, and can go on later.
    #[inline(always)]
    pub(crate) fn climb<G: Guide>(&mut self, guide: &mut G) -> Result<(), G::Error> {
        // The first round only asks for memory, so that no key waits for its first join.
        self.round(guide, |_, _, _| Ok(()))?;
        while !self.is_empty() {
            self.round(guide, Climb::climb)?;
        }
        self.used = 0;
        Ok(())
    }

    /// Every key makes a step; then it asks for what it needs next.
    #[inline(always)]
    fn round<G: Guide>(
        &mut self,
        guide: &mut G,
        step: impl Fn(&mut Climb, &mut Slots, &mut G) -> Result<(), G::Error>,
    ) -> Result<(), G::Error> {
        let mut kept = 0;
        for number in 0..self.climbs.len() {
            let mut climb = self.climbs[number];
            let Some(blocks) = self.slots[climb.slots as usize..].first_chunk_mut() else { continue };
            let slots = pieces_of(blocks);
            if let Err(error) = step(&mut climb, slots, guide) {
                // Those before have taken their step; this one and those behind it have not, and take it
                // later.
                self.climbs.drain(kept..number);
                return Err(error);
            }
            if climb.ask(slots, guide) {
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
