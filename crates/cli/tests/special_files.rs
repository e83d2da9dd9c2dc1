//! Files that are none: pipes, devices, folders, what may not be read, what is no text. Each is named, and
//! nothing waits.
#![cfg(unix)]

mod common;

use common::{CommandOutput, Scratch, spinor};
use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn a_named_pipe_is_refused_and_not_waited_for() {
    let scratch = Scratch::new();
    assert!(Command::new("mkfifo").arg(scratch.0.join("pipe")).status().unwrap().success());
    for words in [&["check", "pipe"][..], &["simulate", "pipe"], &["parse", "pipe"], &["replay", "pipe"]] {
        let run = scratch.run(words);
        assert_eq!(run.status, Some(2));
        assert!(run.stderr.contains("it is a named pipe"), "{}", run.stderr);
    }
    scratch.write("m.pml", "#include \"pipe\"\ninit { skip }");
    let run = scratch.run(&["check", "m.pml"]);
    assert!(
        run.stderr.contains("cannot read the included file `pipe`: it is a named pipe"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_named_pipe_that_nobody_reads_is_not_waited_for() {
    let scratch = Scratch::with("active proctype P() { assert(false) }");
    assert!(Command::new("mkfifo").arg(scratch.0.join("pipe")).status().unwrap().success());
    let run = scratch.run(&["check", "m.pml", "--trail", "pipe"]);
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    assert!(run.stdout.contains("no process reads this pipe"), "{}\n{}", run.stdout, run.stderr);
    let run = scratch.run(&["check", "m.pml", "-q", "--report", "pipe"]);
    assert_eq!(run.status, Some(1), "a violation stays one");
    assert!(run.stderr.contains("no process reads this pipe"), "{}", run.stderr);
}

#[test]
fn a_limit_on_the_size_of_files_ends_no_report() {
    let scratch = Scratch::with("active proctype P() { assert(false) }");
    let command = format!("ulimit -f 0; {} check m.pml; echo \"status $?\"", env!("CARGO_BIN_EXE_spinor"));
    let out = Command::new("bash").args(["-c", &command]).current_dir(&scratch.0).output().unwrap();
    let run = CommandOutput::of(out);
    assert!(run.stdout.contains("status 1"), "{}\n{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("File too large"), "{}\n{}", run.stdout, run.stderr);
    assert!(!scratch.0.join("m.pml.trail.json").exists(), "nothing rather than half of it");
}

#[test]
fn pipes_of_a_shell_are_read() {
    let scratch = Scratch::new();
    let command = format!("{} check <(echo 'init {{ skip }}') -q", env!("CARGO_BIN_EXE_spinor"));
    let out = Command::new("bash").args(["-c", &command]).current_dir(&scratch.0).output().unwrap();
    assert_eq!(CommandOutput::of(out).status, Some(0));
}

#[test]
fn what_is_no_file_is_called_what_it_is() {
    let scratch = Scratch::with("#include \"/dev/zero\"\ninit { skip }");
    let said = |words: &[&str]| {
        let run = scratch.run(words);
        assert_eq!(run.status, Some(2), "{words:?}");
        run.stderr
    };
    let zero = said(&["check", "m.pml"]);
    assert!(zero.contains("cannot read the included file `/dev/zero`: it is a device, not a file"), "{zero}");
    assert!(!zero.contains("cannot find"), "{zero}");
    assert!(said(&["check", "."]).contains("it is a folder"));
    let missing = said(&["check", "no.pml"]);
    assert!(missing.contains("cannot read `no.pml`: no such file"), "{missing}");
    assert!(!missing.contains(" |") && !missing.contains("-->"), "there is nothing to show: {missing}");
    scratch.write("binary.pml", "init \0\0\0");
    assert!(said(&["check", "binary.pml"]).contains("not a text file"));
    std::fs::write(scratch.0.join("latin1.pml"), b"/* \xfc */ init { skip }").unwrap();
    assert_eq!(scratch.run(&["check", "latin1.pml", "-q"]).status, Some(0));
    std::fs::write(scratch.0.join("utf16.pml"), b"\xff\xfei\0n\0").unwrap();
    assert!(said(&["check", "utf16.pml"]).contains("UTF-16"));
}

#[test]
fn standard_input_is_a_model() {
    let scratch = Scratch::new();
    let fed = |words: &[&str], text: &str| {
        let mut command = spinor(&scratch.0, words);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        CommandOutput::of(child.wait_with_output().unwrap())
    };
    let good = "byte x; init { x = 1 }";
    let run = fed(&["check", "-"], good);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert!(run.stdout.starts_with("<stdin>: holds"), "{}", run.stdout);
    let bad = "byte x; init { x = 1; assert(x == 0) }";
    let run = fed(&["check", "-"], bad);
    assert_eq!(run.status, Some(1));
    assert!(run.stdout.contains("spinor replay stdin.trail.json < MODEL"), "{}", run.stdout);
    assert!(scratch.has("stdin.trail.json"));
    assert_eq!(fed(&["replay", "stdin.trail.json"], bad).status, Some(0));
    assert_eq!(fed(&["check", "-", "--ltl", "<> (x == 1)"], good).status, Some(0));
    for command in ["simulate", "parse", "facts"] {
        assert_eq!(fed(&[command, "-"], good).status, Some(0), "{command}");
    }
    assert!(fed(&["check", "-"], "init { y = 1 }").stderr.contains("<stdin>:1"));
}
