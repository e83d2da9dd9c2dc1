//! A small lexer for the parser's own tests: Promela text without macros, `# line` directives skipped.

use crate::source::{ExpansionId, SourceMap, Span};
use crate::token::{Punct, Token, TokenKind};

/// The tokens of `text`, entered into `sources` as a file called `test.pml`.
pub(super) fn lex(text: &str, sources: &mut SourceMap) -> Vec<Token> {
    let file = sources.add_file("test.pml", text);
    let bytes = text.as_bytes();
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let kind = match bytes[at] {
            b if b.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'#' => {
                at += text[at..].find('\n').unwrap_or(text.len() - at);
                continue;
            }
            b'/' if text[at..].starts_with("/*") => {
                at += text[at..].find("*/").map_or(text.len() - at, |n| n + 2);
                continue;
            }
            b'0'..=b'9' => {
                at += text[at..].bytes().take_while(u8::is_ascii_digit).count();
                TokenKind::Number(text[start..at].parse().unwrap_or(i64::MAX))
            }
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                at += text[at..].bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
                TokenKind::Name(text[start..at].into())
            }
            b'"' => string(text, &mut at),
            b'\'' => character(text, &mut at),
            b'{' | b'[' if after_c(&tokens) => c_block(text, &mut at),
            _ => punct(text, &mut at),
        };
        let span = Span { file, start: start as u32, end: at as u32, expansion: ExpansionId::ROOT };
        tokens.push(Token { kind, span });
    }
    let span = Span { file, start: text.len() as u32, end: text.len() as u32, expansion: ExpansionId::ROOT };
    tokens.push(Token { kind: TokenKind::End, span });
    tokens
}

fn string(text: &str, at: &mut usize) -> TokenKind {
    let start = *at + 1;
    let mut end = start;
    let bytes = text.as_bytes();
    while end < bytes.len() && bytes[end] != b'"' {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    *at = (end + 1).min(bytes.len());
    TokenKind::Str(text.get(start..end).unwrap_or("").into())
}

fn character(text: &str, at: &mut usize) -> TokenKind {
    let rest = &text[*at + 1..];
    let escaped = rest.starts_with('\\');
    let c = rest.chars().nth(escaped as usize).unwrap_or('\0');
    *at = (*at + 2 + escaped as usize + c.len_utf8()).min(text.len());
    TokenKind::Number(match (escaped, c) {
        (true, 'n') => 10,
        (true, 'r') => 13,
        (true, 't') => 9,
        (true, 'f') => 12,
        _ => i64::from(c as u32),
    })
}

fn after_c(tokens: &[Token]) -> bool {
    matches!(tokens.last(), Some(Token { kind: TokenKind::Name(w), .. }) if matches!(&**w, "c_code" | "c_decl" | "c_expr"))
}

fn c_block(text: &str, at: &mut usize) -> TokenKind {
    let start = *at;
    let mut open = 0;
    for (i, b) in text[start..].bytes().enumerate() {
        match b {
            b'{' => open += 1,
            b'}' => open -= 1,
            _ => {}
        }
        if b == b'}' && open == 0 {
            *at = start + i + 1;
            return TokenKind::CBlock(text[start..*at].into());
        }
    }
    *at = text.len();
    TokenKind::CBlock(text[start..].into())
}

fn punct(text: &str, at: &mut usize) -> TokenKind {
    let rest = &text[*at..];
    let longest = Punct::ALL.iter().filter(|p| rest.starts_with(p.text())).max_by_key(|p| p.text().len());
    match longest {
        Some(p) => {
            *at += p.text().len();
            TokenKind::Punct(*p)
        }
        None => {
            let c = rest.chars().next().unwrap_or('?');
            *at += c.len_utf8();
            TokenKind::Unknown(c)
        }
    }
}
