//! Groups of steps, from the facts about the program and the shapes that are known.
//!
//! - One group for each edge of each process, and for each pair of edges that may meet in a rendezvous; an
//!   atomic sequence is one step of the group that begins it.
//! - A group that starts processes is made for each shape in which its process exists: then it is known which
//!   slots the new processes have, and that they had no value before, so that these need not be read.
//! - Groups of one process that read the same slots and write the same slots are one group.

use std::collections::{BTreeSet, HashMap};

use machine::action::Action;
use machine::facts::matrix::Item;
use machine::facts::partition::{LocalStep, Partition};
use promela::ir::Program;
use symbolic::{LocalGroup, Taker};

use crate::shapes::Shapes;

/// A group, and how its steps are taken.
#[derive(Debug)]
pub struct Group {
    /// As a search sees it.
    pub local: LocalGroup,
    /// The processes that take part.
    pub parts: Vec<usize>,
    /// Where the shape is among the slots that are read.
    pub shape_at: Option<usize>,
    /// Slots of other processes that are read: the state in which the step is taken must have those processes
    /// that exist, and no others.
    pub others: Vec<Other>,
    /// A shape in which its processes exist.
    pub host: usize,
}

/// A slot of a process that takes no part.
#[derive(Clone, Copy, Debug)]
pub struct Other {
    /// Where it is among the slots that are read.
    pub at: usize,
    /// Whose it is.
    pub member: usize,
    /// It is the location, which says whether the process exists. Of other slots only a value that is not 0
    /// does.
    pub is_location: bool,
}

/// Slots that are read and written, as they are put together.
struct Draft<'a> {
    step: &'a LocalStep,
    reads: BTreeSet<u32>,
    writes: BTreeSet<u32>,
    /// The shapes in which there may be a step, if not all.
    shapes: Option<Vec<u32>>,
}

/// The groups of a partition.
pub fn groups(program: &Program, partition: &Partition, shapes: &Shapes) -> Vec<Group> {
    let shape = partition.slots.processes.map_or(u32::MAX, |slot| slot.0);
    let meets = partition.steps.iter().any(|step| step.partner.is_some());
    let making = Making { program, partition, shapes, shape, meets };
    let mut found: Vec<Group> = Vec::new();
    let mut alike: HashMap<(u32, Vec<u32>, Vec<u32>), usize> = HashMap::new();
    for draft in partition.steps.iter().flat_map(|step| making.drafts(step)) {
        let Some(group) = making.group(&draft) else { continue };
        // In a rendezvous, pairs of locations cannot be told as a set for each process.
        let merges = draft.step.partner.is_none() && draft.shapes.is_none() && !group.local.only_idle;
        let key = (group.local.process, group.local.reads.clone(), group.local.writes.clone());
        match merges.then(|| alike.get(&key)).flatten() {
            Some(&at) => join(&mut found[at], group),
            None => {
                if merges {
                    alike.insert(key, found.len());
                }
                found.push(group);
            }
        }
    }
    found.extend(making.provided());
    found
}

fn join(group: &mut Group, other: Group) {
    group.local.actions.extend(other.local.actions);
    group.local.actions.sort_unstable();
    group.local.actions.dedup();
    group.local.hands_over |= other.local.hands_over;
    debug_assert_eq!(group.local.only.len(), other.local.only.len());
    for (only, more) in group.local.only.iter_mut().zip(other.local.only) {
        debug_assert_eq!(only.0, more.0);
        only.1.extend(more.1);
        only.1.sort_unstable();
        only.1.dedup();
    }
}

struct Making<'a> {
    program: &'a Program,
    partition: &'a Partition,
    shapes: &'a Shapes,
    /// The slot of the shape.
    shape: u32,
    /// There are rendezvous: inside an atomic sequence others may move by them, and only by them.
    meets: bool,
}

impl Making<'_> {
    fn pid(&self, member: usize) -> usize {
        self.shapes.processes[member].0
    }

    fn taker(&self, member: usize) -> Taker {
        let (pid, kind) = self.shapes.processes[member];
        let location = self.partition.slots.members[member].location.0;
        Taker { process: pid as u32, kind, location }
    }

    fn own_slots(&self, member: usize) -> impl Iterator<Item = u32> + '_ {
        let own = &self.partition.slots.members[member];
        let channels = own.channels.iter().flatten();
        [own.location]
            .into_iter()
            .chain(own.cells.iter().copied())
            .chain(channels.copied())
            .map(|slot| slot.0)
    }

    /// The shapes in which those who take part exist.
    fn hosts<'s>(&'s self, step: &'s LocalStep) -> impl Iterator<Item = usize> + 's {
        let parts = move || [Some(step.item), step.partner].into_iter().flatten();
        let list = self.shapes.list.iter().enumerate();
        list.filter(move |(_, shape)| parts().all(|item| shape.has(item.member))).map(|(number, _)| number)
    }

    fn drafts<'s>(&'s self, step: &'s LocalStep) -> Vec<Draft<'s>> {
        let mut reads: BTreeSet<u32> = step.reads.iter().collect();
        let mut writes: BTreeSet<u32> = step.writes.iter().collect();
        if step.ends {
            // All that the process had is gone, whatever it was.
            let location = self.partition.slots.members[step.item.member].location.0;
            self.own_slots(step.item.member).filter(|slot| *slot != location).for_each(|slot| {
                reads.remove(&slot);
            });
            writes.extend(self.own_slots(step.item.member));
            reads.insert(self.shape);
            writes.insert(self.shape);
            let is_last =
                |number: &usize| self.shapes.list[*number].members.last() == Some(&step.item.member);
            let shapes = self.hosts(step).filter(is_last).map(|number| number as u32).collect();
            return vec![Draft { step, reads, writes, shapes: Some(shapes) }];
        }
        if step.starts.is_none() {
            return vec![Draft { step, reads, writes, shapes: None }];
        }
        reads.insert(self.shape);
        writes.insert(self.shape);
        let hosts = self.hosts(step);
        hosts.map(|number| self.starting(step, number, reads.clone(), writes.clone())).collect()
    }

    /// The draft for steps that start processes in a shape.
    fn starting<'s>(
        &self,
        step: &'s LocalStep,
        number: usize,
        mut reads: BTreeSet<u32>,
        mut writes: BTreeSet<u32>,
    ) -> Draft<'s> {
        let shape = &self.shapes.list[number];
        let n = shape.members.len();
        for (member, &(pid, proctype)) in self.shapes.processes.iter().enumerate() {
            let near = step.starts.most.is_none_or(|most| pid < n + most);
            let started = step.starts.proctypes.iter().any(|id| id.0 == proctype);
            if step.starts.others {
                // Anybody may come and go.
                writes.extend(self.own_slots(member));
                if pid < n {
                    reads.extend(self.own_slots(member));
                }
            } else if pid >= n && near && started {
                writes.extend(self.own_slots(member));
            }
        }
        Draft { step, reads, writes, shapes: Some(vec![number as u32]) }
    }

    fn group(&self, draft: &Draft<'_>) -> Option<Group> {
        let Draft { step, reads, writes, .. } = draft;
        let mut hosts = self.hosts(step);
        let host = match &draft.shapes {
            Some(shapes) => *shapes.first()? as usize,
            None => hosts.next()?,
        };
        let location = |member: usize| self.partition.slots.members[member].location.0;
        let mut only: Vec<(u32, Vec<u32>)> = Vec::new();
        for (member, sources) in &step.sources {
            only.push((location(*member), sources.iter().map(|at| at.0 + 1).collect()));
        }
        only.extend(draft.shapes.iter().map(|shapes| (self.shape, shapes.clone())));
        only.iter_mut().for_each(|(_, values)| values.sort_unstable());
        only.sort_unstable();
        let parts: Vec<usize> = step.sources.iter().map(|(member, _)| *member).collect();
        let reads = match draft.shapes {
            Some(_) => reads.iter().copied().collect(),
            None => self.reads_of_existing(reads, &parts),
        };
        debug_assert!(only.iter().all(|(slot, _)| reads.contains(slot)));
        let pair = |item: Item| (self.pid(item.member), item.edge);
        let (pid, kind) = self.shapes.processes[step.item.member];
        let edge = self.program.proctypes[kind as usize].edge(step.item.edge);
        let action = match step.partner.map(pair) {
            None => Action::step(pid, step.item.edge, edge),
            partner => Action { pid, edge: Some(step.item.edge), partner }.pack(),
        };
        let takers = [Some(step.item), step.partner].into_iter().flatten();
        let others = self.others(&reads, |member| parts.contains(&member));
        Some(Group {
            parts,
            shape_at: reads.iter().position(|slot| *slot == self.shape),
            others,
            host,
            local: LocalGroup {
                actions: vec![action],
                process: pid as u32,
                takers: takers.map(|item| self.taker(item.member)).collect(),
                hands_over: self.meets && step.is_sequence,
                writes: writes.iter().copied().collect(),
                only,
                only_idle: step.only_idle,
                rare: draft.shapes.is_some(),
                reads,
            },
        })
    }

    /// What is read, and where a process that takes no part may be there or not, its location too: 0 in another slot of
    /// it, such as an empty channel, does not tell.
    fn reads_of_existing(&self, reads: &BTreeSet<u32>, parts: &[usize]) -> Vec<u32> {
        let slots = &self.partition.slots;
        let of = |slot: &u32| slots.list[*slot as usize].process.map(|member| member.index());
        let others: BTreeSet<usize> =
            reads.iter().filter_map(of).filter(|member| !parts.contains(member)).collect();
        let hosts = || self.shapes.list.iter().filter(|shape| parts.iter().all(|&part| shape.has(part)));
        let is_certain =
            |member: usize| hosts().all(|shape| shape.has(member)) || !hosts().any(|shape| shape.has(member));
        let uncertain = others.into_iter().filter(|&member| !is_certain(member));
        let locations = uncertain.map(|member| slots.members[member].location.0);
        reads.iter().copied().chain(locations).collect::<BTreeSet<u32>>().into_iter().collect()
    }

    /// The slots that are read of processes that take no part.
    fn others(&self, reads: &[u32], takes_part: impl Fn(usize) -> bool) -> Vec<Other> {
        let slots = &self.partition.slots;
        let other = |(at, slot): (usize, &u32)| {
            let member = slots.list[*slot as usize].process?.index();
            let is_location = slots.members[member].location.0 == *slot;
            (!takes_part(member)).then_some(Other { at, member, is_location })
        };
        reads.iter().enumerate().filter_map(other).collect()
    }

    /// Groups for `provided` clauses that cannot be evaluated: a step that is an error.
    fn provided(&self) -> Vec<Group> {
        let mut found = Vec::new();
        for (member, slots) in self.partition.provided.iter().enumerate() {
            let Some(slots) = slots else { continue };
            let Some(host) = self.shapes.list.iter().position(|shape| shape.has(member)) else { continue };
            let reads: Vec<u32> = slots.iter().collect();
            let location = self.partition.slots.members[member].location.0;
            let action = Action { pid: self.pid(member), edge: None, partner: None };
            found.push(Group {
                parts: vec![member],
                shape_at: reads.iter().position(|slot| *slot == self.shape),
                others: self.others(&reads, |other| other == member),
                host,
                local: LocalGroup {
                    actions: vec![action.pack()],
                    process: action.pid as u32,
                    takers: vec![self.taker(member)],
                    hands_over: false,
                    writes: Vec::new(),
                    only: vec![(location, (1..=self.partition.n_locations[member]).collect())],
                    only_idle: false,
                    rare: false,
                    reads,
                },
            });
        }
        found
    }
}
