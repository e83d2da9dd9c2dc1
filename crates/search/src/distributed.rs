//! Search by several processes: each is a frontier search of the states that it owns.
//!
//! A hash of what a state means decides which process owns it (U. Stern and D. Dill, *Parallelizing the
//! Murphi verifier*, CAV 1997). Each process keeps its states in a store of its own, expands them as any
//! frontier search does, and sends what it finds and does not own to the owner: in parcels of many states
//! ([`parcel`]), with their annotations, so that edges that are left out here are left out there. What was
//! sent lately is not sent again ([`away`]). Every state is expanded once, by one process, with what slept on the
//! way by which it came first; lean search needs no more ([`system::lean`]), whatever the order. So states,
//! transitions and errors are those of one process.
//!
//! **The end.** That nobody has anything to do and nothing is on its way is told by the [`Exchange`]. What is
//! sent counts as a step to a known state, and whoever takes in a new one corrects that.
//!
//! **Back-pressure.** What has come is taken in before anything is expanded, and nothing is expanded as long as
//! too much of what was sent has not been taken by others.
//!
//! **Paths.** Of a state that came from elsewhere it is kept who sent it, of which of the sender's states it is
//! a successor, and by which edge ([`origins`]). When all have stopped, the ways back are asked for part by
//! part ([`Part::way_back`]), and the path is found by expanding the states along it, as ever.

mod away;
mod exchange;
mod origins;
mod parcel;

pub(crate) use away::Away;
pub use exchange::{Alone, Doing, Exchange, Take, Turn};
pub use origins::WayBack;

use crate::ancestry::{Ancestry, Ordinal};
use crate::cuts::Cuts;
use crate::findings::Findings;
use crate::frontier::{Batch, Frontier, Levels};
use crate::halt::obeying;
use crate::judged::initial_state;
use crate::limits::{Budget, peak_resident_bytes};
use crate::observer::{Observer, Snapshot};
use crate::outcome::{Extent, Outcome, Statistics, StopReason, no_memory};
use crate::queue::Queue;
use crate::retrace::retrace;
use crate::state_key::key;
use crate::task::{Proviso, Task};
use origins::Origins;
use parcel::{Arrivals, Reading};
use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use store::{Batched, Seen};
use system::portable::{Importer, PortableError};
use system::{Sequence, TransitionSystem};

/// States that are expanded before the exchange has its turn.
const ROUND: u64 = 1024;
/// Rounds after which parcels are sent, full or not; as long as the search is young, after each.
const PATIENCE: u64 = 16;
const YOUNG: u64 = 64;
/// States that came and are looked up together.
const TOGETHER: usize = 512;

/// What one process did, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PartFigures {
    /// States that it owns.
    pub states: u64,
    /// Of these, states that others found.
    pub received: u64,
    /// States that it sent.
    pub sent: u64,
    /// States that it did not send because it had, shortly before.
    pub spared: u64,
    /// Parcels that it sent, and their bytes.
    pub parcels: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Time in which it had nothing to do.
    pub waited: Duration,
    /// Bytes of its store.
    pub store: u64,
    /// The most memory that the process ever had in RAM; 0 where the system does not tell.
    pub peak_rss: u64,
}

/// What one process found, for the one that puts it together.
#[derive(Clone, Debug, Default)]
pub struct PartResult {
    /// Violations and the like; spots name ranks.
    pub found: Findings,
    /// Counts. What was sent counts as a step to a known state, also where it was new.
    pub statistics: Statistics,
    /// Where paths were cut off.
    pub cuts: Cuts,
    /// Numbers.
    pub figures: PartFigures,
}

/// What one process did; from here ways back are told.
pub struct Part {
    /// Why it ended here.
    pub stop: StopReason,
    /// What could not be read or sent, if that is why.
    pub broken: Option<String>,
    /// What was found.
    pub result: PartResult,
    rank: usize,
    ancestry: Ancestry,
    origins: Origins,
}

impl Part {
    /// The way back from a state of this process, as far as it leads here.
    pub fn way_back(&self, state: Ordinal) -> WayBack {
        origins::way_back(&self.ancestry, &self.origins, self.rank, state)
    }
}

/// Whether a search by several processes does what the task asks: everything that depends on a state alone.
/// Shortest paths, random orders, and reductions that need to know what another process has expanded are left
/// to other searches.
pub fn is_made_for(task: &Task<'_>) -> bool {
    let by_state = |reduce: crate::task::Reduce<'_>| {
        reduce.proviso == Proviso::None && !matches!(reduce.method, crate::task::Method::Twophase(_))
    };
    task.seed.is_none()
        && task.limits.depth.is_none()
        && task.limits.errors.is_none()
        && task.reduce.is_none_or(by_state)
}

/// Explores the part of a system that belongs to this process, until nothing is left anywhere. `halt` is set
/// when another process has a reason to stop.
pub fn explore<S: Batched, Q: Queue<S>>(
    system: &dyn TransitionSystem,
    (store, queue): (&mut S, Q),
    task: &Task<'_>,
    observer: &mut dyn Observer,
    (exchange, halt): (&mut dyn Exchange, &AtomicBool),
) -> Result<Part, PortableError> {
    debug_assert!(is_made_for(task) && S::LOSSLESS);
    let (rank, size) = (exchange.rank(), exchange.size());
    let budget = Budget::new(task, observer).halted_by(halt);
    let mut frontier = Frontier::new(system, store, queue, Levels::Edges, task, budget);
    // The limit is on the sum over all.
    frontier.limited = false;
    frontier.number = rank;
    if size > 1 {
        frontier.away = Some(Box::new(Away::new(system, (rank, size))?));
    }
    let importers = (0..size).map(|_| Importer::new(system)).collect::<Result<Vec<Importer<'_>>, _>>();
    let mut search = Distributed {
        frontier,
        importers: if size > 1 { importers? } else { Vec::new() },
        exchange,
        most: task.limits.states,
        hidden: system.hidden_bytes(),
        origins: Origins::default(),
        levels: Runs::default(),
        arrivals: Arrivals::default(),
        tickets: Vec::new(),
        new: Vec::new(),
        rounds: 0,
        received: 0,
        waited: Duration::ZERO,
        broken: None,
    };
    let stop = match obeying(|| search.run(system, task)) {
        Ok(()) => StopReason::Completed,
        Err(stop) => stop,
    };
    Ok(search.conclude(rank, stop))
}

/// Which of several states are new, and what a store calls these.
type New<S> = Vec<(u32, <S as Seen>::Name)>;

/// States that wait, first in, first out: how many, and how deep.
#[derive(Debug, Default)]
struct Runs(VecDeque<(u64, u64)>);

impl Runs {
    fn push(&mut self, n: u64, depth: u64) {
        match self.0.back_mut().filter(|run| run.1 == depth) {
            Some(run) => run.0 += n,
            None if n > 0 => self.0.push_back((n, depth)),
            None => {}
        }
    }

    /// The first ones: how many have the same depth.
    fn first(&self) -> (u64, u64) {
        self.0.front().copied().unwrap_or((u64::MAX, 0))
    }

    fn take(&mut self, n: u64) {
        if let Some(run) = self.0.front_mut() {
            run.0 = run.0.saturating_sub(n);
            if run.0 == 0 {
                self.0.pop_front();
            }
        }
    }
}

/// A running part of a search.
struct Distributed<'a, 'x, S: Batched, Q> {
    frontier: Frontier<'a, S, Q>,
    /// For each process, what is known of its shapes.
    importers: Vec<Importer<'a>>,
    exchange: &'x mut dyn Exchange,
    most: Option<u64>,
    hidden: usize,
    origins: Origins,
    levels: Runs,
    arrivals: Arrivals,
    tickets: Vec<S::Ticket>,
    new: New<S>,
    rounds: u64,
    received: u64,
    waited: Duration,
    broken: Option<String>,
}

impl<S: Batched, Q: Queue<S>> Distributed<'_, '_, S, Q> {
    fn run(&mut self, system: &dyn TransitionSystem, task: &Task<'_>) -> Result<(), StopReason> {
        self.begin(system, task)?;
        let mut batch = Batch::default();
        loop {
            self.take_in()?;
            let doing = match self.frontier.queue.waiting() {
                0 => Doing::Nothing,
                _ if self.exchange.is_congested() => Doing::HeldBack,
                _ => Doing::Expanding,
            };
            if doing == Doing::Expanding {
                self.expand_some(&mut batch)?;
            }
            self.send(doing);
            let turn = match doing {
                Doing::Expanding => self.exchange.turn(doing),
                Doing::HeldBack | Doing::Nothing => self.wait(doing)?,
            };
            if turn == Turn::Over {
                debug_assert_eq!(self.frontier.queue.waiting(), 0);
                return self.within_limit();
            }
        }
    }

    /// The owner of the initial state begins with it.
    fn begin(&mut self, system: &dyn TransitionSystem, task: &Task<'_>) -> Result<(), StopReason> {
        let own = match initial_state(system, &task.checks) {
            Ok(state) => match &mut self.frontier.away {
                Some(away) => away.is_own(&state)?,
                None => true,
            },
            // That there is none is told once.
            Err(_) => self.exchange.rank() == 0,
        };
        if own {
            self.frontier.begin()?;
            self.levels.push(self.frontier.queue.waiting(), 0);
            return Ok(());
        }
        self.frontier.ancestry.wait().map_err(no_memory)
    }

    /// Expands a round of states.
    fn expand_some(&mut self, batch: &mut Batch<S::Ticket, S::Name>) -> Result<(), StopReason> {
        let mut left = ROUND;
        while left > 0 && self.frontier.queue.waiting() > 0 {
            let (same, depth) = self.levels.first();
            self.frontier.depth = depth;
            self.frontier.statistics.depth = self.frontier.statistics.depth.max(depth);
            let before = self.frontier.ancestry.found_so_far();
            let expanded = self.frontier.expand_next(left.min(same), batch)?;
            self.levels.take(expanded);
            self.levels.push(self.frontier.ancestry.found_so_far() - before, depth + 1);
            left -= expanded.min(left);
        }
        self.rounds += 1;
        self.tell()
    }

    /// Hands over what is to be sent. Who has nothing else to do keeps nothing back.
    fn send(&mut self, doing: Doing) {
        let Some(away) = &mut self.frontier.away else { return };
        let young = self.rounds < YOUNG || self.rounds.is_multiple_of(PATIENCE);
        if young || doing != Doing::Expanding {
            away.close_all();
        }
        away.take_ready().for_each(|(to, parcel)| self.exchange.send(to, parcel));
    }

    /// Waits for the others.
    fn wait(&mut self, doing: Doing) -> Result<Turn, StopReason> {
        let since = Instant::now();
        let turn = self.exchange.turn(doing);
        self.waited += since.elapsed();
        if turn == Turn::GoOn {
            self.tell()?;
            self.frontier.look_around()?;
        }
        Ok(turn)
    }

    /// Tells how far this process is, and hears how far the others are.
    fn tell(&mut self) -> Result<(), StopReason> {
        let frontier = &mut self.frontier;
        let own = Snapshot {
            states: frontier.store.n_keys(),
            transitions: frontier.statistics.transitions,
            depth: frontier.depth,
            frontier: frontier.queue.waiting(),
            errors: frontier.found.errors,
            ..Snapshot::default()
        };
        let others = self.exchange.tell(&own);
        if let Some(away) = &mut frontier.away {
            (away.others, away.origins) = (others, self.origins.memory());
        }
        self.within_limit()
    }

    fn within_limit(&self) -> Result<(), StopReason> {
        let others = self.frontier.away.as_ref().map_or(0, |away| away.others.states);
        let states = self.frontier.store.n_keys() + others;
        if self.most.is_some_and(|most| states > most) { Err(StopReason::StateLimit) } else { Ok(()) }
    }

    /// Takes in all states that have come.
    fn take_in(&mut self) -> Result<(), StopReason> {
        let Distributed { frontier, importers, exchange, arrivals, tickets, new, .. } = self;
        let (hidden, origins, levels) = (self.hidden, &mut self.origins, &mut self.levels);
        let (received, broken) = (&mut self.received, &mut self.broken);
        exchange.receive(&mut |sender, parcel| {
            let mut unreadable = |why: parcel::BadParcel| {
                *broken = Some(format!("what process {sender} sent cannot be read: {why}"));
                StopReason::Interrupted
            };
            let Some(importer) = importers.get_mut(sender) else {
                return Err(unreadable(parcel::BadParcel::Broken));
            };
            let mut reading = Reading::begin(parcel, importer).map_err(&mut unreadable)?;
            origins.next_parcel();
            while reading.some(TOGETHER, importer, arrivals).map_err(&mut unreadable)? {
                let found = insert(frontier, (arrivals, hidden), (sender, origins), (tickets, new))?;
                levels.push(found, reading.depth);
                *received += found;
            }
            Ok(())
        })
    }

    fn conclude(self, rank: usize, stop: StopReason) -> Part {
        let Distributed { mut frontier, origins, received, waited, broken, .. } = self;
        let (cuts, statistics) = (frontier.take_cuts(), &mut frontier.statistics);
        statistics.states = frontier.store.n_keys();
        statistics.expanded = Some(frontier.ancestry.parent());
        statistics.state_bytes = frontier.store.memory();
        let away = frontier.away.as_deref();
        let figures = PartFigures {
            states: statistics.states,
            received,
            sent: away.map_or(0, |away| away.states),
            spared: away.map_or(0, |away| away.spared),
            parcels: away.map_or(0, |away| away.parcels),
            bytes: away.map_or(0, |away| away.bytes),
            waited,
            store: statistics.state_bytes,
            peak_rss: peak_resident_bytes().unwrap_or(0),
        };
        let unsent = away.and_then(|away| away.broken.clone());
        let broken = broken.or_else(|| Some(format!("a state cannot be sent: {}", unsent?)));
        let (found, statistics) = (frontier.found, frontier.statistics);
        let result = PartResult { found, statistics, cuts, figures };
        Part { stop, broken, result, rank, ancestry: frontier.ancestry, origins }
    }
}

/// Inserts states that another process found; those that are new join the queue. Says how many.
fn insert<S: Batched, Q: Queue<S>>(
    frontier: &mut Frontier<'_, S, Q>,
    (arrivals, hidden): (&Arrivals, usize),
    (sender, origins): (usize, &mut Origins),
    (tickets, new): (&mut Vec<S::Ticket>, &mut New<S>),
) -> Result<u64, StopReason> {
    tickets.clear();
    new.clear();
    let full = |store::Full| StopReason::MemoryLimit;
    let keys = || arrivals.states().map(|state| key(state, hidden));
    frontier.store.plan_all(keys(), tickets).map_err(full)?;
    frontier.store.finish_all(|at| key(arrivals.state(at), hidden), tickets).map_err(full)?;
    let inserted = frontier.store.insert_all(keys(), tickets, new);
    let first = frontier.ancestry.found_so_far();
    for (&(at, _), number) in new.iter().zip(first..) {
        origins.add(number, sender, arrivals.arrival(at as usize).origin)?;
    }
    let found = new.len() as u64;
    frontier.ancestry.found_elsewhere(found);
    let states = new.iter().map(|&(at, name)| {
        let state: &[u8] = if Q::WHOLE { arrivals.state(at as usize) } else { &[] };
        (name, state, arrivals.arrival(at as usize).annotation)
    });
    frontier.queue.push_all(states).map_err(no_memory)?;
    inserted.map_err(full)?;
    debug_assert!(new.iter().all(|&(at, _)| (at as usize) < arrivals.states().len()));
    Ok(found)
}

/// The numbers of the edges that lead back to the initial state, put together from parts of ways back.
/// `ask` asks a process for the way back from one of its states; it has `None` for who cannot answer.
pub fn whole_way(
    start: (usize, Ordinal),
    ask: &mut dyn FnMut(usize, Ordinal) -> Option<WayBack>,
) -> Option<Sequence<u32>> {
    let (mut edges, mut at) = (Sequence::new(), Some(start));
    while let Some((rank, state)) = at {
        let way = ask(rank, state)?;
        // A way that stays where it is would never end.
        if way.edges.is_empty() && way.on.is_some() {
            return None;
        }
        way.edges.iter().for_each(|&edge| edges.push(edge));
        at = way.on;
    }
    Some(edges)
}

/// What all processes found together. `way` gives the numbers of the edges back from a state of a process.
pub fn put_together(
    system: &dyn TransitionSystem,
    task: &Task<'_>,
    stop: StopReason,
    parts: Vec<PartResult>,
    way: &dyn Fn(usize, Ordinal) -> Sequence<u32>,
) -> Outcome {
    let (mut found, mut statistics, mut cuts) = (Findings::default(), Statistics::default(), Cuts::default());
    let (mut expanded, mut states, mut bytes, mut received) = (0, 0, 0, 0);
    for part in parts {
        found.join(part.found);
        statistics.join(&part.statistics);
        cuts.join(part.cuts);
        expanded += part.statistics.expanded.unwrap_or(0);
        states += part.statistics.states;
        bytes += part.statistics.state_bytes;
        received += part.figures.received;
    }
    statistics.matched = statistics.matched.saturating_sub(received);
    let mut found =
        found.with_paths(|spot| retrace(system, task, false, &way(spot.worker, spot.expansion), &spot.more));
    let most = task.limits.states.unwrap_or(u64::MAX);
    let stop = match stop {
        StopReason::Completed if !task.all_errors && found.errors > 0 => StopReason::Violation,
        StopReason::Completed if states > most => StopReason::StateLimit,
        other => other,
    };
    if !task.all_errors {
        found.keep_shortest();
    }
    // Of states found beyond the limit, before all had stopped, none counts.
    statistics.states = if stop == StopReason::StateLimit { states.min(most) } else { states };
    (statistics.expanded, statistics.state_bytes, statistics.workers) = (Some(expanded), bytes, 1);
    let checks = &task.checks;
    let extent = Extent { stop, about: checks.about(), cuts, lossless: true };
    Outcome::conclude(extent, checks, found, statistics)
}

#[cfg(test)]
mod tests;
