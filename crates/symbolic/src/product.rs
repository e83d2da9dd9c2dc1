//! The product of a space and a claim, and whether it has a run that is wrong.
//!
//! The claim is no slot of the states. A state of the product is a state of the claim and one of the system,
//! so a set of such states is a set of states of the system for each state of the claim, of which there are
//! few; a slot for the claim would be read and written by every group. As in the explicit product
//! ([`search::product`]) the claim moves first, by what holds in a state, then the system takes a step; so each
//! move of the claim has the set of states in which it is possible.
//!
//! **Emptiness** is decided backwards, component by component of the claim, by E. A. Emerson's and C.-L. Lei's
//! fixpoint (*Efficient Model Checking in Fragments of the Propositional Mu-Calculus*, 1986): the greatest set
//! from every state of which each *goal step* can be reached inside of it, and taken. Accepting is a goal, each
//! mark of generalised acceptance is one, and under weak fairness there is one for each process: a step in
//! which it moves, or any step from a state in which it cannot. While the claim stays where it is, what can
//! reach a goal is found by saturation backwards, constrained to where it may stay.

use mu::{Atom, Sets, Steps};
use system::Fault;
use system::claim::{Claim, Marks, Move, Moves};

use crate::branching::{SymbolicSets, give_up, got};
use crate::operators::Kept;
use crate::partitioned::Predicate;
use crate::runs::Watch;
use crate::space::Ended;

/// A set of states of the product: for each state of the claim a set of states of the system.
pub(crate) type Pairs = Vec<Kept>;

/// Sorts of states of the system that a claim may tell apart, at most.
const MOST_KINDS: usize = 1 << 10;

/// A step that a run takes again and again to count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Goal {
    /// Any step.
    Any,
    /// A step from an accepting state.
    Accepting,
    /// A step with which the claim earns these marks.
    Marks(Marks),
    /// A step in which a process moves, or any step where it cannot.
    Process(u32),
}

/// What is wrong with some run.
pub(crate) struct Wrong {
    /// What is said of it.
    pub fault: Fault,
    /// Where it shows: at the end, or on the way that is repeated.
    pub at: Pairs,
    /// What is met again and again inside of that; nothing for a run that is wrong by its end.
    pub goals: Option<Vec<Goal>>,
}

/// A claim beside a space.
pub(crate) struct Product<'b, 's, 'p, 'a> {
    /// The sets of the space.
    pub sets: &'b mut SymbolicSets<'s, 'p, 'a>,
    claim: &'b Claim,
    /// By state of the claim: how it may move, and in which states of the system.
    moves: Vec<Vec<(Move, Kept)>>,
    /// By state of the claim: what it finds wrong at once, and where.
    faults: Vec<Vec<(Fault, Kept)>>,
    /// The claim's states, by component; one that leads to another comes after it.
    components: Vec<Vec<usize>>,
    /// The states of the system that are repeated forever: those without a step.
    repeated: Kept,
    /// The states of the system that accept, where that is not for the claim to say.
    labels: Option<Kept>,
    fair: bool,
}

impl<'b, 's, 'p, 'a> Product<'b, 's, 'p, 'a> {
    /// Puts a claim beside a space. Where the watch has no claim, labels accept.
    pub fn new(
        sets: &'b mut SymbolicSets<'s, 'p, 'a>,
        claim: &'b Claim,
        (watch, fair): (&Watch<'_>, bool),
    ) -> Self {
        let labels = watch.claim.is_none().then(|| sets.some_predicate(Predicate::Accepting));
        let repeated = if claim.stutters { sets.stuck() } else { sets.operators.none() };
        let kinds = kinds(sets, claim, watch.set);
        let (mut moves, mut faults) = (Vec::new(), Vec::new());
        for state in 0..claim.len() {
            let (ways, wrong) = moves_of(sets, claim, (state, &kinds));
            moves.push(ways);
            faults.push(wrong);
        }
        let components = components(&moves);
        Product { sets, claim, moves, faults, components, repeated, labels, fair }
    }

    /// No state.
    pub fn none(&mut self) -> Pairs {
        let none = self.sets.operators.none();
        vec![none; self.claim.len()]
    }

    /// Every state.
    pub fn all(&mut self) -> Pairs {
        let all = self.sets.operators.all();
        vec![all; self.claim.len()]
    }

    /// The state of the claim in which a run begins.
    pub fn initial(&self) -> usize {
        self.claim.initial.index()
    }

    /// How the claim may move in a state of the system, for a goal.
    pub fn moves_at(&self, at: usize, vector: &[u32], goal: Goal) -> Vec<usize> {
        let operators = &self.sets.operators;
        let accepts = self.labels.as_ref().is_none_or(|labels| operators.contains(labels, vector));
        if goal == Goal::Accepting && !accepts {
            return Vec::new();
        }
        let possible = self.moves[at].iter().filter(|(_, from)| operators.contains(from, vector));
        possible.filter(|(by, _)| self.serves(goal, at, *by)).map(|(by, _)| by.to.index()).collect()
    }

    /// Whether the claim repeats a state of the system.
    pub fn is_repeated(&self, vector: &[u32]) -> bool {
        self.sets.operators.contains(&self.repeated, vector)
    }

    /// Whether a goal asks no more of a step than its move of the claim has.
    fn serves(&self, goal: Goal, at: usize, by: Move) -> bool {
        match goal {
            Goal::Accepting => self.claim.accepting[at],
            Goal::Marks(marks) => by.marks & marks == marks,
            Goal::Any | Goal::Process(_) => true,
        }
    }

    /// The states of a set of the system's from which a step, or the repetition of a last state, leads into
    /// another.
    fn before_state(&mut self, to: &Kept, universe: &Kept) -> Kept {
        let by_step = self.sets.before_within(Steps::All, to, universe);
        let stays = self.sets.and(&self.repeated, to);
        let stays = self.sets.and(&stays, universe);
        self.sets.or(&by_step, &stays)
    }

    /// The states of a set from which a step leads into another set and serves a goal.
    pub fn before(&mut self, goal: Goal, to: &[Kept], universe: &[Kept]) -> Pairs {
        let mut found = self.none();
        for at in 0..found.len() {
            if !universe[at].is_empty() {
                found[at] = self.before_at((goal, at), to, &universe[at]);
            }
        }
        found
    }

    fn before_at(&mut self, (goal, at): (Goal, usize), to: &[Kept], universe: &Kept) -> Kept {
        let mut found = self.sets.operators.none();
        let universe = match (goal, &self.labels) {
            (Goal::Accepting, Some(labels)) => self.sets.and(universe, &labels.clone()),
            _ => universe.clone(),
        };
        for (by, from) in self.moves[at].clone() {
            let to = &to[by.to.index()];
            if to.is_empty() || !self.serves(goal, at, by) {
                continue;
            }
            let from = self.sets.and(&universe, &from);
            let some = match goal {
                Goal::Process(pid) => self.before_serving(pid, to, &from),
                _ => self.before_state(to, &from),
            };
            found = self.sets.or(&found, &some);
        }
        found
    }

    /// The states of the system in which a process can begin a step.
    pub fn can_move(&mut self, pid: u32) -> Kept {
        self.sets.atom(Atom::Enabled(Steps::Process(pid)))
    }

    /// The states of the first set that are not in the second.
    pub fn minus(&mut self, a: &[Kept], b: &[Kept]) -> Pairs {
        a.iter().zip(b).map(|(a, b)| got(self.sets.operators.minus(a, b))).collect()
    }

    /// The same for a step in which a process moves, or cannot.
    fn before_serving(&mut self, pid: u32, to: &Kept, from: &Kept) -> Kept {
        let can = self.can_move(pid);
        let waits = got(self.sets.operators.minus(from, &can));
        let waiting = self.before_state(to, &waits);
        let moving = self.sets.before_within(Steps::Process(pid), to, from);
        self.sets.or(&waiting, &moving)
    }

    /// The states of `goal`, and those of `within` from which a run through `within` leads there.
    pub fn until(&mut self, within: &[Kept], goal: &[Kept]) -> Pairs {
        let mut found = goal.to_vec();
        for component in self.components.clone() {
            loop {
                let mut grown = false;
                for &at in &component {
                    let more = self.until_at(at, &within[at], &found);
                    grown |= more != found[at];
                    found[at] = more;
                }
                if !grown || component.len() == 1 {
                    break;
                }
            }
        }
        found
    }

    /// The same where the claim is in one state at first, and stays there for a while.
    fn until_at(&mut self, at: usize, within: &Kept, found: &[Kept]) -> Kept {
        let (mut now, mut stays) = (found[at].clone(), self.sets.operators.none());
        if within.is_empty() {
            return now;
        }
        for (by, from) in self.moves[at].clone() {
            let to = by.to.index();
            let from = self.sets.and(within, &from);
            if to == at {
                stays = self.sets.or(&stays, &from);
            } else if !found[to].is_empty() {
                let some = self.before_state(&found[to], &from);
                now = self.sets.or(&now, &some);
            }
        }
        if stays.is_empty() || now.is_empty() { now } else { got(self.sets.operators.until(&stays, &now)) }
    }

    /// What is wrong with some run; `fault` is said of one that goes on forever.
    pub fn wrong(&mut self, fault: &Fault) -> Option<Wrong> {
        if let Some(fault) = &self.claim.ends[self.initial()] {
            let at = self.all();
            return Some(Wrong { fault: fault.clone(), at, goals: None });
        }
        let mut faults: Vec<Fault> = Vec::new();
        for (fault, _) in self.faults.iter().flatten() {
            if !faults.contains(fault) {
                faults.push(fault.clone());
            }
        }
        for fault in faults {
            let at = self.showing(&fault);
            if self.is_reached(&at) {
                return Some(Wrong { fault, at, goals: None });
            }
        }
        for component in self.components.clone() {
            let Some(goals) = self.goals(&component) else { continue };
            let at = self.again_and_again(&component, &goals);
            if self.is_reached(&at) {
                return Some(Wrong { fault: fault.clone(), at, goals: Some(goals) });
            }
        }
        None
    }

    /// Where the claim finds this wrong.
    fn showing(&mut self, fault: &Fault) -> Pairs {
        let mut found = self.none();
        for (found, faults) in found.iter_mut().zip(&self.faults) {
            for (_, states) in faults.iter().filter(|(other, _)| other == fault) {
                *found = self.sets.or(found, states);
            }
        }
        found
    }

    /// Whether some run leads into a set.
    fn is_reached(&mut self, to: &[Kept]) -> bool {
        let all = self.all();
        let from = self.until(&all, to);
        let initial = self.sets.operators.space.initial_vector();
        self.sets.operators.contains(&from[self.initial()], &initial)
    }

    /// Whether some run that the claim follows is cut off by a step without an end.
    pub fn is_cut_off(&mut self) -> bool {
        let Some(cut) = self.sets.cut(Steps::All) else { return false };
        let mut at = self.none();
        for (at, moves) in at.iter_mut().zip(&self.moves) {
            for (_, from) in moves {
                let some = self.sets.and(from, &cut);
                *at = self.sets.or(at, &some);
            }
        }
        self.is_reached(&at)
    }

    /// What a run must meet again and again that stays in a component of the claim; nothing where none counts.
    fn goals(&self, component: &[usize]) -> Option<Vec<Goal>> {
        let inside = |&at: &usize| self.moves[at].iter().filter(|(by, _)| component.contains(&by.to.index()));
        let moves = || component.iter().flat_map(inside).map(|(by, _)| *by);
        moves().next()?;
        let accepting = || component.iter().map(|&at| self.claim.accepting[at]);
        let mut goals = match self.claim.n_marks {
            0 if !accepting().any(|accepts| accepts) => return None,
            0 if self.labels.is_none() && accepting().all(|accepts| accepts) => Vec::new(),
            0 => vec![Goal::Accepting],
            n => (0..n).map(|mark| Goal::Marks(1 << mark)).collect(),
        };
        let earned = moves().fold(0, |all, by| all | by.marks);
        if goals.iter().any(|goal| matches!(goal, Goal::Marks(marks) if earned & marks == 0)) {
            return None;
        }
        if self.fair {
            goals.extend((0..self.sets.n_processes).map(Goal::Process));
        }
        if goals.is_empty() {
            goals.push(Goal::Any);
        }
        Some(goals)
    }

    /// The states of a component from which a run can stay there and meet each goal again and again.
    fn again_and_again(&mut self, component: &[usize], goals: &[Goal]) -> Pairs {
        let (mut now, all) = (self.none(), self.sets.operators.all());
        component.iter().for_each(|&at| now[at] = all.clone());
        loop {
            let before = now.clone();
            for &goal in goals {
                let wanted = self.before(goal, &now, &now);
                // A state from which no step at all stays inside reaches nothing.
                now = if goal == Goal::Any { wanted } else { self.until(&now, &wanted) };
            }
            if now == before {
                return now;
            }
        }
    }
}

/// The sorts of states that a claim tells apart: for each the values of its propositions.
fn kinds(sets: &mut SymbolicSets<'_, '_, '_>, claim: &Claim, set: usize) -> Vec<(u64, Kept)> {
    let mut kinds = vec![(0, sets.operators.all())];
    let asked = claim.all_asked();
    for number in (0..u64::BITS).filter(|number| asked >> number & 1 != 0) {
        let holds = sets.predicates(Predicate::Proposition(set, number));
        let mut finer = Vec::new();
        for (bits, states) in kinds {
            let with = sets.and(&states, &holds);
            let without = got(sets.operators.minus(&states, &holds));
            finer.extend([(bits | 1 << number, with), (bits, without)]);
        }
        finer.retain(|(_, states)| !states.is_empty());
        kinds = finer;
        if kinds.len() > MOST_KINDS {
            give_up(Ended::Unfit(format!("the property tells more than {MOST_KINDS} sorts of states apart")));
        }
    }
    kinds
}

type Ways = (Vec<(Move, Kept)>, Vec<(Fault, Kept)>);

/// How the claim may move from a state, and what it finds wrong there.
fn moves_of(
    sets: &mut SymbolicSets<'_, '_, '_>,
    claim: &Claim,
    (state, kinds): (usize, &[(u64, Kept)]),
) -> Ways {
    let (mut ways, mut faults): Ways = (Vec::new(), Vec::new());
    if claim.ends[state].is_some() {
        return (ways, faults);
    }
    for (bits, states) in kinds {
        let mut moves = Moves::default();
        claim.moves(system::claim::ClaimState(state as u16), *bits, &mut moves);
        for by in moves.to {
            add(sets, &mut ways, by, states);
        }
        for fault in moves.faults {
            add(sets, &mut faults, fault, states);
        }
    }
    (ways, faults)
}

/// Adds states to those that something has.
fn add<T: PartialEq>(sets: &mut SymbolicSets<'_, '_, '_>, list: &mut Vec<(T, Kept)>, what: T, states: &Kept) {
    match list.iter_mut().find(|(other, _)| *other == what) {
        Some((_, known)) => *known = sets.or(known, states),
        None => list.push((what, states.clone())),
    }
}

/// The components of a claim; one that leads to another comes after it.
fn components(moves: &[Vec<(Move, Kept)>]) -> Vec<Vec<usize>> {
    let reach: Vec<Vec<bool>> = (0..moves.len()).map(|from| reached(moves, from)).collect();
    let mut order: Vec<usize> = (0..moves.len()).collect();
    // What leads to others reaches more than they.
    order.sort_by_key(|&at| reach[at].iter().filter(|reached| **reached).count());
    let mut components: Vec<Vec<usize>> = Vec::new();
    for at in order {
        let same = |component: &&mut Vec<usize>| reach[at][component[0]] && reach[component[0]][at];
        match components.iter_mut().find(same) {
            Some(component) => component.push(at),
            None => components.push(vec![at]),
        }
    }
    components
}

/// The states that a state leads to, itself included.
fn reached(moves: &[Vec<(Move, Kept)>], from: usize) -> Vec<bool> {
    let (mut met, mut open) = (vec![false; moves.len()], vec![from]);
    met[from] = true;
    while let Some(at) = open.pop() {
        for (by, _) in &moves[at] {
            if !std::mem::replace(&mut met[by.to.index()], true) {
                open.push(by.to.index());
            }
        }
    }
    met
}
