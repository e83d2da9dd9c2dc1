//! Which statements count as executed after everything was explored.

use super::{explore, machine, spin};
use system::Explain;

/// Unreached statements of every process, as `process: statement`; a process that never was is `process!`.
fn unreached(text: &str) -> Vec<String> {
    let machine = machine(spin::program(text).expect("the model is right"));
    explore(&machine);
    let mut out = Vec::new();
    for coverage in machine.coverage().expect("the machine keeps track") {
        match coverage.started {
            true => out.extend(coverage.unreached().map(|s| format!("{}: {}", coverage.process, s.text))),
            false => out.push(format!("{}!", coverage.process)),
        }
    }
    out
}

#[test]
fn nothing_is_listed_when_everything_happens() {
    let all = "active proctype p() { byte i; for (i : 1 .. 2) { x = i } select (i : 1 .. 2);
        do :: x < 5 -> x++ :: else -> break od;
        if :: goto L :: skip fi; x = 3; L: atomic { a = 1; b = 1 } d_step { a = 2; b = 2 } }";
    assert_eq!(unreached(all), [] as [&str; 0]);
}

#[test]
fn what_stands_behind_a_guard_that_never_holds() {
    let text = "active proctype p() { if :: x == 7 -> x = 1; goto L :: x == 0 -> skip :: else -> b = 1 fi;
        do :: x == 9 -> break :: x < 2 -> x++ :: else -> goto L od; L: a = 1 }";
    assert_eq!(unreached(text), ["p: x == 7", "p: x = 1", "p: else", "p: b = 1", "p: x == 9"]);
}

#[test]
fn code_behind_a_jump() {
    assert_eq!(unreached("active proctype p() { goto L; x = 1; L: x = 2 }"), ["p: x = 1"]);
    assert_eq!(
        unreached("active proctype p() { if :: a == 0 -> skip :: goto L fi; L: x = 2 }"),
        [] as [&str; 0]
    );
    assert_eq!(
        unreached("active proctype p() { if :: a == 0 -> skip :: a == 1; goto L fi; L: x = 2 }"),
        ["p: a == 1"]
    );
}

#[test]
fn both_halves_of_a_rendezvous_and_the_inside_of_a_d_step() {
    let text =
        "active proctype s() { r!1; r!2 } active proctype t() { if :: r?2 -> x = 1 :: r?1 -> x = 2 fi }
        active proctype d() { d_step { a = 1; if :: a == 2 -> b = 1 :: else -> b = 2 fi; b = 3 } }";
    assert_eq!(unreached(text), ["s: r!2", "t: r?2", "t: x = 1", "d: a == 2", "d: b = 1"]);
}

#[test]
fn copies_of_a_statement_count_once() {
    let inline = "inline two(v) { v = 2 } active proctype p() { two(a); if :: a == 9 -> two(b) :: else fi }";
    assert_eq!(unreached(inline), ["p: a == 9"]);
    let escape = "active proctype p() { { a = 1; a = 2; a = 3 } unless { a == 2 -> b = 1 } }";
    assert_eq!(unreached(escape), ["p: a = 3"]);
}

#[test]
fn processes_that_never_start_and_claims() {
    let text = "proctype q1() { x = 1 } proctype q2() { x = 2 } init { run q1(); if :: x == 5 -> run q2() :: else fi }
        never { do :: x == 99 -> break :: else od }";
    assert_eq!(unreached(text), ["q2!", ":init:: x == 5", ":init:: run q2()"]);
}
