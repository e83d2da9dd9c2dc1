//! Embedded C: texts are kept as they are; who has what `c_state` and `c_track` name is decided here.

use super::Lowerer;
use crate::ast;
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{CItem, COwner, CPiece};
use crate::source::Span;

/// Pieces that a program has at most.
const MAX_PIECES: usize = 100_000;

impl Lowerer<'_> {
    /// `c_code` or `c_expr` in a proctype, a claim or a formula: the number of the piece.
    pub(super) fn piece_of_c(&mut self, c: &ast::EmbeddedC) -> Option<u32> {
        let statement = match &*c.keyword.name {
            "c_code" => true,
            "c_expr" => false,
            word => {
                let message = format!("`{word}` stands outside of proctypes");
                let help = "move it in front of the first proctype";
                self.push(Diagnostic::new(Code::E0602, c.keyword.span, message).help(help));
                return None;
            }
        };
        let pieces = &mut self.program.embedded.pieces;
        if pieces.len() >= MAX_PIECES {
            let message = format!("there are more than {MAX_PIECES} pieces of embedded C");
            self.error(Code::E0602, c.keyword.span, message);
            return None;
        }
        if !statement && c.text.trim().is_empty() {
            self.error(Code::E0602, c.text_span, "a `c_expr` without an expression has no value");
            return None;
        }
        pieces.push(CPiece {
            statement,
            proctype: self.context.as_ref().map(|context| context.proctype),
            precondition: c.precondition.as_ref().map(|text| text.replace("\\#", "#")),
            text: c.text.replace("\\#", "#"),
            span: c.text_span,
        });
        Some(pieces.len() as u32 - 1)
    }

    /// Embedded C outside of proctypes.
    pub(super) fn item_of_c(&mut self, c: &ast::EmbeddedC) {
        let text = || c.text.replace("\\#", "#");
        let item = match &*c.keyword.name {
            "c_decl" => CItem::Declaration(text(), c.text_span),
            "c_code" => {
                if c.precondition.is_some() {
                    let message =
                        "a `c_code` outside of proctypes is not executed, so nothing can be required of it";
                    self.error(Code::E0602, c.text_span, message);
                    return;
                }
                CItem::Functions(text(), c.text_span)
            }
            word => {
                let made = if word == "c_state" { self.state_of_c(c) } else { self.tracked(c) };
                let Some(item) = made else { return };
                item
            }
        };
        self.program.embedded.items.push(item);
    }

    fn state_of_c(&mut self, c: &ast::EmbeddedC) -> Option<CItem> {
        let (declaration, _) = string(c, 0)?;
        let (owner, at) = string(c, 1)?;
        let words: Vec<&str> = owner.split_whitespace().collect();
        let owner = match words[..] {
            ["Global"] => COwner::Global,
            ["Hidden"] => COwner::Hidden,
            ["Local", name] => match self.proctype_ids.get(if name == "init" { ":init:" } else { name }) {
                Some(id) => COwner::Local(*id),
                None => {
                    let message = format!("there is no proctype `{name}` that could have this variable");
                    self.push(
                        Diagnostic::new(Code::E0602, at, message)
                            .help("write \"Local\" and the name of a proctype of this model"),
                    );
                    return None;
                }
            },
            _ => {
                let message =
                    "the owner of a `c_state` is \"Global\", \"Hidden\" or \"Local\" with a proctype";
                self.push(
                    Diagnostic::new(Code::E0602, at, message)
                        .help("write for example c_state \"int x\" \"Global\" \"0\""),
                );
                return None;
            }
        };
        let declaration = declaration.trim().trim_end_matches(';').trim_end().to_string();
        if crate::ir::declared_name(&declaration).is_none() {
            let message = "this declares no variable";
            let help = "write a type and a name, as in c_state \"int x\" \"Global\"";
            self.push(Diagnostic::new(Code::E0602, string(c, 0)?.1, message).help(help));
            return None;
        }
        let value = string(c, 2).map(|(value, _)| value);
        Some(CItem::State { declaration, owner, value, span: c.keyword.span })
    }

    fn tracked(&mut self, c: &ast::EmbeddedC) -> Option<CItem> {
        let ((address, _), (size, _)) = (string(c, 0)?, string(c, 1)?);
        let matched = match string(c, 2) {
            None => true,
            Some((word, at)) => match word.trim() {
                "Matched" => true,
                "UnMatched" | "unMatched" | "StackOnly" => false,
                other => {
                    let message = format!("{other:?} does not say how the memory is tracked");
                    self.push(
                        Diagnostic::new(Code::E0602, at, message)
                            .help("write \"Matched\" (the default) or \"UnMatched\""),
                    );
                    return None;
                }
            },
        };
        Some(CItem::Track { address, size, matched, span: c.keyword.span })
    }
}

/// One of the strings, as C reads it.
fn string(c: &ast::EmbeddedC, number: usize) -> Option<(String, Span)> {
    let (text, span) = c.strings.get(number)?;
    let mut out = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some(next @ ('"' | '\\')) => out.push(next),
                Some(next) => out.extend(['\\', next]),
                None => out.push('\\'),
            },
            _ => out.push(letter),
        }
    }
    Some((out, *span))
}
