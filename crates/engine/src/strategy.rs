//! Which search pays: samples, and the choices that are made from them.
//!
//! A reduction that nobody asked for is tried in the first states, and a lean search in several orders. What
//! is chosen is a [`Task`], which [`crate::dispatch`] carries out.

use crate::checkpoint::format::{Chosen, Decided};
use crate::dispatch::Exploration;
use crate::options::{Por, StoreKind};
use crate::plan::Order;
use search::{
    Branching, Keeping, Limits, Method, Observer, Outcome, Proviso, Reduce, Statistics, StopReason, Task,
};
use std::time::Instant;
use system::{Lean, LeanOrder, ProcessOrder, Reducer, Reduction};

/// States of the sample that tells whether a reduction pays.
const SAMPLE: u64 = 4096;
/// States of the second sample, where the first speaks for the reduction: what is gained while processes
/// begin may be lost later.
const LARGE_SAMPLE: u64 = 8 * SAMPLE;

/// The factor by which a reduction must make the state space smaller: choosing takes that much longer than
/// following an edge.
const GAIN: u64 = 3;

/// Few states of a reduced search have more than one successor; elsewhere what it leaves out is mostly
/// reached all the same, by other ways. (Measured over the corpus.) Processes that go round and round come to
/// be everywhere at once only after a while, so the search itself is watched as well. What branches only
/// later than this has been reduced by much until then.
const BRANCHING: Branching = Branching { steps: 5, states: 4, from: LARGE_SAMPLE, until: 16 * LARGE_SAMPLE };

/// Whether a reduction may pay, after a sample of `states` states: many of them were reduced, and few had
/// more than one successor left.
fn may_pay(states: u64, sample: Statistics) -> bool {
    let branching = Branching { from: 0, until: u64::MAX, ..BRANCHING };
    sample.reduced * 8 >= states && branching.allows(sample.transitions, states)
}

/// Runs the search that the plan names. A reduction that nobody asked for is tried in the first states: where
/// it leaves out too little, there or later on, the search begins again without it and is lean, which is
/// cheaper (in a lossy store it follows all edges). (Both at once would not be sound: a lean search relies on
/// every state being expanded in full.) A search that several workers could have shared, if it had been
/// larger, says that there was one.
pub fn search(exploration: &Exploration<'_>, observer: &mut dyn Observer) -> Outcome {
    let mut outcome = search_where_it_pays(exploration, observer);
    if !exploration.plan.needs_stack() {
        outcome.statistics.workers = outcome.statistics.workers.max(1);
    }
    named(outcome, observer)
}

/// The outcome with its true reason: a failed allocation of the process ends a search like an interruption,
/// and is a lack of memory.
pub fn named(mut outcome: Outcome, observer: &dyn Observer) -> Outcome {
    if outcome.stop == StopReason::Interrupted && observer.is_short_of_memory() {
        outcome.stop = StopReason::MemoryLimit;
    }
    outcome
}

fn search_where_it_pays(exploration: &Exploration<'_>, observer: &mut dyn Observer) -> Outcome {
    let Exploration { plan, system, task, .. } = *exploration;
    let may_be_lean = plan.is_lean() && system.hidden_bytes() == 0;
    let may_do_without = plan.por == Por::WhereItPays && (may_be_lean || plan.store.is_lossy());
    let enough = task.limits.states.is_none_or(|most| most > GAIN * LARGE_SAMPLE);
    // What goes on has been decided.
    let before = exploration.keeper.and_then(|keeper| keeper.decided());
    let enough = match before {
        Some(decided) => decided.chosen != Chosen::AsPlanned,
        None => enough,
    };
    let Some(reduce) = task.reduce.filter(|_| may_do_without && enough) else {
        return search_as(exploration, Chosen::AsPlanned, before, observer);
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
        // A sample that is still inside the atomic sequences of one state has seen nothing that speaks for a
        // reduction.
        let limits = Limits { states: Some(states), atomic: Some(LARGE_SAMPLE), ..task.limits };
        let outcome = Exploration { task: &within(limits, reduce), ..*exploration }.alone(observer);
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
    let pays = match before {
        Some(decided) => Ok(decided.chosen == Chosen::Reduced),
        None => pays(),
    };
    let mut goes_on = before;
    match pays {
        Err(over) => return *over,
        Ok(false) => {}
        Ok(true) => {
            let limits = Limits { branching: Some(BRANCHING), ..task.limits };
            let task = within(limits, chosen);
            let reduced = Exploration { task: &task, ..*exploration };
            let outcome = search_as(&reduced, Chosen::Reduced, goes_on.take(), observer);
            if outcome.stop != StopReason::Branching {
                return outcome;
            }
        }
    }
    let task = within(task.limits, without);
    search_as(&Exploration { task: &task, ..*exploration }, Chosen::Unreduced, goes_on, observer)
}

/// A reduction that is known to pay: it chooses in every state, also where a row of states gains nothing. (In
/// a protocol what is gained is often gained in a few states, and everything behind them.)
#[derive(Debug)]
struct Always<'a>(&'a dyn Reduction);

impl Reduction for Always<'_> {
    fn reducer(&self) -> Box<dyn Reducer + '_> {
        let mut reducer = self.0.reducer();
        reducer.choose_always();
        reducer
    }

    fn lean(&self, order: ProcessOrder) -> Option<Box<dyn Lean + '_>> {
        self.0.lean(order)
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

/// The order of a lean search.
fn order_of(task: &Task<'_>) -> Option<LeanOrder> {
    match task.reduce?.method {
        Method::Lean(order) => Some(order),
        Method::None | Method::Sets | Method::Twophase(_) => None,
    }
}

/// The task; if it is a lean search, in this order.
pub fn in_order<'t>(task: &Task<'t>, order: Option<LeanOrder>) -> Task<'t> {
    let with = |reduce: Reduce<'t>| Reduce { method: order.map_or(reduce.method, Method::Lean), ..reduce };
    Task { reduce: task.reduce.map(with), ..*task }
}

/// The task; if it is a lean search, in the order in which the first states were expanded by fewest
/// edges. Or what was found out, if the search was over before.
fn in_better_order<'t>(
    exploration: &Exploration<'t>,
    observer: &mut dyn Observer,
) -> Result<Task<'t>, Box<Outcome>> {
    let task = exploration.task;
    let enough = task.limits.states.is_none_or(|most| most > 2 * ORDER_SAMPLE);
    let Some(reduce) = task.reduce.filter(|_| task.is_lean() && enough) else { return Ok(*task) };
    let started = Instant::now();
    let with = |limits: Limits, order: LeanOrder| {
        let time = task.limits.time.map(|time| time.saturating_sub(started.elapsed()));
        let reduce = Reduce { method: Method::Lean(order), ..reduce };
        Task { limits: Limits { time, ..limits }, reduce: Some(reduce), ..*task }
    };
    // The edges of a sample for each state that was expanded; `None` where the search ends before.
    let mut edges = |order: LeanOrder| {
        // A sample that is still inside the atomic sequences of one state has seen nothing.
        let limits = Limits { states: Some(ORDER_SAMPLE), atomic: Some(ORDER_SAMPLE), ..task.limits };
        let outcome = Exploration { task: &with(limits, order), ..*exploration }.sample(observer);
        let Statistics { transitions, slept, expanded, states, .. } = outcome.statistics;
        match outcome.stop {
            StopReason::StateLimit => {
                Ok(Some((transitions - slept) as f64 / expanded.unwrap_or(states).max(1) as f64))
            }
            // What the other store needs is to be told.
            StopReason::Completed | StopReason::Violation if exploration.plan.store != StoreKind::Table => {
                Ok(None)
            }
            _ => Err(Box::new(outcome)),
        }
    };
    // A sample takes its time, so the last order is left out: over whole searches it needs fewest edges for
    // some models (spawn 1.12 for each state, 1.30 as chosen; philosophers 1.56 and 1.74), but its samples do
    // not show that, and they mislead for others (qrcu_2r2u).
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

/// The order of a lean search by several processes, which this one decides for all. Or what was found out, if
/// there was no time for it; a sample that sees the end is as good as any other.
pub fn order_for_all(
    exploration: &Exploration<'_>,
    observer: &mut dyn Observer,
) -> Result<Option<LeanOrder>, Box<Outcome>> {
    match in_better_order(exploration, observer) {
        Ok(task) => Ok(order_of(&task)),
        Err(over) if matches!(over.stop, StopReason::Completed | StopReason::Violation) => {
            Ok(order_of(exploration.task))
        }
        Err(over) => Err(over),
    }
}

/// Runs the search as the task says, or goes on with one in the order in which it was.
fn search_as(
    exploration: &Exploration<'_>,
    chosen: Chosen,
    before: Option<Decided>,
    observer: &mut dyn Observer,
) -> Outcome {
    exploration.leaving.wait();
    let decided = match before {
        Some(decided) => Ok(in_order(exploration.task, decided.order)),
        None => in_better_order(exploration, observer),
    };
    let task = match decided {
        Ok(task) => task,
        Err(over) => return *over,
    };
    let started = Instant::now();
    let written = exploration.keeper.map_or(Keeping::NONE, |keeper| {
        keeper.begin(Decided { chosen, order: order_of(&task) }, before.is_some())
    });
    let keeping = Keeping { disk: exploration.keeping.disk, ..written };
    let outcome = Exploration { task: &task, keeping, ..*exploration }.search(observer);
    if exploration.plan.threads == 1
        || !exploration.plan.deterministic
        || (outcome.errors == 0 && outcome.warnings.is_empty())
    {
        return outcome;
    }
    // What several workers found first depends on their timing; what one worker finds does not.
    let time = task.limits.time.map(|time| time.saturating_sub(started.elapsed()));
    let task = Task { limits: Limits { time, ..task.limits }, ..task };
    let mut again = Exploration { task: &task, ..*exploration }.alone(observer);
    again.statistics.workers = outcome.statistics.workers;
    if again.errors == 0 && outcome.errors > 0 { outcome } else { again }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deferred_drop::DeferredDrop;
    use crate::options::CheckOptions;
    use crate::plan::Plan;
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
        let leaving = &DeferredDrop::default();
        let outcome = search(
            &Exploration {
                plan: &plan,
                leaving,
                system: graph,
                task: &task,
                recorder: None,
                keeper: None,
                keeping: Keeping::NONE,
            },
            &mut Silent,
        );
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
