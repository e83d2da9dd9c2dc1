//! Parallel search of a shared store: every worker is a frontier search that takes its states from a team.
//!
//! A worker inserts what it finds into the store that all share, so every state is new for exactly one
//! worker, who puts it into its own queue; whoever has nothing to do takes a pack from another. States,
//! transitions and errors are those of the search by one worker, whatever the timing; only the paths by which
//! states were first reached differ. This is the scheme of Laarman, van de Pol & Weber (FMCAD 2010). Three
//! orders ([`Taking`]):
//!
//! - *oldest first*: nearly breadth-first, the default;
//! - *newest first*: pseudo depth-first. It is no depth-first search (there is no stack that holds a path),
//!   but it has the small frontier of one;
//! - *levels*: breadth-first by single steps, with a meeting of all workers after each level, so that the
//!   first counterexample is a shortest one.
//!
//! **One begins alone.** A small search is over before a second thread would have started, so the first
//! worker calls for the others only when it has found some thousand states. Small searches are so exactly
//! those of one thread.
//!
//! **Paths.** Each worker keeps the ancestry of what it found. They are put together when all have stopped.
//!
//! **Checkpoints.** When the search is to be written down, all workers finish their packs and end; what they
//! leave is written, and a *shift* of workers begins that goes on with it. So there is one way to write a
//! search down, whether it goes on or ends.

use crate::ancestry::{Ancestry, edges_to};
use crate::checkpoint::{Keeping, Marker, Moment, Saved, SavedStates, can_go_on};
use crate::cuts::Cuts;
use crate::findings::Findings;
use crate::frontier::{Batch, Frontier, Levels, restore_packs};
use crate::halt::obeying;
use crate::limits::Budget;
use crate::observer::{Observer, Silent};
use crate::outcome::{Extent, Outcome, Statistics, StopReason, no_memory};
use crate::pack::States;
use crate::random::Random;
use crate::retrace::retrace;
use crate::task::Task;
use crate::team::{PACK, Share, Taking, Team};
use crate::termination::{Seeker, pause};
use crate::worker_pool::{ALONE, Alarm, WorkerPool};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use store::Hand;
use system::TransitionSystem;

/// A system, and how it is to be searched.
#[derive(Clone, Copy)]
pub struct Parallel<'a> {
    /// The system.
    pub system: &'a dyn TransitionSystem,
    /// In which order.
    pub taking: Taking,
    /// By how many workers.
    pub workers: usize,
    /// The first worker is alone until it has found this number of states; `None`: as many as seem best.
    pub alone: Option<u64>,
}

impl Parallel<'_> {
    /// The order that the task needs: a limit on steps needs their number.
    fn taking(&self, task: &Task<'_>) -> Taking {
        if task.limits.depth.is_some() { Taking::Levels } else { self.taking }
    }
}

/// Explores a system with several workers. `hand` gives a worker its access to the store that all share.
pub fn parallel<H: Hand, P: States<H>>(
    search: Parallel<'_>,
    hand: &(impl Fn() -> H + Sync),
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    parallel_kept::<H, P>(search, hand, task, observer, Keeping::NONE)
}

/// As [`parallel`]; what it finds is written down, it may go on from where another search was, and what waits
/// may be on a disk. (Of a search by levels nothing is written down.)
pub fn parallel_kept<H: Hand, P: States<H>>(
    search: Parallel<'_>,
    hand: &(impl Fn() -> H + Sync),
    task: &Task<'_>,
    observer: &mut dyn Observer,
    keeping: Keeping<'_>,
) -> Outcome {
    let mut team = Team::new(search.workers, task.limits.states);
    keeping.disk.iter().for_each(|disk| team.spill_to(disk));
    let started = Instant::now();
    let mut all = shift::<H, P>(search, hand, &team, (task, observer), (keeping, started), None);
    while team.is_pausing() && !team.is_halted() {
        write_down(keeping, &all);
        team.rested();
        all = shift::<H, P>(search, hand, &team, (task, observer), (keeping, started), Some(all));
    }
    if keeping.journal.is_some() && team.reason().is_some_and(can_go_on) {
        stop::regardless(|| keep_the_end(keeping, &mut all));
    }
    put_together(search, &hand(), &team, task, all, keeping)
}

/// The work of all until they are done, or are to rest. `before` is what the last shift left.
fn shift<H: Hand, P: States<H>>(
    search: Parallel<'_>,
    hand: &(impl Fn() -> H + Sync),
    team: &Team<P>,
    (task, observer): (&Task<'_>, &mut dyn Observer),
    (keeping, started): (Keeping<'_>, Instant),
    before: Option<Vec<WorkerResult>>,
) -> Vec<WorkerResult> {
    // Taken by the threads themselves: a thread that cannot be started takes nothing with it.
    let slots: Vec<Mutex<Option<WorkerResult>>> = (0..search.workers).map(|_| Mutex::new(None)).collect();
    let slot = |number: usize| slots[number].lock().unwrap_or_else(PoisonError::into_inner);
    for result in before.into_iter().flatten() {
        let number = result.number;
        *slot(number) = Some(result);
    }
    let mut all = std::thread::scope(|scope| {
        // All in here: should the leader panic, its hand must be gone before the others are waited for.
        let _alarm = Alarm(|| team.abandon());
        let mut pool = WorkerPool::new(scope);
        let mut store = hand();
        let budget = Budget::new(task, observer).since(started).halted_by(team.halted.flag());
        let mut leader = FrontierWorker::<H, P>::new(search, &mut store, team, 0, (task, keeping), budget);
        let mine = slot(0).take();
        let go_on = match (mine, keeping.resumed) {
            (Some(result), _) => leader.take_over(result),
            (None, Some(resumed)) => leader.go_on(resumed),
            (None, None) => leader.begin(),
        };
        if go_on {
            let depth = leader.search.depth;
            for number in 1..search.workers {
                let (at, slot) = ((number, depth), &slot);
                let work = move || {
                    let before = slot(number).take();
                    help::<H, P>(search, hand, team, at, (task, keeping, started), before)
                };
                if !pool.spawn(work) {
                    team.absent();
                }
            }
            leader.work();
        }
        let mine = leader.conclude();
        drop(store);
        pool.join(mine)
    });
    // What nobody took up is what it was.
    all.extend(
        slots.into_iter().filter_map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner)),
    );
    all
}

/// What another worker than the first does.
fn help<H: Hand, P: States<H>>(
    search: Parallel<'_>,
    hand: &(impl Fn() -> H + Sync),
    team: &Team<P>,
    (number, depth): (usize, u64),
    (task, keeping, started): (&Task<'_>, Keeping<'_>, Instant),
    before: Option<WorkerResult>,
) -> WorkerResult {
    let _alarm = Alarm(|| team.abandon());
    let (mut store, mut silent) = (hand(), Silent);
    let budget = Budget::new(task, &mut silent).since(started).halted_by(team.halted.flag());
    let mut worker = FrontierWorker::<H, P>::new(search, &mut store, team, number, (task, keeping), budget);
    worker.search.depth = depth;
    let begun = match before {
        Some(result) => {
            worker.take_over(result);
            Ok(())
        }
        None => worker.search.ancestry.wait(),
    };
    if begun.is_err() {
        team.halt(StopReason::MemoryLimit);
    }
    worker.work();
    worker.conclude()
}

/// What a worker leaves.
struct WorkerResult {
    number: usize,
    ancestry: Ancestry,
    found: Findings,
    statistics: Statistics,
    cuts: Cuts,
    marker: Marker,
    found_twice: u64,
    random: Option<Random>,
}

/// Writes down what all workers left, who stand between two packs.
fn write_down(keeping: Keeping<'_>, all: &[WorkerResult]) {
    let Some(journal) = keeping.journal else { return };
    let (mut found, mut statistics, mut cuts) = (Findings::default(), Statistics::default(), Cuts::default());
    for part in all {
        found.join(part.found.clone());
        statistics.join(&part.statistics);
        cuts.join(part.cuts.clone());
    }
    journal.commit(&Moment {
        ancestries: keeping.with_formers(by_number(all).into_iter()),
        found,
        statistics,
        found_twice: all.iter().map(|part| part.found_twice).sum(),
        cuts,
        random: None,
    });
}

/// Writes down how far all came, where the search ends before its time: what somebody gave up is to be done
/// again.
fn keep_the_end(keeping: Keeping<'_>, all: &mut [WorkerResult]) {
    let told: Vec<(Findings, Statistics, u64)> =
        all.iter().map(|part| (part.found.clone(), part.statistics, part.found_twice)).collect();
    for part in &mut *all {
        let marker = std::mem::take(&mut part.marker);
        let (statistics, found, twice) = marker.give_up(&mut part.ancestry);
        (part.statistics, part.found) = (statistics, found);
        part.found_twice += twice;
    }
    write_down(keeping, all);
    // What this run tells is what it did.
    for (part, (found, statistics, twice)) in all.iter_mut().zip(told) {
        (part.found, part.statistics, part.found_twice) = (found, statistics, twice);
    }
}

/// The ancestries by the numbers of their workers. One that could not be started has found nothing.
fn by_number(all: &[WorkerResult]) -> Vec<&Ancestry> {
    const NOTHING: &Ancestry = &Ancestry::NOTHING;
    let mut ancestries: Vec<&Ancestry> = Vec::new();
    for part in all {
        let len = ancestries.len().max(part.number + 1);
        ancestries.resize(len, NOTHING);
        ancestries[part.number] = &part.ancestry;
    }
    ancestries
}

/// A worker.
struct FrontierWorker<'a, H: Hand, P> {
    search: Frontier<'a, H, Share<'a, P>>,
    batch: Batch<H::Ticket, H::Name>,
    taking: Taking,
    team: &'a Team<P>,
    /// One violation is enough.
    one: bool,
    alone: u64,
    keeping: Keeping<'a>,
    /// It found nothing to do, and rests.
    rests: bool,
}

impl<'a, H: Hand, P: States<H>> FrontierWorker<'a, H, P> {
    fn new(
        search: Parallel<'a>,
        store: &'a mut H,
        team: &'a Team<P>,
        number: usize,
        (task, keeping): (&'a Task<'a>, Keeping<'a>),
        budget: Budget<'a>,
    ) -> Self {
        let taking = search.taking(task);
        let queue = Share::new(team, number, taking, search.system.hidden_bytes())
            .numbered(keeping.formers() + number);
        let levels = if taking == Taking::Levels { Levels::Steps } else { Levels::Edges };
        let mut frontier = Frontier::new(search.system, store, queue, levels, task, budget);
        frontier.worker = number;
        frontier.keep(keeping, search.workers as u64);
        frontier.expanded = frontier.expanded.is_some().then(|| team.expanded.another());
        // The first begins alone and watches the limit itself; later all count together in the team.
        frontier.limited &= number == 0;
        frontier.random = task.seed.map(|seed| Random::new(seed.wrapping_add(number as u64)));
        let alone = search.alone.unwrap_or(ALONE);
        FrontierWorker {
            search: frontier,
            batch: Batch::default(),
            taking,
            team,
            one: !task.all_errors,
            alone,
            keeping,
            rests: false,
        }
    }

    /// Goes on with what this worker left in the last shift.
    fn take_over(&mut self, result: WorkerResult) -> bool {
        let search = &mut self.search;
        search.queue.has_found(result.ancestry.found_so_far());
        (search.ancestry, search.found, search.statistics) =
            (result.ancestry, result.found, result.statistics);
        (search.cuts, search.marker, search.random) = (result.cuts, result.marker, result.random);
        search.found_twice = result.found_twice;
        search.limited = false;
        true
    }

    /// Puts back what a former search found, and what waits. False when there is nothing to do.
    fn go_on(&mut self, resumed: (&Saved, &dyn SavedStates)) -> bool {
        let search = &mut self.search;
        search.limited = false;
        search.take_over(resumed.0);
        let (team, mut at) = (self.team, 0);
        let put = &mut |pack| {
            at += 1;
            team.put_back(at, pack).map_err(no_memory)
        };
        let restored = search
            .ancestry
            .wait()
            .map_err(no_memory)
            .and_then(|()| obeying(|| restore_packs::<_, _, P>(search, resumed, PACK, put)))
            .and_then(|()| team.count(resumed.0.states()));
        search.store.rest();
        match restored {
            Ok(()) => true,
            Err(reason) => {
                team.halt(reason);
                false
            }
        }
    }

    /// Whether it is time to rest; the first worker looks at the clock for all.
    fn is_to_rest(&self) -> bool {
        let Some(journal) = self.keeping.journal else { return false };
        if self.search.worker == 0 && !self.team.is_pausing() && journal.is_due() {
            self.team.pause();
        }
        self.team.is_pausing()
    }

    /// What was found last waits where it can be taken up.
    fn lie_down(&mut self) {
        if let Err(reason) = self.search.queue.flush() {
            self.team.halt(no_memory(reason));
        }
    }

    /// Begins alone. True when it is worth while to call the others.
    fn begin(&mut self) -> bool {
        let begun = self.search.begin().and_then(|()| self.search.queue.flush().map_err(no_memory));
        let finished = match begun {
            Err(reason) => {
                self.team.halt(reason);
                true
            }
            Ok(()) if self.taking == Taking::Levels => self.levels(true),
            Ok(()) => self.packs(true),
        };
        // From now on others may find states, too: they are counted together.
        self.search.limited = false;
        self.search.store.rest();
        !finished
    }

    /// Works until nobody has anything to do.
    fn work(&mut self) {
        match self.taking {
            Taking::Levels => self.levels(false),
            _ => self.packs(false),
        };
        self.search.store.rest();
    }

    fn conclude(self) -> WorkerResult {
        let mut search = self.search;
        search.log.iter_mut().for_each(|log| log.flush());
        let cuts = search.take_cuts();
        let Frontier { worker: number, ancestry, found, statistics, marker, found_twice, random, .. } =
            search;
        WorkerResult { number, ancestry, found, statistics, cuts, marker, found_twice, random }
    }

    /// Whether a worker that is alone has found so much that others could help.
    fn needs_help(&self) -> bool {
        self.search.queue.found >= self.alone
    }

    /// Expands packs until there are none, or until others should help. True when it is done.
    fn packs(&mut self, alone: bool) -> bool {
        loop {
            match self.next_pack(alone) {
                Ok(true) => {}
                Ok(false) => return true,
                // There was nothing in its hands.
                Err(_) if self.rests => return true,
                Err(reason) => {
                    self.team.halt(reason);
                    return true;
                }
            }
            // Behind a pack: every shift comes on, however soon it is to rest.
            if self.is_to_rest() {
                self.lie_down();
                return true;
            }
            if alone && self.needs_help() {
                return false;
            }
        }
    }

    /// Finds a pack and expands it. False when there is none and will be none.
    fn next_pack(&mut self, alone: bool) -> Result<bool, StopReason> {
        // Own packs first: mostly nobody else wants them.
        if !self.search.queue.take_own() && (alone || !self.find_work()?) {
            return Ok(false);
        }
        self.expand_pack()?;
        self.search.queue.be_generous().map_err(no_memory)?;
        Ok(true)
    }

    /// Takes a pack from another worker, waiting for one if need be. False when all are done.
    fn find_work(&mut self) -> Result<bool, StopReason> {
        self.search.store.rest();
        if self.search.queue.steal() {
            return Ok(true);
        }
        let team = self.team;
        team.idle.seek(self)
    }

    /// Expands the pack that was taken.
    fn expand_pack(&mut self) -> Result<(), StopReason> {
        let (finder, first, depth) = {
            let pack = &self.search.queue.current;
            (pack.finder, pack.first, pack.depth)
        };
        // Before the first expansion: the way back from these states leads into the ancestry of their finder.
        self.search.ancestry.take_up(finder, first).map_err(no_memory)?;
        if self.taking != Taking::Levels {
            self.search.depth = depth;
            self.search.queue.set_depth(depth + 1).map_err(no_memory)?;
            if self.search.log.is_some() {
                self.search.ancestry.note_depth(depth + 1);
            }
        }
        obeying(|| self.search.expand_waiting(&mut self.batch))?;
        self.tell()
    }

    /// Tells the others how far this worker is.
    fn tell(&mut self) -> Result<(), StopReason> {
        let search = &mut self.search;
        if let Some(steps) = search.found.shortest() {
            self.team.tell_shortest(steps);
        }
        let memory = search.memory_of_its_own();
        let (transitions, errors) = (search.statistics.transitions, search.found.errors);
        search.queue.tell(transitions, errors, memory, !search.buckets.is_empty())
    }

    /// Goes on level by level until the last, or until others should help. True when it is done. Whatever
    /// happens, a worker comes to every meeting.
    fn levels(&mut self, alone: bool) -> bool {
        loop {
            // One decides for all, before they meet: the others must not see different answers.
            if self.search.worker == 0 {
                self.decide();
            }
            self.halt_on_error(Self::begin_level);
            if !(alone || self.meet()) || self.team.over() {
                return true;
            }
            self.halt_on_error(|worker| worker.expand_level(alone));
            if !(alone || self.meet()) {
                return true;
            }
            self.search.depth += 1;
            if alone && self.needs_help() {
                return false;
            }
        }
    }

    fn halt_on_error(&mut self, work: impl FnOnce(&mut Self) -> Result<(), StopReason>) {
        if let Err(reason) = work(self) {
            self.team.halt(reason);
        }
    }

    fn meet(&mut self) -> bool {
        self.search.store.rest();
        self.team.meeting.wait()
    }

    fn side(&self) -> usize {
        (self.search.depth % 2) as usize
    }

    /// Decides for all whether there is a next level. Nobody is expanding; some may be inserting states that
    /// waited apart, and then there is one.
    fn decide(&mut self) {
        if self.one && self.team.shortest() <= self.search.depth {
            self.team.halt(StopReason::Violation);
        }
        if self.team.is_halted() || !self.team.something_left(self.side()) {
            self.team.end();
        }
    }

    /// Inserts the states that waited for this level.
    fn begin_level(&mut self) -> Result<(), StopReason> {
        let side = self.side();
        self.search.queue.take_side = side;
        self.search.queue.put_side = side;
        self.search.insert_bucket()?;
        self.search.queue.flush().map_err(no_memory)?;
        self.search.queue.put_side = 1 - side;
        Ok(())
    }

    /// Expands states of this level as long as there are any.
    fn expand_level(&mut self, alone: bool) -> Result<(), StopReason> {
        while !self.team.is_halted()
            && (self.search.queue.take_own() || (!alone && self.search.queue.steal()))
        {
            self.expand_pack()?;
        }
        self.search.queue.flush().map_err(no_memory)?;
        self.tell()
    }
}

impl<H: Hand, P: States<H>> Seeker for FrontierWorker<'_, H, P> {
    type Stop = StopReason;

    fn sees_work(&self) -> bool {
        self.search.queue.sees_work()
    }

    fn take_work(&mut self) -> bool {
        self.search.queue.steal()
    }

    fn wait(&mut self, waits: u32) -> Result<(), StopReason> {
        self.search.look_around()?;
        if self.is_to_rest() {
            self.rests = true;
            return Err(StopReason::Interrupted);
        }
        pause(waits);
        Ok(())
    }
}

/// What all found, with paths that lead through the ancestries of all.
fn put_together<H: Hand, P: States<H>>(
    search: Parallel<'_>,
    store: &H,
    team: &Team<P>,
    task: &Task<'_>,
    all: Vec<WorkerResult>,
    keeping: Keeping<'_>,
) -> Outcome {
    let exact = search.taking(task) == Taking::Levels;
    let (mut found, mut statistics, mut cuts) = (Findings::default(), Statistics::default(), Cuts::default());
    statistics.workers = all.len() as u64;
    let ancestries = keeping.with_formers(by_number(&all).into_iter());
    let mut twice = 0;
    for part in &all {
        found.join(part.found.clone());
        statistics.join(&part.statistics);
        cuts.join(part.cuts.clone());
        twice += part.found_twice;
    }
    statistics.matched = statistics.matched.saturating_sub(twice);
    let mut found = found.with_paths(|spot| {
        retrace(search.system, task, exact, &edges_to(&ancestries, spot.worker, spot.expansion), &spot.more)
    });
    let stop = match team.reason() {
        Some(reason) => reason,
        None if !task.all_errors && found.errors > 0 => StopReason::Violation,
        None => StopReason::Completed,
    };
    if !task.all_errors {
        found.keep_shortest();
    }
    statistics.take_stock(store, stop, task.limits.states);
    let checks = &task.checks;
    let extent = Extent { stop, about: checks.about(), cuts, lossless: H::LOSSLESS };
    Outcome::conclude(extent, checks, found, statistics)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontier::frontier;
    use crate::limits::Limits;
    use crate::observer::{Flow, Snapshot};
    use crate::pack::{NamedStates, WholeStates};
    use crate::property::{Checks, Judge};
    use crate::queue::Whole;
    use crate::task::{Method, Proviso, Reduce};
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::time::Duration;
    use store::arena::RecordPlace;
    use store::tree::Root;
    use store::{Roots, SharedTable, SharedTree, Table};
    use system::toy::{Counters, First, Graph, Hidden};
    use system::{ActionId, Capabilities, Fault, Labels, Successors};

    const ORDERS: [Taking; 3] = [Taking::Oldest, Taking::Newest, Taking::Levels];

    struct Setting {
        taking: Taking,
        workers: usize,
        all_errors: bool,
        limits: Limits,
    }

    fn run(system: &dyn TransitionSystem, setting: &Setting) -> Outcome {
        run_watched(system, setting, &AtomicBool::new(false), &mut Silent)
    }

    /// The workers are called at once, so that small systems are shared, too.
    fn run_watched(
        system: &dyn TransitionSystem,
        setting: &Setting,
        stop: &AtomicBool,
        observer: &mut dyn Observer,
    ) -> Outcome {
        let &Setting { taking, workers, all_errors, limits } = setting;
        let task = Task { checks: Checks::SAFETY, all_errors, seed: None, limits, stop, reduce: None };
        let search = Parallel { system, taking, workers, alone: Some(1) };
        let table = SharedTable::new(u64::MAX);
        let tree = SharedTree::new(Roots::Cleary, u64::MAX);
        match workers {
            _ if system.hidden_bytes() > 0 => {
                parallel::<_, WholeStates>(search, &|| table.hand(), &task, observer)
            }
            1 | 5 => parallel::<_, WholeStates>(search, &|| table.hand(), &task, observer),
            3 => parallel::<_, NamedStates<Root>>(search, &|| tree.hand(), &task, observer),
            _ => parallel::<_, NamedStates<RecordPlace>>(search, &|| table.hand(), &task, observer),
        }
    }

    fn one_worker(system: &dyn TransitionSystem, setting: &Setting) -> Outcome {
        let &Setting { taking, all_errors, limits, .. } = setting;
        let stop = AtomicBool::new(false);
        let task = Task { checks: Checks::SAFETY, all_errors, seed: None, limits, stop: &stop, reduce: None };
        let levels = if taking == Taking::Levels { Levels::Steps } else { Levels::Edges };
        let queue = Whole::new(system.hidden_bytes(), false);
        frontier(system, &mut Table::default(), queue, levels, &task, &mut Silent)
    }

    /// A path must lead to its fault.
    fn replay(system: &dyn TransitionSystem, outcome: &Outcome) {
        for violation in &outcome.violations {
            let (mut state, mut shown) = (Vec::new(), Vec::new());
            system.initial(&mut state).unwrap();
            for &action in &violation.path {
                let mut out = Successors::default();
                let mut enabled = Vec::new();
                system.enabled(&state, &mut enabled);
                assert!(enabled.contains(&action));
                system.fire(&state, &[action], &mut out);
                shown.extend(out.fault(&out.list[0]).cloned());
                if let Some(next) = out.state(&out.list[0]) {
                    state = next.to_vec();
                }
            }
            let mut enabled = Vec::new();
            system.enabled(&state, &mut enabled);
            Judge::new(Checks::SAFETY, system).state(&state, enabled.is_empty(), &mut shown);
            assert!(shown.contains(&violation.fault), "{:?}", violation.fault);
        }
    }

    fn signatures(outcome: &Outcome) -> Vec<(String, u32)> {
        let mut all: Vec<_> =
            outcome.violations.iter().map(|v| (v.fault.message.clone(), v.fault.line)).collect();
        all.sort();
        all
    }

    #[test]
    fn random_graphs_are_searched_as_by_one() {
        for seed in 0..150 {
            let graph = Graph::random(4 + (seed % 60) as u32, seed);
            for taking in ORDERS {
                for workers in [1, 2, 3] {
                    let setting =
                        |all_errors| Setting { taking, workers, all_errors, limits: Limits::default() };
                    let (one, many) = (one_worker(&graph, &setting(true)), run(&graph, &setting(true)));
                    let what = format!("seed {seed}, {taking:?}, {workers} workers");
                    let numbers =
                        |o: &Outcome| (o.statistics.states, o.statistics.transitions, o.statistics.matched);
                    assert_eq!(numbers(&one), numbers(&many), "{what}");
                    assert_eq!((one.errors, one.stop), (many.errors, many.stop), "{what}");
                    assert_eq!(one.warnings.is_empty(), many.warnings.is_empty(), "{what}");
                    assert_eq!(signatures(&one).len(), signatures(&many).len(), "{what}");
                    replay(&graph, &many);
                    let (one, many) = (one_worker(&graph, &setting(false)), run(&graph, &setting(false)));
                    assert_eq!((one.errors, one.stop), (many.errors, many.stop), "{what}");
                    assert_eq!(one.exhausted, many.exhausted, "{what}");
                    replay(&graph, &many);
                    if taking == Taking::Levels {
                        let steps = |o: &Outcome| o.violations.first().map(|v| v.path.len());
                        assert_eq!(steps(&one), steps(&many), "{what}");
                    }
                }
            }
        }
    }

    #[test]
    fn many_states_are_counted_once() {
        let counters = Counters { n: 6, max: 7 };
        for taking in ORDERS {
            for workers in [2, 5, 8] {
                let many =
                    run(&counters, &Setting { taking, workers, all_errors: true, limits: Limits::default() });
                assert_eq!(many.statistics.states, 1 << 18, "{taking:?} {workers}");
                assert_eq!(many.statistics.transitions, 6 * 7 * (1 << 15), "{taking:?} {workers}");
                assert!(many.exhausted.is_some());
            }
        }
    }

    /// A new state is new for one worker alone, so the closed-set proviso is as good as with one: see
    /// [`crate::task`].
    #[test]
    fn reductions_keep_their_proviso() {
        let stop = AtomicBool::new(false);
        let round = "0 -> 1 -> 0; 2 -> 3 -> 2; 0 -> 2; 1 -> 3; end 2 3; bad 3";
        let (counters, graph) = (Counters { n: 4, max: 4 }, Graph::parse(round).unwrap());
        let systems: [(&dyn TransitionSystem, u64, u64); 2] = [(&counters, 17, 0), (&graph, 4, 1)];
        for (system, states, errors) in systems {
            for taking in ORDERS {
                let reduce = Some(Reduce { by: &First, method: Method::Sets, proviso: Proviso::ClosedSet });
                let limits = Limits::default();
                let task = Task {
                    checks: Checks::SAFETY,
                    all_errors: true,
                    seed: None,
                    limits,
                    stop: &stop,
                    reduce,
                };
                let table = SharedTable::new(u64::MAX);
                let search = Parallel { system, taking, workers: 3, alone: Some(1) };
                let outcome = parallel::<_, WholeStates>(search, &|| table.hand(), &task, &mut Silent);
                assert_eq!((outcome.statistics.states, outcome.errors), (states, errors), "{taking:?}");
                replay(system, &outcome);
            }
        }
    }

    #[test]
    fn hidden_values_travel_with_their_states() {
        let setting =
            Setting { taking: Taking::Levels, workers: 3, all_errors: true, limits: Limits::default() };
        let outcome = run(&Hidden, &setting);
        assert_eq!((outcome.statistics.states, outcome.errors), (10, 0));
    }

    #[test]
    fn limits_stop_all() {
        let counters = Counters { n: 9, max: 9 };
        for taking in ORDERS {
            let with = |limits| run(&counters, &Setting { taking, workers: 4, all_errors: false, limits });
            let states = with(Limits { states: Some(50_000), ..Limits::default() });
            assert_eq!((states.stop, states.statistics.states), (StopReason::StateLimit, 50_000));
            let time = with(Limits { time: Some(Duration::from_millis(20)), ..Limits::default() });
            assert_eq!(time.stop, StopReason::TimeLimit);
            let depth = with(Limits { depth: Some(3), ..Limits::default() });
            assert_eq!((depth.stop, depth.depth_limited), (StopReason::Completed, true));
            assert_eq!(depth.statistics.states, 220, "as many as there are with a sum of at most 3");
            assert!([states, time, depth].iter().all(|outcome| outcome.exhausted.is_none()));
        }
    }

    #[test]
    fn as_many_states_as_allowed_are_no_reason_to_stop() {
        let limits = Limits { states: Some(46_656), ..Limits::default() };
        for taking in ORDERS {
            let setting = Setting { taking, workers: 4, all_errors: false, limits };
            assert!(run(&Counters { n: 6, max: 5 }, &setting).exhausted.is_some());
        }
    }

    #[test]
    fn everybody_can_be_asked_to_stop() {
        struct Stopper<'a>(&'a AtomicBool, u32);
        impl Observer for Stopper<'_> {
            fn progress(&mut self, snapshot: &Snapshot) -> Flow {
                self.1 += 1;
                self.0.store(snapshot.states > 20_000, Ordering::Relaxed);
                Flow::Continue
            }
        }
        for taking in ORDERS {
            let stop = AtomicBool::new(false);
            let setting = Setting { taking, workers: 3, all_errors: true, limits: Limits::default() };
            let mut observer = Stopper(&stop, 0);
            let outcome = run_watched(&Counters { n: 12, max: 9 }, &setting, &stop, &mut observer);
            assert_eq!(outcome.stop, StopReason::Interrupted);
            assert!(outcome.exhausted.is_none() && outcome.statistics.states > 20_000);
        }
    }

    /// Counters that cannot be expanded after a while.
    struct Broken(Counters, AtomicU64);

    impl TransitionSystem for Broken {
        fn initial(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
            self.0.initial(out)
        }

        fn enabled(&self, state: &[u8], out: &mut Vec<ActionId>) {
            assert!(self.1.fetch_add(1, Ordering::Relaxed) < 5000, "broken on purpose");
            self.0.enabled(state, out);
        }

        fn fire(&self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
            self.0.fire(state, actions, out);
        }

        fn labels(&self, state: &[u8]) -> Labels {
            self.0.labels(state)
        }

        fn hidden_bytes(&self) -> usize {
            self.0.hidden_bytes()
        }

        fn capabilities(&self) -> Capabilities<'_> {
            self.0.capabilities()
        }

        fn deadlock(&self, state: &[u8]) -> Fault {
            self.0.deadlock(state)
        }
    }

    #[test]
    fn a_worker_that_panics_does_not_leave_the_others_waiting() {
        for taking in ORDERS {
            let broken = Broken(Counters { n: 7, max: 7 }, AtomicU64::new(0));
            let setting = Setting { taking, workers: 3, all_errors: true, limits: Limits::default() };
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&broken, &setting)));
            assert!(result.is_err());
        }
    }
}
