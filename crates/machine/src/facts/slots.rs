//! Slots: the parts of a state of a program as a vector, and regions as sets of them.
//!
//! A global cell is a slot; neighbouring cells of one variable that no access tells apart are one slot
//! together. Each member of the [population](super::population) has a slot for its location, its cells alike,
//! and one for each of its channels; each global channel is one slot, because every send and receive moves
//! its contents. Channels without room for messages have none. The rest is one slot each: which processes
//! there are, priorities, `_last`, the position of the trace assertion.
//!
//! Exclusive control (`atomic`) is no slot: in the states that are stored nobody has it.

use std::collections::{BTreeMap, BTreeSet};

use promela::ir::{ChanTypeId, ProctypeId, Program, Type, Var};
use system::matrix::{BitMatrix, ProcessId, Slot, SlotId};

use super::population::Population;
use super::region::{Channels, Part, Proctypes};
use super::{Cells, ChannelName, Region};

/// The slots of one member.
#[derive(Clone, Debug)]
pub struct MemberSlots {
    /// Its location.
    pub location: SlotId,
    /// For each of its cells.
    pub cells: Vec<SlotId>,
    /// For each of its own channels that can hold messages.
    pub channels: Vec<Option<SlotId>>,
}

/// All slots.
#[derive(Clone, Debug, Default)]
pub struct Slots {
    /// Names.
    pub list: Vec<Slot>,
    /// For each global cell.
    pub globals: Vec<SlotId>,
    /// For each global channel that can hold messages.
    pub channels: Vec<Option<SlotId>>,
    /// For each member.
    pub members: Vec<MemberSlots>,
    /// Which processes there are.
    pub processes: Option<SlotId>,
    /// Priorities.
    pub priorities: Option<SlotId>,
    /// `_last`.
    pub last: Option<SlotId>,
    /// The position of the trace assertion.
    pub trace: Option<SlotId>,
    /// The channels of each declaration.
    declared: BTreeMap<ChanTypeId, Vec<SlotId>>,
    /// The channels of members that may have this number, from 0.
    numbered: BTreeMap<u32, Vec<SlotId>>,
    /// The channels of members of which it is not known which numbers they have.
    unnumbered: Vec<SlotId>,
}

/// Where cells are told apart: the first cells of slots.
#[derive(Clone, Debug, Default)]
pub struct Cuts {
    globals: BTreeSet<u32>,
    locals: BTreeMap<ProctypeId, BTreeSet<u32>>,
}

impl Cuts {
    /// Tells apart what is in a region from what is not; the region is that of a process of proctype `id`, or
    /// of nobody.
    pub fn add(&mut self, id: Option<ProctypeId>, region: &Region) {
        let cut = |cuts: &mut BTreeSet<u32>, cells: &Cells| {
            cells.ranges().for_each(|(first, end)| cuts.extend([first, end]));
        };
        cut(&mut self.globals, &region.globals);
        if let Some(id) = id {
            cut(self.locals.entry(id).or_default(), &region.own);
        }
        for (id, cells) in &region.others {
            cut(self.locals.entry(*id).or_default(), cells);
        }
    }
}

impl Slots {
    /// The slots for a population whose accesses tell cells apart at these places.
    pub fn new(program: &Program, channels: &Channels, population: &Population, cuts: &Cuts) -> Self {
        let mut slots = Slots::default();
        let none = BTreeSet::new();
        let names = Names(program);
        slots.globals =
            slots.cells(names, (&program.globals, program.n_global_cells), &cuts.globals, ("", None));
        for (number, ty) in channels.globals.iter().enumerate() {
            let slot = slots.channel(program, *ty, names.channel(&channels.globals, number), None);
            slots.channels.push(slot);
        }
        for (number, member) in population.members.iter().enumerate() {
            let process = Some(ProcessId(number as u32));
            let name = names.member(population, number);
            let proctype = program.proctype(member.id);
            let location = slots.add(format!("{name}@"), process);
            let cuts = cuts.locals.get(&member.id).unwrap_or(&none);
            let prefix = format!("{name}:");
            let cells = slots.cells(names, (&proctype.locals, proctype.n_cells), cuts, (&prefix, process));
            let mut own = Vec::new();
            for (n, ty) in channels.of_process(member.id).iter().enumerate() {
                let text = format!("{prefix}{}", names.channel(channels.of_process(member.id), n));
                let slot = slots.channel(program, *ty, text, process);
                own.push(slot);
                let first = member.known.as_ref().and_then(|known| known.first_channel);
                match (slot, first) {
                    (Some(slot), Some(first)) => {
                        slots.numbered.entry(first + n as u32).or_default().push(slot)
                    }
                    (Some(slot), None) => slots.unnumbered.push(slot),
                    (None, _) => {}
                }
            }
            slots.members.push(MemberSlots { location, cells, channels: own });
        }
        slots.processes = Some(slots.add("processes".to_string(), None));
        slots.priorities = program.uses.priority.then(|| slots.add("priorities".to_string(), None));
        slots.last = program.uses.last.then(|| slots.add("_last".to_string(), None));
        slots.trace = program.trace.is_some().then(|| slots.add("trace".to_string(), None));
        slots
    }

    fn add(&mut self, name: String, process: Option<ProcessId>) -> SlotId {
        self.list.push(Slot { name, process });
        SlotId(self.list.len() as u32 - 1)
    }

    /// Slots for cells that belong to variables, which begin anew at each cut and with each variable.
    fn cells(
        &mut self,
        names: Names<'_>,
        (vars, n): (&[Var], u32),
        cuts: &BTreeSet<u32>,
        (prefix, process): (&str, Option<ProcessId>),
    ) -> Vec<SlotId> {
        let mut starts: BTreeSet<u32> = cuts.iter().copied().chain([0]).filter(|cut| *cut < n).collect();
        let ends = vars.iter().flat_map(|var| [var.cell, var.cell + names.0.cells_of(&var.ty)]);
        starts.extend(ends.filter(|cell| *cell < n));
        let starts: Vec<u32> = starts.into_iter().filter(|start| *start < n).collect();
        let mut cells = Vec::new();
        for (i, &first) in starts.iter().enumerate() {
            let end = starts.get(i + 1).copied().unwrap_or(n);
            let slot = self.add(format!("{prefix}{}", names.cells(vars, first, end)), process);
            cells.extend((first..end).map(|_| slot));
        }
        cells
    }

    fn channel(
        &mut self,
        program: &Program,
        ty: ChanTypeId,
        name: String,
        process: Option<ProcessId>,
    ) -> Option<SlotId> {
        if program.chan_types[ty.index()].capacity == 0 {
            return None;
        }
        let slot = self.add(format!("channel {name}"), process);
        self.declared.entry(ty).or_default().push(slot);
        Some(slot)
    }

    /// Adds the slots of a region of a member, or of nobody, to a row of a matrix.
    pub fn add_region(
        &self,
        (matrix, row): (&mut BitMatrix, usize),
        population: &Population,
        member: Option<usize>,
        region: &Region,
    ) {
        if region.everything || region.timeout {
            matrix.fill_row(row);
            return;
        }
        add_cells((matrix, row), &self.globals, &region.globals);
        if let Some(member) = member {
            let own = &self.members[member];
            add_cells((matrix, row), &own.cells, &region.own);
            if region.own_control {
                matrix.set(row, own.location.index());
            }
        }
        for (id, cells) in &region.others {
            for other in population.of_proctype(*id) {
                add_cells((matrix, row), &self.members[other].cells, cells);
            }
        }
        if region.controls != Proctypes::default() {
            let asked = |(_, slots): (_, &MemberSlots)| slots.location;
            let members = population.members.iter().zip(&self.members);
            let members = members.filter(|(member, _)| region.controls.contains(member.id));
            members.map(asked).for_each(|slot| matrix.set(row, slot.index()));
        }
        for name in region.channels.keys() {
            self.named(member, *name).into_iter().for_each(|slot| matrix.set(row, slot.index()));
        }
        let rest = [
            (region.processes, self.processes),
            (region.priorities, self.priorities),
            (region.last, self.last),
            (region.trace, self.trace),
        ];
        let rest = rest.into_iter().filter(|(is, _)| *is).filter_map(|(_, slot)| slot);
        rest.for_each(|slot| matrix.set(row, slot.index()));
    }

    /// The channels that a name of a member may mean.
    fn named(&self, member: Option<usize>, name: ChannelName) -> Vec<SlotId> {
        match name {
            ChannelName::Global(n) => self.channels[n as usize].into_iter().collect(),
            ChannelName::Own(n) => {
                let own = member.and_then(|member| self.members[member].channels.get(n as usize));
                own.copied().flatten().into_iter().collect()
            }
            ChannelName::Declared(ty) => self.declared.get(&ty).cloned().unwrap_or_default(),
            ChannelName::Number(n) => match self.channels.get(n as usize) {
                Some(global) => global.iter().copied().collect(),
                None => {
                    let numbered = self.numbered.get(&n).into_iter().flatten();
                    numbered.chain(&self.unnumbered).copied().collect()
                }
            },
        }
    }

    /// The slot of a part of a state whose processes are these members, with their first channels. `None` for
    /// a part that has no slot.
    pub fn of_part(&self, part: &Part, members: &[(usize, usize)]) -> Option<SlotId> {
        match *part {
            Part::Global(cell) => self.globals.get(cell as usize).copied(),
            Part::Local(pid, cell) => self.members[members.get(pid)?.0].cells.get(cell as usize).copied(),
            Part::Control(pid) => Some(self.members[members.get(pid)?.0].location),
            Part::Priority(_) => self.priorities,
            Part::Channel(index, _) => match self.channels.get(index) {
                Some(global) => *global,
                None => {
                    let &(member, first) = members.iter().rev().find(|(_, first)| *first <= index)?;
                    self.members[member].channels.get(index - first).copied().flatten()
                }
            },
            Part::Processes => self.processes,
            Part::Last => self.last,
            Part::Trace => self.trace,
            Part::Exclusive => None,
        }
    }
}

/// Adds the slots of cells to a row. Slots are numbered in the order of their cells.
fn add_cells((matrix, row): (&mut BitMatrix, usize), slots: &[SlotId], cells: &Cells) {
    for (first, end) in cells.ranges().filter(|(first, end)| first < end) {
        let (first, last) = (slots[first as usize], slots[end as usize - 1]);
        (first.index()..=last.index()).for_each(|slot| matrix.set(row, slot));
    }
}

/// Names of parts of a program.
#[derive(Clone, Copy, Debug)]
pub struct Names<'p>(pub &'p Program);

impl Names<'_> {
    /// Of a member: `p[2]` with its pid where that is known, `p[*]` for any of several, else `p`.
    pub fn member(self, population: &Population, number: usize) -> String {
        let member = &population.members[number];
        let name = &self.0.proctype(member.id).name;
        match member.known.as_ref().and_then(|known| known.pid) {
            Some(pid) => format!("{name}[{pid}]"),
            None if member.several => format!("{name}[*]"),
            None => name.clone(),
        }
    }

    /// Of the n-th channel in a list of declarations: with an index where the declaration makes several.
    fn channel(self, all: &[ChanTypeId], n: usize) -> String {
        let ty = all[n];
        let name = &self.0.chan_types[ty.index()].name;
        match all.iter().filter(|other| **other == ty).count() {
            1 => name.clone(),
            _ => format!("{name}[{}]", all[..n].iter().filter(|other| **other == ty).count()),
        }
    }

    /// Of the cells from `first` to before `end`, which belong to one variable.
    fn cells(self, vars: &[Var], first: u32, end: u32) -> String {
        let holds = |var: &&Var| (var.cell..var.cell + self.0.cells_of(&var.ty)).contains(&first);
        let Some(var) = vars.iter().find(holds) else { return format!("cell {first}") };
        let cell = |cell: u32| format!("{}{}", var.name, self.path(&var.ty, cell - var.cell));
        let whole = (first, end) == (var.cell, var.cell + self.0.cells_of(&var.ty));
        match end - first {
            1 => cell(first),
            _ if whole => var.name.clone(),
            _ => format!("{}..{}", cell(first), cell(end - 1)),
        }
    }

    /// The way to a cell inside a variable: indices and fields.
    fn path(self, ty: &Type, cell: u32) -> String {
        match ty {
            Type::Scalar(_) => String::new(),
            Type::Array(element, _) => {
                let n = self.0.cells_of(element).max(1);
                format!("[{}]{}", cell / n, self.path(element, cell % n))
            }
            Type::Struct(id) => {
                let fields = &self.0.structs[id.index()].fields;
                match fields.iter().rev().find(|field| field.offset <= cell) {
                    Some(field) => format!(".{}{}", field.name, self.path(&field.ty, cell - field.offset)),
                    None => String::new(),
                }
            }
        }
    }
}
