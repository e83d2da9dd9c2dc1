//! What the PV dialect adds: `lock` and `sema` variables, `lock(x)` and `unlock(x)`, `invariant`, enums,
//! iterated `run`.
//!
//! Its words are not reserved. Each is recognised only where Promela proper has a syntax error, so that a
//! model that uses `lock` or `invariant` as a name of its own keeps its meaning.

use super::Dialect;
use super::lexis::Kind;
use super::parser::{PResult, Parser};
use crate::ast::{EnumDecl, Ident, Invariant, RunIterated, StmtKind, TypeName, VarRef};
use crate::token::{Punct, Token, TokenKind};
use std::sync::Arc;

/// The PV type that a name stands for where a type is expected.
pub(super) fn type_of(kind: &Kind) -> Option<TypeName> {
    match kind {
        Kind::Name(word) if &**word == "lock" => Some(TypeName::Lock),
        Kind::Name(word) if &**word == "sema" => Some(TypeName::Sema),
        _ => None,
    }
}

impl Parser<'_> {
    /// Remembers that the model has a variable called `lock` or `unlock`.
    pub(super) fn note_own_word(&mut self, name: &Arc<str>) {
        if matches!(&**name, "lock" | "unlock") {
            self.own_words.insert(name.clone());
        }
    }

    /// Whether `name`, followed by `(`, is one of PV's statements.
    pub(super) fn is_lock_statement(&mut self, name: &Ident) -> bool {
        matches!(&*name.name, "lock" | "unlock")
            && (self.dialect == Dialect::Pv || !self.own_words.contains(&name.name))
            && self.at(Punct::LParen)
    }

    /// The rest of `lock(x)` or `unlock(x)`, from the parenthesis.
    pub(super) fn lock_statement(&mut self, name: &Ident) -> PResult<StmtKind> {
        self.expect(Punct::LParen, "`(`")?;
        let var = self.var_ref("a lock or semaphore")?;
        self.expect(Punct::RParen, "`)`")?;
        Ok(if &*name.name == "lock" { StmtKind::Lock(var) } else { StmtKind::Unlock(var) })
    }

    /// `invariant NAME expr`, from the name of the invariant.
    pub(super) fn invariant(&mut self) -> PResult<Invariant> {
        self.bump();
        let name = self.expect_name("the name of the invariant")?;
        self.in_invariant = true;
        let expr = self.full_expr();
        self.in_invariant = false;
        Ok(Invariant { name, expr: expr? })
    }

    /// In an invariant `p@label` and `p[i]@label` may name a proctype that is declared later.
    pub(super) fn remote_of_later(
        &mut self,
        var: VarRef,
        height: usize,
    ) -> PResult<super::expressions::Parsed> {
        let mut parts = var.parts;
        match (parts.pop(), parts.is_empty()) {
            (Some(part), true) => self.remote_from(part.name, part.index, height),
            _ => Err(self.unexpected("an operator")),
        }
    }

    /// Whether what follows `typedef` is an enum: `enum { a, b } T` or `enum a, b T`.
    pub(super) fn at_enum(&self) -> bool {
        let is_name = |t: Option<&Token>| matches!(t, Some(Token { kind: TokenKind::Name(_), .. }));
        let is = |t: Option<&Token>, p: Punct| matches!(t, Some(t) if t.kind == TokenKind::Punct(p));
        let ahead = self.lexer.stream.ahead();
        let word = matches!(ahead.first(), Some(Token { kind: TokenKind::Name(w), .. }) if &**w == "enum");
        let listed = is_name(ahead.get(1));
        let braced = is(ahead.get(1), Punct::LBrace)
            && is_name(ahead.get(2))
            && (is(ahead.get(3), Punct::Comma) || is(ahead.get(3), Punct::RBrace));
        word && (listed || braced)
    }

    /// The rest of `typedef enum …`, from `enum`.
    pub(super) fn enum_decl(&mut self) -> PResult<EnumDecl> {
        self.bump();
        let braced = self.eat(Punct::LBrace);
        let mut names = vec![self.expect_name("the name of a constant")?];
        while self.eat(Punct::Comma) {
            if braced && self.at(Punct::RBrace) {
                break;
            }
            names.push(self.expect_name("the name of a constant")?);
        }
        self.lexer.names.constants.extend(names.iter().map(|n| (n.name.clone(), n.span)));
        if braced {
            self.expect(Punct::RBrace, "`,` or `}`")?;
            // A separator is implied after the brace; here it is none.
            if self.peek().implied {
                self.bump();
            }
        }
        let Kind::Name(name) = self.peek().kind.clone() else {
            return Err(self.unexpected("the name of the enum"));
        };
        // The name must be known as a type before the token after it is read.
        let span = self.peek().span;
        self.lexer.names.types.insert(name.clone(), span);
        self.bump();
        Ok(EnumDecl { name: Ident { name, span }, names })
    }

    /// `run [i<n][j<m] p(…)`, from the first bracket.
    pub(super) fn run_iterated(&mut self) -> PResult<RunIterated> {
        let mut iterators = Vec::new();
        while self.eat(Punct::LBracket) {
            let name = self.expect_name("the name of an iterator")?;
            self.expect(Punct::Lt, "`<` and the bound of the iterator")?;
            iterators.push((name, self.expr()?));
            self.expect(Punct::RBracket, "`]`")?;
        }
        let (proctype, args, priority) = self.run_rest()?;
        Ok(RunIterated { iterators, proctype, args, priority })
    }
}
