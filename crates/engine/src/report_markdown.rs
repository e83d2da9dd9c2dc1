//! A report as Markdown, as code hosts show it: for the summary of a job or a comment on a change.
//!
//! Verdicts first, then a table, then each counterexample, folded. Text of a model stands in code only, in
//! which nothing has a meaning: fences and spans are longer than any run of backquotes inside them.

use crate::client::Kept;
use crate::report::{PropertyReport, Report, Shown};
use crate::report_text::{describe_fault, sentence};
use std::fmt::Write;
use trace::story;
use trace::visible::{one_line, visible};

/// The report as Markdown.
pub fn markdown(report: &Report) -> String {
    let mut out = format!("### {} {}: {}\n\n", sign(report.verdict()), code(&report.model), report.verdict());
    for property in &report.properties {
        let _ = writeln!(out, "- {} {}", sign(property.verdict.name()), escaped(&sentence(property)));
    }
    out.push_str("\n| property | verdict | exhaustive | states | transitions | depth |\n|---|---|---|---:|---:|---:|\n");
    for property in &report.properties {
        out.push_str(&row(property));
    }
    for property in &report.properties {
        for shown in property.verdict.violations() {
            counterexample(shown, &mut out);
        }
    }
    out
}

fn sign(verdict: &str) -> &'static str {
    match verdict {
        "holds" => "✅",
        "violated" => "❌",
        _ => "⚠️",
    }
}

fn row(property: &PropertyReport) -> String {
    let [states, transitions, depth] = property.counts();
    format!(
        "| {} | {} | {} | {states} | {transitions} | {depth} |\n",
        code(&property.name),
        property.verdict.name(),
        if property.exhaustive { "yes" } else { "no" },
    )
}

fn counterexample(shown: &Shown, out: &mut String) {
    let (fault, steps) = (shown.evidence.fault(), story::steps(shown.evidence.depth()));
    // Between tags nothing is Markdown.
    let title = html(&one_line(&describe_fault(fault)));
    let _ = write!(out, "\n<details><summary>{title} (after {steps})</summary>\n\n");
    if !shown.story.is_empty() {
        let _ = write!(out, "{}\n\n", fenced(&visible(&shown.story)));
    }
    if let Kept::File(path) = &shown.kept {
        let _ = writeln!(out, "See it with {}\n", code(&format!("spinor replay {path}")));
    }
    out.push_str("</details>\n");
}

/// The longest run of backquotes.
fn quotes(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Text as code within a line, also in a table.
fn code(text: &str) -> String {
    let text = one_line(text).replace('|', "\\|");
    let quote = "`".repeat(quotes(&text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{quote}{space}{text}{space}{quote}")
}

/// Text as a block of code.
fn fenced(text: &str) -> String {
    let fence = "`".repeat((quotes(text) + 1).max(3));
    format!("{fence}text\n{}\n{fence}", text.trim_end())
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Text in which no character has a meaning.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in html(text).chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' | '@' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_model_stays_text() {
        assert_eq!(code("a`b|c"), "``a`b\\|c``");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(fenced("a\n```\nb"), "````text\na\n```\nb\n````");
        assert_eq!(escaped("<b>*x*_y_ @me"), "&lt;b&gt;\\*x\\*\\_y\\_ \\@me");
    }
}
