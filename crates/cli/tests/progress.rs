//! Progress on standard error: never in the way of results, plain where nobody draws.

mod common;

use common::Scratch;
use serde_json::Value;

const ENDLESS: &str = "int _a; int _b; active proctype p() { do :: _a++ :: _b++ :: _a + _b < 0 od }";

/// Standard error of a check that takes about two seconds.
fn stderr(words: &[&str]) -> (String, String) {
    let run = Scratch::with(ENDLESS).run(&[&["check", "m.pml", "--timeout", "2.2"], words].concat());
    assert_eq!(run.status, Some(3));
    (run.stdout, run.stderr)
}

#[test]
fn a_log_gets_plain_lines_and_a_pipe_nothing_unasked() {
    let (_, log) = stderr(&["--progress", "always"]);
    assert!(!log.contains('\x1b') && !log.contains('\r'), "{log:?}");
    assert!(log.lines().count() >= 1, "{log}");
    for line in log.lines() {
        for word in [" s, ", " states, ", "/s (overall ", "depth ", "frontier ", "used: memory ", "time "] {
            assert!(line.contains(word), "{word}: {line}");
        }
    }
    assert_eq!(stderr(&[]).1, "");
    assert_eq!(stderr(&["--progress", "never"]).1, "");
}

#[test]
fn machines_get_objects() {
    let (report, log) = stderr(&["--progress", "always", "--format", "json"]);
    assert!(serde_json::from_str::<Value>(&report).is_ok());
    for line in log.lines() {
        let object: Value = serde_json::from_str(line).unwrap();
        assert!(object["progress"]["states"].as_u64().unwrap() > 0, "{line}");
    }
    assert!(!log.is_empty());
}
