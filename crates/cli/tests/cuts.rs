//! No property holds because a path was cut off: run-time errors, trace violations, endless atomic sequences
//! and labels inside them, in every search. `difftest cuts` asks the same of random programs.

mod common;

use common::Scratch;

/// Ways to search for runs.
const RUNS: [&[&str]; 12] = [
    &[],
    &["--search", "scc"],
    &["--search", "ndfs"],
    &["--search", "cndfs", "--threads", "2"],
    &["--search", "ufscc", "--threads", "2"],
    &["--search", "ndfs-dual"],
    &["--por", "none"],
    &["--por", "stubborn"],
    &["--por", "twophase"],
    &["--fair", "weak"],
    &["--fair", "strong"],
    &["--exec", "interp", "--opt", "none"],
];

/// Ways to search for errors.
const SAFETY: [&[&str]; 9] = [
    &[],
    &["--search", "dfs"],
    &["--search", "bfs"],
    &["--search", "handoff", "--threads", "2"],
    &["--threads", "2"],
    &["--por", "stubborn"],
    &["--por", "twophase"],
    &["--store", "tree"],
    &["--exec", "interp", "--opt", "none"],
];

fn ways(property: &str) -> &'static [&'static [&'static str]] {
    match property {
        "assertion" | "end-state" | "trace" | "runtime" | "safety" | "invariant" => &SAFETY,
        _ => &RUNS,
    }
}

const INDEX: &str = "byte a[2]; byte i = 5, x;
    active proctype P() { x = 1; a[i] = 1; x = 9 }
    ltl p { <> (x == 9) }  ltl q { !(<> (x == 9)) }";
const DIVISION: &str = "byte y, x; active proctype P() { x = 1; y = 1 / y; x = 9 } ltl p { <> (x == 9) }
    ltl q { !(<> (x == 9)) }";
const BLOCKED: &str = "byte x; active proctype P() { x = 1; d_step { x = 2; x == 7; x = 3 }; x = 9 }
    ltl p { <> (x == 9) } ltl q { !(<> (x == 9)) }";
const INITIAL: &str = "byte n = 2; byte z = 1 / (n - 2); active proctype P() { z = 0 } ltl p { <> (z == 0) }";
const TRACE: &str = "mtype = { a, b }; chan c = [2] of { mtype }; byte x; trace { do :: c!a od }
    active proctype P() { c!a; c!b; x = 1; assert(false) } ltl p { [] (x == 0) }";
const TRACE_THEN_STUCK: &str = "mtype = { a, b }; chan c = [2] of { mtype }; trace { do :: c!a od }
    active proctype P() { c!a; c!b; false }";
const NOTRACE: &str = "chan c = [2] of { bit }; notrace { c!0; c!1 }
    active proctype P() { c!0; c!1; assert(false) }";
const OFFER: &str = "chan c = [0] of { bit }; chan d = [0] of { bit }; trace { do :: c!0 od }
    active proctype P() { c!1 } active proctype Q() { d!0; c?1 }";
const BOTH_IN_ONE_STEP: &str = "chan c = [2] of { bit }; byte x; trace { do :: c!0 od }
    active proctype P() { d_step { c!1; x = 1; assert(x == 0) } }";
const ENDLESS: &str = "byte x; active proctype P() { atomic { do :: x = 1 - x od } } ltl p { <> (x == 5) }
    ltl q { !(<> (x == 5)) }";
const ACCEPT_LAST: &str = "byte x; active proctype P() { do :: atomic { x = 1; accept: x = 0 } od }";
const ACCEPT_MIDDLE: &str = "byte x; active proctype P() { do :: atomic { x = 1; accept: x = 2; x = 0 } od }";
const ACCEPT_ONCE: &str =
    "byte x; active proctype P() { atomic { x = 1; accept: x = 2; x = 0 }; do :: x = 1 - x od }";
const ACCEPT_BEFORE_THE_END: &str =
    "byte x; active proctype P() { do :: x == 0; atomic { skip; accept: skip; x = 1 } od }";
const PROGRESS: &str = "byte x; active proctype P() { do :: atomic { x = 1; progress: x = 0 } od }";
const INVARIANT: &str = "byte x, y = 1; active proctype P() { y = 0; y = 2 } invariant ok 4 / y > 0";
/// What a claim asks for does not exist in some states.
const EVALUATION: &str = "byte a[2]; byte x; active proctype P() { do :: x < 4 -> x++ :: else -> x = 0 od }
    ltl p { [] (a[x] != 1) }  ltl q { [] (a[x] == 0) }  ltl s { [] (x > 1 || a[x] == 0) }";
const DIVISOR: &str = "byte x = 2; active proctype P() { do :: x > 0 -> x-- :: else -> x = 2 od }
    ltl p { [] (4 / x != 1) }";
const NEVER: &str = "byte a[2]; byte x; active proctype P() { do :: x < 5 -> x++ :: else -> x = 0 od }
    never { do :: a[x] == 0 :: x == 5 -> break od }";

/// Model, property, verdict.
const CASES: &[(&str, &str, &str)] = &[
    (INDEX, "ltl:p", "unknown"),
    (INDEX, "ltl:q", "unknown"),
    (INDEX, "assertion", "unknown"),
    (INDEX, "end-state", "unknown"),
    (INDEX, "runtime", "violated"),
    (INDEX, "safety", "violated"),
    (INDEX, "progress", "unknown"),
    (DIVISION, "ltl:p", "unknown"),
    (DIVISION, "ltl:q", "unknown"),
    (BLOCKED, "ltl:p", "unknown"),
    (BLOCKED, "ltl:q", "unknown"),
    (INITIAL, "ltl:p", "unknown"),
    (INITIAL, "assertion", "unknown"),
    (INITIAL, "safety", "violated"),
    (TRACE, "ltl:p", "violated"),
    (TRACE, "assertion", "violated"),
    (TRACE, "end-state", "holds"),
    (TRACE, "trace", "violated"),
    (TRACE_THEN_STUCK, "end-state", "violated"),
    (NOTRACE, "trace", "violated"),
    (NOTRACE, "assertion", "violated"),
    (OFFER, "trace", "violated"),
    (OFFER, "end-state", "violated"),
    (BOTH_IN_ONE_STEP, "trace", "violated"),
    (BOTH_IN_ONE_STEP, "assertion", "violated"),
    (ENDLESS, "ltl:p", "unknown"),
    (ENDLESS, "ltl:q", "unknown"),
    (ENDLESS, "progress", "unknown"),
    (ENDLESS, "safety", "holds"),
    (ACCEPT_LAST, "accept", "violated"),
    (ACCEPT_MIDDLE, "accept", "violated"),
    (ACCEPT_ONCE, "accept", "holds"),
    (ACCEPT_BEFORE_THE_END, "accept", "holds"),
    (PROGRESS, "progress", "violated"),
    (EVALUATION, "ltl:p", "unknown"),
    (EVALUATION, "ltl:q", "violated"),
    (EVALUATION, "ltl:s", "holds"),
    (DIVISOR, "ltl:p", "unknown"),
    (NEVER, "never", "unknown"),
];

#[test]
fn what_was_cut_off_proves_nothing() {
    for (model, property, verdict) in CASES {
        let scratch = Scratch::with(model);
        for way in ways(property) {
            let (run, report) = scratch.check(&[&["--property", *property], *way].concat());
            let found = &report["properties"][0];
            assert_eq!(found["verdict"], *verdict, "{property} {way:?} {model}\n{}", run.stderr);
            match *verdict {
                "unknown" => {
                    assert_eq!(
                        (run.status, &found["exhaustive"]),
                        (Some(3), &false.into()),
                        "{property} {way:?}"
                    );
                    let reason = found["reason"].as_str().expect("a reason");
                    assert!(reason.contains("m.pml:"), "{reason}");
                    let code = if *model == ENDLESS { "W0701" } else { "W0704" };
                    assert_eq!(report["notices"][0]["code"], code, "{property} {way:?} {report}");
                    assert!(run.stderr.contains(code), "{property} {way:?}\n{}", run.stderr);
                }
                "violated" => {
                    let replayed = scratch.run(&["replay", "m.pml.trail.json"]);
                    assert_eq!(replayed.status, Some(0), "{property} {way:?} {model}\n{}", replayed.stderr);
                }
                _ => assert_eq!(run.status, Some(0)),
            }
        }
    }
}

#[test]
fn asking_beside_others_changes_nothing() {
    for (model, ..) in CASES {
        let scratch = Scratch::with(model);
        let (_, together) = scratch.check(&[]);
        for property in together["properties"].as_array().expect("properties") {
            let name = property["name"].as_str().expect("a name");
            let (_, alone) = scratch.check(&["--property", name]);
            assert_eq!(alone["properties"][0]["verdict"], property["verdict"], "{name} {model}");
        }
    }
}

#[test]
fn a_claim_that_acts_is_cut_off_as_well() {
    let model = "byte x, n; active proctype p() { x = 1; x = 1 / (x - 1); x = 2 }
        never { do :: n < 50 -> n++ :: x == 2 -> break od }";
    let scratch = Scratch::with(model);
    let (run, report) = scratch.check(&["--property", "never"]);
    assert_eq!((&report["verdict"], run.status), (&"unknown".into(), Some(3)), "{}", run.stderr);
}

#[test]
fn an_invariant_that_cannot_be_evaluated_does_not_hold() {
    let scratch = Scratch::with(INVARIANT);
    for property in ["invariant", "safety"] {
        let (_, report) = scratch.check(&["--dialect", "pv", "--property", property]);
        assert_eq!(report["verdict"], "violated", "{report}");
    }
}

#[test]
fn labels_that_are_not_seen_are_told() {
    let scratch = Scratch::with(PROGRESS);
    let (run, _) = scratch.check(&["--property", "progress"]);
    assert!(run.stderr.contains("W0705"), "{}", run.stderr);
    let scratch = Scratch::with("byte x; active proctype P() { do :: d_step { x = 1; accept: x = 0 } od }");
    let (run, report) = scratch.check(&["--property", "accept"]);
    assert_eq!(report["verdict"], "holds");
    assert!(run.stderr.contains("W0705"), "{}", run.stderr);
}

/// Found by `difftest cuts` (seed 767): whether an endless sequence was known changed which processes sleep,
/// so that the way to an error could not be found again.
#[test]
fn a_way_past_an_endless_sequence_is_found_again() {
    let model =
        "byte y, tick; active proctype A() { y -> assert(tick == 0) } active proctype B() { skip -> y = 1 }
        active proctype C() { skip } active proctype Clock() { tick = 1; atomic { do :: skip od } }";
    let scratch = Scratch::with(model);
    for way in SAFETY {
        let (run, report) = scratch.check(&[&["--property", "assertion", "--all-errors"], way].concat());
        assert_eq!((&report["verdict"], run.status), (&"violated".into(), Some(1)), "{way:?} {}", run.stderr);
    }
}
