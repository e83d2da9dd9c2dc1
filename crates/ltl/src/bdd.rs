//! Reduced ordered binary decision diagrams (Bryant 1986): guards of edges as sets of valuations.
//!
//! Equal sets have equal numbers, so that edges can be compared and merged whatever way their guards were
//! built. The frozen automaton gets irredundant cubes ([`Bdds::cubes`], Minato's algorithm).

use crate::table::Table;
use std::collections::HashMap;
use stop::{Stop, Ticks};

/// A set of valuations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Bdd(u32);

impl Bdd {
    /// No valuation.
    pub(crate) const FALSE: Bdd = Bdd(0);
    /// All valuations.
    pub(crate) const TRUE: Bdd = Bdd(1);
}

/// A conjunction of literals: these propositions hold, those do not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Cube {
    /// Bit i: proposition i holds.
    pub positive: u64,
    /// Bit i: proposition i does not hold.
    pub negative: u64,
}

impl Cube {
    /// Whether a valuation (bit i is proposition i) is in it.
    #[inline]
    pub fn contains(self, valuation: u64) -> bool {
        (valuation & self.positive) == self.positive && (valuation & self.negative) == 0
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Branch {
    var: u32,
    low: Bdd,
    high: Bdd,
}

/// The diagrams of one translation.
#[derive(Clone, Debug)]
pub(crate) struct Bdds {
    nodes: Vec<Branch>,
    numbers: Table<Branch, Bdd>,
    ands: Table<(Bdd, Bdd), Bdd>,
    nots: Table<Bdd, Bdd>,
    /// When to give up: whatever takes long in a translation works on diagrams.
    stop: Stop,
    ticks: Ticks,
}

impl Default for Bdds {
    fn default() -> Bdds {
        let leaf = |b: Bdd| Branch { var: u32::MAX, low: b, high: b };
        Bdds {
            nodes: vec![leaf(Bdd::FALSE), leaf(Bdd::TRUE)],
            numbers: Table::default(),
            ands: Table::default(),
            nots: [(Bdd::FALSE, Bdd::TRUE), (Bdd::TRUE, Bdd::FALSE)].into_iter().collect(),
            stop: Stop::never(),
            ticks: Ticks::default(),
        }
    }
}

impl Bdds {
    /// No diagrams yet; making them is given up when it is to `stop`.
    pub(crate) fn obeying(stop: &Stop) -> Bdds {
        Bdds { stop: stop.clone(), ..Bdds::default() }
    }

    /// Gives up if it is time to.
    pub(crate) fn check(&self) {
        self.stop.check();
    }

    fn make(&mut self, var: u32, low: Bdd, high: Bdd) -> Bdd {
        if low == high {
            return low;
        }
        let branch = Branch { var, low, high };
        if let Some(number) = self.numbers.get(&branch) {
            return *number;
        }
        let number = Bdd(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(branch);
        self.numbers.insert(branch, number);
        number
    }

    fn branch(&self, b: Bdd) -> Branch {
        self.nodes[b.0 as usize]
    }

    /// How many nodes there are: a measure of the memory spent.
    pub(crate) fn size(&self) -> usize {
        self.nodes.len()
    }

    /// Proposition `var` holds, or does not.
    pub(crate) fn lit(&mut self, var: u32, positive: bool) -> Bdd {
        let (low, high) = if positive { (Bdd::FALSE, Bdd::TRUE) } else { (Bdd::TRUE, Bdd::FALSE) };
        self.make(var, low, high)
    }

    pub(crate) fn and(&mut self, a: Bdd, b: Bdd) -> Bdd {
        self.ticks.tick(&self.stop);
        match (a, b) {
            (Bdd::FALSE, _) | (_, Bdd::FALSE) => return Bdd::FALSE,
            (Bdd::TRUE, other) | (other, Bdd::TRUE) => return other,
            _ if a == b => return a,
            _ => {}
        }
        let key = (a.min(b), a.max(b));
        if let Some(result) = self.ands.get(&key) {
            return *result;
        }
        let (x, y) = (self.branch(a), self.branch(b));
        let var = x.var.min(y.var);
        let part = |n: Branch, whole: Bdd| if n.var == var { (n.low, n.high) } else { (whole, whole) };
        let ((al, ah), (bl, bh)) = (part(x, a), part(y, b));
        let (low, high) = (self.and(al, bl), self.and(ah, bh));
        let result = self.make(var, low, high);
        self.ands.insert(key, result);
        result
    }

    pub(crate) fn not(&mut self, a: Bdd) -> Bdd {
        if let Some(result) = self.nots.get(&a) {
            return *result;
        }
        let n = self.branch(a);
        let (low, high) = (self.not(n.low), self.not(n.high));
        let result = self.make(n.var, low, high);
        self.nots.insert(a, result);
        self.nots.insert(result, a);
        result
    }

    pub(crate) fn or(&mut self, a: Bdd, b: Bdd) -> Bdd {
        let (a, b) = (self.not(a), self.not(b));
        let neither = self.and(a, b);
        self.not(neither)
    }

    /// The valuations of `a` that are not in `b`.
    pub(crate) fn minus(&mut self, a: Bdd, b: Bdd) -> Bdd {
        let b = self.not(b);
        self.and(a, b)
    }

    /// Whether `a` is part of `b`.
    pub(crate) fn implies(&mut self, a: Bdd, b: Bdd) -> bool {
        self.minus(a, b) == Bdd::FALSE
    }

    /// A set of other diagrams as one of these; `known` remembers what was met before.
    pub(crate) fn import(&mut self, other: &Bdds, set: Bdd, known: &mut HashMap<Bdd, Bdd>) -> Bdd {
        if set == Bdd::FALSE || set == Bdd::TRUE {
            return set;
        }
        if let Some(copy) = known.get(&set) {
            return *copy;
        }
        let branch = other.branch(set);
        let (low, high) = (self.import(other, branch.low, known), self.import(other, branch.high, known));
        let copy = self.make(branch.var, low, high);
        known.insert(set, copy);
        copy
    }

    /// Whether a valuation is in a set.
    pub(crate) fn contains(&self, set: Bdd, valuation: u64) -> bool {
        let mut at = set;
        while at != Bdd::FALSE && at != Bdd::TRUE {
            let branch = self.branch(at);
            at = if valuation >> branch.var & 1 == 1 { branch.high } else { branch.low };
        }
        at == Bdd::TRUE
    }

    /// A valuation of a set that is not empty.
    pub(crate) fn point(&self, set: Bdd) -> u64 {
        let (mut at, mut valuation) = (set, 0);
        while at != Bdd::FALSE && at != Bdd::TRUE {
            let branch = self.branch(at);
            if branch.low == Bdd::FALSE {
                valuation |= 1 << branch.var;
                at = branch.high;
            } else {
                at = branch.low;
            }
        }
        valuation
    }

    /// The set as a union of cubes, none of which can be left out.
    pub(crate) fn cubes(&mut self, set: Bdd) -> Vec<Cube> {
        self.between(set, set).1
    }

    /// Minato's irredundant sum of products: cubes whose union lies between two sets.
    fn between(&mut self, lower: Bdd, upper: Bdd) -> (Bdd, Vec<Cube>) {
        if lower == Bdd::FALSE {
            return (Bdd::FALSE, Vec::new());
        }
        if upper == Bdd::TRUE {
            return (Bdd::TRUE, vec![Cube::default()]);
        }
        let (l, u) = (self.branch(lower), self.branch(upper));
        let var = l.var.min(u.var);
        let part = |n: Branch, whole: Bdd| if n.var == var { (n.low, n.high) } else { (whole, whole) };
        let ((l0, l1), (u0, u1)) = (part(l, lower), part(u, upper));
        let need0 = self.minus(l0, u1);
        let need1 = self.minus(l1, u0);
        let (f0, mut cubes0) = self.between(need0, u0);
        let (f1, mut cubes1) = self.between(need1, u1);
        let (rest0, rest1) = (self.minus(l0, f0), self.minus(l1, f1));
        let (rest, both) = (self.or(rest0, rest1), self.and(u0, u1));
        let (f, cubes) = self.between(rest, both);
        for cube in &mut cubes0 {
            cube.negative |= 1 << var;
        }
        for cube in &mut cubes1 {
            cube.positive |= 1 << var;
        }
        let (low, high) = (self.or(f0, f), self.or(f1, f));
        cubes0.append(&mut cubes1);
        cubes0.extend(cubes);
        (self.make(var, low, high), cubes0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All sets over three propositions: the cubes cover exactly the set, and none is superfluous.
    #[test]
    fn cubes_are_the_set() {
        for table in 0..256u32 {
            let mut bdds = Bdds::default();
            let mut set = Bdd::FALSE;
            for valuation in (0..8u64).filter(|v| table >> v & 1 == 1) {
                let point = (0..3).fold(Bdd::TRUE, |all, var| {
                    let lit = bdds.lit(var, valuation >> var & 1 == 1);
                    bdds.and(all, lit)
                });
                set = bdds.or(set, point);
            }
            let cubes = bdds.cubes(set);
            for valuation in 0..8u64 {
                assert_eq!(cubes.iter().any(|c| c.contains(valuation)), table >> valuation & 1 == 1);
            }
            for i in 0..cubes.len() {
                let covered = |v: u64| cubes.iter().enumerate().any(|(j, c)| j != i && c.contains(v));
                assert!((0..8).any(|v| cubes[i].contains(v) && !covered(v)));
            }
        }
    }
}
