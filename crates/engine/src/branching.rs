//! Properties of branching time: `ctl` and `mu` blocks, judged on the whole state graph.
//!
//! The graph is explored once for all of them ([`graph`]), without partial-order reduction and without
//! merging, each state and each step of it: a formula can tell apart what other properties cannot. Where
//! single states decide all formulas (`AG p` fails, `EF p` holds), exploration ends at the first that do.
//! Formulas are numbered in [`question`], evaluated by the crate `mu` over the sets of the crate `graph` or,
//! by the symbolic engine, over diagrams ([`answer`]), and what one run shows of the answer is replayed
//! ([`judge`]); the rest is told in words ([`words`]).

pub mod answer;
pub mod graph;
pub mod judge;
pub mod question;
pub mod refusals;
pub mod words;

pub use graph::{ExploredGraph, Exploring};
pub use judge::RunJudge;
pub use question::{Question, Questions};
