//! Safety by sets of states: what is reachable, and what of that shows an error.
//!
//! Errors of steps are met while groups are learned. States without a successor are what is left of the
//! reachable states when those are taken away in which some group is enabled, group by group, so that the
//! rest shrinks; invariants and ends are judged on the slots that they look at.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ldd::Set;
use num_bigint::BigUint;
use search::property::Judge;
use search::{Checks, SetSearch, Statistics, StopReason, Task, Violation};
use system::TransitionSystem;

use crate::learning::{FoundFault, Signature, signature};
use crate::partitioned::Partitioned;
use crate::race::{self, Means, Reached};
use crate::remembering::Remembering;
use crate::slot_order::Reorder;
use crate::space::{Ended, Progress, Space};
use crate::walk::{Walk, Walker};

/// What is searched, for what, and with which means.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The system that counterexamples are walks of.
    pub system: &'a dyn TransitionSystem,
    /// What counts, and whether all of it.
    pub task: &'a Task<'a>,
    /// How slots are ordered.
    pub reorder: Reorder,
    /// Steps are taken group after group, not by saturation.
    pub chains: bool,
    /// Bytes for diagrams.
    pub memory: u64,
}

/// Numbers about a search with sets of states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Reachable states.
    pub states: BigUint,
    /// Nodes of the diagram of the reachable states.
    pub nodes: u64,
    /// Nodes of all diagrams at the end.
    pub all_nodes: u64,
    /// Bytes of the diagrams.
    pub memory: u64,
    /// Slots.
    pub slots: u64,
    /// Groups.
    pub groups: u64,
    /// Questions to the machine.
    pub calls: u64,
    /// How often there were new slots and the search went on with what it had.
    pub growths: u64,
    /// How often there were new slots and the search, or the choice of an order, began again.
    pub restarts: u64,
}

/// Explores everything, and judges it.
pub fn safety(
    request: Request<'_>,
    partitioned: &mut dyn Partitioned,
    progress: &Arc<Progress>,
) -> Result<(SetSearch, Figures), Ended> {
    let judge = |mut judging: Judging<'_, '_>| judging.conclude();
    explore(request, partitioned, progress, judge)
}

/// Explores everything, and lets somebody judge it.
pub(crate) fn explore<'a, T>(
    request: Request<'a>,
    partitioned: &mut dyn Partitioned,
    progress: &Arc<Progress>,
    mut judge: impl for<'p> FnMut(Judging<'a, 'p>) -> Result<T, Ended>,
) -> Result<T, Ended> {
    let mut initial = Vec::new();
    if request.system.initial(&mut initial).is_err() {
        return Err(Ended::Broken("there is no initial state".to_string()));
    }
    let Request { reorder, chains, memory, .. } = request;
    let ending = (!request.task.all_errors).then_some(request.task.checks);
    let means = Means { reorder, chains, memory, ending, progress: Arc::clone(progress) };
    let mut system = Remembering::new(partitioned);
    loop {
        system.notes = true;
        let reached = race::reach(&mut system, &initial, &means);
        match reached.and_then(|Reached { space, all, whole }| judge(Judging { request, space, all, whole }))
        {
            Err(Ended::Grown) => {
                progress.restarts.fetch_add(1, Ordering::Relaxed);
                system.grow();
            }
            found => return found,
        }
    }
}

/// Numbers about a space and its reachable states.
pub(crate) fn figures(space: &mut Space<'_>, all: Set) -> Result<Figures, Ended> {
    Ok(Figures {
        states: space.count(all)?,
        nodes: space.known.ldd.size(all) as u64,
        all_nodes: space.known.ldd.n_nodes() as u64,
        memory: space.known.ldd.memory(),
        slots: space.system.slots().len() as u64,
        groups: space.system.groups().len() as u64,
        calls: space.calls(),
        growths: space.known.progress.growths.load(Ordering::Relaxed),
        restarts: space.known.progress.restarts.load(Ordering::Relaxed),
    })
}

pub(crate) struct Judging<'a, 'p> {
    pub request: Request<'a>,
    pub space: Space<'p>,
    /// The reachable states, or some of them: they can be reached inside of this set.
    pub all: Set,
    /// All are in it. If not, an error was met, and is in it.
    pub whole: bool,
}

impl Judging<'_, '_> {
    pub fn conclude(&mut self) -> Result<(SetSearch, Figures), Ended> {
        let checks = self.request.task.checks;
        let figures = figures(&mut self.space, self.all)?;
        let mut found = SetSearch {
            stop: StopReason::Completed,
            checks,
            about: checks.about(),
            violations: Vec::new(),
            errors: 0,
            cuts: Vec::new(),
            atomic_loop: None,
            statistics: Statistics {
                states: u64::try_from(&figures.states).unwrap_or(u64::MAX),
                state_bytes: figures.memory,
                workers: 1,
                ..Statistics::default()
            },
        };
        let faults = std::mem::take(&mut self.space.known.found.faults);
        self.step_faults(&faults, &mut found)?;
        // Where steps were not asked for in every state, nobody knows which of them are ends.
        if self.whole || found.violations.is_empty() {
            self.states(checks, &mut found)?;
        }
        if !self.whole && found.violations.is_empty() {
            return Err(Ended::Broken("an error that was met cannot be reached".to_string()));
        }
        if let Some((group, reads)) = self.space.known.found.atomic_loop.take() {
            let target = self.with_reads(group, vec![reads])?;
            if let Some(walk) = self.walk(target)? {
                found.atomic_loop = self.way_into_atomic_loop(walk)?;
            }
        }
        if !self.request.task.all_errors && !found.violations.is_empty() {
            found.violations.sort_by_key(|violation| violation.path.len());
            found.violations.truncate(1);
            found.errors = 1;
            found.stop = StopReason::Violation;
        }
        Ok((found, figures))
    }

    /// The states in which a group reads one of these vectors.
    fn with_reads(&mut self, group: usize, mut reads: Vec<Vec<u32>>) -> Result<Set, Ended> {
        reads.sort_unstable();
        reads.dedup();
        let values = self.space.known.ldd.set_of_sorted(&reads)?;
        Ok(self.space.restrict_by(self.all, values, group)?)
    }

    /// The states from which one of these steps is possible.
    fn showing(&mut self, faults: &[&FoundFault]) -> Result<Set, Ended> {
        let mut by_group: BTreeMap<usize, Vec<Vec<u32>>> = BTreeMap::new();
        for found in faults {
            by_group.entry(found.group).or_default().push(found.reads.clone());
        }
        let mut all = Set::EMPTY;
        for (group, reads) in by_group {
            let some = self.with_reads(group, reads)?;
            all = self.space.known.ldd.union(all, some)?;
        }
        Ok(all)
    }

    /// The number of errors: an error is met in every state in which its step is possible.
    fn count(&mut self, faults: &[&FoundFault]) -> Result<u64, Ended> {
        let mut by_step: BTreeMap<(usize, &[u32]), u64> = BTreeMap::new();
        for found in faults {
            *by_step.entry((found.group, &found.reads)).or_default() += 1;
        }
        let mut alike: BTreeMap<(usize, u64), Vec<Vec<u32>>> = BTreeMap::new();
        for ((group, reads), times) in by_step {
            alike.entry((group, times)).or_default().push(reads.to_vec());
        }
        let mut sum = 0u64;
        for ((group, times), reads) in alike {
            let states = self.with_reads(group, reads)?;
            let states = u64::try_from(self.space.known.ldd.count(states)).unwrap_or(u64::MAX);
            sum = sum.saturating_add(states.saturating_mul(times));
        }
        Ok(sum)
    }

    /// Errors of steps: one run for each signature.
    fn step_faults(&mut self, faults: &[FoundFault], found: &mut SetSearch) -> Result<(), Ended> {
        let checks = found.checks;
        let mut by_signature: BTreeMap<Signature, Vec<&FoundFault>> = BTreeMap::new();
        for fault in faults.iter().filter(|found| found.cut || checks.count(found.fault.kind)) {
            by_signature.entry(signature(&fault.fault)).or_default().push(fault);
        }
        for (signature, faults) in by_signature {
            let target = self.showing(&faults)?;
            let Some(walk) = self.walk(target)? else { continue };
            let violation = self.with_step(walk, &signature)?;
            match checks.count(signature.0) {
                true => {
                    found.errors = found.errors.saturating_add(self.count(&faults)?);
                    found.violations.push(violation);
                }
                false => found.cuts.push(violation),
            }
        }
        Ok(())
    }

    /// Errors of states: ends and invariants, a shortest run to each kind.
    fn states(&mut self, checks: Checks, found: &mut SetSearch) -> Result<(), Ended> {
        let bad = self.space.bad_states(self.all, checks)?;
        for target in bad {
            let Some(walk) = self.walk(target)? else { continue };
            let number = u64::try_from(self.space.known.ldd.count(target)).unwrap_or(u64::MAX);
            found.errors = found.errors.saturating_add(number);
            let violation = self.with_state(walk)?;
            found.violations.push(violation);
        }
        Ok(())
    }

    fn walk(&mut self, target: Set) -> Result<Option<Walk>, Ended> {
        Walker::new(self.request.system, self.request.task).to(&mut self.space, target, self.all)
    }

    /// A run that ends with a step that shows an error.
    fn with_step(&mut self, mut walk: Walk, wanted: &Signature) -> Result<Violation, Ended> {
        let mut walker = Walker::new(self.request.system, self.request.task);
        walker.expand(&walk.state)?;
        let shown = walker.expansion.faults.iter().find(|step| signature(&step.fault) == *wanted);
        let Some(step) = shown else {
            return Err(Ended::Broken(format!("an error that was learned does not occur: {wanted:?}")));
        };
        walk.path.extend(&step.actions);
        Ok(Violation { fault: step.fault.clone(), path: walk.path, cycle: None })
    }

    /// A run that ends with a state that shows an error.
    fn with_state(&mut self, walk: Walk) -> Result<Violation, Ended> {
        let (system, checks) = (self.request.system, self.request.task.checks);
        let mut walker = Walker::new(system, self.request.task);
        walker.expand(&walk.state)?;
        let mut shown = Vec::new();
        Judge::new(checks, system).state(&walk.state, walker.expansion.stuck, &mut shown);
        match shown.into_iter().next() {
            Some(fault) => Ok(Violation { fault, path: walk.path, cycle: None }),
            None => Err(Ended::Broken("a state that was judged bad shows no error".to_string())),
        }
    }

    fn way_into_atomic_loop(&mut self, mut walk: Walk) -> Result<Option<system::Path>, Ended> {
        let mut walker = Walker::new(self.request.system, self.request.task);
        walker.expand(&walk.state)?;
        Ok(walker.expansion.atomic_loop.take().map(|actions| {
            walk.path.extend(&actions);
            walk.path
        }))
    }
}
