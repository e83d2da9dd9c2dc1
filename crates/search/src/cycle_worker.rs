//! What searches for cycles by several workers have in common ([`crate::cndfs`], [`crate::ufscc`]): a store
//! that all share (`H` is a hand on it), limits that count for all together, a first worker that begins
//! alone, a stop for all when one has found something, and the loop of a depth-first search, in which each
//! search enters and leaves states in its own way ([`CycleSearch`]).

use crate::cuts::Cuts;
use crate::expand::Expansion;
use crate::halt::{Halt, obeying};
use crate::judged::{Judged, initial_state};
use crate::limits::{Budget, Limits};
use crate::marks::Marker;
use crate::ndfs::Cycles;
use crate::observer::{Observer, Silent, Snapshot};
use crate::outcome::{Statistics, StopReason, no_memory};
use crate::random::Random;
use crate::stack::Stack;
use crate::state_key::key;
use crate::states::Job;
use crate::task::Task;
use crate::worker_pool::{ALONE, Alarm, WorkerPool};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Instant;
use store::{Batched, Entry, Full, Hand, Numbering, Seen};
use system::{ActionId, TransitionSystem};

/// Who searches.
#[derive(Clone, Copy, Debug)]
pub struct Workers {
    /// How many there are.
    pub number: usize,
    /// The first one is alone until it has found this number of states; `None`: as many as seem best.
    pub alone: Option<u64>,
}

/// What workers share; `own` is what a search adds.
pub(crate) struct Shared<'a, H, O> {
    pub system: &'a dyn TransitionSystem,
    pub cycles: &'a Cycles,
    pub task: &'a Task<'a>,
    /// Access to the store for one more worker.
    pub hand: &'a (dyn Fn() -> H + Sync),
    pub own: O,
    pub halt: Halt,
    /// A worker has found something wrong.
    found: AtomicBool,
    /// States found, if there is a limit.
    states: AtomicU64,
    /// Steps of all, for the progress line.
    transitions: AtomicU64,
    started: Instant,
}

/// What a worker leaves.
pub(crate) struct WorkerResult<F> {
    pub found: F,
    pub statistics: Statistics,
    pub cuts: Cuts,
}

/// Puts the numbers of all workers together; the caller takes what they found.
pub(crate) fn merge<F>(all: Vec<WorkerResult<F>>, mut take: impl FnMut(F)) -> (Statistics, Cuts) {
    let mut statistics = Statistics { workers: all.len() as u64, ..Statistics::default() };
    let mut cuts = Cuts::default();
    for part in all {
        statistics.join(&part.statistics);
        cuts.join(part.cuts);
        take(part.found);
    }
    (statistics, cuts)
}

impl<'a, H: Hand + Numbering, O: Sync> Shared<'a, H, O> {
    /// For a job; the observer goes to the first worker.
    pub fn new<'o>(
        job: Job<'a, 'o>,
        hand: &'a (dyn Fn() -> H + Sync),
        own: O,
    ) -> (Self, &'o mut dyn Observer) {
        let Job { system, cycles, task, observer } = job;
        let shared = Shared {
            system,
            cycles,
            task,
            hand,
            own,
            halt: Halt::default(),
            found: AtomicBool::new(false),
            states: AtomicU64::new(0),
            transitions: AtomicU64::new(0),
            started: Instant::now(),
        };
        (shared, observer)
    }

    /// Whether one more state may be found.
    fn admit(&self) -> Result<(), StopReason> {
        let Some(limit) = self.task.limits.states else { return Ok(()) };
        let more = |states| (states < limit).then_some(states + 1);
        // Never beyond the limit, not even for a moment: a worker that sees the limit reached gives up for
        // all.
        self.states.fetch_update(AcqRel, Acquire, more).map(drop).map_err(|_| StopReason::StateLimit)
    }

    /// Whether nobody has found something wrong before. All stop.
    pub fn is_first(&self) -> bool {
        // The swap decides, so that exactly one worker records a counterexample.
        let first = !self.found.swap(true, AcqRel);
        self.halt.halt(StopReason::Violation);
        first
    }

    /// The task for what is left to do when everybody has been stopped.
    pub fn rest_of_task(&self) -> Task<'a> {
        let time = self.task.limits.time.map(|time| time.saturating_sub(self.started.elapsed()));
        Task { limits: Limits { time, ..self.task.limits }, ..*self.task }
    }

    /// Adds what is known of the store when everybody has stopped. Every state but the first was new for one
    /// step.
    pub fn take_stock(&self, statistics: &mut Statistics) {
        let store = (self.hand)();
        statistics.states = store.n_keys();
        statistics.state_bytes = store.memory();
        statistics.matched = (statistics.transitions + 1).saturating_sub(statistics.states);
    }

    /// Lets the first worker search, and the others when it calls them. `search` makes the search of a
    /// worker.
    pub fn search<'c, S>(
        &'c self,
        workers: Workers,
        observer: &'c mut dyn Observer,
        search: &(impl Fn(CycleWorker<'a, 'c, H, O, S::MissingMarks>) -> S + Sync),
    ) -> Vec<WorkerResult<S::Found>>
    where
        'a: 'c,
        S: CycleSearch<'a, 'c, Hand = H, Own = O>,
    {
        std::thread::scope(|scope| {
            let _alarm = Alarm(|| self.halt.halt(StopReason::Interrupted));
            let mut pool = WorkerPool::new(scope);
            let mut first = search(CycleWorker::new(self, 0, observer));
            first.worker().alone = Some(workers.alone.unwrap_or(ALONE));
            if first.work() == Progress::NeedsHelp {
                for number in 1..workers.number {
                    // One that cannot be started is not missed: each makes the whole search.
                    pool.spawn(move || {
                        let _alarm = Alarm(|| self.halt.halt(StopReason::Interrupted));
                        let mut other = search(CycleWorker::silent(self, number));
                        other.work();
                        other.conclude()
                    });
                }
                first.worker().alone = None;
                first.work();
            }
            pool.join(first.conclude())
        })
    }
}

/// How a worker's search has gone.
#[derive(PartialEq, Eq)]
pub(crate) enum Progress {
    /// It is over.
    Over,
    /// It goes on, and others should help.
    NeedsHelp,
}

/// A successor that is still to be tried: its ticket, and what a search keeps with the step to it.
#[derive(Clone, Copy)]
pub(crate) struct Pending<T, L> {
    pub ticket: T,
    pub lack: L,
}

/// What visiting the state at the end of a path showed, and what is kept with the step to it.
pub(crate) type Visited<H, L> = (Entry<<H as Numbering>::Number, <H as Seen>::Name>, Option<L>);

/// One worker: its hand on the store, its path, and the state that it has expanded last.
pub(crate) struct CycleWorker<'a, 'c, H: Numbering, O, L> {
    pub shared: &'c Shared<'a, H, O>,
    pub number: usize,
    pub budget: Budget<'c>,
    pub marker: Marker<'c>,
    pub expansion: Expansion,
    pub store: H,
    pub hidden: usize,
    random: Option<Random>,
    /// Of the worker who is alone: after how many states it calls the others.
    alone: Option<u64>,
    /// States that were new for this worker.
    pub new: u64,
    /// In which order the edges are looked at, and the tickets of their ends, by edge.
    pub order: Vec<usize>,
    pub tickets: Vec<H::Ticket>,
    pub actions: Vec<ActionId>,
    pub stack: Stack<Pending<H::Ticket, L>>,
    pub statistics: Statistics,
    /// Steps that were added to those of all.
    told: u64,
    begun: bool,
    knows_atomic_loop: bool,
}

impl<'a, 'c, H: Hand + Numbering, O: Sync, L: Copy> CycleWorker<'a, 'c, H, O, L>
where
    'a: 'c,
{
    fn new(shared: &'c Shared<'a, H, O>, number: usize, observer: &'c mut dyn Observer) -> Self {
        let seed = shared.task.seed.map(|seed| seed.wrapping_add(number as u64));
        let others = (number > 0).then_some(number as u64);
        CycleWorker {
            shared,
            number,
            budget: Budget::new(shared.task, observer).halted_by(shared.halt.flag()),
            marker: Marker::new(shared.system, shared.cycles.acceptance),
            expansion: Expansion::default(),
            store: (shared.hand)(),
            hidden: shared.system.hidden_bytes(),
            random: seed.or(others).map(Random::new),
            alone: None,
            new: 0,
            order: Vec::new(),
            tickets: Vec::new(),
            actions: Vec::new(),
            stack: Stack::default(),
            statistics: Statistics::default(),
            told: 0,
            begun: false,
            knows_atomic_loop: false,
        }
    }

    /// Another worker than the first.
    fn silent(shared: &'c Shared<'a, H, O>, number: usize) -> Self {
        // A value of no size: nothing is allocated, so nothing leaks.
        Self::new(shared, number, Box::leak(Box::new(Silent)))
    }

    /// Stores the state at the end of the path, if one more may be found; and what is kept with the step to
    /// it, unless it is the first.
    #[inline]
    pub fn visit(&mut self) -> Result<Visited<H, L>, StopReason> {
        let CycleWorker { stack, store, shared, hidden, .. } = self;
        let key = key(stack.state(), *hidden);
        let (ticket, lack) = match stack.ticket {
            Some(Pending { ticket, lack }) => (ticket, Some(lack)),
            None => (store.hash(key).map_err(full)?, None),
        };
        // Without a limit on states nothing must be known before.
        let limited = shared.task.limits.states.is_some() && store.number(key, ticket).is_none();
        if limited {
            shared.admit()?;
        }
        let entry = store.visit(key, ticket).map_err(full)?;
        if limited && !entry.new {
            // Another worker was faster.
            shared.states.fetch_sub(1, AcqRel);
        }
        Ok((entry, lack))
    }

    /// Prepares the successors of the state that was expanded last, all together: each waits for memory. That
    /// state is `parent`, or the one at the end of the path.
    pub fn prepare_successors(&mut self, parent: Option<&[u8]>) -> Result<(), StopReason> {
        let CycleWorker { expansion, hidden, tickets, store, stack, .. } = self;
        store.depart(key(parent.unwrap_or(stack.state()), *hidden));
        tickets.clear();
        let keys = expansion.edges().iter().map(|edge| key(expansion.state(edge), *hidden));
        store.hash_all(keys, tickets).map_err(full)?;
        store.probe_all(tickets);
        Ok(())
    }

    /// Chooses the order in which the edges of the state that was expanded last are looked at.
    pub fn line_up(&mut self) {
        self.order.clear();
        self.order.extend((0..self.expansion.edges().len()).rev());
        if let Some(random) = &mut self.random {
            random.shuffle(&mut self.order);
        }
    }

    /// The number of a prepared successor of the state that was expanded last, if it is known.
    #[inline]
    pub fn number_of(&self, at: usize) -> Option<H::Number> {
        let state = self.expansion.target(at);
        self.store.number(key(state, self.hidden), self.tickets[at])
    }

    /// Puts a successor of the state that was expanded last on the stack.
    pub fn push(&mut self, at: usize, lack: L) -> Result<(), StopReason> {
        self.note_actions(at);
        let state = self.expansion.target(at);
        self.stack.push(state, &self.actions, Pending { ticket: self.tickets[at], lack }).map_err(no_memory)
    }

    /// The actions of a step of the state that was expanded last.
    pub fn note_actions(&mut self, at: usize) {
        self.actions.clear();
        self.marker.expander.actions(self.expansion.edge(at), &mut self.actions);
    }

    /// What the worker leaves, who has found this.
    pub fn result<F>(mut self, found: F) -> WorkerResult<F> {
        let cuts = self.marker.expander.take_cuts();
        WorkerResult { found, statistics: self.statistics, cuts }
    }

    /// Looks at the limits, and lets the store grow. `memory` is what the search uses beside the stack.
    pub fn look_around(&mut self, memory: u64) -> Result<(), StopReason> {
        self.store.rest();
        let more = self.statistics.transitions - self.told;
        self.told = self.statistics.transitions;
        let at = Snapshot {
            states: self.store.n_keys(),
            transitions: self.shared.transitions.fetch_add(more, Relaxed) + more,
            depth: self.stack.steps() as u64,
            frontier: self.stack.pending() as u64,
            memory: memory + self.stack.memory(),
            ..Snapshot::default()
        };
        self.budget.look(|| at)
    }
}

/// What a search does in its own way, and the loop around that.
pub(crate) trait CycleSearch<'a, 'c>: Sized
where
    'a: 'c,
{
    /// Access to the store.
    type Hand: Hand + Numbering + 'a;
    /// What workers share beside the store.
    type Own: Sync + 'c;
    /// What is kept with a step to a successor.
    type MissingMarks: Copy;
    /// What a worker has found.
    type Found: Send;

    /// What all searches have.
    fn worker(&mut self) -> &mut CycleWorker<'a, 'c, Self::Hand, Self::Own, Self::MissingMarks>;

    /// Goes to the state at the end of the path; false when there is nothing to do.
    fn enter(&mut self) -> Result<bool, StopReason>;

    /// All successors of the last state of the path were tried.
    fn leave(&mut self) -> Result<(), StopReason>;

    /// Notes what was met at the end of the path and `more`; an error when all must stop.
    fn tell(&mut self, news: Judged, more: &[ActionId]) -> Result<(), StopReason>;

    /// Bytes of memory beside the path.
    fn memory(&self) -> u64;

    /// What the worker leaves.
    fn conclude(self) -> WorkerResult<Self::Found>;

    /// Searches to the end, or until others should help.
    fn work(&mut self) -> Progress {
        let progress = obeying(|| self.run());
        let worker = self.worker();
        worker.store.rest();
        progress.unwrap_or_else(|reason| {
            worker.shared.halt.halt(reason);
            Progress::Over
        })
    }

    /// The depth-first search.
    fn run(&mut self) -> Result<Progress, StopReason> {
        if !std::mem::replace(&mut self.worker().begun, true) && !self.begin()? {
            return Ok(Progress::Over);
        }
        while self.worker().stack.depth() > 0 {
            let worker = self.worker();
            if !worker.stack.advance() {
                self.leave()?;
            } else {
                // By the time that its turn comes its memory is there.
                let CycleWorker { stack, store, .. } = worker;
                stack.next_ticket().into_iter().for_each(|next| store.prefetch(next.ticket));
                if !self.enter()? {
                    self.worker().stack.leave();
                }
            }
            let worker = self.worker();
            if worker.alone.is_some_and(|states| worker.new >= states) {
                return Ok(Progress::NeedsHelp);
            }
        }
        Ok(Progress::Over)
    }

    /// Goes to the initial state; false when there is none. That is not the claim's business, unless it has
    /// come to its end already.
    fn begin(&mut self) -> Result<bool, StopReason> {
        let shared = self.worker().shared;
        let initial = match initial_state(shared.system, &shared.task.checks) {
            Ok(initial) => initial,
            Err(missing) => return self.tell(missing.into(), &[]).map(|()| false),
        };
        self.worker().stack.begin(&initial).map_err(no_memory)?;
        self.enter()
    }

    /// Expands the state at the end of the path, and tells what is wrong there.
    fn expand(&mut self) -> Result<(), StopReason> {
        if self.worker().budget.tick()? {
            let memory = self.memory();
            self.worker().look_around(memory)?;
        }
        let worker = self.worker();
        let depth = worker.stack.steps() as u64;
        worker.statistics.depth = worker.statistics.depth.max(depth);
        let len = worker.stack.state().len() as u64;
        worker.statistics.vector_bytes = worker.statistics.vector_bytes.max(len);
        worker.marker.expander.look_for_loops(!worker.knows_atomic_loop);
        worker.expansion.clear();
        let CycleWorker { marker, stack, budget, expansion, shared, .. } = worker;
        let expanded = marker.expand(stack.state(), depth, budget, expansion);
        // An error counts also beside a step that was cut short.
        for (judged, actions) in expansion.judged(&shared.task.checks) {
            self.worker().knows_atomic_loop |= matches!(judged, Judged::AtomicLoop);
            self.tell(judged, &actions)?;
        }
        expanded
    }
}

/// The store has no room.
pub(crate) fn full(_: Full) -> StopReason {
    StopReason::MemoryLimit
}
