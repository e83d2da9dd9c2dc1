//! Search for strongly fair cycles: recursive refinement of strongly connected components.
//!
//! A run is strongly fair when every process that can move again and again moves again and again. That is a
//! Streett condition: one pair (can move, moves) for every process. Emerson and Lei's refinement decides it:
//! in a component where some process can move in a state but moves in no step, a fair cycle must keep away
//! from the states in which it can; without them the component falls apart, and its parts are looked at in
//! the same way. What is left when no process is cheated has a cycle through all of its states and steps,
//! which is fair; acceptance is one more mark that it must have.
//!
//! Unlike generalised acceptance ([`crate::scc`]) this cannot be decided while a component grows: a step
//! found later can make a process able to move. So the graph of what was explored is kept (a number for every
//! state and eight bytes for every step) and refined whenever it has doubled; a cycle among the states
//! explored so far is a cycle.

use crate::cuts::About;
use crate::expand::{Edge, Expansion};
use crate::halt::obeying;
use crate::judged::{Judged, initial_state};
use crate::lasso::{Anchor, Lasso, shorten};
use crate::limits::Budget;
use crate::marks::{Acceptance, Marker, MissingMarks};
use crate::ndfs::Cycles;
use crate::observer::{Observer, Snapshot};
use crate::outcome::{Extent, Outcome, Recorder, Statistics, StopReason, Warning, no_memory};
use crate::state_key::key;
use crate::states::{Alone, Job};
use crate::task::Task;
use std::collections::HashMap;
use store::{Entry, KeyNumber, Numbering, Recall};
use system::{ActionId, Fault, Path, TransitionSystem};

/// States explored before the graph is refined for the first time.
const FIRST_REFINEMENT: usize = 1 << 12;

/// Looks for a strongly fair cycle through an accepting state.
pub fn strong(
    system: &dyn TransitionSystem,
    cycles: &Cycles,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    Job { system, cycles, task, observer }.alone::<Refinement>()
}

/// Search with refinement.
struct Refinement;

impl Alone for Refinement {
    fn search<S: Numbering + Recall>(job: Job<'_, '_>, store: &(dyn Fn() -> S + Sync)) -> Outcome {
        let Job { system, cycles, task, observer } = job;
        let mut search = Strong {
            system,
            cycles,
            task,
            budget: Budget::new(task, observer),
            marker: Marker::new(system, cycles.acceptance),
            expansion: Expansion::default(),
            store: store(),
            hidden: system.hidden_bytes(),
            names: Vec::new(),
            tails: Vec::new(),
            parents: Vec::new(),
            depths: Vec::new(),
            graph: Graph::default(),
            found: Recorder::default(),
            statistics: Statistics::default(),
        };
        let stop = match obeying(|| search.run()) {
            Ok(()) => StopReason::Completed,
            Err(stop) => stop,
        };
        search.conclude(stop)
    }
}

struct Strong<'a, S: Numbering> {
    system: &'a dyn TransitionSystem,
    cycles: &'a Cycles,
    task: &'a Task<'a>,
    budget: Budget<'a>,
    marker: Marker<'a>,
    expansion: Expansion,
    /// States are expanded in the order of their numbers.
    store: S,
    hidden: usize,
    /// The names of the states in the store.
    names: Vec<S::Name>,
    /// The hidden parts of the states, one after another.
    tails: Vec<u8>,
    /// From which state each was found, and by how many steps from the beginning.
    parents: Vec<u32>,
    depths: Vec<u32>,
    graph: Graph,
    found: Recorder,
    statistics: Statistics,
}

impl<S: Numbering + Recall> Strong<'_, S> {
    fn run(&mut self) -> Result<(), StopReason> {
        let state = match initial_state(self.system, &self.task.checks) {
            Ok(state) => state,
            Err(missing) => return self.found.no_initial_state(missing, self.task),
        };
        self.visit(&state, 0, 0)?;
        let mut refine_at = FIRST_REFINEMENT;
        let mut next = 0;
        while next < self.parents.len() {
            self.explore(next as u32)?;
            next += 1;
            if next == refine_at && !self.task.all_errors {
                self.refine()?;
                refine_at *= 2;
            }
        }
        self.refine()
    }

    /// The number of a state, which is noted if it is new.
    fn visit(&mut self, state: &[u8], parent: u32, depth: u64) -> Result<u32, StopReason> {
        let known = key(state, self.hidden);
        if self.budget.states_spent(self.store.n_keys()) && self.store.find(known).is_none() {
            return Err(StopReason::StateLimit);
        }
        let ticket = self.store.hash(known).map_err(|_| StopReason::MemoryLimit)?;
        let Entry { number, name, new } =
            self.store.visit(known, ticket).map_err(|_| StopReason::MemoryLimit)?;
        if new {
            debug_assert_eq!(number.index(), self.parents.len());
            self.names.try_reserve(1).map_err(no_memory)?;
            self.parents.try_reserve(1).map_err(no_memory)?;
            self.depths.try_reserve(1).map_err(no_memory)?;
            self.tails.try_reserve(self.hidden).map_err(no_memory)?;
            self.names.push(name);
            self.parents.push(parent);
            self.depths.push(depth as u32);
            self.tails.extend_from_slice(&state[known.len()..]);
        } else {
            self.statistics.matched += 1;
        }
        Ok(number.index() as u32)
    }

    /// A state with its hidden part.
    fn state(&mut self, number: u32) -> Vec<u8> {
        let mut state = Vec::new();
        self.store.load(self.names[number as usize], &mut state);
        let tail = number as usize * self.hidden;
        state.extend_from_slice(&self.tails[tail..tail + self.hidden]);
        state
    }

    /// Expands a state and notes its steps.
    fn explore(&mut self, number: u32) -> Result<(), StopReason> {
        let state = self.state(number);
        let depth = u64::from(self.depths[number as usize]);
        self.statistics.depth = self.statistics.depth.max(depth);
        self.statistics.vector_bytes = self.statistics.vector_bytes.max(state.len() as u64);
        if self.budget.tick()? {
            let at = self.snapshot(depth);
            self.budget.look(|| at)?;
        }
        self.marker.expander.look_for_loops(!self.found.knows_atomic_loop());
        self.expansion.clear();
        let expanded = self.marker.expand(&state, depth, &mut self.budget, &mut self.expansion);
        let judged = self.expansion.judged(&self.task.checks);
        // First, because looking for the way here expands other states. An error counts also where this cannot
        // be done.
        let noted = expanded.and_then(|()| self.note_steps(number, &state, depth));
        self.judge(judged, number)?;
        noted
    }

    /// Notes the steps of the state that was expanded last.
    fn note_steps(&mut self, number: u32, state: &[u8], depth: u64) -> Result<(), StopReason> {
        let accepting = self.marker.is_accepting(state);
        let enabled = self.expansion.enabled;
        let expansion = std::mem::take(&mut self.expansion);
        for edge in expansion.edges() {
            self.statistics.transitions += 1;
            let moved = self.marker.moved(edge);
            let steps = depth + u64::from(edge.n_actions());
            let to = self.visit(expansion.state(edge), number, steps)?;
            self.graph.step(to, moved).map_err(no_memory)?;
        }
        self.expansion = expansion;
        self.graph.state(enabled, accepting).map_err(no_memory)
    }

    /// Notes what the steps of a state show.
    fn judge(&mut self, judged: Vec<(Judged, Vec<ActionId>)>, number: u32) -> Result<(), StopReason> {
        for (judged, actions) in judged {
            match judged {
                Judged::Violation(fault) => self.violation(fault, number, &actions)?,
                Judged::Cut(fault) => {
                    let path = self.path_and(number, &actions)?;
                    self.found.cut(fault, || path);
                }
                Judged::AtomicLoop => {
                    let path = self.path_and(number, &actions)?;
                    self.found.warnings.push(Warning::AtomicLoop(path));
                }
            }
        }
        Ok(())
    }

    /// Looks for a fair component in what was explored.
    fn refine(&mut self) -> Result<(), StopReason> {
        self.graph.can_be_refined().map_err(no_memory)?;
        let Some(component) = self.graph.fair_component() else { return Ok(()) };
        let lasso = self.way_around(&component)?;
        let (path, cycle) = lasso.path();
        self.found.add_lasso(self.cycles.fault.clone(), path, cycle);
        self.task.after_violation(self.found.errors)
    }

    /// A run that goes around in a component.
    fn way_around(&mut self, component: &Component) -> Result<Lasso, StopReason> {
        let mut inside = vec![false; self.parents.len()];
        component.states.iter().for_each(|&number| inside[number as usize] = true);
        // States have smaller numbers the nearer they are to the beginning.
        let first = component.states.iter().copied().min().unwrap_or(0);
        let path = self.path_and(first, &[])?;
        let state = self.state(first);
        let store = &self.store;
        let inside = |key: &[u8]| store.find(key).is_some_and(|number| inside[number.index()]);
        let anchor = Anchor { state: &state, path: &path, inside: Some(&inside), met: None };
        let acceptance = Acceptance { needed: component.needed, ..self.cycles.acceptance };
        shorten(self.system, acceptance, &anchor, &mut self.budget).ok_or(StopReason::MemoryLimit)
    }

    /// The actions to a state, found by expanding the states along the way once more, and some more.
    fn path_and(&mut self, number: u32, more: &[ActionId]) -> Result<Path, StopReason> {
        let mut way = vec![number];
        let mut at = number;
        while at != 0 {
            at = self.parents[at as usize];
            way.push(at);
        }
        way.reverse();
        let (mut path, mut actions) = (Path::new(), Vec::new());
        let mut expansion = Expansion::default();
        for pair in way.windows(2) {
            let state = self.state(pair[0]);
            expansion.clear();
            self.marker.expand(&state, 0, &mut self.budget, &mut expansion)?;
            let leads = |&edge: &Edge| {
                let number = self.store.find(key(expansion.state(edge), self.hidden));
                number.is_some_and(|number| number.index() == pair[1] as usize)
            };
            if let Some(edge) = expansion.edges().iter().find(leads) {
                actions.clear();
                self.marker.expander.actions(edge, &mut actions);
                path.extend(&actions);
            }
        }
        path.extend(more);
        Ok(path)
    }

    fn violation(&mut self, fault: Fault, number: u32, more: &[ActionId]) -> Result<(), StopReason> {
        let path = self.path_and(number, more)?;
        self.found.add(fault, path.len() as u64, || path);
        self.task.after_violation(self.found.errors)
    }

    fn snapshot(&self, depth: u64) -> Snapshot {
        let beside = (self.parents.capacity() * (8 + size_of::<S::Name>()) + self.tails.capacity()) as u64;
        Snapshot {
            states: self.store.n_keys(),
            transitions: self.statistics.transitions,
            depth,
            frontier: (self.parents.len() - self.graph.len()) as u64,
            errors: self.found.errors,
            memory: self.store.memory() + self.graph.memory() + beside,
            ..Snapshot::default()
        }
    }

    fn conclude(mut self, stop: StopReason) -> Outcome {
        self.statistics.states = self.store.n_keys();
        self.statistics.state_bytes = self.store.memory();
        let cuts = self.marker.expander.take_cuts();
        let extent = Extent { stop, about: About::Runs, cuts, lossless: true };
        Outcome::conclude(extent, &self.task.checks, self.found, self.statistics)
    }
}

/// A component in which no process is cheated and something accepts.
#[derive(Debug, PartialEq, Eq)]
struct Component {
    states: Vec<u32>,
    /// The processes that can move in it; all of them do.
    needed: MissingMarks,
}

/// Sets of processes by numbers: there are few different ones.
#[derive(Default)]
struct Sets {
    all: Vec<MissingMarks>,
    numbers: HashMap<MissingMarks, u32>,
}

impl Sets {
    fn number(&mut self, set: MissingMarks) -> u32 {
        let new = self.all.len() as u32;
        let number = *self.numbers.entry(set).or_insert(new);
        if number == new {
            self.all.push(set);
        }
        number
    }
}

/// The steps among the states explored so far, which are numbered from 0.
#[derive(Default)]
struct Graph {
    sets: Sets,
    /// By state: who can move there.
    enabled: Vec<u32>,
    accepting: Vec<bool>,
    /// By state: the end of its steps.
    ends: Vec<u64>,
    /// By step: where it leads, and whom it moves.
    steps: Vec<(u32, u32)>,
}

/// Not met yet.
const NEW: u32 = u32::MAX;

impl Graph {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn memory(&self) -> u64 {
        (self.steps.capacity() * 8 + self.ends.capacity() * 13) as u64
    }

    /// Adds a step of the next state.
    fn step(&mut self, to: u32, moved: MissingMarks) -> Result<(), std::collections::TryReserveError> {
        self.steps.try_reserve(1)?;
        self.steps.push((to, self.sets.number(moved)));
        Ok(())
    }

    /// Adds the state whose steps were added last.
    fn state(
        &mut self,
        enabled: MissingMarks,
        accepting: bool,
    ) -> Result<(), std::collections::TryReserveError> {
        self.ends.try_reserve(1)?;
        self.enabled.try_reserve(1)?;
        self.accepting.try_reserve(1)?;
        self.ends.push(self.steps.len() as u64);
        self.enabled.push(self.sets.number(enabled));
        self.accepting.push(accepting);
        Ok(())
    }

    fn steps_of(&self, state: u32) -> &[(u32, u32)] {
        let first = state.checked_sub(1).map_or(0, |before| self.ends[before as usize] as usize);
        &self.steps[first..self.ends[state as usize] as usize]
    }

    fn can_move(&self, state: u32) -> MissingMarks {
        self.sets.all[self.enabled[state as usize] as usize]
    }

    /// Whether there is memory for [`Graph::fair_component`], which needs some numbers for each state.
    fn can_be_refined(&self) -> Result<(), std::collections::TryReserveError> {
        Vec::<[u32; 10]>::new().try_reserve_exact(self.len())
    }

    /// A component that is strongly fair and accepts, if there is one.
    fn fair_component(&self) -> Option<Component> {
        let mut regions = Regions { of: vec![0; self.len()], index: vec![NEW; self.len()], n: 1 };
        let mut open: Vec<Vec<u32>> = vec![(0..self.len() as u32).collect()];
        while let Some(region) = open.pop() {
            for states in regions.components(self, &region) {
                match self.judge(&states, &mut regions) {
                    Judgement::Fair(needed) => return Some(Component { states, needed }),
                    Judgement::Hopeless => {}
                    Judgement::Without(cheated) => {
                        let rest: Vec<u32> =
                            states.into_iter().filter(|&state| self.can_move(state) & cheated == 0).collect();
                        regions.assign(&rest);
                        open.push(rest);
                    }
                }
            }
        }
        None
    }

    /// What is to be said of a component, which becomes a region of its own.
    fn judge(&self, states: &[u32], regions: &mut Regions) -> Judgement {
        if !states.iter().any(|&state| self.accepting[state as usize]) {
            return Judgement::Hopeless;
        }
        let region = regions.assign(states);
        let (mut can, mut does, mut cyclic) = (0, 0, false);
        for &state in states {
            can |= self.can_move(state);
            for &(to, moved) in self.steps_of(state) {
                if regions.holds(region, to) {
                    does |= self.sets.all[moved as usize];
                    cyclic = true;
                }
            }
        }
        match can & !does {
            _ if !cyclic => Judgement::Hopeless,
            0 => Judgement::Fair(can),
            cheated => Judgement::Without(cheated),
        }
    }
}

enum Judgement {
    /// Nobody is cheated; these processes can move.
    Fair(MissingMarks),
    /// These processes can move but do not: states in which they can must be left out.
    Without(MissingMarks),
    /// It has no cycle that counts.
    Hopeless,
}

/// The graph in pieces: steps from one piece to another do not count.
struct Regions {
    of: Vec<u32>,
    /// By state, while components are looked for: when it was met.
    index: Vec<u32>,
    n: u32,
}

impl Regions {
    /// Makes a region of these states.
    fn assign(&mut self, states: &[u32]) -> u32 {
        let region = self.n;
        self.n += 1;
        states.iter().for_each(|&state| self.of[state as usize] = region);
        region
    }

    fn holds(&self, region: u32, state: u32) -> bool {
        // States that were not expanded yet are in no region.
        self.of.get(state as usize) == Some(&region)
    }

    /// The strongly connected components of a region: Tarjan's algorithm, with stacks of its own.
    fn components(&mut self, graph: &Graph, region: &[u32]) -> Vec<Vec<u32>> {
        let Some(&any) = region.first() else { return Vec::new() };
        let number = self.of[any as usize];
        region.iter().for_each(|&state| self.index[state as usize] = NEW);
        let mut walk = Tarjan { graph, number, met: 0, ..Tarjan::default_for(graph) };
        for &start in region {
            if self.index[start as usize] == NEW {
                walk.from(start, self);
            }
        }
        walk.found
    }
}

/// The state of Tarjan's algorithm.
struct Tarjan<'a> {
    graph: &'a Graph,
    number: u32,
    met: u32,
    /// States whose component is not complete.
    live: Vec<u32>,
    /// The path: a state, its next step, the smallest index reached from it.
    path: Vec<(u32, usize, u32)>,
    found: Vec<Vec<u32>>,
}

/// The index of a state whose component is complete: no step to it matters.
const DONE: u32 = u32::MAX - 1;

impl<'a> Tarjan<'a> {
    fn default_for(graph: &'a Graph) -> Self {
        Tarjan { graph, number: 0, met: 0, live: Vec::new(), path: Vec::new(), found: Vec::new() }
    }

    fn from(&mut self, start: u32, regions: &mut Regions) {
        self.enter(start, regions);
        while let Some(&mut (state, ref mut next, ref mut low)) = self.path.last_mut() {
            match self.graph.steps_of(state).get(*next) {
                Some(&(to, _)) => {
                    *next += 1;
                    if !regions.holds(self.number, to) {
                        continue;
                    }
                    match regions.index[to as usize] {
                        NEW => self.enter(to, regions),
                        DONE => {}
                        index => *low = (*low).min(index),
                    }
                }
                None => self.leave(regions),
            }
        }
    }

    fn enter(&mut self, state: u32, regions: &mut Regions) {
        regions.index[state as usize] = self.met;
        self.live.push(state);
        self.path.push((state, 0, self.met));
        self.met += 1;
    }

    fn leave(&mut self, regions: &mut Regions) {
        let Some((state, _, low)) = self.path.pop() else { return };
        if low == regions.index[state as usize] {
            let first = self.live.iter().rposition(|&other| other == state).unwrap_or(0);
            let component = self.live.split_off(first);
            component.iter().for_each(|&done| regions.index[done as usize] = DONE);
            self.found.push(component);
        }
        if let Some((_, _, below)) = self.path.last_mut() {
            *below = (*below).min(low);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndfs::tests::{Search, lasso, run};
    use system::Fairness;
    use system::{Processes, toy};

    const STRONG: Search = |s, c, t, o| strong(s, c, t, o);

    fn strongly(text: &str) -> Option<String> {
        lasso(STRONG, text, Fairness::Strong)
    }

    #[test]
    fn a_process_that_can_move_now_and_then_must_move() {
        // Process 1 can move in 0, but not in 2: weakly fair, not strongly.
        let between = "0 -> 2 -> 0; 0 -> 1 -> 1; accept 0; process 1 0 1";
        assert_eq!(strongly(between), None);
        let back = "0 -> 2 -> 0; 0 -> 1 -> 0; accept 2; process 1 0 1";
        assert_eq!(strongly(back).as_deref(), Some("|0 1 2 3"));
    }

    #[test]
    fn a_component_falls_apart() {
        // Among 1 and 2 process 1 is cheated by the step at 2 that it never takes; around 1 alone it cannot
        // move.
        let inner = "0 -> 1 -> 1; 1 -> 2 -> 1; 2 -> 3 -> 3; accept 1; process 1 2 3";
        assert_eq!(strongly(inner).as_deref(), Some("0|1"));
        let accepting = inner.replace("accept 1", "accept 2");
        assert_eq!(strongly(&accepting), None);
    }

    #[test]
    fn a_run_that_ends_is_fair() {
        assert_eq!(strongly("0 -> 1 -> 2; accept 2").as_deref(), Some("0 1|"));
        assert_eq!(strongly("0 -> 1 -> 2; accept 1"), None);
    }

    /// By definition: some set of states that is strongly connected by itself, in which every process that
    /// can move does, and something accepts. All subsets are tried.
    fn naive(graph: &toy::Graph, n: u32) -> bool {
        let edges = edges(graph);
        let reachable = closure(&edges, 1, !0);
        (1u32..1 << n).filter(|set| set & !reachable == 0).any(|set| {
            let members: Vec<u32> = (0..n).filter(|node| set >> node & 1 == 1).collect();
            let inside = |e: &&(u32, u32, u32)| set >> e.0 & 1 == 1 && set >> e.1 & 1 == 1;
            let moved: u32 = edges.iter().filter(inside).fold(0, |all, e| all | e.2);
            let can: u32 = edges.iter().filter(|e| set >> e.0 & 1 == 1).fold(0, |all, e| all | e.2);
            let connected = members.iter().all(|&node| {
                let next =
                    edges.iter().filter(inside).filter(|e| e.0 == node).fold(0, |all, e| all | 1 << e.1);
                closure(&edges, next, set) & set == set
            });
            let accepting = members.iter().any(|&node| graph.labels(node.to_string().as_bytes()).accepting);
            connected && accepting && can & !moved == 0
        })
    }

    /// Steps with the process that moves; states without any are repeated by nobody. Transient nodes are left
    /// out by the graphs that are tried.
    fn edges(graph: &toy::Graph) -> Vec<(u32, u32, u32)> {
        let process = |at: usize| 1u32 << graph.process_of(ActionId(at as u64));
        let mut all: Vec<(u32, u32, u32)> =
            graph.edges().iter().enumerate().map(|(at, e)| (e.0, e.1, process(at))).collect();
        for node in 0..32 {
            if !graph.edges().iter().any(|e| e.0 == node) {
                all.push((node, node, 0));
            }
        }
        all
    }

    fn closure(edges: &[(u32, u32, u32)], from: u32, within: u32) -> u32 {
        let mut all = from & within;
        loop {
            let more =
                edges.iter().filter(|e| all >> e.0 & 1 == 1).fold(all, |set, e| set | (1u32 << e.1 & within));
            if more == all {
                return all;
            }
            all = more;
        }
    }

    #[test]
    fn random_graphs_against_the_definition() {
        let (mut found, mut weaker) = (0, 0);
        for seed in 0..3000u64 {
            let n = 3 + (seed % 7) as u32;
            let graph = random(n, seed);
            let expected = naive(&graph, n);
            let outcome = run(STRONG, &graph, Fairness::Strong, None);
            assert_eq!(!outcome.violations.is_empty(), expected, "seed {seed}");
            assert_eq!(outcome.exhausted.is_some(), !expected, "seed {seed}");
            found += u32::from(expected);
            let weak = run(|s, c, t, o| crate::scc::scc(s, c, t, o), &graph, Fairness::Weak, None);
            weaker += u32::from(!weak.violations.is_empty() && !expected);
            if let Some(violation) = outcome.violations.first() {
                assert!(is_fair(&graph, &violation.path.to_vec(), violation.cycle.unwrap()), "seed {seed}");
            }
        }
        assert!(found > 500 && found < 2500 && weaker > 30, "{found} {weaker}");
    }

    /// A graph with about two steps a node, of three processes.
    fn random(n: u32, seed: u64) -> toy::Graph {
        let mut random = crate::random::Random::new(seed);
        let mut text = String::from("0");
        for _ in 0..2 * n {
            let (from, to, process) = (random.below(n as usize), random.below(n as usize), random.below(3));
            text += &format!("; {from} -> {to}; process {process} {from} {to}");
        }
        for node in (0..n).filter(|_| random.below(3) == 0).collect::<Vec<_>>() {
            text += &format!("; accept {node}");
        }
        toy::Graph::parse(text.trim_start_matches("0; ")).unwrap()
    }

    /// Whether the cycle of a lasso is one, accepts, and moves every process that can move along it.
    fn is_fair(graph: &toy::Graph, path: &[ActionId], cycle: usize) -> bool {
        let mut at = 0;
        let mut nodes = vec![0];
        for action in path {
            let (from, to) = graph.edges()[action.0 as usize];
            assert_eq!(from, at);
            at = to;
            nodes.push(at);
        }
        let around = &nodes[cycle..];
        let can = |node: &u32| {
            let of = |(at, e): (usize, &(u32, u32))| {
                if e.0 == *node { 1u32 << graph.process_of(ActionId(at as u64)) } else { 0 }
            };
            graph.edges().iter().enumerate().map(of).fold(0, |all, bits| all | bits)
        };
        let can = around.iter().map(can).fold(0, |all, bits| all | bits);
        let moved = path[cycle..].iter().fold(0, |all, &action| all | 1u32 << graph.process_of(action));
        let accepting = around.iter().any(|node| graph.labels(node.to_string().as_bytes()).accepting);
        around.first() == around.last() && accepting && can & !moved == 0
    }
}
