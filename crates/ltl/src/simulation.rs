//! Direct simulation (Etessami, Wilke, Schuller 2001), letter by letter, on automata with marks on edges.
//!
//! `t` simulates `s` when every step of `s` under a valuation is answered by a step of `t` under the same
//! valuation that earns at least the same marks and leads to a state that simulates the other's target.
//! States that simulate each other become one, and an edge gives way where another does as well: that also
//! makes automata more deterministic.

use crate::bdd::Bdd;
use crate::tgba::{Edge, Tgba};
use std::collections::VecDeque;

/// Every edge is compared with every other: beyond this many edges that is not done.
const MAX_EDGES: usize = 4000;

/// `relation[s][t]`: `t` simulates `s`.
type Relation = Vec<Vec<bool>>;

impl Tgba {
    /// Merges states and drops edges; the language stays.
    pub(crate) fn reduce_by_simulation(&mut self) {
        self.merge_equal_states();
        if self.states.iter().map(Vec::len).sum::<usize>() > MAX_EDGES {
            return;
        }
        let relation = self.simulation();
        let representative = |s: usize| (0..s).find(|t| relation[s][*t] && relation[*t][s]).unwrap_or(s);
        let map: Vec<usize> = (0..self.states.len()).map(representative).collect();
        for state in 0..self.states.len() {
            self.states[state].iter_mut().for_each(|e| e.target = map[e.target]);
        }
        self.initial = map[self.initial];
        self.merge_edges();
        for state in 0..self.states.len() {
            self.drop_little_brothers(state, &relation);
        }
        self.restrict(|_| true);
    }

    fn simulation(&mut self) -> Relation {
        let n = self.states.len();
        let mut relation = vec![vec![true; n]; n];
        let mut sources: Vec<Vec<usize>> = vec![Vec::new(); n];
        for (state, edges) in self.states.iter().enumerate() {
            edges.iter().for_each(|e| sources[e.target].push(state));
        }
        for list in &mut sources {
            list.dedup();
        }
        // A pair is looked at again when a pair of targets has been found different; targets mostly have
        // larger numbers.
        let mut todo: VecDeque<(usize, usize)> =
            (0..n).rev().flat_map(|s| (0..n).rev().map(move |t| (s, t))).collect();
        let mut waiting = vec![vec![true; n]; n];
        while let Some((s, t)) = todo.pop_front() {
            waiting[s][t] = false;
            if !relation[s][t] || s == t || self.answers(s, t, &relation) {
                continue;
            }
            relation[s][t] = false;
            for before_s in &sources[s] {
                for before_t in &sources[t] {
                    if relation[*before_s][*before_t] && !waiting[*before_s][*before_t] {
                        waiting[*before_s][*before_t] = true;
                        todo.push_back((*before_s, *before_t));
                    }
                }
            }
        }
        relation
    }

    fn answers(&mut self, s: usize, t: usize, relation: &Relation) -> bool {
        for i in 0..self.states[s].len() {
            let step = self.states[s][i];
            let mut open = step.guard;
            for j in 0..self.states[t].len() {
                let answer = self.states[t][j];
                if at_least(step, answer, relation) {
                    open = self.bdds.minus(open, answer.guard);
                    if open == Bdd::FALSE {
                        break;
                    }
                }
            }
            if open != Bdd::FALSE {
                return false;
            }
        }
        true
    }

    /// Takes from every edge the valuations for which another edge of the state is at least as good.
    fn drop_little_brothers(&mut self, state: usize, relation: &Relation) {
        let edges = self.states[state].clone();
        for (i, edge) in edges.iter().enumerate() {
            for (j, other) in edges.iter().enumerate() {
                let better = i != j
                    && at_least(*edge, *other, relation)
                    && (j < i || !at_least(*other, *edge, relation));
                if better {
                    let guard = self.states[state][i].guard;
                    self.states[state][i].guard = self.bdds.minus(guard, other.guard);
                }
            }
        }
        self.states[state].retain(|e| e.guard != Bdd::FALSE);
    }
}

/// Whether `b` is as good as `a`, where both can be taken.
fn at_least(a: Edge, b: Edge, relation: &Relation) -> bool {
    a.marks & !b.marks == 0 && relation[a.target][b.target]
}
