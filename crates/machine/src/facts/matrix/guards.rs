//! The guards of groups, and which groups may make them true or false.
//!
//! A group needs its process to be at a location that lists its edge, and what its edge waits for: the parts
//! of a condition each on its own where they can be told apart ([`crate::facts::guard`]), a channel that is
//! not full, a channel that is not empty and a first message that fits. A group may change a guard if it
//! writes a slot that the guard reads; it must moreover access an object that can change it, which tells more
//! (only receives make room in a channel), unless the guard reads cells of the process that moves.

use std::collections::BTreeMap;

use promela::ir::{Action, Edge, EdgeId, LocId, RecvArg};
use system::matrix::{BitMatrix, BitSet, Dependencies, Guard, GuardId, ProcessId};

use super::relations::ByLocation;
use super::{Filling, Footprints, GuardLocations, GuardsOf, Item};
use crate::facts::Region;
use crate::facts::guard::{self, Need};
use crate::facts::object::Objects;
use crate::facts::slots::Names;

/// What a group waits for besides the location.
struct Condition {
    name: String,
    /// What its truth depends on.
    region: Region,
    /// Objects that others must access to make it true, and to make it false.
    enablers: BitSet,
    disablers: BitSet,
    /// What it needs of a global cell, where that is all.
    need: Option<Need>,
}

/// A guard while the matrices are filled.
enum Kind {
    Location(Vec<LocId>),
    Condition(Condition),
}

struct Entry {
    member: usize,
    kind: Kind,
}

impl Filling<'_> {
    /// Fills the matrices about guards. Returns for each guard about a location which ones it admits, and the
    /// guards of each item.
    pub fn guard(
        &self,
        all: &mut Dependencies,
        footprints: &Footprints,
        objects: &mut Objects,
    ) -> (GuardLocations, GuardsOf) {
        let (entries, of_items) = self.entries(objects);
        let (n, slots) = (entries.len(), self.slots.list.len());
        all.guards = entries.iter().map(|entry| self.named(entry)).collect();
        all.guarded_by = BitMatrix::new(self.n_groups(), n);
        all.guard_reads = BitMatrix::new(n, slots);
        for (number, entry) in entries.iter().enumerate() {
            let region = match &entry.kind {
                Kind::Location(_) => &Region { own_control: true, ..Region::default() },
                Kind::Condition(condition) => &condition.region,
            };
            let row = (&mut all.guard_reads, number);
            self.slots.add_region(row, self.population, Some(entry.member), region);
        }
        for g in 0..self.n_groups() {
            for item in self.parts(g) {
                of_items[&item].iter().for_each(|guard| all.guarded_by.set(g, guard.index()));
            }
        }
        let changes = Changes::new(self, all, footprints, objects);
        all.necessary_enabling = BitMatrix::new(n, self.n_groups());
        all.necessary_disabling = BitMatrix::new(n, self.n_groups());
        for (number, entry) in entries.iter().enumerate() {
            self.stop.check();
            let rows = (&all.guard_reads, number);
            changes.fill(self, entry, true, rows, &mut all.necessary_enabling);
            changes.fill(self, entry, false, rows, &mut all.necessary_disabling);
        }
        let locations = entries.into_iter().map(|entry| match entry.kind {
            Kind::Location(at) => Some(at),
            Kind::Condition(_) => None,
        });
        (locations.collect(), of_items)
    }

    fn named(&self, entry: &Entry) -> Guard {
        let process = Names(self.program).member(self.population, entry.member);
        let name = match &entry.kind {
            Kind::Location(at) => {
                let at: Vec<String> = at.iter().map(|at| at.0.to_string()).collect();
                format!("{process}@{}", at.join("|"))
            }
            Kind::Condition(condition) => format!("{process}: {}", condition.name),
        };
        Guard { name, process: ProcessId(entry.member as u32) }
    }

    /// All guards, and those of each item that takes part in a group.
    fn entries(&self, objects: &mut Objects) -> (Vec<Entry>, GuardsOf) {
        let mut entries = Vec::new();
        let mut locations: BTreeMap<(usize, &[LocId]), GuardId> = BTreeMap::new();
        let mut of_items = GuardsOf::new();
        for item in (0..self.n_groups()).flat_map(|g| self.parts(g)) {
            if of_items.contains_key(&item) {
                continue;
            }
            self.stop.check();
            let at = self.listed(item);
            let location = *locations.entry((item.member, at)).or_insert_with(|| {
                entries.push(Entry { member: item.member, kind: Kind::Location(at.to_vec()) });
                GuardId(entries.len() as u32 - 1)
            });
            let mut guards = vec![location];
            for condition in self.conditions(item, objects) {
                guards.push(GuardId(entries.len() as u32));
                entries.push(Entry { member: item.member, kind: Kind::Condition(condition) });
            }
            of_items.insert(item, guards);
        }
        (entries, of_items)
    }

    /// What an item waits for besides its location. `timeout` is no condition of its own: it concerns all
    /// groups.
    fn conditions(&self, item: Item, objects: &mut Objects) -> Vec<Condition> {
        let proctype = self.proctype(item.member);
        let edge = proctype.edge(item.edge);
        let facts = &self.members[item.member];
        let guard = &facts.marker.accesses()[item.edge.index()].guard.0;
        let region = Region { own_control: false, timeout: false, ..guard.clone() };
        if region.is_empty() {
            return Vec::new();
        }
        if let Some(conditions) = self.of_receive(item, edge, &region, objects) {
            return conditions;
        }
        let mark = self.mark(item);
        let parts = guard::parts(proctype, edge);
        let of_part = |(i, expr)| {
            let part = facts.marker.part(objects, expr);
            let region = facts.marker.read_by(expr);
            Condition {
                name: if parts.len() > 1 {
                    format!("{} (part {})", edge.text, i + 1)
                } else {
                    edge.text.clone()
                },
                region,
                enablers: part.changers.clone(),
                disablers: part.changers,
                need: guard::need(expr),
            }
        };
        let mut conditions: Vec<Condition> = parts.iter().copied().enumerate().map(of_part).collect();
        if !self.is_only_condition(item) || !guard::is_split(proctype, edge) {
            let disablers = facts.marker.changers(objects, &region);
            let name = match edge.action {
                Action::End => "youngest process".to_string(),
                Action::Send { .. } if !facts.marker.may_hand_over(edge) => {
                    format!("{} (not full)", edge.text)
                }
                _ => edge.text.clone(),
            };
            conditions.push(Condition {
                name,
                region,
                enablers: mark.enablers.clone(),
                disablers,
                need: None,
            });
        }
        conditions
    }

    /// A plain receive waits for a message and, where it compares fields, for one that fits.
    fn of_receive(
        &self,
        item: Item,
        edge: &Edge,
        region: &Region,
        objects: &mut Objects,
    ) -> Option<Vec<Condition>> {
        let taking = self.mark(item).taking.as_ref()?;
        let Action::Receive { args, .. } = &edge.action else { return None };
        let disablers = self.members[item.member].marker.changers(objects, region);
        let condition = |what: &str, enablers: &BitSet| Condition {
            name: format!("{} ({what})", edge.text),
            region: region.clone(),
            enablers: enablers.clone(),
            disablers: disablers.clone(),
            need: None,
        };
        let mut conditions = vec![condition("not empty", &taking.while_empty)];
        if args.iter().any(|arg| matches!(arg, RecvArg::Match(_))) {
            conditions.push(condition("fits", &taking.while_filled));
        }
        Some(conditions)
    }

    /// Whether nothing but its own condition decides whether an edge is executable where it is listed.
    fn is_only_condition(&self, item: Item) -> bool {
        let proctype = self.proctype(item.member);
        let escapes = |at: &LocId| {
            let edges = &proctype.location(*at).edges;
            edges.iter().any(|edge| proctype.edge(*edge).escape.is_some())
        };
        let asks = proctype.provided.is_some() || self.program.uses.priority;
        !asks && !self.listed(item).iter().any(escapes)
    }
}

/// Who may change what.
struct Changes {
    /// Slots × groups: who writes a slot.
    written_by: BitMatrix,
    /// Objects × groups: who accesses an object.
    accessed_by: BitMatrix,
    /// Members × groups: who moves a member that takes no part itself, and in which groups it takes part.
    moved_by: BitMatrix,
    own: BitMatrix,
    /// By which groups a member arrives at a location, and leaves it.
    arriving: ByLocation,
    leaving: ByLocation,
}

impl Changes {
    fn new(filling: &Filling<'_>, all: &Dependencies, footprints: &Footprints, objects: &Objects) -> Self {
        let n = filling.n_groups();
        let mut moved_by = BitMatrix::new(filling.members.len(), n);
        let mut own = moved_by.clone();
        let mut moves = BitMatrix::new(n, filling.slots.list.len());
        for g in 0..n {
            for Item { member, edge } in filling.parts(g) {
                own.set(member, g);
                let facts = &filling.members[member];
                moves.add_row(g, &footprints.moves, facts.first_edge + edge.index());
                for later in &facts.sequences[edge.index()] {
                    moves.add_row(g, &footprints.later_moves, facts.first_edge + later.index());
                }
            }
        }
        let moves = moves.transposed();
        for (m, slots) in filling.slots.members.iter().enumerate() {
            moved_by.add_row(m, &moves, slots.location.index());
        }
        let accessed_by = filling.accessed_by(objects.count());
        let (arriving, leaving) = (filling.arriving(), filling.leaving());
        Changes { written_by: all.may_write.transposed(), accessed_by, moved_by, own, arriving, leaving }
    }

    /// Fills the row of a guard: the groups that may make it true (or false).
    fn fill(
        &self,
        filling: &Filling<'_>,
        entry: &Entry,
        truth: bool,
        (reads, number): (&BitMatrix, usize),
        out: &mut BitMatrix,
    ) {
        match &entry.kind {
            Kind::Location(at) => {
                out.add_row(number, &self.moved_by, entry.member);
                let groups = if truth { &self.arriving } else { &self.leaving };
                for &g in at.iter().flat_map(|&at| groups.get(&(entry.member, at))).flatten() {
                    out.set(number, g);
                }
            }
            Kind::Condition(condition) => {
                let objects = if truth { &condition.enablers } else { &condition.disablers };
                objects.iter().for_each(|object| out.add_row(number, &self.accessed_by, object as usize));
                // What the process itself does with its own cells accesses no object.
                if !condition.region.own.is_empty() {
                    out.add_row(number, &self.own, entry.member);
                }
                if condition.region.everything {
                    out.fill_row(number);
                }
                self.keep_writers(number, reads, out);
                if let Some(need) = condition.need {
                    let row: Vec<usize> = out.iter_row(number).collect();
                    for g in row.into_iter().filter(|&g| !filling.may_make(g, need, truth)) {
                        out.clear(number, g);
                    }
                }
            }
        }
    }

    /// Keeps those in a guard's row that write a slot which it reads.
    fn keep_writers(&self, number: usize, reads: &BitMatrix, out: &mut BitMatrix) {
        let mut writers = BitMatrix::new(1, out.n_columns());
        reads.iter_row(number).for_each(|slot| writers.add_row(0, &self.written_by, slot));
        out.intersect_row(number, &writers, 0);
    }
}

impl Filling<'_> {
    /// Whether a group may make a need true (or false).
    fn may_make(&self, group: usize, need: Need, truth: bool) -> bool {
        let may = |item: Item, id: EdgeId| {
            let facts = &self.members[item.member];
            let edge = self.proctype(item.member).edge(id);
            let handed = id != item.edge
                && facts.marker.handed(edge).any(|(_, writes)| writes.globals.contains(need.cell));
            let own = facts.marker.accesses()[id.index()].writes.0.globals.contains(need.cell);
            handed || own && need.may_become(truth, edge)
        };
        self.parts(group).any(|item| self.members[item.member].edges(item.edge).any(|id| may(item, id)))
    }
}
