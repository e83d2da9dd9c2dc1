//! Machines: what executes a program and shows it to a search as a transition system.
//!
//! [`interp`] is the reference machine. It is slow and obvious, and every other machine is tested against it.

pub mod action;
pub mod claim;
pub mod facts;
pub mod interp;
pub mod look;
pub mod lossy;
pub mod memory;
pub mod opt;

pub use interp::Interp;
pub use interp::acting_claim::ActingClaim;
