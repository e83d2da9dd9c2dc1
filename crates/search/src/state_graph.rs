//! The state graph: every reachable state with all its steps, for questions that no search on the way can
//! answer (branching time, bisimulation, export).
//!
//! States are numbered from 0, the initial one, in the order in which they are found, breadth-first; edges
//! are kept as compressed rows ([`csr`]). The bytes of states are forgotten when the graph is complete: a
//! path is executed once more to find its actions ([`StateGraph::retrace`]). What else is to be known of
//! states and steps is seen by [`Lookers`] while they are explored, and what is seen of states is kept by
//! [`Notes`].
//!
//! States are expanded and looked at by many threads, and numbered by one (`explorer.rs`, `ahead.rs`): so the
//! graph is the same for any number of threads. Notes may say that enough is known: then the search ends
//! before its end, at a state that decides what is asked.
//!
//! A step may have no end: a run-time error cuts it off, or an atomic sequence in which a run can stay
//! forever. Such *cuts* are kept with their states, and whoever concludes something from the graph accounts
//! for them.

mod ahead;
mod batch;
pub mod csr;
mod explorer;
pub mod paths;
pub mod steps;

use crate::limits::Budget;
use crate::observer::Observer;
use crate::outcome::{Exhausted, Outcome, StopReason};
use crate::states::StateStore;
use crate::task::Task;
use csr::Csr;
use explorer::Explorer;
use steps::{Steps, Target};
use store::{Collapse, Numbered, Tree};
use system::{ActionId, Path, TransitionSystem};

/// The most states of a graph: their numbers have 32 bits.
pub const MOST_STATES: u64 = u32::MAX as u64 - 1;

/// Looks at states and steps for one thread.
pub trait Looker {
    /// Tells of a state, in words that are kept by [`Notes`]; `stuck`: no step is possible.
    fn state(&mut self, state: &[u8], stuck: bool, words: &mut Vec<u64>);

    /// The label of a step that the state looked at last takes with these actions. Which numbers labels get
    /// may depend on which thread was first to see them; which steps share one may not.
    fn step(&mut self, state: &[u8], actions: &[ActionId]) -> u32;
}

/// Where lookers come from.
pub trait Lookers: Sync {
    /// One for one more thread.
    fn looker(&self) -> Box<dyn Looker + '_>;

    /// Whether steps have labels.
    fn wants_steps(&self) -> bool;
}

/// Keeps what was seen of states.
pub trait Notes {
    /// What was told of a state, in the order of numbers. True when enough is known of the graph.
    fn state(&mut self, words: &[u64]) -> bool;

    /// Bytes in use.
    fn memory(&self) -> u64;
}

/// What is explored, and who looks on.
pub struct Scene<'a> {
    /// The system.
    pub system: &'a dyn TransitionSystem,
    /// Who sees states and steps.
    pub lookers: &'a dyn Lookers,
    /// Who keeps what was seen.
    pub notes: &'a mut dyn Notes,
}

/// Where states are kept, and how many threads explore them.
#[derive(Clone, Copy, Debug)]
pub struct Means {
    /// The store.
    pub store: StateStore,
    /// Its bytes at most.
    pub memory: u64,
    /// Threads.
    pub threads: usize,
}

/// A step without an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The state that it leaves.
    pub state: u32,
    /// Its label; 0 where steps have none.
    pub label: u32,
}

/// The graph of a system.
#[derive(Debug, Default)]
pub struct StateGraph {
    /// The edges.
    pub edges: Csr,
    /// Labels of edges, in their order; nothing where steps have none.
    pub labels: Vec<u32>,
    /// Steps without an end, in the order of states.
    pub cuts: Vec<Cut>,
}

/// What exploring a system gave.
#[derive(Debug)]
pub struct Explored {
    /// The graph: all of it, if the outcome says that the search was completed.
    pub graph: StateGraph,
    /// How the search ended.
    pub outcome: Outcome,
    complete: bool,
}

impl Explored {
    /// The proof that every state and every step was seen; `cuts_count` says that those who conclude something
    /// account for steps without an end.
    pub fn exhausted(&self, cuts_count: bool) -> Option<Exhausted> {
        let whole = self.complete && (cuts_count || self.graph.cuts.is_empty());
        whole.then(Exhausted::of_whole_graph)
    }
}

impl StateGraph {
    /// The number of states.
    pub fn n_states(&self) -> usize {
        self.edges.n_rows()
    }

    /// Bytes in use.
    pub fn memory(&self) -> u64 {
        self.edges.memory() + (self.labels.capacity() * 4 + self.cuts.capacity() * size_of::<Cut>()) as u64
    }

    /// The actions along a path from the initial state, an edge of the graph at a time, and for each edge how
    /// many there are up to its end.
    pub fn retrace(
        &self,
        system: &dyn TransitionSystem,
        edges: &[u64],
        task: &Task<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(Path, Vec<usize>), StopReason> {
        let mut budget = Budget::new(task, observer);
        let (mut steps, mut state) = (Steps::new(system), Vec::new());
        let (mut path, mut ends, mut number) = (Path::new(), Vec::new(), 0usize);
        if system.initial(&mut state).is_err() {
            return Ok((path, ends));
        }
        for &edge in edges {
            let at = (edge - self.edges.first(number)) as usize;
            steps.expand(&state, &mut budget)?;
            let Target { bytes, actions } = steps.targets()[at].clone();
            path.extend(&steps.actions()[actions]);
            ends.push(path.len());
            state = steps.bytes()[bytes].to_vec();
            number = self.edges.target(edge) as usize;
        }
        Ok((path, ends))
    }
}

/// Explores all states and steps of a system.
pub fn explore<'a>(
    scene: Scene<'a>,
    means: Means,
    task: &'a Task<'a>,
    observer: &'a mut dyn Observer,
) -> Explored {
    let components = scene.system.capabilities().components;
    let cut = move |key: &[u8], out: &mut Vec<usize>| {
        components.iter().for_each(|system| system.cuts(key, out));
    };
    let Means { store, memory, threads } = means;
    match store {
        StateStore::Table => Explorer::run(scene, Numbered::new(memory), threads, task, observer),
        StateStore::Tree(roots) => {
            Explorer::run(scene, Tree::numbered(roots, memory), threads, task, observer)
        }
        StateStore::Collapse => Explorer::run(scene, Collapse::new(cut, memory), threads, task, observer),
    }
}

#[cfg(test)]
mod tests;
