//! Phase 1 of the Twophase algorithm: every process runs as long as it is deterministic.
//!
//! From R. Nalumasu and G. Gopalakrishnan (Figure 3 of *Performance Studies of PV*, 2001). A state that a
//! search finds is an *entry*. From there one process after another, the highest pid first, takes steps as
//! long as its only enabled action is by itself a stubborn set that no property looks at. When no process is
//! left, the state that was reached (the *end*) is expanded in full. No action is put off forever, since
//! every way through phase 1 comes to an end, so no proviso is needed. What happens depends on the entry
//! alone: neither on a stack nor on a queue. So every order of search can do it.
//!
//! **Rounds.** The paper gives every process one turn. Then messages that are passed on against the order of
//! turns come one process further in each phase, and every phase ends in a state that is expanded for
//! nothing. Here there are more rounds, as long as somebody can go on; who has closed a cycle has no further
//! turn. Two processes may go on forever by turns: when the state after a round is one that was reached after
//! a round before, phase 1 ends in the least of those in between.
//!
//! A step that shows an error, or an atomic sequence that branches, is not taken here: the action stays
//! enabled, and the full expansion of the end takes it and reports it.
//!
//! **Cycles.** A process may run forever. It has closed a cycle when it comes to a state of this run's list;
//! then it is the next one's turn. Which states are put on the list, and afterwards into the store, is
//! [`Save`]:
//! - *all*: as in Figure 3;
//! - *back edges*: those reached by a step that makes the state greater, as strings of bytes. Each cycle has
//!   such a step. Counters mostly go up, so of a loop that counts these are nearly all, and where someone
//!   enters it is known;
//! - *back edges down*, the paper's order: those reached by a step that makes the state less. Of a loop that
//!   counts upwards one state is kept;
//! - *none*: a cycle is noticed by comparing with one state, which follows in ever larger strides (R. P.
//!   Brent, 1980). PV may run forever here; this always ends.
//!
//! Unless all states are saved, a closed cycle is left from its least state (of those that were saved, if any
//! were). The paper goes on from where the cycle was closed. The least one does not depend on where the cycle
//! was entered, so all entries lead to the same end.
//!
//! States of the list in the store are pruning points. That is sound for safety: from each of them this run
//! has gone on to an end that is expanded in full.

use crate::limits::Budget;
use crate::outcome::{StopReason, no_memory};
use crate::state_key::key;
use std::cmp::Ordering;
use store::Batched;
use store::numbered::{Number, Numbered, Visit};
use store::tally::Tally;
use system::{ActionId, Reducer, Reduction, Successors, TransitionSystem, Worker, WorkerExt};

/// A straight atomic run of more steps than this is left to the full expansion: it may be endless.
const LONG_RUN: usize = 500;

/// Which states of phase 1 are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Save {
    /// All.
    All,
    /// Those that are greater than the ones before them.
    BackEdges,
    /// Those that are less than the ones before them.
    BackEdgesDown,
    /// None but the entries and the ends.
    None,
}

/// Stores a state that is not itself to be visited, unless there are as many as there may be; true when it is
/// new. `hidden` bytes at its end are no part of the key.
pub(crate) fn store_aside<S: Batched>(
    store: &mut S,
    hidden: usize,
    limit: Option<u64>,
    state: &[u8],
) -> Result<bool, StopReason> {
    let key = key(state, hidden);
    let ticket = store.hash(key).map_err(|_| StopReason::MemoryLimit)?;
    if limit.is_some_and(|limit| store.n_keys() >= limit) && !store.contains(key, ticket) {
        return Err(StopReason::StateLimit);
    }
    Ok(store.insert(key, ticket).map_err(|_| StopReason::MemoryLimit)?.is_some())
}

/// Runs phase 1; keeps its buffers between two runs.
pub struct Phase1<'a> {
    worker: Box<dyn Worker + 'a>,
    reducer: Box<dyn Reducer + 'a>,
    save: Save,
    enabled: Vec<ActionId>,
    successors: Successors,
    /// The state that was reached, and the one before.
    state: Vec<u8>,
    before: Vec<u8>,
    /// The way from the entry, without cycles, and how long it was before the last step.
    actions: Vec<ActionId>,
    last: usize,
    /// The states that are saved, the entry first; of each the turn that met it last, and its place among the
    /// states of that turn.
    list: Numbered,
    met: Vec<(u32, u32)>,
    /// Those of this turn, each with how many actions lead to it; whether the first is where it began.
    turn: u32,
    own: Vec<(Number, usize)>,
    began_on_list: bool,
    /// Processes that have closed a cycle.
    closed: Vec<u32>,
    /// The states after rounds, and how many actions lead to each.
    rounds: Numbered,
    rounds_end: Vec<usize>,
    stride: Stride,
    least: Vec<u8>,
    steps: u64,
    /// Every state that phase 1 has ever passed, entries and ends included.
    passed: Tally,
    hidden: usize,
}

/// The state with which a process that saves none compares: Brent's algorithm.
#[derive(Debug, Default)]
struct Stride {
    state: Vec<u8>,
    /// Steps since it was put there, and after how many it is moved.
    steps: u64,
    length: u64,
}

impl Stride {
    fn begin(&mut self, state: &[u8]) {
        self.put(state, 1);
    }

    fn put(&mut self, state: &[u8], length: u64) {
        self.state.clear();
        self.state.extend_from_slice(state);
        (self.steps, self.length) = (0, length);
    }

    /// The process came to this state. If it has closed a cycle: how long that is.
    fn meet(&mut self, state: &[u8]) -> Option<u64> {
        self.steps += 1;
        if *state == *self.state {
            return Some(self.steps);
        }
        if self.steps == self.length {
            self.put(state, self.length * 2);
        }
        None
    }
}

impl<'a> Phase1<'a> {
    /// For `system`, with singletons that `by` finds.
    pub fn new(system: &'a dyn TransitionSystem, by: &'a dyn Reduction, save: Save) -> Self {
        Phase1 {
            worker: system.worker(),
            reducer: by.reducer(),
            save,
            enabled: Vec::new(),
            successors: Successors::default(),
            state: Vec::new(),
            before: Vec::new(),
            actions: Vec::new(),
            last: 0,
            list: Numbered::default(),
            met: Vec::new(),
            turn: 0,
            own: Vec::new(),
            began_on_list: false,
            closed: Vec::new(),
            rounds: Numbered::default(),
            rounds_end: Vec::new(),
            stride: Stride::default(),
            least: Vec::new(),
            steps: 0,
            passed: Tally::default(),
            hidden: system.hidden_bytes(),
        }
    }

    /// The state that was reached.
    pub fn end(&self) -> &[u8] {
        &self.state
    }

    /// The actions from the entry to the end.
    pub fn actions(&self) -> &[ActionId] {
        &self.actions
    }

    /// The states that are to be stored beside the entry and the end.
    pub fn saved(&self) -> impl Iterator<Item = &[u8]> {
        (1..self.met.len() as u32).map(|number| self.list.key(Number(number)))
    }

    /// How many steps between ordinary states the run took, round cycles as well.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// How many different states all runs so far have passed, entries and ends included.
    pub fn passed(&self) -> u64 {
        self.passed.different()
    }

    /// Runs from an entry, which lies `depth` steps from the beginning.
    pub fn run(&mut self, entry: &[u8], depth: u64, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        let most = budget.steps_left(depth);
        self.run_while(entry, most, &mut |way, memory| match budget.tick()? {
            true => budget.look_inside(depth + way, memory),
            false => Ok(()),
        })
    }

    /// Runs from an entry, but not forever: what phase 1 has come to after `rounds` rounds may be its end as
    /// well.
    pub fn run_briefly(&mut self, entry: &[u8], rounds: u64) {
        let mut left = rounds;
        // Where it stops depends on the entry alone, whatever makes it stop.
        let _ = self.run_while(entry, u64::MAX, &mut |_, _| {
            left = left.saturating_sub(1);
            if left == 0 { Err(StopReason::StateLimit) } else { Ok(()) }
        });
    }

    /// Runs from an entry as long as `go_on`, which is told the length of the way and the memory in use.
    fn run_while(
        &mut self,
        entry: &[u8],
        most: u64,
        go_on: &mut dyn FnMut(u64, u64) -> Result<(), StopReason>,
    ) -> Result<(), StopReason> {
        self.begin(entry)?;
        let mut first = true;
        while self.round(most, go_on)? && (first || !self.closes_round()?) {
            first = false;
        }
        Ok(())
    }

    /// Gives each process a turn that has not closed a cycle; whether somebody moved.
    fn round(
        &mut self,
        most: u64,
        go_on: &mut dyn FnMut(u64, u64) -> Result<(), StopReason>,
    ) -> Result<bool, StopReason> {
        let (mut turn, mut process) = (Some(u32::MAX), None);
        let before = self.steps;
        while let Some((next, action)) = turn.and_then(|turn| self.single(turn)) {
            if self.closed.contains(&next) {
                turn = next.checked_sub(1);
                continue;
            }
            // Another process begins a turn of its own: cycles are cycles of one process.
            if process != Some(next) {
                self.begin_turn();
                (process, turn) = (Some(next), Some(next));
            }
            let moved = self.step(action, most);
            let closes = moved && self.closes(next)?;
            if closes {
                self.closed.push(next);
            }
            // Who cannot go on alone, or would go round forever, is left to the others.
            if !moved || closes {
                turn = next.checked_sub(1);
            }
            go_on(self.actions.len() as u64, self.memory())?;
            // A phase may be long, so that its growth must be an answer.
            self.actions.try_reserve(LONG_RUN + 2).map_err(no_memory)?;
        }
        Ok(self.steps > before)
    }

    fn begin(&mut self, entry: &[u8]) -> Result<(), StopReason> {
        self.state.clear();
        self.state.extend_from_slice(entry);
        self.actions.clear();
        self.closed.clear();
        self.rounds.clear();
        self.rounds_end.clear();
        self.list.clear();
        self.met.clear();
        self.turn = 0;
        self.steps = 0;
        self.note_passed();
        if self.save != Save::None {
            self.add()?;
        }
        Ok(())
    }

    /// The next process has its turn.
    fn begin_turn(&mut self) {
        self.stride.begin(&self.state);
        self.turn += 1;
        self.own.clear();
        let known = if self.save == Save::None { None } else { self.list.find(&self.state) };
        self.began_on_list = known.is_some();
        if let Some(number) = known {
            self.note_own(number);
        }
    }

    /// This turn has come to a state of the list.
    fn note_own(&mut self, number: Number) {
        self.met[number.index()] = (self.turn, self.own.len() as u32);
        self.own.push((number, self.actions.len()));
    }

    /// As which of its states this turn came to one of the list before.
    fn place(&self, number: Number) -> Option<usize> {
        let (turn, place) = self.met[number.index()];
        (turn == self.turn).then_some(place as usize)
    }

    /// Whether the state after a round is one that was reached before; then it goes back to the least of
    /// those in between.
    fn closes_round(&mut self) -> Result<bool, StopReason> {
        let known = match self.rounds.visit(&self.state).map_err(|_| StopReason::MemoryLimit)? {
            Visit::Seen(known) => known,
            Visit::New(_) => {
                self.rounds_end.try_reserve(1).map_err(no_memory)?;
                self.rounds_end.push(self.actions.len());
                return Ok(false);
            }
        };
        let circle = (known.0..self.rounds_end.len() as u32).map(Number);
        let least = circle.min_by(|&a, &b| self.rounds.key(a).cmp(self.rounds.key(b))).unwrap_or(known);
        self.state.clear();
        self.state.extend_from_slice(self.rounds.key(least));
        self.actions.truncate(self.rounds_end[least.index()]);
        Ok(true)
    }

    /// The first process from `turn` on that is deterministic, and its action.
    fn single(&mut self, turn: u32) -> Option<(u32, ActionId)> {
        self.enabled.clear();
        self.worker.enabled(&self.state, &mut self.enabled);
        let (process, at) = self.reducer.single(&self.state, &self.enabled, turn)?;
        Some((process, *self.enabled.get(at as usize)?))
    }

    /// Takes a step to an ordinary state, if it shows no error, does not branch and is not too long.
    fn step(&mut self, action: ActionId, most: u64) -> bool {
        // The state before is kept: a step that cannot be taken whole is taken back.
        self.last = self.actions.len();
        std::mem::swap(&mut self.state, &mut self.before);
        if self.follow(action, most).is_none() {
            self.actions.truncate(self.last);
            std::mem::swap(&mut self.state, &mut self.before);
            return false;
        }
        self.steps += 1;
        self.note_passed();
        true
    }

    /// From the state before along an action, and on to the end of the atomic sequence that it begins.
    fn follow(&mut self, action: ActionId, most: u64) -> Option<()> {
        self.successors.clear();
        self.worker.fire(&self.before, &[action], &mut self.successors);
        while self.take_only()? {
            self.successors.clear();
            self.worker.expand(&self.state, &mut self.successors);
            if self.successors.list.is_empty() {
                break;
            }
            if self.actions.len() - self.last > LONG_RUN {
                return None;
            }
        }
        (self.actions.len() as u64 <= most).then_some(())
    }

    /// If there is one outcome and it shows no error: takes it, and says whether it leads to a transient
    /// state.
    fn take_only(&mut self) -> Option<bool> {
        let [only] = self.successors.list[..] else { return None };
        let state = self.successors.state(&only).filter(|_| only.fault == 0)?;
        self.state.clear();
        self.state.extend_from_slice(state);
        self.actions.push(only.action);
        Some(only.is_transient())
    }

    fn note_passed(&mut self) {
        self.passed.note(key(&self.state, self.hidden));
    }

    /// Whether the process has closed a cycle with its last step. If so it is left as it should be.
    fn closes(&mut self, process: u32) -> Result<bool, StopReason> {
        match self.save {
            Save::All => {
                let number = self.add()?;
                let Some(place) = self.place(number) else {
                    self.note_own(number);
                    return Ok(false);
                };
                self.actions.truncate(self.own[place].1);
                Ok(true)
            }
            Save::BackEdges => self.closes_back_edge(Ordering::Greater),
            Save::BackEdgesDown => self.closes_back_edge(Ordering::Less),
            Save::None => match self.stride.meet(&self.state) {
                Some(length) => {
                    self.go_to_least(process, length);
                    Ok(true)
                }
                None => Ok(false),
            },
        }
    }

    /// Back edges are the steps that lead to a state which is so beside the one before.
    fn closes_back_edge(&mut self, so: Ordering) -> Result<bool, StopReason> {
        let is_back_edge = self.state.cmp(&self.before) == so;
        if self.state == self.before {
            // A loop of one step.
            self.actions.truncate(self.last);
            return Ok(true);
        }
        let known = self.list.find(&self.state);
        let Some(place) = known.and_then(|number| self.place(number)) else {
            if is_back_edge {
                let number = self.add()?;
                self.note_own(number);
            }
            return Ok(false);
        };
        // Those that this turn put on the list are there because of the step that led to them. The one from
        // which it began may be there for another reason: it counts if the last step would have put it there.
        let counts = |&place: &usize| place > 0 || !self.began_on_list || is_back_edge;
        let state = |place: usize| self.list.key(self.own[place].0);
        let least = (place..self.own.len()).filter(counts).min_by(|&a, &b| state(a).cmp(state(b)));
        let (number, way) = self.own[least.unwrap_or(place)];
        self.state.clear();
        self.state.extend_from_slice(self.list.key(number));
        self.actions.truncate(way);
        Ok(true)
    }

    /// Puts the state on the list, if it is not there.
    fn add(&mut self) -> Result<Number, StopReason> {
        self.own.try_reserve(2).map_err(no_memory)?;
        match self.list.visit(&self.state).map_err(|_| StopReason::MemoryLimit)? {
            Visit::New(number) => {
                self.met.try_reserve(1).map_err(no_memory)?;
                self.met.push((0, 0));
                Ok(number)
            }
            Visit::Seen(number) => Ok(number),
        }
    }

    /// Goes round a cycle of `length` steps once more, and back to its least state.
    fn go_to_least(&mut self, process: u32, length: u64) {
        // The end must not depend on where the cycle was entered, or two entries of one cycle would have two
        // ends.
        let (first, mut at) = (self.actions.len(), self.actions.len());
        self.least.clone_from(&self.state);
        for _ in 0..length {
            let Some((_, action)) = self.single(process) else { break };
            if !self.step(action, u64::MAX) {
                break;
            }
            if self.state < self.least {
                self.least.clone_from(&self.state);
                at = self.actions.len();
            }
        }
        // All states of the cycle were passed one round earlier as well.
        let round = self.actions.len() - first;
        std::mem::swap(&mut self.state, &mut self.least);
        self.actions.truncate(at - round);
    }

    fn memory(&self) -> u64 {
        self.list.memory()
            + self.rounds.memory()
            + (self.actions.capacity() * 8 + self.met.capacity() * 8 + self.own.capacity() * 16) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::observer::Silent;
    use crate::property::Checks;
    use crate::queue::Whole;
    use crate::task::{Method, Proviso, Reduce, Task};
    use crate::{Levels, Outcome, depth_first, frontier};
    use std::collections::HashSet;
    use std::sync::atomic::AtomicBool;
    use store::{Cache, Table};
    use system::SystemExt;
    use system::toy::{Apart, Counters, Rings};

    const SAVES: [Save; 4] = [Save::All, Save::BackEdges, Save::BackEdgesDown, Save::None];

    fn task(save: Save, stop: &AtomicBool) -> Task<'_> {
        let reduce = Reduce { by: &Apart, method: Method::Twophase(save), proviso: Proviso::None };
        let limits = Limits::default();
        Task { checks: Checks::SAFETY, all_errors: true, seed: None, limits, stop, reduce: Some(reduce) }
    }

    /// Depth-first, frontier, breadth-first.
    fn search(system: &dyn TransitionSystem, save: Save) -> Vec<Outcome> {
        let stop = AtomicBool::new(false);
        let task = task(save, &stop);
        let whole = || Whole::new(system.hidden_bytes(), false);
        let level = |levels| frontier(system, &mut Table::default(), whole(), levels, &task, &mut Silent);
        vec![
            depth_first(system, &mut Table::default(), &task, &mut Silent),
            level(Levels::Edges),
            level(Levels::Steps),
        ]
    }

    /// Figure 3 of the paper, word for word: states and transitions. Without `look_up` it is asked only at
    /// the end of phase 1 whether a state is known.
    fn figure_3(system: &dyn TransitionSystem, look_up: bool) -> (usize, u64) {
        let (stop, mut silent) = (AtomicBool::new(false), Silent);
        let task = task(Save::All, &stop);
        let mut budget = Budget::new(&task, &mut silent);
        let mut phase1 = Phase1::new(system, &Apart, Save::All);
        let (mut known, mut transitions) = (HashSet::new(), 0);
        let mut initial = Vec::new();
        system.initial(&mut initial).unwrap();
        let mut open = vec![initial];
        while let Some(entry) = open.pop() {
            if look_up && known.contains(&entry) {
                continue;
            }
            phase1.run(&entry, 0, &mut budget).unwrap();
            transitions += phase1.steps();
            let end = phase1.end().to_vec();
            let is_new = !known.contains(&end);
            known.extend(phase1.saved().map(<[u8]>::to_vec).chain([entry, end.clone()]));
            if is_new {
                let mut successors = Successors::default();
                system.expand(&end, &mut successors);
                transitions += successors.list.len() as u64;
                open.extend(successors.list.iter().filter_map(|s| successors.state(s)).map(<[u8]>::to_vec));
            }
        }
        (known.len(), transitions)
    }

    #[test]
    fn the_papers_basic_example() {
        let basic = Rings { n: 2, last: 255 };
        assert_eq!(figure_3(&basic, true), (511, 514), "as printed");
        assert_eq!(figure_3(&basic, false), (1020, 1538), "as in the table of Figure 5");
        for outcome in search(&basic, Save::All) {
            assert_eq!((outcome.statistics.states, outcome.statistics.transitions), (511, 514));
        }
        for outcome in search(&basic, Save::BackEdges) {
            // Its least saved state is the one after the beginning.
            assert_eq!(outcome.statistics.visited, Some(766));
        }
        for outcome in search(&basic, Save::None) {
            // The initial state is the end of all; its successors are entries that lead back to it.
            assert_eq!(outcome.statistics.states, 3);
        }
        // In a cache that keeps next to nothing as well: the initial state is on the stack.
        let (stop, mut cache) = (AtomicBool::new(false), Cache::<()>::new(1, u64::MAX));
        let outcome = depth_first(&basic, &mut cache, &task(Save::None, &stop), &mut Silent);
        assert_eq!((outcome.statistics.states, outcome.statistics.visited), (3, Some(766)));
    }

    #[test]
    fn cycles_are_left_from_the_same_state_wherever_they_are_entered() {
        let (stop, mut silent) = (AtomicBool::new(false), Silent);
        for last in 0..20 {
            let rings = Rings { n: 2, last };
            for save in [Save::BackEdges, Save::BackEdgesDown, Save::None] {
                let task = task(save, &stop);
                let mut budget = Budget::new(&task, &mut silent);
                let mut phase1 = Phase1::new(&rings, &Apart, save);
                let mut ends = HashSet::new();
                for entry in (0..=last).flat_map(|a| (0..=last).map(move |b| [a, b])) {
                    phase1.run(&entry, 0, &mut budget).unwrap();
                    ends.insert(phase1.end().to_vec());
                    // The actions lead to the end.
                    let mut state = entry.to_vec();
                    for &action in phase1.actions() {
                        let mut successors = Successors::default();
                        rings.fire(&state, &[action], &mut successors);
                        state = successors.bytes;
                    }
                    assert_eq!(state, phase1.end());
                    assert!(phase1.actions().len() <= 6 * (usize::from(last) + 1), "few rounds are kept");
                }
                assert_eq!(ends.len(), 1, "{save:?} {last}");
            }
        }
    }

    #[test]
    fn processes_that_end_have_no_phase_2() {
        for save in SAVES {
            for outcome in search(&Counters { n: 3, max: 9 }, save) {
                assert!(outcome.exhausted.is_some() && outcome.errors == 0);
                assert_eq!((outcome.statistics.transitions, outcome.statistics.visited), (27, Some(28)));
                // Every step counts upwards, so none is a back edge in the paper's order.
                let stored = if matches!(save, Save::None | Save::BackEdgesDown) { 2 } else { 28 };
                assert_eq!(outcome.statistics.states, stored, "{save:?}");
                assert_eq!(outcome.statistics.depth, if outcome.statistics.depth == 0 { 0 } else { 27 });
            }
        }
    }

    #[test]
    fn the_end_of_a_long_phase_1_is_judged_with_its_path() {
        struct NoEnd(Counters);
        impl TransitionSystem for NoEnd {
            fn initial(&self, out: &mut Vec<u8>) -> Result<(), system::Fault> {
                self.0.initial(out)
            }
            fn enabled(&self, state: &[u8], out: &mut Vec<ActionId>) {
                self.0.enabled(state, out);
            }
            fn fire(&self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
                self.0.fire(state, actions, out);
            }
            fn labels(&self, _: &[u8]) -> system::Labels {
                system::Labels::default()
            }
            fn hidden_bytes(&self) -> usize {
                self.0.hidden_bytes()
            }
            fn capabilities(&self) -> system::Capabilities<'_> {
                self.0.capabilities()
            }
            fn deadlock(&self, state: &[u8]) -> system::Fault {
                self.0.deadlock(state)
            }
        }
        for save in SAVES {
            for outcome in search(&NoEnd(Counters { n: 2, max: 5 }), save) {
                assert_eq!(outcome.errors, 1);
                assert_eq!(outcome.violations[0].path.len(), 10);
            }
        }
    }
}
