//! Statements: each becomes a control-flow node, placed in the order in which Spin places it.

use super::Lowerer;
use super::expr::{constant, count_operators};
use super::flow::{Flow, FlowError, IN_D_STEP, Node, NodeKind, Opened, SequenceId, Target};
use super::loops::step;
use super::names::{Predefined, Referent, Symbol, predefined, scratch};
use crate::ast::{self, Block, Initializer, Step, Stmt, StmtKind, VarRef};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{Action, Base, Expr, ExprKind, MtypeId, Place, ProctypeKind, RecvArg, Scalar, Type};
use crate::source::Span;
use std::sync::Arc;

const LABEL_BLOCK: Opened = Opened::NoLabel("put the label in front of the block: `label: { … }`");
const LABEL_ATOMIC: Opened = Opened::NoLabel("put the label in front: `label: atomic { … }`");
const LABEL_D_STEP: Opened = Opened::NoLabel("put the label in front: `label: d_step { … }`");
const LABEL_ESCAPE: Opened =
    Opened::NoLabel("the guard of an escape is no place to jump to: remove the label");
const LABEL_MAIN: Opened = Opened::NoLabel("write `label: { statement unless statement }`");

impl Lowerer<'_> {
    pub(super) fn flow(&mut self) -> &mut Flow {
        // Statements are lowered only while a proctype is open; an empty context keeps this total.
        let proctype = crate::ir::ProctypeId(0);
        &mut self
            .context
            .get_or_insert_with(|| Box::new(super::Context::new(proctype, ProctypeKind::Proctype, 0)))
            .flow
    }

    fn kind(&self) -> ProctypeKind {
        self.context.as_ref().map_or(ProctypeKind::Proctype, |c| c.kind)
    }

    pub(super) fn text(&self, span: Span) -> String {
        self.sources.text(span).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(super) fn node(&mut self, kind: NodeKind, span: Span) -> Node {
        let text = self.text(span);
        self.flow().node(kind, span, text)
    }

    pub(super) fn basic(&mut self, action: Action, span: Span) -> Node {
        self.node(NodeKind::Basic(Box::new(action)), span)
    }

    pub(super) fn add(&mut self, node: Node) {
        let inline = self.context.as_ref().map_or(0, |c| c.inline);
        if let Err(e) = self.flow().add(node, inline) {
            self.flow_error(e);
        }
    }

    fn closed(&mut self, result: Result<SequenceId, FlowError>) -> Option<SequenceId> {
        result.map_err(|e| self.flow_error(e)).ok()
    }

    pub(super) fn close(&mut self, opened: Opened, span: Span) -> Option<SequenceId> {
        let result = self.flow().close(opened, span);
        self.closed(result)
    }

    pub(super) fn enter(&mut self) {
        if let Some(c) = self.context.as_mut() {
            c.enter_scope();
        }
    }

    pub(super) fn leave(&mut self) {
        if let Some(c) = self.context.as_mut() {
            c.leave_scope();
        }
    }

    pub(super) fn no_more_initializers(&mut self) {
        if let Some(c) = self.context.as_mut() {
            c.initialization_ok = false;
        }
    }

    /// The steps of a block, added to the current sequence.
    pub(super) fn steps(&mut self, block: &Block) {
        for step in &block.steps {
            match step {
                Step::Decl(decl) => self.declare_locals(decl),
                Step::Exclusive(x) => self.exclusive(x),
                Step::Stmt(stmt) => {
                    if let Some(node) = self.stmt_or_skip(stmt) {
                        self.add(node);
                    }
                    self.no_more_initializers();
                }
                Step::Unless(main, escape) => {
                    if let Some(node) = self.unless(main, escape) {
                        self.add(node);
                    }
                    self.no_more_initializers();
                }
            }
        }
    }

    /// A block with braces: a scope of its own.
    fn sequence(&mut self, block: &Block, opened: Opened) -> Option<SequenceId> {
        self.enter();
        let sequence = self.option(block, opened);
        self.leave();
        sequence
    }

    /// A sequence without braces: an option.
    fn option(&mut self, block: &Block, opened: Opened) -> Option<SequenceId> {
        self.flow().open();
        self.no_more_initializers();
        self.steps(block);
        self.close(opened, block.span)
    }

    fn declare_locals(&mut self, decl: &ast::Decl) {
        let init_ok = self.context.as_ref().is_some_and(|c| c.initialization_ok);
        let mut names = Vec::new();
        for var in &decl.vars {
            let Some(declared) = self.declared(decl, var, true) else {
                self.poisoned.insert(var.name.name.clone());
                continue;
            };
            if !self.may_declare(&var.name) {
                continue;
            }
            let index = self.add_local(var, declared.ty.clone(), declared.hidden);
            self.pending_names.insert(var.name.name.clone());
            names.push((var.name.name.clone(), index));
            let proctype = self.context.as_ref().map(|c| c.proctype);
            self.note_message((proctype, index), &var.init);
            self.note_initial_value(&var.name.name, &declared.init);
            let cell = self.context.as_ref().map_or(0, |c| c.locals[index].cell);
            if init_ok {
                let span = var.name.span;
                let steps = self.init_steps(Base::Local, cell, &declared.ty, declared.init.as_ref(), span);
                if let Some(c) = self.context.as_mut() {
                    c.init.extend(steps);
                }
            } else {
                self.struct_inits(cell, &declared.ty, var.name.span);
                self.late_initializer(var, cell, &declared);
            }
        }
        self.show_names(names);
    }

    /// Fields with initial values get them when the process starts, wherever the declaration stands.
    fn struct_inits(&mut self, cell: u32, ty: &Type, span: Span) {
        let element = match ty {
            Type::Array(element, _) => element,
            other => other,
        };
        if matches!(element, Type::Struct(_)) {
            let steps = self.init_steps(Base::Local, cell, ty, None, span);
            if let Some(c) = self.context.as_mut() {
                c.init.extend(steps);
            }
        }
    }

    /// A declaration behind the first statement is an assignment where it stands; of an array only the first
    /// element is set.
    fn late_initializer(&mut self, var: &ast::VarDecl, cell: u32, declared: &super::types::Declared) {
        let span = var.name.span;
        let element = match &declared.ty {
            Type::Array(element, _) => (**element).clone(),
            other => other.clone(),
        };
        let place = match element {
            Type::Scalar(scalar) => Place { base: Base::Local, cell, indices: Vec::new(), scalar, span },
            _ => scratch(span),
        };
        let value = match (&var.init, &declared.init) {
            (Some(Initializer::Chan(init)), _) => {
                let message = format!("the channel `{}` is initialised behind a statement", var.name.name);
                self.push(
                    Diagnostic::new(Code::E0114, init.span, message)
                        .help("move the declaration to the beginning of the proctype"),
                );
                return;
            }
            (Some(Initializer::List(_, at)), _) => {
                self.push(
                    Diagnostic::new(
                        Code::E0240,
                        *at,
                        "a list can initialise an array only at the beginning of a proctype",
                    )
                    .help("move the declaration to the beginning of the proctype"),
                );
                return;
            }
            (Some(Initializer::Expr(_)), Some(super::types::FieldInit::Value(e))) => e.clone(),
            _ => constant(0, span),
        };
        let node = self.basic(Action::Assign(place, value), span);
        self.add(node);
    }

    /// The statement or, if it has errors, something in its place: no sequence is empty and no label lost
    /// because of them.
    fn stmt_or_skip(&mut self, stmt: &Stmt) -> Option<Node> {
        let node = self.stmt(stmt);
        if node.is_none() && self.broken() {
            return Some(self.basic(Action::Skip, stmt.span));
        }
        node
    }

    fn stmt(&mut self, stmt: &Stmt) -> Option<Node> {
        self.ticks.tick(self.sources.stop());
        if matches!(self.kind(), ProctypeKind::Trace | ProctypeKind::NoTrace) {
            self.check_event(stmt);
        }
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Labeled(label, inner) => self.labeled(label, inner.as_deref(), span),
            StmtKind::Assign(target, value) => self.assign(target, value, span),
            StmtKind::Increment(target, by) => self.increment(target, *by, span),
            StmtKind::Send { chan, sorted, args } => self.send(chan, *sorted, args, span),
            StmtKind::Receive { chan, random, keep, args } => self.receive(chan, *random, *keep, args, span),
            StmtKind::If(_)
            | StmtKind::Do(_)
            | StmtKind::Goto(_)
            | StmtKind::Else
            | StmtKind::Atomic(_)
            | StmtKind::Block(_) => self.control(stmt),
            StmtKind::ForRange(var, lo, hi, body) => self.for_range(var, lo, hi, body, span),
            StmtKind::ForIn(var, over, body) => self.for_in(var, over, body, span),
            StmtKind::Select(var, lo, hi) => self.select_value(var, lo, hi, span),
            StmtKind::Break => self.break_out(span),
            StmtKind::Expr(e) if self.is_fence(e) => Some(self.fence(span)),
            StmtKind::Expr(e) => self.guard(e, span),
            StmtKind::Assert(e) => {
                let e = self.expr(e);
                Some(self.basic(Action::Assert(e), span))
            }
            StmtKind::Printf(format, args) => {
                let args = args.iter().map(|a| self.expr(a)).collect();
                Some(self.basic(Action::Printf(format.to_string(), args), span))
            }
            StmtKind::Printm(e) => self.printm(e, span),
            StmtKind::DStep(block) => self.d_step(block, span),
            StmtKind::Inline(inline) => self.inline(inline, span),
            StmtKind::SetPriority(pid, priority) => {
                self.program.uses.priority = true;
                let (pid, priority) = (self.expr(pid), self.expr(priority));
                Some(self.basic(Action::SetPriority(pid, priority), span))
            }
            StmtKind::Lock(var) => {
                let place = self.lock_place(var)?;
                Some(self.basic(Action::Lock(place), span))
            }
            StmtKind::Unlock(var) => {
                let place = self.lock_place(var)?;
                Some(self.basic(Action::Unlock(place), span))
            }
            StmtKind::RunIterated(run) => self.run_iterated(run, span),
            StmtKind::EmbeddedC(c) => {
                let piece = self.piece_of_c(c)?;
                Some(self.basic(Action::C(piece), span))
            }
            StmtKind::Error => None,
        }
    }

    /// Statements that consist of control flow alone.
    fn control(&mut self, stmt: &Stmt) -> Option<Node> {
        let kind = match &stmt.kind {
            StmtKind::If(options) => NodeKind::If(self.options(options)),
            StmtKind::Do(options) => {
                let exit = self.flow().push_break();
                NodeKind::Do(self.options(options), exit)
            }
            StmtKind::Goto(label) => {
                let scope = self.label_name(label)?;
                NodeKind::Goto(Target::Label(label.name.clone(), scope))
            }
            StmtKind::Atomic(block) => {
                let sequence = self.sequence(block, LABEL_ATOMIC)?;
                self.flow().make_atomic(sequence, 0);
                NodeKind::Atomic(sequence)
            }
            StmtKind::Block(block) => NodeKind::Block(self.sequence(block, LABEL_BLOCK)?),
            _ => NodeKind::Else,
        };
        Some(self.node(kind, stmt.span))
    }

    /// Trace assertions consist of events and control flow only.
    fn check_event(&mut self, stmt: &Stmt) {
        let event = match &stmt.kind {
            StmtKind::Send { sorted, .. } => !sorted,
            StmtKind::Receive { random, keep, .. } => !random && !keep,
            StmtKind::Labeled(..)
            | StmtKind::If(_)
            | StmtKind::Do(_)
            | StmtKind::Break
            | StmtKind::Goto(_) => true,
            StmtKind::ForRange(..) | StmtKind::ForIn(..) | StmtKind::Select(..) | StmtKind::Error => true,
            _ => false,
        };
        if !event {
            self.push(
                Diagnostic::new(
                    Code::E0130,
                    stmt.span,
                    "not an event: a trace consists of sends and receives",
                )
                .help("only `c!…`, `c?…`, if, do, goto, break and labels can be used here"),
            );
        }
    }

    fn label_name(&mut self, label: &ast::Ident) -> Option<super::scope::ScopeId> {
        if let Some(Symbol::Global(_) | Symbol::Local(_)) = self.find(&label.name) {
            let message = format!("`{}` is a variable: it cannot be a label as well", label.name);
            let d = Diagnostic::new(Code::E0306, label.span, message).help("give the label another name");
            self.push_with_declaration(d, &label.name);
            return None;
        }
        Some(self.context.as_mut()?.label_scope(&label.name))
    }

    fn labeled(&mut self, label: &ast::Ident, inner: Option<&Stmt>, span: Span) -> Option<Node> {
        let scope = self.label_name(label)?;
        let inner = match inner {
            Some(inner) => self.stmt_or_skip(inner)?,
            None => self.basic(Action::Skip, span),
        };
        let span = label.span;
        Some(self.node(NodeKind::Labeled(label.name.clone(), scope, Box::new(inner)), span))
    }

    fn options(&mut self, options: &[Block]) -> Vec<SequenceId> {
        let sequences: Vec<SequenceId> =
            options.iter().filter_map(|block| self.option(block, Opened::AnyLabel)).collect();
        if self.has_exclusive {
            self.check_else_beside_messages(&sequences);
        }
        if self.kind() != ProctypeKind::Never {
            for &s in &sequences {
                self.flow().prune_option(s);
            }
        }
        sequences
    }

    fn assign(&mut self, target: &VarRef, value: &ast::Expr, span: Span) -> Option<Node> {
        if let Some(p) = self.predefined_target(target) {
            return self.assign_predefined(p, target, value, span);
        }
        self.check_self_index(target);
        let place = self.place(target)?;
        self.check_channels_in_value(target, value);
        self.check_assigned_value(target, &place, value);
        let value = self.expr(value);
        Some(self.basic(Action::Assign(place, value), span))
    }

    fn predefined_target(&self, target: &VarRef) -> Option<Predefined> {
        let [part] = &target.parts[..] else { return None };
        if self.find(&part.name.name).is_some() {
            return None;
        }
        predefined(&part.name.name)
    }

    fn assign_predefined(
        &mut self,
        p: Predefined,
        target: &VarRef,
        value: &ast::Expr,
        span: Span,
    ) -> Option<Node> {
        match p {
            Predefined::Scratch => {
                let value = self.expr(value);
                Some(self.basic(Action::Assign(scratch(target.span), value), span))
            }
            Predefined::Priority => {
                self.program.uses.priority = true;
                let pid = Expr { kind: ExprKind::Pid, span: target.span };
                let value = self.expr(value);
                Some(self.basic(Action::SetPriority(pid, value), span))
            }
            _ => {
                let name = &target.parts[0].name.name;
                self.error(Code::E0227, target.span, format!("`{name}` cannot be assigned to"));
                None
            }
        }
    }

    /// Spin refuses an array whose index is an element of the same array, as in `a[a[0]] = 1`.
    fn check_self_index(&mut self, target: &VarRef) {
        let mut open = Vec::new();
        if let Some(span) = self_index(target, &mut open) {
            self.push(
                Diagnostic::new(Code::E0241, span, "an array is indexed with itself")
                    .help("put the index into a variable first"),
            );
        }
    }

    fn check_assigned_value(&mut self, target: &VarRef, place: &Place, value: &ast::Expr) {
        let name = &target.parts[0].name;
        if target.parts.len() == 1
            && let ast::ExprKind::Var(r) = &value.kind
            && let [part] = &r.parts[..]
            && let Some((set, ..)) = self.constants.get(&part.name.name)
        {
            let set = *set;
            self.check_set(name, place.scalar, set, value.span);
        }
    }

    /// A variable takes constants of one mtype set only.
    fn check_set(&mut self, name: &ast::Ident, scalar: Scalar, set: MtypeId, value: Span) {
        let key = match self.find(&name.name) {
            Some(Symbol::Global(i)) => (None, i),
            Some(Symbol::Local(i)) => (self.context.as_ref().map(|c| c.proctype), i),
            _ => return,
        };
        let declared = match scalar {
            Scalar::Mtype(s) if self.program.mtypes[s.index()].name != super::types::UNNAMED => Some(s),
            _ => None,
        };
        let before = declared.or_else(|| self.assigned_sets.get(&key).copied());
        match before {
            None => {
                self.assigned_sets.insert(key, set);
            }
            Some(before) if before != set => {
                let message = format!(
                    "`{}` holds constants of mtype `{}`, but is assigned one of `{}`",
                    name.name,
                    self.program.mtypes[before.index()].name,
                    self.program.mtypes[set.index()].name
                );
                let d = Diagnostic::new(Code::E0242, value, message);
                self.push_with_declaration(d, &name.name);
            }
            Some(_) => {}
        }
    }

    fn increment(&mut self, target: &VarRef, by: i32, span: Span) -> Option<Node> {
        if self.predefined_target(target).is_some() {
            let name = &target.parts[0].name.name;
            self.error(Code::E0227, target.span, format!("`{name}` cannot be incremented"));
            return None;
        }
        self.check_self_index(target);
        let place = self.place(target)?;
        if place.scalar == Scalar::Chan {
            let d = Diagnostic::new(Code::E0401, target.span, "a channel cannot be counted up or down");
            self.push_with_declaration(d, &target.parts[0].name.name);
            return None;
        }
        let value = step(&place, by, span);
        Some(self.basic(Action::Assign(place, value), span))
    }

    fn send(&mut self, chan: &VarRef, sorted: bool, args: &[ast::Expr], span: Span) -> Option<Node> {
        if self.kind() == ProctypeKind::Never {
            self.claim_moves(span);
        }
        let reference = chan;
        let chan = self.channel(chan)?;
        if let Some(bad) = args.iter().find(|a| super::expr::ast_contains_run(a)) {
            self.error(Code::E0504, bad.span, "`run` cannot be used in a message");
        }
        if matches!(self.kind(), ProctypeKind::Trace | ProctypeKind::NoTrace) {
            let args = self.event_args(args);
            self.note_send(args.len(), reference, span);
            return Some(self.basic(Action::Event { send: true, chan, args }, span));
        }
        let args = self.args(args);
        self.note_send(args.len(), reference, span);
        Some(self.basic(Action::Send { chan, sorted, args }, span))
    }

    /// Whether the message is too long is known when all channels are.
    fn note_send(&mut self, fields: usize, chan: &VarRef, span: Span) {
        let declared = chan.parts.first().and_then(|part| self.span_of(&part.name.name));
        self.sends.push((fields, span, declared));
    }

    fn claim_moves(&mut self, span: Span) {
        let d = Diagnostic::new(Code::E0519, span, "a never claim cannot send or receive");
        self.push(d.help("a claim only observes: ask with `c?[…]`, `len(c)`, `empty(c)` or `full(c)`"));
    }

    fn receive(
        &mut self,
        chan: &VarRef,
        random: bool,
        keep: bool,
        args: &[ast::RecvArg],
        span: Span,
    ) -> Option<Node> {
        if self.kind() == ProctypeKind::Never {
            self.claim_moves(span);
        }
        let chan = self.channel(chan)?;
        self.check_repeated_variable(args);
        let args = self.recv_args(args);
        if matches!(self.kind(), ProctypeKind::Trace | ProctypeKind::NoTrace) {
            let args = args
                .into_iter()
                .map(|a| if let RecvArg::Store(_) = a { RecvArg::Ignore } else { a })
                .collect();
            return Some(self.basic(Action::Event { send: false, chan, args }, span));
        }
        Some(self.basic(Action::Receive { chan, random, keep, args }, span))
    }

    fn check_repeated_variable(&mut self, args: &[ast::RecvArg]) {
        let mut seen: Vec<Arc<str>> = Vec::new();
        for arg in args {
            let ast::RecvArg::Var(r) = arg else { continue };
            let [part] = &r.parts[..] else { continue };
            let name = &part.name.name;
            if part.index.is_some() || &**name == "_" || self.constants.contains_key(name) {
                continue;
            }
            if seen.contains(name) {
                self.push(
                    Diagnostic::new(
                        Code::E0408,
                        r.span,
                        format!("`{name}` is used for more than one field of a message"),
                    )
                    .help("use another variable, or `_` for a field that is not needed"),
                );
            }
            seen.push(name.clone());
        }
    }

    /// `fence` is a statement where nothing else has that name.
    fn is_fence(&self, e: &ast::Expr) -> bool {
        let ast::ExprKind::Var(VarRef { parts, .. }) = &e.kind else { return false };
        let process = matches!(self.kind(), ProctypeKind::Proctype | ProctypeKind::Init);
        match &parts[..] {
            [only] if process && only.index.is_none() && *only.name.name == *"fence" => {
                self.find("fence").is_none()
                    && !self.constants.contains_key("fence")
                    && !self.iterators.iter().any(|(name, _)| &**name == "fence")
            }
            _ => false,
        }
    }

    /// Without store buffers there is nothing to wait for.
    fn fence(&mut self, span: Span) -> Node {
        let always = Expr { kind: ExprKind::Const(1), span };
        Node { fence: true, ..self.basic(Action::Guard(always), span) }
    }

    fn guard(&mut self, e: &ast::Expr, span: Span) -> Option<Node> {
        let (runs, operators) = count_operators(e);
        if runs > 1 || (runs == 1 && operators > 0) {
            self.push(
                Diagnostic::new(Code::E0504, e.span, "`run` cannot be part of a larger expression")
                    .help("assign its value to a variable first"),
            );
        }
        let e = self.expr(e);
        let action = if matches!(e.kind, ExprKind::Const(1)) { Action::Skip } else { Action::Guard(e) };
        Some(self.basic(action, span))
    }

    fn printm(&mut self, e: &ast::Expr, span: Span) -> Option<Node> {
        let set = match &e.kind {
            ast::ExprKind::Var(r) => match self.resolve(r, false) {
                Some(Referent::Constant(_, set)) => Some(set),
                Some(Referent::Cells(place, _)) => match place.scalar {
                    Scalar::Mtype(set) => Some(set),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        };
        let e = self.expr(e);
        Some(self.basic(Action::Printm(e, set), span))
    }

    fn break_out(&mut self, span: Span) -> Option<Node> {
        match self.flow().break_stack.last().copied() {
            Some(exit) => Some(self.node(NodeKind::Goto(Target::Break(exit)), span)),
            None => {
                self.push(
                    Diagnostic::new(Code::E0309, span, "`break` outside of a loop")
                        .help("only `do` and `for` can be left"),
                );
                None
            }
        }
    }

    fn d_step(&mut self, block: &Block, span: Span) -> Option<Node> {
        let start = self.flow().elements.len() as u32;
        self.flow().d_step = Some(start);
        let sequence = self.sequence(block, LABEL_D_STEP);
        let node = sequence.map(|s| self.node(NodeKind::DStep(s), span));
        if let Some(sequence) = sequence {
            if let Err(at) = self.flow().jumps_stay_local(sequence, start) {
                self.push(
                    Diagnostic::new(Code::E0303, at, "a jump out of a d_step sequence")
                        .label(span, "this is the d_step")
                        .help("use `atomic` instead"),
                );
            }
            self.flow().make_atomic(sequence, IN_D_STEP);
        }
        self.flow().d_step = None;
        node
    }

    fn inline(&mut self, inline: &ast::InlineUse, span: Span) -> Option<Node> {
        for arg in &inline.args {
            self.check_argument_names(arg);
        }
        self.no_more_initializers();
        let outer = self.context.as_mut().map(|c| {
            c.n_inlines += 1;
            std::mem::replace(&mut c.inline, c.n_inlines)
        });
        let sequence = self.sequence(&inline.body, LABEL_BLOCK);
        if let (Some(c), Some(outer)) = (self.context.as_mut(), outer) {
            c.inline = outer;
        }
        let sequence = sequence?;
        Some(self.node(NodeKind::Block(sequence), span))
    }

    fn unless(&mut self, main: &Stmt, escape: &Stmt) -> Option<Node> {
        let no = self.stmt(main);
        self.no_more_initializers();
        // While the escape is read, `break` means the loop around the one that is escaped from.
        let hidden = match &no {
            Some(Node { kind: NodeKind::Do(..), .. }) => self.flow().break_stack.pop(),
            _ => None,
        };
        let es = self.stmt(escape);
        if let Some(exit) = hidden {
            self.flow().break_stack.push(exit);
        }
        let (no, es) = (no?, es?);
        let escape = match es.kind {
            NodeKind::Block(s) => s,
            _ => self.single(es, LABEL_ESCAPE)?,
        };
        let span = no.span;
        match no.kind {
            NodeKind::Block(s) => Some(self.node(NodeKind::Unless(s, escape), span)),
            NodeKind::Labeled(name, scope, inner) if is_block(&inner.kind) => {
                let (NodeKind::Block(s) | NodeKind::Atomic(s) | NodeKind::DStep(s)) = inner.kind else {
                    return None;
                };
                let unless = self.node(NodeKind::Unless(s, escape), span);
                let lifted = self.single(unless, Opened::AnyLabel)?;
                let kind = match inner.kind {
                    NodeKind::Atomic(_) => NodeKind::Atomic(lifted),
                    NodeKind::DStep(_) => NodeKind::DStep(lifted),
                    _ => NodeKind::Block(lifted),
                };
                let block = self.node(kind, span);
                Some(self.node(NodeKind::Labeled(name, scope, Box::new(block)), span))
            }
            kind => {
                let main = self.single(Node { kind, ..no }, LABEL_MAIN)?;
                Some(self.node(NodeKind::Unless(main, escape), span))
            }
        }
    }

    /// A sequence of one statement.
    fn single(&mut self, node: Node, opened: Opened) -> Option<SequenceId> {
        let span = node.span;
        self.flow().open();
        self.add(node);
        self.close(opened, span)
    }

    fn lock_place(&mut self, var: &VarRef) -> Option<Place> {
        let place = self.place(var)?;
        if !matches!(place.scalar, Scalar::Lock | Scalar::Sema) {
            self.push(
                Diagnostic::new(
                    Code::E0243,
                    var.span,
                    "`lock` and `unlock` need a variable of type lock or sema",
                )
                .help("declare it with `lock x` or `sema x = 1`"),
            );
            return None;
        }
        Some(place)
    }

    /// PV's `run [i<n] p(i)`: one `run` after the other.
    fn run_iterated(&mut self, run: &ast::RunIterated, span: Span) -> Option<Node> {
        let mut bounds = Vec::new();
        for (name, bound) in &run.iterators {
            let n = self.constant(bound)?;
            if !(1..=255).contains(&n) {
                self.error(
                    Code::E0520,
                    bound.span,
                    format!("the iterator `{}` runs to {n}, not to 1..255", name.name),
                );
                return None;
            }
            bounds.push((name.name.clone(), n as i32));
        }
        let total: i64 = bounds.iter().map(|(_, n)| i64::from(*n)).product();
        if total > 255 {
            self.error(Code::E0511, span, format!("{total} processes: there can be at most 255"));
            return None;
        }
        self.flow().open();
        for k in 0..total as i32 {
            let n_before = self.iterators.len();
            let mut rest = k;
            let mut values: Vec<(Arc<str>, i32)> = Vec::new();
            for (name, n) in bounds.iter().rev() {
                values.push((name.clone(), rest % n));
                rest /= n;
            }
            self.iterators.extend(values.into_iter().rev());
            let kind = self.run(&run.proctype, &run.args, run.priority.as_ref(), span);
            self.iterators.truncate(n_before);
            let node = self.basic(Action::Guard(Expr { kind: kind?, span }), span);
            self.add(node);
        }
        let sequence = self.close(LABEL_BLOCK, span)?;
        Some(self.node(NodeKind::Block(sequence), span))
    }
}

fn is_block(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Block(_) | NodeKind::Atomic(_) | NodeKind::DStep(_))
}

/// The place where an array is indexed with one of its own elements; `open` are the arrays around.
fn self_index(reference: &VarRef, open: &mut Vec<String>) -> Option<Span> {
    let mut name = String::new();
    for part in &reference.parts {
        if !name.is_empty() {
            name.push('.');
        }
        name.push_str(&part.name.name);
        let Some(index) = &part.index else { continue };
        name.push_str("[]");
        let ast::ExprKind::Var(inner) = &index.kind else { continue };
        open.push(name.clone());
        let found = if open.contains(&path_of(inner)) { Some(index.span) } else { self_index(inner, open) };
        open.pop();
        if found.is_some() {
            return found;
        }
    }
    None
}

/// The names of a reference, with `[]` where there is an index.
fn path_of(reference: &VarRef) -> String {
    let part = |p: &ast::RefPart| format!("{}{}", p.name.name, if p.index.is_some() { "[]" } else { "" });
    reference.parts.iter().map(part).collect::<Vec<_>>().join(".")
}
