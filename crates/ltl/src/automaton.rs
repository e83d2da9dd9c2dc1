//! The frozen automaton that products use: flat arrays, guards as cubes of literals.
//!
//! Acceptance is generalised and on edges: a run is accepted when it takes edges with mark `i` infinitely
//! often for every `i < n_marks`. With one mark on all edges of some states and on no others it is an
//! ordinary Büchi automaton ([`Automaton::is_state_based`]). A state may have no edge for a valuation: such a
//! run is rejected.

pub use crate::bdd::Cube;
use crate::scc::{Parts, Worth, parts};
pub use crate::tgba::Marks;
use crate::tgba::{Tgba, all_marks};
use std::ops::Range;

/// The number of a state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct StateId(pub u32);

impl StateId {
    /// As an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An edge: taken when the valuation is in one of its cubes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// Where it leads.
    pub target: StateId,
    /// The acceptance marks that taking it earns.
    pub marks: Marks,
    cubes: Range<u32>,
}

/// How much a search has to do to find an accepted run, from least to most.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Strength {
    /// Who enters an accepting component has won: whatever comes is accepted. Reachability is enough.
    Terminal,
    /// Every component accepts all its cycles or none: one search for a cycle is enough.
    Weak,
    /// Anything.
    Strong,
}

/// What a component of the automaton is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Component {
    /// No accepted run stays in it.
    Rejecting,
    /// All runs that stay in it are accepted, and every valuation has an edge that stays.
    Terminal,
    /// All runs that stay in it are accepted.
    Weak,
    /// Some cycles are accepting, some are not.
    Strong,
}

/// A Büchi automaton over numbered propositions.
#[derive(Clone, Debug)]
pub struct Automaton {
    /// Propositions are numbered from 0 and fewer than this (at most 64).
    pub n_props: u32,
    /// Acceptance marks are numbered from 0 and fewer than this (at most 64).
    pub n_marks: u32,
    /// Where runs begin.
    pub initial: StateId,
    /// The strongest component.
    pub strength: Strength,
    /// Whether acceptance is known not to depend on how often a valuation is repeated.
    pub stutter_invariant: bool,
    /// Whether every valuation permits at most one edge of a state: then a history of the system meets one
    /// state only.
    pub deterministic: bool,
    /// The component of each state. Edges never lead to a component with a larger number.
    pub component_of: Vec<u32>,
    /// What each component is.
    pub components: Vec<Component>,
    states: Vec<Range<u32>>,
    edges: Vec<Edge>,
    cubes: Vec<Cube>,
}

impl Automaton {
    /// How many states there are; they are numbered from 0.
    pub fn n_states(&self) -> usize {
        self.states.len()
    }

    /// How many edges there are.
    pub fn n_edges(&self) -> usize {
        self.edges.len()
    }

    /// All states.
    pub fn states(&self) -> impl Iterator<Item = StateId> + use<> {
        (0..self.states.len() as u32).map(StateId)
    }

    /// The edges of a state.
    #[inline]
    pub fn edges(&self, state: StateId) -> &[Edge] {
        let range = &self.states[state.index()];
        &self.edges[range.start as usize..range.end as usize]
    }

    /// The guard of an edge: one of these cubes must contain the valuation.
    #[inline]
    pub fn cubes(&self, edge: &Edge) -> &[Cube] {
        &self.cubes[edge.cubes.start as usize..edge.cubes.end as usize]
    }

    /// The edges of a state that a valuation (bit `i` is proposition `i`) permits.
    #[inline]
    pub fn successors(&self, state: StateId, valuation: u64) -> impl Iterator<Item = &Edge> {
        self.edges(state).iter().filter(move |e| self.cubes(e).iter().any(|c| c.contains(valuation)))
    }

    /// All marks: what an accepted cycle collects.
    pub fn all_marks(&self) -> Marks {
        all_marks(self.n_marks)
    }

    /// What the component of a state is.
    #[inline]
    pub fn component(&self, state: StateId) -> Component {
        self.components[self.component_of[state.index()] as usize]
    }

    /// Whether the automaton is an ordinary Büchi automaton: one mark, on all edges of a state or on none.
    pub fn is_state_based(&self) -> bool {
        let uniform = |s: StateId| self.edges(s).windows(2).all(|w| w[0].marks == w[1].marks);
        self.n_marks == 1 && self.states().all(uniform)
    }

    /// Whether a state of a state-based automaton is accepting.
    pub fn is_accepting(&self, state: StateId) -> bool {
        self.n_marks == 1 && self.edges(state).first().is_some_and(|e| e.marks == 1)
    }

    /// Whether nothing is accepted: then a check of the negated formula needs no search.
    pub fn is_empty(&self) -> bool {
        self.components.iter().all(|c| *c == Component::Rejecting)
    }

    pub(crate) fn freeze(tgba: &mut Tgba, n_props: u32, stutter_invariant: bool) -> Automaton {
        let Parts { components, worth } = parts(tgba);
        let mut kinds = Vec::new();
        for (number, worth) in worth.iter().enumerate() {
            kinds.push(match worth {
                Worth::Rejecting => Component::Rejecting,
                Worth::Mixed => Component::Strong,
                Worth::Accepting => {
                    let complete = components.members[number].iter().all(|s| tgba.stays(*s, &components.of));
                    if complete { Component::Terminal } else { Component::Weak }
                }
            });
        }
        let strength = if kinds.contains(&Component::Strong) {
            Strength::Strong
        } else if kinds.contains(&Component::Weak) {
            Strength::Weak
        } else {
            Strength::Terminal
        };
        let mut frozen = Automaton {
            n_props,
            n_marks: tgba.n_marks,
            initial: StateId(tgba.initial as u32),
            strength,
            stutter_invariant,
            deterministic: tgba.is_deterministic(),
            component_of: components.of.iter().map(|c| *c as u32).collect(),
            components: kinds,
            states: Vec::new(),
            edges: Vec::new(),
            cubes: Vec::new(),
        };
        for edges in &tgba.states {
            let first = frozen.edges.len() as u32;
            for edge in edges {
                let start = frozen.cubes.len() as u32;
                frozen.cubes.extend(tgba.bdds.cubes(edge.guard));
                let cubes = start..frozen.cubes.len() as u32;
                frozen.edges.push(Edge { target: StateId(edge.target as u32), marks: edge.marks, cubes });
            }
            frozen.states.push(first..frozen.edges.len() as u32);
        }
        frozen
    }
}
