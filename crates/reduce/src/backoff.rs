//! When to try: a reducer that gains nothing should cost nothing.
//!
//! Attempts are made in rows. After a row that left out hardly any action, or that was a lot of work for what
//! it left out, the next states go without, the more of them the more often that happened in a row. A row
//! counts together with those before it, each half as much as the next: what pays only now and then does not
//! pay. Work is counted and not timed, so that the same search is the same each time.

/// Attempts of one row.
const ROW: u32 = 256;
/// The most states that go without.
const MOST: u32 = 1 << 17;

/// What an attempt costs besides its work, in the same measure.
const ATTEMPT: u64 = 9;
/// What an action that is left out is worth, with all that would have come after it, in the measure of work.
const SPARED: u64 = 24;

/// Decides whether it is worth trying.
#[derive(Debug, Default)]
pub struct Backoff {
    /// States that still go without.
    pause: u32,
    /// How long the last pause was.
    last: u32,
    tries: u64,
    enabled: u64,
    chosen: u64,
    work: u64,
    /// How many attempts of this row are still to be made.
    left: u32,
    endless: bool,
}

impl Backoff {
    /// Always tries.
    pub fn endless() -> Self {
        Backoff { endless: true, ..Backoff::default() }
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

    /// Of `enabled` actions `chosen` were chosen, with this much work.
    #[inline]
    pub fn tried(&mut self, enabled: usize, chosen: usize, work: u32) {
        self.work += u64::from(work);
        self.tries += 1;
        self.enabled += enabled as u64;
        self.chosen += chosen as u64;
        self.left = if self.left == 0 { ROW - 1 } else { self.left - 1 };
        if self.left == 0 && !self.endless {
            self.judge();
        }
    }

    /// `left_out` actions had to be taken after all, which is more work than to take them
    /// at once.
    pub fn in_vain(&mut self, left_out: u32) {
        self.chosen += 2 * u64::from(left_out);
    }

    #[cold]
    fn judge(&mut self) {
        let spared = self.enabled.saturating_sub(self.chosen);
        // Three actions in ten should be spared; with one in two, states become so few that work does not
        // matter.
        let many = spared * 2 >= self.enabled;
        let some = spared * 10 >= self.enabled * 3;
        let pays = many || some && spared * SPARED >= self.work + ATTEMPT * self.tries;
        self.last = if pays { self.last / 4 } else { (self.last * 2).clamp(ROW, MOST) };
        self.pause = if pays { 0 } else { self.last };
        for count in [&mut self.tries, &mut self.enabled, &mut self.chosen, &mut self.work] {
            *count /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tries(states: u32, chosen: usize, work: u32) -> u32 {
        let mut backoff = Backoff::default();
        let mut tries = 0;
        for _ in 0..states {
            if backoff.try_again() {
                tries += 1;
                backoff.tried(10, chosen, work);
            }
        }
        tries
    }

    #[test]
    fn what_does_not_pay_is_tried_seldom() {
        let seldom = ROW..100_000 / 16;
        assert_eq!(tries(100_000, 6, 10), 100_000);
        assert!(seldom.contains(&tries(100_000, 8, 10)));
        // Three actions are not worth any work; five are.
        assert!(seldom.contains(&tries(100_000, 7, 100)));
        assert_eq!(tries(100_000, 5, 100), 100_000);
    }

    #[test]
    fn what_pays_now_and_then_does_not_pay() {
        let mut backoff = Backoff::default();
        let mut tries = 0;
        for _ in 0..100_000 {
            if backoff.try_again() {
                tries += 1;
                // Every third row leaves out more than half of the actions.
                backoff.tried(10, if (tries / ROW).is_multiple_of(3) { 4 } else { 10 }, 100);
            }
        }
        assert!(tries < 100_000 / 16, "{tries}");
    }

    #[test]
    fn what_was_in_vain_was_not_spared() {
        let mut backoff = Backoff::default();
        for _ in 0..ROW {
            assert!(backoff.try_again());
            backoff.in_vain(9);
            backoff.tried(10, 1, 0);
        }
        assert!(!backoff.try_again());
    }
}
