//! A check of safety by the GPU engine: what it is not made for is refused with a repair; then the model is
//! packed, searched on the card, and made again where something was not foreseen. What was found is followed
//! in the reference machine, along the states that led to it.

use crate::backend::Backend;
use crate::failure::Failure;
use crate::packed_ways::at_the_end;
use crate::plan::Plan;
use crate::symbolic_search::Explored;
use gpu::device::{Device, DeviceError};
use gpu::driver::Card;
use gpu::search::{Counts, Ended, Found, Request, table_for};
use gpu::table::Table;
use kernel::sample::Extent;
use kernel::{Model, Refused};
use machine::Interp;
use search::limits::Budget;
use search::{
    About, Checks, Observer, Outcome, SetSearch, Snapshot, Statistics, StopReason, Task, Violation,
};

/// What is to be known of a search on a GPU.
#[derive(Clone, PartialEq, Debug)]
pub struct Figures {
    /// The card.
    pub device: String,
    /// The time of the search alone.
    pub seconds: f64,
    /// Bits of a packed state.
    pub bits: u32,
    /// How states were stored.
    pub table: Table,
    /// How many layouts were tried.
    pub layouts: u32,
    /// Instructions of the model, in the kernel IR.
    pub instructions: usize,
}

/// How often a model is made again at most.
const MOST_REMADE: u32 = 300;
/// Of the memory that is free on the card, the part that is used, in hundredths: the driver needs some.
const SHARE: u64 = 93;
/// Memory of a first attempt, for which a table is small and fast.
const SMALL: u64 = 16 << 30;

fn refused(why: &str) -> Failure {
    let message = format!("--engine gpu is not made for this model: {why}");
    Failure::refused_with(message, "use --engine explicit".to_string())
}

fn no_device(error: DeviceError) -> Failure {
    match error {
        DeviceError::Missing(what) => Failure::refused_with(
            format!("--engine gpu needs a GPU: {what}"),
            "use --engine explicit, or run on a machine with an NVIDIA GPU and its driver".to_string(),
        ),
        DeviceError::Memory => Failure::refused_with(
            "the GPU has not enough free memory".to_string(),
            "use --engine explicit, or end other programs that use the GPU".to_string(),
        ),
        DeviceError::Broken(_) => Failure::Incomplete {
            message: error.to_string(),
            repair: "try again, or use --engine explicit".to_string(),
        },
    }
}

/// Searches for errors of states and steps on the first card.
pub fn search_safety(
    plan: &Plan,
    searched: &dyn Backend,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Result<Explored, Failure> {
    let Some(interp) = searched.interp() else {
        return Err(Failure::Internal("there is no program".to_string()));
    };
    kernel::refuse::refuse(interp).map_err(|why| refused(&why.to_string()))?;
    let mut card = Card::first().map_err(no_device)?;
    search_on(&mut card, (plan, searched, interp), task, observer)
}

/// Searches on a device.
pub fn search_on(
    device: &mut dyn Device,
    (plan, searched, interp): (&Plan, &dyn Backend, &Interp),
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Result<Explored, Failure> {
    let apart = |state: &[u8]| interp.take_apart(&searched.to_interp(state));
    let no = |why: Refused| refused(&why.to_string());
    let mut model = Model::new(interp, searched.system(), &apart, Extent::default()).map_err(no)?;
    let memory = device.free().map_err(no_device)? / 100 * SHARE;
    let mut budget = Budget::new(task, observer);
    let mut reason = None;
    let all_errors = plan.options.all_errors;
    let found = loop {
        let Some(initial) = model.initial() else {
            return Err(Failure::Internal("the initial state cannot be packed".to_string()));
        };
        let request = Request {
            layout: &model.layout,
            kernel: &model.kernel,
            initial: &initial,
            all_errors,
            deadlocks: task.checks.end_state,
            memory,
            small: SMALL,
        };
        let mut watch = |counts: &Counts| {
            let snapshot = || Snapshot {
                states: counts.states,
                transitions: counts.steps,
                depth: counts.levels,
                memory: counts.memory,
                ..Snapshot::default()
            };
            let most = task.limits.states.filter(|&most| counts.states >= most);
            let look = budget.tick().and_then(|_| budget.look(snapshot));
            reason = most.map(|_| StopReason::StateLimit).or(look.err());
            reason.is_none()
        };
        let found = gpu::search::search(device, &request, &mut watch).map_err(no_device)?;
        match &found.ended {
            Ended::Missed(..) if model.remade >= MOST_REMADE => {
                return Err(refused("values of its variables keep growing"));
            }
            Ended::Missed(miss, state) => model.missed(*miss, state).map_err(no)?,
            _ => break found,
        }
    };
    let figures = Figures {
        device: device.name(),
        seconds: found.counts.seconds,
        bits: model.layout.bits(),
        table: table_for(&model.layout, memory),
        layouts: model.remade + 1,
        instructions: model.kernel.function.len(),
    };
    let explored = stop::regardless(|| conclude(&model, interp, (&found, reason), (task, all_errors)))?;
    Ok(Explored { gpu: Some(Box::new(figures)), ..explored })
}

/// What a search may claim.
fn conclude(
    model: &Model<'_>,
    interp: &Interp,
    (found, reason): (&Found, Option<StopReason>),
    (task, all_errors): (&Task<'_>, bool),
) -> Result<Explored, Failure> {
    let counts = &found.counts;
    let unfit = |why: &str| {
        let outcome = Outcome::nothing(StopReason::Completed);
        Ok(Explored { unfit: Some(why.to_string()), ..Explored::found(outcome) })
    };
    let shown = counts.errors > 0 || counts.deadlocks > 0;
    let stop = match &found.ended {
        Ended::Long => return unfit("a d_step is too long to be followed on the GPU: use --engine explicit"),
        Ended::Complete => StopReason::Completed,
        Ended::Error => StopReason::Violation,
        Ended::Full => StopReason::MemoryLimit,
        Ended::Stopped | Ended::Missed(..) => reason.unwrap_or(StopReason::Interrupted),
    };
    if found.lost && shown {
        return unfit(
            "the GPU found errors, but had no memory left for the ways to them: use --engine explicit",
        );
    }
    if !found.all_told && counts.errors > 0 && !(task.checks.runtime && task.checks.assertion) {
        return unfit("there are too many errors of other kinds on the GPU: use --engine explicit");
    }
    let mut evidence = Evidence { checks: task.checks, interp, violations: vec![], cuts: vec![], errors: 0 };
    for way in &found.ways {
        evidence.add(model, way)?;
    }
    let Evidence { mut violations, cuts, mut errors, .. } = evidence;
    if !found.all_told {
        let deadlocks = if task.checks.end_state { counts.deadlocks } else { 0 };
        errors = errors.max(deadlocks + counts.errors);
    }
    if !all_errors && !violations.is_empty() {
        violations.sort_by_key(|violation| violation.path.len());
        violations.truncate(1);
        errors = 1;
    }
    let stop = if stop == StopReason::Violation && violations.is_empty() {
        // What was found does not count: the search was ended too early.
        return unfit("errors that do not count ended the search on the GPU: add --all-errors");
    } else {
        stop
    };
    let set = SetSearch {
        stop,
        checks: task.checks,
        about: About::States,
        violations,
        errors,
        cuts,
        atomic_loop: None,
        statistics: statistics(model, counts),
    };
    let full = (found.ended == Ended::Full).then(|| "the memory of the GPU is full".to_string());
    Ok(Explored { unfit: full, ..Explored::found(set.conclude()) })
}

fn statistics(model: &Model<'_>, counts: &Counts) -> Statistics {
    Statistics {
        states: counts.states,
        transitions: counts.steps,
        matched: (counts.steps + 1).saturating_sub(counts.states),
        depth: counts.levels,
        state_bytes: counts.memory,
        vector_bytes: 8 * model.layout.words.len() as u64,
        ..Statistics::default()
    }
}

/// What is found behind states that show something.
struct Evidence<'a> {
    checks: Checks,
    interp: &'a Interp,
    violations: Vec<Violation>,
    cuts: Vec<Violation>,
    errors: u64,
}

impl Evidence<'_> {
    /// Follows the packed states of a way, and looks what the last one shows.
    fn add(&mut self, model: &Model<'_>, way: &[Vec<u64>]) -> Result<(), Failure> {
        let shown = at_the_end(self.interp, model, way)?;
        for Violation { fault, path, cycle } in shown.violations(&self.checks) {
            self.errors += 1;
            self.violations.push(Violation { fault, path, cycle });
        }
        self.cuts.extend(shown.cuts(&self.checks));
        Ok(())
    }
}

/// Refuses properties of more than states and steps.
pub fn refuse_whole(plan: &Plan, property: &str) -> Result<(), Failure> {
    if plan.engine != crate::options::Engine::Gpu {
        return Ok(());
    }
    Err(no_whole(property))
}

/// Properties of more than states and steps are for other engines.
pub fn no_whole(properties: &str) -> Failure {
    let message =
        format!("--engine gpu searches for safety: properties such as {properties} are not available yet");
    Failure::refused_with(message, "add --property safety, or use --engine explicit".to_string())
}
