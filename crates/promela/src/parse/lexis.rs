//! What a token is at this point of the model, and which semicolons are implied.
//!
//! A name may be a keyword, a constant, a type, a proctype, an inline or a formal parameter, depending on
//! what was declared before it. Two rules of Spin's lexer supply separators that were not written:
//!
//! 1. inside a body or typedef and outside parentheses, a line end after a name, constant, `)`, `]`, `}`,
//!    `++`, `--`, `fi`, `od`, `else`, `break` or embedded C is a semicolon;
//! 2. a missing separator after `else` or `}` is supplied on the same line too, and one before `}` or another
//!    separator is dropped.
//!
//! Models depend on both (`x = y` followed by `-1` on the next line is two statements), so both are kept
//! exactly.

use super::keyword::{Keyword, Temporal};
use super::stream::{Fetched, Raw, Stream};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{SourceMap, Span};
use crate::token::{Punct, Token, TokenKind};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// A classified token.
#[derive(Clone, Debug)]
pub(super) struct Tok {
    pub(super) kind: Kind,
    /// Where it was written.
    pub(super) span: Span,
    /// Where the statement that it begins is shown: for an argument, the formal parameter in the inline's
    /// body.
    pub(super) place: Span,
    /// A separator that was not written.
    pub(super) implied: bool,
}

/// What a token is for the grammar.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A name that is nothing special here.
    Name(Arc<str>),
    /// The name of a typedef.
    TypeName(Arc<str>),
    /// The name of a proctype declared before.
    ProcName(Arc<str>),
    /// The name of an inline declared before.
    InlineName(Arc<str>),
    /// A symbolic constant declared before.
    Constant(Arc<str>),
    Number(i64),
    Str(Arc<str>),
    Key(Keyword),
    Temporal(Temporal),
    Punct(Punct),
    CBlock(Arc<str>),
    Unknown(char),
    End,
}

/// What the rules for implied separators need to know of a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Brace,
    Else,
    OpenParen,
    /// Another token after which a line end is a semicolon.
    Ending,
    Other,
}

impl Last {
    fn of(kind: &Kind) -> Last {
        match kind {
            Kind::Punct(Punct::RBrace) => Last::Brace,
            Kind::Punct(Punct::LParen) => Last::OpenParen,
            Kind::Key(Keyword::Else) => Last::Else,
            Kind::Punct(Punct::RParen | Punct::RBracket | Punct::PlusPlus | Punct::MinusMinus)
            | Kind::Key(Keyword::Od | Keyword::Fi | Keyword::Break)
            | Kind::Key(Keyword::CCode | Keyword::CExpr | Keyword::CDecl)
            | Kind::CBlock(_)
            | Kind::Name(_)
            | Kind::Constant(_)
            | Kind::Number(_) => Last::Ending,
            _ => Last::Other,
        }
    }

    fn ends_at_line_end(self) -> bool {
        matches!(self, Last::Brace | Last::Else | Last::Ending)
    }
}

/// An inline that was declared.
pub(super) struct InlineText {
    pub(super) name: Arc<str>,
    pub(super) span: Span,
    /// The position of each parameter; of two with one name the first counts.
    pub(super) params: HashMap<Arc<str>, usize>,
    /// How many there are.
    pub(super) arity: usize,
    /// Its tokens in the model, braces included.
    pub(super) body: Range<usize>,
}

/// The names that lexing depends on, with the places of their declarations.
#[derive(Default)]
pub(super) struct Names {
    pub(super) constants: HashMap<Arc<str>, Span>,
    pub(super) types: HashMap<Arc<str>, Span>,
    pub(super) proctypes: HashMap<Arc<str>, Span>,
    pub(super) inlines: HashMap<Arc<str>, usize>,
}

/// The lexer's second half: classification and implied separators.
pub(super) struct Lexer<'s> {
    pub(super) stream: Stream<'s>,
    pub(super) names: Names,
    pub(super) inlines: Vec<InlineText>,
    /// Inside a body or a typedef.
    pub(super) in_sequence: bool,
    /// Open parentheses.
    pub(super) parens: usize,
    /// Between the parentheses of a `for`.
    pub(super) in_for: bool,
    /// Inside an `ltl`, `ctl` or `mu` block.
    pub(super) in_formula: bool,
    /// In a formula, words such as `U` and `always` are operators; in the mu-calculus they are names.
    pub(super) temporal_words: bool,
    /// Tokens of the `ltl`, `ctl` and `mu` blocks, which are read after everything else; `None` once that has begun.
    pub(super) deferred: Option<Vec<Range<usize>>>,
    /// Errors found while reading, for the parser to report.
    pub(super) errors: Vec<Diagnostic>,
    last: Last,
    last_given: Last,
    held: Option<Tok>,
    pending: Option<Raw>,
}

impl<'s> Lexer<'s> {
    pub(super) fn new(
        tokens: Vec<Token>,
        line_starts: Option<Vec<bool>>,
        sources: &'s mut SourceMap,
    ) -> Self {
        Lexer {
            stream: Stream::new(tokens, line_starts, sources),
            names: Names::default(),
            inlines: Vec::new(),
            in_sequence: false,
            parens: 0,
            in_for: false,
            in_formula: false,
            temporal_words: true,
            deferred: Some(Vec::new()),
            errors: Vec::new(),
            last: Last::Other,
            last_given: Last::Other,
            held: None,
            pending: None,
        }
    }

    /// The next token of the grammar, separators supplied and dropped.
    pub(super) fn next(&mut self) -> Tok {
        if let Some(tok) = self.held.take() {
            self.last = Last::of(&tok.kind);
            self.last_given = self.last;
            return tok;
        }
        let mut tok = self.read();
        if self.needs_separator(&tok.kind) {
            let separator = implied(&tok);
            self.held = Some(tok);
            self.last = Last::Other;
            self.last_given = Last::Other;
            return separator;
        }
        if is_separator(&tok.kind) {
            let after = self.read();
            if is_separator(&after.kind) || after.kind == Kind::Punct(Punct::RBrace) {
                tok = after;
            } else {
                self.held = Some(after);
            }
        }
        self.last_given = Last::of(&tok.kind);
        tok
    }

    /// Rule 2: whether a separator is to be supplied between the token given last and `next`.
    fn needs_separator(&self, next: &Kind) -> bool {
        use Keyword::*;
        match self.last_given {
            Last::Else => !is_separator(next) && *next != Kind::Key(Fi),
            Last::Brace => {
                !(is_separator(next)
                    || matches!(next, Kind::Key(Proctype | Init | Never | Fi | Od | Unless) | Kind::End)
                    || matches!(next, Kind::Punct(Punct::DoubleColon | Punct::RBrace)))
            }
            _ => false,
        }
    }

    /// The next token, with separators for line ends (rule 1).
    fn read(&mut self) -> Tok {
        loop {
            let mut raw = match self.pending.take() {
                Some(raw) => raw,
                None => match self.stream.next() {
                    Fetched::Raw(raw) => raw,
                    Fetched::Ready(tok) => {
                        self.last = Last::of(&tok.kind);
                        return tok;
                    }
                },
            };
            if std::mem::take(&mut raw.newline) && self.line_end_separates(&raw.kind) {
                let separator =
                    Tok { kind: Kind::Punct(Punct::Semi), span: raw.span, place: raw.span, implied: true };
                self.pending = Some(raw);
                self.last = Last::Other;
                return separator;
            }
            let before = self.last;
            if let Some(tok) = self.classify(raw) {
                self.last = Last::of(&tok.kind);
                // Spin reads `timeout` as `(timeout)`, except in an inline or after a parenthesis.
                if tok.kind == Kind::Key(Keyword::Timeout)
                    && before != Last::OpenParen
                    && !self.stream.inlining()
                {
                    self.last = Last::Ending;
                }
                return tok;
            }
        }
    }

    fn line_end_separates(&self, next: &TokenKind) -> bool {
        // After `}` Spin looks for `unless` by its first letter; rule 2 then decides for other words.
        let unless =
            self.last == Last::Brace && matches!(next, TokenKind::Name(word) if word.starts_with('u'));
        self.in_sequence
            && self.parens == 0
            && self.last.ends_at_line_end()
            && !unless
            && !matches!(next, TokenKind::CBlock(_))
    }

    /// What `raw` is here; `None` if it was replaced by something that is to be read now.
    fn classify(&mut self, raw: Raw) -> Option<Tok> {
        let kind = match raw.kind {
            TokenKind::Name(ref word) => self.name(word.clone(), &raw)?,
            TokenKind::Number(n) => Kind::Number(n),
            TokenKind::Str(text) => Kind::Str(text),
            TokenKind::CBlock(text) => Kind::CBlock(text),
            TokenKind::Punct(p) => self.punct(p, raw.span),
            TokenKind::Unknown(c) => Kind::Unknown(c),
            TokenKind::End => Kind::End,
        };
        Some(Tok { kind, span: raw.span, place: raw.span, implied: false })
    }

    fn punct(&mut self, punct: Punct, span: Span) -> Kind {
        if self.in_formula {
            return match punct {
                Punct::Arrow => Kind::Temporal(Temporal::Implies),
                Punct::Equiv => Kind::Temporal(Temporal::Equiv),
                Punct::Always => Kind::Temporal(Temporal::Always),
                Punct::Eventually => Kind::Temporal(Temporal::Eventually),
                Punct::And => Kind::Punct(Punct::AmpAmp),
                Punct::Or => Kind::Punct(Punct::BarBar),
                other => Kind::Punct(other),
            };
        }
        let (first, second) = match punct {
            Punct::Always => (Punct::LBracket, Punct::RBracket),
            Punct::Eventually => (Punct::Lt, Punct::Gt),
            other => return Kind::Punct(other),
        };
        let rest = Tok { kind: Kind::Punct(second), span, place: span, implied: false };
        self.stream.push_text(Rc::new([rest]), None);
        Kind::Punct(first)
    }

    fn name(&mut self, word: Arc<str>, raw: &Raw) -> Option<Kind> {
        if self.in_formula
            && self.temporal_words
            && let Some(op) = Temporal::of(&word)
        {
            return Some(Kind::Temporal(op));
        }
        match Keyword::of(&word) {
            Some(Keyword::In) if !self.in_for => {}
            Some(Keyword::Select) if self.expand_select(raw.span) => return None,
            Some(Keyword::Ltl) if self.defer_formula() => return None,
            Some(keyword) => return Some(Kind::Key(keyword)),
            None => {}
        }
        if !self.names.constants.contains_key(&word)
            && raw.in_body
            && let Some(actual) = self.argument(&word)
        {
            self.stream.push_text(actual, Some(raw.span));
            return None;
        }
        Some(self.plain_name(word))
    }

    /// What a word is that is neither a keyword nor a formal parameter.
    fn plain_name(&self, word: Arc<str>) -> Kind {
        match &*word {
            "true" | "skip" => return Kind::Number(1),
            "false" => return Kind::Number(0),
            _ => {}
        }
        let names = &self.names;
        if names.constants.contains_key(&word) {
            Kind::Constant(word)
        } else if names.types.contains_key(&word) {
            Kind::TypeName(word)
        } else if names.proctypes.contains_key(&word) {
            Kind::ProcName(word)
        } else if names.inlines.contains_key(&word) {
            Kind::InlineName(word)
        } else {
            Kind::Name(word)
        }
    }

    /// The argument for the formal parameter `word` of the inline being expanded.
    fn argument(&self, word: &str) -> Option<Rc<[Tok]>> {
        let (inline, args) = self.stream.current_body()?;
        let position = self.inlines[inline].params.get(word)?;
        args.get(*position).cloned()
    }

    /// Spin reads `ltl` blocks after everything else, wherever they stand: so that they may name what comes
    /// later.
    pub(super) fn defer_formula(&mut self) -> bool {
        let Some(length) = self.block_ahead() else { return false };
        let Some(deferred) = &mut self.deferred else { return false };
        let range = self.stream.skip(length);
        deferred.push(range.start - 1..range.end);
        true
    }

    /// Whether a block that can be put aside follows the word that was read last.
    pub(super) fn a_block_follows(&self) -> bool {
        self.deferred.is_some() && !self.stream.inlining() && self.block_ahead().is_some()
    }

    /// How many tokens the block that comes next has, its name included.
    fn block_ahead(&self) -> Option<usize> {
        let ahead = self.stream.ahead();
        let named = matches!(ahead.first(), Some(Token { kind: TokenKind::Name(_), .. })) as usize;
        Some(named + matching_brace(ahead.get(named..)?)?)
    }

    /// Outside inlines Spin replaces `select (name : number .. number)` by a choice or, beyond 33 values, by
    /// a loop.
    fn expand_select(&mut self, span: Span) -> bool {
        let Some((name, low, high)) = self.select_ahead() else { return false };
        let span =
            self.stream.ahead().get(6).map_or(span, |close| self.stream.sources.join(span, close.span));
        self.stream.skip(7);
        if low > high {
            let message = format!("the range {low} .. {high} of this `select` is empty");
            let help = "the first value must not be greater than the last";
            self.errors.push(Diagnostic::new(Code::E0140, span, message).help(help));
            return true;
        }
        let make = |kind| Tok { kind, span, place: span, implied: false };
        let var = Tok { kind: self.plain_name(name.0), span: name.1, place: span, implied: false };
        let punct = |p| make(Kind::Punct(p));
        let key = |k| make(Kind::Key(k));
        let number = |n: i64| make(Kind::Number(n));
        let assign = |n: i64| [var.clone(), punct(Punct::Assign), number(n)];
        let mut text = Vec::new();
        if high - low <= 32 {
            text.push(key(Keyword::If));
            for n in low..=high {
                text.push(punct(Punct::DoubleColon));
                text.extend(assign(n));
            }
            text.push(key(Keyword::Fi));
        } else {
            text.extend(assign(low));
            text.extend([
                punct(Punct::Semi),
                key(Keyword::Do),
                punct(Punct::DoubleColon),
                punct(Punct::LParen),
            ]);
            text.extend([
                var.clone(),
                punct(Punct::Lt),
                number(high),
                punct(Punct::RParen),
                punct(Punct::Arrow),
            ]);
            text.extend([var.clone(), punct(Punct::PlusPlus), punct(Punct::DoubleColon)]);
            text.extend([key(Keyword::Break), key(Keyword::Od), punct(Punct::Semi)]);
        }
        self.stream.push_text(text.into(), None);
        true
    }

    /// `(name : number .. number)` on one line, the name without an underscore.
    fn select_ahead(&self) -> Option<((Arc<str>, Span), i64, i64)> {
        let ahead = self.stream.ahead().get(..7)?;
        let is = |n: usize, p: Punct| ahead[n].kind == TokenKind::Punct(p);
        let shape =
            is(0, Punct::LParen) && is(2, Punct::Colon) && is(4, Punct::DotDot) && is(6, Punct::RParen);
        let (TokenKind::Name(name), TokenKind::Number(low), TokenKind::Number(high)) =
            (&ahead[1].kind, &ahead[3].kind, &ahead[5].kind)
        else {
            return None;
        };
        let plain = name.bytes().all(|b| b.is_ascii_alphanumeric());
        let one_line = (1..7).all(|n| !self.stream.newline_ahead(n));
        let small = i32::try_from(*low).is_ok() && i32::try_from(*high).is_ok();
        (shape && plain && one_line && small).then(|| ((name.clone(), ahead[1].span), *low, *high))
    }

    /// Begins to read one of the deferred `ltl` blocks.
    pub(super) fn enter_formula(&mut self, range: Range<usize>) {
        self.stream.restrict(range);
        self.reset();
    }

    /// Forgets what was read: after an error, or when another text begins.
    pub(super) fn reset(&mut self) {
        self.last = Last::Other;
        self.last_given = Last::Other;
        self.held = None;
        self.pending = None;
        self.parens = 0;
        self.in_for = false;
        self.in_formula = false;
        self.in_sequence = false;
    }

    /// Reads the body of an inline next. The line end after the call separates nothing.
    pub(super) fn enter_inline(&mut self, inline: usize, args: Vec<Rc<[Tok]>>, call: Span) {
        let text = &self.inlines[inline];
        self.stream.push_body(inline, text.name.clone(), text.body.clone(), args, call);
        self.last = Last::Other;
    }

    /// The braced text that comes next in the model, skipped: the body of an inline.
    pub(super) fn skip_body(&mut self) -> Option<Range<usize>> {
        let length = matching_brace(self.stream.ahead())?;
        let range = self.stream.skip(length);
        Some(range)
    }
}

/// How many tokens the braced text at the beginning of `tokens` has.
fn matching_brace(tokens: &[Token]) -> Option<usize> {
    if tokens.first()?.kind != TokenKind::Punct(Punct::LBrace) {
        return None;
    }
    let mut open = 0usize;
    for (i, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Punct(Punct::LBrace) => open += 1,
            TokenKind::Punct(Punct::RBrace) => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some(i + 1);
        }
    }
    None
}

fn is_separator(kind: &Kind) -> bool {
    matches!(kind, Kind::Punct(Punct::Semi | Punct::Arrow))
}

/// A separator supplied before `next`.
fn implied(next: &Tok) -> Tok {
    Tok { kind: Kind::Punct(Punct::Semi), implied: true, ..next.clone() }
}

impl Tok {
    /// The token in words, for messages.
    pub(super) fn describe(&self) -> String {
        if self.implied {
            return "the end of the statement".to_string();
        }
        match &self.kind {
            Kind::Name(n) => format!("`{n}`"),
            Kind::TypeName(n) => format!("the type `{n}`"),
            Kind::ProcName(n) => format!("the proctype `{n}`"),
            Kind::InlineName(n) => format!("the inline `{n}`"),
            Kind::Constant(n) => format!("the constant `{n}`"),
            Kind::Number(n) => format!("the number {n}"),
            Kind::Str(_) => "a string".to_string(),
            Kind::Key(k) => format!("`{}`", k.text()),
            Kind::Temporal(t) => format!("`{}`", t.text()),
            Kind::Punct(p) => format!("`{}`", p.text()),
            Kind::CBlock(_) => "embedded C".to_string(),
            Kind::Unknown(c) => format!("the character {c:?}"),
            Kind::End => "the end of the model".to_string(),
        }
    }

    /// Whether it is this sign.
    pub(super) fn is(&self, punct: Punct) -> bool {
        self.kind == Kind::Punct(punct)
    }

    /// Whether it is this keyword.
    pub(super) fn is_key(&self, keyword: Keyword) -> bool {
        self.kind == Kind::Key(keyword)
    }
}
