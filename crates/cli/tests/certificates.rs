//! `--certify` and `spinor audit`: what holds in the models of the repository is certified by every order and
//! store, and confirmed by the reference machine; what is wrong with a certificate is told, with its status.

mod common;

use common::{CommandOutput, Scratch, spinor};
use serde_json::Value;
use std::path::{Path, PathBuf};

const TWO: &str = "
byte x;
active [2] proctype p() { do :: x < 3 -> x++ :: x >= 3 -> break od; assert(x <= 4) }
";

fn models(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            models(&path, out);
        } else if path.extension().is_some_and(|ending| ending == "pml") {
            out.push(path);
        }
    }
}

/// What a golden model is to be read with.
fn reading(text: &str) -> Vec<&str> {
    if text.contains("--dialect pv") { vec!["--dialect", "pv"] } else { Vec::new() }
}

fn certified(scratch: &Scratch, model: &str, words: &[&str]) -> (i32, Value) {
    let run =
        [&["check", model, "--property", "safety", "--certify", "c", "--format", "json"], words].concat();
    let run = scratch.run(&run);
    (run.status.unwrap(), serde_json::from_str(&run.stdout).unwrap_or(Value::Null))
}

fn audit(scratch: &Scratch, model: &str, words: &[&str]) -> CommandOutput {
    scratch.run(&[&["audit", "c", model], words].concat())
}

/// Every model of the repository of which safety holds, each in another configuration.
#[test]
fn what_holds_is_confirmed() {
    const HOW: [&[&str]; 7] = [
        &[],
        &["--threads", "1", "--search", "dfs"],
        &["--threads", "2", "--store", "tree"],
        &["--search", "bfs", "--store", "cleary"],
        &["--threads", "2", "--store", "collapse"],
        &["--search", "handoff", "--threads", "2"],
        &["--exec", "interp", "--edges", "all"],
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = Vec::new();
    models(&root.join("examples"), &mut all);
    models(&root.join("tests/models"), &mut all);
    all.sort();
    let (scratch, mut confirmed) = (Scratch::new(), 0);
    for (i, path) in all.iter().enumerate() {
        let text = std::fs::read_to_string(path).unwrap();
        let (model, reading) = (path.display().to_string(), reading(&text));
        let how = [&reading, HOW[i % HOW.len()], &["--timeout", "20s", "--max-states", "300000"]].concat();
        let (status, report) = certified(&scratch, &model, &how);
        if status != 0 {
            assert!(!scratch.has("c") && !scratch.has("c.new"), "{model}: nothing is left behind");
            continue;
        }
        let states = report["properties"][0]["states"].as_u64().unwrap();
        let run = audit(&scratch, &model, &[&reading[..], &["--format", "json"]].concat());
        assert_eq!(run.status, Some(0), "{model} {how:?}: {} {}", run.stdout, run.stderr);
        let answer: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((&answer["result"], &answer["states"]), (&"confirmed".into(), &states.into()), "{model}");
        std::fs::remove_file(scratch.0.join("c")).unwrap();
        confirmed += 1;
    }
    assert!(confirmed > 80, "only {confirmed} models were certified");
}

#[test]
fn each_answer_has_its_status() {
    let scratch = Scratch::with(TWO);
    let (status, report) = certified(&scratch, "m.pml", &[]);
    let certificate = &report["properties"][0]["certificate"];
    assert_eq!((status, &certificate["file"]), (0, &"c".into()));
    let bytes = std::fs::read(scratch.0.join("c")).unwrap();
    assert_eq!(certificate["bytes"], bytes.len());
    let sample = audit(&scratch, "m.pml", &["--audit-share", "10%"]);
    assert_eq!(sample.status, Some(3));
    assert!(sample.stdout.contains("sample, which is no proof"), "{}", sample.stdout);
    scratch.write("other.pml", &TWO.replace("x < 3", "x < 2"));
    let other = audit(&scratch, "other.pml", &[]);
    assert_eq!(other.status, Some(2));
    assert!(other.stderr.contains("it was written for another program"), "{}", other.stderr);
    std::fs::write(scratch.0.join("c"), &bytes[..bytes.len() - 1]).unwrap();
    let cut = audit(&scratch, "m.pml", &[]);
    assert_eq!(cut.status, Some(2));
    assert!(cut.stderr.contains("it ends too early"), "{}", cut.stderr);
    scratch.write("c", "something else");
    assert_eq!(audit(&scratch, "m.pml", &[]).status, Some(2));
    assert_eq!(audit(&scratch, "m.pml", &["--audit-share", "0"]).status, Some(2));
}

#[test]
fn the_name_of_the_model_and_comments_do_not_matter() {
    let scratch = Scratch::with(TWO);
    assert_eq!(certified(&scratch, "m.pml", &[]).0, 0);
    scratch.write("copy.pml", &format!("/* the same */\n\n{TWO}"));
    assert_eq!(audit(&scratch, "copy.pml", &[]).status, Some(0));
}

#[test]
fn what_cannot_be_certified_is_refused() {
    let scratch = Scratch::with("hidden byte h; active proctype p() { h = 1; h = 0 }");
    let refused = |scratch: &Scratch, words: &[&str], why: &str| {
        let run = scratch.run(&[&["check", "m.pml", "--certify", "c"], words].concat());
        assert_eq!(run.status, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(why), "{words:?}: {}", run.stderr);
        assert!(!scratch.has("c") && !scratch.has("c.new"));
    };
    refused(&scratch, &[], "the values of hidden variables are not part of a state");
    let scratch = Scratch::with(&format!("{TWO}\nltl l {{ [] (x < 5) }}"));
    refused(&scratch, &[], "that ltl:l holds cannot be certified yet");
    refused(&scratch, &["--property", "safety", "--por", "ample"], "cannot be used with --por ample");
    refused(&scratch, &["--property", "assertion", "--property", "runtime"], "several properties");
    let missing = scratch.run(&["check", "m.pml", "--property", "safety", "--certify", "no/c"]);
    assert_eq!(missing.status, Some(2));
    assert!(missing.stderr.contains("there is no directory no"), "{}", missing.stderr);
    let itself = scratch.run(&["check", "m.pml", "--property", "safety", "--certify", "m.pml"]);
    assert!(itself.stderr.contains("it would overwrite m.pml"), "{}", itself.stderr);
    let two = spinor(&scratch.0, &["check", "m.pml", "m.pml", "--certify", "c"]).output().unwrap();
    assert_eq!(two.status.code(), Some(2));
}

#[test]
fn a_violation_leaves_no_certificate() {
    let scratch = Scratch::with("active proctype p() { assert(false) }");
    assert_eq!(certified(&scratch, "m.pml", &[]).0, 1);
    assert!(!scratch.has("c") && !scratch.has("c.new"));
}
