//! Loops: `for` over ranges, arrays and messages, and `select`.
//!
//! They put their hidden statements (the first assignment, the test, the increment) directly into the
//! surrounding sequence while they are being read; a label in front of them therefore stands at the loop,
//! behind the first assignment, as in Spin.

use super::Lowerer;
use super::expr::{binary, constant, load};
use super::flow::{BreakId, Node, NodeKind, Opened, Target};
use super::names::Referent;
use crate::ast::{self, Block, VarRef};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{Action, Base, BinaryOp, ChanOp, Expr, ExprKind, Place, RecvArg, Scalar, Type, Var};
use crate::source::Span;

/// The name of the hidden variable that counts messages.
const COUNTER: &str = "_for_counter";

impl Lowerer<'_> {
    fn loop_variable(&mut self, var: &VarRef, what: &str) -> Option<Place> {
        let plain = matches!(&var.parts[..], [part] if part.index.is_none());
        let place = match self.resolve(var, true)? {
            Referent::Cells(place, Type::Scalar(s)) if plain && s != Scalar::Chan => Some(*place),
            _ => None,
        };
        if place.is_none() {
            self.error(
                Code::E0310,
                var.span,
                format!("the variable of `{what}` must be a plain variable of a basic type"),
            );
        }
        place
    }

    /// A statement that the author did not write: `text` says what it does.
    fn hidden(&mut self, action: Action, span: Span, text: String) -> Node {
        self.flow().node(NodeKind::Basic(Box::new(action)), span, text)
    }

    fn check_range(&mut self, lo: &ast::Expr, hi: &ast::Expr, span: Span) {
        if let (ast::ExprKind::Number(a), ast::ExprKind::Number(b)) = (&lo.kind, &hi.kind)
            && a > b
        {
            let d = Diagnostic::new(Code::E0311, span, format!("the range {a} .. {b} is empty"));
            self.push(d.help("the first value must not be greater than the last"));
        }
    }

    pub(super) fn for_range(
        &mut self,
        var: &VarRef,
        lo: &ast::Expr,
        hi: &ast::Expr,
        body: &Block,
        span: Span,
    ) -> Option<Node> {
        let exit = self.flow().push_break();
        let place = self.loop_variable(var, "for")?;
        self.check_range(lo, hi, span);
        let name = self.text(var.span);
        let (first, test) =
            (format!("{name} = {}", self.text(lo.span)), format!("{name} <= {}", self.text(hi.span)));
        let lo = self.expr(lo);
        let node = self.hidden(Action::Assign(place.clone(), lo), span, first);
        self.add(node);
        self.flow().open();
        self.no_more_initializers();
        let condition = {
            let hi = self.expr(hi);
            binary(BinaryOp::Le, load(place.clone()), hi, span)
        };
        let node = self.hidden(Action::Guard(condition), span, test);
        self.add(node);
        self.loop_body(body);
        self.finish_loop(&place, &name, exit, true, span)
    }

    fn loop_body(&mut self, body: &Block) {
        self.enter();
        self.steps(body);
        self.leave();
    }

    /// The increment, and an option that leaves the loop.
    fn finish_loop(
        &mut self,
        place: &Place,
        name: &str,
        exit: BreakId,
        with_else: bool,
        span: Span,
    ) -> Option<Node> {
        let next = step(place, 1, span);
        let node = self.hidden(Action::Assign(place.clone(), next), span, format!("{name}++"));
        self.add(node);
        let main = self.close(Opened::AnyLabel, span)?;
        self.flow().open();
        if with_else {
            let node = self.flow().node(NodeKind::Else, span, "else");
            self.add(node);
        }
        let node = self.flow().node(NodeKind::Goto(Target::Break(exit)), span, "break");
        self.add(node);
        let leave = self.close(Opened::AnyLabel, span)?;
        Some(self.node(NodeKind::Do(vec![leave, main], exit), span))
    }

    pub(super) fn select_value(
        &mut self,
        var: &VarRef,
        lo: &ast::Expr,
        hi: &ast::Expr,
        span: Span,
    ) -> Option<Node> {
        let place = self.loop_variable(var, "select")?;
        self.check_range(lo, hi, span);
        let name = self.text(var.span);
        let (first, test) =
            (format!("{name} = {}", self.text(lo.span)), format!("{name} < {}", self.text(hi.span)));
        let lo = self.expr(lo);
        let node = self.hidden(Action::Assign(place.clone(), lo), span, first);
        self.add(node);
        self.flow().open();
        self.no_more_initializers();
        let hi = self.expr(hi);
        let condition = binary(BinaryOp::Lt, load(place.clone()), hi, span);
        let node = self.hidden(Action::Guard(condition), span, test);
        self.add(node);
        let exit = self.flow().push_break();
        self.finish_loop(&place, &name, exit, false, span)
    }

    pub(super) fn for_in(&mut self, var: &VarRef, over: &VarRef, body: &Block, span: Span) -> Option<Node> {
        let exit = self.flow().push_break();
        let Referent::Cells(_, var_ty) = self.resolve(var, true)? else {
            self.error(Code::E0310, var.span, "the variable of `for` must be a plain variable");
            return None;
        };
        if matches!(var_ty, Type::Struct(_)) {
            return self.for_message(var, over, body, exit, span);
        }
        let len = self.array_length(over)?;
        let place = self.loop_variable(var, "for")?;
        let name = self.text(var.span);
        let node = self.hidden(Action::Assign(place.clone(), constant(0, span)), span, format!("{name} = 0"));
        self.add(node);
        self.flow().open();
        self.no_more_initializers();
        let condition = binary(BinaryOp::Le, load(place.clone()), constant(len as i32 - 1, span), span);
        let node = self.hidden(Action::Guard(condition), span, format!("{name} <= {}", i64::from(len) - 1));
        self.add(node);
        self.loop_body(body);
        self.finish_loop(&place, &name, exit, true, span)
    }

    /// `for (m in c)`: looks at every message by rotating the channel.
    fn for_message(
        &mut self,
        var: &VarRef,
        over: &VarRef,
        body: &Block,
        exit: BreakId,
        span: Span,
    ) -> Option<Node> {
        let large = self.check_message_loop(var, over)?;
        let chan = self.channel(over)?;
        let counter = self.message_counter(large, span)?;
        let (message, queue) = (self.text(var.span), self.text(over.span));
        let first = format!("{COUNTER} = 0");
        let node = self.hidden(Action::Assign(counter.clone(), constant(0, span)), span, first);
        self.add(node);
        self.flow().open();
        self.no_more_initializers();
        let len = Expr { kind: ExprKind::Chan(ChanOp::Len, Box::new(chan.clone())), span };
        let condition = binary(BinaryOp::Lt, load(counter.clone()), len, span);
        let node = self.hidden(Action::Guard(condition), span, format!("{COUNTER} < len({queue})"));
        self.add(node);
        let Referent::Cells(place, ty) = self.resolve(var, true)? else { return None };
        let fields = self.flatten(&place, &ty);
        let args = fields.iter().cloned().map(RecvArg::Store).collect();
        let receive = Action::Receive { chan: chan.clone(), random: false, keep: false, args };
        let node = self.hidden(receive, span, format!("{queue}?{message}"));
        self.add(node);
        let args = fields.into_iter().map(load).collect();
        let send = Action::Send { chan, sorted: false, args };
        let node = self.hidden(send, span, format!("{queue}!{message}"));
        self.add(node);
        self.loop_body(body);
        self.finish_loop(&counter, COUNTER, exit, true, span)
    }

    /// The hidden counter of `for (m in c)`: one for each block.
    fn message_counter(&mut self, large: bool, span: Span) -> Option<Place> {
        let context = self.context.as_mut()?;
        let known = context
            .scopes
            .find(COUNTER)
            .filter(|(scope, _)| scope == context.scopes.current())
            .map(|(_, i)| *i);
        let index = known.unwrap_or_else(|| {
            let cell = context.n_cells;
            context.n_cells += 1;
            context.locals.push(Var {
                name: COUNTER.into(),
                ty: Type::Scalar(if large { Scalar::Short } else { Scalar::Byte }),
                cell,
                hidden: false,
                span,
            });
            context.scopes.declare(COUNTER.into(), context.locals.len() - 1);
            context.locals.len() - 1
        });
        let local = &context.locals[index];
        let scalar = if local.ty == Type::Scalar(Scalar::Short) { Scalar::Short } else { Scalar::Byte };
        Some(Place { base: Base::Local, cell: local.cell, indices: Vec::new(), scalar, span })
    }
}

/// `place + by`.
pub(super) fn step(place: &Place, by: i32, span: Span) -> Expr {
    let op = if by < 0 { BinaryOp::Sub } else { BinaryOp::Add };
    binary(op, load(place.clone()), constant(by.abs(), span), span)
}
