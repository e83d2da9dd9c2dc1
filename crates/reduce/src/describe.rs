//! What is known of a program before any state is seen, for people: which statements conflict, and who uses
//! which end of a channel.
//!
//! It is what reducers rely on, but told for *any* process of a proctype. During a search more is known,
//! because there processes have numbers and parameters ([`crate::instance`]). The relations are those of the
//! dependency matrices (`machine::facts::matrix`), which come from the same marks; but these tell of
//! statements, also of those inside a d_step and of the two halves of a rendezvous, which are no groups of
//! their own.

use machine::facts::{Access, Analysis, Facts, Who};
use promela::ir::{Action, ChanTypeId, EdgeId, Expr, ProctypeId, Program, Promise};

use crate::promise::worth_relying_on;
use machine::facts::guard::{self, Need, exclude};
use machine::facts::mark::{Mark, Marker, hand_over};
use machine::facts::object::{Object, Objects};
use machine::facts::population::{runs, several};
use machine::facts::visible::Visible;
use stop::Stop;

/// How a statement stands to what others do; from the most to the least independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// It uses nothing but what its process owns.
    Local,
    /// It uses shared objects, but nobody else gets in its way.
    Safe,
    /// Where it is executable nobody gets in its way, but others may make it executable.
    ConditionallySafe,
    /// Others get in its way.
    Shared,
}

/// What is known of an edge.
#[derive(Clone, Debug)]
pub struct EdgeFacts {
    /// What it may access.
    pub access: Access,
    /// How it stands to others.
    pub standing: Standing,
    /// The proctypes of processes that may not be independent of it.
    pub disturbed_by: Vec<ProctypeId>,
    /// The proctypes of processes that may make it executable.
    pub enabled_by: Vec<ProctypeId>,
    /// An invariant may notice it.
    pub visible: bool,
    /// What its guard needs of global variables.
    pub needs: Vec<NeedFacts>,
    /// Actions of other processes that are never executable together with it, by what is needed.
    pub excludes: Vec<(ProctypeId, EdgeId)>,
}

/// A need, with its necessary enabling set and its necessary disabling set, by proctypes.
#[derive(Clone, Debug)]
pub struct NeedFacts {
    /// The need.
    pub need: Need,
    /// Whose processes may make it true.
    pub made_true_by: Vec<ProctypeId>,
    /// Whose processes may make it false.
    pub made_false_by: Vec<ProctypeId>,
}

/// Who uses the channels of a declaration.
#[derive(Clone, Debug)]
pub struct Ends {
    /// The declaration.
    pub ty: ChanTypeId,
    /// Who may send.
    pub senders: Vec<ProctypeId>,
    /// Who may receive.
    pub receivers: Vec<ProctypeId>,
    /// At most one process ever sends: as if it were declared with `xs`.
    pub exclusive_send: bool,
    /// At most one process ever receives: as if it were declared with `xr`.
    pub exclusive_receive: bool,
}

/// What is known of a program.
#[derive(Clone, Debug)]
pub struct Description {
    /// For every proctype and edge; nothing for claims and traces.
    pub edges: Vec<Vec<EdgeFacts>>,
    /// For every declaration of channels.
    pub channels: Vec<Ends>,
    /// For every proctype, whether several processes of it may exist during a run.
    pub several: Vec<bool>,
    /// For every promise what becomes of it.
    pub promises: Vec<Standpoint>,
}

/// What becomes of a promise (`xr`, `xs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standpoint {
    /// It is known to be true without it.
    Known,
    /// Reductions that are asked for rely on it and check it.
    ReliedOn,
    /// It is not used.
    NotUsed,
}

/// Finds out what is known of a program; given up when it is to `stop`.
pub fn describe(program: &Program, stop: &Stop) -> Description {
    let analysis = Analysis::new(program);
    let known = Everybody::new(program, &analysis, stop);
    let edges_of = |&id: &ProctypeId| {
        let edges = known.marks[id.index()].iter().enumerate();
        let edge = |(e, mark)| {
            stop.check();
            known.edge(id, EdgeId(e as u32), mark)
        };
        edges.map(edge).collect()
    };
    let edges = known.ids.iter().map(edges_of).collect();
    let channels = ends(&analysis, &known.several);
    let promises = standpoints(&analysis, &channels);
    Description { edges, channels, several: known.several, promises }
}

/// What is known of any processes of all proctypes.
struct Everybody<'p> {
    program: &'p Program,
    facts: Facts,
    ids: Vec<ProctypeId>,
    marks: Vec<Vec<Mark>>,
    /// For each proctype the marks of all its edges together.
    lives: Vec<Mark>,
    several: Vec<bool>,
    needs: Vec<Vec<Vec<Need>>>,
    visible_object: u32,
}

impl<'p> Everybody<'p> {
    fn new(program: &'p Program, analysis: &Analysis<'_>, stop: &Stop) -> Self {
        let facts = Facts::new(program);
        let hand_over = hand_over(analysis, &facts);
        let mut objects = Objects::default();
        let visible_object = objects.number(Object::Visible);
        let ids: Vec<ProctypeId> = (0..program.proctypes.len() as u32).map(ProctypeId).collect();
        let mut visible = Visible::default();
        if let Some(&first) = ids.first() {
            let marker = Marker::new(analysis, &hand_over, Who::any(first));
            for invariant in &program.invariants {
                marker.watch(&mut objects, &invariant.expr, &mut visible);
            }
        }
        let mut marks_of = |&id: &ProctypeId| match runs(program, id) {
            true => {
                let marker = Marker::new(analysis, &hand_over, Who::any(id));
                marker.marks(&mut objects, &visible, stop)
            }
            false => Vec::new(),
        };
        let marks: Vec<Vec<Mark>> = ids.iter().map(&mut marks_of).collect();
        let lives = marks.iter().map(|marks| Mark::union(marks)).collect();
        let needs_of = |id: &ProctypeId| {
            let proctype = program.proctype(*id);
            proctype.edges.iter().map(|edge| guard::needs(proctype, edge)).collect()
        };
        let needs = ids.iter().map(needs_of).collect();
        Everybody { program, facts, marks, lives, several: several(program), needs, visible_object, ids }
    }

    fn edge(&self, id: ProctypeId, e: EdgeId, mark: &Mark) -> EdgeFacts {
        let others = self.ids.iter().copied().filter(|other| *other != id || self.several[id.index()]);
        let others: Vec<ProctypeId> = others.filter(|other| runs(self.program, *other)).collect();
        let who = |meets: &dyn Fn(&Mark) -> bool| {
            others.iter().copied().filter(|other| meets(&self.lives[other.index()])).collect::<Vec<_>>()
        };
        let disturbed_by = who(&|life| mark.conflicts_with(life));
        let enabled_by = who(&|life| mark.may_be_enabled_by(life));
        let access = self.facts.edge(id, e).clone();
        let standing = match () {
            () if !disturbed_by.is_empty() => Standing::Shared,
            () if !enabled_by.is_empty() => Standing::ConditionallySafe,
            () if is_local(&access) => Standing::Local,
            () => Standing::Safe,
        };
        let visible = mark.accesses.contains(self.visible_object);
        let own = &self.needs[id.index()][e.index()];
        let needs = own.iter().map(|&need| need_facts(self.program, &self.facts, &self.ids, need)).collect();
        let mut excludes = Vec::new();
        for &other in &others {
            let edges = self.needs[other.index()].iter().enumerate();
            let excluded = edges.filter(|(_, needs)| exclude(own, needs));
            excludes.extend(excluded.map(|(e, _)| (other, EdgeId(e as u32))));
        }
        EdgeFacts { access, standing, disturbed_by, enabled_by, visible, needs, excludes }
    }
}

/// Who may make a need true or false.
fn need_facts(program: &Program, facts: &Facts, ids: &[ProctypeId], need: Need) -> NeedFacts {
    let mut found = NeedFacts { need, made_true_by: Vec::new(), made_false_by: Vec::new() };
    for &id in ids.iter().filter(|id| runs(program, **id)) {
        for (e, edge) in program.proctype(id).edges.iter().enumerate() {
            let access = facts.edge(id, EdgeId(e as u32));
            if !access.writes.0.globals.contains(need.cell) {
                continue;
            }
            for (list, truth) in [(&mut found.made_true_by, true), (&mut found.made_false_by, false)] {
                if need.may_become(truth, edge) && !list.contains(&id) {
                    list.push(id);
                }
            }
        }
    }
    found
}

fn standpoints(analysis: &Analysis<'_>, channels: &[Ends]) -> Vec<Standpoint> {
    let program = analysis.program;
    let relied_on = worth_relying_on(program);
    let standpoint = |(place, promise): (usize, &Promise)| {
        let by_one = |ends: &Ends| match promise.receive {
            true => ends.exclusive_receive && ends.receivers.iter().all(|id| *id == promise.proctype),
            false => ends.exclusive_send && ends.senders.iter().all(|id| *id == promise.proctype),
        };
        let meant = analysis.meant(Who::any(promise.proctype), &promise.chan);
        match () {
            () if !meant.is_empty() && meant.iter().all(|meant| by_one(&channels[meant.ty.index()])) => {
                Standpoint::Known
            }
            () if relied_on.contains(&place) => Standpoint::ReliedOn,
            () => Standpoint::NotUsed,
        }
    };
    program.promises.iter().enumerate().map(standpoint).collect()
}

fn is_local(access: &Access) -> bool {
    [&access.guard.0, &access.effect.0, &access.writes.0].iter().all(|region| {
        let alone = region.globals.is_empty() && region.others.is_empty() && region.channels.is_empty();
        alone && !region.processes && !region.everything && !region.timeout && !region.last && !region.trace
    })
}

/// Who uses the ends of channels, declaration by declaration.
fn ends(analysis: &Analysis<'_>, several: &[bool]) -> Vec<Ends> {
    let program = analysis.program;
    let mut ends: Vec<Ends> = (0..program.chan_types.len() as u32)
        .map(|n| Ends {
            ty: ChanTypeId(n),
            senders: Vec::new(),
            receivers: Vec::new(),
            exclusive_send: true,
            exclusive_receive: true,
        })
        .collect();
    let ids = (0..program.proctypes.len() as u32).map(ProctypeId).filter(|id| runs(program, *id));
    for id in ids {
        for edge in &program.proctype(id).edges {
            let (chan, sends): (&Expr, bool) = match &edge.action {
                Action::Send { chan, .. } => (chan, true),
                Action::Receive { chan, .. } => (chan, false),
                _ => continue,
            };
            for meant in analysis.meant(Who::any(id), chan) {
                let ends = &mut ends[meant.ty.index()];
                let users = if sends { &mut ends.senders } else { &mut ends.receivers };
                if !users.contains(&id) {
                    users.push(id);
                }
            }
        }
    }
    let alone = |users: &[ProctypeId]| match users {
        [] => true,
        [only] => !several[only.index()],
        _ => false,
    };
    for ends in &mut ends {
        (ends.exclusive_send, ends.exclusive_receive) = (alone(&ends.senders), alone(&ends.receivers));
    }
    ends
}
