//! Straight-line programs over shared memory, and what the axioms of memory models say about them: an oracle
//! that knows no store buffers.
//!
//! An execution is a total order of all loads and stores, the *memory order*. TSO (SPARC V8, appendix K; the
//! same as x86-TSO): the memory order contains the program order but for a store before a load; PSO also
//! leaves out a store before a store to another cell; a fence orders everything around it. Under both a load
//! takes the value of the latest store, in memory order, of those that are before it in memory order or in
//! program order. Under SC the memory order contains the program order.

use crate::rng::Rng;
use std::collections::BTreeSet;
use std::fmt::Write;

/// An operation of a process. Stores are of values other than 0; memory holds 0 at the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Op {
    Store { cell: usize, value: u8 },
    Load { cell: usize },
    Fence,
}

/// A memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the models'")]
pub enum Model {
    Sc,
    Tso,
    Pso,
}

impl Model {
    /// All of them.
    pub const ALL: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

    /// As `--memory` takes it.
    pub fn word(self) -> &'static str {
        match self {
            Model::Sc => "sc",
            Model::Tso => "tso",
            Model::Pso => "pso",
        }
    }
}

/// A program: the operations of each process, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Litmus {
    /// What it is called.
    pub name: String,
    /// The processes.
    pub threads: Vec<Vec<Op>>,
}

/// What can be seen at the end: the values of all loads, process by process, then memory.
pub type Outcome = Vec<u8>;

/// A known shape: the outcome that no interleaving has, as pairs of a position in the outcome and a value,
/// and under which models it can be seen.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The program.
    pub litmus: Litmus,
    /// The outcome.
    pub relaxed: Vec<(usize, u8)>,
    /// Whether TSO and PSO allow it.
    pub allowed: [bool; 2],
}

/// An operation in an execution.
#[derive(Clone, Copy)]
struct Event {
    thread: usize,
    /// Its place among the operations of its process.
    at: usize,
    op: Op,
    /// The number of a load among all loads.
    load: usize,
}

impl Litmus {
    /// The number of cells.
    pub fn cells(&self) -> usize {
        let cell = |op: &Op| match *op {
            Op::Store { cell, .. } | Op::Load { cell } => cell + 1,
            Op::Fence => 0,
        };
        self.threads.iter().flatten().map(cell).max().unwrap_or(0)
    }

    /// The number of loads.
    pub fn loads(&self) -> usize {
        self.threads.iter().flatten().filter(|op| matches!(op, Op::Load { .. })).count()
    }

    /// The most stores of one process.
    pub fn most_stores(&self) -> usize {
        let stores = |ops: &Vec<Op>| ops.iter().filter(|op| matches!(op, Op::Store { .. })).count();
        self.threads.iter().map(stores).max().unwrap_or(0)
    }

    /// All outcomes that a memory model allows.
    pub fn outcomes(&self, model: Model) -> BTreeSet<Outcome> {
        let mut events = Vec::new();
        let mut load = 0;
        for (thread, ops) in self.threads.iter().enumerate() {
            for (at, &op) in ops.iter().enumerate() {
                events.push(Event { thread, at, op, load });
                load += usize::from(matches!(op, Op::Load { .. }));
            }
        }
        let before: Vec<Vec<usize>> = events
            .iter()
            .map(|later| (0..events.len()).filter(|&e| is_ordered(model, &events[e], later)).collect())
            .collect();
        let mut found = BTreeSet::new();
        self.extend(&events, &before, &mut Vec::new(), &mut found);
        found
    }

    /// Continues a memory order in all ways.
    fn extend(
        &self,
        events: &[Event],
        before: &[Vec<usize>],
        order: &mut Vec<usize>,
        found: &mut BTreeSet<Outcome>,
    ) {
        if order.len() == events.len() {
            found.insert(self.outcome(events, order));
            return;
        }
        for event in 0..events.len() {
            if !order.contains(&event) && before[event].iter().all(|e| order.contains(e)) {
                order.push(event);
                self.extend(events, before, order, found);
                order.pop();
            }
        }
    }

    fn outcome(&self, events: &[Event], order: &[usize]) -> Outcome {
        let mut outcome = vec![0; self.loads() + self.cells()];
        for (place, &event) in order.iter().enumerate() {
            match events[event].op {
                Op::Store { cell, value } => outcome[self.loads() + cell] = value,
                Op::Load { cell } => {
                    let own = events[event];
                    let seen = |&(at, &e): &(usize, &usize)| {
                        let store = events[e];
                        let to_cell = matches!(store.op, Op::Store { cell: to, .. } if to == cell);
                        to_cell && (at < place || store.thread == own.thread && store.at < own.at)
                    };
                    let last = order.iter().enumerate().rfind(seen);
                    if let Some((_, &store)) = last
                        && let Op::Store { value, .. } = events[store].op
                    {
                        outcome[own.load] = value;
                    }
                }
                Op::Fence => {}
            }
        }
        outcome
    }

    /// The program in Promela. The loads go to `r[…]`, one after another; the cells are `c0`, `c1` …
    pub fn promela(&self) -> String {
        let mut out = String::new();
        for cell in 0..self.cells() {
            let _ = write!(out, "byte c{cell}; ");
        }
        for load in 0..self.loads() {
            let _ = write!(out, "byte r{load}; ");
        }
        let mut load = 0;
        for (thread, ops) in self.threads.iter().enumerate() {
            let mut statements = Vec::new();
            for op in ops {
                statements.push(match *op {
                    Op::Store { cell, value } => format!("c{cell} = {value}"),
                    Op::Load { cell } => {
                        load += 1;
                        format!("r{} = c{cell}", load - 1)
                    }
                    Op::Fence => "fence".to_string(),
                });
            }
            let _ = write!(out, "\nactive proctype P{thread}() {{ {} }}", statements.join("; "));
        }
        out.push('\n');
        out
    }

    /// The program with an observer, for which the assertion fails at the end of runs with this outcome. A
    /// condition reads what it needs, so that all of it is memory.
    pub fn promela_asserting(&self, outcome: &[(usize, u8)]) -> String {
        let name = |&(at, value): &(usize, u8)| match at.checked_sub(self.loads()) {
            Some(cell) => format!("c{cell} == {value}"),
            None => format!("r{at} == {value}"),
        };
        let parts: Vec<String> = outcome.iter().map(name).collect();
        let observer = format!(
            "active proctype Observer() {{ byte n; atomic {{ (_nr_pr == 1) -> \
             if :: ({}) -> n = 1 :: else fi; assert(n == 0) }} }}",
            parts.join(" && ")
        );
        // The observer is the first process, so that all others can end.
        self.promela().replacen('\n', &format!("\n{observer}\n"), 1)
    }

    /// Two or three processes with a few operations each.
    pub fn random(rng: &mut Rng, name: String) -> Litmus {
        let n = 2 + rng.below(2);
        let most = if n == 2 { 4 } else { 3 };
        let cells = if rng.chance(75) { 2 } else { 3 };
        let mut value = 0;
        let mut threads = Vec::new();
        for _ in 0..n {
            let ops = (0..most - rng.below(2)).map(|_| match rng.below(9) {
                0 => Op::Fence,
                1..=4 => {
                    value += 1;
                    Op::Store { cell: rng.below(cells), value }
                }
                _ => Op::Load { cell: rng.below(cells) },
            });
            threads.push(ops.collect());
        }
        Litmus { name, threads }
    }
}

/// Whether the memory order must have one event before the other.
fn is_ordered(model: Model, one: &Event, other: &Event) -> bool {
    if one.thread != other.thread || one.at >= other.at {
        return false;
    }
    match (one.op, other.op) {
        (Op::Store { .. }, Op::Load { .. }) => model == Model::Sc,
        (Op::Store { cell: a, .. }, Op::Store { cell: b, .. }) => model != Model::Pso || a == b,
        _ => true,
    }
}

/// The shapes that everybody knows, with what they show.
pub fn shapes() -> Vec<Shape> {
    let st = |cell, value| Op::Store { cell, value };
    let ld = |cell| Op::Load { cell };
    let (x, y, z) = (0, 1, 2);
    let shape = |name: &str, threads: Vec<Vec<Op>>, relaxed: &[(usize, u8)], allowed: [bool; 2]| Shape {
        litmus: Litmus { name: name.to_string(), threads },
        relaxed: relaxed.to_vec(),
        allowed,
    };
    let f = Op::Fence;
    vec![
        shape("SB", vec![vec![st(x, 1), ld(y)], vec![st(y, 1), ld(x)]], &[(0, 0), (1, 0)], [true, true]),
        shape(
            "SB+fences",
            vec![vec![st(x, 1), f, ld(y)], vec![st(y, 1), f, ld(x)]],
            &[(0, 0), (1, 0)],
            [false, false],
        ),
        shape(
            "SB+rfi",
            vec![vec![st(x, 1), ld(x), ld(y)], vec![st(y, 1), ld(y), ld(x)]],
            &[(0, 1), (1, 0), (2, 1), (3, 0)],
            [true, true],
        ),
        shape("MP", vec![vec![st(x, 1), st(y, 1)], vec![ld(y), ld(x)]], &[(0, 1), (1, 0)], [false, true]),
        shape(
            "MP+fence",
            vec![vec![st(x, 1), f, st(y, 1)], vec![ld(y), ld(x)]],
            &[(0, 1), (1, 0)],
            [false, false],
        ),
        shape("LB", vec![vec![ld(x), st(y, 1)], vec![ld(y), st(x, 1)]], &[(0, 1), (1, 1)], [false, false]),
        shape("S", vec![vec![st(x, 2), st(y, 1)], vec![ld(y), st(x, 1)]], &[(0, 1), (1, 2)], [false, true]),
        shape("R", vec![vec![st(x, 1), st(y, 1)], vec![st(y, 2), ld(x)]], &[(0, 0), (2, 2)], [true, true]),
        shape(
            "2+2W",
            vec![vec![st(x, 1), st(y, 2)], vec![st(y, 1), st(x, 2)]],
            &[(0, 1), (1, 1)],
            [false, true],
        ),
        shape(
            "n6",
            vec![vec![st(x, 1), ld(x), ld(y)], vec![st(y, 1), st(x, 2)]],
            &[(0, 1), (1, 0), (2, 1)],
            [true, true],
        ),
        shape(
            "n6r",
            vec![vec![st(x, 1), ld(y), ld(y), ld(x)], vec![st(y, 1), st(x, 2), st(y, 3)]],
            &[(0, 0), (1, 3), (2, 1)],
            [true, true],
        ),
        shape(
            "WRC",
            vec![vec![st(x, 1)], vec![ld(x), st(y, 1)], vec![ld(y), ld(x)]],
            &[(0, 1), (1, 1), (2, 0)],
            [false, false],
        ),
        shape(
            "RWC",
            vec![vec![st(x, 1)], vec![ld(x), ld(y)], vec![st(y, 1), ld(x)]],
            &[(0, 1), (1, 0), (2, 0)],
            [true, true],
        ),
        shape(
            "ISA2",
            vec![vec![st(x, 1), st(y, 1)], vec![ld(y), st(z, 1)], vec![ld(z), ld(x)]],
            &[(0, 1), (1, 1), (2, 0)],
            [false, true],
        ),
        shape(
            "IRIW",
            vec![vec![st(x, 1)], vec![st(y, 1)], vec![ld(x), ld(y)], vec![ld(y), ld(x)]],
            &[(0, 1), (1, 0), (2, 1), (3, 0)],
            [false, false],
        ),
        shape("CoRR", vec![vec![st(x, 1)], vec![ld(x), ld(x)]], &[(0, 1), (1, 0)], [false, false]),
        shape(
            "CoRR2",
            vec![vec![st(x, 1)], vec![st(x, 2)], vec![ld(x), ld(x)], vec![ld(x), ld(x)]],
            &[(0, 1), (1, 2), (2, 2), (3, 1)],
            [false, false],
        ),
        shape("CoWR", vec![vec![st(x, 1), ld(x)], vec![st(x, 2)]], &[(0, 2), (1, 1)], [false, false]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axioms_give_the_table_of_the_shapes() {
        for Shape { litmus, relaxed, allowed } in shapes() {
            let is_seen = |model| {
                let outcomes = litmus.outcomes(model);
                outcomes.iter().any(|outcome| relaxed.iter().all(|&(at, value)| outcome[at] == value))
            };
            assert!(!is_seen(Model::Sc), "{} under SC", litmus.name);
            assert_eq!([is_seen(Model::Tso), is_seen(Model::Pso)], allowed, "{}", litmus.name);
        }
    }

    #[test]
    fn weaker_models_allow_more() {
        let mut rng = Rng::new(7);
        for _ in 0..50 {
            let litmus = Litmus::random(&mut rng, String::new());
            let [sc, tso, pso] = Model::ALL.map(|model| litmus.outcomes(model));
            assert!(sc.is_subset(&tso) && tso.is_subset(&pso), "{litmus:?}");
        }
    }
}
