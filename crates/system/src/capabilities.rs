//! Capabilities: what a system can tell beyond its states and steps.
//!
//! A search asks for them once, when it begins
//! ([`TransitionSystem::capabilities`](crate::TransitionSystem::capabilities)), and keeps the references that
//! it needs; what is missing is `None`, never a default answer that could be taken for a true one. A system
//! that is made of another one takes what the other can do as it is, or through
//! [`Layer::forwarded`](crate::Layer::forwarded), and names what it changes.

use crate::claim::Marks;
use crate::portable::PortableStates;
use crate::{ActionId, Fault, NOBODY};

/// What a system can tell.
#[derive(Clone, Copy)]
pub struct Capabilities<'a> {
    /// Values of propositions, for claims.
    pub propositions: Option<&'a dyn Propositions>,
    /// Whose step an action is, for fairness and for reductions.
    pub processes: Option<&'a dyn Processes>,
    /// Where the parts of a state are, for stores that keep them apart.
    pub components: Option<&'a dyn Components>,
    /// How states leave the process.
    pub portable: Option<&'a dyn PortableStates>,
    /// Errors that states show by themselves; `None` where there can be none.
    pub invariants: Option<&'a dyn Invariants>,
    /// What steps earn, where acceptance is on steps.
    pub acceptance: Option<&'a dyn AcceptanceMarks>,
}

impl Capabilities<'_> {
    /// States and steps alone.
    pub const NONE: Self = Capabilities {
        propositions: None,
        processes: None,
        components: None,
        portable: None,
        invariants: None,
        acceptance: None,
    };
}

/// Values of propositions.
pub trait Propositions: Sync {
    /// The values of one of the sets of propositions that the system was made to tell, proposition 0 in the
    /// lowest bit. One that cannot be evaluated does not hold.
    fn propositions(&self, set: usize, state: &[u8]) -> u64;

    /// Which propositions of a set may meet an error when they are evaluated, in some state.
    fn may_fail(&self, set: usize) -> u64;

    /// The error that evaluating the proposition with this number meets in a state.
    fn evaluation_error(&self, set: usize, number: u32, state: &[u8]) -> Option<Fault>;
}

/// Whose step an action is.
pub trait Processes: Sync {
    /// The process whose step an action is ([`NOBODY`](crate::NOBODY) if none); of a rendezvous, the sender:
    /// a process that could only receive is not one that can move.
    fn process_of(&self, action: ActionId) -> u32;

    /// The process that takes part in an action of another one: the receiver of a rendezvous. It moves as
    /// well.
    fn partner_of(&self, action: ActionId) -> Option<u32>;

    /// The number of processes in a state; their numbers are less.
    fn n_processes(&self, state: &[u8]) -> usize;

    /// In how many parts each process moves, at least 1: part 0 is the process itself, others (its store
    /// buffers) move on their own account.
    fn n_parts(&self) -> u32;

    /// Which part of the process moves in an action.
    fn part_of(&self, action: ActionId) -> u32;
}

/// Agents are what fairness is about: the parts of all processes. Where each process is one part, they are the
/// processes, with the same numbers.
impl dyn Processes + '_ {
    /// The agent that begins an action; [`NOBODY`](crate::NOBODY) if none does.
    pub fn agent_of(&self, action: ActionId) -> u32 {
        match self.process_of(action) {
            NOBODY => NOBODY,
            process => process * self.n_parts() + self.part_of(action),
        }
    }

    /// The agent that takes part in an action of another one.
    pub fn partner_agent_of(&self, action: ActionId) -> Option<u32> {
        self.partner_of(action).map(|process| process * self.n_parts())
    }

    /// The number of agents in a state; their numbers are less.
    pub fn n_agents(&self, state: &[u8]) -> usize {
        self.n_processes(state) * self.n_parts() as usize
    }
}

/// Where the parts of a state are.
pub trait Components: Sync {
    /// Where the components of a key (processes, channels) end: appends the ends of all but the last, in
    /// ascending order.
    fn cuts(&self, key: &[u8], out: &mut Vec<usize>);
}

/// Errors that states show by themselves.
pub trait Invariants: Sync {
    /// Appends the errors that an ordinary state shows, whatever happens next.
    fn inspect(&self, state: &[u8], out: &mut Vec<Fault>);
}

/// Acceptance on steps.
pub trait AcceptanceMarks: Sync {
    /// Which marks the step to this state earned. It is told by the state, in its hidden part, so that only a
    /// search that has just taken the step knows it.
    fn earned(&self, state: &[u8]) -> Marks;
}
