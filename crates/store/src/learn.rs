//! Finds a good order for a tree: bytes that belong together near each other.
//!
//! The order decides most of the size and the speed of a tree (measured: 8 to 10 bytes a state for one bad
//! node). What costs memory is how many different values each subtree takes. So clusters of bytes are joined
//! greedily by what a sample of the states found so far shows: first bytes into words, which is free, those
//! that tell most about each other; then words into subtrees, always the two whose union takes the fewest
//! different values. Bytes that depend on each other come together, however far apart they lie in the key.
//! Then single subtrees are moved to better places for as long as that helps ([`crate::regraft`]).
//!
//! How many values a subtree takes in all states is estimated from a sample, after A. Chao (1984): values
//! that were seen once and twice tell how many were not seen. Values of a subtree are never equally frequent,
//! and this counts the rare ones, of which large tables are made. The sum over all subtrees estimates how
//! many nodes an order needs.

use crate::order::{NONE, Order, Part};
use crate::regraft::Graft;

/// More clusters than these are not compared with each other: neighbours are joined first.
const CLUSTERS: usize = 96;
/// Bytes of a word.
const WORD: usize = 4;
/// Bytes a key that a new order must save, up to a number of keys: to copy many pays only for more, and to
/// copy millions hardly ever.
const GAINS: [(u64, f64); 4] = [(20_000, 0.25), (100_000, 0.75), (1_000_000, 1.25), (u64::MAX, 6.0)];
/// Bytes that an inner node takes, with its part of the index.
const NODE_BYTES: f64 = 26.0;
/// Bytes that a bit of a root's half takes, at the usual load.
const BIT_BYTES: f64 = 1.0 / 8.0 / 0.75;
/// Joins that may be tried to improve an order. (Four times as many took longer than they saved.)
const TRIES: usize = 1_000;
/// Samples from which an order is made.
const SAMPLES: usize = 1_000;
/// The most samples by which orders are compared. (Numbers of values have 16 bits.)
const MOST_SAMPLES: u64 = 8_000;

/// From how many groups of samples an order is made for this number of keys: more when there is more to gain.
fn n_groups(keys: u64) -> usize {
    (keys / 16_000).clamp(1, 4) as usize
}

/// How many samples are needed to learn about a number of keys. They are many more than an order is made
/// from: which of two is the better one shows in what is rare.
pub fn n_samples(keys: u64) -> usize {
    (keys / 16).clamp((n_groups(keys) * SAMPLES) as u64, MOST_SAMPLES) as usize
}

/// Bytes that learning about `keys` keys of `len` bytes needs for a moment.
pub fn memory(keys: u64, len: usize) -> usize {
    let column = n_samples(keys) * size_of::<u16>();
    n_samples(keys) * len + 2 * (len + WORD) * column
}

/// An order that is clearly better than `old` for `keys` keys like these samples (one behind the other), if
/// one is found. `nodes` is how many nodes they need now.
///
/// What the greedy search ends with depends on luck, so it is done for several groups of samples, and all
/// samples tell which result is the best.
pub fn better(old: &Order, samples: &[u8], keys: u64, nodes: usize) -> Option<Order> {
    if samples.is_empty() {
        return None;
    }
    let all: Vec<&[u8]> = samples.chunks_exact(old.len()).collect();
    let n_groups = n_groups(keys);
    let orders = (0..n_groups).map(|group| {
        let apart = (all.len() / SAMPLES).max(n_groups);
        let samples: Vec<&[u8]> = all.iter().skip(group).step_by(apart).copied().collect();
        cluster(old.len(), &samples)
    });
    let mut joiner = Joiner::new(all.len());
    let columns = columns(old.len(), &all, &mut joiner);
    let mut cost = |order: &Order| Cost::estimated(order, &columns, keys, &mut joiner);
    let before = cost(old);
    // Values are never equally frequent, so that there are more nodes than estimated; as many times more in
    // all orders.
    let scale = if before.nodes > 0.0 { nodes as f64 / before.nodes } else { 1.0 };
    let bytes = |cost: Cost| cost.nodes * scale * NODE_BYTES / keys as f64 + cost.bits * BIT_BYTES;
    let gain = GAINS.iter().find(|&&(most, _)| keys <= most).map_or(f64::MAX, |gain| gain.1);
    let best = orders.map(|order| (bytes(cost(&order)), order)).min_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|&(after, _)| after < bytes(before) - gain).map(|(_, order)| order)
}

/// The values that something takes in the samples, numbered in the order in which they occur. Two things that
/// say the same have the same column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The number of its value in every sample.
    pub values: Vec<u16>,
    /// How many different ones there are.
    pub distinct: u32,
    /// How many of these are there once.
    once: u32,
    /// And twice.
    twice: u32,
}

impl Column {
    /// A column of values that are numbered from 0 to `distinct` - 1.
    pub fn new(values: Vec<u16>, distinct: u32) -> Self {
        let mut seen = vec![0u8; distinct as usize];
        let (mut once, mut twice) = (0, 0);
        for &value in &values {
            let times = &mut seen[usize::from(value)];
            match *times {
                0 => once += 1,
                1 => (once, twice) = (once - 1, twice + 1),
                2 => twice -= 1,
                _ => continue,
            }
            *times += 1;
        }
        Column { values, distinct, once, twice }
    }

    /// Always the same.
    pub fn constant(samples: usize) -> Self {
        Column::new(vec![0; samples], 1)
    }

    /// How many values there would be in an endless sample.
    pub fn support(&self) -> f64 {
        let (once, twice) = (f64::from(self.once), f64::from(self.twice));
        f64::from(self.distinct) + once * (once - 1.0).max(0.0) / (2.0 * (twice + 1.0))
    }
}

/// Joins columns.
#[derive(Debug)]
pub struct Joiner {
    samples: usize,
    /// Round, pair of values, number given to the pair.
    slots: Vec<u64>,
    round: u64,
    /// How many joins were computed.
    pub tries: usize,
}

impl Joiner {
    /// For columns of `samples` samples (below 2^15).
    pub fn new(samples: usize) -> Self {
        let slots = vec![0; (4 * samples).next_power_of_two()];
        Joiner { samples, slots, round: 0, tries: 0 }
    }

    /// Calls `each` with the number of every pair of values; how many there are.
    #[inline]
    fn number(&mut self, left: &[u16], right: &[u16], mut each: impl FnMut(u16)) -> u32 {
        self.tries += 1;
        self.round += 1;
        if self.round == 1 << 16 {
            self.slots.fill(0);
            self.round = 1;
        }
        let shift = 64 - self.slots.len().trailing_zeros();
        let mask = self.slots.len() - 1;
        let mut distinct = 0;
        for (&left, &right) in left.iter().zip(right) {
            let pair = u64::from(left) << 16 | u64::from(right);
            let wanted = self.round << 32 | pair;
            let mut at = (pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> shift) as usize;
            loop {
                let slot = self.slots[at];
                if slot >> 16 == wanted {
                    each(slot as u16);
                    break;
                }
                if slot >> 48 != self.round {
                    self.slots[at] = wanted << 16 | distinct;
                    each(distinct as u16);
                    distinct += 1;
                    break;
                }
                at = (at + 1) & mask;
            }
        }
        distinct as u32
    }

    /// How many pairs of values there are.
    pub fn count(&mut self, left: &Column, right: &Column) -> u32 {
        if left.distinct == 1 || right.distinct == 1 {
            return left.distinct.max(right.distinct);
        }
        self.number(&left.values, &right.values, |_| ())
    }

    /// The column of two things together.
    pub fn join(&mut self, left: &Column, right: &Column) -> Column {
        let mut values = Vec::with_capacity(self.samples);
        let distinct = self.number(&left.values, &right.values, |number| values.push(number));
        Column::new(values, distinct)
    }

    /// The column of two things together, of which one is no longer needed.
    fn joined(&mut self, left: Column, right: &Column) -> Column {
        match (left.distinct, right.distinct) {
            (_, 1) => left,
            (1, _) => right.clone(),
            _ => self.join(&left, right),
        }
    }
}

/// The columns of all bytes.
fn columns(len: usize, samples: &[&[u8]], joiner: &mut Joiner) -> Vec<Column> {
    let nothing = vec![0; samples.len()];
    let mut bytes = vec![0; samples.len()];
    (0..len)
        .map(|at| {
            bytes.iter_mut().zip(samples).for_each(|(byte, key)| *byte = u16::from(key[at]));
            let mut values = Vec::with_capacity(samples.len());
            let distinct = joiner.number(&bytes, &nothing, |number| values.push(number));
            Column::new(values, distinct)
        })
        .collect()
}

/// The column of a word.
fn word(bytes: &[u32], columns: &[Column], joiner: &mut Joiner) -> Column {
    let constant = Column::constant(joiner.samples);
    let known = bytes.iter().filter(|&&byte| byte != NONE).map(|&byte| &columns[byte as usize]);
    known.fold(constant, |word, column| joiner.joined(word, column))
}

/// What an order costs.
#[derive(Clone, Copy, Debug)]
struct Cost {
    /// How many inner nodes there are.
    nodes: f64,
    /// How many bits both halves of a root need.
    bits: f64,
}

impl Cost {
    fn estimated(order: &Order, columns: &[Column], keys: u64, joiner: &mut Joiner) -> Self {
        let most = |values: f64| values.min(keys as f64);
        let mut vertices: Vec<Column> = Vec::with_capacity(order.n_inner());
        let mut nodes = 0.0;
        for number in 0..order.n_inner() {
            let mut column = Column::constant(joiner.samples);
            for part in order.parts(number) {
                column = match *part {
                    Part::Empty => column,
                    Part::Leaf(bytes) => {
                        let word = word(&bytes, columns, joiner);
                        joiner.joined(column, &word)
                    }
                    Part::Join(part) => joiner.joined(column, &vertices[part as usize]),
                };
            }
            nodes += most(column.support());
            vertices.push(column);
        }
        let bits = |half: Part| match half {
            Part::Empty => 0.0,
            Part::Leaf(_) => 32.0,
            Part::Join(inner) => most(vertices[inner as usize].support()).log2(),
        };
        Cost { nodes, bits: order.halves().into_iter().map(bits).sum() }
    }
}

/// Some bytes and the values that they take together.
#[derive(Debug)]
struct Cluster {
    bytes: Vec<u32>,
    column: Column,
}

impl Cluster {
    fn with(&self, other: &Cluster, joiner: &mut Joiner) -> Cluster {
        Cluster {
            bytes: [&self.bytes[..], &other.bytes].concat(),
            column: joiner.join(&self.column, &other.column),
        }
    }
}

/// The order that samples of keys of `len` bytes suggest.
fn cluster(len: usize, samples: &[&[u8]]) -> Order {
    let joiner = &mut Joiner::new(samples.len());
    let columns = columns(len, samples, joiner);
    let (constant, varying) = (0..len as u32).partition(|&byte| columns[byte as usize].distinct == 1);
    let constant: Vec<u32> = constant;
    let mut words = equal_bytes(varying, &columns);
    join_neighbours(&mut words, joiner);
    gather(&mut words, joiner);
    let mut leaves: Vec<[u32; WORD]> = words.iter().map(|cluster| leaf(&cluster.bytes)).collect();
    let mut tops: Vec<(u32, Column)> =
        (0..).zip(words).map(|(leaf, cluster)| (leaf, cluster.column)).collect();
    let (varying, still) = (leaves.len() as u32, Column::constant(joiner.samples));
    leaves.extend(constant.chunks(WORD).map(leaf));
    let mut pairs = Vec::new();
    // All that is constant is one subtree, which never changes.
    let constants = (varying..leaves.len() as u32).reduce(|left, right| {
        pairs.push((left, right));
        (leaves.len() + pairs.len() - 1) as u32
    });
    tops.extend(constants.map(|top| (top, still)));
    let mut graft = Graft::new(tops, (leaves.len() + pairs.len()) as u32, joiner);
    graft.improve(joiner, TRIES);
    pairs.extend(graft.pairs());
    name_halves(leaves.len(), &mut pairs);
    Order::contracted(len, &leaves, varying as usize, &pairs)
}

fn leaf(bytes: &[u32]) -> [u32; WORD] {
    std::array::from_fn(|i| bytes.get(i).copied().unwrap_or(NONE))
}

/// A word that is a half of the root would need 32 bits there; its name needs fewer. It is joined with
/// itself.
fn name_halves(leaves: usize, pairs: &mut Vec<(u32, u32)>) {
    let Some((left, right)) = pairs.pop() else { return };
    let mut named = |half: u32| {
        if (half as usize) < leaves {
            pairs.push((half, half));
            return (leaves + pairs.len() - 1) as u32;
        }
        half
    };
    let root = (named(left), named(right));
    pairs.push(root);
}

/// Bytes that say the same are in one cluster from the beginning.
fn equal_bytes(varying: Vec<u32>, columns: &[Column]) -> Vec<Cluster> {
    let mut clusters: Vec<Cluster> = Vec::new();
    for byte in varying {
        let column = &columns[byte as usize];
        let equal = |known: &&mut Cluster| known.bytes.len() < WORD && known.column == *column;
        match clusters.iter_mut().find(equal) {
            Some(known) => known.bytes.push(byte),
            None => clusters.push(Cluster { bytes: vec![byte], column: column.clone() }),
        }
    }
    clusters
}

/// Joins neighbours until there are few enough to be compared all with all, or no two fit into a word.
fn join_neighbours(clusters: &mut Vec<Cluster>, joiner: &mut Joiner) {
    let mut i = 0;
    while clusters.len() > CLUSTERS && i + 1 < clusters.len() {
        if clusters[i].bytes.len() + clusters[i + 1].bytes.len() <= WORD {
            let next = clusters.remove(i + 1);
            clusters[i] = clusters[i].with(&next, joiner);
        } else {
            i += 1;
        }
    }
}

/// Gathers bytes into words: always the two clusters that tell most about each other. That is so when the
/// union takes few values compared with both.
fn gather(clusters: &mut Vec<Cluster>, joiner: &mut Joiner) {
    let score = |left: &Cluster, right: &Cluster, joiner: &mut Joiner| {
        if left.bytes.len() + right.bytes.len() > WORD {
            return f64::INFINITY;
        }
        let both = f64::from(joiner.count(&left.column, &right.column));
        both / (f64::from(left.column.distinct) * f64::from(right.column.distinct)).sqrt()
    };
    agglomerate(clusters, joiner, score, Cluster::with);
}

/// Joins the two items with the lowest score, again and again, until no score is finite.
pub fn agglomerate<T>(
    items: &mut Vec<T>,
    joiner: &mut Joiner,
    score: impl Fn(&T, &T, &mut Joiner) -> f64,
    mut join: impl FnMut(&T, &T, &mut Joiner) -> T,
) {
    let n = items.len();
    let mut scores = vec![f64::INFINITY; n * n];
    for i in 0..n {
        for j in 0..i {
            scores[i * n + j] = score(&items[i], &items[j], joiner);
        }
    }
    let mut alive: Vec<usize> = (0..n).collect();
    loop {
        let pairs = alive.iter().enumerate().flat_map(|(k, &i)| alive[..k].iter().map(move |&j| (i, j)));
        let best = pairs.min_by(|&(a, b), &(c, d)| scores[a * n + b].total_cmp(&scores[c * n + d]));
        let Some((high, low)) = best.filter(|&(i, j)| scores[i * n + j] < f64::INFINITY) else { break };
        items[low] = join(&items[low], &items[high], joiner);
        alive.retain(|&i| i != high);
        for &other in alive.iter().filter(|&&other| other != low) {
            scores[low.max(other) * n + low.min(other)] = score(&items[low], &items[other], joiner);
        }
    }
    let mut number = 0;
    items.retain(|_| {
        number += 1;
        alive.contains(&(number - 1))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(seed: &mut u64) -> u8 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 56) as u8
    }

    /// The bytes of a subtree.
    fn bytes_under(order: &Order, part: Part) -> Vec<u32> {
        let mut all: Vec<u32> = match part {
            Part::Empty => Vec::new(),
            Part::Leaf(bytes) => bytes.into_iter().filter(|&byte| byte != NONE).collect(),
            Part::Join(join) => {
                order.parts(join as usize).iter().flat_map(|&part| bytes_under(order, part)).collect()
            }
        };
        all.sort_unstable();
        all
    }

    #[test]
    fn bytes_that_belong_together_come_together_however_far_apart() {
        // Byte i depends on byte i + 16 and i + 32, and on nothing else.
        let mut seed = 3;
        let mut samples = Vec::new();
        for _ in 0..2000 {
            let base: Vec<u8> = (0..16).map(|_| random(&mut seed) % 8).collect();
            samples.extend_from_slice(&base);
            samples.extend(base.iter().map(|byte| byte * 3 + 1));
            samples.extend(base.iter().map(|byte| byte % 3));
        }
        let order = better(&Order::plain(48), &samples, 2000, 6000).unwrap();
        for byte in 0..16 {
            let leaf = |byte: usize| order.places()[byte] / 4;
            assert_eq!((leaf(byte + 16), leaf(byte + 32)), (leaf(byte), leaf(byte)));
        }
    }

    #[test]
    fn halves_that_do_not_depend_on_each_other_become_the_halves_of_the_root() {
        // Even bytes are made of one number below 100, odd ones of another.
        let mut seed = 9;
        let mut samples = Vec::new();
        for _ in 0..2000 {
            let numbers = [random(&mut seed) % 100, random(&mut seed) % 100];
            let byte = |at: u8| numbers[usize::from(at % 2)].wrapping_mul(at / 2 * 2 + 1) >> (at / 8);
            samples.extend((0..32).map(byte));
        }
        let order = better(&Order::plain(32), &samples, 10_000, 20_000).unwrap();
        let halves = order.halves().map(|half| bytes_under(&order, half));
        let even: Vec<u32> = (0..32).step_by(2).collect();
        let odd: Vec<u32> = (1..32).step_by(2).collect();
        assert!(halves == [even.clone(), odd.clone()] || halves == [odd, even], "{halves:?}");
    }

    #[test]
    fn every_byte_has_one_place() {
        let mut seed = 1;
        for len in [1, 2, 3, 4, 5, 9, 30, 200, 1000] {
            let samples: Vec<u8> =
                (0..1000 * len).map(|at| random(&mut seed) % (1 + (at % len % 5) as u8)).collect();
            let samples: Vec<&[u8]> = samples.chunks_exact(len).collect();
            let order = cluster(len, &samples);
            assert_eq!(order.len(), len);
            let mut places = order.places().to_vec();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), len);
            let mut all = order.halves().map(|half| bytes_under(&order, half)).concat();
            all.sort_unstable();
            assert_eq!(all, (0..len as u32).collect::<Vec<_>>());
        }
    }

    #[test]
    fn nothing_is_learned_from_noise_or_nothing() {
        let mut seed = 77;
        let noise: Vec<u8> = (0..16 * 1000).map(|_| random(&mut seed)).collect();
        assert_eq!(better(&Order::plain(16), &noise, 8000, 8000), None);
        assert_eq!(better(&Order::plain(16), &[5; 16 * 1000], 8000, 2), None);
        assert_eq!(better(&Order::plain(0), &[], 8000, 0), None);
    }

    /// What is estimated from 4000 samples of a value, which is made of two random numbers.
    fn estimated(value: impl Fn(u64, u64) -> u64) -> f64 {
        let mut seed = 5u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            seed >> 33
        };
        let values: Vec<u64> = (0..4000).map(|_| value(random(), random())).collect();
        let upper: Vec<u16> = values.iter().map(|value| (value >> 12) as u16).collect();
        let lower: Vec<u16> = values.iter().map(|value| (value & 0xfff) as u16).collect();
        let mut numbers = Vec::new();
        let distinct = Joiner::new(4000).number(&upper, &lower, |number| numbers.push(number));
        Column::new(numbers, distinct).support()
    }

    #[test]
    fn the_number_of_values_is_estimated() {
        for values in [10, 500, 5_000, 40_000] {
            let estimate = estimated(|random, _| random % values) / values as f64;
            assert!((0.8..1.25).contains(&estimate), "{estimate} times {values}");
        }
        // Half of the states have one of few values: if all were equally frequent, there would be half as
        // many.
        let skewed = estimated(|one, other| if one % 2 == 0 { other % 10 } else { 10 + other % 20_000 });
        assert!((17_000.0..24_000.0).contains(&skewed), "{skewed}");
        assert!(estimated(|random, _| random % (1 << 25)) > 1e6, "all different");
    }
}
