//! The partitioned transition relation of a program whose processes are known by pid and proctype: what each
//! group of steps reads and writes, for a *local* next-state function.
//!
//! The [matrices](super::matrix) are about all runs, so they speak of processes that may be started later as
//! of one. A symbolic search needs to know more: it gives slots to every process that it meets, under its pid
//! and its proctype, and is told again what the groups are when it meets a new one. Relations between groups
//! are not asked for.
//!
//! A group reads what its edges may read, and what they may write but need not (the old value stays). What a
//! `run` writes is told apart ([`Starts`]): which process it starts depends on which processes there are, so
//! whoever knows that also knows which slots are written.

use std::collections::BTreeSet;

use promela::ir::{Action, Base, Edge, Expr, ExprKind, LocId, Place, Proctype, ProctypeId, Program, visit};
use stop::Stop;
use system::matrix::{BitMatrix, BitSet};

use super::footprint::extent;
use super::mark::{HandOver, hand_over};
use super::matrix::{Item, MemberFacts, cuts, list_items, updated};
use super::object::Objects;
use super::population::{Member, Population};
use super::region::Proctypes;
use super::slots::Slots;
use super::{Analysis, Facts, Marker, Region};

/// The processes that the steps of a group may start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Starts {
    /// Of these proctypes.
    pub proctypes: BTreeSet<ProctypeId>,
    /// At most this many; `None`: nobody knows.
    pub most: Option<usize>,
    /// Others to whom control is handed may start or end processes.
    pub others: bool,
}

impl Starts {
    /// Whether no process is started.
    pub fn is_none(&self) -> bool {
        self.proctypes.is_empty() && !self.others
    }
}

/// What one process may do along one edge from a stored state, or two processes in a rendezvous.
#[derive(Clone, Debug)]
pub struct LocalStep {
    /// Who moves.
    pub item: Item,
    /// Who moves with it.
    pub partner: Option<Item>,
    /// Slots on which nothing but this depends: whether the step is possible, and what it writes.
    pub reads: BitSet,
    /// It changes no other slots, those of processes that it starts excepted.
    pub writes: BitSet,
    /// Slots that are overwritten as a whole each time.
    pub overwrites: BitSet,
    /// The locations from which each of the two may take the step.
    pub sources: Vec<(usize, Vec<LocId>)>,
    /// What it may start.
    pub starts: Starts,
    /// It may go on with further edges, inside an atomic sequence.
    pub is_sequence: bool,
    /// It is the end of its process, and nothing else.
    pub ends: bool,
    /// It also asks whether anybody else can move: all slots are read.
    pub waits: bool,
    /// It is possible only when nobody else can move.
    pub only_idle: bool,
}

/// The partition.
#[derive(Debug)]
pub struct Partition {
    /// The processes.
    pub members: Vec<Member>,
    /// The slots.
    pub slots: Slots,
    /// The steps.
    pub steps: Vec<LocalStep>,
    /// For each watched expression the slots that it looks at.
    pub watched: Vec<BitSet>,
    /// For each member the slots that its `provided` clause looks at, and its location.
    pub provided: Vec<Option<BitSet>>,
    /// For each member the number of its locations.
    pub n_locations: Vec<u32>,
}

/// What partitions of a program need to know, whichever processes there are.
#[derive(Debug)]
pub struct Groundwork<'p> {
    analysis: Analysis<'p>,
    handed: HandOver,
}

impl<'p> Groundwork<'p> {
    /// For a program.
    pub fn new(program: &'p Program) -> Self {
        let analysis = Analysis::new(program);
        let handed = hand_over(&analysis, &Facts::new(program));
        Groundwork { analysis, handed }
    }
}

impl Partition {
    /// The partition for these processes; `watched` are expressions that somebody from outside asks about.
    pub fn new(
        Groundwork { analysis, handed }: &Groundwork<'_>,
        members: Vec<Member>,
        watched: &[&Expr],
        stop: &Stop,
    ) -> Partition {
        let program = analysis.program;
        let population = Population::of_members(members);
        let mut objects = Objects::default();
        let mut facts: Vec<MemberFacts<'_>> = Vec::new();
        for member in &population.members {
            let first_edge = facts.last().map_or(0, MemberFacts::end_edge);
            let marker = Marker::new(analysis, handed, member.who());
            facts.push(MemberFacts::new(marker, program.proctype(member.id), first_edge, &mut objects, stop));
        }
        let items = list_items(program, &facts, &population, (usize::MAX, stop)).expect("there is no limit");
        let cuts = cuts(program, &facts, handed, &population);
        let slots = Slots::new(program, &analysis.channels, &population, &cuts);
        let filling = Filling { program, population: &population, facts: &facts, slots: &slots };
        let mut steps = Vec::new();
        for (item, partner) in items {
            stop.check();
            steps.push(filling.step(item, partner));
        }
        let watched = watched.iter().map(|expr| filling.looked_at(analysis, expr)).collect();
        let provided = (0..population.members.len()).map(|m| filling.provided(m, analysis)).collect();
        let n_locations = |member: &Member| program.proctype(member.id).locations.len() as u32;
        let n_locations = population.members.iter().map(n_locations).collect();
        Partition { watched, provided, n_locations, steps, slots, members: population.members }
    }
}

struct Filling<'a> {
    program: &'a Program,
    population: &'a Population,
    facts: &'a [MemberFacts<'a>],
    slots: &'a Slots,
}

impl Filling<'_> {
    fn proctype(&self, member: usize) -> &Proctype {
        self.program.proctype(self.population.members[member].id)
    }

    fn slots_of(&self, member: Option<usize>, region: &Region) -> BitSet {
        let mut row = BitMatrix::new(1, self.slots.list.len());
        self.slots.add_region((&mut row, 0), self.population, member, region);
        row.iter_row(0).map(|slot| slot as u32).collect()
    }

    /// The slots that somebody from outside looks at. Of a process that is asked for by its number these are its
    /// own, whatever its proctype: whether it is there, where it is, and the cells that are named.
    fn looked_at(&self, analysis: &Analysis<'_>, expr: &Expr) -> BitSet {
        let region = analysis.looked_at_but(expr, |part| of_numbered(part).is_some());
        let mut slots = self.slots_of(None, &region);
        visit::walk(expr, &mut |part| {
            let Some((pid, named)) = of_numbered(part) else { return };
            self.slots.processes.iter().for_each(|slot| slots.add(slot.0));
            for (member, own) in self.population.members.iter().zip(&self.slots.members) {
                // Of whom the number is not known, it may be this one.
                let known = member.known.as_ref().and_then(|known| known.pid);
                if known.is_some_and(|known| known != pid) {
                    continue;
                }
                slots.add(own.location.0);
                if let Some((_, place)) = named.filter(|(id, _)| *id == member.id) {
                    let (first, end) = extent(place);
                    let (first, last) = (own.cells[first as usize], own.cells[end as usize - 1]);
                    (first.0..=last.0).for_each(|slot| slots.add(slot));
                }
            }
        });
        slots
    }

    fn provided(&self, member: usize, analysis: &Analysis<'_>) -> Option<BitSet> {
        let who = self.population.members[member].who();
        let clause = self.proctype(member).provided.as_ref()?;
        let mut slots = self.slots_of(Some(member), &analysis.read_by(who, clause));
        slots.add(self.slots.members[member].location.0);
        Some(slots)
    }

    fn step(&self, item: Item, partner: Option<Item>) -> LocalStep {
        let mut step = LocalStep {
            item,
            partner,
            reads: BitSet::default(),
            writes: BitSet::default(),
            overwrites: BitSet::default(),
            sources: Vec::new(),
            starts: Starts { most: Some(0), ..Starts::default() },
            is_sequence: false,
            ends: false,
            waits: false,
            only_idle: false,
        };
        for part in [Some(item), partner].into_iter().flatten() {
            self.add(&mut step, part);
        }
        let kept = step.writes.iter().filter(|slot| !step.overwrites.contains(*slot)).collect();
        step.reads.add_all(&kept);
        if step.waits {
            step.reads = (0..self.slots.list.len() as u32).collect();
        }
        step
    }

    fn add(&self, step: &mut LocalStep, item: Item) {
        let facts = &self.facts[item.member];
        let proctype = self.proctype(item.member);
        step.sources.push((item.member, facts.listed[item.edge.index()].clone()));
        let single = facts.sequences[item.edge.index()].is_empty();
        step.is_sequence |= !single;
        let ids: Vec<_> = facts.edges(item.edge).collect();
        for (at, &id) in ids.iter().enumerate() {
            let (edge, access) = (proctype.edge(id), &facts.marker.accesses()[id.index()]);
            let writes = without_run(edge, &access.writes.0);
            for region in [&access.guard.0, &access.effect.0, &updated(&writes)] {
                step.waits |= region.timeout;
                step.reads.add_all(&self.slots_of(Some(item.member), region));
            }
            step.writes.add_all(&self.slots_of(Some(item.member), &writes));
            started(&mut step.starts, edge, single);
            if at > 0 {
                for (reads, writes) in facts.marker.handed(edge) {
                    step.waits |= reads.timeout;
                    step.starts.others |= writes.processes;
                    for region in [reads, writes] {
                        step.reads.add_all(&self.slots_of(None, region));
                    }
                    step.writes.add_all(&self.slots_of(None, writes));
                }
            }
        }
        let first = proctype.edge(item.edge);
        step.ends |= single && matches!(first.action, Action::End);
        step.only_idle |= single && waits_alone(first);
        self.add_overwrites(step, item, single);
    }

    /// The slots that the first edge overwrites each time: a global cell that it assigns, own cells that it
    /// assigns and, if it is the whole step, those that it resets because they are dead where it leads.
    fn add_overwrites(&self, step: &mut LocalStep, item: Item, single: bool) {
        let (member, proctype) = (&self.population.members[item.member], self.proctype(item.member));
        let edge = proctype.edge(item.edge);
        if let Action::Assign(place, _) = &edge.action {
            let (first, end) = member.who().extent(place);
            let slot = self.slots.globals.get(first as usize).copied();
            let alone = |slot| self.slots.globals.iter().filter(|other| **other == slot).count() == 1;
            if let Some(slot) =
                slot.filter(|slot| place.base == Base::Global && end == first + 1 && alone(*slot))
            {
                step.overwrites.add(slot.0);
            }
        }
        let kills = &self.facts[item.member].marker.accesses()[item.edge.index()].kills.0;
        let resets = single && !matches!(edge.action, Action::End | Action::DStep { .. });
        let dead: &[u32] = if resets { &proctype.location(edge.to).dead } else { &[] };
        let cells = &self.slots.members[item.member].cells;
        let sure = |cell: u32| kills.contains(cell) || dead.contains(&cell);
        for cell in kills.iter().chain(dead.iter().copied()) {
            let slot = cells[cell as usize];
            if cells.iter().enumerate().all(|(cell, of)| *of != slot || sure(cell as u32)) {
                step.overwrites.add(slot.0);
            }
        }
    }
}

/// A process that an expression asks for by a constant number: the number, and which cells of which proctype,
/// if not only where it is.
fn of_numbered(part: &Expr) -> Option<(usize, Option<(ProctypeId, &Place)>)> {
    let (pid, named) = match &part.kind {
        ExprKind::RemoteLabel { pid: Some(pid), .. } => (pid, None),
        ExprKind::RemoteVar { pid: Some(pid), proctype, place } => (pid, Some((*proctype, &**place))),
        _ => return None,
    };
    let ExprKind::Const(pid) = pid.kind else { return None };
    Some((usize::try_from(pid).ok()?, named))
}

/// What an edge writes besides the processes that it starts.
fn without_run(edge: &Edge, writes: &Region) -> Region {
    let mut runs = false;
    visit::walk_action(&edge.action, &mut |part| runs |= matches!(part.kind, ExprKind::Run { .. }));
    let mut rest = writes.clone();
    if runs {
        rest.others.clear();
        rest.controls = Proctypes::default();
        if !matches!(edge.action, Action::Send { .. } | Action::Receive { .. }) {
            rest.channels.clear();
        }
    }
    rest
}

fn started(starts: &mut Starts, edge: &Edge, single: bool) {
    visit::walk_action(&edge.action, &mut |part| {
        if let ExprKind::Run { proctype, .. } = &part.kind {
            starts.proctypes.insert(*proctype);
            starts.most = starts.most.filter(|_| single).map(|most| most + 1);
        }
    });
}

/// Whether an edge is possible only when `timeout` is true.
fn waits_alone(edge: &Edge) -> bool {
    fn needs(expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Timeout => true,
            ExprKind::Binary(promela::ir::BinaryOp::And, a, b) => needs(a) || needs(b),
            _ => false,
        }
    }
    matches!(&edge.action, Action::Guard(expr) if needs(expr))
}
