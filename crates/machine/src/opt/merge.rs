//! Statement merging: what a process does on its own account is not interleaved with what others do.
//!
//! At a location all of whose statements touch nothing but the process's own variables, it does not matter
//! whether others move first: their steps and these commute, and nobody can tell the difference. So a step
//! that leads there does not end there: it is marked as one inside an atomic sequence, and the process goes
//! on at once. (Spin merges sequences of assignments; choices between local statements are merged here as
//! well. When the process is stuck there, the machine gives control back, and the state is an ordinary one:
//! nothing is lost.)
//!
//! The first statement of an atomic sequence is followed at once by the next, so a location is of this kind
//! only when the sequence stays among such locations to its end.
//!
//! A cycle of such locations would shut out the others forever, so every cycle keeps a location at which it
//! is not marked. Places that somebody can look at (labels of end, acceptance and progress, remote
//! references, `pc_value`) keep their states. A statement that may be an error is not merged either: it would
//! have no successor, and what others can do before it would be missed.

use promela::ir::{Action, Edge, EdgeId, ExprKind, LocId, Proctype, ProctypeKind, Program};

use crate::facts::Footprint;
use crate::facts::components::Components;

/// Marks the steps that lead to a local location. With `labels` somebody looks at labels of acceptance and
/// progress. All steps that are merged are such that nobody notices them, so that runs differ in repetitions
/// of what is seen alone.
pub fn merge(program: &mut Program, labels: bool) {
    let Some(mut watched) = Watched::by(program) else { return };
    if labels {
        watched.add_labels(program);
    }
    let rendezvous = program.chan_types.iter().any(|ty| ty.capacity == 0);
    if rendezvous && program.proctypes.iter().any(asks_for_partners) {
        return;
    }
    for (number, proctype) in program.proctypes.iter_mut().enumerate() {
        let process = matches!(proctype.kind, ProctypeKind::Proctype | ProctypeKind::Init);
        if process && proctype.provided.is_none() && !proctype.deterministic {
            merge_proctype(proctype, number, &watched, rendezvous);
        }
    }
}

/// Whether somewhere it matters that a send finds *no* partner: beside `else`, or where an escape comes
/// first. Then a local step that makes a process ready to receive does not commute with what others do.
fn asks_for_partners(proctype: &Proctype) -> bool {
    let some = |edges: &[EdgeId], is: fn(&Edge) -> bool| edges.iter().any(|&id| is(proctype.edge(id)));
    proctype.locations.iter().any(|location| {
        some(&location.edges, |edge| matches!(edge.action, Action::Send { .. }))
            && some(&location.edges, |edge| edge.escape.is_some() || matches!(edge.action, Action::Else))
    })
}

/// What can be seen of a process from outside.
struct Watched {
    labels: Vec<(usize, LocId)>,
    cells: Vec<(usize, u32)>,
}

impl Watched {
    /// `None` when everything is.
    fn by(program: &Program) -> Option<Watched> {
        if program.uses.last || program.uses.priority || program.uses.enabled {
            return None;
        }
        let mut footprints = vec![Footprint::of_properties(program)];
        for proctype in &program.proctypes {
            footprints.extend(proctype.edges.iter().map(Footprint::of));
            footprints.extend(proctype.provided.iter().map(Footprint::of_expr));
        }
        if footprints.iter().any(|footprint| footprint.pc_value) {
            return None;
        }
        let labels =
            footprints.iter().flat_map(|f| &f.remote_labels).map(|&(id, at)| (id.index(), at)).collect();
        let cells = footprints.iter().flat_map(|f| &f.remote_reads);
        let cells = cells.flat_map(|(id, cells)| cells.iter().map(|cell| (id.index(), cell))).collect();
        Some(Watched { labels, cells })
    }

    fn add_labels(&mut self, program: &Program) {
        for (number, proctype) in program.proctypes.iter().enumerate() {
            for (at, location) in proctype.locations.iter().enumerate() {
                if location.accept || location.progress {
                    self.labels.push((number, LocId(at as u32)));
                }
            }
        }
    }
}

fn merge_proctype(proctype: &mut Proctype, number: usize, watched: &Watched, rendezvous: bool) {
    let mut local: Vec<bool> = (0..proctype.locations.len() as u32)
        .map(|at| is_local(proctype, number, LocId(at), watched))
        .collect();
    cut_cycles(proctype, &mut local);
    leave_sequences(proctype, &mut local);
    let in_d_step = inside_d_steps(proctype);
    let chosen = |(edge, inside): (&Edge, bool)| {
        !inside && !edge.atomic && local[edge.to.index()] && may_go_on(edge, rendezvous)
    };
    let chosen: Vec<bool> = proctype.edges.iter().zip(in_d_step).map(chosen).collect();
    let goes_on = |id: EdgeId| chosen[id.index()] || proctype.edge(id).atomic;
    // Together with steps that are atomic anyway, merged ones could close a cycle as well.
    let cycle = Components::along(proctype, goes_on).of;
    let mut closes_cycle = vec![false; chosen.len()];
    for (from, location) in proctype.locations.iter().enumerate() {
        for &id in &location.edges {
            closes_cycle[id.index()] |= cycle[from] == cycle[proctype.edge(id).to.index()];
        }
    }
    for (i, edge) in proctype.edges.iter_mut().enumerate() {
        edge.atomic |= chosen[i] && !closes_cycle[i];
    }
}

/// Which edges are listed inside a d_step.
fn inside_d_steps(proctype: &Proctype) -> Vec<bool> {
    let mut inside = vec![false; proctype.edges.len()];
    for location in proctype.locations.iter().filter(|location| location.in_d_step) {
        location.edges.iter().for_each(|id| inside[id.index()] = true);
    }
    inside
}

/// After a rendezvous it is the receiver that has control, so a step that may be the sending half of one does
/// not go on.
fn may_go_on(edge: &Edge, rendezvous: bool) -> bool {
    match edge.action {
        Action::Send { .. } => !rendezvous,
        Action::End => false,
        _ => true,
    }
}

/// Whether a process at this location touches its own variables only, and nobody looks.
fn is_local(proctype: &Proctype, number: usize, at: LocId, watched: &Watched) -> bool {
    let location = proctype.location(at);
    let plain = !location.end && !location.accept && !location.progress && !location.in_d_step;
    let seen = watched.labels.contains(&(number, at));
    plain
        && !seen
        && !location.edges.is_empty()
        && location.edges.iter().all(|&id| is_local_step(proctype.edge(id), number, watched))
}

fn is_local_step(edge: &Edge, number: usize, watched: &Watched) -> bool {
    let prints = matches!(edge.action, Action::Printf(..) | Action::Printm(..));
    let statement = match &edge.action {
        Action::Skip | Action::Else | Action::Assign(..) | Action::Assert(_) => true,
        Action::Printf(..) | Action::Printm(..) => true,
        Action::Guard(expr) => !matches!(expr.kind, ExprKind::Run { .. }),
        _ => false,
    };
    let footprint = Footprint::of(edge);
    let shown = || footprint.local_writes.iter().any(|cell| watched.cells.contains(&(number, cell)));
    // What is printed is not part of a state: which values of globals it shows does not matter here.
    let own = footprint.is_local() || prints && !footprint.channels && !footprint.system;
    let local = own && !footprint.may_fail;
    // A step into a place that others look at is seen as well.
    let arrives = watched.labels.contains(&(number, edge.to));
    statement && edge.escape.is_none() && local && !shown() && !arrives
}

/// Takes out the locations from which an atomic sequence goes on to one that is not local.
fn leave_sequences(proctype: &Proctype, local: &mut [bool]) {
    let goes_out = |local: &[bool], at: usize| {
        let edges = &proctype.locations[at].edges;
        edges.iter().map(|id| proctype.edge(*id)).any(|edge| edge.atomic && !local[edge.to.index()])
    };
    let mut changed = true;
    while changed {
        changed = false;
        for at in 0..local.len() {
            if local[at] && goes_out(local, at) {
                local[at] = false;
                changed = true;
            }
        }
    }
}

/// All locations, as a process meets them: so the head of a loop comes before its body, and is where its
/// cycle is cut. A process gets to the head anyway, so that this costs the fewest states.
fn in_order(proctype: &Proctype) -> Vec<usize> {
    let n = proctype.locations.len();
    let mut met = vec![false; n];
    let mut order = Vec::new();
    for start in [proctype.start.index()].into_iter().chain(0..n) {
        let mut open = vec![start];
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut met[at], true) {
                order.push(at);
                let edges = proctype.locations[at].edges.iter().rev();
                open.extend(edges.map(|id| proctype.edge(*id).to.index()));
            }
        }
    }
    order
}

/// Takes a location out of every cycle of local locations: the one at which a depth-first walk closes it.
fn cut_cycles(proctype: &Proctype, local: &mut [bool]) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; local.len()];
    for start in in_order(proctype) {
        if !local[start] || marks[start] != Mark::New {
            continue;
        }
        // The way to here, each with the number of its next edge.
        let mut way = vec![(start, 0)];
        marks[start] = Mark::Open;
        while let Some((at, next)) = way.last_mut() {
            let edges = &proctype.locations[*at].edges;
            let Some(&id) = edges.get(*next) else {
                marks[*at] = Mark::Done;
                way.pop();
                continue;
            };
            *next += 1;
            let to = proctype.edge(id).to.index();
            match marks[to] {
                _ if !local[to] => {}
                Mark::Open => local[to] = false,
                Mark::New => {
                    marks[to] = Mark::Open;
                    way.push((to, 0));
                }
                Mark::Done => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opt::tests::{edge, program};

    fn merged(text: &str) -> Program {
        let mut program = program(text);
        merge(&mut program, false);
        program
    }

    #[test]
    fn a_step_goes_on_where_only_own_variables_matter() {
        let program = merged("byte g; active proctype p() { byte x; g = 1; x = 2; x = x + 1; g = 2; g = x }");
        assert!(edge(&program, "p", "g = 1").atomic);
        assert!(edge(&program, "p", "x = 2").atomic);
        assert!(!edge(&program, "p", "x = x + 1").atomic, "the next statement writes a global");
        assert!(!edge(&program, "p", "g = 2").atomic);
    }

    #[test]
    fn a_step_into_a_place_that_others_look_at_stays_apart() {
        let text = |guard: &str| {
            format!(
                "byte g; active proctype p() {{ byte x; g = 1; x = x + 1; at: g = 0 }} \
                 active proctype q() {{ g == 1 && {guard} }}"
            )
        };
        assert!(edge(&merged(&text("true")), "p", "g = 1").atomic);
        assert!(!edge(&merged(&text("!p@at")), "p", "g = 1").atomic);
    }

    #[test]
    fn a_cycle_is_left_somewhere() {
        let program = merged("byte g; active proctype p() { byte x; g = 1; do :: x = 1; x = 2 :: x = 3 od }");
        let p = &program.proctypes[0];
        let marked =
            ["x = 1", "x = 2", "x = 3"].iter().filter(|text| edge(&program, "p", text).atomic).count();
        assert!(marked < 3, "{:?}", p.edges.iter().map(|e| (&e.text, e.atomic)).collect::<Vec<_>>());
    }

    #[test]
    fn atomic_sequences_count_in_cycles() {
        let program = merged("byte g; active proctype p() { byte x; do :: 1 -> atomic { x = g; x = 2 } od }");
        let p = &program.proctypes[0];
        let all: Vec<bool> =
            p.edges.iter().filter(|edge| edge.text != "-end-").map(|edge| edge.atomic).collect();
        assert!(
            all.contains(&false),
            "{:?}",
            p.edges.iter().map(|e| (&e.text, e.atomic)).collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_loop_is_cut_at_its_head() {
        let program = merged("byte g; active proctype p() { byte x; do :: x < 9 -> x = x + 1 od }");
        assert!(edge(&program, "p", "x < 9").atomic && !edge(&program, "p", "x = x + 1").atomic);
    }

    #[test]
    fn others_may_move_before_an_atomic_sequence() {
        let text = |then: &str| {
            format!("byte g; active proctype p() {{ byte x; g = 1; atomic {{ x = 2; {then} }}; g = 4 }}")
        };
        assert!(!edge(&merged(&text("g = 3")), "p", "g = 1").atomic, "between g = 1 and g = 3");
        assert!(edge(&merged(&text("x = 3")), "p", "g = 1").atomic, "it ends before g = 4");
    }

    #[test]
    fn what_is_watched_keeps_its_states() {
        let text = "byte g; active proctype p() { byte x, y; g = 1; l: x = 1; g = 2; x = 3; g = 4; y = 5; g = 6; end1: y = 1 } \
                    active proctype q() { p[0]@l; p[0]:x == 3 }";
        let program = merged(text);
        assert!(!edge(&program, "p", "g = 1").atomic, "the label is referred to");
        assert!(!edge(&program, "p", "g = 2").atomic, "the variable is");
        assert!(edge(&program, "p", "g = 4").atomic);
        assert!(!edge(&program, "p", "g = 6").atomic, "a valid end state");
    }

    #[test]
    fn what_may_be_an_error_is_not_merged() {
        let program = merged(
            "byte g; active proctype p() { byte x, v[2]; g = 1; x = 1 / x; g = 2; v[x] = 1; g = 3; x = x / 2 }",
        );
        assert!(!edge(&program, "p", "g = 1").atomic && !edge(&program, "p", "g = 2").atomic);
        assert!(edge(&program, "p", "g = 3").atomic);
    }

    #[test]
    fn nothing_is_merged_where_a_missing_partner_matters() {
        let text = |other: &str| {
            format!(
                "byte g; chan c = [0] of {{ byte }}; active proctype p() {{ byte x; g = 1; x = 2; c?x }} \
             active proctype q() {{ if :: c!1 :: {other} fi }}"
            )
        };
        assert!(!edge(&merged(&text("else")), "p", "g = 1").atomic);
        assert!(edge(&merged(&text("g == 0")), "p", "g = 1").atomic);
    }

    #[test]
    fn a_rendezvous_does_not_go_on() {
        let body = "proctype p() { byte x; c!1; x = 1; c!x }";
        let buffered = merged(&format!("chan c = [1] of {{ byte }}; active {body}"));
        assert!(edge(&buffered, "p", "c!1").atomic);
        let rendezvous = merged(&format!("chan c = [0] of {{ byte }}; active {body}"));
        assert!(!edge(&rendezvous, "p", "c!1").atomic);
    }
}
