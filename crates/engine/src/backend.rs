//! Backends: what is searched for a property.
//!
//! A backend executes what the static reductions left of the program, as native code or in the reference
//! machine. Its actions are those of the reference machine of the unreduced program, in which everything that
//! a search finds is replayed.

use crate::branching::Questions;
use crate::failure::Failure;
use crate::options::{Engine, Por};
use crate::plan::{Plan, Promises};
use crate::property::Selected;
use crate::run_property::{RunProperties, RunProperty};
use crate::session::Session;
use jit::Jit;
use machine::opt::Reductions;
use machine::{ActingClaim, Interp};
use reduce::{Building, Extent, Stubborn, Watched};
use search::Checks;
use stop::Stop;
use system::coverage::Coverage;
use system::{Explain, Fairness, FaultKind, Reduction, TransitionSystem};

/// What is searched. What is found there is replayed in another machine.
pub trait Backend: Sync {
    /// As a search sees it.
    fn system(&self) -> &dyn TransitionSystem;

    /// Which statements were executed, as in [`Explain::coverage`].
    fn coverage(&self) -> Option<Vec<Coverage>>;

    /// Whether a store met a full buffer, of those that were executed; false without store buffers.
    fn met_full_buffer(&self) -> bool {
        self.interp().is_none_or(Interp::met_full_buffer)
    }

    /// What chooses the actions that are enough; nothing for systems of which nothing more is known.
    /// With `static_proviso` it needs no other.
    fn reduction(
        &self,
        _por: Por,
        _static_proviso: bool,
        _building: Building,
    ) -> Option<Box<dyn Reduction + '_>> {
        None
    }

    /// A reduction for a property of whole runs, which looks at no more than is `watched` and does not count
    /// repetitions. It needs no proviso of the search.
    fn unnoticed(&self, _por: Por, _watched: Watched) -> Option<Box<dyn Reduction + '_>> {
        None
    }

    /// The reference machine of the program that is searched.
    fn interp(&self) -> Option<&Interp> {
        None
    }

    /// The compiled program, where there is one.
    fn compiled(&self) -> Option<&Jit> {
        None
    }

    /// A state of the search as a state of the reference machine.
    fn to_interp(&self, state: &[u8]) -> Vec<u8> {
        state.to_vec()
    }
}

/// A claim that acts is searched as it is.
impl Backend for ActingClaim {
    fn system(&self) -> &dyn TransitionSystem {
        self
    }

    fn coverage(&self) -> Option<Vec<Coverage>> {
        None
    }
}

/// The backend of a program.
#[derive(Debug)]
pub struct ProgramBackend {
    pub(crate) machine: Machine,
    /// The promises on which a reduction relies.
    pub(crate) relied_on: Vec<usize>,
    /// When to give up what is found out about the program.
    pub(crate) stop: Stop,
}

#[derive(Debug)]
pub(crate) enum Machine {
    /// The reference machine.
    Interp(Interp),
    /// Native code.
    Jit(Jit),
}

impl ProgramBackend {
    fn stubborn(&self, por: Por) -> Stubborn<'_> {
        let extent = match por {
            Por::Ample => Extent::OneProcess,
            Por::None | Por::Stubborn | Por::Twophase | Por::WhereItPays => Extent::AnyProcesses,
        };
        let promises = &self.relied_on[..];
        let stubborn = match &self.machine {
            Machine::Interp(machine) => Stubborn::relying_on(machine.program(), machine, extent, promises),
            Machine::Jit(machine) => {
                Stubborn::relying_on(machine.interp().program(), machine, extent, promises)
            }
        };
        stubborn.obeying(&self.stop)
    }
}

impl Backend for ProgramBackend {
    fn system(&self) -> &dyn TransitionSystem {
        match &self.machine {
            Machine::Interp(machine) => machine,
            Machine::Jit(machine) => machine,
        }
    }

    fn coverage(&self) -> Option<Vec<Coverage>> {
        match &self.machine {
            Machine::Interp(machine) => machine.coverage(),
            Machine::Jit(machine) => machine.interp().coverage(),
        }
    }

    fn reduction(
        &self,
        por: Por,
        static_proviso: bool,
        building: Building,
    ) -> Option<Box<dyn Reduction + '_>> {
        let stubborn = self.stubborn(por).built_by(building);
        let stubborn = if static_proviso { stubborn.closing_no_circle() } else { stubborn };
        match por {
            Por::WhereItPays if stubborn.is_hopeless() => None,
            Por::WhereItPays => Some(Box::new(stubborn.only_where_it_pays())),
            _ => Some(Box::new(stubborn)),
        }
    }

    fn unnoticed(&self, por: Por, watched: Watched) -> Option<Box<dyn Reduction + '_>> {
        let stubborn = self.stubborn(por).unnoticed_by(watched);
        Some(Box::new(match por {
            Por::Twophase => stubborn,
            _ => stubborn.closing_no_circle(),
        }))
    }

    fn interp(&self) -> Option<&Interp> {
        Some(match &self.machine {
            Machine::Interp(machine) => machine,
            Machine::Jit(machine) => machine.interp(),
        })
    }

    fn compiled(&self) -> Option<&Jit> {
        match &self.machine {
            Machine::Interp(_) => None,
            Machine::Jit(machine) => Some(machine),
        }
    }

    fn to_interp(&self, state: &[u8]) -> Vec<u8> {
        match &self.machine {
            Machine::Interp(_) => state.to_vec(),
            Machine::Jit(machine) => machine.to_interp(state),
        }
    }
}

/// The machines that are searched. Merging hides states between the steps of a process. Properties of whole
/// runs must not notice: those that count repetitions have a machine of their own.
pub struct Backends {
    safety: Option<ProgramBackend>,
    /// For a symbolic search beside an explicit one: merged steps read and write more.
    beside: Option<ProgramBackend>,
    /// Nothing is merged.
    plain: Option<ProgramBackend>,
    /// What no property of whole runs notices is merged.
    merged: Option<ProgramBackend>,
    /// Nothing is merged, and the propositions of formulas about states are told.
    branching: Option<ProgramBackend>,
}

impl Backends {
    /// Those that the selected properties need.
    pub fn new(
        plan: &Plan,
        session: &Session,
        selected: &[Selected],
        (watches, questions): (&RunProperties, &Questions),
    ) -> Result<Self, Failure> {
        let reductions = plan.reductions();
        let make = |reductions, sets: &[_]| session.searched(reductions, plan.exec, sets);
        let some = |wanted: bool, make: &dyn Fn() -> Result<ProgramBackend, Failure>| match wanted {
            true => make().map(Some),
            false => Ok(None),
        };
        let safety = selected.iter().any(|property| property.checks.is_some());
        // What breaks a promise must be a violation.
        let tells = |checks: &Checks| checks.count(FaultKind::Assertion) && !checks.only_end_states();
        let promises = match selected.iter().filter_map(|property| property.checks.as_ref()).all(tells) {
            true => plan.promises(),
            false => Promises::NotReliedOn,
        };
        let unmerged = Reductions { merge: false, ..reductions };
        let merges = |merges: bool| {
            watches.list.iter().any(|watch| watch.acting.is_none() && plan.merges(watch) == merges)
        };
        // A symbolic search beside an explicit one merges nothing.
        let plain = merges(false) || plan.engine == Engine::Auto && merges(true);
        Ok(Backends {
            safety: some(safety, &|| session.searched_relying(reductions, plan.exec, &[], promises))?,
            beside: some(safety && plan.engine == Engine::Auto, &|| make(unmerged, &[]))?,
            plain: some(plain, &|| make(unmerged, &watches.sets))?,
            merged: some(merges(true), &|| make(reductions, &watches.sets))?,
            branching: some(!questions.list.is_empty(), &|| make(unmerged, &questions.sets()))?,
        })
    }

    /// As the searches see them.
    pub fn searched<'a>(
        &'a self,
        watches: &'a RunProperties,
        questions: &'a Questions,
    ) -> SearchedBackends<'a> {
        let explored =
            |backend: &'a Option<ProgramBackend>| backend.as_ref().map(|backend| backend as &dyn Backend);
        let (plain, merged) = (explored(&self.plain), explored(&self.merged));
        let (safety, beside) = (explored(&self.safety), explored(&self.beside));
        let branching = self.branching.as_ref().map(|backend| (backend, questions));
        SearchedBackends { safety, beside, plain, merged, watches, branching }
    }
}

impl Plan {
    /// Whether a property is searched in a machine that merges what nobody notices.
    pub fn merges(&self, watch: &RunProperty) -> bool {
        watch.stutter_invariant && self.fairness == Fairness::None && self.reductions().merge
    }
}

/// What is searched for which properties.
pub struct SearchedBackends<'a> {
    /// For safety.
    pub safety: Option<&'a dyn Backend>,
    /// For a symbolic search beside it.
    pub beside: Option<&'a dyn Backend>,
    /// For properties of whole runs that notice merging.
    pub plain: Option<&'a dyn Backend>,
    /// For those that do not.
    pub merged: Option<&'a dyn Backend>,
    /// The properties of whole runs.
    pub watches: &'a RunProperties,
    /// For formulas about states, and these.
    pub branching: Option<(&'a ProgramBackend, &'a Questions)>,
}
