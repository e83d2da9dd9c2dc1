//! The transient states of one closure: how each was reached, and whether they can go round forever.
//!
//! [`crate::expand`] fills this in while it closes the atomic sequences of one state, and asks it for the
//! actions to an ordinary state behind them.

use crate::transients::Transients;
use system::ActionId;

/// Numbers of nodes on straight runs begin here.
pub const STRAIGHT: u32 = 1 << 31;

/// The number of states, steps and outcomes that have room before a few states are expanded together.
pub const ROOM: usize = 1 << 10;

/// How a transient state was first reached within a closure.
#[derive(Clone, Copy, Debug)]
pub struct TransientNode {
    /// The transient state before it; `None` when it is the first of its run.
    pub parent: Option<u32>,
    pub action: ActionId,
    /// Steps from the expanded state.
    pub depth: u32,
}

/// The transient states of one closure that are kept, numbered in the order in which they were met.
#[derive(Debug, Default)]
pub struct AtomicRun {
    pub states: Transients,
    pub nodes: Vec<TransientNode>,
    /// From this number on all transient states are kept.
    pub keep_all_from: usize,
    /// The nodes of straight runs, whose states are not kept. Their numbers begin with [`STRAIGHT`].
    pub straight: Vec<TransientNode>,
    /// Steps from a node to a state that was kept before.
    pub again: Vec<(u32, u32)>,
}

impl AtomicRun {
    pub fn clear(&mut self) {
        self.straight.clear();
        self.keep_all_from = usize::MAX;
        if !self.nodes.is_empty() {
            self.states.clear();
            self.nodes.clear();
            self.again.clear();
        }
    }

    fn node(&self, number: u32) -> TransientNode {
        match number.checked_sub(STRAIGHT) {
            Some(at) => self.straight[at as usize],
            None => self.nodes[number as usize],
        }
    }

    /// Steps from the expanded state to a node; `None` is that state.
    pub fn depth(&self, node: Option<u32>) -> u32 {
        node.map_or(0, |number| self.node(number).depth)
    }

    /// The kept state from which a node was reached by a straight run.
    fn origin(&self, mut node: u32) -> Option<u32> {
        while node >= STRAIGHT {
            node = self.node(node).parent?;
        }
        Some(node)
    }

    /// Makes room for what a few states lead to.
    pub fn make_room(&mut self) -> Result<(), std::collections::TryReserveError> {
        self.nodes.try_reserve(ROOM)?;
        self.again.try_reserve(ROOM)
    }

    pub fn memory(&self) -> u64 {
        self.states.memory()
            + ((self.nodes.capacity() + self.straight.capacity()) * size_of::<TransientNode>()) as u64
            + (self.again.capacity() * 8) as u64
    }

    /// Appends the actions to `from` and then `action`.
    pub fn path(&self, from: Option<u32>, action: ActionId, out: &mut Vec<ActionId>) {
        if let Some(from) = from {
            self.path_to(from, out);
        }
        out.push(action);
    }

    /// The first action on the way to `from` and then `action`.
    pub fn first_action(&self, from: Option<u32>, action: ActionId) -> ActionId {
        let (mut first, mut next) = (action, from);
        while let Some(at) = next {
            let node = self.node(at);
            (first, next) = (node.action, node.parent);
        }
        first
    }

    /// Appends the actions to a transient state.
    fn path_to(&self, node: u32, out: &mut Vec<ActionId>) {
        let first = out.len();
        let mut next = Some(node);
        while let Some(at) = next {
            let node = self.node(at);
            out.push(node.action);
            next = node.parent;
        }
        out[first..].reverse();
    }

    /// The actions to a transient state that lies on a cycle, if there is one: a depth-first search that
    /// meets a state on its own stack.
    pub fn find_loop(&self) -> Option<Vec<ActionId>> {
        let again = self.again.iter().filter_map(|&(from, to)| Some((self.origin(from)?, to)));
        let first = self.nodes.iter().enumerate();
        let first = first.filter_map(|(i, node)| Some((self.origin(node.parent?)?, i as u32)));
        let mut steps: Vec<(u32, u32)> = again.chain(first).collect();
        steps.sort_unstable();
        let steps_of = |node: u32| steps.partition_point(|s| s.0 < node);
        let mut colours = vec![Colour::White; self.nodes.len()];
        for root in 0..self.nodes.len() as u32 {
            if colours[root as usize] != Colour::White {
                continue;
            }
            let mut stack = vec![(root, steps_of(root))];
            colours[root as usize] = Colour::OnStack;
            while let Some((node, next)) = stack.last_mut() {
                let Some(&(_, to)) = steps.get(*next).filter(|s| s.0 == *node) else {
                    colours[*node as usize] = Colour::Done;
                    stack.pop();
                    continue;
                };
                *next += 1;
                match colours[to as usize] {
                    Colour::White => {
                        colours[to as usize] = Colour::OnStack;
                        stack.push((to, steps_of(to)));
                    }
                    Colour::OnStack => {
                        let mut path = Vec::new();
                        self.path_to(to, &mut path);
                        return Some(path);
                    }
                    Colour::Done => {}
                }
            }
        }
        None
    }
}

/// The colours of a depth-first search for cycles.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Colour {
    White,
    OnStack,
    Done,
}
