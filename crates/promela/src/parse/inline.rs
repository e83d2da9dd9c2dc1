//! Inlines: their declaration, and their expansion by substituting tokens.
//!
//! A use is a block of its own: the body's braces belong to it. Arguments are expressions; their tokens
//! replace the formal parameters wherever those occur in the body, even as the name of a field or label. An
//! inline that is assigned gives its value by `return`, which becomes an assignment.

use super::keyword::Keyword;
use super::lexis::{InlineText, Kind, Tok};
use super::parser::{Limits, PResult, Parser, Reported};
use crate::ast::{Expr, Ident, InlineDef, InlineUse, Stmt, StmtKind, VarRef};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::token::Punct;
use std::rc::Rc;

/// The arguments of a use: their tokens, and the expressions that they are.
type Arguments = (Vec<Rc<[Tok]>>, Vec<Expr>);

impl Parser<'_> {
    /// `inline f(a, b) { … }`; the body is kept as text.
    pub(super) fn inline_def(&mut self) -> PResult<InlineDef> {
        self.bump();
        let name = match self.peek().kind.clone() {
            Kind::Name(name) | Kind::InlineName(name) => Ident { name, span: self.bump().span },
            _ => return Err(self.unexpected("the name of the inline")),
        };
        self.expect(Punct::LParen, "`(` and the parameters of the inline")?;
        let mut params = Vec::new();
        if !self.at(Punct::RParen) {
            params.push(self.expect_name("the name of a parameter")?);
            while self.eat(Punct::Comma) {
                params.push(self.expect_name("the name of a parameter")?);
            }
        }
        self.expect(Punct::RParen, "`,` or `)`")?;
        let Some(body) = self.lexer.skip_body() else {
            let found = self.peek().span;
            if self.at(Punct::LBrace) {
                let message = "the body of this inline is not closed";
                return Err(
                    self.stop(Diagnostic::new(Code::E0101, found, message).help("add the missing `}`"))
                );
            }
            return Err(self.unexpected("`{` and the body of the inline"));
        };
        let positions = params.iter().enumerate().rev().map(|(i, p)| (p.name.clone(), i)).collect();
        self.declare_inline(InlineText {
            name: name.name.clone(),
            span: name.span,
            params: positions,
            arity: params.len(),
            body,
        });
        Ok(InlineDef { name, params })
    }

    fn declare_inline(&mut self, text: InlineText) {
        if let Some(&before) = self.lexer.names.inlines.get(&text.name) {
            let message = format!("the inline `{}` is declared twice", text.name);
            let first = self.lexer.inlines[before].span;
            self.report(
                Diagnostic::new(Code::E0123, text.span, message).label(first, "declared here before"),
            );
        }
        self.lexer.names.inlines.insert(text.name.clone(), self.lexer.inlines.len());
        self.lexer.inlines.push(text);
    }

    /// `f(args)` or, with `result` taking the value, `result = f(args)`; from the inline's name.
    pub(super) fn inline_use(&mut self, result: Option<VarRef>, place: Span) -> PResult<Stmt> {
        let tok = self.bump();
        let Kind::InlineName(word) = tok.kind else { return Err(Reported) };
        let name = Ident { name: word, span: tok.span };
        self.expect(Punct::LParen, "`(` and the arguments of this inline")?;
        let (args, exprs) = self.inline_args()?;
        let close = self.expect(Punct::RParen, "`,` or `)`")?;
        let Some(&inline) = self.lexer.names.inlines.get(&name.name) else { return Err(Reported) };
        self.check_use(inline, &name, args.len())?;
        self.before_statements = false;
        // As seen from the body: the use, or where the enclosing body names the argument that holds it.
        let call = tok.place.to(close.place);
        self.lexer.enter_inline(inline, args, call);
        self.results.push(result);
        let body = self.block();
        self.results.pop();
        Ok(Stmt {
            kind: StmtKind::Inline(InlineUse { name, args: exprs, body: body? }),
            span: place.to(close.place),
        })
    }

    /// The tokens of each argument, and the expression that it must be.
    fn inline_args(&mut self) -> PResult<Arguments> {
        let (mut args, mut exprs) = (Vec::new(), Vec::new());
        if self.at(Punct::RParen) {
            return Ok((args, exprs));
        }
        loop {
            self.recording = Some(Vec::new());
            let parsed = self.expr();
            let tokens = self.recording.take().unwrap_or_default();
            exprs.push(parsed?);
            args.push(tokens.into());
            if !self.eat(Punct::Comma) {
                return Ok((args, exprs));
            }
        }
    }

    fn check_use(&mut self, inline: usize, name: &Ident, given: usize) -> PResult<()> {
        let text = &self.lexer.inlines[inline];
        if text.arity != given {
            let plural = if text.arity == 1 { "" } else { "s" };
            let message = format!(
                "the inline `{}` takes {} argument{plural}, not {given}",
                name.name,
                text.params.len()
            );
            let error = Diagnostic::new(Code::E0120, name.span, message).label(text.span, "declared here");
            return Err(self.report(error));
        }
        let active: Vec<usize> = self.lexer.stream.active().collect();
        if let Some(from) = active.iter().position(|&a| a == inline) {
            let mut cycle: Vec<&str> = active[from..].iter().map(|&a| &*self.lexer.inlines[a].name).collect();
            cycle.push(&name.name);
            let message = format!("the inline `{}` uses itself: {}", name.name, cycle.join(" -> "));
            return Err(self.report(Diagnostic::new(Code::E0121, name.span, message)));
        }
        if active.len() >= Limits::INLINES {
            let message = format!("inlines are nested more than {} deep", Limits::INLINES);
            return Err(self.stop(Diagnostic::new(Code::E0103, name.span, message)));
        }
        Ok(())
    }

    /// `return e`: an assignment to the variable that takes the inline's value.
    pub(super) fn return_statement(&mut self) -> PResult<StmtKind> {
        let word = self.bump().span;
        let Some(result) = self.results.last().cloned() else {
            let error = Diagnostic::new(Code::E0122, word, "`return` can only be used in an inline");
            return Err(self.report(error.help("a process ends where its body ends: `goto` a label there")));
        };
        let value = self.full_expr()?;
        if let Some(var) = result {
            return Ok(StmtKind::Assign(var, value));
        }
        let message = "this use of the inline does not take the value that it returns";
        let help = format!("`{}` gives the value of an inline used as `x = f(…)`", Keyword::Return.text());
        Err(self.report(Diagnostic::new(Code::E0122, word, message).help(help)))
    }
}
