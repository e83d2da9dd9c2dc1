//! PINS for Promela: a program as a partitioned system with a local next-state function.
//!
//! After F. van der Berg and A. Laarman (*SpinS: extending LTSmin with Promela through SpinJa*, 2013), but
//! nobody has to say how many processes there are. A process has slots under its pid and its proctype: its
//! location (0: it does not exist), its cells, its channels, each with all its contents as one value; so has
//! every global cell and channel. One more slot is the *shape*: which processes there are. Most groups do not
//! read it; starting and ending a process does, and what depends on which processes exist.
//!
//! | file | what |
//! |---|---|
//! | [`shapes`] | which processes there are, and where the parts of a state are then |
//! | [`slot_part`] | what slots are slots of, whatever their numbers |
//! | [`values`] | parts of states as numbers |
//! | [`groups`] | groups of steps, from the facts about the program |
//! | [`sample`] | a few runs, to know most shapes before the search |
//! | [`local`] | the local next state: values into a state, the compiled machine, values out of it |

pub mod groups;
pub mod local;
pub mod sample;
pub mod shapes;
pub mod slot_part;
pub mod values;

pub use local::Pins;
