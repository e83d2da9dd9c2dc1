//! A check of safety by the symbolic engine: what it is not made for is refused with a repair, then the search
//! runs alone, or beside an explicit one.

use crate::dispatch::Exploration;
use crate::failure::Failure;
use crate::plan::Plan;
use crate::set_computation::{Computation, Nothing, Watched};
use crate::strategy;
use jit::Jit;
use promela::ir::Program;
use search::{Observer, Outcome, SetSearch, Task};
use symbolic::{Figures, safety};

/// What came of it.
#[derive(Debug)]
pub struct Explored {
    /// What was found.
    pub outcome: Outcome,
    /// Numbers, of a search that came to its end.
    pub figures: Option<Box<Figures>>,
    /// What is to be known of a search on a GPU.
    pub gpu: Option<Box<crate::gpu_search::Figures>>,
    /// What is to be known of a search of packed states.
    pub packed: Option<Box<crate::packed_search::Figures>>,
    /// What each process of a cluster did.
    pub cluster: Option<Box<crate::cluster_search::Figures>>,
    /// Why the engine could not go on.
    pub unfit: Option<String>,
}

impl Explored {
    /// What another engine found.
    pub fn found(outcome: Outcome) -> Self {
        Explored { outcome, figures: None, gpu: None, packed: None, cluster: None, unfit: None }
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

/// Searches for errors of states and steps.
pub fn search_safety(
    plan: &Plan,
    jit: &Jit,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Result<Explored, Failure> {
    let computation = Computation::new(plan, jit, &[], task);
    explored(computation.alone(|request, pins, progress| safety(request, pins, progress), (task, observer)))
}

fn explored(watched: Watched<(SetSearch, Figures)>) -> Result<Explored, Failure> {
    Ok(match watched.answer()? {
        Ok((found, figures)) => Explored {
            outcome: found.conclude(),
            figures: Some(Box::new(figures)),
            gpu: None,
            packed: None,
            cluster: None,
            unfit: None,
        },
        Err(Nothing { stop, unfit }) => Explored { unfit, ..Explored::found(Outcome::nothing(stop)) },
    })
}

/// Both engines at once, each with half of the memory: the first sound answer counts. `jit` is what the
/// symbolic one searches.
pub fn search_both(
    jit: &Jit,
    exploration: &Exploration<'_>,
    observer: &mut dyn Observer,
) -> Result<Explored, Failure> {
    let task = exploration.task;
    let both = Computation::new(exploration.plan, jit, &[], task).beside(
        |request, pins, progress| safety(request, pins, progress),
        |_| true,
        (task, observer),
        |task, observer| {
            let outcome = strategy::search(&Exploration { task, ..*exploration }, observer);
            let sound = is_sound(&outcome);
            (outcome, sound)
        },
    );
    let (explicit, sound) = both.explicit;
    match explored(both.sets) {
        Ok(symbolic) if !sound && symbolic.figures.is_some() => Ok(symbolic),
        // What an engine beside the main one believes wrongly is an error as everywhere.
        Err(failure) if !sound => Err(failure),
        _ => Ok(Explored::found(explicit)),
    }
}

/// Whether an explicit search has an answer.
pub(crate) fn is_sound(outcome: &Outcome) -> bool {
    outcome.exhausted.is_some() || !outcome.violations.is_empty()
}
