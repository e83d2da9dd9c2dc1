//! Edge lean search as a search sees it: who need not move in a state, because where that would lead is found elsewhere.
//!
//! From D. Bošnački, E. Elkind, B. Genest and D. Peled (*On commutativity based edge lean search*, 2007). All states are visited,
//! each once, and the edges between them are counted as ever; but of the many ways around a diamond of steps that commute only one
//! is walked. The processes are ordered, the younger before the older or the other way round ([`Sleepers`]). Say that *p* leads to *s* by a
//! step *b* of one process, and a process before it could move in *p*, has the same moves in *s*, and all of them commute with *b*. Then
//! this process *sleeps* in *s*.
//!
//! **Why nothing is missed.** Let *t* be a move of it. *t(s)* is *b(t(p))*: to find it, *t* must be followed in *p*, or
//! what it leads to be found otherwise, and the same is true of *b* in *t(p)*. The first question is about the same
//! process and a state that was expanded earlier, the second about a process behind it; so such questions come to an end. It follows
//! that the order of the search does not matter, that every state may be expanded once, with what slept on the way by
//! which it was found first, and that workers may share the states. In a search by levels no state is found later than without
//! sleep, by the same argument.
//!
//! **Beds.** Who sleeps is told in one word, which has room for sixteen processes: the youngest ones of a state, each with its bed. Behind a
//! step by which other processes come to have these beds nobody sleeps.
//!
//! **Errors.** Where a step shows an error nobody is put to sleep, so errors are met as often as without.

use crate::{ActionId, Processes, Successor};

/// Who may sleep behind a step of a process: those before it in the order of the processes, which is the same for a whole search. With a
/// good one, who is woken by others comes behind them: every state is then found by one edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sleepers {
    /// The younger ones.
    #[default]
    Younger,
    /// The older ones, such as those that have started it.
    Older,
}

/// The order of a lean search: of its processes, and of the edges of a state. The latter decides by which way a state is found first, and so
/// who sleeps there; which is better depends on the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LeanOrder {
    /// Who may sleep behind a step.
    pub sleepers: Sleepers,
    /// The edges of the oldest process come first, not those of the youngest.
    pub oldest_first: bool,
}

impl LeanOrder {
    /// All orders: the usual one first, and last the one of which samples tell least.
    pub const ALL: [LeanOrder; 4] = [
        LeanOrder { sleepers: Sleepers::Younger, oldest_first: false },
        LeanOrder { sleepers: Sleepers::Older, oldest_first: false },
        LeanOrder { sleepers: Sleepers::Older, oldest_first: true },
        LeanOrder { sleepers: Sleepers::Younger, oldest_first: true },
    ];
}

/// For each bed those before it; at the end for who is younger than all that sleep, and for who is older.
#[derive(Clone, Copy, Debug)]
pub struct Before([u64; Asleep::PROCESSES + 2]);

impl Before {
    /// In this order.
    pub fn new(sleepers: Sleepers) -> Self {
        Before(std::array::from_fn(|bed| {
            let older = !u64::MAX.checked_shl((BITS * bed) as u32).unwrap_or(0);
            let is_oldest = bed > Asleep::PROCESSES;
            match sleepers {
                Sleepers::Older if is_oldest => 0,
                Sleepers::Older => older,
                Sleepers::Younger if is_oldest => u64::MAX,
                Sleepers::Younger => !(older | Asleep::bits(bed)),
            }
        }))
    }

    /// Those of them that are before the process with this bed.
    #[inline(always)]
    pub fn only(&self, asleep: Asleep, bed: usize) -> Asleep {
        Asleep(asleep.0 & self.0[bed.min(Asleep::PROCESSES)])
    }

    /// The same for any process of a state in which the first bed is this one's.
    #[inline(always)]
    pub fn only_of(&self, asleep: Asleep, first: usize, pid: usize) -> Asleep {
        match pid.checked_sub(first) {
            Some(bed) => self.only(asleep, bed),
            // Older than all that sleep.
            None => Asleep(asleep.0 & self.0[Asleep::PROCESSES + 1]),
        }
    }
}

/// The processes that sleep in a state, by their beds, each with a code for the edges that it has there: how many these are, or that it is one,
/// and which of those of its location. Only the youngest ones can sleep, and those with few edges.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(transparent)]
pub struct Asleep(u64);

/// Bits for each process.
const BITS: usize = 4;

impl Asleep {
    /// Nobody sleeps.
    pub const NOBODY: Asleep = Asleep(0);
    /// How many processes can sleep.
    pub const PROCESSES: usize = u64::BITS as usize / BITS;
    /// How many edges a process that sleeps may have: up to that number a code is a number of edges.
    pub const EDGES: u8 = (1 << (BITS - 1)) - 1;
    /// The last code. Those behind [`Asleep::EDGES`] are for one edge each.
    pub const LAST: u8 = (1 << BITS) - 1;
    /// The lowest bit of every process.
    const LOWEST: u64 = 0x1111_1111_1111_1111;

    /// Whose bed is the first one in a state of so many processes. Those after it have the next ones.
    #[inline(always)]
    pub fn first_of(processes: usize) -> usize {
        processes.saturating_sub(Self::PROCESSES)
    }

    /// All bits of a bed; none of what is no bed.
    #[inline(always)]
    fn bits(bed: usize) -> u64 {
        if bed < Self::PROCESSES { u64::from(Self::LAST) << (BITS * bed) } else { 0 }
    }

    /// The code of the only edge of a process, which has this number, small and other than those of its location.
    pub fn code_of_one(number: usize) -> u8 {
        let code = number.saturating_add(usize::from(Self::EDGES) + 1);
        if code <= usize::from(Self::LAST) { code as u8 } else { 1 }
    }

    /// The code of so many edges of a process; 0 where there are too many.
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

    /// The same for one of the processes that can sleep.
    #[inline(always)]
    pub fn holds_one(self, pid: usize) -> bool {
        debug_assert!(pid < Self::PROCESSES);
        self.0.wrapping_shr((BITS * pid) as u32) & u64::from(Self::LAST) != 0
    }

    /// The code of a process that sleeps; 0 for one that does not.
    #[inline(always)]
    pub fn code_of(self, pid: usize) -> u8 {
        if pid < Self::PROCESSES { (self.0 >> (BITS * pid)) as u8 & Self::LAST } else { 0 }
    }

    /// Puts a process to sleep that has the edges of this code, if that is possible.
    #[inline(always)]
    pub fn add(&mut self, pid: usize, code: u8) {
        if pid < Self::PROCESSES && code <= Self::LAST {
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

    /// The same as bytes.
    pub fn to_bytes(self) -> [u8; 8] {
        self.0.to_le_bytes()
    }

    /// The reverse of [`Asleep::to_bytes`].
    pub fn from_bytes(bytes: [u8; 8]) -> Self {
        Asleep(u64::from_le_bytes(bytes))
    }

    /// Those for which this holds, which is told the code as well; `None` where it is once.
    #[inline(always)]
    pub fn those(self, holds: impl Fn(usize, u8) -> Option<bool>) -> Option<Asleep> {
        let (mut left, mut those) = (self.0, 0);
        while left != 0 {
            let bits = left.trailing_zeros() as usize / BITS * BITS;
            let one = left & u64::from(Self::LAST) << bits;
            those |= if holds(bits / BITS, (one >> bits) as u8)? { one } else { 0 };
            left ^= one;
        }
        Some(Asleep(those))
    }

    /// Removes the outcomes of `state` from `first` on that are steps of processes that sleep.
    pub fn keep_awake(
        self,
        processes: &dyn Processes,
        state: &[u8],
        list: &mut Vec<Successor>,
        first: usize,
    ) {
        let bed = Self::first_of(processes.n_processes(state));
        let mut kept = first;
        for at in first..list.len() {
            let pid = processes.process_of(list[at].action) as usize;
            if !pid.checked_sub(bed).is_some_and(|bed| self.holds(bed)) {
                list[kept] = list[at];
                kept += 1;
            }
        }
        list.truncate(kept);
    }

    /// All but the one with this bed, if it is one.
    #[inline(always)]
    pub fn without(self, bed: usize) -> Asleep {
        Asleep(self.0 & !Self::bits(bed))
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

impl Iterator for Asleep {
    type Item = (usize, u8);

    /// Each process, in ascending order, with its code.
    #[inline(always)]
    fn next(&mut self) -> Option<(usize, u8)> {
        self.take_first()
    }
}

/// Processes that are awake, of those that can sleep: one bit for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Awake(u64);

impl Awake {
    /// Those of `n` processes that can sleep.
    pub fn first(n: usize) -> Awake {
        let bits = (n.min(Asleep::PROCESSES) * BITS) as u32;
        Awake(Asleep::LOWEST & !u64::MAX.checked_shl(bits).unwrap_or(0))
    }

    /// Those that do not sleep.
    #[inline(always)]
    pub fn but(self, Asleep(asleep): Asleep) -> Awake {
        let pairs = asleep | asleep >> 1;
        Awake(self.0 & !(pairs | pairs >> 2))
    }
}

impl Iterator for Awake {
    type Item = usize;

    /// Each process, in descending order: the youngest first.
    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let bit = self.0.checked_ilog2()?;
        self.0 &= !(1 << bit);
        Some(bit as usize / BITS)
    }
}

/// Puts processes to sleep, for one thread.
pub trait Lean {
    /// The ordinary `state` was expanded while `asleep` slept. Appends, for each of its edges, of which the first actions are given,
    /// who sleeps in the state that it leads to. *Nobody* is always a safe answer.
    fn behind(&mut self, state: &[u8], asleep: Asleep, edges: &[Successor], out: &mut Vec<Asleep>);

    /// The same for a state with one edge, whose first action is given.
    fn behind_only(&mut self, state: &[u8], asleep: Asleep, action: ActionId) -> Asleep;

    /// From now on processes are put to sleep wherever that is possible: for who expands again what was expanded before.
    fn always(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_counted_by_process() {
        let mut asleep = Asleep::NOBODY;
        for pid in 0..20 {
            asleep.add(pid, if pid == 3 { 16 } else { pid as u8 % 16 });
        }
        // Numbers up to seven, and then one edge each.
        assert_eq!(asleep.edges(), 1 + 2 + 4 + 5 + 6 + 7 + 8);
        assert!(!asleep.holds(0) && !asleep.holds(3) && asleep.holds(15) && !asleep.holds(17));
        let told: Vec<_> = asleep.collect();
        assert_eq!((told.len(), told[0], told[13]), (14, (1, 1), (15, 15)));
        for (code, edges) in [(5, 80), (7, 112), (8, 16), (15, 16)] {
            let mut all = Asleep::NOBODY;
            (0..16).for_each(|pid| all.add(pid, code));
            assert_eq!(all.edges(), edges);
        }
    }

    #[test]
    fn processes_are_ordered_one_way_or_the_other() {
        let mut all = Asleep::NOBODY;
        (0..16).for_each(|pid| all.add(pid, 15));
        let (younger, older) = (Before::new(Sleepers::Younger), Before::new(Sleepers::Older));
        for pid in [0, 1, 7, 15, 16, 40] {
            assert!(older.only(all, pid).map(|one| one.0).eq(0..pid.min(16)));
            assert!(younger.only(all, pid).map(|one| one.0).eq(pid + 1..16));
            assert_eq!(older.only_of(all, 3, pid + 3), older.only(all, pid));
        }
        assert_eq!((older.only_of(all, 3, 2), younger.only_of(all, 3, 2)), (Asleep::NOBODY, all));
        assert_eq!([0, 15, 16, 17, 30].map(Asleep::first_of), [0, 0, 0, 1, 14]);
    }

    #[test]
    fn codes_are_for_one_edge_or_several() {
        assert_eq!([2, 7, 8, 300].map(Asleep::code_of_several), [2, 7, 0, 0]);
        assert_eq!([0, 7, 8, usize::MAX].map(Asleep::code_of_one), [8, 15, 1, 1]);
    }

    #[test]
    fn who_is_awake_is_told_youngest_first() {
        let mut asleep = Asleep::NOBODY;
        [(0, 1), (3, 8), (4, 15), (15, 2)].into_iter().for_each(|(pid, edges)| asleep.add(pid, edges));
        assert!(Awake::first(6).but(asleep).eq([5, 2, 1]));
        assert!(Awake::first(16).but(asleep).eq((0..15).rev().filter(|&pid| !asleep.holds(pid))));
        assert!(Awake::first(20).but(Asleep::NOBODY).eq((0..16).rev()));
        assert_eq!(Awake::first(0).next(), None);
    }
}
