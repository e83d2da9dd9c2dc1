//! Formulas of `ctl` and `mu` blocks as text: `(AU a b)`, `(box proctype1 pid2 a)`, `(mu z0 a)`, `z0`.

use super::*;

impl Printer {
    pub(super) fn state_formula(&mut self, formula: &StateFormula) {
        use StateFormula as F;
        let quantified = |quantifier: &Quantifier, all: &'static str, some: &'static str| match quantifier {
            Quantifier::All => all,
            Quantifier::Some => some,
        };
        match formula {
            F::Prop(expr) => self.nested(|p| {
                p.call("(prop", [expr]);
                p.word(")");
            }),
            F::Stuck => self.word("stuck"),
            F::Deadlock => self.word("deadlock"),
            F::Variable(number) => self.word(&format!("z{number}")),
            F::Not(a) => self.operator("not", [&**a]),
            F::And(a, b) => self.operator("and", [&**a, b]),
            F::Or(a, b) => self.operator("or", [&**a, b]),
            F::Implies(a, b) => self.operator("implies", [&**a, b]),
            F::Equiv(a, b) => self.operator("equiv", [&**a, b]),
            F::Path(quantifier, op, operands) => {
                self.operator(&format!("{}{}", quantified(quantifier, "A", "E"), op.letter()), operands);
            }
            F::Modal(quantifier, filter, a) => {
                let word = quantified(quantifier, "box", "diamond");
                self.operator(&format!("{word}{}", filter_words(filter)), [&**a]);
            }
            F::Mu(number, a) => self.operator(&format!("mu z{number}"), [&**a]),
            F::Nu(number, a) => self.operator(&format!("nu z{number}"), [&**a]),
        }
    }

    fn operator<'a>(&mut self, word: &str, operands: impl IntoIterator<Item = &'a StateFormula>) {
        self.nested(|p| {
            p.word("(");
            p.word(word);
            for operand in operands {
                p.word(" ");
                p.state_formula(operand);
            }
            p.word(")");
        });
    }
}

/// The words that restrict a modality.
fn filter_words(filter: &StepFilter) -> String {
    let proctype = filter.proctype.map_or_else(String::new, |id| format!(" proctype{}", id.0));
    let pid = filter.pid.map_or_else(String::new, |pid| format!(" pid{pid}"));
    let at = filter.at.map_or_else(String::new, |location| format!(" L{}", location.0));
    format!("{proctype}{pid}{at}")
}
