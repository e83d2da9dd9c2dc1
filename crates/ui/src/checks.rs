//! Checks and tests of memory systems that were asked for: one at a time, others wait. Each can be stopped;
//! the last ones are kept with their reports, counterexamples included.
//!
//! A check from a page has a budget: at most half of the memory that there is. It writes no file.

use crate::error::ApiError;
use crate::folder::Overlay;
use crate::memory_test::{Bench, MemoryTest, Tested};
use engine::options::{OptionSpec, Size, TABLE};
use engine::suggest_fences::{self, Suggestion};
use engine::{Answer, CheckOptions, Event, Failure, Job, Report, Session, Snapshot, Source, Stop, memory};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;
use tokio::sync::broadcast;

/// Checks that are kept.
const KEPT: usize = 32;
/// Checks that may wait.
const WAITING: usize = 16;
/// How often a wish to stop is looked for where nothing happens.
const LOOK: Duration = Duration::from_millis(100);
/// News that a slow listener may miss.
const NEWS: usize = 256;

/// Something that happened, for all who listen.
#[derive(Clone, Debug)]
pub struct News {
    /// `check.waiting`, `check.begun`, `check.progress`, `check.memory`, `check.done`.
    pub kind: &'static str,
    /// What.
    pub data: Value,
}

/// How far a check is.
#[derive(Clone)]
enum State {
    Waiting,
    /// With how far it is, and for a memory system what is known so far.
    Running(Option<Box<Snapshot>>, Option<Arc<Value>>),
    Done(Arc<Finished>),
}

/// A check that is over.
pub struct Finished {
    /// What was found, or why nothing was.
    pub found: Result<Found, Failure>,
    /// What there is to say about the model.
    pub notices: Vec<Value>,
}

/// What a check found.
pub enum Found {
    /// The report about a model, which is kept for runs of its counterexamples.
    Report(Arc<Session>, Box<Report>),
    /// What a memory system does.
    Memory(Tested),
}

impl Finished {
    fn found(&self) -> Result<&Found, ApiError> {
        self.found.as_ref().map_err(|failure| failure.clone().into())
    }

    /// The model and the report about it.
    pub fn report(&self) -> Result<(&Arc<Session>, &Report), ApiError> {
        match self.found()? {
            Found::Report(session, report) => Ok((session, report)),
            Found::Memory(_) => Err(ApiError::missing("a test of a memory system has no such report")),
        }
    }

    /// What a memory system does.
    pub fn tested(&self) -> Result<&Tested, ApiError> {
        match self.found()? {
            Found::Memory(tested) => Ok(tested),
            Found::Report(..) => Err(ApiError::missing("this check is no test of a memory system")),
        }
    }
}

/// Whether an option names a file that a check writes, or a folder, or lets C run, or belongs to one that does: a page
/// gets no files written, and no code of a model is run for it. A claim is read, from the folder like everything else.
pub fn is_kept_from_pages(spec: &OptionSpec) -> bool {
    const ABOUT_C: [&str; 4] = ["allow-c", "c-source", "c-flags", "c-in-process"];
    let writes = matches!(spec.placeholder, "FILE" | "DIR" | "FOLDER" | "PATH") && spec.name != "claim";
    writes || spec.name == "checkpoint-every" || ABOUT_C.contains(&spec.name)
}

struct Entry {
    stop: Arc<AtomicBool>,
    state: State,
    /// The model and the command that does the same on a terminal.
    about: (String, String),
    /// Bytes that it may use.
    memory_limit: u64,
}

/// What is to be checked.
pub struct Request {
    /// The model.
    pub source: Source,
    /// How.
    pub options: CheckOptions,
    /// Where it is.
    pub files: Overlay,
    /// What is asked of it.
    pub work: Work,
    /// The model and the command that does the same on a terminal.
    pub about: (String, String),
}

/// What is asked of a model.
pub enum Work {
    /// Its properties.
    Check,
    /// Its promises as a memory system.
    Memory(MemoryTest),
}

/// All checks.
pub struct Checks {
    entries: Mutex<BTreeMap<u64, Entry>>,
    requests: Sender<(u64, Request)>,
    news: broadcast::Sender<News>,
}

impl Checks {
    /// None yet; the thread that makes them ends with this.
    pub fn start() -> Arc<Checks> {
        let (requests, queue) = channel();
        let checks =
            Arc::new(Checks { entries: Mutex::default(), requests, news: broadcast::channel(NEWS).0 });
        let worker = Arc::downgrade(&checks);
        // Where there is no thread, requests are refused when they come.
        let _ = Builder::new().name("checks".to_string()).spawn(move || {
            while let Ok((id, request)) = queue.recv() {
                let Some(checks) = worker.upgrade() else { return };
                checks.run(id, request);
            }
        });
        checks
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<u64, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What happens from now on.
    pub fn listen(&self) -> broadcast::Receiver<News> {
        self.news.subscribe()
    }

    fn tell(&self, kind: &'static str, data: Value) {
        // Nobody may be listening.
        let _ = self.news.send(News { kind, data });
    }

    /// Lets a check wait for its turn; its number.
    pub fn add(&self, mut request: Request) -> Result<u64, ApiError> {
        if let Some(spec) =
            TABLE.iter().find(|spec| is_kept_from_pages(spec) && !spec.given(&request.options).is_empty())
        {
            return Err(ApiError::bad(format!(
                "a check from a page writes no file and runs no C: leave --{} out",
                spec.name
            )));
        }
        let about = std::mem::take(&mut request.about);
        let half = memory::allowance(None).bytes / 2;
        let asked = request.options.max_memory.map_or(half, |Size(bytes)| bytes);
        let memory_limit = asked.min(half).max(1);
        request.options.max_memory = Some(Size(memory_limit));
        let mut entries = self.entries();
        if entries.values().filter(|entry| matches!(entry.state, State::Waiting)).count() >= WAITING {
            return Err(ApiError::bad("too many checks are waiting"));
        }
        let id = entries.last_key_value().map_or(1, |(id, _)| id + 1);
        entries.insert(id, Entry { stop: Arc::default(), state: State::Waiting, about, memory_limit });
        while entries.len() > KEPT {
            let done = entries.iter().find(|(_, entry)| matches!(entry.state, State::Done(_)));
            let Some(id) = done.map(|(id, _)| *id) else { break };
            entries.remove(&id);
        }
        drop(entries);
        self.tell("check.waiting", json!({"id": id}));
        let sent = self.requests.send((id, request));
        sent.map(|()| id).map_err(|_| Failure::Internal("no thread could be started".to_string()).into())
    }

    /// Asks a check to stop; it ends soon, with what it knows by then.
    pub fn stop(&self, id: u64) -> Result<(), ApiError> {
        let entries = self.entries();
        let entry = entries.get(&id).ok_or_else(|| ApiError::missing("there is no such check"))?;
        entry.stop.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// All checks that are kept, the oldest first, with how far each is.
    pub fn list(&self) -> Vec<Value> {
        let of = |(id, entry): (&u64, &Entry)| {
            let mut object = without_steps(described(*id, &entry.state));
            (object["model"], object["command"]) = (json!(entry.about.0), json!(entry.about.1));
            object["memory_limit"] = json!(entry.memory_limit);
            object
        };
        self.entries().iter().map(of).collect()
    }

    /// How far a check is, as JSON; the report of `check --format json` once it is there.
    pub fn describe(&self, id: u64) -> Result<Value, ApiError> {
        let state = self.entries().get(&id).map(|entry| entry.state.clone());
        let state = state.ok_or_else(|| ApiError::missing("there is no such check"))?;
        Ok(described(id, &state))
    }

    /// A check that is over.
    pub fn finished(&self, id: u64) -> Result<Arc<Finished>, ApiError> {
        match self.entries().get(&id).map(|entry| entry.state.clone()) {
            Some(State::Done(finished)) => Ok(finished),
            Some(_) => Err(ApiError::bad("the check is not over")),
            None => Err(ApiError::missing("there is no such check")),
        }
    }

    fn set(&self, id: u64, state: State) {
        if let Some(entry) = self.entries().get_mut(&id) {
            entry.state = state;
        }
    }

    fn run(&self, id: u64, request: Request) {
        let Some(stop) = self.entries().get(&id).map(|entry| Arc::clone(&entry.stop)) else { return };
        self.set(id, State::Running(None, None));
        self.tell("check.begun", json!({"id": id}));
        // A panic ends this check and no other.
        let worked = std::thread::scope(|scope| scope.spawn(|| self.work(id, &request, stop)).join());
        let gone = || Failure::Internal("the check ended unexpectedly".to_string());
        let finished = worked.unwrap_or_else(|_| Finished { found: Err(gone()), notices: Vec::new() });
        let finished = Arc::new(finished);
        self.set(id, State::Done(Arc::clone(&finished)));
        self.tell("check.done", without_steps(done(id, &finished)));
    }

    fn work(&self, id: u64, request: &Request, stop: Arc<AtomicBool>) -> Finished {
        match &request.work {
            Work::Check => self.check(id, request, stop),
            Work::Memory(test) => {
                let bench = Bench { checks: self, id, stop: &Stop::when(stop) };
                bench.test(test, &request.source, &request.files, &request.options)
            }
        }
    }

    /// Tells how far a search is.
    pub fn tell_progress(&self, id: u64, snapshot: &Snapshot) {
        self.tell("check.progress", json!({"id": id, "progress": progress(snapshot)}));
        if let Some(Entry { state: State::Running(now, _), .. }) = self.entries().get_mut(&id) {
            *now = Some(Box::new(*snapshot));
        }
    }

    /// Tells what is known of a memory system so far.
    pub fn tell_memory(&self, id: u64, known: Value) {
        self.tell("check.memory", json!({"id": id, "memory": known}));
        if let Some(Entry { state: State::Running(_, so_far), .. }) = self.entries().get_mut(&id) {
            *so_far = Some(Arc::new(known));
        }
    }

    fn check(&self, id: u64, request: &Request, stop: Arc<AtomicBool>) -> Finished {
        let Answer { notices, result } =
            Session::open(&request.source, &request.files, &Stop::when(Arc::clone(&stop)));
        let mut told: Vec<Value> = notices.iter().map(engine::Notice::json).collect();
        let session = match result {
            Ok(session) => Arc::new(session),
            Err(failure) => return Finished { found: Err(failure), notices: told },
        };
        told.extend(session.notices.iter().map(engine::Notice::json));
        let job = match Job::start(&session, &request.options) {
            Ok(job) => job,
            Err(failure) => return Finished { found: Err(failure), notices: told },
        };
        loop {
            if stop.load(Ordering::Relaxed) {
                job.cancel();
            }
            match job.events().recv_timeout(LOOK) {
                Ok(Event::Progress(snapshot)) => self.tell_progress(id, &snapshot),
                Ok(Event::Notices(_) | Event::Violation(_)) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let Answer { notices, result } = job.wait();
        // What was read was told already.
        let more = notices.iter().map(engine::Notice::json).filter(|notice| !told.contains(notice));
        let more: Vec<Value> = more.collect();
        told.extend(more);
        let found = result.map(|mut report| {
            report.fences = fences(request, &report, &Stop::when(stop));
            Found::Report(session, Box::new(report))
        });
        Finished { found, notices: told }
    }
}

/// Fences that would make the properties hold, where they are asked for.
fn fences(request: &Request, report: &Report, stop: &Stop) -> Option<Suggestion> {
    if !request.options.suggest_fences || report.weak_memory.is_none() {
        return None;
    }
    let answer = suggest_fences::suggest(&request.options, &request.files, stop);
    Some(answer.result.unwrap_or(Suggestion::Unknown("a check failed")))
}

/// A description without the steps of counterexamples, which may be many: they are asked for by runs.
fn without_steps(mut check: Value) -> Value {
    strip_steps(check.pointer_mut("/report/properties"));
    check
}

/// Takes the steps of counterexamples out of a list of properties.
pub fn strip_steps(properties: Option<&mut Value>) {
    for property in properties.and_then(Value::as_array_mut).into_iter().flatten() {
        let violations = property.get_mut("violations").and_then(Value::as_array_mut);
        for violation in violations.into_iter().flatten().filter_map(Value::as_object_mut) {
            violation.retain(|name, _| !["steps", "statements", "path"].contains(&name.as_str()));
        }
    }
}

fn described(id: u64, state: &State) -> Value {
    match state {
        State::Waiting => json!({"id": id, "state": "waiting"}),
        State::Running(snapshot, so_far) => {
            let progress = snapshot.as_ref().map(|snapshot| progress(snapshot));
            json!({"id": id, "state": "running", "progress": progress, "memory": so_far.as_deref()})
        }
        State::Done(finished) => done(id, finished),
    }
}

fn progress(snapshot: &Snapshot) -> Value {
    json!({
        "states": snapshot.states, "transitions": snapshot.transitions, "depth": snapshot.depth,
        "frontier": snapshot.frontier, "memory": snapshot.memory, "errors": snapshot.errors,
        "seconds": snapshot.elapsed.as_secs_f64(),
    })
}

fn done(id: u64, finished: &Finished) -> Value {
    let mut object =
        json!({"id": id, "state": "done", "report": null, "error": null, "notices": finished.notices});
    match &finished.found {
        Ok(Found::Report(_, report)) => object["report"] = engine::report_json::json(report),
        Ok(Found::Memory(tested)) => object["memory"] = json!({"report": tested.json}),
        Err(failure) => object["error"] = ApiError::from(failure.clone()).object(),
    }
    object
}
