//! `check --cluster N`: what several processes find is what one finds, and a process that is lost or silent
//! ends the search with a clear reason and without a verdict.
#![cfg(target_os = "linux")]

mod common;

use common::{CommandOutput, Scratch};
use jsonschema::Validator;
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Processes that begin late and end early, so that shapes are found in different processes at different times;
/// an atomic sequence, a rendezvous, a buffered channel; an assertion that holds if `GOOD`.
const LATE: &str = "chan c = [2] of { byte }; chan r = [0] of { byte }; byte n, sum;\n\
    proctype worker(byte id) { byte x; do :: c?x -> sum = (sum + x) % 5 :: r!id -> break od }\n\
    proctype spawner() { byte i; do :: i < 3 -> atomic { n++; run worker(i); i++ } :: i == 3 -> break od;\n\
      c!1; c!2; c!3 }\n\
    active proctype main() { byte y; run spawner(); end: do :: r?y -> assert(GOOD || n < 3) od }\n";

/// A deadlock, errors at several places, and a run-time error.
const ERRORS: &str = "byte a[3], i; chan c = [1] of { byte };\n\
    active [2] proctype p() { byte k; do :: k < 3 -> k++; c!k :: k == 3 -> break od; assert(i != 2) }\n\
    active proctype q() { byte k; do :: c?k -> i = k; a[i] = 1 :: i == 1 -> assert(a[0] == 1); i = 0 od }\n";

/// So many states that nobody waits for the end.
const ENDLESS: &str = "byte a, b, c, d, e, f;\n\
    active proctype p() { do :: a++ :: b++ :: c++ od }\n\
    active proctype q() { do :: d++ :: e++ :: f++ od }\n\
    active proctype r() { do :: assert(a + b + c + d + e + f < 2000) od }\n";

fn counts(report: &Value) -> Vec<Value> {
    let property = &report["properties"][0];
    ["verdict", "states", "transitions", "matched", "errors", "exhaustive"]
        .map(|n| property[n].clone())
        .to_vec()
}

fn validator() -> Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/report.schema.json");
    jsonschema::validator_for(&serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
        .unwrap()
}

/// By one search of one worker and by so many processes.
fn compare(scratch: &Scratch, size: &str, words: &[&str]) -> Value {
    let words = [words, &["--all-errors"]].concat();
    let (one, alone) = scratch.check(&[&words[..], &["--por", "none", "--threads", "1"]].concat());
    let (several, together) = scratch.check(&[&words[..], &["--cluster", size]].concat());
    assert_eq!(one.status, several.status, "{size} {words:?}: {}", several.stderr);
    assert_eq!(counts(&alone), counts(&together), "{size} {words:?}");
    let cluster = &together["properties"][0]["cluster"];
    let processes = cluster["processes"].as_array().unwrap();
    assert_eq!(processes.len().to_string(), size);
    let states: u64 = processes.iter().map(|process| process["states"].as_u64().unwrap()).sum();
    assert_eq!(together["properties"][0]["states"], states);
    together
}

#[test]
fn as_many_states_as_one_process_finds() {
    let (scratch, validator) = (Scratch::with(LATE), validator());
    for (size, words) in [
        ("1", &["-DGOOD=1"][..]),
        ("2", &["-DGOOD=1"]),
        ("3", &["-DGOOD=1", "--edges", "all"]),
        ("4", &["-DGOOD=1", "--opt", "none"]),
        ("2", &["-DGOOD=1", "--store", "tree"]),
        ("3", &["-DGOOD=1", "--store", "cleary"]),
        ("2", &["-DGOOD=1", "--store", "collapse"]),
        ("2", &["-DGOOD=1", "--store", "automaton"]),
        ("2", &["-DGOOD=1", "--exec", "interp"]),
        ("3", &["-DGOOD=0"]),
    ] {
        let report = compare(&scratch, size, words);
        let errors: Vec<String> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

#[test]
fn counterexamples_lead_through_all_processes() {
    let scratch = Scratch::with(ERRORS);
    for size in ["2", "3", "4"] {
        let report = compare(&scratch, size, &["--opt", "none"]);
        let violations = report["properties"][0]["violations"].as_array().unwrap();
        assert!(violations.len() > 1, "{report:#}");
        for violation in violations {
            let replay = scratch.run(&["replay", violation["trail"].as_str().unwrap()]);
            assert_eq!(replay.status, Some(0), "{}", replay.stderr);
        }
    }
    let (first, report) = scratch.check(&["--cluster", "3"]);
    assert_eq!((first.status, &report["verdict"]), (Some(1), &Value::from("violated")));
    assert_eq!(report["properties"][0]["errors"], 1);
}

#[test]
fn a_static_proviso_needs_nobody_else() {
    let scratch = Scratch::with(LATE);
    let words = ["-DGOOD=1", "--por", "stubborn", "--proviso", "static"];
    let (one, alone) = scratch.check(&[&words[..], &["--threads", "1"]].concat());
    let (several, together) = scratch.check(&[&words[..], &["--cluster", "2"]].concat());
    assert_eq!((one.status, &alone["verdict"]), (several.status, &together["verdict"]));
}

#[test]
fn budgets_are_those_of_all() {
    let scratch = Scratch::with(ENDLESS);
    let (run, report) = scratch.check(&["--cluster", "2", "--max-states", "100000"]);
    assert_eq!((run.status, &report["properties"][0]["states"]), (Some(3), &Value::from(100_000)));
    assert_eq!(report["properties"][0]["reason"], "the search stopped at --max-states 100000");
    let (run, report) = scratch.check(&["--cluster", "3", "--timeout", "1"]);
    assert_eq!((run.status, &report["verdict"]), (Some(3), &Value::from("unknown")));
    let (run, report) = scratch.check(&["--cluster", "2", "--max-memory", "140M"]);
    assert_eq!((run.status, &report["verdict"]), (Some(3), &Value::from("unknown")));
    assert!(report["properties"][0]["reason"].as_str().unwrap().starts_with("memory ran out"), "{report:#}");
}

/// A search that does not end by itself, and one of its other processes.
fn endless(scratch: &Scratch, words: &[&str]) -> (Child, u32) {
    let words = [&["check", "m.pml", "--format", "json", "--cluster", "2"], words].concat();
    let child = scratch.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let other = std::iter::repeat_with(|| other_process(child.id())).flatten().next();
    (child, other.unwrap())
}

/// A process that this one started and that has joined: it has connections of its own.
fn other_process(parent: u32) -> Option<u32> {
    let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).ok()?;
    let tasks = std::fs::read_dir(format!("/proc/{parent}/task")).ok()?;
    let of_thread = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("children")).ok();
    let all: String = tasks.flatten().filter_map(of_thread).chain([children]).collect();
    let other: u32 = all.split_whitespace().next()?.parse().ok()?;
    let threads = std::fs::read_dir(format!("/proc/{other}/task")).ok()?.flatten();
    let named = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm")).ok();
    threads.filter_map(named).any(|name| name.starts_with("timely")).then_some(other)
}

fn signal(process: u32, signal: &str) {
    assert!(Command::new("kill").args([signal, &process.to_string()]).status().unwrap().success());
}

fn report(child: Child) -> (CommandOutput, Value) {
    let run = CommandOutput::of(child.wait_with_output().unwrap());
    let report = serde_json::from_str(&run.stdout).unwrap();
    (run, report)
}

#[test]
fn a_process_that_is_killed_is_named() {
    let scratch = Scratch::with(ENDLESS);
    let (child, other) = endless(&scratch, &[]);
    signal(other, "-KILL");
    let (run, report) = report(child);
    assert_eq!((run.status, &report["verdict"]), (Some(3), &Value::from("unknown")), "{}", run.stderr);
    let reason = report["properties"][0]["reason"].as_str().unwrap();
    let told = format!("process 1 of the cluster (pid {other}) was ended by signal 9");
    assert!(reason.starts_with(&told), "{reason}");
}

#[test]
fn a_process_that_is_silent_is_named() {
    let scratch = Scratch::with(ENDLESS);
    let (child, other) = endless(&scratch, &["--peer-timeout", "5"]);
    signal(other, "-STOP");
    let (run, report) = report(child);
    assert_eq!((run.status, &report["verdict"]), (Some(3), &Value::from("unknown")), "{}", run.stderr);
    let reason = report["properties"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("has said nothing for 5 s (--peer-timeout)"), "{reason}");
    assert!(!Path::new(&format!("/proc/{other}")).exists(), "it is ended");
}

#[test]
fn an_interrupt_ends_all() {
    let scratch = Scratch::with(ENDLESS);
    let (child, other) = endless(&scratch, &[]);
    signal(child.id(), "-INT");
    let (run, report) = report(child);
    assert_eq!((run.status, &report["verdict"]), (Some(130), &Value::from("unknown")));
    assert!(!Path::new(&format!("/proc/{other}")).exists());
}

#[test]
fn nobody_stays_when_the_first_process_is_killed() {
    let scratch = Scratch::with(ENDLESS);
    let (mut child, other) = endless(&scratch, &[]);
    signal(child.id(), "-KILL");
    child.wait().unwrap();
    // It ends by itself, or this test does not.
    let runs =
        || std::fs::read_to_string(format!("/proc/{other}/stat")).is_ok_and(|stat| !stat.contains(") Z"));
    while runs() {
        std::thread::yield_now();
    }
}

#[test]
fn what_it_is_not_made_for_is_refused_with_a_repair() {
    let scratch = Scratch::with("byte x; active proctype p() { x = 1 } ltl one { <> (x == 1) }");
    scratch.write("plain.pml", "byte x; active proctype p() { x = 1 }");
    let refused = |model: &str, words: &[&str]| {
        let run = scratch.run(&[&["check", model, "--cluster", "2"], words].concat());
        assert_eq!(run.status, Some(2), "{words:?}: {}{}", run.stdout, run.stderr);
        assert!(
            run.stderr.contains("help:") && run.stderr.contains("--cluster"),
            "{words:?}: {}",
            run.stderr
        );
        run.stderr
    };
    assert!(refused("m.pml", &[]).contains("--cluster 2 is for safety, and ltl:one is not"));
    for words in [
        "--store bitstate",
        "--store hc",
        "--search bfs",
        "--search dfs",
        "--search ndfs",
        "--search handoff",
        "--threads 2",
        "--por twophase",
        "--por stubborn",
        "--por ample --proviso closed-set",
        "--sleep",
        "--shorten",
        "--max-depth 9",
        "--max-switches 1",
        "--seed 1",
        "--deterministic",
        "--stop-at 2",
        "--state-cache 9",
        "--ranges",
        "--profile",
        "--certify c",
        "--checkpoint c",
        "--resume c",
        "--disk .",
        "--check facts --por none",
        "--engine symbolic",
        "--engine gpu",
        "--exec packed",
        "--allow-c",
        "--memory tso",
    ] {
        refused("plain.pml", &words.split(' ').collect::<Vec<&str>>());
    }
    for words in [["--cluster", "0"], ["--cluster", "1000"], ["--peer-timeout", "3"]] {
        let run = scratch.run(&[&["check", "plain.pml"], &words[..]].concat());
        assert_eq!(run.status, Some(2), "{words:?}");
    }
    let run = scratch.run(&["check", "plain.pml", "--cluster", "2", "--cluster-seat", "1@9"]);
    assert_eq!(run.status, Some(2), "{}", run.stdout);
    assert!(run.stderr.contains("for processes of a cluster"), "{}", run.stderr);
}

#[test]
fn a_model_without_an_initial_state_is_told_once() {
    let scratch = Scratch::with("byte a[2]; byte x = 3; byte y = 1 / 0; active proctype p() { a[x] = y }");
    let (one, alone) = scratch.check(&["--threads", "1"]);
    let (several, together) = scratch.check(&["--cluster", "2"]);
    assert_eq!((one.status, &alone["verdict"]), (several.status, &together["verdict"]));
}
