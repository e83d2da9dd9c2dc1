//! Marks: what one edge of a process accesses when it is taken from an ordinary state.
//!
//! An edge that begins an atomic sequence stands for the whole sequence: its mark is that of every edge that
//! the process may take before control is given back, also by other processes to which control is handed on
//! in a rendezvous. (So merged statements and d_steps need no rules of their own.) What is looked at on the
//! way only decides how far the sequence goes, so there a plain send or receive is an ordinary use of a
//! channel; only as the first and only use of its channel is it plain.
//!
//! `timeout` accesses nothing. It is true only when nobody can move otherwise, so it cannot become true as
//! long as an action that was chosen is enabled; and a state in which it is true is not reduced.

use std::collections::{BTreeMap, BTreeSet};

use super::region::Proctypes;
use super::{Access, Analysis, ChannelName, Facts, Region, Who};
use promela::ir::{
    Action, ChanTypeId, Edge, EdgeId, Expr, ExprKind, Location, Proctype, ProctypeId, Program, visit,
};

use super::guard::{self, Part};
use super::object::{AccessSets, Object, Objects, Target};
use super::sequences::{Rest, Sequences};
use super::visible::{Places, Visible};
use stop::Stop;
use system::matrix::BitSet;

mod bounded;

/// What an edge accesses, and what may enable it.
#[derive(Clone, Debug, Default)]
pub struct Mark {
    /// What it accesses.
    pub accesses: BitSet,
    /// What it must not meet: actions that access this are not independent of it.
    pub conflicts: BitSet,
    /// It looks at everything.
    pub everything: bool,
    /// While it is not executable, nothing makes it so but actions that access one of these.
    pub enablers: BitSet,
    /// For a plain receive: its channel, and smaller sets of those while that is empty, and while it is not.
    pub taking: Option<Taking>,
    /// The parts of a guard that has several, as far as they can be evaluated.
    pub parts: Vec<Part>,
    /// The number of what its guard needs of global cells; 0 is nothing (numbered by whoever compares many).
    pub needs: u32,
    /// Whether it is executable depends on variables of its own process.
    pub own_guard: bool,
    /// The counterparts of its rendezvous.
    pub partners: BitSet,
    /// It does nothing but take what is on offer: then it is a part of an action of who offers.
    pub accepts: bool,
    /// It may begin an atomic sequence.
    pub begins: bool,
    /// It may begin one that never ends, and then it leads nowhere.
    pub endless: bool,
    /// In an atomic sequence that it begins control may go to other processes, or it takes what another one
    /// offers there: then that one's step and its own may lead to the same state on the way.
    pub shares_control: bool,
    /// It is the end of the process.
    pub ends: bool,
    /// Whether it is executable depends on `timeout`.
    pub timeout: bool,
    /// What kinds of process it may start.
    pub starts: Vec<ProctypeId>,
    /// It may close a circle of locations: every such circle, of any process, has one of these.
    pub sticky: bool,
}

impl Mark {
    /// Whether it is perhaps executable only because of `timeout`, on which a partner may depend.
    pub fn asks(&self) -> bool {
        self.timeout || !self.partners.is_empty()
    }

    /// Whether steps of two different processes may not commute in a state in which both are enabled.
    #[inline]
    pub fn conflicts_with(&self, other: &Mark) -> bool {
        self.everything || other.everything || self.conflicts.meets(&other.accesses)
    }

    /// Whether a step of another process may make it executable, or be its counterpart in a rendezvous.
    pub fn may_be_enabled_by(&self, other: &Mark) -> bool {
        self.everything || self.enablers.meets(&other.accesses) || self.partners.meets(&other.accesses)
    }

    /// What several steps access, all together.
    pub fn union(marks: &[Mark]) -> Mark {
        let mut all = Mark::default();
        for mark in marks {
            all.accesses.add_all(&mark.accesses);
            all.conflicts.add_all(&mark.conflicts);
            all.everything |= mark.everything;
        }
        all
    }
}

/// What may enable a plain receive that is not executable.
#[derive(Clone, Debug, Default)]
pub struct Taking {
    /// The channel.
    pub number: u32,
    /// While there is no message: what brings one.
    pub while_empty: BitSet,
    /// While there is one, which does not fit: what takes it away or changes what fits. A message behind it
    /// does not help.
    pub while_filled: BitSet,
}

/// What is accessed by others when a process hands over control in a rendezvous: reads and writes, seen from
/// outside.
pub type HandOver = BTreeMap<ChanTypeId, (Region, Region)>;

/// For every rendezvous channel declaration, what its receivers access, with the atomic sequences that they
/// enter.
pub fn hand_over(analysis: &Analysis<'_>, facts: &Facts) -> HandOver {
    let program = analysis.program;
    let rendezvous = (0..program.chan_types.len() as u32).map(ChanTypeId);
    let rendezvous = rendezvous.filter(|ty| program.chan_types[ty.index()].capacity == 0);
    rendezvous.map(|ty| (ty, handed_over(analysis, facts, ty))).collect()
}

fn handed_over(analysis: &Analysis<'_>, facts: &Facts, ty: ChanTypeId) -> (Region, Region) {
    let program = analysis.program;
    let mut seen: BTreeSet<(ProctypeId, EdgeId)> = BTreeSet::new();
    let mut open: Vec<(ProctypeId, EdgeId)> = receivers(analysis, ty);
    let (mut reads, mut writes) = (Region::default(), Region::default());
    while let Some((id, edge)) = open.pop() {
        if !seen.insert((id, edge)) {
            continue;
        }
        let access = facts.edge(id, edge);
        let own = facts.channels.of_process(id);
        reads.add(&access.guard.0.from_outside(id, own));
        reads.add(&access.effect.0.from_outside(id, own));
        writes.add(&access.writes.0.from_outside(id, own));
        let proctype = program.proctype(id);
        let taken = proctype.edge(edge);
        if taken.atomic {
            open.extend(proctype.location(taken.to).edges.iter().map(|edge| (id, *edge)));
        }
        for meant in sends_to(analysis, Who::any(id), taken) {
            if program.chan_types[meant.index()].capacity == 0 {
                open.extend(receivers(analysis, meant));
            }
        }
    }
    (reads, writes)
}

/// All edges that may receive from channels of a declaration.
fn receivers(analysis: &Analysis<'_>, ty: ChanTypeId) -> Vec<(ProctypeId, EdgeId)> {
    let mut found = Vec::new();
    for (p, proctype) in analysis.program.proctypes.iter().enumerate() {
        let who = Who::any(ProctypeId(p as u32));
        for (e, edge) in proctype.edges.iter().enumerate() {
            let takes = |chan: &&Expr| analysis.meant_by(who, chan, true).iter().any(|meant| meant.ty == ty);
            if received_from(proctype, edge).iter().any(takes) {
                found.push((who.id, EdgeId(e as u32)));
            }
        }
    }
    found
}

fn sends_to(analysis: &Analysis<'_>, who: Who<'_>, edge: &Edge) -> Vec<ChanTypeId> {
    match &edge.action {
        Action::Send { chan, .. } => {
            analysis.meant_by(who, chan, false).iter().map(|meant| meant.ty).collect()
        }
        _ => Vec::new(),
    }
}

/// The channels from which an edge may take a message that is on offer.
fn received_from<'p>(proctype: &'p Proctype, edge: &'p Edge) -> Vec<&'p Expr> {
    match &edge.action {
        Action::Receive { chan, .. } => vec![chan],
        Action::DStep { entry, guards, .. } => {
            let places = [Some(*entry), *guards].into_iter().flatten();
            let edges = places.flat_map(|at| &proctype.location(at).edges).map(|id| proctype.edge(*id));
            let received = edges.filter_map(|edge| match &edge.action {
                Action::Receive { chan, .. } => Some(chan),
                _ => None,
            });
            received.collect()
        }
        _ => Vec::new(),
    }
}

/// Makes the marks of one process.
pub struct Marker<'a> {
    program: &'a Program,
    analysis: &'a Analysis<'a>,
    hand_over: &'a HandOver,
    who: Who<'a>,
    access: Vec<Access>,
    /// The declarations of the channels that the process knows by number.
    numbers: BTreeMap<u32, BTreeSet<ChanTypeId>>,
}

impl<'a> Marker<'a> {
    /// For a process.
    pub fn new(analysis: &'a Analysis<'a>, hand_over: &'a HandOver, who: Who<'a>) -> Self {
        let program = analysis.program;
        let access = analysis.edges(who);
        let mut numbers: BTreeMap<u32, BTreeSet<ChanTypeId>> = BTreeMap::new();
        let mut note = |chan: &Expr| {
            for meant in analysis.meant(who, chan) {
                if let Some(number) = meant.number {
                    numbers.entry(number).or_default().insert(meant.ty);
                }
            }
        };
        let proctype = program.proctype(who.id);
        let mut parts = |expr: &Expr| {
            if let ExprKind::Chan(_, chan) | ExprKind::Poll { chan, .. } = &expr.kind {
                note(chan);
            }
        };
        proctype.provided.iter().for_each(|expr| visit::walk(expr, &mut parts));
        for edge in &proctype.edges {
            visit::walk_action(&edge.action, &mut parts);
        }
        for edge in &proctype.edges {
            if let Action::Send { chan, .. } | Action::Receive { chan, .. } = &edge.action {
                note(chan);
            }
        }
        Marker { program, analysis, hand_over, who, access, numbers }
    }

    /// What every edge may access by itself.
    pub fn accesses(&self) -> &[Access] {
        &self.access
    }

    /// The marks of all edges; `visible` is what a property would notice. Given up when it is to `stop`.
    pub fn marks(&self, objects: &mut Objects, visible: &Visible, stop: &Stop) -> Vec<Mark> {
        let proctype = self.program.proctype(self.who.id);
        let mut escapes = vec![false; proctype.edges.len()];
        for Location { edges, .. } in &proctype.locations {
            if edges.iter().any(|id| proctype.edge(*id).escape.is_some()) {
                edges.iter().for_each(|id| escapes[id.index()] = true);
            }
        }
        let back = back_edges(proctype);
        let passes = visible.places.passed_by(self.who.id, proctype);
        let ids = (0..proctype.edges.len() as u32).map(EdgeId);
        let continues: Vec<bool> = proctype.edges.iter().map(|edge| self.continues(edge)).collect();
        let alone: Vec<Rest> = ids
            .clone()
            .map(|id| {
                stop.check();
                self.alone(id, (back[id.index()], passes[id.index()]), objects)
            })
            .collect();
        let sequences = Sequences::new(proctype, &continues, alone, stop);
        let mark = |id: EdgeId| {
            stop.check();
            let (rest, back) = (sequences.after(proctype, id), back[id.index()]);
            // Those to whom control is handed may pass places as well.
            let passed = rest.passes || rest.hands_over && !visible.places.is_empty();
            let seen = visible.all || passes[id.index()] || passed;
            let mut mark = self.mark(id, escapes[id.index()], rest, objects, (visible, seen));
            // Others to whom control is handed may close circles of their own.
            mark.sticky = back || rest.closes || rest.hands_over;
            mark.shares_control = mark.begins && (!mark.partners.is_empty() || rest.hands_over);
            let hands_over = rest.hands_over || self.may_hand_over(proctype.edge(id));
            mark.endless = mark.begins && (back || rest.goes_round || hands_over);
            mark
        };
        ids.map(mark).collect()
    }

    /// An edge as a later one of a step, with nothing behind it; `back`: it closes a circle of locations,
    /// `passes`: it passes a place that a property would notice.
    fn alone(&self, id: EdgeId, (back, passes): (bool, bool), objects: &mut Objects) -> Rest {
        let edge = self.program.proctype(self.who.id).edge(id);
        let access = &self.access[id.index()];
        let mut sets = AccessSets::new(objects);
        let mut everything = false;
        self.edge(&mut sets, edge, access, &[], &mut everything);
        for (reads, writes) in self.handed(edge) {
            self.reads(&mut sets, reads, false, &[], &mut everything);
            self.writes(&mut sets, writes, true, &[]);
        }
        let regions = [&access.guard.0, &access.effect.0, &access.writes.0];
        Rest {
            accesses: sets.accesses,
            conflicts: sets.conflicts,
            everything,
            channels: regions.iter().flat_map(|region| region.channels.keys().copied()).collect(),
            hands_over: self.may_hand_over(edge),
            closes: back,
            goes_round: back && edge.atomic,
            passes,
        }
    }

    fn mark(
        &self,
        id: EdgeId,
        escapes: bool,
        rest: &Rest,
        objects: &mut Objects,
        (visible, seen): (&Visible, bool),
    ) -> Mark {
        let proctype = self.program.proctype(self.who.id);
        let edge = proctype.edge(id);
        let access = &self.access[id.index()];
        let mut everything = false;
        let mut sets = AccessSets::new(objects);
        let plain = if escapes { None } else { self.plain(edge, rest) };
        let (bounded, sequence) = self.bounded(edge);
        let aside: Vec<&Target> = plain.iter().chain(bounded.iter().map(|of| &of.target)).collect();
        self.edge(&mut sets, edge, access, &aside, &mut everything);
        bounded.iter().for_each(|of| of.note(&mut sets));
        if let Some(target) = &plain {
            let number = target.number.unwrap_or(0);
            match edge.action {
                Action::Send { .. } => sets.append(number, &target.types),
                _ => sets.take(number, &target.types),
            }
        }
        if bounded.is_empty() {
            sets.accesses.add_all(&rest.accesses);
            sets.conflicts.add_all(&rest.conflicts);
        }
        // Bounded channels aside, so one edge after another.
        for id in sequence.iter().filter(|_| !bounded.is_empty()) {
            let access = &self.access[id.index()];
            self.edge(&mut sets, proctype.edge(*id), access, &aside, &mut everything);
        }
        everything |= rest.everything;
        let partners = self.rendezvous(&mut sets, proctype, edge);
        if seen || sets.accesses.meets(&visible.accesses) {
            sets.add(Object::Visible, &[Object::Visible]);
        }
        let starts = |access: &Access| match &access.writes.0.controls {
            Proctypes::These(set) => set.iter().copied().collect(),
            Proctypes::All => Vec::new(),
        };
        let AccessSets { accesses, conflicts, .. } = sets;
        let mut mark = Mark {
            accesses,
            conflicts,
            everything,
            partners,
            own_guard: !access.guard.0.own.is_empty(),
            accepts: self.surely_accepts(edge),
            begins: edge.atomic,
            ends: matches!(edge.action, Action::End),
            timeout: access.guard.0.timeout,
            starts: starts(access),
            ..Mark::default()
        };
        self.enablers(&mut mark, objects, edge, access, plain.as_ref());
        mark.parts = self.parts(objects, edge);
        mark
    }

    /// The parts of a guard of several parts, as far as they can be evaluated and none in front of them can
    /// go wrong.
    fn parts(&self, objects: &mut Objects, edge: &Edge) -> Vec<Part> {
        let mut parts = Vec::new();
        for expr in guard::several_conjuncts(self.program.proctype(self.who.id), edge) {
            let length = self.length_test(objects, expr);
            match () {
                () if length.is_some() || guard::is_plain(expr) => {
                    parts.push(Part { length, ..self.part(objects, expr) });
                }
                // It cannot go wrong, but is not seen in a state.
                () if matches!(expr.kind, ExprKind::Timeout) => {}
                () => break,
            }
        }
        parts
    }

    /// A part of a guard, and what may change its value.
    pub fn part(&self, objects: &mut Objects, expr: &Expr) -> Part {
        let region = self.read_by(expr);
        let changers = self.changers(objects, &region);
        Part { expr: expr.clone(), changers, own: !region.own.is_empty(), length: None }
    }

    /// What the process looks at with an expression.
    pub fn read_by(&self, expr: &Expr) -> Region {
        self.analysis.read_by(self.who, expr)
    }

    /// What others must access to change what a region of the process holds.
    pub fn changers(&self, objects: &mut Objects, region: &Region) -> BitSet {
        let mut sets = AccessSets::new(objects);
        self.reads(&mut sets, region, false, &[], &mut false);
        let mut changers = sets.conflicts;
        // Who only looks at variables changes none.
        changers.remove(objects.number(Object::ReadLocals(self.who.id)));
        changers
    }

    /// What makes an edge executable that is not.
    fn enablers(
        &self,
        mark: &mut Mark,
        objects: &mut Objects,
        edge: &Edge,
        access: &Access,
        plain: Option<&Target>,
    ) {
        let mut guard = AccessSets::new(objects);
        let mut everything = false;
        self.reads(&mut guard, &access.guard.0, false, &[], &mut everything);
        mark.everything |= everything;
        mark.enablers = guard.conflicts;
        let provided = self.program.proctype(self.who.id).provided.is_some();
        let Some(target) = plain.filter(|_| !provided) else { return };
        let mut needed = AccessSets::new(objects);
        match edge.action {
            // Nothing but a full channel keeps a plain send from being executable.
            Action::Send { .. } => {
                needed.drain(target);
                mark.enablers = needed.conflicts;
                mark.own_guard = false;
            }
            _ => {
                let Some(number) = target.number else { return };
                needed.fill(target);
                let while_empty = needed.conflicts;
                let mut while_filled = mark.enablers.clone();
                while_filled.remove(objects.number(Object::Append(number)));
                mark.taking = Some(Taking { number, while_empty, while_filled });
            }
        }
    }

    /// Whether the process may go on behind an edge before control is given back.
    fn continues(&self, edge: &Edge) -> bool {
        // After a rendezvous it is the receiver who has control, or nobody.
        edge.atomic && !self.surely_rendezvous(edge)
    }

    /// The edges that may follow before control is given back.
    pub fn sequence(&self, edge: &Edge) -> BTreeSet<EdgeId> {
        let proctype = self.program.proctype(self.who.id);
        let mut found = BTreeSet::new();
        let mut open: Vec<&Edge> = vec![edge];
        while let Some(edge) = open.pop() {
            if !self.continues(edge) {
                continue;
            }
            for &id in &proctype.location(edge.to).edges {
                if found.insert(id) {
                    open.push(proctype.edge(id));
                }
            }
        }
        found
    }

    /// Whether an edge may be a send to a rendezvous channel.
    pub fn may_hand_over(&self, edge: &Edge) -> bool {
        let types = sends_to(self.analysis, self.who, edge);
        types.iter().any(|ty| self.program.chan_types[ty.index()].capacity == 0)
    }

    /// Whether an edge is a send to rendezvous channels only.
    pub fn surely_rendezvous(&self, edge: &Edge) -> bool {
        let Action::Send { .. } = edge.action else { return false };
        let types = sends_to(self.analysis, self.who, edge);
        !types.is_empty() && types.iter().all(|ty| self.program.chan_types[ty.index()].capacity == 0)
    }

    fn surely_accepts(&self, edge: &Edge) -> bool {
        let Action::Receive { chan, .. } = &edge.action else { return false };
        let meant = self.analysis.meant(self.who, chan);
        !meant.is_empty() && meant.iter().all(|m| self.program.chan_types[m.ty.index()].capacity == 0)
    }

    /// What others may access when a process sends along an edge and hands control over: reads and writes.
    pub fn handed(&self, edge: &Edge) -> impl Iterator<Item = &(Region, Region)> {
        sends_to(self.analysis, self.who, edge).into_iter().filter_map(|ty| self.hand_over.get(&ty))
    }

    /// The channel of a plain send or receive that is the only use of its channel in the whole step.
    fn plain(&self, edge: &Edge, rest: &Rest) -> Option<Target> {
        let (chan, arguments) = match &edge.action {
            Action::Send { chan, sorted: false, args } => (chan, args.iter().collect::<Vec<_>>()),
            Action::Receive { chan, random: false, keep: false, .. } => (chan, Vec::new()),
            _ => return None,
        };
        let proctype = self.program.proctype(self.who.id);
        if self.program.trace.is_some() || proctype.deterministic || arguments.into_iter().any(asks_channel) {
            return None;
        }
        let mut other = false;
        visit::walk_action(&edge.action, &mut |part| {
            other |= matches!(part.kind, ExprKind::Chan(..) | ExprKind::Poll { .. });
        });
        proctype.provided.iter().for_each(|expr| other |= asks_channel(expr));
        let receive = matches!(edge.action, Action::Receive { .. });
        let meant = self.analysis.meant_by(self.who, chan, receive);
        let number = meant.first()?.number?;
        let one = meant.iter().all(|m| m.number == Some(number));
        let types: Vec<ChanTypeId> = meant.iter().map(|m| m.ty).collect();
        if other || !one || types.iter().any(|ty| self.program.chan_types[ty.index()].capacity == 0) {
            return None;
        }
        let target = Target { number: Some(number), types };
        let again = rest.hands_over || rest.channels.iter().any(|name| self.same(*name, &target));
        (!again).then_some(target)
    }

    /// Whether a name may mean the channel.
    fn same(&self, name: ChannelName, target: &Target) -> bool {
        let named = self.target(name);
        match (named.number, target.number) {
            (Some(a), Some(b)) => a == b,
            _ => named.types.iter().any(|ty| target.types.contains(ty)),
        }
    }

    fn target(&self, name: ChannelName) -> Target {
        let channels = &self.analysis.channels;
        let own = channels.of_process(self.who.id);
        match name {
            ChannelName::Global(n) => Target {
                number: Some(n),
                types: channels.globals.get(n as usize).copied().into_iter().collect(),
            },
            ChannelName::Own(n) => {
                let first = self.who.known.and_then(|known| known.first_channel);
                let number = first.map(|first| first + n);
                Target { number, types: own.get(n as usize).copied().into_iter().collect() }
            }
            ChannelName::Declared(ty) => Target { number: None, types: vec![ty] },
            ChannelName::Number(n) => {
                let types = self.numbers.get(&n).into_iter().flatten().copied().collect();
                Target { number: Some(n), types }
            }
        }
    }

    /// What one edge accesses by itself, its use of some channels aside.
    fn edge(
        &self,
        sets: &mut AccessSets<'_>,
        edge: &Edge,
        access: &Access,
        aside: &[&Target],
        everything: &mut bool,
    ) {
        let ends = matches!(edge.action, Action::End);
        self.reads(sets, &access.guard.0, ends, aside, everything);
        let started = starts_only(self.program, &edge.action);
        if started {
            // Its own new variables, which nobody else has.
            let region = Region { others: BTreeMap::new(), ..access.effect.0.clone() };
            self.reads(sets, &region, ends, aside, everything);
        } else {
            self.reads(sets, &access.effect.0, ends, aside, everything);
        }
        self.writes(sets, &access.writes.0, false, aside);
        if access.writes.0.processes {
            match ends {
                true => sets.add(Object::End, &[Object::ReadProcesses, Object::Run]),
                false => sets.add(Object::Run, &[Object::ReadProcesses, Object::Run, Object::End]),
            }
        }
    }

    fn reads(
        &self,
        sets: &mut AccessSets<'_>,
        region: &Region,
        ends: bool,
        aside: &[&Target],
        everything: &mut bool,
    ) {
        region.globals.iter().for_each(|cell| sets.read_cell(cell));
        let id = self.who.id;
        if !region.own.is_empty() {
            sets.add(Object::OwnLocals(id), &[Object::ReadLocals(id), Object::WriteLocals(id)]);
        }
        for &id in region.others.keys() {
            let conflict = [Object::OwnLocals(id), Object::WriteLocals(id), Object::New(id)];
            sets.add(Object::ReadLocals(id), &conflict);
        }
        for id in self.ids(&region.controls) {
            let conflict = [Object::OwnControl(id), Object::WriteControl(id), Object::New(id)];
            sets.add(Object::ReadControl(id), &conflict);
        }
        for (name, aspects) in &region.channels {
            let target = self.target(*name);
            if aside.iter().all(|aside| aside.number != target.number) {
                sets.read_channel(&target, *aspects);
            }
        }
        if region.processes && !ends {
            sets.add(Object::ReadProcesses, &[Object::Run, Object::End]);
        }
        if region.last || region.trace {
            sets.add(Object::Sequence, &[Object::Sequence]);
        }
        *everything |= region.everything;
    }

    /// What is written; `handed`: by others, to whom control was handed over.
    fn writes(&self, sets: &mut AccessSets<'_>, region: &Region, handed: bool, aside: &[&Target]) {
        region.globals.iter().for_each(|cell| sets.write_cell(cell));
        let id = self.who.id;
        if !region.own.is_empty() {
            sets.add(Object::OwnLocals(id), &[Object::ReadLocals(id), Object::WriteLocals(id)]);
        }
        if region.own_control {
            sets.add(Object::OwnControl(id), &[Object::ReadControl(id), Object::WriteControl(id)]);
        }
        let written: BTreeSet<ProctypeId> = region.others.keys().copied().collect();
        for id in self.ids(&region.controls).into_iter().chain(written) {
            let looks = [Object::ReadControl(id), Object::ReadLocals(id)];
            let moves = [Object::OwnControl(id), Object::OwnLocals(id), Object::New(id)];
            let writes = [Object::WriteControl(id), Object::WriteLocals(id)];
            sets.add(Object::New(id), &[looks, writes].concat());
            if handed {
                let conflict = [&looks[..], &moves, &writes].concat();
                writes.iter().for_each(|object| sets.add(*object, &conflict));
            }
        }
        for (name, aspects) in &region.channels {
            let target = self.target(*name);
            if aside.iter().all(|aside| aside.number != target.number) {
                sets.write_channel(&target, *aspects);
            }
        }
        if handed && region.processes {
            sets.add(Object::Run, &[Object::ReadProcesses, Object::Run, Object::End]);
            sets.add(Object::End, &[]);
        }
        if region.last || region.trace {
            sets.add(Object::Sequence, &[Object::Sequence]);
        }
    }

    fn ids(&self, proctypes: &Proctypes) -> Vec<ProctypeId> {
        let all = (0..self.program.proctypes.len() as u32).map(ProctypeId);
        all.filter(|id| proctypes.contains(*id)).collect()
    }

    /// Notes the rendezvous that an edge may take part in as the first step; returns their counterparts.
    fn rendezvous(&self, sets: &mut AccessSets<'_>, proctype: &Proctype, edge: &Edge) -> BitSet {
        let mut partners = BitSet::default();
        let mut note = |chan: &Expr, offers: bool| {
            for meant in self.analysis.meant(self.who, chan) {
                if self.program.chan_types[meant.ty.index()].capacity == 0 {
                    let target = Target { number: meant.number, types: vec![meant.ty] };
                    partners.add_all(&sets.rendezvous(&target, offers));
                }
            }
        };
        if let Action::Send { chan, .. } = &edge.action {
            note(chan, true);
        }
        received_from(proctype, edge).into_iter().for_each(|chan| note(chan, false));
        partners
    }

    /// Adds what would change what an expression without a process looks at.
    pub fn watch(&self, objects: &mut Objects, expr: &Expr, visible: &mut Visible) {
        let mut sets = AccessSets::new(objects);
        let region = self.analysis.looked_at_but(expr, Places::cover);
        self.reads(&mut sets, &region, false, &[], &mut visible.all);
        // Any step may change whose turn it is, who was last, and whether something can happen at all.
        visible.all |= region.timeout || region.priorities || region.last || region.trace;
        visible.accesses.add_all(&sets.conflicts);
    }

    /// Adds what would make or end processes at whose places a property looks.
    pub fn watch_places(objects: &mut Objects, places: Places, visible: &mut Visible) {
        for &id in &places.existence {
            visible.accesses.add(objects.number(Object::New(id)));
        }
        if places.numbers {
            visible.accesses.add(objects.number(Object::Run));
            visible.accesses.add(objects.number(Object::End));
        }
        visible.places = places;
    }
}

/// Edges such that every circle of locations has one: those that lead back on the path of a depth-first
/// search.
fn back_edges(proctype: &Proctype) -> Vec<bool> {
    const NEW: u8 = 0;
    const ON_PATH: u8 = 1;
    const DONE: u8 = 2;
    let mut back = vec![false; proctype.edges.len()];
    let mut colour = vec![NEW; proctype.locations.len()];
    for root in 0..proctype.locations.len() {
        if colour[root] != NEW {
            continue;
        }
        colour[root] = ON_PATH;
        let mut path = vec![(root, 0)];
        while let Some((at, next)) = path.last_mut() {
            let Some(&id) = proctype.locations[*at].edges.get(*next) else {
                colour[*at] = DONE;
                path.pop();
                continue;
            };
            *next += 1;
            let to = proctype.edge(id).to.index();
            match colour[to] {
                NEW => {
                    colour[to] = ON_PATH;
                    path.push((to, 0));
                }
                ON_PATH => back[id.index()] = true,
                _ => {}
            }
        }
    }
    back
}

fn asks_channel(expr: &Expr) -> bool {
    let mut found = false;
    visit::walk(expr, &mut |part| found |= matches!(part.kind, ExprKind::Chan(..) | ExprKind::Poll { .. }));
    found
}

/// Whether a statement starts a process and refers to variables of others in no other way.
fn starts_only(program: &Program, action: &Action) -> bool {
    let remote = |expr: &Expr| {
        let mut found = false;
        visit::walk(expr, &mut |part| found |= matches!(part.kind, ExprKind::RemoteVar { .. }));
        found
    };
    let (mut starts, mut refers) = (false, matches!(action, Action::DStep { .. }));
    visit::walk_action(action, &mut |part| match &part.kind {
        ExprKind::Run { proctype, .. } => {
            starts = true;
            refers |= program.proctype(*proctype).init.iter().any(|step| match step {
                promela::ir::InitStep::Assign(_, expr) => remote(expr),
                promela::ir::InitStep::NewChan(..) => false,
            });
        }
        ExprKind::RemoteVar { .. } => refers = true,
        _ => {}
    });
    starts && !refers
}
