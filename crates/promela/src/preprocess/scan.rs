//! The scanner: a file's joined text as the tokens of the C preprocessor.
//!
//! These are C's tokens, not Promela's: a number is a *preprocessing number*, so `0..N` is one token and `N`
//! in it is never replaced, exactly as when Spin calls gcc. [`super::emit`] later reads Promela's tokens out
//! of these.

use super::intern::{OPERATORS, Sym};
use super::lines::Joined;
use crate::source::Span;
use std::rc::Rc;

/// What a preprocessing token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// An identifier.
    Name,
    /// A preprocessing number.
    Number,
    /// A string with its quotes; also Promela's `$…$`.
    Str,
    /// A character constant with its quotes.
    Char,
    /// A string that its line does not close; reaches to the end of the line.
    OpenStr,
    /// A character constant that its line does not close; reaches to the end of the line.
    OpenChar,
    /// One of [`OPERATORS`].
    Operator,
    /// Any other character.
    Other,
    /// The end of a directive's line.
    EndOfLine,
    /// The end of the text.
    End,
}

/// White space (or the beginning of a line) stands before the token.
pub(super) const SPACE: u8 = 1;
/// The token is the first of its line.
pub(super) const LINE_START: u8 = 2;
/// The token is the name of a macro that must never be replaced again ("painted blue").
pub(super) const PAINTED: u8 = 4;
/// The beginning or the end of a macro's text lies between the previous token and this one.
pub(super) const SEAM: u8 = 8;

/// A preprocessing token.
#[derive(Clone, Copy, Debug)]
pub(super) struct PpToken {
    /// What it is.
    pub kind: Kind,
    /// [`SPACE`], [`LINE_START`], [`PAINTED`], [`SEAM`].
    pub flags: u8,
    /// Its spelling.
    pub sym: Sym,
    /// Where it is spelled, and the macro use that it came from.
    pub span: Span,
    /// Serial number of the line on which it (or the outermost macro use that it came from) was written.
    pub line: u32,
}

impl PpToken {
    /// Whether one of the given flags is set.
    pub fn has(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }

    /// Whether this is the operator `sym`.
    pub fn is(&self, sym: Sym) -> bool {
        self.kind == Kind::Operator && self.sym == sym
    }
}

/// A token as the scanner finds it: byte positions in the joined text, nothing interned yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw {
    /// What it is.
    pub kind: Kind,
    /// [`SPACE`] and [`LINE_START`].
    pub flags: u8,
    /// First byte in the joined text.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
    /// For operators, its constant number.
    pub operator: Sym,
}

/// A position in one file.
pub(super) struct Scanner {
    joined: Rc<Joined>,
    pos: usize,
    /// Cuts up to here lie before the last token.
    cut: usize,
    line_start: bool,
    /// Where a comment begins that nothing ends; taken by whoever reports it.
    pub open_comment: Option<usize>,
}

impl Scanner {
    /// A scanner at the beginning of `joined`.
    pub fn new(joined: Rc<Joined>) -> Self {
        Scanner { joined, pos: 0, cut: 0, line_start: true, open_comment: None }
    }

    /// The joined text.
    pub fn text(&self) -> &str {
        &self.joined.text
    }

    /// The next token. Adds the lines that it passes to `line`. In a directive the line end is a token and is
    /// not passed.
    pub fn next(&mut self, in_directive: bool, line: &mut u32) -> Raw {
        let mut flags = if self.line_start { SPACE | LINE_START } else { 0 };
        let joined = self.joined.clone();
        let bytes = joined.text.as_bytes();
        let kind_at = loop {
            match bytes.get(self.pos) {
                None => break Kind::End,
                Some(b'\n') if in_directive => break Kind::EndOfLine,
                Some(b'\n') => {
                    self.pos += 1;
                    *line = line.saturating_add(1);
                    flags = SPACE | LINE_START;
                }
                Some(b' ' | b'\t' | b'\r' | 0x0b | 0x0c | 0) => {
                    self.pos += 1;
                    flags |= SPACE;
                }
                Some(b'/') if bytes.get(self.pos + 1) == Some(&b'/') => {
                    self.pos = line_end(bytes, self.pos);
                    flags |= SPACE;
                }
                Some(b'/') if bytes.get(self.pos + 1) == Some(&b'*') => {
                    self.skip_comment(line);
                    flags |= SPACE;
                }
                Some(_) => break Kind::Other,
            }
        };
        self.pass_cuts(line);
        let start = self.pos;
        if matches!(kind_at, Kind::End | Kind::EndOfLine) {
            return Raw { kind: kind_at, flags, start, end: start, operator: Sym::HASH };
        }
        self.line_start = false;
        let (kind, length, operator) = first_token(&joined.text[start..]);
        self.pos = start + length;
        Raw { kind, flags, start, end: self.pos, operator }
    }

    /// Leaves a directive: the next token is the first of the next line.
    pub fn end_directive(&mut self) {
        self.line_start = true;
    }

    /// What stands between `<` and `>` or between quotes after `#include`, if that is what comes next.
    pub fn header(&mut self) -> Option<(bool, String)> {
        let bytes = self.joined.text.as_bytes();
        let mut at = self.pos;
        while matches!(bytes.get(at), Some(b' ' | b'\t' | 0x0b | 0x0c | 0)) {
            at += 1;
        }
        let close = match bytes.get(at) {
            Some(b'"') => '"',
            Some(b'<') => '>',
            _ => return None,
        };
        let line = &self.joined.text[at + 1..line_end(bytes, at)];
        let length = line.find(close)?;
        let name = line[..length].to_owned();
        self.pos = at + length + 2;
        Some((close == '>', name))
    }

    /// Bytes `start..end` of the joined text as a range of the file.
    pub fn original(&self, start: usize, end: usize) -> (u32, u32) {
        let cuts = &self.joined.cuts;
        let mut removed = self.cut.checked_sub(1).map_or(0, |c| cuts[c].removed);
        let original_start = start as u32 + removed;
        for cut in &cuts[self.cut..] {
            if cut.at as usize >= end {
                break;
            }
            removed = cut.removed;
        }
        (original_start, end as u32 + removed)
    }

    /// The original positions of a range that lies before the last token.
    pub fn original_anywhere(&self, start: usize, end: usize) -> (u32, u32) {
        let removed = |before: usize| self.joined.cuts[..before].last().map_or(0, |c| c.removed);
        let passed = self.joined.cuts.partition_point(|c| c.at as usize <= start);
        let inside = self.joined.cuts.partition_point(|c| (c.at as usize) < end);
        (start as u32 + removed(passed), end as u32 + removed(inside.max(passed)))
    }

    fn pass_cuts(&mut self, line: &mut u32) {
        while self.joined.cuts.get(self.cut).is_some_and(|c| c.at as usize <= self.pos) {
            self.cut += 1;
            *line = line.saturating_add(1);
        }
    }

    fn skip_comment(&mut self, line: &mut u32) {
        let rest = &self.joined.text[self.pos + 2..];
        let length = match rest.find("*/") {
            Some(length) => length + 2,
            None => {
                self.open_comment = Some(self.pos);
                rest.len()
            }
        };
        *line = line.saturating_add(rest[..length].bytes().filter(|&b| b == b'\n').count() as u32);
        self.pos += 2 + length;
    }
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |n| from + n)
}

/// Kind and length of the token that `text` begins with; `text` begins with neither white space nor a
/// comment.
fn first_token(text: &str) -> (Kind, usize, Sym) {
    let bytes = text.as_bytes();
    let plain = |(kind, length)| (kind, length, Sym::HASH);
    match bytes[0] {
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => plain((Kind::Name, name_length(text))),
        b'0'..=b'9' => plain((Kind::Number, number_length(text))),
        b'.' if bytes.get(1).is_some_and(u8::is_ascii_digit) => plain((Kind::Number, number_length(text))),
        b'"' => plain(quoted(bytes, b'"', Kind::Str, Kind::OpenStr)),
        b'\'' => plain(quoted(bytes, b'\'', Kind::Char, Kind::OpenChar)),
        b'$' => match quoted(bytes, b'$', Kind::Str, Kind::Other) {
            (Kind::Str, length) => plain((Kind::Str, length)),
            _ => plain((Kind::Other, 1)),
        },
        0x80.. => match text.chars().next() {
            Some(c) if c.is_alphabetic() => plain((Kind::Name, name_length(text))),
            c => plain((Kind::Other, c.map_or(1, char::len_utf8))),
        },
        _ => operator(bytes).map_or((Kind::Other, 1, Sym::HASH), |(sym, n)| (Kind::Operator, n, sym)),
    }
}

/// If `text` is exactly one preprocessing token, its kind (and number, for operators).
pub(super) fn single_token(text: &str) -> Option<(Kind, Option<Sym>)> {
    if text.is_empty() || text.starts_with("//") || text.starts_with("/*") {
        return None;
    }
    let (kind, length, sym) = first_token(text);
    let whole = length == text.len() && !matches!(kind, Kind::OpenStr | Kind::OpenChar | Kind::Other);
    whole.then_some((kind, (kind == Kind::Operator).then_some(sym)))
}

fn name_length(text: &str) -> usize {
    length_while(text, |c, _| c == '_' || c.is_alphanumeric())
}

fn number_length(text: &str) -> usize {
    length_while(text, |c, previous| match c {
        '+' | '-' => matches!(previous, 'e' | 'E' | 'p' | 'P'),
        _ => c == '.' || c == '_' || c.is_alphanumeric(),
    })
}

fn length_while(text: &str, belongs: impl Fn(char, char) -> bool) -> usize {
    let mut previous = '\0';
    for (at, c) in text.char_indices() {
        if !belongs(c, previous) {
            return at;
        }
        previous = c;
    }
    text.len()
}

fn quoted(bytes: &[u8], quote: u8, closed: Kind, open: Kind) -> (Kind, usize) {
    let mut at = 1;
    loop {
        match bytes.get(at) {
            None | Some(b'\n') => {
                let end = if bytes[at - 1] == b'\r' { at - 1 } else { at };
                return (open, end);
            }
            Some(b'\\') if !matches!(bytes.get(at + 1), None | Some(b'\n')) => at += 2,
            Some(&b) if b == quote => return (closed, at + 1),
            Some(_) => at += 1,
        }
    }
}

/// The longest operator at the beginning of `bytes`, and its length.
fn operator(bytes: &[u8]) -> Option<(Sym, usize)> {
    let single = SINGLE.get(bytes[0] as usize).copied().flatten()?;
    if matches!(bytes.get(1), Some(b'#' | b'.' | b'<' | b'>' | b'-' | b'+' | b'&' | b'|' | b'=')) {
        let longer = (0..OPERATORS.len()).filter(|&i| OPERATORS[i].len() > 1);
        let longest = longer
            .filter(|&i| bytes.starts_with(OPERATORS[i].as_bytes()))
            .max_by_key(|&i| OPERATORS[i].len());
        if let Some(i) = longest {
            return Some((Sym(i as u32), OPERATORS[i].len()));
        }
    }
    Some((single, 1))
}

/// The operators of one character.
const SINGLE: [Option<Sym>; 128] = {
    let mut table = [None; 128];
    let mut i = 0;
    while i < OPERATORS.len() {
        let text = OPERATORS[i].as_bytes();
        if text.len() == 1 {
            table[text[0] as usize] = Some(Sym(i as u32));
        }
        i += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::super::lines::join;
    use super::*;

    fn scan(text: &str) -> Vec<(Kind, String, (u32, u32), u32)> {
        let mut scanner = Scanner::new(Rc::new(join(&text.into())));
        let mut line = 0;
        let mut out = Vec::new();
        loop {
            let raw = scanner.next(false, &mut line);
            if raw.kind == Kind::End {
                return out;
            }
            let spelled = scanner.text()[raw.start..raw.end].to_owned();
            out.push((raw.kind, spelled, scanner.original(raw.start, raw.end), line));
        }
    }

    fn texts(text: &str) -> Vec<String> {
        scan(text).into_iter().map(|t| t.1).collect()
    }

    #[test]
    fn operators_are_the_longest_match() {
        assert_eq!(
            texts("a->b<<=c...d.e##f#g-->h"),
            ["a", "->", "b", "<<=", "c", "...", "d", ".", "e", "##", "f", "#", "g", "--", ">", "h"]
        );
        assert_eq!(texts("x..y"), ["x", ".", ".", "y"]);
    }

    #[test]
    fn numbers_are_preprocessing_numbers() {
        assert_eq!(
            texts("0..N 0x1e+2 1e-3 .5 12ab 0 .. N"),
            ["0..N", "0x1e+2", "1e-3", ".5", "12ab", "0", ".", ".", "N"]
        );
    }

    #[test]
    fn comments_are_white_space_but_not_in_strings() {
        assert_eq!(texts("a/*x*/b//c\nd \"/*\" '//' /**/ e"), ["a", "b", "d", "\"/*\"", "'//'", "e"]);
    }

    #[test]
    fn quotes_end_at_the_line_end_at_the_latest() {
        let tokens = scan("\"ab\\\"c\" \"open\r\n'a' don't\n$ltl$ $x");
        let kinds: Vec<Kind> = tokens.iter().map(|t| t.0).collect();
        assert_eq!(
            kinds,
            [
                Kind::Str,
                Kind::OpenStr,
                Kind::Char,
                Kind::Name,
                Kind::OpenChar,
                Kind::Str,
                Kind::Other,
                Kind::Name
            ]
        );
        assert_eq!(tokens[1].1, "\"open");
    }

    #[test]
    fn positions_lead_through_joined_lines() {
        let tokens = scan("ab\\\ncd + \\\n e");
        assert_eq!(tokens[0].1, "abcd");
        assert_eq!(tokens[0].2, (0, 6));
        assert_eq!(tokens[1].2, (7, 8));
        assert_eq!(tokens[2].2, (12, 13));
        assert_eq!(tokens.iter().map(|t| t.3).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn an_open_comment_is_noted() {
        let mut scanner = Scanner::new(Rc::new(join(&"a /* b\n".into())));
        let mut line = 0;
        scanner.next(false, &mut line);
        assert_eq!(scanner.next(false, &mut line).kind, Kind::End);
        assert_eq!(scanner.open_comment, Some(2));
    }

    #[test]
    fn one_token_or_not() {
        assert_eq!(single_token("ab1").map(|t| t.0), Some(Kind::Name));
        assert_eq!(single_token("->").map(|t| t.0), Some(Kind::Operator));
        for text in ["", "a b", "a+", "//", "/*", "\"a"] {
            assert!(single_token(text).is_none(), "{text}");
        }
        for (i, text) in OPERATORS.iter().enumerate() {
            assert_eq!(single_token(text), Some((Kind::Operator, Some(Sym(i as u32)))), "{text}");
        }
    }
}
