//! What cannot be written is said: a full device, a read-only folder, a reader that has gone; trails in
//! special files.

mod common;

use common::{CommandOutput, Scratch};
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

const HOLDS: &str = "byte x; active proctype p() { x = 1; assert(x == 1) }\n";
const ASSERTION: &str = "byte x;\nactive proctype p() {\n  x = 1;\n  assert(x == 2);\n  assert(x == 3)\n}\n";
const TESTED: &str =
    "//@ check: safety\n//@ expect: verdict=holds\nbyte x; active proctype p() { x = 1; assert(x == 1) }\n";

fn full_device() -> Option<File> {
    Path::new("/dev/full").exists().then(|| OpenOptions::new().write(true).open("/dev/full").unwrap())
}

/// A run whose standard output is a full device; `None` where there is none.
fn to_full_device(scratch: &Scratch, words: &[&str]) -> Option<CommandOutput> {
    let full = full_device()?;
    Some(CommandOutput::of(scratch.command(words).stdout(full).output().unwrap()))
}

#[test]
fn a_result_that_cannot_be_written_is_status_4() {
    let scratch = Scratch::with(HOLDS);
    scratch.write("t.pml", TESTED);
    scratch.write("bad.pml", ASSERTION);
    scratch.run(&["check", "bad.pml"]);
    let commands: &[&[&str]] = &[
        &["check", "m.pml"],
        &["check", "m.pml", "--format", "json"],
        &["check", "m.pml", "--max-states", "1"],
        &["test", "t.pml"],
        &["test", "t.pml", "--format", "json"],
        &["test", "t.pml", "--format", "junit"],
        &["test", "t.pml", "--format", "sarif"],
        &["parse", "m.pml"],
        &["parse", "m.pml", "--format", "json"],
        &["facts", "m.pml"],
        &["ltl", "[] p"],
        &["simulate", "m.pml"],
        &["simulate", "m.pml", "--format", "json"],
        &["replay", "bad.pml.trail.json"],
        &["replay", "bad.pml.trail.json", "--format", "json"],
        &["replay", "bad.pml.trail.json", "--format", "itf"],
        &["replay", "bad.pml.trail.json", "--format", "msc"],
        &["explain", "E0997"],
        &["completions", "bash"],
        &["man"],
        &["man", "--out", "pages"],
        &["--version"],
        &["--help"],
        &["check", "--help"],
    ];
    for words in commands {
        let Some(run) = to_full_device(&scratch, words) else { return };
        assert_eq!(run.status, Some(4), "{words:?}: {}", run.stderr);
        assert!(run.stderr.contains("could not be written"), "{words:?}: {}", run.stderr);
    }
}

#[test]
fn a_violation_keeps_its_status() {
    let scratch = Scratch::with(ASSERTION);
    for words in [&["check", "m.pml"][..], &["check", "m.pml", "--format", "json"]] {
        let Some(run) = to_full_device(&scratch, words) else { return };
        assert_eq!(run.status, Some(1), "{words:?}");
        assert!(run.stderr.contains("could not be written"), "{words:?}: {}", run.stderr);
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let scratch = Scratch::with("byte x; active proctype p() { do :: x = 1 - x od }");
    let words = ["simulate", "m.pml", "--steps", "100000"];
    let mut child = scratch.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().is_some());
    drop(lines);
    let run = CommandOutput::of(child.wait_with_output().unwrap());
    assert_eq!(run.status, Some(0));
    assert!(!run.stderr.contains("error"), "{}", run.stderr);
}

#[test]
fn a_trail_that_cannot_be_written_is_part_of_the_report() {
    let scratch = Scratch::with(ASSERTION);
    if full_device().is_none() {
        return;
    }
    let (run, report) = scratch.check(&["--trail", "/dev/full"]);
    assert_eq!((run.status, run.stderr.as_str()), (Some(1), ""));
    let violation = &report["properties"][0]["violations"][0];
    assert!(violation["trail"].is_null());
    assert_eq!(violation["trail_error"]["path"], "/dev/full");
    assert!(violation["trail_error"]["message"].as_str().unwrap().contains("space"), "{violation}");
    let texts: Vec<&str> =
        violation["steps"].as_array().unwrap().iter().filter_map(|s| s["text"].as_str()).collect();
    assert_eq!(texts, ["x = 1", "assert(x == 2)"]);
    let text = scratch.run(&["check", "m.pml", "--trail", "/dev/full"]);
    assert_eq!(text.status, Some(1));
    for part in ["could not be written to /dev/full", "x = 1", "assert(x == 2)"] {
        assert!(text.stdout.contains(part), "{}", text.stdout);
    }
}

#[test]
fn a_special_file_takes_all_trails() {
    let scratch = Scratch::with(ASSERTION);
    if !Path::new("/dev/null").exists() {
        return;
    }
    // Somebody else may have left one there.
    let second = || std::fs::metadata("/dev/null.2").and_then(|file| file.modified()).ok();
    let before = second();
    let (run, report) = scratch.check(&["--trail", "/dev/null", "--all-errors"]);
    assert_eq!(run.status, Some(1));
    let violations = report["properties"][0]["violations"].as_array().unwrap();
    let trails: Vec<&Value> = violations.iter().map(|violation| &violation["trail"]).collect();
    assert_eq!(trails, ["/dev/null", "/dev/null"]);
    assert_eq!(second(), before);
    // What cannot be read again is not offered for replay.
    let run = scratch.run(&["check", "m.pml", "--trail", "/dev/null", "-q"]);
    assert!(run.stdout.contains("; the trail went to /dev/null\n"), "{}", run.stdout);
    assert!(!run.stdout.contains("spinor replay"), "{}", run.stdout);
    let run = scratch.run(&["check", "m.pml", "--trail", "/dev/stdout", "--all-errors", "-q"]);
    assert_eq!(run.stdout.matches("\"violation\"").count(), 2, "{}", run.stdout);
    // In a file the report stands behind the trails, not over them.
    let out = File::create(scratch.0.join("out")).unwrap();
    let words = ["check", "m.pml", "--trail", "/dev/stdout", "--all-errors", "-q"];
    assert_eq!(scratch.command(&words).stdout(out).status().unwrap().code(), Some(1));
    let all = scratch.read("out");
    assert!(all.starts_with("{\n\"format\"") || all.starts_with("{\n"), "{all}");
    assert_eq!(all.matches("\"violation\"").count(), 2, "{all}");
    assert!(all.contains("m.pml: violated"), "{all}");
}

#[test]
fn a_trail_replaces_the_old_one_as_a_whole() {
    let scratch = Scratch::with(ASSERTION);
    scratch.write("m.pml.trail.json", "old");
    scratch.check(&[]);
    assert_eq!(scratch.run(&["replay", "m.pml.trail.json"]).status, Some(0));
    let names: Vec<String> = std::fs::read_dir(&scratch.0)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
}
