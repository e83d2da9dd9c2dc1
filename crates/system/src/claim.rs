//! A claim: a Büchi automaton that watches a system and accepts the runs that are wrong.
//!
//! It is made of `ltl` formulas (negated) and of never claims alike. In every ordinary state of the system
//! the claim moves first, along an edge whose guard holds there, then the system takes a step (an atomic
//! sequence is one). Where the system can do nothing more the last state is repeated forever. A run is wrong
//! when the claim passes accepting states forever, or reaches its end. A claim that cannot move gives the
//! run up.
//!
//! Guards are about *propositions*: bits that the system tells of a state ([`crate::Propositions`]).
//!
//! Acceptance may be *generalised* and on edges instead ([`Claim::n_marks`]): a run is wrong when it takes
//! edges with each of the marks forever. Such claims are smaller; searches by components use them as they
//! are.

use crate::portable::StableHash;
use crate::{Fault, FaultKind};
use std::borrow::Borrow;
use std::collections::{BTreeSet, HashMap};

/// A state of a claim.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ClaimState(pub u16);

impl ClaimState {
    /// As an index.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A set of acceptance marks: bit `i` is mark `i`.
pub type Marks = u8;

/// The most marks that a claim can have.
pub const MOST_MARKS: u32 = Marks::BITS;

/// The most states that a claim can have: a bit of the number is left to products.
pub const MOST_STATES: usize = 1 << 15;

/// The most pairs of masks and values that a guard may have which is put together from others.
const MOST_PAIRS: usize = 1 << 10;

/// When an edge can be taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Guard {
    /// Always.
    True,
    /// When for one of these pairs (mask, values) the propositions under the mask have the values.
    Any(Vec<(u64, u64)>),
    /// When no earlier edge of the same state can.
    Else,
}

impl Guard {
    /// One proposition.
    pub fn proposition(number: u32) -> Self {
        Guard::Any(vec![(1 << number, 1 << number)])
    }

    /// The guard as pairs (mask, values); `None` when it is about other edges.
    fn cubes(&self) -> Option<Vec<(u64, u64)>> {
        match self {
            Guard::True => Some(vec![(0, 0)]),
            Guard::Any(cubes) => Some(cubes.clone()),
            Guard::Else => None,
        }
    }

    /// Holds when both do: one pair (mask, values) at least, or `Some(None)` when that is never so. The answer is
    /// `None` when it cannot be said, or not in few words.
    pub fn and(&self, other: &Guard) -> Option<Option<Guard>> {
        let (own, others) = (self.cubes()?, other.cubes()?);
        let mut cubes = Vec::new();
        for &(mask, values) in &own {
            let agree = |&&(other, other_values): &&(u64, u64)| (values ^ other_values) & mask & other == 0;
            cubes.extend(others.iter().filter(agree).map(|&(m, v)| (mask | m, values | v)));
            if cubes.len() > MOST_PAIRS {
                return None;
            }
        }
        Some(Guard::of_cubes(cubes))
    }

    /// Holds for one of these pairs (mask, values); nothing where there is none.
    fn of_cubes(cubes: Vec<(u64, u64)>) -> Option<Guard> {
        match cubes[..] {
            [] => None,
            _ if cubes.iter().any(|&(mask, _)| mask == 0) => Some(Guard::True),
            _ => Some(Guard::Any(cubes)),
        }
    }

    /// Holds when this one does and none of `others` does: one pair (mask, values) at least, or `Some(None)`
    /// when that is never so. The answer is `None` when it cannot be said, or not in few words.
    pub fn and_none_of<'g>(&self, others: impl IntoIterator<Item = &'g Guard>) -> Option<Option<Guard>> {
        let mut cubes = self.cubes()?;
        for (mask, values) in others.into_iter().map(Guard::cubes).collect::<Option<Vec<_>>>()?.concat() {
            // What is left of a pair: where the first bit of the other does not fit, where only the second
            // does not, and so on.
            let mut rest = Vec::new();
            for (mut own_mask, mut own_values) in cubes {
                let mut left = mask;
                while left != 0 {
                    let bit = left & left.wrapping_neg();
                    left &= !bit;
                    if own_mask & bit != 0 {
                        if own_values & bit == values & bit {
                            continue;
                        }
                        rest.push((own_mask, own_values));
                        break;
                    }
                    rest.push((own_mask | bit, own_values | (!values & bit)));
                    (own_mask, own_values) = (own_mask | bit, own_values | (values & bit));
                }
            }
            cubes = rest;
            if cubes.len() > MOST_PAIRS {
                return None;
            }
        }
        Some(Guard::of_cubes(cubes))
    }

    fn holds(&self, bits: u64, earlier: bool) -> bool {
        match self {
            Guard::True => true,
            Guard::Any(cubes) => cubes.iter().any(|(mask, values)| bits & mask == *values),
            Guard::Else => !earlier,
        }
    }
}

/// An edge of a claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimEdge {
    /// When it can be taken.
    pub guard: Guard,
    /// Where it leads.
    pub to: ClaimState,
    /// The claim goes on at once, in the same state of the system.
    pub atomic: bool,
    /// What taking it earns, in claims whose acceptance is on edges. Atomic edges earn nothing.
    pub marks: Marks,
    /// Taking it is wrong unless this proposition holds: an assertion in the claim.
    pub asserts: Option<(u32, Fault)>,
}

impl ClaimEdge {
    fn add_to(&self, hash: StableHash) -> StableHash {
        let asserts = self.asserts.as_ref().map_or(u64::MAX, |(proposition, _)| u64::from(*proposition));
        let hash = hash.word(u64::from(self.to.0)).word(u64::from(self.marks) << 1 | u64::from(self.atomic));
        let (kind, cubes) = match &self.guard {
            Guard::True => (0, &[][..]),
            Guard::Any(cubes) => (1, &cubes[..]),
            Guard::Else => (2, &[][..]),
        };
        let hash = hash.word(asserts).word(kind).word(cubes.len() as u64);
        cubes.iter().fold(hash, |hash, &(mask, values)| hash.word(mask).word(values))
    }
}

/// A move of a claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub struct Move {
    /// Where the claim is then.
    pub to: ClaimState,
    /// What it has earned.
    pub marks: Marks,
}

/// What a move of a claim leads to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Moves {
    /// The ways in which the claim can go on. None leads where another leads that earns as much.
    pub to: Vec<Move>,
    /// What is wrong already: an end that is reached, an assertion that fails.
    pub faults: Vec<Fault>,
}

/// How much of a claim's cycles is accepting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strength {
    /// No cycle accepts: only the end of the claim is wrong.
    Terminal,
    /// On every cycle either all states are accepting or none: one search is enough.
    Weak,
    /// Anything.
    Strong,
}

/// A claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Where it begins.
    pub initial: ClaimState,
    /// 0: acceptance is a matter of states. Otherwise the number of marks, all of which a wrong run earns for
    /// ever.
    pub n_marks: u32,
    /// By state: passing it forever is wrong. (Not used where edges have marks.)
    pub accepting: Vec<bool>,
    /// By state: being there is wrong, whatever happens next.
    pub ends: Vec<Option<Fault>>,
    /// By state: edges, in the order in which they are tried.
    pub edges: Vec<Vec<ClaimEdge>>,
    /// By state: only the first edge that can be taken is, as inside a d_step.
    pub first_only: Vec<bool>,
    /// Whether the last state of a run that ends is repeated forever. If not, runs that end are right.
    pub stutters: bool,
}

impl Claim {
    /// A hash of what the claim does, without what it says: processes that exchange states of a product
    /// compare it.
    pub fn fingerprint(&self) -> u64 {
        let flag = |set: bool| u64::from(set);
        let mut hash = StableHash::new(u64::from(self.n_marks)).word(u64::from(self.initial.0));
        hash = hash.word(flag(self.stutters)).word(self.len() as u64);
        for (state, edges) in self.edges.iter().enumerate() {
            let end = flag(self.ends[state].is_some()) << 2;
            let flags = flag(self.accepting[state]) | flag(self.first_only[state]) << 1 | end;
            hash = hash.word(flags).word(edges.len() as u64);
            hash = edges.iter().fold(hash, |hash, edge| edge.add_to(hash));
        }
        hash.finish()
    }

    /// Whether something depends on propositions.
    pub fn asks(&self) -> bool {
        self.all_asked() != 0
    }

    /// The propositions on which something depends: bit `i` is proposition `i`.
    pub fn all_asked(&self) -> u64 {
        let of = |edge: &ClaimEdge| {
            let asserts = edge.asserts.as_ref().map_or(0, |(proposition, _)| 1 << proposition);
            match &edge.guard {
                Guard::Any(cubes) => cubes.iter().fold(asserts, |all, (mask, _)| all | mask),
                Guard::True | Guard::Else => asserts,
            }
        };
        self.edges.iter().flatten().fold(0, |all, edge| all | of(edge))
    }

    /// The claim that follows every run and accepts in every state, as long as the run goes.
    pub fn everything() -> Self {
        let to = ClaimState(0);
        let edge = ClaimEdge { guard: Guard::True, to, atomic: false, marks: 0, asserts: None };
        Claim {
            initial: to,
            n_marks: 0,
            accepting: vec![true],
            ends: vec![None],
            edges: vec![vec![edge]],
            first_only: vec![false],
            stutters: true,
        }
    }

    /// The propositions that its next move from a state looks at.
    pub fn asked(&self, state: ClaimState) -> u64 {
        let (mut seen, mut next, mut asked) = (vec![state], 0, 0);
        while let Some(&at) = seen.get(next) {
            next += 1;
            for edge in &self.edges[at.index()] {
                if let Guard::Any(cubes) = &edge.guard {
                    asked |= cubes.iter().fold(0, |all, (mask, _)| all | mask);
                }
                asked |= edge.asserts.as_ref().map_or(0, |(proposition, _)| 1 << proposition);
                if edge.atomic && !seen.contains(&edge.to) {
                    seen.push(edge.to);
                }
            }
        }
        asked
    }

    /// The claim that is broken when a proposition, "no process makes progress", holds from some time on for
    /// ever. Only runs that do not end count.
    pub fn non_progress(proposition: u32) -> Self {
        let edge =
            |guard, to| ClaimEdge { guard, to: ClaimState(to), atomic: false, marks: 0, asserts: None };
        Claim {
            initial: ClaimState(0),
            n_marks: 0,
            accepting: vec![false, true],
            ends: vec![None, None],
            edges: vec![
                vec![edge(Guard::True, 0), edge(Guard::proposition(proposition), 1)],
                vec![edge(Guard::proposition(proposition), 1)],
            ],
            first_only: vec![false, false],
            stutters: false,
        }
    }

    /// How many states it has.
    pub fn len(&self) -> usize {
        self.edges.len()
    }

    /// It has no states, so that no run is wrong.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// Whether every state has all its parts, edges lead to states, and marks are some of the claim's.
    fn is_consistent(&self) -> bool {
        let n = self.len();
        let parts = [self.accepting.len(), self.ends.len(), self.first_only.len()];
        let own = |marks: Marks| self.n_marks == 0 && marks == 0 || u32::from(marks) < 1 << self.n_marks;
        let edge =
            |edge: &ClaimEdge| edge.to.index() < n && own(edge.marks) && !(edge.atomic && edge.marks != 0);
        n <= MOST_STATES && parts == [n; 3] && self.edges.iter().flatten().all(edge)
    }

    /// Appends where the claim can go from `state` when the propositions have the values `bits`.
    pub fn moves(&self, state: ClaimState, bits: u64, out: &mut Moves) {
        debug_assert!(self.is_consistent());
        debug_assert!(self.ends[state.index()].is_none(), "no run goes on behind the end of a claim");
        let first = out.to.len();
        let mut seen = vec![state];
        let mut next = 0;
        while let Some(&at) = seen.get(next) {
            next += 1;
            self.moves_from(at, bits, first, &mut seen, out);
        }
    }

    /// The moves of one state; where an atomic sequence goes on is added to `seen`.
    fn moves_from(
        &self,
        at: ClaimState,
        bits: u64,
        first: usize,
        seen: &mut Vec<ClaimState>,
        out: &mut Moves,
    ) {
        let mut earlier = false;
        for edge in &self.edges[at.index()] {
            if !edge.guard.holds(bits, earlier) {
                continue;
            }
            earlier = true;
            if let Some((proposition, fault)) = &edge.asserts
                && bits >> proposition & 1 == 0
            {
                out.faults.push(fault.clone());
            }
            match &self.ends[edge.to.index()] {
                Some(fault) => out.faults.push(fault.clone()),
                None if edge.atomic && seen.contains(&edge.to) => {}
                None if edge.atomic => seen.push(edge.to),
                None => add(&mut out.to, first, Move { to: edge.to, marks: edge.marks }),
            }
            if self.first_only[at.index()] {
                return;
            }
        }
    }

    /// What an endless run must earn.
    fn all_marks(&self) -> Marks {
        match self.n_marks {
            0 => 1,
            n => Marks::MAX >> (MOST_MARKS - n.min(MOST_MARKS)),
        }
    }

    /// What a move from `state` earns.
    fn earned(&self, state: ClaimState, by: Move) -> Marks {
        if self.n_marks == 0 { Marks::from(self.accepting[state.index()]) } else { by.marks }
    }

    /// Its strength (acceptance being a matter of states), from the strongly connected components of its
    /// graph. Ends are no part of cycles.
    pub fn strength(&self) -> Strength {
        let component = self.components();
        let mut cyclic = vec![false; self.len()];
        for (from, edges) in self.edges.iter().enumerate().filter(|&(from, _)| self.ends[from].is_none()) {
            for edge in edges {
                cyclic[component[from]] |= component[from] == component[edge.to.index()];
            }
        }
        let mut accepting: HashMap<usize, (bool, bool)> = HashMap::new();
        for (state, &of) in component.iter().enumerate().filter(|&(_, &of)| cyclic[of]) {
            let (some, all) = accepting.entry(of).or_insert((false, true));
            *some |= self.accepting[state];
            *all &= self.accepting[state];
        }
        match () {
            () if accepting.values().all(|(some, _)| !some) => Strength::Terminal,
            () if accepting.values().all(|(some, all)| some == all) => Strength::Weak,
            () => Strength::Strong,
        }
    }

    /// For every state the smallest state with which it shares a cycle, or itself. Claims are small:
    /// reachability by repeated steps is quick enough.
    fn components(&self) -> Vec<usize> {
        let reach: Vec<Vec<bool>> = (0..self.len()).map(|from| self.reachable(from)).collect();
        let with = |a: usize, b: usize| a == b || reach[a][b] && reach[b][a];
        (0..self.len()).map(|a| (0..=a).find(|&b| with(a, b)).unwrap_or(a)).collect()
    }

    fn reachable(&self, from: usize) -> Vec<bool> {
        let (mut met, mut open) = (vec![false; self.len()], vec![from]);
        while let Some(at) = open.pop() {
            for edge in &self.edges[at] {
                if !std::mem::replace(&mut met[edge.to.index()], true) {
                    open.push(edge.to.index());
                }
            }
        }
        met
    }

    /// By what the claim finds a lasso wrong: a path along which the propositions have the values `stem`,
    /// then forever those of `cycle` again and again. A claim may find the same run wrong in several ways,
    /// because it may move in several ways.
    pub fn accepts(
        &self,
        stem: impl IntoIterator<Item: Borrow<u64>>,
        cycle: impl IntoIterator<Item: Borrow<u64>, IntoIter: Clone>,
    ) -> BTreeSet<FaultKind> {
        let Accepted { faults, cycle } = self.accepted(stem, cycle);
        let cycle = cycle.then_some(FaultKind::AcceptCycle);
        faults.into_iter().map(|fault| fault.kind).chain(cycle).collect()
    }

    /// Whether a run is accepted, with what the claim says about it.
    pub fn accepted(
        &self,
        stem: impl IntoIterator<Item: Borrow<u64>>,
        cycle: impl IntoIterator<Item: Borrow<u64>, IntoIter: Clone>,
    ) -> Accepted {
        let mut at = vec![self.initial];
        let mut moves = Moves::default();
        let mut found = Accepted::default();
        match self.ends.get(self.initial.index()) {
            Some(None) => {}
            Some(Some(fault)) => {
                found.add([fault.clone()]);
                return found;
            }
            None => return found,
        }
        for bits in stem {
            moves.to.clear();
            at.iter().for_each(|&state| self.moves(state, *bits.borrow(), &mut moves));
            found.add(moves.faults.drain(..));
            at.clear();
            at.extend(moves.to.iter().map(|by| by.to));
            at.sort_unstable();
            at.dedup();
        }
        let cycle = cycle.into_iter();
        if cycle.clone().next().is_some() {
            self.accepts_cycle(&at, cycle, &mut found);
        }
        found
    }

    /// Whether a cycle is accepted, from the states in which the claim can be when it begins.
    fn accepts_cycle(
        &self,
        start: &[ClaimState],
        cycle: impl Iterator<Item: Borrow<u64>> + Clone,
        found: &mut Accepted,
    ) {
        // Of every state at the beginning of a round: where it can be at its end, and what that earns.
        let mut rounds: HashMap<ClaimState, Vec<Move>> = HashMap::new();
        let mut open = start.to_vec();
        while let Some(state) = open.pop() {
            if rounds.contains_key(&state) {
                continue;
            }
            let ends = self.round(state, cycle.clone(), found);
            open.extend(ends.iter().map(|by| by.to));
            rounds.insert(state, ends);
        }
        let reach: HashMap<ClaimState, BTreeSet<ClaimState>> =
            rounds.keys().map(|&state| (state, reachable(&rounds, state))).collect();
        // A run may go around in a component forever by all of its rounds.
        let earned = |around: ClaimState| {
            let inside =
                |state: &ClaimState| reach[&around].contains(state) && reach[state].contains(&around);
            let rounds = rounds.iter().filter(|(state, _)| inside(state)).flat_map(|(_, ends)| ends);
            rounds.filter(|by| inside(&by.to)).fold(0, |all, by| all | by.marks)
        };
        if rounds.keys().any(|&state| earned(state) == self.all_marks()) {
            found.cycle = true;
        }
    }

    /// Where the claim can be after one round of the cycle, and what that earns.
    fn round(
        &self,
        state: ClaimState,
        cycle: impl Iterator<Item: Borrow<u64>>,
        found: &mut Accepted,
    ) -> Vec<Move> {
        let mut at = vec![Move { to: state, marks: 0 }];
        let mut moves = Moves::default();
        let mut next = Vec::new();
        for bits in cycle {
            next.clear();
            for &Move { to: state, marks } in &at {
                moves.to.clear();
                self.moves(state, *bits.borrow(), &mut moves);
                found.add(moves.faults.drain(..));
                let on = |by: &Move| Move { to: by.to, marks: marks | self.earned(state, *by) };
                next.extend(moves.to.iter().map(on));
            }
            next.sort_unstable();
            next.dedup();
            std::mem::swap(&mut at, &mut next);
        }
        at
    }
}

/// By what a claim finds a run wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accepted {
    /// What it says when it ends or fails, each once.
    pub faults: Vec<Fault>,
    /// What is repeated forever is wrong.
    pub cycle: bool,
}

impl Accepted {
    fn add(&mut self, faults: impl IntoIterator<Item = Fault>) {
        for fault in faults {
            if !self.faults.contains(&fault) {
                self.faults.push(fault);
            }
        }
    }
}

/// Adds a move to those from `first` on, unless one of them is as good; those that are worse go.
fn add(moves: &mut Vec<Move>, first: usize, new: Move) {
    if moves[first..].iter().any(|by| by.to == new.to && by.marks & new.marks == new.marks) {
        return;
    }
    let mut at = 0;
    moves.retain(|by| {
        at += 1;
        at <= first || by.to != new.to || by.marks & !new.marks != 0
    });
    moves.push(new);
}

/// The states that are reached from one by rounds, one at least.
fn reachable(rounds: &HashMap<ClaimState, Vec<Move>>, from: ClaimState) -> BTreeSet<ClaimState> {
    let (mut met, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(at) = open.pop() {
        for by in rounds.get(&at).into_iter().flatten() {
            if met.insert(by.to) {
                open.push(by.to);
            }
        }
    }
    met
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A claim from lines `0: p0 -> 1, !p1 -> 0, true -> 2` (also `else`); `accepting` states by number.
    pub(crate) fn claim(text: &str, accepting: &[usize]) -> Claim {
        let mut edges: Vec<Vec<ClaimEdge>> = Vec::new();
        for line in text.split(';').map(str::trim) {
            let (_, list) = line.split_once(':').unwrap();
            let edge = |e: &str| {
                let (guard, to) = e.split_once("->").unwrap();
                let guard = match guard.trim() {
                    "true" => Guard::True,
                    "else" => Guard::Else,
                    p => {
                        let bit = 1u64 << p.trim_start_matches(['!', 'p']).parse::<u32>().unwrap();
                        Guard::Any(vec![(bit, if p.starts_with('!') { 0 } else { bit })])
                    }
                };
                let to = ClaimState(to.trim().parse().unwrap());
                ClaimEdge { guard, to, atomic: false, marks: 0, asserts: None }
            };
            edges.push(list.split(',').filter(|e| !e.trim().is_empty()).map(edge).collect());
        }
        let n = edges.len();
        Claim {
            initial: ClaimState(0),
            n_marks: 0,
            accepting: (0..n).map(|i| accepting.contains(&i)).collect(),
            ends: vec![None; n],
            edges,
            first_only: vec![false; n],
            stutters: true,
        }
    }

    fn end() -> Fault {
        let (message, file) = ("end".to_string(), "claim".to_string());
        Fault { kind: FaultKind::ClaimEnd, message, file, line: 1, column: 1, process: None, pid: None }
    }

    fn to(claim: &Claim, from: u16, bits: u64) -> Vec<u16> {
        let mut moves = Moves::default();
        claim.moves(ClaimState(from), bits, &mut moves);
        moves.to.iter().map(|by| by.to.0).collect()
    }

    #[test]
    fn moves_follow_guards() {
        let claim = claim("0: p0 -> 1, !p1 -> 0, else -> 2; 1: true -> 1; 2:", &[1]);
        assert_eq!(to(&claim, 0, 0b01), [1, 0]);
        assert_eq!(to(&claim, 0, 0b10), [2]);
        assert_eq!(to(&claim, 0, 0b00), [0]);
        assert!(to(&claim, 2, 0).is_empty());
    }

    #[test]
    fn atomic_sequences_and_ends() {
        let mut claim = claim("0: true -> 1; 1: p0 -> 2, p0 -> 0, p1 -> 1; 2:", &[]);
        claim.edges[0][0].atomic = true;
        claim.ends[2] = Some(end());
        let mut moves = Moves::default();
        claim.moves(ClaimState(0), 0b11, &mut moves);
        let ways: Vec<u16> = moves.to.iter().map(|by| by.to.0).collect();
        assert_eq!((ways, moves.faults.len()), (vec![0, 1], 1));
        assert!(to(&claim, 0, 0).is_empty(), "it blocks inside the sequence");
    }

    #[test]
    fn an_assertion_of_the_claim() {
        let mut claim = claim("0: true -> 0", &[]);
        claim.edges[0][0].asserts = Some((3, end()));
        let faults = |bits| {
            let mut moves = Moves::default();
            claim.moves(ClaimState(0), bits, &mut moves);
            moves.faults.len()
        };
        assert_eq!((faults(0), faults(8)), (1, 0));
    }

    #[test]
    fn guards_exclude_others() {
        let p = Guard::proposition;
        assert_eq!(Guard::True.and_none_of([&p(1)]), Some(Some(Guard::Any(vec![(2, 0)]))));
        assert_eq!(p(0).and_none_of([&p(1)]), Some(Some(Guard::Any(vec![(3, 1)]))));
        assert_eq!(p(1).and_none_of([&p(1)]), Some(None));
        assert_eq!(p(1).and_none_of([&Guard::True]), Some(None));
        assert_eq!(Guard::True.and_none_of([]), Some(Some(Guard::True)));
        assert_eq!(Guard::Else.and_none_of([&p(1)]), None);
        assert_eq!(p(0).and_none_of([&Guard::Else]), None);
    }

    #[test]
    fn what_is_excluded_is_excluded_exactly() {
        let guards = [
            Guard::Any(vec![(0b011, 0b001), (0b110, 0b110)]),
            Guard::Any(vec![(0b101, 0b000), (0b111, 0b010)]),
            Guard::Any(vec![(0b1001, 0b1000)]),
            Guard::Any(Vec::new()),
            Guard::True,
        ];
        for a in &guards {
            for b in &guards {
                for c in &guards {
                    let made = a.and_none_of([b, c]).unwrap();
                    for bits in 0..16 {
                        let expected = a.holds(bits, false) && !b.holds(bits, false) && !c.holds(bits, false);
                        let found = made.as_ref().is_some_and(|guard| guard.holds(bits, false));
                        assert_eq!(found, expected, "{a:?} without {b:?} {c:?}: {bits:b}");
                    }
                }
            }
        }
    }

    #[test]
    fn strengths() {
        assert_eq!(claim("0: true -> 0, p0 -> 1; 1: p0 -> 1", &[1]).strength(), Strength::Weak);
        assert_eq!(claim("0: true -> 0, p0 -> 1; 1: p0 -> 1, p1 -> 0", &[1]).strength(), Strength::Strong);
        assert_eq!(claim("0: true -> 0, p0 -> 1; 1:", &[1]).strength(), Strength::Terminal);
        assert_eq!(Claim::non_progress(0).strength(), Strength::Weak);
    }

    #[test]
    fn lassos_are_judged() {
        // Infinitely often p0, guessed state by state.
        let often = claim("0: true -> 0, p0 -> 1; 1: true -> 0, p0 -> 1", &[1]);
        assert_eq!(often.accepts(&[0, 0], &[0, 1]), [FaultKind::AcceptCycle].into());
        assert!(often.accepts(&[1, 1], &[0]).is_empty());
        // For ever p0 from some time on.
        let ever = Claim::non_progress(0);
        assert_eq!(ever.accepts(&[0, 1], &[1, 1]), [FaultKind::AcceptCycle].into());
        assert!(ever.accepts(&[1, 1], &[1, 0]).is_empty());
        // Accepting every third position of a cycle of two.
        let third = claim("0: true -> 1; 1: true -> 2; 2: p0 -> 0", &[2]);
        assert_eq!(third.accepts(&[], &[1, 1]), [FaultKind::AcceptCycle].into());
        assert!(third.accepts(&[], &[1, 0]).is_empty());
        let mut ending = claim("0: p0 -> 1, else -> 0; 1:", &[]);
        ending.ends[1] = Some(end());
        assert_eq!(ending.accepts(&[0, 1], &[]), [FaultKind::ClaimEnd].into());
        assert!(ending.accepts(&[0, 0], &[0]).is_empty());
    }

    #[test]
    fn marks_on_edges_are_all_needed() {
        // Infinitely often p0 and infinitely often p1, in one state.
        let mut both = claim("0: !p0 -> 0, p0 -> 0, p1 -> 0", &[]);
        both.n_marks = 2;
        (both.edges[0][1].marks, both.edges[0][2].marks) = (1, 2);
        let wrong = BTreeSet::from([FaultKind::AcceptCycle]);
        assert_eq!(both.accepts(&[], &[1, 2]), wrong);
        assert_eq!(both.accepts(&[3], &[3, 0]), wrong, "in one moment by two ways, in two rounds");
        assert!(both.accepts(&[1, 2], &[1]).is_empty());
        assert!(both.accepts(&[], &[0]).is_empty());
    }

    #[test]
    fn of_two_moves_to_one_state_the_better_counts() {
        let mut claim = claim("0: true -> 1, p0 -> 1, p1 -> 1; 1: true -> 1", &[]);
        claim.n_marks = 2;
        (claim.edges[0][1].marks, claim.edges[0][2].marks) = (1, 2);
        let marks = |bits| {
            let mut moves = Moves::default();
            claim.moves(ClaimState(0), bits, &mut moves);
            moves.to.iter().map(|by| by.marks).collect::<Vec<_>>()
        };
        assert_eq!((marks(0), marks(1), marks(3)), (vec![0], vec![1], vec![1, 2]));
    }

    #[test]
    fn a_run_may_be_wrong_in_two_ways() {
        let mut claim = claim("0: true -> 0, p0 -> 1; 1:", &[0]);
        claim.ends[1] = Some(end());
        assert_eq!(claim.accepts(&[1], &[0]), [FaultKind::ClaimEnd, FaultKind::AcceptCycle].into());
        assert_eq!(claim.accepts(&[0], &[1]), [FaultKind::ClaimEnd, FaultKind::AcceptCycle].into());
        assert_eq!(claim.accepts(&[0], &[0]), [FaultKind::AcceptCycle].into());
    }
}
