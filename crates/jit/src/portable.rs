//! Portable states of the compiled machine: the number of a state's shape becomes the list of its processes'
//! proctypes.
//!
//! The contents are who is in control and all that follows the header. They have the layout that the list
//! gives them, so they are copied, and then validated: code relies on locations, lengths of channels and
//! values being what declarations allow.

use machine::interp::layout::Width;
use machine::interp::portable::fingerprint;
use promela::ir::{ProctypeKind, Scalar};
use system::portable::{LocalShape, PortableError, PortableStates, StableHash};

use crate::convert;
use crate::layout::{CONTROL, ChanLayout, HEADER};
use crate::native::Native;
use crate::shape::{ProcEntry, Shape};

/// Changes when the layout of contents does.
const FORMAT: u64 = 0x6e61_7469_7665_0001;
/// The most processes of a state: who is in control is told in a byte.
const MOST_PROCESSES: usize = 255;

fn bad(why: &str) -> PortableError {
    PortableError::BadContents(why.to_string())
}

impl PortableStates for Native {
    fn fingerprint(&self) -> u64 {
        StableHash::new(FORMAT).word(fingerprint(&self.program)).finish()
    }

    fn describe(&self, shape: LocalShape, out: &mut Vec<u8>) -> Result<(), PortableError> {
        let shape = self.shapes.get(shape.0).ok_or(PortableError::UnknownShape(shape.0))?;
        shape.processes.iter().for_each(|process| out.extend_from_slice(&process.proctype.to_le_bytes()));
        Ok(())
    }

    fn register(&self, description: &[u8]) -> Result<LocalShape, PortableError> {
        let (proctypes, []) = description.as_chunks::<4>() else { return Err(PortableError::Truncated) };
        if proctypes.len() > MOST_PROCESSES {
            return Err(PortableError::BadShape(format!("{} processes", proctypes.len())));
        }
        let mut shape = self.shapes.empty();
        for proctype in proctypes.iter().map(|bytes| u32::from_le_bytes(*bytes) as usize) {
            let kind = self.program.proctypes.get(proctype).map(|proctype| proctype.kind);
            if !matches!(kind, Some(ProctypeKind::Proctype | ProctypeKind::Init)) {
                return Err(PortableError::BadShape(format!("a process of proctype {proctype}")));
            }
            shape = self.shapes.child(&self.layout, shape, proctype).ok_or(PortableError::TooManyShapes)?;
        }
        debug_assert_eq!(shape.processes.len(), proctypes.len());
        Ok(LocalShape(shape.id))
    }

    fn export(&self, state: &[u8], out: &mut Vec<u8>) -> Result<LocalShape, PortableError> {
        let number = convert::shape_id(state).ok_or(PortableError::Truncated)?;
        let shape = self.shape_of(state).ok_or(PortableError::UnknownShape(number))?;
        debug_assert_eq!(self.validate(shape, state), Ok(()), "what this process has made can be read again");
        out.extend_from_slice(&state[CONTROL as usize..]);
        Ok(LocalShape(number))
    }

    fn import(&self, shape: LocalShape, contents: &[u8], out: &mut Vec<u8>) -> Result<(), PortableError> {
        let shape = self.shapes.get(shape.0).ok_or(PortableError::UnknownShape(shape.0))?;
        let start = out.len();
        out.extend_from_slice(&shape.id.to_le_bytes()[..CONTROL as usize]);
        out.extend_from_slice(contents);
        let valid = self.validate(shape, &out[start..]);
        if valid.is_err() {
            out.truncate(start);
        }
        valid
    }
}

impl Native {
    /// Whether bytes are a state of this shape: everything but the number in the header is looked at.
    fn validate(&self, shape: &Shape, state: &[u8]) -> Result<(), PortableError> {
        let (expected, found) = (shape.len as usize, state.len());
        if expected != found {
            let own = |len: usize| len.saturating_sub(CONTROL as usize);
            return Err(PortableError::WrongLength { expected: own(expected), found: own(found) });
        }
        debug_assert!(expected >= HEADER as usize);
        if usize::from(state[CONTROL as usize]) > shape.processes.len() {
            return Err(bad("the process in control does not exist"));
        }
        let (visible, hidden) = state.split_at(shape.hidden as usize);
        for (&(offset, is_hidden), &scalar) in self.layout.cells.iter().zip(&self.layout.scalars) {
            check_cell(if is_hidden { hidden } else { visible }, offset, scalar)?;
        }
        shape.processes.iter().try_for_each(|process| self.validate_process(process, state))?;
        shape.channels.iter().try_for_each(|channel| {
            let class = &self.layout.channels[channel.class as usize];
            validate_channel(class, &state[channel.offset as usize..])
        })
    }

    fn validate_process(&self, process: &ProcEntry, state: &[u8]) -> Result<(), PortableError> {
        let layout = &self.layout.processes[process.proctype as usize];
        let block = &state[process.offset as usize..];
        let location = convert::get(block, self.layout.location).ok_or(PortableError::Truncated)?;
        if location as usize >= layout.labels.len() {
            return Err(bad("a process that is nowhere"));
        }
        let mut cells = layout.cells.iter().zip(&layout.scalars);
        cells.try_for_each(|(&offset, &scalar)| check_cell(block, offset, scalar))
    }
}

/// A channel holds no more messages than it has room for, of the types of its fields, and the rest of its
/// room is 0.
fn validate_channel(class: &ChanLayout, bytes: &[u8]) -> Result<(), PortableError> {
    if class.capacity == 0 {
        return Ok(());
    }
    let len = convert::get(bytes, class.len).ok_or(PortableError::Truncated)?;
    if len > class.capacity {
        return Err(bad("a channel with too many messages"));
    }
    let first = class.len.bytes() as u32;
    let (used, size) = (first + len * class.message, class.size as usize);
    for message in 0..len {
        for &(offset, scalar) in &class.fields {
            check_cell(bytes, first + message * class.message + offset, scalar)?;
        }
    }
    match bytes[used as usize..size].iter().all(|&byte| byte == 0) {
        true => Ok(()),
        false => Err(bad("room of a channel that is not used, and not 0")),
    }
}

/// Whether a value is one that its variable can have.
fn check_cell(bytes: &[u8], offset: u32, scalar: Scalar) -> Result<(), PortableError> {
    let bytes = bytes.get(offset as usize..).ok_or(PortableError::Truncated)?;
    let value = match Width::of(scalar) {
        Width::I16 => bytes.first_chunk().map(|bytes| i32::from(i16::from_le_bytes(*bytes))),
        width => convert::get(bytes, width).map(|value| value as i32),
    };
    let value = value.ok_or(PortableError::Truncated)?;
    if scalar.truncate(value) == value { Ok(()) } else { Err(bad("a value that its variable cannot have")) }
}
