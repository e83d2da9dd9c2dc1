//! Strongly connected components (Tarjan 1972, without recursion) and what they accept.

use crate::bdd::Bdd;
use crate::tgba::{Marks, Tgba};

/// Components in reverse topological order: edges lead to components with the same or a smaller number.
#[derive(Clone, Debug)]
pub(crate) struct Components {
    /// The component of each state; `usize::MAX` for states that the walk did not reach.
    pub(crate) of: Vec<usize>,
    /// The states of each component.
    pub(crate) members: Vec<Vec<usize>>,
}

/// The components of the graph below `roots`.
pub(crate) fn components(n: usize, roots: &[usize], next: impl Fn(usize) -> Vec<usize>) -> Components {
    let mut found = Components { of: vec![usize::MAX; n], members: Vec::new() };
    let mut index = vec![usize::MAX; n];
    let mut low = vec![0; n];
    let mut count = 0;
    let mut open: Vec<usize> = Vec::new();
    for root in roots {
        if index[*root] != usize::MAX {
            continue;
        }
        let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut enter = Some(*root);
        loop {
            if let Some(state) = enter.take() {
                (index[state], low[state]) = (count, count);
                count += 1;
                open.push(state);
                path.push((state, next(state)));
            }
            let Some((state, todo)) = path.last_mut() else { break };
            let state = *state;
            if let Some(target) = todo.pop() {
                if index[target] == usize::MAX {
                    enter = Some(target);
                } else if found.of[target] == usize::MAX {
                    low[state] = low[state].min(index[target]);
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                low[*parent] = low[*parent].min(low[state]);
            }
            if low[state] == index[state] {
                let from = open.iter().rposition(|s| *s == state).unwrap_or(0);
                let members = open.split_off(from);
                members.iter().for_each(|m| found.of[*m] = found.members.len());
                found.members.push(members);
            }
        }
    }
    found
}

/// What runs that stay in a component are worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Worth {
    /// There is no cycle, or none is accepting.
    Rejecting,
    /// Every cycle is accepting.
    Accepting,
    /// Some are, some are not.
    Mixed,
}

/// The components of an automaton, and what each is worth.
pub(crate) struct Parts {
    pub(crate) components: Components,
    pub(crate) worth: Vec<Worth>,
}

/// Takes an automaton apart.
pub(crate) fn parts(tgba: &Tgba) -> Parts {
    let next = |s: usize| tgba.states[s].iter().map(|e| e.target).collect();
    let components = components(tgba.states.len(), &[tgba.initial], next);
    let mut worth = Vec::new();
    for (number, members) in components.members.iter().enumerate() {
        let inside =
            members.iter().flat_map(|s| &tgba.states[*s]).filter(|e| components.of[e.target] == number);
        let (mut union, mut edges) = (0, 0);
        for edge in inside {
            union |= edge.marks;
            edges += 1;
        }
        worth.push(if edges == 0 || union != tgba.all_marks() {
            Worth::Rejecting
        } else if (0..tgba.n_marks).all(|i| !cycle_without(tgba, &components, number, 1 << i)) {
            Worth::Accepting
        } else {
            Worth::Mixed
        });
    }
    Parts { components, worth }
}

/// Whether a component has a cycle whose edges all lack a mark.
fn cycle_without(tgba: &Tgba, parts: &Components, number: usize, mark: Marks) -> bool {
    let next = |s: usize| -> Vec<usize> {
        let inside = tgba.states[s].iter().filter(|e| parts.of[e.target] == number && e.marks & mark == 0);
        inside.map(|e| e.target).collect()
    };
    let sub = components(tgba.states.len(), &parts.members[number], next);
    let cyclic = |members: &Vec<usize>| members.len() > 1 || next(members[0]).contains(&members[0]);
    sub.members.iter().any(cyclic)
}

impl Tgba {
    /// Removes states from which nothing is accepted.
    pub(crate) fn trim(&mut self) {
        let parts = parts(self);
        // Components are in reverse topological order: what a component reaches is known before it.
        let mut useful: Vec<bool> = parts.worth.iter().map(|w| *w != Worth::Rejecting).collect();
        for (number, members) in parts.components.members.iter().enumerate() {
            let mut targets =
                members.iter().flat_map(|s| &self.states[*s]).map(|e| parts.components.of[e.target]);
            useful[number] = useful[number] || targets.any(|t| t != number && useful[t]);
        }
        let of = parts.components.of;
        self.restrict(|s| of[s] != usize::MAX && useful[of[s]]);
    }

    /// Whether every valuation has an edge from `state` that stays in its component.
    pub(crate) fn stays(&mut self, state: usize, component_of: &[usize]) -> bool {
        let mut covered = Bdd::FALSE;
        for edge in &self.states[state] {
            if component_of[edge.target] == component_of[state] {
                covered = self.bdds.or(covered, edge.guard);
            }
        }
        covered == Bdd::TRUE
    }

    /// Whether no word is accepted.
    pub(crate) fn is_empty(&self) -> bool {
        parts(self).worth.iter().all(|w| *w == Worth::Rejecting)
    }
}
