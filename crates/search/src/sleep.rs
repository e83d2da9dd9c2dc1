//! Sleep sets: actions that need not be taken, because elsewhere they are.
//!
//! From P. Godefroid (*Partial-Order Methods for the Verification of Concurrent Systems*, 1996, chapter 5).
//! When a state has been left by action *x* and is then left by *y*, which commutes with *x*, what begins
//! with *y x* was seen behind *x y*: so behind *y* the action *x* sleeps, until something is done that does
//! not commute with it.
//!
//! **States that are met again.** A state is stored with the set that slept when it was explored. Who comes
//! back while fewer actions sleep explores the difference, whatever a reducer had chosen, and the smaller set
//! (what sleeps in both) is stored.
//!
//! **Why it is sound.** Say that *w* is a sequence of actions from a visited state *s*, and none of the
//! actions with which *w* may begin (after exchanging neighbours that commute) sleeps in *s*, as stored at
//! the end. Then the search has taken all actions of *w*, in an order that differs only in what commutes,
//! perhaps with others in between. For the initial state nothing sleeps, so that is all of the program. If
//! one of the actions with which *w* may begin was taken in *s*, consider the one of them that ranks first:
//! what sleeps behind it and may begin the rest of *w* could begin *w* as well, so it neither sleeps in *s*
//! nor ranks lower; the rest of *w* is shorter. Only the rank of actions counts here, not the time at which
//! they are tried. If none was taken, then *s* was reduced, and *w* commutes with all that was chosen. The
//! proviso has found a chosen action *that is awake* and leads to a state finished earlier (or visited
//! later): there the same is true of *w*, and such states come to an end. So the proviso may count only what
//! is awake: where all that was chosen sleeps, or leads back to the stack, the state is expanded in full. For
//! deadlocks alone no proviso is needed: a sequence to a deadlock always contains a chosen action.
//!
//! **Errors.** An action that shows an error is never put to sleep, so it is met in as many states as without
//! sleep sets.

use crate::expand::Wanted;
use std::collections::TryReserveError;
use store::{Batched, Full, Noted};
use system::{ActionId, Annotation, Reducer};

/// What a visit to a state showed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Met {
    /// It was not known.
    New,
    /// It was known, and all that is to be done there is done.
    Known,
    /// It was known, and some actions that slept there are awake now.
    Again,
}

/// What a depth-first search asks about sleep.
pub trait Sleeping<S: Batched> {
    /// The search has come to a successor that was [pushed](Self::push): it is looked up and stored.
    fn visit(&mut self, store: &mut S, key: &[u8], ticket: S::Ticket) -> Result<Met, Full>;

    /// Which actions are to be taken in the state that was visited.
    fn wanted(&self) -> Wanted<'_>;

    /// Which actions are to be taken in a successor that has not been visited, whose annotation is given.
    fn wanted_after(&self, _annotation: Annotation) -> Wanted<'_> {
        Wanted::All
    }

    /// Which actions are to be taken in the successor that was pushed last.
    fn wanted_next(&self) -> Wanted<'_> {
        Wanted::All
    }

    /// In the `state` that was visited `actions` are taken, in this order of rank, after those of an earlier
    /// call if `more`.
    fn rank(&mut self, _state: &[u8], _actions: &[ActionId], _faulty: &[ActionId], _more: bool) {}

    /// Whether all is done in a successor to which the action with this rank (among those of the last call)
    /// leads.
    fn knows(&mut self, store: &mut S, key: &[u8], ticket: S::Ticket, rank: usize) -> bool;

    /// Remembers what sleeps in such a successor until it is visited. The last one pushed is the first one
    /// visited. A lean search annotates it.
    fn push(&mut self, _rank: usize, _annotation: Annotation) -> Result<(), TryReserveError> {
        Ok(())
    }

    /// Takes what was pushed last.
    fn take(&mut self) {}

    /// Whether ranks are asked for.
    const RANKS: bool;
}

/// Nothing ever sleeps.
#[derive(Debug)]
pub struct NoSleep;

impl<S: Batched> Sleeping<S> for NoSleep {
    const RANKS: bool = false;

    #[inline(always)]
    fn visit(&mut self, store: &mut S, key: &[u8], ticket: S::Ticket) -> Result<Met, Full> {
        Ok(if store.insert(key, ticket)?.is_some() { Met::New } else { Met::Known })
    }

    fn wanted(&self) -> Wanted<'_> {
        Wanted::All
    }

    #[inline(always)]
    fn knows(&mut self, store: &mut S, key: &[u8], ticket: S::Ticket, _: usize) -> bool {
        store.contains(key, ticket)
    }
}

/// Processes sleep, as in a search by levels: each state is expanded once, with the annotation with which it
/// was found.
#[derive(Debug, Default)]
pub struct LeanSleep {
    /// The annotation of the state that was visited last.
    now: Annotation,
    /// The annotations of successors still to be visited.
    pending: Vec<Annotation>,
}

impl<S: Batched> Sleeping<S> for LeanSleep {
    const RANKS: bool = false;

    #[inline(always)]
    fn visit(&mut self, store: &mut S, key: &[u8], ticket: S::Ticket) -> Result<Met, Full> {
        Sleeping::<S>::visit(&mut NoSleep, store, key, ticket)
    }

    fn wanted(&self) -> Wanted<'_> {
        Wanted::Active(self.now)
    }

    #[inline(always)]
    fn knows(&mut self, store: &mut S, key: &[u8], ticket: S::Ticket, _: usize) -> bool {
        store.contains(key, ticket)
    }

    fn wanted_after(&self, annotation: Annotation) -> Wanted<'_> {
        Wanted::Active(annotation)
    }

    fn wanted_next(&self) -> Wanted<'_> {
        Wanted::Active(self.pending.last().copied().unwrap_or_default())
    }

    fn push(&mut self, _rank: usize, annotation: Annotation) -> Result<(), TryReserveError> {
        self.pending.try_reserve(1)?;
        self.pending.push(annotation);
        Ok(())
    }

    fn take(&mut self) {
        self.now = self.pending.pop().unwrap_or_default();
    }
}

/// A set of actions, in ascending order.
pub type SleepSet = Box<[ActionId]>;

/// Sleep sets.
pub struct Sleep<'a> {
    reducer: Box<dyn Reducer + 'a>,
    /// What sleeps in the state that was visited last.
    now: Vec<ActionId>,
    /// If it was met again: what slept there before and does not now.
    woken: Option<Vec<ActionId>>,
    /// Actions taken in it so far that may sleep, in order of rank.
    taken: Vec<ActionId>,
    /// What sleeps behind each action of the last call of `rank`, one set after another, and where each ends.
    behind: Vec<ActionId>,
    ends: Vec<usize>,
    /// The sets of successors still to be visited, one after another, and their lengths.
    pending: Vec<ActionId>,
    lengths: Vec<u32>,
    /// A buffer: all actions of which it is asked whether they commute, and the answers.
    all: Vec<ActionId>,
    commute: Vec<bool>,
}

impl<'a> Sleep<'a> {
    /// Nothing sleeps in the beginning.
    pub fn new(reducer: Box<dyn Reducer + 'a>) -> Self {
        Sleep {
            reducer,
            now: Vec::new(),
            woken: None,
            taken: Vec::new(),
            behind: Vec::new(),
            ends: Vec::new(),
            pending: Vec::new(),
            lengths: Vec::new(),
            all: Vec::new(),
            commute: Vec::new(),
        }
    }

    fn behind(&self, rank: usize) -> &[ActionId] {
        let start = if rank == 0 { 0 } else { self.ends[rank - 1] };
        &self.behind[start..self.ends[rank]]
    }
}

/// Whether all members of a set are in another; both are sorted.
fn is_subset(small: &[ActionId], large: &[ActionId]) -> bool {
    small.iter().all(|action| large.binary_search(action).is_ok())
}

impl<S: Noted<Note = SleepSet>> Sleeping<S> for Sleep<'_> {
    const RANKS: bool = true;

    fn visit(&mut self, store: &mut S, key: &[u8], ticket: S::Ticket) -> Result<Met, Full> {
        self.woken = None;
        let met = if store.insert(key, ticket)?.is_some() { Met::New } else { Met::Known };
        let Some(note) = store.note(key, ticket) else { return Ok(met) };
        if met == Met::New {
            *note = self.now.as_slice().into();
            return Ok(Met::New);
        }
        // All that slept at the first visit sleeps now as well: nothing has been put off that is to be done.
        if is_subset(note, &self.now) {
            return Ok(Met::Known);
        }
        let now = &self.now;
        let (both, woken): (Vec<ActionId>, Vec<ActionId>) =
            note.iter().partition(|action| now.binary_search(action).is_ok());
        // Godefroid's rule for a second visit: what slept before and is awake now is taken, and the state
        // keeps the intersection.
        *note = both.as_slice().into();
        self.now = both;
        self.woken = Some(woken);
        Ok(Met::Again)
    }

    fn wanted(&self) -> Wanted<'_> {
        match &self.woken {
            Some(woken) => Wanted::Only(woken),
            None => Wanted::Except(&self.now),
        }
    }

    fn rank(&mut self, state: &[u8], actions: &[ActionId], faulty: &[ActionId], more: bool) {
        if !more {
            self.taken.clear();
        }
        self.behind.clear();
        self.ends.clear();
        self.all.clear();
        self.all.extend(self.now.iter().chain(&self.taken).chain(actions));
        let before = self.now.len() + self.taken.len();
        self.reducer.commuting(state, &self.all, &mut self.commute);
        let n = self.all.len();
        // Behind an action sleep those before it in the order, and those that slept already, if they commute
        // with it. What shows an error does not sleep: errors are to be met as often as there are.
        for at in before..n {
            let start = self.behind.len();
            for other in 0..at {
                if self.commute[at * n + other] && !faulty.contains(&self.all[other]) {
                    self.behind.push(self.all[other]);
                }
            }
            self.behind[start..].sort_unstable();
            self.ends.push(self.behind.len());
        }
        self.taken.extend(actions.iter().filter(|action| !faulty.contains(action)));
    }

    fn knows(&mut self, store: &mut S, key: &[u8], ticket: S::Ticket, rank: usize) -> bool {
        if !store.contains(key, ticket) {
            return false;
        }
        let behind = self.behind(rank);
        store.note(key, ticket).is_some_and(|note| is_subset(note, behind))
    }

    fn push(&mut self, rank: usize, _annotation: Annotation) -> Result<(), TryReserveError> {
        let start = if rank == 0 { 0 } else { self.ends[rank - 1] };
        self.pending.try_reserve(self.ends[rank] - start)?;
        self.lengths.try_reserve(1)?;
        self.pending.extend_from_slice(&self.behind[start..self.ends[rank]]);
        self.lengths.push((self.ends[rank] - start) as u32);
        Ok(())
    }

    fn take(&mut self) {
        let len = self.lengths.pop().unwrap_or(0) as usize;
        let start = self.pending.len() - len;
        self.now.clear();
        self.now.extend_from_slice(&self.pending[start..]);
        self.pending.truncate(start);
    }
}
