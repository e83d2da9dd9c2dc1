//! The graph of a model, with what formulas ask of its states and steps.

use super::question::{Questions, TOGETHER};
use crate::backend::{Backend, ProgramBackend};
use graph::sets::StateFacts;
use graph::{Bits, ExplicitSets, StepClass};
use machine::action::Action;
use mu::{Atom, Decision, Steps};
use promela::ir::StepFilter;
use search::state_graph::{Explored, Looker, Lookers, Means, Notes, Scene, StateGraph, explore};
use search::{Observer, Task};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use stop::Stop;
use system::{ActionId, Processes, TransitionSystem};

/// A set of agents (`system::Processes`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct AgentSet([u64; 4]);

/// The most agents that fairness can be about.
pub const MOST_AGENTS: u32 = 256;

impl AgentSet {
    fn insert(&mut self, agent: u32) {
        if let Some(word) = self.0.get_mut(agent as usize / 64) {
            *word |= 1 << (agent % 64);
        }
    }

    fn has(&self, agent: u32) -> bool {
        self.0.get(agent as usize / 64).is_some_and(|word| word >> (agent % 64) & 1 == 1)
    }
}

/// What is known of steps with one label.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct StepFacts {
    /// The agent that begins it.
    owner: u32,
    /// The agents that move.
    moved: AgentSet,
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
    /// For each question the state that decides it, and how, where one does and was found.
    pub decided: Vec<Option<(u32, bool)>>,
    propositions: Vec<Bits>,
    stuck: Bits,
    valid_ends: Bits,
    steps: StepTable,
    /// One more than the largest number of an agent.
    pub n_agents: u32,
}

/// How a graph is explored.
#[derive(Clone, Copy, Debug)]
pub struct Exploring {
    /// Fairness counts: processes are told apart.
    pub fair: bool,
    /// The search may end where single states have decided all questions.
    pub may_end_early: bool,
    /// Where states are kept, and by how many threads they are found.
    pub means: Means,
}

impl ExploredGraph {
    /// Explores the system of a backend that tells the propositions of the questions.
    pub fn new(
        backend: &ProgramBackend,
        questions: &Questions,
        exploring: Exploring,
        (task, observer): (&Task<'_>, &mut dyn Observer),
    ) -> ExploredGraph {
        let system = backend.system();
        let watch = Watch {
            backend,
            system,
            questions,
            processes: system.capabilities().processes,
            wants_steps: exploring.fair || !questions.filters.is_empty(),
            steps: Mutex::default(),
        };
        let decisions = questions.list.iter().map(|question| Decision::of(&question.formula));
        let mut kept = KeptNotes {
            propositions: vec![Bits::default(); questions.propositions.list.len()],
            stuck: Bits::default(),
            valid_ends: Bits::default(),
            n_agents: 0,
            decisions: decisions.collect(),
            decided: vec![None; questions.list.len()],
            may_end_early: exploring.may_end_early,
        };
        let scene = Scene { system, lookers: &watch, notes: &mut kept };
        let explored = explore(scene, exploring.means, task, observer);
        let steps = watch.steps.into_inner().unwrap_or_else(PoisonError::into_inner);
        let KeptNotes { propositions, stuck, valid_ends, n_agents, decided, .. } = kept;
        let n = explored.graph.n_states();
        // A state that was visited, but not expanded to its end, is none.
        let fitted = |bits: Bits| bits.first(n);
        ExploredGraph {
            propositions: propositions.into_iter().map(fitted).collect(),
            stuck: fitted(stuck),
            valid_ends: fitted(valid_ends),
            decided,
            explored,
            steps,
            n_agents,
        }
    }

    /// The graph.
    pub fn graph(&self) -> &StateGraph {
        &self.explored.graph
    }

    /// Whether all questions can be answered.
    pub fn is_conclusive(&self) -> bool {
        self.explored.exhausted(true).is_some() || self.decided.iter().all(Option::is_some)
    }

    /// Its sets of states.
    pub fn sets<'a>(&'a self, stop: &'a Stop) -> ExplicitSets<'a> {
        let facts =
            StateFacts { propositions: &self.propositions, stuck: &self.stuck, valid_ends: &self.valid_ends };
        ExplicitSets::new(self.graph(), &self.steps, facts, stop)
    }
}

/// What formulas ask of states and steps.
struct Watch<'a> {
    backend: &'a ProgramBackend,
    system: &'a dyn TransitionSystem,
    questions: &'a Questions,
    processes: Option<&'a dyn Processes>,
    wants_steps: bool,
    steps: Mutex<StepTable>,
}

/// Sees it, for one thread.
struct Look<'w, 'a> {
    watch: &'w Watch<'a>,
    /// The labels that this thread has met.
    known: HashMap<StepFacts, u32>,
    /// For the filters: the proctypes and locations of the state seen last.
    filtered: Option<Vec<(promela::ir::ProctypeId, promela::ir::LocId)>>,
}

impl Lookers for Watch<'_> {
    fn looker(&self) -> Box<dyn Looker + '_> {
        Box::new(Look { watch: self, known: HashMap::new(), filtered: None })
    }

    fn wants_steps(&self) -> bool {
        self.wants_steps
    }
}

/// The first word that is told of a state; the number of agents and sets of propositions follow.
const STUCK: u64 = 1;
const VALID_END: u64 = 2;

impl Looker for Look<'_, '_> {
    fn state(&mut self, state: &[u8], stuck: bool, words: &mut Vec<u64>) {
        let Watch { system, questions, processes, wants_steps, .. } = *self.watch;
        let valid_end = if system.labels(state).valid_end { VALID_END } else { 0 };
        words.push(valid_end | if stuck { STUCK } else { 0 });
        let processes = processes.filter(|_| wants_steps);
        words.push(processes.map_or(0, |processes| processes.n_agents(state) as u64));
        let sets = questions.propositions.list.len().div_ceil(TOGETHER);
        let propositions = system.capabilities().propositions;
        words.extend((0..sets).map(|set| propositions.map_or(0, |system| system.propositions(set, state))));
        self.filtered = None;
    }

    fn step(&mut self, state: &[u8], actions: &[ActionId]) -> u32 {
        let (mut moved, mut owner) = (AgentSet::default(), u32::MAX);
        if let (Some(processes), Some(&first)) = (self.watch.processes, actions.first()) {
            owner = processes.agent_of(first);
            for &action in actions {
                moved.insert(processes.agent_of(action));
                processes.partner_agent_of(action).into_iter().for_each(|pid| moved.insert(pid));
            }
        }
        let filters = self.filters(state, actions);
        let facts = StepFacts { owner, moved, filters };
        let steps = &self.watch.steps;
        *self.known.entry(facts).or_insert_with(|| {
            let mut table = steps.lock().unwrap_or_else(PoisonError::into_inner);
            let next = table.facts.len() as u32;
            let label = *table.numbers.entry(facts).or_insert(next);
            if label == next {
                table.facts.push(facts);
            }
            label
        })
    }
}

impl Look<'_, '_> {
    /// The filters that a step passes: it belongs to the process that begins it and, if that is a rendezvous,
    /// to the receiver.
    fn filters(&mut self, state: &[u8], actions: &[ActionId]) -> u64 {
        let Watch { backend, questions, .. } = *self.watch;
        let (Some(&first), false) = (actions.first(), questions.filters.is_empty()) else { return 0 };
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

/// What is kept of states.
struct KeptNotes {
    propositions: Vec<Bits>,
    stuck: Bits,
    valid_ends: Bits,
    n_agents: u32,
    /// For each question the states that decide it, if single ones do; and the first that was found.
    decisions: Vec<Option<Decision>>,
    decided: Vec<Option<(u32, bool)>>,
    may_end_early: bool,
}

impl Notes for KeptNotes {
    fn state(&mut self, words: &[u64]) -> bool {
        let [flags, n_agents, sets @ ..] = words else { return false };
        let (stuck, valid_end) = (flags & STUCK != 0, flags & VALID_END != 0);
        let number = self.stuck.len() as u32;
        for (chunk, values) in self.propositions.chunks_mut(TOGETHER).zip(sets) {
            chunk.iter_mut().enumerate().for_each(|(bit, bits)| bits.push(values >> bit & 1 == 1));
        }
        self.stuck.push(stuck);
        self.valid_ends.push(valid_end);
        self.n_agents = self.n_agents.max(*n_agents as u32);
        let value = |atom: Atom| atom_value(atom, sets, stuck, valid_end).unwrap_or(false);
        let mut news = false;
        for (decision, decided) in self.decisions.iter().zip(&mut self.decided) {
            let Some(decision) = decision.as_ref().filter(|_| decided.is_none()) else { continue };
            if decision.goal.holds_where(&value) {
                *decided = Some((number, decision.holds));
                news = true;
            }
        }
        news && self.may_end_early && self.decided.iter().all(Option::is_some)
    }

    fn memory(&self) -> u64 {
        self.propositions.iter().chain([&self.stuck, &self.valid_ends]).map(Bits::memory).sum()
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
