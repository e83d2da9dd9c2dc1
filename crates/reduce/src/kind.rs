//! Kinds of states: a state need not be taken apart to tell where its processes are, when that has been found
//! out for another state of the same [form](machine::look::Form) whose processes are the same
//! [instances](crate::instance).

use system::lean::SLOTS;

use crate::sleep_code::SleepCode;

/// Processes that can sleep.
pub const PROCESSES: usize = SLOTS;

/// States of the same form whose processes are the same instances.
#[derive(Debug)]
pub struct Kind {
    /// How its states begin, and how long they are.
    pub begins: u32,
    pub len: usize,
    /// The wanted cells, in words.
    pub cells: Vec<Word>,
    /// The bits of a location.
    pub location: u32,
    /// The lowest pid of a process that can sleep, and these processes, by their slots.
    pub first: usize,
    pub processes: [Process; PROCESSES],
    /// Those of them that [ask](machine::facts::mark::Mark::asks) for `timeout` somewhere; nobody, where none
    /// of all processes does.
    pub asking: SleepCode,
    /// The instances of all processes.
    pub instances: Vec<u32>,
}

/// A process of a kind of states.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
pub struct Process {
    /// Where its location is.
    pub location: u32,
    /// The number of its first location among those of all instances.
    pub first_node: u32,
    /// The number of its first edge among those of all instances.
    pub first_edge: u32,
}

/// Up to eight bytes of a state, some of which are the same in all states of a kind.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    at: u32,
    /// The bits that are.
    mask: u64,
    value: u64,
}

impl Word {
    /// The cells of a state, each given by where it is and how many bytes it has, in as few words as that
    /// takes.
    pub fn all(state: &[u8], cells: &[(u32, u8)]) -> Vec<Word> {
        let mut words: Vec<Word> = Vec::new();
        let mut cells = cells.to_vec();
        cells.sort_unstable();
        for (at, bytes) in cells {
            let fits = |word: &&mut Word| at + u32::from(bytes) <= word.at + 8;
            if words.last_mut().filter(fits).is_none() {
                words.push(Word { at: at.min(state.len().saturating_sub(8) as u32), mask: 0, value: 0 });
            }
            if let Some(word) = words.last_mut() {
                let bits = u64::MAX >> (64 - 8 * u32::from(bytes.clamp(1, 8)));
                word.mask |= bits << (8 * (at - word.at));
                word.value = eight(state, word.at) & word.mask;
            }
        }
        words
    }
}

impl Kind {
    /// The slot of a process, if it has one; another number if it has none.
    #[inline(always)]
    pub fn slot(&self, pid: usize) -> usize {
        pid.wrapping_sub(self.first)
    }

    /// Whether slots become those of other processes when the number of these changes.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.instances.len() >= PROCESSES
    }

    /// The instance that the process with this slot is.
    pub fn instance(&self, slot: usize) -> u32 {
        self.instances[self.first + slot]
    }

    /// Where the process with this slot is in a state, among the locations of all instances.
    #[inline(always)]
    pub fn node(&self, state: &[u8], slot: usize) -> u32 {
        match self.is_narrow() {
            true => self.narrow_node(state, slot),
            false => self.wide_node(state, slot),
        }
    }

    /// The node of a process, where locations are bytes.
    #[inline(always)]
    pub fn narrow_node(&self, state: &[u8], slot: usize) -> u32 {
        let Process { location, first_node, .. } = self.processes[slot % PROCESSES];
        first_node + state.get(location as usize).map_or(0, |&byte| u32::from(byte))
    }

    /// The node of a process, for any locations. Four bytes are read at once: the last ones, where there are
    /// no four.
    #[inline(never)]
    fn wide_node(&self, state: &[u8], slot: usize) -> u32 {
        let Process { location, first_node, .. } = self.processes[slot % PROCESSES];
        let at = location.min(self.len as u32 - 4);
        first_node + (four(state, at).wrapping_shr(8 * (location - at)) & self.location)
    }

    /// Whether locations are bytes.
    #[inline(always)]
    fn is_narrow(&self) -> bool {
        self.location == u32::from(u8::MAX)
    }

    /// Whether the length of a state and how it begins tell that it is of this kind, locations are bytes, all
    /// can sleep, and nobody asks for `timeout`.
    pub fn is_simple(&self) -> bool {
        self.cells.is_empty() && self.is_narrow() && self.first == 0 && self.asking.is_nobody()
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
        self.cells.iter().all(|word| eight(state, word.at) & word.mask == word.value)
    }
}

/// How a state begins.
#[inline(always)]
pub fn beginning(state: &[u8]) -> Option<u32> {
    state.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

/// Four bytes of a state as a number; where there are fewer, it is 0.
#[inline(always)]
fn four(state: &[u8], at: u32) -> u32 {
    let at = at as usize;
    state.get(at..at + 4).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// Eight bytes of a state as a number; all there are where they are fewer, of which four are there.
#[inline(always)]
fn eight(state: &[u8], at: u32) -> u64 {
    let first = at as usize;
    match state.get(first..first + 8).and_then(<[u8]>::first_chunk) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => {
            let last = state.len().saturating_sub(4) as u32;
            u64::from(four(state, at)) | u64::from(four(state, last)) << (8 * (last % 8))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_compared_in_words() {
        for len in [5, 8, 9, 40_u32] {
            let state: Vec<u8> = (1..=len as u8).collect();
            let cells: [(u32, u8); 4] = [(3, 2), (len - 1, 1), (0, 1), (len - 4, 4)];
            let kind = Kind {
                begins: 0,
                len: state.len(),
                cells: Word::all(&state, &cells),
                location: 0xff,
                first: 0,
                processes: [Process::default(); PROCESSES],
                asking: SleepCode::NOBODY,
                instances: Vec::new(),
            };
            assert!(kind.holds_cells(&state));
            for at in 0..len {
                let mut other = state.clone();
                other[at as usize] ^= 0x80;
                let differs =
                    cells.iter().any(|&(first, bytes)| (first..first + u32::from(bytes)).contains(&at));
                assert_eq!(kind.holds_cells(&other), !differs, "byte {at} of {len}");
            }
        }
    }
}
