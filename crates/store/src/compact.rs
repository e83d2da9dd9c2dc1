//! A compact exact set of numbers: quotienting (Cleary 1984) over lines of one cache line.
//!
//! A key of k bits is mixed by a bijection. Its upper bits choose a *segment*; the rest, divided by a number
//! `d`, gives the home line (the quotient) and what is left (the remainder). An entry keeps only the
//! remainder and how many lines from home it was put, so the key can be computed back: the set is lossless,
//! and an entry of a large set needs half of the key's bits or less. Entries are as wide as the segment needs
//! (as many to a 64-bit word as fit without straddling two words); they get narrower as a segment grows.
//!
//! Within a line a look-up begins at a word that the remainder chooses, and all entries of a word are
//! compared at once. Nothing is ever taken out, so the first word with an empty place ends it.
//!
//! **Threads.** Several workers may insert at the same time ([`Compact::insert_shared`]): an entry is put
//! into its word by one compare-and-swap. Full words never change and words are filled in one order, so two
//! workers with the same key come to the same word, and the second one sees what the first has put there.
//! Only growth needs the set alone; several threads then move a segment each.
//!
//! Segments grow on their own and not at the same moment: there is no moment at which the set exists twice,
//! and the load of all together is always about the same. How much they grow is a choice between time and
//! memory ([`Growth`]).
//!
//! **Satellite bits.** An entry can carry a number of up to 32 bits ([`Compact::insert_with`]), which makes
//! the set a map. The number is written together with the entry, never changes, and moves with it when a
//! segment grows. An entry must fit into a word of 64 bits, so a map of wide keys begins with more than one
//! line a segment ([`Compact::least_lines`]).

use crate::Full;
use crate::budget::Budget;
use crate::mix::Mix;
use crate::pages::{Line, Pages, WORDS, prefetch};
use crate::quotient::{EntryPlace, Geometry, Probe};
use crate::together::together;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

/// The most upper bits of a mixed key that choose the segment.
const SEGMENT_BITS: u32 = 6;
/// Sets of numbers with fewer bits have one segment.
const ONE_SEGMENT: u32 = 14;
/// When the set has been stopped, segments with less than this part of their room left grow as well.
const AHEAD: u32 = 6;
/// Segments with fewer lines than this double.
const FEW_LINES: u64 = 16;

/// By how much a segment grows when it is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// To its double, at a load of 0.8: a key is moved once or twice and nearly always lies in its home line.
    Double,
    /// By a half, at a load of 0.84.
    Half,
}

impl Growth {
    /// How many lines a segment has next. Where the steps begin depends on the segment, so that not all are
    /// full at the same time.
    fn more_lines(self, lines: u64, number: usize) -> u64 {
        let part = |whole: u64| whole * number as u64 / (1 << SEGMENT_BITS);
        match (lines, self) {
            (0, _) => 1,
            (FEW_LINES, Growth::Double) => FEW_LINES * (72 + part(56)) / 64,
            (FEW_LINES, Growth::Half) => FEW_LINES * (80 + part(40)) / 64,
            (_, Growth::Half) if lines > FEW_LINES => lines + lines / 2,
            _ => lines * 2,
        }
    }

    /// How full a segment may be, in percent. Above, probing gets long, with few entries in a line earlier
    /// than with many.
    fn percent(self, per_word: u8) -> u64 {
        match self {
            Growth::Half if per_word > 1 => 84,
            Growth::Half | Growth::Double => 80,
        }
    }
}

/// A key that has been mixed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mixed(u64);

/// Where an entry is, until the next insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    segment: u32,
    place: EntryPlace,
}

/// New keys that a worker has not told a set of, by segment: a count that all workers wrote at every new key
/// would be a cache line that is never where it is needed.
#[derive(Debug, Default)]
pub struct Untold(Vec<u32>);

impl Untold {
    #[inline]
    fn of(&mut self, segment: usize) -> &mut u32 {
        if self.0.len() <= segment {
            self.0.resize(segment + 1, 0);
        }
        &mut self.0[segment]
    }

    /// How many there are.
    pub fn sum(&self) -> u64 {
        self.0.iter().map(|&untold| u64::from(untold)).sum()
    }
}

/// A segment must grow before anything can be inserted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Crowded;

/// A set of numbers below 2^k.
#[derive(Debug)]
pub struct Compact {
    mix: Mix,
    /// Bits of a mixed key below those that choose the segment.
    rest_bits: u32,
    satellites: u32,
    growth: Growth,
    segments: Vec<Segment>,
    /// The fewest lines with which an entry of a segment fits into a word.
    least_lines: u64,
    /// The most lines of a segment.
    most_lines: u64,
}

impl Compact {
    /// An empty set of numbers of `bits` bits (1..=64), with `satellites` satellite bits each (0..=32).
    pub fn new(bits: u32, satellites: u32, growth: Growth) -> Self {
        debug_assert!(satellites <= 32);
        let bits = bits.clamp(1, 64);
        let rest_bits = bits - segment_bits(bits);
        Compact {
            mix: Mix::new(bits),
            rest_bits,
            satellites,
            growth,
            segments: Vec::new(),
            least_lines: Geometry::least_lines(rest_bits, satellites),
            most_lines: u64::from(u32::MAX),
        }
    }

    /// Bytes that the smallest map of this kind takes when each of its segments has a key.
    pub fn least_memory(bits: u32, satellites: u32) -> u64 {
        let segment_bits = segment_bits(bits);
        let lines = Geometry::least_lines(bits - segment_bits, satellites);
        (lines * size_of::<Line>() as u64) << segment_bits
    }

    /// How many bits a key has.
    pub fn bits(&self) -> u32 {
        self.mix.bits()
    }

    /// How many keys there are.
    pub fn len(&self) -> u64 {
        self.segments.iter().map(|segment| u64::from(segment.len.0.load(Relaxed))).sum()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes in use.
    pub fn memory(&self) -> u64 {
        let lines: u64 = self.segments.iter().map(|segment| segment.pages.bytes()).sum();
        lines + (self.segments.capacity() * size_of::<Segment>()) as u64
    }

    /// A key as it is looked up: the same for as long as the set exists, however it grows.
    #[inline]
    pub fn mixed(&self, key: u64) -> Mixed {
        Mixed(self.mix.mix(key))
    }

    #[inline]
    fn split(&self, Mixed(key): Mixed) -> (usize, u64) {
        ((key >> self.rest_bits) as usize, key & ((1 << self.rest_bits) - 1))
    }

    /// Inserts `key`: where it is, and whether it is new.
    #[inline(always)]
    pub fn insert(&mut self, key: Mixed, budget: &mut Budget) -> Result<(Slot, bool), Full> {
        self.insert_with(key, 0, budget)
    }

    /// Inserts `key` with its satellite bits, unless it is there: where it is, and whether it is new.
    #[inline(always)]
    pub fn insert_with(
        &mut self,
        key: Mixed,
        satellite: u64,
        budget: &mut Budget,
    ) -> Result<(Slot, bool), Full> {
        debug_assert!(satellite >> self.satellites == 0, "satellite {satellite}");
        let (number, rest) = self.split(key);
        loop {
            let Some(segment) = self.segments.get_mut(number) else {
                self.begin(budget)?;
                continue;
            };
            match segment.probe(rest) {
                Probe::Found(place) => return Ok((slot(number, place), false)),
                Probe::Empty { place, value } if *segment.len.0.get_mut() < segment.most => {
                    segment.put(place, value | satellite);
                    return Ok((slot(number, place), true));
                }
                Probe::Empty { .. } | Probe::NoRoom => self.grow(number, budget)?,
            }
        }
    }

    /// Inserts `key` while others may do the same; true when it is new. The set learns of new keys some at a
    /// time: see [`Compact::tell`].
    #[inline]
    pub fn insert_shared(&self, key: Mixed, untold: &mut Untold) -> Result<bool, Crowded> {
        Ok(self.insert_shared_with(key, 0, untold)?.1)
    }

    /// Inserts `key` with its satellite bits, unless it is there, while others may do the same: where it is,
    /// and whether it is new.
    #[inline]
    pub fn insert_shared_with(
        &self,
        key: Mixed,
        satellite: u64,
        untold: &mut Untold,
    ) -> Result<(Slot, bool), Crowded> {
        debug_assert!(satellite >> self.satellites == 0, "satellite {satellite}");
        let (number, rest) = self.split(key);
        let segment = self.segments.get(number).ok_or(Crowded)?;
        let (place, new) = segment.insert_shared(rest, satellite, || untold.of(number))?;
        Ok((slot(number, place), new))
    }

    /// Tells of all new keys, for a worker who is done.
    pub fn tell(&self, untold: &mut Untold) {
        for (segment, untold) in self.segments.iter().zip(&mut untold.0) {
            segment.len.0.fetch_add(std::mem::take(untold), Relaxed);
        }
    }

    /// How much room there is where `key` belongs, which changes when and only when room is made there.
    pub fn room(&self, key: Mixed) -> u64 {
        self.segments.get(self.split(key).0).map_or(0, |segment| 1 + u64::from(segment.geometry.lines))
    }

    /// Makes room where `key` belongs, and wherever it will soon be needed: who is alone now has stopped all
    /// others, which must not happen for every segment. What is done ahead may fail. `threads` threads may be
    /// used.
    pub fn make_room(&mut self, key: Mixed, budget: &mut Budget, threads: usize) -> Result<(), Full> {
        if self.segments.is_empty() {
            return self.begin(budget);
        }
        let wanted = self.split(key).0;
        let (plan, keys) = self.plan(wanted, budget)?;
        let mut growing = self.growing(&plan);
        together(&mut growing, keys, threads, |growing| growing.grow());
        let grown =
            growing.iter().any(|growing| growing.number == wanted && growing.became == Became::Larger);
        growing.iter().for_each(|growing| budget.give(growing.unused));
        if grown { Ok(()) } else { self.grow(wanted, budget) }
    }

    /// Which segments grow together, and to what; their memory is booked. And how many keys they have.
    fn plan(&self, wanted: usize, budget: &mut Budget) -> Result<(Vec<(usize, Shape)>, u64), Full> {
        let (mut plan, mut keys) = (Vec::new(), 0);
        let others = (0..self.segments.len()).filter(|&number| number != wanted);
        for number in std::iter::once(wanted).chain(others) {
            let segment = &self.segments[number];
            let len = segment.len.0.load(Relaxed);
            if number != wanted && len < segment.most - segment.most / AHEAD {
                continue;
            }
            let lines = self.more_lines(u64::from(segment.geometry.lines), number);
            let shape = self.shape(lines).and_then(|shape| budget.take(shape.bytes()).map(|()| shape));
            match shape {
                Ok(shape) => plan.push((number, shape)),
                Err(full) if number == wanted => return Err(full),
                Err(_) => break,
            }
            keys += u64::from(len);
        }
        plan.sort_unstable_by_key(|&(number, _)| number);
        Ok((plan, keys))
    }

    /// The segments of a plan, which is in their order.
    fn growing(&mut self, plan: &[(usize, Shape)]) -> Vec<Growing<'_>> {
        let mut plan = plan.iter().peekable();
        let growing = self.segments.iter_mut().enumerate().filter_map(|(number, segment)| {
            let &(_, shape) = plan.next_if(|&&(planned, _)| planned == number)?;
            Some(Growing::new(number, segment, shape))
        });
        growing.collect()
    }

    /// How many lines segment `number` has next.
    fn more_lines(&self, lines: u64, number: usize) -> u64 {
        self.growth.more_lines(lines, number).max(self.least_lines)
    }

    /// What a segment with this number of lines is, unless there are more than can be counted.
    fn shape(&self, lines: u64) -> Result<Shape, Full> {
        if lines > self.most_lines {
            return Err(Full);
        }
        let geometry = Geometry::new(self.rest_bits, self.satellites, lines);
        let most = geometry.entries() * self.growth.percent(geometry.per_word) / 100;
        Ok(Shape { geometry, most: u32::try_from(most).unwrap_or(u32::MAX) })
    }

    /// Looks for `key`.
    #[inline]
    pub fn find(&self, key: Mixed) -> Option<Slot> {
        let (number, rest) = self.split(key);
        match self.segments.get(number)?.probe(rest) {
            Probe::Found(place) => Some(slot(number, place)),
            _ => None,
        }
    }

    /// Asks for the memory that a look-up of `key` will need first, so that several look-ups wait together.
    #[inline]
    pub fn prefetch(&self, key: Mixed) {
        let (number, rest) = self.split(key);
        let Some(segment) = self.segments.get(number) else { return };
        if let Some(line) = segment.pages.lines().get(segment.geometry.about_home(rest) as usize) {
            prefetch(line);
        }
    }

    /// The satellite bits of an entry.
    pub fn satellite(&self, slot: Slot) -> u64 {
        let EntryPlace { line, word, shift } = slot.place;
        let line = &self.segments[slot.segment as usize].pages.lines()[line as usize];
        line.0[word as usize].load(Relaxed) >> shift & ((1 << self.satellites) - 1)
    }

    /// Calls `each` for every key with its satellite bits.
    pub fn for_each(&self, mut each: impl FnMut(u64, u64)) {
        for (number, segment) in self.segments.iter().enumerate() {
            let high = (number as u64) << self.rest_bits;
            segment.for_each(|rest, bits| each(self.mix.unmix(high | rest), bits));
        }
    }

    /// Gives the memory back.
    pub fn release(self, budget: &mut Budget) {
        let memory = self.memory();
        drop(self);
        budget.give(memory as usize);
    }

    /// The segments of a set that was empty.
    #[cold]
    fn begin(&mut self, budget: &mut Budget) -> Result<(), Full> {
        let n = 1 << (self.bits() - self.rest_bits);
        self.segments = budget.reserved(n)?;
        let segment = || Segment::new(Geometry::new(self.rest_bits, self.satellites, 0), Pages::small(0), 0);
        self.segments.resize_with(n, segment);
        Ok(())
    }

    #[cold]
    fn grow(&mut self, number: usize, budget: &mut Budget) -> Result<(), Full> {
        let mut lines = u64::from(self.segments[number].geometry.lines);
        loop {
            lines = self.more_lines(lines, number);
            let shape = self.shape(lines)?;
            budget.take(shape.bytes())?;
            let mut growing = Growing::new(number, &mut self.segments[number], shape);
            growing.grow();
            budget.give(growing.unused);
            match growing.became {
                Became::Larger => return Ok(()),
                Became::Crowded => {}
                Became::Nothing => return Err(Full),
            }
        }
    }
}

/// Bits of a key of `bits` bits that choose the segment.
fn segment_bits(bits: u32) -> u32 {
    (bits.saturating_sub(ONE_SEGMENT) / 2).min(SEGMENT_BITS)
}

fn slot(segment: usize, place: EntryPlace) -> Slot {
    Slot { segment: segment as u32, place }
}

/// A part of the set.
#[derive(Debug)]
struct Segment {
    geometry: Geometry,
    pages: Pages,
    most: u32,
    /// The number of new keys after which a worker tells of them.
    quantum: u32,
    len: Count,
}

/// How many entries there are, without those that workers have not told of. Every look-up reads what stands
/// beside it, so it has a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Count(AtomicU32);

impl Segment {
    fn new(geometry: Geometry, pages: Pages, most: u32) -> Self {
        Segment { geometry, pages, most, quantum: (most / 32).clamp(1, 256), len: Count::default() }
    }

    fn put(&mut self, EntryPlace { line, word, shift }: EntryPlace, entry: u64) {
        let word = &self.pages.lines()[line as usize].0[word as usize];
        word.store(word.load(Relaxed) | entry << shift, Relaxed);
        *self.len.0.get_mut() += 1;
    }

    /// Inserts while others may do the same.
    #[inline]
    fn insert_shared<'u>(
        &self,
        rest: u64,
        satellite: u64,
        untold: impl FnOnce() -> &'u mut u32,
    ) -> Result<(EntryPlace, bool), Crowded> {
        let mut probe = self.probe(rest);
        if let Probe::Found(place) = probe {
            return Ok((place, false));
        }
        let untold = untold();
        // Keys that other workers have not told of may overfill it a little; where no line has room it is
        // crowded all the same.
        if self.len.0.load(Relaxed) + *untold >= self.most {
            return Err(Crowded);
        }
        loop {
            let (place, value) = match probe {
                Probe::Found(place) => return Ok((place, false)),
                Probe::Empty { place, value } => (place, value | satellite),
                Probe::NoRoom => return Err(Crowded),
            };
            let word = &self.pages.lines()[place.line as usize].0[place.word as usize];
            let old = word.load(Acquire);
            // A word is filled from below: if this place is still empty, nothing was put into the word since
            // it was looked at.
            let mask = u64::MAX >> (64 - u32::from(self.geometry.entry_bits));
            let is_empty = old >> place.shift & mask == 0;
            if is_empty && word.compare_exchange(old, old | value << place.shift, AcqRel, Acquire).is_ok() {
                *untold += 1;
                if *untold >= self.quantum {
                    self.len.0.fetch_add(std::mem::take(untold), Relaxed);
                }
                return Ok((place, true));
            }
            // Another worker has used the word: it may have entered this very key.
            probe = self.probe(rest);
        }
    }

    /// Entries fill a word from its lowest bits, and words in the order in which they are looked at.
    #[inline(always)]
    fn probe(&self, rest: u64) -> Probe {
        let geometry = &self.geometry;
        let (number, remainder) = geometry.home(rest);
        let value = (1 + (remainder << geometry.probe_bits)) << geometry.satellites;
        let Some(line) = self.pages.lines().get(number as usize) else { return Probe::NoRoom };
        match geometry.scan(line, Geometry::first_word(remainder), value) {
            Some(seen) => geometry.seen(number, value, seen),
            None => self.probe_further(number, remainder, value),
        }
    }

    /// Probes on, when the home line is full.
    #[inline(never)]
    fn probe_further(&self, home: u64, remainder: u64, value: u64) -> Probe {
        let geometry = &self.geometry;
        let (mut number, mut value) = (home, value);
        for _ in 1..1u32 << geometry.probe_bits {
            if geometry.lines == 1 {
                break;
            }
            value += 1 << geometry.satellites;
            number = geometry.next_line(number, remainder);
            let Some(line) = self.pages.lines().get(number as usize) else { break };
            if let Some(seen) = geometry.scan(line, Geometry::first_word(remainder), value) {
                return geometry.seen(number, value, seen);
            }
        }
        Probe::NoRoom
    }

    /// Puts an entry for a key that is not there. False when there is no room.
    #[inline(always)]
    fn add(&mut self, rest: u64, satellite: u64) -> bool {
        let geometry = self.geometry;
        let (mut number, remainder) = geometry.home(rest);
        let first = Geometry::first_word(remainder);
        let mut value = (1 + (remainder << geometry.probe_bits)) << geometry.satellites;
        let mut left = 1u32 << geometry.probe_bits;
        while let Some(line) = self.pages.lines().get(number as usize) {
            let mut at = first;
            loop {
                let word = &line.0[at % WORDS];
                let entries = word.load(Relaxed);
                let empty = geometry.zeros(entries & geometry.wanted.values);
                if empty != 0 {
                    let shift = empty.trailing_zeros() + 1 - u32::from(geometry.entry_bits);
                    word.store(entries | (value | satellite) << shift, Relaxed);
                    *self.len.0.get_mut() += 1;
                    return true;
                }
                at = (at + 1) % WORDS;
                if at == first {
                    break;
                }
            }
            left -= 1;
            if geometry.lines == 1 || left == 0 {
                break;
            }
            value += 1 << geometry.satellites;
            number = geometry.next_line(number, remainder);
        }
        false
    }

    /// Calls `each` with what the home and the remainder of every entry make up, and its satellite bits.
    fn for_each(&self, mut each: impl FnMut(u64, u64)) {
        for (number, line) in (0..).zip(self.pages.lines()) {
            self.for_each_of(number, line, &mut each);
        }
    }

    #[inline(always)]
    fn for_each_of(&self, number: u64, line: &Line, each: &mut impl FnMut(u64, u64)) {
        let geometry = self.geometry;
        let (probes, satellites) = ((1 << geometry.probe_bits) - 1, (1 << geometry.satellites) - 1);
        let mask = u64::MAX >> (64 - geometry.entry_bits);
        for word in &line.0 {
            let mut word = word.load(Relaxed);
            // Entries fill a word from below.
            while word != 0 {
                let entry = word & mask;
                let value = (entry >> geometry.satellites) - 1;
                let (remainder, probe) = (value >> geometry.probe_bits, value & probes);
                let home = if probe == 0 { number } else { geometry.home_of(number, remainder, probe) };
                each(home * geometry.divisor + remainder, entry & satellites);
                // In two steps: an entry may be as wide as the word.
                word = word >> (geometry.entry_bits - 1) >> 1;
            }
        }
    }

    /// The same entries in another shape; `None` when one finds no room there.
    fn rebuilt(&self, Shape { geometry, most }: Shape) -> Result<Option<Segment>, Full> {
        let pages = Pages::new(geometry.lines as usize)?;
        let mut new = Segment::new(geometry, pages, most);
        let mut fits = true;
        self.for_each(|rest, satellite| fits &= new.add(rest, satellite));
        // Some of them may not have been told of.
        new.len = Count(AtomicU32::new(self.len.0.load(Relaxed)));
        Ok(fits.then_some(new))
    }
}

/// What a segment is to become.
#[derive(Clone, Copy, Debug)]
struct Shape {
    geometry: Geometry,
    /// How many entries it may have.
    most: u32,
}

impl Shape {
    fn bytes(&self) -> usize {
        self.geometry.lines as usize * size_of::<Line>()
    }
}

/// A segment that grows, for which memory has been booked.
struct Growing<'a> {
    number: usize,
    segment: &'a mut Segment,
    shape: Shape,
    /// Bytes that are booked and not needed, when it has grown or failed to.
    unused: usize,
    became: Became,
}

/// What growth has led to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Became {
    /// The segment is another one.
    Larger,
    /// It is as it was, because an entry found no room in the new one.
    Crowded,
    /// It is as it was, because there was no memory.
    Nothing,
}

impl<'a> Growing<'a> {
    fn new(number: usize, segment: &'a mut Segment, shape: Shape) -> Self {
        Growing { number, segment, shape, unused: shape.bytes(), became: Became::Nothing }
    }

    fn grow(&mut self) {
        self.became = match self.segment.rebuilt(self.shape) {
            Ok(Some(new)) => {
                let old = std::mem::replace(self.segment, new);
                self.unused = old.pages.bytes() as usize;
                Became::Larger
            }
            Ok(None) => Became::Crowded,
            Err(Full) => Became::Nothing,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn random(state: &mut u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    }

    /// Random insertions with satellite bits, compared with a map of the standard library at every step.
    fn shadow(bits: u32, satellites: u32, growth: Growth, operations: usize, seed: u64) {
        let mut seed = seed;
        let budget = &mut Budget::new(u64::MAX);
        let mut set = Compact::new(bits, satellites, growth);
        let mut model: HashMap<u64, u64> = HashMap::new();
        let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        for i in 0..operations {
            // Every other key is from a small range, so that many are met again.
            let key = if i % 2 == 0 { random(&mut seed) & mask } else { (random(&mut seed) % 5000) & mask };
            assert_eq!(set.find(set.mixed(key)).is_some(), model.contains_key(&key));
            let satellite = random(&mut seed) & ((1 << satellites) - 1);
            let (slot, new) = set.insert_with(set.mixed(key), satellite, budget).unwrap();
            assert_eq!(new, !model.contains_key(&key), "{bits} bits, key {key}");
            let known = *model.entry(key).or_insert(satellite);
            assert_eq!(set.satellite(slot), known, "{bits} bits, key {key}");
        }
        let mut all = HashMap::new();
        set.for_each(|key, satellite| assert_eq!(all.insert(key, satellite), None));
        assert_eq!(all, model);
        assert_eq!(set.len(), model.len() as u64);
        assert_eq!(budget.used(), set.memory());
        set.release(budget);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn agrees_with_the_standard_library() {
        for (i, bits) in [1, 7, 8, 12, 17, 20, 24, 31, 32, 40, 48, 56, 63, 64].into_iter().enumerate() {
            for (satellites, growth) in [(i as u32 % 3, Growth::Half), (0, Growth::Double)] {
                shadow(bits, satellites, growth, 30_000, 99 + i as u64);
            }
            if bits <= 40 {
                shadow(bits, 32, Growth::Half, 30_000, i as u64);
                shadow(bits, 32, Growth::Double, 30_000, i as u64);
            }
        }
    }

    /// Workers that insert the same keys, each with numbers of its own, agree on the number of every key.
    #[test]
    fn workers_agree_on_satellites() {
        let mut budget = Budget::new(u64::MAX);
        let mut set = Compact::new(36, 32, Growth::Double);
        let (mut seed, mut keys) = (9, Vec::new());
        for _ in 0..20_000 {
            keys.push(random(&mut seed) >> 28);
        }
        // Room for all of them, so that nobody must grow the set.
        for &key in &keys {
            set.insert_with(set.mixed(key), 7, &mut budget).unwrap();
        }
        keys.iter_mut().for_each(|key| *key ^= 1 << 20);
        let (set, keys) = (&set, &keys);
        let work = move |worker: u64| {
            let mut untold = Untold::default();
            let insert = |(at, &key): (usize, &u64)| {
                let (slot, new) =
                    set.insert_shared_with(set.mixed(key), worker << 20 | at as u64, &mut untold).ok()?;
                Some((key, set.satellite(slot), new))
            };
            keys.iter().enumerate().filter_map(insert).collect::<Vec<_>>()
        };
        let found: Vec<_> = std::thread::scope(|scope| {
            let workers: Vec<_> = (1..5).map(|worker| scope.spawn(move || work(worker))).collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        });
        let mut numbers = HashMap::new();
        for &(key, number, _) in &found {
            assert_eq!(*numbers.entry(key).or_insert(number), number, "key {key}");
        }
        let firsts = found.iter().filter(|(_, _, new)| *new).count();
        assert!(firsts > 1000 && firsts <= numbers.len(), "{firsts}");
    }

    /// Large sets grow by several threads; a limit stops them without a loss, and the account is right.
    #[test]
    fn segments_that_grow_together_lose_nothing() {
        for (limit, at_least) in [(u64::MAX, 399_000), (1_000_000, 120_000)] {
            let budget = &mut Budget::new(limit);
            let mut set = Compact::new(40, 0, Growth::Half);
            let (mut seed, mut keys, mut untold) = (5, Vec::new(), Untold::default());
            'insert: for _ in 0..400_000 {
                let key = random(&mut seed) >> 24;
                let new = loop {
                    match set.insert_shared(set.mixed(key), &mut untold) {
                        Ok(new) => break new,
                        Err(Crowded) if set.make_room(set.mixed(key), budget, 3) == Err(Full) => {
                            break 'insert;
                        }
                        Err(Crowded) => {}
                    }
                };
                keys.extend(new.then_some(key));
            }
            assert!(keys.len() > at_least && budget.used() <= limit, "{} keys", keys.len());
            assert_eq!(set.len() + untold.sum(), keys.len() as u64);
            set.tell(&mut untold);
            assert_eq!((set.len(), set.memory()), (keys.len() as u64, budget.used()));
            assert!(keys.iter().all(|&key| set.find(set.mixed(key)).is_some()));
            let mut all = Vec::new();
            set.for_each(|key, _| all.push(key));
            all.sort_unstable();
            keys.sort_unstable();
            assert!(all == keys);
        }
    }

    #[test]
    fn a_full_small_universe_fits() {
        let budget = &mut Budget::new(u64::MAX);
        let mut set = Compact::new(12, 0, Growth::Half);
        (0..4096).for_each(|key| assert!(set.insert(set.mixed(key), budget).unwrap().1));
        (0..4096).for_each(|key| assert!(!set.insert(set.mixed(key), budget).unwrap().1));
        assert_eq!(set.len(), 4096);
    }

    #[test]
    fn entries_get_narrower_as_the_set_grows() {
        let budget = &mut Budget::new(u64::MAX);
        let mut set = Compact::new(40, 0, Growth::Half);
        let mut seed = 3;
        while set.len() < 1_000_000 {
            set.insert(set.mixed(random(&mut seed) >> 24), budget).unwrap();
        }
        let bytes = set.memory() as f64 / set.len() as f64;
        assert!(bytes < 6.2, "{bytes} bytes a key");
    }

    /// With a limit as low as this: more lines than can be counted are refused, alone and together.
    #[test]
    fn a_segment_has_no_more_lines_than_can_be_counted() {
        for threads in [0, 3] {
            let budget = &mut Budget::new(u64::MAX);
            let mut set = Compact { most_lines: 40, ..Compact::new(44, 0, Growth::Half) };
            let (mut keys, mut seed) = (Vec::new(), 17);
            loop {
                let key = random(&mut seed) >> 20;
                let grown = if threads > 0 && keys.len() % 64 == 0 {
                    set.make_room(set.mixed(key), budget, threads)
                } else {
                    Ok(())
                };
                match grown.and_then(|()| set.insert(set.mixed(key), budget)) {
                    Ok(_) => keys.push(key),
                    Err(Full) => break,
                }
            }
            assert!(keys.len() > 1000 && set.segments.iter().all(|segment| segment.geometry.lines <= 40));
            assert!(keys.iter().all(|&key| set.find(set.mixed(key)).is_some()));
            assert_eq!(budget.used(), set.memory());
        }
    }

    #[test]
    fn the_limit_is_kept_and_nothing_is_lost() {
        let budget = &mut Budget::new(300_000);
        let mut set = Compact::new(44, 0, Growth::Half);
        let mut keys = Vec::new();
        let mut seed = 11;
        loop {
            let key = random(&mut seed) >> 20;
            match set.insert(set.mixed(key), budget) {
                Ok(_) => keys.push(key),
                Err(Full) => break,
            }
            assert!(set.memory() <= 300_000);
        }
        assert!(keys.len() > 20_000, "{}", keys.len());
        assert!(keys.iter().all(|&key| set.find(set.mixed(key)).is_some()));
    }
}
