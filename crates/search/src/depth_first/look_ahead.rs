//! Look-ahead: the states that will probably be next are expanded before the store has said that they are
//! new.
//!
//! The next state depends on what the store says of the present one's successors, and the store waits for
//! memory, twice. So the search runs two states ahead of itself: the successor that will be tried first, and
//! again its own, are expanded on trust that they are new. When a state's turn comes all that must be known
//! of its successors has arrived. If one was known, that was in vain; the order of the search is the same.

use super::{DepthFirst, ELSEWHERE, expand};
use crate::sleep::Sleeping;
use crate::state_key::key;
use crate::successor_batch::{NewnessPredictor, SuccessorBatch};
use store::Evicting;

/// The states ahead.
pub(super) struct LookAhead<T> {
    /// The state that will be next, if it is new, and the one after that.
    pub batches: [Box<SuccessorBatch<T>>; 2],
    /// The number of states ahead.
    pub n: usize,
    pub predictor: NewnessPredictor,
    /// Whether to look ahead.
    pub enabled: bool,
    /// The state at the end of the path is the first of those ahead.
    pub expanded_ahead: bool,
}

impl<T> LookAhead<T> {
    /// Nothing is ahead yet.
    pub fn new(enabled: bool) -> Self {
        LookAhead {
            batches: Default::default(),
            n: 0,
            predictor: NewnessPredictor::default(),
            enabled,
            expanded_ahead: false,
        }
    }

    /// The search goes on with the next state, which is the first of those ahead, unless the last one was.
    #[inline(always)]
    pub fn advance(&mut self) {
        self.expanded_ahead = self.n > 0 && !self.expanded_ahead;
        if !self.expanded_ahead {
            self.n = 0;
        }
    }

    /// Hands over the first state ahead, if it is the one at the end of the path.
    #[inline(always)]
    pub fn take(&mut self, batch: &mut Box<SuccessorBatch<T>>) -> bool {
        let expanded_ahead = std::mem::take(&mut self.expanded_ahead);
        if expanded_ahead {
            debug_assert!(self.n > 0, "a state that was expanded ahead is ahead");
            std::mem::swap(batch, &mut self.batches[0]);
            self.batches.swap(0, 1);
            self.n -= 1;
        }
        expanded_ahead
    }
}

impl<S: Evicting, Z: Sleeping<S>> DepthFirst<'_, S, Z> {
    /// Expands the successor that will be tried first, and the one that will be tried after it. What was
    /// prepared for an earlier state is probed as late as can be.
    #[inline]
    pub(super) fn look_ahead(&mut self) {
        let known_before = self.ahead.n > 0;
        if self.ahead.n == 0 {
            self.expand_ahead();
        }
        self.batch.probe(self.store, &mut self.ahead.predictor);
        let ticket = self.batch.tickets.get(self.ahead.batches[0].place);
        if self.ahead.n > 0 && ticket.is_some_and(|&ticket| self.store.seems_known(ticket)) {
            self.ahead.n = 0;
            self.expand_ahead();
        }
        if self.ahead.n == 1 && self.ahead.predictor.predicts_new() {
            self.expand_ahead();
        }
        if known_before && self.ahead.n > 0 {
            self.ahead.batches[0].probe(self.store, &mut self.ahead.predictor);
            if self.ahead.n == 2
                && self.store.seems_known(self.ahead.batches[0].tickets[self.ahead.batches[1].place])
            {
                self.ahead.n = 1;
                self.expand_ahead();
            }
        }
    }

    /// Expands what will be tried first after the last state that was expanded ahead. If that cannot be done,
    /// it will show when its turn comes.
    pub(super) fn expand_ahead(&mut self) {
        let [first, second] = &mut self.ahead.batches;
        let (before, next) = match self.ahead.n {
            0 => (&mut self.batch, first),
            _ => (first, second),
        };
        if !self.ahead.predictor.predicts_new() {
            before.probe(self.store, &mut self.ahead.predictor);
        }
        next.give_back();
        let (state, wanted);
        if let Some(place) = before.likely_next(self.store, self.hidden) {
            let number = before.number(place);
            let edge = before.expansion.edge(number);
            state = before.expansion.state(edge);
            wanted = self.sleep.wanted_after(before.expansion.annotation(number));
            next.place = place;
            next.depth = before.depth + u64::from(edge.n_actions());
        } else if self.ahead.n > 0 {
            // The search will come to an end there, and go on with what waits.
            return self.stack.next_ticket().into_iter().for_each(|&next| self.store.prefetch(next));
        } else {
            let Some((waiting, &ticket, depth)) = self.stack.peek() else { return };
            if self.store.contains(key(waiting, self.hidden), ticket) {
                return;
            }
            state = waiting;
            wanted = self.sleep.wanted_next();
            next.place = ELSEWHERE;
            next.depth = depth as u64;
        }
        next.expansion.clear();
        self.expander.look_for_loops(!self.found.knows_atomic_loop());
        let (budget, out) = (&mut self.budget, &mut next.expansion);
        if expand(&mut self.expander, state, wanted, next.depth, budget, out).is_ok() {
            next.keep_run(&mut self.expander);
            let all = next.expansion.edges().len();
            let prepared = next.prepare(0..all, None, self.hidden, self.store);
            self.ahead.n += usize::from(prepared.is_ok());
        }
    }
}
