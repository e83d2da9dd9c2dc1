//! What a single run shows of a formula that was evaluated over a graph: a counterexample, or a witness.
//!
//! `AG p` fails along a shortest path to a state without `p`, `AF p` along a run that goes on forever without
//! it: around a cycle (a fair one, where only fair runs count), or into a state that is stuck. Inside such a
//! run the same is asked of `p` again. What speaks of other runs stays *open*: it is known from the graph
//! alone, and is told in words.

use crate::bits::Bits;
use crate::components::components;
use crate::sets::ExplicitSets;
use mu::evaluate::{Bound, Evaluator};
use mu::formula::{Quantifier, Translation};
use mu::{Arena, Atom, Formula, FormulaId, Steps};
use search::state_graph::{StateGraph, paths};
use std::collections::HashMap;

/// Something that the run itself does not show.
#[derive(Clone, Debug, PartialEq)]
pub struct Open {
    /// The position on the run, in steps from its beginning.
    pub at: usize,
    /// The formula.
    pub formula: Formula,
    /// Whether it holds there.
    pub holds: bool,
    /// It is said of all states on the way to the next position that is told, or around the cycle.
    pub along: bool,
}

/// A run from the initial state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Witness {
    /// Its edges.
    pub edges: Vec<u64>,
    /// The position to which it returns from its end, if it goes around.
    pub back_to: Option<usize>,
    /// What it leaves open.
    pub open: Vec<Open>,
}

impl Witness {
    /// Whether there is something to see: a step, a cycle, or a state that decides by itself.
    pub fn shows_something(&self) -> bool {
        !self.edges.is_empty() || self.open.is_empty()
    }
}

/// Finds runs.
pub struct Prover<'a, 's> {
    /// Where formulas are made.
    pub arena: &'a mut Arena,
    /// The sets of the graph.
    pub sets: &'a mut ExplicitSets<'s>,
    /// The graph.
    pub graph: &'s StateGraph,
    /// The processes that weak fairness is about.
    pub fair: Option<u32>,
    known: HashMap<FormulaId, Bits>,
}

impl<'a, 's> Prover<'a, 's> {
    /// For formulas over this graph.
    pub fn new(
        arena: &'a mut Arena,
        sets: &'a mut ExplicitSets<'s>,
        graph: &'s StateGraph,
        fair: Option<u32>,
    ) -> Self {
        Prover { arena, sets, graph, fair, known: HashMap::new() }
    }

    /// The states in which a closed formula certainly holds, or certainly fails.
    pub fn certainly(&mut self, formula: &Formula, holds: bool) -> Bits {
        let mut id = Translation::new(self.arena, self.fair).formula(formula);
        if !holds {
            id = self.arena.not(id);
        }
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        let set = Evaluator::new(self.arena, self.sets, Bound::Must).set(id);
        self.known.insert(id, set.clone());
        set
    }

    /// A run that shows that a formula certainly holds or fails in the initial state, as far as a run can.
    pub fn show(&mut self, formula: &Formula, holds: bool) -> Witness {
        let mut witness = Witness::default();
        self.part(formula, holds, 0, &mut witness);
        witness
    }

    fn is_certain(&mut self, formula: &Formula, holds: bool, state: u32) -> bool {
        self.certainly(formula, holds).has(state as usize)
    }

    /// Prolongs the run, which is in `state`, so that it shows a part of the formula.
    fn part(&mut self, formula: &Formula, holds: bool, state: u32, run: &mut Witness) {
        debug_assert!(self.is_certain(formula, holds, state), "{formula:?} is {holds} in {state}");
        if formula.is_boolean() {
            return;
        }
        match (formula, holds) {
            (Formula::Not(a), _) => self.part(a, !holds, state, run),
            (Formula::And(a, b), true) => self.both((a, true), (b, true), state, run),
            (Formula::Or(a, b), false) => self.both((a, false), (b, false), state, run),
            (Formula::And(a, b), false) => self.either((a, false), (b, false), state, run),
            (Formula::Or(a, b), true) => self.either((a, true), (b, true), state, run),
            (Formula::Implies(a, b), true) => self.either((a, false), (b, true), state, run),
            (Formula::Implies(a, b), false) => self.both((a, true), (b, false), state, run),
            (Formula::Equiv(a, b), _) => {
                let first = self.is_certain(a, true, state);
                self.both((a, first), (b, first == holds), state, run);
            }
            _ if !is_about_a_run(formula, holds) => self.leave_open(formula, holds, false, run),
            (Formula::Next(_, a), _) => self.step(Steps::All, a, holds, state, run),
            (Formula::Modal(_, steps, a), _) => self.step(*steps, a, holds, state, run),
            _ => self.temporal(formula, state, run),
        }
    }

    fn leave_open(&mut self, formula: &Formula, holds: bool, along: bool, run: &mut Witness) {
        let at = run.edges.len();
        run.open.push(Open { at, formula: formula.clone(), holds, along });
    }

    /// Both parts are so: the run shows one of them.
    fn both(&mut self, a: (&Formula, bool), b: (&Formula, bool), state: u32, run: &mut Witness) {
        let [first, second] = match a.0.is_boolean() || !b.0.is_boolean() && !is_about_a_run(a.0, a.1) {
            true => [b, a],
            false => [a, b],
        };
        if !second.0.is_boolean() {
            self.leave_open(second.0, second.1, false, run);
        }
        self.part(first.0, first.1, state, run);
    }

    /// One of the parts is so: one that needs no run, or that a run can show.
    fn either(&mut self, a: (&Formula, bool), b: (&Formula, bool), state: u32, run: &mut Witness) {
        let so: Vec<(&Formula, bool)> =
            [a, b].into_iter().filter(|(part, holds)| self.is_certain(part, *holds, state)).collect();
        let best = so.iter().find(|(part, _)| part.is_boolean());
        let best = best.or_else(|| so.iter().find(|(part, holds)| is_about_a_run(part, *holds)));
        if let Some(&(part, holds)) = best.or(so.first()) {
            self.part(part, holds, state, run);
        }
    }

    /// One step to a state in which `a` is so; where nothing is possible, the state is repeated.
    fn step(&mut self, steps: Steps, a: &Formula, holds: bool, state: u32, run: &mut Witness) {
        let goal = self.certainly(a, holds);
        let mut row = self.graph.edges.row(state as usize);
        let edge = row.find(|&edge| {
            goal.has(self.graph.edges.target(edge as u64) as usize) && self.sets.is_of(edge, steps)
        });
        match edge {
            Some(edge) => {
                run.edges.push(edge as u64);
                self.part(a, holds, self.graph.edges.target(edge as u64), run);
            }
            None => self.part(a, holds, state, run),
        }
    }

    /// An operator of which a run shows that it holds for some run, or fails for all.
    fn temporal(&mut self, formula: &Formula, state: u32, run: &mut Witness) {
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
            && self.reach(&within, &goal, state, run)
        {
            return;
        }
        if let Option::Some(forever) = forever {
            self.forever(&forever, state, run);
        }
    }

    /// A shortest path through `within` to `goal`; false where there is none.
    fn reach(&mut self, within: &Formula, goal: &Formula, state: u32, run: &mut Witness) -> bool {
        let (allowed, goals) = (self.certainly(within, true), self.certainly(goal, true));
        let edges = &self.graph.edges;
        let source = sources(self.graph);
        let may = |edge: u64| allowed.has(source(edge) as usize);
        let Some(path) = paths::shortest(edges, state, may, |state| goals.has(state as usize)) else {
            return false;
        };
        if !path.is_empty() && !within.is_boolean() {
            self.leave_open(within, true, true, run);
        }
        let end = path.last().map_or(state, |&edge| edges.target(edge));
        run.edges.extend(path);
        self.part(goal, true, end, run);
        true
    }

    /// A run through `a` that goes on forever.
    fn forever(&mut self, a: &Formula, state: u32, run: &mut Witness) {
        let set = self.certainly(&Formula::Globally(Quantifier::Some, Box::new(a.clone())), true);
        if !a.is_boolean() {
            self.leave_open(a, true, true, run);
        }
        let edges = &self.graph.edges;
        let inside = |edge: u64| set.has(edges.target(edge) as usize);
        // The end of a run that is stuck is repeated, and fair: no process can move.
        let stuck = |state: u32| self.sets.stuck.has(state as usize);
        if let Some(path) = paths::shortest(edges, state, inside, stuck) {
            run.edges.extend(path);
            return;
        }
        let fair = self.fair;
        let found = components(edges, &set, state);
        let requirements = |component: &[u32]| self.requirements(component, fair);
        let Some((component, goals)) = found.iter().find_map(|c| Some((c, requirements(c)?))) else { return };
        let mut members = Bits::none(self.graph.n_states());
        component.iter().for_each(|&member| _ = members.insert(member as usize));
        let inner = |edge: u64| members.has(edges.target(edge) as usize);
        let Some(path) = paths::shortest(edges, state, inside, |s| members.has(s as usize)) else { return };
        let entry = path.last().map_or(state, |&edge| edges.target(edge));
        run.edges.extend(path);
        run.back_to = Some(run.edges.len());
        // From goal to goal inside the component, and back to its entry.
        let mut now = entry;
        for goal in goals {
            let leg = match goal {
                Goal::Edge(wanted) => paths::along(edges, now, inner, |edge| edge == wanted),
                Goal::State(wanted) => paths::shortest(edges, now, inner, |s| s == wanted),
            };
            let leg = leg.unwrap_or_default();
            now = leg.last().map_or(now, |&edge| edges.target(edge));
            run.edges.extend(leg);
        }
        let around = run.back_to.is_some_and(|start| start < run.edges.len());
        if now != entry || !around {
            let home = paths::along(edges, now, inner, |edge| inner(edge) && edges.target(edge) == entry);
            run.edges.extend(home.unwrap_or_default());
        }
    }

    /// What a cycle in a component must pass to be fair; `None` where the component has no cycle that is.
    fn requirements(&self, component: &[u32], fair: Option<u32>) -> Option<Vec<Goal>> {
        let edges = &self.graph.edges;
        let members: std::collections::HashSet<u32> = component.iter().copied().collect();
        let inner = || {
            let rows = component.iter().flat_map(|&state| edges.row(state as usize));
            rows.filter(|&edge| members.contains(&edges.target(edge as u64)))
        };
        inner().next()?;
        let mut goals = Vec::new();
        for pid in 0..fair.unwrap_or(0) {
            let moves = inner().find(|&edge| self.sets.is_of(edge, Steps::Process(pid)));
            let waits = component.iter().find(|&&state| !self.sets.can_move(state as usize, pid));
            goals.push(match (waits, moves) {
                (Some(&state), _) => Goal::State(state),
                (None, Some(edge)) => Goal::Edge(edge as u64),
                (None, None) => return None,
            });
        }
        Some(goals)
    }
}

/// What a fair cycle passes.
#[derive(Clone, Copy)]
enum Goal {
    /// A state in which a process cannot move.
    State(u32),
    /// A step of a process.
    Edge(u64),
}

/// Whether a run can show that a formula holds, or fails.
fn is_about_a_run(formula: &Formula, holds: bool) -> bool {
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
        Formula::Atom(Atom::True | Atom::Proposition(_) | Atom::ValidEnd | Atom::Enabled(_)) => true,
        Formula::And(a, b) | Formula::Or(a, b) | Formula::Equiv(a, b) => {
            is_about_a_run(a, holds) || is_about_a_run(b, holds)
        }
        Formula::Implies(a, b) => is_about_a_run(a, !holds) || is_about_a_run(b, holds),
    }
}

/// The state that an edge leaves.
fn sources(graph: &StateGraph) -> impl Fn(u64) -> u32 + '_ {
    let edges = &graph.edges;
    move |edge| {
        let (mut low, mut high) = (0, edges.n_rows());
        while high - low > 1 {
            let middle = low.midpoint(high);
            if edges.first(middle) <= edge { low = middle } else { high = middle }
        }
        // Rows without edges begin where the next one does.
        low as u32
    }
}
