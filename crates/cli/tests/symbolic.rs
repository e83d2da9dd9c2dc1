//! `--engine symbolic` and `auto`: verdicts and counts as of explicit search, counterexamples that are
//! replayed, exact counts of any length, refusals with a repair.

mod common;

use common::Scratch;
use serde_json::Value;

/// Assertions, deadlocks, run-time errors, atomic sequences that branch, rendezvous, late processes that end
/// again, `timeout`, hidden variables.
const MODELS: [&str; 7] = [
    "byte x; active [2] proctype p() { byte t; t = x; x = t + 1; assert(x == t + 1) }",
    "chan a = [1] of { byte }; chan b = [1] of { byte };\n\
     active proctype p() { byte v; a?v; b!v } active proctype q() { byte v; b?v; a!v }",
    "byte a[3], i; active proctype p() { do :: i < 4 -> a[i] = i; i++ od }",
    "byte x; chan c = [0] of { byte };\n\
     active proctype p() { byte n; do :: n < 3 -> atomic { n++; if :: x = n :: x = 0 fi; c!n } :: else -> break od }\n\
     active proctype q() { byte m; end: do :: c?m -> assert(m < 3) od }",
    "byte n; proctype w(byte id) { n = n + id }\n\
     init { byte i; do :: i < 3 -> run w(i); i++ :: else -> break od; (_nr_pr == 1) -> run w(9); assert(n != 12) }",
    "byte x; active proctype p() { do :: x < 2 -> x++ :: timeout -> break od; assert(x < 2) }\n\
     active proctype q() { x == 2; x = 1 }",
    "hidden byte h; byte x; active proctype p() { do :: x < 5 -> h = x; x++ :: x == 5 -> break od; assert(h > 9) }",
];

fn property(report: &Value) -> &Value {
    &report["properties"][0]
}

/// What both engines must agree on: the verdict, the number of states and violations, and their kinds.
fn told(report: &Value) -> (String, Value, Value, Vec<String>) {
    let of = property(report);
    let violations = of["violations"].as_array().unwrap().iter();
    let mut kinds: Vec<String> = violations.map(|v| v["kind"].as_str().unwrap().to_string()).collect();
    kinds.sort();
    kinds.dedup();
    (of["verdict"].to_string(), of["states"].clone(), of["errors"].clone(), kinds)
}

#[test]
fn both_engines_agree() {
    for model in MODELS {
        let scratch = Scratch::with(model);
        let common = ["--property", "safety", "--opt", "none", "--por", "none", "--all-errors"];
        let with = |engine: &str| {
            let words: Vec<&str> = common.iter().copied().chain(["--engine", engine]).collect();
            let (run, report) = scratch.check(&words);
            assert!(!report.is_null(), "{model}: {}", run.stderr);
            assert_eq!(report["config"]["engine"], engine, "{model}");
            (run.status, told(&report))
        };
        assert_eq!(with("symbolic"), with("explicit"), "{model}");
        for order in
            [["--order", "chain"], ["--reorder", "none"], ["--reorder", "sloan"], ["--check", "facts"]]
        {
            let words: Vec<&str> =
                common.iter().copied().chain(["--engine", "symbolic"]).chain(order).collect();
            let (run, report) = scratch.check(&words);
            assert_eq!((run.status, told(&report)), with("explicit"), "{model}: {order:?}");
        }
    }
}

#[test]
fn counterexamples_are_replayed() {
    for model in MODELS {
        let scratch = Scratch::with(model);
        let (run, report) = scratch.check(&["--property", "safety", "--engine", "symbolic"]);
        assert_eq!(run.status, Some(1), "{model}: {}", run.stderr);
        assert!(!property(&report)["violations"].as_array().unwrap().is_empty());
        let replayed = scratch.run(&["replay", "m.pml.trail.json"]);
        assert_eq!(replayed.status, Some(0), "{model}: {}", replayed.stderr);
    }
}

/// More states than a number of 64 bits can say.
#[test]
fn states_are_counted_exactly() {
    let scratch = Scratch::with(
        "#define N 45\nbyte fork[N]; byte meals[N];\n\
         active [N] proctype p() { do :: atomic { fork[_pid] == 0 -> fork[_pid] = 1 };\n\
         meals[_pid] = 1 - meals[_pid]; fork[_pid] = 0 od }",
    );
    let (run, report) = scratch.check(&["--property", "safety", "--engine", "symbolic"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    // Each process has six states of its own.
    let states = property(&report)["states"].as_str().expect("a string").to_string();
    assert_eq!(states, (0..45).fold(1u128, |n, _| n * 6).to_string());
    assert!(property(&report)["transitions"].is_null());
    let text = scratch.run(&["check", "m.pml", "--property", "safety", "--engine", "symbolic"]).stdout;
    assert!(text.contains("in any of the 1.03 × 10^35 reachable states"), "{text}");
}

#[test]
fn the_first_answer_counts() {
    let scratch = Scratch::with(MODELS[1]);
    let (run, report) = scratch.check(&["--property", "safety", "--engine", "auto"]);
    assert_eq!(run.status, Some(1));
    assert!(["explicit", "symbolic"].contains(&report["config"]["engine"].as_str().unwrap()));
    // More states than any explicit search finishes.
    let many =
        "byte x[12]; active [12] proctype p() { do :: x[_pid] < 200 -> x[_pid]++ :: else -> x[_pid] = 0 od }";
    let (run, report) = Scratch::with(many).check(&["--engine", "auto", "--max-memory", "300M"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert_eq!(report["config"]["engine"], "symbolic");
}

#[test]
fn what_the_engine_does_not_do_is_refused() {
    let refused = |model: &str, words: &[&str], message: &str| {
        let words: Vec<&str> = words.iter().copied().chain(["--engine", "symbolic"]).collect();
        let (run, _) = Scratch::with(model).check(&words);
        assert_eq!(run.status, Some(2), "{message}");
        assert!(run.stderr.contains(message), "{}", run.stderr);
    };
    let ltl = "byte x; active proctype p() { x = 1 } ltl f { <> (x == 1) }";
    refused(ltl, &[], "it is not available yet for ltl:f");
    refused(ltl, &["--property", "safety", "--store", "tree"], "--store is for explicit search");
    refused(ltl, &["--property", "safety", "--exec", "interp"], "--engine symbolic needs native code");
    let trace = "chan c = [1] of { byte }; active proctype p() { c!1 } trace { c!1 }";
    refused(trace, &["--property", "safety"], "a trace assertion follows every send and receive");
    let priority = "byte x; active proctype p() priority 3 { x = 1; set_priority(0, 2) }";
    refused(priority, &["--property", "safety"], "with priorities every step depends on all processes");
}

#[test]
fn budgets_are_obeyed() {
    // One slot with all values that there are: sets of states do not help.
    let hard =
        "int x = 1; active proctype p() { do :: x = x * 3 + 1 :: x = x * 2 + 1 :: x == 12345 -> skip od }";
    let scratch = Scratch::with(hard);
    for budget in [["--timeout", "1"], ["--max-memory", "60M"]] {
        let words: Vec<&str> =
            ["--property", "safety", "--engine", "symbolic"].into_iter().chain(budget).collect();
        let (run, report) = scratch.check(&words);
        assert_eq!(run.status, Some(3), "{budget:?}: {}", run.stderr);
        assert!(property(&report)["reason"].is_string());
    }
}
