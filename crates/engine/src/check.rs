//! The run: plan → program → machine → search → replay → report.

use crate::counterexample::{Head, INLINE_STEPS, confirm, tighten};
use crate::dispatch;
use crate::endless::waits_in_loop;
use crate::failure::{Answer, Failure};
use crate::inside::unseen;
use crate::isolate::{Place, isolated_at};
use crate::liveness;
use crate::memory;
use crate::notice::Notice;
use crate::options::CheckOptions;
use crate::plan::{Config, CycleSearch, Plan, Por, Promises};
use crate::property::{Selected, select};
use crate::report::{PropertyReport, Reason, Report, Shown, Times, Vacuous, Verdict};
use crate::saving::RealStorage;
use crate::self_check::{Doubted, Reference};
use crate::session::{Searched, Session};
use crate::settle::Settling;
use crate::trails::Trails;
use crate::watch::{Stronger, Watch, Watches};
use crate::watcher::Watcher;
use machine::opt::Reductions;
use machine::{ActingClaim, Interp};
use promela::diagnostic::Code;
use promela::ir::Expr;
use promela::source::Files;
use reduce::Building;
use reduce::Watched;
use search::limits::peak_resident_bytes;
use search::{
    Checks, Limits, Method, Observer, Outcome, Proviso, Reduce, Silent, Statistics, StopReason, Task,
};
use std::time::{Duration, Instant};
use stop::{Cause, Stop};
use system::coverage::Coverage;
use system::{ActionId, Blocked, Explain, Fairness, FaultKind, LeanOrder, Reduction, TransitionSystem};
use trace::{Evidence, Judge, Palette};

mod told;

/// Checks a model: every property asked for, or all that apply.
pub fn check(
    options: &CheckOptions,
    files: &(dyn Files + Sync),
    stop: &Stop,
    watcher: &mut (dyn Watcher + Send),
) -> Answer<Report> {
    let plan = match Plan::new(options) {
        Ok(plan) => plan,
        Err(failure) => return Answer::failed(failure),
    };
    let stop = &stop.within(plan.limits.time);
    isolated_at(|place| {
        let (started, mut notices) = (Instant::now(), Vec::from_iter(no_thread_notice(place)));
        let mut known = asked_for(&plan);
        let result = stop::attempt(|| run(&plan, files, stop, watcher, &mut notices, &mut known));
        let short = watcher.is_short_of_memory();
        let report = |cause| Ok(unprepared(&plan, known, too_early(&plan, cause, short), started));
        Answer { notices, result: result.unwrap_or_else(report) }
    })
    .unwrap_or_else(Answer::failed)
}

fn run(
    plan: &Plan,
    files: &dyn Files,
    stop: &Stop,
    watcher: &mut dyn Watcher,
    notices: &mut Vec<Notice>,
    known: &mut Vec<(String, &'static str)>,
) -> Result<Report, Failure> {
    let started = Instant::now();
    let session = Session::load(&plan.source, files, stop)?;
    notices.extend(session.notices.iter().cloned());
    refuse_overwriting(&plan.trail, &session)?;
    let inventory = session.inventory()?;
    let selected = select(&plan.properties, &inventory)?;
    *known = selected.iter().map(|property| (property.name.clone(), property.kind)).collect();
    if let Some(runs) = selected.iter().find(|property| property.checks.is_none()) {
        liveness::refuse(plan, &runs.name)?;
    }
    let compiling = Instant::now();
    let mut watches = Watches::default();
    for property in selected.iter().filter(|property| property.checks.is_none()) {
        watches.add(&session, &property.name)?;
    }
    for (property, watch) in selected.iter().filter(|property| property.checks.is_none()).zip(&watches.list) {
        liveness::refuse_store(plan, watch, &property.name)?;
    }
    if selected.iter().all(|property| property.checks.is_none()) {
        liveness::refuse_for_runs_alone(plan, &watches.list)?;
    }
    notices.extend(watches.list.iter().filter_map(|watch| Some(acts_notice(watch.acting.as_deref()?))));
    for property in selected.iter().filter(|property| property.checks.is_none()) {
        notices.extend(unseen(&session, session.program()?, &property.name));
    }
    // What is found in the reduced program is replayed in the original.
    let machine = session.judge()?.watched(watches.sets.clone());
    let searched = Machines::new(plan, &session, &selected, &watches)?;
    let compile = compiling.elapsed();
    *notices = watcher.notices(std::mem::take(notices));
    let searching = Instant::now();
    let before = notices.len();
    let mut run = Run {
        plan,
        session: Some(&session),
        stated: &inventory.safety,
        fingerprint: session.fingerprint(),
        stop,
        started,
        trails: Trails::new(&plan.trail, &RealStorage),
        notices,
    };
    let properties = run.properties(&machine, &searched.explored(&watches), selected, watcher)?;
    let (search, total) = (searching.elapsed(), started.elapsed());
    Ok(Report {
        model: plan.source.path.clone(),
        options: plan.options.clone(),
        config: Config {
            por: reduction_used(plan, &properties),
            threads: workers(&properties),
            ..plan.config.clone()
        },
        properties,
        times: Times { front_end: session.time, compile, search, total },
        peak_rss: peak_resident_bytes().unwrap_or(0),
        memory_left: memory::available().unwrap_or(0),
        states_something: inventory.states_something(),
        notices: notices[before..].to_vec(),
        progress_labels: inventory.progress,
        leaving: plan.leaving.clone(),
    })
}

/// The properties that a check is certainly about, before the model is known.
fn asked_for(plan: &Plan) -> Vec<(String, &'static str)> {
    let kind = |name: &str| match name.split(':').next() {
        Some("ltl") => "ltl",
        Some("never") => "never",
        Some("accept") => "accept",
        Some("progress") => "progress",
        _ => "safety",
    };
    match &plan.properties[..] {
        [] => vec![("safety".to_string(), "safety")],
        asked => asked.iter().map(|name| (name.clone(), kind(name))).collect(),
    }
}

/// The report of a check that came to no search.
fn unprepared(plan: &Plan, known: Vec<(String, &'static str)>, why: Reason, started: Instant) -> Report {
    let unknown = |(name, kind)| PropertyReport::given_up(name, kind, why.clone());
    Report {
        model: plan.source.path.clone(),
        options: plan.options.clone(),
        config: Config { por: "none", threads: 1, ..plan.config.clone() },
        properties: known.into_iter().map(unknown).collect(),
        times: Times { total: started.elapsed(), ..Times::default() },
        peak_rss: peak_resident_bytes().unwrap_or(0),
        memory_left: memory::available().unwrap_or(0),
        states_something: true,
        leaving: plan.leaving.clone(),
        notices: Vec::new(),
        progress_labels: false,
    }
}

/// Why nothing is known of a property for which there was no time.
fn too_early(plan: &Plan, cause: Cause, short_of_memory: bool) -> Reason {
    match cause {
        Cause::Asked if short_of_memory => Reason::Memory(plan.allowance.clone()),
        Cause::Asked => Reason::Interrupted,
        Cause::Time => Reason::Unprepared(plan.limits.time.unwrap_or_default()),
    }
}

/// How many workers there were: a small search does not need all that it may have.
fn workers(properties: &[PropertyReport]) -> u64 {
    properties.iter().map(|property| property.statistics.workers).max().unwrap_or(1).max(1)
}

/// The reduction that reports name: the one asked for, or what came of the tool's own choice.
fn reduction_used(plan: &Plan, properties: &[PropertyReport]) -> &'static str {
    match plan.por {
        Por::WhereItPays => properties.iter().map(|p| p.por).find(|por| *por != "none").unwrap_or("none"),
        _ => plan.config.por,
    }
}

/// A trail must not take the place of a file of the model.
fn refuse_overwriting(trail: &str, session: &Session) -> Result<(), Failure> {
    let Ok(path) = std::fs::canonicalize(trail) else { return Ok(()) };
    let same = |name: &str| std::fs::canonicalize(name).is_ok_and(|other| other == path);
    match session.sources.files().iter().find(|file| same(&file.name)) {
        Some(file) => Err(Failure::refused_with(
            format!("--trail {trail} would overwrite {}, a file of the model", file.name),
            "give another file name with --trail",
        )),
        None => Ok(()),
    }
}

/// What is searched. What is found there is replayed in another machine.
pub trait Explored: Sync {
    /// As a search sees it.
    fn system(&self) -> &dyn TransitionSystem;

    /// Which statements were executed, as in [`Explain::coverage`].
    fn coverage(&self) -> Option<Vec<Coverage>>;

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

    /// The same for a property of whole runs, which looks at no more than is `watched` and does not count repetitions. It needs
    /// no proviso of the search.
    fn unnoticed(&self, _por: Por, _watched: Watched) -> Option<Box<dyn Reduction + '_>> {
        None
    }

    /// The reference machine of the program that is searched.
    fn interp(&self) -> Option<&Interp> {
        None
    }

    /// A state of the search as a state of the reference machine.
    fn to_interp(&self, state: &[u8]) -> Vec<u8> {
        state.to_vec()
    }
}

/// A claim that acts is searched as it is.
impl Explored for ActingClaim {
    fn system(&self) -> &dyn TransitionSystem {
        self
    }

    fn coverage(&self) -> Option<Vec<Coverage>> {
        None
    }
}

/// What is to be known where there is no thread for the check.
fn no_thread_notice(place: Place) -> Option<Notice> {
    let Place::Here(why) = place else { return None };
    let message = format!("no thread could be started ({why}): the check runs on the main thread");
    let help = "its stack may be too small for a model with deeply nested expressions; raise the limits of the process (ulimit -v, ulimit -u)";
    Some(Notice::plain(promela::diagnostic::Code::W0708, message, Some(help.to_string())))
}

/// What is to be known about a claim that acts.
fn acts_notice(acting: &ActingClaim) -> Notice {
    let place = acting.place();
    let message = format!(
        "the never claim {} changes variables: it takes part in the runs that it judges",
        acting.name()
    );
    let help = "the model's other properties are checked without it".to_string();
    Notice::plain(promela::diagnostic::Code::W0703, message, Some(help)).at(
        &place.file,
        place.line,
        place.column,
    )
}

fn no_machine(property: &str) -> Failure {
    Failure::Internal(format!("there is no machine for {property}"))
}

/// The machines that are searched. Merging hides states between the steps of a process. Properties of whole runs must not notice:
/// those that count repetitions have a machine of their own.
struct Machines {
    safety: Option<Searched>,
    /// Nothing is merged.
    plain: Option<Searched>,
    /// What no property of whole runs notices is merged.
    merged: Option<Searched>,
}

impl Machines {
    fn new(
        plan: &Plan,
        session: &Session,
        selected: &[Selected],
        watches: &Watches,
    ) -> Result<Self, Failure> {
        let reductions = plan.config.reductions();
        let make = |reductions, sets: &[_]| session.searched(reductions, plan.config.exec, sets);
        let some = |wanted: bool, make: &dyn Fn() -> Result<Searched, Failure>| match wanted {
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
        Ok(Machines {
            safety: some(safety, &|| session.searched_relying(reductions, plan.config.exec, &[], promises))?,
            plain: some(merges(false), &|| make(unmerged, &watches.sets))?,
            merged: some(merges(true), &|| make(reductions, &watches.sets))?,
        })
    }

    fn explored<'a>(&'a self, watches: &'a Watches) -> Searchable<'a> {
        let explored =
            |machine: &'a Option<Searched>| machine.as_ref().map(|machine| machine as &dyn Explored);
        let (plain, merged) = (explored(&self.plain), explored(&self.merged));
        Searchable { safety: explored(&self.safety), plain, merged, watches }
    }
}

impl Plan {
    /// Whether a property is searched in a machine that merges what nobody notices.
    fn merges(&self, watch: &Watch) -> bool {
        watch.stutter_invariant && self.fairness == Fairness::None && self.config.reductions().merge
    }
}

/// What is searched for which properties.
struct Searchable<'a> {
    safety: Option<&'a dyn Explored>,
    plain: Option<&'a dyn Explored>,
    merged: Option<&'a dyn Explored>,
    watches: &'a Watches,
}

/// What the searches of one check have in common.
struct Run<'a> {
    plan: &'a Plan,
    /// The model's text; hand-written systems have none.
    session: Option<&'a Session>,
    /// What the model states, or has built in.
    stated: &'a [FaultKind],
    fingerprint: u64,
    stop: &'a Stop,
    started: Instant,
    trails: Trails<'a>,
    notices: &'a mut Vec<Notice>,
}

impl Run<'_> {
    fn properties<M: TransitionSystem + Explain>(
        &mut self,
        machine: &M,
        searched: &Searchable<'_>,
        selected: Vec<Selected>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<PropertyReport>, Failure> {
        let observer = &mut Settling::new(observer);
        let mut reports = Vec::new();
        let mut watches = searched.watches.list.iter();
        for property in selected {
            let watch = if property.checks.is_none() { watches.next() } else { None };
            let (name, kind) = (property.name.clone(), property.kind);
            let done = stop::attempt(|| self.one(machine, searched, property, watch, observer));
            reports.push(match done {
                Ok(report) => self.tell_threads(report?),
                Err(cause) => PropertyReport::given_up(
                    name,
                    kind,
                    self.why_given_up(cause, observer.is_short_of_memory()),
                ),
            });
        }
        Ok(reports)
    }

    /// Says it where several workers were asked for, and there was one because there cannot be more.
    fn tell_threads(&mut self, report: PropertyReport) -> PropertyReport {
        let alone = report.statistics.workers == 0 && report.statistics.states > 0;
        if let Some(asked) = self.plan.options.threads.filter(|&asked| alone && asked > 1) {
            let (why, help) = self.plan.why_alone();
            let message = format!("one worker searched for {}, not {asked} (--threads): {why}", report.name);
            self.notices.push(Notice::plain(Code::W0706, message, Some(help.to_string())));
        }
        report
    }

    fn why_given_up(&self, cause: Cause, short_of_memory: bool) -> Reason {
        match cause {
            Cause::Asked if short_of_memory => Reason::Memory(self.plan.allowance.clone()),
            Cause::Asked => Reason::Interrupted,
            Cause::Time => Reason::Time(self.plan.limits.time.unwrap_or_default()),
        }
    }

    /// Checks one property.
    fn one<M: TransitionSystem + Explain>(
        &mut self,
        machine: &M,
        searched: &Searchable<'_>,
        property: Selected,
        watch: Option<&Watch>,
        observer: &mut dyn Observer,
    ) -> Result<PropertyReport, Failure> {
        let machines = watch.map(|watch| match self.plan.merges(watch) {
            true => searched.merged,
            false => searched.plain,
        });
        match (property.checks, searched.safety, watch, machines.flatten()) {
            (Some(checks), Some(safety), ..) => self.property(machine, safety, property, checks, observer),
            (None, _, Some(watch), cycles) => {
                let sets = &searched.watches.sets[..];
                match (&watch.acting, cycles) {
                    (Some(acting), _) => self.cycles(&**acting, &**acting, property, (watch, sets), observer),
                    (None, Some(cycles)) => self.cycles(machine, cycles, property, (watch, sets), observer),
                    (None, None) => Err(no_machine(&property.name)),
                }
            }
            _ => Err(no_machine(&property.name)),
        }
    }

    /// Searches for a run that a claim finds wrong, replays it, and concludes.
    fn cycles<M: TransitionSystem + Explain>(
        &mut self,
        machine: &M,
        searched: &dyn Explored,
        property: Selected,
        (watch, sets): (&Watch, &[Vec<Expr>]),
        observer: &mut dyn Observer,
    ) -> Result<PropertyReport, Failure> {
        let state = |state: &[u8]| searched.to_interp(state);
        let reference = searched.interp().map(|interp| Reference { interp, state: &state });
        let reduction = liveness::reduction(self.plan, searched, (watch, sets), reference);
        let reduced = reduction.as_ref().map(|by| by.reduced(searched.system()));
        let system = reduced.as_ref().map_or(searched.system(), |reduced| reduced);
        // The model's own errors are no errors of a property of whole runs.
        let checks = if watch.is_claim() { Checks::CLAIM } else { Checks::NONE };
        let task = Task {
            checks,
            all_errors: self.plan.all_errors,
            seed: self.plan.seed,
            limits: self.limits_left(),
            stop: self.stop.flag(),
            reduce: None,
        };
        let (how, mut outcome) = liveness::search(self.plan, system, watch, &task, observer);
        reduction.as_ref().map_or(Ok(()), |by| by.verdict())?;
        let stays_at = self.warn_all(machine, &mut outcome);
        let written_out = |path: system::Path, cycle| match &reduced {
            Some(reduced) => reduced.written_out(&path, cycle).ok_or_else(|| {
                Failure::Internal("a path of the reduced system is none of the system".to_string())
            }),
            None => Ok((path, cycle)),
        };
        for mut cut in std::mem::take(&mut outcome.cuts) {
            (cut.path, _) = written_out(cut.path, None)?;
            cut.path = cut.path.iter().copied().filter(|&a| a != ActionId::STUTTER).collect();
            self.tell_cut(machine, &property.name, &cut)?;
        }
        let essence = match (&outcome.violations[..], self.session) {
            ([], _) | (_, None) => None,
            _ if watch.acting.is_some() => None,
            (_, Some(session)) => Some(session.essence()?),
        };
        let judge = Judge {
            fault: &watch.fault,
            claim: watch.claim.as_ref().map(|claim| (claim, watch.set)),
            general: watch.general.as_ref(),
            fairness: self.plan.fairness,
            essence: essence.as_ref().map(|machine| machine as &dyn TransitionSystem),
        };
        let (mut shown, mut fairness) = (Vec::new(), None);
        for mut violation in std::mem::take(&mut outcome.violations) {
            (violation.path, violation.cycle) = written_out(violation.path, violation.cycle)?;
            violation.path = violation.path.iter().copied().filter(|&a| a != ActionId::STUTTER).collect();
            tighten(&judge, machine, &mut violation);
            let (evidence, confirmed) =
                confirm(machine, &self.head(&property.name), &violation, Some(judge))?;
            fairness =
                confirmed.judgement.as_ref().map(|judgement| judgement.fairness).filter(|_| shown.is_empty());
            shown.push(self.show(evidence, &confirmed.run));
        }
        let mut report = self.conclude(property, outcome, shown, stays_at);
        report.how = Some(how);
        report.por = reduction.as_ref().map_or("none", |by| by.name());
        // What is only worth knowing beside the verdict must not cost it.
        let holds_under = stop::attempt(|| self.holds_under(fairness, (watch, sets), &report));
        report.holds_under = holds_under.unwrap_or(Ok(None))?;
        report.fairness = self.plan.fairness;
        if let Verdict::Holds(_) = report.verdict {
            let vacuous = stop::attempt(|| self.vacuous(system, watch, &report.statistics));
            report.vacuous = vacuous.unwrap_or(None);
        }
        Ok(report)
    }

    /// Why a property that holds says nothing about this model, if that is so; a search that would take long is given up.
    fn vacuous(
        &self,
        system: &dyn TransitionSystem,
        watch: &Watch,
        statistics: &Statistics,
    ) -> Option<Vacuous> {
        // What counts repetitions has no answer where some are left out.
        let suits = |stronger: &&Stronger| stronger.stutter_invariant || !watch.stutter_invariant;
        watch.stronger.iter().filter(suits).find_map(|stronger| {
            let task = Task {
                checks: Checks::CLAIM,
                all_errors: false,
                seed: None,
                limits: self.limits_of_hint(statistics),
                stop: self.stop.flag(),
                reduce: None,
            };
            let claim = Some(stronger.claim.clone());
            let watch = Watch { claim, general: None, stronger: Vec::new(), ..watch.clone() };
            let (_, outcome) = liveness::search(self.plan, system, &watch, &task, &mut Silent);
            let holds = outcome.violations.is_empty() && outcome.exhausted.is_some();
            holds.then(|| Vacuous { formula: stronger.formula.clone(), part: stronger.part.clone() })
        })
    }

    /// The weakest fairness under which a violation disappears. Asked only where the run that was found is not fair; a search
    /// that would take long is given up. `fairness` is that of the run.
    fn holds_under(
        &self,
        fairness: Option<Fairness>,
        (watch, sets): (&Watch, &[Vec<Expr>]),
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
        let reductions = Reductions { merge: false, ..self.plan.config.reductions() };
        let searched = match &watch.acting {
            Some(_) => None,
            None => Some(session.searched(reductions, self.plan.config.exec, sets)?),
        };
        let acting = watch.acting.as_deref().map(|acting| acting as &dyn TransitionSystem);
        let Some(system) = searched.as_ref().map(Explored::system).or(acting) else { return Ok(None) };
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
            let (_, outcome) = liveness::search(&plan, system, watch, &task, &mut Silent);
            if outcome.violations.is_empty() {
                return Ok(outcome.exhausted.is_some().then_some(fairness));
            }
        }
        Ok(None)
    }

    /// Searches, replays what was found, and concludes.
    fn property<M: TransitionSystem + Explain>(
        &mut self,
        machine: &M,
        searched: &dyn Explored,
        property: Selected,
        checks: Checks,
        observer: &mut dyn Observer,
    ) -> Result<PropertyReport, Failure> {
        let checks = Checks { channels_empty: self.plan.channels_empty, ..checks };
        let asks = self.plan.por != Por::None || self.plan.sleep;
        let static_proviso = self.plan.static_proviso;
        let reduction =
            if asks { searched.reduction(self.plan.por, static_proviso, self.plan.building) } else { None };
        // Without a reduction, who doubts is asked to choose and chooses all.
        let method = if asks { self.plan.method() } else { Method::Sets };
        // A state that is known stands for others that differ in hidden values, of which nobody knows whether steps commute.
        let lean = !asks && self.plan.is_lean() && searched.system().hidden_bytes() == 0;
        let (reduction, method) = match lean {
            true => {
                (searched.reduction(Por::None, false, Building::Closure), Method::Lean(LeanOrder::default()))
            }
            false => (reduction, method),
        };
        let state = |state: &[u8]| searched.to_interp(state);
        let interp = searched.interp().filter(|_| self.plan.doubts.any());
        let (reduction, doubted) = match interp {
            Some(interp) => {
                let reference = Reference { interp, state: &state };
                (None, Some(Doubted::new(reduction, reference, self.plan.doubts)))
            }
            None => (reduction, None),
        };
        let by = doubted.as_ref().map(|by| by as &dyn Reduction).or(reduction.as_deref());
        // For deadlocks alone no proviso would be needed; but an error that is put off for ever would not be told.
        let proviso = self.plan.proviso;
        let task = Task {
            checks,
            all_errors: self.plan.all_errors,
            seed: self.plan.seed,
            limits: self.limits_left(),
            stop: self.stop.flag(),
            reduce: by.map(|by| Reduce { by, method, proviso }),
        };
        let mut outcome = dispatch::search(self.plan, searched.system(), &task, observer);
        doubted.as_ref().map_or(Ok(()), Doubted::verdict)?;
        let stays_at = self.warn_all(machine, &mut outcome);
        for cut in std::mem::take(&mut outcome.cuts) {
            self.tell_cut(machine, &property.name, &cut)?;
        }
        let mut shown = Vec::new();
        for violation in std::mem::take(&mut outcome.violations) {
            let (evidence, confirmed) = confirm(machine, &self.head(&property.name), &violation, None)?;
            shown.push(self.show(evidence, &confirmed.run));
        }
        let mut report = self.conclude(property, outcome, shown, stays_at);
        report.checked = self.stated.iter().copied().filter(|&kind| task.checks.count(kind)).collect();
        report.por = match self.plan.por {
            // What left nothing out was no reduction.
            Por::WhereItPays if report.statistics.reduced == 0 => "none",
            _ => self.plan.config.por,
        };
        // With a proviso every action that is possible is taken somewhere; without one, statements may be passed over.
        let all_actions = !asks || method != Method::Sets || proviso != Proviso::None || static_proviso;
        if report.exhaustive && all_actions {
            report.coverage = searched.coverage();
        }
        Ok(report)
    }

    /// Writes the trail, and adds what the model's text says about the place.
    fn show(&mut self, evidence: Evidence, run: &trace::Run<'_>) -> Shown {
        let trail = self.trails.write(&evidence);
        let fault = evidence.fault();
        let line = self.session.and_then(|session| session.line(&fault.file, fault.line));
        let waits_in_loop = self.session.is_some_and(|session| {
            let locate = |span| session.sources.location(span);
            session.program().is_ok_and(|program| waits_in_loop(program, locate, fault))
        });
        let blocked = if fault.kind == FaultKind::EndState { stuck(run) } else { Vec::new() };
        let story = match &trail {
            Err(_) => trace::story::last(run, INLINE_STEPS, Palette::PLAIN),
            Ok(_) if self.trails.count() == 1 => trace::story::short(run, Palette::PLAIN),
            Ok(_) => String::new(),
        };
        Shown { evidence, trail, line, story, blocked, waits_in_loop }
    }

    /// What the trails of a property say besides their steps.
    fn head<'h>(&'h self, property: &'h str) -> Head<'h> {
        Head {
            source: &self.plan.source,
            fingerprint: self.fingerprint,
            property,
            channels_empty: self.plan.channels_empty,
            fair: self.plan.fairness.name(),
        }
    }

    /// The limits, less the time that has gone by.
    fn limits_left(&self) -> Limits {
        let time = self.plan.limits.time.map(|time| time.saturating_sub(self.started.elapsed()));
        Limits { time, ..self.plan.limits }
    }

    /// The limits of a search for something worth knowing beside the verdict: the check should not take twice its time for it.
    fn limits_of_hint(&self, check: &Statistics) -> Limits {
        let left = self.limits_left();
        let explored = check.states.max(HINT_STATES);
        Limits { states: Some(left.states.map_or(explored, |states| states.min(explored))), ..left }
    }

    fn conclude(
        &self,
        property: Selected,
        outcome: Outcome,
        shown: Vec<Shown>,
        stays_at: Option<String>,
    ) -> PropertyReport {
        let why = self.why_unknown(&outcome, stays_at);
        let Outcome { stop, errors, statistics, exhausted, .. } = outcome;
        let exhaustive = exhausted.is_some();
        let mut shown = shown.into_iter();
        let verdict = match (shown.next(), exhausted) {
            (Some(first), _) => Verdict::Violated(Box::new(first), shown.collect()),
            (None, Some(token)) => Verdict::Holds(token),
            (None, None) => Verdict::Unknown(why),
        };
        let interrupted = stop == StopReason::Interrupted;
        PropertyReport {
            name: property.name,
            kind: property.kind,
            verdict,
            errors,
            exhaustive,
            interrupted,
            statistics,
            checked: Vec::new(),
            por: "none",
            coverage: None,
            how: None,
            fairness: Fairness::None,
            vacuous: None,
            holds_under: None,
        }
    }

    fn why_unknown(&self, outcome: &Outcome, stays_at: Option<String>) -> Reason {
        let limits = &self.plan.limits;
        match outcome.stop {
            StopReason::Interrupted => Reason::Interrupted,
            StopReason::TimeLimit => Reason::Time(limits.time.unwrap_or_default()),
            StopReason::MemoryLimit => Reason::Memory(self.plan.allowance.clone()),
            StopReason::StateLimit => Reason::States(limits.states.unwrap_or_default()),
            StopReason::TooManyProcesses => Reason::Processes(search::marks::MOST_PROCESSES),
            StopReason::Completed if outcome.depth_limited => Reason::Depth(limits.depth.unwrap_or_default()),
            StopReason::Completed | StopReason::Violation | StopReason::Branching => {
                let lossy = |probability| Reason::Omission { store: self.plan.config.store, probability };
                match (&outcome.cut_by, outcome.statistics.omission) {
                    (Some(fault), _) => Reason::Cut(Box::new(fault.clone())),
                    _ if outcome.stays_inside => Reason::StaysInside(stays_at),
                    (None, omission) => omission.map_or(Reason::Incomplete, lossy),
                }
            }
        }
    }
}

/// How long it may take to find out that fairness would help.
const FAIRNESS_TIME: Duration = Duration::from_secs(1);
/// States that a search for a hint may explore; more, if the check explored more.
const HINT_STATES: u64 = 20_000;
/// The processes that cannot go on at the end of a run, and may not stay where they are.
fn stuck(run: &trace::Run<'_>) -> Vec<Blocked> {
    let blocked = run.words().blocked(&run.state(run.len()));
    blocked.into_iter().filter(|blocked| !blocked.valid_end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Source;
    use crate::saving::Storage;
    use crate::saving::tests::Failing;
    use crate::{report_json, report_text};
    use std::sync::atomic::{AtomicBool, Ordering};
    use system::toy::Graph;
    use system::{ActionId, Fault, Labels, StepInfo, Successors};

    /// A place for trails that disappears again.
    struct Place(std::path::PathBuf);

    impl Place {
        fn new(name: &str) -> Self {
            let name = format!("spinor-engine-{}-{name}", std::process::id());
            Place(std::env::temp_dir().join(name))
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    /// A hand-written system is searched as it is.
    struct Itself<'a, M>(&'a M);

    impl<M: TransitionSystem> Explored for Itself<'_, M> {
        fn system(&self) -> &dyn TransitionSystem {
            self.0
        }

        fn coverage(&self) -> Option<Vec<Coverage>> {
            None
        }
    }

    /// Checks a hand-written system as `check` checks a model.
    fn check_toy<M: TransitionSystem + Explain>(
        machine: &M,
        place: &Place,
        stop: bool,
    ) -> Result<Report, Failure> {
        check_toy_in(machine, place, stop, &RealStorage)
    }

    /// The same with files elsewhere.
    fn check_toy_in<M: TransitionSystem + Explain>(
        machine: &M,
        place: &Place,
        stop: bool,
        storage: &dyn Storage,
    ) -> Result<Report, Failure> {
        let options = CheckOptions {
            source: Source { path: "toy".to_string(), ..Source::default() },
            trail: Some(place.0.to_string_lossy().into_owned()),
            ..CheckOptions::default()
        };
        let plan = Plan::new(&options)?;
        let (flag, mut notices) = (Stop::never(), Vec::new());
        flag.flag().store(stop, Ordering::Relaxed);
        let stop = flag;
        let selected = select(&[], &crate::property::Inventory::default())?;
        let trails = Trails::new(&plan.trail, storage);
        let started = Instant::now();
        let mut run = Run {
            plan: &plan,
            session: None,
            stated: &[FaultKind::EndState],
            fingerprint: 7,
            stop: &stop,
            started,
            trails,
            notices: &mut notices,
        };
        let (itself, watches) = (Itself(machine), Watches::default());
        let searched = Searchable { safety: Some(&itself), plain: None, merged: None, watches: &watches };
        let properties = run.properties(machine, &searched, selected, &mut Silent)?;
        let (model, config) = (plan.source.path.clone(), plan.config.clone());
        Ok(Report {
            model,
            options,
            config,
            properties,
            times: Times::default(),
            peak_rss: 0,
            memory_left: 0,
            states_something: false,
            notices: Vec::new(),
            progress_labels: false,
            leaving: plan.leaving.clone(),
        })
    }

    #[test]
    fn verdicts_and_their_statuses() {
        let place = Place::new("verdicts");
        let holds = check_toy(&Graph::parse("0 -> 1 -> 0").unwrap(), &place, false).unwrap();
        assert_eq!((holds.verdict(), holds.exit_status()), ("holds", 0));
        assert!(!place.0.exists());
        let stopped = check_toy(&Graph::parse("0 -> 1 -> 0").unwrap(), &place, true).unwrap();
        assert_eq!((stopped.verdict(), stopped.exit_status()), ("unknown", 130));
        let violated = check_toy(&Graph::parse("0 -> 1 -> 2; bad 2").unwrap(), &place, false).unwrap();
        assert_eq!((violated.verdict(), violated.exit_status()), ("violated", 1));
        let trail = trace::read(&std::fs::read_to_string(&place.0).unwrap()).unwrap();
        assert_eq!((trail.steps.len(), trail.fingerprint, trail.model.as_str()), (2, 7, "toy"));
        let json = report_json::json(&violated);
        assert_eq!(json["properties"][0]["violations"][0]["message"], "bad node 2");
    }

    /// A machine that shows a fault once and never again: a bug that must not become a verdict.
    struct Fickle(Graph, AtomicBool);

    impl TransitionSystem for Fickle {
        fn initial(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
            self.0.initial(out)
        }

        fn enabled(&self, state: &[u8], out: &mut Vec<ActionId>) {
            self.0.enabled(state, out);
        }

        fn fire(&self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
            self.0.fire(state, actions, out);
        }

        fn labels(&self, state: &[u8]) -> Labels {
            self.0.labels(state)
        }

        fn inspect(&self, state: &[u8], out: &mut Vec<Fault>) {
            if !self.1.swap(true, Ordering::Relaxed) {
                out.push(self.0.deadlock(state));
                out[0].kind = system::FaultKind::Invariant;
            }
        }

        fn deadlock(&self, state: &[u8]) -> Fault {
            self.0.deadlock(state)
        }
    }

    impl Explain for Fickle {
        fn step(&self, state: &[u8], action: ActionId) -> StepInfo {
            self.0.step(state, action)
        }

        fn snapshot(&self, state: &[u8]) -> system::Snapshot {
            self.0.snapshot(state)
        }

        fn events(&self, state: &[u8], action: ActionId) -> Vec<system::Event> {
            self.0.events(state, action)
        }
    }

    #[test]
    fn a_trail_that_cannot_be_written_is_in_the_report() {
        let graph = Graph::parse("0 -> 1 -> 2 -> 3; bad 2; assert 0 1").unwrap();
        let place = Place::new("unwritten");
        let well = Failing::default();
        check_toy_in(&graph, &place, false, &well).unwrap();
        assert!(well.done() > 3);
        for n in 0..well.done() {
            let storage = Failing::at(n);
            let report = check_toy_in(&graph, &place, false, &storage).unwrap();
            assert_eq!((report.verdict(), report.exit_status()), ("violated", 1), "operation {n}");
            assert!(storage.files().is_empty(), "operation {n} leaves a file");
            let json = report_json::json(&report);
            let violation = &json["properties"][0]["violations"][0];
            assert!(violation["trail"].is_null() && violation["trail_error"]["message"].is_string());
            assert_eq!(
                violation["steps"].as_array().map(Vec::len),
                violation["depth"].as_u64().map(|n| n as usize)
            );
            let text = report_text::text(&report, false, Palette::PLAIN);
            assert!(text.contains("could not be written") && text.contains("0 -> 1"), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_replayed_is_an_internal_error() {
        let place = Place::new("fickle");
        let fickle = Fickle(Graph::parse("0 -> 1 -> 0").unwrap(), AtomicBool::new(false));
        let failure = check_toy(&fickle, &place, false).unwrap_err();
        assert_eq!(failure.exit_status(), 4);
        assert!(matches!(failure, Failure::Internal(text) if text.contains("cannot be replayed")));
        assert!(!place.0.exists());
    }
}
