//! Runs over a stored graph: shortest paths, and cycles in its components, for [`mu::witness`].

use crate::bits::Bits;
use crate::components::components;
use crate::sets::ExplicitSets;
use mu::Steps;
use mu::witness::Runs;
use num_bigint::BigUint;
use search::state_graph::{StateGraph, paths};

/// A run from the initial state.
pub struct ExplicitRun<'a, 's> {
    sets: &'a mut ExplicitSets<'s>,
    graph: &'s StateGraph,
    /// Where it is.
    now: u32,
    /// Its edges.
    pub edges: Vec<u64>,
    /// The position to which it returns from its end, if it goes around.
    pub back_to: Option<usize>,
}

impl<'a, 's> ExplicitRun<'a, 's> {
    /// At its beginning.
    pub fn new(sets: &'a mut ExplicitSets<'s>, graph: &'s StateGraph) -> Self {
        ExplicitRun { sets, graph, now: 0, edges: Vec::new(), back_to: None }
    }

    fn take(&mut self, path: Vec<u64>) {
        self.now = path.last().map_or(self.now, |&edge| self.graph.edges.target(edge));
        self.edges.extend(path);
    }

    /// What a cycle in a component must pass to be fair; `None` where the component has no cycle that is.
    fn requirements(&self, component: &[u32], fair: Option<u32>) -> Option<Vec<Goal>> {
        let edges = &self.graph.edges;
        let members: std::collections::HashSet<u32> = component.iter().copied().collect();
        let inner = || {
            let rows = component.iter().flat_map(|&state| edges.row(state as usize));
            rows.filter(|&edge| members.contains(&edges.target(edge as u64)))
        };
        inner().next()?;
        let mut goals = Vec::new();
        for pid in 0..fair.unwrap_or(0) {
            let moves = inner().find(|&edge| self.sets.is_of(edge, Steps::Process(pid)));
            let waits = component.iter().find(|&&state| !self.sets.can_move(state as usize, pid));
            goals.push(match (waits, moves) {
                (Some(&state), _) => Goal::State(state),
                (None, Some(edge)) => Goal::Edge(edge as u64),
                (None, None) => return None,
            });
        }
        Some(goals)
    }
}

/// What a fair cycle passes.
#[derive(Clone, Copy)]
enum Goal {
    /// A state in which a process cannot move.
    State(u32),
    /// A step of a process.
    Edge(u64),
}

impl<'s> Runs for ExplicitRun<'_, 's> {
    type Sets = ExplicitSets<'s>;

    fn sets(&mut self) -> &mut ExplicitSets<'s> {
        self.sets
    }

    fn initially(&mut self, set: &Bits) -> bool {
        set.has(0)
    }

    fn count(&mut self, set: &Bits) -> BigUint {
        BigUint::from(set.count())
    }

    fn len(&self) -> usize {
        self.edges.len()
    }

    fn is_in(&mut self, set: &Bits) -> bool {
        set.has(self.now as usize)
    }

    fn step(&mut self, steps: Steps, into: &Bits) -> bool {
        let edges = &self.graph.edges;
        let leads = |edge: &usize| into.has(edges.target(*edge as u64) as usize);
        let found = edges.row(self.now as usize).find(|edge| leads(edge) && self.sets.is_of(*edge, steps));
        found.map(|edge| self.take(vec![edge as u64])).is_some()
    }

    fn path(&mut self, within: &Bits, goal: &Bits) -> bool {
        let source = sources(self.graph);
        let may = |edge: u64| within.has(source(edge) as usize);
        let path = paths::shortest(&self.graph.edges, self.now, may, |state| goal.has(state as usize));
        path.map(|path| self.take(path)).is_some()
    }

    fn around(&mut self, inside: &Bits, fair: Option<u32>) {
        let edges = &self.graph.edges;
        let stays = |edge: u64| inside.has(edges.target(edge) as usize);
        // The end of a run that is stuck is repeated, and fair: no process can move.
        let stuck = |state: u32| self.sets.stuck.has(state as usize);
        if let Some(path) = paths::shortest(edges, self.now, stays, stuck) {
            self.take(path);
            return;
        }
        let found = components(edges, inside, self.now);
        let requirements = |component: &[u32]| self.requirements(component, fair);
        let Some((component, goals)) = found.iter().find_map(|c| Some((c, requirements(c)?))) else { return };
        let mut members = Bits::none(self.graph.n_states());
        component.iter().for_each(|&member| _ = members.insert(member as usize));
        let inner = |edge: u64| members.has(edges.target(edge) as usize);
        let path = paths::shortest(edges, self.now, stays, |state| members.has(state as usize));
        self.take(path.unwrap_or_default());
        let (entry, start) = (self.now, self.edges.len());
        self.back_to = Some(start);
        // From goal to goal inside the component, and back to its entry.
        for goal in goals {
            let leg = match goal {
                Goal::Edge(wanted) => paths::along(edges, self.now, inner, |edge| edge == wanted),
                Goal::State(wanted) => paths::shortest(edges, self.now, inner, |state| state == wanted),
            };
            self.take(leg.unwrap_or_default());
        }
        if self.now != entry || start == self.edges.len() {
            let home = |edge: u64| inner(edge) && edges.target(edge) == entry;
            let home = paths::along(edges, self.now, inner, home);
            self.take(home.unwrap_or_default());
        }
    }
}

/// The state that an edge leaves.
fn sources(graph: &StateGraph) -> impl Fn(u64) -> u32 + '_ {
    let edges = &graph.edges;
    move |edge| {
        let (mut low, mut high) = (0, edges.n_rows());
        while high - low > 1 {
            let middle = low.midpoint(high);
            if edges.first(middle) <= edge { low = middle } else { high = middle }
        }
        // Rows without edges begin where the next one does.
        low as u32
    }
}
