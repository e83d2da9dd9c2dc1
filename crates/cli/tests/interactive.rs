//! Dialogues driven by scripts: what is read from a pipe, the end of the input, nonsense, JSON beside it.

mod common;

use common::Scratch;
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};

const MODEL: &str = "\
chan q = [1] of { byte };
active proctype sender() { q!1; q!2; q!3 }
active proctype receiver() { byte x; q?x; printf(\"got %d\\n\", x); assert(x == 2) }
";

/// Feeds a script to the command; the exit status and what it writes.
fn script(scratch: &Scratch, words: &[&str], lines: &[u8]) -> (Option<i32>, String) {
    let mut child = scratch
        .command(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // It may have ended before it has read everything.
    let _ = child.stdin.take().expect("its input").write_all(lines);
    let out = child.wait_with_output().expect("it ends");
    let text = String::from_utf8(out.stdout).expect("text") + &String::from_utf8_lossy(&out.stderr);
    (out.status.code(), text)
}

#[test]
fn a_script_reads_like_a_session() {
    let scratch = Scratch::with(MODEL);
    let (status, text) = script(&scratch, &["simulate", "-i", "m.pml"], b"1\n\nu 2\nq\n");
    assert_eq!(status, Some(0), "{text}");
    let expected = "\
A number takes that step, u undoes it, ? lists the other commands.
   1  sender[0]  m.pml:2  q!1  q = [1]
  blocked: receiver[1] at m.pml:3: `q?x`, the channel q is empty
(0 steps) > 1
sender[0]
     1 m.pml:2  q!1                                 q = [1]
   1  receiver[1]  m.pml:3  q?x  x: 0 → 1, q = []
  blocked: sender[0] at m.pml:2: `q!2`, the channel q is full: 1
(1 step) > 
receiver[1]
     2 m.pml:3  q?x                                 x: 0 → 1, q = []
   1  receiver[1]  m.pml:3  printf(\"got %d\\n\", x)
   2  sender[0]    m.pml:2  q!2                    q = [2]
(2 steps) > u 2
undid 2 steps
   1  sender[0]  m.pml:2  q!1  q = [1]
  blocked: receiver[1] at m.pml:3: `q?x`, the channel q is empty
(0 steps) > q
";
    assert_eq!(text, expected);
}

#[test]
fn expressions_are_evaluated() {
    let scratch = Scratch::with(MODEL);
    let lines = b"1\n1\ne len(q) + 2\ne 1: x == 1\ne x\ne\nq\n";
    let (_, text) = script(&scratch, &["simulate", "-i", "m.pml"], lines);
    for answer in ["len(q) + 2 = 2\n", "x == 1 = true\n", "`x`", "say what to evaluate"] {
        assert!(text.contains(answer), "{answer}: {text}");
    }
}

#[test]
fn an_error_is_announced_met_and_survived() {
    let scratch = Scratch::with(MODEL);
    let (status, text) = script(&scratch, &["simulate", "-i", "m.pml"], b"1\n1\n1\nl\n1\n");
    assert!(text.contains("assert(x == 2)  assertion violated: x == 2"), "{text}");
    assert!(text.contains("assertion violated: x == 2, at m.pml:3"), "{text}");
    assert!(text.contains("but the run can go on"), "{text}");
    assert_eq!(status, Some(1), "the input ended where the run shows an error");
}

#[test]
fn nonsense_is_answered() {
    let scratch = Scratch::with(MODEL);
    let mut lines =
        b"7\n0\n-1\nu x\nr 0\nr -3\nw\n\xff\xfe\n\x1b[A\nhello world\n99999999999999999999\n".to_vec();
    lines.extend([b'u'; 100_000]);
    for words in [&["simulate", "-i", "m.pml"][..], &["replay", "-i", "m.pml.trail.json"]] {
        scratch.run(&["check", "m.pml", "-q"]);
        let (status, text) = script(&scratch, words, &lines);
        assert_eq!(status, Some(0), "{text}");
        assert!(text.contains("is no command; ? lists them") && !text.contains("panic"), "{text}");
    }
}

#[test]
fn commands_and_the_model_cannot_share_standard_input() {
    let scratch = Scratch::with("chan STDIN; int c; active proctype p() { STDIN?c }");
    // Without a terminal of its own; where that cannot be had there is nothing to see.
    if Command::new("setsid").arg("--version").output().is_err() {
        return;
    }
    let mut command = Command::new("setsid");
    command
        .arg("-w")
        .arg(env!("CARGO_BIN_EXE_spinor"))
        .args(["simulate", "-i", "m.pml"])
        .current_dir(&scratch.0);
    let out = command.stdin(Stdio::null()).output().expect("it runs");
    let text = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{text}");
    assert!(text.contains("the model reads STDIN") && text.contains("run it in a terminal"), "{text}");
}

#[test]
fn options_that_exclude_each_other() {
    let scratch = Scratch::with(MODEL);
    for words in [
        &["simulate", "-i", "m.pml", "--steps", "3"][..],
        &["simulate", "-i", "m.pml", "--format", "json"],
        &["replay", "-i", "t.json", "--format", "json"],
        &["replay", "-i", "t.json", "--last", "3"],
    ] {
        assert_eq!(scratch.run(words).status, Some(2), "{words:?}");
    }
}

#[test]
fn a_simulation_as_json_lines() {
    let scratch =
        Scratch::with("chan q = [1] of { byte }; active proctype p() { q!7; printf(\"sent\"); q!8 }");
    let run = scratch.run(&["simulate", "m.pml", "--format", "json"]);
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    let lines: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!((&lines[0]["step"], &lines[0]["text"]), (&1.into(), &"q!7".into()));
    assert_eq!(lines[0]["changes"][0]["name"], "q");
    assert_eq!(lines[1]["output"], "sent");
    let end = &lines[2];
    assert_eq!((&end["end"], &end["steps"]), (&"violation".into(), &2.into()));
    assert_eq!(end["violation"]["kind"], "end-state");
    let blocked = &end["blocked"][0];
    assert_eq!((&blocked["process"], &blocked["text"]), (&"p".into(), &"q!8".into()));
    assert_eq!(blocked["alternatives"][0]["kind"], "channel-full");
    assert_eq!(blocked["alternatives"][0]["reason"], "the channel q is full: 7");
    assert_eq!(blocked["alternatives"][0]["helpers"], Value::Array(Vec::new()));
    scratch.run(&["check", "m.pml", "-q"]);
    let replay = scratch.run(&["replay", "m.pml.trail.json", "--format", "json"]);
    let replay: Value = serde_json::from_str(&replay.stdout).expect("JSON");
    assert_eq!(replay["blocked"][0], *blocked);
}

#[test]
fn a_simulation_that_meets_an_error_can_be_replayed() {
    let scratch = Scratch::with(MODEL);
    let run = scratch.run(&["simulate", "m.pml", "--trail", "t.json", "--seed", "3"]);
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    assert!(run.stdout.contains("assertion violated: x == 2"), "{}", run.stdout);
    let replay = scratch.run(&["replay", "t.json"]);
    assert_eq!(replay.status, Some(0), "{}", replay.stderr);
    assert!(replay.stdout.contains("assertion violated: x == 2"), "{}", replay.stdout);
    let nowhere = scratch.run(&["simulate", "m.pml", "--trail", "no/such/folder/t.json"]);
    assert_eq!(nowhere.status, Some(2), "{}", nowhere.stderr);
    let fine = Scratch::with("active proctype p() { skip }");
    assert_eq!(fine.run(&["simulate", "m.pml", "--trail", "t.json"]).status, Some(0));
    assert!(!fine.has("t.json"));
}

#[test]
fn runs_are_drawn() {
    let scratch = Scratch::with(MODEL);
    let run = scratch.run(&["simulate", "m.pml", "--msc", "run.svg", "--steps", "2"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert!(scratch.read("run.svg").contains("<svg") && scratch.read("run.svg").contains("sender[0]"));
    assert_eq!(scratch.run(&["simulate", "m.pml", "--msc", "no/such/folder/x.svg"]).status, Some(2));
    let (status, text) =
        script(&scratch, &["simulate", "-i", "m.pml"], b"m\nr 2\nm run.txt\nm no/such/x.svg\nq\n");
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("name the file") && text.contains("drawn in run.txt"), "{text}");
    assert!(text.contains("cannot write the chart no/such/x.svg"), "{text}");
    assert!(scratch.read("run.txt").contains("sender[0]"));
    scratch.run(&["check", "m.pml", "-q"]);
    let (_, text) = script(&scratch, &["replay", "-i", "m.pml.trail.json"], b"m trail.svg\n");
    assert!(
        text.contains("drawn in trail.svg") && scratch.read("trail.svg").contains("is violated"),
        "{text}"
    );
}
