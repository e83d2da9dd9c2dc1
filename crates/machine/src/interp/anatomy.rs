//! States taken apart and put together again, as plain data: for checkers that compare and change them part
//! by part.

use promela::ir::{ChanTypeId, LocId, ProctypeId};

use super::state::{Channel, Process, State};
use super::{Interp, layout};
use promela::ir::Scalar;

/// A state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anatomy {
    /// The global cells, hidden ones included.
    pub globals: Vec<i32>,
    /// The processes, in order of pid.
    pub processes: Vec<Body>,
    /// The channels, in order of their numbers.
    pub channels: Vec<Queue>,
    /// `_last`.
    pub last: u8,
    /// Where the trace assertion is.
    pub trace: Option<LocId>,
    /// The process with exclusive control.
    pub control: Option<u8>,
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// Its proctype.
    pub proctype: ProctypeId,
    /// Where it is.
    pub location: LocId,
    /// Its priority.
    pub priority: u8,
    /// Its cells.
    pub cells: Vec<i32>,
    /// How many channels are older than it: its own come next.
    pub first_channel: usize,
}

/// A channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Its declaration.
    pub ty: ChanTypeId,
    /// Its messages, the first first.
    pub messages: Vec<Vec<i32>>,
}

impl Interp {
    /// Takes the bytes of a state apart; `None` when they are none.
    pub fn take_apart(&self, bytes: &[u8]) -> Option<Anatomy> {
        let state = self.decode(bytes).ok()?;
        let body = |process: &Process| {
            let n = self.program.proctype(process.proctype).n_cells as usize;
            Body {
                proctype: process.proctype,
                location: process.location,
                priority: process.priority,
                cells: state.locals[process.first_cell..process.first_cell + n].to_vec(),
                first_channel: process.first_channel,
            }
        };
        let queue = |channel: &Channel| {
            let width = self.program.chan_types[channel.ty.index()].fields.len().max(1);
            Queue { ty: channel.ty, messages: channel.fields.chunks(width).map(<[i32]>::to_vec).collect() }
        };
        Some(Anatomy {
            processes: state.processes.iter().map(body).collect(),
            channels: state.channels.iter().map(queue).collect(),
            last: state.last,
            trace: state.event,
            control: state.control,
            globals: state.globals,
        })
    }

    /// The bytes of a state.
    pub fn put_together(&self, anatomy: &Anatomy) -> Vec<u8> {
        let mut state = State {
            globals: anatomy.globals.clone(),
            last: anatomy.last,
            event: anatomy.trace,
            control: anatomy.control,
            ..State::default()
        };
        for body in &anatomy.processes {
            state.processes.push(Process {
                proctype: body.proctype,
                location: body.location,
                priority: body.priority,
                first_cell: state.locals.len(),
                first_channel: body.first_channel,
            });
            state.locals.extend_from_slice(&body.cells);
        }
        for queue in &anatomy.channels {
            state.channels.push(Channel {
                ty: queue.ty,
                len: queue.messages.len(),
                fields: queue.messages.concat(),
            });
        }
        let mut bytes = Vec::new();
        self.encode(&state, &mut bytes);
        bytes
    }

    /// What each global cell holds.
    pub fn global_scalars(&self) -> Vec<Scalar> {
        layout::cell_scalars(&self.program, &self.program.globals, self.program.n_global_cells)
    }

    /// What each cell of a process of a proctype holds.
    pub fn local_scalars(&self, id: ProctypeId) -> &[Scalar] {
        &self.layout.processes[id.index()].scalars
    }
}
