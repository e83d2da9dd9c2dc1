//! A partitioned system: its states are vectors of slots, its steps fall into groups that read and write few
//! of them.
//!
//! This is PINS as a symbolic search needs it (S. Blom, J. van de Pol and M. Weber, *LTSmin: distributed and
//! symbolic reachability*, CAV 2010). The next-state function is *local*: it is given the values of the slots
//! that a group reads and answers those that it writes, so what is learned from one state is true of all
//! states that agree on these slots.
//!
//! Slots and groups need not be known in advance. When a step leads to a state that has parts without a slot,
//! the system answers [`Unanswered::Grown`]; it has more slots and groups when it was told to [grow](Partitioned::grow).

use search::StopReason;
use system::{ActionId, Fault};

/// A slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Name for people.
    pub name: String,
    /// Its value does not make two states different.
    pub hidden: bool,
}

/// A process that takes part in the first action of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taker {
    /// Its number.
    pub process: u32,
    /// What kind of process it is.
    pub kind: u32,
    /// The slot of its location: 0 while there is no such process, else the location's number and one.
    pub location: u32,
}

/// A group of steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalGroup {
    /// The actions that begin its steps, in ascending order.
    pub actions: Vec<ActionId>,
    /// The process whose steps they are: of a rendezvous, the sender.
    pub process: u32,
    /// Who takes part.
    pub takers: Vec<Taker>,
    /// Others may move as well, before the step is at its end.
    pub hands_over: bool,
    /// The slots that are read, in ascending order.
    pub reads: Vec<u32>,
    /// The slots that are written, in ascending order. One that may keep its value is read as well.
    pub writes: Vec<u32>,
    /// Slots that are read of which only these values allow a step, in ascending order.
    pub only: Vec<(u32, Vec<u32>)>,
    /// It has steps only where no other group has one, but for such groups.
    pub only_idle: bool,
    /// It has steps in few states, such as those that start a process: it does not count where slots are
    /// ordered.
    pub rare: bool,
}

/// What a predicate says of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predicate {
    /// A process is where it may stay when a run ends, or does not exist.
    ValidEnd,
    /// A process is at an accept label.
    Accepting,
    /// A channel is empty.
    EmptyChannel,
    /// All invariants hold.
    Invariants,
    /// A proposition of a set of propositions holds.
    Proposition(usize, u32),
    /// A proposition of a set of propositions cannot be evaluated.
    Fails(usize, u32),
}

/// A predicate and the slots that it reads, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalPredicate {
    /// What it says.
    pub what: Predicate,
    /// The slots that it reads.
    pub reads: Vec<u32>,
}

/// An error on a step.
#[derive(Clone, Debug)]
pub struct LocalFault {
    /// What is wrong.
    pub fault: Fault,
    /// The step could not be completed.
    pub cut: bool,
}

/// The steps of a group for one vector of values that are read.
#[derive(Debug, Default)]
pub struct LocalSteps {
    /// For each step the values that are written, one after another.
    pub written: Vec<u32>,
    /// The number of steps to other states.
    pub n_steps: usize,
    /// Errors.
    pub faults: Vec<LocalFault>,
    /// The group is enabled, though its steps may lead nowhere.
    pub enabled: bool,
    /// A step may begin an atomic sequence that does not end.
    pub atomic_loop: bool,
}

impl LocalSteps {
    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        self.written.clear();
        self.n_steps = 0;
        self.faults.clear();
        self.enabled = false;
        self.atomic_loop = false;
    }
}

/// A step of a group, with all who move in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The values that are written; nothing for a step that does not come to its end.
    pub written: Option<Vec<u32>>,
    /// The processes that move.
    pub movers: Vec<u32>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// There is something without a slot: the system can grow.
    Grown,
    /// The search is to stop.
    Stop(StopReason),
    /// The system is not fit for a symbolic search, for this reason.
    Unfit(String),
    /// What was believed of the system is not true.
    Broken(String),
}

/// A partitioned system.
pub trait Partitioned {
    /// The slots.
    fn slots(&self) -> &[Slot];

    /// The groups.
    fn groups(&self) -> &[LocalGroup];

    /// The predicates.
    fn predicates(&self) -> &[LocalPredicate];

    /// Makes slots and groups for all that was met without a slot. Tells for each slot, of those that there are
    /// now, which one it was: its values mean what they meant then.
    fn grow(&mut self) -> Vec<Option<u32>>;

    /// The values of all slots in a state.
    fn vector(&mut self, state: &[u8], out: &mut Vec<u32>) -> Result<(), Unanswered>;

    /// The steps of a group, given the values of the slots that it reads.
    fn steps(&mut self, group: usize, reads: &[u32], out: &mut LocalSteps) -> Result<(), Unanswered>;

    /// The steps of a group one by one, with those who move, given the values of the slots that it reads.
    fn moves(&mut self, group: usize, reads: &[u32]) -> Result<Vec<Move>, Unanswered>;

    /// Whether a predicate holds, given the values of the slots that it reads.
    fn holds(&mut self, predicate: usize, reads: &[u32]) -> Result<bool, Unanswered>;
}
