//! Dining philosophers, encoded by hand: exact counts of sets that nobody can enumerate.

use ldd::{Access, Full, Group, Groups, Ldd, Learned, Learner, Set};
use num_bigint::BigUint;

/// Philosopher i thinks (0), has the left fork (1), or eats (2); fork i is free (0) or taken (1). Levels:
/// philosopher, fork, philosopher, fork …
struct Table;

impl Learner for Table {
    type Error = Full;

    /// A group is one move of one philosopher: take left, take right, put both down. It reads and writes
    /// itself and the forks that it touches.
    fn learn(&mut self, ldd: &mut Ldd, group: usize, read: Set) -> Result<Learned, Full> {
        let step: &[u32] = match group % 3 {
            // philosopher 0 -> 1, fork 0 -> 1
            0 => &[0, 1, 0, 1],
            // philosopher 1 -> 2, the next fork 0 -> 1
            1 => &[1, 2, 0, 1],
            // philosopher 2 -> 0, both forks 1 -> 0
            _ => &[2, 0, 1, 0, 1, 0],
        };
        let old: Vec<u32> = step.iter().step_by(2).copied().collect();
        if !ldd.contains(read, &old) {
            return Ok(Learned { relation: Set::EMPTY, enabled: Set::EMPTY });
        }
        Ok(Learned { relation: ldd.single(step)?, enabled: ldd.single(&old)? })
    }
}

/// The groups of n philosophers in a row: the last one's right fork is fork n, which nobody else uses.
fn groups(n: usize) -> Groups {
    let levels = 2 * n + 1;
    let touching = |levels_touched: &[usize]| {
        let mut access = vec![Access::Skip; levels];
        levels_touched.iter().for_each(|&level| access[level] = Access::Both);
        access
    };
    // Philosopher i is level 2 i, his left fork the one behind him, the right one behind the next philosopher
    // (or the last level).
    let right = |i: usize| if i + 1 < n { 2 * i + 3 } else { levels - 1 };
    let moves = (0..n).flat_map(|i| {
        [touching(&[2 * i, 2 * i + 1]), touching(&[2 * i, right(i)]), touching(&[2 * i, 2 * i + 1, right(i)])]
    });
    let list = moves.enumerate().filter_map(|(number, access)| Group::new(number, &access)).collect();
    Groups::new(list, levels)
}

/// The reachable states by brute force.
fn count_by_hand(n: usize) -> usize {
    let right = |i: usize| if i + 1 < n { 2 * i + 3 } else { 2 * n };
    let (mut seen, mut open) = (std::collections::BTreeSet::new(), vec![vec![0u8; 2 * n + 1]]);
    while let Some(state) = open.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        for i in 0..n {
            let (me, left, other) = (2 * i, 2 * i + 1, right(i));
            let mut go = |changes: &[(usize, u8, u8)]| {
                if changes.iter().all(|&(at, old, _)| state[at] == old) {
                    let mut next = state.clone();
                    changes.iter().for_each(|&(at, _, new)| next[at] = new);
                    open.push(next);
                }
            };
            go(&[(me, 0, 1), (left, 0, 1)]);
            go(&[(me, 1, 2), (other, 0, 1)]);
            go(&[(me, 2, 0), (left, 1, 0), (other, 1, 0)]);
        }
    }
    seen.len()
}

fn count(n: usize) -> (BigUint, usize) {
    let mut ldd = Ldd::new(u64::MAX);
    let start = ldd.single(&vec![0; 2 * n + 1]).unwrap();
    let all = ldd.saturate(start, &mut groups(n), &mut Table).unwrap();
    (ldd.count(all), ldd.size(all))
}

#[test]
fn counts_are_exact() {
    for n in 1..=6 {
        assert_eq!(count(n).0, count_by_hand(n).into(), "{n} philosophers");
    }
}

#[test]
fn a_thousand_philosophers() {
    // Deep recursion is as deep as vectors are long.
    let work = || {
        let (states, nodes) = count(1000);
        assert!(states.bits() > 1200, "{}", states.bits());
        assert!(nodes < 20_000, "{nodes}");
    };
    std::thread::Builder::new().stack_size(256 << 20).spawn(work).unwrap().join().unwrap();
}
