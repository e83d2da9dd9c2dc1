//! What is sent and received: the arguments after `!`, `!!`, `?` and `??`.

use super::keyword::Keyword;
use super::lexis::Kind;
use super::parser::{Nesting, PResult, Parser};
use crate::ast::{Expr, ExprKind, RecvArg, UnaryOp};
use crate::token::Punct;

impl Parser<'_> {
    /// The message of a send: `a, b, c` or `a(b, c)`.
    pub(super) fn send_args(&mut self) -> PResult<Vec<Expr>> {
        let mut args = vec![self.expr()?];
        if self.eat(Punct::LParen) {
            args.extend(self.args()?);
            self.expect(Punct::RParen, "`,` or `)`")?;
            return Ok(args);
        }
        while self.eat(Punct::Comma) {
            args.push(self.expr()?);
        }
        Ok(args)
    }

    /// The arguments of a receive or poll: `a, b`, `a(b)`, `(a, b)` and mixtures of these.
    pub(super) fn recv_args(&mut self) -> PResult<Vec<RecvArg>> {
        let mut args = Vec::new();
        self.recv_args_into(&mut args)?;
        Ok(args)
    }

    fn recv_args_into(&mut self, args: &mut Vec<RecvArg>) -> PResult<()> {
        loop {
            let open = self.at(Punct::LParen);
            if !open {
                args.push(self.recv_arg()?);
                if self.eat(Punct::Comma) {
                    continue;
                }
            }
            if self.eat(Punct::LParen) {
                self.nested(Nesting::Expressions, |p| p.recv_args_into(args))?;
                self.expect(Punct::RParen, "`,` or `)`")?;
            }
            return Ok(());
        }
    }

    fn recv_arg(&mut self) -> PResult<RecvArg> {
        match self.peek().kind {
            Kind::Name(_) => self.var_ref("a variable").map(RecvArg::Var),
            Kind::Number(_) | Kind::Constant(_) => self.expect_constant("a constant").map(RecvArg::Const),
            Kind::Punct(Punct::Minus) => {
                let sign = self.bump().span;
                let number = self.expect_constant("a constant")?;
                let span = self.span_from(sign);
                Ok(RecvArg::Const(Expr { kind: ExprKind::Unary(UnaryOp::Neg, Box::new(number)), span }))
            }
            Kind::Key(Keyword::Eval) => {
                self.bump();
                self.expect(Punct::LParen, "`(`")?;
                let expr = self.nested(Nesting::Expressions, |p| p.expr())?;
                self.expect(Punct::RParen, "`)`")?;
                Ok(RecvArg::Eval(expr))
            }
            _ => Err(self.unexpected("a variable, a constant or `eval(…)` to receive into or match")),
        }
    }
}
