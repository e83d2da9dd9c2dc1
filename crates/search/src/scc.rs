//! Search for strongly connected components: a cycle that has all marks, if there is one, on the fly.
//!
//! Couvreur's algorithm: one depth-first search keeps a stack of the roots of components found so far, each with what the steps
//! inside it lack together. A step back to a component below merges all components above it into that one. As soon as a
//! component lacks nothing, it has a cycle through all marks: several kinds of acceptance at a time cost nothing, which
//! is what fairness needs (one mark for every process). A component that is left has none and is dead for the rest of the search.
//!
//! The way around the component is looked for only then, breadth-first among its states.

use crate::expand::Expansion;
use crate::lasso::{Anchor, Lasso, shorten};
use crate::limits::Budget;
use crate::marks::{EVERYTHING, Lack, Marker};
use crate::ndfs::{Cycles, key};
use crate::observer::{Observer, Snapshot};
use crate::outcome::{Outcome, Recorder, Statistics, StopReason, Warning, no_memory};
use crate::random::Random;
use crate::stack::Stack;
use crate::task::Task;
use store::numbered::{Number, Numbered, Visit};
use system::{ActionId, Fault, TransitionSystem};

/// Looks for a cycle that lacks nothing.
pub fn scc(
    system: &dyn TransitionSystem,
    cycles: &Cycles,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    let mut search = Scc {
        system,
        cycles,
        task,
        budget: Budget::new(task, observer),
        marker: Marker::new(system, cycles.acceptance),
        expansion: Expansion::default(),
        store: Numbered::new(cycles.memory),
        places: Vec::new(),
        live: Vec::new(),
        roots: Vec::new(),
        hidden: system.hidden_bytes(),
        random: task.seed.map(Random::new),
        order: Vec::new(),
        hashes: Vec::new(),
        near: Vec::new(),
        actions: Vec::new(),
        stack: Stack::default(),
        frames: Vec::new(),
        found: Recorder::default(),
        statistics: Statistics::default(),
        depth_limited: false,
    };
    let stop = match search.run() {
        Ok(()) => StopReason::Completed,
        Err(stop) => stop,
    };
    search.conclude(stop)
}

/// A state is dead: its component was left.
const DEAD: u32 = u32::MAX;

/// A component on the way to the current state.
struct Root {
    /// The place of its first state among those alive.
    first: u32,
    /// What the step into it lacks.
    into: Lack,
    /// What the steps inside it lack together.
    inside: Lack,
}

/// What is known of a successor that is still to be tried.
#[derive(Clone, Copy)]
struct Ticket {
    hash: u64,
    lack: Lack,
}

struct Scc<'a> {
    system: &'a dyn TransitionSystem,
    cycles: &'a Cycles,
    task: &'a Task<'a>,
    budget: Budget<'a>,
    marker: Marker<'a>,
    expansion: Expansion,
    store: Numbered,
    /// Of every state: its place among those alive, or that it is dead.
    places: Vec<u32>,
    /// The states whose component was not left, in the order in which they were found.
    live: Vec<Number>,
    roots: Vec<Root>,
    hidden: usize,
    random: Option<Random>,
    order: Vec<usize>,
    hashes: Vec<u64>,
    near: Vec<Number>,
    actions: Vec<ActionId>,
    stack: Stack<Ticket>,
    /// The places of the states of the path.
    frames: Vec<u32>,
    found: Recorder,
    statistics: Statistics,
    depth_limited: bool,
}

impl Scc<'_> {
    fn run(&mut self) -> Result<(), StopReason> {
        if let Err(fault) = self.system.initial(&mut self.stack.state) {
            return if self.task.checks.count(fault.kind) { self.violation(fault, &[]) } else { Ok(()) };
        }
        self.enter()?;
        while self.stack.depth() > 0 {
            if !self.stack.advance() {
                self.leave();
            } else if !self.enter()? {
                self.statistics.matched += 1;
                self.stack.leave();
            }
        }
        Ok(())
    }

    /// Goes to the state at the end of the path if it is new; a step to one that is alive closes cycles.
    fn enter(&mut self) -> Result<bool, StopReason> {
        let key = key(&self.stack.state, self.hidden);
        let Ticket { hash, lack } = match self.stack.ticket {
            Some(ticket) => ticket,
            None => Ticket { hash: self.store.prepare(key), lack: EVERYTHING },
        };
        if self.budget.states_spent(self.store.n_keys()) && self.store.find_prepared(key, hash).is_none() {
            return Err(StopReason::StateLimit);
        }
        match self.store.visit_prepared(key, hash).map_err(|_| StopReason::MemoryLimit)? {
            Visit::Seen(number) => {
                let place = self.places[number.index()];
                if place != DEAD {
                    self.merge(place, lack)?;
                }
                Ok(false)
            }
            Visit::New(number) => {
                self.places.try_reserve(1).map_err(no_memory)?;
                self.live.try_reserve(1).map_err(no_memory)?;
                self.frames.try_reserve(1).map_err(no_memory)?;
                let place = self.live.len() as u32;
                self.places.push(place);
                self.live.push(number);
                self.roots.push(Root { first: place, into: lack, inside: EVERYTHING });
                self.frames.push(place);
                self.explore()?;
                Ok(true)
            }
        }
    }

    /// Expands the new state at the end of the path and puts new successors on the stack.
    fn explore(&mut self) -> Result<(), StopReason> {
        let depth = self.stack.path.len() as u64;
        self.statistics.depth = self.statistics.depth.max(depth);
        self.statistics.vector_bytes = self.statistics.vector_bytes.max(self.stack.state.len() as u64);
        if self.budget.tick()? {
            let at = self.snapshot();
            self.budget.look(|| at)?;
        }
        self.marker.expander.look_for_loops = !self.found.knows_atomic_loop();
        self.expansion.clear();
        self.marker.expand(&self.stack.state, depth, &mut self.budget, &mut self.expansion)?;
        self.depth_limited |= self.expansion.cut;
        for step in std::mem::take(&mut self.expansion.faults) {
            if self.task.checks.count(step.fault.kind) {
                self.violation(step.fault, &step.actions)?;
            }
        }
        if let Some(actions) = self.expansion.atomic_loop.take() {
            self.found.warnings.push(Warning::AtomicLoop(self.stack.path_and(&actions)));
        }
        self.push_successors()
    }

    fn push_successors(&mut self) -> Result<(), StopReason> {
        let accepting = self.marker.is_accepting(&self.stack.state);
        self.order.clear();
        self.order.extend((0..self.expansion.edges().len()).rev());
        if let Some(random) = &mut self.random {
            random.shuffle(&mut self.order);
        }
        self.hashes.clear();
        for &i in &self.order {
            let state = self.expansion.state(&self.expansion.edges()[i]);
            self.hashes.push(self.store.prepare(key(state, self.hidden)));
        }
        self.store.approach_all(&self.hashes, &mut self.near);
        self.stack.enter(None).map_err(no_memory)?;
        for at in 0..self.order.len() {
            let edge = self.expansion.edges()[self.order[at]];
            self.statistics.transitions += 1;
            let lack = self.marker.lack(accepting, &edge, &self.expansion);
            let state = self.expansion.state(&edge);
            let hash = self.hashes[at];
            match self.store.find_prepared(key(state, self.hidden), hash) {
                Some(number) => {
                    self.statistics.matched += 1;
                    let place = self.places[number.index()];
                    if place != DEAD {
                        self.merge(place, lack)?;
                    }
                }
                None => {
                    self.actions.clear();
                    self.marker.expander.actions(&edge, &mut self.actions);
                    self.stack.push(state, &self.actions, Ticket { hash, lack }).map_err(no_memory)?;
                }
            }
        }
        Ok(())
    }

    /// A step that lacks `lack` leads from the last component to the one that holds the state at `place`: all between are one.
    fn merge(&mut self, place: u32, lack: Lack) -> Result<(), StopReason> {
        let mut together = lack;
        while let Some(root) = self.roots.last_mut() {
            if root.first <= place {
                root.inside &= together;
                let complete = root.inside == 0;
                return if complete { self.accept() } else { Ok(()) };
            }
            together &= root.inside & root.into;
            self.roots.pop();
        }
        Ok(())
    }

    /// The last component lacks nothing.
    fn accept(&mut self) -> Result<(), StopReason> {
        if self.found.errors == 0 {
            let lasso = self.way_around()?;
            let (path, cycle) = lasso.path();
            self.found.add_lasso(self.cycles.fault.clone(), path, cycle);
        } else {
            self.found.errors += 1;
        }
        if let Some(root) = self.roots.last_mut() {
            // With all errors wanted, more cycles of this component are the same one.
            root.inside = EVERYTHING;
        }
        if self.task.all_errors { Ok(()) } else { Err(StopReason::Violation) }
    }

    /// A run that goes around in the last component, of which the state at the end of the path is one.
    fn way_around(&mut self) -> Result<Lasso, StopReason> {
        let first = self.roots.last().map_or(0, |root| root.first);
        let (store, places) = (&self.store, &self.places);
        let inside = |key: &[u8]| {
            let place = store.find(key).map_or(DEAD, |number| places[number.index()]);
            place != DEAD && place >= first
        };
        let anchor = Anchor { state: &self.stack.state, path: &self.stack.path, inside: Some(&inside) };
        shorten(self.system, self.cycles.acceptance, &anchor, &mut self.budget).ok_or(StopReason::MemoryLimit)
    }

    fn leave(&mut self) {
        let Some(place) = self.frames.pop() else { return };
        if self.roots.last().is_some_and(|root| root.first == place) {
            self.roots.pop();
            for number in self.live.drain(place as usize..) {
                self.places[number.index()] = DEAD;
            }
        }
        self.stack.retreat();
    }

    fn violation(&mut self, fault: Fault, more: &[ActionId]) -> Result<(), StopReason> {
        let depth = (self.stack.path.len() + more.len()) as u64;
        self.found.add(fault, depth, || self.stack.path_and(more));
        if self.task.all_errors { Ok(()) } else { Err(StopReason::Violation) }
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            states: self.store.n_keys(),
            transitions: self.statistics.transitions,
            depth: self.stack.path.len() as u64,
            frontier: self.stack.pending.len() as u64,
            errors: self.found.errors,
            memory: self.store.memory() + self.stack.memory() + self.places.capacity() as u64 * 8,
            ..Snapshot::default()
        }
    }

    fn conclude(mut self, stop: StopReason) -> Outcome {
        self.statistics.states = self.store.n_keys();
        self.statistics.state_bytes = self.store.memory();
        Outcome::conclude(stop, self.depth_limited, true, self.found, self.statistics)
    }
}
