//! A glance at a state: the little that reducers ask of it, whatever machine wrote its bytes.

/// Which cells to read of the processes of each proctype.
pub type Wanted = Vec<Vec<u32>>;

/// What was seen; the buffers are reused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Glance {
    /// The processes, in order of pid.
    pub processes: Vec<Seen>,
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
        self.values.clear();
        self.lengths.clear();
    }
}

/// A machine whose states can be looked at.
pub trait Look: Sync {
    /// Looks at a state; false for bytes that are none.
    fn look(&self, state: &[u8], wanted: &Wanted, out: &mut Glance) -> bool;
}
