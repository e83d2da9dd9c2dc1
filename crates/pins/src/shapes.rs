//! Shapes: which processes there are. A shape is the list of their proctypes by pid; a process is known by
//! its pid and its proctype, in whatever shapes it occurs.
//!
//! With a shape its prefixes are known: processes end in the reverse order of their start.
//!
//! **Constants.** Cells that keep what a process was started with often say which element of an array it
//! uses, or which channel. The values that were seen when a process was started are taken for its constants
//! until another start with other values is met: then groups are made anew without that belief.

use std::collections::{BTreeMap, HashMap, HashSet};

use jit::{Jit, Places};
use machine::facts::population::Member;
use machine::facts::{Known, Telling};
use machine::interp::anatomy::Anatomy;
use promela::ir::{ProctypeId, Program};

/// A shape.
#[derive(Debug)]
pub struct Shape {
    /// The proctypes of its processes.
    pub proctypes: Vec<u32>,
    /// Where the parts of its states are.
    pub places: Places,
    /// Its processes, as members of the partition.
    pub members: Vec<usize>,
}

impl Shape {
    /// Whether a member is one of its processes.
    pub fn has(&self, member: usize) -> bool {
        self.members.contains(&member)
    }
}

/// The shapes that were met, and the processes in them.
#[derive(Debug, Default)]
pub struct Shapes {
    /// The shapes.
    pub list: Vec<Shape>,
    /// The processes: pid and proctype.
    pub processes: Vec<(usize, u32)>,
    by_proctypes: HashMap<Vec<u32>, usize>,
    /// By the number in the header of a state.
    by_header: HashMap<u32, usize>,
    by_process: HashMap<(usize, u32), usize>,
    /// For each process the cells that had the same value at each start.
    constants: Vec<Option<BTreeMap<u32, i32>>>,
    /// The processes of which groups still believe what was refuted.
    refuted: HashSet<usize>,
}

/// The number of the machine's own shape in the header of a state.
fn header(state: &[u8]) -> u32 {
    state.first_chunk().map_or(u32::MAX, |bytes| u32::from_le_bytes(*bytes) & 0xff_ffff)
}

impl Shapes {
    /// The shape of a state, if it is known.
    pub fn of_state(&self, state: &[u8]) -> Option<usize> {
        self.by_header.get(&header(state)).copied()
    }

    /// Adds the shape with these proctypes, and its prefixes. False when it was known.
    pub fn add(&mut self, jit: &Jit, proctypes: &[u32]) -> Result<bool, String> {
        if self.by_proctypes.contains_key(proctypes) {
            return Ok(false);
        }
        for len in 1..=proctypes.len() {
            let prefix = &proctypes[..len];
            if !self.by_proctypes.contains_key(prefix) {
                self.add_one(jit, prefix)?;
            }
        }
        if proctypes.is_empty() {
            self.add_one(jit, proctypes)?;
        }
        Ok(true)
    }

    fn add_one(&mut self, jit: &Jit, proctypes: &[u32]) -> Result<(), String> {
        let places =
            jit.places(proctypes).ok_or("there is no native code")?.map_err(|why| why.to_string())?;
        let members = proctypes.iter().enumerate().map(|(pid, &proctype)| {
            *self.by_process.entry((pid, proctype)).or_insert_with(|| {
                self.processes.push((pid, proctype));
                self.processes.len() - 1
            })
        });
        let members = members.collect();
        let number = self.list.len();
        self.by_header.insert(header(&places.blank), number);
        self.by_proctypes.insert(proctypes.to_vec(), number);
        self.list.push(Shape { proctypes: proctypes.to_vec(), places, members });
        Ok(())
    }

    /// Notes with which values the processes of a state were started that are not among the first `old`.
    /// `telling` has the cells of each proctype that keep their first value. True when what was believed is
    /// not so.
    pub fn note_starts(
        &mut self,
        state: &Anatomy,
        old: usize,
        program: &Program,
        telling: &[Telling],
    ) -> bool {
        let mut refuted = false;
        self.constants.resize(self.processes.len(), None);
        for (pid, body) in state.processes.iter().enumerate().skip(old) {
            let Some(&number) = self.by_process.get(&(pid, body.proctype.0)) else { continue };
            let cells = telling[body.proctype.index()].cells.iter();
            let seen = || cells.map(|&cell| (cell, body.cells[cell as usize]));
            // One that has moved since may have lost a value that it does not need any more.
            let fresh = body.location == program.proctype(body.proctype).start;
            match &mut self.constants[number] {
                Some(believed) => {
                    let before = believed.len();
                    let seen: BTreeMap<u32, i32> = if fresh { seen().collect() } else { BTreeMap::new() };
                    believed.retain(|cell, value| seen.get(cell) == Some(value));
                    if believed.len() < before {
                        self.refuted.insert(number);
                    }
                    // The next start like this one is as new to the groups that there are.
                    refuted |= self.refuted.contains(&number);
                }
                unknown => *unknown = Some(if fresh { seen().collect() } else { BTreeMap::new() }),
            }
        }
        refuted
    }

    /// Groups are made of what is believed now.
    pub fn settle(&mut self) {
        self.refuted.clear();
    }

    /// From now on nothing is believed of how processes are started. False when nothing was.
    pub fn forget_constants(&mut self) -> bool {
        let believed = self.constants.iter().flatten().any(|cells| !cells.is_empty());
        self.constants.clear();
        self.constants.resize(self.processes.len(), Some(BTreeMap::new()));
        believed
    }

    /// The processes as members of a partition.
    pub fn members(&self) -> Vec<Member> {
        let member = |(number, &(pid, proctype)): (usize, &(usize, u32))| {
            let cells = self.constants.get(number).cloned().flatten().unwrap_or_default();
            let known = Known { pid: Some(pid), first_channel: self.first_channel(pid, proctype), cells };
            Member { id: ProctypeId(proctype), known: Some(known), several: false }
        };
        self.processes.iter().enumerate().map(member).collect()
    }

    /// The number of channels before those of a process, if it is the same in all shapes.
    fn first_channel(&self, pid: usize, proctype: u32) -> Option<u32> {
        let shapes = self.list.iter().filter(|shape| shape.proctypes.get(pid) == Some(&proctype));
        let mut first = shapes.map(|shape| shape.places.processes[pid].first_channel as u32);
        let one = first.next()?;
        first.all(|other| other == one).then_some(one)
    }
}
