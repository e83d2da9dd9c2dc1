//! Embedded C: a model's `c_code`, `c_expr`, `c_decl`, `c_state` and `c_track`, compiled and called.
//!
//! What comes in is a program whose C is text ([`promela::ir::Embedded`]), what goes out is the same program
//! with variables for all that C keeps in the state, and with the compiled code attached; machines then treat
//! it like any other. [`generate`] writes one C file with a structure for the state, [`compile`] makes a
//! shared object of it with the C compiler of the machine, `object` loads and calls it.
//!
//! Such code can do whatever its user can: **nothing here runs unless a person allowed it**, and whoever
//! allows it should let a [`supervise::Supervisor`] start the process that calls it. `limits` keeps that
//! process from starting others, `page` is the memory in which it notes what it is about to call, so that a
//! crash, an end or a loop is known by its place and is a run-time error the next time the call is met. The
//! idea of C that is part of a model is Holzmann's and Joshi's (*Model-driven software verification*, 2004).

pub mod attach;
pub mod compile;
pub mod generate;
pub mod supervise;

mod limits;
mod object;
mod page;

pub use attach::attach;
pub use compile::{Failed, Request};
