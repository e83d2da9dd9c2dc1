//! The page: head with its policy, the parts, the data, the script.

use crate::sections::{self, Files};
use crate::sha256;
use crate::violation::Violation;
use draw::style::SHEET;
use draw::text::escape;
use engine::command_line::check_command;
use engine::failure::Failure;
use engine::replay::{Replayed, replay_trail};
use engine::report::{PropertyReport, Report, Shown};
use engine::session::Session;
use engine::{CheckOptions, Source, VERSION, report_text};
use serde_json::Value as Json;
use stop::Stop;
use trace::visible::one_line;

/// The style sheet of the page, beside that of the pictures.
const STYLE: &str = include_str!("page.css");
/// What lets a reader walk through a counterexample.
const SCRIPT: &str = include_str!("page.js");
/// Counterexamples that are shown; others are counted.
const MOST: usize = 5;

/// The page about a check. Its model is in `files`; counterexamples are replayed once more. The error says
/// why one cannot be.
pub fn of_check(report: &Report, files: &(dyn promela::source::Files + Sync)) -> Result<String, Failure> {
    let shown: Vec<&Shown> = report.properties.iter().flat_map(runs).collect();
    let session = open(&report.options.source, files)?;
    let mut violations = Vec::new();
    for one in shown.iter().take(MOST) {
        let trail = one.evidence.trail();
        // A formula of the command line is part of what is replayed.
        let source = Source { options: trail.options.clone(), ..report.options.source.clone() };
        let session = open(&source, files)?;
        let of = |replayed: &mut Replayed<'_>| Violation::of(replayed);
        violations.push(replay_trail(&session, trail.clone(), of).result?);
    }
    let files = Files::new(Some(&session), Some(report));
    let mut body = sections::verdicts(report);
    for (number, violation) in violations.iter().enumerate() {
        body.push_str(&sections::violation(violation, number, &files));
    }
    if shown.len() > MOST {
        body.push_str(&format!("<p>{} more runs are not shown.</p>\n", shown.len() - MOST));
    }
    body.push_str(&format!(
        "<section aria-labelledby=\"how\"><h2 id=\"how\">How it was checked</h2>\n<p><code>{}</code></p>\n{}</section>\n",
        escape(&check_command(&without_report(&report.options))),
        sections::statistics(report)
    ));
    body.push_str(&files.listing());
    Ok(page(&report.model, report.verdict(), &body, &data(&violations)))
}

/// The runs that a property comes with: counterexamples, or one that shows that a formula holds.
fn runs(property: &PropertyReport) -> impl Iterator<Item = &Shown> {
    property.verdict.violations().chain(property.witness())
}

/// The page about a counterexample that was replayed.
pub fn of_replay(replayed: &Replayed<'_>) -> String {
    let violations = [Violation::of(replayed)];
    let files = Files::new(Some(replayed.session), None);
    let sentence = report_text::describe_fault(&replayed.violation);
    let (verdict, told) = match violations[0].is_witness() {
        true => ("holds", "holds"),
        false => ("violated", "is violated"),
    };
    let body = format!(
        "<ul class=\"verdicts\"><li class=\"{verdict}\"><span class=\"badge\">{}</span> {} {told}: {}</li></ul>\n{}{}",
        sections::word(verdict),
        escape(&replayed.property),
        escape(&sentence),
        sections::violation(&violations[0], 0, &files),
        files.listing()
    );
    page(&replayed.model, verdict, &body, &data(&violations))
}

fn open(source: &Source, files: &(dyn promela::source::Files + Sync)) -> Result<Session, Failure> {
    Session::open(source, files, &Stop::never()).result
}

/// The options of a check without the page itself: where that is says nothing about the check.
fn without_report(options: &CheckOptions) -> CheckOptions {
    CheckOptions { report: None, trail: None, ..options.clone() }
}

fn data(violations: &[Violation]) -> String {
    let list: Json = violations.iter().map(Violation::json).collect();
    // Inside a script element `</` and `<!--` have a meaning of their own.
    list.to_string().replace('<', "\\u003c")
}

fn page(model: &str, verdict: &str, body: &str, data: &str) -> String {
    let style = format!("{SHEET}\n{STYLE}");
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        sha256::source(&style),
        sha256::source(SCRIPT)
    );
    let model = escape(&one_line(model));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{model}: {verdict}</title>\n<style>{style}</style>\n</head>\n<body class=\"drawing\">\n\
         <header><h1><code>{model}</code> <span class=\"badge {verdict}\">{}</span></h1></header>\n<main>\n{body}</main>\n\
         <footer>Spinor {VERSION}</footer>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        sections::word(verdict)
    )
}
