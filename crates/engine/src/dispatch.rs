//! Search × store: the only place where the product exists, one line per legal pair.

use crate::plan::{Order, Plan, StoreKind};
use search::{Observer, Outcome, StopReason, Task, breadth_first, depth_first};
use store::{Bitstate, Collapse, HashCompaction, Roots, Table, Tree, bitstate::DEFAULT_HASHES};
use system::TransitionSystem;

/// Runs the search that the plan names.
pub fn search(
    plan: &Plan,
    system: &dyn TransitionSystem,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    let limit = plan.limits.memory.unwrap_or(u64::MAX);
    match (plan.order, plan.store) {
        // The plan allows no other store for breadth-first search.
        (Order::BreadthFirst, _) => breadth_first(system, &mut Table::new(limit), task, observer),
        (Order::DepthFirst, StoreKind::Table) => depth_first(system, &mut Table::new(limit), task, observer),
        (Order::DepthFirst, StoreKind::Tree) => {
            depth_first(system, &mut Tree::new(Roots::Whole, limit), task, observer)
        }
        (Order::DepthFirst, StoreKind::Cleary) => {
            depth_first(system, &mut Tree::new(Roots::Cleary, limit), task, observer)
        }
        (Order::DepthFirst, StoreKind::Collapse) => {
            let cut = |key: &[u8], out: &mut Vec<usize>| system.cuts(key, out);
            depth_first(system, &mut Collapse::new(cut, limit), task, observer)
        }
        (Order::DepthFirst, StoreKind::HashCompaction) => {
            depth_first(system, &mut HashCompaction::new(limit), task, observer)
        }
        (Order::DepthFirst, StoreKind::Bitstate { bytes }) => match Bitstate::new(bytes, DEFAULT_HASHES) {
            Ok(mut store) => depth_first(system, &mut store, task, observer),
            Err(store::Full) => Outcome::nothing(StopReason::MemoryLimit),
        },
    }
}
