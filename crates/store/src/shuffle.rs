//! The bytes of a key in the order of a tree and back, many at a time.
//!
//! Taking a key apart byte by byte, or only the bytes that are different, means branches that no processor
//! can foresee: how many bytes, in which words. Here the slots of all joins are put together from whole
//! pieces of the key, and a key from the slots of all joins. What is done is the same for all keys of a
//! length.
//!
//! How depends on what the processor can do: move 64 bytes at once ([`shuffle64`](crate::shuffle64)) or
//! sixteen ([`shuffle16`](crate::shuffle16)). With sixteen, large trees are better off with
//! [`crate::large_path`].

#![allow(unsafe_code)]

use std::sync::atomic::AtomicU64;

#[cfg(not(x86_code))]
pub use crate::no_shuffle::{NoShuffle as Shuffle16, NoShuffle as Shuffle64};
#[cfg(x86_code)]
pub use crate::{shuffle16::Shuffle16, shuffle64::Shuffle64};

/// Bytes of a piece.
pub const PIECE: usize = size_of::<Piece>();
/// Pieces of a block.
pub const PIECES: usize = 4;
/// Blocks that the slots of a tree may have, for it to be shuffled: a set of slots has 64 bits.
pub const MOST: usize = 4;
/// Joins that such a tree may have, the root's included.
pub const MOST_JOINS: usize = MOST * PIECES;
/// Trees of up to this number of joins, the root's included, are moved sixteen bytes at a time.
const FEW_JOINS: usize = 7;

/// Sixteen bytes, always written together, because they are read together: the slots of a join.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct Piece(pub [u64; 2]);

impl Piece {
    /// The piece with these bytes.
    pub fn of(bytes: [u8; PIECE]) -> Self {
        let whole = u128::from_le_bytes(bytes);
        Piece([whole as u64, (whole >> 64) as u64])
    }
}

/// The slots of four joins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Block(pub [Piece; PIECES]);

/// As many joins as there may be.
pub type Slots = [Piece; MOST_JOINS];

/// How the bytes of keys of one length are moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shuffle {
    /// Sixteen at a time.
    Sixteen(Shuffle16),
    /// Sixty-four at a time.
    SixtyFour(Shuffle64),
}

impl Shuffle {
    /// For keys whose bytes have these places in the slots of all joins, sixteen to a join; `kept` are the
    /// other bytes of every join. `None` where it cannot be done, or not well.
    pub fn new(places: &[u32], kept: &[Piece]) -> Option<Self> {
        if places.is_empty() || kept.len() > MOST_JOINS {
            return None;
        }
        let wide = Shuffle64::new(places, kept).map(Shuffle::SixtyFour);
        let narrow = || Shuffle16::new(places, kept).map(Shuffle::Sixteen);
        wide.or_else(|| if kept.len() <= FEW_JOINS { narrow() } else { None })
    }

    /// Puts together the slots of all joins for a key, beginning with those of another one. The set of slots
    /// that are different.
    #[inline(always)]
    pub fn gather(&self, key: &[u8], base: &[Block], value: &mut [Block]) -> u64 {
        match self {
            Shuffle::Sixteen(shuffle) => shuffle.gather(key, pieces(base), pieces_mut(value)),
            Shuffle::SixtyFour(shuffle) => shuffle.gather(key, base, value),
        }
    }

    /// Appends the key with these slots.
    #[inline(always)]
    pub fn scatter(&self, slots: &[Block], out: &mut Vec<u8>) {
        match self {
            Shuffle::Sixteen(shuffle) => shuffle.scatter(pieces(slots), out),
            Shuffle::SixtyFour(shuffle) => shuffle.scatter(slots, out),
        }
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> usize {
        match self {
            Shuffle::Sixteen(shuffle) => shuffle.memory(),
            Shuffle::SixtyFour(shuffle) => shuffle.memory(),
        }
    }
}

/// All pieces of some blocks.
#[inline(always)]
pub fn pieces(blocks: &[Block]) -> &[Piece] {
    // SAFETY: a block is exactly that number of pieces, without padding.
    unsafe { std::slice::from_raw_parts(blocks.as_ptr().cast(), blocks.len() * PIECES) }
}

/// All pieces of some blocks.
#[inline(always)]
pub fn pieces_mut(blocks: &mut [Block]) -> &mut [Piece] {
    // SAFETY: a block is exactly that number of pieces, without padding, and the blocks are borrowed as long
    // as these are.
    unsafe { std::slice::from_raw_parts_mut(blocks.as_mut_ptr().cast(), blocks.len() * PIECES) }
}

/// The joins of as many blocks as there may be.
#[inline(always)]
pub fn pieces_of(blocks: &mut [Block; MOST]) -> &mut Slots {
    // SAFETY: a block is exactly that number of pieces, without padding, and the blocks are borrowed as long
    // as these are.
    unsafe { &mut *blocks.as_mut_ptr().cast() }
}

/// Copies a group that other threads could write, as a whole.
#[inline(always)]
pub fn copy(group: &[AtomicU64; 2], piece: &mut Piece) {
    #[cfg(x86_code)]
    // SAFETY: the asm reads the sixteen bytes of the group and writes those of the piece, which is aligned.
    // SSE2 is part of every x86-64 processor, which reads each aligned word of it at once.
    unsafe {
        std::arch::asm!(
            "movups {x}, [{from}]",
            "movaps [{to}], {x}",
            from = in(reg) group.as_ptr(),
            to = in(reg) std::ptr::from_mut(piece),
            x = out(xmm_reg) _,
            options(nostack, preserves_flags)
        );
    }
    #[cfg(not(x86_code))]
    {
        use std::sync::atomic::Ordering::Relaxed;
        *piece = Piece([group[0].load(Relaxed), group[1].load(Relaxed)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ways that there are here for these keys.
    fn ways(places: &[u32], kept: &[Piece]) -> Vec<Shuffle> {
        let narrow = Shuffle16::new(places, kept).map(Shuffle::Sixteen);
        let wide = Shuffle64::new(places, kept).map(Shuffle::SixtyFour);
        narrow.into_iter().chain(wide).collect()
    }

    /// Bytes in reverse order, with a hole for a name in every join.
    #[test]
    fn bytes_come_back() {
        for len in [1usize, 5, 15, 16, 17, 31, 39, 63, 64, 65, 77, 120, 128, 129, 170, 180, 192] {
            let places: Vec<u32> = (0..len).rev().map(|i| (i / 12 * 16 + 4 + i % 12) as u32).collect();
            let joins = len.div_ceil(12);
            let kept = vec![Piece([0xffff_ffff, 0]); joins];
            for shuffle in ways(&places, &kept) {
                let mut base = vec![Block::default(); joins.div_ceil(PIECES)];
                pieces_mut(&mut base)[..joins].fill(Piece([0x0123_4567, 0]));
                let (mut value, mut random) = (base.clone(), 1u64);
                assert_eq!(shuffle.gather(&vec![0; len], &base, &mut value), 0);
                assert_eq!(value, base);
                for round in 0..200 {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let mut key = vec![0; len];
                    let at = (random >> 33) as usize % len;
                    key[at] = (random >> 20) as u8 | 1;
                    assert_eq!(shuffle.gather(&key, &base, &mut value), 1 << (places[at] / 4), "{round}");
                    let found = pieces(&value);
                    assert!(found[..joins].iter().all(|piece| piece.0[0] as u32 == 0x0123_4567));
                    let place = places[at] as usize;
                    let byte = (found[place / 16].0[place % 16 / 8] >> (place % 8 * 8)) as u8;
                    assert_eq!(byte, key[at]);
                    let mut out = vec![7];
                    shuffle.scatter(&value, &mut out);
                    assert_eq!((out[0], &out[1..]), (7, key.as_slice()));
                }
            }
        }
    }
}
