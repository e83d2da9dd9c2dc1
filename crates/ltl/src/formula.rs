//! Formulas of linear temporal logic over numbered propositions, as a user writes them.
//!
//! This is the plain tree with all operators of Spin. What the translation works on is the negation normal
//! form in [`crate::nnf`]; this type is for building, printing and evaluating.

use std::fmt;

/// A formula. `Prop(i)` is proposition `i`; who numbers propositions knows what they mean.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are the operators'")]
pub enum Formula {
    True,
    False,
    Prop(u32),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    Implies(Box<Formula>, Box<Formula>),
    Equiv(Box<Formula>, Box<Formula>),
    Next(Box<Formula>),
    Always(Box<Formula>),
    Eventually(Box<Formula>),
    Until(Box<Formula>, Box<Formula>),
    WeakUntil(Box<Formula>, Box<Formula>),
    Release(Box<Formula>, Box<Formula>),
}

impl Formula {
    /// The negation, as a check needs it: a run that satisfies it is a counterexample.
    pub fn negated(&self) -> Formula {
        match self {
            Formula::Not(inner) => (**inner).clone(),
            other => Formula::Not(Box::new(other.clone())),
        }
    }

    /// The operands.
    pub fn operands(&self) -> impl Iterator<Item = &Formula> {
        let (a, b) = match self {
            Formula::True | Formula::False | Formula::Prop(_) => (None, None),
            Formula::Not(a) | Formula::Next(a) | Formula::Always(a) | Formula::Eventually(a) => {
                (Some(a), None)
            }
            Formula::And(a, b)
            | Formula::Or(a, b)
            | Formula::Implies(a, b)
            | Formula::Equiv(a, b)
            | Formula::Until(a, b)
            | Formula::WeakUntil(a, b)
            | Formula::Release(a, b) => (Some(a), Some(b)),
        };
        a.into_iter().chain(b).map(|f| &**f)
    }

    /// One more than the largest number of a proposition in it.
    pub fn n_props(&self) -> u32 {
        match self {
            Formula::Prop(p) => p.saturating_add(1),
            other => other.operands().map(Formula::n_props).max().unwrap_or(0),
        }
    }

    /// Whether `X` occurs. Without it a formula cannot count steps: it is stutter-invariant.
    pub fn has_next(&self) -> bool {
        matches!(self, Formula::Next(_)) || self.operands().any(Formula::has_next)
    }

    /// In Spin's syntax, every proposition as `name` writes it.
    pub fn with_names<N: Fn(u32) -> String>(&self, name: N) -> Named<'_, N> {
        Named { formula: self, name }
    }

    fn sign(&self) -> &'static str {
        match self {
            Formula::And(..) => "&&",
            Formula::Or(..) => "||",
            Formula::Implies(..) => "->",
            Formula::Equiv(..) => "<->",
            Formula::Until(..) => "U",
            Formula::WeakUntil(..) => "W",
            Formula::Release(..) => "V",
            Formula::Not(_) => "!",
            Formula::Next(_) => "X ",
            Formula::Always(_) => "[] ",
            Formula::Eventually(_) => "<> ",
            Formula::True => "true",
            Formula::False => "false",
            Formula::Prop(_) => "p",
        }
    }
}

/// A formula that prints with names for its propositions: [`Formula::with_names`].
pub struct Named<'f, N> {
    formula: &'f Formula,
    name: N,
}

impl<N: Fn(u32) -> String> Named<'_, N> {
    fn write(&self, formula: &Formula, out: &mut fmt::Formatter<'_>, inside: bool) -> fmt::Result {
        match formula {
            Formula::Prop(p) => out.write_str(&(self.name)(*p)),
            Formula::Not(a) | Formula::Next(a) | Formula::Always(a) | Formula::Eventually(a) => {
                out.write_str(formula.sign())?;
                self.write(a, out, true)
            }
            Formula::And(a, b)
            | Formula::Or(a, b)
            | Formula::Implies(a, b)
            | Formula::Equiv(a, b)
            | Formula::Until(a, b)
            | Formula::WeakUntil(a, b)
            | Formula::Release(a, b) => {
                out.write_str(if inside { "(" } else { "" })?;
                self.write(a, out, true)?;
                write!(out, " {} ", formula.sign())?;
                self.write(b, out, true)?;
                out.write_str(if inside { ")" } else { "" })
            }
            Formula::True | Formula::False => out.write_str(formula.sign()),
        }
    }
}

impl<N: Fn(u32) -> String> fmt::Display for Named<'_, N> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(self.formula, out, false)
    }
}

/// In Spin's syntax, propositions as `p0`, `p1` …
impl fmt::Display for Formula {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_names(|p| format!("p{p}")).fmt(out)
    }
}
