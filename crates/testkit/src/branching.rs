//! Questions of branching time: random formulas of CTL and of the mu-calculus about random programs, answered
//! by `spinor check` with both engines and by an evaluator of its own over the graph that `spinor graph` exports.
//!
//! The evaluator knows neither stores nor fixpoint shapes: sets are vectors of truth values, every operator is
//! its definition, every fixpoint is computed anew. The graph is that of the unreduced program, so reductions
//! are compared as well. Formulas that both logics can say are asked as `ltl`, too, with and without fairness.
//! A formula and its negation never get the same definite answer, whatever cuts paths off.

use crate::cuts::erring;
use crate::cyclic::{Cyclic, generate};
use crate::ours::{Spinor, Verdicts};
use crate::outcome::{Outcome, Verdict};
use crate::print::print;
use crate::rng::Rng;
use serde_json::Value;
use std::fmt;

/// Formulas of each logic for each program.
const FORMULAS: usize = 5;

/// A formula; atoms are numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the operators'")]
pub enum StateFormula {
    Atom(usize),
    Stuck,
    Not(Box<StateFormula>),
    Join(&'static str, Box<StateFormula>, Box<StateFormula>),
    /// `AX`, `EF` …
    Before(char, char, Box<StateFormula>),
    /// `A[p U q]` …
    Between(char, char, Box<StateFormula>, Box<StateFormula>),
    /// `[p]` (true) or `<p>`; with the name of a proctype, the number of a process, both, or without.
    Modal(bool, Option<String>, Box<StateFormula>),
    /// `nu` (true) or `mu`.
    Fixpoint(bool, usize, Box<StateFormula>),
    Variable(usize),
}

/// A formula with the texts of its atoms.
struct Shown<'a>(&'a StateFormula, &'a [String]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shown(formula, atoms) = *self;
        let sub = |formula| Shown(formula, atoms);
        match formula {
            StateFormula::Atom(at) => write!(f, "({})", atoms[*at]),
            StateFormula::Stuck => write!(f, "stuck"),
            StateFormula::Not(a) => write!(f, "!{}", sub(a)),
            StateFormula::Join(op, a, b) => write!(f, "({} {op} {})", sub(a), sub(b)),
            StateFormula::Before(q, op, a) => write!(f, "({q}{op} {})", sub(a)),
            StateFormula::Between(q, op, a, b) => write!(f, "{q}[{} {op} {}]", sub(a), sub(b)),
            StateFormula::Modal(all, name, a) => {
                let name = name.as_deref().unwrap_or_default();
                if *all { write!(f, "([{name}] {})", sub(a)) } else { write!(f, "(<{name}> {})", sub(a)) }
            }
            StateFormula::Fixpoint(greatest, z, a) => {
                write!(f, "({} Z{z}. {})", if *greatest { "nu" } else { "mu" }, sub(a))
            }
            StateFormula::Variable(z) => write!(f, "Z{z}"),
        }
    }
}

/// Draws formulas.
struct Writer<'a> {
    rng: &'a mut Rng,
    atoms: usize,
    proctypes: &'a [String],
}

impl Writer<'_> {
    fn leaf(&mut self) -> StateFormula {
        match self.rng.below(10) {
            0 => StateFormula::Stuck,
            _ => StateFormula::Atom(self.rng.below(self.atoms)),
        }
    }

    fn ctl(&mut self, depth: u32) -> Box<StateFormula> {
        if depth == 0 {
            return Box::new(self.leaf());
        }
        let quantifier = if self.rng.chance(50) { 'A' } else { 'E' };
        Box::new(match self.rng.below(14) {
            0 => StateFormula::Not(self.ctl(depth - 1)),
            1 | 2 => {
                let op = self.rng.pick(&["&&", "||", "->", "<->"]).copied().unwrap_or("&&");
                StateFormula::Join(op, self.ctl(depth - 1), self.ctl(depth - 1))
            }
            3 => self.leaf(),
            4..=9 => {
                let op = self.rng.pick(&['X', 'F', 'G', 'F', 'G']).copied().unwrap_or('F');
                StateFormula::Before(quantifier, op, self.ctl(depth - 1))
            }
            _ => {
                let op = self.rng.pick(&['U', 'W', 'R']).copied().unwrap_or('U');
                StateFormula::Between(quantifier, op, self.ctl(depth - 1), self.ctl(depth - 1))
            }
        })
    }

    /// Whom a modality is about: a proctype, a number, or both.
    fn taker(&mut self) -> Option<String> {
        let (name, pid) = (self.rng.pick(self.proctypes).cloned()?, self.rng.below(5));
        Some(match self.rng.below(4) {
            0 | 1 => name,
            2 => pid.to_string(),
            _ => format!("{name}[{pid}]"),
        })
    }

    /// A formula in which the variables below `bound` occur under no negation.
    fn mu(&mut self, depth: u32, bound: usize) -> Box<StateFormula> {
        if depth == 0 {
            let variable = bound > 0 && self.rng.chance(70);
            return Box::new(match variable {
                true => StateFormula::Variable(self.rng.below(bound)),
                false => self.leaf(),
            });
        }
        Box::new(match self.rng.below(12) {
            0..=2 if bound < 3 => {
                StateFormula::Fixpoint(self.rng.chance(50), bound, self.mu(depth - 1, bound + 1))
            }
            0..=5 => {
                let op = if self.rng.chance(50) { "&&" } else { "||" };
                StateFormula::Join(op, self.mu(depth - 1, bound), self.mu(depth - 1, bound))
            }
            6 => StateFormula::Not(Box::new(self.leaf())),
            _ => {
                let name = self.rng.chance(40).then(|| self.taker()).flatten();
                StateFormula::Modal(self.rng.chance(50), name, self.mu(depth - 1, bound))
            }
        })
    }
}

/// An exported graph.
#[derive(Debug)]
pub struct Exported {
    /// For each state its steps: who takes part, and the target.
    steps: Vec<Vec<(Vec<String>, usize)>>,
    /// For each state the values of the atoms.
    values: Vec<Vec<bool>>,
}

type States = Vec<bool>;

impl Exported {
    /// Reads the graph with the names of steps, and the one with the values of atoms.
    fn read(names: &str, values: &str) -> Option<Exported> {
        let [names, values] = [names, values].map(|text| serde_json::from_str::<Value>(text).ok());
        let (names, values) = (names?, values?);
        let n = names.get("states")?.as_u64()? as usize;
        let labels: Vec<Vec<String>> =
            names.get("labels")?.as_array()?.iter().map(|name| takers(name.as_str().unwrap_or(""))).collect();
        let mut steps = vec![Vec::new(); n];
        for edge in names.get("edges")?.as_array()? {
            let part = |at: usize| Some(edge.get(at)?.as_u64()? as usize);
            steps[part(0)?].push((labels[part(1)?].clone(), part(2)?));
        }
        let truth = |value: &Value| value.as_i64().is_some_and(|value| value != 0);
        let row = |row: &Value| Some(row.as_array()?.iter().map(truth).collect::<Vec<bool>>());
        let rows: Option<Vec<Vec<bool>>> = values.get("values")?.as_array()?.iter().map(row).collect();
        rows.filter(|rows| rows.len() == n).map(|values| Exported { steps, values })
    }

    fn n(&self) -> usize {
        self.steps.len()
    }

    /// The states that `hold` in their own right.
    fn states(&self, hold: impl Fn(usize) -> bool) -> States {
        (0..self.n()).map(hold).collect()
    }

    /// The states behind a state, of which one without any is its own.
    fn next(&self, state: usize) -> Vec<usize> {
        match self.steps[state].is_empty() {
            true => vec![state],
            false => self.steps[state].iter().map(|(_, target)| *target).collect(),
        }
    }

    /// Applies `step` to a set until nothing changes.
    fn until_stable(&self, first: bool, step: impl Fn(&States) -> States) -> States {
        let mut set = vec![first; self.n()];
        loop {
            let next = step(&set);
            if next == set {
                return set;
            }
            set = next;
        }
    }

    /// The states in which a formula holds.
    pub fn evaluate(&self, formula: &StateFormula, variables: &[States]) -> States {
        match formula {
            StateFormula::Atom(at) => self.states(|state| self.values[state][*at]),
            StateFormula::Stuck => self.states(|state| self.steps[state].is_empty()),
            StateFormula::Not(a) => self.evaluate(a, variables).iter().map(|value| !value).collect(),
            StateFormula::Join(op, a, b) => {
                let (a, b) = (self.evaluate(a, variables), self.evaluate(b, variables));
                self.states(|state| match *op {
                    "&&" => a[state] && b[state],
                    "||" => a[state] || b[state],
                    "->" => !a[state] || b[state],
                    _ => a[state] == b[state],
                })
            }
            StateFormula::Before(q, op, a) => {
                let a = self.evaluate(a, variables);
                let all = vec![true; self.n()];
                let none = vec![false; self.n()];
                match op {
                    'X' => self.some_or_all(*q, &a),
                    'F' => self.path(*q, 'U', &all, &a),
                    _ => self.path(*q, 'W', &a, &none),
                }
            }
            StateFormula::Between(q, op, a, b) => {
                let (a, b) = (self.evaluate(a, variables), self.evaluate(b, variables));
                self.path(*q, *op, &a, &b)
            }
            StateFormula::Modal(all, name, a) => {
                let a = self.evaluate(a, variables);
                let counts = |who: &[String]| name.as_ref().is_none_or(|name| who.contains(name));
                self.states(|state| {
                    let mut behind =
                        self.steps[state].iter().filter(|(who, _)| counts(who)).map(|(_, target)| a[*target]);
                    if *all { behind.all(|holds| holds) } else { behind.any(|holds| holds) }
                })
            }
            StateFormula::Fixpoint(greatest, z, a) => self.until_stable(*greatest, |set| {
                let mut inner = variables[..(*z).min(variables.len())].to_vec();
                inner.push(set.clone());
                self.evaluate(a, &inner)
            }),
            StateFormula::Variable(z) => variables[*z].clone(),
        }
    }

    fn some_or_all(&self, quantifier: char, set: &States) -> States {
        self.states(|state| {
            let mut next = self.next(state).into_iter().map(|target| set[target]);
            if quantifier == 'A' { next.all(|holds| holds) } else { next.any(|holds| holds) }
        })
    }

    fn path(&self, quantifier: char, op: char, a: &States, b: &States) -> States {
        self.until_stable(op != 'U', |set| {
            let next = self.some_or_all(quantifier, set);
            self.states(|state| match op {
                'R' => b[state] && (a[state] || next[state]),
                _ => b[state] || a[state] && next[state],
            })
        })
    }
}

/// Who takes part in a step, as a modality may call them, by the step's name: `p[0]: c!1 | q[1]: c?x` is taken
/// by `p`, `0`, `p[0]`, `q`, `1`, `q[1]`.
fn takers(name: &str) -> Vec<String> {
    let taker = |part: &str| {
        let (process, rest) = part.split_once('[')?;
        let (pid, _) = rest.split_once("]: ")?;
        let plain = pid.bytes().all(|b| b.is_ascii_digit());
        plain.then(|| [process.to_string(), pid.to_string(), format!("{process}[{pid}]")])
    };
    name.split(" | ").filter_map(taker).flatten().collect()
}

/// What was asked and answered.
#[derive(Debug, Default)]
pub struct Asked {
    /// Formulas compared with the evaluator.
    pub compared: usize,
    /// Of these, formulas that hold.
    pub hold: usize,
    /// Formulas compared with `ltl`.
    pub with_ltl: usize,
    /// Answers of searches that may end early.
    pub early: usize,
    /// Answers that were unknown.
    pub unknown: usize,
    /// Answers of the symbolic engine that are those of the explicit one.
    pub by_sets: usize,
    /// Programs that the symbolic engine refused.
    pub refused: usize,
}

/// A random program with random formulas.
#[derive(Debug, Clone)]
pub struct Program {
    /// The text of the program alone.
    pub text: String,
    atoms: Vec<String>,
    formulas: Vec<(&'static str, StateFormula)>,
}

/// The program that belongs to a seed; every third has errors in it.
pub fn program(seed: u64) -> Program {
    let mut rng = Rng::new(seed ^ 0x0B4A_0C11);
    let Cyclic { model, mut atoms, .. } = generate(seed);
    let model = if seed.is_multiple_of(3) { erring(seed).model } else { model };
    // A label that only a jump stands at would become a statement where a formula names it.
    atoms.retain(|atom| !atom.contains('@'));
    atoms.truncate(6);
    if atoms.is_empty() {
        atoms.push("tick == 0".to_string());
    }
    let proctypes: Vec<String> = model.procs.iter().map(|process| process.name.clone()).collect();
    let mut writer = Writer { rng: &mut rng, atoms: atoms.len(), proctypes: &proctypes };
    let mut formulas = Vec::new();
    for _ in 0..FORMULAS {
        formulas.push(("ctl", *writer.ctl(3)));
        formulas.push(("mu", *writer.mu(5, 0)));
    }
    Program { text: print(&model), atoms, formulas }
}

/// Formulas that both logics can say, over two atoms.
const BOTH: [(&str, &str); 5] = [
    ("AF P", "<> P"),
    ("AG AF P", "[] <> P"),
    ("A[P U Q]", "P U Q"),
    ("AG (P -> AF Q)", "[] (P -> <> Q)"),
    ("A[P W Q]", "P W Q"),
];

impl Program {
    /// The program with its formulas and their negations.
    pub fn with_formulas(&self) -> String {
        let mut text = self.text.clone();
        for (at, (logic, formula)) in self.formulas.iter().enumerate() {
            let shown = Shown(formula, &self.atoms);
            text += &format!("{logic} f{at} {{ {shown} }}\n{logic} n{at} {{ !({shown}) }}\n");
        }
        text
    }

    fn with_both_logics(&self) -> String {
        let mut text = self.text.clone();
        let (p, q) = (&self.atoms[0], &self.atoms[self.atoms.len() / 2]);
        for (at, (ctl, ltl)) in BOTH.iter().enumerate() {
            let [ctl, ltl] =
                [ctl, ltl].map(|f| f.replace('P', &format!("({p})")).replace('Q', &format!("({q})")));
            text += &format!("ctl b{at} {{ {ctl} }}\nltl b{at} {{ {ltl} }}\n");
        }
        text
    }
}

/// Asks about a program; the error says what contradicts what.
pub fn ask(program: &Program, spinor: &Spinor, asked: &mut Asked) -> Result<(), String> {
    let verdicts = match of_formulas(program, spinor, &[]) {
        Ok(verdicts) => verdicts,
        // A program that is refused, or takes too long, has nothing to say.
        Err(Outcome::Rejected(_) | Outcome::Explored(_)) => return Ok(()),
        Err(other) => return Err(format!("{other:?}")),
    };
    with_evaluator(program, &verdicts, spinor, asked)?;
    for fair in [&[][..], &["--fair", "weak"]] {
        with_sets(program, spinor, fair, asked)?;
    }
    with_early_end(program, spinor, asked)?;
    with_ltl(program, spinor, asked)
}

/// What one state decides ends the search there: the answer is that of the whole graph.
fn with_early_end(program: &Program, spinor: &Spinor, asked: &mut Asked) -> Result<(), String> {
    let name = ["ctl:early".to_string()];
    for atom in program.atoms.iter().take(2) {
        for shape in ["AG (P)", "EF (P)", "! AG ! (P)"] {
            let text = format!("{}ctl early {{ {} }}\n", program.text, shape.replace('P', atom));
            let answer = |words: &[&str]| match spinor.verdicts(&text, &name, words) {
                Ok(verdicts) => match verdicts.get(&name[0]) {
                    Some(told) => Ok(Some(told.verdict.clone())),
                    None => Err(format!("nothing is said of {shape} about {atom}")),
                },
                // Refused, or out of time.
                Err(Outcome::Rejected(_) | Outcome::Explored(_)) => Ok(None),
                Err(other) => Err(format!("{other:?} for {shape} about {atom}")),
            };
            match (answer(&[])?, answer(&["--all-errors"])?) {
                (None, _) | (_, None) => asked.unknown += 1,
                (Some(Verdict::Unknown(_)), Some(Verdict::Unknown(_))) => asked.unknown += 1,
                (early, whole) if early == whole => asked.early += 1,
                (early, whole) => {
                    return Err(format!(
                        "{shape} about {atom} is {early:?}, and {whole:?} on the whole graph"
                    ));
                }
            }
        }
    }
    Ok(())
}

/// The formulas of CTL, if they are to be judged with fairness.
fn of_formulas(program: &Program, spinor: &Spinor, words: &[&str]) -> Result<Verdicts, Outcome> {
    let names: Vec<String> = program
        .formulas
        .iter()
        .enumerate()
        .filter(|(_, (logic, _))| !words.contains(&"--fair") || *logic == "ctl")
        .flat_map(|(at, (logic, _))| [format!("{logic}:f{at}"), format!("{logic}:n{at}")])
        .collect();
    spinor.verdicts(&program.with_formulas(), &names, words)
}

/// Compares the answers of both engines; every step of the symbolic one is taken twice.
fn with_sets(program: &Program, spinor: &Spinor, fair: &[&str], asked: &mut Asked) -> Result<(), String> {
    let answers = |words: &[&str]| match of_formulas(program, spinor, &[fair, words].concat()) {
        Ok(verdicts) => Ok(Some(verdicts)),
        Err(Outcome::Rejected(_) | Outcome::Unsupported(_) | Outcome::Explored(_)) => Ok(None),
        Err(other) => Err(format!("{other:?} with {fair:?} {words:?}")),
    };
    let Some(explicit) = answers(&[])? else { return Ok(()) };
    let Some(symbolic) = answers(&["--engine", "symbolic", "--check", "facts"])? else {
        asked.refused += 1;
        return Ok(());
    };
    for (name, told) in &explicit {
        let other = symbolic.get(name).map(|other| &other.verdict);
        let same = match (&told.verdict, other) {
            (Verdict::Unknown(_), Some(Verdict::Unknown(_))) => true,
            (verdict, other) => Some(verdict) == other,
        };
        if !same {
            return Err(format!("{name} is {:?}, and {other:?} by sets of states, {fair:?}", told.verdict));
        }
        asked.by_sets += 1;
    }
    Ok(())
}

fn with_evaluator(
    program: &Program,
    verdicts: &Verdicts,
    spinor: &Spinor,
    asked: &mut Asked,
) -> Result<(), String> {
    let labels = program.atoms.join(",");
    let plain = ["--format", "json", "--opt", "none", "--exec", "interp"];
    let names = spinor.graph(&program.text, &plain)?;
    let values = spinor.graph(&program.text, &[&plain[..], &["--labels", &labels]].concat())?;
    // Where steps are cut off, the graph is not the whole truth.
    let whole = !names.1.contains("left out");
    let graph = Exported::read(&names.0, &values.0).ok_or("the exported graph cannot be read")?;
    for (at, (logic, formula)) in program.formulas.iter().enumerate() {
        let told = |letter: char| verdicts.get(&format!("{logic}:{letter}{at}")).map(|told| &told.verdict);
        let shown = Shown(formula, &program.atoms);
        match (told('f'), told('n')) {
            (Some(Verdict::Holds), Some(Verdict::Violated))
            | (Some(Verdict::Violated), Some(Verdict::Holds)) => {}
            (Some(Verdict::Unknown(_)), Some(Verdict::Unknown(_))) if !whole => {
                asked.unknown += 1;
                continue;
            }
            (f, n) => return Err(format!("{logic} {shown} is {f:?}, and its negation {n:?}")),
        }
        if whole {
            let holds = graph.evaluate(formula, &[])[0];
            asked.compared += 1;
            asked.hold += usize::from(holds);
            if holds != (told('f') == Some(&Verdict::Holds)) {
                return Err(format!("{logic} {shown} is {:?}, and {holds} on the graph", told('f')));
            }
        }
    }
    Ok(())
}

fn with_ltl(program: &Program, spinor: &Spinor, asked: &mut Asked) -> Result<(), String> {
    let names: Vec<String> =
        (0..BOTH.len()).flat_map(|at| [format!("ctl:b{at}"), format!("ltl:b{at}")]).collect();
    for fair in [&[][..], &["--fair", "weak"]] {
        let verdicts = match spinor.verdicts(&program.with_both_logics(), &names, fair) {
            Ok(verdicts) => verdicts,
            // Refused, or out of time.
            Err(Outcome::Rejected(_) | Outcome::Explored(_)) => return Ok(()),
            Err(other) => return Err(format!("{other:?} with {fair:?}")),
        };
        for (at, (formula, _)) in BOTH.iter().enumerate() {
            let told = |logic: &str| verdicts.get(&format!("{logic}:b{at}")).map(|told| &told.verdict);
            match (told("ctl"), told("ltl")) {
                (Some(Verdict::Unknown(_)), _) | (_, Some(Verdict::Unknown(_))) => asked.unknown += 1,
                (ctl, ltl) if ctl == ltl => asked.with_ltl += 1,
                (ctl, ltl) => {
                    return Err(format!("{formula} is {ctl:?} as ctl and {ltl:?} as ltl, {fair:?}"));
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 -> 1 -> 2 (stuck), 1 -> 1; the atom holds in 2.
    fn graph() -> Exported {
        let step = |to| (vec!["p".to_string()], to);
        Exported {
            steps: vec![vec![step(1)], vec![step(1), step(2)], vec![]],
            values: vec![vec![false], vec![false], vec![true]],
        }
    }

    #[test]
    fn the_evaluator_knows_the_definitions() {
        let atom = || Box::new(StateFormula::Atom(0));
        let before = |q, op| graph().evaluate(&StateFormula::Before(q, op, atom()), &[]);
        assert_eq!(before('E', 'F'), [true, true, true]);
        assert_eq!(before('A', 'F'), [false, false, true]);
        assert_eq!(before('E', 'G'), [false, false, true]);
        assert_eq!(before('A', 'X'), [false, false, true], "what is stuck repeats itself");
        let stuck = StateFormula::Modal(true, None, Box::new(StateFormula::Not(atom())));
        assert_eq!(graph().evaluate(&stuck, &[]), [true, false, true], "in the mu-calculus it does not");
        let step = StateFormula::Modal(false, None, Box::new(StateFormula::Variable(0)));
        let reach =
            StateFormula::Fixpoint(false, 0, Box::new(StateFormula::Join("||", atom(), Box::new(step))));
        assert_eq!(graph().evaluate(&reach, &[]), [true, true, true]);
    }

    #[test]
    fn who_takes_a_step() {
        assert_eq!(takers("p[0]: x = a | b"), ["p", "0", "p[0]"]);
        assert_eq!(takers("p[0]: c!1 | q[12]: c?x"), ["p", "0", "p[0]", "q", "12", "q[12]"]);
    }
}
