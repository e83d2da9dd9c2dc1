//! CNDFS: nested depth-first search by several workers over one store with colours.
//!
//! Evangelista, Laarman, Petrucci & van de Pol (ATVA 2012). Every worker makes the whole nested search from the initial state,
//! each in another order, and they spare each other work by two global colours: *blue* states need not be visited by
//! anybody's first search, *red* ones by nobody's second. *Cyan*, the states of the path, is each worker's own.
//! A worker's second search marks nothing until it is over: its states are a set of the worker's own, and become red
//! together. Before that the worker **waits** until all other accepting states among them are red, which they become by the
//! workers that have them on their paths. Without waiting, a worker could make red a state that another worker's second
//! search, begun too late, would need. The paper proves that they never wait for each other in a circle, as long as
//! the first cycle found ends the search; so to count all errors is left to one worker.
//!
//! **Red is closed.** Successors of a red state are red, or become so without further waiting. So a state all of whose
//! successors are red is on no cycle and may become red without a search, as with one worker.
//!
//! **Where cycles accept as a whole** the blue search alone is enough (`nested` is false): take the first state of a cycle that
//! becomes blue. Its successor on the cycle was not blue before, so it is on the path of the same worker, and the step to
//! it is seen.
//!
//! **Numbers.** A state is new for exactly one worker, who expands it at once: what is counted then does not depend on timing.
//! What others expand once more is counted apart (`reexplored`).
//!
//! **One begins alone**, and calls the others when there are states enough. Successors that nobody has found yet are tried
//! before those that another worker is busy with: when their turn comes they are often blue.

use crate::crew::{Course, Crew};
use crate::cuts::{About, Cuts};
use crate::expand::Expansion;
use crate::halt::obeying;
use crate::lasso::{Anchor, Lasso, shorten};
use crate::limits::Budget;
use crate::marks::Marker;
use crate::ndfs::{Cycles, key};
use crate::observer::{Observer, Silent, Snapshot};
use crate::outcome::{Outcome, Recorder, Statistics, StopReason, Violation, Warning, no_memory};
use crate::random::Random;
use crate::stack::Stack;
use crate::states::{Job, Together};
use crate::task::Task;
use crate::termination::pause;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use store::colours::{Colour, Colours};
use store::union_find::Portable;
use store::{Entry, Hand, Numbering, Recall};
use system::{ActionId, Fault, TransitionSystem};

pub use crate::crew::Workers;

/// Looks for a cycle through an accepting state, with several workers. The task asks for one error, has no limit on
/// depth and no reduction.
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
        let Job { system, cycles, task, observer } = job;
        let crew = Crew::new(system, cycles, task, hand, Colours::new(cycles.memory));
        let all = crew.work(workers, observer, &|crew, number, budget, call| {
            let mut worker = Worker::new(crew, number, budget);
            workers.search(number, call, |patience| {
                worker.patience = patience;
                worker.work()
            });
            worker.conclude()
        });
        put_together(&crew, all)
    }
}

/// What all found.
fn put_together<H: Hand + Numbering>(crew: &Crew<'_, H, Colours>, all: Vec<Yield>) -> Outcome {
    let (mut found, mut statistics) = (Recorder::default(), Statistics::default());
    statistics.workers = all.len() as u64;
    let (mut warnings, mut ways, mut cuts) = (Vec::new(), Recorder::default(), Cuts::default());
    for mut part in all {
        warnings.append(&mut part.found.warnings);
        for Violation { fault, path, .. } in std::mem::take(&mut part.found.cuts) {
            ways.cut(fault, || path);
        }
        cuts.join(part.cuts);
        if part.found.errors > 0 {
            found = part.found;
        }
        statistics.transitions += part.statistics.transitions;
        statistics.reexplored += part.statistics.reexplored;
        statistics.depth = statistics.depth.max(part.statistics.depth);
        statistics.vector_bytes = statistics.vector_bytes.max(part.statistics.vector_bytes);
    }
    warnings.truncate(1);
    found.warnings = warnings;
    found.cuts = ways.cuts;
    let store = (crew.hand)();
    statistics.states = store.n_keys();
    statistics.state_bytes = store.memory();
    // Every state but the first was new for one step.
    statistics.matched = (statistics.transitions + 1).saturating_sub(statistics.states);
    let stop = match crew.halt.reason() {
        _ if found.errors > 0 => StopReason::Violation,
        Some(reason) => reason,
        None => StopReason::Completed,
    };
    Outcome::conclude(stop, About::Runs, &crew.task.checks, cuts, true, found, statistics)
}

/// What a worker leaves.
struct Yield {
    found: Recorder,
    cuts: Cuts,
    statistics: Statistics,
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

struct Worker<'a, 'c, H: Numbering> {
    crew: &'c Crew<'a, H, Colours>,
    budget: Budget<'c>,
    marker: Marker<'c>,
    expansion: Expansion,
    store: H,
    hidden: usize,
    random: Option<Random>,
    /// Of the worker who is alone: after how many states it calls the others.
    patience: Option<u64>,
    /// States that were new for this worker.
    new: u64,
    order: Vec<usize>,
    /// Successors that nobody has found, and those that somebody has, with their numbers.
    fresh: Vec<usize>,
    known: Vec<(usize, H::Number)>,
    tickets: Vec<H::Ticket>,
    actions: Vec<ActionId>,
    blue: Stack<H::Ticket>,
    frames: Vec<Frame<H::Number>>,
    /// The states of the blue path.
    cyan: Numbers<H::Number>,
    red: Stack<H::Number>,
    /// The states of the red search, and which of them are accepting.
    visited: Numbers<H::Number>,
    reds: Vec<(H::Number, bool)>,
    found: Recorder,
    statistics: Statistics,
    told: u64,
    begun: bool,
}

impl<'a, 'c, H: Hand + Numbering> Worker<'a, 'c, H>
where
    'a: 'c,
{
    fn new(crew: &'c Crew<'a, H, Colours>, number: usize, budget: Budget<'c>) -> Self {
        let seed = crew.task.seed.map(|seed| seed.wrapping_add(number as u64));
        let others = (number > 0).then_some(number as u64);
        Worker {
            crew,
            budget,
            marker: Marker::new(crew.system, crew.cycles.acceptance),
            expansion: Expansion::default(),
            store: (crew.hand)(),
            hidden: crew.system.hidden_bytes(),
            random: seed.or(others).map(Random::new),
            patience: None,
            new: 0,
            order: Vec::new(),
            fresh: Vec::new(),
            known: Vec::new(),
            tickets: Vec::new(),
            actions: Vec::new(),
            blue: Stack::default(),
            frames: Vec::new(),
            cyan: Numbers::default(),
            red: Stack::default(),
            visited: Numbers::default(),
            reds: Vec::new(),
            found: Recorder::default(),
            statistics: Statistics::default(),
            told: 0,
            begun: false,
        }
    }

    /// Searches to the end, or until others should help.
    fn work(&mut self) -> Course {
        let course = obeying(|| self.run()).unwrap_or_else(|reason| {
            self.crew.halt.halt(reason);
            Course::Over
        });
        self.store.rest();
        course
    }

    fn conclude(mut self) -> Yield {
        let cuts = self.marker.expander.take_cuts();
        Yield { found: self.found, statistics: self.statistics, cuts }
    }

    fn run(&mut self) -> Result<Course, StopReason> {
        if !std::mem::replace(&mut self.begun, true) {
            let mut initial = Vec::new();
            if let Err(fault) = self.crew.system.initial(&mut initial) {
                // An initial state that cannot be built is not the claim's business.
                let count = self.crew.task.checks.count(fault.kind);
                return if count {
                    self.violation(fault, &[]).map(|()| Course::Over)
                } else {
                    self.found.cut(fault, system::Path::new);
                    Ok(Course::Over)
                };
            }
            self.blue.begin(&initial).map_err(no_memory)?;
            self.enter()?;
        }
        while self.blue.depth() > 0 {
            if !self.blue.advance() {
                self.leave()?;
            } else {
                // By the time that its turn comes its memory is there.
                self.blue.next_ticket().into_iter().for_each(|&next| self.store.remember(next));
                if !self.enter()? {
                    self.blue.leave();
                }
            }
            if self.patience.is_some_and(|patience| self.new >= patience) {
                return Ok(Course::CallOthers);
            }
        }
        Ok(Course::Over)
    }

    /// Looks at the limits, and lets the table grow.
    fn look_around(&mut self) -> Result<(), StopReason> {
        self.store.rest();
        let more = self.statistics.transitions - self.told;
        self.told = self.statistics.transitions;
        let transitions = self.crew.count_steps(more);
        let at = Snapshot {
            states: self.store.n_keys(),
            transitions,
            depth: self.blue.steps() as u64,
            frontier: self.blue.pending() as u64,
            errors: self.found.errors,
            memory: self.store.memory() + self.blue.memory() + self.red.memory(),
            ..Snapshot::default()
        };
        self.budget.look(|| at)
    }

    /// Goes to the state at the end of the blue path, unless somebody is done with it.
    fn enter(&mut self) -> Result<bool, StopReason> {
        let key = key(self.blue.state(), self.hidden);
        let ticket = match self.blue.ticket {
            Some(ticket) => ticket,
            None => self.store.prepare(key).map_err(|_| StopReason::MemoryLimit)?,
        };
        let Entry { number, new, .. } = self.crew.visit(&mut self.store, key, ticket)?;
        self.crew.own.check(number).map_err(|_| StopReason::MemoryLimit)?;
        let colour = self.crew.own.get(number);
        // Who found a state expands it, even if another worker was faster: so it is counted.
        if colour.is_blue() && !new {
            if let Some(frame) = self.frames.last_mut() {
                frame.all_red &= colour.is_red();
            }
            return Ok(false);
        }
        self.explore(number, new)?;
        Ok(true)
    }

    /// Expands the state at the end of the blue path, looks for cycles that its steps close, and puts successors that nobody is
    /// done with on the stack.
    fn explore(&mut self, number: H::Number, new: bool) -> Result<(), StopReason> {
        let depth = self.blue.steps() as u64;
        self.statistics.depth = self.statistics.depth.max(depth);
        self.statistics.vector_bytes = self.statistics.vector_bytes.max(self.blue.state().len() as u64);
        if self.budget.tick()? {
            self.look_around()?;
        }
        self.marker.expander.look_for_loops = !self.found.knows_atomic_loop();
        self.expansion.clear();
        self.marker.expand(self.blue.state(), depth, &mut self.budget, &mut self.expansion)?;
        for step in std::mem::take(&mut self.expansion.faults) {
            if self.crew.task.checks.count(step.fault.kind) {
                self.violation(step.fault, &step.actions)?;
            } else if step.cut {
                self.found.cut(step.fault, || self.blue.path_and(&step.actions));
            }
        }
        if let Some(actions) = self.expansion.atomic_loop.take() {
            self.found.warnings.push(Warning::AtomicLoop(self.blue.path_and(&actions)));
        }
        match new {
            true => self.new += 1,
            false => self.statistics.reexplored += 1,
        }
        if new {
            self.statistics.transitions += self.expansion.edges().len() as u64;
        }
        let accepting = self.marker.is_accepting(self.blue.state());
        self.frames.try_reserve(1).map_err(no_memory)?;
        self.frames.push(Frame { number, accepting, all_red: true, path: self.blue.steps() });
        self.cyan.try_reserve(1).map_err(no_memory)?;
        self.cyan.insert(number);
        self.push_successors()
    }

    /// Prepares the successors of the state that was expanded last.
    fn prepare_successors(&mut self) -> Result<(), StopReason> {
        let (expansion, hidden) = (&self.expansion, self.hidden);
        self.tickets.clear();
        let keys = expansion.edges().iter().map(|edge| key(expansion.state(edge), hidden));
        self.store.prepare_all(keys, &mut self.tickets).map_err(|_| StopReason::MemoryLimit)?;
        self.store.approach_all(&mut self.tickets);
        Ok(())
    }

    fn push_successors(&mut self) -> Result<(), StopReason> {
        self.store.depart(key(self.blue.state(), self.hidden));
        self.prepare_successors()?;
        self.order.clear();
        self.order.extend((0..self.expansion.edges().len()).rev());
        if let Some(random) = &mut self.random {
            random.shuffle(&mut self.order);
        }
        self.fresh.clear();
        self.known.clear();
        self.blue.enter(None).map_err(no_memory)?;
        for &at in &self.order {
            let state = self.expansion.state(&self.expansion.edges()[at]);
            match self.store.number(key(state, self.hidden), self.tickets[at]) {
                Some(number) => {
                    self.crew.own.prefetch(number);
                    self.known.push((at, number));
                }
                None => self.fresh.push(at),
            }
        }
        for turn in 0..self.known.len() {
            let (at, number) = self.known[turn];
            let colour = self.crew.own.get(number);
            if colour.is_blue() {
                self.all_red(colour.is_red());
            } else if self.cyan.contains(&number) {
                // The frame of the other end is looked for only when it is needed: the path may be long.
                let state = self.expansion.state(&self.expansion.edges()[at]);
                let accepting = self.marker.is_accepting(state);
                self.all_red(false);
                if accepting || self.frames.last().is_some_and(|frame| frame.accepting) {
                    self.close(at, number)?;
                }
            } else {
                self.push(at)?;
            }
        }
        for turn in 0..self.fresh.len() {
            self.push(self.fresh[turn])?;
        }
        Ok(())
    }

    fn push(&mut self, at: usize) -> Result<(), StopReason> {
        self.note_actions(at);
        let state = self.expansion.state(&self.expansion.edges()[at]);
        self.blue.push(state, &self.actions, self.tickets[at]).map_err(no_memory)
    }

    /// The actions of a step of the state that was expanded last.
    fn note_actions(&mut self, at: usize) {
        self.actions.clear();
        self.marker.expander.actions(&self.expansion.edges()[at], &mut self.actions);
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
        self.note_actions(step);
        let start = self.frames[at].path;
        let (stem, cycle) = self.blue.path_and(&self.actions).split_at(start);
        self.lasso(Lasso { stem, cycle })
    }

    /// The last state of the blue path is done with.
    fn leave(&mut self) -> Result<(), StopReason> {
        let Some(Frame { number, accepting, all_red, .. }) = self.frames.pop() else { return Ok(()) };
        let colours = &self.crew.own;
        colours.paint(number, Colour::BLUE);
        if self.crew.cycles.nested && all_red {
            colours.paint(number, Colour::RED);
        } else if self.crew.cycles.nested && accepting {
            self.red_search(number)?;
        }
        self.cyan.remove(&number);
        self.all_red(self.crew.own.get(number).is_red());
        self.blue.retreat();
        Ok(())
    }

    /// Looks from the last state of the blue path, which is accepting, for a state on that path. If there is no way to one, all
    /// states that were met become red.
    fn red_search(&mut self, seed: H::Number) -> Result<(), StopReason> {
        for (number, _) in self.reds.drain(..) {
            self.visited.remove(&number);
        }
        self.red.begin(self.blue.state()).map_err(no_memory)?;
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
        self.wait_for_others(seed)?;
        for (number, _) in &self.reds {
            self.crew.own.paint(*number, Colour::RED);
        }
        Ok(())
    }

    /// Whether the red search must go to this state.
    fn is_uncharted(&self, number: H::Number) -> bool {
        !self.crew.own.get(number).is_red() && !self.visited.contains(&number)
    }

    /// Waits until every accepting state of the red search but the first is red.
    fn wait_for_others(&mut self, seed: H::Number) -> Result<(), StopReason> {
        for at in 0..self.reds.len() {
            let (number, accepting) = self.reds[at];
            if !accepting || number == seed {
                continue;
            }
            let mut waits = 0;
            while !self.crew.own.get(number).is_red() {
                self.budget.tick()?;
                self.look_around()?;
                pause(waits);
                waits += 1;
            }
        }
        Ok(())
    }

    /// Expands the state at the end of the red path.
    fn red_expand(&mut self, number: H::Number) -> Result<(), StopReason> {
        let depth = (self.blue.steps() + self.red.steps()) as u64;
        if self.budget.tick()? {
            self.look_around()?;
        }
        self.statistics.reexplored += 1;
        self.visited.try_reserve(1).map_err(no_memory)?;
        self.visited.insert(number);
        self.reds.try_reserve(1).map_err(no_memory)?;
        self.reds.push((number, self.marker.is_accepting(self.red.state())));
        self.expansion.clear();
        self.marker.expand(self.red.state(), depth, &mut self.budget, &mut self.expansion)?;
        self.store.depart(key(self.red.state(), self.hidden));
        self.prepare_successors()?;
        self.red.enter(None).map_err(no_memory)?;
        for at in 0..self.expansion.edges().len() {
            let state = self.expansion.state(&self.expansion.edges()[at]);
            let Some(number) = self.store.number(key(state, self.hidden), self.tickets[at]) else { continue };
            let cyan = self.cyan.contains(&number);
            if !cyan && !self.is_uncharted(number) {
                continue;
            }
            self.note_actions(at);
            if cyan {
                // The seed has left the frames, but is on the path.
                let frame = self.frames.iter().rfind(|frame| frame.number == number);
                let start = frame.map_or(self.blue.steps(), |frame| frame.path);
                let (stem, mut cycle) = self.blue.path().split_at(start);
                cycle.extend(&self.red.path_and(&self.actions));
                return self.lasso(Lasso { stem, cycle });
            }
            let state = self.expansion.state(&self.expansion.edges()[at]);
            self.red.push(state, &self.actions, number).map_err(no_memory)?;
        }
        Ok(())
    }

    /// Whether this worker is the first to have found something wrong. All others stop.
    fn is_first(&mut self) -> bool {
        self.store.rest();
        self.crew.is_first()
    }

    /// Reports a cycle that passes the end of the blue path.
    fn lasso(&mut self, lasso: Lasso) -> Result<(), StopReason> {
        if self.is_first() {
            let (task, mut silent) = (self.crew.rest_of_task(), Silent);
            let mut budget = Budget::new(&task, &mut silent);
            let path = self.blue.path();
            let anchor = Anchor { state: self.blue.state(), path: &path, inside: None, met: None };
            let short = shorten(self.crew.system, self.crew.cycles.acceptance, &anchor, &mut budget);
            let (path, cycle) = short.unwrap_or(lasso).path();
            self.found.add_lasso(self.crew.cycles.fault.clone(), path, cycle);
        }
        Err(StopReason::Violation)
    }

    /// Reports what a claim finds wrong at the end of the blue path and `more`.
    fn violation(&mut self, fault: Fault, more: &[ActionId]) -> Result<(), StopReason> {
        if self.is_first() {
            let depth = (self.blue.steps() + more.len()) as u64;
            self.found.add(fault, depth, || self.blue.path_and(more));
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

    /// Follows a lasso: every action must lead on, and the last state must be the one in which the cycle begins.
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
