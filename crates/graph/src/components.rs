//! Strongly connected components of a part of a graph (Tarjan 1972), without recursion.

use crate::bits::Bits;
use search::state_graph::csr::Csr;

/// Components, each with its states; there may be as many as states.
#[derive(Debug, Default)]
pub struct Components {
    /// The states of one component behind those of another.
    members: Vec<u32>,
    /// Where each component ends among them.
    ends: Vec<u32>,
}

impl Components {
    /// The number of components.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The states of a component.
    pub fn members(&self, component: usize) -> &[u32] {
        let start = component.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.members[start as usize..self.ends[component] as usize]
    }

    /// The components, those that lead to no other first.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|component| self.members(component))
    }
}

/// The components of the states of `within` that can be reached from `start` inside it, those that lead to no
/// other first; each with its states.
pub fn components(edges: &Csr, within: &Bits, start: u32) -> Components {
    let keep = |_: usize, edge: usize| within.has(edges.target(edge as u64) as usize);
    let mut search = Search::new(edges, keep);
    search.from(start);
    search.found
}

/// The components of all states, those that lead to no other first; an edge of a state counts if `keep` holds
/// of both.
pub fn components_of_all(edges: &Csr, keep: impl Fn(usize, usize) -> bool) -> Components {
    let mut search = Search::new(edges, keep);
    for state in 0..edges.n_rows() as u32 {
        search.from(state);
    }
    search.found
}

const UNSEEN: u32 = u32::MAX;
const DONE: u32 = u32::MAX - 1;

struct Search<'a, K> {
    edges: &'a Csr,
    keep: K,
    /// The number of a state in order of discovery, then the lowest that it is known to reach.
    low: Vec<u32>,
    stack: Vec<u32>,
    n_seen: u32,
    found: Components,
}

impl<'a, K: Fn(usize, usize) -> bool> Search<'a, K> {
    fn new(edges: &'a Csr, keep: K) -> Self {
        let low = vec![UNSEEN; edges.n_rows()];
        Search { edges, keep, low, stack: Vec::new(), n_seen: 0, found: Components::default() }
    }

    /// Puts a new state on the path: with its own number and the next of its edges.
    fn enter(&mut self, state: u32, path: &mut Vec<(u32, u32, usize)>) {
        self.low[state as usize] = self.n_seen;
        path.push((state, self.n_seen, self.edges.row(state as usize).start));
        self.stack.push(state);
        self.n_seen += 1;
    }

    fn from(&mut self, start: u32) {
        if self.low[start as usize] != UNSEEN {
            return;
        }
        let mut path = Vec::new();
        self.enter(start, &mut path);
        while let Some(&mut (state, number, ref mut next)) = path.last_mut() {
            if *next < self.edges.row(state as usize).end {
                let edge = *next;
                *next += 1;
                if !(self.keep)(state as usize, edge) {
                    continue;
                }
                let target = self.edges.target(edge as u64);
                match self.low[target as usize] {
                    UNSEEN => self.enter(target, &mut path),
                    DONE => {}
                    other => self.low[state as usize] = self.low[state as usize].min(other),
                }
                continue;
            }
            path.pop();
            let lowest = self.low[state as usize];
            if let Some(&(parent, ..)) = path.last() {
                self.low[parent as usize] = self.low[parent as usize].min(lowest);
            }
            if lowest == number {
                let first = self.stack.iter().rposition(|&other| other == state).unwrap_or(0);
                let component = self.stack.drain(first..);
                component.as_slice().iter().for_each(|&member| self.low[member as usize] = DONE);
                self.found.members.extend(component);
                self.found.ends.push(self.found.members.len() as u32);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_in_order() {
        let graph: Csr = [vec![1], vec![2, 3], vec![1], vec![4], vec![3, 5], vec![]].into_iter().collect();
        let sorted = |within: &Bits| {
            let found = components(&graph, within, 0);
            let mut found: Vec<Vec<u32>> = found.iter().map(<[u32]>::to_vec).collect();
            found.iter_mut().for_each(|component| component.sort_unstable());
            found
        };
        assert_eq!(sorted(&Bits::all(6)), [vec![5], vec![3, 4], vec![1, 2], vec![0]]);
        let mut part = Bits::none(6);
        [0, 1, 2, 4, 5].into_iter().for_each(|state| assert!(part.insert(state)));
        assert_eq!(sorted(&part), [vec![1, 2], vec![0]]);
    }
}
