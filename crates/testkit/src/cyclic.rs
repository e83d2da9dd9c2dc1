//! Random programs for properties of infinite runs: a few processes that go round in loops over a few small
//! variables and channels, with labels of every kind. The other generator ([`crate::generate`]) knows more of
//! the language, but its programs mostly end; here nearly all runs are infinite and the processes get into
//! each other's way, so that it matters who moves. Three of four programs have a clock beside their
//! processes, which can always move: then no run ends, and only fairness makes others move.

use crate::model::{
    BinOp, Block, Claim, Decl, Expr, Init, Model, Proc, RecvArg, RecvKind, Start, Stmt, Type, VariableRef,
    Visibility,
};
use crate::rng::Rng;

/// How the accept labels of processes begin.
const ACCEPT: &str = "acceptL";

/// The text with plain labels in the place of the accept labels of processes: beside a claim they would be
/// part of Spin's answer, but not of ours.
pub fn without_accept_labels(text: &str) -> String {
    text.replace(ACCEPT, "markL")
}

/// A program and what formulas can be about in it.
#[derive(Debug, Clone)]
pub struct Cyclic {
    /// The program.
    pub model: Model,
    /// Conditions over its variables, channels and labels.
    pub atoms: Vec<String>,
    /// A never claim over the same conditions, for a program of its own.
    pub never: Block,
}

impl Cyclic {
    /// The program with the never claim.
    pub fn with_never(&self) -> Model {
        Model { claim: Some(Claim::Never(self.never.clone())), ..self.model.clone() }
    }
}

/// Generates the program that belongs to `seed`.
pub fn generate(seed: u64) -> Cyclic {
    let mut writer = Writer {
        rng: Rng::new(seed ^ 0x17AB_00B5),
        variables: Vec::new(),
        channels: Vec::new(),
        locals: Vec::new(),
        labels: 0,
        inside: 0,
        atoms: Vec::new(),
        label_of: Vec::new(),
    };
    let mut globals = writer.globals();
    globals.push(declared(Type::Bit, "tick", Init::None));
    let mut procs = writer.processes();
    if !seed.is_multiple_of(4) {
        procs.push(process("Clock", vec![Stmt::Do(vec![vec![writer.tick()]])], 1));
    }
    writer.name_atoms();
    let never = writer.never();
    Cyclic { model: Model { globals, procs, ..Model::default() }, atoms: writer.atoms, never }
}

/// A variable and how many values it takes.
type Variable = (String, i64);

struct Writer {
    rng: Rng,
    variables: Vec<Variable>,
    /// Name and capacity.
    channels: Vec<(String, u32)>,
    /// The variable of the process that is being written.
    locals: Vec<Variable>,
    labels: usize,
    /// How many atomic sequences are open.
    inside: u32,
    atoms: Vec<String>,
    /// Labels of the process that is being written.
    label_of: Vec<String>,
}

fn declared(ty: Type, name: &str, init: Init) -> Decl {
    Decl { visibility: Visibility::Plain, ty, name: name.into(), len: None, init }
}

fn process(name: &str, body: Block, copies: u32) -> Proc {
    Proc {
        name: name.into(),
        start: Start::Active(copies),
        deterministic: false,
        params: vec![],
        priority: None,
        provided: None,
        body,
    }
}

fn equals((name, _): &Variable, value: i64) -> Expr {
    Expr::binary(BinOp::Eq, Expr::var(name.as_str()), Expr::Num(value))
}

impl Writer {
    fn globals(&mut self) -> Vec<Decl> {
        let mut globals = Vec::new();
        for name in ["x", "y", "z"].iter().take(self.rng.range(1, 3) as usize) {
            let (ty, values) = if self.rng.chance(60) { (Type::Bit, 2) } else { (Type::Byte, 3) };
            let init = if self.rng.chance(25) { Init::Expr(Expr::Num(1)) } else { Init::None };
            globals.push(declared(ty, name, init));
            self.variables.push(((*name).to_string(), values));
        }
        for name in ["q", "r"].iter().take(self.rng.below(3)) {
            let capacity = self.rng.weighted(&[5, 4, 1]).unwrap_or(0) as u32;
            globals.push(declared(Type::Chan, name, Init::Chan { capacity, fields: vec![Type::Bit] }));
            self.channels.push(((*name).to_string(), capacity));
        }
        globals
    }

    fn processes(&mut self) -> Vec<Proc> {
        let count = self.rng.range(2, 3);
        let twice = self.rng.chance(12);
        let mut procs = Vec::new();
        for (at, name) in ["A", "B", "C"].iter().take(count as usize).enumerate() {
            let copies = if at == 0 && twice { 2 } else { 1 };
            procs.push(self.process(name, at as u32 + u32::from(at > 0 && twice), copies));
        }
        procs
    }

    fn process(&mut self, name: &str, pid: u32, copies: u32) -> Proc {
        self.label_of.clear();
        self.locals.clear();
        let mut body = Vec::new();
        if self.rng.chance(20) {
            self.locals.push(("v".into(), 2));
            body.push(Stmt::Decl(declared(Type::Bit, "v", Init::None)));
            self.atoms.push(format!("{name}[{pid}]:v == 1"));
        }
        if self.rng.chance(20) {
            body.push(self.simple());
        }
        let repeat = self.repeat(true);
        body.push(self.labelled(repeat));
        if self.rng.chance(30) {
            body.push(self.simple());
        }
        for label in self.label_of.drain(..) {
            self.atoms.push(format!("{name}[{pid}]@{label}"));
        }
        process(name, body, copies)
    }

    /// What the clock does.
    fn tick(&mut self) -> Stmt {
        let other = Expr::binary(BinOp::Sub, Expr::Num(1), Expr::var("tick"));
        if self.rng.chance(30) {
            self.atoms.push("tick == 1".into())
        }
        Stmt::Assign(VariableRef::name("tick"), other)
    }

    /// A loop; the outermost seldom ends.
    fn repeat(&mut self, outermost: bool) -> Stmt {
        let mut options: Vec<Block> = (0..self.rng.range(1, 3)).map(|_| self.option()).collect();
        if self.rng.chance(if outermost { 15 } else { 100 }) {
            let guard = self.guard();
            options.push(vec![guard, Stmt::Break]);
        }
        self.otherwise(&mut options);
        Stmt::Do(options)
    }

    /// Seldom an `else`; not beside channel operations, which Spin refuses.
    fn otherwise(&mut self, options: &mut Vec<Block>) {
        let plain = |stmt: &Stmt| matches!(stmt, Stmt::Expr(_) | Stmt::Assign(..) | Stmt::Break);
        if options.iter().all(|block| block.first().is_some_and(plain)) && self.rng.chance(20) {
            let step = self.assign();
            options.push(vec![Stmt::Else, step]);
        }
    }

    /// One way through a loop.
    fn option(&mut self) -> Block {
        let mut block = Vec::new();
        if self.rng.chance(50) {
            block.push(self.guard());
        }
        for _ in 0..self.rng.range(1, 2) {
            let stmt = self.statement();
            block.push(self.labelled(stmt));
        }
        // The first statement of an option must not carry a label.
        if let Some(Stmt::Label(..)) = block.first() {
            let guard = self.guard();
            block.insert(0, guard);
        }
        block
    }

    fn labelled(&mut self, stmt: Stmt) -> Stmt {
        if self.inside > 0 || !self.rng.chance(30) {
            return stmt;
        }
        self.labels += 1;
        let kind = ["L", "L", ACCEPT, "progress", "end"][self.rng.below(5)];
        let label = format!("{kind}{}", self.labels);
        self.label_of.push(label.clone());
        Stmt::Label(label, Box::new(stmt))
    }

    fn statement(&mut self) -> Stmt {
        match self.rng.below(20) {
            0 | 1 if self.inside == 0 => {
                self.inside += 1;
                let body = vec![self.simple(), self.assign()];
                self.inside -= 1;
                Stmt::Atomic(body)
            }
            2 if self.inside == 0 => Stmt::DStep(vec![self.guard(), self.assign(), self.assign()]),
            3 => {
                let mut options = vec![self.option(), self.option()];
                self.otherwise(&mut options);
                Stmt::If(options)
            }
            4 if self.inside == 0 => self.repeat(false),
            5 if self.inside == 0 => {
                let (main, escape) = (self.simple(), vec![self.guard(), self.assign()]);
                Stmt::Unless(Box::new(Stmt::Braces(vec![main])), Box::new(Stmt::Braces(escape)))
            }
            6 if self.inside == 0 && self.label_of.iter().any(|label| label.starts_with('L')) => {
                let labels: Vec<&String> = self.label_of.iter().filter(|l| l.starts_with('L')).collect();
                Stmt::Goto(labels[self.rng.below(labels.len())].clone())
            }
            _ => self.simple(),
        }
    }

    fn simple(&mut self) -> Stmt {
        match self.rng.below(10) {
            0..=2 => self.guard(),
            3..=5 if !self.channels.is_empty() => self.message(),
            _ => self.assign(),
        }
    }

    fn guard(&mut self) -> Stmt {
        if self.rng.chance(4) {
            return Stmt::Expr(Expr::word("timeout"));
        }
        let variable = self.variable();
        let value = self.rng.range(0, variable.1 - 1);
        let test = equals(&variable, value);
        Stmt::Expr(if self.rng.chance(20) { test.negated() } else { test })
    }

    fn variable(&mut self) -> Variable {
        let all: Vec<&Variable> = self.variables.iter().chain(&self.locals).collect();
        all.get(self.rng.below(all.len())).map_or_else(|| ("x".into(), 2), |v| (*v).clone())
    }

    fn assign(&mut self) -> Stmt {
        let (name, values) = self.variable();
        let value = match self.rng.below(5) {
            0 | 1 => Expr::Num(self.rng.range(0, values - 1)),
            _ => {
                let next = Expr::binary(BinOp::Add, Expr::var(name.as_str()), Expr::Num(1));
                Expr::binary(BinOp::Rem, next, Expr::Num(values))
            }
        };
        Stmt::Assign(VariableRef::name(name), value)
    }

    fn message(&mut self) -> Stmt {
        let (name, _) = self.channels[self.rng.below(self.channels.len())].clone();
        let bits: Vec<String> =
            self.variables.iter().chain(&self.locals).filter(|v| v.1 == 2).map(|v| v.0.clone()).collect();
        let bit = self.rng.pick(&bits).cloned();
        let number = self.rng.range(0, 1);
        let chan = VariableRef::name(name);
        if self.rng.chance(50) {
            let value = bit.filter(|_| number == 1).map_or(Expr::Num(number), Expr::var);
            return Stmt::Send { chan, sorted: false, paren: false, args: vec![value] };
        }
        let arg = match (self.rng.below(3), bit) {
            (0, Some(bit)) => RecvArg::VariableRef(VariableRef::name(bit)),
            (1, _) => RecvArg::Const(Expr::Num(number)),
            _ => RecvArg::Any,
        };
        Stmt::Recv { chan, kind: RecvKind::First, paren: false, args: vec![arg] }
    }

    fn name_atoms(&mut self) {
        for (name, values) in &self.variables {
            self.atoms.extend((0..*values).map(|value| format!("{name} == {value}")));
        }
        for (name, _) in self.channels.iter().filter(|(_, capacity)| *capacity > 0) {
            self.atoms.push(format!("len({name}) == 1"));
        }
    }

    /// A claim of two to four states: each asks conditions and goes on, or ends. Without `np_`, which Spin
    /// gets wrong in the initial state, and everywhere when the claim has no accept label; and without
    /// `timeout`, which Spin also takes for true where only the claim cannot move. Two of three claims only
    /// observe.
    fn never(&mut self) -> Block {
        let acts = self.rng.chance(33);
        let count = self.rng.range(2, 4) as usize;
        let names: Vec<String> = (0..count)
            .map(|at| if self.rng.chance(45) { format!("accept_S{at}") } else { format!("S{at}") })
            .collect();
        let mut body = Vec::new();
        for name in &names {
            let mut options: Vec<Block> =
                (0..self.rng.range(1, 3)).map(|_| self.claim_move(&names, acts)).collect();
            if self.rng.chance(25) {
                options.push(vec![Stmt::Else, Stmt::Goto(names[self.rng.below(count)].clone())]);
            }
            let mut choice = Stmt::If(options);
            if self.rng.chance(10) {
                let escape = self.claim_move(&names, acts);
                let escape = Stmt::Braces(if escape.len() < 2 {
                    vec![Stmt::Expr(Expr::word("false"))]
                } else {
                    escape
                });
                choice = Stmt::Unless(Box::new(Stmt::Braces(vec![choice])), Box::new(escape));
            }
            body.push(Stmt::Label(name.clone(), Box::new(choice)));
        }
        if self.rng.chance(40) {
            // Otherwise the last state goes on to the end of the claim.
            body.push(Stmt::Goto(names[self.rng.below(count)].clone()));
        }
        body
    }

    /// A move that changes a variable of the model.
    fn claim_action(&mut self, test: Expr, target: String) -> Block {
        let at = self.rng.below(self.variables.len());
        let (name, values) = self.variables[at].clone();
        let value = Expr::Num(self.rng.below(values as usize) as i64);
        let change = Stmt::Assign(VariableRef::name(name.as_str()), value);
        let then =
            Stmt::Expr(Expr::word(self.rng.pick(&self.atoms).cloned().unwrap_or_else(|| "true".into())));
        match self.rng.below(6) {
            0 => vec![Stmt::Atomic(vec![Stmt::Expr(test), change, then]), Stmt::Goto(target)],
            1 => vec![Stmt::DStep(vec![Stmt::Expr(test), change]), Stmt::Goto(target)],
            2 => vec![change, Stmt::Goto(target)],
            3 => vec![Stmt::Expr(test), change, then],
            _ => vec![Stmt::Expr(test), change, Stmt::Goto(target)],
        }
    }

    fn claim_move(&mut self, names: &[String], acts: bool) -> Block {
        let test = match self.rng.below(6) {
            0 => Expr::word("true"),
            _ => Expr::word(self.rng.pick(&self.atoms).cloned().unwrap_or_else(|| "true".into())),
        };
        let target = names[self.rng.below(names.len())].clone();
        let assertion = Expr::word(self.rng.pick(&self.atoms).cloned().unwrap_or_else(|| "true".into()));
        if acts && self.rng.chance(40) {
            return self.claim_action(test, target);
        }
        match self.rng.below(24) {
            0 => vec![Stmt::Atomic(vec![Stmt::Expr(test), Stmt::Assert(assertion)]), Stmt::Goto(target)],
            1 => vec![Stmt::DStep(vec![Stmt::Expr(test), Stmt::Expr(assertion)]), Stmt::Goto(target)],
            // Falls through to what comes next.
            2..=5 => vec![Stmt::Expr(test)],
            _ => vec![Stmt::Expr(test), Stmt::Goto(target)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::print;

    #[test]
    fn a_seed_names_one_program_with_atoms() {
        for seed in 0..200 {
            let (one, two) = (generate(seed), generate(seed));
            assert_eq!(print(&one.with_never()), print(&two.with_never()));
            assert!(!one.atoms.is_empty() && one.model.procs.len() >= 2, "seed {seed}");
        }
        assert_ne!(print(&generate(1).model), print(&generate(2).model));
    }

    #[test]
    fn all_that_makes_cycles_interesting_occurs() {
        let all: String = (0..300).map(|seed| print(&generate(seed).with_never())).collect();
        for word in
            ["accept", "progress", "end", "atomic", "d_step", "unless", "timeout", "[0] of", "[1] of", "goto"]
        {
            assert!(all.contains(word), "never generated: {word}");
        }
    }
}
