//! The vector of a set that differs from another one at the fewest levels.

use crate::Ldd;
use crate::nodes::Set;
use std::collections::HashMap;

/// Looks for it; what is known of a list is remembered.
struct Search<'a> {
    ldd: &'a Ldd,
    to: &'a [u32],
    /// For each list at how many levels its best vector differs.
    known: HashMap<Set, u32>,
    /// Nodes that may still be looked at.
    left: usize,
}

impl Ldd {
    /// A vector of a set that differs from `to` at the fewest levels. Nothing where the set is empty, or has
    /// more than `most` nodes.
    pub fn nearest(&self, set: Set, to: &[u32], most: usize) -> Option<Vec<u32>> {
        let mut search = Search { ldd: self, to, known: HashMap::new(), left: most };
        search.distance(set, 0).filter(|&distance| distance < u32::MAX)?;
        let (mut vector, mut rest) = (Vec::with_capacity(to.len()), set);
        for level in 0..to.len() {
            let (value, down) = search.best(rest, level)?;
            vector.push(value);
            rest = down;
        }
        Some(vector)
    }
}

impl Search<'_> {
    /// How far the best vector of a list is; `u32::MAX` where there is none. Nothing when there is too much
    /// to look at.
    fn distance(&mut self, set: Set, level: usize) -> Option<u32> {
        if set.is_terminal() {
            return Some(if set.is_empty() { u32::MAX } else { 0 });
        }
        if let Some(&known) = self.known.get(&set) {
            return Some(known);
        }
        let ldd = self.ldd;
        let mut best = u32::MAX;
        for node in ldd.list(set) {
            self.left = self.left.checked_sub(1)?;
            let below = self.distance(node.down, level + 1)?;
            best = best.min(below.saturating_add(u32::from(node.value != self.to[level])));
        }
        self.known.insert(set, best);
        Some(best)
    }

    /// The first step of the best vector of a list.
    fn best(&mut self, set: Set, level: usize) -> Option<(u32, Set)> {
        let (ldd, wanted) = (self.ldd, self.distance(set, level)?);
        ldd.list(set).find_map(|node| {
            let below = self.distance(node.down, level + 1)?;
            let own = below.saturating_add(u32::from(node.value != self.to[level]));
            (own == wanted).then_some((node.value, node.down))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_vector_is_found() {
        let mut ldd = Ldd::new(u64::MAX);
        let mut seed = 5u64;
        let mut next = |n: u64| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed >> 11) % n
        };
        for _ in 0..300 {
            let mut vector = || -> Vec<u32> { (0..6).map(|_| next(3) as u32).collect() };
            let vectors: Vec<Vec<u32>> = (0..7).map(|_| vector()).collect();
            let to = vector();
            let set = ldd.set_of(vectors.iter().map(Vec::as_slice)).unwrap();
            let far = |from: &[u32]| from.iter().zip(&to).filter(|(a, b)| a != b).count();
            let found = ldd.nearest(set, &to, 1000).unwrap();
            assert!(vectors.contains(&found));
            assert_eq!(Some(far(&found)), vectors.iter().map(|vector| far(vector)).min());
            assert_eq!(ldd.nearest(set, &to, 2), None, "too much to look at");
        }
        assert_eq!(ldd.nearest(Set::EMPTY, &[1, 2], 10), None);
    }
}
