//! What a single run shows of a formula: the judge of counterexamples, who does not know the other runs.
//!
//! A run refutes `AG p` in a state without `p`, and `AF p` by going on forever (around a cycle, or in a state
//! that is stuck) without `p`. Parts that speak of other runs, such as `EF p` when it is to be refuted, are
//! beyond what a run can show: they are [`Truth::Unknown`], and what is said of them rests on the search
//! that saw all states. A trail is accepted if it does not contradict what is claimed of it, and what it
//! leaves open is told. Inside of an operator a part that the run fails to show may be shown by another one:
//! only a part that a state decides can contradict.

use crate::core::{Atom, Steps};
use crate::formula::{Formula, Quantifier};
use crate::verdict::Truth;

/// A run: positions 0, 1, … with the states that it passes.
pub struct Run<'a> {
    /// The number of states on the way.
    pub len: usize,
    /// The position to which the run returns from the last one; `None`: it ends, or goes on in a way that is
    /// not told.
    pub back_to: Option<usize>,
    /// The value of an atom at a position.
    pub atom: &'a dyn Fn(usize, Atom) -> bool,
}

impl Run<'_> {
    /// The position behind `at`: around the cycle, or the same one again where the run is stuck.
    fn next(&self, at: usize) -> Option<usize> {
        if at + 1 < self.len {
            return Some(at + 1);
        }
        self.back_to.or_else(|| (!(self.atom)(at, Atom::Enabled(Steps::All))).then_some(at))
    }

    /// The positions from `at` on, each once, and whether the run goes on forever through the last ones.
    fn from(&self, at: usize) -> (Vec<usize>, bool) {
        let (mut positions, mut now) = (vec![at], at);
        while let Some(next) = self.next(now) {
            if positions.contains(&next) {
                return (positions, true);
            }
            positions.push(next);
            now = next;
        }
        (positions, false)
    }

    /// Whether the run shows that a formula holds (`wanted`) or fails at a position. `False` means that it
    /// shows the opposite or nothing, `Unknown` that the rest hangs on other runs.
    pub fn shows(&self, formula: &Formula, wanted: bool, at: usize) -> Truth {
        match formula {
            Formula::Atom(atom) => truth((self.atom)(at, *atom) == wanted),
            Formula::Not(a) => self.shows(a, !wanted, at),
            Formula::And(a, b) if wanted => self.both((a, true), (b, true), at),
            Formula::Or(a, b) if !wanted => self.both((a, false), (b, false), at),
            Formula::Implies(a, b) if !wanted => self.both((a, true), (b, false), at),
            Formula::And(a, b) | Formula::Or(a, b) => {
                or(self.shows(a, wanted, at), self.shows(b, wanted, at))
            }
            Formula::Implies(a, b) => or(self.shows(a, false, at), self.shows(b, true, at)),
            Formula::Equiv(a, b) => {
                or(self.both((a, true), (b, wanted), at), self.both((a, false), (b, !wanted), at))
            }
            Formula::Next(quantifier, a) => match (self.is_about(*quantifier, wanted), self.next(at)) {
                (true, Some(next)) => self.part(a, wanted, next),
                (true, None) => Truth::False,
                (false, _) => Truth::Unknown,
            },
            Formula::Finally(q, a) => self.until(*q, &Formula::TRUE, a, wanted, at),
            Formula::Globally(q, a) => {
                self.until(q.dual(), &Formula::TRUE, &a.clone().negated(), !wanted, at)
            }
            Formula::Until(q, a, b) => self.until(*q, a, b, wanted, at),
            Formula::WeakUntil(q, a, b) => {
                let (not_a, not_b) = (a.clone().negated(), b.clone().negated());
                let neither = Formula::And(Box::new(not_a), Box::new(not_b.clone()));
                self.until(q.dual(), &not_b, &neither, !wanted, at)
            }
            Formula::Release(q, a, b) => {
                let (not_a, not_b) = (a.clone().negated(), b.clone().negated());
                self.until(q.dual(), &not_a, &not_b, !wanted, at)
            }
            // Which step it is, a run of states does not tell.
            Formula::Modal(quantifier, steps, a) => {
                let next = if at + 1 < self.len { Some(at + 1) } else { self.back_to };
                match (self.is_about(*quantifier, wanted), next) {
                    (true, Some(next)) if *steps == Steps::All => self.part(a, wanted, next),
                    (true, Some(next)) => and(Truth::Unknown, self.part(a, wanted, next)),
                    (true, None) => Truth::False,
                    (false, _) => Truth::Unknown,
                }
            }
            Formula::Mu(..) | Formula::Nu(..) | Formula::Variable(_) => Truth::Unknown,
        }
    }

    /// Whether the run shows a part of a formula further on.
    fn part(&self, formula: &Formula, wanted: bool, at: usize) -> Truth {
        match self.shows(formula, wanted, at) {
            Truth::False if !formula.is_boolean() => Truth::Unknown,
            known => known,
        }
    }

    /// Both parts are wanted: the run shows one of them at least, and contradicts none.
    fn both(&self, a: (&Formula, bool), b: (&Formula, bool), at: usize) -> Truth {
        let shown = |(formula, wanted): (&Formula, bool)| self.shows(formula, wanted, at);
        match (shown(a), shown(b)) {
            (Truth::False, Truth::False) => Truth::False,
            _ => and(self.part(a.0, a.1, at), self.part(b.0, b.1, at)),
        }
    }

    /// Whether one run can show what is wanted of a quantifier.
    fn is_about(&self, quantifier: Quantifier, wanted: bool) -> bool {
        (quantifier == Quantifier::Some) == wanted
    }

    /// `a U b` along the run, or its failure.
    fn until(&self, quantifier: Quantifier, a: &Formula, b: &Formula, wanted: bool, at: usize) -> Truth {
        if !self.is_about(quantifier, wanted) {
            return Truth::Unknown;
        }
        let (positions, forever) = self.from(at);
        // From the last position back to the first.
        let end = truth(!wanted && forever);
        positions.iter().rev().fold(end, |later, &position| {
            let (a, b) = (self.part(a, wanted, position), self.part(b, wanted, position));
            match wanted {
                true => or(b, and(a, later)),
                false => and(b, or(a, later)),
            }
        })
    }
}

fn truth(value: bool) -> Truth {
    if value { Truth::True } else { Truth::False }
}

fn and(a: Truth, b: Truth) -> Truth {
    match (a, b) {
        (Truth::False, _) | (_, Truth::False) => Truth::False,
        (Truth::True, Truth::True) => Truth::True,
        _ => Truth::Unknown,
    }
}

fn or(a: Truth, b: Truth) -> Truth {
    match (a, b) {
        (Truth::True, _) | (_, Truth::True) => Truth::True,
        (Truth::False, Truth::False) => Truth::False,
        _ => Truth::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prop() -> Box<Formula> {
        Box::new(Formula::Atom(Atom::Proposition(0)))
    }

    /// What a run shows of a formula that is to fail; the proposition holds at these positions.
    fn fails(formula: &Formula, holds: &[bool], back_to: Option<usize>) -> Truth {
        let atom = |at: usize, atom: Atom| match atom {
            Atom::Proposition(_) => holds[at],
            _ => true,
        };
        Run { len: holds.len(), back_to, atom: &atom }.shows(formula, false, 0)
    }

    #[test]
    fn paths_and_cycles_refute() {
        let (all, some) = (Quantifier::All, Quantifier::Some);
        let always = Formula::Globally(all, prop());
        assert_eq!(fails(&always, &[true, true, false], None), Truth::True);
        assert_eq!(fails(&always, &[true, true], None), Truth::False);
        let finally = Formula::Finally(all, prop());
        assert_eq!(fails(&finally, &[false, false], Some(1)), Truth::True);
        assert_eq!(fails(&finally, &[false, false], None), Truth::False, "it may come later");
        assert_eq!(fails(&finally, &[false, true], Some(0)), Truth::False);
        let possible = Formula::Globally(all, Box::new(Formula::Finally(some, prop())));
        assert_eq!(fails(&possible, &[false], None), Truth::Unknown, "other runs must fail as well");
        let again = Formula::Globally(all, Box::new(finally.clone()));
        assert_eq!(fails(&again, &[true, false], Some(1)), Truth::True);
        let either = Formula::Or(Box::new(always), Box::new(finally));
        assert_eq!(fails(&either, &[false, true], None), Truth::Unknown, "one of them is shown");
        assert_eq!(fails(&Formula::Or(prop(), prop()), &[true], None), Truth::False);
    }
}
