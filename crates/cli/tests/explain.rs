//! `spinor explain`, as a user meets it.

use std::process::{Command, Output};

fn spinor(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_spinor")).args(words).output().expect("spinor runs")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn a_code_in_upper_or_lower_case() {
    let upper = spinor(&["explain", "E0221"]);
    assert_eq!(upper.status.code(), Some(0));
    assert!(text(&upper.stdout).starts_with("E0221: a name that is not declared\n\n"));
    assert_eq!(upper.stdout, spinor(&["explain", "e0221"]).stdout);
}

#[test]
fn all_codes() {
    let list = spinor(&["explain"]);
    assert_eq!((list.status.code(), list.stderr.as_slice()), (Some(0), &b""[..]));
    assert!(text(&list.stdout).lines().any(|line| line == "E0505  a model in which nothing runs"));
    assert_eq!(list.stdout, spinor(&["explain", "--list"]).stdout);
}

#[test]
fn an_unknown_code() {
    let unknown = spinor(&["explain", "E02221"]);
    assert_eq!((unknown.status.code(), unknown.stdout.as_slice()), (Some(2), &b""[..]));
    assert!(text(&unknown.stderr).contains("did you mean `E0221`?"), "{}", text(&unknown.stderr));
}

#[test]
fn errors_end_with_a_summary_and_name_a_code_to_explain() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/diagnostics/");
    let wrong = spinor(&["parse", &format!("{folder}two_errors_and_more.pml")]);
    assert_eq!(wrong.status.code(), Some(2));
    let last = text(&wrong.stderr).lines().last().unwrap_or_default().to_string();
    assert_eq!(last, "4 errors; for more about an error: spinor explain E0101");
    let json = spinor(&["parse", "--format", "json", &format!("{folder}run_arguments.pml")]);
    let first: serde_json::Value =
        serde_json::from_str(text(&json.stderr).lines().next().unwrap_or_default()).expect("JSON");
    assert_eq!(first["labels"].as_array().map(Vec::len), Some(2));
    assert_eq!((&first["labels"][1]["line"], &first["labels"][1]["end_column"]), (&1.into(), &16.into()));
}
