//! The second step: Promela's tokens out of the preprocessor's.
//!
//! Spin lexes the text that gcc prints, so what counts is that text: operators that stand side by side in it
//! are read together by longest match (`:` `:` is `::`, `<` `->` is `<->`), and a preprocessing number is
//! taken apart again (`0..N` is `0`, `..`, `N`). Between the text of a macro and its surroundings gcc prints
//! a space where two operators would otherwise become one; [`would_paste`] knows where.
//!
//! The text after `c_code`, `c_decl` and `c_expr` is C and is kept as one token.

use super::Preprocessor;
use super::intern::Sym;
use super::scan::{Kind, PpToken, SEAM, SPACE};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::token::{Punct, Token, TokenKind};

/// A character of an operator, and its place.
#[derive(Clone, Copy)]
struct Char {
    byte: u8,
    span: Span,
    line_start: bool,
}

/// Lines without tokens that are kept between two lines of embedded C.
const MAX_GAP: u32 = 200;

/// Embedded C that is being read.
struct CText {
    text: String,
    /// From the first token to the last.
    span: Option<Span>,
    line_start: bool,
    /// Open brackets of a precondition.
    brackets: usize,
    /// Open braces.
    braces: usize,
    keyword: Span,
}

/// Collects the tokens of the parser.
pub(super) struct Emitter {
    tokens: Vec<Token>,
    line_starts: Vec<bool>,
    /// Operators side by side that have not been read yet.
    run: Vec<Char>,
    previous: Option<PpToken>,
    /// The line on which the text stands that was printed last.
    line: u32,
    c_text: Option<CText>,
    /// The operators by their first character, longest first.
    operators: Vec<Vec<Punct>>,
}

impl Emitter {
    /// An emitter that has seen nothing.
    pub fn new() -> Self {
        let mut operators = vec![Vec::new(); 128];
        for &punct in Punct::ALL {
            operators[punct.text().as_bytes()[0] as usize & 127].push(punct);
        }
        for group in &mut operators {
            group.sort_by_key(|p| std::cmp::Reverse(p.text().len()));
        }
        Emitter {
            tokens: Vec::new(),
            line_starts: Vec::new(),
            run: Vec::new(),
            previous: None,
            line: 0,
            c_text: None,
            operators,
        }
    }

    /// Takes the next token of the preprocessor.
    pub fn push(&mut self, pp: &mut Preprocessor, token: PpToken) {
        let line_start = token.line != self.line && token.has(SPACE | SEAM);
        // Lines of C keep their distance, so that the C compiler names the right ones.
        let lines = token.line.saturating_sub(self.line).clamp(1, MAX_GAP);
        if line_start {
            self.line = token.line;
        }
        let seam = token.has(SEAM) && self.previous.is_some_and(|p| would_paste(pp, &p, &token));
        let apart = line_start || token.has(SPACE) || seam;
        self.previous = Some(token);
        if self.c_text.is_some() && self.push_c(pp, &token, (line_start, lines), apart) {
            return;
        }
        if apart || token.kind != Kind::Operator && token.kind != Kind::Number {
            self.flush(pp);
        }
        match token.kind {
            Kind::Operator => self.push_operator(pp, &token, line_start),
            Kind::Number => self.push_number(pp, &token, line_start),
            Kind::Name => self.push_name(pp, &token, line_start),
            Kind::Str => {
                let text = pp.interner.text(token.sym).clone();
                let inner = pp.interner.intern(text.get(1..text.len().saturating_sub(1)).unwrap_or(""));
                let inner = pp.interner.text(inner).clone();
                self.add(TokenKind::Str(inner), token.span, line_start);
            }
            Kind::Char => {
                let value = character(pp, &token);
                self.add(TokenKind::Number(value), token.span, line_start);
            }
            Kind::OpenStr | Kind::OpenChar => self.push_open(pp, &token, line_start),
            Kind::Other => {
                let c = pp.text(&token).chars().next().unwrap_or('\0');
                self.unknown(pp, c, token.span, line_start);
            }
            Kind::EndOfLine | Kind::End => {}
        }
    }

    /// All tokens; for each, whether a line ends before it.
    pub fn finish(mut self, pp: &mut Preprocessor, end: Span) -> (Vec<Token>, Vec<bool>) {
        if let Some(c) = self.c_text.take().filter(|c| c.brackets + c.braces > 0) {
            let message = "the C text after this word is never closed";
            pp.report(Diagnostic::new(Code::E0023, c.keyword, message).help("end it with `}`"));
            self.add(TokenKind::CBlock(c.text.into()), c.span.unwrap_or(c.keyword), c.line_start);
        }
        self.flush(pp);
        self.add(TokenKind::End, end, true);
        (self.tokens, self.line_starts)
    }

    fn add(&mut self, kind: TokenKind, span: Span, line_start: bool) {
        self.tokens.push(Token { kind, span });
        self.line_starts.push(line_start);
    }

    fn push_name(&mut self, pp: &mut Preprocessor, token: &PpToken, line_start: bool) {
        let text = pp.interner.text(token.sym).clone();
        if !text.is_ascii() {
            let message = format!("the name `{text}` has a character that names cannot have");
            let help = "names are made of the letters a-z and A-Z, digits and `_`";
            pp.report(Diagnostic::new(Code::E0022, token.span, message).help(help));
        }
        if matches!(&*text, "c_code" | "c_decl" | "c_expr") {
            self.c_text = Some(CText {
                text: String::new(),
                span: None,
                line_start: false,
                brackets: 0,
                braces: 0,
                keyword: token.span,
            });
        }
        self.add(TokenKind::Name(text), token.span, line_start);
    }

    fn push_operator(&mut self, pp: &mut Preprocessor, token: &PpToken, line_start: bool) {
        // These are never part of a longer operator.
        let whole = match token.sym {
            Sym::LPAREN => Some(Punct::LParen),
            Sym::RPAREN => Some(Punct::RParen),
            Sym::LBRACE => Some(Punct::LBrace),
            Sym::RBRACE => Some(Punct::RBrace),
            Sym::COMMA => Some(Punct::Comma),
            _ => None,
        };
        if let Some(punct) = whole {
            self.flush(pp);
            return self.add(TokenKind::Punct(punct), token.span, line_start);
        }
        let text = pp.interner.text(token.sym);
        for (at, byte) in text.bytes().enumerate() {
            let span = part(token.span, text.len(), at, at + 1);
            self.run.push(Char { byte, span, line_start: line_start && at == 0 });
        }
    }

    /// Takes a preprocessing number apart.
    fn push_number(&mut self, pp: &mut Preprocessor, token: &PpToken, line_start: bool) {
        let text = pp.interner.text(token.sym).clone();
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let from = at;
            let digit = bytes[at].is_ascii_digit();
            let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || *b >= 0x80;
            let rest = &bytes[at..];
            at += match digit {
                true => rest.iter().take_while(|b| b.is_ascii_digit()).count(),
                false => rest.iter().take_while(|b| word(b)).count(),
            };
            let first = line_start && from == 0;
            if at == from {
                let span = part(token.span, bytes.len(), at, at + 1);
                self.run.push(Char { byte: bytes[at], span, line_start: first });
                at += 1;
                continue;
            }
            self.flush(pp);
            let span = part(token.span, bytes.len(), from, at);
            if digit {
                let value = text[from..at].parse().unwrap_or(i64::MAX);
                self.add(TokenKind::Number(value), span, first);
            } else {
                let sym = pp.interner.intern(&text[from..at]);
                warn_about_word_in_number(pp, token, sym, span, from, &text);
                let name = PpToken { kind: Kind::Name, sym, span, ..*token };
                self.push_name(pp, &name, first);
            }
        }
    }

    /// Reads the operators that stand side by side.
    fn flush(&mut self, pp: &mut Preprocessor) {
        if self.run.is_empty() {
            return;
        }
        let run = std::mem::take(&mut self.run);
        let mut at = 0;
        while at < run.len() {
            let first = run[at];
            let rest = &run[at..];
            let starts =
                |text: &str| rest.len() >= text.len() && text.bytes().zip(rest).all(|(b, c)| b == c.byte);
            let found = if starts("-->") {
                let message = "`-->` is read as `->`, as by Spin";
                pp.report(
                    Diagnostic::new(Code::W0009, first.span.to(run[at + 2].span), message)
                        .help("write `->`, or a space after `--`"),
                );
                Some((Punct::Arrow, 3))
            } else {
                let group = self.operators.get(first.byte as usize);
                let punct = group.and_then(|g| g.iter().find(|p| starts(p.text())));
                punct.map(|&p| (p, p.text().len()))
            };
            match found {
                Some((punct, length)) => {
                    let span = first.span.to(run[at + length - 1].span);
                    self.add(TokenKind::Punct(punct), span, first.line_start);
                    at += length;
                }
                None => {
                    self.unknown(pp, first.byte as char, first.span, first.line_start);
                    at += 1;
                }
            }
        }
        self.run = run;
        self.run.clear();
    }

    fn unknown(&mut self, pp: &mut Preprocessor, c: char, span: Span, line_start: bool) {
        if pp.diagnostics.len() > super::MAX_DIAGNOSTICS {
            return self.add(TokenKind::Unknown(c), span, line_start);
        }
        let (code, message, help) = match c {
            '#' => (
                Code::E0024,
                "`#` can stand only at the beginning of a line".into(),
                "move the directive to its own line",
            ),
            '$' => (Code::E0022, "this `$` has no second one on its line".into(), "remove it"),
            _ => (
                Code::E0022,
                format!("the character `{}` has no meaning here", c.escape_debug()),
                plain_sign(c).unwrap_or("remove it"),
            ),
        };
        pp.report(Diagnostic::new(code, span, message).help(help));
        self.add(TokenKind::Unknown(c), span, line_start);
    }

    fn push_open(&mut self, pp: &mut Preprocessor, token: &PpToken, line_start: bool) {
        report_open_quote(pp, token);
        let text = pp.interner.text(token.sym).clone();
        let kind = match token.kind {
            Kind::OpenStr => TokenKind::Str(text[1..].into()),
            _ => TokenKind::Unknown('\''),
        };
        self.add(kind, token.span, line_start);
    }

    /// Takes a token of embedded C; false if it is none.
    fn push_c(
        &mut self,
        pp: &mut Preprocessor,
        token: &PpToken,
        (line_start, lines): (bool, u32),
        apart: bool,
    ) -> bool {
        let Some(c) = &mut self.c_text else { return false };
        if c.brackets + c.braces == 0 && !token.is(Sym::LBRACKET) && !token.is(Sym::LBRACE) {
            self.c_text = None;
            return false;
        }
        if matches!(token.kind, Kind::OpenStr | Kind::OpenChar) {
            report_open_quote(pp, token);
        }
        match c.span {
            None => c.line_start = line_start,
            Some(_) if line_start => c.text.extend((0..lines).map(|_| '\n')),
            Some(_) if apart => c.text.push(' '),
            Some(_) => {}
        }
        c.text.push_str(pp.interner.text(token.sym));
        c.span = Some(c.span.map_or(token.span, |s| s.to(token.span)));
        // In a precondition only brackets count, in the block only braces.
        if c.braces == 0 && token.is(Sym::LBRACKET) {
            c.brackets += 1;
        } else if c.braces == 0 && token.is(Sym::RBRACKET) {
            c.brackets = c.brackets.saturating_sub(1);
        } else if c.brackets == 0 && token.is(Sym::LBRACE) {
            c.braces += 1;
        } else if c.brackets == 0 && token.is(Sym::RBRACE) {
            c.braces = c.braces.saturating_sub(1);
            if c.braces == 0 {
                let (text, span, line_start) =
                    (c.text.as_str().into(), c.span.unwrap_or(c.keyword), c.line_start);
                self.c_text = None;
                self.add(TokenKind::CBlock(text), span, line_start);
            }
        }
        true
    }
}

/// Part of a token's place; the whole if the token is not spelled there byte by byte.
fn part(span: Span, length: usize, from: usize, to: usize) -> Span {
    if (span.end - span.start) as usize != length {
        return span;
    }
    Span { start: span.start + from as u32, end: span.start + to as u32, ..span }
}

/// Whether gcc would print a space between two tokens because they would otherwise become one.
fn would_paste(pp: &Preprocessor, left: &PpToken, right: &PpToken) -> bool {
    let first = pp.text(right).bytes().next().unwrap_or(b' ');
    let word = matches!(right.kind, Kind::Name | Kind::Number | Kind::Char);
    match left.kind {
        Kind::Name => word || right.kind == Kind::Str,
        Kind::Number => word || matches!(first, b'.' | b'+' | b'-'),
        Kind::Operator => match &**pp.interner.text(left.sym) {
            ">" => matches!(first, b'>' | b'='),
            "<" => matches!(first, b'<' | b'%' | b':' | b'='),
            "+" => matches!(first, b'+' | b'='),
            "-" => matches!(first, b'-' | b'>' | b'='),
            "/" => matches!(first, b'/' | b'*' | b'='),
            "%" => matches!(first, b':' | b'%' | b'='),
            "&" => matches!(first, b'&' | b'='),
            "|" => matches!(first, b'|' | b'='),
            ":" => matches!(first, b':' | b'>'),
            "." => matches!(first, b'.' | b'%') || right.kind == Kind::Number,
            "#" => matches!(first, b'#' | b'%'),
            "\\" => right.kind == Kind::Name,
            "=" | "!" | "*" | "^" | ">>" | "<<" => first == b'=',
            _ => false,
        },
        _ => false,
    }
}

/// The value of a character constant, by Spin's rules: only `\n`, `\r`, `\t` and `\f` are special.
fn character(pp: &mut Preprocessor, token: &PpToken) -> i64 {
    let text = pp.interner.text(token.sym).clone();
    let inner = &text[1..text.len() - 1];
    match *inner.as_bytes() {
        [b] if b.is_ascii() => return i64::from(b),
        [b'\\', b] if b.is_ascii() => {
            if b.is_ascii_digit() {
                let message = format!("`{text}` is the character `{}`, as in Spin", b as char);
                let help = format!("write the number itself, without quotes, or `'{}'`", b as char);
                pp.report(Diagnostic::new(Code::W0008, token.span, message).help(help));
            }
            return match b {
                b'n' => 10,
                b'r' => 13,
                b't' => 9,
                b'f' => 12,
                _ => i64::from(b),
            };
        }
        _ => {}
    }
    let message = format!("`{text}` is not one character");
    let help = "write one ASCII character between the quotes; text is written in double quotes";
    pp.report(Diagnostic::new(Code::E0021, token.span, message).help(help));
    i64::from(inner.bytes().next().unwrap_or(0))
}

/// What to write instead of a typographic sign.
fn plain_sign(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{ab}' | '\u{bb}' => "write a plain `\"`",
        '\u{2018}' | '\u{2019}' | '\u{b4}' | '`' => "write a plain `'`",
        '\u{2013}' | '\u{2014}' | '\u{2212}' => "write a plain `-`",
        '\u{2192}' | '\u{21d2}' => "write `->`",
        '\u{2260}' => "write `!=`",
        '\u{2264}' => "write `<=`",
        '\u{2265}' => "write `>=`",
        '\u{2227}' => "write `&&`",
        '\u{2228}' => "write `||`",
        '\u{ac}' => "write `!`",
        '\u{d7}' | '\u{b7}' => "write `*`",
        '\u{a0}' | '\u{feff}' | '\u{2009}' | '\u{200b}' => "write a plain space",
        '\u{25a1}' => "write `[]`",
        '\u{25c7}' => "write `<>`",
        _ => return None,
    })
}

fn report_open_quote(pp: &mut Preprocessor, token: &PpToken) {
    let diagnostic = if token.kind == Kind::OpenStr {
        Diagnostic::new(Code::E0020, token.span, "this string is not closed on its line")
            .help("end it with `\"`")
    } else {
        let help = "a character is written as 'a'; text is written in double quotes";
        Diagnostic::new(Code::E0021, token.span, "this `'` begins no character constant").help(help)
    };
    pp.report(diagnostic);
}

/// Warns where a preprocessing number hides something: a macro that is not replaced, or a number in C's
/// notation.
fn warn_about_word_in_number(
    pp: &mut Preprocessor,
    token: &PpToken,
    word: Sym,
    span: Span,
    from: usize,
    text: &str,
) {
    let name = pp.interner.text(word).clone();
    if pp.definition(word).is_some() {
        let message = format!(
            "macro `{name}` is not replaced here, because `{text}` is one number to the preprocessor"
        );
        let help = format!("write a space before it: `{} {name}`", &text[..from]);
        pp.report(Diagnostic::new(Code::W0005, span, message).help(help));
    } else if !text.contains('.') {
        let message = format!("`{text}` is read as `{}` followed by `{name}`, as by Spin", &text[..from]);
        let help = "Promela has only decimal numbers";
        pp.report(Diagnostic::new(Code::W0006, token.span, message).help(help));
    }
}
