//! Proctypes, init, never claims and traces.

use super::flow::{FlowError, NodeKind, Opened};
use super::{Context, Lowerer, empty_proctype};
use crate::ast::{self, Item, Unit};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{ActiveProcess, Base, Proctype, ProctypeId, ProctypeKind, Type, Var};
use crate::source::Span;

/// The most processes that can exist at once.
const MAX_PROCESSES: i64 = 255;

impl Lowerer<'_> {
    /// Gives every proctype, claim and trace its number, so that `run` may name one that is declared later.
    pub(super) fn announce_proctypes(&mut self, unit: &Unit) {
        let mut n_never = 0;
        for item in &unit.items {
            let (name, kind, span) = match item {
                Item::Proctype(p) => (p.name.name.to_string(), ProctypeKind::Proctype, p.name.span),
                Item::Init(i) => (":init:".into(), ProctypeKind::Init, i.span),
                Item::Never(c) => {
                    let name =
                        c.name.as_ref().map_or_else(|| format!("never_{n_never}"), |n| n.name.to_string());
                    n_never += 1;
                    (name, ProctypeKind::Never, c.span)
                }
                Item::Trace(t) if t.negated => (":notrace:".into(), ProctypeKind::NoTrace, t.span),
                Item::Trace(t) => (":trace:".into(), ProctypeKind::Trace, t.span),
                _ => continue,
            };
            let id = ProctypeId(self.program.proctypes.len() as u32);
            if let Item::Proctype(p) = item {
                self.proctype_ids.entry(p.name.name.clone()).or_insert(id);
            }
            self.program.proctypes.push(empty_proctype(name, kind, span));
        }
        if self.program.proctypes.len() > 255 {
            let span = self.program.proctypes[255].span;
            let d = Diagnostic::new(Code::E0509, span, "more than 255 proctypes");
            self.push(d.help("give one proctype a parameter instead of writing many that are alike"));
        }
    }

    fn next_proctype(&mut self) -> ProctypeId {
        let id = ProctypeId(self.next_id);
        self.next_id += 1;
        id
    }

    pub(super) fn proctype(&mut self, p: &ast::Proctype) {
        let id = self.next_proctype();
        if self.proctype_ids.get(&p.name.name) != Some(&id) {
            let message = format!("the proctype `{}` is declared twice", p.name.name);
            let mut d =
                Diagnostic::new(Code::E0510, p.name.span, message).help("give one of them another name");
            if let Some(first) = self.proctype_ids.get(&p.name.name) {
                d = d.label(self.program.proctype(*first).span, "first declared here");
            }
            self.push(d);
            return;
        }
        self.may_declare(&p.name);
        self.declared_proctypes.insert(id);
        let mut context = Context::new(id, ProctypeKind::Proctype, self.n_statements);
        context.initialization_ok = true;
        self.context = Some(Box::new(context));
        self.parameters(&p.params);
        let n_params = self.context.as_ref().map_or(0, |c| c.n_cells);
        self.program.proctypes[id.index()].n_params = n_params;
        let priority = match &p.active {
            Some(_) => self.priority(p.priority.as_ref()),
            None => 1,
        };
        self.program.uses.priority |= p.priority.is_some();
        let provided = p.provided.as_ref().map(|e| {
            self.check_provided(e);
            self.expr(e)
        });
        let count = match &p.active {
            Some(active) => active.count.as_ref().map_or(Some(1), |c| self.bound(c, 0)),
            None => Some(0),
        };
        self.body(&p.body);
        let proctype = self.finish_proctype(id);
        proctype.provided = provided;
        proctype.deterministic = p.deterministic;
        let count = count.unwrap_or(0);
        if count > MAX_PROCESSES {
            self.error(
                Code::E0511,
                p.name.span,
                format!("{count} active processes: there can be at most {MAX_PROCESSES}"),
            );
            return;
        }
        for _ in 0..count {
            self.program.active.push(ActiveProcess { proctype: id, priority });
        }
    }

    pub(super) fn init_process(&mut self, init: &ast::Init) {
        let id = self.next_proctype();
        self.context = Some(Box::new(Context::new(id, ProctypeKind::Init, self.n_statements)));
        let priority = self.priority(init.priority.as_ref());
        self.body(&init.body);
        self.finish_proctype(id);
        self.program.active.push(ActiveProcess { proctype: id, priority });
    }

    pub(super) fn never(&mut self, claim: &ast::Claim) {
        let id = self.next_proctype();
        let name = self.program.proctype(id).name.clone();
        if self.program.never.last().is_some_and(|n| self.program.proctype(*n).name == name) {
            let mut d =
                Diagnostic::new(Code::E0521, claim.span, format!("the claim `{name}` is declared twice"));
            if let Some(first) = self.program.never.last() {
                d = d.label(self.program.proctype(*first).span, "first declared here");
            }
            self.push(d.help("give each never claim a name of its own: `never name { … }`"));
        }
        self.n_never += 1;
        self.in_claim = true;
        self.context = Some(Box::new(Context::new(id, ProctypeKind::Never, self.n_statements)));
        self.body(&claim.body);
        let local = self.context.as_ref().and_then(|c| c.locals.first().map(|v| v.span));
        if let Some(span) = local {
            self.push(
                Diagnostic::new(Code::E0512, span, "a never claim cannot have variables of its own")
                    .help("declare it outside the claim"),
            );
        }
        self.finish_proctype(id);
        self.in_claim = false;
        self.program.never.push(id);
    }

    pub(super) fn trace(&mut self, trace: &ast::Trace) {
        let id = self.next_proctype();
        if let Some(first) = self.program.trace {
            let message = "a model can have only one trace or notrace assertion";
            let first = self.program.proctype(first).span;
            let d = Diagnostic::new(Code::E0513, trace.span, message).label(first, "the first one");
            self.push(d.help("remove one of them, or join their events"));
        }
        let kind = if trace.negated { ProctypeKind::NoTrace } else { ProctypeKind::Trace };
        self.context = Some(Box::new(Context::new(id, kind, self.n_statements)));
        self.body(&trace.body);
        self.finish_proctype(id);
        self.program.trace = Some(id);
    }

    /// The processes that exist from the beginning must fit into a state.
    pub(super) fn check_active_cells(&mut self) {
        let cells = |a: &ActiveProcess| u64::from(self.program.proctype(a.proctype).n_cells);
        let total: u64 = self.program.active.iter().map(cells).sum();
        if total > super::types::MAX_ACTIVE_CELLS {
            self.error(Code::E0205, Span::NONE, "the variables of the active processes are too large");
        }
    }

    fn priority(&mut self, priority: Option<&ast::Expr>) -> u8 {
        let Some(e) = priority else { return 1 };
        self.program.uses.priority = true;
        match self.constant(e) {
            Some(p @ 1..=255) => p as u8,
            Some(p) => {
                let d = Diagnostic::new(
                    Code::E0503,
                    e.span,
                    format!("the priority {p} is not between 1 and 255"),
                );
                self.push(d.help("255 is the highest priority, 1 the lowest and the default"));
                1
            }
            None => 1,
        }
    }

    /// A `provided` clause may use globals and `_pid`, and no process can be started in it.
    fn check_provided(&mut self, e: &ast::Expr) {
        if super::expr::ast_contains_run(e) {
            let d = Diagnostic::new(Code::E0514, e.span, "`run` cannot be used in a provided clause");
            self.push(d.help("a provided clause is asked at every step: start the process in a statement"));
        }
        let lowered = self.expr(e);
        let bad = super::expr::any(&lowered, |e| {
            matches!(&e.kind, crate::ir::ExprKind::Load(p) if p.base == Base::Local)
                || super::expr::contains_remote(e)
        });
        if bad {
            self.push(
                Diagnostic::new(
                    Code::E0515,
                    e.span,
                    "a provided clause can use only global variables and `_pid`",
                )
                .help("make the variable global"),
            );
        }
    }

    fn parameters(&mut self, params: &[ast::Decl]) {
        for decl in params {
            let mut names = Vec::new();
            for var in &decl.vars {
                if var.init.is_some() {
                    self.error(Code::E0111, var.name.span, "a parameter cannot have an initialiser");
                }
                let Some(declared) = self.declared(decl, var, false) else {
                    self.poisoned.insert(var.name.name.clone());
                    continue;
                };
                match &declared.ty {
                    Type::Array(..) => {
                        self.push(
                            Diagnostic::new(Code::E0517, var.name.span, "a parameter cannot be an array")
                                .help("put the array into a typedef, or make it global"),
                        );
                        continue;
                    }
                    Type::Struct(id) => {
                        if !self.count_passed(self.program.cells_of(&declared.ty) as usize, var.name.span) {
                            continue;
                        }
                        self.check_parameter_struct(*id, var.name.span);
                    }
                    Type::Scalar(_) => {}
                }
                if !self.may_declare(&var.name) || names.iter().any(|(n, _)| *n == var.name.name) {
                    continue;
                }
                let index = self.add_local(var, declared.ty, declared.hidden);
                names.push((var.name.name.clone(), index));
            }
            self.show_names(names);
        }
    }

    fn check_parameter_struct(&mut self, id: crate::ir::StructId, span: Span) {
        let fields = self.program.structs[id.index()].fields.clone();
        for field in fields {
            match field.ty {
                Type::Array(..) => {
                    let message =
                        format!("the parameter's field `{}` is an array, which cannot be passed", field.name);
                    self.error(Code::E0517, span, message);
                }
                Type::Struct(inner) => self.check_parameter_struct(inner, span),
                Type::Scalar(_) => {}
            }
        }
    }

    /// Gives a local variable its cells.
    pub(super) fn add_local(&mut self, var: &ast::VarDecl, ty: Type, hidden: bool) -> usize {
        let cells = self.program.cells_of(&ty);
        if hidden {
            self.push(
                Diagnostic::new(
                    Code::E0237,
                    var.name.span,
                    format!("the local variable `{}` cannot be hidden", var.name.name),
                )
                .help("only global variables can be hidden"),
            );
        }
        let Some(context) = self.context.as_mut() else { return 0 };
        let cell = context.n_cells;
        context.n_cells = cell.saturating_add(cells);
        let too_large = context.n_cells > super::types::MAX_CELLS;
        context.locals.push(Var {
            name: var.name.name.to_string(),
            ty,
            cell,
            hidden: false,
            span: var.name.span,
        });
        let index = context.locals.len() - 1;
        if too_large {
            self.error(Code::E0205, var.name.span, "the variables of this process are too large");
        }
        index
    }

    /// Makes the names of a finished declaration visible.
    pub(super) fn show_names(&mut self, names: Vec<(std::sync::Arc<str>, usize)>) {
        self.pending_names.clear();
        if let Some(context) = self.context.as_mut() {
            for (name, index) in names {
                context.scopes.declare(name, index);
            }
        }
    }

    fn body(&mut self, block: &ast::Block) {
        let Some(context) = self.context.as_mut() else { return };
        context.enter_scope();
        context.flow.open();
        context.initialization_ok = true;
        self.steps(block);
        let Some(context) = self.context.as_mut() else { return };
        let end = Span { start: block.span.end.saturating_sub(1), ..block.span };
        let node = context.flow.node(NodeKind::End, end, "-end-");
        let result = context.flow.add(node, 0).and_then(|()| context.flow.close(Opened::Body, block.span));
        context.leave_scope();
        let id = context.proctype;
        match result {
            Ok(sequence) => {
                self.bodies.insert(id, sequence);
            }
            Err(e) => self.flow_error(e),
        }
    }

    pub(super) fn flow_error(&mut self, e: FlowError) {
        let mut d = Diagnostic::new(Code::E0308, e.span, e.message);
        d.help = e.help;
        if let Some((span, message)) = e.other {
            d = d.label(span, message);
        }
        self.push(d);
    }

    fn finish_proctype(&mut self, id: ProctypeId) -> &mut Proctype {
        let proctype = &mut self.program.proctypes[id.index()];
        if let Some(context) = self.context.take() {
            proctype.locals = context.locals;
            proctype.n_cells = context.n_cells;
            proctype.init = context.init;
            self.n_statements = context.flow.next_statement;
            self.flows.insert(id, context.flow);
        }
        proctype
    }
}
