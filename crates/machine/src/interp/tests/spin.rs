//! Small models as text, each with what Spin 6.5.2 says about it (reference configuration). They ask one
//! question each about control flow or communication; all of them share the declarations of [`PRELUDE`].

use promela::diagnostic::has_errors;
use promela::ir::Program;
use promela::parse::Dialect;
use promela::preprocess::Options;
use promela::source::{Files, SourceMap};
use promela::{lower, parse, preprocess};
use system::FaultKind;

use super::{explore, machine};
use Expected::{Faulty, Rejected, States};

const PRELUDE: &str =
    "byte a; byte b; byte x; chan q=[2] of {byte}; chan r=[0] of {byte}; mtype = {m1,m2,m3};\n";

/// What Spin says.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Expected {
    /// The number of states; whether one of them is an invalid end.
    States(usize, bool),
    /// An error at run time that ends Spin's search.
    Faulty,
    /// The model is not accepted.
    Rejected,
}

struct Memory(String);

impl Files for Memory {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok(self.0.clone())
    }
}

pub fn program(text: &str) -> Option<Program> {
    let mut sources = SourceMap::new();
    let memory = Memory(format!("{PRELUDE}{text}"));
    let preprocessed = preprocess::preprocess("m.pml", &memory, &Options::default(), &mut sources);
    let parsed = parse::parse(preprocessed.tokens, Dialect::Spin, &mut sources);
    if has_errors(&parsed.diagnostics) {
        return None;
    }
    let lowered = lower::lower(&parsed.unit, &sources, "m.pml");
    if has_errors(&lowered.diagnostics) { None } else { lowered.program }
}

fn found(text: &str) -> Expected {
    let Some(program) = program(text) else { return Rejected };
    let seen = explore(&machine(program));
    if seen.faults.keys().any(|(kind, _)| *kind == FaultKind::Runtime) {
        return Faulty;
    }
    States(seen.states, seen.deadlocks > 0)
}

fn compare(models: &[(&str, Expected)]) {
    let differences: Vec<String> = models
        .iter()
        .filter(|(text, expected)| found(text) != *expected)
        .map(|(text, expected)| format!("{text}\n  Spin: {expected:?}, here: {:?}", found(text)))
        .collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn d_steps_behave_as_in_spin() {
    compare(D_STEPS);
}

#[test]
fn control_and_communication_behave_as_in_spin() {
    compare(OTHERS);
}

/// What d_steps do: which statements decide about the start, which options are tried, where they may end.
const D_STEPS: &[(&str, Expected)] = &[
    ("active proctype A(){ d_step { if :: { a==1 -> b=1 } :: a==0 -> b=2 fi } }", Faulty),
    ("active proctype A(){ d_step { if :: { a==0 -> b=1 } :: a==1 -> b=2 fi } }", States(1, true)),
    ("active proctype A(){ d_step { if :: { a==0 -> b=1 } :: {a==1 -> b=2} fi } }", States(3, false)),
    ("active proctype A(){ d_step { if :: { a==1 -> b=1 } :: {a==0 -> b=2} fi } }", Faulty),
    ("active proctype A(){ d_step { if :: if :: a==1 -> b=1 fi :: a==0 -> b=2 fi } }", Faulty),
    ("active proctype A(){ d_step { if :: do :: a==1 -> b=1;break od :: a==0 -> b=2 fi } }", Faulty),
    ("active proctype A(){ d_step { if :: do :: a==0 -> b=1;break od :: a==1 -> b=2 fi } }", States(1, true)),
    (
        "active proctype A(){ d_step { if :: if :: a==1 -> b=1 :: else -> b=3 fi :: a==0 -> b=2 fi } }",
        States(3, false),
    ),
    ("active proctype A(){ d_step { a=0; if :: if :: a==1 -> b=1 fi :: a==0 -> b=2 fi } }", Faulty),
    ("active proctype A(){ d_step { a=0; if :: { a==1 -> b=1 } :: a==0 -> b=2 fi } }", Faulty),
    ("active proctype A(){ d_step { a=0; do :: { a==1 -> b=1 } :: a==0 -> b=2; break od } }", Faulty),
    (
        "inline f(){ a==0 -> b=1 } active proctype A(){ d_step { if :: f() :: a==1 -> b=2 fi } }",
        States(1, true),
    ),
    ("inline f(){ a==0 -> b=1 } active proctype A(){ d_step { f(); b=2 } }", States(3, false)),
    ("active proctype A(){ d_step { { if :: a==0 -> b=1 fi }; b=2 } }", States(3, false)),
    ("active proctype A(){ d_step { { { a==1 -> b=1 } }; b=2 } }", States(1, true)),
    (
        "active proctype A(){ d_step { if :: {if :: a==0 -> b=1 fi} :: a==1 -> skip fi; b=2 } }",
        States(3, false),
    ),
    ("active proctype A(){ d_step { if :: {if :: a==1 -> b=1 fi} :: a==0 -> skip fi; b=2 } }", Faulty),
    ("active proctype A(){ d_step { do :: a<2 -> a++ :: else -> break od } }", States(3, false)),
    ("active proctype A(){ d_step { do :: a<2 -> { a++ } :: else -> break od } }", States(3, false)),
    ("active proctype A(){ d_step { if :: else -> b=1 fi } }", States(3, false)),
    ("active proctype A(){ if :: a==0 -> b=1 :: d_step { else -> b=2 } fi }", States(4, false)),
    ("active proctype A(){ if :: a==0 -> b=1 :: d_step { if :: else -> b=2 fi } fi }", States(6, false)),
    (
        "active proctype A(){ if :: a==0 -> b=1 :: d_step { if :: a==1 -> b=2 fi } :: else fi }",
        States(4, false),
    ),
    ("active proctype A(){ { skip unless d_step { a==0 -> atomic { b=1; { b=2 } } } }; r?a }", Rejected),
    ("active proctype A(){ { skip unless d_step { a==0 -> { b=1 } } }; r?a }", States(2, true)),
    ("active proctype A(){ { skip unless d_step { a==0 -> {b=1; { b=2 } } } }; r?a }", Rejected),
    ("active proctype A(){ d_step { a==0 -> {b=1; { b=2 } } }; r?a }", States(2, true)),
    ("active proctype A(){ if :: d_step { a==0 -> {b=1; { b=2 } } } fi; r?a }", Rejected),
    ("active proctype A(){ if :: d_step { a==0 -> {b=1 } } fi; r?a }", States(2, true)),
    ("active proctype A(){ do :: d_step { a==0 -> {b=1; { a=2 } } } :: break od; r?a }", Rejected),
    ("active proctype A(){ atomic { d_step { a==0 -> {b=1; { a=2 } } } }; r?a }", States(2, true)),
    ("active proctype A(){ {d_step { a==0 -> {b=1; { a=2 } } }}; r?a }", States(2, true)),
    ("active proctype A(){ {skip; d_step { a==0 -> {b=1; { a=2 } } }} unless (b==3); r?a }", Rejected),
    (
        "active proctype A(){ do :: d_step { a==0 -> {b=1; { a=2 } } } :: d_step { a==0 -> {b=1; { a=2 } } }; break :: a==2 -> d_step { skip; {a=1; { a=2 } } } od; r?a }",
        Rejected,
    ),
    ("active proctype A(){ d_step { goto L; b=1; L: a=1 } }", States(3, false)),
    ("active proctype A(){ d_step { if :: goto L :: a==1 fi; b=1; L: a=1 } }", States(1, true)),
    (
        "active proctype A(){ d_step { if :: a==0 -> goto L :: a==1 fi; b=1; L: a=1; skip } }",
        States(3, false),
    ),
    ("active proctype A(){ d_step { for (x: 0 .. 2) { a++ } } }", States(3, false)),
    ("active proctype A(){ d_step { for (x: 0 .. 2) { a++ }; b=1 }; b=2 }", States(4, false)),
    ("active proctype A(){ d_step { select (x: 0 .. 2) }; b=2 }", States(4, false)),
    ("active proctype A(){ do :: d_step { for (x: 0 .. 2) { a++ } }; break od; b=2 }", States(4, false)),
    (
        "active proctype A(){ d_step { do :: a<3 -> if :: b==0 -> a++ :: else -> break fi; :: else -> break od } }",
        States(3, false),
    ),
    (
        "active proctype A(){ d_step { do :: a<3 -> a++; if :: a==1 -> break :: else fi :: else -> break od; do :: break od } }",
        States(3, false),
    ),
    ("active proctype A(){ d_step { skip; a=1; false } unless a==1 }", Faulty),
    ("active proctype A(){ d_step { r?a; b=1 } } active proctype B(){ r!2 }", States(4, false)),
    (
        "active proctype A(){ d_step { if :: r?a -> b=1 :: r?2 -> b=2 fi } } active proctype B(){ r!2 }",
        States(4, false),
    ),
    (
        "active proctype A(){ d_step { do :: r?a -> b=1; break :: r?2 -> b=2; break od } } active proctype B(){ r!2 }",
        States(4, false),
    ),
    (
        "active proctype A(){ d_step { if :: r?1 -> b=1 :: else -> b=2 fi } } active proctype B(){ r!2 }",
        States(2, true),
    ),
    (
        "active proctype A(){ d_step { if :: r?1 -> b=1 :: skip -> b=2 fi } } active proctype B(){ r!2 }",
        States(2, true),
    ),
    ("active proctype A(){ d_step { {r?a; b=1 }} } active proctype B(){ r!2 }", States(4, false)),
    (
        "active proctype A(){ d_step { if :: {r?a; b=1 } :: b==1 fi} } active proctype B(){ r!2 }",
        States(1, true),
    ),
    (
        "active proctype A(){ d_step { if :: {r?a; b=1 } :: r?3 fi} } active proctype B(){ r!2 }",
        States(1, true),
    ),
    ("active proctype A(){ d_step { if :: q?a -> b=1 :: q!1 -> b=2 fi } }", States(3, false)),
    ("active proctype A(){ d_step { if :: q?a -> b=1 fi } } active proctype B(){ q!2 }", States(6, false)),
    ("active proctype A(){ d_step { if :: b=1 :: a==1 fi } }", States(1, true)),
    ("active proctype A(){ d_step { if :: b=1 :: a==1 fi } } active proctype B(){ a=1 }", States(6, false)),
    (
        "active proctype A(){ d_step { if :: a==1 -> b=1 :: b=2 fi } } active proctype B(){ a=1 }",
        States(6, false),
    ),
    ("active proctype A(){ d_step { if :: atomic { a==1 -> b=1 } :: a==0 -> b=2 fi } }", Faulty),
    ("active proctype A(){ d_step { if :: false :: a==0 -> b=2 fi } }", States(3, false)),
    (
        "active proctype A(){ d_step { if :: false -> b=1 fi } unless (a==1) } active proctype B() { a=1 }",
        States(6, false),
    ),
    ("active proctype A(){ d_step { L: if :: a==0 -> b=1 fi } }", Rejected),
    ("active proctype A(){ L: d_step { if :: a<2 -> a++ fi }; goto L }", Rejected),
    (
        "active proctype A(){ L: d_step { if :: a<2 -> a++; goto L2 :: else fi; L2: b++ }; if :: b<4 -> goto L :: else fi }",
        Rejected,
    ),
    (
        "active proctype A(){ d_step { a=1; { if :: a==1 -> goto L :: else fi }; b=1 }; L: skip }",
        States(4, false),
    ),
    (
        "active proctype A(){ d_step { a=1; { if :: a==1 -> goto L :: else fi }; b=1 }; skip; L: skip }",
        Rejected,
    ),
    ("active proctype A(){ d_step { a=1; if :: a==1 -> goto L :: else fi; b=1 }; L: skip }", Rejected),
    ("active proctype A(){ d_step { { a==0 unless b==0 }; b=1 } }", Rejected),
    ("active proctype A(){ d_step { a=1; { a==0 unless b==0 }; b=1 } }", States(3, false)),
    ("active proctype A(){ d_step { a=1; { if :: { b=2 }; a==2 -> x=1 :: x=2 fi } } }", States(3, false)),
    ("active proctype A(){ d_step { a=1; if :: if :: a==1 fi; b==1 -> x=1 :: x=2 fi } }", States(3, false)),
    (
        "active proctype A(){ d_step { if :: if :: a==1 -> b=1 :: else -> b=2 fi :: a==0 -> b=3 :: else -> b=4 fi } }",
        States(3, false),
    ),
    ("active proctype A(){ d_step { goto L; b=1; L: a==1 } }", Faulty),
    (
        "active proctype A(){ d_step { if :: a==1 :: goto L :: a==0 -> b=3 fi; b=1; L: a=2 } }",
        States(3, false),
    ),
    (
        "active proctype A(){ d_step { a=0; if :: a==1 :: goto L :: a==0 -> b=3 fi; b=1; L: a=2 } }",
        States(3, false),
    ),
    ("active proctype A(){ d_step { a=0; do :: a==1 :: break :: a==0 -> b=3 od }; b=1 }", States(4, false)),
];

/// Labels, atomic sequences, escapes, rendezvous, timeouts, loops, channels that come and go.
const OTHERS: &[(&str, Expected)] = &[
    ("active proctype A(){ if :: end: a==1 :: a==2 fi }", States(1, true)),
    ("active proctype A(){ end: if :: a==1 :: a==2 fi }", States(1, false)),
    ("active proctype A(){ do :: end1: q?a -> b=1 od }", States(1, true)),
    ("active proctype A(){ end: do :: q?a -> b=1 od }", States(1, false)),
    ("active proctype A(){ end: atomic { q?a; b=1 } }", States(1, false)),
    ("active proctype A(){ atomic { skip; end: q?a; b=1 } }", States(2, false)),
    ("active proctype A(){ end: { q?a; b=1 } }", States(1, false)),
    ("active proctype A(){ end: { q?a unless b==1 } }", States(1, false)),
    ("active proctype A(){ { end: q?a unless b==1 } }", Rejected),
    ("active proctype A(){ {{ skip; end: q?a; skip } unless b==1 }; end2: a==3 }", States(2, false)),
    (
        "active proctype A(){ { a==1 unless { b==1; end: a==2 } } } active proctype B() { b=1 }",
        States(5, false),
    ),
    ("active proctype A(){ end: d_step { q?a; b=1 } }", States(1, false)),
    ("active proctype A(){ skip; end: goto L; L: a==1 }", States(3, true)),
    ("active proctype A(){ L: end: q?a; goto L }", States(1, false)),
    ("active proctype A(){ end: L: progress: q?a; goto L }", States(1, false)),
    ("active proctype A(){ end: for (a : 0 .. 2) { q?b } }", States(3, true)),
    ("active proctype A(){ end: select (a : 0 .. 2); q?b }", States(4, true)),
    ("active proctype A(){ if :: a==0 -> end1: :: a==1 fi; b==2 }", States(3, true)),
    ("active proctype A(){ do :: a==0 -> a=1; end1: :: a==2 od }", States(4, true)),
    ("active proctype A(){ a=1; end1: } active proctype B(){ a==1; end2: r?a }", States(5, false)),
    ("active proctype A(){ goto end1; skip; end1: }", States(3, false)),
    (
        "active proctype A(){ a=1; L1: skip; L2: } active proctype B() { A@L1; b=1; A@L2; b=2 }",
        States(17, true),
    ),
    (
        "active proctype A(){ L1: goto L2; skip; L2: a=1 } active proctype B() { A@L1; b=1; A@L2; b=2 }",
        States(16, true),
    ),
    (
        "active proctype A(){ L1: if :: a==1 -> skip :: else -> L3: b=1 fi; L2: a=1 } active proctype B() { A@L1; a=1; A@L2; b=2; A@L3 }",
        States(21, true),
    ),
    (
        "active proctype A(){ L1: do :: a<2 -> L3: a++ :: else -> break od; L2: a=1 } active proctype B() { A@L1; b=1; A@L2; b=2; A@L3 }",
        States(25, true),
    ),
    (
        "active proctype A(){ L1: atomic { a=1; b=1; L3: a=2 }; L2: a=1 } active proctype B() { A@L1; b=1; A@L2; b=2; A@L3 }",
        States(13, true),
    ),
    (
        "active proctype A(){ L1: d_step { a=1; b=1; a=2 }; L2: a=1 } active proctype B() { A@L1; b=1; A@L2; b=2; }",
        States(16, true),
    ),
    (
        "active proctype A(){ do :: L1: break od; L2: a=1 } active proctype B() { A@L1; b=1; A@L2; b=2; }",
        States(3, true),
    ),
    (
        "inline f(y) { y++; if :: y==1 -> goto out :: else fi; b=7; out: skip } active proctype A(){ f(a); f(x) }",
        States(8, false),
    ),
    (
        "inline f(y) { L: y++; if :: y<2 -> goto L :: else fi } active proctype A(){ f(a); f(x); L: skip }",
        Rejected,
    ),
    (
        "proctype B(chan c) { byte z; c?z; a=z } init { chan l=[1] of {byte}; run B(l); l!3; l!4 }",
        States(10, false),
    ),
    (
        "proctype B(chan c) { byte z; c?z; a=z } init { chan l=[0] of {byte}; run B(l); l!3 }",
        States(6, false),
    ),
    (
        "proctype B(chan c) { chan k=[1] of {byte}; byte z; c!k; k?z; a=z } init { chan l=[1] of {chan}; chan y; run B(l); l?y; y!3; y!4; }",
        Faulty,
    ),
    (
        "proctype B(chan c) { chan k=[1] of {byte}; c!k } init { chan l=[1] of {chan}; chan y; run B(l); l?y; _nr_pr==1; run B(l); l?y; y!3 }",
        Faulty,
    ),
    (
        "proctype B() { chan k=[1] of {byte}; k!1 } init { run B(); run B(); _nr_pr==1; chan z=[1] of {byte}; run B() }",
        Rejected,
    ),
    ("proctype B(byte n) { a=a+n } init { atomic { run B(1); run B(2); run B(3) } }", States(17, false)),
    ("proctype B(byte n) { if :: n>0 -> run B(n-1) :: else fi; a++ } init { run B(3) }", States(55, false)),
    (
        "proctype B(byte n) { do :: n>0 -> n--; :: else -> break od } init { byte p; p=run B(1); p=run B(2); (_nr_pr==1) }",
        States(45, false),
    ),
    (
        "chan s=[3] of {mtype,byte}; active proctype A(){ s!!m2,1; s!!m1,2; s!!m2,0; s??m2,x; s?m3,x; s?_,x }",
        States(5, true),
    ),
    (
        "chan s=[3] of {mtype,byte}; active proctype A(){ s!!m2,1; s!!m1,2; s!!m2,0; do :: s??m2,x :: s?m3(x) :: s?m1,eval(a+2) :: timeout -> break od }",
        States(9, false),
    ),
    (
        "chan s=[3] of {short,int}; active proctype A(){ s!!-1,1; s!!1,2; s!!-300,70000; s?a,b; s?a,x }",
        States(7, false),
    ),
    (
        "chan s=[3] of {byte}; active proctype A(){ s!!300; s!!44; s!!45; s!!-1; s?a } active proctype B() { s?a; s?b }",
        States(23, false),
    ),
    ("chan s=[2] of {bit,bool}; active proctype A(){ s!2,3; s!!1,5; s?a,b; s?a,b }", States(6, false)),
    (
        "chan c[3]=[0] of {byte}; active proctype A(){ do :: x<3 -> c[x]!x; x++ :: else -> break od } active proctype B(){ byte y; do :: c[0]?y :: c[1]?eval(1) :: c[2]?2 :: timeout -> break od }",
        States(14, false),
    ),
    (
        "active proctype A(){ r!1; r?a } active proctype B(){ r?a; r!2 } active proctype C(){ r?b }",
        States(8, true),
    ),
    (
        "active proctype A(){ atomic { r!1; a=1; a=2 } } active proctype B(){ atomic { r?b; b=5; b=6; q!1 } } active proctype C() { x=1 }",
        States(12, false),
    ),
    (
        "active proctype A(){ atomic { r!1; a=1; r!2; a=2 }; a=3 } active proctype B(){ atomic { r?b; b=5; b=6; q!1; r?b; b=9 }; b=10 } active proctype C() { x=1 }",
        States(28, false),
    ),
    (
        "active proctype A(){ atomic { r!1; a=1; a=2 } } active proctype B(){ r?b; b=5; b=6 } active proctype C() { x=1 }",
        States(24, false),
    ),
    (
        "active proctype A(){ r!1; a=1; a=2 } active proctype B(){ atomic { r?b; b=5; (a==2); b=6 } } active proctype C() { x=1 }",
        States(17, false),
    ),
    (
        "active proctype A(){ { do :: a<2 -> a++ :: else -> skip; break od } unless { r?x -> b=1 } } active proctype B() { r!1 }",
        States(22, true),
    ),
    (
        "active proctype A(){ do :: { a<2 -> a++ } unless { r?x -> break } od } active proctype B() { r!1 }",
        States(14, false),
    ),
    (
        "active proctype A(){ { { a==1 unless b==1 } unless x==1 } } active proctype B() { b=1; x=1 }",
        States(8, false),
    ),
    (
        "active proctype A(){ { { r!1 unless r?2 } unless { x==1 -> q!1 } } } active proctype B() { if :: r?a :: r!2 fi; x=1 }",
        States(9, false),
    ),
    (
        "active proctype A(){ { L: a++; b++; if :: a<3 -> goto L :: else fi } unless { a==2 && x==0 -> x=1; goto L } }",
        Rejected,
    ),
    ("active proctype A(){ if :: { a==1 unless a==0 } :: b==0 -> skip fi }", States(3, false)),
    ("active proctype A(){ if :: timeout -> a=1 :: else -> a=2 fi }", States(4, false)),
    (
        "active proctype A(){ if :: timeout -> a=1 :: q?b -> a=2 fi } active proctype B() { timeout -> q!1 }",
        States(15, false),
    ),
    (
        "active proctype A(){ atomic { skip; timeout; a=1 } } active proctype B() { a==1 -> b=1 }",
        States(7, false),
    ),
    (
        "active proctype A(){ do :: timeout -> a++; if :: a==3 -> break :: else fi od } active proctype B() { r!1 }",
        States(10, true),
    ),
    (
        "active proctype A(){ d_step { timeout -> a++ } } active proctype B() { q!1; q!1; q!1 }",
        States(4, true),
    ),
    (
        "active proctype A(){ r!(timeout) } active proctype B() { r?a; r?a } active proctype C() { timeout -> r!1 }",
        States(7, false),
    ),
    ("active [2] proctype A(){ atomic { !x -> x=1 }; a++; a--; x=0 }", States(22, false)),
    ("active proctype A(){ byte k; for (k in q) { a=a+k } } active proctype B() { q!1; q!2 }", Rejected),
    ("active proctype A(){ q!1; q!2; atomic { for (a in q) { b=b+a } }; q?a }", Rejected),
    (
        "active proctype A(){ byte arr[3]; byte k; for (k in arr) { arr[k]=k; if :: k==1 -> break :: else fi }; a=arr[1] }",
        States(11, false),
    ),
    (
        "active proctype A(){ byte k; do :: for (k : 1 .. 2) { a++ }; break od; if :: for (k : 1 .. 2) { b++ } :: b==1 fi }",
        States(18, false),
    ),
    ("active proctype A(){ byte k; if :: select (k : 1 .. 3) :: b==1 fi; a=k }", States(10, false)),
    (
        "active proctype A(){ byte k; atomic { select (k : 1 .. 3); a=k }; L: for (k : 1 .. 2) { b++ }; if :: b<4 -> goto L :: else fi }",
        States(28, false),
    ),
    (
        "active proctype A(){ byte k; { for (k : 1 .. 3) { a++ } } unless { b==1 -> x=1 } } active proctype B() { b=1; b=0 }",
        States(101, false),
    ),
    (
        "active proctype A(){ byte k; { select (k : 1 .. 3) } unless { b==1 -> x=1 } } active proctype B() { b=1; b=0 }",
        States(24, false),
    ),
    (
        "active proctype A(){ do :: atomic { a<2 -> a++ } :: atomic { a==2 -> break } od; b=1 }",
        States(6, false),
    ),
    (
        "active proctype A(){ atomic { if :: a==0 -> goto L1 :: a==1 -> goto L2 fi }; L1: a=1; atomic { b=1; L2: b=2; x=1 }; L3: skip } active proctype B() { a=1 }",
        States(16, false),
    ),
    (
        "active proctype A(){ atomic { a=1; goto L }; skip; atomic { b=1; L: b=2; x=1 }} active proctype B() { a=3 }",
        States(10, false),
    ),
    (
        "active proctype A(){ atomic { do :: a<3 -> a++ :: a==1 -> goto L :: else -> break od }; L: b=1 } active proctype B() { x=3 }",
        States(17, false),
    ),
    (
        "active proctype A(){ atomic { do :: a<3 -> a++ :: a==1 -> goto L :: else -> break od; L: b=1 } } active proctype B() { x=3 }",
        States(11, false),
    ),
    (
        "active proctype A(){ do :: atomic { a<2; atomic { a++; b=a }; b=0 } :: else -> break od } active proctype B() { x=3 }",
        States(13, false),
    ),
    (
        "active proctype A(){ atomic { a=1; d_step { b=1; b=2 }; q?x; b=3 } } active proctype B() { q!3 }",
        States(9, false),
    ),
    (
        "active proctype A(){ atomic { a=1; if :: q?x :: a==2 fi; b=3 }; b=4 } active proctype B() { q!3; x=2 }",
        States(20, false),
    ),
    (
        r#"active proctype A(){ a=1; if :: skip; skip; a=2 :: printf("x"); skip; skip; skip; a=3 :: skip fi; skip; skip; b=1 }"#,
        States(19, false),
    ),
    ("active proctype A(){ do :: skip; skip; break :: a=1; skip; skip; a=2; break od }", States(7, false)),
    ("active proctype A(){ if :: true -> true; true; a=1 :: 1 -> (1); (1); b=1 fi }", States(7, false)),
    (
        "active proctype A(){ if :: false :: else -> a=1 fi; if :: 0 -> skip :: b==0 fi; do :: false -> skip :: break od; if :: false fi }",
        States(5, true),
    ),
    ("active proctype A(){ if :: if :: false fi :: else -> a=1 fi }", States(4, false)),
    (
        "active proctype A(){ q!1; if :: q?[1] && a==0 -> a=1 :: else -> a=2 fi; if :: q?[2] :: else -> a=3 fi }",
        States(7, false),
    ),
    (
        "active proctype A(){ x = (q?[1]); q!1; x = (q?[1]); x = len(q) + (a==0 -> 1 : 2); assert(x==2) }",
        States(7, false),
    ),
    ("active proctype A(){ x = empty(q) ; q!1; x = full(q); q!1; x=full(q) }", States(7, false)),
    (
        "active proctype A(){ if :: full(r) -> a=1 :: nfull(r) -> a=2 :: empty(r) -> a=3 :: nempty(r) -> a=4 :: len(r)==0 -> a=5 fi }",
        States(10, false),
    ),
];
