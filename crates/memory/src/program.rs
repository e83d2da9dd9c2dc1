//! What processors do in a composed model: phases with a choice of operations, whatever the test.
//!
//! Tests of rules, litmus tests and the observer of sequential consistency are all made into this form;
//! [`crate::blocking`] and [`crate::split`] write it as Promela for the two kinds of memory systems.

use crate::litmus::{Litmus, Step};
use crate::rules::{Is, Op, Seen, Test};
use crate::words;

/// Which processor and which address play which part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Roles {
    /// The processor that does what the test's first, second … processor does.
    pub cpus: Vec<usize>,
    /// The address that stands for the test's first, second … address.
    pub addresses: Vec<usize>,
}

impl Roles {
    /// Everybody plays the own part.
    pub fn plain(cpus: usize, addresses: usize) -> Self {
        Roles { cpus: (0..cpus).collect(), addresses: (0..addresses).collect() }
    }

    /// All ways to give the parts to the processors and addresses that there are.
    pub fn all(parts: (usize, usize), of: (usize, usize)) -> Vec<Roles> {
        let (cpus, addresses) = (arrangements(parts.0, of.0), arrangements(parts.1, of.1));
        let pair = |cpus: &Vec<usize>| {
            let cpus = cpus.clone();
            addresses
                .iter()
                .map(move |a| Roles { cpus: cpus.clone(), addresses: a.clone() })
                .collect::<Vec<_>>()
        };
        cpus.iter().flat_map(pair).collect()
    }

    /// Whether everybody plays the own part.
    pub fn is_plain(&self) -> bool {
        let in_order = |list: &[usize]| list.iter().enumerate().all(|(i, &n)| i == n);
        in_order(&self.cpus) && in_order(&self.addresses)
    }

    /// As part of a file name: `p10a01`.
    pub fn suffix(&self) -> String {
        let digits = |list: &[usize]| list.iter().map(ToString::to_string).collect::<String>();
        format!("p{}a{}", digits(&self.cpus), digits(&self.addresses))
    }
}

/// All ways to choose `k` of `n` in order.
fn arrangements(k: usize, n: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..k {
        let longer = |one: Vec<usize>| {
            let free = (0..n).filter(|i| !one.contains(i)).collect::<Vec<_>>();
            free.into_iter().map(move |i| [one.clone(), vec![i]].concat())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

/// What all processors do, and what is looked at.
#[derive(Clone, Debug)]
pub struct Program {
    /// Processors.
    pub cpus: usize,
    /// Addresses.
    pub addresses: usize,
    /// What each does.
    pub clients: Vec<Vec<Phase>>,
    /// Global variables of the observer, as declarations.
    pub globals: Vec<String>,
    /// Local variables of each processor's observer, likewise.
    pub locals: Vec<Vec<String>>,
    /// What `ORDER(a, v)` does beside being printed; empty for nothing.
    pub order: String,
    /// What processors wait for before they note something; a run in which it is false is no witness.
    pub guard: Option<String>,
    /// What is asserted when all processors have finished and nothing is in flight.
    pub outcome: Option<String>,
    /// Addresses that are read before that, and the variables for their values.
    pub finals: Vec<(usize, String)>,
    /// A label, `served`, is passed whenever a processor has completed an operation.
    pub tells_service: bool,
    /// A process of its own, `mv_judge`, says when a run is a violation. It is started last, so that the numbers of the
    /// system's processes are the same in every test.
    pub has_judge: bool,
    /// A processor makes up its mind before it begins an operation: the system's operations cannot be options
    /// of one choice.
    pub chooses_first: bool,
}

/// A phase of a processor: what it may do, in any order and as often as it likes; in a phase without moves it
/// has finished.
pub type Phase = Vec<Move>;

/// An operation and what is noted of it.
#[derive(Clone, Debug)]
pub struct Move {
    /// The operation, with true numbers of addresses.
    pub op: Op,
    /// The phase after it.
    pub to: Option<usize>,
    /// A statement that notes, before it begins, that it will.
    pub before: Option<String>,
    /// Statements that note it; `$` is the value that a read returned.
    pub notes: String,
    /// A read that leads to another phase when it returns this value.
    pub leads: Option<(u8, usize)>,
}

impl Move {
    pub(crate) fn plain(op: Op) -> Self {
        Move { op, to: None, before: None, notes: String::new(), leads: None }
    }
}

impl Program {
    /// Nothing is observed.
    fn bare(cpus: usize, addresses: usize) -> Self {
        Program {
            cpus,
            addresses,
            clients: vec![vec![Vec::new()]; cpus],
            globals: Vec::new(),
            locals: vec![Vec::new(); cpus],
            order: String::new(),
            guard: None,
            outcome: None,
            finals: Vec::new(),
            tells_service: false,
            has_judge: false,
            chooses_first: false,
        }
    }

    /// A test of rules, with noise: reads of everything by everybody, and of addresses that the test does not
    /// use also writes.
    pub fn of_test(test: &Test, roles: &Roles, size: (usize, usize)) -> Self {
        let mut program = Program::bare(size.0, size.1);
        let shared = |flag: usize| test.violation.len() > 1 && test.violation.contains(&flag);
        for (part, client) in test.clients.iter().enumerate() {
            let cpu = roles.cpus[part];
            let phases = client.0.iter().map(|moves| {
                let moves = moves.iter().map(|one| Move {
                    op: renamed(one.op, roles),
                    to: one.to,
                    before: None,
                    notes: notes(&one.sees, test),
                    leads: one.sees.iter().find_map(leading),
                });
                with_noise(moves.collect(), roles, size.1)
            });
            program.clients[cpu] = phases.collect();
            let seen = client.0.iter().flatten().flat_map(|one| &one.sees).filter_map(|seen| seen.sets);
            let mut flags: Vec<usize> = seen.collect();
            flags.sort_unstable();
            flags.dedup();
            for flag in flags {
                let list = if shared(flag) { &mut program.globals } else { &mut program.locals[cpu] };
                let declaration = format!("bool mv_f{flag};");
                if !list.contains(&declaration) {
                    list.push(declaration);
                }
            }
        }
        for cpu in (0..size.0).filter(|cpu| !roles.cpus.contains(cpu)) {
            program.clients[cpu] = vec![with_noise(Vec::new(), roles, size.1)];
        }
        program
    }

    /// A litmus test: its violation is that the outcome shows.
    pub fn of_litmus(litmus: &Litmus, roles: &Roles, size: (usize, usize)) -> Self {
        let mut program = Program::bare(size.0, size.1);
        let mut outcome = Vec::new();
        for (part, steps) in litmus.programs.iter().enumerate() {
            let mut phases = Vec::new();
            for step in steps {
                let (op, notes) = match *step {
                    Step::Write(a, v) => (Op::Write(a, v), String::new()),
                    Step::Fence => (Op::Fence, String::new()),
                    Step::Read(a, v) => {
                        let register = format!("mv_r{}", outcome.len());
                        outcome.push(format!("{register} == {v}"));
                        program.globals.push(format!("byte {register};"));
                        (Op::Read(a), format!("{register} = $"))
                    }
                };
                let to = Some(phases.len() + 1);
                phases.push(vec![Move { to, notes, ..Move::plain(renamed(op, roles)) }]);
            }
            phases.push(Vec::new());
            program.clients[roles.cpus[part]] = phases;
        }
        for cpu in (0..size.0).filter(|cpu| !roles.cpus.contains(cpu)) {
            program.clients[cpu] = vec![Vec::new()];
        }
        for &(a, v) in &litmus.finals {
            let (address, last) = (roles.addresses[a], format!("mv_last{a}"));
            program.globals.push(format!("byte {last};"));
            outcome.push(format!("{last} == {v}"));
            program.finals.push((address, last));
        }
        program.outcome = Some(format!("!({})", outcome.join(" && ")));
        program
    }

    /// Everybody reads and writes whatever there is: for questions about the system itself. One value is enough
    /// for a system that does not look at values.
    pub fn of_anything(cpus: usize, addresses: usize, values: u8) -> Self {
        let mut program = Program::bare(cpus, addresses);
        let uses = |a| (0..values).map(move |v| Op::Write(a, v)).chain([Op::Read(a)]);
        let moves = (0..addresses).flat_map(uses);
        let phase: Phase = moves.map(Move::plain).collect();
        program.clients = vec![vec![phase]; cpus];
        program
    }

    /// A program for [`crate::observer`] and [`crate::ordering`] to fill in.
    pub(crate) fn empty(cpus: usize, addresses: usize) -> Self {
        Program::bare(cpus, addresses)
    }
}

fn renamed(op: Op, roles: &Roles) -> Op {
    match op {
        Op::Write(a, v) => Op::Write(roles.addresses[a], v),
        Op::Read(a) => Op::Read(roles.addresses[a]),
        Op::Fence => Op::Fence,
    }
}

fn leading(seen: &Seen) -> Option<(u8, usize)> {
    match (seen.value, seen.to) {
        (Is::Equal(value), Some(to)) => Some((value, to)),
        _ => None,
    }
}

fn with_noise(mut moves: Vec<Move>, roles: &Roles, addresses: usize) -> Vec<Move> {
    for address in 0..addresses {
        if !moves.iter().any(|one| one.op == Op::Read(address)) {
            moves.push(Move::plain(Op::Read(address)));
        }
        if !roles.addresses.contains(&address) {
            moves.push(Move::plain(Op::Write(address, 0)));
        }
    }
    moves
}

/// What is noted of a value, as Promela.
fn notes(sees: &[Seen], test: &Test) -> String {
    let option = |seen: &Seen| {
        let flag = seen.sets?;
        let value = match seen.value {
            Is::Equal(value) => format!("$ == {value}"),
            Is::Neither(a, b) if a == b => format!("$ != {a}"),
            Is::Neither(a, b) => format!("$ != {a} && $ != {b}"),
        };
        let after = seen.after.map_or_else(String::new, |first| format!(" && mv_f{first}"));
        let others =
            test.violation.iter().filter(|&&other| other != flag).map(|other| format!("mv_f{other}"));
        let others: Vec<String> = others.collect();
        let judged = match (test.violation.contains(&flag), others.is_empty()) {
            (false, _) => String::new(),
            (true, true) => format!("; assert(!mv_f{flag})"),
            (true, false) => format!("; assert(!({}))", others.join(" && ")),
        };
        Some(format!(":: {value}{after} -> mv_f{flag} = true{judged}"))
    };
    let options: Vec<String> = sees.iter().filter_map(option).collect();
    if options.is_empty() { String::new() } else { format!("if {} :: else fi", options.join(" ")) }
}

/// An operation as tables and models print it: `write x := 1`; `%d` is the value that a read returned.
pub fn told(op: Op) -> String {
    match op {
        Op::Write(a, v) => format!("write {} := {v}", words::address(a)),
        Op::Read(a) => format!("read {} = %d", words::address(a)),
        Op::Fence => "fence".to_string(),
    }
}
