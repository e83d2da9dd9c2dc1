//! Growth: steps have led to states that have parts without a slot. The system makes slots and groups for them,
//! and the search goes on with what it has found.
//!
//! In all states that were found so far a new slot has its initial value: what was never written, or a process
//! that was never started. So the diagrams get further levels with one value each, and the old levels keep their
//! order. Then the relation of a group that touches the same slots as before is what it was; other groups are
//! learned anew. Where slots are cut otherwise than before, or most of the levels would be new, it is better to
//! begin again, with an order that is made for all of them.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use ldd::{Ldd, Set};
use system::ActionId;

use crate::partitioned::{LocalGroup, Partitioned};
use crate::space::{Ended, Known};

/// What is known of a space after its system has grown, and the states that were known before; nothing where it
/// is better to begin again: with more than `most` levels, or where slots were cut. `state` is the initial one.
pub(crate) fn grow(
    (mut known, all): (Known, Set),
    system: &mut dyn Partitioned,
    state: &[u8],
    most: usize,
) -> Result<Option<(Known, Set)>, Ended> {
    let slots = Correspondence::new(&system.grow(), known.initial.len());
    let mut initial = Vec::new();
    system.vector(state, &mut initial)?;
    let Some(kept) = slots.all_now(&known.slots) else { return Ok(None) };
    let mut is_new = changing(system);
    kept.iter().for_each(|slot| is_new[*slot as usize] = false);
    let order = with_new(&kept, &is_new, system.groups());
    if order.len() > most {
        return Ok(None);
    }
    let plan: Vec<Option<u32>> =
        order.iter().map(|&slot| is_new[slot as usize].then(|| initial[slot as usize])).collect();
    // Work and rests are counted from here on.
    known.ldd.limit_work(u64::MAX);
    let Known { mut ldd, groups, locals, level_of, found, progress, chains, .. } = known;
    let all = ldd.widen(all, &plan)?;
    ldd.forget();
    progress.growths.fetch_add(1, Ordering::Relaxed);
    let mut known = Known::nothing(ldd, (order, initial), system.groups().to_vec(), progress);
    known.chains = chains;
    let numbers = same_groups((&locals, &level_of), (&known.locals, &known.level_of), &slots);
    for (before, now) in numbers.iter().enumerate() {
        let Some(now) = *now else { continue };
        let unknown = beyond(&mut known.ldd, &found.beyond, before)?;
        known.groups.take_over(now, (&groups, before), unknown, &mut known.ldd)?;
    }
    known.found = found.renumbered(|group| numbers[group]);
    Ok(Some((known, all)))
}

/// The values for which steps of a group led to something without a slot.
fn beyond(ldd: &mut Ldd, noted: &[(usize, Vec<u32>)], group: usize) -> Result<Set, ldd::Full> {
    let of_group = noted.iter().filter(|(of, _)| *of == group).map(|(_, values)| values.clone());
    let mut values: Vec<Vec<u32>> = of_group.collect();
    values.sort_unstable();
    values.dedup();
    ldd.set_of_sorted(&values)
}

/// Which slots were which.
struct Correspondence {
    /// For each slot of before, the one that it is now.
    now: Vec<Option<u32>>,
}

impl Correspondence {
    fn new(before: &[Option<u32>], n_before: usize) -> Self {
        let mut now = vec![None; n_before];
        for (slot, before) in before.iter().enumerate() {
            if let Some(before) = before {
                now[*before as usize] = Some(slot as u32);
            }
        }
        Correspondence { now }
    }

    fn all_now(&self, slots: &[u32]) -> Option<Vec<u32>> {
        slots.iter().map(|slot| self.now[*slot as usize]).collect()
    }
}

/// The slots that have a level: those that some group writes. The others never change.
pub(crate) fn changing(system: &dyn Partitioned) -> Vec<bool> {
    let mut changing = vec![false; system.slots().len()];
    for group in system.groups() {
        group.writes.iter().for_each(|slot| changing[*slot as usize] = true);
    }
    // A group must have a level, even one that only shows errors and reads what never changes.
    for group in system.groups() {
        if !group.reads.iter().chain(&group.writes).any(|slot| changing[*slot as usize]) {
            group.reads.iter().take(1).for_each(|slot| changing[*slot as usize] = true);
        }
    }
    changing
}

/// All that a relation depends on: what begins the steps, and the slots that have levels.
type Meaning = (Vec<ActionId>, bool, [Vec<(u32, bool)>; 2], Vec<(u32, Vec<u32>)>);

fn meaning(
    group: &LocalGroup,
    level_of: &[Option<usize>],
    now: impl Fn(u32) -> Option<u32>,
) -> Option<Meaning> {
    let named = |slots: &[u32]| -> Option<Vec<(u32, bool)>> {
        let name = |slot: &u32| Some((now(*slot)?, level_of[*slot as usize].is_some()));
        let mut named: Vec<(u32, bool)> = slots.iter().map(name).collect::<Option<_>>()?;
        named.sort_unstable();
        Some(named)
    };
    let only = group.only.iter().map(|(slot, values)| Some((now(*slot)?, values.clone())));
    let mut only: Vec<(u32, Vec<u32>)> = only.collect::<Option<_>>()?;
    only.sort_unstable();
    Some((group.actions.clone(), group.only_idle, [named(&group.reads)?, named(&group.writes)?], only))
}

/// For each group of before, the one that is now what it was.
fn same_groups(
    (before, level_before): (&[LocalGroup], &[Option<usize>]),
    (now, level_now): (&[LocalGroup], &[Option<usize>]),
    slots: &Correspondence,
) -> Vec<Option<usize>> {
    let mut numbers = HashMap::new();
    for (number, group) in now.iter().enumerate() {
        numbers.insert(meaning(group, level_now, Some), number);
    }
    let same = |group: &LocalGroup| {
        let meaning = meaning(group, level_before, |slot| slots.now[slot as usize])?;
        numbers.get(&Some(meaning)).copied()
    };
    before.iter().map(same).collect()
}

/// The slots that are kept, in their order, and the new ones among them: each where the slots are that groups use
/// together with it.
fn with_new(kept: &[u32], is_new: &[bool], groups: &[LocalGroup]) -> Vec<u32> {
    let mut place: Vec<Option<f64>> = vec![None; is_new.len()];
    kept.iter().enumerate().for_each(|(at, slot)| place[*slot as usize] = Some(at as f64));
    let often: Vec<&LocalGroup> = groups.iter().filter(|group| !group.rare).collect();
    let all: Vec<&LocalGroup> = groups.iter().collect();
    for groups in [often, all] {
        while settle(&mut place, is_new, &groups) {}
    }
    let last = kept.len() as f64;
    let new = (0..is_new.len() as u32).filter(|slot| is_new[*slot as usize]);
    let mut order: Vec<(f64, bool, u32)> = kept
        .iter()
        .copied()
        .chain(new)
        .map(|slot| (place[slot as usize].unwrap_or(last), is_new[slot as usize], slot))
        .collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    order.into_iter().map(|(_, _, slot)| slot).collect()
}

/// Gives places to new slots that are used together with slots that have one. False when there are none.
fn settle(place: &mut [Option<f64>], is_new: &[bool], groups: &[&LocalGroup]) -> bool {
    let mut wishes: HashMap<u32, (f64, u32)> = HashMap::new();
    for group in groups {
        let used = || group.reads.iter().chain(&group.writes);
        let known: Vec<f64> = used().filter_map(|slot| place[*slot as usize]).collect();
        if known.is_empty() {
            continue;
        }
        let centre = known.iter().sum::<f64>() / known.len() as f64;
        for &slot in used().filter(|slot| is_new[**slot as usize] && place[**slot as usize].is_none()) {
            let wish = wishes.entry(slot).or_insert((0.0, 0));
            *wish = (wish.0 + centre, wish.1 + 1);
        }
    }
    let found = !wishes.is_empty();
    wishes.into_iter().for_each(|(slot, (sum, n))| place[slot as usize] = Some(sum / f64::from(n)));
    found
}
