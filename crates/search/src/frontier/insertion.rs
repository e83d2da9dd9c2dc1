//! Insertion: the successors of a batch go into the store, and those that are new join the queue.
//!
//! Mostly all successors are inserted together. They are inserted state by state where what was new before
//! matters: for a proviso, near the limit on states, in random order, and where levels are single steps.

use super::batch::{Batch, Parent};
use super::{Frontier, Levels};
use crate::edge_number::EdgeOrder;
use crate::expand::{Expansion, Rest};
use crate::outcome::{StopReason, no_memory};
use crate::queue::Queue;
use crate::state_key::key;
use std::ops::Range;
use store::{Batched, Full};
use system::Annotation;

impl<S: Batched, Q: Queue<S>> Frontier<'_, S, Q> {
    /// Inserts the successors of a batch; those that are new join the queue.
    pub(super) fn insert_batch(&mut self, batch: &mut Batch<S::Ticket, S::Name>) -> Result<(), StopReason> {
        if let Some(expanded) = &mut self.expanded {
            expanded.note_all(&batch.hashes);
        }
        // Far from the limit nothing is to be watched.
        let most = || self.store.n_keys() + batch.expansion.edges().len() as u64;
        let is_near = self.limited && self.budget.states_spent(most());
        let one_by_one = self.proviso || is_near || self.random.is_some();
        if !one_by_one && self.levels == Levels::Edges {
            return self.insert_together(batch);
        }
        debug_assert!(self.away.is_none(), "searches by several processes insert together");
        self.store.probe_all(&mut batch.tickets);
        let mut first = 0;
        for at in 0..batch.parents.len() {
            let Parent { end, order, rest } = batch.parents[at];
            let range = first..end as usize;
            first = range.end;
            let (followed, known) = (range.len() as u32, self.ancestry.found_so_far());
            match &mut self.random {
                None => self.insert_edges(batch, range, order)?,
                Some(random) => {
                    batch.order.clear();
                    batch.order.extend(0..range.len() as u32);
                    random.shuffle(&mut batch.order);
                    self.insert_shuffled(batch, range.start, order)?;
                }
            }
            if !rest.is_empty() {
                let enough = !self.proviso
                    || self.ancestry.found_so_far() != known
                    || self.one_waits(batch, first - followed as usize..first);
                match enough {
                    true => self.statistics.reduced += 1,
                    false => self.insert_rest(batch, rest, followed, order)?,
                }
            }
            self.ancestry.expanded().map_err(no_memory)?;
        }
        Ok(())
    }

    /// Inserts the successors of a batch where nothing depends on what was new before.
    fn insert_together(&mut self, batch: &mut Batch<S::Ticket, S::Name>) -> Result<(), StopReason> {
        let Batch { expansion, parents, tickets, new, .. } = batch;
        new.clear();
        let hidden = self.hidden;
        let keys = expansion.edges().iter().map(|edge| {
            let state = expansion.state(edge);
            key(state, hidden)
        });
        let inserted = self.store.insert_all(keys, tickets, new);
        let mut tried = tickets.len() as u64;
        if inserted.is_err() {
            tried = new.last().map_or(0, |&(at, _)| u64::from(at) + 1);
        }
        self.statistics.transitions += tried;
        self.statistics.matched += tried - new.len() as u64;
        // In this order: others may take what is in the queue.
        let found = new.iter().map(|new| new.0);
        match &self.away {
            None => {
                let parents = parents.iter().map(|parent| (parent.end, parent.order));
                self.ancestry.expanded_all(parents, found)
            }
            Some(away) => self.ancestry.expanded_numbered(
                parents.iter().map(|parent| parent.end),
                found,
                away.numbers(),
            ),
        }
        .map_err(no_memory)?;
        if let Some(log) = &mut self.log {
            for &(number, _) in new.iter() {
                let state = expansion.target(number as usize);
                log.add(state, expansion.annotation(number as usize));
            }
        }
        let states = new.iter().map(|&(number, name)| {
            let state: &[u8] = if Q::WHOLE { expansion.target(number as usize) } else { &[] };
            (name, state, expansion.annotation(number as usize))
        });
        self.queue.push_all(states).map_err(no_memory)?;
        inserted.map_err(|Full| StopReason::MemoryLimit)
    }

    /// Whether one of the edges leads to a state that has surely not been expanded. (It waits, or it will.)
    fn one_waits(&self, batch: &Batch<S::Ticket, S::Name>, edges: Range<usize>) -> bool {
        let Some(expanded) = &self.expanded else { return false };
        batch.expansion.edges().range(edges).iter().any(|edge| {
            let state = batch.expansion.state(edge);
            !expanded.may_hold(store::hash::hash(key(state, self.hidden)))
        })
    }

    /// Expands and inserts what was left out of a state of the batch, of which `followed` edges were
    /// followed.
    #[cold]
    fn insert_rest(
        &mut self,
        batch: &mut Batch<S::Ticket, S::Name>,
        rest: Rest,
        followed: u32,
        order: EdgeOrder,
    ) -> Result<(), StopReason> {
        let expansion = &mut batch.expansion;
        let first = expansion.edges().len();
        let expanded = self.expander.expand_rest(rest, self.depth, &mut self.budget, expansion);
        self.judge_steps(self.ancestry.parent(), expansion)?;
        expanded?;
        for (i, edge) in expansion.edges().from(first).iter().enumerate() {
            let state = expansion.state(edge);
            let key = key(state, self.hidden);
            let mut ticket = self.store.hash(key).map_err(|_| StopReason::MemoryLimit)?;
            self.store.probe(&mut ticket);
            self.statistics.transitions += 1;
            let is_new = self.reach(expansion, first + i, ticket, order.encode(followed + i as u32))?;
            self.statistics.matched += u64::from(!is_new);
        }
        Ok(())
    }

    /// Follows the edges of one state.
    #[inline(never)]
    fn insert_edges(
        &mut self,
        batch: &Batch<S::Ticket, S::Name>,
        range: Range<usize>,
        order: EdgeOrder,
    ) -> Result<(), StopReason> {
        let (mut tried, mut matched) = (0u32, 0u64);
        let mut result = Ok(());
        for at in range {
            let number = order.encode(tried);
            tried += 1;
            match self.reach(&batch.expansion, at, batch.tickets[at], number) {
                Ok(true) => {}
                Ok(false) => matched += 1,
                Err(stop) => {
                    result = Err(stop);
                    break;
                }
            }
        }
        self.statistics.transitions += u64::from(tried);
        self.statistics.matched += matched;
        result
    }

    /// Follows the edges of one state, the first of which stands at this place, in the order that the batch
    /// says.
    fn insert_shuffled(
        &mut self,
        batch: &Batch<S::Ticket, S::Name>,
        first: usize,
        order: EdgeOrder,
    ) -> Result<(), StopReason> {
        for &number in &batch.order {
            let at = first + number as usize;
            self.statistics.transitions += 1;
            let is_new = self.reach(&batch.expansion, at, batch.tickets[at], order.encode(number))?;
            self.statistics.matched += u64::from(!is_new);
        }
        Ok(())
    }

    /// Follows the edge at this place, which has this number among the edges of its state. True unless it led
    /// to a known state.
    #[inline(always)]
    fn reach(
        &mut self,
        expansion: &Expansion,
        at: usize,
        ticket: S::Ticket,
        number: u32,
    ) -> Result<bool, StopReason> {
        let edge = expansion.edge(at);
        let state = expansion.state(edge);
        if self.levels == Levels::Steps && edge.n_actions() > 1 {
            let parent = self.ancestry.parent();
            self.buckets.push(edge.n_actions(), parent, number, state).map_err(no_memory)?;
            return Ok(true);
        }
        let Some(name) = self.insert(state, ticket)? else { return Ok(false) };
        // In this order: others may take what is in the queue.
        self.ancestry.found(number).map_err(no_memory)?;
        if let Some(log) = &mut self.log {
            log.add(state, expansion.annotation(at));
        }
        self.queue.push(name, state, expansion.annotation(at)).map_err(no_memory)?;
        Ok(true)
    }

    /// Inserts a state, unless it is new and there are as many as there may be.
    #[inline(always)]
    fn insert(&mut self, state: &[u8], ticket: S::Ticket) -> Result<Option<S::Name>, StopReason> {
        let key = key(state, self.hidden);
        if self.limited && self.budget.states_spent(self.store.n_keys()) && !self.store.contains(key, ticket)
        {
            return Err(StopReason::StateLimit);
        }
        self.store.insert(key, ticket).map_err(|_| StopReason::MemoryLimit)
    }

    /// Inserts the states that were waiting for this level.
    pub fn insert_bucket(&mut self) -> Result<(), StopReason> {
        let mut bucket = self.buckets.next_level();
        while let Some((parent, number, state)) = bucket.next()? {
            let key = key(state, self.hidden);
            let ticket = self.store.hash(key).map_err(|_| StopReason::MemoryLimit)?;
            match self.insert(state, ticket)? {
                Some(name) => {
                    self.ancestry.found_apart(parent, number).map_err(no_memory)?;
                    self.queue.push(name, state, Annotation::NONE).map_err(no_memory)?;
                }
                None => self.statistics.matched += 1,
            }
        }
        Ok(())
    }
}
