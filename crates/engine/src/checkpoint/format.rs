//! What is in a checkpoint: a journal ([`archive::journal`]) of a header, blocks of states, and moments from
//! which the search can go on. A moment says what is new since the last one.

use archive::block::Damage;
use archive::states::{put_bytes, put_number, take_bytes, take_number};
use search::ancestry::{Ancestry, AncestryImage, Depth, Landmark, Lengths, Pack};
use search::checkpoint::{FoundStates, Moment, Saved};
use search::{Cuts, Finding, Findings, Spot, Statistics, StopReason};
use std::borrow::Cow;
use system::portable::{Exporter, Importer, PortableError, ShapeNumber};
use system::{ActionId, Annotation, Fault, FaultKind, LeanOrder, TransitionSystem};

/// Kinds of blocks.
pub const HEADER: u8 = 1;
/// States of one worker.
pub const STATES: u8 = 2;
/// How far the search is; the last block of it.
pub const MOMENT: u8 = 3;
/// The same, a block before the last.
pub const PART: u8 = 4;

/// Which search was chosen, where samples decide.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Chosen {
    /// The one that the plan names.
    AsPlanned,
    /// A reduction that pays.
    Reduced,
    /// None, though one was tried.
    Unreduced,
}

/// Which search is written down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decided {
    /// What the samples said of the reduction.
    pub chosen: Chosen,
    /// The order of a lean search.
    pub order: Option<LeanOrder>,
}

impl Decided {
    /// The search that the plan names.
    pub const AS_PLANNED: Self = Decided { chosen: Chosen::AsPlanned, order: None };
}

/// What must agree, and what is told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// Of the tool.
    pub version: String,
    /// The model, as it was called.
    pub model: String,
    /// The property, as reports name it.
    pub property: String,
    /// The program and the kind of machine.
    pub fingerprint: u64,
    /// Every option that changes what is explored or counted, with its words.
    pub options: Vec<(String, Vec<String>)>,
    /// Which search it is.
    pub decided: Decided,
}

impl Header {
    /// As a block.
    pub fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for text in [&self.version, &self.model, &self.property] {
            put_bytes(&mut out, text.as_bytes());
        }
        out.extend_from_slice(&self.fingerprint.to_le_bytes());
        put_number(&mut out, self.options.len() as u64);
        for (name, words) in &self.options {
            put_bytes(&mut out, name.as_bytes());
            put_number(&mut out, words.len() as u64);
            words.iter().for_each(|word| put_bytes(&mut out, word.as_bytes()));
        }
        out.push(self.decided.chosen as u8);
        let order = |order| LeanOrder::ALL.iter().position(|&other| Some(other) == order);
        put_number(&mut out, order(self.decided.order).map_or(0, |at| at as u64 + 1));
        out
    }

    /// From a block.
    pub fn read(mut from: &[u8]) -> Result<Self, Damage> {
        let from = &mut from;
        let (version, model, property) = (text(from)?, text(from)?, text(from)?);
        let fingerprint = word(from)?;
        let mut options = Vec::new();
        for _ in 0..take_number(from)? {
            let name = text(from)?;
            let words =
                (0..take_number(from)?).map(|_| text(from)).collect::<Result<Vec<String>, Damage>>()?;
            options.push((name, words));
        }
        let all = [Chosen::AsPlanned, Chosen::Reduced, Chosen::Unreduced];
        let chosen = *all.get(usize::from(byte(from)?)).ok_or(Damage::Altered)?;
        let order = match take_number(from)?.checked_sub(1) {
            None => None,
            Some(at) => Some(*LeanOrder::ALL.get(at as usize).ok_or(Damage::Altered)?),
        };
        end(from)?;
        Ok(Header { version, model, property, fingerprint, options, decided: Decided { chosen, order } })
    }
}

/// States of one worker as a block: the ancestry, the shapes that they have, and the states.
pub fn write_states(
    system: &dyn TransitionSystem,
    ancestry: usize,
    states: &FoundStates,
) -> Result<Vec<u8>, PortableError> {
    let mut exporter = Exporter::new(system)?;
    let (mut body, mut contents) =
        (Vec::with_capacity(states.bytes.len() + 4 * states.list.len()), Vec::new());
    for (state, annotation) in states.iter() {
        contents.clear();
        let exported = exporter.export(state, &mut contents)?;
        put_number(&mut body, u64::from(exported.shape.0));
        put_number(&mut body, annotation.bits());
        put_bytes(&mut body, &contents);
    }
    let (mut out, mut shapes) = (Vec::new(), Vec::new());
    exporter.dictionary().write_from(0, &mut shapes);
    put_number(&mut out, ancestry as u64);
    put_number(&mut out, states.list.len() as u64);
    put_bytes(&mut out, &shapes);
    out.extend_from_slice(&body);
    Ok(out)
}

/// The ancestry of a block of states, and how many they are.
pub fn head_of_states(mut block: &[u8]) -> Result<(usize, u64), Damage> {
    Ok((number(&mut block)?, take_number(&mut block)?))
}

/// Why a block of states cannot be read.
#[derive(Clone, Debug)]
pub enum BadStates {
    /// It was altered.
    Damage(Damage),
    /// They are no states of this model.
    Portable(PortableError),
}

impl From<Damage> for BadStates {
    fn from(damage: Damage) -> Self {
        BadStates::Damage(damage)
    }
}

impl From<PortableError> for BadStates {
    fn from(error: PortableError) -> Self {
        BadStates::Portable(error)
    }
}

/// Reads a block of states.
pub fn read_states(
    system: &dyn TransitionSystem,
    mut from: &[u8],
    states: &mut FoundStates,
) -> Result<(), BadStates> {
    let from = &mut from;
    let (_, n) = (take_number(from)?, take_number(from)?);
    let mut importer = Importer::new(system)?;
    importer.learn(take_bytes(from)?)?;
    states.clear();
    for _ in 0..n {
        let shape = ShapeNumber(u32::try_from(take_number(from)?).map_err(|_| Damage::Altered)?);
        let annotation = Annotation::new(take_number(from)?);
        let before = states.bytes.len();
        importer.import(shape, take_bytes(from)?, &mut states.bytes)?;
        states.list.push(((states.bytes.len() - before) as u32, annotation));
    }
    Ok(end(from)?)
}

/// A moment as a block. `written` is how far the last one was. That fails where an ancestry is on a disk that
/// cannot be read.
pub fn write_moment(
    moment: &Moment<'_>,
    written: &[Lengths],
    micros: u64,
    covered: &[Vec<bool>],
) -> Result<Vec<u8>, StopReason> {
    let mut out = Vec::new();
    put_number(&mut out, moment.ancestries.len() as u64);
    for (number, ancestry) in moment.ancestries.iter().enumerate() {
        let written = written.get(number).copied().unwrap_or_default();
        write_ancestry(&ancestry.image_since(written)?, &mut out);
    }
    write_found(&moment.found, &mut out);
    let s = &moment.statistics;
    for number in
        [s.transitions, s.matched, s.slept, s.reduced, s.depth, s.vector_bytes, moment.found_twice, micros]
    {
        put_number(&mut out, number);
    }
    out.push(u8::from(moment.cuts.atomic_loop()));
    put_number(&mut out, moment.cuts.errors().len() as u64);
    moment.cuts.errors().iter().for_each(|fault| write_fault(fault, &mut out));
    out.push(u8::from(moment.random.is_some()));
    out.extend_from_slice(&moment.random.unwrap_or_default().to_le_bytes());
    put_number(&mut out, covered.len() as u64);
    for flags in covered {
        put_bytes(&mut out, &flags.iter().map(|&flag| u8::from(flag)).collect::<Vec<u8>>());
    }
    Ok(out)
}

/// Appends what is new in an ancestry.
fn write_ancestry(image: &AncestryImage<'_>, out: &mut Vec<u8>) {
    put_number(out, image.log.len() as u64);
    image.log.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    out.extend_from_slice(&image.latest.0.to_le_bytes());
    put_number(out, u64::from(image.latest.1));
    put_number(out, image.landmarks.len() as u64);
    for landmark in image.landmarks.iter() {
        [landmark.at, landmark.parent, landmark.child].iter().for_each(|&number| put_number(out, number));
    }
    put_number(out, image.packs.len() as u64);
    for pack in image.packs.iter() {
        [pack.expansion, pack.worker as u64, pack.state].iter().for_each(|&number| put_number(out, number));
    }
    put_number(out, image.depths.len() as u64);
    for depth in image.depths.iter() {
        [depth.state, depth.depth].iter().for_each(|&number| put_number(out, number));
    }
    let given_up = &image.given_up;
    [image.parent, image.child, given_up.start, given_up.end].iter().for_each(|&n| put_number(out, n));
}

pub(crate) fn write_found(found: &Findings, out: &mut Vec<u8>) {
    put_number(out, found.errors);
    put_number(out, found.list().len() as u64);
    for Finding { fault, depth, spot } in found.list() {
        write_fault(fault, out);
        put_number(out, *depth);
        write_spot(spot, out);
    }
    put_number(out, found.cuts().len() as u64);
    for (fault, spot) in found.cuts() {
        write_fault(fault, out);
        write_spot(spot, out);
    }
    out.push(u8::from(found.atomic_loop().is_some()));
    found.atomic_loop().iter().for_each(|spot| write_spot(spot, out));
}

fn write_spot(spot: &Spot, out: &mut Vec<u8>) {
    put_number(out, spot.worker as u64);
    put_number(out, spot.expansion);
    put_number(out, spot.more.len() as u64);
    spot.more.iter().for_each(|action| put_number(out, action.0));
}

pub(crate) fn write_fault(fault: &Fault, out: &mut Vec<u8>) {
    put_bytes(out, fault.kind.name().as_bytes());
    put_bytes(out, fault.message.as_bytes());
    put_bytes(out, fault.file.as_bytes());
    put_number(out, u64::from(fault.line));
    put_number(out, u64::from(fault.column));
    put_number(out, u64::from(fault.process.is_some()));
    fault.process.iter().for_each(|process| put_bytes(out, process.as_bytes()));
    put_number(out, fault.pid.map_or(0, |pid| u64::from(pid) + 1));
}

/// What moments come to.
#[derive(Debug, Default)]
pub struct Gathered {
    /// The search.
    pub saved: Saved,
    /// How long it took, in microseconds.
    pub micros: u64,
    /// Which edges were taken, by proctype.
    pub covered: Vec<Vec<bool>>,
}

impl Gathered {
    /// Adds the next moment.
    pub fn add(&mut self, mut from: &[u8]) -> Result<(), Damage> {
        let from = &mut from;
        let before = std::mem::take(&mut self.saved.ancestries);
        let mut before = before.into_iter();
        for _ in 0..take_number(from)? {
            let ancestry = read_ancestry(before.next().unwrap_or_default(), from)?;
            self.saved.ancestries.push(ancestry);
        }
        if before.next().is_some() {
            return Err(Damage::Altered);
        }
        self.saved.found = read_found(from)?;
        let mut numbers = [0; 8];
        for number in &mut numbers {
            *number = take_number(from)?;
        }
        let [transitions, matched, slept, reduced, depth, vector_bytes, found_twice, micros] = numbers;
        self.saved.statistics =
            Statistics { transitions, matched, slept, reduced, depth, vector_bytes, ..Statistics::default() };
        (self.saved.found_twice, self.micros) = (found_twice, micros);
        let atomic_loop = byte(from)? != 0;
        let errors =
            (0..take_number(from)?).map(|_| read_fault(from)).collect::<Result<Vec<Fault>, Damage>>()?;
        self.saved.cuts = Cuts::restored(atomic_loop, errors);
        let has_random = byte(from)? != 0;
        self.saved.random = Some(word(from)?).filter(|_| has_random);
        self.covered.clear();
        for _ in 0..take_number(from)? {
            self.covered.push(take_bytes(from)?.iter().map(|&flag| flag != 0).collect());
        }
        end(from)
    }
}

fn read_ancestry(before: Ancestry, from: &mut &[u8]) -> Result<Ancestry, Damage> {
    let image = before.image().map_err(|_| Damage::Altered)?;
    let (mut log, mut landmarks) = (image.log.into_owned(), image.landmarks.into_owned());
    let (mut packs, mut depths) = (image.packs.into_owned(), image.depths.into_owned());
    for _ in 0..take_number(from)? {
        log.push(word(from)?);
    }
    let latest = (word(from)?, u32::try_from(take_number(from)?).map_err(|_| Damage::Altered)?);
    for _ in 0..take_number(from)? {
        landmarks.push(Landmark {
            at: take_number(from)?,
            parent: take_number(from)?,
            child: take_number(from)?,
        });
    }
    for _ in 0..take_number(from)? {
        packs.push(Pack { expansion: take_number(from)?, worker: number(from)?, state: take_number(from)? });
    }
    for _ in 0..take_number(from)? {
        depths.push(Depth { state: take_number(from)?, depth: take_number(from)? });
    }
    let (parent, child) = (take_number(from)?, take_number(from)?);
    let given_up = take_number(from)?..take_number(from)?;
    let (log, landmarks) = (Cow::Owned(log), Cow::Owned(landmarks));
    let (packs, depths) = (Cow::Owned(packs), Cow::Owned(depths));
    Ok(Ancestry::of_image(AncestryImage { log, latest, landmarks, packs, depths, parent, child, given_up }))
}

pub(crate) fn read_found(from: &mut &[u8]) -> Result<Findings, Damage> {
    let errors = take_number(from)?;
    let (mut list, mut cuts) = (Vec::new(), Vec::new());
    for _ in 0..take_number(from)? {
        list.push(Finding { fault: read_fault(from)?, depth: take_number(from)?, spot: read_spot(from)? });
    }
    for _ in 0..take_number(from)? {
        cuts.push((read_fault(from)?, read_spot(from)?));
    }
    let atomic_loop = match byte(from)? {
        0 => None,
        _ => Some(read_spot(from)?),
    };
    Ok(Findings::restored(errors, list, cuts, atomic_loop))
}

fn read_spot(from: &mut &[u8]) -> Result<Spot, Damage> {
    let (worker, expansion) = (number(from)?, take_number(from)?);
    let more = (0..take_number(from)?).map(|_| take_number(from).map(ActionId));
    Ok(Spot { worker, expansion, more: more.collect::<Result<Vec<ActionId>, Damage>>()? })
}

pub(crate) fn read_fault(from: &mut &[u8]) -> Result<Fault, Damage> {
    let name = text(from)?;
    let kind = FaultKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or(Damage::Altered)?;
    let (message, file) = (text(from)?, text(from)?);
    let small = |number: u64| u32::try_from(number).map_err(|_| Damage::Altered);
    let (line, column) = (small(take_number(from)?)?, small(take_number(from)?)?);
    let process = match take_number(from)? {
        0 => None,
        _ => Some(text(from)?),
    };
    let pid = take_number(from)?.checked_sub(1).map(small).transpose()?;
    Ok(Fault { kind, message, file, line, column, process, pid })
}

fn text(from: &mut &[u8]) -> Result<String, Damage> {
    String::from_utf8(take_bytes(from)?.to_vec()).map_err(|_| Damage::Altered)
}

fn number(from: &mut &[u8]) -> Result<usize, Damage> {
    usize::try_from(take_number(from)?).map_err(|_| Damage::Altered)
}

fn byte(from: &mut &[u8]) -> Result<u8, Damage> {
    let (&byte, rest) = from.split_first().ok_or(Damage::Truncated)?;
    *from = rest;
    Ok(byte)
}

fn word(from: &mut &[u8]) -> Result<u64, Damage> {
    let (word, rest) = from.split_first_chunk().ok_or(Damage::Truncated)?;
    *from = rest;
    Ok(u64::from_le_bytes(*word))
}

/// Nothing follows.
fn end(from: &[u8]) -> Result<(), Damage> {
    if from.is_empty() { Ok(()) } else { Err(Damage::LeftOver) }
}
