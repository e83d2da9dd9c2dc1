//! A formula of linear temporal logic on the run that is looked at, and its automaton as a picture.
//!
//! A lasso goes round forever, a run that has ended stays where it is, and of any other run only the beginning
//! is known: there a formula may be true or false whatever comes, or open (the three values of Kleene's logic,
//! as in runtime verification). As in a check, states inside atomic sequences are not looked at.

use crate::exploration::{Exploration, Refusal};
use draw::graph::{Edge, Graph, Node};
use ltl::{Acceptance, Automaton, Formula, print};
use serde::Serialize;
use stop::Stop;
use system::Value;

/// Moments of one answer.
pub const MOST_MOMENTS: usize = 20_000;

/// What is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Truth {
    /// It holds, whatever comes.
    True,
    /// It does not, whatever comes.
    False,
    /// That depends on what comes.
    Open,
}

use Truth::{False, Open, True};

impl Truth {
    fn of(holds: bool) -> Truth {
        if holds { True } else { False }
    }

    fn not(self) -> Truth {
        match self {
            True => False,
            False => True,
            Open => Open,
        }
    }

    fn and(self, other: Truth) -> Truth {
        match (self, other) {
            (False, _) | (_, False) => False,
            (True, True) => True,
            _ => Open,
        }
    }

    fn or(self, other: Truth) -> Truth {
        self.not().and(other.not()).not()
    }
}

/// What comes after the last moment that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// Nobody knows.
    Anything,
    /// The moment at this index again.
    Back(usize),
}

/// A formula on a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// Whether the run satisfies it.
    pub verdict: Truth,
    /// The moments that were looked at.
    pub moments: Vec<usize>,
    /// Whether it is true from each of them on.
    pub from: Vec<Truth>,
    /// Texts of its propositions, and where they hold.
    pub propositions: Vec<(String, Vec<bool>)>,
}

/// Whether a formula holds from each moment on; `holding` says it of each proposition at each moment.
pub fn evaluate(formula: &Formula, holding: &[Vec<bool>], len: usize, ahead: Ahead) -> Vec<Truth> {
    let of = |inner: &Formula| evaluate(inner, holding, len, ahead);
    let both = |a: &Formula, b: &Formula, join: fn(Truth, Truth) -> Truth| {
        of(a).into_iter().zip(of(b)).map(|(a, b)| join(a, b)).collect::<Vec<Truth>>()
    };
    match formula {
        Formula::True => vec![True; len],
        Formula::False => vec![False; len],
        Formula::Prop(p) => (0..len).map(|at| Truth::of(holding[*p as usize][at])).collect(),
        Formula::Not(a) => of(a).into_iter().map(Truth::not).collect(),
        Formula::And(a, b) => both(a, b, Truth::and),
        Formula::Or(a, b) => both(a, b, Truth::or),
        Formula::Implies(a, b) => both(a, b, |a, b| a.not().or(b)),
        Formula::Equiv(a, b) => both(a, b, |a, b| a.and(b).or(a.not().and(b.not()))),
        Formula::Next(a) => {
            let values = of(a);
            (0..len).map(|at| next(&values, at, ahead)).collect()
        }
        Formula::Always(a) => fixpoint(&of(a), ahead, True, |now, later| now.and(later)),
        Formula::Eventually(a) => fixpoint(&of(a), ahead, False, |now, later| now.or(later)),
        Formula::Until(a, b) => pairs(&of(a), &of(b), ahead, False, |a, b, later| b.or(a.and(later))),
        Formula::WeakUntil(a, b) => pairs(&of(a), &of(b), ahead, True, |a, b, later| b.or(a.and(later))),
        Formula::Release(a, b) => pairs(&of(a), &of(b), ahead, True, |a, b, later| b.and(a.or(later))),
    }
}

fn next(values: &[Truth], at: usize, ahead: Ahead) -> Truth {
    match (values.get(at + 1), ahead) {
        (Some(value), _) => *value,
        (None, Ahead::Back(to)) => values[to],
        (None, Ahead::Anything) => Open,
    }
}

fn fixpoint(values: &[Truth], ahead: Ahead, start: Truth, join: fn(Truth, Truth) -> Truth) -> Vec<Truth> {
    settled(values.len(), ahead, start, |at, later| join(values[at], later))
}

fn pairs(
    a: &[Truth],
    b: &[Truth],
    ahead: Ahead,
    start: Truth,
    join: fn(Truth, Truth, Truth) -> Truth,
) -> Vec<Truth> {
    settled(a.len(), ahead, start, |at, later| join(a[at], b[at], later))
}

/// The least or the greatest solution of `value = join(now, value of the next moment)`, by passes from the end
/// to the beginning until nothing changes: a lasso needs three at most.
fn settled(len: usize, ahead: Ahead, start: Truth, join: impl Fn(usize, Truth) -> Truth) -> Vec<Truth> {
    let mut values = vec![start; len];
    loop {
        let mut changed = false;
        for at in (0..len).rev() {
            let value = join(at, next(&values, at, ahead));
            changed |= value != values[at];
            values[at] = value;
        }
        if !changed {
            return values;
        }
    }
}

impl Exploration<'_, '_> {
    /// Whether the run satisfies a formula, whose propositions are expressions of nobody's scope.
    pub fn judge(&mut self, text: &str) -> Result<Judgement, Refusal> {
        let parsed = ltl::parse::parse(text).map_err(|error| error.message)?;
        let len = self.run().len();
        if len > MOST_MOMENTS {
            return Err(format!("formulas are evaluated on runs of at most {MOST_MOMENTS} steps"));
        }
        let cycle = self.followed().filter(|_| self.is_on_trail()).and_then(|followed| followed.cycle);
        // The last state of a lasso is the first one of its cycle.
        let last = if cycle.is_some() { len.max(1) - 1 } else { len };
        let moments: Vec<usize> =
            (self.run().first()..=last).filter(|&moment| !self.run().is_inside(moment)).collect();
        let stays = !self.run().is_inside(len) && self.choices(len).is_empty();
        let ahead = match cycle {
            Some(cycle) => moments.iter().position(|&m| m >= cycle).map_or(Ahead::Anything, Ahead::Back),
            None if stays && !moments.is_empty() => Ahead::Back(moments.len() - 1),
            None => Ahead::Anything,
        };
        let mut holding = Vec::new();
        for proposition in &parsed.propositions {
            let values = self.evaluate_at(&moments, None, proposition)?;
            holding.push(values.into_iter().map(|v| v.and_then(|v| truth(&v))).collect::<Result<_, _>>()?);
        }
        let from = evaluate(&parsed.formula, &holding, moments.len(), ahead);
        let verdict = from.first().copied().unwrap_or(Open);
        Ok(Judgement {
            verdict,
            moments,
            from,
            propositions: parsed.propositions.into_iter().zip(holding).collect(),
        })
    }
}

fn truth(value: &Value) -> Result<bool, Refusal> {
    match value {
        Value::Bool(truth) => Ok(*truth),
        Value::Int(number) => Ok(*number != 0),
        other => Err(format!("{other} is neither true nor false")),
    }
}

/// The automaton of a formula as a graph, and its never claim. The error says what is wrong with the text.
pub fn automaton(text: &str, stop: &Stop) -> Result<(Graph, String), Refusal> {
    let parsed = ltl::parse::parse(text).map_err(|error| match error.help {
        Some(help) => format!("{} ({help})", error.message),
        None => error.message,
    })?;
    let automaton =
        Automaton::obeying(&parsed.formula, Acceptance::Buchi, stop).map_err(|why| why.to_string())?;
    let names = &parsed.propositions;
    let node = |state: ltl::StateId| Node {
        text: state.0.to_string(),
        note: format!("state {}{}", state.0, if automaton.is_accepting(state) { ", accepting" } else { "" }),
        end: automaton.is_accepting(state),
        accept: automaton.is_accepting(state),
        keys: vec![state.0.to_string()],
        ..Node::default()
    };
    let edges = automaton.states().flat_map(|state| {
        let edges = automaton.edges(state).iter();
        edges.map(move |edge| (state, edge)).collect::<Vec<_>>()
    });
    let edge = |(from, edge): (ltl::StateId, &ltl::Edge)| {
        let text = print::guard(&automaton, edge, names);
        Edge {
            from: from.0 as usize,
            to: edge.target.0 as usize,
            note: text.clone(),
            text,
            ..Edge::default()
        }
    };
    let graph = Graph {
        title: text.trim().to_string(),
        nodes: automaton.states().map(node).collect(),
        edges: edges.map(edge).collect(),
        start: automaton.initial.0 as usize,
    };
    Ok((graph, print::never::never(&automaton, text.trim(), names)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(formula: &str, p: &[u8], ahead: Ahead) -> Truth {
        let formula = ltl::parse::parse(formula).expect("a formula").formula;
        let holding = vec![p.iter().map(|&bit| bit == 1).collect::<Vec<bool>>(); 1];
        evaluate(&formula, &holding, p.len(), ahead)[0]
    }

    #[test]
    fn a_beginning_leaves_much_open() {
        let any = Ahead::Anything;
        assert_eq!(value("[] p", &[1, 1], any), Open);
        assert_eq!(value("[] p", &[1, 0], any), False);
        assert_eq!(value("<> p", &[0, 0], any), Open);
        assert_eq!(value("<> p", &[0, 1], any), True);
        assert_eq!(value("X X p", &[0, 1], any), Open);
        assert_eq!(value("!p U p", &[0, 0, 1], any), True);
    }

    #[test]
    fn a_lasso_decides_everything() {
        for (formula, bits, back, expected) in [
            ("[] p", &[1, 1, 1][..], 1, True),
            ("[]<> p", &[0, 0, 1], 1, True),
            ("[]<> p", &[1, 0, 0], 1, False),
            ("<>[] p", &[0, 1, 1], 1, True),
            ("<>[] p", &[1, 0, 1], 0, False),
            ("p U !p", &[1, 1, 1], 0, False),
            ("p W !p", &[1, 1, 1], 0, True),
            ("[] (p -> X !p)", &[1, 0, 1], 1, True),
            ("[] (p -> X !p)", &[1, 0, 1], 2, False),
        ] {
            assert_eq!(
                value(formula, bits, Ahead::Back(back)),
                expected,
                "{formula} on {bits:?}, back to {back}"
            );
        }
    }

    #[test]
    fn automata_are_drawn() {
        let (graph, never) = automaton("[]<> (x == 1)", &Stop::never()).expect("an automaton");
        assert!(
            graph.nodes.iter().any(|node| node.accept)
                && graph.edges.iter().any(|e| e.text.contains("x == 1"))
        );
        assert!(never.starts_with("never"));
        assert!(automaton("[] (", &Stop::never()).is_err());
    }
}
