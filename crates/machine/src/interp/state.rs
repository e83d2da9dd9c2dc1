//! A state taken apart: what the bytes of a state mean.
//!
//! Processes keep their cells in one common array, the highest pid last: processes disappear highest pid
//! first, so that a death is a truncation. Channels are in order of creation for the same reason.

use promela::ir::{ChanTypeId, LocId, ProctypeId};

/// A state.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// All global cells, hidden ones included.
    pub globals: Vec<i32>,
    /// The processes, in order of pid.
    pub processes: Vec<Process>,
    /// The cells of all processes, one after another.
    pub locals: Vec<i32>,
    /// The channels; number `n` of the language is at `n - 1`.
    pub channels: Vec<Channel>,
    /// `_last`: who moved last (always 0 when the program does not ask).
    pub last: u8,
    /// Where the trace assertion is.
    pub event: Option<LocId>,
    /// The process with exclusive control, when the state is transient.
    pub control: Option<u8>,
}

/// A process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub proctype: ProctypeId,
    pub location: LocId,
    pub priority: u8,
    /// Its first cell in [`State::locals`].
    pub first_cell: usize,
    /// How many channels existed when it started: those beyond die with it.
    pub first_channel: usize,
}

/// A channel and the messages in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Channel {
    pub ty: ChanTypeId,
    /// Number of messages.
    pub len: usize,
    /// The fields of all messages, first message first.
    pub fields: Vec<i32>,
}

impl Clone for State {
    fn clone(&self) -> Self {
        let mut copy = State::default();
        copy.clone_from(self);
        copy
    }

    /// Keeps the memory of `self`: states are copied once per step.
    fn clone_from(&mut self, from: &Self) {
        self.globals.clone_from(&from.globals);
        self.processes.clone_from(&from.processes);
        self.locals.clone_from(&from.locals);
        self.channels.clone_from(&from.channels);
        self.last = from.last;
        self.event = from.event;
        self.control = from.control;
    }
}

impl Clone for Channel {
    fn clone(&self) -> Self {
        Channel { ty: self.ty, len: self.len, fields: self.fields.clone() }
    }

    fn clone_from(&mut self, from: &Self) {
        self.ty = from.ty;
        self.len = from.len;
        self.fields.clone_from(&from.fields);
    }
}

impl Channel {
    /// A channel without messages.
    pub fn new(ty: ChanTypeId) -> Self {
        Channel { ty, len: 0, fields: Vec::new() }
    }

    /// Puts `message` before message number `slot`.
    pub fn insert(&mut self, slot: usize, message: &[i32]) {
        let at = (slot * message.len()).min(self.fields.len());
        self.fields.splice(at..at, message.iter().copied());
        self.len += 1;
    }

    /// Takes message number `slot` out; `width` is the number of fields of a message.
    pub fn remove(&mut self, slot: usize, width: usize) {
        let start = (slot * width).min(self.fields.len());
        let end = (start + width).min(self.fields.len());
        self.fields.drain(start..end);
        self.len = self.len.saturating_sub(1);
    }

    /// Drops all messages.
    pub fn clear(&mut self) {
        self.len = 0;
        self.fields.clear();
    }
}
