//! A state in words: values with their structure, and channels by the names that the author gave them.

use promela::ir::{Action, Base, EdgeId, InitStep, Place, Proctype, Scalar, Type, Var};
use system::{ChannelRef, ChannelView, ProcessView, Snapshot, Value};

use super::Interp;
use super::print::constant_name;
use super::state::{Channel, Process, State};
use super::store_buffer;

/// What a state calls the buffer of a process.
const STORE_BUFFER: &str = "store buffer";

impl Interp {
    /// Everything that there is in a state.
    pub(super) fn view_state(&self, state: &State) -> Snapshot {
        let channel = |(index, channel): (usize, &Channel)| ChannelView {
            id: self.channel_ref(state, index),
            capacity: self.program.chan_types[channel.ty.index()].capacity,
            messages: (0..channel.len).map(|slot| self.message(state, index, slot)).collect(),
        };
        let processes = state.processes.iter().enumerate();
        Snapshot {
            globals: self.variables(state, &self.program.globals, &state.globals),
            channels: state.channels.iter().enumerate().map(channel).collect(),
            processes: processes.map(|(pid, process)| self.view_process(state, pid, process)).collect(),
            control: state.control.map(u32::from),
        }
    }

    fn view_process(&self, state: &State, pid: usize, process: &Process) -> ProcessView {
        let proctype: &Proctype = self.program.proctype(process.proctype);
        let location = proctype.location(process.location);
        let place = self.locate(self.here(process).0);
        let mut next: Vec<String> = Vec::new();
        for &id in &location.edges {
            let edge = proctype.edge(id);
            let text = &edge.text;
            if !store_buffer::is_added(edge) && !text.is_empty() && !next.contains(text) {
                next.push(text.clone());
            }
        }
        let ends = |id: &EdgeId| matches!(proctype.edge(*id).action, Action::End);
        ProcessView {
            pid: pid as u32,
            name: proctype.name.clone(),
            file: place.file,
            line: place.line,
            column: place.column,
            location: process.location.0,
            next,
            at_end: location.end,
            finished: !location.edges.is_empty() && location.edges.iter().all(ends),
            priority: self.program.uses.priority.then_some(process.priority),
            locals: self.variables(state, &proctype.locals, &state.locals[process.first_cell..]),
        }
    }

    /// Variables with their values. Where blocks declare variables of one name, the line tells them apart.
    fn variables(&self, state: &State, vars: &[Var], cells: &[i32]) -> Vec<(String, Value)> {
        let name = |var: &Var| match vars.iter().filter(|other| other.name == var.name).count() {
            1 => var.name.clone(),
            _ => format!("{} (line {})", var.name, self.locate(var.span).line),
        };
        let value = |var: &Var| {
            let mut rest = cells.get(var.cell as usize..).unwrap_or_default().iter();
            self.value(state, &var.ty, &mut || rest.next().copied().unwrap_or(0))
        };
        let written = vars.iter().filter(|var| !store_buffer::is_buffer(var));
        let buffer = self.store_buffer(state, vars, cells).map(|held| (STORE_BUFFER.to_string(), held));
        written.map(|var| (name(var), value(var))).chain(buffer).collect()
    }

    /// A value of this type, whose cells `next` gives one after another.
    fn value(&self, state: &State, ty: &Type, next: &mut dyn FnMut() -> i32) -> Value {
        match ty {
            Type::Scalar(scalar) => self.scalar(state, *scalar, next()),
            Type::Array(element, len) => {
                Value::Array((0..*len).map(|_| self.value(state, element, next)).collect())
            }
            Type::Struct(id) => {
                let fields = &self.program.structs[id.index()].fields;
                Value::Record(
                    fields.iter().map(|f| (f.name.clone(), self.value(state, &f.ty, next))).collect(),
                )
            }
        }
    }

    /// The value of one cell or message field.
    pub(super) fn scalar(&self, state: &State, scalar: Scalar, value: i32) -> Value {
        let number = usize::try_from(value).ok().filter(|&number| number <= state.channels.len());
        match scalar {
            Scalar::Mtype(set) if value != 0 => Value::Symbol(constant_name(&self.program, Some(set), value)),
            Scalar::Chan if value == 0 => Value::Channel(None),
            Scalar::Chan => Value::Channel(Some(match number {
                Some(number) => self.channel_ref(state, number - 1),
                None => ChannelRef { number: value as u32, name: format!("channel {value} (gone)") },
            })),
            Scalar::Lock => Value::Lock(value.checked_sub(1).and_then(|pid| u32::try_from(pid).ok())),
            Scalar::Bool | Scalar::WideBool if value <= 1 => Value::Bool(value == 1),
            Scalar::Unsigned(_) => Value::Int(i64::from(value as u32)),
            _ => Value::Int(i64::from(value)),
        }
    }

    /// The fields of a message.
    pub(super) fn message(&self, state: &State, channel: usize, slot: usize) -> Vec<Value> {
        let Some(channel) = state.channels.get(channel) else { return Vec::new() };
        let types = &self.program.chan_types[channel.ty.index()].fields;
        let fields = channel.fields.iter().skip(slot * types.len());
        types.iter().zip(fields).map(|(&ty, &value)| self.scalar(state, ty, value)).collect()
    }

    /// A channel by the variable that it was created for.
    pub(super) fn channel_ref(&self, state: &State, index: usize) -> ChannelRef {
        let owner = state.processes.iter().rposition(|process| process.first_channel <= index);
        let name = match owner {
            Some(pid) => {
                let process = &state.processes[pid];
                let proctype = self.program.proctype(process.proctype);
                created_for(&proctype.init, index - process.first_channel)
                    .and_then(|place| self.place_name(place, &proctype.locals))
                    .map(|name| format!("{}[{pid}]:{name}", proctype.name.trim_matches(':')))
            }
            None => created_for(&self.program.init, index)
                .and_then(|place| self.place_name(place, &self.program.globals)),
        };
        let number = index as u32 + 1;
        ChannelRef { number, name: name.unwrap_or_else(|| format!("channel {number}")) }
    }

    /// The variable, element or field that a place with constant indices is.
    fn place_name(&self, place: &Place, vars: &[Var]) -> Option<String> {
        if place.base == Base::Scratch { None } else { self.cell_name(place.cell, vars) }
    }

    /// The variable, element or field that a cell is.
    pub(super) fn cell_name(&self, cell: u32, vars: &[Var]) -> Option<String> {
        let covers = |var: &&Var| (var.cell..var.cell + self.program.cells_of(&var.ty)).contains(&cell);
        let var = vars.iter().find(covers)?;
        let mut name = var.name.clone();
        self.name_cell(&var.ty, cell - var.cell, &mut name);
        Some(name)
    }

    /// Appends the indices and fields that lead to a cell.
    fn name_cell(&self, ty: &Type, cell: u32, name: &mut String) {
        match ty {
            Type::Scalar(_) => {}
            Type::Array(element, _) => {
                let size = self.program.cells_of(element).max(1);
                name.push_str(&format!("[{}]", cell / size));
                self.name_cell(element, cell % size, name);
            }
            Type::Struct(id) => {
                let fields = &self.program.structs[id.index()].fields;
                if let Some(field) = fields.iter().rfind(|field| field.offset <= cell) {
                    name.push_str(&format!(".{}", field.name));
                    self.name_cell(&field.ty, cell - field.offset, name);
                }
            }
        }
    }
}

/// Where initialisation stores the number of the `n`th channel that it creates.
fn created_for(init: &[InitStep], n: usize) -> Option<&Place> {
    let mut places = init.iter().filter_map(|step| match step {
        InitStep::NewChan(place, _) => Some(place),
        InitStep::Assign(..) => None,
    });
    places.nth(n)
}
