//! Test tools: random Promela programs, real Spin as an oracle, comparison, shrinking, and golden models with
//! their expectations beside them. The `difftest` binary is the command-line face of the random tests.

pub mod branching;
pub mod buffers;
pub mod command;
pub mod compare;
pub mod cuts;
pub mod cyclic;
pub mod exhaust;
pub mod features;
pub mod formula;
pub mod generate;
#[cfg(feature = "golden")]
pub mod golden;
pub mod litmus;
pub mod liveness;
pub mod model;
pub mod ours;
pub mod outcome;
pub mod print;
pub mod questions;
pub mod rng;
pub mod shrink;
pub mod spin;
pub mod transcript;
pub mod walk;
