//! From the formula of a `ctl` or `mu` block to a formula over numbered propositions and sets of steps.
//!
//! A part without temporal operators is one proposition: it is evaluated as Promela does, with `&&` and `||`
//! that shield their right operands, and does not hold where it cannot be evaluated.

use crate::failure::Failure;
use crate::propositions::{Propositions, and, equivalent, implies, not, or};
use crate::session::Session;
use mu::formula::{Names, Quantifier};
use mu::{Atom, Formula, Steps};
use promela::ir::{self, Expr, ExprKind, Logic, PathOp, Program, StateFormula, StateProperty, StepFilter};
use promela::source::SourceMap;
use std::sync::Arc;
use system::{Fault, FaultKind};

/// A property of branching time.
#[derive(Clone, Debug)]
pub struct Question {
    /// As `--property` names it.
    pub name: String,
    /// Its logic.
    pub logic: Logic,
    /// The formula.
    pub formula: Formula,
    /// As written.
    pub text: String,
    /// What is said where it fails.
    pub fault: Fault,
}

/// Some properties, and the propositions and sets of steps that they are about.
#[derive(Clone, Debug, Default)]
pub struct Questions {
    /// By property.
    pub list: Vec<Question>,
    /// The propositions.
    pub propositions: Propositions,
    /// Sets of steps, by number.
    pub filters: Vec<StepFilter>,
    /// The text of each proposition and of each filter.
    words: Vec<String>,
    filter_words: Vec<String>,
}

impl Question {
    /// What a run shows: that the formula holds, or that it fails.
    pub fn told(&self, holds: bool) -> Fault {
        match holds {
            false => self.fault.clone(),
            true => {
                let message = format!("`{}` holds in the initial state", self.text);
                Fault { kind: FaultKind::Witness, message, ..self.fault.clone() }
            }
        }
    }
}

/// Propositions that a machine tells at a time.
pub const TOGETHER: usize = 64;
/// The most sets of steps: a step has a bit for each.
const MOST_FILTERS: usize = 64;

impl Questions {
    /// Adds the property with this name, such as `ctl:live`.
    pub fn add(&mut self, session: &Session, name: &str) -> Result<(), Failure> {
        let program = session.program()?;
        let Some(property) = find(program, name) else {
            return Err(Failure::refused(format!("there is no property {name} in this model")));
        };
        let formula = self.formula(&property.formula, program, &session.sources);
        if self.filters.len() > MOST_FILTERS {
            let message = format!("the formulas name more than {MOST_FILTERS} different sets of steps");
            return Err(Failure::refused_with(message, "check them one after another, with --property"));
        }
        let text = property.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let place = session.sources.location(property.span);
        let fault = Fault {
            kind: FaultKind::Formula,
            message: format!("`{text}` fails in the initial state"),
            file: place.file,
            line: place.line,
            column: place.column,
            process: None,
            pid: None,
        };
        self.list.push(Question { name: name.to_string(), logic: property.logic, formula, text, fault });
        Ok(())
    }

    /// The propositions in sets that a machine tells at a time.
    pub fn sets(&self) -> Vec<Vec<Expr>> {
        self.propositions.list.chunks(TOGETHER).map(<[Expr]>::to_vec).collect()
    }

    fn formula(&mut self, formula: &StateFormula, program: &Program, sources: &SourceMap) -> Formula {
        use StateFormula as F;
        if let Some(expr) = boolean(formula) {
            return self.proposition(&expr, sources);
        }
        let one = |s: &mut Self, a: &F| Box::new(s.formula(a, program, sources));
        let quantifier = |quantifier: &ir::Quantifier| match quantifier {
            ir::Quantifier::All => Quantifier::All,
            ir::Quantifier::Some => Quantifier::Some,
        };
        match formula {
            F::Prop(expr) => self.proposition(expr, sources),
            F::Stuck => Formula::stuck(),
            F::Deadlock => Formula::deadlock(),
            F::Not(a) => Formula::Not(one(self, a)),
            F::And(a, b) => Formula::And(one(self, a), one(self, b)),
            F::Or(a, b) => Formula::Or(one(self, a), one(self, b)),
            F::Implies(a, b) => Formula::Implies(one(self, a), one(self, b)),
            F::Equiv(a, b) => Formula::Equiv(one(self, a), one(self, b)),
            F::Path(q, op, operands) => {
                let q = quantifier(q);
                let mut operands = operands.iter().map(|a| one(self, a)).collect::<Vec<_>>().into_iter();
                let mut next = || operands.next().unwrap_or_else(|| Box::new(Formula::TRUE));
                let first = next();
                match op {
                    PathOp::Next => Formula::Next(q, first),
                    PathOp::Finally => Formula::Finally(q, first),
                    PathOp::Globally => Formula::Globally(q, first),
                    PathOp::Until => Formula::Until(q, first, next()),
                    PathOp::WeakUntil => Formula::WeakUntil(q, first, next()),
                    PathOp::Release => Formula::Release(q, first, next()),
                }
            }
            F::Modal(q, filter, a) => {
                let (steps, body) = (self.steps(filter, program), one(self, a));
                let enabled = Formula::Atom(Atom::Enabled(steps));
                match (quantifier(q), *body == Formula::TRUE, *body == Formula::TRUE.negated()) {
                    // Whether a step is possible is seen in the state itself.
                    (Quantifier::Some, true, _) => enabled,
                    (Quantifier::All, _, true) => enabled.negated(),
                    (q, ..) => Formula::Modal(q, steps, body),
                }
            }
            F::Mu(z, a) => Formula::Mu(*z, one(self, a)),
            F::Nu(z, a) => Formula::Nu(*z, one(self, a)),
            F::Variable(z) => Formula::Variable(*z),
        }
    }

    fn proposition(&mut self, expr: &Expr, sources: &SourceMap) -> Formula {
        match &expr.kind {
            ExprKind::Const(0) => return Formula::TRUE.negated(),
            ExprKind::Const(_) => return Formula::TRUE,
            _ => {}
        }
        let (number, is_new) = self.propositions.number(expr);
        if is_new {
            let written = sources.text(sources.site(expr.span));
            self.words.push(written.split_whitespace().collect::<Vec<&str>>().join(" "));
        }
        Formula::Atom(Atom::Proposition(number))
    }

    fn steps(&mut self, filter: &StepFilter, program: &Program) -> Steps {
        if *filter == StepFilter::default() {
            return Steps::All;
        }
        let known = self.filters.iter().position(|other| other == filter);
        let number = known.unwrap_or_else(|| {
            self.filters.push(*filter);
            self.filter_words.push(filter_text(filter, program));
            self.filters.len() - 1
        });
        Steps::Filter(number as u32)
    }
}

impl Names for Questions {
    fn proposition(&self, number: u32) -> String {
        self.words[number as usize].clone()
    }

    fn steps(&self, number: u32) -> String {
        self.filter_words[number as usize].clone()
    }
}

/// The property with a name such as `ctl:live`.
pub fn find<'p>(program: &'p Arc<Program>, name: &str) -> Option<&'p StateProperty> {
    let (word, name) = name.split_once(':')?;
    let logic = Logic::of(word)?;
    program.state_properties.iter().find(|property| property.logic == logic && property.name == name)
}

/// A filter as it is written.
fn filter_text(filter: &StepFilter, program: &Program) -> String {
    let proctype = filter.proctype.map(|id| program.proctype(id));
    let name = proctype.map_or("", |proctype| proctype.name.trim_matches(':'));
    let pid = filter.pid.map_or_else(String::new, |pid| match proctype {
        Some(_) => format!("[{pid}]"),
        None => pid.to_string(),
    });
    let label = proctype.zip(filter.at).and_then(|(proctype, at)| {
        proctype.labels.iter().find(|(_, location)| *location == at).map(|(label, _)| format!("@{label}"))
    });
    format!("{name}{pid}{}", label.unwrap_or_default())
}

/// A formula that is an expression and nothing else.
pub fn expression(formula: &StateFormula) -> Option<Expr> {
    match formula {
        StateFormula::Not(a) => Some(not(expression(a)?)),
        _ => boolean(formula),
    }
}

/// The formula as one expression, if a state decides it and it names no steps.
fn boolean(formula: &StateFormula) -> Option<Expr> {
    use StateFormula as F;
    Some(match formula {
        F::Prop(expr) => expr.clone(),
        F::And(a, b) => and(boolean(a)?, boolean(b)?),
        F::Or(a, b) => or(boolean(a)?, boolean(b)?),
        F::Implies(a, b) => implies(boolean(a)?, boolean(b)?),
        F::Equiv(a, b) => equivalent(boolean(a)?, boolean(b)?),
        // A negation is left outside: what cannot be evaluated does not hold, and so its negation does.
        F::Not(_) | F::Stuck | F::Deadlock | F::Path(..) | F::Modal(..) => return None,
        F::Mu(..) | F::Nu(..) | F::Variable(_) => return None,
    })
}

/// The question of a trail's property, to be replayed; `None` where it is of another kind.
pub fn question_of(session: &Session, name: &str) -> Result<Option<Questions>, Failure> {
    if find(session.program()?, name).is_none() {
        return Ok(None);
    }
    let mut questions = Questions::default();
    questions.add(session, name)?;
    Ok(Some(questions))
}
