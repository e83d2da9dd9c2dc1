//! How far a search is, on standard error while it runs: one live line on a terminal, a plain line a second
//! elsewhere.
//!
//! The live line is `indicatif`'s: redrawn in place, cut to the width of the terminal, taken away at the end.
//! For logs and for machines there are no control codes.

use crate::args::{CheckArgs, Format, Progress};
use crate::certificate_file;
use crate::output;
use crate::release_pages::ReleasePages;
use archive::DurableFile;
use engine::report_text::{bytes, grouped};
use engine::saving::RealStorage;
use engine::trails::{self, TrailFiles};
use engine::{
    CheckOptions, Client, Evidence, Failure, Flow, Kept, MemoryAccount, Notice, Observer, Snapshot,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;

/// A search that is over sooner shows nothing.
const PATIENCE: Duration = Duration::from_millis(300);
/// The time between two lines of a log, and the time over which the current rate is measured.
const SECOND: Duration = Duration::from_secs(1);

/// Where news go.
#[derive(Debug)]
enum Sink {
    Nowhere,
    Terminal(ProgressBar),
    Log(Format),
}

/// The command as the client of a check: tells how far the search is, if that is wanted, writes notices and
/// counterexamples.
pub struct Line {
    sink: Sink,
    rate: Rate,
    next: Duration,
    format: Format,
    model: String,
    quiet: bool,
    /// The notices that were written.
    told: Vec<Notice>,
    trails: TrailFiles<'static>,
    /// Runs that show that a formula holds are written as well.
    keeps_witnesses: bool,
    pages: ReleasePages,
}

impl Line {
    /// As the options want it. Refused where trails cannot be written.
    pub fn new(args: &CheckArgs, options: &CheckOptions) -> Result<Self, Failure> {
        let format = args.format.of_notices();
        let terminal = output::err_is_terminal();
        let sink = match args.progress {
            Progress::Never => Sink::Nowhere,
            Progress::Auto if !terminal || args.quiet || format == Format::Json => Sink::Nowhere,
            Progress::Always if !terminal || format == Format::Json => Sink::Log(format),
            Progress::Auto | Progress::Always => Sink::Terminal(live_line()),
        };
        let (model, quiet, told) = (options.source.path.clone(), args.quiet, Vec::new());
        let trail = options.trail.clone().unwrap_or_else(|| trails::default_name(&model));
        let (trails, pages) = (TrailFiles::new(&trail, &RealStorage)?, ReleasePages::new());
        let (rate, next, keeps_witnesses) = (Rate::default(), PATIENCE, options.trail.is_some());
        Ok(Line { sink, rate, next, format, model, quiet, told, trails, keeps_witnesses, pages })
    }

    /// The notices that were written while the model was checked.
    pub fn into_notices(self) -> Vec<Notice> {
        self.told
    }

    /// Takes the line off the terminal.
    pub fn clear(&mut self) {
        if let Sink::Terminal(bar) = &self.sink {
            bar.finish_and_clear();
        }
    }
}

fn live_line() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    // The template is a constant; were it wrong, the default would do.
    bar.set_style(
        ProgressStyle::with_template("{spinner} {wide_msg}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner()),
    );
    bar
}

impl Client for Line {
    fn model_files(&mut self, names: &[&str]) -> Result<(), Failure> {
        self.trails.refuse_overwriting(names)
    }

    fn counterexample(&mut self, evidence: &Evidence) -> Kept {
        self.trails.keep(evidence)
    }

    /// A formula that holds leaves no file behind, unless somebody named one.
    fn witness(&mut self, evidence: &Evidence) -> Kept {
        match self.keeps_witnesses {
            true => self.trails.keep(evidence),
            false => Kept::InReport,
        }
    }

    fn certificate_file(&mut self, path: &str) -> Result<DurableFile, Failure> {
        certificate_file::create(path, &self.model)
    }

    fn may_write(&mut self, option: &str, path: &str) -> Result<(), Failure> {
        let repair = format!("give another file name with {option}");
        certificate_file::refuse(&format!("{option} {path}"), path, &self.model, &repair)
    }

    fn may_use_folder(&mut self, _option: &str, _path: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn own_program(&self) -> Option<PathBuf> {
        std::env::current_exe().ok()
    }

    /// The process does nothing else.
    fn memory_account(&self) -> MemoryAccount {
        MemoryAccount::Process
    }

    fn notices(&mut self, notices: Vec<Notice>) -> Vec<Notice> {
        self.told.extend(notices.iter().cloned());
        output::brief(notices, self.format, &self.model, self.quiet);
        // Notices are told when everything is ready for the search.
        crate::allocator::search_begins();
        Vec::new()
    }
}

impl Observer for Line {
    fn is_short_of_memory(&self) -> bool {
        crate::allocator::is_short()
    }

    fn progress(&mut self, snapshot: &Snapshot) -> Flow {
        self.pages.tick();
        let now = self.rate.add(snapshot.elapsed, snapshot.states);
        if snapshot.elapsed < self.next {
            return Flow::Continue;
        }
        match &self.sink {
            Sink::Nowhere => {}
            Sink::Terminal(bar) => {
                bar.set_message(describe(snapshot, now));
                bar.tick();
            }
            Sink::Log(format) => {
                self.next = snapshot.elapsed + SECOND;
                output::err(&match format {
                    Format::Text => format!("{}\n", describe(snapshot, now)),
                    Format::Json => output::json(&object(snapshot, now), output::Lines::One),
                });
            }
        }
        Flow::Continue
    }
}

/// How fast states are found at the moment: over the last second.
#[derive(Debug, Default)]
struct Rate {
    samples: VecDeque<(Duration, u64)>,
}

impl Rate {
    /// Takes a count at a time; gives states per second. A search that starts anew starts anew here.
    fn add(&mut self, at: Duration, states: u64) -> f64 {
        if self.samples.back().is_some_and(|&(last, count)| last > at || count > states) {
            self.samples.clear();
        }
        self.samples.push_back((at, states));
        while self.samples.len() > 2 && self.samples.get(1).is_some_and(|&(second, _)| second + SECOND <= at)
        {
            self.samples.pop_front();
        }
        match self.samples.front() {
            Some(&(first, count)) if first < at => (states - count) as f64 / (at - first).as_secs_f64(),
            _ => overall(at, states),
        }
    }
}

fn overall(elapsed: Duration, states: u64) -> f64 {
    states as f64 / elapsed.as_secs_f64().max(0.001)
}

/// Everything in one line, the most important first: a narrow terminal cuts off the end.
fn describe(snapshot: &Snapshot, now: f64) -> String {
    let seconds = snapshot.elapsed.as_secs_f64();
    let mut parts = match snapshot.nodes {
        Some(nodes) => {
            vec![format!("{seconds:.0} s"), format!("{} nodes", grouped(nodes)), bytes(snapshot.memory)]
        }
        None => vec![
            format!("{seconds:.0} s"),
            format!("{} states", grouped(snapshot.states)),
            format!("{}/s (overall {}/s)", rounded(now), rounded(overall(snapshot.elapsed, snapshot.states))),
            format!("depth {}", grouped(snapshot.depth)),
            format!("frontier {}", grouped(snapshot.frontier)),
            bytes(snapshot.memory),
        ],
    };
    if snapshot.errors > 0 {
        parts.push(format!("{} violations", grouped(snapshot.errors)));
    }
    if snapshot.forgets_too_much {
        parts.push("the state cache is too small".to_string());
    }
    let budgets = budgets(snapshot);
    if !budgets.is_empty() {
        let used: Vec<String> =
            budgets.iter().map(|(name, share)| format!("{name} {:.0} %", share * 100.0)).collect();
        parts.push(format!("used: {}", used.join(", ")));
    }
    parts.join(", ")
}

/// How full the budgets are, of those that there are: 1 is full.
fn budgets(snapshot: &Snapshot) -> Vec<(&'static str, f64)> {
    let limits = &snapshot.limits;
    let share = |used: u64, limit: Option<u64>| limit.map(|limit| used as f64 / limit.max(1) as f64);
    let time = limits.time.map(|limit| snapshot.elapsed.as_secs_f64() / limit.as_secs_f64().max(0.001));
    let all = [
        ("memory", share(snapshot.memory, limits.memory)),
        ("time", time),
        ("states", share(snapshot.states, limits.states)),
        ("depth", share(snapshot.depth, limits.depth)),
    ];
    all.into_iter().filter_map(|(name, share)| share.map(|share| (name, share.min(1.0)))).collect()
}

/// A rate with as many digits as mean anything.
fn rounded(rate: f64) -> String {
    match rate {
        rate if rate >= 999_500.0 => format!("{:.1}M", rate / 1e6),
        rate if rate >= 9_995.0 => format!("{:.0}k", rate / 1e3),
        rate => grouped(rate.round().max(0.0) as u64),
    }
}

/// Progress for machines, one object a line.
fn object(snapshot: &Snapshot, now: f64) -> serde_json::Value {
    let used: serde_json::Map<String, serde_json::Value> = budgets(snapshot)
        .into_iter()
        .map(|(name, share)| (name.to_string(), json!((share * 1000.0).round() / 1000.0)))
        .collect();
    json!({"progress": {
        "seconds": (snapshot.elapsed.as_secs_f64() * 1000.0).round() / 1000.0,
        "states": snapshot.states,
        "nodes": snapshot.nodes,
        "transitions": snapshot.transitions,
        "states_per_second": now.round(),
        "depth": snapshot.depth,
        "frontier": snapshot.frontier,
        "errors": snapshot.errors,
        "cache_too_small": snapshot.forgets_too_much,
        "memory": snapshot.memory,
        "used": used,
    }})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot() -> Snapshot {
        let mut snapshot = Snapshot {
            states: 1_234_567,
            transitions: 3_000_000,
            depth: 512,
            frontier: 1204,
            memory: 350 << 20,
            elapsed: Duration::from_secs(12),
            ..Snapshot::default()
        };
        snapshot.limits.memory = Some(1400 << 20);
        snapshot
    }

    #[test]
    fn the_line_says_it_all() {
        assert_eq!(
            describe(&snapshot(), 123_400.0),
            "12 s, 1,234,567 states, 123k/s (overall 103k/s), depth 512, frontier 1,204, 350.0 MB, used: memory 25 %"
        );
        let mut limited = Snapshot { errors: 2, ..snapshot() };
        limited.limits.memory = None;
        limited.limits.time = Some(Duration::from_secs(24));
        limited.limits.states = Some(1_000_000);
        limited.limits.depth = Some(1024);
        let line = describe(&limited, 7.0);
        assert!(
            line.ends_with("350.0 MB, 2 violations, used: time 50 %, states 100 %, depth 50 %"),
            "{line}"
        );
    }

    #[test]
    fn rates_are_those_of_the_last_second() {
        let mut rate = Rate::default();
        let at = |ms| Duration::from_millis(ms);
        assert_eq!(rate.add(at(100), 100), 1000.0);
        for tenth in 2..=20 {
            rate.add(at(tenth * 100), tenth * 100);
        }
        let mut last = 0.0;
        for tenth in 21..=32 {
            last = rate.add(at(tenth * 100), 2000 + (tenth - 20) * 500);
        }
        assert!((last - 5000.0).abs() < 1.0, "{last}");
        assert!((rate.add(at(100), 50) - 500.0).abs() < 1.0, "a new search");
        let shown: Vec<String> =
            [0.4, 999.6, 9_994.0, 10_000.0, 2_345_678.0].into_iter().map(rounded).collect();
        assert_eq!(shown, ["0", "1,000", "9,994", "10k", "2.3M"]);
    }

    #[test]
    fn machines_get_an_object() {
        let object = object(&snapshot(), 5.2);
        assert_eq!(
            (&object["progress"]["states"], &object["progress"]["frontier"]),
            (&json!(1_234_567), &json!(1204))
        );
        assert_eq!(object["progress"]["used"], json!({"memory": 0.25}));
    }
}
