//! What may be claimed after a check.
//!
//! Honest by construction: [`Verdict::Holds`] needs the token of a complete, lossless search,
//! [`Verdict::Violated`] needs evidence that was replayed. Everything else is [`Verdict::Unknown`], with the
//! reason.

use crate::checkpoint::Ended;
use crate::client::Kept;
use crate::deferred_drop::DeferredDrop;
use crate::disk::OnDisk;
use crate::liveness::How;
use crate::memory::Allowance;
use crate::notice::Notice;
use crate::noting::Noted;
use crate::options::{CheckOptions, Por};
use crate::plan::Config;
use crate::report_text::{grouped, plural};
use crate::suggest_fences::Suggestion;
use crate::weak_memory::WeakMemory;
use num_bigint::BigUint;
use search::{Exhausted, Statistics};
use std::fmt;
use std::time::Duration;
use system::coverage::Coverage;

use system::{Blocked, Fairness, Fault, FaultKind};
use trace::Evidence;

/// A violation that was replayed, and where the client keeps its trail.
#[derive(Debug)]
pub struct Shown {
    /// The replayed trail.
    pub evidence: Evidence,
    /// Where the client keeps it besides.
    pub kept: Kept,
    /// The line of the model to which the violation points, where it could be had.
    pub line: Option<String>,
    /// How it comes about, or the end of that: for the first violation, and for those that are in no file;
    /// without colours.
    pub story: String,
    /// The processes that are stuck at the end, where that is what is wrong.
    pub blocked: Vec<Blocked>,
    /// A process is stuck where a loop begins.
    pub waits_in_loop: bool,
}

/// Why nothing is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// Somebody stopped the search.
    Interrupted,
    /// Time ran out.
    Time(Duration),
    /// Time ran out before the search began.
    Unprepared(Duration),
    /// Memory ran out; how much there was, and who limits it.
    Memory(Allowance),
    /// There are more states than may be stored.
    States(u64),
    /// There are longer paths than may be followed.
    Depth(u64),
    /// There are runs with more context switches than were allowed.
    Switches(u64),
    /// The search was complete, but its store may have taken a new state for an old one.
    Omission {
        /// As `--store` names it.
        store: &'static str,
        /// How probable it is that it did.
        probability: f64,
    },
    /// There are more processes than fairness can be about; the most that it can.
    Processes(u32),
    /// A run-time error ended a run, of which the property asks what comes behind.
    Cut(Box<Fault>),
    /// A run never leaves an atomic sequence; where, if that is known.
    StaysInside(Option<String>),
    /// The search left something out.
    Incomplete,
    /// What was to wait on a disk could not; why.
    Disk(String),
    /// The engine cannot explore this model to the end; why.
    Engine(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Interrupted => write!(f, "the search was interrupted"),
            Reason::Time(limit) => write!(f, "the search stopped at --timeout {}", limit.as_secs_f64()),
            Reason::Unprepared(limit) => {
                write!(f, "the time was over before the search began (--timeout {})", limit.as_secs_f64())
            }
            Reason::Memory(allowance) => write!(f, "memory ran out ({allowance})"),
            Reason::States(limit) => write!(f, "the search stopped at --max-states {limit}"),
            Reason::Depth(limit) => {
                write!(f, "paths were cut off after {} (--max-depth {limit})", plural(*limit, "step"))
            }
            Reason::Switches(limit) => {
                write!(f, "runs with more context switches than {limit} were left out (--max-switches)")
            }
            Reason::Omission { store, probability } => write!(
                f,
                "the store {store} can take a new state for an old one; the probability that this happened is about \
                 {probability:.1e}"
            ),
            Reason::Processes(most) => write!(
                f,
                "more than {most} processes run at a time, and fairness can be about {most} (a store buffer counts as one); start fewer, or leave --fair out"
            ),
            Reason::Cut(fault) if fault.kind == FaultKind::Evaluation => {
                let place = format!("{}:{}", fault.file, fault.line);
                write!(
                    f,
                    "the claim cannot be evaluated at {place} in a state that was reached ({}), and the runs \
                     through it are not judged",
                    fault.message
                )
            }
            Reason::Cut(fault) => {
                let place = format!("{}:{}", fault.file, fault.line);
                write!(
                    f,
                    "a run-time error at {place} ({}) ends a run early, and what would come after it is unknown",
                    fault.message
                )
            }
            Reason::StaysInside(place) => {
                let place = place.as_ref().map_or_else(String::new, |place| format!(" at {place}"));
                write!(
                    f,
                    "a run can stay in an atomic sequence{place} forever, where no claim sees its states"
                )
            }
            Reason::Engine(why) | Reason::Disk(why) => write!(f, "{why}"),
            Reason::Incomplete => write!(f, "the search was not exhaustive"),
        }
    }
}

/// What may be claimed.
#[derive(Debug)]
pub enum Verdict {
    /// No reachable state violates the property.
    Holds(Exhausted),
    /// This run shows that the property holds, which is about one run; what else there is was not explored.
    Witnessed(Box<Shown>),
    /// These violate it: at least one.
    Violated(Box<Shown>, Vec<Shown>),
    /// A formula about states fails on the whole graph, and no single run shows it.
    Refuted(Box<Refutation>),
    /// Neither is known, for this reason.
    Unknown(Reason),
}

impl Verdict {
    /// The word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Holds(_) | Verdict::Witnessed(_) => "holds",
            Verdict::Violated(..) | Verdict::Refuted(_) => "violated",
            Verdict::Unknown(_) => "unknown",
        }
    }

    /// The violations.
    pub fn violations(&self) -> impl Iterator<Item = &Shown> {
        let (first, others) = match self {
            Verdict::Violated(first, others) => (Some(&**first), &others[..]),
            _ => (None, &[][..]),
        };
        first.into_iter().chain(others)
    }
}

/// A formula about states that fails, as every state and step of the graph shows together.
#[derive(Debug)]
pub struct Refutation {
    /// The whole graph was explored.
    pub exhausted: Exhausted,
    /// What is wrong.
    pub fault: Fault,
}

/// What is known of a formula about states beside its verdict.
#[derive(Debug, Default)]
pub struct Evaluation {
    /// What a counterexample does not show by itself.
    pub reason: Option<String>,
    /// The formula and its parts, each with the number of states in which it holds; where it fails.
    pub proof: Vec<String>,
    /// A run that shows that it holds.
    pub witness: Option<Box<Shown>>,
    /// The number of states in which it holds, if they were counted.
    pub satisfied: Option<BigUint>,
}

/// Why a formula holds without its doing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vacuous {
    /// What holds as well, and says more.
    pub formula: String,
    /// The part that does not matter.
    pub part: String,
}

/// A certificate that was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certified {
    /// The file.
    pub file: String,
    /// Its length.
    pub bytes: u64,
}

/// The answer for one property.
#[derive(Debug)]
pub struct PropertyReport {
    /// As `--property` names it.
    pub name: String,
    /// `safety`, `ltl`, `ctl`, `mu`, `never`, `accept` or `progress`.
    pub kind: &'static str,
    /// What may be claimed.
    pub verdict: Verdict,
    /// Violations met.
    pub errors: u64,
    /// Everything was explored with an exact store.
    pub exhaustive: bool,
    /// The search was stopped from outside.
    pub interrupted: bool,
    /// Numbers.
    pub statistics: Statistics,
    /// The certificate that was written.
    pub certificate: Option<Certified>,
    /// Where the search came from, and from where it can go on, if it was written down.
    pub kept: Option<Ended>,
    /// What waited on a disk, if there was one to wait on.
    pub on_disk: Option<OnDisk>,
    /// Numbers of a symbolic search, if that is what it was.
    pub symbolic: Option<Box<symbolic::Figures>>,
    /// What is to be known of a search on a GPU.
    pub gpu: Option<Box<crate::gpu_search::Figures>>,
    /// What is to be known of a search of packed states.
    pub packed: Option<Box<crate::packed_search::Figures>>,
    /// What each process of a cluster did.
    pub cluster: Option<Box<crate::cluster_search::Figures>>,
    /// What was looked for, of what the model states.
    pub checked: Vec<FaultKind>,
    /// The partial-order reduction that was used, as `--por` names it.
    pub por: Por,
    /// How runs as a whole were searched, for properties of them.
    pub how: Option<How>,
    /// Which runs counted.
    pub fairness: Fairness,
    /// The property holds, but says nothing about this model.
    pub vacuous: Option<Vacuous>,
    /// It is violated, but not by runs that are fair in this sense.
    pub holds_under: Option<Fairness>,
    /// What else is known of a formula about states.
    pub evaluation: Option<Evaluation>,
    /// Which statements were executed; only after a search that saw everything.
    pub coverage: Option<Vec<Coverage>>,
    /// Whether a store met a full buffer; only after a search that saw everything.
    pub met_full_buffer: Option<bool>,
    /// Which statements were executed, whatever was seen.
    pub reached: Option<Vec<Coverage>>,
    /// Values of variables and counts of statements, where they were asked for.
    pub noted: Option<Box<Noted>>,
}

impl PropertyReport {
    /// The run that shows that a formula about states holds.
    pub fn witness(&self) -> Option<&Shown> {
        match &self.verdict {
            Verdict::Witnessed(shown) => Some(&**shown),
            _ => self.evaluation.as_ref()?.witness.as_deref(),
        }
    }

    /// States, transitions and depth, for tables. A symbolic search takes no single steps, and its states may
    /// be more than a number of the machine holds.
    pub fn counts(&self) -> [String; 3] {
        let numbers = &self.statistics;
        match &self.symbolic {
            Some(figures) => [figures.states.to_string(), "–".to_string(), "–".to_string()],
            None => [numbers.states, numbers.transitions, numbers.depth].map(grouped),
        }
    }

    /// The answer for a property of which nothing is known, because there was no time for it.
    pub fn given_up(name: String, kind: &'static str, why: Reason) -> Self {
        PropertyReport {
            name,
            kind,
            interrupted: why == Reason::Interrupted,
            verdict: Verdict::Unknown(why),
            errors: 0,
            exhaustive: false,
            statistics: Statistics::default(),
            certificate: None,
            kept: None,
            on_disk: None,
            symbolic: None,
            gpu: None,
            packed: None,
            cluster: None,
            checked: Vec::new(),
            por: Por::None,
            how: None,
            fairness: Fairness::None,
            vacuous: None,
            holds_under: None,
            evaluation: None,
            coverage: None,
            met_full_buffer: None,
            reached: None,
            noted: None,
        }
    }
}

/// How long the parts of a check took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// From text to program.
    pub front_end: Duration,
    /// From program to machine.
    pub compile: Duration,
    /// All searches, replays included.
    pub search: Duration,
    /// Everything.
    pub total: Duration,
}

/// The answer of a check.
#[derive(Debug)]
pub struct Report {
    /// The model as it was given.
    pub model: String,
    /// What was asked for.
    pub options: CheckOptions,
    /// The configuration.
    pub config: Config,
    /// One answer per property, at least one.
    pub properties: Vec<PropertyReport>,
    /// Times.
    pub times: Times,
    /// The most memory that the process ever had in RAM; 0 when unknown.
    pub peak_rss: u64,
    /// Memory that the machine still had at the end; 0 when unknown.
    pub memory_left: u64,
    /// The model states something of its own: assertions, invariants, claims.
    pub states_something: bool,
    /// What the searches met that is no violation, but is to be told.
    pub notices: Vec<Notice>,
    /// The model has progress labels.
    pub progress_labels: bool,
    /// Stores that are about to go.
    pub leaving: DeferredDrop,
    /// The store buffers that the model had.
    pub weak_memory: Option<WeakMemory>,
    /// Fences that would make the properties hold, where they were asked for.
    pub fences: Option<Suggestion>,
}

impl Report {
    /// `violated` beats `unknown` beats `holds`.
    pub fn verdict(&self) -> &'static str {
        let any = |name| self.properties.iter().any(|p| p.verdict.name() == name);
        match () {
            () if any("violated") => "violated",
            () if any("unknown") || self.properties.is_empty() => "unknown",
            () => "holds",
        }
    }

    /// What became of the search that was written down, or went on: there is one at most.
    pub fn kept(&self) -> Option<&Ended> {
        self.properties.iter().find_map(|property| property.kept.as_ref())
    }

    /// Somebody stopped a search.
    pub fn interrupted(&self) -> bool {
        self.properties.iter().any(|p| p.interrupted)
    }

    /// The exit status: violated beats interrupted beats unknown.
    pub fn exit_status(&self) -> u8 {
        match self.verdict() {
            "violated" => 1,
            _ if self.interrupted() => 130,
            "holds" => 0,
            _ => 3,
        }
    }
}
