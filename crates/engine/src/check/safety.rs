//! Safety: errors of states and steps, searched in any order with any reduction.

use super::Checker;
use crate::backend::Backend;
use crate::certificate::{Recorded, Recorder};
use crate::checkpoint::Keeper;
use crate::client::Client;
use crate::cluster_search;
use crate::counterexample::confirm;
use crate::disk::WaitingRoom;
use crate::dispatch::Exploration;
use crate::failure::Failure;
use crate::gpu_search;
use crate::noting::{NotedSystem, Notes};
use crate::options::{Engine, Exec, Por};
use crate::packed_search;
use crate::plan::Order;
use crate::property::Selected;
use crate::report::{PropertyReport, Reason, Shown, Verdict};
use crate::self_check::{Doubted, Reference};
use crate::strategy;
use crate::symbolic_search::{self, Explored};
use reduce::Building;
use search::switches::BoundedSwitches;
use search::{Checks, Keeping, Method, Outcome, Proviso, Reduce, Task, Violation};
use system::{Explain, LeanOrder, Reduction, TransitionSystem};

/// How a safety property is searched: who chooses actions, and by which method.
struct Chosen<'a> {
    by: Option<Box<dyn Reduction + 'a>>,
    method: Method,
    /// A reduction was asked for, or is tried.
    reduces: bool,
}

impl Checker<'_> {
    /// Searches, replays what was found, and concludes. `beside` is what a symbolic search takes beside an
    /// explicit one.
    pub(super) fn safety<M: TransitionSystem + Explain>(
        &mut self,
        machine: &M,
        (searched, beside): (&dyn Backend, Option<&dyn Backend>),
        property: Selected,
        checks: Checks,
        client: &mut dyn Client,
    ) -> Result<PropertyReport, Failure> {
        let checks = Checks { channels_empty: self.plan.options.channels_empty, ..checks };
        let Chosen { by, method, reduces } = self.reduction_for_safety(searched);
        let state = |state: &[u8]| searched.to_interp(state);
        let interp = searched.interp().filter(|_| self.plan.doubts.any());
        let (by, doubted) = match interp {
            Some(interp) => {
                (None, Some(Doubted::new(by, Reference { interp, state: &state }, self.plan.doubts)))
            }
            None => (by, None),
        };
        let by = doubted.as_ref().map(|by| by as &dyn Reduction).or(by.as_deref());
        // For deadlocks alone no proviso would be needed; but an error that is put off forever would not be
        // told.
        let proviso = self.plan.proviso;
        let task = self.task(checks, by.map(|by| Reduce { by, method, proviso }));
        let (plan, leaving) = (self.plan, self.leaving);
        let recorder = Recorder::wanted(plan, searched, &property.name, checks, client)?;
        let recorded = recorder.as_ref().map(|recorder| Recorded::new(searched.system(), recorder));
        let system = recorded.as_ref().map_or(searched.system(), |recorded| recorded as _);
        let keeper = Keeper::wanted(plan, searched, &property.name, client)?;
        let notes = Notes::wanted(searched, plan.options.ranges, plan.options.profile);
        let noted = notes.as_ref().map(|notes| NotedSystem::new(system, notes));
        let system = noted.as_ref().map_or(system, |noted| noted as _);
        let bounded = plan.options.max_switches.and_then(|most| BoundedSwitches::new(system, most));
        let system = bounded.as_ref().map_or(system, |bounded| bounded as _);
        let room = WaitingRoom::wanted(plan, client)?;
        let (noting, keeps) = (recorder.as_ref(), keeper.as_ref());
        let keeping = Keeping { disk: room.as_ref().map(WaitingRoom::disk), ..Keeping::NONE };
        let exploration =
            Exploration { plan, leaving, system, task: &task, recorder: noting, keeper: keeps, keeping };
        let Explored { mut outcome, figures, gpu, packed, cluster, unfit } = match plan.engine {
            Engine::Explicit if plan.options.cluster.is_some() => {
                cluster_search::search_safety(&exploration, &property.name, client)?
            }
            Engine::Explicit if plan.exec == Exec::Packed => self.packed(searched, &exploration, client)?,
            Engine::Explicit => Explored::found(strategy::search(&exploration, client)),
            Engine::Symbolic => self.symbolic(searched, &exploration, client)?,
            Engine::Gpu => self.on_gpu(searched, &exploration, client)?,
            Engine::Auto => self.both(beside, &exploration, client)?,
        };
        doubted.as_ref().map_or(Ok(()), Doubted::verdict)?;
        let on_disk = room.as_ref().map(|room| room.finish(&mut outcome));
        let kept = keeper.as_ref().map(|keeper| keeper.finish(&outcome)).transpose()?;
        if plan.options.shorten && plan.order != Order::BreadthFirst {
            self.shorten(&task, &mut outcome, &mut |task| {
                strategy::search(&Exploration { task, keeper: None, ..exploration }, client)
            });
            if let Some(plan) = self.breadth_first() {
                self.shorten(&Task { reduce: None, ..task }, &mut outcome, &mut |task| {
                    strategy::search(&Exploration { plan: &plan, task, keeper: None, ..exploration }, client)
                });
            }
        }
        let unseen = bounded.as_ref().is_some_and(BoundedSwitches::left_out);
        let was_all_within = unseen && outcome.exhausted.take().is_some();
        let (stays_at, shown) =
            stop::regardless(|| self.tell_found(machine, &property.name, &mut outcome, client))?;
        let mut report = self.conclude(property, outcome, shown, stays_at);
        if let (Verdict::Unknown(why), Some(most), true) =
            (&mut report.verdict, plan.options.max_switches, was_all_within)
        {
            *why = Reason::Switches(most);
        }
        if let (Verdict::Unknown(why), Some(unfit)) = (&mut report.verdict, unfit) {
            *why = Reason::Engine(unfit);
        }
        if let Some((figures, why)) = on_disk {
            report.on_disk = Some(figures);
            if let (Verdict::Unknown(reason), Some(why)) = (&mut report.verdict, why) {
                *reason = Reason::Disk(why);
            }
        }
        report.noted = notes.map(|notes| Box::new(notes.finish()));
        if let (Verdict::Holds(_), Some(recorder)) = (&report.verdict, recorder) {
            report.certificate = Some(recorder.finish(report.statistics.states)?);
        }
        if let Some((ended, notices)) = kept {
            report.kept = Some(ended);
            self.notices.extend(notices);
        }
        report.symbolic = figures;
        report.gpu = gpu;
        report.packed = packed;
        report.cluster = cluster;
        report.checked = self.stated.iter().copied().filter(|&kind| checks.count(kind)).collect();
        // With a proviso every action that is possible is taken somewhere; without one, statements may be
        // passed over.
        let all_actions =
            !reduces || method != Method::Sets || proviso != Proviso::None || self.plan.static_proviso;
        self.tell_of_search(&mut report, (searched, beside), all_actions);
        Ok(report)
    }

    /// Replays what was found, and hands it to the client.
    fn replay_all<M: TransitionSystem + Explain>(
        &mut self,
        machine: &M,
        property: &str,
        violations: Vec<Violation>,
        client: &mut dyn Client,
    ) -> Result<Vec<Shown>, Failure> {
        let mut shown = Vec::new();
        for violation in violations {
            let (evidence, confirmed) = confirm(machine, &self.head(property), &violation, None)?;
            shown.push(self.show(evidence, &confirmed.run, client));
        }
        Ok(shown)
    }

    /// What is known of the search besides its verdict. What was never executed is a fact only where every
    /// action that is possible was taken.
    fn tell_of_search(
        &self,
        report: &mut PropertyReport,
        (searched, beside): (&dyn Backend, Option<&dyn Backend>),
        took_all: bool,
    ) {
        report.por = match self.plan.por {
            // What left nothing out was no reduction.
            Por::WhereItPays if report.statistics.reduced == 0 => Por::None,
            por => por.shown(),
        };
        // Packed states are searched in code that does not note which statements it executes.
        // Nor does this process know which ones others execute.
        let noted = report.gpu.is_none() && report.packed.is_none() && self.plan.options.cluster.is_none();
        report.reached = searched.coverage().filter(|_| noted);
        if report.exhaustive && took_all && report.symbolic.is_none() {
            report.coverage.clone_from(&report.reached);
        }
        if report.exhaustive && took_all {
            // A symbolic search takes every step that is possible anywhere, in a machine of its own if it ran
            // beside another.
            let is_beside = report.symbolic.is_some() && self.plan.engine == Engine::Auto;
            report.met_full_buffer = Some(beside.filter(|_| is_beside).unwrap_or(searched).met_full_buffer());
        }
    }

    /// Tells what a search met, with every violation replayed; says where an atomic sequence can run forever.
    fn tell_found<M: TransitionSystem + Explain>(
        &mut self,
        machine: &M,
        property: &str,
        outcome: &mut Outcome,
        client: &mut dyn Client,
    ) -> Result<(Option<String>, Vec<Shown>), Failure> {
        let stays_at = self.warn_all(machine, outcome);
        for cut in std::mem::take(&mut outcome.cuts) {
            self.tell_cut(machine, property, &cut)?;
        }
        let violations = std::mem::take(&mut outcome.violations);
        Ok((stays_at, self.replay_all(machine, property, violations, client)?))
    }

    /// Searches with sets of states. Where there is no initial state there is nothing to compute.
    fn symbolic(
        &self,
        searched: &dyn Backend,
        exploration: &Exploration<'_>,
        client: &mut dyn Client,
    ) -> Result<Explored, Failure> {
        let (compiled, task) = (searched.compiled(), exploration.task);
        let Some(program) = searched.interp().map(|interp| interp.program()) else {
            return Err(Failure::Internal("there is no program".to_string()));
        };
        symbolic_search::refuse(program, compiled)?;
        match compiled.filter(|jit| jit.initial(&mut Vec::new()).is_ok()) {
            Some(jit) => symbolic_search::search_safety(self.plan, jit, task, client),
            None => Ok(Explored::found(strategy::search(exploration, client))),
        }
    }

    /// Searches on a GPU. Where there is no initial state there is nothing to search.
    fn on_gpu(
        &self,
        searched: &dyn Backend,
        exploration: &Exploration<'_>,
        client: &mut dyn Client,
    ) -> Result<Explored, Failure> {
        match searched.system().initial(&mut Vec::new()) {
            Ok(()) => gpu_search::search_safety(self.plan, searched, exploration.task, client),
            Err(_) => Ok(Explored::found(strategy::search(exploration, client))),
        }
    }

    /// Searches packed states. Where there is no initial state there is nothing to search.
    fn packed(
        &self,
        searched: &dyn Backend,
        exploration: &Exploration<'_>,
        client: &mut dyn Client,
    ) -> Result<Explored, Failure> {
        match searched.system().initial(&mut Vec::new()) {
            Ok(()) => packed_search::search_safety(self.plan, searched, exploration.task, client),
            Err(_) => Ok(Explored::found(strategy::search(exploration, client))),
        }
    }

    /// Searches in both ways at once, where the model is fit for both.
    fn both(
        &self,
        beside: Option<&dyn Backend>,
        exploration: &Exploration<'_>,
        client: &mut dyn Client,
    ) -> Result<Explored, Failure> {
        let fit = |backend: &&dyn Backend| {
            let program = backend.interp().map(|interp| interp.program());
            program.is_some_and(|program| symbolic_search::refuse(program, backend.compiled()).is_ok())
        };
        let compiled = beside.filter(fit).and_then(Backend::compiled);
        match compiled.filter(|jit| jit.initial(&mut Vec::new()).is_ok()) {
            Some(jit) => symbolic_search::search_both(jit, exploration, client),
            None => Ok(Explored::found(strategy::search(exploration, client))),
        }
    }

    /// The reduction that the plan names; without one, lean edges where they are sound.
    fn reduction_for_safety<'a>(&self, searched: &'a dyn Backend) -> Chosen<'a> {
        let plan = self.plan;
        if plan.por != Por::None || plan.options.sleep {
            let by = searched.reduction(plan.por, plan.static_proviso, plan.building);
            return Chosen { by, method: plan.method(), reduces: true };
        }
        // A state that is known stands for others that differ in hidden values, of which nobody knows whether
        // steps commute.
        if plan.is_lean() && searched.system().hidden_bytes() == 0 {
            let by = searched.reduction(Por::None, false, Building::Closure);
            return Chosen { by, method: Method::Lean(LeanOrder::default()), reduces: false };
        }
        // Where assumptions are verified, the verifier is asked to choose and chooses all.
        Chosen { by: None, method: Method::Sets, reduces: false }
    }
}
