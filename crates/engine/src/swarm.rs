//! `spinor swarm`: many lossy searches, each different, in the place of one search that cannot be finished
//! (G. J. Holzmann, R. Joshi and A. Groce, *Swarm verification techniques*, TSE 2011).
//!
//! Each run is a check like any other, by one worker, with a seed of its own: it shuffles the successors of
//! every state, and in a bit array it also makes other hash functions, so that what one run takes for known
//! another explores. Orders take turns. The first violation ends the swarm; it was replayed, as always. A swarm
//! that finds none has shown nothing, and its report says what it has seen: how many states, and which
//! statements no run has executed.

use crate::client::Client;
use crate::failure::{Answer, Failure};
use crate::memory::allowance;
use crate::options::value::Slot;
use crate::options::{CheckOptions, Search, Size, StoreKind};
use crate::plan::MOST_THREADS;
use crate::report::{Report, Verdict};
use crate::session::Session;
use search::{Flow, Observer, Snapshot};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use stop::Stop;
use system::coverage::{Coverage, Statement};

/// What a swarm is asked to do.
#[derive(Clone, Debug)]
pub struct SwarmOptions {
    /// What is checked, and how the model is read.
    pub check: CheckOptions,
    /// Searches at a time.
    pub cpus: u64,
    /// How long all of it may take.
    pub time: Duration,
    /// How much memory all of it may use.
    pub memory: u64,
}

/// How long a swarm searches, where nobody says how long.
const DEFAULT_TIME: Duration = Duration::from_secs(60);

impl SwarmOptions {
    /// From words: every core, a minute, and the memory that a check would have, unless they say otherwise.
    pub fn of(
        check: CheckOptions,
        cpus: Option<u64>,
        time: Option<&str>,
        memory: Option<&str>,
    ) -> Result<SwarmOptions, Failure> {
        let (mut time_given, mut memory_given) = (None::<Duration>, None::<Size>);
        time.map_or(Ok(()), |word| time_given.give("--time", word))?;
        memory.map_or(Ok(()), |word| memory_given.give("--memory", word))?;
        let cores = || std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
        Ok(SwarmOptions {
            check,
            cpus: cpus.unwrap_or_else(cores),
            time: time_given.unwrap_or(DEFAULT_TIME),
            memory: allowance(memory_given.map(|size| size.0)).bytes,
        })
    }
}

/// What one search of a swarm did.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its options, those that are its own.
    pub words: Vec<String>,
    /// The verdict, as reports name it.
    pub verdict: &'static str,
    /// States of all its searches.
    pub states: u64,
    /// The longest path.
    pub depth: u64,
    /// How long it took.
    pub time: Duration,
}

/// What a swarm found.
#[derive(Debug)]
pub struct Swarm {
    /// The searches, in the order in which they began.
    pub runs: Vec<Run>,
    /// The report of the search that found a violation, or that could see everything.
    pub decided: Option<Report>,
    /// The statements that runs executed.
    pub coverage: Vec<Coverage>,
    /// How long all of it took.
    pub time: Duration,
}

impl Swarm {
    /// `violated`, `holds` (where one search was exact and saw everything) or `unknown`.
    pub fn verdict(&self) -> &'static str {
        self.decided.as_ref().map_or("unknown", Report::verdict)
    }

    /// Statements that no run executed.
    pub fn unreached(&self) -> impl Iterator<Item = (&str, &Statement)> {
        self.coverage.iter().flat_map(|of| of.unreached().map(|statement| (of.process.as_str(), statement)))
    }
}

/// A search may take this part of the time, so that several of each worker follow one another.
const ROUNDS: u32 = 4;
/// Nobody searches for less.
const LEAST_TIME: Duration = Duration::from_millis(500);
/// Nobody searches in less memory.
const LEAST_MEMORY: u64 = 16 << 20;

/// Searches until something is found, or the time is over.
pub fn swarm(
    session: &Session,
    options: &SwarmOptions,
    stop: &Stop,
    client: &mut (dyn Client + Send),
) -> Answer<Swarm> {
    match refuse(options) {
        Err(failure) => Answer::failed(failure),
        Ok(()) => Swarming::new(session, options, stop).run(client),
    }
}

fn refuse(options: &SwarmOptions) -> Result<(), Failure> {
    let each = options.memory / options.cpus.max(1);
    match options.cpus {
        cpus if cpus > MOST_THREADS => Err(Failure::refused_with(
            format!("--cpus {cpus} is more than any machine has use for"),
            format!("use at most --cpus {MOST_THREADS}"),
        )),
        0 => Err(Failure::refused_with("--cpus 0 leaves nobody to search", "use --cpus 1 or more")),
        cpus if each < LEAST_MEMORY => Err(Failure::refused_with(
            format!("{cpus} searches at a time have {} MiB each, which is too little", each >> 20),
            "use fewer --cpus, or more --memory",
        )),
        _ => Ok(()),
    }
}

struct Swarming<'a> {
    session: &'a Session,
    options: &'a SwarmOptions,
    /// Somebody asks for the end.
    asked: &'a Stop,
    /// Something was found: the others need not go on.
    found: Stop,
    started: Instant,
    next: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    runs: Vec<(u64, Run)>,
    decided: Option<Report>,
    failed: Option<Failure>,
    coverage: Vec<Coverage>,
}

impl<'a> Swarming<'a> {
    fn new(session: &'a Session, options: &'a SwarmOptions, stop: &'a Stop) -> Self {
        let (next, state) = (AtomicU64::new(0), Mutex::new(State::default()));
        Swarming { session, options, asked: stop, found: Stop::never(), started: Instant::now(), next, state }
    }

    fn run(self, client: &mut (dyn Client + Send)) -> Answer<Swarm> {
        std::thread::scope(|scope| {
            for _ in 0..self.options.cpus {
                scope.spawn(|| while !self.is_over() && self.one() {});
            }
        });
        let time = self.started.elapsed();
        let State { mut runs, mut decided, failed, coverage } =
            self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let (Some(failure), None) = (failed, &decided) {
            return Answer::failed(failure);
        }
        runs.sort_by_key(|(number, _)| *number);
        let runs = runs.into_iter().map(|(_, run)| run).collect();
        decided.iter_mut().for_each(|report| keep(report, client));
        let notices = decided.as_ref().map(|report| report.notices.clone()).unwrap_or_default();
        Answer { notices, result: Ok(Swarm { runs, decided, coverage, time }) }
    }

    fn is_over(&self) -> bool {
        self.asked.is_asked() || self.found.is_asked() || self.started.elapsed() >= self.options.time
    }

    /// Makes one search; false when there is no use in another one.
    fn one(&self) -> bool {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let left = self.options.time.saturating_sub(self.started.elapsed());
        let slice = (self.options.time / ROUNDS).max(LEAST_TIME).min(left);
        let own = variant(number);
        let memory = Size(self.options.memory / self.options.cpus);
        let options = CheckOptions {
            timeout: Some(slice),
            max_memory: Some(memory),
            threads: Some(1),
            ..self.options.check.overridden_with(&own)
        };
        let begun = Instant::now();
        let answer = self.session.check(&options, &self.found, &mut Member(self.asked));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let report = match answer.result {
            Ok(report) => report,
            Err(failure) => {
                state.failed.get_or_insert(failure);
                return false;
            }
        };
        let states = report.properties.iter().map(|property| property.statistics.states).sum();
        let depth = report.properties.iter().map(|property| property.statistics.depth).max().unwrap_or(0);
        let (verdict, time) = (report.verdict(), begun.elapsed());
        state.runs.push((number, Run { words: own.to_words(), verdict, states, depth, time }));
        for reached in report.properties.iter().filter_map(|property| property.reached.as_deref()) {
            unite(&mut state.coverage, reached);
        }
        let decides = report.verdict() != "unknown";
        if decides && state.decided.is_none() {
            state.decided = Some(report);
            self.found.flag().store(true, Ordering::Relaxed);
        }
        !decides
    }
}

/// The client of one search: it writes nothing, and ends when the swarm is to end.
struct Member<'a>(&'a Stop);

impl Observer for Member<'_> {
    fn progress(&mut self, _: &Snapshot) -> Flow {
        if self.0.is_asked() { Flow::Stop } else { Flow::Continue }
    }
}

impl Client for Member<'_> {}

/// The options of the search with this number.
fn variant(number: u64) -> CheckOptions {
    let search = match number % 4 {
        1 => Search::Frontier,
        _ => Search::Dfs,
    };
    // A few searches remember hashes, which are many more bits for each state.
    let store = if number % 5 == 3 { StoreKind::HashCompaction } else { StoreKind::Bitstate };
    let seed = Some(number + 1);
    CheckOptions { search: Some(search), store: Some(store), seed, ..CheckOptions::default() }
}

/// Adds the statements that one more search executed.
fn unite(all: &mut Vec<Coverage>, reached: &[Coverage]) {
    if all.is_empty() {
        all.extend_from_slice(reached);
        return;
    }
    for (of, also) in all.iter_mut().zip(reached) {
        debug_assert_eq!(of.process, also.process, "it is the same model");
        of.started |= also.started;
        for (statement, also) in of.statements.iter_mut().zip(&also.statements) {
            statement.executed |= also.executed;
        }
    }
}

/// Lets the client keep the counterexamples, which a search among several must not write.
fn keep(report: &mut Report, client: &mut dyn Client) {
    for property in &mut report.properties {
        if let Verdict::Violated(first, others) = &mut property.verdict {
            for shown in std::iter::once(&mut **first).chain(others) {
                shown.kept = client.counterexample(&shown.evidence);
            }
        }
    }
}
