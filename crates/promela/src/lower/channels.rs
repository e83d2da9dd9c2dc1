//! Spin's rules about channels that concern more than one reference: exclusive use, channels in arithmetic,
//! loops over messages, `else` beside messages.

use super::Lowerer;
use super::flow::{NodeKind, SequenceId};
use super::names::{Referent, Symbol, predefined};
use crate::ast::{self, ExprKind as A, Initializer, TypeName, VarRef};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{
    Action, ChanOp, Expr, ExprKind, InitStep, ProctypeId, Promise, RecvArg, Scalar, StructId, Type,
};
use crate::source::Span;

/// As many channels as Spin allows.
const MAX_CHANNELS: usize = 255;

/// A variable: its proctype, if it is local, and its index there.
pub type VarKey = (Option<ProctypeId>, usize);

/// What a channel variable was created with.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// The structure that its messages consist of.
    structure: Option<StructId>,
    capacity: i64,
}

impl Lowerer<'_> {
    fn key_of(&self, name: &str) -> Option<VarKey> {
        match self.find(name)? {
            Symbol::Global(i) => Some((None, i)),
            Symbol::Local(i) => Some((self.context.as_ref().map(|c| c.proctype), i)),
            Symbol::Proctype(_) => None,
        }
    }

    fn type_of(&self, name: &str) -> Option<&Type> {
        match self.find(name)? {
            Symbol::Global(i) => self.program.globals.get(i).map(|v| &v.ty),
            Symbol::Local(i) => self.context.as_ref()?.locals.get(i).map(|v| &v.ty),
            Symbol::Proctype(_) => None,
        }
    }

    /// Whether the variable is a channel or an array of channels.
    fn is_channel(&self, name: &str) -> bool {
        match self.type_of(name) {
            Some(Type::Array(element, _)) => **element == Type::Scalar(Scalar::Chan),
            Some(ty) => *ty == Type::Scalar(Scalar::Chan),
            None => false,
        }
    }

    /// Remembers what a channel's messages look like.
    pub(super) fn note_message(&mut self, key: VarKey, init: &Option<Initializer>) {
        let Some(Initializer::Chan(init)) = init else { return };
        let structure = match &init.fields[..] {
            [(TypeName::User(name), _)] => self.types.get(&name.name).copied(),
            _ => None,
        };
        let capacity = self.constant(&init.capacity).unwrap_or(0);
        self.messages.insert(key, Message { structure, capacity });
    }

    /// `xr` and `xs`: the channels exist, are named as a whole, and no other proctype claims the same.
    pub(super) fn exclusive(&mut self, x: &ast::Exclusive) {
        self.has_exclusive = true;
        for chan in &x.chans {
            let Some(first) = chan.parts.first() else { continue };
            if chan.parts.iter().any(|p| p.index.is_some()) {
                self.push(
                    Diagnostic::new(
                        Code::E0411,
                        chan.span,
                        "an element of an array cannot be claimed by xr or xs",
                    )
                    .help("give the element a name of its own: `chan c = a[i]; xr c`"),
                );
                continue;
            }
            let expr = self.channel(chan);
            let (Some(key), Some(context)) = (self.key_of(&first.name.name), &self.context) else { continue };
            let proctype = context.proctype;
            if let Some(expr) = expr.filter(|_| chan.parts.len() == 1) {
                let (receive, span, text) = (x.receive, chan.span, first.name.name.to_string());
                let promise = Promise { proctype, receive, chan: expr, text, span, checked: false };
                self.program.promises.push(promise);
            }
            let (other, at) = *self.exclusive.entry((key, x.receive)).or_insert((proctype, chan.span));
            if other != proctype && chan.parts.len() == 1 {
                let other = self.program.proctype(other).name.clone();
                let message = format!("`{}` is claimed by the proctype `{other}` already", first.name.name);
                let d = Diagnostic::new(Code::E0410, chan.span, message).label(at, "claimed here");
                self.push(
                    d.help("only one proctype may receive (xr) or send (xs) on it: remove one of the claims"),
                );
            }
        }
    }

    /// With xr or xs in the model, `else` cannot stand beside a message in one choice.
    pub(super) fn check_else_beside_messages(&mut self, options: &[SequenceId]) {
        let Some(context) = &self.context else { return };
        let first = |s: &SequenceId| context.flow.sequence(*s).first.map(|e| &context.flow.element(e).node);
        let Some(at) = options.iter().filter_map(first).find(|n| matches!(n.kind, NodeKind::Else)) else {
            return;
        };
        let span = at.span;
        if options.iter().filter_map(first).any(|n| uses_channel(&n.kind)) {
            self.push(
                Diagnostic::new(
                    Code::E0314,
                    span,
                    "`else` cannot stand beside messages where xr or xs is used",
                )
                .help("ask with `nempty(c)` or `nfull(c)` in every option, or remove xr and xs"),
            );
        }
    }

    /// A channel takes channels only, and no arithmetic can be done with one in an assignment.
    pub(super) fn check_channels_in_value(&mut self, target: &VarRef, value: &ast::Expr) {
        let Some(first) = target.parts.first() else { return };
        if target.parts.len() > 1 {
            return;
        }
        let to_channel = self.is_channel(&first.name.name);
        let bad = self.bad_channel_use(to_channel, value, false);
        self.report_channel_use(bad);
    }

    /// Checks an initial value, where a channel may be given as a number.
    pub(super) fn check_channels_in_initial_value(&mut self, value: &ast::Expr) {
        let bad = self.bad_channel_use(false, value, false);
        self.report_channel_use(bad);
    }

    fn report_channel_use(&mut self, bad: Option<(Span, &'static str)>) {
        if let Some((span, message)) = bad {
            let help = "a channel can only be assigned, sent, passed and used to send and receive";
            self.push(Diagnostic::new(Code::E0401, span, message).help(help));
        }
    }

    fn bad_channel_use(&self, to_channel: bool, e: &ast::Expr, nested: bool) -> Option<(Span, &'static str)> {
        let number = (e.span, "a number cannot be assigned to a channel");
        match &e.kind {
            A::Number(_) => (to_channel && !nested).then_some(number),
            A::Var(r) => {
                let name = &r.parts.first()?.name.name;
                if self.constants.contains_key(name) {
                    return (to_channel && !nested).then_some(number);
                }
                if self.is_channel(name) && r.parts.len() == 1 {
                    if nested {
                        return Some((e.span, "a channel cannot be used in arithmetic"));
                    }
                    if to_channel {
                        return None;
                    }
                }
                // Spin looks at all indices but that of a field which is the channel itself.
                let looked_at = r.parts.len().saturating_sub(1).max(1);
                let mut indices = r.parts[..looked_at].iter().filter_map(|p| p.index.as_deref());
                indices.find_map(|i| self.bad_channel_use(to_channel, i, false))
            }
            A::Unary(_, a) | A::Process(_, a) => self.bad_channel_use(to_channel, a, true),
            A::Binary(_, a, b) => self
                .bad_channel_use(to_channel, a, true)
                .or_else(|| self.bad_channel_use(to_channel, b, true)),
            A::Cond(a, b, c) => [a, b, c].into_iter().find_map(|e| self.bad_channel_use(to_channel, e, true)),
            _ => None,
        }
    }

    /// Spin reads the arguments of an inline as expressions: their variables must exist, whatever becomes of
    /// them.
    pub(super) fn check_argument_names(&mut self, e: &ast::Expr) {
        match &e.kind {
            A::Var(r) => self.check_argument_name(r),
            A::Chan(_, r) => self.check_argument_name(r),
            A::Unary(_, a) | A::Process(_, a) => self.check_argument_names(a),
            A::Binary(_, a, b) => {
                self.check_argument_names(a);
                self.check_argument_names(b);
            }
            A::Cond(a, b, c) => [a, b, c].into_iter().for_each(|e| self.check_argument_names(e)),
            A::Poll { chan, .. } => self.check_argument_name(chan),
            A::Run { args, .. } => args.iter().for_each(|e| self.check_argument_names(e)),
            _ => {}
        }
    }

    fn check_argument_name(&mut self, r: &VarRef) {
        for index in r.parts.iter().filter_map(|p| p.index.as_deref()) {
            self.check_argument_names(index);
        }
        let Some(first) = r.parts.first() else { return };
        let name = &first.name.name;
        let known = self.find(name).is_some()
            || self.constants.contains_key(name)
            || predefined(name).is_some()
            || self.iterators.iter().any(|(n, _)| n == name)
            || self.context.as_ref().is_some_and(|c| c.flow.has_label(name));
        if !known {
            let ident = first.name.clone();
            self.undeclared(&ident);
        } else if self.type_of(name).is_some() {
            // An array must have its index.
            self.resolve(r, false);
        }
    }

    /// The length of the array that `for (x in a)` runs over: that of the variable named first, as in Spin.
    pub(super) fn array_length(&mut self, over: &VarRef) -> Option<u32> {
        let first = over.parts.first()?;
        if let Some(Type::Array(_, len)) = self.type_of(&first.name.name) {
            return Some(*len);
        }
        let message = "`for (x in a)` needs an array (or a channel and a structure)";
        let d =
            Diagnostic::new(Code::E0312, over.span, message).help("for numbers, write `for (i : 1 .. n)`");
        self.push_with_declaration(d, &first.name.name);
        None
    }

    /// `for (m in c)`: `c` must have been created for messages that are one structure of the type of `m`.
    /// Gives whether the channel is too large for a counter of one byte.
    pub(super) fn check_message_loop(&mut self, var: &VarRef, over: &VarRef) -> Option<bool> {
        let Some(Referent::Cells(_, Type::Struct(id))) = self.resolve(var, true) else { return None };
        let first = over.parts.first()?;
        let plain = over.parts.len() == 1;
        let message = self.key_of(&first.name.name).filter(|_| plain).and_then(|key| self.messages.get(&key));
        match message {
            Some(m) if m.capacity > 0 && m.structure == Some(id) => Some(m.capacity > 255),
            _ => {
                let structure = self.program.structs[id.index()].name.clone();
                self.push(
                    Diagnostic::new(Code::E0315, over.span, "this is no channel that `for` can look through")
                        .help(format!(
                            "it must be declared as `chan c = [n] of {{ {structure} }}` with n > 0"
                        )),
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
            let d =
                Diagnostic::new(Code::E0412, span, format!("too many channels: there can be {MAX_CHANNELS}"));
            self.push(d.help("one channel with a field that says for whom a message is can replace many"));
        }
        let rendezvous = self.program.chan_types.iter().find(|ty| ty.capacity == 0);
        if let Some(ty) = rendezvous.filter(|_| self.program.uses.enabled) {
            let message = "`enabled()` cannot be used in a model with rendezvous channels";
            let mut d = Diagnostic::new(Code::E0409, ty.span, message).here("a rendezvous channel");
            if let Some(at) = self.enabled_at {
                d = d.label(at, "`enabled()` is used here");
            }
            self.push(d.help("give the channel a capacity"));
        }
    }
}

/// Whether a statement sends, receives, or asks whether a channel is full or empty.
fn uses_channel(kind: &NodeKind) -> bool {
    let NodeKind::Basic(action) = kind else { return false };
    let asks =
        |e: &Expr| super::expr::any(e, |e| matches!(&e.kind, ExprKind::Chan(op, _) if *op != ChanOp::Len));
    match &**action {
        Action::Send { .. } | Action::Receive { .. } => true,
        Action::Guard(e) | Action::Assert(e) | Action::Assign(_, e) => asks(e),
        _ => false,
    }
}
