//! Search × store × workers: the only place where the product exists.

use crate::plan::{Order, Plan, Por, StoreKind};
use search::handoff::{Ring, handoff};
use search::pack::{NamedStates, States, WholeStates};
use search::queue::{Names, Queue, Whole};
use search::{
    Levels, Limits, Method, Observer, Outcome, Parallel, Proviso, Reduce, Statistics, StopReason, Taking,
    Task, depth_first, depth_first_with_sleep, frontier, parallel,
};
use std::time::Instant;
use store::bitstate::DEFAULT_HASHES;
use store::{
    Bitstate, Cache, Collapse, Hand, HashCompaction, Recall, Roots, Seen, SharedBitstate, SharedCollapse,
    SharedHashCompaction, SharedTable, SharedTree, Table, Tree,
};
use system::{Lean, Reducer, Reduction, TransitionSystem};

/// States after which it is known whether a reduction pays.
const SAMPLE: u64 = 4096;
/// The same for one that seems to: what is gained while processes begin may be lost later.
const LARGE_SAMPLE: u64 = 8 * SAMPLE;

/// So many times as many states a search without a reduction must have, because choosing takes so much longer than following an edge.
const GAIN: u64 = 3;

/// Whether a reduction may pay, after a sample: where many states were reduced and few had more than one successor left. (Elsewhere what it
/// leaves out is mostly reached all the same, by other ways. Measured over the corpus.)
fn may_pay(sample: Statistics) -> bool {
    let Statistics { reduced, transitions, .. } = sample;
    reduced * 8 >= SAMPLE && transitions * 4 <= SAMPLE * 5
}

/// Runs the search that the plan names. A reduction that nobody asked for is tried in the first states: where it leaves out
/// too little, the search begins again without it and is lean, which is cheaper. (Both at once would not be sound: a lean
/// search relies on every state being expanded in full.)
pub fn search(
    plan: &Plan,
    system: &dyn TransitionSystem,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    let may_be_lean = plan.por == Por::WhereItPays && plan.is_lean() && system.hidden_bytes() == 0;
    let enough = task.limits.states.is_none_or(|most| most > GAIN * LARGE_SAMPLE);
    let Some(reduce) = task.reduce.filter(|_| may_be_lean && enough) else {
        return search_as(plan, system, task, observer);
    };
    let started = Instant::now();
    let always = Always(reduce.by);
    let chosen = Reduce { by: &always, ..reduce };
    let lean = Reduce { method: Method::Lean, proviso: Proviso::None, ..reduce };
    let within = |limits: Limits, reduce| {
        let time = task.limits.time.map(|time| time.saturating_sub(started.elapsed()));
        Task { limits: Limits { time, ..limits }, reduce: Some(reduce), ..*task }
    };
    let mut first_states = |states, reduce| {
        // A sample that is still inside the atomic sequences of one state has seen nothing that speaks for a reduction.
        let limits = Limits { states: Some(states), atomic: Some(LARGE_SAMPLE), ..task.limits };
        let outcome = Job { plan, system, task: &within(limits, reduce) }.alone(observer);
        if outcome.stop == StopReason::StateLimit { Ok(outcome.statistics) } else { Err(Box::new(outcome)) }
    };
    let mut pays = || -> Result<bool, Box<Outcome>> {
        let small = first_states(SAMPLE, reduce)?;
        if !may_pay(small) || plan.order != Order::Frontier {
            return Ok(may_pay(small));
        }
        // A search by levels that is not as deep yet needs that many times as many states to get there.
        Ok(first_states(GAIN * SAMPLE, lean)?.depth < small.depth && {
            let large = first_states(LARGE_SAMPLE, chosen)?;
            first_states(GAIN * LARGE_SAMPLE, lean)?.depth < large.depth
        })
    };
    match pays() {
        Ok(pays) => {
            let task = within(task.limits, if pays { chosen } else { lean });
            search_as(plan, system, &task, observer)
        }
        Err(over) => *over,
    }
}

/// A reduction that is known to pay: it chooses in every state, also where a row of states gains nothing. (In a protocol what is gained is often gained
/// in a few states, and everything behind them.)
#[derive(Debug)]
struct Always<'a>(&'a dyn Reduction);

impl Reduction for Always<'_> {
    fn reducer(&self) -> Box<dyn Reducer + '_> {
        let mut reducer = self.0.reducer();
        reducer.choose_always();
        reducer
    }

    fn lean(&self) -> Option<Box<dyn Lean + '_>> {
        self.0.lean()
    }
}

/// Runs the search as the task says.
fn search_as(
    plan: &Plan,
    system: &dyn TransitionSystem,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    let job = Job { plan, system, task };
    if plan.config.threads == 1 {
        return job.alone(observer);
    }
    let started = Instant::now();
    let outcome = job.together(observer);
    if !plan.deterministic || (outcome.errors == 0 && outcome.warnings.is_empty()) {
        return outcome;
    }
    // What several workers found first depends on their timing; what one worker finds does not.
    let time = task.limits.time.map(|time| time.saturating_sub(started.elapsed()));
    let task = Task { limits: Limits { time, ..task.limits }, ..*task };
    let again = Job { plan, system, task: &task }.alone(observer);
    if again.errors == 0 && outcome.errors > 0 { outcome } else { again }
}

/// What is to be done.
struct Job<'a> {
    plan: &'a Plan,
    system: &'a dyn TransitionSystem,
    task: &'a Task<'a>,
}

impl Job<'_> {
    fn limit(&self) -> u64 {
        self.plan.limits.memory.unwrap_or(u64::MAX)
    }

    /// By one worker.
    fn alone(&self, observer: &mut dyn Observer) -> Outcome {
        let limit = self.limit();
        if self.plan.sleep || self.plan.state_cache.is_some() {
            let mut store = Cache::new(self.plan.state_cache.unwrap_or(u64::MAX), limit);
            return match self.plan.sleep {
                true => depth_first_with_sleep(self.system, &mut store, self.task, observer),
                false => depth_first(self.system, &mut store, self.task, observer),
            };
        }
        match self.plan.store {
            StoreKind::Table => self.by_name(&mut Table::new(limit), observer),
            StoreKind::Tree => self.by_name(&mut Tree::new(Roots::Roomy, limit), observer),
            StoreKind::Cleary => self.by_name(&mut Tree::new(Roots::Cleary, limit), observer),
            StoreKind::Collapse => {
                let cut = |key: &[u8], out: &mut Vec<usize>| self.system.cuts(key, out);
                self.whole(&mut Collapse::new(cut, limit), observer)
            }
            StoreKind::HashCompaction => self.whole(&mut HashCompaction::new(limit), observer),
            StoreKind::Bitstate { bytes } => match Bitstate::new(bytes, DEFAULT_HASHES) {
                Ok(mut store) => self.whole(&mut store, observer),
                Err(store::Full) => Outcome::nothing(StopReason::MemoryLimit),
            },
        }
    }

    /// By several workers, over the stores that they can share.
    fn together(&self, observer: &mut dyn Observer) -> Outcome {
        match self.plan.store {
            StoreKind::Table => {
                let table = SharedTable::new(self.limit());
                self.share_by_name(&|| table.hand(), observer)
            }
            StoreKind::Tree => {
                let tree = SharedTree::new(Roots::Roomy, self.limit());
                self.share_by_name(&|| tree.hand(), observer)
            }
            StoreKind::Cleary => {
                let tree = SharedTree::new(Roots::Cleary, self.limit());
                self.share_by_name(&|| tree.hand(), observer)
            }
            StoreKind::HashCompaction => {
                let set = SharedHashCompaction::new(self.limit());
                self.share::<_, WholeStates>(&|| set.hand(), observer)
            }
            StoreKind::Bitstate { bytes } => match SharedBitstate::new(bytes, DEFAULT_HASHES) {
                Ok(array) => self.share::<_, WholeStates>(&|| array.hand(), observer),
                Err(store::Full) => Outcome::nothing(StopReason::MemoryLimit),
            },
            StoreKind::Collapse => {
                let cut = |key: &[u8], out: &mut Vec<usize>| self.system.cuts(key, out);
                let set = SharedCollapse::new(cut, self.limit());
                self.share::<_, WholeStates>(&|| set.hand(), observer)
            }
        }
    }

    /// States wait under their names, unless a part of them is not in the store.
    fn by_name<S: Recall>(&self, store: &mut S, observer: &mut dyn Observer) -> Outcome {
        match self.system.hidden_bytes() {
            0 => self.run(store, Names::new(self.task.is_lean()), observer),
            _ => self.whole(store, observer),
        }
    }

    /// States wait as they are.
    fn whole<S: Seen>(&self, store: &mut S, observer: &mut dyn Observer) -> Outcome {
        self.run(store, Whole::new(self.system.hidden_bytes(), self.task.is_lean()), observer)
    }

    fn run<S: Seen, Q: Queue<S>>(&self, store: &mut S, queue: Q, observer: &mut dyn Observer) -> Outcome {
        let Job { plan, system, task } = *self;
        match plan.order {
            Order::DepthFirst | Order::Handoff => depth_first(system, store, task, observer),
            Order::BreadthFirst => frontier(system, store, queue, Levels::Steps, task, observer),
            Order::Frontier => frontier(system, store, queue, Levels::Edges, task, observer),
        }
    }

    /// As [`Self::by_name`].
    fn share_by_name<H: Recall + Hand>(
        &self,
        hand: &(impl Fn() -> H + Sync),
        observer: &mut dyn Observer,
    ) -> Outcome
    where
        H::Name: Send,
    {
        match self.system.hidden_bytes() {
            0 => self.share::<H, NamedStates<H::Name>>(hand, observer),
            _ => self.share::<H, WholeStates>(hand, observer),
        }
    }

    fn share<H: Hand, P: States<H>>(
        &self,
        hand: &(impl Fn() -> H + Sync),
        observer: &mut dyn Observer,
    ) -> Outcome {
        let workers = usize::try_from(self.plan.config.threads).unwrap_or(usize::MAX);
        let taking = match self.plan.order {
            Order::Frontier => Taking::Oldest,
            Order::DepthFirst => Taking::Newest,
            Order::BreadthFirst => Taking::Levels,
            Order::Handoff => {
                let ring = Ring { system: self.system, workers, depth: self.plan.options.handoff };
                return handoff(ring, hand, self.task, observer);
            }
        };
        let search = Parallel { system: self.system, taking, workers, alone: self.plan.options.alone };
        parallel::<H, P>(search, hand, self.task, observer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use system::{ActionId, Choice};

    /// Says that it has chosen only when it is to choose always.
    #[derive(Debug)]
    struct Hesitant;

    struct Hesitating(bool);

    impl Reduction for Hesitant {
        fn reducer(&self) -> Box<dyn Reducer + '_> {
            Box::new(Hesitating(true))
        }
    }

    impl Reducer for Hesitating {
        fn choose_always(&mut self) {
            self.0 = false;
        }

        fn choose(&mut self, _: &[u8], _: &[ActionId], _: &mut Vec<u32>) -> Choice {
            if self.0 { Choice::All } else { Choice::Part }
        }

        fn commute(&mut self, _: &[u8], _: ActionId, _: ActionId) -> bool {
            false
        }

        fn visible(&mut self, _: &[u8], _: ActionId) -> bool {
            true
        }

        fn single(&mut self, _: &[u8], _: &[ActionId], _: u32) -> Option<(u32, u32)> {
            None
        }
    }

    #[test]
    fn what_pays_is_chosen_always() {
        let choice = |by: &dyn Reduction| by.reducer().choose(&[], &[], &mut Vec::new());
        assert_eq!(choice(&Hesitant), Choice::All);
        assert_eq!(choice(&Always(&Hesitant)), Choice::Part);
    }
}
