//! Sets of vectors: union, intersection, difference; building them, looking into them, counting.
//!
//! An operation on two lists goes along both at once, notes a [`Step`] for each value, and builds the result
//! from the end. What remains of two lists is again an operation on two sets, so its result is looked for in
//! the cache, and entered there, as if the operation recursed.

use crate::cache::{Key, Operation};
use crate::nodes::{Node, Set};
use crate::{Full, Ldd};
use num_bigint::BigUint;
use std::cmp::Ordering;
use std::collections::HashMap;

/// What is known of the result of an operation on the rest of two lists: its first value, and the key under
/// which all of it is remembered.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub(crate) key: Key,
    pub(crate) value: u32,
    pub(crate) down: Set,
}

/// An operation on two sets, by what it does with a value that only one of two lists has.
trait Combination {
    const OPERATION: Operation;
    /// The order of the sets does not matter.
    const COMMUTES: bool;
    const KEEPS_LEFT: bool;
    const KEEPS_RIGHT: bool;

    /// The result where it needs no look at any node.
    fn plain(a: Set, b: Set) -> Option<Set>;
}

struct Union;

impl Combination for Union {
    const OPERATION: Operation = Operation::Union;
    const COMMUTES: bool = true;
    const KEEPS_LEFT: bool = true;
    const KEEPS_RIGHT: bool = true;

    fn plain(a: Set, b: Set) -> Option<Set> {
        (a == b || a.is_empty()).then_some(b)
    }
}

struct Intersection;

impl Combination for Intersection {
    const OPERATION: Operation = Operation::Intersect;
    const COMMUTES: bool = true;
    const KEEPS_LEFT: bool = false;
    const KEEPS_RIGHT: bool = false;

    fn plain(a: Set, b: Set) -> Option<Set> {
        (a == b || a.is_empty()).then_some(a)
    }
}

struct Difference;

impl Combination for Difference {
    const OPERATION: Operation = Operation::Minus;
    const COMMUTES: bool = false;
    const KEEPS_LEFT: bool = true;
    const KEEPS_RIGHT: bool = false;

    fn plain(a: Set, b: Set) -> Option<Set> {
        match (a, b) {
            _ if a == b || a.is_empty() => Some(Set::EMPTY),
            (_, Set::EMPTY) => Some(a),
            _ => None,
        }
    }
}

impl Ldd {
    /// The nodes of a list, in ascending order of values.
    pub fn list(&self, set: Set) -> impl Iterator<Item = Node> + '_ {
        let mut rest = set;
        std::iter::from_fn(move || {
            let node = (!rest.is_terminal()).then(|| self.nodes.get(rest))?;
            rest = node.right;
            Some(node)
        })
    }

    /// The set of one vector.
    pub fn single(&mut self, vector: &[u32]) -> Result<Set, Full> {
        vector.iter().rev().try_fold(Set::UNIT, |down, &value| self.nodes.make(value, down, Set::EMPTY))
    }

    /// The set of these vectors, all of one length.
    pub fn set_of<'v>(&mut self, vectors: impl IntoIterator<Item = &'v [u32]>) -> Result<Set, Full> {
        let mut all = Set::EMPTY;
        for vector in vectors {
            let one = self.single(vector)?;
            all = self.union(all, one)?;
        }
        Ok(all)
    }

    /// The set of vectors of one length, one after another, in ascending order.
    pub fn set_of_sorted(&mut self, vectors: &[Vec<u32>]) -> Result<Set, Full> {
        debug_assert!(vectors.is_sorted());
        self.sorted_from(vectors, 0)
    }

    fn sorted_from(&mut self, vectors: &[Vec<u32>], level: usize) -> Result<Set, Full> {
        match vectors.first() {
            None => return Ok(Set::EMPTY),
            Some(first) if first.len() == level => return Ok(Set::UNIT),
            Some(_) => {}
        }
        // From the end: a list is built from its largest value on.
        let (mut list, mut rest) = (Set::EMPTY, vectors);
        while let Some(last) = rest.last() {
            let value = last[level];
            let first = rest.partition_point(|vector| vector[level] < value);
            let down = self.sorted_from(&rest[first..], level + 1)?;
            list = self.nodes.make(value, down, list)?;
            rest = &rest[..first];
        }
        Ok(list)
    }

    /// Vectors that are in one set or the other.
    pub fn union(&mut self, a: Set, b: Set) -> Result<Set, Full> {
        self.combine::<Union>(a, b)
    }

    /// Vectors that are in both sets.
    pub fn intersect(&mut self, a: Set, b: Set) -> Result<Set, Full> {
        self.combine::<Intersection>(a, b)
    }

    /// Vectors of `a` that are not in `b`.
    pub fn minus(&mut self, a: Set, b: Set) -> Result<Set, Full> {
        self.combine::<Difference>(a, b)
    }

    /// Goes along two lists at once.
    fn combine<C: Combination>(&mut self, mut a: Set, mut b: Set) -> Result<Set, Full> {
        let base = self.steps.len();
        let tail = loop {
            // Where the order does not matter, the cache knows one of the two.
            if C::COMMUTES && a > b {
                (a, b) = (b, a);
            }
            if let Some(plain) = C::plain(a, b) {
                break plain;
            }
            let key = Key::of(C::OPERATION, [a, b, Set::EMPTY]);
            if let Some(known) = self.cache.get(key) {
                break known;
            }
            let (x, y) = (self.nodes.get(a), self.nodes.get(b));
            let kept = |keeps: bool, down| if keeps { down } else { Set::EMPTY };
            let (value, down);
            (value, down, a, b) = match x.value.cmp(&y.value) {
                Ordering::Less => (x.value, kept(C::KEEPS_LEFT, x.down), x.right, b),
                Ordering::Greater => (y.value, kept(C::KEEPS_RIGHT, y.down), a, y.right),
                Ordering::Equal => {
                    let both = self.combine::<C>(x.down, y.down);
                    (x.value, self.or_unwind(both, base)?, x.right, y.right)
                }
            };
            self.steps.push(Step { key, value, down });
        };
        self.build(base, tail)
    }

    /// Without memory the steps since `base` are forgotten.
    pub(crate) fn or_unwind<T>(&mut self, result: Result<T, Full>, base: usize) -> Result<T, Full> {
        if result.is_err() {
            self.steps.truncate(base);
        }
        result
    }

    /// Builds a list from the steps since `base`, which end with `tail`, and remembers all results on the
    /// way.
    pub(crate) fn build(&mut self, base: usize, tail: Set) -> Result<Set, Full> {
        let mut list = tail;
        while self.steps.len() > base {
            let Some(Step { key, value, down }) = self.steps.pop() else { break };
            match self.nodes.make(value, down, list) {
                Ok(longer) => list = longer,
                Err(Full) => {
                    self.steps.truncate(base);
                    return Err(Full);
                }
            }
            self.remember(key, list);
        }
        Ok(list)
    }

    /// Whether a vector is in a set.
    pub fn contains(&self, set: Set, vector: &[u32]) -> bool {
        let below = vector.iter().try_fold(set, |set, &value| {
            self.list(set)
                .take_while(|node| node.value <= value)
                .find(|node| node.value == value)
                .map(|n| n.down)
        });
        below == Some(Set::UNIT)
    }

    /// One of the vectors: that with the smallest values.
    pub fn pick(&self, set: Set) -> Option<Vec<u32>> {
        let (mut vector, mut rest) = (Vec::new(), set);
        while !rest.is_terminal() {
            let node = self.nodes.get(rest);
            vector.push(node.value);
            rest = node.down;
        }
        (rest == Set::UNIT).then_some(vector)
    }

    /// The number of vectors.
    pub fn count(&self, set: Set) -> BigUint {
        let mut known = HashMap::new();
        self.count_known(set, &mut known)
    }

    fn count_known(&self, set: Set, known: &mut HashMap<Set, BigUint>) -> BigUint {
        match set {
            Set::EMPTY => return BigUint::ZERO,
            Set::UNIT => return BigUint::from(1u8),
            _ => {}
        }
        if let Some(count) = known.get(&set) {
            return count.clone();
        }
        // The rest of a list is a set as well, so its count is remembered, too.
        let mut heads = vec![set];
        while let Some(&last) = heads.last() {
            let right = self.nodes.get(last).right;
            if right.is_terminal() || known.contains_key(&right) {
                break;
            }
            heads.push(right);
        }
        let mut sum = BigUint::ZERO;
        for head in heads.into_iter().rev() {
            let Node { down, right, .. } = self.nodes.get(head);
            if let Some(rest) = known.get(&right) {
                sum.clone_from(rest);
            }
            sum += self.count_known(down, known);
            known.insert(head, sum.clone());
        }
        sum
    }

    /// All vectors, in lexicographic order.
    pub fn vectors(&self, set: Set) -> Vectors<'_> {
        Vectors { ldd: self, path: Vec::new(), vector: Vec::new(), next: Some(set) }
    }

    /// The nodes of a set.
    pub fn size(&self, set: Set) -> usize {
        let (mut seen, mut open) = (std::collections::HashSet::new(), vec![set]);
        while let Some(set) = open.pop() {
            if !set.is_terminal() && seen.insert(set) {
                let Node { down, right, .. } = self.nodes.get(set);
                open.extend([down, right]);
            }
        }
        seen.len()
    }
}

/// The vectors of a set, one after another.
#[derive(Debug)]
pub struct Vectors<'a> {
    ldd: &'a Ldd,
    /// For every value of the vector, the rest of its list.
    path: Vec<Set>,
    vector: Vec<u32>,
    next: Option<Set>,
}

impl Iterator for Vectors<'_> {
    type Item = Vec<u32>;

    fn next(&mut self) -> Option<Vec<u32>> {
        loop {
            let set = match self.next.take() {
                Some(set) => set,
                None => {
                    let rest = self.path.pop()?;
                    self.vector.pop();
                    rest
                }
            };
            match set {
                Set::EMPTY => {}
                Set::UNIT => return Some(self.vector.clone()),
                _ => {
                    let Node { value, down, right } = self.ldd.nodes.get(set);
                    self.path.push(right);
                    self.vector.push(value);
                    self.next = Some(down);
                }
            }
        }
    }
}
