//! Budgets: depth, states, memory, time, and the wish of others to stop.
//!
//! The depth and the number of states are compared where they change. [`Budget::tick`] is called once per
//! expanded state: it looks at the stop flag each time, and says every 64th time that the rest is due.
//! [`Budget::look`] looks at the clock, and a few times a second at the memory ([`MemoryAccount`]) and tells
//! the observer.

use crate::observer::{Flow, Observer, Snapshot};
use crate::outcome::StopReason;
use crate::task::Task;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How far a search may go; `None` is without limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Steps along a path, those inside atomic sequences included.
    pub depth: Option<u64>,
    /// Distinct states.
    pub states: Option<u64>,
    /// Transient states behind one state, and the ends of atomic sequences there, taken together.
    pub atomic: Option<u64>,
    /// Bytes, of what `account` says.
    pub memory: Option<u64>,
    /// Whose memory counts.
    pub account: MemoryAccount,
    /// Time.
    pub time: Option<Duration>,
    /// Where all violations are wanted: so many of them are enough. Only one worker can count them in order.
    pub errors: Option<u64>,
    /// Steps for each state.
    pub branching: Option<Branching>,
}

/// Whose memory counts against [`Limits::memory`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryAccount {
    /// What the search itself has: store, stacks, queues, ancestry. Other work of the process does not count.
    #[default]
    Search,
    /// All memory of the process that is in RAM, and at least what the search has: for a process that does
    /// nothing else.
    Process,
}

impl MemoryAccount {
    /// Bytes in use, of which a search knows that it has `own`.
    pub fn used(self, own: u64) -> u64 {
        match self {
            MemoryAccount::Search => own,
            MemoryAccount::Process => own.max(resident_bytes().unwrap_or(0)),
        }
    }
}

/// How many steps there may be for each state. A search that is reduced and has more is probably not reduced
/// by much: what it leaves out at one place it reaches from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branching {
    /// This number of steps ...
    pub steps: u64,
    /// ... for this number of states.
    pub states: u64,
    /// That is looked at from this number of states on,
    pub from: u64,
    /// and no longer from this number on.
    pub until: u64,
}

impl Branching {
    /// Whether a search with these numbers of steps and states is within the limit.
    pub fn allows(&self, steps: u64, states: u64) -> bool {
        !(self.from..self.until).contains(&states)
            || steps.saturating_mul(self.states) <= states.saturating_mul(self.steps)
    }
}

/// Expansions between two looks at the clock.
const CLOCK_PERIOD: u32 = 64;
/// Time between two looks at the memory and two reports of progress.
const REPORT_PERIOD: Duration = Duration::from_millis(100);

/// Bytes of a step of a counterexample while it is made: the number of its edge, and its action in a
/// [`system::Path`].
const STEP_BYTES: u64 = 2;

/// Keeps a running search within its limits.
pub struct Budget<'a> {
    limits: Limits,
    stop: &'a AtomicBool,
    /// Another reason to stop: the other workers have.
    halt: &'a AtomicBool,
    observer: &'a mut dyn Observer,
    started: Instant,
    /// States until it is time to look.
    ticks_left: u32,
    next_report: Duration,
    last: Snapshot,
}

impl<'a> Budget<'a> {
    /// A budget that starts now.
    pub fn new(task: &Task<'a>, observer: &'a mut dyn Observer) -> Self {
        Budget {
            limits: task.limits,
            stop: task.stop,
            halt: task.stop,
            observer,
            started: Instant::now(),
            ticks_left: 0,
            next_report: Duration::ZERO,
            last: Snapshot::default(),
        }
    }

    /// A budget that started then.
    pub fn since(self, started: Instant) -> Self {
        Budget { started, ..self }
    }

    /// A budget that also looks at a flag of the other workers.
    pub fn halted_by(self, halt: &'a AtomicBool) -> Self {
        Budget { halt, ..self }
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// How many more steps a path of this length may take.
    #[inline]
    pub fn steps_left(&self, depth: u64) -> u64 {
        self.limits.depth.map_or(u64::MAX, |limit| limit.saturating_sub(depth))
    }

    /// Whether `states` are as many as there may be.
    #[inline]
    pub fn states_spent(&self, states: u64) -> bool {
        self.limits.states.is_some_and(|limit| states >= limit)
    }

    /// Whether the atomic sequences that begin in one state have led to as many states as they may.
    #[inline]
    pub fn atomic_spent(&self, states: usize) -> bool {
        self.limits.atomic.is_some_and(|limit| states as u64 >= limit)
    }

    /// To be called once per expanded state (transient ones included). True when it is time to
    /// [`Budget::look`].
    #[inline]
    pub fn tick(&mut self) -> Result<bool, StopReason> {
        self.tick_for(1)
    }

    /// To be called before `states` states are expanded together.
    #[inline]
    pub fn tick_for(&mut self, states: u32) -> Result<bool, StopReason> {
        if self.stop.load(Ordering::Relaxed) || self.halt.load(Ordering::Relaxed) {
            return Err(StopReason::Interrupted);
        }
        let left = self.ticks_left.checked_sub(states);
        self.ticks_left = left.unwrap_or(CLOCK_PERIOD);
        Ok(left.is_none())
    }

    /// Looks at the clock and the rest while a state is being expanded, which takes `memory` bytes and has
    /// come to `depth`.
    pub fn look_inside(&mut self, depth: u64, memory: u64) -> Result<(), StopReason> {
        let last = self.last;
        let result = self.look(|| Snapshot { depth, memory: last.memory + memory, ..last });
        self.last = last;
        result
    }

    /// Looks at the clock. True when [`Budget::look`] wants to know the rest, for who must take a snapshot
    /// before.
    pub fn look_at_clock(&self) -> Result<bool, StopReason> {
        let elapsed = self.started.elapsed();
        match self.limits.time.is_some_and(|limit| elapsed >= limit) {
            true => Err(StopReason::TimeLimit),
            false => Ok(elapsed >= self.next_report || self.limits.branching.is_some()),
        }
    }

    /// Looks at the clock and the rest; `snapshot` is asked for only sometimes.
    pub fn look(&mut self, snapshot: impl FnOnce() -> Snapshot) -> Result<(), StopReason> {
        let elapsed = self.started.elapsed();
        if self.limits.time.is_some_and(|limit| elapsed >= limit) {
            return Err(StopReason::TimeLimit);
        }
        let due = elapsed >= self.next_report;
        if !due && self.limits.branching.is_none() {
            return Ok(());
        }
        let mut snapshot = snapshot();
        if self.limits.branching.is_some_and(|most| !most.allows(snapshot.transitions, snapshot.states)) {
            return Err(StopReason::Branching);
        }
        if !due {
            return Ok(());
        }
        self.next_report = elapsed + REPORT_PERIOD;
        self.last = snapshot;
        snapshot.elapsed = elapsed;
        snapshot.limits = self.limits;
        snapshot.memory = self.limits.account.used(snapshot.memory);
        // A counterexample as long as the longest path must fit as well.
        let needed = snapshot.memory.saturating_add(snapshot.depth.saturating_mul(STEP_BYTES));
        if self.limits.memory.is_some_and(|limit| needed >= limit) {
            return Err(StopReason::MemoryLimit);
        }
        match self.observer.progress(&snapshot) {
            Flow::Continue => Ok(()),
            Flow::Stop => Err(StopReason::Interrupted),
        }
    }
}

/// Memory that the process has in RAM, where the operating system tells.
pub fn resident_bytes() -> Option<u64> {
    status_bytes("VmRSS:")
}

/// The most memory that the process ever had in RAM, where the operating system tells.
pub fn peak_resident_bytes() -> Option<u64> {
    status_bytes("VmHWM:")
}

/// A line of Linux's `/proc/self/status`, which counts in kB whatever the page size.
fn status_bytes(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Silent;
    use crate::property::Checks;

    fn task(limits: Limits, stop: &AtomicBool) -> Task<'_> {
        Task { checks: Checks::SAFETY, all_errors: false, seed: None, limits, stop, reduce: None }
    }

    #[test]
    fn no_time_is_spent_at_once() {
        let stop = AtomicBool::new(false);
        let limits = Limits { time: Some(Duration::ZERO), ..Limits::default() };
        let mut silent = Silent;
        let mut budget = Budget::new(&task(limits, &stop), &mut silent);
        assert_eq!(budget.look(Snapshot::default), Err(StopReason::TimeLimit));
    }

    #[test]
    fn the_flag_is_seen_on_every_tick() {
        let stop = AtomicBool::new(false);
        let mut silent = Silent;
        let mut budget = Budget::new(&task(Limits::default(), &stop), &mut silent);
        assert_eq!(budget.tick(), Ok(true));
        assert_eq!(budget.tick(), Ok(false));
        stop.store(true, Ordering::Relaxed);
        assert_eq!(budget.tick(), Err(StopReason::Interrupted));
    }

    #[test]
    fn a_counterexample_must_fit_as_well() {
        let stop = AtomicBool::new(false);
        let limits = Limits { memory: Some(1 << 40), ..Limits::default() };
        let (task, mut silent) = (task(limits, &stop), Silent);
        let deep = |depth| move || Snapshot { depth, ..Snapshot::default() };
        assert_eq!(Budget::new(&task, &mut silent).look(deep(1 << 30)), Ok(()));
        assert_eq!(Budget::new(&task, &mut silent).look(deep(1 << 39)), Err(StopReason::MemoryLimit));
    }

    #[test]
    fn memory_counts_what_the_search_says() {
        let stop = AtomicBool::new(false);
        let limits = Limits { memory: Some(u64::MAX - 1), ..Limits::default() };
        let mut silent = Silent;
        let mut budget = Budget::new(&task(limits, &stop), &mut silent);
        let huge = || Snapshot { memory: u64::MAX, ..Snapshot::default() };
        assert_eq!(budget.look(huge), Err(StopReason::MemoryLimit));
    }

    #[test]
    fn an_observer_can_stop_the_search() {
        struct Stopper;
        impl Observer for Stopper {
            fn progress(&mut self, _: &Snapshot) -> Flow {
                Flow::Stop
            }
        }
        let stop = AtomicBool::new(false);
        let mut observer = Stopper;
        let mut budget = Budget::new(&task(Limits::default(), &stop), &mut observer);
        assert_eq!(budget.look(Snapshot::default), Err(StopReason::Interrupted));
    }

    #[test]
    fn an_observer_is_told_the_limits() {
        struct Listener(Option<Limits>);
        impl Observer for Listener {
            fn progress(&mut self, snapshot: &Snapshot) -> Flow {
                self.0 = Some(snapshot.limits);
                Flow::Continue
            }
        }
        let stop = AtomicBool::new(false);
        let limits = Limits { states: Some(7), ..Limits::default() };
        let mut observer = Listener(None);
        assert_eq!(Budget::new(&task(limits, &stop), &mut observer).look(Snapshot::default), Ok(()));
        assert_eq!(observer.0, Some(limits));
    }

    /// The same each time, however fast the search is: it is looked at whenever the clock is.
    #[test]
    fn steps_for_each_state() {
        let stop = AtomicBool::new(false);
        let branching = Some(Branching { steps: 5, states: 4, from: 400, until: 1000 });
        let mut silent = Silent;
        let mut budget = Budget::new(&task(Limits { branching, ..Limits::default() }, &stop), &mut silent);
        let mut look =
            |transitions, states| budget.look(|| Snapshot { transitions, states, ..Snapshot::default() });
        assert_eq!((look(500, 400), look(501, 400)), (Ok(()), Err(StopReason::Branching)));
        assert_eq!(
            (look(9999, 399), look(1249, 999), look(9999, 1000)),
            (Ok(()), Err(StopReason::Branching), Ok(()))
        );
    }

    #[test]
    fn depth_and_states() {
        let stop = AtomicBool::new(false);
        let limits = Limits { depth: Some(10), states: Some(3), ..Limits::default() };
        let mut silent = Silent;
        let budget = Budget::new(&task(limits, &stop), &mut silent);
        assert_eq!((budget.steps_left(4), budget.steps_left(11)), (6, 0));
        assert!(!budget.states_spent(2) && budget.states_spent(3));
    }
}
