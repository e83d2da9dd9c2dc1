//! Formulas are read after everything else; `ltl` blocks, with temporal operators.
//!
//! Four things are accepted that Spin's own formula parser refuses: `X`, `R` for `V`, conditional expressions
//! and unary minus.

use super::lexis::Kind;
use super::parser::{PResult, Parser};
use crate::ast::{Ident, Item, Logic, Ltl};
use crate::token::Punct;

impl Parser<'_> {
    /// Reads the `ltl`, `ctl` and `mu` blocks that were put aside.
    pub(super) fn deferred_formulas(&mut self, items: &mut Vec<Item>) {
        for range in self.lexer.deferred.take().unwrap_or_default() {
            if self.is_stopped() {
                return;
            }
            self.restart();
            self.lexer.enter_formula(range);
            let logic = match &self.peek().kind {
                Kind::Name(word) => Logic::of(word),
                _ => None,
            };
            let item = match logic {
                Some(logic) => self.state_formula(logic).map(Item::StateFormula),
                None => self.ltl().map(Item::Ltl),
            };
            items.extend(item.ok());
            self.lexer.in_formula = false;
        }
    }

    fn ltl(&mut self) -> PResult<Ltl> {
        let span = self.bump().span;
        let mut name = None;
        if let Kind::Name(word) = self.peek().kind.clone() {
            name = Some(Ident { name: word, span: self.bump().span });
        }
        if !self.at(Punct::LBrace) {
            return Err(self.unexpected("`{` and a formula"));
        }
        self.lexer.in_formula = true;
        self.bump();
        let formula = self.full_expr()?;
        if self.at(Punct::Semi) {
            self.bump();
        }
        self.lexer.in_formula = false;
        self.expect(Punct::RBrace, "an operator or `}`")?;
        Ok(Ltl { name, formula, span })
    }
}
