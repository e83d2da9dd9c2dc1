//! The logics of states: computation tree logic (CTL) and the modal mu-calculus, as blocks and options name
//! them.

/// A logic of states.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Logic {
    /// Computation tree logic.
    Ctl,
    /// The modal mu-calculus.
    Mu,
}

impl Logic {
    /// The word that begins a block.
    pub fn word(self) -> &'static str {
        match self {
            Logic::Ctl => "ctl",
            Logic::Mu => "mu",
        }
    }

    /// The logic whose blocks begin with this word.
    pub fn of(word: &str) -> Option<Logic> {
        [Logic::Ctl, Logic::Mu].into_iter().find(|logic| logic.word() == word)
    }
}

/// An operator on the states of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are the operators'")]
pub enum PathOp {
    Next,
    Finally,
    Globally,
    Until,
    WeakUntil,
    Release,
}

impl PathOp {
    /// All of them.
    pub const ALL: [PathOp; 6] =
        [PathOp::Next, PathOp::Finally, PathOp::Globally, PathOp::Until, PathOp::WeakUntil, PathOp::Release];

    /// Whether it has two operands.
    pub fn is_binary(self) -> bool {
        matches!(self, PathOp::Until | PathOp::WeakUntil | PathOp::Release)
    }

    /// The letter.
    pub fn letter(self) -> &'static str {
        match self {
            PathOp::Next => "X",
            PathOp::Finally => "F",
            PathOp::Globally => "G",
            PathOp::Until => "U",
            PathOp::WeakUntil => "W",
            PathOp::Release => "R",
        }
    }
}
