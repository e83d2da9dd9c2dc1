//! The order of slots in diagrams: slots that groups use together should be near each other, and near the
//! end, so that steps concern few levels.
//!
//! Candidates are made by FORCE (F. Aloul, I. Markov and K. Sakallah, *FORCE: A Fast and Easy-To-Implement
//! Variable-Ordering Heuristic*, 2003) from the natural order and from Sloan's (S. Sloan, *A FORTRAN program
//! for profile and wavefront reduction*, 1989, as J. Meijer and J. van de Pol use it in LTSmin), each also
//! reversed. The one is taken in which the sum over groups of span × distance to the end is least. That
//! measure is weak: which order is best is known when a search has been made.

use std::collections::{BTreeSet, VecDeque};

/// How slots are ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reorder {
    /// As they are.
    None,
    /// By FORCE, from the natural order.
    Force,
    /// By Sloan's method.
    Sloan,
    /// The best of several.
    #[default]
    Best,
}

/// Rounds of FORCE.
const ROUNDS: usize = 100;

/// The slots that a group uses.
type Uses = Vec<u32>;

/// The slots in the order of their levels.
pub fn order(n: usize, uses: &[Uses], how: Reorder) -> Vec<u32> {
    candidates(n, uses, how).swap_remove(0)
}

/// The candidates, the most promising first.
pub fn candidates(n: usize, uses: &[Uses], how: Reorder) -> Vec<Vec<u32>> {
    // A group that uses nearly everything says nothing about what belongs together, and many groups that use
    // the same slots say no more than one.
    let narrow = uses.iter().filter(|uses| uses.len() * 2 < n + 2).cloned();
    let narrow: Vec<Uses> = narrow.collect::<BTreeSet<Uses>>().into_iter().collect();
    let uses = &narrow;
    let natural: Vec<usize> = (0..n).collect();
    let mut positions = match how {
        Reorder::None => return vec![(0..n as u32).collect()],
        Reorder::Force => vec![force(&natural, &narrow)],
        Reorder::Sloan => vec![sloan(n, &narrow)],
        Reorder::Best => {
            let sloan = sloan(n, &narrow);
            vec![force(&natural, &narrow), force(&sloan, &narrow), natural, sloan]
        }
    };
    let reversed: Vec<Vec<usize>> =
        positions.iter().map(|at| at.iter().map(|position| n - 1 - position).collect()).collect();
    if how == Reorder::Best {
        positions.extend(reversed);
    }
    positions.sort_by_key(|positions| cost(positions, uses));
    positions.dedup();
    positions.into_iter().map(|positions| levels(&positions)).collect()
}

fn levels(positions: &[usize]) -> Vec<u32> {
    let mut levels = vec![0; positions.len()];
    positions.iter().enumerate().for_each(|(slot, &level)| levels[level] = slot as u32);
    levels
}

/// The first and the last level that a group uses.
fn extent(positions: &[usize], uses: &Uses) -> Option<(usize, usize)> {
    let at = || uses.iter().map(|slot| positions[*slot as usize]);
    Some((at().min()?, at().max()?))
}

fn cost(positions: &[usize], uses: &[Uses]) -> u64 {
    let one = |uses| {
        extent(positions, uses).map_or(0, |(top, last)| ((last - top + 1) * (positions.len() - top)) as u64)
    };
    uses.iter().map(one).sum()
}

fn span(positions: &[usize], uses: &[Uses]) -> u64 {
    uses.iter().filter_map(|uses| extent(positions, uses)).map(|(top, last)| (last - top) as u64).sum()
}

/// Moves every slot to the mean of the centres of the groups that use it, until that changes nothing or no
/// longer helps.
fn force(start: &[usize], uses: &[Uses]) -> Vec<usize> {
    let n = start.len();
    let mut now = start.to_vec();
    let mut best = (span(&now, uses), now.clone());
    for _ in 0..ROUNDS {
        let mut sums = vec![(0.0, 0u32); n];
        for uses in uses.iter().filter(|uses| !uses.is_empty()) {
            let sum: f64 = uses.iter().map(|slot| now[*slot as usize] as f64).sum();
            let centre = sum / uses.len() as f64;
            for &slot in uses {
                sums[slot as usize].0 += centre;
                sums[slot as usize].1 += 1;
            }
        }
        let wish = |slot: usize| match sums[slot] {
            (_, 0) => now[slot] as f64,
            (sum, count) => sum / f64::from(count),
        };
        let mut slots: Vec<usize> = (0..n).collect();
        slots.sort_by(|a, b| wish(*a).total_cmp(&wish(*b)).then(now[*a].cmp(&now[*b])));
        let mut next = vec![0; n];
        slots.iter().enumerate().for_each(|(position, &slot)| next[slot] = position);
        if next == now {
            break;
        }
        now = next;
        let span = span(&now, uses);
        if span < best.0 {
            best = (span, now.clone());
        }
    }
    best.1
}

/// Which slots are used together.
struct Neighbours(Vec<BTreeSet<u32>>);

impl Neighbours {
    fn new(n: usize, uses: &[Uses]) -> Self {
        let mut near = vec![BTreeSet::new(); n];
        for uses in uses {
            for &a in uses {
                near[a as usize].extend(uses.iter().copied().filter(|&b| b != a));
            }
        }
        Neighbours(near)
    }

    fn degree(&self, slot: usize) -> usize {
        self.0[slot].len()
    }

    /// Distances from a slot, and one of those farthest away.
    fn distances(&self, from: usize) -> (Vec<usize>, usize) {
        let mut distance = vec![usize::MAX; self.0.len()];
        let (mut open, mut last) = (VecDeque::from([from]), from);
        distance[from] = 0;
        while let Some(slot) = open.pop_front() {
            last = slot;
            for &next in &self.0[slot] {
                if distance[next as usize] == usize::MAX {
                    distance[next as usize] = distance[slot] + 1;
                    open.push_back(next as usize);
                }
            }
        }
        (distance, last)
    }
}

/// Where a slot is in Sloan's method.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Inactive,
    Preactive,
    Active,
    Numbered,
}

/// Sloan's order: from one end of the graph to the other, slots first that few active ones wait for.
fn sloan(n: usize, uses: &[Uses]) -> Vec<usize> {
    let near = Neighbours::new(n, uses);
    let mut status = vec![Status::Inactive; n];
    let mut positions = vec![usize::MAX; n];
    let mut numbered = 0;
    while let Some(any) = (0..n).filter(|&slot| positions[slot] == usize::MAX).min_by_key(|&s| near.degree(s))
    {
        let start = near.distances(any).1;
        let end = near.distances(start).1;
        let distance = near.distances(end).0;
        let weight = |slot: usize| {
            let distance = if distance[slot] == usize::MAX { 0 } else { distance[slot] };
            distance as i64 - 2 * (near.degree(slot) as i64 + 1)
        };
        let mut priority: Vec<i64> = (0..n).map(weight).collect();
        let mut open = vec![start];
        status[start] = Status::Preactive;
        while let Some(at) = (0..open.len()).max_by_key(|&at| priority[open[at]]) {
            let slot = open.swap_remove(at);
            if status[slot] == Status::Preactive {
                raise(&near, slot, &mut priority, &mut status, &mut open);
            }
            status[slot] = Status::Numbered;
            positions[slot] = numbered;
            numbered += 1;
            for &next in &near.0[slot] {
                let next = next as usize;
                if status[next] == Status::Preactive {
                    status[next] = Status::Active;
                    priority[next] += 2;
                    raise(&near, next, &mut priority, &mut status, &mut open);
                }
            }
        }
    }
    positions
}

/// The neighbours of a slot that becomes active are worth more, and candidates from now on.
fn raise(near: &Neighbours, slot: usize, priority: &mut [i64], status: &mut [Status], open: &mut Vec<usize>) {
    for &next in &near.0[slot] {
        let next = next as usize;
        if status[next] != Status::Numbered {
            priority[next] += 2;
        }
        if status[next] == Status::Inactive {
            status[next] = Status::Preactive;
            open.push(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of processes, each of which shares a slot with the next, numbered so that neighbours are far
    /// apart.
    fn ring(n: usize) -> Vec<Uses> {
        let number = |i: usize| (i * 7 % n) as u32;
        (0..n).map(|i| vec![number(i), number((i + 1) % n)]).collect()
    }

    #[test]
    fn every_candidate_is_an_order() {
        for how in [Reorder::None, Reorder::Force, Reorder::Sloan, Reorder::Best] {
            for candidate in candidates(20, &ring(20), how) {
                let mut sorted = candidate.clone();
                sorted.sort_unstable();
                assert!(sorted.iter().copied().eq(0..20), "{how:?}: {candidate:?}");
            }
        }
        assert_eq!(candidates(0, &[], Reorder::Best)[0], Vec::<u32>::new());
    }

    #[test]
    fn neighbours_come_near_each_other() {
        let uses = ring(20);
        let positions = |levels: &[u32]| {
            let mut at = vec![0; levels.len()];
            levels.iter().enumerate().for_each(|(level, slot)| at[*slot as usize] = level);
            at
        };
        let natural = span(&(0..20).collect::<Vec<_>>(), &uses);
        for how in [Reorder::Force, Reorder::Sloan, Reorder::Best] {
            let span = span(&positions(&order(20, &uses, how)), &uses);
            assert!(span * 2 < natural, "{how:?}: {span} of {natural}");
        }
    }
}
