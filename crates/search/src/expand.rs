//! One state to its ordinary successors: expand, then close atomic sequences.
//!
//! A step may end in a *transient* state, inside an atomic sequence. Transient states are no states of the
//! program: here, and only here, they are expanded until all ordinary states behind them are found, each with
//! the actions that lead to it. A transient state in which nothing is enabled counts as ordinary.
//!
//! Most atomic sequences are straight: a transient state has one successor. Such a run is followed without
//! noting where it has been, up to the state where it branches. Only those are kept, and each is expanded
//! once however often it is reached. A run that is very long may be endless; then all its states are kept.
//! All are kept as well if the actions to an ordinary state must be as few as possible ([`Expander::exact`]):
//! then they are expanded in order of distance.
//!
//! When a transient state is met again the graph of the closure may have a cycle: an atomic sequence that can
//! run forever. That is looked for only then, and reported as a warning. Limits apply inside a closure as
//! well, since it may be as large as a state space.
//!
//! **Reduction.** All actions of a state are tried, which costs little; a reducer then chooses some of them,
//! and only these are followed. The others are put aside, as the *rest*, until a proviso asks for them. The
//! edges of what was chosen come first ([`Expansion::reordered`]). What was chosen is not enough when one of
//! its steps cannot be completed, or when it leads nowhere (an atomic sequence without end): then the rest
//! follows at once.

use crate::atomic_run::{AtomicRun, Place, ROOM, STRAIGHT};
use crate::cuts::Cuts;
use crate::limits::Budget;
use crate::marks::{MOST_PROCESSES, MissingMarks, process_bit};
use crate::outcome::{StopReason, no_memory};
use crate::phase1::Phase1;
use crate::task::{Method, Proviso, Reduce};
use std::ops::Range;
use system::lean::OnlyEdge;
use system::{
    ActionId, Annotation, Choice, Fault, Lean, LeanOrder, Processes, Reducer, Successor, Successors,
    TransitionSystem, Worker, WorkerExt,
};

/// Transient states that are expanded together.
const TOGETHER: usize = 16;
/// A run of more transient states than this is not followed as a straight one. (It may be endless.)
const LONG_RUN: u32 = 500;
/// Bytes of outcomes beyond which places no longer fit into 32 bits safely.
const MOST_BYTES: usize = 3 << 30;

/// A step to an ordinary state. It is a record as machines write it, so that most steps need not be looked at
/// twice: where no atomic sequence begins and no error occurs, a machine's outcomes are the edges.
/// `transient` is then the transient state from which the step is taken, plus one (0: none, the step is this
/// action alone), and `fault` is the number of actions before the last one.
pub type Edge = Successor;

/// How many actions an edge has.
#[inline(always)]
pub fn n_actions(edge: &Edge) -> u32 {
    edge.fault + 1
}

/// An error on a step.
#[derive(Debug)]
pub struct StepFault {
    /// What is wrong.
    pub fault: Fault,
    /// The actions from the expanded state, the faulting one included.
    pub actions: Vec<ActionId>,
    /// The step could not be completed: the path ends there.
    pub cut: bool,
}

/// What expanding states gave; the buffers are reused. Edges are appended, the rest is about the state
/// expanded last.
#[derive(Debug, Default)]
pub struct Expansion {
    /// Errors on the way.
    pub faults: Vec<StepFault>,
    /// No action is enabled.
    pub stuck: bool,
    /// Something was left out because of the depth limit.
    pub cut: bool,
    /// The processes that can move, if they are to be noted: see [`crate::marks::process_bit`].
    pub enabled: MissingMarks,
    /// The actions to a transient state on a cycle of transient states.
    pub atomic_loop: Option<Vec<ActionId>>,
    /// What was not chosen; nothing when nothing was left out.
    pub rest: Rest,
    /// The edges are in the order of a choice: first those that were chosen.
    pub reordered: bool,
    /// Phase 1 ended in a state that was known: nothing was expanded.
    pub known: bool,
    /// A step could not be completed.
    lost: bool,
    /// Outcomes that were put aside.
    aside: Vec<Successor>,
    /// Between expansions the list holds edges.
    outcomes: Successors,
    /// The edges while atomic sequences are being closed; otherwise a buffer.
    edges: Vec<Edge>,
    /// For each edge the annotation of the state that it leads to; nothing, unless the search is lean.
    annotations: Vec<Annotation>,
    /// The number of edges of processes that sleep in the state that was expanded last.
    pub slept: u64,
}

/// Outcomes of actions that were enabled and not chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    first: u32,
    end: u32,
}

impl Rest {
    /// Whether nothing was left out.
    pub fn is_empty(self) -> bool {
        self.first == self.end
    }

    /// How many actions were left out.
    pub fn len(self) -> u32 {
        self.end - self.first
    }
}

impl Expansion {
    /// Steps to ordinary states.
    #[inline(always)]
    pub fn edges(&self) -> &[Edge] {
        &self.outcomes.list
    }

    /// The state that an edge leads to.
    #[inline(always)]
    pub fn state(&self, edge: &Edge) -> &[u8] {
        &self.outcomes.bytes[edge.start as usize..edge.start as usize + edge.len as usize]
    }

    /// The annotation of the state that the edge with this number leads to.
    #[inline(always)]
    pub fn annotation(&self, edge: usize) -> Annotation {
        self.annotations.get(edge).copied().unwrap_or_default()
    }

    /// Makes room for what a few states lead to. A closure may be large, so that its growth must be an
    /// answer.
    fn make_room(&mut self) -> Result<(), std::collections::TryReserveError> {
        self.edges.try_reserve(ROOM)?;
        self.outcomes.list.try_reserve(ROOM)?;
        self.outcomes.bytes.try_reserve(64 * ROOM)
    }

    /// Forgets the edges, keeps the memory.
    pub fn clear(&mut self) {
        self.outcomes.clear();
        self.annotations.clear();
        self.aside.clear();
    }

    /// Adds a step from `state` to itself that repeats it.
    pub fn repeat(&mut self, state: &[u8]) {
        let start = self.outcomes.bytes.len() as u32;
        self.outcomes.bytes.extend_from_slice(state);
        let len = state.len() as u32;
        self.outcomes.list.push(Edge { action: ActionId::STUTTER, start, len, transient: 0, fault: 0 });
    }

    /// Whether all edges are single steps for certain.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        !self.outcomes.unusual
    }

    /// Whether there was an error on the way, or an endless atomic sequence.
    #[inline(always)]
    pub fn shows_something(&self) -> bool {
        !self.faults.is_empty() || self.atomic_loop.is_some()
    }

    #[inline(always)]
    fn begin(&mut self) {
        self.enabled = 0;
        if self.shows_something() {
            self.faults.clear();
            self.atomic_loop = None;
        }
        self.cut = false;
        self.rest = Rest::default();
        self.reordered = false;
        self.known = false;
        self.lost = false;
        self.outcomes.unusual = false;
    }

    /// Puts outcomes back that were put aside; says where they begin.
    fn take_back(&mut self, rest: Rest) -> usize {
        let at = self.outcomes.list.len();
        self.outcomes.list.extend_from_slice(&self.aside[rest.first as usize..rest.end as usize]);
        at
    }

    /// The last ones of the edges from `first` on come first.
    fn turn_round(&mut self, first: usize) {
        self.outcomes.list[first..].reverse();
        self.annotations[first..].reverse();
    }

    fn memory(&self) -> u64 {
        let records = self.edges.capacity() + self.outcomes.list.capacity() + self.aside.capacity();
        (self.outcomes.bytes.capacity() + records * size_of::<Successor>()) as u64
    }
}

/// Where a run leads.
enum Followed {
    /// To an ordinary state: the outcome with which it began is now the edge.
    ToEdge,
    /// To a transient state that is to be expanded.
    ToPlace(Place),
    Nowhere,
}

/// Which actions of a state are to be followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted<'a> {
    /// Those that a reducer chooses.
    All,
    /// All that a reducer chooses except for these, in ascending order.
    Except(&'a [ActionId]),
    /// These, in ascending order, whatever a reducer says.
    Only(&'a [ActionId]),
    /// Those of processes that do not sleep in a state with this annotation.
    Active(Annotation),
}

/// Expands states; keeps its buffers between them.
pub struct Expander<'a> {
    processes: Option<&'a dyn Processes>,
    worker: Box<dyn Worker + 'a>,
    reducer: Option<Box<dyn Reducer + 'a>>,
    /// Whether to leave nothing out, whatever the reducer would say.
    pub all: bool,
    /// Whether something that was chosen must be followed, and not be left out because it is not wanted.
    needs_awake: bool,
    phase1: Option<Phase1<'a>>,
    lean: Option<Box<dyn Lean + 'a>>,
    /// In a lean search: the edges of the process with the lowest pid come first.
    lowest_edges_first: bool,
    /// The enabled actions of a state, and which of them were chosen.
    enabled: Vec<ActionId>,
    chosen: Vec<u32>,
    /// Whether to note which processes can move.
    pub note_processes: bool,
    /// Whether to look for endless atomic sequences.
    pub look_for_loops: bool,
    /// Whether the actions to each ordinary state must be as few as possible, because steps are counted.
    pub exact: bool,
    /// Where paths were cut off, in all that was expanded.
    cuts: Cuts,
    run: AtomicRun,
    current: Vec<u8>,
    /// The steps of a straight run.
    steps: Successors,
    /// Of the transient states that are being expanded together: where the outcomes of each end, and the
    /// hashes of all.
    ends: Vec<usize>,
    hashes: Vec<Option<u64>>,
}

impl<'a> Expander<'a> {
    /// An expander for `system`.
    pub fn new(system: &'a dyn TransitionSystem, reduce: Option<Reduce<'a>>) -> Self {
        Expander {
            processes: system.capabilities().processes,
            worker: system.worker(),
            reducer: reduce.filter(|reduce| reduce.method == Method::Sets).map(|reduce| reduce.by.reducer()),
            all: false,
            needs_awake: reduce.is_some_and(|reduce| reduce.proviso != Proviso::None),
            phase1: reduce.and_then(|reduce| match reduce.method {
                Method::Twophase(save) => Some(Phase1::new(system, reduce.by, save)),
                Method::None | Method::Lean(_) | Method::Sets => None,
            }),
            lean: reduce.and_then(|reduce| match reduce.method {
                Method::Lean(order) => reduce.by.lean(order.processes),
                _ => None,
            }),
            lowest_edges_first: reduce.is_some_and(|reduce| {
                matches!(reduce.method, Method::Lean(LeanOrder { lowest_edges_first: true, .. }))
            }),
            enabled: Vec::new(),
            chosen: Vec::new(),
            note_processes: false,
            look_for_loops: true,
            exact: false,
            cuts: Cuts::default(),
            run: AtomicRun::default(),
            current: Vec::new(),
            steps: Successors::default(),
            ends: Vec::new(),
            hashes: Vec::new(),
        }
    }

    /// Where paths were cut off, in all that was expanded so far; from now on it is noted anew.
    pub fn take_cuts(&mut self) -> Cuts {
        std::mem::take(&mut self.cuts)
    }

    /// From now on the reducer chooses wherever it can.
    pub fn choose_always(&mut self) {
        self.reducer.iter_mut().for_each(|reducer| reducer.choose_always());
        self.lean.iter_mut().for_each(|lean| lean.always());
    }

    /// Finds the ordinary successors of `state`, which lies `depth` steps from the beginning. With the
    /// Twophase algorithm these are the successors of the end of phase 1.
    #[inline]
    pub fn expand(
        &mut self,
        state: &[u8],
        depth: u64,
        budget: &mut Budget<'_>,
        out: &mut Expansion,
    ) -> Result<(), StopReason> {
        if self.phase1.is_some() {
            return self.expand_unless(state, depth, budget, out, &mut |_| Ok(false));
        }
        self.expand_plain(state, depth, budget, out)
    }

    /// Finds the ordinary successors of `state` by processes that do not sleep there, and their annotations.
    #[inline(always)]
    pub fn expand_active(
        &mut self,
        state: &[u8],
        annotation: Annotation,
        depth: u64,
        budget: &mut Budget<'_>,
        out: &mut Expansion,
    ) -> Result<(), StopReason> {
        out.begin();
        let first = out.outcomes.list.len();
        self.worker.expand_active(state, annotation.mask(), &mut out.outcomes);
        let edges = &out.outcomes.list[first..];
        out.stuck = edges.is_empty() && annotation.is_none();
        if out.outcomes.unusual || budget.steps_left(depth) == 0 {
            return self.settle_active(state, annotation, first, depth, budget, out);
        }
        if let Some(lean) = &mut self.lean {
            match edges {
                [] => out.slept = lean.slept(annotation),
                [edge] => {
                    let OnlyEdge { after, slept } = lean.sleep_after_only(state, annotation, edge.action);
                    out.annotations.push(after);
                    out.slept = slept;
                }
                _ => {
                    out.slept = lean.sleep_after(state, annotation, edges, &mut out.annotations);
                    if self.lowest_edges_first {
                        out.turn_round(first);
                    }
                }
            }
        }
        Ok(())
    }

    /// Makes edges of outcomes that may begin atomic sequences, and annotates the states that they lead to.
    /// Errors are to be met as often as there are.
    #[inline(never)]
    fn settle_active(
        &mut self,
        state: &[u8],
        annotation: Annotation,
        first: usize,
        depth: u64,
        budget: &mut Budget<'_>,
        out: &mut Expansion,
    ) -> Result<(), StopReason> {
        let alone = annotation.is_none() && self.is_one_process(&out.outcomes.list[first..]);
        self.settle(first, true, depth, budget, out)?;
        let (Some(lean), run) = (&mut self.lean, &self.run) else { return Ok(()) };
        out.slept = lean.slept(annotation);
        let edges = &out.outcomes.list[first..];
        // Whether an atomic sequence without end was met must not matter: it is looked for only until one is
        // known, and a path that is retraced must find the same annotations.
        if alone || !out.faults.is_empty() || out.lost || out.cut {
            out.annotations.resize(out.outcomes.list.len(), Annotation::NONE);
            return Ok(());
        }
        // An edge for each outcome: the outcomes show its first action.
        if out.edges.len() != edges.len() || !run.places.is_empty() {
            out.edges.clear();
            let first_action = |edge: &Edge| run.first_action(edge.transient.checked_sub(1), edge.action);
            out.edges.extend(edges.iter().map(|edge| Edge { action: first_action(edge), ..*edge }));
        }
        lean.sleep_after(state, annotation, &out.edges, &mut out.annotations);
        if self.lowest_edges_first {
            out.turn_round(first);
        }
        Ok(())
    }

    /// Whether all outcomes of a state are known to be those of one process. They are in the order of the
    /// processes.
    fn is_one_process(&self, outcomes: &[Successor]) -> bool {
        let Some(system) = self.processes else { return outcomes.len() < 2 };
        let process = |outcome: &Successor| system.process_of(outcome.action);
        outcomes.first().map(process) == outcomes.last().map(process)
    }

    /// Expands a state by some of its actions.
    pub fn expand_wanted(
        &mut self,
        state: &[u8],
        wanted: Wanted<'_>,
        depth: u64,
        budget: &mut Budget<'_>,
        out: &mut Expansion,
    ) -> Result<(), StopReason> {
        let (asleep, only) = match wanted {
            Wanted::All => return self.expand_plain(state, depth, budget, out),
            Wanted::Except(asleep) => (asleep, None),
            Wanted::Only(only) => (&[][..], Some(only)),
            Wanted::Active(annotation) => return self.expand_active(state, annotation, depth, budget, out),
        };
        out.begin();
        let first = out.outcomes.list.len();
        self.worker.expand(state, &mut out.outcomes);
        let n = out.outcomes.list.len();
        out.stuck = n == first;
        let chosen =
            only.is_none() && self.reducer.is_some() && n > first + 1 && self.choose(state, first, out);
        let wanted = |outcome: &Successor| match only {
            Some(only) => only.binary_search(&outcome.action).is_ok(),
            None => asleep.binary_search(&outcome.action).is_err(),
        };
        let slept = retain(&mut out.outcomes.list, first, wanted);
        if !chosen {
            return self.settle(first, true, depth, budget, out);
        }
        retain(&mut out.aside, out.rest.first as usize, wanted);
        out.rest.end = out.aside.len() as u32;
        if slept && !self.needs_awake && out.outcomes.list.len() == first {
            out.rest = Rest::default();
            return Ok(());
        }
        self.expand_chosen(first, depth, budget, out)
    }

    /// Expands a state, unless phase 1 moves to another state that is `known`; this is asked once, and only
    /// then.
    pub fn expand_unless(
        &mut self,
        state: &[u8],
        depth: u64,
        budget: &mut Budget<'_>,
        out: &mut Expansion,
        known: &mut dyn FnMut(&[u8]) -> Result<bool, StopReason>,
    ) -> Result<(), StopReason> {
        let Some(mut phase1) = self.phase1.take() else {
            return self.expand_plain(state, depth, budget, out);
        };
        let result = self.expand_end(&mut phase1, state, depth, budget, out, known);
        self.phase1 = Some(phase1);
        result
    }

    fn expand_end(
        &mut self,
        phase1: &mut Phase1<'_>,
        state: &[u8],
        depth: u64,
        budget: &mut Budget<'_>,
        out: &mut Expansion,
        known: &mut dyn FnMut(&[u8]) -> Result<bool, StopReason>,
    ) -> Result<(), StopReason> {
        phase1.run(state, depth, budget)?;
        if phase1.end() != state && known(phase1.end())? {
            out.begin();
            out.stuck = false;
            out.known = true;
            return Ok(());
        }
        let first = out.outcomes.list.len();
        let before = phase1.actions().len();
        self.expand_plain(phase1.end(), depth + before as u64, budget, out)?;
        out.outcomes.list[first..].iter_mut().for_each(|edge| edge.fault += before as u32);
        Ok(())
    }

    /// What phase 1 did with the state expanded last.
    pub fn phase1(&self) -> Option<&Phase1<'a>> {
        self.phase1.as_ref()
    }

    /// The actions of phase 1 from the state expanded last.
    pub fn before(&self) -> &[ActionId] {
        self.phase1.as_ref().map_or(&[], Phase1::actions)
    }

    #[inline]
    fn expand_plain(
        &mut self,
        state: &[u8],
        depth: u64,
        budget: &mut Budget<'_>,
        out: &mut Expansion,
    ) -> Result<(), StopReason> {
        out.begin();
        let first = out.outcomes.list.len();
        self.worker.expand(state, &mut out.outcomes);
        out.stuck = out.outcomes.list.len() == first;
        if self.note_processes {
            for outcome in out.outcomes.list[first..].iter().filter(|o| o.action != ActionId::STUTTER) {
                // A process without a number has no bit, so that there is no verdict about fairness.
                let process =
                    self.processes.map_or(MOST_PROCESSES, |system| system.process_of(outcome.action));
                out.enabled |= process_bit(process);
            }
        }
        let may_choose = self.reducer.is_some() && !self.all && out.outcomes.list.len() > first + 1;
        if may_choose && self.choose(state, first, out) {
            return self.expand_chosen(first, depth, budget, out);
        }
        self.settle(first, true, depth, budget, out)
    }

    /// Follows what was chosen, and at once the rest where that is not enough.
    #[cold]
    fn expand_chosen(
        &mut self,
        first: usize,
        depth: u64,
        budget: &mut Budget<'_>,
        out: &mut Expansion,
    ) -> Result<(), StopReason> {
        self.settle(first, true, depth, budget, out)?;
        if out.outcomes.list.len() > first && !out.lost {
            return Ok(());
        }
        let rest = std::mem::take(&mut out.rest);
        let at = out.take_back(rest);
        self.settle(at, false, depth, budget, out)
    }

    /// Follows what was left out of a state. The edges are appended; errors on the way, and what else is said
    /// of the state expanded last, are about the rest alone, and so are [`Expander::actions`].
    pub fn expand_rest(
        &mut self,
        rest: Rest,
        depth: u64,
        budget: &mut Budget<'_>,
        out: &mut Expansion,
    ) -> Result<(), StopReason> {
        out.begin();
        self.reducer.iter_mut().for_each(|reducer| reducer.in_vain(rest.len()));
        out.outcomes.unusual = true;
        let at = out.take_back(rest);
        self.settle(at, true, depth, budget, out)
    }

    /// Lets the reducer choose among the outcomes from `first` on, and puts the others aside. False when
    /// there are none.
    fn choose(&mut self, state: &[u8], first: usize, out: &mut Expansion) -> bool {
        let Some(reducer) = &mut self.reducer else { return false };
        let list = &mut out.outcomes.list;
        self.enabled.clear();
        self.enabled.extend(list[first..].iter().map(|outcome| outcome.action));
        if reducer.choose(state, &self.enabled, &mut self.chosen) == Choice::All
            || self.chosen.is_empty()
            || self.chosen.len() >= self.enabled.len()
        {
            return false;
        }
        let aside = out.aside.len();
        let (mut next, mut kept) = (self.chosen.iter().copied().peekable(), first);
        for i in 0..self.enabled.len() {
            let outcome = list[first + i];
            match next.next_if_eq(&(i as u32)) {
                Some(_) => {
                    list[kept] = outcome;
                    kept += 1;
                }
                None => out.aside.push(outcome),
            }
        }
        list.truncate(kept);
        out.rest = Rest { first: aside as u32, end: out.aside.len() as u32 };
        out.reordered = true;
        true
    }

    /// Makes edges of the outcomes from `first` on. `fresh`: they are the first of their state.
    #[inline(always)]
    fn settle(
        &mut self,
        first: usize,
        fresh: bool,
        depth: u64,
        budget: &mut Budget<'_>,
        out: &mut Expansion,
    ) -> Result<(), StopReason> {
        if !out.outcomes.unusual && budget.steps_left(depth) > 0 {
            return Ok(());
        }
        self.close_all(first, fresh, depth, budget, out)
    }

    /// Sorts the outcomes of a state and closes the atomic sequences that begin with them.
    #[inline(never)]
    fn close_all(
        &mut self,
        first: usize,
        fresh: bool,
        depth: u64,
        budget: &mut Budget<'_>,
        out: &mut Expansion,
    ) -> Result<(), StopReason> {
        let steps_left = budget.steps_left(depth);
        if fresh {
            self.run.clear();
        }
        out.edges.clear();
        if steps_left == 0 {
            out.outcomes.list.truncate(first);
            if !out.stuck {
                out.cut = true;
                self.cuts.at_depth();
            }
            return Ok(());
        }
        let next = self.run.places.len();
        self.sort_first(first, steps_left, out)?;
        if self.run.places.len() > next {
            out.edges.clear();
            std::mem::swap(&mut out.edges, &mut out.outcomes.list);
            let closed = self.close_places(next, depth, budget, out);
            std::mem::swap(&mut out.edges, &mut out.outcomes.list);
            closed?;
        }
        if self.look_for_loops && !self.run.again.is_empty() {
            out.atomic_loop = self.run.find_loop();
            if out.atomic_loop.is_some() {
                self.cuts.in_atomic_loop();
            }
        }
        Ok(())
    }

    /// Makes edges of the outcomes from `first` on where that is possible, in their places: an outcome gives
    /// one at most. For lean search they are kept as they were, as `edges`.
    fn sort_first(&mut self, first: usize, steps: u64, out: &mut Expansion) -> Result<(), StopReason> {
        let last = out.outcomes.list.len();
        if self.lean.is_some() {
            out.edges.extend_from_slice(&out.outcomes.list[first..]);
        }
        let (mut kept, mut sorted) = (first, Ok(()));
        for at in first..last {
            let mut outcome = out.outcomes.list[at];
            if !outcome.is_ordinary() {
                match self.sort(&mut outcome, None, None, steps, out) {
                    Ok(true) => {}
                    Ok(false) => continue,
                    Err(reason) => {
                        sorted = Err(reason);
                        break;
                    }
                }
            }
            out.outcomes.list[kept] = outcome;
            kept += 1;
        }
        out.outcomes.list.truncate(kept);
        sorted
    }

    /// Expands the places from this one on, and those that are found meanwhile.
    fn close_places(
        &mut self,
        mut next: usize,
        depth: u64,
        budget: &mut Budget<'_>,
        out: &mut Expansion,
    ) -> Result<(), StopReason> {
        let steps_left = budget.steps_left(depth);
        while let Some(place) = self.run.places.get(next) {
            let inside = u64::from(place.depth);
            let n = (self.run.places.len() - next).min(TOGETHER);
            self.close(next, n, steps_left, out)?;
            next += n;
            if budget.atomic_spent(self.run.places.len() + out.edges.len()) {
                return Err(StopReason::StateLimit);
            }
            if budget.tick()? {
                budget.look_inside(depth + inside, self.run.memory() + out.memory())?;
            }
        }
        Ok(())
    }

    /// Follows an atomic sequence that begins with this outcome of a place as long as it is straight. The
    /// state at which it is left is then the current one.
    fn follow(
        &mut self,
        first: &mut Successor,
        from: Option<u32>,
        steps: u64,
        out: &mut Expansion,
    ) -> Result<Followed, StopReason> {
        let bytes = out.outcomes.bytes.len();
        if bytes > MOST_BYTES || self.run.straight.len() > (STRAIGHT - LONG_RUN) as usize {
            return Err(StopReason::MemoryLimit);
        }
        let Some(mut state) = out.outcomes.state(first) else { return Ok(Followed::Nowhere) };
        let Expander { worker, run, steps: there, current, .. } = self;
        let mut place = Place { parent: from, action: first.action, depth: 1 + run.depth(from) };
        let last = steps.min(u64::from(place.depth + LONG_RUN));
        let most = last.saturating_sub(u64::from(place.depth)) as u32;
        there.list.clear();
        there.bytes.clear();
        let followed = if most > 0 { worker.follow(state, most, there) } else { 0 };
        run.straight.try_reserve(followed + 1).map_err(no_memory)?;
        let mut pass = |place: Place, outcome: &Successor| {
            let at = STRAIGHT + run.straight.len() as u32;
            run.straight.push(place);
            Place { parent: Some(at), action: outcome.action, depth: place.depth + 1 }
        };
        for outcome in &there.list[..followed] {
            place = pass(place, outcome);
            state = &there.bytes[outcome.start as usize..][..outcome.len as usize];
        }
        let ended = match there.list[followed..] {
            [ref only] if only.fault == 0 && only.has_state() => {
                place = pass(place, only);
                state = &there.bytes[only.start as usize..][..only.len as usize];
                if !only.is_transient() {
                    out.outcomes.bytes.extend_from_slice(state);
                    let transient = place.parent.map_or(0, |at| at + 1);
                    *first = Edge { start: bytes as u32, transient, fault: place.depth - 1, ..*only };
                    return Ok(Followed::ToEdge);
                }
                false
            }
            ref outcomes => outcomes.is_empty() && most > 0,
        };
        if u64::from(place.depth) >= last {
            run.careful_from = run.careful_from.min(run.places.len());
        }
        there.faults.clear();
        there.more_faults.clear();
        current.clear();
        current.extend_from_slice(state);
        if !ended {
            return Ok(Followed::ToPlace(place));
        }
        *first = self.stay(place, out);
        Ok(Followed::ToEdge)
    }

    /// The current state was reached like this, and nothing is enabled in it: it is ordinary.
    fn stay(&self, Place { parent, action, depth }: Place, out: &mut Expansion) -> Edge {
        let (start, len) = (out.outcomes.bytes.len() as u32, self.current.len() as u32);
        out.outcomes.bytes.extend_from_slice(&self.current);
        let via = parent.map_or(0, |parent| parent + 1);
        Edge { action, start, len, transient: via, fault: depth - 1 }
    }

    /// The first action of an edge of the state that was expanded last (after phase 1).
    pub fn first_action(&self, edge: &Edge) -> ActionId {
        self.run.first_action(edge.transient.checked_sub(1), edge.action)
    }

    /// Appends the actions of an edge of the state that was expanded last (after phase 1).
    pub fn actions(&self, edge: &Edge, out: &mut Vec<ActionId>) {
        self.run.path(edge.transient.checked_sub(1), edge.action, out);
    }

    /// Exchanges the atomic sequences behind the state that was expanded last for others: with them goes what
    /// their edges consist of.
    pub fn swap_run(&mut self, run: &mut AtomicRun) {
        std::mem::swap(&mut self.run, run);
    }

    /// Expands some transient states, those that may still take a step. They are expanded together, because
    /// looking up what follows mostly waits for memory. What gave no edge is forgotten at once: a closure may
    /// be large.
    fn close(&mut self, from: usize, n: usize, steps: u64, out: &mut Expansion) -> Result<(), StopReason> {
        let (first, bytes, edges) = (out.outcomes.list.len(), out.outcomes.bytes.len(), out.edges.len());
        if bytes > MOST_BYTES {
            return Err(StopReason::MemoryLimit);
        }
        self.run.make_room().and_then(|()| out.make_room()).map_err(no_memory)?;
        self.ends.clear();
        for place in from..from + n {
            self.expand_place(place as u32, out);
            self.ends.push(out.outcomes.list.len());
        }
        self.hashes.clear();
        let prepared = if self.is_careful(Some(from as u32)) { first } else { out.outcomes.list.len() };
        for outcome in &out.outcomes.list[prepared..] {
            let state = out.outcomes.state(outcome).filter(|_| outcome.is_transient());
            self.hashes.push(state.and_then(|state| self.run.states.prepare(state)));
        }
        let mut start = first;
        for place in from..from + n {
            let end = self.ends[place - from];
            if u64::from(self.run.places[place].depth) < steps {
                self.sort_outcomes(start..end, place as u32, steps, out)?;
            } else if end > start {
                out.cut = true;
                self.cuts.at_depth();
            }
            start = end;
        }
        out.outcomes.list.truncate(first);
        if out.edges.len() == edges {
            out.outcomes.bytes.truncate(bytes);
        }
        Ok(())
    }

    /// Expands a transient state; one in which nothing is enabled is ordinary.
    fn expand_place(&mut self, from: u32, out: &mut Expansion) {
        self.current.clear();
        self.current.extend_from_slice(self.run.states.state(from));
        let before = out.outcomes.list.len();
        self.worker.expand_transient(&self.current, &mut out.outcomes);
        if out.outcomes.list.len() == before {
            let edge = self.stay(self.run.places[from as usize], out);
            out.edges.push(edge);
        }
    }

    /// Sorts outcomes of a place. If they have been prepared, `hashes` says how.
    fn sort_outcomes(
        &mut self,
        outcomes: Range<usize>,
        from: u32,
        steps: u64,
        out: &mut Expansion,
    ) -> Result<(), StopReason> {
        let unprepared = out.outcomes.list.len() - self.hashes.len();
        for at in outcomes {
            let mut outcome = out.outcomes.list[at];
            let hash = at.checked_sub(unprepared).and_then(|at| self.hashes[at]);
            if self.sort(&mut outcome, Some(from), hash, steps, out)? {
                out.edges.push(outcome);
            }
        }
        Ok(())
    }

    /// Sorts an outcome: it shows an error, leads to a transient state, or an edge is made of it. Says
    /// whether it is one.
    fn sort(
        &mut self,
        outcome: &mut Successor,
        from: Option<u32>,
        hash: Option<u64>,
        steps: u64,
        out: &mut Expansion,
    ) -> Result<bool, StopReason> {
        if outcome.fault != 0 {
            self.note_fault(outcome, from, out);
        }
        if outcome.is_transient() {
            if outcome.fault == 0 && !self.is_careful(from) {
                return self.run_along(outcome, from, steps, out);
            }
            let place = Place { parent: from, action: outcome.action, depth: 1 + self.run.depth(from) };
            self.enter(out.outcomes.state(outcome), place, hash)?;
            return Ok(false);
        }
        out.lost |= !outcome.has_state();
        outcome.transient = from.map_or(0, |from| from + 1);
        outcome.fault = self.run.depth(from);
        Ok(outcome.has_state())
    }

    /// Whether all transient states behind this place are kept.
    fn is_careful(&self, from: Option<u32>) -> bool {
        from.is_some_and(|from| self.exact || from as usize >= self.run.careful_from)
    }

    /// Follows a run; the state at which it is left will be expanded in its turn. If steps are counted, that
    /// is its first one.
    fn run_along(
        &mut self,
        outcome: &mut Successor,
        from: Option<u32>,
        steps: u64,
        out: &mut Expansion,
    ) -> Result<bool, StopReason> {
        let straight = self.run.straight.len();
        let mut place = match self.follow(outcome, from, steps, out)? {
            Followed::ToEdge => return Ok(true),
            Followed::ToPlace(place) => place,
            Followed::Nowhere => return Ok(false),
        };
        if self.exact {
            self.run.straight.truncate(straight);
            place = Place { parent: from, action: outcome.action, depth: 1 + self.run.depth(from) };
            self.enter(out.outcomes.state(outcome), place, None)?;
            return Ok(false);
        }
        let current = std::mem::take(&mut self.current);
        let entered = self.enter(Some(&current), place, None);
        self.current = current;
        entered.map(|()| false)
    }

    #[cold]
    fn note_fault(&mut self, outcome: &Successor, from: Option<u32>, out: &mut Expansion) {
        let cut = !outcome.has_state();
        for fault in out.outcomes.faults_of(outcome) {
            if cut {
                self.cuts.by_error(fault);
            }
            let mut actions = Vec::new();
            self.run.path(from, outcome.action, &mut actions);
            out.faults.push(StepFault { fault: fault.clone(), actions, cut });
        }
    }

    /// Enters a transient state; a new one will be expanded in its turn.
    fn enter(&mut self, state: Option<&[u8]>, place: Place, hash: Option<u64>) -> Result<(), StopReason> {
        let Some(state) = state else { return Ok(()) };
        match self.run.states.visit(state, hash).map_err(|_| StopReason::MemoryLimit)? {
            None => self.run.places.push(place),
            Some(number) => self.run.again.extend(place.parent.map(|from| (from, number))),
        }
        Ok(())
    }
}

/// Keeps the wanted ones of the outcomes from `first` on; says whether there were others.
fn retain(list: &mut Vec<Successor>, first: usize, wanted: impl Fn(&Successor) -> bool) -> bool {
    let before = list.len();
    let mut kept = first;
    for at in first..before {
        let outcome = list[at];
        if wanted(&outcome) {
            list[kept] = outcome;
            kept += 1;
        }
    }
    list.truncate(kept);
    kept < before
}

#[cfg(test)]
mod tests;
