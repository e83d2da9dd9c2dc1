//! From generalised acceptance on edges to one mark on states (Gastin, Oddoux 2001; levels per component as
//! in Babiak, Badie, Duret-Lutz, Křetínský, Strejček 2013).
//!
//! A state gets a level: how many of the marks, in a fixed order, have been collected since the last time all
//! were. The last level is accepting. One edge may climb several levels. Levels matter only inside a
//! component where some cycles are accepting and some are not: everywhere else a run is at the last level
//! (all cycles accepting) or at the first (none). Who enters a component may begin at any level, so entries
//! lead to copies of states that are met again.

use crate::scc::{Parts, Worth, components, parts};
use crate::tgba::{Edge, Tgba};
use std::collections::HashMap;

struct Levels<'a> {
    parts: &'a Parts,
    /// The marks in the order in which they are collected.
    order: &'a [u32],
    last: usize,
}

impl Levels<'_> {
    /// The level of a state that is entered from another component.
    fn entry(&self, state: usize) -> usize {
        match self.parts.worth[self.parts.components.of[state]] {
            Worth::Accepting => self.last,
            Worth::Rejecting | Worth::Mixed => 0,
        }
    }

    /// The level behind an edge.
    fn behind(&self, source: usize, level: usize, edge: &Edge) -> usize {
        let of = &self.parts.components.of;
        if of[source] != of[edge.target] || self.parts.worth[of[source]] != Worth::Mixed {
            return self.entry(edge.target);
        }
        let mut level = if level == self.last { 0 } else { level };
        while level < self.last && edge.marks >> self.order[level] & 1 == 1 {
            level += 1;
        }
        level
    }
}

impl Tgba {
    /// Turns the automaton into one for its language with one mark, on all edges of a state or on none; marks
    /// are collected in the order given.
    pub(crate) fn degeneralise(&mut self, order: &[u32]) {
        let parts = parts(self);
        let levels = Levels { parts: &parts, order, last: order.len().max(1) };
        let mut numbers: HashMap<(usize, usize), usize> = HashMap::new();
        let mut copies = vec![(self.initial, levels.entry(self.initial))];
        numbers.insert(copies[0], 0);
        let mut states = Vec::new();
        while states.len() < copies.len() {
            let (state, level) = copies[states.len()];
            let marks = u64::from(level == levels.last);
            let mut edges = Vec::new();
            for edge in &self.states[state] {
                let copy = (edge.target, levels.behind(state, level, edge));
                let target = *numbers.entry(copy).or_insert_with(|| {
                    copies.push(copy);
                    copies.len() - 1
                });
                edges.push(Edge { target, marks, guard: edge.guard });
            }
            states.push(edges);
        }
        (self.states, self.initial, self.n_marks) = (states, 0, 1);
        let original: Vec<usize> = copies.iter().map(|(state, _)| *state).collect();
        self.enter_recurrent_copies(&original, &parts.components.of);
        self.merge_edges();
        self.restrict(|_| true);
    }

    /// Leads every edge to a copy of its target that lies deepest in its component: what only an entry at the
    /// first level can see is not needed.
    fn enter_recurrent_copies(&mut self, original: &[usize], component_of: &[usize]) {
        let next = |s: usize| {
            let inside = |e: &&Edge| component_of[original[e.target]] == component_of[original[s]];
            self.states[s].iter().filter(inside).map(|e| e.target).collect()
        };
        let all: Vec<usize> = (0..self.states.len()).collect();
        let copies = components(self.states.len(), &all, next);
        // Tarjan's order: what is reached has smaller numbers.
        let mut deepest: HashMap<usize, usize> = HashMap::new();
        for (copy, state) in original.iter().enumerate() {
            let best = deepest.entry(*state).or_insert(copy);
            if copies.of[copy] < copies.of[*best] {
                *best = copy;
            }
        }
        let better = |copy: usize| {
            let best = deepest[&original[copy]];
            if copies.of[best] == copies.of[copy] { copy } else { best }
        };
        self.initial = better(self.initial);
        for edges in &mut self.states {
            edges.iter_mut().for_each(|e| e.target = better(e.target));
        }
    }
}
