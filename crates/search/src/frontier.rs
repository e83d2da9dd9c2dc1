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
mod going_on;
mod insertion;
mod judgement;

use crate::ancestry::{Ancestry, edges_to};
use crate::checkpoint::{FoundLog, Keeping, Marker, can_go_on};
use crate::cuts::Cuts;
use crate::distributed::Away;
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
pub(crate) use going_on::restore_packs;
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
    frontier_kept(system, store, queue, levels, task, observer, Keeping::NONE)
}

/// As [`frontier`]; what it finds is written down, it may go on from where another search was, and what waits
/// may be on a disk. (Of a search by single steps nothing is written down.)
pub fn frontier_kept<S: Batched, Q: Queue<S>>(
    system: &dyn TransitionSystem,
    store: &mut S,
    queue: Q,
    levels: Levels,
    task: &Task<'_>,
    observer: &mut dyn Observer,
    keeping: Keeping<'_>,
) -> Outcome {
    let mut search = Frontier::new(system, store, queue, levels, task, Budget::new(task, observer));
    search.keep(keeping, 1);
    let stop = match obeying(|| search.run(keeping)) {
        Ok(()) => StopReason::Completed,
        Err(stop) => stop,
    };
    search.conclude(stop, keeping)
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
    /// The number of its ancestry: there may be those of former workers.
    pub number: usize,
    pub found: Findings,
    pub statistics: Statistics,
    /// Where found states are written down, and how far the search was before the present batch.
    pub log: Option<FoundLog<'a>>,
    pub marker: Marker,
    /// As in [`Moment::found_twice`](crate::checkpoint::Moment::found_twice).
    pub found_twice: u64,
    /// Where paths were cut off before the present expander.
    pub cuts: Cuts,
    /// What belongs to other processes, where several search.
    pub away: Option<Box<Away<'a>>>,
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
            number: 0,
            found: Findings::default(),
            statistics: Statistics::default(),
            log: None,
            marker: Marker::default(),
            found_twice: 0,
            cuts: Cuts::default(),
            away: None,
        }
    }

    fn run(&mut self, keeping: Keeping<'_>) -> Result<(), StopReason> {
        let mut batch = Batch::default();
        match keeping.resumed {
            Some(resumed) => self.go_on(resumed, keeping, &mut batch)?,
            None => self.begin()?,
        }
        while self.queue.waiting() > 0 || !self.buckets.is_empty() {
            self.level(&mut batch, keeping)?;
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
            if let Some(log) = &mut self.log {
                self.ancestry.note_depth(0);
                log.add(&state, Annotation::NONE);
            }
            self.queue.push(name, &state, Annotation::NONE).map_err(no_memory)?;
            self.ancestry.begin().map_err(no_memory)?;
        }
        Ok(())
    }

    /// Expands all states of one level.
    fn level(
        &mut self,
        batch: &mut Batch<S::Ticket, S::Name>,
        keeping: Keeping<'_>,
    ) -> Result<(), StopReason> {
        self.insert_bucket()?;
        if self.found_shortest(self.depth) {
            return Err(StopReason::Violation);
        }
        match keeping.journal {
            None => self.expand_waiting(batch),
            Some(_) => self.expand_and_keep(self.queue.waiting(), batch, keeping),
        }
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
        let away = self.away.as_ref().map_or(0, |away| away.memory());
        self.ancestry.memory() + self.queue.memory() + self.buckets.memory() + expanded + away
    }

    fn snapshot(&self) -> Snapshot {
        let elsewhere = self.queue.elsewhere();
        // Other processes have memory of their own.
        let others = self.away.as_ref().map(|away| away.others).unwrap_or_default();
        Snapshot {
            states: self.store.n_keys() + others.states,
            transitions: self.statistics.transitions + elsewhere.transitions + others.transitions,
            depth: self.depth,
            frontier: self.queue.waiting() + elsewhere.frontier + others.frontier,
            errors: self.found.errors + elsewhere.errors + others.errors,
            memory: self.store.memory() + self.memory_of_its_own() + elsewhere.memory,
            ..Snapshot::default()
        }
    }

    /// Where paths were cut off.
    pub fn take_cuts(&mut self) -> Cuts {
        let mut cuts = std::mem::take(&mut self.cuts);
        cuts.join(self.expander.take_cuts());
        cuts
    }

    fn conclude(mut self, stop: StopReason, keeping: Keeping<'_>) -> Outcome {
        if keeping.journal.is_some() && can_go_on(stop) {
            stop::regardless(|| self.keep_the_end(keeping));
        }
        self.statistics.states = self.store.n_keys();
        self.statistics.matched = self.statistics.matched.saturating_sub(self.found_twice);
        self.statistics.expanded = Some(self.ancestry.parent());
        self.statistics.state_bytes = self.store.memory();
        self.statistics.omission = self.store.omission();
        self.statistics.visited = self.expander.phase1().map(Phase1::passed);
        let cuts = self.take_cuts();
        let mut found = self.found.with_paths(|spot| {
            let ancestries = keeping.with_formers([&self.ancestry].into_iter());
            let edges = edges_to(&ancestries, spot.worker, spot.expansion);
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
