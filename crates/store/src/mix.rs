//! A bijection of the numbers below 2^k that spreads them evenly.
//!
//! Quotienting (Cleary 1984) keeps only a part of a mixed key in a table, because the rest follows from the
//! place where it lies; to give a key back, mixing must be undone. Multiplying by an odd number and folding
//! the upper half into the lower one are both invertible on k bits.

const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
const INVERSE: u64 = inverse(ODD);

/// The multiplicative inverse of an odd number modulo 2^64 (Newton: every round doubles the correct bits).
const fn inverse(odd: u64) -> u64 {
    let mut x = odd;
    let mut round = 0;
    while round < 6 {
        x = x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x)));
        round += 1;
    }
    x
}

/// The bijection on numbers of `bits` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mix {
    bits: u32,
    mask: u64,
    shift: u32,
}

impl Mix {
    /// On numbers below 2^bits, 1 ≤ bits ≤ 64.
    pub fn new(bits: u32) -> Self {
        let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        Mix { bits, mask, shift: bits.div_ceil(2) }
    }

    /// How many bits a number has.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// Mixes `x`, which must be below 2^bits.
    pub fn mix(self, x: u64) -> u64 {
        let x = x.wrapping_mul(ODD) & self.mask;
        let x = (x ^ (x >> self.shift)).wrapping_mul(ODD) & self.mask;
        x ^ (x >> self.shift)
    }

    /// Undoes [`Mix::mix`]. A shift by at least half of the bits, folded in, is its own inverse.
    pub fn unmix(self, x: u64) -> u64 {
        let x = (x ^ (x >> self.shift)).wrapping_mul(INVERSE) & self.mask;
        (x ^ (x >> self.shift)).wrapping_mul(INVERSE) & self.mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixing_can_be_undone() {
        for bits in 1..=64 {
            let mix = Mix::new(bits);
            let mut x = 0x0123_4567_89ab_cdefu64;
            for _ in 0..200 {
                x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let key = x & mix.mask;
                assert!(mix.mix(key) <= mix.mask);
                assert_eq!(mix.unmix(mix.mix(key)), key, "{bits} bits");
            }
        }
    }

    #[test]
    fn neighbours_are_spread() {
        let mix = Mix::new(40);
        let mut buckets = [0u32; 256];
        (0..256_000u64).for_each(|x| buckets[(mix.mix(x) >> 32) as usize] += 1);
        assert!(buckets.iter().all(|&n| (700..1300).contains(&n)), "{buckets:?}");
    }
}
