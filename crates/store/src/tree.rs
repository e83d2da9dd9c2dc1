//! Tree compression (Blom, Lisser, van de Pol, Weber 2009; Laarman, van de Pol, Weber 2011).
//!
//! A key is cut into words of 32 bits. Up to four words are joined and replaced by the name of an inner node
//! ([`Nodes`]), the names are joined again, and so on until two numbers are left: the *root*. (The papers
//! join two; [`crate::order`] says why four.) States that differ in one word share all nodes but those on one
//! path, so a state costs little more than its root. Roots are kept in a set of their own ([`RootSet`]),
//! quotiented to the bits that names really need, with much room (`tree`) or little (`cleary`).
//!
//! **Incremental.** One key after another differs little in a search. A [`Path`] remembers the tree of the
//! parent, and only nodes above what changed are looked up.
//!
//! **Names.** A root names its key: it can be unfolded, because nodes never move. So tickets and names are
//! the same thing, and there is no array of states beside the set.
//!
//! Keys of one length are a *family*: they have one tree shape, one set of roots and nodes of their own.

use std::sync::atomic::AtomicI64;

use crate::budget::Budget;
use crate::climb::{Climbs, Guide};
use crate::learn;
use crate::nodes::{Group, Nodes};
use crate::numbered::Number;
use crate::order::Order;
use crate::path::{Alone, Path};
use crate::roots::{Location, RootSet};
use crate::{Batched, Entry, Evicting, Full, Numbering, Recall, Seen};

pub use crate::roots::Kind as Roots;

/// How many keys of a family there are when its order is first thought over.
const FIRST_LESSON: u64 = 8_000;
/// How many times more there are at each later time.
const NEXT_LESSON: u64 = 8;
/// Nodes for a thousand keys that are few: nothing better is looked for.
const FEW_NODES: u64 = 60;
/// Nodes for a thousand keys that are few where there are many keys: to copy them takes as long as to find a
/// third of them, so that only a much better order is worth it.
const FEW_NODES_OF_MANY: u64 = 125;
/// Keys that are many.
const MANY: u64 = 250_000;
/// Roots that are copied together, so that the memory where they belong is waited for together.
const COPIED: usize = 32;
/// No family.
pub(crate) const NO_FAMILY: u32 = u32::MAX;

/// The root of a key's tree, which is all that is needed to find the key or to give it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Root {
    pub(crate) family: u32,
    left: u32,
    right: u32,
}

impl Root {
    pub(crate) fn new(family: u32, (left, right): (u32, u32)) -> Self {
        Root { family, left, right }
    }

    pub(crate) fn halves(self) -> (u32, u32) {
        (self.left, self.right)
    }
}

/// A prepared key: its root, and where that is to be looked for.
#[derive(Clone, Copy, Debug)]
pub struct Ticket {
    pub(crate) root: Root,
    pub(crate) at: Location,
}

impl Ticket {
    /// Adds a ticket for a key whose root is not known yet; its number.
    #[inline(always)]
    pub(crate) fn unknown(tickets: &mut Vec<Ticket>) -> u32 {
        tickets.push(Ticket { root: Root::new(NO_FAMILY, (0, 0)), at: Location::default() });
        tickets.len() as u32 - 1
    }

    /// The ticket of a key with this root, the memory of which is asked for.
    #[inline(always)]
    pub(crate) fn new(family: u32, root: (u32, u32), roots: Option<&RootSet>) -> Self {
        let at = roots.map_or(Location::default(), |roots| roots.probe(root));
        Ticket { root: Root::new(family, root), at }
    }
}

/// Where keys climb, for who has the tree alone.
struct Climbing<'a> {
    families: &'a mut [Family],
    budget: &'a mut Budget,
    tickets: &'a mut [Ticket],
}

impl Guide for Climbing<'_> {
    type Error = Full;

    #[cold]
    fn add(&mut self, family: u32, join: usize, group: Group, hash: u64) -> Result<u32, Full> {
        self.families[family as usize].nodes[join].insert(group, hash, self.budget)
    }

    #[inline(always)]
    fn families(&self) -> &[Family] {
        self.families
    }

    #[inline(always)]
    fn ticket(&mut self, number: u32) -> &mut Ticket {
        &mut self.tickets[number as usize]
    }
}

/// An exact set of byte strings.
#[derive(Debug)]
pub struct Tree {
    kind: Roots,
    /// Keys have numbers.
    numbered: bool,
    pub(crate) families: Vec<Family>,
    /// Where the worker stands in each family.
    paths: Vec<Path>,
    /// The present family of each length.
    by_length: Vec<u32>,
    /// The family of the parent.
    parent: u32,
    /// Keys that were outlined.
    climbs: Climbs,
    pub(crate) budget: Budget,
    len: u64,
    first_lesson: u64,
}

/// All keys of one length.
#[derive(Debug)]
pub(crate) struct Family {
    pub order: Order,
    /// One table for every join.
    pub nodes: Vec<Nodes>,
    /// `None` when another family has taken the place of this one, which then only unfolds old names.
    pub roots: Option<RootSet>,
    /// New keys until its order is thought over.
    pub until_lesson: AtomicI64,
}

impl Family {
    fn new(
        (kind, numbered): (Roots, bool),
        order: Order,
        until_lesson: u64,
        budget: &mut Budget,
    ) -> Result<Self, Full> {
        budget.take(order.memory() + Path::memory(&order) + size_of::<Family>() + size_of::<Path>())?;
        let mut nodes = budget.reserved(order.n_inner())?;
        for _ in 0..order.n_inner() {
            nodes.push(Nodes::new(budget)?);
        }
        let roots = if numbered { RootSet::numbered(kind, budget)? } else { RootSet::new(kind, budget)? };
        Ok(Family { order, nodes, roots: Some(roots), until_lesson: AtomicI64::new(until_lesson as i64) })
    }

    /// Keeps only what is needed to unfold names.
    fn retire(&mut self, budget: &mut Budget) {
        self.nodes.iter_mut().for_each(|nodes| nodes.freeze(budget));
        self.roots.take().into_iter().for_each(|roots| roots.release(budget));
    }
}

/// What is needed to think over the order of a family: for that the tree need not stand still.
#[derive(Debug)]
pub(crate) struct Lesson {
    family: u32,
    order: Order,
    /// Some keys, one behind the other.
    samples: Vec<u8>,
    keys: u64,
    /// How many nodes the keys need.
    nodes: usize,
    /// Where the worker stood that is alone with the tree.
    parent: Vec<u8>,
    /// Bytes that are booked for it.
    scratch: usize,
}

impl Lesson {
    /// A better order, if there is one.
    pub(crate) fn think(&self) -> Option<Order> {
        learn::better(&self.order, &self.samples, self.keys, self.nodes)
    }
}

impl Tree {
    /// An empty set that answers [`Full`] rather than use more than `limit` bytes.
    pub fn new(kind: Roots, limit: u64) -> Self {
        Tree {
            kind,
            numbered: false,
            families: Vec::new(),
            paths: Vec::new(),
            by_length: Vec::new(),
            parent: NO_FAMILY,
            climbs: Climbs::default(),
            budget: Budget::new(limit),
            len: 0,
            first_lesson: FIRST_LESSON,
        }
    }

    /// An empty set of keys with numbers.
    pub fn numbered(kind: Roots, limit: u64) -> Self {
        Tree { numbered: true, ..Tree::new(kind, limit) }
    }

    /// How many inner nodes there are.
    pub fn n_nodes(&self) -> usize {
        self.families.iter().flat_map(|family| &family.nodes).map(Nodes::len).sum()
    }

    /// The present family of keys of this length, if there is one.
    #[inline]
    pub(crate) fn known_family(&self, len: usize) -> Option<u32> {
        self.by_length.get(len).copied().filter(|&family| family != NO_FAMILY)
    }

    /// The present family of keys of this length.
    #[inline]
    pub(crate) fn family(&mut self, len: usize) -> Result<u32, Full> {
        match self.by_length.get(len) {
            Some(&family) if family != NO_FAMILY => Ok(family),
            _ => self.add_family(len, Order::plain(len)),
        }
    }

    #[cold]
    fn add_family(&mut self, len: usize, order: Order) -> Result<u32, Full> {
        let number = u32::try_from(self.families.len()).ok().filter(|&n| n < NO_FAMILY).ok_or(Full)?;
        if self.by_length.len() <= len {
            self.budget.take((len + 1 - self.by_length.len()) * 4)?;
            self.by_length.resize(len + 1, NO_FAMILY);
        }
        // A family that cannot be made must cost nothing.
        let (path, before) = (Path::new(&order), self.budget);
        match Family::new((self.kind, self.numbered), order, self.first_lesson, &mut self.budget) {
            Ok(family) => self.families.push(family),
            Err(full) => {
                self.budget = before;
                return Err(full);
            }
        }
        self.paths.push(path);
        self.by_length[len] = number;
        Ok(number)
    }

    /// Looks for a better order of a family, and lets a new family take its place if there is one. When there
    /// is no memory for that all stays as it is.
    #[cold]
    pub(crate) fn lesson(&mut self, number: u32) {
        if let Some(lesson) = self.begin_lesson(number) {
            let order = lesson.think();
            self.end_lesson(lesson, order);
        }
    }

    /// Takes samples, if it is worth while to look for a better order. The next lesson is far away from now
    /// on.
    pub(crate) fn begin_lesson(&mut self, number: u32) -> Option<Lesson> {
        let family = &mut self.families[number as usize];
        let roots = family.roots.as_ref()?;
        let (keys, nodes) = (roots.len(), family.nodes.iter().map(Nodes::len).sum());
        family.until_lesson = AtomicI64::new((keys * (NEXT_LESSON - 1)) as i64);
        let few = if keys < MANY { FEW_NODES } else { FEW_NODES_OF_MANY };
        // With few nodes for each key another order could save little.
        if nodes as u64 * 1000 <= keys * few {
            return None;
        }
        let scratch = keys as usize * size_of::<(u32, u32)>() + learn::memory(keys, family.order.len());
        // What is thought with counts as well, until the lesson ends.
        self.budget.take(scratch).ok()?;
        let roots = roots.to_vec();
        let parent = self.paths[number as usize].key();
        let samples = self.samples(number, &roots);
        let order = self.families[number as usize].order.clone();
        Some(Lesson { family: number, order, samples, keys, nodes, parent, scratch })
    }

    /// Makes use of what was learned. There may be more keys than when the lesson began.
    pub(crate) fn end_lesson(&mut self, lesson: Lesson, order: Option<Order>) {
        let Lesson { family: number, parent, scratch, .. } = lesson;
        let roots = self.families[number as usize].roots.as_ref();
        if let Some((order, roots)) = order.zip(roots) {
            // One after another they differ little then.
            let mut roots = roots.to_vec();
            roots.sort_unstable();
            self.replace(number, order, &roots);
        }
        if self.parent == number {
            self.depart(&parent);
        }
        self.budget.give(scratch);
    }

    /// Some keys of a family, one behind the other.
    fn samples(&mut self, number: u32, roots: &[(u32, u32)]) -> Vec<u8> {
        let Family { order, nodes, .. } = &self.families[number as usize];
        let path = &mut self.paths[number as usize];
        let n = learn::n_samples(roots.len() as u64);
        let mut samples = Vec::with_capacity(n * order.len());
        for &root in roots.iter().step_by(roots.len().div_ceil(n).max(1)) {
            path.recall(order, nodes, root, &mut samples);
        }
        samples
    }

    /// Lets a family with another order take the place of a family with these roots.
    fn replace(&mut self, old: u32, order: Order, roots: &[(u32, u32)]) {
        let (len, before) = (order.len(), self.budget);
        let Ok(new) = self.add_family(len, order) else { return };
        // Names of old keys stay valid: a retired family keeps its nodes, and gives back its roots only.
        if self.copy(old, new, roots).is_ok() {
            let until = *self.families[old as usize].until_lesson.get_mut();
            *self.families[new as usize].until_lesson.get_mut() = until;
            self.families[old as usize].retire(&mut self.budget);
        } else {
            self.families.truncate(new as usize);
            self.paths.truncate(new as usize);
            self.by_length[len] = old;
            self.budget = before;
        }
    }

    /// Copies keys to a newer family.
    fn copy(&mut self, old: u32, new: u32, roots: &[(u32, u32)]) -> Result<(), Full> {
        let (old, new) = (old as usize, new as usize);
        let (families, newer) = self.families.split_at_mut(new);
        let (paths, newer_paths) = self.paths.split_at_mut(new);
        let (Some(to), Some(to_path)) = (newer.first_mut(), newer_paths.first_mut()) else {
            return Err(Full);
        };
        let (Some(to_roots), Some(from_roots)) = (&mut to.roots, &families[old].roots) else {
            return Err(Full);
        };
        let (mut key, mut copies) = (Vec::new(), Vec::with_capacity(COPIED));
        for roots in roots.chunks(COPIED) {
            for &root in roots {
                key.clear();
                paths[old].recall(&families[old].order, &families[old].nodes, root, &mut key);
                // A key keeps its number, which searches have noted.
                let number =
                    from_roots.is_numbered().then(|| from_roots.number(root, from_roots.locate(root)));
                let naming = &mut Alone { nodes: &mut to.nodes, budget: &mut self.budget };
                let root = to_path.go(&to.order, &key, naming)?;
                copies.push((root, to_roots.probe(root), number.flatten()));
            }
            for (root, at, number) in copies.drain(..) {
                match number {
                    Some(number) => drop(to_roots.visit(root, at, number, &mut self.budget)?),
                    None => drop(to_roots.insert(root, at, &mut self.budget)?),
                }
            }
        }
        Ok(())
    }

    /// Inserts a key that was prepared for a family which another one has replaced since.
    #[cold]
    fn insert_again(&mut self, key: &[u8]) -> Result<Option<Root>, Full> {
        let ticket = self.hash(key)?;
        self.insert(key, ticket)
    }

    /// Inserts the key for which a ticket was prepared.
    #[inline(always)]
    fn insert_lazily<'k>(
        &mut self,
        key: impl FnOnce() -> &'k [u8],
        ticket: Ticket,
    ) -> Result<Option<Root>, Full> {
        let family = &mut self.families[ticket.root.family as usize];
        let Some(roots) = &mut family.roots else {
            return self.insert_again(key());
        };
        if !roots.insert(ticket.root.halves(), ticket.at, &mut self.budget)? {
            return Ok(None);
        }
        self.count(ticket.root.family);
        Ok(Some(ticket.root))
    }

    /// Counts a new key of a family; now and then a lesson is due.
    #[inline(always)]
    fn count(&mut self, family: u32) {
        self.len += 1;
        let until_lesson = self.families[family as usize].until_lesson.get_mut();
        *until_lesson -= 1;
        if *until_lesson == 0 {
            self.lesson(family);
        }
    }

    /// Whether a key that was prepared is there, and what is known of its root then.
    #[inline(always)]
    fn look<R>(
        &self,
        key: &[u8],
        ticket: Ticket,
        of: impl Fn(&RootSet, (u32, u32), Location) -> R,
    ) -> Option<R> {
        if let Some(roots) = &self.families[ticket.root.family as usize].roots {
            return Some(of(roots, ticket.root.halves(), ticket.at));
        }
        self.look_at_once(key, of)
    }

    /// Looks up a key that was not prepared. `None` when a node of its tree is not there.
    #[cold]
    fn look_at_once<R>(&self, key: &[u8], of: impl Fn(&RootSet, (u32, u32), Location) -> R) -> Option<R> {
        let Family { order, nodes, roots, .. } = &self.families[self.known_family(key.len())? as usize];
        let root = Path::find(order, nodes, key)?;
        roots.as_ref().map(|roots| of(roots, root, roots.locate(root)))
    }

    /// Stands at `key`, from where its successors are looked up.
    fn stand(&mut self, key: &[u8]) -> Result<(), Full> {
        let number = self.family(key.len())?;
        let Family { order, nodes, .. } = &mut self.families[number as usize];
        let naming = &mut Alone { nodes, budget: &mut self.budget };
        self.paths[number as usize].go(order, key, naming)?;
        self.parent = number;
        Ok(())
    }
}

impl Seen for Tree {
    const LOSSLESS: bool = true;

    type Ticket = Ticket;
    type Name = Root;

    #[inline]
    fn hash(&mut self, key: &[u8]) -> Result<Ticket, Full> {
        let number = self.family(key.len())?;
        let Family { order, nodes, roots, .. } = &mut self.families[number as usize];
        let path = &mut self.paths[number as usize];
        let naming = &mut Alone { nodes, budget: &mut self.budget };
        let root =
            if number == self.parent { path.look(order, key, naming)? } else { path.go(order, key, naming)? };
        Ok(Ticket::new(number, root, roots.as_ref()))
    }

    #[inline(always)]
    fn insert(&mut self, key: &[u8], ticket: Ticket) -> Result<Option<Root>, Full> {
        self.insert_lazily(|| key, ticket)
    }

    fn contains(&self, key: &[u8], ticket: Ticket) -> bool {
        self.look(key, ticket, RootSet::contains).unwrap_or(false)
    }

    fn n_keys(&self) -> u64 {
        self.len
    }

    fn memory(&self) -> u64 {
        self.budget.used()
    }
}

impl Batched for Tree {
    /// When there is no memory for it the path stays where it is: it is only slower from there.
    fn depart(&mut self, key: &[u8]) {
        let _ = self.stand(key);
    }

    /// Most keys belong to the parent's family: what is known of that is looked up once. In small trees they
    /// are only outlined.
    #[inline]
    fn plan_all<'k>(
        &mut self,
        keys: impl ExactSizeIterator<Item = &'k [u8]>,
        tickets: &mut Vec<Ticket>,
    ) -> Result<(), Full> {
        if tickets.is_empty() {
            self.climbs.clear();
        }
        tickets.reserve(keys.len());
        let mut keys = keys.peekable();
        while let Some(first) = keys.peek() {
            let len = first.len();
            let number = self.family(len)?;
            let siblings = std::iter::from_fn(|| keys.next_if(|key| key.len() == len));
            if number != self.parent {
                for key in siblings {
                    tickets.push(self.hash(key)?);
                }
                continue;
            }
            let Tree { families, paths, climbs, budget, .. } = self;
            match &mut paths[number as usize] {
                Path::Small(path) => {
                    for key in siblings {
                        path.outline(number, key, Ticket::unknown(tickets), climbs);
                    }
                }
                Path::Large(path) => {
                    let Family { order, nodes, roots, .. } = &mut families[number as usize];
                    for key in siblings {
                        let root = path.look(order, key, &mut Alone { nodes, budget })?;
                        tickets.push(Ticket::new(number, root, roots.as_ref()));
                    }
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn finish_all<'k>(
        &mut self,
        _key: impl Fn(usize) -> &'k [u8],
        tickets: &mut [Ticket],
    ) -> Result<(), Full> {
        let Tree { families, budget, climbs, .. } = self;
        climbs.climb(&mut Climbing { families, budget, tickets })
    }

    /// What a key was is only needed if another family has taken the place of its own.
    #[inline]
    fn insert_all<'k>(
        &mut self,
        mut keys: impl ExactSizeIterator<Item = &'k [u8]>,
        tickets: &mut [Ticket],
        new: &mut Vec<(u32, Root)>,
    ) -> Result<(), Full> {
        new.try_reserve(tickets.len()).map_err(|_| Full)?;
        let mut passed = 0;
        for (at, &mut ticket) in tickets.iter_mut().enumerate() {
            let mut key = || {
                let key = keys.nth(at - passed).unwrap_or_default();
                passed = at + 1;
                key
            };
            if let Some(name) = self.insert_lazily(&mut key, ticket)? {
                new.push((at as u32, name));
            }
        }
        Ok(())
    }
}

impl Evicting for Tree {}

impl Recall for Tree {
    fn load(&mut self, name: Root, out: &mut Vec<u8>) {
        let Family { order, nodes, roots, .. } = &self.families[name.family as usize];
        let path = &mut self.paths[name.family as usize];
        let start = out.len();
        path.recall(order, nodes, name.halves(), out);
        if roots.is_some() {
            self.parent = name.family;
        } else {
            self.depart(&out[start..]);
        }
    }
}

/// For trees made by [`Tree::numbered`].
impl Numbering for Tree {
    type Number = Number;

    #[inline]
    fn visit(&mut self, key: &[u8], ticket: Ticket) -> Result<Entry<Number, Root>, Full> {
        let Some(roots) = &mut self.families[ticket.root.family as usize].roots else {
            let ticket = self.hash(key)?;
            return self.visit(key, ticket);
        };
        let next = u32::try_from(self.len).map_err(|_| Full)?;
        let (number, new) = roots.visit(ticket.root.halves(), ticket.at, next, &mut self.budget)?;
        if new {
            self.count(ticket.root.family);
        }
        Ok(Entry { number: Number(number), name: ticket.root, new })
    }

    #[inline]
    fn number(&self, key: &[u8], ticket: Ticket) -> Option<Number> {
        self.look(key, ticket, RootSet::number).flatten().map(Number)
    }

    fn find(&self, key: &[u8]) -> Option<Number> {
        self.look_at_once(key, RootSet::number).flatten().map(Number)
    }

    fn bound(&self) -> u64 {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Random walks over byte strings that change a few bytes at a time, some with a change of length,
    /// compared with a set of the standard library. Tickets are held for a while; names are given back at
    /// random moments.
    fn shadow(kind: Roots, steps: usize, longest: usize, seed: u64) -> Tree {
        let mut seed = seed;
        let mut below = |n: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed >> 11) as usize % n
        };
        let mut tree = Tree { first_lesson: 50, ..Tree::new(kind, u64::MAX) };
        let mut model = HashSet::new();
        let mut names: Vec<(Root, Vec<u8>)> = Vec::new();
        let mut held: Vec<(Ticket, Vec<u8>)> = Vec::new();
        let mut key = vec![0u8; longest / 2];
        for _ in 0..steps {
            match below(20) {
                0 => key.resize(below(longest + 1), 1),
                1 => key.iter_mut().for_each(|byte| *byte = 0),
                2 => tree.depart(&key),
                3 if !names.is_empty() => {
                    let (name, known) = &names[below(names.len())];
                    key.clear();
                    tree.load(*name, &mut key);
                    assert_eq!(&key, known);
                }
                _ if key.is_empty() => {}
                _ => {
                    let at = below(key.len());
                    key[at] = below(3) as u8;
                }
            }
            held.push((tree.hash(&key).unwrap(), key.clone()));
            if below(held.len() + 1) >= 8 {
                for (mut ticket, key) in held.drain(..) {
                    tree.probe(&mut ticket);
                    assert_eq!(tree.contains(&key, ticket), model.contains(&key));
                    let name = tree.insert(&key, ticket).unwrap();
                    assert_eq!(name.is_some(), model.insert(key.clone()));
                    names.extend(name.map(|name| (name, key)));
                    assert_eq!(tree.n_keys(), model.len() as u64);
                }
            }
        }
        assert!(model.iter().all(|key| tree.knows(key) == Ok(true)));
        for (name, key) in names.iter().rev() {
            let mut out = vec![42];
            tree.load(*name, &mut out);
            assert_eq!(&out[1..], key);
        }
        tree
    }

    #[test]
    fn agrees_with_the_standard_library() {
        for kind in [Roots::Roomy, Roots::Cleary] {
            for (i, longest) in [0, 1, 3, 4, 5, 8, 9, 13, 40, 77, 200].into_iter().enumerate() {
                shadow(kind, 12_000, longest, 7 + i as u64);
            }
        }
    }

    #[test]
    fn better_orders_take_over_and_old_names_stay() {
        for kind in [Roots::Roomy, Roots::Cleary] {
            // Bytes far apart that say the same: the plain order is bad for them.
            let key = |i: u32| -> Vec<u8> {
                (0..64).map(|at| (i / 7u32.pow(at % 7) % 7) as u8 + at as u8 % 2).collect()
            };
            let mut tree = Tree { first_lesson: 1000, ..Tree::new(kind, u64::MAX) };
            let mut plain = Tree { first_lesson: u64::MAX, ..Tree::new(kind, u64::MAX) };
            let held: Vec<Ticket> = (0..40_000).map(|i| tree.hash(&key(i)).unwrap()).collect();
            let mut names = Vec::new();
            for i in 0..40_000 {
                assert_eq!(plain.is_new(&key(i)), Ok(true));
                assert!(!tree.contains(&key(i), held[i as usize]));
                names.push(tree.insert(&key(i), held[i as usize]).unwrap().unwrap());
                assert!(tree.contains(&key(i), held[i as usize]));
            }
            assert!(tree.families.len() > 1, "an order was learned");
            assert!(tree.families[0].roots.is_none());
            let present = tree.families.last().unwrap();
            let nodes: usize = present.nodes.iter().map(Nodes::len).sum();
            assert!(nodes * 4 < plain.n_nodes(), "{nodes} of {}", plain.n_nodes());
            for (i, &name) in (0..).zip(&names) {
                let mut out = Vec::new();
                tree.load(name, &mut out);
                assert_eq!(out, key(i));
                assert_eq!(tree.insert(&key(i), held[i as usize]), Ok(None));
                assert_eq!(tree.is_new(&key(i)), Ok(false));
            }
            assert_eq!(tree.n_keys(), 40_000);
        }
    }

    #[test]
    fn the_books_are_right() {
        let mut tree = shadow(Roots::Cleary, 30_000, 60, 5);
        assert!(tree.families.iter().any(|family| family.roots.is_none()), "nothing was learned");
        for family in &mut tree.families {
            family.retire(&mut tree.budget);
            let (order, nodes) = (family.order.memory() + Path::memory(&family.order), &family.nodes);
            let fixed =
                order + size_of::<Family>() + size_of::<Path>() + nodes.capacity() * size_of::<Nodes>();
            tree.budget.give(fixed + nodes.iter().map(|nodes| nodes.memory() as usize).sum::<usize>());
        }
        assert_eq!(tree.memory(), tree.by_length.len() as u64 * 4);
    }

    #[test]
    fn trailing_zeros_are_part_of_a_key() {
        let mut tree = Tree::new(Roots::Cleary, u64::MAX);
        for len in 0..9 {
            assert_eq!(tree.is_new(&vec![0; len]), Ok(true));
            assert_eq!(tree.is_new(&vec![0; len]), Ok(false));
        }
    }

    #[test]
    fn neighbours_cost_little() {
        for (kind, most) in [(Roots::Roomy, 8.0), (Roots::Cleary, 7.0)] {
            let mut tree = Tree::new(kind, u64::MAX);
            for i in 0..1_000_000u32 {
                let mut key = [7u8; 64];
                (0..5).for_each(|digit| key[digit * 13] = (i / 16u32.pow(digit as u32) % 16) as u8);
                tree.is_new(&key).unwrap();
            }
            let bytes = tree.memory() as f64 / tree.n_keys() as f64;
            assert!(bytes < most, "{kind:?}: {bytes} bytes a state, {} nodes", tree.n_nodes());
        }
    }

    #[test]
    fn the_limit_is_kept_and_nothing_is_lost() {
        for kind in [Roots::Roomy, Roots::Cleary] {
            let limit = 2_000_000;
            let mut tree = Tree { first_lesson: 500, ..Tree::new(kind, limit) };
            let key =
                |i: u32| [i.to_le_bytes(), (i * 7).to_le_bytes(), [1; 4], (i % 50).to_le_bytes()].concat();
            let mut n = 0;
            while tree.is_new(&key(n)).is_ok() {
                n += 1;
                assert!(tree.memory() <= limit);
            }
            assert!(n > 10_000, "{n}");
            assert_eq!(tree.n_keys(), u64::from(n));
            for i in 0..n {
                let ticket = tree.hash(&key(i)).unwrap();
                assert!(tree.contains(&key(i), ticket));
            }
        }
    }
}
