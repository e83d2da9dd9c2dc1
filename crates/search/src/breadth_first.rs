//! Breadth-first search: a counterexample of the fewest steps.
//!
//! A step between ordinary states is not always one step for people: an atomic sequence is as many as it has
//! statements. So this is Dijkstra's algorithm with small integer weights, after R. Dial (Algorithm 360, CACM 1969):
//! one bucket of states per depth. A state is queued where it is first reached and again where it is reached by a
//! shorter way; it is *settled* (judged and expanded) when it is taken out at its final depth.
//!
//! Every violation that is at most as deep as the current bucket is a shortest one: all that is shallower has been
//! settled. Parent links give its path.
//!
//! States come back from the store. Where hidden values make a key shorter than its state, the whole state is
//! kept aside until it is settled, and belongs to the shortest way found so far.

use crate::expand::{Expander, Expansion};
use crate::limits::Budget;
use crate::observer::{Observer, Snapshot};
use crate::outcome::{Outcome, Recorder, Statistics, StopReason, Warning};
use crate::path::Ancestry;
use crate::random::Random;
use crate::task::Task;
use std::collections::{HashMap, TryReserveError, VecDeque};
use store::{Recall, StateId, Visit};
use system::{ActionId, Fault, TransitionSystem};

/// Explores `system` breadth-first.
pub fn breadth_first<S: Recall>(
    system: &dyn TransitionSystem,
    store: &mut S,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    let mut search = BreadthFirst {
        system,
        store,
        task,
        budget: Budget::new(task, observer),
        expander: Expander::new(system),
        random: task.seed.map(Random::new),
        queue: Buckets::default(),
        ancestry: Ancestry::default(),
        whole: HashMap::new(),
        found: Recorder::default(),
        statistics: Statistics::default(),
        depth_limited: false,
    };
    let stop = match search.run() {
        Ok(()) => StopReason::Completed,
        Err(stop) => stop,
    };
    search.conclude(stop)
}

/// A running search.
struct BreadthFirst<'a, S> {
    system: &'a dyn TransitionSystem,
    store: &'a mut S,
    task: &'a Task<'a>,
    budget: Budget<'a>,
    expander: Expander<'a>,
    random: Option<Random>,
    queue: Buckets,
    ancestry: Ancestry,
    /// States that are longer than their keys, until they are settled.
    whole: HashMap<StateId, Box<[u8]>>,
    found: Recorder,
    statistics: Statistics,
    depth_limited: bool,
}

impl<S: Recall> BreadthFirst<'_, S> {
    fn run(&mut self) -> Result<(), StopReason> {
        let mut state = Vec::new();
        if let Err(fault) = self.system.initial(&mut state) {
            self.found.add(fault, 0, Vec::new);
            return if self.task.all_errors { Ok(()) } else { Err(StopReason::Violation) };
        }
        self.reach(&state, None)?;
        let mut expansion = Expansion::default();
        while let Some((id, depth)) = self.queue.next() {
            if self.found_shortest(depth) {
                return Err(StopReason::Violation);
            }
            if self.ancestry.depth(id) == depth {
                self.load(id, &mut state);
                self.settle(id, &state, &mut expansion)?;
            }
        }
        if self.found_shortest(u64::MAX) { Err(StopReason::Violation) } else { Ok(()) }
    }

    /// Whether one violation is enough and one was found that no other can be shorter than.
    fn found_shortest(&self, depth: u64) -> bool {
        !self.task.all_errors && self.found.shortest().is_some_and(|shortest| shortest <= depth)
    }

    fn load(&mut self, id: StateId, state: &mut Vec<u8>) {
        state.clear();
        match self.whole.remove(&id) {
            Some(whole) => state.extend_from_slice(&whole),
            None => self.store.load(id, state),
        }
    }

    /// Judges and expands a state whose depth is final.
    fn settle(&mut self, id: StateId, state: &[u8], expansion: &mut Expansion) -> Result<(), StopReason> {
        let at = self.snapshot(self.ancestry.depth(id));
        self.statistics.depth = self.statistics.depth.max(at.depth);
        self.statistics.vector_bytes = self.statistics.vector_bytes.max(state.len() as u64);
        self.expander.look_for_loops = !self.found.knows_atomic_loop();
        self.expander.expand(state, &at, &mut self.budget, expansion)?;
        self.depth_limited |= expansion.cut;
        self.judge(id, state, expansion);
        if self.found_shortest(at.depth) {
            return Err(StopReason::Violation);
        }
        if let Some(random) = &mut self.random {
            random.shuffle(&mut expansion.edges);
        }
        for edge in &expansion.edges {
            self.statistics.transitions += 1;
            self.reach(expansion.state(edge), Some((id, expansion.actions(edge))))?;
        }
        Ok(())
    }

    fn judge(&mut self, id: StateId, state: &[u8], expansion: &mut Expansion) {
        let mut faults = Vec::new();
        self.task.checks.judge_state(self.system, state, expansion.stuck, &mut faults);
        for fault in faults {
            self.violation(fault, id, &[]);
        }
        for step in expansion.faults.drain(..) {
            if self.task.checks.count(step.fault.kind) {
                self.violation(step.fault, id, &step.actions);
            }
        }
        if let Some(actions) = expansion.atomic_loop.take() {
            let path = [&self.ancestry.path(id)[..], &actions].concat();
            self.found.warnings.push(Warning::AtomicLoop(path));
        }
    }

    fn violation(&mut self, fault: Fault, id: StateId, more: &[ActionId]) {
        let depth = self.ancestry.depth(id) + more.len() as u64;
        let ancestry = &self.ancestry;
        self.found.add(fault, depth, || [&ancestry.path(id)[..], more].concat());
    }

    /// A state was reached, from a parent by some actions or as the initial one: queues it if it is new or if this
    /// way is shorter.
    fn reach(&mut self, state: &[u8], from: Option<(StateId, &[ActionId])>) -> Result<(), StopReason> {
        let key = self.system.key(state);
        if self.budget.states_spent(self.store.n_keys()) && self.store.find(key).is_none() {
            return Err(StopReason::StateLimit);
        }
        let id = match self.store.visit(key).map_err(|_| StopReason::MemoryLimit)? {
            Visit::New(id) => id,
            Visit::Seen(id) => {
                self.statistics.matched += 1;
                let depth =
                    from.map_or(0, |(parent, actions)| self.ancestry.depth(parent) + actions.len() as u64);
                if depth >= self.ancestry.depth(id) {
                    return Ok(());
                }
                id
            }
        };
        let (parent, actions) = from.unwrap_or((id, &[]));
        self.ancestry.link(id, parent, actions).map_err(|_| StopReason::MemoryLimit)?;
        if key.len() != state.len() {
            self.whole.try_reserve(1).map_err(|_| StopReason::MemoryLimit)?;
            self.whole.insert(id, state.into());
        }
        self.queue.push(id, self.ancestry.depth(id)).map_err(|_| StopReason::MemoryLimit)
    }

    fn snapshot(&self, depth: u64) -> Snapshot {
        Snapshot {
            states: self.store.n_keys(),
            transitions: self.statistics.transitions,
            depth,
            frontier: self.queue.len,
            errors: self.found.errors,
            memory: self.store.memory() + self.ancestry.memory(),
            ..Snapshot::default()
        }
    }

    fn conclude(mut self, stop: StopReason) -> Outcome {
        self.statistics.states = self.store.n_keys();
        self.statistics.state_bytes = self.store.memory();
        self.statistics.omission = self.store.omission();
        if !self.task.all_errors {
            self.found.keep_shortest();
        }
        Outcome::conclude(stop, self.depth_limited, S::LOSSLESS, self.found, self.statistics)
    }
}

/// Queued states by depth.
#[derive(Debug, Default)]
struct Buckets {
    /// The depth of the first bucket.
    depth: u64,
    /// How many states are queued.
    len: u64,
    buckets: VecDeque<Bucket>,
}

/// The states of one depth; those before `taken` are done.
#[derive(Debug, Default)]
struct Bucket {
    states: Vec<StateId>,
    taken: usize,
}

impl Buckets {
    /// Queues a state at a depth that is not smaller than the current one.
    fn push(&mut self, id: StateId, depth: u64) -> Result<(), TryReserveError> {
        let at = depth.saturating_sub(self.depth) as usize;
        while self.buckets.len() <= at {
            self.buckets.push_back(Bucket::default());
        }
        let states = &mut self.buckets[at].states;
        states.try_reserve(1)?;
        states.push(id);
        self.len += 1;
        Ok(())
    }

    /// The next state and the depth at which it was queued.
    fn next(&mut self) -> Option<(StateId, u64)> {
        loop {
            let bucket = self.buckets.front_mut()?;
            if let Some(&id) = bucket.states.get(bucket.taken) {
                bucket.taken += 1;
                self.len -= 1;
                return Some((id, self.depth));
            }
            self.buckets.pop_front();
            self.depth += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::depth_first::depth_first;
    use crate::limits::Limits;
    use crate::observer::Silent;
    use crate::property::Checks;
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::atomic::AtomicBool;
    use store::Table;
    use system::Successors;
    use system::toy::{Counters, Graph, Hidden};

    fn run(system: &dyn TransitionSystem, all_errors: bool, limits: Limits, breadth: bool) -> Outcome {
        let stop = AtomicBool::new(false);
        let task = Task { checks: Checks::SAFETY, all_errors, seed: None, limits, stop: &stop };
        if breadth {
            breadth_first(system, &mut Table::default(), &task, &mut Silent)
        } else {
            depth_first(system, &mut Table::default(), &task, &mut Silent)
        }
    }

    fn search(system: &dyn TransitionSystem, all_errors: bool) -> Outcome {
        run(system, all_errors, Limits::default(), true)
    }

    #[test]
    fn counters_are_counted() {
        let outcome = search(&Counters { n: 4, max: 4 }, false);
        assert_eq!(outcome.statistics.states, 625);
        assert_eq!(outcome.statistics.transitions, 2000);
        assert_eq!(outcome.statistics.matched, 2000 - 624);
        assert!(outcome.exhausted.is_some());
    }

    #[test]
    fn a_long_atomic_sequence_does_not_hide_a_shorter_way() {
        // To 9 by one atomic sequence of four steps, or by three ordinary steps; then a fault.
        let text = "0 -> 1 -> 2 -> 3 -> 9; transient 1 2 3; 0 -> 5 -> 6 -> 9; 9 -> 8; fault 9 8";
        let outcome = search(&Graph::parse(text).unwrap(), false);
        assert_eq!(outcome.violations[0].path.len(), 4);
        assert_eq!((outcome.errors, outcome.stop), (1, StopReason::Violation));
    }

    #[test]
    fn a_fault_inside_an_atomic_sequence_may_not_be_the_shortest() {
        let text = "0 -> 1 -> 2 -> 3 -> 4; transient 1 2 3; fault 3 4; 0 -> 5 -> 6; bad 6; end 6";
        let outcome = search(&Graph::parse(text).unwrap(), false);
        assert_eq!(outcome.violations[0].fault.message, "bad node 6");
        assert_eq!(outcome.violations[0].path.len(), 2);
    }

    #[test]
    fn hidden_values_follow_the_shortest_way() {
        let outcome = search(&Hidden, true);
        assert_eq!(outcome.statistics.states, 10);
        assert_eq!(outcome.errors, 0, "8 is reached by steps of two");
    }

    #[test]
    fn the_depth_limit_leaves_out_and_says_so() {
        let counters = Counters { n: 2, max: 9 };
        let cut = run(&counters, false, Limits { depth: Some(3), ..Limits::default() }, true);
        assert_eq!((cut.statistics.states, cut.depth_limited), (10, true));
        assert!(cut.exhausted.is_none());
    }

    /// Distances from node 0 in single steps, and the ordinary states, found in the plainest way.
    fn reference(graph: &Graph) -> (BTreeMap<u32, u64>, BTreeSet<u32>) {
        let mut distance = BTreeMap::from([(0, 0)]);
        let mut queue = VecDeque::from([0]);
        while let Some(node) = queue.pop_front() {
            for &(from, to) in graph.edges() {
                if from == node && !graph.is_fault(from, to) && !distance.contains_key(&to) {
                    distance.insert(to, distance[&node] + 1);
                    queue.push_back(to);
                }
            }
        }
        let ordinary = distance.keys().copied().filter(|&n| !graph.is_transient(n)).collect();
        (distance, ordinary)
    }

    /// The steps of the shortest violation, found in the plainest way.
    fn shortest(graph: &Graph, distance: &BTreeMap<u32, u64>) -> Option<u64> {
        let mut best = None;
        for (&node, &steps) in distance {
            let state = node.to_string().into_bytes();
            let (mut enabled, mut faults) = (Vec::new(), Vec::new());
            graph.enabled(&state, &mut enabled);
            if !graph.is_transient(node) {
                Checks::SAFETY.judge_state(graph, &state, enabled.is_empty(), &mut faults);
            }
            let mut batch = Successors::default();
            graph.fire(&state, &enabled, &mut batch);
            let here = (!faults.is_empty()).then_some(steps);
            let step = batch.list.iter().any(|s| s.fault.is_some()).then_some(steps + 1);
            best = [best, here, step].into_iter().flatten().min();
        }
        best
    }

    #[test]
    fn both_orders_agree_with_each_other_and_with_a_plain_search() {
        let mut violated = 0;
        for seed in 0..400 {
            let graph = Graph::random(4 + (seed % 60) as u32, seed);
            let (distance, ordinary) = reference(&graph);
            let depth = run(&graph, true, Limits::default(), false);
            let breadth = run(&graph, true, Limits::default(), true);
            assert_eq!(breadth.statistics.states, ordinary.len() as u64, "seed {seed}");
            assert_eq!(depth.statistics.states, breadth.statistics.states, "seed {seed}");
            assert_eq!(depth.statistics.transitions, breadth.statistics.transitions, "seed {seed}");
            assert_eq!(depth.statistics.matched, breadth.statistics.matched, "seed {seed}");
            assert_eq!(depth.errors, breadth.errors, "seed {seed}");
            assert_eq!(depth.violations.len(), breadth.violations.len(), "seed {seed}");
            assert_eq!(depth.warnings.is_empty(), breadth.warnings.is_empty(), "seed {seed}");
            let first = run(&graph, false, Limits::default(), true);
            let found = first.violations.first().map(|v| v.path.len() as u64);
            assert_eq!(found, shortest(&graph, &distance), "seed {seed}");
            assert_eq!(found, breadth.violations.iter().map(|v| v.path.len() as u64).min(), "seed {seed}");
            violated += u32::from(found.is_some());
        }
        assert!((100..400).contains(&violated), "{violated} of the random graphs have a violation");
    }
}
