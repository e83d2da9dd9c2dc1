//! Edge lean search: which processes sleep behind an edge. Why that is sound says [`system::lean`], how edges and locations get on
//! `relations.rs`.
//!
//! This must cost less than following the edges that it spares, so a state is not taken apart: where locations are, and
//! which [instances](crate::instance) the processes are, is found out once for all states of a kind (`kind.rs`). Where too little is
//! spared it is left alone for a while: a process that does not sleep is only more work.

use std::collections::HashMap;

use machine::interp::action::Action;
use machine::look::{Glance, Look, Wanted};
use system::{Asleep, Lean, Successor};

use crate::instance::{Ground, Instances};
use crate::kind::{Kind, PROCESSES, Process, beginning, read};
use crate::relations::Relations;

/// Edges after which it is judged whether this pays.
const ROW: u32 = 4096;
/// The most states that go without.
const MOST: u32 = 1 << 16;
/// Kinds of states that are told apart; a state of another kind is expanded in full.
const MOST_KINDS: usize = 1 << 12;
/// Kinds that are found at once.
const RECENT: usize = 256;

/// Puts processes to sleep.
pub struct EdgeLean<'a> {
    look: &'a dyn Look,
    wanted: &'a Wanted,
    relations: Relations<'a>,
    kinds: Vec<Kind>,
    /// The kind of the last state.
    last: usize,
    /// Kinds by how their states begin: the one met last for each end of that number, and all.
    recent: Vec<u32>,
    by_beginning: HashMap<u32, Vec<u32>>,
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
            relations: Relations::new(Instances::new(ground)),
            kinds: Vec::new(),
            last: 0,
            recent: vec![0; RECENT],
            by_beginning: HashMap::new(),
            hopeless,
            pays: Pays::default(),
        }
    }

    /// Finds the kind of a state that is not of the last one; `None` when nothing can be said of it.
    #[inline(never)]
    fn find_kind(&mut self, state: &[u8]) -> Option<usize> {
        let begins = beginning(state)?;
        let recent = begins as usize % RECENT;
        let holds = |kind: u32| self.kinds.get(kind as usize).is_some_and(|kind| kind.holds(state));
        let known = match self.recent[recent] {
            kind if holds(kind) => Some(kind),
            _ => self
                .by_beginning
                .get(&begins)
                .and_then(|kinds| kinds.iter().copied().find(|&kind| holds(kind))),
        };
        match known {
            Some(kind) => self.last = kind as usize,
            None => self.make_kind(begins, state)?,
        }
        self.recent[recent] = self.last as u32;
        Some(self.last)
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
            location: u32::MAX >> (32 - 8 * u32::from(form.location_bytes.clamp(1, 4))),
            processes: [Process::default(); PROCESSES],
            asking: Asleep::NOBODY,
            instances: Vec::new(),
        };
        for pid in 0..glance.processes.len() {
            let (instance, _) = self.relations.instances.of(&glance, pid);
            let first_edge = self.relations.first_edge(instance);
            kind.instances.push(instance);
            if let Some(process) = kind.processes.get_mut(pid) {
                let made = self.relations.instances.get(instance);
                *process = Process::new(form.locations[pid], state.len(), made.first_node, first_edge);
                if made.marks.iter().any(|mark| mark.timeout) {
                    kind.asking.add(pid, Asleep::EDGES);
                }
            }
        }
        if self.relations.grow().is_none() {
            self.hopeless = true;
            return None;
        }
        self.last = self.kinds.len();
        self.by_beginning.entry(begins).or_default().push(self.last as u32);
        self.kinds.push(kind);
        Some(())
    }

    /// Who sleeps behind the only edge of a state. `None` where nobody does.
    #[inline(always)]
    fn behind_one(&mut self, state: &[u8], asleep: Asleep, edge: &Successor) -> Option<Asleep> {
        let pid = Action::process(edge.action);
        if asleep.younger(pid).is_nobody() {
            return None;
        }
        let kind = match self.kinds.get(self.last) {
            Some(kind) if kind.holds(state) => kind,
            _ => {
                let found = self.find_kind(state)?;
                &self.kinds[found]
            }
        };
        if self.relations.may_be_timeout(kind, state, || asleep.with([pid].into_iter())) {
            return None;
        }
        Some(self.relations.behind(kind, edge.action, asleep, |other| kind.node(state, other)))
    }

    /// Who sleeps behind each of some edges; says behind how many somebody does. `None` where nobody does.
    #[inline(always)]
    fn behind_some(
        &mut self,
        state: &[u8],
        asleep: Asleep,
        edges: &[Successor],
        out: &mut Vec<Asleep>,
    ) -> Option<u32> {
        let movers = asleep.with(edges.iter().map(|edge| Action::process(edge.action)))?;
        let others = movers.after(asleep);
        if others.is_nobody() {
            return None;
        }
        let kind = match self.kinds.get(self.last) {
            Some(kind) if kind.holds(state) => kind,
            _ => {
                let found = self.find_kind(state)?;
                &self.kinds[found]
            }
        };
        if self.relations.may_be_timeout(kind, state, || Some(movers)) {
            return None;
        }
        let mut nodes = [0; PROCESSES];
        for (other, _) in others {
            nodes[other] = kind.node(state, other);
        }
        let mut total = 0;
        for edge in edges {
            let behind = self.relations.behind(kind, edge.action, movers, |other| nodes[other % PROCESSES]);
            total += u32::from(!behind.is_nobody());
            out.push(behind);
        }
        Some(total)
    }

    /// The same, with nobody for each of them where nobody sleeps. Apart from what is done for one edge: both are quicker so.
    #[inline(never)]
    fn behind_all(
        &mut self,
        state: &[u8],
        asleep: Asleep,
        edges: &[Successor],
        out: &mut Vec<Asleep>,
    ) -> u32 {
        self.behind_some(state, asleep, edges, out).unwrap_or_else(|| {
            edges.iter().for_each(|_| out.push(Asleep::NOBODY));
            0
        })
    }
}

impl Lean for EdgeLean<'_> {
    fn behind(&mut self, state: &[u8], asleep: Asleep, edges: &[Successor], out: &mut Vec<Asleep>) {
        if self.pays.pause > 0 || self.hopeless {
            self.pays.pause = self.pays.pause.saturating_sub(1);
            return out.extend(std::iter::repeat_n(Asleep::NOBODY, edges.len()));
        }
        let total = match edges {
            [edge] => {
                let behind = self.behind_one(state, asleep, edge).unwrap_or(Asleep::NOBODY);
                out.push(behind);
                u32::from(!behind.is_nobody())
            }
            _ => self.behind_all(state, asleep, edges, out),
        };
        self.pays.tried(edges.len() as u32, total);
    }

    fn always(&mut self) {
        self.pays = Pays { always: true, ..Pays::default() };
    }
}
