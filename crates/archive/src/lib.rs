//! Files that outlive the process which writes them: certificates and checkpoints.
//!
//! [`block`] is how bytes are framed, so that what was cut off or altered is noticed; [`states`] puts states
//! into blocks; [`durable`] is how a file comes to be there as a whole, or not at all, whatever happens to
//! the process or to the power; [`journal`] is a file that grows, and is whole at every commit.
//! [`spill`] is for files that do not outlive it: what need not be in memory.

pub mod block;
pub mod durable;
pub mod journal;
pub mod spill;
pub mod states;

pub use block::{Block, Blocks, Damage, write_block};
pub use durable::DurableFile;
