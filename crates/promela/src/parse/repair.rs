//! What usually repairs a syntax error: words and signs of other languages, misspelt keywords, forgotten
//! signs.
//!
//! Nothing here decides what is accepted. A repair is found from what was expected, the token found instead,
//! and the token before it.

use super::habits::{instead_of, replacement};
use super::keyword::Keyword;
use super::lexis::{Kind, Tok};
use super::parser::Parser;
use crate::diagnostic::{Code, Diagnostic, Fix};
use crate::source::Span;
use crate::token::Punct;

impl Parser<'_> {
    /// What to write instead of a word, unless it names a variable of this model.
    fn instead_of_word(&mut self, word: &str) -> Option<String> {
        if self.declared.contains(word) {
            return None;
        }
        if word == "const" { Some(self.constant_repair()) } else { instead_of(word) }
    }

    /// What usually repairs a model in which `tok` was found instead of `what`.
    pub(super) fn repair(&mut self, what: &str, tok: &Tok) -> Option<String> {
        let before = self.text_before();
        let continues =
            matches!(tok.kind, Kind::Punct(p) if !matches!(p, Punct::RBrace | Punct::DoubleColon));
        if tok.implied || (self.after_implied() && continues) {
            let help = "a statement ends with its line here; put the operator at the end of the line before, or \
                        use parentheses";
            return Some(help.to_string());
        }
        self.repair_of_syntax(what, tok, &before).or_else(|| self.repair_of_name(what, tok, &before))
    }

    /// What repairs the use of an operator, a bracket or a keyword.
    fn repair_of_syntax(&self, what: &str, tok: &Tok, before: &str) -> Option<String> {
        Some(match &tok.kind {
            Kind::Key(Keyword::Else) => "`else` stands alone after `::`".to_string(),
            Kind::Punct(Punct::NotNot) => {
                "`!!` is the sorted send; to negate twice, write `!(!x)`".to_string()
            }
            Kind::Punct(Punct::MinusMinus) if what == "a statement" => "write `x--`".to_string(),
            Kind::Punct(Punct::MinusMinus) => {
                "`x--` is a statement; for two minus signs, write a space between them".to_string()
            }
            Kind::Punct(Punct::PlusPlus) if what == "a statement" => "write `x++`".to_string(),
            Kind::Punct(Punct::PlusPlus) => "`x++` is a statement of its own and has no value".to_string(),
            Kind::Punct(Punct::LBracket) if before == "]" => super::habits::ONE_DIMENSION.to_string(),
            Kind::Punct(Punct::LParen) if before == "init" => {
                "`init` has no parameters: write `init { … }`".to_string()
            }
            Kind::Number(n) if what == "`proctype`" => format!("write `active [{n}] proctype …`"),
            Kind::Key(Keyword::Pid) if what == "an expression" => {
                "`pid` is a type; the number of this process is `_pid`".to_string()
            }
            Kind::Punct(Punct::LBracket) if what == "the name of a variable" => {
                "the number of elements stands behind the name, as in `byte a[3]`".to_string()
            }
            Kind::Punct(Punct::Star) if what == "the name of a variable" => {
                "Promela has no pointers".to_string()
            }
            Kind::Punct(Punct::Question) => {
                "to receive, write a statement of its own; a choice of two values is written `(condition -> a : b)`"
                    .to_string()
            }
            Kind::Key(k) if k.is_type() && what == "the name of a variable" && before == "," => {
                "declarations with types of their own are separated by `;`, not by `,`".to_string()
            }
            Kind::Key(k) if k.is_type() && what.starts_with("`{` and the types of the message") => {
                format!("write `of {{ {} }}`", k.text())
            }
            Kind::Key(k) if wants_name(what) => format!("`{}` is a keyword and cannot be used as a name", k.text()),
            Kind::Punct(Punct::RBracket) if before == "[]" => {
                "write the number of elements or the index between the brackets".to_string()
            }
            _ => return None,
        })
    }

    /// What repairs the use of a name, or what stands where none can.
    fn repair_of_name(&mut self, what: &str, tok: &Tok, before: &str) -> Option<String> {
        let names = wants_name(what);
        Some(match &tok.kind {
            Kind::Punct(Punct::Comma) if what == "a declaration" => {
                "every parameter but the last ends with `;`; names of one type stand between commas"
                    .to_string()
            }
            Kind::Name(word) if what == "a declaration" && !self.declared.contains(word) => {
                self.instead_of_word(word)?
            }
            Kind::Name(_) if what == "a declaration" => super::habits::STATEMENT_OUTSIDE.to_string(),
            Kind::Key(k) if what == "a declaration" && k.starts_statement() => {
                super::habits::STATEMENT_OUTSIDE.to_string()
            }
            Kind::Constant(n) if names => {
                format!("`{n}` is a symbolic constant and cannot name anything else")
            }
            Kind::ProcName(n) if names => format!("`{n}` is a proctype and cannot name anything else"),
            Kind::TypeName(n) if names => format!("`{n}` is a type and cannot name anything else"),
            Kind::InlineName(n) => format!("`{n}` is an inline; its use is a statement or `x = {n}(…)`"),
            _ if what.contains("format string") => "write `printf(\"x = %d\\n\", x)`".to_string(),
            _ if what.starts_with("`(` and the arguments of this process") => {
                format!("write `run {before}()`")
            }
            _ if what.starts_with("`(` and the parameters of the proctype") => {
                format!("write `proctype {before}()`, also without parameters")
            }
            _ if what == "a constant priority" => "use a number, an mtype name or a macro".to_string(),
            _ if what.starts_with("`of`") => {
                "a channel is declared as `chan c = [2] of { byte, bool }`".to_string()
            }
            Kind::Key(k) if k.starts_unit() => {
                format!("`{}` can only stand at the top level: is a `}}` missing before it?", k.text())
            }
            Kind::Punct(Punct::Assign) => "to compare, write `==`".to_string(),
            Kind::End => {
                "something that was opened is not closed: a `}`, `)`, `fi` or `od` is missing".to_string()
            }
            _ => return None,
        })
    }

    /// Where two statements have no separator between them: the word before that was meant as a statement but
    /// is none, and what to write instead.
    pub(super) fn no_statement_word(&mut self, tok: &Tok) -> Option<(Span, String)> {
        let before = self.text_before();
        let starts = before.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let follows = matches!(
            tok.kind,
            Kind::Punct(Punct::LParen | Punct::LBrace)
                | Kind::Name(_)
                | Kind::Number(_)
                | Kind::Constant(_)
                | Kind::ProcName(_)
                | Kind::Str(_)
        ) || matches!(tok.kind, Kind::Key(key) if key.is_type());
        if !starts || !follows || Keyword::of(&before).is_some() {
            return None;
        }
        let word = self.previous_span();
        if tok.is(Punct::LParen) && !super::habits::is_foreign(&before) {
            return Some((word, self.call_repair(&before)));
        }
        self.instead_of_word(&before).map(|help| (word, help))
    }

    /// The repair as an edit, where it is a single word or sign.
    pub(super) fn edit_for(&self, what: &str, tok: &Tok) -> Option<Fix> {
        match &tok.kind {
            Kind::Punct(Punct::Assign) if !wants_name(what) => Some(Fix::replace(tok.span, "=", "==")),
            Kind::Name(word) if !self.declared.contains(word) => {
                replacement(word).map(|instead| Fix::replace(tok.span, &**word, instead))
            }
            Kind::End if what.contains("`}`") => Some(Fix::insert_after(self.previous_span(), "\n}")),
            Kind::Key(Keyword::Pid) if what == "an expression" => Some(Fix::replace(tok.span, "pid", "_pid")),
            _ => None,
        }
    }

    /// The edit for two statements without a separator.
    pub(super) fn separator_edit(&self, tok: &Tok) -> Option<Fix> {
        let sign = self.foreign_sign(&self.text_before(), tok).is_some();
        match &tok.kind {
            _ if sign => None,
            Kind::Name(word) if matches!(&**word, "and" | "or" | "mod" | "then") => {
                replacement(word).map(|instead| Fix::replace(tok.span, &**word, instead))
            }
            Kind::Punct(Punct::Assign) => Some(Fix::replace(tok.span, "=", "==")),
            Kind::Punct(Punct::LBrace) => Some(Fix::insert_after(self.previous_span(), " ->")),
            Kind::Key(Keyword::Else) => Some(Fix::insert_before(tok.span, ":: ")),
            Kind::Name(_) | Kind::Key(_) => Some(Fix::insert_after(self.previous_span(), ";")),
            _ => None,
        }
    }

    /// The edit for an `if` or `do` in which `tok` was found.
    pub(super) fn option_edit(&self, tok: &Tok, closing: Keyword, empty: bool) -> Option<Fix> {
        match &tok.kind {
            Kind::Key(Keyword::Else) => Some(Fix::insert_before(tok.span, ":: ")),
            Kind::Key(wrong @ (Keyword::Fi | Keyword::Od)) if !empty => {
                Some(Fix::replace(tok.span, wrong.text(), closing.text()))
            }
            _ if empty => None,
            _ => Some(Fix::insert_after(self.previous_span(), format!("\n{}", closing.text()))),
        }
    }

    /// What is better said in another way than "expected this, found that".
    pub(super) fn special_case(&mut self, what: &str, tok: &Tok) -> Option<Diagnostic> {
        if let Some(error) = self.stray_until() {
            return Some(error);
        }
        let before = self.text_before();
        if let Some(error) = self.foreign_formula(what, &before, tok) {
            return Some(error);
        }
        if let Some(error) = self.function(what, &before, tok) {
            return Some(error);
        }
        if let Some((sign, help)) = self.foreign_sign(&before, tok) {
            let span = if self.touches_previous(tok) { self.previous_span().to(tok.span) } else { tok.span };
            return Some(
                Diagnostic::new(Code::E0101, span, format!("Promela has no `{sign}` here")).help(help),
            );
        }
        let written = self.lexer.stream.sources.text(tok.span);
        match &tok.kind {
            Kind::Punct(Punct::Lt | Punct::LBracket)
                if what == "an expression" && matches!(written, "<>" | "[]") =>
            {
                let message = format!("the temporal operator `{written}` can only be used in an ltl formula");
                let d = Diagnostic::new(Code::E0234, tok.span, message);
                Some(d.help("write the property as `ltl name { … }` at the top level"))
            }
            Kind::Str(_) if what == "an expression" => {
                let d = Diagnostic::new(Code::E0231, tok.span, "a string can only be used in printf");
                Some(d.help("for names of things, declare symbolic constants: `mtype = { one, two }`"))
            }
            Kind::Punct(p) if what.starts_with("`@`") && *p != Punct::LParen => {
                let message = format!("the proctype `{before}` is used as a variable");
                let d = Diagnostic::new(Code::E0222, self.previous_span(), message);
                let d = match self.lexer.names.proctypes.get(&*before) {
                    Some(first) => d.label(*first, "declared here"),
                    None => d,
                };
                Some(d.help(format!(
                    "to start a process, write `run {before}(…)`; to look into one, `{before}[pid]:variable`"
                )))
            }
            _ => None,
        }
    }

    /// What repairs two statements between which no separator was found.
    pub(super) fn separator_repair(&mut self, tok: &Tok) -> String {
        let before = self.text_before();
        if let Some((sign, help)) = self.foreign_sign(&before, tok) {
            return format!("Promela has no `{sign}` here: {help}");
        }
        let help = match &tok.kind {
            Kind::Name(word) if matches!(&**word, "and" | "or" | "mod" | "then") => {
                return instead_of(word).unwrap_or_default();
            }
            Kind::Punct(Punct::Assign) if self.lexer.names.constants.contains_key(&*before) => {
                return format!("`{before}` is a symbolic constant: it cannot be assigned to");
            }
            Kind::Punct(Punct::Question | Punct::Not)
                if self.lexer.names.constants.contains_key(&*before) =>
            {
                return format!("`{before}` is a symbolic constant: it is no channel");
            }
            Kind::Punct(Punct::Question) => {
                "a choice of two values is written `(condition -> a : b)`; to receive, write a statement of its own"
            }
            Kind::Punct(Punct::Colon) if self.line_before(tok).contains('?') => {
                "a choice of two values is written `(condition -> a : b)`"
            }
            Kind::Punct(Punct::LBracket) if before == "]" => super::habits::ONE_DIMENSION,
            Kind::Punct(Punct::LBrace) => "put `->` or `;` between a condition and a block",
            Kind::Punct(Punct::Assign) => {
                "to compare, write `==`; to assign, the left side must be a variable"
            }
            Kind::Punct(Punct::PlusPlus | Punct::MinusMinus) => {
                "`x++` and `x--` are statements of their own and have no value"
            }
            Kind::Key(Keyword::Unless) => "`unless` binds two statements; put more of them in `{ }`",
            Kind::Punct(Punct::Colon) => "a label is a name that is not already a constant or type",
            Kind::Punct(Punct::Comma) => "a declaration ends with `}`; declare the next name separately",
            Kind::Punct(Punct::RParen) => "this `)` closes nothing: remove it, or add the missing `(`",
            _ => "add `;` before this, or start a new line",
        };
        help.to_string()
    }

    /// What repairs an `if` or `do` (closed by `closing`) in which `tok` was found.
    pub(super) fn option_repair(tok: &Tok, closing: Keyword, empty: bool) -> Option<String> {
        let word = if closing == Keyword::Fi { "if" } else { "do" };
        Some(match &tok.kind {
            Kind::Key(Keyword::Else) => "write `:: else`".to_string(),
            Kind::Key(Keyword::Fi | Keyword::Od) if !empty => {
                format!("`{word}` is closed by `{}`", closing.text())
            }
            Kind::Punct(Punct::LBrace) if empty && closing == Keyword::Od => {
                "a loop is written `do :: (condition) -> … :: else -> break od`".to_string()
            }
            _ if empty => format!(
                "begin every option with `::`, as in `{word} :: (condition) -> … :: else -> … {}`",
                closing.text()
            ),
            _ => format!("add `{}` before this", closing.text()),
        })
    }

    /// What repairs the head of a `for`.
    pub(super) fn for_repair(tok: &Tok) -> Option<&'static str> {
        matches!(tok.kind, Kind::Punct(Punct::Assign | Punct::Semi) | Kind::Key(_))
            .then_some("write `for (i : 0 .. n - 1) { … }`; i is declared before")
    }
}

/// Whether a name was expected.
fn wants_name(what: &str) -> bool {
    ["name", "label", "variable", "channel", "lock"].iter().any(|word| what.contains(word))
}
