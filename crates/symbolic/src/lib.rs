//! Symbolic search: sets of states as list decision diagrams, steps as groups that are learned on the way.
//!
//! | file | what |
//! |---|---|
//! | [`partitioned`] | what a search must know of a system: slots, groups, local steps |
//! | [`slot_order`] | which slot is at which level |
//! | [`race`] | which order is best |
//! | [`remembering`] | answers of the machine, for searches that ask again |
//! | [`space`] | sets of states: reachable, without successor, before others, with a predicate |
//! | [`operators`] | predecessors, what can reach what, what can go on forever |
//! | [`branching`](mod@branching) | the sets of the crate `mu` as diagrams, answers to formulas of branching time |
//! | [`demonstration`] | runs that show such an answer |
//! | `guided` | paths that are looked for state by state, where sets at a distance are too large |
//! | `learning` | what the machine answers, put into diagrams |
//! | `growth` | new slots: the search goes on |
//! | [`runs`](mod@runs) | whole runs: which of them a claim finds wrong |
//! | `product` | a claim beside a space; emptiness |
//! | `lasso` | a run that the claim finds wrong |
//! | `taken` | a run, as it is made step by step |
//! | [`walk`] | from a set of states to a run that leads there |
//! | `bad_states` | states that are wrong by themselves |
//! | [`safety`](mod@safety) | errors of steps and states |

mod bad_states;
pub mod branching;
pub mod demonstration;
mod growth;
mod guided;
mod lasso;
mod learning;
pub mod operators;
pub mod partitioned;
mod product;
pub mod race;
pub mod remembering;
pub mod runs;
pub mod safety;
pub mod slot_order;
pub mod space;
mod taken;
pub mod walk;

pub use branching::{Asked, Branched, Judgement, StepFilter, Vocabulary, WORK_FOR_RINGS, branching};
pub use demonstration::Demonstration;
pub use operators::{ChosenSteps, Goal, Kept, Operators};
pub use partitioned::{
    LocalFault, LocalGroup, LocalPredicate, LocalSteps, Move, Partitioned, Predicate, Slot, Taker, Unanswered,
};
pub use remembering::Remembering;
pub use runs::{AskedRuns, JudgedRuns, RunAnswer, Watch, runs};
pub use safety::{Figures, Request, safety};
pub use slot_order::Reorder;
pub use space::{Ended, Progress, Space};
