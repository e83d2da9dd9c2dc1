//! Frontier search: states are expanded in the order in which they were found, many at a time.
//!
//! The time of an explicit search is the time spent waiting for memory. States that are taken together from a
//! queue do not depend on each other, so their successors are generated and prepared together, and the store
//! waits for many keys at once (see [`store`]). A depth-first search cannot do that. This makes it the
//! default order for safety.
//!
//! **Levels.** The queue goes level by level, so a counterexample is short: no other needs fewer steps
//! *between ordinary states*. With [`Levels::Steps`] it is a shortest one in single steps as well, those
//! inside atomic sequences included: this is breadth-first search as Dijkstra's algorithm with small integer
//! weights, after R. Dial (Algorithm 360, CACM 1969). A state that is reached by an atomic sequence of k
//! steps waits in a bucket and is inserted k levels further on, unless it has been reached by a shorter way until
//! then. So when a state is inserted its depth is final.
//!
//! **Paths.** What is kept of the way to a state is the number of one edge, about a byte ([`Ancestry`]): the
//! path is found by expanding the states along it once more.
//!
//! **Reduction.** What a reducer chose is expanded and inserted like anything else. The proviso asks for a
//! successor that is expanded later: a new one or one that still waits ([`Noting`] knows). If there is none,
//! the rest of the actions follows when the state's successors have been inserted. Its edges are numbered
//! after those that were chosen, and the number that is kept also says whether there was a choice.
//!
//! **Lean search.** With [`Method::Lean`](crate::task::Method) nothing is left out but edges to states that
//! are found without them ([`system::lean`]). They are counted all the same. The number that is kept says
//! whether somebody slept in the state.

mod batch;
mod buckets;
mod insertion;
mod judgement;

use crate::ancestry::{Ancestry, edges_to};
use crate::cuts::Cuts;
use crate::expand::Expander;
use crate::expanded::Noting;
use crate::findings::Findings;
use crate::halt::obeying;
use crate::judged::initial_state;
use crate::limits::Budget;
use crate::observer::{Observer, Snapshot};
use crate::outcome::{Extent, Outcome, Statistics, StopReason, no_memory};
use crate::phase1::Phase1;
use crate::property::Judge;
use crate::queue::Queue;
use crate::random::Random;
use crate::retrace::retrace;
use crate::state_key::key;
use crate::task::{Proviso, Task};
pub(crate) use batch::Batch;
use buckets::Buckets;
use store::Batched;
use system::{Annotation, TransitionSystem};

/// What a level of the search is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Levels {
    /// One step between ordinary states, a whole atomic sequence being one.
    Edges,
    /// One single step: depths are exact and the first violation is a shortest one.
    Steps,
}

/// Explores `system` level by level.
pub fn frontier<S: Batched, Q: Queue<S>>(
    system: &dyn TransitionSystem,
    store: &mut S,
    queue: Q,
    levels: Levels,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    let mut search = Frontier::new(system, store, queue, levels, task, Budget::new(task, observer));
    let stop = match obeying(|| search.run()) {
        Ok(()) => StopReason::Completed,
        Err(stop) => stop,
    };
    search.conclude(stop)
}

/// A running search, or one worker of a parallel one.
pub(crate) struct Frontier<'a, S: Batched, Q> {
    system: &'a dyn TransitionSystem,
    pub store: &'a mut S,
    pub queue: Q,
    pub levels: Levels,
    task: &'a Task<'a>,
    hidden: usize,
    judge: Judge<'a>,
    /// A state's edges may be in another order than the machine's.
    reorders: bool,
    /// The number of states has a limit, which is watched here.
    pub limited: bool,
    pub budget: Budget<'a>,
    expander: Expander<'a>,
    /// One of the chosen successors must be expanded later.
    proviso: bool,
    /// Which states may have been expanded, by any worker.
    pub expanded: Option<Noting>,
    /// States are expanded behind phase 1.
    twophase: bool,
    /// Some processes sleep.
    lean: bool,
    pub random: Option<Random>,
    pub ancestry: Ancestry,
    /// The level that is being expanded.
    pub depth: u64,
    pub buckets: Buckets,
    /// The number of this worker.
    pub worker: usize,
    pub found: Findings,
    pub statistics: Statistics,
}

impl<'a, S: Batched, Q: Queue<S>> Frontier<'a, S, Q> {
    /// A search that has not begun.
    pub fn new(
        system: &'a dyn TransitionSystem,
        store: &'a mut S,
        queue: Q,
        levels: Levels,
        task: &'a Task<'a>,
        budget: Budget<'a>,
    ) -> Self {
        // A limit on steps needs their number.
        let levels = if task.limits.depth.is_some() { Levels::Steps } else { levels };
        let proviso = task.reduce.is_some_and(|reduce| reduce.proviso != Proviso::None);
        let mut expander = Expander::new(system, task.reduce);
        expander.set_exact(levels == Levels::Steps);
        Frontier {
            system,
            store,
            queue,
            levels,
            task,
            hidden: system.hidden_bytes(),
            judge: Judge::new(task.checks, system),
            reorders: task.reduce.is_some(),
            limited: task.limits.states.is_some(),
            budget,
            twophase: expander.phase1().is_some(),
            lean: task.is_lean(),
            expander,
            proviso,
            expanded: proviso.then(Noting::default),
            random: task.seed.map(Random::new),
            ancestry: Ancestry::default(),
            depth: 0,
            buckets: Buckets::default(),
            worker: 0,
            found: Findings::default(),
            statistics: Statistics::default(),
        }
    }

    fn run(&mut self) -> Result<(), StopReason> {
        self.begin()?;
        let mut batch = Batch::default();
        while self.queue.waiting() > 0 || !self.buckets.is_empty() {
            self.level(&mut batch)?;
            self.depth += 1;
        }
        if self.found_shortest(u64::MAX) { Err(StopReason::Violation) } else { Ok(()) }
    }

    /// The initial state is found.
    pub fn begin(&mut self) -> Result<(), StopReason> {
        let state = match initial_state(self.system, &self.task.checks) {
            Ok(state) => state,
            Err(missing) => return self.found.no_initial_state(missing, self.worker, self.task),
        };
        let key = key(&state, self.hidden);
        let ticket = self.store.hash(key).map_err(|_| StopReason::MemoryLimit)?;
        if self.budget.states_spent(0) {
            return Err(StopReason::StateLimit);
        }
        if let Some(name) = self.store.insert(key, ticket).map_err(|_| StopReason::MemoryLimit)? {
            self.queue.push(name, &state, Annotation::NONE).map_err(no_memory)?;
            self.ancestry.begin().map_err(no_memory)?;
        }
        Ok(())
    }

    /// Expands all states of one level.
    fn level(&mut self, batch: &mut Batch<S::Ticket, S::Name>) -> Result<(), StopReason> {
        self.insert_bucket()?;
        if self.found_shortest(self.depth) {
            return Err(StopReason::Violation);
        }
        self.expand_waiting(batch)
    }

    /// Looks at the clock and the rest.
    #[cold]
    fn look(&mut self) -> Result<(), StopReason> {
        if self.budget.look_at_clock()? {
            let at = self.snapshot();
            self.budget.look(|| at)?;
        }
        Ok(())
    }

    /// Looks at the limits while there is nothing to do.
    pub fn look_around(&mut self) -> Result<(), StopReason> {
        if self.budget.tick()? {
            self.look()?;
        }
        Ok(())
    }

    /// Bytes of memory of this worker alone.
    pub fn memory_of_its_own(&self) -> u64 {
        let expanded = self.expanded.as_ref().filter(|_| self.worker == 0).map_or(0, Noting::memory);
        self.ancestry.memory() + self.queue.memory() + self.buckets.memory() + expanded
    }

    fn snapshot(&self) -> Snapshot {
        let elsewhere = self.queue.elsewhere();
        Snapshot {
            states: self.store.n_keys(),
            transitions: self.statistics.transitions + elsewhere.transitions,
            depth: self.depth,
            frontier: self.queue.waiting() + elsewhere.frontier,
            errors: self.found.errors + elsewhere.errors,
            memory: self.store.memory() + self.memory_of_its_own() + elsewhere.memory,
            ..Snapshot::default()
        }
    }

    /// Where paths were cut off.
    pub fn take_cuts(&mut self) -> Cuts {
        self.expander.take_cuts()
    }

    fn conclude(mut self, stop: StopReason) -> Outcome {
        self.statistics.states = self.store.n_keys();
        self.statistics.expanded = Some(self.ancestry.parent());
        self.statistics.state_bytes = self.store.memory();
        self.statistics.omission = self.store.omission();
        self.statistics.visited = self.expander.phase1().map(Phase1::passed);
        let cuts = self.take_cuts();
        let mut found = self.found.with_paths(|spot| {
            let edges = edges_to(&[&self.ancestry], spot.worker, spot.expansion);
            retrace(self.system, self.task, self.levels == Levels::Steps, &edges, &spot.more)
        });
        if !self.task.all_errors {
            found.keep_shortest();
        }
        let checks = &self.task.checks;
        let extent = Extent { stop, about: checks.about(), cuts, lossless: S::LOSSLESS };
        Outcome::conclude(extent, checks, found, self.statistics)
    }
}

#[cfg(test)]
mod tests;
