//! The successors of a state, on their way through the store.

use crate::atomic_run::AtomicRun;
use crate::expand::{Edge, Expander, Expansion};
use crate::outcome::StopReason;
use crate::random::Random;
use crate::state_key::key;
use std::ops::Range;
use store::Batched;
use system::ActionId;

/// Predicts whether the last successor of a state is new before the store was asked: a saturating counter, as
/// processors have for branches. A wrong guess costs an expansion; asking costs waiting for memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NewnessPredictor(i32);

impl NewnessPredictor {
    /// How much of the past counts.
    const MOST: i32 = 16;

    #[inline(always)]
    fn observe(&mut self, new: bool) {
        // One wrong guess weighs more than a right one: an expansion in vain costs more than the wait.
        let change = if new { 1 } else { -4 };
        self.0 = (self.0 + change).clamp(-Self::MOST, Self::MOST);
    }

    #[inline(always)]
    pub fn predicts_new(self) -> bool {
        self.0 >= 0
    }
}

/// Memory for this number of successors is not kept for much fewer.
const LARGE: usize = 1 << 14;

/// The successors of a state: expanded, prepared, probed, and then looked at one by one.
#[derive(Debug)]
pub(crate) struct SuccessorBatch<T> {
    pub expansion: Expansion,
    /// The edges that were prepared.
    pub edges: Range<usize>,
    /// The order in which they are pushed, what comes last is tried first; nothing if it is the reverse of
    /// their own.
    order: Vec<usize>,
    /// What the store made of them, in this order.
    pub tickets: Vec<T>,
    /// The second stride is done.
    pub probed: bool,
    /// Steps from the beginning to the state.
    pub depth: u64,
    /// Its place in the order of the state before, where it was expanded in advance.
    pub place: usize,
    /// The atomic sequences that edges consist of.
    run: AtomicRun,
}

impl<T> Default for SuccessorBatch<T> {
    fn default() -> Self {
        SuccessorBatch {
            expansion: Expansion::default(),
            edges: 0..0,
            order: Vec::new(),
            tickets: Vec::new(),
            probed: false,
            depth: 0,
            place: 0,
            run: AtomicRun::default(),
        }
    }
}

impl<T: Copy> SuccessorBatch<T> {
    /// Puts some edges of the state that was expanded last in order and has them looked up, up to the first
    /// stride.
    pub fn prepare<S: Batched<Ticket = T>>(
        &mut self,
        edges: Range<usize>,
        random: Option<&mut Random>,
        hidden: usize,
        store: &mut S,
    ) -> Result<(), StopReason> {
        self.edges = edges.clone();
        self.probed = false;
        self.tickets.clear();
        let (expansion, tickets) = (&self.expansion, &mut self.tickets);
        let edges = expansion.edges().range(edges);
        let key = |edge: Edge| key(expansion.state(edge), hidden);
        let prepared = match random {
            None => store.hash_all(edges.iter().rev().map(key), tickets),
            Some(random) => {
                self.order.clear();
                self.order.extend(self.edges.clone().rev());
                random.shuffle(&mut self.order);
                store.hash_all(self.order.iter().map(|&i| key(expansion.edge(i))), tickets)
            }
        };
        prepared.map_err(|_| StopReason::MemoryLimit)
    }

    /// The number of the edge at this place of the order.
    #[inline(always)]
    pub fn number(&self, place: usize) -> usize {
        match self.order.get(place) {
            Some(&number) => number,
            None => self.edges.end - 1 - place,
        }
    }

    /// Keeps what edges consist of: the expander knows it only as long as it expands nothing else.
    #[inline]
    pub fn keep_run(&mut self, expander: &mut Expander<'_>) {
        if !self.expansion.is_plain() {
            expander.swap_run(&mut self.run);
        }
    }

    /// Appends the actions of an edge, if what it consists of was kept.
    #[inline]
    pub fn actions(&self, edge: Edge, out: &mut Vec<ActionId>) {
        self.run.path(edge.via(), edge.action, out);
    }

    /// Gives away what edges consist of, except for the states in between.
    pub fn take_run(&mut self) -> AtomicRun {
        let AtomicRun { nodes, straight, .. } = std::mem::take(&mut self.run);
        AtomicRun { nodes, straight, ..AtomicRun::default() }
    }

    /// Gives memory back that a state with very many successors took, and that the last one hardly used.
    #[inline]
    pub fn give_back(&mut self) {
        if self.tickets.capacity() > LARGE && self.tickets.len() < LARGE / 16 {
            self.begin_anew();
        }
    }

    #[cold]
    fn begin_anew(&mut self) {
        *self = SuccessorBatch::default();
    }

    /// The second stride, which shows whether the guess after the first one was right.
    #[inline]
    pub fn probe<S: Batched<Ticket = T>>(&mut self, store: &S, predictor: &mut NewnessPredictor) {
        if !std::mem::replace(&mut self.probed, true) {
            store.probe_all(&mut self.tickets);
            if let Some(&last) = self.tickets.last() {
                predictor.observe(!store.seems_known(last));
            }
        }
    }

    /// The place of the successor that will be tried first, as far as can be told. To ask the store for
    /// certain, once the second stride is done, takes less time than to expand in vain.
    #[inline]
    pub fn likely_next<S: Batched<Ticket = T>>(&self, store: &S, hidden: usize) -> Option<usize> {
        let is_known = |at: usize, ticket| {
            let state = self.expansion.target(self.number(at));
            store.contains(key(state, hidden), ticket)
        };
        let mut tickets = self.tickets.iter().enumerate().rev();
        let is_new = |&(at, &ticket): &(usize, &T)| {
            !(store.seems_known(ticket) || self.probed && is_known(at, ticket))
        };
        tickets.find(is_new).map(|(at, _)| at)
    }
}
