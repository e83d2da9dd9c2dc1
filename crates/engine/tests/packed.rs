//! Checks of packed states: what is claimed is what the compiled machine claims, with the same numbers and the
//! same errors, by one worker and by several; whatever the layout does not foresee.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use engine::failure::Failure;
use engine::options::{CheckOptions, Exec, Por, Size, Source};
use engine::report::{PropertyReport, Report, Shown, Verdict};
use engine::{Silent, Stop};
use promela::source::Files;

struct Text(String);

impl Files for Text {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok(self.0.clone())
    }
}

fn options(exec: Exec, all_errors: bool, threads: u64) -> CheckOptions {
    CheckOptions {
        source: Source { path: "m.pml".to_string(), ..Source::default() },
        exec: Some(exec),
        all_errors,
        por: Some(Por::None),
        threads: Some(threads),
        alone: Some(0),
        properties: vec!["safety".to_string()],
        max_states: Some(100_000),
        max_memory: Some(Size(1 << 30)),
        ..CheckOptions::default()
    }
}

fn check(text: &str, options: &CheckOptions) -> Result<Report, String> {
    let answer = engine::check(options, &Text(text.to_string()), &Stop::never(), &mut Silent);
    let said = |failure: Failure| failure.notice().map_or_else(String::new, |notice| notice.message);
    answer.result.map_err(said)
}

/// Kind and line of each violation that was replayed.
fn violations(report: &PropertyReport) -> BTreeSet<(String, u32)> {
    let Verdict::Violated(first, others) = &report.verdict else { return BTreeSet::new() };
    let shown = std::iter::once(&**first).chain(others);
    let told = |shown: &Shown| {
        let fault = shown.evidence.fault();
        (format!("{:?}", fault.kind), fault.line)
    };
    shown.map(told).collect()
}

fn compare(name: &str, text: &str) -> Result<u32, String> {
    let jit = check(text, &options(Exec::Jit, true, 1)).map_err(|why| format!("jit: {why}"))?;
    let jit = &jit.properties[0];
    let mut layouts = 0;
    for threads in [1, 3] {
        let packed = check(text, &options(Exec::Packed, true, threads))?;
        let packed = &packed.properties[0];
        layouts = packed.packed.as_ref().map_or(0, |figures| figures.layouts);
        assert_eq!(packed.exhaustive, jit.exhaustive, "{name}, {threads} threads");
        if jit.statistics.states < 100_000 {
            let numbers = |report: &PropertyReport| {
                let s = &report.statistics;
                (s.states, s.transitions, s.matched, report.errors)
            };
            assert_eq!(numbers(packed), numbers(jit), "{name}, {threads} threads");
            assert_eq!(violations(packed), violations(jit), "{name}, {threads} threads");
        } else {
            assert_eq!(packed.statistics.states, jit.statistics.states, "{name}, {threads} threads");
        }
        let first = check(text, &options(Exec::Packed, false, threads))?;
        let found = first.properties[0].errors;
        if jit.statistics.states < 100_000 {
            assert_eq!(found, jit.errors.min(1), "{name}, {threads} threads");
        }
    }
    Ok(layouts)
}

/// What no sample of the usual size meets, in each kind of field.
const GROWING: [(&str, &str); 6] = [
    ("a global", "int n; active proctype p() { do :: n < 9000 -> n++ :: n == 9000 -> break od }"),
    ("an array", "short a[3]; active proctype p() { do :: a[1] < 9000 -> a[1]++ :: else -> break od }"),
    ("a local", "active proctype p() { int n; do :: n < 9000 -> n = n + 1 :: n == 9000 -> break od }"),
    (
        "a message",
        "chan c = [1] of { int }; active proctype p() { int n; c!0;
        do :: c?n -> c!(n + 1); n < 9000; n = 0 od }",
    ),
    (
        "a length",
        "chan c = [3] of { bit }; int n;
        active proctype p() { do :: n < 9000 -> n++ :: n == 9000 -> break od; c!1; c!0; c!1 }",
    ),
    (
        "a process",
        "int n; proctype q() { byte x = 3; x = x + 1; assert(x == 4) }
        active proctype p() { do :: n < 9000 -> n++ :: n == 9000 -> break od; run q(); run q() }",
    ),
];

#[test]
fn whatever_a_layout_does_not_foresee_is_met_and_counted() {
    for (what, text) in GROWING {
        let layouts = compare(what, text).unwrap_or_else(|why| panic!("{what}: {why}"));
        assert!(layouts > 1, "{what} was foreseen: {layouts}");
    }
}

const ERRORS: [(&str, &str); 6] = [
    (
        "processes that wait for each other",
        "chan a = [1] of { byte }; chan b = [1] of { byte };
        active proctype p() { byte x; a?x; b!x } active proctype q() { byte x; b?x; a!x }",
    ),
    (
        "an assertion behind a branch in an atomic sequence",
        "byte n; active [2] proctype p() {
        end: do :: atomic { n < 40 -> if :: n = n + 1 :: n = n + 3 fi; assert(n != 31) } od }",
    ),
    (
        "a division by 0, and an index that is out of bounds",
        "byte n = 5; byte a[3]; active proctype p() {
        end: do :: n > 0 -> n-- :: n = 10 / n :: n < 4 -> a[n] = 1 od }",
    ),
    (
        "rendezvous, processes that come and go, unless, timeout",
        "chan c = [0] of { byte, bool }; byte got;
        proctype s(byte v) { c!v(true) }
        active proctype r() { byte v; do :: c?v(true) -> got = got + v :: timeout -> break od }
        init { { run s(1); run s(2); run s(3) } unless { got > 4 } }",
    ),
    (
        "an atomic sequence without end",
        "bool b; active proctype p() { atomic { do :: b = !b :: b -> b = 0; break od } }
        active proctype q() { b = 1 }",
    ),
    (
        "a process in control that must wait",
        "byte n; active proctype p() { atomic { n = 1; n == 2; n = 3 } assert(n == 3) }
        active proctype q() { n == 1; n = 2; n = 0 }",
    ),
];

#[test]
fn every_kind_of_error_is_found() {
    for (what, text) in ERRORS {
        compare(what, text).unwrap_or_else(|why| panic!("{what}: {why}"));
    }
}

fn models(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            models(&path, out);
        } else if path.extension().is_some_and(|end| end == "pml") {
            out.push(path);
        }
    }
}

#[test]
fn on_the_models_of_the_repository() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = Vec::new();
    for folder in ["examples", "tests/models"] {
        models(&root.join(folder), &mut paths);
    }
    let (mut compared, mut refused) = (0, Vec::new());
    for path in &paths {
        let text = std::fs::read_to_string(path).expect("a model");
        match compare(&path.display().to_string(), &text) {
            Ok(_) => compared += 1,
            Err(why) => refused.push(format!("{}: {why}", path.display())),
        }
    }
    assert!(compared * 2 > paths.len(), "{compared} of {}: {refused:#?}", paths.len());
}

#[test]
fn what_it_is_not_made_for_is_refused_with_a_reason() {
    for (text, why) in [
        ("active proctype p() priority 2 { skip }", "priorities"),
        ("hidden byte h; active proctype p() { h = 1 }", "hidden"),
        (
            "int a[9]; active proctype p() { int i;
            do :: i < 9 -> a[i] = 1 << (3 * i); i++ :: else -> break od; assert(a[i % 9] + a[8] > 0) }",
            "bits",
        ),
    ] {
        let refused = check(text, &options(Exec::Packed, false, 1)).expect_err(text);
        assert!(refused.contains(why), "{refused}");
    }
    let bfs = CheckOptions { max_depth: Some(3), ..options(Exec::Packed, false, 1) };
    let refused = check("init { skip }", &bfs).expect_err("refused");
    assert!(refused.contains("--max-depth"), "{refused}");
}
