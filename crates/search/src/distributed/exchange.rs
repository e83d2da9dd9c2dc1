//! What carries states from process to process, as a search sees it.
//!
//! A search knows neither sockets nor engines of dataflow: it hands over parcels, takes those that have come,
//! and says whether it has something to do. That nothing is left anywhere is told by the exchange, which
//! alone sees what is on its way.

use crate::observer::Snapshot;
use crate::outcome::StopReason;

/// What a process does next, as far as it knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Doing {
    /// It has states to expand.
    Expanding,
    /// It has, but others must first take what was sent to them.
    HeldBack,
    /// It has nothing, until something comes.
    Nothing,
}

/// What an exchange answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// The search goes on.
    GoOn,
    /// No process has anything to do, and nothing is on its way.
    Over,
}

/// Is handed a parcel and who sent it.
pub type Take<'t> = dyn FnMut(usize, &[u8]) -> Result<(), StopReason> + 't;

/// Carries parcels between the processes of a search. Parcels from one process to another come in the order
/// in which they were sent, each once.
pub trait Exchange {
    /// The number of this process.
    fn rank(&self) -> usize;

    /// How many processes there are, at least 1.
    fn size(&self) -> usize;

    /// Hands a parcel over for another process.
    fn send(&mut self, to: usize, parcel: Vec<u8>);

    /// Hands out all parcels that have come.
    fn receive(&mut self, take: &mut Take<'_>) -> Result<(), StopReason>;

    /// Whether so much was sent that others have not taken yet, that nothing more should be made to send.
    fn is_congested(&self) -> bool;

    /// Moves what is to be moved. Whoever has nothing to do may be kept waiting for a moment, until something
    /// comes.
    fn turn(&mut self, doing: Doing) -> Turn;

    /// Tells how far this process is; answers how far the others are, as far as is known here.
    fn tell(&mut self, own: &Snapshot) -> Snapshot;
}

/// The exchange of a process that is alone.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Exchange for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn send(&mut self, _to: usize, _parcel: Vec<u8>) {
        debug_assert!(false, "there is nobody to send to");
    }

    fn receive(&mut self, _take: &mut Take<'_>) -> Result<(), StopReason> {
        Ok(())
    }

    fn is_congested(&self) -> bool {
        false
    }

    fn turn(&mut self, doing: Doing) -> Turn {
        if doing == Doing::Nothing { Turn::Over } else { Turn::GoOn }
    }

    fn tell(&mut self, _own: &Snapshot) -> Snapshot {
        Snapshot::default()
    }
}
