//! The dependency matrices of a program (`system::matrix`), filled from the facts.
//!
//! A group is what a process may do along one edge from a stored state: the edge and, when it begins an
//! atomic sequence, everything that may follow before control is given back; a d_step is one edge. A
//! rendezvous is a group for each pair of a sender's and a receiver's edge that may meet. What a group reads
//! and writes are the [regions](super::region) of its edges as [slots](super::slots); which groups conflict
//! and which enable which comes from the [marks](super::mark), which are finer than slots: a send at the back
//! of a channel and a receive at its front commute.
//!
//! The rows of a relation are unions of columns of *accesses* (groups × objects), so that filling takes time
//! linear in the number of its entries divided by 64.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use promela::ir::{Action, Base, Edge, EdgeId, Expr, LocId, Proctype, Program};
use promela::source::{Location as SourceLocation, Span};
use stop::Stop;
use system::matrix::{BitMatrix, Dependencies, Group, GroupId, GuardId, ProcessId};

use super::access::inside;
use super::mark::{HandOver, Mark, Marker, hand_over};
use super::object::Objects;
use super::population::Population;
use super::region::Proctypes;
use super::slots::{Cuts, Names, Slots};
use super::visible::Visible;
use super::{Analysis, Facts, Footprint, Region};
use crate::interp::Interp;

pub mod check;
mod guards;
mod relations;

/// With more groups than this, processes of one proctype are not told apart.
pub const MOST_GROUPS: usize = 1 << 13;

/// A process and one of its edges: what takes part in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Item {
    /// The place of the process in the population.
    pub member: usize,
    /// Its edge.
    pub edge: EdgeId,
}

/// For each guard the locations at which it is true, if it is about those.
pub type GuardLocations = Vec<Option<Vec<LocId>>>;

/// The guards of items.
pub type GuardsOf = BTreeMap<Item, Vec<GuardId>>;

/// The dependency matrices of a program, and what their rows and columns mean.
#[derive(Debug)]
pub struct Matrices {
    /// The matrices.
    pub dependencies: Dependencies,
    /// The processes.
    pub population: Population,
    /// The slots.
    pub slots: Slots,
    /// For each group who takes part: the process that moves first, and its partner.
    pub items: Vec<(Item, Option<Item>)>,
    /// For each guard that is about where its process is: the locations at which it is true.
    pub guard_locations: GuardLocations,
    /// The guards of each item, that about its location first.
    pub guards: GuardsOf,
    groups: HashMap<(Item, Option<Item>), GroupId>,
}

impl Matrices {
    /// The matrices of a machine's program: processes apart where there are not too many groups.
    pub fn of(machine: &Interp, stop: &Stop) -> Self {
        let program = machine.program();
        let locate = |span| machine.locate(span);
        let population = Population::of(machine, stop);
        Matrices::new(program, population, &locate, stop)
            .unwrap_or_else(|| Matrices::by_proctype(program, &locate, stop))
    }

    /// The matrices for any processes of the proctypes, however many groups there are.
    pub fn by_proctype(program: &Program, locate: &dyn Fn(Span) -> SourceLocation, stop: &Stop) -> Self {
        let population = Population::by_proctype(program);
        fill(program, population, locate, (usize::MAX, stop)).expect("there is no limit")
    }

    /// The matrices for a population; `None` when they have more than [`MOST_GROUPS`] groups.
    pub fn new(
        program: &Program,
        population: Population,
        locate: &dyn Fn(Span) -> SourceLocation,
        stop: &Stop,
    ) -> Option<Self> {
        fill(program, population, locate, (MOST_GROUPS, stop))
    }

    /// The group of a step.
    pub fn group(&self, item: Item, partner: Option<Item>) -> Option<GroupId> {
        self.groups.get(&(item, partner)).copied()
    }
}

fn fill(
    program: &Program,
    population: Population,
    locate: &dyn Fn(Span) -> SourceLocation,
    (most, stop): (usize, &Stop),
) -> Option<Matrices> {
    let analysis = Analysis::new(program);
    let handed = hand_over(&analysis, &Facts::new(program));
    let mut objects = Objects::default();
    let mut members: Vec<MemberFacts<'_>> = Vec::new();
    for member in &population.members {
        let first_edge = members.last().map_or(0, MemberFacts::end_edge);
        let marker = Marker::new(&analysis, &handed, member.who());
        let proctype = program.proctype(member.id);
        members.push(MemberFacts::new(marker, proctype, first_edge, &mut objects, stop));
    }
    let items = list_items(program, &members, &population, (most, stop))?;
    let slots =
        Slots::new(program, &analysis.channels, &population, &cuts(program, &members, &handed, &population));
    let footprints = Footprints::new(program, &members, &population, &slots, stop);
    let filling =
        Filling { program, population: &population, members: &members, slots: &slots, items: &items, stop };
    let mut all = filling.groups(locate, &footprints);
    filling.relate(&mut all, objects.count());
    let (guard_locations, guards) = filling.guard(&mut all, &footprints, &mut objects);
    debug_assert_eq!(all.verify(), Ok(()));
    let groups = items.iter().enumerate().map(|(g, item)| (*item, GroupId(g as u32))).collect();
    Some(Matrices { dependencies: all, slots, items, groups, population, guard_locations, guards })
}

/// What is known of the edges of one member.
pub(super) struct MemberFacts<'a> {
    pub(super) marker: Marker<'a>,
    marks: Vec<Mark>,
    /// For each edge the locations that list it, of those at which a process can be in a stored state.
    pub(super) listed: Vec<Vec<LocId>>,
    /// For each edge those that may follow in its step.
    pub(super) sequences: Vec<Vec<EdgeId>>,
    /// The number of its first edge among those of all members.
    first_edge: usize,
}

impl<'a> MemberFacts<'a> {
    /// The number of the first edge of the next member.
    pub(super) fn end_edge(&self) -> usize {
        self.first_edge + self.marks.len()
    }

    pub(super) fn new(
        marker: Marker<'a>,
        proctype: &Proctype,
        first_edge: usize,
        objects: &mut Objects,
        stop: &Stop,
    ) -> Self {
        let marks = marker.marks(objects, &Visible::default(), stop);
        let reachable = reachable(proctype);
        let mut listed = vec![Vec::new(); proctype.edges.len()];
        for (l, location) in proctype.locations.iter().enumerate() {
            if reachable.contains(&LocId(l as u32)) && !location.in_d_step {
                location.edges.iter().for_each(|edge| listed[edge.index()].push(LocId(l as u32)));
            }
        }
        let sequence = |edge: &Edge| {
            stop.check();
            marker.sequence(edge).into_iter().collect()
        };
        let sequences = proctype.edges.iter().map(sequence).collect();
        MemberFacts { marker, marks, listed, sequences, first_edge }
    }

    /// The first edge of a step and those that may follow.
    pub(super) fn edges(&self, edge: EdgeId) -> impl Iterator<Item = EdgeId> + '_ {
        [edge].into_iter().chain(self.sequences[edge.index()].iter().copied())
    }
}

/// The locations that a process can reach, those inside d_steps included.
fn reachable(proctype: &Proctype) -> BTreeSet<LocId> {
    let mut open = vec![proctype.start];
    let mut found = BTreeSet::new();
    while let Some(at) = open.pop() {
        if !found.insert(at) {
            continue;
        }
        for edge in proctype.location(at).edges.iter().map(|edge| proctype.edge(*edge)) {
            open.push(edge.to);
            if let Action::DStep { entry, guards, .. } = &edge.action {
                open.extend([Some(*entry), *guards].into_iter().flatten());
            }
        }
    }
    found
}

/// The groups: edges alone, and pairs that may meet in a rendezvous. `None` when there are more than `most`.
pub(super) fn list_items(
    program: &Program,
    members: &[MemberFacts<'_>],
    population: &Population,
    (most, stop): (usize, &Stop),
) -> Option<Vec<(Item, Option<Item>)>> {
    let mut items = Vec::new();
    let all = members.iter().enumerate().flat_map(|(m, facts)| {
        let edges = (0..facts.marks.len()).filter(|&e| !facts.listed[e].is_empty());
        edges.map(move |e| Item { member: m, edge: EdgeId(e as u32) })
    });
    let all: Vec<Item> = all.collect();
    let mark = |item: &Item| &members[item.member].marks[item.edge.index()];
    let edge = |item: &Item| program.proctype(population.members[item.member].id).edge(item.edge);
    let meets =
        |item: &&Item| !mark(item).partners.is_empty() && !matches!(edge(item).action, Action::Send { .. });
    let takers: Vec<Item> = all.iter().filter(meets).copied().collect();
    for &item in &all {
        stop.check();
        let marker = &members[item.member].marker;
        let alone = !marker.surely_rendezvous(edge(&item)) || shows_errors(program, edge(&item));
        if alone && !mark(&item).accepts {
            items.push((item, None));
        }
        if marker.may_hand_over(edge(&item)) {
            let apart =
                |taker: &&Item| taker.member != item.member || population.members[item.member].several;
            let fits = |taker: &&Item| mark(&item).partners.meets(&mark(taker).accesses);
            items.extend(takers.iter().filter(apart).filter(fits).map(|taker| (item, Some(*taker))));
        }
        if items.len() > most {
            return None;
        }
    }
    Some(items)
}

/// Whether an offer may be an error before anybody takes it: then it is a step of its own, which leads
/// nowhere.
fn shows_errors(program: &Program, edge: &Edge) -> bool {
    let fails = |expr: &Expr| {
        let footprint = Footprint::of_expr(expr);
        footprint.may_fail || footprint.channels || footprint.system
    };
    match &edge.action {
        Action::Send { chan, args, .. } => {
            program.trace.is_some() || [chan].into_iter().chain(args).any(fails)
        }
        _ => false,
    }
}

/// Where the accesses of all members tell cells apart.
pub(super) fn cuts(
    program: &Program,
    members: &[MemberFacts<'_>],
    handed: &HandOver,
    population: &Population,
) -> Cuts {
    let mut cuts = Cuts::default();
    for (facts, member) in members.iter().zip(&population.members) {
        for access in facts.marker.accesses() {
            for region in [&access.guard.0, &access.effect.0, &access.writes.0] {
                cuts.add(Some(member.id), region);
            }
            access.kills.0.ranges().for_each(|(first, end)| {
                let mut kills = Region::default();
                kills.own.add(first, end);
                cuts.add(Some(member.id), &kills);
            });
        }
    }
    for (reads, writes) in handed.values() {
        [reads, writes].into_iter().for_each(|region| cuts.add(None, region));
    }
    debug_assert!(
        members
            .iter()
            .zip(&population.members)
            .all(|(facts, member)| { facts.marks.len() == program.proctype(member.id).edges.len() })
    );
    cuts
}

/// What the edges of all members access, as slots: by themselves, and with those to whom control may be
/// handed, when they are not the first of their step.
struct Footprints {
    reads: BitMatrix,
    writes: BitMatrix,
    later_reads: BitMatrix,
    later_writes: BitMatrix,
    /// Locations that are changed of others than the process itself.
    moves: BitMatrix,
    later_moves: BitMatrix,
}

impl Footprints {
    fn new(
        program: &Program,
        members: &[MemberFacts<'_>],
        population: &Population,
        slots: &Slots,
        stop: &Stop,
    ) -> Self {
        let n = members.last().map_or(0, MemberFacts::end_edge);
        let matrix = || BitMatrix::new(n, slots.list.len());
        let mut found = Footprints {
            reads: matrix(),
            writes: matrix(),
            later_reads: matrix(),
            later_writes: matrix(),
            moves: matrix(),
            later_moves: matrix(),
        };
        for (m, facts) in members.iter().enumerate() {
            let proctype = program.proctype(population.members[m].id);
            for (e, edge) in proctype.edges.iter().enumerate() {
                stop.check();
                found.edge(facts, (m, e, edge), population, slots);
            }
        }
        found
    }

    fn edge(
        &mut self,
        facts: &MemberFacts<'_>,
        (m, e, edge): (usize, usize, &Edge),
        population: &Population,
        slots: &Slots,
    ) {
        let row = facts.first_edge + e;
        let access = &facts.marker.accesses()[e];
        let regions = [&access.guard.0, &access.effect.0, &updated(&access.writes.0)];
        for region in regions {
            slots.add_region((&mut self.reads, row), population, Some(m), region);
        }
        slots.add_region((&mut self.writes, row), population, Some(m), &access.writes.0);
        slots.add_region((&mut self.moves, row), population, None, &moved(&access.writes.0));
        self.later_reads.add_row(row, &self.reads, row);
        self.later_writes.add_row(row, &self.writes, row);
        self.later_moves.add_row(row, &self.moves, row);
        for (reads, writes) in facts.marker.handed(edge) {
            for region in [reads, &updated(writes)] {
                slots.add_region((&mut self.later_reads, row), population, None, region);
            }
            slots.add_region((&mut self.later_writes, row), population, None, writes);
            slots.add_region((&mut self.later_moves, row), population, None, &moved(writes));
        }
    }
}

/// The parts of a region of writes whose new value depends on the old one.
pub(super) fn updated(writes: &Region) -> Region {
    Region {
        channels: writes.channels.clone(),
        processes: writes.processes,
        priorities: writes.priorities,
        trace: writes.trace,
        ..Region::default()
    }
}

/// The locations of others in a region.
fn moved(writes: &Region) -> Region {
    let controls = match &writes.controls {
        Proctypes::These(set) => Proctypes::These(set.clone()),
        Proctypes::All => Proctypes::All,
    };
    Region { controls, ..Region::default() }
}

/// What the parts of the filling share.
struct Filling<'a> {
    program: &'a Program,
    population: &'a Population,
    members: &'a [MemberFacts<'a>],
    slots: &'a Slots,
    items: &'a [(Item, Option<Item>)],
    stop: &'a Stop,
}

impl Filling<'_> {
    fn proctype(&self, member: usize) -> &Proctype {
        self.program.proctype(self.population.members[member].id)
    }

    fn mark(&self, item: Item) -> &Mark {
        &self.members[item.member].marks[item.edge.index()]
    }

    /// The locations from which an item can be taken.
    fn listed(&self, item: Item) -> &[LocId] {
        &self.members[item.member].listed[item.edge.index()]
    }

    /// Who takes part in a group.
    fn parts(&self, group: usize) -> impl Iterator<Item = Item> + use<> {
        let (item, partner) = self.items[group];
        [Some(item), partner].into_iter().flatten()
    }

    fn n_groups(&self) -> usize {
        self.items.len()
    }

    /// Names, and what each group reads and writes.
    fn groups(&self, locate: &dyn Fn(Span) -> SourceLocation, footprints: &Footprints) -> Dependencies {
        let names = Names(self.program);
        let matrix = || BitMatrix::new(self.n_groups(), self.slots.list.len());
        let process = |number: usize| system::matrix::Process {
            name: names.member(self.population, number),
            several: self.population.members[number].several,
        };
        let mut all = Dependencies {
            processes: (0..self.members.len()).map(process).collect(),
            slots: self.slots.list.clone(),
            reads: matrix(),
            may_write: matrix(),
            must_write: matrix(),
            ..Dependencies::default()
        };
        for g in 0..self.n_groups() {
            self.stop.check();
            all.groups.push(self.group(g, locate));
            for item in self.parts(g) {
                self.add_footprint(&mut all, g, item, footprints);
            }
        }
        all
    }

    fn group(&self, g: usize, locate: &dyn Fn(Span) -> SourceLocation) -> Group {
        let (item, partner) = self.items[g];
        let text = |item: Item| {
            let name = Names(self.program).member(self.population, item.member);
            format!("{name}: {}", self.proctype(item.member).edge(item.edge).text)
        };
        let place = locate(self.proctype(item.member).edge(item.edge).span);
        Group {
            name: partner.map_or_else(|| text(item), |partner| format!("{} → {}", text(item), text(partner))),
            file: place.file,
            line: place.line,
            process: ProcessId(item.member as u32),
            partner: partner.map(|partner| ProcessId(partner.member as u32)),
        }
    }

    fn add_footprint(&self, all: &mut Dependencies, g: usize, item: Item, footprints: &Footprints) {
        let facts = &self.members[item.member];
        let row = |edge: EdgeId| facts.first_edge + edge.index();
        all.reads.add_row(g, &footprints.reads, row(item.edge));
        all.may_write.add_row(g, &footprints.writes, row(item.edge));
        for &edge in &facts.sequences[item.edge.index()] {
            all.reads.add_row(g, &footprints.later_reads, row(edge));
            all.may_write.add_row(g, &footprints.later_writes, row(edge));
        }
        let waits = |edge: EdgeId| {
            let access = &facts.marker.accesses()[edge.index()];
            access.guard.0.timeout || access.effect.0.timeout
        };
        if facts.edges(item.edge).any(waits) {
            all.idle.add(g as u32);
            all.reads.fill_row(g);
        }
        self.add_must_write(all, g, item);
    }

    /// Cells that the first edge surely overwrites: own ones, and a global one that it assigns. Cuts were
    /// made where these begin and end, so a slot is overwritten as a whole or not at all.
    fn add_must_write(&self, all: &mut Dependencies, g: usize, item: Item) {
        let member = &self.population.members[item.member];
        if let Action::Assign(place, _) = &self.proctype(item.member).edge(item.edge).action {
            let (first, end) = member.who().extent(place);
            if place.base == Base::Global && end == first + 1 {
                all.must_write.set(g, self.slots.globals[first as usize].index());
            }
        }
        // Of several processes that share a slot only one writes.
        if !member.several {
            let kills = &self.members[item.member].marker.accesses()[item.edge.index()].kills.0;
            let cells = &self.slots.members[item.member].cells;
            kills.iter().for_each(|cell| all.must_write.set(g, cells[cell as usize].index()));
        }
    }

    /// Where a process may be after a step.
    fn ends(&self, item: Item) -> BTreeSet<LocId> {
        let proctype = self.proctype(item.member);
        let mut ends = BTreeSet::new();
        for id in self.members[item.member].edges(item.edge) {
            let edge = proctype.edge(id);
            ends.insert(edge.to);
            if let Action::DStep { entry, exit, guards } = &edge.action {
                let within = inside(proctype, *entry, *exit, *guards);
                let edges = within.iter().flat_map(|at| &proctype.location(*at).edges);
                ends.extend(edges.map(|edge| proctype.edge(*edge).to));
            }
        }
        ends
    }
}
