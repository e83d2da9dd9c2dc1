//! The modal mu-calculus in positive normal form: negation stands in front of atoms only.
//!
//! Formulas are nodes of an arena, and equal nodes are one: so what the translation of CTL repeats (under
//! fairness, once for each process) is evaluated once. Negation is pushed inwards when a formula is negated.
//! Variables come in pairs, a variable and its complement, which differ in the lowest bit of their number:
//! the negation of a variable is the other one, and a formula in which each variable stands under an even
//! number of negations names only the one that its fixpoint binds.

use std::collections::HashMap;

/// A set of steps that a modality is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Steps {
    /// All steps.
    All,
    /// Those that pass a filter of the formula, by number.
    Filter(u32),
    /// Those in which the process with this number takes part. Fairness asks for them: a rendezvous moves the
    /// sender and the receiver, but only a sender counts as a process that can move.
    Process(u32),
}

/// What a single state decides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Atom {
    /// Nothing: it always holds.
    True,
    /// A proposition of the formula, by number.
    Proposition(u32),
    /// Every process is at a valid end.
    ValidEnd,
    /// One of these steps is possible, also one that ends in a run-time error.
    Enabled(Steps),
}

/// A node of an [`Arena`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct FormulaId(u32);

impl FormulaId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A formula whose parts are nodes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are the operators'")]
pub enum Node {
    Atom(Atom),
    NotAtom(Atom),
    /// The variable with this number.
    Variable(u32),
    And(FormulaId, FormulaId),
    Or(FormulaId, FormulaId),
    /// `<steps>φ`.
    Some(Steps, FormulaId),
    /// `[steps]φ`.
    All(Steps, FormulaId),
    /// The least fixpoint.
    Mu(u32, FormulaId),
    /// The greatest fixpoint.
    Nu(u32, FormulaId),
    /// A run that is fair to this many processes stays in φ forever: `EG φ`.
    FairlyAlways(u32, FormulaId),
    /// Every run that is fair to this many processes comes to φ: `AF φ`.
    FairlyFinally(u32, FormulaId),
}

/// All formulas of an evaluation.
#[derive(Debug, Default)]
pub struct Arena {
    nodes: Vec<Node>,
    numbers: HashMap<Node, FormulaId>,
    negations: HashMap<FormulaId, FormulaId>,
    n_variables: u32,
}

impl Arena {
    /// The formula with this number.
    pub fn node(&self, id: FormulaId) -> Node {
        self.nodes[id.index()]
    }

    /// The formula with this index: formulas are numbered in the order in which they were made.
    pub fn id(&self, index: usize) -> FormulaId {
        debug_assert!(index < self.nodes.len(), "a formula that exists");
        FormulaId(index as u32)
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no formula.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// One more than the largest number of a variable.
    pub fn n_variables(&self) -> usize {
        2 * self.n_variables as usize
    }

    fn make(&mut self, node: Node) -> FormulaId {
        let next = FormulaId(self.nodes.len() as u32);
        let id = *self.numbers.entry(node).or_insert(next);
        if id == next {
            self.nodes.push(node);
        }
        id
    }

    /// Truth or falsehood.
    pub fn constant(&mut self, value: bool) -> FormulaId {
        self.make(if value { Node::Atom(Atom::True) } else { Node::NotAtom(Atom::True) })
    }

    fn is(&self, id: FormulaId, value: bool) -> bool {
        self.node(id) == if value { Node::Atom(Atom::True) } else { Node::NotAtom(Atom::True) }
    }

    /// An atom.
    pub fn atom(&mut self, atom: Atom) -> FormulaId {
        self.make(Node::Atom(atom))
    }

    /// `a && b`.
    pub fn and(&mut self, a: FormulaId, b: FormulaId) -> FormulaId {
        match () {
            () if self.is(a, false) || self.is(b, true) || a == b => a,
            () if self.is(a, true) || self.is(b, false) => b,
            () => self.make(Node::And(a.min(b), a.max(b))),
        }
    }

    /// `a || b`.
    pub fn or(&mut self, a: FormulaId, b: FormulaId) -> FormulaId {
        match () {
            () if self.is(a, true) || self.is(b, false) || a == b => a,
            () if self.is(a, false) || self.is(b, true) => b,
            () => self.make(Node::Or(a.min(b), a.max(b))),
        }
    }

    /// `a <-> b`.
    pub fn equiv(&mut self, a: FormulaId, b: FormulaId) -> FormulaId {
        let (not_a, not_b) = (self.not(a), self.not(b));
        let (both, neither) = (self.and(a, b), self.and(not_a, not_b));
        self.or(both, neither)
    }

    /// `<steps>a`. That some step is possible is an atom: then it is known also where the end of the step is
    /// not.
    pub fn some_next(&mut self, steps: Steps, a: FormulaId) -> FormulaId {
        match () {
            () if self.is(a, true) => self.make(Node::Atom(Atom::Enabled(steps))),
            () if self.is(a, false) => a,
            () => self.make(Node::Some(steps, a)),
        }
    }

    /// `[steps]a`.
    pub fn all_next(&mut self, steps: Steps, a: FormulaId) -> FormulaId {
        match () {
            () if self.is(a, false) => self.make(Node::NotAtom(Atom::Enabled(steps))),
            () if self.is(a, true) => a,
            () => self.make(Node::All(steps, a)),
        }
    }

    /// A variable that is bound nowhere yet.
    pub fn fresh(&mut self) -> FormulaId {
        self.n_variables += 1;
        self.make(Node::Variable(2 * (self.n_variables - 1)))
    }

    /// `mu variable. body`.
    pub fn least(&mut self, variable: FormulaId, body: FormulaId) -> FormulaId {
        let number = self.variable(variable);
        self.make(Node::Mu(number, body))
    }

    /// `nu variable. body`.
    pub fn greatest(&mut self, variable: FormulaId, body: FormulaId) -> FormulaId {
        let number = self.variable(variable);
        self.make(Node::Nu(number, body))
    }

    /// `EG a` along a run that is fair to the first processes.
    pub fn fairly_always(&mut self, n_processes: u32, a: FormulaId) -> FormulaId {
        self.make(Node::FairlyAlways(n_processes, a))
    }

    fn variable(&self, id: FormulaId) -> u32 {
        let Node::Variable(number) = self.node(id) else { unreachable!("{id:?} is no variable") };
        number
    }

    /// The negation, again in positive normal form.
    pub fn not(&mut self, id: FormulaId) -> FormulaId {
        if let Some(&known) = self.negations.get(&id) {
            return known;
        }
        let negation = match self.node(id) {
            Node::Atom(atom) => self.make(Node::NotAtom(atom)),
            Node::NotAtom(atom) => self.make(Node::Atom(atom)),
            Node::Variable(number) => self.make(Node::Variable(number ^ 1)),
            Node::And(a, b) => {
                let (a, b) = (self.not(a), self.not(b));
                self.or(a, b)
            }
            Node::Or(a, b) => {
                let (a, b) = (self.not(a), self.not(b));
                self.and(a, b)
            }
            Node::Some(steps, a) => {
                let a = self.not(a);
                self.all_next(steps, a)
            }
            Node::All(steps, a) => {
                let a = self.not(a);
                self.some_next(steps, a)
            }
            Node::Mu(variable, body) => {
                let body = self.not(body);
                self.make(Node::Nu(variable ^ 1, body))
            }
            Node::Nu(variable, body) => {
                let body = self.not(body);
                self.make(Node::Mu(variable ^ 1, body))
            }
            Node::FairlyAlways(n, a) => {
                let a = self.not(a);
                self.make(Node::FairlyFinally(n, a))
            }
            Node::FairlyFinally(n, a) => {
                let a = self.not(a);
                self.make(Node::FairlyAlways(n, a))
            }
        };
        self.negations.insert(id, negation);
        self.negations.insert(negation, id);
        negation
    }

    /// The parts of a formula.
    pub fn parts(&self, id: FormulaId) -> impl Iterator<Item = FormulaId> {
        let (first, second) = match self.node(id) {
            Node::Atom(_) | Node::NotAtom(_) | Node::Variable(_) => (None, None),
            Node::And(a, b) | Node::Or(a, b) => (Some(a), Some(b)),
            Node::Some(_, a) | Node::All(_, a) | Node::Mu(_, a) | Node::Nu(_, a) => (Some(a), None),
            Node::FairlyAlways(_, a) | Node::FairlyFinally(_, a) => (Some(a), None),
        };
        first.into_iter().chain(second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negating_twice_gives_the_formula_back() {
        let mut arena = Arena::default();
        let (p, q) = (arena.atom(Atom::Proposition(0)), arena.atom(Atom::Proposition(1)));
        let z = arena.fresh();
        let step = arena.some_next(Steps::All, z);
        let inner = arena.and(q, step);
        let body = arena.or(p, inner);
        let until = arena.least(z, body);
        let negated = arena.not(until);
        assert!(matches!(arena.node(negated), Node::Nu(1, _)));
        assert_eq!(arena.not(negated), until);
    }

    #[test]
    fn equal_formulas_are_one() {
        let mut arena = Arena::default();
        let (p, q) = (arena.atom(Atom::Proposition(0)), arena.atom(Atom::Proposition(1)));
        assert_eq!(arena.and(p, q), arena.and(q, p));
        let (yes, no) = (arena.constant(true), arena.constant(false));
        assert_eq!((arena.and(p, yes), arena.or(p, no), arena.and(p, p)), (p, p, p));
        assert_eq!((arena.and(p, no), arena.or(p, yes)), (no, yes));
        let enabled = arena.some_next(Steps::All, yes);
        assert_eq!(arena.node(enabled), Node::Atom(Atom::Enabled(Steps::All)));
        let stuck = arena.all_next(Steps::All, no);
        assert_eq!(arena.not(stuck), enabled);
    }
}
