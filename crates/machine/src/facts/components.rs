//! Components: locations from which a process can come back to each other.
//!
//! R. Tarjan (*Depth-first search and linear graph algorithms*, 1972), without recursion. An edge may be
//! taken again iff it stays within its component, and what lies ahead of a location is the same in a whole
//! component, so both are found in one pass: large proctypes have thousands of locations.

use promela::ir::{EdgeId, Proctype};

/// The strongly connected components of an automaton, or of a part of its edges.
#[derive(Debug)]
pub struct Components {
    /// For each location its component. No edge that counts leads to a component with a larger number.
    pub of: Vec<u32>,
    /// The locations of each component.
    pub members: Vec<Vec<u32>>,
}

const UNSEEN: u32 = u32::MAX;

/// A depth-first search in progress.
struct Search<'p, F> {
    proctype: &'p Proctype,
    /// Which edges count.
    goes_on: F,
    /// When each location was found, and the earliest that can be reached from there on the stack.
    found: Vec<u32>,
    low: Vec<u32>,
    stack: Vec<u32>,
    on_stack: Vec<bool>,
    next: u32,
    done: Components,
}

impl Components {
    /// Finds them.
    pub fn new(proctype: &Proctype) -> Self {
        Components::along(proctype, |_| true)
    }

    /// Finds those of the edges for which `goes_on` is true.
    pub fn along(proctype: &Proctype, goes_on: impl Fn(EdgeId) -> bool) -> Self {
        let n = proctype.locations.len();
        let mut search = Search {
            proctype,
            goes_on,
            found: vec![UNSEEN; n],
            low: vec![0; n],
            stack: Vec::new(),
            on_stack: vec![false; n],
            next: 0,
            done: Components { of: vec![0; n], members: Vec::new() },
        };
        (0..n).for_each(|root| search.explore(root));
        search.done
    }
}

impl<F: Fn(EdgeId) -> bool> Search<'_, F> {
    fn explore(&mut self, root: usize) {
        if self.found[root] != UNSEEN {
            return;
        }
        let mut path = vec![self.enter(root)];
        while let Some((at, edge)) = path.last_mut() {
            let at = *at;
            let Some(&id) = self.proctype.locations[at].edges.get(*edge) else {
                path.pop();
                if let Some(&(parent, _)) = path.last() {
                    self.low[parent] = self.low[parent].min(self.low[at]);
                }
                self.leave(at);
                continue;
            };
            *edge += 1;
            if !(self.goes_on)(id) {
                continue;
            }
            let to = self.proctype.edge(id).to.index();
            if self.found[to] == UNSEEN {
                path.push(self.enter(to));
            } else if self.on_stack[to] {
                self.low[at] = self.low[at].min(self.found[to]);
            }
        }
    }

    fn enter(&mut self, at: usize) -> (usize, usize) {
        (self.found[at], self.low[at]) = (self.next, self.next);
        self.next += 1;
        self.stack.push(at as u32);
        self.on_stack[at] = true;
        (at, 0)
    }

    /// A location is finished; when it is the first of its component, that is complete.
    fn leave(&mut self, at: usize) {
        if self.low[at] != self.found[at] {
            return;
        }
        let first = self.stack.iter().rposition(|&member| member as usize == at).unwrap_or(0);
        let members = self.stack.split_off(first);
        for &member in &members {
            self.on_stack[member as usize] = false;
            self.done.of[member as usize] = self.done.members.len() as u32;
        }
        self.done.members.push(members);
    }
}
