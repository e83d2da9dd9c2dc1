//! Portable states: states that leave the process which made them, to a file or to another machine.
//!
//! The bytes of a state may refer to tables of the process that wrote them: the compiled machine numbers its
//! *shapes* (which processes live) in the order in which it meets them. Such numbers mean nothing elsewhere,
//! or worse, something else. A portable state has two parts instead:
//! - the *description* of its shape, which means the same everywhere: the proctypes of its processes;
//! - its *contents*: all other bytes, independent of any table.
//!
//! One state by itself carries its description ([`write_state`]). In bulk, descriptions are sent once, as
//! entries of a [`Dictionary`], and each state carries the number of its entry ([`Exporter`], [`Importer`]);
//! the dictionary grows, and only what is new in it is sent again. This is the table of LTSmin's distributed
//! tools, kept for shapes instead of for values (S. Blom, J. van de Pol and M. Weber, *LTSmin: distributed
//! and symbolic reachability*, CAV 2010).
//!
//! Which process owns a state is decided by a hash of the description and of the visible contents (U. Stern
//! and D. Dill, *Parallelizing the Murphi verifier*, CAV 1997), so that all processes agree about it.
//!
//! **Nothing is guessed.** An unknown number, a wrong length, a value that its variable cannot have, another
//! model: each is a [`PortableError`]. A state that is dropped in silence would make a search claim that it
//! has seen everything.

use crate::TransitionSystem;
use std::collections::HashMap;
use std::fmt;

/// The number of a shape in the process that is running; it must not leave it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LocalShape(pub u32);

/// The number of a shape in a [`Dictionary`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ShapeNumber(pub u32);

/// Why bytes are no state of this system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PortableError {
    /// They were written for another model, or by another kind of machine.
    OtherModel {
        /// The fingerprint of this system.
        own: u64,
        /// The fingerprint that the bytes carry.
        found: u64,
    },
    /// They end too early.
    Truncated,
    /// They go on behind the end.
    LeftOver,
    /// They were changed on the way: a check sum is wrong.
    Damaged,
    /// The state carries a number that is not in the dictionary, or a local number that this process has not
    /// given.
    UnknownShape(u32),
    /// A part of a dictionary that does not continue what was read before.
    Gap {
        /// The number that comes next here.
        expected: u32,
        /// The first number of the part.
        found: u32,
    },
    /// The description of a shape that no state of this model can have.
    BadShape(String),
    /// The contents do not have the length that the shape gives them.
    WrongLength {
        /// What the shape says.
        expected: usize,
        /// What was found.
        found: usize,
    },
    /// The contents hold something that no state can hold.
    BadContents(String),
    /// There are more shapes than this process can number.
    TooManyShapes,
    /// The system has no portable states.
    Unsupported,
}

impl fmt::Display for PortableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PortableError::OtherModel { own, found } => {
                write!(f, "states of another model or machine: fingerprint {found:016x}, not {own:016x}")
            }
            PortableError::Truncated => write!(f, "the bytes end in the middle of a state"),
            PortableError::LeftOver => write!(f, "there are bytes behind the end of a state"),
            PortableError::Damaged => write!(f, "the bytes were changed: wrong check sum"),
            PortableError::UnknownShape(number) => write!(f, "unknown shape number {number}"),
            PortableError::Gap { expected, found } => {
                write!(f, "a part of the dictionary is missing: shape {expected} expected, {found} found")
            }
            PortableError::BadShape(why) => write!(f, "no shape of this model: {why}"),
            PortableError::WrongLength { expected, found } => {
                write!(f, "the shape needs {expected} bytes, {found} found")
            }
            PortableError::BadContents(why) => write!(f, "no state of this model: {why}"),
            PortableError::TooManyShapes => write!(f, "more shapes than can be numbered"),
            PortableError::Unsupported => write!(f, "the states of this system cannot leave the process"),
        }
    }
}

impl std::error::Error for PortableError {}

/// A system whose states can leave the process. States that describe themselves have one shape, with an empty
/// description.
///
/// The last [hidden](TransitionSystem::hidden_bytes) bytes of the contents are those of the state.
pub trait PortableStates: Sync {
    /// A hash of everything that decides what descriptions and contents mean: the model and the kind of
    /// machine, not the run.
    fn fingerprint(&self) -> u64;

    /// Appends the description of a shape.
    fn describe(&self, shape: LocalShape, out: &mut Vec<u8>) -> Result<(), PortableError>;

    /// The shape that a description stands for; it gets a number if it has none yet.
    fn register(&self, description: &[u8]) -> Result<LocalShape, PortableError>;

    /// Appends the contents of a state, and says which shape it has. What an error leaves behind in `out`
    /// means nothing.
    fn export(&self, state: &[u8], out: &mut Vec<u8>) -> Result<LocalShape, PortableError>;

    /// Appends the state with this shape and these contents, which are validated. Nothing is appended in case
    /// of an error.
    fn import(&self, shape: LocalShape, contents: &[u8], out: &mut Vec<u8>) -> Result<(), PortableError>;
}

/// A hash that is the same in every process and on every machine: of fingerprints, owners and check sums.
/// Folded multiplication, eight bytes at a time.
#[derive(Clone, Copy, Debug)]
pub struct StableHash(u64);

impl StableHash {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

    /// Begins with a number.
    pub fn new(seed: u64) -> Self {
        StableHash(seed ^ Self::FACTOR)
    }

    /// Adds a number.
    #[must_use]
    pub fn word(self, word: u64) -> Self {
        let product = u128::from(self.0 ^ word ^ Self::FACTOR.rotate_left(23)) * u128::from(Self::FACTOR);
        // Addition keeps a zero factor from losing all that came before.
        StableHash((product as u64 ^ (product >> 64) as u64).wrapping_add(self.0.rotate_left(5)))
    }

    /// Adds bytes and their number.
    #[must_use]
    pub fn bytes(self, bytes: &[u8]) -> Self {
        let (words, rest) = bytes.as_chunks::<8>();
        let hash = words.iter().fold(self, |hash, word| hash.word(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        hash.word(u64::from_le_bytes(last)).word(bytes.len() as u64)
    }

    /// The hash of all that was added.
    pub fn finish(self) -> u64 {
        let hash = (self.0 ^ self.0 >> 32).wrapping_mul(Self::FACTOR);
        hash ^ hash >> 29
    }
}

/// Appends one state with its description: fingerprint, description, contents, check sum.
pub fn write_state(
    states: &dyn PortableStates,
    state: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), PortableError> {
    let (mut description, mut contents) = (Vec::new(), Vec::new());
    states.describe(states.export(state, &mut contents)?, &mut description)?;
    let start = out.len();
    out.extend_from_slice(&states.fingerprint().to_le_bytes());
    put_bytes(out, &description);
    put_bytes(out, &contents);
    put_sum(out, start);
    Ok(())
}

/// Appends the state that [`write_state`] wrote.
pub fn read_state(states: &dyn PortableStates, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), PortableError> {
    let mut from = Reader::summed(bytes)?;
    from.model(states)?;
    let (description, contents) = (from.bytes()?, from.bytes()?);
    from.end()?;
    states.import(states.register(description)?, contents, out)
}

/// Descriptions of shapes, each with a number, in ascending order from 0.
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    fingerprint: u64,
    descriptions: Vec<Box<[u8]>>,
}

impl Dictionary {
    /// The number of shapes.
    pub fn len(&self) -> usize {
        self.descriptions.len()
    }

    /// Whether there is no shape.
    pub fn is_empty(&self) -> bool {
        self.descriptions.is_empty()
    }

    /// Appends all entries from `first` on, as a part that [`Importer::learn`] reads.
    pub fn write_from(&self, first: usize, out: &mut Vec<u8>) {
        let start = out.len();
        let new = self.descriptions.get(first..).unwrap_or_default();
        out.extend_from_slice(&self.fingerprint.to_le_bytes());
        put_number(out, first.min(self.len()));
        put_number(out, new.len());
        new.iter().for_each(|description| put_bytes(out, description));
        put_sum(out, start);
    }
}

/// A state ready to be sent: the contents are in the caller's buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exported {
    /// The number of its shape in the exporter's dictionary.
    pub shape: ShapeNumber,
    /// Decides who owns the state; the same in every process.
    pub owner: u64,
}

/// Makes states portable, and fills the dictionary that travels with them.
pub struct Exporter<'a> {
    states: &'a dyn PortableStates,
    hidden: usize,
    dictionary: Dictionary,
    numbers: HashMap<LocalShape, ShapeNumber>,
    /// By number, the hash of the description.
    hashes: Vec<StableHash>,
    /// The shape of the last state, which most states share.
    last: Option<(LocalShape, ShapeNumber)>,
}

impl<'a> Exporter<'a> {
    /// With an empty dictionary. A system without portable states is an error.
    pub fn new(system: &'a dyn TransitionSystem) -> Result<Self, PortableError> {
        let states = system.capabilities().portable.ok_or(PortableError::Unsupported)?;
        let dictionary = Dictionary { fingerprint: states.fingerprint(), descriptions: Vec::new() };
        Ok(Exporter {
            states,
            hidden: system.hidden_bytes(),
            dictionary,
            numbers: HashMap::new(),
            hashes: Vec::new(),
            last: None,
        })
    }

    /// The shapes of all states exported so far.
    pub fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// Appends the contents of a state. What an error leaves behind in `out` means nothing.
    pub fn export(&mut self, state: &[u8], out: &mut Vec<u8>) -> Result<Exported, PortableError> {
        let start = out.len();
        let local = self.states.export(state, out)?;
        let shape = match self.last {
            Some((last, number)) if last == local => number,
            _ => self.number(local)?,
        };
        self.last = Some((local, shape));
        debug_assert!(out.len() >= start + self.hidden, "hidden bytes are part of the contents");
        let visible = &out[start..out.len() - self.hidden];
        Ok(Exported { shape, owner: self.hashes[shape.0 as usize].bytes(visible).finish() })
    }

    fn number(&mut self, local: LocalShape) -> Result<ShapeNumber, PortableError> {
        if let Some(&number) = self.numbers.get(&local) {
            return Ok(number);
        }
        let mut description = Vec::new();
        self.states.describe(local, &mut description)?;
        let next = u32::try_from(self.dictionary.len()).map_err(|_| PortableError::TooManyShapes)?;
        self.hashes.push(StableHash::new(0).bytes(&description));
        self.dictionary.descriptions.push(description.into());
        debug_assert_eq!(self.hashes.len(), self.dictionary.len());
        self.numbers.insert(local, ShapeNumber(next));
        Ok(ShapeNumber(next))
    }
}

/// Makes states of this process out of those that an [`Exporter`] wrote, here or elsewhere.
pub struct Importer<'a> {
    states: &'a dyn PortableStates,
    /// By number, the shape here.
    shapes: Vec<LocalShape>,
}

impl<'a> Importer<'a> {
    /// Knows no shape yet. A system without portable states is an error.
    pub fn new(system: &'a dyn TransitionSystem) -> Result<Self, PortableError> {
        let states = system.capabilities().portable.ok_or(PortableError::Unsupported)?;
        Ok(Importer { states, shapes: Vec::new() })
    }

    /// Reads a part of a dictionary: the next entries after those that were read before.
    pub fn learn(&mut self, part: &[u8]) -> Result<(), PortableError> {
        let mut from = Reader::summed(part)?;
        from.model(self.states)?;
        let (expected, found) = (self.shapes.len() as u32, from.number()?);
        if expected != found {
            return Err(PortableError::Gap { expected, found });
        }
        for _ in 0..from.number()? {
            self.shapes.push(self.states.register(from.bytes()?)?);
        }
        from.end()
    }

    /// Appends the state with these contents, whose shape has this number in the dictionary.
    pub fn import(
        &self,
        shape: ShapeNumber,
        contents: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), PortableError> {
        let local = self.shapes.get(shape.0 as usize).ok_or(PortableError::UnknownShape(shape.0))?;
        self.states.import(*local, contents, out)
    }
}

fn put_number(out: &mut Vec<u8>, number: usize) {
    debug_assert!(u32::try_from(number).is_ok());
    out.extend_from_slice(&(number as u32).to_le_bytes());
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len());
    out.extend_from_slice(bytes);
}

fn put_sum(out: &mut Vec<u8>, start: usize) {
    let sum = StableHash::new(1).bytes(&out[start..]).finish();
    out.extend_from_slice(&sum.to_le_bytes());
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Everything before the check sum, which is right.
    fn summed(bytes: &'a [u8]) -> Result<Self, PortableError> {
        let (all, sum) = bytes.split_last_chunk().ok_or(PortableError::Truncated)?;
        let right = StableHash::new(1).bytes(all).finish() == u64::from_le_bytes(*sum);
        if right { Ok(Reader(all)) } else { Err(PortableError::Damaged) }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], PortableError> {
        let (first, rest) = self.0.split_first_chunk().ok_or(PortableError::Truncated)?;
        self.0 = rest;
        Ok(*first)
    }

    fn number(&mut self) -> Result<u32, PortableError> {
        self.take().map(u32::from_le_bytes)
    }

    fn bytes(&mut self) -> Result<&'a [u8], PortableError> {
        let n = self.number()? as usize;
        let (first, rest) = self.0.split_at_checked(n).ok_or(PortableError::Truncated)?;
        self.0 = rest;
        Ok(first)
    }

    fn model(&mut self, states: &dyn PortableStates) -> Result<(), PortableError> {
        let (own, found) = (states.fingerprint(), u64::from_le_bytes(self.take()?));
        if own == found { Ok(()) } else { Err(PortableError::OtherModel { own, found }) }
    }

    fn end(&self) -> Result<(), PortableError> {
        if self.0.is_empty() { Ok(()) } else { Err(PortableError::LeftOver) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// States are a local number in 32 bits and one byte; the description of shape `n` of process `p` is `n ^
    /// p`.
    struct Numbered {
        process: u32,
        model: u64,
    }

    impl PortableStates for Numbered {
        fn fingerprint(&self) -> u64 {
            self.model
        }

        fn describe(&self, shape: LocalShape, out: &mut Vec<u8>) -> Result<(), PortableError> {
            out.push((shape.0 ^ self.process) as u8);
            Ok(())
        }

        fn register(&self, description: &[u8]) -> Result<LocalShape, PortableError> {
            match *description {
                [byte] if byte < 4 => Ok(LocalShape(u32::from(byte) ^ self.process)),
                _ => Err(PortableError::BadShape("not one small byte".to_string())),
            }
        }

        fn export(&self, state: &[u8], out: &mut Vec<u8>) -> Result<LocalShape, PortableError> {
            let [shape, content] = *state else { return Err(PortableError::Truncated) };
            out.push(content);
            Ok(LocalShape(u32::from(shape)))
        }

        fn import(&self, shape: LocalShape, contents: &[u8], out: &mut Vec<u8>) -> Result<(), PortableError> {
            let found = contents.len();
            let [content] = *contents else { return Err(PortableError::WrongLength { expected: 1, found }) };
            out.extend([shape.0 as u8, content]);
            Ok(())
        }
    }

    fn exporter(states: &Numbered) -> Exporter<'_> {
        let dictionary = Dictionary { fingerprint: states.model, descriptions: Vec::new() };
        let (numbers, hashes) = (HashMap::new(), Vec::new());
        Exporter { states, hidden: 0, dictionary, numbers, hashes, last: None }
    }

    const HERE: Numbered = Numbered { process: 0, model: 7 };
    const THERE: Numbered = Numbered { process: 3, model: 7 };

    #[test]
    fn states_are_renumbered_and_owners_agree() {
        let (mut here, mut there) = (exporter(&HERE), exporter(&THERE));
        let mut importer = Importer { states: &THERE, shapes: Vec::new() };
        let mut learnt = 0;
        for state in [[2, 5], [0, 5], [2, 6], [1, 0]] {
            let (mut contents, mut copy, mut again) = (Vec::new(), Vec::new(), Vec::new());
            let exported = here.export(&state, &mut contents).unwrap();
            let mut part = Vec::new();
            here.dictionary().write_from(learnt, &mut part);
            importer.learn(&part).unwrap();
            learnt = here.dictionary().len();
            importer.import(exported.shape, &contents, &mut copy).unwrap();
            assert_eq!(copy, [state[0] ^ 3, state[1]]);
            assert_eq!(there.export(&copy, &mut again).unwrap().owner, exported.owner);
        }
        assert_eq!(here.dictionary().len(), 3);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let (mut here, mut contents, mut part) = (exporter(&HERE), Vec::new(), Vec::new());
        let exported = here.export(&[2, 5], &mut contents).unwrap();
        here.dictionary().write_from(0, &mut part);
        let mut importer = Importer { states: &THERE, shapes: Vec::new() };
        let out = &mut Vec::new();
        let unknown = Err(PortableError::UnknownShape(0));
        assert_eq!(importer.import(exported.shape, &contents, out), unknown, "nothing is learnt yet");
        assert_eq!(importer.learn(&part[..part.len() - 1]), Err(PortableError::Damaged));
        assert_eq!(importer.learn(&part[..3]), Err(PortableError::Truncated));
        importer.learn(&part).unwrap();
        assert_eq!(importer.learn(&part), Err(PortableError::Gap { expected: 1, found: 0 }));
        let short = PortableError::WrongLength { expected: 1, found: 0 };
        assert_eq!(importer.import(exported.shape, &[], out), Err(short));
        let other = Numbered { process: 0, model: 8 };
        let mut importer = Importer { states: &other, shapes: Vec::new() };
        assert_eq!(importer.learn(&part), Err(PortableError::OtherModel { own: 8, found: 7 }));
        assert!(out.is_empty());
    }

    #[test]
    fn a_state_travels_alone() {
        let (mut bytes, mut out) = (Vec::new(), Vec::new());
        write_state(&HERE, &[1, 9], &mut bytes).unwrap();
        read_state(&THERE, &bytes, &mut out).unwrap();
        assert_eq!(out, [2, 9]);
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 4;
            assert_eq!(read_state(&THERE, &changed, &mut out), Err(PortableError::Damaged));
            assert!(read_state(&THERE, &bytes[..at], &mut out).is_err());
        }
        assert_eq!(out, [2, 9]);
    }
}
