//! All words of a line looked at together, where the processor can (AVX-512).
//!
//! Which word of a line ends a look-up in a [`crate::compact`] set no processor can foresee, so every loop
//! over words is a wrong guess. Here there is no loop.

#![allow(unsafe_code)]

use crate::pages::Line;

/// What is looked for in the words of a line.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The bits of a word that count.
    pub values: u64,
    /// The lowest bit of every entry.
    pub ones: u64,
    /// The highest bit of every entry.
    pub highs: u64,
    /// A word below this has room.
    pub last: u64,
}

/// Whether the processor can.
pub fn is_supported() -> bool {
    #[cfg(x86_code)]
    {
        is_x86_feature_detected!("avx512f")
    }
    #[cfg(not(x86_code))]
    false
}

/// Which words of a line have the entry that `entries` repeats, and which have room: a bit for each. Only
/// where it is supported.
#[inline(always)]
pub fn scan(wanted: &Wanted, line: &Line, entries: u64) -> (u32, u32) {
    #[cfg(x86_code)]
    {
        assert!(is_supported());
        // SAFETY: the processor can.
        unsafe { scan_line(wanted, line, entries) }
    }
    #[cfg(not(x86_code))]
    {
        let _ = (wanted, line, entries);
        (0, 0)
    }
}

/// The words are loaded by `asm!`, because other threads may write them and the language has no atomic load
/// of a vector; the processor loads each aligned word of it at once and keeps loads in order (acquire).
#[cfg(x86_code)]
#[target_feature(enable = "avx512f")]
fn scan_line(wanted: &Wanted, line: &Line, entries: u64) -> (u32, u32) {
    use std::arch::x86_64::{
        _mm512_and_si512, _mm512_andnot_si512, _mm512_cmplt_epu64_mask, _mm512_set1_epi64, _mm512_sub_epi64,
        _mm512_test_epi64_mask, _mm512_xor_si512,
    };
    let words;
    // SAFETY: the asm reads the 64 bytes of this line, which is aligned to 64, and writes nothing but a
    // register.
    unsafe {
        std::arch::asm!(
            "vmovdqa64 {words}, [{at}]",
            at = in(reg) line.0.as_ptr(),
            words = out(zmm_reg) words,
            options(nostack, preserves_flags, readonly)
        );
    }
    let all = |word: u64| _mm512_set1_epi64(word as i64);
    let words = _mm512_and_si512(words, all(wanted.values));
    // An entry that is there is zero here: what is borrowed to take one from it shows in its highest bit.
    let rest = _mm512_xor_si512(words, all(entries));
    let borrowed = _mm512_sub_epi64(rest, all(wanted.ones));
    let alike = _mm512_test_epi64_mask(borrowed, _mm512_andnot_si512(rest, all(wanted.highs)));
    (u32::from(alike), u32::from(_mm512_cmplt_epu64_mask(words, all(wanted.last))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn all_words_are_looked_at() {
        if !is_supported() {
            return;
        }
        // Two entries of 32 bits, of which the lowest does not count.
        let wanted = Wanted {
            values: 0xffff_fffe_ffff_fffe,
            ones: 0x1_0000_0001,
            highs: 0x8000_0000_8000_0000,
            last: 1 << 32,
        };
        let line = Line::default();
        assert_eq!(scan(&wanted, &line, 6 * wanted.ones), (0, 0xff));
        for (i, word) in
            [6, 7 | 8 << 32, 8, 8 | 6 << 32, 1, 6 | 6 << 32, 0, 9 | 2 << 32].into_iter().enumerate()
        {
            line.0[i].store(word, Relaxed);
        }
        assert_eq!(scan(&wanted, &line, 6 * wanted.ones), (0b10_1011, 0b101_0101));
        assert_eq!(scan(&wanted, &line, 8 * wanted.ones), (0b1000_1110, 0b101_0101));
        assert_eq!(scan(&wanted, &line, 4 * wanted.ones), (0, 0b101_0101));
    }
}
