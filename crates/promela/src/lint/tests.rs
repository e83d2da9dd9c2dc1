//! Every lint: what it must say, and the near miss that it must not.

use super::lint;
use crate::diagnostic::has_errors;
use crate::parse::{Dialect, parse_lines};
use crate::preprocess::{Options, preprocess};
use crate::source::{Files, SourceMap};

struct Model<'a>(&'a str);

impl Files for Model<'_> {
    fn read(&self, path: &str) -> Result<String, String> {
        Ok(if path == "m.pml" { self.0 } else { "inline library() { skip }\n" }.to_string())
    }
}

/// The codes and places of all findings, as `W0204@300`: the code and the text that it is about.
fn findings(text: &str) -> Vec<String> {
    let mut sources = SourceMap::new();
    let done = preprocess("m.pml", &Model(text), &Options::default(), &mut sources);
    let parsed = parse_lines(done.tokens, done.line_starts, Dialect::Spin, &mut sources);
    let lowered = crate::lower::lower(&parsed.unit, &sources, "m.pml");
    let errors = [done.diagnostics, parsed.diagnostics, lowered.diagnostics].concat();
    assert!(!has_errors(&errors), "{text}: {errors:?}");
    let program = lowered.program.expect("no errors");
    let found = lint(&parsed.unit, &program, &sources);
    assert!(found.iter().all(|d| d.help.is_some()), "{text}: a finding without a repair");
    found.iter().map(|d| format!("{}@{}", d.code, sources.text(sources.site(d.span())))).collect()
}

/// All findings of a model.
fn finds(text: &str, expected: &[&str]) {
    assert_eq!(findings(text), expected, "{text}");
}

/// The statements as the body of an init, with variables that are used.
fn body(statements: &str) -> String {
    format!(
        "byte x = 1, y = 1; short s = 1; chan c = [2] of {{ byte }};\n\
         init {{ {statements} }}\n\
         active proctype other() {{ x = 2; y = x + s; s = y; assert(x + y + s > 0); c!1; c?_ }}\n"
    )
}

fn body_finds(statements: &str, expected: &[&str]) {
    finds(&body(statements), expected);
}

#[test]
fn constants_that_do_not_fit() {
    body_finds("x = 300", &["W0204@300"]);
    body_finds("x = 255; s = -1; x = 256 - 1", &[]);
    body_finds("x = -1", &["W0204@-1"]);
    body_finds("c!256", &["W0204@256"]);
    body_finds("c!255", &[]);
    body_finds("c?256", &["W0204@256"]);
    body_finds("bool b = 2; assert(b)", &["W0204@2"]);
    body_finds("skip; bool b = 2; assert(b)", &["W0204@2"]);
    finds("proctype p(bit b) { assert(b) } init { run p(2); run p(1) }", &["W0204@2"]);
    finds("byte a[3] = { 1, 300, 3 }; init { assert(a[0]) }", &["W0204@300"]);
    finds("typedef T { byte f = 256 }; T t; init { assert(t.f) }", &["W0204@256"]);
    finds("unsigned u : 3 = 8; init { assert(u) }", &["W0204@8"]);
}

#[test]
fn what_a_macro_or_inline_copies_is_reported_once() {
    finds(
        "byte b; inline set(v) { b = 300; b = v }\n\
         #define BAD b = 400\n\
         init { set(1); set(2); set(500); BAD; BAD; assert(b) }",
        &["W0204@300", "W0204@BAD", "W0204@500"],
    );
}

#[test]
fn what_holds_for_one_copy_only_is_not_reported() {
    finds(
        "byte b; inline f(q) { byte t; if :: q -> b = t :: else -> t = 1 fi }\ninit { f(b); assert(b) }",
        &[],
    );
    finds("inline f() { byte t; skip }\ninit { f(); f() }", &["W0205@t"]);
    finds("byte b; inline f() { goto out; b = 1; out: assert(b) }\ninit { f(); f() }", &["W0303@b = 1"]);
}

#[test]
fn comparisons_that_types_decide() {
    body_finds("assert(x >= 0)", &["W0208@x >= 0"]);
    body_finds("assert(s >= 0); assert(x > 0); assert(x < 255)", &[]);
    body_finds("x == 300", &["W0208@x == 300"]);
    body_finds("x == -1", &["W0208@x == -1"]);
    body_finds("x != 256", &["W0208@x != 256"]);
    body_finds("x + 1 > 0", &["W0208@x + 1 > 0"]);
    body_finds("x - 1 >= 0", &[]);
    body_finds("x % 3 < 3", &["W0208@x % 3 < 3"]);
    finds("byte x; active proctype p() { x = 1 } ltl l { [] (x >= 0) }", &["W0208@x >= 0"]);
    finds("#define N 3\ninit { if :: N > 2 -> skip :: else fi }", &[]);
}

#[test]
fn loops_that_never_end() {
    body_finds("byte i; for (i : 0 .. 255) { x = i }", &["W0310@i"]);
    body_finds("byte i; for (i : 0 .. 254) { x = i }", &[]);
    body_finds("short i; for (i : 0 .. 255) { x = i }", &[]);
    body_finds("byte i; select (i : 0 .. 255); x = i", &[]);
}

#[test]
fn assignments_to_itself() {
    body_finds("x = x", &["W0210@x = x"]);
    body_finds("x = y", &[]);
    body_finds("byte a[3]; a[x] = a[x]; assert(a[0])", &["W0210@a[x] = a[x]"]);
    body_finds("byte a[3]; a[x] = a[y]; assert(a[0])", &[]);
}

#[test]
fn indices_out_of_bounds() {
    body_finds("byte a[3]; a[3] = x; assert(a[0])", &["W0209@3"]);
    body_finds("byte a[3]; a[2] = x; assert(a[-1])", &["W0209@-1"]);
    body_finds("byte a[3]; a[2] = x; assert(a[x])", &[]);
}

#[test]
fn assertions() {
    body_finds("assert(true)", &["W0211@true"]);
    body_finds("assert(1 + 1 == 2)", &["W0211@1 + 1 == 2"]);
    body_finds("assert(false)", &[]);
    finds("#define CHECK 1\ninit { assert(CHECK) }", &[]);
    finds("proctype p() { skip } init { assert(run p()) }", &["W0212@run p()"]);
    finds("proctype p() { skip } init { pid q; q = run p(); assert(q) }", &[]);
}

#[test]
fn variables_that_nothing_uses() {
    finds("byte b; init { skip }", &["W0205@b"]);
    finds("byte _b; init { byte _c; skip }", &[]);
    finds("init { byte b = 3; skip }", &["W0205@b"]);
    finds("init { skip; byte b; skip }", &["W0205@b"]);
    finds("chan q = [1] of { byte }; init { skip }", &["W0205@q"]);
    finds("init { byte n = 3; byte a[n]; assert(a[0]) }", &["W0213@a"]);
    finds("show byte b; init { skip }", &[]);
    finds("byte b; init { b = 1 } ltl l { <> (b == 1) }", &[]);
    finds("active proctype p() { byte b; b = 1 } active proctype q() { assert(p:b == 0) }", &[]);
    finds("inline f(a) { skip }\nbyte b; init { f(b) }", &[]);
}

#[test]
fn what_another_configuration_uses_is_not_reported() {
    let model = "byte b, d; init { b = 1; d = 1\n#ifdef SAFE\n; assert(b == 1)\n#endif\n}";
    finds(model, &["W0206@d"]);
    let model = "byte b; init { if\n#ifdef ANY\n:: b == 1\n#else\n:: true\n#endif\n:: else -> b = 1 fi }";
    finds(model, &[]);
    finds("byte b; init { do :: b = 1 - b\n#ifdef END\n:: break\n#endif\nod; assert(b) }", &[]);
    finds("byte b; init { b = 1;\n#ifndef ON\nfalse;\n#endif\nassert(b) }", &[]);
    finds("#ifdef TWO\ninit { run p(); f() }\n#else\ninit { skip }\n#endif\nproctype p() { skip }\n", &[]);
}

#[test]
fn variables_that_nothing_reads() {
    finds("byte b; init { b = 1 }", &["W0206@b"]);
    finds("byte b; init { b++ ; b = b + 1 }", &["W0206@b"]);
    finds("byte b, d; init { b = d; d = b }", &[]);
    finds("hidden byte b; init { b = 1 }", &[]);
    finds("chan c = [1] of { byte }; byte b; init { c!1; c?b }", &["W0206@b"]);
    finds("chan c = [1] of { byte }; byte b; init { c!1; c?b; c!b }", &[]);
    finds("byte b; init { b = 1; printf(\"%d\", b) }", &[]);
}

#[test]
fn parameters_that_nothing_uses() {
    finds("proctype p(byte b) { skip } init { run p(1) }", &["W0207@b"]);
    finds("proctype p(byte b) { b = 1 } init { run p(1) }", &["W0207@b"]);
    finds("proctype p(byte _b) { skip } init { run p(1) }", &[]);
    finds("proctype p(byte b) { assert(b) } init { run p(1) }", &[]);
}

#[test]
fn variables_that_are_never_set() {
    finds("byte b; init { assert(b == 0) }", &["W0213@b"]);
    finds("byte b = 0; init { assert(b == 0) }", &[]);
    finds("init { skip; byte b = 0; assert(b == 0) }", &[]);
    finds("init { skip; byte b; assert(b == 0) }", &["W0213@b"]);
    finds("typedef T { byte f }; T t; init { assert(t.f == 0) }", &[]);
    finds("byte b; init { select (b : 1 .. 2); assert(b) }", &[]);
}

#[test]
fn inlines_that_nothing_uses() {
    finds("inline f() { skip }\ninit { skip }", &["W0214@f"]);
    finds("inline f() { skip }\ninit { f() }", &[]);
    finds("inline f() { skip }\ninline g() { f() }\ninit { g() }", &[]);
    finds("#include \"lib\"\ninit { skip }", &[]);
}

#[test]
fn channels_with_one_end() {
    finds("chan c = [1] of { byte }; init { c!1 }", &["W0401@c"]);
    finds("chan c = [0] of { byte }; init { c?_ }", &["W0402@c"]);
    finds("chan c = [1] of { byte }; init { c!1; c?_ }", &[]);
    finds("chan c = [1] of { byte }; init { c!1; assert(len(c) == 1) }", &[]);
    finds("proctype p(chan d) { d?_ } chan c = [1] of { byte }; init { run p(c); c!1 }", &[]);
    finds("proctype p(chan d) { d!1 } chan c = [1] of { byte }; init { run p(c); c!1 }", &["W0401@c"]);
    finds(
        "chan c = [1] of { byte }; chan m = [1] of { chan }; active proctype p() { m!c; c!1 }\n\
         active proctype q() { chan d; m?d; d?_ }",
        &[],
    );
    finds("chan STDIN; short i; init { STDIN?i; assert(i) }", &[]);
}

#[test]
fn messages_of_the_wrong_length() {
    finds(
        "chan d = [1] of { byte }; chan e = [1] of { byte, byte };\ninit { d!1,2; d?_; e!1,2; e?_,_ }",
        &["W0403@d!1,2"],
    );
    finds("chan d = [1] of { byte, byte }; init { d!1; d?_,_ }", &["W0403@d!1"]);
    finds("chan d = [1] of { byte, byte }; init { d!1,2; d?_ }", &["W0403@d?_"]);
    finds("chan d = [1] of { byte, byte }; init { d!1,2; d?_,_ }", &[]);
}

#[test]
fn proctypes_that_never_run() {
    finds("proctype p() { skip } init { skip }", &["W0501@p"]);
    finds("proctype _kept() { skip } init { skip }", &[]);
    finds("proctype p() { run q() } proctype q() { run p() } init { skip }", &["W0501@p", "W0501@q"]);
    finds("proctype p() { run q() } proctype q() { skip } init { run p() }", &[]);
}

#[test]
fn statements_that_are_never_reached() {
    body_finds("goto l; x = 1; l: x = 2", &["W0303@x = 1"]);
    body_finds("goto l; m: x = 1; l: x = 2", &["W0303@x = 1"]);
    body_finds("if :: x > 1 -> goto l :: else -> goto l fi; x = 1; y = 1; l: x = 2", &["W0303@x = 1"]);
    body_finds("if :: x > 1 -> goto l :: else fi; x = 1; l: x = 2", &[]);
    body_finds("do :: x > 1 -> x = 1 od; x = 2", &["W0303@x = 2"]);
    body_finds("do :: x > 1 -> x = 1 :: else -> break od; x = 2", &[]);
    body_finds("do :: x > 1 -> break; x = 1 od; x = 2", &["W0303@x = 1"]);
    body_finds("do :: do :: x > 1 -> break od od; x = 2", &["W0303@x = 2"]);
    body_finds("do :: x > 1 od unless { y > 1 }; x = 2", &[]);
    body_finds("false -> x = 2", &["W0303@x = 2"]);
    body_finds("x = 2; false", &[]);
    body_finds("do :: x > 1 od; assert(false); skip", &[]);
    body_finds("goto l; { x = 1; l: x = 2 }", &["W0303@x = 1"]);
    finds("#define DEBUG 0\nbyte x; init { if :: DEBUG -> x = 1 :: else fi; assert(x) }", &[]);
}

#[test]
fn elses_that_are_never_taken() {
    body_finds("if :: true -> x = 1 :: else -> x = 2 fi", &["W0304@else"]);
    body_finds("if :: x++ -> x = 1 :: else -> x = 2 fi", &["W0304@else"]);
    body_finds("if :: atomic { x = 1; x = 2 } :: else -> x = 2 fi", &["W0304@else"]);
    body_finds("if :: x > 1 -> x = 1 :: else -> x = 2 fi", &[]);
    finds("#define ON 1\nbyte x; init { if :: ON -> x = 1 :: else -> x = 2 fi; assert(x) }", &[]);
}

#[test]
fn assignments_that_look_like_comparisons() {
    body_finds("if :: x = 1 -> y = 1 :: x == 2 -> y = 2 fi", &["W0305@x = 1"]);
    body_finds("if :: x = 1 -> y = 1 :: else -> y = 2 fi", &["W0305@x = 1"]);
    body_finds("if :: x = 1 :: x = 2 :: x = 3 fi", &[]);
    body_finds("if :: x = 1 -> y = 1 :: x = 2 -> y = 2 fi", &[]);
    body_finds("if :: x = 1 -> y = 1 :: y == 2 -> y = 2 fi", &[]);
    body_finds("if :: x = 1; y = 1 :: x == 2 -> y = 2 fi", &[]);
    body_finds("if :: x = x + 1 -> y = 1 :: x == 2 -> y = 2 fi", &[]);
}

#[test]
fn labels_that_are_misspelt() {
    body_finds("acept: x = 1", &["W0306@acept"]);
    body_finds("End: x = 1", &["W0306@End"]);
    body_finds("endless: x = 1; progress_1: x = 2; accept: x = 3; loop: x = 4", &[]);
    body_finds("End: x = 1; goto End", &[]);
    finds(
        "byte x; active proctype p() { ACCEPT: x = 1 } active proctype q() { assert(!p@ACCEPT && x < 2) }",
        &[],
    );
}

#[test]
fn blocking_inside_atomic() {
    body_finds("atomic { x = 1; y == 2; x = 2 }", &["W0307@y == 2"]);
    body_finds("atomic { y == 2; x = 2 }", &[]);
    body_finds("x = 1; y == 2; x = 2", &[]);
    body_finds("atomic { x = 1; if :: y == 2 -> x = 2 fi }", &["W0307@if"]);
    body_finds("atomic { x = 1; do :: y == 2 -> x = 2 :: y > 5 -> break od }", &["W0307@do"]);
    body_finds("atomic { x = 1; if :: y == 2 -> x = 2 :: else fi }", &[]);
    body_finds("atomic { x = 1; if :: y == 2 -> x = 2 :: y != 2 -> skip fi }", &[]);
    body_finds("atomic { x = 1; if :: (y < 2) -> x = 2 :: (y >= 2) fi }", &[]);
    body_finds("atomic { x = 1; if :: y > 2 -> x = 2 :: !(y > 2) fi }", &[]);
    body_finds("atomic { x = 1; if :: y == 2 -> x = 2 :: y == 3 fi }", &[]);
    body_finds("atomic { x = 1; do :: y < 2 -> y++ :: y == 2 -> break od }", &[]);
    body_finds("atomic { if :: y == 2 -> x = 2 fi }", &[]);
    body_finds("atomic { x = 1; if :: y == 2 -> x = 2 :: y != 2 && x == 1 -> y = 3 fi }", &[]);
    body_finds("atomic { x = 1; if :: c!1 :: full(c) fi }", &[]);
    body_finds("atomic { if :: y == 2 -> x = 2; y == 3 fi }", &["W0307@y == 3"]);
    body_finds("atomic { x = 1; c!1; c?x }", &[]);
    body_finds("atomic { x = 1; { y == 2 } }", &["W0307@y == 2"]);
    finds("proctype p() { skip } init { atomic { run p(); run p() } }", &[]);
}

#[test]
fn blocking_inside_d_step() {
    body_finds("d_step { x = 1; y == 2; x = 2 }", &["W0308@y == 2"]);
    body_finds("d_step { y == 2; x = 2 }", &[]);
    body_finds("d_step { x = 1; if :: y == 2 -> x = 2 fi }", &["W0308@if"]);
    body_finds("d_step { x = 1; c!1; c?x }", &[]);
    let rendezvous = |body: &str| {
        format!(
            "chan r = [0] of {{ byte }}; byte x; init {{ {body} }} active proctype p() {{ do :: r!1 :: r?_ :: assert(x) od }}"
        )
    };
    finds(&rendezvous("d_step { x = 1; r!1 }"), &["W0308@r!1"]);
    finds(&rendezvous("d_step { x = 1; r?x }"), &["W0308@r?x"]);
    finds(&rendezvous("d_step { r?x; x = 1 }; atomic { x = 2; r!1 }"), &[]);
    body_finds("d_step { x = 1; if :: c!1 :: full(c) fi }", &[]);
    body_finds("d_step { x = 1; timeout -> x = 2 }", &["W0309@timeout"]);
    body_finds("timeout -> d_step { x = 1; x = 2 }", &[]);
}
