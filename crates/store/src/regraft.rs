//! Improves a tree by moving single subtrees to other places (*subtree pruning and regrafting*, as in the
//! search for phylogenetic trees: Swofford & Olsen 1990).
//!
//! Greedy joining is near-sighted: it leaves things for the end that fit nowhere. A move takes a subtree out
//! and joins it with another one elsewhere; only the nodes between the two places change. Moves are made as
//! long as one lowers the estimated number of nodes, or until enough were tried that looking for more does
//! not pay.

use crate::learn::{Column, Joiner, agglomerate};

/// Moves that can gain less than this part of all nodes are not tried.
const NEGLIGIBLE: f64 = 0.01;
/// No vertex.
const NONE: usize = usize::MAX;

/// A tree over some subtrees that are taken as they are.
#[derive(Debug)]
pub struct Graft {
    /// What those subtrees are called outside.
    tops: Vec<u32>,
    /// The first name for joins.
    first: u32,
    /// Both parts of every vertex, [`NONE`] for tops.
    parts: Vec<[usize; 2]>,
    up: Vec<usize>,
    columns: Vec<Column>,
    /// Estimated nodes of every vertex; none for tops and the root.
    costs: Vec<f64>,
    root: usize,
}

impl Graft {
    /// The greedy tree over these subtrees: always the two are joined whose union takes the fewest values.
    /// Joins will be called `first` and so on.
    pub fn new(tops: Vec<(u32, Column)>, first: u32, joiner: &mut Joiner) -> Self {
        let (tops, mut columns): (Vec<u32>, Vec<Column>) = tops.into_iter().unzip();
        let mut parts = vec![[NONE; 2]; tops.len()];
        let mut items: Vec<(usize, Column)> = columns.iter().cloned().enumerate().collect();
        let score = |left: &(usize, Column), right: &(usize, Column), joiner: &mut Joiner| {
            f64::from(joiner.count(&left.1, &right.1))
        };
        agglomerate(&mut items, joiner, score, |left, right, joiner| {
            parts.push([left.0, right.0]);
            columns.push(joiner.join(&left.1, &right.1));
            (parts.len() - 1, columns[parts.len() - 1].clone())
        });
        let (n, root) = (parts.len(), parts.len().saturating_sub(1));
        let mut graft = Graft { tops, first, parts, up: vec![NONE; n], columns, costs: vec![0.0; n], root };
        for vertex in graft.tops.len()..n {
            let [left, right] = graft.parts[vertex];
            graft.up[left] = vertex;
            graft.up[right] = vertex;
            graft.costs[vertex] = graft.cost(vertex);
        }
        graft
    }

    fn cost(&self, vertex: usize) -> f64 {
        match vertex {
            _ if vertex == self.root || vertex < self.tops.len() => 0.0,
            _ => self.columns[vertex].support(),
        }
    }

    /// Moves subtrees until nothing helps or `tries` joins have been computed.
    pub fn improve(&mut self, joiner: &mut Joiner, tries: usize) {
        let limit = joiner.tries + tries;
        let mut moved = true;
        while moved {
            moved = false;
            for from in 0..self.parts.len() {
                for to in 0..self.parts.len() {
                    if joiner.tries >= limit {
                        return;
                    }
                    moved |= self.may_move(from, to) && self.try_move(from, to, joiner);
                }
            }
        }
    }

    /// The tree as pairs of names, parts before what they are a part of.
    pub fn pairs(&self) -> Vec<(u32, u32)> {
        let mut names = self.tops.clone();
        names.resize(self.parts.len(), 0);
        let mut pairs = Vec::new();
        let mut open = vec![(self.root, false)];
        while let Some((vertex, parts_named)) = open.pop() {
            if vertex < self.tops.len() || self.parts.is_empty() {
                continue;
            }
            let [left, right] = self.parts[vertex];
            if parts_named {
                names[vertex] = self.first + pairs.len() as u32;
                pairs.push((names[left], names[right]));
            } else {
                open.extend([(vertex, true), (right, false), (left, false)]);
            }
        }
        pairs
    }

    /// Estimated nodes of the whole tree.
    pub fn n_nodes(&self) -> f64 {
        self.costs.iter().sum()
    }

    fn sibling(&self, vertex: usize) -> usize {
        let [left, right] = self.parts[self.up[vertex]];
        if left == vertex { right } else { left }
    }

    /// A vertex and all above it.
    fn upwards(&self, vertex: usize) -> impl Iterator<Item = usize> {
        let existing = |vertex: usize| Some(vertex).filter(|&vertex| vertex != NONE);
        std::iter::successors(existing(vertex), move |&vertex| existing(self.up[vertex]))
    }

    /// Whether `from` can be taken out and joined with `to`, and the tree is another one then.
    fn may_move(&self, from: usize, to: usize) -> bool {
        from != self.root
            && to != self.up[from]
            && to != self.sibling(from)
            && self.upwards(to).all(|vertex| vertex != from)
    }

    /// Moves a subtree if the tree needs fewer nodes then.
    fn try_move(&mut self, from: usize, to: usize, joiner: &mut Joiner) -> bool {
        let sibling = self.sibling(from);
        self.regraft(from, to);
        let changed = self.changed(self.up[from], sibling);
        let before: f64 = changed.iter().map(|&vertex| self.costs[vertex]).sum();
        if before >= NEGLIGIBLE * self.n_nodes() && self.recompute(&changed, before, joiner) {
            return true;
        }
        self.regraft(from, sibling);
        false
    }

    /// Takes `from` out and joins it with `to`, in the vertex that joined it before.
    fn regraft(&mut self, from: usize, to: usize) {
        let (hub, sibling) = (self.up[from], self.sibling(from));
        self.put(sibling, self.up[hub], hub);
        self.put(hub, self.up[to], to);
        self.parts[hub] = [from, to];
        self.up[to] = hub;
    }

    /// Puts `vertex` where `instead` was, which is a part of `above` or the root.
    fn put(&mut self, vertex: usize, above: usize, instead: usize) {
        self.up[vertex] = above;
        match self.parts.get_mut(above) {
            Some(parts) => *(if parts[0] == instead { &mut parts[0] } else { &mut parts[1] }) = vertex,
            None => self.root = vertex,
        }
    }

    /// The vertices that join something else since a subtree was moved from above `sibling` to `hub`, from
    /// below upwards.
    fn changed(&self, hub: usize, sibling: usize) -> Vec<usize> {
        let over_hub: Vec<usize> = self.upwards(hub).collect();
        let meet = self.upwards(sibling).find(|vertex| over_hub.contains(vertex)).unwrap_or(NONE);
        let below = |start: usize| self.upwards(start).take_while(move |&vertex| vertex != meet);
        let lost = below(sibling).skip(1);
        let last = [meet].into_iter().filter(|&meet| meet == hub || meet == sibling);
        lost.chain(below(hub)).chain(last).collect()
    }

    /// Computes these vertices anew; when they cost no less than `before`, they are left as they were.
    fn recompute(&mut self, changed: &[usize], before: f64, joiner: &mut Joiner) -> bool {
        let mut old = Vec::new();
        let mut after = 0.0;
        for &vertex in changed {
            let [left, right] = self.parts[vertex];
            let column = joiner.join(&self.columns[left], &self.columns[right]);
            old.push((vertex, std::mem::replace(&mut self.columns[vertex], column), self.costs[vertex]));
            self.costs[vertex] = self.cost(vertex);
            after += self.costs[vertex];
            if after + 0.5 >= before {
                for (vertex, column, cost) in old.into_iter().rev() {
                    self.columns[vertex] = column;
                    self.costs[vertex] = cost;
                }
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns of things that take `2^bits` values, made of these bits of the number of the sample.
    fn column(bits: &[u32], samples: u32) -> Column {
        let value = |i: u32| bits.iter().fold(0, |value, bit| value << 1 | (i >> bit & 1) as u16);
        Joiner::new(samples as usize).join(
            &Column::new((0..samples).map(value).collect(), 1 << bits.len()),
            &Column::constant(samples as usize),
        )
    }

    #[test]
    fn moves_are_undone_when_they_do_not_help() {
        let samples = 512;
        let mut joiner = Joiner::new(samples as usize);
        let tops = [[0, 1], [0, 2], [1, 2], [4, 5], [5, 6], [4, 6]];
        let tops: Vec<(u32, Column)> = (0..).zip(tops.iter().map(|bits| column(bits, samples))).collect();
        let mut graft = Graft::new(tops, 6, &mut joiner);
        graft.improve(&mut joiner, 10_000);
        let (parts, up, nodes) = (graft.parts.clone(), graft.up.clone(), graft.n_nodes());
        for from in 0..graft.parts.len() {
            for to in 0..graft.parts.len() {
                if graft.may_move(from, to) {
                    assert!(!graft.try_move(from, to, &mut joiner));
                    assert_eq!(graft.n_nodes(), nodes);
                }
            }
        }
        let sorted = |parts: &[[usize; 2]]| {
            let mut parts = parts.to_vec();
            parts.iter_mut().for_each(|pair| pair.sort_unstable());
            parts
        };
        assert_eq!((sorted(&graft.parts), graft.up.clone()), (sorted(&parts), up));
        assert_eq!(graft.pairs().len(), 5);
        let mut used: Vec<u32> = graft.pairs().into_iter().flat_map(|(left, right)| [left, right]).collect();
        used.sort_unstable();
        assert_eq!(used, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn a_bad_tree_is_repaired() {
        // Two groups of three that have nothing to do with each other, joined crosswise.
        let samples = 4096;
        let mut joiner = Joiner::new(samples as usize);
        let groups = [[0, 1, 2], [6, 7, 8], [0, 1, 3], [6, 7, 9], [2, 3, 0], [8, 9, 6]];
        let tops: Vec<(u32, Column)> = (0..).zip(groups.iter().map(|bits| column(bits, samples))).collect();
        let mut graft = Graft::new(tops, 6, &mut joiner);
        let good = graft.n_nodes();
        for (from, to) in [(0, 1), (2, 3), (4, 5)] {
            if graft.may_move(from, to) {
                graft.regraft(from, to);
            }
        }
        let mut all: Vec<usize> = (graft.tops.len()..graft.parts.len()).collect();
        all.sort_by_key(|&vertex| std::cmp::Reverse(graft.upwards(vertex).count()));
        assert!(graft.recompute(&all, f64::INFINITY, &mut joiner));
        assert!(graft.n_nodes() > 2.0 * good, "{} {good}", graft.n_nodes());
        graft.improve(&mut joiner, 100_000);
        assert!(graft.n_nodes() < 1.1 * good, "{} {good}", graft.n_nodes());
    }
}
