//! Negation normal form, hash-consed: every formula exists once and has a small number.
//!
//! `<> f` is `true U f` and `[] f` is `false R f`; conjunctions and disjunctions are sets. The constructors
//! keep only laws that hold for sets of formulas as they are (units, duplicates, complements), so that the
//! translation may use them for the states of an automaton; laws that need an argument about infinite runs do
//! not belong here.

use crate::formula::Formula;
use crate::table::Table;
use std::collections::HashMap;
use stop::Stop;

type Known = HashMap<(*const Formula, bool), Id>;

/// The number of a formula in its [`Nnf`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Id(pub(crate) u32);

impl Id {
    /// `true`.
    pub const TRUE: Id = Id(0);
    /// `false`.
    pub const FALSE: Id = Id(1);
}

/// A formula whose negations stand at propositions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are the operators'")]
pub enum Node {
    True,
    False,
    /// A proposition, or its negation.
    Lit {
        prop: u32,
        positive: bool,
    },
    /// At least two different operands, in order, none of them a conjunction.
    And(Vec<Id>),
    /// At least two different operands, in order, none of them a disjunction.
    Or(Vec<Id>),
    Next(Id),
    Until(Id, Id),
    Release(Id, Id),
}

/// What the form of a formula shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// It holds as soon as it holds for a suffix: `f = <> f`.
    pub eventual: bool,
    /// It passes on to all suffixes: `f = [] f`.
    pub universal: bool,
    /// `X` occurs in it.
    pub next: bool,
}

/// All formulas of one translation.
#[derive(Debug)]
pub struct Nnf {
    nodes: Vec<Node>,
    shapes: Vec<Shape>,
    numbers: Table<Node, Id>,
    negations: Table<Id, Id>,
    /// When to give up.
    pub stop: Stop,
}

/// The formula that is always true, or never.
fn constant(value: bool) -> Id {
    if value { Id::TRUE } else { Id::FALSE }
}

impl Default for Nnf {
    fn default() -> Nnf {
        let mut nnf = Nnf {
            nodes: Vec::new(),
            shapes: Vec::new(),
            numbers: Table::default(),
            negations: Table::default(),
            stop: Stop::never(),
        };
        nnf.intern(Node::True);
        nnf.intern(Node::False);
        nnf
    }
}

impl Nnf {
    /// What a formula is.
    pub fn node(&self, id: Id) -> &Node {
        &self.nodes[id.0 as usize]
    }

    fn intern(&mut self, node: Node) -> Id {
        if let Some(id) = self.numbers.get(&node) {
            return *id;
        }
        let id = Id(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.shapes.push(self.shape_of(&node));
        self.nodes.push(node.clone());
        self.numbers.insert(node, id);
        id
    }

    fn shape_of(&self, node: &Node) -> Shape {
        let all = |set: &[Id], test: &dyn Fn(Shape) -> bool| set.iter().all(|f| test(self.shape(*f)));
        let (eventual, universal, parts): (bool, bool, &[Id]) = match node {
            Node::True | Node::False => (true, true, &[]),
            Node::Lit { .. } => (false, false, &[]),
            Node::And(set) | Node::Or(set) => (all(set, &|s| s.eventual), all(set, &|s| s.universal), set),
            Node::Next(f) => (self.shape(*f).eventual, self.shape(*f).universal, &[*f]),
            Node::Until(f, g) => (*f == Id::TRUE, all(&[*f, *g], &|s| s.universal), &[*f, *g]),
            Node::Release(f, g) => (all(&[*f, *g], &|s| s.eventual), *f == Id::FALSE, &[*f, *g]),
        };
        let next = matches!(node, Node::Next(_)) || !all(parts, &|s| !s.next);
        Shape { eventual, universal, next }
    }

    /// What the form of a formula shows.
    pub fn shape(&self, id: Id) -> Shape {
        self.shapes[id.0 as usize]
    }

    /// A literal.
    pub fn lit(&mut self, prop: u32, positive: bool) -> Id {
        self.intern(Node::Lit { prop, positive })
    }

    /// A conjunction.
    pub fn and(&mut self, operands: impl IntoIterator<Item = Id>) -> Id {
        self.set(operands, true)
    }

    /// A disjunction.
    pub fn or(&mut self, operands: impl IntoIterator<Item = Id>) -> Id {
        self.set(operands, false)
    }

    fn set(&mut self, operands: impl IntoIterator<Item = Id>, conjunction: bool) -> Id {
        let (unit, zero) = if conjunction { (Id::TRUE, Id::FALSE) } else { (Id::FALSE, Id::TRUE) };
        let mut set = Vec::new();
        for id in operands {
            match self.node(id) {
                Node::And(inner) if conjunction => set.extend_from_slice(inner),
                Node::Or(inner) if !conjunction => set.extend_from_slice(inner),
                _ if id == unit => {}
                _ => set.push(id),
            }
        }
        set.sort_unstable();
        set.dedup();
        let complementary = |a: &Id| self.negations.get(a).is_some_and(|b| set.binary_search(b).is_ok());
        if set.contains(&zero) || set.iter().any(complementary) {
            return zero;
        }
        match set[..] {
            [] => unit,
            [one] => one,
            _ if conjunction => self.intern(Node::And(set)),
            _ => self.intern(Node::Or(set)),
        }
    }

    /// `X f`.
    pub fn next(&mut self, f: Id) -> Id {
        if f == Id::TRUE || f == Id::FALSE { f } else { self.intern(Node::Next(f)) }
    }

    /// `f U g`.
    pub fn until(&mut self, f: Id, g: Id) -> Id {
        match (f, g) {
            (_, Id::TRUE | Id::FALSE) | (Id::FALSE, _) => g,
            _ if f == g => g,
            _ => self.intern(Node::Until(f, g)),
        }
    }

    /// `f R g`.
    pub fn release(&mut self, f: Id, g: Id) -> Id {
        match (f, g) {
            (_, Id::TRUE | Id::FALSE) | (Id::TRUE, _) => g,
            _ if f == g => g,
            _ => self.intern(Node::Release(f, g)),
        }
    }

    /// `<> f`.
    pub fn eventually(&mut self, f: Id) -> Id {
        self.until(Id::TRUE, f)
    }

    /// `[] f`.
    pub fn always(&mut self, f: Id) -> Id {
        self.release(Id::FALSE, f)
    }

    /// The negation.
    pub fn not(&mut self, f: Id) -> Id {
        if let Some(id) = self.negations.get(&f) {
            return *id;
        }
        let negation = match self.node(f).clone() {
            Node::True => Id::FALSE,
            Node::False => Id::TRUE,
            Node::Lit { prop, positive } => self.lit(prop, !positive),
            Node::And(set) => {
                let set: Vec<Id> = set.into_iter().map(|g| self.not(g)).collect();
                self.or(set)
            }
            Node::Or(set) => {
                let set: Vec<Id> = set.into_iter().map(|g| self.not(g)).collect();
                self.and(set)
            }
            Node::Next(g) => {
                let g = self.not(g);
                self.next(g)
            }
            Node::Until(g, h) => {
                let (g, h) = (self.not(g), self.not(h));
                self.release(g, h)
            }
            Node::Release(g, h) => {
                let (g, h) = (self.not(g), self.not(h));
                self.until(g, h)
            }
        };
        self.negations.insert(f, negation);
        self.negations.insert(negation, f);
        negation
    }

    /// The normal form of a formula (`positive`) or of its negation.
    pub fn of(&mut self, formula: &Formula, positive: bool) -> Id {
        self.convert(formula, positive, &mut HashMap::new())
    }

    /// Under `<->` a formula is needed with both signs, so what was converted is remembered by where it lies.
    fn convert(&mut self, formula: &Formula, positive: bool, known: &mut Known) -> Id {
        let key = (std::ptr::from_ref(formula), positive);
        if let Some(id) = known.get(&key) {
            return *id;
        }
        let id = self.converted(formula, positive, known);
        known.insert(key, id);
        id
    }

    fn converted(&mut self, formula: &Formula, positive: bool, known: &mut Known) -> Id {
        match formula {
            Formula::True => constant(positive),
            Formula::False => constant(!positive),
            Formula::Prop(p) => {
                let (yes, no) = (self.lit(*p, true), self.lit(*p, false));
                self.negations.insert(yes, no);
                self.negations.insert(no, yes);
                if positive { yes } else { no }
            }
            Formula::Not(a) => self.convert(a, !positive, known),
            Formula::And(a, b) => self.pair(a, positive, b, positive, positive, known),
            Formula::Or(a, b) => self.pair(a, positive, b, positive, !positive, known),
            Formula::Implies(a, b) => self.pair(a, !positive, b, positive, !positive, known),
            Formula::Equiv(a, b) => {
                let same = self.pair(a, true, b, positive, true, known);
                let other = self.pair(a, false, b, !positive, true, known);
                self.or([same, other])
            }
            Formula::Next(a) => {
                let a = self.convert(a, positive, known);
                self.next(a)
            }
            Formula::Always(a) => {
                let a = self.convert(a, positive, known);
                if positive { self.always(a) } else { self.eventually(a) }
            }
            Formula::Eventually(a) => {
                let a = self.convert(a, positive, known);
                if positive { self.eventually(a) } else { self.always(a) }
            }
            Formula::Until(a, b) => {
                let (a, b) = (self.convert(a, positive, known), self.convert(b, positive, known));
                if positive { self.until(a, b) } else { self.release(a, b) }
            }
            Formula::Release(a, b) => {
                let (a, b) = (self.convert(a, positive, known), self.convert(b, positive, known));
                if positive { self.release(a, b) } else { self.until(a, b) }
            }
            // a W b = b R (a || b), and its negation is !b U (!a && !b).
            Formula::WeakUntil(a, b) => {
                let (a, b) = (self.convert(a, positive, known), self.convert(b, positive, known));
                if positive {
                    let either = self.or([a, b]);
                    self.release(b, either)
                } else {
                    let both = self.and([a, b]);
                    self.until(b, both)
                }
            }
        }
    }

    fn pair(
        &mut self,
        a: &Formula,
        a_sign: bool,
        b: &Formula,
        b_sign: bool,
        conjunction: bool,
        known: &mut Known,
    ) -> Id {
        let set = [self.convert(a, a_sign, known), self.convert(b, b_sign, known)];
        self.set(set, conjunction)
    }
}
