//! The bytes of a key in the order of a tree and back, sixteen at a time ([`crate::shuffle`]).
//!
//! `pshufb` moves sixteen bytes to any places at once. Pieces of a key overlap at its end, so that there is
//! no rest. A [`Shuffle16`] exists only where the processor has the instruction.

#![allow(unsafe_code)]

use crate::shuffle::{PIECE, Piece};

/// Bytes of a piece that go to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
struct Move {
    /// For every byte of the result, which of the sixteen it is; with the highest bit none.
    picks: Piece,
    /// Where the sixteen begin.
    from: usize,
}

/// The slots of a join, put together from pieces of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gathered {
    /// What stays as it was.
    kept: Piece,
    /// How many moves make up the rest.
    moves: usize,
}

/// A piece of a key, put together from slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scattered {
    /// Where it begins.
    to: usize,
    /// How many moves make it up.
    moves: usize,
}

/// How the bytes of keys of one length are moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shuffle16 {
    len: usize,
    /// From a key to the slots of all joins.
    gathered: Vec<Gathered>,
    gathering: Vec<Move>,
    /// From the slots of all joins to a key.
    scattered: Vec<Scattered>,
    scattering: Vec<Move>,
}

impl Shuffle16 {
    /// For keys whose bytes have these places in the slots of all joins, sixteen to a join; `kept` are the
    /// other bytes of every join. `None` where it cannot be done.
    pub fn new(places: &[u32], kept: &[Piece]) -> Option<Self> {
        if !is_supported() {
            return None;
        }
        let len = places.len();
        let starts: Vec<usize> =
            (0..len.div_ceil(PIECE)).map(|i| (i * PIECE).min(len.saturating_sub(PIECE))).collect();
        let mut shuffle =
            Shuffle16 { len, gathered: vec![], gathering: vec![], scattered: vec![], scattering: vec![] };
        for (join, &kept) in kept.iter().enumerate() {
            let moves = starts.iter().enumerate().filter_map(|(i, &start)| {
                // A byte that lies in two pieces is taken from the first.
                let bytes = (i * PIECE).max(start)..(start + PIECE).min(len);
                Move::new(start, bytes.map(|byte| (places[byte] as usize, byte - start)), join * PIECE)
            });
            let before = shuffle.gathering.len();
            shuffle.gathering.extend(moves);
            let moves = shuffle.gathering.len() - before;
            shuffle.gathered.push(Gathered { kept, moves });
        }
        for &start in &starts {
            let bytes = start..(start + PIECE).min(len);
            let moves = (0..kept.len()).filter_map(|join| {
                let here = bytes.clone().filter(|&byte| places[byte] as usize / PIECE == join);
                let pairs = here.map(|byte| (byte, places[byte] as usize % PIECE));
                Move::new(join * PIECE, pairs, start)
            });
            let before = shuffle.scattering.len();
            shuffle.scattering.extend(moves);
            let moves = shuffle.scattering.len() - before;
            shuffle.scattered.push(Scattered { to: start, moves });
        }
        Some(shuffle)
    }

    /// Puts together the slots of all joins for a key, beginning with those of another one. The set of slots
    /// that are different. There may be more pieces than joins.
    #[inline(always)]
    pub fn gather(&self, key: &[u8], base: &[Piece], value: &mut [Piece]) -> u64 {
        assert!(key.len() == self.len && base.len() >= self.gathered.len() && value.len() == base.len());
        if key.len() < PIECE {
            return self.gather_short(key, base, value);
        }
        // SAFETY: a shuffle exists only where the processor has the instruction. The key has the length for
        // which the moves were made.
        unsafe { self.gather_from(key.as_ptr(), base, value) }
    }

    #[cold]
    fn gather_short(&self, key: &[u8], base: &[Piece], value: &mut [Piece]) -> u64 {
        let mut bytes = [0; PIECE];
        bytes[..key.len()].copy_from_slice(key);
        // SAFETY: as above; such a key has one piece.
        unsafe { self.gather_from(bytes.as_ptr(), base, value) }
    }

    /// # Safety
    /// There are as many bytes at `key` as keys have, and at least a piece.
    #[target_feature(enable = "ssse3")]
    unsafe fn gather_from(&self, key: *const u8, base: &[Piece], value: &mut [Piece]) -> u64 {
        use std::arch::x86_64::{
            __m128i, _mm_and_si128, _mm_castsi128_ps, _mm_cmpeq_epi32, _mm_load_si128, _mm_loadu_si128,
            _mm_movemask_ps, _mm_or_si128, _mm_shuffle_epi8, _mm_store_si128,
        };
        let at = |piece: &Piece| std::ptr::from_ref(piece).cast::<__m128i>();
        let (mut moves, mut different, mut slot) = (self.gathering.as_slice(), 0u64, 0);
        for ((result, old), new) in self.gathered.iter().zip(base).zip(value) {
            // SAFETY: pieces are aligned, and moves begin where a whole piece of the key does.
            unsafe {
                let was = _mm_load_si128(at(old));
                let mut piece = _mm_and_si128(was, _mm_load_si128(at(&result.kept)));
                let (mine, others) = moves.split_at(result.moves);
                moves = others;
                for step in mine {
                    let from = _mm_loadu_si128(key.add(step.from).cast());
                    piece = _mm_or_si128(piece, _mm_shuffle_epi8(from, _mm_load_si128(at(&step.picks))));
                }
                _mm_store_si128(std::ptr::from_mut(new).cast(), piece);
                let same = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(was, piece)));
                different |= u64::from(same as u32 ^ 0xf) << slot;
            }
            slot += 4;
        }
        different
    }

    /// Appends the key with these slots.
    #[inline(always)]
    pub fn scatter(&self, slots: &[Piece], out: &mut Vec<u8>) {
        assert!(slots.len() >= self.gathered.len());
        let start = out.len();
        out.reserve(self.len.max(PIECE));
        // SAFETY: a shuffle exists only where the processor has the instruction; there is room for the key
        // and at least a piece, and all bytes of the key are written.
        unsafe {
            self.scatter_to(slots.as_ptr().cast(), out.as_mut_ptr().add(start));
            out.set_len(start + self.len);
        }
    }

    /// # Safety
    /// There are as many slots as there are joins, and room for a key and at least a piece.
    #[target_feature(enable = "ssse3")]
    unsafe fn scatter_to(&self, slots: *const u8, out: *mut u8) {
        use std::arch::x86_64::{
            __m128i, _mm_load_si128, _mm_or_si128, _mm_setzero_si128, _mm_shuffle_epi8, _mm_storeu_si128,
        };
        let at = |piece: &Piece| std::ptr::from_ref(piece).cast::<__m128i>();
        let mut moves = self.scattering.as_slice();
        for result in &self.scattered {
            let (mine, others) = moves.split_at(result.moves);
            moves = others;
            // SAFETY: pieces are aligned; moves begin at a piece of the slots, and results where a whole
            // piece of the key does.
            unsafe {
                let mut piece = _mm_setzero_si128();
                for step in mine {
                    let from = _mm_load_si128(slots.add(step.from).cast());
                    piece = _mm_or_si128(piece, _mm_shuffle_epi8(from, _mm_load_si128(at(&step.picks))));
                }
                _mm_storeu_si128(out.add(result.to).cast(), piece);
            }
        }
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> usize {
        (self.gathering.capacity() + self.scattering.capacity()) * size_of::<Move>()
            + self.gathered.capacity() * size_of::<Gathered>()
            + self.scattered.capacity() * size_of::<Scattered>()
    }
}

impl Move {
    /// Moves bytes of the sixteen from `from` on: pairs of where a byte goes, in the whole, and which one it
    /// is. Of what goes to the piece at `to`; `None` when there is nothing.
    fn new(from: usize, pairs: impl Iterator<Item = (usize, usize)>, to: usize) -> Option<Self> {
        let (mut picks, mut any) = ([0x80; PIECE], false);
        for (place, pick) in pairs.filter(|&(place, _)| (to..to + PIECE).contains(&place)) {
            picks[place - to] = pick as u8;
            any = true;
        }
        any.then(|| Move { picks: Piece::of(picks), from })
    }
}

fn is_supported() -> bool {
    is_x86_feature_detected!("ssse3")
}
