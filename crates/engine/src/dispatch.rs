//! Search × store × workers: the only place where the product exists.

use crate::memory;
use crate::plan::{Order, Plan, Por, StoreKind};
use search::handoff::{Ring, handoff};
use search::pack::{NamedStates, States, WholeStates};
use search::queue::{Names, Queue, Whole};
use search::{
    Branching, Levels, Limits, Method, Observer, Outcome, Parallel, Proviso, Reduce, Statistics, StopReason,
    Taking, Task, depth_first, depth_first_with_sleep, frontier, parallel,
};
use std::time::Instant;
use store::bitstate::DEFAULT_HASHES;
use store::{
    Bitstate, Cache, Collapse, Hand, HashCompaction, Recall, Roots, Seen, SharedBitstate, SharedCollapse,
    SharedHashCompaction, SharedTable, SharedTree, Table, Tree,
};
use system::{Lean, LeanOrder, Reducer, Reduction, Sleepers, TransitionSystem};

/// States after which it is known whether a reduction pays.
const SAMPLE: u64 = 4096;
/// The same for one that seems to: what is gained while processes begin may be lost later.
const LARGE_SAMPLE: u64 = 8 * SAMPLE;

/// So many times as many states a search without a reduction must have, because choosing takes so much longer than following an edge.
const GAIN: u64 = 3;

/// Few states of a reduced search have more than one successor; elsewhere what it leaves out is mostly reached all the same, by other ways.
/// (Measured over the corpus.) Processes that go round and round come to be everywhere at once only after a while, so the search
/// itself is watched as well. What branches only later than this has been reduced by much until then.
const BRANCHING: Branching = Branching { steps: 5, states: 4, from: LARGE_SAMPLE, until: 16 * LARGE_SAMPLE };

/// Whether a reduction may pay, after a sample of so many states: where many of them were reduced and few had more than one successor left.
fn may_pay(states: u64, sample: Statistics) -> bool {
    let branching = Branching { from: 0, until: u64::MAX, ..BRANCHING };
    sample.reduced * 8 >= states && branching.allows(sample.transitions, states)
}

/// Runs the search that the plan names. A reduction that nobody asked for is tried in the first states: where it leaves out
/// too little, there or later on, the search begins again without it and is lean, which is cheaper (in a lossy store it follows all edges). (Both at
/// once would not be sound: a lean search relies on every state being expanded in full.) A search that several workers could have shared, if it
/// had been larger, says that there was one.
pub fn search(
    plan: &Plan,
    system: &dyn TransitionSystem,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    let mut outcome = search_where_it_pays(plan, system, task, observer);
    if !plan.sleep && plan.state_cache.is_none() {
        outcome.statistics.workers = outcome.statistics.workers.max(1);
    }
    named(outcome, observer)
}

/// The same outcome, with the reason why it was stopped: memory that the process takes for granted and cannot have ends a search like an interruption.
pub fn named(mut outcome: Outcome, observer: &dyn Observer) -> Outcome {
    if outcome.stop == StopReason::Interrupted && observer.is_short_of_memory() {
        outcome.stop = StopReason::MemoryLimit;
    }
    outcome
}

fn search_where_it_pays(
    plan: &Plan,
    system: &dyn TransitionSystem,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    let may_be_lean = plan.is_lean() && system.hidden_bytes() == 0;
    let may_do_without = plan.por == Por::WhereItPays && (may_be_lean || plan.store.is_lossy());
    let enough = task.limits.states.is_none_or(|most| most > GAIN * LARGE_SAMPLE);
    let Some(reduce) = task.reduce.filter(|_| may_do_without && enough) else {
        return search_as(plan, system, task, observer);
    };
    let started = Instant::now();
    let always = Always(reduce.by);
    let chosen = Reduce { by: &always, ..reduce };
    let chosen = Some(chosen);
    let lean = Reduce { method: Method::Lean(LeanOrder::default()), proviso: Proviso::None, ..reduce };
    let without = may_be_lean.then_some(lean);
    let within = |limits: Limits, reduce| {
        let time = task.limits.time.map(|time| time.saturating_sub(started.elapsed()));
        Task { limits: Limits { time, ..limits }, reduce, ..*task }
    };
    let mut first_states = |states, reduce| {
        // A sample that is still inside the atomic sequences of one state has seen nothing that speaks for a reduction.
        let limits = Limits { states: Some(states), atomic: Some(LARGE_SAMPLE), ..task.limits };
        let outcome = Job { plan, system, task: &within(limits, reduce) }.alone(observer);
        if outcome.stop == StopReason::StateLimit { Ok(outcome.statistics) } else { Err(Box::new(outcome)) }
    };
    let mut pays = || -> Result<bool, Box<Outcome>> {
        let small = first_states(SAMPLE, chosen)?;
        if !may_pay(SAMPLE, small) || plan.order != Order::Frontier {
            return Ok(may_pay(SAMPLE, small));
        }
        // A search by levels that is not as deep yet needs that many times as many states to get there.
        Ok(first_states(GAIN * SAMPLE, without)?.depth < small.depth && {
            let large = first_states(LARGE_SAMPLE, chosen)?;
            may_pay(LARGE_SAMPLE, large) && first_states(GAIN * LARGE_SAMPLE, without)?.depth < large.depth
        })
    };
    match pays() {
        Err(over) => return *over,
        Ok(false) => {}
        Ok(true) => {
            let limits = Limits { branching: Some(BRANCHING), ..task.limits };
            let outcome = search_as(plan, system, &within(limits, chosen), observer);
            if outcome.stop != StopReason::Branching {
                return outcome;
            }
        }
    }
    search_as(plan, system, &within(task.limits, without), observer)
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

    fn lean(&self, sleepers: Sleepers) -> Option<Box<dyn Lean + '_>> {
        self.0.lean(sleepers)
    }
}

/// States after which it is known in which order a lean search should go.
const ORDER_SAMPLE: u64 = 1 << 14;
/// Where fewer edges than this are followed for each state, the order does not matter much.
const FEW_EDGES: f64 = 1.45;
/// Another order than the usual one must need this part of its edges, or less.
const BETTER: f64 = 0.98;
/// Orders that need about as few edges as the best one: the sample cannot tell them apart.
const AS_GOOD: f64 = 1.02;

/// The same task; if it is a lean search, in the order in which the first states were expanded by fewest edges. Or what was found
/// out, if the search was over before.
fn in_better_order<'t>(
    plan: &Plan,
    system: &dyn TransitionSystem,
    task: &Task<'t>,
    observer: &mut dyn Observer,
) -> Result<Task<'t>, Box<Outcome>> {
    let enough = task.limits.states.is_none_or(|most| most > 2 * ORDER_SAMPLE);
    let Some(reduce) = task.reduce.filter(|_| task.is_lean() && enough) else { return Ok(*task) };
    let started = Instant::now();
    let with = |limits: Limits, order: LeanOrder| {
        let time = task.limits.time.map(|time| time.saturating_sub(started.elapsed()));
        let reduce = Reduce { method: Method::Lean(order), ..reduce };
        Task { limits: Limits { time, ..limits }, reduce: Some(reduce), ..*task }
    };
    // The edges of a sample for each state that was expanded; `None` where there are not so many states.
    let mut edges = |order: LeanOrder| {
        // A sample that is still inside the atomic sequences of one state has seen nothing.
        let limits = Limits { states: Some(ORDER_SAMPLE), atomic: Some(ORDER_SAMPLE), ..task.limits };
        let job = Job { plan, system, task: &with(limits, order) };
        // So few states are found soonest where they are kept whole.
        let outcome = job.by_name(&mut Table::new(job.limit()), observer);
        let Statistics { transitions, slept, expanded, states, .. } = outcome.statistics;
        match outcome.stop {
            StopReason::StateLimit => {
                Ok(Some((transitions - slept) as f64 / expanded.unwrap_or(states).max(1) as f64))
            }
            // What the other store needs is to be told.
            StopReason::Completed | StopReason::Violation if plan.store != StoreKind::Table => Ok(None),
            _ => Err(Box::new(outcome)),
        }
    };
    // A sample takes its time, so the last order is left out: over whole searches it needs fewest edges for some models (spawn 1.12 for each
    // state, 1.30 as chosen; philosophers 1.56 and 1.74), but its samples do not show that, and they mislead for others (qrcu_2r2u).
    let [usual, others @ .., _] = LeanOrder::ALL;
    let Some(usually) = edges(usual)?.filter(|&edges| edges >= FEW_EDGES) else {
        return Ok(with(task.limits, usual));
    };
    let mut found = Vec::new();
    for order in others {
        if let Some(edges) = edges(order)?.filter(|&edges| edges <= usually * BETTER) {
            found.push((order, edges));
        }
    }
    let best = found.iter().map(|found| found.1).fold(usually, f64::min);
    let chosen = found.into_iter().find(|&(_, edges)| edges <= best * AS_GOOD);
    Ok(with(task.limits, chosen.map_or(usual, |chosen| chosen.0)))
}

/// Runs the search as the task says.
fn search_as(
    plan: &Plan,
    system: &dyn TransitionSystem,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    plan.leaving.wait();
    let task = &match in_better_order(plan, system, task, observer) {
        Ok(task) => task,
        Err(over) => return *over,
    };
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
    let mut again = Job { plan, system, task: &task }.alone(observer);
    again.statistics.workers = outcome.statistics.workers;
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

    /// Cuts keys into their components, for stores that keep these apart.
    fn cut(&self) -> impl Fn(&[u8], &mut Vec<usize>) + Sync {
        let components = self.system.capabilities().components;
        move |key, out| components.iter().for_each(|system| system.cuts(key, out))
    }

    /// The size of a bit array that may be so large: what the process has without it counts against the limit, too.
    fn array(&self, most: u64) -> u64 {
        memory::bit_array(self.limit(), self.plan.limits.account.used(0)).min(most)
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
            StoreKind::Table => self.by_name_in(Table::new(limit), observer),
            StoreKind::Tree => self.by_name_in(Tree::new(Roots::Roomy, limit), observer),
            StoreKind::Cleary => self.by_name_in(Tree::new(Roots::Cleary, limit), observer),
            StoreKind::Collapse => {
                let cut = self.cut();
                self.whole(&mut Collapse::new(cut, limit), observer)
            }
            StoreKind::HashCompaction => self.whole(&mut HashCompaction::new(limit), observer),
            StoreKind::Bitstate { most } => match Bitstate::new(self.array(most), DEFAULT_HASHES) {
                Ok(mut store) => self.whole(&mut store, observer),
                Err(store::Full) => no_array(),
            },
        }
    }

    /// By several workers, over the stores that they can share.
    fn together(&self, observer: &mut dyn Observer) -> Outcome {
        match self.plan.store {
            StoreKind::Table => {
                let table = SharedTable::new(self.limit());
                let outcome = self.share_by_name(&|| table.hand(), observer);
                self.leave(table, outcome)
            }
            StoreKind::Tree => self.share_tree(Roots::Roomy, observer),
            StoreKind::Cleary => self.share_tree(Roots::Cleary, observer),
            StoreKind::HashCompaction => {
                let set = SharedHashCompaction::new(self.limit());
                self.share::<_, WholeStates>(&|| set.hand(), observer)
            }
            StoreKind::Bitstate { most } => match SharedBitstate::new(self.array(most), DEFAULT_HASHES) {
                Ok(array) => self.share::<_, WholeStates>(&|| array.hand(), observer),
                Err(store::Full) => no_array(),
            },
            StoreKind::Collapse => {
                let cut = self.cut();
                let set = SharedCollapse::new(cut, self.limit());
                self.share::<_, WholeStates>(&|| set.hand(), observer)
            }
        }
    }

    /// Lets a store go of which the outcome is known. For want of memory, which may have been told like an interruption, it goes at once: then
    /// there is some for the report, which says how much there is.
    fn leave<T: Send + 'static>(&self, store: T, outcome: Outcome) -> Outcome {
        if !matches!(outcome.stop, StopReason::MemoryLimit | StopReason::Interrupted) {
            self.plan.leaving.leave(store, outcome.statistics.state_bytes);
        }
        outcome
    }

    fn share_tree(&self, roots: Roots, observer: &mut dyn Observer) -> Outcome {
        let tree = SharedTree::new(roots, self.limit());
        let outcome = self.share_by_name(&|| tree.hand(), observer);
        self.leave(tree, outcome)
    }

    fn by_name_in<S: Recall + Send + 'static>(&self, mut store: S, observer: &mut dyn Observer) -> Outcome {
        let outcome = self.by_name(&mut store, observer);
        self.leave(store, outcome)
    }

    /// States wait under their names, unless a part of them is not in the store.
    fn by_name<S: Recall>(&self, store: &mut S, observer: &mut dyn Observer) -> Outcome {
        match self.system.hidden_bytes() {
            0 => self.run(store, Names::default(), observer),
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

/// Of a search in a bit array for which there is no memory: nothing was found, and nothing omitted.
fn no_array() -> Outcome {
    let mut outcome = Outcome::nothing(StopReason::MemoryLimit);
    outcome.statistics.omission = Some(0.0);
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::CheckOptions;
    use search::{Checks, Silent};
    use std::sync::atomic::AtomicBool;
    use system::toy::{FirstWithin, Graph};
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

    /// Nodes 0 to `LONG` in a row, each with four ends beside it.
    const LONG: u32 = 40_000;

    fn row() -> Graph {
        let mut graph = Graph::default();
        for node in 0..LONG {
            graph.edge(node, node + 1);
            (0..4).for_each(|i| graph.edge(node, 1_000_000 + 4 * node + i));
        }
        graph
    }

    /// What the default does with a graph: states, and whether they are reduced.
    fn searched(graph: &Graph, by: &dyn Reduction) -> (u64, bool) {
        let options = CheckOptions { threads: Some(1), ..CheckOptions::default() };
        let plan = Plan::new(&options).unwrap();
        let task = Task {
            checks: Checks::NONE,
            all_errors: false,
            seed: None,
            limits: Limits::default(),
            stop: &AtomicBool::new(false),
            reduce: Some(Reduce { by, method: Method::Sets, proviso: plan.proviso }),
        };
        let outcome = search(&plan, graph, &task, &mut Silent);
        assert!(outcome.exhausted.is_some());
        (outcome.statistics.states, outcome.statistics.reduced > 0)
    }

    #[test]
    fn a_reduction_is_kept_as_long_as_few_states_branch() {
        let mut graph = row();
        assert_eq!(searched(&graph, &FirstWithin(0..LONG)), (u64::from(LONG) + 1, true));
        assert_eq!(searched(&graph, &FirstWithin(0..0)), (5 * u64::from(LONG) + 1, false));
        // Behind the row there is a region in which everything is reached in many ways.
        let many = 20_000;
        for node in 0..many {
            [1, 7, 131].iter().for_each(|step| graph.edge(LONG + node, LONG + (node + step) % many));
        }
        let all = 5 * u64::from(LONG) + u64::from(many);
        assert_eq!(searched(&graph, &FirstWithin(0..LONG)), (all, false));
    }

    #[test]
    fn inside_a_broad_atomic_start_nothing_speaks_for_a_reduction() {
        let mut text = "transient 2000000".to_string();
        let broad = 2_000_001..2_000_001 + LARGE_SAMPLE as u32;
        broad.clone().for_each(|node| text += &format!(" {node}"));
        let mut graph = Graph::parse(&text).unwrap();
        // The row begins with its second node.
        graph.edge(0, 2_000_000);
        broad.for_each(|node| {
            graph.edge(2_000_000, node);
            graph.edge(node, 1);
        });
        row().edges().iter().filter(|(from, _)| *from > 0).for_each(|&(from, to)| graph.edge(from, to));
        assert_eq!(searched(&graph, &FirstWithin(0..LONG)), (5 * u64::from(LONG) - 3, false));
    }
}
