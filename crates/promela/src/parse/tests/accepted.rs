//! What is a model and what is not.

use super::{errors, tree};

/// Snippets that Spin accepts.
const ACCEPTED: &[&str] = &[
    "byte x -> byte y init { skip }",
    "byte x byte y init { skip }",
    ";;;init { skip } ;;;",
    "init { byte x; if :: x fi unless { x } }",
    "mtype = {A,B,C}; byte a[C+1*2]; chan c = [C] of {byte}; active [B] proctype p() { a[0] = A }",
    "mtype { a b, , c } init { skip }",
    "mtype:fruit = { apple }; mtype:fruit x = apple; chan c = [1] of { mtype:fruit }; init { c!x }",
    "byte n = 3; byte a[n]; init { a[0] = 1 }",
    "byte n = 2; active [n] proctype p() { skip }",
    "init { byte x; x = -1; x = - -1; x = ~ ~x; x = !x; x = !(!x) }",
    "active proctype p() { byte y; assert(p:y == 0); assert(p[0]:y == 0) }",
    "active proctype p() { L: skip; M: skip } active proctype q() { p@L; p[0]@M }",
    "init { byte x; (x -> 1 : 2) ; x = (x -> (x -> 1 : 2) : 3) }",
    "init { byte x; assert x == 0; assert(x -> 1 : 2) }",
    "chan c = [3] of { byte,byte }; init { byte x; c ! 1,2; c ? (x,_); c ! 1(2); c?1(_) }",
    "chan c = [3] of { byte,byte }; init { byte x; c!!1,2; c??<1,x>; c??1,x; c?[1,_] && c??[1,x] }",
    "chan c = [3] of { byte }; init { byte x; x = c?[1] + 1; x = !c?[1]; c?-1; c?eval(x+1) }",
    "chan c = [3] of { byte }; init { byte x; x = (full(c) && x) || empty(c); assert(nfull(c)) }",
    "byte in; init { byte i; in = 1; for (i : 1 .. 2) { skip } }",
    "int a[4]; init { int i; for (i in a); { a[i] = 0 } }",
    "init { if :: else :: skip fi; if :: else skip fi; do :: else break od }",
    "init { if :: L: skip :: M: -> fi; E: }",
    "int x; init { x = 1; ltl f { [] (x==0) } skip }",
    "int x; init { x = 1 } ltl U { x U x } ltl { always x implies eventually x }",
    "chan c = [1] of {byte}; trace { do :: c!1; c?1 od } init { c!1; c?1 }",
    "never named { true } init { skip }",
    "init priority 3 { pid k; k = run w(1) priority 4; set_priority(k, 3); get_priority(k) == 3 } proctype w(byte b) { skip }",
    "chan c = [1] of { byte }; proctype w(chan a, b; byte z) provided (_pid > 0) { xr a; xs b; skip } init { run w(c, c, 1) }",
    "typedef T { byte a; bool b[2]; }; T t; init { t.b[1] = t.a }",
    "hidden byte h; show int s; local short l; unsigned u : 3; init { u = l }",
    "init { printf(\"%d\\n\", 1); printm(3); STDIN?_ }",
    "D_proctype d() { skip } init { run d() }",
    "init { int x = 1; if :: x -> else :: skip fi }",
    "init { byte x; if :: x < 3 --> x++ :: x-->skip fi }",
    "int x; active proctype p() { timeout -> enabled(0) && pc_value(0) == 1 }",
    "c_decl { int y; } c_state \"int x\" \"Global\" c_track \"y\" \"4\" \"Matched\" c_code { y = 1; } init { c_code { x(); }; c_expr { y == 1 } -> skip }",
    "notrace { skip_: goto skip_ } init { skip }",
];

/// Snippets in which Spin finds a syntax error or something else that is already wrong in its text.
const REFUSED: &[&str] = &[
    "chan a = [1] of {byte}, b = [2] of {byte}; init { skip }",
    "init { byte a[2] = {1,2}, b; skip }",
    "init { int x; x = !!x }",
    "init { skip; chan c = [1] of {byte}; c!1 }",
    "init { int x; { chan c = [1] of {byte}; c!1 } }",
    "chan c = [1] of {byte}; ltl f { full(c) } init { skip }",
    "mtype = {a}; byte a; init { skip }",
    "mtype = {a}; mtype = {a,b}; init { skip }",
    "mtype:f { a } init { skip }",
    "init { mtype = {a}; skip }",
    "byte = {a}; init { skip }",
    "hidden mtype = {a,b}; init { skip }",
    "init { byte x; lab: byte z; skip }",
    "init { chan c; lab: xr c; skip }",
    "active proctype q() { skip } active proctype p() { q: skip }",
    "init { skip } x",
    "init { }",
    "init { skip; if fi }",
    "init { ; skip }",
    "init { byte x; x = x--1 }",
    "init { byte x; x = 1 x = 2 }",
    "init { byte x; if :: x fi x = 2 }",
    "init { byte x; x = (x) ? 1 : 2 }",
    "init { byte x; byte y[2] = {1,-2} }",
    "init { byte x = {1} }",
    "proctype p(byte a = 3) { skip } init { run p(1) }",
    "proctype p(byte a;) { skip } init { run p(1) }",
    "byte x = run p(1); proctype p(byte a) { skip } init { run p(1) }",
    "byte n = 3; byte a[(n)]; init { a[0] = 1 }",
    "byte n = 3; byte a[n+1]; init { a[0] = 1 }",
    "byte n = 3; chan c = [n] of {byte}; init { c!1 }",
    "chan c = [1] of {unsigned}; init { skip }",
    "byte:fruit x; init { skip }",
    "init { printf \"a\" }",
    "init { byte x; printm(x+1) }",
    "chan c = [3] of { byte,byte }; init { byte x; c?(1)(x) }",
    "chan c = [3] of { byte,byte }; init { byte x; c!(1,x) }",
    "chan c = [3] of { byte,byte }; init { byte x; c!1,x(2) }",
    "chan c = [3] of { byte }; init { c?[] }",
    "chan c = [3] of { byte }; init { !full(c) }",
    "chan c = [3] of { byte }; init { full(c) == 1 }",
    "chan c = [3] of { byte }; init { printf(\"\", full(c)) }",
    "chan c = [3] of { byte }; init { (full(c) -> 1 : 2) }",
    "chan c = [3] of { byte }; init { byte x = full(c) }",
    "byte in; init { for (in : 1 .. 2) { skip } }",
    "int a[4]; init { int i; for (i in a) -> { a[i] = 0 } }",
    "int U; init { U = 1 } ltl a { U U U }",
    "byte x; init { provided: skip }",
    "byte a; trace { a = 1 } init { skip }",
    "chan c = [1] of {byte}; trace { c!1; { c?1 } } init { c!1; c?1 }",
    "init { skip unless skip unless skip }",
    "init { byte x; return x }",
    "init { run p priority 2 }",
    "init { byte x; run p() priority x }",
    "typedef T { byte a;; } init { skip }",
    "typedef T { byte a -> byte b } init { skip }",
    "active byte x; init { skip }",
    "init { skip ",
    "int x; ltl { [] x ",
    "init { 1 = 2 }",
    "init { byte x; [] x }",
    "inline f(a+1) { skip } init { skip }",
    "int x; init { select (x : 3 .. 1) }",
];

#[test]
fn accepts_what_spin_accepts() {
    for text in ACCEPTED {
        tree(text);
    }
}

#[test]
fn refuses_what_spin_refuses() {
    for text in REFUSED {
        assert!(!errors(text).is_empty(), "accepted: {text}");
    }
}

/// Deliberate differences: Spin refuses these.
#[test]
fn accepts_more_than_spin_in_formulas() {
    tree("int x; init { skip } ltl { [] (X (x == 1)) } ltl b { next x }");
    tree("int R; init { skip } ltl { R R R && (R == 1) }");
    tree("int x; init { skip } ltl a { (x -> 1 : 0) == 1 }");
    tree("int x; init { skip } ltl a { [] (x < -1) }");
    tree("int x; init { skip } ltl a { x /\\ x \\/ x }");
}

#[test]
fn pv_words_are_names_elsewhere() {
    tree(
        "bool lock; byte sema, invariant, unlock, enum; init { lock = 1; sema++; lock; lock -> invariant = unlock + enum }",
    );
    tree("inline lock(x) { x = 1 } init { byte y; lock(y) }");
    tree("typedef enum { byte a }; enum e; init { e.a = 1 }");
    assert!(!errors("bool lock, x; init { lock(x) }").is_empty());
}
