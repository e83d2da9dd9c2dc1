//! The explicit searches: every reachable state of a [`system::TransitionSystem`], in two orders.
//!
//! Reading order: [`task`] (what to look for and how far) → [`expand`] (one state to its ordinary successors,
//! through atomic sequences) → [`property`] (what counts as a violation) → [`depth_first`] and [`breadth_first`]
//! (the two orders) → [`outcome`] (why a search ended and what may be claimed). [`limits`] and [`observer`] keep
//! a search within its budget and tell others how far it is; [`path`] leads back from a state to the beginning.
//!
//! A search cannot mention Promela, prints nothing and has no global state. It is generic in its store alone.

pub mod breadth_first;
pub mod depth_first;
pub mod expand;
pub mod limits;
pub mod observer;
pub mod outcome;
pub mod path;
pub mod property;
pub mod random;
pub mod task;

pub use breadth_first::breadth_first;
pub use depth_first::depth_first;
pub use limits::Limits;
pub use observer::{Flow, Observer, Silent, Snapshot};
pub use outcome::{Exhausted, Outcome, Statistics, StopReason, Violation, Warning};
pub use property::Checks;
pub use task::Task;
