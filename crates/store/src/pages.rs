//! Zeroed memory in cache lines, and prefetching.
//!
//! A search touches its memory at random. With ordinary pages of 4 KB nearly every touch also misses the translation
//! look-aside buffer; measured on flat tables, huge pages save up to a third of the time. So large pieces are mapped from
//! the system, aligned for huge pages and advised to use them (Linux; elsewhere the advice is left out). A mapping is zero from the
//! start, costs nothing until it is touched and goes back to the system when it is dropped. Small pieces come from the heap.
//!
//! The words are atomic, so that several threads may share a piece. This is the only file of the crate with `unsafe` code.

#![allow(unsafe_code)]

use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

use memmap2::{MmapMut, MmapOptions};

use crate::Full;

/// 64-bit words of a cache line.
pub const WORDS: usize = 8;
/// From this many bytes a piece is mapped from the system.
const MAPPED: usize = 256 << 10;
/// The size of a huge page, and the alignment that it needs.
const HUGE: usize = 2 << 20;

/// A cache line.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Line(pub [AtomicU64; WORDS]);

/// Whom the memory belongs to. Neither is ever looked at again; they are kept to be dropped.
#[derive(Debug)]
enum Owner {
    Heap { _lines: Vec<Line> },
    System { _map: MmapMut },
}

/// A piece of memory, zero at first.
#[derive(Debug)]
pub struct Pages {
    start: NonNull<Line>,
    len: usize,
    _owner: Owner,
}

// SAFETY: the memory is owned and all access to it is through shared references to atomic words.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Pages {
    /// So many cache lines of zeros. Lack of memory is an answer, not the end.
    pub fn new(len: usize) -> Result<Self, Full> {
        let bytes = len.checked_mul(size_of::<Line>()).ok_or(Full)?;
        if bytes >= MAPPED { Self::mapped(len, bytes) } else { Self::on_heap(len) }
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
        Pages { start, len: lines.len(), _owner: Owner::Heap { _lines: lines } }
    }

    fn mapped(len: usize, bytes: usize) -> Result<Self, Full> {
        // Room to move the beginning to where a huge page can begin; what is left over is never touched.
        let slack = if bytes >= HUGE { HUGE } else { 0 };
        let whole = bytes.checked_add(slack).filter(|&n| isize::try_from(n).is_ok()).ok_or(Full)?;
        let mut map = MmapOptions::new().len(whole).no_reserve_swap().map_anon().map_err(|_| Full)?;
        let skipped = if slack > 0 { map.as_ptr().align_offset(HUGE) % HUGE } else { 0 };
        advise(&map, skipped, bytes);
        let start = NonNull::from(&mut map[skipped..skipped + bytes]).cast();
        Ok(Pages { start, len, _owner: Owner::System { _map: map } })
    }

    /// The memory as cache lines.
    #[inline]
    pub fn lines(&self) -> &[Line] {
        // SAFETY: `start` is the beginning of `len` lines that were zeroed (which is a valid value), are aligned to a
        // line (a mapping to a page) and live as long as the owner beside it. All access is through such shared slices.
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
        (self.len * size_of::<Line>()) as u64
    }
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

/// Asks the processor for the cache line of `place`, which will be needed soon.
#[inline(always)]
pub fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing that the program can see, and SSE belongs to every x86-64 processor.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

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
