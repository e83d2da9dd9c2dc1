//! One state to its ordinary successors: enabled → fire → close atomic sequences.
//!
//! A step may end in a *transient* state, inside an atomic sequence. Transient states are no states of the program:
//! here, and only here, they are expanded until all ordinary states behind them are found, each with the actions
//! that lead to it. Within the closure of one state every transient state is expanded once, in order of distance,
//! so that the actions to each ordinary state are as few as possible whatever the order of the search. A transient
//! state in which nothing is enabled counts as ordinary.
//!
//! When a transient state is met again the graph of the closure may have a cycle: an atomic sequence that can run
//! for ever. That is looked for only then, and reported as a warning. Limits apply inside a closure as well, since it
//! may be as large as a state space.

use crate::limits::Budget;
use crate::observer::Snapshot;
use crate::outcome::StopReason;
use store::{Seen, StateId, Store, Table, Visit};
use system::{ActionId, Fault, Successors, TransitionSystem};

/// A step to an ordinary state.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    state: (usize, usize),
    actions: (usize, usize),
}

/// An error on a step.
#[derive(Debug)]
pub struct StepFault {
    /// What is wrong.
    pub fault: Fault,
    /// The actions from the expanded state, the faulting one included.
    pub actions: Vec<ActionId>,
}

/// What expanding a state gave; the buffers are reused.
#[derive(Debug, Default)]
pub struct Expansion {
    /// Steps to ordinary states.
    pub edges: Vec<Edge>,
    /// Errors on the way.
    pub faults: Vec<StepFault>,
    /// No action is enabled.
    pub stuck: bool,
    /// Something was left out because of the depth limit.
    pub cut: bool,
    /// The actions to a transient state on a cycle of transient states.
    pub atomic_loop: Option<Vec<ActionId>>,
    bytes: Vec<u8>,
    actions: Vec<ActionId>,
}

impl Expansion {
    /// The state that an edge leads to.
    pub fn state(&self, edge: &Edge) -> &[u8] {
        &self.bytes[edge.state.0..edge.state.0 + edge.state.1]
    }

    /// The actions of an edge.
    pub fn actions(&self, edge: &Edge) -> &[ActionId] {
        &self.actions[edge.actions.0..edge.actions.0 + edge.actions.1]
    }

    fn push_edge(&mut self, state: &[u8], write_actions: impl FnOnce(&mut Vec<ActionId>)) {
        let first = self.actions.len();
        write_actions(&mut self.actions);
        let actions = (first, self.actions.len() - first);
        self.edges.push(Edge { state: (self.bytes.len(), state.len()), actions });
        self.bytes.extend_from_slice(state);
    }

    fn clear(&mut self) {
        self.edges.clear();
        self.faults.clear();
        self.bytes.clear();
        self.actions.clear();
        self.atomic_loop = None;
        self.stuck = false;
        self.cut = false;
    }

    fn memory(&self) -> u64 {
        (self.bytes.capacity() + self.actions.capacity() * 8) as u64
    }
}

/// Expands states; keeps its buffers between them.
pub struct Expander<'a> {
    system: &'a dyn TransitionSystem,
    /// Whether to look for endless atomic sequences.
    pub look_for_loops: bool,
    batch: Successors,
    run: AtomicRun,
    current: Vec<u8>,
}

impl<'a> Expander<'a> {
    /// An expander for `system`.
    pub fn new(system: &'a dyn TransitionSystem) -> Self {
        Expander {
            system,
            look_for_loops: true,
            batch: Successors::default(),
            run: AtomicRun::default(),
            current: Vec::new(),
        }
    }

    /// Finds the ordinary successors of `state`; `at` says where the search is.
    pub fn expand(
        &mut self,
        state: &[u8],
        at: &Snapshot,
        budget: &mut Budget<'_>,
        out: &mut Expansion,
    ) -> Result<(), StopReason> {
        out.clear();
        budget.tick(|| *at)?;
        let steps_left = budget.steps_left(at.depth);
        self.run.clear();
        self.step(state);
        out.stuck = self.batch.list.is_empty();
        if steps_left == 0 {
            out.cut = !out.stuck;
            return Ok(());
        }
        self.sort_batch(None, out)?;
        let mut next = 0;
        while let Some(place) = self.run.places.get(next) {
            let depth = u64::from(place.depth);
            self.close(next as u32, depth < steps_left, out)?;
            next += 1;
            let memory = at.memory + self.run.memory() + out.memory();
            budget.tick(|| Snapshot { memory, depth: at.depth + depth, ..*at })?;
        }
        if self.look_for_loops && !self.run.again.is_empty() {
            out.atomic_loop = self.run.find_loop();
        }
        Ok(())
    }

    /// Fires everything that is enabled in `state`.
    fn step(&mut self, state: &[u8]) {
        self.batch.clear();
        self.system.expand(state, &mut self.batch);
    }

    /// Expands one transient state, if it may still take a step.
    fn close(&mut self, from: u32, may_step: bool, out: &mut Expansion) -> Result<(), StopReason> {
        let mut current = std::mem::take(&mut self.current);
        current.clear();
        current.extend_from_slice(self.run.states.key(StateId(from)));
        self.step(&current);
        if self.batch.list.is_empty() {
            out.push_edge(&current, |actions| self.run.path_to(from, actions));
        }
        self.current = current;
        match may_step {
            true => self.sort_batch(Some(from), out),
            false => {
                out.cut |= !self.batch.list.is_empty();
                Ok(())
            }
        }
    }

    /// Sorts the outcomes of a batch into edges, errors and transient states.
    fn sort_batch(&mut self, from: Option<u32>, out: &mut Expansion) -> Result<(), StopReason> {
        for outcome in &mut self.batch.list {
            if let Some(fault) = outcome.fault.take() {
                let mut actions = Vec::new();
                self.run.path(from, outcome.action, &mut actions);
                out.faults.push(StepFault { fault: *fault, actions });
            }
            let Some((start, len)) = outcome.state else { continue };
            let state = &self.batch.bytes[start as usize..start as usize + len as usize];
            if outcome.transient {
                self.run.enter(state, from, outcome.action)?;
            } else {
                out.push_edge(state, |actions| self.run.path(from, outcome.action, actions));
            }
        }
        Ok(())
    }
}

/// How a transient state was first reached within a closure.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The transient state before it; `None` when it is the first of its run.
    parent: Option<u32>,
    action: ActionId,
    /// Steps from the expanded state.
    depth: u32,
}

/// The transient states of one closure, numbered in the order in which they were met.
#[derive(Debug, Default)]
struct AtomicRun {
    states: Table,
    places: Vec<Place>,
    /// Steps from one transient state to another that had been met before.
    again: Vec<(u32, u32)>,
}

impl AtomicRun {
    fn clear(&mut self) {
        if !self.places.is_empty() {
            self.states.clear();
            self.places.clear();
            self.again.clear();
        }
    }

    fn memory(&self) -> u64 {
        self.states.memory()
            + (self.places.capacity() * size_of::<Place>() + self.again.capacity() * 8) as u64
    }

    /// Enters a transient state; a new one will be expanded in its turn.
    fn enter(&mut self, state: &[u8], from: Option<u32>, action: ActionId) -> Result<(), StopReason> {
        match self.states.visit(state).map_err(|_| StopReason::MemoryLimit)? {
            Visit::New(_) => {
                let before = from.map_or(0, |f| self.places[f as usize].depth);
                self.places.push(Place { parent: from, action, depth: before.saturating_add(1) });
            }
            Visit::Seen(id) => self.again.extend(from.map(|from| (from, id.0))),
        }
        Ok(())
    }

    /// Appends the actions to `from` and then `action`.
    fn path(&self, from: Option<u32>, action: ActionId, out: &mut Vec<ActionId>) {
        if let Some(from) = from {
            self.path_to(from, out);
        }
        out.push(action);
    }

    /// Appends the actions to a transient state.
    fn path_to(&self, place: u32, out: &mut Vec<ActionId>) {
        let first = out.len();
        let mut next = Some(place);
        while let Some(at) = next {
            out.push(self.places[at as usize].action);
            next = self.places[at as usize].parent;
        }
        out[first..].reverse();
    }

    /// The actions to a transient state that lies on a cycle, if there is one: a depth-first search that meets a
    /// state on its own stack.
    fn find_loop(&self) -> Option<Vec<ActionId>> {
        let mut steps = self.again.clone();
        steps.extend(self.places.iter().enumerate().filter_map(|(i, p)| Some((p.parent?, i as u32))));
        steps.sort_unstable();
        let steps_of = |node: u32| steps.partition_point(|s| s.0 < node);
        let mut colours = vec![Colour::White; self.places.len()];
        for root in 0..self.places.len() as u32 {
            if colours[root as usize] != Colour::White {
                continue;
            }
            let mut stack = vec![(root, steps_of(root))];
            colours[root as usize] = Colour::OnStack;
            while let Some((node, next)) = stack.last_mut() {
                let Some(&(_, to)) = steps.get(*next).filter(|s| s.0 == *node) else {
                    colours[*node as usize] = Colour::Done;
                    stack.pop();
                    continue;
                };
                *next += 1;
                match colours[to as usize] {
                    Colour::White => {
                        colours[to as usize] = Colour::OnStack;
                        stack.push((to, steps_of(to)));
                    }
                    Colour::OnStack => {
                        let mut path = Vec::new();
                        self.path_to(to, &mut path);
                        return Some(path);
                    }
                    Colour::Done => {}
                }
            }
        }
        None
    }
}

/// The colours of a depth-first search for cycles.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Colour {
    White,
    OnStack,
    Done,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::observer::Silent;
    use crate::property::Checks;
    use crate::task::Task;
    use std::sync::atomic::AtomicBool;
    use system::toy::Graph;

    fn expand(text: &str, depth: Option<u64>) -> Expansion {
        let graph = Graph::parse(text).unwrap();
        let stop = AtomicBool::new(false);
        let limits = Limits { depth, ..Limits::default() };
        let task = Task { checks: Checks::SAFETY, all_errors: true, seed: None, limits, stop: &stop };
        let mut silent = Silent;
        let mut budget = Budget::new(&task, &mut silent);
        let mut out = Expansion::default();
        Expander::new(&graph).expand(b"0", &Snapshot::default(), &mut budget, &mut out).unwrap();
        out
    }

    /// "state: actions" for each edge.
    fn edges(out: &Expansion) -> Vec<String> {
        let words = |edge: &Edge| {
            let actions: Vec<String> = out.actions(edge).iter().map(|a| a.0.to_string()).collect();
            format!("{}: {}", Graph::node(out.state(edge)), actions.join(" "))
        };
        out.edges.iter().map(words).collect()
    }

    #[test]
    fn ordinary_steps_are_edges() {
        let out = expand("0 -> 1; 0 -> 2; 1 -> 3", None);
        assert_eq!(edges(&out), ["1: 0", "2: 1"]);
        assert!(!out.stuck && !out.cut && out.faults.is_empty());
        assert!(expand("1 -> 2", None).stuck);
    }

    #[test]
    fn atomic_sequences_are_closed() {
        let out = expand("0 -> 1 -> 2 -> 3; 1 -> 4; transient 1 2", None);
        assert_eq!(edges(&out), ["4: 0 3", "3: 0 1 2"]);
    }

    #[test]
    fn a_transient_state_is_expanded_once_and_by_the_shortest_way() {
        let out = expand("0 -> 1 -> 2 -> 9; 0 -> 2; transient 1 2", None);
        assert_eq!(edges(&out), ["9: 3 2"]);
        assert!(out.atomic_loop.is_none(), "a diamond is no loop");
    }

    #[test]
    fn a_transient_state_that_cannot_move_is_ordinary() {
        let graph = "0 -> 1 -> 2; transient 1 2";
        assert_eq!(edges(&expand(graph, None)), ["2: 0 1"]);
    }

    #[test]
    fn an_endless_atomic_sequence_is_noticed_and_left() {
        let out = expand("0 -> 1 -> 2 -> 3 -> 2; 3 -> 4; transient 1 2 3", None);
        assert_eq!(edges(&out), ["4: 0 1 2 4"]);
        assert_eq!(out.atomic_loop, Some(vec![ActionId(0), ActionId(1)]));
        let own = expand("0 -> 1 -> 1; transient 1", None);
        assert!(own.atomic_loop.is_some() && own.edges.is_empty());
    }

    #[test]
    fn faults_inside_carry_their_path() {
        let out = expand("0 -> 1 -> 2 -> 3; 1 -> 4; transient 1 2; assert 1 2; fault 2 3", None);
        let found: Vec<(u64, usize)> =
            out.faults.iter().map(|f| (u64::from(f.fault.line), f.actions.len())).collect();
        assert_eq!(found, [(1, 2), (2, 3)]);
        assert_eq!(edges(&out), ["4: 0 3"], "the step after a failed assertion is taken, others are not");
    }

    #[test]
    fn the_depth_limit_holds_inside() {
        let chain = "0 -> 1 -> 2 -> 3; 1 -> 4; transient 1 2";
        let out = expand(chain, Some(2));
        assert_eq!(edges(&out), ["4: 0 3"]);
        assert!(out.cut);
        assert!(!expand(chain, Some(3)).cut);
        assert!(expand(chain, Some(0)).cut);
    }
}
