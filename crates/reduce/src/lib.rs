//! Partial-order reduction: which of the enabled actions of a state are enough.
//!
//! Reading order: `machine::facts::object` (what actions access, and which accesses conflict) →
//! `machine::facts::mark` (what one edge accesses, with the atomic sequence that it begins) →
//! `machine::facts::guard` (what its guard needs) → [`instance`] (one process: the marks of its edges, and
//! what lies ahead of each) → [`stubborn`] (the choice, made where it pays: [`backoff`]). Of a state only a
//! glance is needed (`machine::look`), so that every machine can use the same reducer. [`edge_lean`] leaves
//! out no state, only edges. [`check`] tries to falsify choices. Searches see the traits of
//! `system::reduction` alone.

pub mod backoff;
pub mod check;
pub mod describe;
pub mod edge_lean;
pub mod instance;
mod kind;
pub mod promise;
mod relations;
mod sleep_code;
pub mod stubborn;

pub use machine::facts::visible::Watched;
pub use stubborn::{Building, Extent, Stubborn};
