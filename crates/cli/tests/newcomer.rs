//! A newcomer's first hour: slips on the command line are answered with what was meant, and reports say what
//! matters.

mod common;

use common::Scratch;
use serde_json::Value;

const GOOD: &str = "byte x; init { x = 1 }";
const LARGE: &str = "byte x, y; active proctype p() { do :: x++ :: y++ :: assert(x + y >= 0) od }";

fn refused(words: &[&str]) -> String {
    let run = Scratch::with("byte x; init { x = 1 } ltl small { [] (x < 2) }").run(words);
    assert_eq!(run.status, Some(2), "{words:?}: {}", run.stdout);
    run.stderr
}

#[test]
fn a_model_without_a_command() {
    let said = refused(&["m.pml"]);
    assert!(said.contains("did you mean `spinor check m.pml`?"), "{said}");
    let said = refused(&["m.pml", "--timeout", "5s"]);
    assert!(said.contains("`spinor check m.pml --timeout 5s`"), "{said}");
    assert!(refused(&["chekc", "m.pml"]).contains("'check'"));
}

#[test]
fn values_that_nearly_exist() {
    for (option, wrong, right) in [
        ("--store", "bit", "bitstate"),
        ("--search", "depth", "use one of"),
        ("--search", "bsf", "did you mean `bfs`"),
        ("--por", "stuborn", "did you mean `stubborn`"),
        ("--fair", "week", "did you mean `weak`"),
        ("--exec", "interpreter", "did you mean `interp`"),
        ("--property", "assertions", "did you mean `assertion`"),
        ("--property", "small", "did you mean `ltl:small`"),
        ("--property", "ltl:smal", "did you mean `ltl:small`"),
        ("--dialect", "spinn", "did you mean `spin`"),
        ("--format", "jsn", "json"),
        ("--max-memory", "200", "did you mean 200M?"),
        ("--timeout", "10x", "10s, 5m or 1h"),
    ] {
        let said = refused(&["check", "m.pml", option, wrong]);
        assert!(said.contains(right), "{option} {wrong}: {said}");
    }
}

#[test]
fn times_have_units() {
    let scratch = Scratch::with(GOOD);
    for time in ["10", "10s", "5m", "1h", "60000ms"] {
        assert_eq!(scratch.run(&["check", "m.pml", "-q", "--timeout", time]).status, Some(0), "{time}");
    }
}

#[test]
fn a_simulation_ends_and_can_be_repeated() {
    let endless = Scratch::with("byte x; active proctype p() { do :: x = 1 - x :: x = 2 - x od }");
    let run = endless.run(&["simulate", "m.pml"]);
    assert_eq!(run.status, Some(0));
    assert!(run.stdout.contains("stopped after 1000 steps (--steps N for more"), "{}", run.stdout);
    let seed = run.stdout.rsplit("--seed ").next().unwrap().trim().to_string();
    let again = endless.run(&["simulate", "m.pml", "--seed", &seed]);
    let steps = |text: &str| text.split("\nstopped").next().map(str::to_string);
    assert_eq!(steps(&again.stdout), steps(&run.stdout));
    assert!(!again.stdout.contains("--seed"), "nobody is told what he said: {}", again.stdout);
    let json = endless.run(&["simulate", "m.pml", "--format", "json", "--steps", "1500"]);
    let end: Value = serde_json::from_str(json.stdout.lines().last().unwrap()).unwrap();
    assert!(end["seed"].is_u64() && end["steps"] == 1500, "{end}");
}

#[test]
fn numbers_that_mean_nothing_are_left_out() {
    let small = Scratch::with(GOOD).run(&["check", "m.pml"]).stdout;
    for word in ["bytes each", "memory", "threads", "preparing"] {
        assert!(!small.contains(word), "{word} in {small}");
    }
    assert!(small.contains("states") && small.contains("time"), "{small}");
    let large = Scratch::with(LARGE).run(&["check", "m.pml"]);
    assert!(large.stdout.contains("MB  peak") && large.stdout.contains("bytes each"), "{}", large.stdout);
}

#[test]
fn a_long_report_ends_with_the_verdict() {
    let statements: String =
        (0..40).map(|n| format!("if :: x == {} -> y = {n} :: else fi; ", n + 300)).collect();
    let long = Scratch::with(&format!("int x, y; init {{ {statements} }}")).run(&["check", "m.pml"]).stdout;
    assert!(long.lines().count() > 24 && long.ends_with("\nm.pml: holds\n"), "{long}");
    let short = Scratch::with(GOOD).run(&["check", "m.pml"]).stdout;
    assert_eq!(short.matches("m.pml: holds").count(), 1, "{short}");
}

#[test]
fn progress_that_was_not_checked_is_told() {
    let model = "byte x; active proctype p() { do :: x = 1 - x; progress: skip od }";
    let scratch = Scratch::with(model);
    let run = scratch.run(&["check", "m.pml"]);
    assert!(run.stdout.contains("progress was not checked"), "{}", run.stdout);
    assert!(run.stdout.contains("spinor check m.pml --property progress"), "{}", run.stdout);
    let checked = scratch.run(&["check", "m.pml", "--property", "progress"]);
    assert!(!checked.stdout.contains("was not checked"), "{}", checked.stdout);
}

#[test]
fn an_assertion_that_is_never_reached_is_part_of_the_verdict() {
    let scratch = Scratch::with("byte x; init { if :: x == 1 ->\nassert(false) :: else fi }");
    for words in [&["check", "m.pml", "-q"][..], &["check", "m.pml"]] {
        let text = scratch.run(words).stdout;
        assert!(text.contains("but its only assertion is never reached (m.pml:2)"), "{text}");
    }
    let reached = Scratch::with("byte x; init { assert(x == 0) }").run(&["check", "m.pml", "-q"]).stdout;
    assert!(!reached.contains("reached ("), "{reached}");
}

#[test]
fn an_unknown_verdict_is_followed_by_what_finds_errors() {
    let scratch = Scratch::with(LARGE);
    let text = scratch.run(&["check", "m.pml", "--max-states", "100"]).stdout;
    for word in ["--search dfs", "--store bitstate", "a smaller model"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}
