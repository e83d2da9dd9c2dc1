//! The automaton of a proctype with a buffer.
//!
//! Locations keep their numbers; new ones come behind them. A location at which the buffer may hold something
//! gets a drain for every cell that may wait. They stand behind all other edges, so that `else` does not ask
//! about them; only where escapes stand, which would shut them out, they stand in front.
//!
//! Where an edge needs an empty buffer, the location has a *quiet twin*, with all its edges: a process goes
//! there when its buffer is empty, and is there what it was before. A condition needs no twin, it asks.

use super::Model;
use super::drain::Drain;
use super::flow::Flow;
use super::layout::{Buffer, Cells};
use super::make::{binary, change_action, constant, is, load, truncated};
use super::view::{self, View};
use promela::ir::{Action, BinaryOp, Edge, EdgeId, Expr, ExprKind, LocId, Location, Order, Place, Proctype};
use promela::source::Span;

/// An automaton in the making.
pub(super) struct Automaton<'a> {
    pub made: &'a mut Proctype,
}

impl Automaton<'_> {
    fn location(&mut self, location: Location) -> LocId {
        self.made.locations.push(location);
        LocId(self.made.locations.len() as u32 - 1)
    }

    fn edge(&mut self, edge: Edge) -> EdgeId {
        self.made.edges.push(edge);
        EdgeId(self.made.edges.len() as u32 - 1)
    }

    /// An edge that takes some actions in one step and leads to `to`.
    pub fn d_step(
        &mut self,
        actions: Vec<Action>,
        to: LocId,
        order: Order,
        (text, span): (&str, Span),
    ) -> EdgeId {
        let n = actions.len();
        let inner = Location { in_d_step: true, ..Location::default() };
        let places: Vec<LocId> = actions.iter().map(|_| self.location(inner.clone())).collect();
        for (i, action) in actions.into_iter().enumerate() {
            let to = if i + 1 < n { places[i + 1] } else { to };
            let text = text.to_string();
            let edge = self.edge(unseen(action, to, order, (text, span)));
            self.made.locations[places[i].index()].edges = vec![edge];
        }
        let action = Action::DStep { entry: places[0], exit: to, guards: None };
        let text = text.to_string();
        self.edge(unseen(action, to, order, (text, span)))
    }
}

/// A step that stands in no text.
fn unseen(action: Action, to: LocId, order: Order, (text, span): (String, Span)) -> Edge {
    Edge { action, to, atomic: false, escape: None, order, statement: None, text, span }
}

/// Rewrites `made`, which is a copy of `proctype` with the variables of a buffer. Returns the locations that
/// have a twin, with it.
pub(super) fn rewrite(
    made: &mut Proctype,
    proctype: &Proctype,
    flow: &Flow,
    buffer: &Buffer,
    cells: &Cells,
) -> Vec<(LocId, LocId)> {
    let mut automaton = Automaton { made };
    let writer = Writer { proctype, flow, buffer, cells };
    let mut twins = Vec::new();
    for number in 1..proctype.locations.len() as u32 {
        let at = LocId(number);
        if proctype.location(at).in_d_step {
            continue;
        }
        if let Some(twin) = writer.location(&mut automaton, at) {
            twins.push((at, twin));
        }
    }
    drop_unlisted(automaton.made);
    twins
}

struct Writer<'a> {
    proctype: &'a Proctype,
    flow: &'a Flow,
    buffer: &'a Buffer,
    cells: &'a Cells,
}

impl Writer<'_> {
    /// Makes the edges of a location, and its twin if it has one.
    fn location(&self, automaton: &mut Automaton<'_>, at: LocId) -> Option<LocId> {
        let nothing = vec![false; self.cells.globals.len()];
        let location = self.proctype.location(at);
        let held = &self.flow.held[at.index()];
        if !self.flow.may_hold(at.index()) {
            let edges = location.edges.iter().map(|&id| self.edge(automaton, id, &nothing)).collect();
            automaton.made.locations[at.index()].edges = edges;
            return None;
        }
        let needs_twin = |id: &EdgeId| self.flow.is_quiet(*id) && !self.asks_itself(*id);
        let twin = location.edges.iter().any(needs_twin).then(|| {
            let edges = location.edges.iter().map(|&id| self.edge(automaton, id, &nothing)).collect();
            automaton.location(Location { edges, ..location.clone() })
        });
        let mut edges = Vec::new();
        for &id in &location.edges {
            match self.flow.is_quiet(id) {
                true if twin.is_some() => {}
                true => edges.push(self.asking(automaton, id, held)),
                false => edges.push(self.edge(automaton, id, held)),
            }
        }
        edges.extend(twin.map(|twin| self.wait(automaton, at, twin)));
        let stores = self.stores(at);
        let drains = self.drains(automaton, at, held, &stores);
        let escapes = location.edges.iter().any(|&id| self.proctype.edge(id).escape.is_some());
        let edges = if escapes { [drains, edges].concat() } else { [edges, drains].concat() };
        automaton.made.locations[at.index()].edges = edges;
        twin
    }

    /// The step to the quiet twin.
    fn wait(&self, automaton: &mut Automaton<'_>, at: LocId, twin: LocId) -> EdgeId {
        let waiting = self.proctype.location(at).edges.iter().map(|&id| self.proctype.edge(id));
        let span = waiting.map(|edge| edge.span).next().unwrap_or(Span::NONE);
        automaton.edge(Edge {
            action: Action::Guard(is(self.buffer.count.clone(), 0)),
            to: twin,
            atomic: true,
            escape: None,
            order: Order::Wait,
            statement: None,
            text: "(the store buffer is empty)".to_string(),
            span,
        })
    }

    /// Whether an edge is a condition, which can ask for an empty buffer itself.
    fn asks_itself(&self, id: EdgeId) -> bool {
        matches!(&self.proctype.edge(id).action, Action::Guard(e) if !has_run(e))
    }

    /// A condition that also asks for an empty buffer; memory is then what the process sees.
    fn asking(&self, automaton: &mut Automaton<'_>, id: EdgeId, held: &[bool]) -> EdgeId {
        let mut edge = self.proctype.edge(id).clone();
        if let Action::Guard(e) = &mut edge.action {
            let quiet = is(self.buffer.count.clone(), 0);
            let span = e.span;
            let both = match &e.kind {
                ExprKind::Const(1) => quiet,
                _ => binary(BinaryOp::And, quiet, e.clone()),
            };
            *e = Expr { span, ..both };
        }
        debug_assert!(held.contains(&true));
        automaton.edge(edge)
    }

    /// An edge where the buffer may hold stores to some variables.
    fn edge(&self, automaton: &mut Automaton<'_>, id: EdgeId, held: &[bool]) -> EdgeId {
        let edge = self.proctype.edge(id);
        let view = View { buffer: self.buffer, cells: self.cells, held };
        let mut made = edge.clone();
        match (&edge.action, self.cells.stored_by(&edge.action)) {
            (Action::Assign(place, value), Some(variable)) if !self.flow.is_locked(id) => {
                let (mut place, mut value) = (place.clone(), value.clone());
                view.indices(&mut place);
                view.expr(&mut value);
                let actions = self.append(variable, place, value, held);
                let text = (edge.text.as_str(), edge.span);
                let to = match self.flow.is_fenced(id) {
                    true => self.fence_behind(automaton, edge, variable, held),
                    false => edge.to,
                };
                let append = automaton.d_step(actions, to, Order::Append, text);
                automaton.made.edges[append.index()].escape = edge.escape;
                return append;
            }
            _ => change_action(&mut made.action, &mut |e| view.one(e)),
        }
        automaton.edge(made)
    }

    /// A fence behind a store: a location where the process waits until its buffer is empty.
    fn fence_behind(
        &self,
        automaton: &mut Automaton<'_>,
        store: &Edge,
        variable: usize,
        held: &[bool],
    ) -> LocId {
        let mut held = held.to_vec();
        held[variable] = true;
        let at = automaton.location(Location::default());
        let fence = automaton.edge(Edge {
            action: Action::Guard(is(self.buffer.count.clone(), 0)),
            to: store.to,
            atomic: false,
            escape: None,
            order: Order::Fence,
            statement: None,
            text: "fence".to_string(),
            span: store.span,
        });
        let drains = self.drains(automaton, at, &held, &[]);
        automaton.made.locations[at.index()].edges = [vec![fence], drains].concat();
        at
    }

    /// A store enters the buffer, behind all others; where the buffer may be full it waits for room.
    fn append(&self, variable: usize, place: Place, value: Expr, held: &[bool]) -> Vec<Action> {
        let Buffer { bound, ref count, .. } = *self.buffer;
        let empty = !held.contains(&true);
        let more = |count: &Place| {
            let one_more = binary(BinaryOp::Add, load(count.clone()), constant(1));
            Action::Assign(count.clone(), one_more)
        };
        let room =
            |count: &Place| Action::Guard(binary(BinaryOp::Lt, load(count.clone()), constant(bound as i32)));
        match self.buffer.model {
            Model::Tso => {
                let [number, kept] = match empty {
                    true => [self.buffer.number(0), self.buffer.value(0)],
                    false => self.buffer.entry_at(load(count.clone())),
                };
                let value = truncated(value, place.scalar, kept.scalar);
                let first = (!empty).then(|| room(count));
                let rest = [
                    Action::Assign(kept, value),
                    Action::Assign(number, view::checked_number(&place)),
                    more(count),
                ];
                first.into_iter().chain(rest).collect()
            }
            Model::Pso => {
                let globals = &self.cells.globals;
                let own = self.buffer.count_of(variable, globals, &place);
                let entry = if held[variable] { load(own.clone()) } else { constant(0) };
                let kept = self.buffer.value_of(variable, globals, &place, entry);
                let first = held[variable].then(|| room(&own));
                let rest = [Action::Assign(kept, value), more(&own), more(count)];
                first.into_iter().chain(rest).collect()
            }
        }
    }

    /// The variables that are stored to at a location.
    fn stores(&self, at: LocId) -> Vec<usize> {
        let edges = self.proctype.location(at).edges.iter();
        edges
            .filter(|id| !self.flow.is_quiet(**id))
            .filter_map(|id| self.cells.stored_by(&self.proctype.edge(*id).action))
            .collect()
    }

    /// A drain for every cell that may wait at a location. Where a store of it may find the buffer full, that
    /// is told.
    fn drains(
        &self,
        automaton: &mut Automaton<'_>,
        at: LocId,
        held: &[bool],
        stores: &[usize],
    ) -> Vec<EdgeId> {
        let mut drains = Vec::new();
        for variable in (0..held.len()).filter(|&variable| held[variable]) {
            let tell_full = match self.buffer.model {
                Model::Tso => !stores.is_empty(),
                Model::Pso => stores.contains(&variable),
            };
            for cell in self.cells.range(variable) {
                let drain = Drain { buffer: self.buffer, cells: self.cells, variable, cell };
                drains.extend(drain.add(automaton, at, tell_full));
            }
        }
        drains
    }
}

fn has_run(e: &Expr) -> bool {
    let mut runs = false;
    promela::ir::visit::walk(e, &mut |e| runs |= matches!(e.kind, ExprKind::Run { .. }));
    runs
}

/// Takes out edges that were replaced.
fn drop_unlisted(proctype: &mut Proctype) {
    let mut listed = vec![false; proctype.edges.len()];
    for location in &proctype.locations {
        location.edges.iter().for_each(|id| listed[id.index()] = true);
    }
    let mut number = 0;
    let numbers: Vec<u32> = listed
        .iter()
        .map(|listed| {
            number += u32::from(*listed);
            number.wrapping_sub(1)
        })
        .collect();
    let mut at = 0;
    proctype.edges.retain(|_| {
        at += 1;
        listed[at - 1]
    });
    for location in &mut proctype.locations {
        location.edges.iter_mut().for_each(|id| *id = EdgeId(numbers[id.index()]));
    }
}
