//! Tries to falsify the facts: what is claimed of an action against what is seen of it in a state.
//!
//! Writes are seen by comparing the states before and after. Reads are seen by changing one part of the
//! state, to another value that its type allows, and looking whether the action is still executable and still
//! does the same. (The state so made need not be reachable: what an action does in it is defined all the
//! same. Only which channels a variable can name is respected, because the facts are entitled to it.)
//! Whatever was seen and not claimed is a [`Refutation`]. Nothing is proved this way; but a set that names
//! too little is found soon.

use std::collections::{BTreeMap, BTreeSet};

use promela::ir::{ChanTypeId, LocId, Program, Scalar};
use system::{ActionId, FaultKind, Successors};

use super::Points;
use super::access::{Access, Facts};
use super::region::{Aspects, ChannelName, Part, Region};
use crate::action::Action;
use crate::interp::Interp;
use crate::interp::anatomy::{Anatomy, Body, Queue};

/// Which set names too little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// [`Access::guard`]: the action began or ceased to be executable.
    Guard,
    /// [`Access::effect`]: the action does something else.
    Effect,
    /// [`Access::writes`].
    Writes,
}

/// A claim that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refutation {
    /// Which.
    pub claim: Claim,
    /// Whose.
    pub action: Action,
    /// What was changed, one part or several that change together, none of which is claimed.
    pub parts: Vec<Part>,
}

/// A machine, and what is claimed of its program.
#[derive(Debug)]
pub struct Checker<'a> {
    machine: &'a Interp,
    facts: &'a Facts,
    globals: Vec<Scalar>,
    points: Points,
}

/// What became of an action.
struct Outcome {
    after: Option<Anatomy>,
    fault: Option<(FaultKind, u32, u32)>,
}

/// Gives a number below the one given.
pub type Pick<'a> = &'a mut dyn FnMut(usize) -> usize;

impl<'a> Checker<'a> {
    /// A checker of claims about the program of a machine.
    pub fn new(machine: &'a Interp, facts: &'a Facts) -> Self {
        let points = Points::sure(machine.program());
        Checker { machine, facts, globals: machine.global_scalars(), points }
    }

    /// Checks the actions of one state, with up to `tries` changes to it that `pick` chooses.
    pub fn state(&self, bytes: &[u8], tries: usize, pick: Pick<'_>) -> Vec<Refutation> {
        let Some(before) = self.machine.take_apart(bytes) else { return Vec::new() };
        let outcomes = self.outcomes(bytes);
        let mut found = Vec::new();
        for (&id, outcome) in &outcomes {
            self.writes(&before, id, outcome, &mut found);
        }
        for _ in 0..tries {
            let Some((other, parts)) = self.change(&before, pick) else { continue };
            let others = self.outcomes(&self.machine.put_together(&other));
            for (id, outcome) in &outcomes {
                self.reads((&before, outcome), &other, others.get(id), *id, &parts, &mut found);
            }
            for id in others.keys().filter(|id| !outcomes.contains_key(id)) {
                self.guard(&before, *id, &parts, &mut found);
            }
        }
        found
    }

    fn outcomes(&self, bytes: &[u8]) -> BTreeMap<ActionId, Outcome> {
        let mut out = Successors::default();
        self.machine.outcomes(bytes, &mut out);
        let outcome = |successor: &system::Successor| {
            let fault = out.fault(successor).map(|fault| (fault.kind, fault.line, fault.column));
            let after = out.state(successor).and_then(|bytes| self.machine.take_apart(bytes));
            (successor.action, Outcome { after, fault })
        };
        out.list.iter().map(outcome).collect()
    }

    /// What is claimed of each process that takes part in an action.
    fn accesses(&self, state: &Anatomy, action: Action) -> Option<Vec<(usize, &'a Access)>> {
        let moves = [Some((action.pid, action.edge?)), action.partner];
        let access =
            |(pid, edge): (usize, _)| Some((pid, self.facts.edge(state.processes.get(pid)?.proctype, edge)));
        moves.into_iter().flatten().map(access).collect()
    }

    fn writes(&self, before: &Anatomy, id: ActionId, outcome: &Outcome, found: &mut Vec<Refutation>) {
        let action = Action::unpack(id);
        let (Some(after), Some(accesses)) = (&outcome.after, self.accesses(before, action)) else { return };
        let claimed = |part: &Part| {
            let states = [before, after];
            accesses.iter().any(|(pid, access)| covers(&access.writes.0, *pid, &states, part))
        };
        for part in changed(self.machine.program(), before, after) {
            if !claimed(&part) {
                found.push(Refutation { claim: Claim::Writes, action, parts: vec![part] });
            }
        }
    }

    /// An action that is executable in one of two states that differ in some parts.
    fn guard(&self, state: &Anatomy, id: ActionId, parts: &[Part], found: &mut Vec<Refutation>) {
        let action = Action::unpack(id);
        let Some(accesses) = self.accesses(state, action) else { return };
        if !mentions(&accesses, state, parts, |access| vec![&access.guard.0]) {
            found.push(Refutation { claim: Claim::Guard, action, parts: parts.to_vec() });
        }
    }

    /// An action that is executable in one state, and what becomes of it in another that differs in some
    /// parts.
    fn reads(
        &self,
        (before, outcome): (&Anatomy, &Outcome),
        other: &Anatomy,
        other_outcome: Option<&Outcome>,
        id: ActionId,
        parts: &[Part],
        found: &mut Vec<Refutation>,
    ) {
        let Some(other_outcome) = other_outcome else { return self.guard(before, id, parts, found) };
        let action = Action::unpack(id);
        let Some(accesses) = self.accesses(before, action) else { return };
        let same = outcome.fault == other_outcome.fault
            && match (&outcome.after, &other_outcome.after) {
                (Some(after), Some(other_after)) => does_the_same((before, after), (other, other_after)),
                (a, b) => a.is_none() && b.is_none(),
            };
        let reads = |access: &'a Access| vec![&access.guard.0, &access.effect.0];
        if !same && !mentions(&accesses, before, parts, reads) {
            found.push(Refutation { claim: Claim::Effect, action, parts: parts.to_vec() });
        }
    }
}

/// Whether one of the regions of one of the processes names one of the parts.
fn mentions<'a>(
    accesses: &[(usize, &'a Access)],
    state: &Anatomy,
    parts: &[Part],
    regions: impl Fn(&'a Access) -> Vec<&'a Region>,
) -> bool {
    accesses.iter().any(|(pid, access)| {
        regions(access)
            .into_iter()
            .any(|region| parts.iter().any(|part| covers(region, *pid, &[state], part)))
    })
}

/// Whether a region of process `pid` names a part of one of the states, of which the first is the one before.
fn covers(region: &Region, pid: usize, states: &[&Anatomy], part: &Part) -> bool {
    let proctype =
        |q: usize| states.iter().find_map(|state| state.processes.get(q)).map(|body| body.proctype);
    let named = match *part {
        Part::Global(cell) => region.globals.contains(cell),
        Part::Local(q, cell) => {
            let others = || proctype(q).and_then(|id| region.others.get(&id));
            q == pid && region.own.contains(cell) || others().is_some_and(|cells| cells.contains(cell))
        }
        Part::Control(q) => {
            q == pid && region.own_control || proctype(q).is_some_and(|id| region.controls.contains(id))
        }
        Part::Priority(_) => region.priorities,
        Part::Channel(index, aspects) => {
            let ty = states.iter().find_map(|state| state.channels.get(index)).map(|queue| queue.ty);
            let own =
                states.first().and_then(|state| state.processes.get(pid)).map(|body| body.first_channel);
            let is = |name: &ChannelName| match *name {
                ChannelName::Global(n) => index == n as usize,
                ChannelName::Own(n) => own.is_some_and(|first| index == first + n as usize),
                ChannelName::Declared(declared) => ty == Some(declared),
                ChannelName::Number(n) => index == n as usize,
            };
            region.channels.iter().any(|(name, more)| is(name) && more.meets(aspects))
        }
        Part::Processes => region.processes,
        Part::Last => region.last,
        Part::Trace => region.trace,
        Part::Exclusive => region.exclusive,
    };
    named || region.everything || region.timeout
}

/// What happened to a channel.
#[derive(Debug, PartialEq, Eq)]
enum Change<'s> {
    Nothing,
    Added(&'s [i32]),
    Taken,
    Other(&'s [Vec<i32>]),
}

fn channel_change<'s>(before: &Queue, after: &'s Queue) -> Change<'s> {
    let (from, to) = (&before.messages, &after.messages);
    match to.split_last() {
        _ if from == to => Change::Nothing,
        Some((last, rest)) if rest == &from[..] => Change::Added(last),
        _ if from.get(1..) == Some(&to[..]) => Change::Taken,
        _ => Change::Other(to),
    }
}

/// The aspects in which a channel differs.
fn changed_aspects(program: &Program, before: &Queue, after: &Queue) -> Aspects {
    let (n, m) = (before.messages.len(), after.messages.len());
    let capacity = program.chan_types[before.ty.index()].capacity as usize;
    let when = |differs: bool, aspect: Aspects| if differs { aspect } else { Aspects::NONE };
    let content = match channel_change(before, after) {
        Change::Nothing => Aspects::NONE,
        Change::Added(_) => Aspects::BACK.and(when(n == 0, Aspects::HEAD)),
        Change::Taken => Aspects::HEAD,
        Change::Other(_) => Aspects::HEAD.and(Aspects::BACK).and(Aspects::BODY),
    };
    content
        .and(when((n == 0) != (m == 0), Aspects::EMPTY))
        .and(when((n >= capacity) != (m >= capacity), Aspects::FULL))
        .and(when(n != m, Aspects::LEN))
}

/// The parts in which two states differ.
pub fn changed(program: &Program, before: &Anatomy, after: &Anatomy) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut cells = |from: &[i32], to: &[i32], part: &dyn Fn(u32) -> Part| {
        let n = from.len().max(to.len());
        let differs = |cell: &usize| from.get(*cell) != to.get(*cell);
        parts.extend((0..n).filter(differs).map(|cell| part(cell as u32)));
    };
    cells(&before.globals, &after.globals, &Part::Global);
    let (n, m) = (before.processes.len(), after.processes.len());
    for pid in 0..n.max(m) {
        let none = Body {
            proctype: promela::ir::ProctypeId(0),
            location: LocId(0),
            priority: 0,
            cells: vec![],
            first_channel: 0,
        };
        let from = before.processes.get(pid).unwrap_or(&none);
        let to = after.processes.get(pid).unwrap_or(&none);
        cells(&from.cells, &to.cells, &|cell| Part::Local(pid, cell));
    }
    for pid in 0..n.max(m) {
        let (from, to) = (before.processes.get(pid), after.processes.get(pid));
        if from.map(|body| body.location) != to.map(|body| body.location) {
            parts.push(Part::Control(pid));
        }
        if from.map(|body| body.priority) != to.map(|body| body.priority) {
            parts.push(Part::Priority(pid));
        }
    }
    for index in 0..before.channels.len().max(after.channels.len()) {
        let aspects = match (before.channels.get(index), after.channels.get(index)) {
            (Some(from), Some(to)) => changed_aspects(program, from, to),
            _ => Aspects::ALL,
        };
        parts.extend(aspects.each().map(|aspect| Part::Channel(index, aspect)));
    }
    let rest = [
        (n != m, Part::Processes),
        (before.last != after.last, Part::Last),
        (before.trace != after.trace, Part::Trace),
        (before.control != after.control, Part::Exclusive),
    ];
    parts.extend(rest.into_iter().filter(|(differs, _)| *differs).map(|(_, part)| part));
    parts
}

/// Whether two steps can be the same function of what they do not access: each value is either left alone by
/// both, or the same after both.
fn does_the_same((a, b): (&Anatomy, &Anatomy), (c, d): (&Anatomy, &Anatomy)) -> bool {
    let grows = |from: &Anatomy, to: &Anatomy| to.processes.len() as isize - from.processes.len() as isize;
    let bodies = || {
        let pids = 0..b.processes.len().min(d.processes.len());
        pids.into_iter().all(|pid| {
            let (to, other_to) = (&b.processes[pid], &d.processes[pid]);
            let (Some(from), Some(other_from)) = (a.processes.get(pid), c.processes.get(pid)) else {
                // A new process; where the other state has another number of them, this is no pair.
                return a.processes.len() != c.processes.len() || to == other_to;
            };
            let cells = from.cells.iter().zip(&to.cells).zip(other_from.cells.iter().zip(&other_to.cells));
            agree(from.location, to.location, other_from.location, other_to.location)
                && agree(from.priority, to.priority, other_from.priority, other_to.priority)
                && cells.into_iter().all(|((a, b), (c, d))| agree(a, b, c, d))
        })
    };
    let channels = || {
        let indices = 0..b.channels.len().min(d.channels.len());
        indices.into_iter().all(|i| match (a.channels.get(i), c.channels.get(i)) {
            (Some(from), Some(other_from)) => {
                channel_change(from, &b.channels[i]) == channel_change(other_from, &d.channels[i])
            }
            _ => true,
        })
    };
    let globals = a.globals.iter().zip(&b.globals).zip(c.globals.iter().zip(&d.globals));
    grows(a, b) == grows(c, d)
        && globals.into_iter().all(|((a, b), (c, d))| agree(a, b, c, d))
        && agree(a.last, b.last, c.last, d.last)
        && agree(a.trace, b.trace, c.trace, d.trace)
        && agree(a.control, b.control, c.control, d.control)
        && bodies()
        && channels()
}

fn agree<T: PartialEq>(a: T, b: T, c: T, d: T) -> bool {
    b == d || a == b && c == d
}

/// Making other states.
impl Checker<'_> {
    /// A state that differs in a part or a few that belong together, and in which.
    pub fn change(&self, state: &Anatomy, pick: Pick<'_>) -> Option<(Anatomy, Vec<Part>)> {
        let mut other = state.clone();
        let parts = match pick(8) {
            0 | 1 => self.change_global(&mut other, pick),
            2 | 3 => self.change_local(&mut other, pick),
            4 | 5 => self.change_channel(&mut other, pick),
            6 => self.change_control(&mut other, pick),
            _ => self.change_system(&mut other, pick),
        }?;
        (other != *state).then_some((other, parts))
    }

    fn change_global(&self, state: &mut Anatomy, pick: Pick<'_>) -> Option<Vec<Part>> {
        let cell = some(state.globals.len(), pick)?;
        if self.points.global(cell as u32).is_some() {
            return None;
        }
        let channels = self.points.of_cell(None, cell as u32);
        state.globals[cell] = another(self.globals[cell], state.globals[cell], &channels, state, pick);
        Some(vec![Part::Global(cell as u32)])
    }

    fn change_local(&self, state: &mut Anatomy, pick: Pick<'_>) -> Option<Vec<Part>> {
        let pid = some(state.processes.len(), pick)?;
        let body = &state.processes[pid];
        let cell = some(body.cells.len(), pick)?;
        let (p, scalar) = (body.proctype.index(), self.machine.local_scalars(body.proctype)[cell]);
        if self.points.local(p, cell as u32).is_some() {
            return None;
        }
        let channels = self.points.of_cell(Some(p), cell as u32);
        state.processes[pid].cells[cell] = another(scalar, body.cells[cell], &channels, state, pick);
        Some(vec![Part::Local(pid, cell as u32)])
    }

    /// Another field in a message, a message more, or one less.
    fn change_channel(&self, state: &mut Anatomy, pick: Pick<'_>) -> Option<Vec<Part>> {
        let index = some(state.channels.len(), pick)?;
        let ChanTypeId(ty) = state.channels[index].ty;
        let declared = &self.machine.program().chan_types[ty as usize];
        let before = state.channels[index].clone();
        if before.messages.len() > declared.capacity as usize || declared.capacity == 0 {
            return None;
        }
        let parts = match pick(3) {
            0 => {
                let slot = some(before.messages.len(), pick)?;
                let field = some(declared.fields.len(), pick)?;
                let channels = self.points.of_field(ty, field);
                let value =
                    another(declared.fields[field], before.messages[slot][field], &channels, state, pick);
                state.channels[index].messages[slot][field] = value;
                return Some(vec![Part::Channel(
                    index,
                    if slot == 0 { Aspects::HEAD } else { Aspects::BODY },
                )]);
            }
            1 if before.messages.len() < declared.capacity as usize => {
                let field = |(i, scalar): (usize, &Scalar)| {
                    another(*scalar, 0, &self.points.of_field(ty, i), state, pick)
                };
                let message = declared.fields.iter().enumerate().map(field).collect();
                state.channels[index].messages.push(message);
                changed_aspects(self.machine.program(), &before, &state.channels[index])
            }
            _ => {
                state.channels[index].messages.pop()?;
                let gone = changed_aspects(self.machine.program(), &state.channels[index], &before);
                if before.messages.len() > 1 { gone.and(Aspects::BODY) } else { gone }
            }
        };
        Some(parts.each().map(|aspect| Part::Channel(index, aspect)).collect())
    }

    fn change_control(&self, state: &mut Anatomy, pick: Pick<'_>) -> Option<Vec<Part>> {
        let pid = some(state.processes.len(), pick)?;
        let proctype = self.machine.program().proctype(state.processes[pid].proctype);
        let location = LocId(some(proctype.locations.len(), pick)? as u32);
        let real = location.0 > 0 && !proctype.location(location).in_d_step;
        state.processes[pid].location = location;
        real.then(|| vec![Part::Control(pid)])
    }

    /// What there is besides, and the process with the highest pid gone.
    fn change_system(&self, state: &mut Anatomy, pick: Pick<'_>) -> Option<Vec<Part>> {
        let program = self.machine.program();
        match pick(4) {
            0 if program.uses.last => {
                state.last = pick(state.processes.len().max(1)) as u8;
                Some(vec![Part::Last])
            }
            1 if program.uses.priority => {
                let pid = some(state.processes.len(), pick)?;
                state.processes[pid].priority = 1 + pick(4) as u8;
                Some(vec![Part::Priority(pid)])
            }
            2 => {
                let n = program.trace.map(|id| program.proctype(id).locations.len())?;
                state.trace = Some(LocId(1 + some(n - 1, pick)? as u32));
                Some(vec![Part::Trace])
            }
            _ => {
                let body = state.processes.pop()?;
                let pid = state.processes.len();
                let channels = body.first_channel..state.channels.len();
                state.channels.truncate(body.first_channel);
                let mut parts = vec![Part::Processes, Part::Control(pid), Part::Priority(pid)];
                parts.extend((0..body.cells.len() as u32).map(|cell| Part::Local(pid, cell)));
                parts.extend(channels.map(|index| Part::Channel(index, Aspects::ALL)));
                state.control.is_none_or(|control| usize::from(control) < pid).then_some(parts)
            }
        }
    }
}

/// One of `n`, if there is any.
fn some(n: usize, pick: Pick<'_>) -> Option<usize> {
    (n > 0).then(|| pick(n))
}

/// Another value that a cell may hold (or the same, where there is hardly another), which may be a channel of
/// certain declarations.
fn another(
    scalar: Scalar,
    value: i32,
    channels: &Option<BTreeSet<u32>>,
    state: &Anatomy,
    pick: Pick<'_>,
) -> i32 {
    let named = channels.as_ref().is_some_and(|set| !set.is_empty());
    if scalar == Scalar::Chan || named {
        let fits = |queue: &Queue| channels.as_ref().is_none_or(|set| set.contains(&queue.ty.0));
        let numbers = state.channels.iter().enumerate().filter(|(_, queue)| fits(queue));
        let numbers: Vec<i32> = [0].into_iter().chain(numbers.map(|(i, _)| i as i32 + 1)).collect();
        return scalar.truncate(numbers[pick(numbers.len())]);
    }
    match scalar {
        Scalar::Lock => pick(state.processes.len() + 1) as i32,
        _ => {
            let near = [value ^ 1, value.wrapping_add(1), value.wrapping_sub(1), 0, 1, 2, 255, -1];
            scalar.truncate(near[pick(near.len())])
        }
    }
}
