//! Shapes: which processes there are. A shape is the list of their proctypes by pid; a process is known by
//! its pid and its proctype, in whatever shapes it occurs.
//!
//! With a shape its prefixes are known: processes end in the reverse order of their start.

use std::collections::{BTreeMap, HashMap};

use jit::{Jit, Places};
use machine::facts::Known;
use machine::facts::population::{Member, Population};
use promela::ir::ProctypeId;

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

    /// The processes as members of a partition. Of those that every run starts, and that no other process can
    /// be taken for, the parameters are known.
    pub fn members(&self, population: &Population) -> Vec<Member> {
        let member = |&(pid, proctype): &(usize, u32)| {
            let id = ProctypeId(proctype);
            let is = |member: &&Member| {
                member.id == id && member.known.as_ref().is_some_and(|known| known.pid == Some(pid))
            };
            let mut forced = population.forced().iter().filter(is);
            let known = match (forced.next(), forced.next()) {
                (Some(one), None) if !population.comes_later(id) => one.known.clone(),
                _ => None,
            };
            let known =
                known.unwrap_or(Known { pid: Some(pid), first_channel: None, cells: BTreeMap::new() });
            let first_channel = self.first_channel(pid, proctype);
            Member { id, known: Some(Known { first_channel, ..known }), several: false }
        };
        self.processes.iter().map(member).collect()
    }

    /// The number of channels before those of a process, if it is the same in all shapes.
    fn first_channel(&self, pid: usize, proctype: u32) -> Option<u32> {
        let shapes = self.list.iter().filter(|shape| shape.proctypes.get(pid) == Some(&proctype));
        let mut first = shapes.map(|shape| shape.places.processes[pid].first_channel as u32);
        let one = first.next()?;
        first.all(|other| other == one).then_some(one)
    }
}
