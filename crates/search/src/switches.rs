//! Bounded context switching: only runs in which one process is interrupted by another at most N times.
//!
//! Many errors of concurrent programs show with very few interruptions (S. Qadeer and J. Rehof,
//! *Context-bounded model checking of concurrent software*, TACAS 2005), and there are far fewer runs with few.
//! Here, as in Spin's `-DBCS`, a switch counts when the process that made the last step could have gone on; where it
//! is blocked or has ended, another one takes over for nothing. After a rendezvous it is the receiver that can
//! go on.
//!
//! It is a system made of another one: two bytes before each state say who moved last and how many switches
//! there were, so every search and every store works over it, and a state counts once for each such pair. A
//! step that would be one switch too many is left out, and that this happened is remembered
//! ([`BoundedSwitches::left_out`]): only a search that never met the bound has seen all.

use std::sync::atomic::{AtomicBool, Ordering};
use system::layer::Inner;
use system::portable::StableHash;
use system::{
    ActionId, Capabilities, Fault, Labels, Layer, NOBODY, SleepMask, Successors, TransitionSystem, Worker,
    WorkerExt, follow_by,
};

/// The most switches that can be counted.
pub const MOST_SWITCHES: u64 = 254;
/// Nobody has moved yet.
const FIRST: u8 = u8::MAX;
/// Bytes before a state.
const HEAD: usize = 2;

/// The runs of a system with at most so many switches.
pub struct BoundedSwitches<'a> {
    inner: Inner<'a>,
    most: u8,
    left_out: AtomicBool,
}

/// Who moved last, and how many switches there were.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Past {
    last: u8,
    switches: u8,
}

impl<'a> BoundedSwitches<'a> {
    /// At most `most` switches, and not more than [`MOST_SWITCHES`]. `None` for a system without processes.
    pub fn new(system: &'a dyn TransitionSystem, most: u64) -> Option<Self> {
        let inner = Inner::new(system);
        let most = u8::try_from(most.min(MOST_SWITCHES)).unwrap_or(u8::MAX);
        inner.can.processes.map(|_| BoundedSwitches { inner, most, left_out: AtomicBool::new(false) })
    }

    /// Whether a step was left out because of the bound.
    pub fn left_out(&self) -> bool {
        self.left_out.load(Ordering::Relaxed)
    }

    /// Who can go on after an action.
    fn who(&self, action: ActionId) -> u32 {
        let processes = self.inner.can.processes;
        let who = |of: &dyn system::Processes| of.partner_of(action).unwrap_or_else(|| of.process_of(action));
        processes.map_or(NOBODY, who)
    }

    /// Who begins an action.
    fn beginner(&self, action: ActionId) -> u32 {
        self.inner.can.processes.map_or(NOBODY, |of| of.process_of(action))
    }

    /// What is past after an action, where some of the `enabled` ones were possible; `None` where it is one
    /// switch too many.
    fn after(&self, past: Past, action: ActionId, can_go_on: bool) -> Option<Past> {
        let beginner = self.beginner(action);
        let is_switch = can_go_on && beginner != NOBODY && beginner != u32::from(past.last);
        let last = match self.who(action) {
            NOBODY => past.last,
            // A process with such a number could not be told from nobody; there are fewer.
            pid => u8::try_from(pid).unwrap_or(FIRST),
        };
        if is_switch && past.switches == self.most {
            self.left_out.store(true, Ordering::Relaxed);
            return None;
        }
        Some(Past { last, switches: past.switches + u8::from(is_switch) })
    }

    fn can_go_on(&self, past: Past, mut actions: impl Iterator<Item = ActionId>) -> bool {
        past.last != FIRST && actions.any(|action| self.beginner(action) == u32::from(past.last))
    }

    /// Appends the steps that are within the bound.
    fn within(&self, past: Past, can_go_on: bool, steps: &Successors, out: &mut Successors) {
        for step in &steps.list {
            let Some(now) = self.after(past, step.action, can_go_on) else { continue };
            let more = steps.faults_of(step).skip(1).cloned();
            match steps.state(step) {
                None => out.push(step.action, None, false, steps.fault(step).cloned()),
                Some(rest) => {
                    let write = |bytes: &mut Vec<u8>| {
                        bytes.extend([now.last, now.switches]);
                        bytes.extend_from_slice(rest);
                    };
                    out.push_with(step.action, write, step.is_transient(), steps.fault(step).cloned());
                }
            }
            more.for_each(|fault| out.also(fault));
        }
    }
}

/// What is past, and the state of the inner system.
fn split(state: &[u8]) -> (Past, &[u8]) {
    match state {
        [last, switches, rest @ ..] => (Past { last: *last, switches: *switches }, rest),
        _ => (Past { last: FIRST, switches: 0 }, &[]),
    }
}

impl Layer for BoundedSwitches<'_> {
    fn inner(&self) -> Inner<'_> {
        self.inner
    }

    fn around(&self) -> (usize, usize) {
        (HEAD, 0)
    }

    fn validate(&self, head: &[u8], _tail: &[u8]) -> Result<(), &'static str> {
        if head[1] <= self.most { Ok(()) } else { Err("there are too many switches") }
    }

    fn own_fingerprint(&self) -> u64 {
        StableHash::new(u64::from(self.most)).bytes(b"switches").finish()
    }
}

impl TransitionSystem for BoundedSwitches<'_> {
    fn initial(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        out.extend([FIRST, 0]);
        self.inner.system.initial(out)
    }

    fn enabled(&self, state: &[u8], out: &mut Vec<ActionId>) {
        self.worker().enabled(state, out);
    }

    fn fire(&self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        self.worker().fire(state, actions, out);
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        let worker = self.inner.system.worker();
        Box::new(Counting { of: self, worker, actions: Vec::new(), steps: Successors::default() })
    }

    fn labels(&self, state: &[u8]) -> Labels {
        self.inner.system.labels(split(state).1)
    }

    fn hidden_bytes(&self) -> usize {
        self.inner.system.hidden_bytes()
    }

    fn deadlock(&self, state: &[u8]) -> Fault {
        self.inner.system.deadlock(split(state).1)
    }

    fn capabilities(&self) -> Capabilities<'_> {
        self.forwarded()
    }
}

/// One thread's access.
struct Counting<'a> {
    of: &'a BoundedSwitches<'a>,
    worker: Box<dyn Worker + 'a>,
    actions: Vec<ActionId>,
    steps: Successors,
}

impl Counting<'_> {
    fn expand_inner(
        &mut self,
        state: &[u8],
        out: &mut Successors,
        expand: impl FnOnce(&mut dyn Worker, &[u8], &mut Successors),
    ) {
        let (past, rest) = split(state);
        self.steps.clear();
        expand(&mut *self.worker, rest, &mut self.steps);
        let can_go_on = self.of.can_go_on(past, self.steps.list.iter().map(|step| step.action));
        self.of.within(past, can_go_on, &self.steps, out);
    }
}

impl Worker for Counting<'_> {
    fn enabled(&mut self, state: &[u8], out: &mut Vec<ActionId>) {
        let (past, rest) = split(state);
        self.actions.clear();
        self.worker.enabled(rest, &mut self.actions);
        let can_go_on = self.of.can_go_on(past, self.actions.iter().copied());
        let within = |&action: &ActionId| self.of.after(past, action, can_go_on).is_some();
        out.extend(self.actions.iter().copied().filter(within));
    }

    fn fire(&mut self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        let (past, rest) = split(state);
        self.actions.clear();
        self.worker.enabled(rest, &mut self.actions);
        let can_go_on = self.of.can_go_on(past, self.actions.iter().copied());
        self.steps.clear();
        self.worker.fire(rest, actions, &mut self.steps);
        self.of.within(past, can_go_on, &self.steps, out);
    }

    fn expand_active(&mut self, state: &[u8], asleep: SleepMask, out: &mut Successors) {
        debug_assert!(asleep.is_none(), "who sleeps may be the one who can go on");
        self.expand_inner(state, out, |worker, state, out| worker.expand(state, out));
    }

    fn follow(&mut self, state: &[u8], most: u32, out: &mut Successors) -> usize {
        follow_by(state, most, out, |state, out| {
            self.expand_inner(state, out, |worker, state, out| worker.expand_transient(state, out));
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::observer::Silent;
    use crate::property::Checks;
    use crate::queue::Whole;
    use crate::task::Task;
    use crate::{Levels, Outcome, frontier};
    use store::Table;
    use system::toy::Counters;

    fn search(system: &dyn TransitionSystem) -> Outcome {
        let stop = AtomicBool::new(false);
        let limits = Limits::default();
        let task =
            Task { checks: Checks::NONE, all_errors: true, seed: None, limits, stop: &stop, reduce: None };
        frontier(system, &mut Table::default(), Whole::new(0, false), Levels::Edges, &task, &mut Silent)
    }

    /// The vectors that N counters up to `max` can show with at most `most` switches.
    fn reached(n: u8, max: u8, most: u64) -> (usize, bool) {
        let counters = Counters { n, max };
        let bounded = BoundedSwitches::new(&counters, most).unwrap();
        let mut seen = std::collections::HashSet::new();
        let mut first = Vec::new();
        bounded.initial(&mut first).unwrap();
        let (mut waiting, mut known) = (vec![first.clone()], std::collections::HashSet::from([first]));
        while let Some(state) = waiting.pop() {
            seen.insert(split(&state).1.to_vec());
            let mut out = Successors::default();
            bounded.worker().expand(&state, &mut out);
            for step in &out.list {
                let next = out.state(step).unwrap().to_vec();
                if known.insert(next.clone()) {
                    waiting.push(next);
                }
            }
        }
        assert_eq!(search(&bounded).statistics.states, known.len() as u64);
        (seen.len(), bounded.left_out())
    }

    /// Without a switch a counter counts to its end before another one begins; with enough, all is seen and
    /// nothing is left out.
    #[test]
    fn switches_are_counted_where_the_last_one_could_go_on() {
        // (0,0) to (2,0), and on to (2,2); and the same the other way round.
        assert_eq!(reached(2, 2, 0), (8, true));
        // One switch: one goes i steps, the other any number, then the first can go on only where the other
        // has come to its end.
        assert_eq!(reached(2, 2, 1), (9, true));
        assert_eq!(reached(2, 2, 4), (9, false));
        let all = |most| reached(3, 2, most).0;
        assert!(all(0) < all(1) && all(1) <= all(2) && all(MOST_SWITCHES) == 27);
    }
}
