//! A compact exact set of numbers: quotienting (Cleary 1984) over lines of one cache line.
//!
//! A key of k bits is mixed by a bijection. Its upper bits choose a *segment*; the rest, divided by a number `d`, gives
//! the home line (the quotient) and what is left (the remainder). An entry keeps only the remainder and how many lines
//! from home it was put, so the key can be computed back: the set is lossless, and an entry of a large set needs half
//! of the key's bits or less. Entries are as wide as the segment needs (so many to a 64-bit word that none
//! straddles two words); they get narrower as a segment grows.
//!
//! Segments grow on their own, by a quarter at a time, and not at the same moment: there is no moment at which the set
//! exists twice, and the load stays between 0.65 and 0.84. An entry can carry *satellite bits* for a search; they move
//! with it.

use crate::Full;
use crate::mix::Mix;

/// 64-bit words of a line.
const WORDS: usize = 8;
/// Lines that are tried for a key; when all are full the segment grows, however low its load.
const PROBES: u64 = 16;
/// Upper bits of a mixed key that choose the segment.
const SEGMENT_BITS: u32 = 6;

/// Where an entry is, until the next insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    segment: u32,
    word: usize,
    place: u32,
}

/// A set of numbers below 2^k.
#[derive(Debug)]
pub struct Compact {
    mix: Mix,
    satellites: u32,
    segments: Vec<Segment>,
    limit: u64,
    memory: u64,
    len: u64,
}

impl Compact {
    /// An empty set of numbers of `bits` bits (7..=64), with so many satellite bits for each (0..=3), that answers
    /// [`Full`] rather than use more than `limit` bytes.
    pub fn new(bits: u32, satellites: u32, limit: u64) -> Self {
        let bits = bits.clamp(SEGMENT_BITS + 1, 64);
        let segment = || Segment::new(Geometry::new(bits - SEGMENT_BITS, satellites, 1));
        let segments: Vec<Segment> = (0..1 << SEGMENT_BITS).map(|_| segment()).collect();
        let memory = segments.iter().map(Segment::memory).sum();
        Compact { mix: Mix::new(bits), satellites, segments, limit, memory, len: 0 }
    }

    /// How many bits a key has.
    pub fn bits(&self) -> u32 {
        self.mix.bits()
    }

    /// How many keys there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes in use.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// The most bytes that may be used.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Changes the limit, for a set that shares its memory with others.
    pub fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    fn split(&self, key: u64) -> (usize, u64) {
        let mixed = self.mix.mix(key);
        let rest = self.bits() - SEGMENT_BITS;
        ((mixed >> rest) as usize, mixed & ((1 << rest) - 1))
    }

    /// Inserts `key`: where it is, and whether it is new.
    pub fn insert(&mut self, key: u64) -> Result<(Slot, bool), Full> {
        let (number, rest) = self.split(key);
        loop {
            let segment = &mut self.segments[number];
            match segment.probe(rest) {
                Probe::Found(word, place) => return Ok((slot(number, word, place), false)),
                Probe::Empty { word, place, value } if !segment.is_loaded() => {
                    segment.put(word, place, value);
                    self.len += 1;
                    return Ok((slot(number, word, place), true));
                }
                Probe::Empty { .. } | Probe::NoRoom => self.grow(number)?,
            }
        }
    }

    /// Looks for `key`.
    pub fn find(&self, key: u64) -> Option<Slot> {
        let (number, rest) = self.split(key);
        match self.segments[number].probe(rest) {
            Probe::Found(word, place) => Some(slot(number, word, place)),
            _ => None,
        }
    }

    /// Reads the words that a look-up of `key` will need first, so that several look-ups wait for memory together.
    pub fn touch(&self, key: u64) -> u64 {
        let (number, rest) = self.split(key);
        let segment = &self.segments[number];
        segment.words[segment.geometry.home(rest).0 as usize * WORDS]
    }

    /// The satellite bits of an entry.
    pub fn satellite(&self, slot: Slot) -> u64 {
        let segment = &self.segments[slot.segment as usize];
        segment.entry(slot.word, slot.place) & ((1 << self.satellites) - 1)
    }

    /// Changes the satellite bits of an entry.
    pub fn set_satellite(&mut self, slot: Slot, bits: u64) {
        let mask = (1u64 << self.satellites) - 1;
        let segment = &mut self.segments[slot.segment as usize];
        let entry = segment.entry(slot.word, slot.place);
        segment.set(slot.word, slot.place, entry & !mask | bits & mask);
    }

    /// Calls `each` for every key with its satellite bits.
    pub fn for_each(&self, mut each: impl FnMut(u64, u64)) {
        for (number, segment) in self.segments.iter().enumerate() {
            self.for_each_of(number, segment, &mut each);
        }
    }

    fn for_each_of(&self, number: usize, segment: &Segment, each: &mut impl FnMut(u64, u64)) {
        let high = (number as u64) << (self.bits() - SEGMENT_BITS);
        segment.for_each(|rest, bits| each(self.mix.unmix(high | rest), bits));
    }

    /// Gives every key with its satellite bits to `each`, and the memory back segment by segment; `each` is also told how
    /// many bytes are still in use.
    pub fn drain(mut self, mut each: impl FnMut(u64, u64, u64)) {
        for number in 0..self.segments.len() {
            let empty = Segment { geometry: self.segments[number].geometry, words: Vec::new(), len: 0 };
            let segment = std::mem::replace(&mut self.segments[number], empty);
            let left = self.memory;
            self.for_each_of(number, &segment, &mut |key, satellite| each(key, satellite, left));
            self.memory -= segment.memory();
        }
    }

    /// The set of the images of all keys under `change`, which must be injective into numbers of `bits` bits. Every key
    /// moves, but the memory of the old set is given back on the way. When that fails the old set is gone.
    pub fn rekeyed(self, bits: u32, change: impl Fn(u64) -> u64) -> Result<Self, Full> {
        let limit = self.limit;
        let mut new = Compact::new(bits, self.satellites, limit);
        let mut result = Ok(());
        self.drain(|key, satellite, left| {
            new.limit = limit.saturating_sub(left);
            match result.and_then(|()| new.insert(change(key))) {
                Ok((slot, _)) => new.set_satellite(slot, satellite),
                Err(full) => result = Err(full),
            }
        });
        result?;
        new.limit = limit;
        Ok(new)
    }

    fn grow(&mut self, number: usize) -> Result<(), Full> {
        let old = &self.segments[number];
        let (rest, mut lines) = (self.bits() - SEGMENT_BITS, old.geometry.lines);
        loop {
            lines += lines.div_ceil(4);
            let geometry = Geometry::new(rest, self.satellites, lines);
            if self.memory + geometry.bytes() > self.limit {
                return Err(Full);
            }
            if let Some(new) = old.rebuilt(geometry)? {
                self.memory += new.memory();
                self.memory -= old.memory();
                self.segments[number] = new;
                return Ok(());
            }
        }
    }
}

fn slot(segment: usize, word: usize, place: u32) -> Slot {
    Slot { segment: segment as u32, word, place }
}

/// How the keys of a segment are taken apart.
#[derive(Clone, Copy, Debug)]
struct Geometry {
    lines: u64,
    /// Keys that share a home line.
    divisor: u64,
    /// 2^64 / divisor, to divide by multiplication.
    reciprocal: u64,
    /// Bits of an entry: 1 + remainder × [`PROBES`] + probe number, and the satellite bits below.
    entry_bits: u32,
    /// Entries of a 64-bit word.
    per_word: u32,
    satellites: u32,
}

impl Geometry {
    fn new(key_bits: u32, satellites: u32, lines: u64) -> Self {
        // A divisor of at least 2 keeps the reciprocal within 64 bits.
        let keys = 1u64 << key_bits;
        let divisor = keys.div_ceil(lines).max(2);
        let largest = divisor * PROBES;
        let entry_bits = 64 - largest.leading_zeros() + satellites;
        let per_word = (64 / entry_bits).max(1);
        let reciprocal = (u128::from(u64::MAX) / u128::from(divisor)) as u64;
        Geometry { lines, divisor, reciprocal, entry_bits: 64 / per_word, per_word, satellites }
    }

    fn bytes(&self) -> u64 {
        self.lines * (WORDS as u64) * 8
    }

    fn capacity(&self) -> u64 {
        self.lines * WORDS as u64 * u64::from(self.per_word)
    }

    fn mask(&self) -> u64 {
        if self.entry_bits >= 64 { u64::MAX } else { (1 << self.entry_bits) - 1 }
    }

    /// Quotient and remainder. The estimate by multiplication can only be one too small.
    #[inline]
    fn home(&self, rest: u64) -> (u64, u64) {
        let mut quotient = ((u128::from(rest) * u128::from(self.reciprocal)) >> 64) as u64;
        let mut remainder = rest - quotient * self.divisor;
        if remainder >= self.divisor {
            quotient += 1;
            remainder -= self.divisor;
        }
        (quotient, remainder)
    }

    /// How far apart the lines are that are tried for keys with this remainder.
    fn stride(&self, remainder: u64) -> u64 {
        let spread = remainder.wrapping_mul(0xd1b5_4a32_d192_ed03) >> 32;
        1 + ((spread * (self.lines - 1).max(1)) >> 32)
    }
}

/// What a look-up shows.
enum Probe {
    /// The entry is here.
    Found(usize, u32),
    /// It is not there; it belongs here, with this value.
    Empty { word: usize, place: u32, value: u64 },
    /// It is not there, and all lines that it may lie in are full.
    NoRoom,
}

/// A part of the set.
#[derive(Debug)]
struct Segment {
    geometry: Geometry,
    words: Vec<u64>,
    len: u64,
}

impl Segment {
    fn new(geometry: Geometry) -> Self {
        Segment { geometry, words: vec![0; geometry.lines as usize * WORDS], len: 0 }
    }

    fn memory(&self) -> u64 {
        self.words.capacity() as u64 * 8
    }

    /// Above a load of 0.84 probing gets long.
    fn is_loaded(&self) -> bool {
        (self.len + 1) * 100 > self.geometry.capacity() * 84
    }

    #[inline]
    fn entry(&self, word: usize, place: u32) -> u64 {
        self.words[word] >> (place * self.geometry.entry_bits) & self.geometry.mask()
    }

    fn set(&mut self, word: usize, place: u32, entry: u64) {
        let shift = place * self.geometry.entry_bits;
        self.words[word] = self.words[word] & !(self.geometry.mask() << shift) | entry << shift;
    }

    fn put(&mut self, word: usize, place: u32, value: u64) {
        self.set(word, place, value << self.geometry.satellites);
        self.len += 1;
    }

    /// Entries fill a line from its beginning, so the first empty place ends the look-up.
    #[inline]
    fn probe(&self, rest: u64) -> Probe {
        let geometry = &self.geometry;
        let (mut line, remainder) = geometry.home(rest);
        let stride = geometry.stride(remainder);
        for probe in 0..PROBES {
            let value = 1 + remainder * PROBES + probe;
            for word in line as usize * WORDS..(line as usize + 1) * WORDS {
                let mut entries = self.words[word];
                for place in 0..geometry.per_word {
                    let entry = (entries & geometry.mask()) >> geometry.satellites;
                    if entry == value {
                        return Probe::Found(word, place);
                    }
                    if entry == 0 {
                        return Probe::Empty { word, place, value };
                    }
                    entries = entries.checked_shr(geometry.entry_bits).unwrap_or(0);
                }
            }
            line += stride;
            line -= if line >= geometry.lines { geometry.lines } else { 0 };
            if geometry.lines == 1 {
                break;
            }
        }
        Probe::NoRoom
    }

    /// Calls `each` with what the home and the remainder of every entry make up, and its satellite bits.
    fn for_each(&self, mut each: impl FnMut(u64, u64)) {
        let geometry = &self.geometry;
        for word in 0..self.words.len() {
            for place in 0..geometry.per_word {
                let entry = self.entry(word, place);
                let Some(value) = (entry >> geometry.satellites).checked_sub(1) else { break };
                let (remainder, probe) = (value / PROBES, value % PROBES);
                let back = probe * geometry.stride(remainder) % geometry.lines;
                let line = (word / WORDS) as u64;
                let home = if line >= back { line - back } else { line + geometry.lines - back };
                each(home * geometry.divisor + remainder, entry & ((1 << geometry.satellites) - 1));
            }
        }
    }

    /// The same entries in another geometry; `None` when one finds no room there.
    fn rebuilt(&self, geometry: Geometry) -> Result<Option<Segment>, Full> {
        let mut words = Vec::new();
        words.try_reserve_exact(geometry.lines as usize * WORDS).map_err(|_| Full)?;
        words.resize(geometry.lines as usize * WORDS, 0);
        let mut new = Segment { geometry, words, len: 0 };
        let mut fits = true;
        self.for_each(|rest, satellite| match new.probe(rest) {
            Probe::Empty { word, place, value } => {
                new.put(word, place, value);
                let entry = new.entry(word, place);
                new.set(word, place, entry | satellite);
            }
            Probe::Found(..) | Probe::NoRoom => fits = false,
        });
        Ok(fits.then_some(new))
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
    fn shadow(bits: u32, satellites: u32, operations: usize, seed: u64) -> Compact {
        let mut seed = seed;
        let mut set = Compact::new(bits, satellites, u64::MAX);
        let mut model: HashMap<u64, u64> = HashMap::new();
        let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        for i in 0..operations {
            // Every other key is from a small range, so that many are met again.
            let key = if i % 2 == 0 { random(&mut seed) & mask } else { (random(&mut seed) % 5000) & mask };
            assert_eq!(set.find(key).is_some(), model.contains_key(&key));
            let (slot, new) = set.insert(key).unwrap();
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
        set
    }

    #[test]
    fn agrees_with_the_standard_library() {
        for (i, bits) in [7, 8, 12, 17, 20, 24, 31, 32, 40, 48, 56, 63, 64].into_iter().enumerate() {
            shadow(bits, i as u32 % 4, 20_000, 99 + i as u64);
        }
    }

    #[test]
    fn keys_survive_widening() {
        let set = shadow(20, 2, 20_000, 5);
        let mut before = HashMap::new();
        set.for_each(|key, satellite| assert_eq!(before.insert(key, satellite), None));
        let mut set = set.rekeyed(33, |key| key << 1).unwrap();
        let mut after = HashMap::new();
        set.for_each(|key, satellite| assert_eq!(after.insert(key, satellite), None));
        let moved: HashMap<u64, u64> = before.into_iter().map(|(key, bits)| (key << 1, bits)).collect();
        assert_eq!(moved, after);
        assert!(set.insert(1 << 32).unwrap().1);
    }

    #[test]
    fn a_full_small_universe_fits() {
        let mut set = Compact::new(12, 0, u64::MAX);
        (0..4096).for_each(|key| assert!(set.insert(key).unwrap().1));
        (0..4096).for_each(|key| assert!(!set.insert(key).unwrap().1));
        assert_eq!(set.len(), 4096);
    }

    #[test]
    fn entries_get_narrower_as_the_set_grows() {
        let mut set = Compact::new(40, 0, u64::MAX);
        let mut seed = 3;
        while set.len() < 1_000_000 {
            set.insert(random(&mut seed) >> 24).unwrap();
        }
        let bytes = set.memory() as f64 / set.len() as f64;
        assert!(bytes < 6.2, "{bytes} bytes a key");
    }

    #[test]
    fn the_limit_is_kept_and_nothing_is_lost() {
        let mut set = Compact::new(44, 0, 300_000);
        let mut keys = Vec::new();
        let mut seed = 11;
        loop {
            let key = random(&mut seed) >> 20;
            match set.insert(key) {
                Ok(_) => keys.push(key),
                Err(Full) => break,
            }
            assert!(set.memory() <= 300_000);
        }
        assert!(keys.len() > 20_000, "{}", keys.len());
        assert!(keys.iter().all(|&key| set.find(key).is_some()));
    }
}
