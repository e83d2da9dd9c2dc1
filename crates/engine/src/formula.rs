//! From the formula of an `ltl` block to a formula over numbered propositions: where the language meets the
//! logic.
//!
//! Propositions are arbitrary Promela expressions. Equal ones share a number, and so do a comparison and its
//! opposite. A search evaluates all propositions in every state; so where evaluating an operand may fail (an
//! index, a division, a process that may not exist), the whole Boolean part around it is one proposition, in
//! which `&&` and `||` shield their right operands as in Promela.

use crate::failure::Failure;
use crate::propositions::{Propositions, and, equivalent, implies, not, or};
use ltl::Formula;
use promela::ir::{self, BinaryOp, Expr, ExprKind, UnaryOp, visit};
use promela::source::SourceMap;

/// A formula, and what its propositions mean: `Prop(i)` holds where `propositions[i]` is not 0.
#[derive(Clone, Debug)]
pub struct Formulated {
    /// The formula.
    pub formula: Formula,
    /// Its propositions.
    pub propositions: Vec<Expr>,
    /// Which of them were written as their opposite, as `x != 1` for `x == 1`.
    written_as_opposite: Vec<bool>,
}

/// A proposition as its author wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The text.
    pub text: String,
    /// The text holds where the proposition does not.
    pub opposite: bool,
}

impl Written {
    /// An expression of the model.
    pub fn of(expr: &Expr, sources: &SourceMap) -> Self {
        let text = sources.text(sources.site(expr.span));
        Written { text: text.split_whitespace().collect::<Vec<&str>>().join(" "), opposite: false }
    }

    /// Which of them hold, by the values of the propositions, the first in the lowest bit.
    pub fn holding(all: &[Written], values: u64) -> Vec<bool> {
        let holds = |(i, written): (usize, &Written)| (values >> i & 1 == 1) != written.opposite;
        all.iter().enumerate().map(holds).collect()
    }
}

impl Formulated {
    /// The propositions as they were written.
    pub fn written(&self, sources: &SourceMap) -> Vec<Written> {
        let opposites = self.written_as_opposite.iter();
        let with = |(expr, &opposite)| Written { opposite, ..Written::of(expr, sources) };
        self.propositions.iter().zip(opposites).map(with).collect()
    }

    /// A formula over the same propositions, in the words of the model.
    pub fn shown(&self, formula: &Formula, sources: &SourceMap) -> String {
        let written = self.written(sources);
        let name = |p: u32| match &written[p as usize] {
            Written { text, opposite: true } => format!("!({text})"),
            Written { text, opposite: false } => text.clone(),
        };
        formula.with_names(name).to_string().replace("!!(", "(")
    }
}

/// The number of propositions that fit into a valuation.
const MAX_PROPOSITIONS: usize = 64;

/// Numbers the propositions of a formula.
pub fn formulate(formula: &ir::Formula) -> Result<Formulated, Failure> {
    let fine = Numbering::of(formula, false);
    if fine.propositions.len() <= MAX_PROPOSITIONS {
        return Ok(fine);
    }
    // Boolean parts as one proposition each are fewer.
    let coarse = Numbering::of(formula, true);
    if coarse.propositions.len() <= MAX_PROPOSITIONS {
        return Ok(coarse);
    }
    let n = coarse.propositions.len();
    Err(Failure::refused_with(
        format!(
            "the formula has {n} different propositions under temporal operators, more than {MAX_PROPOSITIONS}"
        ),
        "split it into several ltl blocks: a conjunction holds when each of its parts does".to_string(),
    ))
}

struct Numbering {
    coarse: bool,
    propositions: Propositions,
    written_as_opposite: Vec<bool>,
}

impl Numbering {
    fn of(formula: &ir::Formula, coarse: bool) -> Formulated {
        let (propositions, written_as_opposite) = (Propositions::default(), Vec::new());
        let mut numbering = Numbering { coarse, propositions, written_as_opposite };
        let formula = numbering.formula(formula);
        let Numbering { propositions, written_as_opposite, .. } = numbering;
        Formulated { formula, propositions: propositions.list, written_as_opposite }
    }

    fn formula(&mut self, formula: &ir::Formula) -> Formula {
        use ir::Formula as F;
        if !matches!(formula, F::Prop(_) | F::Not(_))
            && (self.coarse || may_fail(formula))
            && let Some(expr) = boolean(formula)
        {
            return self.proposition(&expr);
        }
        let unary = |s: &mut Self, a: &F| Box::new(s.formula(a));
        let binary = |s: &mut Self, a: &F, b: &F, make: fn(Box<Formula>, Box<Formula>) -> Formula| {
            let a = Box::new(s.formula(a));
            make(a, Box::new(s.formula(b)))
        };
        match formula {
            F::Prop(e) => self.proposition(e),
            F::Not(a) => Formula::Not(unary(self, a)),
            F::Next(a) => Formula::Next(unary(self, a)),
            F::Always(a) => Formula::Always(unary(self, a)),
            F::Eventually(a) => Formula::Eventually(unary(self, a)),
            F::And(a, b) => binary(self, a, b, Formula::And),
            F::Or(a, b) => binary(self, a, b, Formula::Or),
            F::Implies(a, b) => binary(self, a, b, Formula::Implies),
            F::Equiv(a, b) => binary(self, a, b, Formula::Equiv),
            F::Until(a, b) => binary(self, a, b, Formula::Until),
            F::WeakUntil(a, b) => binary(self, a, b, Formula::WeakUntil),
            F::Release(a, b) => binary(self, a, b, Formula::Release),
        }
    }

    fn proposition(&mut self, e: &Expr) -> Formula {
        match &e.kind {
            ExprKind::Const(0) => return Formula::False,
            ExprKind::Const(_) => return Formula::True,
            ExprKind::Unary(UnaryOp::Not, a) => return Formula::Not(Box::new(self.proposition(a))),
            ExprKind::Binary(op, a, b) => {
                if let Some(opposite) = opposite(*op) {
                    let kind = ExprKind::Binary(opposite, a.clone(), b.clone());
                    return Formula::Not(Box::new(self.number(&Expr { kind, span: e.span }, true)));
                }
            }
            _ => {}
        }
        self.number(e, false)
    }

    fn number(&mut self, e: &Expr, opposite: bool) -> Formula {
        let (number, is_new) = self.propositions.number(e);
        if is_new {
            self.written_as_opposite.push(opposite);
        }
        Formula::Prop(number)
    }
}

/// Of a comparison and its opposite one is numbered.
fn opposite(op: BinaryOp) -> Option<BinaryOp> {
    match op {
        BinaryOp::Ne => Some(BinaryOp::Eq),
        BinaryOp::Ge => Some(BinaryOp::Lt),
        BinaryOp::Gt => Some(BinaryOp::Le),
        _ => None,
    }
}

/// Whether evaluating some proposition may fail.
fn may_fail(formula: &ir::Formula) -> bool {
    let mut found = false;
    visit::walk_formula(formula, &mut |e| found |= machine::interp::may_fail(e));
    found
}

/// The formula as one expression, if it has no temporal operator.
fn boolean(formula: &ir::Formula) -> Option<Expr> {
    use ir::Formula as F;
    Some(match formula {
        F::Prop(e) => e.clone(),
        F::Not(a) => not(boolean(a)?),
        F::And(a, b) => and(boolean(a)?, boolean(b)?),
        F::Or(a, b) => or(boolean(a)?, boolean(b)?),
        F::Implies(a, b) => implies(boolean(a)?, boolean(b)?),
        F::Equiv(a, b) => equivalent(boolean(a)?, boolean(b)?),
        F::Next(_) | F::Always(_) | F::Eventually(_) => return None,
        F::Until(..) | F::WeakUntil(..) | F::Release(..) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Source;
    use crate::session::Session;
    use promela::ir::print::print_expr;
    use promela::source::Files;

    struct Text(String);

    impl Files for Text {
        fn read(&self, _: &str) -> Result<String, String> {
            Ok(self.0.clone())
        }
    }

    fn formulated(formula: &str) -> Result<(String, Vec<String>), Failure> {
        let model = format!(
            "byte x, y; byte a[3]; chan c = [1] of {{ byte }};
             active proctype p() {{ byte z; l: x = z }} ltl {{ {formula} }}"
        );
        let source = Source { path: "m.pml".to_string(), ..Source::default() };
        let session = Session::load(&source, &Text(model), &stop::Stop::never())?;
        assert!(session.program.is_some(), "{formula}: {:?}", session.notices);
        let made = formulate(&session.program()?.ltl[0].formula)?;
        Ok((made.formula.to_string(), made.propositions.iter().map(print_expr).collect()))
    }

    fn formula(text: &str) -> String {
        formulated(text).unwrap().0
    }

    #[test]
    fn equal_propositions_share_a_number() {
        let made = formulated("[] (x == 1 -> <> (y > 2 U x != 1)) && <> (y <= 2)").unwrap();
        assert_eq!(made.0, "[] (p0 -> <> (!p1 U !p0)) && <> p1");
        assert_eq!(made.1, ["(eq g0:byte 1)", "(le g1:byte 2)"]);
        assert_eq!(formula("[] true && <> !0"), "[] true && <> !false");
    }

    #[test]
    fn the_whole_syntax() {
        let signs = "[] x && <> y || x U y -> x W y <-> (x V y) && X !x";
        let words =
            "always x && eventually y || x until y implies x weakuntil y equivalent (x release y) && next !x";
        assert_eq!(formula(signs), formula(words));
        assert_eq!(formula(signs), "((([] p0 && <> p1) || (p0 U p1)) -> (p0 W p1)) <-> ((p0 V p1) && X !p0)");
        assert_eq!(formula("x R y"), formula("x V y"));
        assert_eq!(formula("x stronguntil y"), formula("x U y"));
        let remote = formulated("[] (p@l -> <> (p[0]@l && p:z == 1))").unwrap();
        assert_eq!(remote.0, "[] (p0 -> <> p1)");
    }

    #[test]
    fn operands_that_may_fail_stay_shielded() {
        assert_eq!(formulated("[] (x < 3 && a[x] == 1)").unwrap().1.len(), 1);
        assert_eq!(formula("[] (x < 3 && a[1] == 1)"), "[] (p0 && p1)");
        assert_eq!(formula("[] (y == 0 || <> (x / y == 1))"), "[] (p0 || <> p1)");
        let shielded = formulated("<> (y == 0 <-> x / y == 1) -> [] (y != 0 -> len(c) == 1)").unwrap();
        assert_eq!(shielded.0, "<> p0 -> [] p1");
        assert_eq!(shielded.1[0], "(eq (not (eq g1:byte 0)) (not (eq (div g0:byte g1:byte) 1)))");
        assert!(shielded.1[1].starts_with("(or (not (ne g1:byte 0))"), "{shielded:?}");
    }

    #[test]
    fn very_many_propositions() {
        let parts = |n: usize, one: &dyn Fn(usize) -> String, sign: &str| {
            (0..n).map(one).collect::<Vec<String>>().join(sign)
        };
        let boolean = parts(100, &|i| format!("x == {i}"), " || ");
        assert_eq!(formula(&format!("[] ({boolean})")), "[] p0");
        let temporal = parts(65, &|i| format!("<> (x == {i})"), " && ");
        let Err(Failure::Refused { message, repair }) = formulated(&temporal) else { panic!() };
        assert!(message.contains("65 different propositions"), "{message}");
        assert!(repair.unwrap().contains("several ltl blocks"));
    }
}
