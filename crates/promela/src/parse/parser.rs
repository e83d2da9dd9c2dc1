//! The cursor over the tokens, errors and recovery, and the limits on what is parsed.
//!
//! A grammar function that meets an error reports it and returns [`Reported`]; the nearest sequence or the
//! top level skips to a place where parsing can go on. An error on the line of the previous one is a
//! consequence and is not reported. Exceeding a limit ends the parse with that one error.

use super::Dialect;
use super::expressions::simple_ref;
use super::keyword::Keyword;
use super::lexis::{Kind, Lexer, Tok};
use crate::ast::{Expr, ExprKind, Ident, Logic, VarRef};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::source::{ExpansionKind, FileId, SourceMap, Span};
use crate::token::{Punct, Token};
use std::collections::HashSet;
use std::sync::Arc;

/// An error was reported; there is nothing to give.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported;

/// What grammar functions return.
pub(super) type PResult<T> = Result<T, Reported>;

/// How much nesting the parser accepts. Later phases walk the tree recursively and rely on this.
pub(super) struct Limits;

impl Limits {
    /// Statements within statements.
    pub(super) const BLOCKS: usize = 250;
    /// Expressions within parentheses, indices and operands.
    pub(super) const EXPRESSIONS: usize = 500;
    /// The height of an expression's tree: the number of terms in one chain of operators.
    pub(super) const HEIGHT: usize = 950;
    /// Inlines within inlines.
    pub(super) const INLINES: usize = 100;
    /// Errors before the parser gives up.
    pub(super) const ERRORS: usize = 50;
    /// Diagnostics before warnings are left out.
    pub(super) const DIAGNOSTICS: usize = 100;
}

/// What is nested, each with a limit of its own.
#[derive(Clone, Copy)]
pub(super) enum Nesting {
    Blocks,
    Expressions,
}

/// The parser's state.
pub(super) struct Parser<'s> {
    pub(super) lexer: Lexer<'s>,
    pub(super) dialect: Dialect,
    tok: Option<Tok>,
    diagnostics: Vec<Diagnostic>,
    errors: usize,
    stopped: bool,
    /// Tokens consumed, now and when the last error was reported.
    consumed: usize,
    consumed_at_error: Option<usize>,
    /// The line of the last error: a further one there is taken for its consequence.
    line_of_error: Option<(FileId, usize)>,
    /// Places in inline bodies that were complained about: each use would complain again.
    complained: HashSet<(u32, u32)>,
    previous: Span,
    previous_place: Span,
    /// The token consumed last was a separator that was not written.
    after_implied: bool,
    block_depth: usize,
    expr_depth: usize,
    /// The height of the tallest expression read since this was last set.
    pub(super) tallest: usize,
    /// Inside a process, claim or trace rather than at the top level.
    pub(super) in_process: bool,
    /// The logic of the `ctl` or `mu` block that is being read.
    pub(super) logic: Option<Logic>,
    /// Inside a PV invariant.
    pub(super) in_invariant: bool,
    /// Inside `trace` or `notrace`.
    pub(super) in_trace: bool,
    /// No statement has been seen in this body, so that a channel may be created.
    pub(super) before_statements: bool,
    /// For each inline being expanded, the variable that takes its result.
    pub(super) results: Vec<Option<VarRef>>,
    /// Tokens of the inline arguments being read.
    pub(super) recording: Option<Vec<Tok>>,
    /// Names of variables seen so far, wherever they are visible: they are not misspelt keywords.
    pub(super) declared: HashSet<Arc<str>>,
    /// Names in text that was skipped after an error: what they stand for is not known.
    pub(super) doubtful: HashSet<Arc<str>>,
    /// What closes the `if` and `do` that are open.
    pub(super) closers: Vec<Keyword>,
    /// The names consumed since the item began, from which `doubtful` is filled.
    seen: Vec<Arc<str>>,
    /// The PV words `lock` and `unlock` that the model uses as names of its own.
    pub(super) own_words: HashSet<Arc<str>>,
}

impl<'s> Parser<'s> {
    pub(super) fn new(
        tokens: Vec<Token>,
        line_starts: Option<Vec<bool>>,
        dialect: Dialect,
        sources: &'s mut SourceMap,
    ) -> Self {
        let lexer = Lexer::new(tokens, line_starts, sources);
        let stray =
            |span: &Span| Diagnostic::new(Code::W0102, *span, "this `*/` closes no comment and is ignored");
        let diagnostics = lexer.stream.strays.iter().take(Limits::ERRORS).map(stray).collect();
        Parser {
            lexer,
            dialect,
            tok: None,
            diagnostics,
            errors: 0,
            stopped: false,
            consumed: 0,
            consumed_at_error: None,
            line_of_error: None,
            complained: HashSet::new(),
            previous: Span::NONE,
            previous_place: Span::NONE,
            after_implied: false,
            block_depth: 0,
            expr_depth: 0,
            tallest: 1,
            logic: None,
            in_invariant: false,
            in_process: false,
            in_trace: false,
            before_statements: true,
            results: Vec::new(),
            recording: None,
            own_words: HashSet::new(),
            declared: HashSet::new(),
            doubtful: HashSet::new(),
            closers: Vec::new(),
            seen: Vec::new(),
        }
    }

    pub(super) fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics
    }

    // The cursor.

    /// The next token, read when it is first asked for.
    pub(super) fn peek(&mut self) -> &Tok {
        if self.tok.is_none() {
            let mut tok = self.lexer.next();
            for error in std::mem::take(&mut self.lexer.errors) {
                self.report(error);
            }
            if self.lexer.stream.overrun() {
                self.stop(
                    Diagnostic::new(
                        Code::E0105,
                        tok.span,
                        "expanding the inlines makes this model too large",
                    )
                    .help("inlines that use each other twice or more grow exponentially"),
                );
            }
            if self.stopped {
                tok.kind = Kind::End;
            }
            self.tok = Some(tok);
        }
        self.tok.get_or_insert_with(|| unreachable_end(self.previous))
    }

    /// Takes the next token. The one after it is not read yet.
    pub(super) fn bump(&mut self) -> Tok {
        self.peek();
        let tok = self.tok.take().unwrap_or_else(|| unreachable_end(self.previous));
        match tok.kind {
            Kind::Punct(Punct::LParen) => self.lexer.parens += 1,
            Kind::Punct(Punct::RParen) => self.lexer.parens = self.lexer.parens.saturating_sub(1),
            Kind::End => self.tok = Some(tok.clone()),
            _ => {}
        }
        self.consumed += 1;
        if let Kind::Name(name) | Kind::ProcName(name) | Kind::InlineName(name) = &tok.kind {
            self.seen.push(name.clone());
        }
        self.after_implied = tok.implied;
        if !tok.implied {
            self.previous = tok.span;
            self.previous_place = tok.place;
        }
        if let Some(tokens) = &mut self.recording {
            tokens.push(tok.clone());
        }
        tok
    }

    pub(super) fn at(&mut self, punct: Punct) -> bool {
        self.peek().is(punct)
    }

    pub(super) fn at_key(&mut self, keyword: Keyword) -> bool {
        self.peek().is_key(keyword)
    }

    /// Whether a `;` or `->` comes next.
    pub(super) fn at_separator(&mut self) -> bool {
        matches!(self.peek().kind, Kind::Punct(Punct::Semi | Punct::Arrow))
    }

    pub(super) fn eat(&mut self, punct: Punct) -> bool {
        let found = self.at(punct);
        if found {
            self.bump();
        }
        found
    }

    pub(super) fn expect(&mut self, punct: Punct, what: &str) -> PResult<Tok> {
        if self.at(punct) { Ok(self.bump()) } else { Err(self.unexpected(what)) }
    }

    /// A name that is free for the use meant by `what`.
    pub(super) fn expect_name(&mut self, what: &str) -> PResult<Ident> {
        match &self.peek().kind {
            Kind::Name(name) => {
                let name = name.clone();
                let span = self.bump().span;
                Ok(Ident { name, span })
            }
            _ => Err(self.unexpected(what)),
        }
    }

    /// A number or symbolic constant.
    pub(super) fn expect_constant(&mut self, what: &str) -> PResult<Expr> {
        if matches!(self.peek().kind, Kind::Number(_) | Kind::Constant(_)) {
            let tok = self.bump();
            Ok(self.constant(tok))
        } else {
            Err(self.unexpected(what))
        }
    }

    /// The expression that a number or constant is.
    pub(super) fn constant(&mut self, tok: Tok) -> Expr {
        let kind = match tok.kind {
            Kind::Number(n) => ExprKind::Number(self.fitted(n, tok.span)),
            Kind::Constant(name) => ExprKind::Var(simple_ref(Ident { name, span: tok.span })),
            _ => ExprKind::Error,
        };
        Expr { kind, span: tok.span }
    }

    /// A number as an `int` holds it: Spin keeps the low 32 bits of what does not fit.
    fn fitted(&mut self, n: i64, span: Span) -> i64 {
        match i32::try_from(n) {
            Ok(_) => n,
            Err(_) => {
                let kept = n as i32;
                let message =
                    format!("the number {n} does not fit in 32 bits and is read as {kept}, as Spin does");
                self.report(Diagnostic::new(Code::W0101, span, message));
                i64::from(kept)
            }
        }
    }

    /// From `start` to the token consumed last.
    pub(super) fn span_from(&self, start: Span) -> Span {
        self.join_spans(start, self.previous)
    }

    /// Like [`Parser::span_from`], in terms of where tokens are shown.
    pub(super) fn place_from(&self, start: Span) -> Span {
        self.join_spans(start, self.previous_place)
    }

    /// From the beginning of `first` to the end of `last`.
    pub(super) fn join_spans(&self, first: Span, last: Span) -> Span {
        self.lexer.stream.sources.join(first, last)
    }

    /// How many tokens have been consumed: whether a rule took any.
    pub(super) fn progress(&self) -> usize {
        self.consumed
    }

    /// Forgets the token read ahead: another text begins.
    pub(super) fn restart(&mut self) {
        self.tok = None;
        self.leave_process();
    }

    /// Back at the top level.
    pub(super) fn leave_process(&mut self) {
        self.in_process = false;
        self.in_trace = false;
        self.before_statements = true;
        self.closers.clear();
        self.results.clear();
        self.lexer.in_sequence = false;
    }

    // Limits.

    /// Parses one level deeper.
    pub(super) fn nested<T>(
        &mut self,
        nesting: Nesting,
        parse: impl FnOnce(&mut Parser<'s>) -> PResult<T>,
    ) -> PResult<T> {
        let (limit, what) = match nesting {
            Nesting::Blocks => (Limits::BLOCKS, "statements"),
            Nesting::Expressions => (Limits::EXPRESSIONS, "expressions"),
        };
        if *self.depth(nesting) >= limit {
            let message = format!("{what} are nested more than {limit} deep");
            let span = self.peek().span;
            return Err(self.stop(Diagnostic::new(Code::E0103, span, message)));
        }
        *self.depth(nesting) += 1;
        let result = parse(self);
        *self.depth(nesting) -= 1;
        result
    }

    fn depth(&mut self, nesting: Nesting) -> &mut usize {
        match nesting {
            Nesting::Blocks => &mut self.block_depth,
            Nesting::Expressions => &mut self.expr_depth,
        }
    }

    // Errors.

    /// Reports that `what` was expected where the next token stands.
    pub(super) fn unexpected(&mut self, what: &str) -> Reported {
        let tok = self.peek().clone();
        let repair = self.repair(what, &tok);
        self.unexpected_with(what, repair)
    }

    /// Reports an unexpected token, with a repair that the caller knows.
    pub(super) fn unexpected_with(&mut self, what: &str, repair: Option<String>) -> Reported {
        let tok = self.peek().clone();
        if let Kind::Unknown(_) = tok.kind {
            // Reported when it was read.
            self.consumed_at_error = Some(self.consumed);
            return Reported;
        }
        let mut error = self.special_case(what, &tok).unwrap_or_else(|| {
            let message = format!("expected {what}, found {}", self.describe(&tok));
            Diagnostic::new(Code::E0101, self.shown(&tok), message)
        });
        if error.help.is_none() && error.fixes.is_empty() && repair.is_some() {
            error.fixes.extend(self.edit_for(what, &tok));
        }
        error.help = error.help.or(repair);
        self.report(error)
    }

    /// A token in words; `<>` and `[]`, which are taken apart, as they are written.
    fn describe(&self, tok: &Tok) -> String {
        match self.lexer.stream.sources.text(tok.span) {
            whole @ ("<>" | "[]") => format!("`{whole}`"),
            _ => tok.describe(),
        }
    }

    /// Where a token is shown: a separator that was not written, right behind the token before it.
    pub(super) fn shown(&self, tok: &Tok) -> Span {
        let behind = Span { start: self.previous.end, ..self.previous };
        if tok.implied && self.previous != Span::NONE { behind } else { tok.span }
    }

    /// The text of the token consumed last.
    pub(super) fn text_before(&self) -> String {
        if self.previous == Span::NONE {
            return String::new();
        }
        self.lexer.stream.sources.text(self.previous).to_string()
    }

    /// Where the token consumed last stands.
    pub(super) fn previous_span(&self) -> Span {
        self.previous
    }

    /// Whether `tok` stands right behind the token consumed last.
    pub(super) fn touches_previous(&self, tok: &Tok) -> bool {
        let (before, now) = (self.previous, tok.span);
        // `<>` and `[]` are taken apart: both halves have one span.
        let same = (before.file, before.start, before.end) == (now.file, now.start, now.end);
        !tok.implied && before.file == now.file && (before.end == now.start || same)
    }

    /// Whether the token consumed last was a separator that was not written.
    pub(super) fn after_implied(&self) -> bool {
        self.after_implied
    }

    /// Reports `diagnostic`, unless it is only a consequence of the error before.
    pub(super) fn report(&mut self, mut diagnostic: Diagnostic) -> Reported {
        if self.stopped {
            return Reported;
        }
        let span = diagnostic.span();
        if let Some(call) = self.inline_call(span) {
            if !self.complained.insert((span.file.0, span.start)) {
                self.consumed_at_error = Some(self.consumed);
                return Reported;
            }
            diagnostic = diagnostic.label(call.1, format!("in this use of `{}`", call.0));
        }
        if diagnostic.severity() == Severity::Warning && self.diagnostics.len() >= Limits::DIAGNOSTICS {
            return Reported;
        }
        if diagnostic.severity() == Severity::Error {
            let line = self.lexer.stream.sources.row(span);
            if self.consumed_at_error == Some(self.consumed) || self.line_of_error == line {
                return Reported;
            }
            self.consumed_at_error = Some(self.consumed);
            self.line_of_error = line;
            self.errors += 1;
            if self.errors >= Limits::ERRORS {
                self.diagnostics.push(diagnostic.help("there were too many errors to go on"));
                self.end();
                return Reported;
            }
        }
        self.diagnostics.push(diagnostic);
        Reported
    }

    /// The innermost inline use that `span` lies in.
    fn inline_call(&self, mut span: Span) -> Option<(Arc<str>, Span)> {
        loop {
            let expansion = self.lexer.stream.sources.expansion(span.expansion)?;
            if expansion.kind == ExpansionKind::Inline {
                return Some((expansion.name.clone(), expansion.call));
            }
            span = expansion.call;
        }
    }

    /// Whether an error was reported.
    pub(super) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Reports `diagnostic` and ends the parse.
    pub(super) fn stop(&mut self, diagnostic: Diagnostic) -> Reported {
        self.consumed_at_error = None;
        self.line_of_error = None;
        self.report(diagnostic);
        self.end();
        Reported
    }

    fn end(&mut self) {
        self.stopped = true;
        self.lexer.stream.finish();
        self.lexer.reset();
        if let Some(tok) = &mut self.tok {
            tok.kind = Kind::End;
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped
    }

    // Recovery.

    /// A mark to which [`Parser::doubt_since`] can go back.
    pub(super) fn names_seen(&self) -> usize {
        self.seen.len()
    }

    /// Forgets the names seen: another item begins.
    pub(super) fn forget_names(&mut self) {
        self.seen.clear();
    }

    /// Whatever was named since `mark` may have been declared there, or not.
    pub(super) fn doubt_since(&mut self, mark: usize) {
        self.doubtful.extend(self.seen.drain(mark.min(self.seen.len())..));
    }

    /// Skips to where a sequence may go on: a separator, the end of the block or option, or the next
    /// declaration.
    pub(super) fn recover_in_sequence(&mut self) {
        self.lexer.parens = 0;
        self.lexer.in_for = false;
        self.recording = None;
        let mut open = 0usize;
        loop {
            match self.peek().kind {
                Kind::End => return,
                Kind::Key(k) if k.starts_unit() => return,
                Kind::Punct(Punct::LBrace) | Kind::Key(Keyword::If | Keyword::Do) => open += 1,
                Kind::Punct(Punct::RBrace) | Kind::Key(Keyword::Fi | Keyword::Od) if open > 0 => open -= 1,
                Kind::Punct(Punct::RBrace) | Kind::Key(Keyword::Fi | Keyword::Od) => return,
                Kind::Punct(Punct::Semi | Punct::Arrow | Punct::DoubleColon) if open == 0 => return,
                _ => {}
            }
            self.bump();
            self.lexer.parens = 0;
        }
    }

    /// Skips to the next declaration at the top level.
    pub(super) fn recover_at_top(&mut self) {
        self.recording = None;
        self.lexer.parens = 0;
        self.lexer.in_for = false;
        let mut open = 0usize;
        loop {
            match self.peek().kind {
                Kind::End => return,
                Kind::Key(k) if k.starts_unit() => return,
                Kind::Key(k) if open == 0 && (k.is_type() || k.is_visibility()) => return,
                Kind::TypeName(_) | Kind::Punct(Punct::Semi) if open == 0 => return,
                Kind::Punct(Punct::LBrace) => open += 1,
                Kind::Punct(Punct::RBrace) => {
                    open = open.saturating_sub(1);
                    if open == 0 {
                        self.bump();
                        return;
                    }
                }
                _ => {}
            }
            self.bump();
        }
    }
}

/// Never seen: a token is read before it is taken.
fn unreachable_end(span: Span) -> Tok {
    Tok { kind: Kind::End, span, place: span, implied: false }
}
