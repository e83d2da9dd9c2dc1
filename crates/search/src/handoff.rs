//! Stack slicing: depth-first search by workers in a ring, each with the part of the stack that is its own.
//!
//! Holzmann & Bošnački (2007). Every worker searches depth-first from the roots that it is given, over a
//! store that all share. A new state that lies `L` or more steps from the local root is *handed off*: put
//! into the queue of the right neighbour, for which it becomes a root. So stacks are short, workers seldom
//! meet, and a queue has one writer and one reader. A state is new for exactly one worker, and is expanded
//! once: numbers are those of one thread. A worker whose neighbour's queue is full goes on by itself.
//!
//! **When all are done.** Roots that were handed off and not yet finished are counted: who hands one off
//! counts it before it can be seen, who finishes one takes it off afterwards. At zero nothing is left
//! anywhere and nothing can appear. The paper uses Safra's algorithm (Dijkstra, EWD998), in which a token
//! goes round and adds up how many messages each machine has sent and received; when the sum is zero after a
//! round in which nobody got anything, all is done. That is for machines that share no memory. Here the same
//! sum is kept in one place: everybody sees the end at once, where a token needs up to two rounds after it,
//! each as long as the longest wait of a worker. The counter is touched twice for a root that is handed off,
//! a slice of states, never for a state. `examples/self/handoff.pml` is this protocol, with mistakes to try.
//!
//! **Counterexamples.** A root carries the slice that led to it: its actions, and the slice before. Slices
//! that nobody needs any more are forgotten; a path is put together from those that are left.
//!
//! **Reductions.** The paper expands border states, and states whose chosen successors others have visited,
//! in full: a reduced state needs a chosen successor that is left before it, and of those nothing is known.
//! Here it is ([`Proviso::Stack`]). What is on the stack of any worker, or waits in a queue, is *open*
//! ([`Open`]); a successor that is stored and not open was left earlier. A new one is searched before its
//! parent is left, if the same worker does it: so where a reduced state has no other successor to rely on,
//! its first one is *claimed* (stored at once, before another worker can find it) and is not handed off. So
//! each reduced state has a chosen successor that was left earlier, and along these one comes to a state that
//! was expanded in full, whatever the workers and the borders. What is lost, compared with one worker, are
//! the states all of whose chosen successors are open elsewhere. ([`Proviso::ClosedSet`] works as well: one
//! of the chosen successors was not yet stored when its parent looked; whoever stores it does so later. It
//! leaves out much less.)
//!
//! **`L`.** The paper wants more than ten steps and less than the depth divided by the number of workers,
//! which nobody knows before. Without a wish, `L` follows the queue: it becomes smaller while the neighbour
//! has nothing to do, and larger when its queue is half full.

use crate::cuts::Cuts;
use crate::depth_first::DepthFirst;
use crate::halt::{Halt, obeying};
use crate::judged::{NoInitialState, initial_state};
use crate::limits::Budget;
use crate::observer::{Observer, Silent};
use crate::open::Open;
use crate::outcome::{Extent, Outcome, Recorder, Statistics, StopReason, no_memory};
use crate::sleep::{Met, NoSleep};
use crate::task::{Proviso, Task};
use crate::termination::pause;
use crate::worker_pool::{Alarm, WorkerPool};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use store::{Evicting, Hand};
use system::{Path, TransitionSystem};

/// Roots that a queue can hold.
const QUEUE: u64 = 256;
/// The smallest depth that is chosen, and the first.
const DEPTHS: (usize, usize) = (10, 20);
/// States between two looks at what concerns all.
const PERIOD: u32 = 64;

/// A system, and who searches it.
#[derive(Clone, Copy)]
pub struct Ring<'a> {
    /// The system.
    pub system: &'a dyn TransitionSystem,
    /// How many workers there are.
    pub workers: usize,
    /// States so far from the root are handed off; `None`: as far as seems best.
    pub depth: Option<u64>,
}

/// Explores a system depth-first with workers in a ring. `hand` gives a worker its access to the store that
/// all share. The task has no limit on depth and no [`Proviso::Color`].
pub fn handoff<H: Hand + Evicting>(
    ring: Ring<'_>,
    hand: &(impl Fn() -> H + Sync),
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    let workers = ring.workers.max(1);
    let shared = Shared {
        halt: Halt::default(),
        unfinished: AtomicU64::new(0),
        waiting: (0..workers).map(|_| AtomicU64::new(0)).collect(),
        states: AtomicU64::new(0),
        limit: task.limits.states,
        open: task.reduce.filter(|reduce| reduce.proviso == Proviso::Stack).map(|_| Open::default()),
    };
    let first = initial_state(ring.system, &task.checks);
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..workers).map(|_| sync_channel(QUEUE as usize)).unzip();
    if first.is_ok() {
        shared.unfinished.fetch_add(1, AcqRel);
    }
    let seat = |(me, input)| Seat { me, input, output: senders[(me + 1) % workers].clone(), start: None };
    let mut seats: Vec<Seat> = receivers.into_iter().enumerate().map(seat).collect();
    drop(senders);
    seats[0].start = Some(first.map(|state| Root { state, slice: Arc::default() }));
    let all = std::thread::scope(|scope| {
        let mut pool = WorkerPool::new(scope);
        let mine = seats.remove(0);
        for seat in seats {
            let shared = &shared;
            // The queue of one that is missing is closed, and its neighbour goes on by itself.
            pool.spawn(move || work(ring, hand, task, &mut Silent, shared, seat));
        }
        pool.join(work(ring, hand, task, observer, &shared, mine))
    });
    put_together(&hand(), &shared, task, all)
}

/// What a worker leaves.
type WorkerResult = (Recorder, Statistics, Cuts);

/// What workers share.
struct Shared {
    halt: Halt,
    /// Roots that were given to somebody and are not finished.
    unfinished: AtomicU64,
    /// How many roots wait in each worker's queue.
    waiting: Vec<AtomicU64>,
    /// States found, if there is a limit.
    states: AtomicU64,
    limit: Option<u64>,
    /// What is on the stacks and in the queues, if the proviso asks for it.
    open: Option<Open>,
}

impl Shared {
    /// Counts a new state.
    fn count(&self) -> Result<(), StopReason> {
        match self.limit {
            // Only the number matters, and every state is counted by the one worker for which it is new.
            Some(limit) if self.states.fetch_add(1, Relaxed) >= limit => Err(StopReason::StateLimit),
            _ => Ok(()),
        }
    }
}

/// A worker's place in the ring.
struct Seat {
    me: usize,
    input: Receiver<Root>,
    output: SyncSender<Root>,
    /// The initial state, for the first worker.
    start: Option<Result<Root, NoInitialState>>,
}

/// A state to search from, and the way to it.
struct Root {
    state: Vec<u8>,
    slice: Arc<Slice>,
}

/// A part of a path: from one root to the next.
#[derive(Default)]
struct Slice {
    before: Option<Arc<Slice>>,
    actions: Path,
    /// Actions from the beginning to its end.
    depth: u64,
}

impl Slice {
    /// The whole path.
    fn path(&self) -> Path {
        let mut slices = vec![self];
        while let Some(before) = slices.last().and_then(|slice| slice.before.as_deref()) {
            slices.push(before);
        }
        slices.iter().rev().flat_map(|slice| slice.actions.iter().copied()).collect()
    }
}

/// One after another: a chain may be long.
impl Drop for Slice {
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(slice) = next {
            next = Arc::into_inner(slice).and_then(|mut slice| slice.before.take());
        }
    }
}

fn work<H: Hand + Evicting>(
    ring: Ring<'_>,
    hand: &(impl Fn() -> H + Sync),
    task: &Task<'_>,
    observer: &mut dyn Observer,
    shared: &Shared,
    mut seat: Seat,
) -> WorkerResult {
    // The others would wait for the roots of a worker that is lost forever.
    let _alarm = Alarm(|| shared.halt.halt(StopReason::Interrupted));
    let mut store = hand();
    let budget = Budget::new(task, observer).halted_by(shared.halt.flag());
    let mut search = DepthFirst::new(ring.system, &mut store, NoSleep, task, budget);
    // States are counted together.
    search.limited = false;
    search.open = shared.open.as_ref();
    let depth = ring.depth.map_or(DEPTHS.1, |depth| usize::try_from(depth).unwrap_or(usize::MAX));
    let start = seat.start.take();
    let mut worker = RingWorker { search, shared, seat, depth, adaptive: ring.depth.is_none(), states: 0 };
    if let Err(reason) = obeying(|| worker.run(start)) {
        shared.halt.halt(reason);
    }
    let cuts = worker.search.take_cuts();
    let DepthFirst { found, mut statistics, .. } = worker.search;
    statistics.states = 0;
    (found, statistics, cuts)
}

struct RingWorker<'a, 'c, H: Hand + Evicting> {
    search: DepthFirst<'a, H, NoSleep>,
    shared: &'c Shared,
    seat: Seat,
    /// States with this number of states before them on the stack are handed off.
    depth: usize,
    adaptive: bool,
    states: u32,
}

impl<H: Hand + Evicting> RingWorker<'_, '_, H> {
    fn run(&mut self, start: Option<Result<Root, NoInitialState>>) -> Result<(), StopReason> {
        match start {
            Some(Err(missing)) => self.search.found.no_initial_state(missing, self.search.task)?,
            Some(Ok(root)) => {
                self.search.stack.begin(&root.state).map_err(no_memory)?;
                self.search.visit()?;
                self.shared.count()?;
                self.slice(&root.slice)?;
            }
            None => {}
        }
        while let Some(root) = self.next_root()? {
            self.search.stack.begin(&root.state).map_err(no_memory)?;
            self.slice(&root.slice)?;
        }
        Ok(())
    }

    /// Waits for a root. `None` when there will be no more.
    fn next_root(&mut self) -> Result<Option<Root>, StopReason> {
        self.search.store.rest();
        let mut waits = 0;
        loop {
            if let Ok(root) = self.seat.input.try_recv() {
                // The sender counted it before it sent it, so that this does not fall below zero.
                self.shared.waiting[self.seat.me].fetch_sub(1, AcqRel);
                return Ok(Some(root));
            }
            // A root counts as unfinished until all that it handed off is counted, so that zero is final.
            if self.shared.unfinished.load(Acquire) == 0 {
                return Ok(None);
            }
            self.search.budget.tick()?;
            self.look()?;
            pause(waits);
            waits += 1;
        }
    }

    /// Searches from the root that is the stack's state. What is found gets the path to the root.
    fn slice(&mut self, slice: &Arc<Slice>) -> Result<(), StopReason> {
        let depth = std::mem::take(&mut self.search.statistics.depth);
        let found = std::mem::take(&mut self.search.found);
        // Depths and paths are those from the root while it is searched; what comes before is added
        // afterwards.
        let searched = self.search_from_root(slice);
        let statistics = &mut self.search.statistics;
        statistics.depth = depth.max(slice.depth + statistics.depth);
        let mut new = std::mem::replace(&mut self.search.found, found);
        new.cuts.retain(|cut| !self.search.found.knows_cut(&cut.fault));
        if !(new.violations.is_empty() && new.warnings.is_empty() && new.cuts.is_empty()) {
            new.prolong(&slice.path());
        }
        self.search.found.join(new);
        // Last, and also after an error: the others wait for it.
        self.shared.unfinished.fetch_sub(1, AcqRel);
        searched
    }

    fn search_from_root(&mut self, slice: &Arc<Slice>) -> Result<(), StopReason> {
        self.search.explore(true)?;
        while self.search.next() {
            let claimed = self.search.is_claimed();
            match self.search.visit()? {
                Met::Known | Met::Again => {
                    self.search.statistics.matched += 1;
                    self.search.stack.leave();
                }
                Met::New => {
                    self.shared.count()?;
                    // A claimed successor keeps the proviso of the state before it, so that it must be
                    // searched here.
                    match !claimed && self.hand_off(slice) {
                        true => self.search.stack.leave(),
                        false => self.search.explore(true)?,
                    }
                }
            }
            self.states = self.states.wrapping_add(1);
            if self.states.is_multiple_of(PERIOD) {
                self.adapt();
            }
        }
        Ok(())
    }

    fn neighbour(&self) -> &AtomicU64 {
        &self.shared.waiting[(self.seat.me + 1) % self.shared.waiting.len()]
    }

    /// Chooses another depth.
    fn adapt(&mut self) {
        if self.adaptive && self.neighbour().load(Acquire) == 0 {
            self.depth = (self.depth / 2).max(DEPTHS.0);
        }
    }

    fn look(&mut self) -> Result<(), StopReason> {
        let at = self.search.snapshot();
        self.search.budget.look(|| at)
    }

    /// Hands off the new state at the end of the path, if it is time to and the neighbour has room.
    fn hand_off(&mut self, slice: &Arc<Slice>) -> bool {
        let stack = &self.search.stack;
        if stack.depth() < self.depth || self.shared.waiting.len() == 1 {
            return false;
        }
        let waiting = self.neighbour().load(Acquire);
        if self.adaptive && waiting >= QUEUE / 2 {
            self.depth = self.depth.saturating_mul(2);
            return false;
        }
        if waiting >= QUEUE {
            return false;
        }
        let depth = slice.depth + stack.steps() as u64;
        let next = Slice { before: Some(Arc::clone(slice)), actions: stack.path(), depth };
        let root = Root { state: stack.state().to_vec(), slice: Arc::new(next) };
        // Counted before it is sent: the neighbour may finish it before this worker goes on.
        self.shared.unfinished.fetch_add(1, AcqRel);
        self.neighbour().fetch_add(1, AcqRel);
        match self.seat.output.try_send(root) {
            Ok(()) => true,
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.neighbour().fetch_sub(1, AcqRel);
                // This worker's own root is unfinished still: nobody has seen zero.
                self.shared.unfinished.fetch_sub(1, AcqRel);
                false
            }
        }
    }
}

/// What all found.
fn put_together<H: Hand + Evicting>(
    store: &H,
    shared: &Shared,
    task: &Task<'_>,
    all: Vec<WorkerResult>,
) -> Outcome {
    let (mut found, mut statistics, mut cuts) = (Recorder::default(), Statistics::default(), Cuts::default());
    statistics.workers = all.len() as u64;
    for (part, numbers, cut) in all {
        found.join(part);
        cuts.join(cut);
        statistics.join(&numbers);
    }
    if !task.all_errors {
        found.keep_shortest();
    }
    let stop = match shared.halt.reason() {
        _ if !task.all_errors && found.errors > 0 => StopReason::Violation,
        Some(reason) => reason,
        None => StopReason::Completed,
    };
    statistics.take_stock(store, stop, task.limits.states);
    let checks = &task.checks;
    let extent = Extent { stop, about: checks.about(), cuts, lossless: H::LOSSLESS };
    Outcome::conclude(extent, checks, found, statistics)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::depth_first::depth_first;
    use crate::limits::Limits;
    use crate::property::Checks;
    use crate::task::{Method, Reduce};
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;
    use store::{Roots, SharedTable, SharedTree, Table};
    use system::toy::{Counters, First, FirstWithin, Graph, Hidden};

    fn task<'a>(limits: Limits, all_errors: bool, stop: &'a AtomicBool) -> Task<'a> {
        Task { checks: Checks::SAFETY, all_errors, seed: None, limits, stop, reduce: None }
    }

    fn by(workers: usize, depth: Option<u64>, system: &dyn TransitionSystem, task: &Task<'_>) -> Outcome {
        let table = SharedTable::new(u64::MAX);
        handoff(Ring { system, workers, depth }, &|| table.hand(), task, &mut Silent)
    }

    fn numbers(outcome: &Outcome) -> (u64, u64, u64, u64, bool) {
        let Statistics { states, transitions, matched, .. } = outcome.statistics;
        (states, transitions, matched, outcome.errors, outcome.exhausted.is_some())
    }

    /// The edges of a path lead from each to the next; the last one may end inside a step.
    fn check_paths(graph: &Graph, outcome: &Outcome) {
        for violation in &outcome.violations {
            let mut at = 0;
            for action in &violation.path {
                let (from, to) = graph.edges()[action.0 as usize];
                assert_eq!(from, at, "{:?}", violation.path);
                at = to;
            }
        }
    }

    #[test]
    fn random_graphs_are_searched_as_by_one() {
        let stop = AtomicBool::new(false);
        let task = task(Limits::default(), true, &stop);
        let mut errors = 0;
        for seed in 0..250 {
            let graph = Graph::random(5 + seed as u32 % 60, seed);
            let expected = numbers(&depth_first(&graph, &mut Table::default(), &task, &mut Silent));
            errors += expected.3;
            for (workers, depth) in [(1, None), (2, Some(1)), (3, Some(2)), (4, None), (8, Some(1))] {
                let outcome = by(workers, depth, &graph, &task);
                assert_eq!(numbers(&outcome), expected, "seed {seed}, {workers} workers, {depth:?}");
                check_paths(&graph, &outcome);
            }
        }
        assert!(errors > 500, "{errors}");
    }

    #[test]
    fn many_states_are_counted_once_in_every_store() {
        let counters = Counters { n: 6, max: 6 };
        let stop = AtomicBool::new(false);
        let task = task(Limits::default(), false, &stop);
        let expected = numbers(&depth_first(&counters, &mut Table::default(), &task, &mut Silent));
        assert_eq!(expected.0, 117_649);
        for depth in [Some(1), Some(12), None] {
            assert_eq!(numbers(&by(3, depth, &counters, &task)), expected, "{depth:?}");
        }
        for roots in [Roots::Roomy, Roots::Cleary] {
            let tree = SharedTree::new(roots, u64::MAX);
            let ring = Ring { system: &counters, workers: 2, depth: Some(9) };
            assert_eq!(numbers(&handoff(ring, &|| tree.hand(), &task, &mut Silent)), expected);
        }
    }

    #[test]
    fn a_path_goes_through_all_slices() {
        // A long way, at the end of which something is wrong.
        let text: Vec<String> = (0..1000).map(|node| format!("{node} -> {}", node + 1)).collect();
        let graph = Graph::parse(&format!("{}; bad 1000; end 1000", text.join("; "))).unwrap();
        let stop = AtomicBool::new(false);
        let task = task(Limits::default(), false, &stop);
        for (workers, depth) in [(1, 10), (2, 10), (3, 7), (4, 1)] {
            let outcome = by(workers, Some(depth), &graph, &task);
            assert_eq!(outcome.stop, StopReason::Violation);
            assert_eq!(outcome.violations[0].path.len(), 1000, "{workers} workers");
            assert_eq!(outcome.statistics.depth, 1000);
            check_paths(&graph, &outcome);
        }
    }

    #[test]
    fn hidden_values_travel_with_their_states() {
        let stop = AtomicBool::new(false);
        let task = task(Limits::default(), true, &stop);
        let expected = numbers(&depth_first(&Hidden, &mut Table::default(), &task, &mut Silent));
        let found = numbers(&by(3, Some(1), &Hidden, &task));
        // Which value comes first to a state, and so what is wrong there, depends on the order.
        assert_eq!((found.0, found.1, found.2), (expected.0, expected.1, expected.2));
    }

    #[test]
    fn reductions_keep_their_proviso() {
        let stop = AtomicBool::new(false);
        let round = Graph::parse("0 -> 1 -> 0; 2 -> 3 -> 2; 0 -> 2; 1 -> 3; end 2 3; bad 3").unwrap();
        for proviso in [Proviso::ClosedSet, Proviso::Stack] {
            let reduce = Some(Reduce { by: &First, method: Method::Sets, proviso });
            let task = Task { reduce, ..task(Limits::default(), true, &stop) };
            for (workers, depth) in [(1, 1), (2, 1), (3, 1), (2, 2)] {
                let outcome = by(workers, Some(depth), &round, &task);
                assert_eq!((outcome.statistics.states, outcome.errors), (4, 1), "{proviso:?}");
                check_paths(&round, &outcome);
            }
        }
    }

    /// Many workers go round many rings at the same time, and behind each there is something that only a
    /// state expanded in full leads to. A worker that relied on a successor which another has on its stack
    /// would miss it.
    #[test]
    fn nobody_relies_on_what_another_has_not_left() {
        let (rings, len) = (40, 5);
        let mut text = Vec::new();
        for ring in 0..rings {
            let node = |at: u32| 1 + ring * (len + 1) + at % len;
            text.push(format!("0 -> {}", node(ring)));
            text.extend((0..len).map(|at| format!("{} -> {}", node(at), node(at + 1))));
            // The last edges, so that they are what is put off.
            let behind = 1 + ring * (len + 1) + len;
            text.extend((0..len).map(|at| format!("{} -> {behind}; end {behind}; bad {behind}", node(at))));
            // Ways into the same ring for the others.
            text.extend((0..len).map(|at| format!("0 -> {}", node(at))));
        }
        let graph = Graph::parse(&text.join("; ")).unwrap();
        let stop = AtomicBool::new(false);
        let inside = FirstWithin(1..u32::MAX);
        let reduce = |proviso| Some(Reduce { by: &inside, method: Method::Sets, proviso });
        for round in 0..40 {
            let task = Task { reduce: reduce(Proviso::Stack), ..task(Limits::default(), true, &stop) };
            let outcome = by(2 + round % 4, Some(1), &graph, &task);
            assert_eq!(outcome.errors, u64::from(rings), "round {round}");
        }
        let task = Task { reduce: reduce(Proviso::None), ..task(Limits::default(), true, &stop) };
        assert!(by(3, Some(1), &graph, &task).errors < u64::from(rings), "what a proviso is for");
    }

    #[test]
    fn limits_end_it_for_all() {
        let counters = Counters { n: 8, max: 9 };
        let stop = AtomicBool::new(false);
        let with = |limits| by(3, Some(10), &counters, &task(limits, false, &stop));
        let outcome = with(Limits { states: Some(5000), ..Limits::default() });
        assert_eq!((outcome.stop, outcome.statistics.states), (StopReason::StateLimit, 5000));
        let outcome = with(Limits { time: Some(Duration::from_millis(20)), ..Limits::default() });
        assert_eq!((outcome.stop, outcome.exhausted.is_some()), (StopReason::TimeLimit, false));
        stop.store(true, Relaxed);
        assert_eq!(with(Limits::default()).stop, StopReason::Interrupted);
    }

    #[test]
    fn a_long_chain_of_slices_is_forgotten_one_by_one() {
        let mut slice = Arc::<Slice>::default();
        for depth in 1..1_000_000 {
            slice = Arc::new(Slice { before: Some(slice), actions: Path::new(), depth });
        }
        drop(slice);
    }
}
