//! Through a pseudo-terminal: stepping through a counterexample, choosing and undoing steps, colours, Ctrl-C
//! and Ctrl-D.
//!
//! Every step waits for text that must come; the time limit is only there to end a test that has already
//! failed.

#![cfg(unix)]

mod common;

use common::Scratch;
use rexpect::process::WaitStatus;
use rexpect::session::{Options, PtySession, spawn_with_options};
use std::path::Path;
use std::process::Command;

/// Long enough for a loaded machine.
const LIMIT_MS: u64 = 120_000;

/// Two processes that lock each other out: two choices at first, and a deadlock when both take their first
/// step.
const MODEL: &str = "\
bool a, b;
active proctype left() {
    atomic { !a -> a = true };
    printf(\"left has a\\n\");
    atomic { !b -> b = true };
    b = false; a = false
}
active proctype right() {
    atomic { !b -> b = true };
    atomic { !a -> a = true };
    a = false; b = false
}
";

const SPINOR: &str = env!("CARGO_BIN_EXE_spinor");

/// Starts the command on a terminal of its own, with a plain environment.
fn on_a_terminal(dir: &Path, words: &[&str], environment: &[(&str, &str)]) -> PtySession {
    let mut command = Command::new(SPINOR);
    command.args(words).current_dir(dir);
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "CI"] {
        command.env_remove(name);
    }
    command.env("TERM", "xterm").envs(environment.iter().copied());
    let options = Options::new().timeout_ms(Some(LIMIT_MS));
    spawn_with_options(command, options).expect("a terminal")
}

/// Without colours, to make what is expected easy to read.
fn plain(dir: &Path, words: &[&str]) -> PtySession {
    on_a_terminal(dir, words, &[("NO_COLOR", "1")])
}

/// Says a line and waits for the prompt; returns what came in between.
fn say(session: &mut PtySession, line: &str) -> String {
    session.send_line(line).expect("a line can be sent");
    until_prompt(session)
}

fn until_prompt(session: &mut PtySession) -> String {
    let (text, prompt) = session.exp_regex(r"\([0-9]+[a-z0-9, ]*\) > ").expect("a prompt");
    // Each character stands for one byte.
    let bytes: Vec<u8> = format!("{text}{prompt}").chars().map(|c| c as u8).collect();
    String::from_utf8_lossy(&bytes).replace('\r', "")
}

fn status(session: PtySession) -> i32 {
    match session.process().wait().expect("an end") {
        WaitStatus::Exited(_, status) => status,
        other => panic!("it ended with {other:?}"),
    }
}

/// The trail of the deadlock.
fn trail(dir: &Path) {
    let found =
        Command::new(SPINOR).args(["check", "m.pml", "-q", "--search", "bfs"]).current_dir(dir).output();
    assert_eq!(found.expect("it runs").status.code(), Some(1));
}

#[test]
fn steps_are_chosen_and_undone() {
    let scratch = Scratch::with(MODEL);
    let dir = scratch.0.as_path();
    let mut s = plain(dir, &["simulate", "--interactive", "m.pml"]);
    let first = until_prompt(&mut s);
    assert!(
        first.contains("   1  right[1]  m.pml:9  !b") && first.contains("   2  left[0]   m.pml:3  !a"),
        "{first}"
    );
    assert!(first.ends_with("(0 steps) > "), "{first}");
    let inside = say(&mut s, "2");
    assert!(inside.contains("left[0] is inside an atomic sequence: nobody else moves"), "{inside}");
    let left = say(&mut s, "");
    assert!(left.contains("a: false → true") && left.ends_with("(2 steps) > "), "{left}");
    let printed = say(&mut s, "2");
    assert!(printed.contains("prints: left has a"), "{printed}");
    let undone = say(&mut s, "u");
    assert!(undone.contains("undid 1 step") && undone.ends_with("(2 steps) > "), "{undone}");
    let history = say(&mut s, "h");
    assert!(!history.contains("prints") && history.contains("a = true"), "{history}");
    let state = say(&mut s, "s");
    assert!(state.contains("a = true") && state.contains("b = false"), "{state}");
    let again = say(&mut s, "undo 9");
    assert!(again.contains("undid 2 steps") && again.ends_with("(0 steps) > "), "{again}");
    assert!(say(&mut s, "s").contains("a = false"));
    assert!(say(&mut s, "u").contains("there is nothing to undo"));
    s.send_line("q").expect("a line");
    assert_eq!(status(s), 0);
}

#[test]
fn a_deadlock_is_explained_and_can_be_undone() {
    let scratch = Scratch::with(MODEL);
    let dir = scratch.0.as_path();
    let mut s = plain(dir, &["simulate", "-i", "m.pml"]);
    until_prompt(&mut s);
    for line in ["1", "1", "2", ""] {
        say(&mut s, line);
    }
    let end = say(&mut s, "");
    assert!(end.contains("the run ends here: invalid end state: 2 processes are stuck"), "{end}");
    assert!(end.contains("blocked: left[0] at m.pml:5: `!b`, the condition is false: b = true"), "{end}");
    let why = say(&mut s, "b");
    assert!(
        why.contains("right[1] could change that with `b = false` (m.pml:11), but it cannot move either"),
        "{why}"
    );
    assert!(why.contains("in a circle: left[0] waits for right[1] waits for left[0]"), "{why}");
    assert!(say(&mut s, "").contains("nothing can happen here"));
    let written = say(&mut s, "w by-hand.json");
    assert!(written.contains("spinor replay by-hand.json"), "{written}");
    assert!(say(&mut s, "u").contains("undid 1 step"));
    assert!(say(&mut s, "w other.json").contains("only a run that meets an error"));
    say(&mut s, "r 1");
    s.send_line("q").expect("a line");
    assert_eq!(status(s), 1, "the run shows an error");
    let replayed = Command::new(SPINOR).args(["replay", "by-hand.json"]).current_dir(dir).output();
    assert_eq!(replayed.expect("it runs").status.code(), Some(0));
}

#[test]
fn a_run_that_does_not_end_is_walked_around() {
    let scratch =
        Scratch::with("byte x; active proctype p() { x = 1; do :: x = 3 - x od } ltl f { <>[] (x == 1) }");
    let dir = scratch.0.as_path();
    trail(dir);
    let mut s = plain(dir, &["replay", "--interactive", "m.pml.trail.json"]);
    until_prompt(&mut s);
    let one = say(&mut s, "");
    assert!(one.contains("from here on forever, 2 steps again and again:"), "{one}");
    assert!(one.ends_with("(1 of 3, in the cycle) > "), "{one}");
    let two = say(&mut s, "");
    assert!(!two.contains("from here on forever") && two.contains("x = 3 - x"), "{two}");
    say(&mut s, "");
    let end = say(&mut s, "");
    assert!(end.contains("the run goes on with step 2 forever"), "{end}");
}

#[test]
fn a_counterexample_is_walked_forwards_and_backwards() {
    let scratch = Scratch::with(MODEL);
    let dir = scratch.0.as_path();
    trail(dir);
    let mut s = plain(dir, &["replay", "--interactive", "m.pml.trail.json"]);
    let first = until_prompt(&mut s);
    assert!(first.contains("m.pml: safety is violated after") && first.ends_with("(0 of 5) > "), "{first}");
    let one = say(&mut s, "");
    assert!(one.contains("    1 m.pml:9  !b") && one.ends_with("(1 of 5) > "), "{one}");
    let two = say(&mut s, "n");
    assert!(two.contains("b: false → true") && two.ends_with("(2 of 5) > "), "{two}");
    assert!(say(&mut s, "s").contains("b = true"));
    let back = say(&mut s, "p");
    assert!(
        back.contains("    1 m.pml:9") && !back.contains("→ true") && back.ends_with("(1 of 5) > "),
        "{back}"
    );
    assert!(say(&mut s, "s").contains("b = false"));
    let last = say(&mut s, "$");
    assert!(last.contains("2 processes are stuck") && last.ends_with("(5 of 5) > "), "{last}");
    assert!(say(&mut s, "").contains("this is the end"));
    assert!(say(&mut s, "b").contains("in a circle: left[0] waits for right[1]"));
    assert!(say(&mut s, "^").ends_with("(0 of 5) > "));
    assert!(say(&mut s, "p").contains("this is the beginning"));
    assert!(say(&mut s, "/left[0]").ends_with("(3 of 5) > "));
    assert!(say(&mut s, "g 4").ends_with("(4 of 5) > "));
    assert!(say(&mut s, "g 6").contains("the last step is 5"));
    assert!(say(&mut s, "g").contains("from 0 to 5"));
    assert!(say(&mut s, "n 99").ends_with("(5 of 5) > "));
    assert!(say(&mut s, "p 3").ends_with("(2 of 5) > "));
    assert!(say(&mut s, "\u{1b}[A").contains("is no command"));
    let explored = say(&mut s, "x");
    assert!(explored.ends_with("(2 steps) > "), "{explored}");
    assert!(say(&mut s, "1").ends_with("(3 steps) > "));
    assert!(say(&mut s, "u 3").ends_with("(0 steps) > "));
    assert!(say(&mut s, "q").ends_with("(2 of 5) > "));
    assert!(say(&mut s, "$").contains("2 processes are stuck"));
    s.send_line("q").expect("a line");
    assert_eq!(status(s), 0);
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let scratch = Scratch::with(MODEL);
    let dir = scratch.0.as_path();
    trail(dir);
    for words in [&["simulate", "-i", "m.pml"][..], &["replay", "-i", "m.pml.trail.json"]] {
        for (environment, coloured) in
            [(&[][..], true), (&[("NO_COLOR", "1")][..], false), (&[("TERM", "dumb")][..], false)]
        {
            let mut s = on_a_terminal(dir, words, environment);
            let text = until_prompt(&mut s);
            assert_eq!(text.contains("\x1b["), coloured, "{environment:?} {text:?}");
            s.send_line("q").expect("a line");
            assert_eq!(status(s), 0);
        }
    }
}

#[test]
fn control_c_and_control_d_end_the_dialogue() {
    let scratch = Scratch::with(MODEL);
    let dir = scratch.0.as_path();
    trail(dir);
    for words in [&["simulate", "-i", "m.pml"][..], &["replay", "-i", "m.pml.trail.json"]] {
        let mut s = plain(dir, words);
        until_prompt(&mut s);
        s.send_control('c').expect("Ctrl-C");
        assert_eq!(status(s), 130);
        let mut s = plain(dir, words);
        until_prompt(&mut s);
        s.send_control('d').expect("Ctrl-D");
        s.exp_eof().expect("the end");
        assert_eq!(status(s), 0);
    }
}

#[test]
fn control_c_stops_a_long_walk_and_not_the_dialogue() {
    let scratch = Scratch::with(MODEL);
    let dir = scratch.0.as_path();
    std::fs::write(dir.join("loop.pml"), "byte x; active proctype p() { do :: x++ od }").expect("a model");
    let mut s = plain(dir, &["simulate", "-i", "loop.pml"]);
    until_prompt(&mut s);
    s.send_line("r 1000000000").expect("a line");
    s.exp_string("Ctrl-C stops it").expect("the walk has begun");
    s.send_control('c').expect("Ctrl-C");
    let text = until_prompt(&mut s);
    assert!(text.contains("interrupted"), "{text}");
    s.send_line("q").expect("a line");
    assert_eq!(status(s), 0);
}

#[test]
fn a_model_that_reads_takes_commands_from_the_terminal() {
    let scratch = Scratch::with(MODEL);
    let dir = scratch.0.as_path();
    let model = "chan STDIN; int c; active proctype p() { STDIN?c; c == 'x' -> printf(\"got it\\n\") }";
    std::fs::write(dir.join("reads.pml"), model).expect("a model");
    std::fs::write(dir.join("input"), "x").expect("an input");
    let command = format!("{} simulate -i reads.pml < input", SPINOR);
    let mut shell = Command::new("sh");
    shell.args(["-c", &command]).current_dir(dir).env("NO_COLOR", "1");
    let mut s = spawn_with_options(shell, Options::new().timeout_ms(Some(LIMIT_MS))).expect("a terminal");
    assert!(until_prompt(&mut s).contains("reads standard input"));
    assert!(say(&mut s, "1").contains("c: 0 → 120"));
    assert!(say(&mut s, "u").contains("reads standard input"), "what was read is given back");
    assert!(say(&mut s, "").contains("c: 0 → 120"));
    assert!(say(&mut s, "r 2").contains("prints: got it"));
    s.send_line("q").expect("a line");
    assert_eq!(status(s), 0);
}
