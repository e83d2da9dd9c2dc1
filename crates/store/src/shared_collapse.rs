//! Collapse compression for several workers.
//!
//! States, as lists of numbers, are in a [`SharedTable`]. Components are numbered in several tables with a
//! lock each; which one is a matter of the component's hash, so that workers seldom meet. Most components are
//! those of the key before, whose numbers a worker remembers: it asks only for what changed.

use crate::sync::{PoisonError, RwLock, RwLockReadGuard};

use crate::arena::RecordPlace;
use crate::collapse::{self, Cut, pieces, write};
use crate::concurrent::Hand;
use crate::hash::hash;
use crate::numbered::{Number, Numbered, Visit};
use crate::shared_table::{SharedTable, TableHand};
use crate::{Batched, Entry, Evicting, Full, Numbering, Recall, Seen};

/// Tables of components (a power of two).
const TABLES: u32 = 16;
/// The part of the memory that components may use.
const COMPONENTS: u64 = 4;

/// An exact set of byte strings that several workers share.
#[derive(Debug)]
pub struct SharedCollapse<C> {
    cut: C,
    components: Components,
    states: SharedTable,
}

impl<C: Cut> SharedCollapse<C> {
    /// An empty set that answers [`Full`] rather than use more than `limit` bytes. Components may use a
    /// quarter of that.
    pub fn new(cut: C, limit: u64) -> Self {
        let for_components = limit / COMPONENTS;
        let table = || RwLock::new(Numbered::new(for_components / u64::from(TABLES)));
        let components = Components((0..TABLES).map(|_| table()).collect());
        SharedCollapse { cut, components, states: SharedTable::new(limit - for_components) }
    }

    /// Access for one more worker.
    pub fn hand(&self) -> CollapseHand<'_, C> {
        CollapseHand {
            cut: &self.cut,
            components: &self.components,
            states: self.states.hand(),
            last: Pieces::default(),
            next: Pieces::default(),
            list: Vec::new(),
        }
    }

    /// How many different pieces there are.
    pub fn n_components(&self) -> u64 {
        self.components.0.iter().map(|table| read(table).n_keys()).sum()
    }
}

/// All components, in tables.
#[derive(Debug)]
struct Components(Vec<RwLock<Numbered>>);

fn read(table: &RwLock<Numbered>) -> RwLockReadGuard<'_, Numbered> {
    table.read().unwrap_or_else(PoisonError::into_inner)
}

impl Components {
    fn table(&self, piece: &[u8]) -> (u32, &RwLock<Numbered>) {
        let number = hash(piece) as u32 % TABLES;
        (number, &self.0[number as usize])
    }

    /// A number that no other component has.
    fn number(table: u32, within: u32) -> Result<u32, Full> {
        within.checked_mul(TABLES).map(|first| first + table).ok_or(Full)
    }

    /// The number of a piece that is there.
    fn find(&self, piece: &[u8]) -> Option<u32> {
        let (number, table) = self.table(piece);
        let within = read(table).find(piece)?;
        Self::number(number, within.0).ok()
    }

    /// The number of a piece, which is added if it is new.
    fn insert(&self, piece: &[u8]) -> Result<u32, Full> {
        if let Some(number) = self.find(piece) {
            return Ok(number);
        }
        let (number, table) = self.table(piece);
        // Somebody else may have added it meanwhile.
        let (Visit::New(within) | Visit::Seen(within)) =
            table.write().unwrap_or_else(PoisonError::into_inner).visit(piece)?;
        Self::number(number, within.0)
    }

    /// Appends the piece with this number.
    fn load(&self, number: u32, out: &mut Vec<u8>) {
        let table = &self.0[(number % TABLES) as usize];
        out.extend_from_slice(read(table).key(Number(number / TABLES)));
    }

    fn memory(&self) -> u64 {
        self.0.iter().map(|table| read(table).memory()).sum()
    }
}

/// A key in pieces.
#[derive(Debug, Default)]
struct Pieces {
    key: Vec<u8>,
    cuts: Vec<usize>,
    numbers: Vec<u32>,
}

impl Pieces {
    /// The number of a piece, if it is the one at this place.
    fn number(&self, place: usize, piece: &[u8]) -> Option<u32> {
        let start = place.checked_sub(1).map_or(Some(0), |before| self.cuts.get(before).copied())?;
        let end = self.cuts.get(place).copied().unwrap_or(self.key.len());
        let known = self.key.get(start..end)?;
        (known == piece).then(|| self.numbers.get(place).copied()).flatten()
    }
}

/// One worker's access to a [`SharedCollapse`].
#[derive(Debug)]
pub struct CollapseHand<'a, C> {
    cut: &'a C,
    components: &'a Components,
    states: TableHand<'a>,
    /// The key before, and the buffers for the next one.
    last: Pieces,
    next: Pieces,
    list: Vec<u8>,
}

impl<C: Cut> CollapseHand<'_, C> {
    /// Writes the list of a key's components.
    fn collapse(&mut self, key: &[u8]) -> Result<(), Full> {
        let Self { cut, components, last, next, list, .. } = self;
        next.cuts.clear();
        cut.cut(key, &mut next.cuts);
        let mut place = 0;
        let numbers = pieces(key, &next.cuts, |piece| {
            let known = last.number(place, piece);
            place += 1;
            known.map_or_else(|| components.insert(piece), Ok).ok()
        });
        next.numbers = numbers.ok_or(Full)?;
        next.key.clear();
        next.key.extend_from_slice(key);
        write(&next.numbers, list);
        std::mem::swap(last, next);
        Ok(())
    }
}

impl<C: Cut> Seen for CollapseHand<'_, C> {
    const LOSSLESS: bool = true;

    type Ticket = ();
    type Name = RecordPlace;

    fn hash(&mut self, _key: &[u8]) -> Result<(), Full> {
        Ok(())
    }

    fn insert(&mut self, key: &[u8], (): ()) -> Result<Option<RecordPlace>, Full> {
        let Entry { name, new, .. } = self.visit(key, ())?;
        Ok(new.then_some(name))
    }

    fn contains(&self, key: &[u8], (): ()) -> bool {
        self.find(key).is_some()
    }

    fn n_keys(&self) -> u64 {
        self.states.n_keys()
    }

    fn memory(&self) -> u64 {
        self.components.memory() + self.states.memory()
    }
}

impl<C: Cut> Batched for CollapseHand<'_, C> {}

impl<C: Cut> Evicting for CollapseHand<'_, C> {}

impl<C: Cut> Recall for CollapseHand<'_, C> {
    fn load(&mut self, name: RecordPlace, out: &mut Vec<u8>) {
        self.list.clear();
        self.states.load(name, &mut self.list);
        collapse::read(&self.list).for_each(|number| self.components.load(number, out));
    }
}

impl<C: Cut> Numbering for CollapseHand<'_, C> {
    type Number = RecordPlace;

    fn visit(&mut self, key: &[u8], (): ()) -> Result<Entry<RecordPlace, RecordPlace>, Full> {
        self.collapse(key)?;
        let mut ticket = self.states.hash(&self.list)?;
        self.states.probe(&mut ticket);
        self.states.visit(&self.list, ticket)
    }

    fn number(&self, key: &[u8], (): ()) -> Option<RecordPlace> {
        self.find(key)
    }

    fn find(&self, key: &[u8]) -> Option<RecordPlace> {
        let (mut cuts, mut list) = (Vec::new(), Vec::new());
        self.cut.cut(key, &mut cuts);
        let numbers = pieces(key, &cuts, |piece| self.components.find(piece));
        write(&numbers?, &mut list);
        self.states.find(&list)
    }

    fn bound(&self) -> u64 {
        self.states.bound()
    }
}

impl<C: Cut> Hand for CollapseHand<'_, C> {
    fn rest(&mut self) {
        self.states.rest();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Cuts after every third byte, and nowhere in short keys.
    fn thirds(key: &[u8], out: &mut Vec<usize>) {
        out.extend((3..key.len()).step_by(3));
    }

    /// A key of 0 to 13 bytes, each one of three.
    fn random_key(seed: &mut u64) -> Vec<u8> {
        let mut below = |n: u64| {
            *seed ^= *seed << 13;
            *seed ^= *seed >> 7;
            *seed ^= *seed << 17;
            (*seed >> 20) % n
        };
        (0..below(14)).map(|_| below(3) as u8).collect()
    }

    #[test]
    fn one_hand_agrees_with_the_standard_library() {
        let set = SharedCollapse::new(thirds, u64::MAX);
        let (mut hand, mut model, mut seed) = (set.hand(), HashSet::new(), 5);
        for _ in 0..20_000 {
            let key = random_key(&mut seed);
            assert_eq!(hand.knows(&key), Ok(model.contains(&key)));
            assert_eq!(hand.is_new(&key), Ok(model.insert(key)));
        }
        assert_eq!(hand.n_keys(), model.len() as u64);
        assert!(set.n_components() < 60);
    }

    #[test]
    fn a_key_is_new_for_one_worker() {
        let set = SharedCollapse::new(thirds, u64::MAX);
        let work = |worker: u64| {
            // Two and two walk over the same keys.
            let (mut hand, mut seed, mut new) = (set.hand(), 1 + worker % 2, Vec::new());
            for _ in 0..20_000 {
                let key = random_key(&mut seed);
                if hand.is_new(&key).unwrap() {
                    new.push(key);
                }
                hand.rest();
            }
            new
        };
        let found: Vec<Vec<u8>> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4).map(|worker| scope.spawn(move || work(worker))).collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        });
        let different: HashSet<&Vec<u8>> = found.iter().collect();
        assert_eq!(different.len(), found.len(), "no key is new twice");
        let expected: HashSet<Vec<u8>> = [1, 2]
            .into_iter()
            .flat_map(|mut seed| (0..20_000).map(move |_| random_key(&mut seed)).collect::<Vec<_>>())
            .collect();
        assert_eq!(different.len(), expected.len());
        assert_eq!(set.hand().n_keys(), expected.len() as u64);
    }

    #[test]
    fn the_limit_is_kept() {
        let limit = 4_000_000;
        let set = SharedCollapse::new(thirds, limit);
        let (mut hand, mut n) = (set.hand(), 0u32);
        while hand.is_new(&n.to_be_bytes()).is_ok() {
            n += 1;
            assert!(hand.memory() <= limit);
        }
        assert!(n > 3000, "{n}");
        assert!((0..n).all(|i| hand.knows(&i.to_be_bytes()) == Ok(true)));
    }
}
