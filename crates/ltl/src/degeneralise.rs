//! From generalised acceptance on edges to one mark on states (Gastin, Oddoux 2001; levels per component as in Babiak,
//! Badie, Duret-Lutz, Křetínský, Strejček 2013).
//!
//! A state gets a level: how many of the marks, in a fixed order, have been collected since the last time all were. The last level is
//! accepting. One edge may climb several levels. Levels matter only inside a component where some cycles are accepting and some
//! are not: everywhere else a run is at the last level (all cycles accepting) or at the first (none), and who enters a
//! component begins anew.

use crate::scc::{Parts, Worth, parts};
use crate::tgba::{Edge, Tgba};
use std::collections::HashMap;

struct Levels<'a> {
    parts: &'a Parts,
    last: u32,
}

impl Levels<'_> {
    /// The level of a state that is entered from another component.
    fn entry(&self, state: usize) -> u32 {
        match self.parts.worth[self.parts.components.of[state]] {
            Worth::Accepting => self.last,
            Worth::Rejecting | Worth::Mixed => 0,
        }
    }

    /// The level behind an edge.
    fn behind(&self, source: usize, level: u32, edge: &Edge) -> u32 {
        let of = &self.parts.components.of;
        if of[source] != of[edge.target] || self.parts.worth[of[source]] != Worth::Mixed {
            return self.entry(edge.target);
        }
        let mut level = if level == self.last { 0 } else { level };
        while level < self.last && edge.marks >> level & 1 == 1 {
            level += 1;
        }
        level
    }
}

impl Tgba {
    /// The same language with one mark, on all edges of a state or on none.
    pub(crate) fn degeneralise(&mut self) {
        let parts = parts(self);
        let levels = Levels { parts: &parts, last: self.n_marks.max(1) };
        let mut numbers: HashMap<(usize, u32), usize> = HashMap::new();
        let mut todo = vec![(self.initial, levels.entry(self.initial))];
        numbers.insert(todo[0], 0);
        let mut states = Vec::new();
        while states.len() < todo.len() {
            let (state, level) = todo[states.len()];
            let marks = u64::from(level == levels.last);
            let mut edges = Vec::new();
            for edge in &self.states[state] {
                let copy = (edge.target, levels.behind(state, level, edge));
                let target = *numbers.entry(copy).or_insert_with(|| {
                    todo.push(copy);
                    todo.len() - 1
                });
                edges.push(Edge { target, marks, guard: edge.guard });
            }
            states.push(edges);
        }
        (self.states, self.initial, self.n_marks) = (states, 0, 1);
        self.merge_edges();
    }
}
