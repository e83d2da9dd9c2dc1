//! A computation with sets of states: it runs on a thread of its own, with a deep stack, while this one watches
//! the budgets and tells how far it is, or searches explicitly beside it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::options::StepOrder;
use crate::plan::Plan;
use jit::Jit;
use pins::Pins;
use promela::ir::Expr;
use search::limits::Budget;
use search::{Checks, Flow, Limits, Observer, Snapshot, StopReason, Task};
use stop::{Cause, Stop};
use symbolic::{Ended, Progress, Request};

/// The stack of the thread that computes: diagrams are as deep as a vector has slots.
const STACK_BYTES: usize = 512 << 20;
/// Time between two looks at the budgets.
const LOOK: Duration = Duration::from_millis(10);

/// What a computation is given.
pub struct Computation<'a> {
    plan: &'a Plan,
    jit: &'a Jit,
    /// What may be asked of states, besides invariants.
    sets: &'a [Vec<Expr>],
    checks: Checks,
    all_errors: bool,
    limits: Limits,
    memory: u64,
    progress: Arc<Progress>,
    /// The wish to stop comes from whoever watches.
    stop: Stop,
}

/// What a computation gives.
pub type Computed<T> = Result<Result<T, Ended>, Cause>;

/// How a computation ended, which was watched.
pub struct Watched<T> {
    /// What it gave.
    pub computed: Computed<T>,
    /// Why it was made to end.
    pub reason: Option<StopReason>,
}

/// Why a computation gave nothing.
pub struct Nothing {
    /// Why it ended.
    pub stop: StopReason,
    /// What makes the model unfit for it.
    pub unfit: Option<String>,
}

/// How two engines ended that searched side by side.
pub struct Both<E, T> {
    /// What explicit search found, and whether that is sound.
    pub explicit: (E, bool),
    /// What the computation gave.
    pub sets: Watched<T>,
}

impl<'a> Computation<'a> {
    /// A computation for what a task counts.
    pub fn new(plan: &'a Plan, jit: &'a Jit, sets: &'a [Vec<Expr>], task: &Task<'_>) -> Self {
        let progress = Arc::new(Progress::default());
        let stop = Stop::when(Arc::clone(&progress.stop)).within(task.limits.time);
        let Task { checks, all_errors, limits, .. } = *task;
        let memory = limits.memory.unwrap_or(u64::MAX);
        Computation { plan, jit, sets, checks, all_errors, limits, memory, progress, stop }
    }

    fn compute<T>(&self, compute: &impl Compute<T>) -> Result<T, Ended> {
        let machine = self.jit.one_process();
        let machine = machine.ok_or_else(|| Ended::Unfit("there is no native code".to_string()))?;
        let pins = Pins::new(self.jit, &machine, self.sets, &self.stop).map_err(Ended::Unfit)?;
        let mut pins = if self.plan.doubts.facts { pins.doubting() } else { pins };
        let task = Task {
            checks: self.checks,
            all_errors: self.all_errors,
            seed: None,
            limits: Limits::default(),
            stop: self.stop.flag(),
            reduce: None,
        };
        let request = Request {
            system: self.jit,
            task: &task,
            reorder: self.plan.options.reorder.unwrap_or_default(),
            chains: self.plan.options.order == Some(StepOrder::Chain),
            memory: self.memory,
        };
        compute(request, &mut pins, &self.progress)
    }

    /// Runs it alone.
    pub fn alone<T: Send>(
        &self,
        compute: impl Compute<T>,
        (task, observer): (&Task<'_>, &mut dyn Observer),
    ) -> Watched<T> {
        thread::scope(|scope| {
            let worker = begin(scope, || stop::attempt(|| self.compute(&compute)), |_| {});
            let reason = watch(&self.progress, task, observer, || is_finished(&worker));
            Watched { computed: joined(worker), reason }
        })
    }

    /// Runs it beside an explicit search, each with half of the memory. Where one has an answer that is sound
    /// the other is made to end.
    pub fn beside<E, T: Send>(
        mut self,
        compute: impl Compute<T>,
        is_sound: impl Fn(&T) -> bool + Send,
        (task, observer): (&Task<'_>, &mut dyn Observer),
        explore: impl FnOnce(&Task<'_>, &mut dyn Observer) -> (E, bool),
    ) -> Both<E, T> {
        let (started, half) = (Instant::now(), self.limits.memory.map(|memory| memory / 2));
        self.memory = half.unwrap_or(u64::MAX);
        let (computation, cancel) = (&self, &AtomicBool::new(false));
        thread::scope(|scope| {
            let then = move |computed: &Computed<T>| {
                if matches!(computed, Ok(Ok(found)) if is_sound(found)) {
                    cancel.store(true, Ordering::Relaxed);
                }
            };
            let worker = begin(scope, || stop::attempt(|| computation.compute(&compute)), then);
            let limits = Limits { memory: half, ..task.limits };
            let beside = Task { stop: cancel, limits, ..*task };
            let explicit =
                explore(&beside, &mut Forward { observer: &mut *observer, asked: task.stop, cancel });
            let mut reason = None;
            if explicit.1 {
                computation.progress.stop.store(true, Ordering::Relaxed);
            } else {
                let time = task.limits.time.map(|time| time.saturating_sub(started.elapsed()));
                let rest = Task { limits: Limits { time, memory: half, ..task.limits }, ..*task };
                reason = watch(&computation.progress, &rest, observer, || is_finished(&worker));
            }
            Both { explicit, sets: Watched { computed: joined(worker), reason } }
        })
    }
}

/// What is done with a system and the means for it.
pub trait Compute<T>:
    Fn(Request<'_>, &mut Pins<'_>, &Arc<Progress>) -> Result<T, Ended> + Send + Sync
{
}

impl<T, F> Compute<T> for F where
    F: Fn(Request<'_>, &mut Pins<'_>, &Arc<Progress>) -> Result<T, Ended> + Send + Sync
{
}

impl<T> Watched<T> {
    /// What it gave, or why it gave nothing.
    pub fn answer(self) -> Result<Result<T, Nothing>, Failure> {
        let ended = match self.computed {
            Ok(Ok(found)) => return Ok(Ok(found)),
            Ok(Err(ended)) => ended,
            Err(Cause::Time) => Ended::Stopped(StopReason::TimeLimit),
            Err(Cause::Asked) => Ended::Stopped(StopReason::Interrupted),
        };
        why(ended, self.reason).map(Err)
    }
}

/// Why a computation came to an end that was made to end for this reason, if for any.
pub fn why(ended: Ended, reason: Option<StopReason>) -> Result<Nothing, Failure> {
    let stopped = |stop| Ok(Nothing { stop, unfit: None });
    match (reason, ended) {
        (Some(reason), _) | (None, Ended::Stopped(reason)) => stopped(reason),
        (None, Ended::Full) => stopped(StopReason::MemoryLimit),
        (None, Ended::Unfit(why)) => Ok(Nothing { stop: StopReason::Completed, unfit: Some(why) }),
        (None, Ended::Grown | Ended::WornOut) => {
            Err(Failure::Internal("a symbolic search ended without a reason".to_string()))
        }
        (None, Ended::Broken(why)) => Err(Failure::Internal(why)),
    }
}

/// Hands news on, and the wish of others to stop to a search that has a flag of its own.
struct Forward<'a> {
    observer: &'a mut dyn Observer,
    asked: &'a AtomicBool,
    cancel: &'a AtomicBool,
}

impl Observer for Forward<'_> {
    fn progress(&mut self, snapshot: &Snapshot) -> Flow {
        if self.asked.load(Ordering::Relaxed) {
            self.cancel.store(true, Ordering::Relaxed);
        }
        self.observer.progress(snapshot)
    }

    fn is_short_of_memory(&self) -> bool {
        self.observer.is_short_of_memory()
    }
}

/// The thread of a computation; none where the system refused it.
type Worker<'scope, T> = Option<thread::ScopedJoinHandle<'scope, Computed<T>>>;

/// Runs a computation on a thread of its own; wakes this one at the end.
fn begin<'scope, 'env, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, 'env>,
    compute: impl FnOnce() -> Computed<T> + Send + 'scope,
    then: impl FnOnce(&Computed<T>) + Send + 'scope,
) -> Worker<'scope, T> {
    let watcher = thread::current();
    let run = move || {
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(compute));
        if let Ok(computed) = &result {
            then(computed);
        }
        watcher.unpark();
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    };
    store::threads::start(scope, "symbolic", STACK_BYTES, run).ok()
}

fn is_finished<T>(worker: &Worker<'_, T>) -> bool {
    worker.as_ref().is_none_or(thread::ScopedJoinHandle::is_finished)
}

/// What a computation gave. Without memory for its thread it gave nothing.
fn joined<T>(worker: Worker<'_, T>) -> Computed<T> {
    let ended = worker.map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
    ended.unwrap_or(Ok(Err(Ended::Full)))
}

/// Watches the budgets of a computation until it is finished; answers why it was made to end.
fn watch(
    progress: &Progress,
    task: &Task<'_>,
    observer: &mut dyn Observer,
    is_finished: impl Fn() -> bool,
) -> Option<StopReason> {
    let mut budget = Budget::new(task, observer);
    while !is_finished() {
        let snapshot = || Snapshot {
            nodes: Some(progress.nodes.load(Ordering::Relaxed)),
            memory: progress.memory.load(Ordering::Relaxed),
            ..Snapshot::default()
        };
        if let Err(reason) = budget.tick().and_then(|_| budget.look(snapshot)) {
            progress.stop.store(true, Ordering::Relaxed);
            return Some(reason);
        }
        thread::park_timeout(LOOK);
    }
    None
}
