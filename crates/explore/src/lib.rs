//! Runs that are looked at and made: what a workbench, a debugger and the dialogues of the command line
//! share.
//!
//! [`exploration`] is a run that takes commands: step, branch, undo, random steps, expressions; [`moment`]
//! and [`automata`] are what it hands out, as data that can be written as JSON; [`picture`] draws them.
//! [`find`] searches in it, [`formula`] judges it, [`turns`] shortens it, [`neighbourhood`] is what else
//! could have happened. A run borrows the machine that executes it, so [`run_thread`] keeps both on a thread
//! of their own, to which commands are sent.

pub mod automata;
pub mod exploration;
pub mod find;
pub mod formula;
pub mod moment;
pub mod neighbourhood;
pub mod picture;
pub mod run_thread;
pub mod turns;
pub mod values;

pub use automata::{Automaton, automata};
pub use exploration::{Exploration, Followed};
pub use moment::{Choice, Moment, Proposition};
pub use run_thread::{Ended, RunThread};
pub use values::{Leaf, values};
