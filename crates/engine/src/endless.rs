//! Whether a process that is stuck waits where a loop of it begins: then waiting forever may be what its
//! author wants.

use promela::ir::{LocId, Proctype, Program};
use promela::source::{Location, Span};
use std::collections::BTreeSet;
use system::{Fault, FaultKind};

/// Whether the process that an invalid end state blames stands at the beginning of a loop.
pub fn waits_in_loop(program: &Program, locate: impl Fn(Span) -> Location, fault: &Fault) -> bool {
    let named = |proctype: &&Proctype| Some(&proctype.name) == fault.process.as_ref();
    let Some(proctype) = program.proctypes.iter().find(named) else { return false };
    let here = |span: Span| {
        let place = locate(span);
        place.file == fault.file && place.line == fault.line && place.column == fault.column
    };
    let stands = |location: LocId| {
        proctype.location(location).edges.first().is_some_and(|&edge| here(proctype.edge(edge).span))
    };
    let mut locations = (1..proctype.locations.len() as u32).map(LocId);
    fault.kind == FaultKind::EndState && locations.any(|l| stands(l) && begins_loop(proctype, l))
}

/// Whether a loop is entered at `location`: one can come back to it, and one can come to it from outside of
/// the loop.
fn begins_loop(proctype: &Proctype, location: LocId) -> bool {
    let ahead = reached_from(proctype, location);
    if !ahead.contains(&location) {
        return false;
    }
    let live = reached_from(proctype, proctype.start);
    let outside = |from: &LocId| !(ahead.contains(from) && reached_from(proctype, *from).contains(&location));
    let enters = |from: &LocId| edges(proctype, *from).any(|to| to == location);
    location == proctype.start
        || live.iter().chain([&proctype.start]).any(|from| enters(from) && outside(from))
}

fn edges(proctype: &Proctype, from: LocId) -> impl Iterator<Item = LocId> + '_ {
    proctype.location(from).edges.iter().map(|&edge| proctype.edge(edge).to)
}

/// Where one can get to by at least one step.
fn reached_from(proctype: &Proctype, location: LocId) -> BTreeSet<LocId> {
    let mut seen = BTreeSet::new();
    let mut todo = vec![location];
    while let Some(at) = todo.pop() {
        todo.extend(edges(proctype, at).filter(|&to| seen.insert(to)));
    }
    seen
}
