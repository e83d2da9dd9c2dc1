//! A batch: states that are expanded together, and their successors on the way to the store.

use super::Frontier;
use crate::edge_number::EdgeOrder;
use crate::expand::{Expansion, Rest};
use crate::outcome::StopReason;
use crate::phase1::store_aside;
use crate::queue::Queue;
use crate::state_key::key;
use store::Batched;
use system::Annotation;

/// States that are expanded together.
const BATCH: usize = 32;
/// Edges after which a batch is closed, however few states it has.
const MANY_EDGES: usize = 1024;

/// States that are expanded together, and what came of it.
#[derive(Debug)]
pub(crate) struct Batch<T, N> {
    /// The state that was taken from the queue last.
    state: Vec<u8>,
    /// Its annotation.
    annotation: Annotation,
    /// The edges of all who slept.
    slept: u64,
    pub(super) expansion: Expansion,
    /// The states.
    pub(super) parents: Vec<Parent>,
    /// For each state its hash, where somebody asks.
    pub(super) hashes: Vec<u64>,
    /// For each edge, what the store made of it.
    pub(super) tickets: Vec<T>,
    /// The order in which the edges of one state are inserted, if it is a random one.
    pub(super) order: Vec<u32>,
    /// Which edges led to new states, and what the store calls these.
    pub(super) new: Vec<(u32, N)>,
}

/// A state that was expanded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parent {
    /// Where its edges end.
    pub end: u32,
    /// How they are numbered.
    pub order: EdgeOrder,
    /// What was left out.
    pub rest: Rest,
}

impl<T, N> Default for Batch<T, N> {
    fn default() -> Self {
        Batch {
            state: Vec::new(),
            annotation: Annotation::NONE,
            slept: 0,
            expansion: Expansion::default(),
            parents: Vec::with_capacity(BATCH),
            hashes: Vec::new(),
            tickets: Vec::new(),
            order: Vec::new(),
            new: Vec::new(),
        }
    }
}

impl<S: Batched, Q: Queue<S>> Frontier<'_, S, Q> {
    /// Expands as many states as are waiting now.
    pub fn expand_waiting(&mut self, batch: &mut Batch<S::Ticket, S::Name>) -> Result<(), StopReason> {
        let mut left = self.queue.waiting();
        if left > 0 {
            self.statistics.depth = self.statistics.depth.max(self.depth);
        }
        while left > 0 {
            left -= self.expand_next(left, batch)?;
        }
        Ok(())
    }

    /// Expands up to `most` waiting states; says how many.
    pub(crate) fn expand_next(
        &mut self,
        most: u64,
        batch: &mut Batch<S::Ticket, S::Name>,
    ) -> Result<u64, StopReason> {
        if self.log.is_some() {
            self.marker.mark(&self.ancestry, self.statistics, &self.found);
        }
        let expanded = self.expand_batch(most, batch)?;
        self.insert_batch(batch)?;
        Ok(expanded)
    }

    /// Takes up to `most` states from the queue, judges and expands them and prepares their successors; says
    /// how many.
    pub(super) fn expand_batch(
        &mut self,
        most: u64,
        batch: &mut Batch<S::Ticket, S::Name>,
    ) -> Result<u64, StopReason> {
        batch.expansion.clear();
        batch.parents.clear();
        batch.hashes.clear();
        batch.tickets.clear();
        if let Some(away) = &mut self.away {
            away.begin_batch();
        }
        if self.budget.tick_for(BATCH as u32)? {
            self.look()?;
        }
        self.expander.look_for_loops(!self.found.knows_atomic_loop());
        let expanded = self.expand_states(most.min(BATCH as u64) as usize, batch);
        let slept = std::mem::take(&mut batch.slept);
        self.statistics.transitions += slept;
        self.statistics.slept += slept;
        self.statistics.matched += slept;
        expanded?;
        self.finish(batch)?;
        Ok(batch.parents.len() as u64)
    }

    #[inline(always)]
    fn expand_states(
        &mut self,
        most: usize,
        batch: &mut Batch<S::Ticket, S::Name>,
    ) -> Result<(), StopReason> {
        while batch.parents.len() < most && batch.expansion.edges().len() < MANY_EDGES {
            batch.state.clear();
            match self.queue.pop(self.store, &mut batch.state) {
                Some(annotation) => batch.annotation = annotation,
                // No more are taken than wait.
                None => return Err(StopReason::Disk),
            }
            self.expand_one(batch)?;
            let Expansion { rest, reordered, .. } = batch.expansion;
            let order = EdgeOrder::new(self.reorders, reordered || !batch.annotation.is_none());
            if self.away.is_some() {
                self.send_away(batch, order)?;
            }
            if S::INCREMENTAL {
                self.plan(batch)?;
            }
            batch.parents.push(Parent { end: batch.expansion.edges().len() as u32, order, rest });
        }
        Ok(())
    }

    /// Takes those edges of the state that was expanded last out of the batch whose ends belong to other
    /// processes. They count here as steps to known states; who takes them in corrects that.
    #[inline(never)]
    fn send_away(
        &mut self,
        batch: &mut Batch<S::Ticket, S::Name>,
        order: EdgeOrder,
    ) -> Result<(), StopReason> {
        let Some(away) = &mut self.away else { return Ok(()) };
        let first = batch.parents.last().map_or(0, |parent| parent.end as usize);
        let parent = self.ancestry.parent() + batch.parents.len() as u64;
        let sent = away.sort_out(&mut batch.expansion, first, (parent, order), self.depth + 1)?;
        self.statistics.transitions += sent;
        self.statistics.matched += sent;
        Ok(())
    }

    /// Has the store plan the look-ups of those edges for which it has not.
    #[inline]
    fn plan(&mut self, batch: &mut Batch<S::Ticket, S::Name>) -> Result<(), StopReason> {
        let Batch { expansion, tickets, .. } = batch;
        let hidden = self.hidden;
        let keys = expansion.edges().from(tickets.len()).iter().map(|edge| {
            let state = expansion.state(edge);
            key(state, hidden)
        });
        self.store.plan_all(keys, tickets).map_err(|_| StopReason::MemoryLimit)
    }

    /// Finishes the plans of all edges, those of all states together.
    #[inline]
    fn finish(&mut self, batch: &mut Batch<S::Ticket, S::Name>) -> Result<(), StopReason> {
        self.plan(batch)?;
        let Batch { expansion, tickets, .. } = batch;
        let key = |at: usize| {
            let state = expansion.target(at);
            key(state, self.hidden)
        };
        self.store.finish_all(key, tickets).map_err(|_| StopReason::MemoryLimit)
    }

    #[inline]
    fn expand_one(&mut self, batch: &mut Batch<S::Ticket, S::Name>) -> Result<(), StopReason> {
        let Batch { state, annotation, slept, expansion, parents, hashes, .. } = batch;
        if self.expanded.is_some() {
            hashes.push(store::hash::hash(key(state, self.hidden)));
        }
        if state.len() as u64 > self.statistics.vector_bytes {
            self.statistics.vector_bytes = state.len() as u64;
        }
        let ordinal = self.ancestry.parent() + parents.len() as u64;
        let expanded = if self.twophase {
            self.expand_behind_phase1(state, expansion)
        } else if self.lean {
            let expanded =
                self.expander.expand_active(state, *annotation, self.depth, &mut self.budget, expansion);
            *slept += expansion.slept;
            expanded
        } else {
            self.expander.expand(state, self.depth, &mut self.budget, expansion)
        };
        if expansion.known {
            return expanded;
        }
        // An error counts also beside a step that was cut short.
        self.judge(ordinal, state, expansion)?;
        expanded
    }

    /// Runs phase 1 and expands its end, unless that is known; stores the end and what is to be saved.
    #[cold]
    fn expand_behind_phase1(
        &mut self,
        state: &mut Vec<u8>,
        expansion: &mut Expansion,
    ) -> Result<(), StopReason> {
        let first = expansion.edges().len();
        let limit = self.budget.limits().states;
        let (store, hidden) = (&mut *self.store, self.hidden);
        let mut known = |end: &[u8]| store_aside(store, hidden, limit, end).map(|is_new| !is_new);
        let expanded =
            self.expander.expand_unless(state, self.depth, &mut self.budget, expansion, &mut known);
        let Some(phase1) = self.expander.phase1() else { return expanded };
        if expanded.is_err() {
            state.clear();
            state.extend_from_slice(phase1.end());
            return expanded;
        }
        let mut lookups = u64::from(phase1.end() != state.as_slice());
        for saved in phase1.saved() {
            store_aside(self.store, self.hidden, limit, saved)?;
            lookups += 1;
        }
        self.statistics.transitions += phase1.steps();
        let edges = (expansion.edges().len() - first) as u64;
        *self.statistics.lookups.get_or_insert(1) += lookups + edges;
        self.statistics.matched += u64::from(expansion.known);
        state.clear();
        state.extend_from_slice(phase1.end());
        Ok(())
    }
}
