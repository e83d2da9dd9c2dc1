//! Successors: which of them go onto the stack, and whether those keep the proviso.
//!
//! A state of which something was left out must have a chosen successor that is not put off forever. What
//! that means depends on the [`Proviso`]: one that is not on the stack (or on nobody's, with several
//! workers), one that is new, or, by colour, that none is on the stack but those that were expanded in full.

use super::{DepthFirst, ELSEWHERE, visit_openly};
use crate::outcome::{StopReason, no_memory};
use crate::sleep::{Met, Sleeping};
use crate::stack::Stack;
use crate::state_key::key;
use crate::successor_batch::SuccessorBatch;
use crate::task::Proviso;
use store::Evicting;
use system::ActionId;

/// For more successors than this the atomic sequences that lead to them are kept as they are, not each for
/// itself.
const MANY: usize = 256;

/// What sleep sets are told of the current edges.
#[derive(Default)]
pub(super) struct Ranks {
    /// Their first actions, each once.
    ranked: Vec<ActionId>,
    /// For each edge which of these is its own.
    of_edge: Vec<usize>,
    /// The first actions of steps that show an error.
    faulty: Vec<ActionId>,
}

/// Whether the successors seen so far keep the proviso.
#[derive(Clone, Copy, Default)]
struct Kept {
    kept: bool,
    broken: bool,
}

impl<S: Evicting, Z: Sleeping<S>> DepthFirst<'_, S, Z> {
    /// Puts those successors on the stack that are unknown; says whether enough of them all keep the proviso.
    /// `more`: there were others of the same state.
    pub(super) fn push_successors(&mut self, more: bool) -> Result<bool, StopReason> {
        if Z::RANKS {
            self.rank(more);
        }
        let through_run =
            self.ahead.enabled && self.batch.tickets.len() > MANY && !self.batch.expansion.is_plain();
        if through_run {
            let run = self.batch.take_run();
            self.stack.keep(run).map_err(no_memory)?;
        }
        let SuccessorBatch { expansion, tickets, .. } = &*self.batch;
        let mut proviso = Kept::default();
        let mut last = None;
        self.statistics.transitions += tickets.len() as u64;
        for (at, &ticket) in tickets.iter().enumerate() {
            let i = self.batch.number(at);
            let edge = expansion.edge(i);
            let state = expansion.state(edge);
            let key = key(state, self.hidden);
            let rank = if Z::RANKS { self.ranks.of_edge[i] } else { 0 };
            if self.sleep.knows(self.store, key, ticket, rank) {
                self.statistics.matched += 1;
                if self.proviso != Proviso::None {
                    proviso.meet_known(self.proviso, || self.may_be_on_stack(key));
                }
                continue;
            }
            last = Some(at);
            // With several workers another may be faster: see `claim`.
            proviso.kept |= self.open.is_none()
                && (!Z::RANKS || keeps(self.proviso, &self.stack, self.store, key, ticket));
            self.sleep.push(rank, expansion.annotation(i)).map_err(no_memory)?;
            if expansion.is_plain() || edge.via().is_none() {
                self.stack.push_step(state, edge.action, ticket).map_err(no_memory)?;
            } else if through_run {
                self.stack.push_through_run(state, edge, ticket).map_err(no_memory)?;
            } else {
                self.actions.clear();
                match self.ahead.enabled {
                    true => self.batch.actions(edge, &mut self.actions),
                    false => self.expander.actions(edge, &mut self.actions),
                }
                self.stack.push(state, &self.actions, ticket).map_err(no_memory)?;
            }
        }
        self.next_pushed = last;
        if last.unwrap_or(ELSEWHERE) != self.ahead.batches[0].place {
            self.ahead.n = 0;
        }
        self.store.weigh(key(self.stack.state(), self.hidden), expansion.edges().len());
        Ok(proviso.kept && !proviso.broken)
    }

    /// Whether a state may be on the stack, or with several workers on any of their stacks.
    fn may_be_on_stack(&self, key: &[u8]) -> bool {
        self.open.map_or_else(|| self.stack.may_hold(key), |open| open.may_hold(key))
    }

    /// Makes sure of the successor that will be tried next, for a state that nothing else keeps the proviso
    /// for: it is stored at once, so that it is this worker's to search, which is done before the state is
    /// left. True as well if another worker has been faster and has left it.
    #[cold]
    pub(super) fn claim(&mut self) -> Result<bool, StopReason> {
        let (Some(open), Some(at)) = (self.open, self.next_pushed) else { return Ok(false) };
        let SuccessorBatch { expansion, tickets, .. } = &*self.batch;
        let state = expansion.target(self.batch.number(at));
        let key = key(state, self.hidden);
        let met = visit_openly(open, &mut self.sleep, self.store, key, tickets[at])?;
        self.claimed = met == Met::New;
        Ok(self.claimed || !open.may_hold(key))
    }

    /// Sleep sets want to know what showed an error.
    pub(super) fn note_faulty(&mut self) {
        self.ranks.faulty.clear();
        if Z::RANKS {
            self.ranks
                .faulty
                .extend(self.batch.expansion.faults.iter().filter_map(|step| step.actions.first()));
        }
    }

    /// Gives ranks to the first actions of the edges that are to be pushed, after those of an earlier call if
    /// `more`.
    pub(super) fn rank(&mut self, more: bool) {
        self.ranks.ranked.clear();
        self.ranks.of_edge.clear();
        self.ranks.of_edge.resize(self.batch.edges.start, 0);
        for edge in self.batch.expansion.edges().range(self.batch.edges.clone()) {
            let first = self.expander.first_action(edge);
            let rank = self
                .ranks
                .ranked
                .iter()
                .position(|&action| action == first)
                .unwrap_or(self.ranks.ranked.len());
            if rank == self.ranks.ranked.len() {
                self.ranks.ranked.push(first);
            }
            self.ranks.of_edge.push(rank);
        }
        self.sleep.rank(self.stack.state(), &self.ranks.ranked, &self.ranks.faulty, more);
    }
}

/// Whether a successor that is to be visited, perhaps not for the first time, keeps the proviso.
fn keeps<S: Evicting>(
    proviso: Proviso,
    stack: &Stack<S::Ticket>,
    store: &S,
    key: &[u8],
    ticket: S::Ticket,
) -> bool {
    match proviso {
        Proviso::None => true,
        Proviso::Stack | Proviso::Color => !stack.may_hold(key),
        Proviso::ClosedSet => !store.contains(key, ticket),
    }
}

impl Kept {
    /// One of the chosen successors is known.
    fn meet_known(&mut self, proviso: Proviso, on_stack: impl FnOnce() -> bool) {
        match proviso {
            Proviso::Stack => self.kept |= !on_stack(),
            Proviso::Color if on_stack() => self.broken = true,
            Proviso::Color => self.kept = true,
            Proviso::None | Proviso::ClosedSet => {}
        }
    }
}
