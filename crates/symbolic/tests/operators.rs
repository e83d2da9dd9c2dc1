//! The operators on sets of states, against their definitions on the states one by one: random systems of a
//! few slots, with collections of nodes all the time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use symbolic::{
    ChosenSteps, Ended, Goal, Kept, LocalGroup, LocalPredicate, LocalSteps, Move, Operators, Partitioned,
    Predicate, Progress, Slot, Space, Unanswered,
};

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

type Vector = Vec<u32>;

/// A system that is a table: for each group and the values that it reads, the values that it writes.
#[derive(Debug)]
struct Table {
    slots: Vec<Slot>,
    groups: Vec<LocalGroup>,
    predicates: Vec<LocalPredicate>,
    steps: Vec<BTreeMap<Vector, Vec<Vector>>>,
    /// For each predicate the values for which it holds.
    holds: Vec<BTreeSet<Vector>>,
}

const SLOTS: usize = 4;
const VALUES: usize = 3;

impl Table {
    fn random(random: &mut Random) -> Table {
        let slots = (0..SLOTS).map(|n| Slot { name: n.to_string(), hidden: false }).collect();
        let (mut groups, mut steps): (Vec<LocalGroup>, Vec<BTreeMap<Vector, Vec<Vector>>>) =
            Default::default();
        for process in 0..5 {
            let touched: Vec<u32> = (0..SLOTS as u32).filter(|_| random.below(2) == 0).collect();
            let Some(&first) = touched.first() else { continue };
            let mut reads: Vec<u32> = touched.iter().copied().filter(|_| random.below(3) > 0).collect();
            let mut writes: Vec<u32> = touched.iter().copied().filter(|_| random.below(3) > 0).collect();
            if reads.is_empty() {
                reads.push(first);
            }
            if writes.is_empty() {
                writes.push(first);
            }
            let mut table = BTreeMap::new();
            for vector in vectors(reads.len()) {
                let step =
                    |random: &mut Random| (0..writes.len()).map(|_| random.below(VALUES) as u32).collect();
                let list: Vec<Vector> =
                    (0..random.below(3).saturating_sub(1)).map(|_| step(random)).collect();
                table.insert(vector, list);
            }
            steps.push(table);
            let only = Vec::new();
            groups.push(LocalGroup {
                actions: Vec::new(),
                process,
                takers: Vec::new(),
                hands_over: false,
                reads,
                writes,
                only,
                only_idle: false,
                rare: false,
            });
        }
        let mut system = Table { slots, groups, predicates: Vec::new(), steps, holds: Vec::new() };
        if random.below(2) == 0 {
            system.add_idle(random);
        }
        for _ in 0..3 {
            let reads: Vec<u32> = (0..SLOTS as u32).filter(|_| random.below(2) == 0).collect();
            system.holds.push(vectors(reads.len()).into_iter().filter(|_| random.below(3) > 0).collect());
            system.predicates.push(LocalPredicate { what: Predicate::Invariants, reads });
        }
        system
    }

    /// A group with steps where no other has one.
    fn add_idle(&mut self, random: &mut Random) {
        let mut table = BTreeMap::new();
        for vector in vectors(SLOTS).into_iter().filter(|vector| self.next(vector).is_empty()) {
            if random.below(2) == 0 {
                table.insert(vector, vec![vec![random.below(VALUES) as u32]]);
            }
        }
        let (reads, only) = ((0..SLOTS as u32).collect(), Vec::new());
        self.steps.push(table);
        self.groups.push(LocalGroup {
            actions: Vec::new(),
            process: 9,
            takers: Vec::new(),
            hands_over: false,
            reads,
            writes: vec![0],
            only,
            only_idle: true,
            rare: false,
        });
    }

    fn values(vector: &[u32], slots: &[u32]) -> Vector {
        slots.iter().map(|slot| vector[*slot as usize]).collect()
    }

    /// The groups that have a step from a state, and where it leads.
    fn next(&self, vector: &[u32]) -> Vec<(usize, Vector)> {
        let mut found = Vec::new();
        for (number, group) in self.groups.iter().enumerate() {
            for written in self.steps[number].get(&Table::values(vector, &group.reads)).into_iter().flatten()
            {
                let mut next = vector.to_vec();
                group.writes.iter().zip(written).for_each(|(slot, value)| next[*slot as usize] = *value);
                found.push((number, next));
            }
        }
        found
    }
}

/// All vectors of a length.
fn vectors(len: usize) -> Vec<Vector> {
    let mut all = vec![Vec::new()];
    for _ in 0..len {
        let longer = |vector: &Vector| -> Vec<Vector> {
            (0..VALUES as u32).map(|value| [&vector[..], &[value]].concat()).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

impl Partitioned for Table {
    fn slots(&self) -> &[Slot] {
        &self.slots
    }

    fn groups(&self) -> &[LocalGroup] {
        &self.groups
    }

    fn predicates(&self) -> &[LocalPredicate] {
        &self.predicates
    }

    fn grow(&mut self) -> Vec<Option<u32>> {
        (0..SLOTS as u32).map(Some).collect()
    }

    fn vector(&mut self, state: &[u8], out: &mut Vec<u32>) -> Result<(), Unanswered> {
        out.extend(state.iter().map(|byte| u32::from(*byte)));
        Ok(())
    }

    fn steps(&mut self, group: usize, reads: &[u32], out: &mut LocalSteps) -> Result<(), Unanswered> {
        for written in self.steps[group].get(reads).into_iter().flatten() {
            out.written.extend(written);
            out.n_steps += 1;
            out.enabled = true;
        }
        Ok(())
    }

    fn moves(&mut self, group: usize, reads: &[u32]) -> Result<Vec<Move>, Unanswered> {
        let movers = || vec![self.groups[group].process];
        let step = |written: &Vector| Move { written: Some(written.clone()), movers: movers() };
        Ok(self.steps[group].get(reads).into_iter().flatten().map(step).collect())
    }

    fn holds(&mut self, predicate: usize, reads: &[u32]) -> Result<bool, Unanswered> {
        Ok(self.holds[predicate].contains(reads))
    }
}

type States = BTreeSet<Vector>;

/// The states one by one.
struct Plain {
    all: States,
    next: BTreeMap<Vector, Vec<(usize, Vector)>>,
}

impl Plain {
    fn new(system: &Table) -> Plain {
        let mut plain = Plain { all: States::new(), next: BTreeMap::new() };
        let mut open = vec![vec![0; SLOTS]];
        while let Some(vector) = open.pop() {
            if plain.all.insert(vector.clone()) {
                let next = system.next(&vector);
                open.extend(next.iter().map(|(_, next)| next.clone()));
                plain.next.insert(vector, next);
            }
        }
        plain
    }

    fn before(&self, to: &States, group: Option<usize>) -> States {
        let leads = |vector: &&Vector| {
            self.next[*vector].iter().any(|(by, next)| group.is_none_or(|g| g == *by) && to.contains(next))
        };
        self.all.iter().filter(leads).cloned().collect()
    }

    fn until(&self, within: &States, goal: &States, group: Option<usize>) -> States {
        let mut found = goal.clone();
        loop {
            let more: States = self.before(&found, group).intersection(within).cloned().collect();
            let next: States = found.union(&more).cloned().collect();
            if next == found {
                return found;
            }
            found = next;
        }
    }

    fn forever(&self, within: &States, ends: &States) -> States {
        let mut now = within.clone();
        loop {
            let on: States = self.before(&now, None).union(ends).cloned().collect();
            let next: States = now.intersection(&on).cloned().collect();
            if next == now {
                return now;
            }
            now = next;
        }
    }

    /// By its definition: the states from which a strongly connected part of `within` can be reached in which
    /// both goals are met, or an end.
    fn fairly(&self, within: &States, ends: &States, (states, group): (&States, usize)) -> States {
        let mut good: States = ends.intersection(within).cloned().collect();
        for vector in within {
            let step: States = self.next[vector].iter().map(|(_, next)| next.clone()).collect();
            let behind = self.forwards(&step, within);
            if !behind.contains(vector) {
                continue;
            }
            // The component of the vector: what it reaches and what reaches it.
            let back = self.until(within, &States::from([vector.clone()]), None);
            let component: States = behind.intersection(&back).cloned().collect();
            let moves = component.iter().any(|member| {
                self.next[member].iter().any(|(by, next)| *by == group && component.contains(next))
            });
            if moves && component.intersection(states).next().is_some() {
                good.insert(vector.clone());
            }
        }
        self.until(within, &good, None)
    }

    fn forwards(&self, from: &States, within: &States) -> States {
        let mut found: States = States::new();
        let mut open: Vec<Vector> = from.intersection(within).cloned().collect();
        while let Some(vector) = open.pop() {
            if found.insert(vector.clone()) {
                open.extend(
                    self.next[&vector].iter().map(|(_, next)| next.clone()).filter(|v| within.contains(v)),
                );
            }
        }
        found
    }
}

/// The states of a diagram.
fn states(operators: &Operators<'_, '_>, set: &Kept, plain: &Plain) -> States {
    plain.all.iter().filter(|vector| operators.contains(set, vector)).cloned().collect()
}

fn compare(system: &mut Table) -> Result<usize, Ended> {
    let plain = Plain::new(system);
    let holds: Vec<States> = (0..3)
        .map(|at| {
            let holds = |vector: &&Vector| {
                system.holds[at].contains(&Table::values(vector, &system.predicates[at].reads))
            };
            plain.all.iter().filter(holds).cloned().collect()
        })
        .collect();
    let n_groups = system.groups.len();
    let order = (0..SLOTS as u32).collect();
    let mut space = Space::new(system, order, vec![0; SLOTS], 1 << 26, Arc::new(Progress::default()));
    let all = space.reach_all()?;
    let mut ops = Operators::new(&mut space, all).collecting_beyond(30);
    let everything = ops.all();
    assert_eq!(states(&ops, &everything, &plain), plain.all);
    let sets: Vec<Kept> = (0..3).map(|at| ops.satisfying(&everything, at)).collect::<Result<_, _>>()?;
    let stuck = ops.stuck(&everything)?;
    let plain_stuck: States = plain.all.iter().filter(|v| plain.next[*v].is_empty()).cloned().collect();
    assert_eq!(states(&ops, &stuck, &plain), plain_stuck);
    let (p, q, r) = (&sets[0], &sets[1], &sets[2]);
    assert_eq!(states(&ops, p, &plain), holds[0]);
    let before = ops.before(p, &everything)?;
    assert_eq!(states(&ops, &before, &plain), plain.before(&holds[0], None));
    let until = ops.until(p, q)?;
    assert_eq!(states(&ops, &until, &plain), plain.until(&holds[0], &holds[1], None));
    let forever = ops.forever(p, &stuck)?;
    assert_eq!(states(&ops, &forever, &plain), plain.forever(&holds[0], &plain_stuck));
    for group in 0..n_groups {
        let relation = ops.space.relation(group);
        let relation = ops.keep(relation);
        let mut steps = ChosenSteps::none();
        steps.add(group, relation, None);
        let until = ops.until_by(&steps, p, q)?;
        assert_eq!(states(&ops, &until, &plain), plain.until(&holds[0], &holds[1], Some(group)));
        let none = ops.none();
        let goals = [Goal { states: r.clone(), steps: None }, Goal { states: none, steps: Some(steps) }];
        let fair = ops.fairly_forever(p, &stuck, &goals)?;
        let expected = plain.fairly(&holds[0], &plain_stuck, (&holds[2], group));
        assert_eq!(states(&ops, &fair, &plain), expected, "{group}");
    }
    Ok(plain.all.len())
}

#[test]
fn operators_are_what_they_are_defined_as() {
    let mut random = Random(0x5eed);
    let (mut large, mut tried) = (0, 0);
    while large < 150 && tried < 5000 {
        let mut system = Table::random(&mut random);
        let n = compare(&mut system).unwrap_or_else(|ended| panic!("{ended:?}: {system:?}"));
        (large, tried) = (large + usize::from(n > 8), tried + 1);
    }
    assert!(large >= 150, "{large} of {tried}");
}
