//! The packed machine's front: where everything is in a packed state, and what steps do to it, as one
//! function of a small kernel IR that several back ends can make code of.
//!
//! Reading order: [`columns`] (what is packed alike), [`learn`] (how wide values are), [`layout`] (where they
//! are), [`ir`] (the kernel IR; [`print`] it, [`verify`] it, [`eval`]uate it), [`builder`], [`lower`] (from
//! the program to a function), [`expand`] (the evaluator as a machine that expands packed states; it is what
//! tests walk beside the reference machine), [`refuse`] what packed states are not made for, [`model`] all
//! together.

pub mod builder;
pub mod columns;
pub mod eval;
pub mod expand;
pub mod ir;
pub mod layout;
pub mod learn;
pub mod lower;
pub mod model;
mod print;
pub mod refuse;
pub mod sample;
pub mod verify;

pub use layout::Layout;
pub use learn::Learned;
pub use lower::Kernel;
pub use model::Model;
pub use refuse::Refused;
