//! The state graph: every reachable state with all its steps, for questions that no search on the way can
//! answer (branching time, bisimulation, export).
//!
//! States are numbered from 0, the initial one, in the order in which they are found, breadth-first; edges are
//! kept as compressed rows ([`csr`]). The bytes of states are forgotten when the graph is complete: a path is
//! executed once more to find its actions ([`StateGraph::retrace`]). What else is to be known of states and
//! steps is noted by a [`Visitor`] while they are explored.
//!
//! A step may have no end: a run-time error cuts it off, or an atomic sequence in which a run can stay
//! forever. Such *cuts* are kept with their states, and whoever concludes something from the graph accounts
//! for them.

pub mod csr;
pub mod paths;
pub mod steps;

use crate::cuts::{About, Cuts};
use crate::halt::obeying;
use crate::limits::Budget;
use crate::observer::{Observer, Snapshot};
use crate::outcome::{Exhausted, Extent, Outcome, Recorder, Statistics, StopReason, Warning, no_memory};
use crate::states::StateStore;
use crate::task::Task;
use csr::{Csr, CsrBuilder};
use std::collections::VecDeque;
use steps::{Steps, Target};
use store::numbering::KeyNumber;
use store::{Collapse, Numbered, Numbering, Tree};
use system::{ActionId, Fault, Path, SystemExt, TransitionSystem};

/// The most states of a graph: their numbers have 32 bits.
pub const MOST_STATES: u64 = u32::MAX as u64 - 1;

/// Notes what is to be known of states and steps.
pub trait Visitor {
    /// A state, in the order of numbers; `stuck`: no step is possible.
    fn state(&mut self, state: &[u8], stuck: bool);

    /// The label of a step that the state visited last takes with these actions.
    fn step(&mut self, state: &[u8], actions: &[ActionId]) -> u32;

    /// Whether steps have labels.
    fn wants_steps(&self) -> bool;

    /// Bytes in use.
    fn memory(&self) -> u64;
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

/// Explores all states and steps of `system`; states are kept in a store of at most `memory` bytes.
pub fn explore(
    system: &dyn TransitionSystem,
    (store, memory): (StateStore, u64),
    task: &Task<'_>,
    visitor: &mut dyn Visitor,
    observer: &mut dyn Observer,
) -> Explored {
    let components = system.capabilities().components;
    let cut = move |key: &[u8], out: &mut Vec<usize>| {
        components.iter().for_each(|system| system.cuts(key, out));
    };
    match store {
        StateStore::Table => Explorer::run(system, Numbered::new(memory), task, visitor, observer),
        StateStore::Tree(roots) => {
            Explorer::run(system, Tree::numbered(roots, memory), task, visitor, observer)
        }
        StateStore::Collapse => Explorer::run(system, Collapse::new(cut, memory), task, visitor, observer),
    }
}

/// A breadth-first search that keeps all edges.
struct Explorer<'a, S: Numbering> {
    system: &'a dyn TransitionSystem,
    store: S,
    visitor: &'a mut dyn Visitor,
    budget: Budget<'a>,
    steps: Steps<'a>,
    tickets: Vec<S::Ticket>,
    /// States that wait, each behind its length.
    queue: VecDeque<u8>,
    edges: CsrBuilder,
    labels: Vec<u32>,
    cuts: Vec<Cut>,
    ledger: Cuts,
    /// The first steps without an end: the state, the actions, and the error (an endless sequence has none).
    ways: Vec<(u32, Vec<ActionId>, Option<Fault>)>,
    statistics: Statistics,
}

impl<'a, S: Numbering> Explorer<'a, S> {
    fn run(
        system: &'a dyn TransitionSystem,
        store: S,
        task: &Task<'a>,
        visitor: &'a mut dyn Visitor,
        observer: &'a mut dyn Observer,
    ) -> Explored {
        let mut explorer = Explorer {
            system,
            store,
            visitor,
            budget: Budget::new(task, observer),
            steps: Steps::new(system),
            tickets: Vec::new(),
            queue: VecDeque::new(),
            edges: CsrBuilder::default(),
            labels: Vec::new(),
            cuts: Vec::new(),
            ledger: Cuts::default(),
            ways: Vec::new(),
            statistics: Statistics::default(),
        };
        let stop = obeying(|| explorer.explore()).err().unwrap_or(StopReason::Completed);
        explorer.conclude(stop, task)
    }

    fn explore(&mut self) -> Result<(), StopReason> {
        let mut state = Vec::new();
        if let Err(fault) = self.system.initial(&mut state) {
            self.ledger.by_error(&fault);
            self.ways.push((0, Vec::new(), Some(fault)));
            return Ok(());
        }
        let ticket = self.store.hash(self.system.key(&state)).map_err(|_| StopReason::MemoryLimit)?;
        self.store.visit(self.system.key(&state), ticket).map_err(|_| StopReason::MemoryLimit)?;
        self.wait(&state)?;
        // The first state of the next level.
        let mut next_level = 1;
        while self.take(&mut state) {
            if self.edges.n_rows() as u64 == next_level {
                self.statistics.depth += 1;
                next_level = self.store.n_keys();
            }
            if self.budget.tick()? {
                let snapshot = self.snapshot();
                self.budget.look(|| snapshot)?;
            }
            self.expand(&state)?;
        }
        Ok(())
    }

    fn snapshot(&self) -> Snapshot {
        let (states, own) = (self.store.n_keys(), self.edges.memory() + self.visitor.memory());
        let labels = (self.labels.capacity() * 4 + self.cuts.capacity() * size_of::<Cut>()) as u64;
        Snapshot {
            states,
            transitions: self.statistics.transitions,
            depth: self.statistics.depth,
            frontier: states - self.edges.n_rows() as u64,
            memory: self.store.memory() + own + labels + self.queue.capacity() as u64,
            ..Snapshot::default()
        }
    }

    /// Puts a state at the end of the queue.
    fn wait(&mut self, state: &[u8]) -> Result<(), StopReason> {
        self.queue.try_reserve(state.len() + 4).map_err(no_memory)?;
        self.queue.extend((state.len() as u32).to_le_bytes());
        self.queue.extend(state);
        Ok(())
    }

    /// Takes the first state of the queue.
    fn take(&mut self, state: &mut Vec<u8>) -> bool {
        if self.queue.is_empty() {
            return false;
        }
        let mut length = [0; 4];
        length.iter_mut().zip(self.queue.drain(..4)).for_each(|(to, byte)| *to = byte);
        state.clear();
        state.extend(self.queue.drain(..u32::from_le_bytes(length) as usize));
        true
    }

    /// Expands a state and keeps its edges.
    fn expand(&mut self, state: &[u8]) -> Result<(), StopReason> {
        self.steps.expand(state, &mut self.budget)?;
        self.visitor.state(state, self.steps.is_stuck());
        self.statistics.vector_bytes = self.statistics.vector_bytes.max(state.len() as u64);
        self.note_cuts(state)?;
        self.store.depart(self.system.key(state));
        self.tickets.clear();
        let (steps, system) = (&self.steps, self.system);
        let keys = steps.targets().iter().map(|target| system.key(&steps.bytes()[target.bytes.clone()]));
        self.store.hash_all(keys, &mut self.tickets).map_err(|_| StopReason::MemoryLimit)?;
        self.store.probe_all(&mut self.tickets);
        for at in 0..self.steps.targets().len() {
            let Target { bytes, actions } = self.steps.targets()[at].clone();
            let (key, ticket) = (self.system.key(&self.steps.bytes()[bytes.clone()]), self.tickets[at]);
            let full = self.budget.states_spent(self.store.n_keys()) || self.store.n_keys() >= MOST_STATES;
            if full && self.store.number(key, ticket).is_none() {
                return Err(StopReason::StateLimit);
            }
            let entry = self.store.visit(key, ticket).map_err(|_| StopReason::MemoryLimit)?;
            self.statistics.transitions += 1;
            self.statistics.matched += u64::from(!entry.new);
            self.edges.push(entry.number.index() as u32).map_err(no_memory)?;
            if self.visitor.wants_steps() {
                self.labels.try_reserve(1).map_err(no_memory)?;
                let actions = &self.steps.actions()[actions];
                self.labels.push(self.visitor.step(state, actions));
            }
            if entry.new {
                let target = self.steps.bytes()[bytes].to_vec();
                self.wait(&target)?;
            }
        }
        self.edges.end_row().map_err(no_memory)
    }

    /// Keeps the steps of a state that have no end.
    fn note_cuts(&mut self, state: &[u8]) -> Result<(), StopReason> {
        let number = self.edges.n_rows() as u32;
        for at in 0..self.steps.cuts().len() {
            let cut = &self.steps.cuts()[at];
            let actions = &self.steps.actions()[cut.actions.clone()];
            let label = if self.visitor.wants_steps() { self.visitor.step(state, actions) } else { 0 };
            self.cuts.try_reserve(1).map_err(no_memory)?;
            self.cuts.push(Cut { state: number, label });
            match &cut.fault {
                Some(fault) => self.ledger.by_error(fault),
                None => self.ledger.in_atomic_loop(),
            }
            let known = self.ways.iter().any(|(_, _, fault)| match (fault, &cut.fault) {
                (Some(a), Some(b)) => (a.kind, &a.file, a.line) == (b.kind, &b.file, b.line),
                (a, b) => a.is_none() && b.is_none(),
            });
            if !known {
                self.ways.push((number, actions.to_vec(), cut.fault.clone()));
            }
        }
        Ok(())
    }

    fn conclude(mut self, stop: StopReason, task: &Task<'_>) -> Explored {
        self.statistics.states = self.store.n_keys();
        self.statistics.state_bytes = self.store.memory();
        let Explorer { system, store, edges, labels, cuts, ledger, ways, statistics, .. } = self;
        drop(store);
        let graph = StateGraph { edges: edges.finish(), labels, cuts };
        let mut found = Recorder::default();
        for (state, actions, fault) in ways {
            let silent = &mut crate::observer::Silent;
            let Some(edges) = paths::to(&graph.edges, state) else { continue };
            let Ok((mut path, _)) = graph.retrace(system, &edges, task, silent) else { continue };
            path.extend(&actions);
            match fault {
                Some(fault) => found.cut(fault, || path),
                None => found.warnings.push(Warning::AtomicLoop(path)),
            }
        }
        let complete = stop == StopReason::Completed && statistics.states > 0;
        let extent = Extent { stop, about: About::Runs, cuts: ledger, lossless: S::LOSSLESS };
        let outcome = Outcome::conclude(extent, &task.checks, found, statistics);
        Explored { graph, outcome, complete: complete && S::LOSSLESS }
    }
}

#[cfg(test)]
mod tests;
