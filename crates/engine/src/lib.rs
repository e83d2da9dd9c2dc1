//! Plan → report: the only crate that knows all the others.
//!
//! Reading order: [`options`] (the table of options; what was asked, as values) → [`plan`] (decided) and
//! [`refusals`] → [`session`] (a model's text to a program) → [`check`](mod@check) (the run) → [`report`]
//! (what may be claimed, as text and as JSON, with [`hints`]). [`replay`] and [`simulate`] run a model one
//! step at a time. Clients print; this crate does not.

pub mod audit;
pub mod backend;
pub mod branching;
pub mod certificate;
pub mod check;
pub mod checkpoint;
pub mod client;
pub mod cluster_search;
pub mod command_line;
pub mod counterexample;
pub mod deferred_drop;
pub mod disk;
pub mod dispatch;
pub mod embedded;
pub mod endless;
pub mod explain;
mod expression;
pub mod facts;
pub mod failure;
pub mod files;
pub mod formula;
pub mod gpu_search;
pub mod hints;
pub mod inside;
mod isolate;
pub mod job;
pub mod liveness;
pub mod ltl;
pub mod memory;
pub mod notice;
pub mod noting;
pub mod options;
pub mod packed_search;
mod packed_ways;
pub mod parse;
pub mod plan;
pub mod property;
mod propositions;
pub mod refusals;
pub mod render;
pub mod replay;
pub mod report;
pub mod report_json;
pub mod report_markdown;
pub mod report_sarif;
pub mod report_text;
pub mod run_property;
pub mod sarif;
pub mod saving;
pub mod self_check;
pub mod session;
pub mod set_computation;
pub mod simulate;
pub mod simulation;
pub mod spin;
pub mod spin_trail;
pub mod state_graph;
pub mod strategy;
pub mod suggest_fences;
pub mod suite;
pub mod swarm;
mod swarm_report;
pub mod symbolic_branching;
pub mod symbolic_runs;
pub mod symbolic_search;
pub mod trails;
pub mod weak_memory;
mod with_formula;

pub use check::check;
pub use client::{Client, Kept};
pub use failure::{Answer, Failure};
pub use files::{Disk, DiskOrInput};
pub use graph::bisimulation::Equivalence;
pub use graph::write as graph_write;
pub use jit::resident;
pub use job::{Event, Job};
pub use notice::Notice;
pub use options::{CheckOptions, Source};
pub use plan::Plan;
pub use report::Report;
pub use search::{Flow, MemoryAccount, Observer, Silent, Snapshot};
pub use session::Session;
pub use stop::Stop;
pub use trace::Evidence;

/// The version of the tool.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
