//! Test automata for designers of memory systems: `spinor memory`.
//!
//! Reading order: [`memory_system`] (what a designer writes) and [`interface`], [`taint`] (whether it is one) →
//! [`rules`] and [`litmus`] (tests as data), [`model`] (which model needs which) → [`program`] (what processors
//! do) → [`blocking`], [`split`], [`observer`], [`ordering`] (as Promela) → [`compose`](mod@compose) (one text) → [`running`]
//! (checked by the engine), [`table`] (a violation as people read it) → [`campaign`] (all questions) →
//! [`report`] (what was shown, in words and as JSON). Nothing is printed or written here.

pub mod blocking;
pub mod builtin;
pub mod campaign;
pub mod compose;
pub mod interface;
pub mod litmus;
pub mod memory_system;
pub mod model;
pub mod observer;
mod observer_words;
pub mod ordering;
pub mod program;
pub mod report;
pub mod rules;
pub mod running;
pub mod split;
pub mod table;
pub mod taint;
pub mod words;

pub use campaign::{Known, Outcome, Request};
pub use memory_system::MemorySystem;
pub use model::Model;
