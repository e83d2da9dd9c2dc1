//! States of the reference machine to states of this one and back.
//!
//! Both write cells alike; they differ in the header, in where channels stand, and in the room that channels
//! take.

use machine::interp::layout::Width;
use promela::ir::Program;

use crate::layout::{CONTROL, ChanLayout, HEADER, Layout};
use crate::shape::{Shape, Shapes};

/// The part of a header that is the number of a shape.
pub const SHAPE: u32 = 0xff_ffff;

/// The header of a state: the number of its shape, and in the last byte who is in control.
#[inline(always)]
pub fn header(state: &[u8]) -> Option<u32> {
    state.first_chunk().map(|header| u32::from_le_bytes(*header))
}

/// The number of the shape, and who is in control. Code writes that as a byte: where it has just been
/// written, it is read in the same way, so that it need not be waited for.
///
/// # Safety
/// A state begins there.
#[inline(always)]
pub unsafe fn read_header(state: *const u8) -> (u32, u32) {
    // SAFETY: a state begins with a header of four bytes.
    unsafe {
        let low = u16::from_le_bytes(state.cast::<[u8; 2]>().read());
        let id = u32::from(low) | u32::from(state.add(2).read()) << 16;
        (id, u32::from(state.add(CONTROL as usize).read()))
    }
}

/// The number of the shape that a state has.
pub fn shape_id(state: &[u8]) -> Option<u32> {
    Some(header(state)? & SHAPE)
}

/// Reads an unsigned number.
pub fn get(bytes: &[u8], width: Width) -> Option<u32> {
    Some(match width {
        Width::U8 => u32::from(*bytes.first()?),
        Width::U16 | Width::I16 => u32::from(u16::from_le_bytes(*bytes.first_chunk()?)),
        Width::I32 => u32::from_le_bytes(*bytes.first_chunk()?),
    })
}

fn put(out: &mut Vec<u8>, width: Width, value: u32) {
    out.extend_from_slice(&value.to_le_bytes()[..width.bytes()]);
}

/// Appends what the reference machine would write for `state`, which has the shape `shape`.
pub fn to_interp(program: &Program, layout: &Layout, shape: &Shape, state: &[u8], out: &mut Vec<u8>) {
    debug_assert_eq!(state.len(), shape.len as usize);
    debug_assert!(shape.n_procs <= u32::from(u8::MAX), "the number of processes is a byte");
    out.push(shape.n_procs as u8);
    out.push(state[CONTROL as usize]);
    let globals = (layout.globals - u32::from(program.uses.last)) as usize;
    out.extend_from_slice(&state[globals..(layout.globals + layout.globals_len) as usize]);
    for process in &shape.processes {
        let block = &layout.processes[process.proctype as usize];
        put(out, layout.proctype, process.proctype);
        let bytes = &state[process.offset as usize..];
        put(out, block.location, get(bytes, layout.location).unwrap_or(0));
        out.extend_from_slice(&bytes[layout.location.bytes()..block.cells_end as usize]);
    }
    for channel in &shape.channels {
        let class = &layout.channels[channel.class as usize];
        if class.capacity > 0 {
            let bytes = &state[channel.offset as usize..];
            let len = get(bytes, class.len).unwrap_or(0).min(class.capacity);
            out.extend_from_slice(&bytes[..class.len.bytes() + (len * class.message) as usize]);
        }
    }
    out.extend_from_slice(&state[shape.hidden as usize..]);
}

/// Appends the state that the reference machine's `bytes` stand for. `None` when they are no state.
pub fn from_interp(
    program: &Program,
    layout: &Layout,
    shapes: &Shapes,
    bytes: &[u8],
    out: &mut Vec<u8>,
) -> Option<()> {
    let mut from = Reader { bytes };
    let n_processes = from.take(1)?[0];
    let control = from.take(1)?[0];
    let start = out.len();
    out.extend_from_slice(&[0; HEADER as usize]);
    out.extend_from_slice(from.take(usize::from(program.uses.last) + layout.globals_len as usize)?);
    out.resize(start + layout.blocks as usize, 0);
    let mut shape = shapes.get(0)?;
    for _ in 0..n_processes {
        let proctype = get(from.take(layout.proctype.bytes())?, layout.proctype)? as usize;
        let block = layout.processes.get(proctype)?;
        let location = get(from.take(block.location.bytes())?, block.location)?;
        put(out, layout.location, location);
        out.extend_from_slice(from.take(block.cells_end as usize - layout.location.bytes())?);
        out.resize(out.len() + (block.size - block.cells_end) as usize, 0);
        shape = shapes.child(layout, shape, proctype)?;
    }
    for channel in &shape.channels {
        let class: &ChanLayout = &layout.channels[channel.class as usize];
        if class.capacity > 0 {
            let len = get(from.bytes, class.len)?;
            let size = class.len.bytes() + (len.min(class.capacity) * class.message) as usize;
            let at = start + channel.offset as usize;
            out[at..at + size].copy_from_slice(from.take(size)?);
        }
    }
    out.extend_from_slice(from.take(layout.hidden as usize)?);
    debug_assert!(!from.bytes.is_empty() || out.len() - start == shape.len as usize, "all parts are there");
    out[start..start + HEADER as usize].copy_from_slice(&(shape.id | u32::from(control) << 24).to_le_bytes());
    from.bytes.is_empty().then_some(())
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.bytes.split_at_checked(n)?;
        self.bytes = rest;
        Some(first)
    }
}
