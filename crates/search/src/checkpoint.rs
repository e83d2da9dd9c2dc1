//! Checkpoints: what a frontier search writes down while it runs, so that it can be continued.
//!
//! Every worker writes the states that it finds, in the order of finding, into a [`Journal`], which only
//! grows; ancestries only grow, too. So at a moment at which nobody is in the midst of a state, a little is
//! enough: how far each list goes, what was found, and the counts ([`Moment`]). Nothing is said of the store,
//! the queue or the packs that workers share. The store has what was found; what waits is what was found and
//! is not expanded, and that is in the ancestries ([`waiting`]). So a search goes on in any store, with any
//! number of workers.
//!
//! A search that a limit ended may have given up the batch of states that it was expanding. The states that
//! it had found by then stay found, since other workers may have expanded them; the batch is expanded again
//! ([`Marker`]), and what its steps lead to is then known. So many steps count too often as such
//! ([`Moment::found_twice`]).

use crate::ancestry::{Ancestry, Ordinal};
use crate::cuts::Cuts;
use crate::disk::Disk;
use crate::findings::Findings;
use crate::outcome::{Statistics, StopReason};
use std::ops::Range;
use std::sync::Arc;
use system::Annotation;

/// States are handed to the journal when they have so many bytes.
const BLOCK: usize = 1 << 18;

/// States that a worker found, in the order of finding.
#[derive(Debug, Default)]
pub struct FoundStates {
    /// Their bytes, one after another.
    pub bytes: Vec<u8>,
    /// How long each is, and its annotation.
    pub list: Vec<(u32, Annotation)>,
}

impl FoundStates {
    /// The states.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], Annotation)> {
        let mut rest = &self.bytes[..];
        self.list.iter().map(move |&(len, annotation)| {
            let (state, others) = rest.split_at(len as usize);
            rest = others;
            (state, annotation)
        })
    }

    /// Forgets all states, keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.list.clear();
    }
}

/// Where a search is written down.
pub trait Journal: Sync {
    /// Whether it is time for a moment to be written.
    fn is_due(&self) -> bool;

    /// States that were found by the worker with this ancestry, after those that it handed over before.
    fn add(&self, ancestry: usize, states: &FoundStates);

    /// From here the search can go on: all lists up to here are written.
    fn commit(&self, moment: &Moment<'_>);
}

/// A moment from which a search can go on.
#[derive(Debug)]
pub struct Moment<'a> {
    /// The ancestries of all workers, former ones first.
    pub ancestries: Vec<&'a Ancestry>,
    /// Violations and the like.
    pub found: Findings,
    /// Counts.
    pub statistics: Statistics,
    /// How many steps will count as steps to a known state though they found it.
    pub found_twice: u64,
    /// Where paths were cut off.
    pub cuts: Cuts,
    /// Where the random numbers are, if the order is a random one.
    pub random: Option<u64>,
}

/// A search that was written down.
#[derive(Debug, Default)]
pub struct Saved {
    /// The ancestries of all workers.
    pub ancestries: Vec<Ancestry>,
    /// Violations and the like.
    pub found: Findings,
    /// Counts.
    pub statistics: Statistics,
    /// As in [`Moment::found_twice`].
    pub found_twice: u64,
    /// Where paths were cut off.
    pub cuts: Cuts,
    /// Where the random numbers were.
    pub random: Option<u64>,
}

impl Saved {
    /// How many states were found.
    pub fn states(&self) -> u64 {
        self.ancestries.iter().map(Ancestry::found_so_far).sum()
    }
}

/// Is handed a state: whose it is, its bytes, its annotation.
pub type Visit<'v> = dyn FnMut(usize, &[u8], Annotation) -> Result<(), StopReason> + 'v;

/// The states of a search that was written down.
pub trait SavedStates: Sync {
    /// Hands out all states, those of each ancestry in the order of finding. Why one cannot be read is kept
    /// elsewhere.
    fn each(&self, visit: &mut Visit<'_>) -> Result<(), StopReason>;
}

/// What a search has outside of its memory: where it is written down, from where it goes on, and what need not
/// be at hand.
#[derive(Clone, Copy, Default)]
pub struct Keeping<'a> {
    /// Where it is written.
    pub journal: Option<&'a dyn Journal>,
    /// From where it goes on.
    pub resumed: Option<(&'a Saved, &'a dyn SavedStates)>,
    /// Where what waits goes when it takes too much memory.
    pub disk: Option<&'a Arc<dyn Disk>>,
}

impl<'a> Keeping<'a> {
    /// Nothing.
    pub const NONE: Self = Keeping { journal: None, resumed: None, disk: None };

    /// How many ancestries there are before those of the workers to come.
    pub(crate) fn formers(&self) -> usize {
        self.resumed.map_or(0, |(saved, _)| saved.ancestries.len())
    }

    /// The ancestries of former workers, and these.
    pub(crate) fn with_formers<'b>(&self, own: impl Iterator<Item = &'b Ancestry>) -> Vec<&'b Ancestry>
    where
        'a: 'b,
    {
        let formers = self.resumed.into_iter().flat_map(|(saved, _)| &saved.ancestries);
        formers.chain(own).collect()
    }

    /// What a worker writes its states to.
    pub(crate) fn log(&self, worker: usize) -> Option<FoundLog<'a>> {
        let ancestry = self.formers() + worker;
        let log = |journal| FoundLog { journal, ancestry, states: FoundStates::default() };
        self.journal.map(log)
    }
}

/// Whether a search that ended for this reason may be continued.
pub fn can_go_on(stop: StopReason) -> bool {
    match stop {
        StopReason::StateLimit
        | StopReason::MemoryLimit
        | StopReason::Disk
        | StopReason::TimeLimit
        | StopReason::Interrupted => true,
        StopReason::Completed
        | StopReason::Violation
        | StopReason::TooManyProcesses
        | StopReason::Branching
        | StopReason::Decided => false,
    }
}

/// The states of one worker on their way to the journal.
pub(crate) struct FoundLog<'a> {
    pub journal: &'a dyn Journal,
    ancestry: usize,
    states: FoundStates,
}

impl FoundLog<'_> {
    #[inline]
    pub fn add(&mut self, state: &[u8], annotation: Annotation) {
        self.states.bytes.extend_from_slice(state);
        self.states.list.push((state.len() as u32, annotation));
        if self.states.bytes.len() >= BLOCK {
            self.flush();
        }
    }

    /// Hands over what there is.
    pub fn flush(&mut self) {
        if !self.states.list.is_empty() {
            self.journal.add(self.ancestry, &self.states);
            self.states.clear();
        }
    }
}

/// How far a worker was before the batch that it expands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marker {
    parent: Ordinal,
    child: Ordinal,
    statistics: Statistics,
    found: Findings,
}

impl Marker {
    /// A worker begins a batch.
    pub fn mark(&mut self, ancestry: &Ancestry, statistics: Statistics, found: &Findings) {
        (self.parent, self.child) = (ancestry.parent(), ancestry.found_so_far());
        self.statistics = statistics;
        if self.found.version() != found.version() {
            self.found.clone_from(found);
        }
    }

    /// The batch is given up: says what was counted and found without it, and how many states it has found.
    pub fn give_up(self, ancestry: &mut Ancestry) -> (Statistics, Findings, u64) {
        ancestry.given_up = self.parent..ancestry.parent();
        (self.statistics, self.found, ancestry.found_so_far() - self.child)
    }
}

/// States that wait: found by one worker one after another, all at one depth.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Waiting {
    pub finder: usize,
    pub states: Range<Ordinal>,
    pub depth: u64,
}

/// What was found and is not expanded: by finder, in the order of finding. `None` where ancestries contradict
/// each other.
pub(crate) fn waiting(ancestries: &[Ancestry]) -> Option<Vec<Waiting>> {
    let mut expanded: Vec<Vec<Range<Ordinal>>> = vec![Vec::new(); ancestries.len()];
    for (worker, ancestry) in ancestries.iter().enumerate() {
        for (finder, states) in ancestry.expansions(worker) {
            expanded.get_mut(finder)?.push(states);
        }
    }
    let mut waiting = Vec::new();
    for (finder, (ancestry, mut expanded)) in ancestries.iter().zip(expanded).enumerate() {
        expanded.sort_unstable_by_key(|states| states.start);
        let all = ancestry.found_so_far();
        let mut next = 0;
        for done in expanded.into_iter().chain(std::iter::once(all..all)) {
            // No state is expanded twice, or before it is found.
            if done.start < next || done.end > all {
                return None;
            }
            by_depth(ancestry, finder, next..done.start, &mut waiting);
            next = done.end;
        }
    }
    Some(waiting)
}

/// Takes states apart where their depth changes.
fn by_depth(ancestry: &Ancestry, finder: usize, states: Range<Ordinal>, out: &mut Vec<Waiting>) {
    let depths = ancestry.depths();
    let mut start = states.start;
    while start < states.end {
        let after = depths.partition_point(|depth| depth.state <= start);
        let depth = after.checked_sub(1).map_or(0, |at| depths[at].depth);
        let end = depths.get(after).map_or(states.end, |next| next.state.min(states.end));
        out.push(Waiting { finder, states: start..end, depth });
        start = end;
    }
}

/// For who reads the states of all ancestries: whether each waits.
#[derive(Debug)]
pub(crate) struct Sorter {
    /// By finder: what waits, and how far it was read.
    finders: Vec<(Vec<Waiting>, usize, Ordinal)>,
}

impl Sorter {
    pub fn new(waiting: Vec<Waiting>, finders: usize) -> Self {
        let mut sorted: Vec<(Vec<Waiting>, usize, Ordinal)> = vec![Default::default(); finders];
        for one in waiting {
            sorted[one.finder].0.push(one);
        }
        Sorter { finders: sorted }
    }

    /// The next state of a finder: its number, and its depth if it waits.
    pub fn next(&mut self, finder: usize) -> Option<(Ordinal, Option<u64>)> {
        let (waiting, at, state) = self.finders.get_mut(finder)?;
        let number = *state;
        *state += 1;
        while waiting.get(*at).is_some_and(|one| one.states.end <= number) {
            *at += 1;
        }
        let one = waiting.get(*at).filter(|one| one.states.start <= number);
        Some((number, one.map(|one| one.depth)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ancestry(own: &[(u64, &[u32])]) -> Ancestry {
        let mut ancestry = Ancestry::default();
        for (depth, edges) in own {
            ancestry.note_depth(depth + 1);
            edges.iter().for_each(|&edge| ancestry.found(edge).unwrap());
            ancestry.expanded().unwrap();
        }
        ancestry
    }

    #[test]
    fn what_waits_is_what_was_found_and_not_expanded() {
        // The first worker found 0 to 4 and expanded 0 and 1; the second took up 2 and 3, and gave 3 up.
        let mut one = Ancestry::default();
        one.note_depth(0);
        one.begin().unwrap();
        one.note_depth(1);
        (0..2).for_each(|edge| one.found(edge).unwrap());
        one.expanded().unwrap();
        one.note_depth(2);
        (0..2).for_each(|edge| one.found(edge).unwrap());
        one.expanded().unwrap();
        let mut two = Ancestry::default();
        two.take_up(0, 2).unwrap();
        two.note_depth(2);
        two.found(0).unwrap();
        two.expanded().unwrap();
        two.found(0).unwrap();
        two.expanded().unwrap();
        let at = |finder, states: Range<u64>, depth| Waiting { finder, states, depth };
        let images =
            |one: &Ancestry, two: &Ancestry| [one, two].map(|a| Ancestry::of_image(a.image().unwrap()));
        let all = waiting(&images(&one, &two)).unwrap();
        assert_eq!(all, [at(0, 4..5, 2), at(1, 0..2, 2)]);
        two.given_up = 1..2;
        let all = waiting(&images(&one, &two)).unwrap();
        assert_eq!(all, [at(0, 3..5, 2), at(1, 0..2, 2)]);
        let mut sorter = Sorter::new(all, 2);
        let read: Vec<bool> = (0..5).map(|_| sorter.next(0).unwrap().1.is_some()).collect();
        assert_eq!(read, [false, false, false, true, true]);
        assert_eq!(sorter.next(1), Some((0, Some(2))));
        assert_eq!(sorter.next(2), None);
    }

    #[test]
    fn contradictions_are_noticed() {
        // Two workers expanded the same state.
        let mut two = ancestry(&[]);
        two.take_up(0, 0).unwrap();
        two.expanded().unwrap();
        assert!(waiting(&[ancestry(&[(0, &[0, 1])]), two]).is_none());
        // A state was expanded before it was found.
        assert!(waiting(&[ancestry(&[(0, &[]), (0, &[])])]).is_none());
        let mut nobody = Ancestry::default();
        nobody.take_up(7, 0).unwrap();
        nobody.expanded().unwrap();
        assert!(waiting(&[nobody]).is_none());
    }
}
