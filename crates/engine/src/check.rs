//! The check of a model: text → program → backends → a search for each property → replay → report.

use crate::backend::{Backends, SearchedBackends};
use crate::certificate;
use crate::checkpoint;
use crate::client::Client;
use crate::cluster_search;
use crate::deferred_drop::DeferredDrop;
use crate::disk;
use crate::embedded;
use crate::failure::{Answer, Failure};
use crate::gpu_search;
use crate::inside::unseen;
use crate::isolate::{HostThread, isolated_at};
use crate::liveness;
use crate::memory;
use crate::notice::Notice;
use crate::options::{CheckOptions, Engine, Por, Source};
use crate::packed_search;
use crate::plan::{Config, Plan};
use crate::property::{Selected, select};
use crate::report::{PropertyReport, Reason, Report, Times};
use crate::run_property::{RunProperties, RunProperty};
use crate::session::Session;
use crate::spin::hint;
use crate::symbolic_runs::{self, SymbolicRuns};
use crate::weak_memory;
use machine::ActingClaim;
use promela::diagnostic::Code;
use promela::source::Files;
use search::limits::peak_resident_bytes;
use std::time::Instant;
use stop::{Cause, Stop};
use system::{Explain, FaultKind, TransitionSystem};

mod branching;
mod conclude;
mod runs;
mod safety;
mod shorten;
mod told;

/// Checks a model: every property asked for, or all that apply. Nothing is left behind but the answer: files,
/// the terminal and the process are the client's.
pub fn check(
    options: &CheckOptions,
    files: &(dyn Files + Sync),
    stop: &Stop,
    client: &mut (dyn Client + Send),
) -> Answer<Report> {
    attempt(options, stop, client, |plan, stop, front_end| {
        let session = Session::load(&plan.source, files, stop)?;
        front_end.extend(session.notices.iter().cloned());
        front_end.extend(hint::switches(&session));
        Ok(session)
    })
}

impl Session {
    /// Checks the model that was read. A session serves any number of checks, one after another or at the
    /// same time.
    pub fn check(
        &self,
        options: &CheckOptions,
        stop: &Stop,
        client: &mut (dyn Client + Send),
    ) -> Answer<Report> {
        let options = CheckOptions { source: self.source.clone(), ..options.clone() };
        attempt(&options, stop, client, |plan, stop, _| {
            // What may be done with C was decided when the model was read.
            let source = Source { c: self.source.c.clone(), ..plan.source.clone() };
            self.for_formula(&source, stop)
        })
    }
}

/// Checks what `load` reads, or reports why there is no verdict.
fn attempt(
    options: &CheckOptions,
    stop: &Stop,
    client: &mut (dyn Client + Send),
    load: impl FnOnce(&Plan, &Stop, &mut Vec<Notice>) -> Result<Session, Failure> + Send,
) -> Answer<Report> {
    let mut plan = match Plan::new(options) {
        Ok(plan) => plan,
        Err(failure) => return Answer::failed(failure),
    };
    plan.limits.account = client.memory_account();
    let stop = &stop.within(plan.limits.time);
    isolated_at(|place| {
        let (started, mut notices) = (Instant::now(), Vec::from_iter(no_thread_notice(place)));
        // What the report must name even if there is no time to read the model.
        let mut known = asked_for(&plan);
        let result = stop::attempt(|| {
            let session = load(&plan, stop, &mut notices)?;
            let plan = &embedded::adapted(&plan, &session)?;
            run(plan, &session, (stop, started), client, &mut notices, &mut known)
        });
        let short = client.is_short_of_memory();
        let report = |cause| Ok(unprepared(&plan, known, too_early(&plan, cause, short), started));
        Answer { notices, result: result.unwrap_or_else(report) }
    })
    .unwrap_or_else(Answer::failed)
}

fn run(
    plan: &Plan,
    session: &Session,
    (stop, started): (&Stop, Instant),
    client: &mut dyn Client,
    notices: &mut Vec<Notice>,
    known: &mut Vec<(String, &'static str)>,
) -> Result<Report, Failure> {
    client.model_files(&session.file_names())?;
    let inventory = session.inventory()?;
    let selected = select(&plan.options.properties, &inventory)?;
    *known = selected.iter().map(|property| (property.name.clone(), property.kind)).collect();
    certificate::refuse_properties(plan, &selected)?;
    checkpoint::refuse_properties(plan, &selected)?;
    disk::refuse_properties(plan, &selected)?;
    refuse_switches(plan, &selected)?;
    cluster_search::refuse_properties(plan, &selected)?;
    refuse_notes(plan, &selected)?;
    let compiling = Instant::now();
    let watches = prepare_runs(plan, session, &selected, notices)?;
    let questions = branching::prepare(plan, session, &selected)?;
    // What is found in the reduced program is replayed in the original.
    let machine = session.judge()?.watched(watches.sets.clone());
    let backends = Backends::new(plan, session, &selected, (&watches, &questions))?;
    let compile = compiling.elapsed();
    *notices = client.notices(std::mem::take(notices));
    let searching = Instant::now();
    let before = notices.len();
    let leaving = DeferredDrop::default();
    let mut checker = Checker {
        plan,
        leaving: &leaving,
        session: Some(session),
        stated: &inventory.safety,
        fingerprint: session.fingerprint(),
        stop,
        started,
        n_shown: 0,
        notices,
        space: None,
        runs: None,
    };
    let properties =
        checker.properties(&machine, &backends.searched(&watches, &questions), selected, client)?;
    let (search, total) = (searching.elapsed(), started.elapsed());
    Ok(Report {
        model: plan.source.path.clone(),
        options: plan.options.clone(),
        config: Config {
            por: reduction_used(plan, &properties),
            threads: workers(&properties),
            engine: engine_used(plan, &properties),
            ..plan.config()
        },
        weak_memory: session.memory.as_deref().map(|memory| weak_memory::judged(memory, &properties)),
        fences: None,
        properties,
        times: Times { front_end: session.time, compile, search, total },
        peak_rss: peak_resident_bytes().unwrap_or(0),
        memory_left: memory::available().unwrap_or(0),
        states_something: inventory.states_something(),
        notices: notices[before..].to_vec(),
        progress_labels: inventory.progress,
        leaving,
    })
}

/// A bound on context switches is about runs that end somewhere: errors of states and steps.
fn refuse_switches(plan: &Plan, selected: &[Selected]) -> Result<(), Failure> {
    let other = selected.iter().find(|property| property.checks.is_none());
    match (plan.options.max_switches, other) {
        (Some(most), Some(other)) => Err(Failure::refused_with(
            format!("--max-switches {most} is for safety, and {} is not", other.name),
            "add --property safety, or leave --max-switches out",
        )),
        _ => Ok(()),
    }
}

/// Values and counts are noted in the search for errors of states and steps.
fn refuse_notes(plan: &Plan, selected: &[Selected]) -> Result<(), Failure> {
    let option = match () {
        () if selected.iter().any(|property| property.checks.is_some()) => return Ok(()),
        () if plan.options.ranges => "--ranges",
        () if plan.options.profile => "--profile",
        () => return Ok(()),
    };
    Err(Failure::refused_with(
        format!("{option} notes what the search for safety meets, and safety is not asked for"),
        format!("add --property safety, or leave {option} out"),
    ))
}

/// The properties of whole runs: refuses what does not go with them, and tells what is to be known about
/// them.
fn prepare_runs(
    plan: &Plan,
    session: &Session,
    selected: &[Selected],
    notices: &mut Vec<Notice>,
) -> Result<RunProperties, Failure> {
    let of_runs = || selected.iter().filter(|property| property.is_of_runs());
    if let Some(first) = of_runs().next() {
        liveness::refuse(plan, &first.name)?;
    }
    let mut watches = RunProperties::default();
    for property in of_runs() {
        watches.add(session, &property.name)?;
    }
    for (property, watch) in of_runs().zip(&watches.list) {
        liveness::refuse_store(plan, watch, &property.name)?;
        if plan.engine == Engine::Symbolic {
            symbolic_runs::refuse(plan, watch)?;
        }
        gpu_search::refuse_whole(plan, &property.name)?;
        packed_search::refuse_whole(plan, &property.name)?;
    }
    if of_runs().count() == selected.len() {
        liveness::refuse_for_runs_alone(plan, &watches.list)?;
    }
    notices.extend(watches.list.iter().filter_map(|watch| Some(acts_notice(watch.acting.as_deref()?))));
    for property in of_runs() {
        notices.extend(unseen(session, session.program()?, &property.name));
    }
    Ok(watches)
}

/// The properties that a check is certainly about, before the model is known.
fn asked_for(plan: &Plan) -> Vec<(String, &'static str)> {
    let kind = |name: &str| match name.split(':').next() {
        Some("ltl") => "ltl",
        Some("ctl") => "ctl",
        Some("mu") => "mu",
        Some("never") => "never",
        Some("accept") => "accept",
        Some("progress") => "progress",
        _ => "safety",
    };
    match &plan.options.properties[..] {
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
        config: Config { por: Por::None, threads: 1, ..plan.config() },
        properties: known.into_iter().map(unknown).collect(),
        times: Times { total: started.elapsed(), ..Times::default() },
        peak_rss: peak_resident_bytes().unwrap_or(0),
        memory_left: memory::available().unwrap_or(0),
        states_something: true,
        leaving: DeferredDrop::default(),
        weak_memory: None,
        fences: None,
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

/// Who explored: of several that were asked, the one whose answer counts.
fn engine_used(plan: &Plan, properties: &[PropertyReport]) -> Engine {
    match plan.engine {
        Engine::Auto if properties.iter().any(|property| property.symbolic.is_some()) => Engine::Symbolic,
        Engine::Auto => Engine::Explicit,
        named => named,
    }
}

/// How many workers there were: a small search does not need all that it may have.
fn workers(properties: &[PropertyReport]) -> u64 {
    properties.iter().map(|property| property.statistics.workers).max().unwrap_or(1).max(1)
}

/// The reduction that reports name: the one asked for, or what came of the tool's own choice.
fn reduction_used(plan: &Plan, properties: &[PropertyReport]) -> Por {
    let used = || properties.iter().map(|property| property.por).find(|por| *por != Por::None);
    match plan.por {
        Por::WhereItPays => used().unwrap_or(Por::None),
        named => named,
    }
}

/// What is to be known where there is no thread for the check.
fn no_thread_notice(place: HostThread) -> Option<Notice> {
    let HostThread::Here(why) = place else { return None };
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

/// What the searches of one check have in common.
struct Checker<'a> {
    plan: &'a Plan,
    /// Stores of earlier searches that are about to go.
    leaving: &'a DeferredDrop,
    /// The model's text; hand-written systems have none.
    session: Option<&'a Session>,
    /// What the model states, or has built in.
    stated: &'a [FaultKind],
    fingerprint: u64,
    stop: &'a Stop,
    started: Instant,
    /// Counterexamples so far.
    n_shown: usize,
    notices: &'a mut Vec<Notice>,
    /// All states, once a formula about them has asked for them.
    space: Option<branching::StateSpace>,
    /// The symbolic engine's answers for all properties of whole runs, once one has asked for them.
    runs: Option<SymbolicRuns>,
}

impl Checker<'_> {
    fn properties<M: TransitionSystem + Explain>(
        &mut self,
        machine: &M,
        searched: &SearchedBackends<'_>,
        selected: Vec<Selected>,
        client: &mut dyn Client,
    ) -> Result<Vec<PropertyReport>, Failure> {
        let mut reports = Vec::new();
        let mut watches = searched.watches.list.iter();
        for property in selected {
            let watch = if property.is_of_runs() { watches.next() } else { None };
            let (name, kind) = (property.name.clone(), property.kind);
            // A property that is given up does not take the verdicts of the others with it.
            let done = stop::attempt(|| self.one(machine, searched, property, watch, client));
            reports.push(match done {
                Ok(report) => self.tell_threads(report?),
                Err(cause) => PropertyReport::given_up(
                    name,
                    kind,
                    self.why_given_up(cause, client.is_short_of_memory()),
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
        searched: &SearchedBackends<'_>,
        property: Selected,
        watch: Option<&RunProperty>,
        client: &mut dyn Client,
    ) -> Result<PropertyReport, Failure> {
        if property.logic().is_some() {
            return self.state_formula(searched, property, client);
        }
        let machines = watch.map(|watch| match self.plan.merges(watch) {
            true => searched.merged,
            false => searched.plain,
        });
        match (property.checks, searched.safety, watch, machines.flatten()) {
            (Some(checks), Some(safety), ..) => {
                self.safety(machine, (safety, searched.beside), property, checks, client)
            }
            (None, _, Some(watch), cycles) => {
                let asked = (watch, searched.watches);
                match (&watch.acting, cycles) {
                    (Some(acting), _) => {
                        self.whole_runs(&**acting, (&**acting, None), property, asked, client)
                    }
                    (None, Some(cycles)) => {
                        self.whole_runs(machine, (cycles, searched.plain), property, asked, client)
                    }
                    (None, None) => Err(no_machine(&property.name)),
                }
            }
            _ => Err(no_machine(&property.name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Backend;
    use crate::client::Kept;
    use crate::options::Source;
    use crate::saving::tests::Failing;
    use crate::saving::{RealStorage, Storage};
    use crate::trails::TrailFiles;
    use crate::{report_json, report_text};
    use search::{Flow, Observer, Snapshot};
    use std::sync::atomic::{AtomicBool, Ordering};
    use system::coverage::Coverage;
    use system::toy::Graph;
    use system::{ActionId, Capabilities, Fault, Invariants, Labels, StepInfo, Successors};
    use trace::{Evidence, Palette};

    /// The path of a trail file, which disappears again.
    struct TempTrail(std::path::PathBuf);

    impl TempTrail {
        fn new(name: &str) -> Self {
            let name = format!("spinor-engine-{}-{name}", std::process::id());
            TempTrail(std::env::temp_dir().join(name))
        }
    }

    impl Drop for TempTrail {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    /// A client that writes trails.
    struct Writer<'a>(TrailFiles<'a>);

    impl Observer for Writer<'_> {
        fn progress(&mut self, _: &Snapshot) -> Flow {
            Flow::Continue
        }
    }

    impl Client for Writer<'_> {
        fn counterexample(&mut self, evidence: &Evidence) -> Kept {
            self.0.keep(evidence)
        }
    }

    /// A hand-written system is searched as it is.
    struct Itself<'a, M>(&'a M);

    impl<M: TransitionSystem> Backend for Itself<'_, M> {
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
        place: &TempTrail,
        stop: bool,
    ) -> Result<Report, Failure> {
        check_toy_in(machine, place, stop, &RealStorage)
    }

    /// Checks a hand-written system, with files in `storage`.
    fn check_toy_in<M: TransitionSystem + Explain>(
        machine: &M,
        place: &TempTrail,
        stop: bool,
        storage: &dyn Storage,
    ) -> Result<Report, Failure> {
        let options = CheckOptions {
            source: Source { path: "toy".to_string(), ..Source::default() },
            ..CheckOptions::default()
        };
        let plan = Plan::new(&options)?;
        let (flag, mut notices) = (Stop::never(), Vec::new());
        flag.flag().store(stop, Ordering::Relaxed);
        let stop = flag;
        let selected = select(&[], &crate::property::Inventory::default())?;
        let mut client = Writer(TrailFiles::new(&place.0.to_string_lossy(), storage)?);
        let (started, leaving) = (Instant::now(), DeferredDrop::default());
        let mut checker = Checker {
            plan: &plan,
            leaving: &leaving,
            session: None,
            stated: &[FaultKind::EndState],
            fingerprint: 7,
            stop: &stop,
            started,
            n_shown: 0,
            notices: &mut notices,
            space: None,
            runs: None,
        };
        let (itself, watches) = (Itself(machine), RunProperties::default());
        let searched = SearchedBackends {
            safety: Some(&itself),
            beside: None,
            plain: None,
            merged: None,
            watches: &watches,
            branching: None,
        };
        let properties = checker.properties(machine, &searched, selected, &mut client)?;
        let (model, config) = (plan.source.path.clone(), plan.config());
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
            leaving,
            weak_memory: None,
            fences: None,
        })
    }

    #[test]
    fn verdicts_and_their_statuses() {
        let place = TempTrail::new("verdicts");
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

        fn hidden_bytes(&self) -> usize {
            self.0.hidden_bytes()
        }

        fn deadlock(&self, state: &[u8]) -> Fault {
            self.0.deadlock(state)
        }

        fn capabilities(&self) -> Capabilities<'_> {
            Capabilities { invariants: Some(self), ..self.0.capabilities() }
        }
    }

    impl Invariants for Fickle {
        fn inspect(&self, state: &[u8], out: &mut Vec<Fault>) {
            if !self.1.swap(true, Ordering::Relaxed) {
                out.push(self.0.deadlock(state));
                out[0].kind = system::FaultKind::Invariant;
            }
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
        let place = TempTrail::new("unwritten");
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
        let place = TempTrail::new("fickle");
        let fickle = Fickle(Graph::parse("0 -> 1 -> 0").unwrap(), AtomicBool::new(false));
        let failure = check_toy(&fickle, &place, false).unwrap_err();
        assert_eq!(failure.exit_status(), 4);
        assert!(matches!(failure, Failure::Internal(text) if text.contains("cannot be replayed")));
        assert!(!place.0.exists());
    }
}
