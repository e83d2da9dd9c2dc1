//! Marks: what a cycle must pass to count, as bits that steps *lack*.
//!
//! A cycle is wrong when it passes an accepting state (or, where acceptance is on steps, earns all marks of
//! the claim) and, under weak fairness, when every process moves in it or cannot move somewhere in it (store
//! buffers count as processes here: agents, see `system::Processes`). Each
//! of these is a bit; a step lacks the bits for which it does nothing. So a cycle counts when no bit is
//! lacked by all of its steps, and the bits of a set of steps are put together by `and`. Strong fairness is
//! not of this kind, but around one component it is: there the processes that can move somewhere in it must
//! move ([`crate::strong`]). (This is generalised acceptance; keeping what is lacking instead of what is
//! there spares the question how many bits there are.)

use crate::expand::{Edge, Expander, Expansion};
use crate::limits::Budget;
use crate::outcome::StopReason;
use system::claim::MOST_MARKS;
use system::{ActionId, Capabilities, Fairness, NOBODY, TransitionSystem};

/// What a step, or a set of steps, lacks. The first bits are acceptance, the others are processes.
pub type MissingMarks = u128;

/// Nothing is there yet.
pub const EVERYTHING: MissingMarks = MissingMarks::MAX;

/// The most processes that fairness can be about: numbers from 0 on, less than this.
pub const MOST_PROCESSES: u32 = MissingMarks::BITS - MOST_MARKS - 1;

/// A step with what it lacks.
#[derive(Clone, Copy, Debug)]
pub struct MarkedEdge {
    /// The step.
    pub edge: Edge,
    /// What it lacks.
    pub lack: MissingMarks,
}

/// What makes a cycle count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acceptance {
    /// A state without successors is repeated forever.
    pub stutters: bool,
    /// How many marks steps can earn, all of which count; 0: states are accepting.
    pub n_marks: u32,
    /// What every process must do.
    pub fairness: Fairness,
    /// The processes that must move, where fairness is strong: those that can, in the component of the cycle.
    pub needed: MissingMarks,
}

/// Expands states and marks the steps.
pub struct Marker<'a> {
    system: &'a dyn TransitionSystem,
    can: Capabilities<'a>,
    /// The expander.
    pub expander: Expander<'a>,
    acceptance: Acceptance,
    actions: Vec<ActionId>,
}

impl<'a> Marker<'a> {
    /// For this system.
    pub fn new(system: &'a dyn TransitionSystem, acceptance: Acceptance) -> Self {
        let mut expander = Expander::new(system, None);
        expander.note_processes = acceptance.fairness != Fairness::None;
        debug_assert!(acceptance.n_marks == 0 || system.capabilities().acceptance.is_some());
        Marker { system, can: system.capabilities(), expander, acceptance, actions: Vec::new() }
    }

    /// Finds the ordinary successors of `state`, as [`Expander::expand`]. One that has none becomes its own
    /// successor, if states are repeated.
    pub fn expand(
        &mut self,
        state: &[u8],
        depth: u64,
        budget: &mut Budget<'_>,
        out: &mut Expansion,
    ) -> Result<(), StopReason> {
        self.expander.expand(state, depth, budget, out)?;
        if out.enabled & process_bit(MOST_PROCESSES) != 0 {
            return Err(StopReason::TooManyProcesses);
        }
        if out.stuck && self.acceptance.stutters {
            out.repeat(state);
        }
        Ok(())
    }

    /// Whether a state is accepting.
    pub fn is_accepting(&self, state: &[u8]) -> bool {
        self.system.labels(state).accepting
    }

    /// What a step of the state that was expanded last lacks; `accepting`: that state is.
    pub fn lack(&mut self, accepting: bool, edge: Edge, expansion: &Expansion) -> MissingMarks {
        let acceptance = match self.acceptance.n_marks {
            0 => MissingMarks::from(!accepting),
            n => {
                let earned = self.can.acceptance.map_or(0, |system| system.earned(expansion.state(edge)));
                MissingMarks::from(!earned) & ((1 << n) - 1)
            }
        };
        match self.acceptance.fairness {
            Fairness::None => acceptance,
            Fairness::Weak => acceptance | expansion.enabled & !self.moved(edge),
            Fairness::Strong => acceptance | self.acceptance.needed & !self.moved(edge),
        }
    }

    /// The processes that a step of the state that was expanded last moves.
    pub fn moved(&mut self, edge: Edge) -> MissingMarks {
        self.actions.clear();
        self.expander.actions(edge, &mut self.actions);
        let Some(system) = self.can.processes else { return 0 };
        let of = |action: &ActionId| match *action {
            ActionId::STUTTER => 0,
            action => {
                process_bit(system.agent_of(action)) | system.partner_agent_of(action).map_or(0, process_bit)
            }
        };
        self.actions.iter().map(of).fold(0, |all, bits| all | bits)
    }
}

/// The bit of a process; nobody has none. Those from number [`MOST_PROCESSES`] on share the last one: a
/// search that meets it gives up.
pub fn process_bit(pid: u32) -> MissingMarks {
    if pid == NOBODY { 0 } else { 1 << (pid.min(MOST_PROCESSES) + MOST_MARKS) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndfs::tests::run;
    use crate::scc::scc;
    use system::toy::Graph;

    #[test]
    fn more_processes_than_bits_are_no_verdict() {
        let stop = |pid: u32| {
            let graph = Graph::parse(&format!("0 -> 1 -> 0; accept 0; process {pid} 0 1")).unwrap();
            run(|s, c, t, o| scc(s, c, t, o), &graph, Fairness::Weak, None).stop
        };
        assert_eq!(stop(MOST_PROCESSES - 1), StopReason::Violation);
        assert_eq!(stop(MOST_PROCESSES), StopReason::TooManyProcesses);
        assert_eq!(stop(200), StopReason::TooManyProcesses);
    }
}
