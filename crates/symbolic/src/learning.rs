//! Learning: what the machine answers about the groups, put into diagrams, and the errors that it tells on the
//! way.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use ldd::{Access, Group, Ldd, Learned, Learner, Set};
use search::{Checks, StopReason};
use system::{Fault, FaultKind};

use crate::partitioned::{LocalFault, LocalGroup, LocalSteps, Partitioned, Unanswered};
use crate::space::{Ended, Progress};

/// What is the same violation for a report.
pub(crate) type Signature = (FaultKind, String, u32, Option<String>);

pub(crate) fn signature(fault: &Fault) -> Signature {
    (fault.kind, fault.file.clone(), fault.line, fault.process.clone())
}

/// An error that steps of a group show.
#[derive(Clone, Debug)]
pub struct FoundFault {
    /// The error.
    pub fault: Fault,
    /// The step could not be completed.
    pub cut: bool,
    /// The group.
    pub group: usize,
    /// The values that were read, in the order of levels.
    pub reads: Vec<u32>,
}

/// Work after an error is met until the search rests, where one error is enough: what is nearly finished should
/// come to its end, so that the run that is told is a shortest one.
const WORK_AFTER_ERROR: u64 = 1 << 22;

/// Work after a step led to parts without a slot until the search rests: some milliseconds.
const WORK_BEFORE_GROWTH: u64 = 1 << 17;

/// A step of a group, and those who move in it.
#[derive(Clone, Debug)]
pub(crate) struct FoundMove {
    /// The values that were read, in the order of levels.
    pub reads: Vec<u32>,
    /// What it is in the group's relation; nothing for a step that does not come to its end.
    pub pair: Option<Vec<u32>>,
    /// Those who move.
    pub movers: Vec<u32>,
}

/// Steps that show the same error and are kept: a shortest run to one of these is told.
const MOST_FAULTS: usize = 10_000;

/// How the values of a group are put into the order of levels.
#[derive(Debug)]
pub(crate) struct Arrangement {
    /// For each level that is read, in order, its place among the group's reads.
    pub reads: Vec<usize>,
    /// The values of all reads; those of slots that change are replaced.
    pub values: Vec<u32>,
    /// For each level that is used, in order: its place among reads, and among writes.
    used: Vec<(Option<usize>, Option<usize>)>,
}

/// What is known of the groups besides their relations.
#[derive(Debug, Default)]
pub struct Found {
    /// Which errors end a search, if any do.
    pub(crate) ending: Option<Checks>,
    /// Errors.
    pub faults: Vec<FoundFault>,
    /// How often each error was met, also those that are not kept: of each some are.
    met: HashMap<Signature, usize>,
    /// Some step could not be completed.
    pub cuts: bool,
    /// A group and values that it reads for which an atomic sequence does not end.
    pub atomic_loop: Option<(usize, Vec<u32>)>,
    /// Groups and values for which a step leads to a state that has parts without a slot: what it does is not
    /// known before the system has grown.
    pub(crate) beyond: Vec<(usize, Vec<u32>)>,
}

/// A group over `n` levels, and how its values are put into their order.
pub(crate) fn arranged(
    number: usize,
    local: &LocalGroup,
    (n, level_of): (usize, &[Option<usize>]),
    initial: &[u32],
) -> (Group, Arrangement) {
    let mut access = vec![Access::Skip; n];
    // Level, place among reads, place among writes.
    let mut used: Vec<(usize, Option<usize>, Option<usize>)> = Vec::new();
    let levels = |slots: &[u32]| -> Vec<(usize, usize)> {
        let places = slots.iter().enumerate();
        places.filter_map(|(at, slot)| Some((at, level_of[*slot as usize]?))).collect()
    };
    for (at, level) in levels(&local.reads) {
        access[level] = Access::Read;
        used.push((level, Some(at), None));
    }
    for (at, level) in levels(&local.writes) {
        match used.iter_mut().find(|(other, ..)| *other == level) {
            Some((.., write)) => {
                access[level] = Access::Both;
                *write = Some(at);
            }
            None => {
                access[level] = Access::Write;
                used.push((level, None, Some(at)));
            }
        }
    }
    used.sort_unstable();
    let mut group = Group::new(number, &access).expect("a step moves a process");
    for (slot, values) in &local.only {
        if let Some(level) = level_of[*slot as usize] {
            group = group.only(level, values.clone());
        }
    }
    let arrangement = Arrangement {
        reads: used.iter().filter_map(|(_, read, _)| *read).collect(),
        values: local.reads.iter().map(|slot| initial[*slot as usize]).collect(),
        used: used.into_iter().map(|(_, read, write)| (read, write)).collect(),
    };
    (group, arrangement)
}

/// A group that reads some slots.
pub(crate) fn reading(number: usize, level_of: &[Option<usize>], slots: &[u32]) -> Option<Group> {
    let mut access = vec![Access::Skip; level_of.len()];
    let levels = slots.iter().filter_map(|slot| level_of[*slot as usize]);
    levels.for_each(|level| access[level] = Access::Read);
    Group::new(number, &access)
}

/// Asks the machine.
pub(crate) struct Learning<'a> {
    pub system: &'a mut dyn Partitioned,
    pub arrangements: &'a [Arrangement],
    pub found: &'a mut Found,
    pub progress: &'a Progress,
    pub out: LocalSteps,
}

impl Learner for Learning<'_> {
    type Error = Ended;

    /// Where a step leads to parts without a slot, that is noted, as if it led nowhere; soon the search rests. It
    /// goes on for a moment, so that the system need not grow for each such step.
    fn learn(&mut self, ldd: &mut Ldd, group: usize, read: Set) -> Result<Learned, Ended> {
        self.progress.nodes.store(ldd.n_nodes() as u64, Ordering::Relaxed);
        self.progress.memory.store(ldd.memory(), Ordering::Relaxed);
        let arrangement = &self.arrangements[group];
        let width = arrangement.used.iter().filter(|(_, write)| write.is_some()).count();
        let (mut pairs, mut enabled) = (Vec::new(), Vec::new());
        let mut values = arrangement.values.clone();
        let (mut is_over, mut is_beyond) = (false, false);
        for vector in ldd.vectors(read) {
            if self.progress.stop.load(Ordering::Relaxed) {
                return Err(Ended::Stopped(StopReason::Interrupted));
            }
            self.progress.calls.fetch_add(1, Ordering::Relaxed);
            arrangement.reads.iter().zip(&vector).for_each(|(place, value)| values[*place] = *value);
            self.out.clear();
            match self.system.steps(group, &values, &mut self.out) {
                Ok(()) => {}
                Err(Unanswered::Grown) => {
                    is_beyond = true;
                    self.found.beyond.push((group, vector));
                    continue;
                }
                Err(other) => return Err(other.into()),
            }
            is_over |= self.found.note(group, &vector, &mut self.out);
            for step in 0..self.out.n_steps {
                let written = &self.out.written[step * width..][..width];
                pairs.push(arrangement.pair(&values, written));
            }
            if self.out.enabled {
                enabled.push(vector);
            }
        }
        if is_over {
            ldd.rest_within(WORK_AFTER_ERROR);
        }
        if is_beyond {
            ldd.rest_within(WORK_BEFORE_GROWTH);
        }
        pairs.sort_unstable();
        pairs.dedup();
        Ok(Learned { relation: ldd.set_of_sorted(&pairs)?, enabled: ldd.set_of_sorted(&enabled)? })
    }
}

impl Arrangement {
    /// What is read and what is written, level by level.
    pub fn pair(&self, read: &[u32], written: &[u32]) -> Vec<u32> {
        let mut pair = Vec::with_capacity(self.used.len() * 2);
        for (from, to) in &self.used {
            pair.extend(from.map(|at| read[at]));
            pair.extend(to.map(|at| written[at]));
        }
        pair
    }
}

impl Found {
    /// Whether an error was met that ends the search.
    pub(crate) fn is_over(&self) -> bool {
        self.ending.is_some_and(|checks| self.met.keys().any(|(kind, ..)| checks.count(*kind)))
    }

    /// What is known of the errors of groups that have other numbers now; those of groups that `number` does
    /// not know will be met again.
    pub(crate) fn renumbered(mut self, number: impl Fn(usize) -> Option<usize>) -> Found {
        let renumber = |mut found: FoundFault| {
            found.group = number(found.group)?;
            Some(found)
        };
        self.faults = self.faults.into_iter().filter_map(renumber).collect();
        self.atomic_loop = self.atomic_loop.and_then(|(group, reads)| Some((number(group)?, reads)));
        self.met.clear();
        for FoundFault { fault, .. } in &self.faults {
            *self.met.entry(signature(fault)).or_default() += 1;
        }
        self.beyond.clear();
        self
    }

    /// Notes errors; whether one of them ends the search.
    fn note(&mut self, group: usize, reads: &[u32], out: &mut LocalSteps) -> bool {
        let mut is_over = false;
        if out.atomic_loop && self.atomic_loop.is_none() {
            self.atomic_loop = Some((group, reads.to_vec()));
        }
        self.cuts |= out.atomic_loop;
        for LocalFault { fault, cut } in out.faults.drain(..) {
            self.cuts |= cut;
            is_over |= self.ending.is_some_and(|checks| checks.count(fault.kind));
            let met = self.met.entry(signature(&fault)).or_default();
            *met += 1;
            if *met <= MOST_FAULTS {
                self.faults.push(FoundFault { fault, cut, group, reads: reads.to_vec() });
            }
        }
        is_over
    }
}
