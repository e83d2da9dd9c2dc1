//! A glance at a state of the compiled machine: everything has its place.

use machine::look::{Form, Glance, Look, Seen, Wanted};
use promela::ir::Scalar;

use crate::native::Native;
use crate::{Jit, Machine, convert};

impl Look for Jit {
    fn look(&self, state: &[u8], wanted: &Wanted, out: &mut Glance) -> bool {
        match &self.machine {
            Machine::Native(native) => native.look(state, wanted, out),
            Machine::Reference(interp) => interp.look(state, wanted, out),
        }
    }

    fn form(&self, state: &[u8], wanted: &Wanted) -> Option<Form> {
        match &self.machine {
            Machine::Native(native) => native.form(state, wanted),
            Machine::Reference(interp) => interp.form(state, wanted),
        }
    }
}

impl Native {
    fn look(&self, state: &[u8], wanted: &Wanted, out: &mut Glance) -> bool {
        out.clear();
        let Some(shape) = self.shape_of(state) else { return false };
        for &(cell, scalar) in &wanted.globals {
            let Some(&(offset, false)) = self.layout.cells.get(cell as usize) else { return false };
            let Some(value) = state.get(offset as usize..).and_then(|bytes| read(bytes, scalar)) else {
                return false;
            };
            out.globals.push(value);
        }
        for process in &shape.processes {
            let layout = &self.layout.processes[process.proctype as usize];
            let Some(block) = state.get(process.offset as usize..) else { return false };
            let values = out.values.len() as u32;
            for &cell in wanted.processes.get(process.proctype as usize).map_or(&[][..], Vec::as_slice) {
                let Some(&scalar) = layout.scalars.get(cell as usize) else { return false };
                let Some(value) = block.get(layout.cells[cell as usize] as usize..) else { return false };
                let Some(value) = read(value, scalar) else { return false };
                out.values.push(value);
            }
            let Some(location) = convert::get(block, self.layout.location) else { return false };
            out.processes.push(Seen {
                proctype: process.proctype,
                location,
                first_channel: process.first_chan,
                values,
            });
        }
        for channel in &shape.channels {
            let class = &self.layout.channels[channel.class as usize];
            let len = match class.capacity {
                0 => Some(0),
                _ => state.get(channel.offset as usize..).and_then(|bytes| convert::get(bytes, class.len)),
            };
            out.lengths.push(len.unwrap_or(0));
        }
        true
    }
}

impl Native {
    /// A state begins with the number of its shape and with who is in control.
    fn form(&self, state: &[u8], wanted: &Wanted) -> Option<Form> {
        let shape = self.shape_of(state)?;
        let mut form = Form { location_bytes: self.layout.location.bytes() as u8, ..Form::default() };
        for process in &shape.processes {
            let (layout, offset) = (&self.layout.processes[process.proctype as usize], process.offset as u32);
            form.locations.push(offset);
            for &cell in wanted.processes.get(process.proctype as usize)? {
                let width = layout.scalars.get(cell as usize)?.width() as u8;
                form.cells.push((offset + layout.cells[cell as usize], width));
            }
        }
        Some(form)
    }
}

/// The value of a cell.
fn read(bytes: &[u8], scalar: Scalar) -> Option<i32> {
    Some(match scalar.width() {
        1 => i32::from(*bytes.first()?),
        2 if scalar == Scalar::Short => i32::from(i16::from_le_bytes(*bytes.first_chunk()?)),
        2 => i32::from(u16::from_le_bytes(*bytes.first_chunk()?)),
        _ => i32::from_le_bytes(*bytes.first_chunk()?),
    })
}
