//! The bytes of a key in the order of a tree and back, 64 at a time ([`crate::shuffle`]).
//!
//! `vpermb` moves 64 bytes to any places at once, `vpermi2b` picks any 64 of 128 (AVX-512 VBMI). So the slots
//! of four joins are put together by one instruction from a key of up to 128 bytes, and a key of 64 bytes
//! from the slots of eight joins. A [`Shuffle64`] exists only where the processor has them, and for trees of
//! up to sixteen joins.

#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m512i, _mm_loadu_si128, _mm512_and_si512, _mm512_cmpneq_epi32_mask, _mm512_load_si512,
    _mm512_mask_storeu_epi8, _mm512_maskz_broadcast_i32x4, _mm512_maskz_loadu_epi8,
    _mm512_maskz_permutex2var_epi8, _mm512_maskz_permutexvar_epi8, _mm512_or_si512, _mm512_setzero_si512,
    _mm512_store_si512,
};
use std::sync::atomic::AtomicU64;

use crate::shuffle::{Block, MOST, MOST_JOINS, PIECES, Piece};

/// Bytes of a block.
const BLOCK: usize = size_of::<Block>();

/// A block that is put together from up to four.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
struct Row {
    /// For every byte, which of the first two blocks it is, and of the other two.
    picks: [[u8; BLOCK]; MOST / 2],
    /// Which bytes come from the first two, and from the others.
    masks: [u64; MOST / 2],
}

/// How the bytes of keys of one length are moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shuffle64 {
    len: usize,
    /// Which bytes of its blocks a key has.
    there: [u64; MOST],
    /// For every block of slots what stays as it was.
    kept: Vec<Block>,
    /// From a key to the slots of all joins.
    gathering: Vec<Row>,
    /// From the slots of all joins to a key.
    scattering: Vec<Row>,
}

/// Rows for bytes that go from one place to another.
fn rows(blocks: usize, moves: impl Iterator<Item = (usize, usize)>) -> Vec<Row> {
    let mut rows = vec![Row { picks: [[0; BLOCK]; MOST / 2], masks: [0; MOST / 2] }; blocks];
    for (from, to) in moves {
        let (row, half) = (&mut rows[to / BLOCK], from / (2 * BLOCK));
        row.picks[half][to % BLOCK] = (from % (2 * BLOCK)) as u8;
        row.masks[half] |= 1 << (to % BLOCK);
    }
    rows
}

impl Shuffle64 {
    /// For keys whose bytes have these places in the slots of all joins, sixteen to a join; `kept` are the
    /// other bytes of every join. `None` where it cannot be done.
    pub fn new(places: &[u32], kept: &[Piece]) -> Option<Self> {
        let len = places.len();
        if !is_supported() || len > MOST * BLOCK {
            return None;
        }
        let moves = || places.iter().enumerate().map(|(byte, &place)| (byte, place as usize));
        let there = |block: usize| match len.saturating_sub(block * BLOCK) {
            bytes @ 0..BLOCK => (1 << bytes) - 1,
            _ => u64::MAX,
        };
        let blocks = |pieces: &[Piece]| {
            let mut block = Block::default();
            block.0[..pieces.len()].copy_from_slice(pieces);
            block
        };
        Some(Shuffle64 {
            len,
            there: std::array::from_fn(there),
            kept: kept.chunks(PIECES).map(blocks).collect(),
            gathering: rows(kept.len().div_ceil(PIECES), moves()),
            scattering: rows(len.div_ceil(BLOCK), moves().map(|(byte, place)| (place, byte))),
        })
    }

    /// Puts together the slots of all joins for a key, beginning with those of another one. The set of slots
    /// that are different.
    #[inline(always)]
    pub fn gather(&self, key: &[u8], base: &[Block], value: &mut [Block]) -> u64 {
        assert!(key.len() == self.len && base.len() == self.kept.len() && value.len() == base.len());
        // SAFETY: a shuffle exists only where the processor has the instructions. Lengths are as they must
        // be.
        unsafe {
            match self.scattering.len() {
                0 | 1 => self.gather_from::<1>(key.as_ptr(), base, value),
                2 => self.gather_from::<2>(key.as_ptr(), base, value),
                _ => self.gather_from::<4>(key.as_ptr(), base, value),
            }
        }
    }

    /// Appends the key with these slots.
    #[inline(always)]
    pub fn scatter(&self, slots: &[Block], out: &mut Vec<u8>) {
        assert_eq!(slots.len(), self.kept.len());
        // SAFETY: a shuffle exists only where the processor has the instructions. There are as many blocks as
        // there must be.
        unsafe {
            match slots.len() {
                0 | 1 => self.scatter_to::<1>(&load(slots), out),
                2 => self.scatter_to::<2>(&load(slots), out),
                _ => self.scatter_to::<4>(&load(slots), out),
            }
        }
    }

    /// Appends the key whose joins have these groups, which are written to `slots`.
    #[inline(always)]
    pub fn collect(&self, groups: &[&[AtomicU64; 2]; MOST_JOINS], slots: &mut [Block], out: &mut Vec<u8>) {
        assert_eq!(slots.len(), self.kept.len());
        // SAFETY: as above.
        unsafe {
            match slots.len() {
                0 | 1 => self.collect_from::<1>(groups, slots, out),
                2 => self.collect_from::<2>(groups, slots, out),
                _ => self.collect_from::<4>(groups, slots, out),
            }
        }
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> usize {
        (self.gathering.capacity() + self.scattering.capacity()) * size_of::<Row>()
            + self.kept.capacity() * size_of::<Block>()
    }
}

impl Shuffle64 {
    /// # Safety
    /// There are as many bytes at `key` as keys have, and these are no more than `N` blocks; there is a block
    /// of slots for each row.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    unsafe fn gather_from<const N: usize>(&self, key: *const u8, base: &[Block], value: &mut [Block]) -> u64 {
        let mut from = [_mm512_setzero_si512(); N];
        for (at, (block, &there)) in from.iter_mut().zip(&self.there).enumerate() {
            // SAFETY: only bytes that are there are read.
            *block = unsafe { _mm512_maskz_loadu_epi8(there, key.wrapping_add(at * BLOCK).cast()) };
        }
        let (mut different, mut slot) = (0, 0);
        let rows = self.gathering.iter().zip(&self.kept);
        for ((row, kept), (old, new)) in rows.zip(base.iter().zip(value)) {
            // SAFETY: blocks are aligned.
            unsafe {
                let was = _mm512_load_si512(std::ptr::from_ref(old).cast());
                let names = _mm512_and_si512(was, _mm512_load_si512(std::ptr::from_ref(kept).cast()));
                let block = _mm512_or_si512(names, row.pick(&from));
                _mm512_store_si512(std::ptr::from_mut(new).cast(), block);
                different |= u64::from(_mm512_cmpneq_epi32_mask(was, block)) << slot;
            }
            slot += BLOCK / 4;
        }
        different
    }

    /// # Safety
    /// There are no more than `N` blocks of slots.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    unsafe fn scatter_to<const N: usize>(&self, slots: &[__m512i; N], out: &mut Vec<u8>) {
        let start = out.len();
        out.reserve(self.len);
        for ((at, row), &there) in self.scattering.iter().enumerate().zip(&self.there) {
            // SAFETY: there is room for a key, and only its bytes are written.
            unsafe {
                let to = out.as_mut_ptr().add(start).wrapping_add(at * BLOCK);
                _mm512_mask_storeu_epi8(to.cast(), there, row.pick(slots));
            }
        }
        // SAFETY: all bytes of the key are written.
        unsafe { out.set_len(start + self.len) };
    }

    /// # Safety
    /// There are no more than `N` blocks of slots.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    unsafe fn collect_from<const N: usize>(
        &self,
        groups: &[&[AtomicU64; 2]; MOST_JOINS],
        slots: &mut [Block],
        out: &mut Vec<u8>,
    ) {
        let mut from = [_mm512_setzero_si512(); N];
        for ((groups, block), slots) in groups.chunks_exact(PIECES).zip(&mut from).zip(slots) {
            // SAFETY: a group is sixteen bytes that nobody writes any more, because it has a name; blocks are
            // aligned.
            unsafe {
                let group = |at: usize| _mm_loadu_si128(groups[at].as_ptr().cast());
                let place = |at: usize| _mm512_maskz_broadcast_i32x4(0xf << (4 * at), group(at));
                let lower = _mm512_or_si512(place(0), place(1));
                *block = _mm512_or_si512(lower, _mm512_or_si512(place(2), place(3)));
                _mm512_store_si512(std::ptr::from_mut(slots).cast(), *block);
            }
        }
        // SAFETY: these are the blocks.
        unsafe { self.scatter_to(&from, out) };
    }
}

impl Row {
    /// Puts the block together.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn pick<const N: usize>(&self, from: &[__m512i; N]) -> __m512i {
        // SAFETY: picks are as long as a block, and aligned.
        let picks = self.picks.each_ref().map(|picks| unsafe { _mm512_load_si512(picks.as_ptr().cast()) });
        let two = |half: usize| {
            let at = 2 * half;
            _mm512_maskz_permutex2var_epi8(self.masks[half], from[at], picks[half], from[at + 1])
        };
        match N {
            1 => _mm512_maskz_permutexvar_epi8(self.masks[0], picks[0], from[0]),
            2 => two(0),
            _ => _mm512_or_si512(two(0), two(1)),
        }
    }
}

/// The slots, with zeros where there are less.
#[target_feature(enable = "avx512f")]
fn load<const N: usize>(slots: &[Block]) -> [__m512i; N] {
    let mut blocks = [_mm512_setzero_si512(); N];
    for (block, slots) in blocks.iter_mut().zip(slots) {
        // SAFETY: blocks are aligned.
        *block = unsafe { _mm512_load_si512(std::ptr::from_ref(slots).cast()) };
    }
    blocks
}

fn is_supported() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi")
}
