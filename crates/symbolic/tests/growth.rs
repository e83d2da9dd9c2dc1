//! Systems whose slots are met one after another: a search that goes on with new slots finds the states that a
//! plain search finds, with the slots renumbered each time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use symbolic::race::{self, Means, Reached};
use symbolic::{
    Ended, LocalGroup, LocalPredicate, LocalSteps, Move, Partitioned, Progress, Remembering, Reorder, Slot,
    Unanswered,
};
use system::ActionId;

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

const PARTS: usize = 9;
const VALUES: usize = 3;

/// Steps that look at some parts and set others.
struct Rule {
    reads: Vec<usize>,
    writes: Vec<usize>,
    table: BTreeMap<Vec<u32>, Vec<Vec<u32>>>,
    only_idle: bool,
}

/// A system of parts, some of which have slots. The others are 0 in all states that were met so far.
struct Gradual {
    rules: Vec<Rule>,
    /// The parts that have slots, in the order of the slots.
    parts: Vec<usize>,
    /// Parts that were met without a slot.
    met: BTreeSet<usize>,
    slots: Vec<Slot>,
    groups: Vec<LocalGroup>,
}

fn vectors(len: usize) -> Vec<Vec<u32>> {
    (0..len).fold(vec![Vec::new()], |all, _| {
        let longer = |vector: &Vec<u32>| {
            let vector = vector.clone();
            (0..VALUES as u32).map(move |value| [&vector[..], &[value]].concat())
        };
        all.iter().flat_map(longer).collect()
    })
}

fn rule(random: &mut Random, first: usize) -> Rule {
    // Every rule looks at the part that is known from the beginning.
    let mut some = |most| -> Vec<usize> {
        let parts: BTreeSet<usize> = (0..most).map(|_| (first + random.below(3)) % PARTS).collect();
        parts.into_iter().collect()
    };
    let (mut reads, writes) = (some(2), some(2));
    if !reads.contains(&0) {
        reads.insert(0, 0);
    }
    let mut table = BTreeMap::new();
    for vector in vectors(reads.len()) {
        let step = |random: &mut Random| writes.iter().map(|_| random.below(VALUES) as u32).collect();
        let steps = (0..random.below(4).saturating_sub(2)).map(|_| step(random)).collect();
        table.insert(vector, steps);
    }
    Rule { reads, writes, table, only_idle: false }
}

impl Gradual {
    fn random(random: &mut Random) -> Gradual {
        let mut rules: Vec<Rule> = (0..12).map(|n| rule(random, n % PARTS)).collect();
        rules[0].only_idle = random.below(2) == 0;
        let mut system =
            Gradual { rules, parts: vec![0], met: BTreeSet::new(), slots: Vec::new(), groups: Vec::new() };
        system.rebuild();
        system
    }

    fn rebuild(&mut self) {
        let named = |part: &usize| Slot { name: part.to_string(), hidden: false };
        self.slots = self.parts.iter().map(named).collect();
        let seen = |parts: &[usize]| -> Vec<u32> {
            let numbered = self.parts.iter().zip(0..).filter(|(part, _)| parts.contains(part));
            numbered.map(|(_, slot)| slot).collect()
        };
        let group = |(number, rule): (usize, &Rule)| LocalGroup {
            actions: vec![ActionId(number as u64)],
            process: number as u32,
            takers: Vec::new(),
            hands_over: false,
            reads: seen(&rule.reads),
            writes: seen(&rule.writes),
            only: Vec::new(),
            only_idle: rule.only_idle,
            rare: false,
        };
        self.groups = self.rules.iter().enumerate().map(group).collect();
    }

    /// The states to which steps lead, by a plain search.
    fn reachable(&self) -> BTreeSet<Vec<u32>> {
        let first = vec![0; PARTS];
        let (mut seen, mut open) = (BTreeSet::from([first.clone()]), vec![first]);
        while let Some(state) = open.pop() {
            let next = |only_idle: bool| -> Vec<Vec<u32>> {
                let rules = self.rules.iter().filter(|rule| rule.only_idle == only_idle);
                rules.flat_map(|rule| rule.next(&state)).collect()
            };
            let mut list = next(false);
            if list.is_empty() {
                list = next(true);
            }
            for next in list {
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        seen
    }
}

impl Rule {
    fn next(&self, state: &[u32]) -> Vec<Vec<u32>> {
        let read: Vec<u32> = self.reads.iter().map(|part| state[*part]).collect();
        let step = |written: &Vec<u32>| {
            let mut next = state.to_vec();
            self.writes.iter().zip(written).for_each(|(part, value)| next[*part] = *value);
            next
        };
        self.table[&read].iter().map(step).collect()
    }
}

impl Partitioned for Gradual {
    fn slots(&self) -> &[Slot] {
        &self.slots
    }

    fn groups(&self) -> &[LocalGroup] {
        &self.groups
    }

    fn predicates(&self) -> &[LocalPredicate] {
        &[]
    }

    fn grow(&mut self) -> Vec<Option<u32>> {
        let before: BTreeMap<usize, u32> = self.parts.iter().copied().zip(0..).collect();
        // New slots in front, so that all have other numbers.
        let new = std::mem::take(&mut self.met).into_iter().filter(|part| !before.contains_key(part));
        self.parts = new.chain(self.parts.clone()).collect();
        self.rebuild();
        self.parts.iter().map(|part| before.get(part).copied()).collect()
    }

    fn vector(&mut self, state: &[u8], out: &mut Vec<u32>) -> Result<(), Unanswered> {
        out.extend(self.parts.iter().map(|part| u32::from(state[*part])));
        Ok(())
    }

    fn steps(&mut self, group: usize, reads: &[u32], out: &mut LocalSteps) -> Result<(), Unanswered> {
        let mut state = vec![0; PARTS];
        for (slot, value) in self.groups[group].reads.iter().zip(reads) {
            state[self.parts[*slot as usize]] = *value;
        }
        for next in self.rules[group].next(&state) {
            let unknown = |part: &usize| next[*part] != 0 && !self.parts.contains(part);
            let new: Vec<usize> = self.rules[group].writes.iter().copied().filter(unknown).collect();
            if !new.is_empty() {
                self.met.extend(new);
                return Err(Unanswered::Grown);
            }
            let written = self.groups[group].writes.iter().map(|slot| next[self.parts[*slot as usize]]);
            out.written.extend(written);
            out.n_steps += 1;
            out.enabled = true;
        }
        Ok(())
    }

    fn moves(&mut self, _: usize, _: &[u32]) -> Result<Vec<Move>, Unanswered> {
        Ok(Vec::new())
    }

    fn holds(&mut self, _: usize, _: &[u32]) -> Result<bool, Unanswered> {
        Ok(true)
    }
}

/// The number of states, how often the search went on with new slots, and how often it began again.
fn counted(system: &mut Gradual, reorder: Reorder, chains: bool) -> (String, u64, u64) {
    let progress = Arc::new(Progress::default());
    let means = Means { reorder, chains, memory: 1 << 28, ending: None, progress: Arc::clone(&progress) };
    let mut system = Remembering::new(system);
    let states = loop {
        match race::reach(&mut system, &[0; PARTS], &means) {
            Ok(Reached { mut space, all, whole }) => {
                assert!(whole);
                break space.count(all).expect("memory").to_string();
            }
            Err(Ended::Grown) => {
                progress.restarts.fetch_add(1, Ordering::Relaxed);
                system.grow();
            }
            Err(other) => panic!("{other:?}"),
        }
    };
    let number = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    (states, number(&progress.growths), number(&progress.restarts))
}

#[test]
fn states_are_those_of_a_plain_search() {
    let mut random = Random(77);
    let (mut growths, mut restarts, mut large) = (0, 0, 0);
    for round in 0..400 {
        let mut system = Gradual::random(&mut random);
        let expected = system.reachable().len();
        let reorder = [Reorder::Best, Reorder::None, Reorder::Force, Reorder::Sloan][round % 4];
        let (states, grown, again) = counted(&mut system, reorder, round % 7 == 0);
        assert_eq!(states, expected.to_string(), "round {round}");
        growths += grown;
        restarts += again;
        large += usize::from(expected > 100);
    }
    assert!(growths > 200 && restarts > 50 && large > 30, "{growths} {restarts} {large}");
}
