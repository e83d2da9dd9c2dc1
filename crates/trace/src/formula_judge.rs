//! Who says what a run shows of a formula about states (CTL, mu-calculus): the engine, which knows the
//! formula. It hears the run while it is replayed.

use crate::replay::Walker;
use system::{ActionId, Fault, TransitionSystem};

/// Judges runs.
pub trait FormulaJudge {
    /// A run begins.
    fn hearing(&self) -> Box<dyn FormulaHearing + '_>;

    /// The machine without values that nobody looks at, in which a cycle must close.
    fn essence(&self) -> Option<&dyn TransitionSystem>;
}

/// Hears a run.
pub trait FormulaHearing {
    /// The run is in an ordinary state: at its beginning, and after the steps heard so far.
    fn state(&mut self, walker: &mut Walker<'_>);

    /// The run takes a step.
    fn step(&mut self, action: ActionId);

    /// What the run shows; `cycle`: how many steps come before those that are repeated forever. The error says
    /// why it does not show what it is said to show.
    fn finding(&mut self, cycle: Option<usize>) -> Result<Fault, String>;
}
