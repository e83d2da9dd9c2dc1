//! The stack of a depth-first search: the path, and what is still to be tried.
//!
//! Neither the states of the path nor those to be tried are kept, only the differences between a state and its
//! successors ([`delta`]) and the actions, which is all that a counterexample needs.

use crate::delta;
use std::collections::{HashMap, TryReserveError};
use system::ActionId;

/// The path, its last state and, for each state on it, the successors still to be tried, the next one on top.
#[derive(Debug)]
pub(crate) struct Stack<T> {
    /// The state at the end of the path.
    pub state: Vec<u8>,
    /// What the store made of it, when it was looked up as a successor.
    pub ticket: Option<T>,
    /// All actions from the initial state to the current one.
    pub path: Vec<ActionId>,
    /// The successor that was taken last.
    taken: Taken,
    frames: Vec<Frame>,
    /// Differences between the states of the path.
    undo: Vec<u8>,
    pub pending: Vec<Pending<T>>,
    /// Differences between states and their successors still to be tried.
    redo: Vec<u8>,
    actions: Vec<ActionId>,
    /// The hashes of the states that have frames, where somebody asks (none for one that was let go), and how often each occurs.
    hashes: Vec<Option<u64>>,
    held: HashMap<u64, u32>,
}

/// How the state at the end of the path differs from the one before: lengths of what is on top of the common stacks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Taken {
    bytes: u32,
    actions: u32,
}

/// A state of the path that has been expanded.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Successors still to be tried.
    pending: u32,
    /// How it was reached from the frame below.
    taken: Taken,
}

/// A successor that is still to be tried: lengths of what it has on top of the common stacks.
#[derive(Debug)]
pub(crate) struct Pending<T> {
    bytes: u32,
    actions: u32,
    ticket: T,
}

impl<T> Default for Stack<T> {
    fn default() -> Self {
        Stack {
            state: Vec::new(),
            ticket: None,
            path: Vec::new(),
            taken: Taken::default(),
            frames: Vec::new(),
            undo: Vec::new(),
            pending: Vec::new(),
            redo: Vec::new(),
            actions: Vec::new(),
            hashes: Vec::new(),
            held: HashMap::new(),
        }
    }
}

impl<T> Stack<T> {
    /// Takes the next successor of the last frame: the state and the path become its own. False when it has none left, or
    /// there is no frame.
    pub fn advance(&mut self) -> bool {
        let Some(frame) = self.frames.last_mut() else { return false };
        let Some(rest) = frame.pending.checked_sub(1) else { return false };
        frame.pending = rest;
        self.take();
        true
    }

    /// The successor that comes after the one that was taken last.
    pub fn next_ticket(&self) -> Option<&T> {
        self.pending.last().map(|pending| &pending.ticket)
    }

    /// Drops the last frame, all of whose successors were tried: the path ends before it.
    pub fn retreat(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.forget();
            self.back(frame.taken);
        }
    }

    /// How many frames there are.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Forgets all but the state, which becomes the beginning of a path.
    pub fn clear(&mut self) {
        self.ticket = None;
        self.path.clear();
        self.taken = Taken::default();
        self.frames.clear();
        self.undo.clear();
        self.pending.clear();
        self.redo.clear();
        self.actions.clear();
        self.hashes.clear();
        self.held.clear();
    }

    fn take(&mut self) {
        let Some(Pending { bytes, actions, ticket }) = self.pending.pop() else { return };
        let delta = self.redo.len() - bytes as usize;
        delta::redo(&mut self.state, &self.redo[delta..]);
        self.undo.extend_from_slice(&self.redo[delta..]);
        self.redo.truncate(delta);
        let first = self.actions.len() - actions as usize;
        self.path.extend_from_slice(&self.actions[first..]);
        self.actions.truncate(first);
        self.taken = Taken { bytes, actions };
        self.ticket = Some(ticket);
    }

    /// The successor just taken was known: the path ends before it.
    pub fn leave(&mut self) {
        self.back(self.taken);
    }

    fn back(&mut self, taken: Taken) {
        let delta = self.undo.len() - taken.bytes as usize;
        delta::undo(&mut self.state, &self.undo[delta..]);
        self.undo.truncate(delta);
        self.path.truncate(self.path.len() - taken.actions as usize);
    }

    /// The successor just taken is new: it gets a frame, which [`Stack::push`] fills.
    pub fn enter(&mut self, hash: Option<u64>) -> Result<(), TryReserveError> {
        self.frames.try_reserve(1)?;
        self.frames.push(Frame { pending: 0, taken: self.taken });
        if let Some(hash) = hash {
            self.hashes.try_reserve(1)?;
            self.held.try_reserve(1)?;
            self.hashes.push(Some(hash));
            *self.held.entry(hash).or_default() += 1;
        }
        Ok(())
    }

    /// What will be pushed into the frame just entered is reached by these actions and then its own.
    pub fn prolong(&mut self, actions: &[ActionId]) -> Result<(), TryReserveError> {
        if let Some(frame) = self.frames.last_mut().filter(|_| !actions.is_empty()) {
            self.path.try_reserve(actions.len())?;
            self.path.extend_from_slice(actions);
            frame.taken.actions += actions.len() as u32;
        }
        Ok(())
    }

    /// The state of the last frame no longer counts as one that is on the stack.
    pub fn let_go(&mut self) {
        let hash = self.hashes.last_mut().and_then(Option::take);
        self.count_down(hash);
    }

    /// The last frame is gone.
    fn forget(&mut self) {
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
    pub fn push(&mut self, state: &[u8], actions: &[ActionId], ticket: T) -> Result<(), TryReserveError> {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        let most = self.state.len() + state.len() + 16;
        self.pending.try_reserve(1)?;
        self.redo.try_reserve(most)?;
        self.actions.try_reserve(actions.len())?;
        // When it is taken, the path is as long as it is now.
        self.undo.try_reserve(most)?;
        self.path.try_reserve(actions.len())?;
        frame.pending += 1;
        let start = self.redo.len();
        delta::write(&self.state, state, &mut self.redo);
        let bytes = (self.redo.len() - start) as u32;
        self.pending.push(Pending { bytes, actions: actions.len() as u32, ticket });
        self.actions.extend_from_slice(actions);
        Ok(())
    }

    /// The path, prolonged by `more`.
    pub fn path_and(&self, more: &[ActionId]) -> Vec<ActionId> {
        [&self.path[..], more].concat()
    }

    pub fn memory(&self) -> u64 {
        let words = self.path.capacity() + self.actions.capacity();
        let pending = self.pending.capacity() * size_of::<Pending<T>>();
        let frames = self.frames.capacity() * size_of::<Frame>();
        let held = self.hashes.capacity() * 16 + self.held.capacity() * 24;
        (words * 8 + held + frames + pending + self.undo.capacity() + self.redo.capacity()) as u64
    }
}
