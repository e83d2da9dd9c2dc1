//! Quotients of small random systems, against the definition: the largest relation that is a bisimulation.

use super::*;
use search::state_graph::csr::Csr;

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

fn random(random: &mut Random) -> Lts {
    let n = 1 + random.below(9);
    let names = vec!["a".to_string(), "b".to_string(), "tau".to_string()];
    let mut labels = Vec::new();
    let edges: Csr = (0..n)
        .map(|_| {
            let row: Vec<u32> = (0..random.below(4)).map(|_| random.below(n) as u32).collect();
            labels.extend(row.iter().map(|_| random.below(5).min(2) as u32));
            row
        })
        .collect();
    let classes = (0..n).map(|_| u32::from(random.below(5) == 0)).collect();
    let values = vec![vec!["0".to_string()], vec!["1".to_string()]];
    Lts { edges, labels, names, classes, values, expressions: vec!["x".to_string()] }
}

/// Pairs of states, refined by the definition until nothing changes.
fn naive(lts: &Lts, equivalence: Equivalence) -> Vec<Vec<bool>> {
    let n = lts.n_states();
    let mut related: Vec<Vec<bool>> =
        (0..n).map(|a| (0..n).map(|b| lts.classes[a] == lts.classes[b]).collect()).collect();
    loop {
        let before = related.clone();
        for a in 0..n {
            for b in 0..n {
                related[a][b] = before[a][b]
                    && simulates(lts, equivalence, &before, a, b)
                    && simulates(lts, equivalence, &before, b, a);
            }
        }
        if related == before {
            return related;
        }
    }
}

/// Whether `b` can answer every step of `a`.
fn simulates(lts: &Lts, equivalence: Equivalence, related: &[Vec<bool>], a: usize, b: usize) -> bool {
    lts.steps(a).all(|(label, to)| {
        let answers = |from: usize| {
            lts.steps(from).any(|(other, target)| other == label && related[to as usize][target as usize])
        };
        match equivalence {
            Equivalence::Strong => answers(b),
            Equivalence::Branching => {
                label == 2 && related[to as usize][b]
                    || silently(lts, b).into_iter().any(|from| related[a][from] && answers(from))
            }
        }
    })
}

/// The states that silent steps lead to without leaving the class: what is seen between must not change.
fn silently(lts: &Lts, state: usize) -> Vec<usize> {
    let mut found = vec![state];
    let mut at = 0;
    while at < found.len() {
        for (label, target) in lts.steps(found[at]) {
            let same = lts.classes[target as usize] == lts.classes[state];
            if label == 2 && same && !found.contains(&(target as usize)) {
                found.push(target as usize);
            }
        }
        at += 1;
    }
    found
}

fn agrees(equivalence: Equivalence) {
    let mut source = Random(7 + equivalence as u64);
    let (mut smaller, stop) = (0, Stop::never());
    for round in 0..3000 {
        let lts = random(&mut source);
        let related = naive(&lts, equivalence);
        for threads in [1, 3] {
            let means = Means { threads, stop: &stop, room: Room::default() };
            let blocks = partition(&lts, equivalence, means).unwrap();
            for a in 0..lts.n_states() {
                for b in 0..lts.n_states() {
                    assert_eq!(blocks[a] == blocks[b], related[a][b], "{round}: {a} {b} {lts:?}");
                }
            }
            smaller += usize::from(count(&blocks) < lts.n_states());
            // A quotient cannot be made smaller, and its first state is the initial one.
            let small = quotient(&lts, &blocks, equivalence, Room::default()).unwrap();
            assert_eq!((blocks[0], small.n_states()), (0, count(&blocks)));
            assert_eq!(count(&partition(&small, equivalence, means).unwrap()), small.n_states());
        }
    }
    assert!(smaller > 1000, "{smaller} quotients are smaller");
}

#[test]
fn strong_quotients_are_those_of_the_definition() {
    agrees(Equivalence::Strong);
}

#[test]
fn branching_quotients_are_those_of_the_definition() {
    agrees(Equivalence::Branching);
}

#[test]
fn what_does_not_fit_is_refused() {
    let (lts, stop) = (random(&mut Random(3)), Stop::never());
    let tried = |limit| {
        let room = Room { limit, account: MemoryAccount::Search };
        [Equivalence::Strong, Equivalence::Branching]
            .map(|equivalence| partition(&lts, equivalence, Means { threads: 1, stop: &stop, room }))
    };
    for refused in tried(Some(lts.memory())) {
        assert!(refused.is_err_and(|TooLarge(needed)| needed > lts.memory()));
    }
    assert!(tried(None).iter().chain(&tried(Some(1 << 20))).all(Result::is_ok));
}
