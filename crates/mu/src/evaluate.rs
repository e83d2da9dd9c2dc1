//! The set of states in which a formula holds.
//!
//! Closed subformulas are evaluated once. Fixpoints of the shapes that CTL needs, one step away from their
//! variable, are a single operation of the engine ([`Sets::reach`], [`Sets::enforce`]); others are iterated,
//! and an inner fixpoint goes on from its last value where that is sound (Emerson, Lei 1986): when since then
//! only fixpoints of its own kind have moved.

use crate::core::{Arena, Atom, FormulaId, Node, Steps};
use crate::sets::Sets;
use std::collections::{HashMap, HashSet};

/// Which end a step is taken to have whose end is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// One that speaks against the formula: what holds then holds certainly.
    Must,
    /// One that speaks for it: what fails then fails certainly.
    May,
}

impl Bound {
    /// That of the negation.
    fn opposite(self) -> Self {
        match self {
            Bound::Must => Bound::May,
            Bound::May => Bound::Must,
        }
    }
}

/// Evaluates formulas of an arena.
pub struct Evaluator<'a, S: Sets> {
    arena: &'a Arena,
    sets: &'a mut S,
    bound: Bound,
    /// Values of closed formulas.
    closed: HashMap<FormulaId, S::Set>,
    /// The variables that are free in a formula; by number.
    free: Vec<Vec<u32>>,
    /// Values of variables.
    variables: Vec<Option<S::Set>>,
    /// The last values of open fixpoints.
    last: HashMap<FormulaId, S::Set>,
}

/// A fixpoint that the engine computes at once: `goal ∪ (within ∩ step)`, or its dual.
struct Shape {
    goal: FormulaId,
    /// `None`: everywhere.
    within: Option<FormulaId>,
    steps: Steps,
    /// The step is `[ ]`.
    all: bool,
}

impl<'a, S: Sets> Evaluator<'a, S> {
    /// For formulas of `arena`.
    pub fn new(arena: &'a Arena, sets: &'a mut S, bound: Bound) -> Self {
        Evaluator {
            arena,
            sets,
            bound,
            closed: HashMap::new(),
            free: free_variables(arena),
            variables: vec![None; arena.n_variables()],
            last: HashMap::new(),
        }
    }

    /// With the values of closed formulas that an evaluator of the same bound has left.
    pub fn knowing(self, closed: HashMap<FormulaId, S::Set>) -> Self {
        Evaluator { closed, ..self }
    }

    /// The values of the closed formulas that were evaluated.
    pub fn into_known(self) -> HashMap<FormulaId, S::Set> {
        self.closed
    }

    /// The states in which a closed formula holds.
    pub fn set(&mut self, id: FormulaId) -> S::Set {
        if let Some(known) = self.closed.get(&id) {
            return known.clone();
        }
        let set = self.compute(id);
        if self.is_closed(id) {
            self.closed.insert(id, set.clone());
        }
        set
    }

    fn compute(&mut self, id: FormulaId) -> S::Set {
        match self.arena.node(id) {
            Node::Atom(Atom::True) => self.sets.all(),
            Node::NotAtom(Atom::True) => self.sets.none(),
            Node::Atom(atom) => self.sets.atom(atom),
            Node::NotAtom(atom) => {
                let atom = self.sets.atom(atom);
                self.sets.not(&atom)
            }
            Node::Variable(number) => {
                let value = self.variables[number as usize].clone();
                debug_assert!(value.is_some(), "a variable is evaluated inside its fixpoint");
                value.unwrap_or_else(|| self.sets.none())
            }
            Node::And(a, b) => {
                let (a, b) = (self.set(a), self.set(b));
                self.sets.and(&a, &b)
            }
            Node::Or(a, b) => {
                let (a, b) = (self.set(a), self.set(b));
                self.sets.or(&a, &b)
            }
            Node::Some(steps, a) => {
                let a = self.set(a);
                let before = self.sets.before(steps, &a);
                self.with_unknown(steps, before)
            }
            Node::All(steps, a) => {
                let a = self.set(a);
                let others = self.sets.not(&a);
                let leaks = self.sets.before(steps, &others);
                let leaks = self.without_unknown(steps, leaks);
                self.sets.not(&leaks)
            }
            Node::Mu(variable, body) => match self.shape(variable, body, false) {
                Some(shape) => self.at_once(&shape),
                None => self.iterate(id, variable, body, false),
            },
            Node::Nu(variable, body) => match self.shape(variable, body, true) {
                Some(shape) => self.at_once_dual(&shape),
                None => self.iterate(id, variable, body, true),
            },
            Node::FairlyAlways(n_processes, a) => {
                let a = self.set(a);
                self.fair(n_processes, &a)
            }
            Node::FairlyFinally(n_processes, a) => {
                let a = self.set(a);
                let others = self.sets.not(&a);
                let bound = self.bound;
                self.bound = bound.opposite();
                let avoid = self.fair(n_processes, &others);
                self.bound = bound;
                self.sets.not(&avoid)
            }
        }
    }

    /// States from which a step leads to the goal, and those from which one may.
    fn with_unknown(&mut self, steps: Steps, before: S::Set) -> S::Set {
        match (self.bound, self.sets.cut(steps)) {
            (Bound::May, Some(cut)) => self.sets.or(&before, &cut),
            _ => before,
        }
    }

    /// States from which a step leads elsewhere, and those from which one may.
    fn without_unknown(&mut self, steps: Steps, leaks: S::Set) -> S::Set {
        match (self.bound, self.sets.cut(steps)) {
            (Bound::Must, Some(cut)) => self.sets.or(&leaks, &cut),
            _ => leaks,
        }
    }

    /// Whether a fixpoint has the shape `goal || within && <>Z` (or with `[]`); for a greatest fixpoint, the
    /// dual shape `goal && (within || []Z)`. The variable must occur nowhere else.
    fn shape(&self, variable: u32, body: FormulaId, greatest: bool) -> Option<Shape> {
        let step = |id: FormulaId| match self.arena.node(id) {
            Node::Some(steps, a) if self.arena.node(a) == Node::Variable(variable) => Some((steps, false)),
            Node::All(steps, a) if self.arena.node(a) == Node::Variable(variable) => Some((steps, true)),
            _ => None,
        };
        let outer = |id: FormulaId| match (self.arena.node(id), greatest) {
            (Node::Or(a, b), false) | (Node::And(a, b), true) => vec![(a, b), (b, a)],
            _ => Vec::new(),
        };
        let inner = |id: FormulaId| match (self.arena.node(id), greatest) {
            (Node::And(a, b), false) | (Node::Or(a, b), true) => vec![(a, b), (b, a)],
            _ => Vec::new(),
        };
        for (goal, rest) in outer(body) {
            let beside = inner(rest).into_iter().map(|(a, b)| (Some(a), b));
            for (within, next) in beside.chain([(None, rest)]) {
                let Some((steps, all)) = step(next) else { continue };
                if within.into_iter().chain([goal]).all(|part| !self.mentions(part, variable)) {
                    return Some(Shape { goal, within, steps, all });
                }
            }
        }
        None
    }

    fn mentions(&self, id: FormulaId, variable: u32) -> bool {
        self.free[id.index()].contains(&variable)
    }

    fn is_closed(&self, id: FormulaId) -> bool {
        self.free[id.index()].is_empty()
    }

    /// `mu Z. goal || within && step Z`.
    fn at_once(&mut self, shape: &Shape) -> S::Set {
        let (goal, within) = (self.set(shape.goal), shape.within.map(|within| self.set(within)));
        let within = within.unwrap_or_else(|| self.sets.all());
        self.least(shape, &within, &goal)
    }

    /// `nu Z. goal && (within || step Z)`: the complement of `mu Z. !goal || !within && dual step Z`.
    fn at_once_dual(&mut self, shape: &Shape) -> S::Set {
        let (goal, within) = (self.set(shape.goal), shape.within.map(|within| self.set(within)));
        let within = within.unwrap_or_else(|| self.sets.none());
        let (goal, within) = (self.sets.not(&goal), self.sets.not(&within));
        let dual = Shape { all: !shape.all, ..*shape };
        let bound = self.bound;
        self.bound = bound.opposite();
        let others = self.least(&dual, &within, &goal);
        self.bound = bound;
        self.sets.not(&others)
    }

    /// `EG within` along fair runs. A run that is stuck is fair, and so may be one whose end is unknown.
    fn fair(&mut self, n_processes: u32, within: &S::Set) -> S::Set {
        let can_move = self.sets.atom(Atom::Enabled(Steps::All));
        let mut ends = self.sets.not(&can_move);
        if let (Bound::May, Some(cut)) = (self.bound, self.sets.cut(Steps::All)) {
            ends = self.sets.or(&ends, &cut);
        }
        self.sets.fair(n_processes, within, &ends)
    }

    fn least(&mut self, shape: &Shape, within: &S::Set, goal: &S::Set) -> S::Set {
        let cut = self.sets.cut(shape.steps);
        match (shape.all, self.bound, cut) {
            // An unknown end may be the goal.
            (false, Bound::May, Some(cut)) => {
                let lucky = self.sets.and(within, &cut);
                let goal = self.sets.or(goal, &lucky);
                self.sets.reach(shape.steps, within, &goal)
            }
            (false, ..) => self.sets.reach(shape.steps, within, goal),
            // An unknown end may be none.
            (true, Bound::Must, Some(cut)) => {
                let known = self.sets.not(&cut);
                let within = self.sets.and(within, &known);
                self.sets.enforce(shape.steps, &within, goal)
            }
            (true, ..) => self.sets.enforce(shape.steps, within, goal),
        }
    }

    /// A fixpoint by approximation.
    fn iterate(&mut self, id: FormulaId, variable: u32, body: FormulaId, greatest: bool) -> S::Set {
        let last = self.last.get(&id).cloned();
        if last.is_none() {
            self.forget(body, None, &mut HashSet::new());
        }
        let mut value = last.unwrap_or_else(|| if greatest { self.sets.all() } else { self.sets.none() });
        loop {
            self.forget(body, Some(!greatest), &mut HashSet::new());
            self.variables[variable as usize] = Some(value.clone());
            let next = self.set(body);
            if self.sets.equal(&next, &value) {
                break;
            }
            value = next;
        }
        self.variables[variable as usize] = None;
        if !self.is_closed(id) {
            self.last.insert(id, value.clone());
        }
        value
    }

    /// Open fixpoints below `id` begin anew: those of one kind, or all.
    fn forget(&mut self, id: FormulaId, greatest: Option<bool>, seen: &mut HashSet<FormulaId>) {
        if self.is_closed(id) || !seen.insert(id) {
            return;
        }
        let kind = match self.arena.node(id) {
            Node::Mu(..) => Some(false),
            Node::Nu(..) => Some(true),
            _ => None,
        };
        if kind.is_some() && (greatest.is_none() || greatest == kind) {
            self.last.remove(&id);
        }
        let arena = self.arena;
        arena.parts(id).for_each(|part| self.forget(part, greatest, seen));
    }
}

/// The variables that are free in each formula.
fn free_variables(arena: &Arena) -> Vec<Vec<u32>> {
    let mut free: Vec<Vec<u32>> = Vec::with_capacity(arena.len());
    // Parts are made before what they are parts of.
    for index in 0..arena.len() {
        let id = arena.id(index);
        let mut mine: Vec<u32> = arena.parts(id).flat_map(|part| free[part.index()].clone()).collect();
        match arena.node(id) {
            Node::Variable(number) => mine.push(number),
            Node::Mu(bound, _) | Node::Nu(bound, _) => mine.retain(|&number| number != bound),
            _ => {}
        }
        mine.sort_unstable();
        mine.dedup();
        free.push(mine);
    }
    free
}
