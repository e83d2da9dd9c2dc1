//! The sets of [`mu::Sets`] over a stored graph: bits, one for every state.
//!
//! Both fixpoints that the evaluation asks for at once are computed backwards from the goal with a work list,
//! in time linear in the edges: a state is reached by its first edge to the set, and enforced by its last
//! (Clarke, Emerson, Sistla 1986; for alternation-free formulas Cleaveland, Steffen 1993).

use crate::bits::Bits;
use crate::components::components_of_all;
use mu::{Atom, Sets, Steps};
use search::state_graph::StateGraph;
use search::state_graph::csr::Csr;
use std::collections::HashMap;
use stop::Stop;

/// What the label of a step says about it.
pub trait StepClass {
    /// Whether a step with this label belongs to these steps.
    fn is_of(&self, label: u32, steps: Steps) -> bool;

    /// The process that counts as one that can move where a step with this label is possible.
    fn owner(&self, label: u32) -> u32;
}

/// Sets over a graph.
pub struct ExplicitSets<'a> {
    graph: &'a StateGraph,
    classes: &'a dyn StepClass,
    /// Propositions, by number.
    pub propositions: &'a [Bits],
    /// States in which no step is possible.
    pub stuck: &'a Bits,
    /// States in which every process is at a valid end.
    pub valid_ends: &'a Bits,
    stop: &'a Stop,
    backwards: HashMap<Steps, Csr>,
}

/// What is known of states.
#[derive(Clone, Copy)]
pub struct StateFacts<'a> {
    /// Propositions, by number.
    pub propositions: &'a [Bits],
    /// States in which no step is possible.
    pub stuck: &'a Bits,
    /// States in which every process is at a valid end.
    pub valid_ends: &'a Bits,
}

impl<'a> ExplicitSets<'a> {
    /// Sets over a graph; evaluation is given up when it is to `stop`.
    pub fn new(
        graph: &'a StateGraph,
        classes: &'a dyn StepClass,
        facts: StateFacts<'a>,
        stop: &'a Stop,
    ) -> Self {
        let StateFacts { propositions, stuck, valid_ends } = facts;
        debug_assert!(propositions.iter().all(|set| set.len() == graph.n_states()));
        ExplicitSets { graph, classes, propositions, stuck, valid_ends, stop, backwards: HashMap::new() }
    }

    /// Whether an edge belongs to these steps.
    pub fn is_of(&self, edge: usize, steps: Steps) -> bool {
        steps == Steps::All || self.classes.is_of(self.graph.labels[edge], steps)
    }

    /// Whether a process can move in a state.
    pub fn can_move(&self, state: usize, pid: u32) -> bool {
        let owned = |label: u32| self.classes.owner(label) == pid;
        let cuts = &self.graph.cuts;
        let first = cuts.partition_point(|cut| (cut.state as usize) < state);
        let mut cut = cuts[first..].iter().take_while(|cut| cut.state as usize == state);
        self.graph.edges.row(state).any(|edge| owned(self.graph.labels[edge]))
            || cut.any(|cut| owned(cut.label))
    }

    fn backwards(&mut self, steps: Steps) -> &Csr {
        if !self.backwards.contains_key(&steps) {
            let edges = self.graph.edges.transposed(|edge| self.is_of(edge, steps));
            self.backwards.insert(steps, edges);
        }
        &self.backwards[&steps]
    }

    /// States with an edge for which `wanted` holds.
    fn with_edge(&self, wanted: impl Fn(usize) -> bool) -> Bits {
        let mut found = Bits::none(self.graph.n_states());
        for state in 0..self.graph.n_states() {
            if state % 4096 == 0 {
                self.stop.check();
            }
            if self.graph.edges.row(state).any(&wanted) {
                found.insert(state);
            }
        }
        found
    }

    /// States in which one of these steps is possible, with or without an end.
    fn enabled(&self, steps: Steps) -> Bits {
        let wanted = |label: u32| match steps {
            Steps::Process(pid) => self.classes.owner(label) == pid,
            steps => self.classes.is_of(label, steps),
        };
        if steps == Steps::All {
            return self.stuck.not();
        }
        let mut found = self.with_edge(|edge| wanted(self.graph.labels[edge]));
        for cut in self.graph.cuts.iter().filter(|cut| wanted(cut.label)) {
            found.insert(cut.state as usize);
        }
        found
    }
}

impl Sets for ExplicitSets<'_> {
    type Set = Bits;

    fn all(&mut self) -> Bits {
        Bits::all(self.graph.n_states())
    }

    fn none(&mut self) -> Bits {
        Bits::none(self.graph.n_states())
    }

    fn atom(&mut self, atom: Atom) -> Bits {
        match atom {
            Atom::True => self.all(),
            Atom::Proposition(number) => self.propositions[number as usize].clone(),
            Atom::ValidEnd => self.valid_ends.clone(),
            Atom::Enabled(steps) => self.enabled(steps),
        }
    }

    fn and(&mut self, a: &Bits, b: &Bits) -> Bits {
        a.and(b)
    }

    fn or(&mut self, a: &Bits, b: &Bits) -> Bits {
        a.or(b)
    }

    fn not(&mut self, a: &Bits) -> Bits {
        a.not()
    }

    fn equal(&mut self, a: &Bits, b: &Bits) -> bool {
        self.stop.check();
        a == b
    }

    fn before(&mut self, steps: Steps, to: &Bits) -> Bits {
        let graph = self.graph;
        self.with_edge(|edge| to.has(graph.edges.target(edge as u64) as usize) && self.is_of(edge, steps))
    }

    fn cut(&mut self, steps: Steps) -> Option<Bits> {
        if self.graph.cuts.is_empty() {
            return None;
        }
        let mut found = self.none();
        for cut in &self.graph.cuts {
            if steps == Steps::All || self.classes.is_of(cut.label, steps) {
                found.insert(cut.state as usize);
            }
        }
        Some(found)
    }

    fn reach(&mut self, steps: Steps, within: &Bits, goal: &Bits) -> Bits {
        let stop = self.stop;
        let edges = self.backwards(steps);
        let mut found = goal.clone();
        let mut waiting: Vec<u32> = goal.iter().map(|state| state as u32).collect();
        while let Some(state) = waiting.pop() {
            if state % 4096 == 0 {
                stop.check();
            }
            for &source in edges.targets(state as usize) {
                if within.has(source as usize) && found.insert(source as usize) {
                    waiting.push(source);
                }
            }
        }
        found
    }

    fn enforce(&mut self, steps: Steps, within: &Bits, goal: &Bits) -> Bits {
        let (graph, stop) = (self.graph, self.stop);
        // How many edges of a state lead outside of what was found.
        let count = |state: usize| {
            let row = graph.edges.row(state);
            match steps {
                Steps::All => row.len() as u32,
                _ => row.filter(|&edge| self.is_of(edge, steps)).count() as u32,
            }
        };
        let mut left: Vec<u32> = (0..graph.n_states()).map(count).collect();
        let edges = self.backwards(steps);
        let mut found = goal.clone();
        for state in within.iter().filter(|&state| left[state] == 0) {
            found.insert(state);
        }
        let mut waiting: Vec<u32> = found.iter().map(|state| state as u32).collect();
        while let Some(state) = waiting.pop() {
            if state % 4096 == 0 {
                stop.check();
            }
            for &source in edges.targets(state as usize) {
                let source = source as usize;
                debug_assert!(left[source] > 0, "every edge leads into the set once");
                left[source] -= 1;
                if left[source] == 0 && within.has(source) && found.insert(source) {
                    waiting.push(source as u32);
                }
            }
        }
        found
    }

    /// A component is fair if each process moves in it, or cannot move in one of its states: then a cycle
    /// through all of it is fair. Components are found once, so this is linear in the graph, and in the
    /// processes for each state.
    fn fair(&mut self, n_processes: u32, within: &Bits, ends: &Bits) -> Bits {
        let mut good = within.and(ends);
        let edges = &self.graph.edges;
        let inside =
            |state: usize, edge: usize| within.has(state) && within.has(edges.target(edge as u64) as usize);
        let mut number = vec![u32::MAX; self.graph.n_states()];
        for (component, members) in components_of_all(edges, inside).iter().enumerate() {
            self.stop.check();
            members.iter().for_each(|&member| number[member as usize] = component as u32);
            if within.has(members[0] as usize) && self.is_fair(members, &number, n_processes) {
                members.iter().for_each(|&member| _ = good.insert(member as usize));
            }
        }
        self.reach(Steps::All, within, &good)
    }
}

impl ExplicitSets<'_> {
    /// Whether there is a cycle in a component that serves each process. `number`: the component of a state.
    fn is_fair(&self, members: &[u32], number: &[u32], n_processes: u32) -> bool {
        let (graph, own) = (self.graph, number[members[0] as usize]);
        let stays = |edge: &usize| number[graph.edges.target(*edge as u64) as usize] == own;
        let mut unserved: Vec<u32> = (0..n_processes).collect();
        let mut moves = false;
        for &state in members {
            if moves && unserved.is_empty() {
                break;
            }
            unserved.retain(|&pid| self.can_move(state as usize, pid));
            for edge in graph.edges.row(state as usize).filter(stays) {
                moves = true;
                unserved.retain(|&pid| !self.is_of(edge, Steps::Process(pid)));
            }
        }
        moves && unserved.is_empty()
    }
}
