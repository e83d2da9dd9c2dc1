//! List decision diagrams: sets of vectors of one length, and relations between them.
//!
//! After S. Blom and J. van de Pol (*Symbolic Reachability for Process Algebras with Recursive Data Types*,
//! 2008), as LTSmin and Sylvan use them. A node has a value, a set of tails for that value (`down`), and the
//! rest of its list (`right`), in which values ascend; equal nodes are one node. So equal sets have equal
//! names, and sets that differ little share nearly everything.
//!
//! | file | what |
//! |---|---|
//! | [`nodes`] | nodes without duplicates, and which of them are still needed |
//! | [`cache`] | results of operations, direct-mapped |
//! | [`set`] | union, intersection, difference; building, membership, picking, counting |
//! | [`nearest`] | the vector of a set that differs least from another one |
//! | [`project`] | the values at some levels |
//! | [`widen`](mod@widen) | longer vectors |
//! | [`relation`] | groups: a relation over the levels that they read and write; image and pre-image |
//! | [`saturate`] | the states that are reachable, forwards while relations are learned, and backwards |
//!
//! No operation recurses along a list, so the depth of recursion is the length of vectors. Every operation
//! that may need memory can be refused ([`Full`]); [`Ldd::collect`] gives back what no protected set needs.

pub mod cache;
pub mod nearest;
pub mod nodes;
pub mod project;
pub mod relation;
pub mod saturate;
pub mod set;
pub mod widen;

pub use nodes::{Node, Nodes, Set};
pub use relation::{Access, Group};
pub use saturate::{Groups, Learned, Learner};
pub use set::Vectors;

use cache::Cache;

/// Diagrams are collected when they have this many times as many nodes as after the last collection.
const GROWTH: usize = 2;

/// Bytes of a node with its entry in the table, at the worst.
const NODE_BYTES: u64 = 24;

/// The diagrams may not become larger, or somebody has asked for an end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

/// All diagrams of one computation.
#[derive(Debug)]
pub struct Ldd {
    pub(crate) nodes: Nodes,
    pub(crate) cache: Cache,
    /// Steps of operations under way: see [`set`].
    pub(crate) steps: Vec<set::Step>,
    /// Sets that must survive a collection.
    pub(crate) protected: Vec<Set>,
    /// Fewer nodes than this are not worth a collection.
    few_nodes: usize,
    /// There is memory for a larger cache.
    may_grow_cache: bool,
}

/// Fewer nodes than this are not worth a collection, unless somebody says otherwise.
const FEW_NODES: usize = 1 << 17;

impl Ldd {
    /// No diagrams yet, within `limit` bytes.
    pub fn new(limit: u64) -> Ldd {
        let (nodes, cache) = (Nodes::new(limit), Cache::default());
        Ldd {
            nodes,
            cache,
            steps: Vec::new(),
            protected: Vec::new(),
            few_nodes: FEW_NODES,
            may_grow_cache: true,
        }
    }

    /// Operations end as if there was no more memory when this flag is set.
    pub fn stopped_by(mut self, flag: std::sync::Arc<std::sync::atomic::AtomicBool>) -> Ldd {
        *self.nodes.stop_flag() = flag;
        self
    }

    /// Operations end as if there was no more memory when this many nodes were asked for.
    pub fn limit_work(&mut self, most: u64) {
        self.nodes.limit_work(most);
    }

    /// Whether operations ended because of that.
    pub fn is_worn_out(&self) -> bool {
        self.nodes.is_worn_out()
    }

    /// Saturation rests when this many more nodes were asked for: see [`saturate`].
    pub fn rest_after(&mut self, work: u64) {
        self.nodes.rest_after(work);
    }

    /// The same, if it would not rest before.
    pub fn rest_within(&mut self, work: u64) {
        self.nodes.rest_within(work);
    }

    /// Whether the last saturation has rested, or the next one will at once.
    pub fn rests(&self) -> bool {
        self.nodes.rests()
    }

    /// Whether the flag is set.
    pub fn is_stopped(&self) -> bool {
        self.nodes.is_stopped()
    }

    /// Bytes in use.
    pub fn memory(&self) -> u64 {
        self.nodes.memory() + self.cache.memory()
    }

    /// Nodes in use, those included that a collection would give back.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Keeps a set over collections; to be undone by [`Ldd::unprotect`] in reverse order.
    pub fn protect(&mut self, set: Set) {
        self.protected.push(set);
    }

    /// No longer keeps the sets that were protected last.
    pub fn unprotect(&mut self, number: usize) {
        debug_assert!(number <= self.protected.len());
        self.protected.truncate(self.protected.len() - number);
    }

    /// Gives back all nodes that neither a protected set nor one of `roots` needs. All other sets are void
    /// afterwards.
    pub fn collect(&mut self, roots: &[Set]) {
        debug_assert!(self.steps.is_empty(), "an operation is under way");
        let needed = self.nodes.collect(roots.iter().chain(&self.protected).copied());
        self.cache.retain(&needed);
    }

    /// Saturation collects when there are at least this many nodes; for tests, and for little memory.
    pub fn collect_beyond(&mut self, nodes: usize) {
        self.few_nodes = nodes;
    }

    /// The number of nodes at which it is time to collect again.
    pub fn next_collection(&self) -> usize {
        let most = (self.nodes.limit() / NODE_BYTES) as usize / 2;
        (self.nodes.len() * GROWTH).max(self.few_nodes).min(most.max(self.nodes.len() * 5 / 4))
    }

    /// The list of these values, whose tails were protected last, and no longer are.
    pub(crate) fn assemble(&mut self, values: &[u32]) -> Result<Set, Full> {
        let tails = self.protected.len() - values.len();
        let mut list = Set::EMPTY;
        for (at, &value) in values.iter().enumerate().rev() {
            list = self.nodes.make(value, self.protected[tails + at], list)?;
        }
        self.protected.truncate(tails);
        Ok(list)
    }

    /// The cache keeps step with the nodes.
    #[inline]
    pub(crate) fn remember(&mut self, key: cache::Key, result: Set) {
        if self.cache.is_small_for(self.nodes.len()) && self.may_grow_cache {
            self.grow_cache();
        }
        self.cache.put(key, result);
    }

    /// Twice as many entries, as long as memory is left for nodes.
    #[cold]
    fn grow_cache(&mut self) {
        let before = self.cache.memory();
        match self.nodes.memory() + 2 * before <= self.nodes.limit() / 4 * 3 {
            true => self.cache.grow(),
            false => self.may_grow_cache = false,
        }
        // What the cache has taken is not there for nodes.
        let taken = self.cache.memory() - before;
        self.nodes.set_limit(self.nodes.limit().saturating_sub(taken));
    }
}
