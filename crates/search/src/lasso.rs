//! Short counterexamples that do not end: from one state of a cycle that counts, a shortest way to it and a
//! short way around.
//!
//! A depth-first search finds a cycle at the end of a path that may be thousands of steps long. From a state
//! on the cycle, breadth-first searches look for the nearest step that brings one of the marks still lacking,
//! again and again, then for the way back; and from the initial state for the nearest state of that cycle.
//! Each may look at a limited number of states. Where that does not do, the states that the search has met
//! are enough: among them is a way, and mostly a much shorter one than the search went. (A long run is
//! expensive: it is replayed and judged step by step.)

use crate::expand::Expansion;
use crate::limits::Budget;
use crate::marks::{Acceptance, EVERYTHING, Marker, MissingMarks};
use crate::outcome::StopReason;
use std::collections::HashSet;
use store::Full;
use store::numbered::{Number, Numbered, Visit};
use system::{ActionId, Path, SystemExt, TransitionSystem};

/// States that one breadth-first search may visit, where nothing is known of them.
const MOST_STATES: u64 = 50_000;
/// States that are visited between two looks at the budget.
const LOOKS: u32 = 4096;
/// States that are looked at among those that the search has met.
const MOST_MET: u64 = 1_000_000;

/// A run that does not end: the actions to a state, and those from it back to it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Lasso {
    /// To the cycle.
    pub stem: Path,
    /// Around it.
    pub cycle: Path,
}

impl Lasso {
    /// All actions, and how many come before the cycle. Repetitions of a last state are no actions: without
    /// them the cycle of a run that ends is empty.
    pub fn path(self) -> (Path, usize) {
        let steps =
            |actions: Path, path: &mut Path| path.extend(actions.iter().filter(|&&a| a != ActionId::STUTTER));
        let mut path = Path::new();
        steps(self.stem, &mut path);
        let start = path.len();
        steps(self.cycle, &mut path);
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
    pub path: &'a Path,
    /// The keys of the states among which the way around must be, however many; `None`: among any, but not
    /// too many.
    pub inside: Option<Inside<'a>>,
    /// The keys of the states that the search has met, if it can tell.
    pub met: Option<Inside<'a>>,
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
        region: Region { inside: anchor.inside, most: MOST_STATES },
    };
    let met = anchor.met.map(|met| Region { inside: Some(met), most: MOST_MET });
    if anchor.inside.is_some() {
        shortener.region.most = u64::MAX;
    }
    // First among any states, within a limit: that may be shorter than what the search went. Then among those
    // that the search has met, where there is a way for certain.
    let around = shortener.cycle(anchor.state).or_else(|| {
        shortener.region = met.filter(|_| anchor.inside.is_none())?;
        shortener.cycle(anchor.state)
    });
    let around = around?;
    shortener.region = Region { inside: None, most: MOST_STATES };
    let stem = shortener.stem(&around).or_else(|| {
        shortener.region = met?;
        shortener.stem(&around)
    });
    let Some((entry, stem)) = stem else {
        return Some(Lasso { stem: anchor.path.clone(), cycle: around.actions });
    };
    Some(Lasso { stem, cycle: around.from(&entry) })
}

/// The shortest way from a state to the one with this key, among the states `inside`.
pub fn way_to(
    system: &dyn TransitionSystem,
    acceptance: Acceptance,
    (from, to): (&[u8], &[u8]),
    inside: Inside<'_>,
    budget: &mut Budget<'_>,
) -> Option<Path> {
    let mut shortener = Shortener {
        system,
        marker: Marker::new(system, acceptance),
        expansion: Expansion::default(),
        budget,
        region: Region { inside: Some(inside), most: u64::MAX },
    };
    let (way, _) = shortener.search(from, |key, _| key == to)?;
    Some(way.actions)
}

/// Where a way may go.
#[derive(Clone, Copy)]
struct Region<'a> {
    /// Among these states only.
    inside: Option<Inside<'a>>,
    /// It is given up when more states have been visited.
    most: u64,
}

struct Shortener<'a, 'b, 'c> {
    system: &'a dyn TransitionSystem,
    marker: Marker<'a>,
    expansion: Expansion,
    budget: &'b mut Budget<'c>,
    region: Region<'a>,
}

/// A way that has more steps between ordinary states is not entered elsewhere than where it was begun: that
/// takes its states.
const MOST_KEYS: usize = 100_000;

/// A way from state to state.
#[derive(Default)]
struct Way {
    /// All actions.
    actions: Path,
    /// The keys of the states, and how many actions come before each; none when there are too many.
    keys: Vec<(Vec<u8>, usize)>,
    /// There are too many states.
    long: bool,
    /// What all steps lack.
    lack: MissingMarks,
}

impl Way {
    fn new() -> Self {
        Way { lack: EVERYTHING, ..Way::default() }
    }

    /// Goes on from the state with this key.
    fn push(&mut self, key: &[u8], actions: &[ActionId], lack: MissingMarks) {
        self.long |= self.keys.len() >= MOST_KEYS;
        match self.long {
            true => self.keys = Vec::new(),
            false => self.keys.push((key.to_vec(), self.actions.len())),
        }
        self.actions.extend(actions);
        self.lack &= lack;
    }

    /// Goes on by another way.
    fn append(&mut self, other: Way) {
        let before = self.actions.len();
        self.long |= other.long || self.keys.len() + other.keys.len() > MOST_KEYS;
        match self.long {
            true => self.keys = Vec::new(),
            false => self.keys.extend(other.keys.into_iter().map(|(key, at)| (key, before + at))),
        }
        self.actions.extend(&other.actions);
        self.lack &= other.lack;
    }

    /// The actions of a cycle, begun in the state with this key.
    fn from(&self, entry: &[u8]) -> Path {
        let at = self.keys.iter().find(|(key, _)| key == entry).map_or(0, |&(_, at)| at);
        let (before, mut cycle) = self.actions.split_at(at);
        cycle.extend(&before);
        cycle
    }
}

/// The states that a breadth-first search has visited, each with the step by which it was found first: from
/// which state, and which of its edges.
#[derive(Default)]
struct Tree {
    keys: Numbered,
    /// The hidden parts of the states, one after another.
    tails: Vec<u8>,
    found: Vec<(u32, u32)>,
}

impl Tree {
    /// Adds a state that is new; false when it is known.
    fn add(&mut self, key: &[u8], tail: &[u8], found: (u32, u32)) -> Result<bool, Full> {
        let new = matches!(self.keys.visit(key)?, Visit::New(_));
        if new {
            self.tails.extend_from_slice(tail);
            self.found.push(found);
        }
        Ok(new)
    }

    /// Bytes of memory in use.
    fn memory(&self) -> u64 {
        self.keys.memory() + (self.tails.capacity() + self.found.capacity() * 8) as u64
    }

    /// Writes a state with its hidden part.
    fn state(&self, at: u32, hidden: usize, out: &mut Vec<u8>) {
        let tail = at as usize * hidden;
        out.clear();
        out.extend_from_slice(self.keys.key(Number(at)));
        out.extend_from_slice(&self.tails[tail..tail + hidden]);
    }
}

impl Shortener<'_, '_, '_> {
    /// A cycle through `anchor` that counts.
    fn cycle(&mut self, anchor: &[u8]) -> Option<Way> {
        let mut around = Way::new();
        let mut at = anchor.to_vec();
        let home = self.system.key(anchor).to_vec();
        // The shortest way back may have all marks already.
        let (back, _) = self.search(anchor, |key, _| key == home)?;
        if back.lack == 0 {
            return Some(back);
        }
        // Its states are not needed any more, and the next searches take memory of their own.
        drop(back);
        loop {
            // Each round brings at least one mark more, so that there are at most as many rounds as marks.
            let missing = around.lack;
            let way = match missing {
                0 => {
                    if self.system.key(&at) == home {
                        return Some(around);
                    }
                    self.search(&at, |key, _| key == home)?
                }
                _ => self.search(&at, |_, step| step & missing != missing)?,
            };
            let (way, end) = way;
            around.append(way);
            at = end;
        }
    }

    /// The shortest way from the initial state to one of the states of a cycle, which is named.
    fn stem(&mut self, around: &Way) -> Option<(Vec<u8>, Path)> {
        let mut initial = Vec::new();
        self.system.initial(&mut initial).ok()?;
        if around.long {
            return None;
        }
        let targets: HashSet<&[u8]> = around.keys.iter().map(|(key, _)| key.as_slice()).collect();
        if targets.contains(self.system.key(&initial)) {
            return Some((self.system.key(&initial).to_vec(), Path::new()));
        }
        let (way, end) = self.search(&initial, |key, _| targets.contains(key))?;
        Some((self.system.key(&end).to_vec(), way.actions))
    }

    /// The shortest way from `start` to the end of a step that `is_end` finds good, by the key of the state
    /// and what the step lacks. Hidden values are those of the first way to a state.
    fn search(
        &mut self,
        start: &[u8],
        is_end: impl Fn(&[u8], MissingMarks) -> bool,
    ) -> Option<(Way, Vec<u8>)> {
        let (mut tree, mut state) = (Tree::default(), Vec::new());
        let hidden = self.system.hidden_bytes();
        let (key, tail) = start.split_at(start.len() - hidden);
        tree.add(key, tail, (0, 0)).ok()?;
        let mut next = 0;
        while (next as usize) < tree.found.len() {
            tree.state(next, hidden, &mut state);
            self.expand(&state).ok()?;
            let accepting = self.marker.is_accepting(&state);
            for at in 0..self.expansion.edges().len() {
                let edge = self.expansion.edge(at);
                let lack = self.marker.lack(accepting, edge, &self.expansion);
                let to = self.expansion.state(edge);
                let (key, tail) = to.split_at(to.len() - hidden);
                // Beyond the region nothing is known to lead back.
                if self.region.inside.is_some_and(|inside| !inside(key)) {
                    continue;
                }
                if is_end(key, lack) {
                    let to = to.to_vec();
                    return Some((self.way(&tree, (next, at as u32))?, to));
                }
                tree.add(key, tail, (next, at as u32)).ok()?;
            }
            next += 1;
            if tree.keys.n_keys() > self.region.most {
                return None;
            }
            if next.is_multiple_of(LOOKS) {
                self.budget.look_inside(0, tree.memory()).ok()?;
            }
        }
        None
    }

    /// The way to the last step, from the beginning: the states along it are expanded once more.
    fn way(&mut self, tree: &Tree, last: (u32, u32)) -> Option<Way> {
        let mut steps = vec![last];
        let mut at = last.0;
        while at != 0 {
            let step = tree.found[at as usize];
            steps.push(step);
            at = step.0;
        }
        steps.reverse();
        let (mut way, mut state, mut actions) = (Way::new(), Vec::new(), Vec::new());
        for (from, number) in steps {
            tree.state(from, self.system.hidden_bytes(), &mut state);
            self.expand(&state).ok()?;
            let accepting = self.marker.is_accepting(&state);
            let edge = self.expansion.edges().get(number as usize)?;
            let lack = self.marker.lack(accepting, edge, &self.expansion);
            actions.clear();
            self.marker.expander.actions(edge, &mut actions);
            way.push(self.system.key(&state), &actions, lack);
        }
        Some(way)
    }

    fn expand(&mut self, state: &[u8]) -> Result<(), StopReason> {
        self.expansion.clear();
        self.marker.expander.look_for_loops(false);
        self.marker.expand(state, 0, self.budget, &mut self.expansion)
    }
}
