//! Embedded C: counts and verdicts as real Spin has them, what is refused, and C that does harm.
//!
//! The numbers of states in the table are those of Spin 6.5.2 on the same files (`spin -a -o1 -o2 -o3`, compiled with
//! `-DSAFETY -DNOREDUCE -DNOCLAIM`, run with `-c0`).

mod common;

use common::{CommandOutput, Scratch, spinor};
use serde_json::Value;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const REFERENCE: &[&str] = &[
    "--por",
    "none",
    "--opt",
    "none",
    "--store",
    "table",
    "--threads",
    "1",
    "--all-errors",
    "--property",
    "safety",
    "--allow-c",
];

fn models() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/embedded_c")
}

/// A check of a model of `tests/embedded_c`, with its trail somewhere else.
fn check(model: &str, words: &[&str]) -> (CommandOutput, Value, Scratch) {
    let scratch = Scratch::with(&std::fs::read_to_string(models().join(model)).unwrap());
    let (run, report) = scratch.check(words);
    (run, report, scratch)
}

#[test]
fn counts_and_verdicts_are_those_of_spin() {
    for (model, states, kinds) in [
        ("global_state.pml", 35, &[][..]),
        ("local_state.pml", 158, &[]),
        ("hidden_state.pml", 14, &[]),
        ("track_matched.pml", 132, &[]),
        ("track_unmatched.pml", 31, &[]),
        ("default_track.pml", 35, &["end-state"]),
        ("preconditions.pml", 13, &[]),
        ("precondition_false.pml", 24, &["runtime"]),
        ("functions.pml", 11, &[]),
        ("deadlock.pml", 4, &["end-state"]),
        ("d_steps.pml", 113, &[]),
        ("assertion.pml", 31, &["assertion", "end-state"]),
        ("never_claim.pml", 10, &[]),
    ] {
        let (run, report, _scratch) = check(model, REFERENCE);
        let safety = &report["properties"][0];
        assert_eq!(safety["states"], states, "{model}: {}", run.stderr);
        let mut found: Vec<&str> =
            safety["violations"].as_array().unwrap().iter().filter_map(|v| v["kind"].as_str()).collect();
        found.sort();
        found.dedup();
        assert_eq!(found, kinds, "{model}");
        assert_eq!(run.status, Some(i32::from(!kinds.is_empty())), "{model}");
    }
}

/// Holzmann's and Bosnacki's reference model; with 500,000 for 500 it has 500,001 states and 4,000,000 steps.
#[test]
fn the_reference_model_of_the_multi_core_paper_counts() {
    let (run, report, _scratch) = check("reference.pml", &[REFERENCE, &["-DSTATES=500"]].concat());
    let safety = &report["properties"][0];
    let counts = (&safety["states"], &safety["transitions"]);
    assert_eq!(counts, (&Value::from(501), &Value::from(4000)), "{}", run.stderr);
}

#[test]
fn every_store_and_order_finds_the_same_states() {
    for words in [
        &["--search", "bfs"][..],
        &["--search", "dfs"],
        &["--search", "handoff"],
        &["--store", "tree"],
        &["--store", "cleary"],
        &["--store", "collapse"],
        &["--store", "automaton"],
    ] {
        let (run, report, _scratch) =
            check("track_matched.pml", &[&["--allow-c", "--property", "safety"], words].concat());
        assert_eq!(report["properties"][0]["states"], 132, "{words:?} {}", run.stderr);
    }
}

#[test]
fn whole_runs_of_a_model_with_c_are_judged() {
    let (run, report, _scratch) = check("never_claim.pml", &["--allow-c", "--property", "ltl:low"]);
    assert_eq!((run.status, &report["verdict"]), (Some(0), &Value::from("holds")), "{}", run.stderr);
    let claim = ["--allow-c", "--ltl", "[] c_expr { now.level < 2 }", "--property", "ltl:cli"];
    let (run, report, scratch) = check("never_claim.pml", &claim);
    assert_eq!((run.status, &report["verdict"]), (Some(1), &Value::from("violated")), "{}", run.stderr);
    let replayed = scratch.run(&["replay", "m.pml.trail.json", "--allow-c"]);
    assert_eq!(replayed.status, Some(0), "{}", replayed.stderr);
    assert!(replayed.stdout.contains("level"), "{}", replayed.stdout);
}

/// A file beside the model that C would write.
const WRITES: &str = "c_code { void mark(void) { FILE *f = fopen(\"ran\", \"w\"); if (f) fclose(f); } }\n\
     byte x;\nactive proctype p() { c_code { mark(); now.x = 1; }; assert(x == 0) }\n";

#[test]
fn nothing_is_compiled_or_run_without_permission() {
    let scratch = Scratch::with(WRITES);
    scratch.write("cc", "#!/bin/sh\ntouch compiled\n");
    let cc = scratch.0.join("cc");
    make_executable(&cc);
    // A model cannot allow it, nor can a test suite, nor can a trail.
    scratch.write("t.pml", &format!("//@ check --allow-c\n//@ expect safety violated\n{WRITES}"));
    for words in [
        &["check", "m.pml"][..],
        &["simulate", "m.pml"],
        &["graph", "m.pml"],
        &["facts", "m.pml"],
        &["parse", "m.pml"],
        &["swarm", "m.pml"],
        &["spin", "-run", "m.pml"],
        &["spin", "m.pml"],
        &["test", "t.pml"],
        &["memory", "m.pml"],
        &["check", "m.pml", "--c-source", "x.c"],
        &["check", "m.pml", "--c-in-process"],
    ] {
        let run = CommandOutput::of(scratch.command(words).env("CC", &cc).output().unwrap());
        let expected = if words[0] == "parse" { Some(0) } else { Some(2) };
        assert_eq!(
            run.status,
            expected.filter(|_| words[0] != "test").or(run.status),
            "{words:?} {}",
            run.stderr
        );
        assert!(!scratch.has("compiled") && !scratch.has("ran"), "{words:?}");
    }
    let refused = scratch.run(&["check", "m.pml"]);
    for part in ["E0601", "would compile", "1 c_code statement", "--allow-c"] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    // With permission it runs, and its trail cannot hand the permission on.
    let run = scratch.run(&["check", "m.pml", "--allow-c"]);
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    assert!(scratch.has("ran"));
    std::fs::remove_file(scratch.0.join("ran")).unwrap();
    let run = scratch.run(&["replay", "m.pml.trail.json"]);
    assert_eq!(run.status, Some(2), "{}", run.stdout);
    assert!(run.stderr.contains("E0601") && !scratch.has("ran"), "{}", run.stderr);
}

#[cfg(unix)]
fn make_executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(not(unix))]
fn make_executable(_: &std::path::Path) {}

#[test]
fn what_does_not_go_with_c_is_refused() {
    for words in [
        &["--exec", "jit"][..],
        &["--por", "stubborn"],
        &["--opt", "merge"],
        &["--threads", "2"],
        &["--engine", "symbolic"],
        &["--certify", "f"],
        &["--report", "f.html"],
        &["--memory", "tso"],
    ] {
        let (run, _, _scratch) = check("global_state.pml", &[&["--allow-c"], words].concat());
        assert_eq!(run.status, Some(2), "{words:?} {}", run.stderr);
        assert!(run.stderr.contains("mbedded C"), "{words:?} {}", run.stderr);
    }
    let scratch = Scratch::with(WRITES);
    let two = scratch.run(&["check", "m.pml", "m.pml", "--allow-c"]);
    assert_eq!(two.status, Some(2), "{}", two.stderr);
}

#[test]
fn a_compiler_speaks_of_the_models_lines() {
    let scratch = Scratch::with("byte x;\n\nactive proctype p() {\n  c_code { now.y = 1; }\n}\n");
    let run = scratch.run(&["check", "m.pml", "--allow-c"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("E0603") && run.stderr.contains("m.pml:4"), "{}", run.stderr);
    // No compiler at all.
    let run =
        scratch.command(&["check", "m.pml", "--allow-c"]).env("PATH", "").env_remove("CC").output().unwrap();
    let run = CommandOutput::of(run);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("no C compiler"), "{}", run.stderr);
    let named = scratch.command(&["check", "m.pml", "--allow-c"]).env("CC", "no-such-cc").output().unwrap();
    assert!(CommandOutput::of(named).stderr.contains("`no-such-cc`, which is not found"));
}

#[test]
fn every_compiler_makes_the_same() {
    for cc in ["gcc", "clang", "tcc"] {
        let found = std::env::var_os("PATH")
            .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(cc).is_file()));
        for model in ["track_matched.pml", "functions.pml"].into_iter().filter(|_| found) {
            let scratch = Scratch::with(&std::fs::read_to_string(models().join(model)).unwrap());
            let words = [&["check", "m.pml", "--format", "json"], REFERENCE].concat();
            let run = CommandOutput::of(scratch.command(&words).env("CC", cc).output().unwrap());
            assert_eq!(run.status, Some(0), "{cc} {model}: {}", run.stderr);
        }
    }
}

#[test]
fn sources_and_words_reach_the_compiler() {
    let scratch = Scratch::with(
        "c_decl { extern int linked; int twice(int); }\nc_track \"&linked\" \"sizeof(int)\"\nbyte x;\n\
         active proctype p() {\n  c_code { linked = twice(BASE); now.x = linked; };\n  assert(x == 14)\n}\n",
    );
    scratch.write("more.c", "int linked;\nint twice(int n) { return 2 * n; }\n");
    let run =
        scratch.run(&["check", "m.pml", "--allow-c", "--c-source", "more.c", "--c-flags", "-DBASE=7 -O1"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
}

#[test]
fn harm_is_a_run_time_error_with_its_place() {
    for (model, line, words) in [
        ("abort", 2, "SIGABRT"),
        ("wild", 2, "SIGSEGV"),
        ("loop", 2, "does not come back within"),
        ("exit", 2, "ends the process with exit status 0"),
        ("fork", 3, "starts a process"),
        ("system", 2, "starts a process"),
        ("divide", 2, "SIGFPE"),
    ] {
        let started = Instant::now();
        let (run, report, scratch) = check(&format!("hostile/{model}.pml"), &["--allow-c"]);
        assert_eq!(run.status, Some(1), "{model}: {}", run.stderr);
        let violation = &report["properties"][0]["violations"][0];
        assert_eq!(violation["kind"], "runtime", "{model}");
        assert_eq!(
            (&violation["line"], &violation["process"]),
            (&Value::from(line), &Value::from("p")),
            "{model}"
        );
        assert!(violation["message"].as_str().unwrap().contains(words), "{model}: {violation}");
        // The counterexample is replayed by the same means.
        if model != "loop" {
            let replayed = scratch.run(&["replay", "m.pml.trail.json", "--allow-c"]);
            assert_eq!(replayed.status, Some(0), "{model}: {}", replayed.stderr);
            assert!(replayed.stdout.contains(words), "{model}: {}", replayed.stdout);
        }
        assert!(started.elapsed() < Duration::from_secs(600), "{model}");
    }
}

#[test]
fn memory_without_end_is_taken_away() {
    let scratch = Scratch::with(&std::fs::read_to_string(models().join("hostile/memory.pml")).unwrap());
    let (run, report) = scratch.check(&["--allow-c", "--max-memory", "64M"]);
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    let message = report["properties"][0]["violations"][0]["message"].as_str().unwrap();
    assert!(message.contains("MiB of memory"), "{message}");
}

#[test]
fn what_c_prints_is_no_part_of_a_report() {
    let scratch = Scratch::with("init { c_code { printf(\"from C\\n\"); Printf(\"%d\\n\", 3); } }\n");
    let (run, report) = scratch.check(&["--allow-c"]);
    assert_eq!((run.status, &report["verdict"]), (Some(0), &Value::from("holds")), "{}", run.stdout);
    assert!(run.stderr.contains("from C"), "{}", run.stderr);
    // A simulation that C ends is told from its beginning, once.
    scratch.write("m.pml", "byte x;\ninit { x = 1; x = 2; c_code { abort(); } }\n");
    let run = scratch.run(&["simulate", "m.pml", "--allow-c"]);
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    assert_eq!(run.stdout.matches("  x = 1  ").count(), 1, "{}", run.stdout);
    assert!(run.stdout.contains("SIGABRT"), "{}", run.stdout);
}

#[test]
fn it_can_be_done_in_one_process() {
    let words = [REFERENCE, &["--c-in-process"]].concat();
    let (run, report, _scratch) = check("track_matched.pml", &words);
    assert_eq!(
        (run.status, &report["properties"][0]["states"]),
        (Some(0), &Value::from(132)),
        "{}",
        run.stderr
    );
    // Then nobody is there to tell of a crash.
    let scratch = Scratch::with(&std::fs::read_to_string(models().join("hostile/abort.pml")).unwrap());
    let status =
        spinor(&scratch.0, &["check", "m.pml", "--allow-c", "--c-in-process"]).output().unwrap().status;
    assert_eq!(status.code().filter(|code| *code < 4), None);
}
