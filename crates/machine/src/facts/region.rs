//! Sets of parts of a state, as a process sees them.
//!
//! A [`Part`] is one place of one state: a global cell, a cell or the location of the process with some pid,
//! one aspect of the channel with some number. A [`Region`] names such parts for all states at once, so it
//! speaks of "own" cells and of "some process of this proctype". [`May`] and [`Must`] say in which direction
//! a set may be wrong.

use std::collections::{BTreeMap, BTreeSet};

use promela::ir::{ChanTypeId, ProctypeId};

use super::Cells;

/// What may happen: it can name more than ever happens, never less. Only a *no* is sure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct May<T>(pub T);

/// What happens each time: it can name less than that, never more. Only a *yes* is sure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Must<T>(pub T);

/// One part of one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// A global cell.
    Global(u32),
    /// A cell of the process with this pid.
    Local(usize, u32),
    /// The location of the process with this pid.
    Control(usize),
    /// Its priority.
    Priority(usize),
    /// Something about the channel with this index.
    Channel(usize, Aspects),
    /// Which processes and channels there are.
    Processes,
    /// `_last`.
    Last,
    /// Where the trace assertion is.
    Trace,
    /// Who has exclusive control. Nobody is said to read it: facts are about what processes do when they may.
    Exclusive,
}

/// What of a channel: a set of aspects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Aspects(u8);

impl Aspects {
    /// Nothing.
    pub const NONE: Aspects = Aspects(0);
    /// Whether it is empty.
    pub const EMPTY: Aspects = Aspects(1);
    /// Whether it is full.
    pub const FULL: Aspects = Aspects(2);
    /// How many messages it holds.
    pub const LEN: Aspects = Aspects(4);
    /// Its first message: the receiver's end.
    pub const HEAD: Aspects = Aspects(8);
    /// What is put behind the last message: the sender's end.
    pub const BACK: Aspects = Aspects(16);
    /// The messages behind the first.
    pub const BODY: Aspects = Aspects(32);
    /// Everything.
    pub const ALL: Aspects = Aspects(63);

    /// Both.
    pub const fn and(self, other: Aspects) -> Aspects {
        Aspects(self.0 | other.0)
    }

    /// Whether they have something in common.
    pub const fn meets(self, other: Aspects) -> bool {
        self.0 & other.0 != 0
    }

    /// Each aspect on its own.
    pub fn each(self) -> impl Iterator<Item = Aspects> {
        (0..6).map(|bit| Aspects(1 << bit)).filter(move |one| self.meets(*one))
    }
}

/// How a channel is named for all states at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChannelName {
    /// The global channel that is created as the n-th, from 0.
    Global(u32),
    /// The n-th channel of the process itself, from 0.
    Own(u32),
    /// Any channel of this declaration.
    Declared(ChanTypeId),
    /// The channel with this number, counted from 0, for a process that always means this one.
    Number(u32),
}

/// A set of proctypes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proctypes {
    /// These.
    These(BTreeSet<ProctypeId>),
    /// All.
    All,
}

impl Default for Proctypes {
    fn default() -> Self {
        Proctypes::These(BTreeSet::new())
    }
}

impl Proctypes {
    /// Whether it is one of them.
    pub fn contains(&self, id: ProctypeId) -> bool {
        match self {
            Proctypes::These(set) => set.contains(&id),
            Proctypes::All => true,
        }
    }

    /// Adds one.
    pub fn add(&mut self, id: ProctypeId) {
        if let Proctypes::These(set) = self {
            set.insert(id);
        }
    }

    fn add_all(&mut self, other: &Proctypes) {
        match other {
            Proctypes::These(set) => set.iter().for_each(|id| self.add(*id)),
            Proctypes::All => *self = Proctypes::All,
        }
    }

    fn meets(&self, other: &Proctypes) -> bool {
        match (self, other) {
            (Proctypes::These(a), Proctypes::These(b)) => !a.is_disjoint(b),
            (Proctypes::These(some), Proctypes::All) | (Proctypes::All, Proctypes::These(some)) => {
                !some.is_empty()
            }
            (Proctypes::All, Proctypes::All) => true,
        }
    }
}

/// A set of parts, as a process sees them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Global cells.
    pub globals: Cells,
    /// Own cells.
    pub own: Cells,
    /// Cells of any process of a proctype.
    pub others: BTreeMap<ProctypeId, Cells>,
    /// The own location.
    pub own_control: bool,
    /// The locations of any processes of these proctypes.
    pub controls: Proctypes,
    /// Channels that have a name.
    pub channels: BTreeMap<ChannelName, Aspects>,
    /// Which processes and channels there are.
    pub processes: bool,
    /// The priorities of processes.
    pub priorities: bool,
    /// `_last`.
    pub last: bool,
    /// The position of the trace assertion.
    pub trace: bool,
    /// Who has exclusive control.
    pub exclusive: bool,
    /// Whether anybody can move: what `timeout` looks at.
    pub timeout: bool,
    /// All of a state: what `enabled()` and priorities look at.
    pub everything: bool,
}

impl Region {
    /// Adds all parts of another region of the same process.
    pub fn add(&mut self, other: &Region) {
        self.globals.add_all(&other.globals);
        self.own.add_all(&other.own);
        for (id, cells) in &other.others {
            self.others.entry(*id).or_default().add_all(cells);
        }
        self.own_control |= other.own_control;
        self.controls.add_all(&other.controls);
        for (name, aspects) in &other.channels {
            self.add_channel(*name, *aspects);
        }
        self.processes |= other.processes;
        self.priorities |= other.priorities;
        self.last |= other.last;
        self.trace |= other.trace;
        self.exclusive |= other.exclusive;
        self.timeout |= other.timeout;
        self.everything |= other.everything;
    }

    /// Adds something of a channel.
    pub fn add_channel(&mut self, name: ChannelName, aspects: Aspects) {
        if aspects != Aspects::NONE {
            let before = self.channels.entry(name).or_default();
            *before = before.and(aspects);
        }
    }

    /// The same parts as anybody sees them, when they are those of a process of proctype `id`, whose own
    /// channels are of these declarations.
    pub fn from_outside(&self, id: ProctypeId, own_channels: &[ChanTypeId]) -> Region {
        let mut region = Region { own: Cells::default(), own_control: false, ..self.clone() };
        if !self.own.is_empty() {
            region.others.entry(id).or_default().add_all(&self.own);
        }
        if self.own_control {
            region.controls.add(id);
        }
        region.channels = BTreeMap::new();
        for (name, aspects) in &self.channels {
            let name = match *name {
                ChannelName::Own(n) => match own_channels.get(n as usize) {
                    Some(ty) => ChannelName::Declared(*ty),
                    None => continue,
                },
                name => name,
            };
            region.add_channel(name, *aspects);
        }
        region
    }

    /// Whether it can have a part in common with a region of another process; the ids are the proctypes of
    /// the two.
    pub fn meets(&self, id: ProctypeId, other: &Region, other_id: ProctypeId, known: &Channels) -> bool {
        let cells = |a: Option<&Cells>, b: &Cells| a.is_some_and(|a| a.meets(b));
        let all = |region: &Region| region.everything || region.timeout;
        all(self) && !other.is_empty()
            || all(other) && !self.is_empty()
            || self.globals.meets(&other.globals)
            || cells(other.others.get(&id), &self.own)
            || cells(self.others.get(&other_id), &other.own)
            || self.others.iter().any(|(id, a)| cells(other.others.get(id), a))
            || self.own_control && other.controls.contains(id)
            || other.own_control && self.controls.contains(other_id)
            || self.controls.meets(&other.controls)
            || self.processes && other.processes
            || self.priorities && other.priorities
            || self.last && other.last
            || self.trace && other.trace
            || self.channels_meet(id, other, other_id, known)
    }

    /// Whether it names nothing. (Exclusive control does not count: it is handed on, not shared.)
    pub fn is_empty(&self) -> bool {
        let empty = Region { exclusive: self.exclusive, ..Region::default() };
        *self == empty
    }

    fn channels_meet(&self, id: ProctypeId, other: &Region, other_id: ProctypeId, known: &Channels) -> bool {
        self.channels.iter().any(|(a, aspects)| {
            let same = |b: ChannelName| known.same((*a, id), (b, other_id));
            other.channels.iter().any(|(b, more)| aspects.meets(*more) && same(*b))
        })
    }
}

/// Which declarations the channels have that can be named.
#[derive(Clone, Debug, Default)]
pub struct Channels {
    /// Those of the global channels, in order.
    pub globals: Vec<ChanTypeId>,
    /// Those that a process of each proctype creates when it starts, in order.
    pub own: Vec<Vec<ChanTypeId>>,
}

impl Channels {
    /// The declarations of a process's own channels.
    pub fn of_process(&self, id: ProctypeId) -> &[ChanTypeId] {
        self.own.get(id.index()).map_or(&[], Vec::as_slice)
    }

    /// Whether two names may mean the same channel when processes of these proctypes, not the same, use them.
    fn same(&self, (a, p): (ChannelName, ProctypeId), (b, q): (ChannelName, ProctypeId)) -> bool {
        let declaration = |name: ChannelName, id: ProctypeId| match name {
            ChannelName::Global(n) => self.globals.get(n as usize).copied(),
            ChannelName::Own(n) => self.of_process(id).get(n as usize).copied(),
            ChannelName::Declared(ty) => Some(ty),
            ChannelName::Number(_) => None,
        };
        match (a, b) {
            (ChannelName::Number(a), ChannelName::Number(b) | ChannelName::Global(b))
            | (ChannelName::Global(a), ChannelName::Number(b)) => a == b,
            (ChannelName::Number(_), _) | (_, ChannelName::Number(_)) => true,
            (ChannelName::Declared(_), _) | (_, ChannelName::Declared(_)) => {
                declaration(a, p) == declaration(b, q)
            }
            (ChannelName::Global(a), ChannelName::Global(b)) => a == b,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(change: impl FnOnce(&mut Region)) -> Region {
        let mut region = Region::default();
        change(&mut region);
        region
    }

    #[test]
    fn own_cells_are_seen_by_remote_references_only() {
        let (p, q) = (ProctypeId(0), ProctypeId(1));
        let known = Channels::default();
        let own = of(|r| r.own.add(0, 2));
        assert!(!own.meets(p, &own, p, &known), "each has its own");
        let look = of(|r| r.others.entry(p).or_default().add(1, 2));
        assert!(own.meets(p, &look, q, &known) && !own.meets(q, &look, q, &known));
        assert!(look.meets(q, &own, p, &known));
        let label = of(|r| r.controls.add(p));
        let step = of(|r| r.own_control = true);
        assert!(step.meets(p, &label, q, &known) && !step.meets(q, &label, q, &known));
        let all = of(|r| r.everything = true);
        assert!(all.meets(p, &step, q, &known) && step.meets(p, &all, q, &known));
        assert!(!all.meets(p, &Region::default(), q, &known));
        assert!(own.from_outside(p, &[]).meets(q, &look, q, &known));
    }

    #[test]
    fn channels_are_told_apart_by_name_and_aspect() {
        let p = ProctypeId(0);
        let (zero, one) = (ChanTypeId(0), ChanTypeId(1));
        let known = Channels { globals: vec![zero, one], own: vec![vec![one]] };
        let chan = |name, aspects| of(|r| r.add_channel(name, aspects));
        let meets = |a: &Region, b: &Region| a.meets(p, b, p, &known);
        let first = chan(ChannelName::Global(0), Aspects::HEAD);
        assert!(!meets(&first, &chan(ChannelName::Global(0), Aspects::BACK)));
        assert!(!meets(&first, &chan(ChannelName::Global(1), Aspects::ALL)));
        assert!(meets(&first, &chan(ChannelName::Declared(zero), Aspects::HEAD)));
        assert!(!meets(&first, &chan(ChannelName::Declared(one), Aspects::HEAD)));
        let own = chan(ChannelName::Own(0), Aspects::ALL);
        assert!(!meets(&own, &own), "another process has another");
        assert!(meets(&own, &chan(ChannelName::Declared(one), Aspects::LEN)));
        assert!(!meets(&own, &chan(ChannelName::Declared(zero), Aspects::LEN)));
    }
}
