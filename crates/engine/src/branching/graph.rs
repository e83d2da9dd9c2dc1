//! The graph of a model, with what formulas ask of its states and steps.

use super::question::{Questions, TOGETHER};
use crate::backend::{Backend, ProgramBackend};
use graph::sets::StateFacts;
use graph::{Bits, ExplicitSets, StepClass};
use machine::action::Action;
use mu::{Atom, Steps};
use promela::ir::StepFilter;
use search::state_graph::{Explored, StateGraph, Visitor, explore};
use search::states::StateStore;
use search::{Observer, Task};
use std::collections::HashMap;
use stop::Stop;
use system::{ActionId, Processes, TransitionSystem};

/// A set of processes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct ProcessSet([u64; 4]);

impl ProcessSet {
    fn insert(&mut self, pid: u32) {
        if let Some(word) = self.0.get_mut(pid as usize / 64) {
            *word |= 1 << (pid % 64);
        }
    }

    fn has(&self, pid: u32) -> bool {
        self.0.get(pid as usize / 64).is_some_and(|word| word >> (pid % 64) & 1 == 1)
    }
}

/// What is known of steps with one label.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct StepFacts {
    /// The process that begins it.
    owner: u32,
    /// The processes that move.
    moved: ProcessSet,
    /// The filters that it passes, a bit each.
    filters: u64,
}

/// The labels of steps.
#[derive(Debug, Default)]
struct StepTable {
    facts: Vec<StepFacts>,
    numbers: HashMap<StepFacts, u32>,
}

impl StepClass for StepTable {
    fn is_of(&self, label: u32, steps: Steps) -> bool {
        let facts = &self.facts[label as usize];
        match steps {
            Steps::All => true,
            Steps::Filter(number) => facts.filters >> number & 1 == 1,
            Steps::Process(pid) => facts.moved.has(pid),
        }
    }

    fn owner(&self, label: u32) -> u32 {
        self.facts[label as usize].owner
    }
}

/// The graph of a model.
pub struct ExploredGraph {
    /// The graph, and how exploring it ended.
    pub explored: Explored,
    propositions: Vec<Bits>,
    stuck: Bits,
    valid_ends: Bits,
    steps: StepTable,
    /// One more than the largest number of a process.
    pub n_processes: u32,
}

impl ExploredGraph {
    /// Explores the system of a backend that tells the propositions of the questions. `fair`: processes are
    /// told apart.
    pub fn new(
        backend: &ProgramBackend,
        questions: &Questions,
        fair: bool,
        store: (StateStore, u64),
        (task, observer): (&Task<'_>, &mut dyn Observer),
    ) -> ExploredGraph {
        let system = backend.system();
        let mut notes = Notes {
            backend,
            system,
            questions,
            processes: system.capabilities().processes,
            wants_steps: fair || !questions.filters.is_empty(),
            propositions: vec![Bits::default(); questions.propositions.len()],
            stuck: Bits::default(),
            valid_ends: Bits::default(),
            steps: StepTable::default(),
            n_processes: 0,
            filtered: None,
        };
        let explored = explore(system, store, task, &mut notes, observer);
        let Notes { propositions, stuck, valid_ends, steps, n_processes, .. } = notes;
        let n = explored.graph.n_states();
        // A state that was visited, but not expanded to its end, is none.
        let fitted = |bits: Bits| bits.first(n);
        ExploredGraph {
            propositions: propositions.into_iter().map(fitted).collect(),
            stuck: fitted(stuck),
            valid_ends: fitted(valid_ends),
            explored,
            steps,
            n_processes,
        }
    }

    /// The graph.
    pub fn graph(&self) -> &StateGraph {
        &self.explored.graph
    }

    /// Its sets of states.
    pub fn sets<'a>(&'a self, stop: &'a Stop) -> ExplicitSets<'a> {
        let facts =
            StateFacts { propositions: &self.propositions, stuck: &self.stuck, valid_ends: &self.valid_ends };
        ExplicitSets::new(self.graph(), &self.steps, facts, stop)
    }
}

/// Notes what formulas ask, while the graph is explored.
struct Notes<'a> {
    backend: &'a ProgramBackend,
    system: &'a dyn TransitionSystem,
    questions: &'a Questions,
    processes: Option<&'a dyn Processes>,
    wants_steps: bool,
    propositions: Vec<Bits>,
    stuck: Bits,
    valid_ends: Bits,
    steps: StepTable,
    n_processes: u32,
    /// For the filters: the proctypes and locations of the state visited last.
    filtered: Option<Vec<(promela::ir::ProctypeId, promela::ir::LocId)>>,
}

impl Visitor for Notes<'_> {
    fn state(&mut self, state: &[u8], stuck: bool) {
        if let Some(system) = self.system.capabilities().propositions {
            for (set, chunk) in self.propositions.chunks_mut(TOGETHER).enumerate() {
                let values = system.propositions(set, state);
                chunk.iter_mut().enumerate().for_each(|(bit, bits)| bits.push(values >> bit & 1 == 1));
            }
        }
        self.stuck.push(stuck);
        self.valid_ends.push(self.system.labels(state).valid_end);
        self.filtered = None;
        if self.wants_steps {
            let n = self.processes.map_or(0, |processes| processes.n_processes(state) as u32);
            self.n_processes = self.n_processes.max(n);
        }
    }

    fn step(&mut self, state: &[u8], actions: &[ActionId]) -> u32 {
        let (mut moved, mut owner) = (ProcessSet::default(), u32::MAX);
        if let (Some(processes), Some(&first)) = (self.processes, actions.first()) {
            owner = processes.process_of(first);
            for &action in actions {
                moved.insert(processes.process_of(action));
                processes.partner_of(action).into_iter().for_each(|pid| moved.insert(pid));
            }
        }
        let filters = self.filters(state, actions);
        let facts = StepFacts { owner, moved, filters };
        let next = self.steps.facts.len() as u32;
        let label = *self.steps.numbers.entry(facts).or_insert(next);
        if label == next {
            self.steps.facts.push(facts);
        }
        label
    }

    fn wants_steps(&self) -> bool {
        self.wants_steps
    }

    fn memory(&self) -> u64 {
        self.propositions.iter().chain([&self.stuck, &self.valid_ends]).map(Bits::memory).sum()
    }
}

impl Notes<'_> {
    /// The filters that a step passes: it belongs to the process that begins it and, if that is a rendezvous,
    /// to the receiver.
    fn filters(&mut self, state: &[u8], actions: &[ActionId]) -> u64 {
        let (Some(&first), false) = (actions.first(), self.questions.filters.is_empty()) else { return 0 };
        let (backend, questions) = (self.backend, self.questions);
        let places = self.filtered.get_or_insert_with(|| {
            let anatomy = backend.interp().and_then(|interp| interp.take_apart(&backend.to_interp(state)));
            let processes = anatomy.map_or_else(Vec::new, |anatomy| anatomy.processes);
            processes.iter().map(|process| (process.proctype, process.location)).collect()
        });
        let action = Action::unpack(first);
        let pids = [Some(action.pid), action.partner.map(|(pid, _)| pid)];
        let passes = |filter: &StepFilter| {
            pids.into_iter().flatten().any(|pid| {
                let Some(&(proctype, location)) = places.get(pid) else { return false };
                filter.proctype.is_none_or(|wanted| wanted == proctype)
                    && filter.pid.is_none_or(|wanted| wanted as usize == pid)
                    && filter.at.is_none_or(|wanted| wanted == location)
            })
        };
        let all = questions.filters.iter().enumerate();
        all.filter(|(_, filter)| passes(filter)).map(|(bit, _)| 1 << bit).sum()
    }
}

/// The value of an atom in a state of the reference machine, for who replays a run.
pub fn atom_value(atom: Atom, propositions: &[u64], stuck: bool, valid_end: bool) -> Option<bool> {
    Some(match atom {
        Atom::True => true,
        Atom::Proposition(number) => {
            let number = number as usize;
            propositions.get(number / TOGETHER).is_some_and(|set| set >> (number % TOGETHER) & 1 == 1)
        }
        Atom::ValidEnd => valid_end,
        Atom::Enabled(Steps::All) => !stuck,
        Atom::Enabled(_) => return None,
    })
}
