//! Promises (`xr`, `xs`): which of them tell a reduction more than it can find out.
//!
//! Who uses which end of a channel is mostly found out ([`crate::describe`]). It is not where channels travel
//! in variables and messages: then a send may go to any of them. A promise says that it does not go to *this*
//! one. It is relied on only where it adds something and where a look at single states shows that it is
//! broken:
//! - it is made by one process, about a channel that a global variable always names and that holds messages;
//! - some other process may, for all that is known, use the channel in the same way;
//! - each such statement finds its channel in variables of its own process, and a process can be seen
//!   standing before it (it does not lie inside an atomic sequence or d_step). Then, as for assertions, a
//!   search that puts no process off forever comes to a state in which somebody is about to break the
//!   promise, if there is one without reduction.

use machine::facts::{Analysis, Who};
use promela::ir::{Action, Base, Edge, ExprKind, LocId, Proctype, ProctypeId, Program, Promise, visit};

use machine::facts::population::{runs, several};

/// The places, in [`Program::promises`], of those that are worth to be relied on.
pub fn worth_relying_on(program: &Program) -> Vec<usize> {
    if program.promises.is_empty() {
        return Vec::new();
    }
    let analysis = Analysis::new(program);
    let several = several(program);
    let worth = |promise: &Promise| {
        let alone = !several[promise.proctype.index()] && runs(program, promise.proctype);
        alone && is_about_one_channel(&analysis, promise) && others_can_be_seen(&analysis, promise)
    };
    (0..program.promises.len()).filter(|&place| worth(&program.promises[place])).collect()
}

fn is_about_one_channel(analysis: &Analysis<'_>, promise: &Promise) -> bool {
    let ExprKind::Load(place) = &promise.chan.kind else { return false };
    let meant = analysis.meant(Who::any(promise.proctype), &promise.chan);
    let [only] = &meant[..] else { return false };
    let channels = analysis.channels.globals.iter().filter(|ty| **ty == only.ty);
    let capacity = analysis.program.chan_types[only.ty.index()].capacity;
    place.base == Base::Global && only.number.is_some() && capacity > 0 && channels.count() == 1
}

/// Whether there are others who may break the promise, and each can be seen doing so.
fn others_can_be_seen(analysis: &Analysis<'_>, promise: &Promise) -> bool {
    let program = analysis.program;
    let meant = analysis.meant(Who::any(promise.proctype), &promise.chan);
    let ids = (0..program.proctypes.len() as u32).map(ProctypeId);
    let mut others = 0;
    for id in ids.filter(|id| *id != promise.proctype && runs(program, *id)) {
        let proctype = program.proctype(id);
        for (l, location) in proctype.locations.iter().enumerate() {
            for edge in location.edges.iter().map(|edge| proctype.edge(*edge)) {
                let chan = match &edge.action {
                    Action::Send { chan, .. } if !promise.receive => chan,
                    Action::Receive { chan, .. } if promise.receive => chan,
                    _ => continue,
                };
                let used = analysis.meant(Who::any(id), chan);
                if !used.iter().any(|used| meant.iter().any(|meant| meant.ty == used.ty)) {
                    continue;
                }
                others += 1;
                let mut own = true;
                visit::walk(chan, &mut |part| {
                    own &= match &part.kind {
                        ExprKind::Const(_) => true,
                        ExprKind::Load(place) => place.base == Base::Local,
                        _ => false,
                    };
                });
                if !own || !can_stand_at(proctype, LocId(l as u32)) {
                    return false;
                }
            }
        }
    }
    others > 0
}

/// Whether a process is never at a location only in passing.
fn can_stand_at(proctype: &Proctype, at: LocId) -> bool {
    let passes = |edge: &Edge| edge.atomic && edge.to == at;
    !proctype.location(at).in_d_step && !proctype.edges.iter().any(passes)
}
