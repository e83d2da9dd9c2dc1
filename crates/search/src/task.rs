//! What a search is asked to do.

use crate::limits::Limits;
use crate::property::Checks;
use std::sync::atomic::AtomicBool;

/// What to look for, how far, and when to give up.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// What counts as a violation.
    pub checks: Checks,
    /// Go on after a violation, explore everything and count them all.
    pub all_errors: bool,
    /// Shuffles the successors of every state; `None` keeps the system's order.
    pub seed: Option<u64>,
    /// Budgets.
    pub limits: Limits,
    /// Set by others when the search is to stop.
    pub stop: &'a AtomicBool,
}
