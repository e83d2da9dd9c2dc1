//! The intermediate form: a program as process automata whose edges are guarded actions.
//!
//! [`program`] defines it; [`mod@print`] and [`read`] give it a text form, both ways; [`verify`] lists and
//! checks what every producer guarantees and every machine may rely on; [`visit`] walks over expressions;
//! [`json`] shows the automata to other tools, [`promela_text`] writes them as Promela. The IR knows nothing of the syntax tree.

mod embedded;
pub mod json;
mod lexer;
mod names;
pub mod print;
pub mod program;
pub mod promela_text;
pub mod read;
#[cfg(test)]
mod samples;
pub mod verify;
pub mod visit;

pub use program::*;
