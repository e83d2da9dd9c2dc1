//! Actions, places, expressions and formulas.

use super::*;

impl Reader<'_> {
    pub(super) fn action(&mut self) -> Read<Action> {
        let Some(word) = self.peek_word() else { return self.expected("an action") };
        let at = self.at;
        self.advance()?;
        Ok(match word {
            "skip" => Action::Skip,
            "else" => Action::Else,
            "end" => Action::End,
            "guard" => Action::Guard(self.expr()?),
            "assert" => Action::Assert(self.expr()?),
            "assign" => {
                let place = self.place()?;
                self.punct("=")?;
                Action::Assign(place, self.expr()?)
            }
            "send" => {
                let sorted = self.flag("sorted")?;
                Action::Send { sorted, chan: self.expr()?, args: self.exprs("}")? }
            }
            "receive" => {
                let random = self.flag("random")?;
                let keep = self.flag("keep")?;
                Action::Receive { random, keep, chan: self.expr()?, args: self.recv_args("}")? }
            }
            "event" => {
                let send = self.flag("send")?;
                if !send {
                    self.keyword("receive")?;
                }
                Action::Event { send, chan: self.expr()?, args: self.recv_args("}")? }
            }
            "printf" => Action::Printf(self.string()?, self.exprs("}")?),
            "printm" => {
                let expr = self.expr()?;
                let set = if self.is("}") { None } else { Some(MtypeId(self.numbered("mtype")?)) };
                Action::Printm(expr, set)
            }
            "set_priority" => Action::SetPriority(self.expr()?, self.expr()?),
            "c" => Action::C(self.numbered("c")?),
            "lock" => Action::Lock(self.place()?),
            "unlock" => Action::Unlock(self.place()?),
            "d_step" => {
                self.keyword("entry")?;
                let entry = self.location_id()?;
                self.keyword("exit")?;
                let exit = self.location_id()?;
                let guards = if self.is("}") {
                    None
                } else {
                    self.keyword("guards")?;
                    Some(self.location_id()?)
                };
                Action::DStep { entry, exit, guards }
            }
            _ => return error_at(at, format!("unknown action `{word}`")),
        })
    }

    /// Expressions up to the bracket `end`, which is left.
    fn exprs(&mut self, end: &str) -> Read<Vec<Expr>> {
        let mut out = Vec::new();
        while !self.is(end) {
            out.push(self.expr()?);
        }
        Ok(out)
    }

    fn recv_args(&mut self, end: &str) -> Read<Vec<RecvArg>> {
        let mut out = Vec::new();
        while !self.is(end) {
            out.push(self.recv_arg()?);
        }
        Ok(out)
    }

    fn recv_arg(&mut self) -> Read<RecvArg> {
        if self.flag("_")? {
            return Ok(RecvArg::Ignore);
        }
        self.punct("(")?;
        let arg = if self.flag("store")? {
            RecvArg::Store(self.place()?)
        } else {
            self.keyword("match")?;
            RecvArg::Match(self.expr()?)
        };
        self.punct(")")?;
        Ok(arg)
    }

    pub(super) fn place(&mut self) -> Read<Place> {
        let word = self.peek_word().unwrap_or("");
        let (base, cell) = match (numbered(word, "g"), numbered(word, "l"), numbered(word, "_")) {
            (Some(cell), _, _) => (Base::Global, cell),
            (_, Some(cell), _) => (Base::Local, cell),
            (_, _, Some(cell)) => (Base::Scratch, cell),
            _ => return self.expected("a place such as `g0`"),
        };
        self.advance()?;
        let mut indices = Vec::new();
        while self.is("[") {
            indices.push(self.index()?);
        }
        self.punct(":")?;
        let scalar = self.scalar()?;
        Ok(Place { base, cell, indices, scalar, span: self.span()? })
    }

    fn index(&mut self) -> Read<Index> {
        self.punct("[")?;
        let value = self.expr()?;
        self.punct("<")?;
        let len = self.int()?;
        self.punct("*")?;
        let stride = self.int()?;
        let span = self.span()?;
        self.punct("]")?;
        Ok(Index { value, len, stride, span })
    }

    pub(super) fn expr(&mut self) -> Read<Expr> {
        self.nested(|r| match r.token {
            Token::Int(_) => {
                let kind = ExprKind::Const(r.int()?);
                Ok(Expr { kind, span: r.span()? })
            }
            Token::Word(word) => r.atom(word),
            Token::Punct("(") => {
                r.advance()?;
                let kind = r.list()?;
                r.punct(")")?;
                Ok(Expr { kind, span: r.span()? })
            }
            _ => r.expected("an expression"),
        })
    }

    fn atom(&mut self, word: &str) -> Read<Expr> {
        let kind = match word {
            "_pid" => ExprKind::Pid,
            "_nr_pr" => ExprKind::NrPr,
            "_last" => ExprKind::Last,
            "_priority" => ExprKind::Priority,
            "timeout" => ExprKind::Timeout,
            "np_" => ExprKind::NonProgress,
            _ => {
                let place = Box::new(self.place()?);
                let span = place.span;
                return Ok(Expr { kind: ExprKind::Load(place), span });
            }
        };
        self.advance()?;
        Ok(Expr { kind, span: self.span()? })
    }

    /// The inside of a prefix list.
    fn list(&mut self) -> Read<ExprKind> {
        let Some(word) = self.peek_word() else { return self.expected("an operator") };
        let at = self.at;
        self.advance()?;
        if let Some(op) = value_of(&names::BINARY, word) {
            return Ok(ExprKind::Binary(op, self.boxed()?, self.boxed()?));
        }
        if let Some(op) = value_of(&names::UNARY, word) {
            return Ok(ExprKind::Unary(op, self.boxed()?));
        }
        if let Some(op) = value_of(&names::CHAN_OPS, word) {
            return Ok(ExprKind::Chan(op, self.boxed()?));
        }
        match word {
            "load" => self.place().map(|place| ExprKind::Load(Box::new(place))),
            "cond" => Ok(ExprKind::Cond(self.boxed()?, self.boxed()?, self.boxed()?)),
            "enabled" => self.boxed().map(ExprKind::Enabled),
            "pc_value" => self.boxed().map(ExprKind::PcValue),
            "get_priority" => self.boxed().map(ExprKind::GetPriority),
            "c" => self.numbered("c").map(ExprKind::C),
            "poll" => self.poll(false),
            "poll_random" => self.poll(true),
            "run" => self.run(),
            "at" => self.remote_label(),
            "remote" => self.remote_var(),
            _ => error_at(at, format!("unknown operator `{word}`")),
        }
    }

    fn boxed(&mut self) -> Read<Box<Expr>> {
        self.expr().map(Box::new)
    }

    fn poll(&mut self, random: bool) -> Read<ExprKind> {
        Ok(ExprKind::Poll { random, chan: self.boxed()?, args: self.recv_args(")")? })
    }

    fn run(&mut self) -> Read<ExprKind> {
        let proctype = self.proctype_id()?;
        self.keyword("priority")?;
        let priority = self.int()?;
        Ok(ExprKind::Run { proctype, args: self.exprs(")")?, priority })
    }

    /// The process number of a remote reference, if there is one.
    fn remote_pid(&mut self) -> Read<Option<Box<Expr>>> {
        if self.is(")") { Ok(None) } else { self.boxed().map(Some) }
    }

    fn remote_label(&mut self) -> Read<ExprKind> {
        let proctype = self.proctype_id()?;
        let location = self.location_id()?;
        Ok(ExprKind::RemoteLabel { proctype, pid: self.remote_pid()?, location })
    }

    fn remote_var(&mut self) -> Read<ExprKind> {
        let proctype = self.proctype_id()?;
        let place = Box::new(self.place()?);
        Ok(ExprKind::RemoteVar { proctype, pid: self.remote_pid()?, place })
    }

    pub(super) fn formula(&mut self) -> Read<Formula> {
        self.nested(|r| {
            r.punct("(")?;
            let Some(word) = r.peek_word() else { return r.expected("a temporal operator") };
            let at = r.at;
            r.advance()?;
            let formula = if let Some(make) = value_of(&names::BINARY_FORMULAS, word) {
                make(Box::new(r.formula()?), Box::new(r.formula()?))
            } else if let Some(make) = value_of(&names::UNARY_FORMULAS, word) {
                make(Box::new(r.formula()?))
            } else if word == "prop" {
                Formula::Prop(r.expr()?)
            } else {
                return error_at(at, format!("unknown temporal operator `{word}`"));
            };
            r.punct(")")?;
            Ok(formula)
        })
    }
}
