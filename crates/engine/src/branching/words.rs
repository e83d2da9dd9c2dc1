//! What a counterexample leaves open, and why a formula fails, in words.

use super::question::Questions;
use crate::report_text::{grouped, plural};
use graph::witness::{Open, Prover, Witness};
use mu::Formula;

/// Lines of a proof that are shown.
const MOST_LINES: usize = 24;

/// What the run does not show by itself; `None` where it shows everything. `steps`: the actions up to each
/// position.
pub fn reason(witness: &Witness, questions: &Questions, ends: &[usize], n_states: usize) -> Option<String> {
    if witness.open.is_empty() {
        return None;
    }
    let position = |open: &Open| match open.at.checked_sub(1).and_then(|at| ends.get(at)) {
        None => "in the initial state".to_string(),
        Some(steps) => format!("after {}", plural(*steps as u64, "step")),
    };
    let told = |open: &Open| {
        let formula = open.formula.shown(questions);
        let verb = if open.holds { "holds" } else { "fails" };
        match open.along {
            true => format!("from there on, `{formula}` {verb} in each state"),
            false => format!("{}, `{formula}` {verb}", position(open)),
        }
    };
    let parts: Vec<String> = witness.open.iter().map(told).collect();
    let n = grouped(n_states as u64);
    Some(format!("{}; that is known from all {n} states, and no single run can show it", parts.join("; ")))
}

/// The formula with its parts, and for each whether it holds in the initial state and in how many states.
pub fn proof(formula: &Formula, questions: &Questions, prover: &mut Prover<'_, '_>) -> Vec<String> {
    let mut lines = Vec::new();
    describe(formula, questions, prover, 0, &mut lines);
    let more = lines.len().saturating_sub(MOST_LINES);
    lines.truncate(MOST_LINES);
    if more > 0 {
        lines.push(format!("… {more} more"));
    }
    lines
}

fn describe(
    formula: &Formula,
    questions: &Questions,
    prover: &mut Prover<'_, '_>,
    depth: usize,
    lines: &mut Vec<String>,
) {
    let (holds, fails) = (prover.certainly(formula, true), prover.certainly(formula, false));
    let here = match (holds.has(0), fails.has(0)) {
        (true, _) => "holds",
        (_, true) => "fails",
        _ => "is unknown",
    };
    let shown = formula.shown(questions).to_string();
    let (count, n) = (grouped(holds.count() as u64), grouped(holds.len() as u64));
    lines.push(format!(
        "{}`{shown}` {here} initially, and holds in {count} of {n} states",
        "  ".repeat(depth)
    ));
    if formula.is_boolean() || lines.len() > 2 * MOST_LINES {
        return;
    }
    for part in formula.parts() {
        describe(&part, questions, prover, depth + 1, lines);
    }
}
