//! Edge lean search as a search sees it: who need not move in a state, because where that would lead is found
//! elsewhere.
//!
//! From D. Bošnački, E. Elkind, B. Genest and D. Peled (*On commutativity based edge lean search*, 2007). All
//! states are visited, each once, and the edges between them are counted as ever; but of the many ways around
//! a diamond of steps that commute only one is walked. The processes are ordered, higher pids before lower
//! ones or the other way round ([`ProcessOrder`]). Say that *p* leads to *s* by a step *b* of one process,
//! and a process before it could move in *p*, has the same moves in *s*, and all of them commute with *b*.
//! Then this process *sleeps* in *s*.
//!
//! **Why nothing is missed.** Let *t* be a move of it. *t(s)* is *b(t(p))*: to find it, *t* must be followed
//! in *p*, or what it leads to be found otherwise, and the same is true of *b* in *t(p)*. The first question
//! is about the same process and a state that was expanded earlier, the second about a process behind it; so
//! such questions come to an end. It follows that the order of the search does not matter, that every state
//! may be expanded once, with what slept on the way by which it was found first, and that workers may share
//! the states. In a search by levels no state is found later than without sleep, by the same argument.
//!
//! **Slots.** Up to sixteen processes of a state can sleep: those with the highest pids, each of which has a
//! *slot*. After a step by which other processes come to have these slots nobody sleeps.
//!
//! **Annotations.** What is known of sleep in a state is one word that travels with it through queues and
//! stacks. Only the implementation of [`Lean`] knows its code; a search moves it, and a worker is given the
//! [`SleepMask`] that it stands for.
//!
//! **Errors.** Where a step shows an error nobody is put to sleep, so errors are met as often as without.

use crate::{ActionId, Processes, Successor};

/// The number of slots: processes that can sleep.
pub const SLOTS: usize = 16;

/// The pid of the process with slot 0 in a state with this many processes. The next pids have the next slots.
#[inline(always)]
pub fn first_slot(processes: usize) -> usize {
    processes.saturating_sub(SLOTS)
}

/// A word that accompanies a state: four bits for each slot. A process sleeps if one of the bits of its slot
/// is set; what else they say is known to the implementation of [`Lean`] alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(transparent)]
pub struct Annotation(u64);

impl Annotation {
    /// Nothing is known: nobody sleeps.
    pub const NONE: Annotation = Annotation(0);

    /// The word with these bits.
    #[inline(always)]
    pub fn new(bits: u64) -> Self {
        Annotation(bits)
    }

    /// All bits.
    #[inline(always)]
    pub fn bits(self) -> u64 {
        self.0
    }

    /// Whether nothing is known.
    #[inline(always)]
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The processes that need not be expanded.
    #[inline(always)]
    pub fn mask(self) -> SleepMask {
        let pairs = self.0 | self.0 >> 1;
        SleepMask((pairs | pairs >> 2) & USED)
    }
}

/// Bits of a mask for each slot, of which the lowest is used: an annotation becomes a mask without moving
/// any.
const STRIDE: usize = u64::BITS as usize / SLOTS;
/// The bits that are used.
const USED: u64 = 0x1111_1111_1111_1111;

/// The slots of processes that need not be expanded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SleepMask(u64);

impl SleepMask {
    /// All processes are expanded.
    pub const NONE: SleepMask = SleepMask(0);

    /// Whether all processes are expanded.
    #[inline(always)]
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Whether the process with this slot need not be.
    #[inline(always)]
    pub fn holds(self, slot: usize) -> bool {
        slot < SLOTS && self.0 >> (STRIDE * slot) & 1 != 0
    }

    /// Removes the outcomes of `state` from `first` on that are steps of processes that sleep.
    pub fn retain_active(
        self,
        processes: &dyn Processes,
        state: &[u8],
        list: &mut Vec<Successor>,
        first: usize,
    ) {
        let first_slot = first_slot(processes.n_processes(state));
        let mut kept = first;
        for at in first..list.len() {
            let pid = processes.process_of(list[at].action) as usize;
            if !pid.checked_sub(first_slot).is_some_and(|slot| self.holds(slot)) {
                list[kept] = list[at];
                kept += 1;
            }
        }
        list.truncate(kept);
    }
}

/// The slots of processes that are to be expanded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ActiveMask(u64);

impl ActiveMask {
    /// All slots of a state with this many processes.
    pub fn all(processes: usize) -> Self {
        let bits = (processes.min(SLOTS) * STRIDE) as u32;
        ActiveMask(USED & !u64::MAX.checked_shl(bits).unwrap_or(0))
    }

    /// Those that do not sleep.
    #[inline(always)]
    pub fn except(self, SleepMask(asleep): SleepMask) -> Self {
        debug_assert_eq!(asleep & !USED, 0, "one bit for each slot");
        ActiveMask(self.0 & !asleep)
    }
}

impl Iterator for ActiveMask {
    type Item = usize;

    /// Each slot, in descending order: the highest pid first.
    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let bit = self.0.checked_ilog2()?;
        self.0 &= !(1 << bit);
        Some(bit as usize / STRIDE)
    }
}

/// The order of the processes of a lean search: who may sleep after a step of a process are those before it.
/// With a good order, a process that is woken by others comes after them: every state is then found by one
/// edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ProcessOrder {
    /// Those with higher pids come first: the younger ones.
    #[default]
    HighestFirst,
    /// Those with lower pids come first: the older ones, such as those that have started others.
    LowestFirst,
}

/// The order of a lean search: of its processes, and of the edges of a state. The latter decides by which way
/// a state is found first, and so who sleeps there; which is better depends on the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LeanOrder {
    /// Who may sleep after a step.
    pub processes: ProcessOrder,
    /// The edges of the process with the lowest pid come first, not those with the highest.
    pub lowest_edges_first: bool,
}

impl LeanOrder {
    /// All orders: the usual one first, and last the one of which samples tell least.
    pub const ALL: [LeanOrder; 4] = [
        LeanOrder { processes: ProcessOrder::HighestFirst, lowest_edges_first: false },
        LeanOrder { processes: ProcessOrder::LowestFirst, lowest_edges_first: false },
        LeanOrder { processes: ProcessOrder::LowestFirst, lowest_edges_first: true },
        LeanOrder { processes: ProcessOrder::HighestFirst, lowest_edges_first: true },
    ];
}

/// What is known of the only edge of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OnlyEdge {
    /// The annotation of the state that it leads to.
    pub after: Annotation,
    /// The number of edges of processes that sleep in the state that it leaves.
    pub slept: u64,
}

/// Puts processes to sleep, for one thread.
pub trait Lean {
    /// The number of edges of processes that sleep in a state with this annotation: they are counted all the
    /// same.
    fn slept(&self, annotation: Annotation) -> u64;

    /// The ordinary `state` was expanded, with this annotation. Appends, for each of its edges, of which the
    /// first actions are given, the annotation of the state that it leads to; [`Annotation::NONE`] is always
    /// a safe answer. Answers what [`Lean::slept`] does.
    fn sleep_after(
        &mut self,
        state: &[u8],
        annotation: Annotation,
        edges: &[Successor],
        out: &mut Vec<Annotation>,
    ) -> u64;

    /// Who sleeps after the only edge of a state, whose first action is given.
    fn sleep_after_only(&mut self, state: &[u8], annotation: Annotation, action: ActionId) -> OnlyEdge;

    /// From now on processes are put to sleep wherever that is possible: for callers that expand again what
    /// was expanded before.
    fn always(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_belong_to_the_highest_pids() {
        assert_eq!([0, 15, 16, 17, 30].map(first_slot), [0, 0, 0, 1, 14]);
    }

    #[test]
    fn active_slots_are_told_highest_first() {
        let mask = Annotation::new(1 | 8 << 12 | 15 << 16 | 2 << 60).mask();
        assert!((0..SLOTS).filter(|&slot| mask.holds(slot)).eq([0, 3, 4, 15]));
        assert!(!mask.holds(SLOTS) && !mask.is_none() && Annotation::NONE.mask().is_none());
        assert!(ActiveMask::all(6).except(mask).eq([5, 2, 1]));
        assert!(ActiveMask::all(16).except(mask).eq((0..15).rev().filter(|&slot| !mask.holds(slot))));
        assert!(ActiveMask::all(20).except(SleepMask::NONE).eq((0..16).rev()));
        assert_eq!(ActiveMask::all(0).next(), None);
    }
}
