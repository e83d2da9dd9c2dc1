//! What a tool said about a model, in the words that both tools share.

use std::collections::BTreeSet;
use std::fmt;

/// A kind of violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A failed assertion.
    Assertion,
    /// An invalid end state.
    EndState,
    /// A violated trace or notrace.
    Trace,
    /// A run-time error: index, division, blocked d_step, uninitialised channel …
    Runtime,
    /// A violated invariant of the PV dialect; Spin has none.
    Invariant,
    /// A claim that reached its end.
    ClaimEnd,
    /// A run forever through accepting states.
    AcceptCycle,
    /// A run forever without progress.
    ProgressCycle,
    /// A formula about states that fails; Spin has none.
    Formula,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 9] = [
        Kind::Assertion,
        Kind::EndState,
        Kind::Trace,
        Kind::Runtime,
        Kind::Invariant,
        Kind::ClaimEnd,
        Kind::AcceptCycle,
        Kind::ProgressCycle,
        Kind::Formula,
    ];

    /// The word of the JSON report.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Assertion => "assertion",
            Kind::EndState => "end-state",
            Kind::Trace => "trace",
            Kind::Runtime => "runtime",
            Kind::Invariant => "invariant",
            Kind::ClaimEnd => "claim-end",
            Kind::AcceptCycle => "accept-cycle",
            Kind::ProgressCycle => "progress-cycle",
            Kind::Formula => "formula",
        }
    }

    /// The kind that a word of the JSON report names.
    pub fn from_word(word: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What a tool says about one property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// No run breaks it.
    Holds,
    /// Some run does.
    Violated,
    /// Nothing can be said, for this reason.
    Unknown(String),
}

impl Verdict {
    /// Whether both are known and different.
    pub fn contradicts(&self, other: &Verdict) -> bool {
        matches!((self, other), (Verdict::Holds, Verdict::Violated) | (Verdict::Violated, Verdict::Holds))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Holds => f.write_str("holds"),
            Verdict::Violated => f.write_str("violated"),
            Verdict::Unknown(why) => write!(f, "unknown ({why})"),
        }
    }
}

/// The result of exploring a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exploration {
    /// Distinct states stored.
    pub states: u64,
    /// Transitions taken.
    pub transitions: u64,
    /// Violations counted.
    pub errors: u64,
    /// The kinds of violation met.
    pub kinds: BTreeSet<Kind>,
    /// The messages, as the tool printed them.
    pub messages: Vec<String>,
    /// Whether a fatal error ended the search early.
    pub aborted: bool,
    /// Why the search was not exhaustive, when a limit was reached.
    pub truncated: Option<String>,
}

impl Exploration {
    /// The promises (`xr`, `xs`) that the model breaks, in our words. Only a search that relies on a promise
    /// looks whether it is kept, and what else it says of such a model is worth nothing.
    pub fn broken_promises(&self) -> impl Iterator<Item = &str> {
        let promise = |message: &'_ String| message.starts_with("`xr ") || message.starts_with("`xs ");
        let broken = self.messages.iter().filter(move |message| promise(message));
        broken.filter_map(|message| message.split_once(" is not true: ")).map(|(promise, _)| promise)
    }
}

/// What a tool did with a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The tool is not here.
    Skipped(String),
    /// The tool refused the model.
    Rejected(String),
    /// The tool failed in a way that says nothing about the model (for Spin: its C code does not compile).
    Failed(String),
    /// The tool does not have what the model or the options need yet.
    Unsupported(String),
    /// The tool crashed: a bug of its own.
    Crashed(String),
    /// The tool explored the model.
    Explored(Exploration),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Skipped(why) => write!(f, "skipped: {why}"),
            Outcome::Rejected(why) => write!(f, "rejected: {why}"),
            Outcome::Failed(why) => write!(f, "failed: {why}"),
            Outcome::Unsupported(why) => write!(f, "unsupported: {why}"),
            Outcome::Crashed(why) => write!(f, "crashed: {why}"),
            Outcome::Explored(e) => {
                write!(f, "{} states, {} errors", e.states, e.errors)?;
                for kind in &e.kinds {
                    write!(f, ", {kind}")?;
                }
                if e.aborted {
                    f.write_str(", aborted")?;
                }
                if let Some(why) = &e.truncated {
                    write!(f, ", truncated ({why})")?;
                }
                for message in e.messages.iter().take(3) {
                    write!(f, " [{message}]")?;
                }
                Ok(())
            }
        }
    }
}
