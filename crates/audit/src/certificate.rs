//! The file: a line that says what it is, a header, states in blocks, and an end that counts them.
//!
//! The states are those of the reference machine of the program as it is written, so that nobody else is
//! needed to read them. The sum of all check sums is in the end, so that blocks cannot be left out, repeated
//! or exchanged.

use crate::state_set::{Full, StateSet};
use archive::states::{put_bytes, put_number, take_bytes, take_number};
use archive::{Blocks, Damage, write_block};
use std::fmt;
use std::io::{self, Read, Write};
use system::FaultKind;
use system::portable::StableHash;

/// The first line of every certificate; the number changes when the format does.
const MAGIC: &[u8] = b"spinor certificate 1\n";

const HEADER: u8 = 1;
const STATES: u8 = 2;
const END: u8 = 3;

/// What a certificate is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// The version of the tool that wrote it.
    pub version: String,
    /// The model, as it was called.
    pub model: String,
    /// The property, as reports name it.
    pub property: String,
    /// Which errors no run shows.
    pub kinds: Vec<FaultKind>,
    /// Channels are empty at every valid end.
    pub channels_empty: bool,
    /// A hash of the program, as its reference machine tells it.
    pub program: u64,
}

impl Header {
    fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for text in [&self.version, &self.model, &self.property] {
            put_bytes(&mut out, text.as_bytes());
        }
        put_number(&mut out, self.kinds.len() as u64);
        self.kinds.iter().for_each(|kind| put_bytes(&mut out, kind.name().as_bytes()));
        out.push(u8::from(self.channels_empty));
        out.extend_from_slice(&self.program.to_le_bytes());
        out
    }

    fn read(mut from: &[u8]) -> Result<Self, Damage> {
        let from = &mut from;
        let (version, model, property) = (text(from)?, text(from)?, text(from)?);
        let mut kinds = Vec::new();
        for _ in 0..take_number(from)? {
            let name = text(from)?;
            let kind = FaultKind::ALL.into_iter().find(|kind| kind.name() == name);
            kinds.push(kind.ok_or(Damage::Altered)?);
        }
        let (&channels_empty, rest) = from.split_first().ok_or(Damage::Truncated)?;
        let program = <[u8; 8]>::try_from(rest).map_err(|_| Damage::Altered)?;
        let (channels_empty, program) = (channels_empty != 0, u64::from_le_bytes(program));
        Ok(Header { version, model, property, kinds, channels_empty, program })
    }
}

fn text(from: &mut &[u8]) -> Result<String, Damage> {
    String::from_utf8(take_bytes(from)?.to_vec()).map_err(|_| Damage::Altered)
}

/// Writes a certificate.
#[derive(Debug)]
pub struct CertificateWriter<W> {
    out: W,
    /// The sum of all check sums so far.
    sums: StableHash,
    records: u64,
    bytes: u64,
}

impl<W: Write> CertificateWriter<W> {
    /// Begins.
    pub fn new(mut out: W, header: &Header) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        let written = write_block(&mut out, HEADER, &header.write())?;
        let bytes = MAGIC.len() as u64 + written.len;
        Ok(CertificateWriter { out, sums: StableHash::new(3).word(written.sum), records: 0, bytes })
    }

    /// Adds states, which were put into `states` by [`put_state`]. A state may be added twice.
    pub fn add(&mut self, states: &[u8], n: u64) -> io::Result<()> {
        let written = write_block(&mut self.out, STATES, states)?;
        self.sums = self.sums.word(written.sum);
        self.records += n;
        self.bytes += written.len;
        Ok(())
    }

    /// Ends with the number of different states. Gives back what was written to, and how many bytes.
    pub fn finish(mut self, n_states: u64) -> io::Result<(W, u64)> {
        let mut end = Vec::new();
        put_number(&mut end, self.records);
        put_number(&mut end, n_states);
        end.extend_from_slice(&self.sums.finish().to_le_bytes());
        let written = write_block(&mut self.out, END, &end)?;
        self.out.flush()?;
        Ok((self.out, self.bytes + written.len))
    }

    /// What is written to, where nothing of it is wanted any more.
    pub fn into_inner(self) -> W {
        self.out
    }
}

/// Appends a state to those of a block.
pub fn put_state(block: &mut Vec<u8>, state: &[u8]) {
    put_bytes(block, state);
}

/// Why there is nothing to confirm.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotReadable {
    /// The file is something else.
    NoCertificate,
    /// It was cut off, or altered.
    Damaged(Damage),
    /// The number of states is not the one that it tells.
    WrongCount {
        /// What it tells.
        told: u64,
        /// What it holds.
        found: u64,
    },
    /// There is not enough memory for the states.
    NoMemory,
}

impl fmt::Display for NotReadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotReadable::NoCertificate => write!(f, "it is not a certificate"),
            NotReadable::Damaged(damage) => damage.fmt(f),
            NotReadable::WrongCount { told, found } => {
                write!(f, "it tells of {told} states and holds {found}")
            }
            NotReadable::NoMemory => write!(f, "there is not enough memory for its states"),
        }
    }
}

impl From<Damage> for NotReadable {
    fn from(damage: Damage) -> Self {
        NotReadable::Damaged(damage)
    }
}

impl From<Full> for NotReadable {
    fn from(Full: Full) -> Self {
        NotReadable::NoMemory
    }
}

/// A certificate that was read.
#[derive(Debug)]
pub struct Certificate {
    /// What it is about.
    pub header: Header,
    /// The states that can be reached, as it says.
    pub states: StateSet,
}

impl Certificate {
    /// Reads a certificate; `tick` is called now and then. What it says is not believed yet.
    pub fn read(mut from: impl Read, mut tick: impl FnMut()) -> Result<Self, NotReadable> {
        let mut magic = vec![0; MAGIC.len()];
        match from.read_exact(&mut magic) {
            Ok(()) if magic == MAGIC => {}
            _ => return Err(NotReadable::NoCertificate),
        }
        let mut blocks = Blocks::new(from);
        let first = blocks.block()?;
        if first.kind != HEADER {
            return Err(Damage::Altered.into());
        }
        let (header, mut sums) = (Header::read(&first.bytes)?, StableHash::new(3).word(first.sum));
        let (mut states, mut records) = (StateSet::default(), 0u64);
        let end = loop {
            let block = blocks.block()?;
            match block.kind {
                STATES => sums = sums.word(block.sum),
                END => break block,
                _ => return Err(Damage::Altered.into()),
            }
            let mut bytes = &block.bytes[..];
            while !bytes.is_empty() {
                states.insert(take_bytes(&mut bytes)?)?;
                records += 1;
            }
            tick();
        };
        blocks.end()?;
        let mut end = &end.bytes[..];
        let (told, n_states) = (take_number(&mut end)?, take_number(&mut end)?);
        if end != sums.finish().to_le_bytes() {
            return Err(Damage::Altered.into());
        }
        for (told, found) in [(told, records), (n_states, states.len() as u64)] {
            if told != found {
                return Err(NotReadable::WrongCount { told, found });
            }
        }
        Ok(Certificate { header, states })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            version: "0.1".to_string(),
            model: "a.pml".to_string(),
            property: "safety".to_string(),
            kinds: vec![FaultKind::Assertion, FaultKind::EndState],
            channels_empty: true,
            program: 77,
        }
    }

    fn written(states: &[&[u8]], told: u64) -> Vec<u8> {
        let mut writer = CertificateWriter::new(Vec::new(), &header()).unwrap();
        for pair in states.chunks(2) {
            let mut block = Vec::new();
            pair.iter().for_each(|state| put_state(&mut block, state));
            writer.add(&block, pair.len() as u64).unwrap();
        }
        let (file, bytes) = writer.finish(told).unwrap();
        assert_eq!(file.len() as u64, bytes);
        file
    }

    #[test]
    fn what_was_written_is_read() {
        let file = written(&[b"one", b"two", b"three", b"two"], 3);
        let read = Certificate::read(&file[..], || {}).unwrap();
        assert_eq!((read.header, read.states.len()), (header(), 3));
        let other = Certificate::read(&b"something else that is long enough"[..], || {});
        assert_eq!(other.err(), Some(NotReadable::NoCertificate));
    }

    #[test]
    fn states_are_counted() {
        let file = written(&[b"one", b"two"], 3);
        let wrong = NotReadable::WrongCount { told: 3, found: 2 };
        assert_eq!(Certificate::read(&file[..], || {}).err(), Some(wrong));
    }

    #[test]
    fn every_change_is_noticed() {
        let file = written(&[b"one", b"two", b"three"], 3);
        for at in 0..file.len() {
            assert!(Certificate::read(&file[..at], || {}).is_err(), "cut off at {at}");
            let mut altered = file.clone();
            altered[at] ^= 1 << (at % 8);
            assert!(Certificate::read(&altered[..], || {}).is_err(), "altered at {at}");
        }
    }
}
