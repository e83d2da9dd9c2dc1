//! Deterministic weak automata for obligation properties (Dax, Eisinger, Klaedtke 2007), minimised (Löding
//! 2001).
//!
//! Many properties (safety, guarantee and their Boolean combinations) have a deterministic automaton whose
//! components accept all or nothing, and a smallest one. In a product, determinism counts more than anything
//! else: a history of the system meets one state of the automaton. The sets of states that words lead to are
//! the candidates; whether a component of sets accepts is asked of the automaton that we have, for one loop;
//! the result is right if it excludes the automaton of the negation, and its complement excludes the
//! automaton itself. If not, the property was no obligation.

use crate::bdd::Bdd;
use crate::scc::{Components, components};
use crate::tgba::{Edge, Tgba};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// More sets than this are not looked at.
const MAX_SETS: usize = 200;
/// Nor are more edges of one set, while they are being computed.
const MAX_CLASSES: usize = 200;

/// The smallest deterministic weak automaton of the language of `yes`, if there is one and it is not too
/// large; `no` accepts the complement.
pub(crate) fn obligation(yes: &Tgba, no: &Tgba) -> Option<Tgba> {
    let mut sets = Sets::of(yes)?;
    let accepting = sets.colour(yes);
    let complement: Vec<bool> = accepting.iter().map(|a| !a).collect();
    let candidate = sets.automaton(&accepting);
    let right = candidate.disjoint(no)? && sets.automaton(&complement).disjoint(yes)?;
    if !right {
        return None;
    }
    let mut smallest = candidate;
    smallest.minimise(&accepting);
    smallest.trim();
    Some(smallest)
}

/// The powerset automaton: deterministic and complete.
struct Sets {
    members: Vec<BTreeSet<usize>>,
    graph: Tgba,
}

impl Sets {
    fn of(yes: &Tgba) -> Option<Sets> {
        let mut bdds = yes.bdds.clone();
        let mut members = vec![BTreeSet::from([yes.initial])];
        let mut numbers = HashMap::from([(members[0].clone(), 0)]);
        let mut states: Vec<Vec<Edge>> = Vec::new();
        while states.len() < members.len() {
            // Valuations that lead to the same set stay together.
            let mut classes: BTreeMap<BTreeSet<usize>, Bdd> = BTreeMap::from([(BTreeSet::new(), Bdd::TRUE)]);
            for member in members[states.len()].clone() {
                for edge in &yes.states[member] {
                    let mut split: BTreeMap<BTreeSet<usize>, Bdd> = BTreeMap::new();
                    for (targets, class) in classes {
                        let mut more = targets.clone();
                        more.insert(edge.target);
                        let (taken, left) = (bdds.and(class, edge.guard), bdds.minus(class, edge.guard));
                        for (targets, part) in [(more, taken), (targets, left)] {
                            if part != Bdd::FALSE {
                                let whole = split.entry(targets).or_insert(Bdd::FALSE);
                                *whole = bdds.or(*whole, part);
                            }
                        }
                    }
                    if split.len() > MAX_CLASSES {
                        return None;
                    }
                    classes = split;
                }
            }
            let mut edges = Vec::new();
            for (targets, guard) in classes {
                let target = *numbers.entry(targets.clone()).or_insert_with(|| {
                    members.push(targets);
                    members.len() - 1
                });
                edges.push(Edge { target, marks: 0, guard });
            }
            if members.len() > MAX_SETS {
                return None;
            }
            states.push(edges);
        }
        Some(Sets { members, graph: Tgba { bdds, n_marks: 1, initial: 0, states } })
    }

    /// Which sets are accepting. A component accepts if one of its loops is accepted; a set on no loop gets
    /// what follows from Löding's colours: how often acceptance and rejection can alternate from there on, an
    /// even number being accepting.
    fn colour(&mut self, yes: &Tgba) -> Vec<bool> {
        let next = |s: usize| self.graph.states[s].iter().map(|e| e.target).collect();
        let found = components(self.members.len(), &[0], next);
        let mut colours: Vec<u32> = Vec::new();
        for (number, states) in found.members.iter().enumerate() {
            let below = states.iter().flat_map(|s| &self.graph.states[*s]).map(|e| found.of[e.target]);
            let deepest = below.filter(|c| *c != number).map(|c| colours[c]).max();
            let colour = match self.loop_at(states[0], &found) {
                None => deepest.unwrap_or(1),
                Some(around) => {
                    let parity = u32::from(!self.accepts(yes, states[0], &around));
                    let deepest = deepest.unwrap_or(parity);
                    deepest + ((deepest % 2) ^ parity)
                }
            };
            colours.push(colour);
        }
        found.of.iter().map(|c| colours[*c].is_multiple_of(2)).collect()
    }

    /// The guards of a shortest loop through a state, inside its component.
    fn loop_at(&self, start: usize, found: &Components) -> Option<Vec<Bdd>> {
        let mut before: HashMap<usize, (usize, Bdd)> = HashMap::new();
        let mut todo = VecDeque::from([start]);
        while let Some(state) = todo.pop_front() {
            for edge in &self.graph.states[state] {
                if found.of[edge.target] != found.of[start] || before.contains_key(&edge.target) {
                    continue;
                }
                before.insert(edge.target, (state, edge.guard));
                todo.push_back(edge.target);
            }
        }
        let mut guards = Vec::new();
        let mut at = start;
        loop {
            let (state, guard) = before.get(&at)?;
            guards.push(*guard);
            at = *state;
            if at == start {
                guards.reverse();
                return Some(guards);
            }
        }
    }

    /// Whether the automaton accepts the word that goes round a loop forever, from some member of the set.
    fn accepts(&mut self, yes: &Tgba, set: usize, around: &[Bdd]) -> bool {
        let letters: Vec<u64> = around.iter().map(|guard| self.graph.bdds.point(*guard)).collect();
        let node = |state: usize, at: usize| 1 + state * letters.len() + at;
        let mut states: Vec<Vec<Edge>> = vec![Vec::new(); 1 + yes.states.len() * letters.len()];
        let plain = |target: usize, marks: u64| Edge { target, marks, guard: Bdd::TRUE };
        states[0] = self.members[set].iter().map(|s| plain(node(*s, 0), 0)).collect();
        for (state, edges) in yes.states.iter().enumerate() {
            for (at, letter) in letters.iter().enumerate() {
                let enabled = edges.iter().filter(|e| yes.bdds.contains(e.guard, *letter));
                let target = |e: &Edge| node(e.target, (at + 1) % letters.len());
                states[node(state, at)] = enabled.map(|e| plain(target(e), e.marks)).collect();
            }
        }
        let runs = Tgba { bdds: Default::default(), n_marks: yes.n_marks, initial: 0, states };
        !runs.is_empty()
    }

    fn automaton(&self, accepting: &[bool]) -> Tgba {
        let mut automaton = self.graph.clone();
        for (state, edges) in automaton.states.iter_mut().enumerate() {
            edges.iter_mut().for_each(|e| e.marks = u64::from(accepting[state]));
        }
        automaton
    }
}

impl Tgba {
    /// Moore's algorithm: states of a complete deterministic automaton that no finite word tells apart become
    /// one.
    fn minimise(&mut self, accepting: &[bool]) {
        let mut class: Vec<usize> = accepting.iter().map(|a| usize::from(*a)).collect();
        let mut n_classes = class.iter().collect::<BTreeSet<_>>().len();
        loop {
            let mut numbers: HashMap<(usize, BTreeMap<usize, Bdd>), usize> = HashMap::new();
            let mut finer = Vec::with_capacity(class.len());
            for (state, edges) in self.states.iter().enumerate() {
                let mut targets: BTreeMap<usize, Bdd> = BTreeMap::new();
                for edge in edges {
                    let guard = targets.entry(class[edge.target]).or_insert(Bdd::FALSE);
                    *guard = self.bdds.or(*guard, edge.guard);
                }
                let n = numbers.len();
                finer.push(*numbers.entry((class[state], targets)).or_insert(n));
            }
            class = finer;
            if numbers.len() == n_classes {
                break;
            }
            n_classes = numbers.len();
        }
        let mut first = vec![usize::MAX; n_classes];
        for (state, class) in class.iter().enumerate() {
            first[*class] = first[*class].min(state);
        }
        let map = |state: usize| first[class[state]];
        self.initial = map(self.initial);
        for edges in &mut self.states {
            edges.iter_mut().for_each(|e| e.target = map(e.target));
        }
        self.merge_edges();
        self.restrict(|_| true);
    }
}
