//! Where states came from that other processes found: about three bytes for each.
//!
//! Within a process the way back is in its [`Ancestry`], which has states in their order of finding. Those that
//! were sent by others stand in the same order, in *rows*: the new states of one parcel, one after another.
//! Of each the sender's number of the parent is kept, as a difference, and the number of the edge. So a way
//! back leads from process to process ([`way_back`]).

use super::parcel::{Origin, put, take};
use crate::ancestry::{Ancestry, Lineage, Ordinal};
use crate::outcome::StopReason;
use crate::outcome::no_memory;

/// States of a row at most: it is read from its beginning.
const MOST: u64 = 4096;

/// New states that one process sent, one after another in the order of finding here.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// The first of them.
    first: Ordinal,
    n: u64,
    /// Where its bytes begin.
    at: usize,
    sender: usize,
}

/// The states that others found.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    rows: Vec<Row>,
    bytes: Vec<u8>,
    /// The parent of the last state.
    parent: Ordinal,
}

impl Origins {
    /// The next states come from another parcel.
    pub fn next_parcel(&mut self) {
        if let Some(last) = self.rows.last_mut() {
            // What comes next begins a row.
            last.n |= CLOSED;
        }
    }

    /// Notes where a state comes from, which has this number here.
    pub fn add(&mut self, state: Ordinal, sender: usize, origin: Origin) -> Result<(), StopReason> {
        self.bytes.try_reserve(16).map_err(no_memory)?;
        let goes_on = |row: &&mut Row| {
            row.n < MOST && row.first + row.n == state && row.sender == sender && row.n & CLOSED == 0
        };
        match self.rows.last_mut().filter(goes_on) {
            Some(row) => row.n += 1,
            None => {
                self.rows.try_reserve(1).map_err(no_memory)?;
                self.rows.push(Row { first: state, n: 1, at: self.bytes.len(), sender });
                self.parent = 0;
            }
        }
        debug_assert!(origin.parent >= self.parent, "a parcel has states in the order of their parents");
        put(&mut self.bytes, origin.parent - self.parent);
        put(&mut self.bytes, u64::from(origin.edge));
        self.parent = origin.parent;
        Ok(())
    }

    /// Who sent a state, and how it was found there; `None` for those that were found here.
    pub fn origin(&self, state: Ordinal) -> Option<(usize, Origin)> {
        let after = self.rows.partition_point(|row| row.first <= state);
        let row = self.rows.get(after.checked_sub(1)?)?;
        let at = state.checked_sub(row.first).filter(|&at| at < row.n & !CLOSED)?;
        let (mut from, mut parent, mut edge) = (self.bytes.get(row.at..)?, 0u64, 0);
        for _ in 0..=at {
            parent = parent.checked_add(take(&mut from)?)?;
            edge = take(&mut from)?;
        }
        Some((row.sender, Origin { parent, edge: u32::try_from(edge).ok()? }))
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> u64 {
        (self.bytes.capacity() + self.rows.capacity() * size_of::<Row>()) as u64
    }
}

/// A bit of a row's number of states: nothing is added to it.
const CLOSED: u64 = 1 << 63;

/// A part of a way back, within one process.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WayBack {
    /// The numbers of the edges, the last one of the path first.
    pub edges: Vec<u32>,
    /// Where it goes on: the process, and the number there of a state. `None` where the search began.
    pub on: Option<(usize, Ordinal)>,
}

/// Edges of a part of a way back at most: a long one is told in several.
const LONGEST: usize = 1 << 16;

/// The way back from a state, as far as it leads within this process (of this rank).
pub(crate) fn way_back(ancestry: &Ancestry, origins: &Origins, rank: usize, mut state: Ordinal) -> WayBack {
    let (mut way, mut lineage) = (WayBack::default(), Lineage::new(ancestry));
    loop {
        if let Some((sender, origin)) = origins.origin(state) {
            way.edges.push(origin.edge);
            way.on = Some((sender, origin.parent));
            return way;
        }
        let Some((parent, edge)) = lineage.origin(state).filter(|origin| origin.0 < state) else {
            return way;
        };
        way.edges.push(edge);
        state = parent;
        if way.edges.len() >= LONGEST {
            way.on = Some((rank, state));
            return way;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// States of one process, found by itself and sent by others at random, compared with links kept in the
    /// plainest way.
    #[test]
    fn ways_lead_to_who_sent_a_state() {
        for seed in 0..20 {
            let mut random = Random::new(seed);
            let (mut ancestry, mut origins) = (Ancestry::default(), Origins::default());
            let mut links: Vec<Option<(Option<usize>, u64, u32)>> = vec![None];
            ancestry.begin().unwrap();
            for parent in 0..3000u64 {
                if random.below(9) == 0 {
                    let (sender, mut from) = (1 + random.below(3), 0);
                    let n = random.below(if seed % 2 == 0 { 9 } else { 2000 });
                    origins.next_parcel();
                    for _ in 0..n {
                        from += random.below(1000) as u64;
                        let edge = random.below(300) as u32;
                        origins.add(links.len() as u64, sender, Origin { parent: from, edge }).unwrap();
                        links.push(Some((Some(sender), from, edge)));
                    }
                    ancestry.found_elsewhere(n as u64);
                }
                if parent >= links.len() as u64 {
                    break;
                }
                for _ in 0..random.below(4) {
                    let edge = random.below(9) as u32;
                    ancestry.found(edge).unwrap();
                    links.push(Some((None, parent, edge)));
                }
                ancestry.expanded().unwrap();
            }
            assert_eq!(ancestry.found_so_far(), links.len() as u64);
            for start in (0..links.len()).step_by(7) {
                let way = way_back(&ancestry, &origins, 0, start as u64);
                let (mut edges, mut at, mut on) = (Vec::new(), start, None);
                while let Some((sender, parent, edge)) = links[at] {
                    edges.push(edge);
                    if let Some(sender) = sender {
                        on = Some((sender, parent));
                        break;
                    }
                    at = parent as usize;
                }
                assert_eq!(way, WayBack { edges, on }, "seed {seed}, state {start}");
            }
        }
    }
}
