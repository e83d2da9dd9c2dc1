//! What the workers of a search share: packs of states that wait, by levels; the table; whether all are to
//! stop.
//!
//! A pack is states that one worker found one after another. Workers take packs of the level that is being
//! expanded, and put what they find where the next level waits; who takes the last one turns the levels over
//! when all are back. So the order is breadth-first, by packs, for any number of workers.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use search::ancestry::Ordinal;
use store::pages::Huge;

use crate::expand::State;
use crate::search::Ended;
use crate::table::Table;

/// States that one worker found one after another.
#[derive(Debug)]
pub struct Pack<const W: usize> {
    /// Who found them.
    pub finder: usize,
    /// The place of the first among those that the finder found.
    pub first: Ordinal,
    /// They.
    pub states: Vec<State<W>>,
}

#[derive(Debug)]
struct Levels<const W: usize> {
    current: VecDeque<Pack<W>>,
    next: Vec<Pack<W>>,
    /// Workers that expand a pack.
    busy: usize,
    depth: u64,
    over: bool,
}

/// What workers share.
#[derive(Debug)]
pub struct Team<const W: usize> {
    levels: Mutex<Levels<W>>,
    turn: Condvar,
    table: RwLock<Table<W>>,
    huge: Huge,
    /// All are to stop.
    pub halted: AtomicBool,
    reason: Mutex<Option<Ended>>,
    /// States, steps, deadlocks and errors that count.
    pub states: AtomicU64,
    /// Steps between ordinary states.
    pub steps: AtomicU64,
    /// Violations.
    pub errors: AtomicU64,
    /// Bytes of states that wait, and of ancestries.
    pub waiting: AtomicU64,
    /// The table grew to this number of bytes.
    pub table_bytes: AtomicU64,
    /// Bytes that all may have.
    memory: u64,
    threads: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<const W: usize> Team<W> {
    /// A team of so many workers with a state that waits.
    pub fn new(initial: State<W>, memory: u64, threads: usize) -> Option<Self> {
        let table = Table::new()?;
        let first = Pack { finder: 0, first: 0, states: vec![initial] };
        let levels =
            Levels { current: VecDeque::from([first]), next: Vec::new(), busy: 0, depth: 0, over: false };
        Some(Team {
            levels: Mutex::new(levels),
            turn: Condvar::new(),
            table_bytes: AtomicU64::new(table.bytes()),
            table: RwLock::new(table),
            huge: Huge::default(),
            halted: AtomicBool::new(false),
            reason: Mutex::new(None),
            states: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            waiting: AtomicU64::new(0),
            memory,
            threads,
        })
    }

    /// A pack to expand; nothing when all is done. It is to be given back with [`Team::done`].
    pub fn take(&self) -> Option<Pack<W>> {
        let mut levels = lock(&self.levels);
        loop {
            if levels.over || self.halted.load(Relaxed) {
                return None;
            }
            if let Some(pack) = levels.current.pop_front() {
                levels.busy += 1;
                return Some(pack);
            }
            if levels.busy > 0 {
                levels = self.turn.wait(levels).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            levels.current = std::mem::take(&mut levels.next).into();
            levels.over = levels.current.is_empty();
            levels.depth += u64::from(!levels.over);
            if levels.over || levels.current.len() > 1 {
                self.turn.notify_all();
            }
        }
    }

    /// What was taken has been expanded; this was found.
    pub fn done(&self, found: impl IntoIterator<Item = Pack<W>>) {
        let mut levels = lock(&self.levels);
        levels.next.extend(found);
        levels.busy -= 1;
        if levels.busy == 0 && levels.current.is_empty() {
            self.turn.notify_one();
        }
    }

    /// How many levels there are but the first.
    pub fn depth(&self) -> u64 {
        lock(&self.levels).depth
    }

    /// All are to stop; the first reason counts.
    pub fn halt(&self, reason: Ended) {
        lock(&self.reason).get_or_insert(reason);
        // With the lock, so that nobody goes to sleep meanwhile.
        let levels = lock(&self.levels);
        self.halted.store(true, Relaxed);
        self.turn.notify_all();
        drop(levels);
    }

    /// Why all were stopped.
    pub fn reason(&self) -> Option<Ended> {
        lock(&self.reason).take()
    }

    /// The table; who has it must not wait for others.
    pub fn table(&self) -> RwLockReadGuard<'_, Table<W>> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the table grow, unless it has more bytes than `known` already. False where there is no memory.
    pub fn grow(&self, known: u64) -> bool {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        if table.bytes() > known {
            return true;
        }
        if self.memory() + table.larger() > self.memory {
            return false;
        }
        let Some(larger) = table.grown(self.threads, &self.huge) else { return false };
        self.table_bytes.store(larger.bytes(), Relaxed);
        *table = larger;
        true
    }

    /// Bytes of all that is shared.
    pub fn memory(&self) -> u64 {
        self.table_bytes.load(Relaxed) + self.waiting.load(Relaxed)
    }
}
