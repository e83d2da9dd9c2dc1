//! Laws of temporal logic that make a formula smaller before it is translated (Etessami, Holzmann 2000;
//! Somenzi, Bloem 2000; Babiak, Křetínský, Řehák, Strejček 2012 for formulas that suffixes cannot tell
//! apart).
//!
//! - A formula is *eventual* when it holds as soon as it holds for a suffix (`f = <> f`), *universal* when it
//!   passes on to all suffixes (`f = [] f`). Both together (`[] <> a`): it says something about the limit
//!   only and may be moved out of other operators.
//! - [`Laws::implies`] is implication as far as the form of two formulas shows it.
//!
//! These laws preserve the language, which is enough for a whole formula; the states of an automaton need
//! more ([`crate::implication`]).

use crate::nnf::{Id, Nnf, Node};
use std::collections::HashMap;
use stop::Ticks;

/// The simplest formula with the same language that the laws find.
pub(crate) fn simplify(nnf: &mut Nnf, formula: Id) -> Id {
    let mut laws = Laws { nnf, implied: HashMap::new(), ticks: Ticks::default() };
    let mut formula = formula;
    for _ in 0..MAX_ROUNDS {
        let simpler = laws.rewrite(formula, &mut HashMap::new());
        if simpler == formula {
            break;
        }
        formula = simpler;
    }
    formula
}

/// Every round makes something smaller; nobody needs as many as this.
const MAX_ROUNDS: usize = 50;

struct Laws<'n> {
    nnf: &'n mut Nnf,
    implied: HashMap<(Id, Id), bool>,
    ticks: Ticks,
}

impl Laws<'_> {
    fn node(&self, f: Id) -> Node {
        self.nnf.node(f).clone()
    }

    /// The operand of `<>`.
    fn eventually(&self, f: Id) -> Option<Id> {
        if let Node::Until(Id::TRUE, g) = self.nnf.node(f) { Some(*g) } else { None }
    }

    /// The operand of `[]`.
    fn always(&self, f: Id) -> Option<Id> {
        if let Node::Release(Id::FALSE, g) = self.nnf.node(f) { Some(*g) } else { None }
    }

    fn is_eventual(&self, f: Id) -> bool {
        self.nnf.shape(f).eventual
    }

    fn is_universal(&self, f: Id) -> bool {
        self.nnf.shape(f).universal
    }

    /// Whether only the limit counts.
    fn is_limit(&self, f: Id) -> bool {
        self.is_eventual(f) && self.is_universal(f)
    }

    /// Whether the form of the two shows that every word of `a` is one of `b`.
    fn implies(&mut self, a: Id, b: Id) -> bool {
        self.ticks.tick(&self.nnf.stop);
        if a == b || a == Id::FALSE || b == Id::TRUE {
            return true;
        }
        if let Some(known) = self.implied.get(&(a, b)) {
            return *known;
        }
        let answer = self.implies_b(a, b) || self.a_implies(a, b);
        self.implied.insert((a, b), answer);
        answer
    }

    /// By the form of `b`.
    fn implies_b(&mut self, a: Id, b: Id) -> bool {
        match (self.node(a), self.node(b)) {
            (_, Node::And(set)) => set.iter().all(|m| self.implies(a, *m)),
            (Node::Or(set), _) => set.iter().all(|m| self.implies(*m, b)),
            (_, Node::Or(set)) => set.iter().any(|m| self.implies(a, *m)),
            (Node::Until(f1, g1), Node::Until(f, g)) if self.implies(g1, g) && self.implies(f1, f) => true,
            (_, Node::Until(_, g)) => self.implies(a, g),
            (Node::Release(f1, g1), Node::Release(f, g)) if self.implies(g1, g) && self.implies(f1, f) => {
                true
            }
            (_, Node::Release(f, g)) => self.implies(a, g) && (self.is_universal(a) || self.implies(a, f)),
            (Node::Next(x), Node::Next(y)) => self.implies(x, y),
            (_, Node::Next(y)) => self.is_universal(a) && self.implies(a, y),
            _ => false,
        }
    }

    /// By the form of `a`.
    fn a_implies(&mut self, a: Id, b: Id) -> bool {
        match self.node(a) {
            Node::And(set) => set.iter().any(|m| self.implies(*m, b)),
            Node::Release(_, g) => self.implies(g, b),
            Node::Until(f, g) => self.implies(g, b) && (self.is_eventual(b) || self.implies(f, b)),
            Node::Next(x) => self.is_eventual(b) && self.implies(x, b),
            _ => false,
        }
    }

    /// Whether the two cannot both hold.
    fn excludes(&mut self, a: Id, b: Id) -> bool {
        let not_b = self.nnf.not(b);
        self.implies(a, not_b)
    }

    fn rewrite(&mut self, f: Id, done: &mut HashMap<Id, Id>) -> Id {
        if let Some(known) = done.get(&f) {
            return *known;
        }
        let simpler = match self.node(f) {
            Node::True | Node::False | Node::Lit { .. } => f,
            Node::And(set) => {
                let set = set.into_iter().map(|g| self.rewrite(g, done)).collect();
                self.set(set, true)
            }
            Node::Or(set) => {
                let set = set.into_iter().map(|g| self.rewrite(g, done)).collect();
                self.set(set, false)
            }
            Node::Next(g) => {
                let g = self.rewrite(g, done);
                self.next(g)
            }
            Node::Until(g, h) => {
                let (g, h) = (self.rewrite(g, done), self.rewrite(h, done));
                self.until(g, h)
            }
            Node::Release(g, h) => {
                let (g, h) = (self.rewrite(g, done), self.rewrite(h, done));
                self.release(g, h)
            }
        };
        done.insert(f, simpler);
        simpler
    }

    fn next(&mut self, f: Id) -> Id {
        if self.is_limit(f) {
            return f;
        }
        if let Node::And(set) | Node::Or(set) = self.node(f) {
            let (limits, rest): (Vec<Id>, Vec<Id>) = set.into_iter().partition(|g| self.is_limit(*g));
            if !limits.is_empty() {
                let conjunction = matches!(self.nnf.node(f), Node::And(_));
                let rest = self.join(rest, conjunction);
                let rest = self.nnf.next(rest);
                return self.join(limits.into_iter().chain([rest]).collect(), conjunction);
            }
        }
        self.nnf.next(f)
    }

    fn join(&mut self, set: Vec<Id>, conjunction: bool) -> Id {
        if conjunction { self.nnf.and(set) } else { self.nnf.or(set) }
    }

    /// `f U g`.
    fn until(&mut self, f: Id, g: Id) -> Id {
        if self.is_eventual(g) || self.implies(f, g) {
            return g;
        }
        let not_f = self.nnf.not(f);
        if f != Id::TRUE && self.implies(not_f, g) {
            return self.until(Id::TRUE, g);
        }
        match (self.node(f), self.node(g)) {
            (_, Node::Until(h, _)) if self.implies(f, h) => return g,
            (Node::Until(_, h), _) if h == g => return f,
            (Node::True, Node::Until(_, h)) => return self.until(f, h),
            (Node::True | Node::Next(_), Node::Next(h)) => {
                let f = if let Node::Next(inner) = self.node(f) { inner } else { f };
                let inner = self.until(f, h);
                return self.next(inner);
            }
            // f U (g || h) = g || f U h where g is eventual, since g as good as holds at once.
            (_, Node::Or(set)) if set.iter().any(|m| self.is_eventual(*m)) => {
                let (now, later): (Vec<Id>, Vec<Id>) = set.into_iter().partition(|m| self.is_eventual(*m));
                let later = self.nnf.or(later);
                let later = self.until(f, later);
                return self.nnf.or(now.into_iter().chain([later]));
            }
            (_, Node::And(set)) if set.iter().any(|m| self.is_limit(*m)) => {
                let (limits, rest): (Vec<Id>, Vec<Id>) = set.into_iter().partition(|m| self.is_limit(*m));
                let rest = self.nnf.and(rest);
                let rest = self.until(f, rest);
                return self.nnf.and(limits.into_iter().chain([rest]));
            }
            _ => {}
        }
        self.nnf.until(f, g)
    }

    /// `f R g`: the mirror image.
    fn release(&mut self, f: Id, g: Id) -> Id {
        if self.is_universal(g) || self.implies(g, f) {
            return g;
        }
        if f != Id::FALSE && self.excludes(g, f) {
            return self.release(Id::FALSE, g);
        }
        match (self.node(f), self.node(g)) {
            (_, Node::Release(h, _)) if self.implies(h, f) => return g,
            (Node::Release(_, h), _) if h == g => return f,
            (Node::False, Node::Release(_, h)) => return self.release(f, h),
            (Node::False | Node::Next(_), Node::Next(h)) => {
                let f = if let Node::Next(inner) = self.node(f) { inner } else { f };
                let inner = self.release(f, h);
                return self.next(inner);
            }
            (_, Node::And(set)) if set.iter().any(|m| self.is_universal(*m)) => {
                let (now, later): (Vec<Id>, Vec<Id>) = set.into_iter().partition(|m| self.is_universal(*m));
                let later = self.nnf.and(later);
                let later = self.release(f, later);
                return self.nnf.and(now.into_iter().chain([later]));
            }
            (_, Node::Or(set)) if set.iter().any(|m| self.is_limit(*m)) => {
                let (limits, rest): (Vec<Id>, Vec<Id>) = set.into_iter().partition(|m| self.is_limit(*m));
                let rest = self.nnf.or(rest);
                let rest = self.release(f, rest);
                return self.nnf.or(limits.into_iter().chain([rest]));
            }
            _ => {}
        }
        self.nnf.release(f, g)
    }

    /// A conjunction or a disjunction: members that follow from others go, contradictions decide, pairs melt.
    fn set(&mut self, set: Vec<Id>, conjunction: bool) -> Id {
        let joined = self.join(set, conjunction);
        let mut set = match self.node(joined) {
            Node::And(set) if conjunction => set,
            Node::Or(set) if !conjunction => set,
            _ => return joined,
        };
        let zero = if conjunction { Id::FALSE } else { Id::TRUE };
        let mut i = 0;
        while i < set.len() {
            for j in 0..set.len() {
                let (a, b) = (set[i], set[j]);
                if i != j {
                    let (weaker, stronger) = if conjunction { (a, b) } else { (b, a) };
                    if self.implies(stronger, weaker) {
                        set.remove(i);
                        return self.set(set, conjunction);
                    }
                    if self.opposed(a, b, conjunction) {
                        return zero;
                    }
                    if let Some(one) = self.melt(a, b, conjunction) {
                        set[i] = one;
                        set.remove(j);
                        return self.set(set, conjunction);
                    }
                }
            }
            i += 1;
        }
        self.join(set, conjunction)
    }

    /// Whether the two together decide the set: they exclude each other, or one of them always holds.
    fn opposed(&mut self, a: Id, b: Id, conjunction: bool) -> bool {
        if conjunction {
            return self.excludes(a, b);
        }
        let not_a = self.nnf.not(a);
        self.implies(not_a, b)
    }

    /// Two members as one.
    fn melt(&mut self, a: Id, b: Id, conjunction: bool) -> Option<Id> {
        match (self.node(a), self.node(b)) {
            (Node::Next(x), Node::Next(y)) => {
                let inner = self.join(vec![x, y], conjunction);
                Some(self.next(inner))
            }
            // (f U h) && (g U h) = (f && g) U h;  (f U g) || (f U h) = f U (g || h).
            (Node::Until(f, g), Node::Until(h, k)) if conjunction && g == k => {
                let left = self.nnf.and([f, h]);
                Some(self.until(left, g))
            }
            (Node::Until(f, g), Node::Until(h, k)) if !conjunction && f == h => {
                let right = self.nnf.or([g, k]);
                Some(self.until(f, right))
            }
            (Node::Release(f, g), Node::Release(h, k)) if !conjunction && g == k => {
                let left = self.nnf.or([f, h]);
                Some(self.release(left, g))
            }
            (Node::Release(f, g), Node::Release(h, k)) if conjunction && f == h => {
                let right = self.nnf.and([g, k]);
                Some(self.release(f, right))
            }
            // [] f || (f U g) = f W g;  <> f && (f R g) = g U (f && g).
            (Node::Release(Id::FALSE, f), Node::Until(h, g)) if !conjunction && f == h => {
                let either = self.nnf.or([f, g]);
                Some(self.release(g, either))
            }
            (Node::Until(Id::TRUE, f), Node::Release(h, g)) if conjunction && f == h => {
                let both = self.nnf.and([f, g]);
                Some(self.until(g, both))
            }
            _ => self.melt_limits(a, b, conjunction),
        }
    }

    /// `[]<> f || []<> g = []<> (f || g)` and `<>[] f && <>[] g = <>[] (f && g)`; `f && X [] f = [] f` and `f
    /// || X <> f = <> f`.
    fn melt_limits(&mut self, a: Id, b: Id, conjunction: bool) -> Option<Id> {
        if let Node::Next(later) = self.node(b) {
            let inner = if conjunction { self.always(later) } else { self.eventually(later) };
            return (inner == Some(a)).then_some(later);
        }
        if conjunction {
            let inner = |s: &Self, f: Id| s.always(s.eventually(f)?);
            let both = [inner(self, a)?, inner(self, b)?];
            let both = self.nnf.and(both);
            let always = self.nnf.always(both);
            return Some(self.nnf.eventually(always));
        }
        let inner = |s: &Self, f: Id| s.eventually(s.always(f)?);
        let either = [inner(self, a)?, inner(self, b)?];
        let either = self.nnf.or(either);
        let eventually = self.nnf.eventually(either);
        Some(self.nnf.always(eventually))
    }
}
