//! Edge lean search: which processes sleep after a step. [`system::lean`] says why that is sound,
//! `relations.rs` how edges and locations depend on each other, `sleep_code.rs` how it is written down.
//!
//! This must cost less than following the edges that it spares, so a state is not taken apart: where
//! locations are, and which [instances](crate::instance) the processes are, is found out once for all states
//! of a kind (`kind.rs`). Where too little is spared it is left alone for a while: a process that does not
//! sleep is only more work.

use std::collections::HashMap;

use machine::action::Action;
use machine::look::{Glance, Look, Wanted};
use system::lean::{OnlyEdge, first_slot};
use system::{ActionId, Annotation, Lean, ProcessOrder, Successor};

use crate::instance::{Ground, Instances};
use crate::kind::{Kind, PROCESSES, Process, Word, beginning};
use crate::relations::Relations;
use crate::sleep_code::{Precedence, SleepCode};
use machine::facts::mark::Mark;

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
    order: ProcessOrder,
    before: Precedence,
    relations: Relations<'a>,
    kinds: Vec<Kind>,
    /// The kind of the last state, and the length of its states; no length at all unless it is
    /// [simple](Kind::is_simple).
    last: usize,
    simple: usize,
    /// Kinds by how their states begin: the one met last for each end of that number, and all.
    recent: Vec<u32>,
    by_beginning: HashMap<u32, Vec<u32>>,
    pays: Pays,
}

/// Whether it pays.
#[derive(Debug, Default)]
struct Pays {
    /// Edges since this was judged last, and behind how many of them somebody sleeps. It is judged, or there
    /// is a pause, when they are many.
    edges: u32,
    asleep: u32,
    /// States that still go without.
    pause: u32,
    last: u32,
    always: bool,
    /// Nobody can ever sleep: the pause does not end.
    hopeless: bool,
}

impl Pays {
    fn new(always: bool, hopeless: bool) -> Self {
        let edges = if hopeless { ROW } else { 0 };
        Pays { edges, pause: u32::from(hopeless), always, hopeless, ..Pays::default() }
    }

    /// Whether there is no pause, and nothing to be judged.
    #[inline(always)]
    fn is_quiet(&self) -> bool {
        self.edges < ROW
    }

    /// Whether a state goes without.
    #[cold]
    fn pauses(&mut self) -> bool {
        if self.pause == 0 {
            let pays = self.always || u64::from(self.asleep) * 8 >= u64::from(self.edges);
            self.last = if pays { 0 } else { (self.last * 2).clamp(1024, MOST) };
            (self.pause, self.asleep) = (self.last, 0);
        }
        let pauses = self.pause > 0;
        self.pause -= u32::from(pauses && !self.hopeless);
        self.edges = if self.pause > 0 { ROW } else { 0 };
        pauses
    }

    /// Behind a number of edges others sleep that have a number of edges.
    #[inline(always)]
    fn tried(&mut self, edges: u32, asleep: u32) {
        self.edges += edges;
        self.asleep += asleep;
    }
}

impl<'a> EdgeLean<'a> {
    /// For the program of which the ground is known.
    pub(crate) fn new(
        ground: &'a Ground<'a>,
        look: &'a dyn Look,
        wanted: &'a Wanted,
        order: ProcessOrder,
        hopeless: bool,
    ) -> Self {
        EdgeLean {
            look,
            wanted,
            order,
            before: Precedence::new(order),
            relations: Relations::new(Instances::new(ground)),
            kinds: Vec::new(),
            last: 0,
            simple: usize::MAX,
            recent: vec![0; RECENT],
            by_beginning: HashMap::new(),
            pays: Pays::new(false, hopeless),
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
        let kind = &self.kinds[self.last];
        self.simple = if kind.is_simple() { kind.len } else { usize::MAX };
        Some(self.last)
    }

    #[cold]
    fn make_kind(&mut self, begins: u32, state: &[u8]) -> Option<()> {
        // A model with more kinds of states than this gets no sleep in the others: tables must not grow
        // forever.
        if self.kinds.len() >= MOST_KINDS {
            return None;
        }
        let form = self.look.form(state, self.wanted);
        let mut glance = Glance::default();
        let (Some(form), true) = (form, self.look.look(state, self.wanted, &mut glance)) else {
            self.pays = Pays::new(self.pays.always, true);
            return None;
        };
        let mut kind = Kind {
            begins,
            len: state.len(),
            cells: Word::all(state, &form.cells),
            location: u32::MAX >> (32 - 8 * u32::from(form.location_bytes.clamp(1, 4))),
            first: first_slot(glance.processes.len()),
            processes: [Process::default(); PROCESSES],
            asking: SleepCode::NOBODY,
            instances: Vec::new(),
        };
        for pid in 0..glance.processes.len() {
            let (instance, _) = self.relations.instances.of(&glance, pid);
            let first_edge = self.relations.first_edge(instance);
            kind.instances.push(instance);
            let slot = kind.slot(pid);
            if let Some(process) = kind.processes.get_mut(slot) {
                let made = self.relations.instances.get(instance);
                let (location, first_node) = (form.locations[pid], made.first_node);
                *process = Process { location, first_node, first_edge };
                if made.marks.iter().any(Mark::asks) {
                    kind.asking.add(slot, SleepCode::LAST);
                }
            }
        }
        let asks =
            |&instance: &u32| self.relations.instances.get(instance).marks.iter().any(|mark| mark.timeout);
        if !kind.instances.iter().any(asks) {
            kind.asking = SleepCode::NOBODY;
        }
        if self.relations.grow().is_none() {
            self.pays = Pays::new(self.pays.always, true);
            return None;
        }
        self.last = self.kinds.len();
        self.by_beginning.entry(begins).or_default().push(self.last as u32);
        self.kinds.push(kind);
        Some(())
    }

    /// The kind of a state; `None` when nothing can be said of it.
    #[inline(always)]
    fn recognise(&mut self, state: &[u8]) -> Option<usize> {
        match self.kinds.get(self.last) {
            Some(kind) if kind.holds(state) => Some(self.last),
            _ => self.find_kind(state),
        }
    }

    /// Who sleeps behind the only edge of a state. `None` unless that can be told at a glance: the state is
    /// of the last kind, and all has been found out.
    #[inline(always)]
    fn glance(&self, state: &[u8], asleep: SleepCode, action: ActionId) -> Option<SleepCode> {
        if asleep.is_nobody() {
            return Some(SleepCode::NOBODY);
        }
        let kind = self.kinds.get(self.last)?;
        if self.simple != state.len() || beginning(state) != Some(kind.begins) {
            return None;
        }
        let before = self.before.only(asleep, Action::process(action));
        self.relations.sleep_after(kind, action, before, |other| kind.narrow_node(state, other))
    }

    #[inline(never)]
    fn find_sleep_after_only(&mut self, state: &[u8], asleep: SleepCode, action: ActionId) -> SleepCode {
        if !self.pays.is_quiet() && self.pays.pauses() {
            return SleepCode::NOBODY;
        }
        let after = self.find_sleep_after(state, asleep, action).unwrap_or_default();
        self.pays.tried(1, u32::from(!after.is_nobody()));
        after
    }

    /// Who sleeps behind the only edge of any state. `None` where nobody does.
    fn find_sleep_after(&mut self, state: &[u8], asleep: SleepCode, action: ActionId) -> Option<SleepCode> {
        if asleep.is_nobody() {
            return None;
        }
        let kind = self.recognise(state)?;
        let (kind, relations) = (&self.kinds[kind], &mut self.relations);
        let before = self.before.only_of(asleep, kind.first, Action::process(action));
        // Who sleeps could move, so nobody needs `timeout`.
        let known = relations.sleep_after(kind, action, before, |other| kind.node(state, other));
        Some(known.unwrap_or_else(|| relations.find_sleep_after(kind, state, action, before)))
    }

    /// Says who sleeps behind each of some edges, where nobody did until now, and behind how many somebody
    /// does.
    #[inline(always)]
    fn sleep_after_some(
        &mut self,
        state: &[u8],
        asleep: SleepCode,
        edges: &[Successor],
        out: &mut [Annotation],
    ) -> u32 {
        let Some(kind) = self.recognise(state) else { return 0 };
        let (kind, relations) = (&self.kinds[kind], &mut self.relations);
        // What `timeout` enables depends on all others being blocked, so that nothing commutes with it. Where
        // somebody sleeps it can move, and there is no `timeout`.
        if asleep.is_nobody() && relations.may_be_timeout(kind, state, edges) {
            return 0;
        }
        let mut here = Here { kind, relations, before: &self.before, state, asleep };
        let in_place = edges.iter().map(|edge| edge.action).zip(out.iter_mut());
        let total = match self.order {
            ProcessOrder::HighestFirst => here.sleep_after::<false>(in_place),
            ProcessOrder::LowestFirst => here.sleep_after::<true>(in_place.rev()),
        };
        total.unwrap_or_else(|| here.sleep_after_sorted(self.order, edges, out))
    }
}

/// A state of which several edges are followed.
struct Here<'h, 'a> {
    kind: &'h Kind,
    relations: &'h mut Relations<'a>,
    before: &'h Precedence,
    state: &'h [u8],
    /// Who sleeps there.
    asleep: SleepCode,
}

impl Here<'_, '_> {
    /// What [`Here::sleep_after`] does, for edges that are not in the order of the processes.
    #[cold]
    fn sleep_after_sorted(
        &mut self,
        order: ProcessOrder,
        edges: &[Successor],
        out: &mut [Annotation],
    ) -> u32 {
        let mut sorted: Vec<_> = edges.iter().map(|edge| edge.action).zip(out).collect();
        sorted.sort_by_key(|edge| Action::process(edge.0));
        let total = match order {
            ProcessOrder::HighestFirst => self.sleep_after::<false>(sorted.into_iter().rev()),
            ProcessOrder::LowestFirst => self.sleep_after::<true>(sorted.into_iter()),
        };
        total.unwrap_or(0)
    }

    /// Says who sleeps behind each of some actions, and behind how many somebody does. They come in the order
    /// of the processes, the lowest pid first if those with lower pids sleep, so when those of a process come
    /// it is known who is before it; `None` when they do not.
    #[inline(always)]
    fn sleep_after<'o, const LOWEST_FIRST: bool>(
        &mut self,
        edges: impl Iterator<Item = (ActionId, &'o mut Annotation)>,
    ) -> Option<u32> {
        let mut nodes = [0; PROCESSES];
        for (other, _) in self.asleep {
            nodes[other % PROCESSES] = self.kind.node(self.state, other);
        }
        let (mut movers, mut before) = (self.asleep, SleepCode::NOBODY);
        // The process of the last action, if there was one, its code if it has no other, and how many it has.
        let (mut last, mut code, mut n) = (usize::MAX, 0, 0);
        let mut total = 0;
        for (action, after) in edges {
            let pid = Action::process(action);
            if pid != last {
                // Machines give edges in the order of pids; a system that does not is sorted first.
                if if LOWEST_FIRST { pid < last.wrapping_add(1) } else { pid > last } {
                    return None;
                }
                let slot = self.kind.slot(last);
                if slot < PROCESSES {
                    nodes[slot] = self.kind.node(self.state, slot);
                    movers.add(slot, if n == 1 { code } else { SleepCode::code_of_several(n) });
                }
                before = self.before.only_of(movers, self.kind.first, pid);
                (last, code, n) = (pid, self.relations.code(self.kind, action), 0);
            }
            n += 1;
            let known =
                self.relations.sleep_after(self.kind, action, before, |other| nodes[other % PROCESSES]);
            let asleep = known
                .unwrap_or_else(|| self.relations.find_sleep_after(self.kind, self.state, action, before));
            *after = asleep.annotation();
            total += u32::from(!asleep.is_nobody());
        }
        Some(total)
    }
}

impl Lean for EdgeLean<'_> {
    fn slept(&self, annotation: Annotation) -> u64 {
        SleepCode::of(annotation).edges()
    }

    fn sleep_after(
        &mut self,
        state: &[u8],
        annotation: Annotation,
        edges: &[Successor],
        out: &mut Vec<Annotation>,
    ) -> u64 {
        let first = out.len();
        out.resize(first + edges.len(), Annotation::NONE);
        if self.pays.is_quiet() || !self.pays.pauses() {
            let total = self.sleep_after_some(state, SleepCode::of(annotation), edges, &mut out[first..]);
            self.pays.tried(edges.len() as u32, total);
        }
        SleepCode::of(annotation).edges()
    }

    /// Apart from what is done for several edges: most states have one.
    fn sleep_after_only(&mut self, state: &[u8], annotation: Annotation, action: ActionId) -> OnlyEdge {
        let asleep = SleepCode::of(annotation);
        let slept = asleep.edges();
        if self.pays.is_quiet()
            && let Some(after) = self.glance(state, asleep, action)
        {
            self.pays.tried(1, u32::from(!after.is_nobody()));
            return OnlyEdge { after: after.annotation(), slept };
        }
        OnlyEdge { after: self.find_sleep_after_only(state, asleep, action).annotation(), slept }
    }

    fn always(&mut self) {
        self.pays = Pays::new(true, self.pays.hopeless);
    }
}
