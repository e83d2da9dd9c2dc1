//! Beside the rungs of the ladder: stores that number their keys.
//!
//! A search for cycles keeps something with every state: a colour, the place on a stack, a node of a
//! union-find. What that is the store need not know. It gives every key a *number*, and the search keeps an
//! array by numbers beside it. So every search for cycles runs over every store that numbers: states whole,
//! as trees (the number is a satellite of the root, [`crate::roots`]) or collapsed.
//!
//! The number of a key never changes, whatever the store does with the key: a tree that learns another order
//! moves the numbers with the roots, while the *name* of a key, by which it is called back, becomes another
//! one (and the old one stays valid).

use std::fmt::Debug;
use std::hash::Hash;

use crate::arena::RecordPlace;
use crate::numbered::Number;
use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::Relaxed;
use crate::{Batched, Full};

/// A number that a store gives to a key.
pub trait KeyNumber: Copy + Eq + Hash + Debug + Send + Sync {
    /// As an index into what is kept beside the keys.
    fn index(self) -> usize;
}

impl KeyNumber for Number {
    #[inline]
    fn index(self) -> usize {
        self.0 as usize
    }
}

impl KeyNumber for RecordPlace {
    #[inline]
    fn index(self) -> usize {
        self.number() as usize
    }
}

/// What visiting a key showed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry<N, M> {
    /// Its number.
    pub number: N,
    /// A name by which it can be called back.
    pub name: M,
    /// It was not there before.
    pub new: bool,
}

/// A store that numbers its keys. With one worker numbers are dense, in order of insertion, from 0; several
/// workers leave some out.
pub trait Numbering: Batched {
    /// What numbers are.
    type Number: KeyNumber;

    /// Inserts the key for which `ticket` was prepared, or recognises it.
    fn visit(&mut self, key: &[u8], ticket: Self::Ticket) -> Result<Entry<Self::Number, Self::Name>, Full>;

    /// The number of the key for which `ticket` was prepared, if it is there.
    fn number(&self, key: &[u8], ticket: Self::Ticket) -> Option<Self::Number>;

    /// The number of a key that was not prepared, if it is there. What is prepared next may take longer.
    fn find(&self, key: &[u8]) -> Option<Self::Number>;

    /// All indices of numbers are below this.
    fn bound(&self) -> u64;
}

/// Numbers that workers take at a time.
const BLOCK: u64 = 64;

/// Numbers that nobody has taken yet.
#[derive(Debug)]
pub(crate) struct Pool {
    next: AtomicU64,
}

/// Numbers that a worker has taken and not given.
#[derive(Debug, Default)]
pub struct Spare {
    next: u32,
    left: u32,
}

impl Pool {
    /// All numbers from `first` on.
    pub fn new(first: u64) -> Self {
        Pool { next: AtomicU64::new(first) }
    }

    /// All numbers that were taken are below this.
    pub fn bound(&self) -> u64 {
        self.next.load(Relaxed)
    }

    /// The number that a worker may give next.
    #[inline]
    pub fn next(&self, spare: &mut Spare) -> Result<u32, Full> {
        if spare.left == 0 {
            let first = self.next.fetch_add(BLOCK, Relaxed);
            spare.next = u32::try_from(first + BLOCK - 1).map_err(|_| Full)? - (BLOCK as u32 - 1);
            spare.left = BLOCK as u32;
        }
        Ok(spare.next)
    }
}

impl Spare {
    /// The next number was given.
    #[inline]
    pub(crate) fn given(&mut self) {
        debug_assert!(self.left > 0);
        self.next += 1;
        self.left -= 1;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::{
        Collapse, Hand, Numbered, Recall, Roots, Seen, SharedCollapse, SharedTable, SharedTree, Tree,
    };
    use std::collections::{HashMap, HashSet};

    fn below(seed: &mut u64, n: usize) -> usize {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        (*seed >> 11) as usize % n
    }

    /// Cuts after every fifth byte.
    fn cut(key: &[u8], out: &mut Vec<usize>) {
        out.extend((5..key.len()).step_by(5));
    }

    /// Walks over byte strings that change a few bytes at a time, some with a change of length.
    fn step(key: &mut Vec<u8>, seed: &mut u64) {
        match below(seed, 40) {
            0 => key.resize(below(seed, 90), 1),
            1 => key.iter_mut().for_each(|byte| *byte = 0),
            _ if key.is_empty() => key.push(7),
            _ => {
                let at = below(seed, key.len());
                key[at] = below(seed, 3) as u8;
            }
        }
    }

    type Known<S> = HashMap<Vec<u8>, (<S as Numbering>::Number, <S as Seen>::Name)>;

    /// Keys of a walk, some looked up long after they were prepared, and some again by name. What was found,
    /// with numbers and names.
    fn walk<S: Numbering + Recall>(store: &mut S, seed: u64, steps: usize) -> Known<S> {
        let (mut seed, mut key, mut known, mut held) = (seed, vec![0; 40], Known::<S>::new(), Vec::new());
        for at in 0..steps {
            if at % 3 == 0 {
                store.depart(&key);
            }
            step(&mut key, &mut seed);
            held.push((key.clone(), store.hash(&key).unwrap()));
            if held.len() < 20 {
                continue;
            }
            for (key, ticket) in held.drain(..) {
                let before = store.number(&key, ticket);
                let Entry { number, name, new } = store.visit(&key, ticket).unwrap();
                assert!(before.is_none() || (before == Some(number) && !new));
                assert_eq!(store.number(&key, ticket), Some(number));
                assert_eq!(store.find(&key), Some(number));
                assert!((number.index() as u64) < store.bound().max(1 << 20));
                assert_eq!(known.entry(key).or_insert((number, name)).0, number);
            }
        }
        let mut loaded = Vec::new();
        for (key, &(number, name)) in &known {
            loaded.clear();
            store.load(name, &mut loaded);
            assert_eq!(&loaded, key);
            let ticket = store.hash(key).unwrap();
            assert_eq!(store.number(key, ticket), Some(number), "through growth and lessons");
        }
        known
    }

    fn alone<S: Numbering + Recall>(mut store: S) {
        let known = walk(&mut store, 5, 60_000);
        let mut numbers: Vec<usize> = known.values().map(|(number, _)| number.index()).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..known.len()).collect::<Vec<_>>(), "dense");
        assert_eq!(store.n_keys(), known.len() as u64);
        assert_eq!(store.find(&[9; 77]), None);
    }

    #[test]
    fn every_store_of_one_worker_numbers_its_keys() {
        alone(Numbered::new(u64::MAX));
        alone(Tree::numbered(Roots::Roomy, u64::MAX));
        alone(Tree::numbered(Roots::Cleary, u64::MAX));
        alone(Collapse::new(cut, u64::MAX));
    }

    fn together<H: Hand + Numbering + Recall>(hand: impl Fn() -> H + Sync) {
        let found: Vec<HashMap<Vec<u8>, H::Number>> = std::thread::scope(|scope| {
            let work = |worker: u64| {
                let mut hand = hand();
                let known = walk(&mut hand, 3 + worker / 2, 30_000);
                hand.rest();
                known.into_iter().map(|(key, (number, _))| (key, number)).collect()
            };
            let workers: Vec<_> = (0..4).map(|worker| scope.spawn(move || work(worker))).collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        let mut all = HashMap::new();
        for (key, number) in found.into_iter().flatten() {
            assert_eq!(*all.entry(key).or_insert(number), number, "workers agree");
        }
        let different: HashSet<H::Number> = all.values().copied().collect();
        assert_eq!(different.len(), all.len(), "no number is given twice");
        assert_eq!(hand().n_keys(), all.len() as u64);
    }

    #[test]
    fn every_store_of_several_workers_numbers_its_keys() {
        let table = SharedTable::new(1 << 30);
        together(|| table.hand());
        for kind in [Roots::Roomy, Roots::Cleary] {
            let tree = SharedTree::numbered(kind, u64::MAX);
            together(|| tree.hand());
        }
        let collapse = SharedCollapse::new(cut, 1 << 30);
        together(|| collapse.hand());
    }

    #[test]
    fn numbers_end_with_the_pool() {
        let pool = Pool::new(u64::from(u32::MAX) - 2 * BLOCK);
        let mut spare = Spare::default();
        let given = (0..).map_while(|_| pool.next(&mut spare).ok().inspect(|_| spare.given())).count();
        assert_eq!(given as u64, 2 * BLOCK);
    }
}
