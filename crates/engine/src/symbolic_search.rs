//! A check by the symbolic engine: what it is not made for is refused with a repair, then the search runs on
//! a thread of its own, with a deep stack, while this one watches the budgets and tells how far it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::dispatch::Exploration;
use crate::failure::Failure;
use crate::options::{Engine, StepOrder};
use crate::plan::Plan;
use crate::property::Selected;
use crate::strategy;
use jit::Jit;
use pins::Pins;
use promela::ir::Program;
use search::limits::Budget;
use search::{Checks, Flow, Limits, Observer, Outcome, SetSearch, Snapshot, StopReason, Task};
use stop::{Cause, Stop};
use symbolic::{Ended, Figures, Progress, Request, safety};

/// The stack of the thread that computes: diagrams are as deep as a vector has slots.
const STACK_BYTES: usize = 512 << 20;
/// Time between two looks at the budgets.
const LOOK: Duration = Duration::from_millis(10);

/// What came of it.
#[derive(Debug)]
pub struct Explored {
    /// What was found.
    pub outcome: Outcome,
    /// Numbers, of a search that came to its end.
    pub figures: Option<Box<Figures>>,
    /// Why the engine could not go on.
    pub unfit: Option<String>,
}

impl Explored {
    /// What another engine found.
    pub fn found(outcome: Outcome) -> Self {
        Explored { outcome, figures: None, unfit: None }
    }

    fn nothing(reason: StopReason) -> Self {
        Explored { outcome: Outcome::nothing(reason), figures: None, unfit: None }
    }
}

/// Refuses properties that the engine does not judge.
pub fn refuse_properties(plan: &Plan, selected: &[Selected]) -> Result<(), Failure> {
    let judges = |property: &&Selected| property.kind == "safety" || property.logic().is_some();
    let other = selected.iter().find(|property| !judges(property));
    match other.filter(|_| plan.engine == Engine::Symbolic) {
        Some(other) => Err(Failure::refused_with(
            format!(
                "--engine symbolic is for safety, ctl and mu: it is not available yet for {}",
                other.name
            ),
            "use --engine explicit, or add --property safety",
        )),
        None => Ok(()),
    }
}

/// Refuses a program that the engine is not made for.
pub fn refuse(program: &Program, jit: Option<&Jit>) -> Result<(), Failure> {
    let refused = |why: &str, repair: &str| Err(Failure::refused_with(why.to_string(), repair.to_string()));
    if program.trace.is_some() {
        return refused(
            "a trace assertion follows every send and receive, which a symbolic search takes apart",
            "use --engine explicit, or state the order of messages as an ltl formula",
        );
    }
    if program.uses.priority {
        return refused(
            "with priorities every step depends on all processes, so a symbolic search has nothing to share",
            "use --engine explicit",
        );
    }
    match jit {
        Some(jit) if jit.is_native() => Ok(()),
        Some(_) => refused(
            "the model's channels or arrays are too large for states of a fixed size, which a symbolic search needs",
            "use --engine explicit, or declare smaller channels",
        ),
        None => refused(
            "--engine symbolic needs native code",
            "leave --exec interp out, or use --engine explicit",
        ),
    }
}

/// What the computation is given.
struct Computation<'a> {
    plan: &'a Plan,
    jit: &'a Jit,
    checks: Checks,
    all_errors: bool,
    memory: u64,
    progress: Arc<Progress>,
    /// The wish to stop comes from whoever watches.
    stop: Stop,
}

/// What the computation gives.
type Computed = Result<Result<(SetSearch, Figures), Ended>, Cause>;

impl<'a> Computation<'a> {
    fn new(plan: &'a Plan, jit: &'a Jit, task: &Task<'_>, memory: u64) -> Self {
        let progress = Arc::new(Progress::default());
        let stop = Stop::when(Arc::clone(&progress.stop)).within(task.limits.time);
        let (checks, all_errors) = (task.checks, task.all_errors);
        Computation { plan, jit, checks, all_errors, memory, progress, stop }
    }

    fn run(&self) -> Computed {
        stop::attempt(|| self.compute())
    }

    fn compute(&self) -> Result<(SetSearch, Figures), Ended> {
        let machine = self.jit.one_process();
        let machine = machine.ok_or_else(|| Ended::Unfit("there is no native code".to_string()))?;
        let pins = Pins::new(self.jit, &machine, &[], &self.stop).map_err(Ended::Unfit)?;
        let mut pins = if self.plan.doubts.facts { pins.doubting() } else { pins };
        let task = Task {
            checks: self.checks,
            all_errors: self.all_errors,
            seed: None,
            limits: search::Limits::default(),
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
        safety(request, &mut pins, &self.progress)
    }
}

/// Searches for errors of states and steps.
pub fn search_safety(
    plan: &Plan,
    jit: &Jit,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Result<Explored, Failure> {
    let computation = Computation::new(plan, jit, task, task.limits.memory.unwrap_or(u64::MAX));
    let (computed, reason) = thread::scope(|scope| {
        let worker = begin(scope, &computation);
        let reason = watch(&computation.progress, task, observer, || worker.is_finished());
        (joined(worker), reason)
    });
    explored(computed, reason)
}

fn explored(computed: Computed, reason: Option<StopReason>) -> Result<Explored, Failure> {
    let ended = match computed {
        Ok(Ok((found, figures))) => {
            let outcome = found.conclude();
            return Ok(Explored { outcome, figures: Some(Box::new(figures)), unfit: None });
        }
        Ok(Err(ended)) => ended,
        Err(Cause::Time) => Ended::Stopped(StopReason::TimeLimit),
        Err(Cause::Asked) => Ended::Stopped(StopReason::Interrupted),
    };
    match (reason, ended) {
        (Some(reason), _) | (None, Ended::Stopped(reason)) => Ok(Explored::nothing(reason)),
        (None, Ended::Full) => Ok(Explored::nothing(StopReason::MemoryLimit)),
        (None, Ended::Unfit(why)) => {
            Ok(Explored { unfit: Some(why), ..Explored::nothing(StopReason::Completed) })
        }
        (None, Ended::Grown | Ended::WornOut) => {
            Err(Failure::Internal("a symbolic search ended without a reason".to_string()))
        }
        (None, Ended::Broken(why)) => Err(Failure::Internal(why)),
    }
}

/// Both engines at once, each with half of the memory: the first sound answer counts. `jit` is what the
/// symbolic one searches.
pub fn search_both(
    jit: &Jit,
    exploration: &Exploration<'_>,
    observer: &mut dyn Observer,
) -> Result<Explored, Failure> {
    let (plan, task) = (exploration.plan, exploration.task);
    let started = Instant::now();
    let half = task.limits.memory.map(|memory| memory / 2);
    let computation = Computation::new(plan, jit, task, half.unwrap_or(u64::MAX));
    let cancel = AtomicBool::new(false);
    let (explicit, computed, reason) = thread::scope(|scope| {
        let (computation, cancel) = (&computation, &cancel);
        let worker = begin_then(
            scope,
            || computation.run(),
            move |computed: &Computed| {
                if matches!(computed, Ok(Ok(_))) {
                    cancel.store(true, Ordering::Relaxed);
                }
            },
        );
        let limits = Limits { memory: half, ..task.limits };
        let task_beside = Task { stop: cancel, limits, ..*task };
        let mut forward = Forward { observer, asked: task.stop, cancel };
        let beside = Exploration { task: &task_beside, ..*exploration };
        let explicit = strategy::search(&beside, &mut forward);
        let sound = explicit.exhausted.is_some() || !explicit.violations.is_empty();
        let mut reason = None;
        if sound {
            computation.progress.stop.store(true, Ordering::Relaxed);
        } else {
            let time = task.limits.time.map(|time| time.saturating_sub(started.elapsed()));
            let rest = Task { limits: Limits { time, memory: half, ..task.limits }, ..*task };
            reason = watch(&computation.progress, &rest, observer, || worker.is_finished());
        }
        (explicit, joined(worker), reason)
    });
    let sound = explicit.exhausted.is_some() || !explicit.violations.is_empty();
    match explored(computed, reason) {
        Ok(symbolic) if !sound && symbolic.figures.is_some() => Ok(symbolic),
        // What an engine beside the main one believes wrongly is an error as everywhere.
        Err(failure) if !sound => Err(failure),
        _ => Ok(Explored::found(explicit)),
    }
}

/// Hands news on, and the wish of others to stop to a search that has a flag of its own.
pub(crate) struct Forward<'a> {
    pub(crate) observer: &'a mut dyn Observer,
    pub(crate) asked: &'a AtomicBool,
    pub(crate) cancel: &'a AtomicBool,
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

type Worker<'scope, T> = thread::ScopedJoinHandle<'scope, T>;

fn begin<'scope, 'env>(
    scope: &'scope thread::Scope<'scope, 'env>,
    computation: &'scope Computation<'_>,
) -> Worker<'scope, Computed> {
    begin_then(scope, || computation.run(), |_| {})
}

/// Runs a computation on a thread of its own; wakes this one at the end.
pub(crate) fn begin_then<'scope, 'env, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, 'env>,
    compute: impl FnOnce() -> T + Send + 'scope,
    then: impl FnOnce(&T) + Send + 'scope,
) -> Worker<'scope, T> {
    let watcher = thread::current();
    let stack = store::pages::affordable(STACK_BYTES);
    let builder = thread::Builder::new().name("symbolic".to_string()).stack_size(stack);
    let run = move || {
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(compute));
        if let Ok(computed) = &result {
            then(computed);
        }
        watcher.unpark();
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    };
    builder.spawn_scoped(scope, run).expect("a thread can be started")
}

pub(crate) fn joined<T>(worker: Worker<'_, T>) -> T {
    worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Watches the budgets of a computation until it is finished; answers why it was made to end.
pub(crate) fn watch(
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
