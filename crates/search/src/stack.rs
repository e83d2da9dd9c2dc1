//! The stack of a depth-first search: the path, and what is still to be tried.
//!
//! Successors lie one after another as they were pushed, whole. The one that is tried next is the last; when
//! it is *taken* it stays where it is, now a state of the path, and its own successors come behind it. So to
//! go on, or back, nothing is copied and nothing is made out of anything else: what lies in front of a state
//! of the path are its brothers, and the state that they all come from.
//!
//! A path may have millions of states, so only the last part lies there whole. What comes before is kept as
//! differences ([`delta`]) between a state of the path and its successors, and is made whole when the search
//! comes back to it: many at a time, and rarely, for a search goes up and down near the end of its path.

use crate::atomic_run::AtomicRun;
use crate::delta;
use crate::expand::Edge;
use std::collections::{HashMap, TryReserveError};
use system::{ActionId, Path};

/// With more entries than this the older half is packed.
const MOST: usize = 1 << 10;
/// States of the path that [`Stack::peek`] looks back.
const NEAR: usize = 32;
/// With more bytes of states than this the older half is packed.
const MOST_BYTES: usize = 1 << 18;

/// The path, its last state and, for each state on it, the successors still to be tried, the next one on top.
#[derive(Debug)]
pub(crate) struct Stack<T> {
    /// What the store made of the state at the end of the path, when it was looked up as a successor.
    pub ticket: Option<T>,
    /// States of the path and successors still to be tried, as they lie: the last ones.
    entries: Vec<Entry>,
    /// The states of these.
    bytes: Vec<u8>,
    /// The state at the end of the path: where it begins, and its length.
    state: (usize, usize),
    /// What comes before the entries, and how many were packed together each time.
    packed: Packed,
    blocks: Vec<usize>,
    /// The actions of all entries that have not exactly one, which they have themselves. Of one that is
    /// reached through a run, the last.
    actions: Vec<ActionId>,
    /// Atomic runs through which many successors of one frame are reached, and the number of that frame.
    runs: Vec<(usize, AtomicRun)>,
    /// How many of them are on the path.
    steps: usize,
    /// The tickets of what is still to be tried.
    pending: Vec<T>,
    /// States of the path that have been expanded.
    frames: usize,
    /// The hashes of the states that have frames, where somebody asks (none for one that was let go), and how
    /// often each occurs.
    hashes: Vec<Option<u64>>,
    held: HashMap<u64, u32>,
}

/// A state: on the path, or still to be tried.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// How many bytes it takes.
    bytes: u32,
    /// Four times the number of actions that lead to it, and [`TAKEN`], and [`THROUGH_RUN`].
    actions: u32,
    /// The only one of these; or where the run is left, as edges say it.
    action: ActionId,
}

/// It is a state of the path.
const TAKEN: u32 = 1;
/// Its actions are those of a run that the stack keeps.
const THROUGH_RUN: u32 = 2;
/// One action.
const STEP: u32 = 4;

impl Entry {
    #[inline(always)]
    fn is_taken(self) -> bool {
        self.actions & TAKEN != 0
    }

    #[inline(always)]
    fn n_actions(self) -> usize {
        (self.actions / STEP) as usize
    }

    /// How many actions lie apart.
    #[inline(always)]
    fn n_apart(self) -> usize {
        match self.actions & !TAKEN {
            STEP => 0,
            actions if actions & THROUGH_RUN != 0 => 1,
            actions => (actions / STEP) as usize,
        }
    }
}

/// Entries as differences from the state of the path that they follow.
#[derive(Debug, Default)]
struct Packed {
    entries: Vec<Entry>,
    bytes: Vec<u8>,
}

impl<T> Default for Stack<T> {
    fn default() -> Self {
        Stack {
            ticket: None,
            entries: Vec::new(),
            bytes: Vec::new(),
            state: (0, 0),
            packed: Packed::default(),
            blocks: Vec::new(),
            actions: Vec::new(),
            runs: Vec::new(),
            steps: 0,
            pending: Vec::new(),
            frames: 0,
            hashes: Vec::new(),
            held: HashMap::new(),
        }
    }
}

impl<T> Stack<T> {
    /// Forgets everything; `state` becomes the beginning of a path.
    pub fn begin(&mut self, state: &[u8]) -> Result<(), TryReserveError> {
        self.ticket = None;
        self.entries.clear();
        self.bytes.clear();
        self.packed.entries.clear();
        self.packed.bytes.clear();
        self.blocks.clear();
        self.actions.clear();
        self.runs.clear();
        self.steps = 0;
        self.pending.clear();
        self.frames = 0;
        self.hashes.clear();
        self.held.clear();
        self.entries.try_reserve(1)?;
        self.bytes.try_reserve(state.len())?;
        self.entries.push(Entry { bytes: state.len() as u32, actions: TAKEN, action: ActionId(0) });
        self.bytes.extend_from_slice(state);
        self.state = (0, state.len());
        Ok(())
    }

    /// The state at the end of the path. After [`leave`](Self::leave) and [`retreat`](Self::retreat) only
    /// when [`advance`](Self::advance) was called.
    #[inline(always)]
    pub fn state(&self) -> &[u8] {
        let (start, len) = self.state;
        self.bytes.get(start..start + len).unwrap_or_default()
    }

    /// Its length.
    #[inline(always)]
    pub fn state_len(&self) -> usize {
        self.state.1
    }

    /// Puts another state in the place of the one at the end of the path, none of whose successors is to be
    /// tried.
    pub fn jump(&mut self, state: &[u8]) -> Result<(), TryReserveError> {
        let Some(last) = self.entries.last_mut() else { return Ok(()) };
        debug_assert!(last.is_taken(), "successors of the state are still to be tried");
        let start = self.bytes.len() - last.bytes as usize;
        self.bytes.truncate(start);
        self.bytes.try_reserve(state.len())?;
        self.bytes.extend_from_slice(state);
        last.bytes = state.len() as u32;
        self.state = (start, state.len());
        Ok(())
    }

    /// Takes the next successor of the last frame: the state and the path become its own. False when it has
    /// none left, or there is no frame.
    #[inline]
    pub fn advance(&mut self) -> bool {
        let Some(last) = self.entries.last_mut() else { return false };
        let len = last.bytes as usize;
        self.state = (self.bytes.len() - len, len);
        if last.is_taken() {
            return false;
        }
        debug_assert!(!self.pending.is_empty(), "a successor without a ticket");
        last.actions |= TAKEN;
        self.steps += last.n_actions();
        self.ticket = self.pending.pop();
        true
    }

    /// The successor that comes after the one that was taken last.
    pub fn next_ticket(&self) -> Option<&T> {
        self.pending.last()
    }

    /// The state that comes after the one at the end of the path, if that has no successors to be tried, what
    /// the store made of it, and how many actions lead to it. Nothing if it is far away.
    #[inline]
    pub fn peek(&self) -> Option<(&[u8], &T, usize)> {
        // Only entries that are not packed, and few of them: look-ahead asks often, and may be told nothing.
        let (mut end, mut steps) = (self.bytes.len(), self.steps);
        for entry in self.entries.iter().rev().take(NEAR) {
            let start = end - entry.bytes as usize;
            if !entry.is_taken() {
                let ticket = self.pending.last()?;
                return Some((&self.bytes[start..end], ticket, steps + entry.n_actions()));
            }
            end = start;
            steps -= entry.n_actions();
        }
        None
    }

    /// Drops the last frame, all of whose successors were tried: the path ends before it.
    #[inline(always)]
    pub fn retreat(&mut self) {
        if self.frames > 0 {
            if !(self.hashes.is_empty() && self.runs.is_empty()) {
                self.forget();
            }
            self.frames -= 1;
            self.leave();
        }
    }

    /// How many frames there are.
    pub fn depth(&self) -> usize {
        self.frames
    }

    /// How many successors are still to be tried.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// How many actions lead to the state at the end of the path.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// The successor just taken was known: the path ends before it.
    #[inline]
    pub fn leave(&mut self) {
        let Some(last) = self.entries.pop() else { return };
        debug_assert!(last.is_taken(), "only a state of the path can be left");
        debug_assert!(self.steps >= last.n_actions() && self.actions.len() >= last.n_apart());
        self.bytes.truncate(self.bytes.len() - last.bytes as usize);
        let (actions, apart) = (last.n_actions(), last.n_apart());
        if apart > 0 {
            self.actions.truncate(self.actions.len() - apart);
        }
        self.steps -= actions;
        // The path goes on in what was packed when the stack grew.
        if self.entries.is_empty() {
            self.unpack();
        }
    }

    /// The successor just taken is new: it gets a frame, which [`Stack::push`] fills.
    #[inline]
    pub fn enter(&mut self, hash: Option<u64>) -> Result<(), TryReserveError> {
        debug_assert!(self.entries.last().is_some_and(|last| last.is_taken()));
        self.frames += 1;
        // Only at the entry of a frame: its successors are pushed whole and packed together later.
        if self.entries.len() > MOST || self.bytes.len() > MOST_BYTES {
            self.pack()?;
        }
        if let Some(hash) = hash {
            self.hashes.try_reserve(1)?;
            self.held.try_reserve(1)?;
            self.hashes.push(Some(hash));
            *self.held.entry(hash).or_default() += 1;
        }
        Ok(())
    }

    /// What will be pushed into the frame just entered is reached by these actions and then its own. Not
    /// together with runs.
    #[inline]
    pub fn prolong(&mut self, actions: &[ActionId]) -> Result<(), TryReserveError> {
        if let Some(last) = self.entries.last_mut().filter(|_| !actions.is_empty()) {
            self.actions.try_reserve(1 + actions.len())?;
            match (last.n_actions(), actions) {
                (0, &[action]) => last.action = action,
                (1, _) => self.actions.extend([last.action].iter().chain(actions)),
                _ => self.actions.extend_from_slice(actions),
            }
            self.steps += actions.len();
            last.actions += STEP * actions.len() as u32;
        }
        Ok(())
    }

    /// The state of the last frame no longer counts as one that is on the stack.
    pub fn let_go(&mut self) {
        let hash = self.hashes.last_mut().and_then(Option::take);
        self.count_down(hash);
    }

    /// The last frame goes, and what was kept for it.
    #[inline(never)]
    fn forget(&mut self) {
        if self.runs.last().is_some_and(|run| run.0 == self.frames) {
            self.runs.pop();
        }
        let hash = self.hashes.pop().flatten();
        self.count_down(hash);
    }

    fn count_down(&mut self, hash: Option<u64>) {
        let Some(hash) = hash else { return };
        if let Some(times) = self.held.get_mut(&hash) {
            *times -= 1;
            if *times == 0 {
                self.held.remove(&hash);
            }
        }
    }

    /// Whether the state with this key may be on the stack; a *no* is sure.
    pub fn may_hold(&self, key: &[u8]) -> bool {
        self.held.contains_key(&store::hash::hash(key))
    }

    /// Adds a successor of the state at the end of the path, to be tried before those added so far.
    #[inline]
    pub fn push(&mut self, state: &[u8], actions: &[ActionId], ticket: T) -> Result<(), TryReserveError> {
        if let &[action] = actions {
            return self.push_step(state, action, ticket);
        }
        self.actions.try_reserve(actions.len())?;
        self.push_entry(state, STEP * actions.len() as u32, ActionId(0), ticket)?;
        self.actions.extend_from_slice(actions);
        Ok(())
    }

    /// Pushes a state to which a single action leads.
    #[inline]
    pub fn push_step(&mut self, state: &[u8], action: ActionId, ticket: T) -> Result<(), TryReserveError> {
        self.push_entry(state, STEP, action, ticket)
    }

    /// Keeps a run through which successors are reached that will be pushed into the frame just entered.
    pub fn keep(&mut self, run: AtomicRun) -> Result<(), TryReserveError> {
        self.runs.try_reserve(1)?;
        self.runs.push((self.frames, run));
        Ok(())
    }

    /// Adds a successor that is reached through the run that was kept.
    pub fn push_through_run(&mut self, state: &[u8], edge: Edge, ticket: T) -> Result<(), TryReserveError> {
        debug_assert!(self.runs.last().is_some_and(|run| run.0 == self.frames), "no run was kept");
        self.actions.try_reserve(1)?;
        let left = ActionId(edge.via().map_or(0, |via| u64::from(via) + 1));
        self.push_entry(state, (STEP * edge.n_actions()) | THROUGH_RUN, left, ticket)?;
        self.actions.push(edge.action);
        Ok(())
    }

    #[inline(always)]
    fn push_entry(
        &mut self,
        state: &[u8],
        actions: u32,
        action: ActionId,
        ticket: T,
    ) -> Result<(), TryReserveError> {
        self.pending.try_reserve(1)?;
        self.entries.try_reserve(1)?;
        self.bytes.try_reserve(state.len())?;
        self.pending.push(ticket);
        self.entries.push(Entry { bytes: state.len() as u32, actions, action });
        self.bytes.extend_from_slice(state);
        Ok(())
    }

    /// Packs the older half of the entries.
    #[cold]
    fn pack(&mut self) -> Result<(), TryReserveError> {
        let half = self.entries.len() / 2;
        self.blocks.try_reserve(1)?;
        self.packed.entries.try_reserve(half)?;
        let (mut parent, mut start) = (0..0, 0);
        for &entry in &self.entries[..half] {
            let range = start..start + entry.bytes as usize;
            start = range.end;
            self.packed.bytes.try_reserve(2 * range.len() + 16)?;
            let before = self.packed.bytes.len();
            delta::write(&self.bytes[parent.clone()], &self.bytes[range.clone()], &mut self.packed.bytes);
            let entry = Entry { bytes: (self.packed.bytes.len() - before) as u32, ..entry };
            self.packed.entries.push(entry);
            if entry.is_taken() {
                parent = range;
            }
        }
        self.entries.drain(..half);
        self.bytes.drain(..start);
        self.state.0 -= start;
        if half > 0 {
            self.blocks.push(half);
        }
        Ok(())
    }

    /// Makes whole what was packed last, now that nothing else is left.
    #[cold]
    fn unpack(&mut self) {
        let Some(n) = self.blocks.pop() else { return };
        let first = self.packed.entries.len() - n;
        let entries = self.packed.entries.drain(first..);
        let all: usize = entries.as_slice().iter().map(|entry| entry.bytes as usize).sum();
        let mut start = self.packed.bytes.len() - all;
        let kept = start;
        let mut parent = 0..0;
        for entry in entries {
            let delta = start..start + entry.bytes as usize;
            start = delta.end;
            let before = self.bytes.len();
            delta::redo(&mut self.bytes, parent.clone(), &self.packed.bytes[delta]);
            let entry = Entry { bytes: (self.bytes.len() - before) as u32, ..entry };
            self.entries.push(entry);
            if entry.is_taken() {
                parent = before..self.bytes.len();
            }
        }
        self.packed.bytes.truncate(kept);
    }

    /// The path, prolonged by `more`.
    pub fn path_and(&self, more: &[ActionId]) -> Path {
        let (mut path, mut through) = (Path::new(), Vec::new());
        let mut rest = self.actions.as_slice();
        let (mut frame, mut runs) = (0, self.runs.iter().peekable());
        for entry in self.packed.entries.iter().chain(&self.entries) {
            let (its, others) = rest.split_at(entry.n_apart());
            rest = others;
            if !entry.is_taken() {
                continue;
            }
            while runs.next_if(|run| run.0 < frame).is_some() {}
            match (its, runs.peek()) {
                (&[last], Some((_, run))) if entry.actions & THROUGH_RUN != 0 => {
                    through.clear();
                    run.path((entry.action.0 as u32).checked_sub(1), last, &mut through);
                    path.extend(&through);
                }
                ([], _) if entry.n_actions() == 1 => path.push(entry.action),
                _ => path.extend(its),
            }
            frame += 1;
        }
        path.extend(more);
        path
    }

    /// The path.
    pub fn path(&self) -> Path {
        self.path_and(&[])
    }

    pub fn memory(&self) -> u64 {
        let entries = (self.entries.capacity() + self.packed.entries.capacity()) * size_of::<Entry>();
        let bytes = self.bytes.capacity() + self.packed.bytes.capacity();
        let actions = self.actions.capacity() * size_of::<ActionId>();
        let pending = self.pending.capacity() * size_of::<T>();
        let held = self.hashes.capacity() * 16 + self.held.capacity() * 24;
        let runs: u64 = self.runs.iter().map(|run| run.1.memory()).sum();
        (entries + bytes + actions + pending + held) as u64 + runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atomic_run::TransientNode;
    use crate::random::Random;

    /// The same stack, as plain as can be.
    struct Plain {
        /// A state, its actions, its ticket, and whether it was taken.
        entries: Vec<(Vec<u8>, Vec<ActionId>, u64, bool)>,
    }

    impl Plain {
        fn path(&self) -> Vec<ActionId> {
            self.entries.iter().filter(|entry| entry.3).flat_map(|entry| entry.1.clone()).collect()
        }
    }

    fn successor(of: &[u8], random: &mut Random) -> Vec<u8> {
        let mut state = of.to_vec();
        if random.below(9) == 0 {
            state.resize(20 + random.below(60), 3);
        }
        let at = random.below(state.len());
        state[at] = random.below(256) as u8;
        state
    }

    /// A run of three transient states, one behind the other.
    fn run(round: u64) -> AtomicRun {
        let place = |at: u32| TransientNode {
            parent: at.checked_sub(1),
            action: ActionId(round + u64::from(at)),
            depth: at + 1,
        };
        AtomicRun { nodes: (0..3).map(place).collect(), ..AtomicRun::default() }
    }

    #[test]
    fn what_was_packed_comes_back() {
        let mut random = Random::new(3);
        let mut stack = Stack::default();
        stack.begin(&[7; 40]).unwrap();
        stack.enter(None).unwrap();
        stack.push(&[7; 41], &[ActionId(1)], 5).unwrap();
        let mut plain = Plain { entries: vec![(vec![7; 40], Vec::new(), 0, true)] };
        plain.entries.push((vec![7; 41], vec![ActionId(1)], 5, false));
        let (mut round, mut most) = (0, 0);
        while stack.depth() > 0 {
            let taken = stack.advance();
            let Some(last) = plain.entries.last_mut() else { panic!("nothing is left") };
            assert_eq!((stack.state(), taken), (last.0.as_slice(), !last.3));
            if !taken {
                plain.entries.pop();
                stack.retreat();
                continue;
            }
            last.3 = true;
            assert_eq!(stack.ticket, Some(last.2));
            if random.below(10) == 0 {
                plain.entries.pop();
                stack.leave();
                continue;
            }
            stack.enter(None).unwrap();
            round += 1;
            // Down for a long while, then up more often than down.
            let through_run = random.below(30) == 0;
            if through_run {
                stack.keep(run(round)).unwrap();
            }
            for n in 0..random.below(if round < 9_000 { 4 } else { 2 }) {
                let state = successor(stack.state(), &mut random);
                let mut actions = vec![ActionId(round); n];
                if through_run {
                    let via = (n as u32).checked_sub(1);
                    let edge = Edge::single(ActionId(7), 0, 0).after(via, n as u32);
                    actions.clear();
                    run(round).path(via, ActionId(7), &mut actions);
                    stack.push_through_run(&state, edge, round).unwrap();
                } else {
                    stack.push(&state, &actions, round).unwrap();
                }
                plain.entries.push((state, actions, round, false));
            }
            most = most.max(stack.blocks.len());
            if round % 100 == 0 {
                assert_eq!(stack.path(), plain.path());
                assert_eq!(stack.steps(), plain.path().len());
                assert_eq!(stack.pending(), plain.entries.iter().filter(|entry| !entry.3).count());
            }
        }
        assert!(most > 3 && plain.entries.is_empty() && stack.memory() > 0 && stack.runs.is_empty());
    }
}
