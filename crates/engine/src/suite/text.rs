//! A suite for people: a line for each check as it ends, then what is not as expected and how to see it, then
//! the sum.

use super::report::{CaseReport, DIRECTIVE, Finding, Status, SuiteReport};
use crate::command_line::quoted;
use std::fmt::Write;
use trace::Palette;

/// The line for one check; with `quiet` only checks that need attention get one.
pub fn line(case: &CaseReport, palette: Palette, quiet: bool) -> String {
    if quiet && matches!(case.status, Status::Passed | Status::Skipped | Status::NotRun) {
        return String::new();
    }
    let word = match case.status {
        Status::Passed => palette.good("ok          "),
        Status::Failed => palette.bad("FAILED      "),
        Status::Inconclusive => palette.unknown("inconclusive"),
        Status::Skipped => palette.unknown("skipped     "),
        Status::NotRun => palette.unknown("not run     "),
    };
    let about = match case.status {
        Status::Passed | Status::Failed => format!("({:.3} s)", case.time.as_secs_f64()),
        _ => format!("({})", case.reasons.join("; ")),
    };
    format!("{word} {} {}\n", case.name(), palette.dim(about))
}

/// What is not as expected, and the sum.
pub fn rest(suite: &SuiteReport, palette: Palette) -> String {
    let mut out = String::new();
    for case in suite.cases.iter().filter(|c| matches!(c.status, Status::Failed | Status::Inconclusive)) {
        explain(case, palette, &mut out);
    }
    out.push_str(&sum(suite, palette));
    out
}

/// The most findings that are shown for one check.
const SHOWN: usize = 5;

fn explain(case: &CaseReport, palette: Palette, out: &mut String) {
    let word =
        if case.status == Status::Failed { palette.bad("FAILED") } else { palette.unknown("inconclusive") };
    let _ = writeln!(out, "\n{word} {}", palette.strong(case.name()));
    let place = format!("{}:{}", case.model, case.line);
    let mut row = |word: &str, text: &dyn std::fmt::Display| {
        let _ = writeln!(out, "  {word:<9} {text}");
    };
    if !case.expected.is_empty() {
        row("expected", &format_args!("{}, at {}", case.expected, palette.place(place)));
    }
    if !case.found.is_empty() {
        row("found", &case.found);
    }
    for (i, reason) in case.reasons.iter().enumerate() {
        row(if i == 0 { "because" } else { "" }, reason);
    }
    // What is wrong with directives has been said.
    let findings: Vec<&Finding> = case.findings.iter().filter(|f| f.code != DIRECTIVE).collect();
    for (i, finding) in findings.iter().take(SHOWN).enumerate() {
        row(if i == 0 { "see" } else { "" }, &finding.line());
    }
    if findings.len() > SHOWN {
        row("", &format_args!("and {} more", findings.len() - SHOWN));
    }
    if let Some(trail) = &case.trail {
        row("trail", &palette.command(format!("spinor replay {}", quoted(trail))));
    }
    if !case.command.is_empty() {
        row("again", &palette.command(&case.command));
    }
}

/// How many came out how.
fn sum(suite: &SuiteReport, palette: Palette) -> String {
    let failed = suite.count(Status::Failed);
    let mut parts = vec![format!("{} as expected", suite.count(Status::Passed))];
    let others = [
        (failed, "failed"),
        (suite.count(Status::Inconclusive), "inconclusive"),
        (suite.count(Status::Skipped), "skipped"),
        (suite.count(Status::NotRun), "not run"),
    ];
    parts.extend(others.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")));
    let checks = match suite.cases.len() {
        1 => "1 check".to_string(),
        n => format!("{n} checks"),
    };
    let text = format!("{checks}: {}", parts.join(", "));
    let text = match suite.exit_status() {
        0 => palette.good(text),
        1 => palette.bad(text),
        _ => palette.unknown(text),
    };
    let mut out = format!("\n{text}; {:.2} s\n", suite.time.as_secs_f64());
    if suite.exit_status() == 2 {
        out.push_str(
            "nothing was tested: a model states what it expects in a comment `//@ expect: verdict=holds`\n",
        );
    }
    out
}
