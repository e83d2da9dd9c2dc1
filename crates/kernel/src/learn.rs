//! What a sample of states tells: which processes exist, and between what the values of each column lie.

use std::collections::{BTreeMap, BTreeSet};

use machine::interp::anatomy::Anatomy;
use promela::ir::{InitStep, ProctypeId, Program};

use crate::columns::Columns;

/// A column of a state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Part {
    /// Who has control, plus 1.
    Control,
    /// Where the process with this pid is.
    Location(usize),
    /// A column of the globals.
    Global(u32),
    /// A column of the locals of the process with this pid, when it is of this proctype.
    Local(usize, ProctypeId, u32),
    /// How many messages a channel has.
    Length(usize),
    /// A field of the messages of a channel.
    Field(usize, usize),
}

/// What was learned.
#[derive(Clone, Debug, Default)]
pub struct Learned {
    /// For each pid the proctypes of its processes.
    pub slots: Vec<BTreeSet<ProctypeId>>,
    /// The least and the greatest value of columns.
    pub ranges: BTreeMap<Part, (i32, i32)>,
    /// The globals of the initial state.
    pub first: Vec<i32>,
    /// Whether something was new since this was last asked for.
    grown: bool,
}

/// The columns of a program's variables.
#[derive(Clone, Debug)]
pub struct Variables {
    /// Of the globals.
    pub globals: Columns,
    /// Of each proctype.
    pub locals: Vec<Columns>,
}

impl Variables {
    /// Those of a program.
    pub fn new(program: &Program) -> Variables {
        Variables {
            globals: Columns::new(program, &program.globals, program.n_global_cells),
            locals: program.proctypes.iter().map(|p| Columns::new(program, &p.locals, p.n_cells)).collect(),
        }
    }
}

impl Learned {
    /// Notes a value.
    pub fn value(&mut self, part: Part, value: i32) {
        match self.ranges.get_mut(&part) {
            Some((min, max)) if value >= *min && value <= *max => {}
            Some((min, max)) => {
                (*min, *max) = ((*min).min(value), (*max).max(value));
                self.grown = true;
            }
            None => {
                self.ranges.insert(part, (value, value));
                self.grown = true;
            }
        }
    }

    /// Notes the parts of a state; the first one is the initial state.
    pub fn state(&mut self, variables: &Variables, state: &Anatomy) {
        if self.first.is_empty() {
            self.first.clone_from(&state.globals);
        }
        for (cell, &value) in state.globals.iter().enumerate() {
            self.value(Part::Global(variables.globals.cells[cell].column), value);
        }
        for (pid, body) in state.processes.iter().enumerate() {
            if pid == self.slots.len() {
                self.slots.push(BTreeSet::new());
            }
            self.grown |= self.slots[pid].insert(body.proctype);
            let columns = &variables.locals[body.proctype.index()];
            for (spot, &value) in columns.cells.iter().zip(&body.cells) {
                self.value(Part::Local(pid, body.proctype, spot.column), value);
            }
        }
        for (number, queue) in state.channels.iter().enumerate() {
            self.value(Part::Length(number), queue.messages.len() as i32);
            for message in &queue.messages {
                for (field, &value) in message.iter().enumerate() {
                    self.value(Part::Field(number, field), value);
                }
            }
        }
    }

    /// Whether something was new since this was last asked.
    pub fn has_grown(&mut self) -> bool {
        std::mem::take(&mut self.grown)
    }

    /// Gives columns that change the range of all of them: where one of some like processes or channels met a
    /// value, the others will.
    pub fn share(&mut self, like: impl Fn(Part) -> bool) {
        let ranges = || self.ranges.iter().filter(|(part, range)| like(**part) && range.0 < range.1);
        let all = ranges().map(|(_, range)| *range).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let Some(all) = all else { return };
        let parts: Vec<Part> = ranges().map(|(part, _)| *part).collect();
        parts.into_iter().for_each(|part| _ = self.ranges.insert(part, all));
    }

    /// Makes room for twice as many values of a column, for one that was met and is not known.
    pub fn widen(&mut self, part: Part) {
        let (min, max) = self.ranges.get(&part).copied().unwrap_or((0, 0));
        let span = i64::from(max) - i64::from(min) + 1;
        let fit = |value: i64| value.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
        let min = if min == 0 { -1 } else { min };
        let low = if min >= 0 { 0 } else { i64::from(min) - span };
        self.ranges.insert(part, (fit(low), fit(i64::from(max) + span)));
        self.grown = true;
    }
}

/// How many channels a process of a proctype has, by declaration.
pub fn own_channels(program: &Program, proctype: ProctypeId) -> Vec<promela::ir::ChanTypeId> {
    channels_of(&program.proctype(proctype).init)
}

/// The channels that an initialisation creates.
pub fn channels_of(init: &[InitStep]) -> Vec<promela::ir::ChanTypeId> {
    let created = init.iter().filter_map(|step| match step {
        InitStep::NewChan(_, ty) => Some(*ty),
        InitStep::Assign(..) => None,
    });
    created.collect()
}
