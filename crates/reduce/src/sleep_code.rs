//! The code of annotations in edge lean search ([`system::lean`]): four bits for each slot say whether its
//! process sleeps, and which edges it has. Nobody else reads it.

use system::lean::SLOTS;
use system::{Annotation, ProcessOrder};

/// For each slot the slots before it in the order of the processes; then for pids above all slots, and for
/// pids below.
#[derive(Clone, Copy, Debug)]
pub struct Precedence([u64; SLOTS + 2]);

impl Precedence {
    /// Of this order.
    pub fn new(order: ProcessOrder) -> Self {
        Precedence(std::array::from_fn(|slot| {
            let lower = !u64::MAX.checked_shl((BITS * slot) as u32).unwrap_or(0);
            let is_below = slot > SLOTS;
            match order {
                ProcessOrder::LowestFirst if is_below => 0,
                ProcessOrder::LowestFirst => lower,
                ProcessOrder::HighestFirst if is_below => u64::MAX,
                ProcessOrder::HighestFirst => !(lower | SleepCode::bits(slot)),
            }
        }))
    }

    /// Those of them that are before the process with this slot.
    #[inline(always)]
    pub fn only(&self, asleep: SleepCode, slot: usize) -> SleepCode {
        SleepCode(asleep.0 & self.0[slot.min(SLOTS)])
    }

    /// Those before any process of a state in which the process `first` has slot 0.
    #[inline(always)]
    pub fn only_of(&self, asleep: SleepCode, first: usize, pid: usize) -> SleepCode {
        match pid.checked_sub(first) {
            Some(slot) => self.only(asleep, slot),
            // Below all slots.
            None => SleepCode(asleep.0 & self.0[SLOTS + 1]),
        }
    }
}

/// The processes that sleep in a state, by their slots, each with a code for the edges that it has there:
/// their number, or that it is one edge, and which of those of its location. Processes with many edges do not
/// sleep.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(transparent)]
pub struct SleepCode(u64);

/// Bits for each process.
const BITS: usize = 4;

impl SleepCode {
    /// Nobody sleeps.
    pub const NOBODY: SleepCode = SleepCode(0);
    /// How many edges a process that sleeps may have: up to that number a code is a number of edges.
    pub const EDGES: u8 = (1 << (BITS - 1)) - 1;
    /// The last code. Those behind [`SleepCode::EDGES`] are for one edge each.
    pub const LAST: u8 = (1 << BITS) - 1;
    /// The lowest bit of every process.
    const LOWEST: u64 = 0x1111_1111_1111_1111;

    /// All bits of a slot; none of what is no slot.
    #[inline(always)]
    fn bits(slot: usize) -> u64 {
        if slot < SLOTS { u64::from(Self::LAST) << (BITS * slot) } else { 0 }
    }

    /// The code of the only edge of a process, which has this number, small and other than those of its
    /// location.
    pub fn code_of_one(number: usize) -> u8 {
        let code = number.saturating_add(usize::from(Self::EDGES) + 1);
        if code <= usize::from(Self::LAST) { code as u8 } else { 1 }
    }

    /// The code of a number of edges of a process; 0 where there are too many.
    #[inline(always)]
    pub fn code_of_several(edges: u32) -> u8 {
        if edges <= u32::from(Self::EDGES) { edges as u8 } else { 0 }
    }

    /// Whether nobody sleeps.
    #[inline(always)]
    pub fn is_nobody(self) -> bool {
        self.0 == 0
    }

    /// Whether a process sleeps.
    #[inline(always)]
    pub fn holds(self, pid: usize) -> bool {
        self.code_of(pid) != 0
    }

    /// The code of a process that sleeps; 0 for one that does not.
    #[inline(always)]
    pub fn code_of(self, pid: usize) -> u8 {
        if pid < SLOTS { (self.0 >> (BITS * pid)) as u8 & Self::LAST } else { 0 }
    }

    /// Puts a process to sleep that has the edges of this code, if that is possible.
    #[inline(always)]
    pub fn add(&mut self, pid: usize, code: u8) {
        if pid < SLOTS && code <= Self::LAST {
            self.0 |= u64::from(code) << (BITS * pid);
        }
    }

    /// The lowest bits of those with a code that is more than a number of edges can be.
    #[inline(always)]
    fn beyond(codes: u64) -> u64 {
        codes >> (BITS - 1) & Self::LOWEST
    }

    /// All bits of those of which the lowest ones are given.
    #[inline(always)]
    fn all_of(lowest: u64) -> u64 {
        (lowest << BITS).wrapping_sub(lowest)
    }

    /// The edges of all that sleep.
    #[inline(always)]
    pub fn edges(self) -> u64 {
        const EVEN: u64 = 0x0f0f_0f0f_0f0f_0f0f;
        let ones = Self::beyond(self.0);
        let edges = self.0 & !Self::all_of(ones) | ones;
        let pairs = (edges & EVEN) + (edges >> BITS & EVEN);
        // No sum exceeds a byte.
        pairs.wrapping_mul(0x0101_0101_0101_0101) >> 56
    }

    /// The word that accompanies a state.
    #[inline(always)]
    pub fn annotation(self) -> Annotation {
        Annotation::new(self.0)
    }

    /// The reverse of [`SleepCode::annotation`].
    #[inline(always)]
    pub fn of(annotation: Annotation) -> Self {
        SleepCode(annotation.bits())
    }

    /// Those for which this holds, which is told the code as well; `None` where it is once.
    #[inline(always)]
    pub fn those(self, holds: impl Fn(usize, u8) -> Option<bool>) -> Option<SleepCode> {
        let (mut left, mut those) = (self.0, 0);
        while left != 0 {
            let bits = left.trailing_zeros() as usize / BITS * BITS;
            let one = left & u64::from(Self::LAST) << bits;
            those |= if holds(bits / BITS, (one >> bits) as u8)? { one } else { 0 };
            left ^= one;
        }
        Some(SleepCode(those))
    }

    /// All but the one with this slot, if it is one.
    #[inline(always)]
    pub fn without(self, slot: usize) -> SleepCode {
        SleepCode(self.0 & !Self::bits(slot))
    }

    /// Takes out the oldest one; says which code it has.
    #[inline(always)]
    pub fn take_first(&mut self) -> Option<(usize, u8)> {
        if self.0 == 0 {
            return None;
        }
        let pid = self.0.trailing_zeros() as usize / BITS;
        let code = (self.0 >> (BITS * pid)) as u8 & Self::LAST;
        self.0 &= (u64::MAX << (BITS * pid)) << BITS;
        Some((pid, code))
    }
}

impl Iterator for SleepCode {
    type Item = (usize, u8);

    /// Each process, in ascending order, with its code.
    #[inline(always)]
    fn next(&mut self) -> Option<(usize, u8)> {
        self.take_first()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_counted_by_process() {
        let mut asleep = SleepCode::NOBODY;
        for pid in 0..20 {
            asleep.add(pid, if pid == 3 { 16 } else { pid as u8 % 16 });
        }
        // Numbers up to seven, and then one edge each.
        assert_eq!(asleep.edges(), 1 + 2 + 4 + 5 + 6 + 7 + 8);
        assert!(!asleep.holds(0) && !asleep.holds(3) && asleep.holds(15) && !asleep.holds(17));
        let told: Vec<_> = asleep.collect();
        assert_eq!((told.len(), told[0], told[13]), (14, (1, 1), (15, 15)));
        for (code, edges) in [(5, 80), (7, 112), (8, 16), (15, 16)] {
            let mut all = SleepCode::NOBODY;
            (0..16).for_each(|pid| all.add(pid, code));
            assert_eq!(all.edges(), edges);
        }
    }

    #[test]
    fn processes_are_ordered_one_way_or_the_other() {
        let mut all = SleepCode::NOBODY;
        (0..16).for_each(|pid| all.add(pid, 15));
        let (highest, lowest) =
            (Precedence::new(ProcessOrder::HighestFirst), Precedence::new(ProcessOrder::LowestFirst));
        for pid in [0, 1, 7, 15, 16, 40] {
            assert!(lowest.only(all, pid).map(|one| one.0).eq(0..pid.min(16)));
            assert!(highest.only(all, pid).map(|one| one.0).eq(pid + 1..16));
            assert_eq!(lowest.only_of(all, 3, pid + 3), lowest.only(all, pid));
        }
        assert_eq!((lowest.only_of(all, 3, 2), highest.only_of(all, 3, 2)), (SleepCode::NOBODY, all));
    }

    #[test]
    fn codes_are_for_one_edge_or_several() {
        assert_eq!([2, 7, 8, 300].map(SleepCode::code_of_several), [2, 7, 0, 0]);
        assert_eq!([0, 7, 8, usize::MAX].map(SleepCode::code_of_one), [8, 15, 1, 1]);
    }
}
