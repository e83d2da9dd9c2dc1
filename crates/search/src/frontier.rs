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
//! steps waits apart and is inserted k levels further on, unless it has been reached by a shorter way until
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

use crate::ancestry::{Ancestry, Ordinal, edges_to};
use crate::cuts::Cuts;
use crate::edge_number::EdgeOrder;
use crate::expand::{Expander, Expansion, Rest};
use crate::expanded::Noting;
use crate::findings::{Findings, Spot};
use crate::halt::obeying;
use crate::judged::Judged;
use crate::limits::Budget;
use crate::observer::{Observer, Snapshot};
use crate::outcome::{Outcome, Statistics, StopReason, no_memory};
use crate::phase1::{Phase1, store_aside};
use crate::property::Judge;
use crate::queue::Queue;
use crate::random::Random;
use crate::retrace::retrace;
use crate::task::{Proviso, Task};
use std::collections::{TryReserveError, VecDeque};
use std::ops::Range;
use store::{Batched, Full};
use system::{ActionId, Annotation, Fault, TransitionSystem};

/// States that are expanded together.
const BATCH: usize = 32;
/// Edges after which a batch is closed, however few states it has.
const MANY_EDGES: usize = 1024;

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
    pub apart: Apart,
    /// The number of this worker.
    pub worker: usize,
    pub found: Findings,
    pub statistics: Statistics,
}

/// States that are expanded together, and what came of it.
#[derive(Debug)]
pub(crate) struct Batch<T, N> {
    state: Vec<u8>,
    /// Its annotation.
    annotation: Annotation,
    /// The edges of all who slept.
    slept: u64,
    expansion: Expansion,
    /// The states.
    parents: Vec<Parent>,
    /// For each state its hash, where somebody asks.
    hashes: Vec<u64>,
    /// For each edge, what the store made of it.
    tickets: Vec<T>,
    /// The order in which the edges of one state are inserted, if it is a random one.
    order: Vec<u32>,
    /// Which edges led to new states, and what the store calls these.
    new: Vec<(u32, N)>,
}

/// A state that was expanded.
#[derive(Clone, Copy, Debug)]
struct Parent {
    /// Where its edges end.
    end: u32,
    /// How they are numbered.
    order: EdgeOrder,
    /// What was left out.
    rest: Rest,
}

impl<T, N> Default for Batch<T, N> {
    fn default() -> Self {
        Batch {
            state: Vec::new(),
            annotation: Annotation::NONE,
            slept: 0,
            expansion: Expansion::default(),
            parents: Vec::with_capacity(BATCH),
            hashes: Vec::new(),
            tickets: Vec::new(),
            order: Vec::new(),
            new: Vec::new(),
        }
    }
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
            apart: Apart::default(),
            worker: 0,
            found: Findings::default(),
            statistics: Statistics::default(),
        }
    }

    fn run(&mut self) -> Result<(), StopReason> {
        self.begin()?;
        let mut batch = Batch::default();
        while self.queue.waiting() > 0 || !self.apart.is_empty() {
            self.level(&mut batch)?;
            self.depth += 1;
        }
        if self.found_shortest(u64::MAX) { Err(StopReason::Violation) } else { Ok(()) }
    }

    /// The initial state is found.
    pub fn begin(&mut self) -> Result<(), StopReason> {
        let mut state = Vec::new();
        if let Err(fault) = self.system.initial(&mut state) {
            let spot = Spot { worker: self.worker, expansion: 0, more: Vec::new() };
            return match self.task.checks.no_beginning(fault) {
                Judged::Violation(fault) => {
                    self.found.add(fault, 0, || spot);
                    if self.task.all_errors { Ok(()) } else { Err(StopReason::Violation) }
                }
                Judged::Cut(fault) => {
                    self.found.cut(fault, || spot);
                    Ok(())
                }
                Judged::AtomicLoop => Ok(()),
            };
        }
        let key = &state[..state.len().saturating_sub(self.hidden)];
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
        self.insert_apart()?;
        if self.found_shortest(self.depth) {
            return Err(StopReason::Violation);
        }
        self.expand_waiting(batch)
    }

    /// Expands as many states as are waiting now.
    pub fn expand_waiting(&mut self, batch: &mut Batch<S::Ticket, S::Name>) -> Result<(), StopReason> {
        let mut left = self.queue.waiting();
        if left > 0 {
            self.statistics.depth = self.statistics.depth.max(self.depth);
        }
        while left > 0 {
            left -= self.expand_batch(left, batch)?;
            self.insert_batch(batch)?;
        }
        Ok(())
    }

    /// Whether one violation is enough and one was found that no other can be shorter than. Without exact
    /// depths, the first one is taken at once.
    pub fn found_shortest(&self, depth: u64) -> bool {
        !self.task.all_errors && self.found.shortest().is_some_and(|shortest| shortest <= depth)
    }

    /// Takes up to `most` states from the queue, judges and expands them and prepares their successors; says
    /// how many.
    fn expand_batch(&mut self, most: u64, batch: &mut Batch<S::Ticket, S::Name>) -> Result<u64, StopReason> {
        batch.expansion.clear();
        batch.parents.clear();
        batch.hashes.clear();
        batch.tickets.clear();
        if self.budget.tick_for(BATCH as u32)? {
            self.look()?;
        }
        self.expander.look_for_loops(!self.found.knows_atomic_loop());
        let expanded = self.expand_states(most.min(BATCH as u64) as usize, batch);
        let slept = std::mem::take(&mut batch.slept);
        self.statistics.transitions += slept;
        self.statistics.slept += slept;
        self.statistics.matched += slept;
        expanded?;
        self.prepare(batch)?;
        Ok(batch.parents.len() as u64)
    }

    #[inline(always)]
    fn expand_states(
        &mut self,
        most: usize,
        batch: &mut Batch<S::Ticket, S::Name>,
    ) -> Result<(), StopReason> {
        while batch.parents.len() < most && batch.expansion.edges().len() < MANY_EDGES {
            batch.state.clear();
            match self.queue.pop(self.store, &mut batch.state) {
                Some(annotation) => batch.annotation = annotation,
                None => break,
            }
            self.expand_one(batch)?;
            if S::INCREMENTAL {
                self.outline(batch)?;
            }
            let Expansion { rest, reordered, .. } = batch.expansion;
            let order = EdgeOrder::new(self.reorders, reordered || !batch.annotation.is_none());
            batch.parents.push(Parent { end: batch.expansion.edges().len() as u32, order, rest });
        }
        Ok(())
    }

    /// Outlines the edges that have not been outlined.
    #[inline]
    fn outline(&mut self, batch: &mut Batch<S::Ticket, S::Name>) -> Result<(), StopReason> {
        let Batch { expansion, tickets, .. } = batch;
        let hidden = self.hidden;
        let keys = expansion.edges().from(tickets.len()).iter().map(|edge| {
            let state = expansion.state(&edge);
            &state[..state.len().saturating_sub(hidden)]
        });
        self.store.plan_all(keys, tickets).map_err(|_| StopReason::MemoryLimit)
    }

    /// Prepares all edges, those of all states together.
    #[inline]
    fn prepare(&mut self, batch: &mut Batch<S::Ticket, S::Name>) -> Result<(), StopReason> {
        self.outline(batch)?;
        let Batch { expansion, tickets, .. } = batch;
        let key = |at: usize| {
            let state = expansion.target(at);
            &state[..state.len().saturating_sub(self.hidden)]
        };
        self.store.finish_all(key, tickets).map_err(|_| StopReason::MemoryLimit)
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

    #[inline]
    fn expand_one(&mut self, batch: &mut Batch<S::Ticket, S::Name>) -> Result<(), StopReason> {
        let Batch { state, annotation, slept, expansion, parents, hashes, .. } = batch;
        if self.expanded.is_some() {
            hashes.push(store::hash::hash(&state[..state.len().saturating_sub(self.hidden)]));
        }
        if state.len() as u64 > self.statistics.vector_bytes {
            self.statistics.vector_bytes = state.len() as u64;
        }
        let ordinal = self.ancestry.parent() + parents.len() as u64;
        if self.twophase {
            self.expand_behind_phase1(state, expansion)?;
        } else if self.lean {
            self.expander.expand_active(state, *annotation, self.depth, &mut self.budget, expansion)?;
            *slept += expansion.slept;
        } else {
            self.expander.expand(state, self.depth, &mut self.budget, expansion)?;
        }
        if expansion.known {
            return Ok(());
        }
        self.judge(ordinal, state, expansion)
    }

    /// Runs phase 1 and expands its end, unless that is known; stores the end and what is to be saved.
    #[cold]
    fn expand_behind_phase1(
        &mut self,
        state: &mut Vec<u8>,
        expansion: &mut Expansion,
    ) -> Result<(), StopReason> {
        let first = expansion.edges().len();
        let limit = self.budget.limits().states;
        let (store, hidden) = (&mut *self.store, self.hidden);
        let mut known = |end: &[u8]| store_aside(store, hidden, limit, end).map(|is_new| !is_new);
        self.expander.expand_unless(state, self.depth, &mut self.budget, expansion, &mut known)?;
        let Some(phase1) = self.expander.phase1() else { return Ok(()) };
        let mut lookups = u64::from(phase1.end() != state.as_slice());
        for saved in phase1.saved() {
            store_aside(self.store, self.hidden, limit, saved)?;
            lookups += 1;
        }
        self.statistics.transitions += phase1.steps();
        let edges = (expansion.edges().len() - first) as u64;
        *self.statistics.lookups.get_or_insert(1) += lookups + edges;
        self.statistics.matched += u64::from(expansion.known);
        state.clear();
        state.extend_from_slice(phase1.end());
        Ok(())
    }

    /// Judges a state that was expanded: with phase 1, its end.
    #[inline]
    fn judge(&mut self, ordinal: Ordinal, state: &[u8], expansion: &mut Expansion) -> Result<(), StopReason> {
        if self.judge.every_state() || expansion.stuck || expansion.shows_something() {
            return self.judge_closely(ordinal, state, expansion);
        }
        Ok(())
    }

    fn judge_closely(
        &mut self,
        ordinal: Ordinal,
        state: &[u8],
        expansion: &mut Expansion,
    ) -> Result<(), StopReason> {
        if self.judge.every_state() || expansion.stuck {
            let mut faults = Vec::new();
            self.judge.state(state, expansion.stuck, &mut faults);
            for fault in faults {
                self.violation(fault, ordinal, &[])?;
            }
        }
        self.judge_steps(ordinal, expansion)
    }

    fn judge_steps(&mut self, ordinal: Ordinal, expansion: &mut Expansion) -> Result<(), StopReason> {
        for (judged, actions) in expansion.judged(&self.task.checks) {
            let more = [self.expander.before(), &actions].concat();
            let spot = Spot { worker: self.worker, expansion: ordinal, more };
            match judged {
                Judged::Violation(fault) => self.violation(fault, ordinal, &actions)?,
                Judged::Cut(fault) => self.found.cut(fault, || spot),
                Judged::AtomicLoop => self.found.add_atomic_loop(spot),
            }
        }
        Ok(())
    }

    /// Counts a violation at a state or behind some more actions. Unless all are wanted the search stops: at
    /// once, or when it is sure that there is no shorter one.
    fn violation(&mut self, fault: Fault, ordinal: Ordinal, more: &[ActionId]) -> Result<(), StopReason> {
        let exact = self.levels == Levels::Steps;
        let before = self.expander.before();
        let depth = if exact { self.depth + (before.len() + more.len()) as u64 } else { u64::MAX };
        let (worker, expansion) = (self.worker, ordinal);
        self.found.add(fault, depth, || Spot { worker, expansion, more: [before, more].concat() });
        if self.task.all_errors || (exact && !self.found_shortest(self.depth)) {
            return Ok(());
        }
        Err(StopReason::Violation)
    }

    /// Inserts the successors of a batch; those that are new join the queue.
    fn insert_batch(&mut self, batch: &mut Batch<S::Ticket, S::Name>) -> Result<(), StopReason> {
        if let Some(expanded) = &mut self.expanded {
            expanded.note_all(&batch.hashes);
        }
        // Far from the limit nothing is to be watched.
        let most = || self.store.n_keys() + batch.expansion.edges().len() as u64;
        let is_near = self.limited && self.budget.states_spent(most());
        let one_by_one = self.proviso || is_near || self.random.is_some();
        if !one_by_one && self.levels == Levels::Edges {
            return self.insert_together(batch);
        }
        self.store.probe_all(&mut batch.tickets);
        let mut first = 0;
        for at in 0..batch.parents.len() {
            let Parent { end, order, rest } = batch.parents[at];
            let range = first..end as usize;
            first = range.end;
            let (followed, known) = (range.len() as u32, self.ancestry.found_so_far());
            match &mut self.random {
                None => self.insert_edges(batch, range, order)?,
                Some(random) => {
                    batch.order.clear();
                    batch.order.extend(0..range.len() as u32);
                    random.shuffle(&mut batch.order);
                    self.insert_shuffled(batch, range.start, order)?;
                }
            }
            if !rest.is_empty() {
                let enough = !self.proviso
                    || self.ancestry.found_so_far() != known
                    || self.one_waits(batch, first - followed as usize..first);
                match enough {
                    true => self.statistics.reduced += 1,
                    false => self.insert_rest(batch, rest, followed, order)?,
                }
            }
            self.ancestry.expanded().map_err(no_memory)?;
        }
        Ok(())
    }

    /// Inserts the successors of a batch where nothing depends on what was new before.
    fn insert_together(&mut self, batch: &mut Batch<S::Ticket, S::Name>) -> Result<(), StopReason> {
        let Batch { expansion, parents, tickets, new, .. } = batch;
        new.clear();
        let hidden = self.hidden;
        let keys = expansion.edges().iter().map(|edge| {
            let state = expansion.state(&edge);
            &state[..state.len().saturating_sub(hidden)]
        });
        let inserted = self.store.insert_all(keys, tickets, new);
        let mut tried = tickets.len() as u64;
        if inserted.is_err() {
            tried = new.last().map_or(0, |&(at, _)| u64::from(at) + 1);
        }
        self.statistics.transitions += tried;
        self.statistics.matched += tried - new.len() as u64;
        // In this order: others may take what is in the queue.
        let parents = parents.iter().map(|parent| (parent.end, parent.order));
        self.ancestry.expanded_all(parents, new.iter().map(|new| new.0)).map_err(no_memory)?;
        let states = new.iter().map(|&(number, name)| {
            let state: &[u8] = if Q::WHOLE { expansion.target(number as usize) } else { &[] };
            (name, state, expansion.annotation(number as usize))
        });
        self.queue.push_all(states).map_err(no_memory)?;
        inserted.map_err(|Full| StopReason::MemoryLimit)
    }

    /// Whether one of the edges leads to a state that has surely not been expanded. (It waits, or it will.)
    fn one_waits(&self, batch: &Batch<S::Ticket, S::Name>, edges: Range<usize>) -> bool {
        let Some(expanded) = &self.expanded else { return false };
        batch.expansion.edges().range(edges).iter().any(|edge| {
            let state = batch.expansion.state(&edge);
            !expanded.may_hold(store::hash::hash(&state[..state.len().saturating_sub(self.hidden)]))
        })
    }

    /// Expands and inserts what was left out of a state of the batch, of which `followed` edges were
    /// followed.
    #[cold]
    fn insert_rest(
        &mut self,
        batch: &mut Batch<S::Ticket, S::Name>,
        rest: Rest,
        followed: u32,
        order: EdgeOrder,
    ) -> Result<(), StopReason> {
        let expansion = &mut batch.expansion;
        let first = expansion.edges().len();
        self.expander.expand_rest(rest, self.depth, &mut self.budget, expansion)?;
        self.judge_steps(self.ancestry.parent(), expansion)?;
        for (i, edge) in expansion.edges().from(first).iter().enumerate() {
            let state = expansion.state(&edge);
            let key = &state[..state.len().saturating_sub(self.hidden)];
            let mut ticket = self.store.hash(key).map_err(|_| StopReason::MemoryLimit)?;
            self.store.probe(&mut ticket);
            self.statistics.transitions += 1;
            let is_new = self.reach(expansion, first + i, ticket, order.encode(followed + i as u32))?;
            self.statistics.matched += u64::from(!is_new);
        }
        Ok(())
    }

    /// Follows the edges of one state.
    #[inline(never)]
    fn insert_edges(
        &mut self,
        batch: &Batch<S::Ticket, S::Name>,
        range: Range<usize>,
        order: EdgeOrder,
    ) -> Result<(), StopReason> {
        let (mut tried, mut matched) = (0u32, 0u64);
        let mut result = Ok(());
        for at in range {
            let number = order.encode(tried);
            tried += 1;
            match self.reach(&batch.expansion, at, batch.tickets[at], number) {
                Ok(true) => {}
                Ok(false) => matched += 1,
                Err(stop) => {
                    result = Err(stop);
                    break;
                }
            }
        }
        self.statistics.transitions += u64::from(tried);
        self.statistics.matched += matched;
        result
    }

    /// Follows the edges of one state, the first of which stands at this place, in the order that the batch
    /// says.
    fn insert_shuffled(
        &mut self,
        batch: &Batch<S::Ticket, S::Name>,
        first: usize,
        order: EdgeOrder,
    ) -> Result<(), StopReason> {
        for &number in &batch.order {
            let at = first + number as usize;
            self.statistics.transitions += 1;
            let is_new = self.reach(&batch.expansion, at, batch.tickets[at], order.encode(number))?;
            self.statistics.matched += u64::from(!is_new);
        }
        Ok(())
    }

    /// Follows the edge at this place, which has this number among the edges of its state. True unless it led
    /// to a known state.
    #[inline(always)]
    fn reach(
        &mut self,
        expansion: &Expansion,
        at: usize,
        ticket: S::Ticket,
        number: u32,
    ) -> Result<bool, StopReason> {
        let edge = expansion.edge(at);
        let state = expansion.state(&edge);
        if self.levels == Levels::Steps && edge.n_actions() > 1 {
            let parent = self.ancestry.parent();
            self.apart.push(edge.n_actions(), parent, number, state).map_err(no_memory)?;
            return Ok(true);
        }
        let Some(name) = self.insert(state, ticket)? else { return Ok(false) };
        // In this order: others may take what is in the queue.
        self.ancestry.found(number).map_err(no_memory)?;
        self.queue.push(name, state, expansion.annotation(at)).map_err(no_memory)?;
        Ok(true)
    }

    /// Inserts a state, unless it is new and there are as many as there may be.
    #[inline(always)]
    fn insert(&mut self, state: &[u8], ticket: S::Ticket) -> Result<Option<S::Name>, StopReason> {
        let key = &state[..state.len().saturating_sub(self.hidden)];
        if self.limited && self.budget.states_spent(self.store.n_keys()) && !self.store.contains(key, ticket)
        {
            return Err(StopReason::StateLimit);
        }
        self.store.insert(key, ticket).map_err(|_| StopReason::MemoryLimit)
    }

    /// Inserts the states that were waiting for this level.
    pub fn insert_apart(&mut self) -> Result<(), StopReason> {
        let waiting = self.apart.next_level();
        for (parent, number, state) in waiting.iter() {
            let key = &state[..state.len().saturating_sub(self.hidden)];
            let ticket = self.store.hash(key).map_err(|_| StopReason::MemoryLimit)?;
            match self.insert(state, ticket)? {
                Some(name) => {
                    self.ancestry.found_apart(parent, number);
                    self.queue.push(name, state, Annotation::NONE).map_err(no_memory)?;
                }
                None => self.statistics.matched += 1,
            }
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
        self.ancestry.memory() + self.queue.memory() + self.apart.memory() + expanded
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
        Outcome::conclude(stop, checks.about(), checks, cuts, S::LOSSLESS, found, self.statistics)
    }
}

/// States at the ends of atomic sequences, by the level in which they are to be inserted.
#[derive(Debug, Default)]
pub(crate) struct Apart {
    /// The first is for the present level.
    levels: VecDeque<Waiting>,
}

/// States that are to be inserted in one level: parent, edge, length and bytes of each.
#[derive(Debug, Default)]
struct Waiting {
    list: Vec<(Ordinal, u32, u32)>,
    bytes: Vec<u8>,
}

impl Waiting {
    fn iter(&self) -> impl Iterator<Item = (Ordinal, u32, &[u8])> {
        let mut start = 0;
        self.list.iter().map(move |&(parent, number, len)| {
            let state = &self.bytes[start..start + len as usize];
            start += len as usize;
            (parent, number, state)
        })
    }
}

impl Apart {
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// Lets a state wait until `steps` levels further on.
    fn push(
        &mut self,
        steps: u32,
        parent: Ordinal,
        number: u32,
        state: &[u8],
    ) -> Result<(), TryReserveError> {
        // The present level's has been taken out: the first waits for the next level.
        let at = steps as usize - 1;
        if self.levels.len() <= at {
            self.levels.resize_with(at + 1, Waiting::default);
        }
        let waiting = &mut self.levels[at];
        waiting.list.try_reserve(1)?;
        waiting.bytes.try_reserve(state.len())?;
        waiting.list.push((parent, number, state.len() as u32));
        waiting.bytes.extend_from_slice(state);
        Ok(())
    }

    /// Those who waited for the level that begins now.
    fn next_level(&mut self) -> Waiting {
        self.levels.pop_front().unwrap_or_default()
    }

    fn memory(&self) -> u64 {
        self.levels
            .iter()
            .map(|waiting| (waiting.list.capacity() * 16 + waiting.bytes.capacity()) as u64)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::depth_first::depth_first;
    use crate::limits::Limits;
    use crate::observer::Silent;
    use crate::property::Checks;
    use crate::queue::{Names, Whole};
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::atomic::AtomicBool;
    use store::{Roots, Table, Tree};
    use system::Successors;
    use system::toy::{Counters, Graph, Hidden};

    fn run(system: &dyn TransitionSystem, all_errors: bool, limits: Limits, breadth: bool) -> Outcome {
        let stop = AtomicBool::new(false);
        let task = Task { checks: Checks::SAFETY, all_errors, seed: None, limits, stop: &stop, reduce: None };
        if breadth {
            steps(system, &task)
        } else {
            depth_first(system, &mut Table::default(), &task, &mut Silent)
        }
    }

    /// Breadth-first search; also in other stores and queues, which must make no difference.
    fn steps(system: &dyn TransitionSystem, task: &Task<'_>) -> Outcome {
        let whole = || Whole::new(system.hidden_bytes(), false);
        let outcome = frontier(system, &mut Table::default(), whole(), Levels::Steps, task, &mut Silent);
        let mut tree = Tree::new(Roots::Cleary, u64::MAX);
        let other = frontier(system, &mut tree, whole(), Levels::Steps, task, &mut Silent);
        compare(&outcome, &other);
        if system.hidden_bytes() == 0 {
            let names = Names::default();
            let other = frontier(system, &mut Table::default(), names, Levels::Steps, task, &mut Silent);
            compare(&outcome, &other);
        }
        outcome
    }

    fn compare(one: &Outcome, other: &Outcome) {
        assert_eq!((&one.violations, one.errors, one.stop), (&other.violations, other.errors, other.stop));
        assert_eq!(one.warnings, other.warnings);
        let numbers = |o: &Outcome| (o.statistics.states, o.statistics.transitions, o.statistics.depth);
        assert_eq!(numbers(one), numbers(other));
    }

    fn search(system: &dyn TransitionSystem, all_errors: bool) -> Outcome {
        run(system, all_errors, Limits::default(), true)
    }

    #[test]
    fn counters_are_counted() {
        let outcome = search(&Counters { n: 4, max: 4 }, false);
        assert_eq!(outcome.statistics.states, 625);
        assert_eq!(outcome.statistics.transitions, 2000);
        assert_eq!(outcome.statistics.matched, 2000 - 624);
        assert!(outcome.exhausted.is_some());
    }

    #[test]
    fn a_long_atomic_sequence_does_not_hide_a_shorter_way() {
        // To 9 by one atomic sequence of four steps, or by three ordinary steps; then a fault.
        let text = "0 -> 1 -> 2 -> 3 -> 9; transient 1 2 3; 0 -> 5 -> 6 -> 9; 9 -> 8; fault 9 8";
        let outcome = search(&Graph::parse(text).unwrap(), false);
        assert_eq!(outcome.violations[0].path.len(), 4);
        assert_eq!((outcome.errors, outcome.stop), (1, StopReason::Violation));
    }

    #[test]
    fn a_fault_inside_an_atomic_sequence_may_not_be_the_shortest() {
        let text = "0 -> 1 -> 2 -> 3 -> 4; transient 1 2 3; fault 3 4; 0 -> 5 -> 6; bad 6; end 6";
        let outcome = search(&Graph::parse(text).unwrap(), false);
        assert_eq!(outcome.violations[0].fault.message, "bad node 6");
        assert_eq!(outcome.violations[0].path.len(), 2);
    }

    #[test]
    fn hidden_values_follow_the_shortest_way() {
        let outcome = search(&Hidden, true);
        assert_eq!(outcome.statistics.states, 10);
        assert_eq!(outcome.errors, 0, "8 is reached by steps of two");
    }

    #[test]
    fn the_depth_limit_leaves_out_and_says_so() {
        let counters = Counters { n: 2, max: 9 };
        let cut = run(&counters, false, Limits { depth: Some(3), ..Limits::default() }, true);
        assert_eq!((cut.statistics.states, cut.depth_limited), (10, true));
        assert!(cut.exhausted.is_none());
    }

    /// Distances from node 0 in single steps, and the ordinary states, found in the plainest way.
    fn reference(graph: &Graph) -> (BTreeMap<u32, u64>, BTreeSet<u32>) {
        let mut distance = BTreeMap::from([(0, 0)]);
        let mut queue = VecDeque::from([0]);
        while let Some(node) = queue.pop_front() {
            for &(from, to) in graph.edges() {
                if from == node && !graph.is_fault(from, to) && !distance.contains_key(&to) {
                    distance.insert(to, distance[&node] + 1);
                    queue.push_back(to);
                }
            }
        }
        let ordinary = distance.keys().copied().filter(|&n| !graph.is_transient(n)).collect();
        (distance, ordinary)
    }

    /// The steps of the shortest violation, found in the plainest way.
    fn shortest(graph: &Graph, distance: &BTreeMap<u32, u64>) -> Option<u64> {
        let mut best = None;
        for (&node, &steps) in distance {
            let state = node.to_string().into_bytes();
            let (mut enabled, mut faults) = (Vec::new(), Vec::new());
            graph.enabled(&state, &mut enabled);
            if !graph.is_transient(node) {
                Judge::new(Checks::SAFETY, graph).state(&state, enabled.is_empty(), &mut faults);
            }
            let mut batch = Successors::default();
            graph.fire(&state, &enabled, &mut batch);
            let here = (!faults.is_empty()).then_some(steps);
            let step = batch.list.iter().any(|s| s.fault != 0).then_some(steps + 1);
            best = [best, here, step].into_iter().flatten().min();
        }
        best
    }

    #[test]
    fn both_orders_agree_with_each_other_and_with_a_plain_search() {
        let mut violated = 0;
        for seed in 0..400 {
            let graph = Graph::random(4 + (seed % 60) as u32, seed);
            let (distance, ordinary) = reference(&graph);
            let depth = run(&graph, true, Limits::default(), false);
            let breadth = run(&graph, true, Limits::default(), true);
            assert_eq!(breadth.statistics.states, ordinary.len() as u64, "seed {seed}");
            assert_eq!(depth.statistics.states, breadth.statistics.states, "seed {seed}");
            // Where steps are not counted, straight runs that meet are not told apart from different ones.
            let (loose, exact) = (&depth.statistics, &breadth.statistics);
            assert_eq!(loose.transitions - loose.matched, exact.transitions - exact.matched, "seed {seed}");
            assert!(loose.transitions >= exact.transitions, "seed {seed}");
            assert_eq!(depth.errors, breadth.errors, "seed {seed}");
            assert_eq!(depth.violations.len(), breadth.violations.len(), "seed {seed}");
            assert_eq!(depth.warnings.is_empty(), breadth.warnings.is_empty(), "seed {seed}");
            let first = run(&graph, false, Limits::default(), true);
            let found = first.violations.first().map(|v| v.path.len() as u64);
            assert_eq!(found, shortest(&graph, &distance), "seed {seed}");
            assert_eq!(found, breadth.violations.iter().map(|v| v.path.len() as u64).min(), "seed {seed}");
            violated += u32::from(found.is_some());
        }
        assert!((100..400).contains(&violated), "{violated} of the random graphs have a violation");
    }
}
