//! Rules about formulas of `ctl` and `mu` blocks: a variable stands inside the fixpoint that binds it, and a
//! modality names proctypes and locations that exist.

use super::*;

impl Verifier<'_> {
    pub(super) fn state_formula(&mut self, formula: &StateFormula, depth: usize, bound: &mut Vec<u32>) {
        use StateFormula as F;
        if depth > MAX_NESTING {
            return self.fail(format!("nested more than {MAX_NESTING} deep"));
        }
        match formula {
            F::Prop(expr) => {
                let runs = self.expr(expr, None, depth + 1);
                self.check(runs == 0, || "`run` is not allowed here".to_owned());
            }
            F::Stuck | F::Deadlock => {}
            F::Variable(number) => {
                self.check(bound.contains(number), || format!("z{number} is not bound"));
            }
            F::Not(a) => self.state_formula(a, depth + 1, bound),
            F::And(a, b) | F::Or(a, b) | F::Implies(a, b) | F::Equiv(a, b) => {
                self.state_formula(a, depth + 1, bound);
                self.state_formula(b, depth + 1, bound);
            }
            F::Path(_, op, operands) => {
                let wanted = if op.is_binary() { 2 } else { 1 };
                self.check(operands.len() == wanted, || format!("{} has {wanted} operands", op.letter()));
                operands.iter().for_each(|a| self.state_formula(a, depth + 1, bound));
            }
            F::Modal(_, filter, a) => {
                self.step_filter(filter);
                self.state_formula(a, depth + 1, bound);
            }
            F::Mu(number, a) | F::Nu(number, a) => {
                self.check(!bound.contains(number), || format!("z{number} is bound twice"));
                bound.push(*number);
                self.state_formula(a, depth + 1, bound);
                bound.pop();
            }
        }
    }

    fn step_filter(&mut self, filter: &StepFilter) {
        let proctype = filter.proctype.and_then(|id| self.proctype(id));
        match (filter.at, proctype) {
            (Some(location), Some(proctype)) => {
                self.location_exists(proctype, location, "the location of a modality");
            }
            (Some(_), None) => self.fail("a modality has a location without a proctype"),
            (None, _) => {}
        }
    }
}
