//! Linear temporal logic: formulas to Büchi automata.
//!
//! Reading order: [`formula`] (what users write; [`parse`] reads text) → [`nnf`] → `simplify` (laws) →
//! `implication` and `translate` (Couvreur's construction) → `tgba`, the automaton while it is made smaller
//! (`bdd` its guards, `scc` its components) → `reduce` (`acceptance`, `simulation`, `degeneralise`),
//! `obligation` (deterministic where possible) → [`automaton`] (frozen, what products use). [`build`] is the
//! whole way, [`mod@print`] writes automata. Nothing here knows Promela: propositions are numbers, a
//! valuation is a word of bits.

mod acceptance;
pub mod automaton;
mod bdd;
pub mod build;
mod degeneralise;
pub mod formula;
mod implication;
pub mod nnf;
mod obligation;
pub mod parse;
pub mod print;
mod product;
mod reduce;
mod scc;
mod simplify;
mod simulation;
mod stutter;
mod table;
mod tgba;
pub mod translate;
pub mod vacuity;

pub use automaton::{Automaton, Component, Cube, Edge, Marks, StateId, Strength};
pub use build::Acceptance;
pub use formula::Formula;
pub use translate::TooLarge;
pub use vacuity::Strengthening;
