//! The explicit searches: every reachable state of a [`system::TransitionSystem`], in two orders.
//!
//! Reading order: [`task`] (what to look for and how far) → [`expand`] (one state to its ordinary successors,
//! through atomic sequences) → [`property`] (what counts as a violation) → [`frontier`] and [`depth_first`]
//! (the two orders) → [`parallel`] (many workers) → [`outcome`] (why a search ended and what may be claimed).
//! [`limits`] and [`observer`] keep a search within its budget and tell others how far it is; [`queue`] holds
//! what is still to be expanded, [`ancestry`] leads back from a state to the beginning, [`checkpoint`] is what is
//! written down to go on later, [`disk`] where what waits goes when memory is short. [`phase1`] (the
//! Twophase algorithm) and [`sleep`] (sleep sets) are reductions that need more than a choice of actions.
//!
//! A search cannot mention Promela, prints nothing and has no global state. It is generic in its store alone.

pub mod ancestry;
mod atomic_run;
pub mod checkpoint;
mod chunks;
pub mod cndfs;
pub mod cuts;
mod cycle_worker;
pub mod delta;
pub mod depth_first;
pub mod disk;
pub mod distributed;
mod edge;
mod edge_number;
pub mod expand;
mod expanded;
mod explorer;
mod findings;
pub mod frontier;
mod halt;
pub mod handoff;
mod judged;
pub mod lasso;
pub mod limits;
pub mod marks;
pub mod ndfs;
pub mod ndfs_dual;
pub mod ndfs_lossy;
pub mod observer;
mod open;
pub mod outcome;
pub mod pack;
pub mod parallel;
pub mod passing;
pub mod phase1;
pub mod product;
pub mod property;
pub mod queue;
pub mod random;
pub mod reduced;
mod retrace;
pub mod scc;
pub mod set_search;
pub mod sleep;
mod stack;
pub mod state_graph;
mod state_key;
pub mod states;
pub mod strong;
mod successor_batch;
pub mod switches;
pub mod task;
mod team;
mod termination;
pub mod transients;
pub mod ufscc;
mod waiting_packs;
mod worker_pool;

pub use checkpoint::Keeping;
pub use cuts::{About, Cuts};
pub use depth_first::{depth_first, depth_first_with_sleep};
pub use findings::{Finding, Findings, Spot};
pub use frontier::{Levels, frontier, frontier_kept};
pub use limits::{Branching, Limits, MemoryAccount};
pub use observer::{Flow, Observer, Silent, Snapshot};
pub use outcome::{Exhausted, Outcome, Statistics, StopReason, Violation, Warning};
pub use parallel::{Parallel, parallel, parallel_kept};
pub use phase1::Save;
pub use property::Checks;
pub use set_search::SetSearch;
pub use task::{Method, Proviso, Reduce, Task};
pub use team::Taking;
