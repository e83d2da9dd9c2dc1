//! Explicit search of states that are *born* packed: the kernel IR as native code, and tables of whole states
//! of one or two words. It sees no Promela.
//!
//! Reading order: [`translate`] (a function of the kernel IR as Cranelift's), [`native`] (the finished code,
//! and how it is called), [`expand`] (one state to its ordinary successors, through atomic sequences),
//! [`table`] (which states were seen), [`team`] (what workers share), [`search`] (the loop around all).

pub mod expand;
pub mod native;
pub mod search;
pub mod table;
mod team;
mod translate;

pub use native::Machine;
pub use search::{Counts, Ended, Found, Judge, Judged, Request, search};
