//! Search × store: the only place where the product exists.

use crate::plan::{Order, Plan, StoreKind};
use search::queue::{Names, Queue, Whole};
use search::{Levels, Observer, Outcome, StopReason, Task, depth_first, frontier};
use store::{Bitstate, Collapse, HashCompaction, Recall, Roots, Seen, Table, Tree, bitstate::DEFAULT_HASHES};
use system::TransitionSystem;

/// Runs the search that the plan names.
pub fn search(
    plan: &Plan,
    system: &dyn TransitionSystem,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    let limit = plan.limits.memory.unwrap_or(u64::MAX);
    let job = Job { order: plan.order, system, task };
    match plan.store {
        StoreKind::Table => job.by_name(&mut Table::new(limit), observer),
        StoreKind::Tree => job.by_name(&mut Tree::new(Roots::Whole, limit), observer),
        StoreKind::Cleary => job.by_name(&mut Tree::new(Roots::Cleary, limit), observer),
        StoreKind::Collapse => {
            let cut = |key: &[u8], out: &mut Vec<usize>| system.cuts(key, out);
            job.whole(&mut Collapse::new(cut, limit), observer)
        }
        StoreKind::HashCompaction => job.whole(&mut HashCompaction::new(limit), observer),
        StoreKind::Bitstate { bytes } => match Bitstate::new(bytes, DEFAULT_HASHES) {
            Ok(mut store) => job.whole(&mut store, observer),
            Err(store::Full) => Outcome::nothing(StopReason::MemoryLimit),
        },
    }
}

/// What is to be done, whatever the store.
struct Job<'a> {
    order: Order,
    system: &'a dyn TransitionSystem,
    task: &'a Task<'a>,
}

impl Job<'_> {
    /// States wait under their names, unless a part of them is not in the store.
    fn by_name<S: Recall>(&self, store: &mut S, observer: &mut dyn Observer) -> Outcome {
        match self.system.hidden_bytes() {
            0 => self.run(store, Names::default(), observer),
            _ => self.whole(store, observer),
        }
    }

    /// States wait as they are.
    fn whole<S: Seen>(&self, store: &mut S, observer: &mut dyn Observer) -> Outcome {
        self.run(store, Whole::new(self.system.hidden_bytes()), observer)
    }

    fn run<S: Seen, Q: Queue<S>>(&self, store: &mut S, queue: Q, observer: &mut dyn Observer) -> Outcome {
        let Job { order, system, task } = *self;
        match order {
            Order::DepthFirst => depth_first(system, store, task, observer),
            Order::BreadthFirst => frontier(system, store, queue, Levels::Steps, task, observer),
            Order::Frontier => frontier(system, store, queue, Levels::Edges, task, observer),
        }
    }
}
