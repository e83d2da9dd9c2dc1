//! Where a worker stands in a tree: one key with the names of all nodes of its tree.
//!
//! The key of a successor differs from its parent's in a few bytes. Its root is found from the parent's path
//! by looking up only the nodes above what changed, and the path is as before afterwards. Unfolding a root
//! goes the other way, from the top down.
//!
//! A path belongs to one worker; orders and nodes are shared. How it is done depends on the size of the tree.

use crate::Full;
use crate::budget::Budget;
use crate::large_path::LargePath;
use crate::nodes::{Group, Nodes, hash};
use crate::order::Order;
use crate::small_path::SmallPath;

/// A key and its tree.
#[derive(Debug)]
pub enum Path {
    /// In a tree of an order that has a shuffle.
    Small(SmallPath),
    /// In any other.
    Large(LargePath),
}

/// Who names the nodes of a tree.
pub trait Naming {
    /// Why a name cannot be given.
    type Error;

    /// The name of a group at a join.
    fn name(&mut self, join: usize, group: Group) -> Result<u32, Self::Error>;
}

/// Names and adds nodes, for who has them alone.
#[derive(Debug)]
pub struct Alone<'a> {
    /// One table for every join.
    pub nodes: &'a mut [Nodes],
    /// What new nodes are paid from.
    pub budget: &'a mut Budget,
}

impl Naming for Alone<'_> {
    type Error = Full;

    #[inline(always)]
    fn name(&mut self, join: usize, group: Group) -> Result<u32, Full> {
        self.nodes[join].insert(group, hash(group), self.budget)
    }
}

/// Knows the names of nodes that are there.
struct Known<'a>(&'a [Nodes]);

impl Naming for Known<'_> {
    type Error = Full;

    fn name(&mut self, join: usize, group: Group) -> Result<u32, Full> {
        self.0[join].find(group).ok_or(Full)
    }
}

impl Path {
    /// A path that stands nowhere.
    pub fn new(order: &Order) -> Self {
        match order.shuffle() {
            Some(shuffle) => Path::Small(SmallPath::new(order, shuffle)),
            None => Path::Large(LargePath::new(order)),
        }
    }

    /// How many bytes a path of this order uses at most.
    pub fn memory(order: &Order) -> usize {
        order.shuffle().map_or_else(|| LargePath::memory(order), |shuffle| SmallPath::memory(order, shuffle))
    }

    /// Appends the key where the path stands.
    #[inline(always)]
    pub fn append_key(&self, out: &mut Vec<u8>) {
        match self {
            Path::Small(path) => path.append_key(out),
            Path::Large(path) => path.append_key(out),
        }
    }

    /// The key where the path stands.
    pub fn key(&self) -> Vec<u8> {
        let mut key = Vec::new();
        self.append_key(&mut key);
        key
    }

    /// Stands at `key`; its root.
    #[inline]
    pub fn go<N: Naming>(
        &mut self,
        order: &Order,
        key: &[u8],
        naming: &mut N,
    ) -> Result<(u32, u32), N::Error> {
        match self {
            Path::Small(path) => path.go(order, key, naming),
            Path::Large(path) => path.go(order, key, naming),
        }
    }

    /// The root of `key`; the path stays where it is, if it stands anywhere.
    #[inline(always)]
    pub fn look<N: Naming>(
        &mut self,
        order: &Order,
        key: &[u8],
        naming: &mut N,
    ) -> Result<(u32, u32), N::Error> {
        match self {
            Path::Small(path) => path.look(order, key, naming),
            Path::Large(path) => path.look(order, key, naming),
        }
    }

    /// The root of `key` if all of its nodes are there, found without any path.
    pub fn find(order: &Order, nodes: &[Nodes], key: &[u8]) -> Option<(u32, u32)> {
        Path::new(order).go(order, key, &mut Known(nodes)).ok()
    }

    /// Stands at the key with this root, and appends it.
    #[inline(always)]
    pub fn recall(&mut self, order: &Order, nodes: &[Nodes], root: (u32, u32), out: &mut Vec<u8>) {
        match self {
            Path::Small(path) => path.recall(order, nodes, root, out),
            Path::Large(path) => {
                path.unfold(order, nodes, root);
                path.append_key(out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_leaves_the_path_alone() {
        let order = Order::plain(21);
        let budget = &mut Budget::new(u64::MAX);
        let mut nodes: Vec<Nodes> = (0..order.n_inner()).map(|_| Nodes::new(budget).unwrap()).collect();
        let mut path = Path::new(&order);
        let keys = [[0; 21], [5; 21], std::array::from_fn(|i| i as u8), std::array::from_fn(|i| i as u8 / 9)];
        let roots =
            keys.map(|key| path.look(&order, &key, &mut Alone { nodes: &mut nodes, budget }).unwrap());
        for (i, key) in keys.iter().enumerate() {
            assert_eq!(path.go(&order, key, &mut Alone { nodes: &mut nodes, budget }), Ok(roots[i]));
            for (other, root) in keys.iter().zip(roots) {
                assert_eq!(path.look(&order, other, &mut Alone { nodes: &mut nodes, budget }), Ok(root));
                assert_eq!(Path::find(&order, &nodes, other), Some(root));
                assert_eq!(path.key(), key);
            }
            let other = (i + 2) % 4;
            let mut key = vec![1];
            path.recall(&order, &nodes, roots[other], &mut key);
            assert_eq!((key[0], &key[1..], path.key().as_slice()), (1, &keys[other][..], &keys[other][..]));
        }
        assert_eq!(Path::find(&order, &nodes, &[9; 21]), None);
    }

    #[test]
    fn trees_of_any_size() {
        for len in [1, 3, 7, 8, 9, 40, 64, 65, 100, 128, 129, 180, 200, 256, 257, 260, 500, 4000] {
            let order = Order::plain(len);
            let budget = &mut Budget::new(u64::MAX);
            let mut nodes: Vec<Nodes> = (0..order.n_inner()).map(|_| Nodes::new(budget).unwrap()).collect();
            let mut path = Path::new(&order);
            let key =
                |i: usize| -> Vec<u8> { (0..len).map(|at| (at % 7 == i % 7) as u8 * i as u8).collect() };
            let roots: Vec<_> = (0..40)
                .map(|i| path.go(&order, &key(i), &mut Alone { nodes: &mut nodes, budget }).unwrap())
                .collect();
            for i in (0..40).rev() {
                assert_eq!(
                    path.look(&order, &key(i), &mut Alone { nodes: &mut nodes, budget }),
                    Ok(roots[i]),
                    "{len} {i}"
                );
                assert_eq!(Path::find(&order, &nodes, &key(i)), Some(roots[i]));
                let mut recalled = Vec::new();
                path.recall(&order, &nodes, roots[i], &mut recalled);
                assert_eq!((recalled, path.key()), (key(i), key(i)));
                assert_eq!(
                    path.look(&order, &key(39 - i), &mut Alone { nodes: &mut nodes, budget }),
                    Ok(roots[39 - i])
                );
            }
        }
    }

    #[test]
    fn a_full_store_leaves_the_path_alone() {
        let order = Order::plain(64);
        let budget = &mut Budget::new(3000);
        let mut nodes: Vec<Nodes> = (0..order.n_inner()).map(|_| Nodes::new(budget).unwrap()).collect();
        let mut path = Path::new(&order);
        let key = |i: u8| std::array::from_fn::<u8, 64, _>(|at| i.wrapping_mul(at as u8));
        let first = path.go(&order, &key(1), &mut Alone { nodes: &mut nodes, budget }).unwrap();
        let full = (2..)
            .find(|&i| path.look(&order, &key(i), &mut Alone { nodes: &mut nodes, budget }).is_err())
            .unwrap();
        assert_eq!(path.go(&order, &key(full), &mut Alone { nodes: &mut nodes, budget }), Err(Full));
        assert_eq!(path.go(&order, &key(1), &mut Alone { nodes: &mut nodes, budget }), Ok(first));
        assert_eq!(path.key(), key(1));
    }
}
