//! Branching-time logic: CTL and the modal mu-calculus over numbered propositions, and what formulas mean.
//!
//! Reading order: [`formula`] (a formula as it is written) → [`core`] (the mu-calculus in positive normal
//! form, shared subformulas) → [`ctl`] (operators of CTL as fixpoints, with and without weak fairness) →
//! [`sets`] (what an engine can do with sets of states) → [`evaluate`] (the set of states in which a formula
//! holds) and [`verdict`] (three values, where a path was cut off) → [`witness`] (the
//! run that shows most of the answer), [`run`] (what a single run shows) and [`reachability`] (what a single
//! state shows).
//!
//! Nothing here knows how sets are stored or where states come from: explicit bit sets and decision diagrams
//! are evaluated by the same code.

pub mod core;
pub mod ctl;
pub mod evaluate;
pub mod formula;
pub mod reachability;
pub mod run;
pub mod sets;
pub mod verdict;
pub mod witness;

pub use core::{Arena, Atom, FormulaId, Steps};
pub use evaluate::{Bound, Evaluator};
pub use formula::{Formula, Quantifier};
pub use reachability::Decision;
pub use sets::Sets;
pub use verdict::Truth;
pub use witness::{Prover, Runs};
