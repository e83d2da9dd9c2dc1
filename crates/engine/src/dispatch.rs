//! Search × store: the only place where the product exists, one line per legal pair.

use crate::plan::{Order, Plan};
use search::{Observer, Outcome, Task, breadth_first, depth_first};
use store::Table;
use system::TransitionSystem;

/// Runs the search that the plan names.
pub fn search(
    plan: &Plan,
    system: &dyn TransitionSystem,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    let limit = plan.limits.memory.unwrap_or(u64::MAX);
    match plan.order {
        Order::DepthFirst => depth_first(system, &mut Table::new(limit), task, observer),
        Order::BreadthFirst => breadth_first(system, &mut Table::new(limit), task, observer),
    }
}
