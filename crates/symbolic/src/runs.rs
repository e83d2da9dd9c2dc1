//! Runs as a whole by sets of states: everything is explored, then one claim after another judges the runs
//! ([`crate::product`]), and one that is wrong is walked out ([`crate::lasso`]).

use std::sync::Arc;

use search::{About, Checks, SetSearch, StopReason, Task};
use system::claim::Claim;
use system::{Fault, TransitionSystem};

use crate::branching::{
    SymbolicSets, Vocabulary, WORK_FOR_FAILURE, WORK_FOR_WITNESS, attempt, refuse_hidden,
};
use crate::lasso::show;
use crate::partitioned::{Partitioned, Predicate};
use crate::product::Product;
use crate::safety::{Figures, Judging, Request, explore};
use crate::space::{Ended, Progress};

/// What finds runs wrong.
#[derive(Clone, Copy, Debug)]
pub struct Watch<'a> {
    /// The claim; `None`: runs are wrong that pass accept labels again and again.
    pub claim: Option<&'a Claim>,
    /// The set of propositions that its guards are about.
    pub set: usize,
    /// What is said of a run that goes on forever.
    pub fault: &'a Fault,
    /// Claims that find more runs wrong: where one finds none either, the property holds vacuously.
    pub stronger: &'a [&'a Claim],
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct AskedRuns<'a> {
    /// The properties.
    pub watches: &'a [Watch<'a>],
    /// Only runs count that are fair to each process, weakly.
    pub fair: bool,
}

/// The answer for a property.
#[derive(Debug)]
pub struct RunAnswer {
    /// What was found, as any search tells it.
    pub search: SetSearch,
    /// There is a run of which this would be said, but no work or memory to find it.
    pub unshown: Option<Fault>,
    /// The number of a stronger claim that finds no run wrong either.
    pub vacuous: Option<usize>,
}

/// All answers.
#[derive(Debug)]
pub struct JudgedRuns {
    /// The answers, in the order of the properties: as many as there were time and memory for, and nothing for a
    /// property that is not for sets of states.
    pub answers: Vec<Option<RunAnswer>>,
    /// Why some are missing.
    pub ended: Option<Ended>,
    /// Numbers.
    pub figures: Figures,
}

/// Explores everything, and judges its runs by one claim after another.
pub fn runs(
    request: Request<'_>,
    asked: AskedRuns<'_>,
    partitioned: &mut dyn Partitioned,
    progress: &Arc<Progress>,
) -> Result<JudgedRuns, Ended> {
    // Errors of the system are none of its runs, and end nothing.
    let task = Task { checks: Checks::NONE, all_errors: true, ..*request.task };
    let request = Request { task: &task, ..request };
    explore(request, partitioned, progress, |judging| judge_all(judging, asked))
}

fn judge_all(mut judging: Judging<'_, '_>, asked: AskedRuns<'_>) -> Result<JudgedRuns, Ended> {
    refuse_hidden(&judging.space)?;
    let (met, figures) = judging.conclude()?;
    let Judging { request, mut space, all, .. } = judging;
    let mut sets = attempt(|| SymbolicSets::new(&mut space, all, Vocabulary::default()))?;
    let (mut answers, mut ended) = (Vec::new(), None);
    for watch in asked.watches {
        match judge(&mut sets, request.system, (watch, asked.fair, &met)) {
            Ok(answer) => answers.push(Some(answer)),
            Err(Ended::Grown) => return Err(Ended::Grown),
            Err(unfit @ Ended::Unfit(_)) => {
                answers.push(None);
                ended = Some(unfit);
            }
            Err(why) => {
                ended = Some(why);
                break;
            }
        }
    }
    Ok(JudgedRuns { answers, ended, figures })
}

/// Judges the runs of a space by a claim. `met` is what the search met on its way.
fn judge(
    sets: &mut SymbolicSets<'_, '_, '_>,
    system: &dyn TransitionSystem,
    (watch, fair, met): (&Watch<'_>, bool, &SetSearch),
) -> Result<RunAnswer, Ended> {
    let everything = Claim::everything();
    let claim = watch.claim.unwrap_or(&everything);
    refuse_failing(sets, (watch, claim))?;
    let mut answer = RunAnswer { search: nothing_found(met), unshown: None, vacuous: None };
    let mut product = attempt(|| Product::new(sets, claim, (watch, fair)))?;
    let Some(wrong) = attempt(|| product.wrong(watch.fault))? else {
        if attempt(|| product.is_cut_off())? {
            answer.search.cuts.clone_from(&met.cuts);
            answer.search.atomic_loop.clone_from(&met.atomic_loop);
        } else {
            answer.vacuous = vacuous(sets, (watch, fair))?;
        }
        return Ok(answer);
    };
    product.sets.operators.space.limit_work(WORK_FOR_FAILURE);
    let shown = attempt(|| show(&mut product, &wrong, system));
    product.sets.operators.space.limit_work(u64::MAX);
    match shown {
        Ok(violation) => {
            answer.search.stop = StopReason::Violation;
            answer.search.errors = 1;
            answer.search.violations.push(violation);
        }
        Err(Ended::Full | Ended::WornOut) => answer.unshown = Some(wrong.fault),
        Err(ended) => return Err(ended),
    }
    Ok(answer)
}

/// Where a proposition cannot be evaluated the run ends for its claim, which sets of states do not tell.
fn refuse_failing(
    sets: &mut SymbolicSets<'_, '_, '_>,
    (watch, claim): (&Watch<'_>, &Claim),
) -> Result<(), Ended> {
    let asked = watch.stronger.iter().fold(claim.all_asked(), |all, claim| all | claim.all_asked());
    for number in (0..u64::BITS).filter(|number| asked >> number & 1 != 0) {
        if !attempt(|| sets.some_predicate(Predicate::Fails(watch.set, number)))?.is_empty() {
            let why = "the property meets an error when it is evaluated in a state that can be reached; sets of \
                       states do not tell what that means for a run, --engine explicit does";
            return Err(Ended::Unfit(why.to_string()));
        }
    }
    Ok(())
}

/// A search of everything that has found nothing wrong, and nothing that cut it off.
fn nothing_found(met: &SetSearch) -> SetSearch {
    SetSearch {
        stop: StopReason::Completed,
        about: About::Runs,
        violations: Vec::new(),
        errors: 0,
        cuts: Vec::new(),
        atomic_loop: None,
        ..*met
    }
}

/// The first claim that finds more runs wrong, and finds none either. Where that takes long it is given up.
fn vacuous(
    sets: &mut SymbolicSets<'_, '_, '_>,
    (watch, fair): (&Watch<'_>, bool),
) -> Result<Option<usize>, Ended> {
    for (number, claim) in watch.stronger.iter().enumerate() {
        sets.operators.space.limit_work(WORK_FOR_WITNESS);
        let found = attempt(|| Product::new(sets, claim, (watch, fair)).wrong(watch.fault).is_none());
        sets.operators.space.limit_work(u64::MAX);
        match found {
            Ok(true) => return Ok(Some(number)),
            Ok(false) | Err(Ended::Full | Ended::WornOut) => {}
            Err(ended) => return Err(ended),
        }
    }
    Ok(None)
}
