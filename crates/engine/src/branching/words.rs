//! What a counterexample leaves open, and why a formula fails, in words.

use super::answer::Answered;
use super::question::Questions;
use crate::report_text::{many, plural};
use mu::Truth;
use mu::witness::{Open, ProofLine};
use symbolic::Demonstration;

/// Lines of a proof that are shown.
const MOST_LINES: usize = 24;

/// What the run does not show by itself; `None` where it shows everything.
pub fn reason(run: &Demonstration, questions: &Questions, answered: &Answered) -> Option<String> {
    if run.open.is_empty() {
        return None;
    }
    let position = |open: &Open| match open.at.checked_sub(1).and_then(|at| run.ends.get(at)) {
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
    let parts: Vec<String> = run.open.iter().map(told).collect();
    let n = many(&answered.states);
    Some(format!("{}; that is known from all {n} states, and no single run can show it", parts.join("; ")))
}

/// The formula with its parts, and for each whether it holds in the initial state and in how many states.
pub fn proof(answered: &Answered, questions: &Questions) -> Vec<String> {
    let line = |line: &ProofLine| {
        let here = match line.initially {
            Truth::True => "holds",
            Truth::False => "fails",
            Truth::Unknown => "is unknown",
        };
        let (count, n) = (many(&line.satisfied), many(&answered.states));
        let (indent, shown) = ("  ".repeat(line.depth), line.formula.shown(questions));
        format!("{indent}`{shown}` {here} initially, and holds in {count} of {n} states")
    };
    let mut lines: Vec<String> = answered.proof.iter().take(MOST_LINES).map(line).collect();
    let more = answered.proof.len() - lines.len();
    if more > 0 {
        lines.push(format!("… {more} more"));
    }
    lines
}
