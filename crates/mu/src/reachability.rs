//! Formulas that a single reachable state decides: `AG p` fails, and `EF p` holds, as soon as there is a
//! state without or with `p`. Who explores states one after another need not see the others then.
//!
//! What CTL says of the repeated last state of a run, and weak fairness, make no difference here: from every
//! state a fair run goes on.

use crate::core::{Atom, Steps};
use crate::formula::{Formula, Quantifier};

/// How a state decides a formula.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decision {
    /// A formula without temporal operators: a state in which it holds decides.
    pub goal: Formula,
    /// Whether the formula holds then.
    pub holds: bool,
}

impl Decision {
    /// The states that decide a formula; nothing where one state is not enough.
    pub fn of(formula: &Formula) -> Option<Decision> {
        let found = decision(&formula.with_ctl_shapes());
        found.filter(|decision| is_seen(&decision.goal))
    }
}

/// Whether a state alone tells all atoms of a formula: who may take a step is told by steps.
fn is_seen(formula: &Formula) -> bool {
    let mut seen = formula.is_boolean();
    formula
        .walk_atoms(&mut |atom| seen &= !matches!(atom, Atom::Enabled(Steps::Filter(_) | Steps::Process(_))));
    seen
}

fn somewhere(goal: Formula, holds: bool) -> Option<Decision> {
    goal.is_boolean().then_some(Decision { goal, holds })
}

fn decision(formula: &Formula) -> Option<Decision> {
    match formula {
        Formula::Not(a) => decision(a).map(|part| Decision { holds: !part.holds, ..part }),
        Formula::Globally(Quantifier::All, a) => match &**a {
            // `AG AG p` says no more than `AG p`.
            Formula::Globally(Quantifier::All, _) => decision(a),
            a => somewhere(a.clone().negated(), false),
        },
        Formula::Finally(Quantifier::Some, a) => match &**a {
            Formula::Finally(Quantifier::Some, _) => decision(a),
            a => somewhere(a.clone(), true),
        },
        Formula::And(a, b) => either(decision(a)?, decision(b)?, false),
        Formula::Or(a, b) => either(decision(a)?, decision(b)?, true),
        Formula::Implies(a, b) => either(decision(&a.clone().negated())?, decision(b)?, true),
        _ => None,
    }
}

/// Two parts of which one decides the whole.
fn either(a: Decision, b: Decision, holds: bool) -> Option<Decision> {
    let fit = [&a, &b].into_iter().all(|part| part.holds == holds);
    let goal = Formula::Or(Box::new(a.goal), Box::new(b.goal));
    fit.then_some(Decision { goal, holds })
}

impl Formula {
    /// Whether a formula without temporal operators holds where atoms have these values.
    pub fn holds_where(&self, atom: &dyn Fn(Atom) -> bool) -> bool {
        match self {
            Formula::Atom(which) => atom(*which),
            Formula::Not(a) => !a.holds_where(atom),
            Formula::And(a, b) => a.holds_where(atom) && b.holds_where(atom),
            Formula::Or(a, b) => a.holds_where(atom) || b.holds_where(atom),
            Formula::Implies(a, b) => !a.holds_where(atom) || b.holds_where(atom),
            Formula::Equiv(a, b) => a.holds_where(atom) == b.holds_where(atom),
            _ => {
                debug_assert!(false, "{self:?} has a temporal operator");
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atom(number: u32) -> Box<Formula> {
        Box::new(Formula::Atom(Atom::Proposition(number)))
    }

    fn holds(formula: &Formula, values: [bool; 2]) -> bool {
        formula.holds_where(&|atom| match atom {
            Atom::Proposition(number) => values[number as usize],
            _ => true,
        })
    }

    #[test]
    fn one_state_decides_what_is_about_reachability() {
        let (all, some) = (Quantifier::All, Quantifier::Some);
        let always = |p| Formula::Globally(all, p);
        let possible = |p| Formula::Finally(some, p);
        let invariant = Decision::of(&always(atom(0))).unwrap();
        assert!(!invariant.holds && holds(&invariant.goal, [false; 2]) && !holds(&invariant.goal, [true; 2]));
        let reachable = Decision::of(&possible(atom(0))).unwrap();
        assert!(reachable.holds && holds(&reachable.goal, [true; 2]) && !holds(&reachable.goal, [false; 2]));
        assert_eq!(Decision::of(&possible(Box::new(possible(atom(0))))), Some(reachable));
        let never = Decision::of(&possible(atom(0)).negated()).unwrap();
        assert!(!never.holds && holds(&never.goal, [true; 2]));
        // Two invariants: either fails. An invariant or another: a state decides neither.
        let (a, b) = (Box::new(always(atom(0))), Box::new(always(atom(1))));
        let both = Decision::of(&Formula::And(a.clone(), b.clone())).unwrap();
        assert!(!both.holds && holds(&both.goal, [true, false]) && !holds(&both.goal, [true, true]));
        assert_eq!(Decision::of(&Formula::Or(a, b.clone())), None);
        let implies = Formula::Implies(b, Box::new(possible(atom(0))));
        let implies = Decision::of(&implies).unwrap();
        assert!(implies.holds && holds(&implies.goal, [true, true]) && holds(&implies.goal, [false, false]));
    }

    #[test]
    fn what_is_about_more_than_one_state_is_not_decided_by_one() {
        let (all, some) = (Quantifier::All, Quantifier::Some);
        let possible = Box::new(Formula::Finally(some, atom(0)));
        let step = Formula::Atom(Atom::Enabled(Steps::Filter(0)));
        for formula in [
            Formula::Globally(all, possible.clone()),
            Formula::Finally(all, atom(0)),
            Formula::Globally(some, atom(0)),
            Formula::Until(some, atom(0), atom(1)),
            Formula::Finally(some, Box::new(step)),
            Formula::And(possible, atom(1)),
        ] {
            assert_eq!(Decision::of(&formula), None, "{formula:?}");
        }
        // The fixpoints that say the same as CTL's operators.
        let step = Formula::Modal(all, Steps::All, Box::new(Formula::Variable(0)));
        let invariant = Formula::Nu(0, Box::new(Formula::And(atom(0), Box::new(step))));
        assert!(Decision::of(&invariant).is_some_and(|decision| !decision.holds));
    }
}
