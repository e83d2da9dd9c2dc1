//! Expressions: operators by precedence, references, questions about channels and processes.
//!
//! Two kinds of expression share one parser. A *probe* (`full(c)` and its kin, alone or joined by `&&`, `||`
//! and parentheses) is allowed as a guard, but no other operator may be applied to it: its negation would not
//! be preserved by Spin's reduction. [`Parsed::probe`] carries the distinction.

use super::keyword::{Keyword, Temporal};
use super::lexis::{Kind, Tok};
use super::parser::{Limits, Nesting, PResult, Parser, Reported};
use crate::ast::{
    BinaryOp, ChanOp, EmbeddedC, Expr, ExprKind, Ident, ProcessOp, RefPart, StateOp, UnaryOp, VarRef,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::token::Punct;

/// An expression on its way up.
pub(super) struct Parsed {
    pub(super) expr: Expr,
    /// With the parentheses around it.
    outer: Span,
    /// Where it contains `full(c)` or the like outside any operator but `&&` and `||`.
    pub(super) probe: Option<(ChanOp, Span)>,
    pub(super) height: usize,
}

impl Parsed {
    /// An operator of a formula about states.
    pub(super) fn state(op: StateOp, span: Span, height: usize) -> Parsed {
        Parsed::above(ExprKind::State(Box::new(op)), span, height)
    }

    /// A leaf of the tree.
    pub(super) fn leaf(kind: ExprKind, span: Span) -> Parsed {
        Parsed { expr: Expr { kind, span }, outer: span, probe: None, height: 1 }
    }

    fn above(kind: ExprKind, span: Span, height: usize) -> Parsed {
        Parsed { expr: Expr { kind, span }, outer: span, probe: None, height: height + 1 }
    }
}

/// A reference to a plain variable.
pub(super) fn simple_ref(name: Ident) -> VarRef {
    let span = name.span;
    VarRef { parts: vec![RefPart { name, index: None }], span }
}

/// How tightly a binary operator binds; all of them associate to the left.
fn binary(kind: &Kind) -> Option<(u8, BinaryOp)> {
    Some(match kind {
        Kind::Temporal(t) => match t {
            Temporal::Implies => (1, BinaryOp::Implies),
            Temporal::Equiv => (1, BinaryOp::Equiv),
            Temporal::Until => (4, BinaryOp::Until),
            Temporal::WeakUntil => (4, BinaryOp::WeakUntil),
            Temporal::Release => (4, BinaryOp::Release),
            Temporal::Next | Temporal::Always | Temporal::Eventually => return None,
        },
        Kind::Punct(p) => match p {
            Punct::BarBar => (2, BinaryOp::Or),
            Punct::AmpAmp => (3, BinaryOp::And),
            Punct::Bar => (5, BinaryOp::BitOr),
            Punct::Caret => (6, BinaryOp::BitXor),
            Punct::Amp => (7, BinaryOp::BitAnd),
            Punct::Eq => (8, BinaryOp::Eq),
            Punct::Ne => (8, BinaryOp::Ne),
            Punct::Lt => (9, BinaryOp::Lt),
            Punct::Le => (9, BinaryOp::Le),
            Punct::Gt => (9, BinaryOp::Gt),
            Punct::Ge => (9, BinaryOp::Ge),
            Punct::Shl => (10, BinaryOp::Shl),
            Punct::Shr => (10, BinaryOp::Shr),
            Punct::Plus => (11, BinaryOp::Add),
            Punct::Minus => (11, BinaryOp::Sub),
            Punct::Star => (12, BinaryOp::Mul),
            Punct::Slash => (12, BinaryOp::Div),
            Punct::Percent => (12, BinaryOp::Rem),
            _ => return None,
        },
        _ => return None,
    })
}

impl Parser<'_> {
    /// An expression in which probes are allowed.
    pub(super) fn full_expr(&mut self) -> PResult<Expr> {
        let parsed = self.binary_expr(0)?;
        self.tallest = self.tallest.max(parsed.height);
        Ok(parsed.expr)
    }

    /// An expression without probes.
    pub(super) fn expr(&mut self) -> PResult<Expr> {
        let parsed = self.binary_expr(0)?;
        self.no_probe(&parsed)?;
        self.tallest = self.tallest.max(parsed.height);
        Ok(parsed.expr)
    }

    /// Parses something with expressions in it and also gives the height of the tallest.
    fn with_height<T>(&mut self, parse: impl FnOnce(&mut Self) -> PResult<T>) -> PResult<(T, usize)> {
        let outside = std::mem::replace(&mut self.tallest, 1);
        let parsed = parse(self);
        let tallest = std::mem::replace(&mut self.tallest, outside);
        Ok((parsed?, tallest))
    }

    /// `( expr )`, probes excluded.
    fn parenthesised(&mut self) -> PResult<Expr> {
        self.expect(Punct::LParen, "`(`")?;
        let expr = self.nested(Nesting::Expressions, |p| p.expr())?;
        self.expect(Punct::RParen, "`)`")?;
        Ok(expr)
    }

    pub(super) fn binary_expr(&mut self, tightest: u8) -> PResult<Parsed> {
        let left = self.operand()?;
        self.binary_from(left, tightest)
    }

    /// Goes on with an expression whose first operand has been read.
    pub(super) fn binary_from(&mut self, mut left: Parsed, tightest: u8) -> PResult<Parsed> {
        while let Some((level, op)) = self.operator() {
            if level < tightest {
                break;
            }
            self.bump();
            let right = self.binary_expr(level + 1)?;
            left = self.join(op, left, right)?;
        }
        Ok(left)
    }

    /// The binary operator that comes next. Where one must stand, `R` cannot be a name: in formulas it is
    /// another way to write `V`, which Spin's users know from other tools.
    fn operator(&mut self) -> Option<(u8, BinaryOp)> {
        let (in_formula, is_ctl) = (self.lexer.in_formula, self.logic.is_some());
        match &self.peek().kind {
            // In CTL these stand inside the brackets of a quantifier, which looks for them.
            Kind::Temporal(Temporal::Until | Temporal::WeakUntil | Temporal::Release) if is_ctl => None,
            Kind::Name(name) if in_formula && !is_ctl && **name == *"R" => {
                binary(&Kind::Temporal(Temporal::Release))
            }
            kind => binary(kind),
        }
    }

    fn join(&mut self, op: BinaryOp, left: Parsed, right: Parsed) -> PResult<Parsed> {
        let probe = if matches!(op, BinaryOp::And | BinaryOp::Or) {
            left.probe.or(right.probe)
        } else {
            self.no_probe(&left)?;
            self.no_probe(&right)?;
            None
        };
        let height = left.height.max(right.height);
        let span = self.join_spans(left.outer, right.outer);
        if height >= Limits::HEIGHT {
            let message = format!("this expression has more than {} operators in one chain", Limits::HEIGHT);
            return Err(self.stop(Diagnostic::new(Code::E0104, right.outer, message)));
        }
        let kind = ExprKind::Binary(op, Box::new(left.expr), Box::new(right.expr));
        Ok(Parsed { probe, ..Parsed::above(kind, span, height) })
    }

    /// Refuses a probe where an ordinary expression is needed.
    fn no_probe(&mut self, parsed: &Parsed) -> PResult<()> {
        let Some((op, span)) = parsed.probe else { return Ok(()) };
        let message = format!("`{}` may only be combined with `&&` and `||`", op.text());
        let help = match op {
            ChanOp::Full => "compare `len(c)` with the capacity instead",
            ChanOp::Nfull => "compare `len(c)` with the capacity instead",
            _ => "compare `len(c)` with 0 instead",
        };
        Err(self.report(Diagnostic::new(Code::E0116, span, message).help(help)))
    }

    fn unary(&mut self, op: UnaryOp) -> PResult<Parsed> {
        let sign = self.bump();
        let operand = self.nested(Nesting::Expressions, |p| p.operand())?;
        if let (UnaryOp::Not, Some((probe, span))) = (op, operand.probe) {
            let opposite = match probe {
                ChanOp::Full => "nfull",
                ChanOp::Nfull => "full",
                ChanOp::Empty => "nempty",
                _ => "empty",
            };
            let message = format!("`{}` cannot be negated", probe.text());
            let help = format!("write `{opposite}(…)` instead of `!{}(…)`", probe.text());
            return Err(self.report(Diagnostic::new(Code::E0116, sign.span.to(span), message).help(help)));
        }
        self.no_probe(&operand)?;
        let span = self.join_spans(sign.span, operand.outer);
        let height = operand.height;
        Ok(Parsed::above(ExprKind::Unary(op, Box::new(operand.expr)), span, height))
    }

    fn operand(&mut self) -> PResult<Parsed> {
        if let Some(parsed) = self.state_operand()? {
            return Ok(parsed);
        }
        match &self.peek().kind {
            Kind::Punct(Punct::LParen) => self.parentheses(),
            Kind::Punct(Punct::Minus) => self.unary(UnaryOp::Neg),
            Kind::Punct(Punct::Tilde) => self.unary(UnaryOp::BitNot),
            Kind::Punct(Punct::Not) => self.unary(UnaryOp::Not),
            Kind::Temporal(Temporal::Next) => self.unary(UnaryOp::Next),
            Kind::Temporal(Temporal::Always) => self.unary(UnaryOp::Always),
            Kind::Temporal(Temporal::Eventually) => self.unary(UnaryOp::Eventually),
            Kind::Number(_) | Kind::Constant(_) => {
                let tok = self.bump();
                let expr = self.constant(tok);
                Ok(Parsed::leaf(expr.kind, expr.span))
            }
            Kind::Name(_) => {
                let (var, height) = self.var_ref_with_height("an expression")?;
                self.operand_from(var, height)
            }
            Kind::ProcName(_) => self.remote(),
            Kind::Key(keyword) => {
                let keyword = *keyword;
                self.keyword_operand(keyword)
            }
            _ => Err(self.unexpected("an expression")),
        }
    }

    fn keyword_operand(&mut self, keyword: Keyword) -> PResult<Parsed> {
        match keyword {
            Keyword::Full => self.chan_question(ChanOp::Full),
            Keyword::Nfull => self.chan_question(ChanOp::Nfull),
            Keyword::Empty => self.chan_question(ChanOp::Empty),
            Keyword::Nempty => self.chan_question(ChanOp::Nempty),
            Keyword::Len => self.chan_question(ChanOp::Len),
            Keyword::Enabled => self.process_question(ProcessOp::Enabled),
            Keyword::PcValue => self.process_question(ProcessOp::PcValue),
            Keyword::GetPriority => self.process_question(ProcessOp::GetPriority),
            Keyword::Timeout => Ok(Parsed::leaf(ExprKind::Timeout, self.bump().span)),
            Keyword::Np => Ok(Parsed::leaf(ExprKind::NonProgress, self.bump().span)),
            Keyword::Run => self.run(),
            Keyword::CExpr => {
                let c = self.embedded_c()?;
                let span = c.keyword.span.to(c.text_span);
                Ok(Parsed::leaf(ExprKind::EmbeddedC(c), span))
            }
            _ => Err(self.unexpected("an expression")),
        }
    }

    /// `( e )` or `( e -> e : e )`.
    fn parentheses(&mut self) -> PResult<Parsed> {
        let open = self.bump().span;
        let inner = self.nested(Nesting::Expressions, |p| p.binary_expr(0))?;
        let conditional = if self.lexer.in_formula { self.at(Punct::Colon) } else { self.at(Punct::Arrow) };
        let mut parsed = if conditional { self.conditional(inner)? } else { inner };
        self.expect(Punct::RParen, "`)`")?;
        parsed.outer = self.span_from(open);
        if conditional {
            parsed.expr.span = parsed.outer;
        }
        Ok(parsed)
    }

    /// The rest of `c -> a : b`, up to the closing parenthesis. In a formula `c -> a` has been read as an
    /// implication.
    fn conditional(&mut self, first: Parsed) -> PResult<Parsed> {
        self.no_probe(&first)?;
        let span = first.outer;
        let (condition, then, mut height) = if self.lexer.in_formula {
            match first.expr.kind {
                ExprKind::Binary(BinaryOp::Implies, c, a) => (c, a, first.height),
                _ => return Err(self.unexpected("`)`")),
            }
        } else {
            self.bump();
            let then = self.nested(Nesting::Expressions, |p| p.binary_expr(0))?;
            self.no_probe(&then)?;
            let height = first.height.max(then.height);
            (Box::new(first.expr), Box::new(then.expr), height)
        };
        self.expect(Punct::Colon, "`:` and the other value of this conditional expression")?;
        let other = self.nested(Nesting::Expressions, |p| p.binary_expr(0))?;
        self.no_probe(&other)?;
        height = height.max(other.height);
        let kind = ExprKind::Cond(condition, then, Box::new(other.expr));
        Ok(Parsed::above(kind, span, height))
    }

    /// A variable, array element or field.
    pub(super) fn var_ref(&mut self, what: &str) -> PResult<VarRef> {
        let (var, height) = self.var_ref_with_height(what)?;
        self.tallest = self.tallest.max(height);
        Ok(var)
    }

    fn var_ref_with_height(&mut self, what: &str) -> PResult<(VarRef, usize)> {
        let name = self.expect_name(what)?;
        self.var_ref_from(name)
    }

    /// The rest of a reference whose first name has been read.
    pub(super) fn var_ref_from(&mut self, name: Ident) -> PResult<(VarRef, usize)> {
        let start = name.span;
        let mut height = 1;
        let mut parts = vec![self.ref_part(name, &mut height)?];
        while self.eat(Punct::Dot) {
            let field = self.expect_name("the name of a field")?;
            parts.push(self.ref_part(field, &mut height)?);
        }
        Ok((VarRef { parts, span: self.span_from(start) }, height))
    }

    fn ref_part(&mut self, name: Ident, height: &mut usize) -> PResult<RefPart> {
        let mut index = None;
        if self.eat(Punct::LBracket) {
            let parsed = self.nested(Nesting::Expressions, |p| p.binary_expr(0))?;
            self.no_probe(&parsed)?;
            *height = (*height).max(parsed.height + 1);
            self.expect(Punct::RBracket, "`]`")?;
            index = Some(Box::new(parsed.expr));
        }
        Ok(RefPart { name, index })
    }

    /// An operand that begins with a reference: the reference itself or a poll.
    pub(super) fn operand_from(&mut self, var: VarRef, height: usize) -> PResult<Parsed> {
        if self.in_invariant && self.at(Punct::At) {
            return self.remote_of_later(var, height);
        }
        let random = match self.peek().kind {
            Kind::Punct(Punct::Question) => false,
            Kind::Punct(Punct::QuestionQuestion) => true,
            _ => {
                let span = var.span;
                return Ok(Parsed { height, ..Parsed::leaf(ExprKind::Var(var), span) });
            }
        };
        self.bump();
        self.poll(var, random, height)
    }

    /// The rest of `c?[…]`, from the bracket.
    pub(super) fn poll(&mut self, chan: VarRef, random: bool, height: usize) -> PResult<Parsed> {
        if !self.at(Punct::LBracket) {
            let help = "to receive, write a statement of its own; to ask whether one could, `c?[…]`; a choice of two \
                        values is written `(condition -> a : b)`";
            return Err(self.unexpected_with("`[` after `?` in an expression", Some(help.to_string())));
        }
        self.bump();
        let (args, tallest) = self.with_height(|p| p.recv_args())?;
        self.expect(Punct::RBracket, "`]`")?;
        let span = self.span_from(chan.span);
        Ok(Parsed::above(ExprKind::Poll { chan, random, args }, span, height.max(tallest)))
    }

    fn chan_question(&mut self, op: ChanOp) -> PResult<Parsed> {
        let word = self.bump().span;
        self.expect(Punct::LParen, "`(`")?;
        let (chan, height) = self.var_ref_with_height("a channel")?;
        self.expect(Punct::RParen, "`)`")?;
        let span = self.span_from(word);
        let mut parsed = Parsed::above(ExprKind::Chan(op, chan), span, height);
        if op != ChanOp::Len {
            parsed.probe = Some((op, span));
            if self.lexer.in_formula {
                self.no_probe(&parsed)?;
            }
        }
        Ok(parsed)
    }

    fn process_question(&mut self, op: ProcessOp) -> PResult<Parsed> {
        let word = self.bump().span;
        let (pid, height) = self.with_height(|p| p.parenthesised())?;
        let span = self.span_from(word);
        Ok(Parsed::above(ExprKind::Process(op, Box::new(pid)), span, height))
    }

    /// `run p(args) priority n`.
    fn run(&mut self) -> PResult<Parsed> {
        let word = self.bump().span;
        self.run_from(word)
    }

    /// The rest of `run p(args)`, from the proctype.
    pub(super) fn run_from(&mut self, word: Span) -> PResult<Parsed> {
        if !self.in_process {
            let message = "`run` can only be used inside a process";
            let help = "formulas, claims and invariants only observe: start the process in a statement";
            return Err(self.report(Diagnostic::new(Code::E0117, word, message).help(help)));
        }
        if self.at(Punct::LBracket) {
            let message = "an iterated `run` is a statement and has no value";
            return Err(self.report(Diagnostic::new(Code::E0101, word, message)));
        }
        let ((proctype, args, priority), height) = self.with_height(|p| p.run_rest())?;
        let span = self.span_from(word);
        let kind = ExprKind::Run { proctype, args, priority: priority.map(Box::new) };
        Ok(Parsed::above(kind, span, height))
    }

    /// The rest of a `run`: proctype, arguments, priority.
    pub(super) fn run_rest(&mut self) -> PResult<(Ident, Vec<Expr>, Option<Expr>)> {
        let proctype = match &self.peek().kind {
            Kind::Name(name) | Kind::ProcName(name) => {
                let name = name.clone();
                Ident { name, span: self.bump().span }
            }
            _ => return Err(self.unexpected("the name of a proctype")),
        };
        self.expect(Punct::LParen, "`(` and the arguments of this process")?;
        let args = if self.at(Punct::RParen) {
            Vec::new()
        } else {
            self.nested(Nesting::Expressions, |p| p.args())?
        };
        self.expect(Punct::RParen, "`,` or `)`")?;
        let priority = self.opt_priority()?;
        Ok((proctype, args, priority))
    }

    /// `priority N`, if there is one.
    pub(super) fn opt_priority(&mut self) -> PResult<Option<Expr>> {
        if !self.at_key(Keyword::Priority) {
            return Ok(None);
        }
        self.bump();
        self.expect_constant("a constant priority").map(Some)
    }

    /// One or more expressions between commas.
    pub(super) fn args(&mut self) -> PResult<Vec<Expr>> {
        let mut args = vec![self.expr()?];
        while self.eat(Punct::Comma) {
            args.push(self.expr()?);
        }
        Ok(args)
    }

    /// `p[e]@label`, `p@label`, `p[e]:x`, `p:x`.
    fn remote(&mut self) -> PResult<Parsed> {
        let Tok { kind: Kind::ProcName(name), span, .. } = self.bump() else { return Err(Reported) };
        let proctype = Ident { name, span };
        let mut pid = None;
        let mut height = 1;
        if self.eat(Punct::LBracket) {
            let parsed = self.nested(Nesting::Expressions, |p| p.binary_expr(0))?;
            self.no_probe(&parsed)?;
            height = parsed.height;
            self.expect(Punct::RBracket, "`]`")?;
            pid = Some(Box::new(parsed.expr));
        }
        self.remote_from(proctype, pid, height)
    }

    /// The rest of a remote reference, from `@` or `:`.
    pub(super) fn remote_from(
        &mut self,
        proctype: Ident,
        pid: Option<Box<Expr>>,
        mut height: usize,
    ) -> PResult<Parsed> {
        let start = proctype.span;
        let kind = if self.eat(Punct::At) {
            let label = self.expect_name("a label")?;
            ExprKind::RemoteLabel { proctype, pid, label }
        } else if self.eat(Punct::Colon) {
            let name = self.expect_name("a variable of that process")?;
            let part = self.ref_part(name, &mut height)?;
            let var = VarRef { span: self.span_from(part.name.span), parts: vec![part] };
            ExprKind::RemoteVar { proctype, pid, var }
        } else {
            return Err(
                self.unexpected("`@` and a label, or `:` and a variable, after the name of a proctype")
            );
        };
        let span = self.span_from(start);
        Ok(Parsed::above(kind, span, height))
    }

    /// `c_code`, `c_expr` and the like with the braced text that follows.
    pub(super) fn embedded_c(&mut self) -> PResult<EmbeddedC> {
        let tok = self.bump();
        let name = match tok.kind {
            Kind::Key(k) => k.text().into(),
            _ => "c_code".into(),
        };
        if !matches!(self.peek().kind, Kind::CBlock(_)) {
            return Err(self.unexpected("C text in braces"));
        }
        let block = self.bump();
        let Kind::CBlock(text) = block.kind else { return Err(self.unexpected("C text in braces")) };
        let (precondition, body) = c_parts(&text);
        let text_span = block.span;
        let keyword = Ident { name, span: tok.span };
        Ok(EmbeddedC { keyword, precondition, text: body, text_span, strings: Vec::new() })
    }
}

/// The text between the brackets in front, if there are any, and that between the braces, in front of which
/// stand as many ends of lines as were in what precedes it.
fn c_parts(text: &str) -> (Option<String>, String) {
    let inside = |text: &str| text.get(1..text.len().saturating_sub(1)).unwrap_or_default().to_string();
    let mut depth = 0usize;
    let end = text.find('[').filter(|&at| at == 0).and_then(|_| {
        text.char_indices().find_map(|(at, c)| {
            depth = match c {
                '[' => depth + 1,
                ']' => depth.saturating_sub(1),
                _ => depth,
            };
            (depth == 0).then_some(at)
        })
    });
    let Some(end) = end else { return (None, inside(text)) };
    let (precondition, rest) = text.split_at(end + 1);
    let body = rest.trim_start();
    let lines = text[..text.len() - body.len()].matches('\n').count();
    (Some(inside(precondition)), "\n".repeat(lines) + &inside(body))
}

/// How a question about a channel is written.
trait Written {
    fn text(self) -> &'static str;
}

impl Written for ChanOp {
    fn text(self) -> &'static str {
        match self {
            ChanOp::Len => "len",
            ChanOp::Full => "full",
            ChanOp::Empty => "empty",
            ChanOp::Nfull => "nfull",
            ChanOp::Nempty => "nempty",
        }
    }
}
