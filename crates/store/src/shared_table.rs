//! The exact table for several workers.
//!
//! [`Shared`] inserts without locks; only growth needs it alone. Growing streams, and several segments grow
//! together, each by a thread of its own: nobody waits for long. Growth replaces a segment when the new one
//! is complete, so a panic leaves nothing half changed.

use crate::arena::RecordPlace;
use crate::concurrent::{Common, Hand, Turn};
use crate::segment::Ticket;
use crate::table::{self, AHEAD, Halt, Shared};
use crate::{Batched, Entry, Evicting, Full, Numbering, Recall, Seen};

/// An exact set of byte strings that several workers share.
#[derive(Debug)]
pub struct SharedTable(Common<Shared>);

impl SharedTable {
    /// An empty table that answers [`Full`] rather than use more than `limit` bytes.
    pub fn new(limit: u64) -> Self {
        SharedTable(Common::new(Shared::new(limit)))
    }

    /// Access for one more worker.
    pub fn hand(&self) -> TableHand<'_> {
        TableHand { turn: Turn::new(&self.0), hand: table::Hand::default() }
    }
}

/// One worker's access to a [`SharedTable`].
#[derive(Debug)]
pub struct TableHand<'a> {
    turn: Turn<'a, Shared>,
    hand: table::Hand,
}

impl TableHand<'_> {
    /// Makes room in a segment, unless somebody else has done so meanwhile.
    #[cold]
    fn grow(&mut self, number: usize) -> Result<(), Full> {
        let before = self.turn.look(|shared| shared.room(number));
        let threads = self.turn.workers();
        self.turn.alone(|shared| match shared.room(number) == before {
            true => shared.grow_together(number, threads),
            false => Ok(()),
        })
    }
}

impl Seen for TableHand<'_> {
    const LOSSLESS: bool = true;
    type Ticket = Ticket;
    type Name = RecordPlace;

    #[inline(always)]
    fn hash(&mut self, key: &[u8]) -> Result<Ticket, Full> {
        Ok(self.turn.work().hash(key))
    }

    #[inline]
    fn insert(&mut self, key: &[u8], ticket: Ticket) -> Result<Option<RecordPlace>, Full> {
        loop {
            match self.turn.work().insert(&mut self.hand, key, ticket) {
                Ok(answer) => return Ok(answer),
                Err(Halt::Crowded(number)) => self.grow(number)?,
                Err(Halt::Unlearned) => self.turn.alone(Shared::learn),
                Err(Halt::Full) => return Err(Full),
            }
        }
    }

    #[inline]
    fn contains(&self, key: &[u8], ticket: Ticket) -> bool {
        self.turn.look(|shared| shared.find(key, ticket).is_some())
    }

    /// Exact as soon as the other workers have dropped their hands; until then some of theirs may be missing.
    fn n_keys(&self) -> u64 {
        self.turn.look(Shared::n_keys) + self.hand.untold()
    }

    fn memory(&self) -> u64 {
        self.turn.look(Shared::memory)
    }
}

impl Batched for TableHand<'_> {
    const INCREMENTAL: bool = false;

    fn plan_all<'k>(
        &mut self,
        keys: impl ExactSizeIterator<Item = &'k [u8]>,
        tickets: &mut Vec<Ticket>,
    ) -> Result<(), Full> {
        let shared = self.turn.work();
        tickets.extend(keys.map(|key| shared.hash(key)));
        Ok(())
    }

    fn probe_all(&self, tickets: &mut [Ticket]) {
        self.turn.look(|shared| tickets.iter_mut().for_each(|ticket| shared.probe(ticket)));
    }

    #[inline(always)]
    fn probe(&self, ticket: &mut Ticket) {
        self.turn.look(|shared| shared.probe(ticket));
    }

    #[inline]
    fn prefetch(&self, ticket: Ticket) {
        self.turn.look(|shared| shared.prefetch(ticket));
    }

    #[inline(always)]
    fn seems_known(&self, ticket: Ticket) -> bool {
        ticket.likely().is_some()
    }

    /// Keys are approached shortly before they are inserted, as in a [`Table`](crate::Table).
    fn insert_all<'k>(
        &mut self,
        keys: impl ExactSizeIterator<Item = &'k [u8]>,
        tickets: &mut [Ticket],
        new: &mut Vec<(u32, RecordPlace)>,
    ) -> Result<(), Full> {
        new.try_reserve(keys.len()).map_err(|_| Full)?;
        let shared = self.turn.work();
        tickets.iter_mut().take(AHEAD).for_each(|ticket| shared.probe(ticket));
        for (at, key) in keys.enumerate() {
            let shared = self.turn.work();
            if let Some(ticket) = tickets.get_mut(at + AHEAD) {
                shared.probe(ticket);
            }
            let Some(&ticket) = tickets.get(at) else { break };
            let inserted = match shared.insert(&mut self.hand, key, ticket) {
                Ok(answer) => answer,
                Err(_) => self.insert(key, ticket)?,
            };
            if let Some(place) = inserted {
                new.push((at as u32, place));
            }
        }
        Ok(())
    }
}

impl Evicting for TableHand<'_> {}

impl Recall for TableHand<'_> {
    fn load(&mut self, name: RecordPlace, out: &mut Vec<u8>) {
        self.turn.work().read(name, out);
    }
}

/// The number of a key is its place: words of eight bytes before its record.
impl Numbering for TableHand<'_> {
    type Number = RecordPlace;

    #[inline]
    fn visit(&mut self, key: &[u8], ticket: Ticket) -> Result<Entry<RecordPlace, RecordPlace>, Full> {
        let known = |place| Entry { number: place, name: place, new: false };
        if let Some(place) = self.number(key, ticket) {
            return Ok(known(place));
        }
        match self.insert(key, ticket)? {
            Some(place) => Ok(Entry { new: true, ..known(place) }),
            // Another worker was faster.
            None => self.number(key, ticket).map(known).ok_or(Full),
        }
    }

    #[inline]
    fn number(&self, key: &[u8], ticket: Ticket) -> Option<RecordPlace> {
        self.turn.look(|shared| shared.find(key, ticket))
    }

    fn find(&self, key: &[u8]) -> Option<RecordPlace> {
        self.turn.look(|shared| shared.find(key, shared.hash(key)))
    }

    /// What the records take in words.
    fn bound(&self) -> u64 {
        self.memory() / 8
    }
}

impl Hand for TableHand<'_> {
    fn rest(&mut self) {
        self.turn.rest();
    }
}

impl Drop for TableHand<'_> {
    fn drop(&mut self) {
        self.turn.work().tell(&mut self.hand);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::segment::SEGMENT_BITS;
    use loom::thread;
    use std::sync::Arc;

    /// Keys of the first segment.
    fn keys() -> impl Iterator<Item = [u8; 2]> {
        let first = |key: &[u8; 2]| crate::hash::hash(key) >> (64 - SEGMENT_BITS) == 0;
        (0..=u16::MAX).map(u16::to_le_bytes).filter(first)
    }

    /// Two workers insert the keys that each is given into a table that has `before` keys already. Says for
    /// how many each key was new.
    fn insert(before: usize, ours: &'static [usize], theirs: &'static [usize]) {
        let keys: Arc<Vec<[u8; 2]>> = Arc::new(keys().take(before + 4).collect());
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(2);
        builder.max_branches = 100_000;
        builder.check(move || {
            let table = Arc::new(SharedTable::new(1 << 12));
            let insert = |table: &SharedTable, keys: &[[u8; 2]], which: &[usize]| -> Vec<bool> {
                let mut hand = table.hand();
                let mut is_new = |key: &[u8]| {
                    let mut ticket = hand.hash(key).unwrap();
                    hand.probe(&mut ticket);
                    hand.insert(key, ticket).unwrap().is_some()
                };
                let new = which.iter().map(|&at| is_new(&keys[at])).collect();
                hand.rest();
                new
            };
            {
                let mut hand = table.hand();
                keys[..before].iter().for_each(|key| assert!(hand.is_new(key).unwrap()));
            }
            let other = thread::spawn({
                let (table, keys) = (Arc::clone(&table), Arc::clone(&keys));
                move || insert(&table, &keys, theirs)
            });
            let mine = insert(&table, &keys, ours);
            let other = other.join().unwrap();
            for at in 0..keys.len() {
                let firsts = |which: &[usize], new: &[bool]| {
                    which.iter().zip(new).filter(|&(&which, &new)| which == at && new).count()
                };
                let wanted = at >= before && (ours.contains(&at) || theirs.contains(&at));
                assert_eq!(firsts(ours, &mine) + firsts(theirs, &other), usize::from(wanted), "key {at}");
                let there = at < before || wanted;
                assert_eq!(table.hand().find(&keys[at]).is_some(), there, "key {at}");
            }
        });
    }

    #[test]
    fn a_key_is_new_for_one_worker_alone() {
        insert(0, &[0, 1], &[1, 0]);
    }

    /// With thirteen keys the first segment is crowded: whoever comes next makes it grow, while the other is
    /// at work.
    #[test]
    fn nothing_is_lost_while_the_table_grows() {
        insert(12, &[12, 13], &[13, 3, 14]);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Workers insert overlapping sets in batches, through all growths.
    #[test]
    fn workers_agree_on_who_was_first() {
        const WORKERS: u32 = 4;
        const KEYS: u32 = 200_000;
        let key = |i: u32| [i.to_le_bytes().as_slice(), &vec![7; i as usize % 40]].concat();
        let table = SharedTable::new(u64::MAX);
        let firsts: Vec<Vec<(u32, RecordPlace)>> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..WORKERS)
                .map(|worker| {
                    let table = &table;
                    scope.spawn(move || {
                        let (mut hand, mut firsts) = (table.hand(), Vec::new());
                        for first in (0..KEYS).step_by(50) {
                            // Half of the time each is somewhere else, half of the time all are at the same
                            // place.
                            let first = if first % 100 == 0 {
                                (first + worker * KEYS / WORKERS) % KEYS
                            } else {
                                first
                            };
                            let keys: Vec<_> = (first..first + 50).map(key).collect();
                            let mut tickets: Vec<_> =
                                keys.iter().map(|key| hand.hash(key).unwrap()).collect();
                            tickets.iter_mut().for_each(|ticket| hand.probe(ticket));
                            for ((i, key), ticket) in (first..).zip(&keys).zip(tickets) {
                                firsts.extend(hand.insert(key, ticket).unwrap().map(|place| (i, place)));
                                assert!(hand.contains(key, ticket));
                            }
                            hand.rest();
                        }
                        firsts
                    })
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        let mut all: Vec<(u32, RecordPlace)> = firsts.into_iter().flatten().collect();
        all.sort();
        let wrong = all.iter().map(|&(i, _)| i).zip(0..KEYS).find(|(found, expected)| found != expected);
        assert_eq!((all.len(), wrong), (KEYS as usize, None));
        let mut hand = table.hand();
        assert_eq!(hand.n_keys(), u64::from(KEYS));
        let mut out = Vec::new();
        for (i, place) in all {
            out.clear();
            hand.load(place, &mut out);
            assert!(out == key(i), "key {i}");
        }
    }

    #[test]
    fn the_memory_limit_is_kept() {
        let table = SharedTable::new(1_000_000);
        std::thread::scope(|scope| {
            for worker in 0..4u32 {
                let table = &table;
                scope.spawn(move || {
                    let (mut hand, mut n) = (table.hand(), 0u32);
                    while hand.is_new(&[worker.to_le_bytes(), n.to_le_bytes()].concat()) != Err(Full) {
                        n += 1;
                        hand.rest();
                    }
                });
            }
        });
        let hand = table.hand();
        assert!(hand.n_keys() > 20_000 && hand.memory() <= 1_000_000, "{} keys", hand.n_keys());
    }

    /// Long keys, which it is learned to pack while others work; each is new for one worker.
    #[test]
    fn workers_learn_together() {
        const KEYS: u32 = 40_000;
        let key = |i: u32| {
            let mut key = vec![(i / 15_000) as u8; 200];
            key[50..54].copy_from_slice(&i.to_le_bytes());
            key
        };
        let table = SharedTable::new(u64::MAX);
        let found: Vec<Vec<(u32, RecordPlace)>> = std::thread::scope(|scope| {
            let work = |worker: u32| {
                let mut hand = table.hand();
                let mut found = Vec::new();
                for i in (0..KEYS).map(|i| (i + worker * 10_000) % KEYS) {
                    let ticket = hand.hash(&key(i)).unwrap();
                    found.extend(hand.insert(&key(i), ticket).unwrap().map(|place| (i, place)));
                }
                found
            };
            let workers: Vec<_> = (0..4).map(|worker| scope.spawn(move || work(worker))).collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        let mut hand = table.hand();
        assert_eq!(hand.n_keys(), u64::from(KEYS));
        let mut found: Vec<(u32, RecordPlace)> = found.into_iter().flatten().collect();
        found.sort_unstable();
        assert!(found.iter().map(|found| found.0).eq(0..KEYS));
        let mut out = Vec::new();
        for (i, place) in found {
            out.clear();
            hand.load(place, &mut out);
            assert_eq!(out, key(i));
        }
    }
}
