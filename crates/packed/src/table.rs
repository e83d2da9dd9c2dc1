//! Which packed states were seen: an open table of whole states, of one word or two, that several workers
//! fill at once.
//!
//! A state is looked for in the cache line where its hash says, and in those behind it. Lines are filled from
//! the front and nothing is ever taken away, so the first free place ends the search. The first word of an
//! entry is never 0: bit 63 of a state's first word is not used, and is set here. An entry of one word is
//! there at once, by one compare-and-swap; of one of two words the first is reserved, the second written, and
//! then the first one published, and whoever meets a place that is reserved waits for that moment.
//!
//! The line is the upper part of the product of the hash and the number of lines. So a table can have any
//! number of lines and grows by a third, and growing it goes through both tables from front to back.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, AtomicUsize};

use store::pages::{Huge, Line, Pages, WORDS, prefetch};
use store::threads::start;

use crate::expand::State;

/// Set in the first word of every entry.
const READY: u64 = 1 << 63;
/// The first word of an entry that is being written.
const RESERVED: u64 = 1;
/// Lines that are looked at for one state.
const PROBES: usize = 64;
/// Lines of a table at first.
const LEAST: usize = 1 << 11;
/// Lines up to which a table doubles.
const SMALL: usize = 1 << 18;
/// Of all places so many are filled, in hundredths.
const FULL: u64 = 85;
/// Lines that a thread takes at a time when a table grows.
const PORTION: usize = 1 << 12;

/// The stack of a thread that helps a table grow.
const STACK_BYTES: usize = 2 << 20;

/// What became of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inserted {
    /// It is new.
    New,
    /// It was there.
    Known,
    /// There is no place for it: the table must grow.
    Full,
}

/// A table.
#[derive(Debug)]
pub struct Table<const W: usize> {
    pages: Pages,
}

/// The hash of a state.
#[inline(always)]
pub fn hash<const W: usize>(state: &State<W>) -> u64 {
    let mut hash = 0;
    for word in state.iter().rev() {
        hash = mix(hash ^ word);
    }
    hash
}

#[inline(always)]
fn mix(mut x: u64) -> u64 {
    x ^= x >> 32;
    x = x.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^= x >> 29;
    x.wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

impl<const W: usize> Table<W> {
    /// An empty table; nothing where there is no memory.
    pub fn new() -> Option<Self> {
        Some(Table { pages: Pages::new(LEAST).ok()? })
    }

    /// Bytes.
    pub fn bytes(&self) -> u64 {
        self.pages.bytes()
    }

    /// States that it should hold at most.
    pub fn most(&self) -> u64 {
        (self.pages.lines().len() * WORDS / W) as u64 * FULL / 100
    }

    /// The bytes that it will have when it has grown.
    pub fn larger(&self) -> u64 {
        (self.more() * size_of::<Line>()) as u64
    }

    fn more(&self) -> usize {
        let lines = self.pages.lines().len();
        if lines < SMALL { 2 * lines } else { lines + lines / 3 }
    }

    #[inline(always)]
    fn line(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.pages.lines().len() as u128) >> 64) as usize
    }

    /// Asks for the line of a state in advance.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        prefetch(&self.pages.lines()[self.line(hash)]);
    }

    /// Inserts a state.
    #[inline]
    pub fn insert(&self, state: &State<W>, hash: u64) -> Inserted {
        let lines = self.pages.lines();
        let mut at = self.line(hash);
        for _ in 0..PROBES {
            for entry in lines[at].0.chunks_exact(W) {
                match enter(entry, state) {
                    Inserted::Full => {}
                    done => return done,
                }
            }
            at += 1;
            if at == lines.len() {
                at = 0;
            }
        }
        Inserted::Full
    }

    /// A larger table with the same states, made by so many threads; nothing where there is no memory.
    pub fn grown(&self, threads: usize, huge: &Huge) -> Option<Self> {
        let mut lines = self.more();
        loop {
            let larger = Table { pages: Pages::new(lines).ok()? };
            larger.pages.populate(0..lines, huge);
            if self.copy_to(&larger, threads) {
                return Some(larger);
            }
            lines *= 2;
        }
    }

    /// Copies all states; false when another table has no place for one.
    fn copy_to(&self, larger: &Self, threads: usize) -> bool {
        let next = AtomicUsize::new(0);
        let lines = self.pages.lines();
        let work = || -> bool {
            loop {
                let first = next.fetch_add(PORTION, Relaxed);
                let Some(portion) = lines.get(first..lines.len().min(first + PORTION)) else { return true };
                if !portion.iter().all(|line| larger.take_line(line)) {
                    return false;
                }
                if portion.is_empty() {
                    return true;
                }
            }
        };
        if threads <= 1 || lines.len() <= 4 * PORTION {
            return work();
        }
        std::thread::scope(|scope| {
            // One that cannot be started is not missed: there is less help.
            let begin = |_| start(scope, "growth", STACK_BYTES, work).ok();
            let others: Vec<_> = (1..threads).filter_map(begin).collect();
            let mine = work();
            others.into_iter().all(|other| other.join().unwrap_or(false)) && mine
        })
    }

    fn take_line(&self, line: &Line) -> bool {
        line.0.chunks_exact(W).all(|entry| {
            let mut state: State<W> = std::array::from_fn(|at| entry[at].load(Relaxed));
            if state[0] == 0 {
                return true;
            }
            state[0] &= !READY;
            self.insert(&state, hash(&state)) != Inserted::Full
        })
    }
}

/// Inserts a state into this place; [`Inserted::Full`] when another one is there.
#[inline(always)]
fn enter<const W: usize>(entry: &[AtomicU64], state: &State<W>) -> Inserted {
    let first = state[0] | READY;
    let mut there = entry[0].load(if W == 1 { Relaxed } else { Acquire });
    if there == 0 {
        let wanted = if W == 1 { first } else { RESERVED };
        match entry[0].compare_exchange(0, wanted, AcqRel, Acquire) {
            Ok(_) => {
                for at in 1..W {
                    entry[at].store(state[at], Relaxed);
                }
                if W > 1 {
                    entry[0].store(first, Release);
                }
                return Inserted::New;
            }
            Err(other) => there = other,
        }
    }
    while W > 1 && there == RESERVED {
        std::hint::spin_loop();
        there = entry[0].load(Acquire);
    }
    let same = there == first && (1..W).all(|at| entry[at].load(Relaxed) == state[at]);
    if same { Inserted::Known } else { Inserted::Full }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// States that are alike in most bits, so that lines overflow.
    fn states<const W: usize>(n: u64) -> impl Iterator<Item = State<W>> {
        (0..n).map(|i| {
            let x = i.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 44;
            std::array::from_fn(|at| if at + 1 < W { x & 0x3ff } else { x >> (10 * at) })
        })
    }

    fn agrees_with_a_set<const W: usize>() {
        let (mut table, mut set) = (Table::<W>::new().unwrap(), HashSet::new());
        for state in states::<W>(1 << 18) {
            let mut inserted = table.insert(&state, hash(&state));
            if inserted == Inserted::Full || set.len() as u64 >= table.most() {
                table = table.grown(1, &Huge::default()).unwrap();
                if inserted == Inserted::Full {
                    inserted = table.insert(&state, hash(&state));
                }
            }
            assert_eq!(inserted == Inserted::New, set.insert(state), "{state:?}");
        }
        assert!(set.iter().all(|state| table.insert(state, hash(state)) == Inserted::Known));
    }

    #[test]
    fn a_table_is_a_set() {
        agrees_with_a_set::<1>();
        agrees_with_a_set::<2>();
    }

    /// What several threads insert at once is new for exactly one of them.
    fn shared<const W: usize>() {
        let n = 40_000u64;
        let table = {
            let mut table = Table::<W>::new().unwrap();
            while table.most() < n {
                table = table.grown(2, &Huge::default()).unwrap();
            }
            table
        };
        let state = |i: u64| -> State<W> { std::array::from_fn(|at| (i * (at as u64 * 77 + 1)) & !READY) };
        let new = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let (table, new) = (&table, &new);
                scope.spawn(move || {
                    for i in 0..n {
                        let state = state((i * 7919 + thread * 13) % n);
                        let inserted = table.insert(&state, hash(&state));
                        assert_ne!(inserted, Inserted::Full);
                        new.fetch_add(u64::from(inserted == Inserted::New), Relaxed);
                    }
                });
            }
        });
        assert_eq!(new.load(Relaxed), n);
        let larger = table.grown(3, &Huge::default()).unwrap();
        assert!((0..n).all(|i| larger.insert(&state(i), hash(&state(i))) == Inserted::Known));
    }

    #[test]
    fn a_state_is_new_for_one_thread() {
        shared::<1>();
        shared::<2>();
    }
}
