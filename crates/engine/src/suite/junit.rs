//! A suite as JUnit XML, which continuous integration servers read: one `testsuite` per model, one `testcase`
//! per check.

use super::report::{CaseReport, Finding, Status, SuiteReport};
use std::fmt::Write;
use trace::visible::picture;

/// The suite as an XML document.
pub fn junit(suite: &SuiteReport) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let all: Vec<&CaseReport> = suite.cases.iter().collect();
    let counts = counts(&all);
    let _ = writeln!(out, "<testsuites name=\"spinor\" {counts} time=\"{:.3}\">", suite.time.as_secs_f64());
    let mut rest = &suite.cases[..];
    while let Some(first) = rest.first() {
        let length = rest.iter().take_while(|case| case.model == first.model).count();
        let (group, others) = rest.split_at(length);
        model(group, &mut out);
        rest = others;
    }
    out.push_str("</testsuites>\n");
    out
}

fn model(cases: &[CaseReport], out: &mut String) {
    let name = escaped(&cases[0].model);
    let time: f64 = cases.iter().map(|c| c.time.as_secs_f64()).sum();
    let counts = counts(&cases.iter().collect::<Vec<_>>());
    let _ = writeln!(out, "  <testsuite name=\"{name}\" {counts} time=\"{time:.3}\">");
    cases.iter().for_each(|case| testcase(case, out));
    out.push_str("  </testsuite>\n");
}

fn counts(cases: &[&CaseReport]) -> String {
    let count = |test: fn(&CaseReport) -> bool| cases.iter().filter(|case| test(case)).count();
    format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        cases.len(),
        count(|c| element(c) == Some("failure")),
        count(|c| element(c) == Some("error")),
        count(|c| element(c) == Some("skipped"))
    )
}

/// What a check becomes that is not simply as expected.
fn element(case: &CaseReport) -> Option<&'static str> {
    match case.status {
        Status::Passed => None,
        Status::Failed if case.internal => Some("error"),
        Status::Failed => Some("failure"),
        Status::Inconclusive => Some("error"),
        Status::Skipped | Status::NotRun => Some("skipped"),
    }
}

fn testcase(case: &CaseReport, out: &mut String) {
    let name = if case.check.is_empty() { "directives" } else { &case.check };
    let _ = write!(
        out,
        "    <testcase classname=\"{0}\" name=\"{1}\" file=\"{0}\" line=\"{2}\" time=\"{3:.3}\"",
        escaped(&case.model),
        escaped(name),
        case.line,
        case.time.as_secs_f64()
    );
    let Some(element) = element(case) else {
        out.push_str("/>\n");
        return;
    };
    let message = escaped(&case.reasons.join("; "));
    if element == "skipped" {
        let _ = writeln!(out, ">\n      <skipped message=\"{message}\"/>\n    </testcase>");
        return;
    }
    let kind = case.status.name();
    let details = escaped(&details(case));
    let _ = writeln!(
        out,
        ">\n      <{element} message=\"{message}\" type=\"{kind}\">{details}</{element}>\n    </testcase>"
    );
}

fn details(case: &CaseReport) -> String {
    let mut lines = vec![];
    let rows = [("expected", &case.expected), ("found", &case.found), ("run again", &case.command)];
    lines.extend(
        rows.iter().filter(|(_, text)| !text.is_empty()).map(|(word, text)| format!("{word}: {text}")),
    );
    lines.extend(case.findings.iter().map(Finding::line));
    lines.join("\n")
}

/// Text as XML takes it: what has a meaning in XML is escaped, and characters that XML does not allow become
/// visible ones.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            c => out.push(picture(c).unwrap_or(c)),
        }
    }
    out
}
