//! Sends, receives and polls: arguments that fit the fields of a channel.

use crate::model::{BinOp, Expr, RecvArg, RecvKind, Stmt, Type, VariableRef};

use super::Generator;
use super::mix::Feature;
use super::scope::{Chan, Field, Frame, Leaf, Mode, StructVar, is_numeric};

impl Generator {
    /// The channels that a poll may name: polling a rendezvous channel is an error.
    pub(super) fn pollable(&self, frame: &Frame) -> Vec<Chan> {
        let fits = |c: &Chan| c.capacity.is_some_and(|n| n > 0);
        self.visible_chans(frame).into_iter().filter(fits).collect()
    }

    /// `q?[…]` or `q??[…]`.
    pub(super) fn poll(&mut self, frame: &Frame) -> Option<Expr> {
        let chans = self.pollable(frame);
        let chan = self.rng.pick(&chans)?.clone();
        let place = self.chan_place(frame, &chan, &[]);
        let random = self.mix.has(Feature::Random) && self.rng.chance(50);
        let args = self.pattern(frame, &chan, false)?;
        Some(Expr::Poll { chan: Box::new(place), random, args })
    }

    /// Whether the process prefers to send on a channel.
    fn prefers_sending(&mut self, frame: &mut Frame, chan: &Chan) -> bool {
        if let Some((_, sends)) = frame.roles.iter().find(|(name, _)| name == chan.base()) {
            return *sends;
        }
        // The first process to use a global channel sends or receives, the next one mostly does the other.
        let before = self.world.roles.iter().rev().find(|(name, _)| name == chan.base()).map(|(_, s)| *s);
        let sends = match before {
            Some(other) if self.rng.chance(80) => !other,
            _ if !chan.global => self.rng.chance(75),
            _ => self.rng.chance(50),
        };
        frame.roles.push((chan.base().to_string(), sends));
        if chan.global {
            self.world.roles.push((chan.base().to_string(), sends));
        }
        sends
    }

    /// A channel operation in the direction that the process prefers.
    pub(super) fn channel_op(&mut self, frame: &mut Frame) -> Option<Vec<Stmt>> {
        let chans = self.visible_chans(frame);
        let chan = self.rng.pick(&chans)?.clone();
        if self.rng.chance(10)
            && let Some(stmts) = self.through_handle(frame, &chan)
        {
            return Some(stmts);
        }
        let preferred = self.prefers_sending(frame, &chan);
        let sends = if self.rng.chance(85) { preferred } else { !preferred };
        if sends {
            return self.send(frame, &chan).map(|s| vec![s]);
        }
        self.receive_and_use(frame, &chan)
    }

    /// `c = q; c!…`: an operation on a channel through a variable.
    fn through_handle(&mut self, frame: &Frame, chan: &Chan) -> Option<Vec<Stmt>> {
        let handle = frame.chans.iter().find(|c| c.handle && c.signature == chan.signature)?.clone();
        let place = self.chan_place(frame, chan, &[]);
        let assign = Stmt::Assign(VariableRef::name(handle.base()), Expr::VariableRef(Box::new(place)));
        let send = self.send(frame, &Chan { handle: false, ..handle })?;
        Some(vec![assign, send])
    }

    /// A send of small values.
    pub(super) fn send(&mut self, frame: &Frame, chan: &Chan) -> Option<Stmt> {
        let fields = self.world.signatures.get(chan.signature)?.clone();
        let mut args = Vec::new();
        let single = fields.len() == 1;
        for field in &fields {
            args.push(match field {
                Field::Scalar(Type::Bit | Type::Bool) if single && !self.world.raw_bits => {
                    // Not `e & 1`: a macro inside may bind less tightly.
                    let condition = self.condition(frame, 1);
                    Expr::Cond(Box::new(condition), Box::new(Expr::Num(1)), Box::new(Expr::Num(0)))
                }
                Field::Scalar(ty) => self.value_for(frame, ty, true),
                Field::Chan(signature) => self.some_chan(frame, *signature)?,
                Field::Struct(typedef) => {
                    Expr::VariableRef(Box::new(self.some_struct(frame, *typedef, &[])?))
                }
            });
        }
        let sorted = self.mix.has(Feature::Sorted) && chan.capacity != Some(0) && self.rng.chance(40);
        let paren = args.len() > 1 && self.rng.chance(30);
        Some(Stmt::Send { chan: self.chan_place(frame, chan, &[]), sorted, paren, args })
    }

    /// Some channel whose messages have a signature, as a value.
    pub(super) fn some_chan(&mut self, frame: &Frame, signature: usize) -> Option<Expr> {
        let fields = self.world.signatures.get(signature)?.clone();
        let fits = |c: &Chan| self.world.signatures.get(c.signature) == Some(&fields);
        let chans: Vec<Chan> = self.visible_chans(frame).into_iter().filter(fits).collect();
        let chan = self.rng.pick(&chans)?.clone();
        Some(Expr::VariableRef(Box::new(self.chan_place(frame, &chan, &[]))))
    }

    /// Some variable of a structure type, whole.
    pub(super) fn some_struct(
        &mut self,
        frame: &Frame,
        typedef: usize,
        avoid: &[String],
    ) -> Option<VariableRef> {
        let fits = |s: &&StructVar| s.typedef == typedef && !avoid.contains(&s.name);
        let all: Vec<StructVar> =
            frame.structs.iter().chain(&self.world.structs).filter(fits).cloned().collect();
        let var = self.rng.pick(&all)?.clone();
        let index = var.len.map(|len| Expr::Num(self.rng.range(0, i64::from(len) - 1)));
        Some(VariableRef { path: vec![(var.name, index)] })
    }

    /// A receive; a received channel is used at once, as it may be uninitialised elsewhere.
    fn receive_and_use(&mut self, frame: &mut Frame, chan: &Chan) -> Option<Vec<Stmt>> {
        let fields = self.world.signatures.get(chan.signature)?.clone();
        let mut handles = Vec::new();
        for field in &fields {
            if let Field::Chan(signature) = field {
                let known = frame.chans.iter().find(|c| c.handle && c.signature == *signature);
                handles.push(known?.clone());
            }
        }
        let args = self.pattern(frame, chan, true)?;
        let kind = self.receive_kind(frame, chan);
        let taken: Vec<String> = args.iter().filter_map(received_name).collect();
        let paren = args.len() > 1 && self.rng.chance(30);
        let place = self.chan_place(frame, chan, &taken);
        let mut stmts = vec![Stmt::Recv { chan: place, kind, paren, args }];
        if let Some(handle) = handles.first().filter(|h| taken.iter().any(|t| t == h.base()))
            && frame.mode != Mode::DStep
            && self.rng.chance(70)
        {
            let handle = Chan { handle: false, ..handle.clone() };
            stmts.extend(self.send(frame, &handle));
        }
        Some(stmts)
    }

    fn receive_kind(&mut self, _frame: &Frame, chan: &Chan) -> RecvKind {
        let buffered = chan.capacity.is_some_and(|n| n > 0);
        let random = if self.mix.has(Feature::Random) && buffered { 3 } else { 0 };
        let peek = if buffered { self.mix.weight(Feature::Peek) / 2 } else { 0 };
        match self.rng.weighted(&[7, random, peek, random.min(peek)]) {
            Some(1) => RecvKind::Random,
            Some(2) => RecvKind::Peek,
            Some(3) => RecvKind::RandomPeek,
            _ => RecvKind::First,
        }
    }

    /// A pattern for the fields of a channel; `binding` allows variables that take the value. A poll has none
    /// of a structure's fields to take, so that it asks with `_` there.
    fn pattern(&mut self, frame: &Frame, chan: &Chan, binding: bool) -> Option<Vec<RecvArg>> {
        let fields = self.world.signatures.get(chan.signature)?.clone();
        let mut args = Vec::new();
        let mut taken: Vec<String> = vec![chan.base().to_string()];
        let whole_byte = fields.len() == 1 && self.world.raw_bits;
        for field in &fields {
            let arg = match field {
                Field::Scalar(ty) => {
                    let holds = |leaf: &Leaf| can_hold(leaf, ty, whole_byte);
                    self.pattern_scalar(frame, ty, binding, &taken, &holds)
                }
                Field::Chan(signature) => {
                    match frame.chans.iter().find(|c| c.handle && c.signature == *signature) {
                        Some(handle) if binding && !taken.iter().any(|t| t == handle.base()) => {
                            RecvArg::VariableRef(VariableRef::name(handle.base()))
                        }
                        _ => RecvArg::Any,
                    }
                }
                Field::Struct(typedef) => RecvArg::VariableRef(self.some_struct(frame, *typedef, &taken)?),
            };
            taken.extend(mentioned(&arg));
            args.push(arg);
        }
        Some(args)
    }

    fn pattern_scalar(
        &mut self,
        frame: &Frame,
        ty: &Type,
        binding: bool,
        taken: &[String],
        holds: &dyn Fn(&Leaf) -> bool,
    ) -> RecvArg {
        let variable = if binding { 18 } else { 2 };
        match self.rng.weighted(&[variable, 3, 2, 2]) {
            Some(1) => RecvArg::Const(self.constant(ty)),
            Some(2) => {
                let same = |l: &Leaf| !l.write_only && (l.ty == *ty || is_numeric(&l.ty) && is_numeric(ty));
                match self.pick_leaf(frame, same) {
                    Some(_) if is_numeric(ty) && self.rng.chance(30) => {
                        let sum = Expr::binary(BinOp::Add, self.atom(frame), Expr::Num(1));
                        let used = identifiers(&crate::print::expression(&sum));
                        if used.iter().any(|name| taken.contains(name)) {
                            RecvArg::Any
                        } else {
                            RecvArg::Eval(sum)
                        }
                    }
                    Some(leaf) if !taken.iter().any(|t| t == leaf.base()) => {
                        RecvArg::Eval(Expr::VariableRef(Box::new(self.place(frame, &leaf, taken))))
                    }
                    _ => RecvArg::Any,
                }
            }
            Some(3) => RecvArg::Any,
            _ => {
                let into_hidden = binding && self.world.hidden_receives;
                let fits = |l: &Leaf| {
                    let kind = l.ty == *ty || (is_numeric(&l.ty) && is_numeric(ty));
                    let sink = !l.write_only || into_hidden;
                    kind && holds(l) && !l.read_only && sink && !taken.iter().any(|t| t == l.base())
                };
                match self.pick_leaf(frame, fits) {
                    Some(leaf) => RecvArg::VariableRef(self.place(frame, &leaf, taken)),
                    None => RecvArg::Any,
                }
            }
        }
    }
}

/// Whether a variable can hold every value of a message field. Spin's verifier puts the variable's value back
/// into the channel when it backtracks, so that a lossy receive would change the message.
fn can_hold(leaf: &Leaf, field: &Type, whole_byte: bool) -> bool {
    let in_array = leaf.path.last().is_some_and(|(_, len)| len.is_some());
    let room = match leaf.ty {
        Type::Bit | Type::Bool if !in_array => 1,
        Type::Unsigned(bits) => bits,
        Type::Short => 15,
        // Anything may be put in for the parameter of an inline.
        Type::Int if leaf.formal => 0,
        Type::Int => 31,
        _ => 8,
    };
    let needed = match field {
        Type::Bit | Type::Bool if !whole_byte => 1,
        Type::Short => 15,
        Type::Int => 31,
        _ => 8,
    };
    room >= needed
}

/// The variable that a receive's field changes.
fn received_name(arg: &RecvArg) -> Option<String> {
    match arg {
        RecvArg::VariableRef(place) => Some(place.base().to_string()),
        _ => None,
    }
}

/// The variables that a field of a receive mentions, with those in indices: none may be changed by another
/// field, since the order of evaluation would then matter.
fn mentioned(arg: &RecvArg) -> Vec<String> {
    match arg {
        RecvArg::VariableRef(place) => {
            identifiers(&crate::print::expression(&Expr::VariableRef(Box::new(place.clone()))))
        }
        RecvArg::Eval(expr) => identifiers(&crate::print::expression(expr)),
        _ => Vec::new(),
    }
}

/// The words of a text.
fn identifiers(text: &str) -> Vec<String> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(|c: char| !word(c)).filter(|w| !w.is_empty()).map(String::from).collect()
}
