//! What the workers of a parallel search share, and each one's part of it.
//!
//! Every worker has a *station*: a queue of packs that it fills and empties, and from which others take packs
//! when they have none. Whatever ends the search ends it for all: the first reason counts.

use crate::ancestry::Ordinal;
use crate::disk::{Disk, Spill};
use crate::expanded::Noting;
use crate::halt::Halt;
use crate::observer::Snapshot;
use crate::outcome::StopReason;
use crate::pack::{Pack, States, Stowed};
use crate::queue::Queue;
use crate::termination::{Idle, Meeting};
use crate::waiting_packs::WaitingPacks;
use std::collections::TryReserveError;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use store::Batched;
use system::Annotation;

/// States of a pack that is handed on when it is full.
pub(crate) const PACK: u64 = 64;
/// States that are enough for a pack when other workers have nothing to do.
const WORTH_SHARING: u64 = 8;

/// Of the memory that is for what may be on a disk, this part of a worker's is for packs.
const PART: u64 = 2;

/// The most buffers for packs to come that a worker keeps, and the most bytes of them.
const MOST_SPARE: (usize, u64) = (16, 1 << 20);

/// In which order a worker takes its own packs. Others take the oldest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taking {
    /// The oldest first: nearly breadth-first.
    Oldest,
    /// The newest first: pseudo depth-first, as LTSmin calls it. The stack holds packs, not a path.
    Newest,
    /// Level by level, and a level is one single step: breadth-first.
    Levels,
}

/// A worker's part of what is shared, on cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
struct Station<P> {
    /// With levels one queue is for the present level and one for the next, in turn. Otherwise only the first
    /// is used.
    sides: [Side<P>; 2],
    transitions: AtomicU64,
    errors: AtomicU64,
    memory: AtomicU64,
    /// States wait apart for later levels.
    apart: AtomicBool,
}

#[derive(Debug)]
struct Side<P> {
    packs: Mutex<WaitingPacks<P>>,
    /// States in them, to be looked at without the lock.
    states: AtomicU64,
    /// Bytes of memory in use, for reports, which may be a little late.
    memory: AtomicU64,
}

impl<P: Stowed> Side<P> {
    fn new() -> Self {
        let packs = Mutex::new(WaitingPacks::default());
        Side { packs, states: AtomicU64::new(0), memory: AtomicU64::new(0) }
    }

    fn packs(&self) -> MutexGuard<'_, WaitingPacks<P>> {
        self.packs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, pack: Pack<P>) -> Result<(), TryReserveError> {
        let mut packs = self.packs();
        let len = pack.len;
        packs.put(pack)?;
        // Nobody takes it before the lock is free, so that the count never falls below zero.
        self.states.fetch_add(len, Release);
        self.memory.store(packs.memory(), Relaxed);
        Ok(())
    }

    fn take(&self, newest: bool) -> Result<Option<Pack<P>>, StopReason> {
        // A look without the lock: most thieves find nothing, and must not slow the owner down. Late news is
        // no harm, since termination does not rest on it.
        if self.states.load(Acquire) == 0 {
            return Ok(None);
        }
        let mut packs = self.packs();
        let Some(pack) = packs.take(newest)? else { return Ok(None) };
        self.states.fetch_sub(pack.len, Release);
        self.memory.store(packs.memory(), Relaxed);
        Ok(Some(pack))
    }
}

/// What workers share.
#[derive(Debug)]
pub(crate) struct Team<P> {
    stations: Vec<Station<P>>,
    pub idle: Idle,
    pub meeting: Meeting,
    /// Whether all are to stop.
    pub halted: Halt,
    /// States found since others joined, if there is a limit.
    states: AtomicU64,
    limit: Option<u64>,
    /// The fewest steps to a violation.
    shortest: AtomicU64,
    /// There is no next level.
    over: AtomicBool,
    /// All are to rest between two packs, because the search is to be written down.
    pausing: AtomicBool,
    /// Which states may have been expanded: for reductions.
    pub expanded: Noting,
}

impl<P: Stowed> Team<P> {
    /// A team of workers, with a limit on the number of states that they may find.
    pub fn new(workers: usize, limit: Option<u64>) -> Self {
        let station = || Station {
            sides: [Side::new(), Side::new()],
            transitions: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            memory: AtomicU64::new(0),
            apart: AtomicBool::new(false),
        };
        Team {
            stations: std::iter::repeat_with(station).take(workers).collect(),
            idle: Idle::new(workers),
            meeting: Meeting::new(workers),
            halted: Halt::default(),
            states: AtomicU64::new(0),
            limit,
            shortest: AtomicU64::new(u64::MAX),
            over: AtomicBool::new(false),
            pausing: AtomicBool::new(false),
            expanded: Noting::default(),
        }
    }

    /// What waits may be on this disk from now on.
    pub fn spill_to(&mut self, disk: &Arc<dyn Disk>) {
        let parts = PART * self.stations.len() as u64;
        for side in self.stations.iter().flat_map(|station| &station.sides) {
            side.packs().spill_to(Spill::new(disk, parts));
        }
    }

    /// All are to rest when they have finished their packs.
    pub fn pause(&self) {
        self.pausing.store(true, Release);
    }

    /// Whether all are to rest.
    pub fn is_pausing(&self) -> bool {
        self.pausing.load(Acquire)
    }

    /// All have rested, and begin again: nobody is idle, what waits still waits.
    pub fn rested(&mut self) {
        let workers = self.stations.len();
        (self.idle, self.meeting) = (Idle::new(workers), Meeting::new(workers));
        *self.pausing.get_mut() = false;
    }

    /// A pack of a former search is there to be taken; its states count as found.
    pub fn put_back(&self, at: usize, pack: Pack<P>) -> Result<(), TryReserveError> {
        self.stations[at % self.stations.len()].sides[0].put(pack)
    }

    /// Stops the others when a worker is lost: they would wait for it forever.
    pub fn abandon(&self) {
        self.halt(StopReason::Interrupted);
        self.meeting.cancel();
    }

    /// Stops everybody. Only the first reason counts.
    pub fn halt(&self, reason: StopReason) {
        self.halted.halt(reason);
    }

    /// Whether all are to stop.
    pub fn is_halted(&self) -> bool {
        self.halted.is_halted()
    }

    /// Why everybody was stopped.
    pub fn reason(&self) -> Option<StopReason> {
        self.halted.reason()
    }

    /// A worker that could not be started will never come.
    pub fn absent(&self) {
        self.idle.enter();
        self.meeting.leave();
    }

    /// Counts states that were found, once somebody else may find some too.
    pub fn count(&self, states: u64) -> Result<(), StopReason> {
        match self.limit {
            // The limit is on the sum alone: nothing else is read through it.
            Some(limit) if self.states.fetch_add(states, Relaxed) + states > limit => {
                Err(StopReason::StateLimit)
            }
            _ => Ok(()),
        }
    }

    /// Tells how far it is to a violation.
    pub fn tell_shortest(&self, steps: u64) {
        self.shortest.fetch_min(steps, Release);
    }

    /// The fewest steps to a violation so far.
    pub fn shortest(&self) -> u64 {
        self.shortest.load(Acquire)
    }

    /// There is no next level.
    pub fn end(&self) {
        self.over.store(true, Release);
    }

    /// Whether there is no next level.
    pub fn over(&self) -> bool {
        self.over.load(Acquire)
    }

    /// Whether states wait for the level with this side or for a later one. To be asked when nobody is at
    /// work.
    pub fn something_left(&self, side: usize) -> bool {
        self.stations
            .iter()
            .any(|station| station.sides[side].states.load(Acquire) > 0 || station.apart.load(Acquire))
    }
}

/// A worker's own view of the team: its queue.
#[derive(Debug)]
pub(crate) struct Share<'t, P> {
    pub team: &'t Team<P>,
    me: usize,
    /// What packs say of their finder.
    number: usize,
    taking: Taking,
    hidden: usize,
    /// The pack that is being expanded.
    pub current: Pack<P>,
    /// The pack to which new states are added.
    out: Pack<P>,
    /// How many states this worker has found, and how many of them the team has been told of.
    pub found: Ordinal,
    counted: Ordinal,
    /// From which side packs are taken and to which they are put.
    pub take_side: usize,
    pub put_side: usize,
    /// Buffers for packs to come.
    spare: Vec<P>,
}

impl<'t, P: Stowed> Share<'t, P> {
    /// The queue of worker `me` in a system whose states have `hidden` hidden bytes.
    pub fn new(team: &'t Team<P>, me: usize, taking: Taking, hidden: usize) -> Self {
        let pack = || Pack { finder: me, ..Pack::default() };
        Share {
            team,
            me,
            number: me,
            taking,
            hidden,
            current: pack(),
            out: pack(),
            found: 0,
            counted: 0,
            take_side: 0,
            put_side: 0,
            spare: Vec::new(),
        }
    }

    /// What its packs say of their finder, where ancestries have other numbers than workers.
    pub fn numbered(mut self, number: usize) -> Self {
        (self.number, self.current.finder, self.out.finder) = (number, number, number);
        self
    }

    /// It has found so many states already, of which the team knows.
    pub fn has_found(&mut self, found: Ordinal) {
        (self.found, self.counted, self.out.first) = (found, found, found);
    }

    fn station(&self) -> &'t Station<P> {
        &self.team.stations[self.me]
    }

    /// A new pack for what will be found next; gives the one before.
    fn turn_over(&mut self) -> Pack<P> {
        let states = self.spare.pop().unwrap_or_default();
        let depth = self.out.depth;
        let next = Pack { states, len: 0, finder: self.number, first: self.found, depth };
        std::mem::replace(&mut self.out, next)
    }

    /// Puts what was found last where others can take it.
    pub fn flush(&mut self) -> Result<(), TryReserveError> {
        if self.out.len == 0 {
            return Ok(());
        }
        let pack = self.turn_over();
        self.station().sides[self.put_side].put(pack)
    }

    /// The states that are found from now on have this depth. A pack is not closed for a few of another
    /// depth.
    pub fn set_depth(&mut self, depth: u64) -> Result<(), TryReserveError> {
        if self.out.depth != depth && self.out.len >= WORTH_SHARING {
            self.flush()?;
        }
        self.out.depth = if self.out.len == 0 { depth } else { self.out.depth.min(depth) };
        Ok(())
    }

    /// Takes a pack of one's own. False when there is none.
    pub fn take_own(&mut self) -> bool {
        let mine = self.station();
        // A pack that is not full yet is the newest of all.
        let pack = match self.taking {
            Taking::Oldest => self.take_from(mine, false).or_else(|| self.take_out()),
            Taking::Newest => self.take_out().or_else(|| self.take_from(mine, true)),
            Taking::Levels => self.take_from(mine, false),
        };
        pack.map(|pack| self.current = pack).is_some()
    }

    /// Takes a pack. One that cannot be read back from a disk ends the search for all.
    fn take_from(&self, station: &Station<P>, newest: bool) -> Option<Pack<P>> {
        station.sides[self.take_side].take(newest).unwrap_or_else(|reason| {
            self.team.halt(reason);
            None
        })
    }

    fn take_out(&mut self) -> Option<Pack<P>> {
        (self.out.len > 0).then(|| self.turn_over())
    }

    /// Whether another worker has a pack.
    pub fn sees_work(&self) -> bool {
        self.others().any(|station| station.sides[self.take_side].states.load(Acquire) > 0)
    }

    /// Takes a pack from another worker. False when there is none.
    pub fn steal(&mut self) -> bool {
        let pack = self.others().find_map(|station| self.take_from(station, false));
        pack.map(|pack| self.current = pack).is_some()
    }

    /// The other stations, beginning with the next one.
    fn others(&self) -> impl Iterator<Item = &'t Station<P>> + use<'t, P> {
        let (before, rest) = self.team.stations.split_at(self.me);
        rest.iter().skip(1).chain(before)
    }

    /// Shares what it has when others have nothing.
    pub fn be_generous(&mut self) -> Result<(), TryReserveError> {
        // With levels, what is found is for the next one, which nobody can take from yet.
        let enough = self.out.len >= WORTH_SHARING && self.taking != Taking::Levels;
        if enough && self.team.idle.some() && self.station().sides[self.put_side].states.load(Relaxed) == 0 {
            self.flush()?;
        }
        Ok(())
    }

    /// Tells the others how far this worker is.
    pub fn tell(
        &mut self,
        transitions: u64,
        errors: u64,
        memory: u64,
        apart: bool,
    ) -> Result<(), StopReason> {
        let station = self.station();
        // For progress reports, which may be a little late. `apart` decides whether there is a next level.
        station.transitions.store(transitions, Relaxed);
        station.errors.store(errors, Relaxed);
        station.memory.store(memory, Relaxed);
        station.apart.store(apart, Release);
        let new = self.found - std::mem::replace(&mut self.counted, self.found);
        if new > 0 { self.team.count(new) } else { Ok(()) }
    }
}

impl<S: Batched, P: States<S>> Queue<S> for Share<'_, P> {
    const WHOLE: bool = P::WHOLE;

    #[inline]
    fn push(&mut self, name: S::Name, state: &[u8], annotation: Annotation) -> Result<(), TryReserveError> {
        self.out.states.push(name, state, annotation)?;
        self.out.len += 1;
        self.found += 1;
        if self.out.len >= PACK {
            self.flush()?;
        }
        Ok(())
    }

    #[inline]
    fn pop(&mut self, store: &mut S, out: &mut Vec<u8>) -> Option<Annotation> {
        let popped = self.current.states.pop(store, self.hidden, out);
        self.current.len -= u64::from(popped.is_some());
        if self.current.len == 0 {
            let mut states = std::mem::take(&mut self.current.states);
            states.clear();
            if self.spare.len() < MOST_SPARE.0 && self.spare.len() as u64 * states.memory() < MOST_SPARE.1 {
                self.spare.push(states);
            }
        }
        popped
    }

    fn waiting(&self) -> u64 {
        self.current.len
    }

    fn memory(&self) -> u64 {
        let per_pack = self.out.states.memory() + size_of::<Pack<P>>() as u64;
        let waiting: u64 = self.station().sides.iter().map(|side| side.memory.load(Relaxed)).sum();
        waiting + (2 + self.spare.len() as u64) * per_pack
    }

    fn elsewhere(&self) -> Snapshot {
        let mut sum = Snapshot::default();
        for station in self.others() {
            sum.transitions += station.transitions.load(Relaxed);
            sum.errors += station.errors.load(Relaxed);
            sum.memory += station.memory.load(Relaxed);
        }
        for side in self.team.stations.iter().flat_map(|station| &station.sides) {
            sum.frontier += side.states.load(Relaxed);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::WholeStates;
    use store::HashCompaction;

    type TestShare<'t> = Share<'t, WholeStates>;

    fn push(share: &mut TestShare<'_>, byte: u8) {
        Queue::<HashCompaction>::push(share, (), &[byte], Annotation::NONE).unwrap();
    }

    fn pop_all(share: &mut TestShare<'_>) -> Vec<u8> {
        let (mut store, mut out) = (HashCompaction::new(u64::MAX), Vec::new());
        while Queue::<HashCompaction>::waiting(share) > 0 {
            assert!(share.pop(&mut store, &mut out).is_some());
        }
        out
    }

    #[test]
    fn packs_know_who_found_what() {
        let team = Team::new(2, None);
        let (mut one, mut two) =
            (Share::new(&team, 0, Taking::Oldest, 0), Share::new(&team, 1, Taking::Oldest, 0));
        (0..100).for_each(|byte| push(&mut one, byte));
        assert!(two.sees_work() && two.steal());
        assert_eq!((two.current.finder, two.current.first, two.current.len), (0, 0, PACK));
        assert_eq!(pop_all(&mut two), (0..PACK as u8).collect::<Vec<u8>>());
        assert!(!two.sees_work() && !two.steal() && !two.take_own());
        assert!(one.take_own());
        assert_eq!((one.current.finder, one.current.first), (0, PACK));
        assert_eq!(pop_all(&mut one), (PACK as u8..100).collect::<Vec<u8>>());
        assert!(!one.take_own());
        push(&mut one, 9);
        one.flush().unwrap();
        assert!(two.steal());
        assert_eq!((two.current.first, pop_all(&mut two)), (100, vec![9]));
    }

    #[test]
    fn the_newest_are_taken_first_by_their_finder() {
        let team = Team::new(2, None);
        let mut one = Share::new(&team, 0, Taking::Newest, 0);
        (0..130).for_each(|byte| push(&mut one, byte));
        let mut firsts = Vec::new();
        while one.take_own() {
            firsts.push(one.current.first);
            pop_all(&mut one);
        }
        assert_eq!(firsts, [128, 64, 0]);
    }

    #[test]
    fn what_is_found_is_for_the_next_level() {
        let team = Team::new(1, None);
        let mut one = Share::new(&team, 0, Taking::Levels, 0);
        one.put_side = 1;
        push(&mut one, 1);
        assert!(!one.take_own() && !team.something_left(1));
        one.flush().unwrap();
        assert!(!one.take_own() && team.something_left(1) && !team.something_left(0));
        one.take_side = 1;
        assert!(one.take_own());
    }

    #[test]
    fn the_first_reason_counts_and_limits_are_met_by_more() {
        let team: Team<WholeStates> = Team::new(1, Some(10));
        assert_eq!((team.count(10), team.is_halted(), team.reason()), (Ok(()), false, None));
        assert_eq!(team.count(1), Err(StopReason::StateLimit));
        team.halt(StopReason::StateLimit);
        team.halt(StopReason::Interrupted);
        assert_eq!((team.is_halted(), team.reason()), (true, Some(StopReason::StateLimit)));
    }
}
