//! Partial-order reduction: which of the enabled actions of a state are enough.
//!
//! Reading order: [`object`] (what actions touch, and which touches disturb which) → [`mark`] (what one edge touches, with the
//! atomic sequence that it begins) → [`guard`] (what its guard needs) → [`instance`] (one process: the marks of its edges, and what lies ahead of each) →
//! [`stubborn`] (the choice, made
//! where it pays: [`patience`]). Facts about the program come from `machine::facts`; of a state only a glance is
//! needed (`machine::look`), so that every machine can use the same reducer. [`edge_lean`] leaves out no
//! state, only edges. [`check`] tries to falsify choices. Searches see the traits of
//! `system::reduction` alone.

pub mod bits;
pub mod check;
pub mod components;
pub mod describe;
pub mod edge_lean;
pub mod guard;
pub mod instance;
mod kind;
pub mod mark;
pub mod object;
pub mod patience;
pub mod promise;
mod relations;
pub mod stubborn;
pub mod visible;

pub use stubborn::{Building, Extent, Stubborn};
pub use visible::Watched;
