//! Fewer marks: what an edge earns matters only inside a component where some cycles are accepting and some
//! are not.

use crate::scc::{Parts, Worth, components, parts};
use crate::tgba::{Marks, Tgba, all_marks};

impl Tgba {
    /// Removes marks that say nothing and writes the rest in one way only. Edges between components get the
    /// marks `between` (none or all: both are right, and one may make more states alike).
    pub(crate) fn simplify_marks(&mut self, all_between: bool) {
        let parts = parts(self);
        let of = &parts.components.of;
        let needed: Vec<Vec<u32>> = (0..parts.worth.len())
            .map(|c| if parts.worth[c] == Worth::Mixed { self.needed_marks(&parts, c) } else { Vec::new() })
            .collect();
        let most = needed.iter().map(Vec::len).max().unwrap_or(0) as u32;
        // With no mark at all every cycle would be accepting.
        let rejecting = |c: usize| parts.worth[c] == Worth::Rejecting && self.has_edge_inside(&parts, c);
        let n_marks = if most == 0 { u32::from((0..needed.len()).any(rejecting)) } else { most };
        let all = all_marks(n_marks);
        for (state, edges) in self.states.iter_mut().enumerate() {
            let component = of[state];
            for edge in edges {
                edge.marks = match parts.worth[component] {
                    _ if of[edge.target] != component => {
                        if all_between {
                            all
                        } else {
                            0
                        }
                    }
                    Worth::Rejecting => 0,
                    Worth::Accepting => all,
                    Worth::Mixed => {
                        let needed = &needed[component];
                        let bit = |i: usize| edge.marks >> needed[i] & 1;
                        let own = (0..needed.len()).fold(0, |marks, i| marks | bit(i) << i);
                        own | (all & !all_marks(needed.len() as u32))
                    }
                };
            }
        }
        self.n_marks = n_marks;
        self.merge_edges();
    }

    fn has_edge_inside(&self, parts: &Parts, component: usize) -> bool {
        let of = &parts.components.of;
        let inside = |s: &usize| self.states[*s].iter().any(|e| of[e.target] == component);
        parts.components.members[component].iter().any(inside)
    }

    /// The marks of a component that cannot be left out: without mark `i`, a cycle that has all others would
    /// be accepted.
    fn needed_marks(&self, parts: &Parts, component: usize) -> Vec<u32> {
        let mut needed: Marks = self.all_marks();
        for i in 0..self.n_marks {
            let others = needed & !(1 << i);
            if !self.cycle(parts, component, 1 << i, others) {
                needed = others;
            }
        }
        (0..self.n_marks).filter(|i| needed >> i & 1 == 1).collect()
    }

    /// Whether a component has a cycle that avoids the marks `without` and has all the marks `with`.
    fn cycle(&self, parts: &Parts, component: usize, without: Marks, with: Marks) -> bool {
        self.bdds.check();
        let of = &parts.components.of;
        let edges = |s: usize| {
            let inside = move |e: &&crate::tgba::Edge| of[e.target] == component && e.marks & without == 0;
            self.states[s].iter().filter(inside)
        };
        let next = |s: usize| edges(s).map(|e| e.target).collect();
        let sub = components(self.states.len(), &parts.components.members[component], next);
        sub.members.iter().enumerate().any(|(number, members)| {
            let mut inside =
                members.iter().flat_map(|s| edges(*s)).filter(|e| sub.of[e.target] == number).peekable();
            inside.peek().is_some() && inside.fold(0, |union, e| union | e.marks) & with == with
        })
    }

    /// Simplifies an automaton with one mark that belongs to states: states of components whose cycles are
    /// all accepting are accepting; states outside cycles are, if `outside` says so.
    pub(crate) fn simplify_accepting_states(&mut self, outside: bool) {
        let parts = parts(self);
        for state in 0..self.states.len() {
            let component = parts.components.of[state];
            let marks = match parts.worth[component] {
                Worth::Mixed => continue,
                Worth::Accepting => 1,
                Worth::Rejecting if self.has_edge_inside(&parts, component) => 0,
                Worth::Rejecting => u64::from(outside),
            };
            self.states[state].iter_mut().for_each(|e| e.marks = marks);
        }
        self.merge_edges();
    }
}
