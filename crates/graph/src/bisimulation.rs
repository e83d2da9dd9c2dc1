//! The quotient of a labelled transition system modulo strong or branching bisimulation, by signatures (Blom,
//! Orzan 2005).
//!
//! A partition of the states is refined until it is stable: the signature of a state is the set of its steps,
//! each a label and the block of its target, and states of one block with different signatures part. For
//! branching bisimulation (van Glabbeek, Weijland 1996) the steps that can be taken behind silent steps inside
//! the block count as well, and those silent steps do not. States on a cycle of silent steps are equivalent;
//! they are one from the beginning, so that signatures can be collected against the direction of the silent
//! steps. Divergence is not told apart.
//!
//! Signatures are numbered by hash and then compared in full, so the partition is exact: where two hashes are
//! equal by accident, which does not happen in practice, the round is made again with another hash. All of
//! this is done by many threads, for branching bisimulation level by level along the silent steps.

use crate::components::components_of_all;
use crate::lts::Lts;
use search::state_graph::csr::Csr;
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::ops::Range;
use stop::Stop;

/// Which states are taken for one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Equivalence {
    /// Each can take the steps of the other, to states that are again equivalent.
    Strong,
    /// The same, where silent steps between equivalent states do not count.
    Branching,
}

/// A step in a signature: the label and the block of the target.
type Step = (u32, u32);

/// The block of each state; blocks are numbered in the order of their first states.
pub fn partition(lts: &Lts, equivalence: Equivalence, threads: usize, stop: &Stop) -> Vec<u32> {
    let silent = lts.silent();
    match (equivalence, silent) {
        (Equivalence::Branching, Some(silent)) => branching(lts, silent, threads, stop),
        _ => strong(lts, threads, stop),
    }
}

/// The system with one state for each block.
pub fn quotient(lts: &Lts, blocks: &[u32], equivalence: Equivalence) -> Lts {
    let n_blocks = blocks.iter().max().map_or(0, |&block| block as usize + 1);
    let silent = lts.silent().filter(|_| equivalence == Equivalence::Branching);
    if silent.is_none() {
        return quotient_by_first(lts, blocks, n_blocks);
    }
    let mut steps: Vec<Vec<Step>> = vec![Vec::new(); n_blocks];
    let mut classes = vec![0; n_blocks];
    for (state, &block) in blocks.iter().enumerate() {
        classes[block as usize] = lts.classes.get(state).copied().unwrap_or(0);
        for (label, target) in lts.steps(state) {
            let to = blocks[target as usize];
            if Some(label) != silent || to != block {
                steps[block as usize].push((label, to));
            }
        }
        // Most steps of equivalent states are the same.
        if steps[block as usize].len() > 64 {
            normalise(&mut steps[block as usize]);
        }
    }
    steps.iter_mut().for_each(normalise);
    let labels = steps.iter().flatten().map(|&(label, _)| label).collect();
    let edges: Csr = steps.iter().map(|row| row.iter().map(|&(_, to)| to).collect()).collect();
    let (names, values, expressions) = (lts.names.clone(), lts.values.clone(), lts.expressions.clone());
    Lts { edges, labels, names, classes, values, expressions }
}

/// The quotient where all states of a block have the same steps: those of the first are enough.
fn quotient_by_first(lts: &Lts, blocks: &[u32], n_blocks: usize) -> Lts {
    let (mut labels, mut classes, mut row) = (Vec::new(), Vec::with_capacity(n_blocks), Vec::new());
    let mut firsts = Vec::with_capacity(n_blocks);
    for (state, &block) in blocks.iter().enumerate() {
        if block as usize == firsts.len() {
            firsts.push(state);
            classes.push(lts.classes.get(state).copied().unwrap_or(0));
        }
    }
    debug_assert_eq!(firsts.len(), n_blocks, "blocks are numbered in the order of their first states");
    let rows = firsts.iter().map(|&state| {
        row.clear();
        row.extend(lts.steps(state).map(|(label, target)| (label, blocks[target as usize])));
        normalise(&mut row);
        labels.extend(row.iter().map(|&(label, _)| label));
        row.iter().map(|&(_, to)| to).collect()
    });
    let edges: Csr = rows.collect();
    let (names, values, expressions) = (lts.names.clone(), lts.values.clone(), lts.expressions.clone());
    Lts { edges, labels, names, classes, values, expressions }
}

fn normalise(steps: &mut Vec<Step>) {
    steps.sort_unstable();
    steps.dedup();
}

/// The first partition: by the classes of states.
fn first(lts: &Lts) -> Vec<u32> {
    let classes = (0..lts.n_states()).map(|state| lts.classes.get(state).copied().unwrap_or(0));
    let mut numbers = HashMap::new();
    classes
        .map(|class| {
            let next = numbers.len() as u32;
            *numbers.entry(class).or_insert(next)
        })
        .collect()
}

fn count(blocks: &[u32]) -> usize {
    blocks.iter().max().map_or(0, |&block| block as usize + 1)
}

fn hash(hasher: &RandomState, block: u32, steps: &[Step]) -> u64 {
    let mut state = hasher.build_hasher();
    state.write_u32(block);
    steps.iter().for_each(|&(label, to)| state.write_u64(u64::from(label) << 32 | u64::from(to)));
    state.finish()
}

fn strong(lts: &Lts, threads: usize, stop: &Stop) -> Vec<u32> {
    let mut blocks = first(lts);
    let n = lts.n_states();
    loop {
        let signature = |state: usize, out: &mut Vec<Step>| {
            out.clear();
            out.extend(lts.steps(state).map(|(label, target)| (label, blocks[target as usize])));
            normalise(out);
        };
        let hashed = |hasher: &RandomState| {
            in_parts(n, threads, stop, |states| {
                let mut steps = Vec::new();
                let of = |state: usize| {
                    signature(state, &mut steps);
                    hash(hasher, blocks[state], &steps)
                };
                states.map(of).collect()
            })
        };
        let same = |firsts: &[u32], next: &[u32]| {
            let sound = in_parts(n, threads, stop, |states| {
                let (mut mine, mut other) = (Vec::new(), Vec::new());
                let mut is_sound = |state: usize| {
                    let first = firsts[next[state] as usize] as usize;
                    first == state
                        || blocks[first] == blocks[state] && {
                            signature(state, &mut mine);
                            signature(first, &mut other);
                            mine == other
                        }
                };
                let mut states = states;
                vec![states.all(&mut is_sound)]
            });
            sound.into_iter().all(|sound| sound)
        };
        let next = refined(hashed, same);
        if count(&next) == count(&blocks) {
            return next;
        }
        blocks = next;
    }
}

/// What `work` makes of the numbers below `n`, part by part, by several threads.
fn in_parts<T: Send>(
    n: usize,
    threads: usize,
    stop: &Stop,
    work: impl Fn(Range<usize>) -> Vec<T> + Sync,
) -> Vec<T> {
    stop.check();
    if n < FEW || threads < 2 {
        return work(0..n);
    }
    let chunk = n.div_ceil(threads);
    std::thread::scope(|scope| {
        let work = &work;
        let parts = (0..threads).map(|at| (at * chunk).min(n)..((at + 1) * chunk).min(n));
        let workers: Vec<_> = parts.map(|part| scope.spawn(move || work(part))).collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined.flat_map(|part| part.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

/// Fewer states than this are not worth threads.
const FEW: usize = 4096;

/// Blocks of equal signatures: numbered by hash, and accepted if all states of a block are the `same` as its
/// first one.
fn refined(hashed: impl Fn(&RandomState) -> Vec<u64>, same: impl Fn(&[u32], &[u32]) -> bool) -> Vec<u32> {
    loop {
        let hashes = hashed(&RandomState::new());
        let (next, firsts) = numbered(&hashes);
        drop(hashes);
        if same(&firsts, &next) {
            return next;
        }
    }
}

/// For hashes of hashes: they are as they are.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        debug_assert!(bytes.is_empty(), "numbers are written whole");
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = n;
    }
}

/// Numbers for equal hashes, in the order of their first places; and these places.
fn numbered(hashes: &[u64]) -> (Vec<u32>, Vec<u32>) {
    let mut known: HashMap<u64, u32, BuildHasherDefault<AsItIs>> = HashMap::default();
    let mut firsts = Vec::new();
    let number = |(place, hash): (usize, &u64)| {
        *known.entry(*hash).or_insert_with(|| {
            firsts.push(place as u32);
            firsts.len() as u32 - 1
        })
    };
    let numbers = hashes.iter().enumerate().map(number).collect();
    (numbers, firsts)
}

fn branching(lts: &Lts, silent: u32, threads: usize, stop: &Stop) -> Vec<u32> {
    let class = first(lts);
    let is_silent = |state: usize, edge: usize| {
        let target = lts.edges.target(edge as u64) as usize;
        lts.labels[edge] == silent && class[state] == class[target]
    };
    // Silent steps inside a class; components come in an order in which they lead only to earlier ones.
    let groups = components_of_all(&lts.edges, is_silent);
    let mut group_of = vec![0u32; lts.n_states()];
    for (group, members) in groups.iter().enumerate() {
        members.iter().for_each(|&state| group_of[state as usize] = group as u32);
    }
    let silently = Silently { lts, silent, groups: &groups, group_of: &group_of };
    let levels = silently.levels(&class);
    let mut blocks: Vec<u32> = groups.iter().map(|members| class[members[0] as usize]).collect();
    let mut n_blocks = 0;
    loop {
        let signatures = silently.signatures(&blocks, &levels, threads, stop);
        let hashed = |hasher: &RandomState| {
            in_parts(groups.len(), threads, stop, |part| {
                part.map(|group| hash(hasher, blocks[group], &signatures[group])).collect()
            })
        };
        let same = |firsts: &[u32], next: &[u32]| {
            let is_sound = |group: usize| {
                let first = firsts[next[group] as usize] as usize;
                blocks[first] == blocks[group] && signatures[first] == signatures[group]
            };
            let sound = in_parts(groups.len(), threads, stop, |mut part| vec![part.all(is_sound)]);
            sound.into_iter().all(|sound| sound)
        };
        let next = refined(hashed, same);
        let n = count(&next);
        blocks = next;
        if n == n_blocks {
            break;
        }
        n_blocks = n;
    }
    // Blocks of states are numbered in the order of their first states.
    let (mut numbers, mut n) = (vec![u32::MAX; n_blocks], 0);
    let number = |&group: &u32| {
        let number = &mut numbers[blocks[group as usize] as usize];
        if *number == u32::MAX {
            *number = n;
            n += 1;
        }
        *number
    };
    group_of.iter().map(number).collect()
}

/// A system whose cycles of silent steps are groups.
struct Silently<'a> {
    lts: &'a Lts,
    silent: u32,
    groups: &'a [Vec<u32>],
    group_of: &'a [u32],
}

impl Silently<'_> {
    /// The groups by the longest way along silent steps that begins in each: those of a level need only
    /// earlier ones.
    fn levels(&self, class: &[u32]) -> Vec<Vec<u32>> {
        let (mut level_of, mut levels) = (vec![0usize; self.groups.len()], Vec::new());
        for (group, members) in self.groups.iter().enumerate() {
            let mut level = 0;
            for &state in members {
                for (label, target) in self.lts.steps(state as usize) {
                    let to = self.group_of[target as usize] as usize;
                    if label == self.silent && to != group && class[state as usize] == class[target as usize]
                    {
                        debug_assert!(to < group, "silent steps lead to earlier groups");
                        level = level.max(level_of[to] + 1);
                    }
                }
            }
            level_of[group] = level;
            if levels.len() <= level {
                levels.resize_with(level + 1, Vec::new);
            }
            levels[level].push(group as u32);
        }
        levels
    }

    /// The steps of each group, those behind silent steps inside its block included.
    fn signatures(&self, blocks: &[u32], levels: &[Vec<u32>], threads: usize, stop: &Stop) -> Vec<Vec<Step>> {
        let mut signatures: Vec<Vec<Step>> = vec![Vec::new(); self.groups.len()];
        for level in levels {
            let known = &signatures;
            let made = in_parts(level.len(), threads, stop, |part| {
                part.map(|at| self.signature(level[at] as usize, blocks, known)).collect()
            });
            level.iter().zip(made).for_each(|(&group, steps)| signatures[group as usize] = steps);
        }
        signatures
    }

    fn signature(&self, group: usize, blocks: &[u32], known: &[Vec<Step>]) -> Vec<Step> {
        let mut steps = Vec::new();
        for &state in &self.groups[group] {
            for (label, target) in self.lts.steps(state as usize) {
                let to = self.group_of[target as usize] as usize;
                match label == self.silent && blocks[to] == blocks[group] {
                    true if to != group => steps.extend_from_slice(&known[to]),
                    true => {}
                    false => steps.push((label, blocks[to])),
                }
            }
        }
        normalise(&mut steps);
        steps.shrink_to_fit();
        steps
    }
}

#[cfg(test)]
mod tests;
