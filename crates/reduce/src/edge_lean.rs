//! Edge lean search: which processes sleep behind an edge. Why that is sound says [`system::lean`].
//!
//! For an edge of one process and a location of another it is found out once, from the [marks](crate::mark), how they get on:
//! whether all edges at the location leave the edge alone, and whether it may enable one of them. A location that offers
//! a rendezvous is never at rest, because who may accept depends on where others are. What would only accept an offer does
//! not count: that is an action of who offers.
//!
//! This must cost less than following the edges that it spares, so a state is not taken apart: where locations are, and
//! which [instances](crate::instance) the processes are, is found out once for all states of a [form](machine::look::Form). Where too little is
//! spared it is left alone for a while: a process that does not sleep is only more work.

use std::collections::HashMap;

use machine::interp::action::Action;
use machine::look::{Glance, Look, Wanted};
use system::{ActionId, Asleep, Lean, Successor};

use crate::instance::{Ground, Instances};
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

    /// Whether a process at the location that has so many edges has the same after the edge.
    #[inline(always)]
    fn keeps(self, edges: u8) -> bool {
        self == Relation::APART || self.0 == edges
    }
}

/// Edges and locations for which relations are kept; beyond that, nobody sleeps.
const MOST_RELATIONS: usize = 1 << 24;
/// Edges after which it is judged whether this pays.
const ROW: u32 = 4096;
/// The most states that go without.
const MOST: u32 = 1 << 16;
/// Kinds of states that are told apart; a state of another kind is expanded in full.
const MOST_KINDS: usize = 1 << 12;
/// Kinds that are found at once.
const RECENT: usize = 256;
/// Processes that can sleep.
const PROCESSES: usize = Asleep::PROCESSES;

/// States of the same form whose processes are the same instances.
#[derive(Debug)]
struct Kind {
    /// How its states begin, and how long they are.
    begins: u32,
    len: usize,
    /// The wanted cells: where they are, how many bytes they have, their values.
    cells: Vec<(u32, u8, u32)>,
    /// How many bytes locations have.
    location_bytes: u8,
    /// Those of its processes that can sleep.
    processes: [Process; PROCESSES],
    /// The instances of all processes.
    instances: Vec<u32>,
}

/// A process of a kind of states.
#[derive(Clone, Copy, Debug, Default)]
struct Process {
    /// Where its location is.
    at: u32,
    /// The number of its first location among those of all instances.
    first_node: u32,
    /// The number of its first edge among those of all instances.
    first_edge: u32,
}

/// Puts processes to sleep.
pub struct EdgeLean<'a> {
    look: &'a dyn Look,
    wanted: &'a Wanted,
    instances: Instances<'a>,
    kinds: Vec<Kind>,
    /// The kind of the last state.
    last: usize,
    /// Kinds by how their states begin: the one met last for each end of that number, and all.
    recent: Vec<u32>,
    by_beginning: HashMap<u32, Vec<u32>>,
    /// For each instance the number of its first edge.
    first_edges: Vec<u32>,
    /// For each edge of all instances, how it gets on with each location of all instances: rows of `n_nodes`.
    relations: Vec<Relation>,
    n_edges: usize,
    n_nodes: usize,
    /// The program uses `timeout`.
    timeout: bool,
    /// Nobody can ever sleep.
    hopeless: bool,
    pays: Pays,
}

/// Whether it pays.
#[derive(Debug, Default)]
struct Pays {
    /// States that still go without.
    pause: u32,
    last: u32,
    edges: u32,
    asleep: u32,
    always: bool,
}

impl Pays {
    /// Behind so many edges others sleep that have so many.
    #[inline(always)]
    fn tried(&mut self, edges: u32, asleep: u32) {
        self.edges += edges;
        self.asleep += asleep;
        if self.edges >= ROW {
            self.judge();
        }
    }

    #[cold]
    fn judge(&mut self) {
        let pays = self.always || u64::from(self.asleep) * 8 >= u64::from(self.edges);
        self.last = if pays { 0 } else { (self.last * 2).clamp(1024, MOST) };
        (self.pause, self.edges, self.asleep) = (self.last, 0, 0);
    }
}

impl<'a> EdgeLean<'a> {
    /// For the program of which the ground is known.
    pub(crate) fn new(
        ground: &'a Ground<'a>,
        look: &'a dyn Look,
        wanted: &'a Wanted,
        hopeless: bool,
    ) -> Self {
        EdgeLean {
            look,
            wanted,
            instances: Instances::new(ground),
            kinds: Vec::new(),
            last: 0,
            recent: vec![0; RECENT],
            by_beginning: HashMap::new(),
            first_edges: Vec::new(),
            relations: Vec::new(),
            n_edges: 0,
            n_nodes: 0,
            timeout: ground.analysis.program.uses.timeout,
            hopeless,
            pays: Pays::default(),
        }
    }

    /// Finds the kind of a state; false when nothing can be said of it.
    #[inline(always)]
    fn recognise(&mut self, state: &[u8]) -> bool {
        let Some(begins) = state.first_chunk().map(|bytes| u32::from_le_bytes(*bytes)) else { return false };
        if self.kinds.get(self.last).is_some_and(|kind| kind.holds(begins, state)) {
            return true;
        }
        self.find_kind(begins, state)
    }

    fn find_kind(&mut self, begins: u32, state: &[u8]) -> bool {
        let recent = begins as usize % RECENT;
        let holds = |kind: u32| self.kinds.get(kind as usize).is_some_and(|kind| kind.holds(begins, state));
        let known = match self.recent[recent] {
            kind if holds(kind) => Some(kind),
            _ => self
                .by_beginning
                .get(&begins)
                .and_then(|kinds| kinds.iter().copied().find(|&kind| holds(kind))),
        };
        match known {
            Some(kind) => self.last = kind as usize,
            None if self.make_kind(begins, state).is_none() => return false,
            None => {}
        }
        self.recent[recent] = self.last as u32;
        true
    }

    #[cold]
    fn make_kind(&mut self, begins: u32, state: &[u8]) -> Option<()> {
        if self.kinds.len() >= MOST_KINDS {
            return None;
        }
        let form = self.look.form(state, self.wanted);
        let mut glance = Glance::default();
        let (Some(form), true) = (form, self.look.look(state, self.wanted, &mut glance)) else {
            self.hopeless = true;
            return None;
        };
        let mut kind = Kind {
            begins,
            len: state.len(),
            cells: form.cells.iter().map(|&(at, bytes)| (at, bytes, read(state, at, bytes))).collect(),
            location_bytes: form.location_bytes,
            processes: [Process::default(); PROCESSES],
            instances: Vec::new(),
        };
        for pid in 0..glance.processes.len() {
            let (instance, _) = self.instances.of(&glance, pid);
            while self.first_edges.len() <= instance as usize {
                let made = self.instances.get(self.first_edges.len() as u32);
                self.first_edges.push(self.n_edges as u32);
                self.n_edges += made.marks.len();
            }
            kind.instances.push(instance);
            if let Some(process) = kind.processes.get_mut(pid) {
                let first_node = self.instances.get(instance).first_node;
                let first_edge = self.first_edges[instance as usize];
                *process = Process { at: form.locations[pid], first_node, first_edge };
            }
        }
        if self.n_nodes < self.instances.n_nodes() {
            // Rows have become longer.
            self.n_nodes = self.instances.n_nodes();
            self.relations.clear();
            if self.n_edges * self.n_nodes > MOST_RELATIONS {
                self.hopeless = true;
                return None;
            }
            self.relations.resize(self.n_edges * self.n_nodes, Relation::UNKNOWN);
        }
        self.last = self.kinds.len();
        self.by_beginning.entry(begins).or_default().push(self.last as u32);
        self.kinds.push(kind);
        Some(())
    }

    /// How an edge of a process gets on with the location of another one.
    #[inline(always)]
    fn relation(&mut self, of: usize, edge: u32, other: usize, node: u32) -> Relation {
        let first_edge = self.first_edges[self.kinds[self.last].instances[of] as usize];
        match self.relations[(first_edge + edge) as usize * self.n_nodes + node as usize] {
            Relation::UNKNOWN => self.find_relation(of, edge, other, node),
            relation => relation,
        }
    }

    #[cold]
    fn find_relation(&mut self, of: usize, edge: u32, other: usize, node: u32) -> Relation {
        let instance_of = |pid: usize| self.instances.get(self.kinds[self.last].instances[pid]);
        let mark = &instance_of(of).marks[edge as usize];
        let relation = match self.instances.node(node).timeout {
            true => Relation::DISTURBED,
            false => relate(mark, &self.instances.marks_at(instance_of(other), node)),
        };
        let row = self.first_edges[self.kinds[self.last].instances[of] as usize] + edge;
        self.relations[row as usize * self.n_nodes + node as usize] = relation;
        relation
    }

    /// Who sleeps behind an action, of those who could move.
    fn behind_one(&mut self, state: &[u8], id: ActionId, movers: Asleep) -> Asleep {
        let mut asleep = Asleep::NOBODY;
        let action = Action::unpack(id);
        let Some(edge) = action.edge else { return asleep };
        let mut others = movers.younger(action.pid);
        if let Some((partner, _)) = action.partner {
            others = others.without(partner);
        }
        for (other, edges) in others {
            let node = self.kinds[self.last].node(state, other);
            let mut relation = self.relation(action.pid, edge.0, other, node);
            if let Some((partner, edge)) = action.partner {
                relation = relation.min(self.relation(partner, edge.0, other, node));
            }
            if relation.keeps(edges) {
                asleep.add(other, edges);
            }
        }
        asleep
    }

    /// The same for an action of one process, if all is known and nothing needs a closer look.
    #[inline(always)]
    fn behind_single(&self, kind: &Kind, state: &[u8], id: ActionId, movers: Asleep) -> Option<Asleep> {
        let mut asleep = Asleep::NOBODY;
        let (pid, edge) = Action::single_of(id)?;
        let others = movers.younger(pid);
        if others.is_nobody() {
            return Some(asleep);
        }
        let row = (kind.processes[pid % PROCESSES].first_edge + edge) as usize * self.n_nodes;
        let row = self.relations.get(row..row + self.n_nodes)?;
        for (other, edges) in others {
            let relation = *row.get(kind.node(state, other) as usize)?;
            if relation.keeps(edges) {
                asleep.add(other, edges);
            } else if relation == Relation::UNKNOWN {
                return None;
            }
        }
        Some(asleep)
    }

    /// Whether somebody who can move perhaps only can because of `timeout`.
    fn may_be_timeout(&self, state: &[u8], mut movers: Asleep) -> bool {
        let kind = &self.kinds[self.last];
        movers.any(|(pid, _)| self.instances.node(kind.node(state, pid)).timeout)
    }
}

impl Kind {
    /// Where a process is in a state, among the locations of all instances.
    #[inline(always)]
    fn node(&self, state: &[u8], pid: usize) -> u32 {
        let Process { at, first_node, .. } = self.processes[pid % PROCESSES];
        first_node + read(state, at, self.location_bytes)
    }

    #[inline(always)]
    fn holds(&self, begins: u32, state: &[u8]) -> bool {
        self.begins == begins
            && self.len == state.len()
            && self.cells.iter().all(|&(at, bytes, value)| read(state, at, bytes) == value)
    }
}

/// Some bytes of a state as a number; bytes that are not there are 0.
#[inline(always)]
fn read(state: &[u8], at: u32, bytes: u8) -> u32 {
    let at = at as usize;
    match bytes {
        1 => state.get(at).map_or(0, |&byte| u32::from(byte)),
        2 => state
            .get(at..at + 2)
            .and_then(|b| b.first_chunk())
            .map_or(0, |b| u32::from(u16::from_le_bytes(*b))),
        _ => state.get(at..at + 4).and_then(|b| b.first_chunk()).map_or(0, |b| u32::from_le_bytes(*b)),
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

impl Lean for EdgeLean<'_> {
    fn behind(&mut self, state: &[u8], asleep: Asleep, edges: &[Successor], out: &mut Vec<Asleep>) {
        let nobody = || std::iter::repeat_n(Asleep::NOBODY, edges.len());
        if self.pays.pause > 0 || self.hopeless {
            self.pays.pause = self.pays.pause.saturating_sub(1);
            return out.extend(nobody());
        }
        let movers = asleep.with(edges.iter().map(|edge| Action::process(edge.action)));
        let movers = movers.filter(|movers| movers.several() && self.recognise(state));
        let Some(movers) = movers.filter(|&movers| !self.timeout || !self.may_be_timeout(state, movers))
        else {
            self.pays.tried(edges.len() as u32, 0);
            return out.extend(nobody());
        };
        let mut total = 0;
        out.extend(edges.iter().map(|edge| {
            let behind = match self.behind_single(&self.kinds[self.last], state, edge.action, movers) {
                Some(behind) => behind,
                None => self.behind_one(state, edge.action, movers),
            };
            total += u32::from(!behind.is_nobody());
            behind
        }));
        self.pays.tried(edges.len() as u32, total);
    }

    fn always(&mut self) {
        self.pays = Pays { always: true, ..Pays::default() };
    }
}
