//! CNDFS: nested depth-first search by several workers over one store with colours.
//!
//! Evangelista, Laarman, Petrucci & van de Pol (ATVA 2012). Every worker makes the whole nested search from
//! the initial state, each in another order, and they spare each other work by two global colours: *blue*
//! states need not be visited by anybody's first search, *red* ones by nobody's second. *Cyan*, the states of
//! the path, is each worker's own. A worker's second search marks nothing until it is over: its states are a
//! set of the worker's own, and become red together. Before that the worker **waits** until all other
//! accepting states among them are red, which they become by the workers that have them on their paths.
//! Without waiting, a worker could make red a state that another worker's second search, begun too late,
//! would need. The paper proves that they never wait for each other in a circle, as long as the first cycle
//! found ends the search; so to count all errors is left to one worker.
//!
//! **Red is closed.** Successors of a red state are red, or become so without further waiting. So a state all
//! of whose successors are red is on no cycle and may become red without a search, as with one worker.
//!
//! **Where cycles accept as a whole** the blue search alone is enough (`nested` is false): take the first
//! state of a cycle that becomes blue. Its successor on the cycle was not blue before, so it is on the path
//! of the same worker, and the step to it is seen.
//!
//! **Numbers.** A state is new for exactly one worker, who expands it at once: what is counted then does not
//! depend on timing. What others expand once more is counted apart (`reexplored`).
//!
//! **One begins alone**, and calls the others when there are states enough. Successors that nobody has found
//! yet are tried before those that another worker is busy with: when their turn comes they are often blue.

use crate::cuts::About;
use crate::cycle_worker::{CycleSearch, CycleWorker, Shared, WorkerResult, full, merge};
use crate::judged::Judged;
use crate::lasso::{Anchor, Lasso, shorten};
use crate::limits::Budget;
use crate::ndfs::Cycles;
use crate::observer::{Observer, Silent};
use crate::outcome::{Extent, Outcome, Recorder, StopReason, Violation, Warning, no_memory};
use crate::stack::Stack;
use crate::states::{Job, Together};
use crate::task::Task;
use crate::termination::pause;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use store::colours::{Colour, Colours};
use store::{Entry, Hand, Numbering, Portable, Recall};
use system::{ActionId, TransitionSystem};

pub use crate::cycle_worker::Workers;

/// Looks for a cycle through an accepting state, with several workers. The task asks for one error, has no
/// limit on depth and no reduction.
pub fn cndfs(
    system: &dyn TransitionSystem,
    cycles: &Cycles,
    workers: Workers,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    Job { system, cycles, task, observer }.together::<Cndfs>(workers)
}

/// The search.
struct Cndfs;

impl Together for Cndfs {
    fn search<H>(job: Job<'_, '_>, workers: Workers, hand: &(dyn Fn() -> H + Sync)) -> Outcome
    where
        H: Hand + Numbering + Recall<Name: Portable>,
    {
        let colours = Colours::new(job.cycles.memory);
        let (shared, observer) = Shared::new(job, hand, colours);
        let all = shared.search(workers, observer, &CndfsWorker::new);
        put_together(&shared, all)
    }
}

/// What all found.
fn put_together<H: Hand + Numbering>(
    shared: &Shared<'_, H, Colours>,
    all: Vec<WorkerResult<Recorder>>,
) -> Outcome {
    let (mut found, mut warnings, mut ways) = (Recorder::default(), Vec::new(), Recorder::default());
    let (mut statistics, cuts) = merge(all, |mut part: Recorder| {
        warnings.append(&mut part.warnings);
        for Violation { fault, path, .. } in std::mem::take(&mut part.cuts) {
            ways.cut(fault, || path);
        }
        if part.errors > 0 {
            found = part;
        }
    });
    warnings.truncate(1);
    found.warnings = warnings;
    found.cuts = ways.cuts;
    shared.take_stock(&mut statistics);
    let stop = match shared.halt.reason() {
        _ if found.errors > 0 => StopReason::Violation,
        Some(reason) => reason,
        None => StopReason::Completed,
    };
    let extent = Extent { stop, about: About::Runs, cuts, lossless: H::LOSSLESS };
    Outcome::conclude(extent, &shared.task.checks, found, statistics)
}

/// A state of the blue path.
struct Frame<N> {
    number: N,
    accepting: bool,
    /// So far all successors are red.
    all_red: bool,
    /// Actions before it.
    path: usize,
}

/// Hashes numbers of states.
#[derive(Default)]
struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(self.0 << 8 | u64::from(byte)));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        let wide = u128::from(number) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (wide >> 64) as u64 ^ wide as u64;
    }
}

type Numbers<N> = HashSet<N, BuildHasherDefault<NumberHasher>>;

struct CndfsWorker<'a, 'c, H: Numbering> {
    /// Its path is the blue one.
    base: CycleWorker<'a, 'c, H, Colours, ()>,
    /// Successors that nobody has found, and those that somebody has, with their numbers.
    fresh: Vec<usize>,
    known: Vec<(usize, H::Number)>,
    frames: Vec<Frame<H::Number>>,
    /// The states of the blue path.
    cyan: Numbers<H::Number>,
    red: Stack<H::Number>,
    /// The states of the red search, and which of them are accepting.
    visited: Numbers<H::Number>,
    reds: Vec<(H::Number, bool)>,
    found: Recorder,
}

impl<'a, 'c, H: Hand + Numbering> CycleSearch<'a, 'c> for CndfsWorker<'a, 'c, H>
where
    'a: 'c,
    H: 'a,
{
    type Hand = H;
    type Own = Colours;
    type MissingMarks = ();
    type Found = Recorder;

    #[inline]
    fn worker(&mut self) -> &mut CycleWorker<'a, 'c, H, Colours, ()> {
        &mut self.base
    }

    /// Goes to the state at the end of the blue path, unless somebody is done with it.
    fn enter(&mut self) -> Result<bool, StopReason> {
        let (Entry { number, new, .. }, _) = self.base.visit()?;
        // Before anything is painted: a colour that found no room would be lost, and the search go round
        // forever.
        self.colours().check(number).map_err(full)?;
        let colour = self.colours().get(number);
        // Who found a state expands it, even if another worker was faster: so it is counted.
        if colour.is_blue() && !new {
            self.all_red(colour.is_red());
            return Ok(false);
        }
        self.explore(number, new)?;
        Ok(true)
    }

    /// The last state of the blue path is done with.
    fn leave(&mut self) -> Result<(), StopReason> {
        let Some(Frame { number, accepting, all_red, .. }) = self.frames.pop() else { return Ok(()) };
        let nested = self.base.shared.cycles.nested;
        // Blue before the red search: others need not come here any more. Cyan ends after it, since the red
        // search looks for a way back to this path.
        self.colours().paint(number, Colour::BLUE);
        // A state all of whose successors are red is on no accepting cycle: its red search would find
        // nothing.
        if nested && all_red {
            self.colours().paint(number, Colour::RED);
        } else if nested && accepting {
            self.red_search(number)?;
        }
        self.cyan.remove(&number);
        self.all_red(self.colours().get(number).is_red());
        self.base.stack.retreat();
        Ok(())
    }

    fn tell(&mut self, news: Judged, more: &[ActionId]) -> Result<(), StopReason> {
        let path = || self.base.stack.path_and(more);
        match news {
            Judged::Cut(fault) => self.found.cut(fault, path),
            Judged::AtomicLoop => self.found.warnings.push(Warning::AtomicLoop(path())),
            Judged::Violation(fault) => {
                let depth = (self.base.stack.steps() + more.len()) as u64;
                self.base.store.rest();
                if self.base.shared.is_first() {
                    self.found.add(fault, depth, || self.base.stack.path_and(more));
                }
                return Err(StopReason::Violation);
            }
        }
        Ok(())
    }

    fn memory(&self) -> u64 {
        self.base.store.memory() + self.red.memory()
    }

    fn conclude(self) -> WorkerResult<Recorder> {
        self.base.result(self.found)
    }
}

impl<'a, 'c, H: Hand + Numbering> CndfsWorker<'a, 'c, H>
where
    'a: 'c,
{
    fn new(base: CycleWorker<'a, 'c, H, Colours, ()>) -> Self {
        CndfsWorker {
            base,
            fresh: Vec::new(),
            known: Vec::new(),
            frames: Vec::new(),
            cyan: Numbers::default(),
            red: Stack::default(),
            visited: Numbers::default(),
            reds: Vec::new(),
            found: Recorder::default(),
        }
    }

    #[inline]
    fn colours(&self) -> &'c Colours {
        &self.base.shared.own
    }

    /// Expands the state at the end of the blue path, looks for cycles that its steps close, and puts
    /// successors that nobody is done with on the stack.
    fn explore(&mut self, number: H::Number, new: bool) -> Result<(), StopReason> {
        self.expand()?;
        let CycleWorker { statistics, expansion, stack, marker, new: found, .. } = &mut self.base;
        if new {
            statistics.transitions += expansion.edges().len() as u64;
            *found += 1;
        } else {
            statistics.reexplored += 1;
        }
        let accepting = marker.is_accepting(stack.state());
        self.frames.try_reserve(1).map_err(no_memory)?;
        self.frames.push(Frame { number, accepting, all_red: true, path: stack.steps() });
        self.cyan.try_reserve(1).map_err(no_memory)?;
        self.cyan.insert(number);
        self.push_successors()
    }

    fn push_successors(&mut self) -> Result<(), StopReason> {
        self.base.prepare_successors(None)?;
        self.base.line_up();
        self.fresh.clear();
        self.known.clear();
        self.base.stack.enter(None).map_err(no_memory)?;
        for &at in &self.base.order {
            match self.base.number_of(at) {
                Some(number) => {
                    self.colours().prefetch(number);
                    self.known.push((at, number));
                }
                None => self.fresh.push(at),
            }
        }
        for turn in 0..self.known.len() {
            let (at, number) = self.known[turn];
            let colour = self.colours().get(number);
            if colour.is_blue() {
                self.all_red(colour.is_red());
            } else if self.cyan.contains(&number) {
                // The frame of the other end is looked for only when it is needed: the path may be long.
                let expansion = &self.base.expansion;
                let accepting = self.base.marker.is_accepting(expansion.target(at));
                self.all_red(false);
                if accepting || self.frames.last().is_some_and(|frame| frame.accepting) {
                    self.close(at, number)?;
                }
            } else {
                self.base.push(at, ())?;
            }
        }
        for turn in 0..self.fresh.len() {
            self.base.push(self.fresh[turn], ())?;
        }
        Ok(())
    }

    /// A successor of the last state of the blue path is red, or not.
    fn all_red(&mut self, red: bool) {
        if let Some(frame) = self.frames.last_mut() {
            frame.all_red &= red;
        }
    }

    /// A step leads from the end of the blue path to a state on it, and one of the two is accepting.
    fn close(&mut self, step: usize, to: H::Number) -> Result<(), StopReason> {
        let Some(at) = self.frames.iter().rposition(|frame| frame.number == to) else { return Ok(()) };
        self.base.note_actions(step);
        let start = self.frames[at].path;
        let (stem, cycle) = self.base.stack.path_and(&self.base.actions).split_at(start);
        self.lasso(Lasso { stem, cycle })
    }

    /// Looks from the last state of the blue path, which is accepting, for a state on that path. If there is
    /// no way to one, all states that were met become red.
    fn red_search(&mut self, seed: H::Number) -> Result<(), StopReason> {
        for (number, _) in self.reds.drain(..) {
            self.visited.remove(&number);
        }
        self.red.begin(self.base.stack.state()).map_err(no_memory)?;
        self.red_expand(seed)?;
        while self.red.depth() > 0 {
            if !self.red.advance() {
                self.red.retreat();
                continue;
            }
            match self.red.ticket {
                Some(number) if self.is_uncharted(number) => self.red_expand(number)?,
                _ => self.red.leave(),
            }
        }
        // Only now are they known to lie on no accepting cycle; painted earlier, another worker would rely on
        // it too soon.
        self.wait_for_others(seed)?;
        for (number, _) in &self.reds {
            self.colours().paint(*number, Colour::RED);
        }
        Ok(())
    }

    /// Whether the red search must go to this state.
    fn is_uncharted(&self, number: H::Number) -> bool {
        !self.colours().get(number).is_red() && !self.visited.contains(&number)
    }

    /// Waits until every accepting state of the red search but the first is red.
    fn wait_for_others(&mut self, seed: H::Number) -> Result<(), StopReason> {
        for at in 0..self.reds.len() {
            let (number, accepting) = self.reds[at];
            if !accepting || number == seed {
                continue;
            }
            let mut waits = 0;
            // The worker that has it on its path makes it red. The paper proves that nobody waits in a
            // circle.
            while !self.colours().get(number).is_red() {
                self.base.budget.tick()?;
                self.look_around()?;
                pause(waits);
                waits += 1;
            }
        }
        Ok(())
    }

    /// Expands the state at the end of the red path.
    fn red_expand(&mut self, number: H::Number) -> Result<(), StopReason> {
        let depth = (self.base.stack.steps() + self.red.steps()) as u64;
        if self.base.budget.tick()? {
            self.look_around()?;
        }
        self.visited.try_reserve(1).map_err(no_memory)?;
        self.visited.insert(number);
        self.reds.try_reserve(1).map_err(no_memory)?;
        self.reds.push((number, self.base.marker.is_accepting(self.red.state())));
        let CycleWorker { marker, budget, expansion, statistics, .. } = &mut self.base;
        statistics.reexplored += 1;
        expansion.clear();
        marker.expand(self.red.state(), depth, budget, expansion)?;
        self.base.prepare_successors(Some(self.red.state()))?;
        self.red.enter(None).map_err(no_memory)?;
        for at in 0..self.base.expansion.edges().len() {
            // All that lies behind the seed has been found, by this worker's blue search or by those that
            // were done with a part of it before.
            let Some(number) = self.base.number_of(at) else { continue };
            let cyan = self.cyan.contains(&number);
            if !cyan && !self.is_uncharted(number) {
                continue;
            }
            self.base.note_actions(at);
            if cyan {
                // The seed has left the frames, but is on the path.
                let frame = self.frames.iter().rfind(|frame| frame.number == number);
                let start = frame.map_or(self.base.stack.steps(), |frame| frame.path);
                let (stem, mut cycle) = self.base.stack.path().split_at(start);
                cycle.extend(&self.red.path_and(&self.base.actions));
                return self.lasso(Lasso { stem, cycle });
            }
            let state = self.base.expansion.target(at);
            self.red.push(state, &self.base.actions, number).map_err(no_memory)?;
        }
        Ok(())
    }

    fn look_around(&mut self) -> Result<(), StopReason> {
        let memory = self.memory();
        self.base.look_around(memory)
    }

    /// Reports a cycle that passes the end of the blue path.
    fn lasso(&mut self, lasso: Lasso) -> Result<(), StopReason> {
        let shared = self.base.shared;
        self.base.store.rest();
        if shared.is_first() {
            let (task, mut silent) = (shared.rest_of_task(), Silent);
            let mut budget = Budget::new(&task, &mut silent);
            let path = self.base.stack.path();
            let anchor = Anchor { state: self.base.stack.state(), path: &path, inside: None, met: None };
            let short = shorten(shared.system, shared.cycles.acceptance, &anchor, &mut budget);
            let (path, cycle) = short.unwrap_or(lasso).path();
            self.found.add_lasso(shared.cycles.fault.clone(), path, cycle);
        }
        Err(StopReason::Violation)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::ndfs::ndfs;
    use crate::ndfs::tests::cycles;
    use crate::property::Checks;
    use crate::random::Random;
    use std::fmt::Write;
    use std::sync::atomic::AtomicBool;
    use system::toy::{Counters, Graph};

    fn task<'a>(limits: Limits, stop: &'a AtomicBool) -> Task<'a> {
        Task { checks: Checks::NONE, all_errors: false, seed: None, limits, stop, reduce: None }
    }

    fn by_one(system: &dyn TransitionSystem, nested: bool) -> Outcome {
        let stop = AtomicBool::new(false);
        ndfs(system, &cycles(system::Fairness::None, nested), &task(Limits::default(), &stop), &mut Silent)
    }

    fn by(number: usize, system: &dyn TransitionSystem, nested: bool, limits: Limits) -> Outcome {
        let stop = AtomicBool::new(false);
        let workers = Workers { number, alone: Some(0) };
        cndfs(system, &cycles(system::Fairness::None, nested), workers, &task(limits, &stop), &mut Silent)
    }

    /// Follows a lasso: every action must lead on, and the last state must be the one in which the cycle
    /// begins.
    fn check_lasso(graph: &Graph, outcome: &Outcome) {
        let violation = &outcome.violations[0];
        let path = violation.path.to_vec();
        let (stem, cycle) = path.split_at(violation.cycle.unwrap());
        let mut at = 0;
        let mut follow = |actions: &[ActionId]| {
            let mut accepting = false;
            for action in actions {
                let (from, to) = graph.edges()[action.0 as usize];
                assert_eq!(from, at, "{actions:?}");
                at = to;
                accepting |= graph.labels(to.to_string().as_bytes()).accepting;
            }
            (at, accepting)
        };
        let (start, _) = follow(stem);
        let (end, accepting) = follow(cycle);
        assert_eq!(start, end);
        assert!(accepting || graph.labels(end.to_string().as_bytes()).accepting);
    }

    /// What is wrong with a graph of rings.
    #[derive(Clone, Copy, PartialEq)]
    pub(crate) enum Wrong {
        Nothing,
        /// A step leads back to a node that accepts.
        Step,
        /// A whole ring accepts.
        Ring,
    }

    /// A graph of rings in a row, with steps to later rings. Nodes that are on no cycle accept.
    pub(crate) fn rings(n: u32, seed: u64, wrong: Wrong) -> Graph {
        let mut random = Random::new(seed);
        let (mut text, mut accepting) = (String::new(), Vec::new());
        let (mut first, mut whole) = (0, None);
        while first < n {
            let size = [1, 1, 1, 2, 3, 5][random.below(6)];
            let last = first + size - 1;
            (first..last).for_each(|node| write!(text, "{node} -> {}; ", node + 1).unwrap());
            match size {
                1 if first > 0 => accepting.push(first),
                1 => {}
                _ => {
                    write!(text, "{last} -> {first}; ").unwrap();
                    whole = whole.or((first > n / 2).then_some(first..=last));
                }
            }
            write!(text, "{} -> {}; ", first + random.below(size as usize) as u32, last + 1).unwrap();
            for _ in 0..random.below(3 * size as usize) {
                let far = [4, n as usize][random.below(2)];
                let further = 1 + random.below(far) as u32;
                let from = first + random.below(size as usize) as u32;
                write!(text, "{from} -> {}; ", (last + further).min(n + 5)).unwrap();
            }
            first = last + 1;
        }
        // Behind the last ring nodes go to an end.
        (first..n + 5).for_each(|node| write!(text, "{node} -> {}; ", node + 1).unwrap());
        if wrong == Wrong::Step {
            let node = accepting[random.below(accepting.len())];
            write!(text, "{} -> {node}; ", node + 1 + random.below(3) as u32).unwrap();
        }
        if wrong == Wrong::Ring {
            accepting.extend(whole.into_iter().flatten());
        }
        accepting.iter().for_each(|node| write!(text, "accept {node}; ").unwrap());
        Graph::parse(text.trim_end_matches("; ")).unwrap()
    }

    #[test]
    fn workers_find_what_one_finds() {
        let mut wrong = [0; 2];
        for seed in 0..300 {
            let wrongs = [Wrong::Step, Wrong::Nothing, Wrong::Nothing];
            let bad = wrongs[seed as usize % 3];
            let graph = rings(20 + 7 * (seed as u32 % 40), seed, bad);
            let expected = by_one(&graph, true);
            wrong[usize::from(expected.errors > 0)] += 1;
            assert!(bad == Wrong::Step || expected.errors == 0, "seed {seed}");
            for number in [1, 2, 3, 8] {
                let outcome = by(number, &graph, true, Limits::default());
                assert_eq!(outcome.errors, expected.errors, "seed {seed}, {number} workers");
                assert_eq!(outcome.exhausted.is_some(), expected.errors == 0);
                if expected.errors > 0 {
                    check_lasso(&graph, &outcome);
                    continue;
                }
                assert_eq!(outcome.statistics.states, expected.statistics.states, "seed {seed}");
                assert_eq!(outcome.statistics.transitions, expected.statistics.transitions);
                assert_eq!(outcome.statistics.matched, expected.statistics.matched);
            }
        }
        assert!(wrong[0] > 150 && wrong[1] > 60, "{wrong:?}");
    }

    #[test]
    fn random_graphs_have_the_same_verdicts() {
        let mut wrong = 0;
        for seed in 0..1000 {
            let graph = Graph::random(4 + (seed % 23) as u32, seed);
            let expected = by_one(&graph, true).errors;
            wrong += expected;
            for number in [2, 4] {
                assert_eq!(by(number, &graph, true, Limits::default()).errors, expected, "seed {seed}");
            }
        }
        assert!(wrong > 200 && wrong < 900, "{wrong}");
    }

    #[test]
    fn where_cycles_accept_as_a_whole_no_second_search_is_needed() {
        for seed in 0..200 {
            let bad = [Wrong::Ring, Wrong::Nothing][seed as usize % 2];
            let graph = rings(150, seed, bad);
            let expected = by_one(&graph, true);
            assert_eq!(expected.errors, u64::from(bad == Wrong::Ring));
            for number in [1, 2, 6] {
                let outcome = by(number, &graph, false, Limits::default());
                assert_eq!(outcome.errors, expected.errors, "seed {seed}");
                if expected.errors == 0 {
                    assert_eq!(outcome.statistics.states, expected.statistics.states);
                }
            }
        }
    }

    #[test]
    fn limits_end_it_for_all() {
        let counters = Counters { n: 6, max: 5 };
        let limits = Limits { states: Some(1000), ..Limits::default() };
        let outcome = by(4, &counters, true, limits);
        assert_eq!((outcome.stop, outcome.statistics.states), (StopReason::StateLimit, 1000));
        let limits = Limits { time: Some(std::time::Duration::ZERO), ..Limits::default() };
        assert_eq!(by(4, &counters, true, limits).stop, StopReason::TimeLimit);
        let (stop, workers) = (AtomicBool::new(true), Workers { number: 3, alone: None });
        let task = task(Limits::default(), &stop);
        let outcome = cndfs(&counters, &cycles(system::Fairness::None, true), workers, &task, &mut Silent);
        assert_eq!((outcome.stop, outcome.exhausted.is_some()), (StopReason::Interrupted, false));
    }

    #[test]
    fn memory_is_limited() {
        let (stop, workers) = (AtomicBool::new(false), Workers { number: 3, alone: Some(100) });
        let cycles = Cycles { memory: 100_000, ..cycles(system::Fairness::None, true) };
        let task = task(Limits::default(), &stop);
        let outcome = cndfs(&Counters { n: 7, max: 7 }, &cycles, workers, &task, &mut Silent);
        assert_eq!(outcome.stop, StopReason::MemoryLimit);
    }

    #[test]
    fn a_small_search_is_made_by_one() {
        let (stop, workers) = (AtomicBool::new(false), Workers { number: 8, alone: None });
        let task = task(Limits::default(), &stop);
        let outcome = cndfs(
            &Counters { n: 3, max: 5 },
            &cycles(system::Fairness::None, true),
            workers,
            &task,
            &mut Silent,
        );
        assert_eq!((outcome.statistics.workers, outcome.statistics.states), (1, 216));
    }
}
