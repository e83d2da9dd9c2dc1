//! Properties of whole runs by the symbolic engine: all of a check at once, because the reachable states are
//! computed once for them.

use crate::failure::Failure;
use crate::plan::Plan;
use crate::run_property::{RunProperties, RunProperty, Stronger};
use crate::set_computation::{Both, Computation, Nothing, Watched, why};
use jit::Jit;
use search::{Exhausted, Observer, Outcome, StopReason, Task};
use symbolic::{AskedRuns, Figures, JudgedRuns, RunAnswer, Watch, runs};
use system::claim::Claim;
use system::{Fairness, Fault, Processes};

/// What the engine gave.
#[derive(Debug)]
pub struct SymbolicRuns {
    /// The answers, in the order of the properties; nothing where there is none.
    answers: Vec<Option<RunAnswer>>,
    /// Why the others have none.
    stop: StopReason,
    /// Numbers, of a search that came to its end.
    figures: Option<Figures>,
    /// Why the engine could not go on.
    unfit: Option<String>,
}

/// The answer for a property.
#[derive(Debug)]
pub struct BySets {
    /// Numbers.
    pub figures: Option<Figures>,
    /// Why the engine could not go on.
    pub unfit: Option<String>,
    /// There is a run of which this would be said, but it was not found.
    pub unshown: Option<(Fault, Exhausted)>,
    /// The number of a stronger formula that holds as well.
    pub vacuous: Option<usize>,
}

impl SymbolicRuns {
    /// Whether there is an answer for each property.
    fn is_whole(&self) -> bool {
        self.answers.iter().all(Option::is_some)
    }

    /// The answer for the property with this number, which is told once.
    pub fn take(&mut self, number: usize) -> (Outcome, BySets) {
        let figures = self.figures.clone();
        let Some(RunAnswer { search, unshown, vacuous }) = self.answers[number].take() else {
            let by_sets = BySets { figures, unfit: self.unfit.clone(), unshown: None, vacuous: None };
            return (Outcome::nothing(self.stop), by_sets);
        };
        let mut outcome = search.conclude();
        let unshown = unshown.and_then(|fault| Some((fault, outcome.exhausted.take()?)));
        (outcome, BySets { figures, unfit: None, unshown, vacuous })
    }
}

/// Refuses properties that the engine does not judge.
pub fn refuse(plan: &Plan, watch: &RunProperty) -> Result<(), Failure> {
    let refused = |why: &str, repair: &str| Err(Failure::refused_with(why.to_string(), repair.to_string()));
    if plan.fairness == Fairness::Strong {
        return refused(
            "the symbolic engine knows weak fairness, not --fair strong",
            "use --fair weak, or --engine explicit",
        );
    }
    if watch.acting.is_some() {
        return refused(
            "the never claim changes variables, so it is a process of the system and no claim beside sets of states",
            "use --engine explicit, or let the claim change nothing",
        );
    }
    if watch.passes_labels {
        return refused(
            "an accept label stands inside an atomic sequence, where sets of states do not see it",
            "use --engine explicit, or put the label in front of the sequence",
        );
    }
    Ok(())
}

/// Refuses what depends on the compiled program.
pub fn refuse_compiled(plan: &Plan, jit: Option<&Jit>) -> Result<(), Failure> {
    let refused = |why: &str, repair: &str| Err(Failure::refused_with(why.to_string(), repair.to_string()));
    if plan.fairness != Fairness::None && jit.is_some_and(|jit| jit.interp().n_parts() > 1) {
        return refused(
            "a symbolic search is fair to processes, and with --memory store buffers need fairness as well",
            "use --engine explicit",
        );
    }
    Ok(())
}

/// The stronger formulas that say whether a property holds vacuously: what counts repetitions has no answer
/// where some are left out.
pub fn stronger(watch: &RunProperty) -> impl Iterator<Item = &Stronger> {
    watch.stronger.iter().filter(|stronger| stronger.stutter_invariant || !watch.stutter_invariant)
}

/// What a property asks, in the engine's terms.
fn watched<'w>(watch: &'w RunProperty, stronger: &'w [&'w Claim]) -> Watch<'w> {
    let claim = watch.general.as_ref().or(watch.claim.as_ref());
    Watch { claim, set: watch.set, fault: &watch.fault, stronger }
}

/// Lets somebody ask about all properties.
fn asking<T>(plan: &Plan, watches: &RunProperties, ask: impl FnOnce(AskedRuns<'_>) -> T) -> T {
    let claims = |watch| stronger(watch).map(|stronger| &stronger.claim).collect();
    let claims: Vec<Vec<&Claim>> = watches.list.iter().map(claims).collect();
    let watches: Vec<Watch<'_>> =
        watches.list.iter().zip(&claims).map(|(watch, claims)| watched(watch, claims)).collect();
    ask(AskedRuns { watches: &watches, fair: plan.fairness == Fairness::Weak })
}

fn judged(watched: Watched<JudgedRuns>, n: usize) -> Result<SymbolicRuns, Failure> {
    let reason = watched.reason;
    let (found, nothing) = match watched.answer()? {
        Ok(mut found) => {
            let ended = found.ended.take();
            (Some(found), ended.map(|ended| why(ended, reason)).transpose()?)
        }
        Err(nothing) => (None, Some(nothing)),
    };
    let Nothing { stop, unfit } = nothing.unwrap_or(Nothing { stop: StopReason::Completed, unfit: None });
    let (mut answers, figures) = match found {
        Some(found) => (found.answers, Some(found.figures)),
        None => (Vec::new(), None),
    };
    answers.resize_with(n, || None);
    Ok(SymbolicRuns { answers, stop, figures, unfit })
}

/// Judges all properties.
pub fn judge(
    plan: &Plan,
    jit: &Jit,
    watches: &RunProperties,
    (task, observer): (&Task<'_>, &mut dyn Observer),
) -> Result<SymbolicRuns, Failure> {
    let watched = asking(plan, watches, |asked| {
        Computation::new(plan, jit, &watches.sets, task)
            .alone(|request, pins, progress| runs(request, asked, pins, progress), (task, observer))
    });
    judged(watched, watches.list.len())
}

/// Both engines at once, each with half of the memory: the first sound answer counts. `explore` is the
/// explicit one's, for one property; the symbolic one answers for all, or not at all.
pub fn judge_both<E>(
    plan: &Plan,
    jit: &Jit,
    watches: &RunProperties,
    (task, observer): (&Task<'_>, &mut dyn Observer),
    explore: impl FnOnce(&Task<'_>, &mut dyn Observer) -> (E, bool),
) -> Result<(E, Option<SymbolicRuns>), Failure> {
    let n = watches.list.len();
    let Both { explicit: (explicit, sound), sets } = asking(plan, watches, |asked| {
        Computation::new(plan, jit, &watches.sets, task).beside(
            |request, pins, progress| runs(request, asked, pins, progress),
            move |found: &JudgedRuns| found.answers.iter().flatten().count() == n,
            (task, observer),
            explore,
        )
    });
    if sound {
        return Ok((explicit, None));
    }
    let found = judged(sets, n)?;
    let whole = found.is_whole();
    Ok((explicit, whole.then_some(found)))
}
