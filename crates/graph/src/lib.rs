//! What is done with a stored state graph: formulas of branching time are evaluated over bit sets ([`sets`]),
//! what a run can show of the answer is found ([`witness`]), the graph is reduced modulo bisimulation
//! ([`bisimulation`]) and written for other tools ([`write`](mod@write)).
//!
//! States and steps are numbers here; what they mean is known to the engine.

pub mod bisimulation;
pub mod bits;
pub mod components;
pub mod lts;
pub mod sets;
pub mod witness;
pub mod write;

pub use bits::Bits;
pub use lts::Lts;
pub use sets::{ExplicitSets, StepClass};
pub use witness::ExplicitRun;
