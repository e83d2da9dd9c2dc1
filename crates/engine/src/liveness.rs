//! Which search a claim gets: by its strength, and by what fairness asks.
//!
//! Where only the end of a claim is wrong, the product is searched like any system for an error. Where cycles accept as a
//! whole or not at all, one depth-first search is enough, else it is nested. Fairness is acceptance with a mark
//! for every process: a matter of components.

use crate::dispatch;
use crate::plan::{CycleSearch, Plan};
use crate::watch::Watch;
use search::marks::Acceptance;
use search::ndfs::{Cycles, ndfs};
use search::product::Product;
use search::scc::scc;
use search::{Observer, Outcome, Task};
use system::TransitionSystem;
use system::claim::Strength;

/// How a property of whole runs was searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    /// As a reachable error.
    Reachability,
    /// One depth-first search.
    Single,
    /// Nested depth-first search.
    Nested,
    /// Strongly connected components.
    Components,
}

impl How {
    /// The word that reports use.
    pub fn name(self) -> &'static str {
        match self {
            How::Reachability => "reachability",
            How::Single => "dfs",
            How::Nested => "ndfs",
            How::Components => "scc",
        }
    }
}

/// Searches for a run that is wrong.
pub fn search(
    plan: &Plan,
    system: &dyn TransitionSystem,
    watch: &Watch,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> (How, Outcome) {
    let strength = watch.claim.as_ref().map_or(Strength::Strong, |claim| claim.strength());
    let how = match (plan.cycles, strength) {
        (CycleSearch::Auto, Strength::Terminal) => How::Reachability,
        (CycleSearch::Components, _) => How::Components,
        _ if plan.weak_fairness => How::Components,
        (CycleSearch::Auto, Strength::Weak) => How::Single,
        _ => How::Nested,
    };
    let product;
    let searched = match &watch.claim {
        Some(claim) => {
            product = Product::new(system, claim, watch.set);
            &product as &dyn TransitionSystem
        }
        None => system,
    };
    // A product repeats the last state of a run itself.
    let acceptance = Acceptance { stutters: watch.claim.is_none(), weak_fairness: plan.weak_fairness };
    let memory = plan.limits.memory.unwrap_or(u64::MAX);
    let cycles = Cycles { fault: watch.fault.clone(), acceptance, nested: how == How::Nested, memory };
    let outcome = match how {
        How::Reachability => dispatch::search(plan, searched, task, observer),
        How::Single | How::Nested => ndfs(searched, &cycles, task, observer),
        How::Components => scc(searched, &cycles, task, observer),
    };
    (how, outcome)
}
