//! The successors of a state, on their way through the store.

use crate::expand::{Expander, Expansion};
use crate::outcome::StopReason;
use crate::random::Random;
use std::ops::Range;
use store::Seen;
use system::ActionId;

/// Whether it is worth while to take the last successor of a state for new before the store was asked. If not, that costs an expansion;
/// asking costs waiting.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trust(i32);

impl Trust {
    /// How much of the past counts.
    const MOST: i32 = 16;

    #[inline(always)]
    fn learn(&mut self, new: bool) {
        let change = if new { 1 } else { -2 };
        self.0 = (self.0 + change).clamp(-Self::MOST, Self::MOST);
    }

    #[inline(always)]
    pub fn holds(self) -> bool {
        self.0 >= 0
    }
}

/// The successors of a state: expanded, prepared, approached, and then looked at one by one.
#[derive(Debug)]
pub(crate) struct Fan<T> {
    pub expansion: Expansion,
    /// The order in which edges are pushed: what comes last is tried first.
    pub order: Vec<usize>,
    /// What the store made of them.
    pub tickets: Vec<T>,
    /// The second stride is done.
    pub approached: bool,
    /// Steps from the beginning to the state.
    pub depth: u64,
    /// Its place in the order of the state before, where it was expanded in advance.
    pub place: usize,
    /// The actions of edges that are not single steps, one after another, where each ends, and the first of these edges: the expander
    /// knows them only as long as it expands nothing else.
    actions: Vec<ActionId>,
    ends: Vec<usize>,
    first: usize,
}

impl<T> Default for Fan<T> {
    fn default() -> Self {
        Fan {
            expansion: Expansion::default(),
            order: Vec::new(),
            tickets: Vec::new(),
            approached: false,
            depth: 0,
            place: 0,
            actions: Vec::new(),
            ends: Vec::new(),
            first: 0,
        }
    }
}

impl<T: Copy> Fan<T> {
    /// Puts some edges of the state that was expanded last in order and has them looked up, up to the first stride.
    pub fn prepare<S: Seen<Ticket = T>>(
        &mut self,
        edges: Range<usize>,
        random: Option<&mut Random>,
        hidden: usize,
        expander: &Expander<'_>,
        store: &mut S,
    ) -> Result<(), StopReason> {
        if !self.expansion.is_plain() {
            self.note_actions(edges.clone(), expander);
        }
        let Fan { expansion, order, tickets, .. } = self;
        order.clear();
        order.extend(edges.rev());
        if let Some(random) = random {
            random.shuffle(order);
        }
        tickets.clear();
        let keys = order.iter().map(|&i| {
            let state = expansion.state(&expansion.edges()[i]);
            &state[..state.len().saturating_sub(hidden)]
        });
        self.approached = false;
        store.prepare_all(keys, tickets).map_err(|_| StopReason::MemoryLimit)
    }

    fn note_actions(&mut self, edges: Range<usize>, expander: &Expander<'_>) {
        self.first = edges.start;
        self.actions.clear();
        self.ends.clear();
        for edge in &self.expansion.edges()[edges] {
            expander.actions(edge, &mut self.actions);
            self.ends.push(self.actions.len());
        }
    }

    /// The actions of an edge that was prepared.
    #[inline(always)]
    pub fn actions(&self, edge: usize) -> &[ActionId] {
        if self.expansion.is_plain() {
            return std::slice::from_ref(&self.expansion.edges()[edge].action);
        }
        let at = edge - self.first;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.actions[start..self.ends[at]]
    }

    /// The second stride, which shows how well the first one is to be trusted.
    #[inline]
    pub fn approach<S: Seen<Ticket = T>>(&mut self, store: &S, trust: &mut Trust) {
        if !std::mem::replace(&mut self.approached, true) {
            store.approach_all(&mut self.tickets);
            if let Some(&last) = self.tickets.last() {
                trust.learn(!store.seems_known(last));
            }
        }
    }

    /// The place of the successor that will be tried first, as far as can be told.
    #[inline]
    pub fn favourite<S: Seen<Ticket = T>>(&self, store: &S) -> Option<usize> {
        self.tickets.iter().rposition(|&ticket| !store.seems_known(ticket))
    }
}
