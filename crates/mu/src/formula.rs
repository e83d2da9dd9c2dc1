//! A formula of CTL or of the modal mu-calculus as it is written, over numbered propositions.
//!
//! CTL is judged on a total relation: a state without successors is its own successor, as in the products of
//! LTL (`X p` then means `p`). The mu-calculus is judged on the relation as it is: `[]p` holds where there is
//! no step, `<>p` does not.

use crate::core::{Arena, Atom, FormulaId, Steps};
use crate::ctl::Ctl;
use std::collections::HashMap;
use std::fmt;

/// Which runs or steps a temporal operator is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Quantifier {
    /// All of them: `A`, `[ ]`.
    All,
    /// At least one: `E`, `< >`.
    Some,
}

impl Quantifier {
    /// The quantifier of the negated formula.
    pub fn dual(self) -> Self {
        match self {
            Quantifier::All => Quantifier::Some,
            Quantifier::Some => Quantifier::All,
        }
    }
}

/// A formula. A variable is known by a number of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are the operators'")]
pub enum Formula {
    Atom(Atom),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    Implies(Box<Formula>, Box<Formula>),
    Equiv(Box<Formula>, Box<Formula>),
    /// CTL's `X`.
    Next(Quantifier, Box<Formula>),
    /// `F`.
    Finally(Quantifier, Box<Formula>),
    /// `G`.
    Globally(Quantifier, Box<Formula>),
    /// `U`.
    Until(Quantifier, Box<Formula>, Box<Formula>),
    /// `W`.
    WeakUntil(Quantifier, Box<Formula>, Box<Formula>),
    /// `R`.
    Release(Quantifier, Box<Formula>, Box<Formula>),
    /// `[steps]` and `<steps>`.
    Modal(Quantifier, Steps, Box<Formula>),
    /// `mu Z. φ`.
    Mu(u32, Box<Formula>),
    /// `nu Z. φ`.
    Nu(u32, Box<Formula>),
    /// A bound variable.
    Variable(u32),
}

impl Formula {
    /// The constant true.
    pub const TRUE: Formula = Formula::Atom(Atom::True);

    /// The negated formula.
    pub fn negated(self) -> Formula {
        Formula::Not(Box::new(self))
    }

    /// `no step at all is possible`.
    pub fn stuck() -> Formula {
        Formula::Atom(Atom::Enabled(Steps::All)).negated()
    }

    /// `no step is possible, and this is no valid end`.
    pub fn deadlock() -> Formula {
        Formula::And(Box::new(Formula::stuck()), Box::new(Formula::Atom(Atom::ValidEnd).negated()))
    }

    /// The formula with `nu Z. (p && []Z)` written as `AG p` and `mu Z. (p || <>Z)` as `EF p`: of these a
    /// run can show something. Repeating states without successors makes no difference to them.
    pub fn with_ctl_shapes(&self) -> Formula {
        let (all, some) = (Quantifier::All, Quantifier::Some);
        let step = |part: &Formula, variable: u32, quantifier: Quantifier| match part {
            Formula::Modal(q, Steps::All, a) => *q == quantifier && **a == Formula::Variable(variable),
            _ => false,
        };
        let beside = |a: &Formula, b: &Formula, variable: u32, quantifier: Quantifier| {
            let rest = match (step(a, variable, quantifier), step(b, variable, quantifier)) {
                (true, false) => b,
                (false, true) => a,
                _ => return None,
            };
            (!rest.mentions(variable)).then(|| Box::new(rest.with_ctl_shapes()))
        };
        let shape = match self {
            Formula::Nu(z, body) => match &**body {
                Formula::And(a, b) => beside(a, b, *z, all).map(|p| Formula::Globally(all, p)),
                _ => None,
            },
            Formula::Mu(z, body) => match &**body {
                Formula::Or(a, b) => beside(a, b, *z, some).map(|p| Formula::Finally(some, p)),
                _ => None,
            },
            _ => None,
        };
        shape.unwrap_or_else(|| self.map_parts(&mut |part| part.with_ctl_shapes()))
    }

    fn mentions(&self, variable: u32) -> bool {
        let mut found = *self == Formula::Variable(variable);
        self.map_parts(&mut |part| {
            found |= part.mentions(variable);
            part.clone()
        });
        found
    }

    /// The formula with other parts.
    fn map_parts(&self, map: &mut dyn FnMut(&Formula) -> Formula) -> Formula {
        let mut one = |a: &Formula| Box::new(map(a));
        match self {
            Formula::Atom(_) | Formula::Variable(_) => self.clone(),
            Formula::Not(a) => Formula::Not(one(a)),
            Formula::And(a, b) => Formula::And(one(a), one(b)),
            Formula::Or(a, b) => Formula::Or(one(a), one(b)),
            Formula::Implies(a, b) => Formula::Implies(one(a), one(b)),
            Formula::Equiv(a, b) => Formula::Equiv(one(a), one(b)),
            Formula::Next(q, a) => Formula::Next(*q, one(a)),
            Formula::Finally(q, a) => Formula::Finally(*q, one(a)),
            Formula::Globally(q, a) => Formula::Globally(*q, one(a)),
            Formula::Until(q, a, b) => Formula::Until(*q, one(a), one(b)),
            Formula::WeakUntil(q, a, b) => Formula::WeakUntil(*q, one(a), one(b)),
            Formula::Release(q, a, b) => Formula::Release(*q, one(a), one(b)),
            Formula::Modal(q, steps, a) => Formula::Modal(*q, *steps, one(a)),
            Formula::Mu(z, a) => Formula::Mu(*z, one(a)),
            Formula::Nu(z, a) => Formula::Nu(*z, one(a)),
        }
    }

    /// The parts of a formula that is no fixpoint: closed formulas, if it is one.
    pub fn parts(&self) -> Vec<Formula> {
        let mut parts = Vec::new();
        if !matches!(self, Formula::Mu(..) | Formula::Nu(..)) {
            self.map_parts(&mut |part| {
                parts.push(part.clone());
                part.clone()
            });
        }
        parts
    }

    /// Whether the formula has no temporal operator: one state decides it.
    pub fn is_boolean(&self) -> bool {
        match self {
            Formula::Atom(_) => true,
            Formula::Not(a) => a.is_boolean(),
            Formula::And(a, b) | Formula::Or(a, b) | Formula::Implies(a, b) | Formula::Equiv(a, b) => {
                a.is_boolean() && b.is_boolean()
            }
            _ => false,
        }
    }

    /// Calls `visit` for every atom.
    pub fn walk_atoms(&self, visit: &mut impl FnMut(Atom)) {
        match self {
            Formula::Atom(atom) => visit(*atom),
            Formula::Variable(_) => {}
            Formula::Modal(_, steps, a) => {
                visit(Atom::Enabled(*steps));
                a.walk_atoms(visit);
            }
            Formula::Not(a)
            | Formula::Next(_, a)
            | Formula::Finally(_, a)
            | Formula::Globally(_, a)
            | Formula::Mu(_, a)
            | Formula::Nu(_, a) => a.walk_atoms(visit),
            Formula::And(a, b)
            | Formula::Or(a, b)
            | Formula::Implies(a, b)
            | Formula::Equiv(a, b)
            | Formula::Until(_, a, b)
            | Formula::WeakUntil(_, a, b)
            | Formula::Release(_, a, b) => {
                a.walk_atoms(visit);
                b.walk_atoms(visit);
            }
        }
    }
}

/// Translates formulas into the core; equal subformulas become one.
pub struct Translation<'a> {
    ctl: Ctl<'a>,
    variables: HashMap<u32, FormulaId>,
}

impl<'a> Translation<'a> {
    /// Into `arena`; `fair`: the processes that weak fairness is about.
    pub fn new(arena: &'a mut Arena, fair: Option<u32>) -> Self {
        Translation { ctl: Ctl { arena, fair }, variables: HashMap::new() }
    }

    /// The formula in the core. Bound variables must be bound, and stand under an even number of negations.
    pub fn formula(&mut self, formula: &Formula) -> FormulaId {
        match formula {
            Formula::Atom(atom) => self.ctl.arena.atom(*atom),
            Formula::Not(a) => {
                let a = self.formula(a);
                self.ctl.arena.not(a)
            }
            Formula::And(a, b) => {
                let (a, b) = (self.formula(a), self.formula(b));
                self.ctl.arena.and(a, b)
            }
            Formula::Or(a, b) => {
                let (a, b) = (self.formula(a), self.formula(b));
                self.ctl.arena.or(a, b)
            }
            Formula::Implies(a, b) => {
                let (a, b) = (self.formula(a), self.formula(b));
                let not_a = self.ctl.arena.not(a);
                self.ctl.arena.or(not_a, b)
            }
            Formula::Equiv(a, b) => {
                let (a, b) = (self.formula(a), self.formula(b));
                self.ctl.arena.equiv(a, b)
            }
            Formula::Next(quantifier, a) => {
                let a = self.formula(a);
                self.ctl.next(*quantifier, a)
            }
            Formula::Finally(quantifier, a) => {
                let (all, a) = (self.ctl.arena.constant(true), self.formula(a));
                self.ctl.until(*quantifier, all, a)
            }
            Formula::Globally(quantifier, a) => {
                let (none, a) = (self.ctl.arena.constant(false), self.formula(a));
                self.ctl.weak_until(*quantifier, a, none)
            }
            Formula::Until(quantifier, a, b) => {
                let (a, b) = (self.formula(a), self.formula(b));
                self.ctl.until(*quantifier, a, b)
            }
            Formula::WeakUntil(quantifier, a, b) => {
                let (a, b) = (self.formula(a), self.formula(b));
                self.ctl.weak_until(*quantifier, a, b)
            }
            Formula::Release(quantifier, a, b) => {
                let (a, b) = (self.formula(a), self.formula(b));
                self.ctl.release(*quantifier, a, b)
            }
            Formula::Modal(..) | Formula::Mu(..) | Formula::Nu(..) | Formula::Variable(_) => {
                self.mu_calculus(formula)
            }
        }
    }

    fn mu_calculus(&mut self, formula: &Formula) -> FormulaId {
        match formula {
            Formula::Modal(quantifier, steps, a) => {
                let a = self.formula(a);
                match quantifier {
                    Quantifier::All => self.ctl.arena.all_next(*steps, a),
                    Quantifier::Some => self.ctl.arena.some_next(*steps, a),
                }
            }
            Formula::Mu(variable, a) | Formula::Nu(variable, a) => {
                let bound = self.ctl.arena.fresh();
                let outer = self.variables.insert(*variable, bound);
                let body = self.formula(a);
                match outer {
                    Some(outer) => self.variables.insert(*variable, outer),
                    None => self.variables.remove(variable),
                };
                match formula {
                    Formula::Mu(..) => self.ctl.arena.least(bound, body),
                    _ => self.ctl.arena.greatest(bound, body),
                }
            }
            Formula::Variable(variable) => {
                let bound = self.variables.get(variable).copied();
                debug_assert!(bound.is_some(), "the front end binds every variable");
                bound.unwrap_or(self.ctl.arena.constant(false))
            }
            _ => unreachable!("the other operators are translated above"),
        }
    }
}

/// A formula in words: propositions and filters by names that the caller gives.
pub struct Shown<'a, N> {
    formula: &'a Formula,
    names: &'a N,
}

/// The names that a text needs.
pub trait Names {
    /// A proposition.
    fn proposition(&self, number: u32) -> String;
    /// A set of steps.
    fn steps(&self, number: u32) -> String;
}

impl Formula {
    /// The formula as text.
    pub fn shown<'a, N: Names>(&'a self, names: &'a N) -> Shown<'a, N> {
        Shown { formula: self, names }
    }
}

impl<N: Names> Shown<'_, N> {
    fn part<'b>(&'b self, formula: &'b Formula) -> Shown<'b, N> {
        Shown { formula, names: self.names }
    }

    fn steps(&self, steps: Steps) -> String {
        match steps {
            Steps::All => String::new(),
            Steps::Filter(number) => self.names.steps(number),
            Steps::Process(pid) => pid.to_string(),
        }
    }

    fn atom(&self, atom: Atom) -> String {
        match atom {
            Atom::True => "true".to_string(),
            Atom::Proposition(number) => self.names.proposition(number),
            Atom::ValidEnd => "valid_end".to_string(),
            Atom::Enabled(steps) => format!("<{}>true", self.steps(steps)),
        }
    }
}

impl<N: Names> fmt::Display for Shown<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = |quantifier: &Quantifier| if *quantifier == Quantifier::All { 'A' } else { 'E' };
        let part = |formula| self.part(formula);
        match self.formula {
            formula if *formula == Formula::stuck() => write!(f, "stuck"),
            formula if *formula == Formula::deadlock() => write!(f, "deadlock"),
            Formula::Atom(atom) => write!(f, "{}", self.atom(*atom)),
            Formula::Not(a) => write!(f, "!({})", part(a)),
            Formula::And(a, b) => write!(f, "({} && {})", part(a), part(b)),
            Formula::Or(a, b) => write!(f, "({} || {})", part(a), part(b)),
            Formula::Implies(a, b) => write!(f, "({} -> {})", part(a), part(b)),
            Formula::Equiv(a, b) => write!(f, "({} <-> {})", part(a), part(b)),
            Formula::Next(q, a) => write!(f, "{}X ({})", letter(q), part(a)),
            Formula::Finally(q, a) => write!(f, "{}F ({})", letter(q), part(a)),
            Formula::Globally(q, a) => write!(f, "{}G ({})", letter(q), part(a)),
            Formula::Until(q, a, b) => write!(f, "{}[{} U {}]", letter(q), part(a), part(b)),
            Formula::WeakUntil(q, a, b) => write!(f, "{}[{} W {}]", letter(q), part(a), part(b)),
            Formula::Release(q, a, b) => write!(f, "{}[{} R {}]", letter(q), part(a), part(b)),
            Formula::Modal(Quantifier::All, steps, a) => write!(f, "[{}]({})", self.steps(*steps), part(a)),
            Formula::Modal(Quantifier::Some, steps, a) => write!(f, "<{}>({})", self.steps(*steps), part(a)),
            Formula::Mu(z, a) => write!(f, "mu Z{z}. ({})", part(a)),
            Formula::Nu(z, a) => write!(f, "nu Z{z}. ({})", part(a)),
            Formula::Variable(z) => write!(f, "Z{z}"),
        }
    }
}
