//! A report for people: the verdicts first, then the evidence, then the numbers, then what to do next.

mod evidence;
mod noted;
mod number;
mod statistics;
mod unreached;
mod verdict;

pub use evidence::{describe_fault, evidence, shown_by};
pub use number::{bytes, grouped, many, plural};

use crate::hints::{Hint, hints};
use crate::report::{PropertyReport, Report, Verdict};
use crate::suggest_fences::Suggestion;
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
    out.push_str(&memory_model(report, palette));
    for property in &report.properties {
        for shown in property.verdict.violations() {
            out.push('\n');
            evidence(shown, quiet, palette, &mut out);
        }
        evaluation(property, quiet, palette, &mut out);
    }
    out.push_str(&fences(report, palette));
    if !quiet {
        statistics::statistics(report, palette, &mut out);
        unreached::unreached(report, palette, &mut out);
        for property in &report.properties {
            let noted = property.noted.as_deref();
            noted.iter().for_each(|noted| noted::noted(noted, property.exhaustive, palette, &mut out));
        }
        show_hints(&hints(report), palette, &mut out);
    }
    if out.lines().count() > SCREEN {
        out.push_str(&format!("\n{verdict}"));
    }
    out
}

/// Under which memory the verdicts are, and what they are worth for larger buffers.
fn memory_model(report: &Report, palette: Palette) -> String {
    let Some(memory) = &report.weak_memory else { return String::new() };
    let model = memory.model.to_uppercase();
    let holds = report.verdict() == "holds";
    let size = match memory.exact {
        _ if memory.buffered.is_empty() => "nothing is buffered, so that this is the same as sc".to_string(),
        true if holds => "exact for any size: no store met a full buffer".to_string(),
        _ if holds => {
            let unknown = format!("for buffers up to {}", plural(u64::from(memory.bound), "store"));
            format!("{}; larger ones may show more", palette.unknown(unknown))
        }
        _ => format!("buffers of {}", plural(u64::from(memory.bound), "store")),
    };
    let mut out = format!("  memory {model}: {size}\n");
    let lists = [("buffered", &memory.buffered), ("not buffered, ghosts", &memory.ghosts)];
    for (what, names) in lists.into_iter().filter(|(_, names)| !names.is_empty()) {
        out.push_str(&format!("    {what}: {}\n", one_line(&names.join(", "))));
    }
    out
}

/// Fences that would make the properties hold.
fn fences(report: &Report, palette: Palette) -> String {
    let Some(suggestion) = &report.fences else { return String::new() };
    let model = report.weak_memory.as_ref().map_or_else(String::new, |memory| memory.model.to_uppercase());
    let mut out = match suggestion {
        Suggestion::NoneNeeded => format!("\nno fence is missing under {model}\n"),
        Suggestion::NoneHelps => {
            format!(
                "\nno fences help under {model}: what fails does so with one before every shared access\n"
            )
        }
        Suggestion::Unknown(why) => format!("\nno fences were found under {model}: {why}\n"),
        Suggestion::Fences(sites) => {
            let n = plural(sites.len() as u64, "fence");
            format!(
                "\n{} under {model}, and no smaller set does:\n",
                palette.good(format!("{n} would repair it"))
            )
        }
    };
    if let Suggestion::Fences(sites) = suggestion {
        for site in sites {
            let place = format!("{}:{}", one_line(&site.file), site.line);
            let (word, text) = (site.word(), one_line(&site.text));
            out.push_str(&format!("  {place}  fence {word} `{text}` in {}\n", site.process));
        }
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
    let witness = property.witness();
    if let Some(witness) = witness.filter(|_| !quiet) {
        out.push('\n');
        evidence(witness, quiet, palette, out);
    }
    let told = evaluation.reason.as_ref().filter(|_| witness.is_none() || !quiet);
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
