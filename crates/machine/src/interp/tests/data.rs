//! Whole models about values, channels, processes and traces: their numbers of states and failed assertions
//! are those of Spin 6.5.2 (reference configuration).

use std::fmt::Write;

use promela::parse::{Dialect, parse};
use promela::preprocess::{Options, preprocess};
use promela::source::{Files, SourceMap};
use system::FaultKind;

use super::{Seen, explore, machine};

/// A single file.
struct Model(String);

impl Files for Model {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok(self.0.clone())
    }
}

/// The program of a model, or its errors.
fn lower(text: &str) -> Result<promela::ir::Program, String> {
    let mut sources = SourceMap::new();
    let preprocessed = preprocess("m.pml", &Model(text.into()), &Options::default(), &mut sources);
    let parsed = parse(preprocessed.tokens, Dialect::Spin, &mut sources);
    let lowered = promela::lower::lower(&parsed.unit, &sources, "m.pml");
    let mut errors = String::new();
    for d in preprocessed.diagnostics.iter().chain(&parsed.diagnostics).chain(&lowered.diagnostics) {
        let _ = writeln!(errors, "{}", d.message);
    }
    lowered.program.ok_or(errors)
}

fn explored(text: &str) -> Seen {
    explore(&machine(lower(text).unwrap_or_else(|errors| panic!("{text}: {errors}"))))
}

/// Faults of a kind.
fn faults(seen: &Seen, kind: FaultKind) -> usize {
    seen.faults.iter().filter(|((k, _), _)| *k == kind).map(|(_, n)| n).sum()
}

#[test]
fn counts_are_those_of_spin() {
    // Text, states, failed assertions, invalid end states.
    let models: &[(&str, usize, usize, usize)] = &[
        // A bit alone in a message keeps a byte; beside other fields it is one bit, also out of an array.
        ("chan q = [1] of {bit}; int a; init { q!3; q?a; assert(a==3) }", 5, 0, 0),
        ("chan q = [1] of {bool}; int a; init { q!3; q?a; assert(a==3); q!256; q?a; assert(a==0) }", 8, 0, 0),
        (
            "typedef T { bit b[2]; byte c }; chan q = [1] of {T}; T t; T r; \
             init { t.b[0]=3; t.c=7; q!t; q?r; assert(r.b[0]==3) }",
            7,
            1,
            0,
        ),
        // `run` inside other statements.
        ("proctype P() { skip } init { assert(run P()) }", 5, 0, 0),
        (
            "proctype P() { skip } init { byte x; x = run P(); x = 1 + run P(); printf(\"%d\\n\", run P()) }",
            37,
            0,
            0,
        ),
        // A channel that is gone looks empty.
        (
            "chan g; proctype P() { chan d = [2] of {byte}; d!3; g = d } \
             init { run P(); (_nr_pr==1); byte x; g?x }",
            7,
            0,
            1,
        ),
        // Loops over arrays and channels.
        (
            "typedef T { byte a[2] }; T t[3]; byte i; init { for (i in t[0].a) { skip } assert(i==3) }",
            14,
            0,
            0,
        ),
        (
            "typedef M { byte x }; chan c = [300] of {M}; M n; \
             init { byte k; do :: k < 3 -> c!k; k++ :: else break od; for (n in c) { skip } }",
            29,
            0,
            0,
        ),
        // Traces.
        (
            "chan q = [1] of {byte}; byte x; trace { do :: q!_; q?_ od } \
             active proctype A() { q!1; q!2 } active proctype B() { q?x; q?x }",
            7,
            0,
            0,
        ),
        // Statements that need no test are not checked for determinism.
        ("D_proctype P() { skip } active D_proctype Q(){ if :: true :: true fi } init { run P() }", 11, 0, 0),
    ];
    for &(text, states, assertions, deadlocks) in models {
        let seen = explored(text);
        assert_eq!(
            (
                seen.states,
                faults(&seen, FaultKind::Assertion),
                seen.deadlocks,
                faults(&seen, FaultKind::Runtime)
            ),
            (states, assertions, deadlocks, 0),
            "{text}"
        );
    }
}

#[test]
fn what_spin_refuses_is_refused() {
    let models = [
        ("typedef T { unsigned u : 5 }; chan q = [1] of {T}; init { skip }", "unsigned"),
        ("inline f(a) { a[0] = 1 } byte b[3]; init { f(b) }", "missing array index"),
        ("inline f(x) { goto x } init { f(L); skip; L: skip }", "undeclared"),
        ("typedef T { byte a[3] }; T t; byte i; init { for (i in t.a) { skip } }", "needs an array"),
        (
            "typedef M { byte x }; chan q = [3] of {byte}; M m; init { for (m in q) { skip } }",
            "no channel that `for` can look through",
        ),
        (
            "typedef M { byte x }; typedef N { byte x }; chan c = [2] of {M}; N n; init { for (n in c) { skip } }",
            "no channel that `for` can look through",
        ),
        ("chan q[2] = [1] of {byte}; active proctype P() { xr q[0]; q[0]?1 }", "element of an array"),
        (
            "chan q = [1] of {byte}; byte x; active proctype P() { xr q; if :: q?x :: else fi }",
            "cannot stand beside messages",
        ),
        (
            "chan q = [0] of {byte}; active proctype A() { q!1 } active proctype B() { enabled(0) }",
            "enabled()",
        ),
        ("chan q[256] = [1] of {byte}; init { q[254]!1 }", "too many channels"),
        ("chan a = [1] of {byte}; byte x; init { x = a; x = a + 1 }", "cannot be used in arithmetic"),
        ("hidden chan q = [2] of {byte}; init { q!1 }", "cannot be hidden"),
    ];
    for (text, reason) in models {
        let errors = lower(text).err().unwrap_or_default();
        assert!(errors.contains(reason), "{text}: {errors}");
    }
}

#[test]
fn a_bad_index_names_the_last_element() {
    let seen = explored("byte a[1]; byte i = 1; init { a[i] = 3 }");
    assert!(seen.faults.keys().any(|(_, message)| message.contains("the last element is 0")), "{seen:?}");
}

#[test]
fn statements_that_need_a_test_are_checked_for_determinism() {
    let seen = explored("active D_proctype Q() { byte x; if :: x = 1 :: x = 2 fi }");
    assert_eq!(faults(&seen, FaultKind::Runtime), 1);
}
