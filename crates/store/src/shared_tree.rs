//! Tree compression for several workers.
//!
//! A worker has its own [`Path`], that is, its own place in every tree; nodes and roots are looked up and
//! added by all at the same time ([`Nodes::insert_shared`](crate::nodes::Nodes::insert_shared),
//! [`Compact::insert_shared`](crate::compact::Compact::insert_shared)). A pair has one name and a root is new
//! for one worker alone, so every key is. Only growth and lessons (another order of the bytes) need the
//! [`Tree`] alone. When a lesson has put another family in the place of one, names of the old one can still
//! be unfolded, and tickets are prepared again.

use crate::sync::atomic::Ordering::Relaxed;

use crate::climb::{Climbs, Guide};
use crate::compact::Crowded;
use crate::concurrent::{Common, Hand, Turn};
use crate::nodes::{Group, Nodes, hash};
use crate::numbered::Number;
use crate::numbering::{Pool, Spare};
use crate::path::{Naming, Path};
use crate::roots::UntoldRoots;
use crate::tree::{Family, NO_FAMILY, Root, Roots, Ticket, Tree};
use crate::{Batched, Entry, Evicting, Full, Numbering, Recall, Seen};

/// How many new keys a worker keeps for itself before it asks whether a lesson is due.
const QUANTUM: i64 = 256;

/// An exact set of byte strings that several workers share.
#[derive(Debug)]
pub struct SharedTree {
    tree: Common<Tree>,
    /// Numbers of keys, if they have some.
    numbers: Pool,
}

impl SharedTree {
    /// An empty set that answers [`Full`] rather than use more than `limit` bytes.
    pub fn new(kind: Roots, limit: u64) -> Self {
        SharedTree { tree: Common::new(Tree::new(kind, limit)), numbers: Pool::new(0) }
    }

    /// An empty set of keys with numbers.
    pub fn numbered(kind: Roots, limit: u64) -> Self {
        SharedTree { tree: Common::new(Tree::numbered(kind, limit)), numbers: Pool::new(0) }
    }

    /// Access for one more worker.
    pub fn hand(&self) -> TreeHand<'_> {
        TreeHand {
            turn: Turn::new(&self.tree),
            numbers: &self.numbers,
            spare: Spare::default(),
            paths: Vec::new(),
            parent: NO_FAMILY,
            climbs: Climbs::default(),
            fresh: 0,
            untold: Vec::new(),
        }
    }
}

/// One worker's access to a [`SharedTree`].
#[derive(Debug)]
pub struct TreeHand<'a> {
    turn: Turn<'a, Tree>,
    numbers: &'a Pool,
    spare: Spare,
    /// Where the worker stands in each family.
    paths: Vec<Option<Path>>,
    /// The family of the parent.
    parent: u32,
    /// Keys that were outlined.
    climbs: Climbs,
    /// New keys since it last asked for a lesson.
    fresh: i64,
    /// New keys that families have not been told of. Who takes the place of a family has found all its keys.
    untold: Vec<UntoldRoots>,
}

/// What must be done alone before a key can be looked up.
enum Wanted {
    /// A family for keys of its length.
    Family,
    /// Room for nodes of a join of a family.
    Room { family: u32, join: usize },
}

/// Names and adds nodes while others may do the same.
struct Together<'a> {
    family: u32,
    nodes: &'a [Nodes],
}

impl Naming for Together<'_> {
    type Error = Wanted;

    #[inline(always)]
    fn name(&mut self, join: usize, group: Group) -> Result<u32, Wanted> {
        let family = self.family;
        self.nodes[join].insert_shared(group, hash(group)).map_err(|Crowded| Wanted::Room { family, join })
    }
}

/// Where keys climb while others do the same.
struct Climbing<'a> {
    families: &'a [Family],
    tickets: &'a mut [Ticket],
}

impl Guide for Climbing<'_> {
    type Error = Wanted;

    #[cold]
    fn add(&mut self, family: u32, join: usize, group: Group, hash: u64) -> Result<u32, Wanted> {
        let nodes = &self.families[family as usize].nodes[join];
        nodes.insert_shared(group, hash).map_err(|Crowded| Wanted::Room { family, join })
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

impl TreeHand<'_> {
    /// The family and the root of a key. The path stands there afterwards if `stay`, or if it stood in
    /// another family.
    #[inline]
    fn root(&mut self, key: &[u8], stay: bool) -> Result<(u32, (u32, u32)), Full> {
        loop {
            match self.try_root(key, stay) {
                Ok(found) => return Ok(found),
                Err(wanted) => self.provide(&wanted, key.len())?,
            }
        }
    }

    #[inline]
    fn try_root(&mut self, key: &[u8], stay: bool) -> Result<(u32, (u32, u32)), Wanted> {
        let tree = self.turn.work();
        let number = tree.known_family(key.len()).ok_or(Wanted::Family)?;
        let family = &tree.families[number as usize];
        let path = path(&mut self.paths, number, || Path::new(&family.order));
        let naming = &mut Together { family: number, nodes: &family.nodes };
        let root = if stay || number != self.parent {
            path.go(&family.order, key, naming)?
        } else {
            path.look(&family.order, key, naming)?
        };
        Ok((number, root))
    }

    /// Outlines or prepares keys of this length as long as they belong to the parent's family and nothing
    /// must be done alone. False when there was none.
    #[inline(always)]
    fn outline_siblings<'k>(
        &mut self,
        len: usize,
        keys: &mut std::iter::Peekable<impl Iterator<Item = &'k [u8]>>,
        tickets: &mut Vec<Ticket>,
    ) -> bool {
        let tree = self.turn.work();
        let Some(number) = tree.known_family(len).filter(|&number| number == self.parent) else {
            return false;
        };
        let families = tree.families.as_slice();
        let Family { order, nodes, roots, .. } = &families[number as usize];
        let before = tickets.len();
        match self.paths.get_mut(number as usize) {
            Some(Some(Path::Small(path))) => {
                while let Some(key) = keys.next_if(|key| key.len() == len) {
                    path.outline(number, key, Ticket::unknown(tickets), &mut self.climbs);
                }
            }
            Some(Some(Path::Large(path))) => {
                let naming = &mut Together { family: number, nodes };
                while let Some(&key) = keys.peek().filter(|key| key.len() == len) {
                    let Ok(root) = path.look(order, key, naming) else { break };
                    tickets.push(Ticket::new(number, root, roots.as_ref()));
                    keys.next();
                }
            }
            _ => {}
        }
        tickets.len() > before
    }

    /// Others may have put other families in the place of those in which keys climb: there they begin again.
    #[cold]
    fn climb_elsewhere<'k>(
        &mut self,
        key: impl Fn(usize) -> &'k [u8],
        tickets: &mut [Ticket],
    ) -> Result<(), Full> {
        let families = &self.turn.work().families;
        let lost = self.climbs.lost(|family| families[family as usize].roots.is_none());
        for climb in lost {
            let number = climb.ticket as usize;
            tickets[number] = self.hash(key(number))?;
        }
        Ok(())
    }

    /// Does what must be done alone, unless somebody else has done so meanwhile.
    #[cold]
    fn provide(&mut self, wanted: &Wanted, len: usize) -> Result<(), Full> {
        self.turn.alone(|tree| match *wanted {
            Wanted::Family => tree.family(len).map(drop),
            Wanted::Room { family, join } => {
                let Tree { families, budget, .. } = tree;
                let family = &mut families[family as usize];
                // A family without roots is no longer added to.
                if family.roots.is_none() || family.nodes[join].has_room(1) {
                    return Ok(());
                }
                family.nodes[join].make_room(1, budget)?;
                // All others have stopped: what will soon be needed elsewhere is done as well, if it can be.
                for nodes in &mut family.nodes {
                    let more = nodes.some_more();
                    if !nodes.has_room(more) && nodes.make_room(more, budget).is_err() {
                        break;
                    }
                }
                Ok(())
            }
        })
    }

    /// Makes room for a root, unless somebody else has done so meanwhile.
    #[cold]
    fn make_room(&mut self, root: Root) -> Result<(), Full> {
        let room = |tree: &Tree| {
            let roots = tree.families[root.family as usize].roots.as_ref();
            roots.map(|roots| roots.room(root.halves()))
        };
        let before = self.turn.look(room);
        let threads = self.turn.workers();
        self.turn.alone(|tree| {
            if room(tree) != before {
                return Ok(());
            }
            let Tree { families, budget, .. } = tree;
            let roots = families[root.family as usize].roots.as_mut();
            roots.map_or(Ok(()), |roots| roots.make_room(root.halves(), budget, threads))
        })
    }

    /// Counts a new key; now and then a lesson is due.
    #[inline]
    fn count(&mut self, family: u32) {
        self.fresh += 1;
        if self.fresh < QUANTUM {
            return;
        }
        let fresh = std::mem::take(&mut self.fresh);
        let until = &self.turn.work().families[family as usize].until_lesson;
        if until.fetch_sub(fresh, Relaxed) <= fresh {
            self.lesson(family);
        }
    }

    /// Thinks over the order of a family. Meanwhile the others go on: they stop only while samples are taken,
    /// and while the keys are copied if that is worth while.
    #[cold]
    fn lesson(&mut self, family: u32) {
        let begun = self.turn.alone(|tree| {
            let is_due = tree.families[family as usize].until_lesson.load(Relaxed) <= 0;
            if is_due { tree.begin_lesson(family) } else { None }
        });
        if let Some(lesson) = begun {
            let order = lesson.think();
            self.turn.alone(|tree| tree.end_lesson(lesson, order));
        }
    }
}

/// The path in a family.
#[inline]
fn path(paths: &mut Vec<Option<Path>>, family: u32, new: impl FnOnce() -> Path) -> &mut Path {
    let number = family as usize;
    if paths.len() <= number {
        paths.resize_with(number + 1, || None);
    }
    paths[number].get_or_insert_with(new)
}

/// What a worker has not told a family of.
#[inline]
fn untold(untold: &mut Vec<UntoldRoots>, family: usize) -> &mut UntoldRoots {
    if untold.len() <= family {
        untold.resize_with(family + 1, UntoldRoots::default);
    }
    &mut untold[family]
}

impl Seen for TreeHand<'_> {
    const LOSSLESS: bool = true;

    type Ticket = Ticket;
    type Name = Root;

    #[inline]
    fn hash(&mut self, key: &[u8]) -> Result<Ticket, Full> {
        loop {
            let (family, root) = self.root(key, false)?;
            // The present family of a length has roots; it may have been replaced a moment ago.
            if let Some(roots) = &self.turn.work().families[family as usize].roots {
                let at = roots.probe(root);
                return Ok(Ticket { root: Root::new(family, root), at });
            }
        }
    }

    #[inline]
    fn insert(&mut self, key: &[u8], ticket: Ticket) -> Result<Option<Root>, Full> {
        let mut ticket = ticket;
        loop {
            let Ticket { root, at } = ticket;
            let number = root.family as usize;
            let inserted = match &self.turn.work().families[number].roots {
                Some(roots) => roots.insert_shared(root.halves(), at, untold(&mut self.untold, number)),
                None => {
                    ticket = self.hash(key)?;
                    continue;
                }
            };
            match inserted {
                Ok(true) => {
                    self.count(root.family);
                    return Ok(Some(root));
                }
                Ok(false) => return Ok(None),
                Err(Crowded) => self.make_room(root)?,
            }
        }
    }

    fn contains(&self, key: &[u8], ticket: Ticket) -> bool {
        self.turn.look(|tree| tree.contains(key, ticket))
    }

    /// Exact as soon as the other workers have dropped their hands; until then some of theirs may be missing.
    fn n_keys(&self) -> u64 {
        self.turn.look(|tree| {
            let present = |(number, family): (usize, &Family)| {
                let untold = self.untold.get(number).map_or(0, UntoldRoots::sum);
                family.roots.as_ref().map(|roots| roots.len() + untold)
            };
            tree.families.iter().enumerate().filter_map(present).sum()
        })
    }

    fn memory(&self) -> u64 {
        self.turn.look(Tree::memory)
    }
}

impl Batched for TreeHand<'_> {
    /// When there is no memory for it the path stays where it is: it is only slower from there.
    fn depart(&mut self, key: &[u8]) {
        if let Ok((family, _)) = self.root(key, true) {
            self.parent = family;
        }
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
        while let Some(&first) = keys.peek() {
            if !self.outline_siblings(first.len(), &mut keys, tickets) {
                let Some(key) = keys.next() else { break };
                tickets.push(self.hash(key)?);
            }
        }
        Ok(())
    }

    #[inline]
    fn finish_all<'k>(
        &mut self,
        key: impl Fn(usize) -> &'k [u8],
        tickets: &mut [Ticket],
    ) -> Result<(), Full> {
        while !self.climbs.is_empty() {
            let families = &self.turn.work().families;
            if self.climbs.families().any(|family| families[family as usize].roots.is_none()) {
                self.climb_elsewhere(&key, tickets)?;
                continue;
            }
            if let Err(wanted) = self.climbs.climb(&mut Climbing { families, tickets }) {
                self.provide(&wanted, 0)?;
            }
        }
        Ok(())
    }
}

impl Evicting for TreeHand<'_> {}

impl Recall for TreeHand<'_> {
    fn load(&mut self, name: Root, out: &mut Vec<u8>) {
        let family = &self.turn.work().families[name.family as usize];
        let path = path(&mut self.paths, name.family, || Path::new(&family.order));
        let start = out.len();
        path.recall(&family.order, &family.nodes, name.halves(), out);
        if family.roots.is_some() {
            self.parent = name.family;
        } else {
            self.depart(&out[start..]);
        }
    }
}

/// For trees made by [`SharedTree::numbered`].
impl Numbering for TreeHand<'_> {
    type Number = Number;

    #[inline]
    fn visit(&mut self, key: &[u8], ticket: Ticket) -> Result<Entry<Number, Root>, Full> {
        let mut ticket = ticket;
        let next = self.numbers.next(&mut self.spare)?;
        loop {
            let Ticket { root, at } = ticket;
            let family = root.family as usize;
            let Some(roots) = &self.turn.work().families[family].roots else {
                ticket = self.hash(key)?;
                continue;
            };
            match roots.visit_shared(root.halves(), at, next, untold(&mut self.untold, family)) {
                Ok((number, new)) => {
                    if new {
                        self.spare.given();
                        self.count(root.family);
                    }
                    return Ok(Entry { number: Number(number), name: root, new });
                }
                Err(Crowded) => self.make_room(root)?,
            }
        }
    }

    #[inline]
    fn number(&self, key: &[u8], ticket: Ticket) -> Option<Number> {
        self.turn.look(|tree| tree.number(key, ticket))
    }

    fn find(&self, key: &[u8]) -> Option<Number> {
        self.turn.look(|tree| tree.find(key))
    }

    fn bound(&self) -> u64 {
        self.numbers.bound()
    }
}

impl Hand for TreeHand<'_> {
    fn rest(&mut self) {
        self.turn.rest();
    }
}

impl Drop for TreeHand<'_> {
    fn drop(&mut self) {
        let families = &self.turn.work().families;
        for (family, untold) in families.iter().zip(&mut self.untold) {
            family.roots.iter().for_each(|roots| roots.tell(untold));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Workers walk over the same byte strings, a few bytes at a time, some with a change of length, in
    /// batches and through growth and lessons. Every string must be new for exactly one of them, and its name
    /// must give it back.
    fn walk(kind: Roots, workers: u64, steps: usize) {
        let tree = SharedTree::new(kind, u64::MAX);
        let found: Vec<Vec<(Vec<u8>, Root)>> = std::thread::scope(|scope| {
            let walkers: Vec<_> = (0..workers)
                .map(|worker| {
                    let tree = &tree;
                    scope.spawn(move || walker(tree, worker / 2, steps))
                })
                .collect();
            walkers.into_iter().map(|walker| walker.join().unwrap()).collect()
        });
        let mut hand = tree.hand();
        let mut all = HashMap::new();
        for (key, root) in found.into_iter().flatten() {
            let mut out = Vec::new();
            hand.load(root, &mut out);
            assert_eq!(out, key);
            assert!(hand.knows(&key).unwrap());
            assert!(all.insert(key, root).is_none(), "new for two");
        }
        assert_eq!(hand.n_keys(), all.len() as u64);
        assert!(all.len() > 20_000, "{}", all.len());
        let families = hand.turn.look(|tree| tree.families.len());
        assert!(families > 4, "there were lessons: {families} families");
    }

    /// What a walker with this seed was the first to find.
    fn walker(tree: &SharedTree, seed: u64, steps: usize) -> Vec<(Vec<u8>, Root)> {
        let mut seed = seed + 1;
        let mut below = |n: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed >> 11) as usize % n
        };
        let (mut hand, mut found) = (tree.hand(), Vec::new());
        let mut keys = [vec![0u8; 40], vec![1; 41], vec![2; 70], vec![3; 9]];
        for step in 0..steps {
            let key = &mut keys[step % 4];
            hand.depart(key);
            let mut successors: Vec<Vec<u8>> = Vec::new();
            for _ in 0..1 + below(6) {
                let mut next = key.clone();
                // Two bytes that belong together and lie apart, so that there is something to learn.
                let at = below(key.len() / 2);
                next[at] = below(4) as u8;
                next[at + key.len() / 2] = next[at];
                successors.push(next);
            }
            let tickets: Vec<_> = successors.iter().map(|key| hand.hash(key).unwrap()).collect();
            for (next, ticket) in successors.iter().zip(tickets) {
                let new = hand.insert(next, ticket).unwrap();
                found.extend(new.map(|root| (next.clone(), root)));
                assert!(hand.contains(next, ticket));
            }
            *key = successors.pop().unwrap_or_default();
            if let Some((old, root)) = found.get(below(found.len().max(1))).filter(|_| step % 16 == 0) {
                let mut out = Vec::new();
                hand.load(*root, &mut out);
                assert_eq!(&out, old);
            }
            if step % 8 == 0 {
                hand.rest();
            }
        }
        found
    }

    #[test]
    fn a_key_is_new_for_one_worker_alone() {
        for kind in [Roots::Roomy, Roots::Cleary] {
            walk(kind, 4, 12_000);
        }
    }

    #[test]
    fn the_memory_limit_is_kept() {
        let tree = SharedTree::new(Roots::Cleary, 300_000);
        std::thread::scope(|scope| {
            for worker in 0..3u32 {
                let tree = &tree;
                scope.spawn(move || {
                    let (mut hand, mut n) = (tree.hand(), 0u32);
                    while hand.is_new(&[worker.to_le_bytes(), n.to_le_bytes()].concat()) != Err(Full) {
                        n += 1;
                        hand.rest();
                    }
                });
            }
        });
        let hand = tree.hand();
        assert!(hand.n_keys() > 5_000 && hand.memory() <= 300_000, "{} keys", hand.n_keys());
    }
}
