//! Tries to falsify the matrices: what they claim of groups against what the reference machine does in a
//! state.
//!
//! Every step must belong to a group and change only slots that the group may write. Groups that are enabled
//! together must be said to be co-enabled; groups without a conflict must commute. What a step enables or
//! disables must have it in the necessary enabling (or disabling) sets of the guards that it changed. Reads
//! are seen by changing parts of the state: a group that reads none of them must be enabled as before and do
//! the same. Nothing is proved this way, but a matrix that names too little is found soon.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use promela::ir::LocId;
use system::matrix::{BitMatrix, BitSet, GroupId};
use system::{ActionId, FaultKind, Successors, SystemExt, TransitionSystem};

use super::{Item, Matrices};
use crate::action::Action;
use crate::facts::check::{Checker, Pick, changed};
use crate::facts::region::{Aspects, Part};
use crate::interp::Interp;
use crate::interp::anatomy::Anatomy;

/// Transient states of one step beyond which it is given up.
const MOST_TRANSIENT: usize = 500;

/// A stored state, with the member of the population that each of its processes is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tracked {
    /// The state.
    pub bytes: Vec<u8>,
    /// By pid.
    members: Vec<usize>,
    /// Number of processes that were born so far.
    births: usize,
}

/// What comes of an action: the stored states at its end, and errors on the way.
#[derive(Clone, Debug, Default)]
struct Outcome {
    states: BTreeSet<Tracked>,
    faults: BTreeSet<(FaultKind, u32, u32)>,
    /// A step could not be completed, or there were too many.
    lost: bool,
}

type Outcomes = BTreeMap<ActionId, Outcome>;

/// A machine, and what is claimed of its program.
#[derive(Debug)]
pub struct Falsifier<'a> {
    machine: &'a Interp,
    matrices: &'a Matrices,
    checker: Checker<'a>,
}

/// A state with what is enabled there.
struct Seen {
    tracked: Tracked,
    anatomy: Anatomy,
    outcomes: Outcomes,
}

impl<'a> Falsifier<'a> {
    /// A falsifier; the checker knows how to change states.
    pub fn new(machine: &'a Interp, matrices: &'a Matrices, checker: Checker<'a>) -> Self {
        Falsifier { machine, matrices, checker }
    }

    /// The initial state; `None` when there is none.
    pub fn initial(&self) -> Option<Tracked> {
        let mut bytes = Vec::new();
        self.machine.initial(&mut bytes).ok()?;
        let none = Tracked { bytes: Vec::new(), members: Vec::new(), births: 0 };
        self.track(&none, bytes)
    }

    /// Checks a state, with up to `tries` changes to it that `pick` chooses. Returns the states after it.
    pub fn state(&self, at: &Tracked, tries: usize, pick: Pick<'_>) -> Result<Vec<Tracked>, String> {
        let here = self.see(at.clone()).ok_or("a state cannot be taken apart")?;
        for (id, outcome) in &here.outcomes {
            let Some(group) = self.group(&here.tracked, *id)? else { continue };
            for next in &outcome.states {
                self.writes(&here, group, next)?;
            }
        }
        self.coenabled(&here)?;
        let mut after: BTreeMap<ActionId, Vec<Seen>> = BTreeMap::new();
        for (id, outcome) in &here.outcomes {
            let states = outcome.states.iter().cloned();
            let seen: Vec<Seen> =
                states.map(|next| self.see(next)).collect::<Option<_>>().ok_or("no state")?;
            if let Some(group) = self.group(&here.tracked, *id)? {
                for there in &seen {
                    self.enabling(&here, there, (group, *id))?;
                    self.disabling(&here, there, (group, *id))?;
                }
            }
            after.insert(*id, seen);
        }
        self.conflicts(&here, &after)?;
        for _ in 0..tries {
            self.reads(&here, pick)?;
        }
        Ok(here.outcomes.into_values().flat_map(|outcome| outcome.states).collect())
    }

    fn see(&self, tracked: Tracked) -> Option<Seen> {
        let anatomy = self.machine.take_apart(&tracked.bytes)?;
        let outcomes = self.outcomes(&tracked)?;
        Some(Seen { tracked, anatomy, outcomes })
    }

    /// Who the processes of a state are that follows another one.
    fn track(&self, before: &Tracked, bytes: Vec<u8>) -> Option<Tracked> {
        let after = self.machine.take_apart(&bytes)?;
        let Tracked { mut members, mut births, .. } = before.clone();
        members.truncate(after.processes.len());
        for body in after.processes.iter().skip(members.len()) {
            members.push(self.matrices.population.born(births, body.proctype)?);
            births += 1;
        }
        Some(Tracked { bytes, members, births })
    }

    fn outcomes(&self, at: &Tracked) -> Option<Outcomes> {
        let mut first = Successors::default();
        self.machine.expand(&at.bytes, &mut first);
        let mut found = Outcomes::new();
        for successor in &first.list {
            let mut outcome = Outcome::default();
            let mut open = vec![(at.clone(), step(&first, successor))];
            let mut seen = HashSet::new();
            while let Some((before, taken)) = open.pop() {
                outcome.faults.extend(taken.fault);
                let Some(bytes) = taken.state else {
                    outcome.lost = true;
                    continue;
                };
                let next = self.track(&before, bytes)?;
                if !taken.transient {
                    outcome.states.insert(next);
                } else if seen.len() > MOST_TRANSIENT {
                    outcome.lost = true;
                } else if seen.insert(next.bytes.clone()) {
                    let mut more = Successors::default();
                    self.machine.expand(&next.bytes, &mut more);
                    outcome.lost |= more.list.is_empty();
                    open.extend(more.list.iter().map(|successor| (next.clone(), step(&more, successor))));
                }
            }
            found.insert(successor.action, outcome);
        }
        Some(found)
    }

    /// Who takes part in an action; nothing for one that no edge belongs to.
    fn items(&self, at: &Tracked, id: ActionId) -> Vec<(usize, Item)> {
        let Action { pid, edge, partner } = Action::unpack(id);
        let moves = [edge.map(|edge| (pid, edge)), partner].into_iter().flatten();
        moves.filter_map(|(pid, edge)| Some((pid, Item { member: *at.members.get(pid)?, edge }))).collect()
    }

    /// The group of an action.
    fn group(&self, at: &Tracked, id: ActionId) -> Result<Option<GroupId>, String> {
        let items = self.items(at, id);
        let Some(&(_, first)) = items.first() else { return Ok(None) };
        let partner = items.get(1).map(|(_, item)| *item);
        let group = self.matrices.group(first, partner);
        group.map(Some).ok_or_else(|| format!("no group for {first:?} with {partner:?}"))
    }

    fn name(&self, group: GroupId) -> &str {
        &self.matrices.dependencies.groups[group.index()].name
    }

    /// For each pid the member and its first channel.
    fn places(&self, tracked: &Tracked, anatomy: &Anatomy) -> Vec<(usize, usize)> {
        let first = anatomy.processes.iter().map(|body| body.first_channel);
        tracked.members.iter().copied().zip(first).collect()
    }

    fn writes(&self, here: &Seen, group: GroupId, next: &Tracked) -> Result<(), String> {
        let after = self.machine.take_apart(&next.bytes).ok_or("no state")?;
        let places = [self.places(&here.tracked, &here.anatomy), self.places(next, &after)];
        for part in changed(self.machine.program(), &here.anatomy, &after) {
            for slot in places.iter().filter_map(|places| self.matrices.slots.of_part(&part, places)) {
                if !self.matrices.dependencies.may_write.get(group.index(), slot.index()) {
                    let slot = &self.matrices.dependencies.slots[slot.index()].name;
                    return Err(format!("{} writes {slot}", self.name(group)));
                }
            }
        }
        Ok(())
    }

    fn coenabled(&self, here: &Seen) -> Result<(), String> {
        let all = &self.matrices.dependencies;
        let groups: Vec<GroupId> = self.enabled(here)?.into_iter().map(|(_, group)| group).collect();
        for one in &groups {
            for other in &groups {
                if !all.may_be_coenabled.get(one.index(), other.index()) {
                    return Err(format!("{} and {} are co-enabled", self.name(*one), self.name(*other)));
                }
            }
        }
        Ok(())
    }

    fn enabled(&self, here: &Seen) -> Result<Vec<(ActionId, GroupId)>, String> {
        let group = |id: &ActionId| Ok(self.group(&here.tracked, *id)?.map(|group| (*id, group)));
        here.outcomes.keys().filter_map(|id| group(id).transpose()).collect()
    }

    /// What is enabled after a step and was not before.
    fn enabling(&self, here: &Seen, there: &Seen, (by, _): (GroupId, ActionId)) -> Result<(), String> {
        for (id, group) in self.enabled(there)? {
            if !here.outcomes.contains_key(&id) || !self.same_processes(here, there, id) {
                let all = &self.matrices.dependencies;
                let changed = (here, &all.necessary_enabling);
                self.changed_guards(changed, (&there.tracked, id, group), by)
                    .map_err(|guard| format!("{} enables {}: {guard}", self.name(by), self.name(group)))?;
            }
        }
        Ok(())
    }

    /// What was enabled before a step and is not afterwards.
    fn disabling(&self, here: &Seen, there: &Seen, (by, done): (GroupId, ActionId)) -> Result<(), String> {
        for (id, group) in self.enabled(here)? {
            let still = there.outcomes.contains_key(&id) && self.same_processes(here, there, id);
            if id != done && !still {
                let all = &self.matrices.dependencies;
                let changed = (there, &all.necessary_disabling);
                self.changed_guards(changed, (&here.tracked, id, group), by)
                    .map_err(|guard| format!("{} disables {}: {guard}", self.name(by), self.name(group)))?;
            }
        }
        Ok(())
    }

    /// Whether the processes of an action are the same in both states.
    fn same_processes(&self, here: &Seen, there: &Seen, id: ActionId) -> bool {
        self.items(&here.tracked, id) == self.items(&there.tracked, id)
    }

    /// An action of a group is enabled in one state and not in `other`: the step between them, of group `by`,
    /// must be in the sets of the guards that are false there. `Err` names a guard.
    fn changed_guards(
        &self,
        (other, sets): (&Seen, &BitMatrix),
        (at, id, group): (&Tracked, ActionId, GroupId),
        by: GroupId,
    ) -> Result<(), String> {
        let all = &self.matrices.dependencies;
        let guards: Vec<usize> = all.guarded_by.iter_row(group.index()).collect();
        let is_there = |(pid, item): &(usize, Item), locations: &[LocId]| {
            let same = other.tracked.members.get(*pid) == Some(&item.member);
            same && other.anatomy.processes.get(*pid).is_some_and(|body| locations.contains(&body.location))
        };
        let mut moved = false;
        for part in self.items(at, id) {
            let guard = self.matrices.guards[&part.1][0].index();
            let locations = self.matrices.guard_locations[guard].as_deref().unwrap_or_default();
            if !is_there(&part, locations) {
                moved = true;
                if !sets.get(guard, by.index()) {
                    return Err(all.guards[guard].name.clone());
                }
            }
        }
        let of_condition =
            |&guard: &usize| self.matrices.guard_locations[guard].is_none() && sets.get(guard, by.index());
        if moved || all.idle.contains(group.0) || guards.iter().any(of_condition) {
            return Ok(());
        }
        Err("no condition".to_string())
    }

    fn conflicts(&self, here: &Seen, after: &BTreeMap<ActionId, Vec<Seen>>) -> Result<(), String> {
        let all = &self.matrices.dependencies;
        let enabled = self.enabled(here)?;
        for (i, &(a, g)) in enabled.iter().enumerate() {
            for &(b, h) in &enabled[..i] {
                let pids = |id| self.items(&here.tracked, id).into_iter().map(|(pid, _)| pid);
                let same = pids(a).any(|pid| pids(b).any(|other| other == pid));
                let lost = |id| here.outcomes[&id].lost || !here.outcomes[&id].faults.is_empty();
                let idle = all.idle.contains(g.0) || all.idle.contains(h.0);
                let conflict =
                    all.conflicts.get(g.index(), h.index()) && all.conflicts.get(h.index(), g.index());
                if same || idle || conflict || lost(a) || lost(b) {
                    continue;
                }
                let one = self.then(&after[&a], b);
                let other = self.then(&after[&b], a);
                if one.is_none() || other.is_none() || one != other {
                    return Err(format!("{} and {} do not commute", self.name(g), self.name(h)));
                }
            }
        }
        Ok(())
    }

    /// The states after an action from each of some states; `None` when it is not enabled in one.
    fn then(&self, states: &[Seen], id: ActionId) -> Option<BTreeSet<Vec<u8>>> {
        let mut found = BTreeSet::new();
        for there in states {
            found.extend(there.outcomes.get(&id)?.states.iter().map(|next| next.bytes.clone()));
        }
        Some(found)
    }

    /// Changes parts of a state and looks at the groups that read none of them.
    fn reads(&self, here: &Seen, pick: Pick<'_>) -> Result<(), String> {
        let Some((other, parts)) = self.checker.change(&here.anatomy, pick) else { return Ok(()) };
        let places = self.places(&here.tracked, &here.anatomy);
        let fixed = |part: &Part| match *part {
            Part::Local(pid, cell) => self.keeps(here.tracked.members[pid], cell),
            _ => false,
        };
        let gone = parts.contains(&Part::Processes);
        if !gone && parts.iter().any(fixed) {
            return Ok(());
        }
        let slots = parts.iter().filter_map(|part| self.matrices.slots.of_part(part, &places));
        let slots: BitSet = slots.map(|slot| slot.0).collect();
        let mut tracked = Tracked { bytes: self.machine.put_together(&other), ..here.tracked.clone() };
        tracked.members.truncate(other.processes.len());
        // A state that cannot be reached may start processes that nobody starts.
        let Some(there) = self.see(tracked) else { return Ok(()) };
        let ids: BTreeSet<ActionId> = here.outcomes.keys().chain(there.outcomes.keys()).copied().collect();
        for id in ids {
            let at = if here.outcomes.contains_key(&id) { here } else { &there };
            let Ok(Some(group)) = self.group(&at.tracked, id) else { continue };
            let all = &self.matrices.dependencies;
            if slots.is_empty() || slots.iter().any(|slot| all.reads.get(group.index(), slot as usize)) {
                continue;
            }
            let wrong = |what: &str| {
                let names = slots.iter().map(|slot| all.slots[slot as usize].name.as_str());
                let names: Vec<&str> = names.collect();
                Err(format!("{} {what} {}", self.name(group), names.join(", ")))
            };
            let (Some(one), Some(two)) = (here.outcomes.get(&id), there.outcomes.get(&id)) else {
                return wrong("is enabled or not depending on");
            };
            let lost = one.lost || two.lost || gone;
            // What is surely written has the same value afterwards, whatever it was.
            let kept = |slot: &u32| !all.must_write.get(group.index(), *slot as usize);
            let kept: BitSet = slots.iter().filter(kept).collect();
            if !lost && (one.faults != two.faults || self.rest(one, &kept) != self.rest(two, &kept)) {
                return wrong("reads");
            }
        }
        Ok(())
    }

    /// Whether a cell of a member is one whose value the facts rely on.
    fn keeps(&self, member: usize, cell: u32) -> bool {
        let known = self.matrices.population.members[member].known.as_ref();
        known.is_some_and(|known| known.cells.contains_key(&cell))
    }

    /// The states that an action leads to, but for some slots.
    fn rest(&self, outcome: &Outcome, slots: &BitSet) -> BTreeSet<Vec<u8>> {
        let states = outcome.states.iter().filter_map(|next| {
            let mut state = self.machine.take_apart(&next.bytes)?;
            let places = self.places(next, &state);
            let is = |part: Part| {
                self.matrices.slots.of_part(&part, &places).is_some_and(|slot| slots.contains(slot.0))
            };
            self.erase(&mut state, &is);
            Some(self.machine.put_together(&state))
        });
        states.collect()
    }

    fn erase(&self, state: &mut Anatomy, is: &dyn Fn(Part) -> bool) {
        for (cell, value) in state.globals.iter_mut().enumerate() {
            *value = if is(Part::Global(cell as u32)) { 0 } else { *value };
        }
        for (pid, body) in state.processes.iter_mut().enumerate() {
            for (cell, value) in body.cells.iter_mut().enumerate() {
                *value = if is(Part::Local(pid, cell as u32)) { 0 } else { *value };
            }
            if is(Part::Control(pid)) {
                body.location = self.machine.program().proctype(body.proctype).start;
            }
            body.priority = if is(Part::Priority(pid)) { 1 } else { body.priority };
        }
        for (index, queue) in state.channels.iter_mut().enumerate() {
            if is(Part::Channel(index, Aspects::ALL)) {
                queue.messages.clear();
            }
        }
        state.last = if is(Part::Last) { 0 } else { state.last };
        if is(Part::Trace) {
            state.trace = state.trace.map(|_| LocId(1));
        }
    }
}

/// One successor, taken out of its buffers.
struct Step {
    state: Option<Vec<u8>>,
    transient: bool,
    fault: Option<(FaultKind, u32, u32)>,
}

fn step(from: &Successors, successor: &system::Successor) -> Step {
    Step {
        state: from.state(successor).map(<[u8]>::to_vec),
        transient: successor.is_transient(),
        fault: from.fault(successor).map(|fault| (fault.kind, fault.line, fault.column)),
    }
}
