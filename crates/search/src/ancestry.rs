//! From a state back to the beginning, for a search that takes states in the order in which it found them.
//!
//! States have no names here but their *ordinals*: the first is 0, and they are expanded in that order. So the parents of
//! states 1, 2, 3 … never decrease, and it is enough to write down, for each expanded state, which of its edges led to a
//! new state: half a byte for each, and half a byte for the end. About one byte a state, written one after another,
//! whatever the store does with its entries.
//!
//! A state that was not inserted while its parent was expanded (see `frontier`: a long atomic sequence) is noted apart.
//!
//! Landmarks at regular distances make going back quick: to the nearest landmark, then along the log.

use std::collections::{BTreeMap, TryReserveError};

/// The place of a state in the order of finding.
pub type Ordinal = u64;

/// Parents between two landmarks.
const STRETCH: u64 = 1024;
/// Bits of a number in a half-byte; the fourth says that more follow.
const GROUP: u32 = 3;

/// A place in the log from which it can be read.
#[derive(Clone, Copy, Debug)]
struct Landmark {
    /// The half-byte.
    at: u64,
    /// The parent that is expanded here.
    parent: Ordinal,
    /// The state that is found next.
    child: Ordinal,
}

/// Which edge of which state led to each state.
#[derive(Debug, Default)]
pub struct Ancestry {
    /// Half-bytes, the lower one first: for each parent the numbers of its edges plus one, in groups of three bits, and a 0.
    log: Vec<u8>,
    /// Half-bytes written.
    written: u64,
    landmarks: Vec<Landmark>,
    parent: Ordinal,
    child: Ordinal,
    apart: BTreeMap<Ordinal, (Ordinal, u32)>,
    landmark_due: bool,
}

impl Ancestry {
    /// The initial state was found; it is expanded first.
    pub fn begin(&mut self) -> Result<(), TryReserveError> {
        self.child = 1;
        self.place_landmark()
    }

    /// How many states were found.
    pub fn found_so_far(&self) -> u64 {
        self.child
    }

    /// The state that is being expanded, or will be next.
    pub fn parent(&self) -> Ordinal {
        self.parent
    }

    /// The edge with this number of the state that is being expanded led to a new state.
    pub fn found(&mut self, edge: u32) -> Result<(), TryReserveError> {
        self.log.try_reserve(8)?;
        if self.landmark_due {
            self.place_landmark()?;
        }
        let mut rest = u64::from(edge) + 1;
        while rest >= 1 << GROUP {
            self.write(rest as u8 & 7 | 8);
            rest >>= GROUP;
        }
        self.write(rest as u8);
        self.child += 1;
        Ok(())
    }

    /// A state was found by an edge of a state that was expanded before.
    pub fn found_apart(&mut self, parent: Ordinal, edge: u32) {
        self.apart.insert(self.child, (parent, edge));
        self.child += 1;
        self.landmark_due = true;
    }

    /// The state has been expanded; the next one follows.
    pub fn expanded(&mut self) -> Result<(), TryReserveError> {
        self.log.try_reserve(8)?;
        if self.landmark_due {
            self.place_landmark()?;
        }
        self.write(0);
        self.parent += 1;
        self.landmark_due = self.parent % STRETCH == 0;
        Ok(())
    }

    fn place_landmark(&mut self) -> Result<(), TryReserveError> {
        self.landmarks.try_reserve(1)?;
        self.landmarks.push(Landmark { at: self.written, parent: self.parent, child: self.child });
        self.landmark_due = false;
        Ok(())
    }

    fn write(&mut self, half: u8) {
        if self.written % 2 == 0 {
            self.log.push(half);
        } else if let Some(last) = self.log.last_mut() {
            *last |= half << 4;
        }
        self.written += 1;
    }

    fn read(&self, at: u64) -> u8 {
        self.log[(at / 2) as usize] >> (4 * (at % 2)) & 15
    }

    /// The parent of a state and the number of the edge, or `None` for the initial state.
    fn origin(&self, state: Ordinal) -> Option<(Ordinal, u32)> {
        if let Some(&origin) = self.apart.get(&state) {
            return Some(origin);
        }
        let after = self.landmarks.partition_point(|landmark| landmark.child <= state);
        let Landmark { mut at, mut parent, mut child } = *self.landmarks.get(after.checked_sub(1)?)?;
        while at < self.written {
            let (mut number, mut shift) = (0u64, 0);
            loop {
                let half = self.read(at);
                at += 1;
                number |= u64::from(half & 7) << shift;
                shift += GROUP;
                if half & 8 == 0 {
                    break;
                }
            }
            match number.checked_sub(1) {
                None => parent += 1,
                Some(edge) if child == state => return Some((parent, edge as u32)),
                Some(_) => child += 1,
            }
        }
        None
    }

    /// The numbers of the edges that lead from the initial state to `state`.
    pub fn edges_to(&self, state: Ordinal) -> Vec<u32> {
        let mut edges = Vec::new();
        let mut at = state;
        while let Some((parent, edge)) = self.origin(at) {
            edges.push(edge);
            at = parent;
        }
        edges.reverse();
        edges
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> u64 {
        let landmarks = self.landmarks.capacity() * size_of::<Landmark>();
        (self.log.capacity() + landmarks + self.apart.len() * 32) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Random trees, some states found apart, compared with links kept in the plainest way.
    #[test]
    fn leads_back_as_plain_links_do() {
        for seed in 0..30 {
            let mut random = Random::new(seed);
            let mut ancestry = Ancestry::default();
            let mut links: Vec<Option<(u64, u32)>> = vec![None];
            ancestry.begin().unwrap();
            for parent in 0..5000u64 {
                if parent >= links.len() as u64 {
                    break;
                }
                assert_eq!(ancestry.parent(), parent);
                for _ in 0..random.below(4) {
                    let most = if random.below(9) == 0 { 100_000 } else { 9 };
                    let edge = random.below(most) as u32;
                    ancestry.found(edge).unwrap();
                    links.push(Some((parent, edge)));
                }
                ancestry.expanded().unwrap();
                if seed % 2 == 0 && random.below(50) == 0 {
                    for _ in 0..random.below(5) {
                        let from = random.below(parent as usize + 1) as u64;
                        ancestry.found_apart(from, 77);
                        links.push(Some((from, 77)));
                    }
                }
            }
            assert_eq!(ancestry.found_so_far(), links.len() as u64);
            for (state, link) in links.iter().enumerate() {
                assert_eq!(ancestry.origin(state as u64), *link, "seed {seed}, state {state}");
            }
            let mut edges = Vec::new();
            let mut at = links.len() - 1;
            while let Some((parent, edge)) = links[at] {
                edges.insert(0, edge);
                at = parent as usize;
            }
            assert_eq!(ancestry.edges_to(links.len() as u64 - 1), edges);
        }
    }

    #[test]
    fn a_state_costs_about_one_byte() {
        let mut ancestry = Ancestry::default();
        ancestry.begin().unwrap();
        for _ in 0..1 << 20 {
            ancestry.found(3).unwrap();
            ancestry.expanded().unwrap();
        }
        assert!(ancestry.log.len() <= 1 << 20);
        assert!(ancestry.landmarks.len() as u64 <= (1 << 20) / STRETCH + 1);
    }
}
