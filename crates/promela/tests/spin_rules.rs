//! What Spin 6.5.2 accepts and refuses, rule by rule, in models of one line each. Every line was compared
//! with Spin.

use promela::diagnostic::has_errors;
use promela::parse::Dialect;
use promela::preprocess::Options;
use promela::source::{Files, SourceMap};

struct Model<'a>(&'a str);

impl Files for Model<'_> {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok(self.0.to_string())
    }
}

fn is_accepted(model: &str) -> bool {
    let mut sources = SourceMap::new();
    let done = promela::preprocess::preprocess("m.pml", &Model(model), &Options::default(), &mut sources);
    let parsed = promela::parse::parse(done.tokens, Dialect::Spin, &mut sources);
    if has_errors(&done.diagnostics) || has_errors(&parsed.diagnostics) {
        return false;
    }
    let lowered = promela::lower::lower(&parsed.unit, &sources, "m.pml");
    let accepted = lowered.program.is_some();
    if let Some(program) = lowered.program {
        assert_eq!(promela::ir::verify::verify(&program), Ok(()), "{model}");
    }
    accepted
}

fn compare(accepted: &[&str], refused: &[&str]) {
    for model in accepted {
        assert!(is_accepted(model), "Spin accepts: {model}");
    }
    for model in refused {
        assert!(!is_accepted(model), "Spin refuses: {model}");
    }
}

#[test]
fn channels_are_no_numbers() {
    compare(
        &[
            "chan c; chan d; init { c = d }",
            "chan c; int x; init { x = c }",
            "chan c; int x; init { c = x }",
            "chan c; int x; init { x = 1 + len(c) }",
            "chan c; int x[3]; int y; init { y = x[c] }",
            "chan c = 3; init { skip }",
            "typedef T { chan c }; T t; init { t.c = t.c + 1 }",
            "int x; init { len(x) == 1 }",
            "int x; init { x??[3] }",
            "chan c; proctype p(int x) { skip } init { run p(c + 1) }",
        ],
        &[
            "chan c; init { c = 3 }",
            "chan c; init { c = c + 1 }",
            "chan c; int x; init { x = c + 1 }",
            "chan c; int x[2]; init { c = x[0] }",
            "chan c; int y; init { y = (c == 1 -> 1 : 2) }",
            "chan c; init { int y = c + 1; skip }",
            "int x; init { x?3 }",
            "int x; init { STDIN?x }",
            "hidden chan c; init { skip }",
        ],
    );
}

#[test]
fn exclusive_channels() {
    compare(
        &[
            "chan c; active proctype p() { xr c; skip } active proctype q() { xs c; skip }",
            "chan c; active [2] proctype p() { xr c; xr c; skip }",
            "chan c = [1] of { byte }; active proctype p() { if :: c?1 :: else fi } active proctype q() { xs c; c!1 }",
            "chan c = [1] of { byte }; active proctype p() { xr c; if :: len(c) == 1 :: else fi }",
            "chan c = [1] of { byte }; active proctype p() { xr c; if :: c?[1] :: else fi }",
        ],
        &[
            "chan c; active proctype p() { xr c; skip } active proctype q() { xr c; skip }",
            "chan c[2]; init { xs c[0]; skip }",
            "int c; init { xr c; skip }",
            "chan c = [1] of { byte }; active proctype p() { xr c; if :: c?1 :: else fi }",
            "chan c = [1] of { byte }; active proctype p() { xr c; do :: full(c) :: else od }",
        ],
    );
}

#[test]
fn loops() {
    compare(
        &[
            "typedef T { int x }; chan c = [2] of { T }; init { T t; for (t in c) { skip } }",
            "typedef T { int x }; chan c[2] = [2] of { T }; init { T t; for (t in c[1]) { skip } }",
            "int a[3]; init { int i; for (i in a) { skip } }",
            "int a[3]; init { int i; for (i in a[1]) { skip } }",
        ],
        &[
            "typedef T { int x }; chan c = [2] of { int }; init { T t; for (t in c) { skip } }",
            "typedef T { int x }; typedef U { int x }; chan c = [2] of { T }; init { U t; for (t in c) { skip } }",
            "typedef T { int x }; chan c = [2] of { T, int }; init { T t; for (t in c) { skip } }",
            "typedef T { int x }; chan c = [0] of { T }; init { T t; for (t in c) { skip } }",
            "typedef T { int x }; proctype p(chan c) { T t; for (t in c) { skip } } init { skip }",
            "typedef T { int a[3] }; init { T t; int i; for (i in t.a) { skip } }",
            "init { int i; for (i : 3 .. 1) { skip } }",
        ],
    );
}

#[test]
fn names() {
    compare(
        &[
            "inline f(a) { a = 1 } init { int x; f(x) }",
            "inline f(a) { t.a = 1 } typedef T { int x } init { T t; int x; f(x) }",
            "active proctype p() { l: skip; goto l } active proctype q() { int l; l = 1 }",
            "never a { skip } never b { skip } never a { skip } init { skip }",
            "mtype:x = { A } mtype a = A; init { skip }",
            "proctype q() priority 0 { skip } init { run q() }",
        ],
        &[
            "inline f(a) { skip } init { f(y) }",
            "inline f(a) { t.a = 1 } typedef T { int x } init { T t; f(x) }",
            "inline f(a) { goto a } init { y: f(y) }",
            "init { l: skip; int l; skip }",
            "never a { skip } never a { skip } init { skip }",
            "mtype:x = { A } mtype:y = { B } mtype:x a = B; init { skip }",
            "typedef T { hidden int x } init { skip }",
            "active proctype q() priority 0 { skip }",
        ],
    );
}

#[test]
fn d_steps() {
    compare(
        &["init { d_step { goto l; l: skip } }", "init { d_step { do :: skip :: break od; skip } }"],
        &[
            "init { d_step { skip unless skip } }",
            "init { d_step { { skip; skip } unless { skip } } }",
            "init { d_step { skip; goto l }; skip; l: skip }",
        ],
    );
}

#[test]
fn formulas_and_choices() {
    compare(
        &[
            "byte x; ltl p { [] x == 1 } init { x = 1 }",
            "byte x, y; ltl p { []<> x == 1 -> y == 1 } init { x = 1 }",
            "byte x; init { if :: if :: x == 1 :: else fi :: else fi }",
            "byte x; active proctype p() { l: x = 1; assert(!p[0]@l) }",
            "typedef T { chan ch[2] = [1] of { byte } }; T t; chan c; init { c = t.ch[0] }",
        ],
        &[
            "byte x; ltl p { [] z == 1 } init { x = 1 }",
            "byte x; init { if :: x == 1 :: else :: else fi }",
            "byte x; active proctype p() { assert(!p[0]@l); l: x = 1 }",
            "typedef T { chan ch = [1] of { byte } }; T t[2]; chan c; init { c = t[0].ch }",
            "typedef S { chan ch = [1] of { byte } }; typedef T { S s[2] }; T t; chan c; init { c = t.s[0].ch }",
        ],
    );
}
