//! A report for people: the verdicts first, then the evidence, then the numbers, then what to do next.

mod evidence;
mod number;
mod statistics;
mod unreached;
mod verdict;

pub use evidence::{describe_fault, evidence};
pub use number::{bytes, grouped, many, plural};

use crate::hints::{Hint, hints};
use crate::report::{PropertyReport, Report, Verdict};
use trace::style::{Painted, Palette};
use trace::visible::one_line;

/// Lines of a small terminal: the verdict at the top of a longer report is repeated at its end.
const SCREEN: usize = 24;

/// The report as text; `quiet` leaves out all but verdicts and evidence, and of that the story.
pub fn text(report: &Report, quiet: bool, palette: Palette) -> String {
    let verdict = format!("{}: {}\n", one_line(&report.model), headline(report, palette));
    let mut out = verdict.clone();
    for property in &report.properties {
        verdict::sentence(property, palette, &mut out);
    }
    for property in &report.properties {
        for shown in property.verdict.violations() {
            out.push('\n');
            evidence(shown, quiet, palette, &mut out);
        }
        evaluation(property, quiet, palette, &mut out);
    }
    if !quiet {
        statistics::statistics(report, palette, &mut out);
        unreached::unreached(report, palette, &mut out);
        show_hints(&hints(report), palette, &mut out);
    }
    if out.lines().count() > SCREEN {
        out.push_str(&format!("\n{verdict}"));
    }
    out
}

/// What was found about a property, in one sentence.
pub fn sentence(property: &PropertyReport) -> String {
    let mut out = String::new();
    verdict::sentence(property, Palette::PLAIN, &mut out);
    out.lines().map(str::trim).collect::<Vec<&str>>().join("; ")
}

/// What a formula about states leaves to be said: what no run shows, and why it fails.
fn evaluation(property: &PropertyReport, quiet: bool, palette: Palette, out: &mut String) {
    let Some(evaluation) = &property.evaluation else { return };
    if let Verdict::Refuted(refutation) = &property.verdict {
        out.push_str(&format!("\n{}\n", palette.bad(describe_fault(&refutation.fault))));
    }
    if let Some(witness) = evaluation.witness.as_ref().filter(|_| !quiet) {
        out.push('\n');
        evidence(witness, quiet, palette, out);
    }
    let told = evaluation.reason.as_ref().filter(|_| evaluation.witness.is_none() || !quiet);
    if let Some(reason) = told {
        out.push_str(&format!("  {reason}\n"));
    }
    let lines = evaluation.proof.iter().filter(|_| !quiet);
    lines.for_each(|line| out.push_str(&format!("    {}\n", one_line(line))));
}

fn headline(report: &Report, palette: Palette) -> Painted<&'static str> {
    match report.verdict() {
        "violated" => palette.bad("violated"),
        "holds" => palette.good("holds"),
        _ if report.interrupted() => palette.unknown("unknown (interrupted)"),
        _ => palette.unknown("unknown (no violation found, but not everything was checked)"),
    }
}

fn show_hints(hints: &[Hint], palette: Palette, out: &mut String) {
    for (i, hint) in hints.iter().enumerate() {
        if i == 0 {
            out.push('\n');
        }
        out.push_str(&format!("{}: {}\n", palette.strong("hint"), hint.text));
        if let Some(command) = &hint.command {
            out.push_str(&format!("      {}\n", palette.command(command)));
        }
    }
}
