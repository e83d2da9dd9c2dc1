//! What searches for cycles by one worker have in common, whatever they do with the states: a store (`S`),
//! the expansion of a state, limits, and what was found.

use crate::cuts::About;
use crate::expand::Expansion;
use crate::judged::{Judged, initial_state};
use crate::limits::Budget;
use crate::marks::Marker;
use crate::ndfs::Cycles;
use crate::observer::Snapshot;
use crate::outcome::{Extent, Outcome, Recorder, Statistics, StopReason, Warning, no_memory};
use crate::random::Random;
use crate::stack::Stack;
use crate::state_key::key;
use crate::task::Task;
use store::{Batched, Entry, Numbering};
use system::{ActionId, Fault, TransitionSystem};

/// Explores states, one at a time.
pub(crate) struct Explorer<'a, S: Batched> {
    pub system: &'a dyn TransitionSystem,
    pub cycles: &'a Cycles,
    pub budget: Budget<'a>,
    pub marker: Marker<'a>,
    /// What the state explored last gave.
    pub expansion: Expansion,
    /// In which order its edges are looked at, and the tickets of their ends in that order.
    pub order: Vec<usize>,
    pub tickets: Vec<S::Ticket>,
    pub store: S,
    /// Keys in the store that are no states.
    pub no_states: u64,
    pub hidden: usize,
    pub found: Recorder,
    pub statistics: Statistics,
    pub task: &'a Task<'a>,
    random: Option<Random>,
}

impl<'a, S: Batched> Explorer<'a, S> {
    pub fn new(
        system: &'a dyn TransitionSystem,
        cycles: &'a Cycles,
        task: &'a Task<'a>,
        budget: Budget<'a>,
        store: S,
    ) -> Self {
        Explorer {
            system,
            cycles,
            budget,
            marker: Marker::new(system, cycles.acceptance),
            expansion: Expansion::default(),
            order: Vec::new(),
            tickets: Vec::new(),
            store,
            no_states: 0,
            hidden: system.hidden_bytes(),
            found: Recorder::default(),
            statistics: Statistics::default(),
            task,
            random: task.seed.map(Random::new),
        }
    }

    /// Puts the initial state at the beginning of a path; false when there is none. That is not the claim's
    /// business, unless it has come to its end already.
    pub fn begin<T>(&mut self, stack: &mut Stack<T>) -> Result<bool, StopReason> {
        match initial_state(self.system, &self.task.checks) {
            Ok(initial) => stack.begin(&initial).map(|()| true).map_err(no_memory),
            Err(missing) => self.found.no_initial_state(missing, self.task).map(|()| false),
        }
    }

    /// How many states were found.
    pub fn n_states(&self) -> u64 {
        self.store.n_keys() - self.no_states
    }

    /// What is asked of the store about a state.
    pub fn prepare(&mut self, state: &[u8]) -> Result<S::Ticket, StopReason> {
        self.store.hash(key(state, self.hidden)).map_err(|_| StopReason::MemoryLimit)
    }

    /// Expands the new state at the end of a path, notes what is wrong, and lines up its edges. `memory` is
    /// what the search uses beside the store and the stack.
    pub fn explore<T>(&mut self, stack: &Stack<T>, memory: impl FnOnce() -> u64) -> Result<(), StopReason> {
        let depth = stack.steps() as u64;
        self.statistics.depth = self.statistics.depth.max(depth);
        self.statistics.vector_bytes = self.statistics.vector_bytes.max(stack.state().len() as u64);
        self.marker.expander.look_for_loops(!self.found.knows_atomic_loop());
        self.look_around(depth, || (stack.pending(), stack.memory() + memory()))?;
        let expanded = self.expand(stack.state(), depth);
        for (judged, actions) in self.expansion.judged(&self.task.checks) {
            let path = || stack.path_and(&actions);
            match judged {
                Judged::Violation(fault) => self.violation(fault, stack, &actions)?,
                Judged::Cut(fault) => self.found.cut(fault, path),
                Judged::AtomicLoop => self.found.warnings.push(Warning::AtomicLoop(path())),
            }
        }
        // An error counts also beside a step that was cut short.
        expanded?;
        self.order.clear();
        self.order.extend((0..self.expansion.edges().len()).rev());
        if let Some(random) = &mut self.random {
            random.shuffle(&mut self.order);
        }
        self.line_up(stack.state())
    }

    /// Expands a state that is known, and lines up its edges as they come.
    pub fn explore_again(
        &mut self,
        state: &[u8],
        depth: u64,
        used: impl FnOnce() -> (usize, u64),
    ) -> Result<(), StopReason> {
        self.expand_again(state, depth, used)?;
        self.order.clear();
        self.order.extend(0..self.expansion.edges().len());
        self.line_up(state)
    }

    /// Expands a state that is known.
    pub fn expand_again(
        &mut self,
        state: &[u8],
        depth: u64,
        used: impl FnOnce() -> (usize, u64),
    ) -> Result<(), StopReason> {
        self.statistics.reexplored += 1;
        self.look_around(depth, used)?;
        self.expand(state, depth)
    }

    /// Looks at the limits before a state is expanded. `used`: successors that wait, and memory.
    fn look_around(&mut self, depth: u64, used: impl FnOnce() -> (usize, u64)) -> Result<(), StopReason> {
        if self.budget.tick()? {
            let (waiting, memory) = used();
            let at = Snapshot {
                states: self.n_states(),
                transitions: self.statistics.transitions,
                depth,
                frontier: waiting as u64,
                errors: self.found.errors,
                memory: self.store.memory() + memory,
                ..Snapshot::default()
            };
            self.budget.look(|| at)?;
        }
        Ok(())
    }

    fn expand(&mut self, state: &[u8], depth: u64) -> Result<(), StopReason> {
        self.expansion.clear();
        self.marker.expand(state, depth, &mut self.budget, &mut self.expansion)
    }

    /// Prepares the ends of all edges of a state together: each waits for memory.
    fn line_up(&mut self, state: &[u8]) -> Result<(), StopReason> {
        let Explorer { store, expansion, order, tickets, hidden, .. } = self;
        tickets.clear();
        store.depart(key(state, *hidden));
        let keys = order.iter().map(|&at| key(expansion.target(at), *hidden));
        store.hash_all(keys, tickets).map_err(|_| StopReason::MemoryLimit)?;
        store.probe_all(tickets);
        Ok(())
    }

    /// Counts what is wrong at the end of a path and `more`.
    fn violation<T>(&mut self, fault: Fault, stack: &Stack<T>, more: &[ActionId]) -> Result<(), StopReason> {
        let depth = (stack.steps() + more.len()) as u64;
        self.found.add(fault, depth, || stack.path_and(more));
        self.task.after_violation(self.found.errors)
    }

    pub fn conclude(mut self, stop: StopReason) -> Outcome {
        self.statistics.states = self.n_states();
        self.statistics.state_bytes = self.store.memory();
        self.statistics.omission = self.store.omission();
        let cuts = self.marker.expander.take_cuts();
        let extent = Extent { stop, about: About::Runs, cuts, lossless: S::LOSSLESS };
        Outcome::conclude(extent, &self.task.checks, self.found, self.statistics)
    }
}

impl<S: Numbering> Explorer<'_, S> {
    /// Stores a state that was prepared.
    #[inline]
    pub fn visit(
        &mut self,
        state: &[u8],
        ticket: S::Ticket,
    ) -> Result<Entry<S::Number, S::Name>, StopReason> {
        let key = key(state, self.hidden);
        if self.budget.states_spent(self.n_states()) && self.store.number(key, ticket).is_none() {
            return Err(StopReason::StateLimit);
        }
        self.store.visit(key, ticket).map_err(|_| StopReason::MemoryLimit)
    }

    /// The number of a prepared state that is known.
    #[inline]
    pub fn find(&self, state: &[u8], ticket: S::Ticket) -> Option<S::Number> {
        self.store.number(key(state, self.hidden), ticket)
    }
}
