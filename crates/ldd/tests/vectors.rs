//! Diagrams against plain sets of vectors: every operation, on random sets and random groups.

use ldd::{Access, Full, Group, Groups, Ldd, Learned, Learner, Set};
use std::collections::BTreeSet;

type Plain = BTreeSet<Vec<u32>>;

/// A small generator of random numbers, the same on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 33) % u64::from(bound)) as u32
    }

    fn vectors(&mut self, len: usize, n: u32, values: u32) -> Plain {
        (0..self.below(n + 1)).map(|_| (0..len).map(|_| self.below(values)).collect()).collect()
    }
}

fn diagram(ldd: &mut Ldd, plain: &Plain) -> Set {
    ldd.set_of(plain.iter().map(Vec::as_slice)).expect("memory")
}

fn plain(ldd: &Ldd, set: Set) -> Plain {
    ldd.vectors(set).collect()
}

#[test]
fn sets_are_sets() {
    let mut random = Random(77);
    let mut ldd = Ldd::new(u64::MAX);
    for round in 0..400 {
        let len = random.below(5) as usize;
        let (x, y) = (random.vectors(len, 40, 4), random.vectors(len, 40, 4));
        let (a, b) = (diagram(&mut ldd, &x), diagram(&mut ldd, &y));
        let union = ldd.union(a, b).unwrap();
        let both = ldd.intersect(a, b).unwrap();
        let minus = ldd.minus(a, b).unwrap();
        assert_eq!(plain(&ldd, union), &x | &y, "round {round}");
        assert_eq!(plain(&ldd, both), &x & &y, "round {round}");
        assert_eq!(plain(&ldd, minus), &x - &y, "round {round}");
        // Equal sets have equal names, however they were made.
        let again = ldd.union(minus, both).unwrap();
        assert_eq!(again, a);
        assert_eq!(ldd.count(union), (x.len() + (&y - &x).len()).into());
        assert_eq!(ldd.pick(a), x.iter().next().cloned());
        assert!(x.iter().all(|vector| ldd.contains(a, vector)));
        assert!(y.iter().all(|vector| ldd.contains(a, vector) == x.contains(vector)));
    }
}

/// A group and what it does, as a plain function.
struct Toy {
    access: Vec<Access>,
    salt: u64,
}

/// Values of each level.
const VALUES: u32 = 3;

impl Toy {
    fn random(random: &mut Random, levels: usize) -> Toy {
        use Access::{Both, Read, Skip, Write};
        loop {
            let access: Vec<Access> =
                (0..levels).map(|_| [Skip, Skip, Read, Write, Both][random.below(5) as usize]).collect();
            if access.iter().any(|&access| access != Skip) {
                return Toy { access, salt: u64::from(random.below(1 << 30)) | 1 };
            }
        }
    }

    /// The new values for the values that are read, of each successor.
    fn outcomes(&self, read: &[u32]) -> Vec<Vec<u32>> {
        let seed =
            read.iter().fold(self.salt, |seed, &v| seed.wrapping_mul(31).wrapping_add(u64::from(v) + 7));
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let written = self.access.iter().filter(|access| access.writes()).count();
        (0..random.below(3)).map(|_| (0..written).map(|_| random.below(VALUES)).collect()).collect()
    }

    fn read(&self, state: &[u32]) -> Vec<u32> {
        let read = |(&value, access): (&u32, &Access)| access.reads().then_some(value);
        state.iter().zip(&self.access).filter_map(read).collect()
    }

    fn successors(&self, state: &[u32]) -> Vec<Vec<u32>> {
        let apply = |new: Vec<u32>| {
            let mut new = new.into_iter();
            let next =
                |(&old, access): (&u32, &Access)| if access.writes() { new.next().unwrap() } else { old };
            state.iter().zip(&self.access).map(next).collect()
        };
        self.outcomes(&self.read(state)).into_iter().map(apply).collect()
    }

    /// The relation for these values: old and new ones in the order of the levels.
    fn relation(&self, ldd: &mut Ldd, read: &[u32]) -> Result<Set, Full> {
        let mut all = Set::EMPTY;
        for written in self.outcomes(read) {
            let (mut old, mut new, mut vector) = (read.iter(), written.iter(), Vec::new());
            for access in &self.access {
                if access.reads() {
                    vector.extend(old.next());
                }
                if access.writes() {
                    vector.extend(new.next());
                }
            }
            let one = ldd.single(&vector)?;
            all = ldd.union(all, one)?;
        }
        Ok(all)
    }
}

/// Learns by asking the plain functions, each question once.
struct Asker<'a> {
    toys: &'a [Toy],
    asked: BTreeSet<(usize, Vec<u32>)>,
}

impl Learner for Asker<'_> {
    type Error = Full;

    fn learn(&mut self, ldd: &mut Ldd, group: usize, read: Set) -> Result<Learned, Full> {
        let (mut all, mut enabled) = (Set::EMPTY, Vec::new());
        for read in ldd.vectors(read).collect::<Vec<_>>() {
            let relation = self.toys[group].relation(ldd, &read)?;
            if !relation.is_empty() {
                enabled.push(read.clone());
            }
            assert!(self.asked.insert((group, read)), "asked twice");
            all = ldd.union(all, relation)?;
        }
        Ok(Learned { relation: all, enabled: ldd.set_of_sorted(&enabled)? })
    }
}

/// A random system: toys, and their groups.
fn system(random: &mut Random, levels: usize) -> (Vec<Toy>, Groups) {
    let toys: Vec<Toy> = (0..1 + random.below(5)).map(|_| Toy::random(random, levels)).collect();
    let group = |(number, toy): (usize, &Toy)| Group::new(number, &toy.access);
    let groups = toys.iter().enumerate().filter_map(group).collect();
    (toys, Groups::new(groups, levels))
}

fn reachable(toys: &[Toy], from: &Plain) -> Plain {
    let (mut seen, mut open) = (from.clone(), from.iter().cloned().collect::<Vec<_>>());
    while let Some(state) = open.pop() {
        for next in toys.iter().flat_map(|toy| toy.successors(&state)) {
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    seen
}

/// With levels of which only some values matter, what is known is compared with the rest alone.
#[test]
fn a_projection_is_within_what_is_known_where_nothing_is_missing() {
    let mut random = Random(11);
    let mut ldd = Ldd::new(u64::MAX);
    let (mut inside, mut outside) = (0, 0);
    for round in 0..900 {
        let levels = 1 + random.below(5) as usize;
        let toy = Toy::random(&mut random, levels);
        let mut group = Group::new(round, &toy.access).expect("a group");
        if let Some(level) = (0..levels).find(|level| toy.access[*level].reads()) {
            group = group.only(level, vec![0, 2]);
        }
        let set = diagram(&mut ldd, &random.vectors(levels, 8, VALUES));
        let other = diagram(&mut ldd, &random.vectors(levels, 60, VALUES));
        let (read, known) = (ldd.project(set, &group, 0).unwrap(), ldd.project(other, &group, 0).unwrap());
        let missing = ldd.minus(read, known).unwrap();
        assert_eq!(ldd.projects_into(set, known, &group, 0).unwrap(), missing.is_empty(), "round {round}");
        *if missing.is_empty() { &mut inside } else { &mut outside } += 1;
    }
    assert!(inside > 100 && outside > 100, "{inside} {outside}");
}

#[test]
fn images_are_what_steps_lead_to() {
    let mut random = Random(5);
    let mut ldd = Ldd::new(u64::MAX);
    for round in 0..600 {
        let levels = 1 + random.below(5) as usize;
        let toy = Toy::random(&mut random, levels);
        let group = Group::new(round, &toy.access).expect("a group");
        let (from, universe) = (random.vectors(levels, 30, VALUES), random.vectors(levels, 60, VALUES));
        let set = diagram(&mut ldd, &from);
        let read = ldd.project(set, &group, 0).unwrap();
        assert_eq!(plain(&ldd, read), from.iter().map(|state| toy.read(state)).collect());
        let other = diagram(&mut ldd, &universe);
        let known = ldd.project(other, &group, 0).unwrap();
        let missing = ldd.minus(read, known).unwrap();
        assert_eq!(ldd.projects_into(set, known, &group, 0).unwrap(), missing.is_empty());
        assert!(ldd.projects_into(set, read, &group, 0).unwrap());
        // All that the universe needs is learned.
        let (mut relation, all) = (Set::EMPTY, diagram(&mut ldd, &(&from | &universe)));
        let reads = ldd.project(all, &group, 0).unwrap();
        for read in ldd.vectors(reads).collect::<Vec<_>>() {
            let more = toy.relation(&mut ldd, &read).unwrap();
            relation = ldd.union(relation, more).unwrap();
        }
        let image = ldd.image(set, relation, &group, 0).unwrap();
        assert_eq!(plain(&ldd, image), from.iter().flat_map(|state| toy.successors(state)).collect());
        let allowed = diagram(&mut ldd, &universe);
        let before = ldd.pre_image(set, relation, allowed, &group, 0).unwrap();
        let leads = |state: &&Vec<u32>| toy.successors(state).iter().any(|next| from.contains(next));
        assert_eq!(plain(&ldd, before), universe.iter().filter(leads).cloned().collect(), "round {round}");
    }
}

#[test]
fn saturation_finds_what_is_reachable_and_what_reaches() {
    let mut random = Random(9);
    for round in 0..400 {
        let levels = 1 + random.below(6) as usize;
        let (toys, mut groups) = system(&mut random, levels);
        let start: Plain =
            (0..1 + random.below(3)).map(|_| (0..levels).map(|_| random.below(VALUES)).collect()).collect();
        let mut ldd = Ldd::new(u64::MAX);
        // Collections as often as can be, in every second round.
        ldd.collect_beyond(if round % 2 == 0 { 1 } else { 1 << 20 });
        let (from, kept) = (diagram(&mut ldd, &start), diagram(&mut ldd, &start));
        ldd.protect(kept);
        let mut asker = Asker { toys: &toys, asked: BTreeSet::new() };
        let all = ldd.saturate(from, &mut groups, &mut asker).unwrap();
        let expected = reachable(&toys, &start);
        assert_eq!(plain(&ldd, all), expected, "round {round}");
        assert_eq!(plain(&ldd, kept), start);
        ldd.protect(all);
        // Backwards, to some of the reachable states, inside a part of them.
        let target: Plain = expected.iter().filter(|_| random.below(8) == 0).cloned().collect();
        let inside: Plain = expected.iter().filter(|_| random.below(6) != 0).cloned().collect();
        let (to, universe) = (diagram(&mut ldd, &target), diagram(&mut ldd, &inside));
        ldd.protect(universe);
        let before = ldd.saturate_backwards(to, universe, &groups).unwrap();
        let mut reaching: Plain = &target & &inside;
        loop {
            let leads = |state: &&Vec<u32>| {
                toys.iter().flat_map(|toy| toy.successors(state)).any(|next| reaching.contains(&next))
            };
            let more: Plain =
                inside.iter().filter(leads).cloned().collect::<Plain>().union(&reaching).cloned().collect();
            if more == reaching {
                break;
            }
            reaching = more;
        }
        assert_eq!(plain(&ldd, before), reaching, "round {round}");
    }
}

#[test]
fn without_memory_there_is_an_answer() {
    let mut random = Random(3);
    for limit in [20_000, 60_000, 200_000] {
        let (toys, mut groups) = system(&mut random, 6);
        let mut ldd = Ldd::new(limit);
        let mut asker = Asker { toys: &toys, asked: BTreeSet::new() };
        let start = random.vectors(6, 4000, VALUES);
        let done = ldd
            .set_of(start.iter().map(Vec::as_slice))
            .and_then(|from| ldd.saturate(from, &mut groups, &mut asker));
        if let Ok(all) = done {
            assert_eq!(plain(&ldd, all), reachable(&toys, &start));
        }
        // Whatever happened, the diagrams can be used on.
        ldd.collect(&groups.roots());
        let one = ldd.single(&[1, 2, 3]).unwrap();
        assert_eq!(ldd.pick(one), Some(vec![1, 2, 3]));
    }
}

#[test]
fn longer_vectors_have_new_values_among_the_old_ones() {
    let mut random = Random(21);
    let mut ldd = Ldd::new(u64::MAX);
    for _ in 0..200 {
        let levels = random.below(5) as usize;
        let set = random.vectors(levels, 20, VALUES);
        let mut plan: Vec<Option<u32>> = vec![None; levels];
        for _ in 0..random.below(4) {
            plan.insert(random.below(plan.len() as u32 + 1) as usize, Some(random.below(VALUES)));
        }
        let longer = |vector: &Vec<u32>| -> Vec<u32> {
            let mut old = vector.iter();
            plan.iter().filter_map(|value| value.or_else(|| old.next().copied())).collect()
        };
        let before = diagram(&mut ldd, &set);
        let after = ldd.widen(before, &plan).unwrap();
        assert_eq!(plain(&ldd, after), set.iter().map(longer).collect());
    }
}
