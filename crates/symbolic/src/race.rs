//! A race of slot orders: which is best is known when a search has been made, so several searches are begun.
//!
//! A few searches end soon with one order and not with others: each is tried for a moment. All searches ask
//! the machine the same questions in the end, so the one that has asked most after the same work is ahead;
//! it goes on for a while. What is larger pays for a race, from more work for each on. In each round the
//! better half goes on, with twice the work, until one comes to its end or is left.
//!
//! (Measured: with less work in the first round of the race the wrong order wins too often, and a race from
//! the beginning takes longer than most searches.)

use std::collections::BTreeSet;
use std::sync::Arc;

use ldd::Set;
use search::Checks;

use crate::partitioned::Partitioned;
use crate::remembering::Remembering;
use crate::slot_order::{Reorder, candidates};
use crate::space::{Ended, Known, Progress, Space};

/// Work for each order at first, in nodes that are asked for: some milliseconds.
const MOMENT: u64 = 1 << 17;
/// Work for the most promising order, before there is a race.
const WHILE: u64 = 1 << 22;
/// Work in the first round of the race.
const FIRST_ROUND: u64 = 1 << 17;

/// Work of the order that is chosen until what it has found is looked at for errors, where one is enough; the next
/// stage may take several times as much.
const FIRST_STAGE: u64 = 1 << 22;
const LONGER: u64 = 8;

/// The means of a search.
#[derive(Clone, Debug)]
pub struct Means {
    /// How slots are ordered.
    pub reorder: Reorder,
    /// Steps are taken group after group, not by saturation.
    pub chains: bool,
    /// Bytes for diagrams.
    pub memory: u64,
    /// Errors of which one is enough, if so.
    pub ending: Option<Checks>,
    /// Where progress is told.
    pub progress: Arc<Progress>,
}

/// What was reached.
pub struct Reached<'p> {
    /// The space.
    pub space: Space<'p>,
    /// The reachable states; some of them where an error was met that is enough. They can be reached inside of
    /// this set.
    pub all: Set,
    /// All are in it.
    pub whole: bool,
}

/// The space and its reachable states, with slots in an order that has proved good. `initial` has the values
/// of all slots in the initial state.
pub fn reach<'p>(
    system: &'p mut Remembering<'_>,
    initial: &[u32],
    means: &Means,
) -> Result<Reached<'p>, Ended> {
    let won = match best_order(system, initial, means)? {
        Won::Done(Done { known, all, whole }) => {
            return Ok(Reached { space: Space::attach(system, known), all, whole });
        }
        Won::Order(order) => order,
    };
    system.notes = false;
    let mut space = space(system, won, initial, means);
    let (mut all, mut stage) = (space.beginning()?, FIRST_STAGE);
    loop {
        if means.ending.is_some() {
            space.rest_after(stage);
        }
        all = space.reach(all)?;
        let whole = !space.rests();
        space.rest_after(u64::MAX);
        if whole || shows_error(&mut space, all, means)? {
            return Ok(Reached { space, all, whole });
        }
        stage = stage.saturating_mul(LONGER);
    }
}

/// Whether a part of the reachable states shows an error that ends the search.
fn shows_error(space: &mut Space<'_>, all: Set, means: &Means) -> Result<bool, Ended> {
    let Some(checks) = means.ending else { return Ok(false) };
    if space.known.found.is_over() {
        return Ok(true);
    }
    if !checks.end_state && !checks.invariant {
        return Ok(false);
    }
    space.learn(all)?;
    let bad = space.bad_states(all, checks)?;
    Ok(space.known.found.is_over() || bad.iter().any(|set| !set.is_empty()))
}

/// A search that has come to its end, or to an error.
struct Done {
    known: Known,
    all: Set,
    whole: bool,
}

/// What a race leaves.
enum Won {
    /// A search that came to its end.
    Done(Done),
    /// An order.
    Order(Vec<u32>),
}

fn space<'p>(system: &'p mut dyn Partitioned, order: Vec<u32>, initial: &[u32], means: &Means) -> Space<'p> {
    let mut space = Space::new(system, order, initial.to_vec(), means.memory, Arc::clone(&means.progress));
    space.known.chains = means.chains;
    space.known.found.ending = means.ending;
    space
}

/// The slots that have a level: those that some group writes. The others never change.
fn changing(system: &dyn Partitioned) -> Vec<bool> {
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

/// How a search ended that was given some work.
enum Tried {
    /// It came to its end.
    Done(Done),
    /// It did not; the questions that it asked.
    Asked(u64),
}

/// Searches with an order until some work was done. `looks`: what was found by then is looked at for errors.
fn attempt(
    system: &mut dyn Partitioned,
    order: &[u32],
    (work, looks): (u64, bool),
    (initial, means): (&[u32], &Means),
) -> Result<Tried, Ended> {
    let mut space = space(system, order.to_vec(), initial, means);
    // To put together what was found takes some work, too.
    space.limit_work(2 * work);
    space.rest_after(work);
    let before = space.calls();
    let all = match space.reach_all() {
        Ok(all) => all,
        Err(Ended::WornOut | Ended::Full) => return Ok(Tried::Asked(space.calls() - before)),
        Err(ended) => return Err(ended),
    };
    let (whole, calls) = (!space.rests(), space.calls() - before);
    space.limit_work(u64::MAX);
    if whole || looks && shows_error(&mut space, all, means)? {
        return Ok(Tried::Done(Done { known: space.detach(), all, whole }));
    }
    Ok(Tried::Asked(calls))
}

/// The order that proves good.
fn best_order(system: &mut dyn Partitioned, initial: &[u32], means: &Means) -> Result<Won, Ended> {
    let mut orders = orders(system, means.reorder);
    let with = (initial, means);
    if orders.len() == 1 {
        return Ok(Won::Order(orders.swap_remove(0)));
    }
    let mut ranked = Vec::new();
    for order in orders {
        match attempt(system, &order, (MOMENT, false), with)? {
            Tried::Done(done) => return Ok(Won::Done(done)),
            Tried::Asked(calls) => ranked.push((calls, order)),
        }
    }
    // A stable sort: who is ahead by little is not, and the more promising order comes first.
    ranked.sort_by_key(|(calls, _)| std::cmp::Reverse(lead(*calls)));
    let orders: Vec<Vec<u32>> = ranked.into_iter().map(|(_, order)| order).collect();
    match attempt(system, &orders[0], (WHILE, true), with)? {
        Tried::Done(done) => Ok(Won::Done(done)),
        Tried::Asked(_) => win(system, orders, with),
    }
}

/// The order that wins the race.
fn win(system: &mut dyn Partitioned, mut left: Vec<Vec<u32>>, with: (&[u32], &Means)) -> Result<Won, Ended> {
    let mut work = FIRST_ROUND;
    while left.len() > 1 {
        let mut ranked = Vec::new();
        for order in left {
            match attempt(system, &order, (work, false), with)? {
                Tried::Done(done) => return Ok(Won::Done(done)),
                Tried::Asked(calls) => ranked.push((calls, order)),
            }
        }
        ranked.sort_by_key(|(calls, _)| std::cmp::Reverse(lead(*calls)));
        ranked.truncate(ranked.len().div_ceil(2));
        left = ranked.into_iter().map(|(_, order)| order).collect();
        work *= 2;
    }
    Ok(Won::Order(left.swap_remove(0)))
}

/// Numbers of questions that differ by less than a third have the same lead, mostly.
fn lead(calls: u64) -> u64 {
    ((calls.max(1) as f64).ln() * 3.5) as u64
}

/// The candidates, of slots that change.
pub fn orders(system: &dyn Partitioned, reorder: Reorder) -> Vec<Vec<u32>> {
    let changing = changing(system);
    let slots: Vec<u32> = (0..changing.len() as u32).filter(|slot| changing[*slot as usize]).collect();
    let mut place = vec![u32::MAX; changing.len()];
    slots.iter().zip(0..).for_each(|(slot, number)| place[*slot as usize] = number);
    let used = |group: &crate::LocalGroup| {
        let used = group.reads.iter().chain(&group.writes).map(|slot| place[*slot as usize]);
        let mut used: Vec<u32> = used.filter(|place| *place != u32::MAX).collect();
        used.sort_unstable();
        used.dedup();
        used
    };
    let often = system.groups().iter().filter(|group| !group.rare);
    let mut uses: Vec<Vec<u32>> = often.map(used).collect();
    let used_often: BTreeSet<u32> = uses.iter().flatten().copied().collect();
    // Where processes do little but start others, that is what there is to go by.
    if used_often.len() * 2 < slots.len() {
        uses = system.groups().iter().map(used).collect();
    }
    let named = |order: Vec<u32>| order.into_iter().map(|place| slots[place as usize]).collect();
    candidates(slots.len(), &uses, reorder).into_iter().map(named).collect()
}
