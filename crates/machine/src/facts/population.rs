//! Which processes there can be, as far as that is known before the search.
//!
//! Most models begin with steps that every run takes: `init` starts the others in an atomic sequence. That
//! *forced prefix*, as long as each state has exactly one successor, is executed by the reference machine.
//! The processes born there are known exactly (pid, parameters, channels), and they are the first to be born
//! in every run. For each proctype of which more processes may be started later there is one entry that
//! stands for any of them.
//!
//! So the n-th process that is born in a run is entry n, while there are such, and else the one of its
//! proctype ([`Population::born`]). pids are reused; entries are not.

use std::collections::BTreeSet;

use promela::ir::{Action, ExprKind, LocId, Proctype, ProctypeId, ProctypeKind, Program, visit};
use stop::Stop;
use system::{Successors, TransitionSystem};

use super::components::Components;
use super::{Known, Who, telling};
use crate::interp::Interp;
use crate::interp::anatomy::Anatomy;

/// Steps of the forced prefix after which it is given up: enough to start 255 processes in a loop.
const MOST_STEPS: usize = 4096;

/// A process, or any process of a proctype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its proctype.
    pub id: ProctypeId,
    /// What more is known of it.
    pub known: Option<Known>,
    /// Whether it may stand for several processes at a time.
    pub several: bool,
}

impl Member {
    /// The process as facts speak of it.
    pub fn who(&self) -> Who<'_> {
        Who { id: self.id, known: self.known.as_ref() }
    }
}

/// The processes that there can be.
#[derive(Clone, Debug, Default)]
pub struct Population {
    /// Those of the forced prefix in order of birth, then those that stand for any process of a proctype.
    pub members: Vec<Member>,
    n_forced: usize,
    /// For each proctype the member that stands for any of its processes.
    any: Vec<Option<u32>>,
}

impl Population {
    /// One member for each proctype, whatever is known of its processes.
    pub fn by_proctype(program: &Program) -> Self {
        let ids = (0..program.proctypes.len() as u32).map(ProctypeId);
        Population::default().and_any(program, ids.filter(|id| runs(program, *id)))
    }

    /// The processes of a program, as its machine tells them.
    pub fn of(machine: &Interp, stop: &Stop) -> Self {
        let program = machine.program();
        let Some(prefix) = Prefix::walk(machine, stop) else { return Population::by_proctype(program) };
        let Prefix { members, later, .. } = prefix;
        let n_forced = members.len();
        Population { members, n_forced, any: Vec::new() }.and_any(program, later.into_iter())
    }

    fn and_any(mut self, program: &Program, ids: impl Iterator<Item = ProctypeId>) -> Self {
        self.any = vec![None; program.proctypes.len()];
        let several = several(program);
        for id in ids {
            self.any[id.index()] = Some(self.members.len() as u32);
            self.members.push(Member { id, known: None, several: several[id.index()] });
        }
        self
    }

    /// The member that the process is which is born as the n-th of a run, from 0.
    pub fn born(&self, n: usize, id: ProctypeId) -> Option<usize> {
        match n < self.n_forced {
            true => Some(n).filter(|&n| self.members[n].id == id),
            false => self.any[id.index()].map(|any| any as usize),
        }
    }

    /// The members of a proctype.
    pub fn of_proctype(&self, id: ProctypeId) -> impl Iterator<Item = usize> + '_ {
        let of = move |(_, member): &(usize, &Member)| member.id == id;
        self.members.iter().enumerate().filter(of).map(|(number, _)| number)
    }
}

/// The steps that every run begins with.
struct Prefix {
    /// The processes born on the way.
    members: Vec<Member>,
    /// The proctypes of which processes may be started afterwards.
    later: BTreeSet<ProctypeId>,
}

impl Prefix {
    /// `None` when there is no initial state.
    fn walk(machine: &Interp, stop: &Stop) -> Option<Prefix> {
        let telling = telling(machine.program());
        let mut state = Vec::new();
        machine.initial(&mut state).ok()?;
        let mut members = Vec::new();
        let mut out = Successors::default();
        let mut alive = 0;
        let mut last = None;
        for _ in 0..=MOST_STEPS {
            stop.check();
            let anatomy = machine.take_apart(&state)?;
            for (pid, body) in anatomy.processes.iter().enumerate().skip(alive) {
                // A cell that keeps its first value has it now; later it may be reset, when it is not read
                // any more.
                let cells = telling[body.proctype.index()].cells.iter();
                let known = Known {
                    pid: Some(pid),
                    first_channel: Some(body.first_channel as u32),
                    cells: cells.map(|&cell| (cell, body.cells[cell as usize])).collect(),
                };
                members.push(Member { id: body.proctype, known: Some(known), several: false });
            }
            alive = anatomy.processes.len();
            last = Some(anatomy);
            out.clear();
            machine.expand(&state, &mut out);
            let [only] = &out.list[..] else { break };
            let Some(next) = out.state(only).filter(|_| out.fault(only).is_none()) else { break };
            let next = next.to_vec();
            state = next;
        }
        let later = started_later(machine.program(), &last?);
        Some(Prefix { members, later })
    }
}

/// The proctypes of which processes may be started from a state on.
fn started_later(program: &Program, state: &Anatomy) -> BTreeSet<ProctypeId> {
    let mut open: Vec<(ProctypeId, LocId)> =
        state.processes.iter().map(|body| (body.proctype, body.location)).collect();
    let mut seen = BTreeSet::new();
    let mut started = BTreeSet::new();
    while let Some((id, at)) = open.pop() {
        if !seen.insert((id, at)) {
            continue;
        }
        let proctype = program.proctype(id);
        for edge in proctype.location(at).edges.iter().map(|edge| proctype.edge(*edge)) {
            open.push((id, edge.to));
            if let Action::DStep { entry, guards, .. } = &edge.action {
                open.extend([Some(*entry), *guards].into_iter().flatten().map(|at| (id, at)));
            }
            visit::walk_action(&edge.action, &mut |part| {
                if let ExprKind::Run { proctype: child, .. } = &part.kind {
                    started.insert(*child);
                    open.push((*child, program.proctype(*child).start));
                }
            });
        }
    }
    started
}

/// Whether there are processes of this proctype: it is no claim or trace.
pub fn runs(program: &Program, id: ProctypeId) -> bool {
    matches!(program.proctype(id).kind, ProctypeKind::Proctype | ProctypeKind::Init)
}

/// For every proctype, whether several processes of it may exist: it is started more than once, in a cycle,
/// or by several processes.
pub fn several(program: &Program) -> Vec<bool> {
    let mut starts = vec![0u32; program.proctypes.len()];
    program.active.iter().for_each(|active| starts[active.proctype.index()] += 1);
    let mut started_by: Vec<(usize, usize)> = Vec::new();
    for (p, proctype) in program.proctypes.iter().enumerate() {
        count_starts(p, proctype, &mut starts, &mut started_by);
    }
    let mut several: Vec<bool> = starts.iter().map(|&n| n > 1).collect();
    for _ in 0..several.len() {
        for &(parent, child) in &started_by {
            several[child] |= several[parent] || parent == child;
        }
    }
    several
}

fn count_starts(p: usize, proctype: &Proctype, starts: &mut [u32], started_by: &mut Vec<(usize, usize)>) {
    let component = Components::new(proctype).of;
    let edges = || {
        let listed =
            proctype.locations.iter().enumerate().flat_map(|(l, at)| at.edges.iter().map(move |e| (l, e)));
        listed.map(|(l, id)| (l, proctype.edge(*id)))
    };
    let comes_back = |l: usize, to: LocId| component[l] == component[to.index()];
    // No edge leads into a d_step, so what is inside is on a cycle where the d_step is.
    let d_step_again =
        edges().any(|(l, edge)| matches!(edge.action, Action::DStep { .. }) && comes_back(l, edge.to));
    for (l, edge) in edges() {
        let again = comes_back(l, edge.to) || d_step_again && proctype.locations[l].in_d_step;
        visit::walk_action(&edge.action, &mut |part| {
            if let ExprKind::Run { proctype: child, .. } = &part.kind {
                starts[child.index()] += if again { 2 } else { 1 };
                started_by.push((p, child.index()));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opt::tests::program;

    #[test]
    fn a_process_that_is_started_again_and_again_is_several() {
        let text = "byte n; proctype p() { skip } proctype q() { skip } proctype r() { skip } \
            active proctype a() { run q(); do :: d_step { n < 3 -> n++; run p() } :: break od; d_step { run r(); n = 0 } }";
        let program = program(text);
        let several = several(&program);
        let of =
            |name: &str| several[program.proctypes.iter().position(|p| p.name == name).expect("it exists")];
        assert!(of("p") && !of("q") && !of("r") && !of("a"));
    }
}
