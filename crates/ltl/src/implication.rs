//! Which formulas of a conjunction say nothing new: the states of the automaton are conjunctions without
//! those.
//!
//! Leaving out a formula that follows from another is *not* safe in general: states would be replaced by
//! others with the same language, and a promise that is kept nowhere could be passed on forever. `a`
//! [entails](Entailment::entails) `b` here when, in the automaton of [`crate::translate`], every move that
//! `a` offers is covered by a move of `b` that demands no more of the present, promises no more, and leaves a
//! state which the remainder of `a` entails again. So `b` simulates `a` directly (Etessami, Wilke, Schuller
//! 2001), and an edge to a simulated state can replace an edge to the simulating one.

use crate::nnf::{Id, Nnf, Node};
use crate::table::Table;
use stop::Ticks;

/// Answers already found.
#[derive(Debug, Default)]
pub(crate) struct Entailment {
    known: Table<(Id, Id), bool>,
    conjunctions: Table<(Id, Id), Id>,
    ticks: Ticks,
}

impl Entailment {
    /// Whether `b` offers at least the moves of `a`.
    pub(crate) fn entails(&mut self, nnf: &Nnf, a: Id, b: Id) -> bool {
        self.ticks.tick(&nnf.stop);
        if a == b || a == Id::FALSE || b == Id::TRUE {
            return true;
        }
        if let Some(known) = self.known.get(&(a, b)) {
            return *known;
        }
        let answer = self.by_form_of_b(nnf, a, b) || self.by_form_of_a(nnf, a, b);
        self.known.insert((a, b), answer);
        answer
    }

    /// By the form of `b`.
    fn by_form_of_b(&mut self, nnf: &Nnf, a: Id, b: Id) -> bool {
        match (nnf.node(a), nnf.node(b)) {
            (_, Node::And(set)) => set.iter().all(|m| self.entails(nnf, a, *m)),
            (Node::Or(set), _) => set.iter().all(|m| self.entails(nnf, *m, b)),
            (_, Node::Or(set)) => set.iter().any(|m| self.entails(nnf, a, *m)),
            (Node::Until(f1, g1), Node::Until(f, g)) if g1 == g && self.entails(nnf, *f1, *f) => true,
            (_, Node::Until(_, g)) => self.entails(nnf, a, *g),
            (Node::Release(f1, g1), Node::Release(f, g))
                if self.entails(nnf, *g1, *g) && self.entails(nnf, *f1, *f) =>
            {
                true
            }
            (_, Node::Release(f, g)) => self.entails(nnf, a, *f) && self.entails(nnf, a, *g),
            (Node::Next(x), Node::Next(y)) => self.entails(nnf, *x, *y),
            // `[] g` is there again in the next step.
            (Node::Release(Id::FALSE, _), Node::Next(y)) => self.entails(nnf, a, *y),
            _ => false,
        }
    }

    /// By the form of `a`.
    fn by_form_of_a(&mut self, nnf: &Nnf, a: Id, b: Id) -> bool {
        match nnf.node(a) {
            Node::And(set) => set.iter().any(|m| self.entails(nnf, *m, b)),
            Node::Release(_, g) => self.entails(nnf, *g, b),
            Node::Until(f, g) => self.entails(nnf, *f, b) && self.entails(nnf, *g, b),
            _ => false,
        }
    }

    /// The conjunction of two formulas without what follows from the rest.
    pub(crate) fn conjunction(&mut self, nnf: &mut Nnf, a: Id, b: Id) -> Id {
        if let Some(known) = self.conjunctions.get(&(a, b)) {
            return *known;
        }
        let conjunction = self.shortened(nnf, a, b);
        self.conjunctions.insert((a, b), conjunction);
        conjunction
    }

    fn shortened(&mut self, nnf: &mut Nnf, a: Id, b: Id) -> Id {
        let both = nnf.and([a, b]);
        let Node::And(set) = nnf.node(both) else { return both };
        let set = set.clone();
        let mut kept: Vec<Id> = Vec::with_capacity(set.len());
        for (i, m) in set.iter().enumerate() {
            // Of formulas that entail each other the first is kept.
            let follows = |s: &mut Self, (j, n): (usize, &Id)| {
                j != i && s.entails(nnf, *n, *m) && (j < i || !s.entails(nnf, *m, *n))
            };
            if !set.iter().enumerate().any(|other| follows(self, other)) {
                kept.push(*m);
            }
        }
        nnf.and(kept)
    }
}
