//! The operators of CTL as fixpoints (Clarke, Emerson 1981), over a relation made total by repeating states
//! without successors, and under weak fairness.
//!
//! Under weak fairness quantifiers range over the runs in which every process again and again moves or cannot
//! move. From every state such a run begins, because processes can be taken in turn: so fairness changes the
//! operators that speak of infinite runs, and leaves `EX`, `EU` and what is made of them as they are. `EG p`
//! is then an operator of its own ([`crate::sets::Sets::fair`]).

use crate::core::{Arena, Atom, FormulaId, Steps};
use crate::formula::Quantifier;

/// Makes CTL's operators.
pub struct Ctl<'a> {
    /// Where formulas are made.
    pub arena: &'a mut Arena,
    /// The processes 0, 1, … that weak fairness is about; `None`: all runs count.
    pub fair: Option<u32>,
}

impl Ctl<'_> {
    fn can_move(&mut self) -> FormulaId {
        self.arena.atom(Atom::Enabled(Steps::All))
    }

    fn stuck(&mut self) -> FormulaId {
        let can_move = self.can_move();
        self.arena.not(can_move)
    }

    /// `X a`.
    pub fn next(&mut self, quantifier: Quantifier, a: FormulaId) -> FormulaId {
        match quantifier {
            Quantifier::Some => {
                let (step, stuck) = (self.arena.some_next(Steps::All, a), self.stuck());
                let stays = self.arena.and(stuck, a);
                self.arena.or(step, stays)
            }
            Quantifier::All => self.dual(a, |ctl, a| ctl.next(Quantifier::Some, a)),
        }
    }

    /// `a U b`.
    pub fn until(&mut self, quantifier: Quantifier, a: FormulaId, b: FormulaId) -> FormulaId {
        match quantifier {
            Quantifier::Some => self.until_some(a, b),
            // Not: b is put off until a and b both fail, or forever.
            Quantifier::All => {
                let (not_a, not_b) = (self.arena.not(a), self.arena.not(b));
                let neither = self.arena.and(not_a, not_b);
                let fails = self.weak_until_some(not_b, neither);
                self.arena.not(fails)
            }
        }
    }

    /// `a W b`.
    pub fn weak_until(&mut self, quantifier: Quantifier, a: FormulaId, b: FormulaId) -> FormulaId {
        match quantifier {
            Quantifier::Some => self.weak_until_some(a, b),
            Quantifier::All => {
                let (not_a, not_b) = (self.arena.not(a), self.arena.not(b));
                let neither = self.arena.and(not_a, not_b);
                let fails = self.until_some(not_b, neither);
                self.arena.not(fails)
            }
        }
    }

    /// `a R b`: b holds up to and including the first state with a, or forever.
    pub fn release(&mut self, quantifier: Quantifier, a: FormulaId, b: FormulaId) -> FormulaId {
        let both = self.arena.and(a, b);
        self.weak_until(quantifier, b, both)
    }

    fn dual(&mut self, a: FormulaId, make: impl FnOnce(&mut Self, FormulaId) -> FormulaId) -> FormulaId {
        let not_a = self.arena.not(a);
        let other = make(self, not_a);
        self.arena.not(other)
    }

    /// `E[a U b]`: the least Y with `b || a && <>Y`. To repeat a state leads nowhere new.
    fn until_some(&mut self, a: FormulaId, b: FormulaId) -> FormulaId {
        let y = self.arena.fresh();
        let step = self.arena.some_next(Steps::All, y);
        let on = self.arena.and(a, step);
        let body = self.arena.or(b, on);
        self.arena.least(y, body)
    }

    fn weak_until_some(&mut self, a: FormulaId, b: FormulaId) -> FormulaId {
        match self.fair {
            Some(n_processes) => {
                let (until, forever) = (self.until_some(a, b), self.arena.fairly_always(n_processes, a));
                self.arena.or(until, forever)
            }
            // The greatest Z with `b || a && (<>Z || stuck)`, in the shape that engines compute at once:
            // `(a || b) && (b || stuck || <>Z)`.
            None => {
                let (z, stuck) = (self.arena.fresh(), self.stuck());
                let (either, enough) = (self.arena.or(a, b), self.arena.or(b, stuck));
                let step = self.arena.some_next(Steps::All, z);
                let goes_on = self.arena.or(enough, step);
                let body = self.arena.and(either, goes_on);
                self.arena.greatest(z, body)
            }
        }
    }
}
