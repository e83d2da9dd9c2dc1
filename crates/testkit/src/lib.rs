//! Test tools: random Promela programs, real Spin as an oracle, comparison, shrinking, and golden models with
//! their expectations beside them. The `difftest` binary is the command-line face of the random tests.

pub mod command;
pub mod generate;
pub mod model;
pub mod outcome;
pub mod print;
pub mod rng;
pub mod spin;
pub mod walk;
