//! Sets of states that workers put together, and take work from: the concurrent union-find of a parallel
//! search for components.
//!
//! Bloemen, Laarman & van de Pol (PPoPP 2016). A set is a part of a strongly connected component, as far as
//! it is known. It has
//!
//! - a tree of parents, as in every union-find; the root speaks for the set. Of two roots the one with the
//!   smaller number becomes the parent, so parents have smaller numbers and there are no circles. Numbers are
//!   given as states are found: a large set, to which states are added one after another, so keeps its root,
//!   and ways to it stay short;
//! - the workers that have come to it, a bit each;
//! - the marks that were seen on steps inside it;
//! - a *list*: its nodes in a circle, of which those that somebody has done with are *tombs*. Who looks for
//!   work walks along the circle and shortens it where two tombs follow each other. When only tombs are left,
//!   the component is complete: *dead*.
//!
//! **Putting two sets together** takes three locks, all on single words: the root that becomes a child, and
//! one living node of each list, whose next nodes are exchanged, which makes one circle of two. The locks
//! cannot be waited for in a circle: each one who unites is an edge between two sets, owned by the root with
//! the larger number, so these edges form a forest.
//!
//! **What is gathered at a root** (workers, marks) is never lost: who adds something looks afterwards whether
//! the root is still one, and if not adds it again further up; who hangs a root under another does so first
//! and then carries over what it has gathered (`last_word`).
//!
//! A node is a cache line, and zero at first: its own parent, alone in its list, alive.

use crate::Full;
use crate::name::Portable;
use crate::pages::{Line, Pages, prefetch};
use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use crate::sync::spin;

/// A node: the number of a state, from 1 on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
pub struct Node(pub(crate) u32);

/// The most workers that a set can know.
pub const MOST_WORKERS: usize = 64;

/// What a worker learns when it comes to a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// The component is complete: there is nothing to do.
    Dead,
    /// The worker has been in this set before.
    Found,
    /// The worker comes to this set for the first time.
    New,
}

/// Marks seen on steps, a bit each.
pub type Marks = u128;

/// All marks: a set that has them has a cycle with all of them.
pub const ALL: Marks = Marks::MAX;

// The words of a node.
const PARENT: usize = 0;
const LIST: usize = 1;
const WORKERS: usize = 2;
const MARKS: [usize; 2] = [3, 4];
const NAMES: [usize; 2] = [5, 6];

/// The part of a word that names a node; 0 is the node itself.
const NAME: u64 = u32::MAX as u64;
/// A root that somebody is about to hang under another; a node of a list whose next one is about to change.
const LOCKED: u64 = 1 << 32;
/// The root of a complete component.
const DEAD: u64 = 1 << 33;
/// Somebody is done with this node of a list. Nothing changes it but who makes the list shorter.
const TOMB: u64 = 1 << 34;

/// The sets.
#[derive(Debug)]
pub struct UnionFind(Pages);

impl UnionFind {
    /// Sets for nodes that take up to `limit` bytes in all: addresses only, memory is there where there is a
    /// node.
    pub fn new(limit: u64) -> Self {
        let lines = (limit / size_of::<Line>() as u64).clamp(1, NAME) as usize;
        UnionFind(Pages::reserved(lines).unwrap_or_else(|Full| Pages::small(1 << 10)))
    }

    /// Sets for `nodes` nodes and no more.
    pub fn with_nodes(nodes: usize) -> Self {
        UnionFind(Pages::small(nodes + 1))
    }

    /// Begins a node that nobody else knows yet.
    pub fn begin(&self, node: Node, name: impl Portable) -> Result<(), Full> {
        debug_assert!(node.0 > 0, "0 stands for no node");
        let line = self.0.lines().get(node.0 as usize).ok_or(Full)?;
        for (word, part) in NAMES.into_iter().zip(name.to_words()) {
            // Whoever publishes the number of the node (`shared_numbers.rs`) publishes the name with it.
            line.0[word].store(part, Relaxed);
        }
        Ok(())
    }

    /// By what name the state can be called back.
    pub fn name<N: Portable>(&self, node: Node) -> N {
        N::from_words(NAMES.map(|word| self.word(node, word).load(Relaxed)))
    }

    /// Asks for the memory of a node.
    pub fn prefetch(&self, node: Node) {
        prefetch(self.word(node, PARENT));
    }

    #[inline]
    fn word(&self, node: Node, word: usize) -> &AtomicU64 {
        &self.0.lines()[node.0 as usize].0[word]
    }

    /// Whether a node is a root, and what is said of it.
    #[inline]
    fn parent(&self, node: Node) -> (Option<Node>, u64) {
        let word = self.word(node, PARENT).load(Acquire);
        (name(word), word)
    }

    /// The root of a node's set. Makes the way to it shorter.
    pub fn find(&self, node: Node) -> Node {
        let mut at = node;
        loop {
            let (Some(parent), word) = self.parent(at) else { return at };
            debug_assert!(parent < at, "parents have smaller numbers");
            // Path halving: the node skips its parent. Only nodes with parents are written, never roots.
            let Some(above) = self.parent(parent).0 else { return parent };
            debug_assert!(above < parent, "parents have smaller numbers");
            // Whoever writes here writes a node further up: it does not matter who is first.
            let _ = self.word(at, PARENT).compare_exchange(word, u64::from(above.0), AcqRel, Relaxed);
            at = above;
        }
    }

    /// Whether two nodes are in the same set.
    pub fn same_set(&self, a: Node, b: Node) -> bool {
        loop {
            let (a, b) = (self.find(a), self.find(b));
            if a == b {
                return true;
            }
            // A node that is a root now was one when the other root was found.
            if self.parent(a).0.is_none() {
                return false;
            }
        }
    }

    /// What a worker knows of a node's set, if it has been there or need not go.
    pub fn known(&self, node: Node, worker: usize) -> Option<Claim> {
        let root = self.find(node);
        if self.parent(root).1 & DEAD != 0 {
            return Some(Claim::Dead);
        }
        (self.word(root, WORKERS).load(Acquire) >> worker & 1 == 1).then_some(Claim::Found)
    }

    /// A worker comes to a node. (When the answer is *new* and the set is put together with one where the
    /// worker has been at this very moment, the search does not mind: its proof allows that to happen right
    /// afterwards.)
    pub fn make_claim(&self, node: Node, worker: usize) -> Claim {
        debug_assert!(worker < MOST_WORKERS);
        if let Some(claim) = self.known(node, worker) {
            return claim;
        }
        let mut root = self.find(node);
        loop {
            // Added first, then looked whether it was still a root: the other way round it could be lost.
            self.word(root, WORKERS).fetch_or(1 << worker, AcqRel);
            if self.parent(root).0.is_none() {
                return Claim::New;
            }
            root = self.find(root);
        }
    }

    /// Adds marks to those of a node's set. True when it has all of them now.
    pub fn add_marks(&self, node: Node, marks: Marks) -> bool {
        let mut root = self.find(node);
        // Most steps add nothing, and a word that is only read stays in the caches of all.
        if self.marks(root) & marks == marks && self.parent(root).0.is_none() {
            return false;
        }
        loop {
            for (word, part) in MARKS.into_iter().zip(halves(marks)) {
                self.word(root, word).fetch_or(part, AcqRel);
            }
            let all = self.marks(root);
            if self.parent(root).0.is_none() {
                return all == ALL;
            }
            root = self.find(root);
        }
    }

    /// The marks of a root.
    fn marks(&self, root: Node) -> Marks {
        whole(MARKS.map(|word| self.word(root, word).load(Acquire)))
    }

    /// What was gathered in a word of a node that has just got a parent. It is read by changing nothing: who
    /// adds something to the word later comes after this in the order of changes, and so sees the parent;
    /// what was added before is seen here.
    fn last_word(&self, child: Node, word: usize) -> u64 {
        self.word(child, word).fetch_or(0, AcqRel)
    }

    /// Puts the sets of two nodes together. True when the new one has all marks.
    pub fn unite(&self, a: Node, b: Node) -> bool {
        let (child, root) = loop {
            let (one, other) = (self.find(a), self.find(b));
            if one == other {
                return false;
            }
            // The lock succeeds on a root only: a node that has got a parent since is not 0.
            let (child, root) = (one.max(other), one.min(other));
            match self.word(child, PARENT).compare_exchange(0, LOCKED, AcqRel, Acquire) {
                Ok(_) => break (child, root),
                // Nothing can be added to a complete component.
                Err(word) if word & DEAD != 0 => return false,
                Err(_) => spin(),
            }
        };
        // Only tombs: the component is complete, and nothing can be added to it.
        let Some((here, after_here)) = self.lock_list(a) else {
            self.word(child, PARENT).store(0, Release);
            return false;
        };
        let Some((there, after_there)) = self.lock_list(b) else {
            self.word(here, LIST).store(u64::from(after_here.0), Release);
            self.word(child, PARENT).store(0, Release);
            return false;
        };
        debug_assert!(root < child && here != there, "two lists, and no circle of parents");
        // From here on the sets are one. The store also unlocks the child. The lists stay locked until
        // workers and marks are carried over: who walks along the joined circle finds them at the root.
        self.word(child, PARENT).store(u64::from(root.0), Release);
        let workers = self.last_word(child, WORKERS);
        let mut above = root;
        loop {
            // The root of a large set is read all the time, and mostly knows them: then it is not written to.
            if self.word(above, WORKERS).load(Acquire) & workers != workers {
                self.word(above, WORKERS).fetch_or(workers, AcqRel);
            }
            if self.parent(above).0.is_none() {
                break;
            }
            above = self.find(above);
        }
        let complete = self.inherit_marks(root, whole(MARKS.map(|word| self.last_word(child, word))));
        self.word(here, LIST).store(u64::from(after_there.0), Release);
        self.word(there, LIST).store(u64::from(after_here.0), Release);
        complete
    }

    /// Adds marks; true also when nothing is new: the two sets together may have all.
    fn inherit_marks(&self, root: Node, marks: Marks) -> bool {
        self.add_marks(root, marks) || self.marks(self.find(root)) == ALL
    }

    /// Locks a living node of the list of a node's set, and says which one follows it. `None` when there are
    /// only tombs.
    fn lock_list(&self, node: Node) -> Option<(Node, Node)> {
        let mut at = node;
        loop {
            at = self.pick_from_list(at)?;
            let word = self.word(at, LIST).load(Acquire);
            if word & (LOCKED | TOMB) == 0
                && self.word(at, LIST).compare_exchange(word, word | LOCKED, AcqRel, Relaxed).is_ok()
            {
                return Some((at, name(word).unwrap_or(at)));
            }
        }
    }

    /// The word of a node of a list, when nobody is about to change it.
    fn unlocked(&self, node: Node) -> u64 {
        loop {
            let word = self.word(node, LIST).load(Acquire);
            if word & LOCKED == 0 {
                return word;
            }
            spin();
        }
    }

    /// A living node of the list of a node's set, the node itself if it lives. `None` when there are only
    /// tombs.
    pub fn pick_from_list(&self, node: Node) -> Option<Node> {
        let mut at = node;
        loop {
            let word = self.unlocked(at);
            if word & TOMB == 0 {
                return Some(at);
            }
            let next = name(word).unwrap_or(at);
            if next == at {
                return None;
            }
            let word = self.unlocked(next);
            if word & TOMB == 0 {
                return Some(next);
            }
            // Two tombs: the second one is left out from now on. Both lead to the same living node, if there
            // is one.
            let after = name(word).unwrap_or(next);
            // A plain store: a tomb is never locked, and two who shorten here lead to living nodes both.
            self.word(at, LIST).store(TOMB | u64::from(after.0), Release);
            at = after;
        }
    }

    /// Somebody is done with a node. True for the first one.
    pub fn remove_from_list(&self, node: Node) -> bool {
        loop {
            let word = self.unlocked(node);
            if word & TOMB != 0 {
                return false;
            }
            // It fails where somebody has locked the node or joined its list meanwhile; both are over soon.
            if self.word(node, LIST).compare_exchange(word, word | TOMB, AcqRel, Relaxed).is_ok() {
                return true;
            }
        }
    }

    /// The component of a node, of whose list only tombs are left, is complete. True for the first who says
    /// so.
    pub fn mark_dead(&self, node: Node) -> bool {
        debug_assert!(self.pick_from_list(node).is_none(), "a state of the component is not finished");
        loop {
            let root = self.find(node);
            match self.word(root, PARENT).compare_exchange(0, DEAD, AcqRel, Acquire) {
                Ok(_) => return true,
                Err(word) if word & DEAD != 0 => return false,
                Err(_) => spin(),
            }
        }
    }
}

/// The node that a word names.
#[inline]
fn name(word: u64) -> Option<Node> {
    let name = (word & NAME) as u32;
    (name != 0).then_some(Node(name))
}

fn whole([low, high]: [u64; 2]) -> Marks {
    Marks::from(low) | Marks::from(high) << 64
}

fn halves(marks: Marks) -> [u64; 2] {
    [marks as u64, (marks >> 64) as u64]
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::thread;
    use std::sync::Arc;

    /// What two workers do at the same time, then what must be true.
    fn both<R: Send + 'static>(
        begin: fn(&UnionFind),
        one: fn(&UnionFind) -> R,
        other: fn(&UnionFind) -> R,
        check: fn(&UnionFind, R, R),
    ) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.max_branches = 100_000;
        builder.check(move || {
            let sets = Arc::new(UnionFind::with_nodes(4));
            begin(&sets);
            let worker = thread::spawn({
                let sets = Arc::clone(&sets);
                move || other(&sets)
            });
            let mine = one(&sets);
            check(&sets, mine, worker.join().unwrap());
        });
    }

    #[test]
    fn sets_that_two_put_together_are_one() {
        both(
            |_| (),
            |sets| sets.unite(Node(1), Node(2)),
            |sets| sets.unite(Node(3), Node(2)),
            |sets, _, _| {
                assert!(sets.same_set(Node(1), Node(3)));
                // All are in one list.
                for node in [1, 2, 3] {
                    assert!(sets.remove_from_list(Node(node)));
                    assert_eq!(sets.pick_from_list(Node(1)).is_some(), node < 3);
                }
            },
        );
    }

    #[test]
    fn marks_and_claims_are_not_lost_on_the_way_up() {
        both(
            |sets| assert!(!sets.add_marks(Node(2), !1)),
            |sets| sets.unite(Node(1), Node(2)),
            |sets| {
                assert_eq!(sets.make_claim(Node(1), 5), Claim::New);
                sets.add_marks(Node(1), 1)
            },
            |sets, mine, theirs| {
                assert!(mine || theirs, "somebody sees that the set has all marks");
                assert_eq!(sets.known(Node(2), 5), Some(Claim::Found));
            },
        );
    }

    #[test]
    fn a_list_is_not_torn_while_nodes_leave_it() {
        both(
            |sets| assert!(!sets.unite(Node(1), Node(2))),
            |sets| sets.unite(Node(2), Node(3)),
            |sets| sets.remove_from_list(Node(1)) && sets.remove_from_list(Node(2)),
            |sets, _, removed| {
                // With both gone before, there is nothing to be put together: the component was complete.
                let together = sets.same_set(Node(1), Node(3));
                let left = sets.pick_from_list(Node(1));
                assert_eq!((removed, left), (true, together.then_some(Node(3))));
                assert_eq!(sets.pick_from_list(Node(3)), Some(Node(3)));
            },
        );
    }

    #[test]
    fn a_component_dies_once() {
        let finish = |sets: &UnionFind| {
            while let Some(node) = sets.pick_from_list(Node(1)) {
                sets.remove_from_list(node);
            }
            sets.mark_dead(Node(1))
        };
        both(
            |sets| assert!(!sets.unite(Node(1), Node(2))),
            finish,
            finish,
            |sets, mine, theirs| {
                assert!(mine != theirs);
                assert_eq!(sets.known(Node(2), 0), Some(Claim::Dead));
            },
        );
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn picked(sets: &UnionFind, node: u32) -> Option<u32> {
        sets.pick_from_list(Node(node)).map(|node| node.0)
    }

    #[test]
    fn sets_are_put_together_with_their_lists() {
        let sets = UnionFind::with_nodes(6);
        assert!(!sets.same_set(Node(1), Node(2)));
        sets.unite(Node(1), Node(2));
        sets.unite(Node(4), Node(3));
        sets.unite(Node(2), Node(4));
        assert!(sets.same_set(Node(1), Node(3)) && !sets.same_set(Node(1), Node(5)));
        // From anywhere, one comes to every node that is alive.
        for (done, left) in [(1, 3), (3, 2), (2, 1)] {
            assert!(sets.remove_from_list(Node(done)) && !sets.remove_from_list(Node(done)));
            let mut alive = std::collections::BTreeSet::new();
            alive.extend((1..5).filter_map(|node| picked(&sets, node)));
            assert_eq!(alive.len(), left, "after {done}");
        }
        assert_eq!(picked(&sets, 1), Some(4));
        sets.remove_from_list(Node(4));
        assert!((1..5).all(|node| picked(&sets, node).is_none()));
        assert!(sets.mark_dead(Node(2)) && !sets.mark_dead(Node(3)));
        assert_eq!((sets.known(Node(1), 0), sets.known(Node(5), 0)), (Some(Claim::Dead), None));
    }

    #[test]
    fn claims_and_marks_are_those_of_the_whole_set() {
        let sets = UnionFind::with_nodes(4);
        assert_eq!(sets.make_claim(Node(1), 3), Claim::New);
        assert_eq!(sets.make_claim(Node(1), 3), Claim::Found);
        assert_eq!(sets.make_claim(Node(2), 63), Claim::New);
        assert!(!sets.add_marks(Node(1), ALL >> 1));
        assert!(!sets.add_marks(Node(2), ALL >> 2));
        assert!(!sets.unite(Node(1), Node(2)));
        assert_eq!((sets.make_claim(Node(2), 3), sets.make_claim(Node(1), 63)), (Claim::Found, Claim::Found));
        assert_eq!(sets.make_claim(Node(2), 0), Claim::New);
        assert!(!sets.add_marks(Node(3), 1 << 127));
        assert!(sets.unite(Node(3), Node(1)), "all marks");
    }

    /// Workers put random pairs together and take nodes out of lists; at the end the sets are those that one
    /// worker makes.
    #[test]
    fn many_workers_make_the_same_sets() {
        const NODES: u32 = 4000;
        const WORKERS: u64 = 4;
        let pairs: Vec<(u32, u32)> = (0..6 * u64::from(NODES) / 10)
            .map(|i| {
                let mixed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                (1 + (mixed >> 40) as u32 % NODES, 1 + (mixed >> 13) as u32 % NODES)
            })
            .collect();
        let alone = UnionFind::with_nodes(NODES as usize);
        for &(a, b) in &pairs {
            alone.unite(Node(a), Node(b));
        }
        let sets = UnionFind::with_nodes(NODES as usize);
        std::thread::scope(|scope| {
            for worker in 0..WORKERS {
                let (sets, pairs) = (&sets, &pairs);
                scope.spawn(move || {
                    for at in 0..pairs.len() {
                        // All pairs by two workers each, from different ends.
                        let at = if worker % 2 == 0 { at } else { pairs.len() - 1 - at };
                        if at as u64 % 2 == worker / 2 {
                            let (a, b) = pairs[at];
                            sets.make_claim(Node(a), worker as usize);
                            sets.unite(Node(a), Node(b));
                        }
                    }
                });
            }
        });
        for node in 1..NODES {
            assert_eq!(
                sets.same_set(Node(node), Node(node + 1)),
                alone.same_set(Node(node), Node(node + 1)),
                "{node}"
            );
        }
        // Everybody empties the lists: each node is taken out once, and each set becomes dead once.
        let dead: usize = std::thread::scope(|scope| {
            let empty = || {
                let (mut removed, mut dead) = (0, 0);
                for node in 1..=NODES {
                    while let Some(next) = sets.pick_from_list(Node(node)) {
                        removed += usize::from(sets.remove_from_list(next));
                    }
                    dead += usize::from(sets.mark_dead(Node(node)));
                }
                (removed, dead)
            };
            let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(empty)).collect();
            let counts: Vec<(usize, usize)> = workers.into_iter().map(|w| w.join().unwrap()).collect();
            assert_eq!(counts.iter().map(|c| c.0).sum::<usize>(), NODES as usize);
            counts.iter().map(|c| c.1).sum()
        });
        let roots = (1..=NODES).filter(|&node| sets.find(Node(node)) == Node(node)).count();
        assert!(dead == roots && roots > 1000 && roots < 3000, "{dead} {roots}");
    }
}
