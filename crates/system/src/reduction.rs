//! Partial-order reduction as a search sees it: who chooses, and what must be known of a choice.
//!
//! A [`Reduction`] is what is known of a program before the search; each thread takes a [`Reducer`] from it.
//! For an ordinary state a reducer chooses, among the enabled actions, a *stubborn* (persistent) set:
//! whatever the other actions do, it does not matter whether it is done before or after what was chosen. An
//! action stands for the whole atomic sequence that it begins.
//!
//! What is chosen is a function of the state alone, so that a state expanded once more gives the same edges
//! in the same order; but a reducer may take everything where it could have chosen, when it thinks that
//! choosing does not pay. A choice keeps all deadlocks. For everything else it must also be made sure that no
//! action is put off forever: that is the *proviso*, which belongs to the search, because only the search
//! knows its stack or its queue.

use crate::{ActionId, Lean, ProcessOrder};

/// What a reducer says of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// All enabled actions are to be taken.
    All,
    /// Those chosen are enough; except for deadlocks a proviso is needed.
    Part,
}

/// What is known of a program for reducing its state space.
pub trait Reduction: Sync + std::fmt::Debug {
    /// Chooses for one thread.
    fn reducer(&self) -> Box<dyn Reducer + '_>;

    /// Puts processes to sleep for one thread, in this order; `None` when it cannot.
    fn lean(&self, _order: ProcessOrder) -> Option<Box<dyn Lean + '_>> {
        None
    }
}

/// Chooses actions for one thread; keeps what it learns of the program between two states, but never lets it
/// change what is chosen.
pub trait Reducer {
    /// From now on a choice is made wherever one is possible: for who expands again what was expanded before.
    fn choose_always(&mut self) {}

    /// A choice was in vain: `left_out` actions that it left out had to be taken after all.
    fn in_vain(&mut self, _left_out: u32) {}

    /// Chooses among `enabled`, all the actions that are enabled in the ordinary `state`. Writes the
    /// positions of those chosen, in ascending order, to `chosen`, which is cleared first; with
    /// [`Choice::All`] what is written there means nothing.
    fn choose(&mut self, state: &[u8], enabled: &[ActionId], chosen: &mut Vec<u32>) -> Choice;

    /// Whether two actions, both enabled in the ordinary `state`, are independent there: neither
    /// disables the other, and both orders end in the same state. *No* is always a safe answer.
    fn commute(&mut self, state: &[u8], a: ActionId, b: ActionId) -> bool;

    /// Whether an action that is enabled in the ordinary `state` may change what a property looks at in
    /// states. *Yes* is always a safe answer.
    fn visible(&mut self, state: &[u8], action: ActionId) -> bool;

    /// For each pair of `actions`, all enabled in the ordinary `state`, whether they
    /// [commute](Self::commute): a square, row by row.
    fn commuting(&mut self, state: &[u8], actions: &[ActionId], out: &mut Vec<bool>) {
        out.clear();
        for &a in actions {
            for &b in actions {
                let known = self.commute(state, a, b);
                out.push(known);
            }
        }
    }

    /// The first process whose turn is `turn` or comes after it, that is, whose number is `turn` or less, and
    /// that has one enabled action, which by itself is such a set and cannot be noticed by a property. Gives
    /// its number and the action's position in `enabled`. *None* is always a safe answer.
    fn single(&mut self, state: &[u8], enabled: &[ActionId], turn: u32) -> Option<(u32, u32)>;
}
