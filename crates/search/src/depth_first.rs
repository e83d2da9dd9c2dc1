//! Depth-first search: the order of Spin, with an explicit stack.
//!
//! What lies on the stack is what is still to be done: the successors of each state on the path that have not
//! been tried yet. A successor that is known already when its parent is expanded never gets there. Neither
//! the states of the path nor those to be tried are kept, only the differences between a state and its
//! successors ([`delta`]) and the actions, which is all that a counterexample needs. So a path of ten million
//! steps is affordable.
//!
//! The parts beside the core: [`look_ahead`] (states expanded before it is known that they are new), `judge`,
//! `successors` (what goes onto the stack, and the proviso); [`sleep`](crate::sleep) sets are a parameter.
//!
//! Depth is counted in steps, those inside atomic sequences included; what lies beyond the limit is left out,
//! and the search is then not exhaustive.
//!
//! With a reduction, a state whose chosen successors all break the proviso is expanded in full, at once. To
//! know what is on the stack its hashes are counted: a state that is taken for one on the stack is only
//! expanded in vain. With several workers the hashes of all their stacks are counted together ([`Open`]), and
//! a successor that no other worker shall be faster with is stored at once (*claimed*).

use crate::cuts::Cuts;
use crate::expand::{Expander, Expansion, Wanted};
use crate::halt::obeying;
use crate::judged::initial_state;
use crate::limits::Budget;
use crate::observer::{Observer, Snapshot};
use crate::open::Open;
use crate::outcome::{Extent, Outcome, Recorder, Statistics, StopReason, no_memory};
use crate::phase1::{Phase1, store_aside};
use crate::property::Judge;
use crate::random::Random;
use crate::sleep::{LeanSleep, Met, NoSleep, Sleep, SleepSet, Sleeping};
use crate::stack::Stack;
use crate::state_key::key;
use crate::successor_batch::SuccessorBatch;
use crate::task::{Proviso, Task};
use std::ops::Range;
use store::{Evicting, Noted};
use system::{ActionId, Fault, TransitionSystem};

mod judge;
mod look_ahead;
mod successors;

use look_ahead::LookAhead;
use successors::Ranks;

/// Explores `system` depth-first.
pub fn depth_first<S: Evicting>(
    system: &dyn TransitionSystem,
    store: &mut S,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    match task.is_lean() {
        true => search(system, store, LeanSleep::default(), task, observer),
        false => search(system, store, NoSleep, task, observer),
    }
}

/// Explores `system` depth-first with sleep sets; without anybody who knows what commutes nothing ever
/// sleeps.
pub fn depth_first_with_sleep<S: Noted<Note = SleepSet>>(
    system: &dyn TransitionSystem,
    store: &mut S,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    match task.reduce {
        Some(reduce) => search(system, store, Sleep::new(reduce.by.reducer()), task, observer),
        None => search(system, store, NoSleep, task, observer),
    }
}

fn search<S: Evicting, Z: Sleeping<S>>(
    system: &dyn TransitionSystem,
    store: &mut S,
    sleep: Z,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    let mut search = DepthFirst::new(system, store, sleep, task, Budget::new(task, observer));
    let stop = match obeying(|| search.run()) {
        Ok(()) => StopReason::Completed,
        Err(stop) => stop,
    };
    search.conclude(stop)
}

/// The place of a state that is no successor of the one before it.
const ELSEWHERE: usize = usize::MAX;

/// A running search.
pub(crate) struct DepthFirst<'a, S: Evicting, Z> {
    pub system: &'a dyn TransitionSystem,
    pub store: &'a mut S,
    sleep: Z,
    pub task: &'a Task<'a>,
    pub budget: Budget<'a>,
    expander: Expander<'a>,
    /// The state at the end of the path.
    batch: Box<SuccessorBatch<S::Ticket>>,
    ahead: LookAhead<S::Ticket>,
    random: Option<Random>,
    actions: Vec<ActionId>,
    /// States are expanded behind phase 1.
    phase1: bool,
    /// Bytes at the end of a state that are no part of its key.
    hidden: usize,
    judge: Judge<'a>,
    /// The number of states has a limit.
    pub limited: bool,
    faults: Vec<Fault>,
    /// What sleep sets are told.
    ranks: Ranks,
    proviso: Proviso,
    /// What is on the stacks of all workers, for [`Proviso::Stack`] where there are several.
    pub open: Option<&'a Open>,
    /// Which of the successors that were prepared last was pushed last, and will be tried first.
    next_pushed: Option<usize>,
    /// It has been stored, because its parent relies on it.
    claimed: bool,
    pub stack: Stack<S::Ticket>,
    pub found: Recorder,
    pub statistics: Statistics,
}

impl<'a, S: Evicting, Z: Sleeping<S>> DepthFirst<'a, S, Z> {
    /// A search that has not begun.
    pub fn new(
        system: &'a dyn TransitionSystem,
        store: &'a mut S,
        sleep: Z,
        task: &'a Task<'a>,
        budget: Budget<'a>,
    ) -> Self {
        let mut expander = Expander::new(system, task.reduce);
        expander.set_exact(task.limits.depth.is_some());
        let is_full = task.reduce.is_none() || task.is_lean();
        DepthFirst {
            system,
            store,
            sleep,
            task,
            budget,
            phase1: expander.phase1().is_some(),
            expander,
            batch: Box::default(),
            // A store that is told where the search is cannot be asked about two places, and what a seed
            // means must not depend on how far the search looks. What a depth limit cuts off is told of
            // states that are visited, not of those that may be.
            ahead: LookAhead::new(
                is_full && !Z::RANKS && !S::INCREMENTAL && task.seed.is_none() && task.limits.depth.is_none(),
            ),
            random: task.seed.map(Random::new),
            actions: Vec::new(),
            hidden: system.hidden_bytes(),
            judge: Judge::new(task.checks, system),
            limited: task.limits.states.is_some(),
            faults: Vec::new(),
            ranks: Ranks::default(),
            proviso: task.reduce.map_or(Proviso::None, |reduce| reduce.proviso),
            open: None,
            next_pushed: None,
            claimed: false,
            stack: Stack::default(),
            found: Recorder::default(),
            statistics: Statistics::default(),
        }
    }

    fn run(&mut self) -> Result<(), StopReason> {
        let initial = match initial_state(self.system, &self.task.checks) {
            Ok(initial) => initial,
            Err(missing) => return self.found.no_initial_state(missing, self.task),
        };
        self.stack.begin(&initial).map_err(no_memory)?;
        let mut again = true;
        while again {
            let met = self.visit()?;
            self.statistics.matched += u64::from(met != Met::New);
            match met {
                Met::Known => self.stack.leave(),
                Met::New | Met::Again => self.explore(met == Met::New)?,
            }
            again = self.next();
            self.sleep.take();
        }
        Ok(())
    }

    /// Takes the next successor that is to be tried, from the end of the path backwards; false when nothing
    /// is left.
    pub fn next(&mut self) -> bool {
        self.ahead.advance();
        while self.stack.depth() > 0 {
            if self.stack.advance() {
                return true;
            }
            let state = self.stack.state();
            let key = key(state, self.hidden);
            self.store.leave(key);
            if let Some(open) = self.open {
                open.let_go(key);
            }
            self.stack.retreat();
        }
        self.ahead.expanded_ahead = false;
        false
    }

    /// Inserts the state at the end of the path, unless it is known.
    pub fn visit(&mut self) -> Result<Met, StopReason> {
        let state = self.stack.state();
        let key = key(state, self.hidden);
        // The initial state and roots come without a ticket: nobody looked them up as successors.
        let ticket = match self.stack.ticket {
            Some(ticket) => ticket,
            None => self.store.hash(key).map_err(|_| StopReason::MemoryLimit)?,
        };
        if self.limited && self.budget.states_spent(self.store.n_keys()) && !self.store.contains(key, ticket)
        {
            return Err(StopReason::StateLimit);
        }
        // A claimed state was stored when it was claimed: to ask the store again would say "known".
        match self.open {
            Some(_) if std::mem::take(&mut self.claimed) => Ok(Met::New),
            Some(open) => visit_openly(open, &mut self.sleep, self.store, key, ticket),
            None => self.sleep.visit(self.store, key, ticket).map_err(|_| StopReason::MemoryLimit),
        }
    }

    /// Whether the state at the end of the path, which is to be visited, must be searched by this worker.
    pub fn is_claimed(&self) -> bool {
        self.claimed
    }

    /// Expands the state at the end of the path and puts its unknown successors on the stack. If it is new it
    /// is judged.
    #[inline]
    pub fn explore(&mut self, is_new: bool) -> Result<(), StopReason> {
        let depth = self.stack.steps() as u64;
        let arrived = self.arrive(depth);
        let expanded = self.expand(depth);
        self.enter()?;
        // Sleep sets come to a state again, which was judged the first time; and behind phase 1 nothing was
        // expanded where its end was known.
        if is_new && !self.batch.expansion.known {
            self.judge_state()?;
        }
        self.judge_steps()?;
        // An error counts also beside a step that was cut short, and where the search ends: the step may have
        // been cut short when it was tried in advance.
        arrived?;
        let expanded_ahead = expanded?;
        self.look_up(expanded_ahead, depth)?;
        let kept = self.push_successors(false)?;
        let rest = self.batch.expansion.rest;
        if rest.is_empty() {
            return self.expanded_in_full();
        }
        if kept || self.proviso == Proviso::None || self.claim()? {
            self.statistics.reduced += 1;
            return Ok(());
        }
        // The proviso is broken: what was left out follows, behind the edges that were chosen.
        let chosen = self.batch.expansion.edges().len();
        let expanded = self.expander.expand_rest(rest, depth, &mut self.budget, &mut self.batch.expansion);
        self.note_faulty();
        self.judge_steps()?;
        expanded?;
        self.prepare(chosen..self.batch.expansion.edges().len())?;
        self.batch.probe(self.store, &mut self.ahead.predictor);
        self.push_successors(true)?;
        self.expanded_in_full()
    }

    /// The search has come to the state at the end of the path, `depth` steps from the beginning.
    #[inline]
    fn arrive(&mut self, depth: u64) -> Result<(), StopReason> {
        self.statistics.depth = self.statistics.depth.max(depth);
        self.statistics.vector_bytes = self.statistics.vector_bytes.max(self.stack.state_len() as u64);
        self.expander.look_for_loops(!self.found.knows_atomic_loop());
        self.store.hold(key(self.stack.state(), self.hidden));
        if self.budget.tick()? {
            self.look()?;
        }
        Ok(())
    }

    /// Expands the state at the end of the path; true if that was done in advance.
    #[inline]
    fn expand(&mut self, depth: u64) -> Result<bool, StopReason> {
        if self.ahead.take(&mut self.batch) {
            return Ok(true);
        }
        self.batch.expansion.clear();
        if self.phase1 {
            self.expand_behind_phase1(depth)?;
        } else {
            let (state, wanted, out) = (self.stack.state(), self.sleep.wanted(), &mut self.batch.expansion);
            expand(&mut self.expander, state, wanted, depth, &mut self.budget, out)?;
        }
        Ok(false)
    }

    /// The state at the end of the path was expanded: what comes next are its successors.
    #[inline]
    fn enter(&mut self) -> Result<(), StopReason> {
        self.store.depart(key(self.stack.state(), self.hidden));
        let asks = matches!(self.proviso, Proviso::Stack | Proviso::Color) && self.open.is_none();
        let hash = asks.then(|| store::hash::hash(key(self.stack.state(), self.hidden)));
        self.stack.enter(hash).map_err(no_memory)?;
        if self.phase1 {
            self.stack.prolong(self.expander.before()).map_err(no_memory)?;
            self.statistics.depth = self.statistics.depth.max(self.stack.steps() as u64);
        }
        self.note_faulty();
        Ok(())
    }

    /// Has the successors looked up, and looks ahead while the store waits for memory.
    #[inline]
    fn look_up(&mut self, expanded_ahead: bool, depth: u64) -> Result<(), StopReason> {
        if !expanded_ahead {
            self.batch.depth = depth;
            self.prepare(0..self.batch.expansion.edges().len())?;
        }
        if self.ahead.enabled {
            if !expanded_ahead {
                self.batch.keep_run(&mut self.expander);
            }
            self.look_ahead();
        }
        self.batch.probe(self.store, &mut self.ahead.predictor);
        Ok(())
    }

    /// Nothing was left out of the state at the end of the path.
    fn expanded_in_full(&mut self) -> Result<(), StopReason> {
        if self.proviso == Proviso::Color {
            self.stack.let_go();
        }
        Ok(())
    }

    /// Looks at the clock and the rest.
    #[cold]
    fn look(&mut self) -> Result<(), StopReason> {
        let at = self.snapshot();
        self.budget.look(|| at)
    }

    /// Runs phase 1 and expands its end, unless that is known; stores the end and what is to be saved.
    #[cold]
    fn expand_behind_phase1(&mut self, depth: u64) -> Result<(), StopReason> {
        let limit = self.budget.limits().states;
        let (store, hidden) = (&mut *self.store, self.hidden);
        let mut known = |end: &[u8]| store_and_leave(store, hidden, limit, end).map(|is_new| !is_new);
        let (state, expansion) = (self.stack.state(), &mut self.batch.expansion);
        self.expander.expand_unless(state, depth, &mut self.budget, expansion, &mut known)?;
        let Some(phase1) = self.expander.phase1() else { return Ok(()) };
        let mut lookups = u64::from(phase1.end() != self.stack.state());
        for saved in phase1.saved() {
            store_and_leave(self.store, self.hidden, limit, saved)?;
            lookups += 1;
        }
        self.statistics.transitions += phase1.steps();
        *self.statistics.lookups.get_or_insert(1) += lookups + self.batch.expansion.edges().len() as u64;
        self.statistics.matched += u64::from(self.batch.expansion.known);
        Ok(())
    }

    /// Has some successors looked up.
    fn prepare(&mut self, edges: Range<usize>) -> Result<(), StopReason> {
        self.batch.prepare(edges, self.random.as_mut(), self.hidden, self.store)
    }

    /// Where paths were cut off.
    pub fn take_cuts(&mut self) -> Cuts {
        self.expander.take_cuts()
    }

    /// Counts a violation at the end of the path and `more`; stops unless all are wanted.
    pub fn violation(&mut self, fault: Fault, more: &[ActionId]) -> Result<(), StopReason> {
        let depth = (self.stack.steps() + more.len()) as u64;
        self.found.add(fault, depth, || self.stack.path_and(more));
        self.task.after_violation(self.found.errors)
    }

    fn forgets_too_much(&self) -> bool {
        Statistics { forgotten: self.store.forgotten(), ..self.statistics }.forgets_too_much()
    }

    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            states: self.store.n_keys(),
            transitions: self.statistics.transitions,
            depth: self.stack.steps() as u64,
            frontier: self.stack.pending() as u64,
            errors: self.found.errors,
            forgets_too_much: self.forgets_too_much(),
            memory: self.store.memory() + self.stack.memory(),
            ..Snapshot::default()
        }
    }

    fn conclude(mut self, stop: StopReason) -> Outcome {
        self.statistics.states = self.store.n_keys();
        self.statistics.state_bytes = self.store.memory();
        self.statistics.omission = self.store.omission();
        self.statistics.forgotten = self.store.forgotten();
        self.statistics.visited = self.expander.phase1().map(Phase1::passed);
        let (checks, cuts) = (&self.task.checks, self.take_cuts());
        let extent = Extent { stop, about: checks.about(), cuts, lossless: S::LOSSLESS };
        Outcome::conclude(extent, checks, self.found, self.statistics)
    }
}

/// Expands a state; who sleeps there is what a lean search asks for, every time.
#[inline(always)]
fn expand(
    expander: &mut Expander<'_>,
    state: &[u8],
    wanted: Wanted<'_>,
    depth: u64,
    budget: &mut Budget<'_>,
    out: &mut Expansion,
) -> Result<(), StopReason> {
    match wanted {
        Wanted::Active(annotation) => expander.expand_active(state, annotation, depth, budget, out),
        wanted => expander.expand_wanted(state, wanted, depth, budget, out),
    }
}

/// Stores a state of phase 1, which is not on the path; true when it is new.
fn store_and_leave<S: Evicting>(
    store: &mut S,
    hidden: usize,
    limit: Option<u64>,
    state: &[u8],
) -> Result<bool, StopReason> {
    let is_new = store_aside(store, hidden, limit, state)?;
    if is_new {
        store.leave(key(state, hidden));
    }
    Ok(is_new)
}

/// Inserts a state that others may insert as well: it is held before anybody can find it.
fn visit_openly<S: Evicting, Z: Sleeping<S>>(
    open: &Open,
    sleep: &mut Z,
    store: &mut S,
    key: &[u8],
    ticket: S::Ticket,
) -> Result<Met, StopReason> {
    open.hold(key);
    let met = sleep.visit(store, key, ticket).map_err(|_| StopReason::MemoryLimit)?;
    if met != Met::New {
        open.let_go(key);
    }
    Ok(met)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::observer::Silent;
    use crate::property::Checks;
    use std::sync::atomic::AtomicBool;
    use store::Table;
    use system::toy::{Counters, Graph, Hidden};

    fn search(system: &dyn TransitionSystem, all_errors: bool, limits: Limits) -> Outcome {
        let stop = AtomicBool::new(false);
        let task = Task { checks: Checks::SAFETY, all_errors, seed: None, limits, stop: &stop, reduce: None };
        depth_first(system, &mut Table::default(), &task, &mut Silent)
    }

    #[test]
    fn counters_are_counted() {
        let outcome = search(&Counters { n: 4, max: 4 }, false, Limits::default());
        assert_eq!(outcome.statistics.states, 625);
        assert_eq!(outcome.statistics.transitions, 4 * 4 * 125);
        assert_eq!(outcome.statistics.matched, 2000 - 624);
        assert_eq!(outcome.statistics.depth, 16);
        assert!(outcome.exhausted.is_some() && outcome.errors == 0);
    }

    #[test]
    fn the_first_violation_ends_the_search_with_its_path() {
        let graph = Graph::parse("0 -> 1 -> 2 -> 3; 1 -> 4; end 4; assert 2 3; end 3").unwrap();
        let outcome = search(&graph, false, Limits::default());
        assert_eq!(outcome.stop, StopReason::Violation);
        assert!(outcome.exhausted.is_none());
        assert_eq!(outcome.violations[0].path, [ActionId(0), ActionId(1), ActionId(2)]);
        assert_eq!(outcome.errors, 1);
    }

    #[test]
    fn all_errors_are_counted_and_the_rest_explored() {
        let text = "0 -> 1 -> 2 -> 3; 0 -> 4; 4 -> 2; bad 1 2; assert 1 2; fault 4 2";
        let outcome = search(&Graph::parse(text).unwrap(), true, Limits::default());
        assert_eq!(outcome.statistics.states, 5);
        // Two bad states, one assertion, one step that cannot be completed, one deadlock at 3.
        assert_eq!(outcome.errors, 5);
        assert_eq!(outcome.violations.len(), 5);
        assert!(outcome.exhausted.is_some());
        assert_eq!(outcome.statistics.transitions, 4);
    }

    #[test]
    fn checks_change_the_count_and_not_the_exploration() {
        let graph = Graph::parse("0 -> 1 -> 2; bad 1; assert 0 1").unwrap();
        let stop = AtomicBool::new(false);
        let checks = Checks::only(system::FaultKind::Invariant);
        let task = Task {
            checks,
            all_errors: true,
            seed: None,
            limits: Limits::default(),
            stop: &stop,
            reduce: None,
        };
        let outcome = depth_first(&graph, &mut Table::default(), &task, &mut Silent);
        assert_eq!((outcome.errors, outcome.statistics.states), (1, 3));
    }

    #[test]
    fn limits_make_the_search_incomplete() {
        let counters = Counters { n: 3, max: 3 };
        let deep = search(&counters, false, Limits { depth: Some(4), ..Limits::default() });
        assert!(deep.depth_limited && deep.exhausted.is_none() && deep.statistics.depth == 4);
        let few = search(&counters, false, Limits { states: Some(63), ..Limits::default() });
        assert_eq!((few.stop, few.statistics.states), (StopReason::StateLimit, 63));
        assert!(few.exhausted.is_none());
        let enough =
            search(&counters, false, Limits { states: Some(64), depth: Some(9), ..Limits::default() });
        assert!(enough.exhausted.is_some());
    }

    #[test]
    fn a_full_store_ends_the_search() {
        let stop = AtomicBool::new(false);
        let limits = Limits::default();
        let task =
            Task { checks: Checks::SAFETY, all_errors: false, seed: None, limits, stop: &stop, reduce: None };
        let system = Counters { n: 6, max: 6 };
        let outcome = depth_first(&system, &mut Table::new(50_000), &task, &mut Silent);
        assert_eq!(outcome.stop, StopReason::MemoryLimit);
        assert!(outcome.exhausted.is_none());
    }

    #[test]
    fn an_initial_fault_is_a_violation_without_steps() {
        let outcome = search(&Graph::parse("broken").unwrap(), false, Limits::default());
        assert_eq!((outcome.errors, outcome.statistics.states), (1, 0));
        assert!(outcome.violations[0].path.is_empty());
    }

    #[test]
    fn hidden_values_do_not_make_states_different() {
        let outcome = search(&Hidden, true, Limits::default());
        assert_eq!(outcome.statistics.states, 10);
    }

    #[test]
    fn endless_atomic_sequences_are_warned_of_once() {
        let text = "0 -> 1 -> 2 -> 1; 2 -> 3 -> 4 -> 5 -> 4; 5 -> 0; transient 1 2 4 5";
        let outcome = search(&Graph::parse(text).unwrap(), false, Limits::default());
        assert_eq!(outcome.warnings.len(), 1);
        assert_eq!(outcome.statistics.states, 2);
        assert!(outcome.exhausted.is_some());
    }

    #[test]
    fn a_seed_changes_the_order_alone() {
        let graph = Graph::random(200, 9);
        let run = |seed| {
            let stop = AtomicBool::new(false);
            let limits = Limits::default();
            let task =
                Task { checks: Checks::SAFETY, all_errors: true, seed, limits, stop: &stop, reduce: None };
            depth_first(&graph, &mut Table::default(), &task, &mut Silent)
        };
        let (plain, one, again) = (run(None), run(Some(1)), run(Some(1)));
        assert_eq!(plain.statistics.states, one.statistics.states);
        assert_eq!(plain.statistics.transitions, one.statistics.transitions);
        assert_eq!(one.statistics, again.statistics);
    }
}
