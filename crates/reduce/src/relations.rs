//! How an edge of one process gets on with a location of another, found out once for each two, from the [marks](crate::mark): whether all
//! edges at the location leave the edge alone, and whether it may enable one of them. A location that offers a rendezvous is never
//! at rest, because who may accept depends on where others are. What would only accept an offer does not count: that is an
//! action of who offers.

use machine::interp::action::Action;
use system::{ActionId, Asleep};

use crate::instance::Instances;
use crate::kind::{Kind, PROCESSES};
use crate::mark::Mark;

/// How an edge of one process and a location of another get on. If it may enable something there, it is known to enable nothing
/// only when all that there is can be executed already: then this is the number of edges that the other process has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Relation(u8);

impl Relation {
    /// An edge there does not leave it alone, or it may enable one.
    const DISTURBED: Relation = Relation(0);
    /// What is executable there, and what it does, does not depend on whether the edge was taken.
    const APART: Relation = Relation(0xfe);
    /// It has not been found out.
    const UNKNOWN: Relation = Relation(0xff);

    /// Whether a process at the location that has so many edges has the same after the edge, if that has been found out.
    #[inline(always)]
    fn keeps(self, edges: u8) -> Option<bool> {
        (self != Relation::UNKNOWN).then_some((self == Relation::APART) | (self.0 == edges))
    }
}

/// Edges and locations for which relations are kept.
const MOST: usize = 1 << 24;

/// The relations of all instances that have been met.
pub struct Relations<'a> {
    pub instances: Instances<'a>,
    /// For each instance the number of its first edge.
    first_edges: Vec<u32>,
    /// For each edge of all instances, how it gets on with each location of all instances: rows of `n_nodes`.
    table: Vec<Relation>,
    n_edges: usize,
    n_nodes: usize,
}

impl<'a> Relations<'a> {
    pub fn new(instances: Instances<'a>) -> Self {
        Relations { instances, first_edges: Vec::new(), table: Vec::new(), n_edges: 0, n_nodes: 0 }
    }

    /// The number of the first edge of an instance.
    pub fn first_edge(&mut self, instance: u32) -> u32 {
        while self.first_edges.len() <= instance as usize {
            let made = self.instances.get(self.first_edges.len() as u32);
            self.first_edges.push(self.n_edges as u32);
            self.n_edges += made.marks.len();
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

    /// Who sleeps behind an action in a state of this kind, of those who could move and are younger, which are at these locations.
    /// `None` for actions of two processes, and where something has not been found out.
    #[inline(always)]
    pub fn behind(
        &self,
        kind: &Kind,
        id: ActionId,
        younger: Asleep,
        node: impl Fn(usize) -> u32,
    ) -> Option<Asleep> {
        let (pid, edge) = Action::single_of(id)?;
        let first_edge = kind.processes[pid % PROCESSES].first_edge;
        let row = (first_edge + edge) as usize * self.n_nodes;
        younger.those(|other, edges| self.known(row, node(other)).keeps(edges))
    }

    /// The same for any action in a state, whatever has been found out.
    #[inline(never)]
    pub fn find_behind(&mut self, kind: &Kind, state: &[u8], id: ActionId, movers: Asleep) -> Asleep {
        let mut asleep = Asleep::NOBODY;
        let Action { pid, edge: Some(edge), partner } = Action::unpack(id) else { return asleep };
        let mut others = movers.younger(pid);
        if let Some((partner, _)) = partner {
            others = others.without(partner);
        }
        for (other, edges) in others {
            let there = (other, kind.node(state, other));
            let mut relation = self.relation(kind, (pid, edge.0), there);
            if let Some((partner, edge)) = partner {
                relation = relation.min(self.relation(kind, (partner, edge.0), there));
            }
            if relation.keeps(edges) == Some(true) {
                asleep.add(other, edges);
            }
        }
        asleep
    }

    /// Whether those who could move in a state, where nobody sleeps, perhaps only can because of `timeout`: all of them ask for it.
    /// (Where somebody sleeps it is false: who sleeps could move without it.)
    #[inline(always)]
    pub fn may_be_timeout(&self, kind: &Kind, state: &[u8], asleep: Asleep, movers: Asleep) -> bool {
        asleep.is_nobody() && movers.are_among(kind.asking) && self.ask(kind, state, movers)
    }

    #[inline(never)]
    fn ask(&self, kind: &Kind, state: &[u8], mut movers: Asleep) -> bool {
        movers.all(|(pid, _)| self.instances.node(kind.node(state, pid)).asks)
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
        relate(&instance_of(pid).marks[edge as usize], &self.instances.marks_at(instance_of(other), node))
    }
}

/// How many edges a process has that can take all of these; `None` where that cannot be told.
fn width(marks: &[&Mark]) -> Option<u8> {
    let edges = u8::try_from(marks.len()).ok().filter(|&edges| edges <= Asleep::EDGES);
    edges.filter(|_| !marks.iter().any(|mark| mark.begins))
}

/// How an edge gets on with others.
fn relate(mark: &Mark, others: &[&Mark]) -> Relation {
    let disturbed =
        |other: &&Mark| other.everything || !other.partners.is_empty() || mark.hit.meets(&other.touch);
    if mark.everything || others.iter().any(disturbed) {
        return Relation::DISTURBED;
    }
    // If one of several receives from the same channel can be executed, there is a message.
    let channel = |other: &&Mark| other.taking.as_ref().map(|taking| taking.number);
    let first = others.first().and_then(channel);
    let filled = first.is_some() && others.iter().all(|other| channel(other) == first);
    let may_enable = |other: &&Mark| {
        let taking = other.taking.as_ref().filter(|_| filled);
        let enablers = taking.map_or(&other.enablers, |taking| &taking.while_filled);
        other.ends || enablers.meets(&mark.touch)
    };
    match others.iter().any(may_enable) {
        true => width(others).map_or(Relation::DISTURBED, Relation),
        false => Relation::APART,
    }
}
