//! Transition-based generalised Büchi automata while they are built and made smaller.
//!
//! A run is accepted when it takes edges with mark `i` infinitely often, for every mark `i`. Guards are
//! decision diagrams; the frozen form for searches is [`crate::automaton::Automaton`].

use crate::bdd::{Bdd, Bdds};
use std::collections::HashMap;

/// A set of acceptance marks: bit `i` is mark `i`.
pub type Marks = u64;

/// An edge.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Edge {
    pub(crate) target: usize,
    pub(crate) marks: Marks,
    pub(crate) guard: Bdd,
}

/// An automaton.
#[derive(Clone, Debug)]
pub(crate) struct Tgba {
    pub(crate) bdds: Bdds,
    pub(crate) n_marks: u32,
    pub(crate) initial: usize,
    pub(crate) states: Vec<Vec<Edge>>,
}

impl Tgba {
    /// All marks.
    pub(crate) fn all_marks(&self) -> Marks {
        all_marks(self.n_marks)
    }

    /// Edges with the same target and marks become one; edges without valuations go.
    pub(crate) fn merge_edges(&mut self) {
        for state in 0..self.states.len() {
            let mut edges = std::mem::take(&mut self.states[state]);
            edges.sort_unstable();
            let mut merged: Vec<Edge> = Vec::with_capacity(edges.len());
            for edge in edges {
                match merged.last_mut() {
                    Some(last) if last.target == edge.target && last.marks == edge.marks => {
                        last.guard = self.bdds.or(last.guard, edge.guard);
                    }
                    _ if edge.guard == Bdd::FALSE => {}
                    _ => merged.push(edge),
                }
            }
            self.states[state] = merged;
        }
    }

    /// States with the same edges become one, until there are none.
    pub(crate) fn merge_equal_states(&mut self) {
        loop {
            self.merge_edges();
            let mut first: HashMap<&[Edge], usize> = HashMap::new();
            let map: Vec<usize> =
                self.states.iter().enumerate().map(|(s, edges)| *first.entry(edges).or_insert(s)).collect();
            if map.iter().enumerate().all(|(s, t)| s == *t) {
                return;
            }
            self.initial = map[self.initial];
            for edges in &mut self.states {
                edges.iter_mut().for_each(|e| e.target = map[e.target]);
            }
            self.restrict(|_| true);
        }
    }

    /// Whether no two edges of a state can be taken with one valuation.
    pub(crate) fn is_deterministic(&mut self) -> bool {
        for edges in &self.states {
            let mut met = Bdd::FALSE;
            for edge in edges {
                if self.bdds.and(met, edge.guard) != Bdd::FALSE {
                    return false;
                }
                met = self.bdds.or(met, edge.guard);
            }
        }
        true
    }

    /// Keeps the states that `keep` names, if the initial state can reach them, and numbers them anew in the
    /// order of a depth-first walk from the initial state, which always stays.
    pub(crate) fn restrict(&mut self, keep: impl Fn(usize) -> bool) {
        let mut numbers = vec![usize::MAX; self.states.len()];
        let mut order = vec![self.initial];
        numbers[self.initial] = 0;
        let mut stack = vec![self.initial];
        while let Some(state) = stack.pop() {
            for edge in &self.states[state] {
                if keep(edge.target) && numbers[edge.target] == usize::MAX {
                    numbers[edge.target] = order.len();
                    order.push(edge.target);
                    stack.push(edge.target);
                }
            }
        }
        let mut old = std::mem::take(&mut self.states);
        for state in order {
            let mut edges = std::mem::take(&mut old[state]);
            edges.retain(|e| keep(e.target) && numbers[e.target] != usize::MAX);
            edges.iter_mut().for_each(|e| e.target = numbers[e.target]);
            self.states.push(edges);
        }
        self.initial = 0;
    }
}

/// `n` marks.
pub(crate) fn all_marks(n: u32) -> Marks {
    if n >= 64 { Marks::MAX } else { (1 << n) - 1 }
}
