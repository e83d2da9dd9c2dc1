//! One state to its ordinary successors: expand, then close atomic sequences.
//!
//! A step may end in a *transient* state, inside an atomic sequence. Transient states are no states of the
//! program: here, and only here, they are expanded until all ordinary states behind them are found, each with
//! the actions that lead to it ([`atomic_closure`]). A transient state in which nothing is enabled counts as
//! ordinary.
//!
//! **Reduction.** All actions of a state are tried, which costs little; a reducer then chooses some of them,
//! and only these are followed. The others are put aside, as the *rest*, until a proviso asks for them. The
//! edges of what was chosen come first ([`Expansion::reordered`]). What was chosen is not enough when one of
//! its steps cannot be completed, or when it leads nowhere (an atomic sequence without end): then the rest
//! follows at once.

mod atomic_closure;
mod expansion;
mod lean_edges;

use crate::atomic_run::AtomicRun;
use crate::cuts::Cuts;
pub use crate::edge::{Edge, Edges};
use crate::limits::Budget;
use crate::marks::{MOST_PROCESSES, process_bit};
use crate::outcome::StopReason;
use crate::phase1::Phase1;
use crate::task::{Method, Proviso, Reduce};
use atomic_closure::AtomicClosure;
pub use expansion::{Expansion, Rest, StepFault};
use system::{
    ActionId, Annotation, Choice, Lean, LeanOrder, Processes, Reducer, SleepMask, Successor, TransitionSystem,
};

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
    /// The machine's worker, and what closes the atomic sequences that its steps begin.
    closure: AtomicClosure<'a>,
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
}

impl<'a> Expander<'a> {
    /// An expander for `system`.
    pub fn new(system: &'a dyn TransitionSystem, reduce: Option<Reduce<'a>>) -> Self {
        let lean = reduce.and_then(|reduce| match reduce.method {
            Method::Lean(order) => reduce.by.lean(order.processes),
            _ => None,
        });
        Expander {
            processes: system.capabilities().processes,
            reducer: reduce.filter(|reduce| reduce.method == Method::Sets).map(|reduce| reduce.by.reducer()),
            all: false,
            needs_awake: reduce.is_some_and(|reduce| reduce.proviso != Proviso::None),
            phase1: reduce.and_then(|reduce| match reduce.method {
                Method::Twophase(save) => Some(Phase1::new(system, reduce.by, save)),
                Method::None | Method::Lean(_) | Method::Sets => None,
            }),
            closure: AtomicClosure::new(system.worker(), lean.is_some()),
            lean,
            lowest_edges_first: reduce.is_some_and(|reduce| {
                matches!(reduce.method, Method::Lean(LeanOrder { lowest_edges_first: true, .. }))
            }),
            enabled: Vec::new(),
            chosen: Vec::new(),
            note_processes: false,
        }
    }

    /// Whether the actions to each ordinary state must be as few as possible, because steps are counted.
    pub fn set_exact(&mut self, exact: bool) {
        self.closure.exact = exact;
    }

    /// Whether atomic sequences without end are looked for. It is enough to know one.
    #[inline(always)]
    pub fn look_for_loops(&mut self, look: bool) {
        self.closure.look_for_loops = look;
    }

    /// Where paths were cut off, in all that was expanded so far; from now on it is noted anew.
    pub fn take_cuts(&mut self) -> Cuts {
        std::mem::take(&mut self.closure.cuts)
    }

    /// From now on the reducer chooses wherever it can.
    pub fn choose_always(&mut self) {
        self.reducer.iter_mut().for_each(|reducer| reducer.choose_always());
        self.lean.iter_mut().for_each(|lean| lean.always());
    }

    /// Finds the ordinary successors of `state`, which lies `depth` steps from the beginning. With the
    /// Twophase algorithm these are the successors of the end of phase 1. Where it is ended before its time,
    /// the errors that it has met are there to be judged, and the edges are not to be used.
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
        self.closure.expand(state, SleepMask::NONE, out)?;
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
            return self.closure.close(first, true, depth, budget, out);
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
        out.begin();
        // Until the end of phase 1 is expanded there is nothing to judge.
        out.known = true;
        phase1.run(state, depth, budget)?;
        if phase1.end() != state && known(phase1.end())? {
            return Ok(());
        }
        let first = out.outcomes.list.len();
        let before = phase1.actions().len();
        self.expand_plain(phase1.end(), depth + before as u64, budget, out)?;
        let records = out.outcomes.list[first..].iter_mut();
        records.for_each(|record| *record = Edge::of_record(record).prefixed(before as u32).record());
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
        self.closure.expand(state, SleepMask::NONE, out)?;
        out.stuck = out.outcomes.list.len() == first;
        if self.note_processes {
            for outcome in out.outcomes.list[first..].iter().filter(|o| o.action != ActionId::STUTTER) {
                // A process without a number has no bit, so that there is no verdict about fairness.
                let process = self.processes.map_or(MOST_PROCESSES, |system| system.agent_of(outcome.action));
                out.enabled |= process_bit(process);
            }
        }
        let may_choose = self.reducer.is_some() && !self.all && out.outcomes.list.len() > first + 1;
        if may_choose && self.choose(state, first, out) {
            return self.expand_chosen(first, depth, budget, out);
        }
        self.closure.close(first, true, depth, budget, out)
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
        self.closure.close(first, true, depth, budget, out)?;
        if out.outcomes.list.len() > first && !out.lost {
            return Ok(());
        }
        let rest = std::mem::take(&mut out.rest);
        let at = out.take_back(rest);
        self.closure.close(at, false, depth, budget, out)
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
        self.closure.close(at, true, depth, budget, out)
    }

    /// The first action of an edge of the state that was expanded last (after phase 1).
    pub fn first_action(&self, edge: Edge) -> ActionId {
        self.closure.run().first_action(edge.via(), edge.action)
    }

    /// Appends the actions of an edge of the state that was expanded last (after phase 1).
    pub fn actions(&self, edge: Edge, out: &mut Vec<ActionId>) {
        self.closure.run().path(edge.via(), edge.action, out);
    }

    /// Exchanges the atomic sequences behind the state that was expanded last for others: with them goes what
    /// their edges consist of.
    pub fn swap_run(&mut self, run: &mut AtomicRun) {
        self.closure.swap_run(run);
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
