//! How an edge of one process commutes with a location of another, found out once for each two, from the
//! [marks](machine::facts::mark): whether the edges that the other process has there leave the edge alone,
//! and whether it may enable more. What would only accept an offer does not count: that is an action of who
//! offers.
//!
//! **Rendezvous.** Which offers of a process are taken depends on where others are. So an edge commutes with
//! a location at which something is offered only if it changes nothing for those who may take it either
//! ([`Instances::leaves_partners`]), and then what the process has there stays the same, whatever that is.
//! The step of two processes commutes with a location with which both edges do.
//!
//! Which edges a process has is known as far as [`SleepCode`] says: how many, or which one. If there is one,
//! others must not be enabled; what they would do does not matter.

use machine::action::Action;
use promela::ir::EdgeId;
use system::{ActionId, Successor};

use crate::instance::Instances;
use crate::kind::{Kind, PROCESSES};
use crate::sleep_code::SleepCode;
use machine::facts::mark::Mark;

/// How an edge of one process and a location of another get on: for each code of [`SleepCode`] one bit that
/// says whether a process at the location that has the edges of this code has the same after the edge, and
/// they do the same. (If the edge may enable something there, it is known to enable nothing only when all
/// that there is can be executed already.)
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Relation(u16);

impl Relation {
    /// An edge there is not independent of it, or it may enable one.
    const DISTURBED: Relation = Relation(0);
    /// What is executable there, and what it does, does not depend on whether the edge was taken.
    const APART: Relation = Relation(0xfffe);
    /// It has not been found out: the bit that is no code's.
    const UNKNOWN: Relation = Relation(1);

    /// Whether a process at the location that has the edges of this code has the same after the edge, if that
    /// has been found out.
    #[inline(always)]
    fn keeps(self, code: u8) -> Option<bool> {
        (self != Relation::UNKNOWN).then_some(self.holds(code))
    }

    #[inline(always)]
    fn holds(self, code: u8) -> bool {
        self.0.wrapping_shr(u32::from(code)) & 1 != 0
    }

    fn add(&mut self, code: u8) {
        self.0 |= 1 << code;
    }
}

/// Edges and locations for which relations are kept.
const MOST: usize = 1 << 24;

/// The relations of all instances that have been met.
pub struct Relations<'a> {
    pub instances: Instances<'a>,
    /// For each instance the number of its first edge.
    first_edges: Vec<u32>,
    /// For each edge of all instances the code of a process that has it alone, and whether it starts or ends
    /// processes.
    codes: Vec<u8>,
    changes_number: Vec<bool>,
    /// For each edge of all instances, how it commutes with each location of all instances: rows of
    /// `n_nodes`.
    table: Vec<Relation>,
    n_edges: usize,
    n_nodes: usize,
}

impl<'a> Relations<'a> {
    pub fn new(instances: Instances<'a>) -> Self {
        Relations {
            instances,
            first_edges: Vec::new(),
            codes: Vec::new(),
            changes_number: Vec::new(),
            table: Vec::new(),
            n_edges: 0,
            n_nodes: 0,
        }
    }

    /// The number of the first edge of an instance.
    pub fn first_edge(&mut self, instance: u32) -> u32 {
        while self.first_edges.len() <= instance as usize {
            let made = self.instances.get(self.first_edges.len() as u32);
            self.first_edges.push(self.n_edges as u32);
            self.n_edges += made.marks.len();
            self.codes.extend(self.instances.colours(made).into_iter().map(SleepCode::code_of_one));
            self.changes_number.extend(made.marks.iter().map(|mark| self.instances.changes_number(mark)));
        }
        self.first_edges[instance as usize]
    }

    /// There are new instances. `None` when there are too many relations.
    pub fn grow(&mut self) -> Option<()> {
        if self.n_nodes < self.instances.n_nodes() {
            // Rows have become longer.
            self.n_nodes = self.instances.n_nodes();
            self.table.clear();
            if self.n_edges * self.n_nodes > MOST {
                return None;
            }
            self.table.resize(self.n_edges * self.n_nodes, Relation::UNKNOWN);
        }
        Some(())
    }

    /// The number of the first edge of a process in states of this kind.
    #[inline(always)]
    fn first_edge_of(&self, kind: &Kind, pid: usize) -> u32 {
        match kind.processes.get(kind.slot(pid)) {
            Some(process) => process.first_edge,
            None => self.first_edges[kind.instances[pid] as usize],
        }
    }

    /// The code of a process that has this action alone, in a state of this kind.
    #[inline(always)]
    pub fn code(&self, kind: &Kind, id: ActionId) -> u8 {
        let (pid, edge) = Action::process_and_edge(id);
        let first_edge = self.first_edge_of(kind, pid);
        self.codes.get((first_edge + edge) as usize).copied().unwrap_or(1)
    }

    /// Who sleeps behind an action in a state of this kind, of those who could move and are before its
    /// process, which are at these locations. `None` where something has not been found out.
    #[inline(always)]
    pub fn sleep_after(
        &self,
        kind: &Kind,
        id: ActionId,
        before: SleepCode,
        node: impl Fn(usize) -> u32,
    ) -> Option<SleepCode> {
        let Some((pid, edge)) = Action::single_of(id) else {
            return self.sleep_after_two(kind, id, before, node);
        };
        let edge = (self.first_edge_of(kind, pid) + edge) as usize;
        if kind.is_full() && self.changes_number[edge] {
            return Some(SleepCode::NOBODY);
        }
        let row = edge * self.n_nodes;
        before.those(|other, code| self.known(row, node(other)).keeps(code))
    }

    /// Who sleeps after an action of two processes, or of none.
    #[inline(never)]
    fn sleep_after_two(
        &self,
        kind: &Kind,
        id: ActionId,
        before: SleepCode,
        node: impl Fn(usize) -> u32,
    ) -> Option<SleepCode> {
        let Some(edges) = self.edges_of(kind, id) else { return Some(SleepCode::NOBODY) };
        let rows = edges.edges.map(|edge| edge as usize * self.n_nodes);
        edges.others(before).those(|other, code| {
            let node = node(other);
            Some(self.known(rows[0], node).keeps(code)? && self.known(rows[1], node).keeps(code)?)
        })
    }

    /// The edges of an action: one twice, where there is no other. `None` if nobody may sleep behind it.
    fn edges_of(&self, kind: &Kind, id: ActionId) -> Option<Taken> {
        let Action { pid, edge: Some(edge), partner } = Action::unpack(id) else { return None };
        let (partner, partner_edge) = partner.unwrap_or((pid, edge));
        let edges =
            [(pid, edge), (partner, partner_edge)].map(|(pid, edge)| self.first_edge_of(kind, pid) + edge.0);
        let changes_number = edges.iter().any(|&edge| self.changes_number[edge as usize]);
        (!kind.is_full() || !changes_number).then_some(Taken {
            instances: [pid, partner].map(|pid| kind.instances[pid]),
            edges,
            slots: [pid, partner].map(|pid| kind.slot(pid)),
        })
    }

    /// Who sleeps after any action in a state, whatever has been found out.
    #[inline(never)]
    pub fn find_sleep_after(
        &mut self,
        kind: &Kind,
        state: &[u8],
        id: ActionId,
        before: SleepCode,
    ) -> SleepCode {
        let mut asleep = SleepCode::NOBODY;
        let Some(taken) = self.edges_of(kind, id) else { return asleep };
        for (other, code) in taken.others(before) {
            let there = (kind.instance(other), kind.node(state, other));
            let relations = taken.each().map(|edge| self.relation(edge, there));
            if relations.into_iter().all(|relation| relation.holds(code)) {
                asleep.add(other, code);
            }
        }
        asleep
    }

    /// Whether those who could move in a state, where nobody sleeps, perhaps only can because of `timeout`:
    /// all of them ask for it. (Where somebody sleeps it is false: who sleeps could move without it.)
    #[inline(always)]
    pub fn may_be_timeout(&self, kind: &Kind, state: &[u8], edges: &[Successor]) -> bool {
        !kind.asking.is_nobody() && self.all_ask(kind, state, edges)
    }

    #[inline(never)]
    fn all_ask(&self, kind: &Kind, state: &[u8], edges: &[Successor]) -> bool {
        let may_ask = |slot: usize| slot >= PROCESSES || kind.asking.holds(slot);
        let asks = |slot: usize| slot >= PROCESSES || self.instances.node(kind.node(state, slot)).asks;
        // Where a process is says it for most states; which edge it has, for the others.
        let stand_there = edges
            .iter()
            .map(|edge| kind.slot(Action::process(edge.action)))
            .all(|slot| may_ask(slot) && asks(slot));
        stand_there && edges.iter().all(|edge| self.asks(kind, edge.action))
    }

    /// Whether an action is perhaps executable only because of `timeout`.
    fn asks(&self, kind: &Kind, id: ActionId) -> bool {
        let Action { pid, edge: Some(edge), partner } = Action::unpack(id) else { return true };
        let asks = |pid: usize, edge: EdgeId| {
            let instance = kind.instances.get(pid).map(|&instance| self.instances.get(instance));
            instance.and_then(|of| of.marks.get(edge.index())).is_none_or(|mark| mark.timeout)
        };
        asks(pid, edge) || partner.is_some_and(|(pid, edge)| asks(pid, edge))
    }

    /// How the edge whose row begins here commutes with a location, as far as that has been found out.
    #[inline(always)]
    fn known(&self, row: usize, node: u32) -> Relation {
        self.table.get(row + node as usize).copied().unwrap_or(Relation::UNKNOWN)
    }

    /// How an edge of an instance commutes with a location of another one.
    fn relation(&mut self, (here, edge): (u32, u32), (there, node): (u32, u32)) -> Relation {
        let at = edge as usize * self.n_nodes + node as usize;
        if self.table[at] == Relation::UNKNOWN {
            let edge = edge - self.first_edges[here as usize];
            self.table[at] = self.find((here, edge), (there, node));
        }
        self.table[at]
    }

    #[cold]
    fn find(&self, (here, edge): (u32, u32), (there, node): (u32, u32)) -> Relation {
        // What is met on the way by steps of several processes is counted once, so none of them sleeps.
        if self.instances.node(node).shares_control {
            return Relation::DISTURBED;
        }
        let first_edge = self.first_edges[there as usize];
        let (here, there) = (self.instances.get(here), self.instances.get(there));
        let marks = self.instances.marks_at(there, node);
        let offers = marks.iter().filter(|(_, mark)| !mark.partners.is_empty());
        let sends = offers.clone().all(|&(edge, _)| self.instances.sends_alone(there, edge));
        let offers: Vec<&Mark> = offers.map(|offer| offer.1).collect();
        if !offers.is_empty() {
            let simple = sends && self.instances.takes_simply(there);
            if !simple || !self.instances.leaves_partners(here, edge, &offers) {
                return Relation::DISTURBED;
            }
        }
        let code = |(edge, mark)| (self.codes[(first_edge + edge) as usize], mark);
        let others: Vec<_> = marks.into_iter().map(code).collect();
        relate(&here.marks[edge as usize], &others)
    }
}

/// The edges of an action of one process or two, among those of all instances, and whose they are.
struct Taken {
    instances: [u32; 2],
    edges: [u32; 2],
    slots: [usize; 2],
}

impl Taken {
    /// Those who do not move.
    fn others(&self, asleep: SleepCode) -> SleepCode {
        asleep.without(self.slots[0]).without(self.slots[1])
    }

    fn each(&self) -> [(u32, u32); 2] {
        [0, 1].map(|i| (self.instances[i], self.edges[i]))
    }
}

/// How many edges a process has that can take all of these; `None` where that cannot be told.
fn width(marks: &[&Mark]) -> Option<u8> {
    let edges = u8::try_from(marks.len()).ok().filter(|&edges| edges <= SleepCode::EDGES);
    edges.filter(|_| !marks.iter().any(|mark| mark.begins) && !offers(marks))
}

/// How an edge commutes with others, of which those are given that do not only accept, each with its code.
fn relate(mark: &Mark, others: &[(u8, &Mark)]) -> Relation {
    let marks: Vec<&Mark> = others.iter().map(|other| other.1).collect();
    let mut relation = relate_all(mark, &marks);
    if relation != Relation::APART && !offers(&marks) {
        for &(code, one) in others {
            if code > SleepCode::EDGES && relate_one(mark, one, &marks) {
                relation.add(code);
            }
        }
    }
    relation
}

/// Whether a partner is needed for one of these.
fn offers(marks: &[&Mark]) -> bool {
    marks.iter().any(|mark| !mark.partners.is_empty())
}

/// Relates a mark to any number of others that can be executed.
fn relate_all(mark: &Mark, others: &[&Mark]) -> Relation {
    if mark.everything || others.iter().any(|other| mark.conflicts_with(other)) {
        return Relation::DISTURBED;
    }
    // If one of several receives from the same channel can be executed, there is a message.
    let channel = |other: &&Mark| other.taking.as_ref().map(|taking| taking.number);
    let first = others.first().and_then(channel);
    let filled = others.iter().all(|other| channel(other) == first).then_some(first).flatten();
    if !others.iter().any(|other| may_enable(mark, other, filled)) {
        return Relation::APART;
    }
    width(others).map_or(Relation::DISTURBED, |width| Relation(1 << width))
}

/// Whether it leaves the only one of the others alone that can be executed, and enables no other. Of one that
/// may lead nowhere it is not known whether it can be.
fn relate_one(mark: &Mark, one: &Mark, others: &[&Mark]) -> bool {
    let filled = one.taking.as_ref().map(|taking| taking.number);
    let stirs = |other: &Mark| {
        other.everything || may_enable(mark, other, filled) || other.endless && mark.conflicts_with(other)
    };
    let mut rest = others.iter().filter(|other| !std::ptr::eq(**other, one));
    !mark.conflicts_with(one) && !rest.any(|other| stirs(other))
}

/// Whether an edge may enable another one, while there is a message in this channel.
fn may_enable(mark: &Mark, other: &Mark, filled: Option<u32>) -> bool {
    let taking = other.taking.as_ref().filter(|taking| filled == Some(taking.number));
    let enablers = taking.map_or(&other.enablers, |taking| &taking.while_filled);
    other.ends || enablers.meets(&mark.accesses)
}
