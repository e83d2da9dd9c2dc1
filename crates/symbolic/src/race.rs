//! A race of slot orders: which is best is known when a search has been made, so several searches are begun.
//!
//! A few searches end soon with one order and not with others: each is tried for a moment. All searches ask
//! the machine the same questions in the end, so the one that has asked most after the same work is ahead;
//! it goes on for a while. What is larger pays for a race, from more work for each on. In each round the
//! better half goes on, with twice the work, until one comes to its end or is left.
//!
//! **New slots.** Where a search meets what has no slot the system grows, and the search goes on
//! ([`crate::growth`]). Orders that are still tried are made anew then, for all slots.
//!
//! (Measured: with less work in the first round of the race the wrong order wins too often, and a race from
//! the beginning takes longer than most searches.)

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use ldd::Set;
use search::Checks;

use crate::growth::{changing, grow};
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

/// A search: the system, its initial state, the means.
struct Search<'s> {
    system: &'s mut dyn Partitioned,
    state: &'s [u8],
    means: &'s Means,
}

/// The space and its reachable states, with slots in an order that has proved good. `state` is the initial one.
pub fn reach<'p>(system: &'p mut Remembering<'_>, state: &[u8], means: &Means) -> Result<Reached<'p>, Ended> {
    let won = Search { system: &mut *system, state, means }.best_order()?;
    let done = match won {
        Won::Done(done) => done,
        Won::Order(order) => {
            system.notes = false;
            Search { system: &mut *system, state, means }.finish(order)?
        }
    };
    let Done { known, all, whole } = done;
    Ok(Reached { space: Space::attach(system, known), all, whole })
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
    // Where some steps are not known yet, nobody knows which states have none.
    if space.has_grown() {
        return Ok(false);
    }
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

/// How a search ended that was given some work.
enum Tried {
    /// It came to its end.
    Done(Done),
    /// It did not; the questions that it asked.
    Asked(u64),
    /// There are new slots, which orders must have.
    Grown,
}

/// How often orders are made anew for new slots. From then on searches go on with the slots that are new where
/// they find their place.
const NEW_ORDERS: usize = 8;

impl Search<'_> {
    /// Nothing is known yet but the initial state.
    fn begin(&mut self, order: Vec<u32>) -> Result<(Known, Set), Ended> {
        let mut initial = Vec::new();
        self.system.vector(self.state, &mut initial)?;
        let (memory, progress) = (self.means.memory, Arc::clone(&self.means.progress));
        let mut space = Space::new(self.system, order, initial, memory, progress);
        space.known.chains = self.means.chains;
        space.known.found.ending = self.means.ending;
        let all = space.beginning()?;
        Ok((space.detach(), all))
    }

    /// Searches with an order until some work was done. `looks`: what was found by then is looked at for errors,
    /// where one is enough.
    fn attempt(&mut self, order: &[u32], work: u64, looks: bool) -> Result<Tried, Ended> {
        let before = self.means.progress.calls.load(Relaxed);
        let (mut known, mut all) = self.begin(order.to_vec())?;
        let (most, mut has_grown) = (2 * order.len(), false);
        loop {
            let mut space = Space::attach(self.system, known);
            // To put together what was found takes some work, too.
            space.limit_work(2 * work);
            space.rest_after(work);
            let asked = |space: &Space<'_>| match has_grown {
                true => Tried::Grown,
                false => Tried::Asked(space.calls() - before),
            };
            all = match space.reach(all) {
                Ok(all) => all,
                Err(Ended::WornOut | Ended::Full) => return Ok(asked(&space)),
                Err(ended) => return Err(ended),
            };
            let whole = !space.rests() && !space.has_grown();
            space.limit_work(u64::MAX);
            if whole || looks && shows_error(&mut space, all, self.means)? {
                return Ok(Tried::Done(Done { known: space.detach(), all, whole }));
            }
            if !space.has_grown() {
                return Ok(asked(&space));
            }
            has_grown = true;
            known = space.detach();
            match grow((known, all), self.system, self.state, most)? {
                Some(further) => (known, all) = further,
                None => return Ok(Tried::Grown),
            }
        }
    }

    /// Searches with an order to the end. Where one error is enough it stops now and then to look for it.
    fn finish(&mut self, order: Vec<u32>) -> Result<Done, Ended> {
        let (most, mut stage) = (2 * order.len(), FIRST_STAGE);
        let (mut known, mut all) = self.begin(order)?;
        loop {
            let mut space = Space::attach(self.system, known);
            if self.means.ending.is_some() {
                space.rest_after(stage);
            }
            all = space.reach(all)?;
            let whole = !space.rests() && !space.has_grown();
            space.rest_after(u64::MAX);
            if whole || shows_error(&mut space, all, self.means)? {
                return Ok(Done { known: space.detach(), all, whole });
            }
            let has_grown = space.has_grown();
            known = space.detach();
            if has_grown {
                let grown = grow((known, all), self.system, self.state, most)?;
                (known, all) = grown.ok_or(Ended::Grown)?;
            } else {
                stage = stage.saturating_mul(LONGER);
            }
        }
    }

    /// The order that proves good.
    fn best_order(&mut self) -> Result<Won, Ended> {
        for _ in 0..NEW_ORDERS {
            let orders = orders(self.system, self.means.reorder);
            if let [order] = &orders[..] {
                return Ok(Won::Order(order.clone()));
            }
            if let Some(won) = self.best_of(orders)? {
                return Ok(won);
            }
            self.means.progress.restarts.fetch_add(1, Relaxed);
        }
        Ok(Won::Order(orders(self.system, self.means.reorder).swap_remove(0)))
    }

    /// The order of several that proves good; nothing where there are new slots.
    fn best_of(&mut self, orders: Vec<Vec<u32>>) -> Result<Option<Won>, Ended> {
        let mut ranked = Vec::new();
        for order in orders {
            match self.attempt(&order, MOMENT, false)? {
                Tried::Done(done) => return Ok(Some(Won::Done(done))),
                Tried::Asked(calls) => ranked.push((calls, order)),
                Tried::Grown => return Ok(None),
            }
        }
        // A stable sort: who is ahead by little is not, and the more promising order comes first.
        ranked.sort_by_key(|(calls, _)| std::cmp::Reverse(lead(*calls)));
        let orders: Vec<Vec<u32>> = ranked.into_iter().map(|(_, order)| order).collect();
        match self.attempt(&orders[0], WHILE, true)? {
            Tried::Done(done) => Ok(Some(Won::Done(done))),
            Tried::Asked(_) => self.win(orders),
            Tried::Grown => Ok(None),
        }
    }

    /// The order that wins the race.
    fn win(&mut self, mut left: Vec<Vec<u32>>) -> Result<Option<Won>, Ended> {
        let mut work = FIRST_ROUND;
        while left.len() > 1 {
            let mut ranked = Vec::new();
            for order in left {
                match self.attempt(&order, work, false)? {
                    Tried::Done(done) => return Ok(Some(Won::Done(done))),
                    Tried::Asked(calls) => ranked.push((calls, order)),
                    Tried::Grown => return Ok(None),
                }
            }
            ranked.sort_by_key(|(calls, _)| std::cmp::Reverse(lead(*calls)));
            ranked.truncate(ranked.len().div_ceil(2));
            left = ranked.into_iter().map(|(_, order)| order).collect();
            work *= 2;
        }
        Ok(Some(Won::Order(left.swap_remove(0))))
    }
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
