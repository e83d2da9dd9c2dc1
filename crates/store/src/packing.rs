//! Long byte strings in few bits: what is the same in all of them is left out.
//!
//! The states of one search have most of their bits in common: channels are long but nearly empty, counters
//! are small, a location is one of twenty. Which bits differ is learned from strings that are there already
//! ([`Observed`]). Of a string that differs from them in no other bits only these are kept, in whole words:
//! the processor takes the bits of a word that a mask names, and puts them back (`pext`, `pdep`).
//!
//! Packing takes about as long as writing a string, and looking whether a record is a string's takes longer
//! than comparing; what is gained is memory, which must be asked for and cleared. Measured: states of 160
//! bytes and more take 20 to 90 bytes and up to a fifth less time; with less than 100 bytes there is no time
//! to be gained, so short strings are not packed.
//!
//! A packing never changes. Strings that do not fit are kept in another way, and when there are many a better
//! packing is learned for those to come: a record says by its first byte how it was packed.
//!
//! Only for processors that do this fast; where there is no packing everything else works the same.

#![allow(unsafe_code)]

use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::Relaxed;

/// Lengths of strings that are packed.
pub const LENS: std::ops::Range<usize> = 128..1024;
/// Bytes that are compared at once.
const PIECE: usize = 16;
/// Bits of the first word of a record that say how it was packed.
const MARKER_BITS: u32 = 8;

/// Whether strings are packed on this processor.
#[cfg(test)]
pub fn is_supported() -> bool {
    bits::are_fast()
}

/// In which bits strings of one length differ.
#[derive(Clone, Debug)]
pub struct Observed {
    first: Vec<u8>,
    differs: Vec<u8>,
}

impl Observed {
    /// A first string.
    pub fn new(string: &[u8]) -> Self {
        Observed { first: string.to_vec(), differs: vec![0; string.len()] }
    }

    /// Another string of the same length.
    pub fn add(&mut self, string: &[u8]) {
        for ((differs, first), byte) in self.differs.iter_mut().zip(&self.first).zip(string) {
            *differs |= first ^ byte;
        }
    }

    /// All that a packing for this length can pack.
    pub fn add_packed(&mut self, packing: &Packing) {
        let words =
            |word: fn(&Pair) -> [u64; 2]| packing.pairs.iter().flat_map(word).flat_map(u64::to_le_bytes);
        let (same, varies) = (words(|pair| pair.same), words(|pair| pair.varies));
        for (((differs, first), same), varies) in
            self.differs.iter_mut().zip(&self.first).zip(same).zip(varies)
        {
            *differs |= varies | first ^ same;
        }
    }
}

/// How strings of one length are packed.
#[derive(Debug)]
pub struct Packing {
    len: usize,
    marker: u64,
    /// What strings have in common: in the pieces that they consist of, the last of which may overlap the one
    /// before.
    common: Vec<Common>,
    /// The bits that are kept, sorted by the words that they go to, and how many parts each word has.
    parts: Vec<Part>,
    words: Vec<u32>,
    /// The moves for reading.
    pairs: Vec<Pair>,
}

/// Bits of a piece that are the same in all strings, and their values.
#[derive(Clone, Copy, Debug, Default)]
struct Common {
    bits: [u64; 2],
    values: [u64; 2],
}

/// Bits of eight bytes of a string, and by how much they are shifted in the record's word.
#[derive(Clone, Copy, Debug)]
struct Part {
    at: u32,
    shift: u32,
    mask: u64,
}

/// Sixteen bytes of a string: what is the same in all, and for each half the bits that are not and where they
/// are in a record.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    same: [u64; 2],
    varies: [u64; 2],
    word: [u32; 2],
    shift: [u32; 2],
}

/// What became of a string that was to be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    /// It is there.
    Done,
    /// There were not enough words.
    NoRoom,
    /// It cannot be packed.
    Misfit,
}

/// The eight bytes from `at` on, or as many as there are, as a number.
fn eight(bytes: &[u8], at: usize) -> u64 {
    let mut eight = [0; 8];
    let there = &bytes[at.min(bytes.len())..(at + 8).min(bytes.len())];
    eight[..there.len()].copy_from_slice(there);
    u64::from_le_bytes(eight)
}

/// For parts of given numbers of bits, in which word each of them lies, and where there: larger ones first,
/// each in the first word with room.
fn places_for(sizes: impl Iterator<Item = u32>) -> Vec<(usize, u32)> {
    let sizes: Vec<u32> = sizes.collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&part| std::cmp::Reverse(sizes[part]));
    let mut used = vec![MARKER_BITS];
    let mut places = vec![(0, 0); sizes.len()];
    for part in order.into_iter().filter(|&part| sizes[part] > 0) {
        let word = used.iter().position(|used| used + sizes[part] <= u64::BITS).unwrap_or(used.len());
        if word == used.len() {
            used.push(0);
        }
        places[part] = (word, used[word]);
        used[word] += sizes[part];
    }
    places
}

impl Packing {
    /// A packing for strings that differ as those did, or a little more, with this as the first byte of
    /// records. `None` where it would not save half of the words that a string takes otherwise.
    pub fn new(observed: &Observed, marker: u8, plain_words: usize) -> Option<Self> {
        let len = observed.first.len();
        if !LENS.contains(&len) || !bits::are_fast() {
            return None;
        }
        // Numbers that were small may become a little larger.
        let varies: Vec<u8> =
            observed.differs.iter().map(|&byte| (0xff_u32 >> byte.leading_zeros()) as u8).collect();
        let same: Vec<u8> = observed.first.iter().zip(&varies).map(|(byte, varies)| byte & !varies).collect();
        let mut packing = Packing {
            len,
            marker: u64::from(marker),
            common: common(&same, &varies),
            parts: Vec::new(),
            words: Vec::new(),
            pairs: vec![Pair::default(); len.div_ceil(PIECE)],
        };
        packing.keep_all(&same, &varies);
        (2 * packing.words() <= plain_words).then_some(packing)
    }

    /// Finds a place for all bits that vary.
    fn keep_all(&mut self, same: &[u8], varies: &[u8]) {
        let halves: Vec<(usize, u64)> = (0..self.len).step_by(8).map(|at| (at, eight(varies, at))).collect();
        let places = places_for(halves.iter().map(|half| half.1.count_ones()));
        for (&(at, mask), &(word, shift)) in halves.iter().zip(&places) {
            let (pair, half) = (&mut self.pairs[at / PIECE], at / 8 % 2);
            (pair.same[half], pair.varies[half]) = (eight(same, at), mask);
            (pair.word[half], pair.shift[half]) = (word as u32, shift);
        }
        let n_words = places.iter().map(|place| place.0 + 1).max().unwrap_or(1);
        for word in 0..n_words {
            let before = self.parts.len();
            let there = halves.iter().zip(&places).filter(|(half, place)| place.0 == word && half.1 != 0);
            for (&(at, mask), &(_, shift)) in there {
                // Nothing beyond the string is read.
                let first = at.min(self.len - 8);
                self.parts.push(Part { at: first as u32, shift, mask: mask << (8 * (at - first)) });
            }
            self.words.push((self.parts.len() - before) as u32);
        }
    }

    /// Whether it packs no more strings than another one for the same length.
    pub fn is_like(&self, other: &Packing) -> bool {
        self.pairs.iter().zip(&other.pairs).all(|(pair, other)| pair.varies == other.varies)
    }

    /// Words of a record.
    #[inline(always)]
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// Writes a string.
    #[inline]
    pub fn write(&self, words: &[AtomicU64], string: &[u8]) -> Written {
        if words.len() < self.words() {
            return Written::NoRoom;
        }
        if !self.fits(string) {
            return Written::Misfit;
        }
        let mut to = words.iter();
        self.each_word(string, |word| {
            to.next().into_iter().for_each(|to| to.store(word, Relaxed));
            true
        });
        Written::Done
    }

    /// Whether these words are the record of the string.
    #[inline]
    pub fn is(&self, words: &[AtomicU64], string: &[u8]) -> bool {
        let mut there = words.iter();
        self.fits(string)
            && self.each_word(string, |word| there.next().is_some_and(|there| there.load(Relaxed) == word))
    }

    /// Whether a string differs from others only in what is kept.
    #[inline(always)]
    fn fits(&self, string: &[u8]) -> bool {
        string.len() == self.len && bits::have(string, &self.common)
    }

    /// Calls `each` with the words of the record of a string of the right length, while it says so.
    #[inline(always)]
    fn each_word(&self, string: &[u8], mut each: impl FnMut(u64) -> bool) -> bool {
        let (mut parts, mut word) = (self.parts.iter(), self.marker);
        for &n in &self.words {
            for part in parts.by_ref().take(n as usize) {
                word |= bits::extract(string, part.at as usize, part.mask) << part.shift;
            }
            if !each(word) {
                return false;
            }
            word = 0;
        }
        true
    }

    /// Appends the string of a record.
    #[inline]
    pub fn read(&self, words: &[AtomicU64], out: &mut Vec<u8>) {
        let Some(words) = words.get(..self.words()) else { return };
        bits::append(self.len, out, &self.pairs, |pair| {
            [0, 1].map(|half| {
                let word = words[pair.word[half] as usize].load(Relaxed);
                pair.same[half] | bits::deposit(word >> pair.shift[half], pair.varies[half])
            })
        });
    }
}

/// What strings have in common that are the same as `same` but for some bits.
fn common(same: &[u8], varies: &[u8]) -> Vec<Common> {
    let len = same.len();
    (0..len.div_ceil(PIECE))
        .map(|piece| (piece * PIECE).min(len - PIECE))
        .map(|at| Common {
            bits: [!eight(varies, at), !eight(varies, at + 8)],
            values: [eight(same, at), eight(same, at + 8)],
        })
        .collect()
}

#[cfg(x86_code)]
mod bits {
    use super::{Common, PIECE, Pair};
    use std::arch::asm;
    use std::arch::x86_64::{
        _mm_and_si128, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x,
        _mm_setzero_si128, _mm_storeu_si128, _mm_xor_si128,
    };

    /// Whether the processor has `pext` and `pdep` and they are not imitated by slow microcode, as they were
    /// by AMD before the processors that have VAES. (Only AMD's have SSE4a.)
    pub fn are_fast() -> bool {
        is_x86_feature_detected!("bmi2")
            && (!is_x86_feature_detected!("sse4a") || is_x86_feature_detected!("vaes"))
    }

    /// Whether a string of at least sixteen bytes has all that is common.
    #[inline(always)]
    pub fn have(string: &[u8], common: &[Common]) -> bool {
        assert!(string.len() >= PIECE);
        let last = string.len() - PIECE;
        // SAFETY: pieces begin where the last one does or before. SSE2 is part of every x86-64 processor.
        unsafe {
            let mut differs = _mm_setzero_si128();
            let mut at = 0;
            for piece in common {
                let bytes = _mm_loadu_si128(string.as_ptr().add(at.min(last)).cast());
                let bits = _mm_loadu_si128(piece.bits.as_ptr().cast());
                let values = _mm_loadu_si128(piece.values.as_ptr().cast());
                differs = _mm_or_si128(differs, _mm_xor_si128(_mm_and_si128(bytes, bits), values));
                at += PIECE;
            }
            _mm_movemask_epi8(_mm_cmpeq_epi8(differs, _mm_setzero_si128())) == 0xffff
        }
    }

    /// Bits of the eight bytes from `at` on.
    #[inline(always)]
    pub fn extract(string: &[u8], at: usize, mask: u64) -> u64 {
        assert!(at + 8 <= string.len());
        let bits;
        // SAFETY: the bytes are there, as was just seen. Packings are only made where the processor has this
        // instruction.
        unsafe {
            let word = string.as_ptr().add(at).cast::<u64>().read_unaligned();
            asm!("pext {bits}, {word}, {mask}", bits = lateout(reg) bits, word = in(reg) word, mask = in(reg) mask,
                 options(pure, nomem, nostack, preserves_flags));
        }
        bits
    }

    /// The reverse.
    #[inline(always)]
    pub fn deposit(bits: u64, mask: u64) -> u64 {
        let word;
        // SAFETY: packings are only made where the processor has this instruction.
        unsafe {
            asm!("pdep {word}, {bits}, {mask}", word = lateout(reg) word, bits = in(reg) bits, mask = in(reg) mask,
                 options(pure, nomem, nostack, preserves_flags));
        }
        word
    }

    /// Appends the first `len` bytes of what these become, which are at least as many. What is soon read
    /// sixteen bytes at a time is written so.
    #[inline(always)]
    pub fn append(len: usize, out: &mut Vec<u8>, pairs: &[Pair], whole: impl Fn(&Pair) -> [u64; 2]) {
        let (start, room) = (out.len(), pairs.len() * PIECE);
        assert!(len <= room);
        out.reserve(room);
        // SAFETY: there is room for all pieces. All bytes are written before they count.
        unsafe {
            let mut to = out.as_mut_ptr().add(start);
            for pair in pairs {
                let [low, high] = whole(pair);
                _mm_storeu_si128(to.cast(), _mm_set_epi64x(high as i64, low as i64));
                to = to.add(PIECE);
            }
            out.set_len(start + len);
        }
    }
}

/// In plain Rust: right, but bit by bit, so packings are made in tests only.
#[cfg(not(x86_code))]
mod bits {
    use super::{Common, PIECE, Pair, eight};

    /// Whether packings pay.
    pub fn are_fast() -> bool {
        cfg!(test)
    }

    /// Whether a string of at least sixteen bytes has all that is common.
    pub fn have(string: &[u8], common: &[Common]) -> bool {
        let last = string.len() - PIECE;
        common.iter().enumerate().all(|(i, piece)| {
            let at = (i * PIECE).min(last);
            let has = |half: usize| eight(string, at + 8 * half) & piece.bits[half] == piece.values[half];
            has(0) && has(1)
        })
    }

    /// The bits that are set in a mask, the lowest first.
    fn each(mask: u64) -> impl Iterator<Item = u32> {
        (0..u64::BITS).filter(move |bit| mask >> bit & 1 == 1)
    }

    /// Bits of the eight bytes from `at` on.
    pub fn extract(string: &[u8], at: usize, mask: u64) -> u64 {
        let word = eight(string, at);
        each(mask).enumerate().fold(0, |bits, (i, bit)| bits | (word >> bit & 1) << i)
    }

    /// The reverse.
    pub fn deposit(bits: u64, mask: u64) -> u64 {
        each(mask).enumerate().fold(0, |word, (i, bit)| word | (bits >> i & 1) << bit)
    }

    /// Appends the first `len` bytes of what these become, which are at least as many.
    pub fn append(len: usize, out: &mut Vec<u8>, pairs: &[Pair], whole: impl Fn(&Pair) -> [u64; 2]) {
        let start = out.len();
        out.extend(pairs.iter().flat_map(whole).flat_map(u64::to_le_bytes));
        out.truncate(start + len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small generator, so that the strings are the same on every run.
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 20) as usize % bound
        }
    }

    fn flip(string: &mut [u8], bit: usize) {
        string[bit / 8] ^= 1 << (bit % 8);
    }

    #[test]
    fn what_is_packed_comes_back_and_all_else_does_not_fit() {
        if !bits::are_fast() {
            return;
        }
        let mut random = Random(7);
        let (mut packed, mut refused) = (0, 0);
        for round in 0..300 {
            let len = 128 + if round % 3 == 0 { random.below(890) } else { random.below(60) };
            let base: Vec<u8> = (0..len).map(|_| random.below(256) as u8).collect();
            // Dense ones, so that words are full and parts go on in the next.
            let n = 1 + random.below(if round % 2 == 0 { 4 * len } else { 60 });
            let bits: Vec<usize> = (0..n).map(|_| random.below(8 * len)).collect();
            let string = |random: &mut Random| {
                let mut string = base.clone();
                bits.iter().filter(|_| random.below(2) == 0).for_each(|&bit| flip(&mut string, bit));
                string
            };
            let mut strings: Vec<Vec<u8>> = (0..100).map(|_| string(&mut random)).collect();
            let mut observed = Observed::new(&strings[0]);
            strings.iter().for_each(|string| observed.add(string));
            let Some(packing) = Packing::new(&observed, 200, len / 8 + 1) else {
                refused += 1;
                continue;
            };
            packed += 1;
            let words: Vec<AtomicU64> = (0..packing.words()).map(|_| AtomicU64::new(u64::MAX)).collect();
            assert_eq!(packing.write(&words[1..], &strings[0]), Written::NoRoom);
            for string in &mut strings {
                assert_eq!(packing.write(&words, string), Written::Done);
                assert_eq!(words[0].load(Relaxed) & 0xff, 200);
                let mut out = vec![1];
                packing.read(&words, &mut out);
                assert!(out[1..] == string[..] && packing.is(&words, string));
                // Another bit: if it can be packed all the same, then differently.
                let bit = random.below(8 * len);
                flip(string, bit);
                assert!(!packing.is(&words, string));
                let written = packing.write(&words, string);
                assert!(written == Written::Done || !bits.contains(&bit));
                if written == Written::Done {
                    out.truncate(1);
                    packing.read(&words, &mut out);
                    assert_eq!(out[1..], string[..]);
                }
                string.push(0);
                assert_eq!(packing.write(&words, string), Written::Misfit);
            }
        }
        assert!(packed > 150 && refused > 20, "{packed} {refused}");
    }

    #[test]
    fn a_better_packing_packs_all_that_another_does() {
        if !bits::are_fast() {
            return;
        }
        let mut string = vec![0x55; 300];
        let mut observed = Observed::new(&string);
        string[7] = 0x51;
        observed.add(&string);
        let first = Packing::new(&observed, 192, 38).unwrap();
        // Nothing that differs where the first one's strings do, and another base.
        string[100] = 0;
        let mut observed = Observed::new(&string);
        observed.add_packed(&first);
        let second = Packing::new(&observed, 193, 38).unwrap();
        let words: Vec<AtomicU64> = (0..10).map(|_| AtomicU64::new(0)).collect();
        for byte in 0x50..0x58 {
            for other in [0, 0x55] {
                string[7] = byte;
                string[100] = other;
                assert_eq!(second.write(&words, &string), Written::Done);
                let mut out = Vec::new();
                second.read(&words, &mut out);
                assert_eq!(out, string);
                assert_eq!(first.write(&words, &string) == Written::Done, other == 0x55);
                assert!(!second.is_like(&first) && second.is_like(&second));
            }
        }
    }
}
