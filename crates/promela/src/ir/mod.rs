//! The intermediate form: a program as process automata whose edges are guarded actions.
//!
//! [`program`] defines it; `print` and `read` give it a text form, both ways; `verify` lists and checks what
//! every producer guarantees and every machine may rely on. The IR knows nothing of the syntax tree.

pub mod program;

pub use program::*;
