//! `ctl` and `mu` blocks: formulas about states.
//!
//! Their words (`ctl`, `mu`, `A`, `E`, `AG`, `nu` …) are not reserved. A block is recognised at the top level
//! by the brace that follows, an operator by what stands behind it: `A` is a quantifier in `A[p U q]`, `A X p`
//! and `A (p U q)`, and a name in `A[i] == 1`. Temporal operators and modalities bind as tightly as a
//! comparison: `AG x == 1 && y` is `(AG (x == 1)) && y`. A fixpoint reaches as far to the right as it can.

use super::expressions::Parsed;
use super::keyword::{Keyword, Temporal};
use super::lexis::Kind;
use super::parser::{Nesting, PResult, Parser, Reported};
use crate::ast::{Ident, Logic, PathOp, StateFormula, StateOp, StepFilter};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::token::{Punct, Token, TokenKind};

/// Operands of temporal operators reach up to `&&`, `||` and what binds less.
const OPERAND: u8 = 5;

/// The quantifier and operator that a word stands for.
fn operator_of(word: &str) -> Option<(bool, PathOp)> {
    let (quantifier, letter) = word.split_at_checked(1)?;
    let op =
        [PathOp::Next, PathOp::Finally, PathOp::Globally].into_iter().find(|op| op.letter() == letter)?;
    match quantifier {
        "A" => Some((true, op)),
        "E" => Some((false, op)),
        _ => None,
    }
}

/// The operator with two operands that a word stands for.
fn until_of(word: &str) -> Option<PathOp> {
    Some(match word {
        "U" | "until" | "stronguntil" => PathOp::Until,
        "W" | "weakuntil" => PathOp::WeakUntil,
        "R" | "V" | "release" => PathOp::Release,
        _ => return None,
    })
}

fn is_punct(token: Option<&Token>, punct: Punct) -> bool {
    matches!(token, Some(token) if token.kind == TokenKind::Punct(punct))
}

/// Whether an operand can begin with this token.
fn begins_operand(token: Option<&Token>) -> bool {
    match token.map(|token| &token.kind) {
        Some(TokenKind::Name(word)) => until_of(word).is_none(),
        Some(TokenKind::Number(_)) => true,
        Some(TokenKind::Punct(punct)) => {
            matches!(punct, Punct::LParen | Punct::Not | Punct::Tilde | Punct::Minus)
        }
        _ => false,
    }
}

/// Whether the bracketed text at the beginning has `U`, `W` or `R` outside of inner brackets.
fn has_until(tokens: &[Token]) -> bool {
    let mut open = 0usize;
    for token in tokens {
        match &token.kind {
            TokenKind::Punct(Punct::LBracket | Punct::LParen) => open += 1,
            TokenKind::Punct(Punct::RBracket | Punct::RParen) => open -= 1,
            TokenKind::Name(word) if open == 1 && until_of(word).is_some() => return true,
            _ => {}
        }
        if open == 0 {
            return false;
        }
    }
    false
}

impl Parser<'_> {
    /// Puts a `ctl` or `mu` block aside, to be read after everything else, if one comes next.
    pub(super) fn defer_state_formula(&mut self) -> bool {
        let Kind::Name(word) = &self.peek().kind else { return false };
        if Logic::of(word).is_none() {
            return false;
        }
        if !self.lexer.a_block_follows() {
            return false;
        }
        self.bump();
        self.lexer.defer_formula()
    }

    /// A block that was put aside.
    pub(super) fn state_formula(&mut self, logic: Logic) -> PResult<StateFormula> {
        let span = self.bump().span;
        let mut name = None;
        if let Kind::Name(word) = self.peek().kind.clone() {
            name = Some(Ident { name: word, span: self.bump().span });
        }
        if !self.at(Punct::LBrace) {
            return Err(self.unexpected("`{` and a formula"));
        }
        self.lexer.in_formula = true;
        self.lexer.temporal_words = logic == Logic::Ctl;
        self.logic = Some(logic);
        self.bump();
        let formula = self.full_expr();
        let closed = formula.and_then(|formula| {
            if self.at(Punct::Semi) {
                self.bump();
            }
            self.expect(Punct::RBrace, "an operator or `}`")?;
            Ok(formula)
        });
        self.logic = None;
        self.lexer.in_formula = false;
        self.lexer.temporal_words = true;
        Ok(StateFormula { logic, name, formula: closed?, span })
    }

    /// An operand that begins with an operator of the logic; `None` where an expression begins.
    pub(super) fn state_operand(&mut self) -> PResult<Option<Parsed>> {
        let Some(logic) = self.logic else { return Ok(None) };
        match self.peek().kind.clone() {
            Kind::Name(word) | Kind::Constant(word) | Kind::ProcName(word) => self.worded(logic, &word),
            Kind::Temporal(op @ (Temporal::Always | Temporal::Eventually)) if logic == Logic::Mu => {
                let start = self.bump().span;
                let steps = None;
                self.modality(op == Temporal::Always, steps, start).map(Some)
            }
            Kind::Punct(Punct::Lt | Punct::LBracket) if logic == Logic::Mu => self.filtered().map(Some),
            Kind::Temporal(op) if logic == Logic::Ctl => Err(self.unquantified(op.text())),
            _ => Ok(None),
        }
    }

    /// An operator that is a word.
    fn worded(&mut self, logic: Logic, word: &str) -> PResult<Option<Parsed>> {
        let ahead = self.lexer.stream.ahead();
        if matches!(word, "mu" | "nu")
            && matches!(ahead.first(), Some(Token { kind: TokenKind::Name(_), .. }))
            && is_punct(ahead.get(1), Punct::Dot)
        {
            return self.fixpoint(logic, word == "nu").map(Some);
        }
        if let Some((all, op)) = operator_of(word).filter(|_| begins_operand(ahead.first())) {
            let start = self.bump().span;
            return self.path(logic, all, op, start).map(Some);
        }
        if matches!(word, "F" | "G") && logic == Logic::Ctl && begins_operand(ahead.first()) {
            return Err(self.unquantified(word));
        }
        if !matches!(word, "A" | "E") {
            return Ok(None);
        }
        let all = word == "A";
        let op = match ahead.first() {
            Some(Token { kind: TokenKind::Name(letter), .. }) => operator_of(&format!("{word}{letter}")),
            _ => None,
        };
        if let Some((all, op)) = op {
            let start = self.bump().span;
            self.bump();
            return self.path(logic, all, op, start).map(Some);
        }
        let bracketed = is_punct(ahead.first(), Punct::LBracket) && has_until(ahead);
        match bracketed || is_punct(ahead.first(), Punct::LParen) {
            true => self.until(logic, all).map(Some),
            false => Ok(None),
        }
    }

    /// The operand of a quantified operator, which has been read. In the mu-calculus `A X` and `E X` are
    /// LTSmin's way to write `[]` and `<>`.
    fn path(&mut self, logic: Logic, all: bool, op: PathOp, start: Span) -> PResult<Parsed> {
        match (logic, op) {
            (Logic::Mu, PathOp::Next) => self.modality(all, None, start),
            (Logic::Mu, _) => Err(self.not_of_mu(all, op, start)),
            (Logic::Ctl, _) => {
                let operand = self.nested(Nesting::Expressions, |p| p.binary_expr(OPERAND))?;
                let span = self.span_from(start);
                let height = operand.height;
                Ok(Parsed::state(StateOp::Path { all, op, operands: vec![operand.expr] }, span, height))
            }
        }
    }

    /// `A[p U q]` or `E (p W q)`, from the quantifier.
    fn until(&mut self, logic: Logic, all: bool) -> PResult<Parsed> {
        let start = self.bump().span;
        let close = if self.bump().is(Punct::LParen) { Punct::RParen } else { Punct::RBracket };
        let left = self.nested(Nesting::Expressions, |p| p.binary_expr(0))?;
        let written = match &self.peek().kind {
            Kind::Temporal(op) => Some(op.text().to_string()),
            Kind::Name(word) => Some(word.to_string()),
            _ => None,
        };
        let Some(op) = written.and_then(|word| until_of(&word)) else {
            return Err(self.unexpected("`U`, `W` or `R` between two formulas"));
        };
        self.bump();
        if logic == Logic::Mu {
            return Err(self.not_of_mu(all, op, start));
        }
        let right = self.nested(Nesting::Expressions, |p| p.binary_expr(0))?;
        let what = if close == Punct::RParen { "an operator or `)`" } else { "an operator or `]`" };
        self.expect(close, what)?;
        let height = left.height.max(right.height);
        let span = self.span_from(start);
        Ok(Parsed::state(StateOp::Path { all, op, operands: vec![left.expr, right.expr] }, span, height))
    }

    /// `mu Z. p` or `nu Z. p`, from the word.
    fn fixpoint(&mut self, logic: Logic, greatest: bool) -> PResult<Parsed> {
        let start = self.bump().span;
        if logic == Logic::Ctl {
            let error =
                Diagnostic::new(Code::E0239, start, "a fixpoint belongs to the mu-calculus, this is CTL");
            return Err(self.report(error.help("write the property as `mu name { … }`, or with --mu")));
        }
        let variable = self.expect_name("the variable of the fixpoint")?;
        self.expect(Punct::Dot, "`.`")?;
        let body = self.nested(Nesting::Expressions, |p| p.binary_expr(0))?;
        let (span, height) = (self.span_from(start), body.height);
        Ok(Parsed::state(StateOp::Fixpoint { greatest, variable, body: body.expr }, span, height))
    }

    /// `<steps> p` or `[steps] p`, from the bracket.
    fn filtered(&mut self) -> PResult<Parsed> {
        let open = self.bump();
        let all = open.is(Punct::LBracket);
        let (close, what) = match all {
            true => (Punct::RBracket, "a process, a number, `p@label` or `]`"),
            false => (Punct::Gt, "a process, a number, `p@label` or `>`"),
        };
        let steps = if self.at(close) { None } else { Some(self.step_filter(what)?) };
        self.expect(close, what)?;
        self.modality(all, steps, open.span)
    }

    fn step_filter(&mut self, what: &str) -> PResult<StepFilter> {
        let tok = self.peek().clone();
        let mut filter = StepFilter { proctype: None, pid: None, label: None, span: tok.span };
        match tok.kind {
            Kind::Number(_) | Kind::Constant(_) => filter.pid = Some(self.expect_constant(what)?),
            Kind::Name(name) | Kind::ProcName(name) => {
                filter.proctype = Some(Ident { name, span: self.bump().span });
            }
            Kind::Key(Keyword::Init) => {
                filter.proctype = Some(Ident { name: ":init:".into(), span: self.bump().span });
            }
            _ => return Err(self.unexpected(what)),
        }
        if filter.proctype.is_some() && self.eat(Punct::LBracket) {
            filter.pid = Some(self.expect_constant("the number of a process")?);
            self.expect(Punct::RBracket, "`]`")?;
        }
        if filter.proctype.is_some() && self.eat(Punct::At) {
            filter.label = Some(self.expect_name("a label")?);
        }
        filter.span = self.span_from(tok.span);
        Ok(filter)
    }

    fn modality(&mut self, all: bool, steps: Option<StepFilter>, start: Span) -> PResult<Parsed> {
        let body = self.nested(Nesting::Expressions, |p| p.binary_expr(OPERAND))?;
        let (span, height) = (self.span_from(start), body.height);
        Ok(Parsed::state(StateOp::Modal { all, steps, body: body.expr }, span, height))
    }

    /// A path operator without a quantifier.
    fn unquantified(&mut self, op: &str) -> Reported {
        let span = self.bump().span;
        let letter = match op {
            "[]" => "G",
            "<>" => "F",
            letter => letter,
        };
        let message =
            format!("`{op}` has no path quantifier: CTL asks whether all runs do, or some run does");
        let help = match until_of(letter) {
            Some(_) => format!("write `A[p {letter} q]` or `E[p {letter} q]`"),
            None => format!("write `A{letter}` for all runs, or `E{letter}` for some run"),
        };
        self.report(Diagnostic::new(Code::E0239, span, message).help(help))
    }

    /// An operator of CTL in the mu-calculus.
    fn not_of_mu(&mut self, all: bool, op: PathOp, start: Span) -> Reported {
        let letter = op.letter();
        let word = format!("{}{letter}", if all { "A" } else { "E" });
        let fixpoint = match (all, op) {
            (true, PathOp::Globally) => "`nu Z. (p && []Z)`",
            (false, PathOp::Finally) => "`mu Z. (p || <>Z)`",
            (true, PathOp::Finally) => "`mu Z. (p || (<>true && []Z))`",
            (false, PathOp::Globally) => "`nu Z. (p && (<>Z || []false))`",
            _ => "a fixpoint",
        };
        let message = format!("`{word}` belongs to CTL, this is the mu-calculus");
        let help = format!("write {fixpoint}, or use a `ctl` block");
        self.report(Diagnostic::new(Code::E0239, start, message).help(help))
    }

    /// What to say of `U`, `W` or `R` where no quantifier stands in front: `None` for anything else.
    pub(super) fn stray_until(&mut self) -> Option<Diagnostic> {
        self.logic.filter(|&logic| logic == Logic::Ctl)?;
        let tok = self.peek().clone();
        let word = match &tok.kind {
            Kind::Temporal(op) => op.text().to_string(),
            Kind::Name(word) => word.to_string(),
            _ => return None,
        };
        until_of(&word)?;
        let message =
            format!("`{word}` has no path quantifier: CTL asks whether all runs do, or some run does");
        let help = format!("write `A[p {word} q]` or `E[p {word} q]`");
        Some(Diagnostic::new(Code::E0239, tok.span, message).help(help))
    }
}
