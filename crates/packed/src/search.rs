//! The search: packed states in breadth-first order, by one worker or many.
//!
//! It is not the frontier search of `search`, for its states are no strings of bytes: they stay in registers
//! from the code that makes them to the table that keeps them, are prepared by the batch, and an entry of the
//! table is all that is kept of one. What both share is what is not in this loop: the ancestry (about a byte
//! a state), budgets, and what an error means, which is asked of a [`Judge`] for the few states that show
//! something.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use store::threads::start;

use kernel::{Kernel, Layout};
use search::ancestry::{Ancestry, Ordinal, edges_to};

use crate::expand::{Expander, Shown, State, Unforeseen};
use crate::native::Machine;
use crate::table::{Inserted, Table, hash};
use crate::team::{Pack, Team};

/// States of a pack.
const PACK: usize = 1 << 10;
/// Edges that are looked up together, about.
const TOGETHER: usize = 256;
/// The first worker is alone until so many states were found.
const ALONE: u64 = 1 << 12;

/// The stack of a worker.
const STACK_BYTES: usize = 8 << 20;

/// What a state that shows something means.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Judged {
    /// Errors that count.
    pub errors: u64,
    /// Whether the way to it will be wanted.
    pub keep: bool,
}

/// Is told how far a search is, if it wants to know, and answers whether to go on.
pub type Watch<'a> = dyn FnMut(&dyn Fn() -> Counts) -> bool + 'a;

/// Knows what errors mean.
pub trait Judge: Sync {
    /// Looks at a state that shows something.
    fn look(&self, state: &[u64], shown: Shown) -> Judged;
}

/// What a search is asked.
pub struct Request<'a> {
    /// The model.
    pub layout: &'a Layout,
    /// Its code, for whoever wants to look.
    pub kernel: &'a Kernel,
    /// Its code.
    pub machine: &'a Machine,
    /// The initial state, packed.
    pub initial: &'a [u64],
    /// Who judges errors.
    pub judge: &'a dyn Judge,
    /// Go on after an error.
    pub all_errors: bool,
    /// States at most.
    pub states: u64,
    /// Bytes at most.
    pub memory: u64,
    /// Workers.
    pub threads: usize,
    /// The first worker is alone until so many states were found, where that is not left open.
    pub alone: Option<u64>,
    /// Others want it to stop.
    pub stop: &'a AtomicBool,
}

/// How far a search is.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Counts {
    /// Ordinary states.
    pub states: u64,
    /// Steps between them.
    pub steps: u64,
    /// Levels but the first.
    pub levels: u64,
    /// Errors that count.
    pub errors: u64,
    /// Bytes.
    pub memory: u64,
}

/// Why a search ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ended {
    /// All states were found.
    Complete,
    /// There was an error, and one was enough.
    Error,
    /// Whoever watches asked for it.
    Stopped,
    /// Something was not foreseen: what, and the state in which it happened.
    Missed(u32, Vec<u64>),
    /// A d_step or an atomic sequence is too long.
    Long,
    /// There is no more room.
    Full,
    /// There are as many states as there may be, and more.
    States,
}

/// What a search found.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// Why it ended.
    pub ended: Ended,
    /// Numbers.
    pub counts: Counts,
    /// Workers that took part.
    pub workers: usize,
    /// The packed states from the initial one to those of which the judge wanted the way.
    pub ways: Vec<Vec<Vec<u64>>>,
}

/// Searches; nothing for states of more words than there are tables for. `watch` is told how far it is, and
/// answers whether to go on.
pub fn search(request: &Request<'_>, watch: &mut Watch<'_>) -> Option<Found> {
    match request.initial.len() {
        1 => Some(search_words::<1>(request, watch)),
        2 => Some(search_words::<2>(request, watch)),
        _ => None,
    }
}

/// The most words that [`search()`] is for.
pub const MOST_WORDS: usize = 2;

/// A worker.
struct Worker<'a, const W: usize> {
    number: usize,
    request: &'a Request<'a>,
    team: &'a Team<W>,
    expander: Expander<'a, W>,
    ancestry: Ancestry,
    /// The edges of a batch, their hashes, and where those of each state end.
    edges: Vec<State<W>>,
    hashes: Vec<u64>,
    ends: Vec<usize>,
    found: Pack<W>,
    full: Vec<Pack<W>>,
    /// Expansions of states of which the way is wanted.
    kept: Vec<Ordinal>,
    /// Bytes that were told.
    told: u64,
}

/// What a worker leaves.
struct Left {
    number: usize,
    ancestry: Ancestry,
    kept: Vec<Ordinal>,
}

fn search_words<const W: usize>(request: &Request<'_>, watch: &mut Watch<'_>) -> Found {
    let initial: State<W> = std::array::from_fn(|at| request.initial[at]);
    let full = Found { ended: Ended::Full, counts: Counts::default(), workers: 1, ways: Vec::new() };
    let Some(team) = Team::<W>::new(initial, request.memory, request.threads) else { return full };
    team.table().insert(&initial, hash(&initial));
    team.states.store(1, Relaxed);
    let left = std::thread::scope(|scope| {
        let _alarm = Alarm(&team);
        let mut leader = Worker::new(0, request, &team);
        let mut others = Vec::new();
        if leader.ancestry.begin().is_err() {
            team.halt(Ended::Full);
        }
        let alone = request.alone.unwrap_or(ALONE);
        let mut called = request.threads <= 1;
        while let Some(pack) = team.take() {
            leader.pack(pack, Some(watch));
            if !called && team.states.load(Relaxed) >= alone {
                called = true;
                let team = &team;
                // One that cannot be started is not missed: there is less help.
                let begin = |number: usize| {
                    start(scope, "worker", STACK_BYTES, move || help(number, request, team)).ok()
                };
                others.extend((1..request.threads).filter_map(begin));
            }
        }
        let mut left = vec![leader.leave()];
        left.extend(
            others
                .into_iter()
                .map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))),
        );
        left
    });
    let counts = counts(&team);
    let ended = team.reason().unwrap_or(match counts.errors > 0 && !request.all_errors {
        true => Ended::Error,
        false => Ended::Complete,
    });
    let ways = match ended {
        Ended::Missed(..) | Ended::Long => Vec::new(),
        _ => ways::<W>(request, &left),
    };
    let states = if ended == Ended::States { counts.states.min(request.states) } else { counts.states };
    Found { ended, counts: Counts { states, ..counts }, workers: left.len(), ways }
}

/// Stops all when a worker is lost: they might wait for it forever.
struct Alarm<'a, const W: usize>(&'a Team<W>);

impl<const W: usize> Drop for Alarm<'_, W> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.halt(Ended::Stopped);
        }
    }
}

/// What another worker than the first does.
fn help<const W: usize>(number: usize, request: &Request<'_>, team: &Team<W>) -> Left {
    let _alarm = Alarm(team);
    let mut worker = Worker::new(number, request, team);
    if worker.ancestry.wait().is_err() {
        team.halt(Ended::Full);
    }
    while let Some(pack) = team.take() {
        worker.pack(pack, None);
    }
    worker.leave()
}

fn counts<const W: usize>(team: &Team<W>) -> Counts {
    Counts {
        states: team.states.load(Relaxed),
        steps: team.steps.load(Relaxed),
        levels: team.depth(),
        errors: team.errors.load(Relaxed),
        memory: team.memory(),
    }
}

impl<'a, const W: usize> Worker<'a, W> {
    fn new(number: usize, request: &'a Request<'a>, team: &'a Team<W>) -> Self {
        let Request { machine, layout, kernel, .. } = *request;
        Worker {
            number,
            request,
            team,
            expander: Expander::new(machine, layout, kernel, &team.halted),
            ancestry: Ancestry::default(),
            edges: Vec::new(),
            hashes: Vec::new(),
            ends: Vec::new(),
            found: Pack { finder: number, first: 1, states: Vec::new() },
            full: Vec::new(),
            kept: Vec::new(),
            told: 0,
        }
    }

    fn leave(self) -> Left {
        Left { number: self.number, ancestry: self.ancestry, kept: self.kept }
    }

    /// Expands a pack.
    fn pack(&mut self, pack: Pack<W>, watch: Option<&mut Watch<'_>>) {
        self.found.first = self.ancestry.found_so_far();
        if let Err(ended) = self.expand_pack(&pack, watch) {
            self.team.halt(ended);
        }
        let first = self.ancestry.found_so_far();
        let last =
            std::mem::replace(&mut self.found, Pack { finder: self.number, first, states: Vec::new() });
        let last = (!last.states.is_empty()).then_some(last);
        self.tell(pack.states.len() as u64);
        self.team.done(self.full.drain(..).chain(last));
    }

    /// Tells how much memory it has; so many states wait no longer.
    fn tell(&mut self, done: u64) {
        let state = size_of::<State<W>>() as u64;
        let states: usize = self.full.iter().map(|pack| pack.states.capacity()).sum();
        let waiting = (states as u64 + self.found.states.capacity() as u64) * state;
        let mine = self.ancestry.memory();
        self.team.waiting.fetch_add(waiting + mine - self.told, Relaxed);
        self.told = mine;
        // What is counted is capacity, what is done are states: it is never below 0.
        let _ =
            self.team.waiting.fetch_update(Relaxed, Relaxed, |all| Some(all.saturating_sub(done * state)));
    }

    fn expand_pack(&mut self, pack: &Pack<W>, mut watch: Option<&mut Watch<'_>>) -> Result<(), Ended> {
        let Pack { finder, first, ref states } = *pack;
        // Before the first expansion: the way back from these states leads into the ancestry of their finder.
        self.ancestry.take_up(finder, first).map_err(|_| Ended::Full)?;
        let mut rest = &states[..];
        while !rest.is_empty() {
            if self.team.halted.load(Relaxed) {
                return Ok(());
            }
            if self.request.stop.load(Relaxed) {
                return Err(Ended::Stopped);
            }
            let n = self.expand_batch(rest)?;
            rest = &rest[n..];
            self.insert_batch()?;
            if let Some(watch) = &mut watch
                && !watch(&|| counts(self.team))
            {
                return Err(Ended::Stopped);
            }
        }
        Ok(())
    }

    /// Expands some states; answers how many.
    fn expand_batch(&mut self, states: &[State<W>]) -> Result<usize, Ended> {
        self.edges.clear();
        self.ends.clear();
        for (at, state) in states.iter().enumerate() {
            let shown =
                self.expander.expand(state, &mut self.edges).map_err(|unforeseen| match unforeseen {
                    Unforeseen::Miss(miss, state) => Ended::Missed(miss, state.to_vec()),
                    Unforeseen::Long => Ended::Long,
                    Unforeseen::Stopped => Ended::Stopped,
                })?;
            if shown.any() {
                self.judge(at, state, shown)?;
            }
            self.ends.push(self.edges.len());
            if self.edges.len() >= TOGETHER {
                break;
            }
        }
        Ok(self.ends.len())
    }

    /// Asks what a state means that shows something.
    #[cold]
    fn judge(&mut self, at: usize, state: &State<W>, shown: Shown) -> Result<(), Ended> {
        let judged = self.request.judge.look(state, shown);
        if shown.endless {
            self.expander.look_for_loops = false;
        }
        if judged.keep {
            self.kept.push(self.ancestry.parent() + at as u64);
        }
        self.team.errors.fetch_add(judged.errors, Relaxed);
        if judged.errors > 0 && !self.request.all_errors { Err(Ended::Error) } else { Ok(()) }
    }

    /// Inserts the edges of the states that were expanded.
    fn insert_batch(&mut self) -> Result<(), Ended> {
        let team = self.team;
        team.steps.fetch_add(self.edges.len() as u64, Relaxed);
        let mut table = team.table();
        if team.states.load(Relaxed) + self.edges.len() as u64 > table.most() {
            let bytes = table.bytes();
            drop(table);
            if !team.grow(bytes) {
                return Err(Ended::Full);
            }
            table = team.table();
        }
        self.hashes.clear();
        for edge in &self.edges {
            let hash = hash(edge);
            table.prefetch(hash);
            self.hashes.push(hash);
        }
        let (mut at, mut new) = (0, 0);
        for parent in 0..self.ends.len() {
            let first = at;
            while at < self.ends[parent] {
                let (edge, hash) = (self.edges[at], self.hashes[at]);
                let mut inserted = table.insert(&edge, hash);
                while inserted == Inserted::Full {
                    table = self.enlarge(table)?;
                    inserted = table.insert(&edge, hash);
                }
                if inserted == Inserted::New {
                    new += 1;
                    self.ancestry.found((at - first) as u32).map_err(|_| Ended::Full)?;
                    self.put(edge);
                }
                at += 1;
            }
            self.ancestry.expanded().map_err(|_| Ended::Full)?;
        }
        let states = team.states.fetch_add(new, Relaxed) + new;
        if states > self.request.states { Err(Ended::States) } else { Ok(()) }
    }

    #[cold]
    fn enlarge<'t>(
        &self,
        table: std::sync::RwLockReadGuard<'t, Table<W>>,
    ) -> Result<std::sync::RwLockReadGuard<'t, Table<W>>, Ended>
    where
        'a: 't,
    {
        let bytes = table.bytes();
        drop(table);
        if self.team.grow(bytes) { Ok(self.team.table()) } else { Err(Ended::Full) }
    }

    /// A new state waits.
    #[inline]
    fn put(&mut self, state: State<W>) {
        self.found.states.push(state);
        if self.found.states.len() == PACK {
            let first = self.ancestry.found_so_far();
            let states = Vec::with_capacity(PACK);
            let full = std::mem::replace(&mut self.found, Pack { finder: self.number, first, states });
            self.full.push(full);
        }
    }
}

/// The ways to the states that the judge wanted.
fn ways<const W: usize>(request: &Request<'_>, left: &[Left]) -> Vec<Vec<Vec<u64>>> {
    // A worker that could not be started has found nothing.
    let absent = Ancestry::default();
    let mut ancestries: Vec<&Ancestry> = vec![&absent; request.threads.max(1)];
    left.iter().for_each(|left| ancestries[left.number] = &left.ancestry);
    let never = AtomicBool::new(false);
    let Request { machine, layout, kernel, .. } = *request;
    let mut expander = Expander::<W>::new(machine, layout, kernel, &never);
    expander.look_for_loops = false;
    let kept = left.iter().flat_map(|left| left.kept.iter().map(|&at| (left.number, at)));
    let mut ways = Vec::new();
    for (worker, expansion) in kept {
        let mut state: State<W> = std::array::from_fn(|at| request.initial[at]);
        let (mut way, mut edges) = (vec![state.to_vec()], Vec::new());
        for &edge in edges_to(&ancestries, worker, expansion).iter().rev() {
            edges.clear();
            let expanded = expander.expand(&state, &mut edges);
            let Some(&next) = edges.get(edge as usize).filter(|_| expanded.is_ok()) else { break };
            state = next;
            way.push(state.to_vec());
        }
        ways.push(way);
    }
    ways
}
