//! Which processes there can be, as far as that is known before the search.
//!
//! Most models begin with steps of one process: `init` starts the others in an atomic sequence. The states in
//! which only one process can move, from the initial one on, are visited by the reference machine (unless a
//! d_step with a loop in it is ahead). As far as all of these runs start processes of the same proctypes in
//! the same order, the n-th process that is born is known in every run: its pid, its channels and its
//! parameters where they agree. For each proctype of which more processes may be started later there is one
//! entry that stands for any of them.
//!
//! So the n-th process that is born in a run is entry n, while there are such, and else the one of its
//! proctype ([`Population::born`]). pids are reused; entries are not.

use std::collections::{BTreeSet, HashSet, VecDeque};

use promela::ir::{Action, EdgeId, ExprKind, LocId, Proctype, ProctypeId, ProctypeKind, Program, visit};
use stop::Stop;
use system::{Successor, Successors, SystemExt, TransitionSystem};

use super::access::inside;
use super::components::Components;
use super::{Known, Telling, Who, telling};
use crate::action;
use crate::interp::Interp;
use crate::interp::anatomy::{Anatomy, Body};

/// Number of states visited: enough to start 255 processes in a loop, or to choose an order of five.
const MOST_STATES: usize = 4096;

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
    /// Those that every run starts in order of birth, then those that stand for any process of a proctype.
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
        let Some(beginning) = Beginning::visit(machine, stop) else {
            return Population::by_proctype(program);
        };
        let Beginning { members, later, .. } = beginning;
        let n_forced = members.len();
        Population { members, n_forced, any: Vec::new() }.and_any(program, later.into_iter())
    }

    /// These processes, and no others.
    pub fn of_members(members: Vec<Member>) -> Self {
        Population { n_forced: members.len(), members, any: Vec::new() }
    }

    /// The processes that every run starts, in order of birth.
    pub fn forced(&self) -> &[Member] {
        &self.members[..self.n_forced]
    }

    /// Whether processes of a proctype may be started that are not known before the search.
    pub fn comes_later(&self, id: ProctypeId) -> bool {
        self.any.get(id.index()).is_some_and(Option::is_some)
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

/// What is known of the runs while only one process can move and none has ended.
#[derive(Default)]
struct Beginning {
    /// The processes that were seen, with what is true of them in all runs.
    members: Vec<Member>,
    /// How many of them every run starts, in this order.
    n_forced: Option<usize>,
    /// Births, counted from 0, in any run.
    births: BTreeSet<(usize, ProctypeId)>,
    /// The proctypes of which processes may be started afterwards.
    later: BTreeSet<ProctypeId>,
}

/// A state of the beginning, with all processes that were born on the way.
#[derive(Clone)]
struct Visited {
    bytes: Vec<u8>,
    born: Vec<Member>,
    alive: usize,
}

impl Beginning {
    /// `None` when there is no initial state.
    fn visit(machine: &Interp, stop: &Stop) -> Option<Beginning> {
        let program = machine.program();
        let telling = telling(program);
        let endless: Vec<BTreeSet<LocId>> = program.proctypes.iter().map(loops_in_d_step).collect();
        let mut first = Visited { bytes: Vec::new(), born: Vec::new(), alive: 0 };
        machine.initial(&mut first.bytes).ok()?;
        let mut seen = HashSet::from([first.bytes.clone()]);
        let mut open = VecDeque::from([first]);
        let mut found = Beginning::default();
        while let Some(mut at) = open.pop_front() {
            stop.check();
            let anatomy = machine.take_apart(&at.bytes)?;
            let ended = anatomy.processes.len() < at.alive;
            at.note_births(&anatomy, &telling);
            let long = |body: &Body| endless[body.proctype.index()].contains(&body.location);
            let stays = seen.len() > MOST_STATES || ended || anatomy.processes.iter().any(long);
            let next = if stays { None } else { successors_of_one(machine, &at.bytes) };
            found.merge(&at.born);
            if next.is_none() {
                // Where the visit ends, whoever was not born yet may never be.
                found.limit(at.born.len());
                found.later.extend(started_later(program, &anatomy));
            }
            for bytes in next.into_iter().flatten() {
                if seen.insert(bytes.clone()) {
                    open.push_back(Visited { bytes, ..at.clone() });
                }
            }
        }
        Some(found.forced_members())
    }

    fn limit(&mut self, n: usize) {
        self.n_forced = Some(self.n_forced.map_or(n, |before| before.min(n)));
    }

    /// Keeps what is true in another run as well.
    fn merge(&mut self, born: &[Member]) {
        self.births.extend(born.iter().enumerate().map(|(n, member)| (n, member.id)));
        let both = self.members.iter().zip(born);
        let same = both.take_while(|(one, other)| one.id == other.id).count();
        if same < self.members.len().min(born.len()) {
            self.limit(same);
        } else if same == self.members.len() {
            self.members.extend(born.iter().skip(same).cloned());
        }
        for (member, other) in self.members.iter_mut().zip(born).take(same) {
            if let (Some(known), Some(other)) = (&mut member.known, &other.known) {
                known.pid = known.pid.filter(|pid| other.pid == Some(*pid));
                known.first_channel = known.first_channel.filter(|first| other.first_channel == Some(*first));
                known.cells.retain(|cell, value| other.cells.get(cell) == Some(value));
            }
        }
    }

    /// The members that every run starts; the others may be started later.
    fn forced_members(mut self) -> Self {
        // Without an end of the visit all runs are in it, and what differs has set a limit.
        let n = self.n_forced.unwrap_or(self.members.len());
        self.members.truncate(n);
        self.later.extend(self.births.iter().filter(|(birth, _)| *birth >= n).map(|(_, id)| *id));
        self
    }
}

impl Visited {
    fn note_births(&mut self, anatomy: &Anatomy, telling: &[Telling]) {
        for (pid, body) in anatomy.processes.iter().enumerate().skip(self.alive) {
            // A cell that keeps its first value has it now; later it may be reset, when it is not read any
            // more.
            let cells = telling[body.proctype.index()].cells.iter();
            let known = Known {
                pid: Some(pid),
                first_channel: Some(body.first_channel as u32),
                cells: cells.map(|&cell| (cell, body.cells[cell as usize])).collect(),
            };
            self.born.push(Member { id: body.proctype, known: Some(known), several: false });
        }
        self.alive = anatomy.processes.len();
    }
}

/// The states after all steps of a state in which one process can move and nothing goes wrong.
fn successors_of_one(machine: &Interp, state: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut out = Successors::default();
    machine.expand(state, &mut out);
    let mover = |successor: &Successor| {
        let action::Action { pid, partner, .. } = action::Action::unpack(successor.action);
        (pid, partner.is_none())
    };
    let alone = out.list.first().map(mover)?;
    let fine = |successor: &Successor| mover(successor) == alone && out.fault(successor).is_none();
    let fine = alone.1 && out.list.iter().all(fine);
    fine.then(|| out.list.iter().map(|successor| out.state(successor).map(<[u8]>::to_vec)).collect())?
}

/// The locations from which a d_step with a loop inside may begin: nobody knows how long it takes.
fn loops_in_d_step(proctype: &Proctype) -> BTreeSet<LocId> {
    let component = Components::new(proctype).of;
    let comes_back = |at: &LocId| {
        let edges = &proctype.location(*at).edges;
        edges.iter().any(|edge| component[proctype.edge(*edge).to.index()] == component[at.index()])
    };
    let is_long = |id: &EdgeId| match proctype.edge(*id).action {
        Action::DStep { entry, exit, guards } => inside(proctype, entry, exit, guards).iter().any(comes_back),
        _ => false,
    };
    let locations = proctype.locations.iter().enumerate();
    let long = locations.filter(|(_, location)| location.edges.iter().any(is_long));
    long.map(|(l, _)| LocId(l as u32)).collect()
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
    for (l, location) in proctype.locations.iter().enumerate() {
        for edge in location.edges.iter().map(|id| proctype.edge(*id)) {
            // `run` does not occur inside a d_step, so an edge is taken again iff it stays in its component.
            let again = component[l] == component[edge.to.index()];
            visit::walk_action(&edge.action, &mut |part| {
                if let ExprKind::Run { proctype: child, .. } = &part.kind {
                    starts[child.index()] += if again { 2 } else { 1 };
                    started_by.push((p, child.index()));
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opt::tests::program;

    /// Name, pid, constants, whether it is several.
    type Told = (String, Option<usize>, Vec<i32>, bool);

    fn population(text: &str) -> (Vec<Told>, usize) {
        let program = program(text);
        let nowhere = |_| promela::source::Location { file: String::new(), line: 0, column: 0 };
        let machine = Interp::new(std::sync::Arc::new(program.clone()), nowhere).expect("it can be executed");
        let population = Population::of(&machine, &Stop::never());
        let member = |member: &Member| {
            let known = member.known.as_ref();
            let cells = known.map(|known| known.cells.values().copied().collect()).unwrap_or_default();
            let name = program.proctype(member.id).name.clone();
            (name, known.and_then(|known| known.pid), cells, member.several)
        };
        (population.members.iter().map(member).collect(), population.n_forced)
    }

    #[test]
    fn processes_that_every_run_starts_are_told_apart() {
        let text = "byte a[3]; proctype p(byte i) { a[i] = 1 } \
            init { byte i; atomic { do :: i < 3 -> run p(i); i++ :: else -> break od }; i == 9 -> run p(0) }";
        let (members, n_forced) = population(text);
        let of = |name: &str, pid, cells: &[i32]| (name.to_string(), Some(pid), cells.to_vec(), false);
        assert_eq!(n_forced, 4);
        let (p0, p1, p2) = (of("p", 1, &[0]), of("p", 2, &[1]), of("p", 3, &[2]));
        assert_eq!(members, [of(":init:", 0, &[]), p0, p1, p2, ("p".to_string(), None, vec![], true)]);
        // Nobody starts another one.
        let (members, _) = population(&text.replace("; i == 9 -> run p(0)", ""));
        assert_eq!(members.len(), 4);
    }

    #[test]
    fn choices_of_the_first_process_are_all_visited() {
        let text = "byte a[3]; proctype p(byte i, j) { a[i] = a[j] } proctype q() { skip } \
            init { byte i; if :: i = 1 :: i = 2 fi; atomic { run p(0, i); if :: i == 1 -> run p(1, i) :: else -> run q() fi } }";
        let (members, n_forced) = population(text);
        let of = |name: &str, pid, cells: &[i32]| (name.to_string(), pid, cells.to_vec(), false);
        // The second one is p or q, so any p and any q may come.
        let (init, first) = (of(":init:", Some(0), &[]), of("p", Some(1), &[0]));
        assert_eq!(n_forced, 2);
        assert_eq!(members, [init, first, ("p".to_string(), None, vec![], true), of("q", None, &[])]);
    }

    #[test]
    fn a_long_d_step_is_not_executed() {
        let text = "int i; proctype p() { skip } \
            init { d_step { do :: i != 2000000000 -> i++ :: else -> break od }; run p() }";
        let (members, n_forced) = population(text);
        assert_eq!((members.len(), n_forced), (2, 1));
    }

    #[test]
    fn a_process_that_is_started_again_and_again_is_several() {
        let text = "byte n; proctype p() { skip } proctype q() { skip } \
            active proctype a() { run q(); do :: n < 3 -> n++; run p() :: break od }";
        let program = program(text);
        let several = several(&program);
        let at = |name: &str| program.proctypes.iter().position(|p| p.name == name).expect("it exists");
        assert!(several[at("p")] && !several[at("q")] && !several[at("a")]);
    }
}
