//! `--memory-split`: statements that load several shared variables are taken apart into single loads.
//!
//! All loads but the last go to temporary variables of the process, one step each, from left to right; then
//! the statement is executed with them. A condition that does not hold then is tried again from the
//! beginning, so that waiting becomes a loop, as in a program. Not taken apart are conditions beside `else`,
//! what stands under `unless`, loads whose place depends on another shared load, and loads of array elements
//! that are made only if something else is true: they could be errors that the model does not have.

use super::flow;
use super::layout::Cells;
use super::make::{change_action, load};
use promela::ir::{
    Action, Base, BinaryOp, Edge, EdgeId, Expr, ExprKind, LocId, Location, Order, Place, Proctype,
    ProctypeKind, Program, Scalar, Type, Var, visit,
};
use promela::source::Span;

/// Takes the statements of all processes apart.
pub(super) fn apart(program: &mut Program, cells: &Cells) {
    for proctype in &mut program.proctypes {
        if matches!(proctype.kind, ProctypeKind::Proctype | ProctypeKind::Init) {
            split(proctype, cells);
        }
    }
}

fn split(proctype: &mut Proctype, cells: &Cells) {
    let locked = flow::locked_edges(proctype);
    let n = proctype.locations.len() as u32;
    let mut most = 0;
    for at in (1..n).map(LocId) {
        let location = proctype.location(at);
        let edges = location.edges.clone();
        let beside = |id: &EdgeId| {
            let edge = proctype.edge(*id);
            matches!(edge.action, Action::Else) || edge.escape.is_some()
        };
        if location.in_d_step || edges.iter().any(beside) {
            continue;
        }
        for id in edges {
            let edge = proctype.edge(id).clone();
            let loads = if locked[id.index()] { None } else { loads(&edge.action, cells) };
            if let Some(loads) = loads.filter(|loads| loads.len() > 1) {
                most = most.max(loads.len() - 1);
                let first = take_apart(proctype, at, &edge, &loads);
                proctype.edges[id.index()] = first;
            }
        }
    }
    let first = proctype.n_cells;
    for i in 0..most as u32 {
        let name = format!("_load{i}");
        let ty = Type::Scalar(Scalar::Int);
        proctype.locals.push(Var { name, ty, cell: first + i, hidden: false, span: Span::NONE });
    }
    proctype.n_cells += most as u32;
    // Only between the loads of one statement do they matter.
    for location in proctype.locations.iter_mut().take(n as usize).skip(1) {
        if !location.in_d_step {
            location.dead.extend(first..first + most as u32);
        }
    }
}

/// The steps of a statement; returns the first, which takes its place.
fn take_apart(proctype: &mut Proctype, at: LocId, edge: &Edge, loads: &[Place]) -> Edge {
    let first_cell = proctype.n_cells;
    let kept = |i: usize| Place {
        base: Base::Local,
        cell: first_cell + i as u32,
        indices: Vec::new(),
        scalar: Scalar::Int,
        span: Span::NONE,
    };
    let mut last = edge.clone();
    let mut next = 0;
    change_loads(&mut last.action, loads, &mut |e| {
        if next + 1 < loads.len() {
            *e = Expr { span: e.span, ..load(kept(next)) };
        }
        next += 1;
    });
    let mut place_of_last = Location::default();
    place_of_last.edges.push(add_edge(proctype, last));
    if matches!(edge.action, Action::Guard(_)) {
        let again = Edge {
            action: Action::Else,
            to: at,
            order: Order::Wait,
            statement: None,
            text: format!("not {}", edge.text.trim()),
            ..edge.clone()
        };
        place_of_last.edges.push(add_edge(proctype, again));
    }
    let mut to = add_location(proctype, place_of_last);
    for i in (0..loads.len() - 1).rev() {
        let step = Edge {
            action: Action::Assign(kept(i), load(loads[i].clone())),
            to,
            order: Order::Free,
            statement: None,
            text: format!("load {} of {}", i + 1, edge.text.trim()),
            ..edge.clone()
        };
        if i == 0 {
            return step;
        }
        let edges = vec![add_edge(proctype, step)];
        to = add_location(proctype, Location { edges, ..Location::default() });
    }
    edge.clone()
}

fn add_edge(proctype: &mut Proctype, edge: Edge) -> EdgeId {
    proctype.edges.push(edge);
    EdgeId(proctype.edges.len() as u32 - 1)
}

fn add_location(proctype: &mut Proctype, location: Location) -> LocId {
    proctype.locations.push(location);
    LocId(proctype.locations.len() as u32 - 1)
}

/// The loads of buffered cells in an action that can be taken apart, in the order in which
/// [`change_loads`] meets them.
fn loads(action: &Action, cells: &Cells) -> Option<Vec<Place>> {
    let expr = match action {
        Action::Guard(e) => e,
        Action::Assign(place, e) if place.indices.iter().all(|i| !has_load(&i.value, cells)) => e,
        _ => return None,
    };
    let mut found = Vec::new();
    collect(expr, cells, false, &mut found).then_some(found)
}

fn has_load(e: &Expr, cells: &Cells) -> bool {
    let mut found = false;
    visit::walk(e, &mut |e| found |= matches!(&e.kind, ExprKind::Load(place) if cells.of(place).is_some()));
    found
}

/// Collects loads from left to right; `maybe` where they are made only if something is true. False where one
/// cannot be made in advance.
fn collect(e: &Expr, cells: &Cells, maybe: bool, found: &mut Vec<Place>) -> bool {
    match &e.kind {
        ExprKind::Load(place) if cells.of(place).is_some() => {
            let sure = !maybe || place.indices.is_empty();
            found.push((**place).clone());
            sure && place.indices.iter().all(|index| !has_load(&index.value, cells))
        }
        ExprKind::Unary(_, a) => collect(a, cells, maybe, found),
        ExprKind::Binary(op, a, b) => {
            let short = matches!(op, BinaryOp::And | BinaryOp::Or);
            collect(a, cells, maybe, found) && collect(b, cells, maybe || short, found)
        }
        ExprKind::Cond(a, b, c) => {
            collect(a, cells, maybe, found)
                && collect(b, cells, true, found)
                && collect(c, cells, true, found)
        }
        _ => !has_load(e, cells),
    }
}

/// Changes the loads of an action that [`loads`] found, in the same order.
fn change_loads(action: &mut Action, loads: &[Place], how: &mut impl FnMut(&mut Expr)) {
    let is_one =
        |place: &Place| loads.iter().any(|known| place.base == Base::Global && known.cell == place.cell);
    change_action(action, &mut |e| {
        if matches!(&e.kind, ExprKind::Load(place) if is_one(place)) {
            how(e);
        }
    });
}
