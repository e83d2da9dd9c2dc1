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
//! Signatures are compared by hash and then in full, so the partition is exact. Strong signatures are computed
//! by many threads.

use crate::components::components_of_all;
use crate::lts::Lts;
use search::state_graph::csr::Csr;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
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
        (Equivalence::Branching, Some(silent)) => branching(lts, silent, stop),
        _ => strong(lts, threads, stop),
    }
}

/// The system with one state for each block.
pub fn quotient(lts: &Lts, blocks: &[u32], equivalence: Equivalence) -> Lts {
    let n_blocks = blocks.iter().max().map_or(0, |&block| block as usize + 1);
    let silent = lts.silent().filter(|_| equivalence == Equivalence::Branching);
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
    let signature = |state: usize, blocks: &[u32], out: &mut Vec<Step>| {
        out.clear();
        out.extend(lts.steps(state).map(|(label, target)| (label, blocks[target as usize])));
        normalise(out);
    };
    loop {
        stop.check();
        let hasher = RandomState::new();
        let mut hashes = vec![0u64; lts.n_states()];
        let chunk = lts.n_states().div_ceil(threads.max(1)).max(1);
        std::thread::scope(|scope| {
            for (at, part) in hashes.chunks_mut(chunk).enumerate() {
                let (blocks, hasher, signature) = (&blocks, &hasher, &signature);
                scope.spawn(move || {
                    let mut steps = Vec::new();
                    for (offset, place) in part.iter_mut().enumerate() {
                        let state = at * chunk + offset;
                        signature(state, blocks, &mut steps);
                        *place = hash(hasher, blocks[state], &steps);
                    }
                });
            }
        });
        let (mut mine, mut other) = (Vec::new(), Vec::new());
        let same = |a: usize, b: usize| {
            signature(a, &blocks, &mut mine);
            signature(b, &blocks, &mut other);
            blocks[a] == blocks[b] && mine == other
        };
        let next = numbered(&hashes, same);
        if count(&next) == count(&blocks) {
            return next;
        }
        blocks = next;
    }
}

/// Blocks of states that are the `same`, as equal hashes suggest.
fn numbered(hashes: &[u64], mut same: impl FnMut(usize, usize) -> bool) -> Vec<u32> {
    let mut known: HashMap<u64, Vec<(u32, usize)>> = HashMap::new();
    let mut n_blocks = 0;
    let block_of = |(state, &hash): (usize, &u64)| {
        let candidates = known.entry(hash).or_default();
        if let Some(&(block, _)) = candidates.iter().find(|&&(_, first)| same(first, state)) {
            return block;
        }
        candidates.push((n_blocks, state));
        n_blocks += 1;
        n_blocks - 1
    };
    hashes.iter().enumerate().map(block_of).collect()
}

fn branching(lts: &Lts, silent: u32, stop: &Stop) -> Vec<u32> {
    let class = first(lts);
    // Silent steps inside a class; components come in an order in which they lead only to earlier ones.
    let is_silent = |state: usize, edge: usize| {
        let target = lts.edges.target(edge as u64) as usize;
        lts.labels[edge] == silent && class[state] == class[target]
    };
    let groups = components_of_all(&lts.edges, is_silent);
    let mut group_of = vec![0u32; lts.n_states()];
    for (group, members) in groups.iter().enumerate() {
        members.iter().for_each(|&state| group_of[state as usize] = group as u32);
    }
    let mut blocks: Vec<u32> = groups.iter().map(|members| class[members[0] as usize]).collect();
    let mut n_blocks = 0;
    loop {
        stop.check();
        let mut signatures: Vec<Vec<Step>> = Vec::with_capacity(groups.len());
        for (group, members) in groups.iter().enumerate() {
            let mut steps = Vec::new();
            for &state in members {
                for (label, target) in lts.steps(state as usize) {
                    let to = group_of[target as usize] as usize;
                    match label == silent && blocks[to] == blocks[group] {
                        true if to < group => steps.extend_from_slice(&signatures[to]),
                        true => debug_assert!(to == group, "silent steps lead to earlier groups"),
                        false => steps.push((label, blocks[to])),
                    }
                }
            }
            normalise(&mut steps);
            signatures.push(steps);
        }
        let hasher = RandomState::new();
        let hashes: Vec<u64> =
            signatures.iter().zip(&blocks).map(|(steps, &block)| hash(&hasher, block, steps)).collect();
        let same = |a: usize, b: usize| blocks[a] == blocks[b] && signatures[a] == signatures[b];
        let next = numbered(&hashes, same);
        let n = count(&next);
        blocks = next;
        if n == n_blocks {
            break;
        }
        n_blocks = n;
    }
    let by_state: Vec<u64> = group_of.iter().map(|&group| u64::from(blocks[group as usize])).collect();
    numbered(&by_state, |a, b| by_state[a] == by_state[b])
}

#[cfg(test)]
mod tests;
