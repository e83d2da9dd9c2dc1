//! Properties of whole runs: LTL, never claims, accept and progress labels; and what is worth knowing beside
//! their verdict.

use super::Checker;
use crate::backend::Backend;
use crate::client::Client;
use crate::counterexample::{confirm, tighten};
use crate::failure::Failure;
use crate::liveness::{self, How};
use crate::options::{Engine, Por};
use crate::plan::{CycleSearch, Plan};
use crate::property::Selected;
use crate::report::{PropertyReport, Reason, Refutation, Shown, Vacuous, Verdict};
use crate::run_property::{RunProperties, RunProperty};
use crate::self_check::Reference;
use crate::symbolic_runs::{self, BySets};
use crate::{symbolic_branching, symbolic_search};
use machine::Interp;
use machine::opt::Reductions;
use promela::ir::Expr;
use search::reduced::Reduced;
use search::{Checks, Limits, Observer, Outcome, Silent, Statistics, Task};
use std::time::Duration;
use system::{ActionId, Explain, Fairness, FaultKind, TransitionSystem};
use trace::Judge;

/// How long it may take to find out that fairness would help.
const FAIRNESS_TIME: Duration = Duration::from_secs(1);

/// What a search met, told.
struct Told {
    /// Where an atomic sequence can run forever.
    stays_at: Option<String>,
    /// The runs that are wrong.
    shown: Vec<Shown>,
    /// The most that can be said of the fairness of the first one.
    fairness: Option<Fairness>,
}

/// What a search for a wrong run gave.
struct Searched {
    how: How,
    outcome: Outcome,
    /// What else there is to say, where it was made with sets of states.
    by_sets: Option<BySets>,
}

impl Checker<'_> {
    /// Searches for a run that a claim finds wrong, replays it, and concludes. `plain` is what a symbolic search
    /// takes.
    pub(super) fn whole_runs<M: TransitionSystem + Explain>(
        &mut self,
        machine: &M,
        (searched, plain): (&dyn Backend, Option<&dyn Backend>),
        property: Selected,
        (watch, watches): (&RunProperty, &RunProperties),
        client: &mut dyn Client,
    ) -> Result<PropertyReport, Failure> {
        let sets = &watches.sets[..];
        let state = |state: &[u8]| searched.to_interp(state);
        let reference = searched.interp().map(|interp| Reference { interp, state: &state });
        let reduction = liveness::reduction(self.plan, searched, (watch, sets), reference);
        let reduced = reduction.as_ref().map(|by| by.reduced(searched.system()));
        let system = reduced.as_ref().map_or(searched.system(), |reduced| reduced);
        // The model's own errors are no errors of a property of whole runs.
        let checks = if watch.is_claim() { Checks::CLAIM } else { Checks::NONE };
        let Searched { how, mut outcome, by_sets } =
            self.search_runs((system, plain), (watch, watches), checks, client)?;
        if self.plan.options.shorten && by_sets.is_none() {
            self.shorten(&self.task(checks, None), &mut outcome, &mut |task| {
                liveness::search(self.plan, self.leaving, system, watch, task, client).1
            });
        }
        reduction.as_ref().map_or(Ok(()), |by| by.verdict())?;
        let reduced = reduced.as_ref().filter(|_| by_sets.is_none());
        let Told { stays_at, shown, fairness } = stop::regardless(|| {
            self.tell_runs(machine, (&property.name, watch), reduced, &mut outcome, client)
        })?;
        let mut report = self.conclude(property, outcome, shown, stays_at);
        report.how = Some(how);
        report.por = reduction.as_ref().filter(|_| by_sets.is_none()).map_or(Por::None, |by| by.por());
        // What is only worth knowing beside the verdict must not cost it.
        let holds_under = stop::attempt(|| self.holds_under(fairness, (watch, sets), &report));
        report.holds_under = holds_under.unwrap_or(Ok(None))?;
        report.fairness = self.plan.fairness;
        if let Some(by_sets) = by_sets {
            tell_by_sets(by_sets, watch, &mut report);
        } else if let Verdict::Holds(_) = report.verdict {
            // A reduction may leave out that a buffer gets full.
            report.met_full_buffer = reduction.is_none().then(|| searched.met_full_buffer());
            let vacuous = stop::attempt(|| self.vacuous(system, watch, &report.statistics));
            report.vacuous = vacuous.unwrap_or(None);
        }
        Ok(report)
    }

    /// Tells what a search met, with every run that is wrong replayed.
    fn tell_runs<M: TransitionSystem + Explain>(
        &mut self,
        machine: &M,
        (name, watch): (&str, &RunProperty),
        reduced: Option<&Reduced<'_>>,
        outcome: &mut Outcome,
        client: &mut dyn Client,
    ) -> Result<Told, Failure> {
        let stays_at = self.warn_all(machine, outcome);
        let written_out = |path: system::Path, cycle| match reduced {
            Some(reduced) => reduced.written_out(&path, cycle).ok_or_else(|| {
                Failure::Internal("a path of the reduced system is none of the system".to_string())
            }),
            None => Ok((path, cycle)),
        };
        for mut cut in std::mem::take(&mut outcome.cuts) {
            (cut.path, _) = written_out(cut.path, None)?;
            cut.path = without_stutter(&cut.path);
            match cut.fault.kind {
                FaultKind::Evaluation => self.tell_evaluation(machine, watch, &cut)?,
                _ => self.tell_cut(machine, name, &cut)?,
            }
        }
        let wants_essence = !outcome.violations.is_empty() && watch.acting.is_none();
        let essence = self.session.filter(|_| wants_essence).map(|session| session.essence()).transpose()?;
        let judge = self.judge(watch, essence.as_ref());
        let (mut shown, mut fairness) = (Vec::new(), None);
        for mut violation in std::mem::take(&mut outcome.violations) {
            (violation.path, violation.cycle) = written_out(violation.path, violation.cycle)?;
            violation.path = without_stutter(&violation.path);
            tighten(&judge, machine, &mut violation);
            let (evidence, confirmed) = confirm(machine, &self.head(name), &violation, Some(judge))?;
            // Whether fairness would help is asked of the first run.
            if shown.is_empty() {
                fairness = confirmed.judgement.as_ref().map(|judgement| judgement.fairness);
            }
            shown.push(self.show(evidence, &confirmed.run, client));
        }
        Ok(Told { stays_at, shown, fairness })
    }

    /// Searches by the engine that was asked for.
    fn search_runs(
        &mut self,
        (system, plain): (&dyn TransitionSystem, Option<&dyn Backend>),
        (watch, watches): (&RunProperty, &RunProperties),
        checks: Checks,
        client: &mut dyn Client,
    ) -> Result<Searched, Failure> {
        let (plan, leaving) = (self.plan, self.leaving);
        let explicitly = |task: &Task<'_>, observer: &mut dyn Observer| {
            liveness::search(plan, leaving, system, watch, task, observer)
        };
        let fit = match plan.engine {
            // Refused before.
            Engine::Explicit | Engine::Gpu => false,
            Engine::Symbolic => self.fit_for_sets(plain, watch).map(|()| true)?,
            Engine::Auto => self.fit_for_sets(plain, watch).is_ok(),
        };
        let jit = plain.and_then(Backend::compiled).filter(|_| fit);
        // Where there is no initial state there is nothing to compute.
        let Some(jit) = jit.filter(|jit| jit.initial(&mut Vec::new()).is_ok()) else {
            let (how, outcome) = explicitly(&self.task(checks, None), client);
            return Ok(Searched { how, outcome, by_sets: None });
        };
        leaving.wait();
        let known = self.runs.take();
        let task = self.task(checks, None);
        let with = (&task, client as &mut dyn Observer);
        let mut runs = match (known, plan.engine) {
            (Some(known), _) => known,
            (None, Engine::Symbolic) => symbolic_runs::judge(plan, jit, watches, with)?,
            (None, _) => {
                let explore = |task: &Task<'_>, observer: &mut dyn Observer| {
                    let (how, outcome) = explicitly(task, observer);
                    let sound = symbolic_search::is_sound(&outcome);
                    ((how, outcome), sound)
                };
                match symbolic_runs::judge_both(plan, jit, watches, with, explore)? {
                    (_, Some(found)) => found,
                    ((how, outcome), None) => return Ok(Searched { how, outcome, by_sets: None }),
                }
            }
        };
        let (outcome, by_sets) = runs.take(watch.set);
        self.runs = Some(runs);
        Ok(Searched { how: How::Sets, outcome, by_sets: Some(by_sets) })
    }

    /// Refuses what the symbolic engine is not made for.
    fn fit_for_sets(&self, plain: Option<&dyn Backend>, watch: &RunProperty) -> Result<(), Failure> {
        let session = self.session.ok_or_else(|| Failure::Internal("there is no program".to_string()))?;
        let compiled = plain.and_then(Backend::compiled);
        symbolic_runs::refuse(self.plan, watch)?;
        symbolic_runs::refuse_compiled(self.plan, compiled)?;
        symbolic_search::refuse(session.program()?, compiled)?;
        compiled.map_or(Ok(()), symbolic_branching::refuse)
    }

    /// Who decides whether a run is wrong, when it is replayed.
    fn judge<'w>(&self, watch: &'w RunProperty, essence: Option<&'w Interp>) -> Judge<'w> {
        Judge {
            fault: &watch.fault,
            claim: watch.claim.as_ref().map(|claim| (claim, watch.set)),
            general: watch.general.as_ref(),
            fairness: self.plan.fairness,
            essence: essence.map(|machine| machine as &dyn TransitionSystem),
        }
    }

    /// Why a property that holds says nothing about this model, if that is so; a search that would take long
    /// is given up.
    pub(super) fn vacuous(
        &self,
        system: &dyn TransitionSystem,
        watch: &RunProperty,
        statistics: &Statistics,
    ) -> Option<Vacuous> {
        symbolic_runs::stronger(watch).find_map(|stronger| {
            let task = Task {
                checks: Checks::CLAIM,
                all_errors: false,
                seed: None,
                limits: self.limits_of_hint(statistics),
                stop: self.stop.flag(),
                reduce: None,
            };
            let claim = Some(stronger.claim.clone());
            let watch = RunProperty { claim, general: None, stronger: Vec::new(), ..watch.clone() };
            let (_, outcome) = liveness::search(self.plan, self.leaving, system, &watch, &task, &mut Silent);
            let holds = outcome.violations.is_empty() && outcome.exhausted.is_some();
            holds.then(|| Vacuous { formula: stronger.formula.clone(), part: stronger.part.clone() })
        })
    }

    /// The weakest fairness under which a violation disappears. Asked only where the run that was found is
    /// not fair; a search that would take long is given up. `fairness` is that of the run.
    pub(super) fn holds_under(
        &self,
        fairness: Option<Fairness>,
        (watch, sets): (&RunProperty, &[Vec<Expr>]),
        report: &PropertyReport,
    ) -> Result<Option<Fairness>, Failure> {
        let first = report.verdict.violations().next().map(|shown| shown.evidence.trail());
        let endless = first.is_some_and(|trail| trail.cycle.is_some());
        let (Some(fairness), Some(session)) = (fairness.filter(|_| endless), self.session) else {
            return Ok(None);
        };
        let stronger: &[Fairness] = match self.plan.fairness {
            Fairness::None => &[Fairness::Weak, Fairness::Strong],
            Fairness::Weak => &[Fairness::Strong],
            Fairness::Strong => &[],
        };
        let is_fair = |wanted| fairness == Fairness::Strong || fairness == wanted;
        if stronger.iter().all(|&wanted| is_fair(wanted)) {
            return Ok(None);
        }
        // Who can move is judged where nothing is left out.
        let reductions = Reductions { merge: false, ..self.plan.reductions() };
        let searched = match &watch.acting {
            Some(_) => None,
            None => Some(session.searched(reductions, self.plan.exec, sets)?),
        };
        let acting = watch.acting.as_deref().map(|acting| acting as &dyn TransitionSystem);
        let Some(system) = searched.as_ref().map(Backend::system).or(acting) else { return Ok(None) };
        let left = self.limits_of_hint(&report.statistics);
        let time = Some(left.time.map_or(FAIRNESS_TIME, |time| time.min(FAIRNESS_TIME)));
        let limits = Limits { time, ..left };
        for &fairness in stronger {
            // The run that was found answers for a search.
            if is_fair(fairness) {
                continue;
            }
            let (stop, checks) = (self.stop.flag(), Checks::CLAIM);
            let task = Task { checks, all_errors: false, seed: None, limits, stop, reduce: None };
            let plan = Plan { fairness, cycles: CycleSearch::Components, ..self.plan.clone() };
            let (_, outcome) = liveness::search(&plan, self.leaving, system, watch, &task, &mut Silent);
            if outcome.violations.is_empty() {
                return Ok(outcome.exhausted.is_some().then_some(fairness));
            }
        }
        Ok(None)
    }
}

/// What a symbolic search says besides its verdict.
fn tell_by_sets(by_sets: BySets, watch: &RunProperty, report: &mut PropertyReport) {
    let BySets { figures, unfit, unshown, vacuous } = by_sets;
    report.symbolic = figures.map(Box::new);
    if let (Verdict::Unknown(why), Some(unfit)) = (&mut report.verdict, unfit) {
        *why = Reason::Engine(unfit);
    }
    if let Some((mut fault, exhausted)) = unshown {
        fault.message.push_str(" (no run is shown: to find one takes more work or memory than there is)");
        report.errors = 1;
        report.exhaustive = true;
        report.verdict = Verdict::Refuted(Box::new(Refutation { exhausted, fault }));
    }
    let stronger = vacuous.and_then(|number| symbolic_runs::stronger(watch).nth(number));
    report.vacuous = stronger.map(|of| Vacuous { formula: of.formula.clone(), part: of.part.clone() });
}

/// A path without the repetitions of its last state, which no machine takes.
fn without_stutter(path: &system::Path) -> system::Path {
    path.iter().copied().filter(|&action| action != ActionId::STUTTER).collect()
}
