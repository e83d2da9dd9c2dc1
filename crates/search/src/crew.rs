//! What searches for cycles by several workers have in common: a store that all share (`H` is a hand on it), limits that count for all together, one who
//! begins alone, and a stop for all when one has found something.

use crate::halt::Halt;
use crate::limits::{Budget, Limits};
use crate::ndfs::Cycles;
use crate::observer::{Observer, Silent};
use crate::outcome::StopReason;
use crate::task::Task;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Instant;
use store::pages::affordable;
use store::{Entry, Hand, Numbering};
use system::TransitionSystem;

/// The first worker is alone until it has found so many states.
const ALONE: u64 = 4096;
/// The stack of a thread; reserved, not used. Where the process may have few addresses it is less.
const STACK_BYTES: usize = 256 << 20;

/// Who searches.
#[derive(Clone, Copy, Debug)]
pub struct Workers {
    /// How many there are.
    pub number: usize,
    /// The first one is alone until it has found so many states; `None`: as many as seem best.
    pub alone: Option<u64>,
}

impl Workers {
    /// Lets a worker search: the first one `call`s the others when it has found some states, and goes on; the others call nobody.
    /// `search` is told after how many states it is to come back.
    pub(crate) fn search(
        self,
        number: usize,
        call: &mut dyn FnMut(),
        mut search: impl FnMut(Option<u64>) -> Course,
    ) {
        let patience = (number == 0).then(|| self.alone.unwrap_or(ALONE));
        if search(patience) == Course::CallOthers {
            call();
            search(None);
        }
    }
}

/// How a worker's search has gone.
#[derive(PartialEq, Eq)]
pub(crate) enum Course {
    /// It is over.
    Over,
    /// It goes on, and others should help.
    CallOthers,
}

/// What workers share; `own` is what a search adds.
pub(crate) struct Crew<'a, H, S> {
    pub system: &'a dyn TransitionSystem,
    pub cycles: &'a Cycles,
    pub task: &'a Task<'a>,
    /// Access to the store for one more worker.
    pub hand: &'a (dyn Fn() -> H + Sync),
    pub own: S,
    pub halt: Halt,
    /// Somebody has found something wrong.
    found: AtomicBool,
    /// States found, if there is a limit.
    states: AtomicU64,
    /// Steps of all, for the progress line.
    transitions: AtomicU64,
    started: Instant,
}

impl<'a, H: Hand + Numbering, S> Crew<'a, H, S> {
    pub fn new(
        system: &'a dyn TransitionSystem,
        cycles: &'a Cycles,
        task: &'a Task<'a>,
        hand: &'a (dyn Fn() -> H + Sync),
        own: S,
    ) -> Self {
        Crew {
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
        }
    }

    /// Stores a key, if one more state may be found.
    pub fn visit(
        &self,
        store: &mut H,
        key: &[u8],
        ticket: H::Ticket,
    ) -> Result<Entry<H::Number, H::Name>, StopReason> {
        // Without a limit on states nothing must be known before.
        let limited = self.task.limits.states.is_some();
        if limited && store.number(key, ticket).is_none() {
            self.admit()?;
            let entry = store.visit(key, ticket).map_err(|_| StopReason::MemoryLimit)?;
            if !entry.new {
                self.not_new();
            }
            return Ok(entry);
        }
        store.visit(key, ticket).map_err(|_| StopReason::MemoryLimit)
    }

    /// Whether one more state may be found.
    fn admit(&self) -> Result<(), StopReason> {
        let Some(limit) = self.task.limits.states else { return Ok(()) };
        let more = |states| (states < limit).then_some(states + 1);
        self.states.fetch_update(AcqRel, Acquire, more).map(drop).map_err(|_| StopReason::StateLimit)
    }

    /// The state that was admitted has been found by another worker.
    fn not_new(&self) {
        if self.task.limits.states.is_some() {
            self.states.fetch_sub(1, AcqRel);
        }
    }

    /// Adds to the steps of all, and says how many there are.
    pub fn count_steps(&self, more: u64) -> u64 {
        self.transitions.fetch_add(more, Relaxed) + more
    }

    /// Whether nobody has found something wrong before. All stop.
    pub fn is_first(&self) -> bool {
        let first = !self.found.swap(true, AcqRel);
        self.halt.halt(StopReason::Violation);
        first
    }

    /// The task for what is left to do when everybody has been stopped.
    pub fn rest_of_task(&self) -> Task<'a> {
        let time = self.task.limits.time.map(|time| time.saturating_sub(self.started.elapsed()));
        Task { limits: Limits { time, ..self.task.limits }, ..*self.task }
    }

    /// Lets the first worker work, and the others when it calls them. `work` gets the crew, the worker's number, and what calls.
    pub fn work<Y: Send>(
        &self,
        workers: Workers,
        observer: &mut dyn Observer,
        work: &(impl for<'c> Fn(&'c Crew<'a, H, S>, usize, Budget<'c>, &mut dyn FnMut()) -> Y + Sync),
    ) -> Vec<Y>
    where
        S: Sync,
    {
        let (mine, others) = std::thread::scope(|scope| {
            let _alarm = Alarm(&self.halt);
            let mut others = Vec::new();
            let mut call = || {
                for number in 1..workers.number {
                    let builder = std::thread::Builder::new()
                        .name("worker".to_string())
                        .stack_size(affordable(STACK_BYTES));
                    // One that cannot be started is not missed: each makes the whole search.
                    others.extend(builder.spawn_scoped(scope, move || self.help(number, work)).ok());
                }
            };
            let budget = Budget::new(self.task, observer).halted_by(self.halt.flag());
            let mine = work(self, 0, budget, &mut call);
            let others: Vec<_> = others.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
            (mine, others)
        });
        let mut all = vec![mine];
        for other in others {
            // A panic goes on in the thread that called: it is a bug, and must be seen as one.
            all.push(other.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    }

    /// What another worker than the first does.
    fn help<Y>(
        &self,
        number: usize,
        work: &impl for<'c> Fn(&'c Crew<'a, H, S>, usize, Budget<'c>, &mut dyn FnMut()) -> Y,
    ) -> Y {
        let _alarm = Alarm(&self.halt);
        let mut silent = Silent;
        let budget = Budget::new(self.task, &mut silent).halted_by(self.halt.flag());
        work(self, number, budget, &mut || ())
    }
}

/// Stops the others when a worker is lost: they might wait for it for ever.
struct Alarm<'t>(&'t Halt);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.halt(StopReason::Interrupted);
        }
    }
}
