//! What expanding states gave: edges, what is wrong on the way, and what a reduction left out.

use crate::atomic_run::ROOM;
use crate::edge::{Edge, Edges};
use crate::marks::MissingMarks;
use system::{ActionId, Annotation, Fault, Successor, Successors};

/// An error on a step.
#[derive(Debug)]
pub struct StepFault {
    /// What is wrong.
    pub fault: Fault,
    /// The actions from the expanded state, the faulting one included.
    pub actions: Vec<ActionId>,
    /// The step could not be completed: the path ends there.
    pub cut: bool,
}

/// What expanding states gave; the buffers are reused. Edges are appended, the rest is about the state
/// expanded last.
#[derive(Debug, Default)]
pub struct Expansion {
    /// Errors on the way.
    pub faults: Vec<StepFault>,
    /// No action is enabled.
    pub stuck: bool,
    /// Something was left out because of the depth limit.
    pub cut: bool,
    /// The processes that can move, if they are to be noted: see [`crate::marks::process_bit`].
    pub enabled: MissingMarks,
    /// The actions to a transient state on a cycle of transient states.
    pub atomic_loop: Option<Vec<ActionId>>,
    /// What was not chosen; nothing when nothing was left out.
    pub rest: Rest,
    /// The edges are in the order of a choice: first those that were chosen.
    pub reordered: bool,
    /// Phase 1 ended in a state that was known, or did not end: nothing was expanded.
    pub known: bool,
    /// A step could not be completed.
    pub(super) lost: bool,
    /// Outcomes that were put aside.
    pub(super) aside: Vec<Successor>,
    /// Outcomes as the machine writes them; between expansions the list holds the records of edges.
    pub(super) outcomes: Successors,
    /// The records of edges while atomic sequences are being closed; otherwise a buffer.
    pub(super) closed: Vec<Successor>,
    /// For each edge the annotation of the state that it leads to; nothing, unless the search is lean.
    pub(super) annotations: Vec<Annotation>,
    /// The number of edges of processes that sleep in the state that was expanded last.
    pub slept: u64,
}

/// Outcomes of actions that were enabled and not chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    pub(super) first: u32,
    pub(super) end: u32,
}

impl Rest {
    /// Whether nothing was left out.
    pub fn is_empty(self) -> bool {
        self.first == self.end
    }

    /// How many actions were left out.
    pub fn len(self) -> u32 {
        self.end - self.first
    }
}

impl Expansion {
    /// Steps to ordinary states.
    #[inline(always)]
    pub fn edges(&self) -> Edges<'_> {
        Edges::of_records(&self.outcomes.list)
    }

    /// The step with this number.
    #[inline(always)]
    pub fn edge(&self, number: usize) -> Edge {
        Edge::of_record(&self.outcomes.list[number])
    }

    /// The state that an edge leads to.
    #[inline(always)]
    pub fn state(&self, edge: Edge) -> &[u8] {
        &self.outcomes.bytes[edge.bytes()]
    }

    /// The state that the edge with this number leads to.
    #[inline(always)]
    pub fn target(&self, edge: usize) -> &[u8] {
        self.state(self.edge(edge))
    }

    /// The annotation of the state that the edge with this number leads to.
    #[inline(always)]
    pub fn annotation(&self, edge: usize) -> Annotation {
        self.annotations.get(edge).copied().unwrap_or_default()
    }

    /// Makes room for what a few states lead to. A closure may be large, so that its growth must be an
    /// answer.
    pub(super) fn make_room(&mut self) -> Result<(), std::collections::TryReserveError> {
        self.closed.try_reserve(ROOM)?;
        self.outcomes.list.try_reserve(ROOM)?;
        self.outcomes.bytes.try_reserve(64 * ROOM)
    }

    /// Forgets the edges, keeps the memory.
    pub fn clear(&mut self) {
        self.outcomes.clear();
        self.annotations.clear();
        self.aside.clear();
    }

    /// Adds a step from `state` to itself that repeats it.
    pub fn repeat(&mut self, state: &[u8]) {
        let start = self.outcomes.bytes.len() as u32;
        self.outcomes.bytes.extend_from_slice(state);
        let len = state.len() as u32;
        self.outcomes.list.push(Edge::single(ActionId::STUTTER, start, len).record());
    }

    /// Whether all edges are single steps for certain.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        !self.outcomes.unusual
    }

    /// Whether there was an error on the way, or an endless atomic sequence.
    #[inline(always)]
    pub fn shows_something(&self) -> bool {
        !self.faults.is_empty() || self.atomic_loop.is_some()
    }

    #[inline(always)]
    pub(super) fn begin(&mut self) {
        self.enabled = 0;
        self.stuck = false;
        if self.shows_something() {
            self.faults.clear();
            self.atomic_loop = None;
        }
        self.cut = false;
        self.rest = Rest::default();
        self.reordered = false;
        self.known = false;
        self.lost = false;
        self.outcomes.unusual = false;
    }

    /// Puts outcomes back that were put aside; says where they begin.
    pub(super) fn take_back(&mut self, rest: Rest) -> usize {
        let at = self.outcomes.list.len();
        self.outcomes.list.extend_from_slice(&self.aside[rest.first as usize..rest.end as usize]);
        at
    }

    /// Keeps those of the edges from `first` on for which `keep` says so, which is told the place of each among
    /// them, the state that it leads to, and the annotation of that.
    pub(crate) fn retain<E>(
        &mut self,
        first: usize,
        mut keep: impl FnMut(u32, &[u8], Annotation) -> Result<bool, E>,
    ) -> Result<(), E> {
        debug_assert!(self.annotations.is_empty() || self.annotations.len() == self.outcomes.list.len());
        let mut kept = first;
        for at in first..self.outcomes.list.len() {
            let (record, annotation) = (self.outcomes.list[at], self.annotation(at));
            if !keep((at - first) as u32, self.target(at), annotation)? {
                continue;
            }
            self.outcomes.list[kept] = record;
            if let Some(place) = self.annotations.get_mut(kept) {
                *place = annotation;
            }
            kept += 1;
        }
        self.outcomes.list.truncate(kept);
        self.annotations.truncate(kept);
        Ok(())
    }

    /// The last ones of the edges from `first` on come first.
    pub(super) fn turn_round(&mut self, first: usize) {
        self.outcomes.list[first..].reverse();
        self.annotations[first..].reverse();
    }

    pub(super) fn memory(&self) -> u64 {
        let records = self.closed.capacity() + self.outcomes.list.capacity() + self.aside.capacity();
        (self.outcomes.bytes.capacity() + records * size_of::<Successor>()) as u64
    }
}
