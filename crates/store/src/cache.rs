//! State-space caching: the keys of the search stack, and a bounded number of others.
//!
//! From G. J. Holzmann (*Tracing protocols*, 1985), C. Jard and T. Jéron (1991) and P. Godefroid, G. J.
//! Holzmann and D. Pirottin (*State-space caching revisited*, 1992). A depth-first search ends as long as it
//! knows the states of its own stack; what else it knows only saves it from doing work twice. With partial
//! orders most states are met once, so few need to be kept.
//!
//! **Who has to go.** Of a few that are chosen at random the one that is worth least: one is worth more the
//! more often it was met, the more states were explored behind it when it had to be explored again, and the
//! more edges lead on from it. Chance spreads what is forgotten evenly, so that what is explored again soon
//! ends at something that is known; a queue drops whole regions, which are then explored again whole, over
//! and over. What is dropped and met again costs work, and that is just what makes it worth more: so the
//! cache learns what it must not forget ([`Meetings`] outlive their keys). (Mutual exclusion in log(n)
//! messages, four participants who go on forever, 37,832 states with sleep sets: with 8,000 off the stack a
//! queue and chance alone do not end within a hundred times the transitions.)
//!
//! Beside every key stands a note that belongs to the search (sleep sets). How many keys were met again after
//! they were dropped is told by a [`Tally`], which may take a few too many for such.

use crate::hash::hash;
use crate::meetings::Meetings;
use crate::tally::Tally;
use crate::{Batched, Evicting, Full, Noted, Seen};
use std::cell::Cell;

/// The least size of the index.
const FIRST_SLOTS: usize = 64;

/// From how many the one that has to go is chosen.
const CANDIDATES: usize = 16;

/// A store that forgets. `N` is the note beside each key.
#[derive(Debug)]
pub struct Cache<N> {
    /// How many keys that are not on the stack are kept.
    most: u64,
    limit: u64,
    /// How many entries can be named.
    names: usize,
    /// Places of entries plus one, by hash, with linear probing; 0 is free. A power of two, at most half
    /// full.
    index: Vec<u32>,
    entries: Vec<Entry<N>>,
    /// Entries that are not in use.
    free: Vec<u32>,
    /// Entries that have left the stack.
    waiting: Vec<u32>,
    meetings: Meetings,
    random: Dice,
    keys: u64,
    key_bytes: u64,
    counts: Counts,
    dropped: Tally,
}

#[derive(Debug)]
struct Entry<N> {
    hash: u64,
    key: Box<[u8]>,
    note: N,
    /// How often it is on the stack.
    held: u32,
    /// How many edges lead on from it.
    edges: u16,
    /// Whether it waits among those that have left the stack.
    waits: bool,
    /// Whether it was dropped before.
    again: bool,
    /// How often it was met, the times before it was dropped included.
    met: Cell<u8>,
    /// How many keys had been inserted when it came to the stack.
    began: u64,
    /// What it costs to explore it again.
    cost: f32,
}

impl<N> Entry<N> {
    /// Notes that it was met.
    fn meet(&self) {
        self.met.set(self.met.get().saturating_add(1));
    }

    /// It leaves the stack: what it costs to explore it again is known if that was done now, and else as good
    /// as unknown.
    fn weigh(&mut self, inserted: u64) {
        let behind = if self.again { inserted - self.began } else { 0 };
        let edges = f32::from(self.edges);
        self.cost = edges * (2.0 + edges + behind as f32).log2();
    }

    fn worth(&self) -> f32 {
        f32::from(self.met.get()) * self.cost
    }
}

/// What a cache did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Keys that were inserted, those that were inserted again included.
    pub inserted: u64,
    /// Keys that were dropped.
    pub cleared: u64,
    /// Of those inserted, how many had been dropped before.
    pub reexplored: u64,
}

impl<N: Default> Cache<N> {
    /// An empty cache that keeps at most `most` keys off the stack, and answers [`Full`] rather than use more
    /// than `limit` bytes.
    pub fn new(most: u64, limit: u64) -> Self {
        Cache {
            most,
            limit,
            names: u32::MAX as usize - 1,
            index: vec![0; FIRST_SLOTS],
            entries: Vec::new(),
            free: Vec::new(),
            waiting: Vec::new(),
            meetings: Meetings::new(most),
            random: Dice(0x9e37_79b9_7f4a_7c15),
            keys: 0,
            key_bytes: 0,
            counts: Counts::default(),
            dropped: Tally::default(),
        }
    }

    fn mask(&self) -> usize {
        self.index.len() - 1
    }

    /// Where the key stands in the index, or the free slot where it would.
    fn slot(&self, key: &[u8], hash: u64) -> usize {
        let mut slot = hash as usize & self.mask();
        loop {
            match (self.index[slot] as usize).checked_sub(1) {
                None => return slot,
                Some(at) if self.entries[at].hash == hash && *self.entries[at].key == *key => return slot,
                Some(_) => slot = (slot + 1) & self.mask(),
            }
        }
    }

    fn find(&self, key: &[u8], hash: u64) -> Option<usize> {
        (self.index[self.slot(key, hash)] as usize).checked_sub(1)
    }

    fn grow(&mut self) -> Result<(), Full> {
        let len = self.index.len() * 2;
        let mut index: Vec<u32> = Vec::new();
        if self.memory() + len as u64 * 4 > self.limit || index.try_reserve_exact(len).is_err() {
            return Err(Full);
        }
        index.resize(len, 0);
        for place in self.index.iter().copied().filter(|&place| place != 0) {
            let mut slot = self.entries[place as usize - 1].hash as usize & (len - 1);
            while index[slot] != 0 {
                slot = (slot + 1) & (len - 1);
            }
            index[slot] = place;
        }
        self.index = index;
        Ok(())
    }

    fn add(&mut self, key: &[u8], hash: u64) -> Result<(), Full> {
        if self.keys as usize * 2 >= self.index.len() {
            self.grow()?;
        }
        let no_name = self.free.is_empty() && self.entries.len() >= self.names;
        if self.memory() + key.len() as u64 > self.limit || no_name {
            return Err(Full);
        }
        let again = self.dropped.has_hash(hash);
        let met = if again { self.meetings.recall(hash) } else { 0 };
        let entry = Entry {
            hash,
            key: key.into(),
            note: N::default(),
            held: 0,
            edges: 0,
            waits: false,
            again,
            met: Cell::new(met.saturating_add(1)),
            began: self.counts.inserted,
            cost: 0.0,
        };
        let slot = self.slot(key, hash);
        let at = match self.free.pop() {
            Some(at) => {
                self.entries[at as usize] = entry;
                at as usize
            }
            None => {
                self.entries.try_reserve(1).map_err(|_| Full)?;
                // Any of them may come to wait or to be free, and then nothing can be refused.
                let n = self.entries.len() + 1;
                self.waiting.try_reserve(n - self.waiting.len().min(n)).map_err(|_| Full)?;
                self.free.try_reserve(n - self.free.len().min(n)).map_err(|_| Full)?;
                self.entries.push(entry);
                self.entries.len() - 1
            }
        };
        self.index[slot] = at as u32 + 1;
        self.keys += 1;
        self.key_bytes += key.len() as u64;
        self.counts.inserted += 1;
        self.counts.reexplored += u64::from(again);
        Ok(())
    }

    /// Takes a key out of the index, and closes the gap: what stands behind it moves up unless it is where it
    /// belongs.
    fn remove(&mut self, at: usize) {
        let entry = &mut self.entries[at];
        let key = std::mem::take(&mut entry.key);
        entry.note = N::default();
        let (hash, met) = (entry.hash, entry.met.get());
        let mask = self.mask();
        let mut gap = hash as usize & mask;
        while self.index[gap] as usize != at + 1 {
            gap = (gap + 1) & mask;
        }
        let mut next = (gap + 1) & mask;
        while let Some(other) = (self.index[next] as usize).checked_sub(1) {
            let home = self.entries[other].hash as usize & mask;
            if next.wrapping_sub(home) & mask >= next.wrapping_sub(gap) & mask {
                self.index[gap] = self.index[next];
                gap = next;
            }
            next = (next + 1) & mask;
        }
        self.index[gap] = 0;
        self.free.push(at as u32);
        self.keys -= 1;
        self.key_bytes -= key.len() as u64;
        self.counts.cleared += 1;
        self.dropped.note_hash(hash);
        self.meetings.prefetch(hash, met);
    }

    /// A key is on the stack no more: it waits among the others, and if they are too many one has to go.
    fn wait(&mut self, at: usize) {
        self.entries[at].weigh(self.counts.inserted);
        if !self.entries[at].waits {
            self.entries[at].waits = true;
            self.waiting.push(at as u32);
        }
        while self.waiting.len() as u64 > self.most {
            let place = self.least();
            let at = self.waiting.swap_remove(place) as usize;
            self.entries[at].waits = false;
            // One that came to the stack again will come back when it leaves.
            if self.entries[at].held == 0 {
                self.remove(at);
            }
        }
    }

    /// Who has to go among those that wait.
    fn least(&mut self) -> usize {
        let (mut least, mut place) = (f32::INFINITY, 0);
        for _ in 0..CANDIDATES {
            let other = self.random.below(self.waiting.len());
            let entry = &self.entries[self.waiting[other] as usize];
            if entry.held > 0 {
                return other;
            }
            let worth = entry.worth();
            if worth < least {
                (least, place) = (worth, other);
            }
        }
        place
    }
}

/// Numbers that look random and are the same each time: a search that is repeated is the same.
#[derive(Debug)]
struct Dice(u64);

impl Dice {
    /// A number below `n`.
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((u128::from(self.0) * n as u128) >> 64) as usize
    }
}

impl<N: Default> Seen for Cache<N> {
    const LOSSLESS: bool = true;
    type Ticket = u64;
    type Name = ();

    fn hash(&mut self, key: &[u8]) -> Result<u64, Full> {
        Ok(hash(key))
    }

    fn insert(&mut self, key: &[u8], hash: u64) -> Result<Option<()>, Full> {
        if self.contains(key, hash) {
            return Ok(None);
        }
        // It may have to go only after it was held, or left without having been held.
        self.add(key, hash).map(Some)
    }

    fn contains(&self, key: &[u8], hash: u64) -> bool {
        let found = self.find(key, hash);
        if let Some(at) = found {
            self.entries[at].meet();
        }
        found.is_some()
    }

    fn n_keys(&self) -> u64 {
        self.counts.inserted - self.counts.reexplored
    }

    fn memory(&self) -> u64 {
        let entries = self.entries.capacity() * size_of::<Entry<N>>();
        let lists = (self.index.capacity() + self.free.capacity() + self.waiting.capacity()) * 4;
        let past = self.dropped.memory() + self.meetings.memory();
        (entries + lists) as u64 + self.key_bytes + self.keys * 16 + past
    }
}

impl<N: Default> Batched for Cache<N> {}

impl<N: Default> Evicting for Cache<N> {
    fn hold(&mut self, key: &[u8]) {
        if let Some(at) = self.find(key, hash(key)) {
            let entry = &mut self.entries[at];
            if entry.held == 0 {
                entry.began = self.counts.inserted;
            }
            entry.held += 1;
        }
    }

    fn weigh(&mut self, key: &[u8], edges: usize) {
        if let Some(at) = self.find(key, hash(key)) {
            let entry = &mut self.entries[at];
            entry.edges = entry.edges.max(u16::try_from(edges).unwrap_or(u16::MAX));
        }
    }

    fn leave(&mut self, key: &[u8]) {
        let Some(at) = self.find(key, hash(key)) else { return };
        self.entries[at].held = self.entries[at].held.saturating_sub(1);
        if self.entries[at].held == 0 {
            self.wait(at);
        }
    }

    fn forgotten(&self) -> Option<Counts> {
        (self.most < u64::MAX).then_some(self.counts)
    }
}

impl<N: Default> Noted for Cache<N> {
    type Note = N;

    fn note(&mut self, key: &[u8], hash: u64) -> Option<&mut N> {
        self.find(key, hash).map(|at| &mut self.entries[at].note)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(cache: &mut Cache<u32>, key: u32) -> bool {
        let new = cache.is_new(&key.to_le_bytes()).unwrap();
        cache.hold(&key.to_le_bytes());
        cache.leave(&key.to_le_bytes());
        new
    }

    fn knows(cache: &Cache<u32>, key: u32) -> bool {
        cache.find(&key.to_le_bytes(), hash(&key.to_le_bytes())).is_some()
    }

    #[test]
    fn if_there_are_too_many_some_have_to_go() {
        let mut cache = Cache::new(3, u64::MAX);
        (0..5).for_each(|key| assert!(visit(&mut cache, key)));
        let unknown: Vec<u32> = (0..5).filter(|&key| !knows(&cache, key)).collect();
        assert_eq!(unknown.len(), 2);
        assert_eq!(cache.forgotten(), Some(Counts { inserted: 5, cleared: 2, reexplored: 0 }));
        assert!(visit(&mut cache, unknown[0]));
        assert_eq!(cache.forgotten(), Some(Counts { inserted: 6, cleared: 3, reexplored: 1 }));
        assert_eq!(cache.n_keys(), 5, "keys ever stored, each once");
    }

    /// Visits a key from which `edges` edges lead on.
    fn visit_with(cache: &mut Cache<u32>, key: u32, edges: usize) -> bool {
        let bytes = key.to_le_bytes();
        let new = cache.is_new(&bytes).unwrap();
        cache.hold(&bytes);
        cache.weigh(&bytes, edges);
        cache.leave(&bytes);
        new
    }

    /// How many of the first hundred keys are known after a thousand others, where `also` is done with each
    /// of the hundred.
    fn left_of_a_hundred(edges: usize, also: impl Fn(&mut Cache<u32>, u32)) -> usize {
        let mut cache: Cache<u32> = Cache::new(200, u64::MAX);
        for key in 0..100 {
            visit_with(&mut cache, key, edges);
            also(&mut cache, key);
        }
        (100..1100).for_each(|key| assert!(visit_with(&mut cache, key, 2)));
        (0..100).filter(|&key| knows(&cache, key)).count()
    }

    #[test]
    fn what_was_met_or_leads_on_stays_longer() {
        let nothing = |_: &mut Cache<u32>, _| {};
        let meet = |cache: &mut Cache<u32>, key: u32| {
            (0..8).for_each(|_| assert!(cache.knows(&key.to_le_bytes()).unwrap()));
        };
        let plain = left_of_a_hundred(2, nothing);
        assert!(plain < 20, "{plain}");
        assert!(left_of_a_hundred(2, meet) > 80);
        assert!(left_of_a_hundred(12, nothing) > 80);
        assert!(left_of_a_hundred(1, nothing) <= plain);
    }

    #[test]
    fn what_is_explored_again_is_kept() {
        let mut cache: Cache<u32> = Cache::new(100, u64::MAX);
        (0..1000).for_each(|key| assert!(visit_with(&mut cache, key, 2)));
        let forgotten: Vec<u32> = (0..1000).filter(|&key| !knows(&cache, key)).take(20).collect();
        // Each of them is dropped and met again some times, and thus often enough to stay.
        let mut next = 1000;
        let mut known = 0;
        for _ in 0..20 {
            known = forgotten.iter().filter(|&&key| !visit_with(&mut cache, key, 2)).count();
            (next..next + 100).for_each(|key| assert!(visit_with(&mut cache, key, 2)));
            next += 100;
        }
        assert!(known >= 18, "{known} of 20");
    }

    #[test]
    fn what_is_on_the_stack_stays() {
        let mut cache: Cache<u32> = Cache::new(0, u64::MAX);
        let key = |n: u32| n.to_le_bytes();
        for n in 0..100 {
            assert!(cache.is_new(&key(n)).unwrap());
            cache.hold(&key(n));
        }
        cache.hold(&key(7));
        cache.leave(&key(7));
        assert!((0..100).all(|n| knows(&cache, n)));
        (0..100).rev().for_each(|n| cache.leave(&key(n)));
        assert!((0..100).all(|n| !knows(&cache, n)));
        // One that was never on the stack.
        assert!(cache.is_new(&key(200)).unwrap());
        cache.leave(&key(200));
        assert!(!knows(&cache, 200));
    }

    #[test]
    fn notes_stay_beside_their_keys() {
        let mut cache: Cache<u32> = Cache::new(10, u64::MAX);
        let key = 5_u32.to_le_bytes();
        let ticket = cache.hash(&key).unwrap();
        assert!(cache.note(&key, ticket).is_none());
        visit(&mut cache, 5);
        *cache.note(&key, ticket).unwrap() = 9;
        (6..1000).for_each(|n| assert!(visit(&mut cache, n)));
        assert!(cache.note(&key, ticket).is_none(), "gone with its key");
        visit(&mut cache, 5);
        assert_eq!(cache.note(&key, ticket), Some(&mut 0));
    }

    /// Against a plain set, with keys that collide.
    #[test]
    fn behaves_as_a_set_of_keys() {
        let mut cache = Cache::new(50, u64::MAX);
        let mut random = 1_u64;
        for _ in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let key = (random >> 33) as u32 % 120;
            let before: Vec<u32> = (0..120).filter(|&key| knows(&cache, key)).collect();
            if before.contains(&key) {
                continue;
            }
            assert!(visit(&mut cache, key));
            let lost = before.iter().filter(|&&key| !knows(&cache, key)).count();
            let now = (0..120).filter(|&key| knows(&cache, key)).count();
            assert_eq!((cache.keys as usize, now), (now, (before.len() + 1).min(50)));
            assert!(lost <= 1);
        }
    }

    #[test]
    fn entries_reach_no_farther_than_their_names() {
        let mut cache: Cache<u32> = Cache { names: 100, ..Cache::new(u64::MAX, u64::MAX) };
        let full = (0..10_000_u32).find(|key| cache.is_new(&key.to_le_bytes()).is_err());
        assert_eq!((full, cache.keys), (Some(100), 100));
        assert!((0..100).all(|key| knows(&cache, key)));
    }

    #[test]
    fn a_full_cache_says_so() {
        let mut cache: Cache<u32> = Cache::new(u64::MAX, 20_000);
        let full = (0..10_000_u32).map(|key| cache.is_new(&key.to_le_bytes())).find(Result::is_err);
        assert_eq!(full, Some(Err(Full)));
        assert!(cache.memory() <= 40_000);
    }
}
