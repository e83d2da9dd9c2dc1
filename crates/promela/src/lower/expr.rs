//! Expressions: names become cells, operators keep their C meaning.

use super::Lowerer;
use super::names::{Predefined, Referent};
use crate::ast::{self, ExprKind as A};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::visit::walk;
use crate::ir::{BinaryOp, ChanOp, Expr, ExprKind, LocId, Place, ProctypeId, RecvArg, Scalar, Type, UnaryOp};
use crate::source::Span;

/// A constant at a place.
pub fn constant(value: i32, span: Span) -> Expr {
    Expr { kind: ExprKind::Const(value), span }
}

/// The value of a place.
pub fn load(place: Place) -> Expr {
    let span = place.span;
    Expr { kind: ExprKind::Load(Box::new(place)), span }
}

/// An operator applied to two expressions.
pub fn binary(op: BinaryOp, a: Expr, b: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), span }
}

/// Whether some expression inside `e` satisfies `test`.
pub fn any(e: &Expr, test: impl Fn(&Expr) -> bool) -> bool {
    let mut found = false;
    walk(e, &mut |e| found |= test(e));
    found
}

pub fn contains_run(e: &Expr) -> bool {
    any(e, |e| matches!(e.kind, ExprKind::Run { .. }))
}

pub fn contains_remote(e: &Expr) -> bool {
    any(e, |e| matches!(e.kind, ExprKind::RemoteLabel { .. } | ExprKind::RemoteVar { .. }))
}

/// Whether a `run` occurs in an expression of the syntax tree.
pub fn ast_contains_run(e: &ast::Expr) -> bool {
    count_operators(e).0 > 0
}

/// The number of `run`s, and of other operators and operands.
pub fn count_operators(e: &ast::Expr) -> (usize, usize) {
    let sum = |parts: &[&ast::Expr], own: usize| {
        parts.iter().map(|p| count_operators(p)).fold((0, own), |a, b| (a.0 + b.0, a.1 + b.1))
    };
    match &e.kind {
        A::Run { .. } => (1, 0),
        A::Unary(_, a) | A::Process(_, a) => sum(&[a], 1),
        A::Binary(_, a, b) => sum(&[a, b], 1),
        A::Cond(a, b, c) => sum(&[a, b, c], 2),
        A::Var(r) => {
            let indices: Vec<&ast::Expr> = r.parts.iter().filter_map(|p| p.index.as_deref()).collect();
            sum(&indices, 1)
        }
        A::State(op) => sum(&op.operands().iter().collect::<Vec<_>>(), 1),
        _ => (0, 1),
    }
}

impl Lowerer<'_> {
    /// The value of a constant expression; `None` (reported) when it is not one.
    pub(super) fn constant(&mut self, e: &ast::Expr) -> Option<i64> {
        let value = self.try_constant(e);
        if value.is_none() {
            self.push(
                Diagnostic::new(Code::E0131, e.span, "a constant is needed here")
                    .help("use a number, an mtype constant or a macro; variables have no value yet"),
            );
        }
        value
    }

    fn try_constant(&mut self, e: &ast::Expr) -> Option<i64> {
        match &e.kind {
            A::Number(n) => Some(*n),
            A::Var(r) if r.parts.len() == 1 && r.parts[0].index.is_none() => {
                let name = &r.parts[0].name.name;
                if let Some((_, value)) = self.iterators.iter().rev().find(|(n, _)| n == name) {
                    return Some(i64::from(*value));
                }
                self.constants.get(name).map(|(_, value, _)| i64::from(*value))
            }
            A::Unary(ast::UnaryOp::Neg, a) => self.try_constant(a)?.checked_neg(),
            A::Binary(op, a, b) => {
                let (a, b) = (self.try_constant(a)?, self.try_constant(b)?);
                match op {
                    ast::BinaryOp::Add => a.checked_add(b),
                    ast::BinaryOp::Sub => a.checked_sub(b),
                    ast::BinaryOp::Mul => a.checked_mul(b),
                    ast::BinaryOp::Div => a.checked_div(b),
                    ast::BinaryOp::Rem => a.checked_rem(b),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Lowers an expression; after an error the result is the constant 0.
    pub(super) fn expr(&mut self, e: &ast::Expr) -> Expr {
        let kind = self.expr_kind(e).unwrap_or(ExprKind::Const(0));
        Expr { kind, span: e.span }
    }

    fn boxed(&mut self, e: &ast::Expr) -> Box<Expr> {
        Box::new(self.expr(e))
    }

    fn expr_kind(&mut self, e: &ast::Expr) -> Option<ExprKind> {
        Some(match &e.kind {
            // The parser has cut numbers to 32 bits, and said so.
            A::Number(n) => ExprKind::Const(*n as i32),
            A::Str(_) => {
                self.error(Code::E0231, e.span, "a string can only be used in printf");
                return None;
            }
            A::Var(r) => return self.value_of(r),
            A::Unary(op, a) => self.unary(*op, a, e.span)?,
            A::Binary(op, a, b) => self.binary(*op, a, b, e.span)?,
            A::Cond(c, a, b) => ExprKind::Cond(self.boxed(c), self.boxed(a), self.boxed(b)),
            A::Chan(ast::ChanOp::Len, r) => ExprKind::Chan(ChanOp::Len, Box::new(self.channel_number(r)?)),
            A::Chan(op, r) => ExprKind::Chan(chan_op(*op), Box::new(self.channel(r)?)),
            A::Poll { chan, random, args } => {
                let chan = Box::new(self.channel_number(chan)?);
                ExprKind::Poll { chan, random: *random, args: self.recv_args(args) }
            }
            A::Run { proctype, args, priority } => {
                return self.run(proctype, args, priority.as_deref(), e.span);
            }
            A::Process(op, a) => self.process_question(*op, a),
            A::Timeout => {
                self.program.uses.timeout = true;
                ExprKind::Timeout
            }
            A::NonProgress => {
                if !self.in_claim {
                    self.push(
                        Diagnostic::new(Code::E0232, e.span, "`np_` can only be used in a never claim")
                            .help("for non-progress cycles, label the progress statements `progress…`"),
                    );
                }
                ExprKind::NonProgress
            }
            A::RemoteLabel { proctype, pid, label } => {
                return self.remote_label(proctype, pid.as_deref(), label);
            }
            A::RemoteVar { proctype, pid, var } => return self.remote_var(proctype, pid.as_deref(), var),
            A::EmbeddedC(c) => ExprKind::C(self.piece_of_c(c)?),
            A::State(_) => {
                self.push(
                    Diagnostic::new(
                        Code::E0234,
                        e.span,
                        "a formula is no value: nothing can be computed from it",
                    )
                    .help("combine formulas with `!`, `&&`, `||`, `->` and `<->`"),
                );
                return None;
            }
            A::Error => return None,
        })
    }

    fn value_of(&mut self, r: &ast::VarRef) -> Option<ExprKind> {
        Some(match self.resolve(r, false)? {
            Referent::Constant(value, _) => ExprKind::Const(value),
            Referent::Cells(place, Type::Scalar(_)) => ExprKind::Load(place),
            Referent::Cells(..) => {
                self.incomplete(r);
                return None;
            }
            Referent::Predefined(p) => match p {
                Predefined::Pid => ExprKind::Pid,
                Predefined::NrPr => ExprKind::NrPr,
                Predefined::Last => {
                    self.program.uses.last = true;
                    ExprKind::Last
                }
                Predefined::Priority => {
                    self.program.uses.priority = true;
                    ExprKind::Priority
                }
                Predefined::Location => {
                    ExprKind::PcValue(Box::new(Expr { kind: ExprKind::Pid, span: r.span }))
                }
                Predefined::Scratch => {
                    self.push(
                        Diagnostic::new(Code::E0233, r.span, "the value of `_` cannot be read")
                            .help("`_` is write-only: use a variable of your own"),
                    );
                    return None;
                }
            },
        })
    }

    fn unary(&mut self, op: ast::UnaryOp, a: &ast::Expr, span: Span) -> Option<ExprKind> {
        let op = match op {
            ast::UnaryOp::Neg => UnaryOp::Neg,
            ast::UnaryOp::BitNot => UnaryOp::BitNot,
            ast::UnaryOp::Not => UnaryOp::Not,
            _ => {
                self.error(Code::E0234, span, "temporal operators can only be used in ltl formulas");
                return None;
            }
        };
        Some(ExprKind::Unary(op, self.boxed(a)))
    }

    fn binary(&mut self, op: ast::BinaryOp, a: &ast::Expr, b: &ast::Expr, span: Span) -> Option<ExprKind> {
        let Some(op) = binary_op(op) else {
            self.error(Code::E0234, span, "temporal operators can only be used in ltl formulas");
            return None;
        };
        Some(ExprKind::Binary(op, self.boxed(a), self.boxed(b)))
    }

    fn process_question(&mut self, op: ast::ProcessOp, a: &ast::Expr) -> ExprKind {
        let a = self.boxed(a);
        match op {
            ast::ProcessOp::Enabled => {
                self.program.uses.enabled = true;
                self.enabled_at.get_or_insert(a.span);
                ExprKind::Enabled(a)
            }
            ast::ProcessOp::PcValue => ExprKind::PcValue(a),
            ast::ProcessOp::GetPriority => {
                self.program.uses.priority = true;
                ExprKind::GetPriority(a)
            }
        }
    }

    /// Arguments of sends and runs: structures become their fields.
    pub(super) fn args(&mut self, args: &[ast::Expr]) -> Vec<Expr> {
        let mut out = Vec::new();
        for arg in args {
            match &arg.kind {
                A::Var(r) => match self.resolve(r, false) {
                    Some(Referent::Cells(place, ty @ (Type::Struct(_) | Type::Array(..)))) => {
                        let places = self.flatten(&place, &ty);
                        out.extend(places.into_iter().map(load));
                    }
                    Some(Referent::Cells(place, _)) => out.push(load(*place)),
                    Some(_) => out.push(self.expr(arg)),
                    None => out.push(constant(0, arg.span)),
                },
                _ => out.push(self.expr(arg)),
            }
        }
        out
    }

    /// Arguments of receives and polls.
    pub(super) fn recv_args(&mut self, args: &[ast::RecvArg]) -> Vec<RecvArg> {
        let mut out = Vec::new();
        for arg in args {
            match arg {
                ast::RecvArg::Eval(e) | ast::RecvArg::Const(e) => out.push(RecvArg::Match(self.expr(e))),
                ast::RecvArg::Var(r) => match self.resolve(r, false) {
                    Some(Referent::Constant(value, _)) => out.push(RecvArg::Match(constant(value, r.span))),
                    Some(Referent::Predefined(Predefined::Scratch)) => out.push(RecvArg::Ignore),
                    Some(Referent::Predefined(_)) => {
                        let name = &r.parts[0].name;
                        self.error(Code::E0227, name.span, format!("`{}` cannot be assigned to", name.name));
                        out.push(RecvArg::Ignore);
                    }
                    Some(Referent::Cells(place, ty)) => {
                        out.extend(self.flatten(&place, &ty).into_iter().map(RecvArg::Store));
                    }
                    None => out.push(RecvArg::Ignore),
                },
            }
        }
        out
    }

    pub(super) fn run(
        &mut self,
        proctype: &ast::Ident,
        args: &[ast::Expr],
        priority: Option<&ast::Expr>,
        span: Span,
    ) -> Option<ExprKind> {
        if self.context.is_none() {
            self.error(Code::E0117, span, "`run` can only be used inside a process");
            return None;
        }
        let Some(id) = self.proctype_ids.get(&proctype.name).copied() else {
            self.no_proctype(proctype);
            return None;
        };
        let mut level = 1;
        if let Some(p) = priority {
            self.program.uses.priority = true;
            level = self.constant(p)?;
            if !(0..=255).contains(&level) {
                let d = Diagnostic::new(
                    Code::E0503,
                    p.span,
                    format!("the priority {level} is not between 1 and 255"),
                );
                self.push(d.help("255 is the highest priority, 1 the lowest and the default"));
            }
        }
        if let Some(bad) = args.iter().find(|a| ast_contains_run(a)) {
            let d = Diagnostic::new(Code::E0504, bad.span, "`run` cannot be an argument of `run`");
            self.push(d.help("assign its value to a variable first"));
        }
        let ast_args = args;
        let args = self.args(args);
        self.runs.push(super::RunUse {
            proctype: id,
            n_args: args.len(),
            span,
            arguments: ast_args.iter().map(|a| self.argument_kind(a)).collect(),
        });
        Some(ExprKind::Run { proctype: id, args, priority: level.clamp(1, 255) as u8 })
    }

    /// What matters about an argument when it meets an mtype parameter.
    fn argument_kind(&self, e: &ast::Expr) -> super::Argument {
        match &e.kind {
            A::Var(r) => match self.constants.get(&r.parts[0].name.name) {
                Some((set, ..)) if r.parts.len() == 1 => super::Argument::Constant(*set),
                _ => super::Argument::Variable(r.parts[0].name.name.clone(), e.span),
            },
            A::Run { proctype, .. } => super::Argument::Variable(proctype.name.clone(), e.span),
            A::Chan(_, r) => super::Argument::Variable(r.parts[0].name.name.clone(), e.span),
            _ => super::Argument::Other,
        }
    }

    pub(super) fn remote_label(
        &mut self,
        proctype: &ast::Ident,
        pid: Option<&ast::Expr>,
        label: &ast::Ident,
    ) -> Option<ExprKind> {
        let id = self.remote_proctype(proctype)?;
        let pid = pid.map(|e| self.boxed(e));
        if self.in_d_step() {
            self.error(Code::E0305, label.span, "a remote reference cannot be used inside d_step");
        }
        let statement = self.context.as_ref().map_or(self.n_statements, |c| c.flow.next_statement);
        // A label of the process's own proctype must stand before the reference.
        let flow = match &mut self.context {
            Some(context) if context.proctype == id => Some(&mut context.flow),
            _ => self.flows.get_mut(&id),
        };
        let found = flow.and_then(|flow| flow.remote_label(&label.name).map(|element| (flow, element)));
        let Some((flow, element)) = found else {
            if self.doubted(&label.name) {
                return None;
            }
            let message = format!("unknown label `{}` of proctype `{}`", label.name, proctype.name);
            let d = Diagnostic::new(Code::E0235, label.span, message)
                .label(self.program.proctype(id).span, "the proctype")
                .help("the label must be declared before it is referred to");
            let d = self.suggest_label(d, id, &label.name);
            self.push(d);
            return None;
        };
        let is_new = flow.expose_label(element, statement);
        let location = LocId(flow.element(element).number);
        // Spin's parser counts the jump where the reference stands.
        match self.context.as_mut().filter(|_| is_new) {
            Some(context) => context.flow.next_statement += 1,
            None => self.n_statements += u32::from(is_new),
        }
        Some(ExprKind::RemoteLabel { proctype: id, pid, location })
    }

    pub(super) fn remote_proctype(&mut self, proctype: &ast::Ident) -> Option<ProctypeId> {
        let id = self.proctype_ids.get(&proctype.name).copied();
        if id.is_none() {
            self.no_proctype(proctype);
        }
        id
    }

    fn remote_var(
        &mut self,
        proctype: &ast::Ident,
        pid: Option<&ast::Expr>,
        var: &ast::VarRef,
    ) -> Option<ExprKind> {
        let id = self.remote_proctype(proctype)?;
        let pid = pid.map(|e| self.boxed(e));
        let part = var.parts.first()?;
        let found = self.local_of(id, &part.name.name);
        let Some((cell, ty)) = found else {
            self.no_remote_variable(id, &part.name);
            return None;
        };
        let place = Place {
            base: crate::ir::Base::Local,
            cell,
            indices: Vec::new(),
            scalar: Scalar::Int,
            span: var.span,
        };
        match self.select(place, ty, var, false)? {
            Referent::Cells(place, Type::Scalar(_)) => Some(ExprKind::RemoteVar { proctype: id, pid, place }),
            _ => {
                self.incomplete(var);
                None
            }
        }
    }

    fn local_of(&self, id: ProctypeId, name: &str) -> Option<(u32, Type)> {
        let locals = match &self.context {
            Some(context) if context.proctype == id => &context.locals,
            _ => &self.program.proctypes.get(id.index())?.locals,
        };
        locals.iter().find(|v| v.name == name).map(|v| (v.cell, v.ty.clone()))
    }
}

fn chan_op(op: ast::ChanOp) -> ChanOp {
    match op {
        ast::ChanOp::Len => ChanOp::Len,
        ast::ChanOp::Full => ChanOp::Full,
        ast::ChanOp::Empty => ChanOp::Empty,
        ast::ChanOp::Nfull => ChanOp::Nfull,
        ast::ChanOp::Nempty => ChanOp::Nempty,
    }
}

pub fn binary_op(op: ast::BinaryOp) -> Option<BinaryOp> {
    use ast::BinaryOp as B;
    Some(match op {
        B::Add => BinaryOp::Add,
        B::Sub => BinaryOp::Sub,
        B::Mul => BinaryOp::Mul,
        B::Div => BinaryOp::Div,
        B::Rem => BinaryOp::Rem,
        B::BitAnd => BinaryOp::BitAnd,
        B::BitOr => BinaryOp::BitOr,
        B::BitXor => BinaryOp::BitXor,
        B::Shl => BinaryOp::Shl,
        B::Shr => BinaryOp::Shr,
        B::Lt => BinaryOp::Lt,
        B::Le => BinaryOp::Le,
        B::Gt => BinaryOp::Gt,
        B::Ge => BinaryOp::Ge,
        B::Eq => BinaryOp::Eq,
        B::Ne => BinaryOp::Ne,
        B::And => BinaryOp::And,
        B::Or => BinaryOp::Or,
        B::Until | B::WeakUntil | B::Release | B::Implies | B::Equiv => return None,
    })
}
