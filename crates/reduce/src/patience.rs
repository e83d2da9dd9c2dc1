//! When to try: a reducer that gains nothing should cost nothing.
//!
//! Attempts are made in rows. After a row that left out hardly any action the next states go without, the more of them the
//! more often that happened in a row.

/// Attempts of one row.
const ROW: u32 = 512;
/// The most states that go without.
const MOST: u32 = 1 << 15;

/// Decides whether it is worth trying.
#[derive(Debug, Default)]
pub struct Patience {
    /// States that still go without.
    pause: u32,
    /// How long the last pause was.
    last: u32,
    tries: u32,
    enabled: u64,
    chosen: u64,
    endless: bool,
}

impl Patience {
    /// Always tries.
    pub fn endless() -> Self {
        Patience { endless: true, ..Patience::default() }
    }

    /// Whether to try in the next state.
    #[inline]
    pub fn try_again(&mut self) -> bool {
        if self.pause > 0 {
            self.pause -= 1;
            return false;
        }
        true
    }

    /// Of so many enabled actions so many were chosen.
    #[inline]
    pub fn tried(&mut self, enabled: usize, chosen: usize) {
        self.tries += 1;
        self.enabled += enabled as u64;
        self.chosen += chosen as u64;
        if self.tries == ROW && !self.endless {
            self.judge();
        }
    }

    /// So many actions that were not chosen had to be taken after all.
    pub fn in_vain(&mut self, left_out: u32) {
        self.chosen += u64::from(left_out);
    }

    #[cold]
    fn judge(&mut self) {
        // A choice costs about as much as an expansion: three actions in ten should be spared.
        let pays = self.chosen * 10 <= self.enabled * 7;
        self.last = if pays { 0 } else { (self.last * 2).clamp(ROW, MOST) };
        *self = Patience { pause: self.last, last: self.last, ..Patience::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tries(states: u32, chosen: usize) -> u32 {
        let mut patience = Patience::default();
        let mut tries = 0;
        for _ in 0..states {
            if patience.try_again() {
                tries += 1;
                patience.tried(10, chosen);
            }
        }
        tries
    }

    #[test]
    fn what_does_not_pay_is_tried_seldom() {
        assert_eq!(tries(100_000, 7), 100_000);
        assert!((ROW..100_000 / 16).contains(&tries(100_000, 8)));
    }
}
