//! From a set of states to a run: saturation keeps no distances, so these are computed when a run is wanted.
//!
//! Rings of pre-images are laid around the target, within the reachable states, until one holds the initial
//! state; then the system itself is walked from ring to ring. So the run is a shortest one, in steps between
//! stored states.

use ldd::Set;
use search::expand::{Expander, Expansion};
use search::limits::Budget;
use search::{Silent, Task};
use system::{Path, TransitionSystem};

use crate::space::{Ended, Space};

/// A run from the initial state, and where it ends.
#[derive(Debug, Default)]
pub struct Walk {
    /// The actions.
    pub path: Path,
    /// The last state.
    pub state: Vec<u8>,
}

/// Walks on a system that a space is about.
pub struct Walker<'a> {
    system: &'a dyn TransitionSystem,
    task: &'a Task<'a>,
    /// The steps of the state that was expanded last.
    pub expansion: Expansion,
    expander: Expander<'a>,
}

impl<'a> Walker<'a> {
    /// A walker on the whole system.
    pub fn new(system: &'a dyn TransitionSystem, task: &'a Task<'a>) -> Self {
        let mut expander = Expander::new(system, None);
        expander.set_exact(true);
        Walker { system, task, expansion: Expansion::default(), expander }
    }

    /// Expands a state.
    pub fn expand(&mut self, state: &[u8]) -> Result<(), Ended> {
        let mut silent = Silent;
        let task = Task { reduce: None, ..*self.task };
        let mut budget = Budget::new(&task, &mut silent);
        self.expansion.clear();
        self.expander.expand(state, 0, &mut budget, &mut self.expansion).map_err(Ended::Stopped)
    }

    /// A shortest run from the initial state into `target`, which is a part of the reachable states `all`.
    /// Nothing when the target is empty.
    pub fn to(&mut self, space: &mut Space<'_>, target: Set, all: Set) -> Result<Option<Walk>, Ended> {
        let mut walk = Walk::default();
        if target.is_empty() || self.system.initial(&mut walk.state).is_err() {
            return Ok(None);
        }
        let first = space.vector(&walk.state)?;
        let rings = rings(space, target, all, &first)?;
        for &ring in rings.iter().rev().skip(1) {
            self.step(space, &mut walk, ring)?;
        }
        Ok(Some(walk))
    }

    /// Takes one step into a set.
    pub fn step(&mut self, space: &mut Space<'_>, walk: &mut Walk, into: Set) -> Result<(), Ended> {
        self.expand(&walk.state)?;
        for edge in self.expansion.edges() {
            let vector = space.vector(self.expansion.state(edge))?;
            if space.known.ldd.contains(into, &vector) {
                let mut actions = Vec::new();
                self.expander.actions(edge, &mut actions);
                walk.path.extend(&actions);
                let next = self.expansion.state(edge).to_vec();
                walk.state = next;
                return Ok(());
            }
        }
        Err(Ended::Broken("a step that was learned cannot be taken".to_string()))
    }
}

/// The target, the states one step before it, and so on to the first set that holds the vector.
fn rings(space: &mut Space<'_>, target: Set, all: Set, first: &[u32]) -> Result<Vec<Set>, Ended> {
    let (mut rings, mut rest) = (vec![target], space.known.ldd.minus(all, target)?);
    let mut ring = target;
    while !space.known.ldd.contains(ring, first) {
        ring = space.before(ring, rest)?;
        if ring.is_empty() {
            return Err(Ended::Broken("a reachable state cannot be reached".to_string()));
        }
        rest = space.known.ldd.minus(rest, ring)?;
        rings.push(ring);
    }
    Ok(rings)
}
