//! Words that two automata both accept.

use crate::bdd::Bdd;
use crate::tgba::{Edge, Tgba};
use std::collections::HashMap;

/// Larger products are not built.
const MAX_STATES: usize = 20_000;
const MAX_EDGES: usize = 500_000;

impl Tgba {
    /// Whether no word is accepted by both; nothing when that would be too much work to find out.
    pub(crate) fn disjoint(&self, other: &Tgba) -> Option<bool> {
        self.product(other).map(|product| product.is_empty())
    }

    /// The automaton of the words that both accept.
    fn product(&self, other: &Tgba) -> Option<Tgba> {
        let n_marks = self.n_marks + other.n_marks;
        if n_marks > 64 {
            return None;
        }
        let mut bdds = self.bdds.clone();
        let mut known = HashMap::new();
        let right: Vec<Vec<Edge>> = other
            .states
            .iter()
            .map(|edges| {
                edges
                    .iter()
                    .map(|e| Edge { guard: bdds.import(&other.bdds, e.guard, &mut known), ..*e })
                    .collect()
            })
            .collect();
        let mut numbers = HashMap::from([((self.initial, other.initial), 0)]);
        let mut pairs = vec![(self.initial, other.initial)];
        let mut states: Vec<Vec<Edge>> = Vec::new();
        let mut n_edges = 0;
        while states.len() < pairs.len() {
            let (s, t) = pairs[states.len()];
            let mut edges = Vec::new();
            for a in &self.states[s] {
                for b in &right[t] {
                    let guard = bdds.and(a.guard, b.guard);
                    if guard == Bdd::FALSE {
                        continue;
                    }
                    let pair = (a.target, b.target);
                    let target = *numbers.entry(pair).or_insert_with(|| {
                        pairs.push(pair);
                        pairs.len() - 1
                    });
                    edges.push(Edge { target, marks: a.marks | b.marks << self.n_marks, guard });
                }
            }
            n_edges += edges.len();
            if pairs.len() > MAX_STATES || n_edges > MAX_EDGES {
                return None;
            }
            states.push(edges);
        }
        Some(Tgba { bdds, n_marks, initial: 0, states })
    }
}
