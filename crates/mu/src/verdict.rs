//! Three values: where a path was cut off, a formula may be neither true nor false.
//!
//! A step whose end is unknown may lead anywhere. A formula is true in a state if it is true wherever such
//! steps may lead, and false if it is false wherever they may lead. Evaluated twice, once with every unknown
//! end against the formula and once in its favour ([`Bound`]), this is Kleene's logic on a modal transition
//! system (Bruns, Godefroid 1999): an answer that does not hang on what is unknown.

use crate::core::{Arena, FormulaId};
use crate::evaluate::{Bound, Evaluator};
use crate::sets::Sets;

/// Whether a formula holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Truth {
    /// It does.
    True,
    /// It does not.
    False,
    /// That depends on what was cut off.
    Unknown,
}

/// The states in which a formula certainly holds, and those in which it may.
#[derive(Clone, Debug)]
pub struct Answer<S> {
    /// Certainly.
    pub must: S,
    /// Perhaps.
    pub may: S,
}

/// The answer for all states.
pub fn answer<S: Sets>(arena: &Arena, formula: FormulaId, sets: &mut S) -> Answer<S::Set> {
    let must = Evaluator::new(arena, sets, Bound::Must).set(formula);
    let may = match sets.cut(crate::core::Steps::All) {
        None => must.clone(),
        Some(_) => Evaluator::new(arena, sets, Bound::May).set(formula),
    };
    Answer { must, may }
}

impl<S> Answer<S> {
    /// The answer for the state that `contains` looks for in a set.
    pub fn truth(&self, contains: impl Fn(&S) -> bool) -> Truth {
        match (contains(&self.must), contains(&self.may)) {
            (true, _) => Truth::True,
            (false, false) => Truth::False,
            (false, true) => Truth::Unknown,
        }
    }
}
