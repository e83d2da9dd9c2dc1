//! Formulas of `ctl` and `mu` blocks from text.

use super::*;

impl Reader<'_> {
    pub(super) fn state_property(&mut self, logic: Logic) -> Read<StateProperty> {
        let (name, span, text) = self.property(logic.word())?;
        Ok(StateProperty { logic, name, formula: self.state_formula()?, text, span })
    }

    fn state_formula(&mut self) -> Read<StateFormula> {
        use StateFormula as F;
        if let Some(word) = self.peek_word() {
            let formula = match (word, numbered(word, "z")) {
                ("stuck", _) => F::Stuck,
                ("deadlock", _) => F::Deadlock,
                (_, Some(number)) => F::Variable(number),
                _ => return self.expected("a formula"),
            };
            self.advance()?;
            return Ok(formula);
        }
        self.nested(|r| {
            r.punct("(")?;
            let Some(word) = r.peek_word() else { return r.expected("an operator") };
            let at = r.at;
            r.advance()?;
            let formula = match word {
                "prop" => F::Prop(r.expr()?),
                "not" => F::Not(r.boxed_state_formula()?),
                "and" => F::And(r.boxed_state_formula()?, r.boxed_state_formula()?),
                "or" => F::Or(r.boxed_state_formula()?, r.boxed_state_formula()?),
                "implies" => F::Implies(r.boxed_state_formula()?, r.boxed_state_formula()?),
                "equiv" => F::Equiv(r.boxed_state_formula()?, r.boxed_state_formula()?),
                "box" => F::Modal(Quantifier::All, r.step_filter()?, r.boxed_state_formula()?),
                "diamond" => F::Modal(Quantifier::Some, r.step_filter()?, r.boxed_state_formula()?),
                "mu" => F::Mu(r.numbered("z")?, r.boxed_state_formula()?),
                "nu" => F::Nu(r.numbered("z")?, r.boxed_state_formula()?),
                _ => match path_operator(word) {
                    Some((quantifier, op)) => {
                        let mut operands = vec![r.state_formula()?];
                        if op.is_binary() {
                            operands.push(r.state_formula()?);
                        }
                        F::Path(quantifier, op, operands)
                    }
                    None => return error_at(at, format!("unknown operator `{word}`")),
                },
            };
            r.punct(")")?;
            Ok(formula)
        })
    }

    fn boxed_state_formula(&mut self) -> Read<Box<StateFormula>> {
        self.state_formula().map(Box::new)
    }

    fn step_filter(&mut self) -> Read<StepFilter> {
        let mut filter = StepFilter::default();
        while let Some(word) = self.peek_word() {
            if let Some(id) = numbered(word, "proctype") {
                filter.proctype = Some(ProctypeId(id));
            } else if let Some(pid) = numbered(word, "pid") {
                filter.pid = Some(pid);
            } else if let Some(location) = numbered(word, "L") {
                filter.at = Some(LocId(location));
            } else {
                break;
            }
            self.advance()?;
        }
        Ok(filter)
    }
}

/// `AX`, `EU` …
fn path_operator(word: &str) -> Option<(Quantifier, PathOp)> {
    let (quantifier, letter) = match word.as_bytes().first()? {
        b'A' => (Quantifier::All, word.get(1..)?),
        b'E' => (Quantifier::Some, word.get(1..)?),
        _ => return None,
    };
    Some((quantifier, PathOp::ALL.into_iter().find(|op| op.letter() == letter)?))
}
