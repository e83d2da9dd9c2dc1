//! Zeroed memory in cache lines, and prefetching.
//!
//! A search touches its memory at random. With ordinary pages of 4 KB nearly every touch also misses the
//! translation look-aside buffer; measured on flat tables, huge pages save up to a third of the time. So
//! large pieces are mapped from the system, aligned for huge pages and advised to use them (Linux; elsewhere
//! the advice is left out). A mapping is zero from the start, costs nothing until it is touched and goes back
//! to the system when it is dropped. Small pieces come from the heap.
//!
//! **Asking for memory costs time**, and not everywhere the same. Measured, for each 4 KB: 0.4 us as a part
//! of a huge page that the machine has at hand; 1.4 us as an ordinary page, asked for in advance with others;
//! 1.8 us at the first touch, 2.6 us if that is a reading one; but 4 to 9 us as a part of a huge page in a
//! virtual machine whose host must find it first. So what will be used is asked for in advance
//! ([`Pages::populate`]), and how long a huge page takes decides about the next ones ([`Huge`]).
//!
//! The words are atomic, so that several threads may share a piece. Only this file, [`crate::strings`], the
//! shuffles and [`crate::scan64`] have `unsafe` code.

#![allow(unsafe_code)]

use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::Relaxed;
use std::ops::Range;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

use memmap2::{MmapMut, MmapOptions};

use crate::Full;

/// 64-bit words of a cache line.
pub const WORDS: usize = 8;
/// From this many bytes a piece is mapped from the system.
const MAPPED: usize = 256 << 10;
/// The size of a huge page, and the alignment that it needs.
const HUGE: usize = 2 << 20;

/// A huge page that takes longer than this is dear: as ordinary pages it takes about 0.7 ms.
const DEAR: Duration = Duration::from_micros(900);
/// Bytes after which huge pages that were dear are tried again.
const TRY_AGAIN: u64 = 128 << 20;

/// Fewer cache lines than this are not worth reserving.
const LEAST: usize = 1 << 10;

/// Addresses that are left for everything else, where a process may have only a limited number.
const LEFT: usize = 16 << 20;
/// The smallest stack of a thread that is worth having.
const LEAST_STACK: usize = 16 << 20;

/// How many of the addresses that are wanted for a thread's stack can be had: all of them, or fewer where
/// there are not several times as many. Other threads, and the states, need some, too.
pub fn affordable(stack: usize) -> usize {
    let mut bytes = stack;
    while bytes > LEAST_STACK && !can_be_had(bytes.saturating_mul(8)) {
        bytes /= 2;
    }
    bytes
}

/// Whether the system still has this number of addresses.
pub(crate) fn can_be_had(bytes: usize) -> bool {
    isize::try_from(bytes).is_ok() && reserve(bytes).is_ok()
}

/// How many words of a line the processor takes at once.
pub trait Width: Copy {
    /// [`Line::look`] in this way.
    fn look(self, line: &Line, word: u64, ignored: u32) -> (u32, u32);

    /// Copies words of a line to two others: which ones, a bit each, and behind how many words they go, where
    /// all else is 0. There is room for them and for one more.
    fn deal(self, line: &Line, ways: [(u32, &Line, usize); 2]);

    /// Copies words of a line, a bit each, to the first of these; what follows is of no use.
    fn take(self, line: &Line, which: u32, to: &mut [u64; WORDS]);

    /// [`Line::occupied`] in this way.
    #[inline(always)]
    fn occupied(self, line: &Line) -> usize {
        (self.look(line, 0, 32).1 | 1 << WORDS).trailing_zeros() as usize
    }
}

/// As every processor does.
#[derive(Clone, Copy, Debug)]
pub struct Narrow;

impl Width for Narrow {
    #[inline(always)]
    fn look(self, line: &Line, word: u64, ignored: u32) -> (u32, u32) {
        line.look(word, ignored)
    }

    /// Which way a word goes no processor can foresee, so each is written to the next place in both lines,
    /// and only one counts it.
    #[inline(always)]
    fn deal(
        self,
        line: &Line,
        [(low, lower, mut to_lower), (high, upper, mut to_upper)]: [(u32, &Line, usize); 2],
    ) {
        for (at, word) in line.0.iter().enumerate() {
            let word = word.load(Relaxed);
            lower.0[to_lower % WORDS].store(word, Relaxed);
            upper.0[to_upper % WORDS].store(word, Relaxed);
            to_lower += (low >> at) as usize & 1;
            to_upper += (high >> at) as usize & 1;
        }
        lower.0[to_lower % WORDS].store(0, Relaxed);
        upper.0[to_upper % WORDS].store(0, Relaxed);
    }

    #[inline(always)]
    fn take(self, line: &Line, which: u32, to: &mut [u64; WORDS]) {
        let mut left = which;
        for word in to {
            if left == 0 {
                break;
            }
            *word = line.0[left.trailing_zeros() as usize % WORDS].load(Relaxed);
            left &= left - 1;
        }
    }
}

#[cfg(not(x86_code))]
pub use Narrow as Wide;
#[cfg(x86_code)]
pub use wide::Wide;

/// A whole line at once, where the processor can.
pub fn wide() -> Option<Wide> {
    #[cfg(x86_code)]
    {
        Wide::found()
    }
    #[cfg(not(x86_code))]
    {
        None
    }
}

/// Lines as vectors of AVX-512. All of it is `asm!`, because other threads may write the lines (see
/// [`Line::load`]: a processor that loads a line at once loads each of its words at once). Only upper
/// registers are used: after these, instructions that know nothing of them are as fast as before.
#[cfg(x86_code)]
mod wide {
    use super::{Line, WORDS, Width};
    use std::arch::asm;

    /// A processor that has AVX-512; nobody can have one of these elsewhere.
    #[derive(Clone, Copy, Debug)]
    pub struct Wide(());

    impl Wide {
        pub(super) fn found() -> Option<Self> {
            is_x86_feature_detected!("avx512f").then_some(Wide(()))
        }
    }

    impl Width for Wide {
        #[inline(always)]
        fn look(self, line: &Line, word: u64, ignored: u32) -> (u32, u32) {
            let (alike, empty): (u32, u32);
            // SAFETY: the asm reads the 64 bytes of the line, which is aligned to 64, and writes nothing but
            // registers. The processor has AVX-512, as `self` shows.
            unsafe {
                asm!(
                    "vmovdqa64 zmm16, [{line}]",
                    "vpbroadcastq zmm17, {word}",
                    "vpbroadcastq zmm18, {mask}",
                    "vpxorq zmm17, zmm17, zmm16",
                    "vptestnmq k1, zmm17, zmm18",
                    "vptestnmq k2, zmm16, zmm16",
                    "kmovw {alike:e}, k1",
                    "kmovw {empty:e}, k2",
                    line = in(reg) line.0.as_ptr(),
                    word = in(reg) word,
                    mask = in(reg) u64::MAX << ignored,
                    alike = lateout(reg) alike,
                    empty = lateout(reg) empty,
                    out("zmm16") _, out("zmm17") _, out("zmm18") _, out("k1") _, out("k2") _,
                    options(nostack, preserves_flags)
                );
            }
            (alike, empty)
        }

        #[inline(always)]
        fn take(self, line: &Line, which: u32, to: &mut [u64; WORDS]) {
            // SAFETY: the asm reads the 64 bytes of the line and writes the 64 bytes that are borrowed. The
            // processor has AVX-512.
            unsafe {
                asm!(
                    "kmovw k1, {which:e}",
                    "vmovdqa64 zmm16, [{line}]",
                    "vpcompressq zmm16 {{k1}} {{z}}, zmm16",
                    "vmovdqu64 [{to}], zmm16",
                    line = in(reg) line.0.as_ptr(),
                    to = in(reg) to.as_mut_ptr(),
                    which = in(reg) which,
                    out("zmm16") _, out("k1") _,
                    options(nostack, preserves_flags)
                );
            }
        }

        #[inline(always)]
        fn deal(self, line: &Line, ways: [(u32, &Line, usize); 2]) {
            for (which, to, behind) in ways {
                let n = which.count_ones() as usize;
                assert!(behind + n <= WORDS, "no room");
                let some = (1u32 << n) - 1;
                // SAFETY: the asm reads the 64 bytes of one line and writes words to another that are within
                // it, as was just seen. They are shared and atomic. The processor has AVX-512.
                unsafe {
                    asm!(
                        "kmovw k1, {which:e}",
                        "kmovw k2, {some:e}",
                        "vmovdqa64 zmm16, [{line}]",
                        "vpcompressq zmm16 {{k1}} {{z}}, zmm16",
                        "vmovdqu64 [{to} + 8 * {behind}] {{k2}}, zmm16",
                        line = in(reg) line.0.as_ptr(),
                        to = in(reg) to.0.as_ptr(),
                        which = in(reg) which,
                        some = in(reg) some,
                        behind = in(reg) behind,
                        out("zmm16") _, out("k1") _, out("k2") _,
                        options(nostack, preserves_flags)
                    );
                }
            }
        }
    }
}

/// A cache line.
#[derive(Debug, Default)]
#[repr(C)]
#[cfg_attr(not(loom), repr(align(64)))]
pub struct Line(pub [AtomicU64; WORDS]);

impl Line {
    /// Which words agree with `word` in all bits but the lowest `ignored` (32 or more), a bit each. Looking
    /// at all without a branch is faster than stopping at the right one, which the processor cannot foresee.
    #[inline(always)]
    pub fn alike(&self, word: u64, ignored: u32) -> u32 {
        #[cfg(x86_code)]
        {
            self.alike_sse2(word, ignored)
        }
        #[cfg(not(x86_code))]
        {
            self.alike_portable(word, ignored)
        }
    }

    /// Which words agree with `word` as in [`Line::alike`], and which are 0. Every word is read once, so both
    /// are about the same.
    #[inline(always)]
    pub fn look(&self, word: u64, ignored: u32) -> (u32, u32) {
        #[cfg(x86_code)]
        {
            self.look_sse2(word, ignored)
        }
        #[cfg(not(x86_code))]
        {
            self.look_portable(word, ignored)
        }
    }

    /// How many words are in use, of a line that is filled from the first on.
    #[inline(always)]
    pub fn occupied(&self) -> usize {
        (self.look(0, 32).1 | 1 << WORDS).trailing_zeros() as usize
    }

    #[cfg(any(test, not(x86_code)))]
    fn alike_portable(&self, word: u64, ignored: u32) -> u32 {
        self.look_portable(word, ignored).0
    }

    #[cfg(any(test, not(x86_code)))]
    fn look_portable(&self, word: u64, ignored: u32) -> (u32, u32) {
        use crate::sync::atomic::Ordering::Acquire;
        self.0.iter().rev().fold((0, 0), |(alike, empty), other| {
            let other = other.load(Acquire);
            let is_alike = (other ^ word) >> ignored == 0;
            (alike + alike + u32::from(is_alike), empty + empty + u32::from(other == 0))
        })
    }

    #[cfg(x86_code)]
    #[inline(always)]
    fn alike_sse2(&self, word: u64, ignored: u32) -> u32 {
        use std::arch::x86_64::{_mm_movemask_epi8, _mm_packs_epi16, _mm_setzero_si128};
        let alike = agreeing(self.load(), word, ignored);
        // SAFETY: SSE2 is part of every x86-64 processor.
        unsafe { _mm_movemask_epi8(_mm_packs_epi16(alike, _mm_setzero_si128())) as u32 }
    }

    #[cfg(x86_code)]
    #[inline(always)]
    fn look_sse2(&self, word: u64, ignored: u32) -> (u32, u32) {
        use std::arch::x86_64::{
            _mm_cmpeq_epi16, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32, _mm_setzero_si128,
        };
        let [a, b, c, d] = self.load();
        let alike = agreeing([a, b, c, d], word, ignored);
        // SAFETY: SSE2 is part of every x86-64 processor.
        unsafe {
            // Packing saturates, so what is not 0 does not become 0.
            let narrow = _mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d));
            let empty = _mm_cmpeq_epi16(narrow, _mm_setzero_si128());
            let both = _mm_movemask_epi8(_mm_packs_epi16(alike, empty)) as u32;
            (both & 0xff, both >> 8)
        }
    }

    /// The words, two at a time. They are loaded by `asm!`, because other threads may write them and the
    /// language has no atomic load of a vector; the processor loads each aligned word of it at once and keeps
    /// loads in order (acquire).
    #[cfg(x86_code)]
    #[inline(always)]
    fn load(&self) -> [std::arch::x86_64::__m128i; 4] {
        let (a, b, c, d);
        // SAFETY: the asm reads the 64 bytes of this line, which is aligned to 64, and writes nothing but the
        // four registers. SSE2 is part of every x86-64 processor.
        unsafe {
            std::arch::asm!(
                "movdqa {a}, [{at}]",
                "movdqa {b}, [{at} + 16]",
                "movdqa {c}, [{at} + 32]",
                "movdqa {d}, [{at} + 48]",
                at = in(reg) self.0.as_ptr(),
                a = out(xmm_reg) a,
                b = out(xmm_reg) b,
                c = out(xmm_reg) c,
                d = out(xmm_reg) d,
                options(nostack, preserves_flags)
            );
        }
        [a, b, c, d]
    }
}

/// Which of eight words agree with `word` in all bits but the lowest `ignored` (32 or more), sixteen bits
/// each.
#[cfg(x86_code)]
#[inline(always)]
fn agreeing(
    [a, b, c, d]: [std::arch::x86_64::__m128i; 4],
    word: u64,
    ignored: u32,
) -> std::arch::x86_64::__m128i {
    use std::arch::x86_64::{
        _mm_castps_si128, _mm_castsi128_ps, _mm_cmpeq_epi32, _mm_cvtsi32_si128, _mm_packs_epi32,
        _mm_set1_epi32, _mm_setzero_si128, _mm_shuffle_ps, _mm_srl_epi32, _mm_xor_si128,
    };
    // SAFETY: SSE2, to which all functions here belong, is part of every x86-64 processor.
    unsafe {
        // The bits that count are all in the upper halves of the words.
        let word = _mm_set1_epi32((word >> 32) as i32);
        let shift = _mm_cvtsi32_si128(ignored as i32 - 32);
        let upper = |x, y| {
            let both = _mm_shuffle_ps::<0b11_01_11_01>(_mm_castsi128_ps(x), _mm_castsi128_ps(y));
            let rest = _mm_srl_epi32(_mm_xor_si128(_mm_castps_si128(both), word), shift);
            _mm_cmpeq_epi32(rest, _mm_setzero_si128())
        };
        _mm_packs_epi32(upper(a, b), upper(c, d))
    }
}

/// Whom the memory belongs to; kept to be dropped.
#[derive(Debug)]
enum Owner {
    Heap { _lines: Vec<Line> },
    System { map: MmapMut },
}

/// A piece of memory, zero at first.
#[derive(Debug)]
pub struct Pages {
    start: NonNull<Line>,
    len: usize,
    owner: Owner,
}

// SAFETY: the memory is owned and all access to it is through shared references to atomic words.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

/// Whether huge pages are worth asking for, as far as those are concerned who share this.
#[derive(Debug, Default)]
pub struct Huge {
    /// Bytes that are still to be taken as ordinary pages.
    ordinary: AtomicU64,
}

impl Huge {
    /// Whether the next bytes are to be tried as a huge page.
    fn worth_trying(&self) -> bool {
        let left = self.ordinary.load(Relaxed);
        self.ordinary.store(left.saturating_sub(HUGE as u64), Relaxed);
        left == 0
    }

    fn took(&self, time: Duration) {
        if time > DEAR {
            self.ordinary.store(TRY_AGAIN, Relaxed);
        }
    }
}

impl Pages {
    /// `len` cache lines of zeros. Lack of memory is an answer, not the end.
    pub fn new(len: usize) -> Result<Self, Full> {
        let bytes = len.checked_mul(size_of::<Line>()).ok_or(Full)?;
        if bytes >= MAPPED && cfg!(not(loom)) { Self::mapped(len, bytes) } else { Self::on_heap(len) }
    }

    /// Addresses for a caller that touches few lines here and there, so that a huge page would be wasted, and
    /// can do with fewer.
    pub fn scattered(len: usize) -> Result<Self, Full> {
        let mut pages = Self::reserved(len)?;
        pages.len = pages.len.min(len);
        Ok(pages)
    }

    /// A few cache lines of zeros, from the heap.
    pub fn small(len: usize) -> Self {
        Self::from_heap(std::iter::repeat_with(Line::default).take(len).collect())
    }

    fn on_heap(len: usize) -> Result<Self, Full> {
        let mut lines = Vec::new();
        lines.try_reserve_exact(len).map_err(|_| Full)?;
        lines.resize_with(len, Line::default);
        Ok(Self::from_heap(lines))
    }

    fn from_heap(mut lines: Vec<Line>) -> Self {
        // The buffer of a vector stays where it is when the vector is moved.
        let start = NonNull::from(lines.as_mut_slice()).cast();
        Pages { start, len: lines.len(), owner: Owner::Heap { _lines: lines } }
    }

    fn mapped(len: usize, bytes: usize) -> Result<Self, Full> {
        // Room to move the beginning to where a huge page can begin; what is left over is never touched.
        let slack = if bytes >= HUGE { HUGE } else { 0 };
        let whole = bytes.checked_add(slack).filter(|&n| isize::try_from(n).is_ok()).ok_or(Full)?;
        if !can_be_had(whole.saturating_add(LEFT)) {
            return Err(Full);
        }
        let mut map = MmapOptions::new().len(whole).map_anon().map_err(|_| Full)?;
        let skipped = if slack > 0 { map.as_ptr().align_offset(HUGE) % HUGE } else { 0 };
        advise(&map, skipped, bytes);
        let start = NonNull::from(&mut map[skipped..skipped + bytes]).cast();
        Ok(Pages { start, len, owner: Owner::System { map } })
    }

    /// Addresses for up to `len` cache lines, fewer when the system has less than twice as many: others
    /// need some, too. Memory is there only where something is written.
    pub fn reserved(len: usize) -> Result<Self, Full> {
        if cfg!(loom) {
            return Self::on_heap(len);
        }
        let mut len = len;
        loop {
            let bytes = len.checked_mul(size_of::<Line>()).and_then(|bytes| bytes.checked_add(HUGE));
            let bytes = bytes.filter(|&n| isize::try_from(n).is_ok());
            let bytes = bytes.filter(|&n| can_be_had(n.saturating_add(n.max(LEFT))));
            if let Some(mut map) = bytes.and_then(|bytes| reserve(bytes).ok()) {
                let skipped = map.as_ptr().align_offset(HUGE) % HUGE;
                let start = NonNull::from(&mut map[skipped..]).cast();
                return Ok(Pages { start, len, owner: Owner::System { map } });
            }
            if len <= LEAST {
                return Err(Full);
            }
            len /= 2;
        }
    }

    /// A piece of `len` cache lines at the beginning of more addresses, so that it can become up to `times`
    /// as long where it is; it may get fewer.
    pub fn extensible(len: usize, times: usize, huge: &Huge) -> Result<Self, Full> {
        let mut pages = Self::reserved(len.saturating_mul(times))?;
        if pages.len < len {
            return Err(Full);
        }
        pages.len = len;
        pages.populate(0..len, huge);
        Ok(pages)
    }

    /// Bytes of the mapping before the first line.
    fn skipped(&self, map: &MmapMut) -> usize {
        self.start.as_ptr() as usize - map.as_ptr() as usize
    }

    /// Whether it can have this number of lines where it is.
    pub fn has_addresses(&self, len: usize) -> bool {
        let Owner::System { map } = &self.owner else { return len <= self.len };
        // What was not needed to find the beginning does not count: how much it is depends on where the
        // system put the piece.
        let room = map.len().saturating_sub(HUGE);
        len.checked_mul(size_of::<Line>()).is_some_and(|bytes| bytes <= room)
    }

    /// Makes it longer, if it has the addresses.
    pub fn extend(&mut self, len: usize, huge: &Huge) {
        if len > self.len && self.has_addresses(len) {
            let lines = self.len..len;
            self.len = len;
            self.populate(lines, huge);
        }
    }

    /// Asks for the memory of these lines in advance. Where that is not possible it comes at the first touch.
    pub fn populate(&self, lines: Range<usize>, huge: &Huge) {
        let Owner::System { map } = &self.owner else { return };
        let skipped = self.skipped(map);
        let end = lines.end.min(self.len) * size_of::<Line>();
        let mut at = lines.start * size_of::<Line>();
        while at < end {
            // As far as the next place where a huge page can begin.
            let next = (at + 1).next_multiple_of(HUGE).min(end);
            let is_huge = next - at == HUGE && huge.worth_trying();
            if is_huge {
                advise(map, skipped + at, HUGE);
            }
            let begun = Instant::now();
            take(map, skipped + at, next - at);
            if is_huge {
                huge.took(begun.elapsed());
            }
            at = next;
        }
    }

    /// The memory as cache lines.
    #[inline]
    pub fn lines(&self) -> &[Line] {
        // SAFETY: `start` is the beginning of `len` lines that were zeroed (which is a valid value), are
        // aligned to a line (a mapping to a page) and live as long as the owner beside it. All access is
        // through such shared slices.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// The memory as words.
    #[inline]
    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: as in `lines`; a line is exactly an array of words, without padding.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.len * WORDS) }
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> u64 {
        (self.len * WORDS * 8) as u64
    }
}

/// Addresses without a promise of memory.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn reserve(bytes: usize) -> std::io::Result<MmapMut> {
    MmapOptions::new().len(bytes).no_reserve_swap().map_anon()
}

/// Elsewhere mappings are taken as they are; a system that promises memory for all addresses gives fewer.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn reserve(bytes: usize) -> std::io::Result<MmapMut> {
    MmapOptions::new().len(bytes).map_anon()
}

/// Asks for huge pages. It is only advice: where there are none, everything works as well, only slower.
#[cfg(target_os = "linux")]
fn advise(map: &MmapMut, skipped: usize, bytes: usize) {
    if bytes >= HUGE {
        let _ = map.advise_range(memmap2::Advice::HugePage, skipped, bytes);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise(_map: &MmapMut, _skipped: usize, _bytes: usize) {}

/// Asks for the memory itself. A system that cannot do so gives it when it is touched.
#[cfg(target_os = "linux")]
fn take(map: &MmapMut, skipped: usize, bytes: usize) {
    let _ = map.advise_range(memmap2::Advice::PopulateWrite, skipped, bytes);
}

#[cfg(not(target_os = "linux"))]
fn take(_map: &MmapMut, _skipped: usize, _bytes: usize) {}

/// Asks the processor for the cache line of `place`, which will be needed soon.
#[inline(always)]
pub fn prefetch<T>(place: &T) {
    #[cfg(x86_code)]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing that the program can see, and SSE belongs to every x86-64
        // processor.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast()) }
    }
    #[cfg(not(x86_code))]
    let _ = place;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_any_size_is_zero_aligned_and_all_there() {
        for len in [0, 1, 7, 4095, 4096, 32_767, 32_768, 40_001] {
            let pages = Pages::new(len).unwrap();
            assert_eq!((pages.lines().len(), pages.words().len()), (len, len * WORDS));
            assert_eq!(pages.bytes(), len as u64 * 64);
            assert!(pages.words().iter().all(|word| word.load(Relaxed) == 0));
            assert_eq!(pages.lines().as_ptr() as usize % 64, 0);
            for (i, word) in pages.words().iter().enumerate() {
                word.store(i as u64, Relaxed);
            }
            for (i, line) in pages.lines().iter().enumerate() {
                prefetch(line);
                assert_eq!(line.0[WORDS - 1].load(Relaxed), (i * WORDS + WORDS - 1) as u64);
            }
        }
    }

    #[test]
    fn words_are_compared_without_their_lower_bits() {
        let line = Line::default();
        let mut random = 1u64;
        for _ in 0..10_000 {
            for word in &line.0 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                // Few different upper bits, so that many agree.
                word.store(
                    (random >> 62 << 40) | ((random >> 60 & 1) << 63) | (random >> 30 & 0xff),
                    Relaxed,
                );
            }
            let word = (random >> 40 & 3) << 40;
            let expected: u32 =
                (0..8).map(|i| u32::from(line.0[i].load(Relaxed) >> 40 == word >> 40) << i).sum();
            assert_eq!(line.alike(word, 40), expected);
            assert_eq!(line.alike_portable(word, 40), expected);
            assert_eq!(line.look(word, 40).0, expected);
            assert_eq!(line.look(word, 40), line.look_portable(word, 40));
        }
    }

    /// What two lines that have a number of words get from another one.
    fn dealt(width: impl Width, line: &Line, which: [u32; 2], behind: [usize; 2]) -> [[u64; WORDS]; 2] {
        let to = behind.map(|n| Line(std::array::from_fn(|at| AtomicU64::new(if at < n { 9 } else { 0 }))));
        width.deal(line, [(which[0], &to[0], behind[0]), (which[1], &to[1], behind[1])]);
        to.map(|line| line.0.map(|word| word.load(Relaxed)))
    }

    /// The same of both widths, where there are two.
    #[test]
    fn however_many_words_are_taken_at_once() {
        let Some(wide) = wide() else { return };
        let (line, mut random) = (Line::default(), 5u64);
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            random >> 33
        };
        for _ in 0..20_000 {
            let used = next() as usize % (WORDS + 1);
            for (at, word) in line.0.iter().enumerate() {
                word.store(
                    if at < used { (next() % 4) << 62 | (next() % 2) << 45 | next() | 1 } else { 0 },
                    Relaxed,
                );
            }
            let (word, ignored) =
                ((next() % 4) << 62 | (next() % 2) << 45 | next() | 1, 33 + next() as u32 % 31);
            assert_eq!(wide.look(&line, word, ignored), line.look_portable(word, ignored));
            assert_eq!(Narrow.look(&line, word, ignored), line.look_portable(word, ignored));
            assert_eq!((wide.occupied(&line), Narrow.occupied(&line)), (used, used));
            // Three words at most go behind four at most.
            let which: [u32; 2] =
                std::array::from_fn(|_| 1 << (next() % 8) | 1 << (next() % 8) | 1 << (next() % 8));
            let behind: [usize; 2] = std::array::from_fn(|_| next() as usize % 5);
            let dealt = [dealt(wide, &line, which, behind), dealt(Narrow, &line, which, behind)];
            assert_eq!(dealt[0], dealt[1]);
            for (i, which) in which.into_iter().enumerate() {
                let (mut a, mut b) = ([7; WORDS], [7; WORDS]);
                wide.take(&line, which, &mut a);
                Narrow.take(&line, which, &mut b);
                let n = which.count_ones() as usize;
                assert_eq!(a[..n], b[..n]);
                assert_eq!(dealt[0][i][behind[i]..][..n], a[..n]);
            }
        }
    }

    #[test]
    fn words_in_use_are_counted() {
        let line = Line::default();
        for n in 0..WORDS {
            assert_eq!(line.occupied(), n);
            // Halves and saturation: what is not 0 is in use, whatever its bits.
            let word = [7, 1 << 63, 0xffff_0000, 1 << 40, 0x8000_0000, u64::MAX, 1 << 32, 0x8000][n];
            line.0[n].store(word, Relaxed);
            let empty = 0xff & !((2 << n) - 1);
            assert_eq!((line.look(1 << 50, 40).1, line.look_portable(1 << 50, 40).1), (empty, empty));
        }
        assert_eq!(line.occupied(), WORDS);
    }

    #[test]
    fn huge_pages_can_be_used() {
        let pages = Pages::new(HUGE / 64 + 5).unwrap();
        assert_eq!(pages.lines().as_ptr() as usize % HUGE, 0);
    }

    #[test]
    fn lack_of_memory_is_an_answer() {
        assert_eq!(Pages::new(usize::MAX).err(), Some(Full));
        assert_eq!(Pages::new(usize::MAX / 64).err(), Some(Full));
        assert_eq!(Pages::new(1 << 50).err(), Some(Full));
    }
}
