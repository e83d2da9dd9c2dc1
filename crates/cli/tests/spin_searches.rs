//! Searches that Spin has, too: the numbers and verdicts here are those of Spin 6.5.2 (`spin -a -o1 -o2 -o3`,
//! `-DSAFETY -DNOREDUCE`, with `-m`, `-DBCS`, `-DMA`, `-DVAR_RANGES`), but that it counts the initial state as
//! a transition.

mod common;

use common::Scratch;
use serde_json::Value;

/// Everything as it is written, by one worker.
const PLAIN: [&str; 6] = ["--por", "none", "--opt", "none", "--threads", "1"];

const LOSES: &str = "chan q = [2] of { byte };\nchan r = [0] of { byte };\nbyte got;\n\
    active proctype S() { byte i; do :: i < 4 -> q!i; i++ :: else -> break od; r!1 }\n\
    active proctype R() { byte x; do :: q?x -> got = x :: r?x -> break od; assert(got != 0) }\n";

/// Three processes pass a test one after the other, which takes four interruptions.
const RACE: &str =
    "byte n; bool b;\nactive [3] proctype P() { do :: b == 0 -> b = 1; n++; assert(n < 3); n--; b = 0 od }\n";

const PETERSON: &str = "bool flag[2]; byte turn, n;\nactive [2] proctype P() {\n  do :: flag[_pid] = 1; turn = _pid; \
    (flag[1-_pid] == 0 || turn == 1 - _pid) -> n++; assert(n == 1); n--; flag[_pid] = 0 od }\n";

fn numbers(report: &Value) -> [Option<u64>; 2] {
    ["states", "transitions"].map(|name| report["properties"][0][name].as_u64())
}

#[test]
fn full_channels_lose_messages() {
    let scratch = Scratch::with(LOSES);
    let all = [&PLAIN[..], &["--all-errors"]].concat();
    let (run, report) = scratch.check(&all);
    assert_eq!((run.status, numbers(&report)), (Some(0), [Some(74), Some(113)]));
    for exec in ["jit", "interp"] {
        let (run, report) = scratch.check(&[&all[..], &["--lossy-channels", "--exec", exec]].concat());
        assert_eq!((run.status, numbers(&report)), (Some(1), [Some(169), Some(249)]), "{exec}");
    }
    // The trail knows it, and says which message was lost.
    let replay = scratch.run(&["replay", "m.pml.trail.json"]);
    assert_eq!(replay.status, Some(0), "{}", replay.stderr);
    assert!(scratch.read("m.pml.trail.json").contains("\"lossy_channels\":true"));
    let simulated = scratch.run(&["simulate", "m.pml", "--lossy-channels", "--seed", "4"]);
    assert!(matches!(simulated.status, Some(0 | 1)), "{}", simulated.stderr);
    let traced = Scratch::with("chan q = [1] of { byte };\nactive proctype P() { q!1 }\ntrace { q!1 }\n");
    let refused = traced.run(&["check", "m.pml", "--lossy-channels"]);
    assert!(refused.status == Some(2) && refused.stderr.contains("trace assertion"), "{}", refused.stderr);
}

#[test]
fn bounded_context_switching() {
    let scratch = Scratch::with(RACE);
    for (most, status) in [("0", 3), ("1", 3), ("2", 3), ("3", 3), ("4", 1), ("5", 1)] {
        let run = scratch.run(&["check", "m.pml", "--max-switches", most]);
        assert_eq!(run.status, Some(status), "{most}: {}", run.stdout);
        let said = run.stdout.contains(&format!("more context switches than {most} were left out"));
        assert_eq!(said, status == 3, "{}", run.stdout);
    }
    assert_eq!(scratch.run(&["replay", "m.pml.trail.json"]).status, Some(0));
    // Where no run has more switches than are allowed, all of them were seen.
    let short = Scratch::with(
        "byte x;\nactive proctype A() { x++; x++ }\nactive proctype B() { x++; x++; assert(x > 0) }\n",
    );
    assert_eq!(short.run(&["check", "m.pml", "--max-switches", "1"]).status, Some(3));
    assert_eq!(short.run(&["check", "m.pml", "--max-switches", "5"]).status, Some(0));
    for words in [&["--por", "stubborn"][..], &["--sleep"], &["--ltl", "[] (x < 9)"], &["--edges", "lean"]] {
        let refused = short.run(&[&["check", "m.pml", "--max-switches", "1"], words].concat());
        assert!(refused.status == Some(2) && refused.stderr.contains("--max-switches 1"), "{words:?}");
    }
}

#[test]
fn a_minimised_automaton_is_exact() {
    for (model, states) in [(PETERSON, 38), (RACE, 360)] {
        let scratch = Scratch::with(model);
        for search in ["frontier", "dfs", "bfs"] {
            let words = ["--store", "automaton", "--all-errors", "--search", search];
            let (_, report) = scratch.check(&[&PLAIN[..], &words].concat());
            assert_eq!(numbers(&report)[0], Some(states), "{search}");
            assert_eq!(report["properties"][0]["exhaustive"], true);
        }
    }
    let scratch = Scratch::with(PETERSON);
    for words in [&["--threads", "2"][..], &["--ltl", "[]<> (n == 0)"]] {
        let refused = scratch.run(&[&["check", "m.pml", "--store", "automaton"], words].concat());
        assert!(refused.status == Some(2) && refused.stderr.contains("--store automaton"), "{words:?}");
    }
}

#[test]
fn the_nth_error() {
    let scratch = Scratch::with(RACE);
    let errors = |words: &[&str]| scratch.check(words).1["properties"][0]["errors"].as_u64();
    assert_eq!(errors(&["--all-errors", "--por", "none", "--opt", "none", "--threads", "1"]), Some(12));
    for order in ["frontier", "dfs", "bfs"] {
        for n in ["1", "3", "12"] {
            assert_eq!(errors(&["--stop-at", n, "--search", order, "--opt", "none"]), n.parse().ok());
        }
        assert_eq!(errors(&["--stop-at", "13", "--search", order, "--opt", "none"]), Some(12));
    }
    assert!(scratch.run(&["check", "m.pml", "--stop-at", "0"]).stderr.contains("--all-errors"));
    assert_eq!(scratch.run(&["check", "m.pml", "--stop-at", "3", "--threads", "2"]).status, Some(2));
}

/// `pan -i` comes to the same depths.
#[test]
fn shorter_and_shorter() {
    let depth = |scratch: &Scratch, words: &[&str]| {
        scratch.check(words).1["properties"][0]["violations"][0]["depth"].as_u64()
    };
    let race = Scratch::with(RACE);
    let shortest = depth(&race, &["--search", "bfs"]);
    assert_eq!(depth(&race, &["--shorten"]), shortest);
    assert_eq!(depth(&race, &["--shorten", "--search", "dfs", "--opt", "none"]), shortest);
    let again = Scratch::with(
        "byte x, y;\nactive proctype A() { do :: x < 5 -> x++ :: x > 0 -> x-- :: y < 3 -> y++ :: y > 0 -> y-- od }\n\
         ltl settles { <> [] (x != 2) }\n",
    );
    assert_eq!(depth(&again, &["--property", "ltl:settles", "--shorten"]), Some(6));
    let refused = race.run(&["check", "m.pml", "--shorten", "--all-errors"]);
    assert!(refused.status == Some(2) && refused.stderr.contains("--shorten"), "{}", refused.stderr);
}

#[test]
fn values_and_counts() {
    let scratch = Scratch::with(
        "mtype = { red, green };\nmtype light;\nbyte x;\nchan q = [2] of { byte };\n\
         active proctype P() { byte a; do :: x < 5 -> x++; q!x; q?a :: x == 5 -> break od; light = red }\n",
    );
    let words = ["--ranges", "--profile", "--threads", "1", "--opt", "none"];
    let (run, report) = scratch.check(&words);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let ranges = report["properties"][0]["ranges"].as_array().unwrap();
    let values = |name: &str| {
        let range = ranges.iter().find(|range| range["name"] == name).unwrap();
        (range["low"].as_i64(), range["high"].as_i64(), range["values"].as_array().map(Vec::len))
    };
    assert_eq!(values("x"), (Some(0), Some(5), Some(6)));
    assert_eq!(values("P:a"), (Some(0), Some(5), Some(6)));
    assert_eq!(values("len(q)"), (Some(0), Some(1), Some(2)));
    assert_eq!(values("light").2, Some(2));
    let statements = report["properties"][0]["statements"].as_array().unwrap();
    let times = |text: &str| statements.iter().find(|s| s["text"] == text).unwrap()["times"].as_u64();
    assert_eq!(["x < 5", "x++", "q!x", "q?a", "light = red"].map(times), [5, 5, 5, 5, 1].map(Some));
    let text = scratch.run(&[&["check", "m.pml"][..], &words].concat()).stdout;
    assert!(text.contains("values in all states") && text.contains("how often each statement"), "{text}");
    let refused = scratch.run(&["check", "m.pml", "--ranges", "--property", "progress"]);
    assert!(refused.status == Some(2) && refused.stderr.contains("--ranges"), "{}", refused.stderr);
}

#[test]
fn a_swarm_finds_what_is_wrong_and_claims_nothing_else() {
    let scratch = Scratch::with(RACE);
    let swarm = |words: &[&str]| scratch.run(&[&["swarm", "m.pml", "--memory", "64M"], words].concat());
    let found = swarm(&["--cpus", "2", "--format", "json"]);
    assert_eq!(found.status, Some(1), "{}", found.stderr);
    let report: Value = serde_json::from_str(&found.stdout).unwrap();
    assert_eq!(report["verdict"], "violated");
    assert!(report["searches"][0]["options"].as_array().unwrap().contains(&Value::from("--seed")));
    assert_eq!(scratch.run(&["replay", "m.pml.trail.json"]).status, Some(0));
    scratch.write(
        "fine.pml",
        "byte x;\nactive proctype P() { do :: x < 200 -> x++ :: x > 0 -> x-- od; x = 7 }\n",
    );
    let fine = scratch.run(&["swarm", "fine.pml", "--cpus", "1", "--time", "200ms", "--memory", "64M"]);
    assert_eq!(fine.status, Some(3), "{}", fine.stdout);
    assert!(fine.stdout.contains("nothing is shown") && fine.stdout.contains("executed by no search"));
    assert!(fine.stdout.contains("x = 7"), "{}", fine.stdout);
    assert!(swarm(&["--cpus", "0"]).stderr.contains("--cpus 0"));
    assert!(swarm(&["--cpus", "100"]).stderr.contains("which is too little"));
}
