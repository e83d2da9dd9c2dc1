//! Short byte strings in words that threads share: a length in the first byte, then the bytes.
//!
//! States are written, compared and read more often than anything else is done, and most have 16 to 100
//! bytes. Their bytes lie one behind the other and are taken in pieces of sixteen. The last piece overlaps
//! the one before, or goes beyond the string where that does no harm: no rest to be treated byte by byte, and
//! no shifting.
//!
//! The words are atomic. The language has no atomic access to a vector, or to some bytes of several words; so
//! on x86-64 this is done by `asm!`, as in [`crate::pages`], and elsewhere word by word. Either way bytes
//! that nobody writes meanwhile are read as they were written, and nothing else is promised: who publishes a
//! string does so by another word.

#![allow(unsafe_code)]

use crate::sync::atomic::AtomicU64;

/// The longest string.
pub const LONGEST: usize = 191;

/// Words of a string of this length.
#[inline(always)]
pub const fn words_of(len: usize) -> usize {
    len / 8 + 1
}

#[cfg(x86_code)]
pub use pieces::{append, is, read, write};
#[cfg(not(x86_code))]
pub use words::{append, is, read, write};

#[cfg(x86_code)]
mod pieces {
    use super::{AtomicU64, LONGEST};
    use std::arch::asm;
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set_epi64x, _mm_storeu_si128,
    };

    /// Where the bytes of a string of this length are, if the words are enough.
    #[inline(always)]
    fn bytes_of(words: &[AtomicU64], len: usize) -> Option<*const u8> {
        // SAFETY: the second byte of the words, of which there are more than `len`.
        (len < words.len() * 8).then(|| unsafe { words.as_ptr().cast::<u8>().add(1) })
    }

    /// Sixteen bytes that other threads could write.
    ///
    /// # Safety
    /// They are there. (SSE2 is part of every x86-64 processor.)
    #[inline(always)]
    unsafe fn load16(at: *const u8) -> __m128i {
        let piece;
        // SAFETY: as the caller says; nothing but a register is written.
        unsafe {
            asm!("movdqu {x}, [{at}]", at = in(reg) at, x = out(xmm_reg) piece,
                 options(nostack, preserves_flags, readonly));
        }
        piece
    }

    /// Eight bytes that other threads could write.
    ///
    /// # Safety
    /// They are there.
    #[inline(always)]
    unsafe fn load8(at: *const u8) -> u64 {
        let piece;
        // SAFETY: as the caller says; nothing but a register is written.
        unsafe {
            asm!("mov {x}, [{at}]", at = in(reg) at, x = out(reg) piece,
                 options(nostack, preserves_flags, readonly));
        }
        piece
    }

    /// Writes sixteen bytes.
    ///
    /// # Safety
    /// They are there and belong to shared atomic words.
    #[inline(always)]
    unsafe fn store16(at: *const u8, piece: __m128i) {
        // SAFETY: as the caller says.
        unsafe {
            asm!("movdqu [{at}], {x}", at = in(reg) at, x = in(xmm_reg) piece,
                 options(nostack, preserves_flags));
        }
    }

    /// Writes eight bytes.
    ///
    /// # Safety
    /// As above.
    #[inline(always)]
    unsafe fn store8(at: *const u8, piece: u64) {
        // SAFETY: as the caller says.
        unsafe {
            asm!("mov [{at}], {x}", at = in(reg) at, x = in(reg) piece, options(nostack, preserves_flags))
        };
    }

    /// Writes one byte.
    ///
    /// # Safety
    /// As above.
    #[inline(always)]
    unsafe fn store1(at: *const u8, byte: u8) {
        // SAFETY: as the caller says.
        unsafe {
            asm!("mov [{at}], {x}", at = in(reg) at, x = in(reg_byte) byte, options(nostack, preserves_flags));
        }
    }

    /// Calls `each` with the beginnings of pieces of this size that cover `len` bytes, at least as many,
    /// while it says so.
    #[inline(always)]
    fn cover(size: usize, len: usize, mut each: impl FnMut(usize) -> bool) -> bool {
        let last = len - size;
        let mut at = 0;
        while at < last {
            if !each(at) {
                return false;
            }
            at += size;
        }
        each(last)
    }

    /// Writes a string of at most [`LONGEST`] bytes with its length in front. Nothing, which it says, if
    /// there are not enough words.
    #[inline(always)]
    pub fn write(words: &[AtomicU64], string: &[u8]) -> bool {
        let len = string.len();
        if len > LONGEST {
            return false;
        }
        let Some(to) = bytes_of(words, len) else { return false };
        let from = string.as_ptr();
        // SAFETY: all pieces lie within the string, and so within the words, which are shared and atomic.
        unsafe {
            store1(to.sub(1), len as u8);
            match len {
                16.. => {
                    cover(16, len, |at| {
                        store16(to.add(at), _mm_loadu_si128(from.add(at).cast()));
                        true
                    });
                }
                8.. => {
                    cover(8, len, |at| {
                        store8(to.add(at), from.add(at).cast::<u64>().read_unaligned());
                        true
                    });
                }
                _ => (0..len).for_each(|at| store1(to.add(at), string[at])),
            }
        }
        true
    }

    /// Whether the bytes behind the first one are those of the string.
    #[inline(always)]
    pub fn is(words: &[AtomicU64], string: &[u8]) -> bool {
        let len = string.len();
        let Some(there) = bytes_of(words, len) else { return false };
        let here = string.as_ptr();
        // SAFETY: all pieces lie within the string, and so within the words.
        unsafe {
            match len {
                16.. => cover(16, len, |at| {
                    let same = _mm_cmpeq_epi8(load16(there.add(at)), _mm_loadu_si128(here.add(at).cast()));
                    _mm_movemask_epi8(same) == 0xffff
                }),
                8.. => {
                    cover(8, len, |at| load8(there.add(at)) == here.add(at).cast::<u64>().read_unaligned())
                }
                _ => super::words::is(words, string),
            }
        }
    }

    /// Appends the first `len` bytes of words that are nobody else's; none if there are fewer. Words that
    /// were just written are read one by one, and what will be read in pieces of sixteen bytes is written in
    /// such: a processor waits when it reads together what was written apart a moment before.
    #[inline(always)]
    pub fn append(words: &[u64], len: usize, out: &mut Vec<u8>) {
        if len > words.len() * 8 {
            return;
        }
        out.reserve(words.len() * 8 + 8);
        let start = out.len();
        // SAFETY: there is room for all words, in pairs. All bytes are written before they count.
        unsafe {
            let mut to = out.as_mut_ptr().add(start);
            let mut pairs = words.chunks_exact(2);
            for pair in &mut pairs {
                _mm_storeu_si128(to.cast(), _mm_set_epi64x(pair[1] as i64, pair[0] as i64));
                to = to.add(16);
            }
            if let [last] = *pairs.remainder() {
                _mm_storeu_si128(to.cast(), _mm_set_epi64x(0, last as i64));
            }
            out.set_len(start + len);
        }
    }

    /// Appends `len` bytes behind the first one; none if there are fewer. In pieces that do not overlap,
    /// for the reason that [`append`] has; so what follows the string may be read as well, and does not
    /// count.
    #[inline(always)]
    pub fn read(words: &[AtomicU64], len: usize, out: &mut Vec<u8>) {
        let Some(from) = bytes_of(words, len + 16) else { return super::words::read(words, len, out) };
        out.reserve(len + 16);
        let start = out.len();
        // SAFETY: all pieces begin within the string, so they lie within the words, and there is room for
        // them. All bytes are written before they count.
        unsafe {
            let to = out.as_mut_ptr().add(start);
            let mut at = 0;
            while at < len {
                _mm_storeu_si128(to.add(at).cast(), load16(from.add(at)));
                at += 16;
            }
            out.set_len(start + len);
        }
    }
}

/// Word by word: for other processors, and for very short strings.
#[cfg_attr(x86_code, allow(dead_code))]
mod words {
    use super::{AtomicU64, LONGEST, words_of};
    use crate::sync::atomic::Ordering::Relaxed;

    /// The bytes of a word of a string with its length in front, and which of its bits count.
    fn word(string: &[u8], at: usize) -> (u64, u64) {
        let (mut bytes, mut mask) = ([0; 8], [0; 8]);
        for i in 0..8 {
            let byte = match (8 * at + i).checked_sub(1) {
                None => Some(string.len() as u8),
                Some(at) => string.get(at).copied(),
            };
            (bytes[i], mask[i]) = byte.map_or((0, 0), |byte| (byte, 0xff));
        }
        (u64::from_le_bytes(bytes), u64::from_le_bytes(mask))
    }

    /// See [`super::pieces`].
    #[inline(never)]
    pub fn write(words: &[AtomicU64], string: &[u8]) -> bool {
        let fits = string.len() <= LONGEST && string.len() < words.len() * 8;
        if fits {
            words[..words_of(string.len())]
                .iter()
                .enumerate()
                .for_each(|(at, to)| to.store(word(string, at).0, Relaxed));
        }
        fits
    }

    /// See [`super::pieces`]. The length is compared as well.
    #[inline(never)]
    pub fn is(words: &[AtomicU64], string: &[u8]) -> bool {
        let same = |(at, there): (usize, &AtomicU64)| {
            let (word, mask) = word(string, at);
            there.load(Relaxed) & mask == word
        };
        string.len() < words.len() * 8 && words[..words_of(string.len())].iter().enumerate().all(same)
    }

    /// See [`super::pieces`].
    pub fn append(words: &[u64], len: usize, out: &mut Vec<u8>) {
        if len <= words.len() * 8 {
            let start = out.len();
            words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
            out.truncate(start + len);
        }
    }

    /// See [`super::pieces`].
    #[inline(never)]
    pub fn read(words: &[AtomicU64], len: usize, out: &mut Vec<u8>) {
        if len < words.len() * 8 {
            let bytes = words.iter().flat_map(|word| word.load(Relaxed).to_le_bytes());
            out.extend(bytes.skip(1).take(len));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::atomic::Ordering::Relaxed;

    fn garbage(n: usize) -> Vec<AtomicU64> {
        (0..n as u64).map(|i| AtomicU64::new(i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect()
    }

    fn string(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i * 7 + len) as u8).collect()
    }

    #[test]
    fn both_ways_write_and_read_the_same_and_nothing_beyond() {
        for len in 0..=LONGEST {
            let string = string(len);
            let (ours, plain) = (garbage(34), garbage(34));
            assert!(write(&ours, &string) && words::write(&plain, &string));
            for written in [&ours, &plain] {
                assert_eq!(written[0].load(Relaxed) & 0xff, len as u64);
                let beyond = written.iter().zip(garbage(34)).skip(words_of(len));
                assert!(beyond.into_iter().all(|(now, before)| now.load(Relaxed) == before.load(Relaxed)));
                let (mut a, mut b) = (vec![7], vec![7]);
                read(written, len, &mut a);
                words::read(written, len, &mut b);
                assert!(a[1..] == string && b[1..] == string, "length {len}");
                assert!(is(written, &string) && words::is(written, &string));
            }
        }
    }

    #[test]
    fn words_are_appended_as_bytes() {
        let words: Vec<u64> = (0..9).map(|i| 0x0706_0504_0302_0100 + i * 0x0808_0808_0808_0808).collect();
        for len in 0..=72 {
            let mut out = vec![9];
            append(&words, len, &mut out);
            assert!(out[1..].iter().copied().eq(0..len as u8), "length {len}");
        }
    }

    #[test]
    fn every_byte_counts() {
        for len in 1..=LONGEST {
            let words = garbage(words_of(len));
            let mut string = string(len);
            assert!(write(&words, &string));
            for at in 0..len {
                string[at] ^= 0x10;
                assert!(!is(&words, &string) && !words::is(&words, &string), "length {len}, byte {at}");
                string[at] ^= 0x10;
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_left_alone() {
        let (words, mut out) = (garbage(2), vec![]);
        assert!(!write(&words, &[1; 16]) && !words::write(&words, &[1; 16]));
        read(&words, 16, &mut out);
        assert!(words[0].load(Relaxed) == 0 && out.is_empty() && !is(&words, &[1; 16]));
        assert!(write(&words, &[1; 15]));
        assert!(is(&words, &[1; 15]));
    }
}
