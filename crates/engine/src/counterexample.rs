//! From what a search found to what is shown: the path is executed once in the reference machine, and what
//! that shows is recorded.
//!
//! While it is executed, the words of its steps are noted, the judge hears it, and the last steps are
//! remembered for the report. So a counterexample of ten million steps takes about as many bytes, and the
//! time of one run.

use crate::VERSION;
use crate::failure::Failure;
use crate::options::Source;
use crate::report_text;
use search::Violation;
use std::collections::HashMap;
use system::{Explain, Fault, FaultKind, Path, Sequence, SystemExt, TransitionSystem};
use trace::{Claims, Confirmed, Evidence, FormulaJudge, Judge, Trail, Walker, record, story};

/// The last steps of a counterexample that a text tells when no file holds them.
pub const INLINE_STEPS: usize = 10_000;
/// Ways to begin the cycle earlier that are tried.
const TRIES: usize = 4;
/// A longer run is left as it was found.
const MOST_TIGHTENED: usize = 100_000;

/// What a trail says besides its steps.
pub struct Head<'a> {
    /// The model.
    pub source: &'a Source,
    /// Of the model's text.
    pub fingerprint: u64,
    /// As `--property` names it.
    pub property: &'a str,
    /// Channels must be empty at a valid end.
    pub channels_empty: bool,
    /// The name of the fairness.
    pub fair: Option<&'a str>,
}

impl Head<'_> {
    fn trail(&self, violation: &Fault) -> Trail {
        let absolute = std::path::absolute(&self.source.path).ok();
        Trail {
            version: VERSION.to_string(),
            model: self.source.path.clone(),
            model_absolute: absolute.map(|path| path.to_string_lossy().into_owned()),
            fingerprint: self.fingerprint,
            options: self.source.options.clone(),
            property: self.property.to_string(),
            channels_empty: self.channels_empty,
            fair: self.fair.map(str::to_string),
            cycle: None,
            violation: violation.clone(),
            steps: Sequence::new(),
        }
    }
}

/// Replays what was found; what does not show is a bug of ours, and said so.
pub fn confirm<'m, M: TransitionSystem + Explain>(
    machine: &'m M,
    head: &Head<'_>,
    violation: &Violation,
    judge: Option<Judge<'_>>,
) -> Result<(Evidence, Confirmed<'m>), Failure> {
    let Violation { fault, path, cycle } = violation;
    // Of labels that stand for no statement the place is found by replaying.
    let moved = matches!(fault.kind, FaultKind::ProgressCycle | FaultKind::AcceptCycle);
    let claims = Claims {
        moved,
        channels_empty: head.channels_empty,
        cycle: *cycle,
        judge,
        keep: Some(INLINE_STEPS.max(story::SHORT_LINES)),
        ..Claims::of(fault)
    };
    record(machine, path, head.trail(fault), claims).map_err(|why| {
        let what = report_text::describe_fault(fault);
        Failure::Internal(format!("the search found a violation that cannot be replayed ({what}): {why}"))
    })
}

/// Replays a run that shows that a formula about states fails.
pub fn confirm_formula<'m, M: TransitionSystem + Explain>(
    machine: &'m M,
    head: &Head<'_>,
    violation: &Violation,
    judge: &dyn FormulaJudge,
) -> Result<(Evidence, Confirmed<'m>), Failure> {
    let Violation { fault, path, cycle } = violation;
    let keep = Some(INLINE_STEPS.max(story::SHORT_LINES));
    let claims = Claims { cycle: *cycle, formula: Some(judge), keep, ..Claims::of(fault) };
    record(machine, path, head.trail(fault), claims).map_err(|why| {
        let what = report_text::describe_fault(fault);
        Failure::Internal(format!("the search found a violation that cannot be replayed ({what}): {why}"))
    })
}

/// The product tells states apart in which the claim is elsewhere; the run may enter its cycle before the
/// product does.
pub fn tighten<M: TransitionSystem>(judge: &Judge<'_>, machine: &M, violation: &mut Violation) {
    let (Some(start), Ok(mut walker)) = (violation.cycle, Walker::start(machine)) else { return };
    if violation.path.len() > MOST_TIGHTENED {
        return;
    }
    let path = violation.path.to_vec();
    let mut keys = Vec::with_capacity(path.len());
    for &action in &path {
        keys.push((!walker.is_transient()).then(|| machine.key(walker.state()).to_vec()));
        if walker.step(action).is_err() {
            return;
        }
    }
    let mut around = HashMap::new();
    for (at, key) in keys.iter().enumerate().skip(start) {
        if let Some(key) = key {
            around.entry(key).or_insert(at);
        }
    }
    let entries = (0..start).filter_map(|entry| Some((entry, *around.get(keys[entry].as_ref()?)?)));
    for (entry, at) in entries.take(TRIES) {
        let steps: Path = path[..entry].iter().chain(&path[at..]).chain(&path[start..at]).copied().collect();
        let judged = judge.judge(machine, &steps, Some(entry));
        if judged
            .is_ok_and(|judgement| judgement.found.iter().any(|found| found.kind == violation.fault.kind))
        {
            (violation.path, violation.cycle) = (steps, Some(entry));
            return;
        }
    }
}
