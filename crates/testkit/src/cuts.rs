//! Questions about programs with errors in them: no property may hold because a path was cut off.
//!
//! Random programs ([`crate::cyclic`]) get errors of every kind: run-time errors, which end a run; failed
//! assertions and forbidden events, which do not; atomic sequences without end; labels inside atomic
//! sequences; formulas that ask for what does not exist. There is no oracle (Spin goes on after some run-time errors and stops at others), but there are
//! laws:
//! - a formula and its negation never both hold;
//! - what is said of a property does not change with what else is asked, nor with the search, the store, the
//!   machine, the reduction or the number of workers;
//! - safety is violated if one of its parts is, and holds if all do;
//! - what holds for all runs holds for the fair ones, and what is unknown of all is unknown of those.

use crate::cyclic::{Cyclic, generate};
use crate::formula::Formula;
use crate::liveness::Fair;
use crate::model::{
    BinOp, Block, Decl, Expr, Init, Model, RecvArg, RecvKind, Stmt, Trace, Type, VariableRef,
};
use crate::model::{Start, Visibility};
use crate::ours::{Spinor, Verdicts};
use crate::outcome::{Outcome, Verdict};
use crate::print::print;
use crate::rng::Rng;
use crate::walk;

/// Formulas for each program.
const FORMULAS: usize = 3;

/// A program with errors in it.
#[derive(Debug, Clone)]
pub struct Erring {
    /// The program.
    pub model: Model,
    /// What it is asked about, beside the negations.
    pub formulas: Vec<Formula>,
}

/// The program that belongs to `seed`.
pub fn erring(seed: u64) -> Erring {
    let mut rng = Rng::new(seed ^ 0x0E44_0115);
    let Cyclic { mut model, mut atoms, .. } = generate(seed);
    model.globals.push(array());
    let variables: Vec<String> = model
        .globals
        .iter()
        .filter(|decl| matches!(decl.ty, Type::Bit | Type::Byte) && decl.len.is_none())
        .map(|decl| decl.name.clone())
        .collect();
    for number in 0..rng.range(1, 3) {
        let statement = mistake(&mut rng, &variables, number);
        insert(&mut rng, &mut model, statement);
    }
    let channel = model.globals.iter().find(|decl| decl.ty == Type::Chan).map(|decl| decl.name.clone());
    if let Some(channel) = channel.filter(|_| rng.chance(30)) {
        model.trace = Some(trace(&mut rng, &channel));
    }
    // An element that does not exist where the variable is too large: a claim may ask for what is not there.
    if let Some(name) = rng.pick(&variables).filter(|_| seed.is_multiple_of(3)) {
        atoms.extend([format!("arr[{name} + 1] == 0"), format!("arr[{name} + 1] == 1")]);
    }
    let formulas = (0..FORMULAS).map(|_| Formula::random(&mut rng, &atoms)).collect();
    Erring { model, formulas }
}

/// The array that indices can be out of.
fn array() -> Decl {
    Decl { visibility: Visibility::Plain, ty: Type::Bit, name: "arr".into(), len: Some(2), init: Init::None }
}

/// A statement that may go wrong.
fn mistake(rng: &mut Rng, variables: &[String], number: i64) -> Stmt {
    let name = rng.pick(variables).cloned().unwrap_or_else(|| "x".into());
    let value = || Expr::var(name.as_str());
    let is = |constant| Expr::binary(BinOp::Eq, value(), Expr::Num(constant));
    let set = |to| Stmt::Assign(VariableRef::name(name.as_str()), to);
    let other = || Expr::binary(BinOp::Rem, Expr::binary(BinOp::Add, value(), Expr::Num(1)), Expr::Num(2));
    match rng.below(9) {
        0 | 1 => set(Expr::binary(BinOp::Div, Expr::Num(1), value())),
        2 => {
            let index = Expr::binary(BinOp::Add, value(), Expr::Num(rng.range(0, 1)));
            Stmt::Assign(VariableRef { path: vec![("arr".into(), Some(index))] }, Expr::Num(1))
        }
        3 => Stmt::DStep(vec![set(other()), Stmt::Expr(is(rng.range(0, 1))), set(other())]),
        4 => Stmt::Assert(is(rng.range(0, 1))),
        5 => {
            let mut options = vec![vec![set(other())]];
            if rng.chance(50) {
                options.push(vec![Stmt::Expr(is(1)), Stmt::Break]);
            }
            Stmt::Atomic(vec![set(other()), Stmt::Do(options)])
        }
        6 => {
            let label = format!("{}{number}", if rng.chance(60) { "acceptI" } else { "progressI" });
            Stmt::Atomic(vec![set(other()), Stmt::Label(label, Box::new(set(Expr::Num(0)))), set(other())])
        }
        7 => Stmt::Atomic(vec![
            set(other()),
            Stmt::Assert(is(0)),
            set(Expr::binary(BinOp::Div, Expr::Num(1), value())),
        ]),
        _ => {
            Stmt::Expr(Expr::binary(BinOp::Gt, Expr::binary(BinOp::Div, Expr::Num(2), value()), Expr::Num(0)))
        }
    }
}

/// Puts a statement behind another one, somewhere in a process.
fn insert(rng: &mut Rng, model: &mut Model, statement: Stmt) {
    let mut places = Vec::new();
    let mut number = 0;
    let inlines = std::mem::take(&mut model.inlines);
    walk::blocks(model, &mut |block: &mut Block| {
        places.extend((1..=block.len()).map(|at| (number, at)));
        number += 1;
    });
    if let Some(&(of, at)) = rng.pick(&places) {
        let mut number = 0;
        walk::blocks(model, &mut |block: &mut Block| {
            if number == of {
                block.insert(at.min(block.len()), statement.clone());
            }
            number += 1;
        });
    } else if let Some(process) = model.procs.iter_mut().find(|proc| proc.start != Start::Init) {
        process.body.push(statement);
    }
    model.inlines = inlines;
}

/// A trace assertion that some run breaks, or none.
fn trace(rng: &mut Rng, channel: &str) -> Trace {
    let mut event = || {
        let (chan, value) = (VariableRef::name(channel), Expr::Num(rng.range(0, 1)));
        match rng.chance(60) {
            true => Stmt::Send { chan, sorted: false, paren: false, args: vec![value] },
            false => {
                Stmt::Recv { chan, kind: RecvKind::First, paren: false, args: vec![RecvArg::Const(value)] }
            }
        }
    };
    let options = vec![vec![event()], vec![event()]];
    Trace { negated: rng.chance(25), body: vec![Stmt::Do(options)] }
}

impl Erring {
    /// The program with its formulas and their negations.
    pub fn text(&self) -> String {
        let mut text = print(&self.model);
        for (at, formula) in self.formulas.iter().enumerate() {
            text += &format!("ltl f{at} {{ {formula} }}\nltl n{at} {{ ! ({formula}) }}\n");
        }
        text
    }

    /// The properties of whole runs.
    pub fn runs(&self) -> Vec<String> {
        let formulas = (0..self.formulas.len()).flat_map(|at| [format!("ltl:f{at}"), format!("ltl:n{at}")]);
        let text = print(&self.model);
        let accept = text.contains("accept").then(|| "accept".to_string());
        formulas.chain(accept).chain(["progress".to_string()]).collect()
    }

    /// The parts of safety, and safety as a whole.
    pub fn safety(&self) -> Vec<String> {
        let mut all = vec!["assertion", "end-state", "runtime"];
        if self.model.trace.is_some() {
            all.push("trace");
        }
        all.push("safety");
        all.into_iter().map(String::from).collect()
    }
}

/// A way of asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// Which runs count.
    pub fair: Fair,
    /// The options.
    pub options: &'static [&'static str],
}

const fn plain(options: &'static [&'static str]) -> Way {
    Way { fair: Fair::No, options }
}

/// What all other ways are compared with: the reference machine, and nothing left out.
const REFERENCE: &[&str] = &["--por", "none", "--opt", "none", "--threads", "1", "--exec", "interp"];

/// Ways to ask about whole runs.
pub const RUN_WAYS: [Way; 18] = [
    plain(&[]),
    plain(&["--search", "ndfs"]),
    plain(&["--search", "scc"]),
    plain(&["--search", "cndfs", "--threads", "2", "--alone", "0"]),
    plain(&["--search", "ufscc", "--threads", "3", "--alone", "0"]),
    plain(&["--search", "ndfs-dual"]),
    plain(&["--por", "none", "--threads", "1"]),
    plain(&["--por", "stubborn"]),
    plain(&["--por", "ample"]),
    plain(&["--por", "twophase"]),
    plain(&["--opt", "none"]),
    plain(&["--exec", "interp", "--threads", "1"]),
    plain(&["--store", "tree", "--threads", "1"]),
    plain(&["--seed", "7", "--threads", "1"]),
    Way { fair: Fair::Weak, options: &["--threads", "1"] },
    Way { fair: Fair::Weak, options: &["--threads", "2", "--alone", "0"] },
    Way { fair: Fair::Strong, options: &[] },
    Way { fair: Fair::Weak, options: &["--exec", "interp", "--opt", "none"] },
];

/// Ways to ask about safety.
pub const SAFETY_WAYS: [Way; 20] = [
    plain(&[]),
    plain(&["--search", "dfs"]),
    plain(&["--search", "bfs"]),
    plain(&["--search", "handoff", "--threads", "2"]),
    plain(&["--threads", "3", "--alone", "0"]),
    plain(&["--por", "none", "--threads", "1"]),
    plain(&["--por", "stubborn"]),
    plain(&["--por", "stubborn", "--search", "dfs"]),
    plain(&["--por", "stubborn", "--search", "dfs", "--proviso", "color", "--threads", "1"]),
    plain(&["--por", "stubborn", "--proviso", "static"]),
    plain(&["--por", "ample", "--search", "dfs", "--threads", "1"]),
    plain(&["--por", "twophase"]),
    plain(&["--por", "twophase", "--save", "none"]),
    plain(&["--sleep", "--search", "dfs", "--threads", "1"]),
    plain(&["--store", "tree"]),
    plain(&["--store", "cleary"]),
    plain(&["--store", "collapse", "--search", "dfs"]),
    plain(&["--state-cache", "5", "--search", "dfs", "--threads", "1"]),
    plain(&["--exec", "interp"]),
    plain(&["--all-errors"]),
];

/// What was asked, and how often an answer was of a sort.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Answers that were compared.
    pub answers: usize,
    /// Of these, `unknown`.
    pub unknown: usize,
    /// Ways that were refused.
    pub refused: usize,
}

/// Asks everything in the ways given, by their numbers; the error is the first law that is broken, in words.
pub fn ask(
    program: &Erring,
    spinor: &Spinor,
    (runs, safety): (&[Way], &[Way]),
    asked: &mut Asked,
) -> Result<(), String> {
    let text = program.text();
    for (properties, ways) in [(program.runs(), runs), (program.safety(), safety)] {
        let inquiry = Inquiry { text: &text, spinor, properties: &properties };
        let Some(reference) = inquiry.verdicts(&properties, &plain(REFERENCE), asked)? else { return Ok(()) };
        inquiry.alone(&reference, &plain(REFERENCE), asked)?;
        laws(&reference, "the reference")?;
        for (at, way) in ways.iter().enumerate() {
            let Some(verdicts) = inquiry.verdicts(&properties, way, asked)? else { continue };
            let name = way.name();
            laws(&verdicts, &name)?;
            for (property, told) in &verdicts {
                let Some(expected) = reference.get(property) else { continue };
                if !agrees(&expected.verdict, &told.verdict, way.fair) {
                    let (one, other) = (&expected.verdict, &told.verdict);
                    return Err(format!("{property}: {one} in the reference, {other} with {name}"));
                }
            }
            if at == 0 {
                inquiry.alone(&verdicts, way, asked)?;
            }
        }
    }
    Ok(())
}

impl Way {
    fn arguments(&self) -> Vec<&'static str> {
        let fair: &[&str] = match self.fair {
            Fair::No => &[],
            Fair::Weak => &["--fair", "weak"],
            Fair::Strong => &["--fair", "strong"],
        };
        [fair, self.options].concat()
    }

    fn name(&self) -> String {
        let words = self.arguments();
        if words.is_empty() { "no options".into() } else { words.join(" ") }
    }
}

/// A program and what it is asked.
struct Inquiry<'a> {
    text: &'a str,
    spinor: &'a Spinor,
    properties: &'a [String],
}

impl Inquiry<'_> {
    /// What is said of some properties; `None` when the question was refused, an error when the tool failed.
    fn verdicts(
        &self,
        properties: &[String],
        way: &Way,
        asked: &mut Asked,
    ) -> Result<Option<Verdicts>, String> {
        match self.spinor.verdicts(self.text, properties, &way.arguments()) {
            Ok(verdicts) => {
                asked.answers += verdicts.len();
                asked.unknown +=
                    verdicts.values().filter(|told| matches!(told.verdict, Verdict::Unknown(_))).count();
                Ok(Some(verdicts))
            }
            Err(outcome @ Outcome::Crashed(_)) => Err(format!("{outcome} with {}", way.name())),
            Err(_) => {
                asked.refused += 1;
                Ok(None)
            }
        }
    }

    /// Whether a property that is asked about alone gets the same answer.
    fn alone(&self, together: &Verdicts, way: &Way, asked: &mut Asked) -> Result<(), String> {
        for property in self.properties {
            let alone = self.verdicts(std::slice::from_ref(property), way, asked)?;
            let (Some(one), Some(all)) =
                (alone.as_ref().and_then(|alone| alone.get(property)), together.get(property))
            else {
                continue;
            };
            if one.verdict != all.verdict {
                let (one, all, name) = (&one.verdict, &all.verdict, way.name());
                return Err(format!("{property}: {one} alone, {all} beside others, with {name}"));
            }
        }
        Ok(())
    }
}

/// Whether what is said of some runs fits what is said of all.
fn agrees(all: &Verdict, told: &Verdict, fair: Fair) -> bool {
    all == told || fair != Fair::No && *all == Verdict::Violated
}

/// Looks for a broken law among the verdicts of one way.
fn laws(verdicts: &Verdicts, way: &str) -> Result<(), String> {
    let of = |name: &str| verdicts.get(name).map(|told| &told.verdict);
    for (name, told) in verdicts {
        let negation = name.strip_prefix("ltl:f").map(|at| format!("ltl:n{at}"));
        if told.verdict == Verdict::Holds && negation.is_some_and(|n| of(&n) == Some(&Verdict::Holds)) {
            return Err(format!("{name} and its negation both hold with {way}"));
        }
    }
    let Some(safety) = of("safety") else { return Ok(()) };
    let parts: Vec<&Verdict> =
        ["assertion", "end-state", "runtime", "trace"].into_iter().filter_map(of).collect();
    let expected = match () {
        () if parts.contains(&&Verdict::Violated) => &Verdict::Violated,
        () if parts.iter().all(|part| **part == Verdict::Holds) => &Verdict::Holds,
        () => return Err(format!("a part of safety is unknown, and none is violated, with {way}")),
    };
    if safety != expected {
        return Err(format!("safety: {safety}, but its parts say {expected}, with {way}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ours::Told;

    #[test]
    fn all_errors_occur() {
        let all: String = (0..300).map(|seed| erring(seed).text()).collect();
        for word in ["1 / ", "arr[", "assert", "acceptI", "progressI", "trace {", "notrace {", "ltl n2"] {
            assert!(all.contains(word), "never generated: {word}");
        }
        assert_eq!(erring(5).text(), erring(5).text());
    }

    #[test]
    fn broken_laws_are_found() {
        let verdicts = |list: &[(&str, Verdict)]| -> Verdicts {
            list.iter()
                .map(|(name, verdict)| (name.to_string(), Told { verdict: verdict.clone(), ends: false }))
                .collect()
        };
        let (holds, violated) = (Verdict::Holds, Verdict::Violated);
        let unknown = || Verdict::Unknown("unknown".into());
        let both = verdicts(&[("ltl:f0", holds.clone()), ("ltl:n0", holds.clone())]);
        assert!(laws(&both, "").unwrap_err().contains("both hold"));
        assert!(laws(&verdicts(&[("ltl:f0", holds.clone()), ("ltl:n0", violated.clone())]), "").is_ok());
        let parts = |a: &Verdict, b: &Verdict, all: &Verdict| {
            laws(&verdicts(&[("assertion", a.clone()), ("runtime", b.clone()), ("safety", all.clone())]), "")
        };
        assert!(parts(&unknown(), &violated, &violated).is_ok());
        assert!(parts(&unknown(), &violated, &holds).is_err());
        assert!(parts(&unknown(), &holds, &unknown()).is_err());
        assert!(parts(&holds, &holds, &violated).is_err());
        assert!(agrees(&violated, &holds, Fair::Weak) && !agrees(&violated, &holds, Fair::No));
        assert!(!agrees(&unknown(), &holds, Fair::Strong));
    }
}
