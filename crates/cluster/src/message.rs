//! Messages between the first process and each of the others, beside the dataflow.
//!
//! A message is its length in four bytes, its kind in one, and what belongs to it; numbers are little-endian.

use search::{Snapshot, StopReason};
use std::io::{self, Read, Write};

/// Bytes of a message at most: results have counterexamples' places, not the states.
const LONGEST: usize = 1 << 28;
/// Bytes of the secret by which processes of one search know each other.
pub(crate) const KEY: usize = 16;

/// What all processes must agree about.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Digest {
    /// The version of the tool.
    pub version: String,
    /// The program and the machine that executes it.
    pub program: u64,
    /// Options that change what is explored.
    pub options: u64,
}

/// A message.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Message {
    /// The first of a process: who it is, and where the others reach it.
    Hello { key: [u8; KEY], rank: u32, port: u16, digest: Digest },
    /// Where all can be reached, and what the first decided.
    Begin { ports: Vec<u16>, decided: Vec<u8> },
    /// How far a process is; a sign of life.
    Progress(Snapshot),
    /// All are to stop.
    Stop,
    /// Why a process has ended, and what it found.
    Result { stop: StopReason, found: Vec<u8> },
    /// Which way leads to a state?
    Ask(u64),
    /// The answer.
    Answer(Vec<u8>),
    /// All is done.
    Bye,
}

/// Reasons by their numbers.
const REASONS: [StopReason; 9] = [
    StopReason::Completed,
    StopReason::Violation,
    StopReason::StateLimit,
    StopReason::MemoryLimit,
    StopReason::TimeLimit,
    StopReason::Interrupted,
    StopReason::TooManyProcesses,
    StopReason::Branching,
    StopReason::Decided,
];

fn put_word(out: &mut Vec<u8>, word: u64) {
    out.extend_from_slice(&word.to_le_bytes());
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_word(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn word(from: &mut &[u8]) -> Option<u64> {
    let (word, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(u64::from_le_bytes(*word))
}

fn bytes<'a>(from: &mut &'a [u8]) -> Option<&'a [u8]> {
    let n = usize::try_from(word(from)?).ok()?;
    let (bytes, rest) = from.split_at_checked(n)?;
    *from = rest;
    Some(bytes)
}

impl Message {
    fn kind(&self) -> u8 {
        match self {
            Message::Hello { .. } => 1,
            Message::Begin { .. } => 2,
            Message::Progress(_) => 3,
            Message::Stop => 4,
            Message::Result { .. } => 5,
            Message::Ask(_) => 6,
            Message::Answer(_) => 7,
            Message::Bye => 8,
        }
    }

    fn body(&self, out: &mut Vec<u8>) {
        match self {
            Message::Hello { key, rank, port, digest } => {
                out.extend_from_slice(key);
                put_word(out, u64::from(*rank));
                put_word(out, u64::from(*port));
                put_bytes(out, digest.version.as_bytes());
                put_word(out, digest.program);
                put_word(out, digest.options);
            }
            Message::Begin { ports, decided } => {
                put_bytes(out, decided);
                ports.iter().for_each(|&port| put_word(out, u64::from(port)));
            }
            Message::Progress(at) => {
                for number in [at.states, at.transitions, at.depth, at.frontier, at.errors] {
                    put_word(out, number);
                }
            }
            Message::Result { stop, found } => {
                let number = REASONS.iter().position(|reason| reason == stop);
                debug_assert!(number.is_some(), "every reason has a number");
                put_word(out, number.unwrap_or(REASONS.len()) as u64);
                put_bytes(out, found);
            }
            Message::Ask(state) => put_word(out, *state),
            Message::Answer(way) => put_bytes(out, way),
            Message::Stop | Message::Bye => {}
        }
    }

    fn read(kind: u8, mut body: &[u8]) -> Option<Message> {
        let from = &mut body;
        let message = match kind {
            1 => {
                let (key, rest) = from.split_first_chunk()?;
                *from = rest;
                let (rank, port) = (u32::try_from(word(from)?).ok()?, u16::try_from(word(from)?).ok()?);
                let version = String::from_utf8(bytes(from)?.to_vec()).ok()?;
                let digest = Digest { version, program: word(from)?, options: word(from)? };
                Message::Hello { key: *key, rank, port, digest }
            }
            2 => {
                let (decided, mut ports) = (bytes(from)?.to_vec(), Vec::new());
                while !from.is_empty() {
                    ports.push(u16::try_from(word(from)?).ok()?);
                }
                Message::Begin { ports, decided }
            }
            3 => {
                let mut next = || word(from);
                let (states, transitions, depth) = (next()?, next()?, next()?);
                let (frontier, errors) = (next()?, next()?);
                let at = Snapshot { states, transitions, depth, frontier, errors, ..Snapshot::default() };
                Message::Progress(at)
            }
            4 => Message::Stop,
            5 => {
                let stop = *REASONS.get(usize::try_from(word(from)?).ok()?)?;
                Message::Result { stop, found: bytes(from)?.to_vec() }
            }
            6 => Message::Ask(word(from)?),
            7 => Message::Answer(bytes(from)?.to_vec()),
            8 => Message::Bye,
            _ => return None,
        };
        from.is_empty().then_some(message)
    }

    /// Writes the message, in one piece.
    pub fn send(&self, to: &mut impl Write) -> io::Result<()> {
        let mut out = vec![0; 4];
        out.push(self.kind());
        self.body(&mut out);
        let len = (out.len() - 4) as u32;
        out[..4].copy_from_slice(&len.to_le_bytes());
        to.write_all(&out)
    }

    /// Reads a message.
    pub fn receive(from: &mut impl Read) -> io::Result<Message> {
        let mut head = [0; 4];
        from.read_exact(&mut head)?;
        let len = u32::from_le_bytes(head) as usize;
        if !(1..=LONGEST).contains(&len) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no message of a search"));
        }
        // What says that it is long has to be long before memory is taken for it.
        let mut body = Vec::new();
        from.take(len as u64).read_to_end(&mut body)?;
        let message = match body.split_first() {
            Some((&kind, rest)) if body.len() == len => Message::read(kind, rest),
            _ => return Err(io::ErrorKind::UnexpectedEof.into()),
        };
        message.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no message of a search"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Message> {
        let digest = Digest { version: "1.2".to_string(), program: 7, options: u64::MAX };
        let at =
            Snapshot { states: 1, transitions: 2, depth: 3, frontier: 4, errors: 5, ..Snapshot::default() };
        let results = REASONS.map(|stop| Message::Result { stop, found: vec![1, 2, 3] });
        let mut all = vec![
            Message::Hello { key: [9; KEY], rank: 3, port: 40_000, digest },
            Message::Begin { ports: vec![1, 2, 65_535], decided: vec![4] },
            Message::Stop,
            Message::Ask(1 << 50),
            Message::Answer(vec![0; 300]),
            Message::Bye,
        ];
        all.extend(results);
        let mut bytes = Vec::new();
        Message::Progress(at).send(&mut bytes).unwrap();
        let read = Message::receive(&mut &bytes[..]).unwrap();
        assert!(matches!(read, Message::Progress(at) if (at.states, at.errors) == (1, 5)));
        all
    }

    #[test]
    fn messages_come_as_they_were_sent() {
        for message in all() {
            let mut bytes = Vec::new();
            message.send(&mut bytes).unwrap();
            assert_eq!(Message::receive(&mut &bytes[..]).unwrap(), message);
            for end in 0..bytes.len() {
                assert!(Message::receive(&mut &bytes[..end]).is_err(), "{message:?} cut off at {end}");
            }
        }
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for bytes in [&[0, 0, 0, 0, 8][..], &[1, 0, 0, 0, 77], &[255, 255, 255, 255, 1], b"GET / HTTP/1.1"] {
            assert!(Message::receive(&mut &bytes[..]).is_err());
        }
        let mut bytes = Vec::new();
        Message::Bye.send(&mut bytes).unwrap();
        bytes[0] += 1;
        bytes.push(0);
        assert!(Message::receive(&mut &bytes[..]).is_err(), "something is behind it");
    }
}
