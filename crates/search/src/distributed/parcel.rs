//! Parcels: states on their way to the process that owns them.
//!
//! A parcel has what is new in the sender's dictionary of shapes, and states one after another: the shape
//! where it is another one than before, how they were found (which state of the sender, by which edge), the
//! annotation if there is one, and the contents. Senders expand states in the order of their numbers, so
//! these are told as differences, mostly in one byte.

use crate::ancestry::Ordinal;
use std::fmt;
use system::Annotation;
use system::portable::{Dictionary, Importer, PortableError, ShapeNumber};

/// An annotation follows.
const ANNOTATED: u8 = 1;
/// The shape is another one than before, and follows.
const SHAPED: u8 = 2;
/// The most bytes of a number.
const NUMBER: usize = 10;

/// How a state was found: by this edge of the state that the sender expanded as the one with this number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Origin {
    pub parent: Ordinal,
    pub edge: u32,
}

/// Why a parcel cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum BadParcel {
    /// It ends too early, or says what it cannot mean.
    Broken,
    /// It holds what is no state of this model.
    State(PortableError),
}

impl fmt::Display for BadParcel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadParcel::Broken => write!(f, "a parcel of states is broken"),
            BadParcel::State(error) => write!(f, "a parcel of states cannot be read: {error}"),
        }
    }
}

impl From<PortableError> for BadParcel {
    fn from(error: PortableError) -> Self {
        BadParcel::State(error)
    }
}

/// Appends a number in groups of seven bits, the lower ones first.
pub(crate) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads a number.
pub(crate) fn take(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for at in 0..NUMBER {
        let (&byte, rest) = from.split_first()?;
        *from = rest;
        number |= u64::from(byte & 0x7f).checked_shl(7 * at as u32)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// States that are put together for one process.
#[derive(Debug, Default)]
pub(crate) struct Parcel {
    states: Vec<u8>,
    n: u64,
    /// Of the first state.
    depth: u64,
    parent: Ordinal,
    shape: Option<ShapeNumber>,
    /// Entries of the dictionary that the receiver has.
    known: usize,
}

impl Parcel {
    /// Bytes of its states.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Adds a state, which lies at this depth. `parent` is no less than that of the state before.
    pub fn add(
        &mut self,
        (shape, contents): (ShapeNumber, &[u8]),
        annotation: Annotation,
        origin: Origin,
        depth: u64,
    ) {
        if self.n == 0 {
            self.depth = depth;
        }
        debug_assert!(origin.parent >= self.parent, "states are expanded in order");
        let annotated = if annotation.is_none() { 0 } else { ANNOTATED };
        let shaped = if self.shape == Some(shape) { 0 } else { SHAPED };
        self.states.push(annotated | shaped);
        if shaped != 0 {
            put(&mut self.states, u64::from(shape.0));
            self.shape = Some(shape);
        }
        put(&mut self.states, origin.parent - self.parent);
        put(&mut self.states, u64::from(origin.edge));
        put(&mut self.states, contents.len() as u64);
        if annotated != 0 {
            self.states.extend_from_slice(&annotation.bits().to_le_bytes());
        }
        self.states.extend_from_slice(contents);
        self.parent = origin.parent;
        self.n += 1;
    }

    /// The bytes to be sent, if there is a state; from now on it is empty.
    pub fn close(&mut self, dictionary: &Dictionary) -> Option<Vec<u8>> {
        if self.n == 0 {
            return None;
        }
        let mut shapes = Vec::new();
        if self.known < dictionary.len() {
            dictionary.write_from(self.known, &mut shapes);
            self.known = dictionary.len();
        }
        let mut out = Vec::with_capacity(self.states.len() + shapes.len() + 3 * NUMBER);
        put(&mut out, self.depth);
        put(&mut out, shapes.len() as u64);
        out.extend_from_slice(&shapes);
        put(&mut out, self.n);
        out.extend_from_slice(&self.states);
        self.states.clear();
        (self.n, self.parent, self.shape) = (0, 0, None);
        Some(out)
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> u64 {
        self.states.capacity() as u64
    }
}

/// A state that came with a parcel; its bytes are elsewhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// Where its bytes begin and end.
    pub bytes: (u32, u32),
    pub annotation: Annotation,
    pub origin: Origin,
}

/// Some states of a parcel that are looked up together.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    bytes: Vec<u8>,
    list: Vec<Arrival>,
}

impl Arrivals {
    /// The states, as they are here.
    pub fn states(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        self.list.iter().map(|arrival| self.bytes_of(arrival))
    }

    /// The state with this number.
    pub fn state(&self, at: usize) -> &[u8] {
        self.bytes_of(&self.list[at])
    }

    /// What is known of the state with this number.
    pub fn arrival(&self, at: usize) -> Arrival {
        self.list[at]
    }

    fn bytes_of(&self, arrival: &Arrival) -> &[u8] {
        &self.bytes[arrival.bytes.0 as usize..arrival.bytes.1 as usize]
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.list.clear();
    }
}

/// A parcel that is being read.
pub(crate) struct Reading<'p> {
    states: &'p [u8],
    left: u64,
    /// The depth of its first state.
    pub depth: u64,
    parent: Ordinal,
    shape: Option<ShapeNumber>,
}

impl<'p> Reading<'p> {
    /// Begins to read a parcel; what is new in the sender's dictionary is learned.
    pub fn begin(mut parcel: &'p [u8], importer: &mut Importer<'_>) -> Result<Self, BadParcel> {
        let from = &mut parcel;
        let depth = take(from).ok_or(BadParcel::Broken)?;
        let shapes = take(from).and_then(|n| usize::try_from(n).ok()).ok_or(BadParcel::Broken)?;
        let (shapes, rest) = from.split_at_checked(shapes).ok_or(BadParcel::Broken)?;
        *from = rest;
        if !shapes.is_empty() {
            importer.learn(shapes)?;
        }
        let left = take(from).ok_or(BadParcel::Broken)?;
        Ok(Reading { states: parcel, left, depth, parent: 0, shape: None })
    }

    /// Reads up to `most` states. False when there are no more.
    pub fn some(
        &mut self,
        most: usize,
        importer: &Importer<'_>,
        out: &mut Arrivals,
    ) -> Result<bool, BadParcel> {
        out.clear();
        for _ in 0..most.min(usize::try_from(self.left).unwrap_or(usize::MAX)) {
            let arrival = self.one(importer, &mut out.bytes)?;
            out.list.push(arrival);
            self.left -= 1;
        }
        if self.left == 0 && !self.states.is_empty() {
            return Err(BadParcel::Broken);
        }
        Ok(!out.list.is_empty())
    }

    fn one(&mut self, importer: &Importer<'_>, out: &mut Vec<u8>) -> Result<Arrival, BadParcel> {
        let from = &mut self.states;
        let (&head, rest) = from.split_first().ok_or(BadParcel::Broken)?;
        *from = rest;
        let number = |from: &mut &[u8]| take(from).ok_or(BadParcel::Broken);
        let small = |number: u64| u32::try_from(number).map_err(|_| BadParcel::Broken);
        if head & SHAPED != 0 {
            self.shape = Some(ShapeNumber(small(number(from)?)?));
        }
        let shape = self.shape.ok_or(BadParcel::Broken)?;
        let parent = self.parent.checked_add(number(from)?).ok_or(BadParcel::Broken)?;
        let edge = small(number(from)?)?;
        let len = usize::try_from(number(from)?).map_err(|_| BadParcel::Broken)?;
        let mut annotation = Annotation::NONE;
        if head & ANNOTATED != 0 {
            let (bits, rest) = from.split_first_chunk().ok_or(BadParcel::Broken)?;
            *from = rest;
            annotation = Annotation::new(u64::from_le_bytes(*bits));
        }
        let (contents, rest) = from.split_at_checked(len).ok_or(BadParcel::Broken)?;
        *from = rest;
        let start = out.len();
        importer.import(shape, contents, out)?;
        let place = |at: usize| u32::try_from(at).map_err(|_| BadParcel::Broken);
        let bytes = (place(start)?, place(out.len())?);
        self.parent = parent;
        Ok(Arrival { bytes, annotation, origin: Origin { parent, edge } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use system::TransitionSystem;
    use system::portable::Exporter;
    use system::toy::Counters;

    fn parcel(system: &dyn TransitionSystem) -> Vec<u8> {
        let mut exporter = Exporter::new(system).unwrap();
        let (mut parcel, mut state, mut contents) = (Parcel::default(), Vec::new(), Vec::new());
        system.initial(&mut state).unwrap();
        for at in 0..5u32 {
            contents.clear();
            let exported = exporter.export(&state, &mut contents).unwrap();
            let annotation = if at == 3 { Annotation::new(1 << 40) } else { Annotation::NONE };
            let origin = Origin { parent: 100 + 300 * u64::from(at / 2), edge: at };
            parcel.add((exported.shape, &contents), annotation, origin, 7);
        }
        let bytes = parcel.close(exporter.dictionary()).unwrap();
        assert!(parcel.close(exporter.dictionary()).is_none());
        bytes
    }

    fn read(system: &dyn TransitionSystem, parcel: &[u8]) -> Result<Vec<Arrival>, BadParcel> {
        let mut importer = Importer::new(system).unwrap();
        let (mut all, mut some) = (Vec::new(), Arrivals::default());
        let mut reading = Reading::begin(parcel, &mut importer)?;
        assert_eq!(reading.depth, 7);
        while reading.some(2, &importer, &mut some)? {
            assert_eq!(some.states().len(), some.list.len());
            all.extend_from_slice(&some.list);
        }
        Ok(all)
    }

    #[test]
    fn what_was_put_in_comes_out() {
        let system = Counters { n: 3, max: 3 };
        let arrivals = read(&system, &parcel(&system)).unwrap();
        let origins: Vec<(u64, u32)> = arrivals.iter().map(|a| (a.origin.parent, a.origin.edge)).collect();
        assert_eq!(origins, [(100, 0), (100, 1), (400, 2), (400, 3), (700, 4)]);
        let annotated: Vec<bool> = arrivals.iter().map(|a| !a.annotation.is_none()).collect();
        assert_eq!(annotated, [false, false, false, true, false]);
        assert_eq!(arrivals[3].annotation.bits(), 1 << 40);
    }

    #[test]
    fn what_is_cut_off_or_prolonged_is_refused() {
        let system = Counters { n: 3, max: 3 };
        let whole = parcel(&system);
        for end in 0..whole.len() {
            assert!(std::panic::catch_unwind(|| read(&system, &whole[..end])).is_ok_and(|r| r.is_err()));
        }
        let longer = [&whole[..], &[0]].concat();
        assert_eq!(read(&system, &longer).unwrap_err(), BadParcel::Broken);
    }

    #[test]
    fn numbers_of_any_size() {
        for number in [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            let from = &mut &bytes[..];
            assert_eq!((take(from), from.len()), (Some(number), 0));
            assert_eq!(take(&mut &bytes[..bytes.len() - 1]), None);
        }
    }
}
