//! What has no meaning with store buffers, or none that was thought through: refused, each with its reason.

use super::flow::Flow;
use super::{MAX_BOUND, Settings};
use promela::ir::{Action, ExprKind, Proctype, Program, StateFormula, StepFilter, visit};
use promela::source::Span;

/// Why a program cannot have store buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The reason.
    pub message: String,
    /// What to do about it.
    pub repair: String,
    /// Where, if that is one place.
    pub span: Option<Span>,
}

fn refused(message: impl Into<String>, repair: &str, span: Option<Span>) -> Refused {
    Refused { message: message.into(), repair: repair.to_string(), span }
}

/// What concerns the program as a whole.
pub(super) fn program(program: &Program, settings: &Settings) -> Result<(), Refused> {
    if !(1..=MAX_BOUND).contains(&settings.bound) {
        return Err(refused(
            format!("--memory-bound {} is not within 1..{MAX_BOUND}", settings.bound),
            "two entries show most errors; exact verdicts may need more",
            None,
        ));
    }
    for name in &settings.plain {
        if name != "none" && !program.globals.iter().any(|var| var.name == *name) {
            return Err(refused(
                format!("--plain {name}: the model has no global variable of that name"),
                "name global variables of the model, with commas between them",
                None,
            ));
        }
    }
    if let Some(span) = program.embedded.first() {
        let message = "--memory tso and pso do not know what embedded C stores";
        return Err(refused(message, "check this model with --memory sc", Some(span)));
    }
    let uses = program.uses;
    for (used, what) in [(uses.priority, "priorities"), (uses.last, "`_last`"), (uses.enabled, "`enabled()`")]
    {
        if used {
            return Err(refused(
                format!(
                    "--memory tso and pso do not know {what}: a store that reaches memory is a step of nobody"
                ),
                "check this model with --memory sc",
                None,
            ));
        }
    }
    let mut pc_value = None;
    visit::walk_program(program, |_, e| {
        if matches!(e.kind, ExprKind::PcValue(_)) {
            pc_value = Some(e.span);
        }
    });
    if pc_value.is_some() {
        let message = "--memory tso and pso do not know `pc_value()`: locations are not those of the text";
        return Err(refused(message, "use remote references to labels instead", pc_value));
    }
    for property in &program.state_properties {
        if has_filter(&property.formula) {
            return Err(refused(
                format!(
                    "{} asks who takes a step, and a store that reaches memory is a step of nobody",
                    property.name
                ),
                "check this formula with --memory sc",
                Some(property.span),
            ));
        }
    }
    Ok(())
}

fn has_filter(formula: &StateFormula) -> bool {
    match formula {
        StateFormula::Modal(_, filter, a) => *filter != StepFilter::default() || has_filter(a),
        StateFormula::Prop(_) | StateFormula::Stuck | StateFormula::Deadlock | StateFormula::Variable(_) => {
            false
        }
        StateFormula::Not(a) | StateFormula::Mu(_, a) | StateFormula::Nu(_, a) => has_filter(a),
        StateFormula::And(a, b)
        | StateFormula::Or(a, b)
        | StateFormula::Implies(a, b)
        | StateFormula::Equiv(a, b) => has_filter(a) || has_filter(b),
        StateFormula::Path(_, _, operands) => operands.iter().any(has_filter),
    }
}

/// What concerns a proctype that has a buffer.
pub(super) fn proctype(_: &Program, proctype: &Proctype, flow: &Flow) -> Result<(), Refused> {
    let name = &proctype.name;
    if proctype.provided.is_some() {
        return Err(refused(
            format!("`{name}` has a provided clause, which would also keep its stores from reaching memory"),
            "write the clause as conditions of the statements",
            Some(proctype.span),
        ));
    }
    if proctype.deterministic {
        return Err(refused(
            format!("`{name}` is a D_proctype, but when its stores reach memory is not determined"),
            "declare it with proctype",
            Some(proctype.span),
        ));
    }
    for (at, location) in proctype.locations.iter().enumerate() {
        let edges = || location.edges.iter().map(|&id| proctype.edge(id));
        let escapes = edges().any(|edge| edge.escape.is_some());
        let other = edges().find(|edge| matches!(edge.action, Action::Else));
        if let (true, true, Some(other)) = (flow.may_hold(at), escapes, other) {
            return Err(refused(
                "an `else` under `unless` cannot be told apart from a store that reaches memory",
                "write the opposite of the other options instead of `else`",
                Some(other.span),
            ));
        }
    }
    Ok(())
}

/// The most locations of a proctype: what machines and reductions still handle with ease.
const MAX_SIZE: usize = 400_000;

pub(super) fn size(locations: usize) -> Result<(), Refused> {
    if locations <= MAX_SIZE {
        return Ok(());
    }
    Err(refused(
        format!("with store buffers a proctype has {locations} locations, more than {MAX_SIZE}"),
        "name large arrays that need not be buffered with --plain, or make them smaller",
        None,
    ))
}
