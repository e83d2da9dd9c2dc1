//! Going on: a frontier search is written down now and then, and goes on from where another one was.

use super::{Batch, Frontier};
use crate::ancestry::Pack;
use crate::checkpoint::{Keeping, Moment, Saved, SavedStates, Sorter, waiting};
use crate::expand::Expander;
use crate::outcome::{StopReason, no_memory};
use crate::pack::{Pack as Parcel, States};
use crate::queue::Queue;
use crate::random::Random;
use crate::state_key::key;
use std::ops::Range;
use store::Batched;
use system::Annotation;

/// Why a search cannot go on whose ancestries contradict each other. (Whoever reads them from a file asks
/// [`Saved::is_consistent`] before.)
const CONTRADICTION: StopReason = StopReason::Interrupted;

impl Saved {
    /// Whether ancestries fit each other.
    pub fn is_consistent(&self) -> bool {
        waiting(&self.ancestries).is_some()
    }
}

/// States that wait, of another level than the first.
#[derive(Default)]
struct Later {
    /// Of each its depth, place in the order of reading, annotation, and bytes.
    list: Vec<(u64, usize, Annotation, Range<usize>)>,
    bytes: Vec<u8>,
}

/// States in the order in which they will be expanded, as packs.
#[derive(Default)]
struct InOrder {
    packs: Vec<Pack>,
    n: u64,
}

impl InOrder {
    fn add(&mut self, worker: usize, state: u64) {
        let follows = |last: &Pack| last.worker == worker && last.state + (self.n - last.expansion) == state;
        if !self.packs.last().is_some_and(follows) {
            self.packs.push(Pack { expansion: self.n, worker, state });
        }
        self.n += 1;
    }
}

impl<'a, S: Batched, Q: Queue<S>> Frontier<'a, S, Q> {
    /// What is written down, where this worker comes in, which is one of so many, and what may be on a disk.
    pub fn keep(&mut self, keeping: Keeping<'a>, workers: u64) {
        self.number = keeping.formers() + self.worker;
        self.log = keeping.log(self.worker);
        if let Some(disk) = keeping.disk {
            self.queue.spill_to(disk);
            self.ancestry.spill_to(disk, workers);
            self.buckets.spill_to(disk, workers);
        }
    }

    /// Takes up the counts of a former search.
    pub fn take_over(&mut self, saved: &Saved) {
        self.found = saved.found.clone();
        self.statistics = saved.statistics;
        self.found_twice = saved.found_twice;
        self.cuts = saved.cuts.clone();
        if let (Some(random), Some(_)) = (saved.random, &self.random) {
            self.random = Some(Random::new(random));
        }
        self.marker.mark(&self.ancestry, self.statistics, &self.found);
    }

    /// Puts a state into the store that a former search found. `None` where it is there.
    fn restore(&mut self, state: &[u8]) -> Result<Option<S::Name>, StopReason> {
        let key = key(state, self.hidden);
        let ticket = self.store.hash(key).map_err(|_| StopReason::MemoryLimit)?;
        self.store.insert(key, ticket).map_err(|_| StopReason::MemoryLimit)
    }

    /// Notes a state that a former search expanded.
    fn note_expanded(&mut self, state: &[u8]) {
        let hash = store::hash::hash(key(state, self.hidden));
        self.expanded.iter_mut().for_each(|expanded| expanded.note_all(&[hash]));
    }

    /// Takes up a search by one worker where a former one was, and finishes its level. What waits is expanded
    /// by depth, and for each depth in the order of finding.
    pub(super) fn go_on(
        &mut self,
        (saved, states): (&Saved, &dyn SavedStates),
        keeping: Keeping<'_>,
        batch: &mut Batch<S::Ticket, S::Name>,
    ) -> Result<(), StopReason> {
        self.take_over(saved);
        let waits = waiting(&saved.ancestries).ok_or(CONTRADICTION)?;
        let first = waits.iter().map(|one| one.depth).min().unwrap_or(0);
        let mut sorter = Sorter::new(waits, saved.ancestries.len());
        let (mut order, mut later) = (InOrder::default(), Later::default());
        let mut names = Vec::new();
        states.each(&mut |finder, state, annotation| {
            let (number, waits) = sorter.next(finder).ok_or(CONTRADICTION)?;
            let name = self.restore(state)?;
            let Some(depth) = waits else {
                self.note_expanded(state);
                return self.look_around();
            };
            // Every state was found once.
            let name = name.ok_or(CONTRADICTION)?;
            if depth == first {
                order.add(finder, number);
                self.queue.push(name, state, annotation).map_err(no_memory)?;
            } else {
                let start = later.bytes.len();
                later.bytes.try_reserve(state.len()).map_err(no_memory)?;
                later.bytes.extend_from_slice(state);
                later.list.push((depth, names.len(), annotation, start..later.bytes.len()));
                names.push((finder, number, name));
            }
            self.look_around()
        })?;
        let left = self.queue.waiting();
        // Stable: for each depth they stay in order.
        later.list.sort_by_key(|one| one.0);
        for (_, at, annotation, bytes) in later.list {
            let (finder, number, name) = names[at];
            order.add(finder, number);
            self.queue.push(name, &later.bytes[bytes], annotation).map_err(no_memory)?;
        }
        let own = Pack { expansion: order.n, worker: self.number, state: 0 };
        self.ancestry.expect(order.packs.into_iter().chain([own]).collect()).map_err(no_memory)?;
        self.ancestry.wait().map_err(no_memory)?;
        self.depth = first;
        if left > 0 {
            self.expand_and_keep(left, batch, keeping)?;
            self.depth += 1;
        }
        Ok(())
    }

    /// Expands so many states, which are of one level, and writes the search down when it is time to.
    pub(super) fn expand_and_keep(
        &mut self,
        mut left: u64,
        batch: &mut Batch<S::Ticket, S::Name>,
        keeping: Keeping<'_>,
    ) -> Result<(), StopReason> {
        if left > 0 {
            self.statistics.depth = self.statistics.depth.max(self.depth);
        }
        if self.log.is_some() {
            self.ancestry.note_depth(self.depth + 1);
        }
        while left > 0 {
            if keeping.journal.is_some_and(|journal| journal.is_due()) {
                self.write_down(keeping);
            }
            left -= self.expand_next(left, batch)?;
        }
        Ok(())
    }

    /// Writes the search down, between two batches.
    #[cold]
    fn write_down(&mut self, keeping: Keeping<'_>) {
        self.finish_worker();
        let Some(log) = &mut self.log else { return };
        log.flush();
        log.journal.commit(&Moment {
            ancestries: keeping.with_formers([&self.ancestry].into_iter()),
            found: self.found.clone(),
            statistics: self.statistics,
            found_twice: self.found_twice,
            cuts: self.cuts.clone(),
            random: self.random.as_ref().map(Random::state),
        });
    }

    /// Writes down how far it came, where it ends before its time; the last batch may have been given up.
    #[cold]
    pub(super) fn keep_the_end(&mut self, keeping: Keeping<'_>) {
        let (statistics, found) = (self.statistics, self.found.clone());
        let twice = self.found_twice;
        self.give_up_batch();
        self.write_down(keeping);
        // What this run tells is what it did.
        (self.statistics, self.found, self.found_twice) = (statistics, found, twice);
    }

    /// What belongs to the batch that was given up is to be done again.
    pub fn give_up_batch(&mut self) {
        let marker = std::mem::take(&mut self.marker);
        let (statistics, found, twice) = marker.give_up(&mut self.ancestry);
        (self.statistics, self.found) = (statistics, found);
        self.found_twice += twice;
    }

    /// What a machine's worker knows (which statements were executed) it tells when it ends; another one
    /// takes its place.
    fn finish_worker(&mut self) {
        self.cuts = self.take_cuts();
        let exact = self.levels == super::Levels::Steps;
        self.expander = Expander::new(self.system, self.task.reduce);
        self.expander.set_exact(exact);
    }
}

/// Fills the packs of a team with what waits; `each` is handed one when it is full, with its depth.
pub(crate) fn restore_packs<S: Batched, Q: Queue<S>, P: States<S>>(
    search: &mut Frontier<'_, S, Q>,
    (saved, states): (&Saved, &dyn SavedStates),
    most: u64,
    each: &mut dyn FnMut(Parcel<P>) -> Result<(), StopReason>,
) -> Result<(), StopReason> {
    let waits = waiting(&saved.ancestries).ok_or(CONTRADICTION)?;
    let mut sorter = Sorter::new(waits, saved.ancestries.len());
    // One for each finder, whose states come one after another.
    let mut open: Vec<Parcel<P>> = Vec::new();
    open.resize_with(saved.ancestries.len(), Parcel::default);
    states.each(&mut |finder, state, annotation| {
        let (number, waits) = sorter.next(finder).ok_or(CONTRADICTION)?;
        let name = search.restore(state)?;
        let Some(depth) = waits else {
            search.note_expanded(state);
            return search.look_around();
        };
        let name = name.ok_or(CONTRADICTION)?;
        let pack = &mut open[finder];
        let goes_on = pack.len > 0 && pack.first + pack.len == number && pack.depth == depth;
        if !goes_on || pack.len >= most {
            let next = Parcel { states: P::default(), len: 0, finder, first: number, depth };
            let full = std::mem::replace(pack, next);
            if full.len > 0 {
                each(full)?;
            }
        }
        pack.states.push(name, state, annotation).map_err(no_memory)?;
        pack.len += 1;
        search.look_around()
    })?;
    open.into_iter().filter(|pack| pack.len > 0).try_for_each(each)
}
