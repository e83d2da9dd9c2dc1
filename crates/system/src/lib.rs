//! The narrow waist: what a search may know about a program.
//!
//! States are bytes of variable length, actions are numbers; a search cannot mention Promela. The hot trait
//! is [`TransitionSystem`], crossed once per state with a batch; [`Explain`] is cold and never called inside
//! a search.
//!
//! **Transient states.** A step that leaves a process inside an atomic sequence ends in a *transient* state:
//! it is expanded like any other (only the process in control moves), but it is no state of the program: it
//! is not stored, not counted, and of its labels only acceptance may mean something (a run passes it). When
//! the process in control cannot move, the machine gives the control back and the state is an ordinary one.

pub mod blocked;
pub mod capabilities;
pub mod claim;
pub mod coverage;
pub mod explain;
pub mod intersection;
pub mod layer;
pub mod lean;
pub mod matrix;
pub mod portable;
pub mod reduction;
pub mod sequence;
pub mod toy;

pub use blocked::Blocked;
pub use capabilities::{AcceptanceMarks, Capabilities, Components, Invariants, Processes, Propositions};
pub use claim::Claim;
pub use explain::{ChannelRef, ChannelView, Event, Explain, Move, ProcessView, Snapshot, StepInfo, Value};
pub use intersection::intersection;
pub use layer::Layer;
pub use lean::{ActiveMask, Annotation, Lean, LeanOrder, ProcessOrder, SleepMask};
pub use portable::{PortableError, PortableStates};
pub use reduction::{Choice, Reducer, Reduction};
pub use sequence::Sequence;

/// Which infinite runs count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fairness {
    /// All.
    #[default]
    None,
    /// Those in which a process that can move all the time, from some time on, moves again and again.
    Weak,
    /// Those in which a process that can move again and again moves again and again.
    Strong,
}

impl Fairness {
    /// The word that options and reports use; nothing where all runs count.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Fairness::None => None,
            Fairness::Weak => Some("weak"),
            Fairness::Strong => Some("strong"),
        }
    }

    /// What a word names.
    pub fn from_name(word: &str) -> Option<Fairness> {
        [Fairness::Weak, Fairness::Strong].into_iter().find(|fairness| fairness.name() == Some(word))
    }
}

/// An action: a step of one process, or of two for a rendezvous. Opaque to searches; a machine packs into it
/// what it needs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(transparent)]
pub struct ActionId(pub u64);

/// What is wrong with an end at which channels had to be empty.
pub const CHANNELS_NOT_EMPTY: &str = "channels not empty at end";

/// Actions one after another.
pub type Path = Sequence<ActionId>;

impl ActionId {
    /// No action of a system, but the repetition of a state in which nothing is enabled: what a run that ends
    /// is prolonged by.
    pub const STUTTER: ActionId = ActionId(u64::MAX);
    /// No action of a system, but what is enabled in bytes that are no state: firing it shows the error
    /// ([`Successors::push_invalid`]).
    pub const INVALID: ActionId = ActionId(u64::MAX - 1);
}

/// Whose step an action is that no process takes: a move of a claim that changes something.
pub const NOBODY: u32 = u32::MAX;

/// What kind of error a step or a state shows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum FaultKind {
    /// A failed `assert`.
    Assertion,
    /// A state without successors in which some process is not at a valid end.
    EndState,
    /// A PV invariant that does not hold.
    Invariant,
    /// An event that the trace assertion does not allow, or a notrace that was matched.
    Trace,
    /// Index out of bounds, division by zero, invalid channel, blocked d_step, …
    Runtime,
    /// A claim that reached its end.
    ClaimEnd,
    /// A run forever through accepting states.
    AcceptCycle,
    /// A run forever without progress.
    ProgressCycle,
    /// A formula about states (CTL, mu-calculus) that fails.
    Formula,
    /// No error: a run that shows that a formula about states holds.
    Witness,
    /// A claim asks for a value that does not exist (an index out of bounds in a formula): whether it minds
    /// the runs through such a state is unknown.
    Evaluation,
}

impl FaultKind {
    /// All of them.
    pub const ALL: [FaultKind; 11] = [
        FaultKind::Assertion,
        FaultKind::EndState,
        FaultKind::Invariant,
        FaultKind::Trace,
        FaultKind::Runtime,
        FaultKind::ClaimEnd,
        FaultKind::AcceptCycle,
        FaultKind::ProgressCycle,
        FaultKind::Formula,
        FaultKind::Witness,
        FaultKind::Evaluation,
    ];

    /// The word that reports use.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::Assertion => "assertion",
            FaultKind::EndState => "end-state",
            FaultKind::Invariant => "invariant",
            FaultKind::Trace => "trace",
            FaultKind::Runtime => "runtime",
            FaultKind::ClaimEnd => "claim-end",
            FaultKind::AcceptCycle => "accept-cycle",
            FaultKind::ProgressCycle => "progress-cycle",
            FaultKind::Formula => "formula",
            FaultKind::Witness => "witness",
            FaultKind::Evaluation => "evaluation",
        }
    }
}

/// An error found while firing an action or looking at a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Its kind.
    pub kind: FaultKind,
    /// One sentence for people.
    pub message: String,
    /// File, 1-based line and column.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// The process's name, if one process is to blame.
    pub process: Option<String>,
    /// Its number.
    pub pid: Option<u32>,
}

impl Fault {
    /// Bytes were given to a system that are no state of it: an error of the tool.
    pub fn invalid_state(why: &str) -> Fault {
        let message = format!("internal error: bytes that are no state: {why}");
        let (file, kind) = (String::new(), FaultKind::Runtime);
        Fault { kind, message, file, line: 1, column: 1, process: None, pid: None }
    }
}

/// One outcome of a fired action: 24 bytes, so that a machine can write it from compiled code.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Successor {
    /// The action.
    pub action: ActionId,
    /// Where the bytes of the new state begin in [`Successors::bytes`].
    pub start: u32,
    /// How many they are; [`Successor::NO_STATE`] when the step could not be completed.
    pub len: u32,
    /// Not 0 when the new state is transient (see the crate's documentation).
    pub transient: u32,
    /// 0, or one more than the place in [`Successors::faults`] of the first error that the step shows. After
    /// a failed assertion, and after an event that a trace assertion forbids, the step is taken all the same.
    pub fault: u32,
}

impl Successor {
    /// The length of a state that does not exist.
    pub const NO_STATE: u32 = u32::MAX;

    /// Whether the step leads anywhere.
    #[inline]
    pub fn has_state(&self) -> bool {
        self.len != Self::NO_STATE
    }

    /// Whether it leads to an ordinary state, without an error.
    #[inline]
    pub fn is_ordinary(&self) -> bool {
        (self.transient | self.fault) == 0 && self.has_state()
    }

    /// Whether it leads into an atomic sequence.
    #[inline]
    pub fn is_transient(&self) -> bool {
        self.transient != 0
    }
}

/// Outcomes in buffers that the caller owns and reuses. Everything is appended, so that a search can expand
/// several states before it looks at the first outcome.
#[derive(Default, Debug)]
pub struct Successors {
    /// The outcomes.
    pub list: Vec<Successor>,
    /// The bytes of all states, one after another.
    pub bytes: Vec<u8>,
    /// Errors that outcomes refer to.
    pub faults: Vec<Fault>,
    /// Further errors of the same steps: what [`Successor::fault`] says of the step, and the error.
    pub more_faults: Vec<(u32, Fault)>,
    /// Set when an outcome is appended that may be transient, show an error or have no state; for who wants
    /// to know that none is and resets it.
    pub unusual: bool,
}

impl Successors {
    /// Forgets everything, keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.list.clear();
        self.bytes.clear();
        self.faults.clear();
        self.more_faults.clear();
    }

    /// The transient state that the outcome at this place leads to, if it is the last, and shows no error.
    #[inline]
    pub fn only_transient(&self, at: usize) -> Option<&[u8]> {
        match self.list.get(at..) {
            Some([only]) if only.is_transient() && only.fault == 0 => self.state(only),
            _ => None,
        }
    }

    /// The state that an outcome leads to.
    #[inline]
    pub fn state(&self, successor: &Successor) -> Option<&[u8]> {
        let start = successor.start as usize;
        successor.has_state().then(|| &self.bytes[start..start + successor.len as usize])
    }

    /// The first error that an outcome shows.
    pub fn fault(&self, successor: &Successor) -> Option<&Fault> {
        debug_assert!(successor.fault as usize <= self.faults.len(), "an error that an outcome names exists");
        self.faults.get((successor.fault as usize).checked_sub(1)?)
    }

    /// All errors that an outcome shows, one of each kind at most.
    pub fn faults_of(&self, successor: &Successor) -> impl Iterator<Item = &Fault> {
        let number = successor.fault;
        let more = self.more_faults.iter().filter(move |(of, _)| *of == number).map(|(_, fault)| fault);
        self.fault(successor).into_iter().chain(more)
    }

    /// Adds an error to the outcome appended last.
    pub fn also(&mut self, fault: Fault) {
        debug_assert!(!self.list.is_empty(), "there is a step to blame");
        let Some(last) = self.list.last_mut() else { return };
        match last.fault {
            0 => {
                self.faults.push(fault);
                last.fault = self.faults.len() as u32;
                self.unusual = true;
            }
            number => self.more_faults.push((number, fault)),
        }
    }

    /// Appends an outcome whose state `write` appends to the bytes given.
    pub fn push_with(
        &mut self,
        action: ActionId,
        write: impl FnOnce(&mut Vec<u8>),
        transient: bool,
        fault: Option<Fault>,
    ) {
        let start = self.bytes.len();
        write(&mut self.bytes);
        let state = (start as u32, (self.bytes.len() - start) as u32);
        self.note(action, state, transient, fault);
    }

    /// Appends the outcome of expanding bytes that are no state: a run-time error. No outcome at all would
    /// look like a state without successors, and a search that met one would claim to have seen everything;
    /// an error is a path that was cut off.
    #[cold]
    pub fn push_invalid(&mut self, action: ActionId, why: &str) {
        self.push(action, None, false, Some(Fault::invalid_state(why)));
    }

    /// Appends an outcome; `state` is copied.
    pub fn push(&mut self, action: ActionId, state: Option<&[u8]>, transient: bool, fault: Option<Fault>) {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(state.unwrap_or_default());
        let len = state.map_or(Successor::NO_STATE, |bytes| bytes.len() as u32);
        self.note(action, (start, len), transient, fault);
    }

    fn note(&mut self, action: ActionId, (start, len): (u32, u32), transient: bool, fault: Option<Fault>) {
        debug_assert!(self.bytes.len() < u32::MAX as usize, "places of states fit into 32 bits");
        debug_assert!(len != Successor::NO_STATE || !transient, "what does not exist is not transient");
        self.unusual |= transient || fault.is_some() || len == Successor::NO_STATE;
        let fault = fault.map_or(0, |fault| {
            self.faults.push(fault);
            self.faults.len() as u32
        });
        self.list.push(Successor { action, start, len, transient: u32::from(transient), fault });
    }
}

/// What a property may want to know of a state.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Labels {
    /// Some process is at an accept label.
    pub accepting: bool,
    /// Some process is at a progress label.
    pub progress: bool,
    /// Every process is at a valid end (and the trace assertion is complete), so having no successor is fine.
    pub valid_end: bool,
    /// All channels are empty.
    pub channels_empty: bool,
}

/// A program as a search sees it.
///
/// What not every system has, or not every search needs, is a capability. Nothing here has a default that a
/// system made of another one could forget to replace; the worker is made of the other methods.
pub trait TransitionSystem: Sync {
    /// The initial state, or the error that already initialisation shows.
    fn initial(&self, out: &mut Vec<u8>) -> Result<(), Fault>;

    /// Appends the enabled actions of `state`, grouped by process, in a fixed order (Spin's: highest pid
    /// first, edges in order). An action whose evaluation faults is enabled: firing it shows the fault. In
    /// bytes that are no state [`ActionId::INVALID`] is enabled.
    fn enabled(&self, state: &[u8], out: &mut Vec<ActionId>);

    /// Appends one outcome for each of `actions`, which must be enabled in `state`.
    fn fire(&self, state: &[u8], actions: &[ActionId], out: &mut Successors);

    /// Expands states for one thread, with buffers of its own. A machine that has none to keep leaves this as
    /// it is.
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(Direct { system: self, processes: self.capabilities().processes, actions: Vec::new() })
    }

    /// Label bits of a state.
    fn labels(&self, state: &[u8]) -> Labels;

    /// The number of bytes at the end of every state that are no part of its key: values that are explicitly
    /// hidden.
    fn hidden_bytes(&self) -> usize;

    /// The error that `state` shows when it has no successor and is not a valid end: which processes are
    /// stuck, and where.
    fn deadlock(&self, state: &[u8]) -> Fault;

    /// What else the system can tell; the same whenever it is asked.
    fn capabilities(&self) -> Capabilities<'_>;
}

/// What follows from the methods of every system.
pub trait SystemExt: TransitionSystem {
    /// The part of a state that makes it different from others: all of it but values that are explicitly
    /// hidden.
    #[inline]
    fn key<'a>(&self, state: &'a [u8]) -> &'a [u8] {
        &state[..state.len().saturating_sub(self.hidden_bytes())]
    }

    /// Appends one outcome for every enabled action, as [`Worker::expand`]: for callers that expand few
    /// states.
    fn expand(&self, state: &[u8], out: &mut Successors) {
        self.worker().expand(state, out);
    }
}

impl<S: TransitionSystem + ?Sized> SystemExt for S {}

/// One thread's access to a system: the same answers as the system's own methods, faster where buffers can be
/// kept.
pub trait Worker {
    /// Appends the enabled actions: see [`TransitionSystem::enabled`].
    fn enabled(&mut self, state: &[u8], out: &mut Vec<ActionId>);

    /// Appends one outcome for each of some enabled actions: see [`TransitionSystem::fire`].
    fn fire(&mut self, state: &[u8], actions: &[ActionId], out: &mut Successors);

    /// Appends one outcome for every enabled action of processes that do not sleep in the ordinary `state`:
    /// `enabled` and `fire` in one. Nobody sleeps in a transient state.
    fn expand_active(&mut self, state: &[u8], asleep: SleepMask, out: &mut Successors);

    /// Expands a transient state, from which a run begins. As long as a state has one outcome, which leads to
    /// another transient state and shows no error, that one is expanded as well; at most `most` states are,
    /// and one at least. Answers how many outcomes come first that were followed: what comes behind them are
    /// the outcomes of the state that was expanded last.
    fn follow(&mut self, state: &[u8], most: u32, out: &mut Successors) -> usize;
}

/// What follows from the methods of every worker.
pub trait WorkerExt: Worker {
    /// Appends one outcome for every enabled action.
    #[inline(always)]
    fn expand(&mut self, state: &[u8], out: &mut Successors) {
        self.expand_active(state, SleepMask::NONE, out);
    }

    /// Appends one outcome for every enabled action of a transient state.
    #[inline(always)]
    fn expand_transient(&mut self, state: &[u8], out: &mut Successors) {
        let followed = self.follow(state, 1, out);
        debug_assert_eq!(followed, 0, "one state is expanded");
    }
}

impl<W: Worker + ?Sized> WorkerExt for W {}

/// Follows a run as [`Worker::follow`] says, one state at a time.
pub fn follow_by(
    state: &[u8],
    most: u32,
    out: &mut Successors,
    mut expand: impl FnMut(&[u8], &mut Successors),
) -> usize {
    let first = out.list.len();
    expand(state, out);
    let mut followed = 0;
    while followed + 1 < most as usize
        && let Some(next) = out.only_transient(first + followed)
    {
        let state = next.to_vec();
        expand(&state, out);
        followed += 1;
    }
    debug_assert!(out.list.len() >= first + followed);
    followed
}

/// A worker of a system that keeps nothing between two expansions.
struct Direct<'a, S: ?Sized> {
    system: &'a S,
    processes: Option<&'a dyn Processes>,
    actions: Vec<ActionId>,
}

impl<S: TransitionSystem + ?Sized> Worker for Direct<'_, S> {
    fn enabled(&mut self, state: &[u8], out: &mut Vec<ActionId>) {
        self.system.enabled(state, out);
    }

    fn fire(&mut self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        self.system.fire(state, actions, out);
    }

    fn expand_active(&mut self, state: &[u8], asleep: SleepMask, out: &mut Successors) {
        let first = out.list.len();
        self.actions.clear();
        self.system.enabled(state, &mut self.actions);
        self.system.fire(state, &self.actions, out);
        debug_assert_eq!(out.list.len() - first, self.actions.len(), "one outcome for each action");
        if let Some(processes) = self.processes.filter(|_| !asleep.is_none()) {
            asleep.retain_active(processes, state, &mut out.list, first);
        }
    }

    fn follow(&mut self, state: &[u8], most: u32, out: &mut Successors) -> usize {
        follow_by(state, most, out, |state, out| self.expand(state, out))
    }
}
