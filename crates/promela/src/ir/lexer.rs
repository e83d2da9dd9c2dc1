//! The tokens of the text form.
//!
//! A line is a unit, so the end of a line is a token; empty lines and `;` comments are not.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::{ExpansionId, FileId, Span};

/// The code of every diagnostic about the text form.
pub(super) const CODE: Code = Code::E0701;

/// The longest text that is read; positions are 32 bits wide.
const MAX_TEXT: usize = 1 << 30;

/// A token.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token<'a> {
    /// Letters, digits and `_`, not beginning with a digit.
    Word(&'a str),
    /// A decimal number.
    Int(i64),
    /// A string, escapes resolved.
    Str(String),
    /// `->`, `..` or a single character.
    Punct(&'static str),
    /// One or more line ends.
    Newline,
    /// The end of the text.
    End,
}

impl Token<'_> {
    /// The token as it is called in a message.
    pub(super) fn describe(&self) -> String {
        match self {
            Token::Word(word) => format!("`{word}`"),
            Token::Int(value) => format!("`{value}`"),
            Token::Str(_) => "a string".to_owned(),
            Token::Punct(punct) => format!("`{punct}`"),
            Token::Newline => "the end of the line".to_owned(),
            Token::End => "the end of the text".to_owned(),
        }
    }
}

/// Characters that are tokens by themselves.
const PUNCTS: [&str; 15] = ["->", "..", "{", "}", "(", ")", "[", "]", ":", ",", "=", "*", "<", "@", "#"];

/// Cuts a text into tokens.
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    file: FileId,
}

impl<'a> Lexer<'a> {
    /// A lexer at the beginning of `text`, which is called `file` in diagnostics.
    pub(super) fn new(text: &'a str, file: FileId) -> Result<Self, Box<Diagnostic>> {
        let lexer = Lexer { text, at: 0, file };
        if text.len() > MAX_TEXT {
            return Err(lexer.error(0, "the text is longer than 2^30 bytes"));
        }
        Ok(lexer)
    }

    /// The span from `start` to `end`.
    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        Span { file: self.file, start: start as u32, end: end as u32, expansion: ExpansionId::ROOT }
    }

    fn error(&self, start: usize, message: impl Into<String>) -> Box<Diagnostic> {
        let end = self.at.max(start).min(MAX_TEXT);
        Box::new(Diagnostic::new(CODE, self.span(start, end), message))
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Advances over the bytes that satisfy `keep` (which accepts ASCII only) and returns them.
    fn take_while(&mut self, keep: impl Fn(u8) -> bool) -> &'a str {
        let rest = self.rest();
        let len = rest.bytes().position(|b| !(b.is_ascii() && keep(b))).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    /// Skips blanks and comments; says whether a line ended.
    fn skip_blanks(&mut self) -> bool {
        let mut line_ended = false;
        loop {
            let blanks = self.take_while(|b| b.is_ascii_whitespace());
            line_ended |= blanks.contains('\n');
            if !self.rest().starts_with(';') {
                return line_ended;
            }
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    /// The next token and where it stands.
    pub(super) fn next(&mut self) -> Result<(Token<'a>, Span), Box<Diagnostic>> {
        let line_end = self.at;
        if self.skip_blanks() {
            return Ok((Token::Newline, self.span(line_end, line_end)));
        }
        let start = self.at;
        let token = self.token()?;
        Ok((token, self.span(start, self.at)))
    }

    fn token(&mut self) -> Result<Token<'a>, Box<Diagnostic>> {
        let rest = self.rest();
        let start = self.at;
        let Some(first) = rest.bytes().next() else { return Ok(Token::End) };
        if first.is_ascii_alphabetic() || first == b'_' {
            return Ok(Token::Word(self.take_while(|b| b.is_ascii_alphanumeric() || b == b'_')));
        }
        let negative = first == b'-' && rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        if negative || first.is_ascii_digit() {
            self.at += usize::from(negative);
            self.take_while(|b| b.is_ascii_digit());
            let digits = &self.text[start..self.at];
            return digits.parse().map(Token::Int).map_err(|_| self.error(start, "this number is too large"));
        }
        if first == b'"' {
            return self.string();
        }
        match PUNCTS.iter().find(|p| rest.starts_with(**p)) {
            Some(punct) => {
                self.at += punct.len();
                Ok(Token::Punct(punct))
            }
            None => {
                let odd = rest.chars().next().unwrap_or(' ');
                self.at += odd.len_utf8();
                Err(self.error(start, format!("unexpected character {odd:?}")))
            }
        }
    }

    fn string(&mut self) -> Result<Token<'a>, Box<Diagnostic>> {
        let start = self.at;
        let mut value = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((offset, c)) = chars.next() {
            match c {
                '"' => {
                    self.at = start + offset + 1;
                    return Ok(Token::Str(value));
                }
                '\n' => break,
                '\\' => match escaped(&mut chars) {
                    Some(c) => value.push(c),
                    None => {
                        return Err(self.error(start + offset, "unknown escape in a string"));
                    }
                },
                c => value.push(c),
            }
        }
        Err(self.error(start, "this string does not end on its line"))
    }
}

/// The character that an escape stands for, after its backslash.
fn escaped(chars: &mut impl Iterator<Item = (usize, char)>) -> Option<char> {
    match chars.next()?.1 {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        '"' => Some('"'),
        '\\' => Some('\\'),
        'u' => {
            let open = chars.next()?.1;
            let digits: String = chars.map(|(_, c)| c).take_while(|&c| c != '}').take(7).collect();
            let plain = open == '{' && digits.len() <= 6 && digits.bytes().all(|b| b.is_ascii_hexdigit());
            if plain { u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32) } else { None }
        }
        _ => None,
    }
}

/// Appends `text` as a string token.
pub(super) fn quote(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Whether `text` can stand as a word where a name is expected.
pub(super) fn is_word(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && text.bytes().next().is_some_and(|b| !b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Result<Vec<Token<'_>>, Box<Diagnostic>> {
        let mut lexer = Lexer::new(text, FileId(0))?;
        let mut out = Vec::new();
        loop {
            match lexer.next()?.0 {
                Token::End => return Ok(out),
                token => out.push(token),
            }
        }
    }

    #[test]
    fn a_line_is_cut_into_tokens() {
        let got = tokens("e0 -> L1 ; a comment\n\n  ; another\n@0:1..-2").expect("good text");
        let want = [
            Token::Word("e0"),
            Token::Punct("->"),
            Token::Word("L1"),
            Token::Newline,
            Token::Punct("@"),
            Token::Int(0),
            Token::Punct(":"),
            Token::Int(1),
            Token::Punct(".."),
            Token::Int(-2),
        ];
        assert_eq!(got, want);
    }

    #[test]
    fn quoting_is_undone_by_reading() {
        for text in ["", "plain", "a \"b\" \\n \n\t\r \u{1} \u{85} é λ \u{1f600}", "\\u{41}"] {
            let mut quoted = String::new();
            quote(&mut quoted, text);
            assert!(!quoted.contains('\n'));
            assert_eq!(tokens(&quoted).expect("a quoted string"), [Token::Str(text.to_owned())]);
        }
    }

    #[test]
    fn bad_tokens_are_errors_where_they_stand() {
        for (text, at, word) in [
            ("ab $", 3, "unexpected"),
            ("é", 0, "unexpected"),
            ("\"abc", 0, "end"),
            ("\"abc\ndef\"", 0, "end"),
            ("\"a\\q\"", 2, "escape"),
            ("\"\\u{110000}\"", 1, "escape"),
            ("\"\\u{1234567}\"", 1, "escape"),
            ("99999999999999999999", 0, "large"),
            ("- 1", 0, "unexpected"),
        ] {
            let error = tokens(text).expect_err(text);
            assert_eq!(error.span().start, at, "{text}");
            assert!(error.message.contains(word), "{text}: {}", error.message);
        }
    }
}
