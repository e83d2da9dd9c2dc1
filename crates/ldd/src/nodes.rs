//! Nodes without duplicates.
//!
//! A node is three numbers. The table that finds an equal one is open addressing over the numbers of nodes,
//! at most three quarters full. Nodes never move, so a set keeps its name until it is collected; collection
//! marks from the roots and threads a list of free nodes through the rest.

use crate::Full;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A set of vectors, by the number of its first node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Set(pub(crate) u32);

impl Set {
    /// No vector.
    pub const EMPTY: Set = Set(0);
    /// The vector without values, alone: what is below the last level.
    pub const UNIT: Set = Set(1);

    /// Whether there is no vector.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self == Set::EMPTY
    }

    /// Whether it has no nodes: it is empty, or below the last level.
    #[inline(always)]
    pub fn is_terminal(self) -> bool {
        self.0 <= 1
    }
}

/// One value of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Node {
    /// The value.
    pub value: u32,
    /// What may follow it.
    pub down: Set,
    /// The rest of the list: larger values.
    pub right: Set,
}

/// A node that is not in use: `down` is itself. (No list has itself below it.)
fn free(number: u32, next: Set) -> Node {
    Node { value: 0, down: Set(number), right: next }
}

/// All nodes.
#[derive(Debug)]
pub struct Nodes {
    nodes: Vec<Node>,
    /// Numbers of nodes; 0 where there is none.
    table: Vec<u32>,
    used: usize,
    /// The first node that can be used again.
    free: Set,
    limit: u64,
    /// Set by others when operations are to end.
    stop: Arc<AtomicBool>,
    /// Nodes that may be asked for before the flag is looked at again.
    patience: u32,
    /// Nodes that were asked for, and that may be.
    work: u64,
    most_work: u64,
    /// Work after which saturation rests.
    rest_at: u64,
}

/// Entries of the first table.
const FIRST_TABLE: usize = 1 << 10;
/// Nodes that are asked for between two looks at the flag: some 100 microseconds.
const POLL: u32 = 1 << 12;
/// The largest number of nodes: names are 32 bits.
const MOST_NODES: usize = u32::MAX as usize - 1;

impl Nodes {
    /// None yet, within `limit` bytes.
    pub fn new(limit: u64) -> Nodes {
        // The terminals have numbers, but are never looked at.
        let terminal = Node { value: 0, down: Set::EMPTY, right: Set::EMPTY };
        let nodes = vec![terminal; 2];
        Nodes {
            nodes,
            table: vec![0; FIRST_TABLE],
            used: 0,
            free: Set::EMPTY,
            limit,
            stop: Arc::default(),
            patience: POLL,
            work: 0,
            most_work: u64::MAX,
            rest_at: u64::MAX,
        }
    }

    /// The flag that makes operations end as if there was no more memory.
    pub fn stop_flag(&mut self) -> &mut Arc<AtomicBool> {
        &mut self.stop
    }

    /// Whether somebody has set the flag.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Operations end as if there was no more memory when this many nodes were asked for, made or found.
    pub fn limit_work(&mut self, most: u64) {
        (self.work, self.most_work, self.rest_at) = (0, most, u64::MAX);
    }

    /// Whether as many nodes were asked for as may be.
    pub fn is_worn_out(&self) -> bool {
        self.work > self.most_work
    }

    /// Saturation rests when this many more nodes were asked for: see [`crate::saturate`].
    pub fn rest_after(&mut self, work: u64) {
        self.rest_at = self.work.saturating_add(work);
    }

    /// The same, if it would not rest before.
    pub fn rest_within(&mut self, work: u64) {
        self.rest_at = self.rest_at.min(self.work.saturating_add(work));
    }

    /// Whether it is time to rest.
    #[inline(always)]
    pub fn rests(&self) -> bool {
        self.work >= self.rest_at
    }

    #[cold]
    fn look(&mut self) -> Result<(), Full> {
        self.patience = POLL;
        self.work += u64::from(POLL);
        if self.is_stopped() || self.is_worn_out() { Err(Full) } else { Ok(()) }
    }

    /// From now on there may be this many bytes.
    pub fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    /// Bytes that there may be.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Nodes in use.
    pub fn len(&self) -> usize {
        self.used
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Bytes in use.
    pub fn memory(&self) -> u64 {
        (self.nodes.capacity() * size_of::<Node>() + self.table.capacity() * size_of::<u32>()) as u64
    }

    /// The first node of a set that has some.
    #[inline(always)]
    pub fn get(&self, set: Set) -> Node {
        debug_assert!(!set.is_terminal());
        self.nodes[set.0 as usize]
    }

    /// The list that begins with a value. A value that nothing may follow is left out.
    #[inline]
    pub fn make(&mut self, value: u32, down: Set, right: Set) -> Result<Set, Full> {
        if down.is_empty() {
            return Ok(right);
        }
        debug_assert!(right.is_terminal() || value < self.get(right).value, "values ascend");
        debug_assert!(right != Set::UNIT, "a list ends with the empty set");
        self.patience -= 1;
        if self.patience == 0 {
            self.look()?;
        }
        let node = Node { value, down, right };
        let mask = self.table.len() - 1;
        let mut at = hash(node) as usize & mask;
        loop {
            match self.table[at] {
                0 => break,
                number if self.nodes[number as usize] == node => return Ok(Set(number)),
                _ => at = (at + 1) & mask,
            }
        }
        self.add(node, at)
    }

    fn add(&mut self, node: Node, at: usize) -> Result<Set, Full> {
        let number = match self.free {
            Set::EMPTY => {
                if self.nodes.len() == self.nodes.capacity() {
                    self.make_room()?;
                }
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
            Set(number) => {
                self.free = self.nodes[number as usize].right;
                self.nodes[number as usize] = node;
                number
            }
        };
        self.table[at] = number;
        self.used += 1;
        if self.used > self.table.len() / 4 * 3 {
            self.grow_table()?;
        }
        Ok(Set(number))
    }

    #[cold]
    fn make_room(&mut self) -> Result<(), Full> {
        let more = self.nodes.len().max(FIRST_TABLE / 2).min(MOST_NODES - self.nodes.len().min(MOST_NODES));
        // Twice as many, or as many as there is memory for.
        let room = self.limit.saturating_sub(self.memory()) / size_of::<Node>() as u64;
        let more = more.min(usize::try_from(room).unwrap_or(usize::MAX));
        if more < FIRST_TABLE / 2 {
            return Err(Full);
        }
        self.nodes.try_reserve_exact(more).map_err(|_| Full)
    }

    #[cold]
    fn grow_table(&mut self) -> Result<(), Full> {
        let larger = self.table.len() * 2;
        if self.memory() + (larger * size_of::<u32>()) as u64 > self.limit {
            // A table that is nearly full still works; one that is full would not end a search.
            return if self.used + 1 < self.table.len() { Ok(()) } else { Err(Full) };
        }
        self.rebuild_table(larger)
    }

    /// Enters all nodes that are in use into a new table.
    fn rebuild_table(&mut self, size: usize) -> Result<(), Full> {
        let mut table = Vec::new();
        table.try_reserve_exact(size).map_err(|_| Full)?;
        table.resize(size, 0);
        let mask = size - 1;
        for (number, &node) in self.nodes.iter().enumerate().skip(2) {
            if node.down.0 as usize != number {
                let mut at = hash(node) as usize & mask;
                while table[at] != 0 {
                    at = (at + 1) & mask;
                }
                table[at] = number as u32;
            }
        }
        self.table = table;
        Ok(())
    }

    /// Gives back all nodes but those that `roots` need; tells which these are.
    pub fn collect(&mut self, roots: impl Iterator<Item = Set>) -> Needed {
        let mut needed = vec![false; self.nodes.len()];
        let mut open: Vec<Set> = roots.filter(|set| !set.is_terminal()).collect();
        while let Some(set) = open.pop() {
            if !std::mem::replace(&mut needed[set.0 as usize], true) {
                let Node { down, right, .. } = self.get(set);
                open.extend([down, right].into_iter().filter(|next| !next.is_terminal()));
            }
        }
        (self.free, self.used) = (Set::EMPTY, 0);
        for number in (2..self.nodes.len()).rev() {
            if needed[number] {
                self.used += 1;
            } else {
                self.nodes[number] = free(number as u32, self.free);
                self.free = Set(number as u32);
            }
        }
        self.table.fill(0);
        let mask = self.table.len() - 1;
        for (number, &node) in self.nodes.iter().enumerate().skip(2).filter(|&(number, _)| needed[number]) {
            let mut at = hash(node) as usize & mask;
            while self.table[at] != 0 {
                at = (at + 1) & mask;
            }
            self.table[at] = number as u32;
        }
        Needed(needed)
    }
}

/// Which nodes survived a collection.
#[derive(Debug)]
pub struct Needed(Vec<bool>);

impl Needed {
    /// Whether the diagram with this number is still there.
    #[inline(always)]
    pub fn has(&self, number: u32) -> bool {
        number <= 1 || self.0[number as usize]
    }
}

#[inline(always)]
fn hash(Node { value, down, right }: Node) -> u64 {
    let word = (u64::from(value) << 32 | u64::from(down.0)) ^ u64::from(right.0).rotate_left(17);
    let mixed = (word ^ word >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lists_are_one_list() {
        let mut nodes = Nodes::new(u64::MAX);
        let mut list = |values: &[u32]| {
            values.iter().rev().fold(Set::EMPTY, |right, &v| nodes.make(v, Set::UNIT, right).unwrap())
        };
        assert_eq!(list(&[1, 5, 9]), list(&[1, 5, 9]));
        assert_ne!(list(&[1, 5]), list(&[1, 9]));
        assert_eq!(nodes.len(), 6);
    }

    #[test]
    fn what_is_not_needed_is_used_again() {
        let mut nodes = Nodes::new(u64::MAX);
        let make = |nodes: &mut Nodes, n: u32| {
            (0..n).rev().fold(Set::EMPTY, |right, v| nodes.make(v, Set::UNIT, right).unwrap())
        };
        let kept = make(&mut nodes, 1000);
        let other = nodes.make(7, kept, Set::EMPTY).unwrap();
        (0..5000).for_each(|n| assert!(nodes.make(n, other, Set::EMPTY).is_ok()));
        let memory = nodes.memory();
        nodes.collect([kept].into_iter());
        assert_eq!(nodes.len(), 1000);
        assert_eq!(make(&mut nodes, 1000), kept);
        (0..5000).for_each(|n| assert!(nodes.make(n, kept, Set::EMPTY).is_ok()));
        assert_eq!((nodes.len(), nodes.memory()), (6000, memory));
    }

    #[test]
    fn the_limit_is_kept() {
        let mut nodes = Nodes::new(100_000);
        let mut list = Set::EMPTY;
        let full = (0..100_000u32).rev().find(|&value| match nodes.make(value, Set::UNIT, list) {
            Ok(longer) => {
                list = longer;
                false
            }
            Err(Full) => true,
        });
        assert!(full.is_some() && nodes.memory() <= 100_000 && nodes.len() > 2_000, "{full:?}");
    }
}
