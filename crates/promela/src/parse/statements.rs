//! Sequences, steps and statements.
//!
//! A sequence needs at least one step; steps are separated by `;` or `->`, which mean the same. Sequences end
//! at whatever closes a block or option; the caller checks that it is the right thing.

use super::declarations::Declared;
use super::forgotten::OpenOption;
use super::habits::replacement;
use super::keyword::Keyword;
use super::lexis::{Kind, Tok};
use super::parser::{Nesting, PResult, Parser, Reported};
use crate::ast::{Block, Exclusive, Expr, Ident, Step, Stmt, StmtKind, VarRef};
use crate::diagnostic::{Code, Diagnostic, Fix};
use crate::source::Span;
use crate::token::Punct;

impl Parser<'_> {
    /// `{ … }` of a process, claim or trace: closed even if it has errors.
    pub(super) fn body(&mut self) -> PResult<Block> {
        if !self.at(Punct::LBrace) {
            return Err(self.unexpected("`{`"));
        }
        // Line ends separate statements from the first token on.
        self.lexer.in_sequence = true;
        let open = self.bump().span;
        self.before_statements = true;
        let mut steps = Vec::new();
        loop {
            self.sequence(&mut steps);
            if self.at(Punct::RBrace) {
                break;
            }
            let stray = matches!(self.peek().kind, Kind::Key(Keyword::Fi | Keyword::Od))
                || self.at(Punct::DoubleColon);
            if !stray {
                self.unclosed_brace(open);
                break;
            }
            self.unexpected("a statement");
            self.bump();
        }
        self.before_statements = true;
        self.lexer.in_sequence = false;
        if self.at(Punct::RBrace) {
            self.bump();
        }
        Ok(Block { steps, span: self.span_from(open) })
    }

    /// `{ … }` inside a body.
    pub(super) fn block(&mut self) -> PResult<Block> {
        let open = self.expect(Punct::LBrace, "`{`")?.span;
        self.before_statements = false;
        let mut steps = Vec::new();
        self.sequence(&mut steps);
        if !self.at(Punct::RBrace) {
            return Err(self.unclosed_brace(open));
        }
        self.bump();
        Ok(Block { steps, span: self.span_from(open) })
    }

    fn unclosed_brace(&mut self, open: Span) -> Reported {
        let tok = self.peek().clone();
        let message = format!("expected `}}`, found {}", tok.describe());
        let help = match &tok.kind {
            Kind::Key(k) if k.starts_unit() => {
                format!("`{}` can only stand at the top level: close the block before it", k.text())
            }
            Kind::Key(k @ (Keyword::Fi | Keyword::Od)) => {
                format!("close the block before `{}`, or open the matching statement", k.text())
            }
            Kind::Punct(Punct::DoubleColon) => {
                "close the block before the next option, or write `if` or `do` before `::`".to_string()
            }
            _ => "add the missing `}`".to_string(),
        };
        let mut error =
            Diagnostic::new(Code::E0101, tok.span, message).label(open, "to close this `{`").help(help);
        let is_over = matches!(tok.kind, Kind::End) || matches!(tok.kind, Kind::Key(k) if k.starts_unit());
        error.fixes.extend(is_over.then(|| Fix::insert_after(self.previous_span(), "\n}")));
        self.report(error)
    }

    /// Steps between separators, up to something that ends a block or option.
    fn sequence(&mut self, steps: &mut Vec<Step>) {
        self.sequence_of(steps, None);
    }

    /// Parses a sequence; of an option, if that is what it is.
    fn sequence_of(&mut self, steps: &mut Vec<Step>, mut option: Option<&mut OpenOption>) {
        loop {
            let mark = self.names_seen();
            let (begins_line, start) = (self.after_implied(), self.peek().span);
            match self.step() {
                Ok(step) => {
                    if let Some(option) = &mut option {
                        let has_arrow = self.at(Punct::Arrow);
                        self.forgotten_option(option, &step, start, begins_line, has_arrow);
                    }
                    steps.push(step);
                }
                Err(_) => {
                    let span = self.peek().span;
                    steps.push(Step::Stmt(Stmt { kind: StmtKind::Error, span }));
                    self.recover_in_sequence();
                    self.doubt_since(mark);
                }
            }
            let mut separators = 0;
            while self.at_separator() {
                self.bump();
                separators += 1;
            }
            if self.ends_sequence() {
                if separators > 1 {
                    self.unexpected("a statement after `;`");
                }
                // Most sequences are short, and a step is large.
                steps.shrink_to_fit();
                return;
            }
            if separators == 0 {
                self.missing_separator();
                self.recover_in_sequence();
                self.doubt_since(mark);
                let mut any = false;
                while self.at_separator() {
                    self.bump();
                    any = true;
                }
                if self.ends_sequence() || !any {
                    return;
                }
            }
        }
    }

    fn missing_separator(&mut self) {
        let tok = self.peek().clone();
        if let Some((word, help)) = self.no_statement_word(&tok) {
            let before = self.text_before();
            let message = format!("`{before}` is not a statement");
            let mut error = Diagnostic::new(Code::E0101, word, message).help(help);
            error.fixes.extend(replacement(&before).map(|instead| Fix::replace(word, &*before, instead)));
            self.report(error);
            return;
        }
        let message = format!("expected `;` between statements, found {}", tok.describe());
        let help = self.separator_repair(&tok);
        let mut error = Diagnostic::new(Code::E0101, tok.span, message).help(help);
        error.fixes.extend(self.separator_edit(&tok));
        self.report(error);
    }

    fn ends_sequence(&mut self) -> bool {
        match self.peek().kind {
            Kind::Punct(Punct::RBrace | Punct::DoubleColon) | Kind::End => true,
            Kind::Key(Keyword::Fi | Keyword::Od) => true,
            Kind::Key(k) => k.starts_unit(),
            _ => false,
        }
    }

    fn step(&mut self) -> PResult<Step> {
        if self.at_declaration() {
            return self.local_declaration();
        }
        if matches!(self.peek().kind, Kind::Key(Keyword::Xr | Keyword::Xs)) {
            return self.exclusive();
        }
        let pv_type = super::pv::type_of(&self.peek().kind);
        let stmt = match pv_type {
            Some(ty) => {
                let word = self.bump();
                if matches!(self.peek().kind, Kind::Name(_)) {
                    return self.variables(None, ty, word.span).map(Step::Decl);
                }
                self.nested(Nesting::Blocks, |p| p.stmt_from(Some(word)))?
            }
            None => self.stmt()?,
        };
        if !self.at_key(Keyword::Unless) {
            return Ok(Step::Stmt(stmt));
        }
        self.bump();
        let escape = self.stmt()?;
        Ok(Step::Unless(stmt, escape))
    }

    fn local_declaration(&mut self) -> PResult<Step> {
        match self.declaration()? {
            Declared::Variables(decl) => Ok(Step::Decl(decl)),
            // Refused where it was read; a claim at the top level cannot get here.
            Declared::Constants(c) => Ok(Step::Stmt(Stmt { kind: StmtKind::Error, span: c.span })),
        }
    }

    /// `xr c, d` or `xs c, d`.
    fn exclusive(&mut self) -> PResult<Step> {
        let word = self.bump();
        let mut chans = vec![self.var_ref("a channel")?];
        while self.eat(Punct::Comma) {
            chans.push(self.var_ref("a channel")?);
        }
        Ok(Step::Exclusive(Exclusive { receive: word.is_key(Keyword::Xr), chans, span: word.span }))
    }

    pub(super) fn stmt(&mut self) -> PResult<Stmt> {
        self.nested(Nesting::Blocks, |p| p.stmt_from(None))
    }

    /// A statement, of which the name `first` may have been read.
    fn stmt_from(&mut self, first: Option<Tok>) -> PResult<Stmt> {
        let place = match &first {
            Some(tok) => tok.place,
            None => self.peek().place,
        };
        let stmt = match first {
            Some(tok) => self.named_statement(tok, place)?,
            None => self.statement(place)?,
        };
        self.before_statements = false;
        if self.in_trace && !is_event(&stmt.kind) {
            let error = Diagnostic::new(Code::E0130, stmt.span, "this is not an event, as a trace needs");
            self.report(error.help("a trace is made of `c!x`, `c?x`, choices, loops and jumps"));
        }
        Ok(stmt)
    }

    fn statement(&mut self, place: Span) -> PResult<Stmt> {
        let kind = match &self.peek().kind {
            Kind::Name(_) => {
                let tok = self.bump();
                return self.named_statement(tok, place);
            }
            Kind::InlineName(_) => return self.inline_use(None, place),
            Kind::Punct(Punct::LBrace) => StmtKind::Block(self.block()?),
            Kind::Key(keyword) => {
                let keyword = *keyword;
                match self.keyword_statement(keyword)? {
                    Some(kind) => kind,
                    None => return self.expression_statement(place),
                }
            }
            Kind::Punct(Punct::LParen | Punct::Minus | Punct::Not | Punct::Tilde)
            | Kind::Number(_)
            | Kind::Constant(_)
            | Kind::ProcName(_) => return self.expression_statement(place),
            _ => return Err(self.no_statement()),
        };
        Ok(Stmt { kind, span: self.place_from(place) })
    }

    fn no_statement(&mut self) -> Reported {
        self.unexpected("a statement")
    }

    fn expression_statement(&mut self, place: Span) -> PResult<Stmt> {
        let expr = self.full_expr()?;
        Ok(Stmt { kind: StmtKind::Expr(expr), span: self.place_from(place) })
    }

    /// A statement that begins with `keyword`; `None` if it is an expression.
    fn keyword_statement(&mut self, keyword: Keyword) -> PResult<Option<StmtKind>> {
        Ok(Some(match keyword {
            Keyword::If => StmtKind::If(self.options(Keyword::Fi)?),
            Keyword::Do => StmtKind::Do(self.options(Keyword::Od)?),
            Keyword::For => self.for_statement()?,
            Keyword::Select => self.select_statement()?,
            Keyword::Break => {
                self.bump();
                StmtKind::Break
            }
            Keyword::Else => {
                self.bump();
                StmtKind::Else
            }
            Keyword::Goto => {
                self.bump();
                StmtKind::Goto(self.expect_name("a label")?)
            }
            Keyword::Atomic => {
                self.bump();
                StmtKind::Atomic(self.block()?)
            }
            Keyword::DStep => {
                self.bump();
                StmtKind::DStep(self.block()?)
            }
            Keyword::Assert => {
                self.bump();
                StmtKind::Assert(self.full_expr()?)
            }
            Keyword::Printf => self.printf_statement()?,
            Keyword::Printm => self.printm_statement()?,
            Keyword::SetPriority => self.set_priority_statement()?,
            Keyword::CCode | Keyword::CDecl => StmtKind::EmbeddedC(self.embedded_c()?),
            Keyword::Return => self.return_statement()?,
            Keyword::Run => {
                let word = self.bump().span;
                if self.in_process && self.at(Punct::LBracket) {
                    StmtKind::RunIterated(self.run_iterated()?)
                } else {
                    let operand = self.run_from(word)?;
                    StmtKind::Expr(self.binary_from(operand, 0)?.expr)
                }
            }
            Keyword::Fi | Keyword::Od => return Err(self.no_statement()),
            k if k.starts_unit() => return Err(self.no_statement()),
            _ => return Ok(None),
        }))
    }

    /// A statement that begins with a name: a label, an assignment, a message, a guard.
    fn named_statement(&mut self, tok: Tok, place: Span) -> PResult<Stmt> {
        let Kind::Name(name) = tok.kind else { return Err(self.no_statement()) };
        let name = Ident { name, span: tok.span };
        if self.at(Punct::Colon) {
            return self.labeled(name, place);
        }
        if self.is_lock_statement(&name) {
            let kind = self.lock_statement(&name)?;
            return Ok(Stmt { kind, span: self.place_from(place) });
        }
        let (var, height) = self.var_ref_from(name)?;
        let kind = match self.peek().kind {
            Kind::Punct(Punct::Assign) => {
                self.bump();
                if matches!(self.peek().kind, Kind::InlineName(_)) {
                    return self.inline_use(Some(var), place);
                }
                StmtKind::Assign(var, self.full_expr()?)
            }
            Kind::Punct(Punct::PlusPlus) => {
                self.bump();
                StmtKind::Increment(var, 1)
            }
            Kind::Punct(Punct::MinusMinus) => {
                self.bump();
                StmtKind::Increment(var, -1)
            }
            Kind::Punct(sign @ (Punct::Not | Punct::NotNot)) => {
                self.bump();
                StmtKind::Send { chan: var, sorted: sign == Punct::NotNot, args: self.send_args()? }
            }
            Kind::Punct(sign @ (Punct::Question | Punct::QuestionQuestion)) => {
                self.bump();
                self.receive(var, sign == Punct::QuestionQuestion, height)?
            }
            _ => {
                let operand = self.operand_from(var, height)?;
                StmtKind::Expr(self.binary_from(operand, 0)?.expr)
            }
        };
        Ok(Stmt { kind, span: self.place_from(place) })
    }

    /// The rest of a statement that begins with `c?` or `c??`: a receive, or a guard that begins with a poll.
    fn receive(&mut self, chan: VarRef, random: bool, height: usize) -> PResult<StmtKind> {
        if self.at(Punct::LBracket) {
            let operand = self.poll(chan, random, height)?;
            return Ok(StmtKind::Expr(self.binary_from(operand, 0)?.expr));
        }
        let keep = self.eat(Punct::Lt);
        let args = self.recv_args()?;
        if keep {
            self.expect(Punct::Gt, "`,` or `>`")?;
        }
        Ok(StmtKind::Receive { chan, random, keep, args })
    }

    /// The rest of `label: stmt`, from the colon.
    fn labeled(&mut self, label: Ident, place: Span) -> PResult<Stmt> {
        self.bump();
        if self.at_declaration() || matches!(self.peek().kind, Kind::Key(Keyword::Xr | Keyword::Xs)) {
            let message = format!("the label `{}` stands before a declaration", label.name);
            let error = Diagnostic::new(Code::E0110, label.span, message);
            return Err(self.report(error.help("put the label before a statement, or write `label: skip;`")));
        }
        let alone = self.at_separator() || self.at_key(Keyword::Unless) || self.ends_sequence();
        let stmt = if alone { None } else { Some(Box::new(self.stmt()?)) };
        Ok(Stmt { kind: StmtKind::Labeled(label, stmt), span: self.place_from(place) })
    }

    /// `if :: … fi` or `do :: … od`.
    fn options(&mut self, closing: Keyword) -> PResult<Vec<Block>> {
        self.closers.push(closing);
        let options = self.options_until(closing);
        self.closers.pop();
        options
    }

    fn options_until(&mut self, closing: Keyword) -> PResult<Vec<Block>> {
        let open = self.bump();
        let mut options = Vec::new();
        loop {
            while self.at(Punct::DoubleColon) {
                let start = self.bump().span;
                self.before_statements = false;
                let mut steps = Vec::new();
                let mut option = OpenOption::new(self, start);
                self.sequence_of(&mut steps, Some(&mut option));
                options.push(Block { steps, span: self.span_from(start) });
            }
            if options.is_empty() || !self.at_key(closing) {
                self.report_unclosed(&open, closing, options.is_empty());
                while self.at_separator() || !self.ends_sequence() {
                    self.recover_in_sequence();
                    if self.at_separator() {
                        self.bump();
                    }
                }
                if self.at(Punct::DoubleColon) {
                    continue;
                }
            }
            if self.at_key(closing) || self.at_wrong_closer() {
                self.bump();
                return Ok(options);
            }
            return Err(Reported);
        }
    }

    /// Whether `fi` or `od` comes next and closes nothing that is open further out: it was meant for this
    /// statement.
    fn at_wrong_closer(&mut self) -> bool {
        let Kind::Key(found @ (Keyword::Fi | Keyword::Od)) = self.peek().kind else { return false };
        !self.closers.contains(&found)
    }

    fn report_unclosed(&mut self, open: &Tok, closing: Keyword, empty: bool) {
        let tok = self.peek().clone();
        let what = if empty {
            "`::` and the first option".to_string()
        } else {
            format!("`::` or `{}`", closing.text())
        };
        let message = format!("expected {what}, found {}", tok.describe());
        let word = if closing == Keyword::Fi { "if" } else { "do" };
        let mut error = Diagnostic::new(Code::E0101, tok.span, message);
        let label = if empty { format!("in this `{word}`") } else { format!("this `{word}` is not closed") };
        error = error.label(open.span, label);
        error.help = Self::option_repair(&tok, closing, empty);
        error.fixes.extend(self.option_edit(&tok, closing, empty));
        self.report(error);
    }

    /// `for (x : lo .. hi) { … }` or `for (x in a) { … }`.
    fn for_statement(&mut self) -> PResult<StmtKind> {
        self.bump();
        self.expect(Punct::LParen, "`(`")?;
        self.lexer.in_for = true;
        let head = self.for_head();
        self.lexer.in_for = false;
        let (var, range) = head?;
        self.expect(Punct::RParen, "`)`")?;
        if self.at(Punct::Semi) {
            self.bump();
        }
        let body = self.block()?;
        Ok(match range {
            Ok((low, high)) => StmtKind::ForRange(var, low, high, body),
            Err(array) => StmtKind::ForIn(var, array, body),
        })
    }

    /// Up to the closing parenthesis of a `for`: the variable, and its range or the array or channel it runs
    /// over.
    #[allow(clippy::type_complexity, reason = "used once")]
    fn for_head(&mut self) -> PResult<(VarRef, Result<(Expr, Expr), VarRef>)> {
        if let Some(help) = Self::for_repair(self.peek()) {
            return Err(self.unexpected_with("a variable", Some(help.to_string())));
        }
        let var = self.var_ref("a variable")?;
        let range = if self.at_key(Keyword::In) {
            self.bump();
            Err(self.var_ref("an array or a channel")?)
        } else {
            let what = "`:` and a range, or `in` and an array";
            if let Some(help) = Self::for_repair(self.peek()) {
                return Err(self.unexpected_with(what, Some(help.to_string())));
            }
            Ok(self.range(what)?)
        };
        if !self.at(Punct::RParen) {
            return Err(self.unexpected("`)`"));
        }
        Ok((var, range))
    }

    /// `: lo .. hi`.
    fn range(&mut self, what: &str) -> PResult<(Expr, Expr)> {
        self.expect(Punct::Colon, what)?;
        let low = self.expr()?;
        self.expect(Punct::DotDot, "`..` and the last value")?;
        Ok((low, self.expr()?))
    }

    /// `select (x : lo .. hi)`.
    fn select_statement(&mut self) -> PResult<StmtKind> {
        self.bump();
        self.expect(Punct::LParen, "`(`")?;
        let var = self.var_ref("a variable")?;
        let (low, high) = self.range("`:` and a range")?;
        self.expect(Punct::RParen, "`)`")?;
        Ok(StmtKind::Select(var, low, high))
    }

    fn printf_statement(&mut self) -> PResult<StmtKind> {
        self.bump();
        self.expect(Punct::LParen, "`(`")?;
        let Kind::Str(format) = self.peek().kind.clone() else {
            return Err(self.unexpected("a format string"));
        };
        let place = self.bump().span;
        let args = if self.eat(Punct::Comma) { self.args()? } else { Vec::new() };
        self.expect(Punct::RParen, "`,` or `)`")?;
        self.forgotten_value(&format, args.len(), place);
        Ok(StmtKind::Printf(format, args))
    }

    fn printm_statement(&mut self) -> PResult<StmtKind> {
        self.bump();
        self.expect(Punct::LParen, "`(`")?;
        let expr = if matches!(self.peek().kind, Kind::Name(_)) {
            let var = self.var_ref("a variable")?;
            let span = var.span;
            Expr { kind: crate::ast::ExprKind::Var(var), span }
        } else {
            self.expect_constant("a variable or constant")?
        };
        self.expect(Punct::RParen, "`)`")?;
        Ok(StmtKind::Printm(expr))
    }

    fn set_priority_statement(&mut self) -> PResult<StmtKind> {
        self.bump();
        self.expect(Punct::LParen, "`(`")?;
        let pid = self.expr()?;
        self.expect(Punct::Comma, "`,` and a priority")?;
        let priority = self.expr()?;
        self.expect(Punct::RParen, "`)`")?;
        Ok(StmtKind::SetPriority(pid, priority))
    }
}

/// Whether a statement may stand in a trace.
fn is_event(kind: &StmtKind) -> bool {
    match kind {
        StmtKind::Send { sorted, .. } => !sorted,
        StmtKind::Receive { random, keep, .. } => !random && !keep,
        StmtKind::Labeled(..) | StmtKind::If(_) | StmtKind::Do(_) | StmtKind::Break | StmtKind::Goto(_) => {
            true
        }
        StmtKind::ForRange(..) | StmtKind::ForIn(..) | StmtKind::Select(..) | StmtKind::Error => true,
        _ => false,
    }
}
