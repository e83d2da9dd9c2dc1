//! Litmus tests: short programs, one outcome that a strong memory forbids, and the models that allow it.
//!
//! Names and shapes are the field's (Alglave, Maranget, Sewell and others; n6 is of Owens, Sarkar and Sewell's
//! x86-TSO). What each model allows is stated here and held against an enumeration of the axioms in
//! `tests/axioms.rs`. From a cold start they are weaker than the streams of [`crate::rules`]: nothing is cached
//! yet; their use is to tell models apart, and to test fences.

use crate::model::Model;
use crate::words::{X, Y, Z};

/// A litmus test.
#[derive(Clone, Debug)]
pub struct Litmus {
    /// As `--litmus` names it.
    pub name: &'static str,
    /// What each processor does.
    pub programs: Vec<Vec<Step>>,
    /// The values that addresses have in the end, in the outcome that is asked about.
    pub finals: Vec<(usize, u8)>,
    /// The models that allow the outcome.
    pub allowed: Vec<Model>,
    /// Models whose axioms allow it, though no memory that sends a write after the reads before it shows it.
    pub only_by_axioms: Vec<Model>,
}

/// A step of a litmus test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Write a value to an address.
    Write(usize, u8),
    /// Read an address; the value in the outcome that is asked about.
    Read(usize, u8),
    /// A fence.
    Fence,
}

impl Step {
    /// The value that it writes.
    pub fn written(&self) -> Option<u8> {
        match *self {
            Step::Write(_, value) => Some(value),
            Step::Read(..) | Step::Fence => None,
        }
    }
}

/// What a model says about the outcome of a litmus test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Says {
    /// The outcome must not show.
    Forbids,
    /// The outcome may show.
    Allows,
    /// The model has no fences, and the test has.
    Nothing,
}

impl Litmus {
    /// Whether it has fences.
    pub fn has_fences(&self) -> bool {
        self.programs.iter().flatten().any(|step| *step == Step::Fence)
    }

    /// What the model says of its outcome.
    pub fn says(&self, model: Model) -> Says {
        match () {
            () if self.has_fences() && !model.has_fences() => Says::Nothing,
            () if self.allowed.contains(&model) => Says::Allows,
            () => Says::Forbids,
        }
    }

    /// How many addresses it uses.
    pub fn addresses(&self) -> usize {
        let used = self.programs.iter().flatten().filter_map(|step| match step {
            Step::Write(a, _) | Step::Read(a, _) => Some(*a),
            Step::Fence => None,
        });
        1 + used.max().unwrap_or(0)
    }
}

const fn w(address: usize, value: u8) -> Step {
    Step::Write(address, value)
}

const fn r(address: usize, value: u8) -> Step {
    Step::Read(address, value)
}

const F: Step = Step::Fence;

/// A row of the table: name, programs, final values, models that allow the outcome.
type Row<'a> = (&'static str, &'a [&'a [Step]], &'a [(usize, u8)], &'a str);

/// Two processors.
const PAIRS: &[Row<'static>] = &[
    ("SB", &[&[w(X, 1), r(Y, 0)], &[w(Y, 1), r(X, 0)]], &[], "tso pso pc pram coherent"),
    ("SB+fences", &[&[w(X, 1), F, r(Y, 0)], &[w(Y, 1), F, r(X, 0)]], &[], ""),
    (
        "SB+rfi",
        &[&[w(X, 1), r(X, 1), r(Y, 0)], &[w(Y, 1), r(Y, 1), r(X, 0)]],
        &[],
        "tso pso pc pram coherent",
    ),
    ("MP", &[&[w(X, 1), w(Y, 1)], &[r(Y, 1), r(X, 0)]], &[], "pso coherent"),
    ("MP+fence", &[&[w(X, 1), F, w(Y, 1)], &[r(Y, 1), r(X, 0)]], &[], ""),
    ("LB", &[&[r(Y, 1), w(X, 1)], &[r(X, 1), w(Y, 1)]], &[], "(pc) (pram) (coherent)"),
    ("S", &[&[w(X, 2), w(Y, 1)], &[r(Y, 1), w(X, 1)]], &[(X, 2)], "pso (pram) coherent"),
    ("R", &[&[w(X, 1), w(Y, 1)], &[w(Y, 2), r(X, 0)]], &[(Y, 2)], "tso pso pram coherent"),
    ("2+2W", &[&[w(X, 1), w(Y, 2)], &[w(Y, 1), w(X, 2)]], &[(X, 1), (Y, 1)], "pso coherent"),
    ("n6", &[&[w(X, 1), r(X, 1), r(Y, 0)], &[w(Y, 2), w(X, 2)]], &[(X, 1)], "tso pso coherent"),
    ("n6r", &[&[w(X, 1), r(Y, 0), r(Y, 2), r(X, 1)], &[w(Y, 1), w(X, 2), w(Y, 2)]], &[], "tso pso coherent"),
    ("CoRR", &[&[w(X, 1)], &[r(X, 1), r(X, 0)]], &[], ""),
    ("CoWR", &[&[w(X, 1), r(X, 2)], &[w(X, 2)]], &[(X, 1)], ""),
];

/// Three and four processors.
const GROUPS: &[Row<'static>] = &[
    ("WRC", &[&[w(X, 1)], &[r(X, 1), w(Y, 1)], &[r(Y, 1), r(X, 0)]], &[], "pc pram coherent"),
    ("RWC", &[&[w(X, 1)], &[r(X, 1), r(Y, 0)], &[w(Y, 1), r(X, 0)]], &[], "tso pso pc pram coherent"),
    ("ISA2", &[&[w(X, 1), w(Y, 1)], &[r(Y, 1), w(Z, 1)], &[r(Z, 1), r(X, 0)]], &[], "pso pc pram coherent"),
    ("IRIW", &[&[w(X, 1)], &[w(Y, 1)], &[r(X, 1), r(Y, 0)], &[r(Y, 1), r(X, 0)]], &[], "pc pram coherent"),
    ("CoRR2", &[&[w(X, 1)], &[w(X, 2)], &[r(X, 1), r(X, 2)], &[r(X, 2), r(X, 1)]], &[], "pram"),
];

/// All litmus tests.
pub fn tests() -> Vec<Litmus> {
    PAIRS.iter().chain(GROUPS).map(litmus).collect()
}

/// The test of this name, in any case of letters.
pub fn test(name: &str) -> Option<Litmus> {
    tests().into_iter().find(|test| test.name.eq_ignore_ascii_case(name))
}

/// The names of all litmus tests.
pub fn names() -> Vec<&'static str> {
    PAIRS.iter().chain(GROUPS).map(|row| row.0).collect()
}

fn litmus(&(name, programs, finals, models): &Row<'static>) -> Litmus {
    let listed = |shown: bool| {
        let words = models.split_whitespace().filter(move |word| !shown || word.starts_with('('));
        words.filter_map(|word| Model::of(word.trim_matches(['(', ')']))).collect()
    };
    Litmus {
        name,
        programs: programs.iter().map(|program| program.to_vec()).collect(),
        finals: finals.to_vec(),
        allowed: listed(false),
        only_by_axioms: listed(true),
    }
}
