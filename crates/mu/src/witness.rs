//! What a single run shows of a formula that was evaluated: a counterexample, or a witness.
//!
//! `AG p` fails along a shortest path to a state without `p`, `AF p` along a run that goes on forever without
//! it: around a cycle (a fair one, where only fair runs count), or into a state that is stuck. Inside such a
//! run the same is asked of `p` again. What speaks of other runs stays *open*: it is known from the sets
//! alone, and is told in words. How a run is prolonged is the engine's ([`Runs`]).

use crate::core::{Arena, FormulaId, Steps};
use crate::evaluate::{Bound, Evaluator};
use crate::formula::{Formula, Quantifier, Translation};
use crate::sets::Sets;
use crate::verdict::Truth;
use num_bigint::BigUint;
use std::collections::HashMap;

/// Something that the run itself does not show.
#[derive(Clone, Debug, PartialEq)]
pub struct Open {
    /// The position on the run, in steps between stored states from its beginning.
    pub at: usize,
    /// The formula.
    pub formula: Formula,
    /// Whether it holds there.
    pub holds: bool,
    /// It is said of all states on the way to the next position that is told, or around the cycle.
    pub along: bool,
}

/// One part of a formula, and where it holds.
#[derive(Clone, Debug, PartialEq)]
pub struct ProofLine {
    /// How deep it is inside the formula.
    pub depth: usize,
    /// The part.
    pub formula: Formula,
    /// In the initial state.
    pub initially: Truth,
    /// The number of states in which it certainly holds.
    pub satisfied: BigUint,
}

/// A run of an engine, which begins in the initial state and is prolonged. As for sets, work that takes too
/// long is given up by unwinding.
pub trait Runs {
    /// The engine's sets of states.
    type Sets: Sets;

    /// The sets.
    fn sets(&mut self) -> &mut Self::Sets;

    /// Whether the initial state is in a set.
    fn initially(&mut self, set: &<Self::Sets as Sets>::Set) -> bool;

    /// The number of states of a set.
    fn count(&mut self, set: &<Self::Sets as Sets>::Set) -> BigUint;

    /// The number of steps that the run has taken, between stored states.
    fn len(&self) -> usize;

    /// Whether it has taken none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the run has come to a state of a set.
    fn is_in(&mut self, set: &<Self::Sets as Sets>::Set) -> bool;

    /// Takes one of these steps into a set; false where there is none.
    fn step(&mut self, steps: Steps, into: &<Self::Sets as Sets>::Set) -> bool;

    /// Takes a shortest path through `within` to `goal`; false where there is none.
    fn path(&mut self, within: &<Self::Sets as Sets>::Set, goal: &<Self::Sets as Sets>::Set) -> bool;

    /// Goes on forever inside a set, from each state of which that is possible: into a state that is stuck, or
    /// around a cycle that is fair to this many processes.
    fn around(&mut self, inside: &<Self::Sets as Sets>::Set, fair: Option<u32>);
}

/// Lines of a proof that are made.
const MOST_LINES: usize = 48;

/// Evaluates formulas, and finds runs.
pub struct Prover<'a, R: Runs> {
    /// Where formulas are made.
    arena: Arena,
    /// The run.
    pub runs: &'a mut R,
    /// The processes that weak fairness is about.
    fair: Option<u32>,
    known: HashMap<FormulaId, SetOf<R>>,
    open: Vec<Open>,
}

type SetOf<R> = <<R as Runs>::Sets as Sets>::Set;

impl<'a, R: Runs> Prover<'a, R> {
    /// With the run at its beginning.
    pub fn new(runs: &'a mut R, fair: Option<u32>) -> Self {
        Prover { arena: Arena::default(), runs, fair, known: HashMap::new(), open: Vec::new() }
    }

    /// The states in which a closed formula certainly holds, or certainly fails.
    pub fn certainly(&mut self, formula: &Formula, holds: bool) -> SetOf<R> {
        let mut id = Translation::new(&mut self.arena, self.fair).formula(formula);
        if !holds {
            id = self.arena.not(id);
        }
        let known = std::mem::take(&mut self.known);
        let mut evaluator = Evaluator::new(&self.arena, self.runs.sets(), Bound::Must).knowing(known);
        let set = evaluator.set(id);
        self.known = evaluator.into_known();
        set
    }

    /// Whether a formula holds in the initial state, and the states in which it certainly does.
    pub fn truth(&mut self, formula: &Formula) -> (Truth, SetOf<R>) {
        let holds = self.certainly(formula, true);
        if self.runs.initially(&holds) {
            return (Truth::True, holds);
        }
        let exact = self.runs.sets().cut(Steps::All).is_none();
        let fails = exact || {
            let fails = self.certainly(formula, false);
            self.runs.initially(&fails)
        };
        (if fails { Truth::False } else { Truth::Unknown }, holds)
    }

    /// Prolongs the run so that it shows that a formula certainly holds or fails in the initial state, as far
    /// as a run can; the answer is what it leaves open.
    pub fn show(&mut self, formula: &Formula, holds: bool) -> Vec<Open> {
        debug_assert!(self.runs.is_empty(), "the run is at its beginning");
        self.part(formula, holds);
        std::mem::take(&mut self.open)
    }

    /// The formula with its parts, and for each where it holds.
    pub fn proof(&mut self, formula: &Formula) -> Vec<ProofLine> {
        let mut lines = Vec::new();
        self.describe(formula, 0, &mut lines);
        lines
    }

    fn describe(&mut self, formula: &Formula, depth: usize, lines: &mut Vec<ProofLine>) {
        let (initially, set) = self.truth(formula);
        let satisfied = self.runs.count(&set);
        lines.push(ProofLine { depth, formula: formula.clone(), initially, satisfied });
        if !formula.is_boolean() && lines.len() <= MOST_LINES {
            formula.parts().iter().for_each(|part| self.describe(part, depth + 1, lines));
        }
    }

    /// Whether a formula is so where the run is.
    fn is_certain(&mut self, formula: &Formula, holds: bool) -> bool {
        let set = self.certainly(formula, holds);
        self.runs.is_in(&set)
    }

    /// Prolongs the run so that it shows a part of the formula.
    fn part(&mut self, formula: &Formula, holds: bool) {
        debug_assert!(self.is_certain(formula, holds), "{formula:?} is {holds}");
        if formula.is_boolean() {
            return;
        }
        match (formula, holds) {
            (Formula::Not(a), _) => self.part(a, !holds),
            (Formula::And(a, b), true) => self.both((a, true), (b, true)),
            (Formula::Or(a, b), false) => self.both((a, false), (b, false)),
            (Formula::And(a, b), false) => self.either((a, false), (b, false)),
            (Formula::Or(a, b), true) => self.either((a, true), (b, true)),
            (Formula::Implies(a, b), true) => self.either((a, false), (b, true)),
            (Formula::Implies(a, b), false) => self.both((a, true), (b, false)),
            (Formula::Equiv(a, b), _) => {
                let first = self.is_certain(a, true);
                self.both((a, first), (b, first == holds));
            }
            _ if !is_about_a_run(formula, holds) => self.leave_open(formula, holds, false),
            (Formula::Next(_, a), _) => self.step(Steps::All, a, holds),
            (Formula::Modal(_, steps, a), _) => self.step(*steps, a, holds),
            _ => self.temporal(formula),
        }
    }

    fn leave_open(&mut self, formula: &Formula, holds: bool, along: bool) {
        let at = self.runs.len();
        self.open.push(Open { at, formula: formula.clone(), holds, along });
    }

    /// Both parts are so: the run shows one of them.
    fn both(&mut self, a: (&Formula, bool), b: (&Formula, bool)) {
        let [first, second] = match a.0.is_boolean() || !b.0.is_boolean() && !is_about_a_run(a.0, a.1) {
            true => [b, a],
            false => [a, b],
        };
        if !second.0.is_boolean() {
            self.leave_open(second.0, second.1, false);
        }
        self.part(first.0, first.1);
    }

    /// One of the parts is so: one that needs no run, or that a run can show.
    fn either(&mut self, a: (&Formula, bool), b: (&Formula, bool)) {
        let so: Vec<(&Formula, bool)> =
            [a, b].into_iter().filter(|(part, holds)| self.is_certain(part, *holds)).collect();
        let best = so.iter().find(|(part, _)| part.is_boolean());
        let best = best.or_else(|| so.iter().find(|(part, holds)| is_about_a_run(part, *holds)));
        if let Some(&(part, holds)) = best.or(so.first()) {
            self.part(part, holds);
        }
    }

    /// One step to a state in which `a` is so; where nothing is possible, the state is repeated.
    fn step(&mut self, steps: Steps, a: &Formula, holds: bool) {
        let goal = self.certainly(a, holds);
        self.runs.step(steps, &goal);
        self.part(a, holds);
    }

    /// An operator of which a run shows that it holds for some run, or fails for all.
    fn temporal(&mut self, formula: &Formula) {
        let not = |formula: &Formula| formula.clone().negated();
        let and = |a: Formula, b: Formula| Formula::And(Box::new(a), Box::new(b));
        use Quantifier::{All, Some};
        // What the run passes and where it leads; or what it passes forever.
        let (within, goal, forever) = match formula {
            Formula::Finally(Some, a) => (Formula::TRUE, Option::Some((**a).clone()), None),
            Formula::Finally(All, a) => (Formula::TRUE, None, Option::Some(not(a))),
            Formula::Globally(Some, a) => (Formula::TRUE, None, Option::Some((**a).clone())),
            Formula::Globally(All, a) => (Formula::TRUE, Option::Some(not(a)), None),
            Formula::Until(Some, a, b) => ((**a).clone(), Option::Some((**b).clone()), None),
            Formula::Until(All, a, b) => (not(b), Option::Some(and(not(a), not(b))), Option::Some(not(b))),
            Formula::WeakUntil(Some, a, b) => {
                ((**a).clone(), Option::Some((**b).clone()), Option::Some((**a).clone()))
            }
            Formula::WeakUntil(All, a, b) => (not(b), Option::Some(and(not(a), not(b))), None),
            Formula::Release(Some, a, b) => {
                let both = and((**a).clone(), (**b).clone());
                ((**b).clone(), Option::Some(both), Option::Some((**b).clone()))
            }
            Formula::Release(All, a, b) => (not(a), Option::Some(not(b)), None),
            _ => return,
        };
        if let Option::Some(goal) = goal
            && self.reach(&within, &goal)
        {
            return;
        }
        if let Option::Some(forever) = forever {
            self.forever(&forever);
        }
    }

    /// A shortest path through `within` to `goal`; false where there is none.
    fn reach(&mut self, within: &Formula, goal: &Formula) -> bool {
        let (allowed, goals) = (self.certainly(within, true), self.certainly(goal, true));
        let start = self.runs.len();
        if !self.runs.path(&allowed, &goals) {
            return false;
        }
        if self.runs.len() > start && !within.is_boolean() {
            self.open.push(Open { at: start, formula: within.clone(), holds: true, along: true });
        }
        self.part(goal, true);
        true
    }

    /// A run through `a` that goes on forever.
    fn forever(&mut self, a: &Formula) {
        let set = self.certainly(&Formula::Globally(Quantifier::Some, Box::new(a.clone())), true);
        if !a.is_boolean() {
            self.leave_open(a, true, true);
        }
        self.runs.around(&set, self.fair);
    }
}

/// Whether a run can show that a formula holds, or fails.
pub fn is_about_a_run(formula: &Formula, holds: bool) -> bool {
    match formula {
        Formula::Not(a) => is_about_a_run(a, !holds),
        Formula::Next(q, _)
        | Formula::Finally(q, _)
        | Formula::Globally(q, _)
        | Formula::Modal(q, _, _)
        | Formula::Until(q, _, _)
        | Formula::WeakUntil(q, _, _)
        | Formula::Release(q, _, _) => (*q == Quantifier::Some) == holds,
        Formula::Mu(..) | Formula::Nu(..) | Formula::Variable(_) => false,
        Formula::Atom(_) => true,
        Formula::And(a, b) | Formula::Or(a, b) | Formula::Equiv(a, b) => {
            is_about_a_run(a, holds) || is_about_a_run(b, holds)
        }
        Formula::Implies(a, b) => is_about_a_run(a, !holds) || is_about_a_run(b, holds),
    }
}
