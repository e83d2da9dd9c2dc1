//! The breadth-first search that keeps all edges.

use super::ahead::{Ahead, Counter};
use super::batch::{Expanded, Hand, States};
use super::csr::{CsrBuilder, push_one};
use super::steps::CutStep;
use super::{Cut, Explored, MOST_STATES, Scene, StateGraph, paths};
use crate::cuts::{About, Cuts};
use crate::halt::{Halt, obeying};
use crate::limits::Budget;
use crate::observer::{Observer, Snapshot};
use crate::outcome::{Extent, Outcome, Recorder, Statistics, StopReason, Warning, no_memory};
use crate::task::Task;
use crate::worker_pool::{ALONE, WorkerPool};
use std::collections::VecDeque;
use store::Numbering;
use store::numbering::KeyNumber;
use system::{ActionId, Fault, SystemExt};

/// States that wait, in batches.
#[derive(Default)]
struct Queue {
    batches: VecDeque<States>,
    memory: u64,
}

impl Queue {
    fn push(&mut self, state: &[u8]) -> Result<(), StopReason> {
        if self.batches.back().is_none_or(States::is_full) {
            self.batches.try_reserve(1).map_err(no_memory)?;
            self.batches.push_back(States::default());
        }
        let Some(last) = self.batches.back_mut() else { return Ok(()) };
        let before = last.memory();
        last.push(state)?;
        self.memory += last.memory() - before;
        Ok(())
    }

    /// The first states that wait.
    fn take(&mut self) -> Option<States> {
        let states = self.batches.pop_front()?;
        self.memory -= states.memory();
        Some(states)
    }

    /// The first batch, if it is full.
    fn take_full(&mut self) -> Option<States> {
        if self.batches.front().is_some_and(States::is_full) { self.take() } else { None }
    }
}

/// A step without an end: the state, the actions, and the error (an endless sequence has none).
type Way = (u32, Vec<ActionId>, Option<Fault>);

/// A breadth-first search that keeps all edges.
pub(super) struct Explorer<'a, S: Numbering> {
    scene: Scene<'a>,
    store: S,
    budget: Budget<'a>,
    tickets: Vec<S::Ticket>,
    queue: Queue,
    edges: CsrBuilder,
    labels: Vec<u32>,
    cuts: Vec<Cut>,
    ledger: Cuts,
    /// The first steps without an end.
    ways: Vec<Way>,
    /// The first state of the next level.
    next_level: u64,
    statistics: Statistics,
}

impl<'a, S: Numbering> Explorer<'a, S> {
    pub fn run(
        scene: Scene<'a>,
        store: S,
        threads: usize,
        task: &'a Task<'a>,
        observer: &'a mut dyn Observer,
    ) -> Explored {
        let mut explorer = Explorer {
            scene,
            store,
            budget: Budget::new(task, observer),
            tickets: Vec::new(),
            queue: Queue::default(),
            edges: CsrBuilder::default(),
            labels: Vec::new(),
            cuts: Vec::new(),
            ledger: Cuts::default(),
            ways: Vec::new(),
            next_level: 1,
            statistics: Statistics::default(),
        };
        let stop = obeying(|| explorer.explore(threads, task)).err().unwrap_or(StopReason::Completed);
        explorer.conclude(stop, task)
    }

    fn explore(&mut self, threads: usize, task: &'a Task<'a>) -> Result<(), StopReason> {
        let (system, mut state) = (self.scene.system, Vec::new());
        if let Err(fault) = system.initial(&mut state) {
            self.ledger.by_error(&fault);
            self.ways.push((0, Vec::new(), Some(fault)));
            return Ok(());
        }
        let ticket = self.store.hash(system.key(&state)).map_err(|_| StopReason::MemoryLimit)?;
        self.store.visit(system.key(&state), ticket).map_err(|_| StopReason::MemoryLimit)?;
        self.queue.push(&state)?;
        self.statistics.workers = 1;
        self.alone(if threads < 2 { u64::MAX } else { ALONE })?;
        if threads < 2 || self.queue.batches.is_empty() { Ok(()) } else { self.together(threads, task) }
    }

    /// Expands and numbers, until so many states are known.
    fn alone(&mut self, until: u64) -> Result<(), StopReason> {
        let mut hand = Hand::new(self.scene.system, self.scene.lookers);
        while self.store.n_keys() < until {
            let Some(states) = self.queue.take() else { break };
            let expanded = hand.expand(states, &mut self.budget)?;
            self.number(&expanded)?;
            hand.recycle(expanded);
        }
        Ok(())
    }

    /// Numbers what other threads expand.
    fn together(&mut self, threads: usize, task: &'a Task<'a>) -> Result<(), StopReason> {
        let halt = Halt::default();
        let scene = (self.scene.system, self.scene.lookers);
        let (counter, told, ahead) = Counter::new(scene, (task, &halt), threads);
        std::thread::scope(|scope| {
            let (counter, mut pool) = (&counter, WorkerPool::new(scope));
            let mut start = |_: &usize| {
                let told = told.clone();
                pool.spawn(move || counter.work(&told))
            };
            let started = (1..threads).filter(&mut start).count();
            drop(told);
            self.statistics.workers = 1 + started as u64;
            let ended = if started == 0 { self.alone(u64::MAX) } else { self.with_help(ahead) };
            // Whoever is still at work ends, and finds no further job.
            halt.halt(ended.err().unwrap_or(StopReason::Completed));
            pool.join(());
            ended
        })
    }

    fn with_help(&mut self, mut ahead: Ahead) -> Result<(), StopReason> {
        let mut hand = Hand::new(self.scene.system, self.scene.lookers);
        loop {
            while ahead.has_room() {
                let Some(states) = self.queue.take_full() else { break };
                ahead.hand_out(states)?;
            }
            if let Some(expanded) = ahead.next()? {
                self.number(&expanded)?;
                hand.recycle(expanded);
                continue;
            }
            // Nothing to number: this thread expands states as well. What is not worth handing out waits
            // until what was found before is numbered, because more states may join it.
            let own = if ahead.is_busy() { self.queue.take_full() } else { self.queue.take() };
            match own {
                Some(states) => ahead.put(hand.expand(states, &mut self.budget)?),
                None if ahead.is_busy() => ahead.wait()?,
                None => return Ok(()),
            }
            self.look()?;
        }
    }

    fn look(&mut self) -> Result<(), StopReason> {
        let snapshot = self.snapshot();
        self.budget.look(|| snapshot)
    }

    fn snapshot(&self) -> Snapshot {
        let (states, own) = (self.store.n_keys(), self.edges.memory() + self.scene.notes.memory());
        let labels = (self.labels.capacity() * 4 + self.cuts.capacity() * size_of::<Cut>()) as u64;
        Snapshot {
            states,
            transitions: self.statistics.transitions,
            depth: self.statistics.depth,
            frontier: states - self.edges.n_rows() as u64,
            memory: self.store.memory() + own + labels + self.queue.memory,
            ..Snapshot::default()
        }
    }

    /// Gives numbers to the ends of all steps, and keeps the edges.
    fn number(&mut self, expanded: &Expanded) -> Result<(), StopReason> {
        self.look()?;
        for at in 0..expanded.states.len() {
            if self.budget.tick()? {
                self.look()?;
            }
            if self.edges.n_rows() as u64 == self.next_level {
                self.statistics.depth += 1;
                self.next_level = self.store.n_keys();
            }
            self.number_row(expanded, at)?;
        }
        Ok(())
    }

    fn number_row(&mut self, expanded: &Expanded, at: usize) -> Result<(), StopReason> {
        let (system, found, row) = (self.scene.system, &expanded.found, expanded.row(at));
        let state = expanded.states.state(at);
        let is_enough = self.scene.notes.state(&expanded.words[row.words]);
        self.statistics.vector_bytes = self.statistics.vector_bytes.max(state.len() as u64);
        for cut in row.cuts {
            let label = expanded.cut_labels.get(cut).copied().unwrap_or(0);
            self.note_cut(&found.cuts[cut], label, &found.actions)?;
        }
        self.store.depart(system.key(state));
        self.tickets.clear();
        let targets = &found.targets[row.targets.clone()];
        let keys = targets.iter().map(|target| system.key(&found.bytes[target.bytes.clone()]));
        self.store.hash_all(keys, &mut self.tickets).map_err(|_| StopReason::MemoryLimit)?;
        self.store.probe_all(&mut self.tickets);
        for (target, at) in targets.iter().zip(0..) {
            let target = &found.bytes[target.bytes.clone()];
            let (key, ticket) = (system.key(target), self.tickets[at]);
            let full = self.budget.states_spent(self.store.n_keys()) || self.store.n_keys() >= MOST_STATES;
            if full && self.store.number(key, ticket).is_none() {
                return Err(StopReason::StateLimit);
            }
            let entry = self.store.visit(key, ticket).map_err(|_| StopReason::MemoryLimit)?;
            self.statistics.transitions += 1;
            self.statistics.matched += u64::from(!entry.new);
            self.edges.push(entry.number.index() as u32).map_err(no_memory)?;
            if let Some(&label) = expanded.labels.get(row.targets.start + at) {
                push_one(&mut self.labels, label).map_err(no_memory)?;
            }
            if entry.new {
                self.queue.push(target)?;
            }
        }
        self.edges.end_row().map_err(no_memory)?;
        if is_enough { Err(StopReason::Decided) } else { Ok(()) }
    }

    /// Keeps a step of the state that is numbered, which has no end.
    fn note_cut(&mut self, cut: &CutStep, label: u32, actions: &[ActionId]) -> Result<(), StopReason> {
        let state = self.edges.n_rows() as u32;
        push_one(&mut self.cuts, Cut { state, label }).map_err(no_memory)?;
        match &cut.fault {
            Some(fault) => self.ledger.by_error(fault),
            None => self.ledger.in_atomic_loop(),
        }
        let known = self.ways.iter().any(|(_, _, fault)| match (fault, &cut.fault) {
            (Some(a), Some(b)) => (a.kind, &a.file, a.line) == (b.kind, &b.file, b.line),
            (a, b) => a.is_none() && b.is_none(),
        });
        if !known {
            self.ways.push((state, actions[cut.actions.clone()].to_vec(), cut.fault.clone()));
        }
        Ok(())
    }

    fn conclude(mut self, stop: StopReason, task: &Task<'_>) -> Explored {
        self.statistics.states = self.store.n_keys();
        self.statistics.state_bytes = self.store.memory();
        let Explorer { scene, store, edges, labels, cuts, ledger, ways, statistics, .. } = self;
        drop(store);
        let graph = StateGraph { edges: edges.finish(), labels, cuts };
        let mut found = Recorder::default();
        for (state, actions, fault) in ways {
            let silent = &mut crate::observer::Silent;
            let Some(edges) = paths::to(&graph.edges, state) else { continue };
            let Ok((mut path, _)) = graph.retrace(scene.system, &edges, task, silent) else { continue };
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
