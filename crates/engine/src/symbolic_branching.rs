//! Formulas about states by the symbolic engine: all of a check at once, because the reachable states are
//! computed once for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use crate::branching::Questions;
use crate::branching::answer::Answered;
use crate::branching::question::TOGETHER;
use crate::failure::Failure;
use crate::options::StepOrder;
use crate::plan::Plan;
use crate::symbolic_search::{Forward, begin_then, joined, watch};
use jit::Jit;
use mu::Formula;
use pins::Pins;
use promela::ir::Expr;
use search::{Exhausted, Limits, Observer, Outcome, StopReason, Task};
use stop::{Cause, Stop};
use symbolic::{Asked, Branched, Ended, Figures, Progress, Request, StepFilter, WORK_FOR_RINGS, branching};
use system::{Fairness, TransitionSystem};

/// What the engine gave.
#[derive(Debug)]
pub struct SymbolicAnswers {
    /// The answers, in the order of the questions; nothing where there is none.
    pub answers: Vec<Option<Answered>>,
    /// How the search ended: why the others have none.
    pub outcome: Outcome,
    /// Everything was explored.
    pub explored: bool,
    /// Numbers, of a search that came to its end.
    pub figures: Option<Figures>,
    /// Why the engine could not go on.
    pub unfit: Option<String>,
}

/// Refuses a program whose graph would be another one.
pub fn refuse(jit: &Jit) -> Result<(), Failure> {
    match jit.hidden_bytes() {
        0 => Ok(()),
        _ => Err(Failure::refused_with(
            "values of hidden variables make no states, but a symbolic search follows each of them",
            "use --engine explicit, or declare no variable hidden",
        )),
    }
}

/// What the computation is given.
struct Computation<'a> {
    plan: &'a Plan,
    jit: &'a Jit,
    memory: u64,
    progress: Arc<Progress>,
    stop: Stop,
    formulas: Vec<Formula>,
    propositions: Vec<(usize, u32)>,
    sets: Vec<Vec<Expr>>,
    filters: Vec<StepFilter>,
}

type Computed = Result<Result<Branched, Ended>, Cause>;

impl<'a> Computation<'a> {
    fn new(plan: &'a Plan, jit: &'a Jit, questions: &Questions, task: &Task<'_>, memory: u64) -> Self {
        let progress = Arc::new(Progress::default());
        let stop = Stop::when(Arc::clone(&progress.stop)).within(task.limits.time);
        let filter = |filter: &promela::ir::StepFilter| StepFilter {
            kind: filter.proctype.map(|id| id.0),
            process: filter.pid,
            location: filter.at.map(|at| at.0),
        };
        let number = |number: usize| (number / TOGETHER, (number % TOGETHER) as u32);
        Computation {
            plan,
            jit,
            memory,
            progress,
            stop,
            formulas: questions.list.iter().map(|question| question.formula.clone()).collect(),
            propositions: (0..questions.propositions.list.len()).map(number).collect(),
            sets: questions.sets(),
            filters: questions.filters.iter().map(filter).collect(),
        }
    }

    fn run(&self) -> Computed {
        stop::attempt(|| self.compute())
    }

    fn compute(&self) -> Result<Branched, Ended> {
        let machine = self.jit.one_process();
        let machine = machine.ok_or_else(|| Ended::Unfit("there is no native code".to_string()))?;
        let pins = Pins::new(self.jit, &machine, &self.sets, &self.stop).map_err(Ended::Unfit)?;
        let mut pins = if self.plan.doubts.facts { pins.doubting() } else { pins };
        let task = Task {
            checks: search::Checks::NONE,
            all_errors: true,
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
        let asked = Asked {
            formulas: &self.formulas,
            propositions: &self.propositions,
            filters: &self.filters,
            fair: self.plan.fairness == Fairness::Weak,
            work_for_rings: WORK_FOR_RINGS,
        };
        branching(request, asked, &mut pins, &self.progress)
    }

    fn answers(&self, computed: Computed, reason: Option<StopReason>) -> Result<SymbolicAnswers, Failure> {
        let (found, ended) = match computed {
            Ok(Ok(mut found)) => {
                let ended = found.ended.take();
                (Some(found), ended)
            }
            Ok(Err(ended)) => (None, Some(ended)),
            Err(Cause::Time) => (None, Some(Ended::Stopped(StopReason::TimeLimit))),
            Err(Cause::Asked) => (None, Some(Ended::Stopped(StopReason::Interrupted))),
        };
        let mut unfit = None;
        let stop = match (reason, ended) {
            (_, None) => StopReason::Completed,
            (Some(reason), _) | (None, Some(Ended::Stopped(reason))) => reason,
            (None, Some(Ended::Full)) => StopReason::MemoryLimit,
            (None, Some(Ended::Unfit(why))) => {
                unfit = Some(why);
                StopReason::Completed
            }
            (None, Some(Ended::Grown | Ended::WornOut)) => {
                return Err(Failure::Internal("a symbolic search ended without a reason".to_string()));
            }
            (None, Some(Ended::Broken(why))) => return Err(Failure::Internal(why)),
        };
        let mut answers: Vec<Option<Answered>> = Vec::new();
        let (mut outcome, mut figures) = (Outcome::nothing(stop), None);
        let explored = found.is_some();
        if let Some(Branched { judgements, found, figures: numbers, .. }) = found {
            let states = || numbers.states.clone();
            answers.extend(judgements.into_iter().map(|one| Some(Answered::by_sets(one, states()))));
            outcome = Outcome { stop, ..found.conclude() };
            figures = Some(numbers);
        }
        answers.resize_with(self.formulas.len(), || None);
        Ok(SymbolicAnswers { answers, outcome, explored, figures, unfit })
    }
}

/// The proof that goes with an answer.
pub fn exhausted(answers: &SymbolicAnswers) -> Option<Exhausted> {
    let found = search::SetSearch {
        stop: if answers.explored { StopReason::Completed } else { answers.outcome.stop },
        checks: search::Checks::NONE,
        violations: Vec::new(),
        errors: 0,
        cuts: Vec::new(),
        atomic_loop: None,
        statistics: answers.outcome.statistics,
    };
    found.exhausted_but_for_cuts()
}

/// Evaluates all formulas.
pub fn evaluate(
    plan: &Plan,
    jit: &Jit,
    questions: &Questions,
    (task, observer): (&Task<'_>, &mut dyn Observer),
) -> Result<SymbolicAnswers, Failure> {
    let memory = task.limits.memory.unwrap_or(u64::MAX);
    let computation = Computation::new(plan, jit, questions, task, memory);
    let (computed, reason) = thread::scope(|scope| {
        let worker = begin_then(scope, || computation.run(), |_| {});
        let reason = watch(&computation.progress, task, observer, || worker.is_finished());
        (joined(worker), reason)
    });
    computation.answers(computed, reason)
}

/// Whose answer came first.
#[derive(Debug)]
pub enum First<T> {
    /// The explicit engine's.
    Explicit(T),
    /// The symbolic engine's.
    Symbolic(SymbolicAnswers),
}

/// Both engines at once, each with half of the memory: the first that has explored everything counts.
/// `explore` is the explicit one's; it says whether it came to its end.
pub fn evaluate_both<T>(
    plan: &Plan,
    jit: &Jit,
    questions: &Questions,
    (task, observer): (&Task<'_>, &mut dyn Observer),
    explore: impl FnOnce(&Task<'_>, &mut dyn Observer) -> (T, bool),
) -> Result<First<T>, Failure> {
    let (started, half) = (Instant::now(), task.limits.memory.map(|memory| memory / 2));
    let computation = Computation::new(plan, jit, questions, task, half.unwrap_or(u64::MAX));
    let (cancel, n) = (AtomicBool::new(false), questions.list.len());
    let (explicit, sound, computed, reason) = thread::scope(|scope| {
        let (computation, cancel) = (&computation, &cancel);
        let worker = begin_then(
            scope,
            || computation.run(),
            move |computed: &Computed| {
                if matches!(computed, Ok(Ok(found)) if found.judgements.len() == n) {
                    cancel.store(true, Ordering::Relaxed);
                }
            },
        );
        let limits = Limits { memory: half, ..task.limits };
        let beside = Task { stop: cancel, limits, ..*task };
        let (explicit, sound) =
            explore(&beside, &mut Forward { observer: &mut *observer, asked: task.stop, cancel });
        let mut reason = None;
        if sound {
            computation.progress.stop.store(true, Ordering::Relaxed);
        } else {
            let time = task.limits.time.map(|time| time.saturating_sub(started.elapsed()));
            let rest = Task { limits: Limits { time, memory: half, ..task.limits }, ..*task };
            reason = watch(&computation.progress, &rest, observer, || worker.is_finished());
        }
        (explicit, sound, joined(worker), reason)
    });
    if sound {
        return Ok(First::Explicit(explicit));
    }
    let answers = computation.answers(computed, reason)?;
    Ok(if answers.explored { First::Symbolic(answers) } else { First::Explicit(explicit) })
}
