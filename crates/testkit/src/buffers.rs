//! Random looping programs over shared memory, in two texts: as a programmer writes them, for a tool that
//! puts store buffers behind them, and with the buffers written out by hand, for one that knows none. In the
//! second text every buffer is a process of its own that moves the oldest store to memory, so that fairness
//! means the same in both.

use crate::formula::Formula;
use crate::litmus::Model;
use crate::rng::Rng;
use std::fmt::Write;

/// Cells of memory; values are less than that, so that a value can be an index.
const CELLS: usize = 2;

/// A statement. `r` is the register of its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Statement {
    /// Stores a value, or the register.
    Store(Cell, Operand),
    /// Loads into the register.
    Load(Cell),
    /// Waits for a value.
    Await(usize, u8),
    /// Waits for a value of the register: perhaps forever.
    Asks(u8),
    Fence,
    /// Exchanges a value for another, if it is there, as a locked instruction.
    Exchange(usize, u8, u8),
    /// Loads a cell and remembers whether it had a value, with `else`.
    Branch(usize, u8),
    /// One of two stores.
    Either(usize, usize),
    /// Says what the register does not hold.
    Claims(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    Number(usize),
    /// The cell whose number is in the register.
    Register,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operand {
    Value(u8),
    Register,
}

/// What a text is to be asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// Assertions and deadlocks.
    States,
    /// The formulas.
    Runs,
}

/// A program.
#[derive(Clone, Debug)]
pub struct Looping {
    /// What each process does, and whether it does so forever.
    processes: Vec<(Vec<Statement>, bool)>,
    /// Formulas about memory.
    pub formulas: Vec<Formula>,
}

impl Looping {
    /// Two processes and some formulas about memory. Three would have too many states for a test.
    pub fn random(rng: &mut Rng) -> Looping {
        let mut processes = Vec::new();
        for _ in 0..2 {
            let statements = (0..1 + rng.below(3)).map(|_| statement(rng)).collect();
            processes.push((statements, rng.chance(80)));
        }
        let atoms: Vec<String> =
            (0..CELLS).flat_map(|cell| (0..2).map(move |value| format!("c[{cell}] == {value}"))).collect();
        Looping { processes, formulas: (0..4).map(|_| Formula::random(rng, &atoms)).collect() }
    }

    /// The program as it is written.
    pub fn promela(&self, about: About) -> String {
        self.text(about, &|_| Box::new(Plain))
    }

    /// The program with buffers of this size, written out.
    pub fn with_daemons(&self, model: Model, bound: usize, about: About) -> String {
        self.text(about, &|p| match model {
            Model::Sc => Box::new(Plain),
            Model::Tso => Box::new(Tso { p, bound }),
            Model::Pso => Box::new(Pso { p, bound }),
        })
    }

    fn text(&self, about: About, memory: &dyn Fn(usize) -> Box<dyn Memory>) -> String {
        let mut out = format!("byte c[{CELLS}];\n");
        for p in 0..self.processes.len() {
            out += &self.process(p, &*memory(p), about);
        }
        let formulas = if about == About::Runs { &self.formulas[..] } else { &[] };
        for (at, formula) in formulas.iter().enumerate() {
            let _ = writeln!(out, "ltl f{at} {{ {formula} }}");
        }
        out
    }

    fn process(&self, p: usize, memory: &dyn Memory, about: About) -> String {
        let (statements, forever) = &self.processes[p];
        let text = |statement: &Statement| match statement {
            // Formulas are asked about all runs.
            Statement::Claims(_) if about == About::Runs => "skip".to_string(),
            statement => text(*statement, memory),
        };
        let body: Vec<String> = statements.iter().map(text).collect();
        let body = body.join(";\n\t");
        let body = if *forever { format!("do\n\t:: {body}\n\tod") } else { body };
        let quiet = if *forever { String::new() } else { memory.end() };
        format!("{}active proctype P{p}() {{\n\tbyte r;\n\t{body}{quiet}\n}}\n", memory.declarations())
    }
}

fn statement(rng: &mut Rng) -> Statement {
    let value = |rng: &mut Rng| rng.below(2) as u8;
    let cell = |rng: &mut Rng| rng.below(CELLS);
    let place = |rng: &mut Rng| match rng.chance(20) {
        true => Cell::Register,
        false => Cell::Number(rng.below(CELLS)),
    };
    match rng.below(20) {
        0..=6 => {
            let stored = if rng.chance(25) { Operand::Register } else { Operand::Value(value(rng)) };
            Statement::Store(place(rng), stored)
        }
        7..=11 => Statement::Load(place(rng)),
        12 | 13 => Statement::Await(cell(rng), value(rng)),
        14 => Statement::Fence,
        15 => Statement::Exchange(cell(rng), value(rng), value(rng)),
        16 | 17 => Statement::Branch(cell(rng), value(rng)),
        18 => Statement::Either(cell(rng), cell(rng)),
        _ if rng.chance(50) => Statement::Asks(value(rng)),
        _ => Statement::Claims(value(rng)),
    }
}

/// How a process uses memory, as Promela.
trait Memory {
    /// What stands in front of the process.
    fn declarations(&self) -> String;
    fn store(&self, cell: &str, value: &str) -> String;
    /// An expression.
    fn load(&self, cell: &str) -> String;
    fn fence(&self) -> String;
    /// What a locked instruction asks before it begins.
    fn locked(&self) -> String;
    /// What the process does before it ends.
    fn end(&self) -> String;
}

fn text(statement: Statement, memory: &dyn Memory) -> String {
    let cell = |cell: Cell| match cell {
        Cell::Number(number) => number.to_string(),
        Cell::Register => "r".to_string(),
    };
    match statement {
        Statement::Store(to, Operand::Value(value)) => memory.store(&cell(to), &value.to_string()),
        Statement::Store(to, Operand::Register) => memory.store(&cell(to), "r"),
        Statement::Load(from) => format!("r = {}", memory.load(&cell(from))),
        Statement::Await(from, value) => format!("({} == {value})", memory.load(&from.to_string())),
        Statement::Asks(value) => format!("(r == {value})"),
        Statement::Fence => memory.fence(),
        Statement::Exchange(at, old, new) => {
            format!("atomic {{ ({}c[{at}] == {old}) -> c[{at}] = {new} }}", memory.locked())
        }
        Statement::Branch(from, value) => {
            format!("if :: ({} == {value}) -> r = 1 :: else -> r = 0 fi", memory.load(&from.to_string()))
        }
        Statement::Either(one, other) => {
            let (one, other) = (memory.store(&one.to_string(), "0"), memory.store(&other.to_string(), "1"));
            format!("if :: {one} :: {other} fi")
        }
        Statement::Claims(value) => format!("assert(r != {value})"),
    }
}

/// No buffers, or those of the tool.
struct Plain;

impl Memory for Plain {
    fn declarations(&self) -> String {
        String::new()
    }

    fn store(&self, cell: &str, value: &str) -> String {
        format!("c[{cell}] = {value}")
    }

    fn load(&self, cell: &str) -> String {
        format!("c[{cell}]")
    }

    fn fence(&self) -> String {
        "fence".to_string()
    }

    fn locked(&self) -> String {
        String::new()
    }

    fn end(&self) -> String {
        String::new()
    }
}

/// One buffer for a process.
struct Tso {
    p: usize,
    bound: usize,
}

impl Memory for Tso {
    fn declarations(&self) -> String {
        let Tso { p, bound } = *self;
        let shift: String = (1..bound)
            .map(|i| format!("k{p}[{}] = k{p}[{i}]; v{p}[{}] = v{p}[{i}]; ", i - 1, i - 1))
            .collect();
        let last = bound - 1;
        format!(
            "byte n{p}, k{p}[{bound}], v{p}[{bound}];\nactive proctype D{p}() {{\nend:\tdo\n\t:: d_step {{ n{p} > 0 -> \
             c[k{p}[0]] = v{p}[0]; {shift}k{p}[{last}] = 0; v{p}[{last}] = 0; n{p}-- }}\n\tod\n}}\n"
        )
    }

    fn store(&self, cell: &str, value: &str) -> String {
        let Tso { p, bound } = *self;
        format!("d_step {{ n{p} < {bound} -> k{p}[n{p}] = {cell}; v{p}[n{p}] = {value}; n{p}++ }}")
    }

    fn load(&self, cell: &str) -> String {
        let p = self.p;
        (0..self.bound).fold(format!("c[{cell}]"), |older, i| {
            format!("((n{p} > {i} && k{p}[{i}] == {cell}) -> v{p}[{i}] : {older})")
        })
    }

    fn fence(&self) -> String {
        format!("(n{} == 0)", self.p)
    }

    fn locked(&self) -> String {
        format!("n{} == 0 && ", self.p)
    }

    fn end(&self) -> String {
        format!(";\n\t(n{} == 0)", self.p)
    }
}

/// A buffer for a process and a cell.
struct Pso {
    p: usize,
    bound: usize,
}

impl Memory for Pso {
    fn declarations(&self) -> String {
        let Pso { p, bound } = *self;
        let mut out = format!("byte n{p}[{CELLS}], v{p}[{}];\n", CELLS * bound);
        for cell in 0..CELLS {
            let first = cell * bound;
            let shift: String =
                (1..bound).map(|i| format!("v{p}[{}] = v{p}[{}]; ", first + i - 1, first + i)).collect();
            let last = first + bound - 1;
            let _ = write!(
                out,
                "active proctype D{p}{cell}() {{\nend:\tdo\n\t:: d_step {{ n{p}[{cell}] > 0 -> c[{cell}] = v{p}[{first}]; \
                 {shift}v{p}[{last}] = 0; n{p}[{cell}]-- }}\n\tod\n}}\n"
            );
        }
        out
    }

    fn store(&self, cell: &str, value: &str) -> String {
        let Pso { p, bound } = *self;
        format!(
            "d_step {{ n{p}[{cell}] < {bound} -> v{p}[{cell}*{bound} + n{p}[{cell}]] = {value}; n{p}[{cell}]++ }}"
        )
    }

    fn load(&self, cell: &str) -> String {
        let Pso { p, bound } = *self;
        format!("(n{p}[{cell}] > 0 -> v{p}[{cell}*{bound} + n{p}[{cell}] - 1] : c[{cell}])")
    }

    fn fence(&self) -> String {
        format!("({})", self.quiet())
    }

    fn locked(&self) -> String {
        format!("{} && ", self.quiet())
    }

    fn end(&self) -> String {
        format!(";\n\t({})", self.quiet())
    }
}

impl Pso {
    fn quiet(&self) -> String {
        let each: Vec<String> = (0..CELLS).map(|cell| format!("n{}[{cell}] == 0", self.p)).collect();
        each.join(" && ")
    }
}
