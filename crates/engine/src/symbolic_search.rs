//! A check by the symbolic engine: what it is not made for is refused with a repair, then the search runs on
//! a thread of its own, with a deep stack, while this one watches the budgets and tells how far it is.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use crate::failure::Failure;
use crate::plan::Plan;
use jit::Jit;
use pins::Pins;
use promela::ir::Program;
use search::limits::Budget;
use search::{Observer, Outcome, Snapshot, StopReason, Task};
use stop::{Cause, Stop};
use symbolic::{Ended, Figures, Progress, Request, safety};
use system::TransitionSystem;

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
            "with priorities every step depends on all processes, so sets of states stay as large as the states",
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

/// Searches for errors of states and steps.
pub fn search_safety(
    plan: &Plan,
    jit: &Jit,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Result<Explored, Failure> {
    let progress = Arc::new(Progress::default());
    let stop = Stop::when(Arc::clone(&progress.stop)).within(task.limits.time);
    let memory = task.limits.memory.unwrap_or(u64::MAX);
    let reorder = plan.options.reorder.unwrap_or_default();
    let doubts = plan.doubts.facts;
    // Counterexamples are walked out by the same rules, but the wish to stop comes from here.
    let (checks, all_errors) = (task.checks, task.all_errors);
    let compute = || {
        let machine = jit.one_process().ok_or_else(|| Ended::Unfit("there is no native code".to_string()))?;
        let pins = Pins::new(jit, &machine, &[], &stop).map_err(Ended::Unfit)?;
        let mut pins = if doubts { pins.doubting() } else { pins };
        let limits = search::Limits::default();
        let task = Task { checks, all_errors, seed: None, limits, stop: stop.flag(), reduce: None };
        let system: &dyn TransitionSystem = jit;
        safety(Request { system, task: &task, reorder, memory }, &mut pins, &progress)
    };
    let (result, reason) = watched(&progress, task, observer, || stop::attempt(compute));
    let ended = match result {
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
        (None, Ended::Grown) => Err(Failure::Internal("the search began again without end".to_string())),
        (None, Ended::Broken(why)) => Err(Failure::Internal(why)),
    }
}

/// Runs a computation on a thread of its own; answers what it gave, and why it was made to end.
fn watched<T: Send>(
    progress: &Progress,
    task: &Task<'_>,
    observer: &mut dyn Observer,
    compute: impl FnOnce() -> T + Send,
) -> (T, Option<StopReason>) {
    let watcher = thread::current();
    thread::scope(|scope| {
        let stack = store::pages::affordable(STACK_BYTES);
        let builder = thread::Builder::new().name("symbolic".to_string()).stack_size(stack);
        let run = move || {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(compute));
            watcher.unpark();
            result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let worker = builder.spawn_scoped(scope, run).expect("a thread can be started");
        let mut budget = Budget::new(task, observer);
        let mut reason = None;
        while !worker.is_finished() && reason.is_none() {
            let snapshot = || Snapshot {
                nodes: Some(progress.nodes.load(Ordering::Relaxed)),
                memory: progress.memory.load(Ordering::Relaxed),
                ..Snapshot::default()
            };
            reason = budget.tick().and_then(|_| budget.look(snapshot)).err();
            if reason.is_some() {
                progress.stop.store(true, Ordering::Relaxed);
            } else {
                thread::park_timeout(LOOK);
            }
        }
        let result = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (result, reason)
    })
}
