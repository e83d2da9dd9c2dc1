//! A check of safety by the packed machine (`--exec packed`): what it is not made for is refused with a repair;
//! then the model is packed, compiled and searched, and made again where something was not foreseen. What was
//! found is followed in the reference machine, along the packed states that led to it.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::backend::Backend;
use crate::failure::Failure;
use crate::options::Exec;
use crate::packed_ways::{at_the_end, look};
use crate::plan::Plan;
use crate::symbolic_search::Explored;
use kernel::sample::Extent;
use kernel::{Model, Refused};
use packed::expand::Shown;
use packed::{Counts, Ended, Found, Judge, Judged, Machine, Request};
use search::limits::Budget;
use search::{
    About, Checks, Observer, Outcome, SetSearch, Snapshot, Statistics, StopReason, Task, Violation,
};
use system::{Fault, FaultKind, Path};

/// What is to be known of a search of packed states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Figures {
    /// Bits of a packed state.
    pub bits: u32,
    /// How many layouts were tried.
    pub layouts: u32,
    /// Instructions of the model, in the kernel IR.
    pub instructions: usize,
}

/// How often a model is made again at most.
const MOST_REMADE: u32 = 300;
/// What is sampled first: a miss costs little here, so a small sample is enough.
const SAMPLE: Extent = Extent { breadth: 2_000, walks: 30, steps: 200 };

fn refused(why: &str) -> Failure {
    let message = format!("--exec packed is not made for this model: {why}");
    Failure::refused_with(message, "use --exec jit".to_string())
}

/// Refuses properties of more than states and steps.
pub fn refuse_whole(plan: &Plan, property: &str) -> Result<(), Failure> {
    if plan.exec != Exec::Packed {
        return Ok(());
    }
    let message =
        format!("--exec packed searches for safety: properties such as {property} are not available yet");
    Err(Failure::refused_with(message, "add --property safety, or use --exec jit".to_string()))
}

/// Searches packed states for errors of states and steps.
pub fn search_safety(
    plan: &Plan,
    searched: &dyn Backend,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Result<Explored, Failure> {
    let Some(interp) = searched.interp() else {
        return Err(Failure::Internal("there is no program".to_string()));
    };
    let no = |why: Refused| refused(&why.to_string());
    kernel::refuse::refuse(interp).map_err(no)?;
    let apart = |state: &[u8]| interp.take_apart(&searched.to_interp(state));
    let mut model = Model::new(interp, searched.system(), &apart, SAMPLE).map_err(no)?;
    let mut budget = Budget::new(task, observer);
    let mut reason = None;
    let (found, known) = loop {
        let (miss, state) = match attempt(plan, &model, task, (&mut budget, &mut reason))? {
            (Found { ended: Ended::Missed(miss, state), .. }, _) => (miss, state),
            (found, known) => break (found, known),
        };
        if model.remade >= MOST_REMADE {
            return Err(refused("values of its variables keep growing"));
        }
        model.missed(miss, &state).map_err(no)?;
    };
    let figures = Figures {
        bits: model.layout.bits(),
        layouts: model.remade + 1,
        instructions: model.kernel.function.len(),
    };
    let explored = stop::regardless(|| conclude(&model, (found, known, reason), task))?;
    Ok(Explored { packed: Some(Box::new(figures)), ..explored })
}

/// Searches with the layout as it is.
fn attempt(
    plan: &Plan,
    model: &Model<'_>,
    task: &Task<'_>,
    (budget, reason): (&mut Budget<'_>, &mut Option<StopReason>),
) -> Result<(Found, Known), Failure> {
    let Some(initial) = model.initial() else {
        return Err(Failure::Internal("the initial state cannot be packed".to_string()));
    };
    if initial.len() > packed::search::MOST_WORDS {
        let bits = model.layout.bits();
        return Err(refused(&format!("a packed state has {bits} bits, and there is room for 127")));
    }
    let internal = |why| Failure::Internal(format!("packed states: {why}"));
    let machine = Machine::new(&model.kernel).map_err(internal)?;
    let judge = Judging { model, checks: task.checks, known: Mutex::new(Known::default()) };
    let limit = task.limits.memory.unwrap_or(u64::MAX);
    let request = Request {
        layout: &model.layout,
        kernel: &model.kernel,
        machine: &machine,
        initial: &initial,
        judge: &judge,
        all_errors: task.all_errors,
        states: task.limits.states.unwrap_or(u64::MAX),
        memory: limit.saturating_sub(task.limits.account.used(0)),
        threads: if plan.deterministic { 1 } else { plan.threads as usize },
        alone: plan.options.alone,
        stop: task.stop,
    };
    let mut watch = |counts: &dyn Fn() -> Counts| {
        let snapshot = || {
            let counts = counts();
            Snapshot {
                states: counts.states,
                transitions: counts.steps,
                depth: counts.levels,
                memory: counts.memory,
                ..Snapshot::default()
            }
        };
        let look = budget.tick().and_then(|due| if due { budget.look(snapshot) } else { Ok(()) });
        *reason = look.err();
        reason.is_none()
    };
    let found = packed::search(&request, &mut watch);
    let found = found.ok_or_else(|| internal("there is no table for them".to_string()))?;
    Ok((found, judge.known.into_inner().unwrap_or_else(PoisonError::into_inner)))
}

/// What makes two errors the same for a report.
type Signature = (FaultKind, String, u32, Option<String>);

fn signature(fault: &Fault) -> Signature {
    (fault.kind, fault.file.clone(), fault.line, fault.process.clone())
}

/// What was met already.
#[derive(Default)]
struct Known {
    errors: BTreeSet<Signature>,
    cuts: BTreeSet<Signature>,
    endless: bool,
    /// There was too much behind a state.
    beyond: bool,
}

/// Looks at states that show something, in the reference machine.
struct Judging<'a> {
    model: &'a Model<'a>,
    checks: Checks,
    known: Mutex<Known>,
}

impl Judge for Judging<'_> {
    fn look(&self, state: &[u64], _: Shown) -> Judged {
        let look = look(self.model.interp(), &self.model.bytes(state));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.beyond |= look.beyond;
        let mut judged = Judged::default();
        for shown in &look.errors {
            if self.checks.count(shown.fault.kind) {
                judged.errors += 1;
                judged.keep |= known.errors.insert(signature(&shown.fault));
            } else if shown.cut {
                judged.keep |= known.cuts.insert(signature(&shown.fault));
            }
        }
        judged.keep |= look.endless.is_some() && !std::mem::replace(&mut known.endless, true);
        judged
    }
}

/// What a search may claim.
fn conclude(
    model: &Model<'_>,
    (found, known, reason): (Found, Known, Option<StopReason>),
    task: &Task<'_>,
) -> Result<Explored, Failure> {
    let stop = match found.ended {
        Ended::Complete => StopReason::Completed,
        Ended::Error => StopReason::Violation,
        Ended::Full => StopReason::MemoryLimit,
        Ended::States => StopReason::StateLimit,
        Ended::Stopped | Ended::Missed(..) | Ended::Long => reason.unwrap_or(StopReason::Interrupted),
    };
    if found.ended == Ended::Long || known.beyond {
        let why = "a d_step or an atomic sequence is too long for packed states: use --exec jit";
        let outcome = Outcome::nothing(StopReason::Completed);
        return Ok(Explored { unfit: Some(why.to_string()), ..Explored::found(outcome) });
    }
    let (mut violations, mut cuts, mut endless): (Vec<Violation>, Vec<Violation>, Option<Path>) =
        (Vec::new(), Vec::new(), None);
    for way in &found.ways {
        let shown = at_the_end(model.interp(), model, way)?;
        violations.extend(shown.violations(&task.checks));
        cuts.extend(shown.cuts(&task.checks));
        endless = endless.or_else(|| shown.endless());
    }
    let mut errors = found.counts.errors;
    if !task.all_errors && !violations.is_empty() {
        violations.sort_by_key(|violation| violation.path.len());
        violations.truncate(1);
        errors = 1;
    }
    let set = SetSearch {
        stop,
        checks: task.checks,
        about: About::States,
        violations,
        errors,
        cuts,
        atomic_loop: endless,
        statistics: statistics(model, &found),
    };
    Ok(Explored::found(set.conclude()))
}

fn statistics(model: &Model<'_>, found: &Found) -> Statistics {
    let counts = &found.counts;
    Statistics {
        states: counts.states,
        transitions: counts.steps,
        matched: (counts.steps + 1).saturating_sub(counts.states),
        depth: counts.levels,
        state_bytes: counts.memory,
        vector_bytes: 8 * model.layout.words.len() as u64,
        workers: found.workers as u64,
        ..Statistics::default()
    }
}
