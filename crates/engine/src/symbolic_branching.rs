//! Formulas about states by the symbolic engine: all of a check at once, because the reachable states are
//! computed once for them.

use crate::branching::Questions;
use crate::branching::answer::Answered;
use crate::branching::question::TOGETHER;
use crate::failure::Failure;
use crate::plan::Plan;
use crate::set_computation::{Both, Computation, Nothing, Watched, why};
use jit::Jit;
use mu::Formula;
use search::{Exhausted, Observer, Outcome, StopReason, Task};
use symbolic::{Asked, Branched, Figures, StepFilter, Vocabulary, WORK_FOR_RINGS, branching};
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

/// What formulas ask, in the engine's terms.
struct Terms {
    formulas: Vec<Formula>,
    propositions: Vec<(usize, u32)>,
    filters: Vec<StepFilter>,
    fair: bool,
}

impl Terms {
    fn new(plan: &Plan, questions: &Questions) -> Self {
        let filter = |filter: &promela::ir::StepFilter| StepFilter {
            kind: filter.proctype.map(|id| id.0),
            process: filter.pid,
            location: filter.at.map(|at| at.0),
        };
        let number = |number: usize| (number / TOGETHER, (number % TOGETHER) as u32);
        Terms {
            formulas: questions.list.iter().map(|question| question.formula.clone()).collect(),
            propositions: (0..questions.propositions.list.len()).map(number).collect(),
            filters: questions.filters.iter().map(filter).collect(),
            fair: plan.fairness == Fairness::Weak,
        }
    }

    fn asked(&self) -> Asked<'_> {
        let vocabulary = Vocabulary { propositions: &self.propositions, filters: &self.filters };
        Asked { formulas: &self.formulas, vocabulary, fair: self.fair, work_for_rings: WORK_FOR_RINGS }
    }
}

fn answers(watched: Watched<Branched>, n: usize) -> Result<SymbolicAnswers, Failure> {
    let reason = watched.reason;
    let (found, nothing) = match watched.answer()? {
        Ok(mut found) => {
            let ended = found.ended.take();
            (Some(found), ended.map(|ended| why(ended, reason)).transpose()?)
        }
        Err(nothing) => (None, Some(nothing)),
    };
    let Nothing { stop, unfit } = nothing.unwrap_or(Nothing { stop: StopReason::Completed, unfit: None });
    let mut answers: Vec<Option<Answered>> = Vec::new();
    let (mut outcome, mut figures) = (Outcome::nothing(stop), None);
    let explored = found.is_some();
    if let Some(Branched { judgements, found, figures: numbers, .. }) = found {
        let states = || numbers.states.clone();
        answers.extend(judgements.into_iter().map(|one| Some(Answered::by_sets(one, states()))));
        outcome = Outcome { stop, ..found.conclude() };
        figures = Some(numbers);
    }
    answers.resize_with(n, || None);
    Ok(SymbolicAnswers { answers, outcome, explored, figures, unfit })
}

/// The proof that goes with an answer.
pub fn exhausted(answers: &SymbolicAnswers) -> Option<Exhausted> {
    let found = search::SetSearch {
        stop: if answers.explored { StopReason::Completed } else { answers.outcome.stop },
        checks: search::Checks::NONE,
        about: search::About::States,
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
    let (terms, sets) = (Terms::new(plan, questions), questions.sets());
    let watched = Computation::new(plan, jit, &sets, task)
        .alone(|request, pins, progress| branching(request, terms.asked(), pins, progress), (task, observer));
    answers(watched, terms.formulas.len())
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
    let (terms, sets) = (Terms::new(plan, questions), questions.sets());
    let n = terms.formulas.len();
    let Both { explicit: (explicit, sound), sets } = Computation::new(plan, jit, &sets, task).beside(
        |request, pins, progress| branching(request, terms.asked(), pins, progress),
        move |found: &Branched| found.judgements.len() == n,
        (task, observer),
        explore,
    );
    if sound {
        return Ok(First::Explicit(explicit));
    }
    let answers = answers(sets, n)?;
    Ok(if answers.explored { First::Symbolic(answers) } else { First::Explicit(explicit) })
}
