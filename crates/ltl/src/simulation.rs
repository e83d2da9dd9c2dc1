//! Direct simulation (Etessami, Wilke, Schuller 2001), letter by letter, on automata with marks on edges.
//!
//! `t` simulates `s` when every step of `s` under a valuation is answered by a step of `t` under the same valuation that earns at least the
//! same marks and leads to a state that simulates the other's target. States that simulate each other become one, and an
//! edge gives way where another does as well: that also makes automata more deterministic.

use crate::bdd::Bdd;
use crate::tgba::{Edge, Tgba};

/// Beyond this many states the relation, which is quadratic, is not computed.
const MAX_STATES: usize = 400;

/// `relation[s][t]`: `t` simulates `s`.
type Relation = Vec<Vec<bool>>;

impl Tgba {
    /// Merges states and drops edges; the language stays.
    pub(crate) fn reduce_by_simulation(&mut self) {
        if self.states.len() > MAX_STATES {
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
        loop {
            let mut changed = false;
            for s in 0..n {
                for t in 0..n {
                    if relation[s][t] && s != t && !self.answers(s, t, &relation) {
                        relation[s][t] = false;
                        changed = true;
                    }
                }
            }
            if !changed {
                return relation;
            }
        }
    }

    fn answers(&mut self, s: usize, t: usize, relation: &Relation) -> bool {
        for i in 0..self.states[s].len() {
            let step = self.states[s][i];
            let mut open = step.guard;
            for j in 0..self.states[t].len() {
                let answer = self.states[t][j];
                if at_least(step, answer, relation) {
                    open = self.bdds.minus(open, answer.guard);
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
