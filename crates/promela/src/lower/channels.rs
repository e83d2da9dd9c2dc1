//! What Spin demands of channels beyond their types: where `xr`, `xs`, `for (m in c)` and `enabled()` can be used.

use super::Lowerer;
use super::flow::{Node, NodeKind, SequenceId};
use super::names::Referent;
use crate::ast::{self, VarRef};
use crate::diagnostic::Diagnostic;
use crate::ir::{Action, Base, ChanOp, Expr, ExprKind, InitStep, RecvArg, Type};

/// As many channels as Spin allows.
const MAX_CHANNELS: usize = 255;

impl Lowerer<'_> {
    /// `xr` and `xs` say something about reductions only.
    pub(super) fn exclusive(&mut self, exclusive: &ast::Exclusive) {
        self.exclusive = true;
        for chan in &exclusive.chans {
            self.channel(chan);
            if let Some(index) = chan.parts.iter().find_map(|p| p.index.as_ref()) {
                self.push(
                    Diagnostic::error(
                        "E0410",
                        index.span,
                        "`xr` and `xs` cannot name an element of an array",
                    )
                    .help("declare `chan c = …` with the element as its value, and name that"),
                );
            }
        }
    }

    /// Under `xr` or `xs` Spin does not take an `else` beside options that begin with a channel operation.
    pub(super) fn check_else(&mut self, options: &[SequenceId]) {
        if !self.exclusive {
            return;
        }
        let first = |l: &Self, s: SequenceId| {
            let flow = &l.context.as_ref()?.flow;
            flow.sequence(s).first.map(|f| flow.element(f).node.clone())
        };
        let firsts: Vec<Node> = options.iter().filter_map(|&s| first(self, s)).collect();
        let otherwise = firsts.iter().find(|n| matches!(n.kind, NodeKind::Else)).map(|n| n.span);
        if let Some(span) = otherwise.filter(|_| firsts.iter().any(|n| begins_with_channel(&n.kind))) {
            let message = "`else` cannot be combined with channel operations where there is `xr` or `xs`";
            self.push(Diagnostic::error("E0411", span, message).help("remove `xr` and `xs`"));
        }
    }

    /// The channel of `for (m in c)` must be declared with messages of exactly the type of `m`. Gives its capacity.
    pub(super) fn check_message_loop(&mut self, var: &VarRef, over: &VarRef, chan: &Expr) -> Option<u32> {
        let ExprKind::Load(place) = &chan.kind else { return None };
        let context = self.context.as_ref()?;
        let is_it = |step: &&InitStep| matches!(step, InitStep::NewChan(p, _) if p.cell == place.cell);
        let step = match place.base {
            Base::Global => self.global_inits.iter().flat_map(|(_, steps)| steps).find(is_it),
            _ => context.init.iter().find(is_it),
        };
        let plain = over.parts.len() == 1;
        let ty = step.filter(|_| plain).and_then(|step| match step {
            InitStep::NewChan(_, ty) => Some(*ty),
            InitStep::Assign(..) => None,
        });
        let structure = ty.and_then(|ty| self.message_structs.get(&ty).copied());
        let Some(Referent::Cells(_, Type::Struct(id))) = self.resolve(var, true) else { return None };
        match ty.filter(|_| structure == Some(id)).map(|ty| self.program.chan_types[ty.index()].capacity) {
            Some(capacity @ 1..) => Some(capacity),
            _ => {
                let name = &self.program.structs[id.index()].name;
                let message = format!("the messages of this channel are not declared as `{{ {name} }}`");
                self.push(
                    Diagnostic::error("E0313", over.span, message)
                        .help("`for (m in c)` needs a channel declared with the type of `m` alone"),
                );
                None
            }
        }
    }

    /// The fields of a send in a trace: only constants are compared.
    pub(super) fn event_args(&mut self, args: &[ast::Expr]) -> Vec<RecvArg> {
        let mut fields = Vec::new();
        for arg in args {
            match &arg.kind {
                ast::ExprKind::Var(r) if matches!(&r.parts[..], [part] if &*part.name.name == "_") => {
                    fields.push(RecvArg::Ignore);
                }
                _ => fields.extend(self.args(std::slice::from_ref(arg)).into_iter().map(|e| match e.kind {
                    ExprKind::Const(_) => RecvArg::Match(e),
                    _ => RecvArg::Ignore,
                })),
            }
        }
        fields
    }

    /// Limits on the channels of a model as a whole.
    pub(super) fn check_channels(&mut self) {
        let is_new = |step: &&InitStep| matches!(step, InitStep::NewChan(..));
        if let Some(InitStep::NewChan(place, _)) = self.program.init.iter().filter(is_new).nth(MAX_CHANNELS) {
            let span = place.span;
            self.error("E0408", span, format!("too many channels: there can be {MAX_CHANNELS}"));
        }
        let rendezvous = self.program.chan_types.iter().find(|ty| ty.capacity == 0);
        if let Some(ty) = rendezvous.filter(|_| self.program.uses.enabled) {
            let message = "`enabled()` cannot be used in a model with rendezvous channels";
            let d = Diagnostic::error("E0409", ty.span, message).help("give the channel a capacity");
            self.push(d);
        }
    }
}

/// A send, a receive, or an expression that asks whether a channel is full or empty.
fn begins_with_channel(kind: &NodeKind) -> bool {
    let asks =
        |e: &Expr| super::expr::any(e, |e| matches!(e.kind, ExprKind::Chan(op, _) if op != ChanOp::Len));
    let NodeKind::Basic(action) = kind else { return false };
    match &**action {
        Action::Send { .. } | Action::Receive { .. } => true,
        Action::Guard(e) | Action::Assign(_, e) | Action::Assert(e) => asks(e),
        _ => false,
    }
}
