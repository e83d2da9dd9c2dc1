//! The product of a system and a claim, itself a system: a wrapper of the same waist, so that every search
//! runs over it.
//!
//! A state is the claim's state (two bytes) followed by the system's. In an ordinary state the claim moves
//! first, by what holds there, then the system takes a step; inside an atomic sequence only the system moves.
//! This is what Spin does (the claim is not asked between the steps of an atomic sequence). Where the system
//! can do nothing more, its state is repeated ([`ActionId::STUTTER`]) and the claim goes on alone.
//!
//! Where the claim's acceptance is on edges, what its last move earned is one more byte at the end of a
//! state, which is hidden: it belongs to the step, not to the state, and makes no states different.
//!
//! A claim's verdict is about the claim alone: errors of the system are no errors of the product. A failed
//! assertion's step is taken; a step that cannot be completed is an outcome without a state, which shows the
//! system's error. What the claim itself finds wrong is the fault of an outcome without a state, too, of the
//! action that repeats. So is a proposition that cannot be evaluated where the claim looks at it: the claim
//! goes on as if it did not hold, but what it says of these runs is worth nothing.

use system::claim::{Claim, ClaimState, Marks, Move, Moves};
use system::layer::Inner;
use system::{
    AcceptanceMarks, ActionId, Capabilities, Fault, Labels, Layer, SleepMask, Successor, Successors,
    TransitionSystem, Worker, WorkerExt, follow_by,
};

/// Bytes of the claim's state.
const CLAIM: usize = 2;
/// Set in the claim's state while the system is inside an atomic sequence.
const INSIDE: u16 = 1 << 15;
/// Moves that a worker remembers.
const REMEMBERED: usize = 1 << 10;

/// A system watched by a claim.
pub struct Product<'a> {
    inner: Inner<'a>,
    claim: &'a Claim,
    set: usize,
    /// Bytes at the end of a state that say what the last move earned.
    tail: usize,
    /// By state of the claim: propositions that its next move looks at, and that may meet an error.
    risky: Vec<u64>,
}

impl<'a> Product<'a> {
    /// The guards of the claim are about this set of the system's propositions.
    pub fn new(system: &'a dyn TransitionSystem, claim: &'a Claim, set: usize) -> Self {
        let inner = Inner::new(system);
        debug_assert!(inner.can.propositions.is_some() || !claim.asks(), "what guards are about is told");
        let may_fail = inner.can.propositions.map_or(0, |system| system.may_fail(set));
        let states = 0..claim.len() as u16;
        let risky = states.map(|state| claim.asked(ClaimState(state)) & may_fail).collect();
        Product { inner, claim, set, tail: usize::from(claim.n_marks > 0), risky }
    }

    /// The error that a move of the claim meets in a state of the system when it looks at its propositions.
    #[cold]
    fn evaluation_error(&self, claim: ClaimState, state: &[u8]) -> Option<Fault> {
        let risky = self.risky[claim.index()];
        let mut numbers = (0..u64::BITS).filter(|number| risky >> number & 1 != 0);
        numbers.find_map(|number| self.inner.can.propositions?.evaluation_error(self.set, number, state))
    }

    /// Takes a state apart: where the claim is, whether the system is inside an atomic sequence, and its
    /// state.
    fn split<'s>(&self, state: &'s [u8]) -> Option<(ClaimState, bool, &'s [u8])> {
        let (head, _) = state.split_first_chunk::<CLAIM>()?;
        let number = u16::from_le_bytes(*head);
        let claim = ClaimState(number & !INSIDE);
        (claim.index() < self.claim.len()).then_some((claim, number & INSIDE != 0, self.inner_state(state)))
    }
}

/// The claim's part of a state after a move: what stands before the system's part, and how much of `earned`
/// stands behind it.
#[derive(Clone, Copy)]
struct Watching {
    by: Move,
    tail: usize,
}

impl Watching {
    /// Appends an outcome: `rest` watched by the claim.
    #[inline]
    fn push(self, out: &mut Successors, action: ActionId, rest: &[u8], inside: bool) {
        let number = self.by.to.0 | if inside { INSIDE } else { 0 };
        let write = |bytes: &mut Vec<u8>| {
            bytes.extend_from_slice(&number.to_le_bytes());
            bytes.extend_from_slice(rest);
            bytes.extend_from_slice(&[self.by.marks][..self.tail]);
        };
        out.push_with(action, write, inside, None);
    }

    /// Appends the steps of the system. This is where a product spends its time, so room is made once for
    /// all.
    fn pair(self, steps: &Successors, out: &mut Successors) {
        out.list.reserve(steps.list.len());
        out.bytes.reserve(steps.bytes.len() + steps.list.len() * (CLAIM + self.tail));
        let [outside, inside] = [0, INSIDE].map(|flag| (self.by.to.0 | flag).to_le_bytes());
        for step in &steps.list {
            let Some(rest) = steps.state(step) else {
                // Where the run would have gone is unknown, and whether the claim would have minded.
                out.push(step.action, None, false, steps.fault(step).cloned());
                continue;
            };
            let transient = step.is_transient();
            out.unusual |= transient;
            let start = out.bytes.len() as u32;
            out.bytes.extend_from_slice(if transient { &inside } else { &outside });
            out.bytes.extend_from_slice(rest);
            if self.tail > 0 {
                out.bytes.push(self.by.marks);
            }
            let len = (rest.len() + CLAIM + self.tail) as u32;
            out.list.push(Successor { start, len, fault: 0, ..*step });
        }
    }
}

impl Layer for Product<'_> {
    fn inner(&self) -> Inner<'_> {
        self.inner
    }

    fn around(&self) -> (usize, usize) {
        (CLAIM, self.tail)
    }

    fn validate(&self, head: &[u8], tail: &[u8]) -> Result<(), &'static str> {
        let number = head.first_chunk().map(|head| u16::from_le_bytes(*head) & !INSIDE);
        let known = number.is_some_and(|number| usize::from(number) < self.claim.len());
        let earned = tail.first().is_none_or(|&marks| u32::from(marks) < 1 << self.claim.n_marks);
        if known && earned { Ok(()) } else { Err("the claim is nowhere, or has earned unknown marks") }
    }

    fn own_fingerprint(&self) -> u64 {
        self.claim.fingerprint()
    }
}

impl TransitionSystem for Product<'_> {
    fn initial(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        let initial = self.claim.initial;
        if let Some(fault) = self.claim.ends.get(initial.index()).and_then(Option::as_ref) {
            return Err(fault.clone());
        }
        out.extend_from_slice(&initial.0.to_le_bytes());
        self.inner.system.initial(out)?;
        out.extend_from_slice(&[0][..self.tail]);
        Ok(())
    }

    /// Actions are the system's; one is listed for every move of the claim.
    fn enabled(&self, state: &[u8], out: &mut Vec<ActionId>) {
        self.worker().enabled(state, out);
    }

    fn fire(&self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        self.worker().fire(state, actions, out);
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        let known = std::iter::repeat_with(|| None).take(REMEMBERED).collect();
        let (steps, all) = (Successors::default(), Successors::default());
        Box::new(Pair { product: self, worker: self.inner.system.worker(), steps, all, known })
    }

    /// Only acceptance is the claim's; ends are no errors where there is a claim.
    fn labels(&self, state: &[u8]) -> Labels {
        let accepting = self.split(state).is_some_and(|(claim, ..)| self.claim.accepting[claim.index()]);
        Labels { accepting, valid_end: true, ..Labels::default() }
    }

    fn hidden_bytes(&self) -> usize {
        self.inner.system.hidden_bytes() + self.tail
    }

    fn deadlock(&self, state: &[u8]) -> Fault {
        self.inner.system.deadlock(self.inner_state(state))
    }

    /// Invariants are the system's, not the claim's.
    fn capabilities(&self) -> Capabilities<'_> {
        let acceptance = (self.tail > 0).then_some(self as _);
        Capabilities { invariants: None, acceptance, ..self.forwarded() }
    }
}

impl AcceptanceMarks for Product<'_> {
    fn earned(&self, state: &[u8]) -> Marks {
        state.last().copied().filter(|_| self.tail > 0).unwrap_or_default()
    }
}

/// One thread's access to a product.
struct Pair<'a> {
    product: &'a Product<'a>,
    worker: Box<dyn Worker + 'a>,
    steps: Successors,
    all: Successors,
    /// Moves of the claim, by a hash of its state and the propositions.
    known: Vec<Option<(ClaimState, u64, Moves)>>,
}

impl Worker for Pair<'_> {
    fn enabled(&mut self, state: &[u8], out: &mut Vec<ActionId>) {
        let mut all = std::mem::take(&mut self.all);
        all.clear();
        self.expand(state, &mut all);
        out.extend(all.list.iter().map(|outcome| outcome.action));
        self.all = all;
    }

    /// The first outcome of every action.
    fn fire(&mut self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        let mut all = std::mem::take(&mut self.all);
        all.clear();
        self.expand(state, &mut all);
        for &action in actions {
            if let Some(outcome) = all.list.iter().find(|outcome| outcome.action == action) {
                out.push(action, all.state(outcome), outcome.is_transient(), all.fault(outcome).cloned());
            }
        }
        self.all = all;
    }

    fn expand_active(&mut self, state: &[u8], asleep: SleepMask, out: &mut Successors) {
        debug_assert!(asleep.is_none(), "the claim sees every step");
        let Some((claim, inside, rest)) = self.product.split(state) else {
            return out.push_invalid(ActionId::INVALID, "the claim is nowhere");
        };
        self.steps.clear();
        if inside {
            self.worker.expand_transient(rest, &mut self.steps);
            let by = Move { to: claim, marks: self.product.earned(state) };
            return Watching { by, tail: self.product.tail }.pair(&self.steps, out);
        }
        let propositions = self.product.inner.can.propositions;
        let bits = propositions.map_or(0, |system| system.propositions(self.product.set, rest));
        if self.product.risky[claim.index()] != 0
            && let Some(fault) = self.product.evaluation_error(claim, rest)
        {
            out.push(ActionId::STUTTER, None, false, Some(fault));
        }
        let slot = place(claim, bits);
        let known = matches!(&self.known[slot], Some((c, b, _)) if (*c, *b) == (claim, bits));
        if !known {
            let mut moves = Moves::default();
            self.product.claim.moves(claim, bits, &mut moves);
            self.known[slot] = Some((claim, bits, moves));
        }
        let Some((.., moves)) = &self.known[slot] else { return };
        for fault in &moves.faults {
            out.push(ActionId::STUTTER, None, false, Some(fault.clone()));
        }
        if moves.to.is_empty() {
            return;
        }
        self.worker.expand(rest, &mut self.steps);
        let stuck = self.steps.list.is_empty();
        for &by in &moves.to {
            let watching = Watching { by, tail: self.product.tail };
            match stuck {
                true if self.product.claim.stutters => watching.push(out, ActionId::STUTTER, rest, false),
                true => {}
                false => watching.pair(&self.steps, out),
            }
        }
    }

    fn follow(&mut self, state: &[u8], most: u32, out: &mut Successors) -> usize {
        follow_by(state, most, out, |state, out| self.expand(state, out))
    }
}

/// Where a worker remembers the moves.
fn place(claim: ClaimState, bits: u64) -> usize {
    let mixed = (bits ^ u64::from(claim.0).rotate_left(48)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as usize % REMEMBERED
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Silent;
    use crate::property::Checks;
    use crate::task::Task;
    use crate::{Levels, Limits, frontier};
    use std::sync::atomic::AtomicBool;
    use store::Table;
    use system::claim::{ClaimEdge, Guard};
    use system::toy::Graph;
    use system::{FaultKind, SystemExt};

    fn claim(edges: &[(u16, Option<u32>, u16)], n: usize) -> Claim {
        let mut lists = vec![Vec::new(); n];
        for &(from, proposition, to) in edges {
            let guard = proposition.map_or(Guard::True, Guard::proposition);
            lists[usize::from(from)].push(ClaimEdge {
                guard,
                to: ClaimState(to),
                atomic: false,
                marks: 0,
                asserts: None,
            });
        }
        Claim {
            initial: ClaimState(0),
            n_marks: 0,
            accepting: vec![false; n],
            ends: vec![None; n],
            edges: lists,
            first_only: vec![false; n],
            stutters: true,
        }
    }

    fn end() -> Fault {
        let (message, file) = ("end".to_string(), "claim".to_string());
        Fault { kind: FaultKind::ClaimEnd, message, file, line: 1, column: 1, process: None, pid: None }
    }

    fn outcomes(product: &Product<'_>, state: &[u8]) -> Vec<(u64, Option<Vec<u8>>, bool)> {
        let mut out = Successors::default();
        product.expand(state, &mut out);
        let of = |o: &system::Successor| (o.action.0, out.state(o).map(<[u8]>::to_vec), o.is_transient());
        out.list.iter().map(of).collect()
    }

    #[test]
    fn the_claim_moves_first_and_waits_inside_atomic_sequences() {
        let graph = Graph::parse("0 -> 1 -> 2; transient 1; hold 0 0").unwrap();
        let claim = claim(&[(0, Some(0), 0), (0, None, 1), (1, Some(0), 1)], 2);
        let product = Product::new(&graph, &claim, 0);
        let mut initial = Vec::new();
        product.initial(&mut initial).unwrap();
        assert_eq!(initial, b"\0\x000");
        let expected = [(0, Some(b"\0\x801".to_vec()), true), (0, Some(b"\x01\x801".to_vec()), true)];
        assert_eq!(outcomes(&product, &initial), expected);
        assert_eq!(outcomes(&product, b"\x01\x801"), [(1, Some(b"\x01\x002".to_vec()), false)]);
        assert!(outcomes(&product, b"\x01\x002").is_empty(), "the claim gives up: nothing holds in 2");
        let stutter = (u64::MAX, Some(b"\x01\x002".to_vec()), false);
        assert_eq!(outcomes(&product, b"\0\x002"), [stutter]);
    }

    #[test]
    fn what_cannot_be_evaluated_is_told_where_the_claim_looks_at_it() {
        let graph = Graph::parse("0 -> 1 -> 0; unknown 0 1").unwrap();
        let claim = claim(&[(0, None, 1), (1, Some(0), 0), (1, None, 1)], 2);
        let product = Product::new(&graph, &claim, 0);
        let faults = |state: &[u8]| {
            let mut out = Successors::default();
            product.expand(state, &mut out);
            let told = out.list.iter().filter_map(|o| Some((o.action, out.fault(o)?.kind)));
            told.collect::<Vec<_>>()
        };
        assert!(faults(b"\0\x001").is_empty(), "the claim does not look");
        assert_eq!(faults(b"\x01\x001"), [(ActionId::STUTTER, FaultKind::Evaluation)]);
        assert!(faults(b"\x01\x000").is_empty(), "it is known there");
    }

    #[test]
    fn what_a_move_earns_is_a_hidden_byte() {
        let graph = Graph::parse("0 -> 1 -> 2; transient 1; hold 0 0").unwrap();
        let mut claim = claim(&[(0, None, 0), (0, Some(0), 0)], 1);
        claim.n_marks = 2;
        claim.edges[0][1].marks = 2;
        let product = Product::new(&graph, &claim, 0);
        let mut initial = Vec::new();
        product.initial(&mut initial).unwrap();
        assert_eq!((&initial[..], product.key(&initial)), (&b"\0\x000\0"[..], &b"\0\x000"[..]));
        assert_eq!(outcomes(&product, &initial), [(0, Some(b"\0\x801\x02".to_vec()), true)]);
        let behind = outcomes(&product, b"\0\x801\x02");
        assert_eq!(behind, [(1, Some(b"\0\x002\x02".to_vec()), false)], "the whole sequence is one move");
        assert_eq!(product.earned(b"\0\x002\x02"), 2);
        assert_eq!(outcomes(&product, b"\0\x002\x02"), [(u64::MAX, Some(b"\0\x002\0".to_vec()), false)]);
    }

    #[test]
    fn an_end_is_found_by_any_search() {
        let graph = Graph::parse("0 -> 1 -> 2 -> 3; hold 0 2").unwrap();
        let mut claim = claim(&[(0, None, 0), (0, Some(0), 1)], 2);
        claim.ends[1] = Some(end());
        let product = Product::new(&graph, &claim, 0);
        let (stop, limits) = (AtomicBool::new(false), Limits::default());
        let task =
            Task { checks: Checks::CLAIM, all_errors: false, seed: None, limits, stop: &stop, reduce: None };
        let queue = crate::queue::Whole::new(0, false);
        let outcome = frontier(&product, &mut Table::default(), queue, Levels::Edges, &task, &mut Silent);
        let path: Vec<u64> = outcome.violations[0].path.iter().map(|a| a.0).collect();
        assert_eq!(path, [0, 1, u64::MAX]);
    }
}
