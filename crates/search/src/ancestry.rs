//! From a state back to the beginning, for a search that takes states in the order in which it found them.
//!
//! States have no names here but their *ordinals*: the first is 0, and they are expanded in that order. So
//! the parents of states 1, 2, 3 … never decrease, and it is enough to write down, for each expanded state,
//! which of its edges led to a new state: half a byte for each, and half a byte for the end. About one byte a
//! state, written one after another, whatever the store does with its entries.
//!
//! A state that was not inserted while its parent was expanded (see `frontier`: a long atomic sequence) is
//! noted apart.
//!
//! Landmarks at regular distances make going back quick: to the nearest landmark, then along the log.
//!
//! **Several workers** each keep an ancestry of their own: of the states that they found, in their order of
//! finding. A worker expands states in packs, each found by one worker without a gap, so a note for each pack
//! ([`Ancestry::take_up`]) tells which states its expansions were. A way back goes from ancestry to ancestry
//! ([`edges_to`]).
//!
//! **After an interruption** ([`checkpoint`](crate::checkpoint)) the ancestries that were written down stay as
//! they are, and the workers of the search that goes on are more workers.
//!
//! **On a disk** ([`disk`](crate::disk)) is the older part, where memory is short: nobody asks for it before the
//! search is over.

use crate::disk::{Cached, Disk, Item, List, Spill, word};
use crate::edge_number::EdgeOrder;
use crate::outcome::StopReason;
use std::borrow::Cow;
use std::collections::TryReserveError;
use std::ops::Range;
use std::sync::Arc;
use system::Sequence;

/// The place of a state in the order of finding.
pub type Ordinal = u64;

/// Parents between two landmarks, about.
const STRETCH: u64 = 1024;
/// Of the memory that is for what may be on a disk, this part of a worker's is for each list.
const PART: u64 = 8;
/// Bits of a number in a half-byte; the fourth says that more follow.
const GROUP: u32 = 3;
/// Groups of the longest number.
const MOST_GROUPS: u64 = 11;

/// A place in the log from which it can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Landmark {
    /// The half-byte.
    pub at: u64,
    /// The parent that is expanded here.
    pub parent: Ordinal,
    /// The state that is found next.
    pub child: Ordinal,
}

/// From this expansion on a worker expanded states that were found one after another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pack {
    /// The first of the expansions.
    pub expansion: Ordinal,
    /// Who found them.
    pub worker: usize,
    /// The first of them.
    pub state: Ordinal,
}

impl Pack {
    /// Whose and which state this expansion, which is one of the pack, was of.
    fn at(&self, expansion: Ordinal) -> (usize, Ordinal) {
        (self.worker, self.state + (expansion - self.expansion))
    }
}

impl Item for Pack {
    const BYTES: usize = 24;

    fn write(self, out: &mut Vec<u8>) {
        [self.expansion, self.worker as u64, self.state].into_iter().for_each(|word| word.write(out));
    }

    fn read(from: &[u8]) -> Option<Self> {
        Some(Pack { expansion: word(from, 0)?, worker: word(from, 1)? as usize, state: word(from, 2)? })
    }
}

/// A state that was not found while its parent was expanded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Apart {
    state: Ordinal,
    parent: Ordinal,
    edge: u32,
}

impl Item for Apart {
    const BYTES: usize = 24;

    fn write(self, out: &mut Vec<u8>) {
        [self.state, self.parent, u64::from(self.edge)].into_iter().for_each(|word| word.write(out));
    }

    fn read(from: &[u8]) -> Option<Self> {
        Some(Apart { state: word(from, 0)?, parent: word(from, 1)?, edge: word(from, 2)? as u32 })
    }
}

/// From this state on those that a worker found have this depth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Depth {
    /// The state.
    pub state: Ordinal,
    /// Edges from the initial state, along the way that was found.
    pub depth: u64,
}

/// Which edge of which state led to each state.
#[derive(Debug, Default)]
pub struct Ancestry {
    /// Half-bytes, the lower ones first: for each parent the numbers of its edges plus one, in groups of
    /// three bits, and a 0.
    log: List<u64>,
    /// The half-bytes that do not fill a word yet, and how many bits they have.
    latest: u64,
    bits: u32,
    landmarks: Vec<Landmark>,
    parent: Ordinal,
    child: Ordinal,
    /// In their order of finding.
    apart: List<Apart>,
    landmark_due: bool,
    /// None when only one worker searches: then states are expanded in the order of finding.
    packs: List<Pack>,
    /// How deep states are, where somebody will ask.
    depths: Vec<Depth>,
    /// Expansions that were given up: they count for the states that they found, and are to be made again.
    pub(crate) given_up: Range<Ordinal>,
}

/// How far the lists of an ancestry were written down.
#[derive(Clone, Copy, Default, Debug)]
pub struct Lengths {
    log: usize,
    landmarks: usize,
    packs: usize,
    depths: usize,
}

/// An ancestry as it is written down, or what came to it. All lists but the log's end only grow.
#[derive(Clone, Debug, Default)]
pub struct AncestryImage<'a> {
    /// Half-bytes, sixteen a word.
    pub log: Cow<'a, [u64]>,
    /// The half-bytes that do not fill a word, and how many bits they have.
    pub latest: (u64, u32),
    /// Places from which the log can be read.
    pub landmarks: Cow<'a, [Landmark]>,
    /// Which states were expanded.
    pub packs: Cow<'a, [Pack]>,
    /// How deep states are.
    pub depths: Cow<'a, [Depth]>,
    /// How many states were expanded and found.
    pub parent: Ordinal,
    /// How many states were found.
    pub child: Ordinal,
    /// Expansions that are to be made again.
    pub given_up: Range<Ordinal>,
}

impl Ancestry {
    /// Of a worker that never came.
    pub(crate) const NOTHING: Ancestry = Ancestry {
        log: List::new(),
        latest: 0,
        bits: 0,
        landmarks: Vec::new(),
        parent: 0,
        child: 0,
        apart: List::new(),
        landmark_due: false,
        packs: List::new(),
        depths: Vec::new(),
        given_up: 0..0,
    };

    /// From now on what is old may be on this disk; so many workers share it.
    pub(crate) fn spill_to(&mut self, disk: &Arc<dyn Disk>, workers: u64) {
        let spill = Spill::new(disk, PART * workers);
        self.log.spill_to(spill.clone());
        self.packs.spill_to(spill.clone());
        self.apart.spill_to(spill);
    }

    /// Expansions that are to be made again.
    pub fn given_up(&self) -> Range<Ordinal> {
        self.given_up.clone()
    }

    /// All that is written down of it.
    pub fn image(&self) -> Result<AncestryImage<'_>, StopReason> {
        self.image_since(Lengths::default())
    }

    /// How far the lists are.
    pub fn lengths(&self) -> Lengths {
        let (log, landmarks) = (self.log.len(), self.landmarks.len());
        Lengths { log, landmarks, packs: self.packs.len(), depths: self.depths.len() }
    }

    /// What is written down where the lists were written so far. Of a search by single steps there is more to
    /// an ancestry. What is on a disk is read back.
    pub fn image_since(&self, written: Lengths) -> Result<AncestryImage<'_>, StopReason> {
        debug_assert!(self.apart.is_empty(), "searches by single steps are not written down");
        Ok(AncestryImage {
            log: self.log.range(written.log..self.log.len())?,
            latest: (self.latest, self.bits),
            landmarks: Cow::Borrowed(&self.landmarks[written.landmarks..]),
            packs: self.packs.range(written.packs..self.packs.len())?,
            depths: Cow::Borrowed(&self.depths[written.depths..]),
            parent: self.parent,
            child: self.child,
            given_up: self.given_up.clone(),
        })
    }

    /// As it was written down. What is wrong with it shows when it is read: paths end early, which no replay
    /// accepts.
    pub fn of_image(image: AncestryImage<'_>) -> Self {
        Ancestry {
            log: image.log.into_owned().into(),
            latest: image.latest.0,
            bits: image.latest.1,
            landmarks: image.landmarks.into_owned(),
            parent: image.parent,
            child: image.child,
            apart: List::new(),
            landmark_due: true,
            packs: image.packs.into_owned().into(),
            depths: image.depths.into_owned(),
            given_up: image.given_up,
        }
    }

    /// The states that are found from now on have this depth.
    pub fn note_depth(&mut self, depth: u64) {
        if self.depths.last().is_none_or(|last| last.depth != depth) {
            self.depths.push(Depth { state: self.child, depth });
        }
    }

    /// The expansions to come are those of states that these packs name, and then of its own.
    pub(crate) fn expect(&mut self, packs: Vec<Pack>) -> Result<(), TryReserveError> {
        debug_assert!(self.packs.is_empty() && self.parent == 0);
        packs.into_iter().try_for_each(|pack| self.packs.push(pack))
    }

    /// Which states were expanded here for good, as runs of states of one finder; `own` is this worker's
    /// number.
    pub(crate) fn expansions(&self, own: usize) -> impl Iterator<Item = (usize, Range<Ordinal>)> {
        let whole = [Pack { expansion: 0, worker: own, state: 0 }];
        let packs = if self.packs.is_empty() { &whole } else { self.packs.all() }.to_vec();
        let ends: Vec<Ordinal> =
            packs.iter().skip(1).map(|pack| pack.expansion).chain([self.parent]).collect();
        let (done, again) = (self.parent, self.given_up.clone());
        packs.into_iter().zip(ends).flat_map(move |(pack, end)| {
            let end = end.min(done);
            // What was given up is a hole in the middle.
            let before = pack.expansion..end.min(again.start.max(pack.expansion));
            let after = pack.expansion.max(again.end)..end;
            let parts = if again.is_empty() { [pack.expansion..end, 0..0] } else { [before, after] };
            parts.into_iter().filter(|part| !part.is_empty()).map(move |part| {
                let at = |expansion: Ordinal| pack.state + (expansion - pack.expansion);
                (pack.worker, at(part.start)..at(part.end))
            })
        })
    }

    /// The depths of the states that were found here.
    pub(crate) fn depths(&self) -> &[Depth] {
        &self.depths
    }

    /// Nothing was found yet, and somebody else will begin.
    pub fn wait(&mut self) -> Result<(), TryReserveError> {
        self.place_landmark()
    }

    /// The expansions that follow are those of states that `worker` found, from this one on.
    pub fn take_up(&mut self, worker: usize, state: Ordinal) -> Result<(), TryReserveError> {
        debug_assert!(self.packs.last().is_none_or(|last| last.expansion <= self.parent));
        if self.packs.last().map(|last| last.at(self.parent)) == Some((worker, state)) {
            return Ok(());
        }
        self.packs.push(Pack { expansion: self.parent, worker, state })
    }

    /// Whose and which state an expansion was of, as far as noted.
    fn taken(
        &self,
        expansion: Ordinal,
        cached: &mut Cached<Pack>,
    ) -> Result<Option<(usize, Ordinal)>, StopReason> {
        let pack = self.packs.last_where(|pack| pack.expansion <= expansion, cached)?;
        Ok(pack.map(|(_, pack)| pack.at(expansion)))
    }

    /// The initial state was found; it is expanded first.
    pub fn begin(&mut self) -> Result<(), TryReserveError> {
        self.child = 1;
        self.place_landmark()
    }

    /// How many states were found.
    pub fn found_so_far(&self) -> u64 {
        self.child
    }

    /// The state that is being expanded, or will be next.
    pub fn parent(&self) -> Ordinal {
        self.parent
    }

    /// The edge with this number of the state that is being expanded led to a new state.
    #[inline]
    pub fn found(&mut self, edge: u32) -> Result<(), TryReserveError> {
        if self.landmark_due {
            self.place_landmark()?;
        }
        let mut rest = u64::from(edge) + 1;
        while rest >= 1 << GROUP {
            self.write(rest & 7 | 8)?;
            rest >>= GROUP;
        }
        self.write(rest)?;
        self.child += 1;
        Ok(())
    }

    /// A state was found by an edge of a state that was expanded before.
    pub fn found_apart(&mut self, parent: Ordinal, edge: u32) -> Result<(), TryReserveError> {
        self.apart.push(Apart { state: self.child, parent, edge })?;
        self.child += 1;
        self.landmark_due = true;
        Ok(())
    }

    /// So many states were found elsewhere, and come next in the order of finding: where they come from is kept
    /// there where they were put in (`distributed/origins.rs`).
    pub(crate) fn found_elsewhere(&mut self, n: u64) {
        self.child += n;
        self.landmark_due |= n > 0;
    }

    /// The state has been expanded; the next one follows.
    #[inline]
    pub fn expanded(&mut self) -> Result<(), TryReserveError> {
        if self.landmark_due {
            self.place_landmark()?;
        }
        self.write(0)?;
        self.parent += 1;
        self.landmark_due = self.parent.is_multiple_of(STRETCH);
        Ok(())
    }

    /// Several states have been expanded. Of each it is said where its edges end and how they are numbered;
    /// `new` are the edges that led to new states. Does what [`Ancestry::found`] and [`Ancestry::expanded`] do
    /// for each of them.
    #[inline(never)]
    pub(crate) fn expanded_all(
        &mut self,
        parents: impl ExactSizeIterator<Item = (u32, EdgeOrder)>,
        mut new: impl ExactSizeIterator<Item = u32>,
    ) -> Result<(), TryReserveError> {
        if self.landmark_due {
            self.place_landmark()?;
        }
        let (n_parents, n_new) = (parents.len() as u64, new.len() as u64);
        self.log.reserve((n_parents + MOST_GROUPS * n_new) as usize / 16 + 1)?;
        let (mut latest, mut bits) = (self.latest, self.bits);
        let mut write = |half: u64| {
            latest |= half << (bits % 64);
            bits += 4;
            if bits == 64 {
                self.log.put(std::mem::take(&mut latest));
                bits = 0;
            }
        };
        let (mut first, mut next) = (0, new.next().unwrap_or(u32::MAX));
        for (end, order) in parents {
            while next < end {
                let mut rest = u64::from(order.encode(next - first)) + 1;
                while rest >= 1 << GROUP {
                    write(rest & 7 | 8);
                    rest >>= GROUP;
                }
                write(rest);
                next = new.next().unwrap_or(u32::MAX);
            }
            write(0);
            first = end;
        }
        (self.latest, self.bits) = (latest, bits);
        self.child += n_new;
        self.landmark_due = self.parent / STRETCH != (self.parent + n_parents) / STRETCH;
        self.parent += n_parents;
        Ok(())
    }

    /// As [`Ancestry::expanded_all`], for states of which only some edges were looked at: each has its number
    /// beside it.
    pub(crate) fn expanded_numbered(
        &mut self,
        parents: impl Iterator<Item = u32>,
        mut new: impl Iterator<Item = u32>,
        numbers: &[u32],
    ) -> Result<(), TryReserveError> {
        let mut next = new.next();
        for end in parents {
            while let Some(at) = next.filter(|&at| at < end) {
                self.found(numbers[at as usize])?;
                next = new.next();
            }
            self.expanded()?;
        }
        debug_assert!(next.is_none(), "every edge belongs to a state");
        Ok(())
    }

    #[cold]
    fn place_landmark(&mut self) -> Result<(), TryReserveError> {
        self.landmarks.try_reserve(1)?;
        self.landmarks.push(Landmark { at: self.written(), parent: self.parent, child: self.child });
        self.landmark_due = false;
        Ok(())
    }

    #[inline(always)]
    fn write(&mut self, half: u64) -> Result<(), TryReserveError> {
        self.latest |= half << (self.bits % 64);
        self.bits += 4;
        if self.bits == 64 { self.flush() } else { Ok(()) }
    }

    /// How many half-bytes were written.
    fn written(&self) -> u64 {
        self.log.len() as u64 * 16 + u64::from(self.bits / 4)
    }

    #[cold]
    fn flush(&mut self) -> Result<(), TryReserveError> {
        self.log.push(self.latest)?;
        (self.latest, self.bits) = (0, 0);
        Ok(())
    }

    /// The parents of the states from the last landmark before `state` on to the next one, and the numbers of
    /// the edges.
    fn stretch(&self, state: Ordinal) -> Result<Option<Stretch>, StopReason> {
        let after = self.landmarks.partition_point(|landmark| landmark.child <= state);
        let landmark = after.checked_sub(1).and_then(|at| self.landmarks.get(at));
        let Some(&Landmark { mut at, mut parent, child }) = landmark else { return Ok(None) };
        let end = self.landmarks.get(after).map_or(self.written(), |next| next.at);
        let base = (at / 16) as usize;
        let words = self.log.range(base..(end / 16 + 1) as usize)?;
        let read = |at: u64| {
            let word = words.get((at / 16) as usize - base).copied().unwrap_or(self.latest);
            (word >> (4 * (at % 16))) as u8 & 15
        };
        let mut stretch = Stretch { first: child, origins: Vec::new() };
        while at < end {
            let (mut number, mut shift) = (0u64, 0);
            loop {
                let half = read(at);
                at += 1;
                number |= u64::from(half & 7) << shift;
                shift += GROUP;
                if half & 8 == 0 {
                    break;
                }
            }
            match number.checked_sub(1) {
                None => parent += 1,
                Some(edge) => stretch.origins.push((parent, edge as u32)),
            }
        }
        Ok(Some(stretch))
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> u64 {
        let landmarks = self.landmarks.capacity() * size_of::<Landmark>();
        let depths = self.depths.capacity() * size_of::<Depth>();
        self.log.memory() + self.packs.memory() + self.apart.memory() + (landmarks + depths) as u64
    }
}

/// The origins of the states that were found between two landmarks: a long way back passes most of them, one
/// after another.
#[derive(Debug, Default)]
struct Stretch {
    /// The first state.
    first: Ordinal,
    /// Parent and edge of each.
    origins: Vec<(Ordinal, u32)>,
}

/// What was read of an ancestry last.
#[derive(Debug, Default)]
struct Reading {
    stretch: Stretch,
    packs: Cached<Pack>,
    apart: Cached<Apart>,
}

impl Reading {
    /// The parent of a state and the number of its edge; states between the same landmarks are found at once.
    fn origin(&mut self, ancestry: &Ancestry, state: Ordinal) -> Result<Option<(Ordinal, u32)>, StopReason> {
        let apart = ancestry.apart.last_where(|apart| apart.state <= state, &mut self.apart)?;
        if let Some((_, Apart { parent, edge, .. })) = apart.filter(|(_, apart)| apart.state == state) {
            return Ok(Some((parent, edge)));
        }
        let at = |stretch: &Stretch| Some(*stretch.origins.get(state.checked_sub(stretch.first)? as usize)?);
        if at(&self.stretch).is_none() {
            let Some(stretch) = ancestry.stretch(state)? else { return Ok(None) };
            self.stretch = stretch;
        }
        Ok(at(&self.stretch))
    }
}

/// The ways back through one ancestry, state by state.
pub(crate) struct Lineage<'a> {
    ancestry: &'a Ancestry,
    reading: Reading,
}

impl<'a> Lineage<'a> {
    /// Through this ancestry.
    pub fn new(ancestry: &'a Ancestry) -> Self {
        Lineage { ancestry, reading: Reading::default() }
    }

    /// The parent of a state that was found here, and the number of the edge.
    pub fn origin(&mut self, state: Ordinal) -> Option<(Ordinal, u32)> {
        // Searches by several processes keep ancestries in memory.
        self.reading.origin(self.ancestry, state).ok().flatten()
    }
}

/// The numbers of the edges that lead back to the initial state from the one that `worker` expanded as the
/// one with this number, when these are the ancestries of all workers. Where something cannot be read back from
/// a disk the way ends early; the disk knows of it.
pub fn edges_to(ancestries: &[&Ancestry], worker: usize, expansion: Ordinal) -> Sequence<u32> {
    let mut readings: Vec<Reading> = ancestries.iter().map(|_| Reading::default()).collect();
    let mut edges = Sequence::new();
    let mut at = (worker, expansion);
    while let Ok(Some((before, edge))) = step_back(ancestries, &mut readings, at) {
        edges.push(edge);
        at = before;
    }
    edges
}

/// A worker, and which of its expansions.
type Expansion = (usize, Ordinal);

/// The expansion in which the state of this expansion was found, and the number of the edge.
fn step_back(
    ancestries: &[&Ancestry],
    readings: &mut [Reading],
    at: Expansion,
) -> Result<Option<(Expansion, u32)>, StopReason> {
    let (Some(ancestry), Some(reading)) = (ancestries.get(at.0), readings.get_mut(at.0)) else {
        return Ok(None);
    };
    let (finder, state) = ancestry.taken(at.1, &mut reading.packs)?.unwrap_or(at);
    let (Some(found), Some(reading)) = (ancestries.get(finder), readings.get_mut(finder)) else {
        return Ok(None);
    };
    let origin = reading.origin(found, state)?;
    Ok(origin.map(|(parent, edge)| ((finder, parent), edge)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::tests::TestDisk;
    use crate::random::Random;
    use std::sync::atomic::Ordering::Relaxed;

    /// Most of a long ancestry is on a disk, and leads back as if it were here.
    #[test]
    fn leads_back_from_a_disk() {
        let disk = TestDisk::new(0);
        let shared: Arc<dyn Disk> = Arc::clone(&disk) as _;
        let (mut here, mut away) = (Ancestry::default(), Ancestry::default());
        away.spill_to(&shared, 1);
        let mut random = Random::new(3);
        for ancestry in [&mut here, &mut away] {
            ancestry.begin().unwrap();
        }
        // Packs at random, which lead back a little at a time.
        for expansion in 0..300_000u64 {
            let (edge, apart, back) =
                (random.below(40) as u32, random.below(9) == 0, random.below(50) as u64);
            for ancestry in [&mut here, &mut away] {
                if expansion % 3 == 0 {
                    ancestry.take_up(0, expansion.saturating_sub(back)).unwrap();
                }
                ancestry.found(edge).unwrap();
                ancestry.expanded().unwrap();
                if apart {
                    ancestry.found_apart(expansion.saturating_sub(back), edge + 1).unwrap();
                }
            }
        }
        assert!(away.memory() < here.memory() / 3, "{} {}", away.memory(), here.memory());
        for last in [299_999, 150_000, 77, 0] {
            let [plain, other] = [&here, &away].map(|one| edges_to(&[one], 0, last));
            assert!(plain.len() > 20 || last < 100, "{}", plain.len());
            assert_eq!(plain.iter().collect::<Vec<_>>(), other.iter().collect::<Vec<_>>());
        }
        disk.broken.store(true, Relaxed);
        assert!(edges_to(&[&away], 0, 299_999).len() < edges_to(&[&here], 0, 299_999).len());
        disk.broken.store(false, Relaxed);
        let since = Ancestry::default().lengths();
        let (here, away) = (Ancestry { apart: List::new(), ..here }, Ancestry { apart: List::new(), ..away });
        let [plain, other] = [&here, &away].map(|one| one.image_since(since).unwrap());
        assert_eq!((&plain.log, &plain.packs), (&other.log, &other.packs));
        disk.broken.store(true, Relaxed);
        assert!(away.image_since(since).is_err());
    }

    /// Random trees, some states found apart, compared with links kept in the plainest way.
    #[test]
    fn leads_back_as_plain_links_do() {
        for seed in 0..30 {
            let mut random = Random::new(seed);
            let mut ancestry = Ancestry::default();
            let mut links: Vec<Option<(u64, u32)>> = vec![None];
            ancestry.begin().unwrap();
            for parent in 0..5000u64 {
                if parent >= links.len() as u64 {
                    break;
                }
                assert_eq!(ancestry.parent(), parent);
                for _ in 0..random.below(4) {
                    let most = if random.below(9) == 0 { 100_000 } else { 9 };
                    let edge = random.below(most) as u32;
                    ancestry.found(edge).unwrap();
                    links.push(Some((parent, edge)));
                }
                ancestry.expanded().unwrap();
                if seed % 2 == 0 && random.below(50) == 0 {
                    for _ in 0..random.below(5) {
                        let from = random.below(parent as usize + 1) as u64;
                        ancestry.found_apart(from, 77).unwrap();
                        links.push(Some((from, 77)));
                    }
                }
            }
            assert_eq!(ancestry.found_so_far(), links.len() as u64);
            for (state, link) in links.iter().enumerate() {
                let mut reading = Reading::default();
                assert_eq!(reading.origin(&ancestry, state as u64), Ok(*link), "seed {seed}, state {state}");
            }
            let mut edges = Vec::new();
            let mut at = links.len() - 1;
            while let Some((parent, edge)) = links[at] {
                edges.push(edge);
                at = parent as usize;
            }
            assert_eq!(edges_to(&[&ancestry], 0, links.len() as u64 - 1), edges);
        }
    }

    /// Workers who take packs of each other's states at random, compared with links kept in the plainest way.
    #[test]
    fn leads_back_through_several_workers() {
        const WORKERS: usize = 3;
        for seed in 0..6 {
            let mut random = Random::new(seed);
            let mut ancestries: Vec<Ancestry> = (0..WORKERS).map(|_| Ancestry::default()).collect();
            let mut links: Vec<Vec<Option<(usize, u64, u32)>>> = vec![Vec::new(); WORKERS];
            let mut expanded: Vec<Vec<(usize, u64)>> = vec![Vec::new(); WORKERS];
            let mut next = [0u64; WORKERS];
            ancestries[0].begin().unwrap();
            links[0].push(None);
            ancestries[1..].iter_mut().for_each(|ancestry| ancestry.wait().unwrap());
            for _ in 0..300 {
                let (worker, finder) = (random.below(WORKERS), random.below(WORKERS));
                let (first, known) = (next[finder], links[finder].len() as u64);
                let last = known.min(first + 1 + random.below(40) as u64);
                if first == last {
                    continue;
                }
                next[finder] = last;
                ancestries[worker].take_up(finder, first).unwrap();
                for state in first..last {
                    expanded[worker].push((finder, state));
                    let few = links.iter().map(Vec::len).sum::<usize>() < 500;
                    for _ in 0..random.below(3) + usize::from(few) {
                        let edge = random.below(9) as u32;
                        ancestries[worker].found(edge).unwrap();
                        links[worker].push(Some((finder, state, edge)));
                    }
                    ancestries[worker].expanded().unwrap();
                }
            }
            let all: Vec<&Ancestry> = ancestries.iter().collect();
            assert!(expanded.iter().map(Vec::len).sum::<usize>() > 50, "seed {seed}");
            for (worker, expansions) in expanded.iter().enumerate() {
                for (expansion, &(finder, state)) in expansions.iter().enumerate() {
                    let (mut edges, mut at) = (Vec::new(), (finder, state));
                    while let Some((finder, state, edge)) = links[at.0][at.1 as usize] {
                        edges.push(edge);
                        at = (finder, state);
                    }
                    assert_eq!(edges_to(&all, worker, expansion as u64), edges, "seed {seed}");
                }
            }
        }
    }

    #[test]
    fn batches_are_noted_as_single_states_are() {
        let (mut one_by_one, mut together) = (Ancestry::default(), Ancestry::default());
        let mut random = Random::new(7);
        one_by_one.begin().unwrap();
        together.begin().unwrap();
        for batch in 0..3000u64 {
            let (mut parents, mut new, mut end) = (Vec::new(), Vec::new(), 0);
            for _ in 0..random.below(33) {
                let order = [(false, false), (true, false), (true, true)][random.below(3)];
                let order = EdgeOrder::new(order.0, order.1);
                let (first, many) = (end, if random.below(20) == 0 { 1000 } else { 4 });
                end += random.below(many) as u32;
                for at in first..end {
                    if random.below(2) == 0 {
                        one_by_one.found(order.encode(at - first)).unwrap();
                        new.push(at);
                    }
                }
                one_by_one.expanded().unwrap();
                parents.push((end, order));
            }
            together.expanded_all(parents.into_iter(), new.into_iter()).unwrap();
            if batch % 100 == 0 {
                one_by_one.found_apart(batch, 5).unwrap();
                together.found_apart(batch, 5).unwrap();
            }
            assert_eq!((one_by_one.parent, one_by_one.child), (together.parent, together.child));
        }
        assert_eq!((one_by_one.log.all(), one_by_one.latest), (together.log.all(), together.latest));
        assert!(together.landmarks.len() as u64 > together.parent / STRETCH);
        for state in (0..together.child).step_by(97) {
            let origin = |ancestry| Reading::default().origin(ancestry, state);
            assert_eq!(origin(&one_by_one), origin(&together), "state {state}");
        }
    }

    #[test]
    fn a_state_costs_about_one_byte() {
        let mut ancestry = Ancestry::default();
        ancestry.begin().unwrap();
        for _ in 0..1 << 20 {
            ancestry.found(3).unwrap();
            ancestry.expanded().unwrap();
        }
        assert!(ancestry.log.len() * 8 <= 1 << 20);
        assert!(ancestry.landmarks.len() as u64 <= (1 << 20) / STRETCH + 1);
    }
}
