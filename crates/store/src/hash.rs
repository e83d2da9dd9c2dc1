//! A 64-bit hash of byte strings by folded multiplication.
//!
//! A step multiplies two 64-bit words, each mixed with a constant, and folds the 128-bit product, which
//! spreads each input bit over the whole result. Long keys go through four such lanes that do not wait for
//! each other. The end of a key is read as its last bytes, overlapping what was read before, so nothing is
//! copied byte by byte. The shape is that of wyhash (Wang Yi) and its relatives.

const K0: u64 = 0x9e37_79b9_7f4a_7c15;
const K1: u64 = 0xd1b5_4a32_d192_ed03;
const K2: u64 = 0x8cb9_2ba7_2f3d_8dd7;
const K3: u64 = 0xa076_1d64_78bd_642f;
const K4: u64 = 0xe703_7ed1_a0b4_28db;

/// The product of two words, its halves folded together.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Sixteen bytes as two words.
#[inline(always)]
fn halves(bytes: &[u8; 16]) -> (u64, u64) {
    let both = u128::from_le_bytes(*bytes);
    (both as u64, (both >> 64) as u64)
}

/// A key of at most 16 bytes as two words: its first and last eight bytes, or four, or all of up to three.
#[inline]
fn two_words(key: &[u8]) -> (u64, u64) {
    let half = |bytes: &[u8; 4]| u64::from(u32::from_le_bytes(*bytes));
    if let (Some(first), Some(last)) = (key.first_chunk::<8>(), key.last_chunk::<8>()) {
        (u64::from_le_bytes(*first), u64::from_le_bytes(*last))
    } else if let (Some(first), Some(last)) = (key.first_chunk::<4>(), key.last_chunk::<4>()) {
        (half(first), half(last))
    } else {
        (key.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)), 0)
    }
}

/// The hash of `key`. The length takes part, so that trailing zeros matter.
#[inline(always)]
pub fn hash(key: &[u8]) -> u64 {
    let len = key.len();
    let mut state = K0 ^ (len as u64).wrapping_mul(K1);
    let (a, b) = match key.last_chunk::<16>() {
        Some(last) if len > 16 => {
            let mut rest = key;
            if len > 64 {
                let whole = (len - 1) / 64 * 64;
                state = lanes(&key[..whole], state);
                rest = &key[whole..];
            }
            // Whole steps of 16 bytes that the lanes left, except the end, which is read below.
            while let Some((step, more)) = rest.split_first_chunk::<16>().filter(|(_, more)| !more.is_empty())
            {
                let (a, b) = halves(step);
                state = fold(a ^ K1, b ^ state);
                rest = more;
            }
            halves(last)
        }
        _ => two_words(key),
    };
    let mixed = fold(a ^ K2, b ^ state);
    fold(mixed ^ K0, state ^ K3)
}

/// Blocks of 64 bytes in four lanes.
fn lanes(blocks: &[u8], state: u64) -> u64 {
    let mut lanes = [state; 4];
    let keys = [K1, K2, K3, K4];
    for block in blocks.chunks_exact(64) {
        for ((lane, k), step) in lanes.iter_mut().zip(keys).zip(block.chunks_exact(16)) {
            let (a, b) = step.first_chunk().map_or((0, 0), halves);
            *lane = fold(a ^ k, b ^ *lane);
        }
    }
    lanes[0] ^ lanes[1].rotate_left(17) ^ lanes[2].rotate_left(31) ^ lanes[3].rotate_left(47)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn lengths_and_zeros_matter() {
        let zeros = [0u8; 300];
        let all: HashSet<u64> = (0..=300).map(|n| hash(&zeros[..n])).collect();
        assert_eq!(all.len(), 301);
    }

    /// A key of this length whose bytes differ from their neighbours.
    fn key(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i as u8).wrapping_mul(37)).collect()
    }

    #[test]
    fn every_input_bit_changes_about_half_of_the_output() {
        for len in (1..=72).chain([127, 128, 129, 191, 192, 193, 255, 256, 300]) {
            let key = key(len);
            let base = hash(&key);
            let mut sum = 0;
            for bit in 0..len * 8 {
                let mut other = key.clone();
                other[bit / 8] ^= 1 << (bit % 8);
                let changed = (hash(&other) ^ base).count_ones();
                assert!((10..=54).contains(&changed), "length {len}, bit {bit}: {changed}");
                sum += changed as usize;
            }
            let mean = sum as f64 / (len * 8) as f64;
            assert!((28.0..36.0).contains(&mean), "length {len}: {mean} bits on average");
        }
    }

    /// Keys that differ in few places, as states do: the upper bits (which choose the line) and the lower
    /// ones must both be spread evenly, and no two keys may collide.
    #[test]
    fn similar_keys_are_spread_evenly() {
        for len in [12usize, 16, 24, 48, 64, 65, 100, 128, 200, 300] {
            let (mut upper, mut lower, mut all) = ([0u32; 256], [0u32; 256], HashSet::new());
            let n = 64_000u32;
            for i in 0..n {
                let mut key = vec![3; len];
                for (j, byte) in i.to_le_bytes().into_iter().enumerate() {
                    key[j * 7 % len] = byte;
                }
                let hash = hash(&key);
                upper[(hash >> 56) as usize] += 1;
                lower[(hash & 0xff) as usize] += 1;
                all.insert(hash);
            }
            assert_eq!(all.len(), n as usize, "length {len}");
            // 250 each are expected; five standard deviations are 79.
            let even = |counts: &[u32]| counts.iter().all(|&count| (165..=335).contains(&count));
            assert!(even(&upper) && even(&lower), "length {len}: {upper:?} {lower:?}");
        }
    }

    #[test]
    fn small_counters_do_not_collide() {
        let mut low = HashSet::new();
        for i in 0..200_000u32 {
            low.insert(hash(&i.to_le_bytes()));
        }
        assert_eq!(low.len(), 200_000);
    }
}
