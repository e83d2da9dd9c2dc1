//! Short counterexamples that do not end: from one state of a cycle that counts, a shortest way to it and a short way around.
//!
//! A depth-first search finds a cycle at the end of a path that may be thousands of steps long. From a state on the cycle,
//! breadth-first searches look for the nearest step that brings one of the marks still lacking, again and again, then for
//! the way back; and from the initial state for the nearest state of that cycle. Each may look at a limited number of states:
//! the path that the search has found already is good enough when a short one is expensive.

use crate::expand::Expansion;
use crate::limits::Budget;
use crate::marks::{Acceptance, EVERYTHING, Lack, Marker};
use crate::outcome::StopReason;
use std::collections::HashSet;
use store::numbered::{Number, Numbered, Visit};
use system::{ActionId, TransitionSystem};

/// States that one breadth-first search may visit.
const MOST_STATES: u64 = 50_000;

/// A run that does not end: the actions to a state, and those from it back to it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Lasso {
    /// To the cycle.
    pub stem: Vec<ActionId>,
    /// Around it.
    pub cycle: Vec<ActionId>,
}

impl Lasso {
    /// All actions, and how many come before the cycle. Repetitions of a last state are no actions: without them the cycle of
    /// a run that ends is empty.
    pub fn path(self) -> (Vec<ActionId>, usize) {
        let steps = |actions: Vec<ActionId>| actions.into_iter().filter(|&a| a != ActionId::STUTTER);
        let mut path: Vec<ActionId> = steps(self.stem).collect();
        let start = path.len();
        path.extend(steps(self.cycle));
        (path, start)
    }
}

/// Tells by their keys which states a way may pass.
pub type Inside<'a> = &'a dyn Fn(&[u8]) -> bool;

/// A state on a cycle that counts.
pub struct Anchor<'a> {
    /// The state.
    pub state: &'a [u8],
    /// The way to it.
    pub path: &'a [ActionId],
    /// The keys of the states among which the way around must be, however many; `None`: among any, but not too many.
    pub inside: Option<Inside<'a>>,
}

/// A short lasso through a state, or `None` when looking for it takes too long.
pub fn shorten(
    system: &dyn TransitionSystem,
    acceptance: Acceptance,
    anchor: &Anchor<'_>,
    budget: &mut Budget<'_>,
) -> Option<Lasso> {
    let mut shortener = Shortener {
        system,
        marker: Marker::new(system, acceptance),
        expansion: Expansion::default(),
        budget,
        actions: Vec::new(),
        inside: anchor.inside,
    };
    let (states, mut legs) = shortener.cycle(anchor.state)?;
    shortener.inside = None;
    let Some((entry, stem)) = shortener.stem(&states) else {
        return Some(Lasso { stem: anchor.path.to_vec(), cycle: legs.concat() });
    };
    let at = states.iter().position(|state| *state == entry).unwrap_or(0);
    legs.rotate_left(at);
    Some(Lasso { stem, cycle: legs.concat() })
}

/// The shortest way from a state to the one with this key, among the states `inside`.
pub fn way_to(
    system: &dyn TransitionSystem,
    acceptance: Acceptance,
    (from, to): (&[u8], &[u8]),
    inside: Inside<'_>,
    budget: &mut Budget<'_>,
) -> Option<Vec<ActionId>> {
    let mut shortener = Shortener {
        system,
        marker: Marker::new(system, acceptance),
        expansion: Expansion::default(),
        budget,
        actions: Vec::new(),
        inside: Some(inside),
    };
    let (way, _) = shortener.search(from, |key, _| key == to)?;
    Some(way.into_iter().flat_map(|(_, actions, _)| actions).collect())
}

struct Shortener<'a, 'b, 'c> {
    system: &'a dyn TransitionSystem,
    marker: Marker<'a>,
    expansion: Expansion,
    budget: &'b mut Budget<'c>,
    actions: Vec<ActionId>,
    inside: Option<Inside<'a>>,
}

/// How a state was reached in a breadth-first search.
struct Reached {
    from: u32,
    actions: Vec<ActionId>,
    lack: Lack,
}

/// A cycle: its states, keys only, and the actions from each to the next.
type Around = (Vec<Vec<u8>>, Vec<Vec<ActionId>>);

/// A step of a way: the state before it, its actions and what it lacks.
type Leg = (Vec<u8>, Vec<ActionId>, Lack);

impl Shortener<'_, '_, '_> {
    /// A cycle through `anchor` that counts.
    fn cycle(&mut self, anchor: &[u8]) -> Option<Around> {
        let (mut states, mut legs) = (Vec::new(), Vec::new());
        let mut at = anchor.to_vec();
        let mut lack = EVERYTHING;
        let home = self.system.key(anchor).to_vec();
        // The shortest way back may have all marks already.
        let (back, _) = self.search(anchor, |key, _| key == home)?;
        if back.iter().fold(EVERYTHING, |all, (.., step)| all & step) == 0 {
            let key = |state: Vec<u8>| self.system.key(&state).to_vec();
            let (states, legs) = back.into_iter().map(|(state, actions, _)| (key(state), actions)).unzip();
            return Some((states, legs));
        }
        loop {
            let missing = lack;
            let way = match missing {
                0 => {
                    if self.system.key(&at) == home {
                        return Some((states, legs));
                    }
                    self.search(&at, |key, _| key == home)?
                }
                _ => self.search(&at, |_, step| step & missing != missing)?,
            };
            let (way, end) = way;
            for (state, actions, step) in way {
                states.push(self.system.key(&state).to_vec());
                legs.push(actions);
                lack &= step;
            }
            at = end;
        }
    }

    /// The shortest way from the initial state to one of `targets`, which is named.
    fn stem(&mut self, targets: &[Vec<u8>]) -> Option<(Vec<u8>, Vec<ActionId>)> {
        let mut initial = Vec::new();
        self.system.initial(&mut initial).ok()?;
        let targets: HashSet<&[u8]> = targets.iter().map(Vec::as_slice).collect();
        if targets.contains(self.system.key(&initial)) {
            return Some((self.system.key(&initial).to_vec(), Vec::new()));
        }
        let (way, end) = self.search(&initial, |key, _| targets.contains(key))?;
        let actions = way.into_iter().flat_map(|(_, actions, _)| actions).collect();
        Some((self.system.key(&end).to_vec(), actions))
    }

    /// The shortest way from `start` to the end of a step that `is_end` finds good, by the key of the state and what the step lacks.
    /// Hidden values are those of the first way to a state.
    fn search(&mut self, start: &[u8], is_end: impl Fn(&[u8], Lack) -> bool) -> Option<(Vec<Leg>, Vec<u8>)> {
        let mut seen = Numbered::default();
        let mut states = vec![start.to_vec()];
        let mut reached = vec![Reached { from: 0, actions: Vec::new(), lack: EVERYTHING }];
        seen.visit(self.system.key(start)).ok()?;
        let mut next = 0;
        while next < states.len() {
            let state = states[next].clone();
            self.expand(&state).ok()?;
            let accepting = self.marker.is_accepting(&state);
            for at in 0..self.expansion.edges().len() {
                let edge = self.expansion.edges()[at];
                let lack = self.marker.lack(accepting, &edge, &self.expansion);
                let to = self.expansion.state(&edge);
                let key = self.system.key(to);
                if self.inside.is_some_and(|inside| !inside(key)) {
                    continue;
                }
                let good = is_end(key, lack);
                let new = matches!(seen.visit(key).ok()?, Visit::New(Number(_)));
                if !good && !new {
                    continue;
                }
                self.actions.clear();
                self.marker.expander.actions(&edge, &mut self.actions);
                let step = Reached { from: next as u32, actions: self.actions.clone(), lack };
                if good {
                    return Some((way(&states, &reached, step), to.to_vec()));
                }
                states.push(to.to_vec());
                reached.push(step);
            }
            next += 1;
            if self.inside.is_none() && seen.n_keys() > MOST_STATES {
                return None;
            }
        }
        None
    }

    fn expand(&mut self, state: &[u8]) -> Result<(), StopReason> {
        self.expansion.clear();
        self.marker.expander.look_for_loops = false;
        self.marker.expand(state, 0, self.budget, &mut self.expansion)
    }
}

/// The way to the last step, from the beginning.
fn way(states: &[Vec<u8>], reached: &[Reached], last: Reached) -> Vec<Leg> {
    let mut at = last.from as usize;
    let mut way = vec![(states[at].clone(), last.actions, last.lack)];
    while at != 0 {
        let step = &reached[at];
        at = step.from as usize;
        way.push((states[at].clone(), step.actions.clone(), step.lack));
    }
    way.reverse();
    way
}
