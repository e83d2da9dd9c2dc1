//! A compact exact set of numbers: quotienting (Cleary 1984) over lines of one cache line.
//!
//! A key of k bits is mixed by a bijection. Its upper bits choose a *segment*; the rest, divided by a number `d`, gives
//! the home line (the quotient) and what is left (the remainder). An entry keeps only the remainder and how many lines
//! from home it was put, so the key can be computed back: the set is lossless, and an entry of a large set needs half
//! of the key's bits or less. Entries are as wide as the segment needs (so many to a 64-bit word that none
//! straddles two words); they get narrower as a segment grows.
//!
//! Within a line a look-up begins at a word that the remainder chooses, and all entries of a word are compared at once.
//! Nothing is ever taken out, so the first word with an empty place ends it.
//!
//! **Threads.** Several workers may insert at the same time ([`Compact::insert_shared`]): an entry is put into its word by one
//! compare-and-swap. Full words never change and words are filled in one order, so two workers with the same key come to the
//! same word, and the second one sees what the first has put there. Only growth needs the set alone; several threads then move
//! a segment each.
//!
//! Segments grow on their own and not at the same moment: there is no moment at which the set exists twice, and the load of
//! all together is always about the same. How much they grow is a choice between time and memory ([`Growth`]). An entry
//! can carry *satellite bits* for a search; they move with it.

use crate::Full;
use crate::budget::Budget;
use crate::mix::Mix;
use crate::pages::{Line, Pages, WORDS, prefetch};
use crate::scan64::{self, Wanted};
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
    /// How many lines a segment has next. Where the steps begin depends on the segment, so that not all are full at the same
    /// time.
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

    /// How full a segment may be, in percent. Above, probing gets long, with few entries in a line earlier than with many.
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
    place: Place,
}

/// Where an entry of a segment is: the word, and how far up in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    line: u32,
    word: u32,
    shift: u32,
}

/// New keys that a worker has not told a set of, by segment: a count that all workers wrote at every new key would be a cache line
/// that is never where it is needed.
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
    /// The most lines of a segment.
    most_lines: u64,
}

impl Compact {
    /// An empty set of numbers of `bits` bits (1..=64), with so many satellite bits for each (0..=2).
    pub fn new(bits: u32, satellites: u32, growth: Growth) -> Self {
        let bits = bits.clamp(1, 64);
        let segment_bits = (bits.saturating_sub(ONE_SEGMENT) / 2).min(SEGMENT_BITS);
        let (mix, rest_bits) = (Mix::new(bits), bits - segment_bits);
        Compact { mix, rest_bits, satellites, growth, segments: Vec::new(), most_lines: u64::from(u32::MAX) }
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
        let (number, rest) = self.split(key);
        loop {
            let Some(segment) = self.segments.get_mut(number) else {
                self.begin(budget)?;
                continue;
            };
            match segment.probe(rest) {
                Probe::Found(place) => return Ok((slot(number, place), false)),
                Probe::Empty { place, value } if *segment.len.0.get_mut() < segment.most => {
                    segment.put(place, value);
                    return Ok((slot(number, place), true));
                }
                Probe::Empty { .. } | Probe::NoRoom => self.grow(number, budget)?,
            }
        }
    }

    /// Inserts `key` while others may do the same; true when it is new. Not for sets with satellite bits. The set learns of
    /// new keys some at a time: see [`Compact::tell`].
    #[inline]
    pub fn insert_shared(&self, key: Mixed, untold: &mut Untold) -> Result<bool, Crowded> {
        let (number, rest) = self.split(key);
        self.segments.get(number).ok_or(Crowded)?.insert_shared(rest, || untold.of(number))
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

    /// Makes room where `key` belongs, and wherever it will soon be needed: who is alone now has stopped all others, which
    /// must not happen for every segment. What is done ahead may fail. So many threads may be used.
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
            let lines = self.growth.more_lines(u64::from(segment.geometry.lines), number);
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

    /// What a segment with so many lines is, unless there are more than can be counted.
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
        let Place { line, word, shift } = slot.place;
        let line = &self.segments[slot.segment as usize].pages.lines()[line as usize];
        line.0[word as usize].load(Relaxed) >> shift & ((1 << self.satellites) - 1)
    }

    /// Changes the satellite bits of an entry.
    pub fn set_satellite(&mut self, slot: Slot, bits: u64) {
        let Place { line, word, shift } = slot.place;
        let mask = (1u64 << self.satellites) - 1;
        let word = &self.segments[slot.segment as usize].pages.lines()[line as usize].0[word as usize];
        word.store(word.load(Relaxed) & !(mask << shift) | (bits & mask) << shift, Relaxed);
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
            lines = self.growth.more_lines(lines, number);
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

fn slot(segment: usize, place: Place) -> Slot {
    Slot { segment: segment as u32, place }
}

/// How the keys of a segment are taken apart.
#[derive(Clone, Copy, Debug)]
struct Geometry {
    /// Keys that share a home line.
    divisor: u64,
    /// 2^64 / divisor, to divide by multiplication.
    reciprocal: u64,
    /// What is looked for in a word.
    wanted: Wanted,
    lines: u32,
    /// Bits of an entry: 1 + remainder × 2^probe_bits + probe number, and the satellite bits below.
    entry_bits: u8,
    /// Entries of a 64-bit word.
    per_word: u8,
    /// As a power of two: lines that are tried for a key; when all are full the segment grows, however low its load.
    probe_bits: u8,
    satellites: u8,
    /// The words of a line are looked at together.
    together: bool,
}

impl Geometry {
    fn new(key_bits: u32, satellites: u32, lines: u64) -> Self {
        // A divisor of at least 2 keeps the reciprocal within 64 bits.
        let divisor = (1u64 << key_bits).div_ceil(lines.max(1)).max(2);
        let needed = |probe_bits: u32| 64 - (divisor << probe_bits).leading_zeros() + satellites;
        // Lines of many entries overflow less often.
        let probe_bits = if needed(3) <= 32 { 3 } else { 4 };
        let per_word = (64 / needed(probe_bits)).max(1);
        let entry_bits = 64 / per_word;
        let repeated = |entry: u64| (0..per_word).fold(0, |word, i| word | entry << (i * entry_bits));
        Geometry {
            divisor,
            reciprocal: (u128::from(u64::MAX) / u128::from(divisor)) as u64,
            wanted: Wanted {
                values: repeated(u64::MAX >> (64 - entry_bits) & (u64::MAX << satellites)),
                ones: repeated(1),
                highs: repeated(1 << (entry_bits - 1)),
                last: 1 << ((per_word - 1) * entry_bits),
            },
            lines: lines as u32,
            entry_bits: entry_bits as u8,
            per_word: per_word as u8,
            probe_bits: probe_bits as u8,
            satellites: satellites as u8,
            together: scan64::is_supported(),
        }
    }

    /// How many entries there is room for.
    fn entries(&self) -> u64 {
        u64::from(self.lines) * WORDS as u64 * u64::from(self.per_word)
    }

    /// The quotient, or very rarely one less.
    #[inline(always)]
    fn about_home(&self, rest: u64) -> u64 {
        ((u128::from(rest) * u128::from(self.reciprocal)) >> 64) as u64
    }

    /// Quotient and remainder.
    #[inline(always)]
    fn home(&self, rest: u64) -> (u64, u64) {
        let mut quotient = self.about_home(rest);
        let mut remainder = rest - quotient * self.divisor;
        if remainder >= self.divisor {
            quotient += 1;
            remainder -= self.divisor;
        }
        (quotient, remainder)
    }

    /// How far apart the lines are that are tried for keys with this remainder.
    #[inline]
    fn stride(&self, remainder: u64) -> u64 {
        let spread = remainder.wrapping_mul(0xd1b5_4a32_d192_ed03) >> 32;
        1 + ((spread * u64::from(self.lines.saturating_sub(1).max(1))) >> 32)
    }

    /// The word of a line where the search for keys with this remainder begins.
    #[inline]
    fn first_word(remainder: u64) -> usize {
        (remainder.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61) as usize
    }

    /// The line that is tried after this one.
    #[inline]
    fn next_line(&self, line: u64, remainder: u64) -> u64 {
        let next = line + self.stride(remainder);
        if next >= u64::from(self.lines) { next - u64::from(self.lines) } else { next }
    }

    /// The home of an entry that was put into this line when so many others had been full.
    #[cold]
    fn home_of(&self, line: u64, remainder: u64, probe: u64) -> u64 {
        let lines = u64::from(self.lines);
        let back = probe * self.stride(remainder) % lines;
        if line >= back { line - back } else { line + lines - back }
    }

    /// The first word of a line, from `first` on, that has an entry of this value or an empty place: the word, the
    /// highest bits of such entries, and what is in the word.
    #[inline(always)]
    fn scan(&self, line: &Line, first: usize, value: u64) -> Option<(usize, u64, u64)> {
        let wanted = value.wrapping_mul(self.wanted.ones);
        if self.together {
            return self.scan_together(line, first, wanted);
        }
        let mut at = first;
        loop {
            let (found, entries) = self.look(line, at, wanted);
            if found != 0 || self.has_room(entries) {
                return Some((at % WORDS, found, entries));
            }
            at = (at + 1) % WORDS;
            if at == first {
                return None;
            }
        }
    }

    /// The same without a loop. Only if others have filled a word since it was looked at, it is looked for again.
    #[inline(always)]
    fn scan_together(&self, line: &Line, first: usize, wanted: u64) -> Option<(usize, u64, u64)> {
        loop {
            let (alike, room) = scan64::scan(&self.wanted, line, wanted);
            if alike | room == 0 {
                return None;
            }
            // An entry lies in one word only, wherever the search for it begins.
            let words = if alike == 0 { room } else { alike };
            let from = (words | words << WORDS) >> first;
            let at = first + from.trailing_zeros() as usize;
            let (found, entries) = self.look(line, at, wanted);
            if found != 0 || self.has_room(entries) {
                return Some((at % WORDS, found, entries));
            }
        }
    }

    /// Entries of a word: the highest bits of those that are wanted, and all.
    #[inline(always)]
    fn look(&self, line: &Line, at: usize, wanted: u64) -> (u64, u64) {
        let entries = line.0[at % WORDS].load(Relaxed) & self.wanted.values;
        (self.zeros(entries ^ wanted), entries)
    }

    /// Whether a word has an empty place: it is filled from below, so the last one is then empty.
    #[inline(always)]
    fn has_room(&self, entries: u64) -> bool {
        entries < self.wanted.last
    }

    /// What a scan of a line shows for an entry of this value.
    #[inline(always)]
    fn seen(&self, line: u64, value: u64, (word, found, entries): (usize, u64, u64)) -> Probe {
        let place = |zeros: u64| Place {
            line: line as u32,
            word: word as u32,
            shift: zeros.trailing_zeros() + 1 - u32::from(self.entry_bits),
        };
        // Behind an empty place there is nothing.
        if found != 0 {
            Probe::Found(place(found))
        } else {
            Probe::Empty { place: place(self.zeros(entries)), value }
        }
    }

    /// Where entries are zero, their highest bits; the lowest of these bits is always right.
    #[inline]
    fn zeros(&self, word: u64) -> u64 {
        word.wrapping_sub(self.wanted.ones) & !word & self.wanted.highs
    }
}

/// What a look-up shows.
enum Probe {
    /// The entry is here.
    Found(Place),
    /// It is not there; it belongs here, with this value.
    Empty { place: Place, value: u64 },
    /// It is not there, and all lines that it may lie in are full.
    NoRoom,
}

/// A part of the set.
#[derive(Debug)]
struct Segment {
    geometry: Geometry,
    pages: Pages,
    most: u32,
    /// Workers tell of their new keys when they have so many.
    quantum: u32,
    len: Count,
}

/// How many entries there are, without those that workers have not told of. Every look-up reads what stands beside it, so it
/// has a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Count(AtomicU32);

impl Segment {
    fn new(geometry: Geometry, pages: Pages, most: u32) -> Self {
        Segment { geometry, pages, most, quantum: (most / 32).clamp(1, 256), len: Count::default() }
    }

    fn put(&mut self, Place { line, word, shift }: Place, entry: u64) {
        let word = &self.pages.lines()[line as usize].0[word as usize];
        word.store(word.load(Relaxed) | entry << shift, Relaxed);
        *self.len.0.get_mut() += 1;
    }

    /// Inserts while others may do the same.
    #[inline]
    fn insert_shared<'u>(&self, rest: u64, untold: impl FnOnce() -> &'u mut u32) -> Result<bool, Crowded> {
        let mut probe = self.probe(rest);
        if matches!(probe, Probe::Found(_)) {
            return Ok(false);
        }
        let untold = untold();
        if self.len.0.load(Relaxed) + *untold >= self.most {
            return Err(Crowded);
        }
        loop {
            let (place, value) = match probe {
                Probe::Found(_) => return Ok(false),
                Probe::Empty { place, value } => (place, value),
                Probe::NoRoom => return Err(Crowded),
            };
            let word = &self.pages.lines()[place.line as usize].0[place.word as usize];
            let old = word.load(Acquire);
            // A word is filled from below: if this place is still empty, nothing was put into the word since it was looked at.
            let mask = u64::MAX >> (64 - u32::from(self.geometry.entry_bits));
            let is_empty = old >> place.shift & mask == 0;
            if is_empty && word.compare_exchange(old, old | value << place.shift, AcqRel, Acquire).is_ok() {
                *untold += 1;
                if *untold >= self.quantum {
                    self.len.0.fetch_add(std::mem::take(untold), Relaxed);
                }
                return Ok(true);
            }
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

    /// As [`Segment::probe`], when the home line is full.
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

    /// Random insertions and satellite changes, compared with a map of the standard library at every step.
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
            let (slot, new) = set.insert(set.mixed(key), budget).unwrap();
            assert_eq!(new, !model.contains_key(&key), "{bits} bits, key {key}");
            let known = model.entry(key).or_insert(0);
            assert_eq!(set.satellite(slot), *known);
            *known = random(&mut seed) & ((1 << satellites) - 1);
            set.set_satellite(slot, *known);
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
        }
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
