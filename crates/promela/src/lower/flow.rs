//! Control flow as Spin builds it: elements in sequences, before they become automata.
//!
//! State counts agree with Spin's only if control points do, so this file follows the construction of Spin's
//! parser step by step: which statement gets an element of its own and in which order (elements are numbered
//! as they are made), where `if`, `do` and `unless` put their join points, which skips vanish, where `for`
//! and `select` put their hidden statements, and how escapes attach. `automaton` then draws the edges.

use super::scope::ScopeId;
use crate::ir::Action;
use crate::source::Span;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// An element: index into [`Flow::elements`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct ElementId(pub u32);

/// A sequence: index into [`Flow::sequences`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SequenceId(pub u32);

/// The exit of a loop, before the loop's own elements exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BreakId(pub u32);

/// Where a jump goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// A label as it was seen at the jump: its name and the block in which that name was first seen.
    Label(Arc<str>, ScopeId),
    /// The exit of a loop.
    Break(BreakId),
}

/// A statement not yet placed in a sequence.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Where it was written.
    pub span: Span,
    /// As written.
    pub text: String,
    /// The innermost d_step in which it was built: statements may not jump between different values.
    pub d_step: Option<u32>,
    /// The statement `fence`.
    pub fence: bool,
}

/// The kinds of statement that control flow distinguishes.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// A statement that executes in one step.
    Basic(Box<Action>),
    /// `else`.
    Else,
    /// A jump.
    Goto(Target),
    /// `if`, with its options.
    If(Vec<SequenceId>),
    /// `do`, with its options and its exit.
    Do(Vec<SequenceId>, BreakId),
    /// `unless`: the main sequence and the escape.
    Unless(SequenceId, SequenceId),
    /// `atomic { … }`.
    Atomic(SequenceId),
    /// `{ … }`.
    Block(SequenceId),
    /// `d_step { … }`.
    DStep(SequenceId),
    /// `label: statement`.
    Labeled(Arc<str>, ScopeId, Box<Node>),
    /// A join point.
    Join,
    /// The exit of a loop.
    Break,
    /// The end of a process.
    End,
}

impl NodeKind {
    /// A statement without effect that may be dropped when several follow each other.
    fn is_skip(&self) -> bool {
        matches!(self, NodeKind::Basic(a) if matches!(**a, Action::Skip | Action::Printf(..) | Action::Printm(..)))
    }

    fn is_print(&self) -> bool {
        matches!(self, NodeKind::Basic(a) if matches!(**a, Action::Printf(..) | Action::Printm(..)))
    }
}

/// Inside an atomic sequence, and not its last step.
pub const ATOMIC: u8 = 1;
/// The last step of an atomic sequence.
pub const LAST_ATOMIC: u8 = 2;
/// Inside a d_step.
pub const IN_D_STEP: u8 = 4;

/// A placed statement.
#[derive(Clone, Debug)]
pub struct Element {
    /// What stands here.
    pub node: Node,
    /// Spin's number of the control point.
    pub number: u32,
    /// Spin's number of the statement within the whole model.
    pub statement: u32,
    /// [`ATOMIC`], [`LAST_ATOMIC`], [`IN_D_STEP`].
    pub status: u8,
    /// What follows in the sequence.
    pub next: Option<ElementId>,
    /// Options of `if` and `do`; main and escape sequence of `unless`.
    pub sub: Vec<SequenceId>,
    /// Escapes that cover this element, latest first.
    pub escapes: Vec<SequenceId>,
}

/// A chain of elements from `first` to `last`; `extent` is the last one that belongs to the author's text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sequence {
    /// The first element.
    pub first: Option<ElementId>,
    /// The last element.
    pub last: Option<ElementId>,
    /// The last element when the sequence was closed.
    pub extent: Option<ElementId>,
}

/// A label of the source text.
#[derive(Clone, Debug)]
pub struct Label {
    /// Its name.
    pub name: Arc<str>,
    /// The block in which its name was first seen.
    pub scope: ScopeId,
    /// The element that carries it.
    pub element: ElementId,
    /// Where it is written.
    pub span: Span,
}

/// What went wrong while building; reported by the caller at the given place.
pub struct FlowError {
    /// Where.
    pub span: Span,
    /// What.
    pub message: String,
    /// How to repair it.
    pub help: Option<String>,
    /// The second place involved.
    pub other: Option<(Span, &'static str)>,
}

/// How a sequence was opened: it decides what Spin says about a label at its beginning.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Opened {
    /// The body of a proctype.
    Body,
    /// An escape, the main part of an unless, atomic, d_step or a block: no label may come first.
    NoLabel(&'static str),
    /// An option, or a sequence of Spin's own making: a label may come first.
    AnyLabel,
}

/// The control flow of one proctype.
#[derive(Debug, Default)]
pub struct Flow {
    /// Elements in the order of their making.
    pub elements: Vec<Element>,
    /// Sequences.
    pub sequences: Vec<Sequence>,
    /// Labels in the order of their setting.
    pub labels: Vec<Label>,
    /// Exits of loops, once the loop is placed.
    pub breaks: Vec<Option<ElementId>>,
    /// The loops around the current statement.
    pub break_stack: Vec<BreakId>,
    /// The number for the next element.
    pub next_number: u32,
    /// The same within the whole model.
    pub next_statement: u32,
    /// The element count when the current d_step began.
    pub d_step: Option<u32>,
    current: Vec<SequenceId>,
    /// What makes labels different: name, block, use of an inline.
    label_keys: HashSet<(Arc<str>, u32, u32)>,
    /// The labels of a name, and those of an element: indices into `labels`.
    by_name: HashMap<Arc<str>, Vec<usize>>,
    by_element: HashMap<ElementId, Vec<usize>>,
}

impl Flow {
    /// An empty flow; Spin numbers from 1. `statements` is how many the model has so far.
    pub fn new(statements: u32) -> Self {
        Flow { next_number: 1, next_statement: statements, ..Flow::default() }
    }

    /// Makes a node at the current place.
    pub fn node(&self, kind: NodeKind, span: Span, text: impl Into<String>) -> Node {
        Node { kind, span, text: text.into(), d_step: self.d_step, fence: false }
    }

    /// The element with this id.
    pub fn element(&self, id: ElementId) -> &Element {
        &self.elements[id.0 as usize]
    }

    /// The element with this id, to change it.
    pub fn element_mut(&mut self, id: ElementId) -> &mut Element {
        &mut self.elements[id.0 as usize]
    }

    /// The sequence with this id.
    pub fn sequence(&self, id: SequenceId) -> &Sequence {
        &self.sequences[id.0 as usize]
    }

    /// Begins a sequence; what is added goes there until it is closed.
    pub fn open(&mut self) {
        self.sequences.push(Sequence::default());
        self.current.push(SequenceId(self.sequences.len() as u32 - 1));
    }

    /// Ends the current sequence.
    pub fn close(&mut self, opened: Opened, span: Span) -> Result<SequenceId, FlowError> {
        let id = self.current.pop().unwrap_or(SequenceId(0));
        let sequence = self.sequences[id.0 as usize];
        let (Some(first), Some(last)) = (sequence.first, sequence.last) else {
            return Err(FlowError {
                span,
                message: "a sequence must have at least one statement".into(),
                help: Some("write `skip` for a statement that does nothing".into()),
                other: None,
            });
        };
        if let Opened::NoLabel(repair) = opened
            && let Some(label) = self.labels_at(first).last()
        {
            return Err(FlowError {
                span: self.element(first).node.span,
                message: format!("the label `{}` cannot stand at the beginning of this sequence", label.name),
                help: Some(repair.into()),
                other: None,
            });
        }
        self.sequences[id.0 as usize].extent = Some(last);
        Ok(id)
    }

    /// Begins a loop.
    pub fn push_break(&mut self) -> BreakId {
        self.breaks.push(None);
        let id = BreakId(self.breaks.len() as u32 - 1);
        self.break_stack.push(id);
        id
    }

    /// Adds a statement to the current sequence; labels are set on the element that it becomes.
    pub fn add(&mut self, node: Node, inline: u32) -> Result<(), FlowError> {
        let mut labels = Vec::new();
        let mut node = node;
        while let NodeKind::Labeled(name, scope, inner) = node.kind {
            labels.push((name, scope, node.span));
            node = *inner;
        }
        let placed = matches!(node.kind, NodeKind::If(_) | NodeKind::Do(..) | NodeKind::Unless(..));
        let id = self.new_element(node)?;
        for (name, scope, span) in labels.into_iter().rev() {
            self.set_label(name, scope, inline, id, span)?;
        }
        if !placed {
            self.append(id, *self.current.last().unwrap_or(&SequenceId(0)));
        }
        Ok(())
    }

    fn set_label(
        &mut self,
        name: Arc<str>,
        scope: ScopeId,
        inline: u32,
        element: ElementId,
        span: Span,
    ) -> Result<(), FlowError> {
        if !self.label_keys.insert((name.clone(), scope.id(), inline)) {
            return Err(FlowError {
                span,
                message: format!("the label `{name}` is declared twice"),
                help: Some("give one of them another name".into()),
                other: self.labels_named(&name).next_back().map(|l| (l.span, "first declared here")),
            });
        }
        self.by_name.entry(name.clone()).or_default().push(self.labels.len());
        self.by_element.entry(element).or_default().push(self.labels.len());
        self.labels.push(Label { name, scope, element, span });
        Ok(())
    }

    /// All labels and where they are written.
    pub fn label_names(&self) -> impl Iterator<Item = (&Arc<str>, Span)> {
        self.labels.iter().map(|l| (&l.name, l.span))
    }

    /// Whether a label of this name was set.
    pub fn has_label(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    fn labels_at(&self, id: ElementId) -> impl DoubleEndedIterator<Item = &Label> {
        self.by_element.get(&id).into_iter().flatten().map(|&i| &self.labels[i])
    }

    fn labels_named(&self, name: &str) -> impl DoubleEndedIterator<Item = &Label> {
        self.by_name.get(name).into_iter().flatten().map(|&i| &self.labels[i])
    }

    fn new_element(&mut self, node: Node) -> Result<ElementId, FlowError> {
        match node.kind {
            NodeKind::If(ref options) => {
                let options = options.clone();
                self.place_selection(node, options, None)
            }
            NodeKind::Do(ref options, exit) => {
                let options = options.clone();
                self.place_selection(node, options, Some(exit))
            }
            NodeKind::Unless(main, escape) => Ok(self.place_unless(node, main, escape)),
            _ => Ok(self.make(node)),
        }
    }

    fn make(&mut self, node: Node) -> ElementId {
        let id = ElementId(self.elements.len() as u32);
        let (number, statement) = (self.next_number, self.next_statement);
        self.next_number += 1;
        self.next_statement += 1;
        let (next, sub, escapes) = (None, vec![], vec![]);
        self.elements.push(Element { node, number, statement, status: 0, next, sub, escapes });
        id
    }

    fn join(&self, span: Span, text: &str) -> Node {
        self.node(NodeKind::Join, span, text)
    }

    /// `if` and `do`: the selection, a join point that every option leads to, and for `do` the exit.
    fn place_selection(
        &mut self,
        node: Node,
        mut options: Vec<SequenceId>,
        exit: Option<BreakId>,
    ) -> Result<ElementId, FlowError> {
        let span = node.span;
        let selection = self.make(node);
        let text = if exit.is_some() { "(the loop begins again)" } else { "(the choice ends)" };
        let join = self.join(span, text);
        let mut join = self.make(join);
        self.move_else_last(&mut options)?;
        self.element_mut(selection).sub = options.clone();
        for option in options {
            self.append(join, option);
        }
        let current = *self.current.last().unwrap_or(&SequenceId(0));
        if let Some(exit) = exit {
            self.append(join, current);
            let node = self.node(NodeKind::Break, span, "(the loop ends)");
            join = self.make(node);
            self.breaks[exit.0 as usize] = Some(join);
            self.break_stack.pop();
        }
        self.append(selection, current);
        self.append(join, current);
        Ok(selection)
    }

    fn move_else_last(&self, options: &mut Vec<SequenceId>) -> Result<(), FlowError> {
        let elses: Vec<usize> = (0..options.len())
            .filter(|&i| {
                let first = self.sequence(options[i]).first;
                first.is_some_and(|f| matches!(self.element(f).node.kind, NodeKind::Else))
            })
            .collect();
        if let [first, second, ..] = elses[..] {
            let at =
                |i: usize| self.sequence(options[i]).first.map_or(Span::NONE, |f| self.element(f).node.span);
            let (first, span) = (at(first), at(second));
            return Err(FlowError {
                span,
                message: "a selection can have only one `else`".into(),
                help: Some("remove one of them".into()),
                other: Some((first, "the first one")),
            });
        }
        if let [at] = elses[..] {
            let option = options.remove(at);
            options.push(option);
        }
        Ok(())
    }

    fn place_unless(&mut self, node: Node, main: SequenceId, escape: SequenceId) -> ElementId {
        let span = node.span;
        let unless = self.make(node);
        let join = self.join(span, "(the unless ends)");
        let join = self.make(join);
        self.element_mut(unless).sub = vec![main, escape];
        self.append(join, main);
        self.append(join, escape);
        self.attach_escape(main, escape);
        let current = *self.current.last().unwrap_or(&SequenceId(0));
        self.append(unless, current);
        self.append(join, current);
        unless
    }

    /// Lets `escape` cover every element of `sequence`.
    fn attach_escape(&mut self, sequence: SequenceId, escape: SequenceId) {
        let Sequence { first, extent, .. } = *self.sequence(sequence);
        let mut at = first;
        while let Some(id) = at {
            self.escape_element(id, escape);
            if Some(id) == extent {
                break;
            }
            at = self.element(id).next;
        }
    }

    fn escape_element(&mut self, id: ElementId, escape: SequenceId) {
        if self.element(id).escapes.contains(&escape) {
            return;
        }
        for inner in self.element(id).escapes.clone() {
            self.attach_escape(inner, escape);
        }
        self.element_mut(id).escapes.insert(0, escape);
        match self.element(id).node.kind.clone() {
            NodeKind::Unless(main, _) => self.attach_escape(main, escape),
            NodeKind::If(_) | NodeKind::Do(..) => {
                for option in self.element(id).sub.clone() {
                    self.attach_escape(option, escape);
                }
            }
            NodeKind::DStep(body) => {
                if let Some(first) = self.sequence(body).first {
                    self.escape_element(first, escape);
                }
            }
            NodeKind::Atomic(body) | NodeKind::Block(body) => self.attach_escape(body, escape),
            _ => {}
        }
    }

    /// Appends an element to a sequence. A jump with an accept, end or progress label gets a skip in front,
    /// which takes the label, because jumps have no state of their own.
    fn append(&mut self, id: ElementId, sequence: SequenceId) {
        if matches!(self.element(id).node.kind, NodeKind::Goto(_))
            && self.labels_at(id).any(|l| is_special(&l.name))
        {
            let span = self.element(id).node.span;
            let skip = self.node(NodeKind::Basic(Box::new(Action::Skip)), span, "(1)");
            let skip = self.make(skip);
            if let Some(moved) = self.by_element.get_mut(&id).and_then(Vec::pop) {
                self.labels[moved].element = skip;
                self.by_element.entry(skip).or_default().push(moved);
            }
            self.append(skip, sequence);
        }
        let s = &mut self.sequences[sequence.0 as usize];
        let previous = s.last.replace(id);
        if s.first.is_none() {
            s.first = Some(id);
        }
        if let Some(previous) = previous {
            self.element_mut(previous).next = Some(id);
        }
    }

    /// Drops skips that follow another skip or print inside an option (Spin does so for every `if` and `do`).
    pub fn prune_option(&mut self, sequence: SequenceId) {
        let Sequence { first, last, extent } = *self.sequence(sequence);
        let (mut at, mut previous, mut run) = (first, None::<ElementId>, 0);
        while let Some(id) = at {
            let next = self.element(id).next;
            let kind = &self.element(id).node.kind;
            if kind.is_skip() && self.labels_at(id).next().is_none() {
                run += 1;
                let removable = run > 1 && !kind.is_print() && ![first, last, extent].contains(&Some(id));
                if let (true, Some(p)) = (removable, previous) {
                    self.element_mut(p).next = next;
                    at = next;
                    continue;
                }
            } else {
                run = 0;
            }
            previous = Some(id);
            at = next;
        }
    }

    /// Marks a sequence as atomic (or, with `IN_D_STEP`, as a d_step); its last step ends the atomicity.
    pub fn make_atomic(&mut self, sequence: SequenceId, added: u8) {
        let Sequence { first: Some(first), last: Some(last), .. } = *self.sequence(sequence) else { return };
        self.walk_atomic(first, last, added);
        match self.element(last).node.kind {
            NodeKind::Block(inner) | NodeKind::Atomic(inner) => self.make_atomic(inner, added),
            NodeKind::Unless(main, _) => self.make_atomic(main, added),
            _ => {
                let status = &mut self.element_mut(last).status;
                *status = (*status & !ATOMIC) | LAST_ATOMIC;
            }
        }
    }

    fn walk_atomic(&mut self, first: ElementId, last: ElementId, added: u8) {
        let mut at = Some(first);
        while let Some(id) = at {
            self.element_mut(id).status |= ATOMIC | added;
            let inner = match self.element(id).node.kind {
                NodeKind::Atomic(s) | NodeKind::Block(s) => Some(s),
                NodeKind::DStep(s) if added != 0 => Some(s),
                _ => None,
            };
            if let Some(s) = inner {
                self.element_mut(id).node.kind = NodeKind::Block(s);
                self.walk_sequence(s, added);
            }
            for s in self.element(id).sub.clone() {
                self.walk_sequence(s, added);
            }
            if id == last {
                break;
            }
            at = self.element(id).next;
        }
    }

    fn walk_sequence(&mut self, sequence: SequenceId, added: u8) {
        if let Sequence { first: Some(f), last: Some(l), .. } = *self.sequence(sequence) {
            self.walk_atomic(f, l, added);
        }
    }

    /// Whether every jump inside a d_step that begins with element `start` stays inside it.
    pub fn jumps_stay_local(&self, sequence: SequenceId, start: u32) -> Result<(), Span> {
        let Sequence { first, last, .. } = *self.sequence(sequence);
        let mut at = first;
        while let Some(id) = at.filter(|&id| Some(id) != last) {
            self.jump_is_local(id, start)?;
            at = self.element(id).next;
        }
        Ok(())
    }

    fn jump_is_local(&self, id: ElementId, start: u32) -> Result<(), Span> {
        let element = self.element(id);
        if let NodeKind::Goto(target) = &element.node.kind
            && self.target(target).is_none_or(|t| t.0 < start)
        {
            return Err(element.node.span);
        }
        for &s in &element.sub {
            self.jumps_stay_local(s, start)?;
        }
        Ok(())
    }

    /// The element that a jump leads to, if it is known.
    pub fn target(&self, target: &Target) -> Option<ElementId> {
        match target {
            Target::Break(id) => self.breaks[id.0 as usize],
            Target::Label(name, scope) => self.find_label(name, scope),
        }
    }

    /// Spin's rule for labels of one name: the one of the same block, else one of an enclosing block, else
    /// any.
    fn find_label(&self, name: &str, scope: &ScopeId) -> Option<ElementId> {
        let mut any = None;
        for label in self.labels_named(name).rev() {
            if label.scope == *scope {
                return Some(label.element);
            }
            if scope.within(&label.scope) || any.is_none() {
                any = Some(label.element);
            }
        }
        any
    }

    /// The element of a label as another process refers to it: the one declared last.
    pub fn remote_label(&self, name: &str) -> Option<ElementId> {
        self.labels_named(name).next_back().map(|l| l.element)
    }

    /// Makes the label's element a control point that a process can be at: a jump becomes a skip followed by
    /// the jump, which is then statement number `statement` of the model. Whether there was a jump.
    pub fn expose_label(&mut self, id: ElementId, statement: u32) -> bool {
        if !matches!(self.element(id).node.kind, NodeKind::Goto(_)) {
            return false;
        }
        let jump = self.element(id).clone();
        let number = self.next_number;
        self.next_number += 1;
        self.elements.push(Element { number, statement, status: 0, sub: vec![], escapes: vec![], ..jump });
        let copy = ElementId(self.elements.len() as u32 - 1);
        let element = self.element_mut(id);
        element.node.kind = NodeKind::Basic(Box::new(Action::Skip));
        element.node.text = "(1)".into();
        element.next = Some(copy);
        true
    }

    /// Ties the end of every block to what follows the block.
    pub fn tie_loose_ends(&mut self) {
        for i in (0..self.elements.len()).rev() {
            let body = match self.elements[i].node.kind {
                NodeKind::Atomic(s) | NodeKind::Block(s) | NodeKind::DStep(s) => s,
                _ => continue,
            };
            let mut after = self.elements[i].next;
            if after.is_none() {
                continue;
            }
            while let Some(id) = after.filter(|&id| matches!(self.element(id).node.kind, NodeKind::Join)) {
                after = self.element(id).next;
            }
            let Some(last) = self.sequence(body).last else { continue };
            match self.element(last).next {
                None => self.element_mut(last).next = after,
                Some(n) if matches!(self.element(n).node.kind, NodeKind::Goto(_)) => {
                    self.sequences[body.0 as usize].last = Some(n);
                }
                Some(_) => {}
            }
        }
    }
}

/// Labels that mean something to a verifier.
pub fn is_special(name: &str) -> bool {
    name.starts_with("accept") || name.starts_with("end") || name.starts_with("progress")
}
