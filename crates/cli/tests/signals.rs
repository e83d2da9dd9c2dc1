//! Ctrl-C and SIGTERM end whatever is being done, with a report and a status of their own.
#![cfg(target_os = "linux")]

mod common;

use common::Scratch;
use serde_json::Value;
use std::process::{Command, Output, Stdio};

/// One step of this model takes minutes.
const LONG_STEP: &str = "int i; byte x;
active proctype P() { x = 1; d_step { do :: i != 2000000000 -> i++ :: else -> break od }; assert(false) }
";

/// Runs the command and sends it a signal as soon as it listens.
fn signalled(scratch: &Scratch, signal: &str, words: &[&str]) -> Output {
    let child = scratch.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let number = child.id().to_string();
    while !listens(&number) {
        std::thread::yield_now();
    }
    assert!(Command::new("kill").args([signal, &number]).status().unwrap().success());
    child.wait_with_output().unwrap()
}

/// Whether a process has handlers for both signals: SIGINT is 2, SIGTERM 15.
fn listens(process: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
    let caught = u64::from_str_radix(caught.trim(), 16).unwrap_or(0);
    let both = 1 << (2 - 1) | 1 << (15 - 1);
    caught & both == both
}

const SIGNALS: [(&str, i32); 2] = [("-INT", 130), ("-TERM", 143)];

#[test]
fn a_check_in_the_midst_of_a_step() {
    let scratch = Scratch::with(LONG_STEP);
    for (signal, status) in SIGNALS {
        for exec in ["jit", "interp"] {
            let words = ["check", "m.pml", "--format", "json", "--exec", exec];
            let output = signalled(&scratch, signal, &words);
            assert_eq!(output.status.code(), Some(status), "{signal} {exec}");
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(report["verdict"], "unknown");
            assert_eq!(report["properties"][0]["note"], "the search was interrupted");
        }
    }
    assert!(!scratch.has("m.pml.trail.json"));
}

#[test]
fn a_search() {
    let scratch = Scratch::with(
        "int big; active [6] proctype P() { byte x; do :: x++; big = big | x; assert(big < 300) od }",
    );
    let text = signalled(&scratch, "-TERM", &["check", "m.pml"]);
    assert_eq!(text.status.code(), Some(143));
    assert!(String::from_utf8_lossy(&text.stdout).contains("unknown (interrupted)"), "{text:?}");
}

#[test]
fn facts_do_not_execute_a_long_step() {
    let scratch = Scratch::with(LONG_STEP);
    let run = scratch.run(&["facts", "m.pml", "--format", "matrix"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert!(run.stdout.starts_with("m.pml: 1 processes, 4 slots, 4 groups,"), "{}", run.stdout);
}

/// Many processes that may all meet each other: their matrices take a while.
#[test]
fn facts() {
    let options: String = (0..3000).map(|i| format!(":: x == {i} -> x = {} ", i + 1)).collect();
    let scratch = Scratch::with(&format!("int x; active [3] proctype p() {{ do {options} od }}"));
    for (signal, status) in SIGNALS {
        let output = signalled(&scratch, signal, &["facts", "m.pml", "--format", "json"]);
        assert_eq!(output.status.code(), Some(status), "{output:?}");
    }
}

#[test]
fn a_simulation_in_the_midst_of_a_step() {
    let scratch = Scratch::with(LONG_STEP);
    for (signal, status) in SIGNALS {
        let output = signalled(&scratch, signal, &["simulate", "m.pml"]);
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        let lines = signalled(&scratch, signal, &["simulate", "m.pml", "--format", "json"]);
        assert_eq!(lines.status.code(), Some(status), "{lines:?}");
    }
}

#[test]
fn a_translation() {
    let part = |i: usize| format!("((p{i} U (q{i} U r{i})) || []<> s{i})");
    let formula = (0..6).map(part).collect::<Vec<String>>().join(" && ");
    for (signal, status) in SIGNALS {
        let output = signalled(&Scratch::new(), signal, &["ltl", &formula]);
        assert_eq!(output.status.code(), Some(status), "{:?}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    }
}

#[test]
fn a_suite() {
    let scratch = Scratch::with(&format!("//@ expect: verdict=holds\n{LONG_STEP}"));
    for (signal, status) in SIGNALS {
        let output = signalled(&scratch, signal, &["test", "m.pml"]);
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("interrupted"), "{output:?}");
    }
}

/// The limit on time ends a step as well.
#[test]
fn the_time_is_over_in_the_midst_of_a_step() {
    let scratch = Scratch::with(LONG_STEP);
    let (run, report) = scratch.check(&["--timeout", "0.5"]);
    assert_eq!(run.status, Some(3), "{}", run.stderr);
    assert_eq!(report["verdict"], "unknown");
    let note = report["properties"][0]["note"].as_str().unwrap();
    assert!(note.contains("--timeout 0.5"), "{note}");
}

/// Between two tests, too, what was found by then is told.
#[test]
fn tests_of_a_memory_system() {
    let scratch = Scratch::with("");
    for (signal, status) in SIGNALS {
        let words = ["memory", "--system", "lazy_caching", "--model", "sc", "--format", "json"];
        let output = signalled(&scratch, signal, &words);
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        // Before the first test there is nothing to tell.
        if !output.stdout.is_empty() {
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(report["verdict"], "unknown");
        }
    }
}
