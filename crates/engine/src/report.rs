//! What may be claimed after a check.
//!
//! Honest by construction: [`Verdict::Holds`] needs the token of a complete, lossless search, [`Verdict::Violated`]
//! needs evidence that was replayed. Everything else is [`Verdict::Unknown`], with the reason.

use crate::plan::Config;
use search::{Exhausted, Statistics};
use std::time::Duration;
use trace::Evidence;

/// A violation that was replayed, and where its trail was written.
#[derive(Debug)]
pub struct Shown {
    /// The replayed trail.
    pub evidence: Evidence,
    /// The file that holds it.
    pub trail: String,
}

/// What may be claimed.
#[derive(Debug)]
pub enum Verdict {
    /// No reachable state violates the property.
    Holds(Exhausted),
    /// These violate it: at least one.
    Violated(Box<Shown>, Vec<Shown>),
    /// Neither is known, for this reason.
    Unknown(String),
}

impl Verdict {
    /// The word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Holds(_) => "holds",
            Verdict::Violated(..) => "violated",
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

/// The answer for one property.
#[derive(Debug)]
pub struct PropertyReport {
    /// As `--property` names it.
    pub name: String,
    /// `safety`, `ltl`, `never`, `accept` or `progress`.
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
    /// The configuration.
    pub config: Config,
    /// One answer per property, at least one.
    pub properties: Vec<PropertyReport>,
    /// Times.
    pub times: Times,
    /// The most memory that the process ever had in RAM; 0 when unknown.
    pub peak_rss: u64,
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
