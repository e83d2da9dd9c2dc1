//! `--memory`: real Spin agrees about the models with buffers that `parse --format promela` writes; fences are
//! found where the literature has them; trails are replayed; what makes no sense is refused.

#![allow(clippy::print_stderr)]

mod common;

use common::Scratch;
use std::path::Path;
use testkit::litmus::shapes;
use testkit::outcome::Outcome;
use testkit::spin::{Compiler, Spin};

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/weak_memory").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// Our verdict, and Spin's about the model that we write, where it did not give up at its depth limit.
fn verdicts(scratch: &Scratch, spin: &Spin, words: &[&str]) -> (bool, Option<bool>) {
    let (run, report) = scratch.check(words);
    assert!(run.status.is_some_and(|status| status < 2), "{words:?}: {}", run.stderr);
    let written = scratch.run(&[&["parse", "m.pml", "--format", "promela"], words].concat());
    assert_eq!(written.status, Some(0), "{words:?}: {}", written.stderr);
    let found = match spin.explore(&written.stdout, &[], Compiler::Quick) {
        Outcome::Explored(exploration) => match exploration.errors {
            0 if exploration.truncated.is_some() => None,
            errors => Some(errors > 0),
        },
        other => panic!("{words:?}: {other:?}\n{}", written.stdout),
    };
    (report["properties"][0]["verdict"] == "violated", found)
}

#[test]
fn spin_agrees_about_models_with_buffers() {
    let spin = Spin::find();
    if let Some(why) = spin.missing() {
        eprintln!("SKIPPED: {why}");
        return;
    }
    let mut compared = 0;
    let mut agree = |(ours, spins): (bool, Option<bool>), expected: bool, what: &str| {
        assert_eq!((ours, spins.unwrap_or(expected)), (expected, expected), "{what}");
        compared += u32::from(spins.is_some());
    };
    for shape in shapes().iter().filter(|shape| shape.litmus.threads.len() < 4) {
        let scratch = Scratch::with(&shape.litmus.promela_asserting(&shape.relaxed));
        for (memory, allowed) in
            ["sc", "tso", "pso"].into_iter().zip([false, shape.allowed[0], shape.allowed[1]])
        {
            // Registers are global variables here, so a buffer has to hold their stores as well.
            let bound: &[&str] = if memory == "sc" { &[] } else { &["--memory-bound", "4"] };
            let found = verdicts(&scratch, &spin, &[&["--memory", memory], bound].concat());
            agree(found, allowed, &format!("{} under {memory}", shape.litmus.name));
        }
    }
    let known = [
        ("peterson.pml", "WAIT", [true, true], [false, true]),
        ("dekker.pml", "FENCES", [true, true], [false, false]),
        ("szymanski.pml", "FENCES", [true, true], [false, false]),
        ("treiber.pml", "NOTHING", [false, false], [false, false]),
    ];
    for (name, define, without, with) in known {
        let scratch = Scratch::with(&example(name));
        for (i, memory) in ["tso", "pso"].into_iter().enumerate() {
            let define = format!("-D{define}");
            let found = verdicts(&scratch, &spin, &["--memory", memory]);
            agree(found, without[i], &format!("{name} under {memory}"));
            let found = verdicts(&scratch, &spin, &["--memory", memory, &define]);
            agree(found, with[i], &format!("{name} {define} under {memory}"));
        }
    }
    assert!(compared > 50, "Spin answered {compared} times");
}

/// Where fences are suggested: the word and the statement.
fn fences(name: &str, memory: &str) -> Vec<(String, String)> {
    let scratch = Scratch::with(&example(name));
    let (run, report) = scratch.check(&["--memory", memory, "--suggest-fences"]);
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    let places = report["memory"]["fences"]["places"].as_array().expect("places");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_string();
    places.iter().map(|place| (text(&place["where"]), text(&place["statement"]))).collect()
}

#[test]
fn fences_are_where_the_literature_has_them() {
    let after = |statement: &str| ("after".to_string(), statement.to_string());
    let before = |statement: &str| ("before".to_string(), statement.to_string());
    assert_eq!(fences("peterson.pml", "tso"), [after("turn = 1 - me")]);
    let three = [before("turn = 1 - me"), after("turn = 1 - me"), before("flag[me] = false")];
    assert_eq!(fences("peterson.pml", "pso"), three);
    // Behind both places where the flag is raised.
    assert_eq!(fences("dekker.pml", "tso"), [after("flag[me] = true"), after("flag[me] = true")]);
}

#[test]
fn sequential_consistency_changes_nothing() {
    let scratch = Scratch::with(&example("dekker.pml"));
    let reference = ["--por", "none", "--opt", "none"];
    let (_, plain) = scratch.check(&reference);
    let (_, sc) = scratch.check(&[&reference[..], &["--memory", "sc"]].concat());
    for count in ["states", "transitions", "depth"] {
        assert_eq!(plain["properties"][0][count], sc["properties"][0][count], "{count}");
    }
    assert_eq!(sc["memory"]["model"], "sc");
}

#[test]
fn a_trail_knows_its_memory() {
    let model = "byte x, y, a = 9, b = 9; active proctype p() { x = 1; a = y } active proctype q() { y = 1; b = x } \
                 active proctype o() { _nr_pr == 3 && a != 9 && b != 9; assert(a + b > 0) }";
    let scratch = Scratch::with(model);
    let (run, report) = scratch.check(&["--memory", "tso", "--search", "bfs"]);
    assert_eq!((run.status, &report["memory"]["bound"]), (Some(1), &serde_json::json!(2)), "{}", run.stderr);
    let told = scratch.run(&["replay", "m.pml.trail.json"]);
    assert_eq!(told.status, Some(0), "{}", told.stderr);
    assert!(told.stdout.contains("reaches memory"), "{}", told.stdout);
    assert!(told.stdout.contains("store buffer[0]: y := 1 → b := 0"), "{}", told.stdout);
}

#[test]
fn the_size_of_buffers_is_part_of_the_answer() {
    let scratch = Scratch::with(&example("dekker.pml"));
    let (_, report) = scratch.check(&["--memory", "tso", "-DFENCES", "--memory-bound", "1"]);
    assert_eq!((&report["memory"]["exact"], &report["memory"]["bound"]), (&false.into(), &1.into()));
    let (_, report) = scratch.check(&["--memory", "tso", "-DFENCES", "--memory-bound", "4"]);
    assert_eq!(
        (&report["memory"]["exact"], &report["properties"][0]["verdict"]),
        (&true.into(), &"holds".into())
    );
    let text = scratch.run(&["check", "m.pml", "--memory", "tso", "-DFENCES", "--memory-bound", "4"]).stdout;
    assert!(text.contains("exact for any size"), "{text}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let scratch = Scratch::with(
        "byte x; active [2] proctype p() { x = 1; x = 2; assert(x > 0); if :: x == 1 :: else fi }",
    );
    let cases: [(&[&str], &str); 5] = [
        (&["--memory-bound", "3"], "--memory-bound is about store buffers"),
        (&["--suggest-fences"], "--suggest-fences is about store buffers"),
        (&["--memory", "tso", "--memory-bound", "0"], "is not within 1..64"),
        (&["--memory", "tso", "--plain", "z"], "no global variable of that name"),
        (&["--memory", "rmo"], "unknown memory model `rmo`"),
    ];
    for (words, message) in cases {
        let (run, _) = scratch.check(words);
        assert_eq!(run.status, Some(2), "{words:?}: {}", run.stderr);
        assert!(run.stderr.contains(message), "{words:?}: {}", run.stderr);
    }
    let provided = Scratch::with("byte x, y; active [2] proctype p() provided (y == 0) { x = 1; x == 1 }");
    let (run, _) = provided.check(&["--memory", "tso"]);
    assert!(run.status == Some(2) && run.stderr.contains("provided clause"), "{}", run.stderr);
}

#[test]
fn several_loads_in_one_step_are_pointed_out() {
    let scratch = Scratch::with(
        "byte x, y, r; active proctype P() { x = 1; y = 1; x = 0 } active proctype Q() { (x == 1 && y == 1) -> r = 1 }",
    );
    let (run, _) = scratch.check(&["--memory", "tso", "--property", "assertion"]);
    assert!(run.stderr.contains("W0710"), "{}", run.stderr);
    let (run, _) = scratch.check(&["--property", "assertion"]);
    assert!(!run.stderr.contains("W0710"), "{}", run.stderr);
}

#[test]
fn a_special_file_takes_the_trails_of_all_memory_models() {
    let scratch = Scratch::with(
        "byte x, y; bool a, b; active proctype P() { x = 1; a = (y == 0) } active proctype Q() { y = 1; b = (x == 0); assert(!(a && b)) }",
    );
    let run = scratch.run(&["check", "m.pml", "--memory", "all", "--trail", "/dev/null"]);
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    assert_eq!(run.stdout.matches("the trail went to /dev/null").count(), 2, "{}", run.stdout);
    assert!(!run.stdout.contains("null.tso"), "{}", run.stdout);
}
