//! A 64-bit hash of byte strings: eight bytes a step, folded multiplication.
//!
//! Measurements before the build showed that the hash function is nearly irrelevant to the speed of a search
//! (memory latency is what counts), so this one is short: every step multiplies two 64-bit words and folds the
//! 128-bit product, which spreads each input bit over the whole result.

const K0: u64 = 0x9e37_79b9_7f4a_7c15;
const K1: u64 = 0xd1b5_4a32_d192_ed03;
const K2: u64 = 0x8cb9_2ba7_2f3d_8dd7;

/// The product of two words, its halves folded together.
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Up to eight bytes as a word.
fn word_of(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// The hash of `key`. The length takes part, so that trailing zeros matter.
pub fn hash(key: &[u8]) -> u64 {
    let mut state = K0 ^ (key.len() as u64).wrapping_mul(K1);
    let mut words = key.chunks_exact(8);
    for word in &mut words {
        state = fold(state ^ word_of(word), K1);
    }
    state = fold(state ^ word_of(words.remainder()), K2);
    fold(state ^ (state >> 32), K0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn lengths_and_zeros_matter() {
        let zeros = [0u8; 64];
        let all: HashSet<u64> = (0..=64).map(|n| hash(&zeros[..n])).collect();
        assert_eq!(all.len(), 65);
    }

    #[test]
    fn every_input_bit_changes_about_half_of_the_output() {
        let key: Vec<u8> = (0..29u8).map(|i| i.wrapping_mul(37)).collect();
        let base = hash(&key);
        for bit in 0..key.len() * 8 {
            let mut other = key.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            let changed = (hash(&other) ^ base).count_ones();
            assert!((12..=52).contains(&changed), "bit {bit}: {changed}");
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
