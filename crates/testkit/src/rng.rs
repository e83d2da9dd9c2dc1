//! A small seeded random number generator (SplitMix64), so that a seed names the same program on every
//! machine and with every version of every library.

/// A deterministic source of random choices.
#[derive(Debug, Clone)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// Starts the sequence that belongs to `seed`.
    pub fn new(seed: u64) -> Self {
        Rng { state: seed ^ 0x5DEE_CE66_D1CE_4E5B }
    }

    /// Returns the next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number in `0..n` (0 when `n` is 0).
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.next_u64() % n as u64) as usize }
    }

    /// Returns a number in `low..=high`.
    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        let span = high.saturating_sub(low).max(0) as usize;
        low + self.below(span + 1) as i64
    }

    /// Is true in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent as usize
    }

    /// Picks one element; `None` from an empty slice.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// Picks an index with the probability given by its weight; `None` when all weights are 0.
    pub fn weighted(&mut self, weights: &[u32]) -> Option<usize> {
        let total: u64 = weights.iter().map(|&w| u64::from(w)).sum();
        if total == 0 {
            return None;
        }
        let mut rest = self.next_u64() % total;
        for (index, &weight) in weights.iter().enumerate() {
            if rest < u64::from(weight) {
                return Some(index);
            }
            rest -= u64::from(weight);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_sequence() {
        let (mut a, mut b) = (Rng::new(7), Rng::new(7));
        assert!((0..100).all(|_| a.next_u64() == b.next_u64()));
        assert_ne!(Rng::new(7).next_u64(), Rng::new(8).next_u64());
    }

    #[test]
    fn weights_of_zero_are_never_chosen() {
        let mut rng = Rng::new(1);
        assert!((0..200).all(|_| rng.weighted(&[0, 3, 0, 1]).is_some_and(|i| i == 1 || i == 3)));
        assert_eq!(rng.weighted(&[0, 0]), None);
    }

    #[test]
    fn ranges_reach_both_ends() {
        let mut rng = Rng::new(3);
        let seen: Vec<i64> = (0..200).map(|_| rng.range(-1, 1)).collect();
        assert!(seen.contains(&-1) && seen.contains(&1) && seen.iter().all(|v| (-1..=1).contains(v)));
    }
}
