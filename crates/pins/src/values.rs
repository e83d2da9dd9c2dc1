//! Parts of states as numbers, and back.
//!
//! A part of up to four bytes is its own number; the contents of larger parts (channels, arrays that no
//! statement tells apart) are numbered as they are met. What does not exist is 0, a location is one more than
//! its number, so that 0 says that a process does not exist.

use std::collections::HashMap;

use jit::places::Bytes;

/// Contents of large parts, numbered from 1.
#[derive(Debug, Default)]
pub struct Numbered {
    numbers: HashMap<Box<[u8]>, u32>,
    contents: Vec<Box<[u8]>>,
}

impl Numbered {
    fn number(&mut self, contents: &[u8]) -> u32 {
        if let Some(&number) = self.numbers.get(contents) {
            return number;
        }
        self.contents.push(contents.into());
        let number = self.contents.len() as u32;
        self.numbers.insert(contents.into(), number);
        number
    }

    fn contents(&self, number: u32) -> Option<&[u8]> {
        self.contents.get(number.checked_sub(1)? as usize).map(|contents| &contents[..])
    }
}

/// What is in a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// The shape.
    Shape,
    /// The location of a process.
    Location,
    /// Bytes.
    Data,
    /// Nothing that native code knows.
    Nothing,
}

/// Reads a number.
fn get(bytes: &[u8]) -> u32 {
    let mut number = [0; 4];
    number[..bytes.len()].copy_from_slice(bytes);
    u32::from_le_bytes(number)
}

/// The value of a slot whose bytes are these.
pub fn value(state: &[u8], at: &Bytes, content: Content, numbered: &mut Numbered) -> u32 {
    let bytes = &state[at.clone()];
    match content {
        Content::Location => get(bytes) + 1,
        _ if bytes.len() <= 4 => get(bytes),
        _ => numbered.number(bytes),
    }
}

/// Writes the value of a slot; false when it is no value of it.
pub fn put(state: &mut [u8], at: &Bytes, content: Content, value: u32, numbered: &Numbered) -> bool {
    let bytes = &mut state[at.clone()];
    let number = match content {
        Content::Location => match value.checked_sub(1) {
            Some(location) => location,
            None => return false,
        },
        _ => value,
    };
    if bytes.len() <= 4 {
        let len = bytes.len();
        bytes.copy_from_slice(&number.to_le_bytes()[..len]);
        return true;
    }
    match numbered.contents(number) {
        Some(contents) => bytes.copy_from_slice(contents),
        None => return false,
    }
    true
}
