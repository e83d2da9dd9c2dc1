//! What every edge of every proctype may read and write: the first part of what reductions must know.
//!
//! Reads are told apart: those that decide whether the edge is executable ([`Access::guard`]), and those that
//! decide what it does ([`Access::effect`]). The rules of the reference machine are followed one by one:
//! - `else` and escapes look at the other edges of the location, `provided` clauses at what they say,
//!   `enabled` and priorities at everything, `timeout` at whether anybody can move;
//! - a rendezvous needs a partner, so where it matters that there is *some* partner, everything that makes
//!   one ready is read; a rendezvous itself is the access of the sender and that of the receiver together;
//! - inside an atomic sequence the process keeps control if it can go on, so the guards at the target are
//!   read;
//! - a d_step is everything inside; a trace assertion sees every send and receive;
//! - dead variables are reset where a process arrives: that is a write.

use std::collections::{BTreeMap, BTreeSet};

use promela::ir::{
    Action, Base, ChanOp, ChanTypeId, Edge, EdgeId, Expr, ExprKind, InitStep, LocId, Place, Proctype,
    ProctypeId, Program, RecvArg, visit,
};

use super::footprint::extent;
use super::known::{Meant, Who};
use super::region::{Aspects, ChannelName, Channels, May, Must, Proctypes, Region};
use super::{Cells, Footprint, Points};

/// What an edge may touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Whether it is executable depends on nothing else.
    pub guard: May<Region>,
    /// What it does depends on nothing else but this and the guard.
    pub effect: May<Region>,
    /// It changes nothing else.
    pub writes: May<Region>,
    /// Own cells that it surely writes, whatever they held.
    pub kills: Must<Cells>,
}

/// What is known of a program.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// For every proctype and edge.
    access: Vec<Vec<Access>>,
    /// Which channels can be named.
    pub channels: Channels,
}

impl Facts {
    /// The facts about a program, as it is: reductions come first.
    pub fn new(program: &Program) -> Self {
        let analysis = Analysis::new(program);
        let ids = (0..program.proctypes.len() as u32).map(ProctypeId);
        let access = ids.map(|id| analysis.edges(Who::any(id))).collect();
        Facts { access, channels: analysis.channels }
    }

    /// What an edge may touch.
    pub fn edge(&self, proctype: ProctypeId, edge: EdgeId) -> &Access {
        &self.access[proctype.index()][edge.index()]
    }

    /// The access of an edge, to be changed: for tests of what relies on it.
    pub fn edge_mut(&mut self, proctype: ProctypeId, edge: EdgeId) -> &mut Access {
        &mut self.access[proctype.index()][edge.index()]
    }
}

/// Finds out what processes touch: those of a proctype, or one of which more is known.
#[derive(Debug)]
pub struct Analysis<'p> {
    /// The program.
    pub program: &'p Program,
    points: Points,
    /// Which channels can be named.
    pub channels: Channels,
    /// For every rendezvous channel declaration, what makes somebody ready to receive from it, seen from
    /// outside.
    partners: BTreeMap<ChanTypeId, Region>,
    /// What the trace assertion looks at.
    trace: Region,
    /// For every proctype the declarations of channels to which its processes do not send, and from which
    /// they do not receive, because others promise so.
    kept_from: Vec<[BTreeSet<u32>; 2]>,
}

/// What the statements of a process touch.
#[derive(Default)]
struct Effect {
    reads: Region,
    writes: Region,
}

impl Effect {
    /// Where one step changes a channel and then looks at it, what is seen depends on more than what was
    /// looked at: whether a channel is full after a send, on how many messages there were before. And several
    /// changes together are more than each.
    fn one_after_another(&mut self, several: bool) {
        if !self.writes.channels.is_empty() {
            self.reads.channels.values_mut().for_each(|aspects| *aspects = Aspects::ALL);
            if several {
                self.writes.channels.values_mut().for_each(|aspects| *aspects = Aspects::ALL);
            }
        }
    }
}

impl<'p> Analysis<'p> {
    /// An analysis of a program.
    pub fn new(program: &'p Program) -> Self {
        Analysis::relying_on(program, &[])
    }

    /// An analysis of a program that relies on some of its promises (by their places in
    /// [`Program::promises`]), each about a channel that a global variable always names.
    pub fn relying_on(program: &'p Program, promises: &[usize]) -> Self {
        let channels = Channels {
            globals: created(&program.init),
            own: program.proctypes.iter().map(|p| created(&p.init)).collect(),
        };
        let points = Points::sure(program);
        let mut analysis = Analysis {
            program,
            points,
            channels,
            partners: BTreeMap::new(),
            trace: Region::default(),
            kept_from: Vec::new(),
        };
        analysis.keep_from(promises);
        if let Some(id) = program.trace {
            let mut region = Region { trace: true, ..Region::default() };
            for edge in &program.proctype(id).edges {
                visit::walk_action(&edge.action, &mut |expr| analysis.expr(&mut region, None, expr));
            }
            analysis.trace = region;
        }
        analysis.find_partners();
        analysis
    }

    fn keep_from(&mut self, promises: &[usize]) {
        self.kept_from = vec![Default::default(); self.program.proctypes.len()];
        for promise in promises.iter().filter_map(|&place| self.program.promises.get(place)) {
            for ty in self.meant(Who::any(promise.proctype), &promise.chan).iter().map(|meant| meant.ty.0) {
                for (p, kept) in self.kept_from.iter_mut().enumerate() {
                    if p != promise.proctype.index() {
                        kept[usize::from(promise.receive)].insert(ty);
                    }
                }
            }
        }
    }

    /// The declarations of the channels that a statement does not use: a receive (or a send).
    fn kept_from(&self, who: Option<Who<'_>>, receive: bool) -> Option<&BTreeSet<u32>> {
        Some(&self.kept_from.get(who?.id.index())?[usize::from(receive)])
    }

    /// The channels to which a send (or a receive) may go.
    pub fn meant_by(&self, who: Who<'_>, chan: &Expr, receive: bool) -> Vec<Meant> {
        let mut meant = self.meant(who, chan);
        if let Some(kept) = self.kept_from(Some(who), receive) {
            meant.retain(|meant| !kept.contains(&meant.ty.0));
        }
        meant
    }

    fn find_partners(&mut self) {
        let rendezvous = self.program.chan_types.iter().enumerate().filter(|(_, ty)| ty.capacity == 0);
        let rendezvous: Vec<ChanTypeId> = rendezvous.map(|(i, _)| ChanTypeId(i as u32)).collect();
        if rendezvous.is_empty() {
            return;
        }
        let mut partners: BTreeMap<ChanTypeId, Region> = BTreeMap::new();
        for (number, proctype) in self.program.proctypes.iter().enumerate() {
            let id = ProctypeId(number as u32);
            let who = Who::any(id);
            for location in &proctype.locations {
                let types = self.received(who, location.edges.iter().map(|edge| proctype.edge(*edge)));
                if types.is_empty() {
                    continue;
                }
                let mut region = Region { own_control: true, ..Region::default() };
                self.permission(&mut region, who);
                location.edges.iter().for_each(|&edge| self.ready(&mut region, who, proctype.edge(edge)));
                let region = region.from_outside(id, self.channels.of_process(id));
                for ty in rendezvous.iter().filter(|ty| types.contains(ty)) {
                    partners.entry(*ty).or_default().add(&region);
                }
            }
        }
        self.partners = partners;
    }

    /// The declarations of channels from which one of the edges may receive.
    fn received<'e>(&self, who: Who<'_>, edges: impl Iterator<Item = &'e Edge>) -> BTreeSet<ChanTypeId> {
        let proctype = self.program.proctype(who.id);
        let mut types = BTreeSet::new();
        for edge in edges {
            match &edge.action {
                Action::Receive { chan, .. } => {
                    types.extend(self.points.of(chan, Some(who.id.index())).into_iter().map(ChanTypeId));
                }
                Action::DStep { entry, guards, .. } => {
                    for at in [Some(*entry), *guards].into_iter().flatten() {
                        let edges = proctype.location(at).edges.iter().map(|id| proctype.edge(*id));
                        let plain = edges.filter(|edge| !matches!(edge.action, Action::DStep { .. }));
                        types.extend(self.received(who, plain.collect::<Vec<_>>().into_iter()));
                    }
                }
                _ => {}
            }
        }
        types
    }

    /// What every edge of a process may touch.
    pub fn edges(&self, who: Who<'_>) -> Vec<Access> {
        let proctype = self.program.proctype(who.id);
        let mut listed: Vec<Vec<LocId>> = vec![Vec::new(); proctype.edges.len()];
        for (number, location) in proctype.locations.iter().enumerate() {
            location.edges.iter().for_each(|edge| listed[edge.index()].push(LocId(number as u32)));
        }
        // Where a process may be in control of an atomic sequence: its next step takes that away or keeps it.
        let mut held = vec![false; proctype.locations.len()];
        proctype.edges.iter().filter(|edge| edge.atomic).for_each(|edge| held[edge.to.index()] = true);
        let edges = proctype.edges.iter().zip(&listed);
        let access = |(edge, listed): (&Edge, &Vec<LocId>)| {
            let mut access = self.edge(who, proctype, edge, listed);
            access.writes.0.exclusive |= listed.iter().any(|at| held[at.index()]);
            access
        };
        edges.map(access).collect()
    }

    /// An edge that these locations list.
    fn edge(&self, who: Who<'_>, proctype: &Proctype, edge: &Edge, listed: &[LocId]) -> Access {
        let mut guard = Region { own_control: true, ..Region::default() };
        self.permission(&mut guard, who);
        self.ready(&mut guard, who, edge);
        for &at in listed {
            let escapes = proctype.location(at).edges.iter().any(|id| proctype.edge(*id).escape.is_some());
            if escapes || matches!(edge.action, Action::Else) {
                self.executable_at(&mut guard, who, proctype, at);
            }
        }
        let mut effect = Effect::default();
        self.effect(&mut effect, who, proctype, edge);
        if edge.atomic {
            effect.writes.exclusive = true;
            self.permission(&mut effect.reads, who);
            self.executable_at(&mut effect.reads, who, proctype, edge.to);
        }
        let d_step = matches!(edge.action, Action::DStep { .. });
        if edge.atomic || d_step {
            effect.one_after_another(d_step);
        }
        if proctype.deterministic {
            listed.iter().for_each(|&at| self.executable_at(&mut effect.reads, who, proctype, at));
        }
        effect.writes.own_control = true;
        effect.writes.last = self.program.uses.last;
        if !matches!(edge.action, Action::End) {
            proctype.location(edge.to).dead.iter().for_each(|&cell| effect.writes.own.add(cell, cell + 1));
        }
        let kills = Must(Footprint::of(edge).kills);
        Access { guard: May(guard), effect: May(effect.reads), writes: May(effect.writes), kills }
    }

    /// What a process needs besides: its `provided` clause, priorities.
    fn permission(&self, region: &mut Region, who: Who<'_>) {
        let provided = &self.program.proctype(who.id).provided;
        provided.iter().for_each(|expr| self.whole_expr(region, Some(who), expr));
        region.everything |= self.program.uses.priority;
    }

    /// What decides which edges of a location are executable, rendezvous with their partners.
    fn executable_at(&self, region: &mut Region, who: Who<'_>, proctype: &Proctype, at: LocId) {
        for &edge in &proctype.location(at).edges {
            let edge = proctype.edge(edge);
            self.ready(region, who, edge);
            if let Action::Send { chan, .. } = &edge.action {
                for ty in self.points.of(chan, Some(who.id.index())) {
                    self.partners.get(&ChanTypeId(ty)).iter().for_each(|partners| region.add(partners));
                }
            }
        }
    }

    /// What decides whether an edge is executable, other edges and partners aside.
    fn ready(&self, region: &mut Region, who: Who<'_>, edge: &Edge) {
        match &edge.action {
            Action::Guard(expr) => self.whole_expr(region, Some(who), expr),
            Action::Receive { chan, random, args, .. } => {
                self.whole_expr(region, Some(who), chan);
                self.message(region, Some(who), (chan, true), *random, args);
            }
            Action::Send { chan, args, .. } => {
                self.whole_expr(region, Some(who), chan);
                self.used(region, Some(who), (chan, false), Aspects::FULL);
                if self.may_be_rendezvous(who, chan) {
                    // What is offered decides who takes it, and an error in it shows itself at once.
                    args.iter().for_each(|arg| self.whole_expr(region, Some(who), arg));
                    region.add(&self.trace);
                }
            }
            Action::Lock(place) => self.read_place(region, Some(who), place),
            Action::End => region.processes = true,
            Action::DStep { entry, guards, .. } => {
                let proctype = self.program.proctype(who.id);
                for &edge in &proctype.location(guards.unwrap_or(*entry)).edges {
                    let edge = proctype.edge(edge);
                    if !matches!(edge.action, Action::DStep { .. }) {
                        self.ready(region, who, edge);
                    }
                }
            }
            Action::Skip
            | Action::Else
            | Action::Assign(..)
            | Action::Assert(_)
            | Action::Printf(..)
            | Action::Printm(..)
            | Action::SetPriority(..)
            | Action::C(_)
            | Action::Unlock(_)
            | Action::Event { .. } => {}
        }
    }

    fn may_be_rendezvous(&self, who: Who<'_>, chan: &Expr) -> bool {
        let types = self.points.of(chan, Some(who.id.index()));
        types.iter().any(|ty| self.program.chan_types[*ty as usize].capacity == 0)
    }

    /// What executing an edge reads and writes.
    fn effect(&self, effect: &mut Effect, who: Who<'_>, proctype: &Proctype, edge: &Edge) {
        let Effect { reads, writes } = effect;
        visit::walk_action(&edge.action, &mut |expr| {
            self.expr(reads, Some(who), expr);
            self.run(reads, writes, expr);
        });
        match &edge.action {
            Action::Skip | Action::Else | Action::Guard(_) => {}
            Action::Assert(_) | Action::Printf(..) | Action::Printm(..) => {}
            Action::Assign(place, _) => add_cells(writes, Some(who), place),
            Action::Send { .. } | Action::Receive { .. } => self.exchange(effect, who, &edge.action),
            Action::Event { chan, args, .. } => self.message(reads, Some(who), (chan, false), false, args),
            // C sees the globals and the process's own variables, and memory of its own beside them.
            Action::C(_) => {
                reads.everything = true;
                reads.globals.add(0, self.program.n_global_cells);
                reads.own.add(0, proctype.n_cells);
                writes.globals.add(0, self.program.n_global_cells);
                writes.own.add(0, proctype.n_cells);
            }
            Action::SetPriority(..) => {
                reads.processes = true;
                writes.priorities = true;
            }
            Action::Lock(place) | Action::Unlock(place) => {
                self.read_place(reads, Some(who), place);
                add_cells(writes, Some(who), place);
            }
            Action::End => {
                reads.processes = true;
                writes.processes = true;
                writes.priorities = true;
                writes.own.add(0, proctype.n_cells);
                for n in 0..self.channels.of_process(who.id).len() as u32 {
                    writes.add_channel(ChannelName::Own(n), Aspects::ALL);
                }
            }
            Action::DStep { entry, exit, guards } => {
                for at in inside(proctype, *entry, *exit, *guards) {
                    for &inner in &proctype.location(at).edges {
                        let inner = proctype.edge(inner);
                        if !matches!(inner.action, Action::DStep { .. }) {
                            self.ready(&mut effect.reads, who, inner);
                            self.effect(effect, who, proctype, inner);
                        }
                    }
                }
            }
        }
    }

    /// What sending or receiving a message reads and writes, beside its expressions.
    fn exchange(&self, Effect { reads, writes }: &mut Effect, who: Who<'_>, action: &Action) {
        let ends = Aspects::EMPTY.and(Aspects::FULL).and(Aspects::LEN).and(Aspects::HEAD);
        match action {
            Action::Send { chan, sorted, .. } => {
                let seen = if *sorted { Aspects::ALL } else { Aspects::NONE };
                self.used(reads, Some(who), (chan, false), seen);
                let changed = if *sorted { Aspects::ALL } else { ends.and(Aspects::BACK) };
                self.used(writes, Some(who), (chan, false), changed);
                self.observed(reads, writes);
            }
            Action::Receive { chan, random, keep, args } => {
                self.message(reads, Some(who), (chan, true), *random, args);
                if args.iter().any(|arg| matches!(arg, RecvArg::Store(_))) {
                    self.used(reads, Some(who), (chan, true), Aspects::HEAD);
                }
                for arg in args {
                    if let RecvArg::Store(place) = arg {
                        add_cells(writes, Some(who), place);
                    }
                }
                if !keep {
                    self.used(writes, Some(who), (chan, true), if *random { Aspects::ALL } else { ends });
                    // A trace assertion sees the message that is taken.
                    if self.program.trace.is_some() {
                        self.channel(reads, Some(who), chan, Aspects::HEAD);
                    }
                    self.observed(reads, writes);
                }
            }
            _ => {}
        }
    }

    /// What the trace assertion does with a send or receive.
    fn observed(&self, reads: &mut Region, writes: &mut Region) {
        reads.add(&self.trace);
        writes.trace |= self.program.trace.is_some();
    }

    /// What starting a process touches, if that is what the expression does.
    fn run(&self, reads: &mut Region, writes: &mut Region, expr: &Expr) {
        let ExprKind::Run { proctype: id, .. } = &expr.kind else { return };
        let started = self.program.proctype(*id);
        reads.processes = true;
        for step in &started.init {
            if let InitStep::Assign(_, expr) = step {
                let mut seen = Region::default();
                self.whole_expr(&mut seen, Some(Who::any(*id)), expr);
                reads.add(&seen.from_outside(*id, self.channels.of_process(*id)));
            }
        }
        writes.processes = true;
        writes.priorities = true;
        writes.controls.add(*id);
        writes.others.entry(*id).or_default().add(0, started.n_cells);
        for ty in self.channels.of_process(*id) {
            writes.add_channel(ChannelName::Declared(*ty), Aspects::ALL);
        }
    }

    fn whole_expr(&self, region: &mut Region, who: Option<Who<'_>>, expr: &Expr) {
        visit::walk(expr, &mut |part| self.expr(region, who, part));
    }

    /// What an expression reads, its subexpressions aside.
    fn expr(&self, region: &mut Region, who: Option<Who<'_>>, expr: &Expr) {
        match &expr.kind {
            ExprKind::Const(_)
            | ExprKind::Pid
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Cond(..) => {}
            ExprKind::Load(place) => add_cells(region, who, place),
            ExprKind::Chan(op, chan) => {
                let aspects = match op {
                    ChanOp::Len => Aspects::LEN,
                    ChanOp::Full | ChanOp::Nfull => Aspects::FULL,
                    ChanOp::Empty | ChanOp::Nempty => Aspects::EMPTY,
                };
                self.channel(region, who, chan, aspects);
            }
            ExprKind::Poll { chan, random, args } => self.message(region, who, (chan, false), *random, args),
            ExprKind::Run { .. } | ExprKind::NrPr => region.processes = true,
            ExprKind::Enabled(_) | ExprKind::C(_) => region.everything = true,
            ExprKind::Timeout => region.timeout = true,
            ExprKind::PcValue(_) | ExprKind::NonProgress => {
                region.processes = true;
                region.controls = Proctypes::All;
            }
            ExprKind::GetPriority(_) => {
                region.processes = true;
                region.priorities = true;
            }
            ExprKind::Priority => region.priorities = true,
            ExprKind::Last => region.last = true,
            ExprKind::RemoteLabel { proctype, pid, .. } => {
                region.processes = true;
                // With a number, a process of another proctype may be asked.
                match pid {
                    Some(_) => region.controls = Proctypes::All,
                    None => region.controls.add(*proctype),
                }
            }
            ExprKind::RemoteVar { proctype, place, .. } => {
                region.processes = true;
                let (first, end) = extent(place);
                region.others.entry(*proctype).or_default().add(first, end);
            }
        }
    }

    /// What looking for a message reads: whether there is one, and its fields when they are compared. Looking
    /// is no receiving.
    fn message(
        &self,
        region: &mut Region,
        who: Option<Who<'_>>,
        (chan, receives): (&Expr, bool),
        random: bool,
        args: &[RecvArg],
    ) {
        let compares = args.iter().any(|arg| matches!(arg, RecvArg::Match(_)));
        let aspects = match (compares, random) {
            (false, _) => Aspects::EMPTY,
            (true, false) => Aspects::EMPTY.and(Aspects::HEAD),
            (true, true) => Aspects::ALL,
        };
        let but = if receives { self.kept_from(who, true) } else { None };
        self.channel_but(region, who, chan, aspects, but);
        for arg in args {
            match arg {
                RecvArg::Match(expr) => self.whole_expr(region, who, expr),
                RecvArg::Store(_) | RecvArg::Ignore => {}
            }
        }
    }

    /// Adds aspects of the channel that an expression means. Channels without room for messages are always
    /// empty.
    fn channel(&self, region: &mut Region, who: Option<Who<'_>>, chan: &Expr, aspects: Aspects) {
        self.channel_but(region, who, chan, aspects, None);
    }

    /// Notes the use of the channel of a send (or a receive).
    fn used(
        &self,
        region: &mut Region,
        who: Option<Who<'_>>,
        (chan, receive): (&Expr, bool),
        aspects: Aspects,
    ) {
        self.channel_but(region, who, chan, aspects, self.kept_from(who, receive));
    }

    /// Notes the use of a channel, some declarations aside.
    fn channel_but(
        &self,
        region: &mut Region,
        who: Option<Who<'_>>,
        chan: &Expr,
        aspects: Aspects,
        but: Option<&BTreeSet<u32>>,
    ) {
        let aside = |ty: u32| but.is_some_and(|but| but.contains(&ty));
        let is_aside = |n: u32| self.channels.globals.get(n as usize).is_some_and(|ty| aside(ty.0));
        if let Some(number) = who.and_then(|who| who.value(chan)) {
            if number < 1 || !is_aside(number as u32 - 1) {
                self.numbered(region, who, chan, number, aspects);
            }
            return;
        }
        if let Some(names) = self.named(who, chan) {
            let names =
                names.into_iter().filter(|name| !matches!(name, ChannelName::Global(n) if is_aside(*n)));
            names.for_each(|name| region.add_channel(name, aspects));
            return;
        }
        // It may have died with its process.
        region.processes = true;
        for ty in self.points.of(chan, who.map(|who| who.id.index())) {
            if !aside(ty) && self.program.chan_types[ty as usize].capacity > 0 {
                region.add_channel(ChannelName::Declared(ChanTypeId(ty)), aspects);
            }
        }
    }

    /// Adds aspects of the channel with this number, counted from 1.
    fn numbered(
        &self,
        region: &mut Region,
        who: Option<Who<'_>>,
        chan: &Expr,
        number: i32,
        aspects: Aspects,
    ) {
        let Some(index) = u32::try_from(number).ok().and_then(|number| number.checked_sub(1)) else { return };
        // Channels that are older than the process, and its own, do not die before it.
        let lives = who.and_then(|who| {
            let own = self.channels.of_process(who.id).len() as u32;
            Some(index < who.known?.first_channel? + own)
        });
        region.processes |= !lives.unwrap_or(false);
        let types = self.points.of(chan, who.map(|who| who.id.index()));
        if types.iter().any(|&ty| self.program.chan_types[ty as usize].capacity > 0) {
            region.add_channel(ChannelName::Number(index), aspects);
        }
    }

    /// The channels that an expression may mean.
    pub fn meant(&self, who: Who<'_>, chan: &Expr) -> Vec<Meant> {
        let types = || self.points.of(chan, Some(who.id.index())).into_iter().map(ChanTypeId);
        if let Some(value) = who.value(chan) {
            let number = u32::try_from(value).ok().and_then(|number| number.checked_sub(1));
            return number
                .map_or_else(Vec::new, |n| types().map(|ty| Meant { number: Some(n), ty }).collect());
        }
        let place = match &chan.kind {
            ExprKind::Load(place) => place,
            _ => return types().map(|ty| Meant { number: None, ty }).collect(),
        };
        let (first, end) = who.extent(place);
        let numbered = (first..end).map(|cell| match place.base {
            Base::Global => {
                let number = self.points.global(cell)?;
                let ty = *self.channels.globals.get(number as usize)?;
                Some(Meant { number: Some(number), ty })
            }
            Base::Local => {
                let n = self.points.local(who.id.index(), cell)?;
                let ty = *self.channels.of_process(who.id).get(n as usize)?;
                let number = who.known.and_then(|known| known.first_channel).map(|first| first + n);
                Some(Meant { number, ty })
            }
            Base::Scratch => None,
        });
        let numbered: Option<Vec<Meant>> = numbered.collect();
        numbered.unwrap_or_else(|| types().map(|ty| Meant { number: None, ty }).collect())
    }

    /// What a process looks at with an expression.
    pub fn read_by(&self, who: Who<'_>, expr: &Expr) -> Region {
        let mut region = Region::default();
        self.whole_expr(&mut region, Some(who), expr);
        region
    }

    /// What somebody who is no process looks at with an expression.
    pub fn looked_at(&self, expr: &Expr) -> Region {
        self.looked_at_but(expr, |_| false)
    }

    /// What an expression looks at, some of its parts aside (not what these are made of).
    pub fn looked_at_but(&self, expr: &Expr, aside: impl Fn(&Expr) -> bool) -> Region {
        let mut region = Region::default();
        visit::walk(expr, &mut |part| {
            if !aside(part) {
                self.expr(&mut region, None, part);
            }
        });
        region
    }

    /// The channels that an expression always means, when they live as long as anybody can ask.
    fn named(&self, who: Option<Who<'_>>, chan: &Expr) -> Option<Vec<ChannelName>> {
        let ExprKind::Load(place) = &chan.kind else { return None };
        let (first, end) = who.map_or_else(|| extent(place), |who| who.extent(place));
        let mut names = Vec::new();
        for cell in first..end {
            let (name, ty) = match (place.base, who) {
                (Base::Global, _) => {
                    let n = self.points.global(cell)?;
                    (ChannelName::Global(n), *self.channels.globals.get(n as usize)?)
                }
                (Base::Local, Some(who)) => {
                    let n = self.points.local(who.id.index(), cell)?;
                    (ChannelName::Own(n), *self.channels.of_process(who.id).get(n as usize)?)
                }
                _ => return None,
            };
            if self.program.chan_types[ty.index()].capacity > 0 {
                names.push(name);
            }
        }
        Some(names)
    }

    fn read_place(&self, region: &mut Region, who: Option<Who<'_>>, place: &Place) {
        visit::walk_place(place, &mut |expr| self.expr(region, who, expr));
        add_cells(region, who, place);
    }
}

/// Adds the cells that a place may mean.
fn add_cells(region: &mut Region, who: Option<Who<'_>>, place: &Place) {
    let (first, end) = who.map_or_else(|| extent(place), |who| who.extent(place));
    match place.base {
        Base::Global => region.globals.add(first, end),
        Base::Local => region.own.add(first, end),
        Base::Scratch => {}
    }
}

/// The locations inside a d_step.
pub(super) fn inside(
    proctype: &Proctype,
    entry: LocId,
    exit: LocId,
    guards: Option<LocId>,
) -> BTreeSet<LocId> {
    let mut found = BTreeSet::new();
    let mut open: Vec<LocId> = [Some(entry), guards].into_iter().flatten().collect();
    while let Some(at) = open.pop() {
        // The first location may be the exit as well.
        if (at != exit || at == entry) && proctype.location(at).in_d_step && found.insert(at) {
            open.extend(proctype.location(at).edges.iter().map(|id| proctype.edge(*id).to));
        }
    }
    found
}

fn created(steps: &[InitStep]) -> Vec<ChanTypeId> {
    let created = steps.iter().filter_map(|step| match step {
        InitStep::NewChan(_, ty) => Some(*ty),
        InitStep::Assign(..) => None,
    });
    created.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opt::tests::program;

    /// A program and its facts.
    struct Known(Program, Facts);

    impl Known {
        fn new(text: &str) -> Self {
            let program = program(text);
            let facts = Facts::new(&program);
            Known(program, facts)
        }

        fn access(&self, proctype: &str, text: &str) -> &Access {
            let p = self.0.proctypes.iter().position(|p| p.name == proctype).expect("a proctype");
            let texts = || self.0.proctypes[p].edges.iter().map(|edge| edge.text.as_str());
            let e = texts().position(|t| t == text);
            let e = e.unwrap_or_else(|| panic!("{text} in {:?}", texts().collect::<Vec<_>>()));
            self.1.edge(ProctypeId(p as u32), EdgeId(e as u32))
        }
    }

    #[test]
    fn guards_are_apart_from_effects() {
        let known =
            Known::new("byte a, b, v[3]; active proctype p() { byte x; a == 1; b = a + x; v[x] = b }");
        let guard = known.access("p", "a == 1");
        assert!(guard.guard.0.globals.contains(0) && guard.guard.0.own_control);
        let assign = known.access("p", "b = a + x");
        assert!(assign.guard.0.globals.is_empty() && assign.guard.0.own.is_empty());
        assert!(assign.effect.0.globals.contains(0) && assign.effect.0.own.contains(0));
        assert!(assign.writes.0.globals.iter().eq(1..2) && !assign.writes.0.exclusive);
        assert!(known.access("p", "v[x] = b").writes.0.globals.iter().eq(2..5));
    }

    #[test]
    fn the_ends_of_a_channel_are_apart() {
        let known = Known::new(
            "chan c = [2] of { byte }; active proctype p() { byte x; chan d = [1] of { byte }; c!x; c?x; len(c) == 1; d!1; \
             c??1; c!!2 }",
        );
        let c = |region: &May<Region>| {
            region.0.channels.get(&ChannelName::Global(0)).copied().unwrap_or_default()
        };
        let send = known.access("p", "c!x");
        assert_eq!(c(&send.guard), Aspects::FULL);
        assert!(c(&send.writes).meets(Aspects::BACK) && !c(&send.writes).meets(Aspects::BODY));
        let receive = known.access("p", "c?x");
        assert_eq!(
            (c(&receive.guard), c(&receive.effect)),
            (Aspects::EMPTY, Aspects::EMPTY.and(Aspects::HEAD))
        );
        assert!(!c(&receive.writes).meets(Aspects::BACK));
        assert_eq!(c(&known.access("p", "len(c) == 1").guard), Aspects::LEN);
        assert_eq!(c(&known.access("p", "c??1").guard), Aspects::ALL);
        assert_eq!(c(&known.access("p", "c!!2").writes), Aspects::ALL);
        let own = known.access("p", "d!1");
        assert!(own.writes.0.channels.contains_key(&ChannelName::Own(0)) && c(&own.writes) == Aspects::NONE);
    }

    #[test]
    fn what_looks_at_everything_says_so() {
        let known = Known::new(
            "byte g; active proctype p() { if :: g == 1 :: else fi; timeout; enabled(1); _nr_pr == 1; run q() } \
             proctype q() { byte x; skip }",
        );
        let all = |text: &str| known.access("p", text).guard.0.everything;
        assert!(all("enabled(1)") && !all("g == 1"));
        assert!(known.access("p", "timeout").guard.0.timeout);
        assert!(known.access("p", "else").guard.0.globals.contains(0), "it looks at what is beside it");
        assert!(known.access("p", "_nr_pr == 1").guard.0.processes);
        let run = known.access("p", "run q()");
        assert!(run.writes.0.processes && run.writes.0.others[&ProctypeId(1)].contains(0));
        assert!(known.access("q", "-end-").guard.0.processes);
    }

    #[test]
    fn a_missing_partner_is_looked_for() {
        let known = Known::new(
            "byte g; chan c = [0] of { byte }; active proctype p() { if :: c!1 :: else fi } \
             active proctype q() { byte x = 1; c?eval(x + g) }",
        );
        let q = ProctypeId(1);
        let reads = &known.access("p", "else").guard.0;
        assert!(reads.controls.contains(q) && reads.others[&q].contains(0) && reads.globals.contains(0));
        assert!(!known.access("p", "c!1").guard.0.globals.contains(0), "a rendezvous is two accesses");
    }
}
