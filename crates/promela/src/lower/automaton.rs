//! From elements to the automaton: which location leads where, and in which order.
//!
//! Jumps and join points get no step of their own where Spin gives them none; a selection's location carries
//! the first steps of its options; the steps of an escape stand before those it covers. All of it follows
//! what Spin's generator and the start-up code of its verifiers do, including the order of edges and the way
//! in which labels of an option's first statement pass to the state after it, because both show in counts and
//! verdicts.

use super::flow::{ATOMIC, Element, ElementId, Flow, IN_D_STEP, LAST_ATOMIC, NodeKind, Sequence, SequenceId};
use crate::diagnostic::{Code, Diagnostic, nearest};
use crate::ir::{Action, Edge, EdgeId, LocId, Location, Order};
use crate::source::Span;
use std::collections::{HashMap, HashSet};

mod d_step;

/// Locations and edges of one proctype.
pub struct Automaton {
    /// Locations by number; entry 0 is a place holder.
    pub locations: Vec<Location>,
    /// Edges.
    pub edges: Vec<Edge>,
    /// Where a process starts.
    pub start: LocId,
    /// Labels of the source text.
    pub labels: Vec<(String, LocId)>,
}

/// Builds the automaton of a finished flow whose body is `body`.
pub fn build(flow: &mut Flow, body: SequenceId) -> Result<Automaton> {
    flow.tie_loose_ends();
    let n_locations = flow.next_number as usize;
    let mut builder = Builder {
        flow,
        steps: vec![Step::None; n_locations],
        done: HashMap::new(),
        edges: Vec::new(),
        origin: Vec::new(),
        in_d_step: vec![false; n_locations],
        exits: HashSet::new(),
    };
    let first = builder.flow.sequence(body).first.unwrap_or(ElementId(0));
    let status = builder.flow.element(first).status;
    let start = builder.hunt(first, status)?;
    let start = LocId(builder.flow.element(start).number);
    builder.put_sequence(body)?;
    builder.finish(body, start)
}

type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// What can be done at a location before choices are flattened.
#[derive(Clone, Debug)]
enum Step {
    /// Nothing stands here that was reached.
    None,
    /// One step, and the escapes that cover it.
    Single(EdgeId, Vec<LocId>),
    /// A choice between the steps of other locations.
    Choice(Vec<LocId>),
    /// The steps of a location inside a d_step.
    Inner(Vec<EdgeId>),
}

struct Builder<'a> {
    flow: &'a mut Flow,
    steps: Vec<Step>,
    done: HashMap<ElementId, ()>,
    edges: Vec<Edge>,
    /// The element that each edge comes from: an escape is not added twice.
    origin: Vec<ElementId>,
    in_d_step: Vec<bool>,
    /// What comes behind the d_steps so far.
    exits: HashSet<ElementId>,
}

fn error(span: Span, message: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::new(Code::E0301, span, message))
}

/// Jumps that are followed before the control structure is called confusing (Spin's own limit).
const MAX_JUMPS: usize = 500;

impl Builder<'_> {
    fn element(&self, id: ElementId) -> &Element {
        self.flow.element(id)
    }

    fn number(&self, id: ElementId) -> LocId {
        LocId(self.element(id).number)
    }

    fn jump_target(&self, id: ElementId) -> Result<ElementId> {
        let NodeKind::Goto(target) = &self.element(id).node.kind else { return Ok(id) };
        match self.flow.target(target) {
            Some(t) => Ok(t),
            None => {
                let name = match target {
                    super::flow::Target::Label(name, _) => name.to_string(),
                    super::flow::Target::Break(_) => "break".into(),
                };
                Err(Box::new(self.undefined_label(self.element(id).node.span, &name)))
            }
        }
    }

    fn undefined_label(&self, span: Span, name: &str) -> Diagnostic {
        let d = Diagnostic::new(Code::E0302, span, format!("undefined label `{name}`"));
        let known = nearest(name, self.flow.label_names().map(|(n, _)| &**n));
        match known.and_then(|near| self.flow.label_names().find(|(n, _)| &***n == near)) {
            Some((near, at)) => d.label(at, format!("`{near}` is here")).meant(name, near),
            None if self.flow.has_label(name) => d
                .label(
                    self.flow.label_names().find(|(n, _)| &***n == name).map_or(span, |l| l.1),
                    "not visible",
                )
                .help("a label of an inline or block is not visible outside of it"),
            None => d.help(format!("put `{name}:` in front of a statement of the same proctype")),
        }
    }

    /// No jump may enter or leave a d_step.
    fn check_d_step(&self, from: ElementId, to: ElementId) -> Result<()> {
        if self.element(from).node.d_step == self.element(to).node.d_step {
            return Ok(());
        }
        let written = matches!(&self.element(from).node.kind, NodeKind::Goto(super::flow::Target::Label(..)));
        Err(Box::new(
            Diagnostic::new(
                Code::E0303,
                self.element(from).node.span,
                "jump into or out of a d_step sequence",
            )
            .label(self.element(to).node.span, "this is where the jump leads")
            .help(if written {
                "jump within the d_step only, or use `atomic` instead of d_step"
            } else {
                "put a `skip` between the end of the loop (or the label) and the d_step, or use `atomic`"
            }),
        ))
    }

    /// The element at which a process that goes to `id` stops: jumps and join points are passed through,
    /// unless that would leave an atomic sequence whose step (of status `status`) is still inside.
    fn hunt(&self, id: ElementId, status: u8) -> Result<ElementId> {
        let mut at = id;
        for _ in 0..MAX_JUMPS {
            let element = self.element(at);
            let next = match element.node.kind {
                NodeKind::Goto(_) => {
                    let target = self.jump_target(at)?;
                    if target == at {
                        return Err(Box::new(
                            Diagnostic::new(
                                Code::E0304,
                                element.node.span,
                                "this jump leads to itself forever",
                            )
                            .help("put a statement such as `skip` or `false` between the label and the goto"),
                        ));
                    }
                    self.check_d_step(at, target)?;
                    target
                }
                NodeKind::Join | NodeKind::Break => match element.next {
                    Some(next) => next,
                    None => return Ok(at),
                },
                NodeKind::Unless(main, _) => {
                    let first = self.flow.sequence(main).first.unwrap_or(at);
                    self.hunt(first, status)?
                }
                _ => return Ok(at),
            };
            if status & ATOMIC != 0 && self.element(next).status & ATOMIC == 0 {
                return Ok(at);
            }
            at = next;
        }
        Err(error(self.element(id).node.span, "a cycle of jumps without any statement"))
    }

    /// The element at which an option or a block begins.
    fn hunt_start(&self, id: ElementId) -> Result<ElementId> {
        let mut at = id;
        for _ in 0..200 {
            let element = self.element(at);
            at = match (&element.node.kind, element.next) {
                (NodeKind::Join, Some(next)) => next,
                (NodeKind::Unless(main, _), _) => self.flow.sequence(*main).first.unwrap_or(at),
                _ => return Ok(at),
            };
        }
        Err(error(self.element(id).node.span, "confusing control structure"))
    }

    fn put_sequence(&mut self, id: SequenceId) -> Result<()> {
        let mut at = self.flow.sequence(id).first;
        while let Some(e) = at {
            if self.done.insert(e, ()).is_none() {
                self.put_element(e)?;
            }
            if Some(e) == self.flow.sequence(id).last {
                break;
            }
            at = self.element(e).next;
        }
        Ok(())
    }

    fn put_element(&mut self, id: ElementId) -> Result<()> {
        match self.element(id).node.kind.clone() {
            NodeKind::Unless(main, _) => self.put_sequence(main),
            NodeKind::If(_) | NodeKind::Do(..) => self.put_selection(id),
            NodeKind::Atomic(body) | NodeKind::Block(body) => self.put_block(id, body),
            NodeKind::DStep(body) => self.put_d_step(id, body),
            _ => self.put_step(id),
        }
    }

    fn put_selection(&mut self, id: ElementId) -> Result<()> {
        let options = self.element(id).sub.clone();
        let mut starts = Vec::new();
        for &option in &options {
            let Some(first) = self.flow.sequence(option).first else { continue };
            let start = self.hunt_start(first)?;
            if !self.is_dead(start) {
                starts.push(self.number(start));
            }
        }
        let at = self.number(id).index();
        self.steps[at] = Step::Choice(starts);
        for option in options {
            self.put_sequence(option)?;
        }
        Ok(())
    }

    /// An option that begins with the constant 0 is left out, unless it can be escaped from.
    fn is_dead(&self, id: ElementId) -> bool {
        let element = self.element(id);
        let NodeKind::Basic(action) = &element.node.kind else { return false };
        element.escapes.is_empty()
            && matches!(&**action, Action::Guard(e) if matches!(e.kind, crate::ir::ExprKind::Const(0)))
    }

    fn put_block(&mut self, id: ElementId, body: SequenceId) -> Result<()> {
        self.patch_atomic(body)?;
        let Sequence { first: Some(first), last: Some(last), .. } = *self.flow.sequence(body) else {
            return Ok(());
        };
        let start = self.hunt_start(first)?;
        let next = self.element(id).next;
        self.flow.element_mut(last).next = next;
        let at = self.number(id).index();
        self.steps[at] = Step::Choice(vec![self.number(start)]);
        self.put_sequence(body)
    }

    /// A jump out of an atomic sequence ends it; a jump at its end into another atomic sequence continues
    /// there.
    fn patch_atomic(&mut self, body: SequenceId) -> Result<()> {
        let Sequence { first, extent, .. } = *self.flow.sequence(body);
        let mut at = first;
        while let Some(id) = at {
            if matches!(self.element(id).node.kind, NodeKind::Goto(_)) {
                let target = self.jump_target(id)?;
                self.check_d_step(id, target)?;
                self.patch_jump(id, target);
            } else {
                for s in self.element(id).sub.clone() {
                    self.patch_atomic(s)?;
                }
            }
            if Some(id) == extent {
                break;
            }
            at = self.element(id).next;
        }
        Ok(())
    }

    fn patch_jump(&mut self, id: ElementId, target: ElementId) {
        const ANY: u8 = ATOMIC | LAST_ATOMIC;
        let into_atomic = self.element(target).status & ANY != 0;
        let status = &mut self.flow.element_mut(id).status;
        if *status & ANY != 0 && !into_atomic {
            *status = (*status & !ATOMIC) | LAST_ATOMIC;
        }
        if *status & LAST_ATOMIC != 0 && into_atomic {
            *status = (*status & !LAST_ATOMIC) | ATOMIC;
        }
    }

    fn new_edge(&mut self, id: ElementId, action: Action, to: LocId) -> EdgeId {
        let element = self.flow.element(id);
        let atomic = element.status & ATOMIC != 0;
        let (text, span) = (element.node.text.clone(), element.node.span);
        let order = match element.status & LAST_ATOMIC != 0 {
            _ if element.node.fence => Order::Fence,
            true => Order::Locked,
            false => Order::Free,
        };
        let statement = Some(element.statement);
        self.edges.push(Edge { action, to, atomic, escape: None, order, statement, text, span });
        self.origin.push(id);
        EdgeId(self.edges.len() as u32 - 1)
    }

    fn put_step(&mut self, id: ElementId) -> Result<()> {
        let element = self.element(id);
        let status = element.status;
        let next = match element.node.kind {
            NodeKind::Goto(_) => Some(self.jump_target(id)?),
            _ => element.next,
        };
        let target = match next {
            Some(next) => Some(self.hunt(next, status)?),
            None => None,
        };
        if let (NodeKind::Goto(_), Some(t)) = (&self.element(id).node.kind, target) {
            self.check_d_step(id, t)?;
        }
        let to = target.map_or(self.number(id), |t| self.number(t));
        let action = match &self.element(id).node.kind {
            NodeKind::Basic(action) => (**action).clone(),
            NodeKind::Else => Action::Else,
            NodeKind::End => Action::End,
            _ => Action::Skip,
        };
        let edge = self.new_edge(id, action, to);
        self.put_escapes(id, edge)
    }

    fn put_escapes(&mut self, id: ElementId, edge: EdgeId) -> Result<()> {
        let element = self.element(id);
        let (status, at) = (element.status, element.number as usize);
        let escapes = match element.node.kind {
            NodeKind::Join => Vec::new(),
            _ => element.escapes.clone(),
        };
        let mut starts = Vec::new();
        for &escape in &escapes {
            let Some(first) = self.flow.sequence(escape).first else { continue };
            let start = self.hunt(first, status)?;
            starts.push(self.number(start));
        }
        self.steps[at] = Step::Single(edge, starts);
        for escape in escapes {
            self.put_sequence(escape)?;
        }
        Ok(())
    }

    fn put_d_step(&mut self, id: ElementId, body: SequenceId) -> Result<()> {
        self.patch_atomic(body)?;
        let Some(last) = self.flow.sequence(body).last else { return Ok(()) };
        let next = self.element(id).next;
        self.flow.element_mut(last).next = next;
        let status = self.element(id).status;
        let to = match next {
            Some(next) => {
                let target = self.hunt(next, status)?;
                self.number(target)
            }
            None => self.number(id),
        };
        let (entry, guards) = self.put_inside(body, next, to)?;
        let edge = self.new_edge(id, Action::DStep { entry, exit: to, guards }, to);
        self.put_escapes(id, edge)
    }

    fn finish(mut self, body: SequenceId, start: LocId) -> Result<Automaton> {
        // Spin numbers elements that remote references add after all others.
        let mut locations = vec![Location::default(); self.steps.len()];
        for (location, inner) in locations.iter_mut().zip(&self.in_d_step) {
            location.in_d_step = *inner;
        }
        self.mark_labels(&mut locations, body);
        self.flatten_choices(&mut locations);
        self.pull_choices(&mut locations);
        self.prepend_escapes(&mut locations);
        self.pass_end_marks(&mut locations);
        let labels = self.flow.labels.iter().map(|l| (l.name.to_string(), self.number(l.element))).collect();
        Ok(Automaton { locations, edges: self.edges, start, labels })
    }

    fn mark_labels(&self, locations: &mut [Location], body: SequenceId) {
        for label in &self.flow.labels {
            let location = &mut locations[self.number(label.element).index()];
            location.end |= label.name.starts_with("end");
            location.accept |= label.name.starts_with("accept");
            location.progress |= label.name.starts_with("progress");
        }
        if let Some(last) = self.flow.sequence(body).last {
            locations[self.number(last).index()].end = true;
        }
    }

    /// Choices inside choices become one.
    fn flatten_choices(&mut self, locations: &mut [Location]) {
        loop {
            let mut changed = false;
            for i in 1..self.steps.len() {
                let Step::Choice(options) = &self.steps[i] else { continue };
                if !options.iter().any(|o| self.is_choice(*o)) {
                    continue;
                }
                let mut flat = Vec::new();
                for &option in options {
                    match &self.steps[option.index()] {
                        Step::Choice(inner) if !inner.is_empty() => {
                            flat.extend(inner);
                            for &leaf in inner {
                                pass_marks(locations, option, leaf);
                            }
                            changed = true;
                        }
                        _ => flat.push(option),
                    }
                }
                self.steps[i] = Step::Choice(flat);
            }
            if !changed {
                return;
            }
        }
    }

    fn is_choice(&self, at: LocId) -> bool {
        matches!(&self.steps[at.index()], Step::Choice(inner) if !inner.is_empty())
    }

    /// A choice's location takes over the steps of its options.
    fn pull_choices(&mut self, locations: &mut [Location]) {
        for i in 1..self.steps.len() {
            match &self.steps[i] {
                Step::None => {}
                Step::Single(edge, _) => locations[i].edges = vec![*edge],
                Step::Inner(edges) => locations[i].edges.clone_from(edges),
                Step::Choice(options) => {
                    for &option in options {
                        if let Step::Single(edge, _) = self.steps[option.index()] {
                            locations[i].edges.push(edge);
                            pass_marks(locations, option, self.edges[edge.index()].to);
                        }
                    }
                }
            }
        }
    }

    /// Puts the steps of escapes in front, each step at most once.
    fn prepend_escapes(&mut self, locations: &mut [Location]) {
        let n_escapes = self.steps.iter().map(|s| if let Step::Single(_, e) = s { e.len() } else { 0 }).max();
        let escapes_of: HashMap<EdgeId, Vec<LocId>> = self
            .steps
            .iter()
            .filter_map(|s| if let Step::Single(edge, e) = s { Some((*edge, e.clone())) } else { None })
            .collect();
        for i in 1..locations.len() {
            if locations[i].in_d_step {
                continue;
            }
            for edge in locations[i].edges.clone() {
                for k in (0..n_escapes.unwrap_or(0)).rev() {
                    let Some(&escape) = escapes_of.get(&edge).and_then(|e| e.get(k)) else { continue };
                    self.prepend_escape(locations, i, escape);
                }
            }
        }
    }

    fn prepend_escape(&mut self, locations: &mut [Location], at: usize, escape: LocId) {
        for step in locations[escape.index()].edges.clone() {
            let origin = self.origin[step.index()];
            if locations[at].edges.iter().any(|e| self.origin[e.index()] == origin) {
                continue;
            }
            let copy = Edge { escape: Some(escape), ..self.edges[step.index()].clone() };
            self.edges.push(copy);
            self.origin.push(origin);
            locations[at].edges.insert(0, EdgeId(self.edges.len() as u32 - 1));
        }
    }

    /// A join point that is a valid end makes the location after it one.
    fn pass_end_marks(&self, locations: &mut [Location]) {
        for i in 1..locations.len() {
            if let ([edge], true) = (&locations[i].edges[..], locations[i].end)
                && matches!(self.element(self.origin[edge.index()]).node.kind, NodeKind::Join)
            {
                let to = self.edges[edge.index()].to;
                locations[to.index()].end = true;
            }
        }
    }
}

/// The labels of a passed-over location count for the one after it.
fn pass_marks(locations: &mut [Location], from: LocId, to: LocId) {
    let (end, accept, progress) = {
        let from = &locations[from.index()];
        (from.end, from.accept, from.progress)
    };
    let to = &mut locations[to.index()];
    to.end |= end;
    to.accept |= accept;
    to.progress |= progress;
}
