//! A glance at a state: the little that reducers ask of it, whatever machine wrote its bytes.

use promela::ir::Scalar;

/// Which cells to read.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Of the globals that are not hidden, with what they hold.
    pub globals: Vec<(u32, Scalar)>,
    /// Of the processes of each proctype.
    pub processes: Vec<Vec<u32>>,
}

/// What was seen; the buffers are reused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Glance {
    /// The processes, in order of pid.
    pub processes: Vec<Seen>,
    /// The values of the wanted global cells.
    pub globals: Vec<i32>,
    /// The values of the wanted cells of all processes, one after another.
    pub values: Vec<i32>,
    /// How many messages each channel holds.
    pub lengths: Vec<u32>,
}

/// A process as it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its proctype.
    pub proctype: u32,
    /// Where it is.
    pub location: u32,
    /// How many channels are older than it.
    pub first_channel: u32,
    /// Where its values begin in [`Glance::values`].
    pub values: u32,
}

impl Glance {
    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        self.processes.clear();
        self.globals.clear();
        self.values.clear();
        self.lengths.clear();
    }
}

/// Where things are in all states that have the same length and begin with the same four bytes. The processes
/// of two such states are the same but for what they hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// For each process, where its location is.
    pub locations: Vec<u32>,
    /// How many bytes a location has, lowest first: 1, 2 or 4.
    pub location_bytes: u8,
    /// Where the wanted cells of all processes are, and how many bytes they have.
    pub cells: Vec<(u32, u8)>,
}

/// A machine whose states can be looked at.
pub trait Look: Sync {
    /// Looks at a state; false for bytes that are none.
    fn look(&self, state: &[u8], wanted: &Wanted, out: &mut Glance) -> bool;

    /// The form of a state; `None` where things have no fixed places.
    fn form(&self, _state: &[u8], _wanted: &Wanted) -> Option<Form> {
        None
    }
}
