//! States as bytes and back.
//!
//! In this order: number of processes; 1 + pid of the process in control (0: none); `_last`, if the program
//! asks; location of the trace assertion, if there is one; visible globals; each process (proctype, location,
//! priority if used, cells); each channel (number of messages, their fields); hidden globals. Hidden cells
//! are last so that what makes a state different from others is a prefix of its bytes. Channels of capacity 0
//! are always empty between steps and take no room. Which channels exist follows from which processes do,
//! because a process creates all its channels when it starts.

use promela::ir::{ChanTypeId, LocId, ProctypeId, Program};

use super::layout::{CellRun, Layout, Width};
use super::state::{Channel, Process, State};

/// Appends the bytes of `state`.
pub(super) fn encode(program: &Program, layout: &Layout, state: &State, out: &mut Vec<u8>) {
    out.push(state.processes.len() as u8);
    out.push(state.control.map_or(0, |pid| pid.wrapping_add(1)));
    if program.uses.last {
        out.push(state.last);
    }
    if let Some(trace) = &layout.trace {
        put(out, trace.location, state.event.map_or(0, |location| location.0 as i32));
    }
    put_runs(out, &layout.visible, &state.globals);
    for process in &state.processes {
        let shape = &layout.processes[process.proctype.index()];
        put(out, layout.proctype, process.proctype.0 as i32);
        put(out, shape.location, process.location.0 as i32);
        if program.uses.priority {
            out.push(process.priority);
        }
        put_runs(out, &shape.cells, &state.locals[process.first_cell..]);
    }
    for channel in &state.channels {
        if program.chan_types[channel.ty.index()].capacity == 0 {
            continue;
        }
        let shape = &layout.channels[channel.ty.index()];
        put(out, shape.len, channel.len as i32);
        for (&width, &value) in shape.fields.iter().cycle().zip(&channel.fields) {
            put(out, width, value);
        }
    }
    put_runs(out, &layout.hidden, &state.globals);
}

/// Reads the bytes of a state into `state`, whose memory is reused. Any bytes are safe; wrong ones are an
/// error.
pub(super) fn decode(
    program: &Program,
    layout: &Layout,
    bytes: &[u8],
    state: &mut State,
) -> Result<(), &'static str> {
    let mut from = Reader { bytes };
    let n_processes = from.u8()?;
    state.control = from.u8()?.checked_sub(1);
    state.last = if program.uses.last { from.u8()? } else { 0 };
    state.event = None;
    if let (Some(trace), Some(id)) = (&layout.trace, program.trace) {
        let event = LocId(from.get(trace.location)? as u32);
        if event.index() >= program.proctype(id).locations.len() {
            return Err("the trace assertion is nowhere");
        }
        state.event = Some(event);
    }
    state.globals.clear();
    state.globals.resize(program.n_global_cells as usize, 0);
    from.runs(&layout.visible, &mut state.globals)?;
    state.processes.clear();
    state.locals.clear();
    let mut n_channels = 0;
    add_channels(state, &mut n_channels, &layout.global_channels);
    for _ in 0..n_processes {
        let process = from.process(program, layout, state, n_channels)?;
        let shape = &layout.processes[process.proctype.index()];
        add_channels(state, &mut n_channels, &shape.channels);
        state.processes.push(process);
    }
    state.channels.truncate(n_channels);
    for channel in &mut state.channels {
        from.messages(program, layout, channel)?;
    }
    from.runs(&layout.hidden, &mut state.globals)?;
    if state.control.is_some_and(|pid| usize::from(pid) >= state.processes.len()) {
        return Err("the process in control does not exist");
    }
    if from.bytes.is_empty() { Ok(()) } else { Err("a state with bytes left over") }
}

/// Appends where globals, processes and channels end in the bytes of a state.
pub(super) fn cuts(
    program: &Program,
    layout: &Layout,
    bytes: &[u8],
    out: &mut Vec<usize>,
) -> Result<(), &'static str> {
    let mut from = Reader { bytes };
    let runs = |runs: &[CellRun]| runs.iter().map(|run| run.n * run.width.bytes()).sum::<usize>();
    let n_processes = from.u8()?;
    let event = layout.trace.as_ref().map_or(0, |trace| trace.location.bytes());
    from.skip(1 + usize::from(program.uses.last) + event + runs(&layout.visible))?;
    out.push(bytes.len() - from.bytes.len());
    let mut channels = layout.global_channels.clone();
    for _ in 0..n_processes {
        let proctype = from.get(layout.proctype)? as u32 as usize;
        let shape = layout.processes.get(proctype).ok_or("a process of no proctype")?;
        from.skip(shape.location.bytes() + usize::from(program.uses.priority) + runs(&shape.cells))?;
        out.push(bytes.len() - from.bytes.len());
        channels.extend_from_slice(&shape.channels);
    }
    for ty in channels.iter().filter(|ty| program.chan_types[ty.index()].capacity > 0) {
        let shape = &layout.channels[ty.index()];
        let len = from.get(shape.len)? as u32 as usize;
        let message: usize = shape.fields.iter().map(|width| width.bytes()).sum();
        from.skip(len.saturating_mul(message))?;
        out.push(bytes.len() - from.bytes.len());
    }
    Ok(())
}

/// Makes the next channels of `state` be of these types, reusing what is there.
fn add_channels(state: &mut State, n_channels: &mut usize, types: &[ChanTypeId]) {
    for &ty in types {
        match state.channels.get_mut(*n_channels) {
            Some(channel) => channel.ty = ty,
            None => state.channels.push(Channel::new(ty)),
        }
        *n_channels += 1;
    }
}

#[inline(always)]
fn put(out: &mut Vec<u8>, width: Width, value: i32) {
    match width {
        Width::U8 => out.push(value as u8),
        Width::U16 | Width::I16 => out.extend_from_slice(&(value as u16).to_le_bytes()),
        Width::I32 => out.extend_from_slice(&value.to_le_bytes()),
    }
}

fn put_runs(out: &mut Vec<u8>, runs: &[CellRun], cells: &[i32]) {
    for run in runs {
        let values = &cells[run.first..run.first + run.n];
        match run.width {
            Width::U8 => out.extend(values.iter().map(|&v| v as u8)),
            width => values.iter().for_each(|&v| put(out, width, v)),
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

const SHORT: &str = "a state that is too short";

impl Reader<'_> {
    fn u8(&mut self) -> Result<u8, &'static str> {
        self.take::<1>().map(|[byte]| byte)
    }

    #[inline(always)]
    fn get(&mut self, width: Width) -> Result<i32, &'static str> {
        Ok(match width {
            Width::U8 => i32::from(self.u8()?),
            Width::U16 => i32::from(u16::from_le_bytes(self.take()?)),
            Width::I16 => i32::from(i16::from_le_bytes(self.take()?)),
            Width::I32 => i32::from_le_bytes(self.take()?),
        })
    }

    fn skip(&mut self, n: usize) -> Result<(), &'static str> {
        self.bytes = self.bytes.get(n..).ok_or(SHORT)?;
        Ok(())
    }

    /// Reads runs of cells.
    fn runs(&mut self, runs: &[CellRun], cells: &mut [i32]) -> Result<(), &'static str> {
        for run in runs {
            let values = &mut cells[run.first..run.first + run.n];
            if run.width == Width::U8 {
                let (bytes, rest) = self.bytes.split_at_checked(run.n).ok_or(SHORT)?;
                values.iter_mut().zip(bytes).for_each(|(v, b)| *v = i32::from(*b));
                self.bytes = rest;
            } else {
                for value in values {
                    *value = self.get(run.width)?;
                }
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn take<const N: usize>(&mut self) -> Result<[u8; N], &'static str> {
        let (first, rest) = self.bytes.split_first_chunk::<N>().ok_or(SHORT)?;
        self.bytes = rest;
        Ok(*first)
    }

    /// One process; its cells are appended to the locals.
    fn process(
        &mut self,
        program: &Program,
        layout: &Layout,
        state: &mut State,
        first_channel: usize,
    ) -> Result<Process, &'static str> {
        let proctype = ProctypeId(self.get(layout.proctype)? as u32);
        let shape = layout.processes.get(proctype.index()).ok_or("a process of no proctype")?;
        let location = LocId(self.get(shape.location)? as u32);
        if location.index() >= program.proctype(proctype).locations.len() {
            return Err("a process that is nowhere");
        }
        let priority = if program.uses.priority { self.u8()? } else { 1 };
        let first_cell = state.locals.len();
        state.locals.resize(first_cell + shape.scalars.len(), 0);
        self.runs(&shape.cells, &mut state.locals[first_cell..])?;
        Ok(Process { proctype, location, priority, first_cell, first_channel })
    }

    fn messages(
        &mut self,
        program: &Program,
        layout: &Layout,
        channel: &mut Channel,
    ) -> Result<(), &'static str> {
        channel.clear();
        let capacity = program.chan_types[channel.ty.index()].capacity as usize;
        if capacity == 0 {
            return Ok(());
        }
        let shape = &layout.channels[channel.ty.index()];
        let len = self.get(shape.len)? as u32 as usize;
        if len > capacity {
            return Err("a channel with too many messages");
        }
        for _ in 0..len {
            for &width in &shape.fields {
                let value = self.get(width)?;
                channel.fields.push(value);
            }
        }
        channel.len = len;
        Ok(())
    }
}
