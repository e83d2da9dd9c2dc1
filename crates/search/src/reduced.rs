//! A reduced system: itself a system, because what is left out of a state depends on that state alone.
//!
//! Products, nested and parallel searches run over it and need no proviso of their own. (Provisos that look
//! at a stack or at colours are sound for safety; in a product they are not: S. F. Siegel, *What's wrong with
//! on-the-fly partial order reduction*, CAV 2019.) Two kinds are of this sort:
//! - stubborn and ample sets with a *static* proviso: an action that may close a circle of locations of its
//!   process is never chosen without all others, so every cycle of states has one from which nothing is left
//!   out (R. Kurshan, V. Levin, M. Minea, D. Peled and H. Yenigün, *Static partial order reduction*, TACAS
//!   1998);
//! - Twophase, as a map: the successors of a state are those of the end of its phase 1, from which nothing is
//!   left out. What phase 1 passes is never a state of the reduced system, so it is nothing that a search
//!   could find again and stop at.
//!
//! In both cases what is put off or done early must be nothing that the property notices, and the property
//! must not count repetitions: that is for the one who makes the [`Reduction`].
//!
//! Transient states are left as they are. A choice is taken only if it certainly leads on: one of its steps
//! must be seen to end in an ordinary state, because runs in which none of what was chosen ever happens are
//! prolonged by it.

use crate::phase1::{Phase1, Save};
use std::collections::{HashSet, VecDeque};
use system::{
    ActionId, Capabilities, Choice, Fault, Labels, Path, Processes, Reducer, Reduction, SleepMask,
    Successors, TransitionSystem, Worker, WorkerExt,
};

/// Steps of phase 1 after which it ends, whether it could go on or not.
const LONG_PHASE: u64 = 10_000;
/// Steps of an atomic sequence that are followed to see whether it ends.
const LONG_RUN: usize = 500;

/// How states are reduced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Map {
    /// To a choice among their actions.
    Sets,
    /// To what follows phase 1 of the Twophase algorithm.
    Twophase,
}

/// A system of which something is left out.
pub struct Reduced<'a> {
    system: &'a dyn TransitionSystem,
    by: &'a dyn Reduction,
    map: Map,
}

impl<'a> Reduced<'a> {
    /// What `by` leaves of a system; it must see to the proviso itself.
    pub fn new(system: &'a dyn TransitionSystem, by: &'a dyn Reduction, map: Map) -> Self {
        Reduced { system, by, map }
    }

    /// A path of the reduced system as one of the system: phase 1 is part of a step here, and is written out.
    /// The path begins in the initial state; `cycle` says where a cycle begins, one that is empty stands for
    /// the repetition of the last state. Gives the same of the system.
    pub fn written_out(&self, path: &Path, cycle: Option<usize>) -> Option<(Path, Option<usize>)> {
        if self.map == Map::Sets {
            return Some((path.clone(), cycle));
        }
        let mut state = Vec::new();
        if self.system.initial(&mut state).is_err() {
            return path.is_empty().then(|| (Path::new(), cycle));
        }
        let mut phase1 = self.phase1();
        let (mut out, mut start, mut inside) = (Path::new(), None, false);
        let mut next = Successors::default();
        for (at, &action) in path.iter().enumerate() {
            if cycle == Some(at) {
                start = Some(out.len());
            }
            if !inside {
                phase1.run_briefly(&state, LONG_PHASE);
                if action == ActionId::STUTTER && !self.is_stuck(phase1.end()) {
                    // What a claim finds wrong in a state.
                    out.push(action);
                    continue;
                }
                out.extend(phase1.actions());
                state = phase1.end().to_vec();
            }
            out.push(action);
            if action != ActionId::STUTTER {
                next.clear();
                self.system.fire(&state, &[action], &mut next);
                let outcome = next.list.first()?;
                let Some(bytes) = next.state(outcome) else {
                    // An error, which ends the run.
                    return (at + 1 == path.len()).then_some((out, start));
                };
                state = bytes.to_vec();
                inside = outcome.is_transient() && !self.is_stuck(&state);
            }
        }
        if cycle == Some(path.len()) {
            phase1.run_briefly(&state, LONG_PHASE);
            out.extend(phase1.actions());
            start = Some(out.len());
        }
        Some((out, start))
    }

    /// Which part of the steps is left, as far as the first `most` states show.
    pub fn share(&self, most: usize) -> f64 {
        let (mut all, mut left) = (0, 0);
        let mut state = Vec::new();
        if self.system.initial(&mut state).is_err() {
            return 1.0;
        }
        let (mut worker, mut full) = (self.worker(), self.system.worker());
        let mut seen = HashSet::from([state.clone()]);
        let mut open = VecDeque::from([(state, false)]);
        let mut next = Successors::default();
        for _ in 0..most {
            let Some((state, inside)) = open.pop_front() else { break };
            next.clear();
            if inside {
                full.expand_transient(&state, &mut next);
            } else {
                full.expand(&state, &mut next);
                all += next.list.len();
                next.clear();
                worker.expand(&state, &mut next);
                left += next.list.len();
            }
            for outcome in &next.list {
                if let Some(state) = next.state(outcome).filter(|state| !seen.contains(*state)) {
                    seen.insert(state.to_vec());
                    open.push_back((state.to_vec(), outcome.is_transient()));
                }
            }
        }
        if all == 0 { 1.0 } else { left as f64 / all as f64 }
    }

    fn is_stuck(&self, state: &[u8]) -> bool {
        let mut actions = Vec::new();
        self.system.enabled(state, &mut actions);
        actions.is_empty()
    }

    fn phase1(&self) -> Phase1<'a> {
        Phase1::new(self.system, self.by, Save::None)
    }
}

impl TransitionSystem for Reduced<'_> {
    fn initial(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.system.initial(out)
    }

    fn enabled(&self, state: &[u8], out: &mut Vec<ActionId>) {
        self.worker().enabled(state, out);
    }

    fn fire(&self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        self.worker().fire(state, actions, out);
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        let worker = self.system.worker();
        match self.map {
            Map::Sets => Box::new(Choosing {
                processes: self.system.capabilities().processes,
                worker,
                reducer: self.by.reducer(),
                enabled: Vec::new(),
                chosen: Vec::new(),
                run: Successors::default(),
                state: Vec::new(),
            }),
            Map::Twophase => Box::new(Running { phase1: self.phase1(), worker }),
        }
    }

    fn labels(&self, state: &[u8]) -> Labels {
        self.system.labels(state)
    }

    fn hidden_bytes(&self) -> usize {
        self.system.hidden_bytes()
    }

    fn deadlock(&self, state: &[u8]) -> Fault {
        self.system.deadlock(state)
    }

    /// States are the system's own.
    fn capabilities(&self) -> Capabilities<'_> {
        self.system.capabilities()
    }
}

/// Chooses for one thread.
struct Choosing<'a> {
    processes: Option<&'a dyn Processes>,
    worker: Box<dyn Worker + 'a>,
    reducer: Box<dyn Reducer + 'a>,
    enabled: Vec<ActionId>,
    chosen: Vec<u32>,
    run: Successors,
    state: Vec<u8>,
}

impl Choosing<'_> {
    /// Whether one of the chosen outcomes certainly leads to an ordinary state, and none is an error.
    fn leads_on(&mut self, first: usize, out: &Successors) -> bool {
        let chosen = || self.chosen.iter().map(|&at| &out.list[first + at as usize]);
        if chosen().any(|outcome| !outcome.has_state()) {
            return false;
        }
        if chosen().any(|outcome| !outcome.is_transient()) {
            return true;
        }
        let Some(bytes) = chosen().next().and_then(|outcome| out.state(outcome)) else { return false };
        self.state.clear();
        self.state.extend_from_slice(bytes);
        for _ in 0..LONG_RUN {
            self.run.clear();
            self.worker.expand_transient(&self.state, &mut self.run);
            // In a transient state in which nothing is enabled the run has come to its end.
            let Some(outcome) = self.run.list.iter().find(|outcome| outcome.has_state()) else {
                return self.run.list.is_empty();
            };
            if !outcome.is_transient() {
                return true;
            }
            self.state.clear();
            self.state.extend(self.run.state(outcome).into_iter().flatten());
        }
        false
    }

    /// Whether all these actions are known to be of one process.
    fn of_one_process(&self) -> bool {
        let Some(system) = self.processes else { return false };
        let mut processes = self.enabled.iter().map(|&action| system.process_of(action));
        let first = processes.next();
        processes.all(|process| Some(process) == first)
    }
}

impl Worker for Choosing<'_> {
    fn enabled(&mut self, state: &[u8], out: &mut Vec<ActionId>) {
        enabled(self, state, out);
    }

    fn fire(&mut self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        self.worker.fire(state, actions, out);
    }

    fn expand_active(&mut self, state: &[u8], asleep: SleepMask, out: &mut Successors) {
        debug_assert!(asleep.is_none(), "a choice is made among all actions");
        let first = out.list.len();
        self.worker.expand(state, out);
        if out.list.len() < first + 2 {
            return;
        }
        self.enabled.clear();
        self.enabled.extend(out.list[first..].iter().map(|outcome| outcome.action));
        if self.of_one_process()
            || self.reducer.choose(state, &self.enabled, &mut self.chosen) == Choice::All
            || self.chosen.is_empty()
            || !self.leads_on(first, out)
        {
            return;
        }
        for (kept, &at) in self.chosen.iter().enumerate() {
            out.list[first + kept] = out.list[first + at as usize];
        }
        out.list.truncate(first + self.chosen.len());
    }

    fn follow(&mut self, state: &[u8], most: u32, out: &mut Successors) -> usize {
        self.worker.follow(state, most, out)
    }
}

/// Runs phase 1 for one thread.
struct Running<'a> {
    phase1: Phase1<'a>,
    worker: Box<dyn Worker + 'a>,
}

impl Worker for Running<'_> {
    fn enabled(&mut self, state: &[u8], out: &mut Vec<ActionId>) {
        enabled(self, state, out);
    }

    fn fire(&mut self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        self.phase1.run_briefly(state, LONG_PHASE);
        self.worker.fire(self.phase1.end(), actions, out);
    }

    fn expand_active(&mut self, state: &[u8], asleep: SleepMask, out: &mut Successors) {
        debug_assert!(asleep.is_none(), "phase 1 moves anybody");
        self.phase1.run_briefly(state, LONG_PHASE);
        self.worker.expand(self.phase1.end(), out);
    }

    fn follow(&mut self, state: &[u8], most: u32, out: &mut Successors) -> usize {
        self.worker.follow(state, most, out)
    }
}

/// The actions that are left of a state.
fn enabled(worker: &mut dyn Worker, state: &[u8], out: &mut Vec<ActionId>) {
    let mut all = Successors::default();
    worker.expand(state, &mut all);
    out.extend(all.list.iter().map(|outcome| outcome.action));
}
