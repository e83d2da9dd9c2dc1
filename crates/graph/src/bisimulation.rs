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

use crate::components::{Components, components_of_all};
use crate::lts::Lts;
use search::limits::MemoryAccount;
use search::state_graph::csr::CsrBuilder;
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

/// With which means a partition is computed.
#[derive(Clone, Copy, Debug)]
pub struct Means<'a> {
    /// Threads.
    pub threads: usize,
    /// Somebody may ask for an end: then the work is given up by unwinding.
    pub stop: &'a Stop,
    /// Bytes that may be in use.
    pub room: Room,
}

/// How much memory there is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Room {
    /// Bytes; `None` is without limit.
    pub limit: Option<u64>,
    /// Whose memory counts.
    pub account: MemoryAccount,
}

/// There is too little memory: so many bytes are needed at least.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge(pub u64);

impl Room {
    /// Whether there is room for `more` bytes beside the `own` ones that are known to be in use.
    fn has(self, own: u64, more: u64) -> Result<(), TooLarge> {
        let needed = self.account.used(own).saturating_add(more);
        if self.limit.is_some_and(|limit| needed > limit) { Err(TooLarge(needed)) } else { Ok(()) }
    }
}

/// The block of each state; blocks are numbered in the order of their first states.
pub fn partition(lts: &Lts, equivalence: Equivalence, means: Means<'_>) -> Result<Vec<u32>, TooLarge> {
    let silent = lts.silent();
    match (equivalence, silent) {
        (Equivalence::Branching, Some(silent)) => branching(lts, silent, means),
        _ => strong(lts, means),
    }
}

/// Bytes that a round needs for each state or group beside the partition: its hash, its new block, and an
/// entry of the table of hashes, which doubles.
const ROUND_BYTES: u64 = 8 + 4 + 4 + 2 * 18;

/// The system with one state for each block.
pub fn quotient(lts: &Lts, blocks: &[u32], equivalence: Equivalence, room: Room) -> Result<Lts, TooLarge> {
    let own = lts.memory() + (blocks.len() * 8) as u64;
    room.has(own, (blocks.len() * 4 + count(blocks) * 4) as u64)?;
    let members = Members::new(blocks);
    // A block has about as many steps as its first state.
    let steps: usize =
        (0..members.n_blocks()).map(|at| lts.edges.row(members.of(at)[0] as usize).len()).sum();
    room.has(own, (members.n_blocks() * 12 + steps * 8) as u64)?;
    let silent = lts.silent().filter(|_| equivalence == Equivalence::Branching);
    let (mut edges, mut labels, mut row) = (CsrBuilder::default(), Vec::new(), Vec::new());
    let classes = (0..members.n_blocks()).map(|block| {
        let states = members.of(block);
        lts.classes.get(states[0] as usize).copied().unwrap_or(0)
    });
    let classes = classes.collect();
    for block in 0..members.n_blocks() {
        let states = members.of(block);
        row.clear();
        match silent {
            // All states of a block have the same steps: those of the first are enough.
            None => row.extend(lts.steps(states[0] as usize).map(|(label, to)| (label, blocks[to as usize]))),
            Some(silent) => steps_of_block(lts, (states, block as u32), blocks, silent, &mut row),
        }
        normalise(&mut row);
        labels.extend(row.iter().map(|&(label, _)| label));
        edges.push_row(row.iter().map(|&(_, to)| to));
    }
    let (names, values, expressions) = (lts.names.clone(), lts.values.clone(), lts.expressions.clone());
    Ok(Lts { edges: edges.finish(), labels, names, classes, values, expressions })
}

/// The steps of all states of a block, but for silent ones inside it.
fn steps_of_block(lts: &Lts, (states, own): (&[u32], u32), blocks: &[u32], silent: u32, row: &mut Vec<Step>) {
    let mut most = 64;
    for &state in states {
        let steps = lts.steps(state as usize).map(|(label, target)| (label, blocks[target as usize]));
        row.extend(steps.filter(|&(label, to)| label != silent || to != own));
        // Most steps of equivalent states are the same.
        if row.len() > most {
            normalise(row);
            most = (2 * row.len()).max(64);
        }
    }
}

/// The states of each block, in ascending order.
struct Members {
    states: Vec<u32>,
    /// Where those of each block end.
    ends: Vec<u32>,
}

impl Members {
    fn new(blocks: &[u32]) -> Self {
        let mut ends = vec![0u32; count(blocks)];
        blocks.iter().for_each(|&block| ends[block as usize] += 1);
        let mut start = 0;
        for end in &mut ends {
            let size = *end;
            *end = start;
            start += size;
        }
        // Now where each begins; filling a block moves that to its end.
        let mut states = vec![0u32; blocks.len()];
        for (state, &block) in blocks.iter().enumerate() {
            let place = &mut ends[block as usize];
            states[*place as usize] = state as u32;
            *place += 1;
        }
        Members { states, ends }
    }

    fn n_blocks(&self) -> usize {
        self.ends.len()
    }

    fn of(&self, block: usize) -> &[u32] {
        let start = block.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.states[start as usize..self.ends[block] as usize]
    }
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

fn strong(lts: &Lts, means: Means<'_>) -> Result<Vec<u32>, TooLarge> {
    let n = lts.n_states();
    means.room.has(lts.memory(), n as u64 * (4 + ROUND_BYTES))?;
    let mut blocks = first(lts);
    loop {
        let signature = |state: usize, out: &mut Vec<Step>| {
            out.clear();
            out.extend(lts.steps(state).map(|(label, target)| (label, blocks[target as usize])));
            normalise(out);
        };
        let hashed = |hasher: &RandomState| {
            in_parts(n, means, |states| {
                let mut steps = Vec::new();
                let of = |state: usize| {
                    signature(state, &mut steps);
                    hash(hasher, blocks[state], &steps)
                };
                states.map(of).collect()
            })
        };
        let same = |firsts: &[u32], next: &[u32]| {
            let sound = in_parts(n, means, |states| {
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
            return Ok(next);
        }
        blocks = next;
    }
}

/// What `work` makes of the numbers below `n`, part by part, by several threads.
fn in_parts<T: Send>(
    n: usize,
    Means { threads, stop, .. }: Means<'_>,
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

fn branching(lts: &Lts, silent: u32, means: Means<'_>) -> Result<Vec<u32>, TooLarge> {
    let (n, class) = (lts.n_states(), first(lts));
    // Beside the classes: the search for components has three numbers for each state, and at the worst a path
    // through all of them.
    means.room.has(lts.memory(), n as u64 * (4 + 12 + 16))?;
    let is_silent = |state: usize, edge: usize| {
        let target = lts.edges.target(edge as u64) as usize;
        lts.labels[edge] == silent && class[state] == class[target]
    };
    // Silent steps inside a class; components come in an order in which they lead only to earlier ones.
    let groups = components_of_all(&lts.edges, is_silent);
    let mut group_of = vec![0u32; n];
    for (group, members) in groups.iter().enumerate() {
        members.iter().for_each(|&state| group_of[state as usize] = group as u32);
    }
    let silently = Silently { lts, silent, groups: &groups, group_of: &group_of };
    let levels = silently.levels(&class);
    let mut blocks: Vec<u32> = groups.iter().map(|members| class[members[0] as usize]).collect();
    drop(class);
    let mut n_blocks = 0;
    loop {
        // A group has a level, a signature's place, and what a round needs.
        let known = lts.memory() + n as u64 * 16 + groups.len() as u64 * (8 + 12 + ROUND_BYTES);
        means.room.has(known, 0)?;
        let signatures = silently.signatures(&blocks, &levels, known, means)?;
        let hashed = |hasher: &RandomState| {
            in_parts(groups.len(), means, |part| {
                part.map(|group| hash(hasher, blocks[group], signatures.of(group))).collect()
            })
        };
        let same = |firsts: &[u32], next: &[u32]| {
            let is_sound = |group: usize| {
                let first = firsts[next[group] as usize] as usize;
                blocks[first] == blocks[group] && signatures.of(first) == signatures.of(group)
            };
            let sound = in_parts(groups.len(), means, |mut part| vec![part.all(is_sound)]);
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
    Ok(group_of.iter().map(number).collect())
}

/// Signatures of groups, one behind another in the order in which they were made.
struct Signatures {
    steps: Vec<Step>,
    /// For each group where its signature begins, and its length.
    places: Vec<(u64, u32)>,
}

impl Signatures {
    fn of(&self, group: usize) -> &[Step] {
        let (start, len) = self.places[group];
        &self.steps[start as usize..][..len as usize]
    }
}

/// A system whose cycles of silent steps are groups.
struct Silently<'a> {
    lts: &'a Lts,
    silent: u32,
    groups: &'a Components,
    group_of: &'a [u32],
}

/// Groups of which signatures are made at a time by each thread: then they are put behind the others.
const TOGETHER: usize = 1 << 14;

impl Silently<'_> {
    /// The groups by the longest way along silent steps that begins in each: those of a level need only
    /// earlier ones.
    fn levels(&self, class: &[u32]) -> Vec<Vec<u32>> {
        let (mut level_of, mut levels) = (vec![0u32; self.groups.len()], Vec::new());
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
            if levels.len() <= level as usize {
                levels.resize_with(level as usize + 1, Vec::new);
            }
            levels[level as usize].push(group as u32);
        }
        levels
    }

    /// The steps of each group, those behind silent steps inside its block included. `known`: bytes in use.
    fn signatures(
        &self,
        blocks: &[u32],
        levels: &[Vec<u32>],
        known: u64,
        means: Means<'_>,
    ) -> Result<Signatures, TooLarge> {
        let mut all = Signatures { steps: Vec::new(), places: vec![(0, 0); self.groups.len()] };
        for part in levels.iter().flat_map(|level| level.chunks(TOGETHER * means.threads.max(1))) {
            let made =
                in_parts(part.len(), means, |places| vec![self.some_signatures(&part[places], blocks, &all)]);
            let steps: usize = made.iter().map(|(steps, _)| steps.len()).sum();
            means.room.has(known, ((all.steps.len() + 2 * steps) * size_of::<Step>()) as u64)?;
            let mut groups = part.iter();
            for (steps, lengths) in made {
                let mut start = all.steps.len() as u64;
                all.steps.extend(steps);
                for (&group, len) in groups.by_ref().zip(lengths) {
                    all.places[group as usize] = (start, len);
                    start += u64::from(len);
                }
            }
        }
        Ok(all)
    }

    /// The signatures of some groups of a level, and their lengths.
    fn some_signatures(&self, groups: &[u32], blocks: &[u32], known: &Signatures) -> (Vec<Step>, Vec<u32>) {
        let (mut all, mut lengths, mut steps) = (Vec::new(), Vec::with_capacity(groups.len()), Vec::new());
        for &group in groups {
            self.signature(group as usize, blocks, known, &mut steps);
            lengths.push(steps.len() as u32);
            all.extend_from_slice(&steps);
        }
        (all, lengths)
    }

    fn signature(&self, group: usize, blocks: &[u32], known: &Signatures, steps: &mut Vec<Step>) {
        steps.clear();
        for &state in self.groups.members(group) {
            for (label, target) in self.lts.steps(state as usize) {
                let to = self.group_of[target as usize] as usize;
                match label == self.silent && blocks[to] == blocks[group] {
                    true if to != group => steps.extend_from_slice(known.of(to)),
                    true => {}
                    false => steps.push((label, blocks[to])),
                }
            }
        }
        normalise(steps);
    }
}

#[cfg(test)]
mod tests;
