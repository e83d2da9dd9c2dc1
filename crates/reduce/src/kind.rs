//! Kinds of states: a state need not be taken apart to tell where its processes are, when that has been found out for another state of
//! the same [form](machine::look::Form) whose processes are the same [instances](crate::instance).

use system::Asleep;

/// Processes that can sleep.
pub const PROCESSES: usize = Asleep::PROCESSES;

/// States of the same form whose processes are the same instances.
#[derive(Debug)]
pub struct Kind {
    /// How its states begin, and how long they are.
    pub begins: u32,
    pub len: usize,
    /// The wanted cells: where they are, how many bytes they have, their values.
    pub cells: Vec<(u32, u8, u32)>,
    /// The bits of a location.
    pub location: u32,
    /// Those of its processes that can sleep.
    pub processes: [Process; PROCESSES],
    /// Those of them that ask for `timeout` somewhere.
    pub asking: Asleep,
    /// The instances of all processes.
    pub instances: Vec<u32>,
}

/// A process of a kind of states.
#[derive(Clone, Copy, Debug, Default)]
pub struct Process {
    /// Where its location is: in the four bytes that begin here, so many bits above the lowest one. Four bytes are read at once,
    /// however many a location has.
    at: u32,
    bits: u32,
    /// The number of its first location among those of all instances.
    first_node: u32,
    /// The number of its first edge among those of all instances.
    pub first_edge: u32,
}

impl Process {
    /// One whose location is there in a state of so many bytes, which are four at least.
    pub fn new(location: u32, len: usize, first_node: u32, first_edge: u32) -> Self {
        let at = location.min(len as u32 - 4);
        Process { at, bits: 8 * (location - at), first_node, first_edge }
    }
}

impl Kind {
    /// Where a process is in a state, among the locations of all instances.
    #[inline(always)]
    pub fn node(&self, state: &[u8], pid: usize) -> u32 {
        let Process { at, bits, first_node, .. } = self.processes[pid % PROCESSES];
        first_node + (read(state, at, 4).wrapping_shr(bits) & self.location)
    }

    /// Whether a state is of this kind.
    #[inline(always)]
    pub fn holds(&self, state: &[u8]) -> bool {
        beginning(state) == Some(self.begins)
            && self.len == state.len()
            && (self.cells.is_empty() || self.holds_cells(state))
    }

    #[inline(never)]
    fn holds_cells(&self, state: &[u8]) -> bool {
        self.cells.iter().all(|&(at, bytes, value)| read(state, at, bytes) == value)
    }
}

/// How a state begins.
#[inline(always)]
pub fn beginning(state: &[u8]) -> Option<u32> {
    state.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

/// Some bytes of a state as a number; bytes that are not there are 0.
#[inline(always)]
pub fn read(state: &[u8], at: u32, bytes: u8) -> u32 {
    let at = at as usize;
    match bytes {
        1 => state.get(at).map_or(0, |&byte| u32::from(byte)),
        2 => state
            .get(at..at + 2)
            .and_then(|b| b.first_chunk())
            .map_or(0, |b| u32::from(u16::from_le_bytes(*b))),
        _ => state.get(at..at + 4).and_then(|b| b.first_chunk()).map_or(0, |b| u32::from_le_bytes(*b)),
    }
}
