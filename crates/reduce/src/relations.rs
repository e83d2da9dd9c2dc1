//! How an edge of one process gets on with a location of another, found out once for each two, from the [marks](crate::mark): whether the
//! edges that the other process has there leave the edge alone, and whether it may enable more. A location that offers a rendezvous is
//! never at rest, because who may accept depends on where others are. What would only accept an offer does not count: that is an
//! action of who offers.
//!
//! Which edges a process has is known as far as [`Asleep`] says: how many, or which one. If there is one, others must not be enabled;
//! what they would do does not matter.

use machine::interp::action::Action;
use system::{ActionId, Asleep, Successor};

use crate::instance::Instances;
use crate::kind::{Kind, PROCESSES};
use crate::mark::Mark;

/// How an edge of one process and a location of another get on: for each code of [`Asleep`] one bit that says whether a process at the
/// location that has the edges of this code has the same after the edge, and they do the same. (If the edge may enable something
/// there, it is known to enable nothing only when all that there is can be executed already.)
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Relation(u16);

impl Relation {
    /// An edge there does not leave it alone, or it may enable one.
    const DISTURBED: Relation = Relation(0);
    /// What is executable there, and what it does, does not depend on whether the edge was taken.
    const APART: Relation = Relation(0xfffe);
    /// It has not been found out: the bit that is no code's.
    const UNKNOWN: Relation = Relation(1);

    /// Whether a process at the location that has the edges of this code has the same after the edge, if that has been found out.
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
    /// For each edge of all instances the code of a process that has it alone.
    codes: Vec<u8>,
    /// For each edge of all instances, how it gets on with each location of all instances: rows of `n_nodes`.
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
            self.codes.extend(self.instances.colours(made).into_iter().map(Asleep::code_of_one));
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
        match kind.processes.get(pid) {
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

    /// Who sleeps behind an action in a state of this kind, of those who could move and are before its process, which are at these locations.
    /// `None` for actions of two processes, and where something has not been found out.
    #[inline(always)]
    pub fn behind(
        &self,
        kind: &Kind,
        id: ActionId,
        before: Asleep,
        node: impl Fn(usize) -> u32,
    ) -> Option<Asleep> {
        let (pid, edge) = Action::single_of(id)?;
        let first_edge = self.first_edge_of(kind, pid);
        let row = (first_edge + edge) as usize * self.n_nodes;
        before.those(|other, code| self.known(row, node(other)).keeps(code))
    }

    /// The same for any action in a state, whatever has been found out.
    #[inline(never)]
    pub fn find_behind(&mut self, kind: &Kind, state: &[u8], id: ActionId, before: Asleep) -> Asleep {
        let mut asleep = Asleep::NOBODY;
        let Action { pid, edge: Some(edge), partner } = Action::unpack(id) else { return asleep };
        let mut others = before;
        if let Some((partner, _)) = partner {
            others = others.without(partner);
        }
        for (other, code) in others {
            let there = (other, kind.node(state, other));
            let mut keeps = self.relation(kind, (pid, edge.0), there).holds(code);
            if let Some((partner, edge)) = partner {
                keeps &= self.relation(kind, (partner, edge.0), there).holds(code);
            }
            if keeps {
                asleep.add(other, code);
            }
        }
        asleep
    }

    /// Whether those who could move in a state, where nobody sleeps, perhaps only can because of `timeout`: all of them ask for it.
    /// (Where somebody sleeps it is false: who sleeps could move without it.)
    #[inline(always)]
    pub fn may_be_timeout(&self, kind: &Kind, state: &[u8], edges: &[Successor]) -> bool {
        !kind.asking.is_nobody() && self.all_ask(kind, state, edges)
    }

    #[inline(never)]
    fn all_ask(&self, kind: &Kind, state: &[u8], edges: &[Successor]) -> bool {
        let may_ask = |pid: usize| pid >= PROCESSES || kind.asking.holds(pid);
        let asks = |pid: usize| pid >= PROCESSES || self.instances.node(kind.node(state, pid)).asks;
        edges.iter().map(|edge| Action::process(edge.action)).all(|pid| may_ask(pid) && asks(pid))
    }

    /// How the edge whose row begins here gets on with a location, as far as that has been found out.
    #[inline(always)]
    fn known(&self, row: usize, node: u32) -> Relation {
        self.table.get(row + node as usize).copied().unwrap_or(Relation::UNKNOWN)
    }

    /// How an edge of a process gets on with the location of another one.
    fn relation(&mut self, kind: &Kind, edge: (usize, u32), there: (usize, u32)) -> Relation {
        let first_edge = self.first_edges[kind.instances[edge.0] as usize];
        let row = (first_edge + edge.1) as usize * self.n_nodes;
        match self.known(row, there.1) {
            Relation::UNKNOWN => {
                let relation = self.find(kind, edge, there);
                self.table[row + there.1 as usize] = relation;
                relation
            }
            relation => relation,
        }
    }

    #[cold]
    fn find(&self, kind: &Kind, (pid, edge): (usize, u32), (other, node): (usize, u32)) -> Relation {
        let instance_of = |pid: usize| self.instances.get(kind.instances[pid]);
        let there = instance_of(other);
        let first_edge = self.first_edges[kind.instances[other] as usize];
        let code = |(edge, mark)| (self.codes[(first_edge + edge) as usize], mark);
        let others: Vec<_> = self.instances.marks_at(there, node).into_iter().map(code).collect();
        relate(&instance_of(pid).marks[edge as usize], &others)
    }
}

/// How many edges a process has that can take all of these; `None` where that cannot be told.
fn width(marks: &[&Mark]) -> Option<u8> {
    let edges = u8::try_from(marks.len()).ok().filter(|&edges| edges <= Asleep::EDGES);
    edges.filter(|_| !marks.iter().any(|mark| mark.begins))
}

/// How an edge gets on with others, of which those are given that do not only accept, each with its code.
fn relate(mark: &Mark, others: &[(u8, &Mark)]) -> Relation {
    let marks: Vec<&Mark> = others.iter().map(|other| other.1).collect();
    let mut relation = relate_all(mark, &marks);
    if relation != Relation::APART && !offers(&marks) {
        for &(code, one) in others {
            if code > Asleep::EDGES && relate_one(mark, one, &marks) {
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

/// The same for any number of others that can be executed.
fn relate_all(mark: &Mark, others: &[&Mark]) -> Relation {
    let disturbed = |other: &&Mark| other.everything || mark.hit.meets(&other.touch);
    if mark.everything || offers(others) || others.iter().any(disturbed) {
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

/// Whether it leaves the only one of the others alone that can be executed, and enables no other. Of one that may lead nowhere it
/// is not known whether it can be.
fn relate_one(mark: &Mark, one: &Mark, others: &[&Mark]) -> bool {
    let filled = one.taking.as_ref().map(|taking| taking.number);
    let disturbed = |other: &Mark| other.everything || mark.hit.meets(&other.touch);
    let stirs = |other: &Mark| {
        other.everything || may_enable(mark, other, filled) || other.endless && disturbed(other)
    };
    let mut rest = others.iter().filter(|other| !std::ptr::eq(**other, one));
    !mark.everything && !disturbed(one) && !rest.any(|other| stirs(other))
}

/// Whether an edge may enable another one, while there is a message in this channel.
fn may_enable(mark: &Mark, other: &Mark, filled: Option<u32>) -> bool {
    let taking = other.taking.as_ref().filter(|taking| filled == Some(taking.number));
    let enablers = taking.map_or(&other.enablers, |taking| &taking.while_filled);
    other.ends || enablers.meets(&mark.touch)
}
